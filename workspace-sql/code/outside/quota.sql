-- Who may start which workflow, how often, how many at a time and how urgently.
--
-- Grants and quotas apply to the login of a session, whatever role it has SET ROLE to. If an
-- instance starts another one, the login that started the first instance counts (flow/quota.sql
-- has the checks). A login has the grants of all roles that it is a member of, added up. The
-- quotas of all these roles bind it: the lowest limit counts. A superuser and a member of
-- wf_owner may change every table here, so neither grants nor quotas apply to them.
--
-- Without a quota a start only looks into an empty table. With one, starts of a role take
-- turns: the second start waits until the first one's transaction has ended, because only then
-- it can see how much is left. A start that waits holds no lock that the first one may want.

comment on table wf.workflow_grant is
    'Which workflows the members of a role may start. After an installation wf_app and wf_author may start all.';
comment on column wf.workflow_grant.role is 'the login, or a role that logins are members of';
comment on column wf.workflow_grant.workflows is 'the workflows that they may start; null: every workflow';
comment on column wf.workflow_grant.granted_at is 'when it was granted';
comment on column wf.workflow_grant.granted_by is 'who granted it';

comment on table wf.quota is
    'How much all members of a role together may start. A start locks the row if per_minute or running has a limit.';
comment on column wf.quota.role is 'the login, or a role that logins are members of';
comment on column wf.quota.per_minute is
    'how many instances they may start from one full minute of the server''s clock to the next, so at most twice as '
    'many in any 60 seconds; null: no limit';
comment on column wf.quota.running is 'how many instances that they have started may be under way; null: no limit';
comment on column wf.quota.priority is 'the highest priority that they may give an instance; null: no limit';
comment on column wf.quota.processes is
    'how many processes an instance that they start may come to; null: only the setting instance_processes counts';
comment on column wf.quota.minute_at is 'the minute of the last start; null before the first start';
comment on column wf.quota.started is 'how many instances were started in that minute';
comment on column wf.quota.set_at is 'when it was set';
comment on column wf.quota.set_by is 'who set it';

comment on table wf.quota_instance is
    'The instances that count for the limit running of a quota. The row of an instance that has ended stays until its '
    'place is needed: there are never more rows than the limit was.';
comment on column wf.quota_instance.role is 'the role that has the quota';
comment on column wf.quota_instance.instance_id is 'the instance';

-- wf._check_role(p_role)
--
-- Returns  nothing
-- Locks    nothing
-- Raises   WF003 if there is no such role
-- Called   by workflow_grant_set and quota_set
create or replace function wf._check_role(p_role text) returns void
language plpgsql stable as $$
begin
    if not exists (select from pg_roles r where r.rolname = p_role) then
        raise exception using errcode = 'WF003',
            message = format('there is no role %s', coalesce(quote_literal(left(p_role, 100)), 'null')),
            hint = 'Give the name of a login, or of a role that logins are members of.';
    end if;
end;
$$;

-- wf.workflow_grant_set(p_role, p_workflows, p_reason)
--
-- Returns  nothing
-- Locks    the gate, the row of the grant; no start waits for it
-- Raises   WF002, WF003 if there is no such role
-- Called   by administrators
create or replace function wf.workflow_grant_set(p_role text, p_workflows text[], p_reason text default null)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform wf._gate(false);
    perform wf._check_reason('workflow grant', p_reason, wf._setting_number('reason_required') = 1);
    perform wf._check_role(p_role);
    if cardinality(p_workflows) not between 1 and 10000
       or exists (select from unnest(p_workflows) w (name)
                   where coalesce(octet_length(w.name), 0) not between 1 and 255) then
        raise exception using errcode = 'WF002',
            message = 'the workflows of a grant are 1 to 10,000 names of 1 to 255 bytes',
            hint = 'Null means every workflow; wf.workflow_grant_remove takes a grant back.';
    end if;
    insert into wf.workflow_grant (role, workflows, granted_at, granted_by)
    values (p_role, (select array_agg(distinct w.name collate "C") from unnest(p_workflows) w (name)), wf.now(),
            wf._actor())
        on conflict (role) do update
       set workflows = excluded.workflows, granted_at = excluded.granted_at, granted_by = excluded.granted_by;
    perform wf._audit('workflow grant', jsonb_build_object('role', p_role, 'workflows', p_workflows), p_reason);
end;
$$;
comment on function wf.workflow_grant_set(text, text[], text) is
    'Lets a login, or all logins that are members of a role, start these workflows; null means every workflow. The '
    'new grant takes the place of the one that the role had. A workflow need not be installed yet. The grant counts '
    'from the next start on. Returns nothing; raises WF002 for a name that no workflow can have, WF003 if there is no '
    'such role.';

