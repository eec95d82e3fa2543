-- What is tried alone keeps all that was asked for. What a task type says of
-- itself stands in its spec, and for each task in wf.node.

alter table wf.work add asked jsonb;
update wf.work w
   set kind = 'settle', asked = jsonb_build_object('id', w.id, 'group_id', w.item_id), item_id = w.id
 where w.kind = 'grant';

alter table wf.task_type drop column idempotent;
