-- Operators and functions of the expression language.
--
-- The rows of wf.operator are the operators that code/expression.sql knows:
-- the tree that wf.install gets is checked against them.  The rows of
-- wf.function are the functions; the built-in ones are in code/function_*.sql,
-- the others were added by a DBA with wf.function_set.

create table wf.operator (
    name          text    not null,
    symbol        text    not null,
    first_operand integer not null,
    min_length    integer not null,
    max_length    integer,
    meaning       text    not null,
    constraint operator_pkey primary key (name),
    constraint operator_length_check check (max_length >= min_length)
);

comment on table  wf.operator is 'An operator of the expression language: the first element of an array in a compiled expression.';
comment on column wf.operator.name is 'as written in the compiled tree';
comment on column wf.operator.symbol is 'as written in a workflow; used in messages';
comment on column wf.operator.first_operand is 'where in the array its operands begin; what stands before them is not evaluated';
comment on column wf.operator.min_length is 'length of the shortest array allowed, the name included';
comment on column wf.operator.max_length is 'length of the longest array allowed; null: any';
comment on column wf.operator.meaning is 'what it yields';

insert into wf.operator (name, symbol, first_operand, min_length, max_length, meaning) values
    ('const',        'literal',  2, 2, 2,    'the JSON value as it stands'),
    ('var',          'name',     2, 2, 2,    'the value of a name, null if it is not bound'),
    ('instance',     'instance', 2, 2, 2,    'a field of the instance'),
    ('list',         '[ ]',      1, 1, null, 'a list of its operands'),
    ('object',       '{ }',      3, 3, null, 'the object given as it stands, with a field added for each of the names in the list that follows'),
    ('text',         '"${ }"',   1, 1, null, 'its operands joined as text'),
    ('get',          '.',        1, 3, 3,    'a field of an object, null if it is not there'),
    ('at',           '[ ]',      1, 3, 3,    'an element of a list, counted from 0, or from the end if negative'),
    ('neg',          '-',        1, 2, 2,    'the number with its sign changed'),
    ('add',          '+',        1, 3, 3,    'sum of two numbers'),
    ('sub',          '-',        1, 3, 3,    'difference of two numbers'),
    ('mul',          '*',        1, 3, 3,    'product of two numbers'),
    ('div',          '/',        1, 3, 3,    'quotient of two numbers, to at least 20 significant digits'),
    ('mod',          '%',        1, 3, 3,    'remainder of a division, with the sign of the first number'),
    ('add.time',     '+',        1, 3, 3,    'a date or timestamp, later by a duration'),
    ('sub.time',     '-',        1, 3, 3,    'a date or timestamp, earlier by a duration'),
    ('sub.times',    '-',        1, 3, 3,    'the duration from the second time to the first'),
    ('add.duration', '+',        1, 3, 3,    'sum of two durations'),
    ('sub.duration', '-',        1, 3, 3,    'difference of two durations'),
    ('mul.duration', '*',        1, 3, 3,    'a duration multiplied by a number'),
    ('eq',           '==',       1, 3, 3,    'whether two values are equal, numbers by value'),
    ('ne',           '!=',       1, 3, 3,    'whether two values differ'),
    ('lt',           '<',        1, 3, 3,    'comparison of two numbers'),
    ('le',           '<=',       1, 3, 3,    'comparison of two numbers'),
    ('gt',           '>',        1, 3, 3,    'comparison of two numbers'),
    ('ge',           '>=',       1, 3, 3,    'comparison of two numbers'),
    ('lt.string',    '<',        1, 3, 3,    'comparison of two strings by code point'),
    ('le.string',    '<=',       1, 3, 3,    'comparison of two strings by code point'),
    ('gt.string',    '>',        1, 3, 3,    'comparison of two strings by code point'),
    ('ge.string',    '>=',       1, 3, 3,    'comparison of two strings by code point'),
    ('lt.date',      '<',        1, 3, 3,    'comparison of two dates'),
    ('le.date',      '<=',       1, 3, 3,    'comparison of two dates'),
    ('gt.date',      '>',        1, 3, 3,    'comparison of two dates'),
    ('ge.date',      '>=',       1, 3, 3,    'comparison of two dates'),
    ('lt.timestamp', '<',        1, 3, 3,    'comparison of two timestamps'),
    ('le.timestamp', '<=',       1, 3, 3,    'comparison of two timestamps'),
    ('gt.timestamp', '>',        1, 3, 3,    'comparison of two timestamps'),
    ('ge.timestamp', '>=',       1, 3, 3,    'comparison of two timestamps'),
    ('lt.duration',  '<',        1, 3, 3,    'comparison of two durations'),
    ('le.duration',  '<=',       1, 3, 3,    'comparison of two durations'),
    ('gt.duration',  '>',        1, 3, 3,    'comparison of two durations'),
    ('ge.duration',  '>=',       1, 3, 3,    'comparison of two durations'),
    ('not',          '!',        1, 2, 2,    'true for false and false for true'),
    ('and',          '&&',       1, 3, null, 'whether all operands are true; evaluates up to the first that is false'),
    ('or',           '||',       1, 3, null, 'whether any operand is true; evaluates up to the first that is true'),
    ('if',           '? :',      1, 4, 4,    'the second operand if the first is true, the third if it is false'),
    ('coalesce',     '??',       1, 3, null, 'the first operand that is not null'),
    ('range',        '..',       1, 3, 3,    'the list of ints from the first to the second, both included'),
    ('each',         'for',      2, 5, 5,    'a value for each element of a list that meets a condition'),
    ('call',         'call',     2, 2, null, 'a function'),
    ('cast',         'cast',     2, 3, 3,    'a value as a type');


