-- play.sql - plays one workflow at random, and writes down what was decided.
--
-- Drivers, operators and the clock are played here; law.check() says after
-- every step whether the workspace's rows agree with what it says about them.
-- Nothing is judged here that simulate.pl and Model.pm can judge: law.play
-- returns the decisions and how everything stood in the end.
create schema law;

create table law.driver (
    id bigint primary key, queues text[], gone boolean not null default false, silent boolean not null default false
);
create table law.request (
    k bigint generated always as identity primary key,
    driver_id bigint, instance_id bigint, process_id bigint, token uuid, request text, task_type text,
    acknowledge boolean, open boolean not null default true, lost boolean not null default false
);
create table law.step (
    k bigint generated always as identity primary key,
    at timestamptz, what text, instance_id bigint, process_id bigint, data jsonb
);
create table law.token (k bigint generated always as identity primary key, token text);
create table law.places (group_id bigint primary key, held bigint not null);
create table law.said (instance_id bigint, process_id bigint, reason text not null);

create function law.pick(p_count bigint) returns int
language sql volatile as $$ select floor(random() * p_count)::int; $$;

create function law.one(variadic p_list text[]) returns text
language sql volatile as $$ select p_list[1 + law.pick(cardinality(p_list))]; $$;

create function law.note(p_what text, p_instance bigint, p_process bigint, p_data jsonb) returns void
language sql as $$
    insert into law.step (at, what, instance_id, process_id, data) values (wf.now(), p_what, p_instance, p_process, p_data);
$$;

-- law.groups(): the max of each group.
create function law.groups() returns jsonb
language sql as $$
    select jsonb_build_object('groups', coalesce(jsonb_object_agg(g.name, g.max), '{}')) from wf.concurrency_group g;
$$;

-- law.look(): asks explain about every process, and writes down how each task
-- stands: its reason, and the group in which it has a place. That no driver
-- serves it and that the engine is paused are left out, since the model knows
-- nothing of these. last is the number of the process that began last; torn are the
-- instances in which a teardown makes its second pass with the next work.
create function law.look() returns void
language plpgsql as $$
begin
    delete from law.said;
    insert into law.said (instance_id, process_id, reason)
    select i.id, e.process_id, string_agg(e.reason, '+' order by e.reason)
      from wf.instance i, wf.explain(i.id) e
     where i.state in ('RUNNING', 'SUSPENDED', 'ABORTING') and e.process_id is not null and e.reason <> 'note'
     group by i.id, e.process_id;
    perform law.note('stand', null, null, jsonb_build_object(
        'torn', (select jsonb_agg(distinct w.instance_id) from wf.work w where w.kind = 'teardown'),
        'last', (select max(p.id) from wf.process p),
        'tasks', (select coalesce(jsonb_agg(jsonb_build_array(
                             p.instance_id, p.id, case when a.reason in ('driver', 'paused', 'driver+paused') then '' else coalesce(a.reason, '') end, g.name)), '[]')
                    from wf.process p
                    left join law.said a on a.instance_id = p.instance_id and a.process_id = p.id
                    left join wf.slot s on s.instance_id = p.instance_id and s.process_id = p.id
                    left join wf.concurrency_group g on g.id = s.group_id
                   where p.machine <> 'composite' and p.state not in ('END', 'RAISED', 'ABORTED'))));
end;
$$;

create function law.move_clock(p_time interval) returns void
language plpgsql as $$
begin
    perform set_config('wf.now', (wf.now() + p_time)::text, true);
    if exists (select from wf.lease e join wf.driver d on d.id = e.driver_id where d.state in ('left', 'lost')) then
        -- that nobody polled for so long is not what fsck expects
        perform law.tick();
    end if;
end;
$$;

-- law.check(): the first thing that is wrong, or null.
create function law.check() returns text
language plpgsql as $$
declare
    v text;
    v_process wf.process;
    v_seen text := (select format('%s %s', sum(s.n_tup_ins + s.n_tup_upd + s.n_tup_del), wf.now())
                      from pg_stat_xact_user_tables s where s.schemaname = 'wf' and s.relname not in ('audit', 'audit_head'));
