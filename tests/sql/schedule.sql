-- schedule.sql - schedules: when they fire, what they make up for, and what becomes of times that overlap.
begin;
\ir helper/play.sql
select no_plan();

-- work(): what drivers do when polls have told them of work
create function work() returns void
language plpgsql as $$ begin while exists (select from wf.work w where w.due_at <= wf.now() and not w.aside) loop perform wf.work(); end loop; perform wf.work(); end; $$;
-- at(TIME): it is that time, and the work that is due has been done
create function at(p_time timestamptz) returns void
language plpgsql as $$ begin perform set_config('wf.now', p_time::text, true); perform work(); end; $$;
-- fired(SCHEDULE): the times of a schedule and what became of them; 2026-03-01 is left out
create function fired(p_schedule text) returns text
language sql as $$
    select string_agg(concat(replace(to_char(f.nominal_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), '2026-03-01 ', ''), ' ', f.state), ', ' order by f.nominal_at)
      from wf.firing_v f where f.schedule = p_schedule;
$$;
create function last_reason(p_schedule text) returns text language sql as $$ select s.last_reason from wf.schedule_v s where s.name = p_schedule; $$;
-- finish(SCHEDULE): the oldest instance under way of a schedule ends well
create function finish(p_schedule text) returns void
language plpgsql as $$
declare v_id bigint := (select min(i.id) from wf.instance i join wf.schedule s on s.id = i.schedule_id where s.name = p_schedule and i.state = 'RUNNING');
begin
    perform play_take(d.id) from wf.driver d;
    perform play_report(play_id(v_id, 'a'), 'response', '{}');
    perform work();
end; $$;
create function sound(p_when text) returns text
language sql as $$ select is_empty('select * from wf.fsck()', 'fsck finds its rows sound: ' || p_when); $$;
-- refused(CALL): the message and the hint of its error
create function refused(p_call text) returns text
language plpgsql as $$
declare v_hint text;
begin
    execute p_call;
    return 'accepted';
exception when others then
    get stacked diagnostics v_hint = pg_exception_hint;
    return format('%s: %s (%s)', sqlstate, sqlerrm, v_hint);
end; $$;

select set_config('wf.now', '2026-03-01 12:00:10+00', true);
set timezone = 'Asia/Kathmandu'; -- none of this depends on it
select play_driver() as driver \gset
select play_install('report', jsonb_build_array(play_task('t.Do', 'a')), '[{"name": "day", "type": "string", "default": "today"}]');
select play_install('quick', '[{"kind": "return", "line": 1, "value": 1, "reads": {}}]');

-- D49: a schedule fires at its times
select is(wf.schedule_set('nightly', 'quick', '*/10 * * * *'), '2026-03-01 12:10:00+00'::timestamptz, 'O57: schedule_set says the next time');
select is((select count(*) from wf.instance), 0::bigint, 'nothing starts before it');
select sound('a schedule that waits');
select at('2026-03-01 12:09:59.9+00');
select is(fired('nightly'), null, 'a tenth of a second before its time it has not fired');
select is((select count(*) from wf.poll(:driver, 0) p where p.kind = 'work'), 0::bigint, 'no driver is told of work');
select set_config('wf.now', '2026-03-01 12:10:00.2+00', true);
select ok((select exists (select from wf.poll(:driver, 0) p where p.kind = 'work')), 'when it has come, a driver is told of work');
select work();
select is(fired('nightly'), '12:10 started', 'D49: a schedule fires at its time');
select results_eq($$select i.started_by, i.scheduled_at, i.at, i.login = wf._login(), i.version_id is not null from wf.instance i$$,
                  $$values ('schedule nightly', '2026-03-01 12:10:00+00'::timestamptz, '2026-03-01 12:10:00.2+00'::timestamptz, true, true)$$, 'the instance has the time that it is for, and its login');
