-- The verbs that operators apply to processes: retry, ignore, resolve, raise and
-- cancel; and the parts that they share with the verbs for instances. Each verb
-- makes one move of wf.transition; the triggers do everything that follows.

-- wf._take_reason(p_verb, p_reason)
--
-- Checks the reason that a verb was given, and keeps it for the moves of this transaction.
--
-- Returns  nothing
-- Locks    nothing
-- Raises   WF002
-- Called   by the operator's procedures
create or replace function wf._take_reason(p_verb text, p_reason text) returns void
language plpgsql as $$
begin
    perform wf._check_reason(p_verb, p_reason, wf._setting_number('reason_required') = 1);
    perform wf._set_reason(p_reason);
end;
$$;

-- wf._past(p_event)
--
-- Returns  the participle of a verb: aborted, retried, cancelled
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._refusal and wf._target_answers
create or replace function wf._past(p_event text) returns text
language sql immutable
begin atomic
    select case p_event when 'retry' then 'retried' when 'cancel' then 'cancelled' when 'skip' then 'ignored'
                        else rtrim(p_event, 'e') || 'ed' end;
end;

-- wf._refusal(p_event, p_machine, p_state, p_torn)
--
-- Returns  why a process in this state, or anything in an instance (p_machine
--          instance), does not make the move. If the move is possible in this state, the
--          process came into it only after the caller had asked a person, or it is torn
--          down together with process p_torn
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._move, wf._unmoved, wf._target_answers and wf.preview
create or replace function wf._refusal(p_event text, p_machine text, p_state text, p_torn bigint default null)
returns text
language plpgsql stable as $$
declare
    v_from text[];
begin
    select array_agg(distinct t.from_state order by t.from_state)
      into v_from
      from wf.transition t
     where t.machine = p_machine
       and t.event = p_event
       and strpos(t.actor, 'O') > 0
       -- only a process that waits for its next attempt or round makes this move
       and not (t.from_state = 'INIT' and (p_event = 'retry' or p_machine = 'composite'));
    return case when p_torn is not null then format('%s: it is being torn down with process %s', p_state, p_torn)
                when v_from is null then format('%s: nothing in it can be %s', p_state, wf._past(p_event))
                when p_state = any (v_from)
                then format('%s: it was in another state when the question was asked', p_state)
                else format('%s: only %s can be %s', p_state, array_to_string(v_from, ', '), wf._past(p_event)) end;
end;
$$;

-- wf._withdraw(p_instance, p_process)
--
-- Takes processes out of the queue, so that no driver begins with them any
-- more. It waits for a poll that is taking one of them, so the caller must look at
-- the state again. It begins with parked ones, because _settle moves them to
-- ready. `offset 0` makes it look up the rows one by one by their keys.
--
-- Returns  nothing
-- Locks    their rows of parked and ready
-- Raises   nothing
-- Called   by wf._operate for cancel
create or replace function wf._withdraw(p_instance bigint[], p_process bigint[]) returns void
language plpgsql :engine as $$
begin
    delete from wf.parked k
     where k.ctid = any (array(select y.ctid
                                 from unnest(p_instance, p_process) x (instance_id, process_id)
                                cross join lateral (select z.ctid
                                                      from wf.parked z
                                                     where z.instance_id = x.instance_id and z.process_id = x.process_id
                                                    offset 0) y));
    delete from wf.ready r
     where r.ctid = any (array(select y.ctid
                                 from unnest(p_instance, p_process) x (instance_id, process_id)
                                cross join lateral (select z.ctid
                                                      from wf.ready z
                                                     where z.instance_id = x.instance_id and z.process_id = x.process_id
                                                    offset 0) y));
end;
$$;

-- wf._move(p_event, p_target, p_instance, p_output)
--
-- Has all target processes in locked instances make the move, if they can. A retry keeps
-- the error of arguments that could not be evaluated: this error tells the engine to
-- evaluate them again. If processes were noted in a composite whose error is handed on,
-- these may have to be undone first.
--
-- Returns  one row for each process that is a target, moved or refused
-- Locks    rows of process
-- Raises   WF002, WF003
-- Called   by wf._operate
create or replace function wf._move(p_event text, p_target jsonb, p_instance bigint[], p_output jsonb)
returns table (instance_id bigint, process_id bigint, answer text, detail text)
language plpgsql :engine as $$
declare
    v_now      timestamptz := wf.now();
    v_error    jsonb;
    v_instance bigint[];
    v_process  bigint[];
    v_machine  text[];
    v_was      text[];
    v_state    text[];
    v_torn     bigint[];
