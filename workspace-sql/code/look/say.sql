-- How times, numbers, names and persons stand in the sentences of explanations.

-- wf._say_time(p_at)
--
-- Returns  a time in the session's zone, with the offset of that zone
-- Locks    nothing
-- Raises   nothing
-- Called   by the functions that explain
create or replace function wf._say_time(p_at timestamptz) returns text language sql stable
begin atomic
    select to_char(p_at, 'YYYY-MM-DD HH24:MI:SSOF');
end;

-- wf._say_number(p_number, p_one, p_many)
--
-- Returns  a number with its noun; it was counted up to 1,001
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._say_before and wf._say_slots
create or replace function wf._say_number(p_number bigint, p_one text, p_many text) returns text
language sql immutable
begin atomic
    select case p_number when 1 then '1 ' || p_one
                         else case when p_number > 1000 then 'more than 1,000' else p_number::text end
                              || ' ' || p_many end;
end;

-- wf._say_nth(p_number)
--
-- Returns  1st, 2nd, 3rd, 4th …
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_retry
create or replace function wf._say_nth(p_number int) returns text language sql immutable
begin atomic
    select p_number || case when p_number % 100 in (11, 12, 13) then 'th'
                            else coalesce((array['st', 'nd', 'rd'])[p_number % 10], 'th') end;
end;

-- wf._say_who(p_what, p_actor, p_reason)
--
-- Returns  what happened, by whom and, if there is a reason, why
-- Locks    nothing
-- Raises   nothing
-- Called   where explain and stuck name an operator
create or replace function wf._say_who(p_what text, p_actor text, p_reason text) returns text
language sql immutable
begin atomic
    select p_what || ' by ' || p_actor || coalesce(': ' || p_reason, '');
end;

-- wf._say_word(p_text)
--
-- Returns  a text as one word of a command that somebody may copy into a shell; null if it is null
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._say_signal
create or replace function wf._say_word(p_text text) returns text
language sql stable
begin atomic
    select case when p_text !~ '[^[:alnum:]._-]' then p_text
                when p_text is not null then wf._shell_words(to_jsonb(p_text)) end;
end;
