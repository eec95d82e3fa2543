-- Schedules fire: when a time has come, they start an instance of their workflow.
--
-- The next time of each schedule is stored (next_at), so no time is passed over if the schedule
-- is looked at too late. The engine looks at a schedule because of work of one of two kinds:
--
--   schedule   the next time of the schedule has come
--   successor  an instance that the schedule has started has ended, and times wait for that
--
-- Both kinds of work lock the row of the schedule. A row of wf.firing for each time says what
-- became of it. While the engine is paused nothing is fired.

-- wf._schedule_after(p_schedule, p_after)
--
-- Returns  the first time of a schedule after a moment, without jitter; null if no time
--          is left
-- Locks    nothing
-- Raises   nothing
-- Called   wherever the next time is looked for
create or replace function wf._schedule_after(p_schedule wf.schedule, p_after timestamptz) returns timestamptz
language plpgsql stable as $$
declare
    v_next timestamptz;
begin
    if p_schedule.every is null then
        v_next := wf._cron_next(p_schedule.times::wf.cron, p_schedule.timezone,
                                greatest(p_after, p_schedule.start_at - interval '1 us'));
    elsif p_after < p_schedule.start_at then
        v_next := p_schedule.start_at;
    else
        v_next := p_schedule.start_at
                  + p_schedule.every * (floor(extract(epoch from p_after - p_schedule.start_at)
                                              / extract(epoch from p_schedule.every)) + 1)::float8;
    end if;
    return case when p_schedule.end_at is null or v_next <= p_schedule.end_at then v_next end;
end;
$$;

-- wf._jittered(p_schedule, p_time)
--
-- The jitter follows from the schedule and the time, so that it is the same at each call.
--
-- Returns  when the instance of a time begins
-- Locks    nothing
-- Raises   nothing
-- Called   wherever a time is due
create or replace function wf._jittered(p_schedule wf.schedule, p_time timestamptz) returns timestamptz
language plpgsql immutable as $$
begin
    return case when p_schedule.jitter = interval '0' then p_time
                else p_time + p_schedule.jitter
                     * ((hashtextextended(extract(epoch from p_time)::text, p_schedule.id) & 1048575) / 1048576.0) end;
end;
$$;

-- wf._due_times(p_schedule, p_now)
--
-- Looks back from now, further in each round, until it has found enough times. So it need
-- not step through all times of a long absence.
--
-- Returns  the newest due times from next_at on, in order; at most as many as catchup says, but at least 1
-- Locks    nothing
-- Raises   nothing
-- Called   by _look_due, if more than one time is due
create or replace function wf._due_times(p_schedule wf.schedule, p_now timestamptz) returns timestamptz[]
language plpgsql stable as $$
declare
    v_most constant int := greatest(1, p_schedule.catchup);
    v_span interval := interval '2 seconds' * v_most;
    v_from timestamptz;
    v_time timestamptz;
    v_times timestamptz[];
begin
    loop
        v_from := greatest(p_schedule.next_at, p_now - v_span);
        v_times := array[]::timestamptz[];
        v_time := case when v_from = p_schedule.next_at then v_from else wf._schedule_after(p_schedule, v_from) end;
        while wf._jittered(p_schedule, v_time) <= p_now loop
            v_times := v_times || v_time;
            v_time := wf._schedule_after(p_schedule, v_time);
        end loop;
        exit when cardinality(v_times) >= v_most or v_from = p_schedule.next_at;
        v_span := v_span * 4;
    end loop;
    return v_times[greatest(1, cardinality(v_times) - v_most + 1):];
end;
$$;

-- wf._look_due(p_schedule, p_now)
--
-- Looks which times of a schedule have come.
--
-- Returns  times: those to fire, in order; missed_at, missed_until and reason: the span of the missed times (from
--          missed_at until before missed_until), and why they were missed; next_at: the next time
-- Locks    nothing
-- Raises   nothing
-- Called   by _fire_schedules
create or replace function wf._look_due(
    p_schedule wf.schedule, p_now timestamptz, out times timestamptz[], out missed_at timestamptz,
    out missed_until timestamptz, out reason text, out next_at timestamptz)
language plpgsql stable as $$
declare
    v_left int := p_schedule.most - p_schedule.fired;
    v_late timestamptz;
