-- acceptance.sql - cases from the tests of the ancestors, each with its number and its
-- outcome, or with ours where the design states another: A is Steep, C is Brooklyn,
-- T-D is Dynflow, T-O is orchestrator-core. Other files have those of their topic.
begin;
\ir helper/play.sql
select no_plan();
select set_config('wf.now', '2030-01-01 00:00:00+00', true);
select play_driver() as driver \gset

create function gives(p_value jsonb, p_reads jsonb default '{}') returns jsonb
language sql as $$ select jsonb_build_object('kind', 'return', 'line', 9, 'value', p_value, 'reads', p_reads); $$;
create function caught(p_body jsonb, p_name text, p_catch jsonb, p_line int default 3) returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'try', 'line', 2, 'body', p_body, 'catches',
                              jsonb_build_array(jsonb_build_object('kind', 'catch', 'line', p_line, 'name', p_name, 'body', p_catch)));
$$;
create function ends(p_instance bigint) returns text
language sql as $$ select concat_ws(' ', i.state, i.result, i.output, i.error ->> 'message', i.error #>> '{cause,message}') from wf.instance i where i.id = p_instance; $$;
create function states(p_instance bigint) returns text
language sql as $$ select string_agg(p.bind || ' ' || p.state, ', ' order by p.id) from wf.process p where p.instance_id = p_instance and p.bind is not null and p.kind <> 'while' and p.kind <> 'call'; $$;
-- how often the tasks that bind NAME were given to a driver
create function runs(p_instance bigint, p_name text) returns bigint
language sql as $$
    select count(*) from play_request r join wf.process p on p.instance_id = r.instance_id and p.id = r.process_id
     where r.instance_id = p_instance and r.kind = 'run' and r.request = 'start' and p.bind = p_name;
$$;
create function target(p_instance bigint, p_name text default null) returns jsonb
language sql as $$
    select case when p_name is null then jsonb_build_object('instance', p_instance) else jsonb_build_object('process', play_id(p_instance, p_name)) end;
$$;
-- does all that is left to do by itself
create function work_on() returns void language plpgsql as $$ begin while wf.work() is not null loop null; end loop; end; $$;

-- A13: the outcome of all: Steep's ERROR, PARTIAL_SUCCESS and CANCELLED are error, warning and aborted
select play_install('all_fail', jsonb_build_array(play_par(play_task('t.Do', 'a', '{}', '{"on_failure": "fail_late"}'), play_task('t.Do', 'b', '{}', '{"on_failure": "fail_late"}'))));
select wf.start('all_fail') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first'), play_fail(play_id(:i, 'b'), 'second'), work_on();
select is(ends(:i), 'ABORTED error second first', 'A13: all have failed: error, with both reasons');
select play_install('some_fail', jsonb_build_array(play_forall('x', '[1, 2]', play_task('t.Do', 'a')) || '{"tolerate": "50%"}'));
select wf.start('some_fail') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a', 0)), play_report(play_id(:i, 'a', 1));
select is(ends(:i), 'END warning', 'A13: some have failed: warning, where failures are tolerated');
select play_install('first_fails', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"on_failure": "fail_late"}'), play_task('t.Do', 'b'), play_task('t.Do', 'c')));
select wf.start('first_fails') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'no input'), work_on();
select is(concat_ws(', ', ends(:i), states(:i)), 'ABORTED error no input, a ABORTED', 'A13: a failure that keeps others from beginning: error, with its reason');
select wf.start('first_fails') as i \gset
select play_take(:driver), wf.abort(target(:i)), play_fail(play_id(:i, 'a'));
select is(ends(:i), 'ABORTED aborted', 'A13: an abort: aborted, whatever a driver says then');
select play_install('paused', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"retry": {"attempts": 5, "delay": "PT10S"}}')));
select wf.start('paused') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'));
select is(states(:i), 'a INIT', 'A13: a task waits for its next attempt');
select wf.abort(target(:i));
select is(concat_ws(', ', ends(:i), states(:i)), 'ABORTED aborted, a ABORTED', 'A13: the waiting task is aborted with its instance');
select play_later('20 s');
select is(play_take(:driver), 0::bigint, 'A13: an aborted task is never resumed');

