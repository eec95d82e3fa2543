-- The checks of a compiled file that go beyond its grammar.

-- wf._spec_types(p_spec)
--
-- Checks task types: their parameters and policies, and whether the machine and the
-- requests go together.
--
-- Returns  a row for each fault: the place, the path to it, what is wrong, what to do
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._check_spec, for a file whose shape is sound
create or replace function wf._spec_types(p_spec jsonb)
returns table (place int[], path text, message text, hint text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    with
    task_type as materialized (
        select 'task_types.' || t.key as path, t.key, t.value ->> 'name' as name, t.value,
               array(select r ->> 'name' from jsonb_array_elements(t.value -> 'params') r) as params
          from jsonb_each(p_spec -> 'task_types') t
    )
    select '{}'::int[], t.path, format('holds the task type %s', t.name), null
      from task_type t
     where t.key <> t.name
    union all
    select '{}', t.path || '.params', format('parameter %s has a reserved name', f),
           'handle, instance and response have a meaning of their own in requests.'
      from task_type t
     cross join lateral unnest(t.params) f
     where f in ('handle', 'instance', 'response')
    union all
    select '{}', t.path || '.params', 'parameter error has a reserved name',
           '`when` of a retry sees the error as `error`.'
      from task_type t
     where 'error' = any (t.params) and t.value #> '{policies,retry}' ? 'when'
    union all
    select '{}', t.path || '.params', format('parameter %s is defined twice', f), null
      from task_type t
     cross join lateral unnest(t.params) f
     group by t.path, f
    having count(*) > 1
    union all
    select '{}', format('%s.params[%s].default', t.path, p.ordinality - 1),
           format('a default reads no names, this one reads %s', f), null
      from task_type t
     cross join lateral jsonb_array_elements(t.value -> 'params') with ordinality p
     cross join lateral unnest(wf._names(p.value -> 'default')) f
     where p.value ? 'default'
    union all
    select '{}', t.path, m.message,
           'A sync type has only the request start, an async one has poll too, '
           'a wait type has the clause wait instead of requests.'
      from task_type t
     cross join lateral (values
           (t.value ->> 'machine' = 'wait' and not t.value ? 'wait', 'is a wait type without the clause wait'),
           (t.value ->> 'machine' <> 'wait' and t.value ? 'wait', 'has the clause wait but is not a wait type'),
           (t.value ->> 'machine' = 'wait' and coalesce(t.value -> 'requests', '{}') <> '{}',
            'is a wait type with requests'),
           (t.value ->> 'machine' <> 'wait' and (t.value #> '{requests,start}') is null, 'has no request start'),
           (t.value ->> 'machine' = 'sync' and coalesce(t.value -> 'requests', '{}') - 'start' <> '{}',
            'is a sync type with requests other than start'),
           (t.value ->> 'machine' = 'async' and (t.value #> '{requests,poll}') is null,
            'is an async type without the request poll')
           ) m (wrong, message)
     where m.wrong
    union all
    select '{}', t.path || '.policies', format('%s is not a parameter of %s', f, t.name), null
      from task_type t
     cross join lateral unnest(wf._policy_names(t.value -> 'policies')) f
     where f <> all (t.params)
    union all
    select '{}', t.path || '.policies.idempotent', 'must be true, false or an operator',
           'It may read the parameters of the task type.'
      from task_type t
     where jsonb_typeof(t.value #> '{policies,idempotent}') not in ('boolean', 'array')
    union all
    select '{}', t.path || '.policies.' || c.path, 'must be ' || c.fit, null
      from task_type t
     cross join lateral wf._wrong_policies(t.value -> 'policies') c;
$$;

-- wf._spec_requests(p_spec)
--
-- Checks the requests of task types: what their expressions read, and how they are
-- repeated.
--
-- Returns  a row for each fault: the place, the path to it, what is wrong, what to do
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._check_spec, for a file whose shape is sound
create or replace function wf._spec_requests(p_spec jsonb)
returns table (place int[], path text, message text, hint text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    with
    -- what an expression of a request may read beyond the parameters of the task
    template as materialized (
        select format('task_types.%s.requests.%s', t.key, r.key) as path, p.params,
               p.params || array['handle', 'response'] as all_names,
               case when r.key = 'start' then p.params else p.params || '{handle}'::text[] end as argument_names,
               r.value
          from jsonb_each(p_spec -> 'task_types') t
         cross join lateral jsonb_each(t.value -> 'requests') r
         cross join lateral (select array(select p ->> 'name' from jsonb_array_elements(t.value -> 'params') p)
                            ) p (params)
    )
    select '{}'::int[], r.path || '.every', 'start is not repeated', null
      from template r
     where r.path like '%.start' and r.value ? 'every'
    union all
    select '{}', r.path || '.progress', 'is not for this request',
           'It goes with poll, and with the start of ' || array_to_string(wf._streaming(), ' and ')
           || ', whose output is read.'
      from template r
     where r.value ? 'progress' and r.path not like '%.poll'
       and not (r.path like '%.start' and r.value ->> 'transport' = any (wf._streaming()))
    union all
    select '{}', e.path, format('nothing is called %s here', f),
           'The names are ' || array_to_string(e.names, ', ') || '.'
      from template r
     cross join lateral (values
           (r.path || '.args', r.value -> 'args', r.argument_names),
           (r.path || '.every', r.value -> 'every', r.params),
           (r.path, r.value - '{transport,args,every}'::text[], r.all_names)
           ) e (path, value, names)
     cross join lateral unnest(wf._names(e.value)) f
     where f <> all (e.names)
    union all
    select '{}', r.path || '.every.' || c.key, 'must be ' || c.meaning, null
      from template r
     cross join lateral (values
           ('delay', 'string',
            '^P(?!$)([0-9]+D)?(T(?=[0-9])([0-9]+H)?([0-9]+M)?([0-9]+([.][0-9]+)?S)?)?$', 'a duration'),
           ('max_delay', 'string',
            '^P(?!$)([0-9]+D)?(T(?=[0-9])([0-9]+H)?([0-9]+M)?([0-9]+([.][0-9]+)?S)?)?$', 'a duration'),
           ('backoff', 'number', '^[1-9][0-9]{0,3}([.][0-9]+)?$', 'a number of at least 1'),
           ('attempts', 'number', '^[1-9][0-9]{0,8}$', 'an int of at least 1')
           ) c (key, type, pattern, meaning)
     cross join lateral (select wf._constant(r.value -> 'every' -> c.key) -> 'value') f (value)
     where f.value <> 'null' and not (jsonb_typeof(f.value) = c.type and f.value #>> '{}' ~ c.pattern);
$$;

-- wf._with_forms(p_nodes)
--
-- Returns  the workflows of a file and their nodes, with what their forms say
-- Locks    nothing
-- Raises   nothing
-- Called   by the checks of nodes
create or replace function wf._with_forms(p_nodes wf.part[])
returns table (kind text, path text, place int[], scopes int[], value jsonb, scope text, begins text, ends text)
language sql stable
begin atomic
    select p.object, p.path, p.place, p.scopes, p.value, f.scope, f.begins, f.ends
      from unnest(p_nodes) p
      left join wf.form f on f.kind = p.object
     where p.object <> 'param';
end;

-- wf._spec_workflows(p_nodes)
--
-- Checks that workflows have different names, and that their defaults are constant.
--
-- Returns  a row for each fault: the place, the path to it, what is wrong, what to do
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._check_spec, for a file whose shape is sound
create or replace function wf._spec_workflows(p_nodes wf.part[])
returns table (place int[], path text, message text, hint text)
language sql stable set search_path = pg_catalog, pg_temp set enable_nestloop = off as $$
    with
    workflow as materialized (
        select n.* from wf._with_forms(p_nodes) n where n.kind = 'workflow'
    )
    select w.place, w.path || '.name', format('workflow %s is defined twice', w.value ->> 'name'), null
      from workflow w
     where exists (select from workflow o where o.value -> 'name' = w.value -> 'name' and o.place < w.place)
    union all
    select w.place, format('%s.params[%s].default', w.path, p.ordinality - 1),
           format('a default reads no names, this one reads %s', f), null
      from workflow w
     cross join lateral jsonb_array_elements(w.value -> 'params') with ordinality p
     cross join lateral unnest(wf._names(p.value -> 'default')) f
     where p.value ? 'default';
$$;

-- wf._spec_tasks(p_spec, p_nodes)
--
-- Checks that each task has a type, and the arguments that its type names.
--
-- Returns  a row for each fault: the place, the path to it, what is wrong, what to do
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._check_spec, for a file whose shape is sound
create or replace function wf._spec_tasks(p_spec jsonb, p_nodes wf.part[])
returns table (place int[], path text, message text, hint text)
language sql stable set search_path = pg_catalog, pg_temp set enable_nestloop = off as $$
    with
    task_type as materialized (
        select t.key as name, array(select r ->> 'name' from jsonb_array_elements(t.value -> 'params') r) as params
          from jsonb_each(p_spec -> 'task_types') t
    ),
    task as materialized (
        select p.path, p.place, p.value from unnest(p_nodes) p where p.object = 'task'
    )
    select n.place, n.path || '.type', format('task_types has no %s', n.value ->> 'type'),
           'A tree brings each task type that it uses.'
      from task n
     where not exists (select from task_type t where t.name = n.value ->> 'type')
    union all
    select n.place, n.path || '.args', format('%s has no parameter %s', t.name, a), null
      from task n
      join task_type t on t.name = n.value ->> 'type'
     cross join lateral jsonb_object_keys(n.value -> 'args') a
     where a <> all (t.params)
    union all
    select n.place, n.path || '.args', format('%s needs the parameter %s', t.name, a), null
      from task n
      join task_type t on t.name = n.value ->> 'type'
     cross join lateral unnest(t.params) a
     where not n.value -> 'args' ? a;
$$;

-- wf._bound_names(p_nodes)
--
-- Returns  the names that a file binds: each with the place of the node that opened its scope, and the place of the
--          node that binds it
-- Locks    nothing
-- Raises   nothing
-- Called   by the checks of names
create or replace function wf._bound_names(p_nodes wf.part[])
returns table (opener int[], place int[], path text, name text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    with recursive
    node as materialized (
        select n.* from wf._with_forms(p_nodes) n
    ),
    bound as materialized (
        select n.place as opener, n.place, n.path || '.params' as path, r ->> 'name' as name
          from node n
         cross join lateral jsonb_array_elements(n.value -> 'params') r
         where n.kind = 'workflow'
        union all
        select n.place, n.place, n.path || '.args', a
          from node n
         cross join lateral jsonb_object_keys(n.value -> 'args') a
         where n.scope = 'own'
        union all
        select n.place, n.place, n.path, f
          from node n
         cross join lateral unnest(array[n.value ->> 'name', n.value ->> 'index', n.value ->> 'element']) f
         where n.scope = 'child' and f is not null
        union all
        select n.place[1:n.scopes[cardinality(n.scopes)]], n.place, n.path, a
          from node n
         cross join lateral (
               select n.value ->> 'as' where n.value ? 'as' union all
               select n.value ->> 'name' where n.kind in ('catch', 'finally') and n.value ? 'name'
               union all
               select c ->> 'as' from jsonb_array_elements(n.value -> 'collect') c
               union all
               select n.value #>> '{yield,as}' where n.value ? 'yield'
               ) b (a)
    ),
    -- what a branch of a race binds can be read around the race
    binder (opener, place, path, name) as (
        select b.* from bound b
        union all
        select n.place[1:n.scopes[cardinality(n.scopes)]], b.place, b.path, b.name
          from binder b
          join node n on n.place = b.opener and n.ends = 'first'
    )
    select b.* from binder b;
$$;

-- wf._names_read(p_nodes)
--
-- Returns  the names that nodes list as read: each with the place of the node that opened its scope, and the place of
--          the reader
-- Locks    nothing
-- Raises   nothing
-- Called   by the checks of names
create or replace function wf._names_read(p_nodes wf.part[])
returns table (opener int[], place int[], path text, name text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select n.place[1:n.scopes[r.value::int + 1]], n.place, n.path || '.reads', r.key
      from wf._with_forms(p_nodes) n
     cross join lateral jsonb_each_text(n.value -> 'reads') r
    union all
    select n.place[1:(n.scopes || cardinality(n.place))[r.value::int + 1]], n.place, n.path || '.' || k, r.key
      from wf._with_forms(p_nodes) n
     cross join unnest(array['collect_reads', 'round_reads']) k
     cross join lateral jsonb_each_text(n.value -> k) r;
$$;

-- wf._spec_scopes(p_nodes)
--
-- Checks the names that are bound. Checks that each name that a node lists as read is
-- bound in the scope that the node gives.
--
-- Returns  a row for each fault: the place, the path to it, what is wrong, what to do
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._check_spec, for a file whose shape is sound
create or replace function wf._spec_scopes(p_nodes wf.part[])
returns table (place int[], path text, message text, hint text)
language sql stable set search_path = pg_catalog, pg_temp set enable_nestloop = off as $$
    with
    node as materialized (
        select n.* from wf._with_forms(p_nodes) n
    ),
    binder as materialized (
        select b.* from wf._bound_names(p_nodes) b
    )
    select b.place, b.path, format('%L is not a name', b.name),
           'Names have letters, digits and _, at most 63 bytes; instance is reserved.'
      from binder b
     where b.name !~ '^[A-Za-z_][A-Za-z0-9_]{0,62}$' or b.name = 'instance'
    union all
    select b.place, b.path, format('the name %s is bound twice', b.name),
           'A scope binds a name once, except in the alternatives of one form: '
           'the branches of an if or a race, the body of a try and its catches.'
      from (select b.*, lag(b.place) over (partition by b.opener, b.name order by b.place) as before from binder b) b
     where b.before is not null
       and not exists (select
                         from node n
                        where (n.begins in ('chosen', 'body') or n.ends = 'first')
                          -- the innermost node around both
                          and n.place = b.place[1:(select coalesce(max(i), 0)
                                                     from generate_series(1, least(cardinality(b.place),
                                                                                   cardinality(b.before))) i
                                                    where b.place[1:i] = b.before[1:i])]
                          -- a finally is not an alternative; as the last child of its try it comes second
                          and not exists (select from node f where f.kind = 'finally'
                                             and f.place = b.place[1:cardinality(n.place) + 1]))
    union all
    select r.place, r.path || '.' || r.name, format('no scope at this depth binds %s', r.name),
           'Depth 0 is the call or workflow, each forall, loop or branch of a race around the node adds one.'
      from wf._names_read(p_nodes) r
     where not exists (select from binder b where b.opener = r.opener and b.name = r.name);
$$;

-- wf._spec_reads(p_nodes)
--
-- Checks that each node lists the names that its own expressions read.
--
-- Returns  a row for each fault: the place, the path to it, what is wrong, what to do
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._check_spec, for a file whose shape is sound
create or replace function wf._spec_reads(p_nodes wf.part[])
returns table (place int[], path text, message text, hint text)
language sql stable set search_path = pg_catalog, pg_temp set enable_nestloop = off as $$
    with
    node as materialized (
        select n.* from wf._with_forms(p_nodes) n
    ),
    -- each node's expressions as one, with the names that they may read
    expression as (
        select n.place, n.path, 'there is no parameter %s' as fault,
               (select jsonb_object_agg(r ->> 'name', 0) from jsonb_array_elements(n.value -> 'params') r) as reads,
               (n.value -> 'policies') #- '{retry,when}' as value
          from node n
         where n.kind = 'workflow' and n.value ? 'policies'
        union all
        select n.place, n.path, 'reads lacks %s', n.value -> 'reads',
               -- the rest of a node is an object of expressions, and therefore an
               -- expression
               (n.value #- '{policies,retry,when}')
               - '{kind,line,type,as,reads,workflow,name,index,collect,collect_reads,element,while,until,yield}'::text[]
               - '{round_reads,only,after}'::text[]
          from node n
         where n.kind <> 'workflow'
        union all
        select n.place, n.path || '.policies.retry.when', 'reads lacks %s',
               coalesce(n.value -> 'reads', (select jsonb_object_agg(r ->> 'name', 0)
                                               from jsonb_array_elements(n.value -> 'params') r), '{}')
               || '{"error": 0}', n.value #> '{policies,retry,when}'
          from node n
         where n.value #> '{policies,retry}' ? 'when'
        union all
        select n.place, n.path, 'collect_reads lacks %s', n.value -> 'collect_reads',
               jsonb_build_array('list') || (n.value -> 'collect')
          from node n
         where n.value ? 'collect'
        union all
        select n.place, n.path, 'round_reads lacks %s', n.value -> 'round_reads',
               jsonb_build_array('list', coalesce(n.value -> 'until', 'null'), coalesce(n.value -> 'while', 'null'),
                                 coalesce(n.value #> '{yield,value}', 'null'))
          from node n
         where n.begins = 'round'
        union all
        -- the condition of a while is tested before a round begins: it reads the state, and names from around the loop
        select n.place, n.path || '.while', 'it cannot read %s',
               (select jsonb_object_agg(r.key, r.value) from jsonb_each(n.value -> 'round_reads') r
                 where r.value::int < cardinality(n.scopes) or r.key = n.value ->> 'name'),
               n.value -> 'while'
          from node n
         where n.value ? 'while'
    ),
    -- expressions with a name that is not in reads; it may be in a literal, or bound by each: wf._names finds out
    suspect as (
        select e.place, e.path, e.fault, coalesce(e.reads, '{}') as reads, e.value
          from expression e
         where exists (select
                         from jsonb_path_query(e.value, 'strict $.** ? (@.type() == "array" && @[0] == "var")') v
                        where not coalesce(e.reads, '{}') ? (v ->> 1))
    )
    select s.place, s.path, format(s.fault, f),
           'A node lists the names that its own expressions read; the title of a workflow reads its parameters.'
      from suspect s
     cross join lateral unnest(wf._names(s.value)) f
     where not s.reads ? f;
$$;

-- wf._spec_constants(p_nodes)
--
-- Checks the values of limits and policies that are constant.
--
-- Returns  a row for each fault: the place, the path to it, what is wrong, what to do
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._check_spec, for a file whose shape is sound
create or replace function wf._spec_constants(p_nodes wf.part[])
returns table (place int[], path text, message text, hint text)
language sql stable set search_path = pg_catalog, pg_temp set enable_nestloop = off as $$
    with
    node as materialized (
        select n.* from wf._with_forms(p_nodes) n where n.value ?| '{max,tolerate,policies}'
    )
    select n.place, n.path || '.max',
           'must be an int of at least 1' || case when n.begins = 'window' then ', or a text such as "50%" or "all - 1"'
                                                  else '' end, null
      from node n
     where n.value -> 'max' <> 'null' and jsonb_typeof(n.value -> 'max') <> 'array'
       and not (jsonb_typeof(n.value -> 'max') = 'number' and wf._fits_policy('count', n.value -> 'max')
                or n.begins = 'window' and jsonb_typeof(n.value -> 'max') = 'string'
                   and wf._elements_meant(n.value ->> 'max', 1) is not null)
    union all
    select n.place, n.path || '.tolerate', 'must be an int of at least 0, or a text such as "10%"', null
      from node n
     where n.value -> 'tolerate' <> 'null' and jsonb_typeof(n.value -> 'tolerate') <> 'array'
       and not (jsonb_typeof(n.value -> 'tolerate') in ('number', 'string')
                and n.value ->> 'tolerate' ~ wf._tolerance())
    union all
    select n.place, n.path || '.policies.' || c.path, 'must be ' || c.fit, null
      from node n
     cross join lateral wf._wrong_policies(n.value -> 'policies') c
    union all
    select n.place, n.path || '.policies.idempotent', 'must be true or false',
           'Only a task type computes it, from its parameters.'
      from node n
     where n.kind <> 'workflow' and jsonb_typeof(n.value #> '{policies,idempotent}') <> 'boolean';
$$;

-- wf._spec_forms(p_nodes)
--
-- Checks what the forms of nodes require of the nodes in them or around them.
--
-- Returns  a row for each fault: the place, the path to it, what is wrong, what to do
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._check_spec, for a file whose shape is sound
create or replace function wf._spec_forms(p_nodes wf.part[])
returns table (place int[], path text, message text, hint text)
language sql stable set search_path = pg_catalog, pg_temp set enable_nestloop = off as $$
    with
    node as materialized (
        select n.* from wf._with_forms(p_nodes) n
    )
    select n.place, o.path,
           format('a call cannot be the %s of a %s', case n.begins when 'all' then 'branch' else 'body' end, n.kind),
           'Put it into a seq.'
      from node o
      join node n on n.scope = 'child' and n.place = o.place[:cardinality(o.place) - 1]
     where o.scope = 'own'
    union all
    select n.place, n.path || '.on', 'must be ["list", value, ["list", value of case 1, …], …]',
           'Each branch has its case, in order; one more branch is the default.'
      from node n
     cross join lateral (select count(*) as count from node o where o.place[:cardinality(o.place) - 1] = n.place) b
     where n.kind = 'switch'
       and (n.value #>> '{on,0}' is distinct from 'list'
            or b.count - jsonb_array_length(n.value -> 'on') not in (-2, -1) or jsonb_array_length(n.value -> 'on') < 3
            or exists (select
                         from jsonb_array_elements(n.value -> 'on') with ordinality c
                        where c.ordinality > 2
                          and (c.value ->> 0 is distinct from 'list' or jsonb_array_length(c.value) < 2)))
    union all
    select n.place, n.path || '.over', 'must be ["list", first state, list]', null
      from node n
     where n.kind = 'fold'
       and (n.value #>> '{over,0}' is distinct from 'list' or jsonb_array_length(n.value -> 'over') <> 3)
     union all
    select n.place, n.path, format('%s cannot stand inside par, dag, race, forall, finally or undo', n.kind), f.hint
      from node n
      join (values ('return', false, 'It ends the call around it, so it stands where only one thing runs.'),
                   ('checkpoint', true, 'The instance can go back to it, so nothing may run beside it.')
           ) f (kind, whole, hint) on f.kind = n.kind
     where exists (select
                     from generate_series(case when f.whole then 2 else n.scopes[1] + 1 end,
                                          cardinality(n.place) - 1) i
                     join node o on o.place = n.place[1:i]
                                and (o.begins in ('all', 'free', 'window') or o.kind in ('finally', 'undo')));
$$;

-- wf._spec_secrets(p_spec, p_nodes)
--
-- Checks secrets: their types, the parameters that hold them, and the arguments
-- of requests that they end up in.
--
-- Returns  a row for each fault: the place, the path to it, what is wrong, what to do
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._check_spec, for a file with secrets whose shape is sound
create or replace function wf._spec_secrets(p_spec jsonb, p_nodes wf.part[])
returns table (place int[], path text, message text, hint text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    with
    task_type as materialized (
        select t.key as name, 'task_types.' || t.key as path, t.value as spec, wf._secret_params(t.value) as secrets
          from jsonb_each(p_spec -> 'task_types') t
    ),
    task as materialized (
        select p.place, p.path || '.args' as path, t.name, t.spec, t.secrets, p.value -> 'args' as args
          from unnest(p_nodes) p
          join task_type t on t.name = p.value ->> 'type'
         where p.object = 'task'
    ),
    -- how often the requests of a type read a parameter that holds secrets, and how often they hand it on as it is
    given as (
        select k.place, k.path, k.name, g.param,
               (select count(*)
                  from jsonb_each(k.spec -> 'requests') r
                 cross join lateral wf._secret_places(r.value -> 'args', array[g.param], k.secrets) s
                 where s.source = jsonb_build_object('var', g.param)
                    or s.source -> 'text' @> jsonb_build_array(jsonb_build_object('var', g.param))) as handed_on,
               (select count(*)
                  from (select r.value - '{transport,every}'::text[] as expr from jsonb_each(k.spec -> 'requests') r
                         union all
                        select coalesce(k.spec -> 'policies', '{}')
                         union all
                        select coalesce(r.value -> 'every', '{}') from jsonb_each(k.spec -> 'requests') r) x
                 cross join lateral wf._expression_nodes(x.expr) n
                 where n.node = jsonb_build_array('var', g.param)) as read
          from task k
         cross join lateral (select distinct s.at ->> 0 as param from wf._secret_places(k.args, '{}', '{}') s) g
    )
    select '{}'::int[], t.path || '.params', format('parameter %s holds a secret', r ->> 'name'),
           'A parameter is a secret, or holds none: "secret", {"optional": "secret"}.'
      from task_type t
     cross join lateral jsonb_array_elements(t.spec -> 'params') r
     where r -> 'type' @? '$.** ? (@ == "secret")' and r ->> 'name' <> all (t.secrets)
    union all
    select array[w.ordinality], format('workflows[%s].params', w.ordinality - 1),
           format('parameter %s is a secret', r ->> 'name'), 'Only a parameter of a task type can be one.'
      from jsonb_array_elements(p_spec -> 'workflows') with ordinality w
     cross join lateral jsonb_array_elements(w.value -> 'params') r
     where r -> 'type' @? '$.** ? (@ == "secret")'
    union all
    select k.place, k.path || '.' || f, format('parameter %s of %s is a secret', f, k.name), 'Give it ["secret", name].'
      from task k
     cross join lateral unnest(k.secrets) f
     where k.args -> f <> 'null' and coalesce(wf._secret_source(k.args -> f, '{}') ? 'secret', false) is false
    union all
    select g.place, g.path || '.' || g.param,
           format('%s does not hand on %s as it is, which holds a secret', g.name, g.param),
           'Its requests use it in other ways.'
      from given g
     where g.handed_on = 0 or g.handed_on <> g.read
    union all
    select k.place, k.path, format('a secret ends up in %s of %s', s.value -> 'at' ->> 0, r.transport),
           (select 'Secrets go into ' || string_agg(array_to_string(t.secret_args, ' and ') || ' of ' || t.name, ', '
                                                    order by t.name) || '.'
              from wf.transport t
             where t.secret_args <> '{}')
      from task k
     cross join lateral jsonb_each(wf._request_secrets(k.spec, k.args)) q
     cross join lateral jsonb_array_elements(q.value) s
     cross join lateral (select k.spec #>> array['requests', q.key, 'transport'] as transport) r
     where not exists (select from wf.transport t
                        where t.name = r.transport and s.value -> 'at' ->> 0 = any (t.secret_args));
$$;

-- wf._check_spec(p_spec)
--
-- Returns  its workflows, their parameters and nodes
-- Locks    nothing
-- Raises   WF005 with the first fault in the message and up to 19 more in the detail
-- Called   by wf.install
create or replace function wf._check_spec(p_spec jsonb) returns wf.part[]
language plpgsql stable as $$
declare
    v_nodes wf.part[];
    f record;
begin
    if jsonb_typeof(p_spec) is distinct from 'object' then
        raise exception using errcode = 'WF005',
            message = 'the compiled tree must be an object',
            hint = 'docs/spec.md describes it.';
    end if;
    if pg_column_size(p_spec) > 16777216 then
        raise exception using errcode = 'WF005',
            message = 'the compiled tree is larger than 16 MiB',
            hint = 'Split the file.';
    end if;
    select array_agg(concat_ws(': ', nullif(x.path, ''), x.message) order by x.place, x.path, x.message) as faults,
           (array_agg(x.hint order by x.place, x.path, x.message))[1] as hint
      into f
      from wf._spec_shape(p_spec) x;
    if f.faults is null then
        v_nodes := wf._spec_nodes(p_spec);
        select array_agg(concat_ws(': ', nullif(x.path, ''), x.message) order by x.place, x.path, x.message) as faults,
               (array_agg(x.hint order by x.place, x.path, x.message))[1] as hint
          into f
          from (select * from wf._spec_types(p_spec)
                 union all
                select * from wf._spec_requests(p_spec)
                 union all
                select * from wf._spec_http(p_spec, v_nodes)
                 union all
                select * from wf._spec_code(p_spec, v_nodes)
                 union all
                select * from wf._spec_workflows(v_nodes)
                 union all
                select * from wf._spec_tasks(p_spec, v_nodes)
                 union all
                select * from wf._spec_scopes(v_nodes)
                 union all
                select * from wf._spec_reads(v_nodes)
                 union all
                select * from wf._spec_constants(v_nodes)
                 union all
                select * from wf._spec_forms(v_nodes)
                 union all
                select * from wf._spec_atomic(p_spec, v_nodes)
                 union all
                select * from wf._spec_dags(v_nodes)) x;
    end if;
    if f.faults is null and strpos(p_spec::text, '"secret"') > 0 then
        select array_agg(concat_ws(': ', nullif(x.path, ''), x.message) order by x.place, x.path, x.message) as faults,
               (array_agg(x.hint order by x.place, x.path, x.message))[1] as hint
          into f
          from wf._spec_secrets(p_spec, v_nodes) x;
    end if;
    if f.faults is not null then
        raise exception using errcode = 'WF005', message = f.faults[1],
            detail = case cardinality(f.faults) when 1 then 'It is the only fault found.'
                          else e'Further faults:\n' || array_to_string(f.faults[2:20], e'\n') end,
            hint = coalesce(f.hint, 'docs/spec.md describes what a compiled tree may hold.');
    end if;
    return v_nodes;
end;
$$;
