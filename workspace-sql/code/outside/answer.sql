-- The answers of people and applications to the forms that tasks wf.Input ask. Answering
-- locks only the input, so that only one of many answers is taken. It leaves a row of work,
-- which ends the wait.

-- wf._check_answer(p_input)
--
-- Returns  nothing, if the login may answer: it is a member of the role that is asked, or the assignee; if neither
--          is named, it may signal the instance. Operators and administrators may answer all.
-- Locks    nothing
-- Raises   WF008
-- Called   by _find_input
create or replace function wf._check_answer(p_input wf.input) returns void
language plpgsql stable as $$
begin
    if wf._is_member('wf_operator') or wf._is_member('wf_admin') then
        return;
    elsif p_input.role is null and p_input.assignee is null then
        perform wf._check_signal((select w.name from wf.instance i join wf.workflow w on w.id = i.workflow_id
                                   where i.id = p_input.instance_id));
    elsif not (coalesce(p_input.assignee = session_user, false)
               or coalesce(wf._is_member(p_input.role), false)) then
        raise exception using errcode = 'WF008',
            message = format('%s may not answer input %s: it asks %s', session_user, p_input.id,
                             concat_ws(' or ', p_input.assignee, 'a member of ' || p_input.role)),
            hint = 'Operators and administrators may answer, too.';
    end if;
end;
$$;

-- wf._find_input(p_input)
--
-- Returns  an input that the login may answer
-- Locks    nothing
-- Raises   WF003, WF008
-- Called   by answer, answer_check and input_fields
create or replace function wf._find_input(p_input bigint) returns wf.input
language plpgsql stable as $$
declare
    v_input wf.input;
begin
    select n.* into v_input from wf.input n where n.id = p_input;
    if not found then
        raise exception using errcode = 'WF003',
            message = format('there is no input %s', coalesce(p_input::text, 'null')),
            hint = 'List the inputs: wf-console inputs.';
    end if;
    perform wf._check_answer(v_input);
    return v_input;
end;
$$;

-- wf.input_fields(p_input)
--
-- Returns  one row for each field of the form
-- Locks    nothing
-- Raises   WF003, WF008
-- Called   by programs that show the form to a person: the console, applications
create or replace function wf.input_fields(p_input bigint)
returns table (field text, type text, title text, description text, required boolean, standard jsonb, choices jsonb)
language plpgsql stable security definer :engine as $$
declare
    v_form constant jsonb := (wf._find_input(p_input)).form;
begin
    return query
        select f.key, f.value ->> 'type', f.value ->> 'title', f.value ->> 'description',
               v_form -> 'required' ? f.key, f.value -> 'default', f.value -> 'enum'
          from jsonb_each(v_form -> 'properties') f
         order by f.key;
end;
$$;
comment on function wf.input_fields(bigint) is
    'The fields of the form of an input, for programs that show it to a person: name, type (string, integer, number, '
    'boolean, array), title, description, whether it is required, its default and its choices. Raises WF003, WF008 as '
    'answer.';

-- wf.answer_check(p_input, p_payload, p_field)
--
-- Returns  what is wrong with an answer; null if nothing is wrong
-- Locks    nothing
-- Raises   WF003, WF008
-- Called   by programs that show the form to a person: the console, applications
create or replace function wf.answer_check(p_input bigint, p_payload jsonb, p_field text default null) returns text
language plpgsql stable security definer :engine as $$
declare
    v_form constant jsonb := (wf._find_input(p_input)).form;
    v_read constant record := wf._read_answer(v_form, p_payload);
begin
    if p_field is null or v_read.answer is null then
        return v_read.flaws;
    end if;
    return (select string_agg(x.flaw, '; ') from wf._answer_flaws(v_form, v_read.answer) x where x.field = p_field);
end;
$$;
comment on function wf.answer_check(bigint, jsonb, text) is
    'Says in words what is wrong with one field of an answer to an input, or with all fields if p_field is null; null '
    'if nothing is wrong. Writes nothing. Raises WF003, WF008 as answer.';

