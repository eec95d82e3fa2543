-- What attackers have made before anybody works, as a login that may make
-- objects in a schema of its own and in public: for each function and operator of
-- pg_catalog that the workspace may mean, one of that name and those arguments,
-- and types by the names of others. Each call is written down.
create schema evil;
grant usage, create on schema evil to public;
create sequence evil.call;
grant all on evil.call to public;
create table evil.ledger (call bigint default nextval('evil.call'), what text, as_user name default current_user, session name default session_user);
grant insert on evil.ledger to public;
\connect - mallory
set client_min_messages = error;
set search_path = pg_catalog; -- or it would meet its own

-- the same again in public and in its own schema
do $$
declare
    v record;
    v_schema text;
begin
    foreach v_schema in array array['evil', 'public'] loop
        for v in
            select p.proname, p.proretset, format_type(p.prorettype, null) as returns, n.arguments
              from pg_proc p
             cross join lateral (select string_agg('pg_catalog.' || a.typname, ', ' order by t.n)
                                   from unnest(p.proargtypes::oid[]) with ordinality t (type, n) join pg_type a on a.oid = t.type) n (arguments)
             where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind = 'f'
               and exists (select from pg_proc w where w.pronamespace = 'wf'::regnamespace and w.prosrc ~ ('\m' || p.proname || '\M'))
             union all
            select f.name, false, 'text', f.arguments
              from (values ('format', 'text, text'), ('format', 'text, text, text'), ('format', 'text, variadic text[]'), ('format', 'text, variadic anyarray'),
                           ('concat', 'text, text'), ('concat', 'variadic text[]'), ('concat_ws', 'text, text, text'), ('concat_ws', 'text, variadic text[]'),
                           ('jsonb_build_object', 'text, text'), ('jsonb_build_object', 'text, anyelement'), ('jsonb_build_object', 'variadic anyarray'),
                           ('jsonb_build_array', 'anyelement'), ('jsonb_build_array', 'variadic anyarray'), ('coalesce', 'text, text'), ('greatest', 'bigint, bigint')) f (name, arguments)
        loop
            begin
                execute format($f$create function %I.%I(%s) returns %s %s language plpgsql as $b$begin insert into evil.ledger (what) values (%L); return%s; end$b$ $f$,
                    v_schema, v.proname, v.arguments, case when v.proretset then 'setof' end, v.returns, v.proname, case when not v.proretset then ' null' end);
            exception when others then null; -- with a pseudotype
            end;
        end loop;
        for v in
            select o.oprname, o.oprleft::regtype as l, o.oprright::regtype as r, format_type(o.oprresult, null) as result, o.oid
              from pg_operator o
             where o.oprnamespace = 'pg_catalog'::regnamespace and o.oprleft <> 0
               and o.oprleft = any ('{bigint,int,text,jsonb,boolean,timestamptz,interval,uuid,numeric,name,oid,text[],bigint[],uuid[]}'::regtype[])
        loop
            begin
                execute format($f$create function %I.op_%s(%s, %s) returns %s language plpgsql as $b$begin insert into evil.ledger (what) values (%L); return null; end$b$ $f$,
                    v_schema, v.oid, v.l, v.r, v.result, v.oprname);
                execute format('create operator %I.%s (leftarg = %s, rightarg = %s, function = %I.op_%s)', v_schema, v.oprname, v.l, v.r, v_schema, v.oid);
            exception when others then null;
            end;
        end loop;
        for v in select unnest('{text,jsonb,uuid,timestamptz,interval,bytea,name,oid,numeric,regclass,regproc,inet,int8,int4,bool,process,instance,driver,entry,verdict}'::text[]) as type loop
            execute format('create domain %I.%I as pg_catalog.text check (value <> value)', v_schema, v.type);
        end loop;
    end loop;
end;
$$;
create type evil.word as (w pg_catalog.text);
create function evil.cast_word(evil.word) returns pg_catalog.jsonb language plpgsql as 'begin insert into evil.ledger (what) values (''cast''); return null; end';
create cast (evil.word as pg_catalog.jsonb) with function evil.cast_word(evil.word) as implicit;
