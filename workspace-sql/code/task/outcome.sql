-- What drivers report. A driver says only what came back; verdict.sql decides
-- what it means, from the clauses of the task type.

-- wf._read_body(p_body)
--
-- Returns  a report's body as JSON; null if it is empty
-- Locks    nothing
-- Raises   22021, 22P02, 22P05 … if PostgreSQL cannot store it as JSON
-- Called   by _apply_picked and _apply_judged
create or replace function wf._read_body(p_body bytea) returns jsonb
language sql stable
begin atomic
    select convert_from(nullif(p_body, ''::bytea), 'UTF8')::jsonb;
end;

-- wf._apply_reports(p_driver, p_instance, p_process, p_token, p_event, p_body)
--
-- Applies reports, set-based. The caller holds the instances. A report with the
-- event engine says that the report itself cannot be applied. If a driver of another login
-- holds a request, its report is answered as if the request had been taken back.
--
-- Returns  the answer to each report, in order: done, already, stale or late
-- Locks    nothing beyond the rows it updates
-- Raises   whatever a report that cannot be stored raises
-- Called   by outcome, for a whole batch and, if that fails, for each report alone; by sql_outcome
create or replace function wf._apply_reports(p_driver bigint, p_instance bigint[], p_process bigint[], p_token uuid[],
                                             p_event text[], p_body bytea[]) returns text[]
language plpgsql as $$
declare
    v_at timestamptz := wf._now();
    v_cap bigint;
    v_own uuid[];
    f record;
begin
    -- nested loops keep the order of the reports
    select wf._sign(p_driver),
           array_agg(case when l.token is not null then 'done'
                          when p.token = r.token then 'already'
                          when p.id is not null and p.token is null then 'late'
                          else 'stale' end) as answers,
           array_agg(p.place) filter (where s.simple and p.plain) as plain,
           array_agg(p.place) filter (where s.simple and not p.plain) as simple,
           array_agg(r.body) filter (where s.simple and not p.plain) as bodies,
           array_agg(p.place) filter (where s.failed) as failed,
           array_agg(r.body) filter (where s.failed) as errors,
           count(*) filter (where l.token is not null and r.event in ('response', 'error', 'engine')
                              and not (s.simple and p.plain)) as judged,
           -- a driver that reports has begun: this makes up for an acknowledgement that did not come
           bool_or(r.event = 'ack'
                   or r.event <> 'release' and p.machine = 'async' and p.state = 'START_REQUESTED') as acks,
           bool_or(p.machine = 'async') as async,
           bool_or(l.driver_id is distinct from p_driver and l.token is not null) as others
      into f
      from unnest(p_instance, p_process, p_token, p_event, p_body) r (i, j, token, event, body)
      left join lateral (select x.ctid as place, x.id, x.machine, x.plain, x.state, x.token
                           from wf.process x where x.instance_id = r.i and x.id = r.j offset 0) p on true
      left join lateral (select x.token, x.driver_id from wf.lease x
                          where x.instance_id = r.i and x.process_id = r.j and x.token = r.token offset 0) l on true
     cross join lateral (select l.token is not null and p.machine = 'sync' and p.state = 'START_REQUESTED' as sent
                         offset 0) o
     cross join lateral (select o.sent and r.event = 'response' as simple, o.sent and r.event = 'error' as failed) s;
    if f.others then
        v_own := wf._own_tokens(p_instance, p_process, p_token);
        if v_own is distinct from p_token then
            return wf._apply_reports(p_driver, p_instance, p_process, v_own, p_event, p_body);
        end if;
    end if;
    if f.answers && array['stale', 'late'] then
        perform wf._note_late(p_instance, p_process, p_event, p_body, f.answers, v_at);
    end if;
    if f.acks then
        perform wf._acknowledge(p_instance, p_process, p_token, p_event, v_at);
    end if;
    if 'release' = any (p_event) then
        perform wf._release(array_agg(r.i), array_agg(r.j), v_at)
           from unnest(p_instance, p_process, p_token, p_event) r (i, j, token, event)
          cross join lateral (select x.token from wf.lease x
                               where x.instance_id = r.i and x.process_id = r.j and x.token = r.token offset 0) l
          where r.event = 'release';
    end if;
    if f.plain is not null then
        -- nobody else moves these rows while their instances are held: their places stay
        update wf.process p set was = p.state, event = 'success', state = 'END', at = v_at, error = null
         where p.ctid = any (f.plain) and p.state = 'START_REQUESTED';
    end if;
    if f.judged > 0 then
        v_cap := wf._setting_number('value_bytes');
        if wf._apply_failed(f.failed, f.errors, v_cap, v_at) + wf._apply_picked(f.simple, f.bodies, v_cap, v_at)
           < f.judged then
            perform wf._apply_judged(p_instance, p_process, p_token, p_event, p_body, v_cap, v_at);
            if f.async then
                perform wf._pace_reported(p_instance, p_process, p_event, f.answers, v_at);
            end if;
        end if;
    end if;
    return f.answers;
