-- The outcomes of simulated requests: the script gives them, or the seed; otherwise
-- requests succeed. docs/console.md describes the rules of a script.

do $$
begin
    if to_regtype('wf.foreseen') is null then
        create type wf.foreseen as (
            instance_id bigint, process_id bigint, token uuid, due_at timestamptz, how text, body jsonb
        );
        comment on type wf.foreseen is
            'What is going to come of a simulated request: response, error, lost, or move (a success or start as '
            'such, whatever response would mean that). Without a token: signal, which a wait is going to take.';
    end if;
end;
$$;

-- wf._check_script(p_script)
--
-- Returns  nothing
-- Locks    nothing
-- Raises   WF002 if it is not a list of rules
-- Called   by simulate
create or replace function wf._check_script(p_script jsonb) returns void
language plpgsql as $$
declare
    v record;
    v_wrong text;
begin
    if jsonb_typeof(p_script) <> 'array' then
        raise exception using errcode = 'WF002', message = 'the script is not a list',
            hint = 'Give a list of rules, such as [{"task": "http.Request", "attempt": 1, "outcome": "lost"}].';
    end if;
    for v in
        select r.k, r.rule, jsonb_typeof(r.rule) = 'object' as fits, r.rule -> 'outcome' as outcome
          from jsonb_array_elements(p_script) with ordinality r (rule, k)
    loop
        if v.fits then
            select format('there is no key %s', x.key) into v_wrong
              from jsonb_object_keys(v.rule) x (key)
             where x.key <> all ('{task,attempt,round,index,request,outcome,duration,then,output}'::text[]) limit 1;
        end if;
        v_wrong := case
            when not v.fits then 'it is not an object'
            when v_wrong is not null then v_wrong
            when jsonb_typeof(v.rule -> 'task') <> 'string'
            then 'task must be the name, the type or the title of a task'
            when v.rule ? 'attempt' and v.rule ->> 'attempt' !~ '^[0-9]{1,9}$' then 'attempt must be a number from 1'
            when v.rule ? 'round' and v.rule ->> 'round' !~ '^[0-9]{1,9}$' then 'round must be a number from 1'
            when v.rule ? 'index' and v.rule ->> 'index' !~ '^[0-9]{1,9}$'
            then 'index must be the number of an element, from 0'
            when v.rule ->> 'request' <> all ('{start,poll,cancel,cleanup}'::text[])
            then 'request must be start, poll, cancel or cleanup'
            when v.rule ->> 'then' <> all ('{retry,ignore,resolve,raise}'::text[])
            then 'then must be retry, ignore, resolve or raise'
            when v.rule ? 'output' and v.rule ->> 'then' is distinct from 'resolve'
            then 'output goes only with "then": "resolve"'
            when v.rule ? 'duration' and wf._wake_at('epoch', v.rule -> 'duration') is null
            then 'duration must be a duration, such as 10s'
            when v.outcome #>> '{}' in ('success', 'lost', 'never') then null
            when v.outcome is null or jsonb_typeof(v.outcome) = 'object'
                 and (select count(*) = 1 and min(x.key) in ('response', 'output', 'error')
                        from jsonb_object_keys(v.outcome) x (key))
                 and (not v.outcome ? 'error' or jsonb_typeof(v.outcome -> 'error') = 'object') then null
            else 'outcome must be "success", "lost", "never", {"response": …}, {"output": …} '
                 'or {"error": {"kind": …, "message": …}}' end;
        if v_wrong is not null then
            raise exception using errcode = 'WF002',
                message = format('rule %s of the script: %s', v.k, v_wrong),
                detail = left(v.rule::text, 200),
                hint = 'A rule may have task, attempt, round, index, request, outcome, duration, then and output.';
        end if;
    end loop;
end;
$$;

-- wf._element(p_instance, p_process)
--
-- In the tree an undo is below the process that was given up, but it is in the scope of the
-- step that it undoes.
--
-- Returns  the index of the nearest element of a forall, or round of a loop, that a process is in; null if it is in
--          none
-- Locks    nothing
-- Raises   nothing
-- Called   by _find_rule
create or replace function wf._element(p_instance bigint, p_process bigint) returns int
language plpgsql stable as $$
declare
    v_index int;
    v_process bigint := p_process;
begin
    while v_process is not null and v_index is null loop
        select p.index, case when p.kind = 'undo' then p.scopes[cardinality(p.scopes)] else p.parent_id end
          into v_index, v_process
          from wf.process p
         where p.instance_id = p_instance and p.id = v_process;
    end loop;
    return v_index;
end;
$$;

-- wf._round(p_instance, p_process)
--
-- Returns  the round of the nearest block with a policy retry that a process is in; null if it is in none
-- Locks    nothing
-- Raises   nothing
-- Called   by _find_rule
create or replace function wf._round(p_instance bigint, p_process bigint) returns int
language plpgsql stable as $$
declare
    v_round int;
    v_process bigint := p_process;
begin
    while v_process is not null and v_round is null loop
        select case when p.machine = 'composite' and p.retry_from is not null then p.attempt end, p.parent_id
          into v_round, v_process
          from wf.process p
         where p.instance_id = p_instance and p.id = v_process;
    end loop;
    return v_round;
