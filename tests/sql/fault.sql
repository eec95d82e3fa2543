-- fault.sql - what the error of an expression says: which part of it has failed, where it
-- stands, and why a name, a field or an element has no value.
begin;
\ir helper/play.sql
select no_plan();

create function env() returns jsonb
language sql as $$ select '{"n": 0, "none": null, "o": {"id": 1, "total": null, "in": {}}, "xs": [1, "two", 3], "s": "text", "e": {"id": 5},
                            "rows": [{"k": 1}, {"k": 2}, {"j": 3}]}'::jsonb; $$;
-- the error of an expression as a process has it
create function blamed(p_expr jsonb, p_part text default null) returns jsonb
language sql as $$ select wf._blame(wf._evaluate(p_expr, env()) -> 'error', p_expr, env(), 7, p_part); $$;

-- expressions as text
select is(wf._write(t.expr::jsonb, 0), t.text, 'written: ' || t.text)
  from (values
    ('7',                                                     '7'),
    ('"a \"word\""',                                          '"a \"word\""'),
    ('null',                                                  'null'),
    ('["const", [1, {"a": null}]]',                           '[1, {"a": null}]'),
    ('["var", "order"]',                                      'order'),
    ('["get", ["var", "__e_2"], "message"]',                  'e.message'),
    ('["instance", "id"]',                                    'instance.id'),
    ('["get", ["get", ["var", "o"], "in"], "not a name"]',    'o.in["not a name"]'),
    ('["at", ["var", "xs"], ["neg", ["var", "n"]]]',          'xs[-n]'),
    ('["text", ["get", ["var", "order"], "host"], "/x ${"]',  '"${order.host}/x \${"'),
    ('["list", 1, ["var", "n"]]',                             '[1, n]'),
    ('["list"]',                                              '[]'),
    ('["object", {"a": 1}, ["b", "c"], ["var", "x"], ["neg", 5]]', '{a: 1, b: x, c: -5}'),
    ('{"a": ["var", "x"]}',                                   '{a: x}'),
    ('["call", "join", ["var", "xs"], ", "]',                 'join(xs, ", ")'),
    ('["cast", "int", ["var", "s"]]',                         's'),
    ('["add", ["add", 1, 2], ["add", 3, ["mul", 4, ["sub", 5, 6]]]]', '1 + 2 + (3 + 4 * (5 - 6))'),
    ('["sub", ["neg", ["add", 1, 2]], ["mod", 7, 2]]',        '-(1 + 2) - 7 % 2'),
    ('["and", ["or", ["var", "a"], ["var", "b"]], ["not", ["eq", ["var", "n"], 1]], ["var", "c"]]', '(a || b) && !(n == 1) && c'),
    ('["eq", ["lt", 1, 2], ["ge.date", "x", "y"]]',           '(1 < 2) == ("x" >= "y")'),
    ('["coalesce", ["coalesce", ["var", "a"], ["var", "b"]], ["coalesce", ["var", "c"], 1]]', '(a ?? b) ?? c ?? 1'),
    ('["range", 1, ["add", ["var", "n"], 1]]',                '1..n + 1'),
    ('["if", ["var", "a"], 1, ["if", ["var", "b"], 2, 3]]',   'a ? 1 : b ? 2 : 3'),
    ('["get", ["if", ["var", "a"], ["var", "b"], ["var", "c"]], "x"]', '(a ? b : c).x'),
    ('["each", "x", ["var", "xs"], ["mul", ["var", "x"], 2], ["gt", ["var", "x"], 1]]', '[x * 2 for x in xs if x > 1]'),
    ('["each", "x", ["var", "xs"], ["var", "x"], true]',      '[x for x in xs]'),
    ('["nonsense", 1, 2]',                                    '["nonsense", 1, 2]')
  ) t (expr, text);
-- no operator is forgotten
select is(array(select o.name from wf.operator o
                 where o.name <> 'object' and wf._write(to_jsonb(array[o.name] || array_fill('a'::text, array[coalesce(o.max_length, 3) - 1])), 0) like '["%",%'
                   and o.name <> 'list'),
          '{}', 'every operator is written as the language writes it');

