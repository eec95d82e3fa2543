-- The policy `timeout`. wf.time_limit says when each limit that holds for a process now
-- is reached: wait while a task is in INIT, inactivity and runtime while an attempt is
-- under way, deadline from the first enabling of a task to its end. wf.machine_state
-- says which limits hold in which state: a process that moves gets and loses rows by that.
-- A process without the policy has no rows, and its moves do not call these functions.
--
-- Polls look at the rows once a second, by the database's clock. So a limit is noticed even
-- if the task's driver is gone, and an outage can only make it late. Most attempts have
-- ended within that second. Therefore a statement that begins attempts writes one row of
-- wf.limit_begun for all of them. _set_limits makes rows of wf.time_limit for the attempts
-- that are still under way when the rows are looked at. Limits of two minutes or more do
-- without that, if a task has nothing but a start: then its attempt has a lease until it is
-- over, and the lease says when it began. Once a minute _set_long_limits makes the rows
-- from the leases. wf._limit_v shows all of these together.
--
-- A task whose time is over moves by the event timeout. If a driver has a request of the
-- task, that request is stopped first: the task is CANCEL_REQUESTED until the driver has
-- confirmed or is gone, and keeps the error in the meantime. Until then its place in a
-- group is taken and no other attempt begins.
--
-- The row of a deadline stands still while the task is FAILED or waits for its
-- group: then it holds the time that remains. A task that is FAILED with no time
-- left has no row any more, so the next attempt begins a new deadline.
--
-- A transaction locks rows of parked and ready before rows of time_limit.

-- wf._time_limits(p_fixed, p_policy)
--
-- Returns  the limits of a process in seconds: those of its node, or what the node's expressions gave
create or replace function wf._time_limits(p_fixed jsonb, p_policy jsonb) returns jsonb
language sql immutable
begin atomic
    select case when p_fixed = '{}' then p_policy -> 'timeout' else p_fixed end;
end;

-- wf._limits_in(p_machine, p_state, p_instance, p_process)
--
-- Returns  which limits hold for a process in that state; the delay of a retry does not count as wait
create or replace function wf._limits_in(p_machine text, p_state text, p_instance bigint, p_process bigint)
returns text[]
language sql stable
begin atomic
    select case when p_state = 'INIT' and wf._waits_for_retry(p_instance, p_process)
                then array_remove(s.limits, 'wait') else s.limits end
      from wf.machine_state s
     where s.machine = p_machine and s.state = p_state;
end;

-- wf._keep_limits(p_moves, p_at)
--
-- Handles moves of processes with a deadline or a limit of their wait. Limits that hold no
-- more are deleted, others begin, and the clock of a deadline stands still or goes on. A poll
-- that hands a task out calls this without holding the instance, but with the row of ready.
--
-- Returns  nothing
-- Locks    their rows of time_limit
-- Called   by the triggers of process
create or replace function wf._keep_limits(p_moves wf.move[], p_at timestamptz) returns void
language plpgsql as $$
declare
    f record;
begin
    select array_agg(m.instance_id) as instances, array_agg(m.id) as processes into f from wf._due(p_moves, 'limit') m;
    delete from wf.time_limit d
     where d.ctid = any (array(select k.ctid
                                 from unnest(f.instances, f.processes) u (i, j)
                                cross join lateral (select x.machine, x.state from wf.process x
                                                     where x.instance_id = u.i and x.id = u.j offset 0) p
                                cross join lateral (select wf._limits_in(p.machine, p.state, u.i, u.j) as held
                                                    offset 0) l
                                cross join lateral (select x.ctid, x.kind from wf.time_limit x
                                                     where x.instance_id = u.i and x.process_id = u.j
                                                       and x.kind in ('deadline', 'wait') offset 0) k
                                where (k.kind = any (l.held)) is not true));
    insert into wf.time_limit (instance_id, process_id, kind, due_at)
    select u.i, u.j, k.kind, p.at + (l.limits ->> k.kind)::numeric * interval '1 s'
      from unnest(f.instances, f.processes) u (i, j)
     cross join lateral (select x.machine, x.state, x.at, x.version_id, x.node_id, x.policy from wf.process x
                          where x.instance_id = u.i and x.id = u.j offset 0) p
     cross join lateral (select wf._time_limits(x.timeout, p.policy) as limits from wf.node x
                          where x.version_id = p.version_id and x.id = p.node_id offset 0) l
     cross join lateral unnest(wf._limits_in(p.machine, p.state, u.i, u.j)) k (kind)
     where k.kind in ('deadline', 'wait') and l.limits ? k.kind
        on conflict do nothing;
    perform wf._run_clocks(f.instances, f.processes, p_at);
    delete from wf.time_limit d
     where d.ctid = any (array(select k.ctid
                                 from unnest(f.instances, f.processes) u (i, j)
                                cross join lateral (select x.state from wf.process x
                                                     where x.instance_id = u.i and x.id = u.j offset 0) p
                                cross join lateral (select x.ctid, x.remains from wf.time_limit x
                                                     where x.instance_id = u.i and x.process_id = u.j offset 0) k
                                where p.state = 'FAILED' and k.remains <= interval '0'));
