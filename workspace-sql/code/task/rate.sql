-- Rates: never more than `limit` tasks of a rate begin in any stretch of time of the
-- length `per`, whatever drivers there are.
--
-- The rule is that of a sliding window: the time when a task begins is kept until `per` is
-- over. The task that may go next is granted a place (wf.rate_place), and only then is it
-- ready. It spends the place when a driver takes it (wf.rate_spent). A place is granted only
-- if the places that are granted and those that were spent less than `per` ago are fewer
-- than `limit`. This keeps the promise: take any stretch of time, and of the places that
-- were spent in it the one that was granted last. When it was granted, each of the others
-- was granted, too, or had been spent less than `per` before. Therefore they are not more
-- than `limit`. A place counts until a driver takes it. So no driver can begin many tasks at
-- once that were granted long ago.
--
-- Spent places are not kept one by one: `per` is divided into 64 slots, and a place that was
-- spent in a slot counts as spent at the end of the slot. So a place is free again up to a
-- 64th of `per` late, never early, and a rate has at most 65 slots, whatever its limit.
--
-- Only wf.work (kind `rate`) locks the row of a rate. A transaction in which a task begins to
-- wait for the rate, or gives a place back, leaves a row of work. wf.work also leaves one, for
-- the moment at which the next place is free.

-- wf._free_again(p_per, p_at)
--
-- Returns  when a place that is spent at p_at is free again: `per` after the end of its slot
-- Locks    nothing
-- Raises   nothing
-- Called   by _leave_rates and _grant_places
create or replace function wf._free_again(p_per interval, p_at timestamptz) returns timestamptz
language plpgsql stable as $$
declare
    v_per constant bigint := extract(epoch from p_per) * 1000000;
    v_slot constant bigint := greatest(1, v_per / 64);
    v_at constant bigint := extract(epoch from p_at) * 1000000;
begin
    return timestamptz 'epoch'
           + ((v_at + v_slot - 1) / v_slot * v_slot + v_per)::numeric / 1000000 * interval '1 second';
end;
$$;

-- wf._ask_rates(p_instance, p_process)
--
-- Leaves work for the rates that tasks wait for: wf.work looks which tasks may go. The
-- last limit that a task gives a rate wins.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   wherever tasks begin to wait for their rates
create or replace function wf._ask_rates(p_instance bigint[], p_process bigint[]) returns void
language plpgsql as $$
begin
    insert into wf.work (kind, item_id, due_at, asked)
    select distinct 'rate', p.rate_id, wf._now(),
           jsonb_build_object('name', coalesce(p.policy -> 'rate', n.rate -> 'name'),
                              'max', coalesce(p.policy -> 'rate_limit', n.rate -> 'max'),
                              'per', coalesce(p.policy -> 'rate_per', n.rate -> 'per'))
      from unnest(p_instance, p_process) u (i, j)
     cross join lateral (select x.rate_id, x.policy, x.version_id, x.node_id
                           from wf.process x
                          where x.instance_id = u.i and x.id = u.j
                         offset 0) p
     cross join lateral (select x.rate
                           from wf.node x
                          where x.version_id = p.version_id and x.id = p.node_id
                         offset 0) n
     where p.rate_id is not null;
    perform wf._ring();
end;
$$;

-- wf._begin_rated(p_moves)
--
-- Parks tasks in INIT that have a rate and no group.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   by _queue
create or replace function wf._begin_rated(p_moves wf.full_move[]) returns void
language plpgsql as $$
declare
    v_instance bigint[];
    v_process bigint[];
begin
    with waiting as (
        insert into wf.parked (instance_id, process_id, reason, rate_id, lane_id, rank, turn, parked_at)
        select p.instance_id, p.id, 'rate', p.rate_id, p.lane_id, p.rank,
               wf._turn(p.at, wf._place(p.index, p.scopes, p.in_round)), p.at
          from wf._due_full(p_moves, 'queue') m
         cross join lateral (select x.*
                               from wf.process x
                              where x.instance_id = m.instance_id and x.id = m.id
                             offset 0) p
         where not wf._waits_inside(p.machine) and p.state = 'INIT' and p.group_id is null and p.rate_id is not null
        returning instance_id, process_id)
    select array_agg(w.instance_id), array_agg(w.process_id) into v_instance, v_process from waiting w;
    if v_instance is not null then
        perform wf._ask_rates(v_instance, v_process);
    end if;
end;
$$;