end;
$$;

-- wf._own_tokens(p_instance, p_process, p_token)
--
-- Returns  the tokens, in order, with null in place of those that drivers of other logins hold
-- Locks    nothing
-- Raises   nothing
-- Called   by _apply_reports, where a driver reports what another one holds
create or replace function wf._own_tokens(p_instance bigint[], p_process bigint[], p_token uuid[]) returns uuid[]
language sql stable
begin atomic
    select array_agg(case when (d.login <> wf._login()) is not true then r.token end
                     order by r.k)
      from unnest(p_instance, p_process, p_token) with ordinality r (i, j, token, k)
      left join wf.lease l on l.instance_id = r.i and l.process_id = r.j and l.token = r.token
      left join wf.driver d on d.id = l.driver_id;
end;

-- wf._note_late(p_instance, p_process, p_event, p_body, p_answer, p_at)
--
-- Keeps the content of reports that came too late, for operators to see.
--
-- Returns  nothing
-- Locks    nothing
-- Raises   nothing
-- Called   by _apply_reports
create or replace function wf._note_late(p_instance bigint[], p_process bigint[], p_event text[], p_body bytea[],
                                         p_answer text[], p_at timestamptz) returns void
language plpgsql as $$
begin
    insert into wf.event (instance_id, process_id, xid, at, attempt, was, event, state, detail)
    select p.instance_id, p.id, pg_current_xact_id(), p_at, p.attempt, p.state, 'late', p.state,
           jsonb_build_object('event', r.event, 'body', left(encode(substr(r.body, 1, 4096), 'escape'), 4096))
      from unnest(p_instance, p_process, p_event, p_body, p_answer) r (i, j, event, body, answer)
     cross join lateral (select x.* from wf.process x where x.instance_id = r.i and x.id = r.j offset 0) p
     where r.answer in ('stale', 'late') and r.event not in ('ack', 'release');
end;
$$;

-- wf._acknowledge(p_instance, p_process, p_token, p_event, p_at)
--
-- Moves asynchronous tasks whose drivers are about to send the request, or have sent it.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Raises   nothing of its own
-- Called   by _apply_reports
create or replace function wf._acknowledge(p_instance bigint[], p_process bigint[], p_token uuid[], p_event text[],
                                           p_at timestamptz) returns void
language plpgsql as $$
begin
    update wf.process p set was = p.state, event = 'ack', state = 'EXECUTING', at = p_at, progress = null
      from unnest(p_instance, p_process, p_token, p_event) r (i, j, token, event)
     cross join lateral (select x.token from wf.lease x
                          where x.instance_id = r.i and x.process_id = r.j and x.token = r.token offset 0) l
     cross join lateral (select x.ctid from wf.process x where x.instance_id = r.i and x.id = r.j offset 0) k
     where r.event <> 'release' and p.ctid = k.ctid and p.machine = 'async' and p.state = 'START_REQUESTED';
end;
$$;

