-- Where each process is that has begun and has not ended, and why it does not go on
-- there. Explain, stuck and fsck all read it here.

-- wf._drivers_at_work()
--
-- Returns  the drivers that take requests: live, and seen within lease_seconds
-- Locks    nothing
-- Raises   nothing
-- Called   by the view of places, explain and stuck
create or replace function wf._drivers_at_work() returns setof wf.driver
language sql stable set search_path = pg_catalog, pg_temp as $$
    select d.*
      from wf.driver d
      join wf.sign_of_life s on s.driver_id = d.id
     where d.state = 'live'
       and s.seen_at >= wf.now() - wf._setting_number('lease_seconds') * interval '1 s';
$$;

create or replace view wf.reason_v with (security_barrier = true) as
select r.reason, r.ended_by, r.person, r.meaning
  from (values
       ('group', 'engine', false, 'its concurrency group has no free place'),
       ('rate', 'time', false, 'its rate lets no more begin for the moment'),
       ('suspended', 'operator', true, 'its instance is suspended'),
       ('driver', 'operator', true, 'no driver at work serves its queue, transports and capabilities'),
       ('paused', 'operator', true, 'the engine is paused'),
       ('request', 'driver', false, 'a driver has a request of it'),
       ('time', 'time', false, 'something of it is due at a time: its sleep ends, or its next request is made'),
       ('retry', 'time', false, 'its next attempt begins at a time'),
       ('signal', 'outside', false, 'a signal has to come: see wf.signal'),
       ('callback', 'outside', false, 'a callback has to come: see wf.callback'),
       ('input', 'outside', true, 'a person has to answer a form: see wf.answer'),
       ('child', 'instance', false, 'another instance has to end, which it may have started'),
       ('failed', 'operator', true, 'it has failed'),
       ('set aside', 'operator', true, 'moving it on raised an error three times'),
       ('children', 'process', false, 'processes in it have not ended'),
       ('teardown', 'engine', false, 'it is torn down, alone or with a process around it'),
       ('aborting', 'engine', false, 'the instance is being aborted'),
       ('stuck', 'operator', true, 'it is in no place: rows of the workspace are damaged'),
       ('ended', 'nobody', false, 'it has ended')) r (reason, ended_by, person, meaning);
comment on view wf.reason_v is 'The reasons that explain and stuck give.';
comment on column wf.reason_v.reason is 'the reason';
comment on column wf.reason_v.ended_by is
    'who ends it: driver, engine, time, process (another process of the instance), instance (another one), outside '
    '(an application or a person, by wf.signal, wf.callback or wf.answer), operator or nobody';
comment on column wf.reason_v.person is
    'true: it waits for a person. A group without a free place does so, too, if its max is 0';
comment on column wf.reason_v.meaning is 'the reason in words';

-- Each process that has not ended has exactly one row; fsck proves it. If the reason is
-- null, a driver may take its request now. Each part of the union finds a process by its
-- key, and a part whose place is not asked for is not read.
--
-- A timer that has fired to make a request ready stays, with infinity as its time: it is no
-- place. A timer that could not be fired when it was due has infinity as its time, too, but
-- also a row of work. A wait for a signal, an answer or an instance always has infinity. The
-- timer of an attempt that comes after a cleanup is a place only when the cleanup is over.
--
-- Viewers may not read this view, since it calls the functions that poll uses.
create or replace view wf._place_v as
select r.instance_id, r.process_id, 'ready' as place,
       case when r.request in ('start', 'poll')
                 and exists (select from wf.teardown t where t.instance_id = r.instance_id)
                 and exists (select from wf._torn(array[r.instance_id], array[r.process_id])) then 'teardown'
            when not coalesce(l.served,
                              exists (select from wf._find_lane(r.lane_id) x, wf._drivers_at_work() d
                                       where wf._serves(d, x))) then 'driver'
            when wf._is_paused() then 'paused' end as reason,
       r.request, wf._ready_since(r.instance_id, r.process_id, r.turn) as since,
       null::timestamptz as until, r.lane_id, null::bigint as group_id, null::bigint as driver_id
  from wf.ready r
  left join (select x.id, exists (select from wf._drivers_at_work() d where wf._serves(d, x)) as served
               from wf.lane x) l on l.id = r.lane_id
 union all
select k.instance_id, k.process_id, 'parked', k.reason, 'start', k.parked_at, null, k.lane_id, k.group_id, null
  from wf.parked k
 union all
select l.instance_id, l.process_id, 'lease', case when w.aside then 'set aside' else 'request' end, l.request, l.at,
       w.due_at, null, null, l.driver_id
  from wf.lease l
  left join wf.work w on w.instance_id = l.instance_id and w.item_id = l.process_id and w.kind = 'loss'
 union all