end;
$$;

-- wf._find_rule(p_script, p_process, p_node, p_request)
--
-- Returns  the first rule for this request of a process, or for its failure if
--          p_request is null; null if no rule fits
-- Locks    nothing
-- Raises   nothing
-- Called   by _foresee, _foresee_waits and _repair_simulated
create or replace function wf._find_rule(p_script jsonb, p_process wf.process, p_node wf.node, p_request text)
returns jsonb
language plpgsql stable as $$
begin
    return (select r.rule
              from jsonb_array_elements(p_script) with ordinality r (rule, k)
             where (not r.rule ? 'task'
                    or r.rule ->> 'task' in (p_node.bind, p_node.task_type, p_node.label, p_node.title,
                                             p_process.policy ->> 'title')
                    or r.rule ->> 'task' = any (p_node.names))
               and (not r.rule ? 'attempt' or (r.rule ->> 'attempt')::int = p_process.attempt)
               and (not r.rule ? 'round'
                    or (r.rule ->> 'round')::int = wf._round(p_process.instance_id, p_process.id))
               and (not r.rule ? 'index'
                    or (r.rule ->> 'index')::int = wf._element(p_process.instance_id, p_process.id))
               and case when p_request is null then r.rule ? 'then'
                        else coalesce(r.rule ->> 'request',
                                      case p_process.machine when 'async' then 'poll' else 'start' end) = p_request end
             order by r.k
             limit 1);
end;
$$;

-- wf._dice(p_seed, p_number)
--
-- Returns  a number from 0 to 99, always the same for the same seed and number
-- Locks    nothing
-- Raises   nothing
-- Called   by _foresee and _foresee_waits
create or replace function wf._dice(p_seed bigint, p_number bigint) returns int
language sql immutable
begin atomic
    select ((hashint8extended(p_number, p_seed) >> 8) & 16777215)::int % 100;
end;

-- wf._plausible_value(p_type)
--
-- Returns  the simplest value of a type, as the output of a simulated task
-- Locks    nothing
-- Raises   nothing
-- Called   by _foresee
create or replace function wf._plausible_value(p_type jsonb) returns jsonb
language plpgsql immutable as $$
begin
    if p_type ? 'object' and jsonb_typeof(p_type) = 'object' then
        return (select jsonb_object_agg(f.key, wf._plausible_value(f.value)) from jsonb_each(p_type -> 'object') f);
    elsif p_type ? 'list' and jsonb_typeof(p_type) = 'object' then
        return '[]'::jsonb;
    end if;
    return case p_type #>> '{}'
               when 'int' then '0' when 'number' then '0' when 'bool' then 'true'
               when 'list' then '[]' when 'object' then '{}'
               when 'date' then '"2000-01-01"' when 'timestamp' then '"2000-01-01T00:00:00Z"'
               when 'duration' then '"PT0S"'
               when 'string' then '""' when 'secret' then '""' when 'sql' then '""' when 'shell' then '""'
               else 'null' end::jsonb;
end;
$$;

