-- forall: its elements, and what it collects from them. A loop is a forall with one
-- element under way at a time, see loop.sql.

-- wf._collect(p_moves)
--
-- Evaluates what foralls collect from their elements that have ended.
--
-- Returns  nothing
-- Locks    nothing
-- Raises   nothing of its own; an error is kept in place of the values
-- Called   by the update trigger of process
create or replace function wf._collect(p_moves wf.full_move[]) returns void
language plpgsql as $$
begin
    insert into wf.forall_result (instance_id, process_id, index, value)
    select m.instance_id, m.parent_id, m.index,
           case when r.result ? 'error'
                then jsonb_build_object('error', wf._blame(r.result -> 'error', v.expr, v.env, n.line, 'collect'))
                when e.error is not null then jsonb_build_object('error', e.error)
                else r.result -> 'value' end
      from wf._due_full(p_moves, 'collect') m
     cross join lateral (select x.node_id
                           from wf.process x
                          where x.instance_id = m.instance_id and x.id = m.parent_id
                         offset 0) q
     cross join lateral (select x.collect, x.collect_reads, x.line
                           from wf.node x
                          where x.version_id = m.version_id and x.id = q.node_id
                         offset 0) n
     cross join lateral (select '["list"]' || (select jsonb_agg(c.item -> 'value' order by c.k)
                                                 from jsonb_array_elements(n.collect) with ordinality c (item, k))
                                as expr,
                                wf._environment(m.instance_id, m.scopes, n.collect_reads) as env offset 0) v
     cross join lateral (select wf._evaluate(v.expr, v.env) as result offset 0) r
     cross join lateral (select coalesce(wf._oversize(pg_column_size(r.result)),
                                         case when wf._is_large(pg_column_size(r.result))
                                              then wf._keep_value(m.instance_id, pg_column_size(r.result),
                                                                  m.scopes) end) as error offset 0) e;
end;
$$;

-- wf._end_window(p_moves)
--
-- Binds the names that foralls collect, with their values in the order of the elements.
-- Deletes the rows that a forall kept, and gives back what it held of the instance's
-- limit, however the forall has ended.
--
-- Returns  nothing
-- Locks    nothing
-- Raises   nothing of its own
-- Called   by the update trigger of process
create or replace function wf._end_window(p_moves wf.full_move[]) returns void
language plpgsql as $$
declare
    f record;
begin
    with bound as (
        insert into wf.binding (instance_id, scope_id, name, value)
        select m.instance_id, m.scopes[cardinality(m.scopes)], c.item ->> 'as',
               coalesce((select jsonb_agg(coalesce(r.value -> (c.k - 1)::int, 'null') order by g)
                           from generate_series(0, m.total - 1) g
                           left join wf.forall_result r on r.instance_id = m.instance_id and r.process_id = m.id
                                                       and r.index = g), '[]')
          from wf._due_full(p_moves, 'gather') m
         cross join lateral (select x.collect
                               from wf.node x
                              where x.version_id = m.version_id and x.id = m.node_id
                             offset 0) n
         cross join lateral jsonb_array_elements(n.collect) with ordinality c (item, k)
         where m.event = 'end'
            on conflict (instance_id, scope_id, name) do update set value = excluded.value, skipped = null
        returning instance_id, scope_id, pg_column_size(value) as bytes)
    select array_agg(b.instance_id) as instances, array_agg(b.scope_id) as scopes, array_agg(b.bytes) as bytes
      into f
      from bound b where wf._is_large(b.bytes);
    if f.instances is not null then
        perform wf._count_values(f.instances, f.scopes, f.bytes);
    end if;
    delete from wf.forall_result r
     where r.ctid = any (array(select k.ctid
                                 from wf._due_full(p_moves, 'gather') m
                                cross join lateral (select x.ctid
                                                      from wf.forall_result x
                                                     where x.instance_id = m.instance_id and x.process_id = m.id
                                                    offset 0) k));
    perform wf._forget_given_up(p_moves);
    delete from wf.forall_item r
     where r.ctid = any (array(select k.ctid
                                 from wf._due_full(p_moves, 'gather') m
                                cross join lateral (select x.ctid
                                                      from wf.forall_item x
                                                     where x.instance_id = m.instance_id and x.process_id = m.id
                                                    offset 0) k));
    perform wf._release_live(array_agg(m.instance_id), array_agg(m.id)) from wf._due_full(p_moves, 'gather') m;
