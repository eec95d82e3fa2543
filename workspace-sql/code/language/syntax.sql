-- Checks whether an expression is well formed, and finds the names that it reads.

-- wf._expression_nodes(p_expr)
--
-- Returns  the expression and every expression in it: its place, how many expressions are
--          around it (itself included), and the names that operators each have bound there
-- Locks    nothing
-- Raises   nothing
-- Called   by _is_expression and _names
create or replace function wf._expression_nodes(p_expr jsonb)
returns table (path text, depth integer, node jsonb, local text[])
language plpgsql stable as $$
begin
    return query
    with recursive node (path, depth, value, local) as (
        select '', 1, p_expr, '{}'::text[]
        union all
        select n.path || c.step, n.depth + 1, c.value, n.local || c.bound
          from node n
         cross join lateral (
               select '.' || f.key, f.value, null::text
                 from jsonb_each(case jsonb_typeof(n.value) when 'object' then n.value else '{}' end) f
                union all
               select format('[%s]', e.at - 1), e.value, case when o.name = 'each' and e.at > 3 then n.value ->> 1 end
                 from jsonb_array_elements(case jsonb_typeof(n.value) when 'array' then n.value else '[]' end)
                      with ordinality e (value, at)
                 join wf.operator o on o.name = n.value ->> 0 and e.at > o.first_operand
               ) c (step, value, bound)
         where n.depth <= 101
    )
    select n.path, n.depth, n.value, array_remove(n.local, null) from node n;
end;
$$;

-- wf._is_call(p_node)
--
-- Returns  null if ["call", f, …] names a function and has as many arguments as it takes; else what is wrong
-- Locks    nothing
-- Raises   nothing
-- Called   by _is_expression
create or replace function wf._is_call(p_node jsonb)
returns text
language plpgsql stable as $$
declare
    v_given integer := jsonb_array_length(p_node) - 2;
    v_most  integer;
    v_least integer;
begin
    select cardinality(f.arguments), (select count(*) from unnest(f.arguments) a where a not like '%?')
      into v_most, v_least
      from wf.function f
     where f.name = p_node ->> 1;
    if v_most is null then
        return format('there is no function %s', p_node -> 1);
    elsif v_given not between v_least and v_most then
        return format('function %s takes %s argument%s, not %s', p_node ->> 1,
                      case when v_least = v_most then v_most::text else format('%s to %s', v_least, v_most) end,
                      case when v_most <> 1 then 's' end, v_given);
    end if;
    return null;
end;
$$;

-- wf._is_expression(p_expr)
--
-- Returns  null if p_expr is an expression of docs/spec.md, else what is wrong with it and where
-- Locks    nothing
-- Raises   nothing
-- Called   by install, for every expression of a tree
create or replace function wf._is_expression(p_expr jsonb)
returns text
language plpgsql stable as $$
declare
    v_name text := '^[A-Za-z_][A-Za-z0-9_]{0,62}$';
begin
    return (
        select case when n.path <> '' then left(n.path, 100) || ': ' else '' end || p.problem
          from wf._expression_nodes(p_expr) n
          left join wf.operator o
                 on jsonb_typeof(n.node) = 'array' and o.name = n.node ->> 0 and jsonb_typeof(n.node -> 0) = 'string'
         cross join lateral (select case
               when n.depth > 100 and jsonb_typeof(n.node) in ('array', 'object')
                    and coalesce(o.name, '') not in ('const', 'var', 'instance')
                    then 'nested more than 100 levels deep'
               when n.node is null
                    then 'there is no expression'
               when jsonb_typeof(n.node) <> 'array'
                    then null
               when o.name is null
                    then format('there is no operator %s', coalesce(n.node -> 0, 'null'))
               when jsonb_array_length(n.node) < o.min_length or jsonb_array_length(n.node) > o.max_length
                    then format('operator %s in an array of %s', o.name, jsonb_array_length(n.node))
               when o.name in ('var', 'each') and (jsonb_typeof(n.node -> 1) <> 'string' or n.node ->> 1 !~ v_name)
                    then format('%s is not a name', n.node -> 1)
               when o.name = 'each' and n.node ->> 1 = any (n.local)
                    then format('the name %s is bound twice', n.node -> 1)
               when o.name = 'instance'
                         and n.node ->> 1 <> all ('{id,workflow,version,key,started_at,scheduled_at,subject,trace_id,'
                                                  'attempt}')
                    then format('instance has no field %s', n.node -> 1)
               when o.name = 'object'
                    and (jsonb_typeof(n.node -> 1) <> 'object' or not wf._fits('{"list": "string"}', n.node -> 2))
                    then 'object needs an object and a list of names'
               when o.name = 'object' and jsonb_array_length(n.node -> 2) <> jsonb_array_length(n.node) - 3
                    then 'object needs as many expressions as names'
               when o.name = 'cast' then wf._is_type(n.node -> 1)
               when o.name = 'call' then wf._is_call(n.node)
               end) p (problem)
         where p.problem is not null
         order by n.depth, n.path
         limit 1);
end;
$$;

-- wf._names(p_expr)
--
-- Returns  the names that an expression reads and does not bind itself, sorted
-- Locks    nothing
-- Raises   nothing
-- Called   by install, to check the names that a node says it reads
create or replace function wf._names(p_expr jsonb)
returns text[]
language plpgsql stable as $$
begin
    return array(
        select distinct (n.node ->> 1) collate "C"
          from wf._expression_nodes(p_expr) n
         where jsonb_typeof(n.node) = 'array' and n.node ->> 0 = 'var' and n.node ->> 1 <> all (n.local)
         order by 1);
end;
$$;
