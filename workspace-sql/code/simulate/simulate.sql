-- The simulator: one instance, played from its start to its end in virtual time.
--
-- The engine itself runs here: start, claims, outcomes, timers, losses and the
-- triggers of process are the same as for every other instance. Only the driver,
-- the operator and the clock are made up, and everything is undone before
-- wf.simulate returns. Real drivers may be at work meanwhile:
--
-- - Nobody else ever sees what a simulation writes: no driver gets a simulated
--   request, none of its timers fires elsewhere, no driver is woken.
-- - It takes nothing from others. It moves its requests to lane 0, which no
--   driver serves. It fires the timers of its own instance only, looks for no
--   silent drivers, does not touch the list of groups to settle, and takes none
--   of the turns. So its clock harms nobody.
-- - It locks its own rows only. If the workflow names a queue or group for the
--   first time, others cannot make one of that name until the simulation is over.
-- - Groups are empty when it begins, since the tasks that are in them just now
--   have nothing to do with the workflow. The limits of the groups count.
--
-- It leaves gaps in the numbers of instances and processes, and nothing else.

do $$
begin
    if to_regtype('wf.simulated') is null then
        create type wf.simulated as (
            elapsed interval, process bigint, label text, was text, event text, state text, detail jsonb
        );
        comment on type wf.simulated is 'A row of wf.simulate.';
    end if;
end;
$$;

-- wf._deliver(p_instance, p_due, p_now)
--
-- Reports the outcomes of requests of an instance, as their driver would. Gives its waits
-- the signals, and the ends of instances, that they wait for.
--
-- Returns  nothing
-- Locks    as outcome
-- Raises   as outcome
-- Called   by _play and _do_due
create or replace function wf._deliver(p_instance bigint, p_due wf.foreseen[], p_now timestamptz) returns void
language plpgsql as $$
begin
    perform wf.outcome(0, array_agg(d.instance_id), array_agg(d.process_id), array_agg(d.token), array_agg(d.how),
                       array_agg(coalesce(convert_to(d.body::text, 'UTF8'), '')))
       from unnest(p_due) d
      where d.how in ('ack', 'response', 'error')
     having count(*) > 0;
    update wf.process p
       set was = p.state, event = d.body ->> 'event',
           state = wf._next_state(p.machine, p.state, d.body ->> 'event', true), at = p_now,
           output = coalesce(d.body -> 'output', p.output),
           handle = case d.body ->> 'event' when 'started' then coalesce(p.handle, '{}') else p.handle end,
           error = null
      from unnest(p_due) d
      join wf.lease l on l.instance_id = d.instance_id and l.process_id = d.process_id and l.token = d.token
     where d.how = 'move' and p.instance_id = d.instance_id and p.id = d.process_id;
    perform wf._pace(array_agg(d.instance_id), array_agg(d.process_id), array_agg(false), p_now)
       from unnest(p_due) d
      where d.how = 'move' and d.body ->> 'event' = 'started'
     having count(*) > 0;
    update wf.process p
       set was = p.state, event = case when d.body -> 'error' = 'null' then 'success' else 'fail' end,
           state = case when d.body -> 'error' = 'null' then 'END' else 'FAILED' end, at = p_now,
           output = case when d.body -> 'error' = 'null'
                         then case p.machine
                                  when 'child' then '{"instance": 0, "result": "success", "output": null}'
                                  else wf._default_answer(p.instance_id, p.id, p_now)
                              end || (d.body -> 'output') end,
           error = nullif(d.body -> 'error', 'null')
      from unnest(p_due) d
     where d.how = 'wait' and p.instance_id = d.instance_id and p.id = d.process_id and p.state = 'WAITING'
       and to_jsonb(p.attempt) = d.body -> 'attempt';
    -- the driver that held these is lost
    update wf.lease l set driver_id = -1
      from unnest(p_due) d
     where d.how = 'lost' and l.instance_id = d.instance_id and l.process_id = d.process_id and l.token = d.token;
    while exists (select from wf.lease l
                   where l.instance_id = p_instance and l.driver_id = -1 and wf._withheld_until(l, p_now) is null) loop
        perform wf._lose(-1);
    end loop;
end;
$$;