begin
    times := '{}';
    next_at := p_schedule.next_at;
    if p_schedule.lost_at >= next_at then
        missed_at := next_at;
        next_at := wf._schedule_after(p_schedule, p_schedule.lost_at);
        missed_until := p_schedule.lost_at;
        reason := 'the workspace was restored or copied: what came before that may have been started already';
        p_schedule.next_at := next_at;
    end if;
    if next_at is null or wf._jittered(p_schedule, next_at) > p_now then
        return;
    end if;
    next_at := wf._schedule_after(p_schedule, next_at);
    times := array[p_schedule.next_at];
    if wf._jittered(p_schedule, next_at) <= p_now then
        times := wf._due_times(p_schedule, p_now);
        next_at := wf._schedule_after(p_schedule, times[cardinality(times)]);
    end if;
    if p_schedule.catchup = 0 then
        v_late := p_now - wf._setting_number('schedule_late') * interval '1 second';
        if wf._jittered(p_schedule, times[1]) < v_late then
            times := '{}';
        end if;
    end if;
    if times[1] is distinct from p_schedule.next_at then
        missed_at := coalesce(missed_at, p_schedule.next_at);
        missed_until := coalesce(times[1], p_now);
        reason := coalesce(reason || '; after that ', '')
                  || format('nothing fired it in time, and catchup is %s', p_schedule.catchup);
    end if;
    if v_left <= cardinality(times) then
        times := times[:v_left];
        next_at := null;
    end if;
end;
$$;

-- wf._fire_schedules(p_schedule, p_now)
--
-- Fires the times of schedules that have come. Schedules that another transaction has locked
-- are looked at again in a second, and while the engine is paused all of them in a minute. What
-- is due is looked for once for all schedules that have the same times: many jobs are nightly.
--
-- Returns  nothing
-- Locks    the rows of the schedules (skipping locked ones), then as _start_all
-- Raises   nothing of its own
-- Called   by _do_work
create or replace function wf._fire_schedules(p_schedule bigint[], p_now timestamptz) returns void
language plpgsql as $$
declare
    v_paused constant boolean := wf._is_paused();
    v_fired bigint[] := array[]::bigint[]; -- with v_times: what to fire
    v_times timestamptz[] := array[]::timestamptz[];
    v_seen bigint[] := array[]::bigint[]; -- with v_count, v_next and v_due, for each schedule
    v_count int[] := array[]::int[];
    v_next timestamptz[] := array[]::timestamptz[];
    v_due timestamptz[] := array[]::timestamptz[];
    v_crowded bigint[];
    v wf.schedule; -- one of those that have the same times
    v_time timestamptz;
    g record;
    d record;
begin
    for g in
        select array_agg(s.id) as ids, array[count(*)::int] as size
          from (select x.* from wf.schedule x
                 where x.id = any (p_schedule) and x.paused_at is null and not v_paused
                 order by x.id for no key update skip locked) s
         group by s.next_at, s.cron, s.timezone, s.catchup, s.end_at, s.lost_at,
                  case when s.cron is null or s.jitter <> interval '0' or s.most is not null then s.id end
    loop
        select s.* into v from wf.schedule s where s.id = g.ids[1];
        d := wf._look_due(v, p_now);
        if d.missed_at is not null then
            insert into wf.firing (schedule_id, nominal_at, state, until_at, at, reason)
            select u.id, d.missed_at, 'missed', d.missed_until, p_now, d.reason from unnest(g.ids) u (id)
                on conflict do nothing;
        end if;
        foreach v_time in array d.times loop
            v_fired := v_fired || g.ids;
            v_times := v_times || array_fill(v_time, g.size);
        end loop;
        v_seen := v_seen || g.ids;
        v_count := v_count || array_fill(cardinality(d.times), g.size);
        v_next := v_next || array_fill(d.next_at, g.size);
        v_due := v_due || array_fill(wf._jittered(v, d.next_at), g.size);
    end loop;
    with fired as (
    update wf.schedule s set next_at = u.next_at, fired = s.fired + u.count
      from unnest(v_seen, v_next, v_count) u (id, next_at, count)
     cross join lateral (select x.ctid as place from wf.schedule x where x.id = u.id offset 0) k
     where s.ctid = k.place
    returning s.id, s.fired, u.count as just)
    select array_agg(f.id) into v_crowded from fired f where f.fired / 100 > (f.fired - f.just) / 100;
    insert into wf.work (kind, item_id, due_at)
    select 'schedule', u.id, u.due_at from unnest(v_seen, v_due) u (id, due_at) where u.due_at is not null;
    perform wf._call_schedule('schedule', array(select s.id from unnest(p_schedule) u (id)
                                                  join wf.schedule s on s.id = u.id
                                                 where u.id <> all (v_seen) and s.paused_at is null),
                              p_now + case when v_paused then interval '1 minute' else interval '1 second' end)
      where cardinality(v_seen) < cardinality(p_schedule);
    if v_crowded is not null then
        perform wf._forget_firings(v_crowded);
    end if;
    perform wf._begin_firings(v_fired, v_times, p_now) where cardinality(v_fired) > 0;
