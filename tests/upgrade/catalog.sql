-- catalog.sql - all that makes a workspace what it is, in lines that can be
-- compared: objects with every property of theirs, and the rows that come with it.
-- The order of a table's columns does not count.
\pset format unaligned
\pset tuples_only on
\pset fieldsep ' '
set search_path = pg_catalog, pg_temp;

create function pg_temp.rights(p_acl aclitem[]) returns text language sql as $$
    select coalesce(string_agg(distinct concat(coalesce(nullif(a.grantee, 0)::regrole::text, 'public'), ':', a.privilege_type,
                                               case when a.is_grantable then '*' end), ' '), 'nobody')
      from aclexplode(p_acl) a
$$;

\echo -- schema
select n.nspname, n.nspowner::regrole, pg_temp.rights(coalesce(n.nspacl, acldefault('n', n.nspowner))), obj_description(n.oid)
  from pg_namespace n where n.nspname = 'wf';
select 'by default', d.defaclrole::regrole, d.defaclobjtype, pg_temp.rights(d.defaclacl)
  from pg_default_acl d order by 2, 3;

\echo -- relations
select c.oid::regclass, c.relkind, c.relpersistence, c.relowner::regrole, c.relreplident, c.relrowsecurity,
       (select string_agg(o, ',' order by o) from unnest(c.reloptions) o),
       (select string_agg(o, ',' order by o) from pg_class t, unnest(t.reloptions) o where t.oid = c.reltoastrelid),
       pg_temp.rights(coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner))),
       obj_description(c.oid, 'pg_class')
  from pg_class c
 where c.relnamespace = 'wf'::regnamespace
 order by c.relkind, c.relname;
select c.oid::regclass, s.seqtypid::regtype, s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, s.seqcycle
  from pg_sequence s join pg_class c on c.oid = s.seqrelid
 where c.relnamespace = 'wf'::regnamespace
 order by c.relname;

\echo -- columns
select format('%s.%I', c.oid::regclass, a.attname), format_type(a.atttypid, a.atttypmod),
       case when a.attnotnull then 'not null' end, 'default ' || pg_get_expr(d.adbin, d.adrelid),
       nullif(a.attidentity, ''), nullif(a.attgenerated, ''), a.attstorage, nullif(a.attcompression, ''), a.attstattarget,
       nullif(a.attcollation, 100)::regcollation, pg_temp.rights(a.attacl), col_description(c.oid, a.attnum)
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
 where c.relnamespace = 'wf'::regnamespace and c.relkind in ('r', 'v', 'c')
 order by c.relkind, c.relname, a.attname;

\echo -- constraints and indexes
select n.conrelid::regclass, n.conname, pg_get_constraintdef(n.oid), case when not n.convalidated then 'not valid' end, obj_description(n.oid, 'pg_constraint')
  from pg_constraint n
 where n.connamespace = 'wf'::regnamespace
 order by n.conrelid::regclass::text, n.conname;
select pg_get_indexdef(i.indexrelid), case when not (i.indisvalid and i.indisready) then 'invalid' end
  from pg_index i join pg_class c on c.oid = i.indrelid
 where c.relnamespace = 'wf'::regnamespace
 order by 1;

\echo -- types
select c.oid::regclass, string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' order by a.attnum),
       obj_description(t.oid, 'pg_type')
  from pg_class c
  join pg_type t on t.typrelid = c.oid
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
 where c.relnamespace = 'wf'::regnamespace and c.relkind = 'c'
 group by c.oid, t.oid, c.relname
 order by c.relname;

\echo -- triggers, rules, policies
select pg_get_triggerdef(t.oid), t.tgenabled
  from pg_trigger t join pg_class c on c.oid = t.tgrelid
 where c.relnamespace = 'wf'::regnamespace and not t.tgisinternal
 order by 1;
select pg_get_ruledef(r.oid)
  from pg_rewrite r join pg_class c on c.oid = r.ev_class
 where c.relnamespace = 'wf'::regnamespace
 order by c.relname, r.rulename;
select p.polrelid::regclass, p.polname from pg_policy p order by 1, 2;

\echo -- functions
select pg_get_functiondef(p.oid), p.proowner::regrole, pg_temp.rights(coalesce(p.proacl, acldefault('f', p.proowner))), obj_description(p.oid, 'pg_proc')
  from pg_proc p
 where p.pronamespace = 'wf'::regnamespace
 order by p.proname, p.oid::regprocedure::text;

\echo -- rows that come with it
select 'machine_state', to_jsonb(r) from wf.machine_state r order by 2;
select 'transition', to_jsonb(r) from wf.transition r order by 2;
select 'error', to_jsonb(r) from wf.error r order by 2;
select 'operator', to_jsonb(r) from wf.operator r order by 2;
select 'function', to_jsonb(r) from wf.function r order by 2;
-- a window of its own is what the fixture has
select 'setting', to_jsonb(r) - case when r.name = 'window' then 'value' else '' end from wf.setting r order by 2;
