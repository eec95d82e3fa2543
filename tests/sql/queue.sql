-- queue.sql - whoever works off a queue does not begin at its head each time.
begin;
\ir helper/play.sql
select no_plan();

select play_install('wide', jsonb_build_array(jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'i', 'in', '["range", 1, 2000]'::jsonb, 'body', play_task('t.Do', 'w'))));
select play_install('one', jsonb_build_array(play_task('t.Do', 'a')));
select play_driver() as d \gset
select set_config('wf.now', '2030-01-01 00:00:00+00', true);

-- taken(WANT): the workflows of which requests are handed out, with how many
create function taken(p_driver bigint, p_want int) returns text language sql as $$
    select coalesce(string_agg(t.name || ' ' || t.count, ', ' order by t.name), 'nothing')
      from (select w.name, count(*)
              from wf.poll(p_driver, p_want) r
              join wf.instance i on i.id = r.instance_id
              join wf.workflow w on w.id = i.workflow_id
             group by w.name) t;
$$;

-- seen(WANT): how many rows of the queue's index, dead or alive, a poll looks at
create function seen(p_driver bigint, p_want int) returns bigint language plpgsql as $$
declare
    v_before bigint := pg_stat_get_xact_tuples_returned('wf.ready_claim_idx'::regclass);
begin
    perform wf.poll(p_driver, p_want);
    return pg_stat_get_xact_tuples_returned('wf.ready_claim_idx'::regclass) - v_before;
end;
$$;

select wf.start('wide') as wide \gset
select is(taken(:d, 10), 'wide 10', 'a poll that gets all that it wants');
select wf.start('one', '{}', null, 10) as urgent \gset
select is(string_agg(taken(:d, 10), '; '), 'wide 10; wide 10; wide 10; wide 10; wide 10; wide 10; wide 10', 'seven more go on from there')
  from generate_series(1, 7);
select is(taken(:d, 10), 'one 1, wide 9', 'the eighth begins at the head');
select is(taken(:d, 10), 'wide 10', 'and the next goes on again');
select wf.start('one', '{}', null, 10) as urgent \gset
select is(taken(:d, 5000), 'one 1, wide 901', 'one that gets less has looked at everything');
select is(taken(:d, 10), 'nothing', 'nothing is left');
select wf.start('one') as late \gset
select is(taken(:d, 1), 'one 1', 'what comes then is seen at once');
select wf.start('one') as late \gset
select is(taken(:d, 1), 'one 1', 'and so is the next');
select wf.start('one', '{}', null, 10) as urgent \gset
select is(taken(:d, 1), 'one 1', 'even if it comes before that');
select is(taken(:d, 1), 'nothing', 'nothing is left');

select wf.start('wide') as wide \gset
select is(count(*) filter (where taken(:d, 20) = 'wide 20'), 40::bigint, 'a queue that is worked off') from generate_series(1, 40);
select set_config('wf.from', '', false);
select cmp_ok(seen(:d, 20), '>=', 800::bigint, 'has dead rows at its head');
select cmp_ok(seen(:d, 20), '<=', 60::bigint, 'who goes on does not see them');
select is(current_setting('wf.from')::jsonb ->> 3, '8', 'where these are few, it looks at them again in the eighth turn');

-- a long head: 200,000 rows before all others, and dead
select wf.start('wide') as wide \gset
insert into wf.ready (instance_id, process_id, lane_id, turn, rank, request)
select -1, g, (select min(lane_id) from wf.ready), 0, -100, 'start' from generate_series(1, 200000) g;
delete from wf.ready where instance_id = -1;
select set_config('wf.from', '', false);
select taken(:d, 20);
select cmp_ok((current_setting('wf.from')::jsonb ->> 3)::int, '>=', 12, 'where these are many, later');
select is(count(*) filter (where seen(:d, 20) <= 60), 11::bigint, 'so that most turns see none of them') from generate_series(1, 11);
select set_config('wf.from', jsonb_set(current_setting('wf.from')::jsonb, '{3}', '12')::text, false);
select taken(:d, 20);
select cmp_ok(seen(:d, 20), '>=', 200000::bigint, 'but some do');

select * from finish();
rollback;
