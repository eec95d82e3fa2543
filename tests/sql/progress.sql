-- progress.sql - how far an instance is: the mean over its tasks, by their weights.
begin;
\ir helper/play.sql
select no_plan();

-- a type that tells its progress, and one whose program writes it
insert into play_type values ('t.Slow', '{"name": "t.Slow", "machine": "async", "params": [{"name": "of", "type": "number", "default": 100}],
    "requests": {
      "start": {"transport": "builtin", "args": {"op": "noop"}, "handle": {"id": 1}},
      "poll": {"transport": "builtin", "args": {"op": "noop"}, "every": {"delay": "PT5S"},
               "success": ["eq", ["get", ["var", "response"], "state"], "done"],
               "progress": ["div", ["get", ["var", "response"], "done"], ["var", "of"]]}}}');
insert into play_type values ('t.Stream', '{"name": "t.Stream", "machine": "sync", "params": [],
    "requests": {"start": {"transport": "exec", "args": {"program": "work"},
      "progress": ["div", ["call", "number", ["at", ["call", "capture", ["call", "last", ["call", "split", ["call", "trim", ["get", ["var", "response"], "stdout"]], "\n"]], "([0-9]+) %"], 0]], 100]}}}');

create function weighs(p_weight numeric, p_as text default null, p_type text default 't.Do') returns jsonb
language sql as $$ select play_task(p_type, p_as, case p_type when 't.Do' then '{}' when 't.Slow' then '{"of": 100}' else '{}' end::jsonb, jsonb_build_object('weight', p_weight)) $$;
-- polled(PROCESS, DONE): its start or poll answers
create function polled(p_instance bigint, p_name text, p_done text) returns text
language plpgsql as $$
declare
    v_driver bigint := (select max(id) from wf.driver);
    v_process bigint := play_id(p_instance, p_name);
begin
    perform play_later('10 s');
    perform wf.tick();
    perform play_take(v_driver);
    return play_report(v_process, 'response', format('{"done": %s, "state": "on"}', p_done));
end;
$$;
select play_driver('fake', '{builtin,exec}') as driver \gset

-- T-D7, D20
select play_install('one', jsonb_build_array(play_task('t.Slow', 'a', '{"of": 100}')));
select wf.start('one') as i \gset
select is(wf.progress(:i), 0.00, 'T-D7: a task that has not begun counts nothing');
select play_take(:driver);
select is(wf.progress(:i), 0.50, 'D20: a running task that tells nothing counts half');
select play_report(play_id(:i, 'a'), 'response', '{}');
select is(wf.progress(:i), 0.50, 'S39: nothing is known before the first poll');
select is((select progress from wf.tree(:i) where label like 't.Slow%'), null, 'tree shows no progress before the first poll');
select polled(:i, 'a', '20');
select is(wf.progress(:i), 0.20, 'T-D7: one polling step at 20 % is 0.20');
select results_eq(format('select label, progress from wf.tree(%s)', :i), $$values ('one', 0.20), ('t.Slow as a', 0.20)$$, 'tree shows it');
select is((select progress from wf.instance_v where instance_id = :i), 0.20, 'instance_v shows the progress');
select polled(:i, 'a', '33.333');
select is(wf.progress(:i), 0.33, 'S39: two decimals');
select polled(:i, 'a', '250');
select is(wf.progress(:i), 1.00, 'progress beyond 100 % is cut off');
select polled(:i, 'a', '-3');
select is(wf.progress(:i), 0.00, 'at both ends');
select polled(:i, 'a', '70');
select polled(:i, 'a', 'null');
select is(wf.progress(:i), 0.70, 'an answer that says nothing changes nothing');
select polled(:i, 'a', '"x"');
select is(wf.progress(:i), 0.70, 'an answer with a progress that is no number changes nothing');
select is((select state from wf.process where id = play_id(:i, 'a')), 'EXECUTING', 'an answer with a progress that is no number is no failure');
select play_later('10 s');
select wf.tick();
select play_take(:driver);
select play_fail(play_id(:i, 'a'));
select polled(:i, 'a', '80');
select is(wf.progress(:i), 0.80, 'a failed poll changes nothing');
select wf.cancel(jsonb_build_object('instance', :i));
select play_on(:driver);
select is(play_state(:i, 'a'), 'FAILED', 'the task has failed');
select is(wf.progress(:i), 0.00, 'a failed task counts nothing');
select wf.retry(jsonb_build_object('instance', :i));
select is(wf.progress(:i), 0.00, 'S39: the progress goes back when the task is tried again');
select play_take(:driver);
select play_report(play_id(:i, 'a'), 'response', '{}');
select is(wf.progress(:i), 0.50, 'another attempt has told nothing yet');
select wf.cancel(jsonb_build_object('instance', :i));
select play_on(:driver);
select wf.ignore(jsonb_build_object('instance', :i));
select is(wf.progress(:i), 1.00, 'D20: a skipped task counts wholly');
select is(wf.progress(4711), null, 'an instance that does not exist is nowhere');