end;
$$;

-- wf._forget_firings(p_schedule)
--
-- Returns  nothing; of the times of these schedules the last 100 keep their rows, and those that are not over
-- Locks    the rows of the others
-- Raises   nothing
-- Called   by _fire_schedules, for schedules that have fired another hundred times
create or replace function wf._forget_firings(p_schedule bigint[]) returns void
language plpgsql as $$
begin
    delete from wf.firing f using unnest(p_schedule) u (id)
     where f.schedule_id = u.id and f.state <> 'waiting' and not f.open
       and f.nominal_at < (select x.nominal_at from wf.firing x where x.schedule_id = u.id
                            order by x.nominal_at desc offset 99 limit 1);
end;
$$;

-- wf._call_schedule(p_kind, p_schedule, p_at)
--
-- Returns  nothing; the schedules are looked at when p_at has come; never if p_at is null
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   wherever the next time of a schedule is stored, or its successor may begin
create or replace function wf._call_schedule(p_kind text, p_schedule bigint[], p_at timestamptz) returns void
language sql
begin atomic
    insert into wf.work (kind, item_id, due_at) select p_kind, u.id, p_at from unnest(p_schedule) u (id)
     where p_at is not null;
end;

-- wf._begin_firings(p_schedule, p_time, p_now)
--
-- Starts an instance for each of these times of schedules. If another instance of a schedule
-- is under way, the schedule's overlap decides. A time that has a row already is passed over.
--
-- Returns  nothing
-- Locks    as _start_all; the caller has locked the schedules
-- Raises   nothing of its own
-- Called   by _fire_schedules and schedule_backfill
create or replace function wf._begin_firings(p_schedule bigint[], p_time timestamptz[], p_now timestamptz) returns void
language plpgsql as $$
declare
    v_overlap text[];
    v_running bigint[];
    v_free boolean[];
begin
    select array_agg(x.id), array_agg(x.time), array_agg(x.overlap), array_agg(x.running),
           array_agg(x.overlap = 'allow' or x.k = 1 and x.running is null and not x.waits)
      into p_schedule, p_time, v_overlap, v_running, v_free
      from (select u.id, u.time, s.overlap, row_number() over (partition by u.id order by u.time) as k,
                   r.instance_id as running,
                   s.overlap <> 'allow' and exists (select from wf.firing f
                                                     where f.schedule_id = u.id and f.state = 'waiting') as waits
              from unnest(p_schedule, p_time) u (id, time)
             cross join lateral (select x.overlap from wf.schedule x where x.id = u.id offset 0) s
              left join lateral (select x.instance_id from wf._firing_under_way(u.id) x (instance_id)
                                  where s.overlap <> 'allow') r on true
              left join lateral (select true as known from wf.firing x
                                  where x.schedule_id = u.id and x.nominal_at = u.time offset 0) f on true
             where f.known is null
             order by u.id, u.time offset 0) x;
    perform wf._start_firings(array_agg(u.id), array_agg(u.time), p_now)
       from unnest(p_schedule, p_time, v_free) u (id, time, free) where u.free having count(*) > 0;
    insert into wf.firing (schedule_id, nominal_at, state, at, reason)
    select u.id, u.time, 'skipped', p_now, coalesce(format('instance %s is under way', u.running),
                                                    'the time before it has just begun')
      from unnest(p_schedule, p_time, v_overlap, v_running, v_free) u (id, time, overlap, running, free)
     where u.overlap = 'skip' and not u.free;
    perform wf._put_off(u.id, u.time, u.overlap, p_now)
       from unnest(p_schedule, p_time, v_overlap, v_free) with ordinality u (id, time, overlap, free, k)
      where u.overlap not in ('allow', 'skip') and not u.free;
end;
$$;

-- wf._put_off(p_schedule, p_time, p_overlap, p_now)
--
-- Puts off a time that has come while an instance of its schedule is under way, or while
-- another time waits.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates; the caller has locked the schedule
-- Raises   nothing
-- Called   by _begin_firings
create or replace function wf._put_off(p_schedule bigint, p_time timestamptz, p_overlap text, p_now timestamptz)
returns void
language plpgsql as $$
declare
    c_queue constant int := 100;
    v_running constant bigint := (select f.instance_id from wf._firing_under_way(p_schedule) f (instance_id));
    v_waiting int;
