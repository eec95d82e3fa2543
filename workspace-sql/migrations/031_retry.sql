-- Tasks have a policy `retry`. What waits for its next attempt has a timer.

alter table wf.node add retry jsonb, add retry_when jsonb;
alter table wf.process add retry_from int;
alter table wf.timer
    drop constraint timer_kind_check,
    add constraint timer_kind_check check (kind in ('sleep', 'poll', 'cancel', 'cleanup', 'retry'));
