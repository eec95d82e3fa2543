-- SQL tasks: their effects, their outcome and the enabling of their successors commit
-- in one transaction, on the connection of the role that the task runs as:
-- begin; sql_begin; the statement; sql_outcome; commit.

-- wf.sql_begin(p_instance, p_process, p_token)
--
-- Begins the transaction of a SQL task. The transaction locks the lease until its end, so
-- nobody takes the request back meanwhile. The lease can still go over to the driver's next
-- incarnation, however long the statement takes. This checks that the session has the login
-- that the task is to run as: it does not trust the driver.
--
-- Returns  nothing
-- Locks    the lease
-- Raises   WF006, WF008, WF009
-- Called   by a driver, as the role that the task runs as
create or replace function wf.sql_begin(p_instance bigint, p_process bigint, p_token uuid) returns void
language plpgsql security definer :engine as $$
declare
    v_workflow text;
    v_role text;
begin
    perform wf._gate(true);
    select w.name, g.role into v_workflow, v_role
      from wf.lease l
      join wf.process p on p.instance_id = l.instance_id and p.id = l.process_id
      join wf.version v on v.id = p.version_id
      join wf.workflow w on w.id = v.workflow_id
      left join wf.sql_grant g on g.workflow = w.name and g.role = v.sql_role
     where l.instance_id = p_instance and l.process_id = p_process and l.token = p_token for key share of l;
    if not found then
        raise exception using errcode = 'WF009',
            message = format('the request of process %s/%s was taken back', p_instance, p_process),
            hint = 'Roll back; whoever holds the request now carries on.';
    end if;
    perform wf._refuse_sql_login(v_workflow, v_role);
end;
$$;
comment on function wf.sql_begin(bigint, bigint, uuid) is
    'Begins the transaction of a SQL task, given instance, process and token. Returns nothing; raises WF009 if the '
    'request was taken back, WF008 if the workflow''s SQL tasks do not run as the login of this session.';

-- wf.sql_too_large(p_limit, p_together)
--
-- Ends a query whose rows take more room than the driver keeps. The driver puts a query
-- around the statement. That query calls this at the first row that is too much. The
-- function is volatile, or the planner would call it, and safe for parallel plans.
--
-- Returns  never
-- Locks    nothing
-- Raises   WF012
-- Called   by the query that a driver puts around the statement of a SQL task
create or replace function wf.sql_too_large(p_limit bigint, p_together boolean default false) returns boolean
language plpgsql volatile parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_error jsonb := jsonb_build_object(
        'kind', 'output',
        'message', format('%s take more than %s bytes',
                          case when p_together then 'the rows of this statement and of those before it'
                               else 'the statement''s rows' end, p_limit));
begin
    raise exception using errcode = 'WF012', message = v_error ->> 'message', detail = v_error::text,
        hint = 'Select less, or raise sql_max_rows_bytes in the driver''s configuration.';
end;
$$;
comment on function wf.sql_too_large(bigint, boolean) is
    'Ends a query whose rows, or those of an atomic''s statements together, take more bytes than the limit given. '
    'Returns never; raises WF012 with an error of kind output.';

-- wf._refuse_role_change()
--
-- Refuses a SQL task that changes a role. A role may change its own password and settings,
-- and then all tasks that run as the role would have these. Such a statement keeps a lock
-- until its transaction ends. A role that may create roles is not refused. The counters cost
-- little, and say for nearly every task that there is no such lock to look for. They also
-- count what this session did a moment ago and what was rolled back.
--
-- Returns  nothing, if this transaction has changed no role, nor the settings or members of one
-- Locks    nothing
-- Raises   WF008
-- Called   by sql_outcome
create or replace function wf._refuse_role_change() returns void
language plpgsql stable as $$
declare
    c_catalogs constant oid[] := '{pg_authid,pg_db_role_setting,pg_auth_members}'::regclass[];
begin
    if current_setting('track_counts')::boolean
       and not exists (select from unnest(c_catalogs) c (id)
                        where pg_stat_get_xact_tuples_inserted(c.id) + pg_stat_get_xact_tuples_updated(c.id)
                              + pg_stat_get_xact_tuples_deleted(c.id) > 0) then
        return;
    end if;
    if exists (select from pg_locks l
                where l.pid = pg_backend_pid() and l.locktype = 'relation' and l.database = 0
                  and l.relation = any (c_catalogs) and l.mode = 'RowExclusiveLock')
       and not (select r.rolsuper or r.rolcreaterole from pg_roles r where r.rolname = session_user) then
        raise exception using errcode = 'WF008',
            message = format('a SQL task that runs as role %s may not change a role, its settings or its members',
                             quote_ident(session_user)),
            hint = 'Nothing of the task was done: others run as the same role. Have a DBA make the change.';
    end if;
