-- Who calls, in what kind of transaction, and the signature under the history.

-- wf._actor()
--
-- Returns  the role that acts: what the session has SET ROLE to, else who logged in
-- Locks    nothing
-- Raises   nothing
-- Called   wherever it is written down who did something
create or replace function wf._actor() returns text
language sql stable
begin atomic
    select coalesce(nullif(current_setting('role'), 'none'), session_user);
end;

-- wf._stop_at_gate(p_advances)
--
-- Waits while an upgrade runs, and sends the call back if that has made all
-- functions anew: it would go on in the old ones. Refuses to advance
-- instances in a transaction whose snapshot would hide what others have just
-- committed. The engine counts how deep its triggers are nested, so the caller
-- must not be in deeply nested triggers itself.
--
-- Returns  true
-- Locks    the gate (shared advisory transaction lock)
-- Raises   WF004, WF006, WF013
-- Called   by _gate
create or replace function wf._stop_at_gate(p_advances boolean) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    v_gate oid;
begin
    if not pg_try_advisory_xact_lock_shared(7761, 0) then
        v_gate := (select p.oid from pg_proc p where p.pronamespace = 'wf'::regnamespace and p.proname = '_stop_at_gate');
        perform pg_advisory_xact_lock_shared(7761, 0);
        if v_gate is distinct from (select p.oid from pg_proc p where p.pronamespace = 'wf'::regnamespace and p.proname = '_stop_at_gate') then
            raise exception using errcode = 'WF013', message = 'the workspace was upgraded while this call waited',
                hint = 'Nothing of it was done: do it again.';
        end if;
    end if;
    if p_advances and current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
        raise exception using errcode = 'WF006',
            message = format('this procedure cannot run in a %s transaction', upper(current_setting('transaction_isolation'))),
            hint = 'Call it in a READ COMMITTED transaction.';
    end if;
    if pg_trigger_depth() > 8 then
        raise exception using errcode = 'WF004',
            message = format('this procedure cannot be called in triggers nested %s deep', pg_trigger_depth()),
            hint = 'Call it from a trigger nearer to the statement, or from the application.';
    end if;
    return true;
end;
$$;

-- wf._gate(p_advances)
--
-- Lets the call in, in the transaction and at the depth in which it may be; else
-- _stop_at_gate waits or raises. What every call asks is an expression in its plan.
--
-- Returns  true
-- Locks    the gate (shared advisory transaction lock)
-- Raises   WF004, WF006, WF013
-- Called   first by every procedure that writes
create or replace function wf._gate(p_advances boolean) returns boolean
language sql volatile
begin atomic
    select case when pg_try_advisory_xact_lock_shared(7761, 0) and pg_trigger_depth() <= 8
                     and (not p_advances or current_setting('transaction_isolation') in ('read committed', 'read uncommitted')) then true
                else wf._stop_at_gate(p_advances) end;
end;

-- wf._sign(p_driver)
--
-- Writes down once per transaction who makes its moves.
--
-- Returns  the mark of the transaction; null if it was signed before
-- Locks    nothing
-- Raises   nothing
-- Called   before history is written: by poll and outcome with their driver, else by the triggers
create or replace function wf._sign(p_driver bigint) returns text
language plpgsql :inner as $$
declare
    v_mark text;
begin
    insert into wf.txn (xid, actor, client, driver_id, at)
    values (pg_current_xact_id(), wf._actor(), inet_client_addr(), p_driver, wf._now())
        on conflict do nothing
    returning xid || '@' || extract(epoch from at) into v_mark;
    return v_mark;
end;
$$;

-- wf._may_ring()
--
-- Returns  whether this is nobody's turn: poll rings itself if it leaves something behind
-- Locks    nothing
-- Raises   nothing
-- Called   by _ring, and where it is called often
create or replace function wf._may_ring() returns boolean
language sql stable
begin atomic
    select coalesce(current_setting('wf.turn', true), '') = '';
end;

-- wf._ring()
--
-- Wakes sleeping drivers, if there are any. Inside a driver's own turn it does
-- nothing: poll rings itself if it leaves something behind.
--
-- Returns  nothing
-- Locks    nothing (NOTIFY takes its own at commit)
-- Raises   nothing
-- Called   by whatever makes something ready
create or replace function wf._ring() returns void
language plpgsql :inner as $$
begin
    if not wf._may_ring() then
        return;
    end if;
    if exists (select from wf.driver d where d.idle) then
        perform pg_notify('wf_ready', '');
    end if;
end;
$$;
