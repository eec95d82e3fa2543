-- An error looks for its handler. From the failed process outwards, each node that may
-- take errors is asked (wf.node.handles says how it takes them). The first node that
-- takes the error ends the search. wf.node.handler_id names for each node the nearest
-- node around it that is to be asked. So the search is a short walk, and costs nothing
-- without a handler. The child of the handler in which the error came up is then torn
-- down. When it has ended, what follows (wf._follows) is done. Without a handler the
-- process stays FAILED where it failed.

-- wf._add_cause(p_error, p_cause)
--
-- Returns  the error with the cause p_cause, behind the causes that it has already
-- Called   wherever one error is the cause of another
create or replace function wf._add_cause(p_error jsonb, p_cause jsonb) returns jsonb
language plpgsql immutable as $$
begin
    return case when p_cause is null then p_error
                when jsonb_typeof(p_error -> 'cause') = 'object'
                then p_error || jsonb_build_object('cause', wf._add_cause(p_error -> 'cause', p_cause))
                else p_error || jsonb_build_object('cause', p_cause) end;
end;
$$;

-- wf._caught(p_instance, p_process)
--
-- Returns  the error for which the innermost catch, finally or undo around a process runs: the catch has taken it, it
--          is on its way out through the finally, or it has led to the undo; null if there is none
-- Called   by _handle
create or replace function wf._caught(p_instance bigint, p_process bigint) returns jsonb
language plpgsql stable as $$
begin
    return (
        with recursive up (id, parent_id, kind, version_id, node_id, scopes, error) as (
            select p.id, p.parent_id, p.kind, p.version_id, p.node_id, p.scopes, null::jsonb
              from wf.process p
             where p.instance_id = p_instance and p.id = p_process
             union all
            select p.id, p.parent_id, p.kind, p.version_id, p.node_id, p.scopes,
                   case when wf._is_shelter(p.kind) then wf._way_out(p_instance, p.parent_id) end
              from up u
             cross join lateral (select x.* from wf.process x
                                  where x.instance_id = p_instance and x.id = u.parent_id offset 0) p
             where u.kind <> 'catch' and u.error is null)
        select coalesce(u.error, b.value)
          from up u
          left join wf.node n on u.kind = 'catch' and n.version_id = u.version_id and n.id = u.node_id
          left join wf.binding b
            on b.instance_id = p_instance and b.scope_id = u.scopes[cardinality(u.scopes)] and b.name = n.item
         where u.error is not null or u.kind = 'catch');
end;
$$;

-- wf._takes(p_try, p_catch, p_process, p_error, p_at)
--
-- Returns  whether a catch takes an error: it has no `when`, or its `when` is true. If the value of `when` is not a
--          boolean, an event tells so
-- Called   by _choose_catch
create or replace function wf._takes(p_try wf.process, p_catch wf.node, p_process bigint, p_error jsonb,
                                     p_at timestamptz) returns boolean
language plpgsql as $$
declare
    v_environment jsonb;
    v_result jsonb;
begin
    if p_catch.condition is null then
        return true;
    end if;
    v_environment := wf._environment(p_try.instance_id, p_try.scopes, p_catch.reads)
                     || jsonb_build_object(p_catch.item, p_error);
    v_result := wf._evaluate(p_catch.condition, v_environment);
    if jsonb_typeof(v_result -> 'value') is distinct from 'boolean' then
        insert into wf.event (instance_id, process_id, xid, at, was, event, state, detail)
        select p.instance_id, p.id, pg_current_xact_id(), p_at, p.state, 'undecided', p.state,
               coalesce(wf._blame(v_result -> 'error', p_catch.condition, v_environment, p_catch.line, 'when'),
                        wf._refuse('input', format('when needs a boolean, not %s',
                                                                        jsonb_typeof(v_result -> 'value'))))
               || jsonb_build_object('line', p_catch.line)
          from wf.process p where p.instance_id = p_try.instance_id and p.id = p_process;
    end if;
    return coalesce(v_result -> 'value' = 'true', false);
