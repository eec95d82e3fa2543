-- child.sql - tasks that start instances or wait for them, and instances that begin later.
begin;
\ir helper/play.sql
select no_plan();

insert into play_type (name, spec) values
    ('t.Start', '{"name": "t.Start", "machine": "wait", "wait": "child",
                  "params": [{"name": "workflow", "type": {"optional": "json"}}, {"name": "params", "type": {"optional": "json"}, "default": {}}, {"name": "key", "type": {"optional": "json"}, "default": null},
                             {"name": "priority", "type": {"optional": "json"}, "default": null}, {"name": "detached", "type": {"optional": "json"}, "default": false},
                             {"name": "accept", "type": {"optional": "json"}, "default": ["list", "success", "warning"]}],
                  "returns": {"object": {"instance": "int", "result": {"optional": "string"}, "output": {"optional": "json"}}}}'),
    ('t.Await', '{"name": "t.Await", "machine": "wait", "wait": "instance",
                  "params": [{"name": "id", "type": {"optional": "json"}}, {"name": "accept", "type": {"optional": "json"}, "default": ["list", "success", "warning"]}]}');
-- start_task(AS, WORKFLOW [, MORE [, POLICIES]]): MORE are other arguments
create function start_task(p_as text, p_workflow text, p_more jsonb default '{}', p_policies jsonb default null) returns jsonb
language sql as $$
    select play_task('t.Start', p_as, '{"params": {}, "key": null, "priority": null, "detached": false, "accept": ["list", "success", "warning"]}'
                                      || jsonb_build_object('workflow', p_workflow) || p_more, p_policies);
$$;
create function await_task(p_as text, p_instance jsonb, p_accept jsonb default '["list", "success", "warning"]') returns jsonb
language sql as $$ select play_task('t.Await', p_as, jsonb_build_object('id', p_instance, 'accept', p_accept)); $$;
-- work(): what drivers do when polls have told them of work
create function work() returns void
language plpgsql as $$ begin while exists (select from wf.work w where w.due_at <= wf.now() and not w.aside) loop perform wf.work(); end loop; end; $$;
-- child(INSTANCE, AS): the youngest instance that this task has started
create function child(p_instance bigint, p_as text default 'a') returns bigint
language sql as $$ select max(i.id) from wf.instance i where i.parent_id = p_instance and i.parent_process_id = play_id(p_instance, p_as); $$;
create function state(p_instance bigint) returns text
language sql as $$ select concat_ws(' ', i.state, i.result) from wf.instance i where i.id = p_instance; $$;
create function output(p_instance bigint, p_as text default 'a') returns jsonb
language sql as $$ select p.output from wf.process p where p.instance_id = p_instance and p.id = play_id(p_instance, p_as); $$;
-- failure(INSTANCE, AS): kind and message of the task's error, its state
create function failure(p_instance bigint, p_as text default 'a') returns text
language sql as $$ select format('%s %s: %s', p.state, p.error ->> 'kind', p.error ->> 'message') from wf.process p where p.instance_id = p_instance and p.id = play_id(p_instance, p_as); $$;
create function sound(p_when text) returns text
language sql as $$ select is_empty('select * from wf.fsck()', 'fsck finds its rows sound: ' || p_when); $$;

select set_config('wf.now', '2026-03-01 12:00:00+00', true);
select play_driver() as driver \gset
select play_install('echo', jsonb_build_array(play_task('t.Do', 'e', '{"x": ["var", "v"]}'),
                                              '{"kind": "return", "line": 1, "value": ["var", "e"], "reads": {"e": 0}}'::jsonb), '[{"name": "v", "type": "json", "default": 7}]');

-- D38: a task starts an instance and waits for it
select play_install('one', jsonb_build_array(start_task('a', 'echo', '{"params": {"v": ["list", 1, 2]}}')));
select wf.start('one', p_priority => 5) as i \gset
select is(play_state(:i, 'a'), 'WAITING', 'the task waits');
select is((select count(*) from wf.instance), 1::bigint, 'nothing else has started in that transaction');
select matches((select e.detail from wf.explain(:i, play_id(:i, 'a')) e where e.reason = 'child'), '^the instance that it waits for is about to be started', 'explain says so');
select sound('before the start');
select ok((select exists (select from wf.poll(:driver, 0) p where p.kind = 'work')), 'a poll tells of work');
select work();
select child(:i) as c \gset
select is(state(:c), 'RUNNING', 'D38: the work starts an instance');
select results_eq(format('select c.params, c.priority, c.depth, c.started_by, c.trace_id = i.trace_id, c.login = i.login from wf.instance c, wf.instance i where c.id = %s and i.id = %s', :c, :i),
                  format($$values ('{"v": [1, 2]}'::jsonb, 5, 1, %L::text, true, true)$$, session_user), 'a child has the parameters, and the priority, starter, login and trace of its parent');
