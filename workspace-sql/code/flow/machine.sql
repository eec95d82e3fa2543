-- What follows from a move. A procedure says which move a process makes, by an
-- UPDATE of its row. These triggers refuse a move that is no row of wf.transition,
-- write the history, and do everything that follows from the move.
--
-- How rows are read and written, here and in all functions that the triggers call:
--
-- The ladder. The first query of a trigger looks each move up in wf.transition and
-- collects the rows with the steps that follow from them (wf.move). Then comes one
-- rung for each step. The bits of all rows together say whether any row needs the
-- step; a function does it for the rows that need it (wf._due). A step that no row
-- needs costs no statement. An expression that a transaction evaluates for the first time
-- takes 4,000 instructions. Steps that most moves do without therefore have one condition
-- in common before their own. An aggregate takes 20,000 instructions before it begins. A
-- PERFORM is a query and takes 40,000; an IF is not. A function that nearly every
-- statement needs therefore returns true, and is called in an IF.
-- Most statements move one row, so the bits of a single row are taken as they are. Only
-- the bits of several rows are put together by a query. Three steps are frequent: to write
-- the history, to end a request, and to note that attempts with a limit have begun. The
-- trigger does these itself, since it alone can read the rows of its statement. Rows of
-- wf.move are made only for the other steps, and have the few columns that most of these
-- need. If a step needs more columns, a second query collects them (wf.full_move): a query
-- of 30 columns takes 100,000 instructions before it begins. A function reads a row again
-- only if an earlier rung may have changed the row, or if the function needs its place.
--
-- "cross join lateral (select … where key = … offset 0)". PostgreSQL does not
-- flatten a subquery with offset 0, so each row is looked up by its key in a nested
-- loop. The tables go from empty to full and back within seconds; a plan that is
-- chosen by the statistics of another moment would read all of a table.
--
-- "ctid = any (array(select k.ctid …))". The subquery finds the places of the rows,
-- by their keys; the outer statement goes to these places. A join would be planned
-- by statistics again. A place is that of the row as the statement's snapshot saw it. If
-- another transaction changed that row meanwhile, PostgreSQL follows it to its new
-- place and repeats the condition. The condition compares with the old place, so the
-- row is passed over. This is right here. A transaction that moves a process holds its
-- instance, so no other transaction changes the process's rows. Other rows (ready,
-- parked) go to the transaction that comes first; a later one must pass them over.
--
-- Trigger depths. Each nested UPDATE or INSERT of wf.process adds one to
-- pg_trigger_depth(). Nodes that pass without waiting (a let, an empty element)
-- would nest without end. Deeper than wf._deepest(), a node does not begin at once: it
-- is put into wf.pending. The way there leads through a trigger of the next depth,
-- because wf._gate refuses callers that are as deep themselves. When that trigger has
-- done its own rungs, it begins the pending nodes one after another (_enter_pending).
-- These begin deeper still. The nodes that come after them are therefore put into
-- wf.pending again, and the loop goes on with them.

-- wf._deepest()
--
-- Returns  the greatest trigger depth at which a node begins at once: it is large enough
--          for the trees that people write, and small enough for max_stack_depth
-- Locks    nothing
-- Raises   nothing
-- Called   by the triggers of process, and where nodes begin that may have to be pending
create or replace function wf._deepest() returns int
language sql immutable
begin atomic
    select 12;
end;

-- wf._refuse_move()
--
-- Refuses an update whose `was` is not the row's former state, or that changes whose row
-- it is.
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
language plpgsql as $$
begin
    raise exception using errcode = 'WF001',
        message = format('illegal move of %s: %s -%s-> %s is not a move of machine %s',
                         p_what, coalesce(nullif(p_was, ''), '(new)'), p_event, p_state, p_machine),
        hint = 'The legal moves are the rows of wf.transition; use the operator procedures.';
end;
$$;

-- wf._refuse_illegal(p_moves)
--
-- Raises   WF001, always
-- Called   by the triggers of process when a move is no row of wf.transition
create or replace function wf._refuse_illegal(p_moves wf.move[]) returns void
language plpgsql as $$
begin
    perform wf._illegal(p.machine, p.was, p.event, p.state, format('process %s/%s', p.instance_id, p.id))
       from wf._due(p_moves, 'illegal') m
       join wf.process p on p.instance_id = m.instance_id and p.id = m.id;
end;
$$;

-- wf._process_inserted()
--
-- Processes were enabled or entered. The trigger queues the leaves, opens the scopes and
-- begins the children.
--
-- Locks    nothing; only inserts
-- Raises   WF001
create or replace function wf._process_inserted() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_moves wf.move[];
    v_full wf.full_move[];
    v_steps bigint;
    v_at timestamptz;
    v_suspended boolean;
