-- The order of the steps of a dag, as install checks and stores it.

-- wf._circle(p_after)
--
-- Goes from each step of a dag to its predecessors, along each edge once.
--
-- Returns  the ordinals of a circle: each step comes after the next one, and the first
--          step stands at the end again; null if there is no circle
-- Locks    nothing
-- Raises   nothing
-- Called   by _spec_edges, with sound ordinals
create or replace function wf._circle(p_after jsonb) returns int[]
language plpgsql immutable as $$
declare
    v_before int[]; -- the lists of all steps, one behind the other
    v_next int[]; -- of each step: where in v_before its next predecessor is, and
    v_end int[]; -- where its list ends
    v_done boolean[];
    v_place int[]; -- of each step: its place in v_way; null: it is not in v_way
    v_way int[];
    v_depth int;
    v_step int;
    v_other int;
begin
    select array_agg(e.value::int order by a.ordinality, e.ordinality)
      into v_before
      from jsonb_array_elements(p_after) with ordinality a
     cross join lateral jsonb_array_elements(a.value) with ordinality e;
    select array_agg(x.ends - x.count + 1 order by x.k), array_agg(x.ends order by x.k)
      into v_next, v_end
      from (select a.ordinality as k, jsonb_array_length(a.value) as count,
                   (sum(jsonb_array_length(a.value)) over (order by a.ordinality))::int as ends
              from jsonb_array_elements(p_after) with ordinality a) x;
    v_done := array_fill(false, array[cardinality(v_end)]);
    v_place := array_fill(null::int, array[cardinality(v_end)]);
    v_way := array_fill(0, array[cardinality(v_end)]);
    for v_root in 1 .. cardinality(v_end) loop
        continue when v_done[v_root];
        v_depth := 1;
        v_way[1] := v_root;
        v_place[v_root] := 1;
        while v_depth > 0 loop
            v_step := v_way[v_depth];
            if v_next[v_step] > v_end[v_step] then
                v_done[v_step] := true;
                v_place[v_step] := null;
                v_depth := v_depth - 1;
                continue;
            end if;
            v_other := v_before[v_next[v_step]];
            v_next[v_step] := v_next[v_step] + 1;
            if v_place[v_other] is not null then
                return v_way[v_place[v_other]:v_depth] || v_other;
            elsif not v_done[v_other] then
                v_depth := v_depth + 1;
                v_way[v_depth] := v_other;
                v_place[v_other] := v_depth;
            end if;
        end loop;
    end loop;
    return null;
end;
$$;

-- wf._spec_edges(p_nodes)
--
-- Checks the order that dags give their branches: it has a list for each branch, each
-- list names other branches, and there is no circle.
--
-- Returns  a row for each fault: the place, the path to it, what is wrong, what to do
-- Locks    nothing
-- Raises   nothing
-- Called   by _spec_dags
create or replace function wf._spec_edges(p_nodes wf.part[])
returns table (place int[], path text, message text, hint text)
language sql stable set search_path = pg_catalog, pg_temp set enable_nestloop = off as $$
    with
    dag as materialized (
        select n.place, n.path || '.after' as path, n.value -> 'after' as after,
               (select count(*) from unnest(p_nodes) o
                 where o.place[:cardinality(o.place) - 1] = n.place and o.object <> 'param') as branches
          from wf._with_forms(p_nodes) n
         where n.begins = 'free'
    ),
    edge as materialized (
        select d.place, format('%s[%s]', d.path, a.ordinality - 1) as path, a.ordinality as step,
               e.value::int as before,
               lag(e.value::int) over (partition by d.place, a.ordinality order by e.ordinality) as last, d.branches
          from dag d
         cross join lateral jsonb_array_elements(d.after) with ordinality a
         cross join lateral jsonb_array_elements(a.value) with ordinality e
    )
    select d.place, d.path, format('has %s lists for %s branches', jsonb_array_length(d.after), d.branches),
           'Each branch has the list of the ordinals of those that it comes after, from 1; it may be empty.'
      from dag d
     where jsonb_array_length(d.after) <> d.branches
    union all
    select e.place, e.path, format('%s is the ordinal of no other branch', e.before),
           'Ordinals count from 1; no branch comes after itself.'
      from edge e
     where e.before > e.branches or e.before = e.step
    union all
    select e.place, e.path, format('%s stands behind %s', e.before, e.last), 'Each ordinal stands there once, in order.'
      from edge e
     where e.before <= e.last
    union all
    select d.place, d.path, 'branches come after each other: ' || array_to_string(c.circle, ' after '),
           'One of them has to come first.'
      from dag d
     cross join lateral (
           select case when jsonb_array_length(d.after) = d.branches
                            and not exists (select from edge e
                                             where e.place = d.place and (e.before > e.branches or e.before = e.step))
                       then wf._circle(d.after) end) c (circle)
     where c.circle is not null;
