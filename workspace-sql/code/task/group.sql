-- Concurrency groups. A row of slot is a place that is taken; places are granted only here.

-- wf._name_lanes(p_lane)
--
-- Inserts the rows of lanes that tasks have named.
--
-- Returns  nothing
-- Locks    rows of lane, by number
-- Called   by _settle
create or replace function wf._name_lanes(p_lane jsonb[]) returns void
language plpgsql as $$
begin
    insert into wf.lane (id, queue, needs, requires)
    select x.id, x.queue, x.needs, x.requires
      from unnest(p_lane) l (lane)
     cross join lateral jsonb_populate_record(null::wf.lane, l.lane) x
     order by x.id
        on conflict (id) do update set unused_xid = null;
end;
$$;

-- wf._free_slots(p_moves)
--
-- Gives back the places that processes have in their groups.
--
-- Returns  nothing
-- Locks    rows of slot
-- Raises   nothing
-- Called   by the update trigger of process
create or replace function wf._free_slots(p_moves wf.move[]) returns void
language plpgsql as $$
begin
    with freed as (
        delete from wf.slot d
         where d.ctid = any (array(select k.ctid from wf._due(p_moves, 'slot') m
                                    cross join lateral (select x.ctid
                                                          from wf.slot x
                                                         where x.instance_id = m.instance_id and x.process_id = m.id
                                                        offset 0) k))
        returning d.group_id)
    insert into wf.dirty (group_id) select distinct x.group_id from freed x;
end;
$$;

-- wf._grant(p_group, p_max)
--
-- Grants the free places of a group to the tasks that wait for one, by priority
-- and turn; at most 1,000 at once. The caller has locked the group.
--
-- Returns  whether some of the places are left to be granted later
-- Locks    rows of parked (skipping locked ones), then of time_limit
-- Called   by _settle
create or replace function wf._grant(p_group bigint, p_max int) returns boolean
language plpgsql as $$
declare
    c_most constant bigint := 1000;
    v_free bigint;
    v_granted wf.request[];
    v_instance bigint[]; -- those with a policy timeout or rate
    v_process bigint[];
begin
    select p_max - count(*) into v_free from wf.slot s where s.group_id = p_group;
    if v_free <= 0 then
        return false;
    end if;
    v_free := least(v_free, c_most);
    with next as materialized (
        select p.ctid as place from wf.parked p where p.group_id = p_group
         order by p.rank, p.turn, p.instance_id, p.process_id limit v_free for update skip locked),
    granted as (
        delete from wf.parked p where p.ctid = any (array(select x.place from next x))
        returning p.instance_id, p.process_id, p.group_id, p.lane_id, p.rank, p.turn,
                  p.timed or p.rate_id is not null as more),
    taken as (
        insert into wf.slot (group_id, instance_id, process_id)
        select d.group_id, d.instance_id, d.process_id from granted d)
    select array_agg(row(d.instance_id, d.process_id, d.lane_id, d.rank, d.turn, 'start')::wf.request),
           array_agg(d.instance_id) filter (where d.more), array_agg(d.process_id) filter (where d.more)
      into v_granted, v_instance, v_process from granted d;
    if v_instance is null then
        perform wf._offer(v_granted);
    else
        perform wf._run_clocks(v_instance, v_process, wf._now());
        perform wf._offer(wf._wait_for_rates(v_granted, v_process));
    end if;
    -- a place is left if somebody, such as an operator who may still roll back, holds the tasks that wait
    return (coalesce(cardinality(v_granted), 0) < v_free or v_free = c_most)
           and exists (select from wf.parked p where p.group_id = p_group);
end;
$$;

-- wf._settle(p_row)
--
-- Settles what transactions have left on the list (wf.dirty): inserts rows for new names
-- of groups and lanes, and grants free places of groups. The last max that a task gave a
-- group wins. A group that somebody else holds keeps its place on the list, so that a max
-- which that holder gives comes behind it. If p_row is given, these rows are tried alone:
-- they come back onto the list, and nothing else is settled.
--
-- Returns  nothing
-- Locks    rows of dirty (skipping locked ones), then lanes, then groups by id
--          (skipping locked ones; the only place that locks a group)
-- Called   by _do_work, before the claim of a poll
create or replace function wf._settle(p_row bigint[] default null) returns void
language plpgsql as $$
declare
    v_work record;
    v_group record;
    v_settled bigint[] := array[]::bigint[];
