-- timer.sql - what is due at a time, and whose clock it is.
begin;
\ir helper/play.sql
select no_plan();

-- wf.now: a test may set the clock, others may not
select cmp_ok(wf.now() - clock_timestamp(), '<', interval '1 s', 'the clock is the clock');
select set_config('wf.now', '2026-03-01 12:00:00+00', true);
select is(wf.now(), timestamptz '2026-03-01 12:00:00+00', 'a member of wf_admin may set it');
create role timer_admin login;
grant wf_admin to timer_admin;
create role timer_plain login;
grant wf_app, wf_operator, wf_driver, wf_author, wf_viewer to timer_plain;
set local session authorization timer_admin;
select wf.now() = '2026-03-01 12:00:00+00' as admin_may \gset
set local session authorization timer_plain;
select wf.now() = '2026-03-01 12:00:00+00' as others_may \gset
reset session authorization;
select is(:'admin_may'::text, 't', 'not only a superuser');
select is(:'others_may'::text, 'f', 'nobody else: to him the setting means nothing');
set local role wf_operator;
select wf.now() = '2026-03-01 12:00:00+00' as login_counts \gset
reset role;
select is(:'login_counts'::text, 't', 'the session''s login may set the clock, not the role of SET ROLE');

-- sleep
select play_driver() as driver \gset
select play_install('nap', jsonb_build_array(
    play_task('t.Sleep', 'a', '{"duration": "PT10S"}'), play_task('t.Sleep', 'b', '{"duration": ["var", "d"]}'), play_task('t.Do', 'c')), '[{"name": "d", "type": "duration", "default": "PT1M30S"}]');
select wf.start('nap') as i \gset
select results_eq(format('select kind, due_at from wf.timer where instance_id = %s', :i), $$values ('sleep', timestamptz '2026-03-01 12:00:10+00')$$, 'a sleep has a timer');
select is(play_state(:i, 'a'), 'WAITING', 'a sleeping task waits');
select play_later('9.9 s'), wf.tick();
select is(play_state(:i, 'a'), 'WAITING', 'to the end');
select play_later('0.1 s'), play_take(:driver);
select is(play_state(:i, 'a'), 'END', 'a poll ends the sleep at its time');
select results_eq(format('select due_at from wf.timer where instance_id = %s', :i), $$values (timestamptz '2026-03-01 12:01:40+00')$$, 'the next one begins then');
select results_eq(format('select actor, was, event, state from wf.event_v where process_id = %s order by seq desc limit 1', play_id(:i, 'a')), format($$values (%L, 'WAITING', 'success', 'END')$$, session_user), 'the history tells it');
select play_later('1 hour'), wf.tick();
select is(play_state(:i, 'b'), 'END', 'a sleep that was due long ago ends with a tick');
select is((select count(*) from wf.timer), 0::bigint, 'nothing is left of them');
select is(play_state(:i, 'c'), 'INIT', 'the step after the sleep is enabled without any driver');
select is((select state from wf.driver where id = :driver), 'lost', 'a tick gives silent drivers up, too');

-- sleeps that are due already, or too long, or none
select play_driver() as driver \gset
select wf.start('nap', '{"d": "PT0S"}') as i \gset
select wf.tick(), play_later('10 s'), wf.tick();
select wf.tick();
select is(play_state(:i, 'b'), 'END', 'no time at all is over at the next opportunity');
select play_install('odd', jsonb_build_array(play_par(
    play_task('t.Sleep', 'none', '{"duration": ["var", "n"]}'), play_task('t.Sleep', 'text', '{"duration": ["var", "t"]}'), play_task('t.Sleep', 'number', '{"duration": ["var", "k"]}'),
    play_task('t.Sleep', 'long', '{"duration": ["var", "l"]}'), play_task('t.Sleep', 'back', '{"duration": ["var", "b"]}'), play_task('t.Do', 'fine'))),
    '[{"name": "n", "type": {"optional": "json"}, "default": null}, {"name": "t", "type": "string", "default": "soon"}, {"name": "k", "type": "int", "default": 5},
      {"name": "l", "type": "string", "default": "PT99999999999999H"}, {"name": "b", "type": "string", "default": "PT-5S"}]');
select lives_ok($$select wf.start('odd')$$, 'a sleep with an invalid duration stops no other start');
select max(id) as i from wf.instance \gset
select results_eq(format($$select bind, state, error ->> 'kind' from wf.process where instance_id = %s and bind is not null order by id$$, :i), $$values
    ('none', 'FAILED', 'input'), ('text', 'FAILED', 'input'), ('number', 'FAILED', 'input'), ('long', 'FAILED', 'input'), ('back', 'WAITING', null), ('fine', 'INIT', null)$$,
    'a sleep with an invalid duration has failed with input');
