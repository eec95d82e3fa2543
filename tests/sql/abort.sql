-- abort.sql - an instance is stopped for good, whatever runs in it.
begin;
\ir helper/play.sql
select plan(53);
select play_driver() as driver \gset

-- deep: composites in composites, and a leaf in every state of waiting
select play_install('deep', jsonb_build_array(
    play_par(
        play_forall('x', '[1, 2, 3]', play_seq(play_par(play_task('t.Do', 'a'), play_task('t.Sleep', 's', '{"duration": "PT1H"}')), play_task('t.Do', 'b'))),
        play_seq(play_task('t.Do', 'c'), play_task('t.Do', 'd')),
        play_task('t.Do', 'g', '{}', '{"group": {"name": "g", "max": 1}}'),
        play_task('t.Do', 'h', '{}', '{"group": {"name": "g", "max": 1}}'))));

-- nothing has been taken: it is over at once
select wf.start('deep') as i \gset
select results_eq(
    format($$select * from wf.abort('{"instance": %s}', 'a mistake')$$, :i),
    format($$values (%s::bigint, null::bigint, 'done', 'RUNNING -> ABORTED')$$, :i), 'abort answers what it did');
select set_eq(format('select state from wf.process where instance_id = %s', :i), array['ABORTED'], 'everything in it is ABORTED');
select results_eq(format('select state, result, ended_at is null, error from wf.instance where id = %s', :i),
    $$values ('ABORTED', 'aborted', false, null::jsonb)$$, 'the aborted instance is ABORTED, with the result aborted');
select set_eq(format('select distinct reason from wf.event_v where instance_id = %s and event in (''abort'', ''aborted'')', :i), array['a mistake'], 'every event says why');
select is_empty('select * from wf.fsck()', 'all is well');
select is(play_take(:driver), 0::bigint, 'nothing of it is handed out');
select is((select held + waiting from wf.group_v where name = 'g'), 0::bigint, 'the places of an aborted instance are free');
select results_eq(format($$select answer, detail from wf.abort('{"instance": %s}')$$, :i),
    $$values ('refused', 'ABORTED: only RUNNING, SCHEDULED, SUSPENDED can be aborted')$$, 'an aborted instance cannot be aborted twice');

-- synchronous tasks with a driver: it is told, and waited for
select wf.start('deep') as i \gset
select is(play_take(:driver), 5::bigint, 'three a, c and g are handed out');
select play_fail(play_id(:i, 'c'));
select results_eq(
    format($$select answer, detail from wf.abort('{"process": %s}')$$, play_id(:i, 'call')),
    $$values ('done', 'RUNNING -> ABORTING')$$, 'the root stands for its instance');
select is_empty('select * from wf.fsck()', 'all is well while it is aborted');
select is(play_take(:driver), 0::bigint, 'nothing more is handed out');
select is((select count(*) from play_request where kind = 'stop'), 4::bigint, 'the driver is told to stop four requests');
select play_report(p.id) from wf.process p where p.instance_id = :i and p.state = 'ABORT_REQUESTED' order by p.id desc;
select results_eq(format('select state, result from wf.instance where id = %s', :i), $$values ('ABORTED', 'aborted')$$, 'when the last has stopped it is over');
select set_eq(format('select state from wf.process where instance_id = %s', :i), array['ABORTED'], 'everything in it is ABORTED');
select is_empty('select * from wf.fsck()', 'all is well');

-- asynchronous tasks are cancelled and released first
select play_install('jobs', jsonb_build_array(play_par(play_task('t.Job', 'j'), play_task('t.Job', 'k'), play_task('t.Job', 'l'))));
select wf.start('jobs') as i \gset
select play_id(:i, 'j') as j, play_id(:i, 'k') as k, play_id(:i, 'l') as l \gset
select play_take(:driver);
select play_report(:j, 'ack');
select play_report(:j, 'response', '{"id": 1}');
select play_report(:k, 'ack');
select wf.abort('{"global": true}');
select is_empty('select * from wf.fsck()', 'all is well while it is aborted');
select results_eq(format('select id, state from wf.process where instance_id = %s and kind = ''async'' order by id', :i),
    format($$values (%s::bigint, 'ABORT_REQUESTED'), (%s, 'ABORT_REQUESTED'), (%s, 'ABORTED')$$, :j, :k, :l),
    'unacknowledged tasks are over at once, the others are to be cancelled');
select is(play_take(:driver), 1::bigint, 'j is to be cancelled');
select play_report(:j);
select is(play_take(:driver), 1::bigint, 'a cancelled task is released next');
select play_report(:j);
select is((select state from wf.process where id = :j), 'ABORTED', 'a released task is ABORTED');
select is(play_report(:k, 'response', '{"id": 2}'), 'done', 'k had been started meanwhile');
select is(play_take(:driver), 1::bigint, 'a task that started meanwhile is cancelled, too');
select play_report(:k);
select play_take(:driver);
select play_report(:k);
select is((select state from wf.instance where id = :i), 'ABORTED', 'the instance is ABORTED after its last task');
select is_empty('select * from wf.fsck()', 'all is well');

-- a poll that is out when the instance is aborted says that the task failed: it
-- is released once, now, and not a second time later on
select play_install('job', jsonb_build_array(play_task('t.Job', 'j')));
select wf.start('job') as i \gset
select play_id(:i, 'j') as j \gset
select play_take(:driver);
select play_report(:j, 'ack');
select play_report(:j, 'response', '{"id": 1}');
select play_later('5 s');
select is(play_take(:driver), 1::bigint, 'j is polled');
select wf.abort(jsonb_build_object('instance', :i));
select play_report(:j, 'response', '{"state": "bad"}');
select is_empty('select * from wf.fsck()', 'a task that failed during the abort waits for its release in one place only');
select is(play_take(:driver), 1::bigint, 'a task that failed during the abort is released');
select play_later('1 min');
select is(play_take(:driver), 0::bigint, 'by one driver');
select play_report(:j);
select is((select state from wf.instance where id = :i), 'ABORTED', 'the instance is ABORTED after that release');
select set_config('wf.now', '', true);

