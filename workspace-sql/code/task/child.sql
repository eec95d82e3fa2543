-- Instances that tasks of other instances start (wf.Start) or wait for (wf.WaitInstance).
--
-- A task that waits for an instance has a row of wf.timer, as every wait has. The row's
-- awaits_id is that instance, and null until the instance is started or found. A transaction
-- that holds one of the two instances never touches the other one. It leaves work for it:
--
--   child   for the waiting task: start or find the instance, or look whether it has ended
--   abort   for the instance that was started: the task that waits for it is to stop
--   halt    the same, at once
--
-- The transaction in which an instance ends leaves work of kind child for all tasks that
-- wait for it (_tell_waits). No task is missed. An instance that a task starts is stored in
-- one transaction with the task's awaits_id. Any other instance is locked while awaits_id
-- is stored. So the instance ends either before, and the task sees that it has ended, or
-- after, and its end leaves work for the task.

-- wf._tell_waits(p_instance, p_at)
--
-- Leaves work for the tasks that wait for these instances, which have ended.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   by the triggers of instance
create or replace function wf._tell_waits(p_instance bigint[], p_at timestamptz) returns void
language plpgsql as $$
begin
    insert into wf.work (kind, instance_id, item_id, due_at)
    select 'child', t.instance_id, t.process_id, p_at
      from unnest(p_instance) u (id)
     cross join lateral (select x.instance_id, x.process_id from wf.timer x where x.awaits_id = u.id offset 0) t;
    perform wf._ring();
end;
$$;

-- wf._tell_resumed(p_instance, p_at)
--
-- Leaves work for tasks that could not start an instance while their own instances were
-- suspended. These now go on, or they are aborted and the tasks are in a finally.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   by the triggers of instance, and by _tear
create or replace function wf._tell_resumed(p_instance bigint[], p_at timestamptz) returns void
language plpgsql as $$
begin
    insert into wf.work (kind, instance_id, item_id, due_at)
    select 'child', u.id, t.process_id, p_at
      from unnest(p_instance) u (id)
     cross join lateral (select x.process_id from wf.timer x
                          where x.instance_id = u.id and x.kind = 'child' and x.awaits_id is null offset 0) t;
    if found then
        perform wf._ring();
    end if;
end;
$$;

-- wf._tell_children(p_moves, p_at)
--
-- Stops tasks that wait for instances. Instances that these tasks have started are
-- aborted, or halted if the parent is halted. If the block around the task is undone, the
-- instance is undone, too. A task that has started no instance ends at once.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   by the update trigger of process, before the timers of these tasks go
create or replace function wf._tell_children(p_moves wf.move[], p_at timestamptz) returns void
language plpgsql as $$
begin
    insert into wf.work (kind, instance_id, item_id, due_at)
    select case when t.child_id is null then 'child' when wf._is_halted(m.instance_id) then 'halt' else 'abort' end,
           coalesce(t.child_id, m.instance_id),
           case when t.child_id is null then m.id
                when exists (select from wf._torn(array[m.instance_id], array[m.id]) a
                               join wf.teardown d on d.instance_id = a.instance_id and d.process_id = a.root_id
                              where d.undo) then 1
                else 0 end,
           p_at
      from wf._due(p_moves, 'tell') m
     cross join lateral (select (select i.id from wf.instance i
                                  where i.id = x.awaits_id and i.state not in ('END', 'ABORTED')
                                    and i.parent_id = m.instance_id and i.parent_process_id = m.id) as child_id
                           from wf.timer x
                          where x.instance_id = m.instance_id and x.process_id = m.id and x.kind = 'child' offset 0) t
     cross join lateral (select x.state from wf.process x
                          where x.instance_id = m.instance_id and x.id = m.id offset 0) p
     where t.child_id is not null or p.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED');
    if found then
        perform wf._ring();
    end if;
end;
$$;

-- wf._stop_child(p_instance, p_item, p_event)
--
-- Aborts or halts instances whose tasks wf.Start are to stop. Instances whose item is 1 are
-- undone. An instance that has ended meanwhile stays as it is.
--
-- Returns  nothing
-- Locks    as _abort; the caller holds the instances
-- Raises   nothing of its own
-- Called   by _do_work
create or replace function wf._stop_child(p_instance bigint[], p_item bigint[], p_event text) returns void
language plpgsql as $$
begin
    perform wf._set_reason(coalesce('instance ' || i.parent_id || ', which has started it, stops it',
                                    'a later start takes its place')),
            wf._abort(array_agg(i.id order by i.id), p_event => p_event, p_undo => u.undo)
       from (select x.id, bool_or(x.item = 1) as undo from unnest(p_instance, p_item) x (id, item) group by 1) u
       join wf.instance i on i.id = u.id
      group by i.parent_id, u.undo;
    perform wf._set_reason(null);
