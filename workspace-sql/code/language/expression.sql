-- The interpreter of the expression language.
--
-- An expression is JSON (docs/spec.md, Expressions) and is interpreted as JSON:
-- it is never turned into SQL, so no value can become code.
--
-- wf._evaluate is the entry. wf._value hands an operator to one of four
-- functions, depending on how the operator takes its operands. These functions
-- call wf._value again for operands that are operators themselves. wf._leaf does
-- all other operands (literals, names, fields of names). PostgreSQL puts it in
-- place of its call, so it costs next to nothing, and the common expression costs
-- one call. Leaf and value are separate statements, because a statement that is
-- active further up runs five times slower.
--
-- wf._fold turns an expression into the form that is evaluated fastest.

-- wf._evaluate(p_expr, p_env)
--
-- p_env is an object with the values of the names; the value of "instance" has
-- the fields of the instance.
--
-- Returns  {"value": v} or {"error": {"kind", "message", "detail"}}; the kind is
--          limit if the evaluation would take too much, else input
-- Locks    nothing
-- Raises   only errors that no expression causes: classes 40, 53 and 57, and 55P03
-- Called   by the engine, for arguments, conditions and policies
create or replace function wf._evaluate(p_expr jsonb, p_env jsonb)
returns jsonb
language plpgsql stable as $$
declare
    v_value  jsonb := wf._leaf(p_expr, p_env);
    v_detail text;
    v_hint   text;
begin
    if v_value is null then
        v_value := wf._value(p_expr, p_env, 1);
    end if;
    return case when current_setting('wf.spent', true) <> ''    -- after an error, its rollback takes the charges back
                then wf._clear_budget(v_value)
                else jsonb_build_object('value', v_value)
           end;
exception
    when transaction_rollback or insufficient_resources or operator_intervention or lock_not_available then
        raise;
    when others then
        get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;
        return jsonb_build_object('error', jsonb_strip_nulls(jsonb_build_object(
            'kind', case when sqlstate = 'WF021' or sqlstate like '54%' then 'limit' else 'input' end,
            'message', sqlerrm,
            'detail', nullif(concat_ws(' ', nullif(v_detail, ''), nullif(v_hint, '')), ''))));
end;
$$;

-- wf._eval(p_expr, p_env)
--
-- Returns  the value of an expression
-- Locks    nothing
-- Raises   WF020 if it has no value, WF021 if the evaluation takes too much
-- Called   where an error of the expression is an error of the caller
create or replace function wf._eval(p_expr jsonb, p_env jsonb)
returns jsonb
language plpgsql stable as $$
declare
    v_result jsonb := wf._evaluate(p_expr, p_env);
begin
    if v_result ? 'error' then
        raise exception using
            errcode = case v_result -> 'error' ->> 'kind' when 'limit' then 'WF021' else 'WF020' end,
            message = v_result -> 'error' ->> 'message',
            detail  = coalesce(v_result -> 'error' ->> 'detail', '');
    end if;
    return v_result -> 'value';
end;
$$;

-- wf._field(p_object, p_name)
--
-- Returns  a field of an object, null if it has none; SQL null if it is not an object
-- Locks    nothing
-- Raises   nothing
-- Called   by _leaf
create or replace function wf._field(p_object jsonb, p_name text)
returns jsonb
language sql immutable
begin atomic
    select case jsonb_typeof(p_object) when 'object' then coalesce(p_object -> p_name, 'null') end;
end;

-- wf._leaf(p_expr, p_env)
--
-- Returns  the value of an operand that is a literal, a name or a field of a name; SQL null for everything else
-- Locks    nothing
-- Raises   nothing
-- Called   wherever an operand is evaluated, before _value
create or replace function wf._leaf(p_expr jsonb, p_env jsonb)
returns jsonb
language sql immutable
begin atomic
    select case jsonb_typeof(p_expr)
               when 'array' then
                   case p_expr ->> 0
                       when 'var'   then coalesce(p_env -> (p_expr ->> 1), 'null')
                       when 'const' then p_expr -> 1
                       when 'get'   then
                           case when p_expr -> 1 ->> 0 = 'var' and jsonb_typeof(p_expr -> 2) = 'string'
                                then wf._field(p_env -> (p_expr -> 1 ->> 1), p_expr ->> 2)
                           end
                       when 'instance' then coalesce(p_env -> 'instance' -> (p_expr ->> 1), 'null')
                   end
               when 'object' then null
               else p_expr
           end;