-- A17: a worklist that grows: what a round finds is what the next one does. 2 inputs, of which the first finds nothing
select play_install('worklist', jsonb_build_array(
    jsonb_build_object('kind', 'while', 'line', 1, 'name', 'open', 'start', '["const", [1, 2]]'::jsonb, 'max', 50,
        'while', '["ne", ["var", "open"], ["list"]]'::jsonb, 'round_reads', '{"open": 1, "found": 1}'::jsonb,
        'yield', '{"as": "r", "value": ["call", "flatten", ["var", "found"]]}'::jsonb,
        'body', jsonb_build_object('kind', 'forall', 'line', 2, 'name', 'd', 'in', '["var", "open"]'::jsonb, 'reads', '{"open": 1}'::jsonb,
            'body', play_task('t.Do', 'y', '{"x": ["if", ["eq", ["var", "d"], 2], ["list", 3], ["list"]]}') || '{"reads": {"d": 2}}',
            'collect', '[{"as": "found", "value": ["var", "y"]}]'::jsonb, 'collect_reads', '{"y": 2}'::jsonb)),
    play_par(play_task('t.Do', 'u'), play_task('t.Do', 'v')),
    gives('["var", "r"]', '{"r": 0}')));
select wf.start('worklist') as i \gset
select is(play_take(:driver), 2::bigint, 'A17: two inputs, two tasks');
select play_report(play_id(:i, 'y', 0), 'response', '{"value": []}');
select is(play_take(:driver), 0::bigint, 'A17: one yields nothing; what comes after all of them waits');
select play_report(play_id(:i, 'y', 1), 'response', '{"value": [3]}');
select is(play_take(:driver), 1::bigint, 'A17: the other one yields one element, for which there is one task more');
select play_report(play_id(:i, 'y'), 'response', '{"value": []}');
select is(states(:i), 'y END, y END, y END, u INIT, v INIT', 'A17: the last element yields nothing: all tasks have ended, and the task after them begins');
select play_on(:driver);
select is(concat_ws(', ', ends(:i), runs(:i, 'y') + runs(:i, 'u') + runs(:i, 'v')), 'END success [], 5', 'A17: five executions in all');
-- Steep's error speaks of the cardinality; ours is one of kind input
select play_install('one', jsonb_build_array(play_task('t.Do', 'y'),
    '{"kind": "call", "line": 2, "workflow": "inner", "args": {"n": ["cast", "int", ["var", "y"]]}, "reads": {"y": 0}, "steps": []}'::jsonb));
select wf.start('one') as i \gset
select play_take(:driver), play_report(play_id(:i, 'y'), 'response', '{"value": [1, 2]}');
select results_eq(format('select p.state, p.error ->> ''kind'' from wf.process p where p.instance_id = %s and p.parent_id = %s and p.kind = ''call''', :i, (select min(id) from wf.process where instance_id = :i)),
    $$values ('FAILED', 'input')$$, 'A17: a list where one value is needed is an error, of kind input');

-- C1: in Brooklyn a retry replays, or keeps variables; here a loop has state, and a round of a block has none of the round before
select play_install('keeps', jsonb_build_array(
    jsonb_build_object('kind', 'while', 'line', 1, 'name', 'x', 'start', 0, 'while', '["lt", ["var", "x"], 3]'::jsonb, 'max', 5, 'round_reads', '{"x": 1, "y": 1}'::jsonb,
        'body', play_task('t.Do', 'y', '{"x": ["add", ["var", "x"], 1]}') || '{"reads": {"x": 1}}', 'yield', '{"as": "r", "value": ["var", "y"]}'::jsonb), gives('["var", "r"]', '{"r": 0}')));
select wf.start('keeps') as i \gset
select play_on(:driver);
select is(concat_ws(', ', ends(:i), runs(:i, 'y')), 'END success 3, 3', 'C1: a while keeps its state from round to round: x ends at 3');
select play_install('replays', jsonb_build_array('{"kind": "seq", "line": 1, "policies": {"retry": {"attempts": 5}}}'::jsonb || jsonb_build_object('steps', jsonb_build_array(
    '{"kind": "let", "line": 2, "as": "x", "value": 0}'::jsonb, play_task('t.Do', 'y', '{"x": ["add", ["var", "x"], 1]}'),
    play_task('t.Do', 'check')))));