end;
$$;

-- wf._waits_around(p_awaited, p_instance)
--
-- Returns  whether p_awaited is p_instance, or waits for it, directly or through other
--          instances: then a wait of p_instance for p_awaited would close a circle
-- Locks    nothing
-- Raises   nothing
-- Called   by _find_awaited
create or replace function wf._waits_around(p_awaited bigint, p_instance bigint) returns boolean
language sql stable
begin atomic
    with recursive chain (id) as (
        select p_awaited
         union
        select t.awaits_id
          from chain c
         cross join lateral (select x.awaits_id from wf.timer x
                              where x.instance_id = c.id and x.kind = 'child' and x.awaits_id is not null offset 0) t)
    select exists (select from chain c where c.id = p_instance);
end;

-- wf._may_see(p_login, p_workflow)
--
-- Returns  whether a login may see instances of a workflow: it reads the views, or may start the workflow
-- Locks    nothing
-- Raises   nothing
-- Called   by _find_awaited
create or replace function wf._may_see(p_login text, p_workflow text) returns boolean
language sql stable
begin atomic
    select wf._may_start(p_workflow, p_login)
           or exists (select from unnest(array['wf_viewer', 'wf_operator', 'wf_author', 'wf_admin']) r (role)
                       where wf._is_member(r.role, p_login));
end;

-- wf._starter_of(p_instance, p_process)
--
-- Returns  the starter of an instance that a task wf.Start starts: the login that started
--          the topmost instance
-- Locks    nothing
-- Raises   nothing
-- Called   by _asked_children and _find_awaited
create or replace function wf._starter_of(p_instance bigint, p_process bigint) returns wf.starter
language sql stable
begin atomic
    select row(wf._starter_login(i.login, i.started_by), i.started_by, i.id, p_process, i.depth + 1,
               i.trace_id, null, null)::wf.starter
      from wf.instance i where i.id = p_instance;
end;

-- wf._refuse_child(p_wait, p_args)
--
-- Returns  an error record that says what is wrong with the arguments of a task wf.Start or wf.WaitInstance (p_wait
--          child or instance); null if they are right
-- Locks    nothing
-- Raises   nothing
-- Called   by _asked_children
create or replace function wf._refuse_child(p_wait text, p_args jsonb) returns jsonb
language plpgsql immutable as $$
declare
    v_name text;
    v_allowed text;
begin
    if p_wait = 'instance' and coalesce(p_args ->> 'id', '') !~ '^[0-9]{1,18}$' then
        v_name := 'id';
        v_allowed := 'the number of an instance';
    elsif p_wait = 'child' and jsonb_typeof(p_args -> 'workflow') is distinct from 'string' then
        v_name := 'workflow';
        v_allowed := 'the name of a workflow';
    elsif jsonb_typeof(p_args -> 'key') not in ('string', 'null') then
        v_name := 'key';
        v_allowed := 'a text of 1 to 255 bytes, or null';
    elsif p_args ->> 'priority' !~ '^-?[0-9]{1,4}$' then
        v_name := 'priority';
        v_allowed := 'a number from -1000 to 1000, or null';
    elsif jsonb_typeof(p_args -> 'detached') <> 'boolean' then
        v_name := 'detached';
        v_allowed := 'true or false';
    elsif jsonb_typeof(p_args -> 'accept') <> 'array'
          or not p_args -> 'accept' <@ '["success", "warning", "error", "aborted"]' then
        v_name := 'accept';
        v_allowed := 'a list of success, warning, error and aborted';
    end if;
    return case when v_name is not null
                then wf._refuse('input', format('%s has to be %s, not %s', v_name, v_allowed,
                                                left(coalesce(p_args ->> v_name, 'null'), 100))) end;
end;
$$;