select results_eq(format('select parent_id, parent_process_id, depth from wf.instance_v where instance_id = %s', :c), format('values (%s::bigint, %s::bigint, 1)', :i, play_id(:i, 'a')), 'the view shows who has started it');
select results_eq(format('select place, reason, until from wf._place_v where instance_id = %s and process_id = %s', :i, play_id(:i, 'a')),
                  $$values ('timer', 'child', null::timestamptz)$$, 'the task is in its place');
select is((select e.detail from wf.explain(:i, play_id(:i, 'a')) e where e.reason = 'child'), format('waits for instance %s of workflow echo, RUNNING since 2026-03-01 12:00:00+00; wf-console explain %1$s says more', :c), 'explain says for which instance');
select is((select count(*) from wf.stuck()), 0::bigint, 'nobody calls it stuck');
select is((select string_agg(label, ', ') from wf.graph(p_instance => :i) where processes = 1 and label ~ 'instance'), format('t.Start as a (instance %s, RUNNING)', :c), 'the graph names the instance');
select is((select started from wf.graph(p_instance => :i) where started is not null), format('instance %s, RUNNING', :c), 'the graph names the instance apart from the label');
select sound('while it waits');
select play_take(:driver);
select play_report(play_id(:c, 'e'), 'response', '{"value": [1, 2]}');
select is(state(:c), 'END success', 'the instance ends');
select is(play_state(:i, 'a'), 'WAITING', 'the end of a child moves nothing in its parent in the same transaction');
select work();
select is(output(:i), jsonb_build_object('instance', :c, 'result', 'success', 'output', '[1, 2]'::jsonb), 'the task has its number, result and output');
select is(state(:i), 'END success', 'the parent goes on to its end');
select is_empty('select from wf.timer', 'no wait is left');
select sound('when both have ended');

-- the tree shows instances below the tasks that have started them
select play_install('upper', jsonb_build_array(start_task('a', 'one')));
select wf.start('upper') as i \gset
select work();
select results_eq(format('select process_id, depth, label, kind, state from wf.tree(%s) where depth > 0', :i),
                  format($$values (%s::bigint, 1, 't.Start as a', 'child', 'WAITING'), (%1$s, 2, 'instance %2$s of one', 'instance', 'RUNNING'), (%1$s, 3, 'instance %3$s of echo', 'instance', 'RUNNING')$$,
                         play_id(:i, 'a'), child(:i), child(child(:i))), 'the tree has instances below the tasks that have started them');
select matches((select e.detail from wf.explain(:i, play_id(:i, 'a')) e where e.reason = 'child'), format('^waits for instance %s of workflow one, RUNNING since .*, in which t.Start as a waits for instance %s since .*; wf-console', child(:i), child(child(:i))), 'explain says what that one waits for');
select play_install('many', jsonb_build_array(play_forall('k', '[1, 2, 3, 4, 5, 6, 7]', start_task('a', 'empty2'))));
select play_install('empty2', '[]');
select play_install('most', jsonb_build_array(start_task('a', 'many')));
select wf.start('most') as j \gset
select work();
select results_eq(format('select depth, note from wf.tree(%s) where label = ''…''', :j), format($$values (3, 'there are more, with parent_id %s in wf.instance_v')$$, child(:j)), 'where the tree is cut, a line says so');
select wf.abort(jsonb_build_object('instance', :i));
select work();

-- one that has nothing to do ends at once; detached; a workflow that does not exist; what is refused
select play_install('empty', '[]');
select play_install('both', jsonb_build_array(play_par(start_task('a', 'empty'), start_task('b', 'echo', '{"detached": true}'))));
select wf.start('both') as i \gset
select work();
select is(play_state(:i, 'a'), 'END', 'an instance that ends as it starts is no reason to wait');
select is(output(:i, 'b'), jsonb_build_object('instance', child(:i, 'b'), 'result', null, 'output', null), 'a detached one is not waited for');
select is(state(:i), 'END success', 'the parent ends before it');
select is(state(child(:i, 'b')), 'RUNNING', 'a detached instance goes on after its parent');
select wf.abort('{"global": true}');
select play_install('wrong', jsonb_build_array(play_par(
    start_task('a', 'no_such'), start_task('b', 'echo', '{"params": {"w": 1}}'), start_task('c', 'echo', '{"params": ["list", 1]}'), start_task('d', 'echo', '{"key": ""}'), start_task('e', 'echo', '{"priority": 2000}'),
    start_task('f', 'echo', '{"accept": ["list", "partly"]}'), start_task('g', 'echo', '{"detached": "yes"}'), start_task('h', null), start_task('i', 'echo', '{"key": 7}'), start_task('j', 'echo', '{"accept": "success"}'),
    start_task('k', 'echo', '{"priority": "high"}'), await_task('l', '"x"'), await_task('m', '123456'), await_task('n', 'null'))));
