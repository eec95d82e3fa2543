-- instant.sql - what a driver answers at once is asked for besides what needs a
-- slot, and neither takes the place of the other.
begin;
\ir helper/play.sql
select no_plan();

-- one of its requests is for the driver alone, another is not
insert into play_type (name, spec) values ('t.Mixed',
    '{"name": "t.Mixed", "machine": "async", "params": [],
      "requests": {"start": {"transport": "builtin", "args": {"op": "noop"}},
                   "poll": {"transport": "ssh", "args": {"host": "far", "command": ["list", "true"]}}}}');
select play_install('both', jsonb_build_array(play_par(
    play_task('t.Do', 'a'), play_task('t.Do', 'b'), play_task('t.Do', 'c'), play_task('t.Do', 'd'),
    play_task('t.Far', 'k'), play_task('t.Far', 'l'), play_task('t.Far', 'm'), play_task('t.Far', 'n'))));
select play_install('mixed', jsonb_build_array(play_par(play_task('t.Do', 'a'), play_task('t.Mixed', 'x'))));
select play_driver('d', '{builtin,ssh}') as d \gset

-- polled(WANT, INSTANT): what is handed out, and when to come back
create function polled(p_driver bigint, p_want int, p_instant int) returns text
language sql as $$
    select concat_ws(', ', string_agg(p.bind, ' ' order by p.bind), max(r.wait_ms))
      from wf.poll(p_driver, p_want, p_instant) r
      left join wf.process p on p.instance_id = r.instance_id and p.id = r.process_id;
$$;

select wf.start('both') as i \gset
select is(polled(:d, 1, 2), 'a b k, 0', 'a poll brings as many requests of each kind as asked for');
select is(polled(:d, 0, 0), '1000', 'nothing of either');
select is(polled(:d, 0, 1), 'c, 0', 'a request for the driver alone needs no free slot');
select is(polled(:d, 2, 0), 'l m, 0', 'a poll with no room for instant requests brings only the others');
select is(polled(:d, 5, 5), 'd n, 0', 'a larger poll brings the other requests');
select is(polled(:d, 0, 5), '1000', 'without a slot it comes back by itself');
select ok(not d.idle, 'a driver without a free slot is not rung') from wf.driver d where d.id = :d;
select is(polled(:d, 1, 5), '0', 'with one it looks once more');
select ok(d.idle, 'an idle driver with a free slot is rung') from wf.driver d where d.id = :d;

select wf.start('both') as i \gset
select is(polled(:d, 3, null), 'a b c, 0', 'without the second number all count alike');
select is(polled(:d, 0, null), '1000', 'a poll for nothing brings nothing');
select is(polled(:d, 9, 9), 'd k l m n, 1000', 'the rest, and with its flag up it need not look again');

select wf.start('mixed') as i \gset
select is(polled(:d, 0, 9), 'a, 0', 'a task that needs more than the driver alone needs a slot');
select is(polled(:d, 1, 0), 'x, 0', 'even for the request that does not');

-- what it may not take
select wf.start('both') as i \gset
select wf.engine_pause('for a test');
select is(count(*), 0::bigint, 'nothing while the engine is paused') from wf.poll(:d, 9, 9) where kind = 'run';
select wf.engine_resume('for a test');
select wf.drain(:d);
select is(count(*), 0::bigint, 'a draining driver gets no request') from wf.poll(:d, 9, 9) where kind = 'run';
select throws_ok(format('select * from wf.poll(%s, 1, -1)', :d), 'WF002', null, 'less than nothing cannot be wanted');

select * from finish();
rollback;
