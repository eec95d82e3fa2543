-- Prints docs/roles.md from an installed workspace: psql -XqAtf docs/print/roles.sql
-- Logins with one role each try everything for real; each attempt is undone.
\set ON_ERROR_STOP on
set client_encoding = 'UTF8';
set client_min_messages = warning;
select current_user as printer \gset

create schema probe;
grant all on schema probe to public;
create table probe.login (name name primary key, role text, place int);
insert into probe.login
select 'probe_' || r.role, r.role, r.place
  from unnest('{none,driver,app,viewer,author,operator,admin}'::text[]) with ordinality r (role, place);
create table probe.attempt (part text, object text, act text, statement text, primary key (object, act));
create table probe.answer (login name default current_user, object text, act text);
grant select on probe.attempt to public;
grant insert on probe.answer to public;

insert into probe.attempt
select 'relation', c.relname, a.act, format(a.statement, c.oid::regclass, k.attname)
  from pg_class c
  left join lateral (select t.attname from pg_attribute t where t.attrelid = c.oid and t.attnum > 0 and not t.attisdropped and t.attidentity = '' order by t.attnum limit 1) k on true
  join (values ('rv', 'r', 'select from %s'),
               ('rv', 'a', 'insert into %s default values'),
               ('rv', 'w', 'update %s set %I = null'),
               ('rv', 'd', 'delete from %s'),
               ('r',  'D', 'truncate %s'),
               ('r',  'x', 'create table probe.x (i bigint references %s)'),
               ('rv', 't', 'create trigger x after insert on %s execute function suppress_redundant_updates_trigger()'),
               ('r',  'l', 'lock table %s in row exclusive mode'),
               ('S',  'r', 'select from %s'),
               ('S',  'U', 'select nextval(%1$L)'),
               ('S',  'w', 'select setval(%1$L, 1)')) a (kinds, act, statement) on strpos(a.kinds, c.relkind::text) > 0
 where c.relnamespace = 'wf'::regnamespace
union all
select 'function', p.proname, 'X', format(case p.prokind when 'p' then 'call %s(%s)' else 'select %s(%s)' end, p.oid::regproc,
       (select string_agg(format(case p.prokind when 'p' then 'null::%s' else '(select null::%s)' end, format_type(t.type, null)), ', ')
          from unnest(p.proargtypes::oid[]) t (type)))
  from pg_proc p
 where p.pronamespace = 'wf'::regnamespace
union all
select 'role', 'set role ' || r.rolname, 'yes', format('set role %I', r.rolname)
  from pg_roles r where r.rolname like 'wf\_%'
union all
select 'role', 'grant ' || r.rolname, 'yes', format('grant %I to probe_none', r.rolname)
  from pg_roles r where r.rolname like 'wf\_%'
union all
select 'schema', s.object, 'yes', s.statement
  from (values ('make a table in `wf`', 'create table wf.x ()'),
               ('make a function in `wf`', 'create function wf.x() returns int return 1'),
               ('drop `wf`', 'drop schema wf cascade'),
               ('change a table', 'alter table wf.process add column x int'),
               ('drop a table', 'drop table wf.process cascade'),
               ('make an index', 'create index on wf.process (id)'),
               ('make a policy', 'create policy x on wf.process'),
               ('make a rule', 'create rule x as on insert to wf.process do nothing'),
               ('switch a trigger off', 'alter table wf.process disable trigger process_updated'),
               ('switch all triggers off', 'set session_replication_role = replica'),
               ('replace a view', 'create or replace view wf.instance_v as select 1'),
               ('replace a function', 'create or replace function wf.now() returns timestamptz return null'),
               ('change a function', 'alter function wf.now() security invoker'),
               ('drop a function', 'drop function wf.now()'),
               ('pass a right on', 'grant select on wf.process to probe_none'),
               ('change what the owner''s objects allow', 'alter default privileges for role wf_owner grant select on tables to probe_none'),
               ('use a type of `wf`', 'create table probe.x (x wf.entry)')) s (object, statement);

-- Whether it was let through; whatever else came of it does not matter.
create function probe.may(p_statement text) returns boolean language plpgsql as $$
begin
    execute p_statement;
    raise exception 'done and undone';
exception
    -- or nobody can: a view that is not for writing, a number that is given out
    when insufficient_privilege or object_not_in_prerequisite_state or generated_always then
        return false;
    when others then
        return true;
end;
$$;
\set try 'insert into probe.answer (object, act) select a.object, a.act from probe.attempt a where probe.may(a.statement);'
select format('create role %I login', l.name) from probe.login l \gexec
select format('grant %I to %I', 'wf_' || l.role, l.name) from probe.login l where l.role <> 'none' \gexec
\connect - probe_none
:try
\connect - probe_driver
:try
\connect - probe_app
:try
\connect - probe_viewer
:try
\connect - probe_author
:try
\connect - probe_operator
:try
\connect - probe_admin
:try
\connect - :printer
set client_encoding = 'UTF8';
set client_min_messages = warning;

create view probe.line as
select a.part, a.object, o.open,
       format('| %s |%s', case when a.part in ('relation', 'function') then format('`wf.%s`', a.object) else a.object end,
              string_agg(format(' %s |', c.acts), '' order by l.place)) as line
  from (select distinct part, object from probe.attempt) a
 cross join probe.login l
 cross join lateral (select string_agg(w.act, '' order by w.act) from probe.answer w where w.login = l.name and w.object = a.object) c (acts)
 cross join lateral (select exists (select from probe.answer w where w.object = a.object)) o (open)
 group by a.part, a.object, o.open;
\set head '| | none | driver | app | viewer | author | operator | admin |\n|---|---|---|---|---|---|---|---|\n'

select E'# Who may do what\n\n'
    || E'Printed after logins that have exactly one of the roles `wf_driver`, `wf_app`, `wf_viewer`, `wf_author`, `wf_operator`, `wf_admin`, or none, tried it for real.\n\n'
    || E'## Functions\n\nX: may call it. Functions whose names begin with `_` were tried as well; those that are not listed nobody may call.\n\n'
    || E:'head' || string_agg(l.line, E'\n' order by l.object collate "C") filter (where l.part = 'function' and (l.open or l.object not like '\_%'))
    || E'\n\n## Views and tables\n\nr: select, a: insert, w: update, d: delete, D: truncate, x: refer to it, t: make a trigger, l: lock it, U: use a sequence. '
    || E'Every relation was tried; on those that are not listed nobody may do any of this.\n\n'
    || E:'head' || string_agg(l.line, E'\n' order by l.object collate "C") filter (where l.part = 'relation' and l.open)
    || E'\n\n## Roles\n\n'
    || E:'head' || string_agg(l.line, E'\n' order by l.object collate "C") filter (where l.part = 'role')
    || E'\n\n## Objects\n\n'
    || E:'head' || string_agg(l.line, E'\n' order by l.object collate "C") filter (where l.part = 'schema')
  from probe.line l;

drop schema probe cascade;
select format('drop role %I', 'probe_' || r.role) from unnest('{none,driver,app,viewer,author,operator,admin}'::text[]) r (role) \gexec
