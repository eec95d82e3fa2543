-- undo: a process that has ended well is undone when it is given up.
--
-- A task, atomic, block or call with a policy undo that ends well is noted in
-- wf.undo_note. If a teardown is to undo (wf.teardown.undo), the torn down process makes
-- the move undo when everything in it has stopped, finallys included. A process of kind
-- undo below it then undoes the process that was noted last. When the undo has ended, the
-- torn down process makes the move again, until nothing is left to undo. Then it ends as
-- it would have ended. As with a finally, the teardowns around an undo do not reach into
-- it.
--
-- A note counts no more if a process around it has a note with a greater number. When a
-- block is noted, its own undo stands for everything in it. A block that begins its next
-- round, and an undo that has ended, get a note without an undo, if there are more notes
-- in them than one transaction deletes. So it does not matter when the notes that count no
-- more are deleted.
--
-- The numbers of processes do not say which process is inside which: each session has a
-- stock of numbers of its own.

-- wf._path(p_instance, p_process)
--
-- Returns  the processes around a process, the root first, the process itself last;
--          null if the process does not exist
-- Locks    nothing
-- Raises   nothing
-- Called   by _note_undo, _expire, wf.tree and fsck
create or replace function wf._path(p_instance bigint, p_process bigint) returns bigint[]
language sql stable set search_path = pg_catalog, pg_temp as $$
    with recursive up as (
        select p.id, p.parent_id, 1 as height from wf.process p where p.instance_id = p_instance and p.id = p_process
         union all
        select p.id, p.parent_id, u.height + 1
          from up u
         cross join lateral (select x.*
                               from wf.process x
                              where x.instance_id = p_instance and x.id = u.parent_id
                             offset 0) p
    )
    select array_agg(u.id order by u.height desc) from up u;
$$;

-- wf._note_undo(p_instance, p_process)
--
-- Notes processes that have ended well and have an undo (p_undo), or that the notes inside
-- processes count no more (not p_undo). The arrays run in parallel.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it writes
-- Called   by _note_ended and _forget_notes
create or replace function wf._note_undo(p_instance bigint[], p_process bigint[], p_undo boolean) returns void
language plpgsql as $$
begin
    insert into wf.undo_note (instance_id, process_id, node_id, sees_id, path)
    select u.i, u.j, case when p_undo then n.undo_id end,
           -- the undo of a call or task sees the names around that, and has the priority from there
           case when n.scope = 'own' or n.scope = 'none' and n.type_id is not null then p.parent_id else u.j end,
           coalesce(wf._path(u.i, p.parent_id), '{}')
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.parent_id, x.version_id, x.node_id from wf.process x
                          where x.instance_id = u.i and x.id = u.j offset 0) p
     cross join lateral (select x.undo_id, x.scope, x.type_id from wf.node x
                          where x.version_id = p.version_id and x.id = p.node_id offset 0) n
     order by u.i, u.j
        on conflict (instance_id, process_id) do update set id = excluded.id, node_id = excluded.node_id;
end;
$$;

-- wf._note_ended(p_moves, p_at)
--
-- Notes processes that have ended well and can be undone. Older notes inside these
-- processes, in an ended undo or in an ended instance count no more.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it writes
-- Called   by the update trigger of process
create or replace function wf._note_ended(p_moves wf.move[], p_at timestamptz) returns void
language plpgsql as $$
declare
    f record;
begin
    select array_agg(m.instance_id order by m.instance_id, m.id) filter (where n.undo_id is null or p.noted_inside)
           as instances,
           array_agg(m.id order by m.instance_id, m.id) filter (where n.undo_id is null or p.noted_inside) as processes,
           array_agg(m.instance_id order by m.instance_id, m.id) filter (where p.ended) as noted_instances,
           array_agg(m.id order by m.instance_id, m.id) filter (where p.ended) as noted
      into f
      from wf._due(p_moves, 'note') m
     cross join lateral (select x.version_id, x.node_id, x.state = 'END' and x.machine = 'composite' as noted_inside,
                                x.state = 'END' and x.event <> 'cascade' and x.kind <> 'undo'
                                and x.parent_id is not null as ended
                           from wf.process x where x.instance_id = m.instance_id and x.id = m.id offset 0) p
     cross join lateral (select x.undo_id from wf.node x
                          where x.version_id = p.version_id and x.id = p.node_id offset 0) n;
    perform wf._forget_notes(u.i, u.j, p_at) from unnest(f.instances, f.processes) u (i, j);
    if f.noted is not null then
        perform wf._note_undo(f.noted_instances, f.noted, true);
    end if;
end;
$$;

