-- The functions on lists and objects.

-- wf._call_list(p_name, p_args)
--
-- Returns  the value of a function on lists
-- Locks    nothing
-- Raises   WF020
-- Called   by _call
create or replace function wf._call_list(p_name text, p_args jsonb[])
returns jsonb
language plpgsql stable as $$
declare
    v_list jsonb := wf._list(p_name, p_args, 1);
begin
    case p_name
        when 'first' then
            return coalesce(v_list -> 0, 'null');
        when 'last' then
            return coalesce(v_list -> -1, 'null');
        when 'sort' then
            return wf._sort(p_name, v_list);
        when 'min', 'max' then
            return wf._extreme(p_name, v_list);
        when 'sum' then
            return wf._sum(v_list);
        when 'concat' then
            return v_list || wf._list(p_name, p_args, 2);
        when 'slice' then
            return wf._slice(v_list, wf._int(p_name, p_args, 2), wf._int(p_name, p_args, 3, 2147483647));
        when 'reverse' then
            return (select coalesce(jsonb_agg(e.value order by e.at desc), '[]')
                      from jsonb_array_elements(v_list) with ordinality e (value, at));
        when 'unique' then
            return (select coalesce(jsonb_agg(u.value order by u.at), '[]')
                      from (select e.value, min(e.at)
                              from jsonb_array_elements(v_list) with ordinality e (value, at)
                             group by e.value) u (value, at));
        when 'flatten' then
            return (select coalesce(jsonb_agg(part.value order by e.at, part.at), '[]')
                      from jsonb_array_elements(v_list) with ordinality e (value, at)
                     cross join lateral jsonb_array_elements(case jsonb_typeof(e.value) when 'array' then e.value
                                                             else jsonb_build_array(e.value) end)
                                        with ordinality part (value, at));
        else
            return wf._fail(format('there is no function %s', p_name));
    end case;
end;
$$;

-- wf._same_type(p_function, p_list)
--
-- Returns  the type that all elements have; null for an empty list
-- Locks    nothing
-- Raises   WF020 if they are not all numbers, all strings or all booleans
-- Called   by _sort and _extreme
create or replace function wf._same_type(p_function text, p_list jsonb)
returns text
language plpgsql stable as $$
declare
    v_types text[];
begin
    select array_agg(distinct jsonb_typeof(e.value)) into v_types from jsonb_array_elements(p_list) e;
    if cardinality(v_types) > 1 or not v_types <@ '{number,string,boolean}' then
        perform wf._fail(format('the elements for %s must be all numbers, all strings or all booleans', p_function));
    end if;
    return v_types[1];
end;
$$;

-- wf._extreme(p_function, p_list)
--
-- Returns  the least or the greatest element, null for an empty list
-- Locks    nothing
-- Raises   WF020 for elements other than numbers, strings or booleans, and if they are not all of one type
-- Called   by min and max
create or replace function wf._extreme(p_function text, p_list jsonb)
returns jsonb
language plpgsql stable as $$
begin
    if wf._same_type(p_function, p_list) = 'number' then
        return (select to_jsonb(case p_function when 'min' then min(e.value::numeric) else max(e.value::numeric) end)
                  from jsonb_array_elements(p_list) e);
    end if;
    return coalesce(wf._sort(p_function, p_list) -> case p_function when 'min' then 0 else -1 end, 'null');
end;
$$;

-- wf._sort(p_function, p_list)
--
-- Returns  a list of numbers, strings or booleans in ascending order
-- Locks    nothing
-- Raises   WF020 for other elements, and if they are not all of one type
-- Called   by sort, and by _extreme for strings and booleans
create or replace function wf._sort(p_function text, p_list jsonb)
returns jsonb
language plpgsql stable as $$
begin
    perform wf._same_type(p_function, p_list);
    return (select coalesce(jsonb_agg(e.value order by
                       case jsonb_typeof(e.value) when 'number' then e.value::numeric end,
                       case when jsonb_typeof(e.value) <> 'number' then e.value #>> '{}' end collate "C"), '[]')
              from jsonb_array_elements(p_list) e);
end;
$$;

-- wf._sum(p_list)
--
-- Returns  the sum of a list of numbers
-- Locks    nothing
-- Raises   WF020 if an element is not a number
-- Called   by sum
create or replace function wf._sum(p_list jsonb)
returns jsonb
language plpgsql stable as $$
begin
    return (select to_jsonb(trim_scale(coalesce(sum(
                       case jsonb_typeof(e.value) when 'number' then e.value
                       else wf._fail_value(format('element %s for sum', e.at - 1), 'a number', e.value)
                       end::numeric), 0)))
              from jsonb_array_elements(p_list) with ordinality e (value, at));
end;
$$;

-- wf._slice(p_list, p_from, p_to)
--
-- Returns  the elements from p_from up to, not including, p_to; negative numbers count from the end
-- Locks    nothing
-- Raises   nothing
-- Called   by slice
create or replace function wf._slice(p_list jsonb, p_from integer, p_to integer)
returns jsonb
language plpgsql stable as $$
declare
    v_size bigint := jsonb_array_length(p_list);
    v_from bigint := case when p_from < 0 then p_from + v_size else p_from end;
    v_to   bigint := case when p_to < 0 then p_to + v_size else p_to end;
begin
    return (select coalesce(jsonb_agg(e.value order by e.at), '[]')
              from jsonb_array_elements(p_list) with ordinality e (value, at)
             where e.at > v_from and e.at <= v_to);
end;
$$;

-- wf._call_object(p_name, p_args)
--
-- Returns  the value of a function on objects
-- Locks    nothing
-- Raises   WF020
-- Called   by _call
create or replace function wf._call_object(p_name text, p_args jsonb[])
returns jsonb
language plpgsql stable as $$
declare
    v_object jsonb := wf._object(p_name, p_args, 1);
begin
    case p_name
        when 'has' then
            return to_jsonb(v_object ? wf._string(p_name, p_args, 2));
        when 'merge' then
            return v_object || wf._object(p_name, p_args, 2);
        when 'keys' then
            return (select coalesce(jsonb_agg(f.key order by f.key collate "C"), '[]') from jsonb_each(v_object) f);
        when 'values' then
            return (select coalesce(jsonb_agg(f.value order by f.key collate "C"), '[]') from jsonb_each(v_object) f);
        when 'entries' then
            return (select coalesce(jsonb_agg(jsonb_build_object('key', f.key, 'value', f.value)
                                              order by f.key collate "C"), '[]')
                      from jsonb_each(v_object) f);
        else
            return wf._fail(format('there is no function %s', p_name));
    end case;
end;
$$;
