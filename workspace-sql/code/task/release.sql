-- Asynchronous tasks: the requests that cancel them and release what they hold
-- outside.

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

-- wf._ask(p_instance, p_process, p_at)
--
-- Asks for the cancel or cleanup request that the state of asynchronous tasks
-- calls for. A request that is out is waited for, except a start that was not
-- acknowledged: that is taken back. Where the type has no such request, or one
-- that needs a handle and there is none, the task moves on at once.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Raises   nothing of its own
-- Called   by the update trigger of process
create or replace function wf._ask(p_instance bigint[], p_process bigint[], p_at timestamptz) returns void
language plpgsql :inner as $$
begin
    delete from wf.lease l
     where l.ctid = any (array(select k.ctid from unnest(p_instance, p_process) u (i, j)
                                cross join lateral (select x.was from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
                                cross join lateral (select x.ctid from wf.lease x where x.instance_id = u.i and x.process_id = u.j offset 0) k
                                where p.was = 'START_REQUESTED'));
    insert into wf.ready (instance_id, process_id, lane_id, rank, turn, request)
    select p.instance_id, p.id, p.lane_id, p.rank, wf._turn(p_at, null), q.request
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
     cross join lateral (select x.* from wf.node x where x.version_id = p.version_id and x.id = p.node_id offset 0) n
      join wf.task_request q on q.type_id = n.type_id
                            and q.request = case when p.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED') then 'cancel' else 'cleanup' end
     where (p.handle is not null or wf._names_attempt(q.args))
       and not exists (select from wf.lease l where l.instance_id = p.instance_id and l.process_id = p.id)
        on conflict do nothing;
    perform wf._ring();
    update wf.process p
       set was = p.state, at = p_at,
           event = case when p.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED') then 'cancelled' else 'cleaned' end,
           state = wf._next_state('async', p.state, case when p.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED') then 'cancelled' else 'cleaned' end, false),
           error = case when p.state = 'CANCEL_REQUESTED' then wf._cancelled(p.error)
                        else p.error end,
           handle = case when p.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED') then p.handle end
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.ctid from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) k
     where p.ctid = k.ctid
       and not exists (select from wf.lease l where l.instance_id = u.i and l.process_id = u.j)
       and not exists (select from wf.ready r where r.instance_id = u.i and r.process_id = u.j);
end;
$$;

-- wf._cancelled(p_cause)
--
-- Returns  the error of a cancelled task, with the error that it had before as cause
-- Locks    nothing
-- Raises   nothing
-- Called   where a task in CANCEL_REQUESTED becomes FAILED
create or replace function wf._cancelled(p_cause jsonb) returns jsonb
language sql immutable
begin atomic
    select case when p_cause ->> 'kind' = 'cancelled' then p_cause
                else jsonb_strip_nulls(jsonb_build_object('kind', 'cancelled', 'message', 'cancelled', 'cause', p_cause)) end;
end;