-- wf._apply_picked(p_place, p_body, p_cap, p_at)
--
-- Applies successes whose output only names fields of the response: there is nothing to
-- evaluate, and _decide would say the same. A success is left to _decide if the instance
-- has no room for its output.
--
-- Returns  how many were applied; the others have to be judged
-- Locks    nothing beyond the rows it updates
-- Raises   whatever a response that cannot be stored raises
-- Called   by _apply_reports
create or replace function wf._apply_picked(p_place tid[], p_body bytea[], p_cap bigint, p_at timestamptz)
returns bigint
language plpgsql as $$
declare
    v_picked bigint;
begin
    if p_place is null then
        return 0;
    end if;
    update wf.process p set was = p.state, event = 'success', state = 'END', at = p_at, output = o.output, error = null
      from unnest(p_place, p_body) r (place, body)
     cross join lateral (select x.version_id, x.node_id, x.instance_id, x.scopes, x.bind from wf.process x
                          where x.ctid = r.place and x.state = 'START_REQUESTED' offset 0) k
     cross join lateral (select x.picks from wf.node x
                          where x.version_id = k.version_id and x.id = k.node_id and x.picks is not null offset 0) n
     cross join lateral (select wf._read_body(r.body) as body where octet_length(r.body) <= p_cap offset 0) b
     cross join lateral (select case when wf._holds_json(b.body) then wf._open(b.body)
                                     else b.body end as body offset 0) a
     cross join lateral (select jsonb_object_agg(x.name, coalesce(a.body -> x.name, 'null')) as output
                           from unnest(n.picks) x (name)) o
     where p.ctid = r.place and jsonb_typeof(a.body) = 'object'
       and (not wf._is_large(octet_length(r.body)) or k.bind is null
            or wf._overfull(k.instance_id, octet_length(r.body), k.scopes) is null);
    get diagnostics v_picked = row_count;
    return v_picked;
end;
$$;

-- wf._apply_failed(p_place, p_body, p_cap, p_at)
--
-- Applies errors of tasks whose start is their only request: no clause is evaluated for an
-- error, and _decide would say the same. An error that is too large is left to _decide.
--
-- Returns  how many were applied; the others have to be judged
-- Locks    nothing beyond the rows it updates
-- Raises   whatever an error that cannot be stored raises
-- Called   by _apply_reports
create or replace function wf._apply_failed(p_place tid[], p_body bytea[], p_cap bigint, p_at timestamptz)
returns bigint
language plpgsql as $$
declare
    v_failed bigint;
begin
    if p_place is null then
        return 0;
    end if;
    update wf.process p set was = p.state, event = 'fail', state = 'FAILED', at = p_at, error = wf._failure(b.body)
      from unnest(p_place, p_body) r (place, body)
     cross join lateral (select wf._read_body(r.body) as body where octet_length(r.body) <= p_cap offset 0) b
     where p.ctid = r.place and p.state = 'START_REQUESTED';
    get diagnostics v_failed = row_count;
    return v_failed;
end;
$$;

-- wf._apply_judged(p_instance, p_process, p_token, p_event, p_body, p_cap, p_at)
--
-- Applies reports that have to be judged, which _decide does. A report with the event
-- engine is not judged, and nothing is evaluated for it: the request has failed, however
-- often it might have been repeated.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Raises   whatever a report that cannot be stored raises
-- Called   by _apply_reports
create or replace function wf._apply_judged(p_instance bigint[], p_process bigint[], p_token uuid[], p_event text[],
                                            p_body bytea[], p_cap bigint, p_at timestamptz) returns void
language plpgsql as $$
declare
    v_instance bigint[]; -- those with a limit of inactivity that gave a sign of life
    v_process bigint[];
