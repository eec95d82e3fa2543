-- expression.sql - operators of the expression language: what they yield, what
-- they refuse, and what is an expression at all.
begin;
select plan(289);

-- value(EXPR): its value; error(EXPR): the message with which it fails.
create function value(p_expr text) returns jsonb
language sql as $$
    select wf._evaluate(p_expr::jsonb, '{
        "i": 5, "s": "abc", "no": null, "yes": true, "xs": [1, 2, 3], "empty": [],
        "o": {"a": 1, "b": null, "deep": {"list": [{"k": "v"}]}},
        "instance": {"id": 42, "workflow": "nightly"}}') -> 'value';
$$;
create function error(p_expr text) returns text
language sql as $$
    select wf._evaluate(p_expr::jsonb, '{"i": 5, "s": "abc", "no": null, "yes": true, "xs": [1, 2, 3], "o": {"a": 1}}')
        -> 'error' ->> 'message';
$$;

-- What operators yield.
select is(value(t.expr), t.expected::jsonb, t.expr)
  from (values
    -- literals
    ('"x"',                                     '"x"'),
    ('5',                                       '5'),
    ('null',                                    'null'),
    ('false',                                   'false'),
    ('{}',                                      '{}'),
    ('{"a": 1, "b": {"c": "d"}}',               '{"a": 1, "b": {"c": "d"}}'),
    ('{"a": ["var", "i"], "b": 2}',             '{"a": 5, "b": 2}'),
    ('{"a": {"b": {"c": ["var", "s"]}}}',       '{"a": {"b": {"c": "abc"}}}'),
    ('{"": ["var", "i"], "0": ["var", "s"]}',   '{"": 5, "0": "abc"}'),
    ('["const", ["var", "i"]]',                 '["var", "i"]'),
    ('["const", null]',                         'null'),
    ('["list"]',                                '[]'),
    ('["list", 1, ["var", "s"], null, ["list", 2]]', '[1, "abc", null, [2]]'),
    ('["object", {"a": 1}, ["b", "c"], 2, ["var", "i"]]', '{"a": 1, "b": 2, "c": 5}'),
    -- names
    ('["var", "i"]',                            '5'),
    ('["var", "nobody"]',                       'null'),
    ('["var", "no"]',                           'null'),
    ('["instance", "id"]',                      '42'),
    ('["instance", "key"]',                     'null'),
    ('["text", ["instance", "workflow"], "!"]', '"nightly!"'),
    -- fields and elements
    ('["get", ["var", "o"], "a"]',              '1'),
    ('["get", ["var", "o"], "b"]',              'null'),
    ('["get", ["var", "o"], "missing"]',        'null'),
    ('["get", ["var", "no"], "a"]',             'null'),
    ('["get", ["var", "nobody"], "a"]',         'null'),
    ('["get", null, "a"]',                      'null'),
    ('["get", {"x": 7}, ["text", "x"]]',        '7'),
    ('["get", ["get", ["var", "o"], "missing"], "further"]', 'null'),
    ('["get", ["at", ["get", ["get", ["var", "o"], "deep"], "list"], 0], "k"]', '"v"'),
    ('["at", ["var", "xs"], 0]',                '1'),
    ('["at", ["var", "xs"], -1]',               '3'),
    ('["at", ["var", "xs"], 3]',                'null'),
    ('["at", ["var", "xs"], -4]',               'null'),
    ('["at", ["var", "xs"], 1.0]',              '2'),
    ('["at", ["var", "xs"], 1e400]',            'null'),
    ('["at", null, 0]',                         'null'),
    ('["at", ["list", null], 0]',               'null'),
    -- text
    ('["text"]',                                '""'),
    ('["text", "a", 1, true, ["var", "s"]]',    '"a1trueabc"'),
    ('["text", 1.50, "|", 1e3]',                '"1.50|1000"'),
    ('["text", "ä€😀", ""]',                    '"ä€😀"'),
    ('["text", "${i} $1 %s ''"]',               '"${i} $1 %s ''"'),
    -- numbers
    ('["neg", 5]',                              '-5'),
    ('["neg", ["neg", 2.50]]',                  '2.5'),
    ('["add", ["var", "i"], 1]',                '6'),
    ('["add", 0.1, 0.2]',                       '0.3'),
    ('["sub", 1, 2.50]',                        '-1.5'),
    ('["mul", 2.5, 4]',                         '10'),
    ('["div", 6, 3]',                           '2'),
    ('["div", 5, 2]',                           '2.5'),
    ('["div", 0, 5]',                           '0'),
    ('["mod", 7, 3]',                           '1'),
    ('["mod", -7, 3]',                          '-1'),
    ('["mod", 7.5, 2]',                         '1.5'),
    ('["add", 123456789012345678901234567890, 1]', '123456789012345678901234567891'),
    ('["div", 123456789012345678901234567890, 1]', '123456789012345678901234567890'),
    ('["sub", ["add", 1e400, 1], 1e400]',       '1'),
    ('["eq", ["mul", 1e200, 1e200], 1e400]',    'true'),
    ('["eq", ["div", 1, 1e400], 1e-400]',       'true'),
    -- equality
    ('["eq", 1, 1.0]',                          'true'),
    ('["eq", 1, "1"]',                          'false'),
    ('["eq", null, null]',                      'true'),
    ('["eq", null, false]',                     'false'),
    ('["eq", ["var", "nobody"], null]',         'true'),
    ('["ne", 1, 2]',                            'true'),
    ('["ne", "a", "a"]',                        'false'),
    ('["eq", {"a": ["list", 1, {"b": 2}]}, {"a": ["list", 1.00, {"b": 2.0}]}]', 'true'),
    ('["eq", ["list", 1, 2], ["list", 2, 1]]',  'false'),
    ('["eq", ["list"], {}]',                    'false'),
    ('["eq", "\u00e9", "e\u0301"]',             'false'),
    -- order
    ('["lt", 2, 10]',                           'true'),
    ('["lt", 10, 10]',                          'false'),
    ('["le", 10, 10.0]',                        'true'),
    ('["gt", 1e400, 1e399]',                    'true'),
    ('["ge", -1, 0]',                           'false'),
    ('["lt.string", "2", "10"]',                'false'),
    ('["lt.string", "Z", "a"]',                 'true'),
    ('["lt.string", "z", "ä"]',                 'true'),
    ('["le.string", "a", "a"]',                 'true'),
    ('["gt.string", "b", "a"]',                 'true'),
    ('["ge.string", "a", "b"]',                 'false'),
    ('["lt.date", "2026-09-30", "2026-10-01"]', 'true'),
    ('["ge.date", "2026-10-01", "2026-10-01"]', 'true'),
    ('["lt.timestamp", "2026-11-21T10:00:00+02:00", "2026-11-21T09:00:00Z"]', 'true'),
    ('["le.timestamp", "2026-11-21T10:00:00+01", "2026-11-21 09:00Z"]', 'true'),
    ('["gt.timestamp", "2026-11-21", "2026-11-20T23:59:59.999999Z"]', 'true'),
    ('["lt.duration", "PT90M", "PT1H31M"]',     'true'),
    ('["le.duration", "P1D", "PT24H"]',         'true'),
    ('["gt.duration", "1w", "6 days 23 hours"]', 'true'),
    ('["ge.duration", "PT0S", "PT1S"]',         'false'),
    -- booleans, and what is not evaluated
    ('["not", false]',                          'true'),
    ('["and", true, false]',                    'false'),
    ('["and", true, true, ["var", "yes"]]',     'true'),
    ('["and", false, ["div", 1, 0]]',           'false'),
    ('["or", false, true]',                     'true'),
    ('["or", false, false]',                    'false'),
    ('["or", true, ["div", 1, 0]]',             'true'),
    ('["if", true, 1, ["div", 1, 0]]',          '1'),
    ('["if", ["eq", 1, 2], ["div", 1, 0], "no"]', '"no"'),
    ('["if", true, null, 1]',                   'null'),
    ('["if", false, 1, ["if", true, 2, 3]]',    '2'),
    ('["coalesce", null, 2]',                   '2'),
    ('["coalesce", 1, ["div", 1, 0]]',          '1'),
    ('["coalesce", false, 2]',                  'false'),
    ('["coalesce", ["var", "nobody"], ["var", "no"], null]', 'null'),
    -- lists
    ('["range", 1, 3]',                         '[1, 2, 3]'),
    ('["range", 5, 1]',                         '[]'),
    ('["range", -1, 1.0]',                      '[-1, 0, 1]'),
    ('["call", "size", ["range", 1, 100000]]',  '100000'),
    ('["each", "x", ["var", "xs"], ["mul", ["var", "x"], 2], true]', '[2, 4, 6]'),
    ('["each", "x", ["var", "xs"], ["var", "x"], ["gt", ["var", "x"], 1]]', '[2, 3]'),
    ('["each", "x", ["var", "empty"], ["div", 1, 0], true]', '[]'),
    ('["each", "x", ["var", "xs"], ["add", ["var", "x"], ["var", "i"]], true]', '[6, 7, 8]'),
    ('["each", "x", ["var", "xs"], ["div", 1, ["sub", ["var", "x"], 2]], ["ne", ["var", "x"], 2]]', '[-1, 1]'),
    ('["each", "x", ["list", {"k": 1}, {"k": null}, {}], ["get", ["var", "x"], "k"], true]', '[1, null, null]'),
    ('["each", "x", ["range", 1, 2], ["each", "y", ["range", 1, ["var", "x"]], ["list", ["var", "x"], ["var", "y"]], true], true]',
                                                '[[[1, 1]], [[2, 1], [2, 2]]]'),
    ('["list", ["each", "x", ["var", "xs"], 0, true], ["var", "x"]]', '[[0, 0, 0], null]'),
    ('["each", "s", ["list", "inner"], ["var", "s"], true]', '["inner"]'),
    -- casts
    ('["cast", "string", 5]',                   '"5"'),
    ('["cast", "string", true]',                '"true"'),
    ('["cast", "string", "x"]',                 '"x"'),
    ('["cast", "int", "12"]',                   '12'),
    ('["cast", "int", 5.0]',                    '5'),
    ('["cast", "number", " -1.50e2 "]',         '-150'),
    ('["cast", "bool", "true"]',                'true'),
    ('["cast", "date", "2026-11-21"]',          '"2026-11-21"'),
    ('["cast", "date", "2026-11-21T23:30:00-05:00"]', '"2026-11-22"'),
    ('["cast", "timestamp", "2026-11-21 10:00:00.50+01:00"]', '"2026-11-21T09:00:00.5Z"'),
    ('["cast", "timestamp", "2026-11-21"]',     '"2026-11-21T00:00:00Z"'),
    ('["cast", "duration", "90m"]',             '"PT1H30M"'),
    ('["cast", {"optional": "int"}, null]',     'null'),
    ('["cast", {"optional": "int"}, "7"]',      '7'),
    ('["cast", {"list": "int"}, ["var", "xs"]]', '[1, 2, 3]'),
    ('["cast", {"object": {"a": "int", "z": {"optional": "int"}}}, {"a": 1, "more": true}]', '{"a": 1, "more": true}'),
    ('["cast", "json", {"a": null}]',           '{"a": null}'),
    -- times
    ('["add.time", "2026-11-21", "PT1H"]',      '"2026-11-21T01:00:00Z"'),
    ('["add.time", "2026-11-21T10:00:00Z", "P1M"]', '"2026-12-21T10:00:00Z"'),
    ('["add.time", "2026-01-31", "P1M"]',       '"2026-02-28T00:00:00Z"'),
    ('["add.time", "2024-02-28T12:00:00.123456Z", "P1D"]', '"2024-02-29T12:00:00.123456Z"'),
    ('["add.time", "2026-03-29T00:30:00+01:00", "P1D"]', '"2026-03-29T23:30:00Z"'),
    ('["sub.time", "2026-11-21T00:00:00Z", "250ms"]', '"2026-11-20T23:59:59.75Z"'),
    ('["sub.times", "2026-11-22T12:00:00Z", "2026-11-21"]', '"P1DT12H"'),
    ('["sub.times", "2026-11-21", "2026-11-22T01:00:00Z"]', '"P-1DT-1H"'),
    ('["sub.times", "2026-11-21", "2026-11-21"]', '"PT0S"'),
    ('["add.duration", "PT12H", "PT24H"]',      '"P1DT12H"'),
    ('["sub.duration", "P1D", "PT1H"]',         '"PT23H"'),
    ('["mul.duration", "PT1H30M", 2]',          '"PT3H"'),
    ('["mul.duration", "P1D", 0.5]',            '"PT12H"'),
    ('["mul.duration", "PT0.1S", 3]',           '"PT0.3S"'),
    ('["mul.duration", "P1M", 3]',              '"P3M"')
  ) t (expr, expected);

