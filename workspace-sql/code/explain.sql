-- Why is this not running? The answers come from the very rows that poll goes
-- by: a request can be taken now if and only if it has a row in ready and a
-- live driver serves its lane while the engine is not paused, and then there is
-- no reason to give.

-- wf._drivers_at_work()
--
-- Returns  the drivers that take requests: live, and seen within lease_seconds
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_ready
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
-- Called   by wf._explain_ready
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

-- wf._say_stuck(p_state)
--
-- Returns  that nothing can move a process on
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain and wf._explain_children
create or replace function wf._say_stuck(p_state text) returns text language sql immutable
begin atomic
    select p_state || ': nothing can move it on; wf-console fsck tells more';
end;

-- wf._say_places(p_group)
--
-- Returns  how many places of a group are taken and, if it is full, by whom
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_alike
create or replace function wf._say_places(p_group bigint) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
    return (select format('group %s has %s of %s places taken', g.name, c.places, coalesce(g.max::text, 'any number of'))
                   || case when c.places >= g.max and c.places > 0
                           then ': held by ' || array_to_string(array(
                                    select (select format('%s of instance %s (%s, since %s)', s.process_id, s.instance_id,
                                                          (select n.label from wf.node n where n.version_id = p.version_id and n.id = p.node_id), to_char(p.at, 'HH24:MI:SS'))
                                              from wf.process p
                                             where p.instance_id = s.instance_id and p.id = s.process_id)
                                      from wf.slot s
                                     where s.group_id = p_group
                                     order by s.process_id
                                     limit 5), ', ') || case when c.places > 5 then ' …' else '' end
                           when g.max = 0 then '' else '; it gets one with the next poll' end
              from wf.concurrency_group g
             cross join (select count(*) as places from wf.slot s where s.group_id = p_group) c
             where g.id = p_group);
end;
$$;

-- wf._explain_ready(p_instance, p_process)
--
-- Why requests are not taken that may be: nobody serves their lane, or the
-- engine is paused.
--
-- Returns  one row for each reason of these processes
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_alike
create or replace function wf._explain_ready(p_instance bigint, p_process bigint[])
returns table (process_id bigint, reason text, detail text, since timestamptz)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select r.process_id, 'driver',
           'no live driver serves ' || wf._lane_text(l)
               || coalesce('; ' || wf._unfit(l), ''),
           p.at
      from wf.ready r
      join wf.lane l on l.id = r.lane_id
      join wf.process p on p.instance_id = r.instance_id and p.id = r.process_id
     where r.instance_id = p_instance and r.process_id = any (p_process)
       and not exists (select from wf._drivers_at_work() d where wf._serves(d, l))
     union all
    select r.process_id, 'paused', wf._say_who('the engine was paused', e.actor, e.reason), e.since
      from wf.engine_v e
      join wf.ready r on r.instance_id = p_instance and r.process_id = any (p_process)
     where e.state = 'PAUSED';
end;
$$;

-- wf._explain_children(p_instance, p_process)
--
-- What composites wait for: the processes in them that have not ended. What
-- comes after one of these has no row yet; it is named behind it. Without any
-- they are stuck.
--
-- Returns  one row for each of these composites
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_alike
create or replace function wf._explain_children(p_instance bigint, p_process bigint[])
returns table (process_id bigint, reason text, detail text, since timestamptz)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
    return query
    with child as (
        select c.parent_id, c.id, c.state, c.index, c.version_id, c.node_id, c.next_id,
               row_number() over (partition by c.parent_id order by c.id) as rank
          from wf.process c
         where c.instance_id = p_instance
           and c.parent_id in (select u.id from unnest(p_process) u (id))
           and c.state not in ('END', 'RAISED', 'ABORTED')
    )
    select q.id, case when count(c.id) > 0 then 'children' else 'stuck' end,
           case when count(c.id) > 0 then format('waits for %s: ', count(c.id)) else wf._say_stuck(q.state) end
               || coalesce(string_agg(format('%s %s%s (%s%s)', c.id, n.label, ' [' || c.index || ']', c.state, ', then ' || f.label), ', ' order by c.rank) filter (where c.rank <= 5), '')
               || case when count(c.id) > 5 then ' …' else '' end
               || case when q.todo > 0 then format('; %s more to come', q.todo) else '' end,
           q.at
      from wf.process q
      left join child c on c.parent_id = q.id
      left join wf.node n on n.version_id = c.version_id and n.id = c.node_id
      left join wf.node f on f.version_id = c.version_id and f.id = c.next_id
     where q.instance_id = p_instance and q.id = any (p_process)
     group by q.id, q.state, q.todo, q.at;
