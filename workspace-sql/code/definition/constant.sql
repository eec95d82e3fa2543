-- The constant parts of a tree, which install evaluates.

-- wf._is_volatile(p_expression)
--
-- Returns  true if the value of an expression may depend on more than names: on the clock or the instance
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._constant and wf.install
create or replace function wf._is_volatile(p_expression jsonb) returns boolean
language sql immutable
begin atomic
    -- a string that looks like a call is taken for a call, which only costs an evaluation
    select p_expression::text ~ '[[]"instance", |[[]"call", "(now|today)"';
end;

-- wf._constant(p_expression)
--
-- Returns  {"value": v} if an expression is a constant, else null; null, too, if
--          its evaluation fails: then it fails again in the process that needs it
-- Locks    nothing
-- Raises   nothing
-- Called   wherever constant expressions of a definition are settled or checked
create or replace function wf._constant(p_expression jsonb) returns jsonb
language plpgsql stable strict as $$
declare
    v_result jsonb;
begin
    if strpos(p_expression::text, '[') = 0 then
        return jsonb_build_object('value', p_expression);
    end if;
    if strpos(p_expression::text, '["var", ') > 0 or wf._is_volatile(p_expression) then
        return null;
    end if;
    v_result := wf._evaluate(p_expression, '{}');
    return case when v_result ? 'value' then v_result end;
end;
$$;

-- wf._compact(p_expression)
--
-- Returns  the folded expression (wf._fold); an object with nothing else to fold
--          is folded here, which is faster
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.install
create or replace function wf._compact(p_expression jsonb) returns jsonb
language plpgsql stable strict as $$
begin
    if jsonb_typeof(p_expression) = 'object'
       and strpos(substr(p_expression::text, 2), '{') = 0
       and strpos(p_expression::text, '["list"') = 0 then
        return wf._as_operator(p_expression);
    elsif p_expression::text ~ '[{]|[[]"list"' then
        return wf._fold(p_expression);
    end if;
    return p_expression;
end;
$$;

-- wf._substitute(p_expression, p_values)
--
-- Returns  an expression with the expressions in p_values in place of their names
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.install, for policies that read parameters of a task type, and for atomics
create or replace function wf._substitute(p_expression jsonb, p_values jsonb) returns jsonb
language plpgsql immutable as $$
begin
    if jsonb_typeof(p_expression) = 'object' then
        return (select coalesce(jsonb_object_agg(e.key, wf._substitute(e.value, p_values)), '{}')
                  from jsonb_each(p_expression) e);
    elsif jsonb_typeof(p_expression) <> 'array' or p_expression ->> 0 in ('const', 'instance') then
        return p_expression;
    elsif p_expression ->> 0 = 'var' then
        return coalesce(p_values -> (p_expression ->> 1), p_expression);
    elsif p_expression ->> 0 = 'each' then
        return jsonb_build_array('each', p_expression -> 1, wf._substitute(p_expression -> 2, p_values),
                                 wf._substitute(p_expression -> 3, p_values - (p_expression ->> 1)),
                                 wf._substitute(p_expression -> 4, p_values - (p_expression ->> 1)));
    end if;
    return (select jsonb_agg(wf._substitute(e.value, p_values) order by e.ordinality)
              from jsonb_array_elements(p_expression) with ordinality e);
end;
$$;
