-- What follows from a move. A procedure says which move a process makes, by an
-- UPDATE of its row; these triggers refuse it if it is no row of wf.transition,
-- write the history, and do everything that follows from it.

-- wf._refuse_move()
--
-- Refuses a row whose `was` is not the state it had, or that became another row.
--
-- Raises   WF001
-- Called   by row triggers that are only a WHEN clause: an honest row costs one expression
create or replace function wf._refuse_move() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    raise exception using errcode = 'WF001',
        message = format('illegal move of %s %s: it is in %s, not in %s', tg_table_name, old.id, old.state, new.was),
        hint = 'The legal moves are the rows of wf.transition; use the operator procedures.';
end;
$$;

-- wf._illegal(p_machine, p_was, p_event, p_state, p_what)
--
-- Raises   WF001, always
-- Called   by the statement triggers when a move is no row of wf.transition
create or replace function wf._illegal(p_machine text, p_was text, p_event text, p_state text, p_what text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    raise exception using errcode = 'WF001',
        message = format('illegal move of %s: %s -%s-> %s is no move of machine %s', p_what, coalesce(nullif(p_was, ''), '(new)'), p_event, p_state, p_machine),
        hint = 'The legal moves are the rows of wf.transition; use the operator procedures.';
end;
$$;

-- wf._step(p_name)
--
-- Returns  the bit of what may follow from a move, in the order in which it is done
-- Locks    nothing
-- Raises   nothing
-- Called   with a constant, so that plans hold a number
create or replace function wf._step(p_name text) returns int
language sql immutable
begin atomic
    select 1 << array_position(array['illegal', 'record', 'failed', 'ask', 'ignored', 'request', 'slot', 'unqueue', 'timer', 'bind', 'collect', 'again',
                                     'reenter', 'enter', 'handle', 'next', 'refill', 'last', 'up', 'torn', 'root',
                                     'ready', 'queue', 'scope', 'block', 'fan', 'empty', 'broken'], p_name);
end;

-- What may follow from each move; for which rows it does is said where they are
-- counted. What ends last in its parent, and what ends it in any case, goes up.
update wf.transition t
   set steps = (select coalesce(sum(wf._step(s.step)), 0)
                  from (values ('record', t.recorded),
                               ('failed', t.to_state = 'FAILED' or t.from_state = 'FAILED'),
                               ('ask', t.asks in ('cancel', 'cleanup')),
                               ('ignored', t.event = 'ignore'),
                               ('request', t.ends_request),
                               ('slot', t.frees_slot),
                               ('unqueue', t.from_state <> t.to_state
                                           and (t.from_state = 'INIT' and t.to_state <> 'START_REQUESTED' and t.machine <> 'wait'
                                                or t.machine = 'async' and (t.from_state in ('EXECUTING', 'CANCEL_REQUESTED') or right(t.from_state, 17) = 'CLEANUP_REQUESTED'))),
                               ('timer', t.machine in ('async', 'wait') and t.event not in ('started', 'polled', 'progress', 'ack', 'start')),
                               ('bind', t.to_state = 'END' or t.machine = 'composite' and t.to_state in ('ABORTED', 'RAISED')),
                               ('collect', t.to_state = 'END'),
                               ('again', t.asks = 'start'),
                               ('reenter', t.event = 'retry' and t.to_state = 'ACTIVE'),
                               ('enter', t.event = 'enter'),
                               ('next', t.to_state = 'END' and t.event <> 'return'),
                               ('refill', t.event = 'refill'),
                               ('last', t.to_state = 'END' and t.event <> 'return'),
                               ('up', t.event = 'return' or t.to_state in ('ABORTED', 'RAISED')),
                               ('handle', t.to_state in ('FAILED', 'RAISED') or t.event = 'raise'),
                               ('torn', t.to_state in ('END', 'RAISED', 'ABORTED')),
                               ('root', t.to_state in ('END', 'RAISED', 'ABORTED'))) s (step, due)
                 where s.due);

-- wf._process_inserted()
--
-- Processes were enabled or entered: queue the leaves, open the scopes, begin
-- the children.
--
-- Locks    nothing; only inserts
-- Raises   WF001
create or replace function wf._process_inserted() returns trigger
language plpgsql security definer :engine as $$
declare
    v_steps int;
    v_at timestamptz;
    v_suspended boolean;
begin
    select bit_or(case when t.steps is null or n.was <> '' then wf._step('illegal')
                       when n.error is not null then wf._step('broken')
                       when n.kind = 'wait' or n.kind in ('sync', 'async') and n.group_id is not null then wf._step('queue')
                       when n.kind in ('sync', 'async') then wf._step('ready')
                       else case when n.kind = 'call' and (n.parent_id is not null or n.input is not null) then wf._step('scope') else 0 end
                            | case when n.open = 0 then wf._step('empty') when n.kind = 'forall' then wf._step('fan') else wf._step('block') end end),
           max(n.at), exists (select from wf.suspended)
      into v_steps, v_at, v_suspended
      from new_rows n
      left join lateral (select x.steps from wf.transition x
                          where x.machine = case when n.kind in ('sync', 'async', 'wait') then n.kind else 'composite' end
                            and x.from_state = n.was and x.event = n.event and x.to_state = n.state offset 0) t on true;
    if v_steps & wf._step('illegal') > 0 then
        perform wf._illegal(n.kind, n.was, n.event, n.state, format('process %s/%s', n.instance_id, n.id))
           from new_rows n
          where not exists (select from wf.transition t
                             where t.machine = case when n.kind in ('sync', 'async', 'wait') then n.kind else 'composite' end
                               and t.from_state = n.was and t.event = n.event and t.to_state = n.state and n.was = '');
    end if;
    if v_steps & wf._step('ready') > 0 then
        insert into wf.ready (instance_id, process_id, lane_id, rank, turn, request)
        select n.instance_id, n.id, n.lane_id, n.rank, wf._turn(n.at, wf._place(n.index, n.scopes)), 'start'
          from new_rows n where n.kind in ('sync', 'async') and n.group_id is null and n.error is null;
        if wf._may_ring() then
            perform wf._ring();
        end if;
    end if;
    if v_steps & wf._step('queue') > 0 then
        perform wf._queue(array_agg(n.instance_id), array_agg(n.id))
           from new_rows n where n.error is null and (n.group_id is not null or n.kind = 'wait');
    end if;
    if v_suspended and v_steps & (wf._step('ready') | wf._step('queue')) > 0 then
        perform wf._park(array(select s.instance_id from wf.suspended s where s.instance_id in (select n.instance_id from new_rows n)), v_at);
    end if;
    if v_steps & wf._step('scope') > 0 then
        insert into wf.binding (instance_id, scope_id, name, value)
        select n.instance_id, n.id, j.key, j.value
          from new_rows n
          join wf.node d on d.version_id = n.version_id and d.id = n.node_id
         cross join lateral jsonb_each(coalesce(n.input, case when d.input_fixed then d.input end)) j
         where n.kind = 'call' and n.error is null;
    end if;
    if v_steps & wf._step('block') > 0 then
        perform wf._enter_children(array_agg(n.instance_id), array_agg(n.id), v_at)
           from new_rows n where n.open > 0 and n.kind <> 'forall';
    end if;
    if v_steps & wf._step('fan') > 0 then
        perform wf._enter_forall(array_agg(n.instance_id), array_agg(n.id), v_at)
           from new_rows n where n.open > 0 and n.kind = 'forall';
    end if;
    if v_steps & wf._step('empty') > 0 then
        perform wf._end_empty(array_agg(n.instance_id), array_agg(n.id), v_at)
           from new_rows n where n.open = 0 and n.kind not in ('sync', 'async', 'wait') and n.error is null;
    end if;
    if v_steps & wf._step('broken') > 0 then
        update wf.process p set was = p.state, event = 'fail', state = 'FAILED', at = v_at
         where p.ctid = any (array(select k.ctid from new_rows n
                                    cross join lateral (select x.ctid from wf.process x where x.instance_id = n.instance_id and x.id = n.id offset 0) k
                                    where n.error is not null));
    end if;
    if pg_trigger_depth() in (13, 14) and v_at is not null then
        perform wf._enter_pending(v_at);
    end if;
    return null;
end;
$$;

-- wf._process_updated()
--
-- Processes made a move: history, the tables that say what is true now, then
-- (last, since it nests) what begins or ends because of it.
--
-- Locks    the parents' rows; by then the caller holds their instances
-- Raises   WF001
create or replace function wf._process_updated() returns trigger
language plpgsql security definer :engine as $$
declare
    v_steps int;
    v_at timestamptz;
    v_signed boolean;
    v_reason text;
begin
    select bit_or(case when t.steps is null then wf._step('illegal')
                       else t.steps & ~ (case when n.group_id is null then wf._step('slot') else 0 end
                                         | case when n.bind is null and n.kind <> 'forall' then wf._step('bind') else 0 end
                                         | case when n.collects then 0 else wf._step('collect') end
                                         | case when n.next_id is null then wf._step('next') else wf._step('last') end
                                         | case when n.parent_id is null then wf._step('last') | wf._step('up') else wf._step('root') end) end),
           max(n.at), exists (select from wf.txn x where x.xid = pg_current_xact_id())
      into v_steps, v_at, v_signed
      from new_rows n
      left join lateral (select x.steps from wf.transition x
                          where x.machine = case when n.kind in ('sync', 'async', 'wait') then n.kind else 'composite' end
                            and x.from_state = n.was and x.event = n.event and x.to_state = n.state offset 0) t on true;
    if v_at is null then
        return null;
    end if;
    if v_steps & wf._step('illegal') > 0 then
        perform wf._illegal(t.machine, n.was, n.event, n.state, format('process %s/%s', n.instance_id, n.id))
           from new_rows n
          cross join lateral (select case when n.kind in ('sync', 'async', 'wait') then n.kind else 'composite' end as machine) t
          where not exists (select from wf.transition x
                             where x.machine = t.machine and x.from_state = n.was and x.event = n.event and x.to_state = n.state);
    end if;
    if v_steps & wf._step('record') > 0 then
        if pg_trigger_depth() = 1 and not v_signed then
            perform wf._sign(null);
        end if;
        v_reason := nullif(current_setting('wf.reason', true), '');
        insert into wf.event (instance_id, process_id, xid, at, attempt, was, event, state, reason, detail)
        select n.instance_id, n.id, pg_current_xact_id(), n.at, n.attempt, n.was, n.event, n.state, v_reason,
               case when n.state = 'FAILED' then n.error when n.event = 'resolve' then jsonb_build_object('output', n.output) end
          from new_rows n where n.event not in ('count', 'refill', 'enter');
    end if;
    if v_steps & wf._step('failed') > 0 then
        delete from wf.failed d
         where d.ctid = any (array(select k.ctid from new_rows n
                                    cross join lateral (select x.ctid from wf.failed x where x.instance_id = n.instance_id and x.process_id = n.id offset 0) k
                                    where n.was = 'FAILED'));
        insert into wf.failed (instance_id, process_id) select n.instance_id, n.id from new_rows n where n.state = 'FAILED';
    end if;
    if v_steps & wf._step('ask') > 0 then
        -- before the lease goes: whoever holds a request of a process that is to stop is told
        insert into wf.stop (driver_id, token, instance_id, process_id)
        select l.driver_id, l.token, l.instance_id, l.process_id
          from new_rows n
         cross join lateral (select x.* from wf.lease x where x.instance_id = n.instance_id and x.process_id = n.id offset 0) l
         where n.event in ('cancel', 'abort') and (n.kind = 'sync' or n.was = 'START_REQUESTED')
           and not exists (select from wf.driver d where d.id = l.driver_id and d.state in ('left', 'lost'))
            on conflict do nothing;
    end if;
    if v_steps & wf._step('ignored') > 0 then
        update wf.instance i set was = i.state, event = 'warn', at = v_at, warned = true
         where not i.warned and i.state in ('RUNNING', 'SUSPENDED') and i.id in (select n.instance_id from new_rows n where n.event = 'ignore');
    end if;
    if v_steps & wf._step('request') > 0 then
        delete from wf.lease d
         where d.ctid = any (array(select k.ctid from new_rows n
                                    cross join lateral (select x.ctid from wf.lease x where x.instance_id = n.instance_id and x.process_id = n.id offset 0) k
                                    where n.kind in ('sync', 'async')
                                      and n.event in ('success', 'fail', 'timeout', 'lost', 'release', 'started', 'polled', 'cancelled', 'cleaned')));
    end if;
    if v_steps & wf._step('slot') > 0 then
        with freed as (
            delete from wf.slot d
             where d.ctid = any (array(select k.ctid from new_rows n
                                        cross join lateral (select x.ctid from wf.slot x where x.instance_id = n.instance_id and x.process_id = n.id offset 0) k
                                        where n.group_id is not null
                                          and n.state not in ('START_REQUESTED', 'EXECUTING', 'CANCEL_REQUESTED', 'ABORT_REQUESTED')))
            returning d.group_id)
        insert into wf.dirty (group_id) select distinct x.group_id from freed x;
    end if;
    if v_steps & wf._step('unqueue') > 0 then
        delete from wf.ready d
         where d.ctid = any (array(select k.ctid from new_rows n
                                    cross join lateral (select x.ctid from wf.ready x where x.instance_id = n.instance_id and x.process_id = n.id offset 0) k
                                    where n.was in ('INIT', 'EXECUTING', 'CANCEL_REQUESTED') or right(n.was, 17) = 'CLEANUP_REQUESTED'));
        delete from wf.parked d
         where d.ctid = any (array(select k.ctid from new_rows n
                                    cross join lateral (select x.ctid from wf.parked x where x.instance_id = n.instance_id and x.process_id = n.id offset 0) k
                                    where n.was = 'INIT'));
    end if;
    if v_steps & wf._step('timer') > 0 then
        delete from wf.timer d
         where d.ctid = any (array(select k.ctid from new_rows n
                                    cross join lateral (select x.ctid from wf.timer x where x.instance_id = n.instance_id and x.process_id = n.id offset 0) k
                                    where n.kind in ('async', 'wait') and n.was <> n.state and n.event not in ('ack', 'start', 'begin')));
    end if;
    if v_steps & wf._step('bind') > 0 then
        perform wf._bind(array_agg(n.instance_id), array_agg(n.id))
           from new_rows n where n.state = 'END' and n.bind is not null or n.kind = 'forall' and n.state in ('END', 'ABORTED', 'RAISED');
    end if;
    if v_steps & wf._step('collect') > 0 then
        perform wf._collect(array_agg(n.instance_id), array_agg(n.id)) from new_rows n where n.state = 'END' and n.collects;
    end if;
    if v_steps & wf._step('again') > 0 then
        perform wf._queue(array_agg(n.instance_id), array_agg(n.id)) from new_rows n where n.state = 'INIT';
        if exists (select from wf.suspended) then
            perform wf._park(array(select s.instance_id from wf.suspended s where s.instance_id in (select n.instance_id from new_rows n)), v_at);
        end if;
    end if;
    if v_steps & wf._step('ask') > 0 then
        perform wf._ask(array_agg(n.instance_id), array_agg(n.id), v_at)
           from new_rows n where n.kind = 'async' and right(n.state, 10) = '_REQUESTED' and n.state <> 'START_REQUESTED' and (n.event <> 'fail' or n.was <> n.state);
    end if;
    if v_steps & wf._step('reenter') > 0 then
        perform wf._reenter(array_agg(n.instance_id), array_agg(n.id), v_at) from new_rows n where n.event = 'retry' and n.state = 'ACTIVE';
    end if;
    if v_steps & wf._step('enter') > 0 then
        perform wf._enter_children(array_agg(n.instance_id), array_agg(n.id), v_at)
           from new_rows n where n.event = 'enter' and n.kind <> 'forall' having count(*) filter (where n.open > 0) > 0;
        perform wf._enter_forall(array_agg(n.instance_id), array_agg(n.id), v_at)
           from new_rows n where n.event = 'enter' and n.kind = 'forall' having count(*) filter (where n.open > 0) > 0;
        perform wf._end_empty(array_agg(n.instance_id), array_agg(n.id), v_at)
           from new_rows n where n.event = 'enter' and n.open = 0 having count(*) > 0;
    end if;
    if v_steps & wf._step('handle') > 0 then
        perform wf._handle(array_agg(n.instance_id), array_agg(n.id), v_at) from new_rows n where n.state in ('FAILED', 'RAISED') or n.event = 'raise';
    end if;
    if pg_trigger_depth() > 12 and v_steps & (wf._step('next') | wf._step('refill')) > 0 then
        -- many nodes in a row that pass without waiting: not deeper and deeper, but
        -- one after another; a trigger further up, at depth 13 or 14, sees to them
        insert into wf.pending (instance_id, parent_id, node_id, first, count)
        select n.instance_id, case when n.event = 'refill' then n.id else n.parent_id end, case when n.event <> 'refill' then n.next_id end, n.total - n.todo - n.fill, n.fill
          from new_rows n where n.event = 'refill' or n.state = 'END' and n.next_id is not null and n.event <> 'return';
    else
        if v_steps & wf._step('next') > 0 then
            perform wf._enter(array_agg(n.instance_id), array_agg(n.parent_id), array_agg(n.next_id), null, null, v_at)
               from new_rows n where n.state = 'END' and n.next_id is not null and n.event <> 'return';
        end if;
        if v_steps & wf._step('refill') > 0 then
            perform wf._refill(array_agg(n.instance_id), array_agg(n.id), array_agg(n.total - n.todo - n.fill), array_agg(n.fill), v_at)
               from new_rows n where n.event = 'refill';
        end if;
    end if;
    if v_steps & (wf._step('last') | wf._step('up')) > 0 then
        update wf.process p
           set was = p.state, at = d.at,
               fill = least(d.ended, p.todo),
               todo = p.todo - least(d.ended, p.todo),
               open = p.open - d.ended + least(d.ended, p.todo),
               output = coalesce(d.output, p.output),
               event = case when p.state = 'ABORTING' then case when p.open = d.ended then 'aborted' else 'count' end
                            when d.returned then case p.kind when 'call' then 'end' else 'return' end
                            when p.open - d.ended + p.todo = 0 then case when k.error is not null then 'fail' else 'end' end
                            when p.todo > 0 then 'refill' else 'count' end,
               state = case when p.state = 'ABORTING' then case when p.open = d.ended then 'ABORTED' else 'ABORTING' end
                            when d.returned then 'END'
                            when p.open - d.ended + p.todo = 0 then case when k.error is not null then 'FAILED' else 'END' end
                            else p.state end,
               error = coalesce(k.error, p.error)
          -- what was stopped, or has handed its error on, ends no parent that is not stopped itself
          from (select n.instance_id, n.parent_id, count(*)::int as ended, max(n.at) as at, bool_or(n.event = 'return') as returned,
                       (array_agg(n.output) filter (where n.event = 'return'))[1] as output
                  from new_rows n
                 cross join lateral (select x.state from wf.process x where x.instance_id = n.instance_id and x.id = n.parent_id offset 0) a
                 where n.state = 'END' and (n.next_id is null or n.event = 'return') or n.state in ('RAISED', 'ABORTED') and a.state = 'ABORTING'
                 group by n.instance_id, n.parent_id) d
         cross join lateral (select x.ctid,
                                    case when x.kind = 'forall' and x.state = 'ACTIVE' and x.open - d.ended + x.todo = 0 then wf._collection_error(x) end as error
                               from wf.process x where x.instance_id = d.instance_id and x.id = d.parent_id offset 0) k
         where p.ctid = k.ctid;
    end if;
    if v_steps & wf._step('torn') > 0 and exists (select from wf.teardown) then
        perform wf._end_teardowns(array_agg(n.instance_id), array_agg(n.id), v_at) from new_rows n where n.state in ('END', 'RAISED', 'ABORTED');
    end if;
    if v_steps & wf._step('root') > 0 then
        update wf.instance i
           set was = i.state, at = n.at, ended_at = n.at, output = n.output,
               event = case n.state when 'END' then 'end' else 'aborted' end,
               state = case n.state when 'END' then 'END' else 'ABORTED' end,
               result = case when n.state <> 'END' then case when i.error is null then 'aborted' else 'error' end
                             when i.warned then 'warning' else 'success' end
          from new_rows n
         cross join lateral (select x.ctid from wf.instance x where x.id = n.instance_id offset 0) k
         where n.state in ('END', 'RAISED', 'ABORTED') and n.parent_id is null and i.ctid = k.ctid;
    end if;
    if pg_trigger_depth() in (13, 14) then
        perform wf._enter_pending(v_at);
    end if;
    return null;
end;
$$;

-- wf._instance_moved()
--
-- Instances were started or made a move: check it and write the history; hold
-- those that were suspended, and let go those that no longer are.
--
-- Locks    rows of parked, ready, slot of instances that are suspended or resumed
-- Raises   WF001
create or replace function wf._instance_moved() returns trigger
language plpgsql security definer :engine as $$
declare
    v_first bigint;
    v_illegal bigint;
    v_held boolean;
begin
    select min(n.id), min(n.id) filter (where t.machine is null), bool_or(n.was <> n.state and 'SUSPENDED' in (n.was, n.state))
      into v_first, v_illegal, v_held
      from new_rows n
      left join wf.transition t on t.machine = 'instance' and t.from_state = n.was and t.event = n.event and t.to_state = n.state
                               and (tg_op = 'UPDATE') = (n.was <> '');
    if v_illegal is not null then
        perform wf._illegal('instance', n.was, n.event, n.state, format('instance %s', n.id)) from new_rows n where n.id = v_illegal;
    end if;
    if v_first is null then
        return null;
    end if;
    -- a start may stand in a trigger of the caller's
    if tg_op = 'INSERT' or pg_trigger_depth() = 1 then
        perform wf._sign(null);
    end if;
    insert into wf.event (instance_id, xid, at, was, event, state, reason, detail)
    select n.id, pg_current_xact_id(), n.at, n.was, n.event, n.state, nullif(current_setting('wf.reason', true), ''), n.error
      from new_rows n;
    if v_held then
        insert into wf.suspended (instance_id, at, actor, reason)
        select n.id, n.at, wf._actor(), nullif(current_setting('wf.reason', true), '') from new_rows n where n.event = 'suspend';
        perform wf._park(array_agg(n.id), max(n.at)) from new_rows n where n.event = 'suspend' having count(*) > 0;
        delete from wf.suspended s where s.instance_id in (select n.id from new_rows n where n.was = 'SUSPENDED' and n.state <> 'SUSPENDED');
        perform wf._unpark(array_agg(n.id), max(n.at)) from new_rows n where n.event = 'resume' having count(*) > 0;
    end if;
    return null;
end;
$$;

create or replace trigger process_a_honest after update on wf.process for each row
    when (new.was <> old.state)
    execute function wf._refuse_move();
create or replace trigger process_a_same after update of instance_id, id, kind on wf.process for each row
    when (new.instance_id <> old.instance_id or new.id <> old.id or new.kind <> old.kind)
    execute function wf._refuse_move();
create or replace trigger process_inserted after insert on wf.process referencing new table as new_rows
    for each statement execute function wf._process_inserted();
create or replace trigger process_updated after update on wf.process referencing new table as new_rows
    for each statement execute function wf._process_updated();
create or replace trigger instance_a_honest after update of id, was, event, state, at, workflow_id, version_id on wf.instance for each row
    when (new.was <> old.state or new.id <> old.id or new.workflow_id <> old.workflow_id or new.version_id <> old.version_id)
    execute function wf._refuse_move();
create or replace trigger instance_inserted after insert on wf.instance referencing new table as new_rows
    for each statement execute function wf._instance_moved();
create or replace trigger instance_updated after update on wf.instance referencing new table as new_rows
    for each statement execute function wf._instance_moved();

-- wf._next_state(p_machine, p_state, p_event, p_stays)
--
-- Returns  the state to which an event leads; where there are two, p_stays
--          chooses the present state; null if there is no such move
-- Locks    nothing
-- Raises   nothing
-- Called   wherever a move is made whose target is not a matter of course
create or replace function wf._next_state(p_machine text, p_state text, p_event text, p_stays boolean) returns text
language sql stable
begin atomic
    select (select t.to_state
              from wf.transition t
             where t.machine = p_machine and t.from_state = p_state and t.event = p_event
             order by (t.to_state = t.from_state) = p_stays desc
             limit 1);
end;