end;
$$;

-- wf._explain_alike(p_instance, p_process, p_kind, p_state)
--
-- Where a process may be is said by its kind and state; that it is there by the
-- rows that poll goes by. What is in no table at all that could move it on is
-- said to be stuck; wf.fsck finds it too. A session that has just begun plans
-- longer than it reads: it plans only what there is.
--
-- Returns  one row for each reason of these processes of one kind and state
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.explain and wf._explain
create or replace function wf._explain_alike(p_instance bigint, p_process bigint[], p_kind text, p_state text)
returns table (process_id bigint, reason text, detail text, since timestamptz)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    v_ready bigint[];
    v_found boolean := false; -- a process is in one of the tables
begin
    if p_state = 'INIT' then
        return query
        select k.process_id, 'group', wf._say_places(k.group_id), k.parked_at
          from wf.parked k
         where k.instance_id = p_instance and k.process_id = any (p_process) and k.group_id is not null;
        v_found := found;
        if exists (select from wf.suspended s where s.instance_id = p_instance) then
            return query
            select k.process_id, 'suspended', wf._say_who('its instance was suspended', s.actor, s.reason), s.at
              from wf.suspended s
              join wf.parked k on k.instance_id = s.instance_id
             where s.instance_id = p_instance and k.process_id = any (p_process) and k.reason = 'suspended';
            v_found := v_found or found;
        end if;
    elsif p_state = 'FAILED' then
        return query
        select p.id, 'failed', format('%s: %s; waits for retry, ignore, resolve or raise', p.error ->> 'kind', p.error ->> 'message'), p.at
          from wf.failed f
          join wf.process p on p.instance_id = f.instance_id and p.id = f.process_id
         where f.instance_id = p_instance and f.process_id = any (p_process);
        v_found := found;
    elsif p_state in ('END', 'RAISED', 'ABORTED') then
        return query
        select p.id, 'ended', p.state || coalesce(': ' || (p.error ->> 'kind') || ': ' || (p.error ->> 'message'), ''), p.at
          from wf.process p
         where p.instance_id = p_instance and p.id = any (p_process);
        return;
    elsif p_state in ('ACTIVE', 'ABORTING') then
        return query select * from wf._explain_children(p_instance, p_process);
        return;
    end if;
    if p_kind in ('sync', 'async') and p_state not in ('INIT', 'FAILED') then
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
         where l.instance_id = p_instance and l.process_id = any (p_process);
        v_found := found;
    end if;
    if p_kind in ('async', 'wait') and p_state not in ('INIT', 'FAILED') then
        return query
        select t.process_id, 'time',
               case t.kind when 'sleep' then 'sleeps until ' else format('its next %s request is due at ', t.kind) end
                   || to_char(t.due_at, 'YYYY-MM-DD HH24:MI:SSOF')
                   || case when t.failures > 0 then format(', after %s failures', t.failures) else '' end,
               (select p.at from wf.process p where p.instance_id = t.instance_id and p.id = t.process_id)
          from wf.timer t
         where t.instance_id = p_instance and t.process_id = any (p_process)
           and isfinite(t.due_at);
        v_found := v_found or found;
    end if;
    if p_kind = 'async' or p_state = 'INIT' and (not v_found or cardinality(p_process) > 1) then
        v_ready := array(select r.process_id from wf.ready r where r.instance_id = p_instance and r.process_id = any (p_process));
        if cardinality(v_ready) > 0 then
            return query select * from wf._explain_ready(p_instance, v_ready);
            v_found := true;
        end if;
    end if;
    if not v_found or cardinality(p_process) > 1 then
        return query
        select u.id, 'stuck', wf._say_stuck(p_state), (select p.at from wf.process p where p.instance_id = p_instance and p.id = u.id)
          from unnest(p_process) u (id)
         where not exists (select from wf.failed x where x.instance_id = p_instance and x.process_id = u.id)
           and not exists (select from wf.parked x where x.instance_id = p_instance and x.process_id = u.id)
           and not exists (select from wf.ready x where x.instance_id = p_instance and x.process_id = u.id)
           and not exists (select from wf.lease x where x.instance_id = p_instance and x.process_id = u.id)
           and not exists (select from wf.timer x where x.instance_id = p_instance and x.process_id = u.id and isfinite(x.due_at));
    end if;
