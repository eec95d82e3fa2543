-- weakness.sql - what the catalogs say about the schema's safety: ownership, search paths,
-- privileges, views and row security, durability, logins. Each finding is a row "check, object".
--
-- Included by security.sql, which expects none, and by weakness.sql, which plants one of each.

create temporary view finding (chk, obj) as
with p as (
    select 'wf'::name as sch,
           'wf_owner'::name as own,
           array['wf_admin', 'wf_operator', 'wf_author', 'wf_app', 'wf_viewer',
                 'wf_driver']::name[] as grp
),
ns as (
    select n.oid, n.nspname, n.nspowner, n.nspacl
      from pg_catalog.pg_namespace n, p
     where n.nspname = p.sch
),
own as (
    select r.*
      from pg_catalog.pg_roles r, p
     where r.rolname = p.own
),
f as (
    select pr.*,
           pr.oid::regprocedure::text as sig,
           l.lanname,
           (select substr(c, 13)
              from unnest(pr.proconfig) c
             where c like 'search\_path=%') as sp
      from pg_catalog.pg_proc pr
      join pg_catalog.pg_language l on l.oid = pr.prolang
     where pr.pronamespace in (select oid from ns)
),
sp as (  -- one row per schema named in a pinned search_path
    select f.sig,
           f.prosecdef,
           e.ord,
           count(*) over (partition by f.oid) as n,
           btrim(btrim(e.s), '"') as s
      from f, regexp_split_to_table(f.sp, '\s*,\s*') with ordinality as e(s, ord)
     where f.sp is not null
),
c as (
    select k.*, k.oid::regclass::text as rel
      from pg_catalog.pg_class k
     where k.relnamespace in (select oid from ns)
)

-- ownership
select 'S01 schema missing or not owned by owner role',
       p.sch::text
  from p
 where not exists (select 1 from ns, own where ns.nspowner = own.oid)
union all
select 'S02 function not owned by owner role (pre-created by someone else?)',
       f.sig
  from f, own
 where f.proowner <> own.oid
   -- a superuser's: it reads one line of the server's files
   and not (f.sig = 'wf._restored_file()'
            and exists (select from pg_catalog.pg_roles r where r.oid = f.proowner and r.rolsuper))
union all
select 'S03 relation not owned by owner role',
       c.rel
  from c, own
 where c.relowner <> own.oid
union all
select 'S04 type not owned by owner role',
       t.oid::regtype::text
  from pg_catalog.pg_type t, own
 where t.typnamespace in (select oid from ns)
   and t.typowner <> own.oid
union all
select 'S05 owner role is over-powered or can log in',
       own.rolname
  from own
 where own.rolsuper
    or own.rolcanlogin
    or own.rolcreaterole
    or own.rolcreatedb
    or own.rolreplication
    or own.rolbypassrls
union all
select 'S06 owner role is itself a member of another role',
       g.rolname
  from own
  join pg_catalog.pg_auth_members m on m.member = own.oid
  join pg_catalog.pg_roles g on g.oid = m.roleid
union all
select 'S07 someone is a member of the owner role',
       u.rolname
  from own
  join pg_catalog.pg_auth_members m on m.roleid = own.oid
  join pg_catalog.pg_roles u on u.oid = m.member
union all
select 'S08 group/driver role over-powered',
       r.rolname
  from pg_catalog.pg_roles r, p
 where (r.rolname = any (p.grp) or r.rolname like 'wf\_driver%')
   and (r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolreplication or r.rolbypassrls)
union all
select 'S09 wf role is a member of a dangerous predefined role',
       u.rolname || ' in ' || g.rolname
  from pg_catalog.pg_auth_members m
  join pg_catalog.pg_roles g on g.oid = m.roleid
  join pg_catalog.pg_roles u on u.oid = m.member
 where g.rolname in ('pg_execute_server_program', 'pg_read_server_files',
        'pg_write_server_files', 'pg_read_all_data', 'pg_write_all_data', 'pg_database_owner',
        'pg_signal_backend', 'pg_checkpoint')
   and u.rolname like 'wf\_%'

-- SECURITY DEFINER and search_path (pgspot PS003-PS005, PS018; CVE-2018-1058)
union all
select 'D01 SECURITY DEFINER without pinned search_path',
       f.sig
  from f
 where f.prosecdef
   and f.sp is null
