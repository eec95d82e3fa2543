-- Why is this not running? The answers come from the very rows that poll goes
-- by: a request can be taken now if and only if it has a row in ready and a
-- live driver serves its lane while the engine is not paused, and then there is
-- no reason to give.
--
-- Who asks has mostly just connected, and in such a session loading plpgsql and
-- planning take longer than reading. So it is all SQL that was resolved when it
-- was created, with one function for each place where a process may be. Its path
-- keeps that from being folded into the caller: it is planned if it is called.
-- And what they join is selected from a table, which would else be stored with
-- every column.
-- They are planned for any array, whose processes might as well be all of their
-- instance: `offset 0` has each of them found by its key.

do $$
begin
    if to_regtype('wf.reason') is null then
        create type wf.reason as (process_id bigint, reason text, detail text, since timestamptz);
        comment on type wf.reason is 'Why a process is not running.';
    end if;
end;
$$;

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
-- Called   by wf._explain_parked
create or replace function wf._say_places(p_group bigint) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select format('group %s has %s of %s places taken', g.name, c.places, coalesce(g.max::text, 'any number of'))
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
      from wf.concurrency_group g, (select count(*) as places from wf.slot s where s.group_id = p_group) c
     where g.id = p_group;
end;

-- wf._explain_suspended(p_instance, p_process)
--
-- Returns  the reasons of what its instance holds
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_parked
create or replace function wf._explain_suspended(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array_agg(row(k.process_id, 'suspended', wf._say_who('its instance was suspended', s.actor, s.reason), s.at)::wf.reason)
      from wf.suspended s, unnest(p_process) u (id),
           lateral (select x.process_id, x.reason from wf.parked x where x.instance_id = p_instance and x.process_id = u.id offset 0) k
     where s.instance_id = p_instance and k.reason = 'suspended';
end;

-- wf._explain_parked(p_instance, p_process)
--
-- Returns  the reasons of what waits for its group, or is suspended
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_place
create or replace function wf._explain_parked(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array_agg(row(k.process_id, 'group', wf._say_places(k.group_id), k.parked_at)::wf.reason) filter (where k.group_id is not null)
           || case when bool_or(k.reason = 'suspended') then wf._explain_suspended(p_instance, p_process) end
      from unnest(p_process) u (id),
           lateral (select x.process_id, x.reason, x.group_id, x.parked_at from wf.parked x where x.instance_id = p_instance and x.process_id = u.id offset 0) k;
end;

-- wf._explain_failed(p_instance, p_process)
--
-- Returns  the reasons of what waits for an operator
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_place
create or replace function wf._explain_failed(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array_agg(row(p.id, 'failed', format('%s: %s; waits for retry, ignore, resolve or raise', p.error ->> 'kind', p.error ->> 'message'), p.at)::wf.reason)
      from unnest(p_process) u (id),
           lateral (select x.id, x.error, x.at from wf.process x where x.instance_id = p_instance and x.id = u.id offset 0) p
     where exists (select from wf.failed f where f.instance_id = p_instance and f.process_id = p.id);
end;

-- wf._explain_ended(p_instance, p_process)
--
-- Returns  how these have ended
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_place
create or replace function wf._explain_ended(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array_agg(row(p.id, 'ended', p.state || coalesce(': ' || (p.error ->> 'kind') || ': ' || (p.error ->> 'message'), ''), p.at)::wf.reason)
      from unnest(p_process) u (id),
           lateral (select x.id, x.state, x.error, x.at from wf.process x where x.instance_id = p_instance and x.id = u.id offset 0) p;
end;

-- wf._explain_children(p_instance, p_process)
--
-- What composites wait for: the processes in them that have not ended. What
-- comes after one of these has no row yet; it is named behind it. Without any
-- they are stuck.
--
-- Returns  one reason for each of these composites
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_place
create or replace function wf._explain_children(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array(
        select row(q.id, case when count(c.id) > 0 then 'children' else 'stuck' end,
                   case when count(c.id) > 0 then format('waits for %s: ', count(c.id)) else wf._say_stuck(q.state) end
                       || coalesce(string_agg(format('%s %s%s (%s%s)', c.id, (select n.label from wf.node n where n.version_id = c.version_id and n.id = c.node_id),
                                                     ' [' || c.index || ']', c.state,
                                                     ', then ' || (select n.label from wf.node n where n.version_id = c.version_id and n.id = c.next_id)),
                                              ', ' order by c.rank) filter (where c.rank <= 5), '')
                       || case when count(c.id) > 5 then ' …' else '' end
                       || case when q.todo > 0 then format('; %s more to come', q.todo) else '' end,
                   q.at)::wf.reason
          from (select y.id, y.state, y.todo, y.at
                  from unnest(p_process) u (id),
                       lateral (select x.id, x.state, x.todo, x.at from wf.process x where x.instance_id = p_instance and x.id = u.id offset 0) y) q
          left join (select x.parent_id, x.id, x.state, x.index, x.version_id, x.node_id, x.next_id,
                            row_number() over (partition by x.parent_id order by x.id) as rank
                       from wf.process x
                      where x.instance_id = p_instance
                        and x.parent_id in (select u.id from unnest(p_process) u (id))
                        and x.state not in ('END', 'RAISED', 'ABORTED')) c on c.parent_id = q.id
         group by q.id, q.state, q.todo, q.at);
end;

-- wf._explain_request(p_instance, p_process)
--
-- Returns  the reasons of what is with a driver
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_place
create or replace function wf._explain_request(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array_agg(row(l.process_id, 'request',
               format('its %s request is with driver %s', l.request, coalesce(d.name, '(unknown)'))
                   || case when d.state in ('live', 'draining') then ''
                           else format(', which is %s: it is taken back', coalesce(d.state, 'gone'))
                                || coalesce(to_char(wf._withheld_until(l.row, wf._now()), '" at "YYYY-MM-DD HH24:MI:SSOF", for it was lost before"'), '') end
                   || case when d.state in ('live', 'draining') and d.seen_at < wf._now() - interval '5 s'
                           then ', silent since ' || to_char(d.seen_at, 'YYYY-MM-DD HH24:MI:SS') else '' end,
               l.at)::wf.reason)
      from unnest(p_process) u (id)
     cross join lateral (select x as row, x.process_id, x.request, x.driver_id, x.at from wf.lease x where x.instance_id = p_instance and x.process_id = u.id offset 0) l
      left join (select x.id, x.name, x.state, x.seen_at from wf.driver x) d on d.id = l.driver_id;
end;

-- wf._explain_time(p_instance, p_process)
--
-- Returns  the reasons of what is due at a time
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_place
create or replace function wf._explain_time(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array_agg(row(t.process_id, 'time',
               case t.kind when 'sleep' then 'sleeps until ' else format('its next %s request is due at ', t.kind) end
                   || to_char(t.due_at, 'YYYY-MM-DD HH24:MI:SSOF')
                   || case when t.failures > 0 then format(', after %s failures', t.failures) else '' end,
               (select p.at from wf.process p where p.instance_id = p_instance and p.id = t.process_id))::wf.reason)
      from unnest(p_process) u (id),
           lateral (select x.process_id, x.kind, x.due_at, x.failures from wf.timer x where x.instance_id = p_instance and x.process_id = u.id offset 0) t
     where isfinite(t.due_at);
end;

-- wf._explain_ready(p_instance, p_process)
--
-- Why requests are not taken that may be: nobody serves their lane, or the
-- engine is paused.
--
-- Returns  the reasons of these processes
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_rest
create or replace function wf._explain_ready(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array(
        select row(r.process_id, 'driver',
                   'no live driver serves ' || wf._lane_text(l)
                       || coalesce('; ' || wf._unfit(l), ''),
                   (select p.at from wf.process p where p.instance_id = p_instance and p.id = r.process_id))::wf.reason
          from unnest(p_process) u (id),
               lateral (select x.process_id, x.lane_id from wf.ready x where x.instance_id = p_instance and x.process_id = u.id offset 0) r,
               wf.lane l
         where l.id = r.lane_id
           and not exists (select from wf._drivers_at_work() d where wf._serves(d, l))
         union all
        select row(r.process_id, 'paused', wf._say_who('the engine was paused', e.actor, e.reason), e.since)::wf.reason
          from unnest(p_process) u (id),
               lateral (select x.process_id from wf.ready x where x.instance_id = p_instance and x.process_id = u.id offset 0) r,
               wf.engine_v e
         where e.state = 'PAUSED');
end;

-- wf._explain_stuck(p_instance, p_process)
--
-- Returns  the reasons of tasks that are in no table that could move them on; wf.fsck finds them too
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_rest
create or replace function wf._explain_stuck(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array_agg(row(p.id, 'stuck', wf._say_stuck(p.state), p.at)::wf.reason)
      from unnest(p_process) u (id),
           lateral (select x.id, x.kind, x.state, x.at from wf.process x where x.instance_id = p_instance and x.id = u.id offset 0) p
     where p.kind in ('sync', 'async', 'wait') and p.state not in ('END', 'RAISED', 'ABORTED')
       and not exists (select from wf.failed x where x.instance_id = p_instance and x.process_id = p.id)
       and not exists (select from wf.parked x where x.instance_id = p_instance and x.process_id = p.id)
       and not exists (select from wf.ready x where x.instance_id = p_instance and x.process_id = p.id)
       and not exists (select from wf.lease x where x.instance_id = p_instance and x.process_id = p.id)
       and not exists (select from wf.timer x where x.instance_id = p_instance and x.process_id = p.id and isfinite(x.due_at));
end;

-- wf._explain_rest(p_instance, p_process)
--
-- Returns  the reasons of processes that are in no other place: of what is ready, or stuck
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.explain and wf._explain
create or replace function wf._explain_rest(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select case when r.process is not null then wf._explain_ready(p_instance, r.process) end
           || case when coalesce(cardinality(r.process), 0) < cardinality(p_process) then wf._explain_stuck(p_instance, p_process) end
      from (select array_agg(y.process_id) as process
              from unnest(p_process) u (id),
                   lateral (select x.process_id from wf.ready x where x.instance_id = p_instance and x.process_id = u.id offset 0) y) r;
end;

-- wf._whereabouts(p_kind, p_state)
--
-- Returns  where a process may be, which its kind and state say
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.explain and wf._explain
create or replace function wf._whereabouts(p_kind text, p_state text) returns text language sql immutable
begin atomic
    select case when p_state = 'INIT' then 'parked'
                when p_state = 'FAILED' then 'failed'
                when p_state in ('END', 'RAISED', 'ABORTED') then 'ended'
                when p_kind = 'sync' then 'request'
                when p_kind = 'wait' then 'time'
                when p_kind = 'async' then 'request or time'
                else 'children' end;
end;

-- wf._explain_place(p_instance, p_process, p_place)
--
-- Returns  the reasons of these processes, by the rows that poll goes by; null if they are not in that place
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.explain and wf._explain
create or replace function wf._explain_place(p_instance bigint, p_process bigint[], p_place text) returns wf.reason[]
language sql stable
begin atomic
    select case p_place when 'parked' then wf._explain_parked(p_instance, p_process)
                        when 'failed' then wf._explain_failed(p_instance, p_process)
                        when 'ended' then wf._explain_ended(p_instance, p_process)
                        when 'request' then wf._explain_request(p_instance, p_process)
                        when 'time' then wf._explain_time(p_instance, p_process)
                        when 'request or time' then wf._explain_request(p_instance, p_process) || wf._explain_time(p_instance, p_process)
                        when 'children' then wf._explain_children(p_instance, p_process) end;
end;

-- wf._explain(p_instance, p_process)
--
-- Returns  all reasons of these processes
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_instance, wf.tree and wf._tell
create or replace function wf._explain(p_instance bigint, p_process bigint[]) returns setof wf.reason
language sql stable
begin atomic
    select e.process_id, e.reason, e.detail, e.since
      from (select x.place, array_agg(x.id) as process
              from (select p.id, wf._whereabouts(p.kind, p.state) as place
                      from unnest(p_process) u (id),
                           lateral (select x.id, x.kind, x.state from wf.process x where x.instance_id = p_instance and x.id = u.id offset 0) p) x
             group by x.place) a,
           unnest(wf._explain_place(p_instance, a.process, a.place)
                  || case when a.place not in ('children', 'ended') then wf._explain_rest(p_instance, a.process) end) e;
end;

-- wf._under_way(p_instance)
--
-- Returns  the processes of an instance that have not ended
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_instance and wf._tell
create or replace function wf._under_way(p_instance bigint) returns bigint[]
language sql stable
begin atomic
    select array(select p.id from wf.process p where p.instance_id = p_instance and p.state not in ('END', 'RAISED', 'ABORTED'));
end;

-- wf._explain_instance(p_instance)
--
-- Returns  one row for each reason of an instance itself, and of what has not ended in it
-- Locks    nothing
-- Raises   WF003
-- Called   by wf.explain
create or replace function wf._explain_instance(p_instance bigint)
returns table (process_id bigint, label text, reason text, detail text, since timestamptz)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    v_instance record;
begin
    select i.state, i.result, i.at, i.error, w.name
      into v_instance
      from wf.instance i
      join wf.workflow w on w.id = i.workflow_id
     where i.id = p_instance;
    if not found then
        raise exception using errcode = 'WF003', message = format('there is no instance %s', p_instance), hint = 'List what exists: wf-console list, wf-console tree.';
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

-- wf._no_process(p_instance, p_process)
--
-- Returns  never
-- Locks    nothing
-- Raises   WF003
-- Called   by wf.explain
create or replace function wf._no_process(p_instance bigint, p_process bigint) returns wf.reason[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
    raise exception using errcode = 'WF003',
        message = case when exists (select from wf.instance i where i.id = p_instance) then format('instance %s has no process %s', p_instance, p_process)
                       else format('there is no instance %s', p_instance) end,
        hint = 'List what exists: wf-console list, wf-console tree.';
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
language sql stable security definer set search_path = pg_catalog, pg_temp set jit = off set enable_memoize = off
begin atomic
    select e.process_id, p.label, e.reason, e.detail, e.since
      from (values (p_process)) u (id)
      left join lateral (
        select x.id, x.kind, x.state,
               (select n.label from wf.node n where n.version_id = x.version_id and n.id = x.node_id) || coalesce(' [' || x.index || ']', '') as label
          from wf.process x
         where x.instance_id = p_instance and x.id = u.id
        offset 0) p on true,
           unnest(case when p.id is null then wf._no_process(p_instance, p_process)
                       else coalesce(wf._explain_place(p_instance, array[p_process], wf._whereabouts(p.kind, p.state)), wf._explain_rest(p_instance, array[p_process])) end) e
     where p_process is not null
     union all
    select e.process_id, e.label, e.reason, e.detail, e.since
      from wf._explain_instance(p_instance) e
     where p_process is null;
end;
comment on function wf.explain(bigint, bigint) is 'Why a process, or whatever in an instance has not ended, is not running: suspended (its instance: by whom and why), group (full: who holds it), driver (none serves its queue), paused (the engine: by whom and why), request (with a driver), time (until when), failed (waits for an operator), children (what a composite waits for), stuck, ended. No row: a driver may take it now.';
