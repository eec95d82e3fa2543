-- Forms that people answer. A form is a subset of JSON Schema: fields of simple types, each
-- with conditions for its value. A task that waits for an answer has a row of wf.timer, as
-- every wait has, and a row of wf.input for each attempt. wf.answer writes the answer there
-- and leaves work. A transaction that holds the instance does this work, and ends the wait.

-- wf._misses_pattern(p_pattern, p_text)
--
-- Returns  what is wrong with a text that has to match a regular expression, or with the expression; null if nothing is
-- Locks    nothing
-- Raises   nothing
-- Called   by _form_misfit and _field_flaw
create or replace function wf._misses_pattern(p_pattern text, p_text text) returns text
language plpgsql stable as $$
begin
    if p_pattern is null then
        return null;
    elsif length(p_text) > 10000 then
        return 'a text that has to match a pattern has at most 10000 characters';
    elsif p_text !~ wf._regex('matches', array[to_jsonb(p_text), to_jsonb(p_pattern)]) then
        return 'does not match the pattern ' || p_pattern;
    end if;
    return null;
exception when sqlstate 'WF020' or sqlstate 'WF021' or invalid_regular_expression then
    return format('the pattern %s is none that can be used: %s', left(p_pattern, 100), sqlerrm);
end;
$$;

-- wf._misses_format(p_format, p_text)
--
-- Returns  what is wrong with a text that has to have a format, else null
-- Locks    nothing
-- Raises   nothing
-- Called   by _form_misfit
create or replace function wf._misses_format(p_format text, p_text text) returns text
language plpgsql stable set standard_conforming_strings = on as $$
declare
    v_fits boolean;
begin
    case p_format
        when 'date' then
            v_fits := p_text ~ '^\d{4}-\d\d-\d\d$' and p_text::date is not null;
        when 'date-time' then
            v_fits := wf._moment(to_jsonb(p_text)) is not null;
        when 'email' then
            v_fits := length(p_text) <= 320 and p_text ~ '^[^@\s]+@[^@\s]+$';
        when 'uuid' then
            v_fits := p_text ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
        else
            v_fits := true;
    end case;
    return case when not v_fits then 'is not a valid ' || p_format end;
exception when data_exception then
    return 'is not a valid ' || p_format;
end;
$$;

-- wf._form_misfit(p_spec, p_value)
--
-- Returns  why a value does not fit a field, as the rest of a sentence; null if it fits
-- Locks    nothing
-- Raises   nothing
-- Called   by _field_flaw and _answer_flaws
create or replace function wf._form_misfit(p_spec jsonb, p_value jsonb) returns text
language plpgsql stable as $$
declare
    v_type constant text := p_spec ->> 'type';
    v_text constant text := p_value #>> '{}';
    v_number numeric;
    v_flaw text;
begin
    if jsonb_typeof(p_value) <> (case v_type when 'integer' then 'number' else v_type end) then
        return 'has to be of type ' || v_type;
    elsif p_spec ? 'enum' and not p_spec -> 'enum' @> p_value then
        return 'has to be one of ' || (select string_agg(e.value::text, ', ' order by e.k)
                                         from jsonb_array_elements(p_spec -> 'enum') with ordinality e (value, k));
    elsif v_type in ('integer', 'number') then
        v_number := v_text::numeric;
        return case when v_type = 'integer' and v_number % 1 <> 0 then 'has to be of type integer'
                    when v_number < (p_spec ->> 'minimum')::numeric then 'has to be at least ' || (p_spec ->> 'minimum')
                    when v_number > (p_spec ->> 'maximum')::numeric then 'has to be at most ' || (p_spec ->> 'maximum')
                    end;
    elsif v_type = 'string' then
        return case when length(v_text) < (p_spec ->> 'minLength')::numeric
                    then format('has to have at least %s characters', p_spec ->> 'minLength')
                    when length(v_text) > (p_spec ->> 'maxLength')::numeric
                    then format('has to have at most %s characters', p_spec ->> 'maxLength')
                    else coalesce(wf._misses_format(p_spec ->> 'format', v_text),
                                  wf._misses_pattern(p_spec ->> 'pattern', v_text)) end;
    elsif v_type = 'array' then
        select format('has an element %s that %s', left(e.value::text, 60), e.flaw) into v_flaw
          from (select a.value, a.k, wf._form_misfit(p_spec -> 'items', a.value) as flaw
                  from jsonb_array_elements(p_value) with ordinality a (value, k)) e
         where e.flaw is not null
         order by e.k
         limit 1;
    end if;
    return v_flaw;