end;

-- wf._literal(p_expr)
--
-- Returns  the value of an expression that is a literal; SQL null for any other expression
-- Locks    nothing
-- Raises   nothing
-- Called   by _fold
create or replace function wf._literal(p_expr jsonb)
returns jsonb
language sql immutable
begin atomic
    select case jsonb_typeof(p_expr)
               when 'array'  then case p_expr ->> 0 when 'const' then p_expr -> 1 end
               when 'object' then null
               else p_expr
           end;
end;

-- wf._as_operator(p_object)
--
-- Returns  an object of expressions as ["object", its literal fields, [names of the other fields], …]
-- Locks    nothing
-- Raises   nothing
-- Called   by _fold and, for objects that were not folded, by _value
create or replace function wf._as_operator(p_object jsonb)
returns jsonb
language plpgsql immutable as $$
begin
    return (select jsonb_build_array('object',
                       coalesce(jsonb_object_agg(f.key, wf._literal(f.value)) filter (where l.is_literal), '{}'),
                       coalesce(jsonb_agg(f.key) filter (where not l.is_literal), '[]'))
                   || coalesce(jsonb_agg(f.value) filter (where not l.is_literal), '[]')
              from jsonb_each(p_object) f
             cross join lateral (select wf._literal(f.value) is not null) l (is_literal));
end;
$$;

-- wf._fold(p_expr)
--
-- Makes a const of each expression that has no operator in it except list, and an operator
-- of every other object. Then the evaluation of a literal costs nothing, and that of an
-- object only costs the fields that are not literals.
--
-- Returns  an expression of the same value
-- Locks    nothing
-- Raises   nothing; the expression must be well formed
-- Called   by install, for every expression of a tree
create or replace function wf._fold(p_expr jsonb)
returns jsonb
language plpgsql stable as $$
declare
    v_folded   jsonb;
    v_literals jsonb[];
begin
    if jsonb_typeof(p_expr) = 'object' then
        select coalesce(jsonb_object_agg(f.key, wf._fold(f.value)), '{}')
          into v_folded
          from jsonb_each(p_expr) f;
        v_folded := wf._as_operator(v_folded);
        return case when jsonb_array_length(v_folded) = 3
                    then jsonb_build_array('const', v_folded -> 1) else v_folded end;
    elsif jsonb_typeof(p_expr) <> 'array' or p_expr ->> 0 in ('const', 'var', 'instance') then
        return p_expr;
    end if;

    select jsonb_agg(e.folded order by e.at), array_agg(wf._literal(e.folded) order by e.at)
      into v_folded, v_literals
      from (select e.at, case when e.at > o.first_operand then wf._fold(e.value) else e.value end
              from jsonb_array_elements(p_expr) with ordinality e (value, at)
             cross join (select o.first_operand from wf.operator o where o.name = p_expr ->> 0) o
            -- if PostgreSQL flattened this, it would fold each operand twice: for n levels, 2^n times
            offset 0) e (at, folded);
    if v_folded ->> 0 = 'list' and array_position(v_literals, null) is null then
        return jsonb_build_array('const', to_jsonb(v_literals[2:]));
    end if;
    return coalesce(v_folded, p_expr);
end;
$$;

-- wf._apply(p_expr, p_env, p_depth)
--
-- Returns  the value of an operator with one or two operands
-- Locks    nothing
-- Raises   WF020, or class 22
-- Called   by _value
create or replace function wf._apply(p_expr jsonb, p_env jsonb, p_depth integer)
returns jsonb
language plpgsql stable as $$
declare
    v_operator text    := p_expr ->> 0;
    v_operand  jsonb;
    v_a        jsonb;
    v_b        jsonb;
