-- Brings the workspace in the database that psql is connected to up to date,
-- while instances run and drivers work:
--
--     psql -d database -f workspace-sql/upgrade.sql
--
-- One transaction. It begins when it has the gate to itself: every procedure
-- of the workspace holds the gate until its transaction ends, so that none runs
-- half on old functions and half on new ones. It knocks for two seconds at a
-- time and then lets the others pass, for two minutes in all.

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
            using errcode = 'WF003', hint = 'Install it with install.sql.';
    elsif not exists (select from pg_roles r where r.rolname = current_user and (r.rolsuper or r.rolcreaterole)) then
        raise exception '% may not act for the owner of the workspace', current_user
            using errcode = 'WF008', hint = 'Upgrade as a superuser, or as a login with CREATEROLE.';
    end if;
end;
$$;

do $$
begin
    set local lock_timeout = '2 s';
    for v_try in 1 .. 30 loop
        begin
            perform pg_advisory_xact_lock(7761, 0);
            set local lock_timeout = 0;
            return;
        exception when lock_not_available then
            perform pg_sleep(1 + random() * 2);
        end;
    end loop;
    raise exception 'the workspace is in use by a transaction that does not end'
        using errcode = 'WF004', hint = 'Look for it in pg_stat_activity, by its xact_start, and upgrade again.';
end;
$$;

select not rolsuper as lent from pg_roles where rolname = current_user \gset
\if :lent
    grant wf_owner to :"installer";
\endif
set local role wf_owner;

do $$
begin
    if wf.schema_version() > 1 then
        raise exception 'the workspace has schema version %, these files have 1', wf.schema_version()
            using errcode = 'WF011', hint = 'Use the files of the newer release.';
    end if;
end;
$$;

-- state: a line for each migration, in order
--     \set migration 002_what_it_does.sql \ir migrations/apply.sql

-- behaviour
\ir code/all.sql

-- rights
\ir grants.sql

select wf.schema_version() as version \gset
set local role :"installer";
\if :lent
    revoke wf_owner from :"installer";
\endif
commit;
\echo workspace up to date, schema version :version
