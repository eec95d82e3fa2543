-- Which role the SQL tasks of a workflow run as.
--
-- A workflow with a grant runs its SQL tasks as the role that it is granted, on a connection
-- that has logged in as that role. All other workflows share the driver's own SQL login. A
-- role that is granted runs the SQL tasks of the workflows with that grant and no others.
-- The author does not choose the role, since the author of a statement acts as the role that
-- runs it. So a grant is for the current version, which the administrator has looked at, and
-- for versions that members of the role install from then on. These versions keep the role's
-- name (sql_role). All other versions of the workflow can still be started, and run like
-- those of workflows without a grant.

-- wf._refuse_sql_login(p_workflow, p_role)
--
-- Returns  nothing, if the SQL tasks of a version run as this session's login; p_role: the role that is granted
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
-- Returns  the number of the current version; null: the workflow is not installed
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
            message = format('the name of a workflow has 1 to 127 bytes, not %s',
                             coalesce(octet_length(p_workflow), 0)),
            hint = 'Give the name that it is installed under.';
    elsif v_role.rolsuper then
        raise exception using errcode = 'WF002',
            message = format('role %s is a superuser', quote_ident(p_role)),
            hint = 'Give a role with just the rights that the statements of the workflow need.';
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
    'Grants a role to a workflow, which need not be installed yet. From the next request on, SQL tasks of the current '
    'version, and of versions that members of the role install later, run as that role. Nobody else may install the '
    'workflow, and the role runs no SQL tasks of other workflows. The grant replaces what the workflow was granted '
    'before. Returns the number of the current version; raises WF002 for a role that cannot run SQL tasks or is a '
    'superuser, WF003 if there is no such role.';

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
