-- compose.sql - how a tree unfolds: what begins when, what it reads, and what
-- its names are bound to in the end.
begin;
\ir helper/play.sql
select no_plan();
select play_driver() as driver \gset

-- nodes in few words
create function node(p_kind text, p_more jsonb) returns jsonb
language sql as $$ select jsonb_build_object('kind', p_kind, 'line', 1) || p_more; $$;
create function a_let(p_as text, p_value jsonb, p_reads jsonb default '{}') returns jsonb
language sql as $$ select node('let', jsonb_build_object('as', p_as, 'value', p_value, 'reads', p_reads)); $$;
create function a_return(p_value jsonb, p_reads jsonb default '{}') returns jsonb
language sql as $$ select node('return', jsonb_build_object('value', p_value, 'reads', p_reads)); $$;
create function an_if(p_condition jsonb, p_reads jsonb, p_then jsonb, p_else jsonb default null) returns jsonb
language sql as $$
    select node('if', jsonb_build_object('condition', p_condition, 'reads', p_reads, 'then', p_then)) || case when p_else is null then '{}' else jsonb_build_object('else', p_else) end;
$$;
create function a_call(p_as text, p_args jsonb, p_reads jsonb, variadic p_steps jsonb[]) returns jsonb
language sql as $$ select node('call', jsonb_build_object('workflow', 'f', 'as', p_as, 'args', p_args, 'reads', p_reads, 'steps', to_jsonb(p_steps))); $$;

-- The laws: workflows whose instances return, or end, as expected. They are
-- installed, started and played together.
create table law (id int generated always as identity, description text, expected text, steps jsonb, params jsonb default '[]', instance_id bigint);
create function law(p_description text, p_expected text, variadic p_steps jsonb[]) returns void
language sql as $$ insert into law (description, expected, steps) values (p_description, p_expected, to_jsonb(p_steps)); $$;

-- laws of a forall that collects c: its list, its max, its body, and what it collects
create function law_of_forall(p_description text, p_expected text, p_in jsonb, p_max jsonb default null, p_body jsonb default null,
                              p_value jsonb default '["var", "a"]', p_reads jsonb default '{"a": 1}') returns void
language sql as $$
    insert into law (description, expected, params, steps)
    values (p_description, p_expected,
        '[{"name": "l", "type": {"optional": "json"}, "default": ["list", 5, 6, 7]}, {"name": "m", "type": "int", "default": 2}]',
        jsonb_build_array(
            node('forall', jsonb_strip_nulls(jsonb_build_object('max', p_max)) || jsonb_build_object('name', 'x', 'index', 'k', 'in', p_in, 'reads', '{"l": 0, "m": 0}'::jsonb,
                'body', coalesce(p_body, play_task('t.Do', 'a', '{"x": ["mul", ["var", "x"], 2]}') || '{"reads": {"x": 1}}'),
                'collect', jsonb_build_array(jsonb_build_object('as', 'c', 'value', p_value)), 'collect_reads', p_reads)),
            a_return('["var", "c"]', '{"c": 0}')));
$$;

-- seq
select law('no steps at all', 'END success', variadic '{}');
select law('one step after another', '42', play_task('t.Do', 'a', '{"x": 40}'), play_task('t.Do', 'b', '{"x": ["add", ["var", "a"], 2]}'), a_return('["var", "b"]', '{"b": 0}'));
select law('an empty block', '1', node('seq', '{"steps": []}'), a_return('1'));
select law('a block sees the names around it, and they see its names', '[1, 2]',
    a_let('a', '1'), play_seq(a_let('b', '["add", ["var", "a"], 1]', '{"a": 0}'), play_task('t.Do', 'c')), a_return('["list", ["var", "a"], ["var", "b"]]', '{"a": 0, "b": 0}'));