begin
    if p_overlap in ('replace', 'coalesce') then
        update wf.firing f
           set state = 'skipped', at = p_now, reason = 'a later time came before it could begin: ' || p_time
         where f.schedule_id = p_schedule and f.state = 'waiting';
    end if;
    if p_overlap = 'replace' and v_running is not null then
        insert into wf.work (kind, instance_id, item_id, due_at) values ('abort', v_running, 0, p_now);
    end if;
    select count(*) into v_waiting from wf.firing f where f.schedule_id = p_schedule and f.state = 'waiting';
    insert into wf.firing (schedule_id, nominal_at, state, at, reason)
    values (p_schedule, p_time, case when v_waiting >= c_queue then 'skipped' else 'waiting' end, p_now,
            case when v_waiting >= c_queue then format('%s times wait already', v_waiting)
                 else coalesce(format('instance %s is under way', v_running), 'another time waits already') end);
end;
$$;

-- wf._firing_under_way(p_schedule)
--
-- The planner puts the body of a function that returns rows in the place of its call.
--
-- Returns  the newest instance under way that a schedule has started, or no row
-- Locks    nothing
-- Raises   nothing
-- Called   by _begin_firings, _put_off, _tend_schedules and fsck
create or replace function wf._firing_under_way(p_schedule bigint) returns setof bigint
language sql stable
begin atomic
    select f.instance_id
      from wf.firing f
      join wf.instance i on i.id = f.instance_id and i.ended_at is null
     where f.schedule_id = p_schedule and f.open
     order by f.nominal_at desc limit 1;
end;

-- wf._start_firings(p_schedule, p_time, p_now)
--
-- Starts the instances of these times, those of one workflow, priority and login together.
-- If that is refused, it starts each one alone. When an instance ends, the next time that
-- waits begins. If a time has started no instance, this leaves work that makes it begin.
--
-- Returns  nothing
-- Locks    as _start_all; the caller has locked the schedules
-- Raises   nothing of its own
-- Called   by _begin_firings and _tend_schedules
create or replace function wf._start_firings(p_schedule bigint[], p_time timestamptz[], p_now timestamptz)
returns void
language plpgsql as $$
declare
    g record;
    v_started record;
    v_idle bigint[];
begin
    for g in
        select array_agg(s.id order by u.k) as schedules, array_agg(u.time order by u.k) as times
          from unnest(p_schedule, p_time) with ordinality u (id, time, k)
         cross join lateral (select x.id, x.workflow_id, x.priority, x.login from wf.schedule x
                              where x.id = u.id offset 0) s
         group by s.workflow_id, s.priority, s.login
         order by min(u.k)
    loop
        v_started := wf._start_group(g.schedules, g.times);
        if v_started.reason is not null and cardinality(g.schedules) > 1 then
            for k in 1 .. cardinality(g.schedules) loop
                perform wf._start_firings(g.schedules[k:k], g.times[k:k], p_now);
            end loop;
            continue;
        end if;
        with fired as (
        insert into wf.firing as f (schedule_id, nominal_at, state, open, at, instance_id, reason)
        select u.id, u.time,
               case when i.own then 'started' when not i.own then 'skipped'
                    when v_started.later then 'waiting' else 'refused' end,
               coalesce(i.own and s.overlap <> 'allow', false), p_now, u.instance,
               case when not i.own then format('instance %s has its key', u.instance) else v_started.reason end
          from unnest(g.schedules, g.times, v_started.instances) u (id, time, instance)
         cross join lateral (select x.overlap from wf.schedule x where x.id = u.id offset 0) s
          left join lateral (select (x.schedule_id, x.scheduled_at) is not distinct from (u.id, u.time) as own
                               from wf.instance x where x.id = u.instance offset 0) i on true
            on conflict (schedule_id, nominal_at) do update
           set state = excluded.state, open = excluded.open, at = excluded.at, instance_id = excluded.instance_id,
               reason = excluded.reason
        returning f.schedule_id, f.state)
        select array_agg(distinct f.schedule_id) into v_idle
          from fired f
         where f.state = 'waiting'
               or f.state <> 'started'
                  and exists (select from wf.firing w where w.schedule_id = f.schedule_id and w.state = 'waiting');
        if v_idle is not null then
            perform wf._call_schedule('successor', v_idle,
                                      p_now + make_interval(secs => case when v_started.later then 1 else 0 end));
        end if;
    end loop;
end;
$$;

