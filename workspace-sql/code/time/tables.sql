-- The tables of schedules. What fires them is schedule.sql, and what a person or an
-- application says of them outside/schedule.sql.

comment on table wf.schedule is
    'What starts instances of a workflow at times. While one is active there is one row of work of kind schedule, '
    'which is due when its next time is.';
comment on column wf.schedule.id is 'its number';
comment on column wf.schedule.name is 'its name';
comment on column wf.schedule.workflow_id is 'the workflow; the version that is the newest one then';
comment on column wf.schedule.policy is 'it is the policy of the workflow itself, and has the name of that';
comment on column wf.schedule.times is 'the times that the cron expression names: the JSON of a wf.cron';
comment on column wf.schedule.cron is
    'the cron expression, in 5 fields, or 6 with seconds first; null: it has an interval';
comment on column wf.schedule.every is 'the interval from one time to the next; null: it has a cron expression';
comment on column wf.schedule.timezone is 'the time zone whose clock the cron expression is for';
comment on column wf.schedule.params is 'the parameters of each instance';
comment on column wf.schedule.priority is 'the priority of each instance';
comment on column wf.schedule.catchup is
    'how many of the times that nothing fired are made up for: the newest ones; 0: none that is later than the setting '
    'schedule_late says';
comment on column wf.schedule.overlap is
    'what becomes of a time at which an instance that it has started is under way: allow starts another one, skip '
    'none, queue starts it later, one after the other, replace aborts the one under way, and coalesce starts one later '
    'for all such times';
comment on column wf.schedule.jitter is 'up to how much later than its time an instance begins, chosen for each time';
comment on column wf.schedule.start_at is 'no time before this; intervals are counted from here';
comment on column wf.schedule.end_at is 'no time after this; null: it does not end';
comment on column wf.schedule.most is 'how many times it fires; null: any number';
comment on column wf.schedule.fired is 'how many times it has fired';
comment on column wf.schedule.next_at is 'its next time, without jitter; null if no time is left';
comment on column wf.schedule.paused_at is 'since when it is paused; null: it is not';
comment on column wf.schedule.lost_at is
    'when the workspace turned out to be restored or copied: times before that may have been fired already; null: '
    'never';
comment on column wf.schedule.login is 'the login whose grants and quotas count for what it starts: that which set it';
comment on column wf.schedule.set_at is 'when it was set';
comment on column wf.schedule.set_by is 'who set it';

comment on table wf.firing is
    'What became of the times of schedules: one row each, so that no time is fired twice. Of each schedule the last '
    '100 and some more are kept.';
comment on column wf.firing.schedule_id is 'the schedule';
comment on column wf.firing.nominal_at is 'the time, without jitter';
comment on column wf.firing.state is
    'started: its instance was started; waiting: it is to be started when the one before it has ended; skipped: it was '
    'not, because of what was under way; missed: it was not, since nothing fired it in time; refused: it could not be';
comment on column wf.firing.open is
    'its instance has not ended, as far as the schedule has been told; not noted for overlap allow';
comment on column wf.firing.until_at is 'missed: the end of the span in which all times were missed; itself not in it';
comment on column wf.firing.at is 'when that was decided';
comment on column wf.firing.instance_id is 'the instance that was started';
comment on column wf.firing.reason is 'why the time started no instance';
