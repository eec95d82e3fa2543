-- forall: its elements, and what it collects from them.

-- wf._collect(p_instance, p_process)
--
-- Evaluates what foralls collect from their elements that have ended.
--
-- Returns  nothing
-- Locks    nothing
-- Raises   nothing of its own; an error is kept in place of the values
-- Called   by the update trigger of process
create or replace function wf._collect(p_instance bigint[], p_process bigint[]) returns void
language plpgsql :inner as $$
begin
    insert into wf.forall_result (instance_id, process_id, index, value)
    select p.instance_id, p.parent_id, p.index,
           coalesce(case when wf._oversize(pg_column_size(r.result)) is null then r.result -> 'value' end,
                    case when r.result ? 'error' then r.result else jsonb_build_object('error', wf._oversize(pg_column_size(r.result))) end)
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
     cross join lateral (select x.* from wf.process x where x.instance_id = p.instance_id and x.id = p.parent_id offset 0) q
     cross join lateral (select x.* from wf.node x where x.version_id = q.version_id and x.id = q.node_id offset 0) n
     cross join lateral (select wf._evaluate(
                '["list"]' || (select jsonb_agg(c.item -> 'value' order by c.k) from jsonb_array_elements(n.collect) with ordinality c (item, k)),
                wf._environment(p.instance_id, q.scopes || p.id, n.collect_reads)) as result offset 0) r;
end;
$$;

-- wf._collection_error(p_process)
--
-- Returns  the first error among what a forall has collected; else an error if all of it is larger than a value may be; else null
-- Locks    nothing
-- Raises   nothing
-- Called   by the update trigger of process when everything in a forall has ended
create or replace function wf._collection_error(p_process wf.process) returns jsonb
language plpgsql stable :inner as $$
begin
    if p_process.kind <> 'forall' then
        return null;
    end if;
    return coalesce((select r.value -> 'error'
                       from wf.forall_result r
                      where r.instance_id = p_process.instance_id and r.process_id = p_process.id and jsonb_typeof(r.value) = 'object'
                      order by r.index
                      limit 1),
                    -- in bytes of their text: a stored value may be compressed
                    wf._oversize(coalesce((select sum(octet_length(r.value::text))
                                             from wf.forall_result r
                                            where r.instance_id = p_process.instance_id and r.process_id = p_process.id), 0)));
end;
$$;

-- wf._count_elements(p_node, p_value)
--
-- Returns  how many elements a forall has: p_value is its list, or the two ends of its range
-- Locks    nothing
-- Raises   WF020 if it is neither
-- Called   by _prepare
create or replace function wf._count_elements(p_node wf.node, p_value jsonb) returns int
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
    if p_node.input ->> 0 = 'range' and not p_node.input_fixed then
        if jsonb_typeof(p_value -> 0) is distinct from 'number' or jsonb_typeof(p_value -> 1) is distinct from 'number'
           or (p_value ->> 0)::numeric % 1 <> 0 or (p_value ->> 1)::numeric % 1 <> 0 then
            raise exception using errcode = 'WF020', message = 'the ends of a range are ints';
        end if;
        return greatest(0, (p_value ->> 1)::numeric - (p_value ->> 0)::numeric + 1)::int;
    end if;
    if jsonb_typeof(p_value) is distinct from 'array' then
        raise exception using errcode = 'WF020', message = format('forall needs a list, not %s', coalesce(jsonb_typeof(p_value), 'null'));
    end if;
    return jsonb_array_length(p_value);
end;
$$;

-- wf._enter_elements(p_instance, p_process, p_from, p_count, p_at)
--
-- Begins the bodies of p_count elements of foralls, from index p_from on.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing of its own
-- Called   by the triggers of process
create or replace function wf._enter_elements(p_instance bigint[], p_process bigint[], p_from int[], p_count int[], p_at timestamptz) returns void
language plpgsql :inner as $$
declare
    f record;
begin
    select array_agg(u.i) instances, array_agg(u.j) parents, array_agg(c.id) nodes, array_agg(k) indexes,
           bool_or(n.item is not null or n.item_index is not null) named,
           array_agg(case when n.item is null then '{}'
                       when n.input ->> 0 = 'range' and not n.input_fixed then jsonb_build_object(n.item, trunc((p.input ->> 0)::numeric) + k)
                       else jsonb_build_object(n.item, (select t.items -> (k % 1000) from wf.forall_item t
                                                         where t.instance_id = u.i and t.process_id = u.j and t.chunk = k / 1000)) end
               || case when n.item_index is null then '{}' else jsonb_build_object(n.item_index, k) end) items
      into f
      from unnest(p_instance, p_process, p_from, p_count) u (i, j, first, count)
     cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
     cross join lateral (select x.* from wf.node x where x.version_id = p.version_id and x.id = p.node_id offset 0) n
      join wf.node c on c.version_id = n.version_id and c.parent_id = n.id
     cross join lateral generate_series(u.first, u.first + u.count - 1) k;
    perform wf._enter(f.instances, f.parents, f.nodes, f.indexes, case when f.named then f.items end, p_at);
end;
$$;

-- wf._enter_forall(p_instance, p_process, p_at)
--
-- Lays the elements of foralls that have just been entered down in chunks, if
-- their bodies read them, and begins the first ones.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing of its own
-- Called   by the triggers of process
create or replace function wf._enter_forall(p_instance bigint[], p_process bigint[], p_at timestamptz) returns void
language plpgsql :inner as $$
declare
    f record;
begin
    insert into wf.forall_item (instance_id, process_id, chunk, items)
    select u.i, u.j, (t.k - 1) / 1000, jsonb_agg(t.item order by t.k)
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
     cross join lateral (select x.* from wf.node x where x.version_id = p.version_id and x.id = p.node_id offset 0) n
     cross join lateral jsonb_array_elements(case when n.input_fixed then n.input else p.input end) with ordinality t (item, k)
     where n.item is not null and (n.input_fixed or n.input ->> 0 is distinct from 'range')
     group by u.i, u.j, (t.k - 1) / 1000;
    select array_agg(p.instance_id) instances, array_agg(p.id) parents, array_agg(0) firsts, array_agg(p.open) counts
      into f
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p;
    perform wf._enter_elements(f.instances, f.parents, f.firsts, f.counts, p_at);
end;
$$;

-- wf._refill(p_instance, p_process, p_first, p_count, p_at)
--
-- Begins the next elements of foralls. Where a whole window has come to its end
-- below the statement that the caller made, nothing in it waits: the next window
-- is left to a transaction of its own, so that none of them is without an end.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Called   by the update trigger of process
create or replace function wf._refill(p_instance bigint[], p_process bigint[], p_first int[], p_count int[], p_at timestamptz) returns void
language plpgsql :inner as $$
declare
    c_window constant int := 1000;
    v_last bigint;
begin
    if pg_trigger_depth() <= 2 or c_window > all (p_count) then
        perform wf._enter_elements(p_instance, p_process, p_first, p_count, p_at);
        return;
    end if;
    select nextval('wf.pending_id_seq') into v_last;
    insert into wf.pending (instance_id, parent_id, first, count)
    select u.i, u.j, u.first, u.count from unnest(p_instance, p_process, p_first, p_count) u (i, j, first, count);
    perform wf._leave_pending(v_last, p_at);
end;
$$;
