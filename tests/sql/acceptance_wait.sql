-- acceptance_wait.sql - cases from the tests of the ancestors about what waits, begins
-- later, comes again and starts others, as in acceptance.sql.
begin;
\ir helper/play.sql
select no_plan();
select set_config('wf.now', '2030-01-01 00:00:00+00', true);
select play_driver() as driver \gset

insert into play_type (name, spec) values
    ('t.Start', '{"name": "t.Start", "machine": "wait", "wait": "child", "params": [{"name": "workflow", "type": "string"}, {"name": "params", "type": "json"}]}'),
    ('t.Await', '{"name": "t.Await", "machine": "wait", "wait": "instance", "params": [{"name": "id", "type": "int"}, {"name": "accept", "type": "json"}]}'),
    ('t.Input', '{"name": "t.Input", "machine": "wait", "wait": "input", "params": [{"name": "title", "type": "string"}, {"name": "form", "type": "json"}]}');
create function ends(p_instance bigint) returns text
language sql as $$ select concat_ws(' ', i.state, i.result) || coalesce(': ' || (i.error ->> 'kind') || ', ' || (i.error ->> 'message'), '') from wf.instance i where i.id = p_instance; $$;
create function failure(p_instance bigint, p_name text) returns text
language sql as $$ select concat_ws(' ', p.state, p.error ->> 'kind', p.error ->> 'message') from wf.process p where p.id = play_id(p_instance, p_name); $$;
create function target(p_instance bigint) returns jsonb language sql as $$ select jsonb_build_object('instance', p_instance); $$;
create function work_on() returns void language plpgsql as $$ begin while wf.work() is not null loop null; end loop; end; $$;
create function children(p_instance bigint) returns text
language sql as $$ select string_agg(ends(i.id), ', ' order by i.id) from wf.instance i where i.parent_id = p_instance; $$;
create function await_task(p_as text, p_id jsonb, p_accept jsonb default '["list", "success", "warning"]') returns jsonb
language sql as $$ select play_task('t.Await', p_as, jsonb_build_object('id', p_id, 'accept', p_accept)); $$;

select play_install('step', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"on_failure": "fail"}')));

-- T-D13, D45 to D47: a start for later. Planning is the start's transaction, so no plan is ever left half made
select wf.start('step', p_at => '2030-01-01 01:00:00+00') as i \gset
select is(ends(:i) || ' ' || (select progress from wf.instance_v where instance_id = :i), 'SCHEDULED 0.00', 'T-D13: the instance is SCHEDULED, and no task has begun');
select play_later('1 hour'), work_on();
select is(ends(:i), 'RUNNING', 'T-D13: the instance begins at its time');
select wf.start('step', p_at => wf.now() + interval '1 hour') as i \gset
select wf.abort(target(:i), 'not today');
select is(ends(:i) || ' ' || (select count(*) from wf.work where instance_id = :i), 'ABORTED aborted 0', 'T-D13: an instance that is aborted before its time leaves no work');
select is((select reason from wf.event where instance_id = :i and event = 'abort'), 'not today', 'T-D13: the history says so');
select wf.start('step', p_at => wf.now() + interval '1 hour', p_before => wf.now() + interval '2 hours') as i \gset
select play_later('3 hours'), work_on();
select is(ends(:i), 'ABORTED error: timeout, it could not begin before 2030-01-01 03:00:00+00', 'T-D13: an instance does not begin after its last moment');
savepoint planning;
select wf.start('step', p_at => wf.now() + interval '1 hour') as j \gset
rollback to savepoint planning;
select is((select count(*) from wf.instance where id = :j) + (select count(*) from wf.work where instance_id = :j), 0::bigint, 'D47: of a start that did not come to its end nothing is there');
select is((select count(*) from wf.fsck()), 0::bigint, 'D47: fsck finds nothing to recover after a start that was rolled back');

