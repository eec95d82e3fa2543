-- Work that nobody waits for and that must not hold anybody up. Polls do it in
-- batches, each in a subtransaction of its own. If a batch raises an error, or
-- the poll does not come to its end, each item of the batch becomes a row of
-- wf.work. From then on wf.work tries the item alone, in a transaction of its
-- own: up to three times, 1, 10 and 60 s apart. A try is counted and committed
-- before it begins, so it counts even if it never ends. After the third try the
-- item is set aside: its task becomes FAILED with kind engine. If the item has no
-- such task, its row waits for an operator; explain, stuck and fsck report it.
-- Therefore no row stops a poll.
--
--   kind      item            what is done
--   timer     a process       its timer fires
--   limit     a process       its time is over
--   loss      a process       its request is taken back from a driver that is gone
--   settle    a row of dirty  what the row asks for: a new name, a max, places
--   rate      a rate          its free places are granted
--   begin     0               some processes that transactions have left to begin
--   teardown  a process       the next portion of its teardown
--   notes     a process       undo notes of processes in it that count no more are deleted
--   late      0               the instance ends, if no task of it can run any more
--   purge     0               the instance is deleted with all that belongs to it
--   signal    a signal        it has come: a task of the instance may wait for it
--   topic     a signal        it has come: a task of some instance may wait for it
--   await     a process       it waits for a signal of a topic: the signal may have come
--   input     an input        it has been answered: its task ends
--   child     a process       the instance that it waits for is started or found, or has ended
--   abort     1: with undo    the instance is aborted, since the task that has started it is to stop
--   halt      0               the same, but the instance is halted
--   start     0, or the       the instance, which was SCHEDULED, begins: its time has come, or the instance before
--             one before      it has ended
--   schedule  a schedule      its next time has come
--   listen    0               somebody wants to be notified when the instance has ended
--   successor a schedule      an instance that the schedule has started has ended

-- wf._do_work(p_kind, p_instance, p_item, p_now)
--
-- Does work of one kind. The arrays run in parallel; the caller holds the
-- instances.
--
-- Returns  nothing
-- Raises   whatever the work raises
-- Called   by _try_work
create or replace function wf._do_work(p_kind text, p_instance bigint[], p_item bigint[], p_now timestamptz)
returns void
language plpgsql as $$
begin
    case p_kind
        when 'timer' then perform wf._fire_timers(p_instance, p_item, p_now);
        when 'limit' then perform wf._time_out(p_instance, p_item, p_now);
        when 'loss' then perform wf._take_back(p_instance, p_item, p_now);
        when 'begin' then perform wf._begin_pending(p_instance[1], p_now);
        when 'late' then perform wf._end_late(p_instance[1]);
        when 'notes' then perform wf._clear_notes(p_instance[1], p_item[1], p_now);
        when 'teardown' then perform wf._tear(p_instance, p_item, p_now);
        when 'purge' then perform wf._purge(p_instance);
        when 'settle' then perform wf._settle(p_item);
        when 'rate' then perform wf._grant_rate(p_item[1], p_now);
        when 'signal' then perform wf._take_signals(p_item, p_now);
        when 'topic' then perform wf._take_signals(p_item, p_now);
        when 'await' then perform wf._take_waits(p_instance, p_item, p_now);
        when 'input' then perform wf._take_answers(p_item, p_now);
        when 'child' then perform wf._tend_children(p_instance, p_item, p_now);
        when 'abort', 'halt' then perform wf._stop_child(p_instance, p_item, p_kind);
        when 'start' then perform wf._begin_scheduled(p_instance, p_now);
        when 'schedule' then perform wf._fire_schedules(p_item, p_now);
        when 'listen' then perform wf._hear(p_instance);
        when 'successor' then perform wf._tend_schedules(p_item, p_now);
    end case;
end;
$$;

-- wf._try_work(p_kind, p_instance, p_item, p_now)
--
-- Does work of one kind in a subtransaction.
--
-- Returns  null if it is done, else {sqlstate, message}, and nothing of it is done
-- Raises   only 57014: a cancelled statement cannot be told from a function that raises
--          57014 itself
-- Called   wherever a batch of work is done
create or replace function wf._try_work(p_kind text, p_instance bigint[], p_item bigint[], p_now timestamptz)
returns jsonb
language plpgsql as $$
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
-- Returns  whether an error is the server's fault, not the item's: classes 40, 53, 55, 57 and 58
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
-- Called   where a batch has raised an error
create or replace function wf._put_work(
    p_kind text, p_instance bigint[], p_item bigint[], p_due_at timestamptz, p_error jsonb)
