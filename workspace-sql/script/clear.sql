-- Drops all behaviour, so that the files of code/ make it anew: functions may
-- change their results, views their columns, and functions that were removed from
-- code/ are gone. State stays: tables and their rows.
--
-- An object outside the workspace may use a function or a view of the workspace.
-- That function or view stays for now, and code/ replaces it; cleared.sql checks it.

do $$
declare
    v_object record;
    v_left text[];
    v_before int;
begin
    -- nobody keeps a right that grants.sql does not give
    revoke all on schema wf from public, wf_admin, wf_operator, wf_author, wf_app, wf_viewer, wf_driver;
    revoke all on all tables in schema wf from public, wf_admin, wf_operator, wf_author, wf_app, wf_viewer, wf_driver;
    revoke all on all routines in schema wf from public, wf_admin, wf_operator, wf_author, wf_app, wf_viewer, wf_driver;

    for v_object in
        select t.tgname as name, t.tgrelid::regclass as of
          from pg_trigger t
          join pg_proc p on p.oid = t.tgfoid
         where p.pronamespace = 'wf'::regnamespace and not t.tgisinternal
    loop
        execute format('drop trigger %I on %s', v_object.name, v_object.of);
    end loop;

    -- an object that others need is dropped in a later round than these
    loop
        v_before := cardinality(v_left);
        v_left := '{}';
        for v_object in
            select 'view' as kind, c.oid::regclass::text as name, r.ctid
              from pg_class c
              join pg_rewrite r on r.ev_class = c.oid
             where c.relnamespace = 'wf'::regnamespace and c.relkind = 'v'
            union all
            select 'routine', p.oid::regprocedure::text, p.ctid
              from pg_proc p
             where p.pronamespace = 'wf'::regnamespace and pg_get_userbyid(p.proowner) = 'wf_owner'
            union all
            select 'type', c.oid::regclass::text, c.ctid
              from pg_class c
             where c.relnamespace = 'wf'::regnamespace and c.relkind = 'c'
        loop
            begin
                execute format('drop %s %s', v_object.kind, v_object.name);
            exception when dependent_objects_still_exist then
                v_left := v_left || concat_ws(' ', v_object.kind, v_object.name, v_object.ctid);
            end;
        end loop;
        exit when cardinality(v_left) = v_before;
    end loop;
    perform set_config('wf.left', v_left::text, true);
end;
$$;
