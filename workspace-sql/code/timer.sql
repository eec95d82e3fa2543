-- What is due at a time.

-- wf._fire(p_now)
--
-- Fires due timers, oldest first, at most 100. Timers of an instance that
-- somebody else holds stay for the next call.
--
-- Returns  nothing
-- Locks    instances by id (skipping locked ones), then their timers
-- Raises   nothing of its own
-- Called   by poll and tick
create or replace function wf._fire(p_now timestamptz) returns void
language plpgsql :inner as $$
declare
    v_instances bigint[];
begin
    v_instances := array(select distinct x.instance_id from (select t.instance_id from wf.timer t where t.due_at <= p_now order by t.due_at limit 100) x);
    v_instances := array(select i.id from wf.instance i where i.id = any (v_instances) order by i.id for no key update skip locked);
    perform wf._fire_timers(v_instances, p_now);
end;
$$;

-- wf._fire_timers(p_instance, p_now)
--
-- Fires the due timers of instances that the caller holds.
--
-- Returns  nothing
-- Locks    their timers
-- Raises   nothing of its own
-- Called   by _fire, and by the simulator
create or replace function wf._fire_timers(p_instance bigint[], p_now timestamptz) returns void
language plpgsql :inner as $$
declare
    f record;
begin
    with due as (
        update wf.timer t set due_at = 'infinity'
         where t.instance_id = any (p_instance) and t.due_at <= p_now
        returning t.instance_id, t.process_id, t.kind)
    select array_agg(d.instance_id) instances, array_agg(d.process_id) processes, array_agg(d.kind) kinds into f from due d;
    if f.instances is null then
        return;
    end if;
    insert into wf.ready (instance_id, process_id, lane_id, rank, turn, request)
    select p.instance_id, p.id, p.lane_id, p.rank, wf._turn(p_now, null), u.kind
      from unnest(f.instances, f.processes, f.kinds) u (i, j, kind)
     cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
     where u.kind <> 'sleep'
        on conflict do nothing;
    update wf.process p set was = p.state, event = 'success', state = 'END', at = p_now
      from unnest(f.instances, f.processes, f.kinds) u (i, j, kind)
     cross join lateral (select x.ctid from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) k
     where u.kind = 'sleep' and p.ctid = k.ctid and p.kind = 'wait' and p.state = 'WAITING';
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
begin
    perform wf._gate(true);
    perform wf._fire(wf.now());
    perform wf._sweep(true);
    perform wf._forget_lanes();
    perform wf._settle();
    perform wf._purge_old();
end;
$$;
comment on function wf.tick() is 'Fires due timers, takes the requests of lost drivers back, grants places of groups and purges what is old, as every poll does. Returns nothing.';
