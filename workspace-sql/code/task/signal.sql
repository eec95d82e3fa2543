-- How signals meet waits. A signal to an instance is taken by a transaction that holds the
-- instance. If the signal came first, this is the transaction in which the wait begins.
-- Otherwise it is the one that does the work that the sender has left (wf.signal). So the
-- signal and the wait cannot miss each other.
--
-- Many instances may wait for a topic, and nobody holds them all. So both sides leave work:
-- the sender of a signal (kind topic) and the wait that begins (kind await). The work of the
-- side that commits last sees both. It passes over rows that somebody else holds, and is
-- repeated while there are still signals and waits.

-- wf._wake(p_instance, p_process, p_signal, p_now)
--
-- Ends waits, each with one signal; the arrays run in parallel. The signals are deleted by
-- now, since a wait that begins next may look for signals.
--
-- Returns  nothing
-- Locks    the caller holds the instances
-- Raises   nothing of its own
-- Called   below
create or replace function wf._wake(p_instance bigint[], p_process bigint[], p_signal wf.signal[], p_now timestamptz)
returns void
language plpgsql as $$
begin
    perform wf._end_waits(p_instance, p_process,
                          array(select jsonb_build_object('payload', s.payload, 'sender', s.sender,
                                                          'at', wf._iso_timestamp(s.sent_at))
                                  from unnest(p_signal) with ordinality
                                       s (id, instance_id, topic, name, payload, broadcast, sent_at, sender, k)
                                 order by s.k), null, p_now);
end;
$$;

-- wf._use_signals(p_signal)
--
-- Deletes signals.
--
-- Returns  their rows, in the order that they were given in
-- Locks    the signals
-- Raises   nothing
-- Called   below
create or replace function wf._use_signals(p_signal bigint[]) returns wf.signal[]
language plpgsql as $$
declare
    v_used wf.signal[];
begin
    with used as (
        delete from wf.signal s where s.id = any (p_signal) returning s as signal)
    select array_agg(d.signal order by x.k) into v_used
      from unnest(p_signal) with ordinality x (id, k)
      join used d on (d.signal).id = x.id;
    return v_used;
end;
$$;

-- wf._match_signals(p_instance, p_name, p_now)
--
-- Gives signals to the waits in their instances: the oldest signal of a name to the
-- longest wait. The arrays run in parallel.
--
-- Returns  nothing
-- Locks    the signals; the caller holds the instances
-- Raises   nothing of its own
-- Called   by _await_signals and _take_signals
create or replace function wf._match_signals(p_instance bigint[], p_name text[], p_now timestamptz) returns void
language plpgsql as $$
declare
    c_most constant int := 1000;
    f record;
begin
    select array_agg(a.i) as instances, array_agg(u.process) as processes, array_agg(u.signal) as signals
      into f
      from (select distinct x.i, x.n from unnest(p_instance, p_name) x (i, n)) a
     cross join lateral unnest(
           array(select s.id from wf.signal s
                  where s.instance_id = a.i and s.name = a.n and not s.broadcast
                  order by s.id limit c_most),
           array(select t.process_id from wf.timer t
                  where t.instance_id = a.i and t.name = a.n and t.topic is null and t.kind = 'signal'
                  order by t.begun_at, t.process_id limit c_most)) u (signal, process)
     where u.signal is not null and u.process is not null;
    if f.signals is not null then
        perform wf._wake(f.instances, f.processes, wf._use_signals(f.signals), p_now);
    end if;
end;
$$;

-- wf._await_signals(p_waits, p_now)
--
-- Looks whether signals came before the waits for them, which have just begun.
--
-- Returns  nothing
-- Locks    signals; the caller holds the instances
-- Raises   nothing of its own
-- Called   by _begin_wait
create or replace function wf._await_signals(p_waits wf.wait[], p_now timestamptz) returns void
language plpgsql as $$
declare
    f record;
