-- The times that a cron expression names, in a time zone: the language of cron(5), with
-- seconds if there are six fields.
--
-- If the clock of the zone jumps, this follows Debian's cron(8). If the minute or the hour
-- begins with *, the expression counts the time that passes: it does not fire at a time that
-- the clock leaves out, and fires twice at a time that the clock shows twice. Any other
-- expression names times of day: it fires at the moment of the jump for a time that the clock
-- leaves out, and only once at a time that the clock shows twice, the first time. So a daily
-- job runs exactly once a day.

-- An upgrade makes the type anew: here no function uses it any more. Tables store the text of such a value instead.
drop type if exists wf.cron;
create type wf.cron as (
    seconds int[], minutes int[], hours int[], days int[], months int[], weekdays int[], either boolean,
    passing boolean
);
comment on type wf.cron is
    'The values that the fields of a cron expression name, each field as a list in ascending order. If either is true, '
    'both the number of the day and the weekday were given, and a day fits if one of them fits. passing is true if the '
    'minute or the hour begins with *.';

-- wf._refuse_cron(p_message)
--
-- Returns  nothing, it raises
-- Locks    nothing
-- Raises   WF002
-- Called   by the functions that parse cron expressions
create or replace function wf._refuse_cron(p_message text) returns void
language plpgsql immutable as $$
begin
    raise exception using errcode = 'WF002', message = p_message,
        hint = 'Give minute, hour, day of the month, month and day of the week, and the second before them if there '
               'are six: numbers, names, *, ranges a-b, steps */n, and lists of these; such as 30 2 * * mon-fri. '
               '@hourly, @daily, @weekly, @monthly and @yearly are short for such expressions.';
end;
$$;

-- wf._cron_number(p_text, p_field, p_low, p_high, p_names)
--
-- Returns  the number that a part of a field names, as a number or as one of p_names, the first of which is p_low
-- Locks    nothing
-- Raises   WF002
-- Called   by _cron_field
create or replace function wf._cron_number(p_text text, p_field text, p_low int, p_high int, p_names text[])
returns int
language plpgsql immutable as $$
declare
    v_number constant int := case when p_text ~ '^[0-9]{1,4}$' then p_text::int
                                  else array_position(p_names, lower(p_text collate "C")) - 1 + p_low end;
begin
    if (v_number between p_low and p_high) is not true then
        perform wf._refuse_cron(format('the %s cannot be %s: it is a number from %s to %s%s', p_field,
                                       quote_literal(left(p_text, 40)), p_low, p_high,
                                       ', or one of ' || array_to_string(p_names, ', ')));
    end if;
    return v_number;
end;
$$;

-- wf._cron_field(p_text, p_field, p_low, p_high, p_names)
--
-- Returns  the numbers that a field of a cron expression names, in ascending order
-- Locks    nothing
-- Raises   WF002
-- Called   by _parse_cron
create or replace function wf._cron_field(p_text text, p_field text, p_low int, p_high int, p_names text[] default null)
returns int[]
language plpgsql immutable set standard_conforming_strings = on as $$
declare
    v_part text;
    v_match text[];
    v_from int;
    v_to int;
    v_step int;
    v_all int[] := array[]::int[];
begin
    foreach v_part in array string_to_array(p_text, ',') loop
        v_match := regexp_match(v_part, '^(?:(\*)|([[:alnum:]]+)(?:-([[:alnum:]]+))?)(?:/([0-9]{1,4}))?$');
        if v_match is null then
            perform wf._refuse_cron(format('%s is no %s', quote_literal(left(v_part, 40)), p_field));
        end if;
        v_step := coalesce(v_match[4]::int, 1);
        if v_match[1] is not null then
            v_from := p_low;
            v_to := p_high;
        else
            v_from := wf._cron_number(v_match[2], p_field, p_low, p_high, p_names);
            -- 5/15 means 5-59/15
            v_to := case when v_match[3] is not null
                         then wf._cron_number(v_match[3], p_field, p_low, p_high, p_names)
                         when v_match[4] is not null then p_high else v_from end;
        end if;
        if v_step = 0 or v_to < v_from then
            perform wf._refuse_cron(format('%s names no %s: %s', quote_literal(left(v_part, 40)), p_field,
                                           case when v_step = 0 then 'a step is at least 1'
                                                else 'the range ends before it begins' end));
        end if;
        v_all := v_all || array(select generate_series(v_from, v_to, v_step));
    end loop;
    return array(select distinct u.number from unnest(v_all) u (number) order by 1);
end;
$$;

