-- How requests end: drivers are told to stop, leases are removed, and asynchronous tasks
-- get cancel requests, and cleanup requests that release what they hold outside.

-- wf._names_attempt(p_args)
--
-- Returns  whether a request with these arguments names its attempt in place of a handle
-- Locks    nothing
-- Raises   nothing
-- Called   by _ask and _decide
create or replace function wf._names_attempt(p_args jsonb) returns boolean
language sql immutable
begin atomic
    select strpos(p_args::text, '["instance", "attempt"]') > 0 and strpos(p_args::text, '["var", "handle"]') = 0;
end;

-- wf._tell_stop(p_moves)
--
-- Leaves a row of stop for each driver that holds a request of a process that is to stop.
-- This comes before the lease is removed.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   by the update trigger of process
create or replace function wf._tell_stop(p_moves wf.move[]) returns void
language plpgsql as $$
begin
    insert into wf.stop (driver_id, token, instance_id, process_id)
    select l.driver_id, l.token, l.instance_id, l.process_id
      from wf._due(p_moves, 'stop') m
     cross join lateral (select x.*
                           from wf.lease x
                          where x.instance_id = m.instance_id and x.process_id = m.id
                         offset 0) l
     where not exists (select from wf.driver d where d.id = l.driver_id and d.state in ('left', 'lost'))
        on conflict do nothing;
end;
$$;

-- wf._end_requests(p_instance, p_process)
--
-- Removes the leases of processes. The caller holds the instances, but register does not
-- wait for them: it may give the leases of a driver that comes back to its next incarnation
-- meanwhile. The row of such a lease has a new place then. The delete misses it, so it is
-- looked up again.
--
-- Returns  nothing
-- Locks    the leases
-- Raises   nothing
-- Called   by _ask, and by the update trigger of process where fewer leases were removed
--          than moves were made
create or replace function wf._end_requests(p_instance bigint[], p_process bigint[]) returns void
language plpgsql as $$
declare
    v_missed boolean := true;
begin
    while v_missed loop
        with held as materialized (
            select array(select l.ctid from unnest(p_instance, p_process) u (i, j)
                          cross join lateral (select x.ctid from wf.lease x
                                               where x.instance_id = u.i and x.process_id = u.j offset 0) l) as places),
        ended as (
            delete from wf.lease l where l.ctid = any ((select h.places from held h)::tid[]) returning true)
        select cardinality(h.places) > (select count(*) from ended) into v_missed from held h;
    end loop;
end;
$$;

-- wf._ask(p_moves, p_at)
--
-- Makes the cancel or cleanup request ready that the state of asynchronous tasks calls for.
-- A request that a driver still has must end first, except a start that was not
-- acknowledged: that start is taken back. The task moves on at once if its type has no such
-- request, or if the request needs a handle and the task has none.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Raises   nothing of its own
-- Called   by the update trigger of process
create or replace function wf._ask(p_moves wf.full_move[], p_at timestamptz) returns void
language plpgsql as $$
begin
    perform wf._end_requests(array_agg(m.instance_id), array_agg(m.id)) from wf._due_full(p_moves, 'ask') m
      where m.was = 'START_REQUESTED';
    perform wf._offer(array_agg(row(m.instance_id, m.id, m.lane_id, m.rank, wf._turn(p_at, null),
                                    q.request)::wf.request))
       from wf._due_full(p_moves, 'ask') m
      cross join lateral (select x.handle
                            from wf.process x
                           where x.instance_id = m.instance_id and x.id = m.id
                          offset 0) p
      cross join lateral (select x.* from wf.node x where x.version_id = m.version_id and x.id = m.node_id offset 0) n
       join wf.task_request q on q.type_id = n.type_id
                             and q.request = case when m.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED') then 'cancel'
                                                  else 'cleanup' end
      where (p.handle is not null or wf._names_attempt(q.args))
        and not exists (select from wf.lease l where l.instance_id = m.instance_id and l.process_id = m.id)
        and not exists (select from wf.ready r where r.instance_id = m.instance_id and r.process_id = m.id);
    update wf.process p
       set was = p.state, at = p_at,
           event = case when p.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED') then 'cancelled' else 'cleaned' end,
           state = wf._next_state(
               'async', p.state,
               case when p.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED') then 'cancelled' else 'cleaned' end, false),
           error = case when p.state = 'CANCEL_REQUESTED' then wf._cancelled(null, p.error)
                        else p.error end,
           handle = case when p.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED') then p.handle end
      from wf._due_full(p_moves, 'ask') m
     cross join lateral (select x.ctid from wf.process x where x.instance_id = m.instance_id and x.id = m.id offset 0) k
     where p.ctid = k.ctid
       and not exists (select from wf.lease l where l.instance_id = m.instance_id and l.process_id = m.id)
       and not exists (select from wf.ready r where r.instance_id = m.instance_id and r.process_id = m.id);
end;
$$;

-- wf._cancelled(p_cause, p_kept)
--
-- Returns  the error of a task that was told to stop. If its time was over, this is the error that it was stopped for
--          (p_kept), else an error that it was cancelled. The error of its request becomes the cause
-- Locks    nothing
-- Raises   nothing
-- Called   where a task in CANCEL_REQUESTED becomes FAILED
create or replace function wf._cancelled(p_cause jsonb, p_kept jsonb) returns jsonb
language sql immutable
begin atomic
    select case when p_kept is not null and (p_cause ->> 'kind' = 'cancelled') is not false then p_kept
                when p_cause ->> 'kind' = 'cancelled' then p_cause
                else jsonb_strip_nulls(coalesce(p_kept, '{"kind": "cancelled", "message": "cancelled"}')
                                       || jsonb_build_object('cause', p_cause)) end;
end;
