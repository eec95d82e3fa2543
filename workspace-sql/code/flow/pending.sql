-- Processes that have yet to begin: a trigger further up begins them. If this transaction
-- has begun enough, later ones do.

-- wf._enter_pending(p_at)
--
-- Begins the pending nodes, and those that become pending meanwhile, until none is left or
-- about 1,000 processes have begun. The rest is left to other transactions, as work of kind
-- begin. Nodes that pass without waiting (a let, an if without else, an element in which
-- nothing happens) would otherwise nest triggers in triggers until the stack is full, and
-- a long list of them would never end.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Called   by the triggers of process, at a certain depth, and by _begin_pending
create or replace function wf._enter_pending(p_at timestamptz) returns void
language plpgsql as $$
declare
    c_most constant int := 1000;
    f record;
    v_last bigint := 0;
    v_begun int := 0;
begin
    loop
        if v_begun >= c_most then
            perform wf._leave_pending(v_last, p_at);
            return;
        end if;
        -- by key, behind the last row seen: deleted rows stay in the way until the transaction ends
        with next as (
            delete from wf.pending q where q.id > v_last and not q.later returning q.*)
        select max(n.id) as last,
               array_agg(n.instance_id order by n.id) filter (where n.node_id is not null) as instances,
               array_agg(n.parent_id order by n.id) filter (where n.node_id is not null) as parents,
               array_agg(n.node_id order by n.id) filter (where n.node_id is not null) as nodes,
               array_agg(n.sees_id order by n.id) filter (where n.node_id is not null) as sees,
               array_agg(n.instance_id order by n.id) filter (where n.node_id is null) as fan_instances,
               array_agg(n.parent_id order by n.id) filter (where n.node_id is null) as fans,
               array_agg(n.first order by n.id) filter (where n.node_id is null) as firsts,
               array_agg(n.count order by n.id) filter (where n.node_id is null) as counts,
               -- an undo has at least three processes
               sum(n.count * coalesce(w.most_live, case when n.sees_id is not null then 3 else 1 end)) as begun,
               sum(n.count * w.most_live) filter (where n.node_id is null) as weight
          into f
          from next n
          left join lateral (select y.most_live
                               from wf.process x
                               join wf.node y on y.version_id = x.version_id and y.id = x.node_id
                              where n.node_id is null and x.instance_id = n.instance_id and x.id = n.parent_id
                             offset 0) w on true;
        exit when f.last is null;
        v_last := f.last;
        v_begun := v_begun + f.begun;
        if f.nodes is not null then
            perform wf._enter(f.instances, f.parents, f.nodes, null, null, p_at, p_sees => f.sees);
        end if;
        if f.fans is not null then
            perform wf._begin_elements(f.fan_instances, f.fans, f.firsts, f.counts, f.weight, p_at);
        end if;
    end loop;
end;
$$;

-- wf._leave_pending(p_last, p_at)
--
-- Leaves the pending rows after number p_last to other transactions.
--
-- Returns  nothing
-- Locks    nothing beyond the rows of this transaction
-- Called   by _enter_pending and _refill
create or replace function wf._leave_pending(p_last bigint, p_at timestamptz) returns void
language plpgsql as $$
begin
    with rest as (
        update wf.pending q set later = true where q.id > p_last and not q.later returning q.instance_id)
    insert into wf.work (kind, instance_id, item_id, due_at)
    select distinct 'begin', r.instance_id, 0, p_at from rest r;
    perform wf._ring();
end;
$$;

-- wf._ask_to_begin(p_instance, p_at)
--
-- Asks for transactions that begin the pending nodes of these instances. Two rows of work
-- for an instance are enough: one of them may be the work that this transaction is doing.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Called   wherever nodes are left to other transactions
create or replace function wf._ask_to_begin(p_instance bigint[], p_at timestamptz) returns void
language plpgsql as $$
begin
    insert into wf.work (kind, instance_id, item_id, due_at)
    select 'begin', u.i, 0, p_at
      from unnest(p_instance) u (i)
     where (select count(*) < 2 from wf.work w where w.instance_id = u.i and w.kind = 'begin');
    if found then
        perform wf._ring();
    end if;
end;
$$;

-- wf._begin_pending(p_instance, p_at)
--
-- Begins some of the nodes that other transactions have left pending in an instance. The
-- caller holds the instance.
--
-- Returns  nothing
-- Locks    rows of pending
-- Called   by _do_work, and by the simulator
create or replace function wf._begin_pending(p_instance bigint, p_at timestamptz) returns void
language plpgsql as $$
declare
    c_most constant int := 1000;
    v_begun int;
begin
    update wf.pending q set later = false
     where q.id = any (array(select y.id
                               from (select x.id, sum(x.count * coalesce(n.most_live, 1)) over (order by x.id)
                                                  - x.count * coalesce(n.most_live, 1) as before
                                       from (select z.* from wf.pending z
                                              where z.instance_id = p_instance and z.later
                                              order by z.id limit c_most) x
                                       left join lateral (select m.most_live
                                                            from wf.process p
                                                            join wf.node m on m.version_id = p.version_id
                                                                          and m.id = p.node_id
                                                           where x.node_id is null and p.instance_id = p_instance
                                                             and p.id = x.parent_id
                                                          offset 0) n on true) y
                              where y.before < c_most));
    get diagnostics v_begun = row_count;
    perform set_config('wf.rounds', '', true), set_config('wf.freed', '', true);
    perform wf._left_in_call('wf.freed', v_begun);
    perform wf._enter_pending(p_at);
    if exists (select from wf.pending q where q.instance_id = p_instance and q.later) then
        perform wf._ask_to_begin(array[p_instance], p_at);
    end if;
end;
$$;

-- wf._left_in_call(p_counter, p_done)
--
-- Counts things that one call of a procedure does at most 1,000 times: rounds of loops
-- that need no processes (wf.rounds), or steps of dags that begin when others have ended
-- (wf.freed).
--
-- Returns  how many are left, after p_done more were done
-- Locks    nothing
-- Raises   nothing
-- Called   by _run_rounds, _enter_freed and _begin_pending
create or replace function wf._left_in_call(p_counter text, p_done int) returns int
language plpgsql as $$
declare
    c_most constant int := 1000;
    v_call constant text := extract(epoch from statement_timestamp())::text;
    v_spent text[] := string_to_array(current_setting(p_counter, true), ' ');
    v_done int := p_done + case when v_spent[1] = v_call then v_spent[2]::int else 0 end;
begin
    if p_done > 0 then
        perform set_config(p_counter, v_call || ' ' || v_done, true);
    end if;
    return c_most - v_done;
end;
$$;
