-- place.sql - where every process is, and why it does not go on there.
begin;
\ir helper/play.sql
select no_plan();
set local wf.now = '2026-01-01 00:00+00';

-- places(INSTANCE): of each leaf its name, place and reason, in one line
create function places(p_instance bigint) returns text
language sql as $$
    select string_agg(concat_ws(' ', p.bind, x.place, x.request, x.reason), ', ' order by p.bind)
      from wf.process p
      left join wf._place_v x on x.instance_id = p.instance_id and x.process_id = p.id
     where p.instance_id = p_instance and p.bind is not null and p.state not in ('END', 'RAISED', 'ABORTED');
$$;
-- disagree(): where the view and explain do not agree
create function disagree() returns setof text
language sql as $$
    select format('%s/%s: %s, explain %s', p.instance_id, p.id, x.reason, e.reasons)
      from wf.process p
      left join wf._place_v x on x.instance_id = p.instance_id and x.process_id = p.id
     cross join lateral (select coalesce(array_agg(r.reason), '{}') as reasons from wf.explain(p.instance_id, p.id) r where r.reason <> 'note') e
     where p.state not in ('END', 'RAISED', 'ABORTED')
       and ((x.reason is null) <> (e.reasons = '{}') or x.reason is not null and x.reason <> all (e.reasons));
$$;
-- sound(WHEN): all that holds at any moment
create function sound(p_when text) returns setof text
language sql as $$
    select is_empty('select * from disagree()', p_when || ': explain gives the reason of each place') union all
    select is_empty('select * from wf.fsck()', p_when || ': each process has one place') union all
    select is_empty($q$select e.reason from wf.process p, wf.explain(p.instance_id, p.id) e where e.reason <> 'note' except select reason from wf.reason_v$q$, p_when || ': so is each reason that explain gives') union all
    select is_empty($q$select reason from wf._place_v where reason is not null except select reason from wf.reason_v$q$, p_when || ': each reason is in the list of reasons');
$$;

savepoint start;
select play_install('mixed', jsonb_build_array(play_par(
    play_task('t.Do', 'a'),
    play_task('t.Do', 'b'),
    play_task('t.Do', 'c', '{}', '{"retry": {"attempts": 2, "delay": "PT10S"}}'),
    play_task('t.Job', 'j'),
    play_task('t.Sleep', 's', '{"duration": "PT1H"}'),
    play_task('t.Far', 'far'),
    play_task('t.Do', 'g1', '{}', '{"group": {"name": "etl", "max": 1}}'),
    play_task('t.Do', 'g2', '{}', '{"group": {"name": "etl", "max": 1}}'))));
select play_driver() as driver \gset
select wf.start('mixed') as i \gset
select is(places(:i), 'a ready start, b ready start, c ready start, far ready start driver, g1 parked start group, g2 parked start group, j ready start, s timer time',
    'a claimable task has no reason');
select sound('begun');
select play_take(:driver);
select play_fail(play_id(:i, 'a')), play_fail(play_id(:i, 'c')), play_report(play_id(:i, 'j'), 'ack'), play_report(play_id(:i, 'j'), 'response', '{"id": 1}');
select is(places(:i), 'a failed failed, b lease start request, c timer retry, far ready start driver, g1 lease start request, g2 parked start group, j timer poll time, s timer time',
    'each place has its reasons');
select results_eq(format('select since, until from wf._place_v where instance_id = %s and process_id = %s', :i, play_id(:i, 'c')),
    $$values (wf.now(), wf.now() + interval '10 s')$$, 'the reason of a sleep says since when, and until when');
select is((select driver_id from wf._place_v where process_id = play_id(:i, 'b')), :driver::bigint, 'with which driver');
select sound('under way');
select wf.engine_pause();
select play_later('10 s'), wf.tick();
select wf.heartbeat(:driver);
select is(places(:i), 'a failed failed, b lease start request, c ready start paused, far ready start driver, g1 lease start request, g2 parked start group, j ready poll paused, s timer time',
    'while the engine is paused nothing is handed out');
select sound('paused');
select wf.engine_resume();
select count(*) from wf.suspend(format('{"instance": %s}', :i)::jsonb);
select is(places(:i), 'a failed failed, b lease start request, c parked start suspended, far parked start suspended, g1 lease start request, g2 parked start suspended, j ready poll, s timer time',
    'of a suspended instance nothing is started');