-- wf.answer(p_input, p_payload)
--
-- Answers a form. The task that asked goes on when the caller's transaction is committed
-- and a driver polls.
--
-- Returns  the answer, with the defaults of fields that were left out
-- Locks    the input
-- Raises   WF002, WF003, WF004, WF008
-- Called   by applications, people, the console
create or replace function wf.answer(p_input bigint, p_payload jsonb) returns jsonb
language plpgsql security definer :engine as $$
declare
    v_now constant timestamptz := wf._now();
    v_bytes int;
    v_input wf.input;
    v_read record;
begin
    perform wf._gate(false);
    v_input := wf._find_input(p_input);
    select n.* into v_input from wf.input n where n.id = p_input for update;
    if v_input.answered_at is not null then
        raise exception using errcode = 'WF004',
            message = format('input %s is answered already by %s at %s', p_input, v_input.answered_by,
                             wf._iso_timestamp(v_input.answered_at)),
            hint = 'An answer is final.';
    elsif v_input.id is null or not wf._is_asked(v_input) then
        raise exception using errcode = 'WF004',
            message = format('input %s is not asked any more: its task has ended, was stopped or has asked anew',
                             p_input),
            hint = coalesce('Look at its instance: wf-console show ' || v_input.instance_id, 'Its instance is purged.');
    end if;
    select r.* into v_read from wf._read_answer(v_input.form, p_payload) r;
    v_bytes := octet_length(v_read.answer::text);
    if v_read.flaws is not null then
        raise exception using errcode = 'WF002',
            message = format('input %s is not answered: %s', p_input, v_read.flaws),
            hint = 'Nothing has been written; correct the answer and give it again.';
    elsif v_bytes > wf._setting_number('value_bytes') then
        raise exception using errcode = 'WF002',
            message = format('the answer has %s bytes, more than the %s allowed', v_bytes,
                             wf._setting_number('value_bytes')),
            hint = 'Give a reference to the data instead of the data.';
    end if;
    update wf.input n set answered_at = v_now, answered_by = wf._actor(), answer = v_read.answer where n.id = p_input;
    insert into wf.work (kind, instance_id, item_id, due_at) values ('input', v_input.instance_id, p_input, v_now);
    perform wf._ring();
    return v_read.answer;
end;
$$;
comment on function wf.answer(bigint, jsonb) is
    'Answers a form that a task wf.Input asks, inside the caller''s transaction: the number of the input (see input_v) '
    'and an object of fields. Returns the answer with the defaults of fields that were left out; it is the output of '
    'the task. Raises WF002 with each field that is wrong (nothing is written), WF003, WF004 if it is answered already '
    'or not asked any more, WF008 if the login is not asked (operators and administrators may always answer).';

create or replace view wf.input_v with (security_barrier = true) as
select n.id as input_id, n.instance_id, n.process_id, w.name as workflow, n.title, n.form, n.role, n.assignee,
       n.asked_at, n.answered_at, n.answered_by, n.answer,
       n.answer is null
       and exists (select from wf.timer t
                    where t.instance_id = n.instance_id and t.process_id = n.process_id and t.kind = 'input')
       and not exists (select from wf.input o
                        where o.instance_id = n.instance_id and o.process_id = n.process_id and o.id > n.id) as open
  from wf.input n
  join wf.instance i on i.id = n.instance_id
  join wf.workflow w on w.id = i.workflow_id;
comment on view wf.input_v is
    'The forms that tasks wf.Input have asked, and who answered them when. They stay until their instance is purged.';
select wf._inherit_comments('input_v', 'input') \gset
comment on column wf.input_v.input_id is 'number of the input: wf.answer takes it';
comment on column wf.input_v.workflow is 'the workflow of that instance';
comment on column wf.input_v.open is 'true: it waits for an answer';