begin
    v_operand := p_expr -> case v_operator when 'cast' then 2 else 1 end;
    v_a       := wf._leaf(v_operand, p_env);
    if v_a is null then
        v_a := wf._value(v_operand, p_env, p_depth + 1);
    end if;
    if v_operator not in ('neg', 'not', 'cast') then
        v_operand := p_expr -> 2;
        v_b       := wf._leaf(v_operand, p_env);
        if v_b is null then
            v_b := wf._value(v_operand, p_env, p_depth + 1);
        end if;
    end if;

    case v_operator
        when 'get' then
            return wf._get(v_a, v_b);
        when 'eq' then
            return to_jsonb(v_a = v_b);
        when 'ne' then
            return to_jsonb(v_a <> v_b);
        when 'lt', 'le', 'gt', 'ge' then
            return wf._compare(v_operator, v_a, v_b);
        when 'add', 'sub', 'mul', 'div', 'mod' then
            return wf._arithmetic(v_operator, v_a, v_b);
        when 'cast' then
            if pg_column_size(v_a) > 1024 then
                if wf._charge(wf._cast_steps(p_expr -> 1, v_a), 0) then end if;
            end if;
            return wf._cast(p_expr -> 1, v_a);
        when 'not' then
            return wf._not(v_a);
        when 'at' then
            return wf._at(v_a, v_b);
        when 'neg' then
            return wf._negate(v_a);
        when 'range' then
            return wf._range(v_a, v_b);
        when 'add.time', 'sub.time', 'sub.times', 'add.duration', 'sub.duration', 'mul.duration' then
            return wf._calculate_time(v_operator, v_a, v_b);
        else
            return wf._compare_as(v_operator, v_a, v_b);
    end case;
end;
$$;

-- wf._gather(p_expr, p_env, p_depth)
--
-- Returns  the value of an operator with any number of operands
-- Locks    nothing
-- Raises   WF020, or what a function raises
-- Called   by _value
create or replace function wf._gather(p_expr jsonb, p_env jsonb, p_depth integer)
returns jsonb
language plpgsql stable as $$
declare
    v_operator text    := p_expr ->> 0;
    v_first    integer := case v_operator when 'call' then 2 when 'object' then 3 else 1 end;
    v_operand  jsonb;
    v_value    jsonb;
    v_values   jsonb[] := '{}'::jsonb[];
    v_object   jsonb   := p_expr -> 1;
    v_text     text    := '';
    v_large    boolean := false;    -- whether an operand was charged
begin
    for v_at in v_first .. jsonb_array_length(p_expr) - 1 loop
        v_operand := p_expr -> v_at;
        v_value   := wf._leaf(v_operand, p_env);
        if v_value is null then
            v_value := wf._value(v_operand, p_env, p_depth + 1);
        end if;
        if pg_column_size(v_value) > 1024 then
            v_large := true;
            if wf._charge(pg_column_size(v_value) / 1024 + octet_length(v_text) / 4096,
                               case v_operator when 'call' then pg_column_size(v_value) / 4
                                               else wf._weight(v_value) end) then end if;
        end if;

        if v_operator = 'text' then
            v_text := v_text || wf._text(v_value);
        elsif v_operator = 'object' then
            if pg_column_size(v_object) > 4096 then    -- jsonb_set writes all of it again
                if wf._charge(pg_column_size(v_object) / 256, 0) then end if;
            end if;
            v_object := jsonb_set(v_object, array[p_expr -> 2 ->> (v_at - 3)], v_value);
        else
            v_values := v_values || v_value;
        end if;
    end loop;

    case v_operator
        when 'text' then
            return to_jsonb(v_text);
        when 'object' then
            return v_object;
        when 'call' then
            if v_large then
                if wf._charge_call(p_expr ->> 1, v_values) then end if;
                return wf._built(wf._call(p_expr ->> 1, v_values));
            end if;
            return wf._call(p_expr ->> 1, v_values);
        else
            return to_jsonb(v_values);
    end case;
end;
$$;

-- wf._choose(p_expr, p_env, p_depth)
--
-- Returns  the value of an operator that does not evaluate all of its operands
-- Locks    nothing
-- Raises   WF020
-- Called   by _value
create or replace function wf._choose(p_expr jsonb, p_env jsonb, p_depth integer)
returns jsonb
language plpgsql stable as $$
declare
    v_operator text    := p_expr ->> 0;
    v_skip     integer := 0;        -- the branch of an if that is not taken
    v_operand  jsonb;
    v_value    jsonb;
begin
    for v_at in 1 .. jsonb_array_length(p_expr) - 1 loop
        continue when v_at = v_skip;
        v_operand := p_expr -> v_at;
        v_value   := wf._leaf(v_operand, p_env);
        if v_value is null then
            v_value := wf._value(v_operand, p_env, p_depth + 1);
        end if;

        if v_operator = 'coalesce' then
            exit when v_value <> 'null';
        elsif v_operator = 'if' and v_at > 1 then
            exit;
        elsif jsonb_typeof(v_value) <> 'boolean' then
            return wf._fail_operand(v_operator, v_at, 'true or false', v_value);
        elsif v_operator = 'if' then
            v_skip := case when v_value::boolean then 3 else 2 end;
        else
            exit when v_value::boolean = (v_operator = 'or');
        end if;
    end loop;
    return v_value;
