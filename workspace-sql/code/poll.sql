-- What a driver does next.

-- wf.poll(p_driver, p_want, p_instant)
--
-- Hands out at most p_want requests that are ready, by lane, priority and turn,
-- tells which requests in flight are to be stopped, and when to come back;
-- while the engine is paused it hands out nothing. What takes no time, because
-- its lane needs the driver alone, does not count among them: of that there are
-- at most p_instant. (An older driver gives none: all count alike.) On the way
-- it does what is due: timers, lost drivers, places of groups, what is to be
-- purged. It never waits for anybody: what others hold is skipped, and while as
-- many turns are under way as may be, it is busy: looks for nothing, and says
-- when it is this driver's turn if each of the others has one before.
--
-- Returns  rows of kind run and stop, then exactly one of kind next, or busy
-- Locks    rows of ready (skipping locked ones); no instance but those that it purges
-- Raises   WF002, WF006, WF010
-- Called   by drivers, in one transaction with outcome
create or replace function wf.poll(p_driver bigint, p_want int, p_instant int default null)
returns table (kind text, instance_id bigint, process_id bigint, attempt int, token uuid, trace_id uuid, request text,
               needs_ack boolean, transport text, task_type text, args jsonb, secrets jsonb, timeout_ms bigint, wait_ms int, mark text)
language plpgsql security definer :engine as $$
#variable_conflict use_column
declare
    v_now timestamptz := wf._now();
    v_driver wf.driver;
    v_work record;
    v_want int[] := array[p_want, coalesce(p_instant, 0)];
    v_found record;
    v_minute boolean; -- its first in this minute
    v_full boolean[]; -- of which sort all that was wanted was there
    v_from jsonb := nullif(current_setting('wf.from', true), '')::jsonb; -- see _remember
    v_again int := (v_from ->> 3)::int;
    v_pages bigint; -- of the queue's index, looked at before
