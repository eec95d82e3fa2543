-- Abort and halt: an instance is stopped for good. Its root is torn down.

-- wf.abort(p_target, p_reason, p_undo)
--
-- Returns  one row for each target: done, begun (the rest goes on by itself), or refused and why
-- Locks    as wf._operate_instances, then parked, ready, process
-- Raises   WF002, WF003, WF006
-- Called   by operators
create or replace function wf.abort(p_target jsonb, p_reason text default null, p_undo boolean default false)
returns table (instance_id bigint, process_id bigint, answer text, detail text)
language sql security definer set search_path = pg_catalog, pg_temp as $$
    select * from wf._operate_instances('abort', p_target, p_reason, coalesce(p_undo, false));
$$;
comment on function wf.abort(jsonb, text, boolean) is
    'Stops instances for good: the tasks that wait or run in them are stopped, and what they hold outside is released. '
    'With p_undo, the processes in them that ended well and have a policy undo are then undone, the last first. The '
    'target means instances; a process is taken only if it is the root of an instance. One row for each target: done, '
    'begun (it has more than 1,000 processes under way: the next polls stop the rest in portions), or refused and why.';

-- wf.halt(p_target, p_reason)
--
-- Returns  one row for each target: done, begun (the rest goes on by itself), or refused and why
-- Locks    as wf.abort, and lease
-- Raises   WF002, WF003, WF006
-- Called   by operators
create or replace function wf.halt :verb as $$
    select * from wf._operate_instances('halt', p_target, p_reason);
$$;
comment on function wf.halt(jsonb, text) is
    'Stops instances at once, also those that are being aborted: no finally runs, no driver is waited for, and what '
    'they hold outside is not released. Only an SQL task that is just being done comes to its end. The target means '
    'instances, as for abort. One row for each target: done, begun (the rest goes on by itself), or refused and why.';