select results_eq($$select state, next_at, last_at, last_state, fired from wf.schedule_v where name = 'nightly'$$,
                  $$values ('active', '2026-03-01 12:20:00+00'::timestamptz, '2026-03-01 12:10:00+00'::timestamptz, 'started', 1)$$, 'the view shows the last time and the next one');
select work();
select is(fired('nightly'), '12:10 started', 'a schedule fires each time once');
select is((select count(*) from wf.work w where w.kind = 'schedule'), 1::bigint, 'one row of work is all that it leaves');
select sound('a schedule that has fired');
select at('2026-03-01 12:20:00+00');
select is(fired('nightly'), '12:10 started, 12:20 started', 'a schedule fires at the next time, too');

-- what was missed: nothing fired it from 12:20 to 13:05
select wf.schedule_set('none', 'quick', '*/10 * * * *', p_catchup => 0), wf.schedule_set('three', 'quick', '*/10 * * * *', p_catchup => 3),
       wf.schedule_set('all', 'quick', '*/10 * * * *', p_catchup => 1000), wf.schedule_set('often', 'quick', p_every => '7 seconds');
select at('2026-03-01 13:05:00+00');
select is(fired('nightly'), '12:10 started, 12:20 started, 12:30 missed, 13:00 started', 'catchup 1, as it is without a word: the newest time is made up for');
select is((select f.reason || ' until ' || f.until_at from wf.firing_v f where f.schedule = 'nightly' and f.state = 'missed'), 'nothing fired it in time, and catchup is 1 until 2026-03-01 18:45:00+05:45', 'the others have a row that says why, and until when');
select is(fired('none'), '12:30 missed', 'catchup 0: nothing is made up for');
select is(fired('three'), '12:30 missed, 12:40 started, 12:50 started, 13:00 started', 'catchup 3: the newest three');
select is(fired('all'), '12:30 started, 12:40 started, 12:50 started, 13:00 started', 'catchup 1000: all of them');
select is((select count(*) filter (where f.state = 'started') || ' of ' || max(f.nominal_at) filter (where f.state = 'started') from wf.firing_v f where f.schedule = 'often'), '1 of 2026-03-01 18:49:55+05:45', 'an interval: the newest one, at a multiple of it');
select at('2026-03-01 13:10:59+00');
select is(fired('none'), '12:30 missed, 13:10 started', 'catchup 0: what is a minute late is not missed');
select wf.schedule_remove('none'), wf.schedule_remove('three'), wf.schedule_remove('all'), wf.schedule_remove('often');
select sound('schedules that were removed');
select at('2026-03-08 13:10:00+00');
select is((select f.nominal_at || ' ' || f.until_at from wf.firing_v f where f.schedule = 'nightly' and f.nominal_at > '2026-03-01 13:11+00' and f.state = 'missed'), '2026-03-01 19:05:00+05:45 2026-03-08 18:55:00+05:45', 'a workspace that was down for a week has one row for it');
select is((select s.last_at from wf.schedule_v s where s.name = 'nightly'), '2026-03-08 13:10:00+00'::timestamptz, 'the schedule goes on after a week');
select wf.schedule_remove('nightly');
select is((select count(*) from wf.firing), 0::bigint, 'a schedule that is removed leaves nothing behind');