returns void
language plpgsql as $$
begin
    insert into wf.work (kind, instance_id, item_id, due_at, error)
    select p_kind, u.i, u.j, p_due_at, p_error from unnest(p_instance, p_item) u (i, j);
end;
$$;

-- wf._part_work(p_now)
--
-- Handles a poll that did not come to its end. The items that polls do together may be the
-- reason, so the timers, limits and losses that are due are tried alone from now on. Other
-- polls may be at work on the same items, and hold their instances. Therefore this locks no
-- instance: as soon as the rows are committed, polls leave their items out. If the poll that
-- died had given up a driver, that was lost, so this does it again first.
--
-- Returns  nothing
-- Locks    the row of home (skipping it if it is locked), then as _give_up
-- Called   by wf.work
create or replace function wf._part_work(p_now timestamptz) returns void
language plpgsql as $$
begin
    -- one caller at a time: a second one does not see the rows that the first has yet to commit
    perform from wf.home for no key update skip locked;
    if not found then
        return;
    end if;
    perform wf._give_up(null);
    insert into wf.work (kind, instance_id, item_id, due_at, error)
    select x.kind, x.instance_id, x.process_id, p_now, wf._endless()
      from ((select 'timer' as kind, t.instance_id, t.process_id
               from wf.timer t
              where t.due_at <= p_now and not wf._is_apart('timer', t.instance_id, t.process_id)
              order by t.due_at limit 100)
             union all
            (select distinct 'limit', x.instance_id, x.process_id
               from (select t.instance_id, t.process_id from wf.time_limit t
                      where t.due_at <= p_now and not wf._is_apart('limit', t.instance_id, t.process_id)
                      order by t.due_at limit 100) x)
             union all
            (select 'loss', l.instance_id, l.process_id
               from wf.lease l
              where not exists (select from wf.driver d where d.id = l.driver_id and d.state in ('live', 'draining'))
                and wf._withheld_until(l, p_now) is null and not wf._is_apart('loss', l.instance_id, l.process_id)
              limit 1000)) x;
end;
$$;

-- wf._is_apart(p_kind, p_instance, p_item)
--
-- Returns  whether an item of an instance is tried alone
-- Called   where such items are done together
create or replace function wf._is_apart(p_kind text, p_instance bigint, p_item bigint) returns boolean
language sql stable
begin atomic
    select exists (select from wf.work w where w.instance_id = p_instance and w.item_id = p_item and w.kind = p_kind);
end;

-- wf._endless()
--
-- Returns  the error of work that was begun and did not come to its end
create or replace function wf._endless() returns jsonb
language sql immutable
begin atomic
    select jsonb_build_object('sqlstate', '57014', 'message', 'it did not come to its end');
end;

-- wf._set_aside(p_work, p_error, p_now)
--
-- Sets aside an item that was tried three times in vain. Its task becomes FAILED:
-- nothing is evaluated and no handler is looked for, since that may be the cause of
-- the error. If the task cannot fail, the row waits for an operator.
--
-- Returns  nothing
-- Locks    the caller holds the instance
-- Called   by _work_alone
create or replace function wf._set_aside(p_work wf.work, p_error jsonb, p_now timestamptz) returns void
language plpgsql as $$
begin
    begin
        update wf.process p
           set was = p.state, event = 'fail', state = 'FAILED', at = p_now,
               error = wf._refuse('engine', format('it was tried %s times: %s', p_work.tries, p_error ->> 'message'))
                       || jsonb_build_object('detail', p_error)
         where p.instance_id = p_work.instance_id and p.id = p_work.item_id
           and p_work.kind in ('timer', 'limit', 'loss', 'child')
           and exists (select from wf.transition t
                        where t.machine = p.machine
                          and t.from_state = p.state
                          and t.event = 'fail'
                          and t.to_state = 'FAILED');
        if found then
            delete from wf.work w where w.id = p_work.id;
            return;
        end if;
    exception when others then
        null; -- even that failed: the row stays
    end;
    update wf.work w set aside = true, tries = p_work.tries, error = p_error where w.id = p_work.id;
