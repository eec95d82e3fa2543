-- The constant parts of a tree, which install evaluates.

-- wf._is_volatile(p_expression)
--
-- Returns  true if the value of an expression may depend on more than names: on the clock or the instance
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._constant and wf.install
create or replace function wf._is_volatile(p_expression jsonb) returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
begin
    -- a string that looks like a call is taken for one, which only costs an evaluation
    return p_expression::text ~ '\["instance", |\["call", "(now|today)"';
end;
$$;

-- wf._constant(p_expression)
--
-- Returns  {"value": v} if an expression is a constant, else null; null, too, if
--          its evaluation fails: then it fails in the process that needs it
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.install
create or replace function wf._constant(p_expression jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
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
language plpgsql stable set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
begin
    if jsonb_typeof(p_expression) = 'object'
       and strpos(substr(p_expression::text, 2), '{') = 0
       and strpos(p_expression::text, '["list"') = 0 then
        return wf._as_operator(p_expression);
    elsif p_expression::text ~ '\{|\["list"' then
        return wf._fold(p_expression);
    end if;
    return p_expression;
end;
$$;

-- wf._substitute(p_expression, p_values)
--
-- Returns  an expression with the expressions in p_values in place of the names
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.install, for policies of a task type that read its parameters
create or replace function wf._substitute(p_expression jsonb, p_values jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
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

-- wf._policy_names(p_policies)
--
-- Returns  the names that policies read; `when` of a retry sees the error as `error`
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.install, for the policies of a task type
create or replace function wf._policy_names(p_policies jsonb) returns text[]
language sql stable
begin atomic
    select case when p_policies #> '{retry,when}' is null then wf._names(p_policies)
                else array(select unnest(wf._names(p_policies #- '{retry,when}'))
                            union
                           select unnest(array_remove(wf._names(p_policies #> '{retry,when}'), 'error'))) end;
end;

-- wf._policies(p_task, p_type, p_args)
--
-- Puts together the policies of a task and the defaults of its type, and
-- settles what is constant. The keys are group, group_max, queue, requires, priority,
-- idempotent, retry and title.
--
-- Returns  fixed: the values of the constant policies, and as retry_when the
--          condition of a retry; read: the expressions of the other policies,
--          null if all are constant
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._settle_policies
create or replace function wf._policies(p_task jsonb, p_type jsonb, p_args jsonb, out fixed jsonb, out read jsonb)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    v_policies jsonb;
    p record;
    v_value jsonb;
begin
    fixed := '{}';
    if p_task is null and p_type is null then
        return;
    end if;
    v_policies := coalesce(wf._substitute(p_type, p_args), '{}') || coalesce(p_task, '{}');
    if v_policies ? 'retry' then
        begin
            v_value := wf._retry_values(wf._constant((v_policies -> 'retry') - 'when') -> 'value');
        exception when sqlstate 'WF020' or data_exception then
            v_value := null; -- it fails in the process that needs it
        end;
        if v_value is null then
            read := jsonb_build_object('retry', (v_policies -> 'retry') - 'when');
        else
            fixed := jsonb_build_object('retry', v_value);
        end if;
        if v_policies -> 'retry' ? 'when' then
            fixed := fixed || jsonb_build_object('retry_when', v_policies #> '{retry,when}');
        end if;
    end if;
    for p in
        select e.key, e.value
          from jsonb_each(v_policies) e
         where e.key in ('queue', 'requires', 'priority', 'idempotent', 'title')
         union all
        select case e.key when 'name' then 'group' else 'group_max' end, e.value
          from jsonb_each(v_policies -> 'group') e
    loop
        v_value := wf._constant(p.value) -> 'value';
        -- an invalid value is not fixed, so that the process that needs it fails
        if (case p.key
                when 'title' then jsonb_typeof(v_value) = 'string'
                when 'requires' then wf._capabilities(v_value) is not null
                when 'idempotent' then jsonb_typeof(v_value) = 'boolean'
                when 'priority' then v_value #>> '{}' ~ '^-?([0-9]{1,3}|1000)$'
                when 'group_max' then v_value #>> '{}' ~ '^[1-9][0-9]{0,8}$'
                else jsonb_typeof(v_value) = 'string' and octet_length(v_value #>> '{}') between 1 and 63
            end) then
            fixed := fixed || jsonb_build_object(p.key, v_value);
        elsif v_value is distinct from 'null' then
            read := coalesce(read, '{}') || jsonb_build_object(p.key, p.value);
        end if;
    end loop;
end;
$$;