begin
    with verdicts as materialized (
        select p.place, p.instance_id, p.id, p.machine, p.state, l.request,
               case when r.event = 'engine'
                    then wf._decide(p.whole, l.request, 'error', wf._read_body(r.body), null, q.whole,
                                    coalesce((q.whole).attempts, 0))
                    when octet_length(r.body) > p_cap
                    then wf._decide(p.whole, l.request, 'error',
                                    wf._refuse('output', format('the response has %s bytes, more than the %s allowed',
                                                                octet_length(r.body), p_cap)), null, q.whole, 0)
                    else wf._decide(p.whole, l.request, r.event, wf._read_body(r.body),
                                    coalesce(p.input, n.input), q.whole, coalesce(t.failures, 0),
                                    coalesce(n.output_max,
                                             ((p.whole).policy ->> 'output')::numeric::int)) end as v,
               p.handle, p.progress
          from unnest(p_instance, p_process, p_token, p_event, p_body) r (i, j, token, event, body)
         cross join lateral (select x.request from wf.lease x
                              where x.instance_id = r.i and x.process_id = r.j and x.token = r.token offset 0) l
         cross join lateral (select x.ctid as place, x as whole, x.instance_id, x.id, x.version_id, x.node_id,
                                    x.machine, x.state, x.plain, x.input, x.handle, x.progress
                               from wf.process x where x.instance_id = r.i and x.id = r.j offset 0) p
         cross join lateral (select x.type_id, x.input, x.output_max from wf.node x
                              where x.version_id = p.version_id and x.id = p.node_id offset 0) n
         cross join lateral (select case when r.event <> 'engine' and x.clauses ? 'every'
                                         then wf._paced(x, coalesce(p.input, n.input)) else x end as whole
                               from wf.task_request x
                              where x.type_id = n.type_id and x.request = l.request offset 0) q
          left join lateral (select x.failures from wf.timer x
                              where x.instance_id = r.i and x.process_id = r.j
                                and x.kind = l.request offset 0) t on true
         where r.event in ('response', 'error', 'engine')
           and (r.event <> 'response' or not p.plain or p.state <> 'START_REQUESTED')),
    notes as (
        insert into wf.event (instance_id, process_id, xid, at, was, event, state, detail)
        select x.instance_id, x.id, pg_current_xact_id(), p_at, x.state,
               case when (x.v).event in ('cancelled', 'cleaned') then 'unclean' else 'request_failed' end,
               x.state, (x.v).detail
          from verdicts x where (x.v).detail is not null),
    moved as (
        update wf.process p
           set was = p.state, at = p_at,
               event = (x.v).event,
               -- as _next_state: to call it for each row would cost more than all the rest
               state = (select t.to_state from wf.transition t
                         where t.machine = x.machine and t.from_state = x.state and t.event = (x.v).event
                         order by (t.to_state = t.from_state) = (x.v).stays desc limit 1),
               handle = case when (x.v).event = 'cleaned' then null else (x.v).handle end,
               output = coalesce((x.v).output, p.output),
               progress = coalesce((x.v).progress, p.progress),
               error = case when (x.v).event = 'success' then null
                            when (x.v).event = 'cancelled' then wf._cancelled(null, (x.v).error)
                            else (x.v).error end
          from verdicts x
         where p.ctid = x.place
        returning p.instance_id, p.id, p.timed & wf._limit('inactivity') > 0 and p.state = 'EXECUTING'
                                       and (x.request = 'start' or p.handle is distinct from x.handle
                                            or p.progress is distinct from x.progress) as active)
    select array_agg(m.instance_id), array_agg(m.id) into v_instance, v_process from moved m where m.active;
    if v_instance is not null then
        perform wf._note_activity(v_instance, v_process, p_at);
    end if;
end;
$$;

-- wf._pace_reported(p_instance, p_process, p_event, p_answer, p_at)
--
-- Returns  nothing
-- Locks    as _pace
-- Raises   nothing of its own
-- Called   by _apply_reports, which has just moved the tasks
create or replace function wf._pace_reported(p_instance bigint[], p_process bigint[], p_event text[],
                                             p_answer text[], p_at timestamptz) returns void
language plpgsql as $$
begin
    perform wf._pace(array_agg(r.i), array_agg(r.j), array_agg(r.event = 'error'), p_at)
       from unnest(p_instance, p_process, p_event, p_answer) r (i, j, event, answer)
      cross join lateral (select x.machine, x.event
                            from wf.process x
                           where x.instance_id = r.i and x.id = r.j
                          offset 0) p
      where p.machine = 'async' and r.event in ('response', 'error') and r.answer = 'done'
        and p.event in ('started', 'polled', 'fail')
     having count(*) > 0;
