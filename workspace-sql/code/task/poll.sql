-- What a driver does next.

-- wf.poll(p_driver, p_want, p_instant, p_kept)
--
-- Hands out at most p_want ready requests, by priority and turn. It tells the driver which
-- of its requests to stop, and when to poll again. While the engine is paused it hands out
-- nothing. Two sorts of requests do not count among p_want. The first sort takes no time,
-- because its lane needs only the driver itself: at most p_instant of these. The second are
-- those of each transport in p_kept, as many more as the number there. (An older driver
-- gives neither: all requests count alike.) On the way poll does what is due: timers, lost
-- drivers, places of groups. It never waits: it skips what others hold. While all turns are
-- taken it answers busy: it looks for nothing, and says when it is this driver's turn if
-- each of the others has one before.
--
-- Returns  rows of kind run and stop, one or two of kind work if wf.work is to be called, then
--          exactly one of kind next, or busy
-- Locks    rows of ready, and instances in which something is due (skipping locked ones)
-- Raises   WF002, WF006, WF010, WF014
-- Called   by drivers, in one transaction with outcome
create or replace function wf.poll(p_driver bigint, p_want int, p_instant int default null, p_kept jsonb default null)
returns table (kind text, instance_id bigint, process_id bigint, attempt int, token uuid, trace_id uuid, request text,
               needs_ack boolean, transport text, task_type text, args jsonb, secrets jsonb, timeout_ms bigint,
               wait_ms int, mark text, run_as text, workflow text)
language plpgsql security definer :engine as $$
#variable_conflict use_column
declare
    v_now timestamptz := wf._now();
    v_since timestamptz := wf._due_since(v_now);
    v_driver wf.driver;
    v_wants constant boolean := p_want > 0 or p_kept @? '$.* ? (@ > 0)';
    v_work record;
    v_second boolean; -- nobody has heard of the driver for a second
    v_rests boolean; -- the driver found nothing before, and there is nothing now
    v_mine boolean; -- the driver has a turn
    v_found record;
begin
    if wf._gate(true)
       and (coalesce(p_want, -1) < 0 or p_instant < 0
            or p_kept @? 'strict $ ? (@.type() != "object" || exists(@.* ? (@.type() != "number" || @ < 0)))') then
        perform wf._refuse_wants();
    end if;
    select g.* into v_work from wf._glance(p_driver, v_since, v_now) g;
    v_driver := v_work.driver;
    if (v_driver.state in ('live', 'draining') and v_driver.login = wf._login()) is not true then
        perform wf._refuse_driver(p_driver);
    end if;
    v_second := v_work.seen_at not between v_now - interval '1 second' and v_now + interval '1 second';
    if v_second then v_driver := wf._review(v_driver); end if;
    if v_work.after - v_work.before > 2500 then perform wf._spare_timers(v_work.after - v_work.before, v_now); end if;
    if v_work.stops then
        kind := 'stop';
        for token in select s.token from wf._stops(p_driver, v_now) s loop
            return next;
        end loop;
        token := null;
    end if;
    kind := 'next';
    v_rests := v_driver.idle and not (v_work.due or v_work.dirty or v_work.work or v_second or wf._has_ready(v_driver));
    -- Only so many work at a time as the setting turns says. A turn is the lock of a row:
    -- any login can take an advisory lock, or lock a table (in row exclusive mode, see docs/internals.md).
    if not v_rests then
        perform from wf.turn t where t.id <= v_work.turns order by t.id limit 1 for no key update skip locked;
        v_mine := found and set_config('wf.turn', '1', true) = '1'; -- marks a driver's transaction, see _ring
    end if;
    if v_rests then
        wait_ms := wf._rest(v_driver, v_wants, v_since, v_now);
    elsif not v_mine then
        kind := 'busy';
        wait_ms := wf._step_back(v_driver);
    else
        if v_work.due or v_work.dirty or v_second then
            perform wf._keep_up(p_driver, case when v_second then v_work.seen_at end,
                                case when v_work.due then v_since end, v_now);
        end if;
        if v_work.work or v_second and wf._has_chores(v_now) then
            kind := 'work';
            return next;
            if v_work.work and wf._has_much_work(v_now) then return next; end if;
            kind := 'next';
        end if;
        v_found := wf._find(v_driver, p_want, p_instant, p_kept, v_work.teardown, v_now);
        if v_found.place is not null then
            mark := coalesce(wf._mark(), wf._sign(p_driver));
            return query select c.* from wf._claim(p_driver, v_found.place, v_now) c;
        end if;
        -- a driver that did not get all that it wanted has left nothing in the lanes that it serves
        if v_found.more
           or v_found.others and (v_work.due or v_work.dirty or v_work.work or v_second or wf._has_made()) then
            perform wf._pass_on(p_driver, v_found.lane);
        end if;
        wait_ms := case when v_found.place is not null and not v_driver.idle then 0
                        when v_found.place is not null and v_found.more then wf._stay_awake(v_driver, v_second)
                        else least(wf._rest(v_driver, v_wants, v_since, v_now), v_found.again) end;
    end if;
    mark := coalesce(mark, wf._mark());
    return next;
    if v_second then perform wf._greet(p_driver, v_now); end if;
