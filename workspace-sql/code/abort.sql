-- Abort: an instance is stopped for good, from its root down.

-- wf._abort(p_instance, p_error)
--
-- Aborts instances that are RUNNING. Composites first, so that each counts the
-- children that have yet to stop; then the leaves, whose stopping ends the
-- composites, and the root's ends the instance.
--
-- Returns  nothing
-- Locks    rows of parked, ready, process; the caller has locked the instances
-- Raises   nothing
-- Called   by wf.abort; by the engine when an error finds no handler
create or replace function wf._abort(p_instance bigint[], p_error jsonb default null) returns void
language plpgsql :engine as $$
declare
    v_now      timestamptz := wf.now();
    v_instance bigint[];
begin
    with moved as (
        update wf.instance i
           set was = i.state, event = 'abort', state = 'ABORTING', at = v_now, error = coalesce(p_error, i.error)
         where i.id = any (p_instance) and i.state = 'RUNNING'
        returning i.id
    )
    select array_agg(m.id) into v_instance from moved m;

    -- parked first, since settle moves them to ready
    delete from wf.parked k where k.instance_id = any (v_instance);
    delete from wf.ready r where r.instance_id = any (v_instance);

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
       and t.machine = case when p.kind in ('sync', 'async', 'wait') then p.kind else 'composite' end
       and t.from_state = p.state
       and t.event = 'abort';
end;
$$;

-- wf._abort_answer(p_target, p_instance)
--
-- What abort does with each of the instances that it has locked.
--
-- Returns  one row for each: null in answer means that it is to be aborted
-- Locks    nothing
-- Raises   WF002, WF003
-- Called   by wf.abort
create or replace function wf._abort_answer(p_target jsonb, p_instance bigint[])
returns table (instance_id bigint, process_id bigint, answer text, detail text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    v_t     record;
    v_named boolean;
begin
    select * into v_t from wf._parse_target(p_target);
    v_named := v_t.latest or v_t.instances is not null or v_t.processes is not null or v_t.roots is not null;
    return query
    select i.id, p.id,
           case when i.state <> 'RUNNING' or p.parent_id is not null then 'refused' end,
           case when p.parent_id is not null then p.state || ': only a whole instance can be aborted; cancel stops single tasks'
                when i.state <> 'RUNNING' then i.state || ': only RUNNING can be aborted' end
      from wf.instance i
      left join wf.process p on p.instance_id = i.id and p.id = any (coalesce(v_t.processes, v_t.roots))
     where i.id = any (p_instance)
       and (v_named or i.state = 'RUNNING')
       and (v_t.states is null
            or i.state = any (v_t.states)
            or 'FAILED' = any (v_t.states) and exists (select from wf.failed f where f.instance_id = i.id));
end;
$$;

-- wf.abort(p_target, p_reason)
--
-- Returns  one row for each target: done, or refused and why
-- Locks    the gate, instances by id, then parked, ready, process
-- Raises   WF002, WF003, WF006
-- Called   by operators
create or replace function wf.abort(p_target jsonb, p_reason text default null)
returns table (instance_id bigint, process_id bigint, answer text, detail text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_found    bigint[];
    v_instance bigint[];
    v_process  bigint[];
    v_answer   text[];
    v_detail   text[];
begin
    perform wf._gate(true);
    perform wf._set_reason(p_reason);
    v_found := wf._target_instances(p_target);
    perform from wf.instance i where i.id = any (v_found) order by i.id for no key update;
    select array_agg(a.instance_id), array_agg(a.process_id), array_agg(a.answer), array_agg(a.detail)
      into v_instance, v_process, v_answer, v_detail
      from wf._abort_answer(p_target, v_found) a;

    perform wf._abort(array(select x.id from unnest(v_instance, v_answer) x (id, answer) where x.answer is null));

    return query
    select i.id, x.process_id, coalesce(x.answer, 'done'), coalesce(x.detail, 'RUNNING -> ' || i.state)
      from unnest(v_instance, v_process, v_answer, v_detail) x (instance_id, process_id, answer, detail)
      join wf.instance i on i.id = x.instance_id
     union all
    select * from wf._missing(p_target, v_found)
     order by 1, 2;
    if not found then
        raise exception using errcode = 'WF003',
            message = format('nothing matches the target %s', p_target),
            hint = 'List what exists: wf-console list.';
    end if;
    perform wf._set_reason(null);
end;
$$;
comment on function wf.abort(jsonb, text) is 'Stops instances for good: what waits or runs in them is stopped, what they hold outside is released. The target means instances; a process is taken only if it is the root of one. One row for each target: done, or refused and why.';
