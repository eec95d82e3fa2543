-- suspend.sql - a suspended instance: what it has begun goes on, nothing new is
-- handed out, and all of it goes on where it was when it is resumed.
begin;
\ir helper/play.sql
select no_plan();

-- waiting(INSTANCE): what is to be started, by name: ready, or what it waits for.
create function waiting(p_instance bigint) returns text
language sql as $$
    select string_agg(p.bind || ' ' || x.place, ', ' order by p.bind, p.index)
      from (select r.instance_id, r.process_id, r.request as place from wf.ready r union all
            select k.instance_id, k.process_id, k.reason from wf.parked k) x
      join wf.process p on p.instance_id = x.instance_id and p.id = x.process_id
     where x.instance_id = p_instance;
$$;

select play_install('mixed', jsonb_build_array(play_par(
    play_seq(play_task('t.Do', 'a'), play_task('t.Do', 'a2')),
    play_task('t.Do', 'b'),
    play_seq(play_task('t.Job', 'j'), play_task('t.Do', 'j2')),
    play_seq(play_task('t.Sleep', 's', '{"duration": "PT1M"}'), play_task('t.Do', 's2', '{}', '{"group": {"name": "etl"}}')),
    play_task('t.Do', 'g1', '{}', '{"group": {"name": "etl", "max": 1}}'),
    play_task('t.Do', 'g2', '{}', '{"group": {"name": "etl", "max": 1}}'))));
select play_driver('one') as driver \gset
select set_config('wf.now', '2030-01-01 00:00:00+00', true);
select wf.start('mixed') as i \gset
select wf.start('mixed') as o \gset

-- what is ready, and what waits for its group
select play_take(:driver, 0);
select is(waiting(:i), 'a start, b start, g1 start, g2 group, j start', 'before');
select play_later('10 s');
select results_eq(format($$select instance_id, process_id, answer, detail from wf.suspend('{"instance": %s}', 'the store is closed')$$, :i),
    format($$values (%s::bigint, null::bigint, 'done', 'RUNNING -> SUSPENDED')$$, :i), 'a running instance is suspended');
select is(waiting(:i), 'a suspended, b suspended, g1 suspended, g2 suspended, j suspended', 'nothing of it is ready, nor before its group');
select is((select count(*) from wf.slot where instance_id = :i), 0::bigint, 'the place that it was given is given back');
select results_eq('select event, state, reason from wf.event_v where instance_id = ' || :i || ' order by seq desc limit 1',
    $$values ('suspend', 'SUSPENDED', 'the store is closed')$$, 'the history says so, and why');
select is_empty('select * from wf.fsck()', 'all is well');
select is(play_take(:driver, 1000), 4::bigint, 'the other instance gets what it would not');
select is((select count(*) from play_request where kind = 'run' and instance_id = :i), 0::bigint, 'nothing of it is handed out');
select is((select count(*) from wf.slot where instance_id = :o), 1::bigint, 'not even the place in the group');

-- explain
select results_eq(format('select reason, detail, since from wf.explain(%s, %s)', :i, play_id(:i, 'a')),
    format($$values ('suspended', %L, '2030-01-01 00:00:10+00'::timestamptz)$$, 'its instance was suspended by ' || session_user || ': the store is closed'), 'explain says by whom, why and since when');
select results_eq(format('select label, reason, detail, since from wf.explain(%s) where process_id is null', :i),
    format($$values ('mixed', 'suspended', %L, '2030-01-01 00:00:10+00'::timestamptz)$$, 'it was suspended by ' || session_user || ': the store is closed'), 'explain of the instance says by whom, why and since when');
select results_eq(format('select reason, processes, detail from wf.stuck() where instance_id = %s', :i),
    format($$values ('suspended', 5::bigint, %L)$$, 'the instance was suspended by ' || session_user || ': the store is closed'), 'stuck says that the instance is suspended');
select results_eq(format('select state from wf.instance_v where instance_id = %s', :i), array['SUSPENDED'], 'list shows SUSPENDED');

-- resumed: in its order, behind what is ready by then
select play_later('10 s');
select results_eq(format($$select answer, detail from wf.resume('{"instance": %s}')$$, :i), $$values ('done', 'SUSPENDED -> RUNNING')$$, 'a suspended instance is resumed');
select is(waiting(:i), 'a start, b start, g1 group, g2 group, j start', 'all of it is where it belongs');
select results_eq(format($$select p.bind, r.turn - extract(epoch from '2030-01-01 00:00:20+00'::timestamptz)::bigint * 1000000 from wf.ready r join wf.process p on p.id = r.process_id where r.instance_id = %s order by r.turn$$, :i),
    $$values ('b', 0::bigint), ('a', 300000::bigint), ('j', 400000::bigint)$$, 'in its order, a stride apart');