-- the smallest part that fails, and its place
select is(blamed(t.expr::jsonb) ->> 'message', t.message, t.message)
  from (values
    ('["div", 1, ["var", "n"]]',
     'line 7: 1 / n: division by zero'),
    ('["add", 1, ["mul", ["div", 1, ["var", "n"]], 2]]',
     'line 7: 1 / n: division by zero'),
    ('["text", ["get", ["var", "o"], "host"], "/x"]',
     'line 7: "${o.host}/x": null cannot be part of a text (o has no field "host"; its fields are id, in, total)'),
    ('["text", ["get", ["var", "o"], "total"]]',
     'line 7: "${o.total}": null cannot be part of a text (o.total is null)'),
    ('["text", ["get", ["get", ["get", ["var", "o"], "in"], "deep"], "er"]]',
     'line 7: "${o.in.deep.er}": null cannot be part of a text (o.in has no field "deep"; it has none)'),
    ('["text", ["at", ["var", "xs"], 3]]',
     'line 7: "${xs[3]}": null cannot be part of a text (xs has no element 3; it has 3)'),
    ('["add", 1, ["cast", {"optional": "int"}, ["var", "none"]]]',
     'line 7: 1 + none: operand 2 of + must be a number, not null (none is null)'),
    ('["text", null]',
     'line 7: "${null}": null cannot be part of a text'),
    ('["get", ["get", ["var", "o"], "id"], "x"]',
     'line 7: o.id.x: the number 1 has no field "x"'),
    -- what was not evaluated is not blamed
    ('["if", true, ["neg", "a"], ["div", 1, 0]]',
     'line 7: -"a": operand 1 of - must be a number, not the string "a"'),
    ('["if", ["var", "none"], ["div", 1, 0], ["div", 2, 0]]',
     'line 7: none ? 1 / 0 : 2 / 0: operand 1 of ? : must be true or false, not null (none is null)'),
    ('["if", ["eq", ["var", "n"], 0], ["neg", "b"], ["div", 1, 0]]',
     'line 7: -"b": operand 1 of - must be a number, not the string "b"'),
    ('["if", ["eq", ["var", "n"], 1], ["div", 1, 0], ["neg", "c"]]',
     'line 7: -"c": operand 1 of - must be a number, not the string "c"'),
    ('["and", true, ["var", "s"], ["div", 1, 0]]',
     'line 7: true && s && 1 / 0: operand 2 of && must be true or false, not the string "text"'),
    ('["or", false, ["eq", ["div", 1, 0], 1], ["div", 2, 0]]',
     'line 7: 1 / 0: division by zero'),
    ('["coalesce", null, ["div", 1, 0]]',
     'line 7: 1 / 0: division by zero'),
    -- in a comprehension: in its source, in its condition, in its value
    ('["each", "x", ["range", 1, ["div", 1, 0]], ["var", "x"], true]',
     'line 7: 1 / 0: division by zero'),
    ('["each", "x", ["var", "s"], ["var", "x"], true]',
     'line 7: [x for x in s]: the source of [ … for … in … ] must be a list, not the string "text"'),
    ('["each", "x", ["var", "none"], ["var", "x"], true]',
     'line 7: [x for x in none]: the source of [ … for … in … ] must be a list, not null (none is null)'),
    ('["each", "x", ["var", "xs"], ["var", "x"], ["gt", ["var", "x"], 1]]',
     'line 7: x > 1: operand 1 of > must be a number, not the string "two"'),
    ('["each", "x", ["var", "xs"], ["add", ["var", "x"], 1], ["ne", ["var", "x"], 1]]',
     'line 7: x + 1: operand 1 of + must be a number, not the string "two"'),
    ('["each", "r", ["var", "rows"], ["text", ["get", ["var", "r"], "k"]], true]',
     'line 7: "${r.k}": null cannot be part of a text (r has no field "k"; its fields are j)'),
    ('["each", "x", ["var", "xs"], ["var", "x"], ["var", "x"]]',
     'line 7: [x for x in xs if x]: the condition of [ … for … if … ] must be true or false, not the number 1'),
    -- what is not well formed
    ('["nonsense", 1, 2]', 'line 7: ["nonsense", 1, 2]: there is no operator nonsense')
  ) t (expr, message);
