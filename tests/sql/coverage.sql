-- coverage.sql - every row of wf.transition is played, as drivers, operators and
-- time do it.
begin;
\ir helper/play.sql
select no_plan();

insert into play_type (name, spec)
select s ->> 'name', s
  from unnest(array[
    '{"name": "t.Alarm", "machine": "wait", "wait": "fail", "params": [{"name": "msg", "type": "string"}]}',
    '{"name": "t.Start", "machine": "wait", "wait": "child", "params": [{"name": "workflow", "type": "json"}]}'
  ]::jsonb[]) s;

-- a workflow for each kind of leaf, and one of everything that is no leaf
select play_install('sync', jsonb_build_array(play_task('t.Do', 'a')));
select play_install('sync_again', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"idempotent": true}')));
select play_install('async', jsonb_build_array(play_task('t.Job', 'a')));
select play_install('async_again', jsonb_build_array(play_task('t.Job', 'a', '{}', '{"idempotent": true}')));
select play_install('sleep', jsonb_build_array(play_task('t.Sleep', 'a', '{"duration": "PT5S"}')));
select play_install('alarm', jsonb_build_array(play_task('t.Alarm', 'a', '{"msg": "no"}')));
select play_install('child', jsonb_build_array(play_task('t.Start', 'a', '{"workflow": "sync"}')));
select play_install('orphan', jsonb_build_array(play_task('t.Start', 'a', '{"workflow": "no_such"}')));
select play_install(n, jsonb_build_array(play_task(t, 'a', a::jsonb, '{"retry": {"attempts": 3, "delay": "PT5S", "on": ["list", "input", "failed", "http"]}}')))
  from (values ('sync_retried', 't.Do', '{}'), ('async_retried', 't.Job', '{}'), ('alarm_retried', 't.Alarm', '{"msg": "no"}'), ('orphan_retried', 't.Start', '{"workflow": "no_such"}')) w (n, t, a);
select play_install(n, jsonb_build_array(play_task(t, 'a', a::jsonb, '{"timeout": {"runtime": "PT8S", "wait": "PT5S"}}')))
  from (values ('sync_timed', 't.Do', '{}'), ('async_timed', 't.Job', '{}'), ('sleep_timed', 't.Sleep', '{"duration": "PT20S"}'), ('child_timed', 't.Start', '{"workflow": "sync"}')) w (n, t, a);
select play_install(n, jsonb_build_array(play_task(t, 'a', a::jsonb, '{"retry": {"attempts": 3, "delay": "PT60S", "on": ["list", "input", "failed"]}, "timeout": {"deadline": "PT5S"}}')))
  from (values ('alarm_late', 't.Alarm', '{"msg": "no"}'), ('orphan_late', 't.Start', '{"workflow": "no_such"}')) w (n, t, a);
select play_install('bad_sync', jsonb_build_array(play_task('t.Do', 'a', '{"x": ["div", 1, ["var", "n"]]}')), '[{"name": "n", "type": "int", "default": 0}]');
-- the group's max cannot be used, and the arguments need not be evaluated
select play_install('bad_policy', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"group": {"name": "bad", "max": ["var", "n"]}}') || '{"reads": {"n": 0}}'),
                    '[{"name": "n", "type": "json", "default": false}]');
select play_install('bad_policies', jsonb_build_array(play_task('t.Do', 'a', '{"x": ["var", "n"]}', '{"group": {"name": ["text", "g", ["get", ["var", "n"], "x"]]}}')),
                    '[{"name": "n", "type": "int", "default": 1}]');
select play_install('bad_child', jsonb_build_array(play_task('t.Start', 'a', '{"workflow": ["get", ["var", "n"], "x"]}')), '[{"name": "n", "type": "int", "default": 0}]');
select play_install('bad_wait', jsonb_build_array(play_task('t.Sleep', 'a', '{"duration": ["text", "PT", ["get", ["var", "n"], "x"], "S"]}')), '[{"name": "n", "type": "int", "default": 0}]');
update play_type set spec = jsonb_set(spec, '{params}', '[{"name": "x", "type": "json"}]') where name = 't.Job';
select play_install('bad_async', jsonb_build_array(play_task('t.Job', 'a', '{"x": ["div", 1, ["var", "n"]]}')), '[{"name": "n", "type": "int", "default": 0}]');

-- step(DRIVER, INSTANCE, PROCESS, WHAT): what happens next; null if nothing is wrong.
create function step(p_driver bigint, p_instance bigint, p_process bigint, p_what text) returns bigint
language plpgsql as $$
declare
    v_process jsonb := jsonb_build_object('process', p_process);
