-- play.sql - workflows to play with, and a driver played by hand.
--
-- Included by test files, inside their transaction. A test installs a workflow
-- of the task types below, takes requests as a driver would, and reports what
-- it likes.

-- the task types
create table play_type (name text primary key, spec jsonb not null);
insert into play_type (name, spec)
select s ->> 'name', s
  from unnest(array[
    '{"name": "t.Do", "machine": "sync", "params": [{"name": "x", "type": {"optional": "json"}, "default": null}],
      "requests": {"start": {"transport": "builtin", "args": {"op": "noop"}, "output": ["get", ["var", "response"], "value"]}}}',
    '{"name": "t.Far", "machine": "sync", "params": [],
      "requests": {"start": {"transport": "ssh", "args": {"host": "far", "command": ["list", "true"]}}}}',
    '{"name": "t.Job", "machine": "async", "params": [],
      "requests": {
        "start": {"transport": "builtin", "args": {"op": "noop"}, "handle": {"id": ["get", ["var", "response"], "id"]}},
        "poll": {"transport": "builtin", "args": {"op": "noop"}, "every": {"delay": "PT5S"},
                 "success": ["eq", ["get", ["var", "response"], "state"], "done"],
                 "failure": ["eq", ["get", ["var", "response"], "state"], "bad"]},
        "cancel": {"transport": "builtin", "args": {"op": "noop"}},
        "cleanup": {"transport": "builtin", "args": {"op": "noop"}}}}',
    '{"name": "t.Sleep", "machine": "wait", "wait": "sleep", "params": [{"name": "duration", "type": "duration"}]}'
  ]::jsonb[]) s;

-- play_install(NAME, STEPS [, PARAMS]): installs a workflow of these steps.
create function play_install(p_name text, p_steps jsonb, p_params jsonb default '[]') returns void
language sql as $$
    select wf.install('// ' || p_name, jsonb_build_object(
        'format', 1, 'file', p_name || '.wf',
        'workflows', jsonb_build_array(jsonb_build_object(
            'name', p_name, 'line', 1, 'params', p_params, 'steps', p_steps)),
        'task_types', (select coalesce(jsonb_object_agg(t.name, t.spec), '{}')
                         from play_type t
                        where p_steps::text like '%"type": "' || t.name || '"%')));
$$;

-- play_task(TYPE, NAME [, ARGS [, POLICIES]]): a task that binds NAME.
create function play_task(p_type text, p_as text, p_args jsonb default '{}', p_policies jsonb default null) returns jsonb
language sql as $$
    select jsonb_strip_nulls(jsonb_build_object('kind', 'task', 'line', 1, 'type', p_type, 'as', p_as, 'policies', p_policies))
           || jsonb_build_object('args', case p_type when 't.Do' then '{"x": null}'::jsonb else '{}' end || p_args)
           || case when p_args::text like '%"var"%'
                   then jsonb_build_object('reads', (select jsonb_object_agg(m[1], 0) from regexp_matches(p_args::text, '"var", "([^"]+)"', 'g') m))
                   else '{}' end;
$$;

-- play_seq(STEPS), play_par(BRANCHES)
create function play_seq(variadic p_steps jsonb[]) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'seq', 'line', 1, 'steps', to_jsonb(p_steps)); $$;
create function play_par(variadic p_branches jsonb[]) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'par', 'line', 1, 'branches', to_jsonb(p_branches)); $$;

-- play_forall(NAME, LIST, BODY)
create function play_forall(p_name text, p_list jsonb, p_body jsonb) returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'forall', 'line', 1, 'name', p_name, 'in', jsonb_build_array('const', p_list), 'body', p_body);
$$;

-- What drivers were handed and have not been reported yet.
create table play_request (
    k bigint generated always as identity primary key,
    driver_id bigint, kind text, instance_id bigint, process_id bigint, attempt int, token uuid, request text, needs_ack boolean,
    transport text, task_type text, args jsonb, timeout_ms bigint
);

-- play_driver([NAME [, TRANSPORTS [, QUEUES]]]): a driver of a name
create function play_driver(p_name text default 'fake', p_transports text[] default '{builtin}', p_queues text[] default '{default}') returns bigint
language sql as $$ select wf.register(p_name, '1', p_transports, p_queues, 100); $$;

-- play_take(DRIVER [, WANT]): polls; how many requests it was handed.
create function play_take(p_driver bigint, p_want int default 100) returns bigint
language sql as $$
    select wf.work();
    with polled as (
        insert into play_request (driver_id, kind, instance_id, process_id, attempt, token, request, needs_ack, transport, task_type, args, timeout_ms)
        select p_driver, r.kind, r.instance_id, r.process_id, r.attempt, r.token, r.request, r.needs_ack, r.transport, r.task_type, r.args, r.timeout_ms
          from wf.poll(p_driver, p_want) r
         where r.kind not in ('next', 'work')
        returning kind)
    select count(*) from polled where kind = 'run';