begin
    select array_agg(c.instance_id), array_agg(c.process_id), array_agg(c.machine), array_agg(c.state),
           array_agg(c.to_state), array_agg(c.torn)
      into v_instance, v_process, v_machine, v_was, v_state, v_torn
      from wf._target_processes(p_target, p_instance, p_event) c;

    if p_event = 'cancel' then
        v_error := jsonb_build_object('kind', 'cancelled', 'message', 'cancelled by ' || wf._actor());
    end if;

    update wf.process p
       set was = p.state, event = case when u.noted then 'undo' else p_event end,
           state = case when u.noted then 'ABORTING' else x.state end, at = v_now,
           noted = case when p_event in ('ignore', 'skip') and p.parent_id is not null then null else p.noted end,
           attempt = p.attempt + (p_event = 'retry' and p.state = 'FAILED')::int,
           -- an operator begins a fresh budget
           retry_from = case when p_event = 'retry' and p.retry_from is not null
                             then p.attempt + (p.state = 'FAILED')::int else p.retry_from end,
           output = case p_event when 'resolve' then p_output when 'cancel' then p.output end,
           error = case when p_event in ('raise', 'skip') then p.error
                        when p_event = 'cancel' and x.state = 'FAILED' then v_error
                        when p_event = 'retry' and p.input is null
                             and n.input is not null and not n.input_fixed then p.error end
      from unnest(v_instance, v_process, v_state, v_machine) x (instance_id, process_id, state, machine)
     cross join lateral (select p_event = 'raise' and x.machine = 'composite'
                                and exists (select from wf._to_undo(x.instance_id, x.process_id, null)) as noted) u,
           wf.node n
     where p.instance_id = x.instance_id and p.id = x.process_id and x.state is not null
       and n.version_id = p.version_id and n.id = p.node_id;

    return query
    select p.instance_id, p.id,
           case when x.state is null then 'refused' else 'done' end,
           case when x.state is null then wf._refusal(p_event, x.machine, x.was, x.torn)
                else x.was || ' -> ' || p.state end
      from unnest(v_instance, v_process, v_machine, v_was, v_state, v_torn)
           x (instance_id, process_id, machine, was, state, torn)
      join wf.process p on p.instance_id = x.instance_id and p.id = x.process_id
     order by p.instance_id, p.id;
end;
$$;

-- wf._unmoved(p_event, p_target, p_instance, p_moved)
--
-- Returns  one row, refused, for each instance that a target names and in which no process
--          is a target (p_moved has the instances in which one is), and for each id that
--          does not exist
-- Locks    nothing
-- Raises   WF002, WF003
-- Called   by wf._operate and wf.preview
create or replace function wf._unmoved(p_event text, p_target jsonb, p_instance bigint[], p_moved bigint[])
returns table (instance_id bigint, process_id bigint, answer text, detail text)
language plpgsql stable as $$
declare
    v_t record;
begin
    select * into v_t from wf._parse_target(p_target);
    return query
    select i.id, null::bigint, 'refused', wf._refusal(p_event, 'instance', i.state)
      from wf.instance i
     where i.id = any (p_instance)
       and (v_t.latest or i.id = any (v_t.instances) and v_t.processes is null)
       and i.id <> all (p_moved)
     union all
    select * from wf._missing(p_target, p_instance);
end;
$$;

-- wf._nothing_matches(p_target)
--
-- Returns  never
-- Locks    nothing
-- Raises   WF003
-- Called   by the operator's procedures, where nothing is a target
create or replace function wf._nothing_matches(p_target jsonb) returns void
language plpgsql as $$
begin
    raise exception using errcode = 'WF003',
        message = format('nothing matches the target %s', left((p_target - 'among')::text, 200)),
        hint = 'List what exists: wf-console list, wf-console tree.';
