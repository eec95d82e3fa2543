-- A workflow may say how its keys are used again.

alter table wf.version add key jsonb;
alter table wf.instance_key add next_id bigint;
create index work_after_idx on wf.work (item_id) where kind = 'start' and item_id > 0;
