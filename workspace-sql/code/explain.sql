-- Why is this not running? The answers come from the very rows that poll goes
-- by: a request can be taken now if and only if it has a row in ready and a
-- live driver serves its lane while the engine is not paused, and then there is
-- no reason to give.

-- wf._drivers_at_work()
--
-- Returns  the drivers that take requests: live, and seen within lease_seconds
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_queued
create or replace function wf._drivers_at_work() returns setof wf.driver
language sql stable set search_path = pg_catalog, pg_temp as $$
    select d.*
      from wf.driver d
     where d.state = 'live'
       and d.seen_at >= wf.now() - wf._setting_number('lease_seconds') * interval '1 s';
$$;

-- wf._unfit(p_lane)
--
-- Returns  of the drivers that are registered, the first five with what keeps
--          them from serving a lane that none of them serves; null if there are none
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_queued
create or replace function wf._unfit(p_lane wf.lane) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
    select string_agg(d.name || case when d.state <> 'live' then ' is ' || d.state
                                     when x.lacks <> '' then ' lacks ' || x.lacks
                                     else ' is silent since ' || to_char(d.seen_at, 'YYYY-MM-DD HH24:MI:SS') end, '; ' order by d.place)
               filter (where d.place <= 5) || case when count(*) > 5 then '; …' else '' end
      from (select n.*, row_number() over (order by n.name, n.id) as place from wf.driver n where n.state in ('live', 'draining')) d
     cross join lateral (
        select array_to_string(array(select 'queue ' || p_lane.queue where cardinality(d.queues) > 0 and p_lane.queue <> all (d.queues))
                               || array(select n from unnest(p_lane.needs) n where n <> all (d.transports))
                               || array(select r from unnest(p_lane.requires) r where r <> all (d.capabilities)), ', ') as lacks) x;
$$;

-- wf._say_who(p_what, p_actor, p_reason)
--
-- Returns  what happened, by whom and, if that was said, why
-- Locks    nothing
-- Raises   nothing
-- Called   where explain and stuck name an operator
create or replace function wf._say_who(p_what text, p_actor text, p_reason text) returns text
language sql immutable
begin atomic
    select p_what || ' by ' || p_actor || coalesce(': ' || p_reason, '');
end;

-- wf._explain_queued(p_instance, p_from, p_to)
--
-- Why requests are not taken: their instance is suspended, their group is full,
-- nobody serves their lane, or the engine is paused.
--
-- Returns  one row for each reason of the processes with ids from p_from to p_to
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain
create or replace function wf._explain_queued(p_instance bigint, p_from bigint, p_to bigint)
returns table (process_id bigint, reason text, detail text, since timestamptz)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
    -- a session that has just begun plans longer than it reads: it plans only what there is
    if exists (select from wf.parked k where k.instance_id = p_instance and k.process_id between p_from and p_to) then
        return query
        with waiting as (
            select k.process_id, k.group_id, k.parked_at as since
              from wf.parked k
             where k.instance_id = p_instance and k.process_id between p_from and p_to
        ), place as (
            select s.group_id, s.instance_id, s.process_id, n.label, p.at,
                   row_number() over (partition by s.group_id order by p.at, s.process_id) as rank
              from wf.slot s
             cross join lateral (select x.* from wf.process x where x.instance_id = s.instance_id and x.id = s.process_id offset 0) p
              join wf.node n on n.version_id = p.version_id and n.id = p.node_id
             where s.group_id in (select w.group_id from waiting w)
        ), held as (
            select h.group_id, count(*) as places,
                   string_agg(format('%s of instance %s (%s, since %s)', h.process_id, h.instance_id, h.label, to_char(h.at, 'HH24:MI:SS')), ', ' order by h.rank)
                       filter (where h.rank <= 5) || case when count(*) > 5 then ' …' else '' end as holders
              from place h
             group by h.group_id
        )
        select w.process_id, 'group',
               format('group %s has %s of %s places taken', g.name, coalesce(h.places, 0), coalesce(g.max::text, 'any number of'))
                   || case when h.places >= g.max then ': held by ' || h.holders
                           when g.max = 0 then '' else '; it gets one with the next poll' end,
               w.since
          from waiting w
          join wf.concurrency_group g on g.id = w.group_id
          left join held h on h.group_id = w.group_id
         union all
        select k.process_id, 'suspended', wf._say_who('its instance was suspended', s.actor, s.reason), s.at
          from wf.suspended s
          join wf.parked k on k.instance_id = s.instance_id
         where s.instance_id = p_instance and k.process_id between p_from and p_to and k.reason = 'suspended';
    end if;
    if exists (select from wf.ready r where r.instance_id = p_instance and r.process_id between p_from and p_to) then
        return query
        select r.process_id, 'driver',
               'no live driver serves ' || wf._lane_text(l)
                   || coalesce('; ' || wf._unfit(l), ''),
               p.at
          from wf.ready r
          join wf.lane l on l.id = r.lane_id
          join wf.process p on p.instance_id = r.instance_id and p.id = r.process_id
         where r.instance_id = p_instance and r.process_id between p_from and p_to
           and not exists (select from wf._drivers_at_work() d where wf._serves(d, l))
         union all
        select r.process_id, 'paused', wf._say_who('the engine was paused', e.actor, e.reason), e.since
          from wf.engine_v e
          join wf.ready r on r.instance_id = p_instance and r.process_id between p_from and p_to
         where e.state = 'PAUSED';
    end if;