select is(blamed(('["each", "x", ["range", 1, 200], ["div", 1, ["sub", 150, ["var", "x"]]], true]')::jsonb) ->> 'message',
          'line 7: [1 / (150 - x) for x in 1..200]: division by zero', 'after 100 evaluations the part that was found is the answer');
select matches(blamed(jsonb_build_array('neg', jsonb_build_array('text', repeat('y', 1000)))) ->> 'message', '^line 7: -"y{198} …: operand 1 of ', 'a long expression is cut');
select matches(wf._blame('{"kind": "input", "message": "it is null"}', '["text", ["get", ["var", "w"], "x"]]',
                         jsonb_build_object('w', (select jsonb_object_agg('f' || k, k) from generate_series(10, 30) k)), 7, null) ->> 'message',
               'its fields are f10, f11, .*, f19 …\)$', 'of many fields the first ten are listed');

-- parts and fields
select is(blamed('{"url": ["text", ["get", ["var", "o"], "host"]], "n": 1}', 'argument'), jsonb_build_object(
    'kind', 'input', 'message', 'line 7, argument url: "${o.host}": null cannot be part of a text (o has no field "host"; its fields are id, in, total)',
    'detail', '{"line": 7, "place": "argument url", "expression": "\"${o.host}\"", "hint": "Say what stands for it, as in ${x ?? \"none\"}."}'::jsonb),
    'the detail has what the message is made of');
select is(blamed('["object", {"n": 1}, ["a", "b"], ["var", "n"], {"c": ["div", 1, 0]}]', 'policy') ->> 'message', 'line 7, policy b: 1 / 0: division by zero',
          'the field is that of the whole, not one inside it');
select is(blamed('["div", 1, 0]', 'max') ->> 'message', 'line 7, max: 1 / 0: division by zero', 'a part without fields');
select is(blamed('["div", 1, 0]', 'argument') ->> 'message', 'line 7: 1 / 0: division by zero', 'an argument that is not known has no name');
select is(wf._blame('{"kind": "input", "message": "no"}', '["div", 1, 0]', '{}', null, null) ->> 'message', '1 / 0: no', 'without a line');
select is(wf._blame('{"kind": "input", "message": "it was null"}', '["var", "x"]', '{}', 3, null) ->> 'message', 'line 3: x: it was null',
          'an expression that fails no more is named as a whole');
select is(wf._blame('{"kind": "limit", "message": "too much", "detail": "less"}', '["div", 1, 0]', '{}', 3, 'max'),
          '{"kind": "limit", "message": "line 3: too much", "detail": {"line": 3, "hint": "less"}}', 'an expression that takes too much is not evaluated again');
select is(wf._blame(null, '1', '{}', 3, null), null, 'no error, no blame');

-- as processes have it, and as it is looked at
select play_install('shop', jsonb_build_array(play_par(
    play_task('t.Do', 'a', '{"x": ["text", ["get", ["var", "order"], "host"], "/x"]}') || '{"line": 12}',
    play_task('t.Do', 'p', '{}', '{"group": {"name": ["text", "g", ["get", ["var", "order"], "pool"]]}}') || '{"line": 13, "reads": {"order": 0}}',
    '{"kind": "let", "line": 14, "as": "l", "value": ["div", 1, ["get", ["var", "order"], "zero"]], "reads": {"order": 0}}',
    '{"kind": "forall", "line": 15, "name": "x", "in": ["const", [1]], "max": ["div", 1, ["get", ["var", "order"], "zero"]], "reads": {"order": 0},
      "body": {"kind": "let", "line": 16, "as": "y", "value": 1}}',
    '{"kind": "if", "line": 17, "condition": ["get", ["var", "order"], "zero"], "reads": {"order": 0}, "then": {"kind": "seq", "line": 18, "steps": []}}')),
    '[{"name": "order", "type": "json"}]');
