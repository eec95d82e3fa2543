-- Grants say which roles may start which workflows, and quotas how many instances.

create table wf.workflow_grant (
    role       text primary key,
    workflows  text[],
    granted_at timestamptz not null,
    granted_by text not null
);
insert into wf.workflow_grant (role, granted_at, granted_by)
values ('wf_app', now(), session_user), ('wf_author', now(), session_user);

create table wf.quota (
    role       text primary key,
    per_minute int,
    running    int,
    priority   int,
    minute_at  timestamptz,
    started    int not null default 0,
    set_at     timestamptz not null,
    set_by     text not null
) with (fillfactor = 50);

create table wf.quota_instance (
    role        text not null,
    instance_id bigint not null,
    primary key (role, instance_id)
);