begin
    if wf._gate(true) and (coalesce(p_want, -1) < 0 or p_instant < 0) then
        raise exception using errcode = 'WF002', message = 'p_want is null or negative, or p_instant is negative', hint = 'Ask for 0 or more requests.';
    end if;
    -- what most polls have nothing of, asked for at once
    select (select d from wf.driver d where d.id = p_driver) as driver,
           exists (select from wf.stop s where s.driver_id = p_driver) as stops, exists (select from wf.timer t where t.due_at <= v_now) as due,
           exists (select from wf.dirty) as dirty
      into v_work;
    v_driver := v_work.driver;
    if (v_driver.state in ('live', 'draining') and v_driver.seen_at >= v_now - interval '1 second') is not true then
        v_driver := wf._greet(p_driver, v_now);
    end if;
    if v_work.stops then
        return query
            delete from wf.stop s where s.driver_id = p_driver
            returning 'stop', null::bigint, null::bigint, null::int, s.token, null::uuid, null, null::boolean, null, null, null::jsonb, null::jsonb, null::bigint, null::int, null;
    end if;
    kind := 'next';
    if not wf._admit() then
        -- it comes back by itself, so nobody need ring for it again
        if v_driver.idle then
            update wf.driver d set idle = false where d.id = p_driver;
        end if;
        kind := 'busy';
        wait_ms := 20 * greatest(1, (select count(*) from wf.driver d where d.state = 'live') / wf._setting_number('turns'));
        mark := wf._mark();
        return next;
        return;
    end if;
    if v_work.due then
        perform wf._fire(v_now);
    end if;
    if v_driver.seen_at < v_now - interval '1 second' then
        v_minute := extract(epoch from v_driver.seen_at)::bigint / 60 < extract(epoch from v_now)::bigint / 60;
        perform wf._sweep(v_minute);
        perform wf._purge_old();
        if v_minute then
            perform wf._forget_lanes();
        end if;
        v_work.dirty := true;
    end if;
    if v_work.dirty or v_work.due then
        perform wf._settle();
    end if;
    loop
        v_pages := pg_stat_get_xact_blocks_fetched('wf.ready_claim_idx'::regclass);
        -- of each sort as many as are wanted; what only a few can do comes before what all can
        select array_agg(r.place) as place, array[count(*) filter (where s.sort = 1), count(*) filter (where s.sort = 2)]::int[] as count,
               (select t.xid || '@' || extract(epoch from t.at) from wf.txn t where t.xid = pg_current_xact_id_if_assigned()) as mark
          into v_found
          from unnest(v_want) with ordinality s (want, sort)
         cross join lateral (
            select x.place
              from (select l.id from wf.lane l
                     where wf._serves(v_driver, l)
                       and case when p_instant is not null and l.needs = '{builtin}' then 2 else 1 end = s.sort
                       and (select e.event from wf.engine_event e order by e.id desc limit 1) is distinct from 'pause'
                     order by cardinality(l.requires) desc, l.id) l
              left join lateral jsonb_populate_record(null::wf.ready, nullif(v_from -> s.sort::int - 1, 'null')) f on f.lane_id = l.id
             cross join lateral (select y.ctid as place from wf.ready y
                                  where y.lane_id = l.id
                                    and (y.rank, y.turn, y.instance_id, y.process_id)
                                        > (coalesce(f.rank, -32768), coalesce(f.turn, 0), coalesce(f.instance_id, 0), coalesce(f.process_id, 0))
                                  order by y.rank, y.turn, y.instance_id, y.process_id
                                  for update skip locked) x
             limit s.want) r;
        if v_from is null then
            v_again := greatest(8, (pg_stat_get_xact_blocks_fetched('wf.ready_claim_idx'::regclass) - v_pages) / 100);
        end if;
        exit when (v_from ->> 0 is null or v_found.count[1] = p_want) and (v_from ->> 1 is null or v_found.count[2] = p_instant);
        v_from := null; -- from the head, then
        perform set_config('wf.from', '', false);
    end loop;
    v_full := array(select u.count > 0 and u.count = u.want from unnest(v_found.count, v_want) u (count, want));
    if true = any (v_full) then
        perform wf._remember(v_found.place, v_found.count, v_full, coalesce((v_from ->> 2)::int, 0), v_again);
    end if;
    mark := v_found.mark;
    if v_found.place is not null then
        mark := coalesce(mark, wf._sign(p_driver));
        return query select c.*, null from wf._claim(p_driver, v_found.place, v_now) c;
    end if;
    -- one whose slots are taken would be rung for what it can't take
    wait_ms := case when p_want = 0 and v_found.place is null then 1000
                    when v_found.place is not null and not v_driver.idle and not true = any (v_full) then 0
                    else wf._rest(v_driver, v_found.place is not null, true = any (v_full), v_now) end;
    return next;
end;
$$;
comment on function wf.poll(bigint, int, int) is
    'Hands a driver at most p_want requests and, if p_instant is given, besides at most so many that it answers at once by itself (transport builtin), which then do not count among those. Rows of kind run (a request: instance, process, attempt, token, the instance''s trace id, request, whether it must be acknowledged before it is sent, transport, task type, arguments, where in them which secrets go, time limit in ms), stop (the token of a request to stop) and one last row: next (ms until the next poll, at the latest) or busy (it looked for nothing, since others have all turns; ms until the next poll, about), with the mark of what this transaction has done, if anything, for register.';

-- wf._admit_later()
--
-- Tries for the other turns, where the first is taken.
--
-- Returns  as _admit
-- Locks    one of the turns (advisory transaction lock)
-- Raises   nothing
-- Called   by _admit
create or replace function wf._admit_later() returns boolean
language plpgsql :inner as $$
begin
    for k in 2 .. wf._setting_number('turns') loop
        if pg_try_advisory_xact_lock(7762, k::int) then
            return set_config('wf.turn', '1', true) = '1';
        end if;
    end loop;
    return false;
end;
$$;

-- wf._admit()
--
-- Lets so many turns work at a time as the setting turns says.
--
-- Returns  whether this one may; then it is known to be a driver's, see _ring
-- Locks    one of the turns (advisory transaction lock)
-- Raises   nothing
-- Called   by poll
create or replace function wf._admit() returns boolean
language sql volatile
begin atomic
    select case when pg_try_advisory_xact_lock(7762, 1) then set_config('wf.turn', '1', true) = '1' else wf._admit_later() end;