end;
$$;

-- wf._pace(p_instance, p_process, p_failed, p_at)
--
-- Sets the time of the next poll, or of the repetition of a failed cancel or
-- cleanup: delay · backoff^n, at most max_delay.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Raises   nothing of its own
-- Called   by _pace_reported, for asynchronous tasks that stay in their state
create or replace function wf._pace(p_instance bigint[], p_process bigint[], p_failed boolean[], p_at timestamptz)
returns void
language plpgsql as $$
begin
    insert into wf.timer (instance_id, process_id, kind, due_at, round, failures)
    select p.instance_id, p.id, (q.whole).request,
           p_at + least(extract(epoch from (q.whole).max_delay),
                        extract(epoch from (q.whole).delay) * power(least((q.whole).backoff, 1000), c.round))
                  * interval '1 second',
           c.round + 1, case when u.failed then coalesce(t.failures, 0) + 1 else 0 end
      from unnest(p_instance, p_process, p_failed) u (i, j, failed)
     cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
     cross join lateral (select x.* from wf.node x where x.version_id = p.version_id and x.id = p.node_id offset 0) n
     cross join lateral (select wf._paced(x, coalesce(p.input, n.input)) as whole from wf.task_request x
                          where x.type_id = n.type_id
                            and x.request = case when p.state = 'EXECUTING' then 'poll'
                                                 when p.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED') then 'cancel'
                                                 else 'cleanup' end
                         offset 0) q
      left join lateral (select x.*
                           from wf.timer x
                          where x.instance_id = p.instance_id and x.process_id = p.id and x.kind = (q.whole).request
                         offset 0) t on true
     cross join lateral (select least(coalesce(t.round, 0), 64) as round) c
     where p.state = 'EXECUTING' or right(p.state, 10) = '_REQUESTED' and p.event = 'fail' and p.was = p.state
        on conflict (instance_id, process_id, kind) do update
       set due_at = excluded.due_at, round = excluded.round, failures = excluded.failures;
end;
$$;

-- wf._release(p_instance, p_process, p_at)
--
-- Takes back requests that a driver had not begun. They become ready again, except a poll
-- of a task that is to stop by now: that task is cancelled instead.
--
-- Returns  nothing
-- Locks    the leases
-- Raises   nothing of its own
-- Called   by _apply_reports
create or replace function wf._release(p_instance bigint[], p_process bigint[], p_at timestamptz) returns void
language plpgsql as $$
declare
    v_again wf.request[];
begin
    -- so that register gives none of them to a driver's next incarnation meanwhile
    perform from unnest(p_instance, p_process) u (i, j)
       join wf.lease l on l.instance_id = u.i and l.process_id = u.j for no key update of l;
    with held as (
        delete from wf.lease l
         where l.ctid = any (array(select k.ctid from unnest(p_instance, p_process) u (i, j)
                                    cross join lateral (select x.ctid, x.request
                                                          from wf.lease x
                                                         where x.instance_id = u.i
                                                           and x.process_id = u.j
                                                           and x.request <> 'start'
                                                        offset 0) k
                                    cross join lateral (select x.state
                                                          from wf.process x
                                                         where x.instance_id = u.i and x.id = u.j
                                                        offset 0) p
                                    where k.request <> 'poll' or p.state = 'EXECUTING'))
        returning l.instance_id, l.process_id, l.request)
    select array_agg(row(p.instance_id, p.id, p.lane_id, p.rank, wf._turn(p_at, null), h.request)::wf.request)
      into v_again
      from held h
     cross join lateral (select x.*
                           from wf.process x
                          where x.instance_id = h.instance_id and x.id = h.process_id
                         offset 0) p;
    perform wf._offer(v_again);
    update wf.process p set was = p.state, at = p_at,
           event = case when p.state = 'START_REQUESTED' then 'release'
                        when p.state = 'EXECUTING' or l.request = 'poll' then 'lost'
                        else 'fail' end,
           state = case when l.request = 'poll' then p.state
                        when p.state in ('START_REQUESTED', 'EXECUTING') then 'INIT'
                        else wf._next_state(p.machine, p.state, 'fail', false) end,
           error = case when p.state = 'CANCEL_REQUESTED' and l.request = 'start' then wf._cancelled(null, p.error)
                        else p.error end
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.request from wf.lease x where x.instance_id = u.i and x.process_id = u.j offset 0) l
     cross join lateral (select x.ctid from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) k
     where p.ctid = k.ctid;
