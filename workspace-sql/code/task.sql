-- Leaves: their place in the queue, the requests that release what they hold
-- outside, and what their end leaves behind.

-- wf._turn(p_at, p_index)
--
-- Virtual time of a request. The elements of one forall stand 0.1 s apart, so
-- that a large one does not stand before everybody else: the 1,000 that it may
-- have open fill 100 s, and whoever comes in that time goes before the rest. As
-- a queue is never idle that costs nobody anything who is alone; nobody is put
-- off for longer, however long the list is.
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

-- wf._place(p_index, p_scopes)
--
-- Returns  a number that tells the elements of a forall apart, for _turn: the
--          index, or, further down, how much later the element began than what
--          is around it; null outside of a forall
-- Locks    nothing
-- Raises   nothing
-- Called   where leaves are queued
create or replace function wf._place(p_index int, p_scopes bigint[]) returns int
language sql immutable
begin atomic
    select coalesce(p_index,
                    case when cardinality(p_scopes) > 1
                         then ((p_scopes[cardinality(p_scopes)] - p_scopes[cardinality(p_scopes) - 1]) % 1024)::int end);
end;

-- wf._queue(p_instance, p_process)
--
-- Gives leaves in INIT their place: ready, or parked before their group, or (a
-- wait) waiting at once. Arguments and policies that could not be evaluated
-- before are evaluated again.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates; groups are settled later
-- Raises   nothing of its own
-- Called   by the triggers of process
create or replace function wf._queue(p_instance bigint[], p_process bigint[]) returns void
language plpgsql :inner as $$
declare
    f record;
begin
    select bool_or(p.input is null and n.input is not null and not n.input_fixed or p.policy is null and n.policy is not null) as again,
           bool_or(p.kind = 'wait') as wait,
           bool_or(p.group_id is null) as free,
           bool_or(p.group_id is not null) as grouped
      into f
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
     cross join lateral (select x.* from wf.node x where x.version_id = p.version_id and x.id = p.node_id offset 0) n;
    if f.again then
        perform wf._evaluate_again(p_instance, p_process);
    end if;
    if f.wait then
        perform wf._begin_wait(p_instance, p_process);
    end if;
    if f.free then
        insert into wf.ready (instance_id, process_id, lane_id, rank, turn, request)
        select p.instance_id, p.id, p.lane_id, p.rank, wf._turn(p.at, wf._place(p.index, p.scopes)), 'start'
          from unnest(p_instance, p_process) u (i, j)
         cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
         where p.kind in ('sync', 'async') and p.state = 'INIT' and p.group_id is null;
        perform wf._ring();
    end if;
    if f.grouped then
        with waiting as (
            insert into wf.parked (instance_id, process_id, reason, group_id, lane_id, rank, turn, parked_at)
            select p.instance_id, p.id, 'group', p.group_id, p.lane_id, p.rank, wf._turn(p.at, wf._place(p.index, p.scopes)), p.at
              from unnest(p_instance, p_process) u (i, j)
             cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
             where p.kind in ('sync', 'async') and p.state = 'INIT' and p.group_id is not null
            returning instance_id, process_id, group_id)
        insert into wf.dirty (group_id, max)
        select distinct w.group_id, coalesce((p.policy ->> 'group_max')::numeric::int, n.group_max)
          from waiting w
         cross join lateral (select x.* from wf.process x where x.instance_id = w.instance_id and x.id = w.process_id offset 0) p
         cross join lateral (select x.* from wf.node x where x.version_id = p.version_id and x.id = p.node_id offset 0) n;
        perform wf._ring();
    end if;
end;
$$;

