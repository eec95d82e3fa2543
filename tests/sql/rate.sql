-- rate.sql - the policy rate: how many tasks begin in how much time.
begin;
\ir helper/play.sql
select no_plan();
select play_driver() as driver \gset
select set_config('wf.now', '2026-01-01 00:00:00.001+00', true);

-- a task with a rate of this name
create function rated(p_as text, p_limit int default 2, p_per text default 'PT10S', p_name text default 'r', p_more jsonb default '{}') returns jsonb
language sql as $$ select play_task('t.Do', p_as, '{}', jsonb_build_object('rate', jsonb_build_object('limit', p_limit, 'per', p_per, 'name', p_name)) || p_more); $$;
-- takes what there is, until there is nothing; the names in the order in which they began
create function takes(p_driver bigint) returns text
language plpgsql as $$
declare
    v_last bigint := (select coalesce(max(k), 0) from play_request);
    v_taken bigint;
begin
    loop
        perform wf.work();
        v_taken := play_take(p_driver);
        exit when v_taken = 0 and not exists (select from wf.work w where w.due_at <= wf.now() and not w.aside);
    end loop;
    return (select string_agg(p.bind || coalesce(p.index::text, ''), ' ' order by r.k)
              from play_request r join wf.process p on p.instance_id = r.instance_id and p.id = r.process_id where r.k > v_last and r.kind = 'run');
end;
$$;
create function says(p_instance bigint, p_name text) returns text
language sql as $$ select string_agg(reason || ': ' || detail, '; ') from wf.explain(p_instance, play_id(p_instance, p_name)); $$;
-- the most tasks that have begun in any stretch of time of this length, by the history
create function most_in(p_per interval) returns bigint
language sql as $$
    select max(x.count)
      from (select count(*) over (order by e.at range between p_per preceding and current row) as count
              from wf.event e
              join wf.instance i on i.id = e.instance_id
              join wf.workflow w on w.id = i.workflow_id and w.name = 'storm'
             where e.event = 'start' and e.was = 'INIT') x;
$$;

-- suspended before anybody has looked at a rate
savepoint before;
select play_install('first', jsonb_build_array(rated('a', 2, 'PT10S', 'first')));
select wf.start('first') as i \gset
select wf.suspend(format('{"instance": %s}', :i)::jsonb);
select is(says(:i, 'a') ~ '^suspended', true, 'a suspended task is held, also when it waits for the first place of a rate');
select is_empty('select * from wf.fsck()', 'the rows agree with each other');
select is(takes(:driver), null, 'nothing of it is handed out');
select wf.resume(format('{"instance": %s}', :i)::jsonb);
select is(takes(:driver), 'a', 'until it is resumed');
rollback to before;

-- its places are taken, and come back one after another
select play_install('five', jsonb_build_array(play_par(rated('a'), rated('b'), rated('c'), rated('d'), rated('e'))));
select wf.start('five') as i \gset
select is(takes(:driver), 'a b', 'as many begin as the rate lets');
select is(says(:i, 'c'), 'rate: rate r lets 2 begin in 00:00:10; it goes next, the next at 2026-01-01 00:00:10.156+00', 'explain names the rate, and when the next goes');
select is(says(:i, 'e'), 'rate: rate r lets 2 begin in 00:00:10; 2 go before it, the next at 2026-01-01 00:00:10.156+00', 'explain says the place in line');
select is((select concat_ws(' ', name, max, per, begun, granted, waiting) from wf.rate_v), 'r 2 00:00:10 2 0 3', 'the view counts them');
select is((select reason from wf.stuck() where instance_id = :i), null, 'nobody need do anything');
select is_empty('select * from wf.fsck()', 'the rows agree with each other');
select play_later('9.9 s');
select is(takes(:driver), null, 'none begins before a place is free');
select play_report(play_id(:i, 'a'));
select is(takes(:driver), null, 'the end of a task frees none');
select play_later('0.4 s');
select is(takes(:driver), 'c d', 'the next ones when the time is over');
select play_later('30 s');
select is(takes(:driver), 'e', 'the last task begins when the time is over');
select is((select wait_ms from wf.poll(:driver, 1) where kind = 'next') <= 1000, true, 'nothing is due any more');

-- who begins next
select play_install('first', jsonb_build_array(play_par(rated('p'), rated('q'), rated('u', 2, 'PT10S', 'r', '{"priority": 5}'))));
select play_later('60 s'), wf.start('first') as i \gset
select is(takes(:driver), 'u p', 'the one with the higher priority is first, then whoever came first');
select wf.start('first') as j \gset
select play_later('11 s');
select is(takes(:driver), 'u q', 'of several instances, too');
select play_later('11 s');
select is(takes(:driver), 'p q', 'first come, first served');

