-- What attackers do in each session: temporary tables, views and types named as
-- what the workspace uses, their own schemas first, and settings.
set client_min_messages = error;
set search_path = pg_catalog;
do $$
declare
    v record;
begin
    for v in
        select c.relname from pg_class c
         where c.relnamespace = 'wf'::regnamespace and c.relkind in ('r', 'v')
            or c.relname in ('pg_class', 'pg_proc', 'pg_roles', 'pg_locks', 'pg_namespace', 'pg_attribute', 'pg_type', 'pg_stat_activity', 'new_rows', 'old_rows')
            and c.relnamespace = 'pg_catalog'::regnamespace
    loop
        execute format('create temporary %s %I %s', case when hashtext(v.relname) % 2 = 0 then 'table' else 'view' end, v.relname,
                       case when hashtext(v.relname) % 2 = 0 then '(id bigint, instance_id bigint)' else 'as select nextval(''evil.call'') as id, 1::bigint as instance_id' end);
    end loop;
    for v in select unnest('{text,jsonb,uuid,timestamptz,interval,bytea,numeric,int8,int4,bool,entry,verdict}'::text[]) as type loop
        execute format('create domain pg_temp.%I as pg_catalog.text check (value <> value)', v.type);
    end loop;
end;
$$;
set datestyle = 'German, DMY';
set intervalstyle = 'sql_standard';
set timezone = 'Pacific/Kiritimati';
set bytea_output = 'escape';
set extra_float_digits = -15;
set standard_conforming_strings = off;
set escape_string_warning = off;
set backslash_quote = off;
set quote_all_identifiers = on;
set transform_null_equals = on;
set array_nulls = off;
set xmloption = document;
set plan_cache_mode = force_custom_plan;
set row_security = off;
set check_function_bodies = off;
set work_mem = '64kB';
set statement_timeout = '5min';
set default_text_search_config = 'simple';
set default_transaction_deferrable = on;
set synchronous_commit = off;
set wf.now = '1999-12-31';
set wf.turn = '1';
set search_path = pg_temp, evil, public, pg_catalog;
