-- A driver shows by a lock that it is there; the workspace knows where it is.

alter table wf.driver add attended boolean not null default false;
comment on column wf.driver.attended is 'its session holds a lock that is gone when the connection is: (7764, id)';

insert into wf.setting (name, value, meaning, min, max) values
    ('grace_seconds', '5', 'the same of a driver whose connection is gone, too; what it may take to connect again', 1, 3600);

create table wf.home (
    only_one    boolean primary key default true check (only_one),
    system_id   bigint not null,
    database_id oid not null,
    timeline    text not null,
    started_at  timestamptz not null,
    restored    text
);
comment on table wf.home is 'Where the workspace was when it last looked, one row: it notices when it is somewhere else, and why.';
comment on column wf.home.only_one is 'true';
comment on column wf.home.system_id is 'system identifier of the cluster';
comment on column wf.home.database_id is 'oid of the database';
comment on column wf.home.timeline is 'timeline of the server''s WAL';
comment on column wf.home.started_at is 'when the server was started';
comment on column wf.home.restored is 'wf.restored, as the server''s configuration sets it';
insert into wf.home (system_id, database_id, timeline, started_at, restored)
select c.system_identifier, d.oid, left(pg_walfile_name(pg_current_wal_lsn()), 8), pg_postmaster_start_time(), nullif(current_setting('wf.restored', true), '')
  from pg_control_system() c, pg_database d
 where d.datname = current_database();