end;
$$;
comment on function wf.poll(bigint, int, int, jsonb) is
    'Hands a driver at most p_want requests, by priority and turn. If p_instant is given, at most that many requests '
    'that the driver answers at once by itself (transport builtin) come on top of these. If p_kept is given ({"ssh": '
    '1}), that many more requests of each of its transports come on top. Returns rows by kind. run is a request: '
    'instance, process, attempt, token, the instance''s trace id, request, whether it must be acknowledged before it '
    'is sent, transport, task type, arguments, where in them which secrets go, time limit in ms, the role that a SQL '
    'task runs as (null: the driver''s own SQL login), and the workflow if secrets go in. stop has the token of a '
    'request to stop. work says that the driver is to call wf.work; two rows say that two of its sessions may do that '
    'at a time. The last row is next (ms until the next poll, at the latest) or busy (others have all turns, so poll '
    'looked for nothing; ms until the next poll, about). It has the mark of what this transaction has done, if '
    'anything, for register.';

-- wf._glance(p_driver, p_since, p_now)
--
-- Reads everything that a poll must know first in one query. Most polls then find nothing
-- to do.
--
-- Returns  one row. driver: the driver's row, null if the number is unknown. seen_at:
--          when the driver was last heard of. due: whether a timer after p_since is due; before
--          and after: how many entries of the timers' index the session had read when
--          that question began and ended. stops: whether the driver is to stop requests.
--          dirty: whether a group has places to grant. work: whether wf.work has
--          something to do. teardown: whether anything is torn down. turns: how many
--          drivers work at a time
-- Locks    nothing
-- Raises   nothing
-- Called   by poll; it is inlined there
create or replace function wf._glance(p_driver bigint, p_since timestamptz, p_now timestamptz)
returns table (driver wf.driver, seen_at timestamptz, before bigint, due boolean, after bigint, stops boolean,
               dirty boolean, work boolean, teardown boolean, turns bigint)
language sql stable
begin atomic
    select (select d from wf.driver d where d.id = p_driver),
           (select s.seen_at from wf.sign_of_life s where s.driver_id = p_driver),
           pg_stat_get_xact_tuples_returned('wf.timer_due_idx'::regclass),
           exists (select from wf.timer t where t.due_at <= p_now and t.due_at > p_since),
           pg_stat_get_xact_tuples_returned('wf.timer_due_idx'::regclass),
           exists (select from wf.stop s where s.driver_id = p_driver),
           exists (select from wf.dirty),
           exists (select from wf.work w where w.due_at <= p_now and not w.aside),
           exists (select from wf.teardown),
           (select s.value::bigint from wf.setting s where s.name = 'turns');
end;

-- wf._refuse_wants()
--
-- Raises   WF002, always
-- Called   by poll, if a number of requests that a driver wants is not valid
create or replace function wf._refuse_wants() returns void
language plpgsql as $$
begin
    raise exception using errcode = 'WF002',
        message = 'p_want is null or negative, p_instant is negative, or p_kept holds something else than numbers '
                  'from 0 on',
        hint = 'Ask for 0 or more requests.';
end;
$$;

