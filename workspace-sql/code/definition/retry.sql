-- The policy `retry`: its values, and the delay that follows from them.

-- wf._retry_seconds(p_duration)
--
-- Returns  a duration in seconds; null for a value that is not a duration
-- Locks    nothing
-- Raises   nothing
-- Called   by _wrong_retry, _retry_values, _wrong_timeout, _timeout_values and _fits_policy
create or replace function wf._retry_seconds(p_duration jsonb) returns numeric
language plpgsql stable as $$
begin
    return case when jsonb_typeof(p_duration) = 'string'
                then trim_scale(extract(epoch from wf._parse_duration(p_duration #>> '{}'))) end;
exception when sqlstate 'WF020' or data_exception then
    return null;
end;
$$;

-- wf._wrong_retry(p_values)
--
-- Returns  the values of a retry that do not fit, each with what would fit
-- Locks    nothing
-- Raises   nothing
-- Called   by _wrong_policies and _retry_values
create or replace function wf._wrong_retry(p_values jsonb) returns table (key text, value jsonb, meaning text)
language plpgsql stable as $$
begin
    return query
    select k.key, p_values -> k.key, k.meaning
      from (values ('attempts', -1, 999999999, 'an int from 1 to 999999999, or -1'),
                   ('delay', 0, 36500, 'a duration from 0 to 36500 days'),
                   ('backoff', 1, 9999, 'a number from 1 to 9999'),
                   ('max_delay', 0, 36500, 'a duration from 0 to 36500 days'),
                   ('jitter', 0, 1, 'a number from 0 to 1'),
                   ('on', null, null, 'a kind of error or a list of them')) k (key, least, most, meaning)
     cross join lateral (
           select p_values -> k.key as value, jsonb_typeof(p_values -> k.key) as type) v
     cross join lateral (
           select case when k.key like '%delay' then wf._retry_seconds(v.value) / 86400
                       when v.type = 'number' then v.value::numeric end as number) n
     where p_values ? k.key
       and not case when v.type = 'null' then k.key <> 'attempts'
                    when k.key = 'on' then v.type = 'string'
                                           or v.type = 'array' and not v.value @? '$[*] ? (@.type() != "string")'
                    else coalesce(n.number between k.least and k.most, false)
                         and (k.key <> 'attempts' or n.number <> 0 and n.number % 1 = 0) end;
end;
$$;

-- wf._retry_values(p_retry)
--
-- Returns  the values of a retry as the engine uses them: durations in seconds,
--          `on` as a list; null for null
-- Locks    nothing
-- Raises   WF020 if a value does not fit
-- Called   by _policies for constants, and by _apply_policies and _root_policy when a process is entered
create or replace function wf._retry_values(p_retry jsonb) returns jsonb
language plpgsql stable as $$
declare
    v jsonb;
    f record;
begin
    for f in select * from wf._wrong_retry(p_retry) limit 1 loop
        raise exception using errcode = 'WF020',
            message = format('%s of retry is %s, not %s', f.key, f.meaning, left(f.value::text, 100));
    end loop;
    v := '{"delay": "PT0S", "backoff": 1, "jitter": 0}' || jsonb_strip_nulls(p_retry);
    v := v || jsonb_strip_nulls(jsonb_build_object('delay', wf._retry_seconds(v -> 'delay'),
                                                   'max_delay', wf._retry_seconds(v -> 'max_delay')));
    return v || case when jsonb_typeof(v -> 'on') = 'string' then jsonb_build_object('on', jsonb_build_array(v -> 'on'))
                     else '{}' end;
end;
$$;

-- wf._retry_delay(p_values, p_tried, p_chance)
--
-- The delay after attempt n is delay · backoff^(n-1), at most max_delay, as in Steep (its
-- policies have no jitter). The jitter is Brooklyn's: the delay times 1 + chance · jitter,
-- and where this product exceeds max_delay, max_delay divided by the same factor.
--
-- Returns  how long a task waits after p_tried attempts of its budget
-- Locks    nothing
-- Raises   nothing: a delay that would exceed 36,500 days is 36,500 days
-- Called   by _retry and _wait_for_round
create or replace function wf._retry_delay(p_values jsonb, p_tried int, p_chance numeric) returns interval
language plpgsql immutable as $$
declare
    c_most constant numeric := 36500 * 86400::numeric;
    v_delay numeric := (p_values ->> 'delay')::numeric;
    v_backoff numeric := (p_values ->> 'backoff')::numeric;
    v_most numeric := coalesce((p_values ->> 'max_delay')::numeric, c_most);
    v_factor numeric := 1 + (p_values ->> 'jitter')::numeric * p_chance;
begin
    if v_delay > 0 and p_tried > 1 then
        -- logarithms first: the power itself may have more digits than fit into memory
        v_delay := case when (p_tried - 1) * ln(v_backoff::float8) > ln((c_most / v_delay)::float8) then c_most
                        else v_delay * power(v_backoff, p_tried - 1) end;
    end if;
    v_delay := least(v_delay, v_most, c_most);
    v_delay := case when v_delay * v_factor > v_most then v_most / v_factor else v_delay * v_factor end;
    return make_interval(secs => round(v_delay, 6)::float8);
end;
$$;
