-- Requests that a driver may take: their place in the queue.

do $$
begin
    if to_regtype('wf.request') is null then
        create type wf.request as (
            instance_id bigint, process_id bigint, lane_id bigint, rank smallint, turn bigint, request text
        );
        comment on type wf.request is 'A request that becomes ready, see wf._offer: the columns of wf.ready.';
    end if;
end;
$$;

-- wf._turn(p_at, p_index)
--
-- Gives the virtual time of a request. The elements of one forall are 0.1 s apart, so that a
-- large forall does not go before everybody else. It may have 1,000 elements open, which
-- fill 100 s. A request that comes within that time goes before the rest of them. So no
-- newcomer waits for longer than that, however long the list is. The queue never waits for
-- a time to come: a forall that is alone loses no time.
--
-- Returns  microseconds
-- Locks    nothing
-- Raises   nothing
-- Called   wherever a row of ready or parked is made
create or replace function wf._turn(p_at timestamptz, p_index int) returns bigint
language sql stable
begin atomic
    select (date_part('epoch', p_at) * 1000000)::bigint + coalesce(p_index % 1024, 0) * 100000;
end;

-- wf._place(p_index, p_scopes, p_in_round)
--
-- Returns  a number that tells the elements of a forall apart, for _turn: the index, or,
--          further down, how much greater the number of its scope is than that of the scope
--          around it. It is from 0 to 1023, also if its scope's number is smaller, since
--          each session takes numbers in advance. It is null outside of a forall, and in a
--          round of a loop or an undo, since no other round runs beside it
-- Locks    nothing
-- Raises   nothing
-- Called   where tasks are queued
create or replace function wf._place(p_index int, p_scopes bigint[], p_in_round boolean) returns int
language sql immutable
begin atomic
    select case when p_in_round then null
                else coalesce(p_index,
                              case when cardinality(p_scopes) > 1
                                   then ((p_scopes[cardinality(p_scopes)]
                                          - p_scopes[cardinality(p_scopes) - 1]) & 1023)::int end) end;
end;

-- wf._ready_since(p_instance, p_process, p_turn)
--
-- Returns  since when a request with that turn is ready: since the last move of its process. A task that waited for
--          its next attempt has become ready without a move, and still has its error: then the turn says the time
-- Locks    nothing
-- Raises   nothing
-- Called   by looks
create or replace function wf._ready_since(p_instance bigint, p_process bigint, p_turn bigint) returns timestamptz
language sql stable
begin atomic
    select (select case when p.error is null then p.at
                        else to_timestamp(p_turn / 1000000.0)
                             - coalesce(wf._place(p.index, p.scopes, p.in_round) % 1024, 0) * interval '0.1 s' end
              from wf.process p where p.instance_id = p_instance and p.id = p_process);
end;

-- wf._offer(p_requests, p_moves)
--
-- Makes requests ready, and wakes sleeping drivers. Nothing else inserts into wf.ready.
-- Requests of new tasks, by far the most, are given as the moves that the insert trigger
-- has of them.
--
-- Returns  true
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   by the insert trigger of process, and wherever a request becomes ready
create or replace function wf._offer(p_requests wf.request[], p_moves wf.move[] default null) returns boolean
language plpgsql as $$
begin
    if p_requests is null then
        insert into wf.ready (instance_id, process_id, lane_id, rank, turn, request)
        select m.instance_id, m.id, m.lane_id, m.rank, m.turn, 'start' from wf._due(p_moves, 'ready') m;
    else
        insert into wf.ready (instance_id, process_id, lane_id, rank, turn, request)
        select r.instance_id, r.process_id, r.lane_id, r.rank, r.turn, r.request from unnest(p_requests) r;
    end if;
    if found and wf._may_ring() then
        perform wf._ring();
    end if;
    return true;
end;
$$;

-- wf._is_unevaluated(p_input, p_policy, p_node_input, p_fixed, p_node_policy)
--
-- Returns  whether arguments or policies of a task could not be evaluated: it has no value of what its node says
-- Locks    nothing
-- Raises   nothing
-- Called   wherever tasks are queued; PostgreSQL folds it into the query
create or replace function wf._is_unevaluated(p_input jsonb, p_policy jsonb, p_node_input jsonb, p_fixed boolean,
                                              p_node_policy jsonb) returns boolean
language sql immutable
begin atomic
    select p_input is null and p_node_input is not null and not p_fixed
           or p_policy is null and p_node_policy is not null;
end;

-- wf._queue(p_moves)
--
-- Gives tasks in INIT their place. A task becomes ready, or is parked until its group or rate
-- has a place, or, if it is a wait, is WAITING at once. Arguments and policies that could not
-- be evaluated before are evaluated again; the rows are read after that. A task that waits
-- for the time of its next attempt is not queued.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates; groups are settled later
-- Raises   nothing of its own
-- Called   by the triggers of process
create or replace function wf._queue(p_moves wf.full_move[]) returns void
language plpgsql as $$
declare
    f record;
