-- cascade.sql - what depends on something skipped: it runs and reads null, or is skipped, too.
begin;
\ir helper/play.sql
select no_plan();
select play_driver() as driver \gset
insert into play_type (name, spec) values
    ('t.Fail', '{"name": "t.Fail", "machine": "wait", "wait": "fail", "params": [{"name": "msg", "type": "string"}, {"name": "kind", "type": "string", "default": "failed"}, {"name": "detail", "type": {"optional": "json"}, "default": null}]}'),
    ('t.Held', '{"name": "t.Held", "machine": "async", "params": [{"name": "x", "type": {"optional": "json"}, "default": null}],
      "requests": {"start": {"transport": "builtin", "args": {"op": "noop"}, "handle": {"id": ["get", ["var", "response"], "id"]}},
                   "poll": {"transport": "builtin", "args": {"op": "noop"}, "every": {"delay": "PT5S"}, "success": ["eq", ["get", ["var", "response"], "state"], "done"],
                            "failure": ["eq", ["get", ["var", "response"], "state"], "bad"]},
                   "cleanup": {"transport": "builtin", "args": {"op": "noop"}}}}');

-- a task t.Do that binds a name and reads others
create function reads(p_as text, variadic p_names text[] default '{}') returns jsonb
language sql as $$
    select play_task('t.Do', p_as, jsonb_build_object('x', coalesce((select jsonb_build_array('list') || jsonb_agg(jsonb_build_array('var', n)) from unnest(p_names) n), '1')));
$$;
create function skips(p_as text, p_on_failure text default 'skip_all') returns jsonb
language sql as $$ select play_task('t.Do', p_as, '{}', jsonb_build_object('on_failure', p_on_failure)); $$;
create function gives(p_names text[]) returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'return', 'line', 9, 'value', jsonb_build_array('list') || (select jsonb_agg(jsonb_build_array('var', n)) from unnest(p_names) n),
                              'reads', (select jsonb_object_agg(n, 0) from unnest(p_names) n));
$$;
-- how the tasks of an instance have ended, by their names
create function ends(p_instance bigint) returns text
language sql as $$
    select string_agg(concat(p.bind, ':', p.state, case when p.event <> 'success' then ' ' || p.event end), ', ' order by p.bind)
      from wf.process p where p.instance_id = p_instance and p.bind is not null;
$$;
create function the_end(p_instance bigint) returns text
language sql as $$ select concat_ws(' ', i.state, i.result, i.output) from wf.instance i where i.id = p_instance; $$;
-- fails `a`, ignores it or ignores it with what reads it, and goes on to the end
create function goes_on(p_driver bigint, p_workflow text, p_cascade boolean, p_reason text default null) returns bigint
language plpgsql as $$
declare
    v_instance bigint := wf.start(p_workflow);
begin
    perform play_take(p_driver), play_fail(play_id(v_instance, 'a'));
    perform wf.ignore(format('{"process": %s}', play_id(v_instance, 'a'))::jsonb, p_reason, p_cascade);
    perform play_on(p_driver);
    return v_instance;
end;
$$;

-- D24, decision 14: the verb of an operator
select play_install('chain', jsonb_build_array(reads('a'), reads('b', 'a'), reads('c'), reads('d', 'b', 'c'), reads('e', 'c'), gives('{a,b,c,d,e}')));
select goes_on(:driver, 'chain', false) as i \gset
select is(ends(:i), 'a:END ignore, b:END, c:END, d:END, e:END', 'D24, decision 14: what depends on something ignored runs');
select is(the_end(:i), 'END warning [null, [null], 1, [[null], 1], [1]]', 'decision 14: and reads null');
select goes_on(:driver, 'chain', true, 'no such day') as i \gset
select is(ends(:i), 'a:END skip, b:END cascade, c:END, d:END cascade, e:END', 'D24: with cascade what reads it is skipped, transitively; what only comes after it runs');
select is(the_end(:i), 'END warning [null, null, 1, null, [1]]', 'D24: the result is warning, and return reads null');
select is_empty('select * from wf.fsck()', 'the rows agree with each other');
select is((select note from wf.tree(:i) where process_id = play_id(:i, 'b')), format('skipped: it reads a, which has no value: process %s was skipped with everything that reads its names', play_id(:i, 'a')), 'the tree says why a task was skipped');
select is((select detail from wf.explain(:i, play_id(:i, 'd'))), format('END: skipped: it reads b, which has no value: process %s was skipped with everything that reads its names, by %s: no such day', play_id(:i, 'a'), session_user), 'explain says by whom, and why');
select is((select string_agg(concat_ws(' ', event, reason), ', ' order by seq) from wf.event where instance_id = :i and event in ('skip', 'cascade')), 'skip no such day, cascade no such day, cascade', 'the history has each of them');