-- if
select law('if: then', '"small"', a_let('n', '1'), an_if('["lt", ["var", "n"], 5]', '{"n": 0}', play_seq(play_task('t.Do', 'a', '{"x": "small"}'), play_task('t.Do', 'b')), play_task('t.Do', 'a', '{"x": "large"}')), a_return('["var", "a"]', '{"a": 0}'));
select law('if: else', '"large"', a_let('n', '9'), an_if('["lt", ["var", "n"], 5]', '{"n": 0}', play_seq(play_task('t.Do', 'a', '{"x": "small"}'), play_task('t.Do', 'b')), play_task('t.Do', 'a', '{"x": "large"}')), a_return('["var", "a"]', '{"a": 0}'));
select law('if without else: nothing happens', 'null', an_if('false', '{}', play_task('t.Do', 'a', '{"x": 3}')), a_return('["var", "a"]', '{"a": 0}'));
select law('if with a constant condition', '3', an_if('true', '{}', play_task('t.Do', 'a', '{"x": 3}')), a_return('["var", "a"]', '{"a": 0}'));
select law('null is no condition', 'RUNNING input', an_if('["var", "a"]', '{"a": 0}', play_task('t.Do', 'b')), play_task('t.Do', 'a'));

-- let and return
select law('let binds at once', '42', a_let('a', '2'), a_let('b', '["mul", ["var", "a"], 21]', '{"a": 0}'), a_return('["var", "b"]', '{"b": 0}'));
select law('let binds null too', '[null]', a_let('a', 'null'), a_return('["list", ["var", "a"]]', '{"a": 0}'));
select law('an instance can be asked about itself', '["law12", 1, null, true]', a_return('["list", ["instance", "workflow"], ["instance", "version"], ["instance", "key"], ["gt", ["instance", "id"], 0]]'));
select law('without return there is no output', 'END success', play_task('t.Do', 'a'));
select law('return alone gives null', 'null', node('return', '{}'), play_task('t.Do', 'never'));
select law('return ends everything up to its call', '1',
    an_if('true', '{}', play_seq(a_let('a', '1'), play_seq(a_return('["var", "a"]', '{"a": 0}'), play_task('t.Do', 'never')))), play_task('t.Do', 'never2'), a_return('2'));

-- call
select law('a call sees its arguments and nothing else', '[1, [20, 2, 25]]',
    a_let('x', '1'),
    a_call('r', '{"y": ["add", ["var", "x"], 1]}', '{"x": 0}',
        a_let('x', '["mul", ["var", "y"], 10]', '{"y": 0}'),
        a_call('r', '{"y": ["var", "x"]}', '{"x": 0}', a_return('["add", ["var", "y"], 5]', '{"y": 0}')),
        a_return('["list", ["var", "x"], ["var", "y"], ["var", "r"]]', '{"x": 0, "y": 0, "r": 0}')),
    a_return('["list", ["var", "x"], ["var", "r"]]', '{"x": 0, "r": 0}'));
select law('a call without return gives null', 'null', a_call('r', '{}', '{}', play_task('t.Do', 'a')), a_return('["var", "r"]', '{"r": 0}'));
select law('an empty call', 'null', a_call('r', '{"y": 4}', '{}', variadic '{}'), a_return('["var", "r"]', '{"r": 0}'));
select law('a return ends its call only', '[4]', a_call('r', '{"y": 4}', '{}', an_if('true', '{}', a_return('["var", "y"]', '{"y": 0}')), play_task('t.Do', 'never')), a_return('["list", ["var", "r"]]', '{"r": 0}'));

