-- The whole engine can be paused. While it is, no poll hands out a request, so
-- nothing is begun or looked at outside. Everything else goes on: drivers finish and
-- report the requests that they hold, timers fire, places are granted, instances are
-- started, operators act. Requests that become ready wait until the engine is resumed.

-- wf._engine_move(p_event, p_reason)
--
-- Pauses or resumes the engine. The caller holds at least one turn, or all turns. It must
-- not wait for a turn after this.
--
-- Returns  one row: done, or refused and why
-- Locks    the row of home, against others that pause or resume
-- Raises   WF002
-- Called   by wf.engine_pause and wf.engine_resume
create or replace function wf._engine_move(p_event text, p_reason text) returns table (answer text, detail text)
language plpgsql as $$
declare
    v_was   text;
    v_state constant text := case p_event when 'pause' then 'PAUSED' else 'RUNNING' end;
begin
    perform wf._check_reason('engine ' || p_event, p_reason, wf._setting_number('reason_required') = 1);
    perform from wf.home h for no key update;
    select e.state into v_was from wf.engine_v e;
    if v_was = v_state then
        answer := 'refused';
        detail := format('it is %s already', v_was);
    else
        insert into wf.engine_event (at, actor, client, event, reason)
        values (wf.now(), wf._actor(), inet_client_addr(), p_event, nullif(p_reason, ''));
        answer := 'done';
        detail := v_was || ' -> ' || v_state;
    end if;
    perform wf._audit('engine ' || p_event, null, p_reason, p_answer => array[answer]);
    return next;
end;
$$;

-- wf.engine_pause(p_reason)
--
-- Pauses the engine. When this is committed, no poll hands out a request any more, not
-- even a poll that had begun before.
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
    'Pauses the engine: no driver gets a request until it is resumed. Drivers finish and report the requests that they '
    'hold; timers, starts and operators go on. Returns answer (done, or refused) and detail.';

-- wf.engine_resume(p_reason)
--
-- Returns  one row: done, or refused and why
-- Locks    the gate, the row of home, rows of work (skipping locked ones)
-- Raises   WF002, WF006
-- Called   by operators
create or replace function wf.engine_resume(p_reason text default null) returns table (answer text, detail text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform wf._gate(true);
    select m.answer, m.detail into answer, detail from wf._engine_move('resume', p_reason) m;
    return next;
    -- during a pause each schedule is looked at once a minute; a schedule that is due need not wait for that
    update wf.work w set due_at = wf._now()
     where answer = 'done'
       and w.id = any (array(select x.id from wf.work x
                                where x.kind = 'schedule' and not x.aside
                                  and x.due_at > wf._now() and x.due_at <= wf._now() + interval '1 minute'
                                  for update skip locked));
    perform wf._ring();
end;
$$;
comment on function wf.engine_resume(text) is
    'Resumes the engine after a pause: drivers get ready requests again. Returns answer (done, or refused) and detail.';