-- wf._forget_notes(p_instance, p_process, p_at)
--
-- The notes inside a process count no more. At most 1,000 of them are deleted here; if
-- there are more, other transactions delete them.
--
-- Returns  nothing
-- Locks    the rows that it deletes; the caller holds the instance
-- Called   by _note_ended, _wait_for_round and _reenter
create or replace function wf._forget_notes(p_instance bigint, p_process bigint, p_at timestamptz) returns void
language plpgsql as $$
begin
    if wf._delete_notes(p_instance, p_process) then
        perform wf._note_undo(array[p_instance], array[p_process], false);
        insert into wf.work (kind, instance_id, item_id, due_at) values ('notes', p_instance, p_process, p_at);
        perform wf._ring();
    end if;
end;
$$;

-- wf._delete_notes(p_instance, p_process)
--
-- Deletes at most 1,000 notes inside a process; if the process is noted itself, only those
-- from before that note.
--
-- Returns  whether there may be more
-- Locks    the rows that it deletes; the caller holds the instance
-- Called   by _forget_notes and _clear_notes
create or replace function wf._delete_notes(p_instance bigint, p_process bigint) returns boolean
language plpgsql as $$
declare
    c_most constant int := 1000;
    v_before constant bigint := (select t.id from wf.undo_note t
                                  where t.instance_id = p_instance and t.process_id = p_process);
    v_deleted int;
begin
    delete from wf.undo_note t
     where t.ctid = any (array(select x.ctid from wf.undo_note x
                                where x.instance_id = p_instance and p_process = any (x.path)
                                  and (v_before is null or x.id < v_before)
                                limit c_most));
    get diagnostics v_deleted = row_count;
    return v_deleted = c_most;
end;
$$;

-- wf._clear_notes(p_instance, p_process, p_at)
--
-- Deletes some of the notes that count no more, since a process around them was noted.
--
-- Returns  nothing
-- Locks    the rows that it deletes; the caller holds the instance
-- Called   by _do_work
create or replace function wf._clear_notes(p_instance bigint, p_process bigint, p_at timestamptz) returns void
language plpgsql as $$
begin
    if not exists (select from wf.undo_note t where t.instance_id = p_instance and t.process_id = p_process) then
        return;
    end if;
    if wf._delete_notes(p_instance, p_process) then
        insert into wf.work (kind, instance_id, item_id, due_at) values ('notes', p_instance, p_process, p_at);
        perform wf._ring();
    else
        delete from wf.undo_note t
         where t.instance_id = p_instance and t.process_id = p_process and t.node_id is null;
    end if;
end;
$$;

-- wf._winner(p_instance, p_process)
--
-- Returns  the branch of a race that has won; null if the process is no race, or has not been won
-- Locks    nothing
-- Raises   nothing
-- Called   by _next_note, and where explain counts what is to be undone
create or replace function wf._winner(p_instance bigint, p_process bigint) returns bigint
language plpgsql stable as $$
begin
    return (select c.id
              from wf.teardown t
              join wf.process p on p.instance_id = t.instance_id and p.id = t.process_id
              join wf.process c on c.instance_id = p.instance_id and c.parent_id = p.id and c.state = 'END'
              join wf.node n on n.version_id = c.version_id and n.id = c.node_id and n.ordinal = p.chosen
             where t.instance_id = p_instance and t.process_id = p_process and t.follows = 'lost'
             limit 1);
end;
$$;

-- wf._to_undo(p_instance, p_process, p_winner)
--
-- Returns  the notes of what is to be undone in a process: all but those that count no more, because a note around
--          them has a greater number, and those in the branch of a race that has won (p_winner)
-- Locks    nothing
-- Raises   nothing
-- Called   by _move, and where explain counts them; PostgreSQL folds it into the query
create or replace function wf._to_undo(p_instance bigint, p_process bigint, p_winner bigint)
returns setof wf.undo_note
language sql stable
begin atomic
    select x.*
      from wf.undo_note x
     where x.instance_id = p_instance and p_process = any (x.path) and x.node_id is not null
       and (p_winner is null or x.process_id <> p_winner and p_winner <> all (x.path))
       and not exists (select from wf.undo_note y
                        where y.instance_id = x.instance_id and y.process_id = any (x.path) and y.id > x.id);
end;

-- wf._next_note(p_instance, p_process)
--
-- Finds the last note in a process that is torn down. Reads the notes of the instance
-- backwards, since it is near their end.
--
-- Returns  the process that was noted; null if nothing is left to undo
-- Locks    nothing
-- Raises   nothing
-- Called   by _when_stopped and _begin_undos
create or replace function wf._next_note(p_instance bigint, p_process bigint) returns bigint
language plpgsql stable as $$
declare
    v_winner bigint;