end;
$$;

-- wf._each(p_expr, p_env, p_depth)
--
-- Returns  the value of ["each", name, list, value, condition]
-- Locks    nothing
-- Raises   WF020
-- Called   by _value
create or replace function wf._each(p_expr jsonb, p_env jsonb, p_depth integer)
returns jsonb
language plpgsql stable as $$
declare
    v_list   jsonb   := wf._operand(p_expr -> 2, p_env, p_depth + 1);
    v_body   jsonb   := p_expr -> 3;
    v_test   jsonb   := p_expr -> 4;
    v_outer  jsonb   := p_env || '{}';   -- decompressed
    v_names  text[];                     -- the names around it that it reads
    v_env    jsonb;
    v_value  jsonb;
    v_values jsonb[] := '{}'::jsonb[];
    v_bytes  bigint  := 0;               -- bytes that were built and are not charged yet
begin
    if jsonb_typeof(v_list) <> 'array' then
        return wf._fail_value('the source of [ … for … in … ]', 'a list', v_list);
    end if;
    if pg_column_size(v_outer) > 4096 then    -- it is copied for each element: drop names that are not read
        v_names := array(select n.name
                           from unnest(wf._names(jsonb_build_array('list', v_body, v_test)) || '{instance}') n (name)
                          where v_outer ? n.name);
        if wf._charge_each(p_expr, v_list, (select coalesce(sum(wf._weight(v_outer -> n.name)), 0)
                                              from unnest(v_names) n (name))) then end if;
        v_outer := (select coalesce(jsonb_object_agg(n.name, v_outer -> n.name), '{}') from unnest(v_names) n (name));
    else
        if wf._charge_each(p_expr, v_list, pg_column_size(v_outer)) then end if;
    end if;

    for v_at in 0 .. jsonb_array_length(v_list) - 1 loop
        v_env := v_outer || jsonb_build_object(p_expr ->> 1, v_list -> v_at);
        if v_test <> 'true' then
            v_value := wf._operand(v_test, v_env, p_depth + 1);
            if jsonb_typeof(v_value) <> 'boolean' then
                return wf._fail_value('the condition of [ … for … if … ]', 'true or false', v_value);
            end if;
            continue when not v_value::boolean;
        end if;
        v_value  := wf._operand(v_body, v_env, p_depth + 1);
        v_values := v_values || v_value;
        v_bytes  := v_bytes + wf._weight(v_value);
        if v_bytes > 65536 then
            if wf._charge(0, v_bytes) then end if;
            v_bytes := 0;
        end if;
    end loop;
    return to_jsonb(v_values);
end;
$$;

-- wf._value(p_expr, p_env, p_depth)
--
-- p_depth says how many operators there are around this one, itself included.
--
-- Returns  the value of an operator, or of an object that was not folded
-- Locks    nothing
-- Raises   WF020, WF021, class 22, or what a function raises
-- Called   by _evaluate and by the functions above
create or replace function wf._value(p_expr jsonb, p_env jsonb, p_depth integer)
returns jsonb
language sql stable
begin atomic
    select case
               when p_depth > 100 then wf._fail('the expression is nested more than 100 levels deep')
               when p_expr is null then wf._fail('an operand is missing')
               when jsonb_typeof(p_expr) = 'object' then wf._gather(wf._as_operator(p_expr), p_env, p_depth)
               when p_expr ->> 0 in ('text', 'object', 'call', 'list') then wf._gather(p_expr, p_env, p_depth)
               when p_expr ->> 0 in ('and', 'or', 'if', 'coalesce') then wf._choose(p_expr, p_env, p_depth)
               when p_expr ->> 0 = 'each' then wf._each(p_expr, p_env, p_depth)
               else wf._apply(p_expr, p_env, p_depth)
           end;
end;

-- wf._operand(p_expr, p_env, p_depth)
--
-- Returns  the value of any expression, leaf or not
-- Locks    nothing
-- Raises   as _value
-- Called   by _each
create or replace function wf._operand(p_expr jsonb, p_env jsonb, p_depth integer)
returns jsonb
language sql stable
begin atomic
    select coalesce(wf._leaf(p_expr, p_env), wf._value(p_expr, p_env, p_depth));
end;