select play_install('weights', jsonb_build_array(weighs(4, 'begin'), weighs(1, 'step', 't.Slow'), weighs(5, 'last')));
select wf.start('weights') as i \gset
select play_take(:driver);
select is(wf.progress(:i), 0.20, 'half of a weight of 4 in 10');
select play_report(play_id(:i, 'begin'));
select play_take(:driver);
select play_report(play_id(:i, 'step'), 'response', '{}');
select polled(:i, 'step', '20');
select is(wf.progress(:i), 0.42, 'T-D7: with weights it is 0.42');
select wf.abort(jsonb_build_object('instance', :i));
select play_on(:driver);
select is(wf.progress(:i), null, 'an instance that was aborted is nowhere');

-- forms
select play_install('forms', jsonb_build_array(
    play_par(weighs(1, 'x'), weighs(3, 'y'), play_seq(weighs(2, 'z1'), weighs(2, 'z2'))),
    jsonb_build_object('kind', 'if', 'line', 1, 'condition', true, 'then', play_seq(weighs(1, 'yes1'), weighs(1, 'yes2')), 'else', weighs(8, 'no')),
    weighs(4, 'end')));
select results_eq($$select n.label, n.weight from wf.node n join wf.workflow w on w.version_id = n.version_id where w.name = 'forms' and n.machine = 'composite' order by n.id$$,
    $$values ('forms', 20.0), ('par', 8.0), ('seq', 4.0), ('if', 8.0), ('seq', 2.0)$$, 'the weight of a composite is that of its children');
select wf.start('forms') as i \gset
select play_take(:driver);
select is(wf.progress(:i), 0.15, 'three of a par are under way: (0.5 + 1.5 + 1) of 20');
select play_report(play_id(:i, 'y'));
select is(wf.progress(:i), 0.23, 'one has ended: (0.5 + 3 + 1) of 20');
select play_report(play_id(:i, 'z1'));
select is(wf.progress(:i), 0.28, 'par: the next step waits: (0.5 + 3 + 2) of 20');
select play_on(:driver);
select play_report(play_id(:i, 'x')), play_report(play_id(:i, 'z2'));
select is(wf.progress(:i), 0.40, 'all of it has ended: 8 of 20');
select play_take(:driver);
select is(wf.progress(:i), 0.50, 'the branch that was chosen stands for all: 8 and a quarter of 8 of 20');

-- a dag: what has not begun counts nothing, what has ended wholly
select play_install('dag', jsonb_build_array(jsonb_build_object('kind', 'dag', 'line', 1, 'branches', jsonb_build_array(weighs(4, 'last'), weighs(1, 'x'), weighs(3, 'y')), 'after', '[[2, 3], [], []]'::jsonb), weighs(2, 'end')));
select wf.start('dag') as i \gset
select is(wf.progress(:i), 0.00, 'nothing of a dag has begun to run');
select play_take(:driver);
select is(wf.progress(:i), 0.20, 'two steps of a dag are under way: (0.5 + 1.5) of 10');
select play_report(play_id(:i, 'y'));
select is(wf.progress(:i), 0.35, 'one has ended: (0.5 + 3) of 10');
select play_report(play_id(:i, 'x'));
select is(wf.progress(:i), 0.40, 'dag: the step after both waits: 4 of 10');
select play_take(:driver);
select is(wf.progress(:i), 0.60, 'dag: the step after both is under way: 4 and a half of 4 of 10');
select play_report(play_id(:i, 'last'));
select is(wf.progress(:i), 0.80, 'the dag has ended');
select wf.abort(jsonb_build_object('instance', :i));