begin
    select array_agg(row(n.instance_id, n.id, null, null, n.lane_id, n.rank,
                         wf._turn(n.at, wf._place(n.index, n.scopes, n.in_round)), s.steps)::wf.move),
           max(n.at), exists (select from wf.suspended)
      into v_moves, v_at, v_suspended
      from new_rows n
      left join lateral (
           select case when n.error is not null then wf._step('broken')
                       -- a form with a scope of its own sees no scope around it; its parameters are bound in its own.
                       -- A root without input has no parameters
                       when n.machine = 'composite'
                       then wf._entered(n.open, n.total)
                            | case when n.scopes[1] = n.id and (n.parent_id is not null or n.input is not null)
                                   then wf._step('scope') else 0 end
                       when wf._waits_inside(n.machine) or n.group_id is not null or n.rate_id is not null
                       then wf._step('queue')
                       else wf._step('ready') end
                  | case when n.timed & (wf._limit('wait') | wf._limit('deadline')) > 0 then wf._step('limit')
                         else 0 end as steps
             from wf.transition x
            where n.was = '' and x.machine = n.machine and x.from_state = n.was and x.event = n.event
              and x.to_state = n.state offset 0) t on true
     cross join lateral (select coalesce(t.steps, wf._step('illegal')) as steps) s;
    v_steps := v_moves[1].steps;
    if cardinality(v_moves) > 1 then v_steps := (select bit_or(m.steps) from unnest(v_moves) m); end if;
    if v_steps & wf._step('illegal') > 0 then perform wf._refuse_illegal(v_moves); end if;
    if v_steps & wf._full_steps() > 0 then
        select array_agg(wf._full(n.process, v_moves[n.k].steps)) into v_full
          from (select x::wf.process as process, row_number() over () as k from new_rows x) n
         where v_moves[n.k].steps & wf._full_steps() > 0;
    end if;
    if v_steps & wf._step('ready') > 0 then if wf._offer(null, v_moves) then end if; end if;
    if v_full is not null then
        if v_steps & wf._step('queue') > 0 then perform wf._queue(v_full); end if;
        if v_steps & wf._step('scope') > 0 then perform wf._open_scope(v_full); end if;
    end if;
    if v_suspended and v_steps & (wf._step('ready') | wf._step('queue')) > 0
    then perform wf._park_new(v_moves, v_at); end if;
    if v_steps & wf._step('limit') > 0 then perform wf._keep_limits(v_moves, v_at); end if;
    if v_full is not null then
        if v_steps & wf._entered_steps() > 0 then perform wf._unfold(v_full, v_steps, v_at); end if;
        if v_steps & wf._step('broken') > 0 then perform wf._break(v_full, v_at); end if;
    end if;
    if pg_trigger_depth() = wf._deepest() + 1 and v_at is not null then perform wf._enter_pending(v_at); end if;
    return null;
end;
$$;

-- wf._note_moves(p_moves, p_steps, p_at)
--
-- Does the rungs of the ladder that most moves do without: they update the tables that
-- say what is true now.
--
-- Returns  nothing
-- Locks    as the functions that it calls
-- Raises   nothing of its own
-- Called   by the update trigger of process
create or replace function wf._note_moves(p_moves wf.move[], p_steps bigint, p_at timestamptz) returns void
language plpgsql as $$
begin
    if p_steps & wf._step('mended') > 0 then perform wf._forget_failed(p_moves); end if;
    if p_steps & wf._step('stop') > 0 then perform wf._tell_stop(p_moves); end if;
    if p_steps & wf._step('tell') > 0 then perform wf._tell_children(p_moves, p_at); end if;
    if p_steps & (wf._step('ignored') | wf._step('warned')) > 0 then perform wf._note_warnings(p_moves, p_at); end if;
    if p_steps & wf._step('skipped') > 0 then perform wf._mark_skipped(p_moves); end if;
    if p_steps & wf._step('note') > 0 then perform wf._note_ended(p_moves, p_at); end if;
    if p_steps & wf._step('slot') > 0 then perform wf._free_slots(p_moves); end if;
    if p_steps & wf._step('rate') > 0 then perform wf._leave_rates(p_moves); end if;
    if p_steps & wf._step('unqueue') > 0 then perform wf._unqueue(p_moves); end if;
    if p_steps & wf._step('timer') > 0 then perform wf._clear_timers(p_moves); end if;
    if p_steps & wf._step('over') > 0 then perform wf._end_limits(p_moves); end if;