select is_empty('select * from wf.suspended', 'nothing is suspended any more');
select is_empty('select * from wf.fsck()', 'all is well');
select is(play_take(:driver, 1000), 3::bigint, 'the tasks of the resumed instance are handed out');
select is(waiting(:i), 'g1 group, g2 group', 'the group is full');
select play_report(play_id(:o, 'g1'));
select is(play_take(:driver, 1000), 1::bigint, 'when the place comes free, the next in its turn gets it');
select is((select string_agg(p.instance_id || p.bind, ' ') from wf.slot s join wf.process p on p.id = s.process_id), :o || 'g2', 'the task that waited before the suspension gets the place');

-- what runs goes on: outcomes, polls, sleeps; what comes after it is held
select wf.suspend(format('{"instance": %s}', :i)::jsonb);
select play_report(play_id(:i, 'a'));
select is(waiting(:i), 'a2 suspended, g1 suspended, g2 suspended', 'a task ends; the next one is held');
select play_fail(play_id(:i, 'b'));
select is(play_state(:i, 'b'), 'FAILED', 'a task fails');
select play_report(play_id(:i, 'j'), 'ack');
select play_report(play_id(:i, 'j'), 'response', '{"id": 1}');
select play_later('2 min');
select is(play_take(:driver, 1000), 1::bigint, 'a task outside is polled while its instance is suspended');
select is(waiting(:i), 'a2 suspended, g1 suspended, g2 suspended, s2 suspended', 'a sleep ends; the next one is held, and does not wait for its group');
select play_report(play_id(:i, 'j'), 'response', '{"state": "done"}');
select play_take(:driver, 1000);
select is((select request from play_request where process_id = play_id(:i, 'j') order by k desc limit 1), 'cleanup', 'a task outside is released while its instance is suspended');
select play_report(play_id(:i, 'j'));
select is(waiting(:i), 'a2 suspended, g1 suspended, g2 suspended, j2 suspended, s2 suspended', 'the next one is held');
select is_empty('select * from wf.fsck()', 'all is well');

-- operators go on
select results_eq(format($$select answer, detail from wf.retry('{"process": %s}')$$, play_id(:i, 'b')), $$values ('done', 'FAILED -> INIT')$$, 'a failure is retried');
select is(waiting(:i), 'a2 suspended, b suspended, g1 suspended, g2 suspended, j2 suspended, s2 suspended', 'a retried task is held');
select results_eq(format($$select answer, detail from wf.cancel('{"process": %s}')$$, play_id(:i, 'b')), $$values ('done', 'INIT -> FAILED')$$, 'a held task is cancelled');
select wf.resolve(format('{"process": %s}', play_id(:i, 'b'))::jsonb, '1');
select wf.cancel(format('{"process": %s}', play_id(:i, 'g1'))::jsonb);
select wf.ignore(format('{"process": %s}', play_id(:i, 'g1'))::jsonb);
select results_eq(format('select event, state, warned from wf.instance where id = %s', :i), $$values ('warn', 'SUSPENDED', true)$$, 'an ignored failure makes a warning of the suspended instance');
select is((select at from wf.suspended where instance_id = :i), (select at from wf.event where instance_id = :i and event = 'suspend' order by seq desc limit 1), 'a warning does not change since when the instance is suspended');
select is(play_take(:driver, 1000), 0::bigint, 'nothing of all this is handed out');
select wf.resume(format('{"instance": %s}', :i)::jsonb);
select play_report(play_id(:o, 'g2'));
select play_on(:driver);
select results_eq(format('select state, result from wf.instance where id = %s', :i), $$values ('END', 'warning')$$, 'resumed, it comes to its end');
select is_empty('select * from wf.fsck()', 'all is well');

-- lost drivers, and requests that are handed back
select play_install('again', jsonb_build_array(play_task('t.Do', 'x', '{}', '{"idempotent": true}'), play_task('t.Do', 'y')));
select wf.start('again') as i \gset
select play_take(:driver);
select wf.suspend(format('{"instance": %s}', :i)::jsonb);
select play_report(play_id(:i, 'x'), 'release');
select is(waiting(:i), 'x suspended', 'a request that was handed back is held');
select wf.resume(format('{"instance": %s}', :i)::jsonb);
select play_take(:driver);
select wf.suspend(format('{"instance": %s}', :i)::jsonb);
select wf.leave(:driver);
select is(waiting(:i), 'x suspended', 'a lost task that may be repeated is held');
select play_driver('two') as driver \gset
select wf.resume(format('{"instance": %s}', :i)::jsonb);
select play_on(:driver);
select is((select state from wf.instance where id = :i), 'END', 'the resumed instance comes to its end');

