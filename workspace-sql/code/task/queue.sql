-- What a driver takes next: the first of all requests that are ready in the lanes that it
-- serves, by (rank, turn). In the index each lane has an order of its own; several lanes
-- are merged.
--
-- Rows that were taken stay at the head of a lane in the index until a vacuum
-- removes them. A look at the head reads all of them. Therefore a session
-- remembers, for each lane, the place up to which it has looked at everything
-- (wf.from). It begins at the head again whenever a poll gets less than it wants,
-- and at the latest after 10 ms. A look at the head of a long index takes long.
-- Therefore looks may take a hundredth of the time. They may take more, up to a
-- twentieth, if they would otherwise be more than 0.2 s apart. While a transaction stays
-- open, vacuum removes no row that was taken after it began: the index grows until it ends.

do $$
begin
    if to_regtype('wf.place') is null then
        create type wf.place as (lane_id bigint, pool text, rank smallint, turn bigint, instance_id bigint,
                                 process_id bigint);
        comment on type wf.place is
            'A place in a lane of the queue. Its pool is the transport whose requests the lane holds; null if they '
            'are of several.';
    end if;
end;
$$;

-- wf._pool(p_needs, p_instant)
--
-- Returns  the pool of a lane: its transport. builtin does not count beside other
--          transports, as it needs no slot; it is a pool of its own only for a driver
--          that asks for it (p_instant)
-- Locks    nothing
-- Raises   nothing
-- Called   by _find
create or replace function wf._pool(p_needs text[], p_instant boolean) returns text
language sql immutable
begin atomic
    select case when p_needs = '{builtin}' then case when p_instant then 'builtin' end
                when cardinality(array_remove(p_needs, 'builtin')) = 1 then (array_remove(p_needs, 'builtin'))[1] end;
end;

-- wf._is_paused()
--
-- Returns  whether the engine is paused
-- Locks    nothing
-- Raises   nothing
-- Called   by explain. _find does not call it: a function with a query in it would be
--          planned again for each lane and poll
create or replace function wf._is_paused() returns boolean
language sql stable
begin atomic
    select (select e.event from wf.engine_event e order by e.id desc limit 1) is not distinct from 'pause';
end;

-- wf._pick_merged(p_lane, p_limit)
--
-- Looks at the first p_limit rows of each lane. A lane that has more rows may have some that
-- come before the last rows of the other lanes. So only the rows up to the smallest last row
-- of such lanes are certain to be in order. Of these it takes the first rows that nobody
-- holds. If these are too few, it goes on behind them.
--
-- Returns  the rows of ready that come first in these lanes behind these places
-- Locks    these rows (skipping locked ones)
-- Raises   nothing
-- Called   by _pick
create or replace function wf._pick_merged(p_lane wf.place[], p_limit int) returns tid[]
language plpgsql as $$
declare
    v_place tid[] := array[]::tid[];
    v_lane wf.place[] := p_lane;
    v_left int := p_limit;
    f record;
begin
    loop
        with head as materialized (
            select x.*
              from unnest(v_lane) l
             cross join lateral (select y.ctid as place, y.rank, y.turn, y.instance_id, y.process_id,
                                        row_number() over w as nth
                                   from wf.ready y
                                  where y.lane_id = l.lane_id
                                    and (y.rank, y.turn, y.instance_id, y.process_id)
                                        > (l.rank, l.turn, l.instance_id, l.process_id)
                                 window w as (order by y.rank, y.turn, y.instance_id, y.process_id)
                                  order by y.rank, y.turn, y.instance_id, y.process_id
                                  limit v_left) x),
        last as materialized (
            select h.rank, h.turn, h.instance_id, h.process_id
              from head h
             where h.nth = v_left
             order by h.rank, h.turn, h.instance_id, h.process_id
             limit 1)
        select (select array_agg(k.place)
                  from (select t.place
                          from (select h.place
                                  from head h
                                 where coalesce((h.rank, h.turn, h.instance_id, h.process_id)
                                                <= (select b.rank, b.turn, b.instance_id, b.process_id from last b),
                                                true)
                                 order by h.rank, h.turn, h.instance_id, h.process_id) c
                         cross join lateral (select y.ctid as place
                                               from wf.ready y
                                              where y.ctid = c.place
                                                for update skip locked) t
                         limit v_left) k) as taken,
               (select array_agg(wf._later(l, b.rank, b.turn, b.instance_id, b.process_id))
                  from unnest(v_lane) l, last b) as lane
          into f;
        v_place := v_place || f.taken;
        v_left := p_limit - cardinality(v_place);
        exit when v_left = 0 or f.lane is null;
        v_lane := f.lane;
    end loop;
    return nullif(v_place, array[]::tid[]);
