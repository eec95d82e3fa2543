-- What a response means for its task, from the clauses of the task type.

-- An upgrade creates it again: by now no function takes such a value.
drop type if exists wf.verdict;
create type wf.verdict as (
    event text, stays boolean, handle jsonb, output jsonb, error jsonb, detail jsonb, progress numeric
);
comment on type wf.verdict is 'The meaning of a response for its process.';

-- wf._read_json(p_response)
--
-- Returns  a response with its body, a text, read as JSON
-- Locks    nothing
-- Raises   22P02, 22P05 … if PostgreSQL cannot store it
-- Called   by _open and _judge
create or replace function wf._read_json(p_response jsonb) returns jsonb
language sql immutable
begin atomic
    select jsonb_set(p_response, '{body}', coalesce(nullif(btrim(p_response ->> 'body'), '')::jsonb, 'null'));
end;

-- wf._holds_json(p_response)
--
-- Returns  whether an HTTP response says that its body is JSON, and the body has yet to be read
-- Locks    nothing
-- Raises   nothing
-- Called   by _judge and _apply_picked
create or replace function wf._holds_json(p_response jsonb) returns boolean
language sql immutable
begin atomic
    select p_response -> 'headers' ->> 'content-type' ~* '^[^;]*[/+]json\M'
       and jsonb_typeof(p_response -> 'body') = 'string';
end;

-- wf._test(p_condition, p_environment, p_part)
--
-- Returns  whether a `when` holds; null counts as false; an error is {"error": …}, whose message names p_part
-- Locks    nothing
-- Raises   nothing
-- Called   by _judge and _judge_retry
create or replace function wf._test(p_condition jsonb, p_environment jsonb, p_part text) returns jsonb
language plpgsql stable as $$
declare
    v_result jsonb;
begin
    v_result := wf._evaluate(p_condition, p_environment);
    if v_result ? 'error' then
        return jsonb_build_object('error', wf._blame(v_result -> 'error', p_condition, p_environment, null, p_part));
    end if;
    return to_jsonb(v_result -> 'value' = 'true');
end;
$$;