-- wf._child_wait(p_instance, p_process)
--
-- Returns  the wait of a task for an instance; no row if the task no longer waits for one
-- Locks    nothing
-- Raises   nothing
-- Called   by _asked_children and _begin_children
create or replace function wf._child_wait(p_instance bigint, p_process bigint)
returns table (state text, wait text, args jsonb, awaits_id bigint)
language sql stable rows 1
begin atomic
    select p.state, y.wait, coalesce(p.input, n.input), t.awaits_id
      from (select x.awaits_id from wf.timer x
             where x.instance_id = p_instance and x.process_id = p_process and x.kind = 'child' offset 0) t
     cross join lateral (select x.state, x.input, x.version_id, x.node_id from wf.process x
                          where x.instance_id = p_instance and x.id = p_process offset 0) p
     cross join lateral (select x.input, x.type_id from wf.node x
                          where x.version_id = p.version_id and x.id = p.node_id offset 0) n
     cross join lateral (select x.wait from wf.task_type x where x.id = n.type_id offset 0) y;
end;

-- wf._asked_children(p_instance, p_process)
--
-- Returns  for those of these tasks that have no instance yet, the instance that each asks for. error: what is wrong
--          with the arguments. single: null if the instance can be started together with others
-- Locks    nothing
-- Raises   nothing
-- Called   by _begin_children
create or replace function wf._asked_children(p_instance bigint[], p_process bigint[])
returns table (i bigint, j bigint, wait text, args jsonb, starter wf.starter, workflow text, error jsonb, priority int,
               detached boolean, single bigint)
language sql stable rows 100
begin atomic
    select x.i, x.j, x.wait, x.args, x.starter, x.args ->> 'workflow', x.error,
           case when x.error is null then coalesce((x.args ->> 'priority')::int, x.priority) end,
           coalesce(x.args -> 'detached' = 'true', false),
           case when x.wait = 'instance' or x.args ->> 'key' is not null or x.error is not null then x.j end
      from (select u.i, u.j, w.wait, w.args, wf._starter_of(u.i, u.j) as starter,
                   wf._refuse_child(w.wait, w.args) as error,
                   (select y.priority from wf.instance y where y.id = u.i) as priority
              from (select distinct v.i, v.j from unnest(p_instance, p_process) v (i, j)) u
             cross join lateral wf._child_wait(u.i, u.j) w
             where w.state = 'WAITING' and w.awaits_id is null
               and not exists (select from wf.suspended s where s.instance_id = u.i)
             order by u.i, u.j offset 0) x;
end;

-- wf._start_children(p_starter, p_args, p_priority)
--
-- Starts the instances that tasks wf.Start ask for. All are of one workflow, with the same
-- priority, for one login. With a key there is only one. Another transaction may hold the
-- row of a quota, or have claimed the key. This waits a moment for that transaction, and then
-- leaves the start for later. If the start is refused, the tasks get the error.
--
-- Returns  the instances, in order; or an error record, and none is started; or neither: try again later
-- Locks    as _start and _start_all, for at most 100 ms each
-- Raises   nothing of its own
-- Called   by _begin_children
create or replace function wf._start_children(p_starter wf.starter[], p_args jsonb[], p_priority int,
                                              out instances bigint[], out error jsonb)
language plpgsql as $$
declare
    v_timeout constant text := current_setting('lock_timeout');
    v_most constant bigint := wf._setting_number('child_depth');
    v_workflow constant text := p_args[1] ->> 'workflow';
begin
    if p_starter[1].depth > v_most then
        error := wf._refuse('limit', format('the instance would be %s deep below the topmost one, more than the %s '
                                            'allowed (setting child_depth)', p_starter[1].depth, v_most));
        return;
    end if;
    perform set_config('lock_timeout', '100ms', true);
    if p_args[1] ->> 'key' is not null then
        instances := array[wf._start(v_workflow, nullif(p_args[1] -> 'params', 'null'), p_args[1] ->> 'key',
                                     p_priority, '{}', null, null, null, p_starter[1])];
    else
        perform wf._check_workflow_grant(v_workflow, p_starter[1].login);
        instances := wf._start_all(v_workflow, array(select nullif(a.args -> 'params', 'null')
                                                       from unnest(p_args) with ordinality a (args, k) order by a.k),
                                   p_priority, p_starter);
    end if;
    perform set_config('lock_timeout', v_timeout, true);
exception
    when sqlstate 'WF002' or sqlstate 'WF003' or sqlstate 'WF007' then
        error := wf._refuse('input', sqlerrm);
    when sqlstate 'WF008' or sqlstate 'WF017' then
        error := wf._refuse('rejected', sqlerrm);
    when sqlstate 'WF016' then
        error := wf._refuse('limit', sqlerrm);
    when lock_not_available then
        instances := null;
end;
$$;