end;
$$;

-- wf.sql_outcome(p_instance, p_process, p_token, p_body)
--
-- Reports the response of a SQL task inside its own transaction. If the response cannot be
-- applied, or means that the task failed, this raises an error, so that the task's effects
-- roll back. It never answers busy if somebody holds the instance, since the effects would
-- be lost: it waits, as long as the statement may take.
--
-- Returns  nothing
-- Locks    the instance (as _wait_for); the lease; then as _apply_reports
-- Raises   WF006, WF008, WF009, WF012, and what a response that cannot be stored raises
-- Called   by a driver, as the role that the task runs as
create or replace function wf.sql_outcome(p_instance bigint, p_process bigint, p_token uuid, p_body bytea) returns void
language plpgsql security definer :engine as $$
declare
    v_driver bigint;
    v_error jsonb;
begin
    perform wf._gate(true);
    perform wf._refuse_role_change();
    perform wf._wait_for(p_instance);
    select l.driver_id into v_driver
      from wf.lease l
     where l.instance_id = p_instance and l.process_id = p_process and l.token = p_token for no key update;
    if v_driver is null
       or wf._apply_reports(v_driver, array[p_instance], array[p_process], array[p_token], array['response'],
                            array[p_body]) <> array['done'] then
        raise exception using errcode = 'WF009',
            message = format('the request of process %s/%s was taken back', p_instance, p_process),
            hint = 'Roll back; whoever holds the request now carries on.';
    end if;
    -- the error, not the state: a task that its policy tries again is INIT by now, and
    -- keeps the error of the attempt; a success leaves no error
    select p.error into v_error from wf.process p where p.instance_id = p_instance and p.id = p_process;
    if v_error is not null then
        raise exception using errcode = 'WF012',
            message = coalesce(v_error ->> 'message', 'the task failed'),
            detail = v_error::text,
            hint = 'Roll back, then report the failure.';
    end if;
end;
$$;
comment on function wf.sql_outcome(bigint, bigint, uuid, bytea) is
    'Reports the response of a SQL task inside its own transaction: instance, process, token, JSON bytes. Returns '
    'nothing; raises WF009 if the request was taken back, WF012 if the response means that the task failed, WF008 if '
    'the task has changed a role, its settings or its members and its login may not create roles. After it the driver '
    'makes the transaction read-only, so that nothing that runs at the commit changes anything.';

-- wf._wait_for(p_instance)
--
-- Waits for an instance in slices, each under a savepoint. So the work of the task is not
-- rolled back only because the session's lock_timeout is shorter than the time for which
-- somebody holds the instance. A slice is longer than
-- deadlock_timeout, so that the server finds a deadlock within it.
--
-- Returns  nothing
-- Locks    the instance
-- Raises   57014 when the statement takes longer than it may
-- Called   by sql_outcome
create or replace function wf._wait_for(p_instance bigint) returns void
language plpgsql as $$
declare
    c_slice constant text := '5s';
    v_timeout text := current_setting('lock_timeout');
begin
    perform 1 from wf.instance i where i.id = p_instance for no key update skip locked;
    while not found and exists (select from wf.instance i where i.id = p_instance) loop
        begin
            perform set_config('lock_timeout', c_slice, true);
            perform 1 from wf.instance i where i.id = p_instance for no key update;
            perform set_config('lock_timeout', v_timeout, true);
            return;
        exception when lock_not_available then
            perform 1 from wf.instance i where i.id = p_instance for no key update skip locked;
        end;
    end loop;
end;
$$;

-- wf.token_status(p_instance, p_process, p_token)
--
-- Says what became of a request after a connection was lost around a commit. A standby may
-- not have the commit yet, so it does not answer.
--
-- Returns  open (still with the driver), done (its outcome is known) or stale
-- Locks    nothing
-- Raises   25006
-- Called   by a driver
create or replace function wf.token_status(p_instance bigint, p_process bigint, p_token uuid) returns text
language plpgsql stable security definer :engine as $$
begin
    if current_setting('transaction_read_only')::boolean then
        raise exception using errcode = 'read_only_sql_transaction',
            message = 'this server is read-only: it may not know yet what became of the request',
            hint = 'Ask the primary.';
    end if;
    if exists (select
                 from wf.lease l
                where l.instance_id = p_instance and l.process_id = p_process and l.token = p_token) then
        return 'open';
    end if;
    if exists (select
                 from wf.process p
                where p.instance_id = p_instance and p.id = p_process and p.token = p_token) then
        return 'done';
    end if;
    return 'stale';
end;
$$;
comment on function wf.token_status(bigint, bigint, uuid) is
    'What became of a request: open (still with the driver), done (its outcome is known) or stale (taken back).';
