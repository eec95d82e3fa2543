-- The policy `timeout`. Each limit that holds for a process now is a row of
-- wf.time_limit, which says when it is reached: wait while a task is in INIT,
-- inactivity and runtime while an attempt is under way, deadline from the first
-- enabling of a task to its end. wf.machine_state says which limits hold in which
-- state, and a process that moves gets and loses rows by that. A process without
-- the policy has none, and its moves do not come here.
--
-- The rows are looked at once a second, with the database's clock: a driver that is
-- gone hides none, and an outage makes one late at most. A task whose time is over
-- moves by the event timeout. If a driver has a request of it, that is stopped
-- first: the task is CANCEL_REQUESTED until the driver has confirmed or is gone, and
-- keeps the error in the meantime. Until then its place in a group is taken and no
-- other attempt begins.
--
-- The row of a deadline stands still while the task is FAILED or waits for its
-- group: then it holds the time that remains. A task that is FAILED with no time
-- left has no row any more, so the next attempt begins a new deadline.
--
-- Whoever locks a row here and one of parked or ready locks that one first.

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
-- Returns  which limits hold for a process in that state; the delay of a retry is no wait
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
-- Processes with a policy `timeout` have moved: limits that hold no more go, others
-- begin, and the clock of a deadline stands or goes on. A poll that hands a task
-- out comes here without its instance, but with the row of ready.
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
                                                     where x.instance_id = u.i and x.process_id = u.j offset 0) k
                                where (k.kind = any (l.held)) is not true));
    insert into wf.time_limit (instance_id, process_id, kind, due_at)
    select u.i, u.j, k.kind, p.at + (l.limits ->> k.kind)::numeric * interval '1 s'
      from unnest(f.instances, f.processes) u (i, j)
     cross join lateral (select x.machine, x.state, x.at, x.version_id, x.node_id, x.policy from wf.process x
                          where x.instance_id = u.i and x.id = u.j offset 0) p
     cross join lateral (select wf._time_limits(x.timeout, p.policy) as limits from wf.node x
                          where x.version_id = p.version_id and x.id = p.node_id offset 0) l
     cross join lateral unnest(wf._limits_in(p.machine, p.state, u.i, u.j)) k (kind)
     where l.limits ? k.kind
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

-- wf._note_activity(p_instance, p_process, p_at)
--
-- Something came of attempts: their inactivity counts from now on.
--
-- Returns  nothing
-- Locks    their rows of time_limit
-- Called   by _apply_judged, for tasks with a policy `timeout`
create or replace function wf._note_activity(p_instance bigint[], p_process bigint[], p_at timestamptz) returns void
language plpgsql as $$
begin
    update wf.time_limit t set due_at = p_at + k.inactivity * interval '1 s'
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.version_id, x.node_id, x.policy from wf.process x
                          where x.instance_id = u.i and x.id = u.j offset 0) p
     cross join lateral (select (wf._time_limits(x.timeout, p.policy) ->> 'inactivity')::numeric as inactivity
                           from wf.node x where x.version_id = p.version_id and x.id = p.node_id offset 0) k
     cross join lateral (select x.ctid as place from wf.time_limit x
                          where x.instance_id = u.i and x.process_id = u.j and x.kind = 'inactivity' offset 0) l
     where t.ctid = l.place;
end;
$$;

-- wf._say_limit(p_kind)
--
-- Returns  what people read of a limit
create or replace function wf._say_limit(p_kind text) returns text
language sql immutable
begin atomic
    select case when p_kind in ('inactivity', 'runtime') then 'maximum ' else '' end || p_kind;
end;

