-- budget.sql - what an evaluation may take, and what it says when that is not
-- enough. tests/e2e/budget.t measures time and memory.
begin;
select plan(39);
set local statement_timeout = '60s';

create function env() returns jsonb
language sql as $$
    select jsonb_build_object('xs', (select jsonb_agg(g) from generate_series(1, 100000) g),
                              'few', (select jsonb_agg(g) from generate_series(1, 1000) g),
                              'text', repeat('ab ', 100000), 'a', repeat('a', 1000));
$$;
create function value(p_expr jsonb) returns jsonb
language sql as $$ select wf._evaluate(p_expr, env()) -> 'value'; $$;
create function kind(p_expr jsonb) returns text
language sql as $$ select coalesce(wf._evaluate(p_expr, env()) -> 'error' ->> 'kind', 'value'); $$;
create function message(p_expr jsonb) returns text
language sql as $$ select wf._evaluate(p_expr, env()) -> 'error' ->> 'message'; $$;

-- comprehensions
select is(message('["each", "x", ["var", "xs"], ["var", "x"], ["call", "contains", ["var", "xs"], ["var", "x"]]]'),
    'the expression takes more than the 200000 steps allowed', 'each element looked up in all of them');
select is(wf._evaluate('["each", "x", ["var", "xs"], ["var", "x"], ["call", "contains", ["var", "xs"], ["var", "x"]]]', env()) -> 'error' ->> 'detail',
    'Give it less data, let a task do the work, or raise the setting expression_steps.', 'the error says what helps');
select is(kind('["each", "a", ["range", 1, 100000], ["each", "b", ["range", 1, 100000], 1, true], true]'), 'limit', 'a loop in a loop');
select is(message('["each", "a", ["range", 1, 2500], ["call", "lpad", "x", 1000000, "x"], true]'),
    'the expression takes more than the 33554432 bytes allowed', 'gigabytes of text from a line');
select is(kind('["each", "a", ["range", 1, 100000], ["text", ["var", "a"], "-------------------------------------------------------"], true]'), 'limit', 'many small values');
select is(jsonb_array_length(value('["each", "x", ["var", "xs"], ["var", "x"], true]')), 100000, 'a hundred thousand elements are within the budget');
select is(jsonb_array_length(value('["each", "x", ["var", "few"], ["mul", ["var", "x"], 2], ["call", "contains", ["var", "few"], ["var", "x"]]]')), 1000, 'a thousand elements looked up in all of them are, too');
select is(jsonb_array_length(value('["each", "a", ["range", 1, 100], ["each", "b", ["range", 1, 100], ["mul", ["var", "a"], ["var", "b"]], true], true]')), 100, 'a small loop in a loop is, too');

-- each evaluation has its own budget
select is((select count(*) from generate_series(1, 4) g
            where wf._evaluate('["each", "x", ["range", 1, 50000], ["var", "x"], true]', '{}') ? 'value'), 4::bigint,
    'steps of one evaluation do not count for the next');
select is(current_setting('wf.spent', true), '', 'nothing is left after a value');
select is(kind('["each", "a", ["range", 1, 100000], ["each", "b", ["range", 1, 100000], 1, true], true]'), 'limit', 'an evaluation that fails');
select is(current_setting('wf.spent', true), '', 'nothing is left after an error');
set local wf.spent = '{-9000000000,-9000000000}';
select is(kind('["each", "a", ["range", 1, 100000], ["each", "b", ["range", 1, 100000], 1, true], true]'), 'limit', 'no caller can give an evaluation more than it has');
set local wf.spent = '';

