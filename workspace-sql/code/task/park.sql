-- Parking: ready tasks of suspended instances leave the queue, and come back.

-- wf._park(p_instance, p_at)
--
-- Parks the tasks of suspended instances that are ready or wait for their group. A place
-- that was granted is given back. If a poll is taking one of the tasks, this waits for the
-- poll. It begins with the parked tasks, because _settle moves them to ready.
--
-- Returns  nothing
-- Locks    rows of parked, time_limit, ready, slot; the caller has locked the instances
-- Raises   nothing
-- Called   by the triggers, when an instance is suspended and when something
--          becomes ready in a suspended instance
create or replace function wf._park(p_instance bigint[], p_at timestamptz) returns void
language plpgsql as $$
begin
    update wf.parked k set reason = 'suspended', group_id = null, rate_id = null, parked_at = p_at
     where k.instance_id = any (p_instance) and k.reason = 'group';
    -- a wait for a group is over: the clocks of deadlines go on
    perform wf._run_clocks(array_agg(k.instance_id), array_agg(k.process_id), p_at)
       from wf.parked k where k.instance_id = any (p_instance) and k.timed having count(*) > 0;
    with held as (
        delete from wf.ready r where r.instance_id = any (p_instance) and r.request = 'start'
        returning r.instance_id, r.process_id, r.lane_id, r.rank, r.turn),
    freed as (
        delete from wf.slot s
         where s.ctid = any (array(select k.ctid
                                     from held h
                                    cross join lateral (select x.ctid
                                                          from wf.slot x
                                                         where x.instance_id = h.instance_id
                                                           and x.process_id = h.process_id
                                                        offset 0) k))
        returning s.group_id),
    given_back as (
        insert into wf.dirty (group_id) select distinct f.group_id from freed f)
    insert into wf.parked (instance_id, process_id, reason, lane_id, rank, turn, parked_at)
    select h.instance_id, h.process_id, 'suspended', h.lane_id, h.rank, h.turn, p_at from held h;
    perform wf._park_rated(p_instance, p_at);
end;
$$;

-- wf._park_new(p_moves, p_at)
--
-- Parks tasks that have just become ready in suspended instances.
--
-- Returns  nothing
-- Locks    as _park
-- Raises   nothing
-- Called   by the triggers of process
create or replace function wf._park_new(p_moves wf.move[], p_at timestamptz) returns void
language plpgsql as $$
declare
    v_suspended bigint[];
begin
    if exists (select from wf.suspended) then
        v_suspended := array(select s.instance_id
                               from wf.suspended s
                              where s.instance_id in (select m.instance_id from unnest(p_moves) m));
        if cardinality(v_suspended) > 0 then
            perform wf._park(v_suspended, p_at);
        end if;
    end if;
end;
$$;

-- wf._unpark(p_instance, p_at)
--
-- Releases the tasks that were parked while instances were suspended: each is ready, or
-- waits for its group or rate. The tasks keep their order. They come after the tasks that are
-- ready by then, 0.1 s of virtual time apart, so that others run between them.
--
-- Returns  nothing
-- Locks    rows of parked and time_limit; the caller has locked the instances
-- Raises   nothing
-- Called   by the trigger, when an instance is resumed
create or replace function wf._unpark(p_instance bigint[], p_at timestamptz) returns void
language plpgsql as $$
declare
    v_free wf.request[];
begin
    with held as (
        delete from wf.parked k where k.instance_id = any (p_instance) and k.reason = 'suspended'
        returning k.instance_id, k.process_id, k.lane_id, k.rank, k.turn),
    placed as materialized (
        select h.instance_id, h.process_id, h.lane_id, h.rank, p.group_id, p.rate_id,
               p.timed & wf._limit('deadline') > 0 as timed,
               wf._turn(p_at, (row_number() over (partition by h.instance_id
                                                  order by h.turn, h.process_id) - 1)::int) as turn
          from held h
         cross join lateral (select x.group_id, x.rate_id, x.timed
                               from wf.process x
                              where x.instance_id = h.instance_id and x.id = h.process_id
                             offset 0) p),
    waiting as (
        insert into wf.parked (instance_id, process_id, reason, group_id, lane_id, rank, turn, parked_at, timed,
                               rate_id)
        select x.instance_id, x.process_id, case when x.group_id is null then 'rate' else 'group' end, x.group_id,
               x.lane_id, x.rank, x.turn, p_at, case when x.group_id is not null then x.timed end, x.rate_id
          from placed x
         where coalesce(x.group_id, x.rate_id) is not null
        returning group_id, rate_id),
    asked as (
        insert into wf.dirty (group_id) select distinct w.group_id from waiting w where w.group_id is not null),
    asked_rate as (
        insert into wf.work (kind, item_id, due_at)
        select distinct 'rate', w.rate_id, p_at from waiting w where w.group_id is null)
    select array_agg(row(x.instance_id, x.process_id, x.lane_id, x.rank, x.turn, 'start')::wf.request)
      into v_free from placed x where coalesce(x.group_id, x.rate_id) is null;
    perform wf._offer(v_free);
    perform wf._run_clocks(array_agg(k.instance_id), array_agg(k.process_id), p_at)
       from wf.parked k where k.instance_id = any (p_instance) and k.timed having count(*) > 0;
    perform wf._ring(); -- a poll settles the groups
end;
$$;