union all
select 'D02 function without pinned search_path',
       f.sig
  from f
 where not f.prosecdef
   and f.prokind <> 'p' -- wf.wait commits, and what carries a setting cannot
   and f.sp is null
   and not (f.lanname = 'sql' and f.prosqlbody is not null)
   and f.lanname <> 'c'
   -- what only the owner's procedures can call runs under their path
   and (f.prorettype = 'trigger'::regtype
        or f.proacl is null
        or exists (select 1 from aclexplode(f.proacl) a where a.grantee <> f.proowner)
        or exists (select 1  -- a view, a default, a constraint, an index: evaluated under anybody's path
                     from pg_catalog.pg_depend d
                    where d.refclassid = 'pg_catalog.pg_proc'::regclass
                      and d.refobjid = f.oid
                      and d.classid <> 'pg_catalog.pg_proc'::regclass))
union all
select 'D03 pinned search_path does not end in pg_temp',
       f.sig
  from f
 where f.sp is not null
   and btrim(f.sp) not in ('""', '')
   and not exists (select 1 from sp where sp.sig = f.sig and sp.ord = sp.n and sp.s = 'pg_temp')
union all
select 'D03b empty search_path leaves pg_temp first for relations',
       f.sig
  from f
 where f.prosecdef
   and btrim(f.sp) in ('""', '')
union all
select 'D04 search_path names a schema other than pg_catalog, ours, pg_temp',
       sp.sig || ' -> ' || sp.s
  from sp, p
 where sp.s not in ('pg_catalog', 'pg_temp', '', p.sch)
union all
select 'D05 search_path lists our schema before pg_catalog',
       a.sig
  from sp a, p
 where a.s = p.sch
   and not exists (select 1 from sp b where b.sig = a.sig and b.s = 'pg_catalog' and b.ord < a.ord)
union all
select 'D06 untrusted or unexpected language',
       f.sig || ' ' || f.lanname
  from f
 where f.lanname not in ('sql', 'plpgsql')
union all
select 'D07 LEAKPROOF function',
       f.sig
  from f
 where f.proleakproof
union all
select 'D08 dynamic SQL built by concatenation in a definer function',
       f.sig
  from f
 where f.prosecdef
   and f.prosrc ~* '\mexecute\M'
   and f.prosrc ~ '\|\|'
union all
select 'D09 dynamic SQL with %s and no %I/%L',
       f.sig
  from f
 where f.prosrc ~* '\mexecute\M\s+(pg_catalog\.)?format'
   and f.prosrc ~ '%s'
union all
select 'D10 definer function uses SET ROLE / SET SESSION AUTHORIZATION / COPY PROGRAM / lo_import / pg_read_file',
       f.sig
  from f
 where f.prosecdef
   and f.prosrc ~* '(\mset\s+(local\s+)?role\M|session\s+authorization|copy\M[^;]*\mprogram\M|\mlo_(import|export)\M|pg_read_(binary_)?file|pg_ls_dir|dblink)'
union all
select 'D11 identity taken from current_user inside a definer function (use session_user)',
       f.sig
  from f
 where f.prosecdef
   and f.prosrc ~* '\m(current_user|current_role)\M'
union all
select 'D12 same function name with several signatures (better-match hijack)',
       f.proname
  from f group by f.proname
having count(*) > 1

-- privileges
union all
select 'G01 function executable by PUBLIC',
       f.sig
  from f,
    lateral pg_catalog.aclexplode(coalesce(f.proacl, pg_catalog.acldefault('f', f.proowner))) a
 where a.grantee = 0
union all
select 'G02 PUBLIC holds a privilege on the schema',
       ns.nspname || ' ' || a.privilege_type
  from ns,
    lateral pg_catalog.aclexplode(coalesce(ns.nspacl, pg_catalog.acldefault('n', ns.nspowner))) a
 where a.grantee = 0
union all
select 'G03 non-owner may CREATE in the schema',
       pg_catalog.pg_get_userbyid(a.grantee)
  from ns,
    lateral pg_catalog.aclexplode(ns.nspacl) a
 where a.privilege_type = 'CREATE'
   and a.grantee <> ns.nspowner
union all
select 'G04 direct write privilege on a relation for a non-owner',
       c.rel || ' ' || coalesce(nullif(pg_catalog.pg_get_userbyid(a.grantee), 'unknown (OID=0)'),
           'PUBLIC') || ' ' || a.privilege_type
  from c,
    lateral pg_catalog.aclexplode(c.relacl) a
 where a.grantee <> c.relowner
   and a.privilege_type in ('INSERT','UPDATE','DELETE','TRUNCATE','REFERENCES','TRIGGER')
