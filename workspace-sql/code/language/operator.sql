-- The operators of the expression language that evaluate all of their operands.
-- Those that do not (and, or, if, coalesce, each) are part of the interpreter in
-- expression.sql.
--
-- Operators in common use are `language sql` with a body that was resolved at
-- installation: the planner puts the body in place of the call.

-- wf._fail_operand(p_operator, p_at, p_expected, p_value)
--
-- Returns  never
-- Locks    nothing
-- Raises   WF020: operand <p_at> of <symbol> must be <p_expected>, not <p_value>
-- Called   by operators
create or replace function wf._fail_operand(p_operator text, p_at integer, p_expected text, p_value jsonb)
returns jsonb
language plpgsql stable as $$
begin
    return wf._fail_value(
        format('operand %s of %s', p_at,
               coalesce((select o.symbol from wf.operator o where o.name = p_operator), p_operator)),
        p_expected, p_value);
end;
$$;

-- wf._fail_number(p_operator, p_a, p_b)
--
-- Returns  never
-- Locks    nothing
-- Raises   WF020 for the first operand that is not a number
-- Called   by operators on numbers
create or replace function wf._fail_number(p_operator text, p_a jsonb, p_b jsonb)
returns jsonb
language plpgsql stable as $$
begin
    return case when jsonb_typeof(p_a) = 'number'
                then wf._fail_operand(p_operator, 2, 'a number', p_b)
                else wf._fail_operand(p_operator, 1, 'a number', p_a)
           end;
end;
$$;