end;
$$;

-- wf._explain_pending(p_instance, p_from, p_to)
--
-- What processes wait for: a driver's answer, a time, an operator.
--
-- Returns  one row for each reason of the processes with ids from p_from to p_to
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain
create or replace function wf._explain_pending(p_instance bigint, p_from bigint, p_to bigint)
returns table (process_id bigint, reason text, detail text, since timestamptz)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
    if exists (select from wf.lease l where l.instance_id = p_instance and l.process_id between p_from and p_to) then
        return query
        select l.process_id, 'request',
               format('its %s request is with driver %s', l.request, coalesce(d.name, '(unknown)'))
                   || case when d.state in ('live', 'draining') then ''
                           else format(', which is %s: it is taken back', coalesce(d.state, 'gone'))
                                || coalesce(to_char(wf._withheld_until(l, wf.now()), '" at "YYYY-MM-DD HH24:MI:SSOF", for it was lost before"'), '') end
                   || case when d.state in ('live', 'draining') and d.seen_at < wf.now() - interval '5 s'
                           then ', silent since ' || to_char(d.seen_at, 'YYYY-MM-DD HH24:MI:SS') else '' end,
               l.at
          from wf.lease l
          left join wf.driver d on d.id = l.driver_id
         where l.instance_id = p_instance and l.process_id between p_from and p_to;
    end if;
    if exists (select from wf.timer t where t.instance_id = p_instance and t.process_id between p_from and p_to) then
        return query
        select t.process_id, 'time',
               case t.kind when 'sleep' then 'sleeps until ' else format('its next %s request is due at ', t.kind) end
                   || to_char(t.due_at, 'YYYY-MM-DD HH24:MI:SSOF')
                   || case when t.failures > 0 then format(', after %s failures', t.failures) else '' end,
               p.at
          from wf.timer t
          join wf.process p on p.instance_id = t.instance_id and p.id = t.process_id
         where t.instance_id = p_instance and t.process_id between p_from and p_to
           and isfinite(t.due_at);
    end if;
    if exists (select from wf.failed f where f.instance_id = p_instance and f.process_id between p_from and p_to) then
        return query
        select f.process_id, 'failed',
               format('%s: %s; waits for retry, ignore, resolve or raise', p.error ->> 'kind', p.error ->> 'message'),
               p.at
          from wf.failed f
          join wf.process p on p.instance_id = f.instance_id and p.id = f.process_id
         where f.instance_id = p_instance and f.process_id between p_from and p_to;
    end if;
end;
$$;

-- wf._explain_children(p_instance, p_from, p_to)
--
-- What composites wait for: the processes in them that have not ended. What
-- comes after one of these has no row yet; it is named behind it.
--
-- Returns  one row for each composite with an id from p_from to p_to
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain
create or replace function wf._explain_children(p_instance bigint, p_from bigint, p_to bigint)
returns table (process_id bigint, reason text, detail text, since timestamptz)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
    if not exists (select from wf.process p where p.instance_id = p_instance and p.id between p_from and p_to and p.state in ('ACTIVE', 'ABORTING')) then
        return;
    end if;
    return query
    with parent as materialized (
        select p.id, p.todo, p.at
          from wf.process p
         where p.instance_id = p_instance and p.id between p_from and p_to
           and p.state in ('ACTIVE', 'ABORTING')
    ), child as (
        select c.parent_id, c.id, c.state, c.index, c.version_id, c.node_id, c.next_id,
               row_number() over (partition by c.parent_id order by c.id) as rank
          from wf.process c
         where c.instance_id = p_instance
           and c.parent_id in (select q.id from parent q)
           and c.state not in ('END', 'RAISED', 'ABORTED')
    )
    select q.id, 'children',
           format('waits for %s: ', count(c.id))
               || string_agg(format('%s %s%s (%s%s)', c.id, n.label, ' [' || c.index || ']', c.state, ', then ' || f.label), ', ' order by c.rank) filter (where c.rank <= 5)
               || case when count(c.id) > 5 then ' …' else '' end
               || case when q.todo > 0 then format('; %s more to come', q.todo) else '' end,
           q.at
      from parent q
      join child c on c.parent_id = q.id
      join wf.node n on n.version_id = c.version_id and n.id = c.node_id
      left join wf.node f on f.version_id = c.version_id and f.id = c.next_id
     group by q.id, q.todo, q.at;