-- errors that are handed on abort the instance, asynchronous tasks being released first
select wf.start('jobs') as i \gset
select play_id(:i, 'j') as j, play_id(:i, 'k') as k, play_id(:i, 'l') as l \gset
select play_take(:driver);
select play_report(p, 'ack'), play_report(p, 'response', '{"id": 3}') from unnest(array[:j, :k, :l]) p;
select set_config('wf.now', (clock_timestamp() + interval '10 s')::text, true);
select is(play_take(:driver), 3::bigint, 'all are polled');
select play_report(:j, 'response', '{"state": "bad"}');
select play_report(:k, 'response', '{"state": "bad"}');
select results_eq(format($$select answer, detail from wf.raise('{"instance": %s}')$$, :i),
    $$values ('done', 'FAILED -> RAISE_CLEANUP_REQUESTED'), ('done', 'FAILED -> RAISE_CLEANUP_REQUESTED')$$, 'both errors are to be handed on');
select is(play_take(:driver), 2::bigint, 'once they are released');
select is((select state from wf.instance where id = :i), 'RUNNING', 'until then the instance goes on');
select play_report(:j);
select results_eq(format('select id, state from wf.process where instance_id = %s and kind = ''async'' order by id', :i),
    format($$values (%s::bigint, 'RAISED'), (%s, 'ABORT_CLEANUP_REQUESTED'), (%s, 'ABORT_REQUESTED')$$, :j, :k, :l), 'the first error aborts the others');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_report(:k);
select play_report(:l, 'response', '{"state": "done"}');
select is(play_take(:driver), 1::bigint, 'l has ended meanwhile and is released');
select play_report(:l);
select results_eq(format('select state, result, error ->> ''kind'' from wf.instance where id = %s', :i), $$values ('ABORTED', 'error', 'failed')$$, 'the instance ends with the error');
select is_empty('select * from wf.fsck()', 'all is well');
select set_config('wf.now', '', true);

-- a failed composite
select play_install('broken', jsonb_build_array(
    play_task('t.Do', 'a'),
    '{"kind": "if", "line": 2, "condition": ["var", "a"], "reads": {"a": 0}, "then": {"kind": "task", "line": 3, "type": "t.Do", "args": {"x": 1}, "as": "b"}}'::jsonb));
select wf.start('broken', p_tags => '{z}') as i \gset
select wf.start('broken', p_tags => '{z}') as i2 \gset
select play_take(:driver);
select play_report(play_id(:i, 'a'), 'response', '{"value": 5}');
select is(play_state(:i, 'if'), 'FAILED', 'a composite fails if its input is of no use');
select results_eq(format($$select answer, detail from wf.retry('{"instance": %s}')$$, :i), $$values ('done', 'FAILED -> FAILED')$$, 'a retry with the same input fails again');
select results_eq(format($$select process_id, answer, detail from wf.abort('{"process": %s}')$$, play_id(:i, 'if')),
    format($$values (%s::bigint, 'refused', 'FAILED: only a whole instance can be aborted; cancel stops single tasks')$$, play_id(:i, 'if')), 'a single process cannot be aborted');
select results_eq($$select instance_id, answer from wf.abort('{"failed": true, "tag": "z"}')$$, format($$values (%s::bigint, 'done')$$, :i), 'failed takes instances in which something has failed');
select is((select state from wf.instance where id = :i), 'ABORTED', 'an instance in which nothing runs is ABORTED at once');
select results_eq($$select instance_id, answer from wf.abort('{"workflow": "broken"}')$$, format($$values (%s::bigint, 'done')$$, :i2), 'a workflow stands for its running instances');
select throws_ok($$select wf.abort('{"workflow": "jobs"}')$$, 'WF003', null, 'if there are any');
select throws_ok($$select wf.abort('{"instance": 999999}')$$, 'WF003', null, 'an unknown instance');
select results_eq(format($$select instance_id, answer, detail from wf.abort('{"instance": [%s, 999999]}')$$, :i),
    format($$values (%s::bigint, 'refused', 'ABORTED: only RUNNING, SCHEDULED, SUSPENDED can be aborted'), (999999, 'refused', 'there is no such instance')$$, :i), 'each is answered');

-- an ignored or resolved composite lets the instance go on
select wf.start('broken') as i \gset
select play_take(:driver);
select play_report(play_id(:i, 'a'), 'response', '{"value": 5}');
select results_eq(format($$select answer, detail from wf.ignore('{"instance": %s}')$$, :i), $$values ('done', 'FAILED -> END')$$, 'a composite can be ignored');
select is((select result from wf.instance where id = :i), 'warning', 'with a warning');
select wf.start('broken') as i \gset
select play_take(:driver);
select play_report(play_id(:i, 'a'), 'response', '{"value": 5}');
select results_eq(format($$select answer, detail from wf.raise('{"instance": %s}')$$, :i), $$values ('done', 'FAILED -> RAISED')$$, 'a composite can be raised');
select results_eq(format('select state, result, error ->> ''kind'' from wf.instance where id = %s', :i), $$values ('ABORTED', 'error', 'input')$$, 'a raised composite ends the instance with its error');
select is_empty('select * from wf.fsck()', 'all is well in the end');

select * from finish();
rollback;