end;
$$;

-- wf._follow_moves(p_moves, p_full, p_steps, p_at, p_torn)
--
-- Does the rungs of the ladder that need more columns, except the last ones. p_torn says
-- whether anything was torn down before.
--
-- Returns  whether anything is torn down; null if that is not known, as a new process may have torn another one down
-- Locks    as the functions that it calls
-- Raises   nothing of its own
-- Called   by the update trigger of process
create or replace function wf._follow_moves(p_moves wf.move[], p_full wf.full_move[], p_steps bigint, p_at timestamptz,
                                            p_torn boolean) returns boolean
language plpgsql as $$
begin
    if p_steps & wf._step('bind') > 0 then perform wf._bind(p_full, p_steps & wf._step('names') > 0); end if;
    if p_steps & wf._step('gather') > 0 then perform wf._end_window(p_full); end if;
    if p_steps & wf._step('collect') > 0 then perform wf._collect(p_full); end if;
    if p_steps & wf._step('retry') > 0
    then if wf._retry(p_full) then p_steps := p_steps & ~ (wf._step('failed') | wf._step('handle')); end if; end if;
    if p_steps & wf._step('failed') > 0 then perform wf._note_failed(p_full); end if;
    if p_steps & wf._step('queue') > 0 then perform wf._queue(p_full), wf._park_new(p_moves, p_at); end if;
    if p_steps & wf._step('ask') > 0 then perform wf._ask(p_full, p_at); end if;
    if p_steps & wf._step('reenter') > 0 then perform wf._reenter(p_full, p_at); end if;
    if p_steps & wf._entered_steps() > 0 then perform wf._unfold(p_full, p_steps, p_at); end if;
    if p_steps & wf._step('handle') > 0 then perform wf._handle(p_full, p_at); p_torn := true; end if;
    if p_steps & wf._step('win') > 0 then perform wf._win(p_full, p_at); p_torn := true; end if;
    return nullif(p_torn, false);
end;
$$;

-- wf._end_moves(p_moves, p_full, p_steps, p_at, p_torn)
--
-- Does what follows from the end of processes: the last rungs of the ladder, which most
-- moves do without.
--
-- Returns  nothing
-- Locks    as the functions that it calls
-- Raises   nothing of its own
-- Called   by the update trigger of process
create or replace function wf._end_moves(p_moves wf.move[], p_full wf.full_move[], p_steps bigint, p_at timestamptz,
                                         p_torn boolean) returns void
language plpgsql as $$
begin
    if p_steps & (wf._step('refill') | wf._step('undo')) > 0 then perform wf._refill(p_full, p_at); end if;
    if p_steps & wf._step('up') > 0 then perform wf._count_ended(p_full, p_steps, p_at, p_torn); end if;
    if p_torn and p_steps & wf._step('torn') > 0 then perform wf._end_teardowns(p_moves, p_at); end if;
    if p_steps & wf._step('late') > 0 then perform wf._look_late(p_moves, p_at); end if;
    if p_steps & wf._step('root') > 0 then perform wf._end_instances(p_full); end if;
end;
$$;

-- wf._process_updated()
--
-- Processes made a move. The trigger writes the history and the tables that say what is
-- true now. Then, last because it nests, it begins and ends the processes that follow from
-- the moves. Moves that follow have the signature of the statement that made the first one.
--
-- Locks    the parents' rows; by then the caller holds their instances
-- Raises   WF001
create or replace function wf._process_updated() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_moves wf.move[];
    v_full wf.full_move[];
    v_bits bigint[];
    v_steps bigint; -- the steps of any move
    v_every bigint; -- the steps that each move has
    v_at timestamptz;
    v_signed boolean;
    v_torn boolean;
    v_gone int; -- how many leases were deleted
    v_reason text;
