-- operate.sql - retry, ignore, resolve, raise, cancel: what they move, what
-- they refuse, and what is left.
begin;
\ir helper/play.sql
select plan(74);

select play_install('two', jsonb_build_array(
    play_par(play_task('t.Do', 'a'), play_task('t.Do', 'b')),
    play_task('t.Do', 'c', '{"x": ["var", "a"]}')));
select play_driver() as driver \gset

-- retry
select wf.start('two') as i \gset
select play_id(:i, 'a') as a, play_id(:i, 'b') as b \gset
select is(play_take(:driver), 2::bigint, 'both branches are handed out');
select is(play_fail(:a), 'done', 'a fails');
select results_eq(
    format($$select * from wf.retry('{"process": %s}', 'mended')$$, :a),
    format($$values (%s::bigint, %s::bigint, 'done', 'FAILED -> INIT')$$, :i, :a),
    'retry answers what it did');
select results_eq(
    format('select attempt, error, output from wf.process where id = %s', :a),
    'values (2, null::jsonb, null::jsonb)',
    'a retried task is in its second attempt, without the old error');
select results_eq(
    format('select actor, reason, was, event, state from wf.event_v where process_id = %s order by seq desc limit 1', :a),
    format($$values (%L, 'mended', 'FAILED', 'retry', 'INIT')$$, session_user),
    'the history says who and why');
select is(current_setting('wf.reason', true), '', 'the reason is forgotten afterwards');
select results_eq(
    format($$select answer, detail from wf.retry('{"process": [%s, %s]}') order by process_id$$, :a, :b),
    $$values ('refused', 'INIT: only FAILED can be retried'), ('refused', 'START_REQUESTED: only FAILED can be retried')$$,
    'retry refuses each process that is not FAILED');
select is(play_take(:driver), 1::bigint, 'the second attempt is handed out');
select is_empty('select * from wf.fsck()', 'all is well after a retry');

-- ignore
select is(play_fail(:a), 'done', 'a fails again');
select results_eq(
    $$select instance_id, process_id, answer, detail from wf.ignore('{"failed": true}', 'never mind')$$,
    format($$values (%s::bigint, %s::bigint, 'done', 'FAILED -> END')$$, :i, :a),
    'ignore takes what is FAILED in the workspace');
select is(play_report(:b), 'done', 'b ends');
select is(play_take(:driver), 1::bigint, 'the step after an ignored task is enabled');
select is((select input from wf.process where id = play_id(:i, 'c')), '{"x": null}', 'the name of what was ignored reads as null');
select is(play_report(play_id(:i, 'c')), 'done', 'c ends');
select results_eq(
    format('select state, result, failed from wf.instance_v where instance_id = %s', :i),
    $$values ('END', 'warning', 0::bigint)$$,
    'the result is a warning');
select is_empty('select * from wf.fsck()', 'all is well after ignore');
select results_eq(
    format($$select instance_id, process_id, answer, detail from wf.retry('{"instance": %s}')$$, :i),
    format($$values (%s::bigint, null::bigint, 'refused', 'END: nothing in it can be retried')$$, :i),
    'an instance in which nothing is FAILED is refused');

-- resolve
select wf.start('two') as i \gset
select play_id(:i, 'a') as a, play_id(:i, 'b') as b \gset
select play_take(:driver);
select play_fail(:a);
select play_report(:b);
select results_eq(
    format($$select process_id, answer, detail from wf.resolve('{"instance": %s}', '{"n": 1}', 'by hand')$$, :i),
    format($$values (%s::bigint, 'done', 'FAILED -> END')$$, :a),
    'resolve takes what is FAILED in an instance');
select is((select input from wf.process where id = play_id(:i, 'c')), '{"x": {"n": 1}}', 'the name of a resolved task reads as the given output');
select is((select detail from wf.event_v where process_id = :a and event = 'resolve'), '{"output": {"n": 1}}', 'the history keeps the output');
select throws_ok($$select wf.resolve('{"failed": true}', to_jsonb(repeat('x', 2000000)))$$, 'WF002', null, 'an output that is too large is refused');
select play_take(:driver);
select play_report(play_id(:i, 'c'));
select is((select result from wf.instance where id = :i), 'success', 'the result is a success');
select is_empty('select * from wf.fsck()', 'all is well after resolve');

