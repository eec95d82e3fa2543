-- Queues and capabilities may be granted to logins of drivers.

create table wf.driver_grant (
    role         text primary key,
    queues       text[] not null,
    capabilities text[] not null,
    granted_at   timestamptz not null,
    granted_by   text not null
);
alter table wf.driver
    add limited boolean not null default false,
    add limits  text[] not null default '{}',
    add asked   text[] not null default '{}';
update wf.driver set asked = capabilities where capabilities <> '{}';
