-- Notes: which requests a driver takes before a request that it may take, which requests
-- take its slots, and when the time of a process is over.

-- wf._say_before(p_driver, p_ready)
--
-- Returns  how many requests a driver takes before this one
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._note
create or replace function wf._say_before(p_driver wf.driver, p_ready wf.ready) returns text
language sql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off
begin atomic
    select case when b.count = 0 then 'it is the next one'
                else wf._say_number(b.count, 'request is', 'requests are') || ' before it' end
      from (select count(*) as count
              from (select 1
                      from wf.lane l
                     cross join lateral (select 1 from wf.ready y
                                          where y.lane_id = l.id
                                            and (y.rank, y.turn, y.instance_id, y.process_id)
                                                < ((p_ready).rank, (p_ready).turn, (p_ready).instance_id,
                                                   (p_ready).process_id)
                                          limit 1001) y
                     where wf._serves(p_driver, l)
                     limit 1001) x) b;
end;

-- wf._say_slots(p_driver)
--
-- Requests of transport builtin are not counted: they take no slot.
--
-- Returns  how many slots of a driver are taken, by requests of which transports, since when
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._note
create or replace function wf._say_slots(p_driver wf.driver) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select format('%s of its %s taken',
                  case when sum(t.count) > 1000 then 'more than 1,000' else coalesce(sum(t.count), 0)::text end,
                  wf._say_number((p_driver).slots, 'slot is', 'slots are'))
           || coalesce(': ' || string_agg(t.transport || ' ' || t.count, ', ' order by t.count desc, t.transport)
                       || ', the oldest since ' || wf._say_time(min(t.at)), '')
      from (select r.transport, count(*) as count, min(x.at) as at
              from (select l.instance_id, l.process_id, l.request, l.at from wf.lease l
                     where l.driver_id = (p_driver).id
                     limit 1001) x
             cross join lateral (select p.version_id, p.node_id from wf.process p
                                  where p.instance_id = x.instance_id and p.id = x.process_id offset 0) p
             cross join lateral (select n.type_id, n.transport from wf.node n
                                  where n.version_id = p.version_id and n.id = p.node_id offset 0) n
             cross join lateral (select coalesce((select q.transport from wf.task_request q
                                                   where q.type_id = n.type_id and q.request = x.request),
                                                 n.transport) as transport) r
             where r.transport <> 'builtin'
             group by r.transport) t;
end;

-- wf._note(p_ready)
--
-- Returns  why a request that drivers may take may not have been taken yet: the requests
--          before it, and the requests that take the slots, for the first five drivers
--          that serve it; null if there is no such reason
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._notes
create or replace function wf._note(p_ready wf.ready) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select string_agg(format('driver %s may take it: %s, %s',
                             d.name, wf._say_before(d.row, p_ready), wf._say_slots(d.row)),
                      '; ' order by d.name, d.id)
           || case when max(d.drivers) > 5 then '; …' else '' end
      from (select x as row, x.name, x.id, count(*) over () as drivers
              from wf._drivers_at_work() x, wf.lane l
             where l.id = (p_ready).lane_id and wf._serves(x, l)
             order by x.name, x.id
             limit 5) d;
end;

-- wf._notes(p_instance, p_process)
--
-- A process has a note if it has no reason: a driver may take its request, and has not yet.
-- Of an instance (p_process null) only the request that comes first in each lane has a note,
-- among the first 1,000 requests.
--
-- Returns  the notes of this process, or of this instance
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.explain
create or replace function wf._notes(p_instance bigint, p_process bigint)
returns table (process_id bigint, label text, reason text, detail text, since timestamptz)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select r.process_id,
           (select n.label from wf.node n where n.version_id = p.version_id and n.id = p.node_id)
           || coalesce(' [' || p.index || ']', ''),
           'note', t.note, p.at
      from (select distinct on (x.lane_id) x.row, x.process_id
              from (select y as row, y.lane_id, y.rank, y.turn, y.process_id
                      from wf.ready y
                     where y.instance_id = p_instance and (p_process is null or y.process_id = p_process)
                     limit 1000) x
             order by x.lane_id, x.rank, x.turn, x.process_id) r
     cross join lateral (select x.version_id, x.node_id, x.index, x.at from wf.process x
                          where x.instance_id = p_instance and x.id = r.process_id offset 0) p
     cross join lateral (select wf._note(r.row) as note offset 0) t
     where not wf._is_paused() and t.note is not null
       and not (exists (select from wf.teardown d where d.instance_id = p_instance)
                and exists (select from wf._torn(array[p_instance], array[r.process_id])))
     order by r.process_id;
end;

-- wf._limit_notes(p_instance, p_process)
--
-- Returns  when the limits of the policy timeout of this process, or of all in this instance, are reached
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.explain
create or replace function wf._limit_notes(p_instance bigint, p_process bigint)
returns table (process_id bigint, label text, reason text, detail text, since timestamptz)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select t.process_id,
           (select l.label from wf.label_v l where l.instance_id = p_instance and l.process_id = t.process_id),
           'note',
           string_agg(case when t.remains is null
                           then format('it times out at %s (%s%s)', wf._say_time(t.due_at),
                                       wf._say_limit(t.kind),
                                       case t.kind when 'inactivity' then ', put off by new output or progress' end)
                           else format('%s is left of its deadline, whose clock stands still', t.remains) end,
                      '; ' order by t.due_at, t.kind),
           max(p.at)
      from wf._limit_v t
     cross join lateral (select x.at from wf.process x
                          where x.instance_id = p_instance and x.id = t.process_id offset 0) p
     where t.instance_id = p_instance and (p_process is null or t.process_id = p_process)
     group by t.process_id
     order by t.process_id;
end;