-- overlap: 12:00 starts an instance that lasts until after 12:20
select set_config('wf.now', '2026-03-01 11:59:00+00', true);
select wf.schedule_set(o, 'report', '*/10 * * * *', p_overlap => o) from unnest('{allow,skip,queue,replace,coalesce}'::text[]) o;
select at('2026-03-01 12:00:00+00');
select at('2026-03-01 12:10:00+00');
select at('2026-03-01 12:20:00+00');
select is(fired('allow'), '12:00 started, 12:10 started, 12:20 started', 'overlap allow: each time starts an instance');
select is(fired('skip'), '12:00 started, 12:10 skipped, 12:20 skipped', 'skip: a time during which one is under way starts none');
select matches(last_reason('skip'), '^instance \d+ is under way$', 'skip: the reason names the instance that was under way');
select is(fired('queue'), '12:00 started, 12:10 waiting, 12:20 waiting', 'queue: such times wait');
select is(fired('coalesce'), '12:00 started, 12:10 skipped, 12:20 waiting', 'coalesce: one time waits, the newest');
select is((select f.reason from wf.firing_v f where f.schedule = 'coalesce' and f.state = 'skipped'), 'a later time came before it could begin: 2026-03-01 18:05:00+05:45', 'coalesce: the skipped time has its reason');
select is(fired('replace'), '12:00 started, 12:10 started, 12:20 started', 'replace: the instance under way is aborted, and the next one begins');
select is((select string_agg(i.state, ', ' order by i.id) from wf.instance i join wf.schedule s on s.id = i.schedule_id where s.name = 'replace'), 'ABORTED, ABORTED, RUNNING', 'replace: one instance is under way');
select sound('times that wait');
select finish('skip'), finish('queue'), finish('coalesce');
select is(fired('skip'), '12:00 started, 12:10 skipped, 12:20 skipped', 'skip: what was skipped stays so');
select is(fired('queue'), '12:00 started, 12:10 started, 12:20 waiting', 'queue: the oldest begins when the one before it has ended');
select is(fired('coalesce'), '12:00 started, 12:10 skipped, 12:20 started', 'coalesce: the one that waits begins');
select finish('queue');
select is(fired('queue'), '12:00 started, 12:10 started, 12:20 started', 'queue: and then the next one');
select at('2026-03-01 12:30:00+00');
select is(fired('skip'), '12:00 started, 12:10 skipped, 12:20 skipped, 12:30 started', 'skip: with nothing under way the next time starts one');
select is(fired('queue'), '12:00 started, 12:10 started, 12:20 started, 12:30 waiting', 'queue: the last one is still under way');

insert into wf.firing (schedule_id, nominal_at, state, at) select s.id, s.next_at - n * interval '1 s', 'waiting', now() from wf.schedule s, generate_series(1, 99) n where s.name = 'queue';
select at('2026-03-01 12:40:00+00');
select is((select s.last_state || ': ' || s.last_reason from wf.schedule_v s where s.name = 'queue'), 'skipped: 100 times wait already', 'queue: at most 100 times wait');
delete from wf.firing f using wf.schedule s where s.id = f.schedule_id and s.name = 'queue' and (f.nominal_at > '2026-03-01 12:30+00');