-- wf._step_back(p_driver)
--
-- Lets the other drivers work, since all turns are taken. The driver polls again by
-- itself, so nobody need ring for it.
--
-- Returns  milliseconds until it is this driver's turn, if each of the others has one before
-- Locks    the driver's row, if its flag is up
-- Raises   nothing
-- Called   by poll
create or replace function wf._step_back(p_driver wf.driver) returns int
language plpgsql as $$
begin
    if p_driver.idle then
        update wf.driver d set idle = false where d.id = p_driver.id;
    end if;
    if wf._has_made() then
        perform wf._pass_on(p_driver.id, null);
    end if;
    return 20 * greatest(1, (select count(*) from wf.driver d where d.state = 'live')
                            / wf._setting_number('turns'));
end;
$$;

-- wf._take_turns()
--
-- Waits for the polls that are at work, and lets none begin until the
-- transaction ends. A poll takes milliseconds; one that takes seconds hangs.
--
-- Returns  nothing
-- Locks    all turns, by number
-- Raises   WF004
-- Called   by wf.engine_pause and wf.register
create or replace function wf._take_turns() returns void
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '5 s' as $$
begin
    perform from wf.turn t order by t.id for no key update;
exception when lock_not_available then
    raise exception using errcode = 'WF004',
        message = 'the poll of a driver does not end; until then nobody knows which requests it hands out',
        detail = (select format('It is backend %s, of user %s.', a.pid, a.usename)
                    from wf.turn t
                    join pg_locks l on l.locktype = 'transactionid' and l.transactionid = t.xmax and l.granted
                    join pg_stat_activity a on a.pid = l.pid
                   where l.pid <> pg_backend_pid()
                   order by a.xact_start limit 1),
        hint = 'Try again, or end it with pg_terminate_backend(): the requests that it was about to hand out stay '
               'ready.';
end;
$$;

-- wf._stops(p_driver, p_now)
--
-- Tells a driver which requests to stop: each at once, and again every second until the
-- request has ended, since an answer may have been lost.
--
-- Returns  their tokens
-- Locks    the driver's rows of stop
-- Raises   nothing
-- Called   by poll, if there are any
create or replace function wf._stops(p_driver bigint, p_now timestamptz) returns table (token uuid)
language plpgsql as $$
begin
    delete from wf.stop s
     where s.driver_id = p_driver
       and not exists (select from wf.lease l
                        where l.instance_id = s.instance_id and l.process_id = s.process_id and l.token = s.token);
    return query
        update wf.stop s set told_at = p_now
         where s.driver_id = p_driver
           and (s.told_at between p_now - interval '1 second' and p_now) is not true
        returning s.token;
end;
$$;

-- wf._has_ready(p_driver)
--
-- Looks whether a request is ready for a driver that has slept. A request that the driver's
-- own report has just made ready may be for another driver: poll rings for that one. A look
-- at the heads of the lanes may take long. Therefore this looks behind the places that the
-- session remembers, while these are good (see _find). If that takes long, too, and finds
-- nothing, the session does not look again for as long as _look_rest says (wf.asked). When
-- that time is over, the driver polls again.
--
-- Returns  whether a request is ready that the driver may take, or may be
-- Locks    nothing
-- Raises   nothing
-- Called   by poll, for a driver whose flag is up
create or replace function wf._has_ready(p_driver wf.driver) returns boolean
language plpgsql as $$
declare
    v_now constant timestamptz := wf._now();
    v_places wf.place[]; -- null: the heads
    v_near boolean;
    v_rest numeric;
    v_cost numeric;
    v_found boolean;
begin
    if wf._has_made() then
        return true;
    end if;
    if nullif(current_setting('wf.asked', true), '')::timestamptz between v_now and v_now + interval '1 second' then
        return false;
    end if;
    if coalesce(current_setting('wf.from', true), '') <> '' then
        select r.places, r.near, r.rest into v_places, v_near, v_rest
          from wf._recall(p_driver.id, v_now) r;
        if v_places is null and v_rest > 0 then
            return true; -- _find looks at the heads, and notes what it has seen
        end if;
    end if;
    v_cost := wf._look_cost();
    v_found := exists (select
                         from wf.lane l
                         left join unnest(v_places) b on b.lane_id = l.id
                        where wf._serves(p_driver, l)
                          and exists (select from wf.ready r
                                       where r.lane_id = l.id
                                         and (r.rank, r.turn, r.instance_id, r.process_id)
                                             > (coalesce(b.rank, -32768), coalesce(b.turn, 0),
                                                coalesce(b.instance_id, 0), coalesce(b.process_id, 0))));
    v_cost := wf._look_cost() - v_cost;
    if v_found or v_cost <= 500 then
        return v_found;
    elsif v_places is null then
        return true; -- so that _find notes it, and the next polls need no such look
    elsif v_near then
        perform set_config('wf.from', jsonb_set(current_setting('wf.from')::jsonb, '{near}', 'false')::text, false);
    end if;
    perform set_config('wf.asked', (v_now + make_interval(secs => wf._look_rest(v_cost)))::text, false);
    return false;
