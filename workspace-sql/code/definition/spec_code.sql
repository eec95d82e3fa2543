-- Code in a compiled file: which values a parameter of type sql or shell may be given, so
-- that no data ever becomes code. The compiler checks a source in the same way
-- (console/lang/convert.c), but it has not seen a tree that somebody wrote by hand.

-- wf._code_type(p_type)
--
-- Returns  sql or shell, if a type is one of these, or one of these made optional; else null
-- Locks    nothing
-- Raises   nothing
-- Called   by _spec_code and _complete_params
create or replace function wf._code_type(p_type jsonb) returns text
language sql immutable
begin atomic
    select case when coalesce(p_type -> 'optional', p_type) in ('"sql"', '"shell"')
                then coalesce(p_type -> 'optional', p_type) #>> '{}' end;
end;

-- wf._is_code(p_expression, p_type)
--
-- Returns  whether an expression is a literal of type sql or shell: a text whose parts are written out, or
--          quoted for this type; or null
-- Locks    nothing
-- Raises   nothing
-- Called   by _spec_code and _given_code
create or replace function wf._is_code(p_expression jsonb, p_type text) returns boolean
language sql immutable
begin atomic
    select case when jsonb_typeof(p_expression) in ('string', 'null') then true
                when p_expression ->> 0 = 'const' then jsonb_typeof(p_expression -> 1) in ('string', 'null')
                when p_expression ->> 0 = 'text'
                then not exists (select from jsonb_array_elements(p_expression) with ordinality e
                                  where e.ordinality > 1
                                    and jsonb_typeof(e.value) <> 'string'
                                    and not (e.value ->> 0 = 'const' and jsonb_typeof(e.value -> 1) = 'string')
                                    and not (e.value ->> 0 = 'call'
                                             and e.value ->> 1 = case p_type when 'sql' then 'quote_ident'
                                                                             else 'sh' end))
                else false end;
end;

-- wf._given_code(p_place, p_path, p_scopes, p_value, p_arg, p_type)
--
-- The first four parameters are those of a node, which is a task or a call.
--
-- Returns  one row if its argument p_arg is not a literal of the type: place, path, and type; and if the argument is
--          only a name, that name and the place of the node that opened the scope of that name
-- Locks    nothing
-- Raises   nothing
-- Called   by _spec_code; PostgreSQL folds it into the query
create or replace function wf._given_code(p_place int[], p_path text, p_scopes int[], p_value jsonb, p_arg text,
                                          p_type text)
returns table (place int[], path text, type text, name text, opener int[])
language sql immutable
begin atomic
    select p_place, p_path || '.args.' || p_arg, p_type, v.name,
           p_place[1:p_scopes[(p_value -> 'reads' ->> v.name)::int + 1]]
      from (select case when p_value -> 'args' -> p_arg ->> 0 = 'var'
                        then p_value -> 'args' -> p_arg ->> 1 end) v (name)
     where not wf._is_code(p_value -> 'args' -> p_arg, p_type);
end;

-- wf._spec_code(p_spec, p_nodes)
--
-- Checks that statements and scripts come from literals. A request may hand on a parameter
-- of its task type. A task may hand on a name of the call around it; then the argument of
-- that call is checked. It may also hand on a parameter of its workflow, for which start
-- takes no value.
--
-- Returns  a row for each fault: the place, the path to it, what is wrong, what to do
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._check_spec, for a file whose shape is sound
create or replace function wf._spec_code(p_spec jsonb, p_nodes wf.part[])
returns table (place int[], path text, message text, hint text)
language sql stable set search_path = pg_catalog, pg_temp set enable_nestloop = off as $$
    with recursive
    param as materialized (
        select t.key as task_type, p ->> 'name' as name, wf._code_type(p -> 'type') as type
          from jsonb_each(p_spec -> 'task_types') t
         cross join lateral jsonb_array_elements(t.value -> 'params') p
         where wf._code_type(p -> 'type') is not null
    ),
    request as (
        select format('task_types.%s.requests.%s.args.%s', t.key, r.key, c.code_arg) as path, t.key as task_type,
               c.code_type as type,
               r.value -> 'args' -> c.code_arg as value
          from jsonb_each(p_spec -> 'task_types') t
         cross join lateral jsonb_each(t.value -> 'requests') r
          join wf.transport c on c.name = r.value ->> 'transport'
         where r.value -> 'args' ? c.code_arg
    ),
    node as materialized (
        select n.* from wf._with_forms(p_nodes) n where n.kind in ('workflow', 'task') or n.scope = 'own'
    ),
    -- Arguments that are not literals. name: the argument, if it is nothing but a name; else null. opener: the
    -- place of the node that opened the scope of that name. If the name is one of a call, the argument of that
    -- call is looked at, too.
    given (place, path, type, name, opener) as (
        select a.* from param p
          join node n on n.kind = 'task' and n.value ->> 'type' = p.task_type
         cross join lateral wf._given_code(n.place, n.path, n.scopes, n.value, p.name, p.type) a
         union
        select a.* from given g
          join node n on n.place = g.opener and n.scope = 'own' and n.value -> 'args' ? g.name
         cross join lateral wf._given_code(n.place, n.path, n.scopes, n.value, g.name, g.type) a
    ),
    fault (place, path, type) as (
        select '{}'::int[], r.path, r.type
          from request r
         where not wf._is_code(r.value, r.type)
           and not exists (select from param p
                            where p.task_type = r.task_type and p.type = r.type
                              and r.value = jsonb_build_array('var', p.name))
         union all
        select g.place, g.path, g.type
          from given g
         where not exists (select from node n
                            where n.place = g.opener
                              and (n.scope = 'own' and n.value -> 'args' ? g.name
                                   or n.kind = 'workflow'
                                      and exists (select from jsonb_array_elements(n.value -> 'params') p
                                                   where p ->> 'name' = g.name
                                                     and wf._code_type(p -> 'type') = g.type)))
    )
    select f.place, f.path, format('takes a literal of type %s only', f.type),
           case f.type when 'sql' then 'Values go in as $1, $2 with params; a part of it may be quote_ident(…). '
                                       'A name must be a parameter of type sql.'
                       else 'Values go in as sh(…). A name must be a parameter of type shell.' end
      from fault f
     union all
    -- code that is a part of another type could not be followed to its literal
    select p.place, p.path || '.params', format('parameter %s holds code in it', r ->> 'name'),
           'A parameter is sql or shell, or holds none: "sql", {"optional": "sql"}.'
      from (select '{}'::int[] as place, 'task_types.' || t.key as path, t.value -> 'params' as params
              from jsonb_each(p_spec -> 'task_types') t
             union all
            select n.place, n.path, n.value -> 'params' from node n where n.kind = 'workflow') p
     cross join lateral jsonb_array_elements(p.params) r
     where wf._code_type(r -> 'type') is null and r -> 'type' @? '$.** ? (@ == "sql" || @ == "shell")';
$$;