-- wf.workflow_grant_remove(p_role, p_reason)
--
-- Returns  nothing
-- Locks    the gate, the row of the grant
-- Raises   WF002, WF003 if the role has no grant
-- Called   by administrators; also for a role that was dropped
create or replace function wf.workflow_grant_remove(p_role text, p_reason text default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform wf._gate(false);
    perform wf._check_reason('workflow revoke', p_reason, wf._setting_number('reason_required') = 1);
    delete from wf.workflow_grant g where g.role = p_role;
    if not found then
        raise exception using errcode = 'WF003',
            message = format('role %s has no grant', coalesce(quote_literal(left(p_role, 100)), 'null')),
            hint = 'List them: wf-console workflow grants.';
    end if;
    perform wf._audit('workflow revoke', jsonb_build_object('role', p_role), p_reason);
end;
$$;
comment on function wf.workflow_grant_remove(text, text) is
    'Takes back the grant of a role to start workflows. Returns nothing; raises WF003 if the role has no grant.';

create or replace view wf.workflow_grant_v with (security_barrier = true) as
select g.role, g.workflows, g.granted_at, g.granted_by
  from wf.workflow_grant g;
comment on view wf.workflow_grant_v is 'Which roles may start which workflows.';
select wf._inherit_comments('workflow_grant_v', 'workflow_grant') \gset

-- wf.quota_set(p_role, p_per_minute, p_running, p_priority, p_processes, p_reason)
--
-- Returns  nothing
-- Locks    the gate, the row of the quota: starts that it counts wait for this
-- Raises   WF002, WF003 if there is no such role
-- Called   by administrators
create or replace function wf.quota_set(
    p_role text, p_per_minute int default null, p_running int default null, p_priority int default null,
    p_processes int default null, p_reason text default null)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform wf._gate(false);
    perform wf._check_reason('quota set', p_reason, wf._setting_number('reason_required') = 1);
    perform wf._check_role(p_role);
    if p_per_minute < 0 or p_running < 0 or p_processes < 1 or p_priority not between -1000 and 1000 then
        raise exception using errcode = 'WF002',
            message = format('the quota of role %s cannot be %s a minute, %s running, priority %s, %s processes',
                             p_role, coalesce(p_per_minute::text, 'null'), coalesce(p_running::text, 'null'),
                             coalesce(p_priority::text, 'null'), coalesce(p_processes::text, 'null')),
            hint = 'Give numbers of at least 0, a priority from -1000 to 1000 and at least 1 process; null is no '
                   'limit.';
    end if;
    insert into wf.quota (role, per_minute, running, priority, processes, set_at, set_by)
    values (p_role, p_per_minute, p_running, p_priority, p_processes, wf.now(), wf._actor())
        on conflict (role) do update
       set per_minute = excluded.per_minute, running = excluded.running, priority = excluded.priority,
           processes = excluded.processes, set_at = excluded.set_at, set_by = excluded.set_by;
    delete from wf.quota_instance c where c.role = p_role;
    insert into wf.quota_instance (role, instance_id)
    select p_role, i.id
      from wf.instance i
     where p_running is not null and i.ended_at is null
       and wf._is_member(p_role, wf._starter_login(i.login, i.started_by))
       and not wf._is_member('wf_owner', wf._starter_login(i.login, i.started_by));
    perform wf._audit('quota set', jsonb_build_object('role', p_role, 'per_minute', p_per_minute,
                                                      'running', p_running, 'priority', p_priority,
                                                      'processes', p_processes), p_reason);
end;
$$;
comment on function wf.quota_set(text, int, int, int, int, text) is
    'Limits what a login, or all members of a role together, may start: instances a minute (from one full minute of '
    'the clock to the next), instances under way at a time, the highest priority, and how many processes an instance '
    'that is started from now on may come to; null is no limit. The new quota takes the place of the one that the role '
    'had. Instances of its members that are under way count, except those whose start is not committed yet. If the '
    'instances under way are limited, this reads all instances once. Returns nothing; raises WF002 for a number out '
    'of range, WF003 if there is no such role.';

-- wf.quota_remove(p_role, p_reason)
--
-- Returns  nothing
-- Locks    the gate, the row of the quota
-- Raises   WF002, WF003 if the role has no quota
-- Called   by administrators; also for a role that was dropped
create or replace function wf.quota_remove(p_role text, p_reason text default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform wf._gate(false);
    perform wf._check_reason('quota remove', p_reason, wf._setting_number('reason_required') = 1);
    delete from wf.quota q where q.role = p_role;
    if not found then
        raise exception using errcode = 'WF003',
            message = format('role %s has no quota', coalesce(quote_literal(left(p_role, 100)), 'null')),
            hint = 'List them: wf-console quotas.';
    end if;
    delete from wf.quota_instance c where c.role = p_role;
    perform wf._audit('quota remove', jsonb_build_object('role', p_role), p_reason);
end;
$$;
comment on function wf.quota_remove(text, text) is
    'Removes the quota of a role. Returns nothing; raises WF003 if the role has no quota.';

create or replace view wf.quota_v with (security_barrier = true) as
select q.role,
       q.per_minute,
       case when q.minute_at = date_trunc('minute', clock_timestamp()) then q.started else 0 end as started,
       q.running,
       (select count(*)
          from wf.quota_instance c
          join wf.instance i on i.id = c.instance_id and i.ended_at is null
         where c.role = q.role and q.running is not null) as under_way,
       q.priority,
       q.processes,
       q.set_at,
       q.set_by
  from wf.quota q;
comment on view wf.quota_v is 'The quotas of roles, and how much of them is used.';
select wf._inherit_comments('quota_v', 'quota') \gset
comment on column wf.quota_v.started is 'how many instances were started in this minute';
comment on column wf.quota_v.under_way is 'how many of their instances are under way; 0 if running is null';