-- wf._wait_for_rates(p_granted, p_process)
--
-- Parks tasks that have got a place in their group and wait for their rate next. Only the
-- tasks in p_process may have a rate.
--
-- Returns  the requests of the others
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   by _grant
create or replace function wf._wait_for_rates(p_granted wf.request[], p_process bigint[]) returns wf.request[]
language plpgsql as $$
declare
    v_instance bigint[];
    v_process bigint[];
begin
    with waiting as (
        insert into wf.parked (instance_id, process_id, reason, rate_id, lane_id, rank, turn, parked_at)
        select g.instance_id, g.process_id, 'rate', p.rate_id, g.lane_id, g.rank, g.turn, wf._now()
          from unnest(p_granted) g
         cross join lateral (select x.rate_id
                               from wf.process x
                              where x.instance_id = g.instance_id and x.id = g.process_id
                             offset 0) p
         where p.rate_id is not null and g.process_id = any (p_process)
        returning instance_id, process_id)
    select array_agg(w.instance_id), array_agg(w.process_id) into v_instance, v_process from waiting w;
    if v_instance is null then
        return p_granted;
    end if;
    perform wf._ask_rates(v_instance, v_process);
    return array(select g from unnest(p_granted) g where g.process_id <> all (v_process));
end;
$$;

-- wf._leave_rates(p_moves)
--
-- Ends the granted places of tasks that are no longer ready. A task that a driver has taken
-- has spent its place; the other tasks give theirs back.
--
-- Returns  nothing
-- Locks    rows of rate_place
-- Raises   nothing
-- Called   by the update trigger of process
create or replace function wf._leave_rates(p_moves wf.move[]) returns void
language plpgsql as $$
declare
    -- not the time of the move: that may have been read before the place was granted
    v_now constant timestamptz := wf._now();
begin
    with left_over as (
        delete from wf.rate_place d
         where d.ctid = any (array(select k.ctid from wf._due(p_moves, 'rate') m
                                    cross join lateral (select x.ctid
                                                          from wf.rate_place x
                                                         where x.instance_id = m.instance_id and x.process_id = m.id
                                                        offset 0) k))
        returning d.rate_id, d.per, d.instance_id, d.process_id),
    freed as materialized (
        select l.rate_id, l.per, p.state = 'START_REQUESTED' as spent, count(*)::int as count
          from left_over l
         cross join lateral (select x.state
                               from wf.process x
                              where x.instance_id = l.instance_id and x.id = l.process_id
                             offset 0) p
         group by 1, 2, 3),
    spent as (
        insert into wf.rate_spent (rate_id, free_at, count)
        select f.rate_id, wf._free_again(f.per, v_now), f.count from freed f where f.spent)
    insert into wf.work (kind, item_id, due_at)
    select 'rate', f.rate_id, min(case when f.spent then wf._free_again(f.per, v_now) else v_now end)
      from freed f
     where exists (select from wf.parked k where k.rate_id = f.rate_id and k.reason = 'rate')
       and (not f.spent
            or not exists (select from wf.work w
                            where w.instance_id is null and w.item_id = f.rate_id and w.kind = 'rate'
                              and w.due_at > v_now))
     group by f.rate_id;
end;
$$;

-- wf._grant_places(p_rate, p_key, p_max, p_per, p_now, p_instance)
--
-- Grants the free places of a rate to the tasks that wait for one, by priority and turn;
-- at most 1,000 at once. A simulation counts its places under a key of its own, and looks
-- at its instance only.
--
-- Returns  when to look at the rate again; null if no task waits any more
-- Locks    rows of parked (skipping locked ones); the caller has locked the rate
-- Raises   nothing
-- Called   by _grant_rate and _grant_simulated
create or replace function wf._grant_places(p_rate bigint, p_key bigint, p_max int, p_per interval, p_now timestamptz,
                                            p_instance bigint default null) returns timestamptz
language plpgsql as $$
declare
    c_most constant int := 1000;
    v_latest constant timestamptz := wf._free_again(p_per, p_now);
    v_spent record;
    v_held int;
    v_free int;
    v_granted wf.request[];