select wf.abort('{"global": true}');

select play_install('fixed', jsonb_build_array(play_task('t.Sleep', 'a', '{"duration": "soon"}')));
select wf.start('fixed') as i \gset
select results_eq(format($$select state, error ->> 'message' from wf.process where id = %s$$, play_id(:i, 'a')), $$values ('FAILED', 'a sleep needs a duration, not "soon"')$$, 'a constant one too');
select is((select string_agg(detail, ' ') from wf.retry('{"global": true}')), 'FAILED -> FAILED', 'a retry does not make it better');
select wf.abort('{"global": true}');

-- many at once, in the order in which they are due, 400 instances at a time
select play_install('short', jsonb_build_array(play_task('t.Sleep', 'a', '{"duration": ["var", "d"]}')), '[{"name": "d", "type": "duration"}]');
select wf.start_many('short', (select jsonb_agg(jsonb_build_object('d', format('PT%sS', k)))
                                 from generate_series(1, 600) k));
select play_later('700 s'), wf.tick();
select results_eq($$select count(*), count(*) filter (where (i.params ->> 'd')::interval <= '400 s')
                      from wf.instance i join wf.workflow w on w.id = i.workflow_id
                     where w.name = 'short' and i.state = 'END'$$,
    'values (400::bigint, 400::bigint)', 'the first 400');
select wf.tick();
select is((select count(*) from wf.timer), 0::bigint, 'a second poll fires the other timers');

-- how long a driver may sleep
create function rest(p_driver bigint) returns int
language sql as $$ select p.wait_ms from wf.poll(p_driver, 10) p where p.kind = 'next'; $$;
select play_driver() as driver \gset
select play_on(:driver);
select is(rest(:driver), 0, 'a driver that has just become idle looks once more')
 where not (select idle from wf.driver where id = :driver);
select rest(:driver);
select is(rest(:driver), 1000, 'a driver may rest for a second when nothing is due');
select wf.start('short', '{"d": "PT0.25S"}');
select is(rest(:driver), 250, 'a driver may rest until the next timer is due');
select play_later('0.3 s');
select is(rest(:driver), 1000, 'when that has fired, for a second');
select is((select wait_ms from wf.poll(:driver, 0) where kind = 'next'), 1000, 'a driver that wants nothing may rest for a second');

-- timers at the head that are dead
create function looked(p_driver bigint) returns bigint
language plpgsql as $$
declare
    v_before bigint := pg_stat_get_xact_tuples_returned('wf.timer_due_idx'::regclass);
begin
    perform wf.poll(p_driver, 10);
    return pg_stat_get_xact_tuples_returned('wf.timer_due_idx'::regclass) - v_before;
end;
$$;
insert into wf.timer (instance_id, process_id, kind, due_at) select -1, g, 'sleep', wf.now() - interval '1 minute' from generate_series(1, 10000) g;
delete from wf.timer where instance_id = -1;
select cmp_ok(looked(:driver), '>=', 10000::bigint, 'a poll reads dead timers');
select play_later('100 ms');
select cmp_ok(looked(:driver), '<=', 1000::bigint, 'a look at many is not repeated at once');
select wf.start('short', '{"d": "PT0.05S"}') as near \gset
select wf.start('short', '{"d": "PT0.05S"}') as old \gset
update wf.timer set due_at = wf.now() - interval '10 s' where instance_id = :old;
select play_later('50 ms'), looked(:driver);
select is((select string_agg(i.state, ' ' order by i.id) from wf.instance i where i.id in (:near, :old)), 'END RUNNING', 'a timer that becomes due is fired, an older one behind dead rows is not seen');
select play_later('200 ms'), looked(:driver);
select is((select i.state from wf.instance i where i.id = :old), 'END', 'an older timer is fired after 0.2 s');
select cmp_ok(looked(:driver), '<=', 1000::bigint, 'the look at dead timers is not repeated at once the second time');
select wf.start_many('short', (select jsonb_agg('{"d": "PT1S"}'::jsonb) from generate_series(1, 450)));
select play_later('10 s'), looked(:driver);
select is((select count(*) from wf.timer), 50::bigint, 'of many that are overdue 400 are fired');
select looked(:driver);
select is((select count(*) from wf.timer), 0::bigint, 'overdue timers are fired at once, though looks take long');
select set_config('wf.now', '', true);
select is_empty('select * from wf.fsck()', 'all is well in the end');

select * from finish();
rollback;