-- the end of a suspended instance
select wf.start('again') as i \gset
select play_take(:driver);
select play_report(play_id(:i, 'x'));
select play_take(:driver);
select wf.suspend(format('{"instance": %s}', :i)::jsonb, 'too late');
select play_report(play_id(:i, 'y'));
select results_eq(format('select state, result from wf.instance where id = %s', :i), $$values ('END', 'success')$$, 'a running task may end a suspended instance');
select is_empty('select * from wf.suspended', 'an ended instance is not suspended any more');
select wf.start('again') as i \gset
select wf.suspend(format('{"instance": %s}', :i)::jsonb);
select results_eq(format($$select answer, detail from wf.abort('{"instance": %s}')$$, :i), $$values ('done', 'SUSPENDED -> ABORTED')$$, 'a suspended instance is aborted');
select is_empty('select * from wf.suspended', 'an aborted instance is not suspended any more');
select is_empty('select * from wf.fsck()', 'all is well');

-- targets and refusals
select results_eq(format($$select answer, detail from wf.suspend('{"instance": [%s, 999999]}')$$, :i),
    $$values ('refused', 'ABORTED: only RUNNING can be suspended'), ('refused', 'there is no such instance')$$, 'an instance that has ended is not suspended');
select wf.start('again') as i \gset
select wf.start('again') as o \gset
select results_eq(format($$select answer, detail from wf.resume('{"instance": %s}')$$, :i), $$values ('refused', 'RUNNING: only SUSPENDED can be resumed')$$, 'a running instance is not resumed');
select results_eq(format($$select answer, detail from wf.suspend('{"process": %s}')$$, play_id(:i, 'x')), $$values ('refused', 'INIT: only a whole instance can be suspended')$$, 'a single task is not suspended');
select results_eq($$select instance_id, answer from wf.suspend('{"workflow": "again"}')$$, format($$values (%s::bigint, 'done'), (%s::bigint, 'done')$$, :i, :o), 'a workflow stands for its running instances');
select results_eq($$select instance_id, answer, detail from wf.suspend('{"global": true}')$$, format($$values (%s::bigint, 'refused', 'SUSPENDED: only RUNNING can be suspended')$$, :o), 'twice is once');
select results_eq($$select instance_id, answer from wf.resume('{"workflow": "again", "state": "SUSPENDED"}')$$, format($$values (%s::bigint, 'done'), (%s::bigint, 'done')$$, :i, :o), 'a workflow with a state stands for its suspended instances');
select throws_ok($$select * from wf.resume('{"workflow": "again"}')$$, 'WF003', null, 'if there are any');
select results_eq(format($$select label, was, event, state from wf.suspend('{"instance": %s}') s, wf.changes(array[s.instance_id]) c where c.event = 'suspend'$$, :i),
    $$values ('again', 'RUNNING', 'suspend', 'SUSPENDED')$$, 'a caller can look at what it changed');

-- elements of a forall, in a statement of many
select play_install('many', jsonb_build_array(play_forall('n', '[1, 2, 3, 4, 5, 6]', play_task('t.Do', 'e')) || '{"max": 3}'));
select wf.start('many') as i \gset
select wf.start('many') as o \gset
select play_take(:driver, 100);
select wf.suspend(format('{"instance": %s}', :i)::jsonb);
select wf.outcome(:driver, array_agg(r.instance_id), array_agg(r.process_id), array_agg(r.token), array_agg('response'::text), array_agg(''::bytea))
  from play_request r join wf.lease l on l.token = r.token where r.instance_id in (:i, :o);
select is(waiting(:i), 'e suspended, e suspended, e suspended', 'of those that begin together each goes where it belongs');
select is(waiting(:o), 'e start, e start, e start', 'by its instance');
select is_empty('select * from wf.fsck()', 'all is well');

-- fsck finds what does not fit
create function faults() returns setof text language sql as $$ select distinct f.check_name from wf.fsck() f order by 1 $$;
insert into wf.ready select k.instance_id, k.process_id, k.lane_id, k.turn, k.rank, 'start' from wf.parked k where k.instance_id = :i limit 1;
select ok('suspended: to be handed out all the same, or held without need' in (select * from faults()), 'fsck finds what would be handed out all the same');
delete from wf.suspended;
select ok('suspended: listed but not SUSPENDED, or SUSPENDED but not listed' in (select * from faults()), 'fsck finds an instance that is suspended and not listed');

select * from finish();
rollback;
