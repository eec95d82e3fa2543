-- These functions check who may start which workflow, how often, how many at a time and
-- how urgently. Administrators set grants and quotas in outside/quota.sql. The head of that
-- file says how they count.
--
-- A start by a session is checked for its login. A start by an instance is checked for the
-- login that started this instance, or the topmost instance above it.

-- wf._is_member(p_role, p_login)
--
-- Returns  whether the login is that role, or a member of it; false if there is no such role or login
-- Locks    nothing
-- Raises   nothing
-- Called   wherever a grant or a quota is for a role
create or replace function wf._is_member(p_role text, p_login text default session_user) returns boolean
language sql stable
begin atomic
    select coalesce(pg_has_role(to_regrole(quote_ident(p_login)), to_regrole(quote_ident(p_role)), 'member'), false);
end;

-- wf._may_start(p_workflow, p_login)
--
-- Returns  whether a login has a grant for a workflow
-- Locks    nothing
-- Raises   nothing
-- Called   by _check_workflow_grant and _may_see
create or replace function wf._may_start(p_workflow text, p_login text) returns boolean
language plpgsql stable as $$
begin
    -- one after the other: an expression is made ready as a whole, also where it ends before its last part
    perform from wf.workflow_grant g
     where (g.workflows is null or p_workflow = any (g.workflows)) and wf._is_member(g.role, p_login)
     limit 1;
    if found then return true; end if;
    return wf._is_member('wf_owner', p_login);
end;
$$;

-- wf._check_workflow_grant(p_workflow, p_login)
--
-- This check comes before any message about the workflow: a login without a grant does not
-- even learn whether the workflow exists.
--
-- Returns  true if the login may start the workflow
-- Locks    nothing
-- Raises   WF008
-- Called   wherever a login starts something: by _start, start_many, _start_children, _check_signal, and for schedules
create or replace function wf._check_workflow_grant(p_workflow text, p_login text default session_user) returns boolean
language plpgsql stable as $$
begin
    if not wf._may_start(p_workflow, p_login) then
        raise exception using errcode = 'WF008',
            message = format('login %s may not start workflow %s: none of its roles has a grant for it',
                             quote_ident(p_login), coalesce(left(p_workflow, 100), 'null')),
            hint = 'An administrator lists the grants with wf-console workflow grants, and grants it with wf-console '
                   'workflow grant ROLE WORKFLOWS.';
    end if;
    return true;
end;
$$;

-- wf._hold_quota(p_priority, p_login, p_any)
--
-- Checks the priority of a start, and waits for its turn where a quota counts it. p_any says
-- whether any role has a quota: mostly none has one, and a start need not ask.
--
-- Returns  the roles whose quotas count the starts of the login; empty if its quotas only limit the size of an
--          instance; null if it has no quota of either kind
-- Locks    the rows of these quotas, in the order of their roles
-- Raises   WF002 if p_priority is no priority, WF008 if it is higher than the login may give
-- Called   by _start and _start_all, before they lock anything else that another start may wait for, and by
--          _set_schedule
create or replace function wf._hold_quota(p_priority int, p_login text, p_any boolean) returns text[]
language plpgsql as $$
declare
    v_top wf.quota;
begin
    if p_priority is null or p_priority not between -1000 and 1000 then
        raise exception using errcode = 'WF002',
            message = format('priority is %s', coalesce(p_priority::text, 'null')),
            hint = 'Give a number from -1000 to 1000, higher first.';
    end if;
    if not p_any then return null; end if;
    if wf._is_member('wf_owner', p_login) then return null; end if;
    select q.* into v_top from wf.quota q
     where q.priority < p_priority and wf._is_member(q.role, p_login) order by q.priority, q.role limit 1;
    if found then
        raise exception using errcode = 'WF008',
            message = format('login %s may not start an instance with priority %s: the quota of role %s allows at most '
                             '%s', quote_ident(p_login), p_priority, quote_ident(v_top.role), v_top.priority),
            hint = format('Give a priority of at most %s, or ask an administrator for more: wf-console quotas lists '
                          'the quotas.', v_top.priority);
    end if;
    return (select coalesce(array_agg(h.role), case when wf._quota_processes(p_login) is not null then '{}'::text[] end)
              from (select q.role from wf.quota q
                     where coalesce(q.per_minute, q.running) is not null and wf._is_member(q.role, p_login)
                     order by q.role for no key update) h);
