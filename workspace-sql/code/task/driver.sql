-- Drivers register, give signs of life, and leave. The requests of a dead driver are
-- taken back.

-- wf._serves(p_driver, p_lane)
--
-- Returns  whether a driver takes requests of a lane
-- Locks    nothing
-- Raises   nothing
-- Called   by poll and explain: the same test
create or replace function wf._serves(p_driver wf.driver, p_lane wf.lane) returns boolean
language sql stable
begin atomic
    select p_driver.state = 'live'
       and (cardinality(p_driver.queues) = 0 or p_lane.queue = any (p_driver.queues))
       and (p_lane.queue = any (p_driver.limits)) = p_driver.limited
       and p_lane.needs <@ p_driver.transports
       and p_lane.requires <@ p_driver.capabilities;
end;

-- wf.register(p_name, p_version, p_transports, p_queues, p_slots, p_previous, p_tokens,
--             p_capabilities, p_backend, p_marks)
--
-- Registers a new incarnation of a driver. A driver that lost its connection names its
-- former incarnation and the requests that it still holds: these go over to the new one. A
-- request that was handed to the driver but never reached it goes back into the queue. If
-- the driver calls from a session of its own (a pooler's session has another number), the
-- session is written down, and shows from then on that the driver is there. Marks that are
-- not part of this history mean that some history was lost: the engine is paused. Only the
-- login that registers the driver may use its number, or take its requests over.
--
-- Returns  the id of this incarnation
-- Locks    all turns, before it pauses the engine; the instances of the requests that the
--          driver held, by id (skipping locked ones); the leases and stops that go over; the
--          rows of the former incarnation, of drivers that are forgotten, and of drivers that
--          registered in the same session before
-- Raises   WF002, WF004, WF006, WF008, WF014, WF015
-- Called   by a driver when it starts, when it connects again, when it was given up as lost
create or replace function wf.register(p_name text, p_version text, p_transports text[], p_queues text[], p_slots int,
                                       p_previous bigint default null, p_tokens uuid[] default '{}',
                                       p_capabilities text[] default '{}',
                                       p_backend int default null, p_marks text[] default '{}') returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_now timestamptz := wf.now();
    v_login constant oid := wf._login();
    v_id bigint;
    v_instances bigint[];
    v_may record;
begin
    perform wf._gate(false);
    if coalesce(octet_length(p_name), 0) not between 1 and 63 then
        raise exception using errcode = 'WF002',
            message = format('the name of a driver has 1 to 63 bytes, not %s', coalesce(octet_length(p_name), 0)),
            hint = 'Set name in the driver''s configuration.';
    end if;
    if coalesce(p_slots, 0) not between 1 and 10000 then
        raise exception using errcode = 'WF002',
            message = format('slots is %s', coalesce(p_slots::text, 'null')),
            hint = 'Give a number from 1 to 10000.';
    end if;
    if coalesce(cardinality(p_transports), 0) = 0 or p_queues is null then
        raise exception using errcode = 'WF002',
            message = 'a driver needs at least one transport, and a list of queues',
            hint = 'An empty list of queues means every queue.';
    end if;
    if wf._are_capabilities(p_capabilities) is not true then
        raise exception using errcode = 'WF002',
            message = 'the capabilities of a driver are at most 64 strings of 1 to 127 bytes without control '
                      'characters',
            hint = 'Look at capabilities in the driver''s configuration.';
    end if;
    select a.* into v_may from wf._allowance(v_login) a;
    perform wf._refuse_ungranted('queues', p_queues, v_may.queues_only, v_may.queues);
    perform wf._refuse_ungranted('capabilities', p_capabilities, v_may.capabilities_only, v_may.capabilities);
    perform wf._heed_marks(p_name, p_marks);
    perform wf._look_around();
    perform wf._refuse_foreign(p_previous);
    perform wf._forget_drivers(p_name, v_now);
    update wf.driver d set session_pid = null where d.session_pid = p_backend and p_backend = pg_backend_pid();
    insert into wf.driver (name, version, state, transports, queues, slots, started_at, actor, capabilities, attended,
                           session_pid, login, limited, limits, asked)
    select p_name, p_version, 'live', p_transports, p_queues, p_slots, v_now, session_user, p_capabilities,
           a.pid is not null, a.pid, v_login, v_may.queues_only, v_may.queues, p_capabilities
      from (select) one
      left join pg_stat_activity a on a.pid = p_backend and a.pid = pg_backend_pid() and a.usesysid = v_login
    returning id into v_id;
    insert into wf.sign_of_life (driver_id, seen_at) values (v_id, v_now);
    if p_previous is not null then
        -- an instance that somebody holds is not waited for: requests of it that never
        -- reached the driver are left to _sweep
        v_instances := array(select i.id from wf.instance i
                              where i.id = any (array(select l.instance_id
                                                        from wf.lease l
                                                       where l.driver_id = p_previous or l.token = any (p_tokens)))
                              order by i.id for no key update skip locked);
        perform wf._hand_back(p_previous, p_tokens, v_instances);
        update wf.lease l set driver_id = v_id
          from wf.driver d
         where l.token = any (p_tokens) and d.id = l.driver_id and d.login = v_login;
        update wf.stop s
           set driver_id = v_id, told_at = null
         where s.driver_id = p_previous and s.token = any (p_tokens);
        delete from wf.stop s where s.driver_id = p_previous;
        update wf.driver d
           set successor = v_id, idle = false, ended_at = v_now,
               state = case when d.state = 'lost' then 'lost' else 'left' end
         where d.id = p_previous;
    end if;
    return v_id;
end;
$$;
comment on function wf.register(text, text, text[], text[], int, bigint, uuid[], text[], int, text[]) is
    'Registers a driver. It gives its name, the version of its program, its transports, the queues that it serves, and '
    'how many requests it carries out at once. After a lost connection it also gives its former id and the tokens that '
    'it still holds. Then come its capabilities, which tasks may require, each a name or name=value; the process id of '
    'the server that its session was told; and the marks that polls gave it since it last registered. Returns the id '
    'that its other calls take, in sessions of this login. Raises WF008 if the login may not serve what the driver '
    'asks for, WF014 if another login registered the former id, WF015 if this workspace has not made one of the marks.';

-- wf._forget_drivers(p_name, p_now)
--
-- Forgets drivers of this name that have been gone for a day and hold no request any
-- more. So connections that come and go leave at most a day's rows behind.
--
-- Returns  nothing
-- Locks    rows of driver (skipping locked ones)
-- Raises   nothing
-- Called   by register
create or replace function wf._forget_drivers(p_name text, p_now timestamptz) returns void
language sql as $$
    with gone as (
        delete from wf.driver d
         where d.ctid = any (array(select x.ctid from wf.driver x
                                    where x.name = p_name
                                      and x.state in ('left', 'lost')
                                      and x.ended_at < p_now - interval '1 day'
                                      and x.id not in (select l.driver_id from wf.lease l)
                                      for update of x skip locked))
        returning d.id),
    uncounted as (
        delete from wf.driver_counter c using gone g where c.driver_id = g.id)
    delete from wf.sign_of_life s using gone g where s.driver_id = g.id;
$$;

-- wf._hand_back(p_driver, p_tokens, p_instances)
--
-- Puts requests back into the queue. The answer of the poll that handed them out was lost
-- on its way, so the driver does not hold them, and has not begun them. (Requests that
-- were acknowledged, or that have a handle, are left to _lose.) The caller holds the
-- instances.
--
-- Returns  nothing
-- Locks    as outcome
-- Raises   WF006
-- Called   by register
create or replace function wf._hand_back(p_driver bigint, p_tokens uuid[], p_instances bigint[]) returns void
language plpgsql :engine as $$
declare
    f record;
begin
    select array_agg(l.instance_id) instances, array_agg(l.process_id) processes, array_agg(l.token) tokens
      into f
      from (select x.* from wf.lease x where x.instance_id = any (p_instances) and x.driver_id = p_driver
                                           and x.token <> all (coalesce(p_tokens, '{}')) offset 0) l
     cross join lateral (select x.state
                           from wf.process x
                          where x.instance_id = l.instance_id and x.id = l.process_id
                         offset 0) p
     where p.state = 'START_REQUESTED';
    if f.instances is not null then
        perform wf.outcome(p_driver, f.instances, f.processes, f.tokens,
                           array_fill('release'::text, array[cardinality(f.tokens)]),
                           array_fill(''::bytea, array[cardinality(f.tokens)]));
    end if;
end;
$$;

-- wf._refuse_foreign(p_driver)
--
-- Returns  nothing, if the driver belongs to the session's login, or no driver has that
--          number
-- Locks    nothing
-- Raises   WF014
-- Called   by procedures that take the number of a driver; poll and _greet know it already
create or replace function wf._refuse_foreign(p_driver bigint) returns void
language plpgsql as $$
declare
    v_login oid;
begin
    select d.login into v_login from wf.driver d where d.id = p_driver;
    if v_login <> wf._login() then
        raise exception using errcode = 'WF014',
            message = format('driver %s was registered by %s, and this session''s login is %s', p_driver,
                             coalesce('login ' || (select quote_ident(r.rolname) from pg_roles r where r.oid = v_login),
                                      'a login that was dropped'),
                             quote_ident(session_user)),
            hint = 'Give the number that wf.register has given to a session of this login, or register.';
    end if;
end;
$$;

-- wf._refuse_driver(p_driver)
--
-- Returns  never
-- Locks    nothing
-- Raises   WF010, WF014
-- Called   by poll, outcome and _greet, for a driver that is not at work, or not of this login
create or replace function wf._refuse_driver(p_driver bigint) returns void
language plpgsql as $$
begin
    perform wf._refuse_foreign(p_driver);
    raise exception using errcode = 'WF010',
        message = format('driver %s %s', coalesce(p_driver::text, 'null'),
                         coalesce((select case d.state when 'left' then 'has left'
                                                       when 'lost' then 'was given up as lost' end
                                     from wf.driver d where d.id = p_driver), 'is not registered')),
        hint = 'Register again; requests that it still holds are reported with their old tokens.';
end;
$$;

-- wf._greet(p_driver, p_now)
--
-- Notes a driver's sign of life, at most once a second. It is the last step of its
-- transaction, so the row is locked only for a moment: a sign of life does not wait for
-- another transaction of the same driver.
--
-- Returns  nothing
-- Locks    its row of sign_of_life, when it writes
-- Raises   WF010, WF014
-- Called   by poll and heartbeat
create or replace function wf._greet(p_driver bigint, p_now timestamptz) returns void
language plpgsql as $$
begin
    update wf.sign_of_life s set seen_at = p_now
      from wf.driver d
     where d.id = p_driver and d.state in ('live', 'draining') and d.login = wf._login() and s.driver_id = p_driver
       and s.seen_at not between p_now - interval '1 second' and p_now + interval '1 second';
    if found then
        return;
    end if;
    perform from wf.driver d where d.id = p_driver and d.state in ('live', 'draining') and d.login = wf._login();
    if not found then
        perform wf._refuse_driver(p_driver);
    end if;
end;
$$;

-- wf.heartbeat(p_driver)
--
-- Returns  nothing
-- Locks    the driver's row, when what it may serve has changed; its row of sign_of_life
-- Raises   WF010, WF014
-- Called   by a driver whose turns have not ended for a while, in a transaction of its own
create or replace function wf.heartbeat(p_driver bigint) returns void
language plpgsql security definer :engine as $$
begin
    perform wf._gate(false);
    perform wf._review(d) from wf.driver d where d.id = p_driver and d.login = wf._login();
    perform wf._greet(p_driver, wf.now());
end;
$$;
comment on function wf.heartbeat(bigint) is
    'Gives a sign of life of a driver whose polls take long or fail, in a transaction of its own. Returns nothing; '
    'raises WF010 if the driver was given up, WF014 if another login registered it.';

-- wf.drain(p_driver)
--
-- Returns  nothing
-- Locks    the driver's row
-- Raises   WF003, WF014
-- Called   by a driver that is to stop, or by an operator, for any driver
create or replace function wf.drain(p_driver bigint) returns void
language plpgsql security definer :engine as $$
begin
    perform wf._gate(false);
    if not (pg_has_role(session_user, 'wf_operator', 'member') or pg_has_role(session_user, 'wf_admin', 'member')) then
        perform wf._refuse_foreign(p_driver);
    end if;
    update wf.driver d set state = 'draining', idle = false where d.id = p_driver and d.state in ('live', 'draining');
    if not found then
        raise exception using errcode = 'WF003',
            message = format('there is no live driver %s', coalesce(p_driver::text, 'null')),
            hint = 'List them: wf-console drivers.';
    end if;
    perform wf._audit('driver drain', jsonb_build_object('driver', p_driver, 'name', d.name))
       from wf.driver d where d.id = p_driver;
end;
$$;
comment on function wf.drain(bigint) is
    'Lets a driver take no more requests; the requests that it holds go on. A driver may drain itself, an operator any '
    'driver. Returns nothing; raises WF003 if there is no such driver at work, WF014 if a driver names a driver of '
    'another login.';

-- wf.leave(p_driver)
--
-- The driver goes for good; the requests that it still holds are taken back as lost.
--
-- Returns  nothing
-- Locks    the driver's row, then as _lose
-- Raises   WF006, WF014
-- Called   by a driver that ends
create or replace function wf.leave(p_driver bigint) returns void
language plpgsql security definer :engine as $$
begin
    perform wf._gate(true);
    perform wf._refuse_foreign(p_driver);
    update wf.driver d set state = 'left', idle = false, ended_at = wf.now()
     where d.id = p_driver and d.state in ('live', 'draining');
    delete from wf.stop s where s.driver_id = p_driver;
    perform wf._lose(p_driver);
end;
$$;
comment on function wf.leave(bigint) is
    'A driver goes for good; requests that it still holds are treated as lost. Returns nothing; raises WF014 if '
    'another login registered it.';

-- wf._has_session(p_driver)
--
-- A process of another login is never taken for the driver's session, since the login is
-- compared, too, and nobody can choose it. When the session has ended, another process of
-- the same login may get its number. Then the driver is given up only after lease_seconds,
-- like a driver without a session. (An owner without rights on other logins sees no more of
-- their processes than the columns that are compared here.)
--
-- Returns  whether the session in which the driver registered is still there
-- Locks    nothing
-- Raises   nothing
-- Called   by _give_up
create or replace function wf._has_session(p_driver wf.driver) returns boolean
language plpgsql as $$
begin
    return exists (select from pg_stat_activity a
                    where a.pid = p_driver.session_pid
                      and a.usesysid = p_driver.login
                      and a.datname = current_database());
end;
$$;

-- wf._give_up(p_driver)
--
-- Gives up drivers that gave no sign of life for lease_seconds, and drivers whose session
-- is gone and that did not connect again within grace_seconds. It never gives up p_driver,
-- which calls, and therefore lives.
--
-- Returns  nothing
-- Locks    as _look_around, then rows of driver (skipping locked ones)
-- Called   by _sweep and _part_work
create or replace function wf._give_up(p_driver bigint) returns void
language plpgsql as $$
declare
    v_now timestamptz;
    v_lease interval;
    v_grace interval;
    v_silent bigint[];
begin
    perform wf._look_around();
    if not exists (select from wf.driver d
                    where d.state in ('live', 'draining') and d.id is distinct from p_driver) then
        return;
    end if;
    v_now := wf.now();
    v_lease := wf._setting_number('lease_seconds') * interval '1 second';
    v_grace := wf._setting_number('grace_seconds') * interval '1 second';
    v_silent := array(select d.id from wf.driver d
                        join wf.sign_of_life s on s.driver_id = d.id
                       where d.state in ('live', 'draining') and d.id is distinct from p_driver
                         and case when s.seen_at < v_now - v_lease then true
                                  when d.attended and s.seen_at < v_now - v_grace then not wf._has_session(d)
                                  else false end
                       order by d.id for update of d skip locked);
    if v_silent = '{}' then
        return;
    end if;
    update wf.driver d set state = 'lost', idle = false, ended_at = v_now where d.id = any (v_silent);
    delete from wf.stop s where s.driver_id = any (v_silent);
end;
$$;

-- wf._sweep(p_all, p_driver)
--
-- Gives up silent drivers, and takes back the requests of drivers that are gone. The poll
-- of each driver does this once a second. The next poll finds what this one leaves, so
-- nothing depends on one call. To look through all leases takes long. Therefore it looks
-- through them only if a driver was given up or cut off in the last minute, or if p_all is
-- true. The driver that asks (p_driver) lives.
--
-- Returns  nothing
-- Locks    rows of driver and sign_of_life (skipping locked ones), then as _lose
-- Raises   nothing of its own
-- Called   by poll (p_all: once a minute for each driver) and tick
create or replace function wf._sweep(p_all boolean, p_driver bigint default null) returns void
language plpgsql as $$
declare
    v_driver bigint;
begin
    -- its own row first: of two drivers that would give each other up, one skips the other
    perform from wf.driver d where d.id = p_driver for no key update skip locked;
    if p_driver is not null and not found then
        return;
    end if;
    perform wf._give_up(p_driver);
    if not p_all and not exists (select from wf.driver d
                                  where (d.state = 'lost' or d.successor is not null)
                                    and d.ended_at > wf.now() - interval '1 minute') then
        return;
    end if;
    for v_driver in
        select distinct l.driver_id
          from wf.lease l
          left join lateral (select x.state from wf.driver x where x.id = l.driver_id offset 0) d on true
         where coalesce(d.state, 'lost') in ('left', 'lost')
         order by l.driver_id
    loop
        perform wf._lose(v_driver);
    end loop;
end;
$$;

-- wf._lose(p_driver)
--
-- Takes the requests of a driver back, at most 1,000 of them. A request that may safely be
-- repeated goes back into the queue. A task with a handle can be polled by any driver. Every
-- other task fails with kind lost and waits for an operator. So does a task that was lost
-- too often, since it may be the cause of the losses (its cancel or cleanup request is
-- given up then).
--
-- Returns  nothing
-- Locks    instances by id (skipping locked ones: their leases stay for the next sweep), then as _take_back
-- Called   by _sweep and leave
create or replace function wf._lose(p_driver bigint) returns void
language plpgsql as $$
declare
    v_now timestamptz := wf.now();
    v_instances bigint[];
    v_error jsonb;
    f record;
begin
    v_instances := array(select distinct l.instance_id
                           from (select x.instance_id
                                   from wf.lease x
                                  where x.driver_id = p_driver and wf._withheld_until(x, v_now) is null
                                  limit 1000) l);
    if cardinality(v_instances) = 0 then
        return;
    end if;
    v_instances := array(select i.id
                           from wf.instance i
                          where i.id = any (v_instances)
                          order by i.id for no key update skip locked);
    v_now := wf.now();
    select array_agg(x.instance_id) instances, array_agg(x.process_id) processes
      into f
      from (select l.instance_id, l.process_id from wf.lease l
             where l.instance_id = any (v_instances) and l.driver_id = p_driver and wf._withheld_until(l, v_now) is null
               and not wf._is_apart('loss', l.instance_id, l.process_id)
             order by l.instance_id, l.process_id limit 1000) x;
    if f.instances is not null then
        v_error := wf._try_work('loss', f.instances, f.processes, v_now);
    end if;
    if v_error is not null then
        perform wf._put_work('loss', f.instances, f.processes, v_now, v_error);
    end if;
end;
$$;

-- wf._take_back(p_instance, p_process, p_now)
--
-- Takes back requests whose drivers are gone; the caller holds the instances. A driver
-- that has come back as a new incarnation may still have a lease under its old number. The
-- poll that handed that request out committed only after the driver had come back. So the
-- driver never heard of the request, and has not begun it.
--
-- Returns  nothing
-- Locks    leases (skipping locked ones)
-- Called   by _do_work
create or replace function wf._take_back(p_instance bigint[], p_process bigint[], p_now timestamptz) returns void
language plpgsql as $$
declare
    v_driver bigint;
    v_unheard boolean;
    v_died boolean;
    f record;
begin
    for v_driver, v_unheard, v_died in
        select l.driver_id, d.successor is not null, (d.state <> 'lost' or d.successor is not null) is not true
          from (select distinct k.driver_id
                  from unnest(p_instance, p_process) u (i, j)
                 cross join lateral (select x.driver_id
                                       from wf.lease x
                                      where x.instance_id = u.i and x.process_id = u.j
                                     offset 0) k) l
          left join wf.driver d on d.id = l.driver_id
         where d.id is null or d.state in ('left', 'lost')
         order by l.driver_id
    loop
        select array_agg(x.instance_id) instances, array_agg(x.process_id) processes, array_agg(x.request) requests,
               array_agg(x.token) tokens
          into f
          from unnest(p_instance, p_process) u (i, j)
         cross join lateral (select l.instance_id, l.process_id, l.request, l.token
                               from wf.lease l
                              where l.instance_id = u.i
                                and l.process_id = u.j
                                and l.driver_id = v_driver
                                and wf._withheld_until(l, p_now) is null
                                for update skip locked) x;
        if v_died then
            perform wf._count_losses(f.instances, f.processes, f.requests, f.tokens, v_driver < 0, p_now);
            select array_agg(u.i) instances, array_agg(u.j) processes, array_agg(u.request) requests,
                   null::uuid[] tokens
              into f
              from unnest(f.instances, f.processes, f.requests) u (i, j, request)
             cross join lateral (select wf._withheld_until(x, p_now) as until
                                   from wf.lease x
                                  where x.instance_id = u.i and x.process_id = u.j
                                 offset 0) l
             where l.until is null;
        end if;
        continue when f.instances is null;
        perform wf._move_lost(f.instances, f.processes, f.requests, v_died, v_unheard, p_now);
        perform wf._offer(array_agg(row(p.instance_id, p.id, p.lane_id, p.rank, wf._turn(p_now, null),
                                        'poll')::wf.request))
           from unnest(f.instances, f.processes) u (i, j)
          cross join lateral (select x.* from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) p
          where p.machine = 'async' and p.state = 'EXECUTING' and p.event = 'lost';
    end loop;
end;
$$;

-- wf._move_lost(p_instance, p_process, p_request, p_died, p_unheard, p_now)
--
-- Moves processes whose requests are taken back from a driver that died, left, or never
-- heard of them.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Raises   nothing of its own
-- Called   by _take_back
create or replace function wf._move_lost(
    p_instance bigint[], p_process bigint[], p_request text[], p_died boolean, p_unheard boolean, p_now timestamptz)
returns void
language plpgsql as $$
declare
    v_limit bigint := case when p_died then nullif(wf._setting_number('loss_limit'), 0) end;
begin
    with taken as materialized (
        select q.place, q.instance_id, q.id, q.machine, q.state, u.request, e.event,
               o.losses >= v_limit as often,
               case when o.losses > 1 and o.losses >= v_limit
                    then wf._refuse('lost', format('%s drivers in a row died with this request: the request may be '
                                                   'what kills them', o.losses))
                    else wf._refuse('lost', 'the driver is gone and it is not known whether this was done')
                    end as error,
               case when q.state not in ('START_REQUESTED', 'EXECUTING')
                    then wf._next_state(q.machine, q.state, e.event, q.machine = 'async')
                    when o.losses >= v_limit then 'FAILED'
                    when q.machine = 'sync' then case when n.idempotent or p_unheard then 'INIT' else 'FAILED' end
                    when q.state = 'START_REQUESTED' then 'INIT'
                    when q.handle is not null or u.request <> 'start' then 'EXECUTING'
                    when n.idempotent then 'INIT' else 'FAILED' end as next
          from unnest(p_instance, p_process, p_request) u (i, j, request)
         cross join lateral (select x.ctid as place, x.instance_id, x.id, x.version_id, x.node_id, x.machine, x.state,
                                    x.handle, x.policy
                               from wf.process x where x.instance_id = u.i and x.id = u.j offset 0) q
         -- settled at install, or when the process began
         cross join lateral (select x.idempotent or q.policy -> 'idempotent' = 'true' as idempotent
                               from wf.node x where x.version_id = q.version_id and x.id = q.node_id offset 0) n
          left join lateral (select x.losses
                               from wf.loss x
                              where x.instance_id = u.i and x.process_id = u.j
                             offset 0) o on true
         cross join lateral (select case when u.request not in ('cancel', 'cleanup')
                                              or (o.losses >= v_limit) is not true then 'lost'
                                         when u.request = 'cancel' then 'cancelled' else 'cleaned' end as event) e),
    notes as (
        insert into wf.event (instance_id, process_id, xid, at, was, event, state, detail)
        select t.instance_id, t.id, pg_current_xact_id(), p_now, t.state, 'unclean', t.state,
               jsonb_build_object('unclean', t.error)
          from taken t where t.event <> 'lost')
    update wf.process p
       set was = p.state, event = t.event, state = t.next, at = p_now,
           token = case when t.request <> 'start' then p.token end,
           handle = case when t.event <> 'cleaned' then p.handle end,
           error = case when p.state = 'CANCEL_REQUESTED' and t.next = 'FAILED' then wf._cancelled(null, p.error)
                        when p.state in ('START_REQUESTED', 'EXECUTING') and t.next = 'FAILED' then t.error
                        else p.error end
      from taken t
     where p.ctid = t.place;
end;
$$;