end;
$$;

-- wf._end_limits(p_moves)
--
-- Deletes limits of runtime and inactivity of attempts that are over.
--
-- Returns  nothing
-- Locks    their rows of time_limit
-- Called   by the update trigger of process
create or replace function wf._end_limits(p_moves wf.move[]) returns void
language plpgsql as $$
begin
    if exists (select from wf.time_limit) then
        delete from wf.time_limit d
         where d.ctid = any (array(select k.ctid
                                     from wf._due(p_moves, 'over') m
                                    cross join lateral (select x.ctid from wf.time_limit x
                                                         where x.instance_id = m.instance_id and x.process_id = m.id
                                                           and x.kind in ('inactivity', 'runtime') offset 0) k));
    end if;
end;
$$;

-- wf._set_limits(p_instance)
--
-- Makes rows of wf.time_limit for the attempts that have begun since the last call, and puts
-- off the inactivity of attempts that gave a sign of life. It does so for one instance, or,
-- if p_instance is null, for all.
--
-- It locks each process row, so that the process cannot move before its limits are there. A
-- process that somebody else holds, or has moved just now, stays in wf.limit_begun until
-- next time. There a row of an attempt that is over may meet the row of the next attempt.
-- Therefore the later time counts.
--
-- Returns  false if there may be more rows than are taken at once: until these are taken, no
--          limit may be fired, since a sign of life that puts it off may be among them
-- Locks    rows of limit_begun and process (skipping locked ones), then of time_limit
-- Called   by _fire_limits, and by the simulator
create or replace function wf._set_limits(p_instance bigint default null) returns boolean
language plpgsql as $$
declare
    c_most constant int := 10000;
    -- wf._has_attempt for all states: a call for each process would be a third of the query
    v_running constant text[] := array(select s.machine || ' ' || s.state from wf.machine_state s
                                        where 'runtime' = any (s.limits));
    v_rows int;
begin
    with taken as (
        delete from wf.limit_begun b
         where b.ctid = any (array(select x.ctid from wf.limit_begun x
                                    where p_instance is null or p_instance = any (x.instances)
                                    order by x.id limit c_most for update skip locked))
        returning b.at, b.attempt, b.instances, b.processes),
    -- most attempts have ended: the rest is done for the others only
    latest as materialized (
        select u.i, u.j, p.place, max(t.at) filter (where t.attempt) as begun_at, max(t.at) as active_at
          from taken t
         cross join lateral unnest(t.instances, t.processes) u (i, j)
         cross join lateral (select x.ctid as place, x.machine, x.state from wf.process x
                              where x.instance_id = u.i and x.id = u.j offset 0) p
         where p.state <> 'END' and p.machine || ' ' || p.state = any (v_running)
         group by u.i, u.j, p.place),
    running as materialized (
        select l.i, l.j, l.begun_at, l.active_at, h.is_held, h.limits
          from latest l
          left join lateral (select true as is_held, wf._time_limits(n.timeout, x.policy) as limits
                               from wf.process x
                              cross join lateral (select y.timeout from wf.node y
                                                   where y.version_id = x.version_id and y.id = x.node_id offset 0) n
                              where x.ctid = l.place for no key update of x skip locked) h on true),
    left_over as (
        insert into wf.limit_begun (at, attempt, instances, processes)
        select k.at, k.attempt, array_agg(r.i), array_agg(r.j)
          from running r
         cross join lateral (values (r.begun_at, true), (nullif(r.active_at, r.begun_at), false)) k (at, attempt)
         where k.at is not null and r.is_held is null
         group by k.at, k.attempt),
    new as (
        insert into wf.time_limit as t (instance_id, process_id, kind, due_at)
        select r.i, r.j, k.kind, k.at + (r.limits ->> k.kind)::numeric * interval '1 s'
          from running r
         cross join lateral (values ('runtime', r.begun_at), ('inactivity', r.active_at)) k (kind, at)
         where r.is_held and r.limits ? k.kind and k.at is not null
            on conflict (instance_id, process_id, kind)
            do update set due_at = greatest(t.due_at, excluded.due_at))
    select count(*) into v_rows from taken;
    return v_rows < c_most;