-- wf._parse_cron(p_text)
--
-- Returns  the values that a cron expression names
-- Locks    nothing
-- Raises   WF002
-- Called   by _set_schedule
create or replace function wf._parse_cron(p_text text) returns wf.cron
language plpgsql immutable set standard_conforming_strings = on as $$
declare
    c_months constant text[] := string_to_array('jan feb mar apr may jun jul aug sep oct nov dec', ' ');
    c_weekdays constant text[] := string_to_array('sun mon tue wed thu fri sat', ' ');
    v_text constant text := case lower(btrim(p_text) collate "C")
        when '@hourly' then '0 * * * *' when '@daily' then '0 0 * * *' when '@midnight' then '0 0 * * *'
        when '@weekly' then '0 0 * * 0' when '@monthly' then '0 0 1 * *' when '@yearly' then '0 0 1 1 *'
        when '@annually' then '0 0 1 1 *' else btrim(p_text) end;
    v_fields text[] := regexp_split_to_array(v_text, '[[:space:]]+');
    v_cron wf.cron;
begin
    if octet_length(p_text) > 1000 then
        perform wf._refuse_cron(format('a cron expression has at most 1000 bytes, not %s', octet_length(p_text)));
    elsif cardinality(v_fields) not in (5, 6) then
        perform wf._refuse_cron(format('%s is not a cron expression: it has %s fields instead of 5 or 6',
                                       quote_literal(left(p_text, 100)), cardinality(v_fields)));
    elsif cardinality(v_fields) = 5 then
        v_fields := '0'::text || v_fields;
    end if;
    v_cron.seconds := wf._cron_field(v_fields[1], 'second', 0, 59);
    v_cron.minutes := wf._cron_field(v_fields[2], 'minute', 0, 59);
    v_cron.hours := wf._cron_field(v_fields[3], 'hour', 0, 23);
    v_cron.days := wf._cron_field(v_fields[4], 'day of the month', 1, 31);
    v_cron.months := wf._cron_field(v_fields[5], 'month', 1, 12, c_months);
    -- Sunday is 0 and 7
    v_cron.weekdays := array(select distinct d.number % 7
                               from unnest(wf._cron_field(v_fields[6], 'day of the week', 0, 7, c_weekdays))
                                    d (number) order by 1);
    v_cron.either := v_fields[4] !~ '^\*' and v_fields[6] !~ '^\*';
    v_cron.passing := v_fields[2] ~ '^\*' or v_fields[3] ~ '^\*';
    if wf._cron_day(v_cron, '2000-01-01') is null then
        perform wf._refuse_cron(format('%s never fires: no year has such a day', quote_literal(p_text)));
    end if;
    return v_cron;
end;
$$;

-- wf._cron_fits(p_cron, p_day)
--
-- Returns  whether a day is one of those that a cron expression names
-- Locks    nothing
-- Raises   nothing
-- Called   by _cron_day and _cron_after
create or replace function wf._cron_fits(p_cron wf.cron, p_day date) returns boolean
language sql immutable
begin atomic
    select extract(month from p_day)::int = any (p_cron.months)
           and case when p_cron.either
                    then extract(day from p_day)::int = any (p_cron.days)
                         or extract(dow from p_day)::int = any (p_cron.weekdays)
                    else extract(day from p_day)::int = any (p_cron.days)
                         and extract(dow from p_day)::int = any (p_cron.weekdays) end;
end;

-- wf._cron_day(p_cron, p_day)
--
-- Most expressions name a day of the next two months. For the others this passes over the
-- months that they do not name, each as a whole. The calendar repeats itself after 400 years,
-- so a day that is not found by then does not exist.
--
-- Returns  the first day after p_day that a cron expression names; null if no day fits
-- Locks    nothing
-- Raises   nothing
-- Called   by _parse_cron and _cron_after
create or replace function wf._cron_day(p_cron wf.cron, p_day date) returns date
language plpgsql immutable as $$
declare
    v_day date := p_day;
    v_month date;
    v_found date;
begin
    for k in 1 .. 62 loop
        v_day := v_day + 1;
        if wf._cron_fits(p_cron, v_day) then
            return v_day;
        end if;
    end loop;
    for k in 0 .. 400 * 12 loop
        v_month := date_trunc('month', v_day) + make_interval(months => k);
        if extract(month from v_month)::int = any (p_cron.months) then
            select min(v_month + d.number) into v_found from generate_series(0, 30) d (number)
             where v_month + d.number > v_day and wf._cron_fits(p_cron, v_month + d.number);
            exit when v_found is not null;
        end if;
    end loop;
    return v_found;
end;
$$;

-- wf._cron_larger(p_numbers, p_number)
--
-- Returns  the first of these numbers, in ascending order, that is larger than a number; null if none is
-- Locks    nothing
-- Raises   nothing
-- Called   by _cron_after
create or replace function wf._cron_larger(p_numbers int[], p_number int) returns int
language sql immutable
begin atomic
    -- the place of the last number that is not larger
    select p_numbers[width_bucket(p_number, p_numbers) + 1];
end;

