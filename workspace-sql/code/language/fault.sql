-- Finds out where an expression has failed, for the person who reads the error. Nothing
-- here is called before an expression has failed, so a run that goes well pays nothing.
--
-- The expression is written from the compiled tree, because that was evaluated; the text
-- in the source may look different. Conversions that the compiler has put in are left out.

-- wf._write_piece(p_part)
--
-- Returns  an operand of the operator text, as it stands between the quotes
-- Locks    nothing
-- Raises   nothing
-- Called   by _write
create or replace function wf._write_piece(p_part jsonb) returns text
language plpgsql stable as $$
begin
    if jsonb_typeof(p_part) = 'string' then
        return replace(substr(p_part::text, 2, length(p_part::text) - 2), '${', chr(92) || '${'); -- a backslash
    end if;
    return '${' || wf._write(p_part, 0) || '}';
end;
$$;

-- wf._write_all(p_expr, p_from, p_between, p_first, p_rest)
--
-- Returns  the operands of an operator from p_from on, with the text p_between between them; p_first is the p_level of
--          the first one, p_rest that of the others (see _write)
-- Locks    nothing
-- Raises   nothing
-- Called   by _write
create or replace function wf._write_all(p_expr jsonb, p_from int, p_between text, p_first int, p_rest int) returns text
language plpgsql stable as $$
begin
    return coalesce((select string_agg(wf._write(e.value, case when e.at = p_from + 1 then p_first else p_rest end),
                                       p_between order by e.at)
                       from jsonb_array_elements(p_expr) with ordinality e (value, at)
                      where e.at > p_from), '');
end;
$$;

-- wf._write_object(p_expr)
--
-- Returns  ["object", its literal fields, [names of the other fields], …] as text: the literal fields first
-- Locks    nothing
-- Raises   nothing
-- Called   by _write
create or replace function wf._write_object(p_expr jsonb) returns text
language plpgsql stable as $$
begin
    return '{' || concat_ws(', ',
               (select string_agg(format('%s: %s', f.key, f.value), ', ') from jsonb_each(p_expr -> 1) f),
               (select string_agg(format('%s: %s', f.name, wf._write(p_expr -> f.at::int + 2, 0)), ', ' order by f.at)
                  from jsonb_array_elements_text(p_expr -> 2) with ordinality f (name, at))) || '}';
end;
$$;

-- wf._binds(p_operator)
--
-- Returns  how tightly an operator between operands binds: from 1 for || to 7 for *, as in docs/language.md; null for
--          any other operator
-- Locks    nothing
-- Raises   nothing
-- Called   by _write
create or replace function wf._binds(p_operator text) returns int
language sql immutable
begin atomic
    select case when p_operator = 'or' then 1
                when p_operator = 'and' then 2
                when p_operator in ('eq', 'ne', 'lt', 'le', 'gt', 'ge') then 3
                when p_operator = 'coalesce' then 4
                when p_operator = 'range' then 5
                when p_operator in ('add', 'sub') then 6
                when p_operator in ('mul', 'div', 'mod') then 7 end;
end;

-- wf._write(p_expr, p_level)
--
-- p_level says how tightly the operator around the expression binds: 0 if there is none, 8
-- for ! before it, 9 for - before it and for .field or [index] behind it.
--
-- Returns  an expression as the language writes it
-- Locks    nothing
-- Raises   nothing; an unknown operator is written as JSON
-- Called   by _blame and _say_absent
create or replace function wf._write(p_expr jsonb, p_level int) returns text
language plpgsql stable as $$
declare
    v_operator constant text := split_part(p_expr ->> 0, '.', 1);
    v_own constant int := case when v_operator in ('not', 'neg') then 8 when v_operator = 'if' then 0
                               else wf._binds(v_operator) end;
    v_text text;
