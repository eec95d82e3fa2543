-- The roles, the schema, and what everything else needs from its first line on.
--
-- Runs as the installing login; from the end of this file to the end of the
-- installation the role is wf_owner.

do $$
declare
    v_role text;
begin
    foreach v_role in array array['wf_owner', 'wf_admin', 'wf_operator', 'wf_author', 'wf_app', 'wf_viewer',
                                  'wf_driver'] loop
        if not exists (select from pg_catalog.pg_roles r where r.rolname = v_role) then
            execute pg_catalog.format('create role %I nologin', v_role);
        end if;
    end loop;
    -- the owner's rights are needed until the last line of the installation; a superuser has them
    if not (select r.rolsuper from pg_catalog.pg_roles r where r.rolname = current_user) then
        if pg_catalog.current_setting('server_version_num')::int >= 160000 then
            execute pg_catalog.format('grant wf_owner to %I with set true', current_user);
        else
            execute pg_catalog.format('grant wf_owner to %I', current_user);
        end if;
    end if;
end;
$$;

create schema wf authorization wf_owner;
set local role wf_owner;
alter default privileges revoke execute on functions from public;
alter default privileges revoke usage on types from public;

create table wf.setting (
    name       text primary key,
    value      text not null,
    meaning    text not null,
    min        bigint,
    max        bigint,
    changed_at timestamptz,
    changed_by text
);

-- an upgrade begins by asking for the version; code/base/setting.sql has all other settings
insert into wf.setting (name, value, meaning) values ('schema_version', '20', '');

create table wf.gate (
    id int primary key
);

create table wf.error (
    code    text primary key,
    name    text not null unique,
    meaning text not null,
    remedy  text not null
);

create table wf.audit (
    id        bigint generated always as identity primary key,
    number    bigint unique,
    at        timestamptz not null,
    xid       xid8 not null,
    login     text not null,
    role      text not null,
    client    inet,
    verb      text not null,
    arguments jsonb,
    reason    text,
    targets   bigint not null,
    refused   bigint not null,
    instances int8multirange,
    processes int8multirange,
    digest    bytea
);
create index audit_open_idx on wf.audit (id) where number is null;

create table wf.audit_head (
    only_one      boolean primary key default true check (only_one),
    number        bigint not null default 0,
    digest        bytea not null default '',
    purged        bigint not null default 0,
    purged_digest bytea not null default ''
);
insert into wf.audit_head default values;