-- wf._cron_after(p_cron, p_local)
--
-- Returns  the first moment after p_local that a cron expression names, by a clock that never jumps; null if no
--          moment fits
-- Locks    nothing
-- Raises   nothing
-- Called   by _cron_next
create or replace function wf._cron_after(p_cron wf.cron, p_local timestamp) returns timestamp
language plpgsql immutable as $$
declare
    v_day date := p_local::date;
    v_hour constant int := extract(hour from p_local);
    v_minute constant int := extract(minute from p_local);
    v_second int;
    v_number int;
begin
    if wf._cron_fits(p_cron, v_day) then
        if v_hour = any (p_cron.hours) then
            v_second := floor(extract(second from p_local));
            v_number := wf._cron_larger(p_cron.seconds, v_second);
            if v_number is not null and v_minute = any (p_cron.minutes) then
                return v_day + make_time(v_hour, v_minute, v_number);
            end if;
            v_number := wf._cron_larger(p_cron.minutes, v_minute);
            if v_number is not null then
                return v_day + make_time(v_hour, v_number, p_cron.seconds[1]);
            end if;
        end if;
        v_number := wf._cron_larger(p_cron.hours, v_hour);
        if v_number is not null then
            return v_day + make_time(v_number, p_cron.minutes[1], p_cron.seconds[1]);
        end if;
    end if;
    v_day := wf._cron_day(p_cron, v_day);
    return v_day + make_time(p_cron.hours[1], p_cron.minutes[1], p_cron.seconds[1]);
end;
$$;

-- wf._ahead(p_at, p_zone)
--
-- Returns  how far the clock of a time zone is ahead of UTC at a moment
-- Locks    nothing
-- Raises   nothing
-- Called   by _jump, _cron_next and _cron_note
create or replace function wf._ahead(p_at timestamptz, p_zone text) returns interval
language sql stable
begin atomic
    select (p_at at time zone p_zone) - (p_at at time zone 'UTC');
end;

-- wf._jump(p_from, p_to, p_zone)
--
-- Returns  the moment between p_from and p_to, to the second, from which on the clock of a time zone is as far ahead of
--          UTC as at p_to
-- Locks    nothing
-- Raises   nothing
-- Called   by _cron_next
create or replace function wf._jump(p_from timestamptz, p_to timestamptz, p_zone text) returns timestamptz
language plpgsql stable as $$
declare
    v_ahead constant interval := wf._ahead(p_to, p_zone);
    v_low bigint := floor(extract(epoch from p_from));
    v_high bigint := ceil(extract(epoch from p_to));
    v_middle bigint;
begin
    while v_high - v_low > 1 loop
        v_middle := (v_low + v_high) / 2;
        if wf._ahead(to_timestamp(v_middle), p_zone) = v_ahead then
            v_high := v_middle;
        else
            v_low := v_middle;
        end if;
    end loop;
    return to_timestamp(v_high);
end;
$$;

-- wf._cron_next(p_cron, p_zone, p_after)
--
-- Looks for the moment as if the clock did not jump after p_after. If the clock jumps before
-- the moment that is found, this looks again from the jump on.
--
-- Returns  the first moment after p_after that a cron expression names; null if no moment
--          fits
-- Locks    nothing
-- Raises   nothing
-- Called   by _schedule_after
create or replace function wf._cron_next(p_cron wf.cron, p_zone text, p_after timestamptz) returns timestamptz
language plpgsql stable as $$
declare
    c_second constant interval := interval '1 second';
    c_day constant interval := interval '1 day'; -- no clock jumps twice in a day
    v_ahead interval := wf._ahead(p_after, p_zone);
    v_before interval := case when not p_cron.passing then wf._ahead(p_after - c_day, p_zone) end;
    v_from timestamptz := p_after;
    v_local timestamp := p_after at time zone p_zone;
    v_at timestamptz;
begin
    if v_before > v_ahead then
        -- the clock was put back: until it has caught up, it shows times that it has shown before
        v_local := greatest(v_local, (wf._jump(p_after - c_day, p_after, p_zone) at time zone 'UTC')
                                     + v_before - c_second);
    end if;
    loop
        v_local := wf._cron_after(p_cron, v_local);
        v_at := (v_local - v_ahead) at time zone 'UTC';
        exit when v_at is null or wf._ahead(v_at, p_zone) = v_ahead;
        v_from := wf._jump(v_from, v_at, p_zone);
        v_before := v_ahead;
        v_ahead := wf._ahead(v_from, p_zone);
        if not p_cron.passing and v_local < (v_from at time zone p_zone) then
            return v_from; -- the clock leaves out the time that was found
        end if;
        v_local := (v_from at time zone 'UTC') - c_second
                   + case when p_cron.passing then v_ahead else greatest(v_before, v_ahead) end;
    end loop;
    v_before := case when not p_cron.passing then wf._ahead(v_at - c_day, p_zone) end;
    if v_before > v_ahead and wf._ahead((v_local - v_before) at time zone 'UTC', p_zone) = v_before then
        return (v_local - v_before) at time zone 'UTC'; -- the clock shows this time twice: the first one
    end if;
    return v_at;
end;
$$;