-- forall
select law_of_forall('over a constant list, collected in order', '[2, 4, 6]', '["const", [1, 2, 3]]');
select law_of_forall('over a list that is read', '[10, 12, 14]', '["var", "l"]');
select law_of_forall('over a range', '[2, 4, 6, 8]', '["range", 1, 4]');
select law_of_forall('over a range that is read', '[4, 6, 8]', '["range", ["var", "m"], 4]');
select law_of_forall('over a range of ints in another guise', '[-4, -2, 0, 2]', '["range", ["neg", 2], 1.0]');
select law_of_forall('over an empty range', '[]', '["range", 5, 1]');
select law_of_forall('over an empty list', '[]', '["list"]');
select law_of_forall('over large numbers', '[8000000000, 8000000002]', '["range", 4000000000, 4000000001]');
select law_of_forall('one element at a time', '[10, 12, 14]', '["var", "l"]', '1');
select law_of_forall('as many at a time as it reads', '[10, 12, 14]', '["var", "l"]', '["var", "m"]');
select law_of_forall('element and index', '[[0, "a"], [1, "b"]]', '["const", ["a", "b"]]', null, a_let('a', '["list", ["var", "k"], ["var", "x"]]', '{"k": 1, "x": 1}'));
select law_of_forall('a list is no range, whatever its first element', '["range", 9]', '["const", ["range", 9]]', null, a_let('a', '["var", "x"]', '{"x": 1}'));
select law_of_forall('elements of any type', '[[1, 2], null, {"b": 1}]', '["const", [[1, 2], null, {"b": 1}]]', null, a_let('a', '["var", "x"]', '{"x": 1}'));
select law_of_forall('what is not bound collects as null', '["one", null]', '["const", [1, 2]]', null, an_if('["eq", ["var", "x"], 1]', '{"x": 1}', a_let('a', '"one"')));
select law_of_forall('bodies in which nothing happens', '[7, 7]', '["const", [1, 2]]', null, node('seq', '{"steps": []}'), '7', '{}');
select law_of_forall('a call in a forall', '[101, 102]', '["const", [1, 2]]', null, play_seq(a_call('a', '{"y": ["var", "x"]}', '{"x": 1}', a_return('["add", ["var", "y"], 100]', '{"y": 0}'))));
select law_of_forall('a forall in a forall: each body has its own names', '[[[13, 14], [1, 2]], [[23, 24, 25], [1, 2, 3]]]', '["const", [1, 2]]', null,
    node('forall', jsonb_build_object('name', 'y', 'in', '["range", 1, ["add", ["var", "x"], 1]]'::jsonb, 'reads', '{"x": 1}'::jsonb,
        'body', play_seq(play_task('t.Do', 'b') || '{"args": {"x": ["add", ["mul", ["var", "x"], 10], ["var", "y"]]}, "reads": {"x": 1, "y": 2}}',
                         play_task('t.Do', 'd') || '{"args": {"x": ["add", ["var", "b"], ["var", "m"]]}, "reads": {"b": 2, "m": 0}}'),
        'collect', '[{"as": "a", "value": ["var", "d"]}, {"as": "n", "value": ["var", "y"]}]'::jsonb, 'collect_reads', '{"d": 2, "y": 2}'::jsonb)),
    '["list", ["var", "a"], ["var", "n"]]', '{"a": 1, "n": 1}');
select law_of_forall('a hundred elements in which nothing happens, one at a time', (select jsonb_agg(1)::text from generate_series(1, 100)), '["range", 1, 100]', '1',
    an_if('["lt", ["var", "x"], 0]', '{"x": 1}', a_let('a', '"one"')), '1', '{}');
select law('many lets in a row', '160', variadic (select array_agg(a_let('n' || k, to_jsonb(k)) order by k) from generate_series(1, 160) k) || a_return('["var", "n160"]', '{"n160": 0}'));

create function nested(p_levels int, p_inner jsonb, p_after boolean) returns jsonb
language plpgsql as $$
begin
    for k in 1 .. p_levels loop
        p_inner := case when k % 3 = 0 then play_par(p_inner, a_let('p' || k, '0')) when p_after then play_seq(p_inner, a_let('s' || k, to_jsonb(k))) else play_seq(p_inner) end;
    end loop;
    return p_inner;
end;
$$;
select law('a deep tree, in which nothing follows but at the top', '[5, 6]', nested(45, play_task('t.Do', 'a', '{"x": 5}'), false), a_let('b', '6'), a_return('["list", ["var", "a"], ["var", "b"]]', '{"a": 0, "b": 0}'));
select law('a deep tree, in which something follows at each level', '[5, 40, 6]', nested(45, play_task('t.Do', 'a', '{"x": 5}'), true), a_let('b', '6'), a_return('["list", ["var", "a"], ["var", "s40"], ["var", "b"]]', '{"a": 0, "b": 0, "s40": 0}'));
select law('a deep tree, in which nothing waits', '[5, 40, 6]', nested(45, a_let('a', '5'), true), a_let('b', '6'), a_return('["list", ["var", "a"], ["var", "s40"], ["var", "b"]]', '{"a": 0, "b": 0, "s40": 0}'));

-- a value that is not a list, a range or a max fails with kind input
select law_of_forall('no list: ' || bad::text, 'RUNNING input', bad)
  from unnest(array['["var", "m"]', '["const", {"a": 1}]', '["const", null]', '["const", "abc"]', '["range", 1, "x"]', '["range", 1.5, 3]', '["range", 1, 100000000000]']::jsonb[]) bad;