end;
$$;

-- wf._hold(p_instance, p_patience)
--
-- Locks the instances that reports belong to, as many as are free. Other turns hold an
-- instance only for a moment: with a patience, this waits for them. A person may hold an
-- instance for hours: it is left out then. Nobody holds an instance that no longer exists:
-- reports of it are answered.
--
-- Returns  the instances that somebody else holds; null or empty: the caller has all
-- Locks    the instances, by id; when the patience is over, those that are free
-- Raises   nothing
-- Called   by outcome
create or replace function wf._hold(p_instance bigint[], p_patience int) returns bigint[]
language plpgsql as $$
declare
    v_free bigint[];
begin
    if p_patience is null then
        perform 1 from wf.instance i where i.id = any (p_instance) order by i.id for no key update;
        return null;
    end if;
    -- to hold some instances while waiting for another one is safe only in order
    if cardinality(p_instance) > 1 and p_patience > 0 and wf._hold_within(p_instance, p_patience) then
        return null;
    end if;
    v_free := array(select i.id from wf.instance i where i.id = any (p_instance) order by i.id
                       for no key update skip locked);
    if cardinality(v_free) = cardinality(p_instance)
       or p_patience > 0 and cardinality(p_instance) = 1 and wf._hold_within(p_instance, p_patience) then
        return null;
    end if;
    return array(select i.id from wf.instance i where i.id = any (p_instance) and i.id <> all (v_free));
end;
$$;

-- wf._hold_within(p_instance, p_patience)
--
-- Returns  whether the caller has all instances; false if one takes longer than p_patience milliseconds
-- Locks    the instances, by id: all of them or none
-- Raises   nothing
-- Called   by _hold
create or replace function wf._hold_within(p_instance bigint[], p_patience int) returns boolean
language plpgsql as $$
declare
    v_timeout text := current_setting('lock_timeout');
begin
    perform set_config('lock_timeout', p_patience || 'ms', true);
    perform 1 from wf.instance i where i.id = any (p_instance) order by i.id for no key update;
    perform set_config('lock_timeout', v_timeout, true);
    return true;
exception when lock_not_available then
    return false;
end;
$$;

-- wf.outcome(p_driver, p_instance, p_process, p_token, p_event, p_body, p_patience, p_failures, p_cause)
--
-- Reports what came of requests. The arrays run in parallel. One bad report
-- never spoils the others: if the batch cannot be applied as a whole, each
-- report is applied alone, and one that still fails becomes a failure of its task.
-- A report whose instance somebody else holds is not applied: the answer is
-- busy, and the driver keeps the report and makes it again. A driver that does
-- not know this answer gives no patience, and waits. A report may end the transaction each
-- time, because it takes too long or kills the session. Then nothing can be counted here:
-- its driver makes that report alone, and says how often that has failed.
--
-- Returns  one row per report, in order: its token and the answer
-- Locks    the instances, by id (as _hold); then process and lease rows
-- Raises   WF002 arrays of different lengths, an unknown event or a negative number, WF006, WF010, WF014; class 57
--          (somebody or statement_timeout ends the statement); if the driver keeps no reports, each error that is
--          the server's fault
-- Called   by drivers, in one transaction with poll, or alone
create or replace function wf.outcome(p_driver bigint, p_instance bigint[], p_process bigint[], p_token uuid[],
                                      p_event text[], p_body bytea[], p_patience int default null,
                                      p_failures int default 0, p_cause text default null)
