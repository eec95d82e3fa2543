-- Tasks have a policy `timeout`: the times at which its limits are reached are rows.
-- What follows from a move takes more bits than an int has.

alter table wf.machine_state add limits text[] not null default '{}';
alter table wf.transition alter steps type bigint;
alter table wf.node add timeout jsonb;
alter table wf.process add timed boolean;
alter table wf.parked add timed boolean;
create table wf.time_limit (
    instance_id bigint not null,
    process_id  bigint not null,
    kind        text not null check (kind in ('inactivity', 'runtime', 'deadline', 'wait')),
    due_at      timestamptz not null,
    remains     interval,
    primary key (instance_id, process_id, kind),
    check ((remains is null) = isfinite(due_at))
) with (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = off
);
create index time_limit_due_idx on wf.time_limit (due_at);