-- wf._timed_out(p_what, p_limit, p_seconds)
--
-- Returns  the error of a process that took longer than a limit allows
-- Called   by _time_out
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
-- Called   by _retry, of what the engine has stopped
create or replace function wf._is_final_timeout(p_error jsonb) returns boolean
language sql immutable
begin atomic
    select coalesce(p_error ->> 'kind' = 'timeout' and p_error #>> '{detail,limit}' in ('deadline', 'wait'), false);
end;

-- wf._fire_limits(p_now)
--
-- Has processes time out whose limits are reached, those first that were reached
-- first, at most 100 at once. An instance that somebody else holds is passed over.
-- What is tried alone is left to wf.work.
--
-- Returns  nothing
-- Locks    instances by id (skipping locked ones), then as _time_out
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
    for k in 1 .. 5 loop
        select array_agg(x.instance_id), array_agg(x.process_id)
          into v_instance, v_process
          from (select distinct y.instance_id, y.process_id
                  from (select t.instance_id, t.process_id from wf.time_limit t
                         where t.due_at <= p_now and t.instance_id <> all (v_passed)
                           and not exists (select from wf.work w
                                            where w.instance_id = t.instance_id and w.item_id = t.process_id
                                              and w.kind = 'limit')
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
-- Moves processes on whose time is over; the caller holds the instances. Of several
-- limits the one that was reached first counts. What has written output meanwhile,
-- or is just being handed out by a poll, stays as it is. Where the machine has no
-- such move, or a composite is torn down already, the clock stands at its end.
--
-- Returns  nothing
-- Locks    rows of parked and ready (skipping locked ones), then of time_limit, then process
-- Called   by _do_work, and by the simulator
create or replace function wf._time_out(p_instance bigint[], p_process bigint[], p_now timestamptz) returns void
language plpgsql as $$
declare
    v_fenced bigint[]; -- those that no poll takes meanwhile
    v_instance bigint[]; -- composites
    v_process bigint[];
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
    with late as materialized (
        select distinct on (u.i, u.j)
               u.i, u.j, p.place, p.machine, p.state, t.kind, (l.limits ->> t.kind)::numeric as seconds, n.what,
               m.to_state
          from unnest(p_instance, p_process) u (i, j)
         cross join lateral (select x.kind, x.due_at from wf.time_limit x
                              where x.instance_id = u.i and x.process_id = u.j and x.due_at <= p_now offset 0) t
         cross join lateral (select x.ctid as place, x.machine, x.state, x.version_id, x.node_id, x.policy
                               from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
         cross join lateral (select x.timeout, coalesce(x.task_type, p.policy ->> 'title', x.title, x.label) as what
                               from wf.node x
                              where x.version_id = p.version_id and x.id = p.node_id offset 0) n
         cross join lateral (select wf._time_limits(n.timeout, p.policy) as limits) l
         cross join lateral (select case when p.machine <> 'composite'
                                              or not exists (select from wf._torn(array[u.i], array[u.j]))
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
               error = wf._timed_out(l.what, l.kind, l.seconds),
               todo = case l.machine when 'composite' then 0 else p.todo end
          from late l
         where p.ctid = l.place and l.to_state is not null
           and (l.state <> 'INIT' or l.j = any (v_fenced) or wf._waits_for_retry(l.i, l.j))
        returning p.instance_id, p.id, p.state)
    select array_agg(m.instance_id order by m.id) filter (where m.state = 'ABORTING'),
           array_agg(m.id order by m.id) filter (where m.state = 'ABORTING')
      into v_instance, v_process from moved m;
    if v_instance is not null then
        perform wf._stop_inside(v_instance, v_process, p_now);
    end if;
end;
$$;

-- wf._stop_inside(p_instance, p_process, p_at)
--
-- Tears down what is in composites whose deadline is over; each of them has failed when
-- that has stopped. One in another one is part of that one's teardown.
--
-- Returns  nothing
-- Locks    as _tear
-- Called   by _time_out, with the outer ones first
create or replace function wf._stop_inside(p_instance bigint[], p_process bigint[], p_at timestamptz) returns void
language plpgsql as $$
begin
    for k in 1 .. cardinality(p_process) loop
        if not exists (select from wf._torn(p_instance[k:k], p_process[k:k])) then
            perform wf._tear_down(p_instance[k:k], p_process[k:k], 'failed', p.node_id, p.error, p_at, true)
               from wf.process p where p.instance_id = p_instance[k] and p.id = p_process[k];
            perform wf._tear(p_instance[k:k], p_process[k:k], p_at);
        end if;
    end loop;
end;
$$;