select wf.start('replays') as i \gset
create function fail_checks(p_driver bigint, p_instance bigint) returns void language plpgsql as $$
begin
    while play_take(p_driver) = 1 loop
        perform play_report(play_id(p_instance, 'y'), 'response', '{"value": 1}'), play_take(p_driver), play_fail(play_id(p_instance, 'check'), 'x < 3');
    end loop;
end;
$$;
select fail_checks(:driver, :i);
select results_eq(format('select distinct p.output from wf.process p where p.instance_id = %s and p.bind = ''y''', :i), $$values ('1'::jsonb)$$, 'C1: a retry of a block begins with nothing: x is 1 each time');
select is(concat_ws(', ', runs(:i, 'y'), play_state(:i, 'check'), (select error ->> 'message' from wf.process where id = play_id(:i, 'check'))), '5, FAILED, x < 3', 'C1: after 5 rounds it has failed, with the error of the last');

-- C13: x = 1, a gate, x = x + 10. Replay from an earlier step is not there yet
select play_install('gate', jsonb_build_array(play_task('t.Do', 'x'), play_task('t.Job', 'gate'), play_task('t.Do', 'y', '{"x": ["add", ["var", "x"], 10]}'), gives('["var", "y"]', '{"y": 0}')));
select wf.start('gate') as i \gset
select play_take(:driver), play_report(play_id(:i, 'x'), 'response', '{"value": 1}'), play_take(:driver), play_report(play_id(:i, 'gate'), 'ack'), play_report(play_id(:i, 'gate'), 'response', '{"id": 1}'), wf.cancel(target(:i, 'gate'));
select play_take(:driver), play_report(play_id(:i, 'gate'), 'response', '{}'), play_take(:driver), play_report(play_id(:i, 'gate'), 'response', '{}');
select is(play_report(play_id(:i, 'gate'), 'response', '{"state": "done"}'), 'stale', 'C13: cancelled at the gate: that it opens then comes too late');
select play_on(:driver);
select is(concat_ws(', ', ends(:i), states(:i)), 'RUNNING, x END, gate FAILED', 'C13: nothing changes, and an operator is needed');
select wf.retry(target(:i)), play_on(:driver), play_later('6 s'), play_on(:driver), play_on(:driver);
select is(concat_ws(', ', ends(:i), runs(:i, 'x'), runs(:i, 'y')), 'END success 11, 1, 1', 'C13: retried it gives 11, not 21: nothing is done twice');

-- C17, C21: handlers
select play_install('handler', jsonb_build_array(caught(play_task('t.Do', 'a'), 'e', gives('"Yay WTF"'))));
select wf.start('handler') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'));
select is(ends(:i), 'END success "Yay WTF"', 'C17: a handler gives its value; it has one form here, and a list, a map and a text there');
create function a_call(p_steps jsonb) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'call', 'line', 5, 'workflow', 'sub', 'args', '{}'::jsonb, 'as', 'r', 'steps', p_steps); $$;
select play_install('sub_caught', jsonb_build_array(
    a_call(jsonb_build_array(caught(caught(play_task('t.Do', 'a'), 'e', play_task('t.Do', 'h')), 'f', gives('"2-done"'), 7))), gives('["var", "r"]', '{"r": 0}')));
select wf.start('sub_caught') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first'), play_take(:driver), play_fail(play_id(:i, 'h'), 'second');
select is(ends(:i), 'END success "2-done"', 'C21: a handler of a step fails, too; the one of the called workflow returns: the result is 2-done');
select results_eq(format('select p.bind, p.state, p.error ->> ''message'', (select e.reason from wf.event e where e.instance_id = p.instance_id and e.process_id = p.id and e.event = ''raise'') from wf.process p where p.instance_id = %s and p.bind in (''a'', ''h'', ''r'') order by p.bind', :i),
    $$values ('a', 'RAISED', 'first', 'caught in line 3'), ('h', 'RAISED', 'second', 'caught in line 7'), ('r', 'END', null, null)$$, 'C21: the failed steps keep their errors, and which handler took them; the call has none');
