-- house.sql - every object of the schema keeps the rules of the house, and whoever breaks
-- one of them is noticed.
begin;
select plan(26);

-- rule: a query that finds what breaks it, and what it says
create table rule (k int generated always as identity, query text not null, name text not null);

create temporary view routine as
select p.*, p.oid::regprocedure::text as signature
  from pg_catalog.pg_proc p
 where p.pronamespace = 'wf'::regnamespace;

create temporary view relation as
select c.*, c.oid::regclass::text as name
  from pg_catalog.pg_class c
 where c.relnamespace = 'wf'::regnamespace
   and c.relkind in ('r', 'p', 'v');

insert into rule (query, name) values ($$
    select signature, proconfig
      from routine
     where not coalesce('search_path=pg_catalog, pg_temp' = any (proconfig), false)
       and prosqlbody is null
       and (prokind = 'f' or prosecdef) -- a procedure that commits can carry no setting
       and (prosecdef or prorettype = 'trigger'::regtype or proacl is null
            or exists (select from aclexplode(proacl) a where a.grantee <> proowner))
$$, 'every function that somebody else than the owner can reach has the path pg_catalog, pg_temp, or a body that was '
    'resolved when it was created');

insert into rule (query, name) values ($$
    select signature
      from routine
     where proname not like '\_%' and obj_description(oid, 'pg_proc') is null
$$, 'every public function has a comment');