begin
    if jsonb_typeof(p_expr) = 'object' then
        return wf._write_object(wf._as_operator(p_expr));
    elsif jsonb_typeof(p_expr) is distinct from 'array' then
        return coalesce(p_expr::text, '');
    end if;
    v_text := case v_operator
        when 'const' then p_expr ->> 1
        when 'var' then coalesce(substring(p_expr ->> 1 from '^__(.+)_[0-9]+$'), p_expr ->> 1) -- also a caught error
        when 'instance' then 'instance.' || (p_expr ->> 1)
        when 'list' then '[' || wf._write_all(p_expr, 1, ', ', 0, 0) || ']'
        when 'object' then wf._write_object(p_expr)
        when 'text' then '"' || (select string_agg(wf._write_piece(e.value), '' order by e.at)
                                   from jsonb_array_elements(p_expr) with ordinality e (value, at)
                                  where e.at > 1) || '"'
        when 'get' then wf._write(p_expr -> 1, 9)
                        || case when p_expr ->> 2 ~ '^[A-Za-z_][A-Za-z0-9_]*$' then '.' || (p_expr ->> 2)
                                else '[' || wf._write(p_expr -> 2, 0) || ']' end
        when 'at' then wf._write(p_expr -> 1, 9) || '[' || wf._write(p_expr -> 2, 0) || ']'
        when 'call' then (p_expr ->> 1) || '(' || wf._write_all(p_expr, 2, ', ', 0, 0) || ')'
        when 'cast' then wf._write(p_expr -> 2, p_level)
        when 'not' then '!' || wf._write(p_expr -> 1, 8)
        when 'neg' then '-' || wf._write(p_expr -> 1, 9)
        when 'if' then wf._write(p_expr -> 1, 1) || ' ? ' || wf._write(p_expr -> 2, 1) || ' : '
                       || wf._write(p_expr -> 3, 0)
        when 'each' then '[' || wf._write(p_expr -> 3, 0) || ' for ' || (p_expr ->> 1) || ' in '
                         || wf._write(p_expr -> 2, 1)
                         || case when p_expr -> 4 <> 'true' then ' if ' || wf._write(p_expr -> 4, 0) else '' end || ']'
        else case when v_own is not null
                  then wf._write_all(p_expr, 1,
                           (select case o.name when 'range' then o.symbol else format(' %s ', o.symbol) end
                              from wf.operator o where o.name = p_expr ->> 0),
                           v_own + (v_own in (3, 4, 5))::int, v_own + (v_own <> 4)::int) end
        end;
    v_text := coalesce(v_text, p_expr::text);
    return case when v_own < p_level then '(' || v_text || ')' else v_text end;
end;
$$;

-- wf._failing_element(p_expr, p_env, p_left)
--
-- Looks for the element in which an operator each has failed.
--
-- Returns  the value or the condition that failed, and the environment of its element; nulls if no element that was
--          tried fails by itself; p_left is how many more expressions may be evaluated
-- Locks    nothing
-- Raises   as _evaluate
-- Called   by _failing_operand
create or replace function wf._failing_element(p_expr jsonb, p_env jsonb, inout p_left int, out operand jsonb,
                                               out env jsonb)
language plpgsql stable as $$
declare
    v_list constant jsonb := wf._evaluate(p_expr -> 2, p_env) -> 'value';
    v_value jsonb;
begin
    if jsonb_typeof(v_list) <> 'array' then
        return;
    end if;
    for v_at in 0 .. jsonb_array_length(v_list) - 1 loop
        exit when p_left <= 0;
        env := p_env || jsonb_build_object(p_expr ->> 1, v_list -> v_at);
        operand := p_expr -> 4; -- the condition comes first
        v_value := wf._evaluate(operand, env);
        if v_value -> 'value' = 'true' then
            operand := p_expr -> 3;
            v_value := wf._evaluate(operand, env);
            p_left := p_left - 1;
        end if;
        p_left := p_left - 1;
        if v_value ? 'error' then
            return;
        end if;
        -- a condition has to be a boolean: each refuses any other value
        exit when operand = p_expr -> 4 and jsonb_typeof(v_value -> 'value') <> 'boolean';
    end loop;
    operand := null;
