-- What each driver has counted: requests, turns, connections.

create table wf.driver_counter (
    driver_id  bigint primary key,
    counted_at timestamptz not null,
    counters   jsonb not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