end;
$$;

-- wf._later(p_lane, p_rank, p_turn, p_instance, p_process)
--
-- Returns  the later one of two places in one lane: p_lane, and the other parameters
-- Locks    nothing
-- Raises   nothing
-- Called   by _places_behind and _pick_merged
create or replace function wf._later(
    p_lane wf.place, p_rank smallint, p_turn bigint, p_instance bigint, p_process bigint)
returns wf.place
language sql immutable
begin atomic
    select case when (p_rank, p_turn, p_instance, p_process)
                     > ((p_lane).rank, (p_lane).turn, (p_lane).instance_id, (p_lane).process_id)
                then row((p_lane).lane_id, (p_lane).pool, p_rank, p_turn, p_instance, p_process)::wf.place
                else p_lane end;
end;

-- wf._places_behind(p_lane, p_taken)
--
-- Returns  the lanes, each with its place moved behind the last row of ready that was taken
-- Locks    nothing
-- Raises   nothing
-- Called   by _pick and _find
create or replace function wf._places_behind(p_lane wf.place[], p_taken tid[]) returns wf.place[]
language plpgsql as $$
begin
    return coalesce((select array_agg(wf._later(l, x.rank, x.turn, x.instance_id, x.process_id))
                       from wf.ready x, unnest(p_lane) l
                      where x.ctid = p_taken[cardinality(p_taken)]), p_lane);
end;
$$;

-- wf._pick(p_lane, p_limit)
--
-- Returns  the rows of ready that come first in these lanes behind these places (null:
--          none), and the lanes with the places behind the last of them
-- Locks    these rows (skipping locked ones)
-- Raises   nothing
-- Called   by _share
create or replace function wf._pick(p_lane wf.place[], p_limit int, out place tid[], out lane wf.place[])
language plpgsql as $$
begin
    lane := p_lane;
    if p_limit = 0 or coalesce(cardinality(p_lane), 0) = 0 then
        return;
    end if;
    place := wf._pick_merged(p_lane, p_limit);
    lane := wf._places_behind(p_lane, place);
end;
$$;

-- wf._share(p_lane, p_want, p_instant, p_kept)
--
-- Shares the slots of a driver out. Requests that the driver answers at once need none.
-- All other requests share p_want slots, first come, first served. When these are taken, a
-- transport has in addition the slots that are kept for it alone.
--
-- Returns  the rows of ready to take (null: none); the lanes with the places behind
--          these rows; whether a lane may hold more, since all that was wanted of it
--          was there
-- Locks    these rows (skipping locked ones)
-- Raises   nothing
-- Called   by _find, for several lanes
create or replace function wf._share(p_lane wf.place[], p_want int, p_instant int, p_kept jsonb,
                                     out place tid[], out lane wf.place[], out more boolean)
language plpgsql as $$
declare
    v_own wf.place[] := array(select l from unnest(p_lane) l where l.pool = 'builtin');
    v_all wf.place[] := p_lane;
    v_want int := p_want;
    v_kept record;
    f record;
begin
    more := false;
    if cardinality(v_own) > 0 then
        f := wf._pick(v_own, p_instant);
        place := f.place;
        lane := f.lane;
        more := coalesce(cardinality(place), 0) = p_instant;
        v_all := array(select l from unnest(p_lane) l where l.pool is distinct from 'builtin');
    end if;
    if coalesce(cardinality(v_all), 0) = 0 then
        return;
    end if;
    if cardinality(v_all) = 1 and p_kept is not null then
        v_want := p_want + coalesce((p_kept ->> v_all[1].pool)::int, 0);
        p_kept := null;
    end if;
    f := wf._pick(v_all, v_want);
    place := place || f.place;
    v_all := f.lane;
    if coalesce(cardinality(f.place), 0) = v_want then
        more := true;
        for v_kept in select k.key, k.value::int as count from jsonb_each_text(p_kept) k where k.value::int > 0 loop
            v_own := array(select l from unnest(v_all) l where l.pool = v_kept.key);
            f := wf._pick(v_own, v_kept.count);
            place := place || f.place;
            v_all := array(select l from unnest(v_all) l where l.pool is distinct from v_kept.key) || f.lane;
        end loop;
    end if;
    lane := lane || v_all;