end;
$$;

-- wf._set_long_limits(p_instance, p_now)
--
-- Makes rows of wf.time_limit for attempts with long limits, of one instance, or, if
-- p_instance is null, of all. An attempt that has begun within half a minute is left for
-- the next time, since most attempts are over by then. So is one whose process somebody
-- else holds. A process that has moved since has another token.
--
-- Returns  nothing
-- Locks    rows of process (skipping locked ones), then of time_limit
-- Called   by _keep_up, once a minute in each session, by tick, and by the simulator
create or replace function wf._set_long_limits(p_instance bigint, p_now timestamptz) returns void
language plpgsql as $$
begin
    insert into wf.time_limit (instance_id, process_id, kind, due_at)
    select l.instance_id, l.process_id, k.kind, l.at + (h.limits ->> k.kind)::numeric * interval '1 s'
      from wf.lease l
     cross join lateral (select n.timeout as limits
                           from wf.process x
                          cross join lateral (select y.timeout from wf.node y
                                               where y.version_id = x.version_id and y.id = x.node_id offset 0) n
                          where x.instance_id = l.instance_id and x.id = l.process_id and x.token = l.token
                            and x.timed & wf._limit('long') > 0 and x.state = 'START_REQUESTED'
                            and not exists (select from wf.time_limit t
                                             where t.instance_id = x.instance_id and t.process_id = x.id
                                               and t.kind in ('inactivity', 'runtime'))
                            for no key update of x skip locked) h
     cross join (values ('inactivity'), ('runtime')) k (kind)
     where l.at < p_now - interval '30 s' and (p_instance is null or l.instance_id = p_instance)
       and h.limits ? k.kind
        on conflict do nothing;
end;
$$;

-- wf._run_clocks(p_instance, p_process, p_at)
--
-- Lets the clocks of deadlines stand still, or go on. The arrays run in parallel.
--
-- Returns  nothing
-- Locks    their rows of time_limit
-- Called   wherever a task with a policy `timeout` fails, goes on, begins to wait for its group, or waits no more
create or replace function wf._run_clocks(p_instance bigint[], p_process bigint[], p_at timestamptz) returns void
language plpgsql as $$
begin
    update wf.time_limit t
       set due_at = case when k.stands then 'infinity' else p_at + t.remains end,
           remains = case when k.stands then greatest(interval '0', t.due_at - p_at) end
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.ctid as place,
                                (select p.state from wf.process p where p.instance_id = u.i and p.id = u.j) = 'FAILED'
                                or exists (select from wf.parked q
                                            where q.instance_id = u.i and q.process_id = u.j
                                              and q.group_id is not null) as stands
                           from wf.time_limit x
                          where x.instance_id = u.i and x.process_id = u.j and x.kind = 'deadline' offset 0) k
     where t.ctid = k.place and k.stands = (t.remains is null);
end;
$$;

