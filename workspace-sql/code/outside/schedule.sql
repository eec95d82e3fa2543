-- Schedules, as people and applications set, pause, fire and look at them.

-- wf.schedule_set(p_name, p_workflow, p_cron, p_every, p_timezone, p_params, p_catchup, p_overlap, p_jitter,
--                 p_start_at, p_end_at, p_count, p_priority, p_reason)
--
-- Returns  the next time
-- Locks    the gate, the row of the schedule
-- Raises   WF002, WF003, WF004, WF008
-- Called   by authors, operators and administrators
create or replace function wf.schedule_set(
    p_name text, p_workflow text, p_cron text default null, p_every interval default null,
    p_timezone text default 'UTC', p_params jsonb default '{}', p_catchup int default 1, p_overlap text default 'allow',
    p_jitter interval default '0', p_start_at timestamptz default null, p_end_at timestamptz default null,
    p_count int default null, p_priority int default 0, p_reason text default null)
returns timestamptz
language plpgsql security definer :engine as $$
declare
    v wf.schedule;
begin
    perform wf._gate(false);
    perform wf._check_reason('schedule set', p_reason, wf._setting_number('reason_required') = 1);
    v.name := p_name;
    v.policy := false;
    v.cron := p_cron;
    v.every := p_every;
    v.timezone := p_timezone;
    v.params := coalesce(p_params, '{}');
    v.priority := p_priority;
    v.catchup := p_catchup;
    v.overlap := p_overlap;
    v.jitter := p_jitter;
    v.start_at := p_start_at;
    v.end_at := p_end_at;
    v.most := p_count;
    v := wf._set_schedule(v, p_workflow, wf._now());
    perform wf._audit('schedule set', wf._audited_schedule(v, p_workflow), p_reason);
    return v.next_at;
end;
$$;
comment on function wf.schedule_set(text, text, text, interval, text, jsonb, int, text, interval, timestamptz,
                                    timestamptz, int, int, text) is
    'Sets a schedule, which starts instances of a workflow at times from now on: name of the schedule, workflow (each '
    'time starts the version that is the newest then), a cron expression (5 fields, or 6 with seconds first) or an '
    'interval, time zone of the cron expression, parameters, catchup (how many times that were not fired when they '
    'were due are fired later: the newest; 0: none), overlap (what happens while an instance of it is under way: allow '
    'another one, skip the time, queue it, replace the instance, or coalesce such times into one), jitter (an instance '
    'begins up to this much later), first and last time, how many times in all, priority, reason. If there is a '
    'schedule of that name, it is changed: if its times stay the same it goes on where it was, and if it is paused it '
    'stays paused. The grants and quotas of the caller''s login count for the instances. Returns the next time, null '
    'if there is none. Raises WF002 for a value that is not valid, WF003 if there is no such workflow, WF004 if a '
    'schedule of that name is the policy of a workflow, WF008 without a grant for the workflow or the priority.';

