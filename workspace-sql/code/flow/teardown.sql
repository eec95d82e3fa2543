-- Teardown: a process ends for good, with everything in it. Waiting tasks are taken out of
-- the queue, drivers are told to stop, and asynchronous tasks are released. This is done in
-- portions of about 1,000 processes. The caller that begins the teardown does the first
-- portion; the others are work of kind teardown. After that each process that stops is
-- counted in its parent. When the last one has stopped, the teardown's row says what
-- follows.
--
-- Every process that is alive, except composites under way, is in a place: ready, parked,
-- lease, timer or failed. A portion looks there, in the order of the processes' numbers,
-- and never at ended processes. A teardown that begins in the middle of moves may miss a
-- process that is just on its way from one place to another. A second pass then follows in
-- a transaction of its own.
-- Meanwhile nothing is born below a teardown (_withhold): a node that would begin counts as
-- ended instead.
--
-- The teardowns around a finally do not reach into it (finally.sql). The steps in it begin,
-- are handed out and end like any others, while the processes around its try wait for it.
-- Only the teardown of a halt ('halted') reaches into it. The same holds for an undo
-- (undo.sql): noted processes are undone when everything that is torn down has stopped.

-- wf._follows()
--
-- What follows when a process that was torn down has ended: the values of
-- wf.teardown.follows.
--
-- Returns  a row for each: why a failed process hands its error on, and why the
--          process is torn down; %1$s stands for the line of the node, %2$s for the
--          error
-- Called   by _hand_over and _explain_teardown
create or replace function wf._follows() returns table (follows text, reason text, why text)
language sql immutable set search_path = pg_catalog, pg_temp as $$
    values ('aborted', null, 'its instance is aborted'),
           ('halted', null, 'its instance is halted'),
           ('stopped', null, 'an error of %2$s has left it'),
           ('handled', 'caught in line %1$s', 'the catch in line %1$s has taken an error of %2$s'),
           ('counted', 'given up by the forall in line %1$s', 'the forall in line %1$s gives up an error of %2$s'),
           ('again', 'tried again by the retry in line %1$s', 'the retry in line %1$s has taken an error of %2$s'),
           ('left', 'left the race in line %1$s', 'an error of %2$s has made it leave the race in line %1$s'),
           ('lost', null, 'a branch of the race has won'),
           ('failed', null, 'its deadline is over');
$$;

-- wf._alive(p_instance, p_after)
--
-- Returns  the first 1,000 processes of an instance after number p_after that are in a place
-- Called   by _tear and _alive_below
create or replace function wf._alive(p_instance bigint, p_after bigint) returns setof bigint
language sql stable rows 1000 set search_path = pg_catalog, pg_temp
begin atomic
    select distinct x.id
      from (select * from (select y.process_id as id from wf.ready y
                            where y.instance_id = p_instance and y.process_id > p_after order by 1 limit 1000) a
             union all
            select * from (select y.process_id from wf.parked y
                            where y.instance_id = p_instance and y.process_id > p_after order by 1 limit 1000) b
             union all
            select * from (select y.process_id from wf.lease y
                            where y.instance_id = p_instance and y.process_id > p_after order by 1 limit 1000) c
             union all
            select * from (select y.process_id from wf.timer y
                            where y.instance_id = p_instance and y.process_id > p_after order by 1 limit 1000) d
             union all
            select * from (select y.process_id from wf.failed y
                            where y.instance_id = p_instance and y.process_id > p_after order by 1 limit 1000) e) x
     order by x.id
     limit 1000;
end;

-- wf._is_halted(p_instance)
--
-- Returns  whether an instance is halted; no finally runs in a halted instance
-- Called   where teardowns come to a finally
create or replace function wf._is_halted(p_instance bigint) returns boolean
language sql stable
begin atomic
    select exists (select from wf.teardown t where t.instance_id = p_instance and t.follows = 'halted');
end;

-- wf._is_shelter(p_kind)
--
-- Returns  whether teardowns do not reach into a process of this kind
-- Called   where teardowns climb or go down a tree
create or replace function wf._is_shelter(p_kind text) returns boolean
language sql immutable
begin atomic
    select p_kind in ('finally', 'undo');
end;

