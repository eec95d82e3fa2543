-- Names: the values that they are bound to, and the names that an expression sees.

-- wf._open_scope(p_moves)
--
-- Binds the parameters of each form that has a scope of its own, in that scope.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing of its own
-- Called   by the insert trigger of process
create or replace function wf._open_scope(p_moves wf.full_move[]) returns void
language plpgsql as $$
begin
    insert into wf.binding (instance_id, scope_id, name, value)
    select m.instance_id, m.id, j.key, j.value
      from wf._due_full(p_moves, 'scope') m
     cross join lateral (select x.input, x.input_fixed
                           from wf.node x
                          where x.version_id = m.version_id and x.id = m.node_id
                         offset 0) n
     cross join lateral jsonb_each(coalesce(m.input, case when n.input_fixed then n.input end)) j;
end;
$$;

-- wf._bind(p_moves, p_several)
--
-- Binds the names of processes that have ended to their output. A form that has
-- a scope of its own binds in the scope around it. p_several says that one of the
-- processes binds several names.
--
-- Returns  nothing
-- Locks    nothing
-- Raises   nothing of its own
-- Called   by the update trigger of process
create or replace function wf._bind(p_moves wf.full_move[], p_several boolean) returns void
language plpgsql as $$
declare
    f record;
begin
    if p_several then
        p_moves := wf._split_names(p_moves);
    end if;
    with bound as (
        insert into wf.binding (instance_id, scope_id, name, value)
        select m.instance_id, s.scopes[cardinality(s.scopes)], m.bind, m.output
          from wf._due_full(p_moves, 'bind') m
         cross join lateral (select case when m.scopes[1] = m.id
                                         then (select x.scopes
                                                 from wf.process x
                                                where x.instance_id = m.instance_id and x.id = m.parent_id)
                                         else m.scopes end as scopes offset 0) s
         where m.output is not null
           and m.event not in ('ignore', 'skip') -- the output of a failed loop is the state of its last round
            on conflict (instance_id, scope_id, name) do update set value = excluded.value, skipped = null
        returning instance_id, scope_id, pg_column_size(value) as bytes)
    select array_agg(b.instance_id) as instances, array_agg(b.scope_id) as scopes, array_agg(b.bytes) as bytes
      into f
      from bound b where wf._is_large(b.bytes);
    if f.instances is not null then
        perform wf._count_values(f.instances, f.scopes, f.bytes);
    end if;
end;
$$;

-- wf._names_inside(p_version, p_node)
--
-- Returns  the names that nodes in a composite bind in the scope in which the composite itself stands
-- Locks    nothing
-- Raises   nothing
-- Called   by _forget_names and _mark_skipped
create or replace function wf._names_inside(p_version bigint, p_node int) returns setof text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    -- a node that opens a scope, for itself or its children, binds its own name outside of that
    -- scope; the names of the branch that wins a race are bound outside of the race
    with recursive inside as (
        select n.id, n.bind, n.names, n.collect, n.scope, n.item, n.kind, n.ends
          from wf.node o
          join wf.node n on n.version_id = p_version and n.parent_id = p_node
                        and (n.scope <> 'child' or o.ends = 'first')
         where o.version_id = p_version and o.id = p_node
         union all
        select n.id, n.bind, n.names, n.collect, n.scope, n.item, n.kind, n.ends
          from inside i
          join wf.node n on n.version_id = p_version and n.parent_id = i.id
                        and (n.scope <> 'child' or i.ends = 'first')
         where i.scope <> 'own')
    select i.bind from inside i where i.bind <> ''
     union
    select x.name from inside i, unnest(i.names) x (name)
     union
    select c ->> 'as' from inside i, jsonb_array_elements(i.collect) c
     union
    select i.item from inside i where i.kind = 'catch';
end;

-- wf._forget_names(p_instance, p_scopes, p_version, p_node)
--
-- A composite is entered again. The names that were bound in it have no value, and read as
-- null, until they are bound again. Their former values are kept.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Called   by _reenter
create or replace function wf._forget_names(p_instance bigint, p_scopes bigint[], p_version bigint, p_node int)
returns void
language plpgsql as $$
begin
    update wf.binding b set value = null, skipped = null
      from wf._names_inside(p_version, p_node) n (name)
     where b.instance_id = p_instance and b.scope_id = p_scopes[cardinality(p_scopes)] and b.name = n.name;
end;
$$;

