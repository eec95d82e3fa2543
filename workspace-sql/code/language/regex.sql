-- Bounds what a regular expression may cost.
--
-- The time in which PostgreSQL finds out whether a regular expression matches is
-- proportional to the text and to the expression. Four things break that, and each
-- has a bound here. A back reference, and a capture that is repeated, may take
-- exponential time. Counted repetitions inside each other make an expression large
-- before it is used. An expression that matches a long part and then fails (\s+$) is
-- tried from each character, so its time is the square of the text.

-- wf._regex_weight(p_plain)
--
-- Reads a regular expression in which each escape and each set of characters
-- is one letter.
--
-- Returns  how long the expression is with its repetitions written out, and whether one of them repeats a capture
-- Locks    nothing
-- Raises   nothing
-- Called   by _regex
create or replace function wf._regex_weight(p_plain text, out weight numeric, out repeats boolean)
language plpgsql immutable
set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
    v_weights  numeric[] := array[0];     -- the weight so far of each open group
    v_captures boolean[] := array[false]; -- whether the group is or holds a capture
    v_top      integer   := 1;
    v_last     numeric   := 0;          -- the weight of the atom before
    v_capture  boolean   := false;
    v_times    numeric;
    v_token    text;
begin
    repeats := false;
    for v_token in
        select m[1] from regexp_matches(p_plain, '(\(\?:|\(\?<?[=!]|\{\d+(?:,\d*)?\}|.)', 'g') m
    loop
        if left(v_token, 1) = '(' then
            v_top := v_top + 1;
            v_weights[v_top]  := 1;
            v_captures[v_top] := v_token = '(';
            v_last := 0;
        elsif v_token = ')' and v_top > 1 then
            v_last    := v_weights[v_top];
            v_capture := v_captures[v_top];
            v_top     := v_top - 1;
            v_weights[v_top]  := v_weights[v_top] + v_last;
            v_captures[v_top] := v_captures[v_top] or v_capture;
        elsif v_token in ('*', '+') or v_token like '{_%' then
            v_times := greatest(1, (select max(n[1]::numeric) from regexp_matches(v_token, '\d+', 'g') n));
            repeats := repeats or v_capture;
            v_weights[v_top] := v_weights[v_top] + v_last * (v_times - 1);
            v_last  := v_last * v_times;
        elsif v_token <> '?' then
            v_weights[v_top] := v_weights[v_top] + 1;
            v_last    := 1;
            v_capture := false;
        end if;
    end loop;
    weight := (select sum(w) from unnest(v_weights[:v_top]) w);
end;
$$;

-- wf._regex(p_function, p_args)
--
-- Returns  the regular expression; the call is charged for it
-- Locks    nothing
-- Raises   WF020 if it is not a string, WF021 if it may take too long
-- Called   by matches, capture and replace_all
create or replace function wf._regex(p_function text, p_args jsonb[])
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
    v_length  numeric := length(wf._string(p_function, p_args, 1));
    v_regex   text    := wf._string(p_function, p_args, 2);
    v_plain   text;
    v_weight  numeric := length(v_regex);
    v_repeats boolean := false;
    v_square  boolean;
begin
    if v_weight > 1000 then
        perform wf._fail_limit(format('the regular expression has %s characters, more than the 1000 allowed',
                                      v_weight));
    elsif v_length < 200 and v_regex !~ '\\[1-9]|\)[*+{]|\{|^\*|\(\?[a-z]' then
        return v_regex;    -- nothing in it can be slow
    end if;

    v_plain := regexp_replace(v_regex, '\\\\', 'x', 'g');
    if v_plain ~ '\\[1-9]|^\*\*\*|^\(\?[a-z]*[beqx]' then
        perform wf._fail_limit('a regular expression may not have back references (\1), *** or the options (?b), (?e), '
                               '(?q) and (?x)',
                               'They may take any time to match. Write out what they stand for.');
    end if;
    v_plain := regexp_replace(regexp_replace(v_plain, '\\.', 'x', 'g'),
                              '\[\^?\]?(?:\[[:.=][^\]]*\]|[^\]])*\]', 'x', 'g');
    if v_plain ~ '\)[*+{]|\{' then
        select w.weight, w.repeats into v_weight, v_repeats from wf._regex_weight(v_plain) w;
    end if;
    if v_weight > 2000 then
        perform wf._fail_limit(format('the regular expression has %s characters with its repetitions written out, '
                                      'more than the 2000 allowed', v_weight));
    elsif v_repeats and p_function <> 'matches' then
        perform wf._fail_limit('a group that is captured cannot be repeated, and cannot stand in a group that is '
                               'repeated',
                               'Write (?:…) for a group that need not be captured.');
    end if;

    -- the last repetition reads no character twice, and ^ begins at one place only
    v_square := p_function <> 'matches'
            and v_plain ~ '[*+]|\{\d+,\}'
            and v_plain !~ '^[^|*+{]*[*+]\)*$'
            and not (p_function = 'capture' and v_plain ~ '^\^[^|]*$');
    if wf._charge(v_length * v_weight / 500 + case when v_square then v_length * v_length / 2000 else 0 end,
                       case p_function
                           when 'replace_all' then v_length * octet_length(wf._string(p_function, p_args, 3))
                           else 0
                       end) then end if;
    return v_regex;
end;
$$;