end;
$$;

-- wf._operate(p_event, p_target, p_reason, p_output)
--
-- The common part of the verbs for processes: it finds the target, locks its
-- instances, makes the moves, and answers.
--
-- Returns  one row for each target: done, or refused and why
-- Locks    instances by id, then parked, ready, process
-- Raises   WF002, WF003, WF006
-- Called   by retry, ignore, resolve, raise, cancel
create or replace function wf._operate(p_event text, p_target jsonb, p_reason text, p_output jsonb)
returns table (instance_id bigint, process_id bigint, answer text, detail text)
language plpgsql as $$
declare
    v_verb constant text := case p_event when 'skip' then 'ignore' else p_event end;
    v_arguments constant jsonb := jsonb_strip_nulls(jsonb_build_object(
        'target', p_target, 'cascade', nullif(p_event = 'skip', false), 'output_bytes', octet_length(p_output::text)));
    v_instances bigint[];
begin
    perform wf._gate(true);
    perform wf._take_reason(v_verb, p_reason);
    v_instances := wf._target_instances(p_target, p_event);
    perform from wf.instance i where i.id = any (v_instances) order by i.id for no key update;

    perform wf._resume_work(v_instances);
    if p_event = 'cancel' then
        perform wf._withdraw(array_agg(c.instance_id), array_agg(c.process_id))
           from wf._target_processes(p_target, v_instances, p_event) c
          where c.to_state is not null;
    end if;

    return query
    with moved as (
        select * from wf._move(p_event, p_target, v_instances, p_output)
    ), answered as (
        select m.instance_id, m.process_id, m.answer, m.detail
          from moved m
         union all
        select u.*
          from (select array(select distinct m.instance_id from moved m) as instances) d,
               wf._unmoved(p_event, p_target, v_instances, d.instances) u
    ), audited as (
        select wf._audit(v_verb, v_arguments, p_reason, array_agg(a.instance_id), array_agg(a.process_id),
                         array_agg(a.answer))
          from answered a
    )
    select a.* from answered a cross join audited;
    if not found then
        perform wf._nothing_matches(p_target);
    end if;
    perform wf._set_reason(null);
end;
$$;

-- wf._operate_instances(p_event, p_target, p_reason, p_undo)
--
-- The common part of the verbs for instances. p_undo says whether the processes that were
-- noted in aborted instances are undone.
--
-- Returns  one row for each target: done, or refused and why
-- Locks    the gate, instances by id, then what the move needs
-- Raises   WF002, WF003, WF006
-- Called   by abort, halt, suspend, resume
create or replace function wf._operate_instances(p_event text, p_target jsonb, p_reason text,
                                                 p_undo boolean default false)
returns table (instance_id bigint, process_id bigint, answer text, detail text)
language plpgsql :engine as $$
declare
    v_now      timestamptz;
    v_found    bigint[];
    v_chosen   bigint[];
    v_instance bigint[];
    v_process  bigint[];
    v_was      text[];
    v_refusal  text[];
begin
    perform wf._gate(true);
    perform wf._take_reason(p_event, p_reason);
    v_found := wf._target_instances(p_target, p_event);
    perform from wf.instance i where i.id = any (v_found) order by i.id for no key update;
    v_now := wf.now();
    select array_agg(a.instance_id), array_agg(a.process_id), array_agg(a.was), array_agg(a.refusal),
           array_agg(a.instance_id) filter (where a.refusal is null)
      into v_instance, v_process, v_was, v_refusal, v_chosen
      from wf._target_answers(p_event, p_target, v_found) a;

    if p_event in ('abort', 'halt') then
        perform wf._abort(v_chosen, p_event => p_event, p_undo => p_undo);
    else
        update wf.instance i set was = i.state, event = p_event, state = t.to_state, at = v_now
          from wf.transition t
         where i.id = any (v_chosen) and t.machine = 'instance' and t.from_state = i.state and t.event = p_event;
    end if;

    return query
    with answered (instance_id, process_id, answer, detail) as (
        select i.id, x.process_id,
               case when x.refusal is not null then 'refused'
                    when p_event in ('abort', 'halt')
                         and exists (select from wf.teardown t where t.instance_id = i.id and t.next_id is not null)
                    then 'begun'
                    else 'done' end,
               coalesce(x.refusal, x.was || ' -> ' || i.state)
          from unnest(v_instance, v_process, v_was, v_refusal) x (instance_id, process_id, was, refusal)
          join wf.instance i on i.id = x.instance_id
         union all
        select * from wf._missing(p_target, v_found)
    ), audited as (
        select wf._audit(p_event, jsonb_strip_nulls(jsonb_build_object('target', p_target,
                                                                       'undo', nullif(p_undo, false))),
                         p_reason, array_agg(a.instance_id), array_agg(a.process_id), array_agg(a.answer))
          from answered a
    )
    select a.* from answered a cross join audited order by 1, 2;
    if not found then
        perform wf._nothing_matches(p_target);
    end if;
    perform wf._set_reason(null);