begin
    case split_part(p_what, ':', 1)
        when 'take' then
            if play_take(p_driver) = 0 then raise exception 'there is nothing to take'; end if;
        when 'ack' then perform play_report(p_process, 'ack');
        when 'release' then perform play_report(p_process, 'release');
        when 'ok' then perform play_report(p_process, 'response', '{"id": 1, "state": "done"}');
        when 'runs' then perform play_report(p_process, 'response', '{"id": 1, "state": "runs"}');
        when 'bad' then perform play_report(p_process, 'response', '{"state": "bad"}');
        when 'fail' then perform play_fail(p_process);
        when 'later' then perform play_later('6 s');
        when 'poll' then perform play_take(p_driver, 0);
        when 'work' then while exists (select from wf.work w where w.due_at <= wf.now()) loop perform wf.work(); end loop;
        when 'end' then perform play_on(p_driver);
        when 'lose' then perform wf.leave(p_driver); return play_driver();
        when 'die' then perform play_later('31 s'), wf.tick(); return play_driver();
        when 'cancel' then perform wf.cancel(v_process);
        when 'retry' then perform wf.retry(v_process);
        when 'ignore' then perform wf.ignore(v_process);
        when 'skip' then perform wf.ignore(v_process, null, true);
        when 'resolve' then perform wf.resolve(v_process, '1');
        when 'raise' then perform wf.raise(v_process);
        when 'abort' then perform wf.abort(jsonb_build_object('instance', p_instance));
        when 'halt' then perform wf.halt(jsonb_build_object('instance', p_instance));
        when 'suspend' then perform wf.suspend(jsonb_build_object('instance', p_instance));
        when 'resume' then perform wf.resume(jsonb_build_object('instance', p_instance));
    end case;
    return p_driver;
end;
$$;

-- script(WORKFLOW, STEPS): plays the steps with a new instance; the moves that
-- its first task has made, then what became of the instance.
create function script(p_workflow text, p_steps text) returns text
language plpgsql as $$
declare
    v_driver bigint := play_driver();
    v_instance bigint := wf.start(p_workflow);
    v_process bigint := play_id(v_instance, 'a');
    v_step text;
begin
    foreach v_step in array string_to_array(p_steps, ' ') loop
        v_driver := step(v_driver, v_instance, v_process, v_step);
    end loop;
    return (select p.state || ' ' || i.state || coalesce(' ' || i.result, '')
              from wf.process p
              join wf.instance i on i.id = p.instance_id
             where p.instance_id = v_instance and p.id = v_process);
end;
$$;

-- sync
select is(script('sync', 'take ok'), 'END END success', 'a task ends');
select is(script('sync', 'take fail'), 'FAILED RUNNING', 'it fails');
select is(script('sync', 'take fail retry take ok'), 'END END success', 'and is retried');
select is(script('sync_retried', 'take fail later take ok'), 'END END success', 'its policy retries it when its time has come');
select is(script('sync_retried', 'take fail retry take ok'), 'END END success', 'an operator before it');
select is(script('sync', 'take fail ignore'), 'END END warning', 'or ignored');
select is(script('sync', 'take fail skip'), 'END END warning', 'or skipd');
select is(script('sync', 'take fail resolve'), 'END END success', 'or resolved');
select is(script('sync', 'take fail raise'), 'RAISED ABORTED error', 'or raised');
select is(script('sync', 'take fail abort'), 'ABORTED ABORTED aborted', 'or its instance is aborted');
select is(script('sync', 'cancel'), 'FAILED RUNNING', 'it is cancelled before it is taken');
select is(script('sync', 'abort'), 'ABORTED ABORTED aborted', 'or its instance is aborted');
select is(script('sync', 'take release take ok'), 'END END success', 'it is handed back');
select is(script('sync', 'take lose'), 'FAILED RUNNING', 'its driver is lost, and nobody knows');
select is(script('sync_again', 'take lose take ok'), 'END END success', 'but it may be repeated');
select is(script('sync', 'take cancel ok'), 'END END success', 'it is cancelled too late');
select is(script('sync', 'take cancel fail'), 'FAILED RUNNING', 'or in time');
select is(script('sync', 'take cancel release'), 'FAILED RUNNING', 'or handed back');
select is(script('sync', 'take cancel lose'), 'FAILED RUNNING', 'or its driver is lost');
select is(script('sync', 'take cancel abort ok'), 'ABORTED ABORTED aborted', 'or its instance is aborted meanwhile');
select is(script('sync', 'take abort ok'), 'ABORTED ABORTED aborted', 'its instance is aborted');
select is(script('sync', 'take abort fail'), 'ABORTED ABORTED aborted', 'so it is, if it fails');
select is(script('sync', 'take abort release'), 'ABORTED ABORTED aborted', 'or is handed back');
select is(script('sync', 'take abort lose'), 'ABORTED ABORTED aborted', 'or lost');
select is(script('sync', 'take halt'), 'ABORTED ABORTED aborted', 'or halted, and nobody waits for its driver');
select is(script('sync', 'take abort halt'), 'ABORTED ABORTED aborted', 'also when it was aborted before');
select is(script('sync', 'suspend halt'), 'ABORTED ABORTED aborted', 'or suspended');
select is(script('bad_sync', 'poll'), 'FAILED RUNNING', 'its arguments cannot be evaluated');
select is(script('bad_sync', 'retry'), 'FAILED RUNNING', 'nor a second time');
select is(script('bad_policy', 'retry'), 'FAILED RUNNING', 'its group''s max is no number: a retry does not forget the group');
select is(script('bad_policies', 'retry retry'), 'FAILED RUNNING', 'nor if its arguments were evaluated before');
select is(script('sync_timed', 'later poll'), 'FAILED RUNNING', 'it waited too long');
select is(script('sync_timed', 'take later later poll fail'), 'FAILED RUNNING', 'it ran too long');
select is(script('sync_timed', 'take later later poll ok'), 'END END success', 'but it has just ended');
select is_empty('select * from wf.fsck()', 'all is well with synchronous tasks');