select is(value('["div", 1, 3]')::text, '0.' || repeat('3', 24), 'a division has 20 significant digits or more');
select is(value('["mul", ["div", 10, 4], 2.00]')::text, '5', 'arithmetic leaves no trailing zeros');

-- What they refuse: every row of the table of nulls and wrong types.
select is(error(t.expr), t.message, t.expr)
  from (values
    ('["get", ["var", "i"], "f"]',              'the number 5 has no field "f"'),
    ('["get", ["var", "s"], "f"]',              'the string "abc" has no field "f"'),
    ('["get", ["var", "xs"], "f"]',             'a list has no field "f"'),
    ('["get", ["var", "o"], 1]',                'operand 2 of . must be a string, not the number 1'),
    ('["get", ["var", "o"], null]',             'operand 2 of . must be a string, not null'),
    ('["at", ["var", "o"], 0]',                 'operand 1 of [ ] must be a list, not an object'),
    ('["at", ["var", "s"], 0]',                 'operand 1 of [ ] must be a list, not the string "abc"'),
    ('["at", ["var", "xs"], 0.5]',              'operand 2 of [ ] must be an int, not the number 0.5'),
    ('["at", ["var", "xs"], "0"]',              'operand 2 of [ ] must be an int, not the string "0"'),
    ('["at", ["var", "xs"], null]',             'operand 2 of [ ] must be an int, not null'),
    ('["add", 1, "x"]',                         'operand 2 of + must be a number, not the string "x"'),
    ('["add", null, 1]',                        'operand 1 of + must be a number, not null'),
    ('["sub", 1, true]',                        'operand 2 of - must be a number, not true'),
    ('["mul", ["var", "xs"], 2]',               'operand 1 of * must be a number, not a list'),
    ('["div", 1, 0]',                           'division by zero'),
    ('["mod", 1, 0.0]',                         'division by zero'),
    ('["neg", "1"]',                            'operand 1 of - must be a number, not the string "1"'),
    ('["mul", 1e131000, 1e131000]',             'value overflows numeric format'),
    ('["lt", null, 1]',                         'operand 1 of < must be a number, not null'),
    ('["ge", 1, "2"]',                          'operand 2 of >= must be a number, not the string "2"'),
    ('["lt.string", "a", 1]',                   'operand 2 of < must be a string, not the number 1'),
    ('["lt.date", 20261121, "2026-11-21"]',     'operand 1 of < must be a date, not the number 20261121'),
    ('["lt.date", "2026-11-21", null]',         'operand 2 of < must be a date, not null'),
    ('["lt.date", "2026-11-21", "soon"]',       'the string "soon" is not a date'),
    ('["lt.timestamp", "2026-11-21T10:00:00", "2026-11-21"]', 'the string "2026-11-21T10:00:00" is not a timestamp'),
    ('["lt.duration", "1h", "5"]',              'the string "5" is not a duration'),
    ('["not", null]',                           'operand 1 of ! must be true or false, not null'),
    ('["and", true, 1]',                        'operand 2 of && must be true or false, not the number 1'),
    ('["and", null, false]',                    'operand 1 of && must be true or false, not null'),
    ('["or", "true", true]',                    'operand 1 of || must be true or false, not the string "true"'),
    ('["if", null, 1, 2]',                      'operand 1 of ? : must be true or false, not null'),
    ('["coalesce", ["div", 1, 0], 1]',          'division by zero'),
    ('["text", "a", null]',                     'null cannot be part of a text'),
    ('["text", ["var", "nobody"]]',             'null cannot be part of a text'),
    ('["text", ["var", "xs"]]',                 'a list cannot be part of a text'),
    ('["text", {}]',                            'an object cannot be part of a text'),
    ('["range", 1, 2.5]',                       'operand 2 of .. must be an int, not the number 2.5'),
    ('["range", null, 2]',                      'operand 1 of .. must be an int, not null'),
    ('["range", 0, 100000]',                    'the range 0..100000 has more than 100000 elements'),
    ('["each", "x", null, 1, true]',            'the source of [ … for … in … ] must be a list, not null'),
    ('["each", "x", ["var", "xs"], 1, null]',   'the condition of [ … for … if … ] must be true or false, not null'),
    ('["cast", "int", 2.5]',                    'the number 2.5 is not an int'),
    ('["cast", "int", "2.5"]',                  'the number 2.5 is not an int'),
    ('["cast", "number", "x"]',                 'the string "x" is not a number'),
    ('["cast", "number", "NaN"]',               'the string "NaN" is not a number'),
    ('["cast", "string", null]',                'null where string is expected'),
    ('["cast", "string", ["var", "xs"]]',       'a list where string is expected'),
    ('["cast", "bool", 1]',                     'the number 1 where bool is expected'),
    ('["cast", "date", "2026-02-30"]',          'date/time field value out of range: "2026-02-30"'),
    ('["cast", {"list": {"optional": "int"}}, "2"]', 'the string "2" where [int?] is expected'),
    ('["cast", {"object": {"a": "int", "b": {"list": "date"}}}, "2"]', 'the string "2" where {a: int, b: [date]} is expected'),
    ('["cast", {"list": "int"}, ["list", 1, "2"]]', 'element 1: the string "2" where int is expected'),
    ('["cast", {"object": {"a": {"list": "date"}}}, {"a": ["list", "2026-02-30"]}]',
                                                'field a: element 0: the string "2026-02-30" where date is expected'),
    ('["cast", {"object": {"b": "int"}}, ["var", "o"]]', 'field b: missing where int is expected'),
    ('["add.time", 5, "PT1H"]',                 'operand 1 of + must be a time, not the number 5'),
    ('["add.time", "2026-11-21", 3600]',        'operand 2 of + must be a duration, not the number 3600'),
    ('["add.time", "9999-12-31", "P1D"]',       'a timestamp must be in the years 1 to 9999'),
    ('["sub.times", "2026-11-21", null]',       'operand 2 of - must be a time, not null'),
    ('["mul.duration", "PT1H", "2"]',           'operand 2 of * must be a number, not the string "2"')
  ) t (expr, message);

