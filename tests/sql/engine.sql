-- engine.sql - a paused engine hands out nothing; all else goes on.
begin;
\ir helper/play.sql
select plan(33);

select play_install('mixed', jsonb_build_array(play_par(
    play_task('t.Do', 'a'),
    play_task('t.Do', 'b'),
    play_task('t.Do', 'c'),
    play_task('t.Job', 'j'),
    play_task('t.Job', 'k'),
    play_task('t.Sleep', 's', '{"duration": "PT1M"}'),
    play_task('t.Do', 'g', '{}', '{"group": {"name": "etl", "max": 1}}'))));
select play_install('one', jsonb_build_array(play_task('t.Do', 'a')));
select play_driver('one') as driver \gset
select wf.start('mixed') as i \gset

-- how it stands
select results_eq('select state, since, actor, reason, in_flight, schema_version from wf.engine_v',
    format($$values ('RUNNING', null::timestamptz, null::text, null::text, 0::bigint, %s)$$, wf.schema_version()), 'the engine runs unless somebody pauses it');
select results_eq($$select * from wf.engine_resume()$$, $$values ('refused', 'it is RUNNING already')$$, 'a running engine is not resumed');
select is(play_take(:driver, 3), 3::bigint, 'three requests are handed out');
select set_config('wf.now', '2026-01-01 00:00+00', true);
select results_eq($$select * from wf.engine_pause('the disk is full')$$, $$values ('done', 'RUNNING -> PAUSED')$$, 'a running engine is paused');
select results_eq('select state, since, actor, client, reason, in_flight from wf.engine_v',
    format($$values ('PAUSED', '2026-01-01 00:00+00'::timestamptz, %L, 'local', 'the disk is full', 3::bigint)$$, session_user), 'since when, by whom and why is known');
select results_eq($$select * from wf.engine_pause('again')$$, $$values ('refused', 'it is PAUSED already')$$, 'a paused engine is not paused again');
select set_config('wf.now', '', true);

-- nothing is handed out, whatever it is
select is(play_take(:driver), 0::bigint, 'nothing is begun');
select is((select count(*) from wf.ready), 3::bigint, 'though j, k and one of the group are ready');
select wf.start('one') as o \gset
select is(play_take(:driver), 0::bigint, 'tasks of an instance that started during the pause are not handed out');
select play_report(play_id(:i, 'a'));
select is(play_state(:i, 'a'), 'END', 'a driver reports requests that it holds during the pause');
select play_fail(play_id(:i, 'b'));
select results_eq(format($$select answer, detail from wf.retry('{"process": %s}')$$, play_id(:i, 'b')), $$values ('done', 'FAILED -> INIT')$$, 'operators go on');
select play_later('2 min');
select is(play_take(:driver), 0::bigint, 'a sleep ends, and still nothing is handed out');
select is(play_state(:i, 's'), 'END', 'timers fire');
select wf.cancel(format('{"process": %s}', play_id(:i, 'c'))::jsonb);
select is(play_take(:driver), 0::bigint, 'nothing but a stop');
select is((select count(*) from play_request where kind = 'stop'), 1::bigint, 'of a request in flight');
select is((select count(*) from wf.slot), 1::bigint, 'places of groups are granted');

-- and explain says so
select results_eq(format('select reason, detail from wf.explain(%s, %s)', :o, play_id(:o, 'a')),
    format($$values ('paused', %L)$$, 'the engine was paused by ' || session_user || ': the disk is full'), 'explain says who paused it, and why');
select results_eq(format('select reason, processes, detail from wf.stuck() where instance_id = %s', :o),
    format($$values ('paused', 1::bigint, %L)$$, 'the engine was paused by ' || session_user || ': the disk is full'), 'explain says that the engine was paused, by whom and why');
select is((select since from wf.explain(:o, play_id(:o, 'a'))), '2026-01-01 00:00+00'::timestamptz, 'explain says since when the engine is paused');
select is_empty('select * from wf.fsck()', 'all is well');

-- resumed
select results_eq($$select * from wf.engine_resume('there is room again')$$, $$values ('done', 'PAUSED -> RUNNING')$$, 'a paused engine is resumed');
select is_empty(format('select * from wf.explain(%s, %s) where reason <> ''note''', :o, play_id(:o, 'a')), 'nothing needs an explanation');
select is(play_take(:driver), 5::bigint, 'all that was ready is handed out');
select results_eq('select event, reason from wf.engine_event_v order by seq',
    $$values ('pause', 'the disk is full'), ('resume', 'there is room again')$$, 'the history tells both');
select ok((select bool_and(e.actor = session_user and e.at is not null) from wf.engine_event_v e), 'with who and when');

-- requests that are to stop or to release what is held outside wait, too
select play_report(play_id(:i, 'j'), 'ack');
select play_report(play_id(:i, 'j'), 'response', '{"id": 1}');
select play_report(play_id(:i, 'k'), 'ack');
select play_report(play_id(:i, 'k'), 'response', '{"id": 2}');
select wf.engine_pause();
select wf.cancel(format('{"process": %s}', play_id(:i, 'j'))::jsonb);
select play_later('1 min');
select is(play_take(:driver), 0::bigint, 'no cancel, no poll');
select results_eq('select r.request from wf.ready r order by 1', $$values ('cancel'), ('poll')$$, 'though both are due');
select is((select detail from wf.explain(:i, play_id(:i, 'j'))), 'the engine was paused by ' || session_user, 'a pause needs no reason');
select throws_ok(format('select * from wf.engine_resume(%L)', repeat('x', 4001)), 'WF002', 'the reason has 4001 bytes; at most 4000 are kept', 'a reason has its limit');
select wf.engine_resume();
select is(play_take(:driver), 2::bigint, 'cancels and polls are handed out when the engine is resumed');

select results_eq('select count(*) from wf.event where reason is not null', 'values (0::bigint)', 'the reasons are kept out of the histories of instances');
select throws_ok($$insert into wf.engine_event (at, actor, event) values (now(), 'me', 'stop')$$, '23514', null, 'there are no other events');
select is_empty('select * from wf.fsck()', 'all is well in the end');

select * from finish();
rollback;