-- process_v reads it, for people who may execute no function like this: it has _time_limits,
-- _has_attempt and _limit(long) written out.
create or replace view wf._limit_v with (security_barrier = true) as
select t.instance_id, t.process_id, t.kind, max(t.due_at) as due_at, max(t.remains) as remains
  from (select x.instance_id, x.process_id, x.kind, x.due_at, x.remains from wf.time_limit x
        union all
        select p.instance_id, p.id, k.kind, b.at + (l.limits ->> k.kind)::numeric * interval '1 s', null
          from wf.limit_begun b
         cross join lateral unnest(b.instances, b.processes) u (i, j)
          join wf.process p on p.instance_id = u.i and p.id = u.j
          join wf.node n on n.version_id = p.version_id and n.id = p.node_id
         cross join lateral (values ('inactivity'), (case when b.attempt then 'runtime' end)) k (kind)
         cross join lateral (select case when n.timeout = '{}' then p.policy -> 'timeout' else n.timeout end) l (limits)
         where l.limits ? k.kind
           and exists (select from wf.machine_state s
                        where s.machine = p.machine and s.state = p.state and 'runtime' = any (s.limits))
        union all
        select p.instance_id, p.id, k.kind, l.at + (n.timeout ->> k.kind)::numeric * interval '1 s', null
          from wf.lease l
          join wf.process p on p.instance_id = l.instance_id and p.id = l.process_id and p.token = l.token
          join wf.node n on n.version_id = p.version_id and n.id = p.node_id
         cross join (values ('inactivity'), ('runtime')) k (kind)
         where p.timed & 16 > 0 and p.state = 'START_REQUESTED' and n.timeout ? k.kind) t
 group by t.instance_id, t.process_id, t.kind;
comment on view wf._limit_v is
    'The limits of timeout policies that hold now, as in time_limit, and those of attempts without rows there.';
select wf._inherit_comments('_limit_v', 'time_limit') \gset

-- wf._note_activity(p_instance, p_process, p_at)
--
-- Notes that attempts gave a sign of life: their inactivity counts from now on.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Called   by _apply_judged, for tasks with a limit of their inactivity
create or replace function wf._note_activity(p_instance bigint[], p_process bigint[], p_at timestamptz) returns void
language sql
begin atomic
    insert into wf.limit_begun (at, attempt, instances, processes) values (p_at, false, p_instance, p_process);
end;

-- wf._say_limit(p_kind)
--
-- Returns  the name of a limit in messages
create or replace function wf._say_limit(p_kind text) returns text
language sql immutable
begin atomic
    select case when p_kind in ('inactivity', 'runtime') then 'maximum ' else '' end || p_kind;
end;

-- wf._timed_out(p_what, p_limit, p_seconds)
--
-- Returns  the error of a process that took longer than a limit allows
-- Called   by _expire
create or replace function wf._timed_out(p_what text, p_limit text, p_seconds numeric) returns jsonb
language sql immutable
begin atomic
    select jsonb_build_object(
               'kind', 'timeout',
               'message', format('%s timed out after %s ms (%s)', p_what, trim_scale(p_seconds * 1000),
                                 wf._say_limit(p_limit)),
               'detail', jsonb_build_object('limit', p_limit, 'ms', trim_scale(p_seconds * 1000)));
end;