-- Hand-made trees that install would refuse do no harm.
select is(error(t.expr), t.message, 'malformed: ' || t.expr)
  from (values
    ('[]',               'an operand is missing'),
    ('["nonsense", 1, 2]', 'there is no operator nonsense'),
    ('["add", 1]',       'an operand is missing'),
    ('["call"]',         'there is no function'),
    ('["call", "pg_sleep", 5]', 'there is no function pg_sleep')
  ) t (expr, message);

-- Depth.
select is(wf._evaluate((repeat('["neg",', 100) || '7' || repeat(']', 100))::jsonb, '{}'), '{"value": 7}', 'a hundred levels are evaluated');
select is(error(repeat('["neg",', 101) || '7' || repeat(']', 101)), 'the expression is nested more than 100 levels deep', 'a hundred and one are not');

-- Errors as records and as exceptions.
select is(wf._evaluate('["text", null]', '{}'),
    '{"error": {"kind": "input", "message": "null cannot be part of a text", "detail": "Say what stands for it, as in ${x ?? \"none\"}."}}',
    'an error is a record with its hint as detail');
select throws_ok($$ select wf._eval('["add", 1, null]', '{}') $$, 'WF020', 'operand 2 of + must be a number, not null', '_eval raises WF020');
select throws_ok($$ select wf._eval('["mul", 1e131000, 1e131000]', '{}') $$, 'WF020', 'value overflows numeric format', '_eval raises WF020 for what PostgreSQL refuses');
select is(wf._eval('["add", 1, ["var", "x"]]', '{"x": 2}'), '3', '_eval returns the value');
select throws_ok($$ select wf._cast('"date"', '"2026-02-30"') $$, 'WF020', 'date/time field value out of range: "2026-02-30"', '_cast raises WF020');