create table wf.function (
    name        text   not null,
    topic       text   not null,
    arguments   text[] not null,
    returns     text   not null,
    schema_name text,
    proc_name   text,
    meaning     text   not null,
    constraint function_pkey primary key (name),
    constraint function_name_check check (name ~ '^[a-z_][a-z0-9_]{0,62}$'),
    constraint function_proc_check check ((schema_name is null) = (proc_name is null))
);

comment on table  wf.function is 'A function that expressions may call.';
comment on column wf.function.name is 'as written in a workflow';
comment on column wf.function.topic is 'what it is about; custom if a DBA added it';
comment on column wf.function.arguments is 'name and type of each argument; one whose type ends in ? may be left out';
comment on column wf.function.returns is 'type of its value';
comment on column wf.function.schema_name is 'schema of the SQL function behind it; null if it is built in';
comment on column wf.function.proc_name is 'name of the SQL function behind it; null if it is built in';
comment on column wf.function.meaning is 'what it yields';

insert into wf.function (topic, name, arguments, returns, meaning) values
    ('text',    'string',      '{x: json}',                                      'string',    'a string, number or boolean as text'),
    ('text',    'size',        '{x: string or list or object}',                  'int',       'how many characters, elements or fields'),
    ('text',    'trim',        '{s: string}',                                    'string',    'without white space at both ends'),
    ('text',    'lower',       '{s: string}',                                    'string',    'in lower case'),
    ('text',    'upper',       '{s: string}',                                    'string',    'in upper case'),
    ('text',    'replace',     '{s: string,from: string,to: string}',            'string',    'each occurrence of from replaced by to'),
    ('text',    'split',       '{s: string,separator: string}',                  '[string]',  'the parts between separators; none for the empty string'),
    ('text',    'join',        '{l: list,separator: string}',                    'string',    'the elements as text, with the separator between them'),
    ('text',    'starts_with', '{s: string,prefix: string}',                     'bool',      'whether s begins with prefix'),
    ('text',    'ends_with',   '{s: string,suffix: string}',                     'bool',      'whether s ends with suffix'),
    ('text',    'contains',    '{x: string or list,y: json}',                    'bool',      'whether y is a part of the string or equal to an element of the list'),
    ('text',    'substring',   '{s: string,start: int,length: int?}',            'string',    'the characters from start on, counted from 0, or from the end if negative'),
    ('text',    'lpad',        '{s: string,n: int,fill: string?}',               'string',    'filled up on the left to n characters, with blanks unless told otherwise; never cut'),
    ('text',    'matches',     '{s: string,regex: string}',                      'bool',      'whether the regular expression matches somewhere'),
    ('text',    'capture',     '{s: string,regex: string}',                      '[string]?', 'the groups of the first match, or the whole match if there are no groups; null if nothing matches'),
    ('text',    'replace_all', '{s: string,regex: string,to: string}',           'string',    'each match of the regular expression replaced; \1 in to is the first group'),
    ('list',    'first',       '{l: list}',                                      'json?',     'the first element, null if there is none'),
    ('list',    'last',        '{l: list}',                                      'json?',     'the last element, null if there is none'),
    ('list',    'sort',        '{l: list}',                                      'list',      'in ascending order; all numbers, all strings (by code point) or all booleans'),
    ('list',    'reverse',     '{l: list}',                                      'list',      'in reverse order'),
    ('list',    'unique',      '{l: list}',                                      'list',      'without repetitions, each value where it stands first'),
    ('list',    'sum',         '{l: [number]}',                                  'number',    'the sum; 0 if there are none'),
    ('list',    'min',         '{l: list}',                                      'json?',     'the least element, null if there is none; ordered as by sort'),
    ('list',    'max',         '{l: list}',                                      'json?',     'the greatest element, null if there is none; ordered as by sort'),
    ('list',    'flatten',     '{l: list}',                                      'list',      'elements that are lists replaced by their elements, one level deep'),
    ('list',    'slice',       '{l: list,from: int,to: int?}',                   'list',      'the elements from from up to, not including, to; negative counts from the end'),
    ('list',    'concat',      '{l: list,m: list}',                              'list',      'the elements of l, then those of m'),
    ('object',  'keys',        '{o: object}',                                    '[string]',  'the names of the fields, in order of code points'),
    ('object',  'values',      '{o: object}',                                    'list',      'the values of the fields, in the order of keys'),
    ('object',  'merge',       '{o: object,p: object}',                          'object',    'the fields of both; where both have one, that of p'),
    ('object',  'has',         '{o: object,key: string}',                        'bool',      'whether there is such a field, be it null'),
    ('object',  'entries',     '{o: object}',                                    'list',      'an object {key, value} for each field, in the order of keys'),
    ('number',  'abs',         '{n: number}',                                    'number',    'without its sign'),
    ('number',  'ceil',        '{n: number}',                                    'int',       'the next int upwards'),
    ('number',  'floor',       '{n: number}',                                    'int',       'the next int downwards'),
    ('number',  'round',       '{n: number,digits: int?}',                       'number',    'rounded to so many digits after the point, 0 unless told otherwise; halves away from zero'),
    ('number',  'int',         '{x: string or number}',                          'int',       'an int, from its text if x is a string; fails if there is a fraction'),
    ('number',  'number',      '{x: string or number}',                          'number',    'a number, from its text if x is a string'),
    ('time',    'now',         '{}',                                             'timestamp', 'the present time'),
    ('time',    'today',       '{timezone: string?}',                            'date',      'the present date in the time zone, UTC unless told otherwise'),
    ('time',    'date',        '{s: string}',                                    'date',      'a date; of a timestamp the date in UTC'),
    ('time',    'timestamp',   '{s: string}',                                    'timestamp', 'a timestamp in UTC; of a date its beginning'),
    ('time',    'duration',    '{s: string}',                                    'duration',  'a duration, from ISO 8601 or from words: 1 hour 10min 5s'),
    ('time',    'seconds',     '{d: duration}',                                  'number',    'the length in seconds'),
    ('time',    'format_time', '{t: timestamp,format: string,timezone: string?}','string',    'a time in a format of to_char, in the time zone, UTC unless told otherwise'),
    ('json',    'json',        '{x: json}',                                      'string',    'the JSON text of x, also of null'),
    ('json',    'parse',       '{s: string}',                                    'json?',     'the value of a JSON text'),
    ('json',    'path',        '{x: json,path: string}',                         'list',      'what a JSON path finds'),
    ('json',    'typeof',      '{x: json}',                                      'string',    'null, bool, number, string, list or object'),
    ('quoting', 'sh',          '{x: string or number or bool or list}',          'string',    'one word of a shell command; of a list its words, with a blank between them'),
    ('quoting', 'quote_ident', '{s: string}',                                    'string',    'an SQL identifier'),
    ('quoting', 'url_encode',  '{s: string}',                                    'string',    'all but letters, digits and -._~ percent-encoded'),
    ('quoting', 'base64',      '{s: string}',                                    'string',    'the UTF-8 bytes in base 64'),
    ('quoting', 'sha256',      '{s: string}',                                    'string',    'the SHA-256 of the UTF-8 bytes, in hexadecimal');
