-- plan.sql - what the engine reads does not depend on the settings of whoever
-- calls, nor on how empty the tables were when its plans were made.
begin;
\ir helper/play.sql
select plan(7);

select play_install('two', jsonb_build_array(play_task('t.Do', 'a'), play_task('t.Do', 'b', '{}', '{"group": {"name": "g", "max": 50}}')));
select play_install('lanes', jsonb_build_array(play_par(play_task('t.Do', 'a'), play_task('t.Far', 'b'), play_task('t.Do', 'c', '{}', '{"queue": "other"}'))));
select wf.register('fake', '1', '{builtin,ssh}', '{}', 100) as driver \gset

-- work(DRIVER, ROUNDS): a hundred requests each.
create function work(p_driver bigint, p_rounds int) returns void language plpgsql as $$
begin
    for i in 1 .. p_rounds loop
        perform play_take(p_driver, 100);
        perform wf.outcome(p_driver, array_agg(l.instance_id), array_agg(l.process_id), array_agg(l.token), array_agg('response'::text), array_agg('{}'::bytea))
           from wf.lease l having count(*) > 0;
    end loop;
end;
$$;

set enable_indexscan = off;
set enable_indexonlyscan = off;
set enable_tidscan = off;
set enable_nestloop = off;
set enable_material = off;
set enable_memoize = off;
set enable_sort = off;
set enable_incremental_sort = off;
set enable_hashagg = off;
set join_collapse_limit = 1;
set from_collapse_limit = 1;
set random_page_cost = 1000;
set work_mem = '64kB';
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
set min_parallel_index_scan_size = 0;

-- the plans are made
analyze wf.timer, wf.work;
select wf.start('two');
select wf.start('lanes');
select work(:driver, 10);
select play_take(:driver, 1), play_take(:driver, 1);
create temporary table before as
select t.relname, t.seq_tup_read from pg_stat_xact_user_tables t where t.schemaname = 'wf';

select count(*) from wf.start_many('two', (select jsonb_agg('{}'::jsonb) from generate_series(1, 300)));
select count(*) from wf.start_many('lanes', (select jsonb_agg('{}'::jsonb) from generate_series(1, 200)));
select work(:driver, 20);
select is_empty($$
    select t.relname, t.seq_tup_read - b.seq_tup_read
      from pg_stat_xact_user_tables t
      join before b using (relname)
     where t.schemaname = 'wf' and t.seq_tup_read > b.seq_tup_read
       and t.relname in ('process', 'instance', 'ready', 'parked', 'slot', 'timer', 'node', 'task_request', 'transition')
$$, 'each row was found by an index');
select is((select count(*) from wf.instance_v where state = 'END'), 502::bigint, 'all instances have ended');
select cmp_ok(pg_stat_get_xact_numscans('wf.ready_claim_idx'::regclass), '>', 0::bigint, 'lanes are merged by their index');

-- a driver that finds nothing looks for the next moment, with a plan that was made when there was none
select play_install('nap', jsonb_build_array(play_task('t.Sleep', 'a', '{"duration": "PT10H"}')));
select count(*) from wf.start_many('nap', (select jsonb_agg('{}'::jsonb) from generate_series(1, 500)));
select wf.start('two', p_at => wf.now() + interval '10 h') from generate_series(1, 500);
select play_take(:driver, 1), play_take(:driver, 1);
create temporary table waiting as
select t.relname, t.idx_tup_fetch from pg_stat_xact_user_tables t where t.schemaname = 'wf';
select play_take(:driver, 1), play_take(:driver, 1), play_take(:driver, 1);
select cmp_ok((select count(*) from wf.timer), '>=', 500::bigint, 'hundreds of timers wait');
select is_empty($$
    select t.relname, t.idx_tup_fetch - b.idx_tup_fetch
      from pg_stat_xact_user_tables t
      join waiting b using (relname)
     where t.schemaname = 'wf' and t.relname in ('timer', 'work') and t.idx_tup_fetch - b.idx_tup_fetch > 50
$$, 'three polls that find nothing read a few of them');

-- what people ask of one instance, with the planner as it comes
set enable_indexscan = on;
set enable_indexonlyscan = on;
set enable_nestloop = on;
set enable_sort = on;
select wf.start('lanes') as i \gset
create temporary table asked as
select t.relname, t.seq_tup_read from pg_stat_xact_user_tables t where t.schemaname = 'wf';
create function read_as_a_whole() returns setof text language sql as $$
    select t.relname::text
      from pg_stat_xact_user_tables t
      join asked b using (relname)
     where t.schemaname = 'wf' and t.seq_tup_read > b.seq_tup_read
       and t.relname in ('process', 'event', 'ready', 'parked', 'lease', 'timer', 'failed');
$$;
select count(*) from wf.explain(:i);
select is_empty('select read_as_a_whole()', 'explain of an instance reads no table of others');
select count(*) from wf.changes(array[:i]);
select is_empty('select read_as_a_whole()', 'a dry run of an instance reads no table of others');
select finish();
rollback;
