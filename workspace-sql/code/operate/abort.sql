-- Abort and halt: an instance is stopped for good. Its root is torn down.

-- wf.abort(p_target, p_reason)
--
-- Returns  one row for each target: done, begun (the rest goes on by itself), or refused and why
-- Locks    as wf._operate_instances, then parked, ready, process
-- Raises   WF002, WF003, WF006
-- Called   by operators
create or replace function wf.abort :verb as $$
    select * from wf._operate_instances('abort', p_target, p_reason);
$$;
comment on function wf.abort(jsonb, text) is
    'Stops instances for good: what waits or runs in them is stopped, what they hold outside is released. The target '
    'means instances; a process is taken only if it is the root of one. One row for each target: done, begun (it has '
    'more than 1,000 processes under way: the rest is stopped in portions, by the next polls), or refused and why.';

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
    'they hold outside is not released. Only a task in SQL that is just being done comes to its end. The target means '
    'instances, as for abort. One row for each target: done, begun (the rest goes on by itself), or refused and why.';
