-- Proves that the rows agree with each other. The triggers keep them so, unless the
-- owner, a superuser or a careless restore switches the triggers off.

-- wf._states_of_places()
--
-- Returns  for each place and request, the states that a process in it may have
-- Locks    nothing
-- Raises   nothing
-- Called   by _fsck_places
create or replace function wf._states_of_places() returns table (place text, request text, states text[])
language sql immutable set search_path = pg_catalog, pg_temp as $$
    values ('ready', 'start', '{INIT}'::text[]),
           ('ready', 'poll', '{EXECUTING}'),
           ('ready', 'cancel', '{CANCEL_REQUESTED,ABORT_REQUESTED}'),
           ('ready', 'cleanup',
            '{CLEANUP_REQUESTED,RETRY_CLEANUP_REQUESTED,RAISE_CLEANUP_REQUESTED,ABORT_CLEANUP_REQUESTED}'),
           ('parked', 'start', '{INIT}'),
           ('lease', 'start', '{START_REQUESTED,EXECUTING,CANCEL_REQUESTED,ABORT_REQUESTED}'),
           ('lease', 'poll', '{EXECUTING,CANCEL_REQUESTED,ABORT_REQUESTED}'),
           ('lease', 'cancel', '{CANCEL_REQUESTED,ABORT_REQUESTED}'),
           ('lease', 'cleanup',
            '{CLEANUP_REQUESTED,RETRY_CLEANUP_REQUESTED,RAISE_CLEANUP_REQUESTED,ABORT_CLEANUP_REQUESTED}'),
           ('timer', 'sleep', '{WAITING}'),
           ('timer', 'signal', '{WAITING}'),
           ('timer', 'input', '{WAITING}'),
           ('timer', 'child', '{WAITING,CANCEL_REQUESTED,ABORT_REQUESTED}'),
           ('timer', 'retry', '{INIT,RETRY_CLEANUP_REQUESTED}'),
           ('timer', 'poll', '{EXECUTING}'),
           ('timer', 'cancel', '{CANCEL_REQUESTED,ABORT_REQUESTED}'),
           ('timer', 'cleanup',
            '{CLEANUP_REQUESTED,RETRY_CLEANUP_REQUESTED,RAISE_CLEANUP_REQUESTED,ABORT_CLEANUP_REQUESTED}');
$$;