select law_of_forall('no max: ' || bad::text, 'RUNNING input', '["const", [1]]', bad)
  from unnest(array['["neg", ["var", "m"]]', '["sub", ["var", "m"], 2]', '["div", 5, ["var", "m"]]', '["div", 5, ["sub", ["var", "m"], 2]]', '["text", "x", ["var", "m"]]', '["var", "l"]']::jsonb[]) bad;
select law_of_forall('what is collected cannot be evaluated', 'RUNNING input', '["const", [1, 0]]', null, null, '["div", 1, ["var", "x"]]', '{"x": 1}');

select wf.install('', jsonb_build_object('format', 1, 'file', 'laws.wf', 'task_types', (select jsonb_object_agg(t.name, t.spec) from play_type t where t.name = 't.Do'),
    'workflows', (select jsonb_agg(jsonb_build_object('name', 'law' || l.id, 'line', 1, 'params', l.params, 'steps', l.steps)) from law l)));
update law l set instance_id = wf.start('law' || l.id);
select play_on(:driver);
select is(coalesce(i.output::text, concat_ws(' ', i.state, i.result, (select string_agg(p.error ->> 'kind', ' ') from wf.process p where p.instance_id = i.id and p.state = 'FAILED'))),
          l.expected, l.description)
  from law l
  join wf.instance i on i.id = l.instance_id
 order by l.id;
select is((select count(*) from wf.process p where p.bind like 'never%'), 0::bigint, 'nothing after a return begins');
select is_empty('select * from wf.fsck()', 'all is well after all of them');

-- step by step
select play_install('line', jsonb_build_array(
    play_par(play_task('t.Do', 'a'), play_seq(play_task('t.Do', 'b'), play_task('t.Do', 'c')), a_let('l', '5')),
    play_task('t.Do', 'd', '{"x": ["var", "l"]}')));
select wf.start('line') as i \gset
select is(play_take(:driver), 2::bigint, 'branches begin at once, steps do not');
select is(play_take(:driver), 0::bigint, 'nothing else is handed out');
select play_report(play_id(:i, 'a'));
select results_eq(format('select open, state from wf.process where id = %s', play_id(:i, 'par')), $$values (1, 'ACTIVE')$$, 'one branch has not ended');
select play_report(play_id(:i, 'b'));
select play_take(:driver);
select is(play_state(:i, 'd'), null, 'the step after the branches has not begun');
select play_report(play_id(:i, 'c'));
select is((select input from wf.process where id = play_id(:i, 'd')), '{"x": 5}', 'the step after the branches begins with the names that they have bound');

-- branches that end in one batch
select wf.start('line') as i \gset
select play_take(:driver);
select play_report(play_id(:i, 'b'));
select play_take(:driver);
select set_eq(format($$select answer from (select array_agg(instance_id) i, array_agg(process_id) p, array_agg(token) t from play_request where process_id in (%s, %s)) r,
                      wf.outcome(%s, i, p, t, '{response,response}', '{"",""}')$$, play_id(:i, 'a'), play_id(:i, 'c'), :driver), array['done'], 'both end in one batch');
select is((select count(*) from wf.process where instance_id = :i and bind = 'd'), 1::bigint, 'the next step begins once');

-- max is a bound on what is open at once
select play_install('window', jsonb_build_array(play_forall('x', '[1, 2, 3, 4, 5]', play_task('t.Do', 'a')) || '{"max": 2}'));
select wf.start('window') as i \gset
select wf.abort('{"workflow": "line"}');
select is(play_take(:driver), 2::bigint, 'two elements are begun');
select is(play_take(:driver), 0::bigint, 'no more');
select play_report(play_id(:i, 'a', 1));
select is(play_take(:driver), 1::bigint, 'one for each that ends');
select results_eq(format('select index, state from wf.process where instance_id = %s and bind = ''a'' order by index', :i),
    $$values (0, 'START_REQUESTED'), (1, 'END'), (2, 'START_REQUESTED')$$, 'in their order');