end;
$$;

-- wf._explain(p_instance, p_process)
--
-- Returns  all reasons of these processes
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.explain, wf.tree and wf._tell
create or replace function wf._explain(p_instance bigint, p_process bigint[])
returns table (process_id bigint, reason text, detail text, since timestamptz)
language sql stable
begin atomic
    select e.process_id, e.reason, e.detail, e.since
      from (select p.kind, p.state, array_agg(p.id) as process
              from unnest(p_process) u (id)
             cross join lateral (select x.id, x.kind, x.state from wf.process x where x.instance_id = p_instance and x.id = u.id offset 0) p
             group by p.kind, p.state) a
     cross join lateral wf._explain_alike(p_instance, a.process, a.kind, a.state) e;
end;

-- wf._under_way(p_instance)
--
-- Returns  the processes of an instance that have not ended
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.explain and wf._tell
create or replace function wf._under_way(p_instance bigint) returns bigint[]
language sql stable
begin atomic
    select array(select p.id from wf.process p where p.instance_id = p_instance and p.state not in ('END', 'RAISED', 'ABORTED'));
end;

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
    v_process record;
    v_instance record;
begin
    if p_process is not null then
        select (select n.label from wf.node n where n.version_id = p.version_id and n.id = p.node_id) || coalesce(' [' || p.index || ']', '') as label, p.kind, p.state
          into v_process
          from wf.process p
         where p.instance_id = p_instance and p.id = p_process;
        if found then
            return query
            select e.process_id, v_process.label, e.reason, e.detail, e.since
              from wf._explain_alike(p_instance, array[p_process], v_process.kind, v_process.state) e;
            return;
        end if;
    end if;
    select i.state, i.result, i.at, i.error, w.name
      into v_instance
      from wf.instance i
      join wf.workflow w on w.id = i.workflow_id
     where i.id = p_instance;
    if not found or p_process is not null then
        raise exception using errcode = 'WF003',
            message = case when found then format('instance %s has no process %s', p_instance, p_process) else format('there is no instance %s', p_instance) end,
            hint = 'List what exists: wf-console list, wf-console tree.';
    end if;
    if v_instance.state <> 'RUNNING' then
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
      from wf._explain(p_instance, wf._under_way(p_instance)) e
      join wf.process p on p.instance_id = p_instance and p.id = e.process_id
      join wf.node n on n.version_id = p.version_id and n.id = p.node_id
     order by e.process_id, e.reason;
end;
$$;
comment on function wf.explain(bigint, bigint) is 'Why a process, or whatever in an instance has not ended, is not running: suspended (its instance: by whom and why), group (full: who holds it), driver (none serves its queue), paused (the engine: by whom and why), request (with a driver), time (until when), failed (waits for an operator), children (what a composite waits for), stuck, ended. No row: a driver may take it now.';
