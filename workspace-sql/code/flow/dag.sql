-- dag: a step begins as soon as its predecessors have ended.
--
-- wf.edge says for each step which others it comes after. While a dag is under way
-- wf.dag_step has a row for each of its steps that has not ended. A step that has not
-- begun awaits one of the steps before it: the last one that has not ended. When that one
-- ends, the step awaits the next one, going backwards, that has not ended; if there is
-- none, it begins. So each edge is looked at once in the life of a dag, however many steps
-- the dag has. The row of a step also says what the step waits for.

-- wf._last_before(p_version, p_node)
--
-- Returns  the last predecessor of a step; null if the step has no predecessors
-- Called   where a dag is entered
create or replace function wf._last_before(p_version bigint, p_node int) returns int
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select max(e.after_id) from wf.edge e where e.version_id = p_version and e.node_id = p_node;
end;

-- wf._count_free(p_node)
--
-- Returns  how many steps of a dag come after no other
-- Called   by _measure
create or replace function wf._count_free(p_node wf.node) returns int
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select count(*)::int
      from wf.node c
     where c.version_id = (p_node).version_id and c.parent_id = (p_node).id
       and wf._last_before(c.version_id, c.id) is null;
end;

-- wf._open_dags(p_moves)
--
-- Lists the steps of dags that have just been entered.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Called   by _enter_children, before any of the steps begins
create or replace function wf._open_dags(p_moves wf.full_move[]) returns void
language plpgsql as $$
begin
    insert into wf.dag_step (instance_id, process_id, node_id, awaits)
    select m.instance_id, m.id, c.id, wf._last_before(m.version_id, c.id)
      from wf._due_full(p_moves, 'block') m
     cross join lateral (select x.begins
                           from wf.node x
                          where x.version_id = m.version_id and x.id = m.node_id
                         offset 0) n
     cross join lateral (select x.id
                           from wf.node x
                          where x.version_id = m.version_id and x.parent_id = m.node_id
                         offset 0) c
     where n.begins = 'free';
end;
$$;

-- wf._free_steps(p_moves)
--
-- Deletes the rows of ended steps of dags, and finds the steps that can begin now.
--
-- Returns  the steps that begin, as moves from which the step next follows; null if no
--          step begins
-- Locks    nothing beyond the rows it updates
-- Called   by _count_ended
create or replace function wf._free_steps(p_moves wf.full_move[]) returns wf.move[]
language plpgsql as $$
declare
    v_freed wf.move[];
begin
    delete from wf.dag_step s
     where s.ctid = any (array(select k.ctid
                                 from wf._due_full(p_moves, 'free') m
                                cross join lateral (select x.ctid
                                                      from wf.dag_step x
                                                     where x.instance_id = m.instance_id and x.process_id = m.parent_id
                                                       and x.node_id = m.node_id
                                                    offset 0) k));
    with moved as (
        update wf.dag_step s set awaits = a.after_id
          from wf._due_full(p_moves, 'free') m
         cross join lateral (select x.ctid, x.node_id
                               from wf.dag_step x
                              where x.instance_id = m.instance_id and x.process_id = m.parent_id
                                and x.awaits = m.node_id
                             offset 0) k
          left join lateral (select e.after_id
                               from wf.edge e
                              cross join lateral (select from wf.dag_step x
                                                   where x.instance_id = m.instance_id and x.process_id = m.parent_id
                                                     and x.node_id = e.after_id
                                                  offset 0) y
                              where e.version_id = m.version_id and e.node_id = k.node_id and e.after_id < m.node_id
                              order by e.after_id desc
                              limit 1) a on true
         where s.ctid = k.ctid
        returning s.instance_id, s.process_id, s.node_id, s.awaits)
    select array_agg(row(d.instance_id, null, d.process_id, d.node_id, null, null, null, wf._step('next'))::wf.move
                     order by d.instance_id, d.process_id, d.node_id)
      into v_freed
      from moved d
     where d.awaits is null;
    return v_freed;
end;
$$;

-- wf._enter_freed(p_moves, p_at, p_torn)
--
-- Begins steps of dags that wait for no other step any more, at most 1,000 in one call of
-- a procedure. The rest is left to other transactions (p_torn: see _enter).
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Called   by _count_ended
create or replace function wf._enter_freed(p_moves wf.move[], p_at timestamptz, p_torn boolean) returns void
language plpgsql as $$
declare
    v_left constant int := greatest(wf._left_in_call('wf.freed', 0), 0);
begin
    if cardinality(p_moves) > v_left then
        insert into wf.pending (instance_id, parent_id, node_id, first, count, later)
        select m.instance_id, m.parent_id, m.next_id, 0, 1, true from unnest(p_moves[v_left + 1:]) m;
        perform wf._ask_to_begin(array_agg(distinct m.instance_id), p_at) from unnest(p_moves[v_left + 1:]) m;
        p_moves := p_moves[:v_left];
    end if;
    if cardinality(p_moves) > 0 then
        perform wf._left_in_call('wf.freed', cardinality(p_moves));
        perform wf._enter_next(p_moves, p_at, p_torn);
    end if;
end;
$$;

-- wf._close_dags(p_instance, p_process)
--
-- Forgets the steps of dags that are torn down: none of them begins any more.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it deletes
-- Called   by _mark_torn
create or replace function wf._close_dags(p_instance bigint[], p_process bigint[]) returns void
language plpgsql as $$
begin
    delete from wf.dag_step s
     where s.ctid = any (array(select k.ctid
                                 from unnest(p_instance, p_process) u (i, j)
                                cross join lateral (select x.ctid
                                                      from wf.dag_step x
                                                     where x.instance_id = u.i and x.process_id = u.j
                                                    offset 0) k));
end;
$$;
