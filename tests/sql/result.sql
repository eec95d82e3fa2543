-- result.sql - how an instance has ended, for those who have started it.
begin;
\ir helper/play.sql
select no_plan();
select play_driver() as driver \gset
create function work() returns void
language plpgsql as $$ begin while exists (select from wf.work w where w.due_at <= wf.now() and not w.aside) loop perform wf.work(); end loop; end; $$;
-- shown(INSTANCE): what result says
create function shown(p_instance bigint) returns text
language sql as $$ select format('%s %s %s %s %s', r.state, r.result, r.output, r.error ->> 'kind', r.ended_at is not null) from wf.result(p_instance) r; $$;
select play_install('give', jsonb_build_array('{"kind": "return", "line": 1, "value": {"n": 7}, "reads": {}}'::jsonb));
select play_install('try', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"on_failure": "fail"}')));

select wf.start('try') as i \gset
select is(shown(:i), 'RUNNING    f', 'an instance under way has neither result nor end');
select play_take(:driver);
select play_fail(play_id(:i, 'a'));
select is(shown(:i), 'ABORTED error  http t', 'the result of a failed instance has its error');
select is(shown(wf.start('give')), 'END success {"n": 7}  t', 'the result of an ended instance has its output');
select wf.start('try') as aborted \gset
select wf.abort(jsonb_build_object('instance', :aborted));
select is(shown(:aborted), 'ABORTED aborted   t', 'the result of an aborted instance says so');
select throws_ok('select * from wf.result(1000000)', 'WF003', format('there is no instance 1000000, or login %I may not see it', session_user), 'an unknown instance has no result');
select throws_ok('select * from wf.result(null)', 'WF003', format('there is no instance null, or login %I may not see it', session_user), 'none');

-- who may see it
create role app_all login; create role app_try login; create role nobody_at_all login;
grant wf_app to app_all, app_try;
select wf.workflow_grant_set('wf_app', '{give}'), wf.workflow_grant_set('app_try', '{try}');
select wf.start('give') as give \gset
select is(play_as('app_all', format('select state from wf.result(%s)', :give)), 'END', 'an application reads the result of a workflow that it may start');
select is(play_as('app_all', format('select state from wf.result(%s)', :i)), format('WF003 there is no instance %s, or login app_all may not see it', :i), 'an application does not read the result of another workflow');
select is(play_as('app_try', format('select state from wf.result(%s)', :i)), 'ABORTED', 'with the grant it does');
select is(play_as('app_all', format('select wf.notify_end(%s)', :i)), format('WF003 there is no instance %s, or login app_all may not see it', :i), 'an application is not notified of another workflow');
select is(play_as('nobody_at_all', format('select state from wf.result(%s)', :give)), '42501 permission denied for schema wf', 'a stranger has no right at all');

-- a notification
select wf.start('try') as heard \gset
select wf.notify_end(:heard);
select is((select count(*) from wf.end_listener), 0::bigint, 'a request to be notified is work');
select work();
select is((select array_agg(e.instance_id) from wf.end_listener e), array[:heard::bigint], 'the instance to listen to is noted');
select is((select count(*) from wf.work w where w.kind = 'listen'), 0::bigint, 'the work of the request to be notified is done');
select play_take(:driver);
select play_report(play_id(:heard, 'a'), 'response', '{}');
select is(shown(:heard), 'END success   t', 'the instance ends');
select is((select count(*) from wf.end_listener), 0::bigint, 'the note goes with the notification');
select wf.notify_end(:heard);
select work();
select is((select count(*) from wf.end_listener), 0::bigint, 'of an instance that has ended the notification comes at once');
select throws_matching('select wf.notify_end(1000000)', 'there is no instance 1000000', 'none for an instance that there is not');
select is_empty('select * from wf.fsck()', 'fsck finds its rows sound');

-- waiting
select throws_ok(format('call wf.wait(%s, ''-1 s'')', :i), 'WF002', 'wf.wait cannot wait for -00:00:01', 'a negative timeout is refused');
select throws_ok(format('call wf.wait(%s, null)', :i), 'WF002', 'wf.wait cannot wait for null', 'no time');
select throws_ok(format('call wf.wait(%s)', :i), '2D000', 'invalid transaction termination', 'nobody waits in a transaction');

select * from finish();
rollback;