-- wf._get(p_object, p_key)
--
-- Returns  a field of an object; null if the object is null or lacks the field
-- Locks    nothing
-- Raises   WF020 if p_object is neither object nor null, or if p_key is not a string
-- Called   by the operator get
create or replace function wf._get(p_object jsonb, p_key jsonb)
returns jsonb
language sql stable
begin atomic
    select case
               when jsonb_typeof(p_key) is distinct from 'string' then wf._fail_operand('get', 2, 'a string', p_key)
               when jsonb_typeof(p_object) = 'object' then coalesce(p_object -> (p_key #>> '{}'), 'null')
               when jsonb_typeof(p_object) = 'null'   then 'null'
               else wf._fail(format('%s has no field "%s"', wf._describe(p_object), left(p_key #>> '{}', 40)),
                             'Only objects have fields.')
           end;
end;

-- wf._at(p_list, p_index)
--
-- Returns  an element of a list, counted from 0 or from the end; null if the list is
--          null or lacks the element
-- Locks    nothing
-- Raises   WF020 if p_list is neither list nor null, or if p_index is not an int
-- Called   by the operator at
create or replace function wf._at(p_list jsonb, p_index jsonb)
returns jsonb
language sql stable
begin atomic
    select case
               when jsonb_typeof(p_index) is distinct from 'number' or p_index::numeric <> trunc(p_index::numeric)
               then wf._fail_operand('at', 2, 'an int', p_index)
               when jsonb_typeof(p_list) = 'null' then 'null'
               when jsonb_typeof(p_list) is distinct from 'array' then wf._fail_operand('at', 1, 'a list', p_list)
               when abs(p_index::numeric) > 2147483647 then 'null'
               else coalesce(p_list -> p_index::integer, 'null')
           end;
end;

-- wf._divide(p_a, p_b)
--
-- Returns  the quotient, to at least 20 significant digits
-- Locks    nothing
-- Raises   WF020 if p_b is 0, WF021 for numbers from 1e1000 on
-- Called   by _arithmetic
create or replace function wf._divide(p_a numeric, p_b numeric)
returns numeric
language plpgsql stable as $$
declare
    v_scale integer;
begin
    if p_b = 0 then
        perform wf._fail('division by zero');
    elsif abs(p_a) >= 1e1000 or abs(p_b) >= 1e1000 then
        perform wf._fail_limit('numbers from 1e1000 on cannot be divided');
    end if;
    v_scale := scale(p_a / p_b) + 4;    -- the plain quotient has 16 significant digits or more
    return round(round(p_a, v_scale) / p_b, v_scale);
end;
$$;

-- wf._remainder(p_a, p_b)
--
-- Returns  the remainder of a division, with the sign of p_a
-- Locks    nothing
-- Raises   WF020 if p_b is 0, WF021 for numbers from 1e1000 on
-- Called   by _arithmetic
create or replace function wf._remainder(p_a numeric, p_b numeric)
returns numeric
language sql stable
begin atomic
    select case when p_b = 0 then wf._fail('division by zero')::numeric
                when abs(p_a) >= 1e1000 then wf._fail_limit('numbers from 1e1000 on cannot be divided')::numeric
                else mod(p_a, p_b)
           end;
end;

-- wf._arithmetic(p_operator, p_a, p_b)
--
-- Returns  the result, a number without trailing zeros
-- Locks    nothing
-- Raises   WF020 if an operand is not a number, class 22 if the result is too large
-- Called   by the operators add, sub, mul, div, mod
create or replace function wf._arithmetic(p_operator text, p_a jsonb, p_b jsonb)
returns jsonb
language sql stable
begin atomic
    select case
               when pg_column_size(p_a) + pg_column_size(p_b) > 512 and not wf._charge_arithmetic(p_a, p_b) then null
               when jsonb_typeof(p_a) = 'number' and jsonb_typeof(p_b) = 'number'
               then to_jsonb(trim_scale(case p_operator
                        when 'add' then p_a::numeric + p_b::numeric
                        when 'sub' then p_a::numeric - p_b::numeric
                        when 'mul' then p_a::numeric * p_b::numeric
                        when 'div' then wf._divide(p_a::numeric, p_b::numeric)
                        when 'mod' then wf._remainder(p_a::numeric, p_b::numeric)
                    end))
               else wf._fail_number(p_operator, p_a, p_b)
           end;
end;

-- wf._compare(p_operator, p_a, p_b)
--
-- Returns  whether the comparison of the two numbers holds
-- Locks    nothing
-- Raises   WF020 if an operand is not a number
-- Called   by the operators lt, le, gt, ge
create or replace function wf._compare(p_operator text, p_a jsonb, p_b jsonb)
returns jsonb
language sql stable
begin atomic
    select case
               when jsonb_typeof(p_a) = 'number' and jsonb_typeof(p_b) = 'number'
               then to_jsonb(case p_operator
                        when 'lt' then p_a::numeric <  p_b::numeric
                        when 'le' then p_a::numeric <= p_b::numeric
                        when 'gt' then p_a::numeric >  p_b::numeric
                        when 'ge' then p_a::numeric >= p_b::numeric
                    end)
               else wf._fail_number(p_operator, p_a, p_b)
           end;
end;

-- wf._compare_as(p_operator, p_a, p_b)
--
-- Returns  whether the comparison of two strings, dates, timestamps or durations holds
-- Locks    nothing
-- Raises   WF020 if an operand is of another type, class 22 for a day that does not exist
-- Called   by the operators lt.string … ge.duration
create or replace function wf._compare_as(p_operator text, p_a jsonb, p_b jsonb)
returns jsonb
language plpgsql stable as $$
declare
    v_relation text := split_part(p_operator, '.', 1);
    v_type     text := split_part(p_operator, '.', 2);
    v_a        text := p_a #>> '{}';
    v_b        text := p_b #>> '{}';
    v_less     boolean;
    v_equal    boolean;
begin
    if v_type not in ('string', 'date', 'timestamp', 'duration') then
        return wf._fail(concat_ws(' ', 'there is no operator', p_operator));
    elsif jsonb_typeof(p_a) is distinct from 'string' then
        return wf._fail_operand(p_operator, 1, 'a ' || v_type, p_a);
    elsif jsonb_typeof(p_b) is distinct from 'string' then
        return wf._fail_operand(p_operator, 2, 'a ' || v_type, p_b);
    end if;

    case v_type
        when 'string' then
            v_less  := v_a < v_b collate "C";
            v_equal := v_a = v_b;
        when 'date' then
            v_less  := wf._parse_date(v_a) < wf._parse_date(v_b);
            v_equal := wf._parse_date(v_a) = wf._parse_date(v_b);
        when 'timestamp' then
            v_less  := wf._parse_timestamp(v_a) < wf._parse_timestamp(v_b);
            v_equal := wf._parse_timestamp(v_a) = wf._parse_timestamp(v_b);
        else
            v_less  := wf._parse_duration(v_a) < wf._parse_duration(v_b);
            v_equal := wf._parse_duration(v_a) = wf._parse_duration(v_b);
    end case;
    return to_jsonb(case v_relation
                        when 'lt' then v_less
                        when 'le' then v_less or v_equal
                        when 'gt' then not (v_less or v_equal)
                        when 'ge' then not v_less
                    end);
end;
$$;

-- wf._multiply_duration(p_duration, p_factor)
--
-- Returns  a duration p_factor times as long; months are split into 30 days of 24 hours each
-- Locks    nothing
-- Raises   class 22 if the result is too long
-- Called   by the operator mul.duration
create or replace function wf._multiply_duration(p_duration interval, p_factor numeric)
returns interval
language sql immutable
begin atomic
    select case when date_trunc('month', p_duration) = interval '0'
                then wf._interval(extract(epoch from p_duration) * p_factor)
                else p_duration * p_factor::double precision
           end;
end;

-- wf._calculate_time(p_operator, p_a, p_b)
--
-- Calculates with times in UTC, where every day has 24 hours.
--
-- Returns  a timestamp or a duration
-- Locks    nothing
-- Raises   WF020 if an operand is of another type, class 22 if the result is out of range
-- Called   by the operators on times and durations
create or replace function wf._calculate_time(p_operator text, p_a jsonb, p_b jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' as $$
declare
    v_a text := p_a #>> '{}';
    v_b text := p_b #>> '{}';
begin
    if jsonb_typeof(p_a) is distinct from 'string' then
        return wf._fail_operand(p_operator, 1,
                                case when p_operator like '%.time%' then 'a time' else 'a duration' end, p_a);
    elsif p_operator = 'mul.duration' then
        if jsonb_typeof(p_b) is distinct from 'number' then
            return wf._fail_operand(p_operator, 2, 'a number', p_b);
        end if;
        return to_jsonb(wf._iso_duration(wf._multiply_duration(wf._parse_duration(v_a), p_b::numeric)));
    elsif jsonb_typeof(p_b) is distinct from 'string' then
        return wf._fail_operand(p_operator, 2,
                                case p_operator when 'sub.times' then 'a time' else 'a duration' end, p_b);
    end if;

    return to_jsonb(case p_operator
        when 'add.time'     then wf._iso_timestamp(wf._parse_timestamp(v_a) + wf._parse_duration(v_b))
        when 'sub.time'     then wf._iso_timestamp(wf._parse_timestamp(v_a) - wf._parse_duration(v_b))
        when 'sub.times'    then wf._iso_duration(wf._parse_timestamp(v_a) - wf._parse_timestamp(v_b))
        when 'add.duration' then wf._iso_duration(wf._parse_duration(v_a) + wf._parse_duration(v_b))
        when 'sub.duration' then wf._iso_duration(wf._parse_duration(v_a) - wf._parse_duration(v_b))
    end);
end;
$$;

-- wf._negate(p_a)
--
-- Returns  the number with its sign changed
-- Locks    nothing
-- Raises   WF020 if it is not a number
-- Called   by the operator neg
create or replace function wf._negate(p_a jsonb)
returns jsonb
language sql stable
begin atomic
    select case when jsonb_typeof(p_a) = 'number'
                then to_jsonb(trim_scale(-(p_a::numeric)))
                else wf._fail_operand('neg', 1, 'a number', p_a)
           end;
end;

-- wf._not(p_a)
--
-- Returns  the opposite of a boolean
-- Locks    nothing
-- Raises   WF020 if it is not a boolean
-- Called   by the operator not
create or replace function wf._not(p_a jsonb)
returns jsonb
language sql stable
begin atomic
    select case when jsonb_typeof(p_a) = 'boolean'
                then to_jsonb(not p_a::boolean)
                else wf._fail_operand('not', 1, 'true or false', p_a)
           end;
end;

-- wf._range(p_a, p_b)
--
-- Returns  the list of ints from p_a to p_b
-- Locks    nothing
-- Raises   WF020 if p_a and p_b are not ints, or for more than 100,000 elements
-- Called   by the operator range
create or replace function wf._range(p_a jsonb, p_b jsonb)
returns jsonb
language plpgsql stable as $$
begin
    if not wf._fits('"int"', p_a) then
        return wf._fail_operand('range', 1, 'an int', p_a);
    elsif not wf._fits('"int"', p_b) then
        return wf._fail_operand('range', 2, 'an int', p_b);
    elsif p_b::numeric - p_a::numeric >= 100000 then
        return wf._fail(format('the range %s..%s has more than 100000 elements', p_a, p_b));
    end if;
    if wf._charge(greatest(p_b::numeric - p_a::numeric, 0) / 16, 0) then end if;
    return (select coalesce(jsonb_agg(i), '[]')
              from generate_series(trunc(p_a::numeric), trunc(p_b::numeric)) i);
end;
$$;