select play_fail(play_id(:i, 'a', 0));
select is(play_take(:driver), 0::bigint, 'a failed element keeps its place');
select wf.ignore('{"global": true}');
select is(play_take(:driver), 1::bigint, 'until an operator has seen to it');
select play_report(play_id(:i, 'a', k)) from generate_series(2, 3) k;
select play_on(:driver);
select results_eq(format('select count(*), bool_and(state = ''END'') from wf.process where instance_id = %s and bind = ''a''', :i), $$values (5::bigint, true)$$, 'all come to their turn');

-- long lists lie in chunks, and open in a window
select play_install('long', jsonb_build_array(
    node('forall', jsonb_build_object('name', 'x', 'in', '["var", "l"]'::jsonb, 'reads', '{"l": 0}'::jsonb, 'body', play_task('t.Do', 'a', '{"x": ["var", "x"]}') || '{"reads": {"x": 1}}',
        'collect', '[{"as": "c", "value": ["var", "a"]}]'::jsonb, 'collect_reads', '{"a": 1}'::jsonb)),
    a_return('["eq", ["var", "c"], ["var", "l"]]', '{"c": 0, "l": 0}')), '[{"name": "l", "type": "list"}]');
update wf.setting set value = '500' where name = 'window';
select wf.start('long', jsonb_build_object('l', (select jsonb_agg(k * 3) from generate_series(1, 1100) k))) as i \gset
select results_eq(format('select chunk, jsonb_array_length(items) from wf.forall_item where instance_id = %s order by 1', :i), 'values (0, 1000), (1, 100)', 'the elements lie in chunks');
select is((select count(*) from wf.process where instance_id = :i and bind = 'a'), 500::bigint, 'as many begin as the window is wide');
select is(play_on(:driver), 1100::bigint, 'all of them are answered');
select is((select output from wf.instance where id = :i), 'true', 'each has had its element, and all are collected in order');
select is((select count(*) from wf.forall_item where instance_id = :i) + (select count(*) from wf.forall_result where instance_id = :i), 0::bigint, 'nothing is left of them');
update wf.setting set value = '1000' where name = 'window';

-- arguments are evaluated once, when the task is enabled, and kept
select play_install('once', jsonb_build_array(play_task('t.Do', 'a', '{"x": ["call", "now"]}')));
select set_config('wf.now', '2026-03-01 12:00:00+00', true);
select wf.start('once') as i \gset
select set_config('wf.now', '2026-03-01 13:00:00+00', true);
select play_take(:driver);
select matches((select input ->> 'x' from wf.process where id = play_id(:i, 'a')), '^2026-03-01T12:00:00', 'arguments are those of the time at which a task was enabled');
select play_fail(play_id(:i, 'a'));
select wf.retry('{"global": true}');
select matches((select input ->> 'x' from wf.process where id = play_id(:i, 'a')), '^2026-03-01T12:00:00', 'a retry keeps the arguments of the first attempt');
select play_on(:driver);
select set_config('wf.now', '', true);

-- what cannot be evaluated is a failure of the node that needs it
select play_install('bad', jsonb_build_array(play_par(
    play_task('t.Do', 'leaf', '{"x": ["div", 1, ["var", "n"]]}'),
    a_let('l', '["div", 1, ["var", "n"]]', '{"n": 0}'),
    a_call('c', '{"p": ["div", 1, ["var", "n"]]}', '{"n": 0}', play_task('t.Do', 'd')),
    an_if('["var", "n"]', '{"n": 0}', play_task('t.Do', 'e')),
    node('forall', '{"name": "x", "in": ["var", "n"], "reads": {"n": 0}, "body": {"kind": "let", "line": 1, "as": "y", "value": 1}}'),
    play_task('t.Do', 'fine'))), '[{"name": "n", "type": "int"}]');
select wf.start('bad', '{"n": 0}') as i \gset
select results_eq(format($$select coalesce(bind, kind), state, error ->> 'kind' from wf.process where instance_id = %s and parent_id = %s order by id$$, :i, play_id(:i, 'par')),
    $$values ('leaf', 'FAILED', 'input'), ('l', 'FAILED', 'input'), ('c', 'FAILED', 'input'), ('if', 'FAILED', 'input'), ('forall', 'FAILED', 'input'), ('fine', 'INIT', null)$$,
    'each fails by itself; what stands beside it goes on');
