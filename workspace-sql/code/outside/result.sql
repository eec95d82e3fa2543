-- How an instance has ended, for the application that has started it: the application can
-- look, wait, or ask for a notification.

-- wf._check_seen(p_instance)
--
-- Returns  nothing, if the login may see how an instance ends: it may start its workflow, or reads the views
-- Locks    nothing
-- Raises   WF003; also, with the same message, if there is no such instance
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
    'How an instance is, or has ended: state; and result (success, warning, error, aborted), output, error ({kind, '
    'message, detail, cause}) and ended_at, which are null until it has ended. For logins that may start its workflow, '
    'and for viewers. Raises WF003 if there is no such instance or the login may not see it.';

-- wf.wait(p_instance, p_timeout, state, result, output, error)
--
-- It looks again and again, first after 10 ms, in the end each second, and commits in
-- between: a transaction that stayed open would keep rows that others have deleted, and
-- would not see what others commit. So it runs with the rights of its caller, outside of a
-- transaction, and without a search path of its own, with which it could not commit.
-- Therefore the operands of each operator here have exactly its types, so that PostgreSQL
-- prefers the operator of pg_catalog. Applications that cannot call it so listen
-- (notify_end). A pause has a snapshot, too, so it lasts at most a second.
--
-- SQL cannot tell whether a transaction was begun with BEGIN: with the extended protocol
-- statement_timestamp() is always later than transaction_timestamp(). So PostgreSQL itself
-- refuses the first commit, as an invalid transaction termination.
--
-- Returns  as result; all but state are null if the time is over and the instance has not ended
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
-- The request is a row of work, done where the instance is held. Then either the instance has
-- ended, or the transaction that ends it sees the request.
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
    'Asks for a notification on channel wf_end, with the number of the instance, when it has ended; at once if it has '
    'ended already. Listen first, then ask, and read wf.result when the notification comes. Returns nothing; raises '
    'WF003 as wf.result.';
