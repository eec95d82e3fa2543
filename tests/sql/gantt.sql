-- gantt.sql - when the tasks of an instance ran, attempt by attempt.
begin;
\ir helper/play.sql
select no_plan();
select play_driver() as driver \gset
select set_config('wf.now', '2030-01-01 00:00:00+00', true);
-- bars(INSTANCE): name, attempt, state, and the seconds at which each was enabled, started and ended
create function bars(p_instance bigint, p_limit int default null, p_after bigint default null) returns setof text
language sql as $$
    select concat_ws(' ', replace(g.label, 't.Do as ', ''), g.attempt, g.state,
                     extract(epoch from g.enabled_at - timestamptz '2030-01-01Z')::int, coalesce(extract(epoch from g.started_at - timestamptz '2030-01-01Z')::int::text, '-'),
                     coalesce(extract(epoch from g.ended_at - timestamptz '2030-01-01Z')::int::text, '-'))
      from wf.gantt(p_instance, p_limit, p_after) with ordinality g
     order by g.ordinality $$;

select play_install('line', jsonb_build_array(
    play_task('t.Do', 'a'),
    play_task('t.Do', 'b', '{}', '{"retry": {"attempts": 2, "delay": "PT5S"}}'),
    play_par(play_task('t.Do', 'c'), play_task('t.Sleep', null, '{"duration": "PT30S"}'))));
select wf.start('line') as i \gset
select results_eq(format('select bars(%s)', :i), $$values ('a 1 INIT 0 - -')$$, 'a waiting task has a beginning');
select play_later('2 s'), play_take(:driver);
select results_eq(format('select bars(%s)', :i), $$values ('a 1 START_REQUESTED 0 2 -')$$, 'D18: when it was started');
select play_later('3 s'), play_report(play_id(:i, 'a'));
select play_later('1 s'), play_take(:driver);
select play_later('1 s'), play_fail(play_id(:i, 'b'));
select play_later('5 s'), wf.tick(), play_take(:driver);
select results_eq(format('select bars(%s)', :i), $$values ('a 1 END 0 2 5'), ('b 1 FAILED 5 6 7'), ('b 2 START_REQUESTED 7 12 -')$$, 'each attempt has a row');
select play_later('1 s'), play_report(play_id(:i, 'b'));
select play_later('1 s'), play_take(:driver);
select play_fail(play_id(:i, 'c'));
select play_later('6 s');
select wf.ignore(jsonb_build_object('instance', :i));
select results_eq(format('select bars(%s)', :i),
    $$values ('a 1 END 0 2 5'), ('b 1 FAILED 5 6 7'), ('b 2 END 7 12 13'), ('c 1 FAILED 13 14 14'), ('t.Sleep 1 WAITING 13 13 -')$$, 'an attempt ends when it fails, whatever comes of it later');
select results_eq(format('select bars(%s, 1, %s)', :i, play_id(:i, 'a')), $$values ('b 1 FAILED 5 6 7'), ('b 2 END 7 12 13')$$, 'page by page, task by task');
select is_empty(format('select bars(%s, 0)', :i), 'no task');
select throws_ok(format('select bars(%s, -1)', :i), 'WF002', 'the limit must be at least 0, not -1', 'a limit below 0');
select throws_ok('select bars(4711)', 'WF003', 'there is no instance 4711', 'an instance that does not exist');

-- undos are tasks like others
create function undone_by(p_node jsonb, p_body jsonb) returns jsonb
language sql as $$ select p_node || jsonb_build_object('undo', jsonb_build_object('kind', 'undo', 'line', 5, 'body', p_body)); $$;
select play_install('undone', jsonb_build_array(jsonb_build_object('kind', 'try', 'line', 2,
    'body', play_seq(play_forall('x', '["one", "two"]', undone_by(play_task('t.Do', 'b'), play_task('t.Do', 'un_b'))) || '{"max": 1}', play_task('t.Do', 'c')),
    'catches', jsonb_build_array(jsonb_build_object('kind', 'catch', 'line', 3, 'name', 'e', 'body', play_task('t.Do', 'k'))))));