begin
    select array_agg(row(n.instance_id, n.id, n.parent_id, n.next_id, null, null, null, s.steps)::wf.move)
               filter (where s.steps & ~ (wf._step('record') | wf._step('request') | wf._step('begun')) > 0),
           array_agg(s.steps), max(n.at),
           exists (select from wf.txn x where x.xid = pg_current_xact_id()), exists (select from wf.teardown)
      into v_moves, v_bits, v_at, v_signed, v_torn
      from new_rows n
      left join lateral (
           select wf._needed(x.steps, n.parent_id, n.next_id, n.group_id, n.bind, n.collects, n.open, n.total,
                             n.retry_from, n.spare, n.warned, n.late, n.timed, n.in_dag, n.rate_id, n.noted,
                             -- an operator's retry begins a fresh budget of attempts
                             n.event = 'retry' and n.attempt > n.retry_from) as steps
             from wf.transition x
            where x.machine = n.machine and x.from_state = n.was and x.event = n.event
              and x.to_state = n.state offset 0) t on true
     cross join lateral (select coalesce(t.steps, wf._step('illegal')) as steps) s;
    if v_at is null then return null; end if;
    v_steps := v_bits[1]; v_every := v_steps;
    if v_bits[2] is not null then select bit_or(b), bit_and(b) into v_steps, v_every from unnest(v_bits) b; end if;
    if v_steps & wf._step('illegal') > 0 then perform wf._refuse_illegal(v_moves); end if;
    if v_steps & wf._full_steps() > 0 then
        select array_agg(wf._full(n.process, v_bits[n.k])) into v_full
          from (select x::wf.process as process, row_number() over () as k from new_rows x) n
         where v_bits[n.k] & wf._full_steps() > 0;
    end if;
    if v_steps & wf._step('record') > 0 then
        if pg_trigger_depth() = 1 and not v_signed then perform wf._sign(null); end if;
        if current_setting('wf.reason', true) <> '' then v_reason := wf._reason(); end if;
        insert into wf.event (instance_id, process_id, xid, at, attempt, was, event, state, reason, detail)
        select n.instance_id, n.id, pg_current_xact_id(), n.at, n.attempt, n.was, n.event, n.state, v_reason,
               wf._detail(n.instance_id, n.id, n.was, n.event, n.state, n.retry_from, n.output, n.error)
          from new_rows n
         where v_every & wf._step('record') > 0 or wf._leads(n.machine, n.was, n.event, n.state, wf._step('record'));
    end if;
    if v_steps & wf._step('request') > 0 then
        delete from wf.lease d
         where d.ctid = any (array(
                   select k.ctid from new_rows n
                    cross join lateral (select x.ctid from wf.lease x
                                         where x.instance_id = n.instance_id and x.process_id = n.id offset 0) k
                    where v_every & wf._step('request') > 0
                       or wf._leads(n.machine, n.was, n.event, n.state, wf._step('request'))));
        get diagnostics v_gone = row_count;
        if v_gone < cardinality(v_bits)
        then perform wf._end_requests(array_agg(n.instance_id), array_agg(n.id)) from new_rows n
               where wf._leads(n.machine, n.was, n.event, n.state, wf._step('request')); end if;
    end if;
    if v_steps & wf._step('begun') > 0 then
        insert into wf.limit_begun (at, attempt, instances, processes)
        select v_at, true, array_agg(n.instance_id), array_agg(n.id) from new_rows n
         where v_every & wf._step('begun') > 0
            or wf._is_noted(n.timed) and wf._leads(n.machine, n.was, n.event, n.state, wf._step('begun'));
    end if;
    if v_steps & wf._noted_steps() > 0 then perform wf._note_moves(v_moves, v_steps, v_at); end if;
    if v_full is not null then v_torn := wf._follow_moves(v_moves, v_full, v_steps, v_at, v_torn); end if;
    if v_steps & wf._step('limit') > 0 then perform wf._keep_limits(v_moves, v_at); end if;
    if v_steps & wf._step('next') > 0 then if wf._enter_next(v_moves, v_at, v_torn) then end if; end if;
    if v_torn or v_steps & wf._ended_steps() > 0
    then perform wf._end_moves(v_moves, v_full, v_steps, v_at, v_torn); end if;
    if pg_trigger_depth() = wf._deepest() + 1 then perform wf._enter_pending(v_at); end if;
    return null;
end;
$$;

-- wf._instance_moved()
--
-- Instances were started or made a move. The trigger checks the moves and writes the
-- history. It holds suspended instances, and lets resumed ones go on. It tells the end of
-- an instance to the tasks that wait for it, its successor, its schedule and the listeners.
--
-- Locks    rows of parked, ready, slot of instances that are suspended or resumed
-- Raises   WF001
create or replace function wf._instance_moved() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_reason text;
    v_first bigint;
    v_illegal bigint;
    v_held boolean;
    v_over boolean;
    v_awaited boolean;
    v_followed boolean;
    v_scheduled boolean;
    v_heard boolean;
