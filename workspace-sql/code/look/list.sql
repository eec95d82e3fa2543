-- The list of instances, fast even in a workspace that has had millions.

-- wf._check_instance_states(p_states)
--
-- Returns  nothing
-- Locks    nothing
-- Raises   WF002: one of them is a state that instances do not have
-- Called   by wf.list
create or replace function wf._check_instance_states(p_states text[]) returns void
language plpgsql stable as $$
declare
    v_unknown constant text := (
        select s from unnest(p_states) s
         where not exists (select from wf.machine_state m where m.machine = 'instance' and m.state = s)
         limit 1);
begin
    if v_unknown is not null then
        raise exception using errcode = 'WF002',
            message = format('an instance has no state "%s"', left(v_unknown, 100)),
            hint = format('The states of instances are %s.',
                          (select string_agg(m.state, ', ' order by m.state)
                             from wf.machine_state m where m.machine = 'instance'))
                   || case when exists (select from wf.machine_state m where m.state = v_unknown)
                           then ' Tasks have this one: wf-console tree shows their states.' else '' end;
    end if;
end;
$$;

-- wf._is_asked_for(p_instance, p_states, p_workflow, p_tags, p_key, p_result, p_since)
--
-- Returns  whether an instance is in one of the states, of the workflow, with all of the tags, and so on; null stands
--          for any
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.list
create or replace function wf._is_asked_for(p_instance wf.instance, p_states text[], p_workflow bigint, p_tags text[],
                                            p_key text, p_result text, p_since timestamptz) returns boolean
language sql immutable
begin atomic
    select (p_states is null or (p_instance).state = any (p_states))
           and (p_workflow is null or (p_instance).workflow_id = p_workflow)
           and (p_tags is null or (p_instance).tags @> p_tags)
           and (p_key is null or (p_instance).key = p_key)
           and (p_result is null or (p_instance).result = p_result)
           and (p_since is null or (p_instance).started_at >= p_since);
end;

-- wf.list(p_states, p_workflow, p_tags, p_failed, p_limit, p_key, p_result, p_since)
--
-- The latest instances in one of the states, of the workflow, with all of the tags, with a
-- failed process in them, with the key, with the result, started since then; null stands
-- for any. Instances with a failed process or without an end are found in the small tables
-- of tasks that wait or run, one index probe for each instance. Those of a workflow are
-- found by an index; all others are read from the latest downwards.
--
-- Returns  their ids, the latest first
-- Locks    nothing
-- Raises   WF002, WF003
-- Called   by viewers
create or replace function wf.list(
    p_states text[] default null, p_workflow text default null, p_tags text[] default null,
    p_failed boolean default false, p_limit int default 50, p_key text default null, p_result text default null,
    p_since text default null)
returns setof bigint
language plpgsql stable security definer :engine as $$
declare
    v_workflow bigint;
    v_way text;
    v_since timestamptz;
begin
    if p_since is not null then
        v_since := wf._since(p_since);
    end if;
    if p_states is not null then
        perform wf._check_instance_states(p_states);
    end if;
    if p_result not in ('success', 'warning', 'error', 'aborted') then
        raise exception using errcode = 'WF002',
            message = format('an instance has no result "%s"', left(p_result, 100)),
            hint = 'The results of instances are success, warning, error and aborted.';
    end if;
    if p_limit is null or p_limit < 0 then
        raise exception using errcode = 'WF002',
            message = format('the limit must be at least 0, not %s', coalesce(p_limit::text, 'null')),
            hint = 'Give the number of instances to list, 0 or more.';
    end if;
    select w.id into v_workflow from wf.workflow w where w.name = p_workflow;
    if p_workflow is not null and v_workflow is null then
        raise exception using errcode = 'WF003',
            message = format('there is no workflow %s', left(p_workflow, 100)),
            hint = 'List what exists: wf-console workflows.';
    end if;
    v_way := case when p_failed then 'failed'
                  when not p_states && '{END,ABORTED}' then 'live'
                  when v_workflow is not null then 'workflow'
                  else 'all' end;
    if v_way in ('failed', 'live') then
        return query
        with recursive live (id) as (
            select 9223372036854775807
             union all
            -- a session that has just begun plans these subselects in half of the time of max() over a union
            select greatest(
                (select t.instance_id from wf.failed t where t.instance_id < l.id order by 1 desc limit 1),
                case when v_way = 'live' then greatest(
                    (select t.instance_id from wf.ready t where t.instance_id < l.id order by 1 desc limit 1),
                    (select t.instance_id from wf.parked t where t.instance_id < l.id order by 1 desc limit 1),
                    (select t.instance_id from wf.lease t where t.instance_id < l.id order by 1 desc limit 1),
                    (select t.instance_id from wf.timer t where t.instance_id < l.id order by 1 desc limit 1),
                    (select t.instance_id from wf.work t where t.instance_id < l.id order by 1 desc limit 1),
                    (select t.instance_id from wf.suspended t where t.instance_id < l.id order by 1 desc limit 1)) end)
              from live l
             where l.id is not null)
        select i.id
          from live l
         cross join lateral (select x.* from wf.instance x where x.id = l.id offset 0) i
         where wf._is_asked_for(i, p_states, v_workflow, p_tags, p_key, p_result, v_since)
         limit p_limit;
        return;
    end if;
    return query
    select i.id
      from ((select x.* from wf.instance x
              -- only the index of both columns gives this order: whatever the statistics say, no other one is read
              where (x.workflow_id, x.id) between (v_workflow, 0) and (v_workflow, 9223372036854775807)
              order by x.workflow_id desc, x.id desc)
             union all
            (select x.* from wf.instance x where v_workflow is null order by x.id desc)) i
     where wf._is_asked_for(i, p_states, v_workflow, p_tags, p_key, p_result, v_since)
     limit p_limit;
end;
$$;
comment on function wf.list(text[], text, text[], boolean, int, text, text, text) is
    'Lists the latest instances, at most p_limit: in one of these states, of this workflow, with all of these tags, '
    'with a failed process in them, with this key, with this result, started since then (a moment, or an interval '
    'before now); null stands for any. Returns their numbers, the latest first. Raises WF002 for a state or a result '
    'that instances do not have, WF003 for a workflow that does not exist.';