end;
$$;

-- wf._quota_processes(p_login)
--
-- Returns  how many processes an instance may have that the login starts; null: its quotas do not limit them
-- Locks    nothing
-- Raises   nothing
-- Called   by _hold_quota and _spend_quota
create or replace function wf._quota_processes(p_login text) returns int
language sql stable
begin atomic
    select min(q.processes) from wf.quota q where q.processes is not null and wf._is_member(q.role, p_login);
end;

-- wf._refuse_spent(p_role, p_login, p_count, p_left, p_what, p_hint)
--
-- Returns  nothing
-- Locks    nothing
-- Raises   WF016
-- Called   by _spend_quota
create or replace function wf._refuse_spent(p_role text, p_login text, p_count int, p_left bigint, p_what text,
                                            p_hint text) returns void
language plpgsql as $$
begin
    raise exception using errcode = 'WF016',
        message = format('the quota of role %s is %s: %s left, %s asked for by login %s', quote_ident(p_role), p_what,
                         greatest(p_left, 0), p_count, quote_ident(p_login)),
        hint = p_hint || ', or ask an administrator for more: wf-console quotas lists the quotas and their use.';
end;
$$;

-- wf._spend_quota(p_roles, p_version, p_instance, p_login)
--
-- Counts new instances against quotas that _hold_quota has locked, and writes down how
-- many processes each of them may come to.
--
-- Returns  nothing
-- Locks    nothing new
-- Raises   WF016 if a quota has fewer starts left, or if the quotas allow no instance of this size
-- Called   by _start and _start_all
create or replace function wf._spend_quota(p_roles text[], p_version bigint, p_instance bigint[],
                                           p_login text) returns void
language plpgsql as $$
declare
    v_count constant int := cardinality(p_instance);
    v_minute constant timestamptz := date_trunc('minute', clock_timestamp());
    v_quota wf.quota;
    v_running bigint;
    v_processes constant int := wf._quota_processes(p_login);
    v_most bigint;
begin
    for v_quota in select q.* from wf.quota q where q.role = any (p_roles) order by q.role loop
        if v_quota.minute_at is distinct from v_minute then
            v_quota.started := 0;
        end if;
        if v_quota.started + v_count > v_quota.per_minute then
            perform wf._refuse_spent(v_quota.role, p_login, v_count, v_quota.per_minute - v_quota.started,
                                     format('%s a minute', v_quota.per_minute), 'Wait for the next minute');
        end if;
        update wf.quota q set minute_at = v_minute, started = v_quota.started + v_count where q.role = v_quota.role;
        continue when v_quota.running is null;
        select count(*) into v_running from wf.quota_instance c where c.role = v_quota.role;
        if v_running + v_count > v_quota.running then
            delete from wf.quota_instance c
             where c.role = v_quota.role
               and not exists (select from wf.instance i where i.id = c.instance_id and i.ended_at is null);
            select count(*) into v_running from wf.quota_instance c where c.role = v_quota.role;
        end if;
        if v_running + v_count > v_quota.running then
            perform wf._refuse_spent(v_quota.role, p_login, v_count, v_quota.running - v_running,
                                     format('%s under way at a time', v_quota.running), 'Wait until some have ended');
        end if;
        insert into wf.quota_instance (role, instance_id) select v_quota.role, u.id from unnest(p_instance) u (id);
    end loop;
    if v_processes is not null then
        -- a tree without foralls and loops has no sum in most: each of its nodes begins at most once
        select coalesce(max(n.most) filter (where n.id = 1), count(*)) into v_most
          from wf.node n where n.version_id = p_version;
        if v_most > v_processes then
            raise exception using errcode = 'WF016',
                message = format('an instance of this workflow comes to %s processes, and the quotas of login %s allow '
                                 '%s', v_most, quote_ident(p_login), v_processes),
                hint = 'Start a smaller one, or ask an administrator for more: wf-console quotas lists the quotas.';
        end if;
        insert into wf.extent (instance_id, quota) select u.id, v_processes from unnest(p_instance) u (id);
    end if;
end;
$$;