-- wf._evaluate_again(p_instance, p_process)
--
-- Evaluates the arguments and policies of leaves where that failed before.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Raises   nothing of its own
-- Called   by _queue, on a retry
create or replace function wf._evaluate_again(p_instance bigint[], p_process bigint[]) returns void
language plpgsql :inner as $$
begin
    with entries as materialized (
        select p.place, wf._prepare(p.instance_id, p.scopes, p.version_id, p.node_id) as e
          from unnest(p_instance, p_process) u (i, j)
         cross join lateral (select x.ctid as place, x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
         cross join lateral (select x.* from wf.node x where x.version_id = p.version_id and x.id = p.node_id offset 0) n
         where p.input is null and n.input is not null and not n.input_fixed or p.policy is null and n.policy is not null)
    update wf.process p
       set was = p.state,
           event = case when (x.e).error is null then 'enable' else 'fail' end,
           state = case when (x.e).error is null then 'INIT' else 'FAILED' end,
           error = (x.e).error, input = (x.e).input, policy = (x.e).policy,
           group_id = coalesce((x.e).group_id, p.group_id), lane_id = coalesce((x.e).lane_id, p.lane_id), rank = coalesce((x.e).rank, p.rank)
      from entries x
     where p.ctid = x.place;
end;
$$;

-- wf._wake_at(p_at, p_duration)
--
-- Returns  when a sleep ends that begins at p_at; null if its duration is none
-- Locks    nothing
-- Raises   nothing
-- Called   by _begin_wait
create or replace function wf._wake_at(p_at timestamptz, p_duration jsonb) returns timestamptz
language plpgsql stable :inner as $$
begin
    if jsonb_typeof(p_duration) is distinct from 'string' then
        return null;
    end if;
    return p_at + wf._parse_duration(p_duration #>> '{}');
exception when sqlstate 'WF020' or data_exception then
    return null;
end;
$$;

-- wf._begin_wait(p_instance, p_process)
--
-- Begins to wait, by kind of wait: a sleep sets its timer, or fails if its
-- duration is none; a fail fails at once.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Raises   nothing of its own
-- Called   by _queue
create or replace function wf._begin_wait(p_instance bigint[], p_process bigint[]) returns void
language plpgsql :inner as $$
begin
    insert into wf.timer (instance_id, process_id, kind, due_at)
    select p.instance_id, p.id, 'sleep', w.at
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
     cross join lateral (select x.* from wf.node x where x.version_id = p.version_id and x.id = p.node_id offset 0) n
      join wf.task_type y on y.id = n.type_id
     cross join lateral (select wf._wake_at(p.at, coalesce(p.input, n.input) -> 'duration') as at offset 0) w
     where p.kind = 'wait' and p.state = 'INIT' and y.wait = 'sleep' and w.at is not null;
    update wf.process p
       set was = p.state, event = 'fail', state = 'FAILED',
           error = wf._refuse('input', format('a sleep needs a duration, not %s', left(coalesce((coalesce(q.input, n.input) -> 'duration')::text, 'null'), 100)))
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.ctid as place, x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) q
     cross join lateral (select x.* from wf.node x where x.version_id = q.version_id and x.id = q.node_id offset 0) n
      join wf.task_type y on y.id = n.type_id
     where p.ctid = q.place and p.kind = 'wait' and p.state = 'INIT' and y.wait = 'sleep'
       and not exists (select from wf.timer t where t.instance_id = u.i and t.process_id = u.j);
    update wf.process p
       set was = p.state, event = 'begin', state = 'WAITING'
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.ctid from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) k
     where p.ctid = k.ctid and p.kind = 'wait' and p.state = 'INIT';
    update wf.process p
       set was = p.state, event = 'fail', state = 'FAILED',
           error = jsonb_strip_nulls(jsonb_build_object('kind', coalesce(a.args ->> 'kind', 'failed'), 'message', a.args -> 'msg', 'detail', a.args -> 'detail'))
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.ctid as place, x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) q
     cross join lateral (select x.* from wf.node x where x.version_id = q.version_id and x.id = q.node_id offset 0) n
      join wf.task_type y on y.id = n.type_id
     cross join lateral (select coalesce(q.input, n.input) as args) a
     where p.ctid = q.place and p.kind = 'wait' and p.state = 'WAITING' and y.wait = 'fail';
