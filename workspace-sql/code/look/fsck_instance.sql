-- What wf.fsck proves about instances, about waits for them, and about schedules.

-- wf._fsck_instances()
--
-- Instances agree with their root processes, and ended instances have no rows left.
--
-- Returns  one row for each contradiction
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.fsck
create or replace function wf._fsck_instances()
returns table (check_name text, instance_id bigint, process_id bigint, detail text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    with root as (
        select p.instance_id, count(*) as roots, min(p.state) as state
          from wf.process p
         where p.parent_id is null
         group by p.instance_id
    ), dependent as (
        select r.instance_id, r.process_id, 'ready' as name from wf.ready r union all
        select k.instance_id, k.process_id, 'parked' from wf.parked k union all
        select l.instance_id, l.process_id, 'lease' from wf.lease l union all
        select t.instance_id, t.process_id, 'timer' from wf.timer t union all
        select s.instance_id, s.process_id, 'slot' from wf.slot s union all
        select t.instance_id, t.process_id, 'time_limit' from wf.time_limit t union all
        select f.instance_id, f.process_id, 'failed' from wf.failed f union all
        select e.instance_id, e.process_id, 'forall_item' from wf.forall_item e union all
        select e.instance_id, e.process_id, 'forall_result' from wf.forall_result e union all
        select e.instance_id, e.process_id, 'given_up' from wf.given_up e
    )
    select 'instance: its root is in another state', i.id, null::bigint,
           format('%s, root %s, %s of them', i.state, coalesce(r.state, 'does not exist'), coalesce(r.roots, 0))
      from wf.instance i
      left join root r on r.instance_id = i.id
     where coalesce(r.roots, 0) <> case when 'SCHEDULED' in (i.state, i.was) and i.state <> 'RUNNING' then 0 else 1 end
        or r.state <> all (case when i.state in ('RUNNING', 'SUSPENDED') then '{INIT,ACTIVE,ABORTING,FAILED}'
                              when i.state = 'ABORTED' then '{ABORTED,RAISED}' else array[i.state] end)
     union all
    select 'instance: ended without a result, or the reverse', i.id, null,
           format('%s, result %s, ended at %s', i.state, i.result, i.ended_at)
      from wf.instance i
     where (i.state in ('END', 'ABORTED')) <> (i.result is not null)
        or (i.state in ('END', 'ABORTED')) <> (i.ended_at is not null)
     union all
    select 'extent: what its foralls hold does not add up', e.instance_id, null,
           format('%s, and the sum is %s', e.live, coalesce(h.held, 0))
      from wf.extent e
      left join (select p.instance_id, sum(p.held) as held
                   from wf.process p
                  where p.held > 0 and p.state not in ('END', 'RAISED', 'ABORTED')
                  group by p.instance_id) h on h.instance_id = e.instance_id
     where e.live <> coalesce(h.held, 0)
     union all
    select 'instance: over, but rows are left', d.instance_id, d.process_id,
           format('%s in %s', d.name, coalesce(i.state, '(no instance)'))
      from dependent d
      left join wf.instance i on i.id = d.instance_id
     where (i.state not in ('END', 'ABORTED')) is not true
     union all
    select 'suspended: listed but not SUSPENDED, or SUSPENDED but not listed', coalesce(s.instance_id, i.id), null,
           coalesce(i.state, 'not SUSPENDED')
      from wf.suspended s
      full join (select x.id, x.state from wf.instance x where x.state = 'SUSPENDED') i on i.id = s.instance_id
     where s.instance_id is null or i.id is null;
$$;

-- wf._fsck_waits()
--
-- A task that waits for an instance is told of its end; a SCHEDULED instance begins; a
-- signal is for an instance that exists.
--
-- Returns  one row for each contradiction
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.fsck
create or replace function wf._fsck_waits()
returns table (check_name text, instance_id bigint, process_id bigint, detail text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select 'child: nothing tells it to go on', t.instance_id, t.process_id,
           format('%s, waits for instance %s, which %s', p.state, coalesce(t.awaits_id::text, '(none yet)'),
                  coalesce('is ' || c.state, 'does not exist'))
      from wf.timer t
      join wf.process p on p.instance_id = t.instance_id and p.id = t.process_id
      left join wf.instance c on c.id = t.awaits_id
     where t.kind = 'child'
       and not exists (select from wf.work w where w.kind = 'child'
                                               and w.instance_id = t.instance_id and w.item_id = t.process_id)
       and case when p.state = 'WAITING' and t.awaits_id is null
                then not exists (select from wf.suspended s where s.instance_id = t.instance_id)
                when (c.state in ('END', 'ABORTED')) is not false then true
                when p.state = 'WAITING' then false
                else (c.parent_id, c.parent_process_id) is distinct from (t.instance_id, t.process_id) end
     union all
    select 'scheduled: SCHEDULED but does not begin, or begins without being so', coalesce(i.id, w.instance_id), null,
           coalesce(i.state, 'not SCHEDULED')
      from (select x.id, x.state from wf.instance x where x.state = 'SCHEDULED') i
      full join (select x.instance_id from wf.work x where x.kind = 'start') w on w.instance_id = i.id
     where i.id is null
           or w.instance_id is null
              and not exists (select from wf.work x where x.kind = 'abort' and x.instance_id = i.id)
     union all
    select 'scheduled: what it follows has ended, and nothing begins it', w.instance_id, null,
           format('follows instance %s', w.item_id)
      from wf.work w
     where w.kind = 'start' and w.item_id > 0 and wf._has_ended(w.item_id)
       and not exists (select from wf.work x
                        where x.instance_id = w.instance_id and x.item_id = 0 and x.kind in ('start', 'abort'))
     union all
    select 'input: of no instance', n.instance_id, n.process_id, format('input %s, %s', n.id, n.title)
      from wf.input n
     where not exists (select from wf.instance i where i.id = n.instance_id)
     union all
    select 'input: nothing ends its wait', t.instance_id, t.process_id,
           coalesce('input ' || n.id || ' is answered, but there is no work', 'nobody is asked')
      from wf.timer t
      left join lateral (select x.id, x.answered_at from wf.input x
                          where x.instance_id = t.instance_id and x.process_id = t.process_id
                          order by x.id desc limit 1) n on true
     where t.kind = 'input'
       and (n.id is null
            or n.answered_at is not null
               and not exists (select from wf.work w where w.kind = 'input'
                                                       and w.instance_id = t.instance_id and w.item_id = n.id))
     union all
    select 'signal: to no instance', s.instance_id, null, format('signal %s, %s', s.id, s.name)
      from wf.signal s
     where s.instance_id is not null
       and not exists (select from wf.instance i where i.id = s.instance_id)
       and not exists (select from wf.work w where w.kind = 'signal' and w.item_id = s.id)
     union all
    select 'callback: a token for no instance', c.instance_id, null, 'callback ' || c.name
      from wf.callback c
     where not exists (select from wf.instance i where i.id = c.instance_id);
$$;

-- wf._fsck_schedules()
--
-- A schedule is active if it has a next time and is not paused. An active schedule has one row of work.
--
-- Returns  one row for each contradiction
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.fsck
create or replace function wf._fsck_schedules()
returns table (check_name text, instance_id bigint, process_id bigint, detail text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select 'schedule: active without work, or work without being active', null::bigint, null::bigint,
           format('%s, %s rows of work', coalesce('schedule ' || s.name, 'no schedule'), w.count)
      from (select x.id, x.name, x.paused_at is null and x.next_at is not null as active from wf.schedule x) s
      full join (select x.item_id, count(*) from wf.work x where x.kind = 'schedule' group by 1) w on w.item_id = s.id
     where coalesce(s.active, false) <> (w.item_id is not null) or w.count > 1
     union all
    select 'schedule: a time that waits and is not told of an end', null, null,
           format('schedule %s, %s', s.name, f.nominal_at)
      from wf.firing f
      join wf.schedule s on s.id = f.schedule_id
     where f.state = 'waiting' and s.paused_at is null and not exists (select from wf._firing_under_way(s.id))
       and not exists (select from wf.work w where w.kind = 'successor' and w.item_id = s.id);
$$;