-- raise
select wf.start('two') as i \gset
select play_id(:i, 'a') as a, play_id(:i, 'b') as b \gset
select play_take(:driver);
select play_fail(:a, 'no disk');
select results_eq(
    format($$select process_id, answer, detail from wf.raise('{"process": %s}')$$, :a),
    format($$values (%s::bigint, 'done', 'FAILED -> RAISED')$$, :a),
    'raise hands the error on');
select results_eq(
    format('select i.state, i.error, p.state from wf.instance i, wf.process p where i.id = %s and p.id = %s', :i, :b),
    $$values ('ABORTING', '{"kind": "http", "message": "no disk"}'::jsonb, 'ABORT_REQUESTED')$$,
    'the instance is aborted; what runs in it is to stop');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_take(:driver);
select is((select count(*) from play_request where kind = 'stop' and instance_id is null), 1::bigint, 'the driver is told to stop');
select is(play_report(:b), 'done', 'the driver reports that it ended all the same');
select results_eq(
    format('select state, result, error ->> ''message'' from wf.instance where id = %s', :i),
    $$values ('ABORTED', 'error', 'no disk')$$,
    'the instance ends with the error');
select is_empty('select * from wf.fsck()', 'all is well after raise');

-- cancel
select play_install('four', jsonb_build_array(play_par(
    play_task('t.Do', 'a'),
    play_task('t.Job', 'j'),
    play_task('t.Sleep', 's', '{"duration": "PT1H"}'),
    play_forall('x', '[1, 2]', play_task('t.Do', 'd')))));
select wf.start('four') as i \gset
select play_id(:i, 'a') as a, play_id(:i, 'j') as j, play_id(:i, 's') as s, play_id(:i, 'forall') as f \gset
select results_eq(
    format($$select answer, detail from wf.cancel('{"process": [%s, %s]}', 'not now') order by process_id$$, :a, :s),
    $$values ('done', 'INIT -> FAILED'), ('done', 'WAITING -> FAILED')$$,
    'waiting tasks are cancelled at once');
select is((select error ->> 'kind' from wf.process where id = :a), 'cancelled', 'the error of a cancelled task has kind cancelled');
select results_eq(
    format($$select count(*), count(*) filter (where answer = 'done') from wf.cancel('{"process": %s}')$$, :f),
    'values (2::bigint, 2::bigint)',
    'a composite stands for the tasks in it');
select results_eq(
    format($$select process_id, answer, detail from wf.cancel('{"process": %s}')$$, :f),
    format($$values (%s::bigint, 'refused', 'ACTIVE: nothing in it can be cancelled')$$, :f),
    'a composite in which nothing runs is refused');
select is(play_take(:driver), 1::bigint, 'a cancelled task is not handed out');
select is_empty('select * from wf.fsck()', 'all is well after cancel');
select is(play_report(:j, 'ack'), 'done', 'the driver acknowledges j');
select is(play_report(:j, 'response', '{"id": 7}'), 'done', 'j runs outside');
select results_eq(
    format($$select process_id, answer, detail from wf.cancel('{"instance": %s}')$$, :i),
    format($$values (%s::bigint, 'done', 'EXECUTING -> CANCEL_REQUESTED')$$, :j),
    'an instance stands for the tasks in it');
select is_empty('select * from wf.fsck()', 'all is well while it is cancelled');
select is(play_take(:driver), 1::bigint, 'the cancel request is handed out');
select is(play_report(:j), 'done', 'the asynchronous task is cancelled outside');
select results_eq(
    format($$select state, error ->> 'kind' from wf.process where id = %s$$, :j),
    $$values ('FAILED', 'cancelled')$$,
    'the cancelled asynchronous task is FAILED');
select results_eq(
    format($$select distinct answer, detail from wf.retry('{"root": %s, "failed": true}') order by detail$$, play_id(:i, 'par')),
    $$values ('done', 'FAILED -> INIT'), ('done', 'FAILED -> RETRY_CLEANUP_REQUESTED'), ('done', 'FAILED -> WAITING')$$,
    'all of it can be retried');
select is_empty('select * from wf.fsck()', 'all is well after that');