-- Nothing depends on the session.
set local timezone = 'America/New_York';
set local datestyle = 'German';
set local intervalstyle = 'sql_standard';
set local extra_float_digits = 0;
select is(value(t.expr), t.expected::jsonb, 'in any session: ' || t.expr)
  from (values
    ('["add.time", "2026-03-08T06:30:00Z", "P1D"]',   '"2026-03-09T06:30:00Z"'),
    ('["sub.times", "2026-03-09", "2026-03-08"]',     '"P1D"'),
    ('["add.duration", "PT36H", "P1M"]',              '"P1M1DT12H"'),
    ('["cast", "timestamp", "2026-04-05"]',           '"2026-04-05T00:00:00Z"'),
    ('["cast", "date", "2026-03-04"]',                '"2026-03-04"')
  ) t (expr, expected);

-- Folding changes the form, not the value.
select is(wf._fold('{"a": 1, "b": ["list", 1, {"c": "d"}]}'), '["const", {"a": 1, "b": [1, {"c": "d"}]}]', 'an object of literals becomes a const');
select is(wf._fold('{"a": 1, "n": ["var", "x"]}'), '["object", {"a": 1}, ["n"], ["var", "x"]]', 'any other object becomes an operator');
select is(wf._fold('["text", {"a": 1}]'), '["text", ["const", {"a": 1}]]', 'operands are folded');
select is(wf._fold('["cast", {"list": "int"}, ["list", 1]]'), '["cast", {"list": "int"}, ["const", [1]]]', 'a type is not');
select is(wf._fold('["const", {"a": ["var", "x"]}]'), '["const", {"a": ["var", "x"]}]', 'a const is not folded');
select is(wf._fold(wf._fold(t.expr::jsonb)), wf._fold(t.expr::jsonb), 'folding twice is folding once: ' || t.expr)
  from (values ('{"a": {"b": ["var", "i"], "c": 1}}'), ('["list", 1, ["var", "i"]]'), ('["each", "x", ["list", 1], {"y": ["var", "x"]}, true]')) t (expr);