-- async
select is(script('async', 'take ack runs later take runs later take ok take ok'), 'END END success', 'a task runs outside, is polled, ends and is released');
select is(script('async', 'take ack ok later take ok take ok'), 'END END success', 'its first response is no end, since start has no success when');
select is(script('async', 'take ack fail'), 'FAILED RUNNING', 'it cannot be started');
select is(script('async', 'take ack runs later take bad'), 'FAILED RUNNING', 'it fails');
select is(script('async', 'take ack runs later take fail later take fail later take fail'), 'FAILED RUNNING', 'it cannot be polled');
select is(script('async', 'take ack runs later take bad retry take ok take ack runs'), 'EXECUTING RUNNING', 'it is released before it is retried');
select is(script('async', 'take ack runs later take bad ignore take ok'), 'END END warning', 'or ignored');
select is(script('async', 'take ack runs later take bad skip take ok'), 'END END warning', 'or skipd');
select is(script('async', 'take ack runs later take bad resolve take ok'), 'END END success', 'or resolved');
select is(script('async', 'take ack runs later take bad raise take ok'), 'RAISED ABORTED error', 'or raised');
select is(script('async', 'take ack runs later take bad abort take ok'), 'ABORTED ABORTED aborted', 'or aborted');
select is(script('async', 'cancel'), 'FAILED RUNNING', 'it is cancelled before it is taken');
select is(script('async', 'abort'), 'ABORTED ABORTED aborted', 'or aborted');
select is(script('async', 'take cancel'), 'FAILED RUNNING', 'or before it is acknowledged');
select is(script('async', 'take abort'), 'ABORTED ABORTED aborted', 'or aborted then');
select is(script('async', 'take cancel retry take ack'), 'EXECUTING RUNNING', 'what is not held needs no release');
select is(script('async_retried', 'take ack runs later take bad take ok later take ack runs'), 'EXECUTING RUNNING', 'its policy retries it when it is released and its time has come');
select is(script('async_retried', 'take ack runs later take bad take ok retry take ack runs'), 'EXECUTING RUNNING', 'an operator before it');
select is(script('async', 'take release take ack'), 'EXECUTING RUNNING', 'it is handed back');
select is(script('async', 'take lose take ack'), 'EXECUTING RUNNING', 'lost before it was acknowledged, it is begun again');
select wf.setting_set('loss_limit', 1);
select is(script('async', 'take die'), 'FAILED RUNNING', 'unless too many drivers die with it');
select wf.setting_set('loss_limit', 5);
select is(script('async', 'take ack lose'), 'FAILED RUNNING', 'after that nobody knows');
select is(script('async_again', 'take ack lose poll'), 'INIT RUNNING', 'but it may be repeated');
select is(script('async_again', 'take ack lose take ack'), 'EXECUTING RUNNING', 'so another driver takes it');
select is(script('async', 'take ack runs later take lose take ok take ok'), 'END END success', 'under its handle any driver polls on');
select is(script('async', 'take ack cancel runs take ok'), 'FAILED RUNNING', 'it is cancelled while it starts');
select is(script('async', 'take ack cancel fail'), 'FAILED RUNNING', 'which fails');
select is(script('async', 'take ack cancel lose'), 'FAILED RUNNING', 'or its driver is lost');
select is(script('async', 'take ack runs cancel take ok'), 'FAILED RUNNING', 'it is cancelled while it runs');
select is(script('async', 'take ack runs later take cancel ok take ok'), 'END END success', 'but it has just ended');
select is(script('async', 'take ack runs later take cancel runs take ok'), 'FAILED RUNNING', 'or still runs');
select is(script('async', 'take ack runs later take cancel fail take ok'), 'FAILED RUNNING', 'or its poll fails');
select is(script('async', 'take ack runs later take cancel release take ok'), 'FAILED RUNNING', 'or its poll is handed back');
select is(script('async', 'take ack runs later take abort release take ok take ok'), 'ABORTED ABORTED aborted', 'so too when its instance is aborted');
select is(script('async', 'take ack runs cancel take lose take ok'), 'FAILED RUNNING', 'the cancel request is lost');
select is(script('async', 'take ack runs cancel take fail later take ok'), 'FAILED RUNNING', 'or fails');
select is(script('async', 'take ack runs cancel take fail later take fail later take fail'), 'FAILED RUNNING', 'but not for ever');
select is(script('async', 'take ack runs cancel abort'), 'ABORT_REQUESTED ABORTING', 'its instance is aborted while it is cancelled: no driver has it, and it is asked for its cancel request');
select is(script('async', 'take ack runs cancel abort take ok take ok'), 'ABORTED ABORTED aborted', 'its instance is aborted while it is cancelled');
select is(script('async', 'take ack runs cancel take abort ok take ok'), 'ABORTED ABORTED aborted', 'so too when the cancel request is out');
select is(script('async', 'take ack abort runs take ok take ok'), 'ABORTED ABORTED aborted', 'its instance is aborted while it starts');
select is(script('async', 'take ack abort fail'), 'ABORTED ABORTED aborted', 'which fails');
select is(script('async', 'take ack abort lose'), 'ABORTED ABORTED aborted', 'or its driver is lost');
select is(script('async', 'take ack runs abort take ok take ok'), 'ABORTED ABORTED aborted', 'while it runs');
select is(script('async', 'take ack runs later take abort ok take ok'), 'ABORTED ABORTED aborted', 'while it ends');
select is(script('async', 'take ack runs later take abort bad take ok'), 'ABORTED ABORTED aborted', 'while it fails');
select is(script('async', 'take ack runs abort take lose take ok take ok'), 'ABORTED ABORTED aborted', 'the cancel request is lost');
select is(script('async', 'take ack runs abort take fail later take ok take ok'), 'ABORTED ABORTED aborted', 'or fails');
select is(script('async', 'take ack runs later take ok take fail later take ok'), 'END END success', 'the cleanup request fails');
select is(script('async', 'take ack runs later take ok take lose take ok'), 'END END success', 'or is lost');
select is(script('async', 'take ack runs later take ok take fail later take fail later take fail'), 'END END success', 'but not for ever');
select is(script('async', 'take ack runs later take ok abort take ok'), 'ABORTED ABORTED aborted', 'or its instance is aborted then');
select is(script('async', 'take ack runs later take ok take abort ok'), 'ABORTED ABORTED aborted', 'or with the request out');
select is(script('async', 'take ack runs later take bad retry take fail later take ok take ack'), 'EXECUTING RUNNING', 'so too before a retry: failed');
select is(script('async', 'take ack runs later take bad retry take lose take ok take ack'), 'EXECUTING RUNNING', 'lost');
select is(script('async', 'take ack runs later take bad retry abort take ok'), 'ABORTED ABORTED aborted', 'aborted');
select is(script('async', 'take ack runs later take bad raise take fail later take ok'), 'RAISED ABORTED error', 'before an error is handed on: failed');
select is(script('async', 'take ack runs later take bad raise take lose take ok'), 'RAISED ABORTED error', 'lost');
select is(script('async', 'take ack runs later take bad raise abort take ok'), 'ABORTED ABORTED aborted', 'aborted');
select is(script('async', 'take ack runs later take bad abort take fail later take ok'), 'ABORTED ABORTED aborted', 'before it is aborted: failed');
select is(script('async', 'take ack runs later take bad abort take lose take ok'), 'ABORTED ABORTED aborted', 'lost');
select is(script('async', 'take ack runs halt'), 'ABORTED ABORTED aborted', 'halted, it is neither cancelled nor released');
select is(script('async', 'take ack runs later take bad raise halt'), 'ABORTED ABORTED aborted', 'nor before its error is handed on');
select is(script('bad_async', 'poll'), 'FAILED RUNNING', 'its arguments cannot be evaluated');
select is(script('async_timed', 'later poll'), 'FAILED RUNNING', 'it waited too long');
select is(script('async_timed', 'take later later poll'), 'FAILED RUNNING', 'it took too long before it was acknowledged');
select is(script('async_timed', 'take ack runs later later poll take ok'), 'FAILED RUNNING', 'it ran too long');
select is(script('async_timed', 'take ack runs later take later poll ok take ok'), 'END END success', 'but its last poll, which is out, says that it has ended');
select is_empty('select * from wf.fsck()', 'all is well with asynchronous tasks');