-- T-D15, D48: one instance after others
select play_install('after', jsonb_build_array(await_task('w', '["var", "n"]'), play_task('t.Do', 'b')), '[{"name": "n", "type": "int"}]');
select play_install('after_both', jsonb_build_array(play_par(await_task('w', '["var", "n"]'), await_task('v', '["var", "m"]')), play_task('t.Do', 'b')), '[{"name": "n", "type": "int"}, {"name": "m", "type": "int"}]');
select play_install('after_all', jsonb_build_array(await_task('w', '["var", "n"]', '["list", "success", "aborted"]'), play_task('t.Do', 'b')), '[{"name": "n", "type": "int"}]');
select wf.start('step') as one, wf.start('step') as two \gset
select wf.start('after', jsonb_build_object('n', :one)) as i, wf.start('after_both', jsonb_build_object('n', :one, 'm', :two)) as j \gset
select play_take(:driver), work_on();
select is(play_state(:i, 'w'), 'WAITING', 'T-D15: the second waits while the first runs');
select play_report(play_id(:one, 'a')), work_on();
select is(play_state(:i, 'w') || ' ' || play_state(:i, 'b'), 'END INIT', 'T-D15: the second instance goes on when the first has ended');
select is(concat_ws(' ', play_state(:j, 'w'), play_state(:j, 'v'), play_state(:j, 'b')), 'END WAITING', 'T-D15: after two it waits for both');
select play_report(play_id(:two, 'a')), work_on();
select is(play_state(:j, 'b'), 'INIT', 'T-D15: an instance that waits for two goes on when both have ended');
select wf.start('step') as one, wf.start('step') as two \gset
select wf.start('after', jsonb_build_object('n', :one)) as i, wf.start('after_both', jsonb_build_object('n', :one, 'm', :two)) as j, wf.start('after_all', jsonb_build_object('n', :two)) as k \gset
select play_take(:driver), work_on();
select play_fail(play_id(:one, 'a')), work_on();
select is(failure(:i, 'w'), format('FAILED child instance %s of workflow step has ended with error: it broke', :one), 'T-D15: the first fails: so does what comes after it, and its error names it');
select is(failure(:j, 'w'), format('FAILED child instance %s of workflow step has ended with error: it broke', :one), 'T-D15: one of two fails: the same');
select wf.halt(target(:two)), work_on();
select is(play_state(:k, 'w') || ' ' || play_state(:k, 'b'), 'END INIT', 'T-D15: a halted instance is enough for a task that accepts aborted');
select wf.halt(target(i.id)) from wf.instance i where i.ended_at is null;
select work_on();

-- T-D21, D38, D39, D43: a parent and its children. A child tells of its end by itself: nobody counts children
select play_install('parent', jsonb_build_array(play_forall('x', '[1, 2]', play_task('t.Start', 'c', '{"workflow": "step", "params": {}}'))));
select wf.start('parent') as i \gset
select work_on(), play_take(:driver);
select is(children(:i), 'RUNNING, RUNNING', 'T-D21: two children run');
select is((select count(*) from wf.work), 0::bigint, 'D43: nothing looks after them meanwhile');
select max(c.id) filter (where c.id < m.id) as first, max(m.id) as second from wf.instance c, (select max(id) as id from wf.instance where parent_id = :i) m where c.parent_id = :i \gset
select play_fail(play_id(:first, 'a')), work_on();
select is((select string_agg(p.state, ' ' order by p.index) from wf.process p where p.instance_id = :i and p.bind = 'c'), 'FAILED WAITING', 'T-D21: a child fails: the task that has started it does, and waits for a person');
select is(ends(:i), 'RUNNING', 'T-D21: the parent stays');
select wf.retry(target(:i)), work_on(), play_take(:driver);
select is(children(:i), 'ABORTED error: http, it broke, RUNNING, RUNNING', 'T-D21: a retry starts a child again, and lets the others be');
select play_report(play_id(c.id, 'a')) from wf.instance c where c.parent_id = :i and c.ended_at is null;
select work_on(), play_on(:driver);
select is(ends(:i), 'END success', 'T-D21: when the children have ended well, so has the parent');
select wf.start('parent') as i \gset
select work_on();
select wf.cancel(target(:i));
select work_on();
select is(children(:i), 'ABORTED aborted, ABORTED aborted', 'T-D21: a cancel reaches every child');
select is((select string_agg(distinct concat_ws(' ', p.state, p.error ->> 'kind'), ', ') from wf.process p where p.instance_id = :i and p.bind = 'c'), 'FAILED cancelled', 'T-D21: when they have stopped, so have the tasks');
select wf.abort(target(:i)), work_on();
select wf.start('parent') as i \gset
select work_on();
select wf.abort(target(:i));
select work_on();
select is(children(:i) || ', ' || ends(:i), 'ABORTED aborted, ABORTED aborted, ABORTED aborted', 'T-D21: an abort reaches every child');