end;

-- wf._remember(p_place, p_count, p_full, p_turns, p_again)
--
-- Writes down where the session goes on next time: of each sort that is full,
-- after the last that it takes now; for how many turns it has not begun at the
-- head; and in which one it does again. That is the eighth, or one for each
-- hundred pages of the index that it looked at there, most of them of rows that
-- no vacuum has taken yet: 5,000 take 9 ms, a turn 8 ms or more.
--
-- Returns  nothing
-- Locks    nothing
-- Raises   nothing
-- Called   by poll, before it takes them
create or replace function wf._remember(p_place tid[], p_count int[], p_full boolean[], p_turns int, p_again int) returns void
language plpgsql :inner as $$
declare
    v_last jsonb;
begin
    if p_turns + 1 < p_again then
        select jsonb_agg(to_jsonb(r)) into v_last
          from unnest(array[p_count[1], p_count[1] + p_count[2]], p_full) s (last, whole)
          left join lateral (select x.* from wf.ready x where x.ctid = p_place[s.last] and s.whole offset 0) r on true;
    end if;
    perform set_config('wf.from', coalesce((v_last || jsonb_build_array(p_turns + 1, p_again))::text, ''), false);
end;
$$;

-- wf._claim(p_driver, p_place, p_now)
--
-- Takes requests: their ready rows go, leases come, and those that are to be
-- started make their move.
--
-- Returns  rows of kind run
-- Locks    nothing: the caller has locked the rows of ready
-- Raises   nothing of its own
-- Called   by poll, and by the simulator
create or replace function wf._claim(p_driver bigint, p_place tid[], p_now timestamptz)
returns table (kind text, instance_id bigint, process_id bigint, attempt int, token uuid, trace_id uuid, request text,
               needs_ack boolean, transport text, task_type text, args jsonb, secrets jsonb, timeout_ms bigint, wait_ms int)
language plpgsql :inner as $$
#variable_conflict use_column
begin
    return query
    with claimed as (
        delete from wf.ready r where r.ctid = any (p_place)
        returning r.instance_id, r.process_id, r.request),
    started as (
        update wf.process p set was = p.state, event = 'start', state = 'START_REQUESTED', at = p_now, token = gen_random_uuid()
         where p.ctid = any (array(select k.ctid from claimed c
                                    cross join lateral (select x.ctid from wf.process x where x.instance_id = c.instance_id and x.id = c.process_id offset 0) k
                                    where c.request = 'start'))
        returning p.instance_id, p.id, p.attempt, p.attempt as named, p.kind, p.version_id, p.node_id, p.rank, p.began_at, p.input, p.handle, p.token, 'start' as request),
    taken as materialized (
        select s.* from started s
        union all
        -- a retry counts from the moment it is asked for; what is released first is the attempt before
        select p.instance_id, p.id, p.attempt, p.attempt - (p.state = 'RETRY_CLEANUP_REQUESTED')::int, p.kind, p.version_id, p.node_id, p.rank, p.began_at, p.input, p.handle, gen_random_uuid(), c.request
          from claimed c
         cross join lateral (select x.id, x.instance_id, x.attempt, x.state, x.kind, x.version_id, x.node_id, x.rank, x.began_at, x.input, x.handle
                               from wf.process x where x.instance_id = c.instance_id and x.id = c.process_id offset 0) p
         where c.request <> 'start'),
    leased as (
        insert into wf.lease (instance_id, process_id, token, driver_id, request, at)
        select t.instance_id, t.id, t.token, p_driver, t.request, p_now from taken t)
    select 'run', t.instance_id, t.id, t.attempt, t.token, i.trace_id, t.request,
           t.kind = 'async' and t.request = 'start',
           case when r.result ? 'error' then 'builtin' else coalesce(q.transport, n.transport) end,
           n.task_type,
           case when r.result ? 'error' then (r.result -> 'error') || '{"op": "fail"}' else a.args end,
           case when r.result ? 'error' then null else n.secrets -> t.request end,
           case when a.args ? 'timeout' then wf._milliseconds(a.args ->> 'timeout') end,
           null::int
      from taken t
     cross join lateral (select x.trace_id from wf.instance x where x.id = t.instance_id offset 0) i
     cross join lateral (select x.task_type, x.type_id, x.transport, x.request, x.input, x.secrets from wf.node x where x.version_id = t.version_id and x.id = t.node_id offset 0) n
      left join lateral (select x.type_id, x.transport, x.args, x.passes from wf.task_request x where (n.request is null or t.request <> 'start') and x.type_id = n.type_id and x.request = t.request offset 0) q on true
     cross join lateral (select case when q.type_id is not null and not (q.passes and t.request = 'start')
                                     then wf._evaluate(q.args, coalesce(t.input, n.input, '{}') || jsonb_build_object('handle', t.handle)
                                                                    || wf._name_attempt(q.args, i.trace_id, t.id, t.named)) end as result offset 0) r
     cross join lateral (select case when r.result is not null then r.result -> 'value'
                                     when q.type_id is not null then coalesce(t.input, n.input)
                                     else n.request end as args) a
     order by t.rank, t.began_at;