-- wf._mark_skipped(p_moves)
--
-- Processes were skipped with all that reads them. Each name that they would have bound
-- becomes null, unless it has a value; its row says which process was skipped first.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Called   by the update trigger of process
create or replace function wf._mark_skipped(p_moves wf.move[]) returns void
language plpgsql as $$
begin
    insert into wf.binding (instance_id, scope_id, name, value, skipped)
    select distinct m.instance_id, s.scopes[cardinality(s.scopes)], x.name, 'null'::jsonb,
           coalesce((p.error #>> '{detail,process}')::bigint, m.id)
      from wf._due(p_moves, 'skipped') m
     cross join lateral (select y.version_id, y.node_id, y.parent_id, y.scopes,
                                case when y.event = 'cascade' then y.error end as error
                           from wf.process y
                          where y.instance_id = m.instance_id and y.id = m.id
                         offset 0) p
     cross join lateral (select y.bind, y.names, y.collect, y.scope
                           from wf.node y
                          where y.version_id = p.version_id and y.id = p.node_id
                         offset 0) n
     cross join lateral (select case when p.scopes[1] = m.id
                                     then (select y.scopes
                                             from wf.process y
                                            where y.instance_id = m.instance_id and y.id = p.parent_id)
                                     else p.scopes end as scopes offset 0) s
     cross join lateral (select nullif(n.bind, '') as name
                          union
                         select unnest(n.names)
                          union
                         select c ->> 'as' from jsonb_array_elements(n.collect) c
                          union
                         select i from wf._names_inside(p.version_id, p.node_id) i where n.scope <> 'own') x
     where x.name is not null
        on conflict (instance_id, scope_id, name) do update
           set value = excluded.value, skipped = excluded.skipped where wf.binding.value is null;
end;
$$;

-- wf._reads_skipped(p_instance, p_scopes, p_reads)
--
-- Returns  the error with which a task or call is skipped, because it reads names of processes that were skipped with
--          all that reads them; null if it reads no such name
-- Locks    nothing
-- Called   by _prepare, if a name is null
create or replace function wf._reads_skipped(p_instance bigint, p_scopes bigint[], p_reads jsonb) returns jsonb
language plpgsql stable as $$
begin
    return (
        select wf._refuse('skipped', format('it reads %s, which has no value: process %s was skipped with '
                                            'everything that reads its names',
                                            string_agg(r.name, ', ' order by r.name), min(b.skipped)))
               || jsonb_build_object('detail', jsonb_build_object('process', min(b.skipped)))
          from jsonb_each_text(p_reads) r (name, depth)
         cross join lateral (select x.skipped
                               from wf.binding x
                              where x.instance_id = p_instance
                                and x.scope_id = p_scopes[r.depth::int + 1]
                                and x.name = r.name
                             offset 0) b
         where b.skipped is not null
        having count(*) > 0);
end;
$$;

-- wf._split_names(p_moves)
--
-- A process that binds several names has an object as output, with a field for each
-- name. Other fields of the object (an operator may have given it) bind nothing.
--
-- Returns  one move for each name that a process binds
-- Locks    nothing
-- Raises   nothing
-- Called   by _bind
create or replace function wf._split_names(p_moves wf.full_move[]) returns wf.full_move[]
language plpgsql stable as $$
declare
    v_moves wf.full_move[] := array(select m from wf._due_full(p_moves, 'bind') m where m.bind <> '');
    v_move wf.full_move;
    f record;
begin
    for f in
        select m as move, x.name, m.output -> x.name as value
          from wf._due_full(p_moves, 'bind') m
         cross join lateral (select y.names
                               from wf.node y
                              where y.version_id = m.version_id and y.id = m.node_id
                             offset 0) n
         cross join lateral unnest(n.names) x (name)
         where m.bind = '' and m.output ? x.name
    loop
        v_move := f.move;
        v_move.bind := f.name;
        v_move.output := f.value;
        v_moves := v_moves || v_move;
    end loop;
    return v_moves;
end;
$$;

-- wf._keep_past()
--
-- Keeps the value of a name when another value replaces it: two processes may bind a name
-- in one scope one after another, such as the body of a try and its catch.
--
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   by a row trigger whose WHEN clause asks whether the value is another one: a name
--          that is bound for the first time costs nothing
create or replace function wf._keep_past() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    insert into wf.binding_past (instance_id, scope_id, name, until_seq, value)
    values (old.instance_id, old.scope_id, old.name, nextval('wf.event_seq_seq'), old.value);
    return null;
end;
$$;
create or replace trigger binding_replaced after update on wf.binding for each row
    when (old.value is distinct from new.value)
    execute function wf._keep_past();

-- wf._environment(p_instance, p_scopes, p_reads)
--
-- Returns  an object with the values of the names that a node reads
-- Locks    nothing
-- Raises   nothing
-- Called   wherever an expression of a tree is evaluated
create or replace function wf._environment(p_instance bigint, p_scopes bigint[], p_reads jsonb) returns jsonb
language plpgsql stable as $$
declare
    v_names jsonb;
begin
    if p_reads is null then
        return '{}'::jsonb;
    end if;
    select coalesce(jsonb_object_agg(r.name, b.value), '{}')
      into v_names
      from jsonb_each_text(p_reads) r (name, depth)
     cross join lateral (select x.value
                           from wf.binding x
                          where x.instance_id = p_instance
                            and x.scope_id = p_scopes[r.depth::int + 1]
                            and x.name = r.name
                         offset 0) b;
    if p_reads ? 'instance' then
        v_names := v_names || jsonb_build_object('instance', wf._describe_instance(p_instance));
    end if;
    return v_names;
end;
$$;

-- wf._describe_instance(p_instance)
--
-- Returns  the object that the name `instance` stands for
-- Locks    nothing
-- Raises   nothing
-- Called   by _environment
create or replace function wf._describe_instance(p_instance bigint) returns jsonb
language plpgsql stable as $$
begin
    return (select jsonb_build_object(
                'id', i.id, 'workflow', w.name, 'version', v.number, 'key', i.key,
                'started_at', to_char(i.started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                'scheduled_at', to_char(i.scheduled_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                'subject', null, 'trace_id', i.trace_id)
              from wf.instance i
              join wf.workflow w on w.id = i.workflow_id
              join wf.version v on v.id = i.version_id
             where i.id = p_instance);
end;
$$;
