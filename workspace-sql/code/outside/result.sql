-- How an instance has ended, for the application that has started it: it can look, wait,
-- or ask for a notification.

-- wf._check_seen(p_instance)
--
-- Returns  nothing, if the login may see how an instance ends: it may start its workflow, or reads the views
-- Locks    nothing
-- Raises   WF003, the same for an instance that there is not
-- Called   by result and notify_end
create or replace function wf._check_seen(p_instance bigint) returns void
language plpgsql stable as $$
begin
    if not exists (select from wf.instance i join wf.workflow w on w.id = i.workflow_id
                    where i.id = p_instance and wf._may_see(session_user, w.name)) then
        raise exception using errcode = 'WF003',
            message = format('there is no instance %s, or login %s may not see it', coalesce(p_instance::text, 'null'),
                             quote_ident(session_user)),
            hint = 'Give the number that start has returned.';
    end if;
end;
$$;

-- wf.result(p_instance)
--
-- Returns  one row: how an instance is, or has ended
-- Locks    nothing
-- Raises   WF003
-- Called   by applications, and wf.wait
create or replace function wf.result(p_instance bigint)
returns table (state text, result text, output jsonb, error jsonb, ended_at timestamptz)
language plpgsql stable security definer :engine as $$
begin
    perform wf._check_seen(p_instance);
    return query
        select i.state, i.result, i.output, i.error, i.ended_at from wf.instance i where i.id = p_instance;
end;
$$;
comment on function wf.result(bigint) is
    'How an instance is, or has ended: state, and from its end on result (success, warning, error, aborted), output, '
    'error ({kind, message, detail, cause}) and ended_at; null before. For whoever may start its workflow, and for '
    'viewers. Raises WF003 if there is no such instance or the login may not see it.';

-- wf.wait(p_instance, p_timeout, state, result, output, error)
--
-- It looks again and again, from each 10 ms to each second, and commits in between: a
-- transaction that stayed open would keep what others have deleted, and would not see
-- what others commit. So it runs with the rights of its caller, not inside of a
-- transaction, and without a search path of its own, with which it could not commit:
-- the operands of each operator here have exactly its types, so that pg_catalog's comes
-- first. Whoever cannot do that listens (notify_end). A pause has a snapshot, too: it
-- lasts at most a second.
--
-- Nothing in SQL says whether a transaction was begun with BEGIN: with the extended
-- protocol statement_timestamp() is always later than transaction_timestamp(). So it is
-- PostgreSQL that refuses the first commit, as an invalid transaction termination.
--
-- Returns  as result: null if the time is over and the instance has not ended
-- Locks    nothing
-- Raises   WF002, WF003, 2D000
-- Called   by applications
create or replace procedure wf.wait(
    p_instance bigint, p_timeout interval default '1 minute', inout state text default null,
    inout result text default null, inout output jsonb default null, inout error jsonb default null)
language plpgsql as $$
declare
    v_until constant timestamptz := clock_timestamp() + p_timeout;
    v_pause double precision := 0.01;
begin
    if (p_timeout between interval '0' and interval '1 day') is not true then
        raise exception using errcode = 'WF002',
            message = format('wf.wait cannot wait for %s', coalesce(p_timeout::text, 'null')),
            hint = 'Give an interval from 0 to 1 day.';
    end if;
    commit; -- which PostgreSQL refuses inside of a transaction
    loop
        select r.state, r.result, r.output, r.error into state, result, output, error from wf.result(p_instance) r;
        exit when state in ('END', 'ABORTED') or clock_timestamp() >= v_until;
        commit;
        perform pg_sleep(least(v_pause, extract(epoch from v_until - clock_timestamp())::double precision));
        v_pause := least(1::double precision, v_pause * 1.2::double precision);
    end loop;
end;
$$;
comment on procedure wf.wait(bigint, interval, text, text, jsonb, jsonb) is
    'Waits until an instance has ended, at most p_timeout: call wf.wait(17, ''10 s''). Returns state, result, output '
    'and error as wf.result does; state says whether it has ended. Call it outside of a transaction: it commits while '
    'it waits. Raises WF002 for a timeout that is not from 0 to 1 day, WF003 as wf.result, 2D000 inside of a '
    'transaction.';

-- wf.notify_end(p_instance)
--
-- The request is work, done where the instance is held: then the instance has ended, or
-- whoever ends it sees the request.
--
-- Returns  nothing
-- Locks    nothing, it only inserts
-- Raises   WF003
-- Called   by applications
create or replace function wf.notify_end(p_instance bigint) returns void
language plpgsql security definer :engine as $$
begin
    perform wf._gate(false);
    perform wf._check_seen(p_instance);
    insert into wf.work (kind, instance_id, item_id, due_at) values ('listen', p_instance, 0, wf._now());
    perform wf._ring();
end;
$$;
comment on function wf.notify_end(bigint) is
    'Asks for a notification on channel wf_end, with the number of the instance, when it has ended; at once if it has. '
    'Listen first, then ask, and read wf.result when the notification comes. Returns nothing; raises WF003 as '
    'wf.result.';