select wf.start('undone') as i \gset
select play_take(:driver), play_later('1 s'), play_report(play_id(:i, 'b')), play_take(:driver), play_later('1 s'), play_report(play_id(:i, 'b')), play_take(:driver), play_later('1 s'), play_fail(play_id(:i, 'c'));
select play_take(:driver), play_later('1 s'), play_report(play_id(:i, 'un_b')), play_take(:driver), play_later('1 s'), play_report(play_id(:i, 'un_b')), play_take(:driver);
select results_eq(format('select bars(%s)', :i), $$values ('b [0] 1 END 20 20 21'), ('b [1] 1 END 21 21 22'), ('c 1 FAILED 22 22 23'), ('un_b [1] 1 END 23 23 24'), ('un_b [0] 1 END 24 24 25'), ('k 1 START_REQUESTED 25 25 -')$$,
    'undos come behind the failure, last first, each with its element');

-- numbers say nothing of the order: each session has a stock of its own
create function run(p_driver bigint, p_instance bigint, p_count int) returns void language plpgsql as $$
begin
    for k in 1 .. p_count loop
        perform setval('wf.process_id', 200000 - 100 * k), play_take(p_driver);
        perform play_later('1 s'), play_report(p.id) from wf.process p where p.instance_id = p_instance and p.state = 'START_REQUESTED';
    end loop;
end;
$$;
create function names(p_instance bigint, p_limit int default null, p_after bigint default null) returns text
language sql as $$ select string_agg(split_part(b, ' 1 ', 1), ', ') from bars(p_instance, p_limit, p_after) b $$;
select play_install('three', jsonb_build_array(play_task('t.Do', 'a'), play_task('t.Do', 'b'), play_task('t.Do', 'c')));
select wf.start('three') as i from setval('wf.process_id', 300000) \gset
select run(:driver, :i, 3);
select is(names(:i), 'a, b, c', 'tasks are in the order in which they could begin');
select is(names(:i, 1, play_id(:i, 'a')) || ' | ' || names(:i, 2, play_id(:i, 'b')), 'b | c', 'page by page, too');
select play_install('many', jsonb_build_array(play_forall('x', (select jsonb_agg(k) from generate_series(1, 10001) k), play_task('t.Do', 'd')) || '{"max": 1}'));
select wf.start('many') as i from setval('wf.process_id', 300000) \gset
select run(:driver, :i, 3);
select is(names(:i), 'd [0], d [1], d [2], d [3]', 'a page of many elements has all of its attempts');
select process_id as first from wf.gantt(:i, 1) \gset
select is(names(:i, 2) || ' | ' || names(:i, 2, :first), 'd [3], d [2] | d [2], d [1]', 'pages of many go by the numbers');
select setval('wf.process_id', 400000), wf.abort(jsonb_build_object('instance', :i));

-- of a long history only that of the page is read
select play_install('fan', jsonb_build_array(play_forall('x', (select jsonb_agg(k) from generate_series(1, 600) k), play_task('t.Do', 'd')) || '{"max": 3}'));
select wf.start('fan') as i \gset
do $$ begin for k in 1..200 loop perform play_later('1 s'), play_take((select max(id) from wf.driver), 3); perform play_report(l.process_id) from wf.lease l; end loop; end $$;
select is((select count(*) from wf.gantt(:i) where ended_at is not null), 600::bigint, 'all of it');
create function read_by(p_query text) returns bigint language plpgsql as $$
declare
    v_before bigint := (select t.idx_tup_fetch + t.seq_tup_read from pg_stat_xact_user_tables t where t.schemaname = 'wf' and t.relname = 'event');
begin
    execute p_query;
    return (select t.idx_tup_fetch + t.seq_tup_read from pg_stat_xact_user_tables t where t.schemaname = 'wf' and t.relname = 'event') - v_before;
end;
$$;
select process_id as after from wf.gantt(:i) offset 400 limit 1 \gset
select cmp_ok(read_by(format('select wf.gantt(%s, 10, %s)', :i, :after)), '<', 200::bigint, 'a page of a long history');
select * from finish();
rollback;
