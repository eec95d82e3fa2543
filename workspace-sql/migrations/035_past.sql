-- A value that a later one of the same name replaces is kept.

create table wf.binding_past (
    instance_id bigint not null,
    scope_id    bigint not null,
    name        text not null,
    until_seq   bigint not null,
    value       jsonb,
    primary key (instance_id, scope_id, name, until_seq)
);
