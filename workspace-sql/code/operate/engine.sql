-- The whole engine can be paused: then no poll hands out anything, so that
-- nothing is begun or looked at outside. Everything else goes on: what drivers
-- hold they finish and report, timers fire, places are granted, instances are
-- started, operators act. What becomes ready waits for the engine's resumption.

-- wf._engine_move(p_event, p_reason)
--
-- Pauses or resumes the engine. Its callers hold a turn at least, or all of
-- them: never wait for a turn after this.
--
-- Returns  one row: done, or refused and why
-- Locks    the row of home, against others that pause or resume
-- Raises   WF002
-- Called   by wf.engine_pause and wf.engine_resume
create or replace function wf._engine_move(p_event text, p_reason text) returns table (answer text, detail text)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    v_was   text;
    v_state text := case p_event when 'pause' then 'PAUSED' else 'RUNNING' end;
begin
    perform wf._set_reason(p_reason);
    perform from wf.home h for no key update;
    select e.state into v_was from wf.engine_v e;
    if v_was = v_state then
        return query select 'refused', format('it is %s already', v_was);
    else
        insert into wf.engine_event (at, actor, client, event, reason)
        values (wf.now(), wf._actor(), inet_client_addr(), p_event, nullif(p_reason, ''));
        return query select 'done', v_was || ' -> ' || v_state;
    end if;
    perform wf._set_reason(null);
end;
$$;

-- wf._take_turns()
--
-- Waits for the polls that are at work, and lets none begin until the
-- transaction ends. A poll takes milliseconds; one that takes seconds hangs.
--
-- Returns  nothing
-- Locks    all turns, by number
-- Raises   WF004
-- Called   by wf.engine_pause and wf.register
create or replace function wf._take_turns() returns void
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '5 s' as $$
begin
    perform from wf.turn t order by t.id for no key update;
exception when lock_not_available then
    raise exception using errcode = 'WF004',
        message = 'a poll does not end; until it does nobody knows what it hands out',
        detail = (select format('It is backend %s, of user %s.', a.pid, a.usename)
                    from wf.turn t
                    join pg_locks l on l.locktype = 'transactionid' and l.transactionid = t.xmax and l.granted
                    join pg_stat_activity a on a.pid = l.pid
                   where l.pid <> pg_backend_pid()
                   limit 1),
        hint = 'Try again, or have it ended with pg_terminate_backend(): what it was about to hand out stays ready.';
end;
$$;

-- wf.engine_pause(p_reason)
--
-- Nothing is handed out once this is committed, not even by a poll that had
-- begun before.
--
-- Returns  one row: done, or refused and why
-- Locks    the gate, all turns, the row of home
-- Raises   WF002, WF004, WF006
-- Called   by operators
create or replace function wf.engine_pause(p_reason text default null) returns table (answer text, detail text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform wf._gate(true);
    perform wf._take_turns();
    return query select * from wf._engine_move('pause', p_reason);
end;
$$;
comment on function wf.engine_pause(text) is
    'Pauses the engine: no driver gets a request any more, until it is resumed. What drivers hold they finish and '
    'report; timers, starts and operators go on. Returns answer (done, or refused) and detail.';

-- wf.engine_resume(p_reason)
--
-- Returns  one row: done, or refused and why
-- Locks    the gate, the row of home
-- Raises   WF002, WF006
-- Called   by operators
create or replace function wf.engine_resume(p_reason text default null) returns table (answer text, detail text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform wf._gate(true);
    return query select * from wf._engine_move('resume', p_reason);
    perform wf._ring();
end;
$$;
comment on function wf.engine_resume(text) is
    'Resumes the engine after a pause: drivers get what is ready. Returns answer (done, or refused) and detail.';
