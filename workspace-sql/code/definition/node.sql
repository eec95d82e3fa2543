-- What install stores for each node.

-- wf._reads(p_reads, p_expressions)
--
-- Returns  the names that a node reads, with instance if its expressions use it; null if
--          it reads no names
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._store_nodes and _root_reads
create or replace function wf._reads(p_reads jsonb, p_expressions text) returns jsonb
language sql immutable
begin atomic
    select case when strpos(p_expressions, '["instance", ') > 0 then coalesce(p_reads, '{}') || '{"instance": 0}'
                else nullif(p_reads, '{}') end;
end;

-- wf._root_reads(p_policies, p_when)
--
-- Returns  the names that the policies of a workflow read; the condition of its retry sees the error as `error`
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._store_nodes
create or replace function wf._root_reads(p_policies jsonb, p_when jsonb) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp as $$
    select wf._reads(jsonb_object_agg(f, 0), p_when::text)
      from unnest(wf._names(p_policies) || array_remove(wf._names(p_when), 'error')) f;
$$;

-- wf._picks(p_clauses)
--
-- Returns  the names of the fields, if clauses do no more than copy fields of the
--          response to the output under the same names; else null
-- Locks    nothing
-- Raises   nothing
-- Called   by _tasks_of_types
create or replace function wf._picks(p_clauses jsonb) returns text[]
language plpgsql immutable as $$
declare
    v_output jsonb := p_clauses -> 'output';
begin
    if p_clauses - 'output' <> '{}' or v_output ->> 0 <> 'object' or v_output -> 1 <> '{}' then
        return null;
    end if;
    return (select array_agg(f.name)
              from jsonb_array_elements_text(v_output -> 2) with ordinality f (name, k)
            having bool_and(v_output -> 2 + f.k::int = jsonb_build_array('get', '["var", "response"]'::jsonb, f.name)));
end;
$$;

-- wf._listed(p_names)
--
-- Returns  the names of a list in one text, for people
-- Locks    nothing
-- Raises   nothing
-- Called   by _node_label
create or replace function wf._listed(p_names jsonb) returns text
language sql immutable
begin atomic
    select string_agg(x.name, ', ' order by x.k) from jsonb_array_elements_text(p_names) with ordinality x (name, k);
end;

-- wf._node_label(p_object, p_value)
--
-- PostgreSQL puts the body of this function into the query of its caller. It does so
-- only as long as the body has no subquery.
--
-- Returns  the label of a node for people: its task type, its workflow or its kind, with the names that it binds
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._store_nodes
create or replace function wf._node_label(p_object text, p_value jsonb) returns text
language sql stable
begin atomic
    select case p_object
               when 'task' then concat_ws(' as ', p_value ->> 'type', p_value ->> 'as')
               when 'workflow' then p_value ->> 'name'
               when 'atomic' then concat_ws(' as ', p_object, wf._listed(p_value -> 'names'))
               else concat_ws(' ', p_object, case when p_value -> 'only' = 'true' then 'only' end,
                              nullif(concat_ws(' as ', coalesce(p_value ->> 'workflow', p_value ->> 'name'),
                                               p_value ->> 'as'), ''))
           end;
end;

-- wf._handles(p_child_error, p_value)
--
-- Returns  how a node takes errors of the nodes in it: as its form says
--          (wf.form.child_error), or by its policy retry; null if it takes none
-- Locks    nothing
-- Raises   nothing
-- Called   by _node_tree
create or replace function wf._handles(p_child_error text, p_value jsonb) returns text
language sql immutable
begin atomic
    select case when p_child_error = 'passes' and p_value #> '{policies,retry}' is not null then 'retries'
                when p_child_error = 'passes' or p_child_error = 'counts' and not p_value ? 'tolerate' then null
                else p_child_error end;
end;

-- wf._is_light(p_kind, p_scope, p_begins, p_ends, p_value)
--
-- Returns  whether a node is a loop, or needs no process in a round of a loop, as far as the node alone shows
-- Called   by wf._store_nodes
create or replace function wf._is_light(p_kind text, p_scope text, p_begins text, p_ends text, p_value jsonb)
returns boolean
language sql immutable
begin atomic
    select p_scope <> 'own' and not p_value ? 'policies' and p_kind not in ('catch', 'undo') and p_ends <> 'first'
           and (p_begins in ('first', 'all', 'chosen', 'round') or p_ends = 'value');
end;