-- wf._is_final_timeout(p_error)
--
-- Returns  whether an error says that a limit was reached that holds for all attempts together: no policy tries again
-- Called   by _retry, for processes that the engine has stopped
create or replace function wf._is_final_timeout(p_error jsonb) returns boolean
language sql immutable
begin atomic
    select coalesce(p_error ->> 'kind' = 'timeout' and p_error #>> '{detail,limit}' in ('deadline', 'wait'), false);
end;

-- wf._fire_limits(p_now)
--
-- Times out processes whose limits are reached: at most 100 at once, the earliest limits
-- first. An instance that somebody else holds is passed over. Processes that are tried
-- alone are left to wf.work.
--
-- Returns  nothing
-- Locks    as _set_limits, then instances by id (skipping locked ones), then as _time_out
-- Called   by poll, once a second, and by tick
create or replace function wf._fire_limits(p_now timestamptz) returns void
language plpgsql as $$
declare
    c_most constant int := 100;
    v_passed bigint[] := array[]::bigint[];
    v_held bigint[];
    v_instance bigint[];
    v_process bigint[];
    v_error jsonb;
begin
    if not wf._set_limits() then
        return;
    end if;
    for k in 1 .. 5 loop
        select array_agg(x.instance_id), array_agg(x.process_id)
          into v_instance, v_process
          from (select distinct y.instance_id, y.process_id
                  from (select t.instance_id, t.process_id from wf.time_limit t
                         where t.due_at <= p_now and t.instance_id <> all (v_passed)
                           and not exists (select from wf.work w
                                            where w.instance_id = t.instance_id and w.item_id = t.process_id
                                              and w.kind = 'limit' offset 0) -- else all work is read
                         order by t.due_at limit c_most) y) x;
        exit when v_instance is null;
        v_held := array(select i.id from wf.instance i
                         where i.id = any (v_instance) order by i.id for no key update skip locked);
        exit when cardinality(v_held) > 0;
        v_passed := v_passed || v_instance;
    end loop;
    if cardinality(v_held) > 0 then
        select array_agg(u.i), array_agg(u.j) into v_instance, v_process
          from unnest(v_instance, v_process) u (i, j) where u.i = any (v_held);
        v_error := wf._try_work('limit', v_instance, v_process, p_now);
        if v_error is not null then
            perform wf._put_work('limit', v_instance, v_process, p_now, v_error);
        end if;
    end if;
end;
$$;

-- wf._time_out(p_instance, p_process, p_now)
--
-- Moves processes whose time is over; the caller holds the instances. Blocks come first: a
-- task in such a block is stopped with the block, whatever its own limits say. A task that
-- has written output meanwhile, or that a poll is just handing out, stays as it is.
--
-- Returns  nothing
-- Locks    rows of parked and ready (skipping locked ones), then of time_limit, then process
-- Called   by _do_work, and by the simulator
create or replace function wf._time_out(p_instance bigint[], p_process bigint[], p_now timestamptz) returns void
language plpgsql as $$
declare
    v_fenced bigint[]; -- the tasks that no poll can take meanwhile
begin
    v_fenced := array(select k.process_id
                        from unnest(p_instance, p_process) u (i, j)
                        join wf.parked k on k.instance_id = u.i and k.process_id = u.j for update of k skip locked)
                || array(select r.process_id
                           from unnest(p_instance, p_process) u (i, j)
                           join wf.ready r on r.instance_id = u.i and r.process_id = u.j for update of r skip locked);
    update wf.time_limit t set due_at = k.due_at
      from (select l.ctid as place, o.at + (wf._time_limits(n.timeout, p.policy) ->> 'inactivity')::numeric
                                           * interval '1 s' as due_at
              from unnest(p_instance, p_process) u (i, j)
             cross join lateral (select x.ctid from wf.time_limit x
                                  where x.instance_id = u.i and x.process_id = u.j and x.kind = 'inactivity'
                                    and x.due_at <= p_now offset 0) l
             cross join lateral (select x.version_id, x.node_id, x.policy, x.attempt from wf.process x
                                  where x.instance_id = u.i and x.id = u.j offset 0) p
             cross join lateral (select x.timeout from wf.node x
                                  where x.version_id = p.version_id and x.id = p.node_id offset 0) n
             cross join lateral (select x.at from wf.output_chunk x
                                  where x.instance_id = u.i and x.process_id = u.j and x.attempt = p.attempt
                                  order by x.start desc limit 1) o) k
     where t.ctid = k.place and k.due_at > t.due_at;
    perform wf._stop_inside(b.instances, b.processes, p_now)
       from wf._expire(p_instance, p_process, true, null, p_now) b where b.instances is not null;
    perform wf._expire(p_instance, p_process, false, v_fenced, p_now);
end;
$$;

-- wf._expire(p_instance, p_process, p_blocks, p_fenced, p_now)
--
-- Moves blocks, or tasks, by the event timeout. Of several limits the one that was reached
-- first counts. If the machine has no such move, or a block is torn down already, the clock
-- stands at its end. A task in INIT moves only if it is one of p_fenced, or waits for its
-- next attempt. A block inside another block whose deadline is over is stopped with that
-- outer block: its own error would look for a handler before the outer block is torn down.
--
-- Returns  the blocks that are ABORTING now: the processes in them have to be stopped; null if there are none
-- Locks    rows of time_limit, then process
-- Called   by _time_out
create or replace function wf._expire(p_instance bigint[], p_process bigint[], p_blocks boolean, p_fenced bigint[],
                                      p_now timestamptz, out instances bigint[], out processes bigint[])
language plpgsql as $$
begin
    with late as materialized (
        select distinct on (u.i, u.j)
               u.i, u.j, p.place, p.state, t.kind, (l.limits ->> t.kind)::numeric as seconds, n.what, m.to_state
          from unnest(p_instance, p_process) u (i, j)
         cross join lateral (select x.kind, x.due_at from wf.time_limit x
                              where x.instance_id = u.i and x.process_id = u.j and x.due_at <= p_now offset 0) t
         cross join lateral (select x.ctid as place, x.machine, x.state, x.version_id, x.node_id, x.policy
                               from wf.process x where x.instance_id = u.i and x.id = u.j
                                                   and (x.machine = 'composite') = p_blocks offset 0) p
         cross join lateral (select x.timeout, coalesce(x.task_type, p.policy ->> 'title', x.title, x.label) as what
                               from wf.node x
                              where x.version_id = p.version_id and x.id = p.node_id offset 0) n
         cross join lateral (select wf._time_limits(n.timeout, p.policy) as limits) l
         cross join lateral (select case when not p_blocks or not exists (select from wf._torn(array[u.i], array[u.j]))
                                         then wf._next_state(p.machine, p.state, 'timeout', false) end as to_state
                             offset 0) m
         order by u.i, u.j, t.due_at, (l.limits ->> t.kind)::numeric, t.kind),
    held as (
        update wf.time_limit t set due_at = 'infinity', remains = interval '0'
         where t.ctid = any (array(select x.ctid from late l
                                    cross join lateral (select y.ctid from wf.time_limit y
                                                         where y.instance_id = l.i and y.process_id = l.j
                                                           and y.due_at <= p_now offset 0) x
                                    where l.to_state is null))),
    moved as (
        update wf.process p
           set was = p.state, event = 'timeout', state = l.to_state, at = p_now,
               -- a task that waits for its next attempt has the error of its last attempt
               error = wf._add_cause(wf._timed_out(l.what, l.kind, l.seconds),
                                     case when l.state = 'INIT' and wf._waits_for_retry(l.i, l.j) then p.error end),
               todo = case when p_blocks then 0 else p.todo end
          from late l
         where p.ctid = l.place and l.to_state is not null
           and (l.state <> 'INIT' or l.j = any (p_fenced) or wf._waits_for_retry(l.i, l.j))
           and not (p_blocks and exists (select from late o
                                          where o.i = l.i and o.j <> l.j and o.to_state is not null
                                            and o.j = any (wf._path(l.i, l.j))))
        returning p.instance_id, p.id, p.state)
    select array_agg(m.instance_id order by m.id) filter (where m.state = 'ABORTING'),
           array_agg(m.id order by m.id) filter (where m.state = 'ABORTING')
      into instances, processes from moved m;
end;
$$;

-- wf._stop_inside(p_instance, p_process, p_at)
--
-- Tears down the processes in composites whose deadline is over. A composite has failed when
-- these have stopped. No composite is inside another one here.
--
-- Returns  nothing
-- Locks    as _tear
-- Called   by _time_out
create or replace function wf._stop_inside(p_instance bigint[], p_process bigint[], p_at timestamptz) returns void
language plpgsql as $$
begin
    for k in 1 .. cardinality(p_process) loop
        -- an error of a composite before it may have stopped the composite around both
        continue when not exists (select from wf.process p where p.instance_id = p_instance[k] and p.id = p_process[k]
                                                             and p.state = 'ABORTING')
                      or exists (select from wf._torn(p_instance[k:k], p_process[k:k]));
        perform wf._tear_down(p_instance[k:k], p_process[k:k], 'failed', p.node_id, p.error, p_at, true)
           from wf.process p where p.instance_id = p_instance[k] and p.id = p_process[k];
        perform wf._tear(p_instance[k:k], p_process[k:k], p_at);
    end loop;
end;
$$;
