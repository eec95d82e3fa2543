-- What drivers report. A driver says only what came back; what it means is
-- decided here, from the clauses of the task type.

do $$
begin
    if to_regtype('wf.verdict') is null then
        create type wf.verdict as (event text, stays boolean, handle jsonb, output jsonb, error jsonb, detail jsonb);
        comment on type wf.verdict is 'What a response means for its process.';
    end if;
end;
$$;

-- wf._read_body(p_body)
--
-- Returns  a report's body as JSON; null if it is empty
-- Locks    nothing
-- Raises   22021, 22P02, 22P05 … if it is no JSON that PostgreSQL can store
-- Called   by _apply_reports
create or replace function wf._read_body(p_body bytea) returns jsonb
language sql stable
begin atomic
    select convert_from(nullif(p_body, ''::bytea), 'UTF8')::jsonb;
end;

-- wf._read_json(p_response)
--
-- Returns  a response with the JSON that its body says it is
-- Locks    nothing
-- Raises   22P02, 22P05 … if it is none that PostgreSQL can store
-- Called   by _open and _judge
create or replace function wf._read_json(p_response jsonb) returns jsonb
language sql immutable
begin atomic
    select jsonb_set(p_response, '{body}', coalesce(nullif(btrim(p_response ->> 'body'), '')::jsonb, 'null'));
end;

-- wf._holds_json(p_response)
--
-- Returns  whether an HTTP response says that its body is JSON, and that has yet to be read
-- Locks    nothing
-- Raises   nothing
-- Called   by _judge and _apply_reports
create or replace function wf._holds_json(p_response jsonb) returns boolean
language sql immutable
begin atomic
    select p_response -> 'headers' ->> 'content-type' ~* '^[^;]*[/+]json\M' and jsonb_typeof(p_response -> 'body') = 'string';
end;