-- D50: pause, resume, remove, fire now, fill in
select results_eq($$select * from wf.schedule_pause('queue', 'a look first')$$, $$values ('done', 'active -> paused')$$, 'D50: a schedule is paused');
select results_eq($$select answer from wf.schedule_pause('queue')$$, $$values ('refused')$$, 'once');
select finish('queue');
select at('2026-03-01 13:01:00+00');
select is(fired('queue'), '12:00 started, 12:10 started, 12:20 started, 12:30 waiting', 'D50: a paused schedule starts nothing, nor what waits in its queue');
select is((select s.state from wf.schedule_v s where s.name = 'queue'), 'paused', 'the view says so');
select sound('a paused schedule');
select wf.schedule_set('queue', 'report', '*/5 * * * *', p_overlap => 'queue');
select is((select s.state || ' ' || s.next_at from wf.schedule_v s where s.name = 'queue'), 'paused 2026-03-01 18:50:00+05:45', 'D50: a paused schedule that is changed stays paused');
select wf.schedule_set('queue', 'report', '*/10 * * * *', p_overlap => 'queue');
select at('2026-03-01 13:35:00+00');
select results_eq($$select * from wf.schedule_resume('queue')$$, $$values ('done', 'paused -> active, next at 2026-03-01 19:25:00+05:45')$$, 'D50: a paused schedule is resumed with its next time');
select results_eq($$select * from wf.schedule_resume('queue')$$, $$values ('refused', 'it is not paused')$$, 'once');
select work();
select is(fired('queue'), '12:00 started, 12:10 started, 12:20 started, 12:30 started, 13:10 missed', 'D50: a waiting time begins after the pause, and times during the pause are missed');
select is(last_reason('queue'), 'it was paused from 2026-03-01 18:25:00+05:45 on', 'with its reason');
select wf.schedule_fire('queue', '{"day": "yesterday"}') as fired \gset
select results_eq(format('select i.params, i.state, i.started_by from wf.instance i where i.id = %s', :fired), format($$values ('{"day": "yesterday"}'::jsonb, 'RUNNING', %L)$$, session_user), 'O58: fire starts one at once, with other parameters, for the caller');
select matches((select f.state || ' ' || f.reason from wf.firing_v f where f.instance_id = :fired), '^started fired by ', 'the list has it');
select is(wf.schedule_backfill('allow', '2026-03-01 10:00+00', '2026-03-01 10:30+00'), 3, 'a span that is past is filled in');
select is((select count(*) from wf.firing_v f where f.schedule = 'allow' and f.nominal_at < '2026-03-01 10:30+00' and f.state = 'started'), 3::bigint, 'an instance for each of its times');
select is(wf.schedule_backfill('allow', '2026-03-01 10:00+00', '2026-03-01 10:40+00'), 1, 'a time that has fired is not filled in again');
select is(wf.schedule_backfill('coalesce', '2026-03-01 10:00+00', '2026-03-01 10:30+00'), 3, 'unless its overlap is allow');
select work();
select is((select string_agg(f.state, ' ' order by f.nominal_at) from wf.firing_v f where f.schedule = 'coalesce' and f.nominal_at < '2026-03-01 10:30+00'), 'waiting waiting waiting', 'the times wait for what is under way');
select finish('coalesce');
select is((select string_agg(f.state, ' ' order by f.nominal_at) from wf.firing_v f where f.schedule = 'coalesce' and f.nominal_at < '2026-03-01 10:30+00'), 'started waiting waiting', 'times that are filled in begin one after the other');
select sound('after all of these');
select wf.schedule_remove(s.name) from wf.schedule_v s;

-- first and last time, count, jitter
select set_config('wf.now', '2026-03-01 11:59:00+00', true);
select is(wf.schedule_set('span', 'quick', '*/10 * * * *', p_start_at => '2026-03-01 12:10+00', p_end_at => '2026-03-01 12:30+00'), '2026-03-01 12:10+00'::timestamptz, 'no time is before the start');
select is(wf.schedule_set('twice', 'quick', p_every => '10 minutes', p_count => 2), '2026-03-01 12:09+00'::timestamptz, 'an interval begins one interval from now');
select wf.schedule_set('jitter', 'quick', '0 * * * *', p_jitter => '10 minutes');
select (select n.begins_at from wf.schedule_next('jitter', 1) n) as begins \gset
select ok(:'begins'::timestamptz between '2026-03-01 12:00+00' and '2026-03-01 12:10+00', 'a jitter puts an instance off by less than that');
select at('2026-03-01 12:10:00+00');
select at('2026-03-01 12:20:00+00');
select at('2026-03-01 12:30:00+00');
select at('2026-03-01 12:40:00+00');
select is(fired('span'), '12:10 started, 12:20 started, 12:30 started', 'D49: no time is after the end');
select is(fired('twice'), '12:09 started, 12:19 started', 'D49: a count is the number of times that it fires');
select is((select string_agg(s.name || ' ' || s.state, ', ' order by s.name) from wf.schedule_v s), 'jitter active, span ended, twice ended', 'D49: a schedule without further times has ended');
select is((select count(distinct n.begins_at - n.nominal_at) from wf.schedule_next('jitter', 5) n), 5::bigint, 'each time has its own jitter');
select results_eq($$select begins_at from wf.schedule_next('jitter', 3)$$, $$select begins_at from wf.schedule_next('jitter', 5) limit 3$$, 'the jitter of a time stays the same');
select sound('schedules that have ended');

