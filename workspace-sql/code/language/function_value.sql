-- The functions on numbers, times and JSON, and the functions that quote.

-- wf._call_number(p_name, p_args)
--
-- Returns  the value of a function on numbers
-- Locks    nothing
-- Raises   WF020, or class 22
-- Called   by _call
create or replace function wf._call_number(p_name text, p_args jsonb[])
returns jsonb
language plpgsql stable as $$
declare
    v_number numeric := case when p_name in ('int', 'number') and jsonb_typeof(p_args[1]) = 'string'
                             then wf._parse_number(p_args[1] #>> '{}')
                             else wf._number(p_name, p_args, 1) end;
begin
    case p_name
        when 'int'    then return wf._whole(v_number);
        when 'number' then return to_jsonb(trim_scale(v_number));
        when 'abs'    then return to_jsonb(trim_scale(abs(v_number)));
        when 'ceil'   then return to_jsonb(ceil(v_number));
        when 'floor'  then return to_jsonb(floor(v_number));
        when 'round'  then return to_jsonb(trim_scale(round(v_number, wf._int(p_name, p_args, 2, 0))));
        else               return wf._fail(format('there is no function %s', p_name));
    end case;
end;
$$;

-- wf._call_time(p_name, p_args)
--
-- Returns  the value of a function on times
-- Locks    nothing
-- Raises   WF020, or class 22
-- Called   by _call
create or replace function wf._call_time(p_name text, p_args jsonb[])
returns jsonb
language plpgsql stable as $$
begin
    case p_name
        when 'now' then
            return to_jsonb(wf._iso_timestamp(wf.now()));
        when 'today' then
            return to_jsonb(to_char(wf.now() at time zone wf._string(p_name, p_args, 1, 'UTC'), 'YYYY-MM-DD'));
        when 'date' then
            return to_jsonb(to_char(wf._parse_date(wf._string(p_name, p_args, 1)), 'YYYY-MM-DD'));
        when 'timestamp' then
            return to_jsonb(wf._iso_timestamp(wf._parse_timestamp(wf._string(p_name, p_args, 1))));
        when 'duration' then
            return to_jsonb(wf._iso_duration(wf._parse_duration(wf._string(p_name, p_args, 1))));
        when 'seconds' then
            return to_jsonb(trim_scale(extract(epoch from wf._parse_duration(wf._string(p_name, p_args, 1)))));
        when 'format_time' then
            if length(wf._string(p_name, p_args, 2)) > 1000 then
                return wf._fail('argument 2 of format_time must have at most 1000 characters');
            end if;
            return to_jsonb(to_char(wf._parse_timestamp(wf._string(p_name, p_args, 1))
                                        at time zone wf._string(p_name, p_args, 3, 'UTC'),
                                    wf._string(p_name, p_args, 2)));
        else
            return wf._fail(format('there is no function %s', p_name));
    end case;
end;
$$;

-- wf._call_json(p_name, p_args)
--
-- Returns  the value of a function on JSON
-- Locks    nothing
-- Raises   WF020, or class 22 and 42601 for text that cannot be parsed
-- Called   by _call
create or replace function wf._call_json(p_name text, p_args jsonb[])
returns jsonb
language plpgsql stable as $$
begin
    case p_name
        when 'json' then
            return wf._built(wf._json(p_args[1]));
        when 'parse' then
            return wf._string(p_name, p_args, 1)::jsonb;
        when 'path' then
            return jsonb_path_query_array(p_args[1], wf._json_path(p_args));
        when 'typeof' then
            return to_jsonb(case jsonb_typeof(p_args[1])
                                when 'array'   then 'list'
                                when 'boolean' then 'bool'
                                else jsonb_typeof(p_args[1])
                            end);
        else
            return wf._fail(format('there is no function %s', p_name));
    end case;
end;
$$;

-- wf._json(p_value)
--
-- Returns  the JSON text of a value, as a string
-- Locks    nothing
-- Raises   WF021 if the text would be far longer than the value
-- Called   by json
create or replace function wf._json(p_value jsonb)
returns jsonb
language plpgsql stable as $$
declare
    v_long boolean := false;
begin
    if pg_column_size(p_value) > 1024 then    -- asked in three statements, since each keeps memory until it ends
        v_long := jsonb_path_exists(p_value, 'strict $.** ? (@ >= 1e1000)');
        v_long := v_long or jsonb_path_exists(p_value, 'strict $.** ? (@ <= -1e1000)');
        v_long := v_long or jsonb_path_exists(p_value, 'strict $.** ? (@ != 0 && @ > -1e-1000 && @ < 1e-1000)');
    end if;
    if v_long then
        return wf._fail_limit('numbers from 1e1000 on, and those nearer to 0 than 1e-1000, '
                              'cannot stand in a large text');
    end if;
    return to_jsonb(p_value::text);
end;
$$;

-- wf._call_quoting(p_name, p_args)
--
-- Returns  the value of a function that quotes or encodes
-- Locks    nothing
-- Raises   WF020
-- Called   by _call
create or replace function wf._call_quoting(p_name text, p_args jsonb[])
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp set quote_all_identifiers = off as $$
begin
    case p_name
        when 'sh' then
            return to_jsonb(wf._shell_words(p_args[1]));
        when 'quote_ident' then
            return to_jsonb(quote_ident(wf._string(p_name, p_args, 1)));
        when 'url_encode' then
            return to_jsonb(wf._url_encode(wf._string(p_name, p_args, 1)));
        when 'base64' then
            return to_jsonb(translate(encode(convert_to(wf._string(p_name, p_args, 1), 'UTF8'), 'base64'), e'\n', ''));
        when 'sha256' then
            return to_jsonb(encode(sha256(convert_to(wf._string(p_name, p_args, 1), 'UTF8')), 'hex'));
        else
            return wf._fail(format('there is no function %s', p_name));
    end case;
end;
$$;

-- wf._shell_words(p_value)
--
-- Between single quotes only the single quote is special to a shell; it is
-- written '\'' .
--
-- Returns  a value as one word of a POSIX shell; a list as one word for each element
-- Locks    nothing
-- Raises   WF020 if the value is null or an object, or holds one
-- Called   by sh
create or replace function wf._shell_words(p_value jsonb)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
begin
    return (select coalesce(string_agg('''' || replace(wf._text(e.value), '''', '''\''''') || '''', ' '
                                       order by e.at), '')
              from jsonb_array_elements(case jsonb_typeof(p_value) when 'array' then p_value
                                        else jsonb_build_array(p_value) end)
                   with ordinality e (value, at));
end;
$$;

-- wf._url_encode(p_text)
--
-- Returns  the text with every byte percent-encoded, except unreserved ones (RFC 3986)
-- Locks    nothing
-- Raises   nothing
-- Called   by url_encode
create or replace function wf._url_encode(p_text text)
returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
begin
    return (select coalesce(string_agg(
                       case when c.value ~ '[A-Za-z0-9._~-]' collate "C" then c.value
                            else regexp_replace(upper(encode(convert_to(c.value, 'UTF8'), 'hex')), '..', '%\&', 'g')
                       end, '' order by c.at), '')
              from string_to_table(p_text, null) with ordinality c (value, at));
end;
$$;