end;
$$;

-- wf._next_work(p_now)
--
-- Takes the item that is due first and counts the try that is about to be made.
-- The item's next try is due after 1, 10 or 60 s. While this try goes on, the row
-- is locked and nobody else takes it.
--
-- Returns  the number of its row; null if nothing is due
-- Locks    the row of work (skipping locked ones)
-- Called   by wf.work and _work
create or replace function wf._next_work(p_now timestamptz) returns bigint
language plpgsql as $$
declare
    c_pause constant interval[] := array['1 s', '10 s', '60 s']::interval[];
    v_id bigint;
begin
    update wf.work w set tries = w.tries + 1, due_at = p_now + c_pause[least(3, w.tries + 1)]
     where w.id = (select x.id from wf.work x
                    where x.due_at <= p_now and not x.aside
                    order by x.due_at, x.id limit 1 for update skip locked)
    returning w.id into v_id;
    return v_id;
end;
$$;

-- wf._has_chores(p_now)
--
-- Some work has no row in the table wf.work: old history is deleted (keep_days), rows of the audit get their
-- numbers, and signals to topics are deleted if nobody has taken them within signal_days.
--
-- Returns  whether there is such work
-- Locks    nothing
-- Raises   nothing
-- Called   by poll, once a second
create or replace function wf._has_chores(p_now timestamptz) returns boolean
language plpgsql stable as $$
begin
    -- a session keeps the plan, while it would plan a query in SQL in each transaction
    return exists (select from wf.setting s where s.name = 'keep_days' and s.value::bigint > 0)
        or exists (select from wf.audit a where a.number is null)
        or exists (select from wf.signal s
                    where s.topic is not null
                      and s.sent_at < p_now - (select d.value::bigint from wf.setting d where d.name = 'signal_days')
                                              * interval '1 day');
end;
$$;

-- wf._has_much_work(p_now)
--
-- Returns  whether there is enough due work for two sessions. With less work, each would look for items that the
--          other one does. So it would if all items were of one instance, which only one session can hold
-- Locks    nothing
-- Raises   nothing
-- Called   by poll
create or replace function wf._has_much_work(p_now timestamptz) returns boolean
language sql stable
begin atomic
    select exists (select from wf.work w where w.due_at <= p_now and not w.aside offset 400)
           and (select min(x.instance) <> max(x.instance)
                  from (select coalesce(w.instance_id, - w.id) as instance from wf.work w
                         where w.due_at <= p_now and not w.aside order by w.due_at, w.id limit 401) x);
end;

-- wf._work_together(p_work, p_now)
--
-- Does an item that is tried for the first time, together with others of its kind that
-- are due and have not been tried: often many signals come, or many instances end, at the
-- same time. It passes over items whose instance somebody holds. If an error is raised that
-- is not the server's fault, each item is tried alone from then on. Items that were not done
-- are due again in a tenth of a second.
--
-- Returns  nothing
-- Locks    rows of work and their instances, by id (both skipping locked ones)
-- Called   by _work_alone, which has locked the item
create or replace function wf._work_together(p_work wf.work, p_now timestamptz) returns void
language plpgsql as $$
declare
    c_most constant int := 200;
    v_all bigint[];
    v_instances bigint[];
    v_items bigint[];
    v_error jsonb;
    f record;