end;
$$;

-- wf._forall_error(p_process)
--
-- Returns  the error of a forall whose elements have all ended: that of the element that
--          failed last, if one too many has failed; else that of the collected values;
--          null if there is none
-- Locks    nothing
-- Raises   nothing
-- Called   by _count_ended
create or replace function wf._forall_error(p_process wf.process) returns jsonb
language plpgsql stable as $$
begin
    if p_process.spare < 0 then
        return wf._last_given_up(p_process.instance_id, p_process.id);
    end if;
    return wf._collection_error(p_process);
end;
$$;

-- wf._collection_error(p_process)
--
-- Returns  the first error among what a forall has collected; else an error if
--          all of it is larger than a value may be; else null
-- Locks    nothing
-- Raises   nothing
-- Called   by _forall_error
create or replace function wf._collection_error(p_process wf.process) returns jsonb
language plpgsql stable as $$
begin
    return coalesce((select r.value -> 'error'
                       from wf.forall_result r
                      where r.instance_id = p_process.instance_id
                        and r.process_id = p_process.id
                        and jsonb_typeof(r.value) = 'object'
                      order by r.index
                      limit 1),
                    -- in bytes of their text: a stored value may be compressed
                    wf._oversize(coalesce((select sum(octet_length(r.value::text))
                                             from wf.forall_result r
                                            where r.instance_id = p_process.instance_id
                                              and r.process_id = p_process.id), 0)));
end;
$$;

-- wf._count_elements(p_node, p_value)
--
-- Returns  how many elements a forall or fold has: p_value is its list, or the two ends of its range
-- Locks    nothing
-- Raises   WF020 if it is neither
-- Called   by _measure and _first_round
create or replace function wf._count_elements(p_node wf.node, p_value jsonb) returns int
language plpgsql immutable as $$
begin
    if wf._is_range(p_node.begins, p_node.input, p_node.input_fixed) then
        if jsonb_typeof(p_value -> 0) is distinct from 'number' or jsonb_typeof(p_value -> 1) is distinct from 'number'
           or (p_value ->> 0)::numeric % 1 <> 0 or (p_value ->> 1)::numeric % 1 <> 0 then
            raise exception using errcode = 'WF020', message = 'the ends of a range are ints';
        end if;
        return greatest(0, (p_value ->> 1)::numeric - (p_value ->> 0)::numeric + 1)::int;
    end if;
    if jsonb_typeof(p_value) is distinct from 'array' then
        raise exception using errcode = 'WF020',
            message = format('%s needs a list, not %s', p_node.kind, coalesce(jsonb_typeof(p_value), 'null'));
    end if;
    return jsonb_array_length(p_value);
end;
$$;

-- wf._measure_window(p_node, p_entry, p_value, p_environment)
--
-- Returns  the entry of a forall: how many elements it has, how many begin, how many may fail
-- Locks    nothing
-- Raises   WF020 if a value does not fit
-- Called   by _measure
create or replace function wf._measure_window(p_node wf.node, p_entry wf.entry, p_value jsonb, p_environment jsonb)
returns wf.entry
language plpgsql as $$
declare
    v_max jsonb;
    v_most numeric;