select wf.start('wrong') as i \gset
select work();
select is(failure(:i, 'a'), 'FAILED input: there is no workflow no_such', 'the workflow has to exist');
select is(failure(:i, 'b'), 'FAILED input: there is no parameter w', 'the parameters have to be its own');
select is(failure(:i, 'c'), 'FAILED input: the parameters are not a JSON object', 'parameters have to be an object');
select is(failure(:i, 'd'), 'FAILED input: the key has 0 bytes', 'a key is not empty');
select is(failure(:i, 'e'), 'FAILED input: priority is 2000', 'a priority is in its range');
select is(failure(:i, 'f'), 'FAILED input: accept has to be a list of success, warning, error and aborted, not ["partly"]', 'accept lists results');
select is(failure(:i, 'g'), 'FAILED input: detached has to be true or false, not yes', 'detached is true or false');
select is(failure(:i, 'h'), 'FAILED input: workflow has to be the name of a workflow, not null', 'the workflow has a name');
select is(failure(:i, 'i'), 'FAILED input: key has to be a text of 1 to 255 bytes, or null, not 7', 'a key is a text');
select is(failure(:i, 'j'), 'FAILED input: accept has to be a list of success, warning, error and aborted, not success', 'accept is a list');
select is(failure(:i, 'k'), 'FAILED input: priority has to be a number from -1000 to 1000, or null, not high', 'a priority is a number');
select is(failure(:i, 'l'), 'FAILED input: id has to be the number of an instance, not x', 'an instance has a number');
select is(failure(:i, 'm'), 'FAILED input: there is no instance 123456, or the login that started this one may not see it', 'an instance to wait for has to exist');
select is(failure(:i, 'n'), 'FAILED input: id has to be the number of an instance, not null', 'null is no instance');
select is((select count(*) from wf.instance where parent_id = :i), 0::bigint, 'nothing has started');
select sound('when starts are refused');
select wf.abort('{"global": true}');