union all
select 'G05 grantee outside the role list',
       c.rel || ' ' || pg_catalog.pg_get_userbyid(a.grantee)
  from c, p,
    lateral pg_catalog.aclexplode(c.relacl) a
 where a.grantee <> c.relowner
   and (a.grantee = 0 or pg_catalog.pg_get_userbyid(a.grantee) <> all (p.grp))
union all
select 'G06 column privilege granted to a non-owner',
       at.attrelid::regclass || '.' || at.attname
  from pg_catalog.pg_attribute at
  join c on c.oid = at.attrelid,
    lateral pg_catalog.aclexplode(at.attacl) a
 where a.grantee <> c.relowner
   and a.privilege_type <> 'SELECT'
union all
select 'G07 grant with grant option',
       c.rel || ' ' || pg_catalog.pg_get_userbyid(a.grantee)
  from c,
    lateral pg_catalog.aclexplode(c.relacl) a
 where a.is_grantable
   and a.grantee <> c.relowner
union all
select 'G08 secret-looking column selectable by a non-owner',
       c.rel || '.' || at.attname
  from c
  join pg_catalog.pg_attribute at on at.attrelid = c.oid
   and at.attnum > 0
   and not at.attisdropped
   and c.relkind in ('r','p','v','m'), p, unnest(p.grp) g
 where at.attname ~* '(secret|passw|private_key|api_key|credential|bearer)'
   and exists (select 1 from pg_catalog.pg_roles r where r.rolname = g)
   and pg_catalog.has_column_privilege(g, c.oid, at.attnum, 'SELECT')
union all
select 'G09 default privileges for future functions still give PUBLIC EXECUTE',
       own.rolname
  from own
 where not exists (select 1 from pg_catalog.pg_default_acl d where d.defaclrole = own.oid
      and d.defaclobjtype = 'f' and d.defaclnamespace = 0
          and not exists (select 1 from pg_catalog.aclexplode(d.defaclacl) a where a.grantee = 0))
union all
select 'G10 PUBLIC may CREATE in schema public of this database',
       'public'
 where exists (select 1 from pg_catalog.pg_namespace n, lateral pg_catalog.aclexplode(n.nspacl) a
      where n.nspname = 'public' and a.grantee = 0 and a.privilege_type = 'CREATE')
union all
select 'G11 SET privilege on a dangerous parameter',
       pa.parname || ' ' || coalesce(nullif(a.grantee, 0)::regrole::text, 'PUBLIC')
  from pg_catalog.pg_parameter_acl pa,
    lateral pg_catalog.aclexplode(pa.paracl) a
 where pa.parname in ('session_replication_role', 'fsync', 'full_page_writes',
        'zero_damaged_pages', 'session_preload_libraries', 'local_preload_libraries')
   and a.grantee <> 10

-- views, RLS, triggers, rules
union all
select 'V01 granted view is neither security_invoker nor security_barrier',
       c.rel
  from c
 where c.relkind = 'v'
   and c.relacl is not null
   and not coalesce(c.reloptions && array['security_invoker=true', 'security_barrier=true',
          'security_invoker=on', 'security_barrier=on', 'security_barrier=1',
          'security_invoker=1'], false)
   and exists (select 1 from pg_catalog.aclexplode(c.relacl) a where a.grantee <> c.relowner)
union all
select 'V02 table readable by a non-owner without row security',
       c.rel
  from c
 where c.relkind in ('r','p')
   and not c.relrowsecurity
   and exists (select 1 from pg_catalog.aclexplode(c.relacl) a where a.grantee <> c.relowner
        and a.privilege_type = 'SELECT')
union all
select 'V03 row security on but no policy, or policy USING (true) for PUBLIC',
       c.rel
  from c
 where c.relrowsecurity
   and (not exists (select 1 from pg_catalog.pg_policy y where y.polrelid = c.oid)
        or exists (select 1 from pg_catalog.pg_policy y where y.polrelid = c.oid
            and 0 = any (y.polroles) and pg_catalog.pg_get_expr(y.polqual, y.polrelid) = 'true'))
union all
select 'V04 disabled trigger',
       tg.tgname || ' on ' || c.rel
  from pg_catalog.pg_trigger tg
  join c on c.oid = tg.tgrelid
 where tg.tgenabled = 'D'