select is((select error ->> 'message' from wf.process where id = play_id(:i, 'if')), 'if needs a boolean, not number', 'the message says what is wrong');
select is(play_take(:driver), 1::bigint, 'a failed node is not handed out');
select is((select string_agg(distinct detail, ' ') from wf.retry('{"global": true, "failed": true}')), 'FAILED -> FAILED', 'a retry evaluates again');
select is((select count(*) from wf.failed where instance_id = :i), 5::bigint, 'to no avail');
select is((select count(*) from wf.process where instance_id = :i and attempt = 2), 5::bigint, 'each retried node is in its second attempt');
select wf.resolve(jsonb_build_object('process', play_id(:i, 'l')), '{"n": 1}');
select wf.resolve(jsonb_build_object('process', play_id(:i, 'leaf')), '2');
select wf.ignore('{"global": true, "failed": true}');
select play_report(play_id(:i, 'fine'));
select results_eq(format('select state, result from wf.instance where id = %s', :i), $$values ('END', 'warning')$$, 'resolved or ignored, they let the instance go on');
select results_eq(format('select name, value from wf.binding where instance_id = %s and name in (''l'', ''leaf'', ''c'') order by 1', :i), $$values ('l', '{"n": 1}'::jsonb), ('leaf', '2')$$, 'names are bound to what was given');

-- what is collected cannot be evaluated: a retry begins anew
select l.instance_id as i from law l where l.description = 'what is collected cannot be evaluated' \gset
select is(play_state(:i, 'forall'), 'FAILED', 'the forall has failed');
select wf.retry(jsonb_build_object('instance', :i));
select is(play_on(:driver), 2::bigint, 'a retry of the forall runs its bodies once more');
select is(play_state(:i, 'forall'), 'FAILED', 'the forall fails once more');
select wf.ignore(jsonb_build_object('instance', :i));
select is((select output from wf.instance where id = :i), 'null', 'ignored, it binds nothing');

-- values have a limit
update wf.setting set value = '1000' where name = 'value_bytes';
select play_install('wide', jsonb_build_array(play_task('t.Do', 'a', '{"x": ["call", "lpad", ["var", "s"], 2000]}')), '[{"name": "s", "type": "string"}]');
select wf.start('wide', '{"s": "x"}') as i \gset
select matches((select (error ->> 'kind') || ': ' || (error ->> 'message') from wf.process where id = play_id(:i, 'a')), '^output: the value has 20\d\d bytes, more than the 1000 allowed$',
    'a value that is too large is refused with its size');
update wf.setting set value = '1048576' where name = 'value_bytes';
-- a list without an end in which nothing waits
select play_install('endless', jsonb_build_array(
    play_forall('x', '["range", 1, 1000000000]', '{"kind": "let", "line": 1, "as": "y", "value": 1}') || '{"in": ["range", 1, 1000000000]}'));
update wf.setting set value = '1000000000000' where name = 'instance_processes';
select wf.start('endless') as endless \gset
select cmp_ok((select count(*) from wf.process where instance_id = :endless), '<=', 1100::bigint, 'a start returns when about 1,000 elements have begun');
select is((select count(*) from wf.work where instance_id = :endless and kind = 'begin'), 1::bigint, 'the rest is work');
select is_empty('select * from wf.fsck()', 'fsck finds nothing while work is left');
select is((select count(*) from wf.explain(:endless) where reason = 'stuck'), 0::bigint, 'nothing is stuck');
select count(*) as had from wf.process where instance_id = :endless \gset
select isnt(wf.work(), null, 'a piece of work leaves more of it');
select cmp_ok((select count(*) from wf.process where instance_id = :endless), '<=', :had + 1100::bigint, 'one piece of work begins no more than about 1,000 elements');
select cmp_ok((select count(*) from wf.process where instance_id = :endless), '>', :had::bigint, 'one piece of work begins some elements');
select results_eq(format('select answer from wf.abort(%L)', jsonb_build_object('instance', :endless)), $$values ('done')$$, 'an endless forall can be aborted');
select is(wf.work(), null, 'no work is left after the abort');
select is((select state from wf.instance where id = :endless), 'ABORTED', 'the endless forall is ABORTED');

select is_empty('select * from wf.fsck()', 'all is well in the end');

select * from finish();
rollback;