end;
$$;

-- wf._recall(p_driver, p_now)
--
-- Reads the places that the poll before has noted in this session (wf.from). The note has
-- the number of the driver, since behind a pooler the session may be another driver's. The
-- noted places are up to 100 s ahead (wf._turn), so new requests may come before them. If
-- no request was left behind them, a poll goes on at the turn of now, and a little before
-- it, since other transactions may not have committed yet. If that takes long, polls go on
-- at the noted places until the next look at the heads.
--
-- Returns  age: how old the last look at the heads is, in seconds (null: none, or the clock
--          was set back); rest: for how many seconds it is good; lane: the noted places;
--          near: whether to go on at the turn of now; places: where to go on (null: at the
--          heads)
-- Locks    nothing
-- Raises   nothing
-- Called   by _find and _has_ready, if something is noted
create or replace function wf._recall(p_driver bigint, p_now timestamptz,
                                      out age numeric, out rest numeric, out lane wf.place[], out near boolean,
                                      out places wf.place[])
language plpgsql as $$
declare
    v_from constant jsonb := current_setting('wf.from')::jsonb;
    v_more constant boolean := v_from ->> 'more' = 'true';
    v_turn constant bigint := wf._turn(p_now - interval '0.2 seconds', null);
begin
    if (v_from ->> 'driver')::bigint = p_driver then
        rest := (v_from ->> 'rest')::numeric;
        age := nullif(greatest(extract(epoch from p_now) - (v_from ->> 'at')::numeric, -1), -1);
        lane := array(select row((x.v -> 0)::bigint, x.v ->> 1, (x.v -> 2)::smallint, (x.v -> 3)::bigint,
                                 (x.v -> 4)::bigint, (x.v -> 5)::bigint)::wf.place
                        from jsonb_array_elements(nullif(v_from -> 'lanes', 'null')) x (v));
        near := (v_from ->> 'near')::boolean;
        if cardinality(lane) > 0 and age < (case when v_more then greatest(rest, 0.01) else rest end) then
            places := array(select case when near and not v_more and l.turn > v_turn
                                        then row(l.lane_id, l.pool, l.rank, v_turn, 0, 0)::wf.place else l end
                              from unnest(lane) l);
        end if;
    end if;
end;
$$;

-- wf._leave_torn(p_place)
--
-- Leaves out tasks that are torn down: these are neither started nor polled. Their
-- teardown will take them out of the queue.
--
-- Returns  the rows of ready without those below a teardown; null if none is left
-- Locks    nothing
-- Raises   nothing
-- Called   by _find, if anything is torn down
create or replace function wf._leave_torn(p_place tid[]) returns tid[]
language plpgsql as $$
begin
    return (select array_agg(u.place order by u.k)
              from unnest(p_place) with ordinality u (place, k)
             cross join lateral (select x.instance_id, x.process_id, x.request
                                   from wf.ready x
                                  where x.ctid = u.place
                                 offset 0) r
             where r.request in ('cancel', 'cleanup')
                or not exists (select from wf._torn(array[r.instance_id], array[r.process_id])));
end;
$$;

-- wf._look_cost()
--
-- A page of the index of the queue takes 2 us. An entry takes 0.2 us more, since its
-- row is read, unless a scan has marked it as dead for all.
--
-- Returns  how long this transaction's looks at the queue have taken, in microseconds
-- Locks    nothing
-- Raises   nothing
-- Called   by _find; it is inlined there
create or replace function wf._look_cost() returns numeric
language sql volatile
begin atomic
    select pg_stat_get_xact_blocks_fetched('wf.ready_claim_idx'::regclass) * 2
           + pg_stat_get_xact_tuples_returned('wf.ready_claim_idx'::regclass) * 0.2;
end;

-- wf._look_rest(p_cost)
--
-- Returns  for how many seconds a look that has taken p_cost microseconds is good
-- Locks    nothing
-- Raises   nothing
-- Called   by _find and _spare_timers
create or replace function wf._look_rest(p_cost numeric) returns numeric
language sql immutable
begin atomic
    select case when p_cost > 500 then greatest(least(p_cost * 0.0001, 0.2), least(p_cost * 0.00002, 1)) else 0 end;