select t.instance_id, t.process_id, 'timer',
       case when w.aside then 'set aside'
            when t.kind = 'child' and t.awaits_id is null and p.state = 'WAITING'
                 and exists (select from wf.suspended s where s.instance_id = t.instance_id) then 'suspended'
            when t.kind = 'signal' and starts_with(t.name, 'callback ') then 'callback'
            when t.kind in ('retry', 'signal', 'input', 'child') then t.kind else 'time' end,
       case when t.kind in ('poll', 'cancel', 'cleanup') then t.kind end, p.at,
       nullif(coalesce(w.due_at, t.due_at), 'infinity'), null, null, null
  from wf.timer t
  join wf.process p on p.instance_id = t.instance_id and p.id = t.process_id
  left join wf.work w on w.instance_id = t.instance_id and w.item_id = t.process_id
                       and (w.kind = 'timer' or w.kind = 'child' and w.aside)
 where (t.kind <> 'retry' or p.state = 'INIT')
   and (isfinite(t.due_at) or t.kind in ('signal', 'input', 'child')
        or w.id is not null
           and not exists (select from wf.ready r where r.instance_id = t.instance_id and r.process_id = t.process_id)
           and not exists (select from wf.lease l where l.instance_id = t.instance_id and l.process_id = t.process_id))
 union all
select f.instance_id, f.process_id, 'failed', 'failed', null, p.at, null, null, null, null
  from wf.failed f
  join wf.process p on p.instance_id = f.instance_id and p.id = f.process_id
 union all
select p.instance_id, p.id, 'children',
       case when exists (select from wf.teardown t where t.instance_id = p.instance_id and t.process_id = p.id)
            then 'teardown' else 'children' end, null, p.at, null, null, null, null
  from wf.process p
 where p.machine = 'composite' and p.state in ('ACTIVE', 'ABORTING');
comment on view wf._place_v is
    'Where each process is that has begun and has not ended, and why it does not go on: one row each.';
comment on column wf._place_v.instance_id is 'the instance';
comment on column wf._place_v.process_id is 'the process';
comment on column wf._place_v.place is
    'where it is: ready, parked, lease, timer, failed (the tables of that name), or children (a composite in which '
    'a process has not ended)';
comment on column wf._place_v.reason is
    'why it does not go on, a row of reason_v; of several reasons the one that has to end first; null: a driver may '
    'take its request now';
comment on column wf._place_v.request is 'the request that is ready, with a driver, or due';
comment on column wf._place_v.since is 'since when';
comment on column wf._place_v.until is 'until when, if that is known';
comment on column wf._place_v.lane_id is 'ready, parked: the lane that a driver must serve';
comment on column wf._place_v.group_id is
    'parked: the group that it waits for; null: it waits for its rate, or its instance is suspended';
comment on column wf._place_v.driver_id is 'lease: the driver that has the request';

-- wf._climb(p_instance)
--
-- Finds the processes that have not ended from below: those that are in a place, and all
-- composites around them. It reads none that has ended. A composite's `open` says how many
-- of its children have not ended. If that many were found below each composite, no process
-- is missing. If one is missing, the instance is damaged (or stuck).
--
-- Returns  the processes that have not ended; null if one is missing
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._under_way
create or replace function wf._climb(p_instance bigint) returns bigint[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    with recursive place as (
        select x.process_id as id from wf.ready x where x.instance_id = p_instance
         union all
        select x.process_id from wf.parked x where x.instance_id = p_instance
         union all
        select x.process_id from wf.lease x where x.instance_id = p_instance
         union all
        select x.process_id from wf.timer x where x.instance_id = p_instance
         union all
        select x.process_id from wf.failed x where x.instance_id = p_instance),
    up (id, parent_id, open) as (
        select p.id, p.parent_id, p.open
          from (select distinct x.id from place x offset 0) c,
               lateral (select x.id, x.parent_id, x.open from wf.process x
                         where x.instance_id = p_instance and x.id = c.id
                           and x.state not in ('END', 'RAISED', 'ABORTED') offset 0) p
         union
        select p.id, p.parent_id, p.open
          from up c,
               lateral (select x.id, x.parent_id, x.open from wf.process x
                         where x.instance_id = p_instance and x.id = c.parent_id offset 0) p)
    select case when bool_or(u.parent_id is null)
                     and not exists (select from up c
                                       left join (select x.parent_id, count(*) as found from up x group by 1) b
                                         on b.parent_id = c.id
                                      where c.open <> coalesce(b.found, 0))
                then array_agg(u.id) end
      from up u;
end;

-- wf._under_way(p_instance)
--
-- An instance that may have had many more processes than it has now is not read as a
-- whole. Its wf.extent says so.
--
-- Returns  the processes of an instance that have not ended
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_instance, _explain_children and wf._tell
create or replace function wf._under_way(p_instance bigint) returns bigint[]
language sql stable
begin atomic
    select coalesce(case when exists (select from wf.extent e
                                       where e.instance_id = p_instance and e.processes > 1000 + 10 * e.live)
                         then wf._climb(p_instance) end,
                    array(select p.id from wf.process p
                           where p.instance_id = p_instance and p.state not in ('END', 'RAISED', 'ABORTED')));
end;
