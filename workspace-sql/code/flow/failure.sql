-- on_failure: how the workspace treats an error that no handler takes. Warnings: how a
-- tolerated failure counts in the result of an instance. A warning belongs to the nearest
-- child of a handler around it (the body of a try, a branch of a race, an element of a
-- forall that tolerates). When that child ends well, the warning moves outwards. When that
-- child is given up, the warning is forgotten; but a warning of a finally that runs while
-- the child stops belongs to what is around the child. A warning without a handler around
-- it belongs to the instance at once.

-- wf._warn(p_instance, p_process, p_at)
--
-- Notes a warning: these processes, or something in them, were tolerated, skipped or
-- ignored. The arrays run in parallel. No handler takes an error out of an undo. An error
-- that is ignored in an undo, without a handler there, is therefore a warning of what is
-- around the process that is undone.
--
-- Returns  nothing
-- Locks    nothing beyond the rows of process and instance, which the caller holds
-- Called   by _note_warnings, _give_up_child and _win
create or replace function wf._warn(p_instance bigint[], p_process bigint[], p_at timestamptz) returns void
language plpgsql as $$
declare
    f record;
begin
    with recursive up (i, start, id, parent_id, version_id, handler_id, ended, holds) as (
        select u.i, u.j, p.id, p.parent_id, p.version_id, case when n.holds then p.node_id else n.handler_id end,
               p.state <> 'ACTIVE', n.holds
          from (select distinct x.i, wf._out_of_undo(x.i, x.j) from unnest(p_instance, p_process) x (i, j)) u (i, j)
         cross join lateral (select x.id, x.parent_id, x.version_id, x.node_id, x.state from wf.process x
                              where x.instance_id = u.i and x.id = u.j offset 0) p
         cross join lateral (select x.handler_id, x.handles = 'retries' and p.state = 'ACTIVE' as holds from wf.node x
                              where x.version_id = p.version_id and x.id = p.node_id offset 0) n
         union all
        select u.i, u.start, p.id, p.parent_id, u.version_id,
               -- at the handler: its child has ended already, so the way goes on to the next handler
               case when n.holds is true or p.node_id <> u.handler_id then u.handler_id else n.handler_id end,
               p.state <> 'ACTIVE', n.holds
          from up u
         cross join lateral (select x.id, x.parent_id, x.node_id, x.state from wf.process x
                              where x.instance_id = u.i and x.id = u.parent_id offset 0) p
         cross join lateral (select x.handler_id, x.handles = 'retries' and p.state = 'ACTIVE' as holds from wf.node x
                              where x.version_id = u.version_id and x.id = p.node_id offset 0) n
         where u.handler_id is not null and u.holds is not true
           and (u.ended or p.node_id <> u.handler_id or n.holds)),
    around as (
        select distinct on (u.i, u.start) u.i, u.id, u.handler_id from up u order by u.i, u.start, u.id)
    select array_agg(a.i) filter (where a.handler_id is null) as instances,
           array_agg(a.i) filter (where a.handler_id is not null) as around,
           array_agg(a.id) filter (where a.handler_id is not null) as bodies
      into f
      from around a;
    update wf.process p set was = p.state, event = 'count', at = p_at, warned = true
      from unnest(f.around, f.bodies) u (i, j)
     cross join lateral (select x.ctid from wf.process x
                          where x.instance_id = u.i and x.id = u.j
                            and x.state = 'ACTIVE' and x.warned is null offset 0) k
     where p.ctid = k.ctid;
    update wf.instance i set was = i.state, event = 'warn', at = p_at, warned = true
     where not i.warned and i.state in ('RUNNING', 'SUSPENDED') and i.id = any (f.instances);
end;
$$;

-- wf._note_warnings(p_moves, p_at)
--
-- Notes a warning for processes that were skipped or ignored. If a child of a handler has
-- ended well, its warning moves outwards. Of the branches of a race only the winner hands
-- its warning on (_win).
--
-- Returns  nothing
-- Locks    as _warn
-- Called   by the update trigger of process
create or replace function wf._note_warnings(p_moves wf.move[], p_at timestamptz) returns void
language plpgsql as $$
begin
    perform wf._warn(array_agg(m.instance_id), array_agg(m.id), p_at)
       from wf._due(p_moves, 'ignored') m having count(*) > 0;
    perform wf._warn(array_agg(m.instance_id), array_agg(coalesce(m.parent_id, m.id)), p_at)
       from wf._due(p_moves, 'warned') m
       left join lateral (select x.spare, x.total from wf.process x
                           where x.instance_id = m.instance_id and x.id = m.parent_id offset 0) p on true
      where p.spare is null or p.total is not null
     having count(*) > 0;
end;
$$;

-- wf._decide_failure(p_process, p_on_failure, p_error, p_record, p_at)
--
-- Does what the on_failure of a FAILED process says. skip goes on as if an operator had
-- ignored the process; skip_all also skips what reads it. fail ends the instance with the
-- error; fail_late does so when nothing of the instance can run any more. fail_undo and
-- fail_late_undo also have the instance undone. p_record is the error as finallys see it.
--
-- Returns  nothing
-- Locks    as _tear
-- Called   by _handle
create or replace function wf._decide_failure(p_process wf.process, p_on_failure text, p_error jsonb, p_record jsonb,
                                              p_at timestamptz) returns void
