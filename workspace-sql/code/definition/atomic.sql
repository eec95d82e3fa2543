-- An atomic is one task. Its request holds the statements of the calls in it, and its
-- output is an object of the names that the calls bind. install makes the task type of
-- such a task out of the types of its calls. The name of the type is the word atomic, a
-- space and a checksum; no type of a file can have such a name. The only argument is
-- `calls`: a list with an object of arguments for each call.

-- wf._call_at(p_list, p_number)
--
-- Returns  the expression of the element that a list has for a call; p_number counts from 1
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._atomic_calls
create or replace function wf._call_at(p_list jsonb, p_number bigint) returns jsonb
language sql immutable
begin atomic
    select jsonb_build_array('at', p_list, p_number - 1);
end;

-- wf._atomic_calls(p_calls, p_task_types)
--
-- Finds the requests and clauses of the types of calls. These read `calls` in place of
-- their parameters, and the response to all statements in place of their own response.
--
-- Returns  for each call: its number (k), the name that it binds, how messages name it,
--          its statement as the driver gets it, and the expressions of its type
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._atomic_type
create or replace function wf._atomic_calls(p_calls jsonb, p_task_types jsonb)
returns table (k bigint, name text, said text, statement jsonb, idempotent jsonb, output jsonb, failure jsonb,
               failure_as jsonb, success jsonb, returns jsonb)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select c.ordinality, c.value ->> 'as',
           format('statement %s of %s (line %s): ', c.ordinality, jsonb_array_length(p_calls), c.value ->> 'line'),
           -- the time limit in seconds, since the driver reads no durations
           r.args || jsonb_build_object('line', c.value -> 'line')
           || case when r.args ? 'timeout'
                   then jsonb_build_object('timeout', jsonb_build_array('call', 'seconds', r.args -> 'timeout'))
                   else '{}' end,
           wf._substitute(t.spec #> '{policies,idempotent}', p.given),
           r.rest -> 'output', r.rest -> 'failure', r.rest -> 'failure_as', r.rest -> 'success', t.spec -> 'returns'
      from jsonb_array_elements(p_calls) with ordinality c
     cross join lateral (select p_task_types -> (c.value ->> 'type') as spec) t
     cross join lateral (
           select coalesce(jsonb_object_agg(a ->> 'name',
                                            jsonb_build_array('get', wf._call_at('["var", "calls"]', c.ordinality),
                                                              a -> 'name')), '{}') as given
             from jsonb_array_elements(t.spec -> 'params') a) p
     cross join lateral (
           select t.spec #> '{requests,start}' as start,
                  p.given || jsonb_build_object(
                      'response', wf._call_at('["get", ["var", "response"], "results"]', c.ordinality)) as names) s
     cross join lateral (
           -- the expression of the handle itself sees no handle yet
           select wf._substitute(s.start -> 'handle', s.names || '{"handle": null}') as handle) h
     cross join lateral (
           select wf._substitute(s.start -> 'args', p.given) as args,
                  wf._substitute(s.start - '{transport,args,handle}'::text[],
                                 s.names || jsonb_build_object('handle', h.handle)) as rest) r;
$$;

-- wf._judged_call(p_said, p_message, p_error)
--
-- Returns  the expression of the error of a call, whose message says which statement it is about
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._atomic_type
create or replace function wf._judged_call(p_said text, p_message text, p_error jsonb) returns jsonb
language sql immutable
begin atomic
    select jsonb_build_array(
               'call', 'merge', coalesce(p_error, '{}'),
               jsonb_build_object(
                   'message', jsonb_build_array(
                       'text', p_said,
                       case when p_error is null then to_jsonb(p_message)
                            else jsonb_build_array('coalesce', jsonb_build_array('get', p_error, 'message'), p_message)
                       end)));
end;

-- wf._atomic_type(p_calls, p_task_types)
--
-- Returns  the task type of an atomic with these calls; p_calls has type, name and line of each
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._join_calls
create or replace function wf._atomic_type(p_calls jsonb, p_task_types jsonb) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp as $$
    with
    call as materialized (
        select c.* from wf._atomic_calls(p_calls, p_task_types) c
    ),
    -- the first test that is true gives the error
    fault as materialized (
        select c.k, 1 as part, jsonb_build_array('coalesce', c.failure, false) as test,
               wf._judged_call(c.said, 'the response says that it failed', c.failure_as) as error
          from call c
         where c.failure is not null
        union all
        select c.k, 2, jsonb_build_array('not', jsonb_build_array('coalesce', c.success, false)),
               wf._judged_call(c.said, 'the response does not say that it succeeded', null)
          from call c
         where c.success is not null
    ),
    failure as (
        select jsonb_build_array('or', false) || jsonb_agg(f.test order by f.k, f.part) as test,
               jsonb_build_array('coalesce') || jsonb_agg(jsonb_build_array('if', f.test, f.error, null)
                                                          order by f.k, f.part) || '{}' as error
          from fault f
    )
    select jsonb_build_object(
               'name', 'atomic', 'machine', 'sync', 'params', '[{"name": "calls", "type": "list"}]'::jsonb,
               'returns', jsonb_build_object('object', coalesce((select jsonb_object_agg(c.name, coalesce(c.returns,
                                                                                                          '"json"'))
                                                                   from call c where c.name is not null), '{}')),
               'policies', jsonb_build_object(
                   'idempotent', (select jsonb_build_array('and', true)
                                         || jsonb_agg(coalesce(c.idempotent, 'false') order by c.k) from call c)),
               'requests', jsonb_build_object('start', jsonb_build_object(
                   'transport', 'sql',
                   'args', jsonb_build_object('statements', (select jsonb_build_array('list')
                                                                    || jsonb_agg(c.statement order by c.k)
                                                               from call c)))
                   || coalesce((select jsonb_build_object('output', jsonb_object_agg(c.name, c.output))
                                  from call c where c.name is not null and c.output is not null
                                having count(*) > 0), '{}')
                   || coalesce((select jsonb_build_object(
                                           'failure', f.test, 'failure_as', f.error)
                                  from failure f where f.test is not null), '{}')));
$$;

-- wf._join_calls(p_nodes, p_task_types, p_checksums)
--
-- Makes a task of each atomic of a sound file. The task gets a type, arguments, the
-- list of the names that it binds, and the names that its calls read. The calls in
-- the atomic are not nodes of their own any more.
--
-- Returns  the nodes, the task types and their checksums, with those of the atomics
-- Locks    nothing
-- Raises   nothing
-- Called   by _store_trees
create or replace function wf._join_calls(inout p_nodes wf.part[], inout p_task_types jsonb, inout p_checksums jsonb)
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_nestloop = off as $$
declare
    v_nodes constant wf.part[] := p_nodes;
    f record;
begin
    if not exists (select from unnest(v_nodes) n where n.object = 'atomic') then
        return;
    end if;
    with
    atomic as materialized (
        select a.place, jsonb_agg(jsonb_build_object('type', c.value -> 'type', 'as', c.value -> 'as',
                                                     'line', c.value -> 'line') order by c.place) as calls,
               jsonb_build_array('list') || jsonb_agg(c.value -> 'args' order by c.place) as args,
               array_agg(c.value -> 'reads') as reads,
               jsonb_agg(c.value -> 'as' order by c.place) filter (where c.value ? 'as') as names
          from unnest(v_nodes) a
          join unnest(v_nodes) c on c.object = 'task' and c.place[:cardinality(c.place) - 1] = a.place
         where a.object = 'atomic'
         group by a.place
    ),
    typed as materialized (
        select a.*, t.spec, wf._sha256(t.spec::text) as checksum
          from atomic a
         cross join lateral (select wf._atomic_type(a.calls, p_task_types) as spec offset 0) t
    ),
    joined as materialized (
        select t.place, t.spec, t.checksum, 'atomic ' || left(t.checksum, 16) as type,
               jsonb_build_object('args', jsonb_build_object('calls', t.args),
                                  'reads', (select coalesce(jsonb_object_agg(r.key, r.value), '{}')
                                              from unnest(t.reads) x cross join lateral jsonb_each(x) r))
               || case when t.names is null then '{}'
                       else jsonb_build_object('names', t.names, 'as', '') end as keys
          from typed t
    )
    select (select jsonb_object_agg(j.type, j.spec) from joined j) as types,
           (select jsonb_object_agg(j.type, j.checksum) from joined j) as checksums,
           (select array_agg(case when j.type is null then n
                                  else (n.object, n.path, n.place, n.scopes,
                                        n.value || j.keys
                                        || jsonb_build_object(
                                               'type', j.type,
                                               'reads', coalesce(n.value -> 'reads', '{}') || (j.keys -> 'reads'))
                                       )::wf.part end)
              from unnest(v_nodes) n
              left join joined j on j.place = n.place and n.object = 'atomic'
             where n.object <> 'task' or n.place[:cardinality(n.place) - 1] not in (select a.place from atomic a))
           as nodes
      into f;
    p_nodes := f.nodes;
    p_task_types := p_task_types || f.types;
    p_checksums := p_checksums || f.checksums;
end;
$$;

-- wf._spec_atomic(p_spec, p_nodes)
--
-- Checks the contents of atomics: only calls of SQL tasks. None of them may wait
-- for another one or have policies of its own.
--
-- Returns  a row for each fault: the place, the path to it, what is wrong, what to do
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._check_spec, for a file whose shape is sound
create or replace function wf._spec_atomic(p_spec jsonb, p_nodes wf.part[])
returns table (place int[], path text, message text, hint text)
language sql stable set search_path = pg_catalog, pg_temp set enable_nestloop = off as $$
    with
    member as materialized (
        select a.place as atomic, n.place, n.path, n.object, n.value, t.spec,
               t.spec #> '{requests,start}' as start
          from unnest(p_nodes) a
          join unnest(p_nodes) n on n.place[:cardinality(n.place) - 1] = a.place
                                and n.object not in ('param', 'undo')
         cross join lateral (select p_spec -> 'task_types' -> (n.value ->> 'type') as spec) t
         where a.object = 'atomic'
    )
    select m.place, m.path, format('%s cannot stand in an atomic', m.object),
           'An atomic holds calls of SQL tasks, and nothing else.'
      from member m
     where m.object <> 'task'
    union all
    select m.place, m.path || '.policies', 'a call in an atomic has no policies', 'Give them to the atomic.'
      from member m
     where m.object = 'task' and m.value ? 'policies'
    union all
    select m.place, m.path || '.type', format('%s is not a SQL task of one request', m.value ->> 'type'),
           'The calls of an atomic share a connection: the only request of their types is start, by the transport sql, '
           'with statement, params, rows and timeout.'
      from member m
     where m.object = 'task' and m.spec is not null
       and (m.spec ->> 'machine' <> 'sync' or m.start ->> 'transport' <> 'sql' or not m.start -> 'args' ? 'statement'
            or (m.start -> 'args') - '{statement,params,rows,timeout}'::text[] <> '{}')
    union all
    select m.place, m.path || '.type', format('the policy %s of %s does not reach an atomic', k, m.value ->> 'type'),
           'Only idempotent and title of a task type may stand beside an atomic; give other policies to the atomic.'
      from member m
     cross join lateral jsonb_object_keys(m.spec -> 'policies') k
     where m.object = 'task' and k not in ('idempotent', 'title')
    union all
    select m.place, m.path || '.reads', format('%s is bound in the same atomic', r),
           'All arguments of an atomic are evaluated before its first statement.'
      from member m
     cross join lateral jsonb_object_keys(m.value -> 'reads') r
     where exists (select from member o where o.atomic = m.atomic and o.value ->> 'as' = r);
$$;