-- wf._grant_simulated(p_instance)
--
-- Grants places of groups as _settle does, and places of rates as _grant_rate does. It counts
-- only the places that this instance holds.
--
-- Returns  nothing
-- Locks    nothing beyond the instance's own rows
-- Raises   nothing of its own
-- Called   by _play
create or replace function wf._grant_simulated(p_instance bigint) returns void
language plpgsql as $$
declare
    v_group bigint;
    v_max int;
    v_granted wf.request[];
begin
    for v_group in
        select distinct k.group_id from wf.parked k where k.instance_id = p_instance and k.reason = 'group'
    loop
        select x.max into v_max
          from wf.parked k
         cross join lateral (select coalesce((p.policy ->> 'group_max')::numeric::int, n.group_max) as max
                               from wf.process p
                               join wf.node n on n.version_id = p.version_id and n.id = p.node_id
                              where p.instance_id = k.instance_id and p.id = k.process_id offset 0) x
         where k.instance_id = p_instance and k.group_id = v_group and x.max is not null
         order by k.process_id desc limit 1;
        if not found then
            select g.max into v_max from wf.concurrency_group g where g.id = v_group;
        end if;
        with granted as (
            delete from wf.parked k
             where k.instance_id = p_instance
               and k.process_id in (select x.process_id from wf.parked x
                                     where x.instance_id = p_instance and x.group_id = v_group and x.reason = 'group'
                                     order by x.rank, x.turn, x.process_id
                                     limit case when v_max is not null
                                                then greatest(0, v_max - (select count(*)
                                                                            from wf.slot s
                                                                           where s.instance_id = p_instance
                                                                             and s.group_id = v_group)) end)
            returning k.*),
        taken as (
            insert into wf.slot (group_id, instance_id, process_id)
            select d.group_id, d.instance_id, d.process_id from granted d)
        select array_agg(row(d.instance_id, d.process_id, 0, d.rank, d.turn, 'start')::wf.request)
          into v_granted from granted d;
        perform wf._offer(wf._wait_for_rates(v_granted, array_agg(g.process_id)))
           from unnest(v_granted) g;
    end loop;
    perform wf._grant_places(r.rate_id, - r.rate_id, r.max, r.per, wf.now(), p_instance)
       from (select distinct on (k.rate_id) k.rate_id,
                    coalesce(p.policy ->> 'rate_limit', n.rate ->> 'max')::numeric::int as max,
                    coalesce(p.policy ->> 'rate_per', n.rate ->> 'per')::interval as per
               from wf.parked k
               join wf.process p on p.instance_id = k.instance_id and p.id = k.process_id
               join wf.node n on n.version_id = p.version_id and n.id = p.node_id
              where k.instance_id = p_instance and k.reason = 'rate'
              order by k.rate_id, k.process_id desc) r;
    perform wf._run_clocks(array_agg(t.instance_id), array_agg(t.process_id), wf.now())
       from wf.time_limit t where t.instance_id = p_instance and t.remains is not null having count(*) > 0;
end;
$$;

-- wf._repair_simulated(p_instance, p_script)
--
-- Does with the failed processes what the script has an operator do.
--
-- Returns  whether there was anything to do
-- Locks    as retry
-- Raises   nothing of its own
-- Called   by _play
create or replace function wf._repair_simulated(p_instance bigint, p_script jsonb) returns boolean
language plpgsql as $$
declare
    v_verb text;
    v_processes jsonb;
    v_output jsonb;
    v_found boolean := false;
begin
    if p_script is null or not exists (select from wf.failed f where f.instance_id = p_instance) then
        return false;
    end if;
    for v_verb, v_output, v_processes in
        select r.rule ->> 'then', r.rule -> 'output', jsonb_agg(p.id order by p.id)
          from wf.failed f
          join wf.process p on p.instance_id = f.instance_id and p.id = f.process_id
          join wf.node n on n.version_id = p.version_id and n.id = p.node_id
         cross join lateral (select wf._find_rule(p_script, p, n, null) as rule offset 0) r
         where f.instance_id = p_instance and r.rule is not null
         group by 1, 2 order by min(p.id)
    loop
        v_found := true;
        perform wf._operate(v_verb, jsonb_build_object('instance', p_instance, 'process', v_processes),
                            'as the script has it', v_output);
    end loop;
    return v_found;
end;
$$;