select play_install('sub_uncaught', jsonb_build_array(a_call(jsonb_build_array(caught(play_task('t.Do', 'a'), 'e', play_task('t.Do', 'h', '{}', '{"on_failure": "fail"}')))), gives('["var", "r"]', '{"r": 0}')));
select wf.start('sub_uncaught') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first'), play_take(:driver), play_fail(play_id(:i, 'h'), 'second');
select is(concat_ws(', ', ends(:i), play_state(:i, 'r')), 'ABORTED error second first, ABORTED', 'C21: without that handler the call and its caller end with the error');
select count(*) as versions from wf.version \gset
select throws_ok($$select play_install('handler', jsonb_build_array(play_task('t.Unknown', 'a')))$$, 'WF005', null, 'C21: an unknown step is refused by install');
select is((select count(*) from wf.version), :versions::bigint, 'C21: a refused workflow is not stored');

-- T-D3: of two finallys one fails. There a resume runs both again, here what has failed alone
create function with_finally(p_body jsonb, p_finally jsonb) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'try', 'line', 2, 'body', p_body, 'finally', jsonb_build_object('kind', 'finally', 'line', 4, 'body', p_finally)); $$;
select play_install('finallys', jsonb_build_array(play_par(with_finally(play_task('t.Do', 'a'), play_task('t.Do', 'fa')), with_finally(play_task('t.Do', 'b'), play_task('t.Do', 'fb')))));
select wf.start('finallys') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a')), play_report(play_id(:i, 'b')), play_take(:driver), play_report(play_id(:i, 'fa')), play_fail(play_id(:i, 'fb'));
select is(states(:i), 'a END, b END, fa END, fb FAILED', 'T-D3: one of two finallys has failed');
select wf.retry(target(:i)), play_on(:driver);
select is(concat_ws(', ', ends(:i), runs(:i, 'fa'), runs(:i, 'fb')), 'END success, 1, 2', 'T-D3: retried it alone runs again, and all ends well');

-- T-D5: what runs or has ended is not executed again
select wf.start('gate') as i \gset
select play_take(:driver);
select results_eq(format('select answer, detail from wf.retry(%L)', target(:i, 'x')), $$values ('refused', 'START_REQUESTED: only FAILED can be retried')$$, 'T-D5: a running task is not executed again');
select results_eq(format('select answer, detail from wf.resume(%L)', target(:i)), $$values ('refused', 'RUNNING: only SUSPENDED can be resumed')$$, 'T-D5: a running instance is not resumed');
select play_report(play_id(:i, 'x'), 'response', '{"value": 1}'), play_on(:driver), play_later('6 s'), play_on(:driver), play_on(:driver);
select results_eq(format('select answer, detail from wf.resume(%L)', target(:i)), $$values ('refused', 'END: only SUSPENDED can be resumed')$$, 'T-D5: an ended instance is not resumed');
select play_install('nothing', '[]');
select is(ends(wf.start('nothing')), 'END success', 'T-D5: a workflow without steps ends well at once');

-- T-D9: a task outside that is asked ten times
create function asked(p_driver bigint, p_instance bigint, p_state text, p_times int default 1) returns text
language plpgsql as $$
begin
    for k in 1 .. p_times loop
        perform play_later('5 s'), play_take(p_driver), play_report(play_id(p_instance, 'j'), 'response', format('{"state": "%s"}', p_state));
    end loop;
    return play_state(p_instance, 'j');
end;
$$;
create function begun(p_driver bigint, p_instance bigint) returns text
language sql as $$ select play_take(p_driver); select play_report(play_id(p_instance, 'j'), 'ack'); select play_report(play_id(p_instance, 'j'), 'response', '{"id": 1}'); $$;
select play_install('job', jsonb_build_array(play_task('t.Job', 'j')));
select wf.start('job') as i \gset
select begun(:driver, :i);
select is(asked(:driver, :i, 'runs', 9), 'EXECUTING', 'T-D9: after nine polls it still runs');
select is(asked(:driver, :i, 'done'), 'CLEANUP_REQUESTED', 'T-D9: with the tenth it has ended');
select play_on(:driver);
select is(concat_ws(', ', ends(:i), (select count(*) from wf.timer where instance_id = :i)), 'END success, 0', 'T-D9: no timer is left when the task has ended');
-- there a resume polls the old task first; here a poll that failed is sent again by itself, and a retry begins a new one
select wf.start('job') as i \gset
select begun(:driver, :i), play_later('5 s'), play_take(:driver), play_fail(play_id(:i, 'j'));
select is(play_state(:i, 'j'), 'EXECUTING', 'T-D9: a poll that fails is no failure of the task');
select is(asked(:driver, :i, 'bad'), 'FAILED', 'T-D9: the next one asks for the same task, and tells that it has failed');
select wf.retry(target(:i)), play_on(:driver, 1);
select is(runs(:i, 'j'), 2::bigint, 'T-D9: a retry begins it anew');
select wf.abort(target(:i)), play_on(:driver);