-- wf._as_progress(p_value)
--
-- Returns  a value as a progress from 0 to 1: a number beyond becomes 0 or 1; null if it is not a number
-- Locks    nothing
-- Raises   nothing
-- Called   by _judge and _stream_progress
create or replace function wf._as_progress(p_value jsonb) returns numeric
language sql immutable
begin atomic
    select case when jsonb_typeof(p_value) = 'number'
                then round(greatest(0, least(1, (p_value #>> '{}')::numeric)), 4) end;
end;

-- wf._judge(p_machine, p_request, p_clauses, p_input, p_handle, p_response)
--
-- Decides what a response to start or poll means, by the clauses in the order of the
-- language: handle, failure when, success when. Otherwise the task still runs.
--
-- Returns  a verdict: success, fail or started
-- Locks    nothing
-- Raises   nothing: a clause that cannot be evaluated is a failure of kind output, or limit
-- Called   by _decide
create or replace function wf._judge(
    p_machine text, p_request text, p_clauses jsonb, p_input jsonb, p_handle jsonb, p_response jsonb)
returns wf.verdict
language plpgsql stable as $$
declare
    v wf.verdict;
    v_environment jsonb;
    v_result jsonb;
    v_part text;
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
            if wf._oversize(pg_column_size(v.handle)) is not null then
                v_result := jsonb_build_object('error', wf._oversize(pg_column_size(v.handle)));
                v.handle := p_handle;
            end if;
        end if;
    end if;
    if not coalesce(v_result ? 'error', false) and p_clauses ? 'failure' then
        v_result := wf._test(p_clauses -> 'failure', v_environment, 'failure when');
        if v_result = 'true' then
            v.event := 'fail';
            v_result := case when p_clauses ? 'failure_as' then wf._evaluate(p_clauses -> 'failure_as', v_environment)
                             else jsonb_build_object(
                                      'value', wf._refuse('failed', 'the response says that it failed')) end;
            v.error := coalesce(jsonb_build_object('kind', 'failed', 'message', 'the response says that it failed')
                                || (v_result -> 'value'),
                                wf._blame(v_result -> 'error', p_clauses -> 'failure_as', v_environment, null,
                                          'failure as'));
            return v;
        end if;
    end if;
    if not coalesce(jsonb_typeof(v_result) = 'object' and v_result ? 'error', false) then
        v_result := case when p_clauses ? 'success' then wf._test(p_clauses -> 'success', v_environment, 'success when')
                         else to_jsonb(p_machine = 'sync') end;
        if v_result = 'true' then
            v.event := 'success';
            v_result := case when p_clauses ? 'output' then wf._evaluate(p_clauses -> 'output', v_environment) end;
            v.output := v_result -> 'value';
            if wf._oversize(pg_column_size(v.output)) is not null then
                v_result := jsonb_build_object('error', wf._oversize(pg_column_size(v.output)));
            end if;
        elsif v_result = 'false' then
            v.event := case when p_machine = 'sync' then 'fail'
                            when p_request = 'start' then 'started'
                            else 'polled' end;
            v.error := case when p_machine = 'sync'
                            then wf._refuse('failed', 'the response does not say that it succeeded') end;
            if p_request = 'poll' and p_clauses ? 'progress' then
                v.progress := wf._as_progress(wf._evaluate(p_clauses -> 'progress', v_environment) -> 'value');
            end if;
        end if;
    end if;
    if coalesce(jsonb_typeof(v_result) = 'object' and v_result ? 'error', false) then
        v_part := case v.event when 'success' then 'output' else 'handle' end; -- _test names the others
        v.output := null;
        v.error := case when v_result #>> '{error,kind}' = 'input' and v_result #> '{error,detail,place}' is null
                        then wf._blame(v_result -> 'error', p_clauses -> v_part, v_environment, null, v_part)
                        else v_result -> 'error' end
                   || case v_result -> 'error' ->> 'kind' when 'limit' then '{}' else '{"kind": "output"}' end::jsonb;
        v.event := 'fail';
    end if;
    return v;
end;
$$;

-- wf._failure(p_body)
--
-- Returns  the error that a driver has reported, with a kind and a message in any case
-- Locks    nothing
-- Raises   nothing
-- Called   by _decide and _apply_failed
create or replace function wf._failure(p_body jsonb) returns jsonb
language sql stable
begin atomic
    select case when jsonb_typeof(p_body) = 'object' then p_body
                when p_body is null then '{}'
                else jsonb_build_object('detail', p_body) end
           || jsonb_build_object('kind', coalesce(p_body ->> 'kind', 'failed'),
                                 'message', coalesce(p_body ->> 'message', 'the driver gave no reason'));
end;

-- wf._paced(p_request, p_args)
--
-- Gives a request the pace that its task sets: `every` may read the task's arguments.
-- A value that cannot be evaluated or does not fit stays as declared.
--
-- Returns  the row of task_request, with delay, backoff, max_delay, attempts filled in
-- Locks    nothing
-- Raises   nothing
-- Called   by _apply_judged and _pace
create or replace function wf._paced(p_request wf.task_request, p_args jsonb) returns wf.task_request
language plpgsql stable as $$
declare
    v jsonb;
begin
    if p_request.clauses ? 'every' then
        v := wf._evaluate(p_request.clauses -> 'every', coalesce(p_args, '{}')) -> 'value';
        begin
            p_request.delay := greatest('1 ms', coalesce((v ->> 'delay')::interval, p_request.delay));
            p_request.max_delay := greatest(p_request.delay,
                                            coalesce((v ->> 'max_delay')::interval, p_request.max_delay));
            p_request.backoff := greatest(1, coalesce((v ->> 'backoff')::numeric, p_request.backoff));
            p_request.attempts := greatest(1, coalesce((v ->> 'attempts')::numeric, p_request.attempts));
        exception when data_exception then
            null;
        end;
    end if;
    return p_request;
end;
$$;

-- wf._decide(p_process, p_request, p_event, p_body, p_input, p_declared, p_failures, p_most)
--
-- Decides what a report means for its process. p_most: how many bytes the output
-- may have, if a policy limits it.
--
-- Returns  a verdict
-- Locks    nothing
-- Raises   nothing of its own
-- Called   by _apply_judged, for every report that is not a plain success
create or replace function wf._decide(
    p_process wf.process, p_request text, p_event text, p_body jsonb, p_input jsonb, p_declared wf.task_request,
    p_failures int, p_most int default null)
returns wf.verdict
language plpgsql stable as $$
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
        v := wf._judge(p_process.machine, p_request, p_declared.clauses, p_input, p_process.handle, p_body);
        v.stays := false;
        if pg_column_size(v.output) > p_most then
            v.event := 'fail';
            v.error := wf._refuse('output', format('the output has %s bytes, more than the %s that its policy allows',
                                                   pg_column_size(v.output), p_most));
            v.output := null;
        end if;
        if p_process.bind is not null and wf._is_large(pg_column_size(v.output)) then
            v.error := wf._overfull(p_process.instance_id, pg_column_size(v.output), p_process.scopes);
            if v.error is not null then
                v.event := 'fail';
                v.output := null;
            end if;
        end if;
    else
        v.handle := p_process.handle;
        v.error := wf._failure(p_body);
        v.event := case when p_request = 'poll' and p_failures + 1 < p_declared.attempts then 'polled' else 'fail' end;
        if v.event = 'polled' then
            v.detail := v.error;
            v.error := p_process.error;
        elsif p_request = 'start' and p_process.machine = 'async' and v.error ->> 'kind' in ('lost', 'timeout')
              and exists (select
                            from wf.task_request x
                           where x.type_id = p_declared.type_id
                             and x.request = 'poll'
                             and wf._names_attempt(x.args)) then
            -- the task may run; polls find that out
            v.event := 'started';
            v.detail := v.error;
            v.error := p_process.error;
        end if;
    end if;
    if p_process.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED') then
        if v.event in ('polled', 'started') then
            v.event := 'started';
            v.error := p_process.error; -- the error that the task is stopped for
        elsif v.event = 'fail' and p_process.state = 'CANCEL_REQUESTED' then
            v.error := wf._cancelled(v.error, p_process.error);
        end if;
    end if;
    return v;
end;
$$;

-- wf._open(p_response)
--
-- Returns  a response with its body, which says that it is JSON, read as JSON; null if it is not JSON
-- Locks    nothing
-- Raises   nothing
-- Called   by _apply_picked
create or replace function wf._open(p_response jsonb) returns jsonb
language plpgsql immutable as $$
begin
    return wf._read_json(p_response);
exception when data_exception or program_limit_exceeded then
    return null;
end;
$$;