-- operators and functions
select is(kind(jsonb_build_array('list') || (select jsonb_agg('["var", "xs"]'::jsonb) from generate_series(1, 100))), 'limit', 'a large value many times in a list');
select is(kind(jsonb_build_array('text') || (select jsonb_agg('["var", "text"]'::jsonb) from generate_series(1, 200))), 'limit', 'a large value many times in a text');
select is(kind('["call", "replace", ["var", "text"], "a", ["var", "text"]]'), 'limit', 'replace by something large');
select is(kind('["call", "join", ["var", "xs"], ["var", "a"]]'), 'limit', 'join by something large');
select is(kind('["mul", ["mul", ["var", "n"], ["var", "n"]], 1]'::jsonb), 'input', 'a name that is not bound is no limit');
select is(wf._evaluate('["each", "x", ["range", 1, 1000], ["mul", ["var", "n"], ["var", "n"]], true]',
    jsonb_build_object('n', repeat('7', 60000)::numeric)) -> 'error' ->> 'kind', 'limit', 'products of long numbers');
select is(message('["text", 1e2000]'), 'a number of more than 1000 digits cannot be part of a text', 'a text of a long number');
select is(message('["div", 1e2000, 7]'), 'numbers from 1e1000 on cannot be divided', 'division of a long number');
select is(message('["mod", 1e2000, 7]'), 'numbers from 1e1000 on cannot be divided', 'remainder of a long number');
select is(wf._evaluate('["call", "json", ["var", "x"]]', jsonb_build_object('x', (select jsonb_agg(1e131000) from generate_series(1, 1000)))) -> 'error' ->> 'kind',
    'limit', 'the JSON text of many long numbers');

-- contains
select is(value('["call", "contains", ["const", [1.0, "a", null]], null]'), 'true', 'a list contains null');
select is(value('["call", "contains", ["const", [1.0, "a"]], 1]'), 'true', 'numbers are compared by value');
select is(value('["call", "contains", ["const", [[1, 2], {"a": 1, "b": 2}]], ["const", [1]]]'), 'false', 'a list that is a part of an element is no element');
select is(value('["call", "contains", ["const", [[1, 2]]], 1]'), 'false', 'an element of an element is not contained');

-- regular expressions
select is(message('["call", "matches", ["var", "a"], "(a)\\1"]'), 'a regular expression may not have back references (\1), *** or the options (?b), (?e), (?q) and (?x)', 'a back reference');
select is(message('["call", "capture", ["var", "a"], "^(xa|x|aa|aaaa|y)*$"]'), 'a group that is captured cannot be repeated, and cannot stand in a group that is repeated', 'a capture that is repeated');
select is(kind('["call", "replace_all", ["var", "a"], "(?:b(a))+", ""]'), 'limit', 'a capture in what is repeated');
select is(value('["call", "capture", ["var", "a"], "^((?:a|aa)*)a$"]') ->> 0, repeat('a', 999), 'a repeated group inside a capture is allowed');
select is(value('["call", "matches", ["var", "a"], "^(a|aa)*$"]'), 'true', 'where nothing is captured, groups can be repeated');
select is(message('["call", "matches", ["var", "a"], "(a{1,99}){1,99}"]'),
    'the regular expression has 9900 characters with its repetitions written out, more than the 2000 allowed', 'counted repetitions in each other');
select is(kind('["call", "replace_all", ["var", "text"], "\\s+$", ""]'), 'limit', 'a search that is tried from each character of a long text is refused');
select is(kind('["call", "replace_all", ["var", "text"], " +", ""]'), 'value', 'a repetition at the end is not');
select is(value('["call", "capture", "1.20.3", "(\\d+)\\.(\\d+)[)*(]?\\.(\\d+)"]'), '["1", "20", "3"]', 'signs in escapes and sets repeat nothing');

-- JSON paths
select is(kind('["call", "path", 1, "$[0,0,0,0][0,0,0,0][0,0,0,0][0,0,0,0][0,0,0,0][0,0,0,0][0,0,0,0][0,0,0,0][0,0,0,0]"]'), 'limit', 'a path that multiplies what it finds');
select is(kind('["call", "path", ["var", "xs"], "$[*] ? (@ == $[*])"]'), 'limit', 'a path that compares all with all');
select is(kind('["call", "size", ["call", "path", ["var", "few"], "$[*] ? (@ > 5)"]]'), 'value', 'a path that looks at each once');
select * from finish();
rollback;
