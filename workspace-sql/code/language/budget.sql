-- The budget of an evaluation: how much work an expression may do, and how much
-- it may build.
--
-- The parameter wf.spent of the session holds what an evaluation has spent:
-- {steps, bytes}. It lasts no longer than the evaluation. A step takes about as long as
-- an operator on small values (some 5 microseconds). An operator that is written once
-- and evaluated once is not counted: the length of the expression bounds their number.
-- Work that a small expression can make large is counted before it is done: the
-- elements of a comprehension, and values above 1 kB.
--
-- A function that charges returns true and is called in an IF. A PERFORM would be a
-- query, which takes longer than most of the work that is charged.

-- wf._charge(p_steps, p_bytes)
--
-- Returns  true
-- Locks    nothing
-- Raises   WF021 if the evaluation has used up its steps or its bytes
-- Called   wherever an evaluation is about to do something large
create or replace function wf._charge(p_steps numeric, p_bytes numeric)
returns boolean
language plpgsql stable as $$
declare
    v_spent   bigint[] := coalesce(nullif(current_setting('wf.spent', true), ''), '{0,0}')::bigint[];
    v_charged numeric[] := array[greatest(v_spent[1], 0) + trunc(p_steps), greatest(v_spent[2], 0) + trunc(p_bytes)];
    v_setting record;
begin
    for v_setting in
        select s.name, s.value, c.unit
          from (values ('expression_steps', 1, 'steps'), ('expression_bytes', 2, 'bytes')) c (name, at, unit)
          join wf.setting s on s.name = c.name
         where v_charged[c.at] > s.value::numeric
         limit 1
    loop
        raise exception using errcode = 'WF021',
            message = format('the expression takes more than the %s %s allowed', v_setting.value, v_setting.unit),
            hint = format('Give it less data, let a task do the work, or raise the setting %s.', v_setting.name);
    end loop;
    perform set_config('wf.spent', v_charged::bigint[]::text, true);
    return true;
end;
$$;

-- wf._clear_budget(p_value)
--
-- Returns  {"value": v}, the result of an evaluation that was charged for something
-- Locks    nothing
-- Raises   nothing
-- Called   by _evaluate, at the end: the next evaluation begins with nothing spent
create or replace function wf._clear_budget(p_value jsonb)
returns jsonb
language plpgsql stable as $$
begin
    perform set_config('wf.spent', '', true);
    return jsonb_build_object('value', p_value);
end;
$$;

-- wf._fail_limit(p_message, p_hint)
--
-- Returns  never; jsonb by type, so that it may stand in an expression
-- Locks    nothing
-- Raises   WF021 with the message
-- Called   wherever an evaluation meets a limit other than its budget
create or replace function wf._fail_limit(p_message text, p_hint text default null)
returns jsonb
language plpgsql stable as $$
begin
    raise exception using errcode = 'WF021', message = p_message, hint = coalesce(p_hint, '');
end;
$$;

-- wf._built(p_value)
--
-- Returns  the value, which is charged if it is large
-- Locks    nothing
-- Raises   WF021
-- Called   by functions that make large values from small ones
create or replace function wf._built(p_value jsonb)
returns jsonb
language plpgsql stable as $$
begin
    if pg_column_size(p_value) > 1024 then
        if wf._charge(pg_column_size(p_value) / 1024, pg_column_size(p_value)) then end if;
    end if;
    return p_value;
end;
$$;

-- wf._elements(p_value)
--
-- Returns  how many elements a list has; 0 for any other value
-- Locks    nothing
-- Raises   nothing
-- Called   by _charge_call
create or replace function wf._elements(p_value jsonb)
returns integer
language sql immutable
begin atomic
    select case jsonb_typeof(p_value) when 'array' then jsonb_array_length(p_value) else 0 end;
end;

-- wf._occurrences(p_text, p_part)
--
-- Returns  how often a text has a part; the part is not empty
-- Locks    nothing
-- Raises   nothing
-- Called   by _charge_each and _json_path
create or replace function wf._occurrences(p_text text, p_part text)
returns numeric
language sql immutable
begin atomic
    select (length(p_text) - length(replace(p_text, p_part, ''))) / length(p_part)::numeric;
end;

-- wf._weight(p_value)
--
-- While PostgreSQL writes a list, it takes about 32 bytes for each element, and
-- 256 for one that is a list or an object itself.
--
-- Returns  how many bytes of memory it takes to make a value part of another one
-- Locks    nothing
-- Raises   nothing
-- Called   wherever an evaluation is charged for such a value
create or replace function wf._weight(p_value jsonb)
returns bigint
language sql stable
begin atomic
    select pg_column_size(p_value)
           + case jsonb_typeof(p_value)
                 when 'array'  then jsonb_array_length(p_value)::bigint
                                    * case when jsonb_typeof(p_value -> 0) in ('array', 'object')
                                             or jsonb_typeof(p_value -> -1) in ('array', 'object') then 256 else 32 end
                 when 'object' then 3 * pg_column_size(p_value)
                 else 0
             end;