end;

-- wf._find(p_driver, p_want, p_instant, p_kept, p_torn, p_now)
--
-- Finds the requests that a driver takes. It looks for the first request of each lane that
-- the driver serves, behind the place where the poll before ended, and takes as many from
-- there on as are wanted. It leaves out tasks that are torn down (p_torn: there are any).
-- While polls leave requests behind, each goes on where the poll before ended; they look at
-- the heads of the lanes after 10 ms. A poll that finds fewer than it wants looks at the
-- heads at once. A look that has taken more than 0.5 ms is repeated after a hundred times as
-- long, at the latest after 0.2 s, but not before twenty times as long.
--
-- An expression that a transaction evaluates for the first time takes 4,000
-- instructions, the call of a function 10,000, a query 40,000. Therefore the
-- common case, one lane and no note of the poll before, calls no function.
--
-- Returns  the rows of ready to take, in order of their pools (null: none); the lanes
--          with the places behind these rows; whether a lane may hold more; whether
--          there are lanes that the driver does not serve; if looks at the heads take
--          long, after how many ms the next one is due
-- Locks    these rows (skipping locked ones)
-- Raises   nothing
-- Called   by poll
create or replace function wf._find(p_driver wf.driver, p_want int, p_instant int, p_kept jsonb, p_torn boolean,
                                    p_now timestamptz, out place tid[], out lane wf.place[], out more boolean,
                                    out others boolean, out again int)
language plpgsql as $$
declare
    v_noted constant boolean := coalesce(current_setting('wf.from', true), '') <> '';
    v_age numeric := 0; -- of the last look at the heads
    v_rest numeric := 0; -- for how many seconds it is good
    v_before wf.place[]; -- where the poll before has ended
    v_near boolean := true; -- whether to go on at the turn of now
    v_places wf.place[]; -- where to go on; null for the heads
    v_cost numeric; -- of a look, in microseconds
    v_want int;
begin
    if v_noted then
        select r.age, r.rest, r.lane, r.places, r.near or r.places is null
          into v_age, v_rest, v_before, v_places, v_near from wf._recall(p_driver.id, p_now) r;
    end if;
    loop
        v_cost := wf._look_cost();
        select array_agg(row(l.id, wf._pool(l.needs, p_instant is not null), h.rank, h.turn, h.instance_id,
                             h.process_id - 1)::wf.place)
                   filter (where h.rank is not null),
               bool_or(not l.served)
          into lane, others
          from (select x.id, x.needs, wf._serves(p_driver, x) as served from wf.lane x offset 0) l
          left join lateral (select u.* from unnest(v_places) u where u.lane_id = l.id) b on true
          left join lateral (select y.rank, y.turn, y.instance_id, y.process_id
                               from wf.ready y
                              where l.served
                                and (select e.event from wf.engine_event e order by e.id desc limit 1)
                                    is distinct from 'pause'
                                and y.lane_id = l.id
                                and (y.rank, y.turn, y.instance_id, y.process_id)
                                    > (coalesce(b.rank, -32768), coalesce(b.turn, 0), coalesce(b.instance_id, 0),
                                       coalesce(b.process_id, 0))
                              order by y.rank, y.turn, y.instance_id, y.process_id
                              limit 1) h on true;
        v_cost := wf._look_cost() - v_cost;
        if v_places is null then
            v_rest := wf._look_rest(v_cost);
            v_age := 0;
        elsif v_cost > 500 then
            v_near := false;
        end if;
        if cardinality(lane) = 1 then
            v_want := case when lane[1].pool = 'builtin' then p_instant
                           else p_want + coalesce((p_kept ->> lane[1].pool)::int, 0) end;
            place := array(select y.ctid
                             from wf.ready y
                            where y.lane_id = lane[1].lane_id
                              and (y.rank, y.turn, y.instance_id, y.process_id)
                                  > (lane[1].rank, lane[1].turn, lane[1].instance_id, lane[1].process_id)
                            order by y.rank, y.turn, y.instance_id, y.process_id
                            limit v_want
                              for update skip locked);
            more := cardinality(place) = v_want;
            if more or v_rest > 0 then lane := wf._places_behind(lane, place); end if;
        elsif lane is not null then
            select s.place, s.more, s.lane into place, more, lane
              from wf._share(lane, p_want, p_instant, p_kept) s;
        end if;
        exit when v_places is null or more or v_age < v_rest;
        v_places := null;
        v_near := true;
    end loop;
    if more or v_rest > 0 then
        again := case when v_rest > v_age then ceil((v_rest - v_age) * 1000) end;
        perform wf._remember(p_driver.id, v_age, v_rest, more, v_near, lane,
                             case when v_rest > 0 then v_before else v_places end, p_now);
    elsif v_noted then
        perform set_config('wf.from', '', false); -- the next one looks at the heads
    end if;
    place := nullif(place, array[]::tid[]);
    if p_torn and place is not null then
        place := wf._leave_torn(place);
        -- there may be other requests behind those that it leaves
        again := case when place is null then 10 else again end;
    end if;