end;
$$;

-- wf._names_attempt(p_args)
--
-- Returns  whether a request with these arguments names its attempt in place of a handle
-- Locks    nothing
-- Raises   nothing
-- Called   by _ask and _decide
create or replace function wf._names_attempt(p_args jsonb) returns boolean
language sql immutable
begin atomic
    select strpos(p_args::text, '["instance", "attempt"]') > 0 and strpos(p_args::text, '["var", "handle"]') = 0;
end;

-- wf._ask(p_instance, p_process, p_at)
--
-- Asks for the cancel or cleanup request that the state of asynchronous tasks
-- calls for. A request that is out is waited for, except a start that was not
-- acknowledged: that is taken back. Where the type has no such request, or one
-- that needs a handle and there is none, the task moves on at once.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Raises   nothing of its own
-- Called   by the update trigger of process
create or replace function wf._ask(p_instance bigint[], p_process bigint[], p_at timestamptz) returns void
language plpgsql :inner as $$
begin
    delete from wf.lease l
     where l.ctid = any (array(select k.ctid from unnest(p_instance, p_process) u (i, j)
                                cross join lateral (select x.was from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
                                cross join lateral (select x.ctid from wf.lease x where x.instance_id = u.i and x.process_id = u.j offset 0) k
                                where p.was = 'START_REQUESTED'));
    insert into wf.ready (instance_id, process_id, lane_id, rank, turn, request)
    select p.instance_id, p.id, p.lane_id, p.rank, wf._turn(p_at, null), q.request
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
     cross join lateral (select x.* from wf.node x where x.version_id = p.version_id and x.id = p.node_id offset 0) n
      join wf.task_request q on q.type_id = n.type_id
                            and q.request = case when p.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED') then 'cancel' else 'cleanup' end
     where (p.handle is not null or wf._names_attempt(q.args))
       and not exists (select from wf.lease l where l.instance_id = p.instance_id and l.process_id = p.id)
        on conflict do nothing;
    perform wf._ring();
    update wf.process p
       set was = p.state, at = p_at,
           event = case when p.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED') then 'cancelled' else 'cleaned' end,
           state = wf._next_state('async', p.state, case when p.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED') then 'cancelled' else 'cleaned' end, false),
           error = case when p.state = 'CANCEL_REQUESTED' then wf._cancelled(p.error)
                        else p.error end,
           handle = case when p.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED') then p.handle end
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.ctid from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) k
     where p.ctid = k.ctid
       and not exists (select from wf.lease l where l.instance_id = u.i and l.process_id = u.j)
       and not exists (select from wf.ready r where r.instance_id = u.i and r.process_id = u.j);
end;
$$;

-- wf._cancelled(p_cause)
--
-- Returns  the error of a cancelled task, with the error that it had before as cause
-- Locks    nothing
-- Raises   nothing
-- Called   where a task in CANCEL_REQUESTED becomes FAILED
create or replace function wf._cancelled(p_cause jsonb) returns jsonb
language sql immutable
begin atomic
    select case when p_cause ->> 'kind' = 'cancelled' then p_cause
                else jsonb_strip_nulls(jsonb_build_object('kind', 'cancelled', 'message', 'cancelled', 'cause', p_cause)) end;
end;

-- wf._next_state(p_machine, p_state, p_event, p_stays)
--
-- Returns  the state to which an event leads; where there are two, p_stays
--          chooses the present state; null if there is no such move
-- Locks    nothing
-- Raises   nothing
-- Called   wherever a move is made whose target is not a matter of course
create or replace function wf._next_state(p_machine text, p_state text, p_event text, p_stays boolean) returns text
language sql stable
begin atomic
    select (select t.to_state
              from wf.transition t
             where t.machine = p_machine and t.from_state = p_state and t.event = p_event
             order by (t.to_state = t.from_state) = p_stays desc
             limit 1);
end;

-- wf._bind(p_instance, p_process)
--
-- Binds the names of processes that have ended: their output, and what a
-- forall has collected, in the order of its elements. What a forall kept is
-- dropped, however it came to its end.
--
-- Returns  nothing
-- Locks    nothing
-- Raises   nothing of its own
-- Called   by the update trigger of process
create or replace function wf._bind(p_instance bigint[], p_process bigint[]) returns void
language plpgsql :inner as $$
begin
    insert into wf.binding (instance_id, scope_id, name, value)
    select p.instance_id, s.scopes[cardinality(s.scopes)], p.bind, p.output
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
      left join lateral (select x.scopes from wf.process x where x.instance_id = p.instance_id and x.id = p.parent_id offset 0) q on true
     cross join lateral (select case p.kind when 'call' then q.scopes else p.scopes end as scopes) s
     where p.bind is not null and p.output is not null
        on conflict (instance_id, scope_id, name) do update set value = excluded.value;
    insert into wf.binding (instance_id, scope_id, name, value)
    select p.instance_id, p.scopes[cardinality(p.scopes)], c.item ->> 'as',
           coalesce((select jsonb_agg(coalesce(r.value -> (c.k - 1)::int, 'null') order by g)
                       from generate_series(0, p.total - 1) g
                       left join wf.forall_result r on r.instance_id = p.instance_id and r.process_id = p.id and r.index = g), '[]')
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
     cross join lateral (select x.* from wf.node x where x.version_id = p.version_id and x.id = p.node_id offset 0) n
     cross join lateral jsonb_array_elements(n.collect) with ordinality c (item, k)
     where p.kind = 'forall' and n.collect is not null and p.event = 'end'
        on conflict (instance_id, scope_id, name) do update set value = excluded.value;
    delete from wf.forall_result r
     where r.ctid = any (array(select k.ctid from unnest(p_instance, p_process) u (i, j)
                                cross join lateral (select x.ctid from wf.forall_result x where x.instance_id = u.i and x.process_id = u.j offset 0) k));
    delete from wf.forall_item r
     where r.ctid = any (array(select k.ctid from unnest(p_instance, p_process) u (i, j)
                                cross join lateral (select x.ctid from wf.forall_item x where x.instance_id = u.i and x.process_id = u.j offset 0) k));
end;
$$;

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
    select p.instance_id, p.parent_id, p.index, coalesce(r.result -> 'value', r.result)
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
-- Returns  the first error among what a forall has collected, or null
-- Locks    nothing
-- Raises   nothing
-- Called   by the update trigger of process when everything in a forall has ended
create or replace function wf._collection_error(p_process wf.process) returns jsonb
language plpgsql stable :inner as $$
begin
    return (select r.value -> 'error'
              from wf.forall_result r
             where r.instance_id = p_process.instance_id and r.process_id = p_process.id and jsonb_typeof(r.value) = 'object'
             order by r.index
             limit 1);
end;
$$;

-- wf._end_empty(p_instance, p_process, p_at)
--
-- Ends composites that have nothing in them; let and return have their value.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Raises   nothing of its own
-- Called   by the triggers of process
create or replace function wf._end_empty(p_instance bigint[], p_process bigint[], p_at timestamptz) returns void
language plpgsql :inner as $$
begin
    update wf.process p
       set was = p.state, state = 'END', at = p_at,
           event = case p.kind when 'return' then 'return' else 'end' end,
           output = case when p.kind in ('let', 'return') then coalesce(p.input, k.input) end
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.ctid, (select n.input from wf.node n where n.version_id = x.version_id and n.id = x.node_id) as input
                           from wf.process x
                          where x.instance_id = u.i and x.id = u.j offset 0) k
     where p.ctid = k.ctid;
end;
$$;