select is(value(wf._fold(t.expr::jsonb)::text), value(t.expr), 'folded: ' || t.expr)
  from (values ('{"a": {"b": ["var", "i"], "c": 1}}'), ('["list", 1, ["var", "i"]]'), ('["each", "x", ["list", 1], {"y": ["var", "x"]}, true]')) t (expr);

-- What is an expression.
select is(wf._is_expression(t.expr::jsonb), t.problem, 'check of an expression: ' || left(t.expr, 60))
  from (values
    ('1',                                  null),
    ('{"a": ["list"]}',                    null),
    ('["each", "x", ["var", "xs"], ["var", "x"], true]', null),
    ('["call", "lpad", "x", 3]',           null),
    ('["call", "now"]',                    null),
    ('["cast", {"list": {"object": {"a": {"optional": "int"}}}}, null]', null),
    ('["object", {}, ["a"], ["var", "b"]]', null),
    ('["const", ["rubbish"]]',             null),
    ('[]',                                 'there is no operator null'),
    ('[1, 2]',                             'there is no operator 1'),
    ('["nonsense"]',                       'there is no operator "nonsense"'),
    ('["add", 1]',                         'operator add in an array of 2'),
    ('["eq", 1, 2, 3]',                    'operator eq in an array of 4'),
    ('["var", "a b"]',                     '"a b" is not a name'),
    ('["var", 1]',                         '1 is not a name'),
    ('["instance", "password"]',           'instance has no field "password"'),
    ('["call", "pg_read_file", "x"]',      'there is no function "pg_read_file"'),
    ('["call", "trim"]',                   'function trim takes 1 argument, not 0'),
    ('["call", "lpad", "x", 1, " ", 2]',   'function lpad takes 2 to 3 arguments, not 4'),
    ('["cast", "float", 1]',               '"float" is not a type'),
    ('["cast", {"list": "int", "optional": "int"}, 1]', '{"list": "int", "optional": "int"} is not a type'),
    ('["object", {}, ["a"]]',              'object needs as many expressions as names'),
    ('["object", {}, [1], 2]',             'object needs an object and a list of names'),
    ('{"url": ["text", "a", ["var", ""]]}', '.url[2]: "" is not a name'),
    ('["each", "x", ["list"], ["each", "x", ["list"], 1, true], true]', '[3]: the name "x" is bound twice')
  ) t (expr, problem);