-- schedules that come due together are looked at together where that says the same of each
select wf.schedule_remove(s.name) from wf.schedule_v s;
select set_config('wf.now', '2026-03-01 11:59:00+00', true);
select wf.schedule_set(n, 'quick', '*/10 * * * *') from unnest('{one,paused,two}'::text[]) n;
select wf.schedule_set('count', 'quick', '*/10 * * * *', p_count => 1);
select wf.schedule_set('ends', 'quick', '*/10 * * * *', p_end_at => '2026-03-01 12:15+00');
select wf.schedule_set('zone', 'quick', '*/10 * * * *', p_timezone => 'Asia/Kathmandu');
select wf.schedule_set('late', 'quick', '*/10 * * * *', p_jitter => '4 minutes');
select wf.schedule_set('none', 'quick', '*/10 * * * *', p_catchup => 0);
select wf.schedule_set('every', 'quick', p_every => '3 minutes'),
       wf.schedule_set('five', 'quick', p_every => '5 minutes');
select from wf.schedule_pause('paused');
select at('2026-03-01 12:25:00+00');
select results_eq(
    $$select concat(s.name, ': ', fired(s.name), ', then ' || to_char(s.next_at at time zone 'UTC', 'HH24:MI'))
        from wf.schedule_v s order by s.name$$,
    $$values ('count: 12:00 missed, 12:20 started'),
             ('ends: 12:00 missed, 12:10 started'),
             ('every: 12:02 missed, 12:23 started, then 12:26'),
             ('five: 12:04 missed, 12:24 started, then 12:29'),
             ('late: 12:00 missed, 12:20 started, then 12:30'),
             ('none: 12:00 missed, then 12:30'),
             ('one: 12:00 missed, 12:20 started, then 12:30'),
             ('paused: , then 12:00'),
             ('two: 12:00 missed, 12:20 started, then 12:30'),
             ('zone: 12:05 missed, 12:25 started, then 12:35')$$,
    'each of several schedules has its own times');
select sound('schedules that come due together');
select wf.schedule_remove(s.name) from wf.schedule_v s;

-- what is kept
select wf.schedule_set('second', 'quick', p_every => '1 second', p_catchup => 1000);
select at('2026-03-01 12:42:30+00');
select at('2026-03-01 12:44:20+00');
select is((select count(*) from wf.firing_v f where f.schedule = 'second'), 210::bigint, 'of what a schedule has fired the last 100 times are kept, and those of the last look');
select wf.schedule_remove('second');

-- the next times, with notes
select wf.schedule_set('berlin', 'quick', '30 2 * * *', p_timezone => 'Europe/Berlin', p_start_at => '2026-03-28+00');
select results_eq($$select nominal_at, local_time, note from wf.schedule_next('berlin', 3)$$,
                  $$values ('2026-03-28 01:30+00'::timestamptz, 'Sat 2026-03-28 02:30:00', ''), ('2026-03-29 01:00+00', 'Sun 2026-03-29 03:00:00', 'the clock jumps ahead by 01:00:00'), ('2026-03-30 00:30+00', 'Mon 2026-03-30 02:30:00', '')$$,
                  'the next times say where the clock jumps');
select wf.schedule_set('berlin', 'quick', '30 2 * * *', p_timezone => 'Europe/Berlin', p_start_at => '2026-10-25 00:00+02');
select is((select n.note from wf.schedule_next('berlin', 1) n), 'the clock shows this time twice, and this is the first one', 'schedule_next notes where the clock is put back');
select wf.schedule_remove(s.name) from wf.schedule_v s;

