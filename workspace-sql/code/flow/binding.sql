-- Names: what they are bound to, and what an expression sees of them.

-- wf._bind(p_instance, p_process)
--
-- Binds the names of processes that have ended: their output, and what a
-- forall has collected, in the order of its elements. What a forall kept is
-- dropped, however it came to its end.
--
-- Returns  nothing
-- Locks    nothing
-- Raises   nothing of its own
-- Called   by the update trigger of process
create or replace function wf._bind(p_instance bigint[], p_process bigint[]) returns void
language plpgsql :inner as $$
begin
    insert into wf.binding (instance_id, scope_id, name, value)
    select p.instance_id, s.scopes[cardinality(s.scopes)], p.bind, p.output
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
      left join lateral (select x.scopes from wf.process x where x.instance_id = p.instance_id and x.id = p.parent_id offset 0) q on true
     cross join lateral (select case p.kind when 'call' then q.scopes else p.scopes end as scopes) s
     where p.bind is not null and p.output is not null
        on conflict (instance_id, scope_id, name) do update set value = excluded.value;
    insert into wf.binding (instance_id, scope_id, name, value)
    select p.instance_id, p.scopes[cardinality(p.scopes)], c.item ->> 'as',
           coalesce((select jsonb_agg(coalesce(r.value -> (c.k - 1)::int, 'null') order by g)
                       from generate_series(0, p.total - 1) g
                       left join wf.forall_result r on r.instance_id = p.instance_id and r.process_id = p.id and r.index = g), '[]')
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
     cross join lateral (select x.* from wf.node x where x.version_id = p.version_id and x.id = p.node_id offset 0) n
     cross join lateral jsonb_array_elements(n.collect) with ordinality c (item, k)
     where p.kind = 'forall' and n.collect is not null and p.event = 'end'
        on conflict (instance_id, scope_id, name) do update set value = excluded.value;
    delete from wf.forall_result r
     where r.ctid = any (array(select k.ctid from unnest(p_instance, p_process) u (i, j)
                                cross join lateral (select x.ctid from wf.forall_result x where x.instance_id = u.i and x.process_id = u.j offset 0) k));
    delete from wf.forall_item r
     where r.ctid = any (array(select k.ctid from unnest(p_instance, p_process) u (i, j)
                                cross join lateral (select x.ctid from wf.forall_item x where x.instance_id = u.i and x.process_id = u.j offset 0) k));
end;
$$;

-- wf._environment(p_instance, p_scopes, p_reads)
--
-- Returns  an object with the values of the names that a node reads
-- Locks    nothing
-- Raises   nothing
-- Called   wherever an expression of a tree is evaluated
create or replace function wf._environment(p_instance bigint, p_scopes bigint[], p_reads jsonb) returns jsonb
language plpgsql stable :inner as $$
declare
    v_names jsonb;
begin
    if p_reads is null then
        return '{}'::jsonb;
    end if;
    select coalesce(jsonb_object_agg(r.name, b.value), '{}')
      into v_names
      from jsonb_each_text(p_reads) r (name, depth)
     cross join lateral (select x.value from wf.binding x where x.instance_id = p_instance and x.scope_id = p_scopes[r.depth::int + 1] and x.name = r.name offset 0) b;
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
language plpgsql stable :inner as $$
begin
    return (select jsonb_build_object(
                'id', i.id, 'workflow', w.name, 'version', v.number, 'key', i.key,
                'started_at', to_char(i.started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                'scheduled_at', null, 'subject', null, 'trace_id', i.trace_id)
              from wf.instance i
              join wf.workflow w on w.id = i.workflow_id
              join wf.version v on v.id = i.version_id
             where i.id = p_instance);
end;
$$;