end;
$$;

-- wf._keep_up(p_driver, p_seen_at, p_since, p_now)
--
-- Does what is due besides handing out requests: timers (those due after p_since; null:
-- none is due), places of groups, and once a second limits and the requests of lost drivers
-- (p_seen_at: when the driver was heard of before; null: not now). Each session looks at
-- long limits once a minute.
--
-- Returns  nothing
-- Locks    as _fire, _fire_limits, _sweep and _settle
-- Raises   nothing of its own
-- Called   by poll, if any of this is due
create or replace function wf._keep_up(p_driver bigint, p_seen_at timestamptz, p_since timestamptz,
                                       p_now timestamptz) returns void
language plpgsql as $$
declare
    -- the driver's first poll in this minute
    v_minute boolean := extract(epoch from p_seen_at)::bigint / 60 <> extract(epoch from p_now)::bigint / 60;
    v_now_minute constant text := extract(epoch from p_now)::bigint / 60;
begin
    if p_since is not null then
        perform wf._fire(p_since, p_now);
    end if;
    if p_seen_at is not null then
        -- a heartbeat may be the first sign of life in a minute, so the session notes this by itself
        if coalesce(current_setting('wf.minute', true), '') <> v_now_minute then
            perform set_config('wf.minute', v_now_minute, false), wf._set_long_limits(null, p_now);
        end if;
        if exists (select from wf.time_limit t where t.due_at <= p_now) or exists (select from wf.limit_begun) then
            perform wf._fire_limits(p_now);
        end if;
        perform wf._sweep(v_minute, p_driver);
        if v_minute then
            perform wf._forget_lanes();
            perform wf._forget_versions();
        end if;
    end if;
    if exists (select from wf.dirty) then
        perform wf._settle_safely(p_now);
    end if;
end;
$$;

-- wf._claim(p_driver, p_place, p_now)
--
-- Takes requests: their rows of ready are deleted, leases are inserted, and tasks that
-- are to be started move.
--
-- Returns  rows of kind run
-- Locks    nothing: the caller has locked the rows of ready
-- Raises   nothing of its own
-- Called   by poll, and by the simulator
create or replace function wf._claim(p_driver bigint, p_place tid[], p_now timestamptz)
returns table (kind text, instance_id bigint, process_id bigint, attempt int, token uuid, trace_id uuid, request text,
               needs_ack boolean, transport text, task_type text, args jsonb, secrets jsonb, timeout_ms bigint,
               wait_ms int, mark text, run_as text, workflow text)
