-- Definitions come in and go out.

-- wf._sha256(p_text)
--
-- Returns  the SHA-256 of a text, in hexadecimal digits
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._checksums
create or replace function wf._sha256(p_text text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
    return encode(sha256(convert_to(p_text, 'UTF8')), 'hex');
end;
$$;

-- wf._checksums(p_spec, p_nodes)
--
-- Returns  two objects, from names of task types and of workflows to SHA-256 of what they mean
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.install, for a file that is sound
create or replace function wf._checksums(p_spec jsonb, p_nodes wf.part[], out task_types jsonb, out workflows jsonb)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
    select coalesce(jsonb_object_agg(t.key, wf._sha256(jsonb_set(t.value - '{doc,line}'::text[], '{params}',
                                                                 p.params)::text)), '{}')
      into task_types
      from jsonb_each(p_spec -> 'task_types') t
     cross join lateral (select coalesce(jsonb_agg(r.value - '{doc,line}'::text[] order by r.ordinality), '[]')
                           from jsonb_array_elements(t.value -> 'params') with ordinality r) p (params);

    select jsonb_object_agg(w.name, w.checksum)
      into workflows
      from (select max(p.value ->> 'name') filter (where p.object = 'workflow') as name,
                   wf._sha256(string_agg(concat(p.place[2:], p.value - '{line,doc,params}'::text[],
                                                task_types ->> (p.value ->> 'type')),
                                         e'\n' order by p.place, p.path)) as checksum
              from unnest(p_nodes) p
             group by p.place[1]) w;
end;
$$;

-- wf._store_task_types(p_task_types, p_checksums)
--
-- Stores task types that are not known yet; a name and a checksum make a task type.
--
-- Returns  an object from their names to their numbers
-- Locks    the new rows of task_type, by name
-- Raises   nothing
-- Called   by wf.install
create or replace function wf._store_task_types(p_task_types jsonb, p_checksums jsonb) returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    insert into wf.task_type (name, checksum, machine, wait, spec)
    select t.key, p_checksums ->> t.key, t.value ->> 'machine', t.value ->> 'wait', t.value
      from jsonb_each(p_task_types) t
     order by t.key
        on conflict do nothing;

    insert into wf.task_request (type_id, request, transport, args, passes, clauses, delay, backoff, max_delay,
                                 attempts)
    select t.id, r.key, r.value ->> 'transport',
           wf._fold(wf._hide_secrets(r.value -> 'args', wf._secret_params(t.spec))),
           r.value -> 'args' = (select coalesce(jsonb_object_agg(p ->> 'name', jsonb_build_array('var', p -> 'name')),
                                                '{}')
                                  from jsonb_array_elements(t.spec -> 'params') p),
           (select jsonb_object_agg(c.key, wf._fold(c.value))
              from jsonb_each(r.value - '{transport,args,every}'::text[] || e.read) c),
           coalesce((e.fixed ->> 'delay')::interval, '5 s'),
           coalesce((e.fixed ->> 'backoff')::numeric, 1),
           coalesce((e.fixed ->> 'max_delay')::interval, (e.fixed ->> 'delay')::interval, '5 s'),
           coalesce((e.fixed ->> 'attempts')::int, 3)
      from wf.task_type t
     cross join lateral jsonb_each(t.spec -> 'requests') r
     cross join lateral (
           select coalesce(jsonb_object_agg(c.key, f -> 'value') filter (where f is not null), '{}') as fixed,
                  case when bool_or(f is null)
                       then jsonb_build_object('every', jsonb_object_agg(c.key, c.value) filter (where f is null))
                       else '{}' end as read
             from jsonb_each(jsonb_build_object('max_delay', r.value #> '{every,delay}') || (r.value -> 'every')) c
            cross join lateral wf._constant(c.value) f
           ) e
     where (t.name, t.checksum) in (select c.key, c.value from jsonb_each_text(p_checksums) c)
        on conflict do nothing;

    return (select coalesce(jsonb_object_agg(t.name, t.id), '{}')
              from wf.task_type t
              join jsonb_each_text(p_checksums) c on c.key = t.name and c.value = t.checksum);
end;
$$;

-- wf._store_versions(p_source, p_spec, p_checksums)
--
-- Gives each workflow of a file that differs from its present version a new one.
--
-- Returns  an object from the names of these workflows to the numbers of their versions
-- Locks    the rows of workflow, by name: who installs the same name later waits, then compares
-- Raises   nothing
-- Called   by wf.install
create or replace function wf._store_versions(p_source text, p_spec jsonb, p_checksums jsonb) returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    v_versions jsonb;
begin
    insert into wf.workflow (name)
    select c.key from jsonb_each_text(p_checksums) c order by c.key
        on conflict do nothing;
    perform from wf.workflow w where p_checksums ? w.name order by w.name for no key update;

    with stored as (
        insert into wf.version (workflow_id, number, checksum, source, spec, params, installed_at, installed_by)
        select w.id, (select coalesce(max(o.number), 0) + 1 from wf.version o where o.workflow_id = w.id),
               p_checksums ->> w.name, p_source,
               jsonb_build_object('workflow', s, 'task_types', p_spec -> 'task_types'), s -> 'params',
               wf.now(), wf._actor()
          from jsonb_array_elements(p_spec -> 'workflows') s
          join wf.workflow w on w.name = s ->> 'name'
         where not exists (select from wf.version v where v.id = w.version_id and v.checksum = p_checksums ->> w.name)
        returning id, workflow_id
    ),
    used as (
        update wf.workflow w
           set version_id = s.id
          from stored s
         where w.id = s.workflow_id
        returning w.name, s.id
    )
    select jsonb_object_agg(u.name, u.id) into v_versions from used u;
    return coalesce(v_versions, '{}');
end;
$$;

-- wf._reads(p_reads, p_expressions)
--
-- Returns  the names that a node reads, with instance if its expressions use it; null if there are none
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._store_nodes
create or replace function wf._reads(p_reads jsonb, p_expressions text) returns jsonb
language sql immutable
begin atomic
    select case when strpos(p_expressions, '["instance", ') > 0 then coalesce(p_reads, '{}') || '{"instance": 0}'
                else nullif(p_reads, '{}') end;
end;

-- wf._picks(p_clauses)
--
-- Returns  the names of the fields, if all that clauses say is that the output
--          is fields of the response under their names; else null
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._store_nodes
create or replace function wf._picks(p_clauses jsonb) returns text[]
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
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

-- wf._store_nodes(p_nodes, p_versions, p_types)
--
-- Stores the trees of new versions. What install can settle once is not left
-- to every instance: constant inputs, requests and policies, which names of a
-- forall are read at all.
--
-- Returns  nothing
-- Locks    the new rows of node; of lane and concurrency_group, by name
-- Raises   nothing
-- Called   by wf.install
create or replace function wf._store_nodes(p_nodes wf.part[], p_versions jsonb, p_types jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp set enable_nestloop = off as $$
begin
    insert into wf.node (version_id, id, parent_id, ordinal, kind, line, label, next_id, children, bind, input,
                         input_fixed, reads, item, item_index, max, collect, collect_reads, type_id, request,
                         idempotent, lane_id, rank, group_id, group_max, policy, title, task_type, transport, plain,
                         secrets, picks, wide, machine, scope, begins, ends, collects, retry, retry_when, handler_id,
                         condition)
    with
    part as materialized (
        select p.object, p.place, p.place[1:cardinality(p.place) - 1] as around, p.scopes, p.value,
               row_number() over (partition by p.place[1] order by p.place) as id
          from unnest(p_nodes) p
         where p.object <> 'param'
    ),
    workflow as materialized (
        select p.place[1] as ordinal, (p_versions ->> (p.value ->> 'name'))::bigint as version_id
          from part p
         where p.object = 'workflow'
    ),
    -- the names of foralls that are read, with the place of the forall
    item_read as materialized (
        select distinct p.place[1:p.scopes[r.value::int + 1]] as place, r.key as name
          from part p
         cross join lateral jsonb_each_text(p.value -> 'reads') r
         where r.value <> '0'
        union
        select p.place[1:(p.scopes || cardinality(p.place))[r.value::int + 1]], r.key
          from part p
         cross join lateral jsonb_each_text(p.value -> 'collect_reads') r
         where r.value <> '0'
    ),
    task_type as materialized (
        select t.id, t.name, t.machine, t.spec -> 'policies' as policies, t.spec,
               wf._policy_names(t.spec -> 'policies') as policies_read,
               t.spec::text like '%["secret", %' as has_secrets,
               array(select distinct r.transport from wf.task_request r where r.type_id = t.id order by 1) as needs,
               s.transport, s.args, s.passes, wf._is_volatile(s.args) as volatile, f.keys, f.names,
               coalesce(t.machine = 'sync' and s.clauses is null, false) as plain,
               case t.machine when 'sync' then wf._picks(s.clauses) end as picks
          from wf.task_type t
          left join wf.task_request s on s.type_id = t.id and s.request = 'start'
          -- where each field is a literal or a name there is nothing to evaluate
          left join lateral (
               select array_agg(s.args -> 2 ->> e.ordinality::int - 4 order by e.ordinality) as keys,
                      array_agg(e.value ->> 1 order by e.ordinality) as names
                 from jsonb_array_elements(case when s.args ->> 0 = 'object' then s.args end) with ordinality e
                where e.ordinality > 3
               having bool_and(e.value ->> 0 is not distinct from 'var')
               ) f on true
         where t.id in (select i.value::bigint from jsonb_each_text(p_types) i)
    ),
    node as materialized (
        select w.version_id, p.id, o.id as parent_id, p.place, p.object, p.value, t.id as type_id,
               f.kind, f.machine, f.begins, f.ends, f.child_error is not distinct from 'takes' as takes,
               -- what a form with a scope for each child has as body opens that scope
               case when g.scope = 'child' then g.scope when f.scope = 'own' then f.scope else 'none' end as scope,
               case when g.scope = 'child' and o.value ? 'collect' then true end as collects,
               case when g.begins = 'first'
                    then lead(p.id) over (partition by w.version_id, o.id order by p.id) end as next_id,
               case when s.found then wf._hide_secrets(p.value -> f.input, '{}')
                    else coalesce(p.value -> f.input, case f.ends when 'return' then 'null'::jsonb end) end as input,
               -- all that its policies follow from
               case when t.id is not null or p.value ? 'policies' then
                   jsonb_build_array(t.id, p.value -> 'policies',
                                     (select jsonb_object_agg(f, p.value -> 'args' -> f)
                                        from unnest(t.policies_read) f))
               end as policies,
               case when s.found or t.has_secrets then wf._request_secrets(t.spec, p.value -> 'args') end as secrets
          from part p
          join workflow w on w.ordinal = p.place[1] and w.version_id is not null
          left join part o on o.place = p.around
          left join task_type t on p.object = 'task' and t.name = p.value ->> 'type'
          join wf.form f on f.kind = case p.object when 'task' then t.machine when 'workflow' then 'call'
                                                   else p.object end
          left join wf.form g on g.kind = case o.object when 'workflow' then 'call' else o.object end
         cross join lateral (select p.object = 'task' and (p.value -> 'args')::text like '%["secret", %' as found) s
    ),
    settled as materialized (
        -- a forall counts its way through a range without building the list
        select n.*, case when n.begins = 'window' and n.input ->> 0 = 'range' then null
                         else wf._constant(n.input) -> 'value' end as fixed
          from node n
    ),
    child as (
        select n.version_id, n.parent_id as id, count(*) as children from node n group by 1, 2
    ),
    -- the nearest try of which a node is in the body: of those around it the one with the greatest number
    handler as (
        select n.version_id, n.id, max(o.id) as handler_id
          from node n
         cross join lateral generate_series(1, cardinality(n.place) - 1) i
          join node o on o.takes and o.version_id = n.version_id and o.place = n.place[1:i]
         where n.place[i + 1] = 1 and exists (select from node t where t.takes)
         group by 1, 2
    ),
    wide as (
        select n.version_id from node n group by 1 having bool_or(n.begins = 'window') or count(*) > 200
    ),
    -- settled once for all nodes that have the same
    policy as materialized (
        select d.policies, q.fixed, q.read, t.needs, t.machine in ('sync', 'async') as queued,
               coalesce(q.fixed ->> 'queue', 'default') as queue,
               coalesce(wf._capabilities(q.fixed -> 'requires'), '{}') as requires
          from (select distinct n.policies from node n where n.policies is not null) d
          left join task_type t on t.id = (d.policies ->> 0)::bigint
         cross join lateral wf._policies(nullif(d.policies -> 1, 'null'), t.policies, d.policies -> 2) q
    ),
    lane as materialized (
        select l.queue, l.needs, l.requires, wf._fixed_lane(l.queue, l.needs, l.requires) as id
          from (select distinct p.queue, p.needs, p.requires from policy p where p.queued order by 1, 2, 3) l
    ),
    concurrency_group as materialized (
        select g.name, wf._group(g.name) as id
          from (select distinct p.fixed ->> 'group' as name from policy p where p.fixed ? 'group' order by 1) g
    )
    select n.version_id, n.id, n.parent_id, case n.object when 'workflow' then 1 else n.place[cardinality(n.place)] end,
           n.kind,
           (n.value ->> 'line')::int,
           case n.object when 'task' then concat_ws(' as ', n.value ->> 'type', n.value ->> 'as')
                         when 'workflow' then n.value ->> 'name'
                         else concat_ws(' ', n.object,
                                        nullif(concat_ws(' as ', coalesce(n.value ->> 'workflow', n.value ->> 'name'),
                                                         n.value ->> 'as'), '')) end,
           n.next_id,
           coalesce(c.children, 0),
           n.value ->> 'as',
           coalesce(n.fixed, wf._compact(n.input)),
           n.fixed is not null,
           case when n.object = 'workflow' then (select jsonb_object_agg(f, 0) from unnest(wf._names(q.read)) f)
                else wf._reads(n.value -> 'reads', concat(case when n.fixed is null then n.input end, n.value -> 'max',
                                                          n.value -> 'when', q.read, q.fixed -> 'retry_when')) end,
           case n.object when 'catch' then n.value ->> 'name' else i.name end,
           j.name,
           case when n.value ? 'max' then wf._compact(n.value -> 'max') end,
           case when n.value ? 'collect' then
               (select jsonb_agg(jsonb_build_object('as', c.value -> 'as', 'value', wf._compact(c.value -> 'value'))
                                 order by c.ordinality)
                  from jsonb_array_elements(n.value -> 'collect') with ordinality c)
           end,
           case when n.value ? 'collect' then wf._reads(n.value -> 'collect_reads', n.value ->> 'collect') end,
           n.type_id,
           case when t.passes then n.fixed
                when n.fixed is not null and t.keys is not null then
                    (select t.args -> 1 || jsonb_object_agg(f.key, coalesce(n.fixed -> f.name, 'null'))
                       from unnest(t.keys, t.names) f (key, name))
                when n.fixed is not null and not t.volatile then wf._evaluate(t.args, n.fixed) -> 'value' end,
           coalesce((q.fixed ->> 'idempotent')::boolean, false),
           l.id,
           - (q.fixed ->> 'priority')::smallint,
           g.id,
           (q.fixed ->> 'group_max')::int,
           case when q.read is not null then wf._compact(q.read) end,
           q.fixed ->> 'title',
           t.name,
           t.transport,
           coalesce(t.plain, false),
           n.secrets,
           t.picks,
           case when w.version_id is not null then true end,
           n.machine, n.scope, n.begins, n.ends, n.collects,
           case when q.read ? 'retry' then '{}' else q.fixed -> 'retry' end,
           case when q.fixed ? 'retry_when' then wf._compact(q.fixed -> 'retry_when') end,
           h.handler_id,
           case when n.value ? 'when' then wf._compact(n.value -> 'when') end
      from settled n
      left join child c on c.version_id = n.version_id and c.id = n.id
      left join wide w on w.version_id = n.version_id
      left join handler h on h.version_id = n.version_id and h.id = n.id
      left join item_read i on i.place = n.place and i.name = n.value ->> 'name'
      left join item_read j on j.place = n.place and j.name = n.value ->> 'index'
      left join task_type t on t.id = n.type_id
      left join policy q on q.policies = n.policies
      left join lane l on q.queued and l.queue = q.queue and l.needs = q.needs and l.requires = q.requires
      left join concurrency_group g on g.name = q.fixed ->> 'group';
    perform wf._store_sizes(v.value::bigint) from jsonb_each_text(p_versions) v;
end;
$$;

-- wf._store_sizes(p_version)
--
-- Works out how many processes a tree and one element of each forall come to at
-- most, in all and at a time. Of branches of which one is chosen the largest
-- counts; of steps one after another all count, but the largest at a time.
--
-- Returns  nothing
-- Locks    rows of node
-- Called   by _store_nodes, for each new version
create or replace function wf._store_sizes(p_version bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    v_most bigint[]; -- by node: what its children come to
    v_most_live bigint[];
    v_own bigint;
    v_own_live bigint;
    v_id int[];
    f record;
begin
    if not exists (select from wf.node n where n.version_id = p_version and n.begins = 'window') then
        return;
    end if;
    select array_agg(0), array_agg(0) into v_most, v_most_live from wf.node n where n.version_id = p_version;
    -- the numbers of children are greater than that of their parent
    for f in
        select n.id, n.parent_id, n.begins, o.begins as around
          from wf.node n
          left join wf.node o on o.version_id = n.version_id and o.id = n.parent_id
         where n.version_id = p_version
         order by n.id desc
    loop
        v_own := 1;
        v_own_live := 1;
        if f.begins <> 'window' then
            v_own := v_own + v_most[f.id];
            v_own_live := v_own_live + v_most_live[f.id];
        end if;
        if f.begins = 'window' or f.id = 1 then
            v_id := v_id || f.id;
        end if;
        if f.id > 1 then
            v_most[f.parent_id] := case f.around when 'chosen' then greatest(v_most[f.parent_id], v_own)
                                                 else v_most[f.parent_id] + v_own end;
            v_most_live[f.parent_id] := case f.around when 'all' then v_most_live[f.parent_id] + v_own_live
                                                      else greatest(v_most_live[f.parent_id], v_own_live) end;
        end if;
    end loop;
    update wf.node n
       set most = v_most[n.id] + (n.id = 1)::int, most_live = v_most_live[n.id] + (n.id = 1)::int
     where n.version_id = p_version and n.id = any (v_id);
end;
$$;

-- wf.install(p_source, p_spec)
--
-- Stores the workflows of a compiled file. One that is the same as before but
-- for lines and comments stays as it is; any other gets a new version, which
-- start uses from the commit on. Running instances keep theirs.
--
-- Returns  for each workflow, in the order of the file: its name, the number of its version, installed or unchanged
-- Locks    the gate; workflow rows by name, then new rows of task_type, lane and concurrency_group by name
-- Raises   WF002 without a source, WF005 if the tree is not what docs/spec.md describes
-- Called   by authors: wf-console install
create or replace function wf.install(p_source text, p_spec jsonb)
returns table (workflow text, version int, answer text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set work_mem = '32MB' as $$
declare
    v_nodes wf.part[];
    v_sums record;
    v_versions jsonb;
begin
    perform wf._gate(false);
    if p_source is null then
        raise exception using errcode = 'WF002',
            message = 'the source is missing',
            hint = 'Give the text of the .wf file; it may be empty.';
    end if;
    v_nodes := wf._check_spec(p_spec);
    select c.* into v_sums from wf._checksums(p_spec, v_nodes) c;
    v_versions := wf._store_versions(p_source, p_spec, v_sums.workflows);
    if v_versions <> '{}' then
        perform wf._store_nodes(v_nodes, v_versions, wf._store_task_types(p_spec -> 'task_types', v_sums.task_types));
    end if;
    return query
        select w.name, v.number, case when v_versions ? w.name then 'installed' else 'unchanged' end
          from jsonb_array_elements(p_spec -> 'workflows') with ordinality s
          join wf.workflow w on w.name = s.value ->> 'name'
          join wf.version v on v.id = w.version_id
         order by s.ordinality;
end;
$$;
comment on function wf.install(text, jsonb) is
    'Stores the workflows of a compiled file (docs/spec.md) with its source; one that is unchanged keeps its version. '
    'Returns workflow, version, answer (installed or unchanged).';

-- wf._recompile()
--
-- Makes the compiled form of every version anew: the nodes and the requests of
-- task types follow from the stored tree, and code/ may have come to compile a
-- tree differently. Numbers of nodes and task types stay.
--
-- Returns  nothing
-- Locks    all rows of node and task_request; only upgrade.sql calls it, which has the workspace to itself
create or replace function wf._recompile() returns void
language plpgsql set search_path = pg_catalog, pg_temp set jit = off as $$
declare
    v record;
    v_spec jsonb;
    v_nodes wf.part[];
    v_types jsonb;
begin
    delete from wf.task_request;
    delete from wf.node;
    for v in
        select o.id, o.spec, w.name from wf.version o join wf.workflow w on w.id = o.workflow_id order by o.id
    loop
        v_spec := jsonb_build_object('workflows', jsonb_build_array(v.spec -> 'workflow'),
                                     'task_types', v.spec -> 'task_types');
        v_nodes := wf._spec_nodes(v_spec);
        v_types := wf._store_task_types(v.spec -> 'task_types',
                                        (select c.task_types from wf._checksums(v_spec, v_nodes) c));
        perform wf._store_nodes(v_nodes, jsonb_build_object(v.name, v.id), v_types);
    end loop;
end;
$$;

-- wf._unknown_xid()
--
-- Returns  what stands in removed_xid until it is known: greater than every transaction
-- Locks    nothing
-- Raises   nothing
-- Called   by remove and _forget_versions
create or replace function wf._unknown_xid() returns xid8
language sql immutable
begin atomic
    select '18446744073709551615'::xid8;
end;

-- wf.remove(p_workflow)
--
-- Takes a workflow out of use: start refuses it until it is installed again.
-- Versions that no instance uses are deleted later, when every start that has
-- not seen the removal is over (_forget_versions): start waits for nobody, and
-- nobody waits for it.
--
-- Returns  nothing
-- Locks    the gate; the workflow row, then its versions
-- Raises   WF002 without a name, WF003 if there is no such workflow
-- Called   by authors: wf-console remove
create or replace function wf.remove(p_workflow text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_id bigint;
begin
    perform wf._gate(false);
    if p_workflow is null then
        raise exception using errcode = 'WF002',
            message = 'the name of the workflow is missing',
            hint = 'wf-console workflows lists them.';
    end if;
    select w.id into v_id from wf.workflow w where w.name = p_workflow and w.version_id is not null for no key update;
    if v_id is null then
        raise exception using errcode = 'WF003',
            message = format('there is no workflow %s', left(p_workflow, 100)),
            hint = 'wf-console workflows lists them.';
    end if;
    update wf.workflow w set version_id = null where w.id = v_id;
    update wf.version v set removed_xid = wf._unknown_xid() where v.workflow_id = v_id and v.removed_xid is null;
end;
$$;
comment on function wf.remove(text) is
    'Takes a workflow out of use: start refuses it from then on. Its instances go on; versions without instances are '
    'deleted within minutes, once every transaction that was under way has ended.';
