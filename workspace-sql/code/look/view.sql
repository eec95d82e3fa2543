-- The views: what viewers may read. Every one of them shows rows of what is
-- true now; nothing is counted anywhere but here.

create or replace view wf.workflow_v with (security_barrier = true) as
select w.name as workflow,
       v.number as version,
       v.installed_at,
       v.installed_by,
       v.spec #>> '{workflow,doc}' as doc,
       v.params,
       (select count(*) from wf.instance i where i.workflow_id = w.id) as instances
  from wf.workflow w
  join wf.version v on v.id = w.version_id;
comment on view wf.workflow_v is 'The installed workflows, each with the version that start uses.';
comment on column wf.workflow_v.workflow is 'name of the workflow';
comment on column wf.workflow_v.version is 'number of its version';
comment on column wf.workflow_v.installed_at is 'when that version was installed';
comment on column wf.workflow_v.installed_by is 'by whom';
comment on column wf.workflow_v.doc is 'its documentation comment';
comment on column wf.workflow_v.params is 'its parameters';
comment on column wf.workflow_v.instances is 'how many instances there are, of any version';

create or replace view wf.version_v with (security_barrier = true) as
select w.name as workflow,
       v.number as version,
       v.installed_at,
       v.installed_by,
       v.checksum,
       v.source
  from wf.version v
  join wf.workflow w on w.id = v.workflow_id;
comment on view wf.version_v is 'All versions of all workflows, removed ones too.';
comment on column wf.version_v.workflow is 'name of the workflow';
comment on column wf.version_v.version is 'number of the version';
comment on column wf.version_v.installed_at is 'when it was installed';
comment on column wf.version_v.installed_by is 'by whom';
comment on column wf.version_v.checksum is 'SHA-256 of the compiled workflow and of the task types that it uses';
comment on column wf.version_v.source is 'text of the .wf file';

create or replace view wf.instance_v with (security_barrier = true) as
select i.id as instance_id,
       w.name as workflow,
       v.number as version,
       i.key,
       i.state,
       i.result,
       (select count(*) from wf.failed f where f.instance_id = i.id) as failed,
       i.priority,
       i.tags,
       i.started_at,
       i.ended_at,
       i.started_by,
       i.params,
       i.output,
       i.error,
       i.trace_id
  from wf.instance i
  join wf.workflow w on w.id = i.workflow_id
  join wf.version v on v.id = i.version_id;
comment on view wf.instance_v is 'The instances.';
comment on column wf.instance_v.instance_id is 'number of the instance';
comment on column wf.instance_v.workflow is 'the workflow';
comment on column wf.instance_v.version is 'the version that it runs';
comment on column wf.instance_v.key is 'idempotency key given to start';
comment on column wf.instance_v.state is 'RUNNING, SUSPENDED, ABORTING, END or ABORTED';
comment on column wf.instance_v.result is 'success, warning, error or aborted, once it has ended';
comment on column wf.instance_v.failed is 'how many of its processes are FAILED and wait for an operator';
comment on column wf.instance_v.priority is 'priority of its tasks, unless they have their own';
comment on column wf.instance_v.tags is 'tags given to start';
comment on column wf.instance_v.started_at is 'when it was started';
comment on column wf.instance_v.ended_at is 'when it ended';
comment on column wf.instance_v.started_by is 'who started it';
comment on column wf.instance_v.params is 'its parameters';
comment on column wf.instance_v.output is 'what it returned';
comment on column wf.instance_v.error is 'the error that ended it';
comment on column wf.instance_v.trace_id is 'begins the Idempotency-Key of its requests, and is the trace that they belong to';

create or replace view wf.process_v with (security_barrier = true) as
select p.instance_id,
       p.id as process_id,
       p.parent_id,
       p.kind,
       n.label as name,
       t.name as task_type,
       coalesce(p.policy ->> 'title', n.title) as title,
       p.state,
       p.attempt,
       p.index,
       p.at,
       n.line,
       g.name as group_name,
       case when n.input_fixed then n.input else p.input end as input,
       p.output,
       p.error,
       p.handle,
       d.name as driver
  from wf.process p
  join wf.node n on n.version_id = p.version_id and n.id = p.node_id
  left join wf.task_type t on t.id = n.type_id
  left join wf.concurrency_group g on g.id = p.group_id
  left join wf.lease l on l.instance_id = p.instance_id and l.process_id = p.id
  left join wf.driver d on d.id = l.driver_id;