-- D41: starts spread over time, in a window: a rate on the tasks that start, and a wait at most
select play_install('spread', jsonb_build_array(jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'x', 'in', '["const", [1, 2, 3, 4]]'::jsonb, 'tolerate', '4'::jsonb,
    'body', play_seq(play_task('t.Do', 'r', '{}', '{"rate": {"limit": 1, "per": "PT10S", "name": "spread"}, "timeout": {"wait": "PT25S"}}'), play_task('t.Start', 'c', '{"workflow": "step", "params": {}}')))));
select wf.start('spread') as i \gset
do $$ begin for k in 1 .. 6 loop perform play_on((select max(id) from wf.driver), 10), work_on(), play_later('10 s'); end loop; end; $$;
select is((select string_agg(to_char(c.started_at, 'SS'), ' ' order by c.id) from wf.instance c where c.parent_id = :i), '00 10 20', 'D41: the instances start one after the other');
select is((select count(*) from wf.process p where p.instance_id = :i and p.bind = 'r' and p.error ->> 'kind' = 'timeout'), 1::bigint, 'D41: a task that cannot begin within the window fails with timeout');

-- T-D27, D49, D50: what comes again
select wf.schedule_set('daily', 'step', p_cron => '0 6 * * *', p_count => 2);
select is((select next_at from wf.schedule_v where name = 'daily'), '2030-01-01 06:00:00+00'::timestamptz, 'T-D27: the next time is that of the cron expression');
select wf.schedule_pause('daily');
select play_later('30 hours'), work_on();
select is((select count(*) from wf.firing_v where schedule = 'daily'), 0::bigint, 'T-D27: while it is paused nothing fires');
select wf.schedule_resume('daily');
select ok((select next_at > wf.now() from wf.schedule_v where name = 'daily'), 'T-D27: resumed with a time that is past, it takes the next one to come');
select play_later('24 hours'), work_on(), play_later('24 hours'), work_on();
select is((select concat_ws(' ', state, next_at) from wf.schedule_v where name = 'daily'), 'ended', 'T-D27: when it has fired as often as it should there is no next time');
select wf.schedule_set('short', 'step', p_cron => '0 6 * * *', p_end_at => wf.now() + interval '10 min');
select is((select next_at from wf.schedule_v where name = 'short'), null, 'T-D27: a schedule that ends before its next time has no next time');

-- T-O3, O9: a person is asked between two steps
select play_install('ask', jsonb_build_array(play_task('t.Do', 'a'), play_task('t.Input', 'q', '{"title": "Your name?", "form": {"name": {"type": "string"}}}'), play_task('t.Do', 'b')));
select wf.start('ask') as i \gset
select play_on(:driver);
select is(play_state(:i, 'q') || ' ' || (select count(*) from wf.input where instance_id = :i), 'WAITING 1', 'T-O3: the task waits, with one question');
select wf.answer((select max(id) from wf.input), '{"name": "Ann"}');
select work_on();
select is((select output::text from wf.process where id = play_id(:i, 'q')) || ' ' || play_state(:i, 'b'), '{"name": "Ann"} INIT', 'T-O3: the answer is the output, and the next step begins');
select is((select count(*) from play_request r where r.instance_id = :i and r.process_id = play_id(:i, 'a') and r.kind = 'run'), 1::bigint, 'T-O3: the step before the question is not done again');