-- wait
select is(script('sleep', 'later poll'), 'END END success', 'a sleep ends');
select is(script('sleep', 'cancel'), 'FAILED RUNNING', 'it is cancelled');
select is(script('sleep', 'cancel retry later poll'), 'END END success', 'and retried');
select is(script('alarm_retried', 'later poll'), 'INIT RUNNING', 'its policy retries it when its time has come');
select is(script('alarm_retried', 'later poll retry'), 'INIT RUNNING', 'an operator before it');
select is(script('alarm_retried', 'later poll later poll'), 'FAILED RUNNING', 'as often as it may');
select is(script('sleep', 'cancel ignore'), 'END END warning', 'or ignored');
select is(script('sleep', 'cancel skip'), 'END END warning', 'or skipd');
select is(script('sleep', 'cancel resolve'), 'END END success', 'or resolved');
select is(script('sleep', 'cancel raise'), 'RAISED ABORTED error', 'or raised');
select is(script('sleep', 'cancel abort'), 'ABORTED ABORTED aborted', 'or aborted');
select is(script('sleep', 'abort'), 'ABORTED ABORTED aborted', 'it is aborted');
select is(script('sleep_timed', 'later later poll'), 'FAILED RUNNING', 'it waited too long');
select is(script('alarm', 'poll'), 'FAILED RUNNING', 'an alarm fails');
select is(script('bad_wait', 'poll'), 'FAILED RUNNING', 'its arguments cannot be evaluated');