begin
    p_entry.total := wf._count_elements(p_node, p_value);
    p_entry.open := least(p_entry.total, wf._setting_number('window'));
    if p_node.max is not null then
        v_max := wf._evaluate(p_node.max, p_environment);
        v_most := wf._elements_meant(v_max ->> 'value', p_entry.total);
        if v_max ? 'error' then
            p_entry.error := wf._blame(v_max -> 'error', p_node.max, p_environment, p_node.line, 'max');
        elsif v_most is null or v_most < 1 and p_entry.total > 0
              or jsonb_typeof(v_max -> 'value') = 'number' and v_max ->> 'value' !~ '^[1-9][0-9]*$' then
            raise exception using errcode = 'WF020',
                message = format('max of a forall is an int of at least 1, or a text such as "50%%" or "all - 1" that '
                                 'means at least 1 of its %s elements, not %s', p_entry.total,
                                 coalesce(v_max -> 'value', 'null'));
        else
            p_entry.open := least(p_entry.open, v_most);
        end if;
    end if;
    if p_node.tolerate is not null and p_entry.error is null then
        v_max := wf._evaluate(p_node.tolerate, p_environment);
        if v_max ? 'error' then
            p_entry.error := wf._blame(v_max -> 'error', p_node.tolerate, p_environment, p_node.line, 'tolerate');
        elsif (v_max ->> 'value' ~ wf._tolerance()) is not true then
            raise exception using errcode = 'WF020',
                message = format('tolerate of a forall is an int of at least 0, or a text such as "10%%", not %s',
                                 coalesce(v_max -> 'value', 'null'));
        elsif strpos(v_max ->> 'value', '%') > 0 then
            v_most := regexp_replace(v_max ->> 'value', '[%[:space:]]', '', 'g')::numeric;
            p_entry.spare := least(p_entry.total, floor(v_most * p_entry.total / 100));
        else
            p_entry.spare := least(p_entry.total, (v_max ->> 'value')::numeric);
        end if;
    end if;
    p_entry.held := p_entry.open * p_node.most_live;
    return p_entry;
end;
$$;

-- wf._enter_elements(p_instance, p_process, p_from, p_count, p_at, p_run)
--
-- Begins the bodies of p_count elements of foralls, from index p_from on, and rounds
-- of loops. Before that it does the rounds that need no processes, unless p_run is false.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing of its own
-- Called   by the triggers of process
create or replace function wf._enter_elements(p_instance bigint[], p_process bigint[], p_from int[], p_count int[],
                                              p_at timestamptz, p_run boolean default true) returns void
language plpgsql as $$
declare
    f record;
    v_left record; -- the elements and rounds that have to begin as processes
begin
    select array_agg(u.i) instances, array_agg(u.j) parents, array_agg(c.id) nodes, array_agg(k) indexes,
           bool_or(n.item is not null or n.item_index is not null or n.state is not null) named,
           bool_or(n.light) light,
           array_agg(case when n.item is null then '{}'
                       when wf._is_range(n.begins, n.input, n.input_fixed)
                       then jsonb_build_object(n.item, trunc((wf._source(n.begins, p.input) ->> 0)::numeric) + k)
                       else jsonb_build_object(n.item,
                                               (select t.items -> (k % 1000)
                                                  from wf.forall_item t
                                                 where t.instance_id = u.i and t.process_id = u.j
                                                   and t.chunk = k / 1000)) end
               || case when n.item_index is null then '{}' else jsonb_build_object(n.item_index, k) end
               || case when n.state is null then '{}'
                       else jsonb_build_object(n.state, coalesce(p.output, wf._start_state(
                                n.ends, case when n.input_fixed then n.input else p.input end))) end) items
      into f
      from unnest(p_instance, p_process, p_from, p_count) u (i, j, first, count)
     cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
     cross join lateral (select x.* from wf.node x where x.version_id = p.version_id and x.id = p.node_id offset 0) n
      join wf.node c on c.version_id = n.version_id and c.parent_id = n.id
     cross join lateral generate_series(u.first, u.first + u.count - 1) k;
    if f.light and p_run then
        select array_agg(r.i) instances, array_agg(r.j) processes, array_agg(r.first) firsts, array_agg(r.count) counts
          into v_left
          from (select u.i, u.j, u.count,
                       case when n.light then wf._run_rounds(u.i, u.j, p_at) else u.first end as first
                  from unnest(p_instance, p_process, p_from, p_count) u (i, j, first, count)
                 cross join lateral (select x.version_id, x.node_id from wf.process x
                                      where x.instance_id = u.i and x.id = u.j offset 0) p
                 cross join lateral (select x.light from wf.node x
                                      where x.version_id = p.version_id and x.id = p.node_id offset 0) n
                offset 0) r
         where r.first is not null;
        if v_left.instances is not null then
            perform wf._enter_elements(v_left.instances, v_left.processes, v_left.firsts, v_left.counts, p_at, false);
        end if;
        return;
    end if;
    perform wf._enter(f.instances, f.parents, f.nodes, f.indexes, case when f.named then f.items end, p_at);