begin
    if exists (select from wf._due_full(p_moves, 'queue') m where m.retry_from is not null and m.was <> 'INIT') then
        -- as _waits_for_retry, without a call for each task
        p_moves := array(select m from unnest(p_moves) m
                          where not exists (select from wf.timer t where t.instance_id = m.instance_id
                                               and t.process_id = m.id and t.kind = 'retry' offset 0));
    end if;
    select bool_or(wf._is_unevaluated(m.input, m.policy, n.input, n.input_fixed, n.policy)) as again,
           bool_or(wf._waits_inside(m.machine)) as wait,
           bool_or(not wf._waits_inside(m.machine) and coalesce(m.group_id, m.rate_id) is null) as free,
           bit_or(case when wf._waits_inside(m.machine) then 0 when m.group_id is not null then 1
                       when m.rate_id is not null then 2 else 0 end) as parks
      into f
      from wf._due_full(p_moves, 'queue') m
     cross join lateral (select x.* from wf.node x where x.version_id = m.version_id and x.id = m.node_id offset 0) n;
    if f.again then
        perform wf._evaluate_again(p_moves);
        -- a task that failed once more may wait for another attempt by now
        p_moves := array(select m from unnest(p_moves) m where not wf._waits_for_retry(m.instance_id, m.id));
    end if;
    if f.free or f.again then
        perform wf._offer(array_agg(row(p.instance_id, p.id, p.lane_id, p.rank,
                                        wf._turn(p.at, wf._place(p.index, p.scopes, p.in_round)), 'start')::wf.request))
           from wf._due_full(p_moves, 'queue') m
          cross join lateral (select x.*
                                from wf.process x
                               where x.instance_id = m.instance_id and x.id = m.id
                              offset 0) p
          where not wf._waits_inside(p.machine) and p.state = 'INIT' and coalesce(p.group_id, p.rate_id) is null;
    end if;
    if f.parks & 1 > 0 or f.again then
        with waiting as (
            insert into wf.parked (instance_id, process_id, reason, group_id, lane_id, rank, turn, parked_at, timed,
                                   rate_id)
            select p.instance_id, p.id, 'group', p.group_id, p.lane_id, p.rank,
                   wf._turn(p.at, wf._place(p.index, p.scopes, p.in_round)), p.at,
                   p.timed & wf._limit('deadline') > 0, p.rate_id
              from wf._due_full(p_moves, 'queue') m
             cross join lateral (select x.*
                                   from wf.process x
                                  where x.instance_id = m.instance_id and x.id = m.id
                                 offset 0) p
             where not wf._waits_inside(p.machine) and p.state = 'INIT' and p.group_id is not null
            returning instance_id, process_id, group_id)
        insert into wf.dirty (group_id, max)
        select distinct w.group_id, coalesce((p.policy ->> 'group_max')::numeric::int, n.group_max)
          from waiting w
         cross join lateral (select x.*
                               from wf.process x
                              where x.instance_id = w.instance_id and x.id = w.process_id
                             offset 0) p
         cross join lateral (select x.*
                               from wf.node x
                              where x.version_id = p.version_id and x.id = p.node_id
                             offset 0) n;
        perform wf._ring();
    end if;
    if f.parks & 2 > 0 or f.again then
        perform wf._begin_rated(p_moves);
    end if;
    -- last: a wait that fails may tear the other tasks down, which are found by the rows above
    if f.wait then
        perform wf._begin_wait(p_moves);
    end if;
end;
$$;

-- wf._unqueue(p_moves)
--
-- Takes requests that their processes no longer need out of the queue.
--
-- Returns  nothing
-- Locks    rows of ready and parked
-- Raises   nothing
-- Called   by the update trigger of process
create or replace function wf._unqueue(p_moves wf.move[]) returns void
language plpgsql as $$
begin
    delete from wf.ready d
     where d.ctid = any (array(select k.ctid from wf._due(p_moves, 'unqueue') m
                                cross join lateral (select x.ctid
                                                      from wf.ready x
                                                     where x.instance_id = m.instance_id and x.process_id = m.id
                                                    offset 0) k));
    delete from wf.parked d
     where d.ctid = any (array(select k.ctid from wf._due(p_moves, 'unqueue') m
                                cross join lateral (select x.ctid
                                                      from wf.parked x
                                                     where x.instance_id = m.instance_id and x.process_id = m.id
                                                    offset 0) k));
end;
$$;

-- wf._evaluate_again(p_moves)
--
-- Evaluates the arguments and policies of tasks again, if that failed before.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Raises   nothing of its own
-- Called   by _queue, on a retry
create or replace function wf._evaluate_again(p_moves wf.full_move[]) returns void
language plpgsql as $$
begin
    with entries as materialized (
        select k.place, wf._prepare(m.instance_id, m.scopes, m.version_id, m.node_id) as e
          from wf._due_full(p_moves, 'queue') m
         cross join lateral (select x.ctid as place
                               from wf.process x
                              where x.instance_id = m.instance_id and x.id = m.id
                             offset 0) k
         cross join lateral (select x.*
                               from wf.node x
                              where x.version_id = m.version_id and x.id = m.node_id
                             offset 0) n
         where wf._is_unevaluated(m.input, m.policy, n.input, n.input_fixed, n.policy))
    update wf.process p
       set was = p.state,
           event = case when (x.e).error is null then 'enable' else 'fail' end,
           state = case when (x.e).error is null then 'INIT' else 'FAILED' end,
           error = (x.e).error, input = (x.e).input, policy = (x.e).policy,
           group_id = coalesce((x.e).group_id, p.group_id),
           rate_id = coalesce((x.e).rate_id, p.rate_id), lane_id = coalesce((x.e).lane_id, p.lane_id),
           rank = coalesce((x.e).rank, p.rank)
      from entries x
     where p.ctid = x.place;
end;
$$;