-- wf._find_awaited(p_instance, p_process, p_id)
--
-- Finds and locks an instance that this process has not just started, so that it cannot
-- end before the wait is stored. An instance that the login may not see is treated as
-- unknown.
--
-- Returns  error: why the process cannot wait for the instance, else null; held: true if it is locked, false if
--          somebody else holds it
-- Locks    the instance (for share, skipping a locked one)
-- Raises   nothing
-- Called   by _begin_children
create or replace function wf._find_awaited(p_instance bigint, p_process bigint, p_id bigint, out held boolean,
                                            out error jsonb)
language plpgsql as $$
begin
    if not exists (select from wf.instance i join wf.workflow w on w.id = i.workflow_id
                    where i.id = p_id and wf._may_see((wf._starter_of(p_instance, p_process)).login, w.name)) then
        error := wf._refuse('input', format('there is no instance %s, or the login that started this one may not see '
                                            'it', p_id));
    elsif wf._waits_around(p_id, p_instance) then
        error := wf._refuse('deadlock', format('instance %s is this instance, or waits for this instance', p_id));
    else
        perform from wf.instance i where i.id = p_id for share skip locked;
        held := found;
    end if;
end;
$$;

-- wf._begin_children(p_instance, p_process, p_now)
--
-- Starts or finds the instances that tasks wait for. Instances of one workflow are started
-- together; if that is refused, each is started by itself. A task in a suspended instance
-- starts nothing, nor does a task that another one has stopped meanwhile. The arrays run in
-- parallel.
--
-- Returns  nothing
-- Locks    as _start_children and _find_awaited; the caller holds the instances of the tasks
-- Raises   nothing of its own
-- Called   by _tend_children
create or replace function wf._begin_children(p_instance bigint[], p_process bigint[], p_now timestamptz) returns void
language plpgsql as $$
declare
    v_error jsonb;
    v_child bigint[];
    v_held boolean;
    v_moved boolean := false; -- a task has gone on or failed, and that may have stopped others
    f record;
begin
    for f in
        select array_agg(x.i) as instances, array_agg(x.j) as processes, array_agg(x.starter) as starters,
               array_agg(x.args) as args, x.wait, x.error, x.priority, x.detached, x.single is not null as single
          from wf._asked_children(p_instance, p_process) x
         group by x.wait, x.workflow, x.error, x.priority, x.detached, x.single, (x.starter).login, (x.starter).depth
         order by min(x.j)
    loop
        if v_moved and exists (select from unnest(f.instances, f.processes) u (i, j)
                                where (select w.state from wf._child_wait(u.i, u.j) w) is distinct from 'WAITING') then
            perform wf._begin_children(f.instances, f.processes, p_now);
            continue;
        end if;
        v_error := f.error;
        v_child := null;
        v_held := true;
        if v_error is null and f.wait = 'child' then
            select s.instances, s.error into v_child, v_error from wf._start_children(f.starters, f.args, f.priority) s;
        elsif v_error is null then
            v_child := array[(f.args[1] ->> 'id')::bigint];
        end if;
        if v_error is not null and cardinality(f.processes) > 1 then
            for k in 1 .. cardinality(f.processes) loop
                perform wf._begin_children(f.instances[k:k], f.processes[k:k], p_now);
            end loop;
            v_moved := true;
            continue;
        end if;
        if v_error is null and v_child is not null and f.single and not f.detached
            and not exists (select from wf.instance i
                             where i.id = v_child[1] and i.parent_id = f.instances[1]
                               and i.parent_process_id = f.processes[1]) then
            select x.held, x.error into v_held, v_error
              from wf._find_awaited(f.instances[1], f.processes[1], v_child[1]) x;
        end if;
        v_moved := v_moved or v_error is not null or f.detached;
        if v_error is not null then
            perform wf._end_waits(f.instances, f.processes, null, array[v_error], p_now);
        elsif v_child is null or not v_held then
            insert into wf.work (kind, instance_id, item_id, due_at)
            select 'child', u.i, u.j, p_now + interval '100 ms' from unnest(f.instances, f.processes) u (i, j);
        elsif f.detached then
            perform wf._end_waits(f.instances, f.processes,
                                  array(select jsonb_build_object('instance', c.id, 'result', null, 'output', null)
                                          from unnest(v_child) with ordinality c (id, k) order by c.k), null, p_now);
        else
            update wf.timer t set awaits_id = u.child
              from unnest(f.instances, f.processes, v_child) u (i, j, child)
             cross join lateral (select x.ctid as place from wf.timer x
                                  where x.instance_id = u.i and x.process_id = u.j and x.kind = 'child' offset 0) k
             where t.ctid = k.place;
        end if;
    end loop;
end;
$$;

