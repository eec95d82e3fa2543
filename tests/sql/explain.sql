-- explain.sql - why something is not running, and that it is so.
begin;
\ir helper/play.sql
select plan(44);

-- The law: a driver may take a request of a task now if and only if explain
-- gives no reason for it.
create function unexplained() returns setof wf.process
language sql as $$
    select p.*
      from wf.process p
     where p.kind in ('sync', 'async', 'wait')
       and exists (select
                     from wf.ready r
                     cross join lateral wf._find_lane(r.lane_id) l
                     join wf.driver d on d.state = 'live' and wf._serves(d, l)
                    where r.instance_id = p.instance_id and r.process_id = p.id
                      and (select e.state = 'RUNNING' from wf.engine_v e))
           <> not exists (select from wf.explain(p.instance_id, p.id) e where e.reason <> 'note');
$$;

-- reasons(INSTANCE, NAME): what explain says about one process.
create function reasons(p_instance bigint, p_name text) returns table (reason text, detail text)
language sql as $$
    select e.reason, e.detail from wf.explain(p_instance, play_id(p_instance, p_name)) e where e.reason <> 'note';
$$;

select play_install('mixed', jsonb_build_array(play_par(
    play_task('t.Do', 'a'),
    play_task('t.Far', 'f'),
    play_task('t.Job', 'j'),
    play_task('t.Sleep', 's', '{"duration": "PT1H"}'),
    play_task('t.Do', 'g1', '{}', '{"group": {"name": "etl", "max": 1}}'),
    play_task('t.Do', 'g2', '{}', '{"group": {"name": "etl", "max": 1}}'))));

-- no driver
select wf.start('mixed') as i \gset
select results_eq(format('select * from reasons(%s, ''a'')', :i),
    $$values ('driver', 'no live driver serves queue default with builtin')$$, 'without a driver nothing starts');
select is_empty('select * from unexplained()', 'the law holds without a driver');

-- drivers, and what they have
select play_driver('one') as driver \gset
select is_empty(format('select * from reasons(%s, ''a'')', :i), 'a claimable task needs no explanation');
select results_eq(format('select * from reasons(%s, ''f'')', :i),
    $$values ('driver', 'no live driver serves queue default with ssh; one lacks ssh')$$, 'a driver that has not got the transport does not count');
select play_driver('two', '{ssh}', '{other}');
select results_eq(format('select * from reasons(%s, ''f'')', :i),
    $$values ('driver', 'no live driver serves queue default with ssh; one lacks ssh; two lacks queue default')$$, 'a driver that serves another queue does not count');
select is_empty('select * from unexplained()', 'the law holds with drivers');

savepoint drained;
select wf.drain(:driver);
select is((select detail from reasons(:i, 'a')), 'no live driver serves queue default with builtin; one is draining; two lacks queue default, builtin', 'a draining driver does not count');
rollback to drained;
update wf.sign_of_life set seen_at = '2020-01-02 03:04:05' where driver_id = :driver;
select is((select detail from reasons(:i, 'a')),
          'no live driver serves queue default with builtin; one is silent since 2020-01-02 03:04:05+00; '
          || 'two lacks queue default, builtin',
          'a silent driver does not count');
rollback to drained;
do $$ begin for k in 1 .. 9 loop perform play_driver('more' || k, '{sql}'); end loop; end $$;
select is((select detail from reasons(:i, 'f')), 'no live driver serves queue default with ssh; more1 lacks ssh; more2 lacks ssh; more3 lacks ssh; more4 lacks ssh; more5 lacks ssh; …', 'of many drivers some are named');
rollback to drained;

-- groups and requests
select is(play_take(:driver), 3::bigint, 'a, j and one of the group are handed out');
savepoint taken;
select results_eq(format('select * from reasons(%s, ''a'')', :i),
    $$values ('request', 'its start request is with driver one')$$, 'a driver has it');
update wf.sign_of_life set seen_at = '2020-01-02 03:04:05' where driver_id = :driver;
select is((select detail from reasons(:i, 'a')),
          'its start request is with driver one, silent since 2020-01-02 03:04:05+00', 'a silent driver is named');
rollback to taken;
select matches((select detail from reasons(:i, 'g2')),
    format('^group etl has 1 of 1 places taken: held by %s of instance %s \(.*, since \S+ \d\d:\d\d:\d\d\+00\)$',
           play_id(:i, 'g1'), :i),
    'the reason of a full group names the tasks that hold its places');
select wf.group_set('etl', 0);
select is((select reason from reasons(:i, 'g2')), 'group', 'a group without places is full');
select wf.group_set('etl', 5);
select is((select detail from reasons(:i, 'g2')), 'group etl has 1 of 5 places taken; it gets one with the next poll', 'places that have just come free');
select is_empty('select * from unexplained()', 'the law holds with groups');

-- time
select matches((select detail from reasons(:i, 's')), '^waits until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d', 'a sleep says until when');
select play_report(play_id(:i, 'j'), 'ack');
select play_report(play_id(:i, 'j'), 'response', '{"id": 1}');
select matches((select detail from reasons(:i, 'j')), '^its next poll request is due at \d{4}', 'a task that runs outside says when it is asked again');
select is_empty('select * from unexplained()', 'the law holds with timers');

-- failures
select play_fail(play_id(:i, 'a'), 'no such file');
select results_eq(format('select * from reasons(%s, ''a'')', :i),
    $$values ('failed', 'http: no such file; waits for retry, ignore, resolve or raise')$$, 'a failure says what it waits for');
