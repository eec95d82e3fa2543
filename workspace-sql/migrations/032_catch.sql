-- An error looks for its handler, and a part of an instance is torn down in portions.

create table wf.teardown (
    instance_id bigint not null,
    process_id  bigint not null,
    follows     text not null,
    node_id     int,
    error       jsonb,
    at          timestamptz not null,
    next_id     bigint,
    sure        boolean not null,
    primary key (instance_id, process_id)
);

alter table wf.node add handler_id int, add condition jsonb;
