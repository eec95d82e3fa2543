-- The next attempt of a task that has failed, as its policy `retry` says. A block that could
-- not be entered is tried again in the same way; errors inside a block are in flow/again.sql.

-- wf._accepts_retry(p_on, p_kind, p_idempotent)
--
-- An error of kind engine is never tried again by itself: the engine has set the task
-- aside, and evaluates nothing of it.
--
-- Returns  whether a policy retries errors of this kind; p_on null: the policy names no kinds
-- Locks    nothing
-- Raises   nothing
-- Called   by _judge_retry
create or replace function wf._accepts_retry(p_on jsonb, p_kind text, p_idempotent boolean) returns boolean
language sql immutable
begin atomic
    select case when p_kind = 'engine' then false
                when p_on is not null then p_on ? p_kind
                else p_kind not in ('input', 'output', 'cancelled') and (p_kind <> 'lost' or p_idempotent) end;
end;

-- wf._retry_chance(p_process, p_attempt)
--
-- Gives the jitter of an attempt. It is not random, so it can be tested: it goes
-- from process to process in steps of the golden ratio, which keeps neighbours
-- further apart than random numbers would.
--
-- Returns  a number from 0 to less than 1
-- Locks    nothing
-- Raises   nothing
-- Called   by _retry
create or replace function wf._retry_chance(p_process bigint, p_attempt int) returns numeric
language sql immutable
begin atomic
    select (p_process % 1000000 * 618034 + p_attempt::bigint * 414214) % 1000000 / 1000000.0;
end;

-- wf._waits_for_retry(p_instance, p_process)
--
-- Returns  whether a process waits for the time of its next attempt
-- Locks    nothing
-- Raises   nothing
-- Called   where tasks in INIT are queued, moved by operators, or looked at
create or replace function wf._waits_for_retry(p_instance bigint, p_process bigint) returns boolean
language sql stable
begin atomic
    select exists (select from wf.timer t
                    where t.instance_id = p_instance and t.process_id = p_process and t.kind = 'retry');
end;

-- wf._judge_retry(p_values, p_tried, p_kind, p_error, p_idempotent, p_when, p_reads, p_instance, p_scopes)
--
-- Returns  whether a policy retries after so many attempts and an error of this kind: true or false; or
--          {"error": …} if its condition, which reads the error and names of these scopes, cannot be evaluated.
--          p_values null: nothing is known of it
-- Locks    nothing
-- Raises   nothing
-- Called   by _retry, where PostgreSQL folds it into the query, and _has_round_left
create or replace function wf._judge_retry(p_values jsonb, p_tried int, p_kind text, p_error jsonb,
                                           p_idempotent boolean, p_when jsonb, p_reads jsonb, p_instance bigint,
                                           p_scopes bigint[])
returns jsonb
language sql stable
begin atomic
    select case when p_values is null or not wf._accepts_retry(p_values -> 'on', p_kind, p_idempotent)
                     or p_tried >= (p_values ->> 'attempts')::int and p_values -> 'attempts' <> '-1' then 'false'
                when p_when is null then 'true'
                else wf._test(p_when, wf._environment(p_instance, p_scopes, p_reads)
                                      || jsonb_build_object('error', p_error), 'when') end;
end;

-- wf._retry(p_moves)
--
-- Handles processes with a policy `retry` that have failed, or that no longer wait for
-- their next attempt. A process that the policy tries again leaves FAILED at once. It waits
-- for a timer of kind retry, in INIT or while it releases what it holds outside. It keeps
-- its error until the attempt begins. A condition that cannot be evaluated is noted in the
-- history, and counts as false.
--
-- Returns  whether all of the processes that have failed are tried again: then no error is left to handle
-- Locks    their timers, and nothing beyond the rows it updates
-- Raises   nothing of its own
-- Called   by the update trigger of process
create or replace function wf._retry(p_moves wf.full_move[]) returns boolean
language plpgsql as $$
declare
    v_retried bigint;