-- a wait is in INIT after its transaction only if its policy has it tried again
select is(script('alarm_retried', 'poll cancel'), 'FAILED RUNNING', 'it is cancelled before its next attempt');
select is(script('alarm_retried', 'poll abort'), 'ABORTED ABORTED aborted', 'or its instance is aborted');
select is(script('alarm_late', 'poll later poll'), 'FAILED RUNNING', 'its deadline is over before its next attempt');
select is_empty('select * from wf.fsck()', 'all is well with waits');

-- child
select is(script('child', 'work end work'), 'END END success', 'an instance that was started ends');
select is(script('orphan', 'work'), 'FAILED RUNNING', 'it cannot be started');
select is(script('bad_child', 'work'), 'FAILED RUNNING', 'its arguments cannot be evaluated');
select is(script('orphan_retried', 'work later work'), 'INIT RUNNING', 'its policy retries it when its time has come');
select is(script('orphan_retried', 'work retry'), 'WAITING RUNNING', 'an operator before it');
select is(script('orphan_retried', 'work retry work'), 'INIT RUNNING', 'and it fails again');
select is(script('orphan', 'work retry work'), 'FAILED RUNNING', 'or after it');
select is(script('orphan', 'work ignore'), 'END END warning', 'or ignores it');
select is(script('orphan', 'work skip'), 'END END warning', 'or skips it');
select is(script('orphan', 'work resolve'), 'END END success', 'or resolves it');
select is(script('orphan', 'work raise'), 'RAISED ABORTED error', 'or raises it');
select is(script('orphan', 'work abort'), 'ABORTED ABORTED aborted', 'or aborts it');
select is(script('child', 'work cancel work'), 'FAILED RUNNING', 'it is cancelled');
select is(script('child', 'work abort work'), 'ABORTED ABORTED aborted', 'it is aborted');
select is(script('child', 'work cancel abort'), 'ABORT_REQUESTED ABORTING', 'while it is cancelled it is told to abort');
select is(script('child', 'work cancel abort work'), 'ABORTED ABORTED aborted', 'while it is cancelled, too');
select is(script('child', 'work halt'), 'ABORTED ABORTED aborted', 'or halted');
select is(script('child_timed', 'work later later poll work'), 'FAILED RUNNING', 'it waited too long');
select is(script('orphan_retried', 'work cancel'), 'FAILED RUNNING', 'it is cancelled before its next attempt');
select is(script('orphan_retried', 'work abort'), 'ABORTED ABORTED aborted', 'or its instance is aborted');
select is(script('orphan_late', 'work later poll'), 'FAILED RUNNING', 'its deadline is over before its next attempt');
select script('child', 'work');
select wf.abort('{"global": true}');
select step((select max(id) from wf.driver), null, null, 'work');
select is_empty('select * from wf.fsck()', 'all is well with children');

-- instances that begin later
select wf.start('sync', p_at => wf.now() + interval '5 s') as i \gset
select wf.start('sync', p_at => wf.now() + interval '5 s', p_before => wf.now() + interval '6 s') as j \gset
select wf.start('sync', p_at => wf.now() + interval '5 s') as k \gset
select wf.start('sync', p_at => wf.now() + interval '5 s') as l \gset
select wf.abort(jsonb_build_object('instance', :k)), wf.halt(jsonb_build_object('instance', :l)), play_later('6 s'), step((select max(id) from wf.driver), null, null, 'work');
select results_eq(format('select state, result from wf.instance where id in (%s, %s, %s, %s) order by id', :i, :j, :k, :l),
    $$values ('RUNNING', null), ('ABORTED', 'error'), ('ABORTED', 'aborted'), ('ABORTED', 'aborted')$$, 'they begin, expire, are aborted or halted');

-- instances that are suspended
select is(script('sync', 'suspend resume take ok'), 'END END success', 'an instance is suspended and resumed');
select is(script('sync', 'take suspend ok'), 'END END success', 'what is under way may end it');
select is(script('sync', 'take suspend fail ignore'), 'END END warning', 'a failure may be ignored meanwhile');
select is(script('sync', 'suspend abort'), 'ABORTED ABORTED aborted', 'it may be aborted');
select is(script('sync', 'take suspend fail raise'), 'RAISED ABORTED error', 'or an error ends it');
select is(script('async', 'take ack suspend runs later take ok take ok'), 'END END success', 'what runs outside is polled and released');
select is_empty('select * from wf.fsck()', 'all is well with suspensions');