begin
    select array_agg(u.id), array_agg(u.instance_id), array_agg(u.item_id)
      into v_all, v_instances, v_items
      from (select p_work.id, p_work.instance_id, p_work.item_id
             union all
            select o.*
              from (select w.id, w.instance_id, w.item_id
                      from wf.work w
                     where w.due_at <= p_now and not w.aside and w.kind = p_work.kind and w.tries = 0
                       and w.error is null
                     order by w.due_at, w.id limit c_most - 1 for update skip locked) o) u;
    with held as materialized (
        select i.id from wf.instance i where i.id = any (v_instances) order by i.id for no key update skip locked)
    select array_agg(u.id) as ids, array_agg(u.instance_id) as instances, array_agg(u.item_id) as items
      into f
      from unnest(v_all, v_instances, v_items) u (id, instance_id, item_id)
     where u.instance_id is null or u.instance_id in (select h.id from held h)
        -- the instance is gone; a count, since an "exists" might read all instances to answer for many
        or (select count(*) from wf.instance i where i.id = u.instance_id) = 0;
    if f.ids is not null then
        v_error := wf._try_work(p_work.kind, f.instances, f.items, p_now);
    end if;
    if v_error is null then
        delete from wf.work w where w.id = any (f.ids);
        if cardinality(f.ids) = cardinality(v_all) then
            return;
        end if;
    elsif not wf._is_server_fault(v_error) then
        update wf.work w set error = v_error where w.id = any (f.ids);
    end if;
    update wf.work w
       set tries = 0, due_at = p_now + interval '100 ms'
     where w.id = any (v_all) and (v_error is not null or w.id <> all (coalesce(f.ids, '{}')));
end;
$$;

-- wf._lock_work(p_id, p_patience)
--
-- Locks an item that this session has named. Another session that looked for items at that
-- moment may hold its row: PostgreSQL locks a row before it sees that the row no longer
-- matches the query, and keeps the lock to the end of the transaction. To wait for that takes
-- milliseconds, while an item that is passed over is due again only after a second.
--
-- Returns  whether the caller has the item; false if it is gone, or another session keeps it for longer than
--          p_patience milliseconds
-- Locks    the row of work
-- Raises   nothing
-- Called   by _work_alone
create or replace function wf._lock_work(p_id bigint, p_patience int) returns boolean
language plpgsql as $$
declare
    v_timeout constant text := current_setting('lock_timeout');
    v_has_it boolean;
begin
    perform from wf.work w where w.id = p_id for update skip locked;
    if found then
        return true;
    elsif not exists (select from wf.work w where w.id = p_id) then
        return false;
    end if;
    begin
        perform set_config('lock_timeout', p_patience || 'ms', true);
        perform from wf.work w where w.id = p_id for update;
        v_has_it := found;
        perform set_config('lock_timeout', v_timeout, true);
        return v_has_it;
    exception when lock_not_available then
        return false;
    end;
end;
$$;

-- wf._work_alone(p_id, p_now)
--
-- Does one item whose try has been counted, alone or with others of its kind. An item whose instance somebody
-- else holds is due again in a second. A try that fails through the server's fault is not counted. After
-- three tries that did not come to their end there is no fourth try.
--
-- Returns  nothing
-- Locks    the row of work, then its instance (both skipping locked ones)
-- Called   by wf.work and _work
create or replace function wf._work_alone(p_id bigint, p_now timestamptz) returns void
language plpgsql as $$
declare
    c_most constant int := 3;
    c_patience constant int := 100;
    v_work wf.work;
    v_error jsonb;
begin
    if wf._lock_work(p_id, c_patience) then
        select w.* into v_work from wf.work w where w.id = p_id and not w.aside;
    end if;
    if v_work.id is null then
        return;
    end if;
    if v_work.kind in ('signal', 'topic', 'await', 'input', 'child', 'abort', 'halt', 'start', 'schedule', 'successor',
                       'listen')
        and v_work.tries = 1 and v_work.error is null then
        perform wf._work_together(v_work, p_now);
        return;
    end if;
    perform from wf.instance i where i.id = v_work.instance_id for no key update skip locked;
    if not found and v_work.instance_id is not null then
        update wf.work w set tries = greatest(0, w.tries - 1), due_at = p_now + interval '1 second' where w.id = p_id;
        return;
    end if;
    if v_work.tries > c_most then
        v_work.tries := c_most;
        perform wf._set_aside(v_work, wf._endless(), p_now);
        return;
    end if;
    v_error := wf._try_work(v_work.kind, array[v_work.instance_id], array[v_work.item_id], p_now);
    if v_error is null then
        delete from wf.work w where w.id = p_id;
    elsif wf._is_server_fault(v_error) then
        update wf.work w set tries = greatest(0, w.tries - 1), error = v_error where w.id = p_id;
    elsif v_work.tries = c_most then
        perform wf._set_aside(v_work, v_error, p_now);
    else
        update wf.work w set error = v_error where w.id = p_id;
    end if;