end;
$$;

-- wf._name_attempt(p_args, p_trace, p_process, p_attempt)
--
-- What `instance` stands for in a request: `attempt` names one attempt of one
-- task, the same in all its requests, and nothing else anywhere, in no other
-- workspace either.
--
-- Returns  an object to add to the environment; empty if the request does not read it
-- Locks    nothing
-- Raises   nothing
-- Called   by _claim
create or replace function wf._name_attempt(p_args jsonb, p_trace uuid, p_process bigint, p_attempt int) returns jsonb
language sql stable
begin atomic
    select case when strpos(p_args::text, '["instance", ') = 0 then '{}'::jsonb
                else jsonb_build_object('instance', jsonb_build_object('attempt', format('%s-%s-%s', p_trace, p_process, p_attempt))) end;
end;

-- wf._interval_milliseconds(p_interval)
--
-- Returns  an interval in milliseconds; null for what is none
-- Locks    nothing
-- Raises   nothing
-- Called   by _milliseconds
create or replace function wf._interval_milliseconds(p_interval text) returns bigint
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
    return (extract(epoch from p_interval::interval) * 1000)::bigint;
exception when data_exception then
    return null;
end;
$$;

-- wf._milliseconds(p_duration)
--
-- Whole seconds, as most are, take no function, no pattern and no subtransaction:
-- this one is inlined.
--
-- Returns  a duration in milliseconds; null for none, or for what is none
-- Locks    nothing
-- Raises   nothing
-- Called   by _claim
create or replace function wf._milliseconds(p_duration text) returns bigint
language sql immutable
begin atomic
    select case when p_duration like 'PT_%S' and length(p_duration) <= 12 and translate(p_duration, '0123456789', '') = 'PTS'
                then substr(p_duration, 3, length(p_duration) - 3)::bigint * 1000
                else wf._interval_milliseconds(p_duration) end;
end;

-- wf._rest(p_driver, p_found, p_full, p_now)
--
-- How long a driver may sleep. One that found nothing raises its flag and polls
-- once more before it sleeps, so that whoever made something ready meanwhile
-- either saw the flag or is seen.
--
-- Returns  milliseconds, 0 to 1000
-- Locks    the driver's row, when the flag changes
-- Raises   nothing
-- Called   by poll
create or replace function wf._rest(p_driver wf.driver, p_found boolean, p_full boolean, p_now timestamptz) returns int
language plpgsql :inner as $$
declare
    v_due timestamptz;
begin
    if p_found then
        if p_driver.idle then
            update wf.driver d set idle = false where d.id = p_driver.id;
        end if;
        if p_full and exists (select from wf.driver d where d.idle and d.id <> p_driver.id) and exists (select from wf.ready) then
            perform pg_notify('wf_ready', '');
        end if;
        return 0;
    end if;
    if not p_driver.idle and p_driver.state = 'live' then
        update wf.driver d set idle = true where d.id = p_driver.id;
        return 0;
    end if;
    select min(t.due_at) into v_due from wf.timer t;
    v_due := least(v_due, p_now + interval '1 second');
    return greatest(1, ceil(extract(epoch from v_due - p_now) * 1000))::int;
end;
$$;
