-- The functions on text.

-- wf._call_text(p_name, p_args)
--
-- Returns  the value of a function on text
-- Locks    nothing
-- Raises   WF020, or class 22 for a bad regular expression
-- Called   by _call
create or replace function wf._call_text(p_name text, p_args jsonb[])
returns jsonb
language plpgsql stable as $$
begin
    case p_name
        when 'size' then
            return wf._size(p_args[1]);
        when 'string' then
            return wf._built(to_jsonb(wf._text(p_args[1])));
        when 'trim' then
            return to_jsonb(btrim(wf._string(p_name, p_args, 1), e' \t\n\r\f\v'));
        when 'lower' then
            return to_jsonb(lower(wf._string(p_name, p_args, 1)));
        when 'upper' then
            return to_jsonb(upper(wf._string(p_name, p_args, 1)));
        when 'replace' then
            return wf._built(to_jsonb(replace(wf._string(p_name, p_args, 1), wf._string(p_name, p_args, 2),
                                              wf._string(p_name, p_args, 3))));
        when 'split' then
            return to_jsonb(string_to_array(wf._string(p_name, p_args, 1), wf._string(p_name, p_args, 2)));
        when 'join' then
            return wf._built(wf._join(wf._list(p_name, p_args, 1), wf._string(p_name, p_args, 2)));
        when 'starts_with' then
            return to_jsonb(starts_with(wf._string(p_name, p_args, 1), wf._string(p_name, p_args, 2)));
        when 'ends_with' then
            return to_jsonb(right(wf._string(p_name, p_args, 1), length(wf._string(p_name, p_args, 2)))
                            = wf._string(p_name, p_args, 2));
        when 'contains' then
            return wf._contains(p_args);
        when 'substring' then
            return wf._substring(wf._string(p_name, p_args, 1), wf._int(p_name, p_args, 2),
                                 wf._int(p_name, p_args, 3, 2147483647));
        when 'lpad' then
            return wf._built(wf._lpad(wf._string(p_name, p_args, 1), wf._int(p_name, p_args, 2),
                                      wf._string(p_name, p_args, 3, ' ')));
        when 'matches' then
            return to_jsonb(wf._string(p_name, p_args, 1) ~ wf._regex(p_name, p_args));
        when 'capture' then
            return coalesce(to_jsonb(regexp_match(wf._string(p_name, p_args, 1), wf._regex(p_name, p_args))), 'null');
        when 'replace_all' then
            return wf._built(to_jsonb(regexp_replace(wf._string(p_name, p_args, 1), wf._regex(p_name, p_args),
                                                     wf._string(p_name, p_args, 3), 'g')));
        else
            return wf._fail(format('there is no function %s', p_name));
    end case;
end;
$$;

-- wf._size(p_value)
--
-- Returns  how many characters, elements or fields there are
-- Locks    nothing
-- Raises   WF020 for anything else
-- Called   by size
create or replace function wf._size(p_value jsonb)
returns jsonb
language sql stable
begin atomic
    select case jsonb_typeof(p_value)
               when 'string' then to_jsonb(length(p_value #>> '{}'))
               when 'array'  then to_jsonb(jsonb_array_length(p_value))
               when 'object' then to_jsonb((select count(*) from jsonb_object_keys(p_value)))
               else wf._fail_value('argument 1 of size', 'a string, a list or an object', p_value)
           end;
end;

-- wf._join(p_list, p_separator)
--
-- Returns  the elements as text, with the separator between them
-- Locks    nothing
-- Raises   WF020 if an element is null, a list or an object
-- Called   by join
create or replace function wf._join(p_list jsonb, p_separator text)
returns jsonb
language plpgsql stable as $$
begin
    return (select to_jsonb(coalesce(string_agg(wf._text(e.value), p_separator order by e.at), ''))
              from jsonb_array_elements(p_list) with ordinality e (value, at));
end;
$$;

-- wf._contains(p_args)
--
-- Returns  whether the first argument, a string or list, contains the second one as a part or element
-- Locks    nothing
-- Raises   WF020 for anything else
-- Called   by contains
create or replace function wf._contains(p_args jsonb[])
returns jsonb
language plpgsql stable as $$
begin
    if jsonb_typeof(p_args[1]) = 'array' and jsonb_typeof(p_args[2]) not in ('array', 'object') then
        return to_jsonb(p_args[1] @> jsonb_build_array(p_args[2]));    -- ten times faster than a look at each one
    elsif jsonb_typeof(p_args[1]) = 'array' then
        return (select to_jsonb(coalesce(bool_or(e.value = p_args[2]), false)) from jsonb_array_elements(p_args[1]) e);
    elsif jsonb_typeof(p_args[1]) = 'string' then
        return to_jsonb(strpos(p_args[1] #>> '{}', wf._string('contains', p_args, 2)) > 0);
    end if;
    return wf._fail_value('argument 1 of contains', 'a string or a list', p_args[1]);
end;
$$;

-- wf._substring(p_text, p_start, p_length)
--
-- Returns  p_length characters from p_start on; p_start counts from 0, or from the end if it is negative
-- Locks    nothing
-- Raises   WF020 for a negative length
-- Called   by substring
create or replace function wf._substring(p_text text, p_start integer, p_length integer)
returns jsonb
language plpgsql stable as $$
declare
    v_start bigint := case when p_start < 0 then greatest(length(p_text) + p_start::bigint, 0) else p_start end;
begin
    if p_length < 0 then
        return wf._fail(format('argument 3 of substring must be 0 or more, not %s', p_length));
    elsif v_start >= length(p_text) then
        return '""'::jsonb;
    end if;
    return to_jsonb(left(substr(p_text, v_start::integer + 1), p_length));
end;
$$;

-- wf._lpad(p_text, p_length, p_fill)
--
-- Returns  the text, filled up on the left; it is never cut
-- Locks    nothing
-- Raises   WF020 beyond a million characters
-- Called   by lpad
create or replace function wf._lpad(p_text text, p_length integer, p_fill text)
returns jsonb
language sql stable
begin atomic
    select case when p_length > 1000000
                then wf._fail(format('argument 2 of lpad must be at most 1000000, not %s', p_length))
                else to_jsonb(lpad(p_text, greatest(p_length, length(p_text)), p_fill))
           end;
end;
