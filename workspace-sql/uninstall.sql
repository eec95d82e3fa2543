-- Removes the workspace from the database that psql is connected to, with
-- every workflow, instance and history in it:
--
--     psql -d database -f workspace-sql/uninstall.sql
--
-- The roles go too, except those that another database still uses.

\set ON_ERROR_STOP on
\set QUIET on
\set SHOW_CONTEXT never
begin;
set local client_min_messages = warning;
set local search_path = pg_catalog, pg_temp;
select current_user as installer \gset

do $$
begin
    if not exists (select from pg_namespace n where n.nspname = 'wf' and pg_get_userbyid(n.nspowner) = 'wf_owner') then
        raise exception 'there is no workspace in database %', current_database()
            using errcode = 'WF003', hint = 'Connect to the database in which it is installed.';
    elsif not exists (select from pg_roles r where r.rolname = current_user and (r.rolsuper or r.rolcreaterole)) then
        raise exception '% may not drop roles', current_user
            using errcode = 'WF008', hint = 'Uninstall as a superuser, or as a login with CREATEROLE.';
    end if;
end;
$$;

select not rolsuper as lent from pg_roles where rolname = current_user \gset
\if :lent
    grant wf_owner to :"installer";
\endif
set local role wf_owner;
drop schema wf cascade;
drop owned by wf_owner;
set local role :"installer";
\if :lent
    revoke wf_owner from :"installer";
\endif

do $$
declare
    v_role text;
    v_kept text[] := '{}';
begin
    foreach v_role in array array['wf_driver', 'wf_viewer', 'wf_app', 'wf_author', 'wf_operator', 'wf_admin', 'wf_owner'] loop
        begin
            execute format('drop role if exists %I', v_role);
        exception when dependent_objects_still_exist then
            v_kept := v_kept || v_role;
        end;
    end loop;
    if v_kept <> '{}' then
        raise info 'these roles stay, something else in this or another database uses them: %', array_to_string(v_kept, ', ');
    end if;
end;
$$;
commit;
\echo workspace removed