end;
$$;

-- wf._failing_operand(p_expr, p_env, p_left)
--
-- Evaluates the operands again, in their order and up to the first one that fails, as when
-- the operator was evaluated.
--
-- Returns  the operand of a failed operator that fails by itself, its place and its environment; nulls if no operand
--          does, so that the operator itself has failed; p_left is how many more expressions may be evaluated
-- Locks    nothing
-- Raises   as _evaluate
-- Called   by _find_fault
create or replace function wf._failing_operand(p_expr jsonb, p_env jsonb, inout p_left int, out at int,
                                               out operand jsonb, out env jsonb)
language plpgsql stable as $$
declare
    v_operator constant text := p_expr ->> 0;
    v_first constant int := (select o.first_operand from wf.operator o where o.name = v_operator);
    v_choice constant boolean := v_operator in ('if', 'and', 'or');
    v_skip int := 0; -- the branch of an if that was not taken
    v_value jsonb;
    f record;
begin
    env := p_env;
    for v_at in coalesce(v_first, 1) .. case when v_first is null then 0 when v_operator = 'each' then 2
                                             else jsonb_array_length(p_expr) - 1 end loop
        continue when v_at = v_skip or not v_choice and wf._leaf(p_expr -> v_at, p_env) is not null;
        exit when p_left <= 0;
        p_left := p_left - 1;
        v_value := wf._evaluate(p_expr -> v_at, p_env);
        if v_value ? 'error' then
            at := v_at;
            operand := p_expr -> v_at;
            return;
        end if;
        -- the operands behind such an operand were not evaluated
        exit when v_choice and jsonb_typeof(v_value -> 'value') <> 'boolean';
        if v_operator = 'if' and v_at = 1 then
            v_skip := case when v_value -> 'value' = 'true' then 3 else 2 end;
        end if;
    end loop;
    if v_operator = 'each' then
        select e.* into f from wf._failing_element(p_expr, p_env, p_left) e;
        p_left := f.p_left;
        operand := f.operand;
        env := f.env;
    end if;
end;
$$;

-- wf._find_fault(p_expr, p_env)
--
-- Looks for the smallest part of an expression that fails by itself. A part that has failed
-- is evaluated once more for each operator around it. After 100 evaluations the answer is
-- the smallest part that was found by then.
--
-- Returns  that part, its environment and, if p_expr is an object, the field of it
-- Locks    nothing
-- Raises   as _evaluate
-- Called   by _blame
create or replace function wf._find_fault(p_expr jsonb, p_env jsonb, out field text, out expr jsonb, out env jsonb)
language plpgsql stable as $$
declare
    v_left int := 100;
    f record;
begin
    expr := case jsonb_typeof(p_expr) when 'object' then wf._as_operator(p_expr) else p_expr end;
    env := p_env;
    while jsonb_typeof(expr) = 'array' loop
        select o.* into f from wf._failing_operand(expr, env, v_left) o;
        exit when f.operand is null;
        if field is null then
            field := case expr ->> 0 when 'object' then expr -> 2 ->> (f.at - 3) else '' end;
        end if;
        v_left := f.p_left;
        env := f.env;
        expr := case jsonb_typeof(f.operand) when 'object' then wf._as_operator(f.operand) else f.operand end;
    end loop;
    field := nullif(field, '');
end;
$$;

-- wf._say_absent(p_expr, p_env)
--
-- Returns  why a name, a field or an element is null, such as: order has no field "host"; its fields are id, total.
--          Null for any other expression, and for one that has a value
-- Locks    nothing
-- Raises   as _evaluate
-- Called   by _blame
create or replace function wf._say_absent(p_expr jsonb, p_env jsonb) returns text
language plpgsql stable as $$
declare
    v_around jsonb;
    v_key jsonb;