end;
$$;

-- wf._field_flaw(p_spec, p_element)
--
-- Returns  what is wrong with a field of a form, or with the elements of one, as the rest of a sentence; else null
-- Locks    nothing
-- Raises   nothing
-- Called   by _read_form
create or replace function wf._field_flaw(p_spec jsonb, p_element boolean default false) returns text
language plpgsql stable as $$
declare
    v_type text;
    v_known text[];
    v_word text;
    v_flaw text;
begin
    if jsonb_typeof(p_spec) is distinct from 'object' then
        return format('has to be an object such as {"type": "string"}, not %s', left(p_spec::text, 60));
    end if;
    v_type := p_spec ->> 'type';
    v_known := case when v_type in ('integer', 'number') then '{minimum,maximum,enum}'::text[]
                    when v_type = 'string' then '{minLength,maxLength,pattern,format,enum}'
                    when v_type = 'boolean' then '{}'
                    when v_type = 'array' and not p_element then '{items}' end;
    if v_known is null then
        return format('has the type %s; allowed are string, integer, number, boolean%s', left(p_spec ->> 'type', 60),
                      case when not p_element then ' and array' end);
    end if;
    v_known := array['type', 'title', 'description', 'default'] || v_known;
    select k into v_word from jsonb_object_keys(p_spec) k where k <> all (v_known) order by 1 limit 1;
    if found then
        return format('has %s; a field of type %s may have %s', left(v_word, 60), v_type,
                      array_to_string(v_known, ', '));
    end if;
    select e.key || ' has to be ' || e.must into v_flaw
      from (select f.key, case when f.key in ('title', 'description', 'pattern') and f.is <> 'string' then 'a text'
                               when f.key = 'format' and f.value not in ('"date"', '"date-time"', '"email"', '"uuid"')
                               then 'date, date-time, email or uuid'
                               when f.key in ('minimum', 'maximum') and f.is <> 'number' then 'a number'
                               when f.key in ('minLength', 'maxLength') and f.value::text !~ '^[0-9]{1,9}$'
                               then 'a whole number, not negative'
                               when f.key = 'enum' and (f.is <> 'array' or f.value = '[]')
                               then 'a list of what is allowed' end as must
              from (select x.key, x.value, jsonb_typeof(x.value) as is from jsonb_each(p_spec) x) f) e
     where e.must is not null
     order by 1
     limit 1;
    if v_flaw is null and v_type = 'array' then
        v_flaw := 'has items, of which each ' || wf._field_flaw(coalesce(p_spec -> 'items', 'null'), true);
    end if;
    if v_flaw is null and p_spec ? 'enum' then
        select format('has the choice %s, which %s', left(x.value::text, 60), x.flaw) into v_flaw
          from (select e.value, wf._form_misfit(p_spec - 'enum', e.value) as flaw
                  from jsonb_array_elements(p_spec -> 'enum') e) x
         where x.flaw is not null
         limit 1;
    end if;
    if v_flaw is null and wf._misses_pattern(p_spec ->> 'pattern', '') like 'the pattern %' then
        v_flaw := wf._misses_pattern(p_spec ->> 'pattern', '');
    end if;
    if v_flaw is null and wf._form_misfit(p_spec, p_spec -> 'default') is not null then
        v_flaw := format('has the default %s, which %s', left((p_spec -> 'default')::text, 60),
                         wf._form_misfit(p_spec, p_spec -> 'default'));
    end if;
    return v_flaw;
end;
$$;

-- wf._read_form(p_form)
--
-- Reads a form. A form is either a schema with properties and required, or just the fields;
-- then each field without a default is required.
--
-- Returns  the form as a schema, or what is wrong with it
-- Locks    nothing
-- Raises   nothing
-- Called   by _refuse_input and _ask_input
create or replace function wf._read_form(p_form jsonb, out form jsonb, out flaw text)
language plpgsql stable as $$
declare
    c_most constant int := 100;
    c_known constant text[] := array['type', 'title', 'description', 'properties', 'required'];
    v_fields jsonb := p_form;
    v_bytes constant int := octet_length(p_form::text);