end;
$$;

-- wf._settle_safely(p_now)
--
-- Settles the list (wf.dirty). If that raises an error, each row of the list is tried
-- alone from then on, with all that the row asks for.
--
-- Returns  nothing
-- Locks    as _settle
-- Called   by poll and tick
create or replace function wf._settle_safely(p_now timestamptz) returns void
language plpgsql as $$
declare
    v_error jsonb := wf._try_work('settle', null, null, p_now);
begin
    if v_error is not null then
        with asked as (
            delete from wf.dirty d
             where d.id in (select x.id from wf.dirty x order by x.id limit 1000 for update skip locked)
            returning d.*)
        insert into wf.work (kind, item_id, due_at, error, asked)
        select 'settle', a.id, p_now, v_error, to_jsonb(a) from asked a;
    end if;
end;
$$;

-- wf._work(p_now, p_limit)
--
-- Does work that is due, each item in a subtransaction, all of them in this
-- transaction.
--
-- Returns  nothing
-- Locks    as _work_alone
-- Called   by tick
create or replace function wf._work(p_now timestamptz, p_limit int) returns void
language plpgsql as $$
declare
    v_id bigint;
begin
    for k in 1 .. p_limit loop
        v_id := wf._next_work(p_now);
        exit when v_id is null;
        perform wf._work_alone(v_id, p_now);
    end loop;
end;
$$;

-- wf.work(p_item, p_failed)
--
-- Does one item of work in a transaction of its own, never in one that carries reports, and
-- names the next item. It counts the next item as tried, before the call that tries it:
-- whatever becomes of that call, the count stands. A driver begins with item 0, which does
-- not exist, and goes on with the item that each call names, until a call names none.
-- Without an item (null) the call does the item that is due first, and names the next one
-- without counting it.
-- A call that has nothing else to do purges old instances, and gives the audit its numbers:
-- a purge that takes too long delays no item, and is counted against no item.
--
-- Returns  the next item, for the next call; null: nothing is due
-- Locks    the gate, a row of work, then its instance (skipping locked ones)
-- Raises   WF006
-- Called   by drivers whose poll has told them of work, or whose poll did not come to its end (p_failed)
create or replace function wf.work(p_item bigint default null, p_failed boolean default false) returns bigint
language plpgsql security definer :engine as $$
declare
    v_now constant timestamptz := wf._now();
    v_item bigint;
    v_next bigint;
begin
    perform wf._gate(true);
    if p_failed then
        perform wf._part_work(v_now);
    end if;
    v_item := coalesce(p_item, wf._next_work(v_now), 0);
    perform wf._work_alone(v_item, v_now);
    if p_item is null then
        select w.id into v_next from wf.work w where w.due_at <= v_now and not w.aside order by w.due_at, w.id limit 1;
    else
        v_next := wf._next_work(v_now);
    end if;
    if v_item = 0 and v_next is null then
        perform wf._seal_audit();
        perform wf._forget_signals(v_now);
        perform wf._purge_old();
    end if;
    return v_next;
end;
$$;
comment on function wf.work(bigint, boolean) is
    'Does one item of the work that takes long or has failed before, such as beginning the next 1,000 elements of a '
    'list in which nothing waits. p_item is the number of the item (0: none; null: the item that is due first). '
    'p_failed is true if a poll of the caller did not come to its end: then the items that polls do together are '
    'tried one by one. Returns the number of the next item, which it has counted as tried; null if nothing is due. '
    'Drivers call it in a transaction of its own when poll tells them of work.';

-- wf._resume_work(p_instance)
--
-- Lets items that were set aside be tried again: those of these instances, and of none.
--
-- Returns  nothing
-- Locks    rows of work
-- Called   by operators' verbs
create or replace function wf._resume_work(p_instance bigint[]) returns void
language plpgsql as $$
begin
    update wf.work w set tries = 0, aside = false, due_at = wf._now()
     where w.instance_id = any (p_instance) and (w.aside or w.tries > 0);
    update wf.work w set tries = 0, aside = false, due_at = wf._now()
     where w.instance_id is null and (w.aside or w.tries > 0);
end;
$$;