-- how it ends: error, accepted or not; aborted; a warning
select play_install('bad', '[{"kind": "task", "line": 1, "type": "t.Do", "args": {"x": 1}, "as": "x", "policies": {"on_failure": "fail"}}]');
select play_install('ends', jsonb_build_array(play_par(start_task('a', 'bad'), start_task('b', 'bad', '{"accept": ["list", "error"]}'), start_task('c', 'echo'), start_task('d', 'echo', '{"accept": ["list", "aborted"]}'), start_task('e', 'echo', '{"accept": ["list", "success"]}'))));
select wf.start('ends') as i \gset
select work();
select play_take(:driver);
select play_fail_all(:driver, child(:i, 'a')), play_fail_all(:driver, child(:i, 'b')), play_fail_all(:driver, child(:i, 'e'));
select wf.abort(jsonb_build_object('instance', jsonb_build_array(child(:i, 'c'), child(:i, 'd'))), 'not today');
select play_fail_all(:driver, child(:i, 'c')), play_fail_all(:driver, child(:i, 'd'));
select wf.ignore(jsonb_build_object('instance', child(:i, 'e')));
select work();
select matches(failure(:i, 'a'), format('^FAILED child: instance %s of workflow bad has ended with error', child(:i, 'a')), 'an instance that ended with an error fails the task');
select is((select error #>> '{cause,kind}' from wf.process where instance_id = :i and bind = 'a'), 'http', 'the cause is its error');
select is(output(:i, 'b'), jsonb_build_object('instance', child(:i, 'b'), 'result', 'error', 'output', null), 'unless that is accepted');
select is(failure(:i, 'c'), format('FAILED child: instance %s of workflow echo has ended with aborted', child(:i, 'c')), 'an instance that was aborted fails the task');
select is((select error #>> '{cause,kind}' from wf.process where instance_id = :i and bind = 'c'), 'aborted', 'the cause of that failure is aborted');
select is(output(:i, 'd') ->> 'result', 'aborted', 'unless that is accepted');
select is(failure(:i, 'e'), format('FAILED child: instance %s of workflow echo has ended with warning', child(:i, 'e')), 'a warning is accepted only if it is named');
-- D39: another attempt starts another instance
select child(:i, 'c') as c \gset
select wf.retry(jsonb_build_object('process', play_id(:i, 'c')));
select work();
select isnt(child(:i, 'c'), :c::bigint, 'D39: a retry starts another instance');
select play_on(:driver), work();
select is(play_state(:i, 'c'), 'END', 'the task waits for the instance of its new attempt');
select wf.ignore(jsonb_build_object('instance', :i));
select is(state(:i), 'END warning', 'the others can be ignored');
select sound('after a retry');

-- a policy retry does the same
select play_install('again', jsonb_build_array(start_task('a', 'bad', p_policies => '{"retry": {"attempts": 2, "delay": "PT1S", "on": ["list", "child"]}}')));
select wf.start('again') as i \gset
select work(), play_take(:driver);
select play_fail_all(:driver, child(:i)), work();
select is(play_state(:i, 'a'), 'INIT', 'a retry policy tries the task again') ;
select play_later('2 s'), wf.tick(), work();
select is((select count(*) from wf.instance where parent_id = :i), 2::bigint, 'with another instance');
select play_on(:driver), work();
select is(state(:i), 'END success', 'the parent ends with success when the second instance does');

-- keys: the instance that is known is waited for, but it is nobody's
select wf.start('echo', p_key => 'k') as known \gset
select play_install('keyed', jsonb_build_array(start_task('a', 'echo', '{"key": "k"}')));
select wf.start('keyed') as i \gset
select wf.start('keyed') as j \gset
select work();
select results_eq('select awaits_id from wf.timer where kind = ''child''', format('values (%s::bigint), (%s::bigint)', :known, :known), 'a known key starts nothing: the instance that it has started is waited for');
select wf.abort(jsonb_build_object('instance', :j)), work();
select is(state(:j) || ', ' || state(:known), 'ABORTED aborted, RUNNING', 'an abort of one that waits for a known key does not stop its instance');
select play_on(:driver), work();
select is(state(:i) || ' ' || (output(:i) ->> 'instance'), 'END success ' || :known, 'the end of an instance with a known key reaches every task that waits for it');
select play_install('other', jsonb_build_array(start_task('a', 'echo', '{"key": "k", "params": {"v": 8}}')));
select wf.start('other') as i \gset
select work();
select is(failure(:i), 'FAILED input: key k of workflow echo is known with another payload', 'another payload under a known key is refused');
select wf.abort('{"global": true}');

-- D48: waiting for an instance that something else has started
select wf.start('echo', '{"v": "first"}') as first \gset
select play_install('after', jsonb_build_array(await_task('a', '["var", "n"]'), play_task('t.Do', 'b', '{"x": ["get", ["var", "a"], "output"]}')), '[{"name": "n", "type": "int"}]');
select wf.start('after', jsonb_build_object('n', :first)) as i \gset
select work();
select is(play_state(:i, 'a'), 'WAITING', 'D48: an instance waits for another one');
select play_on(:driver), work(), play_on(:driver);
select is(output(:i, 'b') || to_jsonb(state(:i)), '["first", "END success"]', 'a task that waited goes on with the output of the instance');
select wf.start('after', jsonb_build_object('n', :first)) as i \gset
select work();
select is(play_state(:i, 'a'), 'END', 'an instance that has ended is no reason to wait');
select wf.start('bad') as first \gset
select wf.start('after', jsonb_build_object('n', :first)) as i \gset
select work(), play_take(:driver);
select play_fail_all(:driver, :first), work();
select matches(failure(:i), format('^FAILED child: instance %s of workflow bad has ended with error', :first), 'D48: an error of it fails the task');
select is((select p.error -> 'cause' ->> 'kind' from wf.process p where p.instance_id = :i and p.id = play_id(:i, 'a')), (select error ->> 'kind' from wf.instance where id = :first), 'D48: the cause of the task''s error is the error of the instance');
select play_install('bad_late', '[{"kind": "task", "line": 1, "type": "t.Do", "args": {"x": 1}, "as": "x", "policies": {"on_failure": "skip"}}]');
select wf.start('bad_late') as first \gset
select wf.start('after', jsonb_build_object('n', :first)) as i \gset
select work(), play_take(:driver);
select play_fail_all(:driver, :first), work();
select is(state(:first) || ', ' || play_state(:i, 'a') || ' ' || (output(:i) ->> 'result'), 'END warning, END warning', 'D48: a warning of it is accepted');
select play_install('all_after', jsonb_build_array(play_par(await_task('a', '["var", "n"]'), await_task('b', '["var", "m"]')), play_task('t.Do', 'c')), '[{"name": "n", "type": "int"}, {"name": "m", "type": "int"}]');
select wf.start('echo') as first \gset
select wf.start('echo') as second \gset
select wf.start('all_after', jsonb_build_object('n', :first, 'm', :second)) as i \gset
select work(), play_take(:driver);
select play_report(play_id(:first, 'e'), 'response', '{"value": 1}'), work();
select is(play_state(:i, 'a') || ' ' || play_state(:i, 'b') || ' ' || coalesce(play_state(:i, 'c'), 'none'), 'END WAITING none', 'D48: a step after several instances waits for the last of them');
select play_report(play_id(:second, 'e'), 'response', '{"value": 1}'), work();
select is(play_state(:i, 'c'), 'INIT', 'a step after several instances begins when all have ended');
select wf.abort('{"global": true}');
select wf.start('after', jsonb_build_object('n', currval('wf.instance_id_seq') + 1)) as i \gset
select work();
select is(failure(:i), format('FAILED deadlock: instance %s is this instance, or waits for this instance', :i), 'no instance waits for itself');
select wf.abort('{"global": true}');
select wf.start('after', jsonb_build_object('n', currval('wf.instance_id_seq') + 2)) as i \gset
select wf.start('after', jsonb_build_object('n', :i)) as j \gset
select work();
select is(play_state(:i, 'a') || ' ' || failure(:j), format('WAITING FAILED deadlock: instance %s is this instance, or waits for this instance', :i), 'two instances do not wait for each other: the second wait fails');
select wf.abort('{"global": true}'), work();
select sound('after a circle');

-- of tasks whose work is done together one fails, and what handles its error stops another one
select play_install('beside', jsonb_build_array(
    jsonb_build_object('kind', 'try', 'line', 1, 'body', play_par(await_task('a', '["instance", "id"]'), start_task('b', 'echo'), start_task('c', 'echo', '{"key": "beside"}'), await_task('d', '["var", "n"]')),
                       'catches', '[{"kind": "catch", "line": 1, "name": "e", "body": {"kind": "let", "line": 1, "as": "x", "value": 1}}]'::jsonb)), '[{"name": "n", "type": "int"}]');
select wf.start('echo') as first \gset
select wf.start('beside', jsonb_build_object('n', :first)) as i \gset
select work();
select is(failure(:i), format('RAISED deadlock: instance %s is this instance, or waits for this instance', :i), 'one fails');
select is((select count(*) from wf.instance i where i.parent_id = :i), 0::bigint, 'a stopped task starts no instance any more');
select is(play_state(:i, 'b') || ' ' || play_state(:i, 'c') || ' ' || play_state(:i, 'd') || ' ' || state(:i), 'ABORTED ABORTED ABORTED END success', 'a stopped task does not wait');
select wf.abort('{"global": true}'), work();

-- D37: what stops the task stops what it has started
create function stop_world(p_policies jsonb default null) returns bigint
language plpgsql as $$
declare v_instance bigint;
begin
    perform play_install('stops', jsonb_build_array(start_task('a', 'echo', p_policies => p_policies)));
    v_instance := wf.start('stops');
    perform work(), play_take((select max(id) from wf.driver where state = 'live'));
    return v_instance;
end;
$$;
select stop_world() as i \gset
select wf.cancel(jsonb_build_object('process', play_id(:i, 'a')));
select is(play_state(:i, 'a'), 'CANCEL_REQUESTED', 'a task that is cancelled waits until its instance has stopped');
select sound('while it is cancelled');
select work();
select is(state(child(:i)), 'ABORTING', 'D37: the instance of a cancelled task is aborted');
select is((select reason from wf.event_v where instance_id = child(:i) and event = 'abort' and process_id is null), format('instance %s, which has started it, stops it', :i), 'the history of an aborted child says by whom');
select matches((select e.detail from wf.explain(:i, play_id(:i, 'a')) e where e.reason = 'child'), 'ABORTING since', 'explain says what is waited for');
select play_fail_all(:driver, child(:i)), work();
select is(failure(:i), 'FAILED cancelled: cancelled', 'a cancelled task has failed when its instance has stopped');
select sound('when it is cancelled');
select wf.abort(jsonb_build_object('instance', :i));
select stop_world() as i \gset
select wf.abort(jsonb_build_object('instance', :i));
select is(state(:i) || ' ' || play_state(:i, 'a'), 'ABORTING ABORT_REQUESTED', 'an abort of the parent waits for it, too');
select work();
select play_fail_all(:driver, child(:i)), work();
select is(state(:i) || ', ' || state(child(:i)), 'ABORTED aborted, ABORTED aborted', 'D37: both are aborted');
select stop_world() as i \gset
select wf.halt(jsonb_build_object('instance', :i));
select is(state(:i), 'ABORTED aborted', 'a halt waits for nothing');
select work();
select is(state(child(:i)), 'ABORTED aborted', 'a halt of the parent halts the child');
select stop_world() as i \gset
select wf.abort(jsonb_build_object('instance', :i)), work(), wf.halt(jsonb_build_object('instance', :i)), work();
select is(state(:i) || ', ' || state(child(:i)), 'ABORTED aborted, ABORTED aborted', 'a halt during an abort halts the child');
select stop_world('{"timeout": {"runtime": "PT10S"}}') as i \gset
select play_later('11 s'), wf.tick(), work();
select is(play_state(:i, 'a') || ' ' || state(child(:i)), 'CANCEL_REQUESTED ABORTING', 'a timeout of the task aborts its instance');
select play_fail_all(:driver, child(:i)), work();
select matches(failure(:i), '^FAILED timeout: ', 'a task whose time is over has failed with timeout when its instance has stopped');
select wf.abort('{"global": true}');
select stop_world() as i \gset
select wf.cancel(jsonb_build_object('process', play_id(:i, 'a'))), wf.abort(jsonb_build_object('instance', :i)), work();
select play_fail_all(:driver, child(:i)), work();
select is(state(:i), 'ABORTED aborted', 'an abort takes over what is being cancelled');
select stop_world() as i \gset
select wf.cancel(jsonb_build_object('process', play_id(:i, 'a')));
select play_report(play_id(child(:i), 'e'), 'response', '{"value": 1}');
select work();
select is(state(child(:i)) || ', ' || failure(:i), 'END success, FAILED cancelled: cancelled', 'an instance that ends meanwhile is not aborted, and its cancelled task has failed');
select wf.abort('{"global": true}');
select wf.start('stops') as i \gset
select wf.abort(jsonb_build_object('instance', :i));
select work();
select is(state(:i) || ' ' || coalesce(child(:i), 0), 'ABORTED aborted 0', 'a task that is stopped before it has started anything starts nothing');
select is_empty('select from wf.work', 'no work is left');
select sound('after stops');

-- what is undone in the parent is undone in the child
select play_install('undone', '[{"kind": "task", "line": 1, "type": "t.Do", "args": {"x": 1}, "as": "x", "undo": {"kind": "undo", "line": 1, "body": {"kind": "task", "line": 1, "type": "t.Do", "args": {"x": "undone"}, "as": "y"}}}]'
    || jsonb_build_array(play_task('t.Do', 'z')));
select play_install('undoer', jsonb_build_array(start_task('a', 'undone')));
select wf.start('undoer') as i \gset
select work(), play_take(:driver);
select play_report(play_id(child(:i), 'x'), 'response', '{"value": 1}'), play_take(:driver);
select wf.abort(jsonb_build_object('instance', :i), p_undo => true), work();
select play_fail_all(:driver, child(:i)), play_on(:driver), work();
select is((select count(*) from wf.process where instance_id = child(:i) and kind = 'undo'), 1::bigint, 'abort --undo undoes what was noted in the instances that it has started');
select is(state(:i) || ', ' || state(child(:i)), 'ABORTED aborted, ABORTED aborted', 'parent and child have both ended after abort --undo');

-- D40 to D42, D44: a forall of starts
select play_install('fan', jsonb_build_array(jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'n', 'in', '["const", [1, 2, 3, 4, 5]]'::jsonb, 'max', 2, 'tolerate', '1'::jsonb,
                                             'body', start_task('a', 'bad'))));
select wf.start('fan') as i \gset
select work();
select is((select count(*) from wf.instance where parent_id = :i), 2::bigint, 'D40: no more instances run at a time than max says');
select play_take(:driver);
select play_fail_all(:driver, (select min(id) from wf.instance where parent_id = :i)), work();
select wf.raise(jsonb_build_object('instance', :i)), work();
select is((select count(*) from wf.instance where parent_id = :i), 3::bigint, 'D42: the next one starts when one has ended');
select play_report(play_id((select min(id) from wf.instance where parent_id = :i and state = 'RUNNING'), 'x'), 'response', '{"value": 1}');
do $$ begin for k in 1 .. 5 loop perform play_on((select max(id) from wf.driver where state = 'live')), work(); end loop; end; $$;
select is(state(:i), 'END warning', 'D44: a child that has failed is tolerated');
select sound('after a fan');

-- depth, rights, quotas
select play_install('deeper', jsonb_build_array(start_task('a', 'deeper')));
select wf.setting_set('child_depth', 2);
select wf.start('deeper') as i \gset
select work();
select is((select max(depth) from wf.instance), 2, 'instances are child_depth deep at most');
select is((select p.error ->> 'kind' || ': ' || (p.error ->> 'message') from wf.process p where p.error is not null and p.instance_id > :i order by p.id desc limit 1),
          'limit: the instance would be 3 deep below the topmost one, more than the 2 allowed (setting child_depth)', 'the next one is refused');
select wf.abort(jsonb_build_object('instance', :i)), work();
select is((select count(*) from wf.instance where id >= :i and ended_at is null), 0::bigint, 'an abort goes down all of them');
-- started(STATEMENT): what child_app is answered, whose clock is the server's
create function started(p_sql text) returns text
language plpgsql as $$
declare v_answer text := play_as('child_app', p_sql);
begin
    update wf.work w set due_at = wf.now() where w.due_at > wf.now();
    return v_answer;
end;
$$;
create role child_app login in role wf_app;
create role child_other login;
select wf.workflow_grant_remove('wf_app'), wf.workflow_grant_set('child_app', '{one,after,keyed,other}');
select started('select wf.start(''one'')')::bigint as i \gset
select work();
select is(failure(:i), 'FAILED rejected: login child_app may not start workflow echo: none of its roles has a grant for it', 'a child is checked for the login that started its parent');
select wf.workflow_grant_set('child_app', '{one,echo,after}'), wf.quota_set('child_app', p_running => 1);
select wf.retry(jsonb_build_object('instance', :i)), work();
select started('select wf.start(''one'')') as refused \gset
select is(:'refused'::text, 'WF016 the quota of role child_app is 1 under way at a time: 0 left, 1 asked for by login child_app', 'a child counts for the quota of the login that started its parent');
select wf.abort('{"global": true}'), work();
select started('select wf.start(''one'')')::bigint as i \gset
select work();
select is(failure(:i), 'FAILED limit: the quota of role child_app is 1 under way at a time: 0 left, 1 asked for by login child_app', 'a quota that is spent refuses what an instance starts');
select wf.quota_set('child_app', p_priority => 3), wf.abort('{"global": true}'), work();
select play_install('one', jsonb_build_array(start_task('a', 'echo', '{"priority": 4}')));
select started('select wf.start(''one'')')::bigint as i \gset
select work();
select is(failure(:i), 'FAILED rejected: login child_app may not start an instance with priority 4: the quota of role child_app allows at most 3', 'the priority of a child is checked against the quota');
select wf.quota_remove('child_app');
select wf.start('empty') as hidden \gset
select started(format('select wf.start(''after'', ''{"n": %s}'')', :hidden))::bigint as i \gset
select work();
select is(failure(:i), format('FAILED input: there is no instance %s, or the login that started this one may not see it', :hidden), 'nobody waits for an instance of a workflow that he may neither see nor start');
grant wf_viewer to child_app;
select wf.retry(jsonb_build_object('instance', :i)), work();
select is(play_state(:i, 'a'), 'END', 'a viewer does');
select is(wf._starter_login(null, 'child_other as wf_app'), 'child_other', 'an instance of before version 74 has its login in started_by');
select wf.abort('{"global": true}'), work();

-- suspended; purged
select wf.start('stops') as i \gset
select wf.suspend(jsonb_build_object('instance', :i), 'a break');
select work();
select is(child(:i), null::bigint, 'a suspended instance starts nothing');
select results_eq(format('select reason, detail from wf.explain(%s, %s)', :i, play_id(:i, 'a')), format('values (%L, %L)', 'suspended', format('its instance was suspended by %s: a break', session_user)), 'explain says why');
select is((select s.reason from wf.stuck() s where s.instance_id = :i), 'suspended', 'stuck says that the instance is suspended');
select sound('while it is suspended');
select wf.resume(jsonb_build_object('instance', :i)), work();
select isnt(child(:i), null::bigint, 'when it is resumed, it does');
select play_install('tidies', jsonb_build_array(jsonb_build_object('kind', 'try', 'line', 1, 'body', play_task('t.Do', 'b'), 'finally', jsonb_build_object('kind', 'finally', 'line', 2, 'body', start_task('a', 'echo')))));
select wf.start('tidies') as j \gset
select play_take(:driver), play_report(play_id(:j, 'b')), wf.suspend(jsonb_build_object('instance', :j)), work();
select is(child(:j), null::bigint, 'a finally of a suspended instance starts nothing, either');
select wf.abort(jsonb_build_object('instance', :j));
select sound('a suspended instance is aborted that waits in its finally');
select work();
select isnt(child(:j), null::bigint, 'the finally of a suspended instance goes on during the abort');
select play_take(:driver), play_report(play_id(child(:j), 'e'), 'response', '{"value": 1}'), work();
select is(state(:j), 'ABORTED aborted', 'the instance has ended when the child of its finally has ended');
select play_take(:driver);
select play_report(play_id(child(:i), 'e'), 'response', '{"value": 1}'), child(:i) as c \gset
select wf.purge(jsonb_build_object('instance', :c));
select is(play_state(:i, 'a'), 'WAITING', 'the instance is purged before the task has seen its end');
select matches((select e.detail from wf.explain(:i, play_id(:i, 'a')) e where e.reason = 'child'), 'which was purged$', 'explain says so');
select work();
select matches(failure(:i), '^FAILED lost: instance [0-9]+ was purged before this task had read its result$', 'a task whose instance was purged is lost');
select wf.abort('{"global": true}');

-- D45, D46: later
select set_config('wf.now', '2026-03-02 06:00:00+00', true);
select wf.start('echo', p_at => '2026-03-02 08:00:00+01', p_before => '2026-03-02 09:00:00+01') as i \gset
select is(state(:i), 'SCHEDULED', 'D45: an instance is started for a later time');
select is_empty(format('select from wf.process where instance_id = %s', :i), 'nothing of it has begun');
select results_eq(format('select reason, detail from wf.explain(%s)', :i), $$values ('time', 'begins at 2026-03-02 07:00:00+00, or not at all if it has not begun before 2026-03-02 08:00:00+00')$$, 'explain says when it begins');
select is((select progress from wf.instance_v where instance_id = :i), 0.00, 'nothing of it is done');
select sound('while it is scheduled');
select play_later('59 min'), work();
select is(state(:i), 'SCHEDULED', 'an instance for later does not begin before its time');
select play_later('1 min'), work();
select is(state(:i), 'RUNNING', 'D45: an instance for later begins at its time');
select is((select started_at from wf.instance where id = :i), '2026-03-02 07:00:00+00'::timestamptz, 'started_at of an instance for later is the moment at which it began');
select play_on(:driver);
select is(state(:i), 'END success', 'an instance for later ends');
select wf.start('echo', p_at => wf.now() + interval '1 h', p_before => wf.now() + interval '2 h') as i \gset
select wf.start('echo', p_at => wf.now() + interval '1 h') as j \gset
select play_later('3 hours'), work();
select is(state(:i) || ' ' || (select error ->> 'message' from wf.instance where id = :i), 'ABORTED error it could not begin before 2026-03-02 09:00:00+00', 'D46: one whose last moment has passed does not begin any more');
select is(state(:j), 'RUNNING', 'one without such a moment begins late');
select is(state(wf.start('echo', p_at => wf.now() - interval '1 h')), 'RUNNING', 'a time that is past means at once');
select is(state(wf.start('echo', p_before => wf.now() + interval '1 h')), 'RUNNING', 'a start without a time means at once');
select throws_ok($$select wf.start('echo', p_before => wf.now())$$, 'WF002', 'the instance has to begin before 2026-03-02 10:00:00+00, which is not after now', 'a last moment has to be after now');
select throws_ok($$select wf.start('echo', p_at => wf.now() + interval '2 h', p_before => wf.now() + interval '1 h')$$, 'WF002', 'the instance has to begin before 2026-03-02 11:00:00+00, which is not after 2026-03-02 12:00:00+00', 'a start time has to be before the last moment');
select throws_ok($$select wf.start('echo', p_at => 'infinity')$$, 'WF002', 'an instance cannot begin at infinity, before any time', 'infinity is no time to begin');
select wf.start('echo', p_at => wf.now() + interval '1 day', p_key => 'later') as i \gset
select is(wf.start('echo', p_at => wf.now() + interval '1 day', p_key => 'later'), :i::bigint, 'a key knows its time');
select throws_ok($$select wf.start('echo', p_key => 'later')$$, 'WF007', 'key later of workflow echo is known with another payload', 'another time is another payload');
select results_eq(format('select answer, detail from wf.suspend(''{"instance": %s}'')', :i), $$values ('refused', 'SCHEDULED: only RUNNING can be suspended')$$, 'nothing of it can be held');
select results_eq(format('select answer, detail from wf.abort(''{"instance": %s}'')', :i), $$values ('done', 'SCHEDULED -> ABORTED')$$, 'an instance for later can be aborted before its time');
select wf.start('echo', p_at => wf.now() + interval '1 day') as j \gset
select results_eq(format('select answer, detail from wf.halt(''{"instance": %s}'')', :j), $$values ('done', 'SCHEDULED -> ABORTED')$$, 'an instance for later can be halted before its time');
select is(state(:i) || ' ' || state(:j) || ' ' || (select count(*) from wf.work), 'ABORTED aborted ABORTED aborted 0', 'no work of it is left');
select wf.purge(jsonb_build_object('instance', :i));
select is(state(:i), null, 'an instance that was aborted before its time can be purged');
select sound('after starts for later');
select wf.abort('{"global": true}');

-- simulated: nothing is started
select count(*) as before from wf.instance \gset
select play_install('one', jsonb_build_array(start_task('a', 'echo', '{}', '{"timeout": {"runtime": "PT10S"}}'), play_task('t.Do', 'b', '{"x": ["get", ["var", "a"], "result"]}')));
select results_eq($$select event, state from wf.simulate('one') where label = 't.Start as a'$$, $$values ('begin', 'WAITING'), ('success', 'END')$$, 'a simulated task waits for an instance, which ends');
select results_eq($$select event, state from wf.simulate('one', p_script => '[{"task": "t.Start", "outcome": {"error": {"kind": "child", "message": "no"}}}]') where label = 't.Start as a' and event <> 'waits'$$,
                  $$values ('begin', 'WAITING'), ('fail', 'FAILED')$$, 'the script may say that it fails');
select results_eq($$select event, state from wf.simulate('one', p_script => '[{"task": "t.Start", "outcome": "never"}]') where label = 't.Start as a' and event <> 'waits'$$,
                  $$values ('begin', 'WAITING'), ('timeout', 'CANCEL_REQUESTED'), ('cancelled', 'FAILED')$$, 'a script may say that a child does not end, and its time is over');
select is((select count(*) from wf.instance), :before::bigint, 'no instance was started for that');

-- an error of the engine
select wf.start('stops') as i \gset
alter function wf._start_all(text, jsonb[], int, wf.starter[]) rename to _started_all;
do $$ begin for k in 1 .. 5 loop perform play_later('70 s'), work(); end loop; end; $$;
select matches(failure(:i), '^FAILED engine: it was tried 3 times: ', 'a start that raises an error again and again is set aside: its task has failed');
alter function wf._started_all(text, jsonb[], int, wf.starter[]) rename to _start_all;
select wf.retry(jsonb_build_object('instance', :i)), work();
select is(state(child(:i)), 'RUNNING', 'when that is mended, an operator''s retry starts it');
select sound('after an error of the engine');

select * from finish();
rollback;
