-- Abort: an instance is stopped for good, from its root down.

-- wf._abort(p_instance, p_error)
--
-- Aborts instances that are RUNNING or SUSPENDED. Composites first, so that each counts the
-- children that have yet to stop; then the leaves, whose stopping ends the
-- composites, and the root's ends the instance.
--
-- Returns  nothing
-- Locks    rows of parked, ready, process; the caller has locked the instances
-- Raises   nothing
-- Called   by wf._operate_instances; by the engine when an error finds no handler
create or replace function wf._abort(p_instance bigint[], p_error jsonb default null) returns void
language plpgsql :engine as $$
declare
    v_now      timestamptz := wf.now();
    v_instance bigint[];
begin
    with moved as (
        update wf.instance i
           set was = i.state, event = 'abort', state = 'ABORTING', at = v_now, error = coalesce(p_error, i.error)
         where i.id = any (p_instance) and i.state in ('RUNNING', 'SUSPENDED')
        returning i.id
    )
    select array_agg(m.id) into v_instance from moved m;

    -- parked first, since settle moves them to ready
    delete from wf.parked k where k.instance_id = any (v_instance);
    delete from wf.ready r where r.instance_id = any (v_instance);
    delete from wf.work w where w.instance_id = any (v_instance);
    delete from wf.pending q where q.instance_id = any (v_instance);

    with child as (
        select p.instance_id, p.id, 0 as open
          from wf.process p
         where p.instance_id = any (v_instance) and p.state = 'ACTIVE'
         union all
        select p.instance_id, p.parent_id, 1
          from wf.process p
         where p.instance_id = any (v_instance) and p.state not in ('END', 'RAISED', 'ABORTED') and p.parent_id is not null
    ), parent as (
        select c.instance_id, c.id, sum(c.open)::int as open
          from child c
         group by c.instance_id, c.id
    )
    update wf.process p
       set was = p.state, event = 'abort', state = 'ABORTING', at = v_now, open = x.open, todo = 0
      from parent x
     where p.instance_id = x.instance_id and p.id = x.id and p.state = 'ACTIVE';

    update wf.process p
       set was = p.state, event = 'aborted', state = 'ABORTED', at = v_now
     where p.instance_id = any (v_instance) and p.state = 'ABORTING' and p.open = 0;

    update wf.process p
       set was = p.state, event = 'abort', state = t.to_state, at = v_now
      from wf.transition t
     where p.instance_id = any (v_instance)
       and p.state not in ('ACTIVE', 'ABORTING')
       and t.machine = p.machine
       and t.from_state = p.state
       and t.event = 'abort';
end;
$$;

-- wf._abort_raised(p_moves)
--
-- Aborts the instances of processes whose error was handed on: nothing takes it.
--
-- Returns  nothing
-- Locks    as _abort
-- Raises   nothing of its own
-- Called   by the update trigger of process
create or replace function wf._abort_raised(p_moves wf.move[]) returns void
language plpgsql :inner as $$
begin
    perform wf._abort(array[m.instance_id], m.error) from wf._due(p_moves, 'raised') m;
end;
$$;

-- wf.abort(p_target, p_reason)
--
-- Returns  one row for each target: done, or refused and why
-- Locks    as wf._operate_instances, then parked, ready, process
-- Raises   WF002, WF003, WF006
-- Called   by operators
create or replace function wf.abort(p_target jsonb, p_reason text default null)
returns table (instance_id bigint, process_id bigint, answer text, detail text)
language sql security definer set search_path = pg_catalog, pg_temp as $$
    select * from wf._operate_instances('abort', p_target, p_reason);
$$;
comment on function wf.abort(jsonb, text) is 'Stops instances for good: what waits or runs in them is stopped, what they hold outside is released. The target means instances; a process is taken only if it is the root of one. One row for each target: done, or refused and why.';