begin
    if p_row is not null then
        insert into wf.dirty overriding system value
        select x.* from wf.work w, jsonb_populate_record(null::wf.dirty, w.asked) x
         where w.instance_id is null and w.item_id = any (p_row) and w.kind = 'settle';
    end if;
    with work as (
        delete from wf.dirty d
         where d.id in (select x.id from wf.dirty x where p_row is null or x.id = any (p_row)
                         order by x.id limit 1000 for update skip locked)
        returning d.*)
    -- a row with a name grants nothing: the rows in which tasks give the max come behind it, maybe not among these
    select array_agg(distinct w.group_id) filter (where w.group_id is not null and w.name is null) as groups,
           jsonb_object_agg(w.group_id, w.max order by w.id) filter (where w.max is not null) as max,
           jsonb_object_agg(w.group_id, w.id order by w.max is not null, w.id)
               filter (where w.group_id is not null and w.name is null) as place,
           jsonb_object_agg(w.group_id, w.name) filter (where w.name is not null) as name,
           array_agg(distinct w.lane || jsonb_build_object('id', w.lane_id)) filter (where w.lane is not null) as lanes
      into v_work
      from work w;
    if v_work.lanes is not null then
        perform wf._name_lanes(v_work.lanes);
    end if;
    if v_work.name is not null then
        insert into wf.concurrency_group (id, name)
        select n.key::bigint, n.value from jsonb_each_text(v_work.name) n order by 1
            on conflict do nothing;
    end if;
    if v_work.groups is null then
        return;
    end if;
    for v_group in
        select g.id, g.max, (v_work.max ->> g.id::text)::int as given
          from wf.concurrency_group g where g.id = any (v_work.groups) order by g.id for no key update skip locked
    loop
        v_settled := v_settled || v_group.id;
        -- -1 lifts the limit
        if v_group.given <> coalesce(v_group.max, -1) then
            update wf.concurrency_group g set max = nullif(v_group.given, -1) where g.id = v_group.id;
        end if;
        if wf._grant(v_group.id, nullif(coalesce(v_group.given, v_group.max), -1)) then
            insert into wf.dirty (group_id) values (v_group.id);
        end if;
    end loop;
    insert into wf.dirty (id, group_id, max) overriding system value
    select (v_work.place ->> w.id::text)::bigint, w.id, (v_work.max ->> w.id::text)::int
      from unnest(v_work.groups) w (id)
     where w.id <> all (v_settled);
end;
$$;

-- wf.group_set(p_name, p_max)
--
-- Returns  nothing
-- Locks    the gate, the row of the group if there is one
-- Raises   WF002
-- Called   by operators
create or replace function wf.group_set(p_name text, p_max int) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_id bigint;
begin
    perform wf._gate(false);
    if coalesce(p_name, '') = '' or octet_length(p_name) > 63 then
        raise exception using errcode = 'WF002',
            message = format('the name of a group has 1 to 63 bytes, not %s', coalesce(octet_length(p_name), 0)),
            hint = 'wf-console groups lists the groups.';
    end if;
    if p_max < 0 then
        raise exception using errcode = 'WF002',
            message = format('a group cannot have %s places', p_max),
            hint = 'Give 0 (nothing in it starts) or more; null lifts the limit.';
    end if;
    perform wf._audit('group set', jsonb_build_object(
        'group', p_name, 'max', p_max, 'was', (select g.max from wf.concurrency_group g where g.name = p_name)));
    update wf.concurrency_group g set max = p_max where g.name = p_name returning g.id into v_id;
    -- The next poll inserts the row of a new group, see definition/group.sql. That poll may
    -- also settle a max that tasks gave before: this one comes behind it on the list.
    insert into wf.dirty (group_id, max) values (coalesce(v_id, wf._group(p_name)), coalesce(p_max, -1));
    perform wf._resume_work(null);
    perform wf._ring();
end;
$$;
comment on function wf.group_set(text, int) is
    'Sets how many tasks of a concurrency group may be with drivers at once; null lifts the limit. Lowering it stops '
    'nothing that runs. A task that gives the group a max overwrites it.';
