-- What was locked by advisory locks, which any login may take, is locked by
-- tables and rows. A driver of the former release has no session on record: it
-- is waited for as long as its lease, until it registers again.

create table wf.gate (
    id int primary key
);

create table wf.turn (
    id int primary key
);

alter table wf.version add column removed_xid xid8;
create index version_removed_idx on wf.version (removed_xid) where removed_xid is not null;

alter table wf.driver add column session_pid int, add column session_role oid;
update wf.driver d set attended = false;
