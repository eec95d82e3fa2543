-- Work: what nobody waits for and what must not hold anybody up. It is done in
-- batches, each in a subtransaction of its own. Where a batch raises an error,
-- each item of it becomes a row of wf.work, and is tried alone from then on:
-- after 1, 10 and 60 s. After the third time it is set aside: its task has FAILED
-- with kind engine, or, where there is no such task, the row waits for an
-- operator, whom explain, stuck and fsck tell of it. So no row stops a poll.
--
--   kind      item       what is done
--   timer     a process  its timer fires
--   loss      a process  its request is taken back from a driver that is gone
--   begin     0          some of what transactions have left to begin
--   teardown  a process  the next portion of its teardown
--   purge     0          the instance is deleted with all that belongs to it
--   settle    0          new names and places of groups, see _settle
--   grant     a group    places of one group

-- wf._do_work(p_kind, p_instance, p_item, p_now)
--
-- Does work of one kind. The arrays run in parallel; the caller holds the
-- instances.
--
-- Returns  nothing
-- Raises   whatever the work raises
-- Called   by _try_work
create or replace function wf._do_work(p_kind text, p_instance bigint[], p_item bigint[], p_now timestamptz) returns void
language plpgsql :inner as $$
begin
    case p_kind
        when 'timer' then perform wf._fire_timers(p_instance, p_item, p_now);
        when 'loss' then perform wf._take_back(p_instance, p_item, p_now);
        when 'begin' then perform wf._begin_pending(p_instance[1], p_now);
        when 'teardown' then perform wf._tear(p_instance, p_item, p_now);
        when 'purge' then perform wf._purge(p_instance);
        when 'settle' then perform wf._settle();
        when 'grant' then perform wf._grant_alone(p_item[1]);
    end case;
end;
$$;

-- wf._try_work(p_kind, p_instance, p_item, p_now)
--
-- Does work of one kind in a subtransaction.
--
-- Returns  null if it is done, else {sqlstate, message}, and nothing of it is done
-- Raises   only 57014: what was cancelled from outside of the statement is not told from what raises the same
-- Called   wherever a batch of work is done
create or replace function wf._try_work(p_kind text, p_instance bigint[], p_item bigint[], p_now timestamptz) returns jsonb
language plpgsql :inner as $$
begin
    perform wf._do_work(p_kind, p_instance, p_item, p_now);
    return null;
exception
    when others or assert_failure then -- others does without the latter
        return jsonb_build_object('sqlstate', sqlstate, 'message', sqlerrm);
end;
$$;

-- wf._is_server_fault(p_error)
--
-- Returns  whether an error tells of the server, not of the item: classes 40, 53, 55, 57 and 58
create or replace function wf._is_server_fault(p_error jsonb) returns boolean
language sql immutable
begin atomic
    select left(p_error ->> 'sqlstate', 2) in ('40', '53', '55', '57', '58');
end;

-- wf._put_work(p_kind, p_instance, p_item, p_due_at, p_error)
--
-- Writes down that each of these items is to be tried alone.
--
-- Returns  nothing
-- Called   by whoever did a batch that raised an error
create or replace function wf._put_work(p_kind text, p_instance bigint[], p_item bigint[], p_due_at timestamptz, p_error jsonb) returns void
language plpgsql :inner as $$
begin
    insert into wf.work (kind, instance_id, item_id, due_at, error)
    select p_kind, u.i, u.j, p_due_at, p_error from unnest(p_instance, p_item) u (i, j);
end;
$$;

-- wf._set_aside(p_work, p_error, p_now)
--
-- An item has raised an error three times. Its task has FAILED: nothing is
-- evaluated and no handler is looked for, since that may be what raises the
-- error. Where the task cannot fail, the row waits for an operator.
--
-- Returns  nothing
-- Locks    the caller holds the instance
-- Called   by _work_alone
create or replace function wf._set_aside(p_work wf.work, p_error jsonb, p_now timestamptz) returns void
language plpgsql :inner as $$
begin
    begin
        update wf.process p
           set was = p.state, event = 'fail', state = 'FAILED', at = p_now,
               error = wf._refuse('engine', format('it was tried %s times: %s', p_work.tries, p_error ->> 'message'))
                       || jsonb_build_object('detail', p_error)
         where p.instance_id = p_work.instance_id and p.id = p_work.item_id and p_work.kind in ('timer', 'loss')
           and exists (select from wf.transition t
                        where t.machine = p.kind and t.from_state = p.state and t.event = 'fail' and t.to_state = 'FAILED');
        if found then
            delete from wf.work w where w.id = p_work.id;
            return;
        end if;
    exception when others then
        null; -- not even that: the row stays
    end;
    update wf.work w set aside = true where w.id = p_work.id;
end;
$$;

-- wf._work_alone(p_work, p_now)
--
-- Does one item that raised an error before. The caller holds the row and its
-- instance.
--
-- Returns  nothing
-- Called   by _work
create or replace function wf._work_alone(p_work wf.work, p_now timestamptz) returns void
language plpgsql :inner as $$
declare
    c_pause constant interval[] := array['1 s', '10 s', '60 s']::interval[];
    v_error jsonb := wf._try_work(p_work.kind, array[p_work.instance_id], array[p_work.item_id], p_now);
    v_counts boolean := not wf._is_server_fault(v_error);