-- wf._open(p_response)
--
-- Returns  a response with its body read, if that says that it is JSON; null if it says so and is not
-- Locks    nothing
-- Raises   nothing
-- Called   by _apply_reports
create or replace function wf._open(p_response jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
    return wf._read_json(p_response);
exception when data_exception or program_limit_exceeded then
    return null;
end;
$$;

-- wf._test(p_condition, p_environment)
--
-- Returns  whether a `when` holds; null counts as false; an error is {"error": …}
-- Locks    nothing
-- Raises   nothing
-- Called   by _judge
create or replace function wf._test(p_condition jsonb, p_environment jsonb) returns jsonb
language plpgsql stable :inner as $$
declare
    v_result jsonb;
begin
    v_result := wf._evaluate(p_condition, p_environment);
    if v_result ? 'error' then
        return v_result;
    end if;
    return to_jsonb(v_result -> 'value' = 'true');
end;
$$;

-- wf._judge(p_kind, p_request, p_clauses, p_input, p_handle, p_response)
--
-- What a response to start or poll means, in the order of the language:
-- handle, failure when, success when, otherwise it still runs.
--
-- Returns  a verdict: success, fail or started
-- Locks    nothing
-- Raises   nothing: what cannot be evaluated is a failure of kind output
-- Called   by _decide
create or replace function wf._judge(p_kind text, p_request text, p_clauses jsonb, p_input jsonb, p_handle jsonb, p_response jsonb) returns wf.verdict
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    v wf.verdict;
    v_environment jsonb;
    v_result jsonb;
begin
    v.handle := p_handle;
    if wf._holds_json(p_response) then
        begin
            p_response := wf._read_json(p_response);
        exception when data_exception or program_limit_exceeded then
            v.event := 'fail';
            v.error := wf._refuse('output', format('the body says that it is JSON, but it is not: %s', sqlerrm));
            return v;
        end;
    end if;
    v_environment := coalesce(p_input, '{}') || jsonb_build_object('response', p_response, 'handle', p_handle);
    if p_clauses ? 'handle' then
        v_result := wf._evaluate(p_clauses -> 'handle', v_environment);
        if v_result ? 'value' then
            v.handle := coalesce(p_handle, '{}') || (v_result -> 'value');
            v_environment := v_environment || jsonb_build_object('handle', v.handle);
        end if;
    end if;
    if not coalesce(v_result ? 'error', false) and p_clauses ? 'failure' then
        v_result := wf._test(p_clauses -> 'failure', v_environment);
        if v_result = 'true' then
            v.event := 'fail';
            v_result := case when p_clauses ? 'failure_as' then wf._evaluate(p_clauses -> 'failure_as', v_environment)
                             else jsonb_build_object('value', wf._refuse('failed', 'the response says that it failed')) end;
            v.error := coalesce(jsonb_build_object('kind', 'failed', 'message', 'the response says that it failed') || (v_result -> 'value'), v_result -> 'error');
            return v;
        end if;
    end if;
    if not coalesce(jsonb_typeof(v_result) = 'object' and v_result ? 'error', false) then
        v_result := case when p_clauses ? 'success' then wf._test(p_clauses -> 'success', v_environment)
                         else to_jsonb(p_kind = 'sync') end;
        if v_result = 'true' then
            v.event := 'success';
            v_result := case when p_clauses ? 'output' then wf._evaluate(p_clauses -> 'output', v_environment) end;
            v.output := v_result -> 'value';
        elsif v_result = 'false' then
            v.event := case when p_kind = 'sync' then 'fail' when p_request = 'start' then 'started' else 'polled' end;
            v.error := case when p_kind = 'sync' then wf._refuse('failed', 'the response does not say that it succeeded') end;
        end if;
    end if;
    if coalesce(jsonb_typeof(v_result) = 'object' and v_result ? 'error', false) then
        v.event := 'fail';
        v.output := null;
        v.error := (v_result -> 'error') || '{"kind": "output"}';
    end if;
    return v;
end;
$$;

-- wf._paced(p_request, p_args)
--
-- A request with the pace that this task gives it: `every` may read the task's
-- arguments. What cannot be evaluated or does not fit stays as declared.
--
-- Returns  the row of task_request, with delay, backoff, max_delay, attempts filled in
-- Locks    nothing
-- Raises   nothing
-- Called   by _apply_reports and _pace
create or replace function wf._paced(p_request wf.task_request, p_args jsonb) returns wf.task_request
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    v jsonb;
begin
    if p_request.clauses ? 'every' then
        v := wf._evaluate(p_request.clauses -> 'every', coalesce(p_args, '{}')) -> 'value';
        begin
            p_request.delay := greatest('1 ms', coalesce((v ->> 'delay')::interval, p_request.delay));
            p_request.max_delay := greatest(p_request.delay, coalesce((v ->> 'max_delay')::interval, p_request.max_delay));
            p_request.backoff := greatest(1, coalesce((v ->> 'backoff')::numeric, p_request.backoff));
            p_request.attempts := greatest(1, coalesce((v ->> 'attempts')::numeric, p_request.attempts));
        exception when data_exception then
            null;
        end;
    end if;
    return p_request;
end;
$$;

-- wf._decide(p_process, p_request, p_event, p_body, p_input, p_declared, p_failures)
--
-- What a report means for its process.
--
-- Returns  a verdict
-- Locks    nothing
-- Raises   nothing of its own
-- Called   by _apply_reports, for every report that is not a plain success
create or replace function wf._decide(p_process wf.process, p_request text, p_event text, p_body jsonb, p_input jsonb, p_declared wf.task_request, p_failures int) returns wf.verdict
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    v wf.verdict;
begin
    v.stays := false;
    if p_request in ('cancel', 'cleanup') then
        v.handle := p_process.handle;
        v.error := p_process.error;
        if p_event = 'response' or p_failures + 1 >= p_declared.attempts then
            v.event := case p_request when 'cancel' then 'cancelled' else 'cleaned' end;
            v.detail := case when p_event <> 'response' then jsonb_build_object('unclean', p_body) end;
        else
            v.event := 'fail';
            v.stays := true;
            v.detail := p_body;
        end if;
        return v;
    end if;
    if p_event = 'response' then
        v := wf._judge(p_process.kind, p_request, p_declared.clauses, p_input, p_process.handle, p_body);
        v.stays := false;
    else
        v.handle := p_process.handle;
        v.error := case when jsonb_typeof(p_body) = 'object' then p_body when p_body is null then '{}' else jsonb_build_object('detail', p_body) end
                   || jsonb_build_object('kind', coalesce(p_body ->> 'kind', 'failed'), 'message', coalesce(p_body ->> 'message', 'the driver gave no reason'));
        v.event := case when p_request = 'poll' and p_failures + 1 < p_declared.attempts then 'polled' else 'fail' end;
        if v.event = 'polled' then
            v.detail := v.error;
            v.error := p_process.error;
        elsif p_request = 'start' and p_process.kind = 'async' and v.error ->> 'kind' in ('lost', 'timeout')
              and exists (select from wf.task_request x where x.type_id = p_declared.type_id and x.request = 'poll' and wf._names_attempt(x.args)) then
            -- it may run; polls find that out
            v.event := 'started';
            v.detail := v.error;
            v.error := p_process.error;
        end if;
    end if;
    if p_process.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED') then
        if v.event = 'polled' then
            v.event := 'started';
        elsif v.event = 'fail' and p_process.state = 'CANCEL_REQUESTED' then
            v.error := wf._cancelled(v.error);
        end if;
    end if;
    return v;
end;
$$;

-- wf._apply_reports(p_driver, p_instance, p_process, p_token, p_event, p_body)
--
-- Applies reports, set-based. The caller holds the instances.
--
-- Returns  the answer to each report, in order: done, already, stale or late
-- Locks    nothing beyond the rows it updates
-- Raises   whatever a report that cannot be stored raises
-- Called   by outcome, for a whole batch and, if that fails, for each report alone
create or replace function wf._apply_reports(p_driver bigint, p_instance bigint[], p_process bigint[], p_token uuid[], p_event text[], p_body bytea[]) returns text[]
language plpgsql :inner as $$
declare
    v_at timestamptz := wf._now();
    v_cap bigint;
    v_picked bigint;
    v_answer text[];
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
           count(*) filter (where l.token is not null and r.event in ('response', 'error') and not (s.simple and p.plain)) as judged,
           -- who reports has begun: an acknowledgement that did not come is made up for
           bool_or(r.event = 'ack' or r.event <> 'release' and p.kind = 'async' and p.state = 'START_REQUESTED') as acks,
           bool_or(p.kind = 'async') as async
      into f
      from unnest(p_instance, p_process, p_token, p_event, p_body) r (i, j, token, event, body)
      left join lateral (select x.ctid as place, x.id, x.kind, x.plain, x.state, x.token from wf.process x where x.instance_id = r.i and x.id = r.j offset 0) p on true
      left join lateral (select x.token from wf.lease x where x.instance_id = r.i and x.process_id = r.j and x.token = r.token offset 0) l on true
     cross join lateral (select l.token is not null and p.kind = 'sync' and p.state = 'START_REQUESTED' and r.event = 'response' as simple) s;
    v_answer := f.answers;
    if v_answer && array['stale', 'late'] then
        insert into wf.event (instance_id, process_id, xid, at, attempt, was, event, state, detail)
        select p.instance_id, p.id, pg_current_xact_id(), v_at, p.attempt, p.state, 'late', p.state,
               jsonb_build_object('event', r.event, 'body', left(encode(substr(r.body, 1, 4096), 'escape'), 4096))
          from unnest(p_instance, p_process, p_token, p_event, p_body, v_answer) r (i, j, token, event, body, answer)
         cross join lateral (select x.* from wf.process x where x.instance_id = r.i and x.id = r.j offset 0) p
         where r.answer in ('stale', 'late') and r.event in ('response', 'error');
    end if;
    if f.acks then
        update wf.process p set was = p.state, event = 'ack', state = 'EXECUTING', at = v_at
          from unnest(p_instance, p_process, p_token, p_event) r (i, j, token, event)
         cross join lateral (select x.token from wf.lease x where x.instance_id = r.i and x.process_id = r.j and x.token = r.token offset 0) l
         cross join lateral (select x.ctid from wf.process x where x.instance_id = r.i and x.id = r.j offset 0) k
         where r.event <> 'release' and p.ctid = k.ctid and p.kind = 'async' and p.state = 'START_REQUESTED';
    end if;
    if 'release' = any (p_event) then
        perform wf._release(array_agg(r.i), array_agg(r.j), v_at)
           from unnest(p_instance, p_process, p_token, p_event) r (i, j, token, event)
          cross join lateral (select x.token from wf.lease x where x.instance_id = r.i and x.process_id = r.j and x.token = r.token offset 0) l
          where r.event = 'release';
    end if;
    if f.plain is not null then
        -- nobody else moves these rows while their instances are held: their places stay
        update wf.process p set was = p.state, event = 'success', state = 'END', at = v_at, error = null
         where p.ctid = any (f.plain) and p.state = 'START_REQUESTED';
    end if;
    if f.judged = 0 then
        return v_answer;
    end if;
    v_cap := wf._setting_number('value_bytes');
    if f.simple is not null then
        -- what _decide says where there is nothing to evaluate
        update wf.process p set was = p.state, event = 'success', state = 'END', at = v_at, output = o.output, error = null
          from unnest(f.simple, f.bodies) r (place, body)
         cross join lateral (select x.version_id, x.node_id from wf.process x where x.ctid = r.place and x.state = 'START_REQUESTED' offset 0) k
         cross join lateral (select x.picks from wf.node x where x.version_id = k.version_id and x.id = k.node_id and x.picks is not null offset 0) n
         cross join lateral (select wf._read_body(r.body) as body where octet_length(r.body) <= v_cap offset 0) b
         cross join lateral (select case when wf._holds_json(b.body) then wf._open(b.body) else b.body end as body offset 0) a
         cross join lateral (select jsonb_object_agg(x.name, coalesce(a.body -> x.name, 'null')) as output from unnest(n.picks) x (name)) o
         where p.ctid = r.place and jsonb_typeof(a.body) = 'object';
        get diagnostics v_picked = row_count;
        if v_picked = f.judged then
            return v_answer;
        end if;
    end if;
    with verdicts as materialized (
        select p.place, p.instance_id, p.id, p.kind, p.state, l.request,
               case when octet_length(r.body) > v_cap
                    then wf._decide(p.whole, l.request, 'error', wf._refuse('output', format('the response has %s bytes, more than the %s allowed', octet_length(r.body), v_cap)), null, q.whole, 0)
                    else wf._decide(p.whole, l.request, r.event, wf._read_body(r.body), coalesce(p.input, n.input), q.whole, coalesce(t.failures, 0)) end as v
          from unnest(p_instance, p_process, p_token, p_event, p_body) r (i, j, token, event, body)
         cross join lateral (select x.request from wf.lease x where x.instance_id = r.i and x.process_id = r.j and x.token = r.token offset 0) l
         cross join lateral (select x.ctid as place, x as whole, x.instance_id, x.id, x.version_id, x.node_id, x.kind, x.state, x.plain, x.input
                               from wf.process x where x.instance_id = r.i and x.id = r.j offset 0) p
         cross join lateral (select x.type_id, x.input from wf.node x where x.version_id = p.version_id and x.id = p.node_id offset 0) n
         cross join lateral (select case when x.clauses ? 'every' then wf._paced(x, coalesce(p.input, n.input)) else x end as whole from wf.task_request x where x.type_id = n.type_id and x.request = l.request offset 0) q
          left join lateral (select x.failures from wf.timer x where x.instance_id = r.i and x.process_id = r.j and x.kind = l.request offset 0) t on true
         where r.event in ('response', 'error') and (r.event = 'error' or not p.plain or p.state <> 'START_REQUESTED')),
    notes as (
        insert into wf.event (instance_id, process_id, xid, at, was, event, state, detail)
        select x.instance_id, x.id, pg_current_xact_id(), v_at, x.state,
               case when (x.v).event in ('cancelled', 'cleaned') then 'unclean' else 'request_failed' end, x.state, (x.v).detail
          from verdicts x where (x.v).detail is not null)
    update wf.process p
       set was = p.state, at = v_at,
           event = (x.v).event,
           -- what _next_state says, which as a call for each row would cost more than the rest
           state = (select t.to_state from wf.transition t
                     where t.machine = x.kind and t.from_state = x.state and t.event = (x.v).event
                     order by (t.to_state = t.from_state) = (x.v).stays desc limit 1),
           handle = case when (x.v).event = 'cleaned' then null else (x.v).handle end,
           output = coalesce((x.v).output, p.output),
           error = case when (x.v).event = 'success' then null when (x.v).event = 'cancelled' then wf._cancelled((x.v).error) else (x.v).error end
      from verdicts x
     where p.ctid = x.place;
    if f.async then
        perform wf._pace(array_agg(r.i), array_agg(r.j), array_agg(r.event = 'error'), v_at)
           from unnest(p_instance, p_process, p_event, v_answer) r (i, j, event, answer)
          cross join lateral (select x.kind, x.event from wf.process x where x.instance_id = r.i and x.id = r.j offset 0) p
          where p.kind = 'async' and r.event in ('response', 'error') and r.answer = 'done' and p.event in ('started', 'polled', 'fail')
         having count(*) > 0;
    end if;
    return v_answer;
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
-- Called   by _apply_reports, for asynchronous tasks that stay where they are
create or replace function wf._pace(p_instance bigint[], p_process bigint[], p_failed boolean[], p_at timestamptz) returns void
language plpgsql :inner as $$
begin
    insert into wf.timer (instance_id, process_id, kind, due_at, round, failures)
    select p.instance_id, p.id, (q.whole).request,
           p_at + least(extract(epoch from (q.whole).max_delay), extract(epoch from (q.whole).delay) * power(least((q.whole).backoff, 1000), c.round)) * interval '1 second',
           c.round + 1, case when u.failed then coalesce(t.failures, 0) + 1 else 0 end
      from unnest(p_instance, p_process, p_failed) u (i, j, failed)
     cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
     cross join lateral (select x.* from wf.node x where x.version_id = p.version_id and x.id = p.node_id offset 0) n
     cross join lateral (select wf._paced(x, coalesce(p.input, n.input)) as whole from wf.task_request x
                          where x.type_id = n.type_id
                            and x.request = case when p.state = 'EXECUTING' then 'poll' when p.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED') then 'cancel' else 'cleanup' end offset 0) q
      left join lateral (select x.* from wf.timer x where x.instance_id = p.instance_id and x.process_id = p.id and x.kind = (q.whole).request offset 0) t on true
     cross join lateral (select least(coalesce(t.round, 0), 64) as round) c
     where p.state = 'EXECUTING' or right(p.state, 10) = '_REQUESTED' and p.event = 'fail' and p.was = p.state
        on conflict (instance_id, process_id, kind) do update
       set due_at = excluded.due_at, round = excluded.round, failures = excluded.failures;
end;
$$;

-- wf._release(p_instance, p_process, p_at)
--
-- Takes requests back that a driver had not begun. They are asked for again,
-- except a poll of a task that is to stop meanwhile: that is cancelled instead.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Raises   nothing of its own
-- Called   by _apply_reports
create or replace function wf._release(p_instance bigint[], p_process bigint[], p_at timestamptz) returns void
language plpgsql :inner as $$
begin
    with held as (
        delete from wf.lease l
         where l.ctid = any (array(select k.ctid from unnest(p_instance, p_process) u (i, j)
                                    cross join lateral (select x.ctid, x.request from wf.lease x where x.instance_id = u.i and x.process_id = u.j and x.request <> 'start' offset 0) k
                                    cross join lateral (select x.state from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
                                    where k.request <> 'poll' or p.state = 'EXECUTING'))
        returning l.instance_id, l.process_id, l.request)
    insert into wf.ready (instance_id, process_id, lane_id, rank, turn, request)
    select p.instance_id, p.id, p.lane_id, p.rank, wf._turn(p_at, null), h.request
      from held h
     cross join lateral (select x.* from wf.process x where x.instance_id = h.instance_id and x.id = h.process_id offset 0) p;
    update wf.process p set was = p.state, at = p_at,
           event = case when p.state = 'START_REQUESTED' then 'release' when p.state = 'EXECUTING' or l.request = 'poll' then 'lost' else 'fail' end,
           state = case when l.request = 'poll' then p.state when p.state in ('START_REQUESTED', 'EXECUTING') then 'INIT' else wf._next_state(p.kind, p.state, 'fail', false) end,
           error = case when p.state = 'CANCEL_REQUESTED' and l.request = 'start' then wf._cancelled(p.error) else p.error end
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.request from wf.lease x where x.instance_id = u.i and x.process_id = u.j offset 0) l
     cross join lateral (select x.ctid from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) k
     where p.ctid = k.ctid;
end;
$$;

-- wf.outcome(p_driver, p_instance, p_process, p_token, p_event, p_body)
--
-- Reports what came of requests. The arrays run in parallel. One bad report
-- never spoils the others: if the batch cannot be applied as a whole, each
-- report is applied alone, and what still fails becomes a failure of its task.
--
-- Returns  one row per report, in order: its token and the answer
-- Locks    the instances, by id; then process and lease rows
-- Raises   WF002 arrays of different lengths or an unknown event, WF006
-- Called   by drivers, in one transaction with poll
create or replace function wf.outcome(p_driver bigint, p_instance bigint[], p_process bigint[], p_token uuid[], p_event text[], p_body bytea[])
returns table (token uuid, answer text)
language plpgsql security definer :engine as $$
declare
    v_answer text[];
begin
    if wf._gate(true)
       and (cardinality(p_instance) is distinct from cardinality(p_process) or cardinality(p_instance) is distinct from cardinality(p_token)
            or cardinality(p_instance) is distinct from cardinality(p_event) or cardinality(p_instance) is distinct from cardinality(p_body)) then
        raise exception using errcode = 'WF002', message = 'the arrays given to outcome differ in length',
            hint = 'Give one instance, process, token, event and body for each report.';
    end if;
    if set_config('wf.turn', '1', true) = '1' and not p_event <@ array['ack', 'response', 'error', 'release'] then
        raise exception using errcode = 'WF002', message = 'unknown event given to outcome', hint = 'Events are ack, response, error and release.';
    end if;
    perform 1 from wf.instance i where i.id = any (p_instance) order by i.id for no key update;
    begin
        v_answer := wf._apply_reports(p_driver, p_instance, p_process, p_token, p_event, p_body);
    exception
        when transaction_rollback or lock_not_available or disk_full or operator_intervention or system_error then
            raise; -- not of the report's making: the driver tries again
        when others then
            for k in 1 .. cardinality(p_instance) loop
                v_answer[k] := wf._apply_report(p_driver, p_instance[k], p_process[k], p_token[k], p_event[k], p_body[k]);
            end loop;
    end;
    for k in 1 .. coalesce(cardinality(p_token), 0) loop
        token := p_token[k];
        answer := v_answer[k];
        return next;
    end loop;
end;
$$;
comment on function wf.outcome(bigint, bigint[], bigint[], uuid[], text[], bytea[]) is
    'Reports what came of requests: parallel arrays of instance, process, token, event (ack, response, error, release) and body (the JSON bytes of a response or of an error record). Returns token and answer (done, already, stale, late) for each.';

-- wf._apply_report(p_driver, p_instance, p_process, p_token, p_event, p_body)
--
-- Applies one report; if that fails, the failure becomes the task's.
--
-- Returns  the answer
-- Locks    as _apply_reports
-- Raises   only what a retry of the whole transaction may cure
-- Called   by outcome
create or replace function wf._apply_report(p_driver bigint, p_instance bigint, p_process bigint, p_token uuid, p_event text, p_body bytea) returns text
language plpgsql :inner as $$
declare
    v_body jsonb;
begin
    begin
        return (wf._apply_reports(p_driver, array[p_instance], array[p_process], array[p_token], array[p_event], array[p_body]))[1];
    exception
        when transaction_rollback or lock_not_available or disk_full or operator_intervention or system_error then
            raise; -- not of the report's making: the driver tries again
        when others then
            v_body := jsonb_build_object('kind', case when sqlstate like '22%' or sqlstate like '54%' then 'output' else 'engine' end,
                                         'message', format('the report could not be stored: %s', sqlerrm),
                                         'detail', jsonb_build_object('sqlstate', sqlstate, 'body', left(encode(substr(p_body, 1, 4096), 'escape'), 4096)));
    end;
    return (wf._apply_reports(p_driver, array[p_instance], array[p_process], array[p_token], array['error'], array[convert_to(v_body::text, 'UTF8')]))[1];
end;
$$;
