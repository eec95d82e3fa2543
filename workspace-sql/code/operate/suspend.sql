-- Suspension: no task of the instance is started. Tasks that would be ready are
-- parked. Timers go on, and so do tasks that have been started.

-- wf.suspend(p_target, p_reason)
--
-- Returns  one row for each target: done, or refused and why
-- Locks    as wf._operate_instances, then parked, ready, slot
-- Raises   WF002, WF003, WF006
-- Called   by operators
create or replace function wf.suspend :verb as $$
    select * from wf._operate_instances('suspend', p_target, p_reason);
$$;
comment on function wf.suspend(jsonb, text) is
    'Holds instances: no task of them is started until they are resumed. Tasks that run go on and are polled, '
    'cancelled and released; sleeps end. The target means instances, as for abort. One row for each target: done, or '
    'refused and why.';

-- wf.resume(p_target, p_reason)
--
-- Returns  one row for each target: done, or refused and why
-- Locks    as wf._operate_instances, then parked
-- Raises   WF002, WF003, WF006
-- Called   by operators
create or replace function wf.resume :verb as $$
    select * from wf._operate_instances('resume', p_target, p_reason);
$$;
comment on function wf.resume(jsonb, text) is
    'Lets SUSPENDED instances go on. The target means instances, as for abort. One row for each target: done, or '
    'refused and why.';