language plpgsql as $$
#variable_conflict use_column
begin
    return query
    with claimed as (
        delete from wf.ready r where r.ctid = any (p_place)
        returning r.instance_id, r.process_id, r.request),
    started as (
        update wf.process p
           set was = p.state, event = 'start', state = 'START_REQUESTED', at = p_now, error = null,
               token = gen_random_uuid()
         where p.ctid = any (array(select k.ctid from claimed c
                                    cross join lateral (select x.ctid
                                                          from wf.process x
                                                         where x.instance_id = c.instance_id and x.id = c.process_id
                                                        offset 0) k
                                    where c.request = 'start'))
        returning p.instance_id, p.id, p.attempt, p.attempt as named, p.machine, p.version_id, p.node_id, p.rank,
                  p.began_at, p.input, p.handle, p.token, 'start' as request),
    taken as materialized (
        select s.* from started s
        union all
        -- a retry has its new number from the moment it is decided; the cleanup before it
        -- still names the former attempt
        select p.instance_id, p.id, p.attempt, p.attempt - (p.state = 'RETRY_CLEANUP_REQUESTED')::int, p.machine,
               p.version_id, p.node_id, p.rank, p.began_at, p.input, p.handle, gen_random_uuid(), c.request
          from claimed c
         cross join lateral (select x.id, x.instance_id, x.attempt, x.state, x.machine, x.version_id, x.node_id, x.rank,
                                    x.began_at, x.input, x.handle
                               from wf.process x where x.instance_id = c.instance_id and x.id = c.process_id offset 0) p
         where c.request <> 'start'),
    leased as (
        insert into wf.lease (instance_id, process_id, token, driver_id, request, at)
        select t.instance_id, t.id, t.token, p_driver, t.request, p_now from taken t)
    select 'run', t.instance_id, t.id, t.attempt, t.token, i.trace_id, t.request,
           t.machine = 'async' and t.request = 'start',
           case when r.result ? 'error' then 'builtin' else coalesce(q.transport, n.transport) end,
           n.task_type,
           case when r.result ? 'error' then (r.result -> 'error') || '{"op": "fail"}' else a.args end,
           case when r.result ? 'error' then null else n.secrets -> t.request end,
           case when a.args ? 'timeout' then wf._milliseconds(a.args ->> 'timeout') end,
           null::int, null,
           -- a function for what few requests need: each poll would pay for a sub-select
           case when coalesce(q.transport, n.transport) = 'sql' then wf._role_for(t.version_id) end,
           case when n.secrets ? t.request then wf._workflow_of(t.version_id) end
      from taken t
     cross join lateral (select x.trace_id from wf.instance x where x.id = t.instance_id offset 0) i
     cross join lateral (select x.task_type, x.type_id, x.transport, x.request, x.input, x.secrets
                           from wf.node x
                          where x.version_id = t.version_id and x.id = t.node_id
                         offset 0) n
      left join lateral (select x.type_id, x.transport, x.args, x.passes
                           from wf.task_request x
                          where (n.request is null or t.request <> 'start')
                            and x.type_id = n.type_id
                            and x.request = t.request
                         offset 0) q on true
     cross join lateral (select case when q.type_id is not null and not (q.passes and t.request = 'start')
                                     then wf._request_value(q.args, coalesce(t.input, n.input, '{}'), t.handle,
                                                            i.trace_id, t.id, t.named) end as result
                         offset 0) r
     cross join lateral (select case when r.result is not null then r.result -> 'value'
                                     when q.type_id is not null then coalesce(t.input, n.input)
                                     else n.request end as args) a
     order by t.rank, t.began_at;
end;
$$;

-- wf._role_for(p_version)
--
-- Returns  the role as which the SQL tasks of a version run; null if the driver's own login does that
-- Locks    nothing
-- Raises   nothing
-- Called   by _claim
create or replace function wf._role_for(p_version bigint) returns text
language plpgsql stable as $$
begin
    return (select g.role
              from wf.version v
              join wf.workflow w on w.id = v.workflow_id
              join wf.sql_grant g on g.workflow = w.name and g.role = v.sql_role
             where v.id = p_version);
end;
$$;

-- wf._workflow_of(p_version)
--
-- Returns  the name of the workflow that has this version
-- Locks    nothing
-- Raises   nothing
-- Called   by _claim
create or replace function wf._workflow_of(p_version bigint) returns text
language plpgsql stable as $$
begin
    return (select w.name from wf.version v join wf.workflow w on w.id = v.workflow_id where v.id = p_version);
end;
$$;

-- wf._request_value(p_args, p_input, p_handle, p_trace, p_process, p_attempt)
--
-- Evaluates the arguments of a request. They read the arguments of its task, its handle, and
-- `instance`. `instance.attempt` names one attempt of one task: the name is the same in all
-- requests of the attempt, and names nothing else anywhere, in no other workspace either.
--
-- Returns  as _evaluate; an error says where it is
-- Locks    nothing
-- Raises   as _evaluate
-- Called   by _claim
create or replace function wf._request_value(p_args jsonb, p_input jsonb, p_handle jsonb, p_trace uuid,
                                             p_process bigint, p_attempt int) returns jsonb