-- wf._start_group(p_schedule, p_time)
--
-- Starts instances for times of schedules of one workflow, priority and login.
--
-- Returns  the instances, in order; or, if the start was refused, no instance and the reason; later: the start is to
--          be tried again, since another transaction holds a quota
-- Locks    as _start_all, for at most 100 ms each
-- Raises   nothing of its own
-- Called   by _start_firings
create or replace function wf._start_group(
    p_schedule bigint[], p_time timestamptz[], out instances bigint[], out reason text, out later boolean)
language plpgsql as $$
declare
    v_timeout constant text := current_setting('lock_timeout');
    v_workflow text;
    v_login text;
    v_priority int;
    v_params jsonb[];
    v_starters wf.starter[];
begin
    later := false;
    select w.name, pg_get_userbyid(s.login), s.priority into v_workflow, v_login, v_priority
      from wf.schedule s join wf.workflow w on w.id = s.workflow_id where s.id = p_schedule[1];
    select array_agg(s.params order by u.k),
           array_agg(row(v_login, 'schedule ' || s.name, null, null, 0, gen_random_uuid(), s.id, u.time)::wf.starter
                     order by u.k)
      into v_params, v_starters
      from unnest(p_schedule, p_time) with ordinality u (id, time, k)
     cross join lateral (select x.id, x.name, x.params from wf.schedule x where x.id = u.id offset 0) s;
    perform set_config('lock_timeout', '100ms', true);
    perform wf._check_workflow_grant(v_workflow, v_login);
    instances := wf._start_all(v_workflow, v_params, v_priority, v_starters);
    perform set_config('lock_timeout', v_timeout, true);
exception
    when sqlstate 'WF002' or sqlstate 'WF003' or sqlstate 'WF007' or sqlstate 'WF008' or sqlstate 'WF016'
         or sqlstate 'WF017' then
        instances := null;
        reason := sqlerrm;
    when lock_not_available then
        instances := null;
        reason := 'another transaction holds the quota';
        later := true;
end;
$$;

-- wf._tend_schedules(p_schedule, p_now)
--
-- Instances that schedules have started have ended: starts the times that wait, one after
-- the other.
--
-- Returns  nothing
-- Locks    the rows of the schedules (skipping locked ones), then as _start_all
-- Raises   nothing of its own
-- Called   by _do_work
create or replace function wf._tend_schedules(p_schedule bigint[], p_now timestamptz) returns void
language plpgsql as $$
declare
    v_paused constant boolean := wf._is_paused();
    v_held bigint[];
begin
    v_held := array(select s.id from wf.schedule s
                     where s.id = any (p_schedule) and not v_paused
                     order by s.id for no key update skip locked);
    perform wf._call_schedule('successor', array(select s.id from wf.schedule s
                                                  where s.id = any (p_schedule) and s.id <> all (v_held)),
                              p_now + case when v_paused then interval '1 minute' else interval '1 second' end);
    update wf.firing f set open = false
     where f.schedule_id = any (v_held) and f.open
       and not exists (select from wf.instance i where i.id = f.instance_id and i.ended_at is null);
    perform wf._start_firings(array_agg(x.schedule_id), array_agg(x.nominal_at), p_now)
       from (select f.schedule_id, f.nominal_at, s.overlap,
                    row_number() over (partition by f.schedule_id order by f.nominal_at) as k
               from wf.schedule s
               join wf.firing f on f.schedule_id = s.id and f.state = 'waiting'
              where s.id = any (v_held) and s.paused_at is null) x
      where x.overlap = 'allow' or x.k = 1 and not exists (select from wf._firing_under_way(x.schedule_id))
     having count(*) > 0;
end;
$$;

-- wf._tell_schedules(p_schedule, p_at)
--
-- Instances of these schedules have ended: leaves work for schedules whose overlap is not allow.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   by the triggers of instance
create or replace function wf._tell_schedules(p_schedule bigint[], p_at timestamptz) returns void
language plpgsql as $$
begin
    perform wf._call_schedule('successor', array(select s.id from wf.schedule s
                                                  where s.id = any (p_schedule) and s.overlap <> 'allow'), p_at);
    perform wf._ring();
end;
$$;

-- wf._doubt_schedules(p_now)
--
-- The workspace may know less than has happened: instances that its schedules would start
-- now or later may have been started already.
--
-- Returns  nothing
-- Locks    the rows of all schedules, and of the times that wait
-- Raises   nothing
-- Called   by _halt
create or replace function wf._doubt_schedules(p_now timestamptz) returns void
language plpgsql as $$
begin
    update wf.schedule s set lost_at = p_now where s.next_at is not null;
    update wf.firing f
       set state = 'skipped', at = p_now,
           reason = 'the workspace was restored or copied: it may have been started already'
     where f.state = 'waiting';
end;
$$;