-- T-D17: a driver dies
select play_install('dies', jsonb_build_array(play_par(play_task('t.Do', 'skips', '{}', '{"on_failure": "skip"}'), play_task('t.Do', 'repeats', '{}', '{"idempotent": true}'), play_task('t.Do', 'waits'))));
select wf.start('dies') as i \gset
select play_driver('mortal') as mortal \gset
select play_take(:mortal), wf.leave(:mortal);
select is(states(:i), 'skips END, repeats INIT, waits FAILED', 'T-D17: skip lets a lost task end, retry gives it to another driver, and a task without either waits for an operator');
select play_on(:driver), wf.retry(target(:i)), play_on(:driver);
select is(concat_ws(', ', ends(:i), runs(:i, 'repeats'), runs(:i, 'skips')), 'END warning, 2, 1', 'T-D17: another driver executes them again; what was skipped makes a warning');
select is((select string_agg(e.event, ' ' order by e.seq) from wf.event e where e.instance_id = :i and e.process_id = play_id(:i, 'repeats') and e.event in ('start', 'lost', 'again', 'success')),
    'start lost start success', 'T-D17: the history has start, loss, start, end');

-- T-O1: a list that grows by each step
create function appends(p_as text, p_value int, p_to text) returns jsonb
language sql as $$ select play_task('t.Do', p_as, jsonb_build_object('x', jsonb_build_array('call', 'concat', jsonb_build_array('var', p_to), jsonb_build_array('list', p_value)))); $$;
select play_install('grows', jsonb_build_array(play_task('t.Do', 'a', '{"x": ["list", 1]}'), appends('b', 2, 'a'), appends('c', 3, 'b'), gives('["var", "c"]', '{"c": 0}')));
select wf.start('grows') as i \gset
select play_on(:driver);
select is(ends(:i), 'END success [1, 2, 3]', 'T-O1: three steps append 1, 2 and 3');
select results_eq(format('select p.bind, p.output from wf.process p where p.instance_id = %s and p.bind is not null order by p.id', :i), $$values ('a', '[1]'::jsonb), ('b', '[1, 2]'), ('c', '[1, 2, 3]')$$, 'T-O1: each has what there was after it');
select wf.start('grows') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a')), wf.resolve(target(:i, 'a'), '[4]'), play_on(:driver);
select is(ends(:i), 'END success [4, 2, 3]', 'T-O1: recovered with [4] at the second step it gives [4, 2, 3]; here it is the first step that is resolved with [4]');

-- T-O5: a step with a condition, 25 times; a round whose step is not taken leaves no row
select play_install('conditional', jsonb_build_array(
    jsonb_build_object('kind', 'fold', 'line', 1, 'name', 'n', 'element', 'k', 'over', '["list", 0, ["range", 1, 25]]'::jsonb, 'round_reads', '{"n": 1, "c": 1}'::jsonb,
        'body', jsonb_build_object('kind', 'if', 'line', 2, 'condition', '["lt", ["var", "n"], 10]'::jsonb, 'reads', '{"n": 1}'::jsonb, 'then', play_task('t.Do', 'c', '{"x": ["add", ["var", "n"], 1]}') || '{"reads": {"n": 1}}'),
        'yield', '{"as": "r", "value": ["coalesce", ["var", "c"], ["var", "n"]]}'::jsonb),
    gives('["var", "r"]', '{"r": 0}')));