-- wf._torn(p_instance, p_process)
--
-- Climbs from each process to the first one that is torn down, but not out of a
-- finally or undo. The arrays run in parallel.
--
-- Returns  for each process that is torn down, or is below one that is: that one (root_id), and the processes from it
--          down to this one (path)
-- Called   wherever something is not to happen below a teardown, if there is any teardown
create or replace function wf._torn(p_instance bigint[], p_process bigint[])
returns table (instance_id bigint, process_id bigint, root_id bigint, path bigint[])
language sql stable rows 10 set search_path = pg_catalog, pg_temp
begin atomic
    with recursive up (i, leaf, id, parent_id, torn, last) as (
        select u.i, u.j, p.id, p.parent_id, p.torn, p.torn or wf._is_shelter(p.kind) and not wf._is_halted(u.i)
          from unnest(p_instance, p_process) u (i, j)
         cross join lateral (select x.id, x.parent_id, x.kind,
                                    exists (select from wf.teardown t
                                             where t.instance_id = u.i and t.process_id = x.id) as torn
                               from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
         union all
        select u.i, u.leaf, p.id, p.parent_id, p.torn, p.torn or wf._is_shelter(p.kind) and not wf._is_halted(u.i)
          from up u
         cross join lateral (select x.id, x.parent_id, x.kind,
                                    exists (select from wf.teardown t
                                             where t.instance_id = u.i and t.process_id = x.id) as torn
                               from wf.process x where x.instance_id = u.i and x.id = u.parent_id offset 0) p
         where not u.last)
    select u.i, u.leaf, max(u.id) filter (where u.torn), array_agg(u.id)
      from up u
     group by u.i, u.leaf
    having bool_or(u.torn);
end;

-- wf._when_stopped(p_instance, p_process)
--
-- Returns  the move that an ABORTING process makes when everything in it has stopped: undo, if something was noted in
--          it that is to be undone; end, if it is a race that was won; fail, if its deadline is over; else aborted
-- Called   where processes count what has stopped in them
create or replace function wf._when_stopped(p_instance bigint, p_process bigint) returns text
language plpgsql stable as $$
declare
    t record;
begin
    select x.follows, x.undo into t
      from wf.teardown x where x.instance_id = p_instance and x.process_id = p_process;
    return case when t.undo and wf._next_note(p_instance, p_process) is not null then 'undo'
                when t.follows = 'lost' then 'end' when t.follows = 'failed' then 'fail' else 'aborted' end;
end;
$$;

-- wf._state_of_stopped(p_event)
--
-- Returns  the state to which the move p_event leads; ABORTING if p_event is null, since something has yet to stop
-- Called   where processes count what has stopped in them
create or replace function wf._state_of_stopped(p_event text) returns text
language sql immutable
begin atomic
    select case p_event when 'end' then 'END' when 'fail' then 'FAILED' when 'aborted' then 'ABORTED'
                        else 'ABORTING' end;
end;

-- wf._torn_around(p_instance, p_process)
--
-- Climbs from processes to the roots of their instances. The arrays run in parallel.
--
-- Returns  of the processes and those on the way, the ones that are torn down, on either side of a finally or undo
-- Called   where composites are marked as torn down
create or replace function wf._torn_around(p_instance bigint[], p_process bigint[])
returns table (instance_id bigint, process_id bigint)
language sql stable rows 10 set search_path = pg_catalog, pg_temp
begin atomic
    -- a reach ends with a finally or undo: a teardown around it stops there
    with recursive up (i, leaf, id, parent_id, torn, last, level, reach) as (
        select u.i, u.j, p.id, p.parent_id, p.torn, wf._is_shelter(p.kind) and not wf._is_halted(u.i), 1, 0
          from unnest(p_instance, p_process) u (i, j)
         cross join lateral (select x.id, x.parent_id, x.kind,
                                    exists (select from wf.teardown t
                                             where t.instance_id = u.i and t.process_id = x.id) as torn
                               from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
         union all
        select u.i, u.leaf, p.id, p.parent_id, p.torn, wf._is_shelter(p.kind) and not wf._is_halted(u.i), u.level + 1,
               u.reach + u.last::int
          from up u
         cross join lateral (select x.id, x.parent_id, x.kind,
                                    exists (select from wf.teardown t
                                             where t.instance_id = u.i and t.process_id = x.id) as torn
                               from wf.process x where x.instance_id = u.i and x.id = u.parent_id offset 0) p)
    select distinct u.i, u.id
      from (select y.*, max(y.level) filter (where y.torn) over (partition by y.i, y.leaf, y.reach) as top from up y) u
     where u.level <= u.top;
end;

-- wf._root(p_instance)
--
-- Returns  the root of an instance, found from any of its processes upwards
-- Called   by _abort
create or replace function wf._root(p_instance bigint) returns bigint
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    with recursive up (id, parent_id) as (
        (select p.id, p.parent_id from wf.process p where p.instance_id = p_instance limit 1)
         union all
        select p.id, p.parent_id
          from up u
         cross join lateral (select x.id, x.parent_id from wf.process x
                              where x.instance_id = p_instance and x.id = u.parent_id offset 0) p)
    select u.id from up u where u.parent_id is null;
end;

-- wf._mark_torn(p_instance, p_process, p_at)
--
-- Marks composites as torn down: from now on they only count. A try still begins its
-- finally, and the process that the teardown is for still begins undos.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Called   wherever processes are torn down
create or replace function wf._mark_torn(p_instance bigint[], p_process bigint[], p_at timestamptz) returns void
language plpgsql as $$
begin
    update wf.process p set was = p.state, event = 'abort', state = 'ABORTING', at = p_at,
                            todo = case when p.total is null then p.todo else 0 end
     where p.ctid = any (array(select k.ctid
                                 from (select distinct u.i, u.j from unnest(p_instance, p_process) u (i, j)) u
                                cross join lateral (select x.ctid
                                                      from wf.process x
                                                     where x.instance_id = u.i and x.id = u.j and x.state = 'ACTIVE'
                                                    offset 0) k));
    if exists (select from wf.dag_step s where s.instance_id = any (p_instance)) then
        perform wf._close_dags(p_instance, p_process);
    end if;
end;
$$;

-- wf._tear_down(p_instance, p_process, p_follows, p_node, p_error, p_at, p_sure, p_undo)
--
-- Begins to tear processes down. A teardown inside them becomes part of the new one.
-- Noted processes in them are undone if a handler took an error, if a race was won, or if
-- p_undo is true.
--
-- Returns  nothing; the caller then tears down the first portion
-- Locks    nothing: the caller holds the instances
-- Called   by _abort, _hand_over, _leave_finallys, _win and for deadlines
create or replace function wf._tear_down(p_instance bigint[], p_process bigint[], p_follows text, p_node int,
                                         p_error jsonb, p_at timestamptz, p_sure boolean,
                                         p_undo boolean default false) returns void
language plpgsql as $$
declare
    f record;
begin
    with absorbed as (
        delete from wf.teardown t
         where t.instance_id = any (p_instance)
           and exists (with recursive up (id, parent_id, last) as (
                           select x.id, x.parent_id, wf._is_shelter(x.kind) and p_follows <> 'halted'
                             from wf.process x where x.instance_id = t.instance_id and x.id = t.process_id
                            union all
                           select x.id, x.parent_id, wf._is_shelter(x.kind) and p_follows <> 'halted'
                             from up u
                            cross join lateral (select y.* from wf.process y where y.instance_id = t.instance_id
                                                   and y.id = u.parent_id offset 0) x
                            where not u.last)
                       select from up u
                         join unnest(p_instance, p_process) r (i, j) on r.i = t.instance_id and r.j = u.id)
        returning t.instance_id, t.process_id),
    forgotten as (
        delete from wf.work w using absorbed a
                where w.kind = 'teardown' and w.instance_id = a.instance_id and w.item_id = a.process_id)
    select array_agg(a.instance_id) as instances, array_agg(a.process_id) as processes into f from absorbed a;
    insert into wf.teardown (instance_id, process_id, follows, node_id, error, at, next_id, sure, undo)
    select u.i, u.j, p_follows, p_node, p_error, p_at, 0, p_sure,
           p_undo or p_follows in ('handled', 'counted', 'left', 'lost')
      from unnest(p_instance, p_process) u (i, j);
    -- parents of the absorbed processes wait for these from now on, and have to count them
    perform wf._mark_torn(array_agg(t.instance_id), array_agg(t.process_id), p_at)
       from wf._torn_around(f.instances, f.processes) t having count(*) > 0;
end;
$$;

-- wf._tear(p_instance, p_process, p_at)
--
-- Tears the next portion of these processes down and leaves a row of work for the rest.
--
-- Returns  nothing
-- Locks    rows of parked and ready (waits for a poll that is just taking one), then process; the caller holds the
--          instances
-- Called   by the caller that began the teardown, and by _do_work
create or replace function wf._tear(p_instance bigint[], p_process bigint[], p_at timestamptz) returns void
language plpgsql as $$
declare
    v_instance bigint[];
    v_process bigint[];
    f record;
begin
    -- after a full portion comes the next one; after a pass that is not sure, one that is
    with portion as (
        select t.ctid, t.instance_id, a.ids, cardinality(a.ids) >= 1000 as full
          from unnest(p_instance, p_process) u (i, j)
         cross join lateral (select x.* , x.ctid from wf.teardown x
                              where x.instance_id = u.i and x.process_id = u.j and x.next_id is not null offset 0) t
         cross join lateral (select array(select wf._alive(t.instance_id, t.next_id)) as ids offset 0) a),
    moved as (
        update wf.teardown t
           set next_id = case when p.full then p.ids[1000] when not t.sure then 0 end, sure = t.sure or not p.full
          from portion p where t.ctid = p.ctid)
    select array_agg(p.instance_id), array_agg(a.id) into v_instance, v_process from portion p, unnest(p.ids) a (id);
    select array_agg(t.instance_id) as instances, array_agg(t.process_id) as processes into f
           from wf._torn(v_instance, v_process) t;
    -- waits for a poll that is just taking one; parked rows first, because _settle moves them to ready
    perform from unnest(f.instances, f.processes) u (i, j)
           join wf.parked k on k.instance_id = u.i and k.process_id = u.j for update of k;
    perform from unnest(f.instances, f.processes) u (i, j)
           join wf.ready r on r.instance_id = u.i and r.process_id = u.j for update of r;
    perform wf._mark_torn(array_agg(t.instance_id), array_agg(t.process_id), p_at)
       from wf._torn_around(v_instance, v_process) t;
    delete from wf.work w
     where w.kind in ('timer', 'loss')
       and w.id = any (array(select x.id from unnest(f.instances, f.processes) u (i, j)
                              cross join lateral (select y.id from wf.work y
                                                   where y.instance_id = u.i and y.item_id = u.j offset 0) x));
    perform wf._undo_failed(f.instances, f.processes, p_at);
    perform wf._stop(f.instances, f.processes, p_at);
    perform wf._halt_now(f.instances, f.processes, p_at);
    -- the steps of a finally go on, even if the instance was suspended when it was aborted
    perform wf._tell_resumed(array_agg(t.instance_id), p_at),
            case when bool_or(k.held) then wf._unpark(array_agg(t.instance_id) filter (where k.held), p_at) end
       from unnest(p_instance, p_process) u (i, j)
       join wf.teardown t on t.instance_id = u.i and t.process_id = u.j and t.next_id is null
      cross join lateral (select exists (select from wf.parked x
                                          where x.instance_id = t.instance_id and x.reason = 'suspended') as held
                          offset 0) k
      where t.follows = 'aborted' having count(*) > 0;
    -- a process that has failed late meanwhile has waited for the last portion
    insert into wf.work (kind, instance_id, item_id, due_at)
    select case when t.next_id is null then 'late' else 'teardown' end, t.instance_id,
           case when t.next_id is null then 0 else t.process_id end, p_at
      from unnest(p_instance, p_process) u (i, j)
      join wf.teardown t on t.instance_id = u.i and t.process_id = u.j
     where t.next_id is not null
        or exists (select from wf.failed x where x.instance_id = t.instance_id and x.late);
    if found then
        perform wf._ring();
    end if;
end;
$$;

-- wf._stop(p_instance, p_process, p_at)
--
-- Aborts processes, except composites under way. A task that is only released before it
-- hands on an error that was caught goes on with that.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Called   by _tear and _handle
create or replace function wf._stop(p_instance bigint[], p_process bigint[], p_at timestamptz) returns void
language plpgsql as $$
begin
    update wf.process p
       set was = p.state, event = 'abort', state = k.to_state, at = p_at
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.ctid as place, t.to_state
                           from wf.process x
                           join wf.transition t on t.machine = x.machine
                                               and t.from_state = x.state and t.event = 'abort'
                          where x.instance_id = u.i and x.id = u.j
                            and x.state not in ('ACTIVE', 'ABORTING')
                            and (x.state <> 'RAISE_CLEANUP_REQUESTED'
                                 or exists (select from wf.teardown r
                                             where r.instance_id = u.i and r.follows in ('aborted', 'halted')))
                         offset 0) k
     where p.ctid = k.place;
end;
$$;

-- wf._halt_now(p_instance, p_process, p_at)
--
-- Ends the processes that were told to stop in halted instances, without waiting for
-- drivers. An SQL task that is just being done has its lease locked. Its driver is waited
-- for, because the effects of the task may be about to be committed.
--
-- Returns  nothing
-- Locks    rows of lease, skipping locked ones
-- Called   by _tear
create or replace function wf._halt_now(p_instance bigint[], p_process bigint[], p_at timestamptz) returns void
language plpgsql as $$
begin
    if not exists (select from wf.teardown t where t.instance_id = any (p_instance) and t.follows = 'halted') then
        return;
    end if;
    with free as materialized (
        select l.instance_id, l.process_id
          from unnest(p_instance, p_process) u (i, j)
          join wf.lease l on l.instance_id = u.i and l.process_id = u.j
           for update of l skip locked)
    update wf.process p
       set was = p.state, event = 'halt', state = 'ABORTED', at = p_at, token = null
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.ctid as place
                           from wf.process x
                          where x.instance_id = u.i and x.id = u.j
                            and x.state in ('ABORT_REQUESTED', 'ABORT_CLEANUP_REQUESTED') offset 0) k
     where p.ctid = k.place and wf._is_halted(u.i)
       and (exists (select from free f where f.instance_id = u.i and f.process_id = u.j)
            or not exists (select from wf.lease l where l.instance_id = u.i and l.process_id = u.j));
