-- History names the login beside the role, and has the clock of the server. What operators
-- and administrators do is in the audit.

alter table wf.txn add login text, add server_at timestamptz;
alter table wf.event add role text;
alter table wf.event alter role set default nullif(current_setting('role'), 'none');

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