select wf.start('conditional') as i \gset
select play_on(:driver), work_on();
select is(concat_ws(', ', ends(:i), runs(:i, 'c')), 'END success 10, 10', 'T-O5: of 25 steps with n < 10 ten run, and n is 10');
create function if_it_is(p_name text, p_body jsonb) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'if', 'line', 2, 'condition', jsonb_build_array('var', p_name), 'reads', jsonb_build_object(p_name, 0), 'then', p_body); $$;
select play_install('flag', jsonb_build_array('{"kind": "let", "line": 1, "as": "f", "value": true}'::jsonb, if_it_is('f', play_task('t.Do', 'g', '{"x": false}')), if_it_is('g', play_task('t.Do', 'h'))));
select wf.start('flag') as i \gset
select play_on(:driver);
select is(concat_ws(', ', ends(:i), states(:i)), 'END success, f END, g END', 'T-O5: the flag that the first step puts out skips only the later one');

-- T-O7: the third of three fails. There the whole group is done again; here it is as it was written
select play_install('as_block', jsonb_build_array('{"kind": "seq", "line": 1, "policies": {"retry": {"attempts": 2}}}'::jsonb || jsonb_build_object('steps', jsonb_build_array(play_task('t.Do', 'a'), play_task('t.Do', 'b'), play_task('t.Do', 'c')))));
select play_install('as_tasks', jsonb_build_array(play_task('t.Do', 'a'), play_task('t.Do', 'b'), play_task('t.Do', 'c')));
create function third_fails(p_driver bigint, p_workflow text) returns bigint
language plpgsql as $$
declare
    v_i bigint := wf.start(p_workflow);
begin
    perform play_take(p_driver), play_report(play_id(v_i, 'a')), play_take(p_driver), play_report(play_id(v_i, 'b')), play_take(p_driver), play_fail(play_id(v_i, 'c'));
    return v_i;
end;
$$;
select third_fails(:driver, 'as_block') as i \gset
select play_on(:driver);
select is(concat_ws(', ', ends(:i), runs(:i, 'a'), runs(:i, 'b'), runs(:i, 'c')), 'END success, 2, 2, 2', 'T-O7: with a retry of the block the first step happens twice');
select third_fails(:driver, 'as_tasks') as i \gset
select wf.retry(target(:i)), play_on(:driver);
select is(concat_ws(', ', ends(:i), runs(:i, 'a'), runs(:i, 'b'), runs(:i, 'c')), 'END success, 1, 1, 2', 'T-O7: with a retry of what has failed it happens once');

-- T-O17: errors have kinds. There the same failure again counts up in its row; here a task is one row, and each failure an event
select wf.start('as_tasks') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'error', '{"kind": "assert", "message": "no subscription"}');
select is((select error ->> 'kind' from wf.failed f join wf.process p on p.id = f.process_id where f.instance_id = :i), 'assert', 'T-O17: an assertion has its own kind');
select wf.retry(target(:i)), play_take(:driver), play_report(play_id(:i, 'a'), 'error', '{"kind": "http", "message": "bad gateway", "detail": {"status": 502}}');
select results_eq(format('select p.error ->> ''kind'', p.error #>> ''{detail,status}'' from wf.process p where p.instance_id = %s and p.bind = ''a''', :i), $$values ('http', '502')$$, 'T-O17: an unreachable service is an error of kind http, with its status');
select wf.retry(target(:i)), play_take(:driver), play_report(play_id(:i, 'a'), 'error', '{"kind": "http", "message": "bad gateway", "detail": {"status": 502}}');
select results_eq(format('select count(*), max(p.attempt) from wf.process p where p.instance_id = %s and p.bind is not null', :i), $$values (1::bigint, 3)$$, 'T-O17: the same failure again leaves one row, with its number of attempts');
select wf.retry(target(:i)), play_take(:driver), play_report(play_id(:i, 'a')), play_take(:driver), play_fail(play_id(:i, 'b')), wf.retry(target(:i)), play_take(:driver), play_fail(play_id(:i, 'b'));
select is((select string_agg(p.bind || ' ' || e.event, ', ' order by e.seq) from wf.event e join wf.process p on p.instance_id = e.instance_id and p.id = e.process_id where e.instance_id = :i and e.event in ('fail', 'success')),
    'a fail, a fail, a fail, a success, b fail, b fail', 'T-O17: the history has every one of them');

select is_empty('select * from wf.fsck()', 'all is well in the end');
select * from finish();
rollback;