insert into rule (query, name) values ($$
    select signature
      from routine
     where prosqlbody is null
       and strpos(regexp_replace(regexp_replace(prosrc, '\me''([^'']|'''')*''', '', 'gi'), '--[^\n]*', '', 'g'), '\') > 0
       and not coalesce('standard_conforming_strings=on' = any (proconfig), false)
$$, 'what a backslash in a string means is not left to the caller''s settings');

insert into rule (query, name) values ($$
    select signature
      from routine r
     where proname not like '\_%'
       and not exists (select from aclexplode(r.proacl) a where a.grantee <> r.proowner)
$$, 'every public function is somebody''s (whose: docs/roles.md)');

insert into rule (query, name) values ($$
    select name
      from relation
     where not relispartition and obj_description(oid, 'pg_class') is null
$$, 'every table and view has a comment');

insert into rule (query, name) values ($$
    select r.name, a.attname
      from relation r
      join pg_catalog.pg_attribute a on a.attrelid = r.oid
     where a.attnum > 0 and not a.attisdropped
       and not r.relispartition
       and col_description(r.oid, a.attnum) is null
$$, 'every column of a table or view has a comment');

insert into rule (query, name) values ($$
    select r.signature, arg.name
      from routine r, unnest(r.proargnames, r.proargmodes) arg (name, mode)
     where (coalesce(arg.mode, 'i') in ('i', 'v')
            or arg.mode = 'b' and r.prokind = 'f') -- those of a procedure are the columns of its answer
       and arg.name <> '' and arg.name not like 'p\_%'
$$, 'every parameter begins with p_');

insert into rule (query, name) values ($$
    select r.name, a.attname
      from relation r
      join pg_catalog.pg_attribute a on a.attrelid = r.oid
     where a.attnum > 0 and not a.attisdropped and r.relkind <> 'v'
       and (a.atttypid = 'timestamptz'::regtype) <> (a.attname like '%\_at' or a.attname = 'at')
$$, 'a column is called …_at exactly when it is a moment');

insert into rule (query, name) values ($$
    select r.signature
      from routine r,
           lateral pg_catalog.aclexplode(coalesce(r.proacl,
               pg_catalog.acldefault('f', r.proowner))) a
     where r.proname like '\_%' and a.grantee not in (r.proowner, 'wf_owner'::regrole)
$$, 'no one else may call an internal function');

insert into rule (query, name) values ($$
    select r.signature, code[1]
      from routine r
     cross join lateral regexp_matches(r.prosrc, '''(WF[0-9]{3})''', 'g') code
     where code[1] not in (select e.code from wf.error e)
$$, 'every error that is raised is in wf.error');

insert into rule (query, name) values ($$
    select r.proname
      from routine r
     where r.proargnames[1] = 'p_target' and has_function_privilege('wf_operator', r.oid, 'execute')
       and not exists (select from wf.error e where e.code = 'WF001' and e.remedy ~ format('\m%s\M', r.proname))
$$, 'what refuses an illegal move names every verb of operators');

insert into rule (query, name) values ($$
    select r.signature
      from routine r
     where r.proconfig = '{"search_path=pg_catalog, pg_temp"}' and not r.prosecdef
       and r.prolang = (select oid from pg_catalog.pg_language where lanname = 'plpgsql')
       and r.prorettype <> 'trigger'::regtype
       and not exists (select from aclexplode(r.proacl) a where a.grantee <> r.proowner)
       and not exists (select from pg_catalog.pg_depend d
                        where d.refclassid = 'pg_catalog.pg_proc'::regclass and d.refobjid = r.oid
                          and d.classid <> 'pg_catalog.pg_proc'::regclass)
$$, 'a function that only the owner can reach runs under the path of its caller: a path of its own costs each call');

-- Trigger functions are checked with each table that they serve.
insert into rule (query, name) values ($$
    select r.signature, c.lineno, c.level, c.message, c.detail
      from routine r
      left join pg_catalog.pg_trigger t on t.tgfoid = r.oid and not t.tgisinternal,
           lateral plpgsql_check_function_tb(
               r.oid::regprocedure,
               relid => coalesce(t.tgrelid, 0),
               oldtable => t.tgoldtable,
               newtable => t.tgnewtable,
               security_warnings => true,
               extra_warnings => true,
               performance_warnings => false) c
     where r.prolang = (select oid from pg_catalog.pg_language where lanname = 'plpgsql')
       and (r.prorettype <> 'trigger'::regtype or t.oid is not null)
$$, 'plpgsql_check finds nothing');

select is_empty(query, name) from rule order by k;

-- breaks(K, STATEMENT): the rule notices what the statement, undone afterwards, brings about.
create function breaks(p_k int, p_statement text) returns text
language plpgsql as $$
declare
    v_rule rule;
    v_found boolean;
begin
    select * into strict v_rule from rule where k = p_k;
    begin
        execute p_statement;
        execute format('select exists (%s)', v_rule.query) into v_found;
        raise exception using errcode = 'UNDO1';
    exception when sqlstate 'UNDO1' then
        return ok(v_found, format('the rule "%s" is broken by: %s', v_rule.name, p_statement));
    end;
end;
$$;

select breaks(1, $$create function wf.planted() returns int language sql as 'select 1'$$);
select breaks(2, $$create function wf.planted() returns int language sql as 'select 1'$$);
select breaks(3, $$create function wf.planted() returns text language sql as 'select ''\n'''$$);
select breaks(4, $$create function wf.planted() returns int language sql as 'select 1'$$);
select breaks(5, $$create table wf.planted (a int)$$);
select breaks(6, $$create table wf.planted (a int)$$);
select breaks(7, $$create function wf.planted(x int) returns int language sql as 'select 1'$$);
select breaks(8, $$create table wf.planted (due timestamptz)$$);
select breaks(9, $$create function wf._planted() returns int language sql as 'select 1'; grant execute on function wf._planted() to public$$);
select breaks(10, $$create function wf.planted() returns void language plpgsql as 'begin raise sqlstate ''WF999''; end'$$);
select breaks(11, $$create function wf.planted(p_target jsonb) returns int language sql as 'select 1'; grant execute on function wf.planted to wf_operator$$);
select breaks(12, $$create function wf._planted() returns void language plpgsql set search_path = pg_catalog, pg_temp as 'begin end'; revoke all on function wf._planted() from public$$);
select breaks(13, $$create function wf.planted() returns void language plpgsql as 'begin perform from wf.nowhere; end'$$);

select finish();
rollback;