$$;

-- wf._spec_dags(p_nodes)
--
-- Checks dags: the order of their branches, and that a branch comes after each branch
-- that binds a name that it reads.
--
-- Returns  a row for each fault: the place, the path to it, what is wrong, what to do
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._check_spec, for a file whose shape is sound
create or replace function wf._spec_dags(p_nodes wf.part[])
returns table (place int[], path text, message text, hint text)
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_nestloop = off as $$
begin
    if not exists (select from wf._with_forms(p_nodes) n where n.begins = 'free') then
        return;
    end if;
    return query select * from wf._spec_edges(p_nodes);
    return query
    with
    dag as materialized (
        select n.place, n.value -> 'after' as after from wf._with_forms(p_nodes) n where n.begins = 'free'
    ),
    edge as materialized (
        select d.place, a.ordinality as step, e.value::int as before
          from dag d
         cross join lateral jsonb_array_elements(d.after) with ordinality a
         cross join lateral jsonb_array_elements(a.value) e
    ),
    -- for each name that is bound, or read: the dags around that node, and the branch of each
    bound as materialized (
        select d.place, b.place[k + 1] as branch, b.opener, b.name
          from wf._bound_names(p_nodes) b
         cross join lateral generate_series(1, cardinality(b.place) - 1) k
          join dag d on d.place = b.place[1:k]
    ),
    read as materialized (
        select d.place, r.place[k + 1] as branch, r.opener, r.name, r.place as reader, r.path
          from wf._names_read(p_nodes) r
         cross join lateral generate_series(1, cardinality(r.place) - 1) k
          join dag d on d.place = r.place[1:k]
    )
    select r.reader, r.path || '.' || r.name,
           format('branch %s binds it, and branch %s does not come after that', b.branch, r.branch),
           'A branch of a dag comes after each one that binds a name which it reads: `after` has its ordinal.'
      from read r
      join bound b on b.place = r.place and b.opener = r.opener and b.name = r.name and b.branch <> r.branch
      left join edge e on e.place = r.place and e.step = r.branch and e.before = b.branch
     where e.place is null;
end;
$$;

-- wf._store_edges(p_nodes, p_versions)
--
-- Stores which nodes of new versions are steps of dags, and after which other steps each
-- of them comes.
--
-- Returns  nothing
-- Locks    the new rows of edge and node
-- Raises   nothing
-- Called   by _store_nodes
create or replace function wf._store_edges(p_nodes wf.part[], p_versions jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp set enable_nestloop = off as $$
begin
    if not exists (select from wf._with_forms(p_nodes) n where n.begins = 'free') then
        return;
    end if;
    insert into wf.edge (version_id, node_id, after_id)
    with
    node as materialized (
        select n.*, row_number() over (partition by n.place[1] order by n.place) as id from wf._with_forms(p_nodes) n
    )
    select (p_versions ->> (w.value ->> 'name'))::bigint, s.id, b.id
      from node d
     cross join lateral jsonb_array_elements(d.value -> 'after') with ordinality a
     cross join lateral jsonb_array_elements(a.value) e
      join node s on s.place = d.place || a.ordinality::int
      join node b on b.place = d.place || e.value::int
      join node w on w.place = d.place[1:1]
     where d.begins = 'free' and p_versions ? (w.value ->> 'name');
    update wf.node c set in_dag = true
      from wf.node d
     where d.version_id in (select v.value::bigint from jsonb_each_text(p_versions) v) and d.begins = 'free'
       and c.version_id = d.version_id and c.parent_id = d.id;
end;
$$;
