-- Bounds what a JSON path may cost.

-- wf._depth(p_value)
--
-- Returns  how deep the lists and objects in a value are nested, or up to twice that
-- Locks    nothing
-- Raises   nothing
-- Called   by _json_path
create or replace function wf._depth(p_value jsonb)
returns integer
language plpgsql immutable as $$
declare
    v_depth integer := 2;
begin
    while jsonb_path_exists(p_value, format('strict $.**{%s}', v_depth)::jsonpath) loop
        v_depth := 2 * v_depth;
    end loop;
    return v_depth;
end;
$$;

-- wf._json_path(p_args)
--
-- A JSON path looks at each value once for each part of the path. Some parts multiply
-- that: a list of subscripts by its length, ** by the depth of the value, and a
-- comparison of two paths or another $ by the number of all values.
--
-- Returns  the path; the call is charged for it
-- Locks    nothing
-- Raises   WF020 if it is not a string, WF021 if it may take too long, 42601 if it is not a path
-- Called   by path
create or replace function wf._json_path(p_args jsonb[])
returns jsonpath
language plpgsql stable
set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
    v_path   text    := wf._string('path', p_args, 2);
    v_size   numeric := pg_column_size(p_args[1]);
    v_regex  numeric := 0;
    v_pairs  integer;
    v_factor numeric;
begin
    if length(v_path) > 1000 then
        perform wf._fail_limit(format('the path has %s characters, more than the 1000 allowed', length(v_path)));
    elsif v_size <= 1024 and v_path !~ '[,@]|\*\*|\$.*\$' then
        return v_path::jsonpath;
    elsif strpos(v_path, 'like_regex') > 0 then
        v_regex := (select w.weight from wf._regex_weight(v_path) w);
        if v_path ~ '\\[1-9]' or v_regex > 2000 then
            perform wf._fail_limit('the regular expression in the path may take any time',
                                   'Use no back references, and repetitions up to 2000 characters.');
        end if;
    end if;

    v_pairs := wf._occurrences(v_path, '$') - 1
               + (select count(*)
                     from regexp_matches(v_path, '[@$][^()&|!?=<>]*(?:[=<>]+|starts with)[^()&|!?=<>]*[@$]', 'g'));
    v_factor := 2 ^ wf._occurrences(v_path, ',')
                * case when strpos(v_path, '**') > 0 then wf._depth(p_args[1]) else 1 end
                  ^ wf._occurrences(v_path, '**');
    if wf._charge(v_size * v_factor * (v_size / 8) ^ greatest(v_pairs, 0)
                       * (v_regex / 800 + (1 + wf._occurrences(v_path, '?') + wf._occurrences(v_path, '@')) / 256),
                       case when v_factor > 1 then v_size * v_factor else 0 end) then end if;
    return v_path::jsonpath;
end;
$$;
