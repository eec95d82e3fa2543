-- Nothing reads schedules by their workflow. And output could come to an instance that was
-- purged meanwhile.

drop index wf.schedule_workflow_idx;
delete from wf.output_chunk c where not exists (select from wf.instance i where i.id = c.instance_id);