select wf.start('shop', '{"order": {"id": 1, "zero": 0}}') as i \gset
select results_eq(format($$select coalesce(bind, kind), error ->> 'message', error -> 'detail' -> 'line' from wf.process where instance_id = %s and state = 'FAILED' order by id$$, :i),
    $$values ('a', 'line 12, argument x: "${order.host}/x": null cannot be part of a text (order has no field "host"; its fields are id, zero)', '12'::jsonb),
             ('p', 'line 13, policy group: "g${order.pool}": null cannot be part of a text (order has no field "pool"; its fields are id, zero)', '13'),
             ('l', 'line 14: 1 / order.zero: division by zero', '14'),
             ('forall', 'line 15, max: 1 / order.zero: division by zero', '15'),
             ('if', 'if needs a boolean, not number', null)$$,
    'arguments, policies, values and parts of nodes: the error names each');
select results_eq(format($$select e.detail from wf.explain(%s, %s) e$$, :i, play_id(:i, 'l')),
    $$values ('input: line 14: 1 / order.zero: division by zero; waits for retry, ignore, resolve or raise')$$, 'explain has it, and the line once');
select results_eq(format($$select e.detail from wf.explain(%s, %s) e$$, :i, play_id(:i, 'if')),
    $$values ('input: if needs a boolean, not number (line 17); waits for retry, ignore, resolve or raise')$$, 'a value that does not do has its line as before');
select is((select note from wf.tree(:i) where process_id = play_id(:i, 'l')), 'input: line 14: 1 / order.zero: division by zero', 'tree has it');
select matches((select detail from wf.stuck() where instance_id = :i), '^input: line 12, argument x: ', 'stuck has it');

-- what task types say: the arguments of a request, and what they make of a response
insert into play_type (name, spec)
select s ->> 'name', s
  from unnest(array[
    '{"name": "t.Text", "machine": "sync", "params": [{"name": "x", "type": {"optional": "json"}}],
      "requests": {"start": {"transport": "builtin", "args": {"op": "log", "message": ["text", ["var", "x"], "!"]},
                             "output": ["add", ["get", ["var", "response"], "no"], 1]}}}',
    '{"name": "t.Handle", "machine": "async", "params": [],
      "requests": {"start": {"transport": "builtin", "args": {"op": "noop"}, "handle": {"id": ["div", 1, ["get", ["var", "response"], "n"]]}},
                   "poll": {"transport": "builtin", "args": {"op": "noop"}, "every": {"delay": "PT5S"}, "success": true}}}',
    '{"name": "t.Sure", "machine": "sync", "params": [],
      "requests": {"start": {"transport": "builtin", "args": {"op": "noop"}, "success": ["gt", ["get", ["var", "response"], "s"], 1]}}}',
    '{"name": "t.Failing", "machine": "sync", "params": [],
      "requests": {"start": {"transport": "builtin", "args": {"op": "noop"}, "failure": ["eq", ["get", ["var", "response"], "bad"], true],
                             "failure_as": {"message": ["text", ["get", ["var", "response"], "why"]]}}}}'
  ]::jsonb[]) s;
select play_driver() as driver \gset
select play_install('said', jsonb_build_array(play_par(
    play_task('t.Text', 'a', '{"x": ["var", "n"]}'), play_task('t.Text', 'b', '{"x": "hello"}'), play_task('t.Handle', 'c'), play_task('t.Sure', 'd'),
    play_task('t.Failing', 'e'))), '[{"name": "n", "type": {"optional": "json"}}]');