-- what takes a place, and what gives it back
select play_later('60 s');
select play_install('one', jsonb_build_array(rated('a', 1)));
select wf.start('one') as i \gset
select is(takes(:driver), 'a', 'one begins');
select play_report(play_id(:i, 'a'), 'release');
select is(says(:i, 'a') ~ '^rate: rate r lets 1 begin in 00:00:10; it goes next', true, 'the last limit that is given wins; what is handed back waits once more');
select play_later('11 s');
select is(takes(:driver), 'a', 'a task that was handed back begins');
select play_fail(play_id(:i, 'a')), wf.retry(format('{"instance": %s}', :i)::jsonb);
select is(takes(:driver), null, 'each attempt counts');
select wf.start('one') as j \gset
select wf.abort(format('{"instance": %s}', :i)::jsonb), play_later('11 s');
select wf.work();
select is((select granted from wf.rate_v), 1::bigint, 'a place is granted, and no driver has come');
select is((select count(*) from wf.explain(:j, play_id(:j, 'a')) where reason <> 'note'), 0::bigint, 'a driver may take a task whose place is granted');
select is_empty('select * from wf.fsck()', 'the rows agree with each other');
select wf.start('one') as k \gset
select play_later('100 s');
select is((select concat_ws(' ', granted, waiting) from wf.rate_v), '1 1', 'a place that nobody takes is held, so that no two can begin at once later');
select wf.cancel(format('{"instance": %s}', :j)::jsonb);
select is(takes(:driver), 'a', 'a task that is cancelled gives its place back');
select is(play_state(:k, 'a'), 'START_REQUESTED', 'to the next one');
select wf.abort('{"workflow": "one"}');
select is((select concat_ws(' ', granted, waiting) from wf.rate_v), '0 0', 'nothing is left behind');

-- suspended
select play_later('60 s'), wf.start('one') as i \gset
select wf.start('one') as j \gset
select wf.work(), wf.work();
select wf.suspend(format('{"instance": [%s, %s]}', :i, :j)::jsonb);
select is((select concat_ws(' ', granted, waiting) from wf.rate_v), '0 0', 'a suspended task holds no place of a rate');
select is(says(:j, 'a') ~ '^suspended', true, 'a suspended task waits for its operator alone');
select is_empty('select * from wf.fsck()', 'the rows agree with each other');
select wf.resume(format('{"instance": [%s, %s]}', :i, :j)::jsonb);
select is(takes(:driver), 'a', 'when it is resumed it waits for its rate again');
select is(says(:j, 'a') ~ '^rate: ', true, 'the other resumed task waits for its rate again');
select wf.abort('{"workflow": "one"}');

-- with a group: first its place there, then its rate
select play_later('60 s'), play_install('both', jsonb_build_array(play_par(rated('a', 2, 'PT10S', 'r', '{"group": {"name": "g", "max": 2}, "timeout": {"deadline": "PT1H"}}'), rated('b', 2, 'PT10S', 'r', '{"group": {"name": "g", "max": 2}}'),
    rated('c', 2, 'PT10S', 'r', '{"group": {"name": "g", "max": 2}}'), play_task('t.Do', 'd', '{}', '{"group": {"name": "g", "max": 2}}'))));
select wf.start('both') as i \gset
select takes(:driver);
select is((says(:i, 'c') ~ '^group') and (says(:i, 'd') ~ '^group'), true, 'a full group is the first reason');
select play_report(play_id(:i, 'a')), takes(:driver);
select is(says(:i, 'c') ~ '^rate', true, 'the rate is the second reason, with the place in the group');
select is_empty('select * from wf.fsck()', 'the rows agree with each other');
select wf.suspend(format('{"instance": %s}', :i)::jsonb);
select is((select count(*) from wf.slot where instance_id = :i), 1::bigint, 'a suspended task gives its place in the group back');
select wf.resume(format('{"instance": %s}', :i)::jsonb), play_report(play_id(:i, 'b')), play_later('11 s');
select is(takes(:driver), 'd c', 'c begins when its rate has a place; d has no rate and begins before it');
select is_empty('select * from wf.fsck()', 'the rows agree with each other');
select play_on(:driver), play_report(play_id(:i, 'c')), play_report(play_id(:i, 'd'));

-- names and limits that are computed
select play_install('names', jsonb_build_array(jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'n', 'in', '["const", ["x", "y", "x"]]'::jsonb,
    'body', rated('t') || '{"policies": {"rate": {"limit": ["var", "most"], "per": "PT1M", "name": ["var", "n"]}}, "reads": {"n": 1, "most": 0}}')), '[{"name": "most", "type": {"optional": "int"}}]');
