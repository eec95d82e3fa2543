-- The limits of an attempt are no rows before they are looked at. A process knows which
-- limits it has.

alter table wf.node add timed smallint;
update wf.node n
   set timed = case when n.timeout = '{}' then 15
                    else (n.timeout ? 'wait')::int + 2 * (n.timeout ? 'inactivity')::int
                         + 4 * (n.timeout ? 'runtime')::int + 8 * (n.timeout ? 'deadline')::int end
 where n.timeout is not null;
alter table wf.process alter timed type smallint using case when timed then 15 end;
create table wf.limit_begun (
    id        bigint generated always as identity primary key,
    at        timestamptz not null,
    attempt   boolean not null,
    instances bigint[] not null,
    processes bigint[] not null
) with (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = off
);