-- composites
select play_install('tree', jsonb_build_array(
    play_forall('x', '[1, 2, 3, 4]', play_task('t.Do', 'c')) || '{"max": 2}',
    '{"kind": "if", "line": 5, "condition": ["gt", ["div", 1, ["var", "n"]], 0], "reads": {"n": 0}, "then": {"kind": "let", "line": 5, "as": "y", "value": 1}}'::jsonb,
    '{"kind": "return", "line": 9, "value": 5}'::jsonb),
    '[{"name": "n", "type": "int", "default": 1}]');
select play_driver() as driver \gset
select wf.start('tree') as i \gset
select play_id(:i, 'forall') as f \gset
select results_eq(format('select event, state, open, todo from wf.process where id = %s', :f), $$values ('enter', 'ACTIVE', 2, 2)$$, 'a composite is entered');
select play_take(:driver);
select play_report(play_id(:i, 'c', 0));
select results_eq(format('select event, state, open, todo from wf.process where id = %s', :f), $$values ('refill', 'ACTIVE', 2, 1)$$, 'when an element ends the next one begins');
select play_report(play_id(:i, 'c', 1));
select play_take(:driver);
select play_report(play_id(:i, 'c', 2));
select results_eq(format('select event, state, open, todo from wf.process where id = %s', :f), $$values ('count', 'ACTIVE', 1, 0)$$, 'the last ones are counted');
select play_report(play_id(:i, 'c', 3));
select results_eq(format('select state, result, output from wf.instance where id = %s', :i), $$values ('END', 'success', '5'::jsonb)$$, 'everything ends, with what was returned');

select play_install('race', jsonb_build_array(jsonb_build_object('kind', 'race', 'line', 1, 'branches', jsonb_build_array(play_task('t.Do', 'a'), play_task('t.Do', 'b')))));
select wf.start('race') as i \gset
select play_take(:driver), play_report(play_id(:i, 'b'));
select is(play_state(:i, 'race'), 'ABORTING', 'a race is won');
select play_report(play_id(:i, 'a'));
select is(play_state(:i, 'race'), 'END', 'and ends when its losers have stopped');

create function failed_tree(p_driver bigint) returns bigint
language plpgsql as $$
declare
    v_instance bigint := wf.start('tree', '{"n": 0}');
begin
    perform play_on(p_driver);
    return v_instance;
end;
$$;
select failed_tree(:driver) as i \gset
select is(play_state(:i, 'if'), 'FAILED', 'a composite cannot be entered');
select wf.retry('{"global": true}');
select is(play_state(:i, 'if'), 'FAILED', 'nor a second time');
select wf.ignore('{"global": true}');
select is((select result from wf.instance where id = :i), 'warning', 'it is ignored');
select failed_tree(:driver) as i \gset
select wf.ignore('{"global": true}', null, true);
select is((select result from wf.instance where id = :i), 'warning', 'or skipped with what reads it');
select failed_tree(:driver) as i \gset
select wf.resolve('{"global": true}', '1');
select is((select result from wf.instance where id = :i), 'success', 'or resolved');
select failed_tree(:driver) as i \gset
select wf.raise('{"global": true}');
select is((select result from wf.instance where id = :i), 'error', 'or raised');
select failed_tree(:driver) as i \gset
select wf.abort('{"global": true}');
select is((select result from wf.instance where id = :i), 'aborted', 'or its instance is aborted');
select wf.start('tree') as i \gset
select play_take(:driver);
select wf.abort('{"global": true}');
select play_report(play_id(:i, 'c', 0));
select results_eq(format($$select was, event, state from wf.process where instance_id = %s and kind = 'forall'$$, :i), $$values ('ABORTING', 'count', 'ABORTING')$$,
    'a composite waits for tasks that have not stopped');
select play_report(play_id(:i, 'c', 1));
select is((select result from wf.instance where id = :i), 'aborted', 'then it is over');

-- what reads something that was skipped
select play_install('readers', jsonb_build_array(play_task('t.Do', 'a'), play_task('t.Do', 'b', '{"x": ["var", "a"]}'), play_task('t.Job', 'c', '{"x": ["var", "a"]}'),
    play_task('t.Sleep', 'd', '{"duration": ["var", "a"]}'), play_task('t.Start', 'e', '{"workflow": ["var", "a"]}'),
    '{"kind": "call", "line": 2, "workflow": "inner", "args": {"n": ["var", "a"]}, "reads": {"a": 0}, "steps": []}'::jsonb));
select wf.start('readers') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a')), wf.ignore('{"global": true}', null, true);
select is((select count(*) from wf.process where instance_id = :i and event = 'cascade'), 5::bigint, 'is skipped, too: tasks of each machine, and a call');

