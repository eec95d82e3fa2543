-- The session: which role calls, in which kind of transaction, and how the history
-- is signed.

-- wf._role()
--
-- If the call comes from somebody's function that runs with the rights of its owner, this
-- is the role of that function's caller: SQL cannot tell with whose rights a procedure was
-- called.
--
-- Returns  the role that acts: the one that the session has SET ROLE to, else its login
-- Locks    nothing
-- Raises   nothing
-- Called   wherever it is stored beside the login, session_user
create or replace function wf._role() returns text
language sql stable
begin atomic
    select coalesce(nullif(current_setting('role'), 'none'), session_user);
end;

-- wf._login()
--
-- Returns  the oid of the session's login, whatever role the session has set; a new name does not change it
-- Locks    nothing
-- Raises   nothing
-- Called   wherever something belongs to one login; it is inlined
create or replace function wf._login() returns oid
language sql stable
begin atomic
    select quote_ident(session_user)::regrole::oid;
end;

-- wf._actor()
--
-- Returns  the actor: the login, and the role if the session has SET ROLE to another one:
--          "ann as wf_operator"
-- Locks    nothing
-- Raises   nothing
-- Called   wherever one text says who did something
create or replace function wf._actor() returns text
language sql stable
begin atomic
    select case when current_setting('role') in ('none', session_user) then session_user::text
                else session_user || ' as ' || current_setting('role') end;
end;

-- wf._set_reason(p_reason)
--
-- Keeps the reason for what follows in this transaction; the history quotes it. Any
-- session may set wf.reason. A value counts only if it begins with the number of the
-- transaction. So a value that an earlier transaction of a driver's session set does not.
--
-- Returns  nothing
-- Locks    nothing
-- Raises   nothing
-- Called   by verbs, and where a policy is the reason; with null when they are done
create or replace function wf._set_reason(p_reason text) returns void
language plpgsql as $$
begin
    perform set_config('wf.reason', coalesce(pg_current_xact_id() || ' ' || nullif(p_reason, ''), ''), true);
end;
$$;

-- wf._reason()
--
-- Returns  the reason that the running verb was given; null if it was given none
-- Locks    nothing
-- Raises   nothing
-- Called   where history is written
create or replace function wf._reason() returns text
language sql stable
begin atomic
    select case when current_setting('wf.reason', true) <> ''
                     and starts_with(current_setting('wf.reason', true), pg_current_xact_id_if_assigned() || ' ')
                then left(substr(current_setting('wf.reason', true),
                                 strpos(current_setting('wf.reason', true), ' ') + 1), 4000) end;
end;

-- wf._gate(p_advances)
--
-- Lets a call of a procedure in. Reading the empty table wf.gate locks it until
-- the transaction ends, and waits while an upgrade holds it (script/knock.sql).
-- A query with `where false` does that, too. If the table has another file afterwards,
-- an upgrade has made all functions anew meanwhile. The call would go on in the old
-- functions, so it is refused. The engine counts how deep its triggers are nested,
-- so the caller must not be in deeply nested triggers itself. The engine does not
-- advance instances in a transaction whose snapshot hides recent commits of others.
--
-- Returns  true
-- Locks    the gate (wf.gate, access share)
-- Raises   WF004, WF006, WF013
-- Called   first by every procedure that writes
create or replace function wf._gate(p_advances boolean) returns boolean
language plpgsql as $$
declare
    v_file constant oid := pg_relation_filenode('wf.gate'::regclass);
begin
    perform from wf.gate where false;
    if pg_relation_filenode('wf.gate'::regclass) = v_file and pg_trigger_depth() <= 8
        and (not p_advances or current_setting('transaction_isolation') in ('read committed', 'read uncommitted')) then
        return true;
    end if;
    if pg_relation_filenode('wf.gate'::regclass) is distinct from v_file then
        raise exception using errcode = 'WF013', message = 'the workspace was upgraded while this call waited',
            hint = 'Nothing of it was done: do it again.';
    end if;
    if p_advances and current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
        raise exception using errcode = 'WF006',
            message = format('this procedure cannot run in a %s transaction',
                             upper(current_setting('transaction_isolation'))),
            hint = 'Call it in a READ COMMITTED transaction.';
    end if;
    raise exception using errcode = 'WF004',
        message = format('this procedure cannot be called in triggers nested %s deep', pg_trigger_depth()),
        hint = 'Call it from a trigger nearer to the statement, or from the application.';
end;
$$;

-- wf._sealed(p_text, p_key)
--
-- Returns  the text, with a seal; only a holder of the key can make the seal
-- Locks    nothing
-- Raises   nothing
-- Called   by _sign and _is_sealed
create or replace function wf._sealed(p_text text, p_key uuid) returns text
language sql stable
begin atomic
    select p_text || '#' || left(encode(sha256(uuid_send(p_key)
                                               || sha256(uuid_send(p_key) || convert_to(p_text, 'UTF8'))), 'hex'), 32);
end;

-- wf._sign(p_driver)
--
-- Stores the actor of a transaction, once in each transaction. In a driver's turn it also
-- sets wf.mark, which _mark reads. A session may set wf.mark itself, but cannot make the seal.
--
-- Returns  the mark of the transaction; null if it was signed before, or outside of a
--          driver's turn
-- Locks    nothing
-- Raises   nothing
-- Called   before history is written: by poll and outcome with their driver, else by the triggers
create or replace function wf._sign(p_driver bigint) returns text
language plpgsql as $$
declare
    v_text text;
    v_key uuid;
begin
    if p_driver is null and current_setting('wf.turn', true) is distinct from '1' then
        insert into wf.txn (xid, login, actor, client, at, server_at)
        values (pg_current_xact_id(), session_user, wf._role(), inet_client_addr(), wf._now(), clock_timestamp())
            on conflict do nothing;
        return null; -- each start would pay for a sub-select that reads the key
    end if;
    insert into wf.txn (xid, login, actor, client, driver_id, at, server_at)
    values (pg_current_xact_id(), session_user, wf._role(), inet_client_addr(), p_driver, wf._now(), clock_timestamp())
        on conflict do nothing
    returning xid || '@' || extract(epoch from at), (select s.key from wf.seal s) into v_text, v_key;
    return case when v_key is not null then set_config('wf.mark', wf._sealed(v_text, v_key), true) end;
end;
$$;

-- wf._may_ring()
--
-- In a driver's own turn it notes that a task has become ready. The poll of the
-- turn rings if it leaves that task behind. A session that has said
-- `set wf.notify = off` does not ring: its transaction can then be prepared.
--
-- Returns  false in a driver's turn, and in a session that does not notify
-- Locks    nothing
-- Raises   nothing
-- Called   by _ring, and directly where tasks become ready often
create or replace function wf._may_ring() returns boolean
language sql volatile
begin atomic
    select case when coalesce(current_setting('wf.turn', true), '') = ''
                then current_setting('wf.notify', true) is distinct from 'off'
                else set_config('wf.made', '1', true) is null end;
end;

-- wf._ring()
--
-- Wakes sleeping drivers, if there are any. In a driver's own turn it only notes
-- that a task has become ready (_may_ring).
--
-- Returns  nothing
-- Locks    nothing (NOTIFY takes its own lock at commit)
-- Raises   nothing
-- Called   wherever a task becomes ready
create or replace function wf._ring() returns void
language plpgsql as $$
begin
    if not wf._may_ring() then
        return;
    end if;
    perform from wf.driver d where d.idle limit 1;
    if found then
        perform pg_notify('wf_ready', '');
    end if;
end;
$$;
