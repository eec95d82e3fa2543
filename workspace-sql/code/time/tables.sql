-- The tables of schedules. schedule.sql fires the schedules; people and applications set,
-- pause and fire them with the procedures of outside/schedule.sql.

comment on table wf.schedule is
    'Schedules: each starts instances of a workflow at its times. An active schedule has one row of work of kind '
    'schedule, which is due at the next time.';
comment on column wf.schedule.id is 'its number';
comment on column wf.schedule.name is 'its name';
comment on column wf.schedule.workflow_id is 'the workflow; a time starts the version that is the newest then';
comment on column wf.schedule.policy is 'true: it is a policy of the workflow, and has the workflow''s name';
comment on column wf.schedule.times is 'the times that the cron expression names: the text of a wf.cron';
comment on column wf.schedule.cron is
    'the cron expression, in 5 fields, or 6 with seconds first; null: the schedule has an interval';
comment on column wf.schedule.every is 'the interval from one time to the next; null: it has a cron expression';
comment on column wf.schedule.timezone is 'the time zone in which the cron expression is read';
comment on column wf.schedule.params is 'the parameters of each instance';
comment on column wf.schedule.priority is 'the priority of each instance';
comment on column wf.schedule.catchup is
    'how many times that were not fired when they were due are fired later: the newest ones; 0: a time that is later '
    'than the setting schedule_late says is missed';
comment on column wf.schedule.overlap is
    'what happens if a time comes while an instance of the schedule is under way: allow starts another instance; skip '
    'starts none; queue starts the instances later, one after the other; replace aborts the instance under way; '
    'coalesce starts one instance later for all such times';
comment on column wf.schedule.jitter is 'an instance begins up to this much later than its time; chosen for each time';
comment on column wf.schedule.start_at is 'there is no time before this; intervals are counted from here';
comment on column wf.schedule.end_at is 'there is no time after this; null: the schedule does not end';
comment on column wf.schedule.most is 'how many times it fires in all; null: any number';
comment on column wf.schedule.fired is 'how many times it has fired';
comment on column wf.schedule.next_at is 'its next time, without jitter; null if no time is left';
comment on column wf.schedule.paused_at is 'since when it is paused; null: it is not';
comment on column wf.schedule.lost_at is
    'when the workspace turned out to be restored or copied: times before that may have been fired already; null: '
    'never';
comment on column wf.schedule.login is
    'the login that set the schedule; its grants and quotas count for the instances that the schedule starts';
comment on column wf.schedule.set_at is 'when it was set';
comment on column wf.schedule.set_by is 'who set it';

comment on table wf.firing is
    'What became of the times of schedules. Each time has one row, so that it is not fired twice. The last 100 rows '
    'of each schedule, and some more, are kept.';
comment on column wf.firing.schedule_id is 'the schedule';
comment on column wf.firing.nominal_at is 'the time, without jitter';
comment on column wf.firing.state is
    'started: an instance was started; waiting: one is to be started when the one before it has ended; skipped: none '
    'was started, because of another instance or time; missed: none was started, since nothing fired the time when it '
    'was due; refused: the start was refused';
comment on column wf.firing.open is
    'true: its instance has not ended, as far as the schedule has been told; false for overlap allow';
comment on column wf.firing.until_at is 'missed: all times from nominal_at until before this one were missed';
comment on column wf.firing.at is 'when the state was decided';
comment on column wf.firing.instance_id is 'the instance that was started';
comment on column wf.firing.reason is 'why the time started no instance';