language plpgsql as $$
declare
    v_reason constant text := wf._reason();
    v_event constant text := case p_on_failure when 'skip_all' then 'skip' else 'ignore' end;
begin
    perform wf._set_reason(case p_on_failure when 'skip_all' then 'on_failure(skip, cascade = true)'
                                             when 'fail_undo' then 'on_failure(fail, undo = true)'
                                             else format('on_failure(%s)', p_on_failure) end);
    case
        when p_on_failure in ('skip', 'skip_all') then
            update wf.process p
               set was = p.state, event = v_event, at = p_at,
                   state = wf._next_state(p.machine, p.state, v_event, false),
                   noted = case when p.parent_id is null then p.noted end
             where p.instance_id = p_process.instance_id and p.id = p_process.id;
        when p_on_failure in ('fail', 'fail_undo') then
            perform wf._end_by(p_process, p_error, p_record, p_at, p_on_failure = 'fail_undo');
        when p_on_failure in ('fail_late', 'fail_late_undo') then
            update wf.failed f set late = true
             where f.instance_id = p_process.instance_id and f.process_id = p_process.id;
        else null; -- pause: a person decides
    end case;
    perform wf._set_reason(v_reason);
end;
$$;

-- wf._look_late(p_moves, p_at)
--
-- Something has ended or failed in instances that may end late. If a process of such an
-- instance has failed late, another transaction looks whether anything can still run.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Called   by the update trigger of process
create or replace function wf._look_late(p_moves wf.move[], p_at timestamptz) returns void
language plpgsql as $$
begin
    insert into wf.work (kind, instance_id, item_id, due_at)
    select 'late', u.i, 0, p_at
      from (select distinct m.instance_id as i from wf._due(p_moves, 'late') m) u
     where exists (select from wf.failed f where f.instance_id = u.i and f.late)
       -- one of two rows may be the work that this transaction is doing
       and (select count(*) < 2 from wf.work w where w.instance_id = u.i and w.kind = 'late');
    if found then
        perform wf._ring();
    end if;
end;
$$;

-- wf._is_late(p_instance)
--
-- Returns  whether everything that is left of an instance has failed with on_failure fail_late
-- Locks    nothing
-- Raises   nothing
-- Called   by _end_late and fsck
create or replace function wf._is_late(p_instance bigint) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select exists (select from wf.failed f where f.instance_id = p_instance)
           and not exists (select from wf.failed f where f.instance_id = p_instance and f.late is null)
           and not exists (select from wf.ready r where r.instance_id = p_instance)
           and not exists (select from wf.parked k where k.instance_id = p_instance)
           and not exists (select from wf.lease l where l.instance_id = p_instance)
           and not exists (select from wf.timer t where t.instance_id = p_instance)
           and not exists (select from wf.pending q where q.instance_id = p_instance)
           -- a teardown that has nothing to stop any more waits for a finally
           and not exists (select from wf.teardown d where d.instance_id = p_instance and d.next_id is not null);
end;

-- wf._end_late(p_instance)
--
-- Ends an instance of which nothing can run any more. Its error is the one that came last,
-- with the others as cause. The process that failed last says whether it is undone.
--
-- Returns  nothing
-- Locks    as _tear; the caller holds the instance
-- Called   by _do_work
create or replace function wf._end_late(p_instance bigint) returns void
language plpgsql as $$
declare
    c_most constant int := 100;
    v_error jsonb;
    v_process wf.process;
    v_undo boolean;
    f record;
begin
    if not wf._is_late(p_instance) then
        return;
    end if;
    select count(*) - 1 as others, min(x.id) filter (where x.k = 1) as failed,
           (array_agg(x.error) filter (where x.k = 1))[1] as last,
           jsonb_agg(x.error order by x.id) filter (where x.k between 2 and c_most + 1) as errors
      into f
      from (select p.id, row_number() over (order by p.at desc, p.id desc) as k,
                   p.error || jsonb_build_object('process', p.id, 'attempt', p.attempt) as error
              from wf.failed d
              join wf.process p on p.instance_id = d.instance_id and p.id = d.process_id
             where d.instance_id = p_instance) x;
    v_error := wf._add_cause(f.last, wf._several(f.others, f.errors));
    v_undo := (select n.on_failure = 'fail_late_undo'
                 from wf.process p join wf.node n on n.version_id = p.version_id and n.id = p.node_id
                where p.instance_id = p_instance and p.id = f.failed);
    perform wf._set_reason(case when v_undo then 'on_failure(fail_late, undo = true)' else 'on_failure(fail_late)' end);
    perform wf._abort(array[p_instance], v_error, true, p_undo => v_undo);
    -- the processes that are left have failed in finallys; with the first one of a finally, all in the finally ends
    for v_process in
        select p.* from wf.failed d join wf.process p on p.instance_id = d.instance_id and p.id = d.process_id
         where d.instance_id = p_instance and d.late order by p.id
    loop
        continue when not exists (select from wf.failed d
                                   where d.instance_id = p_instance and d.process_id = v_process.id);
        perform wf._end_by(v_process, v_error, v_error, wf.now(), v_undo);
    end loop;
    perform wf._set_reason(null);
end;
$$;
