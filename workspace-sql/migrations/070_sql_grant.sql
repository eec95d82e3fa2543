-- A workflow may be granted a role of its own for its SQL tasks.

create table wf.sql_grant (
    workflow   text primary key,
    role       text not null,
    granted_at timestamptz not null,
    granted_by text not null
);
create index sql_grant_role_idx on wf.sql_grant (role);
alter table wf.version add sql_role text;
