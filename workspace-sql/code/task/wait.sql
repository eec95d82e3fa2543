-- Tasks that wait inside the workspace, without a driver.

-- wf._wake_at(p_at, p_duration)
--
-- Returns  when a sleep ends that begins at p_at; null if its duration is none
-- Locks    nothing
-- Raises   nothing
-- Called   by _begin_wait
create or replace function wf._wake_at(p_at timestamptz, p_duration jsonb) returns timestamptz
language plpgsql stable as $$
begin
    if jsonb_typeof(p_duration) is distinct from 'string' then
        return null;
    end if;
    return p_at + wf._parse_duration(p_duration #>> '{}');
exception when sqlstate 'WF020' or data_exception then
    return null;
end;
$$;

-- wf._begin_wait(p_moves)
--
-- Begins to wait, by kind of wait: a sleep sets its timer, or fails if its
-- duration is none; a fail fails at once.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Raises   nothing of its own
-- Called   by _queue
create or replace function wf._begin_wait(p_moves wf.full_move[]) returns void
language plpgsql as $$
begin
    insert into wf.timer (instance_id, process_id, kind, due_at)
    select p.instance_id, p.id, 'sleep', w.at
      from wf._due_full(p_moves, 'queue') m
     cross join lateral (select x.* from wf.process x where x.instance_id = m.instance_id and x.id = m.id offset 0) p
     cross join lateral (select x.* from wf.node x where x.version_id = p.version_id and x.id = p.node_id offset 0) n
      join wf.task_type y on y.id = n.type_id
     cross join lateral (select wf._wake_at(p.at, coalesce(p.input, n.input) -> 'duration') as at offset 0) w
     where p.machine = 'wait' and p.state = 'INIT' and y.wait = 'sleep' and w.at is not null;
    update wf.process p
       set was = p.state, event = 'begin', state = 'WAITING'
      from wf._due_full(p_moves, 'queue') m
     cross join lateral (select x.ctid as place, x.version_id, x.node_id from wf.process x
                          where x.instance_id = m.instance_id and x.id = m.id offset 0) q
     cross join lateral (select x.type_id from wf.node x
                          where x.version_id = q.version_id and x.id = q.node_id offset 0) n
      join wf.task_type y on y.id = n.type_id
     where p.ctid = q.place and p.machine = 'wait' and p.state = 'INIT'
       and (y.wait <> 'sleep'
            or exists (select from wf.timer t where t.instance_id = m.instance_id and t.process_id = m.id));
    update wf.process p
       set was = p.state, event = 'fail', state = 'FAILED',
           error = wf._refuse('input',
                              format('a sleep needs a duration, not %s',
                                     left(coalesce((coalesce(q.input, n.input) -> 'duration')::text, 'null'), 100)))
      from wf._due_full(p_moves, 'queue') m
     cross join lateral (select x.ctid as place, x.*
                           from wf.process x
                          where x.instance_id = m.instance_id and x.id = m.id
                         offset 0) q
     cross join lateral (select x.* from wf.node x where x.version_id = q.version_id and x.id = q.node_id offset 0) n
      join wf.task_type y on y.id = n.type_id
     where p.ctid = q.place and p.machine = 'wait' and p.state = 'INIT' and y.wait = 'sleep'
       and not exists (select from wf.timer t where t.instance_id = m.instance_id and t.process_id = m.id);
    update wf.process p
       set was = p.state, event = 'fail', state = 'FAILED',
           error = jsonb_strip_nulls(jsonb_build_object('kind', coalesce(a.args ->> 'kind', 'failed'),
                                                        'message', a.args -> 'msg',
                                                        'detail', a.args -> 'detail'))
      from wf._due_full(p_moves, 'queue') m
     cross join lateral (select x.ctid as place, x.*
                           from wf.process x
                          where x.instance_id = m.instance_id and x.id = m.id
                         offset 0) q
     cross join lateral (select x.* from wf.node x where x.version_id = q.version_id and x.id = q.node_id offset 0) n
      join wf.task_type y on y.id = n.type_id
     cross join lateral (select coalesce(q.input, n.input) as args) a
     where p.ctid = q.place and p.machine = 'wait' and p.state = 'WAITING' and y.wait = 'fail';
end;
$$;