begin
    insert into wf.work (kind, instance_id, item_id, due_at)
    select 'await', w.instance_id, w.process_id, p_now
      from unnest(p_waits) w
     where w.topic is not null and w.due_at is not null;
    if found then
        perform wf._ring();
    end if;
    select array_agg(w.instance_id) as instances, array_agg(w.name) as names
      into f
      from unnest(p_waits) w
     where w.kind = 'signal' and w.topic is null
       and exists (select from wf.signal s
                    where s.instance_id = w.instance_id and s.name = w.name and not s.broadcast);
    if f.instances is not null then
        perform wf._match_signals(f.instances, f.names, p_now);
    end if;
end;
$$;

-- wf._broadcast(p_signal, p_now)
--
-- Wakes the waits that began before a broadcast was sent, at most 1,000 of them. The
-- signal is deleted when no such wait is left, else it stays as work.
--
-- Returns  nothing
-- Locks    instances (skipping locked ones), the signal
-- Raises   nothing of its own
-- Called   by _take_signals
create or replace function wf._broadcast(p_signal wf.signal, p_now timestamptz) returns void
language plpgsql as $$
declare
    c_most constant int := 1000;
    v_held bigint[];
    f record;
begin
    v_held := array(select i.id from wf.instance i
                     where i.id = any (array(select t.instance_id from wf.timer t
                                              where t.kind = 'signal' and t.name = p_signal.name
                                                and t.begun_at <= p_signal.sent_at
                                                and case when p_signal.topic is null
                                                         then t.topic is null and t.instance_id = p_signal.instance_id
                                                         else t.topic = p_signal.topic end
                                              order by t.begun_at limit c_most))
                     order by i.id for no key update skip locked);
    select array_agg(x.instance_id) filter (where x.held) as instances,
           array_agg(x.process_id) filter (where x.held) as processes, count(*)
      into f
      from (select t.instance_id, t.process_id, t.instance_id = any (v_held) as held
              from wf.timer t
             where t.kind = 'signal' and t.name = p_signal.name and t.begun_at <= p_signal.sent_at
               and case when p_signal.topic is null then t.topic is null and t.instance_id = p_signal.instance_id
                        else t.topic = p_signal.topic end
             order by t.begun_at limit c_most + 1) x;
    if f.instances is not null then
        perform wf._wake(f.instances[:c_most], f.processes[:c_most],
                         array_fill(p_signal, array[cardinality(f.instances[:c_most])]), p_now);
    end if;
    if f.count > coalesce(cardinality(f.instances[:c_most]), 0) then
        perform wf._leave_signal(p_signal.instance_id, p_signal.id, p_now);
    else
        delete from wf.signal s where s.id = p_signal.id;
    end if;
end;
$$;

-- wf._leave_signal(p_instance, p_signal, p_now)
--
-- Leaves work to look at a signal again in a tenth of a second: somebody holds an instance that it is for.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   by _broadcast and _match_topic
create or replace function wf._leave_signal(p_instance bigint, p_signal bigint, p_now timestamptz) returns void
language sql
begin atomic
    insert into wf.work (kind, instance_id, item_id, due_at)
    select case when p_instance is null then 'topic' else 'signal' end, p_instance, p_signal,
           p_now + interval '100 ms';
end;

-- wf._match_topic(p_topic, p_name, p_most, p_now)
--
-- Gives at most p_most signals of a topic to the waits for them.
--
-- Returns  nothing
-- Locks    signals and instances (skipping locked ones)
-- Raises   nothing of its own
-- Called   by _take_signals and _take_waits
create or replace function wf._match_topic(p_topic text, p_name text, p_most int, p_now timestamptz) returns void
language plpgsql as $$
declare
    v_signals bigint[];
    v_held bigint[];
    v_left bigint;
    f record;
