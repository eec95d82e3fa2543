-- finally: steps that run when a try ends, however it ends. process.todo of such a try is
-- 1 until its finally begins. The finally begins when the body, or a catch, has ended well
-- or has returned; below a teardown, when everything in the try has stopped. Only finallys
-- and undos begin below a teardown. A teardown around a finally does not reach into it,
-- unless the instance is halted. When the finally has ended, the try ends as it would have
-- ended without it.
--
-- An error that leaves a finally replaces the error that is on its way out of the try.

-- wf._way_out(p_instance, p_try)
--
-- Returns  the error that is on its way out of a try; null if there is none
-- Called   by _begin_finallys and _caught
create or replace function wf._way_out(p_instance bigint, p_try bigint) returns jsonb
language plpgsql stable as $$
begin
    return (select '{"detail": null, "process": null, "attempt": null, "cause": null}'
                   || case when d.error is null
                           then wf._refuse('aborted',
                                           case d.follows when 'lost' then 'another branch of the race has won'
                                                          else 'the instance is aborted' end)
                           when d.follows = 'failed' then d.error || jsonb_build_object('process', d.process_id)
                           else d.error end
              from wf.process p
             cross join lateral wf._torn(array[p.instance_id], array[p.id]) t
              join wf.teardown d on d.instance_id = t.instance_id and d.process_id = t.root_id
             where p.instance_id = p_instance and p.id = p_try and p.state = 'ABORTING');
end;
$$;

-- wf._begin_finallys(p_moves, p_at)
--
-- Begins the finallys of trys that are about to end, and binds the names of their
-- errors. Deeper than wf._deepest() it only puts them into wf.pending, see the head of
-- machine.sql.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Called   by _refill
create or replace function wf._begin_finallys(p_moves wf.full_move[], p_at timestamptz) returns void
language plpgsql as $$
declare
    f record;
begin
    with ending as materialized (
        select m.instance_id, m.id, n.finally_id, m.scopes[cardinality(m.scopes)] as scope_id, x.item, m.state
          from wf._due_full(p_moves, 'refill') m
         cross join lateral (select y.finally_id from wf.node y
                              where y.version_id = m.version_id and y.id = m.node_id offset 0) n
         cross join lateral (select y.item from wf.node y
                              where y.version_id = m.version_id and y.id = n.finally_id offset 0) x
         where m.total is null),
    bound as (
        insert into wf.binding (instance_id, scope_id, name, value)
        select e.instance_id, e.scope_id, e.item, coalesce(wf._way_out(e.instance_id, e.id), 'null')
          from ending e
         where e.item is not null
            on conflict (instance_id, scope_id, name) do update set value = excluded.value)
    select array_agg(e.instance_id) as instances, array_agg(e.id) as trys, array_agg(e.finally_id) as nodes into f
      from ending e;
    if pg_trigger_depth() > wf._deepest() then
        insert into wf.pending (instance_id, parent_id, node_id, first, count)
        select u.i, u.j, u.node, 0, 1 from unnest(f.instances, f.trys, f.nodes) u (i, j, node);
        return;
    end if;
    perform wf._enter(f.instances, f.trys, f.nodes, null, null, p_at);
end;
$$;

-- wf._leave_finallys(p_process, p_body, p_error, p_at)
--
-- An error leaves the finallys and undos between a process and p_body, whose handler takes
-- it (null: all around the process). Begins to tear down what else runs in them.
--
-- Returns  these finallys and undos; the caller tears down the first portions
-- Locks    nothing: the caller holds the instance
-- Called   by _hand_over and _end_by
create or replace function wf._leave_finallys(p_process wf.process, p_body bigint, p_error jsonb, p_at timestamptz)
returns bigint[]
language plpgsql as $$
declare
    v_finally bigint[];
begin
    with recursive up (id, parent_id, kind) as (
        select p_process.id, p_process.parent_id, p_process.kind
         union all
        select x.id, x.parent_id, x.kind
          from up u
         cross join lateral (select y.* from wf.process y
                              where y.instance_id = p_process.instance_id and y.id = u.parent_id offset 0) x
         where u.id is distinct from p_body)
    select coalesce(array_agg(u.id), '{}') into v_finally from up u where wf._is_shelter(u.kind);
    if v_finally <> '{}' then
        perform wf._tear_down(array_fill(p_process.instance_id, array[cardinality(v_finally)]), v_finally, 'stopped',
                              null, p_error, p_at, false);
    end if;
    return v_finally;
end;
$$;