language plpgsql stable as $$
declare
    v_names jsonb := p_input || jsonb_build_object('handle', p_handle);
    v_result jsonb;
begin
    if strpos(p_args::text, '["instance", ') > 0 then
        v_names := v_names || jsonb_build_object('instance', jsonb_build_object(
                       'attempt', format('%s-%s-%s', p_trace, p_process, p_attempt)));
    end if;
    v_result := wf._evaluate(p_args, v_names);
    if v_result ? 'error' then
        return jsonb_build_object('error', wf._blame(v_result -> 'error', p_args, v_names, null, 'request'));
    end if;
    return v_result;
end;
$$;

-- wf._interval_milliseconds(p_interval)
--
-- Returns  an interval in milliseconds; null if the text is not an interval
-- Locks    nothing
-- Raises   nothing
-- Called   by _milliseconds
create or replace function wf._interval_milliseconds(p_interval text) returns bigint
language plpgsql immutable as $$
begin
    return (extract(epoch from p_interval::interval) * 1000)::bigint;
exception when data_exception then
    return null;
end;
$$;

-- wf._milliseconds(p_duration)
--
-- Most durations are whole seconds. These need no function call, no pattern and no
-- subtransaction, since this function is inlined.
--
-- Returns  a duration in milliseconds; null if p_duration is null or is not an interval
-- Locks    nothing
-- Raises   nothing
-- Called   by _claim
create or replace function wf._milliseconds(p_duration text) returns bigint
language sql immutable
begin atomic
    select case when p_duration like 'PT_%S' and length(p_duration) <= 12
                     and translate(p_duration, '0123456789', '') = 'PTS'
                then substr(p_duration, 3, length(p_duration) - 3)::bigint * 1000
                else wf._interval_milliseconds(p_duration) end;
end;

-- wf._stay_awake(p_driver, p_second)
--
-- A driver whose flag (idle) is up has taken all that it wanted. There may be more, so it
-- polls again at once, and nobody need ring for it. Its flag comes down at most once a
-- second. A driver that takes the little that there is keeps its flag up. Otherwise most
-- flags would be rewritten twice a task, and while a transaction stays open each poll reads
-- all the versions of its driver's row.
--
-- Returns  milliseconds until it polls again: 0
-- Locks    the driver's row, when the flag changes
-- Raises   nothing
-- Called   by poll
create or replace function wf._stay_awake(p_driver wf.driver, p_second boolean) returns int
language plpgsql as $$
begin
    if p_second then
        update wf.driver d set idle = false where d.id = p_driver.id;
    end if;
    return 0;
end;
$$;

-- wf._rest(p_driver, p_wants, p_since, p_now)
--
-- Says how long a driver may sleep. A driver that found nothing raises its flag (idle) and
-- polls once more before it sleeps. So a transaction that made something ready meanwhile
-- either saw the flag, or is seen by that poll. A driver whose slots are all taken raises no
-- flag: it would be rung for requests that it can't take. A driver whose flag is up sleeps
-- at once, also if it has just taken all that there was. It sleeps until a timer or work is
-- due, or until _has_ready looks again (wf.asked).
--
-- Returns  milliseconds, 0 to 1000
-- Locks    the driver's row, when the flag changes
-- Raises   nothing
-- Called   by poll
create or replace function wf._rest(p_driver wf.driver, p_wants boolean, p_since timestamptz, p_now timestamptz)
returns int
language plpgsql as $$
declare
    v_due timestamptz;
begin
    if p_wants is not true then
        return 1000;
    end if;
    if not p_driver.idle and p_driver.state = 'live' then
        update wf.driver d set idle = true where d.id = p_driver.id;
        return 0;
    end if;
    -- not min(): a plan that was made when the table was empty would go through all of its rows
    select least((select t.due_at from wf.timer t where t.due_at > p_since order by t.due_at limit 1),
                 (select w.due_at from wf.work w where not w.aside order by w.due_at limit 1)) into v_due;
    v_due := least(v_due, p_now + interval '1 second',
                   nullif(greatest(nullif(current_setting('wf.asked', true), '')::timestamptz, p_now), p_now));
    return greatest(1, ceil(extract(epoch from v_due - p_now) * 1000))::int;
end;
$$;