begin
    perform wf._forget_retry(array_agg(m.instance_id), array_agg(m.id))
       from wf._due_full(p_moves, 'retry') m where m.was in ('INIT', 'RETRY_CLEANUP_REQUESTED') having count(*) > 0;
    with failed as materialized (
        select m.instance_id, m.id, m.attempt, m.at, r.values, r.tried,
               wf._judge_retry(r.values, r.tried, m.error ->> 'kind',
                               m.error || jsonb_build_object('process', m.id, 'attempt', m.attempt),
                               n.idempotent or coalesce(m.policy -> 'idempotent', 'false') = 'true',
                               n.retry_when, n.reads, m.instance_id,
                               case when n.retry_when is not null
                                    then wf._policy_scopes(m.instance_id, m.id, m.parent_id, m.scopes) end) as verdict
          from wf._due_full(p_moves, 'retry') m
         cross join lateral (select x.retry, x.retry_when, x.reads, x.idempotent from wf.node x
                              where x.version_id = m.version_id and x.id = m.node_id offset 0) n
         -- null if the policy could not be evaluated: then nothing is known of it
         cross join lateral (select wf._retry_of(n.retry, m.policy) as values,
                                    m.attempt - m.retry_from + 1 as tried) r
         -- a task that was cancelled before its first attempt is not tried again
         where m.state = 'FAILED' and m.event <> 'cancel' and r.values is not null
           and not (wf._is_final_timeout(m.error)
                    and (m.event = 'timeout' or m.was in ('CANCEL_REQUESTED', 'ABORTING')))
           -- nor a block that may not have another round
           and (m.machine <> 'composite' or m.error ->> 'kind' <> 'limit')
           -- and nothing begins below a teardown
           and not (exists (select from wf.teardown t where t.instance_id = m.instance_id)
                    and exists (select from wf._torn(array[m.instance_id], array[m.id])))),
    notes as (
        insert into wf.event (instance_id, process_id, xid, at, attempt, was, event, state, detail)
        select f.instance_id, f.id, pg_current_xact_id(), f.at, f.attempt, 'FAILED', 'undecided', 'FAILED',
               f.verdict -> 'error'
          from failed f where f.verdict ? 'error'),
    due as (
        insert into wf.timer (instance_id, process_id, kind, due_at)
        select f.instance_id, f.id, 'retry',
               f.at + wf._retry_delay(f.values, f.tried, wf._retry_chance(f.id, f.attempt))
          from failed f where f.verdict = 'true')
    update wf.process p
       set was = p.state, event = 'retry', attempt = p.attempt + 1, output = null,
           state = case p.machine when 'async' then 'RETRY_CLEANUP_REQUESTED' else 'INIT' end
      from failed f
     cross join lateral (select x.ctid from wf.process x where x.instance_id = f.instance_id and x.id = f.id offset 0) k
     where p.ctid = k.ctid and f.verdict = 'true';
    get diagnostics v_retried = row_count;
    return v_retried = (select count(*) from unnest(p_moves) m
                         where m.steps & (wf._step('failed') | wf._step('handle')) > 0);
end;
$$;

-- wf._forget_retry(p_instance, p_process)
--
-- Returns  nothing
-- Locks    their timers of kind retry, which it deletes
-- Raises   nothing
-- Called   by _retry
create or replace function wf._forget_retry(p_instance bigint[], p_process bigint[]) returns void
language plpgsql as $$
begin
    delete from wf.timer t
     where t.ctid = any (array(select k.ctid from unnest(p_instance, p_process) u (i, j)
                                cross join lateral (select x.ctid from wf.timer x
                                                     where x.instance_id = u.i and x.process_id = u.j
                                                       and x.kind = 'retry' offset 0) k));
end;
$$;

-- wf._begin_attempts(p_instance, p_process, p_at)
--
-- Begins the next attempt of processes whose time has come: a block is entered again, a task is queued. If the
-- cleanup of the attempt before is still under way, it does nothing: the task is queued when that has ended.
-- Most tasks have nothing but their request to wait for. These become ready without a move: a move, with what
-- follows from it, takes two thirds of the time.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Raises   nothing of its own
-- Called   by _fire_timers, which has deleted their timers
create or replace function wf._begin_attempts(p_instance bigint[], p_process bigint[], p_at timestamptz) returns void
language plpgsql as $$
declare
    v_held constant boolean := exists (select from wf.suspended);
    f record;
begin
    select array_agg(row(p.instance_id, p.id, p.lane_id, p.rank,
                         wf._turn(p_at, wf._place(p.index, p.scopes, p.in_round)), 'start')::wf.request)
               filter (where k.free) as free,
           array_agg(p.place) filter (where not k.free) as moving
      into f
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.ctid as place, x.* from wf.process x
                          where x.instance_id = u.i and x.id = u.j and x.state = 'INIT' offset 0) p
     cross join lateral (select x.input, x.input_fixed, x.policy from wf.node x
                          where x.version_id = p.version_id and x.id = p.node_id offset 0) n
     cross join lateral (select not v_held and p.machine in ('sync', 'async')
                                and coalesce(p.group_id, p.rate_id) is null
                                and coalesce(p.timed & wf._limit('wait'), 0) = 0
                                and not wf._is_unevaluated(p.input, p.policy, n.input, n.input_fixed, n.policy)
                                as free offset 0) k;
    if f.free is not null then perform wf._offer(f.free); end if;
    if f.moving is not null then
        update wf.process p
           set was = p.state, event = 'due', at = p_at, error = null,
               state = case p.machine when 'composite' then 'ACTIVE' else 'INIT' end
         where p.ctid = any (f.moving);
    end if;
end;
$$;