begin
    -- counted before the spent places: a place that is spent meanwhile counts twice, not never
    select count(*) into v_held from wf.rate_place h where h.rate_id = p_key;
    -- slots that are over go, rows of one slot become one; if the clock was set back, no place is taken for longer
    with taken as (
        delete from wf.rate_spent s where s.rate_id = p_key returning s.free_at, s.count),
    kept as (
        insert into wf.rate_spent (rate_id, free_at, count)
        select p_key, least(t.free_at, v_latest), sum(t.count) from taken t where t.free_at > p_now group by 2
        returning free_at, count)
    select coalesce(sum(k.count), 0)::int as count, min(k.free_at) as next_at into v_spent from kept k;
    v_free := least(greatest(p_max - v_held - v_spent.count, 0), c_most);
    with next as materialized (
        select k.ctid as place from wf.parked k
         where k.rate_id = p_rate and k.reason = 'rate' and (p_instance is null or k.instance_id = p_instance)
         order by k.rank, k.turn, k.instance_id, k.process_id limit v_free for update skip locked),
    granted as (
        delete from wf.parked k where k.ctid = any (array(select x.place from next x))
        returning k.instance_id, k.process_id, k.lane_id, k.rank, k.turn),
    held as (
        insert into wf.rate_place (instance_id, process_id, rate_id, per)
        select g.instance_id, g.process_id, p_key, p_per from granted g)
    select array_agg(row(g.instance_id, g.process_id, g.lane_id, g.rank, g.turn, 'start')::wf.request)
      into v_granted from granted g;
    perform wf._offer(v_granted);
    return case when not exists (select from wf.parked k where k.rate_id = p_rate and k.reason = 'rate') then null
                -- somebody holds the tasks that come next, or there are more than 1,000 free places
                when coalesce(cardinality(v_granted), 0) < v_free or v_free = c_most
                then p_now + interval '100 milliseconds'
                -- all places are granted: _leave_rates leaves work when one is spent or given back
                else coalesce(v_spent.next_at, p_now + least(p_per, interval '10 seconds')) end;
end;
$$;

-- wf._grant_rate(p_rate, p_now)
--
-- Does what the rows of work of a rate ask for. One row takes their place, for the moment at
-- which the next place is free, or none if no task waits. A rate that only expressions name
-- is inserted here.
--
-- Returns  nothing
-- Locks    rows of work (skipping locked ones), the row of rate, then as _grant_places
-- Raises   nothing
-- Called   by _do_work
create or replace function wf._grant_rate(p_rate bigint, p_now timestamptz) returns void
language plpgsql as $$
declare
    v_asked jsonb;
    v_rate wf.rate;
    v_again timestamptz;
begin
    with asked as (
        delete from wf.work w
         where w.id in (select x.id from wf.work x
                         where x.instance_id is null and x.item_id = p_rate and x.kind = 'rate' for update skip locked)
        returning w.id, w.asked)
    select a.asked into v_asked from asked a where a.asked is not null order by a.id desc limit 1;
    if v_asked is not null then
        insert into wf.rate (id, name, max, per)
        values (p_rate, v_asked ->> 'name', (v_asked ->> 'max')::numeric::int, (v_asked ->> 'per')::interval)
            on conflict (id) do update set max = excluded.max, per = excluded.per;
    end if;
    select r.* into v_rate from wf.rate r where r.id = p_rate for no key update;
    if not found then
        return;
    end if;
    v_again := wf._grant_places(p_rate, p_rate, v_rate.max, v_rate.per, p_now);
    if v_again is not null then
        insert into wf.work (kind, item_id, due_at) values ('rate', p_rate, v_again);
    end if;
end;
$$;

-- wf._park_rated(p_instance, p_at)
--
-- Parks the tasks of suspended instances that wait for their rates, and gives back their
-- places in groups. Tasks that were ready give back their places in rates.
--
-- Returns  nothing
-- Locks    rows of parked, slot, rate_place; the caller has locked the instances
-- Raises   nothing
-- Called   by _park
create or replace function wf._park_rated(p_instance bigint[], p_at timestamptz) returns void
language plpgsql as $$
begin
    with held as (
        update wf.parked k set reason = 'suspended', rate_id = null, parked_at = p_at
         where k.instance_id = any (p_instance) and k.reason = 'rate'
        returning k.instance_id, k.process_id),
    freed as (
        delete from wf.slot s
         where s.ctid = any (array(select x.ctid
                                     from held h
                                    cross join lateral (select y.ctid
                                                          from wf.slot y
                                                         where y.instance_id = h.instance_id
                                                           and y.process_id = h.process_id
                                                        offset 0) x))
        returning s.group_id)
    insert into wf.dirty (group_id) select distinct f.group_id from freed f;
    with given_back as (
        delete from wf.rate_place h where h.instance_id = any (p_instance) returning h.rate_id)
    insert into wf.work (kind, item_id, due_at) select distinct 'rate', g.rate_id, p_at from given_back g;
end;
$$;