end;
$$;

-- wf._choose_catch(p_try, p_process, p_error, p_at)
--
-- Returns  the first catch of a try that takes an error; null if none does
-- Called   by _ask_handler
create or replace function wf._choose_catch(p_try wf.process, p_process bigint, p_error jsonb, p_at timestamptz)
returns int
language plpgsql as $$
declare
    v_catch wf.node;
begin
    for v_catch in
        select n.* from wf.node n
         where n.version_id = p_try.version_id and n.parent_id = p_try.node_id and n.kind = 'catch'
         order by n.ordinal
    loop
        if wf._takes(p_try, v_catch, p_process, p_error, p_at) then
            return v_catch.id;
        end if;
    end loop;
    return null;
end;
$$;

-- wf._ask_handler(p_around, p_node, p_body, p_process, p_error, p_at)
--
-- Asks a process around a failed one whether it takes the error. An error that leaves the
-- finally of a branch takes the place of the branch's error if the branch has already left
-- its race.
--
-- Returns  what follows (a row of wf._follows) when the child of p_around with the failed
--          process in it has been torn down, and the node that this concerns; null if
--          p_around does not take the error
-- Called   by _search
create or replace function wf._ask_handler(p_around wf.process, p_node wf.node, p_body bigint, p_process bigint,
                                           p_error jsonb, p_at timestamptz, out follows text, out node_id int)
language plpgsql as $$
begin
    case p_node.handles
        when 'takes' then
            node_id := wf._choose_catch(p_around, p_process, p_error, p_at);
            follows := case when node_id is not null then 'handled' end;
        when 'counts' then
            follows := 'counted';
            node_id := p_node.id;
        when 'leaves' then
            follows := case when p_around.spare > 0 or wf._is_given_up(p_around.instance_id, p_body) then 'left' end;
            node_id := p_node.id;
        when 'retries' then
            follows := case when wf._has_round_left(p_around, p_node, p_process, p_error, p_at) then 'again' end;
            node_id := p_node.id;
    end case;
end;
$$;

-- wf._search(p_process, p_error, p_at)
--
-- Looks for the handler of an error, from the failed process outwards.
--
-- Returns  the handler, the child of it that is to be torn down, and what follows then (see
--          _ask_handler); null if nothing takes the error. Also the error: if it is that of
--          the last branch of a race, those of the other branches are its cause
-- Called   by _handle
create or replace function wf._search(p_process wf.process, p_error jsonb, p_at timestamptz, out around_id bigint,
                                      out body_id bigint, out follows text, out node_id int, out error jsonb)
language plpgsql as $$
declare
    v_around wf.process := p_process;
    v_node wf.node;
    v_handler int := (select n.handler_id from wf.node n
                       where n.version_id = p_process.version_id and n.id = p_process.node_id);
    v_torn constant boolean := exists (select from wf.teardown t where t.instance_id = p_process.instance_id);
    v_asked boolean;
begin
    error := p_error;
    while v_handler is not null loop
        while v_around.node_id <> v_handler loop
            body_id := v_around.id;
            select p.* into v_around
              from wf.process p
             where p.instance_id = v_around.instance_id and p.id = v_around.parent_id;
        end loop;
        select n.* into v_node from wf.node n where n.version_id = v_around.version_id and n.id = v_handler;
        -- an error may come out of a finally below a teardown: a process that is torn down takes no error
        v_asked := not v_torn or not exists (select from wf._torn(array[v_around.instance_id], array[v_around.id]));
        if v_asked then
            select a.* into follows, node_id
              from wf._ask_handler(v_around, v_node, body_id, p_process.id, error, p_at) a;
        end if;
        if follows is not null then
            around_id := v_around.id;
            return;
        end if;
        body_id := null;
        if v_asked and v_node.handles = 'leaves' then
            error := wf._add_cause(error, wf._behind(v_around.instance_id, v_around.id, null));
        end if;
        v_handler := v_node.handler_id;
    end loop;