select is_empty('select * from unexplained()', 'the law holds with failures');

-- composites and instances
select matches((select detail from reasons(:i, 'par')), '^waits for 6: \d+ t.Do.* \(FAILED\), .* …$', 'a composite names what it waits for');
select play_install('row', jsonb_build_array(play_task('t.Far', 'far'), play_task('t.Do', 'near')));
select wf.start('row') as r \gset
select is((select detail from wf.explain(:r) where reason = 'children'), format('waits for 1: %s t.Far as far (INIT, then t.Do as near)', play_id(:r, 'far')), 'the reason names the next step, too');
select set_eq(format('select reason from wf.explain(%s)', :i), array['children', 'driver', 'failed', 'group', 'request', 'time'],
    'an instance is explained process by process');
select set_eq(format('select process_id from wf.explain(%s)', :i),
    format($$select id from wf.process where instance_id = %s and state <> 'END'$$, :i), 'each of them');
select play_report(play_id(:i, 'g1'));
select results_eq(format('select * from reasons(%s, ''g1'')', :i), $$values ('ended', 'END')$$, 'an ended process says so');
select throws_ok('select * from wf.explain(999999)', 'WF003', 'there is no instance 999999', 'an unknown instance');
select throws_ok(format('select * from wf.explain(%s, 999999)', :i), 'WF003', format('instance %s has no process 999999', :i), 'an unknown process');

-- lost drivers
select set_config('wf.now', (clock_timestamp() + interval '10 minutes')::text, true);
select is((select reason from reasons(:i, 'f')), 'driver', 'a driver that gives no sign of life does not count');
select wf.tick();
select is_empty('select * from unexplained()', 'the law holds without live drivers');
select is((select reason from reasons(:i, 'j')), 'driver', 'a poll that is due waits for a driver too');
select is_empty('select * from wf.fsck()', 'all is well');

-- aborted
select wf.abort(format('{"instance": %s}', :i)::jsonb);
select is((select reason from wf.explain(:i) where process_id is null), 'aborting', 'an instance that is being aborted says so');
select play_driver('three') as driver \gset
select play_take(:driver);
select play_report(process_id) from play_request where driver_id = :driver and kind = 'run';
select play_take(:driver);
select play_report(process_id) from play_request where driver_id = :driver and kind = 'run' and request = 'cleanup';
select results_eq(format('select reason, detail from wf.explain(%s)', :i), $$values ('ended', 'ABORTED, aborted')$$, 'an aborted instance says so');
select is_empty('select * from wf.fsck()', 'all is well in the end');

-- notes: what a driver may take, and has not taken yet
select set_config('wf.now', '2050-01-01 00:00:00+00', true);
select wf.tick();
select wf.abort(format('{"instance": %s}', :r)::jsonb);
select play_install('many', jsonb_build_array(jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'i', 'in', '["range", 1, 900]'::jsonb, 'body', play_task('t.Far', 'm'))));
select play_install('far', jsonb_build_array(play_task('t.Far', 'f')));
create function notes(p_instance bigint) returns table (label text, detail text)
language sql as $$
    select e.label, e.detail from wf.explain(p_instance) e where e.reason = 'note' order by e.process_id;
$$;
select wf.register('busy', '1', '{builtin,ssh}', '{}', 4) as busy \gset
select wf.start('far') as n \gset
select results_eq(format('select * from notes(%s)', :n), $$values ('t.Far as f', 'driver busy may take it: it is the next one, 0 of its 4 slots are taken')$$, 'nothing is before a request');
select wf.start('many', '{}', null, 7) as m \gset
select play_take(:busy, 3);
select set_config('wf.now', '2050-01-01 00:00:10+00', true);
select play_take(:busy, 1);
select results_eq(format('select * from notes(%s)', :n),
    $$values ('t.Far as f', 'driver busy may take it: 896 requests are before it, 4 of its 4 slots are taken: ssh 4, '
                            || 'the oldest since '
                            || to_char('2050-01-01 00:00+00'::timestamptz, 'YYYY-MM-DD HH24:MI:SSOF'))$$,
    'a note says how many requests are before it, and what the slots are taken by');
select results_eq(format('select detail from wf.explain(%s, %s)', :n, play_id(:n, 'f')), format('select detail from notes(%s)', :n), 'the process says the same');
select is((select count(*) from notes(:m)), 1::bigint, 'of many that wait in a lane the first has a note');
select wf.start('many', '{}', null, 7) as m2 \gset
select wf.register('spare', '1', '{ssh}', '{}', 1) as spare \gset
select is((select detail from notes(:n)), 'driver busy may take it: more than 1,000 requests are before it, 4 of its 4 slots are taken: ssh 4, the oldest since '
    || to_char('2050-01-01 00:00+00'::timestamptz, 'YYYY-MM-DD HH24:MI:SSOF')
    || '; driver spare may take it: more than 1,000 requests are before it, 0 of its 1 slot is taken', 'each driver that serves it is named');
select wf.suspend(format('{"instance": %s}', :n)::jsonb);
select is_empty(format('select * from notes(%s)', :n), 'where there is a reason there is no note');
select wf.resume(format('{"instance": %s}', :n)::jsonb);
select wf.engine_pause('for a test');
select is_empty(format('select * from notes(%s)', :n), 'there are no notes while the engine is paused');
select wf.engine_resume('for a test');
select wf.leave(:spare), wf.leave(:busy);
select is_empty(format('select * from notes(%s)', :n), 'there are no notes without a driver');
select is_empty('select * from unexplained()', 'the law holds with notes');

select * from finish();
rollback;