comment on view wf.process_v is 'The processes: every node of an instance''s tree that has begun.';
comment on column wf.process_v.instance_id is 'the instance';
comment on column wf.process_v.process_id is 'number of the process, unique in the workspace';
comment on column wf.process_v.parent_id is 'the process around it; null for the root';
comment on column wf.process_v.kind is 'its form: sync, async or wait (tasks), or a row of wf.form';
comment on column wf.process_v.name is 'task type, workflow or kind, with the name that it binds';
comment on column wf.process_v.task_type is 'task: its type';
comment on column wf.process_v.title is 'its title, if it was given one';
comment on column wf.process_v.state is 'its state, see docs/states.md';
comment on column wf.process_v.attempt is '1 for the first attempt';
comment on column wf.process_v.index is 'body of a forall: its element''s index, from 0';
comment on column wf.process_v.at is 'when it came into its state';
comment on column wf.process_v.line is 'line in the source';
comment on column wf.process_v.group_name is 'its concurrency group';
comment on column wf.process_v.input is 'what its expressions gave: a task''s arguments, a forall''s list, a condition or value';
comment on column wf.process_v.output is 'its result';
comment on column wf.process_v.error is 'why it failed: {kind, message, detail}';
comment on column wf.process_v.handle is 'under which it runs outside';
comment on column wf.process_v.driver is 'the driver that holds a request of it now';

create or replace view wf.task_v with (security_barrier = true) as
select p.instance_id, p.process_id, p.parent_id, p.kind, p.name, p.task_type, p.title, p.state, p.attempt, p.index,
       p.at, p.line, p.group_name, p.input, p.output, p.error, p.handle, p.driver
  from wf.process_v p
 where p.task_type is not null;
comment on view wf.task_v is 'The tasks: the processes that do something, without those that only hold others together.';
comment on column wf.task_v.instance_id is 'the instance';
comment on column wf.task_v.process_id is 'number of the process, unique in the workspace';
comment on column wf.task_v.parent_id is 'the process around it; null for the root';
comment on column wf.task_v.kind is 'sync, async or wait';
comment on column wf.task_v.name is 'task type, with the name that it binds';
comment on column wf.task_v.task_type is 'its task type';
comment on column wf.task_v.title is 'its title, if it was given one';
comment on column wf.task_v.state is 'its state, see docs/states.md';
comment on column wf.task_v.attempt is '1 for the first attempt';
comment on column wf.task_v.index is 'body of a forall: its element''s index, from 0';
comment on column wf.task_v.at is 'when it came into its state';
comment on column wf.task_v.line is 'line in the source';
comment on column wf.task_v.group_name is 'its concurrency group';
comment on column wf.task_v.input is 'its arguments';
comment on column wf.task_v.output is 'its result';
comment on column wf.task_v.error is 'why it failed: {kind, message, detail}';
comment on column wf.task_v.handle is 'under which it runs outside';
comment on column wf.task_v.driver is 'the driver that holds a request of it now';

create or replace view wf.event_v with (security_barrier = true) as
select e.instance_id,
       e.seq,
       e.at,
       e.process_id,
       coalesce(coalesce(p.policy ->> 'title', n.title, n.label) || coalesce(' [' || s.index || ']', ''), w.name) as label,
       e.was,
       e.event,
       e.state,
       x.actor,
       x.client,
       e.reason,
       e.detail
  from wf.event e
  left join wf.txn x on x.xid = e.xid
  left join wf.process p on p.instance_id = e.instance_id and p.id = e.process_id
  left join wf.process s on s.instance_id = p.instance_id and s.id = p.scopes[cardinality(p.scopes)]
  left join wf.node n on n.version_id = p.version_id and n.id = p.node_id
  left join wf.instance i on i.id = e.instance_id and e.process_id is null
  left join wf.workflow w on w.id = i.workflow_id;
comment on view wf.event_v is 'The history: every recorded move, with who made it and why.';
comment on column wf.event_v.instance_id is 'the instance';
comment on column wf.event_v.seq is 'order of the instance''s history';
comment on column wf.event_v.at is 'when';
comment on column wf.event_v.process_id is 'the process; null for a move of the instance itself';
comment on column wf.event_v.label is 'what the process is called, as in label_v; for a move of the instance its workflow';
comment on column wf.event_v.was is 'state before';
comment on column wf.event_v.event is 'what happened';
comment on column wf.event_v.state is 'state after';
comment on column wf.event_v.actor is 'the role that caused it';
comment on column wf.event_v.client is 'the address that it came from; null for a local socket';
comment on column wf.event_v.reason is 'reason that an operator gave';
comment on column wf.event_v.detail is 'for failures the error; for operators what they gave';

