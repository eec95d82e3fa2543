-- The tree of a version as it is drawn, and how far an instance is in it.

-- wf._branch(p_parent, p_ordinal)
--
-- Returns  the branch that leads to a child of an if or a switch: yes or no, the values of
--          a case (its number if a value is not a simple constant), or default
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.graph
create or replace function wf._branch(p_parent wf.node, p_ordinal int) returns text
language plpgsql stable as $$
declare
    v_case jsonb := p_parent.input -> case when p_parent.input_fixed then p_ordinal else p_ordinal + 1 end;
begin
    if p_parent.kind = 'if' then
        return case p_ordinal when 1 then 'yes' else 'no' end;
    elsif v_case is null then
        return 'default';
    elsif not p_parent.input_fixed then
        v_case := wf._constant(v_case) -> 'value';
    end if;
    return coalesce((select string_agg(e.value::text, ', ' order by e.ordinality)
                       from jsonb_array_elements(v_case) with ordinality e
                     having bool_and(jsonb_typeof(e.value) not in ('array', 'object'))), 'case ' || p_ordinal);
end;
$$;

-- wf._given_up_rounds(p_instance, p_version)
--
-- Returns  the processes of former rounds of blocks with a policy retry
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.graph
create or replace function wf._given_up_rounds(p_instance bigint, p_version bigint) returns setof bigint
language sql stable set search_path = pg_catalog, pg_temp as $$
    with recursive block as (
        select p.id, (select max(c.id) from wf.process c
                       where c.wide and c.parent_id = p.id and c.node_id = n.first_id) as first_id
          from (select x.id, (select min(c.id) from wf.node c
                               where c.version_id = p_version and c.parent_id = x.id) as first_id
                  from wf.node x where x.version_id = p_version and x.handles = 'retries') n
          join wf.process p on p.instance_id = p_instance and p.node_id = n.id and p.attempt > 1
    ), former (id) as (
        select c.id from block b join wf.process c on c.wide and c.parent_id = b.id and c.id < b.first_id
         union
        select c.id from former f join wf.process c on c.wide and c.parent_id = f.id
    )
    select f.id from former f;
$$;

-- wf.graph(p_workflow, p_version, p_instance)
--
-- Returns  one row for each node, parents before children, siblings in order. A step of a
--          dag also has the nodes that it comes after. With an instance, a row also has the
--          state of the node's processes (the one that needs most attention), how many have
--          begun, their highest attempt, the seconds from the first beginning to the last
--          end (or to now), and the instances that they have started. If a block is tried
--          again, only its present round counts
-- Locks    nothing
-- Raises   WF003
-- Called   by viewers
create or replace function wf.graph(
    p_workflow text default null, p_version int default null, p_instance bigint default null)
returns table (node_id int, parent_id int, kind text, label text, branch text, state text, processes bigint,
              after int[], title text, attempt int, elapsed_s numeric, started text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_version bigint;
begin
    if p_instance is not null then
        select i.version_id into v_version from wf.instance i where i.id = p_instance;
    else
        select v.id into v_version
          from wf.version v
          join wf.workflow w on w.id = v.workflow_id
         where w.name = p_workflow
           and case when p_version is null then v.id = w.version_id else v.number = p_version end;
    end if;
    if v_version is null then
        raise exception using errcode = 'WF003',
            message = case when p_instance is not null then format('there is no instance %s', p_instance)
                           when p_version is not null
                                then format('there is no version %s of a workflow %s', p_version, p_workflow)
                           else format('there is no workflow %s', left(p_workflow, 100)) end,
            hint = 'List what exists: wf-console workflows, wf-console list.';
    end if;
    return query
    with stand as (
        select p.node_id, count(*) as processes, max(p.attempt) as attempt,
               case count(*) when 1 then min(p.policy ->> 'title') end as title,
               round(extract(epoch from max(case when p.state in ('END', 'RAISED', 'ABORTED') then p.at
                                                 else wf.now() end) - min(p.began_at)), 3) as elapsed_s,
               (array_agg(p.state order by array_position('{FAILED,RAISED,ABORTING,ABORTED}', p.state),
                                           p.state in ('END', 'INIT'), p.state = 'END', p.id))[1] as state
          from wf.process p
         where p.instance_id = p_instance and p.id not in (select wf._given_up_rounds(p_instance, v_version))
         group by p.node_id
    ), started as (
        select p.node_id,
               case count(*) when 1 then format('instance %s, %s', min(c.id), min(c.state))
                             else format('%s instances, %s under way', count(*),
                                         count(*) filter (where c.state not in ('END', 'ABORTED'))) end as label
          from wf.instance c
          join wf.process p on p.instance_id = c.parent_id and p.id = c.parent_process_id
         where c.parent_id = p_instance
         group by p.node_id
    )
    select n.id, n.parent_id, n.kind,
           coalesce(s.title, n.title, n.label) || coalesce(' (' || c.label || ')', ''),
           case when u.begins = 'chosen' then wf._branch(u, n.ordinal)
                when u.begins = 'round' then 'round'
                when n.kind = 'catch' then 'error'
                when n.kind in ('finally', 'undo') then n.kind end,
           s.state, s.processes,
           case when n.in_dag then array(select e.after_id from wf.edge e
                                          where e.version_id = n.version_id and e.node_id = n.id
                                          order by e.after_id) end,
           coalesce(s.title, n.title), s.attempt, s.elapsed_s, c.label
      from wf.node n
      left join wf.node u on u.version_id = n.version_id and u.id = n.parent_id
      left join stand s on s.node_id = n.id
      left join started c on c.node_id = n.id
     where n.version_id = v_version
     order by n.id;
end;
$$;
comment on function wf.graph(text, int, bigint) is
    'The tree of a workflow (its latest version, unless one is given) or of the version that an instance runs, to be '
    'drawn: parents before children, siblings in order, for a step of a dag the nodes that it comes after. For an '
    'instance also the state of each node''s processes, the one that needs most attention if there are several, and '
    'how many have begun, their highest attempt, and the seconds from the first beginning to the last end or to now. '
    'The label of a node, its title if it has one, names the instance that it has started, or says how many.';