-- wf._plausible_response(p_transport, p_args)
--
-- Returns  what a transport answers if all goes well
-- Locks    nothing
-- Raises   nothing
-- Called   by _foresee
create or replace function wf._plausible_response(p_transport text, p_args jsonb) returns jsonb
language sql stable
begin atomic
    select case when p_transport = 'http'
                then jsonb_build_object('status', coalesce(p_args #> '{accept,0}', '200'), 'url', p_args -> 'url',
                                        'body', null,
                                        'headers', case when p_args -> 'accept' @> '[201]'
                                                        then jsonb_build_object('location', p_args -> 'url')
                                                        else '{}' end)
                when p_transport = 'sql' and p_args ? 'statements'
                then jsonb_build_object('results', (select jsonb_agg('{"rows": [], "count": 0}'::jsonb)
                                                      from jsonb_array_elements(p_args -> 'statements') s))
                when p_args ->> 'op' = 'env' and p_transport = 'builtin' then '{"value": null}'
                when p_args ->> 'op' = 'log' or p_transport <> 'builtin'
                then (select t.response from wf.transport t where t.name = p_transport) end;
end;

-- wf._foresee(p_script, p_seed, p_number, p_process, p_request, p_token, p_transport, p_args, p_timeout_ms)
--
-- Decides what outcome a request that has just been handed out will have: the one
-- that the script says, else the one that the seed gives, else success. A response
-- that the type's clauses would not take for a success is not sent. Then the task
-- succeeds without a response, with the simplest value of the type that it returns.
--
-- Returns  the outcome and its time
-- Locks    nothing
-- Raises   nothing
-- Called   by _play
create or replace function wf._foresee(p_script jsonb, p_seed bigint, p_number bigint, p_process wf.process,
                                       p_request text, p_token uuid, p_transport text, p_args jsonb,
                                       p_timeout_ms bigint) returns wf.foreseen
language plpgsql volatile as $$
declare
    v wf.foreseen := row(p_process.instance_id, p_process.id, p_token, null, 'response', null);
    v_node wf.node;
    v_type wf.task_type;
    v_decides boolean := p_request = case p_process.machine when 'async' then 'poll' else 'start' end;
    v_rule jsonb;
    v_outcome jsonb;
    v_judged text;
    v_good text := case when v_decides then 'success' when p_request = 'start' then 'started' end;
    v_time interval := case when p_transport = 'builtin' then '0 s' when p_seed is null or not v_decides then '1 s'
                            else (1 + wf._dice(p_seed, 2 * p_number + 1) * 6 / 10) * interval '1 s' end;
    v_dice int := case when p_seed is null or not v_decides or p_transport = 'builtin' then 100
                       else wf._dice(p_seed, 2 * p_number) end;
begin
    select n.* into v_node from wf.node n where n.version_id = p_process.version_id and n.id = p_process.node_id;
    select t.* into v_type from wf.task_type t where t.id = v_node.type_id;
    v_rule := wf._find_rule(p_script, p_process, v_node, p_request);
    v_outcome := coalesce(v_rule -> 'outcome',
                          case when v_dice < 5 then '"lost"'
                               when v_dice < 20
                               then jsonb_build_object('error', jsonb_build_object(
                                        'kind', p_transport, 'message', 'it fails, as the seed has it')) end,
                          case when p_transport = 'builtin' and p_args ->> 'op' = 'fail'
                               then jsonb_build_object('error', jsonb_build_object(
                                        'kind', coalesce(p_args ->> 'kind', 'failed'),
                                        'message', coalesce(p_args ->> 'message', 'failed on purpose'))) end,
                          '"success"');
    if v_rule ? 'duration' then
        v_time := wf._parse_duration(v_rule ->> 'duration');
    end if;
    v.due_at := case when v_outcome = '"never"' then 'infinity' else wf.now() + v_time end;
    if v_outcome ? 'error' then
        v.how := 'error';
        v.body := v_outcome -> 'error';
    elsif v_outcome ? 'response' then
        v.body := v_outcome -> 'response';
    elsif v_outcome ? 'output' then
        v.how := 'move';
        v.body := jsonb_build_object('event', 'success', 'output', v_outcome -> 'output');
    elsif v_outcome = '"lost"' then
        v.how := 'lost';
    else
        v.body := wf._plausible_response(p_transport, p_args);
        select (wf._judge(p_process.machine, p_request, q.clauses, coalesce(p_process.input, v_node.input),
                          p_process.handle, v.body)).event
          into v_judged
          from wf.task_request q where q.type_id = v_type.id and q.request = p_request;
        if v_judged <> v_good then
            v.how := 'move';
            v.body := jsonb_build_object('event', v_good,
                                         'output', case when v_decides
                                                        then wf._plausible_value(v_type.spec -> 'returns') end);
        end if;
    end if;
    if v.due_at > wf.now() + p_timeout_ms * interval '1 ms' then
        v.due_at := wf.now() + p_timeout_ms * interval '1 ms';
        v.how := 'error';
        v.body := jsonb_build_object('kind', 'timeout', 'message', format('no answer within %s ms', p_timeout_ms));
    end if;
    return v;
end;
$$;

-- wf._foresee_waits(p_script, p_seed, p_number, p_instance, p_flight)
--
-- Decides how the waits for signals and for instances that have begun will end: as the script
-- says; else the signal comes, or the instance ends, after a second, or after the time that
-- the seed gives.
--
-- Returns  outcomes of the waits that have none in p_flight yet
-- Locks    nothing
-- Raises   nothing
-- Called   by _play
create or replace function wf._foresee_waits(p_script jsonb, p_seed bigint, p_number bigint, p_instance bigint,
                                             p_flight wf.foreseen[]) returns wf.foreseen[]
language plpgsql volatile as $$
begin
    return array(
        select row(p_instance, w.id, null,
                   case when w.outcome in ('"never"', '"lost"') then 'infinity'
                        when w.rule ? 'duration' then wf.now() + wf._parse_duration(w.rule ->> 'duration')
                        else wf.now() + (1 + coalesce(wf._dice(p_seed, p_number + w.id), 0) * 6 / 10) * interval '1 s'
                        end,
                   'wait',
                   jsonb_build_object('attempt', w.attempt, 'error', w.outcome -> 'error',
                                      'output', coalesce(w.outcome -> 'output', '{}')))::wf.foreseen
          from (select p.id, p.attempt, r.rule, coalesce(r.rule -> 'outcome', '"success"') as outcome
                  from wf.timer t
                  join wf.process p on p.instance_id = t.instance_id and p.id = t.process_id
                  join wf.node n on n.version_id = p.version_id and n.id = p.node_id
                 cross join lateral (select wf._find_rule(p_script, p, n, 'start') as rule offset 0) r
                 where t.instance_id = p_instance and t.kind in ('signal', 'input', 'child')
                   and not exists (select from unnest(p_flight) f
                                    where f.how = 'wait' and f.process_id = p.id
                                      and f.body -> 'attempt' = to_jsonb(p.attempt))) w
         order by w.id);
end;
$$;
