-- The steps that may follow from a move, each of them a bit.

-- An upgrade creates these types anew: by now no function has such an argument.
drop type if exists wf.move, wf.full_move;
create type wf.move as (
    instance_id bigint, id bigint, parent_id bigint, next_id int, lane_id bigint, rank smallint, turn bigint,
    steps bigint
);
comment on type wf.move is
    'A process that has made a move, with what the frequent steps need: to queue it (lane_id, rank, turn), to begin '
    'what comes next (parent_id, next_id). steps says what follows from the move.';
create type wf.full_move as (
    instance_id bigint, id bigint, parent_id bigint, version_id bigint, group_id bigint, lane_id bigint, at timestamptz,
    node_id int, open int, todo int, fill int, total int, chosen int, index int, attempt int, rank smallint,
    steps bigint, machine text, was text, event text, state text, scopes bigint[], bind text, input jsonb,
    policy jsonb, output jsonb, error jsonb, retry_from int, rate_id bigint
);
comment on type wf.full_move is
    'A wf.move with all that the less frequent steps need. It is made only if one of these steps follows from a move. '
    'Its large columns (input, policy, output) are set only if a step needs them.';

-- wf._step(p_name)
--
-- Returns  the bit of a step that may follow from a move; the bits have the order in which the steps are done
-- Locks    nothing
-- Raises   nothing
-- Called   with a constant, so that plans hold a number
create or replace function wf._step(p_name text) returns bigint
language sql immutable
begin atomic
    select 1::bigint << array_position(
               array['illegal', 'record', 'mended', 'stop', 'tell', 'ignored', 'skipped', 'warned', 'request', 'begun',
                     'note', 'slot', 'rate', 'unqueue', 'timer', 'over', 'names', 'bind', 'gather', 'collect', 'retry',
                     'failed', 'ready', 'queue', 'ask', 'reenter', 'scope', 'enter', 'block', 'fan', 'empty', 'broken',
                     'handle', 'win', 'limit', 'next', 'refill', 'undo', 'free', 'up', 'torn', 'late', 'root'],
               p_name);
end;

-- wf._due(p_moves, p_step)
--
-- Returns  the moves from which the step follows
-- Locks    nothing
-- Raises   nothing
-- Called   with a constant step; PostgreSQL folds it into the caller
create or replace function wf._due(p_moves wf.move[], p_step text) returns setof wf.move
language sql immutable
begin atomic
    select m.* from unnest(p_moves) m where m.steps & wf._step(p_step) > 0;
end;

-- wf._due_full(p_moves, p_step)
--
-- Returns  the moves from which the step follows
-- Locks    nothing
-- Raises   nothing
-- Called   as _due
create or replace function wf._due_full(p_moves wf.full_move[], p_step text) returns setof wf.full_move
language sql immutable
begin atomic
    select m.* from unnest(p_moves) m where m.steps & wf._step(p_step) > 0;
end;

-- wf._entered_steps()
--
-- Returns  the bits of the steps that may follow when a composite is entered
-- Locks    nothing
-- Raises   nothing
-- Called   by the triggers of process, so that plans hold a number
create or replace function wf._entered_steps() returns bigint
language sql immutable
begin atomic
    select wf._step('block') | wf._step('fan') | wf._step('empty');
end;

-- wf._noted_steps()
--
-- Returns  the bits of the steps that update the tables of what is true now, except those for history and requests
-- Locks    nothing
-- Raises   nothing
-- Called   by the update trigger of process, so that plans hold a number
create or replace function wf._noted_steps() returns bigint
language sql immutable
begin atomic
    select wf._step('mended') | wf._step('stop') | wf._step('tell') | wf._step('ignored') | wf._step('skipped')
           | wf._step('warned') | wf._step('note') | wf._step('slot') | wf._step('rate') | wf._step('unqueue')
           | wf._step('timer') | wf._step('over');
end;

-- wf._ended_steps()
--
-- Returns  the bits of the steps that tell the end of a process to the processes around it and to its instance. The
--          step torn is left out, because nearly every move has it
-- Locks    nothing
-- Raises   nothing
-- Called   by the update trigger of process, so that plans hold a number
create or replace function wf._ended_steps() returns bigint
language sql immutable
begin atomic
    select wf._step('refill') | wf._step('undo') | wf._step('up') | wf._step('late') | wf._step('root');
end;

