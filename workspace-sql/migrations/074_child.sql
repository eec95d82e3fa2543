-- Instances that other instances start or wait for, and those that begin later.

alter table wf.timer drop constraint timer_kind_check;
alter table wf.timer
    add constraint timer_kind_check check (kind in ('sleep', 'poll', 'cancel', 'cleanup', 'retry', 'signal', 'child'));
alter table wf.timer add awaits_id bigint;
create index timer_awaits_idx on wf.timer (awaits_id) where awaits_id is not null;

alter table wf.instance add parent_id bigint, add parent_process_id bigint, add depth int not null default 0,
    add login oid, add scheduled_at timestamptz, add expires_at timestamptz;
create index instance_parent_idx on wf.instance (parent_id, id) where parent_id is not null;