end;
$$;

-- wf._withhold(p_instance, p_parent, p_node, p_at)
--
-- Nothing is born below a teardown, except a finally and an undo. The parent counts a child
-- that would have begun as ended.
--
-- Returns  the places in the arrays of those that may begin
-- Locks    nothing beyond the rows it updates
-- Called   by _enter, if anything is torn down
create or replace function wf._withhold(p_instance bigint[], p_parent bigint[], p_node int[], p_at timestamptz)
returns bigint[]
language plpgsql as $$
declare
    v_torn bigint[];
begin
    v_torn := array(select distinct t.process_id
                      from wf._torn(p_instance, p_parent) t
                      join wf.process p on p.instance_id = t.instance_id and p.id = t.process_id
                     where wf._is_halted(t.instance_id)
                        or not exists (select from unnest(p_parent, p_node) u (j, m)
                                         join wf.node n on n.version_id = p.version_id and n.id = u.m
                                        where u.j = t.process_id and wf._is_shelter(n.kind)));
    if cardinality(v_torn) > 0 then
        perform wf._mark_torn(array_agg(t.instance_id), array_agg(x.id), p_at)
           from wf._torn(p_instance, p_parent) t, unnest(t.path) x (id)
          where t.process_id = any (v_torn);
        update wf.process p
           set was = p.state, at = p_at, open = p.open - k.count + coalesce((k.stopped = 'undo')::int, 0),
               event = coalesce(k.stopped, 'count'), state = wf._state_of_stopped(k.stopped)
          from (select u.i, u.j, count(*)::int as count from unnest(p_instance, p_parent) u (i, j)
                 where u.j = any (v_torn) group by 1, 2) u
         cross join lateral (select x.ctid as place, u.count,
                                    case when x.open <= u.count then wf._when_stopped(u.i, u.j) end as stopped
                               from wf.process x
                              where x.instance_id = u.i and x.id = u.j offset 0) k
         where p.ctid = k.place;
    end if;
    return array(select u.k from unnest(p_parent) with ordinality u (j, k) where u.j <> all (v_torn) order by u.k);