-- wf._full_steps()
--
-- Returns  the bits of the steps that need a wf.full_move
-- Locks    nothing
-- Raises   nothing
-- Called   by the triggers of process, so that plans hold a number
create or replace function wf._full_steps() returns bigint
language sql immutable
begin atomic
    select wf._step('bind') | wf._step('gather') | wf._step('collect') | wf._step('retry') | wf._step('failed')
           | wf._step('queue') | wf._step('ask') | wf._step('reenter') | wf._step('scope') | wf._step('block')
           | wf._step('fan') | wf._step('empty') | wf._step('broken') | wf._step('handle') | wf._step('win')
           | wf._step('refill') | wf._step('undo') | wf._step('free') | wf._step('up') | wf._step('root');
end;

-- wf._full(p_process, p_steps)
--
-- Returns  a process that has made a move, with what the steps that follow from it need
-- Locks    nothing
-- Raises   nothing
-- Called   by the triggers of process; PostgreSQL folds it into the query
create or replace function wf._full(p_process wf.process, p_steps bigint) returns wf.full_move
language sql immutable
begin atomic
    select row((p_process).instance_id, (p_process).id, (p_process).parent_id, (p_process).version_id,
               (p_process).group_id, (p_process).lane_id, (p_process).at, (p_process).node_id, (p_process).open,
               (p_process).todo, (p_process).fill, (p_process).total, (p_process).chosen, (p_process).index,
               (p_process).attempt, (p_process).rank, p_steps, (p_process).machine, (p_process).was,
               (p_process).event, (p_process).state, (p_process).scopes, (p_process).bind,
               case when p_steps & (wf._step('scope') | wf._step('fan') | wf._step('queue')) > 0
                    then (p_process).input end,
               case when p_steps & (wf._step('queue') | wf._step('retry')) > 0 then (p_process).policy end,
               case when p_steps & (wf._step('bind') | wf._step('up') | wf._step('root')) > 0
                    then (p_process).output end,
               (p_process).error, (p_process).retry_from, (p_process).rate_id)::wf.full_move;
end;

-- wf._entered(p_open, p_total)
--
-- Returns  the step that follows when a composite is entered
-- Locks    nothing
-- Raises   nothing
-- Called   by the triggers of process
create or replace function wf._entered(p_open int, p_total int) returns bigint
language sql immutable
begin atomic
    select case when p_open = 0 then wf._step('empty')
                when p_total is not null then wf._step('fan')
                else wf._step('block') end;
end;

-- wf._needed(p_steps, p_parent, p_next, p_group, p_bind, p_collects, p_open, p_total, p_retry, p_spare, p_warned,
--            p_late, p_timed, p_in_dag, p_rate, p_noted, p_waits)
--
-- Returns  the steps of a move, without the steps for things that the row does not have: a
--          place in a group or rate, a name, a parent, a dag around it, a policy retry,
--          timeout, undo or on_failure. A process that waits for its next attempt
--          (p_waits) is not queued yet
-- Locks    nothing
-- Raises   nothing
-- Called   by the update trigger of process; PostgreSQL folds it into the query
create or replace function wf._needed(p_steps bigint, p_parent bigint, p_next int, p_group bigint, p_bind text,
                                      p_collects boolean, p_open int, p_total int, p_retry int, p_spare int,
                                      p_warned boolean, p_late boolean, p_timed smallint, p_in_dag boolean,
                                      p_rate bigint, p_noted boolean, p_waits boolean)
returns bigint
language sql immutable
begin atomic
    select p_steps & ~ (case when p_group is null then wf._step('slot') else 0 end
                        | case when p_rate is null then wf._step('rate') else 0 end
                        | case when p_bind is null then wf._step('bind') else 0 end
                        | case when p_bind = '' then 0 else wf._step('names') end
                        | case when coalesce(p_total, p_spare) is null then wf._step('gather') else 0 end
                        | case when p_collects then 0 else wf._step('collect') end
                        | case when p_retry is null then wf._step('retry')
                               when p_waits then wf._step('queue') else 0 end
                        | case when p_timed & (wf._limit('wait') | wf._limit('deadline')) > 0 then 0
                               else wf._step('limit') end
                        | case when wf._is_limited(p_timed) then 0 else wf._step('over') end
                        | case when wf._is_noted(p_timed) then 0 else wf._step('begun') end
                        | case when p_warned then 0 else wf._step('warned') end
                        | case when p_late then 0 else wf._step('late') end
                        | case when p_noted then 0 else wf._step('note') end
                        | case when p_in_dag then 0 else wf._step('free') end
                        -- the node that begins next takes the place of the ended one in the parent
                        | case when p_next is null then wf._step('next')
                               when p_steps & wf._step('next') > 0 then wf._step('up') else 0 end
                        | case when p_parent is null then wf._step('up') else wf._step('root') end)
           | case when p_steps & wf._step('enter') > 0 then wf._entered(p_open, p_total) else 0 end;
end;