-- wf._fsck_places()
--
-- A process that has a row in a table is in a state that the table allows.
--
-- Returns  one row for each contradiction
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.fsck
create or replace function wf._fsck_places()
returns table (check_name text, instance_id bigint, process_id bigint, detail text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    with place as (
        select r.instance_id, r.process_id, 'ready' as place, r.request, null::bigint as group_id
          from wf.ready r union all
        select k.instance_id, k.process_id, 'parked', 'start', coalesce(k.group_id, k.rate_id)
          from wf.parked k union all
        select l.instance_id, l.process_id, 'lease', l.request, null from wf.lease l union all
        select t.instance_id, t.process_id, 'timer', t.kind, null from wf.timer t union all
        select s.instance_id, s.process_id, 'slot', null, s.group_id from wf.slot s
    )
    select 'place: row of no process, or of one in another state', x.instance_id, x.process_id,
           format('%s %s, process %s', x.place, x.request, coalesce(p.state, 'does not exist'))
      from place x
      left join wf._states_of_places() f on f.place = x.place and f.request = x.request
      left join wf.process p on p.instance_id = x.instance_id and p.id = x.process_id
     where x.place <> 'slot'
       and (p.state = any (f.states) and (x.request <> 'retry' or p.retry_from is not null)) is not true
     union all
    select 'slot: row of no process, or of one that has ended', x.instance_id, x.process_id,
           coalesce(p.state, 'does not exist')
      from place x
      left join wf.process p on p.instance_id = x.instance_id and p.id = x.process_id
     where x.place = 'slot' and (p.state in ('END', 'RAISED', 'ABORTED')) is not false
     union all
    select 'suspended: to be handed out all the same, or held without need', x.instance_id, x.process_id,
           format('%s, instance %s', x.place, i.state)
      from place x
      join wf.instance i on i.id = x.instance_id
     where x.place = 'ready' and x.request = 'start' and i.state = 'SUSPENDED'
        or x.place = 'parked' and (x.group_id is null) <> (i.state = 'SUSPENDED')
     union all
    select 'failed: listed but not FAILED, or FAILED but not listed', coalesce(f.instance_id, p.instance_id),
           coalesce(f.process_id, p.id), coalesce(p.state, 'not FAILED')
      from wf.failed f
      full join (select q.instance_id, q.id, q.state from wf.process q where q.state = 'FAILED') p
             on p.instance_id = f.instance_id and p.id = f.process_id
     where f.process_id is null or p.id is null;
$$;

-- wf._fsck_leaves()
--
-- A process that waits or runs is in one table, and has a place in its group and in its rate if it needs one.
--
-- Returns  one row for each contradiction
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.fsck
create or replace function wf._fsck_leaves()
returns table (check_name text, instance_id bigint, process_id bigint, detail text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    with live as (
        select p.instance_id, p.id, p.kind, p.machine, p.state, p.group_id, p.rate_id, h.rate_id as placed,
               exists (select from wf.parked k
                        where k.instance_id = p.instance_id and k.process_id = p.id and k.reason = 'rate') as rated,
               coalesce(array_agg(x.place order by x.place) filter (where x.place is not null), '{}') as places,
               s.group_id as held
          from wf.process p
          left join wf._place_v x on x.instance_id = p.instance_id and x.process_id = p.id
          left join wf.slot s on s.instance_id = p.instance_id and s.process_id = p.id
          left join wf.rate_place h on h.instance_id = p.instance_id and h.process_id = p.id
         where p.state not in ('END', 'RAISED', 'ABORTED')
         group by p.instance_id, p.id, s.group_id, h.rate_id
    )
    select 'place: nothing can move it on, or more than one thing', f.instance_id, f.id,
           format('%s %s: %s', f.kind, f.state, coalesce(nullif(array_to_string(f.places, ', '), ''), 'in no table'))
      from live f
     where case when f.state = 'FAILED' then f.places <> '{failed}'
                when f.machine = 'composite'
                then f.places <> case f.state when 'INIT' then '{timer}'::text[] else '{children}' end
                when f.state = 'WAITING' then f.places <> '{timer}'
                when f.state = 'INIT' then f.places not in ('{ready}', '{parked}', '{timer}')
                when f.state = 'START_REQUESTED' or f.machine = 'sync' then f.places <> '{lease}'
                else f.places not in ('{ready}', '{lease}', '{timer}') end
     union all
    select 'slot: held without need, or missing', f.instance_id, f.id,
           format('%s in group %s holds %s', f.state, coalesce(f.group_id::text, '(none)'),
                  coalesce(f.held::text, 'no place'))
      from live f
     where f.held is distinct from
           case when f.state in ('START_REQUESTED', 'EXECUTING', 'CANCEL_REQUESTED', 'ABORT_REQUESTED')
                     and f.machine <> 'child'
                     or f.places = '{ready}' and f.state = 'INIT' or f.rated
                then f.group_id end
     union all
    select 'rate: a place held without need, or missing', f.instance_id, f.id,
           format('%s in rate %s holds %s', f.state, coalesce(f.rate_id::text, '(none)'),
                  case when f.placed is null then 'no place' else 'a place in ' || f.placed end)
      from live f
     where f.placed is distinct from
           case when f.places = '{ready}' and f.state = 'INIT' and not wf._waits_inside(f.machine) then f.rate_id end;
$$;

-- wf._fsck_limits()
--
-- A process has the limits that its policy timeout gives it in its state, and the clock
-- of its deadline stands still where it should. A process that is FAILED and has no time
-- left has no deadline.
--
-- Returns  one row for each contradiction
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.fsck
create or replace function wf._fsck_limits()
returns table (check_name text, instance_id bigint, process_id bigint, detail text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select 'limit: of no process, or of one for which it does not hold', t.instance_id, t.process_id,
           format('%s, process %s', t.kind, coalesce(p.state, 'does not exist'))
      from wf.time_limit t
      left join wf.process p on p.instance_id = t.instance_id and p.id = t.process_id
     where (p.timed > 0 and t.kind = any (wf._limits_in(p.machine, p.state, p.instance_id, p.id))) is not true
     union all
    select 'limit: missing', p.instance_id, p.id, format('%s, process %s', k.kind, p.state)
      from wf.process p
      join wf.node n on n.version_id = p.version_id and n.id = p.node_id
     cross join lateral unnest(wf._limits_in(p.machine, p.state, p.instance_id, p.id)) k (kind)
     where p.timed > 0 and p.state <> 'FAILED' and wf._time_limits(n.timeout, p.policy) ? k.kind
       and not exists (select from wf._limit_v t
                        where t.instance_id = p.instance_id and t.process_id = p.id and t.kind = k.kind)
     union all
    select 'limit: its clock stands still, or does not', t.instance_id, t.process_id,
           format('%s, process %s', coalesce(t.remains::text, 'runs'), p.state)
      from wf.time_limit t
      join wf.process p on p.instance_id = t.instance_id and p.id = t.process_id
     cross join lateral (select p.state = 'FAILED'
                                or exists (select from wf.parked k
                                            where k.instance_id = p.instance_id and k.process_id = p.id
                                              and k.group_id is not null) as stands) s
     where t.kind = 'deadline' and s.stands <> (t.remains is not null)
       and (s.stands or t.remains > interval '0'
            or wf._next_state(p.machine, p.state, 'timeout', false) is not null);
$$;

-- wf._fsck_requests()
--
-- Leases agree with their processes and drivers, and requests that are ready are in a lane.
--
-- Returns  one row for each contradiction
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.fsck
create or replace function wf._fsck_requests()
returns table (check_name text, instance_id bigint, process_id bigint, detail text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select 'lease: another token than its process', l.instance_id, l.process_id,
           format('%s, process %s', l.token, p.token)
      from wf.lease l
      join wf.process p on p.instance_id = l.instance_id and p.id = l.process_id
     where l.request = 'start' and l.token is distinct from p.token
     union all
    -- each sweep passes over instances that somebody holds, so it may take a while
    select 'lease: its driver is gone, and no poll has taken it back', l.instance_id, l.process_id,
           format('driver %s (%s)', l.driver_id, coalesce(d.state, 'does not exist'))
      from wf.lease l
      left join wf.driver d on d.id = l.driver_id
     where (d.state in ('live', 'draining')) is not true
       and greatest(l.at, d.ended_at) < wf.now() - (60 + wf._setting_number('lease_seconds')) * interval '1 s'
       -- nor a request that is withheld, or was a short while ago
       and not exists (select from wf.loss o
                        where o.instance_id = l.instance_id and o.process_id = l.process_id and o.token = l.token
                          and o.due_at > wf.now() - (60 + wf._setting_number('lease_seconds')) * interval '1 s'
                          and o.due_at <= wf.now() + interval '64 s')
       and not wf._is_apart('loss', l.instance_id, l.process_id)
     union all
    select 'lane: a request is ready in one that has no row', r.instance_id, r.process_id, format('lane %s', r.lane_id)
      from wf.ready r
     where not exists (select from wf.lane l where l.id = r.lane_id)
       and not exists (select from wf._asked() d where d.lane_id = r.lane_id);
$$;

-- wf._fsck_composites()
--
-- Composites and their children agree.
--
-- Returns  one row for each contradiction
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.fsck
create or replace function wf._fsck_composites()
returns table (check_name text, instance_id bigint, process_id bigint, detail text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    with child as (
        select x.instance_id, x.parent_id, sum(x.live) as live
          from (select p.instance_id, p.parent_id, 1 as live
                  from wf.process p
                 where p.state not in ('END', 'RAISED', 'ABORTED') and p.parent_id is not null
                 union all
                select q.instance_id, q.parent_id, case when q.node_id is null then q.count else 1 end
                  from wf.pending q) x
         group by x.instance_id, x.parent_id
    ), member as (
        select p.instance_id, p.id, p.kind, p.state, p.open, p.todo, p.total, p.reserved, p.spare,
               coalesce(c.live, 0) as live, p.version_id, p.node_id
          from wf.process p
          left join child c on c.instance_id = p.instance_id and c.parent_id = p.id
         where p.machine = 'composite'
    )
    select 'composite: open is not the number of children that have not ended', m.instance_id, m.id,
           format('%s %s: open %s, %s live', m.kind, m.state, m.open, m.live)
      from member m
     where m.state in ('ACTIVE', 'ABORTING') and (m.open <> m.live or m.open = 0)
     union all
    select 'composite: over, but something in it is not', m.instance_id, m.id,
           format('%s %s: %s live', m.kind, m.state, m.live)
      from member m
     where m.state not in ('ACTIVE', 'ABORTING') and m.live > 0
     union all
    select 'composite: what may fail in it does not add up', m.instance_id, m.id,
           format('%s %s: %s more, %s have failed', m.kind, m.state, m.spare, g.count)
      from member m
     cross join lateral (select count(*) from wf.given_up x
                          where x.instance_id = m.instance_id and x.process_id = m.id) g
     where (m.spare is null or m.state not in ('ACTIVE', 'ABORTING', 'FAILED')) and g.count > 0
        or m.state = 'ACTIVE' and m.spare < -1
     union all
    select 'composite: elements to come do not add up', m.instance_id, m.id,
           format('%s %s: total %s, open %s, todo %s', m.kind, m.state, m.total, m.open, m.todo)
      from member m
     where m.state = 'ACTIVE' and m.todo <> 0
       and m.todo not between 0 and case when m.total is not null then greatest(m.total - m.open, 0)
                                         else (select (n.finally_id is not null)::int from wf.node n
                                                where n.version_id = m.version_id and n.id = m.node_id) end
     union all
    select 'loop: more rounds have begun than it has reserved', m.instance_id, m.id,
           format('%s of %s: reserved %s, %s to come', m.kind, m.total, m.reserved, m.todo)
      from member m
     where m.state = 'ACTIVE' and m.reserved < m.total - m.todo;
$$;

-- wf._fsck_processes()
--
-- Processes stand where their nodes say, and rows that belong to a process have one.
--
-- Returns  one row for each contradiction
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.fsck
create or replace function wf._fsck_processes()
returns table (check_name text, instance_id bigint, process_id bigint, detail text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select 'process: begun before what comes before it has ended', p.instance_id, p.id, format('node %s', p.node_id)
      from wf.process p
      join wf.node n on n.version_id = p.version_id and n.next_id = p.node_id
     where not exists (select from wf.process q
                        where q.instance_id = p.instance_id
                          and q.parent_id = p.parent_id
                          and q.node_id = n.id
                          and q.state = 'END')
     union all
    select 'process: begun before what comes before it has ended', p.instance_id, p.id, format('node %s', p.node_id)
      from wf.process p
      join wf.edge e on e.version_id = p.version_id and e.node_id = p.node_id
     where p.in_dag
       and not exists (select from wf.process q
                        where q.instance_id = p.instance_id
                          and q.parent_id = p.parent_id
                          and q.node_id = e.after_id
                          and q.state = 'END')
     union all
    select 'process: its parent does not exist', p.instance_id, p.id, format('parent %s', p.parent_id)
      from wf.process p
     where p.parent_id is not null
       and not exists (select from wf.process q where q.instance_id = p.instance_id and q.id = p.parent_id)
     union all
    select 'process: of no instance, or of another version', p.instance_id, p.id, format('version %s', p.version_id)
      from wf.process p
      left join wf.instance i on i.id = p.instance_id
     where i.version_id is distinct from p.version_id
     union all
    select 'binding: of a scope that does not exist', b.instance_id, b.scope_id, b.name
      from wf.binding b
     where not exists (select from wf.process p where p.instance_id = b.instance_id and p.id = b.scope_id)
     union all
    select 'binding: skipped with a process that was not', b.instance_id, b.scope_id, b.name
      from wf.binding b
     where b.skipped is not null
       and not exists (select from wf.process p
                        where p.instance_id = b.instance_id and p.id = b.skipped
                          and p.state in ('CLEANUP_REQUESTED', 'ABORT_CLEANUP_REQUESTED', 'END', 'ABORTED'))
     union all
    select 'binding: a former value of a name that has none now', b.instance_id, b.scope_id, b.name
      from wf.binding_past b
     where not exists (select from wf.binding x
                        where x.instance_id = b.instance_id and x.scope_id = b.scope_id and x.name = b.name)
     union all
    select 'loss: of a process that does not exist', o.instance_id, o.process_id, format('%s losses', o.losses)
      from wf.loss o
     where not exists (select from wf.process p where p.instance_id = o.instance_id and p.id = o.process_id);
$$;

-- wf._fsck_dags()
--
-- A dag lists its steps that have not ended, and which step each of these awaits.
--
-- Returns  one row for each contradiction
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.fsck
create or replace function wf._fsck_dags()
returns table (check_name text, instance_id bigint, process_id bigint, detail text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    with step as (
        select p.instance_id, p.id, c.id as node_id,
               not exists (select from wf.process q
                            where q.instance_id = p.instance_id and q.parent_id = p.id and q.node_id = c.id
                              and q.state = 'END') as open
          from wf.process p
          join wf.node n on n.version_id = p.version_id and n.id = p.node_id and n.begins = 'free'
          join wf.node c on c.version_id = n.version_id and c.parent_id = n.id
         where p.state = 'ACTIVE'
    ), awaited as (
        select s.instance_id, s.id, s.node_id, max(e.after_id) as awaits
          from step s
          join wf.process p on p.instance_id = s.instance_id and p.id = s.id
          join wf.edge e on e.version_id = p.version_id and e.node_id = s.node_id
          join step b on b.instance_id = s.instance_id and b.id = s.id and b.node_id = e.after_id and b.open
         group by s.instance_id, s.id, s.node_id
    )
    select 'dag: a step is listed that has ended, or one that has not is missing',
           coalesce(s.instance_id, d.instance_id), coalesce(s.id, d.process_id),
           format('node %s', coalesce(s.node_id, d.node_id))
      from (select x.* from step x where x.open) s
      full join wf.dag_step d on d.instance_id = s.instance_id and d.process_id = s.id and d.node_id = s.node_id
     where s.id is null or d.process_id is null
     union all
    select 'dag: a step does not await the last one before it that has not ended', d.instance_id, d.process_id,
           format('node %s awaits %s', d.node_id, coalesce(d.awaits::text, 'nothing'))
      from wf.dag_step d
      left join awaited a on a.instance_id = d.instance_id and a.id = d.process_id and a.node_id = d.node_id
     where d.awaits is distinct from a.awaits;
$$;

-- wf._fsck_teardown()
--
-- A teardown comes to its end: its processes have been told, or a row of work carries
-- it on.
--
-- Returns  one row for each contradiction
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.fsck
create or replace function wf._fsck_teardown()
returns table (check_name text, instance_id bigint, process_id bigint, detail text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    with live as (
        select p.instance_id, p.id, p.state, p.kind, t.root_id
          from wf.process p
         cross join lateral wf._torn(array[p.instance_id], array[p.id]) t
         where p.instance_id in (select r.instance_id from wf.teardown r)
           and p.state not in ('END', 'RAISED', 'ABORTED')
    )
    select 'teardown: of no process, or of one that has ended', t.instance_id, t.process_id,
           coalesce(p.state, 'does not exist')
      from wf.teardown t
      left join wf.process p on p.instance_id = t.instance_id and p.id = t.process_id
     where (p.state not in ('END', 'RAISED', 'ABORTED')) is not true
     union all
    select 'teardown: nothing carries it on', t.instance_id, t.process_id, format('after process %s', t.next_id)
      from wf.teardown t
     where t.next_id is not null
       and not exists (select
                         from wf.work w
                        where w.kind = 'teardown' and w.instance_id = t.instance_id and w.item_id = t.process_id)
     union all
    select 'teardown: something in it has not been told', l.instance_id, l.id,
           format('%s in the teardown of %s', l.state, l.root_id)
      from live l
      join wf.teardown t on t.instance_id = l.instance_id and t.process_id = l.root_id
     where t.next_id is null
       and l.state not in ('ABORTING', 'ABORT_REQUESTED', 'ABORT_CLEANUP_REQUESTED', 'RAISE_CLEANUP_REQUESTED')
       -- processes that have yet to be counted as ended, since they do not begin
       and not exists (select from wf.pending q where q.instance_id = l.instance_id)
     union all
    select 'late: nothing of it can run, but it does not end', i.id, null, i.state
      from wf.instance i
     where i.state in ('RUNNING', 'SUSPENDED')
       and exists (select from wf.failed f where f.instance_id = i.id and f.late)
       and wf._is_late(i.id)
       and not exists (select from wf.work w where w.instance_id = i.id)
     union all
    select 'composite: ABORTING, but nothing is torn down', p.instance_id, p.id, p.kind
      from wf.process p
     where p.state = 'ABORTING' and not exists (select from wf._torn(array[p.instance_id], array[p.id]));
$$;

-- wf._fsck_undo()
--
-- A process that is noted has ended well and may still be undone. An undo is only under way in a process that is
-- torn down.
--
-- Returns  one row for each contradiction
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.fsck
create or replace function wf._fsck_undo()
returns table (check_name text, instance_id bigint, process_id bigint, detail text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select 'undo: noted, but it has not ended well or has no undo', t.instance_id, t.process_id,
           coalesce(p.state, 'does not exist')
      from wf.undo_note t
      left join wf.process p on p.instance_id = t.instance_id and p.id = t.process_id
      left join wf.node n on n.version_id = p.version_id and n.id = p.node_id
     where t.node_id is not null and (p.state = 'END' and p.noted and n.undo_id = t.node_id) is not true
     union all
    select 'undo: noted in other places than it is in', t.instance_id, t.process_id, t.path::text
      from wf.undo_note t
      join wf.process p on p.instance_id = t.instance_id and p.id = t.process_id
     where t.path is distinct from coalesce(wf._path(p.instance_id, p.parent_id), '{}')
     union all
    select 'undo: ended, but not noted, and nothing of it is undone', p.instance_id, p.id, n.label
      from wf.process p
      join wf.node n on n.version_id = p.version_id and n.id = p.node_id and n.undo_id is not null
      join wf.instance i on i.id = p.instance_id and i.state not in ('END', 'ABORTED')
      left join wf.undo_note t on t.instance_id = p.instance_id and t.process_id = p.id
     where p.state = 'END' and p.noted and p.event <> 'cascade' and t.process_id is null
       -- each process around it is under way, in its first round, and not a race, which it may have lost
       and not exists (select from unnest(wf._path(p.instance_id, p.parent_id)) u (id)
                         join wf.process o on o.instance_id = p.instance_id and o.id = u.id
                        where o.noted and o.parent_id is not null or o.state in ('ABORTING', 'RAISED', 'ABORTED')
                           or o.attempt > 1 or o.kind = 'race')
     union all
    select 'undo: instance over, but something is noted', t.instance_id, t.process_id, i.state
      from wf.undo_note t
      join wf.instance i on i.id = t.instance_id
     where i.state in ('END', 'ABORTED')
       and not exists (select from wf.work w where w.instance_id = t.instance_id and w.kind = 'notes')
     union all
    select 'undo: under way in what is not torn down', p.instance_id, p.id, q.state
      from wf.process p
      join wf.process q on q.instance_id = p.instance_id and q.id = p.parent_id
     where p.kind = 'undo' and p.state not in ('END', 'RAISED', 'ABORTED') and q.state <> 'ABORTING';
$$;

-- wf._fsck_history()
--
-- Every move that was made is legal, and the history tells how each process
-- came into its state. Moves of an instance have no process. With 0 instead, a hash finds
-- them like the others; with null, each would be compared with each.
--
-- Returns  one row for each contradiction
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.fsck
create or replace function wf._fsck_history()
returns table (check_name text, instance_id bigint, process_id bigint, detail text)
language plpgsql stable as $$
#variable_conflict use_column
begin
    return query
    with subject as (
        select p.instance_id, p.id as process_id, p.machine, p.was, p.event, p.state
          from wf.process p
         union all
        select i.id, null, 'instance', i.was, i.event, i.state
          from wf.instance i
    ), story as (
        select e.instance_id, e.process_id, e.seq, e.xid, e.was, e.event, e.state,
               lag(e.state) over w as before,
               lead(e.seq) over w is null as last
          from wf.event e
         where e.event not in ('late', 'request_failed', 'unclean', 'undecided')    -- notes, no moves
        window w as (partition by e.instance_id, e.process_id order by e.seq)
    )
    select 'process: its last move is not legal' as check_name, s.instance_id, s.process_id,
           format('%s: %s -%s-> %s', s.machine, s.was, s.event, s.state)
      from subject s
      left join wf.transition t on t.machine = s.machine
                               and t.from_state = s.was
                               and t.event = s.event
                               and t.to_state = s.state
     where t.machine is null
     union all
    select 'history: a move that is not legal, or of no process', e.instance_id, e.process_id,
           format('event %s: %s -%s-> %s', e.seq, e.was, e.event, e.state)
      from story e
      left join subject s on s.instance_id = e.instance_id and coalesce(s.process_id, 0) = coalesce(e.process_id, 0)
      left join wf.transition t on t.machine = s.machine
                               and t.from_state = e.was
                               and t.event = e.event
                               and t.to_state = e.state
     where t.machine is null
     union all
    select 'history: does not begin at the beginning', e.instance_id, e.process_id,
           format('event %s: from %s', e.seq, e.was)
      from story e
      join subject s on s.instance_id = e.instance_id and coalesce(s.process_id, 0) = coalesce(e.process_id, 0)
     where e.before is null
       and e.was <> case s.machine when 'instance' then '' when 'composite' then 'ACTIVE' else 'INIT' end
     union all
    select 'history: attempts are not those that were asked for', p.instance_id, p.id,
           format('attempt %s, %s retries', p.attempt, coalesce(r.retries, 0))
      from wf.process p
      left join (select e.instance_id, e.process_id, count(*) as retries
                   from wf.event e where e.event = 'retry' and e.was <> 'INIT' group by 1, 2) r
             on r.instance_id = p.instance_id and r.process_id = p.id
     where p.attempt <> 1 + coalesce(r.retries, 0)
     union all
    select 'history: does not go on where it was', e.instance_id, e.process_id,
           format('event %s: from %s, but it was in %s', e.seq, e.was, e.before)
      from story e
     where e.was <> e.before
     union all
    select 'history: does not end in the present state', s.instance_id, s.process_id,
           format('%s -%s-> %s, history %s', s.was, s.event, s.state,
                  coalesce(e.was || ' -' || e.event || '-> ' || e.state, 'has nothing'))
      from subject s
      join wf.transition t on t.machine = s.machine
                          and t.from_state = s.was
                          and t.event = s.event
                          and t.to_state = s.state
                          and t.recorded
      left join story e on e.instance_id = s.instance_id
                       and coalesce(e.process_id, 0) = coalesce(s.process_id, 0)
                       and e.last
     where (s.was, s.event, s.state) is distinct from (e.was, e.event, e.state)
     union all
    select 'history: nobody signed it', e.instance_id, e.process_id, format('event %s of transaction %s', e.seq, e.xid)
      from story e
     where not exists (select from wf.txn x where x.xid = e.xid);
end;
$$;

-- wf._settle_text(p_asked)
--
-- Returns  what a row of dirty asks for, as people read it
-- Called   by _fsck_attention
create or replace function wf._settle_text(p_asked jsonb) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select case when p_asked -> 'lane' <> 'null'
                then format('the lane of queue %s', p_asked #>> '{lane,queue}')
                else format('places of group %s', coalesce(p_asked ->> 'name', g.name)) end
      from (select) x
      left join wf.concurrency_group g on g.id = (p_asked ->> 'group_id')::bigint;
end;

-- wf._fsck_attention()
--
-- Finds work that contradicts nothing, but waits for an operator though no task says so.
--
-- Returns  one row for each piece of work that was set aside
-- Called   by wf.fsck
create or replace function wf._fsck_attention()
returns table (check_name text, instance_id bigint, process_id bigint, detail text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select 'work: set aside', w.instance_id,
           case when w.kind in ('timer', 'limit', 'loss', 'teardown') then w.item_id end,
           format('%s: %s', case w.kind when 'settle' then wf._settle_text(w.asked)
                                        when 'timer' then 'what is due' when 'limit' then 'its end by a timeout'
                                        when 'loss' then 'taking its request back'
                                        when 'teardown' then 'tearing it down'
                                        else w.kind end, w.error ->> 'message')
      from wf.work w
     where w.aside;
$$;

-- wf.fsck()
--
-- An instance whose purge has begun is half deleted, so it is left out.
--
-- Returns  one row for each violation (rows that contradict each other) and for
--          each case for attention (nothing contradicts it, but an operator is
--          needed); none if all is well
-- Called   by viewers
create or replace function wf.fsck()
returns table (class text, check_name text, instance_id bigint, process_id bigint, detail text)
language sql stable security definer set search_path = pg_catalog, pg_temp set jit = off as $$
    select 'violation', v.*
      from (select * from wf._fsck_places()
             union all
            select * from wf._fsck_leaves()
             union all
            select * from wf._fsck_limits()
             union all
            select * from wf._fsck_requests()
             union all
            select * from wf._fsck_composites()
             union all
            select * from wf._fsck_processes()
             union all
            select * from wf._fsck_dags()
             union all
            select * from wf._fsck_instances()
             union all
            select * from wf._fsck_waits()
             union all
            select * from wf._fsck_schedules()
             union all
            select * from wf._fsck_teardown()
             union all
            select * from wf._fsck_undo()
             union all
            select * from wf._fsck_history()
             union all
            select * from wf._fsck_audit()) v
     where not exists (select from wf.work w where w.kind = 'purge' and w.instance_id = v.instance_id)
     union all
    select 'attention', a.* from wf._fsck_attention() a;
$$;
comment on function wf.fsck() is
    'Looks for rows that contradict each other (class violation), and for work that was set aside and waits for an '
    'operator (class attention): class, text of the check, instance, process, detail. No rows: all is well.';