begin
    if v_error is null then
        delete from wf.work w where w.id = p_work.id;
        return;
    end if;
    update wf.work w
       set error = v_error, tries = w.tries + v_counts::int,
           due_at = p_now + c_pause[least(3, w.tries + 1)]
     where w.id = p_work.id
    returning w.* into p_work;
    if p_work.tries >= 3 then
        perform wf._set_aside(p_work, v_error, p_now);
    end if;
end;
$$;

-- wf._settle_safely(p_now)
--
-- Settles the list. Where that raises an error, the groups on it are tried one by
-- one from then on.
--
-- Returns  nothing
-- Locks    as _settle
-- Called   by poll and tick
create or replace function wf._settle_safely(p_now timestamptz) returns void
language plpgsql :inner as $$
declare
    v_error jsonb := wf._try_work('settle', '{}', '{}', p_now);
begin
    if v_error is not null then
        with asked as (
            delete from wf.dirty d
             where d.id in (select x.id from wf.dirty x where x.group_id is not null order by x.id limit 1000 for update skip locked)
            returning d.group_id)
        insert into wf.work (kind, item_id, due_at, error)
        select distinct 'grant', a.group_id, p_now, v_error from asked a;
    end if;
end;
$$;

-- wf._work(p_now, p_kinds, p_limit)
--
-- Does work that is due, of these kinds, each item alone. What somebody else
-- holds is left for a second.
--
-- Returns  how many items it has tried
-- Locks    rows of work, then instances (both skipping locked ones)
-- Called   by poll, for what takes no time, wf.work and tick
create or replace function wf._work(p_now timestamptz, p_kinds text[], p_limit int) returns int
language plpgsql :inner as $$
declare
    v_work wf.work;
    v_done int := 0;
begin
    for v_work in
        select w.* from wf.work w
         where w.due_at <= p_now and not w.aside and w.kind = any (p_kinds)
         order by w.due_at limit p_limit for update skip locked
    loop
        if v_work.instance_id is not null then
            perform from wf.instance i where i.id = v_work.instance_id for no key update skip locked;
            if not found then
                update wf.work w set due_at = p_now + interval '1 second' where w.id = v_work.id;
                continue;
            end if;
        end if;
        perform wf._work_alone(v_work, p_now);
        v_done := v_done + 1;
    end loop;
    return v_done;
end;
$$;

-- wf._blame_work(p_now)
--
-- Counts a try that did not come to its end against the item that was due first.
--
-- Returns  nothing
-- Locks    the row of work (skipping locked ones)
-- Called   by wf.work
create or replace function wf._blame_work(p_now timestamptz) returns void
language plpgsql :inner as $$
begin
    update wf.work w
       set tries = w.tries + 1, aside = w.tries >= 2, due_at = p_now + interval '10 s',
           error = '{"sqlstate": "57014", "message": "it did not come to its end"}'
     where w.id = (select x.id from wf.work x
                    where x.due_at <= p_now and not x.aside and x.kind in ('begin', 'teardown', 'purge')
                    order by x.due_at limit 1 for update skip locked);
end;
$$;

-- wf.work(p_failed)
--
-- Does work that takes its time, one item of it, and purges what is old: a
-- transaction of its own, never one that carries reports. Where the last call did
-- not come to its end (p_failed: its session is gone, or it took too long), the
-- item that was due first may be the reason: it is only counted as tried, so that
-- the count stands whatever becomes of the next try.
--
-- Returns  whether there is more of it now
-- Locks    the gate, a row of work, then its instance (skipping locked ones)
-- Raises   WF006
-- Called   by drivers whose poll has told them of work
create or replace function wf.work(p_failed boolean default false) returns boolean
language plpgsql security definer :engine as $$
declare
    v_now constant timestamptz := wf._now();
    v_done int := 1;
begin
    perform wf._gate(true);
    if p_failed then
        perform wf._blame_work(v_now);
    else
        -- 0: others are at what there is, and this driver need not come back at once
        v_done := wf._work(v_now, '{begin,teardown,purge}', 1);
        perform wf._purge_old();
    end if;
    return v_done > 0 and exists (select from wf.work w where w.due_at <= v_now and not w.aside and w.kind in ('begin', 'teardown', 'purge'));
end;
$$;
comment on function wf.work(boolean) is 'Does one piece of the work that takes its time, such as beginning the next 1,000 elements of a list in which nothing waits; after a call that did not come to its end (true) only counts that. Returns whether there is more. Drivers call it in a transaction of its own when poll tells them of work.';

-- wf._resume_work(p_instance)
--
-- Tries again what was set aside of these instances, or (null) of none.
--
-- Returns  nothing
-- Locks    rows of work
-- Called   by operators' verbs
create or replace function wf._resume_work(p_instance bigint[]) returns void
language plpgsql :inner as $$
begin
    update wf.work w set tries = 0, aside = false, due_at = wf._now()
     where w.instance_id = any (p_instance) and (w.aside or w.tries > 0);
end;
$$;
