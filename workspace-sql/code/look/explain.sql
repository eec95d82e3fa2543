-- Why is this not running? The answers come from the very rows that poll reads. A driver
-- can take a request now if and only if the request has a row in ready, a live driver
-- serves its lane, and the engine is not paused. Then explain gives no reason.
--
-- A session that asks has mostly just connected. In such a session, loading plpgsql and
-- planning take longer than reading. So explain is all SQL that was resolved when it was
-- created, with one function for each place where a process may be (reason.sql). The
-- search_path of such a function keeps it from being inlined: it is planned only if it is
-- called. The functions join sub-selects of the columns that they need, since a table would
-- be stored with every column.
-- The functions are planned for an array of any size, which might hold all processes of an
-- instance: `offset 0` makes the plan find each process by its key.

-- wf._explain_rest(p_instance, p_process)
--
-- Returns  the reasons of processes that are in no other place: they are ready, or stuck
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.explain and wf._explain
create or replace function wf._explain_rest(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select case when r.process is not null then wf._explain_ready(p_instance, r.process) end
           || case when r.process is not null and exists (select from wf.teardown t where t.instance_id = p_instance)
                   then wf._explain_teardown(p_instance, r.process) end
           || case when exists (select from wf.work x where x.instance_id = p_instance)
                   then wf._explain_work(p_instance, p_process) end
           || case when coalesce(cardinality(r.process), 0) < cardinality(p_process)
                   then wf._explain_stuck(p_instance, p_process) end
      from (select array_agg(y.process_id) as process
              from unnest(p_process) u (id),
                   lateral (select x.process_id from wf.ready x
                             where x.instance_id = p_instance and x.process_id = u.id offset 0) y) r;
end;

-- wf._whereabouts(p_machine, p_state)
--
-- Returns  where a process may be, by its machine and state
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.explain and wf._explain
create or replace function wf._whereabouts(p_machine text, p_state text) returns text language sql immutable
begin atomic
    select case when p_state = 'INIT' then 'parked'
                when p_state = 'FAILED' then 'failed'
                when p_state in ('END', 'RAISED', 'ABORTED') then 'ended'
                when p_machine = 'sync' then 'request'
                when wf._waits_inside(p_machine) then 'time'
                when p_machine = 'async' then 'request or time'
                else 'children' end;
end;

-- wf._explain_place(p_instance, p_process, p_place)
--
-- Returns  the reasons of these processes, by the rows that poll goes by; null if they are not in that place
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.explain and wf._explain
create or replace function wf._explain_place(p_instance bigint, p_process bigint[], p_place text) returns wf.reason[]
language plpgsql stable as $$
declare
    v_parked wf.reason[];
begin
    -- a session that has just connected resolves only the statements that it reaches
    case p_place
        when 'parked' then
            v_parked := wf._explain_parked(p_instance, p_process);
            return v_parked
                   || case when v_parked is not null and cardinality(p_process) = 1 then null
                           when exists (select from wf.timer x where x.instance_id = p_instance and x.kind = 'retry')
                           then wf._explain_retry(p_instance, p_process) end;
        when 'failed' then return wf._explain_failed(p_instance, p_process);
        when 'ended' then return wf._explain_ended(p_instance, p_process);
        when 'request' then return wf._explain_request(p_instance, p_process);
        when 'time' then return wf._explain_time(p_instance, p_process);
        when 'request or time' then
            return wf._explain_request(p_instance, p_process) || wf._explain_time(p_instance, p_process);
        when 'children' then
            return wf._explain_children(p_instance, p_process)
                   || case when exists (select from wf.teardown t where t.instance_id = p_instance)
                           then wf._explain_teardown(p_instance, p_process) end;
        else return null;
    end case;
end;
$$;

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
      from (select k.place, k.process, wf._explain_place(p_instance, k.process, k.place) as found
              from (select x.place, array_agg(x.id) as process
                      from (select p.id, wf._whereabouts(p.machine, p.state) as place
                              from unnest(p_process) u (id),
                                   lateral (select x.id, x.machine, x.state from wf.process x
                                             where x.instance_id = p_instance and x.id = u.id offset 0) p) x
                     group by x.place) k
            offset 0) a,
           unnest(a.found
                  || case when a.place in ('children', 'ended') then null
                          when (select count(distinct f.process_id) from unnest(a.found) f) = cardinality(a.process)
                          then case when exists (select from wf.work w where w.instance_id = p_instance)
                                    then wf._explain_work(p_instance, a.process) end
                          else wf._explain_rest(p_instance, a.process) end) e;
end;

-- wf._followed(p_instance)
--
-- Returns  the instance after whose end a SCHEDULED instance begins; null: none
-- Locks    nothing
-- Raises   nothing
-- Called   by _say_scheduled and _explain_instance
create or replace function wf._followed(p_instance bigint) returns bigint
language sql stable
begin atomic
    select w.item_id from wf.work w where w.instance_id = p_instance and w.kind = 'start' and w.item_id > 0;
end;

-- wf._say_scheduled(p_instance)
--
-- Returns  when a SCHEDULED instance begins; null if it is not SCHEDULED
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_instance
create or replace function wf._say_scheduled(p_instance bigint) returns text
language sql stable
begin atomic
    select 'begins '
           || concat_ws(', and ', 'at ' || wf._say_time(i.scheduled_at),
                        'when instance ' || wf._followed(i.id) || ', which has the same key, has ended')
           || coalesce(', or not at all if it has not begun before ' || wf._say_time(i.expires_at), '')
           || coalesce((select ': that raised an error: ' || (w.error ->> 'message') from wf.work w
                         where w.kind = 'start' and w.instance_id = p_instance and w.error is not null limit 1), '')
      from wf.instance i where i.id = p_instance and i.state = 'SCHEDULED';
end;

-- wf._explain_instance(p_instance)
--
-- Returns  one row for each reason of an instance itself, and of its processes that have not ended
-- Locks    nothing
-- Raises   WF003
-- Called   by wf.explain
create or replace function wf._explain_instance(p_instance bigint)
returns table (process_id bigint, label text, reason text, detail text, since timestamptz)
language plpgsql stable as $$
declare
    v_instance record;
begin
    select i.state, i.result, i.at, i.error, w.name
      into v_instance
      from wf.instance i
      join wf.workflow w on w.id = i.workflow_id
     where i.id = p_instance;
    if not found then
        raise exception using errcode = 'WF003',
            message = format('there is no instance %s', p_instance),
            hint = 'List what exists: wf-console list, wf-console tree.';
    end if;
    if v_instance.state <> 'RUNNING' then
        return query
        select null::bigint, v_instance.name,
               case v_instance.state when 'ABORTING' then 'aborting' when 'SUSPENDED' then 'suspended'
                                     when 'SCHEDULED' then case when wf._followed(p_instance) is null then 'time'
                                                                else 'child' end
                                     else 'ended' end,
               coalesce(wf._say_who('it was suspended', s.actor, s.reason), wf._say_scheduled(p_instance),
                        v_instance.state || coalesce(', ' || v_instance.result, '')
                        || coalesce(': ' || (v_instance.error ->> 'message'), '')),
               coalesce(s.at, v_instance.at)
          from (values (p_instance)) i (id)
          left join wf.suspended s on s.instance_id = i.id;
    end if;
    return query
    select e.process_id,
           (select l.label from wf.label_v l where l.instance_id = p_instance and l.process_id = e.process_id),
           e.reason, e.detail, e.since
      from wf._explain(p_instance, wf._under_way(p_instance)) e
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
language plpgsql stable as $$
begin
    raise exception using errcode = 'WF003',
        message = case when exists (select from wf.instance i where i.id = p_instance)
                       then format('instance %s has no process %s', p_instance, p_process)
                       else format('there is no instance %s', p_instance) end,
        hint = 'List what exists: wf-console list, wf-console tree.';
end;
$$;

-- wf.explain(p_instance, p_process)
--
-- This is no single query, since a session that has just connected resolves only the
-- statements that it reaches.
--
-- Returns  one row for each reason. A task that a driver may take now has none. Rows
--          whose reason is note tell which requests are before it, and when its time is
--          over
-- Locks    nothing
-- Raises   WF003
-- Called   by viewers
create or replace function wf.explain(p_instance bigint, p_process bigint default null)
returns table (process_id bigint, label text, reason text, detail text, since timestamptz)
language plpgsql stable security definer :look as $$
#variable_conflict use_column
declare
    p record;
    v_reasons wf.reason[];
    v_may_be_ready boolean := true; -- a process whose place gives a reason has no row in ready
begin
    if p_process is null then
        return query select e.* from wf._explain_instance(p_instance) e;
    else
        select wf._whereabouts(x.machine, x.state) as place, wf._label_of(p_instance, p_process) as label
          into p
          from wf.process x
         where x.instance_id = p_instance and x.id = p_process;
        if not found then
            perform wf._no_process(p_instance, p_process);
        end if;
        v_reasons := wf._explain_place(p_instance, array[p_process], p.place);
        v_may_be_ready := v_reasons is null;
        if exists (select from wf.work x where x.instance_id = p_instance and x.item_id = p_process) then
            v_reasons := v_reasons || wf._explain_work(p_instance, array[p_process]);
        end if;
        if v_reasons is null then
            v_reasons := wf._explain_rest(p_instance, array[p_process]);
        end if;
        return query select e.process_id, p.label, e.reason, e.detail, e.since from unnest(v_reasons) e;
        if p.place = 'ended' then
            return; -- it has neither a request nor a time limit
        end if;
    end if;
    if v_may_be_ready and exists (select from wf.ready y where y.instance_id = p_instance) then
        return query select n.* from wf._notes(p_instance, p_process) n;
    end if;
    if exists (select from wf.time_limit t where t.instance_id = p_instance)
       or exists (select from wf.limit_begun b where p_instance = any (b.instances))
       or exists (select from wf.lease l
                   cross join lateral (select x.timed from wf.process x
                                        where x.instance_id = l.instance_id and x.id = l.process_id offset 0) t
                   where l.instance_id = p_instance and (p_process is null or l.process_id = p_process)
                     and t.timed & wf._limit('long') > 0) then
        return query select n.* from wf._limit_notes(p_instance, p_process) n;
    end if;
end;
$$;
comment on function wf.explain(bigint, bigint) is
    'Says why a process, or each process of an instance that has not ended, is not running. The reasons are: suspended '
    '(its instance is; by whom and why), group (it is full; who holds it), driver (none serves its queue), paused (the '
    'engine is; by whom and why), request (with a driver), time (until when), signal (has to come), child (another '
    'instance has to end), retry (waits for its next attempt: which, when, after what), failed (waits for an '
    'operator), set aside (moving it on raised an error three times), children (what a composite waits for), stuck, '
    'ended. A row whose reason is note gives no reason. It says which requests come before a request that a driver may '
    'take now and which requests take the driver''s slots, or when a process with a policy timeout times out.';
