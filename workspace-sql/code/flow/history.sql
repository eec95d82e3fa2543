-- The history of moves, and what is read off it at once: which processes are
-- FAILED, which instances have a warning, which have ended.

-- wf._record(p_moves, p_signed)
--
-- Writes moves into the history. p_signed says that the transaction is in wf.txn.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   by the update trigger of process
create or replace function wf._record(p_moves wf.move[], p_signed boolean) returns void
language plpgsql :inner as $$
begin
    -- what follows from a move has the signature of the statement that made it
    if pg_trigger_depth() = 1 and not p_signed then
        perform wf._sign(null);
    end if;
    insert into wf.event (instance_id, process_id, xid, at, attempt, was, event, state, reason, detail)
    select m.instance_id, m.id, pg_current_xact_id(), m.at, m.attempt, m.was, m.event, m.state,
           nullif(current_setting('wf.reason', true), ''), m.detail
      from wf._due(p_moves, 'record') m;
end;
$$;

-- wf._note_failed(p_moves)
--
-- Lists processes that have become FAILED.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   by the update trigger of process
create or replace function wf._note_failed(p_moves wf.move[]) returns void
language plpgsql :inner as $$
begin
    insert into wf.failed (instance_id, process_id) select m.instance_id, m.id from wf._due(p_moves, 'failed') m;
end;
$$;

-- wf._forget_failed(p_moves)
--
-- Takes processes off the list that are no longer FAILED.
--
-- Returns  nothing
-- Locks    rows of failed
-- Raises   nothing
-- Called   by the update trigger of process
create or replace function wf._forget_failed(p_moves wf.move[]) returns void
language plpgsql :inner as $$
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

-- wf._warn(p_moves, p_at)
--
-- Notes that something in instances was ignored.
--
-- Returns  nothing
-- Locks    nothing beyond the rows of instance, which the caller holds
-- Raises   nothing
-- Called   by the update trigger of process
create or replace function wf._warn(p_moves wf.move[], p_at timestamptz) returns void
language plpgsql :inner as $$
begin
    update wf.instance i set was = i.state, event = 'warn', at = p_at, warned = true
     where not i.warned and i.state in ('RUNNING', 'SUSPENDED')
       and i.id in (select m.instance_id from wf._due(p_moves, 'ignored') m);
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
language plpgsql :inner as $$
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