begin
    if jsonb_typeof(p_form) is distinct from 'object' then
        flaw := 'a form is an object such as {"approve": {"type": "boolean"}}, not '
                || left(coalesce(p_form::text, 'null'), 60);
        return;
    elsif v_bytes > 100000 then
        flaw := format('the form has %s bytes, more than the 100000 allowed', v_bytes);
        return;
    elsif p_form ? 'properties' and coalesce(jsonb_typeof(p_form -> 'type') <> 'object', true) then
        v_fields := p_form -> 'properties';
        select format('the form has %s; beside properties it may have %s', left(k, 60),
                      array_to_string(c_known, ', ')) into flaw
          from jsonb_object_keys(p_form) k where k <> all (c_known) order by k limit 1;
        if flaw is null and (p_form ->> 'type' <> 'object' or jsonb_typeof(v_fields) <> 'object'
                             or jsonb_typeof(p_form -> 'required') <> 'array') then
            flaw := 'the type of a form is object, its properties are an object, and required is a list of their names';
        end if;
        if flaw is null then
            select format('the form requires %s, which is not a field of it', left(r::text, 60)) into flaw
              from jsonb_array_elements(p_form -> 'required') r
             where jsonb_typeof(r) <> 'string' or not v_fields ? (r #>> '{}') limit 1;
        end if;
    end if;
    if flaw is not null then
        return;
    end if;
    select case when count(*) not between 1 and c_most
                then format('the form has %s fields; allowed are 1 to %s', count(*), c_most)
                else min('a name of a field has 1 to 63 bytes, not ' || octet_length(k))
                     filter (where octet_length(k) not between 1 and 63) end
      into flaw from jsonb_object_keys(v_fields) k;
    if flaw is null then
        select string_agg(format('the field %s %s', x.key, x.flaw), '; ' order by x.key) into flaw
          from (select f.key, wf._field_flaw(f.value) as flaw from jsonb_each(v_fields) f) x where x.flaw is not null;
    end if;
    if flaw is null then
        form := p_form || jsonb_build_object('properties', v_fields, 'required', coalesce(
            case when p_form -> 'properties' = v_fields then coalesce(p_form -> 'required', '[]') end,
            (select coalesce(jsonb_agg(f.key order by f.key), '[]') from jsonb_each(v_fields) f
              where not f.value ? 'default')));
        form := jsonb_strip_nulls(jsonb_build_object(
            'properties', form -> 'properties', 'required', form -> 'required',
            'title', case when p_form -> 'properties' = v_fields then p_form -> 'title' end,
            'description', case when p_form -> 'properties' = v_fields then p_form -> 'description' end));
    end if;
end;
$$;

-- wf._refuse_input(p_args)
--
-- Returns  the error of a task whose form is not valid; null if it is valid
-- Locks    nothing
-- Raises   nothing
-- Called   by _as_wait
create or replace function wf._refuse_input(p_args jsonb) returns jsonb
language sql stable
begin atomic
    select wf._refuse('input', coalesce(
               case when coalesce(length(p_args ->> 'title'), 0) not between 1 and 1000
                    then 'the title of an input has 1 to 1000 characters' end, r.flaw))
      from wf._read_form(p_args -> 'form') r
     where r.flaw is not null or coalesce(length(p_args ->> 'title'), 0) not between 1 and 1000;
end;

-- wf._ask_input(p_waits, p_now)
--
-- Writes the forms of waits that have just begun into wf.input.
--
-- Returns  nothing
-- Locks    nothing; the caller holds the instances
-- Raises   nothing of its own
-- Called   by _begin_wait
create or replace function wf._ask_input(p_waits wf.wait[], p_now timestamptz) returns void
language plpgsql as $$
begin
    insert into wf.input (instance_id, process_id, title, form, role, assignee, asked_at)
    select w.instance_id, w.process_id, a.args ->> 'title', r.form, a.args ->> 'role', a.args ->> 'assignee', p_now
      from unnest(p_waits) w
     cross join lateral (select x.* from wf.process x
                          where x.instance_id = w.instance_id and x.id = w.process_id offset 0) p
     cross join lateral (select x.input from wf.node x
                          where x.version_id = p.version_id and x.id = p.node_id offset 0) n
     cross join lateral (select coalesce(p.input, n.input) as args offset 0) a
     cross join lateral wf._read_form(a.args -> 'form') r
     where w.kind = 'input' and w.due_at is not null;
end;
$$;

-- wf._is_asked(p_input)
--
-- Returns  whether a task still waits for this answer: it has not ended, nor asked again
-- Locks    nothing
-- Raises   nothing
-- Called   by answer and _take_answers
create or replace function wf._is_asked(p_input wf.input) returns boolean
language sql stable
begin atomic
    select exists (select from wf.timer t
                    where t.instance_id = p_input.instance_id and t.process_id = p_input.process_id
                      and t.kind = 'input')
           and not exists (select from wf.input n
                            where n.instance_id = p_input.instance_id and n.process_id = p_input.process_id
                              and n.id > p_input.id);
end;

-- wf._take_answers(p_input, p_now)
--
-- Ends the tasks that wait for these answers, which have been given.
--
-- Returns  nothing
-- Locks    the caller holds the instances
-- Raises   nothing of its own
-- Called   by _do_work
create or replace function wf._take_answers(p_input bigint[], p_now timestamptz) returns void
language plpgsql as $$
begin
    perform wf._end_waits(array_agg(n.instance_id), array_agg(n.process_id), array_agg(n.answer), null, p_now)
       from wf.input n
      where n.id = any (p_input) and n.answer is not null and wf._is_asked(n)
     having count(*) > 0;
end;
$$;

-- wf._answer_flaws(p_form, p_answer)
--
-- Returns  what is wrong with each field of an answer, an object with the defaults filled in
-- Locks    nothing
-- Raises   nothing
-- Called   by _read_answer and answer_check
create or replace function wf._answer_flaws(p_form jsonb, p_answer jsonb) returns table (field text, flaw text)
language sql stable
begin atomic
    select g.key, format('%s is %s, but %s', g.key, left(g.value::text, 60),
                         wf._form_misfit(p_form -> 'properties' -> g.key, g.value))
      from jsonb_each(p_answer) g
     where wf._form_misfit(p_form -> 'properties' -> g.key, g.value) is not null
     union all
    select k, format('%s is not a field; the fields are %s', left(k, 60),
                     (select string_agg(o, ', ' order by o) from jsonb_object_keys(p_form -> 'properties') o))
      from jsonb_object_keys(p_answer) k where not p_form -> 'properties' ? k
     union all
    select r, format('%s is missing; it has to be of type %s', r, p_form -> 'properties' -> r ->> 'type')
      from jsonb_array_elements_text(p_form -> 'required') r where not p_answer ? r;
end;

-- wf._read_answer(p_form, p_payload)
--
-- Returns  the answer with the defaults of fields that were left out, or what is wrong with each field
-- Locks    nothing
-- Raises   nothing
-- Called   by answer and answer_check
create or replace function wf._read_answer(p_form jsonb, p_payload jsonb, out answer jsonb, out flaws text)
language plpgsql stable as $$
begin
    if jsonb_typeof(p_payload) is distinct from 'object' then
        flaws := 'an answer is an object of fields, not ' || left(coalesce(p_payload::text, 'null'), 60);
        return;
    end if;
    select coalesce(jsonb_object_agg(f.key, f.value -> 'default') filter (where f.value ? 'default'), '{}')
           || p_payload into answer
      from jsonb_each(p_form -> 'properties') f;
    select string_agg(x.flaw, '; ' order by x.field) into flaws from wf._answer_flaws(p_form, answer) x;
end;
$$;

-- wf._default_answer(p_instance, p_process, p_now)
--
-- Returns  what a simulated wait gets if its script gives nothing. An input gets a value for each field that is
--          required or has a default: the default, else the first choice, else an empty value. A signal has no payload
-- Locks    nothing
-- Raises   nothing
-- Called   by _deliver
create or replace function wf._default_answer(p_instance bigint, p_process bigint, p_now timestamptz) returns jsonb
language sql stable
begin atomic
    select coalesce(
        (select jsonb_object_agg(f.key, coalesce(f.value -> 'default', f.value -> 'enum' -> 0,
                    case f.value ->> 'type' when 'boolean' then 'false'::jsonb when 'string' then '""'
                                            when 'array' then '[]' else coalesce(f.value -> 'minimum', '0') end))
           from (select n.form from wf.input n
                  where n.instance_id = p_instance and n.process_id = p_process order by n.id desc limit 1) n
          cross join lateral jsonb_each(n.form -> 'properties') f
          where f.value ? 'default' or n.form -> 'required' ? f.key),
        jsonb_build_object('payload', null, 'at', wf._iso_timestamp(p_now), 'sender', ''));
end;