begin
    if not exists (select from wf.undo_note x where x.instance_id = p_instance) then
        return null;
    end if;
    v_winner := wf._winner(p_instance, p_process);
    return (select x.process_id
              from (select y.* from wf.undo_note y where y.instance_id = p_instance order by y.id desc offset 0) x
             where p_process = any (x.path) and x.node_id is not null
               and (v_winner is null or x.process_id <> v_winner and v_winner <> all (x.path))
               and not exists (select from wf.undo_note y
                                where y.instance_id = x.instance_id and y.process_id = any (x.path) and y.id > x.id)
             limit 1);
end;
$$;

-- wf._begin_undos(p_moves, p_at)
--
-- Undoes the process that was noted last in each torn down process. Deeper than
-- wf._deepest() it only puts the undos into wf.pending, see the head of machine.sql.
--
-- Returns  nothing
-- Locks    nothing beyond the rows of undo_note
-- Called   by _refill
create or replace function wf._begin_undos(p_moves wf.full_move[], p_at timestamptz) returns void
language plpgsql as $$
declare
    f record;
begin
    with next as materialized (
        select m.instance_id, m.id, wf._next_note(m.instance_id, m.id) as noted
          from wf._due_full(p_moves, 'undo') m
         where m.open > 0), -- else an operator hands its error on, and it is not known yet whether it is undone
    note as materialized (
        select n.instance_id, n.id, n.noted, x.node_id, x.sees_id,
               exists (select from wf.undo_note y
                        where y.instance_id = n.instance_id and n.noted = any (y.path)) as covers
          from next n
         cross join lateral (select y.node_id, y.sees_id from wf.undo_note y
                              where y.instance_id = n.instance_id and y.process_id = n.noted offset 0) x),
    undone as (
        delete from wf.undo_note t using note n
         where t.instance_id = n.instance_id and t.process_id = n.noted and not n.covers),
    kept as ( -- until those inside are deleted
        update wf.undo_note t set node_id = null from note n
         where t.instance_id = n.instance_id and t.process_id = n.noted and n.covers)
    select array_agg(n.instance_id order by n.instance_id, n.id) as instances,
           array_agg(n.id order by n.instance_id, n.id) as parents,
           array_agg(n.node_id order by n.instance_id, n.id) as nodes,
           array_agg(n.sees_id order by n.instance_id, n.id) as sees
      into f
      from note n;
    if f.instances is null then
        return;
    end if;
    if pg_trigger_depth() > wf._deepest() then
        insert into wf.pending (instance_id, parent_id, node_id, first, count, sees_id)
        select u.i, u.j, u.node, 0, 1, u.sees from unnest(f.instances, f.parents, f.nodes, f.sees) u (i, j, node, sees);
        return;
    end if;
    perform wf._enter(f.instances, f.parents, f.nodes, null, null, p_at, p_sees => f.sees);
end;
$$;

-- wf._undo_failed(p_instance, p_process, p_at)
--
-- Has composites that failed themselves and are torn down make the move undo, if something
-- noted in them is to be undone. The arrays run in parallel.
--
-- Returns  whether any did
-- Locks    nothing beyond the rows it updates
-- Called   by _tear and _hand_over
create or replace function wf._undo_failed(p_instance bigint[], p_process bigint[], p_at timestamptz) returns boolean
language plpgsql as $$
begin
    if not exists (select from wf.undo_note t where t.instance_id = any (p_instance)) then
        return false;
    end if;
    update wf.process p set was = p.state, event = 'undo', state = 'ABORTING', open = 1, at = p_at
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.ctid from wf.process x
                          where x.instance_id = u.i and x.id = u.j and x.machine = 'composite'
                            and x.state in ('FAILED', 'ABORTING') and x.open = 0
                            and wf._when_stopped(u.i, u.j) = 'undo' offset 0) k
     where p.ctid = k.ctid;
    return found;
end;
$$;

-- wf._out_of_undo(p_instance, p_process)
--
-- Returns  the torn down process for which an undo runs, if p_process is in the undo and no handler in the undo is
--          around it; else p_process
-- Locks    nothing
-- Raises   nothing
-- Called   by _warn
create or replace function wf._out_of_undo(p_instance bigint, p_process bigint) returns bigint
language plpgsql stable as $$
begin
    return coalesce((
        with recursive up (id, parent_id, kind, handled) as (
            select p.id, p.parent_id, p.kind, n.handler_id is not null
              from wf.process p
              join wf.node n on n.version_id = p.version_id and n.id = p.node_id
             where p.instance_id = p_instance and p.id = p_process
             union all
            select p.id, p.parent_id, p.kind, false
              from up u
             cross join lateral (select x.id, x.parent_id, x.kind from wf.process x
                                  where x.instance_id = p_instance and x.id = u.parent_id offset 0) p
             where not u.handled and u.kind <> 'undo')
        select max(u.parent_id) filter (where u.kind = 'undo') from up u), p_process);
end;
$$;