end;
$$;

-- wf._begin_elements(p_instance, p_process, p_from, p_count, p_weight, p_at)
--
-- Begins the bodies of p_count elements of foralls, from index p_from on. If the elements
-- of one instance have more than about 1,000 processes, only the first elements begin at
-- once, and the rest is left to other transactions. p_weight is the number of processes of
-- all elements. The arrays run in parallel.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Called   by _enter_window, _refill and _enter_pending
create or replace function wf._begin_elements(p_instance bigint[], p_process bigint[], p_from int[], p_count int[],
                                              p_weight numeric, p_at timestamptz) returns void
language plpgsql as $$
declare
    c_most constant int := 1000;
    f record;
begin
    if coalesce(p_weight, 0) <= c_most then
        perform wf._enter_elements(p_instance, p_process, p_from, p_count, p_at);
        return;
    end if;
    with portion as materialized (
        select u.i, u.j, u.first + g as first, least(n.each, u.count - g) as count, u.k,
               -- how many processes of its instance begin before this portion
               sum(least(n.each, u.count - g) * n.most_live) over (partition by u.i order by u.k, g)
               - least(n.each, u.count - g) * n.most_live as before
          from unnest(p_instance, p_process, p_from, p_count) with ordinality u (i, j, first, count, k)
         cross join lateral (select x.version_id, x.node_id from wf.process x
                              where x.instance_id = u.i and x.id = u.j offset 0) p
         cross join lateral (select x.most_live, greatest(1, c_most / x.most_live)::int as each from wf.node x
                              where x.version_id = p.version_id and x.id = p.node_id offset 0) n
         cross join lateral generate_series(0, u.count - 1, n.each) g),
    rest as (
        insert into wf.pending (instance_id, parent_id, first, count, later)
        select p.i, p.j, p.first, p.count, true from portion p where p.before >= c_most order by p.k, p.first)
    select array_agg(p.i) filter (where p.before < c_most) as instances,
           array_agg(p.j) filter (where p.before < c_most) as processes,
           array_agg(p.first) filter (where p.before < c_most) as firsts,
           array_agg(p.count) filter (where p.before < c_most) as counts,
           array_agg(distinct p.i) filter (where p.before >= c_most) as later
      into f
      from portion p;
    perform wf._ask_to_begin(f.later, p_at);
    perform wf._enter_elements(f.instances, f.processes, f.firsts, f.counts, p_at);
end;
$$;

-- wf._enter_window(p_moves, p_at)
--
-- For foralls that have just been entered: stores their elements in chunks, if their
-- bodies read them, and begins the first elements. A forall that may have more processes
-- than its instance may have fails instead.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing of its own
-- Called   by the triggers of process
create or replace function wf._enter_window(p_moves wf.full_move[], p_at timestamptz) returns void
language plpgsql as $$
declare
    v_moves wf.full_move[] := wf._reserve(p_moves, p_at);