-- wf._set_clock(p_now)
--
-- Sets the clock of a simulation, which every caller may do: see wf.now.
--
-- Returns  nothing
-- Locks    nothing
-- Raises   nothing
-- Called   by _play
create or replace function wf._set_clock(p_now timestamptz) returns void
language plpgsql as $$
begin
    perform set_config('wf.now', to_char(p_now at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00', true);
end;
$$;

-- wf._do_due(p_instance, p_due, p_now)
--
-- Does what is due at a moment: timers, outcomes of requests, limits, and what the engine
-- begins, tears down or stops in a later transaction. It starts no other instances.
--
-- Returns  nothing
-- Locks    as outcome
-- Raises   as outcome
-- Called   by _play
create or replace function wf._do_due(p_instance bigint, p_due wf.foreseen[], p_now timestamptz) returns void
language plpgsql as $$
declare
    v_item bigint;
begin
    perform wf._fire_timers(array_agg(t.instance_id), array_agg(t.process_id), p_now)
       from wf.timer t where t.instance_id = p_instance and t.due_at <= p_now having count(*) > 0;
    perform wf._deliver(p_instance, p_due, p_now), wf._set_limits(p_instance),
            wf._set_long_limits(p_instance, p_now);
    perform wf._time_out(array_agg(x.instance_id), array_agg(x.process_id), p_now)
       from (select distinct t.instance_id, t.process_id from wf.time_limit t
              where t.instance_id = p_instance and t.due_at <= p_now) x having count(*) > 0;
    while exists (select from wf.pending q where q.instance_id = p_instance and q.later)
          or exists (select from wf.work w where w.instance_id = p_instance and w.kind = 'teardown') loop
        perform wf._begin_pending(p_instance, p_now);
        for v_item in
            delete from wf.work w where w.instance_id = p_instance and w.kind = 'teardown' returning w.item_id
        loop
            perform wf._tear(array[p_instance], array[v_item], p_now);
        end loop;
    end loop;
    for v_item in
        delete from wf.work w where w.instance_id = p_instance and w.kind = 'child' returning w.item_id
    loop
        perform wf._tend_children(array[p_instance], array[v_item], p_now)
           from wf.process p
          where p.instance_id = p_instance and p.id = v_item and p.state in ('CANCEL_REQUESTED', 'ABORT_REQUESTED');
    end loop;
end;
$$;

-- wf._stop_simulated(p_flight, p_now)
--
-- Stops the requests that the engine has asked to stop, as a driver would.
--
-- Returns  the outcomes that all requests are going to have now; null if none is to be stopped
-- Locks    nothing beyond the instance's own rows
-- Raises   nothing
-- Called   by _play
create or replace function wf._stop_simulated(p_flight wf.foreseen[], p_now timestamptz) returns wf.foreseen[]
language plpgsql as $$
declare
    v_stopped uuid[];
begin
    with told as (delete from wf.stop s where s.driver_id = 0 returning s.token)
    select array_agg(t.token) into v_stopped from told t;
    if v_stopped is null then
        return null;
    end if;
    return array(select case when f.token = any (v_stopped)
                             then row(f.instance_id, f.process_id, f.token, p_now, 'error',
                                      '{"kind": "cancelled", "message": "the driver stopped it"}')::wf.foreseen
                             else f end
                   from unnest(p_flight) f);
end;
$$;

-- wf._next_moment(p_instance, p_flight, p_now)
--
-- Returns  when the next event is due: the outcome of a request, a timer, a free place of
--          a rate, or a request that is to be taken back; null if no event is left
-- Locks    nothing
-- Raises   nothing
-- Called   by _play
create or replace function wf._next_moment(p_instance bigint, p_flight wf.foreseen[], p_now timestamptz)
returns timestamptz
language plpgsql stable as $$
begin
    return least((select min(f.due_at) from unnest(p_flight) f),
                 (select min(t.due_at) from wf.timer t where t.instance_id = p_instance),
                 (select min(t.due_at) from wf._limit_v t where t.instance_id = p_instance),
                 (select min(s.free_at) from wf.rate_spent s
                   where s.rate_id in (select - k.rate_id from wf.parked k
                                        where k.instance_id = p_instance and k.reason = 'rate')),
                 (select min(wf._withheld_until(l, p_now))
                    from wf.lease l
                   where l.instance_id = p_instance and l.driver_id = -1));
end;
$$;

-- wf._no_end(p_reason, p_elapsed)
--
-- Returns  never
-- Locks    nothing
-- Raises   WF004
-- Called   by _play
create or replace function wf._no_end(p_reason text, p_elapsed interval) returns void
language plpgsql as $$
begin
    raise exception using errcode = 'WF004',
        message = format('the simulation does not come to an end: %s', p_reason),
        detail = format('It has come to %s after its start.', justify_interval(p_elapsed)),
        hint = 'Give what is polled or retried for ever another outcome in the script; '
               'simulate large lists with fewer elements.';
end;
$$;

-- wf._play(p_workflow, p_params, p_script, p_seed, p_version)
--
-- Starts an instance and plays it to its end, from moment to moment. At each moment it
-- first does what is due, then begins what can begin.
--
-- Returns  the rows of wf.simulate
-- Locks    nothing beyond the instance's own rows
-- Raises   WF002, WF003, WF004
-- Called   by simulate, which undoes it
create or replace function wf._play(p_workflow text, p_params jsonb, p_script jsonb, p_seed bigint, p_version int)
returns wf.simulated[]
language plpgsql :engine as $$
declare
    c_most constant int := 50000;
    c_again constant int := 1000;
    v_begin timestamptz := wf.now();
    v_now timestamptz := v_begin;
    v_instance bigint;
    v_flight wf.foreseen[] := array[]::wf.foreseen[];
    v_acks wf.foreseen[];
    v_stopped wf.foreseen[];
    v_requests int := 0;
    v_polls int := 0;
    v_moments int := 0;
    v_found int;
    v_endless text;
    r record;
begin
    -- the row tells wf.now that its clock may be set, and nobody else ever sees it
    insert into wf.setting (name, value, meaning)
    values ('simulation ' || pg_current_xact_id(), '1', 'a simulation is under way in this transaction');
    perform wf._set_clock(v_now);
    v_instance := wf.start(p_workflow, p_params, p_version => p_version);
    loop
        v_moments := v_moments + 1;
        perform wf._do_due(v_instance, array(select f from unnest(v_flight) f where f.due_at <= v_now), v_now);
        v_flight := array(select f from unnest(v_flight) f where f.due_at > v_now);
        exit when (select i.state in ('END', 'ABORTED') from wf.instance i where i.id = v_instance);
        v_found := wf._repair_simulated(v_instance, p_script)::int;
        perform wf._grant_simulated(v_instance);
        update wf.ready q set lane_id = 0 where q.instance_id = v_instance and q.lane_id <> 0;
        v_acks := array[]::wf.foreseen[];
        for r in
            select c.*, p.whole
              from wf._claim(0, array(select x.ctid
                                        from wf.ready x
                                       where x.lane_id = 0
                                       order by x.rank, x.turn, x.instance_id, x.process_id
                                       limit c_most), v_now) c
             cross join lateral (select x as whole
                                   from wf.process x
                                  where x.instance_id = c.instance_id and x.id = c.process_id
                                 offset 0) p
             order by c.process_id
        loop
            v_found := v_found + 1;
            v_requests := v_requests + 1;
            v_polls := case r.request when 'poll' then v_polls + 1 else 0 end;
            v_flight := v_flight || wf._foresee(p_script, p_seed, v_requests, r.whole, r.request, r.token, r.transport,
                                                r.args, r.timeout_ms);
            if r.attempt > c_again then
                v_endless := format('%s has been tried %s times', r.task_type, c_again);
            elsif r.needs_ack then
                v_acks := v_acks || row(r.instance_id, r.process_id, r.token, null, 'ack', null)::wf.foreseen;
            end if;
        end loop;
        v_flight := v_flight || wf._foresee_waits(p_script, p_seed, v_requests, v_instance, v_flight);
        perform wf._deliver(v_instance, v_acks, v_now);
        v_stopped := wf._stop_simulated(v_flight, v_now);
        v_found := v_found + (v_stopped is not null)::int;
        v_flight := coalesce(v_stopped, v_flight);
        if v_found = 0 then
            v_now := wf._next_moment(v_instance, v_flight, v_now);
            exit when v_now is null or not isfinite(v_now);
            perform wf._set_clock(v_now);
            if v_polls > c_again * greatest(1, (select count(*) from wf.timer t where t.instance_id = v_instance)) then
                v_endless := format('for %s requests nothing has moved but polls', v_polls);
            end if;
        end if;
        if greatest(v_requests, v_moments) > c_most then
            v_endless := format('there were %s requests, at %s moments', v_requests, v_moments);
        end if;
        if v_endless is not null then
            perform wf._no_end(v_endless, v_now - v_begin);
        end if;
    end loop;
    return wf._tell(v_instance, v_begin);
end;
$$;

-- wf._tell(p_instance, p_begin)
--
-- Returns  the history of a simulated instance, what it still waits for, and its result
-- Locks    nothing
-- Raises   nothing
-- Called   by _play
create or replace function wf._tell(p_instance bigint, p_begin timestamptz) returns wf.simulated[]
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_hashjoin = on set enable_nestloop = off as $$
begin
    -- This query needs the hash joins that the caller has switched off. Nobody has analysed the tables, so the
    -- planner would expect few rows and choose nested loops: they are off here.
    return array(
        with numbered as materialized (
            select p.id, p.state,
                   (select l.label from wf.label_v l where l.instance_id = p_instance and l.process_id = p.id) as label,
                   row_number() over (order by p.id) as number
              from wf.process p
             where p.instance_id = p_instance
        ), line (part, k, line) as (
            select 1, e.seq, row(e.at - p_begin, x.number, coalesce(x.label, w.name), nullif(e.was, ''), e.event,
                                 e.state, e.detail)::wf.simulated
              from wf.event e
              join wf.instance i on i.id = e.instance_id
              join wf.workflow w on w.id = i.workflow_id
              left join numbered x on x.id = e.process_id
             where e.instance_id = p_instance
             union all
            select 2, x.number, row(wf.now() - p_begin, x.number, x.label, x.state, 'waits', x.state,
                                    jsonb_build_object('reason', e.reason, 'message', e.detail))::wf.simulated
              from wf._explain(p_instance, wf._under_way(p_instance)) e
              join numbered x on x.id = e.process_id
             where e.reason <> 'children'
             union all
            select 3, 1, row(coalesce(i.ended_at, wf.now()) - p_begin, null, w.name, null, 'result', i.state,
                             jsonb_strip_nulls(jsonb_build_object('result', coalesce(i.result, 'waiting'),
                                                                  'error', i.error))
                             || case when i.output is null then '{}'
                                     else jsonb_build_object('output', i.output) end)::wf.simulated
              from wf.instance i
              join wf.workflow w on w.id = i.workflow_id
             where i.id = p_instance
        )
        select l.line from line l order by l.part, l.k);
end;
$$;

-- wf.simulate(p_workflow, p_params, p_script, p_seed, p_version)
--
-- Plays an instance of a workflow and undoes it. The head of this file says what others can
-- do meanwhile.
--
-- Returns  its history, what it waits for if it does not end, and last its result
-- Locks    the gate and the workflow's versions (both shared), released when it returns; else see the head of the file
-- Raises   WF002, WF003, WF004 (50,000 requests, or 1,000 of one task, and no end), WF006
-- Called   by authors, the console
create or replace function wf.simulate(p_workflow text, p_params jsonb default '{}', p_script jsonb default null,
                                       p_seed bigint default null, p_version int default null)
returns table (elapsed interval, process bigint, label text, was text, event text, state text, detail jsonb)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_moves wf.simulated[];
begin
    perform wf._check_script(p_script);
    begin
        perform wf._gate(true);
        v_moves := wf._play(p_workflow, p_params, p_script, p_seed, p_version);
        raise exception using errcode = 'triggered_action_exception';
    exception when triggered_action_exception then
        -- all is rolled back; the variables keep the result
        if v_moves is null then
            raise;
        end if;
    end;
    return query select m.* from unnest(v_moves) m;
end;
$$;
comment on function wf.simulate(text, jsonb, jsonb, bigint, int) is
    'Plays an instance of a workflow in virtual time, with made-up drivers, and undoes all of it: workflow, '
    'parameters, script (a list of rules, see docs/console.md), seed (if given, outcomes that the script does not give '
    'are random), version. Returns its history (time since the start, number of the process, label, was, event, state, '
    'detail), a row with event waits for each thing that holds it up if it does not end, and last a row with event '
    'result.';
