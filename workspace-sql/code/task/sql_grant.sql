-- Which role the SQL tasks of a workflow run as.
--
-- A workflow that has a role granted runs its SQL tasks as that role, on a connection
-- that has logged in as it. All other workflows share the driver's own SQL login. A role
-- that is granted runs the tasks of those workflows and no others. The author has no say
-- in it: a grant is for the version that there is, which the administrator has looked at,
-- and for those that members of the role install from then on, since whoever writes the
-- statements acts as the role that they run as. These versions keep its name (sql_role).
-- All others of the workflow can still be started, and run as those without a grant do.

-- wf._refuse_sql_login(p_workflow, p_role)
--
-- Returns  nothing, if this session's login is what the SQL tasks of a version run as; p_role: the one that is granted
-- Locks    nothing
-- Raises   WF008
-- Called   by sql_begin
create or replace function wf._refuse_sql_login(p_workflow text, p_role text) returns void
language plpgsql stable as $$
begin
    if p_role <> session_user then
        raise exception using errcode = 'WF008',
            message = format('the SQL tasks of workflow %s run as role %s, and this session''s login is %s', p_workflow,
                             quote_ident(p_role), quote_ident(session_user)),
            hint = 'Nothing was done. The grant may be new: retry the task. Otherwise look at sql_connection and '
                   'sql_roles in the driver''s configuration.';
    elsif p_role is null and exists (select from wf.sql_grant g where g.role = session_user) then
        raise exception using errcode = 'WF008',
            message = format('role %s is granted to other workflows, and this version of %s has no grant',
                             quote_ident(session_user), p_workflow),
            hint = 'Nothing was done. Have an administrator grant the workflow a role (wf-console sql grants lists '
                   'what is granted), or give the driver another login in sql_connection.';
    end if;
end;
$$;

-- wf.sql_grant_set(p_workflow, p_role)
--
-- Returns  the number of the version that there is; null: the workflow is not installed
-- Locks    the gate, the rows of the grant and of the version; no driver waits for it
-- Raises   WF002, WF003 if there is no such role
-- Called   by administrators
create or replace function wf.sql_grant_set(p_workflow text, p_role text) returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_role pg_roles;
    v_version int;
begin
    perform wf._gate(false);
    select r.* into v_role from pg_roles r where r.rolname = p_role;
    if not found then
        raise exception using errcode = 'WF003',
            message = format('there is no role %s', coalesce(quote_literal(left(p_role, 100)), 'null')),
            hint = 'Create it first: docs/dba.md shows how.';
    elsif coalesce(octet_length(p_workflow), 0) not between 1 and 127 then
        raise exception using errcode = 'WF002',
            message = 'the name of a workflow has 1 to 127 bytes',
            hint = 'Give the name that it is installed under.';
    elsif v_role.rolsuper then
        raise exception using errcode = 'WF002',
            message = format('role %s is a superuser', quote_ident(p_role)),
            hint = 'Give a role that has no more rights than the statements of the workflow need.';
    elsif not v_role.rolcanlogin
          or not has_function_privilege(v_role.oid, 'wf.sql_begin(bigint, bigint, uuid)', 'execute') then
        raise exception using errcode = 'WF002',
            message = format('role %s cannot run SQL tasks: it has to log in, and to be a member of wf_app',
                             quote_ident(p_role)),
            hint = format('alter role %1$I login; grant wf_app to %1$I', p_role);
    end if;
    insert into wf.sql_grant (workflow, role, granted_at, granted_by)
    values (p_workflow, p_role, wf.now(), wf._actor())
        on conflict (workflow) do update
       set granted_at = excluded.granted_at, granted_by = excluded.granted_by, role = excluded.role;
    update wf.version v set sql_role = p_role
      from wf.workflow w
     where w.name = p_workflow and v.id = w.version_id
    returning v.number into v_version;
    perform wf._audit('sql grant', jsonb_build_object('workflow', p_workflow, 'role', p_role, 'version', v_version));
    return v_version;
end;
$$;
comment on function wf.sql_grant_set(text, text) is
    'Grants a role to a workflow, which need not be installed yet: SQL tasks of the version that there is, and of '
    'those that members of the role install from then on, run as that role from the next request on. Nobody else may '
    'install the workflow, and the role runs no SQL tasks of others. Takes the place of what the workflow was granted '
    'before. Returns the number of the version that there is; raises WF002 for a role that cannot run SQL tasks or is '
    'a superuser, WF003 if there is no such role.';

-- wf.sql_grant_remove(p_workflow)
--
-- Returns  nothing
-- Locks    the gate, the row of the grant
-- Raises   WF003 if the workflow has no role granted
-- Called   by administrators
create or replace function wf.sql_grant_remove(p_workflow text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform wf._gate(false);
    delete from wf.sql_grant g where g.workflow = p_workflow;
    if not found then
        raise exception using errcode = 'WF003',
            message = format('workflow %s has no role granted', coalesce(quote_literal(left(p_workflow, 127)), 'null')),
            hint = 'List them: wf-console sql grants.';
    end if;
    perform wf._audit('sql revoke', jsonb_build_object('workflow', p_workflow));
end;
$$;
comment on function wf.sql_grant_remove(text) is
    'Takes a workflow''s role back: its SQL tasks run as the driver''s own SQL login again. Returns nothing; raises '
    'WF003 if the workflow has no role granted.';

create or replace view wf.sql_grant_v with (security_barrier = true) as
select g.workflow, g.role, g.granted_at, g.granted_by
  from wf.sql_grant g;
comment on view wf.sql_grant_v is 'Which role the SQL tasks of a workflow run as.';
select wf._inherit_comments('sql_grant_v', 'sql_grant') \gset
