-- Tasks that wait inside the workspace, without a driver: for a time (wf.Sleep,
-- wf.WaitUntil), for a signal (wf.WaitSignal) or for another instance (wf.Start,
-- wf.WaitInstance). Each has a row of wf.timer while it waits. wf.Fail does not wait.

-- An upgrade creates it again: by now no function takes such a value.
drop type if exists wf.wait;
create type wf.wait as (
    instance_id bigint, process_id bigint, kind text, due_at timestamptz, topic text, name text, error jsonb
);
comment on type wf.wait is
    'A wait that begins. kind: the clause wait of its task type. due_at: when it ends; infinity if it does not end at '
    'a set time. error: why the task fails at once instead.';

-- wf._wake_at(p_at, p_duration)
--
-- Returns  when a sleep ends that begins at p_at; null if the value is not a duration
-- Locks    nothing
-- Raises   nothing
-- Called   by _as_wait, and for the durations of simulated rules
create or replace function wf._wake_at(p_at timestamptz, p_duration jsonb) returns timestamptz
language plpgsql stable as $$
begin
    if jsonb_typeof(p_duration) is distinct from 'string' then
        return null;
    end if;
    return p_at + wf._parse_duration(p_duration #>> '{}');
exception when sqlstate 'WF020' or data_exception then
    return null;
end;
$$;

-- wf._moment(p_moment)
--
-- Returns  the moment that a text names; null if it names none
-- Locks    nothing
-- Raises   nothing
-- Called   by _as_wait and _misses_format
create or replace function wf._moment(p_moment jsonb) returns timestamptz
language plpgsql stable as $$
begin
    return case when jsonb_typeof(p_moment) = 'string' then wf._parse_timestamp(p_moment #>> '{}') end;
exception when sqlstate 'WF020' or data_exception then
    return null;
end;
$$;

-- wf._fits_signal(p_name)
--
-- Returns  whether a text may be the name of a signal, of a topic or of a callback
-- Locks    nothing
-- Raises   nothing
-- Called   by _as_wait, signal, callback_token
create or replace function wf._fits_signal(p_name text) returns boolean
language sql immutable
begin atomic
    select coalesce(octet_length(p_name) between 1 and 255 and not starts_with(p_name, 'callback '), false);
end;

-- wf._callback_name(p_name)
--
-- Returns  the name of the signal that a callback sends
-- Locks    nothing
-- Raises   nothing
-- Called   by _as_wait and callback
create or replace function wf._callback_name(p_name text) returns text
language sql immutable
begin atomic
    select 'callback ' || p_name;
end;

-- wf._as_wait(p_instance, p_process, p_kind, p_args, p_at)
--
-- Returns  the wait of a task of this kind with these arguments that begins at p_at
-- Locks    nothing
-- Raises   nothing
-- Called   by _begin_wait
create or replace function wf._as_wait(p_instance bigint, p_process bigint, p_kind text, p_args jsonb, p_at timestamptz)
returns wf.wait
language plpgsql stable as $$
declare
    v wf.wait := row(p_instance, p_process, p_kind, null, null, null, null);
begin
    case p_kind
        when 'sleep' then
            v.due_at := wf._wake_at(p_at, p_args -> 'duration');
        when 'moment' then
            v.due_at := wf._moment(p_args -> 'at');
        when 'signal' then
            v.topic := p_args ->> 'topic';
            v.name := p_args ->> 'name';
            if wf._fits_signal(v.name) and (v.topic is null or wf._fits_signal(v.topic)) then
                v.due_at := 'infinity';
            end if;
        when 'callback' then
            v.kind := 'signal';
            if wf._fits_signal(p_args ->> 'name') then
                v.name := wf._callback_name(p_args ->> 'name');
                v.due_at := 'infinity';
            end if;
        when 'child', 'instance' then
            v.due_at := 'infinity';
        when 'input' then
            v.error := wf._refuse_input(p_args);
            if v.error is null then
                v.due_at := 'infinity';
            end if;
        when 'fail' then
            v.error := jsonb_strip_nulls(jsonb_build_object('kind', coalesce(p_args ->> 'kind', 'failed'),
                                                            'message', p_args -> 'msg', 'detail', p_args -> 'detail'));
    end case;
    if v.due_at is null and v.error is null then
        v.error := wf._refuse('input', case p_kind
            when 'sleep' then format('a sleep needs a duration, not %s',
                                     left(coalesce((p_args -> 'duration')::text, 'null'), 100))
            when 'moment' then format('a wait needs a moment such as 2026-01-31T08:00:00Z, not %s',
                                     left(coalesce((p_args -> 'at')::text, 'null'), 100))
            else format('the name and the topic of a signal, and the name of a callback, have 1 to 255 bytes and do '
                        'not begin with "callback ": not %s%s', quote_nullable(left(p_args ->> 'name', 40)),
                        ' and ' || quote_literal(left(p_args ->> 'topic', 40)))
            end);
    end if;
    return v;
end;
$$;

-- wf._timer_kind(p_wait)
--
-- Returns  the kind of the row of wf.timer that a wait has
-- Locks    nothing
-- Raises   nothing
-- Called   by _begin_wait
create or replace function wf._timer_kind(p_wait text) returns text
language sql immutable
begin atomic
    select case p_wait when 'signal' then 'signal' when 'child' then 'child' when 'instance' then 'child'
                       when 'input' then 'input'
                       else 'sleep' end;
end;

-- wf._begin_wait(p_moves)
--
-- Begins waits. A signal may have come before its wait. A wait for an instance leaves work,
-- which starts or finds the instance.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates; the caller holds their instances
-- Raises   nothing of its own
-- Called   by _queue
create or replace function wf._begin_wait(p_moves wf.full_move[]) returns void
language plpgsql as $$
declare
    v_waits wf.wait[];
    v_at timestamptz;
begin
    select array_agg(wf._as_wait(p.instance_id, p.id, y.wait, coalesce(p.input, n.input), p.at)), max(p.at)
      into v_waits, v_at
      from wf._due_full(p_moves, 'queue') m
     cross join lateral (select x.instance_id, x.id, x.version_id, x.node_id, x.machine, x.state, x.input, x.at
                           from wf.process x where x.instance_id = m.instance_id and x.id = m.id offset 0) p
     cross join lateral (select x.input, x.type_id from wf.node x
                          where x.version_id = p.version_id and x.id = p.node_id offset 0) n
      join wf.task_type y on y.id = n.type_id
     where wf._waits_inside(p.machine) and p.state = 'INIT';
    insert into wf.timer (instance_id, process_id, kind, due_at, topic, name, begun_at)
    select w.instance_id, w.process_id, wf._timer_kind(w.kind), w.due_at, w.topic, w.name,
           case w.kind when 'signal' then v_at end
      from unnest(v_waits) w
     where w.due_at is not null;
    update wf.process p
       set was = p.state, event = 'begin', state = 'WAITING'
      from unnest(v_waits) w
     cross join lateral (select x.ctid as place from wf.process x
                          where x.instance_id = w.instance_id and x.id = w.process_id offset 0) k
     where p.ctid = k.place and p.state = 'INIT' and (w.due_at is not null or w.kind = 'fail');
    if exists (select from unnest(v_waits) w where w.kind = 'signal') then
        perform wf._await_signals(v_waits, v_at);
    end if;
    if exists (select from unnest(v_waits) w where w.kind = 'input' and w.due_at is not null) then
        perform wf._ask_input(v_waits, v_at);
    end if;
    insert into wf.work (kind, instance_id, item_id, due_at)
    select 'child', w.instance_id, w.process_id, v_at from unnest(v_waits) w where wf._timer_kind(w.kind) = 'child';
    if found then
        perform wf._ring();
    end if;
    if exists (select from unnest(v_waits) w where w.error is not null or w.kind = 'fail') then
        update wf.process p
           set was = p.state, event = 'fail', state = 'FAILED', error = w.error
          from unnest(v_waits) w
         cross join lateral (select x.ctid as place from wf.process x
                              where x.instance_id = w.instance_id and x.id = w.process_id offset 0) k
         where p.ctid = k.place and w.error is not null and w.kind <> 'fail' and p.state = 'INIT';
        update wf.process p
           set was = p.state, event = 'fail', state = 'FAILED', error = w.error
          from unnest(v_waits) w
         cross join lateral (select x.ctid as place from wf.process x
                              where x.instance_id = w.instance_id and x.id = w.process_id offset 0) k
         where p.ctid = k.place and w.kind = 'fail' and p.state = 'WAITING';
    end if;
end;
$$;

-- wf._end_waits(p_instance, p_process, p_output, p_error, p_now)
--
-- Ends waits, each with an output, or with an error. A wait whose instance has no room
-- for the output, or whose policy output does not allow it, fails. The arrays run in
-- parallel.
--
-- Returns  nothing
-- Locks    the caller holds the instances
-- Raises   nothing of its own
-- Called   by _wake, _take_answers, _begin_children and _tend_children
create or replace function wf._end_waits(p_instance bigint[], p_process bigint[], p_output jsonb[], p_error jsonb[],
                                         p_now timestamptz) returns void
language plpgsql as $$
begin
    with woken as materialized (
        select k.place, u.output,
               case when u.error is not null then u.error
                    when pg_column_size(u.output) > m.most
                    then wf._refuse('output', format('the output of this wait has %s bytes, more than the %s that '
                                                     'its policy allows', pg_column_size(u.output), m.most))
                    when k.bind is not null and wf._is_large(pg_column_size(u.output))
                    then wf._overfull(k.instance_id, pg_column_size(u.output), k.scopes) end as error
          from unnest(p_instance, p_process, p_output, p_error) u (i, j, output, error)
         cross join lateral (select x.ctid as place, x.instance_id, x.version_id, x.node_id, x.bind, x.scopes, x.policy
                               from wf.process x
                              where x.instance_id = u.i and x.id = u.j and x.state = 'WAITING' offset 0) k
         cross join lateral (select coalesce(n.output_max, (k.policy ->> 'output')::numeric::int) as most
                               from wf.node n where n.version_id = k.version_id and n.id = k.node_id offset 0) m)
    update wf.process p
       set was = p.state, event = case when w.error is null then 'success' else 'fail' end,
           state = case when w.error is null then 'END' else 'FAILED' end, at = p_now,
           output = case when w.error is null then w.output end, error = w.error
      from woken w
     where p.ctid = w.place;
end;
$$;