union all
select 'V05 trigger calls a function outside our schema',
       tg.tgname || ' -> ' || tg.tgfoid::regprocedure
  from pg_catalog.pg_trigger tg
  join c on c.oid = tg.tgrelid
  join pg_catalog.pg_proc pr on pr.oid = tg.tgfoid
 where not tg.tgisinternal
   and pr.pronamespace not in (select oid from ns)
union all
select 'V06 rewrite rule on a table',
       r.rulename || ' on ' || c.rel
  from pg_catalog.pg_rewrite r
  join c on c.oid = r.ev_class
 where c.relkind in ('r','p')

-- durability and integrity
union all
select 'R01 unlogged or temporary relation',
       c.rel
  from c
 where c.relpersistence <> 'p'
union all
select 'R02 constraint not validated',
       co.conname || ' on ' || c.rel
  from pg_catalog.pg_constraint co
  join c on c.oid = co.conrelid
 where not co.convalidated
union all
select 'R03 invalid index',
       i.indexrelid::regclass::text
  from pg_catalog.pg_index i
  join c on c.oid = i.indrelid
 where not i.indisvalid
    or not i.indisready
union all
select 'R04 table without primary key',
       c.rel
  from c
 where c.relkind in ('r','p')
   and not c.relispartition
   and not exists (select 1 from pg_catalog.pg_index i where i.indrelid = c.oid and i.indisprimary)
union all
select 'R05 foreign key without supporting index',
       co.conname || ' on ' || c.rel
  from pg_catalog.pg_constraint co
  join c on c.oid = co.conrelid
 where co.contype = 'f'
   and not exists (select 1 from pg_catalog.pg_index i where i.indrelid = co.conrelid
        and i.indpred is null and (i.indkey::int2[])[0:cardinality(co.conkey)-1] @> co.conkey)
union all
select 'R06 timestamp without time zone column',
       c.rel || '.' || at.attname
  from c
  join pg_catalog.pg_attribute at on at.attrelid = c.oid
   and at.attnum > 0
   and not at.attisdropped
   and c.relkind in ('r','p')
 where at.atttypid = 'timestamp'::regtype
union all
select 'R07 32-bit identity/serial key',
       c.rel || '.' || at.attname
  from c
  join pg_catalog.pg_attribute at on at.attrelid = c.oid
   and at.attnum > 0
   and not at.attisdropped
   and c.relkind in ('r','p')
 where at.atttypid in ('int4'::regtype, 'int2'::regtype)
   and (at.attidentity <> '' or pg_catalog.pg_get_serial_sequence(c.rel, at.attname) is not null)
union all
select 'R08 server setting breaks durability',
       s.name || '=' || s.setting
  from pg_catalog.pg_settings s
 where (s.name,
      s.setting) in (('fsync', 'off'), ('full_page_writes', 'off'), ('synchronous_commit',
            'off'), ('zero_damaged_pages', 'on'), ('ignore_system_indexes', 'on'))
union all
select 'R09 role or database override breaks durability',
       coalesce(r.rolname, '*') || ' ' || x
  from pg_catalog.pg_db_role_setting d
  left join pg_catalog.pg_roles r on r.oid = d.setrole, unnest(d.setconfig) x
 where x ~ '^(synchronous_commit=(off|local)|session_replication_role=(replica|local))'

-- logins
union all
select 'L01 driver login without SCRAM password (or certificate only)',
       a.rolname
  from pg_catalog.pg_authid a
 where a.rolname like 'wf\_driver%'
   and a.rolcanlogin
   and a.rolpassword is not null
   and a.rolpassword not like 'SCRAM-SHA-256$%'
union all
select 'L02 driver login without CONNECTION LIMIT',
       r.rolname
  from pg_catalog.pg_roles r
 where r.rolname like 'wf\_driver%'
   and r.rolcanlogin
   and r.rolconnlimit = -1
union all
select 'L03 pg_hba lets a network user in without TLS or with trust/password/md5',
       h.line_number || ' ' || h.type || ' ' || h.auth_method
  from pg_catalog.pg_hba_file_rules h
 where h.error is null
   and ((h.type in ('host','hostnossl') and h.address not in ('127.0.0.1','::1')
        and h.auth_method <> 'reject') or (h.type like 'host%'
            and h.auth_method in ('trust','password','md5')));