-- T-O23: a start that is refused, and schedules
select wf.install('', jsonb_build_object('format', 1, 'file', 'x.wf', 'task_types', '{}'::jsonb, 'workflows', jsonb_build_array(jsonb_build_object('name', 'small', 'line', 1,
    'params', '[{"name": "n", "type": "int"}]'::jsonb, 'steps', '[{"kind": "return", "line": 1, "value": ["var", "n"], "reads": {"n": 0}}]'::jsonb,
    'policies', '{"start_if": {"condition": ["lt", ["var", "n"], 10], "message": "too many"}}'::jsonb))));
select throws_ok($$select wf.start('small', '{"n": 11}')$$, 'WF017', 'too many', 'T-O23: a start is refused with the message of the workflow');
select is((select count(*) from wf.instance_v where workflow = 'small'), 0::bigint, 'T-O23: a refused start leaves no instance');
select wf.schedule_set('many', 'small', p_every => '1 hour', p_params => '{"n": 11}');
select wf.schedule_set('few', 'small', p_every => '1 hour', p_params => '{"n": 1}');
select play_later('1 hour'), work_on();
select is((select string_agg(concat_ws(' ', name, last_state, last_reason), ', ' order by name) from wf.schedule_v where name in ('few', 'many')), 'few started, many refused too many', 'T-O23: a schedule passes over the time, and others go on');
select throws_ok($$select wf.schedule_set('bad', 'small', p_every => '1 hour', p_params => '{"n": 1, "m": 2}')$$, 'WF002', 'there is no parameter m', 'T-O23: parameters that do not fit are refused when it is set');

-- T-O27: a bad cron expression
select throws_like($$select wf.schedule_set('bad', 'step', p_cron => '61 25 * * *')$$, '%61%', 'T-O27: a bad expression is refused, and its field named');

-- D33, D34: what runs outside is polled; the first cancel asks it, the second one takes no for an answer
select play_install('job', jsonb_build_array(play_task('t.Job', 'j')));
select wf.start('job') as i \gset
select play_take(:driver), play_report(play_id(:i, 'j'), 'ack'), play_report(play_id(:i, 'j'), 'response', '{"id": 1}');
select is(play_take(:driver), 0::bigint, 'D33: between two polls nothing is with a driver');
select play_later('5 s');
select is(play_take(:driver), 1::bigint, 'D33: a task outside is polled again when it is due');
select play_report(play_id(:i, 'j'), 'response', '{"state": "runs"}');
select wf.cancel(target(:i));
select is(play_state(:i, 'j'), 'CANCEL_REQUESTED', 'D34: a cancel asks what runs outside to stop');
select wf.halt(target(:i)), work_on();
select is(ends(:i), 'ABORTED aborted', 'D34: a halt waits for nothing');

-- O10: a group of steps is a block with a title
select play_install('grouped', jsonb_build_array(play_seq(play_task('t.Do', 'a'), play_task('t.Input', 'q', '{"title": "Well?", "form": {"ok": {"type": "boolean"}}}'), play_task('t.Do', 'b')) || '{"policies": {"title": "all of it"}}'));
select wf.start('grouped') as i \gset
select play_on(:driver);
select is((select string_agg(label, ', ') from wf.graph(p_instance => :i) where label = 'all of it'), 'all of it', 'O10: a block with a title stands for its steps');
select wf.answer((select max(id) from wf.input), '{"ok": true}');
select work_on();
select is(play_state(:i, 'b'), 'INIT', 'O10: questions may stand in it, and it goes on in its middle');

select is_empty('select * from wf.fsck()', 'fsck finds its rows sound');
select * from finish();
rollback;
