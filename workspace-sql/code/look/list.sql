-- The list of instances, fast even in a workspace that has had millions.

-- wf._instance_states()
--
-- Returns  the states that instances have
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.list
create or replace function wf._instance_states() returns text[]
language sql stable
begin atomic
    select array_agg(m.state order by m.state) from wf.machine_state m where m.machine = 'instance';
end;

-- wf.list(p_states, p_workflow, p_tags, p_failed, p_limit, p_key, p_result, p_since)
--
-- The latest instances in one of the states, of the workflow, with all of the
-- tags, with a failed process in them, with the key, with the result, started since then;
-- null stands for any. Instances with a
-- failed process or without an end are found in the small tables of tasks that
-- wait or run, one index probe for each instance. Those of a workflow are found by
-- an index; all others are read from the latest downwards.
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
    v_since constant timestamptz := wf._since(p_since);
    v_unknown text := (select s from unnest(p_states) s where s <> all (wf._instance_states()) limit 1);
begin
    if v_unknown is not null then
        raise exception using errcode = 'WF002',
            message = format('an instance has no state "%s"', left(v_unknown, 100)),
            hint = format('The states of instances are %s.', array_to_string(wf._instance_states(), ', '))
                   || case when exists (select from wf.machine_state m where m.state = v_unknown)
                           then ' Tasks have this one: wf-console tree shows their states.' else '' end;
    end if;
    if p_result not in ('success', 'warning', 'error', 'aborted') then
        raise exception using errcode = 'WF002',
            message = format('an instance has no result "%s"', left(p_result, 100)),
            hint = 'The results of instances are success, warning, error and aborted.';
    end if;
    if p_limit is null or p_limit < 0 then
        raise exception using errcode = 'WF002',
            message = format('the limit is %s', coalesce(p_limit::text, 'null')),
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
    return query
    with recursive live (id) as (
        select 9223372036854775807
         union all
        select (select max(x.id)
                  from (select max(t.instance_id) as id from wf.failed t where t.instance_id < l.id
                         union all
                        select max(t.instance_id) from wf.ready t where t.instance_id < l.id and v_way = 'live'
                         union all
                        select max(t.instance_id) from wf.parked t where t.instance_id < l.id and v_way = 'live'
                         union all
                        select max(t.instance_id) from wf.lease t where t.instance_id < l.id and v_way = 'live'
                         union all
                        select max(t.instance_id) from wf.timer t where t.instance_id < l.id and v_way = 'live'
                         union all
                        select max(t.instance_id) from wf.work t where t.instance_id < l.id and v_way = 'live'
                         union all
                        select max(t.instance_id) from wf.suspended t where t.instance_id < l.id and v_way = 'live') x)
          from live l
         where l.id is not null
    ), candidate (id) as (
        select l.id from live l where v_way in ('failed', 'live')
         union all
        (select i.id from wf.instance i where v_way = 'workflow' and i.workflow_id = v_workflow order by i.id desc)
         union all
        (select i.id from wf.instance i where v_way = 'all' order by i.id desc)
    )
    select i.id
      from candidate c
     cross join lateral (select x.* from wf.instance x where x.id = c.id offset 0) i
     where (p_states is null or i.state = any (p_states))
       and (v_workflow is null or i.workflow_id = v_workflow)
       and (p_tags is null or i.tags @> p_tags)
       and (p_key is null or i.key = p_key)
       and (p_result is null or i.result = p_result)
       and (v_since is null or i.started_at >= v_since)
     limit p_limit;
end;
$$;
comment on function wf.list(text[], text, text[], boolean, int, text, text, text) is
    'The latest instances: in one of these states, of this workflow, with all of these tags, with something failed in '
    'them, with this key, with this result, started since then (a moment, or an interval before now); null asks for '
    'nothing; at most so many. Returns their numbers, the latest first. Raises WF002 for a state or a result that '
    'instances do not have, WF003 for a workflow that there is not.';
