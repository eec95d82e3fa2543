-- Dags: which of their steps come after which, and which have not ended.

alter table wf.node add in_dag boolean;
create table wf.edge (
    version_id bigint not null references wf.version on delete cascade,
    node_id    int not null,
    after_id   int not null,
    primary key (version_id, node_id, after_id)
);
alter table wf.process add in_dag boolean;
create table wf.dag_step (
    instance_id bigint not null,
    process_id  bigint not null,
    node_id     int not null,
    awaits      int,
    primary key (instance_id, process_id, node_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
create index dag_step_awaits_idx on wf.dag_step (instance_id, process_id, awaits) where awaits is not null;