-- a finally below a teardown, whose error takes the place of the one that is on its way out
select play_install('last', '[{"kind": "try", "line": 1, "body": {"kind": "let", "line": 1, "as": "l", "value": ["div", 1, ["var", "n"]], "reads": {"n": 0}},
    "finally": {"kind": "finally", "line": 2, "body": {"kind": "let", "line": 2, "as": "f", "value": ["div", 1, ["var", "n"]], "reads": {"n": 0}}}}]',
    '[{"name": "n", "type": "int", "default": 0}]');
select wf.start('last') as i \gset
select wf.raise('{"global": true}');
select results_eq(format($$select was, event, state from wf.process where instance_id = %s and kind = 'try'$$, :i), $$values ('ABORTING', 'refill', 'ABORTING')$$,
    'a finally begins when everything in its try has stopped');
select wf.raise('{"global": true}');
select is((select result from wf.instance where id = :i), 'error', 'its own error ends the instance');

-- a return ends what it stands in, as far as the call
select play_install('back', jsonb_build_array(
    '{"kind": "call", "line": 2, "workflow": "inner", "args": {}, "as": "r", "steps": [
        {"kind": "seq", "line": 3, "steps": [{"kind": "return", "line": 3, "value": 7}, {"kind": "let", "line": 4, "as": "y", "value": 1}]}]}'::jsonb));
select wf.start('back') as i \gset
select results_eq(format('select kind, event, state from wf.process where instance_id = %s order by id', :i),
    $$values ('call', 'end', 'END'), ('call', 'end', 'END'), ('seq', 'return', 'END'), ('return', 'return', 'END')$$, 'what stands after a return is not entered');
select play_install('late', jsonb_build_array(play_seq(play_task('t.Do', 'a')) || '{"policies": {"timeout": {"deadline": "PT5S"}}}'));
select wf.start('late') as i \gset
select play_take(:driver), play_later('6 s'), play_take(:driver);
select is(play_state(:i, 'seq'), 'ABORTING', 'its deadline is over: what runs in it is stopped');
select play_report(play_id(:i, 'a'), 'error', '{"kind": "cancelled"}');
select is(play_state(:i, 'seq'), 'FAILED', 'and then it has failed');
select wf.abort('{"global": true}');
select play_install('points', '[{"kind": "checkpoint", "line": 2}]');
select wf.start('points') as i \gset
select results_eq(format($$select event, state from wf.process where instance_id = %s and kind = 'checkpoint'$$, :i), $$values ('checkpoint', 'END')$$, 'a checkpoint is passed');
-- a block with a policy retry waits for its next round, in each way
select play_install('again', jsonb_build_array(play_seq(play_task('t.Do', 'a')) || '{"policies": {"retry": {"attempts": 9, "delay": "PT5S"}, "timeout": {"deadline": "PT1H"}}}'));
select wf.start('again') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'));
select is(play_state(:i, 'seq'), 'INIT', 'a block waits for its next round');
select play_later('6 s'), play_take(:driver), play_fail(play_id(:i, 'a'));
select wf.retry(format('{"process": %s}', play_id(:i, 'seq'))::jsonb);
select play_take(:driver), play_fail(play_id(:i, 'a'));
select wf.cancel(format('{"process": %s}', play_id(:i, 'seq'))::jsonb);
select is(play_state(:i, 'seq'), 'FAILED', 'or is cancelled');
select wf.retry(format('{"process": %s}', play_id(:i, 'seq'))::jsonb);
select play_take(:driver), play_fail(play_id(:i, 'a'));
select wf.abort('{"global": true}');
select play_install('again', jsonb_build_array(play_seq(play_task('t.Do', 'a')) || '{"policies": {"retry": {"attempts": 9, "delay": "PT1H"}, "timeout": {"deadline": "PT5S"}}}'));
select wf.start('again') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a')), play_later('6 s'), play_take(:driver);
select is(play_state(:i, 'seq'), 'FAILED', 'or its deadline is over');
select wf.abort('{"global": true}');
select play_install('again', '[{"kind": "call", "line": 2, "workflow": "inner", "args": {"x": ["get", ["var", "t"], "x"]}, "reads": {"t": 0}, "policies": {"retry": {"attempts": 2, "on": "input"}}, "steps": []}]',
    '[{"name": "t", "type": "json"}]');
select wf.start('again', '{"t": 5}') as i \gset
select is((select state from wf.process where instance_id = :i and parent_id is not null), 'INIT', 'a call that could not be entered waits for its next round');
select play_take(:driver);
select is((select state from wf.process where instance_id = :i and parent_id is not null), 'FAILED', 'and has failed after the last one');
select wf.abort('{"global": true}');
select is_empty('select * from wf.fsck()', 'all is well with composites');