-- wf.schedule_remove(p_name, p_reason)
--
-- Returns  nothing
-- Locks    the gate, the row of the schedule
-- Raises   WF002, WF003, WF004
-- Called   by authors, operators and administrators
create or replace function wf.schedule_remove(p_name text, p_reason text default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    v wf.schedule;
begin
    perform wf._gate(false);
    perform wf._check_reason('schedule remove', p_reason, wf._setting_number('reason_required') = 1);
    v := wf._find_schedule(p_name);
    if v.policy then
        perform wf._refuse_policy(p_name, true);
    end if;
    perform wf._drop_schedule(v.id);
    perform wf._audit('schedule remove', jsonb_build_object('name', p_name), p_reason);
end;
$$;
comment on function wf.schedule_remove(text, text) is
    'Removes a schedule, and the rows of its times. Instances that it has started go on. Returns nothing; raises WF003 '
    'if there is no such schedule, WF004 if it is the policy of a workflow.';

-- wf.schedule_pause(p_name, p_reason)
--
-- Returns  one row: done, or refused and why
-- Locks    the gate, the row of the schedule
-- Raises   WF002, WF003
-- Called   by authors, operators and administrators
create or replace function wf.schedule_pause(p_name text, p_reason text default null)
returns table (answer text, detail text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    v wf.schedule;
begin
    perform wf._gate(false);
    perform wf._check_reason('schedule pause', p_reason, wf._setting_number('reason_required') = 1);
    v := wf._find_schedule(p_name);
    if v.paused_at is not null then
        answer := 'refused';
        detail := format('it is paused since %s', v.paused_at);
    else
        update wf.schedule s set paused_at = wf._now() where s.id = v.id;
        delete from wf.work w where w.instance_id is null and w.item_id = v.id and w.kind = 'schedule';
        answer := 'done';
        detail := 'active -> paused';
    end if;
    perform wf._audit('schedule pause', jsonb_build_object('name', p_name), p_reason, p_answer => array[answer]);
    return next;
end;
$$;
comment on function wf.schedule_pause(text, text) is
    'Pauses a schedule: it starts nothing until it is resumed, and times that come meanwhile are not fired later. '
    'Returns answer (done, or refused) and detail; raises WF003 if there is no such schedule.';

-- wf.schedule_resume(p_name, p_reason)
--
-- Returns  one row: done and the next time, or refused and why
-- Locks    the gate, the row of the schedule
-- Raises   WF002, WF003
-- Called   by authors, operators and administrators
create or replace function wf.schedule_resume(p_name text, p_reason text default null)
returns table (answer text, detail text)
language plpgsql security definer :engine as $$
declare
    v_now constant timestamptz := wf._now();
    v wf.schedule;
    v_next timestamptz;
begin
    perform wf._gate(false);
    perform wf._check_reason('schedule resume', p_reason, wf._setting_number('reason_required') = 1);
    v := wf._find_schedule(p_name);
    if v.paused_at is null then
        answer := 'refused';
        detail := 'it is not paused';
    else
        v_next := case when v.next_at <= v_now then wf._schedule_after(v, v_now) else v.next_at end;
        if v.next_at <= v_now then
            insert into wf.firing (schedule_id, nominal_at, state, until_at, at, reason)
            values (v.id, v.next_at, 'missed', v_now, v_now, format('it was paused from %s on', v.paused_at))
                on conflict do nothing;
        end if;
        update wf.schedule s set paused_at = null, next_at = v_next where s.id = v.id;
        perform wf._call_schedule('schedule', array[v.id], wf._jittered(v, v_next)),
                wf._call_schedule('successor', array[v.id], v_now);
        perform wf._ring();
        answer := 'done';
        detail := 'paused -> ' || coalesce('active, next at ' || v_next, 'ended');
    end if;
    perform wf._audit('schedule resume', jsonb_build_object('name', p_name), p_reason, p_answer => array[answer]);
    return next;
end;
$$;
comment on function wf.schedule_resume(text, text) is
    'Resumes a schedule that is paused, with its next time from now on. Returns answer (done, or refused) and detail; '
    'raises WF003 if there is no such schedule.';

-- wf.schedule_fire(p_name, p_params, p_reason)
--
-- Returns  the instance
-- Locks    the gate, the row of the schedule, then as _start_all
-- Raises   WF002, WF003, WF008, WF016, WF017
-- Called   by authors, operators and administrators
create or replace function wf.schedule_fire(p_name text, p_params jsonb default null, p_reason text default null)
returns bigint
language plpgsql security definer :engine as $$
declare
    v_now constant timestamptz := clock_timestamp();
    v_at constant timestamptz := wf._now();
    v wf.schedule;
    v_workflow text;
    v_id bigint;
begin
    perform wf._gate(false);
    perform wf._check_reason('schedule fire', p_reason, wf._setting_number('reason_required') = 1);
    v := wf._find_schedule(p_name);
    v_workflow := (select w.name from wf.workflow w where w.id = v.workflow_id);
    perform wf._check_signal(v_workflow);
    v_id := (wf._start_all(v_workflow, array[coalesce(p_params, v.params)], v.priority,
                           array[row(pg_get_userbyid(v.login), wf._actor(), null, null, 0, gen_random_uuid(), v.id,
                                     v_at)::wf.starter]))[1];
    insert into wf.firing (schedule_id, nominal_at, state, open, at, instance_id, reason)
    select v.id, greatest(v_at, v_now), case when o.own then 'started' else 'skipped' end,
           o.own and v.overlap <> 'allow', v_at, v_id,
           case when o.own then 'fired by ' || wf._actor() else format('instance %s has its key', v_id) end
      from (select (i.schedule_id, i.scheduled_at) is not distinct from (v.id, v_at) as own
              from wf.instance i where i.id = v_id) o;
    perform wf._audit('schedule fire', jsonb_build_object('name', p_name, 'params', p_params, 'instance', v_id),
                      p_reason);
    return v_id;
end;
$$;
comment on function wf.schedule_fire(text, jsonb, text) is
    'Starts an instance of a schedule at once. The times, the state and the overlap of the schedule do not matter. '
    'p_params replaces the parameters of the schedule; null: it does not. The instance counts as under way for the '
    'times that follow, and for the quotas of the login that has set the schedule. Returns the number of the instance. '
    'If another instance has the workflow''s key already, it may start nothing and return the number of that instance. '
    'Raises WF007 and WF017 as wf.start does, WF002, WF003, WF008 without a grant for the workflow (operators and '
    'administrators need none), WF016 if a quota is spent.';

-- wf.schedule_backfill(p_name, p_from, p_to, p_reason)
--
-- Returns  how many times it has filled in
-- Locks    the gate, the row of the schedule, then as _start_all
-- Raises   WF002, WF003
-- Called   by authors, operators and administrators
create or replace function wf.schedule_backfill(p_name text, p_from timestamptz, p_to timestamptz,
                                                p_reason text default null) returns int
language plpgsql security definer :engine as $$
declare
    c_most constant int := 1000;
    v_now constant timestamptz := wf._now();
    v wf.schedule;
    v_time timestamptz;
    v_times timestamptz[] := array[]::timestamptz[];
begin
    perform wf._gate(false);
    perform wf._check_reason('schedule backfill', p_reason, wf._setting_number('reason_required') = 1);
    v := wf._find_schedule(p_name);
    perform wf._check_signal((select w.name from wf.workflow w where w.id = v.workflow_id));
    if (p_from < p_to and p_to <= v_now and isfinite(p_from)) is not true then
        raise exception using errcode = 'WF002',
            message = format('schedule %s cannot be filled from %s to %s', p_name, coalesce(p_from::text, 'null'),
                             coalesce(p_to::text, 'null')),
            hint = 'Give two moments, the first before the second, and none that is yet to come.';
    end if;
    v.start_at := least(v.start_at, case when v.every is null then p_from else v.start_at end);
    v_time := wf._schedule_after(v, p_from - interval '1 us');
    while v_time < p_to loop
        if cardinality(v_times) = c_most then
            raise exception using errcode = 'WF002',
                message = format('schedule %s has more than %s times from %s to %s', p_name, c_most, p_from, p_to),
                hint = 'Fill a shorter span, and then the next one.';
        end if;
        v_times := v_times || v_time;
        v_time := wf._schedule_after(v, v_time);
    end loop;
    v_times := array(select u.time from unnest(v_times) u (time)
                      where not exists (select from wf.firing f
                                         where f.schedule_id = v.id and f.nominal_at = u.time
                                           and f.state in ('started', 'waiting')));
    delete from wf.firing f where f.schedule_id = v.id and f.nominal_at = any (v_times);
    if v.overlap = 'allow' then
        perform wf._begin_firings(array_fill(v.id, array[cardinality(v_times)]), v_times, v_now);
    else
        insert into wf.firing (schedule_id, nominal_at, state, at, reason)
        select v.id, u.time, 'waiting', v_now, 'filled in by ' || wf._actor() from unnest(v_times) u (time);
        perform wf._call_schedule('successor', array[v.id], v_now);
        perform wf._ring();
    end if;
    perform wf._audit('schedule backfill', jsonb_build_object('name', p_name, 'from', p_from, 'to', p_to,
                                                              'times', cardinality(v_times)), p_reason);
    return cardinality(v_times);
end;
$$;
comment on function wf.schedule_backfill(text, timestamptz, timestamptz, text) is
    'Starts instances for the times of a schedule in a past span (p_from included, p_to not), except for times that it '
    'has fired; at most 1,000. Unless its overlap is allow, they begin one after the other. Returns how many times it '
    'has filled in; schedule_v and firing_v say what became of them. Raises WF002, WF003, WF008 without a grant for '
    'the workflow (operators and administrators need none).';

-- wf.schedule_next(p_name, p_count)
--
-- Returns  one row for each of the next times
-- Locks    nothing
-- Raises   WF002, WF003
-- Called   by the console
create or replace function wf.schedule_next(p_name text, p_count int default 5)
returns table (nominal_at timestamptz, begins_at timestamptz, local_time text, note text)
language plpgsql stable security definer :engine as $$
declare
    v wf.schedule;
    v_left int;
begin
    select s.* into v from wf.schedule s where s.name = p_name;
    if not found then
        raise exception using errcode = 'WF003',
            message = format('there is no schedule %s', coalesce(left(p_name, 100), 'null')),
            hint = 'List the schedules: wf-console schedules.';
    elsif (p_count between 1 and 1000) is not true then
        raise exception using errcode = 'WF002',
            message = format('%s times cannot be shown', coalesce(p_count::text, 'null')),
            hint = 'Give a number from 1 to 1000.';
    end if;
    v_left := least(p_count, v.most - v.fired);
    nominal_at := v.next_at;
    while nominal_at is not null and v_left > 0 loop
        begins_at := wf._jittered(v, nominal_at);
        local_time := to_char(nominal_at at time zone v.timezone, 'Dy YYYY-MM-DD HH24:MI:SS');
        note := concat_ws(', ', case when v.paused_at is not null then 'but it is paused' end,
                          case when nominal_at <= wf._now() then 'due now' end,
                          case when v.every is null then wf._cron_note(v, nominal_at) end);
        return next;
        nominal_at := wf._schedule_after(v, nominal_at);
        v_left := v_left - 1;
    end loop;
end;
$$;
comment on function wf.schedule_next(text, int) is
    'The next times of a schedule, at most p_count: the time, when its instance begins (later by the jitter), the time '
    'on the clock of its time zone, and a note if something is special about the time: the clock jumps there, or the '
    'schedule is paused. Raises WF002, WF003.';

-- wf._cron_note(p_schedule, p_time)
--
-- Returns  a note on a jump of the clock at a time of a cron expression; null if there is none
-- Locks    nothing
-- Raises   nothing
-- Called   by schedule_next
create or replace function wf._cron_note(p_schedule wf.schedule, p_time timestamptz) returns text
language plpgsql stable as $$
declare
    c_day constant interval := interval '1 day';
    v_ahead constant interval := wf._ahead(p_time, p_schedule.timezone);
    v_before constant interval := wf._ahead(p_time - interval '1 s', p_schedule.timezone);
    v_later constant interval := wf._ahead(p_time + c_day, p_schedule.timezone);
begin
    if v_ahead > v_before then
        return 'the clock jumps ahead by ' || v_ahead - v_before;
    elsif v_later < v_ahead
          and wf._ahead(p_time + (v_ahead - v_later), p_schedule.timezone) = v_later then
        return 'the clock shows this time twice, and this is the first one';
    end if;
    return null;
end;
$$;

create or replace view wf.schedule_v with (security_barrier = true) as
select s.name, w.name as workflow, s.cron, s.every, s.timezone,
       case when s.paused_at is not null then 'paused' when s.next_at is null then 'ended' else 'active' end as state,
       s.next_at, l.nominal_at as last_at, l.state as last_state, l.instance_id as last_instance_id,
       l.reason as last_reason,
       (select count(*) from wf.firing f where f.schedule_id = s.id and f.state = 'waiting') as waiting,
       s.fired, s.most, s.params, s.priority, s.catchup, s.overlap, s.jitter, s.start_at, s.end_at, s.paused_at,
       s.set_at, s.set_by
  from wf.schedule s
  join wf.workflow w on w.id = s.workflow_id
  left join lateral (select f.nominal_at, f.state, f.instance_id, f.reason
                       from wf.firing f where f.schedule_id = s.id order by f.nominal_at desc limit 1) l on true;
comment on view wf.schedule_v is 'The schedules, which start instances at times.';
select wf._inherit_comments('schedule_v', 'schedule') \gset
comment on column wf.schedule_v.workflow is 'the workflow that it starts';
comment on column wf.schedule_v.state is 'active, paused, or ended: there is no next time';
comment on column wf.schedule_v.last_at is 'the last time that came';
comment on column wf.schedule_v.last_state is 'the state of that time, as in firing_v';
comment on column wf.schedule_v.last_instance_id is 'the instance that was started for it';
comment on column wf.schedule_v.last_reason is 'why the last time started no instance';
comment on column wf.schedule_v.waiting is 'how many times wait for an instance to end';

create or replace view wf.firing_v with (security_barrier = true) as
select s.name as schedule, f.nominal_at, f.until_at, f.state, f.at, f.instance_id, f.reason
  from wf.firing f
  join wf.schedule s on s.id = f.schedule_id;
comment on view wf.firing_v is 'What became of the times of schedules: the last 100 of each schedule, and some more.';
select wf._inherit_comments('firing_v', 'firing') \gset
comment on column wf.firing_v.schedule is 'the schedule';