-- what cannot be started says so, and the schedule goes on
select set_config('wf.now', '2026-03-01 11:59:00+00', true);
select wf.schedule_set('gone', 'quick', '*/10 * * * *'), wf.schedule_set('limited', 'report', '*/10 * * * *');
select wf.remove('quick');
insert into wf.quota (role, running, set_at, set_by) values ('wf_app', 0, now(), 'a test');
select at('2026-03-01 12:00:00+00');
select is(fired('gone') || ': ' || last_reason('gone'), '12:00 refused: there is no workflow quick', 'a workflow that was removed');
select play_install('quick', '[{"kind": "return", "line": 1, "value": 1, "reads": {}}]');
select at('2026-03-01 12:10:00+00');
select is(fired('gone'), '12:00 refused, 12:10 started', 'when it is there again, the next time starts one');
update wf.schedule set params = '{"dya": 1}' where name = 'limited';
select at('2026-03-01 12:20:00+00');
select is(last_reason('limited'), 'there is no parameter dya', 'parameters that no longer fit');
select is((select s.last_state from wf.schedule_v s where s.name = 'gone'), 'started', 'a schedule that cannot start holds up no other schedule');

-- the engine is paused, or the workspace restored
update wf.schedule set params = '{}';
select wf.engine_pause('for a look');
select at('2026-03-01 12:30:00+00');
select at('2026-03-01 12:41:00+00');
select is((select s.last_at from wf.schedule_v s where s.name = 'gone'), '2026-03-01 12:20+00'::timestamptz, 'while the engine is paused no schedule fires');
select wf.engine_resume();
select at('2026-03-01 12:41:00+00');
select is((select s.last_at || ' ' || s.last_state from wf.schedule_v s where s.name = 'gone'), '2026-03-01 18:25:00+05:45 started', 'a schedule makes up for missed times as soon as the engine is resumed');
select set_config('wf.now', '2026-03-01 12:49:30+00', true);
select answer as answer from wf.engine_resume() \gset
select is(:'answer' || ' ' || (select count(*) from wf.work w where w.kind = 'schedule' and w.due_at <= wf.now()), 'refused 0', 'a resume that is refused has no schedule looked at before its time');
select set_config('wf.now', '2026-03-01 12:41:00+00', true);
select wf._halt('a backup was restored');
select at('2026-03-01 13:04:00+00');
select wf.engine_resume();
select set_config('wf.now', '2026-03-01 13:05:00+00', true);
select wf._doubt_schedules('2026-03-01 13:04:30+00');
select at('2026-03-01 13:06:00+00');
select is((select f.reason from wf.firing_v f where f.schedule = 'gone' and f.nominal_at = '2026-03-01 12:50+00'), 'the workspace was restored or copied: what came before that may have been started already', 'a restored workspace fires nothing twice');
select at('2026-03-01 13:10:10+00');
select is((select s.last_at || ' ' || s.last_state from wf.schedule_v s where s.name = 'gone'), '2026-03-01 18:55:00+05:45 started', 'a schedule goes on after a restore');
select sound('after a pause of the engine');

-- the policy schedule of a workflow
create function install(p_name text, p_schedule jsonb, p_more text default 'x') returns text
language sql as $$
    select string_agg(i.answer, ' ') from wf.install('', jsonb_build_object('format', 1, 'file', 'x.wf', 'task_types', '{}'::jsonb, 'workflows', jsonb_build_array(
        jsonb_build_object('name', p_name, 'line', 1, 'params', '[{"name": "day", "type": "string", "default": "today"}]'::jsonb,
                           'steps', jsonb_build_array(jsonb_build_object('kind', 'return', 'line', 1, 'value', p_more)))
        || case when p_schedule is null then '{}' else jsonb_build_object('policies', jsonb_build_object('schedule', p_schedule)) end))) i;