end;
$$;

-- wf._explain(p_instance, p_process)
--
-- All reasons of one process, or of all that have not ended. What is in no
-- table at all that could move it on is said to be stuck; wf.fsck finds it too.
--
-- Returns  one row for each reason
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.explain
create or replace function wf._explain(p_instance bigint, p_process bigint)
returns table (process_id bigint, reason text, detail text, since timestamptz)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    v_from bigint := coalesce(p_process, 0);
    v_to   bigint := coalesce(p_process, 9223372036854775807);
begin
    return query
    select p.id, 'ended', p.state || coalesce(': ' || (p.error ->> 'kind') || ': ' || (p.error ->> 'message'), ''), p.at
      from wf.process p
     where p.instance_id = p_instance and p.id = p_process
       and p.state in ('END', 'RAISED', 'ABORTED');
    if found then
        return;
    end if;
    return query
    with reason as (
        select * from wf._explain_queued(p_instance, v_from, v_to)
         union all
        select * from wf._explain_pending(p_instance, v_from, v_to)
         union all
        select * from wf._explain_children(p_instance, v_from, v_to)
    )
    select r.process_id, r.reason, r.detail, r.since
      from reason r
     union all
    select p.id, 'stuck', p.state || ': nothing can move it on; wf-console fsck tells more', p.at
      from wf.process p
     where p.instance_id = p_instance and p.id between v_from and v_to
       and p.state not in ('END', 'RAISED', 'ABORTED')
       and not exists (select from reason r where r.process_id = p.id)
       and not exists (select from wf.ready r where r.instance_id = p.instance_id and r.process_id = p.id);
end;
$$;

-- wf.explain(p_instance, p_process)
--
-- Returns  one row for each reason; none if a driver may take it now
-- Locks    nothing
-- Raises   WF003
-- Called   by viewers
create or replace function wf.explain(p_instance bigint, p_process bigint default null)
returns table (process_id bigint, label text, reason text, detail text, since timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off as $$
declare
    v_instance record;
begin
    select i.state, i.result, i.at, i.error, w.name
      into v_instance
      from wf.instance i
      join wf.workflow w on w.id = i.workflow_id
     where i.id = p_instance;
    if not found or p_process is not null and not exists (select from wf.process p where p.instance_id = p_instance and p.id = p_process) then
        raise exception using errcode = 'WF003',
            message = case when found then format('instance %s has no process %s', p_instance, p_process) else format('there is no instance %s', p_instance) end,
            hint = 'List what exists: wf-console list, wf-console tree.';
    end if;
    if p_process is null and v_instance.state <> 'RUNNING' then
        return query
        select null::bigint, v_instance.name, case v_instance.state when 'ABORTING' then 'aborting' when 'SUSPENDED' then 'suspended' else 'ended' end,
               coalesce(wf._say_who('it was suspended', s.actor, s.reason),
                        v_instance.state || coalesce(', ' || v_instance.result, '') || coalesce(': ' || (v_instance.error ->> 'message'), '')),
               coalesce(s.at, v_instance.at)
          from (values (p_instance)) i (id)
          left join wf.suspended s on s.instance_id = i.id;
    end if;
    return query
    select e.process_id, n.label || coalesce(' [' || p.index || ']', ''), e.reason, e.detail, e.since
      from wf._explain(p_instance, p_process) e
      join wf.process p on p.instance_id = p_instance and p.id = e.process_id
      join wf.node n on n.version_id = p.version_id and n.id = p.node_id
     order by e.process_id, e.reason;
end;
$$;
comment on function wf.explain(bigint, bigint) is 'Why a process, or whatever in an instance has not ended, is not running: suspended (its instance: by whom and why), group (full: who holds it), driver (none serves its queue), paused (the engine: by whom and why), request (with a driver), time (until when), failed (waits for an operator), children (what a composite waits for), stuck, ended. No row: a driver may take it now.';
