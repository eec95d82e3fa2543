-- wf.tree(p_instance)
--
-- The tree of an instance as people read it: depth first, in the order of the
-- source, elements of a forall by index, rounds of a retried composite by age.
--
-- Returns  one row for each process
-- Locks    nothing
-- Raises   WF003
-- Called   by viewers
create or replace function wf.tree(p_instance bigint)
returns table (process_id bigint, parent_id bigint, depth int, label text, kind text, state text, attempt int, at timestamptz, note text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off as $$
begin
    if not exists (select from wf.instance i where i.id = p_instance) then
        raise exception using errcode = 'WF003',
            message = format('there is no instance %s', p_instance),
            hint = 'List what exists: wf-console list.';
    end if;
    return query
    with recursive member as (
        select p.id, p.parent_id, p.kind, p.state, p.attempt, p.at, p.total, p.open, p.todo, p.error,
               array[n.ordinal, coalesce(p.index, 0), p.id] as place,
               coalesce(p.policy ->> 'title', n.title, n.label) || coalesce(' [' || p.index || ']', '') as label
          from wf.process p
          join wf.node n on n.version_id = p.version_id and n.id = p.node_id
         where p.instance_id = p_instance
    ), branch as (
        select m.id, 0 as depth, m.place as path from member m where m.parent_id is null
         union all
        select m.id, b.depth + 1, b.path || m.place from branch b join member m on m.parent_id = b.id
    ), reason as (
        select e.process_id, string_agg(e.detail, '; ' order by e.reason) as detail
          from wf._explain(p_instance, wf._under_way(p_instance)) e
         where e.reason not in ('children', 'failed')
         group by e.process_id
    )
    select m.id, m.parent_id, b.depth, m.label, m.kind, m.state, m.attempt, m.at,
           case when m.error is not null then format('%s: %s', m.error ->> 'kind', m.error ->> 'message')
                when m.kind = 'forall' then format('%s of %s', m.total - m.todo - m.open, m.total)
                else r.detail end
      from branch b
      join member m on m.id = b.id
      left join reason r on r.process_id = m.id
     order by b.path;
end;
$$;
comment on function wf.tree(bigint) is 'The processes of an instance that have begun, in the order of the source, with what there is to know about each: its error, what it waits for, how far a forall is.';