-- wf._waits_inside(p_machine)
--
-- Returns  whether a task of this machine waits inside the workspace: no driver takes it, no group or rate counts it
-- Locks    nothing
-- Raises   nothing
-- Called   wherever leaves get their place; it is inlined
create or replace function wf._waits_inside(p_machine text) returns boolean
language sql immutable
begin atomic
    select p_machine in ('wait', 'child');
end;

-- wf._has_attempt(p_machine, p_state)
--
-- Returns  whether an attempt is under way in this state: the limits of its runtime and inactivity hold
-- Locks    nothing
-- Raises   nothing
-- Called   below, and for the policy timeout
create or replace function wf._has_attempt(p_machine text, p_state text) returns boolean
language sql stable
begin atomic
    select exists (select from wf.machine_state s
                    where s.machine = p_machine and s.state = p_state and 'runtime' = any (s.limits));
end;

-- The steps that may follow from each move.
update wf.transition t
   set steps = (select coalesce(sum(wf._step(s.step)), 0)
                  from (values ('record', t.recorded),
                               ('failed', t.to_state = 'FAILED'),
                               ('mended', t.from_state = 'FAILED'),
                               ('stop', t.asks = 'cancel' and t.event in ('cancel', 'abort', 'timeout')
                                        and (t.machine = 'sync' or t.from_state = 'START_REQUESTED')),
                               ('tell', t.machine = 'child' and (t.from_state = 'WAITING' and t.event <> 'success'
                                                                 or t.event = 'halt')),
                               ('ignored', t.event in ('ignore', 'skip', 'cascade')),
                               ('skipped', t.event in ('skip', 'cascade')),
                               ('warned', t.to_state = 'END'),
                               ('note', t.to_state = 'END'
                                        or t.machine = 'composite' and t.to_state in ('ABORTED', 'RAISED')),
                               ('request', t.ends_request),
                               ('slot', t.frees_slot),
                               ('rate', t.machine in ('sync', 'async')
                                        and t.from_state = 'INIT' and t.to_state <> 'INIT'),
                               ('unqueue', t.from_state <> t.to_state
                                           and (t.event = 'halt'
                                                or t.from_state = 'INIT' and t.to_state <> 'START_REQUESTED'
                                                and t.machine not in ('wait', 'child', 'composite')
                                                or t.machine = 'async'
                                                and (t.from_state in ('EXECUTING', 'CANCEL_REQUESTED')
                                                     or right(t.from_state, 17) = 'CLEANUP_REQUESTED'))),
                               ('timer', t.machine in ('async', 'wait', 'child') and t.from_state <> t.to_state
                                         and t.event not in ('ack', 'start', 'begin')
                                         and not (t.machine = 'child'
                                                  and t.to_state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED'))),
                               ('over', wf._has_attempt(t.machine, t.from_state)
                                        and not wf._has_attempt(t.machine, t.to_state)),
                               ('begun', wf._has_attempt(t.machine, t.to_state)
                                         and not wf._has_attempt(t.machine, t.from_state)),
                               ('names', t.to_state = 'END'),
                               ('bind', t.to_state = 'END' and t.event <> 'return'),
                               ('gather', t.machine = 'composite' and t.to_state in ('END', 'ABORTED', 'RAISED')),
                               ('collect', t.to_state = 'END'),
                               ('retry', t.to_state = 'FAILED'
                                         or t.from_state in ('INIT', 'RETRY_CLEANUP_REQUESTED')
                                            and t.event in ('retry', 'abort')),
                               ('queue', t.asks = 'start'),
                               ('ask', t.machine = 'async' and t.asks in ('cancel', 'cleanup')),
                               ('reenter', t.event in ('retry', 'due') and t.to_state = 'ACTIVE'),
                               ('enter', t.event = 'enter'),
                               ('next', t.to_state = 'END' and t.event <> 'return'),
                               ('refill', t.event = 'refill'),
                               ('undo', t.event = 'undo'),
                               ('free', t.to_state = 'END'),
                               ('handle', t.to_state in ('FAILED', 'RAISED') or t.event = 'raise'
                                          or t.event = 'undo' and t.from_state = 'FAILED'),
                               ('win', t.event = 'win'),
                               ('up', t.to_state in ('END', 'RAISED', 'ABORTED')),
                               ('torn', t.to_state in ('END', 'RAISED', 'ABORTED')),
                               ('limit', t.machine <> 'instance'
                                         and (t.from_state <> t.to_state or t.to_state = 'INIT')),
                               ('late', t.to_state in ('FAILED', 'END', 'RAISED', 'ABORTED')),
                               ('root', t.to_state in ('END', 'RAISED', 'ABORTED'))) s (step, due)
                 where s.due);