-- what was noted is undone; or not, when an operator hands the error of a block on
select play_install('undone', jsonb_build_array(play_seq(
    play_task('t.Do', 'a') || jsonb_build_object('undo', jsonb_build_object('kind', 'undo', 'line', 1, 'body', play_task('t.Do', 'u'))), play_task('t.Do', 'b'))
    || '{"policies": {"timeout": {"deadline": "PT5S"}}}'));
select wf.start('undone') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'));
select wf.abort('{"global": true}', null, true);
select play_on(:driver);
select is(play_state(:i, 'u'), 'END', 'an abort with undo undoes');
select wf.start('undone') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a')), play_later('6 s'), play_take(:driver);
select wf.raise(format('{"process": %s}', play_id(:i, 'seq'))::jsonb);
select is(concat_ws(' ', play_state(:i, 'seq'), play_state(:i, 'u')), 'RAISED', 'an error that nothing takes has nothing undone');

-- what could not be evaluated and then can be: its value was larger than allowed
select play_install('large', jsonb_build_array(play_par(
    '{"kind": "let", "line": 1, "as": "l", "value": ["text", ["var", "s"], ["var", "s"]], "reads": {"s": 0}}'::jsonb,
    '{"kind": "call", "line": 2, "workflow": "f", "args": {"p": ["text", ["var", "s"], ["var", "s"]]}, "reads": {"s": 0}, "as": "r", "steps": [
        {"kind": "return", "line": 3, "value": ["call", "size", ["var", "p"]], "reads": {"p": 0}}]}',
    play_task('t.Do', 'a', '{"x": ["text", ["var", "s"], ["var", "s"]]}'),
    play_task('t.Job', 'j', '{"x": ["text", ["var", "s"], ["var", "s"]]}'),
    play_task('t.Sleep', 'w', '{"duration": ["text", "PT", ["var", "s"], ["var", "s"], "9S"]}'),
    play_task('t.Start', 'c', '{"workflow": ["text", ["var", "s"], ["var", "s"]]}'))),
    '[{"name": "s", "type": "string"}]');
update wf.setting set value = '300' where name = 'value_bytes';
select wf.start('large', jsonb_build_object('s', repeat('0', 200))) as i \gset
select results_eq(format($$select kind, state, error ->> 'kind' from wf.process where instance_id = %s and parent_id = %s order by id$$, :i, play_id(:i, 'par')),
    $$values ('let', 'FAILED', 'output'), ('call', 'FAILED', 'output'), ('sync', 'FAILED', 'output'), ('async', 'FAILED', 'output'), ('wait', 'FAILED', 'output'), ('child', 'FAILED', 'output')$$,
    'values that are too large are refused');
update wf.setting set value = '1048576' where name = 'value_bytes';
select wf.retry('{"global": true}');
select results_eq(format($$select kind, state, input is not null, error from wf.process where instance_id = %s and parent_id = %s order by id$$, :i, play_id(:i, 'par')),
    $$values ('let', 'END', true, null::jsonb), ('call', 'END', true, null), ('sync', 'INIT', true, null), ('async', 'INIT', true, null), ('wait', 'WAITING', true, null), ('child', 'WAITING', true, null)$$,
    'a retry evaluates them again');
select is((select value from wf.binding where instance_id = :i and name = 'r'), '400', 'also the arguments of a call');
select play_on(:driver);
select is_empty('select * from wf.fsck()', 'all is well after that');

-- so every row has been played
select is_empty($$
    select t.machine, t.from_state, t.event, t.to_state from wf.transition t where t.recorded
    except
    select case when e.process_id is null then 'instance' else p.machine end, e.was, e.event, e.state
      from wf.event e
      left join wf.process p on p.instance_id = e.instance_id and p.id = e.process_id
     order by 1, 2, 3, 4$$, 'every recorded row of wf.transition is in the history');
select set_eq('select machine, from_state, event, to_state from wf.transition where not recorded', $$values
    ('sync', '', 'enable', 'INIT'), ('async', '', 'enable', 'INIT'), ('wait', '', 'enable', 'INIT'), ('child', '', 'enable', 'INIT'),
    ('sync', 'INIT', 'enable', 'INIT'), ('async', 'INIT', 'enable', 'INIT'), ('wait', 'INIT', 'enable', 'INIT'), ('child', 'INIT', 'enable', 'INIT'),
    ('sync', 'INIT', 'due', 'INIT'), ('async', 'INIT', 'due', 'INIT'), ('wait', 'INIT', 'due', 'INIT'), ('child', 'INIT', 'due', 'INIT'),
    ('composite', '', 'enter', 'ACTIVE'), ('composite', 'ACTIVE', 'enter', 'ACTIVE'), ('composite', 'ACTIVE', 'count', 'ACTIVE'),
    ('composite', 'ACTIVE', 'refill', 'ACTIVE'), ('composite', 'ABORTING', 'count', 'ABORTING'), ('composite', 'ABORTING', 'refill', 'ABORTING')$$, 'these are the others; each has been seen above');

select * from finish();
rollback;