select is(wf._is_expression(null), 'there is no expression', 'check of an expression: nothing');
select is(wf._is_expression((repeat('["neg",', 100) || '7' || repeat(']', 100))::jsonb), null, 'check of an expression: a hundred levels');
select alike(wf._is_expression((repeat('["neg",', 101) || '7' || repeat(']', 101))::jsonb), '%nested more than 100 levels deep', 'check of an expression: a hundred and one');

-- Types.
select is(wf._is_type(t.type::jsonb), t.problem, 'check of a type: ' || t.type)
  from (values
    ('"int"',                                  null),
    ('{"list": {"optional": {"object": {"a": "date", "b": {"list": "json"}}}}}', null),
    ('{"object": {}}',                         null),
    ('"float"',                                '"float" is not a type'),
    ('["int"]',                                '["int"] is not a type'),
    ('{}',                                     '{} is not a type'),
    ('{"list": {"list": 5}}',                  '5 is not a type'),
    ('{"object": {"a": "int", "b": null}}',    'null is not a type'),
    ('{"object": "int"}',                      '{"object": "int"} is not a type')
  ) t (type, problem);
select ok(wf._fits('{"list": "int"}', '[1, 2.0]'), 'a list of ints fits');
select ok(not wf._fits('{"list": "int"}', '[1, 2.5]'), 'a list of numbers does not');
select ok(wf._fits('{"object": {"a": "int", "b": {"optional": "int"}}}', '{"a": 1}'), 'an optional field may be missing');
select ok(not wf._fits('{"object": {"a": "int"}}', '{}'), 'any other may not');
select ok(not wf._fits('"json"', 'null'), 'null fits no type');
select ok(wf._fits('{"optional": "json"}', 'null'), 'null fits an optional type');