returns table (token uuid, answer text)
language plpgsql security definer :engine as $$
declare
    v_instance constant bigint[] := p_instance;
    v_token constant uuid[] := p_token;
    v_held bigint[];
    v_answer text[];
    v_next int := 1;
begin
    if wf._gate(true)
       and (cardinality(p_instance) is distinct from cardinality(p_process)
            or cardinality(p_instance) is distinct from cardinality(p_token)
            or cardinality(p_instance) is distinct from cardinality(p_event)
            or cardinality(p_instance) is distinct from cardinality(p_body)) then
        raise exception using errcode = 'WF002', message = 'the arrays given to outcome differ in length',
            hint = 'Give one instance, process, token, event and body for each report.';
    end if;
    if set_config('wf.turn', '1', true) = '1' and not p_event <@ array['ack', 'response', 'error', 'release'] then
        raise exception using errcode = 'WF002', message = 'unknown event given to outcome',
            hint = 'Events are ack, response, error and release.';
    end if;
    if p_patience < 0 or coalesce(p_failures, -1) < 0 then
        raise exception using errcode = 'WF002', message = 'p_patience is negative, or p_failures is null or negative',
            hint = 'Give 0 or more milliseconds, and 0 or more failures.';
    end if;
    perform from wf.driver d where d.id = p_driver and d.login = wf._login();
    -- The simulator reports with the number 0. No row of wf.driver has that number.
    if not found and p_driver <> 0 then
        perform wf._refuse_driver(p_driver);
    end if;
    v_held := wf._hold(p_instance, p_patience);
    if cardinality(v_held) > 0 then
        select array_agg(r.i order by r.k), array_agg(r.j order by r.k), array_agg(r.token order by r.k),
               array_agg(r.event order by r.k), array_agg(r.body order by r.k)
          into p_instance, p_process, p_token, p_event, p_body
          from unnest(p_instance, p_process, p_token, p_event, p_body) with ordinality r (i, j, token, event, body, k)
         where r.i <> all (v_held);
    end if;
    if p_failures > 0 then
        select array_agg(g.event order by g.k), array_agg(g.body order by g.k) into p_event, p_body
          from wf._give_up_reports(p_event, p_body, p_failures, p_cause) g;
    end if;
    if p_instance is not null then
        begin
            v_answer := wf._apply_reports(p_driver, p_instance, p_process, p_token, p_event, p_body);
        exception
            when operator_intervention then
                raise; -- the driver repeats all of it, and counts: see _give_up_reports
            when others or assert_failure then -- others does not include the latter
                for k in 1 .. cardinality(p_instance) loop
                    v_answer[k] := wf._apply_report(p_driver, p_instance[k], p_process[k], p_token[k], p_event[k],
                                                    p_body[k], p_patience is not null);
                end loop;
        end;
    end if;
    for k in 1 .. coalesce(cardinality(v_token), 0) loop
        token := v_token[k];
        if v_instance[k] = any (v_held) then
            answer := 'busy';
        else
            answer := v_answer[v_next];
            v_next := v_next + 1;
        end if;
        return next;
    end loop;
end;
$$;
comment on function wf.outcome(bigint, bigint[], bigint[], uuid[], text[], bytea[], int, int, text) is
    'Reports what came of requests: parallel arrays of instance, process, token, event (ack, response, error, '
    'release) and body (the JSON bytes of a response or of an error record). p_patience: for how many milliseconds '
    'the call may wait for each instance that somebody else holds (null: as long as it takes). p_failures: how often '
    'in a row the transaction that made these reports alone has failed; p_cause: why it failed the last time. From '
    'loss_limit failures on, their tasks fail with kind engine. Returns for each report its token and answer: done, '
    'already, stale, late, or busy (somebody holds the instance, or the server is at fault; report again).';