begin
    if v_moves is null then
        return;
    end if;
    insert into wf.forall_item (instance_id, process_id, chunk, items)
    select m.instance_id, m.id, (t.k - 1) / 1000, jsonb_agg(t.item order by t.k)
      from unnest(v_moves) m
     cross join lateral (select x.* from wf.node x where x.version_id = m.version_id and x.id = m.node_id offset 0) n
     cross join lateral jsonb_array_elements(case when n.item is not null
                                                  then wf._source(n.begins, case when n.input_fixed then n.input
                                                                                 else m.input end) end)
           with ordinality t (item, k)
     where n.item is not null and not wf._is_range(n.begins, n.input, n.input_fixed)
     group by m.instance_id, m.id, (t.k - 1) / 1000;
    perform wf._begin_elements(array_agg(m.instance_id), array_agg(m.id), array_agg(0), array_agg(m.open),
                               sum(p.held), p_at)
       from unnest(v_moves) m
      cross join lateral (select x.held from wf.process x
                           where x.instance_id = m.instance_id and x.id = m.id offset 0) p;
end;
$$;

-- wf._unfold(p_moves, p_steps, p_at)
--
-- Begins the children of composites that have just been entered. Composites in which
-- nothing begins end first. Therefore, if several branches of a race end without waiting,
-- the one with the fewest steps wins.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Called   by the triggers of process; p_steps are the steps of all moves
create or replace function wf._unfold(p_moves wf.full_move[], p_steps bigint, p_at timestamptz) returns void
language plpgsql as $$
begin
    if p_steps & wf._step('empty') > 0 then perform wf._end_empty(p_moves, p_at); end if;
    if p_steps & wf._step('block') > 0 then perform wf._enter_children(p_moves, p_at); end if;
    if p_steps & wf._step('fan') > 0 then perform wf._enter_window(p_moves, p_at); end if;
end;
$$;

-- wf._refill(p_moves, p_at)
--
-- Begins the next elements of foralls, the finallys of trys, and undos. Deeper than
-- wf._deepest() it only puts them into wf.pending, see the head of machine.sql. If a whole
-- window has ended within the statement that the caller made, nothing in it waits. The
-- next window is then left to another transaction, so that each transaction comes to an
-- end.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Called   by the update trigger of process
create or replace function wf._refill(p_moves wf.full_move[], p_at timestamptz) returns void
language plpgsql as $$
declare
    c_window constant int := 1000;
    v_last bigint;
    v_whole boolean;
    f record;
begin
    select array_agg(m.instance_id) filter (where m.total is not null) instances,
           array_agg(m.id) filter (where m.total is not null) processes,
           array_agg(m.total - m.todo - m.fill) filter (where m.total is not null) firsts,
           array_agg(m.fill) filter (where m.total is not null) counts, sum(m.fill * n.most_live) weight,
           bool_or(m.total is null) finallys
      into f
      from wf._due_full(p_moves, 'refill') m
     cross join lateral (select x.most_live from wf.node x
                          where x.version_id = m.version_id and x.id = m.node_id offset 0) n;
    if f.finallys then
        perform wf._begin_finallys(p_moves, p_at);
    end if;
    if exists (select from wf._due_full(p_moves, 'undo')) then
        perform wf._begin_undos(p_moves, p_at);
    end if;
    if f.instances is null then
        return;
    end if;
    v_whole := pg_trigger_depth() between 3 and wf._deepest() and c_window <= any (f.counts);
    if pg_trigger_depth() <= wf._deepest() and not v_whole then
        perform wf._begin_elements(f.instances, f.processes, f.firsts, f.counts, f.weight, p_at);
        return;
    end if;
    select nextval('wf.pending_id_seq') into v_last;
    insert into wf.pending (instance_id, parent_id, first, count)
    select u.i, u.j, u.first, u.count from unnest(f.instances, f.processes, f.firsts, f.counts) u (i, j, first, count);
    if v_whole then
        perform wf._leave_pending(v_last, p_at);
    end if;
end;
$$;