-- Environments of any size.
select is(wf._evaluate('["each", "x", ["var", "big"], ["add", ["get", ["var", "x"], "n"], ["add", ["var", "one"], ["instance", "id"]]], ["lt", ["get", ["var", "x"], "n"], 3]]',
              jsonb_build_object('one', 1, 'instance', '{"id": 40}'::jsonb,
                  'big', (select jsonb_agg(jsonb_build_object('n', i, 'text', md5(i::text))) from generate_series(1, 1000) i))),
    '{"value": [42, 43]}', 'each sees all names that it reads');
select is(wf._evaluate('["get", ["each", "o", ["list", {"a": 2}], ["var", "o"], true], "a"]', '{"o": {"a": 1}}') -> 'error' ->> 'message',
    'a list has no field "a"', 'the field of a list is no leaf');
select is(wf._evaluate('["each", "o", ["list", {"a": 2}], ["get", ["var", "o"], "a"], true]', '{"o": {"a": 1}}'),
    '{"value": [2]}', 'the name that is bound innermost counts');

-- Names.
select is(wf._names('{"b": ["var", "b"], "a": ["text", ["var", "a"], ["get", ["var", "b"], "f"]]}'), '{a,b}', 'names are those of var, each once');
select is(wf._names('["each", "x", ["var", "xs"], ["add", ["var", "x"], ["var", "y"]], ["var", "c"]]'), '{c,xs,y}', 'names that each binds are not read');
select is(wf._names('["each", "x", ["var", "x"], 1, true]'), '{x}', 'each does not bind its name in its list');
select is(wf._names('["const", ["var", "a"]]'), '{}', 'a const reads nothing');

select * from finish();
rollback;
