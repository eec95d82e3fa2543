-- Values and their types: whether a value fits a type, conversion, and the JSON form of
-- times.
--
-- Short functions without settings of their own are `language sql` with a body
-- that was resolved at installation: the planner puts the body in place of the
-- call. So they cost nothing, and no search_path can lead them astray.

-- wf._fail(p_message, p_hint)
--
-- Returns  never; jsonb by type, so that it may stand in an expression
-- Locks    nothing
-- Raises   WF020 with the message
-- Called   wherever an evaluation fails
create or replace function wf._fail(p_message text, p_hint text default null)
returns jsonb
language plpgsql stable as $$
begin
    raise exception using errcode = 'WF020', message = p_message, hint = coalesce(p_hint, '');
end;
$$;

-- wf._describe(p_value)
--
-- Returns  a value in words, for a message
-- Locks    nothing
-- Raises   nothing
-- Called   wherever a value is refused
create or replace function wf._describe(p_value jsonb)
returns text
language sql immutable
begin atomic
    select case jsonb_typeof(p_value)
               when 'null'    then 'null'
               when 'boolean' then p_value::text
               when 'number'  then 'the number ' || left(p_value::text, 40)
               when 'string'  then 'the string "' || left(p_value #>> '{}', 40)
                                   || case when length(p_value #>> '{}') > 40 then '…"' else '"' end
               when 'array'   then 'a list'
               when 'object'  then 'an object'
               else 'missing'
           end;
end;

-- wf._fail_value(p_place, p_expected, p_value)
--
-- Returns  never
-- Locks    nothing
-- Raises   WF020: <place> must be <expected>, not <value>
-- Called   wherever an evaluation meets a value of the wrong type
create or replace function wf._fail_value(p_place text, p_expected text, p_value jsonb)
returns jsonb
language plpgsql stable as $$
begin
    if p_value is null then
        return wf._fail(format('%s is missing', p_place));
    end if;
    return wf._fail(format('%s must be %s, not %s', p_place, p_expected, wf._describe(p_value)));
end;
$$;

-- wf._text(p_value)
--
-- Returns  a string, number or boolean as text
-- Locks    nothing
-- Raises   WF020 for null, a list or an object, WF021 for a number of more than 1000 digits
-- Called   by the operator text, join and string
create or replace function wf._text(p_value jsonb)
returns text
language sql stable
begin atomic
    select case jsonb_typeof(p_value)
               when 'string'  then p_value #>> '{}'
               when 'number'  then case when length(p_value #>> '{}') <= 1000 then p_value #>> '{}'
                                        else wf._fail_limit('a number of more than 1000 digits cannot be '
                                                            'part of a text') #>> '{}'
                                   end
               when 'boolean' then p_value #>> '{}'
               when 'null'    then wf._fail('null cannot be part of a text',
                                            'Say what stands for it, as in ${x ?? "none"}.') #>> '{}'
               else wf._fail(format('%s cannot be part of a text', wf._describe(p_value)),
                             'Use json(), or join() for a list.') #>> '{}'
           end;
end;

-- wf._iso_timestamp(p_at)
--
-- Writes a timestamp in the only form that values have, whatever the settings of the
-- session: 2026-11-21T10:00:00Z, with a fraction only if there is one.
--
-- Returns  the text
-- Locks    nothing
-- Raises   WF020 outside of the years 1 to 9999
-- Called   wherever a timestamp becomes a value
create or replace function wf._iso_timestamp(p_at timestamptz)
returns text
language sql stable
begin atomic
    select case
               when p_at >= '0001-01-01 00:00:00+00'::timestamptz
                and p_at <  '10000-01-01 00:00:00+00'::timestamptz
               then rtrim(rtrim(to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0'), '.') || 'Z'
               else wf._fail('a timestamp must be in the years 1 to 9999') #>> '{}'
           end;
end;

-- wf._iso_duration(p_duration)
--
-- Writes a duration in the only form that values have: an ISO 8601 interval with days
-- of 24 hours and every unit carried over (PT36H is P1DT12H). So equal durations
-- without months are equal strings.
--
-- Returns  the text
-- Locks    nothing
-- Raises   nothing
-- Called   wherever a duration becomes a value
create or replace function wf._iso_duration(p_duration interval)
returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
set intervalstyle = 'iso_8601' as $$
begin
    return justify_hours(p_duration)::text;
end;
$$;

-- wf._interval(p_seconds)
--
-- Returns  p_seconds as an interval, exact to the microsecond
-- Locks    nothing
-- Raises   22003 beyond what an interval holds
-- Called   by _parse_duration and _multiply_duration
create or replace function wf._interval(p_seconds numeric)
returns interval
language sql immutable
begin atomic
    select make_interval(days => div(p_seconds, 86400)::integer, secs => mod(p_seconds, 86400)::double precision);
end;

-- wf._parse_timestamp(p_text)
--
-- Returns  a timestamp from ISO 8601 with its zone; for a date, its beginning in UTC
-- Locks    nothing
-- Raises   WF020, or class 22 for a day or hour that does not exist
-- Called   wherever a text is to be a time
create or replace function wf._parse_timestamp(p_text text)
returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
begin
    if p_text ~ '^\d{4}-\d\d-\d\d$' then
        return (p_text || 'T00:00:00Z')::timestamptz;
    elsif p_text ~ '^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)$' then
        return p_text::timestamptz;
    end if;
    return (wf._fail(format('%s is not a timestamp', wf._describe(to_jsonb(p_text))),
                    'Write a timestamp with its zone, as in 2026-11-21T10:00:00Z.') #>> '{}')::timestamptz;
end;
$$;

-- wf._parse_date(p_text)
--
-- Returns  a date from ISO 8601; for a timestamp, its date in UTC
-- Locks    nothing
-- Raises   WF020, or class 22 for a day that does not exist
-- Called   wherever a text is to be a date
create or replace function wf._parse_date(p_text text)
returns date
language plpgsql stable
set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
begin
    if p_text ~ '^\d{4}-\d\d-\d\d$' then
        return p_text::date;
    elsif p_text ~ '^\d{4}-\d\d-\d\d[T ]' then
        return (wf._parse_timestamp(p_text) at time zone 'UTC')::date;
    end if;
    return (wf._fail(format('%s is not a date', wf._describe(to_jsonb(p_text))),
                     'Write a date as in 2026-11-21.') #>> '{}')::date;
end;
$$;

-- wf._parse_duration(p_text)
--
-- Returns  a duration from ISO 8601 (PT1H30M), from words (1 hour 10min 5s; no
--          months or years, because their lengths differ) or from 0
-- Locks    nothing
-- Raises   WF020, or class 22 if it is too long
-- Called   wherever a text is to be a duration
create or replace function wf._parse_duration(p_text text)
returns interval
language plpgsql stable
set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
    v_text    text := lower(btrim(p_text) collate "C"); -- in Turkish the small I is another letter
    v_seconds numeric;
begin
    if length(v_text) > 1000 then
        perform wf._fail(format('%s is not a duration', wf._describe(to_jsonb(p_text))),
                         'A duration has at most 1000 characters.');
    elsif v_text ~ '^p[-0-9.ymwdth]*\d[ymwdhs]$' then
        return upper(v_text collate "C")::interval;
    elsif v_text = '0' then
        return interval '0';
    elsif v_text ~ '^(\d+(\.\d+)?\s*[a-z]+[\s,]*)+$' then
        select sum(part[1]::numeric * case
                   when part[2] in ('ms', 'milli', 'millis', 'msec', 'msecs', 'millisecond', 'milliseconds') then 0.001
                   when part[2] in ('s', 'sec', 'secs', 'second', 'seconds') then 1
                   when part[2] in ('m', 'min', 'mins', 'minute', 'minutes') then 60
                   when part[2] in ('h', 'hr', 'hrs', 'hour', 'hours') then 3600
                   when part[2] in ('d', 'day', 'days') then 86400
                   when part[2] in ('w', 'week', 'weeks') then 604800
                   else (wf._fail(format('"%s" is not a unit of time', part[2]),
                                  'The units are ms, s, m, h, d and w.') #>> '{}')::numeric
               end)
          into v_seconds
          from regexp_matches(v_text, '(\d+(?:\.\d+)?)\s*([a-z]+)', 'g') part;
        return wf._interval(v_seconds);
    end if;
    return (wf._fail(format('%s is not a duration', wf._describe(to_jsonb(p_text))),
                    'Write a duration with its units, as in 1h30m or PT1H30M.') #>> '{}')::interval;
end;
$$;

-- wf._parse_number(p_text)
--
-- Returns  a number from its text
-- Locks    nothing
-- Raises   WF020, or class 22 if it is too large
-- Called   by conversions
create or replace function wf._parse_number(p_text text)
returns numeric
language plpgsql stable
set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
begin
    if p_text ~ '^\s*[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?\s*$' then
        return trim_scale(p_text::numeric);
    end if;
    return wf._fail(format('%s is not a number', wf._describe(to_jsonb(p_text))))::numeric;
end;
$$;

-- wf._whole(p_number)
--
-- Returns  a number as an int
-- Locks    nothing
-- Raises   WF020 if it has a fraction
-- Called   by conversions, and by functions whose value is an int
create or replace function wf._whole(p_number numeric)
returns jsonb
language sql stable
begin atomic
    select case when p_number = trunc(p_number)
                then to_jsonb(trunc(p_number))
                else wf._fail(format('the number %s is not an int', p_number), 'Use round, floor or ceil.')
           end;
end;

-- wf._is_type(p_type)
--
-- Returns  null if p_type is a type as in docs/spec.md, else what is wrong with it
-- Locks    nothing
-- Raises   nothing
-- Called   by install, for every type of a tree
create or replace function wf._is_type(p_type jsonb)
returns text
language plpgsql immutable as $$
declare
    v_key text;
begin
    if p_type <@ '["string", "int", "number", "bool", "json", "list", "object", "date", "timestamp", "duration", '
                 '"secret", "sql", "shell"]'
       and jsonb_typeof(p_type) = 'string'
    then
        return null;
    elsif jsonb_typeof(p_type) = 'object'
      and jsonb_array_length(jsonb_path_query_array(p_type, '$.keyvalue()')) = 1
    then
        if p_type ?| array['list', 'optional'] then
            return wf._is_type(coalesce(p_type -> 'list', p_type -> 'optional'));
        elsif jsonb_typeof(p_type -> 'object') = 'object' then
            for v_key in select f.key from jsonb_each(p_type -> 'object') f loop
                if wf._is_type(p_type -> 'object' -> v_key) is not null then
                    return wf._is_type(p_type -> 'object' -> v_key);
                end if;
            end loop;
            return null;
        end if;
    end if;
    return format('%s is not a type', left(coalesce(p_type::text, 'nothing'), 80));
end;
$$;

-- wf._type_text(p_type)
--
-- Returns  a type as it is written in a workflow: [int], {a: date}?
-- Locks    nothing
-- Raises   nothing
-- Called   for messages
create or replace function wf._type_text(p_type jsonb)
returns text
language plpgsql immutable as $$
begin
    if jsonb_typeof(p_type) = 'string' then
        return p_type #>> '{}';
    elsif p_type ? 'list' then
        return format('[%s]', wf._type_text(p_type -> 'list'));
    elsif p_type ? 'optional' then
        return wf._type_text(p_type -> 'optional') || '?';
    end if;
    return format('{%s}', (select string_agg(format('%s: %s', f.key, wf._type_text(f.value)), ', ')
                             from jsonb_each(p_type -> 'object') f));
end;
$$;

-- wf._is_time(p_type, p_text)
--
-- Returns  whether the text is a date, timestamp or duration
-- Locks    nothing
-- Raises   nothing
-- Called   by _misfit
create or replace function wf._is_time(p_type text, p_text text)
returns boolean
language plpgsql stable as $$
begin
    return case p_type
               when 'date'      then wf._parse_date(p_text) is not null
               when 'timestamp' then wf._parse_timestamp(p_text) is not null
               else                  wf._parse_duration(p_text) is not null
           end;
exception
    when data_exception or sqlstate 'WF020' then
        return false;
end;
$$;

-- wf._misfit(p_type, p_value)
--
-- Compares a value with a type as it stands, without any conversion, and lists and
-- objects with all that is in them. An object may have fields that the type does not name.
--
-- Returns  null if the value fits, else what does not, such as: element 3: null is not an int
-- Locks    nothing
-- Raises   nothing
-- Called   by _cast, and for the elements of lists and objects
create or replace function wf._misfit(p_type jsonb, p_value jsonb)
returns text
language plpgsql stable as $$
declare
    v_is     text := jsonb_typeof(p_value);
    v_fits   boolean;
    v_misfit text;
begin
    if p_type ? 'optional' and jsonb_typeof(p_type) = 'object' then
        return case when p_value <> 'null' then wf._misfit(p_type -> 'optional', p_value) end;
    elsif jsonb_typeof(p_type) = 'object' and p_type ? 'list' and v_is = 'array' then
        v_fits := case p_type ->> 'list'    -- the types of nearly all lists, checked at once
                      when 'string' then not exists (select from jsonb_array_elements(p_value) e
                                                      where jsonb_typeof(e.value) <> 'string')
                      when 'number' then not exists (select from jsonb_array_elements(p_value) e
                                                      where jsonb_typeof(e.value) <> 'number')
                      when 'int'    then not exists (select from jsonb_array_elements(p_value) e
                                                      where case jsonb_typeof(e.value) when 'number'
                                                            then e.value::numeric <> trunc(e.value::numeric)
                                                            else true end)
                  end;
        if v_fits then
            return null;
        end if;
        select format('element %s: %s', e.n - 1, m.misfit)
          into v_misfit
          from jsonb_array_elements(p_value) with ordinality e (value, n)
         cross join lateral (select wf._misfit(p_type -> 'list', e.value) offset 0) m (misfit)
         where m.misfit is not null
         limit 1;
        return v_misfit;
    elsif jsonb_typeof(p_type) = 'object' and p_type ? 'object' and v_is = 'object' then
        select format('field %s: %s', f.key, m.misfit)
          into v_misfit
          from jsonb_each(p_type -> 'object') f
         cross join lateral (select wf._misfit(f.value, p_value -> f.key) offset 0) m (misfit)
         where m.misfit is not null
         limit 1;
        return v_misfit;
    end if;

    v_fits := case p_type #>> '{}'
                  when 'json'      then v_is <> 'null'
                  when 'int'       then v_is = 'number'
                                        and trunc((p_value #>> '{}')::numeric) = (p_value #>> '{}')::numeric
                  when 'number'    then v_is = 'number'
                  when 'bool'      then v_is = 'boolean'
                  when 'list'      then v_is = 'array'
                  when 'object'    then v_is = 'object'
                  when 'date'      then v_is = 'string' and wf._is_time('date', p_value #>> '{}')
                  when 'timestamp' then v_is = 'string' and wf._is_time('timestamp', p_value #>> '{}')
                  when 'duration'  then v_is = 'string' and wf._is_time('duration', p_value #>> '{}')
                  when 'string'    then v_is = 'string'
                  when 'sql'       then v_is = 'string'
                  when 'shell'     then v_is = 'string'
                  when 'secret'    then v_is = 'string'
              end;
    return case when v_fits is not true
                then format('%s where %s is expected', wf._describe(p_value), wf._type_text(p_type)) end;
end;
$$;

-- wf._fits(p_type, p_value)
--
-- Returns  whether a value is of a type as it stands
-- Locks    nothing
-- Raises   nothing
-- Called   wherever the reason is not needed
create or replace function wf._fits(p_type jsonb, p_value jsonb)
returns boolean
language sql stable
begin atomic
    select wf._misfit(p_type, p_value) is null;
end;

-- wf._cast(p_type, p_value)
--
-- Converts numbers, booleans and dates to string, and strings to int, number,
-- bool, date, timestamp and duration (times in the form that values have). Any other
-- value must fit as it stands.
--
-- Returns  the value as p_type
-- Locks    nothing
-- Raises   WF020 if it does not fit
-- Called   by the operator cast and by start, for parameters
create or replace function wf._cast(p_type jsonb, p_value jsonb)
returns jsonb
language plpgsql stable as $$
declare
    v_type jsonb := case when jsonb_typeof(p_type) = 'object' then coalesce(p_type -> 'optional', p_type)
                         else p_type end;
    v_name text  := v_type #>> '{}';
    v_is   text  := jsonb_typeof(p_value);
    v_text text  := case when v_is not in ('array', 'object') then p_value #>> '{}' end;
    v_misfit text;
begin
    if v_is = 'string' then
        case v_name
            when 'string'    then return p_value;
            when 'int'       then return wf._whole(wf._parse_number(v_text));
            when 'number'    then return to_jsonb(wf._parse_number(v_text));
            when 'date'      then return to_jsonb(to_char(wf._parse_date(v_text), 'YYYY-MM-DD'));
            when 'timestamp' then return to_jsonb(wf._iso_timestamp(wf._parse_timestamp(v_text)));
            when 'duration'  then return to_jsonb(wf._iso_duration(wf._parse_duration(v_text)));
            when 'bool'      then
                if v_text in ('true', 'false') then
                    return to_jsonb(v_text = 'true');
                end if;
            else null;
        end case;
    elsif v_name = 'string' and v_is in ('number', 'boolean') then
        return to_jsonb(v_text);
    elsif v_name = 'int' and v_is = 'number' then
        return wf._whole(v_text::numeric);
    end if;

    v_misfit := wf._misfit(p_type, p_value);
    if v_misfit is not null then
        perform wf._fail(v_misfit);
    end if;
    return p_value;
exception
    when data_exception then
        return wf._fail(sqlerrm);
end;
$$;
