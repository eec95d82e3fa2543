-- What an instance may come to has limits. Rows of extent are made as foralls
-- begin; upgrade.sql fills wf.node anew.

alter table wf.node add most bigint, add most_live bigint;
alter table wf.process add held int;
create table wf.extent (
    instance_id bigint primary key,
    processes   bigint not null default 0,
    live        bigint not null default 0,
    bytes       bigint not null default 0
) with (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
    autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off
);
