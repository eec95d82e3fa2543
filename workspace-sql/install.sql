-- Installs the workspace into the database that psql is connected to:
--
--     psql -d database -f workspace-sql/install.sql
--
-- One transaction: it is there whole or not at all. Needed are PostgreSQL 14
-- or later, and a superuser, or a login with CREATEROLE and with CREATE on the
-- database, which is a member of wf_owner while this runs and not afterwards.

\ir script/begin.sql

do $$
declare
    v_owner text := (select pg_get_userbyid(n.nspowner) from pg_namespace n where n.nspname = 'wf');
begin
    if current_setting('server_version_num')::int < 140000 then
        raise exception 'the workspace needs PostgreSQL 14 or later, this is %', current_setting('server_version')
            using errcode = 'WF011', hint = 'Install it on a newer server.';
    elsif getdatabaseencoding() <> 'UTF8' then
        raise exception 'the workspace needs a database in UTF8, % is in %', current_database(), getdatabaseencoding()
            using errcode = 'WF004', hint = 'Create one: createdb --encoding UTF8 --template template0 NAME';
    elsif exists (select
                    from pg_class c
                    join pg_namespace n on n.oid = c.relnamespace
                   where n.nspname = 'wf' and c.relname = 'setting')
        and v_owner = 'wf_owner' then
        raise exception 'the workspace is already installed in database %', current_database()
            using errcode = 'WF004', hint = 'Bring it up to date with upgrade.sql, or remove it with uninstall.sql.';
    elsif v_owner is not null then
        raise exception 'database % has a schema wf that is not a workspace', current_database()
            using errcode = 'WF004', detail = format('It belongs to %s.', v_owner),
                  hint = 'Rename or drop that schema, or use another database.';
    elsif not exists (select from pg_roles r where r.rolname = current_user and (r.rolsuper or r.rolcreaterole)) then
        raise exception '% may not create roles', current_user
            using errcode = 'WF008',
                  hint = format('Install as a superuser, or first: alter role %I createrole', current_user);
    elsif not has_database_privilege(current_database(), 'CREATE') then
        raise exception '% may not create a schema in database %', current_user, current_database()
            using errcode = 'WF008',
                  hint = format('As its owner: grant create on database %I to %I', current_database(), current_user);
    end if;
end;
$$;

-- state
\ir schema/00_schema.sql
\ir schema/10_machine.sql
\ir schema/20_catalog.sql
\ir schema/25_function.sql
\ir schema/30_instance.sql
\ir schema/40_schedule.sql
\set fresh true
\ir migrations/all.sql

-- behaviour
\ir code/all.sql

-- rights
\ir grants.sql

select wf.schema_version() as version \gset
select wf._audit('workspace install', jsonb_build_object('schema_version', :version)) \gset
\ir script/disown.sql
\ir script/trust.sql
commit;
\echo workspace installed, schema version :version