-- the policy
select play_install('policy', jsonb_build_array(play_par(skips('a'), reads('z')), reads('b', 'a'), reads('c', 'z'), gives('{a,b,c}')));
select wf.start('policy') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a')), play_report(play_id(:i, 'z'), 'response', '{"value": 3}'), play_on(:driver);
select is(ends(:i) || ' ' || the_end(:i), 'a:END skip, b:END cascade, c:END, z:END END warning [null, null, [3]]', 'D25: on_failure(skip, cascade = true) does the same');
select is((select detail from wf.explain(:i, play_id(:i, 'b'))), format('END: skipped: it reads a, which has no value: process %s was skipped with everything that reads its names, by %s: on_failure(skip, cascade = true)', play_id(:i, 'a'), session_user), 'explain names the policy');
select wf.start('policy') as i \gset
select play_on(:driver);
select is(the_end(:i), 'END success [null, [null], [1]]', 'a null that a task has given skips nothing');
select play_install('around', jsonb_build_array(jsonb_build_object('kind', 'try', 'line', 1, 'catches', jsonb_build_array(jsonb_build_object('kind', 'catch', 'line', 2, 'name', 'e', 'body', reads('c', 'b'))),
    'body', play_seq(skips('a'), reads('b', 'a'), reads('f')))));
select wf.start('around') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a')), play_take(:driver), play_fail(play_id(:i, 'f')), play_on(:driver);
select is(ends(:i), 'a:END skip, b:END cascade, c:END cascade, f:RAISED raise', 'on_failure(skip) of a task comes before the catch around it, in which the names are skipped, too');
select is_empty('select * from wf.fsck()', 'the rows agree with each other');

-- let, return, conditions and lists read null
select play_install('values', jsonb_build_array(reads('a'), '{"kind": "let", "line": 2, "as": "l", "value": ["list", ["var", "a"]], "reads": {"a": 0}}'::jsonb,
    '{"kind": "if", "line": 3, "condition": ["eq", ["var", "a"], null], "reads": {"a": 0}, "then": {"kind": "let", "line": 3, "as": "m", "value": "empty"}}'::jsonb, reads('b', 'l'), reads('c', 'm'), gives('{a,l,m,b,c}')));
select goes_on(:driver, 'values', true) as i \gset
select is(the_end(:i), 'END warning [null, [null], "empty", [[null]], ["empty"]]', 'decision 14: let, return, conditions and lists read null, and what reads these runs');
select play_install('elements', jsonb_build_array(reads('a'),
    jsonb_build_object('kind', 'forall', 'line', 2, 'name', 'n', 'in', '["const", [1, 2]]'::jsonb, 'body', play_task('t.Do', 'y', '{"x": ["list", ["var", "a"], ["var", "n"]]}') || '{"reads": {"a": 0, "n": 1}}',
                       'collect', '[{"as": "ys", "value": ["var", "y"]}]'::jsonb, 'collect_reads', '{"y": 1}'::jsonb), reads('b', 'ys'), gives('{ys,b}')));
select goes_on(:driver, 'elements', true) as i \gset
select is(the_end(:i), 'END warning [[null, null], [[null, null]]]', 'in each element the tasks that read it are skipped; the list has null in their place');
select is((select count(*) from wf.process where instance_id = :i and event = 'cascade'), 2::bigint, 'each of them');

-- what is skipped: calls as a whole, each kind of task, atomic, a dag
select play_install('inner', jsonb_build_array(reads('a'), jsonb_build_object('kind', 'call', 'line', 2, 'workflow', 'called', 'as', 'r', 'args', '{"p": ["var", "a"]}'::jsonb, 'reads', '{"a": 0}'::jsonb,
    'steps', jsonb_build_array(reads('x', 'p'), jsonb_build_object('kind', 'return', 'line', 3, 'value', 7))), reads('b', 'r'), gives('{r,b}')));
select goes_on(:driver, 'inner', true) as i \gset
select is(ends(:i) || ' ' || the_end(:i), 'a:END skip, b:END cascade, r:END cascade END warning [null, null]', 'a call of a workflow that reads it is skipped as a whole, and what reads its name');
select play_install('kinds', jsonb_build_array(reads('a'),
    '{"kind": "task", "line": 2, "type": "t.Sleep", "as": "s", "args": {"duration": ["coalesce", ["var", "a"], "PT1H"]}, "reads": {"a": 0}}'::jsonb,
    '{"kind": "task", "line": 2, "type": "t.Held", "as": "h", "args": {"x": ["var", "a"]}, "reads": {"a": 0}}'::jsonb,
    play_task('t.Do', 't', '{}', '{"title": ["text", "of ", ["var", "a"]]}') || '{"reads": {"a": 0}}',
    play_task('t.Do', 'r', '{"x": ["var", "a"]}', '{"retry": {"attempts": 3}, "timeout": {"runtime": "PT1H", "wait": "PT1H"}, "group": {"name": "g", "max": 1}}'), reads('z')));
