-- Tasks require capabilities of a driver.

comment on column wf.task_request.transport is 'http, ssh, sql, exec or builtin';

alter table wf.lane
    add requires text[] not null default '{}',
    drop constraint lane_queue_needs_key,
    add unique (queue, needs, requires);
comment on column wf.lane.requires is 'capabilities that the task requires, sorted';

comment on column wf.node.lane_id is 'leaf: its lane; where queue or requires is an expression, that of queue default or of no capabilities';
comment on column wf.node.policy is 'policies that are not fixed: one expression that gives an object with group, group_max, queue, requires, priority, title';

alter table wf.driver add capabilities text[] not null default '{}';
comment on column wf.driver.capabilities is 'what else it has that tasks may require: name or name=value';