begin
    v_signals := array(select s.id from wf.signal s
                        where s.topic = p_topic and s.name = p_name and not s.broadcast
                        order by s.id limit p_most for update skip locked);
    v_held := array(select i.id from wf.instance i
                     where i.id = any (array(select t.instance_id from wf.timer t
                                              where t.topic = p_topic and t.name = p_name and t.kind = 'signal'
                                              order by t.begun_at, t.instance_id, t.process_id
                                              limit cardinality(v_signals) + 10))
                     order by i.id for no key update skip locked);
    select array_agg(u.instance) as instances, array_agg(u.process) as processes, array_agg(u.signal) as signals
      into f
      from (select array_agg(x.instance_id) as instances, array_agg(x.process_id) as processes
              from (select t.instance_id, t.process_id from wf.timer t
                     where t.topic = p_topic and t.name = p_name and t.kind = 'signal' and t.instance_id = any (v_held)
                     order by t.begun_at, t.instance_id, t.process_id
                     limit cardinality(v_signals)) x) w
     cross join lateral unnest(w.instances, w.processes, v_signals) u (instance, process, signal)
     where u.process is not null and u.signal is not null;
    if f.signals is not null then
        perform wf._wake(f.instances, f.processes, wf._use_signals(f.signals), p_now);
    end if;
    select s.id into v_left
      from wf.signal s where s.topic = p_topic and s.name = p_name and not s.broadcast order by s.id limit 1;
    if found and exists (select from wf.timer t
                          where t.topic = p_topic and t.name = p_name and t.kind = 'signal') then
        perform wf._leave_signal(null, v_left, p_now);
    end if;
end;
$$;

-- wf._take_signals(p_signal, p_now)
--
-- Gives new signals to waits. A signal that was taken meanwhile is not there any more. A
-- signal whose instance was purged before the sender committed is deleted.
--
-- Returns  nothing
-- Locks    as _match_signals, _match_topic and _broadcast; the caller holds the instances that they were sent to
-- Raises   nothing of its own
-- Called   by _do_work
create or replace function wf._take_signals(p_signal bigint[], p_now timestamptz) returns void
language plpgsql as $$
begin
    perform wf._match_signals(array_agg(s.instance_id), array_agg(s.name), p_now)
       from wf.signal s where s.id = any (p_signal) and s.topic is null and not s.broadcast having count(*) > 0;
    perform wf._match_topic(x.topic, x.name, x.count, p_now)
       from (select s.topic, s.name, count(*)::int as count
               from wf.signal s where s.id = any (p_signal) and s.topic is not null and not s.broadcast
              group by 1, 2 order by 1, 2) x;
    perform wf._broadcast(x.signal, p_now)
       from (select s as signal from wf.signal s where s.id = any (p_signal) and s.broadcast order by s.id) x;
    delete from wf.signal s
     where s.id = any (p_signal) and s.instance_id is not null
       and not exists (select from wf.instance i where i.id = s.instance_id);
end;
$$;

-- wf._take_waits(p_instance, p_process, p_now)
--
-- Gives signals to waits for topics that have begun.
--
-- Returns  nothing
-- Locks    as _match_topic
-- Raises   nothing of its own
-- Called   by _do_work
create or replace function wf._take_waits(p_instance bigint[], p_process bigint[], p_now timestamptz) returns void
language plpgsql as $$
begin
    perform wf._match_topic(x.topic, x.name, x.count, p_now)
       from (select t.topic, t.name, count(*)::int as count
               from unnest(p_instance, p_process) u (i, j)
              cross join lateral (select y.topic, y.name from wf.timer y
                                   where y.instance_id = u.i and y.process_id = u.j and y.kind = 'signal'
                                     and y.topic is not null offset 0) t
              group by 1, 2 order by 1, 2) x;
end;
$$;

-- wf._forget_signals(p_now)
--
-- Deletes signals to topics that nobody has taken within signal_days, at most 1,000.
--
-- Returns  nothing
-- Locks    these signals (skipping locked ones)
-- Raises   nothing
-- Called   by wf.work and tick
create or replace function wf._forget_signals(p_now timestamptz) returns void
language plpgsql as $$
declare
    c_most constant int := 1000;
begin
    delete from wf.signal s
     where s.id = any (array(select x.id from wf.signal x
                              where x.topic is not null
                                and x.sent_at < p_now - wf._setting_number('signal_days') * interval '1 day'
                              order by x.sent_at limit c_most for update skip locked));
end;
$$;
