-- Timers: what is due when.
--
-- Timers that were fired stay at the head of their index until a vacuum removes
-- them, and while any transaction stays open it removes none. A poll that looks at
-- the head reads all of them. If that takes long, the polls of the session look for
-- a while only at the timers of the last two seconds (wf.timers says until when). An older
-- timer waits for the next look at all timers: it was stored after its time was over, or
-- somebody held its instance.

-- wf._due_since(p_now)
--
-- Returns  a time: a poll looks for timers that are due after it
-- Locks    nothing
-- Raises   nothing
-- Called   by poll; it is inlined there
create or replace function wf._due_since(p_now timestamptz) returns timestamptz
language sql stable
begin atomic
    select case when nullif(current_setting('wf.timers', true), '')::float8 - date_part('epoch', p_now)
                     between 0 and 1
                then p_now - interval '2 seconds' else '-infinity' end;
end;

-- wf._spare_timers(p_seen, p_now)
--
-- Notes when to look at all timers again. The look has read p_seen entries of their index,
-- 0.2 us each. It is repeated as soon as a look at the heads of the queue would be (_find).
--
-- Returns  nothing
-- Locks    nothing
-- Raises   nothing
-- Called   by poll, if it has taken more than 0.5 ms
create or replace function wf._spare_timers(p_seen bigint, p_now timestamptz) returns void
language plpgsql as $$
begin
    perform set_config('wf.timers', (date_part('epoch', p_now) + wf._look_rest(p_seen * 0.2))::text, false);
end;
$$;

-- wf._fire(p_since, p_now)
--
-- Fires the timers that are due after p_since, the oldest first. One call fires timers of at
-- most 400 processes. It passes over an instance that somebody else holds, however many of
-- its timers are due; they stay for a later call. It leaves a timer with a row in wf.work to
-- that work. (wf._is_apart would find such timers with one call for each timer.)
--
-- Returns  nothing
-- Locks    instances by id (skipping locked ones), then their timers
-- Called   by poll and tick
create or replace function wf._fire(p_since timestamptz, p_now timestamptz) returns void
language plpgsql as $$
declare
    c_most constant int := 400;
    v_passed bigint[] := array[]::bigint[];
    v_found bigint[];
    v_held bigint[];
    v_error jsonb;
    f record;
begin
    for k in 1 .. 5 loop
        v_found := array(select distinct x.instance_id
                           from (select t.instance_id from wf.timer t
                                  where t.due_at <= p_now and t.due_at > p_since and t.instance_id <> all (v_passed)
                                    and not exists (select from wf.work w
                                                     where w.instance_id = t.instance_id and w.item_id = t.process_id
                                                       and w.kind = 'timer')
                                  order by t.due_at limit c_most) x);
        exit when cardinality(v_found) = 0;
        v_held := array(select i.id
                          from wf.instance i
                         where i.id = any (v_found)
                         order by i.id for no key update skip locked);
        exit when cardinality(v_held) > 0;
        v_passed := v_passed || v_found;
    end loop;
    select array_agg(x.instance_id) instances, array_agg(x.process_id) processes
      into f
      from (select t.instance_id, t.process_id from wf.timer t
             where t.due_at <= p_now and t.due_at > p_since and t.instance_id = any (v_held)
               and not exists (select from wf.work w
                                where w.instance_id = t.instance_id and w.item_id = t.process_id and w.kind = 'timer')
             order by t.due_at limit c_most) x;
    if cardinality(f.processes) = c_most then
        perform set_config('wf.timers', '', false); -- there may be more: the next poll looks at all
    end if;
    if f.instances is not null then
        v_error := wf._try_work('timer', f.instances, f.processes, p_now);
    end if;
    if v_error is not null then
        perform wf._put_work('timer', f.instances, f.processes, p_now, v_error);
        update wf.timer t set due_at = 'infinity'
          from unnest(f.instances, f.processes) u (i, j)
         where t.instance_id = u.i and t.process_id = u.j and t.due_at <= p_now;
    end if;
end;
$$;

