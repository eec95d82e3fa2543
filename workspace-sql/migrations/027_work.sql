-- Work that has yet to be done, with how often it was tried. Groups and lanes are
-- numbered by their names, so that nobody needs to insert a row to use one.

create table wf.work (
    id          bigint generated always as identity primary key,
    kind        text not null,
    instance_id bigint,
    item_id     bigint not null,
    due_at      timestamptz not null,
    tries       int not null default 0,
    aside       boolean not null default false,
    error       jsonb
) with (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = off
);
create index work_due_idx on wf.work (due_at) where not aside;
create index work_instance_idx on wf.work (instance_id, item_id);

alter table wf.pending add later boolean not null default false;
create index pending_later_idx on wf.pending (instance_id, id) where later;

alter table wf.dirty
    alter group_id drop not null,
    add name text,
    add lane_id bigint,
    add lane jsonb,
    add check ((group_id is null) <> (lane_id is null));

-- lanes of before keep their numbers until nothing waits or runs in them
alter table wf.lane
    alter id drop identity,
    drop constraint lane_queue_needs_requires_key,
    add unused_xid xid8;
update wf.lane set fixed = false;

alter table wf.concurrency_group alter id drop identity;