select goes_on(:driver, 'kinds', true) as i \gset
select is(ends(:i), 'a:END skip, h:END cascade, r:END cascade, s:END cascade, t:END cascade, z:END', 'tasks of each kind, and those of which only a policy reads it; with whatever policies');
select is_empty('select * from wf.fsck()', 'the rows agree with each other');
select is((select count(*) from wf.time_limit where instance_id = :i), 0::bigint, 'the clocks of skipped tasks have stopped');
select play_install('graph', jsonb_build_array(jsonb_build_object('kind', 'dag', 'line', 1, 'after', '[[], [1], [1], [2, 3]]'::jsonb, 'branches', jsonb_build_array(reads('a'), reads('b', 'a'), reads('c'), reads('d', 'b', 'c')))));
select goes_on(:driver, 'graph', true) as i \gset
select is(ends(:i), 'a:END skip, b:END cascade, c:END, d:END cascade', 'D24: in a dag it follows the edges of data, not those of order');
select play_install('held', jsonb_build_array(play_task('t.Held', 'a', '{"x": null}'), reads('b', 'a')));
select wf.start('held') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'ack'), play_report(play_id(:i, 'a'), 'response', '{"id": 1}'), play_later('6 s'), play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"state": "bad"}');
select is((select detail from wf.ignore(format('{"process": %s}', play_id(:i, 'a'))::jsonb, null, true)), 'FAILED -> CLEANUP_REQUESTED', 'ignore releases an asynchronous task first');
select is_empty('select * from wf.fsck()', 'the rows agree with each other meanwhile');
select play_on(:driver);
select is(ends(:i) || ' ' || the_end(:i), 'a:END cleaned, b:END cascade END warning', 'a task that reads the released one is skipped all the same');

select play_install('condition', jsonb_build_array(reads('a'), play_task('t.Do', 'b', '{}', '{"retry": {"attempts": 2, "when": ["eq", ["var", "a"], 1]}}') || '{"reads": {"a": 0}}'));
select goes_on(:driver, 'condition', true) as i \gset
select is(ends(:i), 'a:END skip, b:END cascade', 'a task that reads the name only in the condition of its retry is skipped, too');

-- composites: the names inside that have no value
select play_install('blocks', jsonb_build_array(reads('z'),
    jsonb_build_object('kind', 'if', 'line', 2, 'condition', '["var", "z"]'::jsonb, 'reads', '{"z": 0}'::jsonb, 'then', play_seq(reads('m'), reads('n'))), reads('b', 'n'), reads('c', 'z')));
select wf.start('blocks') as i \gset
select play_on(:driver);
select is((select answer from wf.ignore(format('{"instance": %s}', :i)::jsonb, null, true)), 'done', 'a composite that failed is skipped in the same way');
select play_on(:driver);
select is(ends(:i), 'b:END cascade, c:END, z:END', 'a task that reads names of a skipped composite is skipped');
select play_install('empty', jsonb_build_array(reads('z'),
    jsonb_build_object('kind', 'forall', 'line', 2, 'name', 'n', 'in', '["var", "z"]'::jsonb, 'reads', '{"z": 0}'::jsonb, 'body', reads('y'), 'collect', '[{"as": "ys", "value": ["var", "y"]}]'::jsonb, 'collect_reads', '{"y": 1}'::jsonb), reads('b', 'ys')));
select wf.start('empty') as i \gset
select play_on(:driver), wf.ignore(format('{"instance": %s}', :i)::jsonb, null, true), play_on(:driver);
select is(ends(:i), 'b:END cascade, z:END', 'a list that a forall would have collected, too');
select is_empty('select * from wf.fsck()', 'the rows agree with each other');

-- what is refused
select is((select detail from wf.ignore(format('{"process": %s}', play_id(:i, 'b'))::jsonb, null, true)), 'END: only FAILED can be ignored', 'only what has failed');
select wf.start('chain') as i \gset
select is((select detail from wf.ignore(format('{"process": %s}', play_id(:i, 'a'))::jsonb, null, true)), 'INIT: only FAILED can be ignored', 'not what waits');
select throws_like($$select play_install('bad', jsonb_build_array(skips('a', 'skip_some')))$$, '%pause, skip, skip_all, fail, fail_undo, fail_late or fail_late_undo%', 'install takes no other word');
-- a null that nobody skipped
select play_install('names', jsonb_build_array(reads('a'), reads('b', 'a')));
select wf.start('names') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"value": null}'), play_on(:driver);
select is(ends(:i), 'a:END, b:END', 'a name that is null because its task gave null skips nothing');
select finish();
rollback;