$$;
create function shown(p_name text) returns text
language sql as $$ select concat_ws(' ', s.state, s.cron, s.every, s.timezone, s.overlap, s.catchup, s.params, s.jitter, s.next_at at time zone 'UTC') from wf.schedule_v s where s.name = p_name; $$;
select set_config('wf.now', '2026-03-01 11:59:00+00', true);
select install('tidy', '{"cron": "30 2 * * *", "timezone": "Europe/Berlin", "overlap": "queue", "params": {"day": "yesterday"}, "catchup": 0}');
select is(shown('tidy'), 'active 30 2 * * * Europe/Berlin queue 0 {"day": "yesterday"} 00:00:00 2026-03-02 01:30:00', 'a workflow with a policy schedule has one with its install, of its name');
select is(install('tidy', '{"cron": "30 2 * * *", "timezone": "Europe/Berlin", "overlap": "queue", "params": {"day": "yesterday"}, "catchup": 0}'), 'unchanged', 'the same text changes nothing');
select wf.schedule_pause('tidy');
select is(install('tidy', '{"every": "PT10M", "jitter": "PT30S", "count": 3, "end": "2026-12-31T00:00:00Z"}'), 'installed', 'another policy is another version');
select is(shown('tidy'), 'paused 00:10:00 UTC allow 1 {} 00:00:30 2026-03-01 12:09:00', 'the schedule is another one, and stays paused');
select matches(refused($$select wf.schedule_set('tidy', 'tidy', '* * * * *')$$), '^WF004: schedule tidy is the policy of the workflow of that name \(Change it in the text', 'nobody else sets it');
select matches(refused($$select wf.schedule_remove('tidy')$$), '^WF004: schedule tidy is the policy of the workflow', 'the schedule of a policy cannot be removed by itself');
select install('tidy', null);
select is(shown('tidy'), null, 'a version without the policy ends it');
select install('tidy', '{"cron": "30 2 * * *"}');
select wf.remove('tidy');
select is(shown('tidy'), null, 'the removal of the workflow ends its schedule');
select wf.schedule_set('tidy', 'quick', '* * * * *');
select matches(refused($$select install('tidy', '{"cron": "30 2 * * *"}')$$), '^WF004: there is a schedule tidy already, which no policy of a workflow has set \(Remove it', 'a schedule of that name that somebody has set is in the way');
select matches(refused($$select install('bad', '{"cron": ["var", "day"]}')$$), '^WF005: policies.schedule.cron of workflow bad: no constant', 'install refuses a schedule policy that reads a name');
select matches(refused($$select install('bad', '{"cron": "30 26 * * *"}')$$), '^WF005: policies.schedule of workflow bad: the hour cannot be ''26''', 'a malformed cron expression');
select matches(refused($$select install('bad', '{"every": "often"}')$$), '^WF005: policies.schedule of workflow bad: invalid input syntax for type interval', 'a value of another type');
select matches(refused($$select install('bad', '{"cron": "* * * * *", "params": {"n": 1}}')$$), '^WF005: policies.schedule of workflow bad: there is no parameter n', 'parameters that it does not have');
select is((select count(*) from wf.instance_v where workflow = 'bad') + (select count(*) from wf.schedule_v where name = 'bad'), 0::bigint, 'a refused workflow is not installed');
select sound('policies');