select wf.start('names', '{"most": 1}') as i \gset
select is(takes(:driver), 't0 t1', 'each name is a rate of its own');
select wf.start('names', '{"most": null}') as j \gset
select is((select error ->> 'message' from wf.process where instance_id = :j and state = 'FAILED' limit 1), 'limit of a rate is an int of at least 1, not null', 'a value that does not fit fails the task');
select throws_like($$select play_install('bad', jsonb_build_array(rated('a', 0)))$$, '%rate.limit%an int of at least 1%', 'install refuses a limit of 0');
select throws_like($$select play_install('bad', jsonb_build_array(rated('a', 1, 'PT0S')))$$, '%rate.per%a duration of 1 ms to 36500 days%', 'a time of 0');
select throws_like($$select play_install('bad', jsonb_build_array(rated('a', null)))$$, '%rate.limit: is missing%', 'none');
select throws_like($$select play_install('bad', jsonb_build_array(rated('a', 1, 'PT1S', repeat('x', 64))))$$, '%rate.name%a string of 1 to 63 bytes%', 'a name that is too long');
select throws_like($$select play_install('bad', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"rate": {"limit": 1, "per": "PT1S"}}')))$$, '%rate%name%', 'install refuses a rate without a name');

-- a clock that is set back keeps nothing waiting longer than its time
select play_later('10 min'), play_install('clock', jsonb_build_array(rated('a', 1, 'PT10S', 'clock')));
select wf.start('clock') as i \gset
select takes(:driver), play_later('-1 hour');
select wf.start('clock') as j \gset
select takes(:driver), play_later('11 s');
select is(takes(:driver), 'a', 'a clock that was set back keeps a place taken no longer than its time');

-- a simulation has its own
select play_install('far', jsonb_build_array(play_par(rated('a', 1, 'PT1H', 'far'), rated('b', 1, 'PT1H', 'far'), rated('c', 1, 'PT1H', 'far'))));
select is((select array_agg(round(extract(epoch from elapsed) / 3600, 1) order by elapsed) from wf.simulate('far') where event = 'start' and was = 'INIT'), '{0.0,1.0,2.0}', 'a simulation waits for the rate in virtual time');
select is((select count(*) from wf.rate where name = 'far'), 0::bigint, 'the rate of a simulation leaves no row');

-- T-D19: there ten tasks in 10 s are spread evenly; here a rate says how many begin in each stretch of its time
create function ten(p_limit int) returns numeric
language plpgsql as $$
begin
    perform play_install('ten', jsonb_build_array(play_forall('x', '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]', rated('a', p_limit, 'PT1S', 'ten'))));
    return (select round(max(extract(epoch from s.elapsed)), 1) from wf.simulate('ten') s where s.event = 'start' and s.was = 'INIT');
end;
$$;
select is(ten(1), 9.0, 'T-D19: with 1 in 1 s the tenth begins after 9 s');
select is(ten(4), 2.0, 'T-D19: with 4 in 1 s it begins after 2 s');

-- never more than its limit in any stretch of time, whatever happens: drivers that come and go, tasks that are lost, cancelled, tried again
select play_later('1 day');
select play_install('storm', jsonb_build_array(jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'n', 'in', '["range", 1, 12]'::jsonb, 'body', rated('t', 7, 'PT10S', 'storm', '{"idempotent": true, "retry": {"attempts": 3, "delay": "PT1S"}}'))));
create function storm(p_steps int) returns bigint
language plpgsql as $$
declare
    v_driver bigint;
    v_all bigint := 0;
begin
    perform setseed(0.5);
    for v_step in 1 .. p_steps loop
        v_driver := play_driver('d' || v_step % 3);
        if random() < 0.15 then perform wf.start('storm'); end if;
        if random() < 0.05 then perform wf.leave(v_driver); v_driver := play_driver(); end if;
        if random() < 0.05 then perform wf.suspend('{"workflow": "storm", "latest": true}'); end if;
        if random() < 0.1 then perform wf.resume('{"workflow": "storm"}') from wf.instance where state = 'SUSPENDED' having count(*) > 0; end if;
        if random() < 0.03 then perform wf.abort('{"workflow": "storm", "latest": true}'); end if;
        v_all := v_all + play_take(v_driver, (1 + random() * 4)::int);
        perform play_report(r.process_id, case when random() < 0.2 then 'release' else 'error' end, '{"kind": "http", "message": "no"}')
           from (select process_id from play_request where kind = 'run' order by k desc limit (random() * 4)::int) r where random() < 0.5;
        perform play_later(random() * interval '2.5 s');
    end loop;
    return v_all;
end;
$$;
select cmp_ok(storm(400), '>', 200::bigint, 'a storm of tasks');
select is(most_in('9.999999 s'), 7::bigint, 'in no stretch of 10 s more than 7 have begun, and in some 7');
select is_empty($$select * from wf.fsck() where class = 'violation'$$, 'the rows agree with each other');
select cmp_ok((select count(*) from wf.rate_spent), '<', 200::bigint, 'rows of spent places are removed');

-- a task without a rate costs nothing
select is(play_needless('rate'), 0::bigint, 'no move of a task without a rate comes to it');
select finish();
rollback;