create or replace view wf.group_v with (security_barrier = true) as
select g.name,
       g.max,
       (select count(*) from wf.slot s where s.group_id = g.id) as held,
       (select count(*) from wf.parked k where k.group_id = g.id) as waiting
  from (select x.id, x.name, x.max from wf.concurrency_group x
         union all
        -- groups whose rows the next poll will insert
        select d.group_id, max(d.name), nullif((array_agg(d.max order by d.id desc) filter (where d.max is not null))[1], -1)
          from wf.dirty d
         where d.group_id is not null and not exists (select from wf.concurrency_group x where x.id = d.group_id)
         group by d.group_id
        having max(d.name) is not null) g;
comment on view wf.group_v is 'The concurrency groups.';
comment on column wf.group_v.name is 'name of the group';
comment on column wf.group_v.max is 'how many of its tasks may be with drivers at once; null means any number';
comment on column wf.group_v.held is 'how many places are taken';
comment on column wf.group_v.waiting is 'how many tasks wait for a place';

create or replace view wf.driver_v with (security_barrier = true) as
select d.id as driver_id,
       d.name,
       d.version,
       d.state,
       d.started_at,
       s.seen_at,
       d.slots,
       (select count(*) from wf.lease l where l.driver_id = d.id) as in_flight,
       d.transports,
       d.queues,
       d.capabilities
  from wf.driver d
  join wf.sign_of_life s on s.driver_id = d.id;
comment on view wf.driver_v is 'The drivers; each start of a driver is a row of its own. Those that have been gone for a day are forgotten when another one of their name comes.';
comment on column wf.driver_v.driver_id is 'its incarnation';
comment on column wf.driver_v.name is 'name that it gave';
comment on column wf.driver_v.version is 'version of the program';
comment on column wf.driver_v.state is 'live, draining, left or lost';
comment on column wf.driver_v.started_at is 'when it registered';
comment on column wf.driver_v.seen_at is 'last sign of life, to the second';
comment on column wf.driver_v.slots is 'how many requests it carries out at once';
comment on column wf.driver_v.in_flight is 'how many requests it holds now';
comment on column wf.driver_v.transports is 'transports that it has';
comment on column wf.driver_v.queues is 'queues that it serves; none listed means every queue';
comment on column wf.driver_v.capabilities is 'what else it has that tasks may require: name or name=value';

create or replace view wf.engine_v with (security_barrier = true) as
select case x.event when 'pause' then 'PAUSED' else 'RUNNING' end as state,
       x.at as since,
       x.actor,
       x.client,
       x.reason,
       (select count(*) from wf.lease) as in_flight,
       wf.schema_version() as schema_version
  from (values (true)) one (row)
  left join (select e.event, e.at, e.actor, e.client, e.reason from wf.engine_event e order by e.id desc limit 1) x on true;
comment on view wf.engine_v is 'The engine, one row: does it hand out requests?';
comment on column wf.engine_v.state is 'RUNNING, or PAUSED: no driver gets a request';
comment on column wf.engine_v.since is 'since when; null if it has never been paused';
comment on column wf.engine_v.actor is 'who paused or resumed it';
comment on column wf.engine_v.client is 'the address that it came from; null for a local socket';
comment on column wf.engine_v.reason is 'reason that was given';
comment on column wf.engine_v.in_flight is 'how many requests drivers hold now';
comment on column wf.engine_v.schema_version is 'version of the schema';

create or replace view wf.engine_event_v with (security_barrier = true) as
select e.id as seq, e.at, e.event, e.actor, e.client, e.reason
  from wf.engine_event e;
comment on view wf.engine_event_v is 'The history of the engine itself: when it was paused and resumed, by whom and why.';
comment on column wf.engine_event_v.seq is 'order';
comment on column wf.engine_event_v.at is 'when';
comment on column wf.engine_event_v.event is 'pause or resume';
comment on column wf.engine_event_v.actor is 'the role that did it';
comment on column wf.engine_event_v.client is 'the address that it came from; null for a local socket';
comment on column wf.engine_event_v.reason is 'reason that was given';
