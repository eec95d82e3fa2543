-- The history of moves, and what follows from moves at once: which processes are
-- FAILED, and which instances have ended.

-- wf._describe_retry(p_instance, p_process)
--
-- Returns  {"due_at": …} for the history, if a policy has the process tried again; null if an operator does
-- Locks    nothing
-- Raises   nothing
-- Called   by _detail
create or replace function wf._describe_retry(p_instance bigint, p_process bigint) returns jsonb
language plpgsql stable as $$
begin
    return (select jsonb_build_object('due_at',
                                      to_char(t.due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
              from wf.timer t
             where t.instance_id = p_instance and t.process_id = p_process and t.kind = 'retry');
end;
$$;

-- wf._detail(p_instance, p_process, p_was, p_event, p_state, p_retry_from, p_output, p_error)
--
-- Returns  what the history says of a move in addition to its states; null: nothing
-- Locks    nothing
-- Raises   nothing
-- Called   by the update trigger of process; PostgreSQL folds it into the query
create or replace function wf._detail(p_instance bigint, p_process bigint, p_was text, p_event text, p_state text,
                                      p_retry_from int, p_output jsonb, p_error jsonb) returns jsonb
language sql stable
begin atomic
    select case when p_state = 'FAILED' or p_event = 'timeout' then p_error
                when p_event = 'resolve' then jsonb_build_object('output', p_output)
                when p_event = 'retry' and p_was <> 'INIT' and p_retry_from is not null
                then wf._describe_retry(p_instance, p_process) end;
end;

-- wf._leads(p_machine, p_was, p_event, p_state, p_step)
--
-- Returns  whether a step follows from a move
-- Locks    nothing
-- Raises   nothing
-- Called   by the update trigger of process, if the moves of one statement have different steps
create or replace function wf._leads(p_machine text, p_was text, p_event text, p_state text, p_step bigint)
returns boolean
language sql stable
begin atomic
    select (select t.steps & p_step > 0 from wf.transition t
             where t.machine = p_machine and t.from_state = p_was and t.event = p_event and t.to_state = p_state);
end;

-- wf._note_failed(p_moves)
--
-- Lists processes that have become FAILED, except those that a policy has tried again by now.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   by the update trigger of process
create or replace function wf._note_failed(p_moves wf.full_move[]) returns void
language plpgsql as $$
begin
    insert into wf.failed (instance_id, process_id)
    select m.instance_id, m.id
      from wf._due_full(p_moves, 'failed') m
     cross join lateral (select x.state from wf.process x
                          where x.instance_id = m.instance_id and x.id = m.id offset 0) p
     where p.state = 'FAILED';
end;
$$;

-- wf._forget_failed(p_moves)
--
-- Takes processes that are no longer FAILED off the list.
--
-- Returns  nothing
-- Locks    rows of failed
-- Raises   nothing
-- Called   by the update trigger of process
create or replace function wf._forget_failed(p_moves wf.move[]) returns void
language plpgsql as $$
begin
    delete from wf.failed d
     where d.ctid = any (array(select k.ctid
                                 from wf._due(p_moves, 'mended') m
                                cross join lateral (select x.ctid
                                                      from wf.failed x
                                                     where x.instance_id = m.instance_id and x.process_id = m.id
                                                    offset 0) k));
end;
$$;

-- wf._end_instances(p_moves)
--
-- Ends instances whose root has ended.
--
-- Returns  nothing
-- Locks    nothing beyond the rows of instance, which the caller holds
-- Raises   nothing
-- Called   by the update trigger of process
create or replace function wf._end_instances(p_moves wf.full_move[]) returns void
language plpgsql as $$
begin
    update wf.instance i
       set was = i.state, at = m.at, ended_at = m.at, output = m.output,
           event = case m.state when 'END' then 'end' else 'aborted' end,
           state = case m.state when 'END' then 'END' else 'ABORTED' end,
           result = case when m.state <> 'END' then case when i.error is null then 'aborted' else 'error' end
                         when i.warned then 'warning' else 'success' end
      from wf._due_full(p_moves, 'root') m
     cross join lateral (select x.ctid from wf.instance x where x.id = m.instance_id offset 0) k
     where i.ctid = k.ctid;
end;
$$;
