-- Removes the workspace from the database that psql is connected to, with
-- every workflow, instance and history in it:
--
--     psql -d database -f workspace-sql/uninstall.sql
--
-- The roles go too, except those that another database still uses.

\ir script/begin.sql
\ir script/own.sql
\ir script/knock.sql
drop schema wf cascade;
drop owned by wf_owner;
\ir script/disown.sql

do $$
declare
    v_role text;
    v_kept text[] := '{}';
begin
    foreach v_role in array array['wf_driver', 'wf_viewer', 'wf_app', 'wf_author', 'wf_operator', 'wf_admin',
                                  'wf_owner'] loop
        begin
            execute format('drop role if exists %I', v_role);
        exception when dependent_objects_still_exist then
            v_kept := v_kept || v_role;
        end;
    end loop;
    if v_kept <> '{}' then
        raise info 'these roles stay, something else in this or another database uses them: %',
            array_to_string(v_kept, ', ');
    end if;
end;
$$;
commit;
\echo workspace removed
