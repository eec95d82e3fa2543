-- function.sql - the functions of the expression language, each with what it
-- yields and what it refuses, and functions that a DBA adds.
begin;
select plan(303);

-- value(CALL), error(CALL): of ["call", CALL].
create function value(p_call text) returns jsonb
language sql as $$
    select wf._evaluate(jsonb_build_array('call') || ('[' || p_call || ']')::jsonb, '{}') -> 'value';
$$;
create function error(p_call text) returns text
language sql as $$
    select wf._evaluate(jsonb_build_array('call') || ('[' || p_call || ']')::jsonb, '{}') -> 'error' ->> 'message';
$$;

-- What they yield.
select is(value(t.call), t.expected::jsonb, t.call)
  from (values
    -- text
    ('"string", 1.50',                         '"1.50"'),
    ('"string", true',                         '"true"'),
    ('"string", "x"',                          '"x"'),
    ('"size", "äö€😀"',                        '4'),
    ('"size", ["list", 1, null]',              '2'),
    ('"size", {"a": 1, "b": null}',            '2'),
    ('"size", {}',                             '0'),
    ('"trim", " \t\n x y \r\n"',               '"x y"'),
    ('"lower", "ABC"',                         '"abc"'),
    ('"upper", "abc"',                         '"ABC"'),
    ('"replace", "a.b.c", ".", "%1\\1"',       '"a%1\\1b%1\\1c"'),
    ('"replace", "abc", "", "x"',              '"abc"'),
    ('"split", "a,b,,c", ","',                 '["a", "b", "", "c"]'),
    ('"split", "", ","',                       '[]'),
    ('"split", "abc", ""',                     '["abc"]'),
    ('"join", ["list", "a", 1, true], ", "',   '"a, 1, true"'),
    ('"join", ["list"], ","',                  '""'),
    ('"starts_with", "abc", "ab"',             'true'),
    ('"starts_with", "abc", ""',               'true'),
    ('"ends_with", "abc", "bc"',               'true'),
    ('"ends_with", "abc", "ab"',               'false'),
    ('"ends_with", "c", "abc"',                'false'),
    ('"ends_with", "abc", ""',                 'true'),
    ('"contains", "a%b_c", "%"',               'true'),
    ('"contains", "abc", "_"',                 'false'),
    ('"contains", ["list", 1, ["list", 2, 3]], 1.0', 'true'),
    ('"contains", ["list", ["list", 2, 3]], ["list", 2]', 'false'),
    ('"contains", ["list", null], null',       'true'),
    ('"contains", ["list"], 1',                'false'),
    ('"substring", "äbcdef", 1',               '"bcdef"'),
    ('"substring", "abcdef", 1, 2',            '"bc"'),
    ('"substring", "abcdef", -2',              '"ef"'),
    ('"substring", "abcdef", -20, 2',          '"ab"'),
    ('"substring", "abc", 3',                  '""'),
    ('"substring", "abc", 2147483647, 5',      '""'),
    ('"substring", "abc", 1, 0',               '""'),
    ('"substring", "abc", 1, null',            '"bc"'),
    ('"lpad", "7", 3, "0"',                    '"007"'),
    ('"lpad", "7", 3',                         '"  7"'),
    ('"lpad", "12345", 3, "0"',                '"12345"'),
    ('"lpad", "x", -1',                        '"x"'),
    ('"matches", "COMPLETED by", "^COMPLETED"', 'true'),
    ('"matches", "abc", "^b"',                 'false'),
    ('"matches", "x", ""',                     'true'),
    ('"capture", "id=42;", "([a-z]+)=(\\d+)"', '["id", "42"]'),
    ('"capture", "id=42;", "\\d+"',            '["42"]'),
    ('"capture", "ab", "(a)|(x)"',             '["a", null]'),
    ('"capture", "abc", "x"',                  'null'),
    ('"replace_all", "a1b22", "(\\d+)", "<\\1>"', '"a<1>b<22>"'),
    -- lists
    ('"first", ["list", 1, 2]',                '1'),
    ('"first", ["list"]',                      'null'),
    ('"last", ["list", 1, 2]',                 '2'),
    ('"last", ["list"]',                       'null'),
    ('"sort", ["list", 10, 9, 1.5]',           '[1.5, 9, 10]'),
    ('"sort", ["list", "b", "a", "Z", "ä"]',   '["Z", "a", "b", "ä"]'),
    ('"sort", ["list", true, false]',          '[false, true]'),
    ('"sort", ["list"]',                       '[]'),
    ('"reverse", ["list", 1, "a", null]',      '[null, "a", 1]'),
    ('"reverse", ["list"]',                    '[]'),
    ('"unique", ["list", 2, 1, 2.0, "2", null, null]', '[2, 1, "2", null]'),
    ('"unique", ["list"]',                     '[]'),
    ('"sum", ["list", 0.1, 0.2, 0.70]',        '1'),
    ('"sum", ["list"]',                        '0'),
    ('"min", ["list", 3, -1]',                 '-1'),
    ('"max", ["list", "a", "b"]',              '"b"'),
    ('"min", ["list"]',                        'null'),
    ('"flatten", ["list", 1, ["list", 2, ["list", 3]], ["list"]]', '[1, 2, [3]]'),
    ('"flatten", ["list"]',                    '[]'),
    ('"slice", ["range", 0, 5], 1, 3',         '[1, 2]'),
    ('"slice", ["range", 0, 5], 4',            '[4, 5]'),
    ('"slice", ["range", 0, 5], -2',           '[4, 5]'),
    ('"slice", ["range", 0, 5], 0, -1',        '[0, 1, 2, 3, 4]'),
    ('"slice", ["range", 0, 5], 4, 2',         '[]'),
    ('"slice", ["range", 0, 2], -10, 10',      '[0, 1, 2]'),
    ('"concat", ["list", 1], ["list", 2, null]', '[1, 2, null]'),
    -- objects
    ('"keys", {"b": 1, "aa": 2}',              '["aa", "b"]'),
    ('"keys", {}',                             '[]'),
    ('"values", {"b": 1, "aa": 2}',            '[2, 1]'),
    ('"merge", {"a": 1, "b": {"x": 1}}, {"b": {"y": 2}}', '{"a": 1, "b": {"y": 2}}'),
    ('"has", {"a": null}, "a"',                'true'),
    ('"has", {"a": 1}, "b"',                   'false'),
    ('"entries", {"b": 1, "aa": null}',        '[{"key": "aa", "value": null}, {"key": "b", "value": 1}]'),
    -- numbers
    ('"abs", -2.50',                           '2.5'),
    ('"ceil", 1.2',                            '2'),
    ('"ceil", -1.2',                           '-1'),
    ('"floor", -1.2',                          '-2'),
    ('"round", 2.5',                           '3'),
    ('"round", -2.5',                          '-3'),
    ('"round", 2.345, 2',                      '2.35'),
    ('"round", 1234, -2',                      '1200'),
    ('"int", "12"',                            '12'),
    ('"int", 7.0',                             '7'),
    ('"int", "1e3"',                           '1000'),
    ('"number", " -1.50 "',                    '-1.5'),
    ('"number", ".5"',                         '0.5'),
    ('"number", 123456789012345678901234567890.10', '123456789012345678901234567890.1'),
    -- times
    ('"date", "2026-11-21T23:30:00-01:00"',    '"2026-11-22"'),
    ('"date", "2026-11-21"',                   '"2026-11-21"'),
    ('"timestamp", "2026-11-21T10:00:00.120+02:00"', '"2026-11-21T08:00:00.12Z"'),
    ('"timestamp", "2026-11-21"',              '"2026-11-21T00:00:00Z"'),
    ('"duration", "1h30m"',                    '"PT1H30M"'),
    ('"duration", "1 hour 10minutes 5s"',      '"PT1H10M5S"'),
    ('"duration", "250 MS"',                   '"PT0.25S"'),
    ('"duration", "1.5h, 2 weeks"',            '"P14DT1H30M"'),
    ('"duration", "36h"',                      '"P1DT12H"'),
    ('"duration", "pt36h"',                    '"P1DT12H"'),
    ('"duration", "P1Y2M"',                    '"P1Y2M"'),
    ('"duration", "0"',                        '"PT0S"'),
    ('"duration", "100 weeks"',                '"P700D"'),
    ('"seconds", "1h30m"',                     '5400'),
    ('"seconds", "250ms"',                     '0.25'),
    ('"seconds", "P100000D"',                  '8640000000'),
    ('"format_time", "2026-07-01T10:05:00Z", "YYYY/MM/DD HH24:MI", "Europe/Berlin"', '"2026/07/01 12:05"'),
    ('"format_time", "2026-12-01T10:05:00Z", "HH24:MI", "Europe/Berlin"', '"11:05"'),
    ('"format_time", "2026-12-01T10:05:00Z", "HH24:MI"', '"10:05"'),
    ('"format_time", "2026-11-21", "Dy DD Mon YYYY"', '"Sat 21 Nov 2026"'),
    -- JSON
    ('"json", ["list", 1, "a\"b", null, {"k": true}]', '"[1, \"a\\\"b\", null, {\"k\": true}]"'),
    ('"json", null',                           '"null"'),
    ('"parse", "{\"a\": [1, null]}"',          '{"a": [1, null]}'),
    ('"parse", "null"',                        'null'),
    ('"path", {"a": ["list", {"b": 1}, {"b": 2}]}, "$.a[*].b"', '[1, 2]'),
    ('"path", {"a": 1}, "$.none"',             '[]'),
    ('"typeof", null',                         '"null"'),
    ('"typeof", true',                         '"bool"'),
    ('"typeof", 1',                            '"number"'),
    ('"typeof", "x"',                          '"string"'),
    ('"typeof", ["list"]',                     '"list"'),
    ('"typeof", {}',                           '"object"'),
    -- quoting
    ('"sh", "it''s $(here); `x` \"y\" \\"',    '"''it''\\''''s $(here); `x` \"y\" \\''"'),
    ('"sh", ""',                               '"''''"'),
    ('"sh", 5',                                '"''5''"'),
    ('"sh", ["list", "a b", 1, "c''d"]',       '"''a b'' ''1'' ''c''\\''''d''"'),
    ('"sh", ["list"]',                         '""'),
    ('"quote_ident", "plain"',                 '"plain"'),
    ('"quote_ident", "Drop \"table\""',        '"\"Drop \"\"table\"\"\""'),
    ('"url_encode", "a b&c=d/é~_.-😀"',        '"a%20b%26c%3Dd%2F%C3%A9~_.-%F0%9F%98%80"'),
    ('"url_encode", ""',                       '""'),
    ('"base64", "hällo"',                      '"aMOkbGxv"'),
    ('"size", ["call", "base64", ["call", "lpad", "x", 300]]', '400'),
    ('"sha256", "abc"',                        '"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"')
  ) t (call, expected);

-- What they refuse.
select is(error(t.call), t.message, t.call)
  from (values
    ('"string", ["list"]',                     'a list cannot be part of a text'),
    ('"size", 5',                              'argument 1 of size must be a string, a list or an object, not the number 5'),
    ('"trim", 5',                              'argument 1 of trim must be a string, not the number 5'),
    ('"lower", {}',                            'argument 1 of lower must be a string, not an object'),
    ('"upper", true',                          'argument 1 of upper must be a string, not true'),
    ('"replace", "a", "b", null',              'argument 3 of replace must be a string, not null'),
    ('"split", "a", 1',                        'argument 2 of split must be a string, not the number 1'),
    ('"join", "a", ","',                       'argument 1 of join must be a list, not the string "a"'),
    ('"join", ["list", null], ","',            'null cannot be part of a text'),
    ('"starts_with", "a", null',               'argument 2 of starts_with must be a string, not null'),
    ('"ends_with", 1, "a"',                    'argument 1 of ends_with must be a string, not the number 1'),
    ('"contains", "a", 1',                     'argument 2 of contains must be a string, not the number 1'),
    ('"contains", 5, 1',                       'argument 1 of contains must be a string or a list, not the number 5'),
    ('"substring", "a", "0"',                  'argument 2 of substring must be a number, not the string "0"'),
    ('"substring", "a", 0.5',                  'argument 2 of substring must be an int of 32 bits, not the number 0.5'),
    ('"substring", "a", 0, -1',                'argument 3 of substring must be 0 or more, not -1'),
    ('"lpad", "a", 1000001',                   'argument 2 of lpad must be at most 1000000, not 1000001'),
    ('"lpad", "a", 1e400, "x"',                'argument 2 of lpad must be an int of 32 bits, not the number 1' || repeat('0', 39)),
    ('"matches", "a", "("',                    'invalid regular expression: parentheses () not balanced'),
    ('"capture", "a", 1',                      'argument 2 of capture must be a string, not the number 1'),
    ('"replace_all", "a", "*", "b"',           'invalid regular expression: quantifier operand invalid'),
    ('"first", "abc"',                         'argument 1 of first must be a list, not the string "abc"'),
    ('"last", {}',                             'argument 1 of last must be a list, not an object'),
    ('"sort", ["list", 1, "a"]',               'the elements for sort must be all numbers, all strings or all booleans'),
    ('"sort", ["list", null]',                 'the elements for sort must be all numbers, all strings or all booleans'),
    ('"max", ["list", 1, null]',               'the elements for max must be all numbers, all strings or all booleans'),
    ('"min", ["list", {}]',                    'the elements for min must be all numbers, all strings or all booleans'),
    ('"sum", ["list", 1, "2"]',                'element 1 for sum must be a number, not the string "2"'),
    ('"reverse", 5',                           'argument 1 of reverse must be a list, not the number 5'),
    ('"unique", 5',                            'argument 1 of unique must be a list, not the number 5'),
    ('"flatten", 5',                           'argument 1 of flatten must be a list, not the number 5'),
    ('"slice", ["list"], null',                'argument 2 of slice must be a number, not null'),
    ('"concat", ["list"], 1',                  'argument 2 of concat must be a list, not the number 1'),
    ('"keys", ["list"]',                       'argument 1 of keys must be an object, not a list'),
    ('"values", 1',                            'argument 1 of values must be an object, not the number 1'),
    ('"merge", {}, null',                      'argument 2 of merge must be an object, not null'),
    ('"has", {}, 1',                           'argument 2 of has must be a string, not the number 1'),
    ('"entries", "x"',                         'argument 1 of entries must be an object, not the string "x"'),
    ('"abs", "1"',                             'argument 1 of abs must be a number, not the string "1"'),
    ('"ceil", true',                           'argument 1 of ceil must be a number, not true'),
    ('"floor", {}',                            'argument 1 of floor must be a number, not an object'),
    ('"round", 1, "2"',                        'argument 2 of round must be a number, not the string "2"'),
    ('"int", 2.5',                             'the number 2.5 is not an int'),
    ('"int", "abc"',                           'the string "abc" is not a number'),
    ('"int", true',                            'argument 1 of int must be a number, not true'),
    ('"number", "Infinity"',                   'the string "Infinity" is not a number'),
    ('"today", "Mars/Base"',                   'time zone "Mars/Base" not recognized'),
    ('"date", "21.11.2026"',                   'the string "21.11.2026" is not a date'),
    ('"date", "2026-13-01"',                   'date/time field value out of range: "2026-13-01"'),
    ('"timestamp", "now"',                     'the string "now" is not a timestamp'),
    ('"timestamp", "infinity"',                'the string "infinity" is not a timestamp'),
    ('"duration", "5"',                        'the string "5" is not a duration'),
    ('"duration", "5 fortnights"',             '"fortnights" is not a unit of time'),
    ('"duration", "PT"',                       'the string "PT" is not a duration'),
    ('"seconds", 5',                           'argument 1 of seconds must be a string, not the number 5'),
    ('"format_time", "2026-11-21", null',      'argument 2 of format_time must be a string, not null'),
    ('"parse", "{"',                           'invalid input syntax for type json'),
    ('"parse", {}',                            'argument 1 of parse must be a string, not an object'),
    ('"path", {}, "$["',                       'syntax error at end of jsonpath input'),
    ('"sh", {}',                               'an object cannot be part of a text'),
    ('"sh", ["list", null]',                   'null cannot be part of a text'),
    ('"quote_ident", 1',                       'argument 1 of quote_ident must be a string, not the number 1'),
    ('"url_encode", 1',                        'argument 1 of url_encode must be a string, not the number 1'),
    ('"base64", null, 1',                      null),
    ('"sha256", 1',                            'argument 1 of sha256 must be a string, not the number 1')
  ) t (call, message);

-- The catalogue and the code agree.
select is(wf._evaluate(jsonb_build_array('call', f.name, null), '{}') -> 'value', 'null', f.name || ' of null is null')
  from wf.function f
 where f.name not in ('now', 'json', 'typeof')
 order by f.name;
select is_empty($$
    select f.name
      from wf.function f
     where coalesce(wf._evaluate(jsonb_build_array('call', f.name, '{}'::jsonb), '{}') -> 'error' ->> 'message', '') like 'there is no%'
$$, 'every function of the catalogue is there');
select is_empty($$
    select f.name
      from wf.function f, unnest(f.arguments) a
     where a !~ '^[a-z]+: [a-z\[\]]+( or [a-z]+)*\??$'
$$, 'every argument has a name and a type');
select bag_eq($$ select name, topic from wf.function_v $$, $$ select name, topic from wf.function $$, 'function_v lists the functions');

-- The clock.
set local wf.now = '2026-11-21 23:30:00.5+00';
select is(value('"now"'), '"2026-11-21T23:30:00.5Z"', 'now is the workspace''s clock');
select is(value('"today"'), '"2026-11-21"', 'today is the date in UTC');
select is(value('"today", "Europe/Berlin"'), '"2026-11-22"', 'today takes a time zone');
set local timezone = 'Asia/Tokyo';
set local datestyle = 'SQL, DMY';
set local intervalstyle = 'postgres_verbose';
select is(value('"today"'), '"2026-11-21"', 'whatever the session''s time zone');
select is(value('"date", "2026-03-04"'), '"2026-03-04"', 'whatever the session''s order of day and month');
select is(value('"duration", "90m"'), '"PT1H30M"', 'whatever the session''s form of intervals');
select is(value('"format_time", "2026-03-29T01:00:00Z", "HH24:MI", "Europe/Berlin"'), '"03:00"', 'in summer time');
select is(value('"format_time", "2026-03-29T00:59:59Z", "HH24:MI", "Europe/Berlin"'), '"01:59"', 'a second before summer time has the winter offset');

-- Functions that a DBA adds.
create schema custom;
grant usage on schema custom to wf_owner;
create function custom.double(variadic p_args jsonb[]) returns jsonb
language sql immutable security definer set search_path = pg_catalog, pg_temp
as $$ select to_jsonb(p_args[1]::numeric * coalesce(p_args[2]::numeric, 2)) $$;
create function custom.broken(variadic p_args jsonb[]) returns jsonb
language plpgsql immutable security definer set search_path = pg_catalog, pg_temp
as $$ begin raise exception 'broken by %', p_args[1]; end $$;
create function custom.nothing(variadic p_args jsonb[]) returns jsonb
language sql immutable security definer set search_path = pg_catalog, pg_temp as 'select null::jsonb';
create function custom.invoker(variadic p_args jsonb[]) returns jsonb language sql immutable as 'select null::jsonb';
create function custom.changing(variadic p_args jsonb[]) returns jsonb language sql security definer as 'select null::jsonb';
create function custom.plain(jsonb) returns jsonb language sql immutable security definer as 'select null::jsonb';

select lives_ok($$ select wf.function_set('double', 'custom.double', '{n: number,factor: number?}', 'number', 'n times factor') $$, 'a function is added');
select is(value('"double", 4'), '8', 'an added function is called');
select is(value('"double", 4, 3'), '12', 'with all of its arguments');
select is(value('"double", null'), 'null', 'an added function is not called for null');
select is(wf._is_expression('["call", "double", 4]'), null, 'an added function is known to the check');
select is(wf._is_expression('["call", "double"]'), 'function double takes 1 to 2 arguments, not 0', 'with its arguments');
select lives_ok($$ select wf.function_set('double', 'custom.nothing', '{n: number}', 'number', 'nothing') $$, 'an added function can be replaced');
select is(value('"double", 4'), 'null', 'null of SQL is null');
select lives_ok($$ select wf.function_set('broken', 'custom.broken', '{x: json}', 'json', 'fails') $$, 'another one is added');
select is(error('"broken", 4'), 'broken by 4', 'the message of an added function''s exception is the error');

select throws_ok($$ select wf.function_set('trim', 'custom.double', '{n: number}', 'number', '') $$, 'WF002', 'function trim is built in', 'a built-in function stays');
select throws_ok($$ select wf.function_set('Bad Name', 'custom.double', '{n: number}', 'number', '') $$, 'WF002', '''Bad Name'' is not a name of a function', 'names have a form');
select throws_ok($$ select wf.function_set('f', 'custom.invoker', '{n: number}', 'number', '') $$, 'WF002', 'expressions may not call custom.invoker: it is not security definer', 'not with the caller''s rights');
select throws_ok($$ select wf.function_set('f', 'custom.changing', '{n: number}', 'number', '') $$, 'WF002', 'expressions may not call custom.changing: it is not immutable', 'not what may change something');
select throws_ok($$ select wf.function_set('f', 'custom.plain', '{n: number}', 'number', '') $$, 'WF002', 'expressions may not call custom.plain: its arguments are not (variadic jsonb[])', 'not with other arguments');
select throws_ok($$ select wf.function_set('f', 'custom.double', null, 'number', '') $$, 'WF002', 'the arguments of the function are not listed', 'not without a list of arguments');
select throws_ok($$ select wf.function_set('f', null, '{}', 'number', '') $$, 'WF002', 'expressions may not call null: there is no such function', 'not without a function');

create or replace function custom.broken(variadic p_args jsonb[]) returns jsonb
language plpgsql immutable security definer set search_path = pg_catalog, pg_temp
as $$ begin raise exception using errcode = p_args[1] #>> '{}', message = 'not now'; end $$;
select is(error(format('"broken", "%s"', state)), 'not now', 'whatever a function raises is an error of the expression: ' || state)
  from unnest('{40001,53200,57P01,55P03,P0004,XX000}'::text[]) state;

alter function custom.broken(jsonb[]) security invoker;
select is(error('"broken", 4'), 'function broken cannot be called: it is not security definer', 'a function that was changed without function_set is not called');
drop function custom.broken(jsonb[]);
select is(error('"broken", 4'), 'function broken cannot be called: it no longer exists', 'a function that was dropped is not called');
select lives_ok($$ select wf.function_remove('broken') $$, 'a function is removed');
select is(error('"broken", 4'), 'there is no function broken', 'a removed function does not exist any more');
select throws_ok(format($$ select wf.%I('broken', array[%L]::jsonb[]) $$, family, arg), 'WF020', 'there is no function broken', 'whomever one asks: ' || family)
  from (values ('_call_text', '1'), ('_call_list', '[]'), ('_call_object', '{}'), ('_call_number', '1'), ('_call_time', '1'), ('_call_json', '1'), ('_call_quoting', '1')) f (family, arg);
select throws_ok($$ select wf.function_remove('broken') $$, 'WF003', 'there is no function broken', 'a function is not removed twice');
select throws_ok($$ select wf.function_remove('trim') $$, 'WF002', 'function trim is built in', 'a built-in function is not removed');

select * from finish();
rollback;