end;
$$;

-- What most verbs of an operator take and what they answer, here and in abort.sql and
-- suspend.sql. resolve also takes an output. ignore also takes whether processes that read
-- the names are skipped. abort also takes whether processes are undone.
\set verb '(p_target jsonb, p_reason text default null)'
\set verb :verb ' returns table (instance_id bigint, process_id bigint, answer text, detail text)'
\set verb :verb ' language sql security definer set search_path = pg_catalog, pg_temp'

-- wf.retry(p_target, p_reason), and ignore, resolve, raise and cancel
--
-- They differ in the event alone.
--
-- Returns  one row for each target: done, or refused and why
-- Locks    as wf._operate
-- Raises   WF002, WF003, WF006
-- Called   by operators
create or replace function wf.retry :verb as $$
    select * from wf._operate('retry', p_target, p_reason, null);
$$;
comment on function wf.retry(jsonb, text) is
    'Gives FAILED processes another attempt, with the arguments that they had, and with a fresh budget of their '
    'policy retry. A process that waits for its next attempt begins it now. One row for each target: done, or refused '
    'and why.';

create or replace function wf.ignore(p_target jsonb, p_reason text default null, p_cascade boolean default false)
returns table (instance_id bigint, process_id bigint, answer text, detail text)
language sql security definer set search_path = pg_catalog, pg_temp as $$
    select * from wf._operate(case when p_cascade then 'skip' else 'ignore' end, p_target, p_reason, null);
$$;
comment on function wf.ignore(jsonb, text, boolean) is
    'Goes on as if FAILED processes had ended; their names read as null, and the result of the instance is warning at '
    'best. With p_cascade, tasks and calls of workflows that read these names are skipped, too, and then those that '
    'read their names. One row for each target: done, or refused and why.';

create or replace function wf.resolve(p_target jsonb, p_output jsonb, p_reason text default null)
returns table (instance_id bigint, process_id bigint, answer text, detail text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    if octet_length(p_output::text) > wf._setting_number('value_bytes') then
        raise exception using errcode = 'WF002',
            message = format('the output has %s bytes; a value may have %s', octet_length(p_output::text),
                             wf._setting_number('value_bytes')),
            hint = 'Give less, or raise the setting value_bytes.';
    end if;
    return query select * from wf._operate('resolve', p_target, p_reason, p_output);
end;
$$;
comment on function wf.resolve(jsonb, jsonb, text) is
    'Goes on as if FAILED processes had ended with the given output. One row for each target: done, or refused and '
    'why.';

create or replace function wf.raise :verb as $$
    select * from wf._operate('raise', p_target, p_reason, null);
$$;
comment on function wf.raise(jsonb, text) is
    'Hands on the errors of FAILED processes: a catch around a process takes its error, or else its instance is '
    'aborted, with result error. One row for each target: done, or refused and why.';

create or replace function wf.cancel :verb as $$
    select * from wf._operate('cancel', p_target, p_reason, null);
$$;
comment on function wf.cancel(jsonb, text) is
    'Stops tasks that wait or run; they become FAILED with kind cancelled. A composite or an instance stands for the '
    'tasks in it. One row for each target: done, or refused and why.';