-- wf._give_up_reports(p_event, p_body, p_failures, p_cause)
--
-- Puts an error of kind engine in the place of reports that cannot be applied.
-- Acknowledgements and releases evaluate nothing, so they stay.
--
-- Returns  events and bodies, in order (k); unchanged while there were fewer failures than loss_limit
-- Locks    nothing
-- Raises   nothing
-- Called   by outcome
create or replace function wf._give_up_reports(p_event text[], p_body bytea[], p_failures int, p_cause text)
returns table (k bigint, event text, body bytea)
language sql stable
begin atomic
    select r.k, case when g.up then 'engine' else r.event end,
           case when g.up
                then convert_to(jsonb_build_object('kind', 'engine',
                         'message', format('the report could not be applied, %s times in a row: %s', p_failures,
                                           coalesce(p_cause, 'the driver gave no reason')),
                         'detail', jsonb_build_object('event', r.event, 'body',
                                       left(encode(substr(r.body, 1, 4096), 'escape'), 4096)))::text, 'UTF8')
                else r.body end
      from unnest(p_event, p_body) with ordinality r (event, body, k)
     cross join lateral (select r.event in ('response', 'error')
                                and coalesce(p_failures >= nullif(wf._setting_number('loss_limit'), 0), false) as up) g;
end;

-- wf._apply_report(p_driver, p_instance, p_process, p_token, p_event, p_body, p_keeps)
--
-- Applies one report; if that fails, the failure becomes the task's. An error that is the
-- server's fault (classes 40, 53, 55 and 58) does not: the disk is full, or a lock could
-- not be had. The report may succeed later, and a task that has done its work must not
-- fail for such an error. Nor is it known whether all reports raise the error or only this
-- one. Therefore the answer is busy: the driver keeps the report and makes it again, as
-- long as it takes, and other reports are not held up. The answer is also busy if not even
-- the failure can be stored.
--
-- Returns  the answer
-- Locks    as _apply_reports
-- Raises   as outcome
-- Called   by outcome
create or replace function wf._apply_report(p_driver bigint, p_instance bigint, p_process bigint, p_token uuid,
                                            p_event text, p_body bytea, p_keeps boolean) returns text
language plpgsql as $$
declare
    v_body jsonb;
begin
    begin
        return (wf._apply_reports(p_driver, array[p_instance], array[p_process], array[p_token], array[p_event],
                                  array[p_body]))[1];
    exception
        when operator_intervention then
            raise;
        when others or assert_failure then
            if wf._is_server_fault(jsonb_build_object('sqlstate', sqlstate)) then
                return wf._keep_report(p_instance, p_process, sqlstate, sqlerrm, p_keeps);
            end if;
            v_body := jsonb_build_object(
                'kind', case when sqlstate like '22%' or sqlstate like '54%' then 'output' else 'engine' end,
                'message', format('the report could not be stored: %s', sqlerrm),
                'detail', jsonb_build_object('sqlstate', sqlstate,
                                             'body', left(encode(substr(p_body, 1, 4096), 'escape'), 4096)));
    end;
    return (wf._apply_reports(p_driver, array[p_instance], array[p_process], array[p_token], array['error'],
                              array[convert_to(v_body::text, 'UTF8')]))[1];
exception
    when operator_intervention then
        raise;
    when others or assert_failure then
        return wf._keep_report(p_instance, p_process, sqlstate, sqlerrm, p_keeps);
end;
$$;

-- wf._keep_report(p_instance, p_process, p_sqlstate, p_message, p_keeps)
--
-- Notes that a report cannot be applied now, in the server's log: the history cannot hold it.
--
-- Returns  the answer busy
-- Raises   the error itself, if the driver is of an earlier release and keeps no reports
-- Called   by _apply_report
create or replace function wf._keep_report(p_instance bigint, p_process bigint, p_sqlstate text, p_message text,
                                           p_keeps boolean) returns text
language plpgsql as $$
begin
    if not p_keeps then
        raise exception using errcode = p_sqlstate, message = p_message;
    end if;
    raise log using errcode = p_sqlstate,
        message = format('a report of task %s/%s could not be applied, and is made again: %s',
                         p_instance, p_process, p_message);
    return 'busy';
end;
$$;