end;
$$;

-- wf._remember(p_driver, p_age, p_rest, p_more, p_near, p_lane, p_before, p_now)
--
-- Notes where the next poll goes on, for _recall. Lanes in which nothing was found
-- keep the place that they had (p_before). A lane that had no place gets the turn of
-- now, if looks take long.
--
-- Returns  nothing
-- Locks    nothing
-- Raises   nothing
-- Called   by _find
create or replace function wf._remember(p_driver bigint, p_age numeric, p_rest numeric, p_more boolean, p_near boolean,
                                        p_lane wf.place[], p_before wf.place[], p_now timestamptz) returns void
language plpgsql as $$
begin
    if cardinality(p_before) > coalesce(cardinality(p_lane), 0) then
        p_lane := p_lane || array(select u from unnest(p_before) u
                                   where u.lane_id <> all (array(select x.lane_id from unnest(p_lane) x)));
    end if;
    if p_rest > 0 then
        p_lane := p_lane || array(select row(l.id, null, 0, wf._turn(p_now, null), 0, 0)::wf.place from wf.lane l
                                   where l.id <> all (array(select x.lane_id from unnest(p_lane) x)));
    end if;
    perform set_config('wf.from', jsonb_build_object(
                           'driver', p_driver, 'at', extract(epoch from p_now) - p_age, 'rest', p_rest,
                           'more', p_more, 'near', p_near,
                           'lanes', (select jsonb_agg(jsonb_build_array(l.lane_id, l.pool, l.rank, l.turn,
                                                                        l.instance_id, l.process_id))
                                       from unnest(p_lane) l))::text, false);
end;
$$;

-- wf._has_made()
--
-- Returns  whether something has become ready in this transaction, see _may_ring
-- Locks    nothing
-- Raises   nothing
-- Called   by poll
create or replace function wf._has_made() returns boolean
language sql stable
begin atomic
    select current_setting('wf.made', true) = '1';
end;

-- wf._pass_on(p_driver, p_lane)
--
-- Wakes sleeping drivers if this driver leaves a request that one of them serves: a request
-- behind these places, in the lanes in which this driver has looked, or any request in a
-- lane that it does not serve.
--
-- Returns  nothing
-- Locks    nothing (NOTIFY takes its own at commit)
-- Raises   nothing
-- Called   by poll, if lanes may hold more, or if something has become ready in its transaction
create or replace function wf._pass_on(p_driver bigint, p_lane wf.place[]) returns void
language plpgsql as $$
declare
    v_idle wf.driver[] := array(select d from wf.driver d where d.idle and d.id <> p_driver);
begin
    if cardinality(v_idle) = 0 then
        return;
    end if;
    -- of the lanes that this driver serves, those that are not in p_lane are empty
    perform pg_notify('wf_ready', '')
       from (select x.id from wf.lane x
              where exists (select from unnest(v_idle) d where wf._serves(d, x))
                and (x.id in (select u.lane_id from unnest(p_lane) u)
                     or not exists (select from wf.driver o where o.id = p_driver and wf._serves(o, x)))
             offset 0) l
       left join lateral (select u.rank, u.turn, u.instance_id, u.process_id
                            from unnest(p_lane) u
                           where u.lane_id = l.id) b on true
      cross join lateral (select from wf.ready y
                           where y.lane_id = l.id
                             and (y.rank, y.turn, y.instance_id, y.process_id)
                                 > (coalesce(b.rank, -32768), coalesce(b.turn, 0), coalesce(b.instance_id, 0),
                                    coalesce(b.process_id, 0))
                           limit 1) y
      limit 1;
end;
$$;
