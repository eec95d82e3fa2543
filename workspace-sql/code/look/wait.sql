-- Whether an instance goes on by itself. These are functions, and not expressions of
-- wf.instance_v: a session that does not select them need not load the tables that they read.

-- wf.has_only_failures(p_instance)
--
-- Returns  whether a process in the instance has failed, and none of its other tasks is under way
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.instance_v, and those that read it
create or replace function wf.has_only_failures(p_instance bigint) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
    select exists (select from wf.instance i where i.id = p_instance and i.state not in ('END', 'ABORTED'))
           and exists (select from wf.failed f where f.instance_id = p_instance)
           and not exists (select
                             from wf.process p
                             join wf.node n on n.version_id = p.version_id and n.id = p.node_id
                            where p.instance_id = p_instance and n.task_type is not null
                              and p.state not in ('END', 'FAILED', 'RAISED', 'ABORTED'));
end;
comment on function wf.has_only_failures(bigint) is
    'Whether a process in an instance has failed, and none of its other tasks is under way: the instance does not go '
    'on by itself. False if the instance is over, or does not exist.';

-- wf.waits_for_operator(p_instance)
--
-- Returns  whether only an operator can let the instance go on
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.instance_v, and those that read it
create or replace function wf.waits_for_operator(p_instance bigint) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
    select coalesce((select i.state = 'SUSPENDED' or wf._is_paused() or wf.has_only_failures(i.id)
                       from wf.instance i
                      where i.id = p_instance and i.state not in ('END', 'ABORTED')), false);
end;
comment on function wf.waits_for_operator(bigint) is
    'Whether only an operator can let an instance go on: it has only failures, it is suspended, or the engine is '
    'paused. False if the instance is over, or does not exist.';