$$;

-- play_report(PROCESS [, EVENT [, BODY]]): reports the last request of a process; the answer.
create function play_report(p_process bigint, p_event text default 'response', p_body text default '') returns text
language sql as $$
    select o.answer
      from (select * from play_request where process_id = p_process order by k desc limit 1) r,
           wf.outcome(r.driver_id, array[r.instance_id], array[r.process_id], array[r.token], array[p_event], array[convert_to(p_body, 'UTF8')]) o;
$$;

-- play_needless(STEP): counts the moves that would have the step in a process that never needs it.
create function play_needless(p_step text) returns bigint
language sql as $$
    select count(*) from wf.transition t
     where wf._needed(t.steps, 1, null, null, null, null, 0, null, null, null, null, null, null, null, null, null, null)
           & wf._step(p_step) > 0;
$$;

-- play_fail(PROCESS [, MESSAGE]): reports a failure of kind http.
create function play_fail(p_process bigint, p_message text default 'it broke') returns text
language sql as $$ select play_report(p_process, 'error', jsonb_build_object('kind', 'http', 'message', p_message)::text); $$;

-- play_fail_all(DRIVER, INSTANCE [, NAME]): reports a failure of all that it was handed, except of what binds NAME.
create function play_fail_all(p_driver bigint, p_instance bigint, p_but text default '') returns bigint
language sql as $$
    select count(*)
      from (select array_agg(r.process_id) as p, array_agg(r.token) as t
              from play_request r
              join wf.process p on p.instance_id = r.instance_id and p.id = r.process_id
             where r.instance_id = p_instance and r.kind = 'run' and p.state in ('START_REQUESTED', 'ABORT_REQUESTED') and p.bind is distinct from p_but) x,
           wf.outcome(p_driver, array_fill(p_instance, array[cardinality(x.p)]), x.p, x.t, array_fill('error'::text, array[cardinality(x.p)]),
                      array_fill(convert_to('{"kind": "http", "message": "no"}', 'UTF8'), array[cardinality(x.p)]));
$$;

-- play_id(INSTANCE, NAME [, INDEX]): the youngest process that binds NAME, or of that kind.
create function play_id(p_instance bigint, p_name text, p_index int default null) returns bigint
language sql as $$
    select max(p.id)
      from wf.process p
     where p.instance_id = p_instance
       and (p.bind = p_name or p.kind = p_name)
       and (p_index is null or p.index = p_index);
$$;

-- play_state(INSTANCE, NAME): the state of that process.
create function play_state(p_instance bigint, p_name text) returns text
language sql as $$
    select p.state from wf.process p where p.instance_id = p_instance and p.id = play_id(p_instance, p_name);
$$;

-- play_later(INTERVAL): sets the clock forward.
create function play_later(p_interval interval) returns void
language sql as $$ select set_config('wf.now', (wf.now() + p_interval)::text, true); $$;

-- play_on(DRIVER [, WANT]): takes requests and answers each of them, until
-- there are none: a t.Do with the value of its argument x, anything else with
-- what ends it well. How many it answered.
create function play_on(p_driver bigint, p_want int default 1000) returns bigint
language plpgsql as $$
declare
    v_all bigint := 0;
    v_last bigint;
begin
    loop
        v_last := (select coalesce(max(k), 0) from play_request);
        exit when play_take(p_driver, p_want) = 0;
        perform wf.outcome(p_driver, array_agg(r.instance_id), array_agg(r.process_id), array_agg(r.token), array_agg('ack'::text), array_agg(''::bytea))
           from play_request r where r.k > v_last and r.kind = 'run' and r.needs_ack having count(*) > 0;
        perform wf.outcome(p_driver, array_agg(r.instance_id), array_agg(r.process_id), array_agg(r.token), array_agg('response'::text),
                           array_agg(convert_to(jsonb_build_object('id', r.process_id, 'state', 'done', 'value', coalesce(p.input, n.input) -> 'x')::text, 'UTF8')))
           from play_request r
           join wf.process p on p.instance_id = r.instance_id and p.id = r.process_id
           join wf.node n on n.version_id = p.version_id and n.id = p.node_id
          where r.k > v_last and r.kind = 'run';
        v_all := v_all + (select count(*) from play_request r where r.k > v_last and r.kind = 'run');
    end loop;
    return v_all;
end;
$$;

-- play_as(LOGIN, STATEMENT): what it answers, or its error and message
create function play_as(p_login text, p_sql text) returns text
language plpgsql as $$
declare
    v_me constant name := session_user;
    v_answer text;
begin
    execute format('set session authorization %I', p_login);
    begin
        execute p_sql into v_answer;
    exception when others then
        v_answer := sqlstate || ' ' || sqlerrm;
    end;
    execute format('set session authorization %I', v_me);
    return v_answer;
end;
$$;
