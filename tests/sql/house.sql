-- house.sql - every object of the schema keeps the rules of the house.
begin;
select plan(12);

create temporary view routine as
select p.*, p.oid::regprocedure::text as signature
  from pg_catalog.pg_proc p
 where p.pronamespace = 'wf'::regnamespace;

create temporary view relation as
select c.*, c.oid::regclass::text as name
  from pg_catalog.pg_class c
 where c.relnamespace = 'wf'::regnamespace
   and c.relkind in ('r', 'p', 'v');

select is_empty($$
    select signature, proconfig
      from routine
     where not coalesce('search_path=pg_catalog, pg_temp' = any (proconfig), false)
       and prosqlbody is null
       and (prokind = 'f' or prosecdef) -- a procedure that commits can carry no setting
       and (prosecdef or prorettype = 'trigger'::regtype or proacl is null
            or exists (select from aclexplode(proacl) a where a.grantee <> proowner))
$$, 'every function that somebody else than the owner can reach has the path pg_catalog, pg_temp, or a body that was '
    'resolved when it was created');

select is_empty($$
    select signature
      from routine
     where proname not like '\_%' and obj_description(oid, 'pg_proc') is null
$$, 'every public function has a comment');

select is_empty($$
    select signature
      from routine
     where prosqlbody is null
       and strpos(regexp_replace(regexp_replace(prosrc, '\me''([^'']|'''')*''', '', 'gi'), '--[^\n]*', '', 'g'), '\') > 0
       and not 'standard_conforming_strings=on' = any (proconfig)
$$, 'what a backslash in a string means is not left to the caller''s settings');

select is_empty($$
    select signature
      from routine r
     where proname not like '\_%'
       and not exists (select from aclexplode(r.proacl) a where a.grantee <> r.proowner)
$$, 'every public function is somebody''s (whose: docs/roles.md)');

select is_empty($$
    select name
      from relation
     where not relispartition and obj_description(oid, 'pg_class') is null
$$, 'every table and view has a comment');

select is_empty($$
    select r.name, a.attname
      from relation r
      join pg_catalog.pg_attribute a on a.attrelid = r.oid
     where a.attnum > 0 and not a.attisdropped
       and not r.relispartition
       and col_description(r.oid, a.attnum) is null
$$, 'every column of a table or view has a comment');

select is_empty($$
    select r.signature, arg.name
      from routine r, unnest(r.proargnames, r.proargmodes) arg (name, mode)
     where (coalesce(arg.mode, 'i') in ('i', 'v')
            or arg.mode = 'b' and r.prokind = 'f') -- those of a procedure are the columns of its answer
       and arg.name <> '' and arg.name not like 'p\_%'
$$, 'every parameter begins with p_');

select is_empty($$
    select r.name, a.attname
      from relation r
      join pg_catalog.pg_attribute a on a.attrelid = r.oid
     where a.attnum > 0 and not a.attisdropped and r.relkind <> 'v'
       and (a.atttypid = 'timestamptz'::regtype) <> (a.attname like '%\_at' or a.attname = 'at')
$$, 'a column is called …_at exactly when it is a moment');

select is_empty($$
    select r.signature
      from routine r,
           lateral pg_catalog.aclexplode(coalesce(r.proacl,
               pg_catalog.acldefault('f', r.proowner))) a
     where r.proname like '\_%' and a.grantee not in (r.proowner, 'wf_owner'::regrole)
$$, 'no one else may call an internal function');

select is_empty($$
    select r.signature, code[1]
      from routine r
     cross join lateral regexp_matches(r.prosrc, '''(WF[0-9]{3})''', 'g') code
     where code[1] not in (select e.code from wf.error e)
$$, 'every error that is raised is in wf.error');

select is_empty($$
    select r.proname
      from routine r
     where r.proargnames[1] = 'p_target' and has_function_privilege('wf_operator', r.oid, 'execute')
       and not exists (select from wf.error e where e.code = 'WF001' and e.remedy ~ format('\m%s\M', r.proname))
$$, 'what refuses an illegal move names every verb of operators');

-- Trigger functions are checked with each table that they serve.
select is_empty($$
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

select finish();
rollback;
