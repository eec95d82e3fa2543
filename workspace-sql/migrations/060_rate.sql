-- Rates: how many tasks may begin in how much time.

create table wf.rate (
    id   bigint primary key,
    name text not null unique,
    max  int not null check (max >= 1),
    per  interval not null
);
alter table wf.node add rate_id bigint, add rate jsonb;
alter table wf.process add rate_id bigint;
alter table wf.parked add rate_id bigint, drop constraint parked_reason_check;
alter table wf.parked
    add constraint parked_reason_check check (reason in ('group', 'rate', 'suspended')),
    add check (reason <> 'rate' or rate_id is not null);
create index parked_rate_idx on wf.parked (rate_id, rank, turn, instance_id, process_id) where reason = 'rate';
create table wf.rate_place (
    instance_id bigint not null,
    process_id  bigint not null,
    rate_id     bigint not null,
    per         interval not null,
    primary key (instance_id, process_id)
);
create index rate_place_rate_idx on wf.rate_place (rate_id);
create table wf.rate_spent (
    id      bigint generated always as identity primary key,
    rate_id bigint not null,
    free_at timestamptz not null,
    count   int not null
) with (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = off
);
create index rate_spent_rate_idx on wf.rate_spent (rate_id);