-- wf._is_range(p_begins, p_input, p_fixed)
--
-- Returns  whether the list of a forall or fold is a range, which is counted through and never built
-- Called   wherever the elements of that list are looked at
create or replace function wf._is_range(p_begins text, p_input jsonb, p_fixed boolean) returns boolean
language sql immutable
begin atomic
    select not p_fixed and case p_begins when 'round' then p_input -> 2 ->> 0 else p_input ->> 0 end
                           is not distinct from 'range';
end;

-- wf._node_tree(p_nodes, p_versions, p_types)
--
-- Numbers the nodes of new versions, and finds for each node its parent, its next node,
-- the node that begins in it, and the nearest handler of its errors.
--
-- Returns  a row for each node, with its object and value in the compiled file
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._store_nodes
create or replace function wf._node_tree(p_nodes wf.part[], p_versions jsonb, p_types jsonb)
returns table (version_id bigint, id bigint, parent_id bigint, place int[], object text, value jsonb, type_id bigint,
               kind text, machine text, scope text, begins text, ends text, collects boolean, next_id bigint,
               children bigint, finally_id bigint, undo_id bigint, handles text, handler_id bigint, on_failure text,
               on_failure_own boolean, late boolean, wide boolean, noted boolean)
language sql stable set search_path = pg_catalog, pg_temp set enable_nestloop = off as $$
    with
    part as materialized (
        select p.object, p.place, p.place[1:cardinality(p.place) - 1] as around, p.value,
               row_number() over (partition by p.place[1] order by p.place) as id, p.value ? 'collect' as gathers,
               (p_types ->> (p.value ->> 'type'))::bigint as type_id
          from unnest(p_nodes) p where p.object <> 'param'
    ),
    workflow as materialized (
        select p.place[1] as ordinal, (p_versions ->> (p.value ->> 'name'))::bigint as version_id
          from part p where p.object = 'workflow'),
    node as materialized (
        select w.version_id, p.id, o.id as parent_id, p.place, p.object, p.value, p.type_id,
               f.kind, f.machine, f.begins, f.ends, wf._handles(f.child_error, p.value) as handles,
               t.spec #>> '{policies,on_failure}' as type_word,
               -- the body of a form with a scope for each child opens that scope
               case when g.scope = 'child' then g.scope when f.scope = 'own' then f.scope else 'none' end as scope,
               case when g.scope = 'child' and o.gathers then true end as collects,
               case when g.begins = 'first'
                    then lead(p.id) over (partition by o.place, p.object = 'undo' order by p.id) end as next_id
          from part p
          join workflow w on w.ordinal = p.place[1] and w.version_id is not null
          left join part o on o.place = p.around
          left join wf.task_type t on t.id = p.type_id
          join wf.form f
            on f.kind = case p.object when 'task' then t.machine when 'workflow' then 'call' else p.object end
          left join wf.form g on g.kind = case o.object when 'workflow' then 'call' else o.object end
    ),
    child as (
        select n.version_id, n.parent_id as id, count(*) filter (where n.kind <> 'undo') as children,
               max(n.id) filter (where n.kind = 'finally') as finally_id,
               max(n.id) filter (where n.kind = 'undo') as undo_id
          from node n group by 1, 2),
    -- the nearest node around a node that may take an error of it; no error leaves an undo
    handler as (
        select n.version_id, n.id, max(o.id) as handler_id
          from node n
         cross join lateral generate_series(1, cardinality(n.place) - 1) i
          join node o on o.handles is not null and o.version_id = n.version_id and o.place = n.place[1:i]
         where (o.handles <> 'takes' or n.place[i + 1] = 1) -- a try takes the errors of its body
           and exists (select from node h where h.handles is not null) and i > wf._undo_depth(n.place)
         group by 1, 2
    ),
    -- on_failure is written on few nodes; for the others that of the nearest node around them counts
    failure as (
        select n.version_id, n.id, n.value #>> '{policies,on_failure}' as word, n.place
          from node n where n.value -> 'policies' ? 'on_failure'),
    decided as (
        select distinct on (n.version_id, n.id) n.version_id, n.id, f.word,
               f.id = n.id and n.machine <> 'composite' and f.word in ('pause', 'skip', 'skip_all') as own
          from node n
         cross join lateral generate_series(1, cardinality(n.place)) i
          join failure f on f.version_id = n.version_id and f.place = n.place[1:i]
         where exists (select from failure) and i > wf._undo_depth(n.place)
         order by n.version_id, n.id, f.id desc
    ),
    wide as (
        select n.version_id, nullif(count(*) > 200 or bool_or('retries' = n.handles or n.begins in ('window', 'round')),
                                    false) as wide,
               nullif(bool_or(coalesce(d.word, n.type_word) in ('fail_late', 'fail_late_undo')), false) as late,
               bool_or(n.kind = 'undo') as undoes
          from node n left join decided d on d.version_id = n.version_id and d.id = n.id
         group by 1
    )
    select n.version_id, n.id, n.parent_id, n.place, n.object, n.value, n.type_id,
           n.kind, n.machine, n.scope, n.begins, n.ends, n.collects, n.next_id,
           coalesce(c.children, 0), c.finally_id, c.undo_id, n.handles, h.handler_id, coalesce(d.word, n.type_word),
           nullif(d.own, false), w.late, w.wide,
           nullif(c.undo_id is not null or n.kind = 'undo' or n.id = 1 and w.undoes, false)
      from node n
      left join child c on c.version_id = n.version_id and c.id = n.id
      left join handler h on h.version_id = n.version_id and h.id = n.id
      left join decided d on d.version_id = n.version_id and d.id = n.id
      left join wide w on w.version_id = n.version_id;
