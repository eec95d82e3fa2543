-- queue.sql - what a driver is handed next: the first in order of (priority,
-- turn) over all lanes that it serves, though no poll looks at the whole queue.
begin;
\ir helper/play.sql
select no_plan();

insert into play_type (name, spec)
select format('t.%s', s), jsonb_build_object('name', format('t.%s', s), 'machine', 'sync', 'params', '[]'::jsonb,
                                             'requests', jsonb_build_object('start', jsonb_build_object('transport', lower(s), 'args', '{"url": "http://far/"}'::jsonb)))
  from unnest(array['Http', 'Sql']) s;
select play_install('wide', jsonb_build_array(jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'i', 'in', '["range", 1, 2000]'::jsonb, 'body', play_task('t.Do', 'w'))));
select play_install('calls', jsonb_build_array(jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'i', 'in', '["range", 1, 2000]'::jsonb, 'body', play_task('t.Http', 'w'))));
select play_install('one', jsonb_build_array(play_task('t.Do', 'a')));
select play_install('far', jsonb_build_array(play_task('t.Far', 'a')));
select play_install('sql', jsonb_build_array(play_task('t.Sql', 'a')));
select play_driver() as d \gset
select set_config('wf.now', '2030-01-01 00:00:00+00', true);

-- taken(DRIVER, WANT [, INSTANT [, KEPT]]): the workflows of which requests are handed out, with how many
create function taken(p_driver bigint, p_want int, p_instant int default null, p_kept jsonb default null) returns text language sql as $$
    select coalesce(string_agg(t.name || ' ' || t.count, ', ' order by t.name), 'nothing')
      from (select w.name, count(*)
              from wf.poll(p_driver, p_want, p_instant, p_kept) r
              join wf.instance i on i.id = r.instance_id
              join wf.workflow w on w.id = i.workflow_id
             group by w.name) t;
$$;

-- seen(DRIVER, WANT): how many rows of the queue's index, dead or alive, a poll looks at
create function seen(p_driver bigint, p_want int) returns bigint language plpgsql as $$
declare
    v_before bigint := pg_stat_get_xact_tuples_returned('wf.ready_claim_idx'::regclass);
begin
    perform wf.poll(p_driver, p_want);
    return pg_stat_get_xact_tuples_returned('wf.ready_claim_idx'::regclass) - v_before;
end;
$$;

-- something more urgent than the place where a session goes on
select wf.start('wide') as wide \gset
select is(taken(:d, 10), 'wide 10', 'a poll gets all that it wants');
select wf.start('one', '{}', null, 10) as urgent \gset
select is(taken(:d, 10), 'wide 10', 'the next one, at the same moment, goes on from there');
select play_later('10 ms');
select is(taken(:d, 10), 'one 1, wide 9', 'a poll 10 ms after the last look at the head hands out what is urgent');
select is(taken(:d, 10), 'wide 10', 'the poll after it goes on again');
select is(taken(:d, 1), 'wide 1', 'a driver with one slot takes a task of an hour');
select wf.start('one', '{}', null, 10) as urgent \gset
select play_later('1 hour'), wf.heartbeat(:d);
select is(taken(:d, 1), 'one 1', 'when that slot is free it takes what has become urgent meanwhile');
select wf.start('one', '{}', null, 10) as urgent \gset
select set_config('wf.now', (wf.now() - interval '1 day')::text, true);
select is(taken(:d, 1), 'one 1', 'a free slot takes the urgent task also when the clock was set back');
select wf.start('one', '{}', null, 10) as urgent \gset
select play_driver('other') as other \gset
select is(taken(:other, 1), 'one 1', 'another driver in the same session does not go on where this one was');
select taken(:d, 1);
select is(taken(:d, 5000), 'wide 959', 'a poll that gets less than it wants has looked at everything');
select is(taken(:d, 10), 'nothing', 'nothing is left');
select wf.start('one') as late \gset
select is(taken(:d, 1), 'one 1', 'a later task is handed out at once');
select wf.start('one', '{}', null, 10) as urgent \gset
select is(taken(:d, 1), 'one 1', 'a more urgent task is handed out at once');
select is(taken(:d, 1), 'nothing', 'nothing is left again');

-- lanes in one order
select set_config('wf.now', '2030-01-02 00:00:00+00', true);
select play_driver('all', '{builtin,http,sql,ssh}') as all \gset
select wf.start('calls') as calls \gset
select is(taken(:all, 100), 'calls 100', 'one forall is at work');
select wf.start('far', '{}', null, 1000) as urgent \gset
select play_later('10 ms');
select is(taken(:all, 100), 'calls 99, far 1', 'an urgent task of another transport goes before all of them');
select play_later('1 s');
select wf.start('sql') as late \gset
select is(taken(:all, 2), 'calls 1, sql 1', 'an ordinary one goes before the elements of later seconds');
select wf.abort(jsonb_build_object('instance', :calls));
select taken(:all, 100);
select wf.start_many(w.name, (select jsonb_agg('{}'::jsonb) from generate_series(1, 60))) from (values ('one'), ('far'), ('sql'), ('calls')) w (name);
select wf.abort(jsonb_build_object('instance', jsonb_agg(i.id))) from wf.instance i join wf.workflow w on w.id = i.workflow_id where w.name = 'calls' and i.state = 'RUNNING';
update wf.ready set rank = (hashtext(process_id::text) % 3)::smallint, turn = 1893456000000000 + abs(hashtext('t' || process_id)) % 50;
create temporary table expected as
select row_number() over (order by r.rank, r.turn, r.instance_id, r.process_id) as k, r.process_id from wf.ready r;
create temporary table handed (k bigint generated always as identity, poll int, process_id bigint);
select play_later('1 s'), wf.heartbeat(:all);
insert into handed (poll, process_id)
select n.n, r.process_id
  from generate_series(1, 12) n (n)
 cross join lateral (select r.process_id from wf.poll(:all, n.n) r where r.kind = 'run') r;