-- wf._tend_children(p_instance, p_process, p_now)
--
-- Moves tasks on that wait for instances. A task starts or finds its instance, ends if that
-- instance has ended, and stops if it is to stop. The arrays run in parallel.
--
-- Returns  nothing
-- Locks    as _begin_children; the caller holds the instances of the tasks
-- Raises   nothing of its own
-- Called   by _do_work, and by the simulator for tasks that are to stop
create or replace function wf._tend_children(p_instance bigint[], p_process bigint[], p_now timestamptz) returns void
language plpgsql as $$
declare
    f record;
begin
    if exists (select from unnest(p_instance, p_process) u (i, j)
                cross join lateral (select from wf.timer x
                                     where x.instance_id = u.i and x.process_id = u.j and x.kind = 'child'
                                       and x.awaits_id is null offset 0) t) then
        perform wf._begin_children(p_instance, p_process, p_now);
    end if;
    select array_agg(e.i) as instances, array_agg(e.j) as processes, array_agg(e.output) as outputs,
           array_agg(e.error) as errors, bool_or(e.state = 'WAITING') as ends, bool_or(e.state <> 'WAITING') as stops
      into f
      from wf._ended_children(p_instance, p_process) e;
    if f.ends then
        perform wf._end_waits(f.instances, f.processes, f.outputs, f.errors, p_now);
    end if;
    if f.stops then
        update wf.process p
           set was = p.state, event = 'cancelled', at = p_now,
               state = case p.state when 'CANCEL_REQUESTED' then 'FAILED' else 'ABORTED' end,
               error = case p.state when 'CANCEL_REQUESTED' then wf._cancelled(null, p.error) else p.error end
          from unnest(f.instances, f.processes) u (i, j)
         cross join lateral (select x.ctid as place from wf.process x
                              where x.instance_id = u.i and x.id = u.j
                                and x.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED') offset 0) k
         where p.ctid = k.place;
    end if;
end;
$$;

-- wf._ended_children(p_instance, p_process)
--
-- Returns  those of these tasks whose wait is over. A task that is WAITING has the output or the error that it gets.
--          A task that is to stop is among them if it has nothing left to wait for
-- Locks    nothing
-- Raises   nothing
-- Called   by _tend_children
create or replace function wf._ended_children(p_instance bigint[], p_process bigint[])
returns table (i bigint, j bigint, state text, output jsonb, error jsonb)
language sql stable rows 10
begin atomic
    select w.i, w.j, w.state, jsonb_build_object('instance', w.awaits_id, 'result', w.result, 'output', w.output),
           case when w.id is null
                then wf._refuse('lost', format('instance %s was purged before this task had read its result',
                                               w.awaits_id))
                when not coalesce(nullif(coalesce(w.input, n.input) -> 'accept', 'null'),
                                  '["success", "warning"]') ? w.result
                then wf._refuse('child', format('instance %s of workflow %s has ended with %s%s', w.id,
                                                (select y.name from wf.workflow y where y.id = w.workflow_id),
                                                w.result, coalesce(': ' || (w.error ->> 'message'), '')))
                     || jsonb_build_object('cause', coalesce(w.error, wf._refuse('aborted', 'aborted'))) end
      from (select u.i, u.j, p.state, p.input, p.version_id, p.node_id, t.awaits_id,
                   c.id, c.workflow_id, c.result, c.output, c.error
              from (select distinct v.i, v.j from unnest(p_instance, p_process) v (i, j)) u
             cross join lateral (select x.awaits_id from wf.timer x
                                  where x.instance_id = u.i and x.process_id = u.j and x.kind = 'child' offset 0) t
             cross join lateral (select x.state, x.input, x.version_id, x.node_id from wf.process x
                                  where x.instance_id = u.i and x.id = u.j offset 0) p
              left join lateral (select x.id, x.state, x.workflow_id, x.result, x.output, x.error, x.parent_id,
                                        x.parent_process_id
                                   from wf.instance x where x.id = t.awaits_id offset 0) c on true
             where case when p.state = 'WAITING'
                        then t.awaits_id is not null and (c.id is null or c.state in ('END', 'ABORTED'))
                        else c.id is null or c.state in ('END', 'ABORTED')
                             or (c.parent_id, c.parent_process_id) is distinct from (u.i, u.j) end
            offset 0) w -- most tasks have just started their instance: only those whose wait is over need more
     cross join lateral (select x.input from wf.node x
                          where x.version_id = w.version_id and x.id = w.node_id offset 0) n
     order by w.i, w.j;
end;