-- targets
select throws_ok($$select wf.retry('{}')$$, 'WF002', 'the target names nothing', 'an empty target is refused');
select throws_ok($$select wf.retry(null)$$, 'WF002', 'the target names nothing', 'null as a target is refused');
select throws_ok($$select wf.retry('{"proces": 1}')$$, 'WF002', 'target: "proces" is unknown or of the wrong type', 'an unknown key');
select throws_ok($$select wf.retry('{"process": "1; drop"}')$$, 'WF002', null, 'a text that is not an id is refused');
select throws_ok($$select wf.retry('{"process": [1.5]}')$$, 'WF002', null, 'a number that is no id');
select throws_ok($$select wf.retry('{"state": "Failed"}')$$, 'WF002', 'target: there is no state "Failed"', 'an unknown state');
select throws_ok($$select wf.retry('{"process": 1, "root": 1}')$$, 'WF002', null, 'process and root together');
select throws_ok($$select wf.retry('{"workflow": "nil"}')$$, 'WF003', 'there is no workflow "nil"', 'an unknown workflow');
select throws_ok($$select wf.retry('{"workflow": "two", "older_than": "soon"}')$$, 'WF002', 'target: "soon" is not an interval', 'no interval');
select throws_ok($$select wf.retry('{"instance": 999999}')$$, 'WF003', null, 'an unknown instance');
select throws_ok($$select wf.retry('{"process": 999999}')$$, 'WF003', null, 'an unknown process');
select throws_ok($$select wf.retry('{"tag": "nobody"}')$$, 'WF003', null, 'a tag that nothing has');
select throws_ok(format('select wf.retry(%L, %L)', '{"failed": true}', repeat('x', 5000)), 'WF002', null, 'a reason that is too long');
select results_eq(
    format($$select instance_id, process_id, answer, detail from wf.retry('{"instance": [%s, 999999], "state": "FAILED"}')$$, :i),
    format($$values (%s::bigint, null::bigint, 'refused', 'RUNNING: nothing in it can be retried'), (999999, null, 'refused', 'there is no such instance')$$, :i),
    'of several instances each is answered');

select wf.start('two', p_tags => '{night}') as i1 \gset
select wf.start('two', p_tags => '{night}') as i2 \gset
select play_take(:driver);
select play_fail(play_id(:i1, 'a'));
select play_fail(play_id(:i2, 'b'));
select set_eq($$select process_id from wf.retry('{"tag": "night", "workflow": "two", "failed": true}')$$,
    array[play_id(:i1, 'a'), play_id(:i2, 'b')], 'a tag reaches all of its instances');
select play_take(:driver);
select play_fail(play_id(:i1, 'a'));
select set_eq($$select process_id from wf.retry('{"tag": "night", "workflow": "two", "state": ["FAILED", "INIT"], "failed": true}')$$,
    array[play_id(:i1, 'a')], 'failed counts as one of the states of a target');
select play_take(:driver), play_fail(play_id(:i1, 'a'));
select throws_ok($$select wf.cancel('{"tag": "night", "workflow": "two", "state": "START_REQUESTED", "failed": true}')$$, 'WF003', null, 'a target without failed tasks is refused');
select throws_ok($$select wf.retry('{"tag": "night", "older_than": "1 hour"}')$$, 'WF003', null, 'none of them is that old');
select results_eq($$select instance_id, process_id, answer from wf.retry('{"global": true, "tag": "night"}')$$,
    format($$values (%s::bigint, null::bigint, 'refused')$$, :i2), 'global means the latest of them');
select is_empty('select * from wf.fsck()', 'all is well in the end');

-- groups
select play_install('grouped', jsonb_build_array(play_par(
    play_task('t.Do', 'g1', '{}', '{"group": {"name": "etl"}}'),
    play_task('t.Do', 'g2', '{}', '{"group": {"name": "etl"}}'))));
select wf.group_set('etl', 0);
select wf.start('grouped') as i \gset
select is(play_take(:driver), 0::bigint, 'a group without places lets nothing start');
select results_eq($$select name, max, held, waiting from wf.group_v$$, $$values ('etl', 0, 0::bigint, 2::bigint)$$, 'group_v counts the tasks that wait');
select wf.group_set('etl', 1);
select is(play_take(:driver), 1::bigint, 'with one place one starts');
select wf.group_set('etl', null);
select is(play_take(:driver), 1::bigint, 'without a limit so does the other');
select throws_ok($$select wf.group_set('etl', -1)$$, 'WF002', null, 'a negative number of places is refused');
select throws_ok($$select wf.group_set('', 1)$$, 'WF002', null, 'a group without a name is refused');
select results_eq(
    format($$select answer from wf.cancel('{"instance": %s}')$$, :i),
    $$values ('done'), ('done')$$, 'tasks in a group can be cancelled');
select is_empty('select * from wf.fsck()', 'all is well with groups');

select * from finish();
rollback;