begin
    -- where nothing was written (but in the audit that somebody tried) and no time has passed, all is as it was
    if v_seen = current_setting('law.seen', true) then
        return null;
    end if;
    perform set_config('law.seen', v_seen, true);
    perform law.look();
    -- claimable <=> no reason; the tests for a live driver and for a pause are written out here
    with leaf as (
        select p.instance_id, p.id, p.state,
               exists (select from wf.ready r
                         cross join lateral wf._find_lane(r.lane_id) l
                         join wf.driver d on d.state = 'live'
                                         and (d.queues = '{}' or l.queue = any (d.queues)) and l.needs <@ d.transports
                         join wf.sign_of_life g on g.driver_id = d.id and g.seen_at >= wf.now() - interval '30 s'
                        where r.instance_id = p.instance_id and r.process_id = p.id
                          and coalesce((select e.event from wf.engine_event e order by e.id desc limit 1), '') <> 'pause'
                          and (r.request in ('cancel', 'cleanup')
                               or not exists (with recursive up (id) as (
                                                  select p.id union all select x.parent_id from up join wf.process x on x.instance_id = p.instance_id and x.id = up.id
                                                                         where x.kind not in ('finally', 'undo'))
                                              select from up join wf.teardown t on t.instance_id = p.instance_id and t.process_id = up.id))) as claimable,
               (select s.reason from law.said s where s.instance_id = p.instance_id and s.process_id = p.id) as reason
          from wf.process p
         where p.machine <> 'composite' and p.state not in ('END', 'RAISED', 'ABORTED')
    )
    select format('law: process %s (%s) is %s, but its reason is %s', f.id, f.state,
                  case when f.claimable then 'claimable' else 'not claimable' end, coalesce(f.reason, 'none'))
      into v
      from leaf f
     where f.claimable <> (f.reason is null) or f.reason like '%stuck%'
     limit 1;
    if v is not null then
        return v;
    end if;
    -- what explain says of one process is what it says of all
    if random() < 0.2 then
        select * into v_process from wf.process p order by p.id offset law.pick((select count(*) from wf.process)) limit 1;
    end if;
    if v_process.id is not null and v_process.state not in ('END', 'RAISED', 'ABORTED')
       and (select array_agg(e.reason order by e.reason) from wf.explain(v_process.instance_id, v_process.id) e where e.reason <> 'note')
           is distinct from (select array_agg(e.reason order by e.reason) from wf.explain(v_process.instance_id) e where e.process_id = v_process.id and e.reason <> 'note') then
        return format('explain: process %s is explained in two ways', v_process.id);
    end if;
    select format('fsck: %s, process %s: %s', f.check_name, f.process_id, f.detail) into v from wf.fsck() f limit 1;
    if v is not null then
        return v;
    end if;
    select format('max: forall %s has %s elements open', p.id, count(*)) into v
      from wf.process p
      join wf.node n on n.version_id = p.version_id and n.id = p.node_id and n.kind = 'forall'
      join wf.process c on c.instance_id = p.instance_id and c.parent_id = p.id and c.state not in ('END', 'RAISED', 'ABORTED')
     where jsonb_typeof(n.max) = 'number'
     group by p.id, n.max
    having count(*) > (n.max #>> '{}')::numeric;
    if v is not null then
        return v;
    end if;
    select format('group: %s has %s places taken of %s', g.name, count(*), g.max) into v
      from wf.slot s
      join wf.concurrency_group g on g.id = s.group_id
      left join law.places l on l.group_id = g.id
     group by g.name, g.max, l.held
    having g.max is not null and count(*) > greatest(g.max, l.held);
    if v is not null then
        return v;
    end if;
    delete from law.places;
    insert into law.places select s.group_id, count(*) from wf.slot s group by s.group_id;
    return null;
end;
$$;

create function law.register(p_queues text[]) returns bigint
language plpgsql as $$
declare
    v_id bigint := wf.register('d', '1', '{builtin,sql,ssh}', p_queues, 100);
begin
    insert into law.driver (id, queues) values (v_id, p_queues);
    return v_id;
end;
$$;

-- law.see_losses(): what the workspace has taken back from drivers that are gone.
create function law.see_losses() returns void
language plpgsql as $$
declare
    r record;
begin
    update law.driver l set gone = true from wf.driver d where d.id = l.id and d.state in ('left', 'lost') and not l.gone;
    for r in
        select q.k, q.instance_id, q.process_id, q.driver_id, d.state = 'lost' as died
          from law.request q
          join wf.driver d on d.id = q.driver_id
         where not q.lost and d.state in ('left', 'lost') and not exists (select from wf.lease e where e.token = q.token)
         order by q.driver_id, q.k
    loop
        update law.request q set lost = true where q.k = r.k;
        perform law.note('lost', r.instance_id, r.process_id,
                         jsonb_build_object('k', r.k, 'driver', r.driver_id, 'died', r.died));
    end loop;
end;
$$;

-- law.last_seen(what): the number of the last event that was noted so.
create function law.last_seen(p_what text) returns bigint
language sql as $$
    select coalesce(max((s.data ->> 'event')::bigint), 0) from law.step s where s.what = p_what;
$$;

-- law.see_timeouts(): whose time the workspace has found to be over. Each event is noted once.
create function law.see_timeouts() returns void
language plpgsql as $$
declare
    v_seen constant bigint := law.last_seen('timeout');
begin
    perform law.note('timeout', e.instance_id, e.process_id,
                     jsonb_build_object('event', e.seq, 'limit', e.detail #> '{detail,limit}', 'was', e.was))
       from (select x.* from wf.event x where x.event = 'timeout' and x.seq > v_seen order by x.seq offset 0) e;
end;
$$;

-- law.see_late(): which instances the workspace has ended, since all that is left of them has failed.
create function law.see_late() returns void
language plpgsql as $$
declare
    v_seen constant bigint := law.last_seen('late');
begin
    perform law.note('late', e.instance_id, null, jsonb_build_object('event', e.seq))
       from (select x.instance_id, max(x.seq) as seq from wf.event x
              where x.process_id is null and x.reason like 'on_failure(fail_late%' and x.seq > v_seen group by 1 order by 1 offset 0) e;
end;
$$;

-- law.next_due(): when the next timer or limit is due.
create function law.next_due() returns timestamptz
language sql as $$
    select min(x.due_at)
      from (select t.due_at from wf.timer t union all select t.due_at from wf._limit_v t union all select w.due_at from wf.work w where w.kind = 'schedule') x
     where isfinite(x.due_at);
$$;

create function law.tick() returns void
language plpgsql as $$
begin
    if law.tells_work() then
        perform law.work_off(); -- a tick does work, too, and does not say which
    end if;
    perform law.note('tick', null, null, null);
    perform wf.tick();
    perform law.see_timeouts();
    if law.tells_work() then
        perform law.note('work', null, null, null);
    end if;
    perform law.see_late();
    perform law.see_losses();
    perform law.note('settle', null, null, law.groups());
end;
$$;

create function law.poll(p_driver bigint, p_want int) returns bigint
language plpgsql as $$
declare
    r record;
    v_count bigint := 0;
    v_k bigint;
begin
    if law.tells_work() then
        if random() < 0.7 then
            perform law.work_off();
        end if;
        perform law.note('poll', null, null, jsonb_build_object('driver', p_driver, 'want', p_want));
    else
        perform law.note('poll', null, null, jsonb_build_object('driver', p_driver, 'want', p_want));
        if random() < 0.7 then
            perform wf.work();
            perform law.see_late();
        end if;
    end if;
    for r in select * from wf.poll(p_driver, p_want) loop
        if v_count = 0 then
            perform law.see_timeouts();
            perform law.see_losses();
            perform law.note('settle', null, null, law.groups());
        end if;
        v_count := v_count + 1;
        continue when r.kind <> 'run';
        insert into law.request (driver_id, instance_id, process_id, token, request, task_type, acknowledge)
        values (p_driver, r.instance_id, r.process_id, r.token, r.request, r.task_type, r.needs_ack)
        returning k into v_k;
        perform law.note('take', r.instance_id, r.process_id, jsonb_build_object('k', v_k, 'driver', p_driver, 'request', r.request, 'attempt', r.attempt));
    end loop;
    return (select count(*) from law.request q where q.driver_id = p_driver and q.open);
end;
$$;

create function law.value() returns jsonb
language sql volatile as $$
    select (array['0', '1', '2', '3', '7', '"a"', '"b"', 'null', 'true', 'false', '[]', '[1, 2]', '[3, "x", null]', '{"k": 5}']::jsonb[])[1 + law.pick(14)];
$$;

-- law.answer(request, fair): an event and a body as drivers report them; fair
-- ones go well.
create function law.answer(p_request law.request, p_fair boolean, out event text, out body jsonb)
language plpgsql as $$
declare
    v int := law.pick(100);
begin
    event := 'response';
    if p_request.acknowledge then
        event := case when p_fair or v < 90 then 'ack' else 'release' end;
    elsif not p_fair and v < 20 then
        event := 'error';
        body := '{"kind": "http", "message": "it broke"}';
    elsif not p_fair and v < 25 then
        event := 'release';
    elsif not p_fair and v < 29 then
        body := '"junk"';
    elsif not p_fair and v < 33 then
        body := null;
    elsif p_request.task_type = 'atomic' then
        -- its calls refuse some values
        body := jsonb_build_object('results', (select jsonb_agg(jsonb_build_object('value', case when p_fair then '1' else law.value() end)) from generate_series(1, 3)));
    elsif p_request.request = 'poll' then
        body := jsonb_build_object('state', case when p_fair or v < 60 then 'done' when v < 85 then 'runs' else 'bad' end, 'value', law.value());
    else
        body := jsonb_build_object('id', p_request.k, 'value', law.value());
    end if;
end;
$$;

-- law.report(requests, fair): reports them in one batch.
create function law.report(p_requests law.request[], p_fair boolean) returns void
language plpgsql as $$
declare
    r record;
    v_event text[];
    v_body jsonb[];
    v_junk boolean[];
begin
    select array_agg(a.event order by x.k), array_agg(a.body order by x.k), array_agg(not p_fair and random() < 0.03 order by x.k)
      into v_event, v_body, v_junk
      from unnest(p_requests) with ordinality q
     cross join lateral (select q.ordinality as k) x
     cross join lateral law.answer((select z from unnest(p_requests) z where z.k = q.k), p_fair) a;
    for r in
        select q.k, q.instance_id, q.process_id, q.driver_id, o.answer, e.event, e.body, e.junk
          from unnest(p_requests) q
          join wf.outcome(p_requests[1].driver_id,
                          array(select x.instance_id from unnest(p_requests) x), array(select x.process_id from unnest(p_requests) x),
                          array(select x.token from unnest(p_requests) x), v_event,
                          array(select case when b.junk and b.event in ('response', 'error') then '{"no'::bytea else coalesce(convert_to(b.body::text, 'UTF8'), ''::bytea) end
                                  from unnest(v_event, v_body, v_junk) with ordinality b (event, body, junk, n) order by b.n)) o on o.token = q.token
          join (select y.token, v_event[y.n] as event, v_body[y.n] as body, v_junk[y.n] as junk
                  from unnest(p_requests) with ordinality y (k, driver_id, instance_id, process_id, token, request, task_type, acknowledge, open, lost, n)) e on e.token = q.token
         order by q.k
    loop
        perform law.note('report', r.instance_id, r.process_id,
            jsonb_build_object('k', r.k, 'event', r.event, 'body', r.body, 'junk', r.junk and r.event in ('response', 'error'), 'answer', r.answer));
        update law.request q
           set open = r.event = 'ack' and r.answer = 'done', acknowledge = false
         where q.k = r.k;
    end loop;
end;
$$;

-- law.operate(verb, target): an operator's verb, each row a decision.
create function law.operate(p_verb text, p_target jsonb) returns void
language plpgsql as $$
declare
    r record;
    v_output jsonb := law.value();
begin
    for r in
        select * from wf.retry(p_target) where p_verb = 'retry' union all
        select * from wf.ignore(p_target, null, p_verb = 'skip') where p_verb in ('ignore', 'skip') union all
        select * from wf.resolve(p_target, v_output) where p_verb = 'resolve' union all
        select * from wf.raise(p_target) where p_verb = 'raise' union all
        select * from wf.cancel(p_target) where p_verb = 'cancel' union all
        select * from wf.abort(p_target, null, p_verb = 'undo') where p_verb in ('abort', 'undo') union all
        select * from wf.suspend(p_target) where p_verb = 'suspend' union all
        select * from wf.resume(p_target) where p_verb = 'resume'
    loop
        perform law.note('verb', r.instance_id, r.process_id, jsonb_build_object('verb', p_verb, 'output', v_output, 'answer', r.answer));
    end loop;
end;
$$;

-- law.set_group(name, max): an operator changes a group.
create function law.set_group(p_name text, p_max int) returns void
language plpgsql as $$
begin
    perform law.note('group', null, null, jsonb_build_object('name', p_name, 'max', p_max));
    perform wf.group_set(p_name, p_max);
end;
$$;

-- law.pause(whether): of the engine; when it is resumed, all goes on.
create function law.pause(p_pause boolean) returns void
language plpgsql as $$
begin
    perform law.note(case when p_pause then 'pause' else 'unpause' end, null, null, null);
    if p_pause then
        perform wf.engine_pause('to see');
    else
        perform wf.engine_resume();
    end if;
end;
$$;

-- law.step(): one step of a day on which much goes wrong.
create function law.step() returns void
language plpgsql as $$
declare
    v_dice numeric := random() * 100;
    v_driver bigint;
    v_process wf.process;
    v_list law.request[];
    v_due timestamptz;
    v_undoes constant boolean := exists (select from wf.node n where n.kind = 'undo');
begin
    if exists (select from wf.task_type t where t.wait = 'signal') then
        if random() < 0.15 then
            perform law.send(i.id, law.one('x', 'y')) from (select z.id from wf.instance z order by z.id) i order by random() limit 1;
            return;
        end if;
    end if;
    if exists (select from wf.task_type t where t.wait in ('input', 'callback')) then
        if random() < 0.25 then
            perform law.act_outside();
            return;
        end if;
    end if;
    if exists (select from wf.schedule) then
        if random() < 0.05 then
            perform law.hold_schedule(s.name, random() < 0.4) from (select z.name from wf.schedule z order by z.id) s order by random() limit 1;
            return;
        end if;
    end if;
    v_driver := (select x.id from (select l.id from law.driver l where not l.gone and not l.silent order by l.id) x order by random() limit 1);
    if v_driver is null then
        perform law.register('{}');
    elsif v_dice < 34 then
        perform law.poll(v_driver, law.pick(4));
    elsif v_dice < 61 then
        v_list := array(select x.q from (select q from law.request q where q.open order by q.k) x order by random() limit 1);
        if v_list[1].request = 'start' and not v_list[1].acknowledge then
            -- a batch of what cannot raise
            v_list := array(select x.q
                              from (select q from law.request q where q.open and not q.acknowledge and q.request = 'start' order by q.k offset 0) x
                             where x.q = v_list[1] or random() < 0.3);
        end if;
        if cardinality(v_list) > 0 then
            perform law.report(v_list, false);
        end if;
    elsif v_dice < 66 then
        -- once more, and too late
        v_list := array(select x.q from (select q from law.request q where not q.open order by q.k) x order by random() limit 1);
        if cardinality(v_list) > 0 then
            perform law.report(v_list, false);
        end if;
    elsif v_dice < 74 then
        v_due := law.next_due();
        perform law.move_clock(case when random() < 0.5 and v_due > wf.now() then v_due - wf.now() else random() * interval '4 s' end);
    elsif v_dice < 81 then
        -- the silent ones are given up by the next poll
        update law.driver l set silent = x.silent from (select d.id, random() < 0.5 as silent from (select z.id from law.driver z order by z.id) d offset 0) x where x.id = l.id and not l.gone;
        perform wf.heartbeat(l.id) from law.driver l join wf.driver d on d.id = l.id where not l.silent and d.state in ('live', 'draining');
        perform law.move_clock('20 s');
        perform wf.heartbeat(l.id) from law.driver l join wf.driver d on d.id = l.id where not l.silent and d.state in ('live', 'draining');
        perform law.move_clock('20 s');
    elsif v_dice < 82 then
        perform wf.leave(v_driver);
        perform law.see_losses();
    elsif v_dice < 82.5 then
        perform wf.drain(v_driver);
    elsif v_dice < 84 then
        perform law.register(case when random() < 0.5 then '{}' else '{default}' end::text[]);
    elsif v_dice < 85 then
        perform law.reconnect(v_driver);
    elsif v_dice < 86 then
        perform law.tick();
    elsif v_dice < 86.5 then
        perform law.set_group(g.name, law.pick(4)) from (select z.name from wf.concurrency_group z order by z.id offset 0) g order by random() limit 1;
    elsif v_dice < 87.5 then
        perform law.pause(random() < 0.4);
    elsif v_dice < 90 then
        perform law.operate(law.one('suspend', 'resume'), jsonb_build_object('instance', i.id)) from (select z.id from wf.instance z order by z.id) i order by random() limit 1;
    elsif v_dice < 98 then
        select p.* into v_process from (select z.* from wf.process z order by z.id) p
         order by (p.state = 'FAILED')::int + (p.state not in ('END', 'RAISED', 'ABORTED'))::int + 1.5 * random() desc, p.id limit 1;
        perform law.operate(case when v_process.state = 'FAILED' then law.one('retry', 'retry', 'retry', 'ignore', 'skip', 'resolve', 'cancel', case when random() < 0.2 then 'raise' else 'retry' end)
                                 else law.one('cancel', 'cancel', 'retry', 'ignore', 'resolve', 'raise') end,
                            jsonb_build_object('instance', v_process.instance_id, 'process', v_process.id));
    elsif v_dice < (case when v_undoes then 98.4 else 99.4 end) then
        perform law.operate(law.one('retry', 'ignore', 'resolve', 'cancel'), jsonb_build_object('instance', i.id))
           from (select z.id from wf.instance z order by z.id) i order by random() limit 1;
    else
        perform law.operate(case when v_undoes then law.one('abort', 'undo', 'undo', 'undo') else 'abort' end, jsonb_build_object('instance', i.id)) from (select z.id from wf.instance z order by z.id) i order by random() limit 1;
    end if;
end;
$$;

-- law.reconnect(driver): a new incarnation that still knows some of its requests.
create function law.reconnect(p_driver bigint) returns void
language plpgsql as $$
declare
    v_known law.request[] := array(select x.q from (select q from law.request q where q.open and q.driver_id = p_driver order by q.k offset 0) x where random() < 0.7);
    v_unheard law.request[] := array(select q from law.request q
                                      where q.open and q.driver_id = p_driver and q.k not in (select x.k from unnest(v_known) x)
                                        and exists (select from wf.lease l join wf.process p on p.instance_id = l.instance_id and p.id = l.process_id
                                                     where l.token = q.token and l.driver_id = p_driver and p.state = 'START_REQUESTED')
                                      order by q.k);
    v_driver bigint;
begin
    v_driver := wf.register('d', '1', '{builtin,sql,ssh}', (select l.queues from law.driver l where l.id = p_driver), 100,
                            p_driver, array(select q.token from unnest(v_known) q));
    insert into law.driver (id, queues) select v_driver, l.queues from law.driver l where l.id = p_driver;
    update law.driver l set gone = true where l.id = p_driver;
    update law.request q set driver_id = v_driver where q.k in (select x.k from unnest(v_known) x);
    perform law.note('report', q.instance_id, q.process_id, jsonb_build_object('k', q.k, 'event', 'release', 'answer', 'done')) from unnest(v_unheard) q;
    perform law.note('move', null, null, jsonb_build_object('driver', v_driver, 'requests', to_jsonb(array(select x.k from unnest(v_known) x))));
end;
$$;

-- law.quiet(): nothing is on its way any more.
create function law.quiet() returns boolean
language sql as $$
    select not exists (select from wf.ready) and not exists (select from wf.parked) and not exists (select from wf.lease)
           and not exists (select from wf.timer t where isfinite(t.due_at) or t.kind in ('signal', 'input') or t.kind = 'child' and t.awaits_id is null) and not exists (select from wf.work);
$$;

-- law.finish_step(fix): a step towards the end, in which all goes well; fix: an
-- operator sees to what has failed.
create function law.finish_step(p_fix boolean) returns void
language plpgsql as $$
declare
    v_driver bigint;
    v_list law.request[];
    v_process wf.process;
    v_due timestamptz;
begin
    update law.driver set silent = true;
    select l.id into v_driver from law.driver l join wf.driver d on d.id = l.id
     where d.state = 'live' and d.queues = '{}' order by l.id desc limit 1;
    v_driver := coalesce(v_driver, law.register('{}'));
    perform law.set_group(g.name, 1) from (select z.name from wf.concurrency_group z where z.max < 1 order by z.id offset 0) g;
    if (select e.event from wf.engine_event e order by e.id desc limit 1) = 'pause' then
        perform law.pause(false);
    end if;
    perform law.hold_schedule(s.name, false) from (select z.name from wf.schedule z where z.paused_at is not null order by z.id offset 0) s;
    perform law.operate('resume', jsonb_build_object('instance', i.id)) from (select z.id from wf.instance z where z.state = 'SUSPENDED' order by z.id offset 0) i;
    v_list := array(select q from law.request q where q.open order by q.k limit 1);
    if cardinality(v_list) > 0 then
        perform law.report(v_list, true);
        return;
    end if;
    if law.poll(v_driver, 100) > 0 then
        return;
    end if;
    if exists (select from wf.timer t where t.kind in ('signal', 'input')) then
        perform law.end_wait();
        return;
    end if;
    if not law.quiet() then
        v_due := law.next_due();
        perform law.move_clock(least(interval '20 s', greatest(interval '2 s', coalesce(v_due - wf.now(), '20 s'))));
        return;
    end if;
    if p_fix then
        select p.* into v_process from wf.process p where p.state = 'FAILED' order by p.id limit 1;
        if v_process.id is not null then
            perform law.operate(law.one('ignore', 'skip', 'resolve', 'resolve'), jsonb_build_object('instance', v_process.instance_id, 'process', v_process.id));
        end if;
    end if;
end;
$$;

-- law.document(): the decisions and how everything stands.
create function law.document(p_wrong text) returns jsonb
language sql as $$
    with recursive member as (
        select p.instance_id, p.id, p.parent_id, p.state, p.attempt, p.output,
               -- an undo is called by the number of what it undoes: the last that had ended well and saw the same names
               case when p.kind = 'undo'
                    then format('undo:%s#1', (select max(q.id)
                                                from wf.process q
                                                left join wf.process o on q.scopes[1] = q.id and o.instance_id = q.instance_id and o.id = q.parent_id
                                               where q.instance_id = p.instance_id and q.node_id = n.parent_id and q.id < p.id and q.state = 'END'
                                                 and coalesce(o.scopes, q.scopes) = p.scopes))
                    else n.ordinal || case when p.index is null then '' else format('[%s]', p.index) end
                         || '#' || row_number() over (partition by p.instance_id, p.parent_id, p.node_id, p.index order by p.id) end as name
          from wf.process p
          join wf.node n on n.version_id = p.version_id and n.id = p.node_id
    ), place as (
        select m.instance_id, m.id, m.state, m.attempt, 'root' as path from member m where m.parent_id is null
         union all
        select m.instance_id, m.id, m.state, m.attempt, q.path || '/' || m.name from place q join member m on m.instance_id = q.instance_id and m.parent_id = q.id
    )
    select jsonb_build_object(
        'wrong', p_wrong,
        'moves', (select count(*) from wf.event),
        'visited', (select jsonb_agg(distinct concat_ws(' ', case when e.process_id is null then 'instance' else p.machine end,
                                                        coalesce(nullif(e.was, ''), '-'), e.event, e.state))
                      from wf.event e left join wf.process p on p.instance_id = e.instance_id and p.id = e.process_id),
        'steps', (select jsonb_agg(jsonb_build_object('k', s.k, 'at', extract(epoch from s.at)::numeric, 'what', s.what,
                                                      'instance', s.instance_id, 'process', s.process_id, 'data', s.data) order by s.k) from law.step s),
        'processes', (select jsonb_agg(jsonb_build_object('instance', q.instance_id, 'id', q.id, 'path', q.path, 'state', q.state, 'attempt', q.attempt) order by q.path) from place q),
        'failures', (select coalesce(jsonb_agg(jsonb_build_object('instance', e.instance_id, 'path', q.path, 'attempt', e.attempt, 'kind', e.detail ->> 'kind')), '[]')
                       from wf.event e join place q on q.instance_id = e.instance_id and q.id = e.process_id
                       join wf.process p on p.instance_id = e.instance_id and p.id = e.process_id and p.machine <> 'composite'
                      where e.state = 'FAILED' and e.was <> 'FAILED'),
        'retries', (select coalesce(jsonb_agg(jsonb_build_object('instance', e.instance_id, 'path', q.path, 'attempt', e.attempt,
                                                                 'due', extract(epoch from (e.detail ->> 'due_at')::timestamptz)::numeric)), '[]')
                      from wf.event e join place q on q.instance_id = e.instance_id and q.id = e.process_id
                     where e.event = 'retry' and e.detail ? 'due_at'),
        'bindings', (select coalesce(jsonb_agg(jsonb_build_object('instance', b.instance_id, 'path', q.path, 'name', b.name, 'value', b.value)), '[]')
                       from wf.binding b join place q on q.instance_id = b.instance_id and q.id = b.scope_id),
        'callbacks', (select coalesce(jsonb_agg(jsonb_build_object('instance', c.instance_id, 'name', c.name, 'progress', c.progress, 'used', c.used_at is not null)), '[]')
                        from wf.callback_v c),
        'firings', (select coalesce(jsonb_agg(jsonb_build_object('schedule', f.schedule, 'time', extract(epoch from f.nominal_at)::numeric, 'state', f.state,
                                                                 'instance', f.instance_id, 'at', extract(epoch from f.at)::numeric)), '[]')
                      from wf.firing_v f),
        'instances', (select jsonb_agg(jsonb_build_object('id', i.id, 'state', i.state, 'result', i.result, 'output', i.output, 'tags', i.tags,
                                                                   'parent', i.parent_id, 'task', i.parent_process_id) order by i.id) from wf.instance i));
$$;

-- law.play(spec, starts, seed, steps, window): everything, from beginning to end. A
-- start is {workflow, params}, or a schedule as law.set_schedule has it; window is the setting.
create function law.play(p_spec jsonb, p_starts jsonb, p_seed float8, p_steps int, p_window int) returns jsonb
language plpgsql as $$
declare
    v_wrong text;
    v_fix boolean;
    v_id bigint;
    v_start jsonb;
    v_priority int;
begin
    perform setseed(p_seed);
    perform set_config('wf.now', '2030-01-01 00:00:00+00', true);
    update wf.setting set value = 1 + law.pick(3) where name = 'loss_limit';
    update wf.setting set value = p_window where name = 'window';
    perform law.note('limit', null, null, jsonb_build_object('losses', wf._setting_number('loss_limit'),
                                                             'window', wf._setting_number('window')));
    perform wf.install('// ' || (p_spec ->> 'file'), p_spec);
    for v_start in select x.value from jsonb_array_elements(p_starts) x loop
        v_priority := law.pick(3);
        if v_start ? 'schedule' then
            perform law.set_schedule(v_start, v_priority);
            continue;
        end if;
        v_id := wf.start(v_start ->> 'workflow', v_start -> 'params', null, v_priority,
                         array(select x.tag from jsonb_array_elements_text(v_start -> 'tags') x (tag)));
        perform law.note('start', v_id, null, v_start || jsonb_build_object('priority', v_priority));
    end loop;
    v_wrong := law.check();
    perform law.register('{default}');
    perform law.register('{}');
    for k in 1 .. p_steps loop
        exit when v_wrong is not null or not exists (select from wf.instance i where i.state in ('RUNNING', 'SUSPENDED', 'ABORTING'));
        begin
            perform law.step();
            v_wrong := law.check();
        exception when others then
            v_wrong := format('error: %s %s', sqlstate, sqlerrm);
        end;
    end loop;
    v_fix := random() < 0.7;
    for k in 1 .. 2000 loop
        exit when v_wrong is not null
               or law.quiet() and not exists (select from law.request q where q.open) and not (v_fix and exists (select from wf.failed));
        begin
            perform law.finish_step(v_fix);
            v_wrong := law.check();
        exception when others then
            v_wrong := format('error: %s %s', sqlstate, sqlerrm);
        end;
        if k = 2000 then
            v_wrong := coalesce(v_wrong, 'end: it does not come to its end');
        end if;
    end loop;
    if v_wrong is null then
        select format('end: instance %s is %s, and nothing in it waits for an operator', i.id, i.state) into v_wrong
          from wf.instance i
         where i.state not in ('END', 'ABORTED') and not exists (select from wf.failed f where f.instance_id = i.id)
           and not exists (with recursive awaited (id) as (
                               select i.id union select t.awaits_id from awaited a join wf.timer t on t.instance_id = a.id and t.awaits_id is not null)
                           select from awaited a join wf.failed f on f.instance_id = a.id)
         limit 1;
    end if;
    return law.document(v_wrong);
end;
$$;

-- law.change(function, from, to): puts a fault into a function, see blind.t.
create function law.change(p_function regproc, p_from text, p_to text) returns void
language plpgsql as $$
declare
    v_text text := pg_get_functiondef(p_function);
begin
    if strpos(v_text, p_from) = 0 then
        raise exception '% has no "%"', p_function, p_from;
    end if;
    execute replace(v_text, p_from, p_to);
end;
$$;

\ir outside.sql
\ir plans.sql
