-- A driver belongs to the login that registered it, and a mark has a seal.

alter table wf.driver rename session_role to login;
update wf.driver d
   set login = coalesce((select r.oid from pg_roles r where r.rolname = d.actor), 0)
 where d.login is null;
alter table wf.driver alter login set not null;

create table wf.seal (
    only_one boolean primary key default true check (only_one),
    key      uuid not null default gen_random_uuid()
);
insert into wf.seal default values;
