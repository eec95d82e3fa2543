-- Concurrency groups. Occupancy is rows of slot; a place is granted here only.

-- wf._group(p_name)
--
-- Returns  the id of a concurrency group, which is created if it is new
-- Locks    nothing (a concurrent creation of the same name is waited for)
-- Raises   WF020 if the name is null, empty or longer than 63 bytes
-- Called   by install, and where a group's name is an expression
create or replace function wf._group(p_name text) returns bigint
language plpgsql :inner as $$
declare
    v_id bigint;
begin
    if coalesce(octet_length(p_name), 0) not between 1 and 63 then
        raise exception using errcode = 'WF020', message = format('the name of a concurrency group has 1 to 63 bytes, not %s', coalesce(octet_length(p_name), 0));
    end if;
    select g.id into v_id from wf.concurrency_group g where g.name = p_name;
    if v_id is null then
        insert into wf.concurrency_group (name) values (p_name) on conflict do nothing;
        select g.id into v_id from wf.concurrency_group g where g.name = p_name;
    end if;
    return v_id;
end;
$$;

-- wf._settle()
--
-- Grants free places of the groups on the work list to those that wait, by
-- priority and turn. The last max that a task gave a group wins. A group that
-- somebody else holds stays on the list.
--
-- Returns  nothing
-- Locks    rows of dirty (skipping locked ones), then groups by id (skipping locked ones; the only place that locks a group)
-- Raises   nothing of its own
-- Called   by poll and tick, after all outcomes and before the claim
create or replace function wf._settle() returns void
language plpgsql :inner as $$
declare
    v_work record;
    v_group record;
    v_free bigint;
    v_granted bigint;
    v_settled bigint[] := array[]::bigint[];
begin
    with work as (
        delete from wf.dirty d
         where d.id in (select x.id from wf.dirty x order by x.id limit 1000 for update skip locked)
        returning d.id, d.group_id, d.max)
    select array_agg(distinct w.group_id) as groups, array_agg(w.group_id order by w.id) filter (where w.max is not null) as given,
           array_agg(w.max order by w.id) filter (where w.max is not null) as maxes
      into v_work
      from work w;
    if v_work.groups is null then
        return;
    end if;
    for v_group in
        select g.id, g.max from wf.concurrency_group g where g.id = any (v_work.groups) order by g.id for no key update skip locked
    loop
        v_settled := v_settled || v_group.id;
        v_free := v_work.maxes[(select max(x.k) from unnest(v_work.given) with ordinality x (id, k) where x.id = v_group.id)];
        if v_free is distinct from v_group.max and v_free is not null then
            update wf.concurrency_group g set max = v_free where g.id = v_group.id;
            v_group.max := v_free;
        end if;
        select v_group.max - count(*) into v_free from wf.slot s where s.group_id = v_group.id;
        continue when v_free <= 0;
        with next as materialized (
            select p.ctid as place from wf.parked p where p.group_id = v_group.id
             order by p.rank, p.turn, p.instance_id, p.process_id limit v_free for update skip locked),
        granted as (
            delete from wf.parked p where p.ctid = any (array(select x.place from next x))
            returning p.instance_id, p.process_id, p.group_id, p.lane_id, p.rank, p.turn),
        taken as (
            insert into wf.slot (group_id, instance_id, process_id) select d.group_id, d.instance_id, d.process_id from granted d)
        insert into wf.ready (instance_id, process_id, lane_id, rank, turn, request)
        select d.instance_id, d.process_id, d.lane_id, d.rank, d.turn, 'start' from granted d;
        get diagnostics v_granted = row_count;
        -- a place is left since somebody holds those who wait: an operator, who may yet change his mind
        if coalesce(v_granted < v_free, true) and exists (select from wf.parked p where p.group_id = v_group.id) then
            insert into wf.dirty (group_id) values (v_group.id);
        end if;
    end loop;
    insert into wf.dirty (group_id, max)
    select w.id, v_work.maxes[(select max(x.k) from unnest(v_work.given) with ordinality x (id, k) where x.id = w.id)]
      from unnest(v_work.groups) w (id)
     where w.id <> all (v_settled);
end;
$$;