-- what is no schedule
select set_config('wf.now', '2026-03-01 13:10:00+00', true);
create function set_call(p_more text, p_name text default 'x') returns text
language sql as $$ select refused(format('select wf.schedule_set(%L, ''quick'', %s)', p_name, p_more)); $$;
select is(set_call($$null$$), 'WF002: schedule x cannot be set: it has neither a cron expression nor an interval (Give one of them: a cron expression such as 30 2 * * *, or an interval such as 10 minutes.)', 'D51: a schedule has times');
select is(set_call($$'* * * * *', '1 hour'$$), 'WF002: schedule x cannot be set: it has a cron expression and an interval (Give one of them: a cron expression such as 30 2 * * *, or an interval such as 10 minutes.)', 'D51: of one sort');
select matches(set_call($$'* * * *'$$), '^WF002: ''\* \* \* \*'' is not a cron expression', 'a malformed cron expression');
select matches(set_call($$p_every => '0.5 seconds'$$), '^WF002: .* its interval is 00:00:00.5', 'an interval that is too short');
select matches(set_call($$p_every => '1 month'$$), '^WF002: .* its interval is 1 mon \(.*for those give a cron expression', 'an interval of months');
select matches(set_call($$'* * * * *', p_timezone => 'Europe/Berln'$$), '^WF002: .* there is no time zone ''Europe/Berln''', 'a time zone that does not exist');
select matches(set_call(format($$'* * * * *', p_timezone => %L$$, z)), '^WF002: .* there is no time zone', 'time zone ' || z) from unnest('{CEST,X-2,Europe/,Europe/Berlin-2}'::text[]) z;
select is(set_call(format($$'* * * * *', p_timezone => %L$$, z), 'zone'), 'accepted', 'time zone ' || z) from unnest('{UTC,Etc/GMT+5,America/Argentina/Buenos_Aires,EST5EDT,America/Port-au-Prince}'::text[]) z;
select matches(set_call($$'* * * * *', p_catchup => -1$$), '^WF002: .* its catchup is -1', 'catchup');
select matches(set_call($$'* * * * *', p_overlap => 'maybe'$$), '^WF002: .* its overlap is ''maybe'' \(Give allow, skip, queue, replace or coalesce', 'overlap');
select matches(set_call($$'* * * * *', p_jitter => '2 days'$$), '^WF002: .* its jitter is 2 days', 'jitter');
select matches(set_call($$'* * * * *', p_count => 0$$), '^WF002: .* its count is 0', 'count');
select matches(set_call($$'* * * * *', p_end_at => '2020-01-01'$$), '^WF002: .* it starts at .* and ends at 2020-01-01', 'an end that is past');
select matches(set_call($$'* * * * *', p_params => '{"n": 1}'$$), '^WF002: there is no parameter n', 'D51: a schedule has no parameters that the workflow does not take');
select matches(set_call($$'* * * * *', p_priority => 5000$$), '^WF002: priority is 5000', 'priority');
select matches(set_call($$'* * * * *'$$, ''), '^WF002: .* its name has 0 bytes', 'a name');
select matches(refused($$select wf.schedule_set('x', 'nothing', '* * * * *')$$), '^WF003: there is no workflow nothing', 'a workflow that is not there');
select matches(refused(format('select wf.%s', c)), '^WF003: there is no schedule y', c)
  from unnest(array['schedule_remove(''y'')', 'schedule_pause(''y'')', 'schedule_resume(''y'')', 'schedule_fire(''y'')', 'schedule_next(''y'')', 'schedule_backfill(''y'', now() - interval ''1 h'', now())']) c;
select matches(refused($$select wf.schedule_backfill('gone', '2026-03-01 13:00+00', '2027-01-01')$$), '^WF002: schedule gone cannot be filled from', 'a span that is yet to come');
select wf.schedule_set('often', 'quick', p_every => '1 second', p_start_at => '2026-03-01 10:00+00');
select matches(refused($$select wf.schedule_backfill('often', '2026-03-01 10:00+00', '2026-03-01 12:00+00')$$), '^WF002: schedule often has more than 1000 times from', 'a span with too many times');
select matches(refused($$select wf.schedule_next('gone', 0)$$), '^WF002: 0 times cannot be shown', 'no times to be shown');
select is((select count(*) from wf.schedule_v s where s.name = 'x'), 0::bigint, 'a refused schedule is not stored');

-- times that wait: one that is refused does not hold up those behind it
select set_config('wf.now', '2026-05-01 12:00:00+00', true);
select play_install('line', jsonb_build_array(play_task('t.Do', 'a')));
select wf.schedule_set('line', 'line', p_every => '1 hour', p_start_at => wf.now() + interval '1 min', p_overlap => 'queue');
select at('2026-05-01 12:01:00+00'), at('2026-05-01 13:01:00+00'), at('2026-05-01 14:01:00+00');
select is((select string_agg(state, ' ' order by nominal_at) from wf.firing_v where schedule = 'line'), 'started waiting waiting', 'two times wait');
select play_install('line', jsonb_build_array(play_task('t.Do', 'a')), '[{"name": "n", "type": "int"}]');
select finish('line');
select is((select string_agg(state, ' ' order by nominal_at) from wf.firing_v where schedule = 'line'), 'started refused refused', 'a time that is refused lets the next one try');
select sound('after two refused times');

select * from finish();
rollback;
