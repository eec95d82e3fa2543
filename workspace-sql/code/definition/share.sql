-- How many elements of a forall its max and its tolerate mean.

-- wf._elements_meant(p_text, p_total)
--
-- Works out how many of p_total elements a text means: a number, a percentage
-- (rounded down, but at least 1 if it is not 0%), all, sums and differences of those, and
-- min(…) and max(…) of them. A text that begins with a minus means all but that many.
--
-- Returns  the number; null if the text is none of these
-- Locks    nothing
-- Raises   nothing
-- Called   by _measure_window and _spec_constants
create or replace function wf._elements_meant(p_text text, p_total bigint) returns numeric
language plpgsql immutable as $$
declare
    v_text text := regexp_replace(lower(p_text collate "C"), '[[:space:]]', '', 'g');
    v_part text[];
    v_value numeric;
begin
    if p_text ~* '[0-9.%l][[:space:]]+[0-9.a]' then
        return null;
    end if;
    -- the innermost parentheses first
    loop
        v_part := regexp_match(v_text, '^(.*?)(min|max|)[(]([^()]*)[)](.*)$');
        exit when v_part is null;
        select case v_part[2] when 'min' then min(e.count) else max(e.count) end
          into v_value
          from string_to_table(v_part[3], ',') t
         cross join lateral (select wf._elements_meant(t, p_total) as count) e
        having count(*) = count(e.count) and (v_part[2] <> '' or count(*) = 1);
        if v_value is null then
            return null;
        end if;
        v_text := v_part[1] || case when v_value < 0 then '+' else '' end || trim_scale(v_value) || v_part[4];
    end loop;
    if v_text !~ '^[+-]*([0-9]{1,9}([.][0-9]{1,9})?%?|all)([+-]+([0-9]{1,9}([.][0-9]{1,9})?%?|all))*$' then
        return null;
    end if;
    select sum(case when length(replace(m[1], '+', '')) % 2 = 1 then -1 else 1 end
               * case when m[2] = 'all' then p_total
                      when right(m[2], 1) = '%' then greatest(floor(rtrim(m[2], '%')::numeric * p_total / 100),
                                                         least(1, ceil(rtrim(m[2], '%')::numeric)))
                      else m[2]::numeric end)
           + case when v_text like '-%' then p_total else 0 end
      into v_value
      from regexp_matches(v_text, '([+-]*)([0-9.]+%?|all)', 'g') m;
    return floor(v_value);
end;
$$;

-- wf._tolerance()
--
-- Returns  the pattern of what a forall may tolerate: an int, or a percentage
-- Locks    nothing
-- Raises   nothing
-- Called   by _measure_window and _spec_constants
create or replace function wf._tolerance() returns text
language sql immutable
begin atomic
    select '^[[:space:]]*[0-9]{1,9}([[:space:]]*|([.][0-9]{1,9})?[[:space:]]*%[[:space:]]*)$';
end;