end;
$$;

-- wf._begin_catches(p_ended, p_at)
--
-- Begins the catches for which bodies were torn down, with the error bound to their
-- names.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Called   by _end_teardowns
create or replace function wf._begin_catches(p_ended wf.teardown[], p_at timestamptz) returns void
language plpgsql as $$
declare
    f record;
begin
    with caught as materialized (
        select e.instance_id, p.parent_id, e.node_id, p.scopes[cardinality(p.scopes)] as scope_id, e.error, n.item
          from unnest(p_ended) e
         cross join lateral (select x.parent_id, x.version_id from wf.process x
                              where x.instance_id = e.instance_id and x.id = e.process_id offset 0) b
         cross join lateral (select x.id as parent_id, x.scopes from wf.process x
                              where x.instance_id = e.instance_id and x.id = b.parent_id offset 0) p
         cross join lateral (select x.item from wf.node x
                              where x.version_id = b.version_id and x.id = e.node_id offset 0) n
         where e.follows = 'handled'),
    bound as (
        insert into wf.binding (instance_id, scope_id, name, value)
        select c.instance_id, c.scope_id, c.item, c.error from caught c
            on conflict (instance_id, scope_id, name) do update set value = excluded.value)
    select array_agg(c.instance_id) as instances, array_agg(c.parent_id) as parents, array_agg(c.node_id) as nodes
           into f from caught c;
    if f.instances is not null then
        perform wf._enter(f.instances, f.parents, f.nodes, null, null, p_at);
    end if;