select is(count(*), 78::bigint, 'polls for 1, 2, … 12 requests of three lanes') from handed;
select is_empty($$
    select h.poll, e.k from handed h join expected e using (process_id)
     where e.k not between h.poll * (h.poll - 1) / 2 + 1 and h.poll * (h.poll + 1) / 2
$$, 'each is handed the first ones of all that are left');
select taken(:all, 1000);

-- slots that are kept for a transport
select wf.start('calls') as calls \gset
select wf.start('far') as far \gset
select play_later('1 s');
select is(taken(:all, 0, 0, '{"http": 0, "ssh": 0, "sql": 0}'), 'nothing', 'no slot is free');
select is(taken(:all, 0, 0, '{"http": 0, "ssh": 1, "sql": 1}'), 'far 1', 'a slot that is kept for ssh is not for 1,000 http requests before it');
select is(taken(:all, 0, 0, '{"ssh": 1, "sql": 1}'), 'nothing', 'a slot that is kept for ssh is for no other transport');
select is(taken(:all, 5, 0, '{"http": 1, "ssh": 1, "sql": 1}'), 'calls 6', 'where there is one transport alone it has its own slots and those of all');
select wf.start('far', '{}', null, 10) as far \gset
select wf.start('far', '{}', null, 10) as far \gset
select wf.start('far', '{}', null, 10) as far \gset
select play_later('10 ms');
select is(taken(:all, 2, 0, '{"http": 1, "ssh": 1, "sql": 1}'), 'calls 1, far 3', 'where there are several the most urgent have the slots of all');
select wf.start('one') as one \gset
select is(taken(:all, 0, 3, '{"ssh": 1}'), 'one 1', 'a request that the driver answers itself needs no slot');
select throws_ok(format('select * from wf.poll(%s, 1, 1, %L)', :all, k), 'WF002', null, format('p_kept %s is refused', k))
  from unnest(array['[]', '{"ssh": -1}', '{"ssh": "1"}', '7']) k;
select wf.abort(jsonb_build_object('instance', :calls));
select taken(:all, 1000);

-- what stands at the head and is dead
select play_driver() as d \gset
select wf.start('wide') as wide \gset
select is(count(*) filter (where taken(:d, 20) = 'wide 20'), 40::bigint, 'a queue that is worked off') from generate_series(1, 40);
select set_config('wf.from', '', false);
select cmp_ok(seen(:d, 20), '>=', 800::bigint, 'the head of the queue has dead rows');
select cmp_ok(seen(:d, 20), '<=', 60::bigint, 'a poll that goes on does not see them');

-- a long head: 200,000 rows before all others, and dead
insert into wf.ready (instance_id, process_id, lane_id, turn, rank, request)
select -1, g, (select min(lane_id) from wf.ready), 0, -100, 'start' from generate_series(1, 200000) g;
delete from wf.ready where instance_id = -1;
select play_later('10 ms');
select cmp_ok(seen(:d, 20), '>=', 200000::bigint, 'a look at a long head');
select play_later('20 ms');
select is(count(*) filter (where seen(:d, 20) <= 60), 5::bigint, 'the look at a long head is not repeated 20 ms later, since it takes a while') from generate_series(1, 5);
update wf.driver set idle = false; -- it rings for nobody
delete from wf.work;
select wf.poll(:d, 5000) \g /dev/null
select seen(:d, 20);
select cmp_ok(seen(:d, 20), '<=', 60::bigint, 'not even by a poll that gets too little');
select is(w.wait_ms between 10 and 1000, true, format('which comes back after %s ms', w.wait_ms))
  from wf.poll(:d, 20) w where w.kind = 'next';
select play_later('1 s');
select cmp_ok(seen(:d, 20), '>=', 200000::bigint, 'after a second it is');

-- the same, and nothing is left behind it
select wf.poll(:d, 5000) \g /dev/null
update wf.driver set idle = true where id = :d;
select set_config('wf.from', '', false), set_config('wf.made', '', false);
select play_later('1 s');
select cmp_ok(seen(:d, 20), '>=', 200000::bigint, 'a driver that has slept and remembers nothing looks there');
select play_later('20 ms');
select is(count(*) filter (where seen(:d, 20) <= 2000), 5::bigint, 'a driver that has slept does not look at the long head again 20 ms later') from generate_series(1, 5);

select * from finish();
rollback;