select wf.start('said', '{"n": null}') as i \gset
select play_take(:driver);
select is((select args from play_request where process_id = play_id(:i, 'a')),
    '{"op": "fail", "kind": "input", "message": "request message: \"${x}!\": null cannot be part of a text (x is null)",
      "detail": {"place": "request message", "expression": "\"${x}!\"", "hint": "Say what stands for it, as in ${x ?? \"none\"}."}}',
    'a request whose arguments have no value fails, and says which argument');
select play_report(play_id(:i, 'b'), 'response', '{"yes": 1}');
select play_report(play_id(:i, 'c'), 'response', '{"n": 0}');
select play_report(play_id(:i, 'd'), 'response', '{"n": 1, "s": "a"}');
select play_report(play_id(:i, 'e'), 'response', '{"bad": true}');
select results_eq(format($$select bind, error ->> 'kind', error ->> 'message' from wf.process where instance_id = %s and state = 'FAILED' order by bind$$, :i),
    $$values ('b', 'output', 'output: response.no + 1: operand 1 of + must be a number, not null (response has no field "no"; its fields are yes)'),
             ('c', 'output', 'handle: 1 / response.n: division by zero'),
             ('d', 'output', 'success when: response.s > 1: operand 1 of > must be a number, not the string "a"'),
             ('e', 'input', 'failure as: "${response.why}": null cannot be part of a text (response has no field "why"; its fields are bad)')$$,
    'a clause without a value is named');

-- loops, what a forall collects, and conditions of handlers
create function failed(p_steps jsonb) returns text
language plpgsql as $$
declare
    v_instance bigint;
begin
    perform play_install('failing', p_steps, '[{"name": "n", "type": "int"}]');
    v_instance := wf.start('failing', '{"n": 0}');
    return (select p.error ->> 'message' from wf.process p where p.instance_id = v_instance and p.state = 'FAILED');
end;
$$;
create function a_while(p_condition jsonb, p_yield jsonb, p_max jsonb) returns jsonb
language sql as $$
    select jsonb_build_array(jsonb_build_object('kind', 'while', 'line', 4, 'name', 's', 'start', 1, 'while', p_condition, 'max', p_max, 'reads', '{"n": 0}'::jsonb,
        'round_reads', '{"s": 1, "n": 0}'::jsonb, 'body', '{"kind": "seq", "line": 5, "steps": []}'::jsonb, 'yield', jsonb_build_object('as', 'r', 'value', p_yield)));
$$;
select is(failed(a_while('["lt", ["div", 1, ["var", "n"]], 3]', '1', '9')), 'line 4, condition: 1 / n: division by zero', 'the condition of a while is named');
select is(failed(a_while('["lt", ["var", "s"], 3]', '["div", ["var", "s"], ["var", "n"]]', '9')), 'line 4, yield: s / n: division by zero', 'the yield of a while is named');
select is(failed(a_while('true', '1', '["div", 9, ["var", "n"]]')), 'line 4, max: 9 / n: division by zero', 'the max of a loop is named');
select is(failed(jsonb_build_array(play_forall('x', '[1, 2]', '{"kind": "let", "line": 8, "as": "y", "value": 0}')
              || '{"line": 7, "collect": [{"as": "ys", "value": ["var", "y"]}, {"as": "zs", "value": ["div", 1, ["var", "y"]]}], "collect_reads": {"y": 1}}')),
          'line 7, collect: 1 / y: division by zero', 'the value that a forall collects is named');
select failed(jsonb_build_array(jsonb_build_object('kind', 'try', 'line', 2, 'body', '{"kind": "let", "line": 3, "as": "y", "value": ["div", 1, ["var", "n"]], "reads": {"n": 0}}'::jsonb,
    'catches', '[{"kind": "catch", "line": 4, "name": "e", "when": ["gt", ["get", ["var", "e"], "kind"], 1], "reads": {"e": 0}, "body": {"kind": "seq", "line": 5, "steps": []}}]'::jsonb)));
select is((select detail ->> 'message' from wf.event where event = 'undecided' order by seq desc limit 1),
          'line 4, when: e.kind > 1: operand 1 of > must be a number, not the string "input"', 'the when of a catch is named');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

select * from finish();
rollback;