end;
$$;

-- wf._end_teardowns(p_moves, p_at)
--
-- Does what follows when processes that were torn down have ended.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Called   by the update trigger of process
create or replace function wf._end_teardowns(p_moves wf.move[], p_at timestamptz) returns void
language plpgsql as $$
declare
    v_ended wf.teardown[];
begin
    with ended as (
        delete from wf.teardown t
         where t.ctid = any (array(select x.ctid
                                     from wf._due(p_moves, 'torn') m
                                    cross join lateral (select y.ctid
                                                          from wf.teardown y
                                                         where y.instance_id = m.instance_id and y.process_id = m.id
                                                        offset 0) x))
        returning t.*)
    select array_agg(e::wf.teardown) into v_ended from ended e;
    perform wf._begin_catches(v_ended, p_at);
    perform wf._wait_for_round(e.instance_id, e.process_id, e.error, e.at, p_at)
       from unnest(v_ended) e where e.follows = 'again';
end;
$$;

-- wf._abort(p_instance, p_error, p_sure, p_event, p_record, p_undo)
--
-- Aborts or halts those of the instances that can make that move: tears their roots down.
-- A SCHEDULED instance has no root, and is ABORTED at once. p_record is the error that
-- finallys see; p_undo says whether noted processes are undone.
--
-- Returns  nothing; the rest after the first portion is work of kind teardown
-- Locks    as _tear; the caller has locked the instances
-- Raises   nothing
-- Called   by wf._operate_instances and _stop_child; by the engine, in the middle of moves (p_sure
--          is false), when no handler takes a handed-on error
create or replace function wf._abort(p_instance bigint[], p_error jsonb default null, p_sure boolean default true,
                                     p_event text default 'abort', p_record jsonb default null,
                                     p_undo boolean default false)
returns void
language plpgsql :engine as $$
declare
    v_now      timestamptz := wf.now();
    v_instance bigint[];
    v_root     bigint[];
begin
    with moved as (
        update wf.instance i
           set was = i.state, event = p_event, state = t.to_state, at = v_now, error = coalesce(p_error, i.error),
               ended_at = case when i.state = 'SCHEDULED' then v_now end,
               result = case when i.state = 'SCHEDULED' then 'aborted' end
          from wf.transition t
         where i.id = any (p_instance)
           and t.machine = 'instance' and t.from_state = i.state and t.event = p_event
        returning i.id, i.state),
    forgotten as (
        delete from wf.work w
         where w.kind = 'start' and w.instance_id in (select m.id from moved m where m.state = 'ABORTED'))
    select array_agg(m.id), array_agg(wf._root(m.id)) into v_instance, v_root from moved m where m.state <> 'ABORTED';
    if v_instance is not null then
        perform wf._tear_down(v_instance, v_root, case p_event when 'halt' then 'halted' else 'aborted' end, null,
                              coalesce(p_record, p_error), v_now, p_sure, p_undo);
        perform wf._mark_torn(v_instance, v_root, v_now);
        perform wf._tear(v_instance, v_root, v_now);
    end if;
end;
$$;