$$;

-- wf._items_read(p_nodes)
--
-- Returns  the names in the scopes of foralls and loops that are read, with the place of the forall or loop
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._store_nodes
create or replace function wf._items_read(p_nodes wf.part[]) returns table (place int[], name text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select p.place[1:p.scopes[r.value::int + 1]], r.key
      from unnest(p_nodes) p
     cross join lateral jsonb_each_text(p.value -> 'reads') r
     where r.value <> '0'
    union
    select p.place[1:(p.scopes || cardinality(p.place))[r.value::int + 1]], r.key
      from unnest(p_nodes) p
     cross join lateral jsonb_each_text(p.value -> 'collect_reads') r
     where r.value <> '0'
    union
    select p.place[1:(p.scopes || cardinality(p.place))[r.value::int + 1]], r.key
      from unnest(p_nodes) p
     cross join lateral jsonb_each_text(p.value -> 'round_reads') r
     where r.value <> '0';
$$;

-- wf._tasks_of_types(p_types)
--
-- Returns  for each of these task types, the expressions and the requests that all its
--          tasks have in common
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._store_nodes
create or replace function wf._tasks_of_types(p_types jsonb)
returns table (id bigint, name text, spec jsonb, policies_read text[], has_secrets boolean, transport text, args jsonb,
               passes boolean, volatile boolean, keys text[], names text[], plain boolean, picks text[])
language sql stable set search_path = pg_catalog, pg_temp as $$
    select t.id, split_part(t.name, ' ', 1), t.spec, wf._policy_names(t.spec -> 'policies'),
           t.spec::text like '%["secret", %', s.transport, s.args, s.passes, wf._is_volatile(s.args), f.keys, f.names,
           -- progress is only for views
           coalesce(t.machine = 'sync' and nullif(s.clauses - 'progress', '{}') is null, false),
           case t.machine when 'sync' then wf._picks(s.clauses - 'progress') end
      from wf.task_type t
      left join wf.task_request s on s.type_id = t.id and s.request = 'start'
      -- if each field is a literal or a name, nothing has to be evaluated
      left join lateral (
           select array_agg(s.args -> 2 ->> e.ordinality::int - 4 order by e.ordinality) as keys,
                  array_agg(e.value ->> 1 order by e.ordinality) as names
             from jsonb_array_elements(case when s.args ->> 0 = 'object' then s.args end) with ordinality e
            where e.ordinality > 3
           having bool_and(e.value ->> 0 is not distinct from 'var')
           ) f on true
     where t.id in (select i.value::bigint from jsonb_each_text(p_types) i);
$$;

-- wf._settle_policies(p_policies)
--
-- Works out the policies of nodes: once for all nodes with the same policies.
--
-- Returns  for each element of p_policies (a task type, the policies of a node, the
--          arguments that they read): the values of constant policies, the expressions of
--          the others, the lane and the group
-- Locks    the new rows of lane and concurrency_group, by name
-- Raises   nothing
-- Called   by wf._store_nodes
create or replace function wf._settle_policies(p_policies jsonb[])
returns table (policies jsonb, fixed jsonb, read jsonb, lane_id bigint, group_id bigint)
language sql set search_path = pg_catalog, pg_temp set enable_nestloop = off as $$
    with
    policy as materialized (
        select d.policies, q.fixed, q.read, t.machine in ('sync', 'async') as queued,
               array(select distinct r.transport from wf.task_request r where r.type_id = t.id order by 1) as needs,
               coalesce(q.fixed ->> 'queue', 'default') as queue,
               coalesce(wf._capabilities(q.fixed -> 'requires'), '{}') as requires
          from unnest(p_policies) d (policies)
          left join wf.task_type t on t.id = (d.policies ->> 0)::bigint
         cross join lateral wf._policies(nullif(d.policies -> 1, 'null'), t.spec -> 'policies', d.policies -> 2) q
    ),
    lane as materialized (
        select l.queue, l.needs, l.requires, wf._fixed_lane(l.queue, l.needs, l.requires) as id
          from (select distinct p.queue, p.needs, p.requires from policy p where p.queued order by 1, 2, 3) l
    ),
    concurrency_group as materialized (
        select g.name, wf._group(g.name) as id
          from (select distinct p.fixed ->> 'group' as name from policy p where p.fixed ? 'group' order by 1) g
    )
    select p.policies, p.fixed, p.read, l.id, g.id
      from policy p
      left join lane l on p.queued and l.queue = p.queue and l.needs = p.needs and l.requires = p.requires
      left join concurrency_group g on g.name = p.fixed ->> 'group';
$$;

-- wf._store_nodes(p_nodes, p_versions, p_types)
--
-- Stores the trees of new versions. It settles once what each instance would
-- otherwise have to work out: constant inputs, requests and policies, and
-- which names of a forall are read at all.
--
-- Returns  nothing
-- Locks    the new rows of node; of lane and concurrency_group, by name
-- Raises   nothing
-- Called   by _store_trees
create or replace function wf._store_nodes(p_nodes wf.part[], p_versions jsonb, p_types jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp set enable_nestloop = off as $$
begin
    insert into wf.node (version_id, id, parent_id, ordinal, kind, line, label, next_id, children, bind, input,
                         input_fixed, reads, item, item_index, state, max, collect, collect_reads, yield, type_id,
                         request, idempotent, lane_id, rank, group_id, group_max, policy, title, task_type, transport,
                         plain, secrets, picks, wide, machine, scope, begins, ends, collects, retry, retry_when,
                         handles, handler_id, finally_id, condition, light, tolerate, on_failure, on_failure_own, late,
                         timeout, weight, names, output_max, rate_id, rate, undo_id, noted, timed)
    with task as materialized (select t.* from wf._tasks_of_types(p_types) t),
    node as materialized (
        select n.*,
               case when s.found then wf._hide_secrets(n.value -> f.input, '{}')
                    else coalesce(n.value -> f.input, case n.ends when 'return' then 'null'::jsonb end) end as input,
               -- everything that its policies follow from
               case when t.id is not null or n.value ? 'policies'
                    then jsonb_build_array(t.id, n.value -> 'policies',
                                           (select jsonb_object_agg(f, n.value -> 'args' -> f)
                                              from unnest(t.policies_read) f)) end as policies,
               case when s.found or t.has_secrets then wf._request_secrets(t.spec, n.value -> 'args') end as secrets
          from wf._node_tree(p_nodes, p_versions, p_types) n
          join wf.form f on f.kind = n.kind
          left join task t on t.id = n.type_id
         cross join lateral (select n.object = 'task' and (n.value -> 'args')::text like '%["secret", %' as found) s
    ),
    settled as materialized (
        -- a forall or fold counts through a range, and never builds the list
        select n.*, case when n.begins in ('window', 'round') and wf._is_range(n.begins, n.input, false) then null
                         else wf._constant(n.input) -> 'value' end as fixed
          from node n),
    item_read as materialized (select i.* from wf._items_read(p_nodes) i),
    policy as materialized (
        select p.*, case when p.read ? 'timeout' then '{}' else p.fixed -> 'timeout' end as timeout
          from wf._settle_policies(array(select distinct n.policies from node n where n.policies is not null)) p
    )
    select n.version_id, n.id, n.parent_id, case n.object when 'workflow' then 1 else n.place[cardinality(n.place)] end,
           n.kind, (n.value ->> 'line')::int, wf._node_label(n.object, n.value), n.next_id, n.children,
           coalesce(n.value ->> 'as', n.value #>> '{yield,as}'), coalesce(n.fixed, wf._compact(n.input)),
           n.fixed is not null,
           case when n.object = 'workflow' then wf._root_reads(q.read, q.fixed -> 'retry_when')
                else wf._reads(n.value -> 'reads', concat(case when n.fixed is null then n.input end, n.value -> 'max',
                                                          n.value -> 'tolerate', n.value -> 'when', q.read,
                                                          q.fixed -> 'retry_when')) end,
           case when n.object in ('catch', 'finally') then n.value ->> 'name' else i.name end,
           j.name, s.name, wf._compact(n.value -> 'max'),
           case when n.value ? 'collect' then
               (select jsonb_agg(jsonb_build_object('as', c.value -> 'as', 'value', wf._compact(c.value -> 'value'))
                                 order by c.ordinality)
                  from jsonb_array_elements(n.value -> 'collect') with ordinality c) end,
           case when n.value ?| '{collect,yield,until}'
                then wf._reads(coalesce(n.value -> 'collect_reads', n.value -> 'round_reads'), n.value::text) end,
           wf._compact(n.value #> '{yield,value}'), n.type_id, case when t.passes then n.fixed
                when n.fixed is not null and t.keys is not null then
                    (select t.args -> 1 || jsonb_object_agg(f.key, coalesce(n.fixed -> f.name, 'null'))
                       from unnest(t.keys, t.names) f (key, name))
                when n.fixed is not null and not t.volatile then wf._evaluate(t.args, n.fixed) -> 'value' end,
           coalesce((q.fixed ->> 'idempotent')::boolean, false), q.lane_id, - (q.fixed ->> 'priority')::smallint,
           q.group_id, (q.fixed ->> 'group_max')::int, case when q.read is not null then wf._compact(q.read) end,
           q.fixed ->> 'title', t.name, t.transport, coalesce(t.plain, false), n.secrets,
           case when q.fixed ? 'output' or q.read ? 'output' then null else t.picks end, n.wide, n.machine, n.scope,
           n.begins, n.ends, n.collects, case when q.read ? 'retry' then '{}' else q.fixed -> 'retry' end,
           case when q.fixed ? 'retry_when' then wf._compact(q.fixed -> 'retry_when') end, n.handles, n.handler_id,
           n.finally_id, wf._compact(coalesce(n.value -> 'when', n.value -> 'while', n.value -> 'until')),
           wf._is_light(n.kind, n.scope, n.begins, n.ends, n.value),
           wf._compact(n.value -> 'tolerate'), n.on_failure, n.on_failure_own, n.late,
           q.timeout,
           case when n.type_id is null then 0 else coalesce((q.fixed ->> 'weight')::numeric, 1) end,
           case when n.value ? 'names' then array(select jsonb_array_elements_text(n.value -> 'names')) end,
           (q.fixed ->> 'output')::numeric, case when q.fixed ? 'rate' then wf._rate(q.fixed ->> 'rate') end,
           wf._constant_rate(q.fixed, q.read), n.undo_id, n.noted, wf._timed(q.timeout, n.machine)
      from settled n
      left join item_read i on i.place = n.place
                           and i.name = n.value ->> case n.begins when 'round' then 'element' else 'name' end
      left join item_read j on j.place = n.place and j.name = n.value ->> 'index'
      left join item_read s on s.place = n.place and n.begins = 'round' and s.name = n.value ->> 'name'
      left join task t on t.id = n.type_id
      left join policy q on q.policies = n.policies;
    perform wf._store_edges(p_nodes, p_versions);
    perform wf._finish_tree(v.value::bigint) from jsonb_each_text(p_versions) v;
end;
$$;

-- wf._store_sizes(p_version)
--
-- Works out how many processes a tree, one element of each forall and one round of each
-- loop or retried block come to at most: in all, and at a time. Finds the loops that need no
-- processes for their rounds. Marks the nodes that are in rounds or undos. If one of several
-- branches is chosen, the largest branch counts. Of steps one after another, all count in
-- all, but only the largest counts at a time. An undo counts in all, but not at a time: it
-- begins when the undone process has ended.
--
-- Returns  nothing
-- Locks    rows of node
-- Called   by _finish_tree, for each new version
create or replace function wf._store_sizes(p_version bigint) returns void
language plpgsql as $$
declare
    v_most bigint[]; -- by node: how many processes its children come to
    v_most_live bigint[];
    v_own bigint;
    v_own_live bigint;
    v_id int[];
    v_heavy boolean[]; -- by node: whether something in it can wait
    f record;
begin
    if not exists (select from wf.node n
                    where n.version_id = p_version
                      and (n.begins in ('window', 'round') or n.handles = 'retries' or n.kind = 'undo')) then
        return;
    end if;
    select array_agg(0), array_agg(0), array_agg(false) into v_most, v_most_live, v_heavy
      from wf.node n where n.version_id = p_version;
    -- the numbers of children are greater than that of their parent
    for f in
        select n.id, n.parent_id, n.begins, n.light, n.handles, n.kind, o.begins as around
          from wf.node n
          left join wf.node o on o.version_id = n.version_id and o.id = n.parent_id
         where n.version_id = p_version
         order by n.id desc
    loop
        v_own := 1;
        v_own_live := 1;
        if f.begins not in ('window', 'round') then
            v_own := v_own + v_most[f.id];
        end if;
        if f.begins <> 'window' then
            v_own_live := v_own_live + v_most_live[f.id];
        end if;
        if f.begins in ('window', 'round') or f.handles = 'retries' or f.id = 1 then
            v_id := v_id || f.id;
        end if;
        if f.id > 1 then
            v_heavy[f.parent_id] := v_heavy[f.parent_id] or v_heavy[f.id] or not f.light or f.begins = 'round';
            v_most[f.parent_id] := case f.around when 'chosen' then greatest(v_most[f.parent_id], v_own)
                                                 else v_most[f.parent_id] + v_own end;
            v_most_live[f.parent_id] := case when f.kind = 'undo' then v_most_live[f.parent_id]
                                             when f.around in ('all', 'free')
                                             then v_most_live[f.parent_id] + v_own_live
                                             else greatest(v_most_live[f.parent_id], v_own_live) end;
        end if;
    end loop;
    update wf.node n
       set most = v_most[n.id] + (n.id = 1)::int, most_live = v_most_live[n.id] + (n.id = 1)::int,
           light = n.light and n.begins = 'round' and not v_heavy[n.id]
     where n.version_id = p_version and n.id = any (v_id);
    -- in_round: the innermost scope around a node is that of a round, or of an undo
    with recursive below (id, begins, kind, in_round) as (
        select n.id, n.begins, n.kind, false from wf.node n where n.version_id = p_version and n.id = 1
         union all
        select c.id, c.begins, c.kind,
               case c.scope when 'none' then b.in_round
                            else c.scope = 'child' and (b.begins = 'round' or b.kind = 'undo') end
          from below b
          join wf.node c on c.version_id = p_version and c.parent_id = b.id)
    update wf.node n set in_round = true
      from below b
     where b.in_round and n.version_id = p_version and n.id = b.id;
end;
$$;

-- wf._store_weights(p_version)
--
-- Works out the weight of each composite in the progress of an instance: the sum of its
-- children's weights. If one of several branches is chosen, the heaviest branch counts. Of
-- a try, only the body counts.
--
-- Returns  nothing
-- Locks    rows of node
-- Called   by _finish_tree, for each new version
create or replace function wf._store_weights(p_version bigint) returns void
language plpgsql as $$
declare
    v_weight numeric[];
    f record;
begin
    select array_agg(n.weight order by n.id) into v_weight from wf.node n where n.version_id = p_version;
    -- the numbers of children are greater than that of their parent
    for f in
        select n.id, n.parent_id, n.ordinal, n.kind, o.begins as around
          from wf.node n
          join wf.node o on o.version_id = n.version_id and o.id = n.parent_id
         where n.version_id = p_version
         order by n.id desc
    loop
        v_weight[f.parent_id] := case when f.around = 'chosen'
                                      then greatest(v_weight[f.parent_id], v_weight[f.id])
                                      when f.around = 'body' and f.ordinal > 1 or f.kind = 'undo'
                                      then v_weight[f.parent_id]
                                      else v_weight[f.parent_id] + v_weight[f.id] end;
    end loop;
    -- unnest: to take one element out of an array of numerics, PostgreSQL reads it from its beginning
    update wf.node n set weight = w.weight
      from unnest(v_weight) with ordinality w (weight, id)
     where n.version_id = p_version and n.id = w.id and n.weight <> w.weight;
end;
$$;

-- wf._finish_tree(p_version)
--
-- Works out what follows from a tree as a whole, and labels undos with what they undo.
--
-- Returns  nothing
-- Locks    rows of node
-- Called   by _store_nodes, for each new version
create or replace function wf._finish_tree(p_version bigint) returns void
language sql set search_path = pg_catalog, pg_temp as $$
    select wf._store_sizes(p_version), wf._store_weights(p_version);
    update wf.node n set label = 'undo of ' || coalesce(o.title, o.label)
      from wf.node o
     where n.version_id = p_version and n.kind = 'undo' and o.version_id = n.version_id and o.id = n.parent_id;
$$;