begin
    if jsonb_typeof(p_expr) <> 'array' then
        return null;
    elsif p_expr ->> 0 = 'cast' then
        return wf._say_absent(p_expr -> 2, p_env);
    elsif p_expr ->> 0 not in ('var', 'instance', 'get', 'at')
          or wf._evaluate(p_expr, p_env) -> 'value' is distinct from 'null' then
        return null;
    elsif p_expr ->> 0 in ('get', 'at') then
        v_around := wf._evaluate(p_expr -> 1, p_env) -> 'value';
        v_key := wf._evaluate(p_expr -> 2, p_env) -> 'value';
        if v_around = 'null' then
            return wf._say_absent(p_expr -> 1, p_env);
        elsif jsonb_typeof(v_around) = 'object' and not v_around ? (v_key #>> '{}') then
            return format('%s has no field "%s"; ', left(wf._write(p_expr -> 1, 9), 100), left(v_key #>> '{}', 40))
                   || case when v_around = '{}' then 'it has none'
                           else 'its fields are ' || array_to_string(array(
                                    select left(k, 40) from jsonb_object_keys(v_around) k limit 10), ', ')
                                || case when (select count(*) from jsonb_object_keys(v_around)) > 10 then ' …'
                                        else '' end end;
        elsif jsonb_typeof(v_around) = 'array' and (v_around -> (v_key #>> '{}')::numeric::int) is null then
            return format('%s has no element %s; it has %s', left(wf._write(p_expr -> 1, 9), 100), v_key,
                          jsonb_array_length(v_around));
        end if;
    end if;
    return left(wf._write(p_expr, 0), 100) || ' is null';
end;
$$;

-- wf._blame(p_error, p_expr, p_env, p_line, p_part)
--
-- p_error is the error that wf._evaluate gave for an expression. p_line is the line in the
-- source (null: it is not known). p_part says what the expression is there, such as max; or
-- argument, policy or request, for an object with a field for each of these (null: nothing
-- to name).
--
-- Returns  the error, its message preceded by the place and the smallest part of the expression that fails; its detail
--          is an object with line, place, expression and hint. An error of kind limit only gets the line, because an
--          expression that takes too much is not evaluated again. Null if p_error is null
-- Locks    nothing
-- Raises   as _evaluate
-- Called   wherever an error of an expression becomes that of a process
create or replace function wf._blame(p_error jsonb, p_expr jsonb, p_env jsonb, p_line int, p_part text) returns jsonb
language plpgsql stable as $$
declare
    v_place text;
    v_text text;
    v_absent text;
    f record;
begin
    if p_error is null then
        return null;
    elsif p_error ->> 'kind' = 'input' then
        select x.* into f from wf._find_fault(p_expr, p_env) x;
        v_text := wf._write(f.expr, 0);
        v_text := left(v_text, 200) || case when length(v_text) > 200 then ' …' else '' end;
        v_place := case when p_part not in ('argument', 'policy', 'request') then p_part
                        when f.field is not null then p_part || ' ' || f.field end;
        if p_error ->> 'message' ~ '[[:<:]]null[[:>:]]' and jsonb_typeof(f.expr) = 'array' then
            select a.absent
              into v_absent
              from jsonb_array_elements(f.expr) with ordinality e (value, at)
             cross join lateral (
                   select case when e.at = case f.expr ->> 0 when 'each' then 3 when 'if' then 2 else e.at end
                               then wf._say_absent(e.value, f.env) end as absent offset 0) a
             where jsonb_typeof(e.value) = 'array' and a.absent is not null
             order by e.at limit 1;
        end if;
    end if;
    return p_error || jsonb_build_object(
        'message', concat(nullif(concat_ws(', ', 'line ' || p_line, v_place) || ': ', ': '), v_text || ': ',
                          p_error ->> 'message', ' (' || v_absent || ')'),
        'detail', jsonb_strip_nulls(jsonb_build_object('line', p_line, 'place', v_place, 'expression', v_text,
                                                       'hint', p_error -> 'detail')));
end;
$$;