begin
    select min(n.id), min(n.id) filter (where t.machine is null),
           bool_or(n.was <> n.state and 'SUSPENDED' in (n.was, n.state)), bool_or(n.state in ('END', 'ABORTED'))
      into v_first, v_illegal, v_held, v_over
      from new_rows n
      left join wf.transition t on t.machine = 'instance'
                               and t.from_state = n.was and t.event = n.event and t.to_state = n.state
                               and (tg_op = 'UPDATE') = (n.was <> '');
    if v_illegal is not null then
        perform wf._illegal('instance', n.was, n.event, n.state, format('instance %s', n.id))
           from new_rows n
          where n.id = v_illegal;
    end if;
    if v_first is null then
        return null;
    end if;
    -- the caller may start instances in a trigger of its own
    if tg_op = 'INSERT' or pg_trigger_depth() = 1 then
        perform wf._sign(null);
    end if;
    if current_setting('wf.reason', true) <> '' then v_reason := wf._reason(); end if;
    insert into wf.event (instance_id, xid, at, was, event, state, reason, detail)
    select n.id, pg_current_xact_id(), n.at, n.was, n.event, n.state, v_reason, n.error
      from new_rows n;
    if v_held then
        insert into wf.suspended (instance_id, at, actor, reason)
        select n.id, n.at, wf._actor(), v_reason
          from new_rows n
         where n.event = 'suspend';
        perform wf._park(array_agg(n.id), max(n.at)) from new_rows n where n.event = 'suspend' having count(*) > 0;
        delete from wf.suspended s
         where s.instance_id in (select n.id from new_rows n where n.was = 'SUSPENDED' and n.state <> 'SUSPENDED');
        perform wf._unpark(array_agg(n.id), max(n.at)), wf._tell_resumed(array_agg(n.id), max(n.at))
           from new_rows n where n.event = 'resume' having count(*) > 0;
    end if;
    if v_over then -- a start need not pay for these questions
        -- if nothing waits for any instance, no instance is looked up
        select bool_or(exists (select from wf.timer w where w.awaits_id is not null)
                       and exists (select from wf.timer w where w.awaits_id = n.id)),
               bool_or(n.key is not null and exists (select from wf.work w where w.kind = 'start' and w.item_id = n.id
                                                                             and w.item_id > 0)),
               bool_or(n.schedule_id is not null), exists (select from wf.end_listener)
          into v_awaited, v_followed, v_scheduled, v_heard
          from new_rows n where n.state in ('END', 'ABORTED');
    end if;
    if v_awaited then
        perform wf._tell_waits(array_agg(n.id), max(n.at)) from new_rows n where n.state in ('END', 'ABORTED');
    end if;
    if v_followed then
        perform wf._tell_successors(array_agg(n.id), max(n.at)) from new_rows n where n.state in ('END', 'ABORTED');
    end if;
    if v_heard then
        perform wf._tell_listeners(array_agg(n.id)) from new_rows n where n.state in ('END', 'ABORTED');
    end if;
    if v_scheduled then
        perform wf._tell_schedules(array_agg(n.schedule_id), max(n.at))
           from new_rows n where n.state in ('END', 'ABORTED') and n.schedule_id is not null;
    end if;
    return null;
end;
$$;

create or replace trigger process_a_honest after update on wf.process for each row
    when (new.was <> old.state)
    execute function wf._refuse_move();
create or replace trigger process_a_same after update of instance_id, id, kind, machine on wf.process for each row
    when (new.instance_id <> old.instance_id or new.id <> old.id or new.kind <> old.kind or new.machine <> old.machine)
    execute function wf._refuse_move();
create or replace trigger process_inserted after insert on wf.process referencing new table as new_rows
    for each statement execute function wf._process_inserted();
create or replace trigger process_updated after update on wf.process referencing new table as new_rows
    for each statement execute function wf._process_updated();
create or replace trigger instance_a_honest
    after update of id, was, event, state, at, workflow_id, version_id on wf.instance for each row
    when (new.was <> old.state or new.id <> old.id
          or new.workflow_id <> old.workflow_id or new.version_id <> old.version_id)
    execute function wf._refuse_move();
create or replace trigger instance_inserted after insert on wf.instance referencing new table as new_rows
    for each statement execute function wf._instance_moved();
create or replace trigger instance_updated after update on wf.instance referencing new table as new_rows
    for each statement execute function wf._instance_moved();

-- wf._next_state(p_machine, p_state, p_event, p_stays)
--
-- Returns  the state to which an event leads; null if there is no such move. If it may
--          lead to several states, p_stays says whether the present state is preferred
-- Locks    nothing
-- Raises   nothing
-- Called   wherever the state after a move depends on the machine
create or replace function wf._next_state(p_machine text, p_state text, p_event text, p_stays boolean) returns text
language sql stable
begin atomic
    select (select t.to_state
              from wf.transition t
             where t.machine = p_machine and t.from_state = p_state and t.event = p_event
             order by (t.to_state = t.from_state) = p_stays desc
             limit 1);
end;
