-- Processes that wait for a person. A process that waits for a time, a place or an
-- answer is not among them, because these come by themselves.

-- wf._waiting_for_someone()
--
-- Finds every process that cannot go on by itself: it has failed, no driver at work
-- serves its lane, its group has no places at all, its instance is suspended, or
-- the engine is paused. Each query begins with what stops the processes, since there may
-- be millions of others in the same place.
--
-- Returns  one row for each of these processes, with its reason
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.stuck
create or replace function wf._waiting_for_someone()
returns table (instance_id bigint, process_id bigint, reason text, detail text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select p.instance_id, p.process_id, p.reason, null
      from wf._place_v p
     where p.place = 'failed'
     union all
    select p.instance_id, p.process_id, p.reason, 'no live driver serves ' || wf._lane_text(l)
      from wf.lane l
      join wf._place_v p on p.place = 'ready' and p.lane_id = l.id
     where p.reason = 'driver' and not exists (select from wf._drivers_at_work() d where wf._serves(d, l))
     union all
    select p.instance_id, p.process_id, p.reason, format('group %s lets nothing start: its max is 0', g.name)
      from wf.group_v g
      join wf._place_v p
        on p.place = 'parked'
           and p.group_id = coalesce((select x.id from wf.concurrency_group x where x.name = g.name),
                                     wf._name_number(g.name))
     where g.max = 0
     union all
    select w.instance_id, w.item_id, 'set aside', 'moving it on raised an error: ' || (w.error ->> 'message')
      from wf.work w
     where w.aside and w.kind in ('timer', 'loss', 'teardown', 'child')
     union all
    select p.instance_id, p.process_id, p.reason, wf._say_who('the instance was suspended', s.actor, s.reason)
      from wf.suspended s
      join wf._place_v p on p.place in ('parked', 'timer') and p.instance_id = s.instance_id
     where p.reason = 'suspended'
     union all
    select p.instance_id, p.process_id, p.reason, wf._say_who('the engine was paused', e.actor, e.reason)
      from wf.engine_v e
      join wf._place_v p on p.place = 'ready' and e.state = 'PAUSED'
     where p.reason = 'paused';
$$;

-- wf.stuck()
--
-- Returns  one row for each instance and reason, the longest wait first
-- Locks    nothing
-- Raises   nothing
-- Called   by viewers
create or replace function wf.stuck()
returns table (
    instance_id bigint, workflow text, reason text, processes bigint, process_id bigint, label text, detail text,
    since timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp set jit = off as $$
    with place as (
        select x.instance_id, x.reason, count(*) as processes, min(x.process_id) as process_id,
               (array_agg(x.detail order by x.process_id))[1] as detail
          from wf._waiting_for_someone() x
         group by x.instance_id, x.reason
    )
    select s.instance_id, w.name, s.reason, s.processes, s.process_id,
           (select l.label from wf.label_v l where l.instance_id = s.instance_id and l.process_id = s.process_id),
           coalesce(s.detail, format('%s: %s%s', p.error ->> 'kind', p.error ->> 'message',
                                     wf._say_line(p.version_id, p.node_id, p.error))),
           p.at
      from place s
      join wf.instance i on i.id = s.instance_id
      join wf.workflow w on w.id = i.workflow_id
      join wf.process p on p.instance_id = s.instance_id and p.id = s.process_id
     order by p.at, s.instance_id, s.reason;
$$;
comment on function wf.stuck() is
    'Lists the instances in which a process waits for a person, whatever else goes on in them. The reasons are: failed '
    '(an operator decides), driver (no live driver serves its queue, transports and capabilities), group (its max is '
    '0), set aside (moving it on raised an error three times), suspended (the instance), paused (the engine). Each row '
    'tells how many processes wait, the first of them, its details, and since when it waits.';
