-- Abort: an instance is stopped for good. Its root is torn down.

-- wf._abort(p_instance, p_error, p_sure)
--
-- Aborts instances that are RUNNING or SUSPENDED: tears their roots down.
--
-- Returns  nothing; what is more than a portion is work of kind teardown
-- Locks    as _tear; the caller has locked the instances
-- Raises   nothing
-- Called   by wf._operate_instances; by the engine when an error is handed on that
--          nothing takes, in the middle of moves (p_sure is false)
create or replace function wf._abort(p_instance bigint[], p_error jsonb default null, p_sure boolean default true)
returns void
language plpgsql :engine as $$
declare
    v_now      timestamptz := wf.now();
    v_instance bigint[];
    v_root     bigint[];
begin
    with moved as (
        update wf.instance i
           set was = i.state, event = 'abort', state = 'ABORTING', at = v_now, error = coalesce(p_error, i.error)
         where i.id = any (p_instance) and i.state in ('RUNNING', 'SUSPENDED')
        returning i.id)
    select array_agg(m.id), array_agg(wf._root(m.id)) into v_instance, v_root from moved m;
    if v_instance is not null then
        perform wf._tear_down(v_instance, v_root, 'aborted', null, p_error, v_now, p_sure);
        perform wf._mark_torn(v_instance, v_root, v_now);
        perform wf._tear(v_instance, v_root, v_now);
    end if;
end;
$$;

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