end;
$$;

-- wf._hand_over(p_process, p_around, p_body, p_follows, p_node, p_error, p_at)
--
-- A handler has taken an error. The failed process hands it on. The handler's child that
-- the process is in is torn down, with everything else in it.
--
-- Returns  nothing
-- Locks    as _tear
-- Called   by _handle
create or replace function wf._hand_over(p_process wf.process, p_around bigint, p_body bigint, p_follows text,
                                         p_node int, p_error jsonb, p_at timestamptz) returns void
language plpgsql as $$
declare
    v_reason constant text := wf._reason();
    v_torn bigint[];
    v_undone boolean := false;
begin
    perform wf._tear_down(array[p_process.instance_id], array[p_body], p_follows, p_node, p_error, p_at, false);
    v_torn := p_body || wf._leave_finallys(p_process, p_body, p_error, p_at);
    perform wf._mark_torn(array_agg(t.instance_id), array_agg(t.process_id), p_at)
       from wf._torn_around(array[p_process.instance_id], array[p_process.id]) t;
    if p_follows in ('counted', 'left') then
        perform wf._give_up_child(p, p_body, p_error, p_at)
           from wf.process p where p.instance_id = p_process.instance_id and p.id = p_around;
    end if;
    if p_process.state in ('FAILED', 'ABORTING') then
        perform wf._set_reason(format(f.reason, n.line))
           from wf._follows() f, wf.node n
          where f.follows = p_follows and n.version_id = p_process.version_id and n.id = p_node;
        if p_body = p_process.id then
            v_undone := wf._undo_failed(array[p_process.instance_id], array[p_body], p_at);
        end if;
        update wf.process p
           set was = p.state, event = 'raise', at = p_at,
               state = wf._next_state(p.machine, p.state, 'raise', false)
         where p.instance_id = p_process.instance_id and p.id = p_process.id and not v_undone;
        perform wf._set_reason(v_reason);
    end if;
    if p_body <> p_process.id then
        perform wf._tear(array_fill(p_process.instance_id, array[cardinality(v_torn)]), v_torn, p_at);
    else -- there is nothing else in it
        update wf.teardown t set next_id = null, sure = true
         where t.instance_id = p_process.instance_id and t.process_id = p_body;
    end if;
end;
$$;

-- wf._end_by(p_process, p_error, p_record, p_at, p_undo)
--
-- Ends an instance by an error that no handler takes. p_record is the error as finallys
-- see it. p_undo says whether the noted processes of the instance are undone. If the
-- instance is being aborted already, the error comes out of a finally or undo, and
-- replaces that of the instance.
--
-- Returns  nothing
-- Locks    as _tear
-- Called   by _handle, _decide_failure and _end_late
create or replace function wf._end_by(p_process wf.process, p_error jsonb, p_record jsonb, p_at timestamptz,
                                      p_undo boolean default false)
returns void
language plpgsql as $$
declare
    v_torn bigint[];
begin
    update wf.instance i set was = i.state, event = 'raise', at = p_at, error = p_error
     where i.id = p_process.instance_id and i.state = 'ABORTING';
    update wf.teardown t set error = p_record, undo = t.undo or p_undo
     where t.instance_id = p_process.instance_id and t.follows = 'aborted';
    perform wf._abort(array[p_process.instance_id], p_error, false, p_record => p_record, p_undo => p_undo);
    v_torn := wf._leave_finallys(p_process, null, p_record, p_at);
    perform wf._mark_torn(array_agg(t.instance_id), array_agg(t.process_id), p_at)
       from wf._torn_around(array[p_process.instance_id], array[p_process.id]) t;
    perform wf._tear(array_fill(p_process.instance_id, array[cardinality(v_torn)]), v_torn, p_at);
end;
$$;

