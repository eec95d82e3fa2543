-- The same checks as fsck has, as functions that keep their plans: here fsck is asked
-- after every step, and to plan its queries takes ten times as long as to answer them.
do $$
declare
    v record;
begin
    for v in select p.oid::regprocedure as name, pg_get_function_result(p.oid) as result, p.prosrc
               from pg_proc p
               join pg_language l on l.oid = p.prolang and l.lanname = 'sql'
              where p.pronamespace = 'wf'::regnamespace and p.proname like '\_fsck\_%'
    loop
        execute format('create or replace function %s returns %s language plpgsql stable '
                       'set search_path = pg_catalog, pg_temp as %L', v.name, v.result,
                       format(E'#variable_conflict use_column\nbegin return query %s end', v.prosrc));
    end loop;
end;
$$;