select sound('suspended');
select count(*) from wf.resume(format('{"instance": %s}', :i)::jsonb);
select is((select string_agg(distinct place || ' ' || reason, ', ') from wf._place_v x join wf.process p on p.instance_id = x.instance_id and p.id = x.process_id where p.machine = 'composite'),
    'children children', 'a composite waits for what is in it');
select count(*) from wf.abort(format('{"instance": %s}', :i)::jsonb);
select is(places(:i), 'b lease start request, g1 lease start request, j ready cancel', 'an aborted task waits for its driver');
select is((select string_agg(x.reason, ' ' order by x.process_id) from wf._place_v x where x.place = 'children'), 'teardown children', 'the teardown is the reason of its root');
select sound('aborting');
select play_take(:driver), play_report(play_id(:i, 'j'), 'response'), play_fail(play_id(:i, 'b')), play_fail(play_id(:i, 'g1'));
select play_on(:driver);
select is_empty('select * from wf._place_v', 'an ended instance has no places');
select sound('over');

-- tasks that wait for a person
select is((select string_agg(reason, ' ' order by reason collate "C") from wf.reason_v where person), 'driver failed input paused set aside stuck suspended', 'some reasons only a person ends');

-- a process is looked up by its key
select count(*) from (select wf.start('mixed') from generate_series(1, 30)) x;
select wf.start('mixed') as i \gset
create function plan_of(p_query text) returns text language plpgsql as $$
declare v_line text; v_plan text := '';
begin
    for v_line in execute 'explain (costs off) ' || p_query loop v_plan := concat_ws(E'\n', v_plan, v_line); end loop;
    return v_plan;
end; $$;
set local enable_seqscan = off;
select unalike(plan_of(format('select * from wf._place_v where instance_id = %s and process_id = %s', :i, play_id(:i, 'a'))), '%Seq Scan on process%', 'by their keys');
select unalike(plan_of(format('select * from wf._place_v where instance_id = %s and process_id = %s', :i, play_id(:i, 'a'))), '%Seq Scan on (ready|timer|lease|parked|failed)%', 'in every place');
select unalike(plan_of($$select * from wf._place_v where place in ('failed', 'lease')$$), '%on ready%', 'a place that is not asked for is not read');
-- stuck looks for what stops something, not through all that waits
set local enable_seqscan = on;
create temporary table before as
select relname, seq_scan + idx_scan as scans from pg_stat_xact_user_tables where schemaname = 'wf';
select isnt_empty('select * from wf.stuck()', 'something waits for a person');
select is_empty($$
    select t.relname
      from pg_stat_xact_user_tables t
      join before b using (relname)
     where t.schemaname = 'wf' and t.relname in ('timer', 'lease') and t.seq_scan + t.idx_scan > b.scans$$,
    'stuck reads no timers and no requests of drivers');

-- a process that is in no place
savepoint s;
set local session_replication_role = replica;
delete from wf.ready where process_id = play_id(:i, 'b');
set local session_replication_role = origin;
select results_eq(format('select reason from wf.explain(%s, %s)', :i, play_id(:i, 'b')), $$values ('stuck')$$, 'explain says that it is stuck');
rollback to s;

-- what is torn down in portions is not handed out before it has been told
rollback to start;
select play_install('many', jsonb_build_array(play_par(
    play_forall('x', (select jsonb_agg(k) from generate_series(1, 800) k), play_task('t.Far', 'd')),
    play_forall('x', (select jsonb_agg(k) from generate_series(1, 800) k), play_task('t.Far', 'd')))));
select wf.start('many') as i \gset
select is((select string_agg(reason || ' ' || processes, ', ') from wf.stuck()), 'driver 1600', 'no driver serves what has begun');
select count(*) from wf.abort(format('{"instance": %s}', :i)::jsonb);
select is((select string_agg(distinct concat_ws(' ', place, reason), ', ') from wf._place_v), 'children children, children teardown, ready teardown', 'the rest is told later');
select is_empty('select * from wf.stuck()', 'a process that has yet to be told waits for no person');
select is_empty('select * from disagree()', 'explain says so');
select is_empty('select * from wf.fsck()', 'each process has one place');
select * from finish();
rollback;