-- wf._handle(p_moves, p_at)
--
-- Handles processes that have failed, or whose error an operator hands on. A process that
-- fails below a teardown is aborted. An error of kind engine is not given to handlers,
-- because the evaluation of their conditions may have raised it. A handed-on error that no
-- handler takes ends the instance as soon as the process is released.
--
-- Returns  nothing
-- Locks    as _tear
-- Called   by the update trigger of process
create or replace function wf._handle(p_moves wf.full_move[], p_at timestamptz) returns void
language plpgsql as $$
declare
    v_process wf.process;
    v_key record;
    v_error jsonb;
    v_record jsonb; -- the error as a catch sees it
    f record;
begin
    -- everything in these composites has stopped, and now their own error looks for a
    -- handler
    if exists (select from wf._due_full(p_moves, 'handle') m where m.was = 'ABORTING' and m.state = 'FAILED') then
        delete from wf.teardown t
         where t.ctid = any (array(select k.ctid
                                     from wf._due_full(p_moves, 'handle') m
                                    cross join lateral (select x.ctid from wf.teardown x
                                                         where x.instance_id = m.instance_id and x.process_id = m.id
                                                        offset 0) k
                                    where m.was = 'ABORTING' and m.state = 'FAILED'));
    end if;
    for v_key in
        select m.instance_id as i, m.id as j, m.event, m.state, n.on_failure, n.on_failure_own
          from wf._due_full(p_moves, 'handle') m
         cross join lateral (select x.handler_id, x.on_failure, x.on_failure_own from wf.node x
                              where x.version_id = m.version_id and x.id = m.node_id offset 0) n
         where n.handler_id is not null or n.on_failure is not null or m.event <> 'fail'
            or exists (select from wf.teardown)
         order by m.instance_id, m.id
    loop
        select p.* into v_process from wf.process p where p.instance_id = v_key.i and p.id = v_key.j;
        -- torn down with a process before it, or moved on since: that move was handled already
        continue when (v_process.event, v_process.state) <> (v_key.event, v_key.state);
        if exists (select from wf._torn(array[v_key.i], array[v_key.j])) then
            perform wf._mark_torn(array_agg(t.instance_id), array_agg(x.id), p_at)
               from wf._torn(array[v_key.i], array[v_key.j]) t, unnest(t.path) x (id);
            perform wf._stop(array[v_key.i], array[v_key.j], p_at);
            continue;
        end if;
        v_error := wf._add_cause(v_process.error, wf._caught(v_key.i, v_key.j));
        v_record := jsonb_build_object('kind', v_error -> 'kind', 'message', v_error -> 'message',
                                       'detail', v_error -> 'detail',
                                       -- a forall fails with the error of an element
                                       'process', coalesce(v_error -> 'process', to_jsonb(v_process.id)),
                                       'attempt', coalesce(v_error -> 'attempt', to_jsonb(v_process.attempt)),
                                       'cause', v_error -> 'cause');
        if v_error ->> 'kind' = 'engine' then
            v_key.on_failure := null;
        end if;
        select s.* into f from wf._search(v_process, v_record, p_at) s
         where v_error ->> 'kind' is distinct from 'engine'
           and (v_key.on_failure_own and v_process.state = 'FAILED') is not true;
        v_error := v_error || jsonb_strip_nulls(jsonb_build_object('cause', f.error -> 'cause'));
        if v_process.state = 'ABORTING' and f.body_id is distinct from v_process.id then
            -- an operator hands the error on, and the processes noted in it are not undone by themselves
            update wf.process p set was = p.state, event = 'raise', state = 'RAISED', at = p_at
             where p.instance_id = v_process.instance_id and p.id = v_process.id;
        elsif f.body_id is not null then
            perform wf._hand_over(v_process, f.around_id, f.body_id, f.follows, f.node_id, f.error, p_at);
        elsif v_process.state = 'RAISED' then
            perform wf._end_by(v_process, v_error, coalesce(f.error, v_record), p_at);
        elsif v_process.state = 'FAILED' and v_key.on_failure is not null then
            perform wf._decide_failure(v_process, v_key.on_failure, v_error, coalesce(f.error, v_record), p_at);
        end if;
    end loop;
end;
$$;