end;

-- wf._charge_call(p_name, p_args)
--
-- Charges the call of a function for its arguments, and for its value if that can be
-- larger than the arguments.
--
-- Returns  true
-- Locks    nothing
-- Raises   WF021
-- Called   by the operator call, if an argument is larger than 1 kB
create or replace function wf._charge_call(p_name text, p_args jsonb[])
returns boolean
language plpgsql stable as $$
declare
    v_size     bigint := pg_column_size(p_args);
    v_elements bigint := wf._elements(p_args[1]) + wf._elements(p_args[2]);
    v_text     text   := case jsonb_typeof(p_args[1]) when 'string' then p_args[1] #>> '{}' end;
    v_from     text   := case jsonb_typeof(p_args[2]) when 'string' then p_args[2] #>> '{}' end;
    v_to       text   := case jsonb_typeof(p_args[3]) when 'string' then p_args[3] #>> '{}' end;
begin
    return wf._charge(
        case
            when p_name = 'url_encode'                             then v_size / 4
            when p_name = 'entries'                                then v_size / 8
            when p_name = 'sh'                                     then v_size / 256 + v_elements
            when p_name in ('contains', 'size', 'concat', 'first') then
                v_size / 1024 + v_elements / case p_name when 'contains' then 256 else 16 end
            when p_name in ('path', 'matches', 'last', 'typeof')   then v_size / 1024
            else                                                        v_size / 256 + v_elements / 2
        end,
        case p_name
            when 'entries' then 4 * v_size
            when 'json'    then 2 * v_size + wf._weight(p_args[1]) / 4
            when 'join'    then v_elements * coalesce(octet_length(v_from), 0)
            when 'replace' then case when octet_length(v_to) > octet_length(v_from) and v_from <> ''
                                     then (octet_length(v_text) - octet_length(replace(v_text, v_from, '')))
                                          / octet_length(v_from) * octet_length(v_to)::numeric
                                     else 0 end
            else coalesce(wf._weight(p_args[1]), 0) / 4
        end);
end;
$$;

-- wf._charge_each(p_expr, p_list, p_outer)
--
-- Charges a comprehension. For each element, it charges the operators that are evaluated,
-- and the copy of the names around the comprehension, which have p_outer bytes.
--
-- Returns  true
-- Locks    nothing
-- Raises   WF021
-- Called   by _each
create or replace function wf._charge_each(p_expr jsonb, p_list jsonb, p_outer numeric)
returns boolean
language plpgsql stable as $$
declare
    v_size      numeric := pg_column_size(p_expr);
    v_operators numeric := case when v_size < 65536
                                then 1 + wf._occurrences((p_expr -> 3)::text || (p_expr -> 4)::text, '["')
                                else v_size / 8 end;
begin
    return wf._charge(
        jsonb_array_length(p_list) * (v_operators * (1 + trunc((v_size + p_outer) / 65536)) + trunc(p_outer / 512)),
        case when pg_column_size(p_list) + p_outer > 1024 then wf._weight(p_list) + p_outer else 0 end);
end;
$$;

-- wf._cast_steps(p_type, p_value)
--
-- Returns  how many steps it takes to find out whether a large value is of a type
-- Locks    nothing
-- Raises   nothing
-- Called   by the operator cast
create or replace function wf._cast_steps(p_type jsonb, p_value jsonb)
returns numeric
language sql stable
begin atomic
    select case
               when jsonb_typeof(p_value) not in ('array', 'object') then pg_column_size(p_value) / 256
               when p_type ->> 'list' in ('string', 'number', 'int', 'bool')
                 or p_type -> 'optional' ->> 'list' in ('string', 'number', 'int', 'bool')
               then pg_column_size(p_value) / 256
               else pg_column_size(p_value) / 12
           end;
end;

-- wf._charge_arithmetic(p_a, p_b)
--
-- Returns  true
-- Locks    nothing
-- Raises   WF021
-- Called   by _arithmetic, for long numbers: a multiplication takes the product of their lengths
create or replace function wf._charge_arithmetic(p_a jsonb, p_b jsonb)
returns boolean
language sql stable
begin atomic
    select wf._charge(pg_column_size(p_a)::numeric * pg_column_size(p_b) / 8192,
                      pg_column_size(p_a) + pg_column_size(p_b));
end;
