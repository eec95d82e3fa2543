-- A driver's sign of life is a row of its own, which nobody holds for long. A
-- stop stands until the request has ended; what was queued before is told anew.

create table wf.sign_of_life (
    driver_id bigint primary key,
    seen_at   timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
insert into wf.sign_of_life (driver_id, seen_at) select d.id, d.seen_at from wf.driver d;
drop index wf.driver_seen_idx;
alter table wf.driver drop column seen_at;

alter table wf.stop add column instance_id bigint, add column process_id bigint, add column told_at timestamptz;
update wf.stop s set instance_id = l.instance_id, process_id = l.process_id from wf.lease l where l.token = s.token;
delete from wf.stop s where s.instance_id is null;
alter table wf.stop alter column instance_id set not null, alter column process_id set not null;