select play_install('list', jsonb_build_array(play_forall('x', '[]', weighs(2, 'e')) || '{"in": ["range", 1, ["var", "n"]], "max": 4, "reads": {"n": 0}}', weighs(1, 'end')), '[{"name": "n", "type": "int"}]');
select wf.start('list', '{"n": 10}') as i \gset
select is(wf.progress(:i), 0.00, 'nothing of a forall has begun');
select play_take(:driver, 2);
select is(wf.progress(:i), 0.07, 'two halves of 10 elements: a tenth of 2 of 3');
select play_report(p) from (select process_id as p from wf.lease where instance_id = :i) x;
select is(wf.progress(:i), 0.13, 'two of 10 elements have ended');
select is((select progress from wf.tree(:i) where kind = 'forall'), 0.20, 'the forall itself is further');
select play_install('nothing', jsonb_build_array(play_forall('x', '[]', '{"kind": "let", "line": 1, "as": "y", "value": 1}') || '{"in": ["range", 1, ["var", "n"]], "reads": {"n": 0}}'), '[{"name": "n", "type": "int"}]');
select wf.start('nothing', '{"n": 3000}') as i \gset
select ok(wf.progress(:i) between 0 and 1, 'elements without tasks have no weight, and are counted');

-- of many tasks under way some stand for all
select play_install('many', jsonb_build_array(play_forall('x', '[]', weighs(1, 'e')) || '{"in": ["range", 1, 1000]}', weighs(1, 'end')));
select wf.start('many') as i \gset
select play_take(:driver, 1000);
select is(wf.progress(:i), 0.25, 'each of 1,000 is half way');
select cmp_ok((select count(*) from wf._live(:i)), '<=', 52::bigint, 'the oldest 50 of them are looked at');

-- output of programs
select play_install('stream', jsonb_build_array(play_task('t.Stream', 's')));
select wf.start('stream') as i \gset
select play_take(:driver);
select is(wf.progress(:i), 0.50, 'a program that has written nothing');
select wf.output_add(array[:i], array[play_id(:i, 's')], array[(select token from wf.lease where instance_id = :i)], '{0}', '{20}', '{stdout}', array[e'read 12 %\nread 34 %\n']) is not null;
select is(wf.progress(:i), 0.34, 'S39: the last line of a program says how far it is');
select wf.output_add(array[:i], array[play_id(:i, 's')], array[(select token from wf.lease where instance_id = :i)], '{20}', '{4}', '{stderr}', array[e'oh\n']) is not null;
select is(wf.progress(:i), 0.34, 'another stream is another');
select wf.output_add(array[:i], array[play_id(:i, 's')], array[(select token from wf.lease where instance_id = :i)], '{24}', '{4}', '{stdout}', array[e'done\n']) is not null;
select is(wf.progress(:i), 0.50, 'a line that says nothing');
select is((select plain from wf.node n join wf.workflow w on w.version_id = n.version_id where w.name = 'stream' and n.type_id is not null), true, 'the clause costs nothing when the task ends');

-- install
select throws_ok(format($$select play_install('bad', jsonb_build_array(weighs(%s)))$$, w), 'WF005', 'workflows[0].steps[0].policies.weight: must be a number from 0.001 to 1000000', w)
  from unnest('{0,-1,1000001}'::text[]) w;
select throws_ok($$select play_install('bad', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"weight": ["var", "n"]}') || '{"reads": {"n": 0}}'), '[{"name": "n", "type": "int"}]')$$, 'WF005', 'workflows[0].steps[0].policies.weight: must be a number', 'install refuses a weight that reads a name');
update play_type set spec = jsonb_set(spec, '{requests,start,progress}', '0.5') where name = 't.Do';
select throws_ok($$select play_install('bad', jsonb_build_array(play_task('t.Do', 'a')))$$, 'WF005', 'task_types.t.Do.requests.start.progress: is not for this request', 'progress where nothing can be read');
select is_empty('select * from wf.fsck()', 'all is well');
select * from finish();
rollback;