-- wf._fire_timers(p_instance, p_process, p_now)
--
-- Fires timers of processes. The caller holds their instances. A sleep ends, the next
-- attempt begins, or a request becomes ready if it is neither ready nor with a driver. A
-- timer that is not due stays: the caller has seen another one. A timer that _fire could not
-- fire has infinity as its time.
--
-- Returns  nothing
-- Locks    their timers
-- Called   by _do_work, and by the simulator
create or replace function wf._fire_timers(p_instance bigint[], p_process bigint[], p_now timestamptz) returns void
language plpgsql as $$
declare
    f record;
begin
    with found as materialized (
        select k.ctid as place, k.kind
          from unnest(p_instance, p_process) u (i, j)
         cross join lateral (select x.ctid, x.kind from wf.timer x
                              where x.instance_id = u.i and x.process_id = u.j
                                and (x.due_at <= p_now or x.due_at = 'infinity') offset 0) k
         where k.kind = 'retry'
            or not exists (select from wf.ready r where r.instance_id = u.i and r.process_id = u.j)
               and not exists (select from wf.lease l where l.instance_id = u.i and l.process_id = u.j)),
    over as (
        delete from wf.timer t
         where t.ctid = any (array(select d.place from found d where d.kind = 'retry'))
        returning t.instance_id, t.process_id, t.kind),
    asked as (
        update wf.timer t set due_at = 'infinity'
         where t.ctid = any (array(select d.place from found d where d.kind <> 'retry'))
        returning t.instance_id, t.process_id, t.kind)
    select array_agg(d.instance_id) instances, array_agg(d.process_id) processes, array_agg(d.kind) kinds
      into f
      from (select * from over union all select * from asked) d;
    if f.instances is null then
        return;
    end if;
    perform wf._offer(array_agg(row(p.instance_id, p.id, p.lane_id, p.rank, wf._turn(p_now, null),
                                    u.kind)::wf.request))
       from unnest(f.instances, f.processes, f.kinds) u (i, j, kind)
      cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
      where u.kind not in ('sleep', 'retry');
    update wf.process p set was = p.state, event = 'success', state = 'END', at = p_now
      from unnest(f.instances, f.processes, f.kinds) u (i, j, kind)
     cross join lateral (select x.ctid from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) k
     where u.kind = 'sleep' and p.ctid = k.ctid and p.machine = 'wait' and p.state = 'WAITING';
    if 'retry' = any (f.kinds) then
        perform wf._begin_attempts(array_agg(u.i), array_agg(u.j), p_now)
           from unnest(f.instances, f.processes, f.kinds) u (i, j, kind) where u.kind = 'retry';
    end if;
end;
$$;

-- wf._clear_timers(p_moves)
--
-- Removes timers whose processes have left the state that the timers belong to.
--
-- Returns  nothing
-- Locks    their timers
-- Raises   nothing
-- Called   by the update trigger of process
create or replace function wf._clear_timers(p_moves wf.move[]) returns void
language plpgsql as $$
begin
    delete from wf.timer d
     where d.ctid = any (array(select k.ctid from wf._due(p_moves, 'timer') m
                                cross join lateral (select x.ctid, x.kind from wf.timer x
                                                     where x.instance_id = m.instance_id and x.process_id = m.id
                                                    offset 0) k
                                where k.kind <> 'retry')); -- _retry deletes that timer
end;
$$;

-- wf.tick()
--
-- Does what is due without a driver: for a cron job, or the console.
--
-- Returns  nothing
-- Locks    as poll
-- Raises   WF006
-- Called   by operators
create or replace function wf.tick() returns void
language plpgsql security definer :engine as $$
declare
    v_now constant timestamptz := wf.now();
begin
    perform wf._gate(true);
    perform wf._fire('-infinity', v_now);
    perform wf._set_long_limits(null, v_now), wf._fire_limits(v_now);
    perform wf._work(v_now, 32);
    perform wf._sweep(true);
    perform wf._forget_lanes();
    perform wf._forget_versions();
    perform wf._settle_safely(v_now);
    perform wf._seal_audit();
    perform wf._forget_signals(v_now);
    perform wf._purge_old();
end;
$$;
comment on function wf.tick() is
    'Fires due timers, takes the requests of lost drivers back, grants places of groups and purges what is old, as '
    'every poll does. Returns nothing.';
