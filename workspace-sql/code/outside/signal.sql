-- Signals, as applications and people send them: to an instance or to a topic. A task
-- wf.WaitSignal takes them there. Sending a signal only inserts rows. So it may be part of
-- any transaction, however long that stays open.

-- wf._check_signal(p_workflow)
--
-- Returns  nothing, if the login may send signals to instances of a workflow, or fire its schedules: it may start that
--          workflow, or is an operator or administrator
-- Locks    nothing
-- Raises   WF008
-- Called   by _signalled, _check_answer, schedule_fire and schedule_backfill
create or replace function wf._check_signal(p_workflow text) returns void
language plpgsql stable as $$
begin
    if not (wf._is_member('wf_operator') or wf._is_member('wf_admin')) then
        perform wf._check_workflow_grant(p_workflow);
    end if;
end;
$$;

-- wf._signalled(p_to)
--
-- Returns  the instance that a target names; null if the target is a topic
-- Locks    nothing
-- Raises   WF002, WF003, WF004, WF008
-- Called   by signal and callback_token
create or replace function wf._signalled(p_to jsonb) returns bigint
language plpgsql stable as $$
declare
    v_keys text[];
    v_id bigint;
    v_instance record;
begin
    if jsonb_typeof(p_to) = 'object' then
        v_keys := array(select k from jsonb_object_keys(p_to) k order by k);
    end if;
    if v_keys = '{topic}' and wf._fits_signal(case jsonb_typeof(p_to -> 'topic') when 'string'
                                                   then p_to ->> 'topic' end) then
        return null;
    elsif jsonb_typeof(p_to) = 'number' and p_to #>> '{}' ~ '^[0-9]{1,18}$' then
        v_id := (p_to #>> '{}')::bigint;
    elsif v_keys = '{key,workflow}' then
        perform wf._check_signal(p_to ->> 'workflow');
        select wf._key_holder(w.id, p_to ->> 'key') into v_id from wf.workflow w where w.name = p_to ->> 'workflow';
    else
        raise exception using errcode = 'WF002',
            message = format('%s is not a target of a signal', coalesce(left(p_to::text, 100), 'null')),
            hint = 'Give the number of an instance, {"workflow": …, "key": …} of its start, or {"topic": …}; a '
                   'topic has 1 to 255 bytes.';
    end if;
    select i.state, w.name into v_instance
      from wf.instance i
      join wf.workflow w on w.id = i.workflow_id
     where i.id = v_id;
    if not found then
        raise exception using errcode = 'WF003',
            message = format('there is no instance %s', left(p_to::text, 100)),
            hint = 'List the instances: wf-console list.';
    end if;
    perform wf._check_signal(v_instance.name);
    if v_instance.state in ('END', 'ABORTED') then
        raise exception using errcode = 'WF004',
            message = format('instance %s has ended (%s): nothing in it waits for a signal', v_id, v_instance.state),
            hint = 'Look how it ended: wf-console show ' || v_id;
    end if;
    return v_id;
end;
$$;

-- wf.signal(p_to, p_name, p_payload, p_broadcast)
--
-- Sends a signal. The task that waits for it goes on when the caller's transaction is
-- committed and a driver polls.
--
-- Returns  the number of the signal
-- Locks    nothing, it only inserts
-- Raises   WF002, WF003, WF004, WF008
-- Called   by applications, operators, the console
create or replace function wf.signal(p_to jsonb, p_name text, p_payload jsonb default 'null',
                                     p_broadcast boolean default false) returns bigint
language plpgsql security definer :engine as $$
declare
    v_now constant timestamptz := wf._now();
    c_small constant int := 1024; -- every value_bytes allows this
    v_payload constant jsonb := coalesce(p_payload, 'null');
    v_bytes constant int := octet_length(v_payload::text);
    v_instance bigint;
    v_id bigint;
begin
    perform wf._gate(false);
    v_instance := wf._signalled(p_to);
    if not wf._fits_signal(p_name) then
        raise exception using errcode = 'WF002',
            message = case when starts_with(p_name, 'callback ')
                           then 'the name of a signal does not begin with "callback "'
                           else format('the name of the signal has %s bytes',
                                       coalesce(octet_length(p_name)::text, 'no')) end,
            hint = 'A name has 1 to 255 bytes, such as approved.';
    elsif v_bytes > c_small and v_bytes > wf._setting_number('value_bytes') then
        raise exception using errcode = 'WF002',
            message = format('the payload has %s bytes, more than the %s allowed', v_bytes,
                             wf._setting_number('value_bytes')),
            hint = 'Send a reference to the data instead of the data.';
    end if;
    insert into wf.signal (instance_id, topic, name, payload, broadcast, sent_at, sender)
    values (v_instance, case when v_instance is null then p_to ->> 'topic' end, p_name, v_payload,
            coalesce(p_broadcast, false), v_now, wf._actor())
    returning id into v_id;
    insert into wf.work (kind, instance_id, item_id, due_at)
    values (case when v_instance is null then 'topic' else 'signal' end, v_instance, v_id, v_now);
    perform wf._ring();
    return v_id;
end;
$$;
comment on function wf.signal(jsonb, text, jsonb, boolean) is
    'Sends a signal inside the caller''s transaction: target (the number of an instance, {"workflow", "key"} of its '
    'start, or {"topic"}), name (1 to 255 bytes), payload (any JSON), broadcast. Of the tasks wf.WaitSignal that wait '
    'there for that name, the one that has waited longest takes it. If none waits, the signal is kept for the next '
    'one: until the instance has ended, or in a topic for signal_days. A broadcast signal is taken by all tasks that '
    'wait now, and is not kept. Returns the number of the signal. Raises WF002, WF003, WF004 if the instance has '
    'ended, WF008 without a grant for the workflow (operators and administrators need none).';

create or replace view wf.signal_v with (security_barrier = true) as
select s.id as signal_id, s.instance_id, w.name as workflow, s.topic, s.name, s.payload, s.broadcast, s.sent_at,
       s.sender
  from wf.signal s
  left join wf.instance i on i.id = s.instance_id
  left join wf.workflow w on w.id = i.workflow_id;
comment on view wf.signal_v is
    'The signals that no task has taken. Those to an instance that has ended stay until it is purged.';
select wf._inherit_comments('signal_v', 'signal') \gset
comment on column wf.signal_v.signal_id is 'number of the signal: signals of a name are taken in this order';
comment on column wf.signal_v.workflow is 'the workflow of that instance';
