-- The views that viewers may read. Each shows the present rows of the tables. No
-- table has counters: the views count.

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
comment on column wf.workflow_v.installed_by is 'who installed that version';
comment on column wf.workflow_v.doc is 'its documentation comment';
comment on column wf.workflow_v.params is 'its parameters';
comment on column wf.workflow_v.instances is 'how many instances there are, of any version';

create or replace view wf.version_v with (security_barrier = true) as
select w.name as workflow,
       v.number as version,
       v.installed_at,
       v.installed_by,
       v.checksum,
       v.source,
       jsonb_build_object('format', 1, 'workflows', jsonb_build_array(v.spec -> 'workflow'),
                          'task_types', v.spec -> 'task_types') as tree
  from wf.version v
  join wf.workflow w on w.id = v.workflow_id;
comment on view wf.version_v is 'All versions of all workflows, removed ones too.';
select wf._inherit_comments('version_v', 'version') \gset
comment on column wf.version_v.workflow is 'name of the workflow';
comment on column wf.version_v.version is 'number of the version';
comment on column wf.version_v.source is
    'the text that its author gave. It is a comment that nothing checks: tree is what runs, and wf-console verify '
    'compares the two';
comment on column wf.version_v.tree is
    'what runs: the compiled workflow, as a file of docs/spec.md; wf-console print writes it as text';

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
       i.trace_id,
       wf.progress(i.id) as progress,
       i.parent_id,
       i.parent_process_id,
       i.depth,
       i.scheduled_at,
       i.expires_at,
       i.state in ('END', 'ABORTED') as is_over,
       wf.has_only_failures(i.id) as has_only_failures,
       wf.waits_for_operator(i.id) as waits_for_operator
  from wf.instance i
  join wf.workflow w on w.id = i.workflow_id
  join wf.version v on v.id = i.version_id;
comment on view wf.instance_v is 'The instances.';
select wf._inherit_comments('instance_v', 'instance') \gset
comment on column wf.instance_v.instance_id is 'number of the instance';
comment on column wf.instance_v.workflow is 'the workflow';
comment on column wf.instance_v.version is 'the version that it runs';
comment on column wf.instance_v.state is 'SCHEDULED, RUNNING, SUSPENDED, ABORTING, END or ABORTED';
comment on column wf.instance_v.failed is 'how many of its processes are FAILED and wait for an operator';
comment on column wf.instance_v.progress is 'how far it is, from 0 to 1; null if it was aborted';
comment on column wf.instance_v.is_over is 'whether its state is final: END or ABORTED';
comment on column wf.instance_v.has_only_failures is
    'whether a process in it has failed, and none of its other tasks is under way: it does not go on by itself';
comment on column wf.instance_v.waits_for_operator is
    'whether only an operator can let it go on: it has only failures, it is suspended, or the engine is paused';

create or replace view wf.process_v with (security_barrier = true) as
select p.instance_id,
       p.id as process_id,
       p.parent_id,
       p.kind,
       n.label as name,
       n.task_type,
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
       d.name as driver,
       case when p.state = 'INIT'
            then (select t.due_at from wf.timer t
                   where t.instance_id = p.instance_id and t.process_id = p.id and t.kind = 'retry') end as retry_at,
       case when p.timed > 0
            then (select min(t.due_at) from wf._limit_v t
                   where t.instance_id = p.instance_id and t.process_id = p.id and isfinite(t.due_at))
            end as times_out_at,
       p.state in ('END', 'RAISED', 'ABORTED') as is_over
  from wf.process p
  join wf.node n on n.version_id = p.version_id and n.id = p.node_id
  left join wf.concurrency_group g on g.id = p.group_id
  left join wf.lease l on l.instance_id = p.instance_id and l.process_id = p.id
  left join wf.driver d on d.id = l.driver_id;
comment on view wf.process_v is 'The processes: every node of an instance''s tree that has begun.';
select wf._inherit_comments('process_v', 'process') \gset
comment on column wf.process_v.process_id is 'number of the process, unique in the workspace';
comment on column wf.process_v.parent_id is 'the process around it; null for the root';
comment on column wf.process_v.kind is 'its form: sync, async, wait, child or atomic (tasks), or a row of wf.form';
comment on column wf.process_v.name is 'task type, workflow or kind, with the name that it binds';
comment on column wf.process_v.task_type is 'task: its type';
comment on column wf.process_v.title is 'its title, if it was given one';
comment on column wf.process_v.state is 'its state, see docs/states.md';
comment on column wf.process_v.at is 'when it came into its state';
comment on column wf.process_v.line is 'line in the source';
comment on column wf.process_v.group_name is 'its concurrency group';
comment on column wf.process_v.input is
    'what its expressions gave: a task''s arguments, a forall''s list, a loop''s first state, a condition or value';
comment on column wf.process_v.handle is 'the handle under which an asynchronous task runs outside';
comment on column wf.process_v.driver is 'the driver that holds a request of it now';
comment on column wf.process_v.retry_at is 'when its next attempt begins, if its policy tries it again';
comment on column wf.process_v.is_over is 'whether its state is final: END, RAISED or ABORTED';
comment on column wf.process_v.times_out_at is
    'when the first limit of its policy timeout is reached; signs of life of the task put an inactivity off';

create or replace view wf.task_v with (security_barrier = true) as
select p.instance_id, p.process_id, p.parent_id, p.kind, p.name, p.task_type, p.title, p.state, p.attempt, p.index,
       p.at, p.line, p.group_name, p.input, p.output, p.error, p.handle, p.driver, p.retry_at, p.times_out_at, p.is_over
  from wf.process_v p
 where p.task_type is not null;
comment on view wf.task_v is
    'The tasks: the processes that do work, without the composites, which only hold other processes.';
select wf._inherit_comments('task_v', 'process_v') \gset
comment on column wf.task_v.kind is 'sync, async, wait, child or atomic';
comment on column wf.task_v.name is 'task type, with the name that it binds; atomic, with the names that it binds';
comment on column wf.task_v.task_type is 'its task type';
comment on column wf.task_v.input is 'its arguments';

create or replace view wf.event_v with (security_barrier = true) as
select e.instance_id,
       e.seq,
       e.at,
       e.process_id,
       coalesce(coalesce(p.policy ->> 'title', n.title, n.label) || coalesce(' [' || s.index || ']', ''),
                w.name) as label,
       e.was,
       e.event,
       e.state,
       coalesce(x.login || ' as ' || nullif(e.role, x.login), x.login, x.actor) as actor,
       coalesce(x.login, x.actor) as login,
       coalesce(e.role, x.login, x.actor) as role,
       case when x.xid is not null then coalesce(host(x.client), 'local') end as client,
       e.reason,
       e.detail,
       coalesce(x.server_at, x.at) as server_at
  from wf.event e
  left join wf.txn x on x.xid = e.xid
  left join wf.process p on p.instance_id = e.instance_id and p.id = e.process_id
  left join wf.process s on s.instance_id = p.instance_id and s.id = p.scopes[cardinality(p.scopes)]
  left join wf.node n on n.version_id = p.version_id and n.id = p.node_id
  left join wf.instance i on i.id = e.instance_id and e.process_id is null
  left join wf.workflow w on w.id = i.workflow_id;
comment on view wf.event_v is 'The history: every recorded move, with who made it and why.';
select wf._inherit_comments('event_v', 'event') \gset
comment on column wf.event_v.label is
    'the label of the process, as in label_v; for a move of the instance its workflow';
comment on column wf.event_v.event is 'what happened';
comment on column wf.event_v.actor is 'who caused it: the login, and the role that it acted as: "ann as wf_operator"';
comment on column wf.event_v.login is
    'the login that caused it (session_user); before schema version 66 only the role was kept';
comment on column wf.event_v.role is 'the role as which the login acted: the role of its SET ROLE, or the login itself';
comment on column wf.event_v.client is 'the address that it came from; local: a socket of the server''s machine';
comment on column wf.event_v.server_at is
    'the clock of the server when the transaction first wrote history; at may be another one in a workspace for tests';
comment on column wf.event_v.detail is
    'for failures the error; for operators what they gave; for a retry by policy when it is due';

create or replace view wf.checkpoint_v with (security_barrier = true) as
select e.instance_id,
       e.process_id,
       e.seq,
       e.at,
       n.line,
       coalesce(n.input = 'true', false) as only_this,
       coalesce(bool_or(n.input = 'true') over (partition by e.instance_id order by e.seq desc
                                                rows between unbounded preceding and 1 preceding), false) as forgotten
  from wf.event e
  join wf.process p on p.instance_id = e.instance_id and p.id = e.process_id
  join wf.node n on n.version_id = p.version_id and n.id = p.node_id
 where e.event = 'checkpoint';
comment on view wf.checkpoint_v is
    'The checkpoints that instances have passed: the points of their history from which they can be replayed.';
select wf._inherit_comments('checkpoint_v', 'event') \gset
comment on column wf.checkpoint_v.seq is
    'order in the history: values that binding_v has from here on were bound after the checkpoint';
comment on column wf.checkpoint_v.at is 'when the instance passed it';
comment on column wf.checkpoint_v.line is 'line in the source';
comment on column wf.checkpoint_v.only_this is 'true: it forgets the checkpoints before it';
comment on column wf.checkpoint_v.forgotten is 'true: a later one has forgotten it';

create or replace view wf.binding_v with (security_barrier = true) as
select b.instance_id, b.scope_id as process_id, b.name, b.value,
       null::bigint as until_seq, null::timestamptz as until_at
  from wf.binding b
 union all
select b.instance_id, b.scope_id, b.name, b.value, b.until_seq, e.at
  from wf.binding_past b
  -- the move that replaced it was recorded just before
  left join lateral (select x.at
                       from wf.event x
                      where x.instance_id = b.instance_id and x.seq < b.until_seq
                      order by x.seq desc limit 1) e on true;
comment on view wf.binding_v is
    'The values of names, and the former values of names that were bound again.';
comment on column wf.binding_v.instance_id is 'the instance';
comment on column wf.binding_v.process_id is 'the process that opened the scope of the name';
comment on column wf.binding_v.name is 'the name';
comment on column wf.binding_v.value is 'its value';
comment on column wf.binding_v.until_seq is
    'former value: when it was replaced, in the order of the history; null: the present value';
comment on column wf.binding_v.until_at is 'former value: when it was replaced';

create or replace view wf.group_v with (security_barrier = true) as
select g.name,
       g.max,
       (select count(*) from wf.slot s where s.group_id = g.id) as held,
       (select count(*) from wf.parked k where k.group_id = g.id) as waiting
  from (select coalesce(x.id, d.group_id) as id, coalesce(x.name, d.name) as name,
               case when d.max is null then x.max else nullif(d.max, -1) end as max
          from wf.concurrency_group x
          -- what the next poll will settle: new groups, and the last max that was given
          full join (select a.group_id, max(a.name) as name,
                            (array_agg(a.max order by a.id desc) filter (where a.max is not null))[1] as max
                       -- the rows of wf._asked, a function that viewers may not call
                       from (select y.* from wf.dirty y
                              union all
                             select y.*
                               from wf.work w
                              cross join lateral jsonb_populate_record(null::wf.dirty, w.asked) y
                              where w.kind = 'settle') a
                      where a.group_id is not null
                      group by a.group_id) d on d.group_id = x.id
         where coalesce(x.name, d.name) is not null) g;
comment on view wf.group_v is 'The concurrency groups.';
comment on column wf.group_v.name is 'name of the group';
comment on column wf.group_v.max is 'how many of its tasks may be with drivers at once; null means any number';
comment on column wf.group_v.held is 'how many places are taken';
comment on column wf.group_v.waiting is 'how many tasks wait for a place';

create or replace view wf.rate_v with (security_barrier = true) as
select r.name,
       r.max,
       r.per,
       (select coalesce(sum(s.count), 0)::bigint from wf.rate_spent s
         where s.rate_id = r.id and s.free_at > wf.now()) as begun,
       (select count(*) from wf.rate_place h where h.rate_id = r.id) as granted,
       (select count(*) from wf.parked k where k.rate_id = r.id and k.reason = 'rate') as waiting,
       (select min(s.free_at) from wf.rate_spent s
         where s.rate_id = r.id and s.free_at > wf.now()) as free_at
  from wf.rate r;
comment on view wf.rate_v is 'The rates.';
comment on column wf.rate_v.name is 'name of the rate';
comment on column wf.rate_v.max is 'how many of its tasks may begin';
comment on column wf.rate_v.per is 'the length of time in which so many may begin';
comment on column wf.rate_v.begun is 'how many tasks began so lately that they still count';
comment on column wf.rate_v.granted is 'how many tasks may begin now, and wait for a driver';
comment on column wf.rate_v.waiting is 'how many tasks wait until they may begin';
comment on column wf.rate_v.free_at is 'when the first of the tasks that have begun counts no longer';

create or replace view wf.driver_v with (security_barrier = true) as
select d.id as driver_id,
       d.name,
       d.version,
       d.state,
       d.started_at,
       s.seen_at,
       d.ended_at,
       d.slots,
       (select count(*) from wf.lease l where l.driver_id = d.id) as in_flight,
       d.transports,
       d.queues,
       d.capabilities,
       pg_get_userbyid(d.login) as login
  from wf.driver d
  join wf.sign_of_life s on s.driver_id = d.id;
comment on view wf.driver_v is
    'The drivers. Each start of a driver has a row of its own. A row whose driver has been gone for a day is deleted '
    'when another driver of that name registers.';
select wf._inherit_comments('driver_v', 'driver') \gset
comment on column wf.driver_v.driver_id is 'number of this start of the driver';
comment on column wf.driver_v.login is 'the login that registered it; no other login may use its number';
comment on column wf.driver_v.seen_at is 'last sign of life, to the second';
comment on column wf.driver_v.in_flight is 'how many requests it holds now';

create or replace view wf.engine_v with (security_barrier = true) as
select case x.event when 'pause' then 'PAUSED' else 'RUNNING' end as state,
       x.at as since,
       x.actor,
       case when x.at is not null then coalesce(host(x.client), 'local') end as client,
       x.reason,
       (select count(*) from wf.lease) as in_flight,
       wf.schema_version() as schema_version
  from (values (true)) one (row)
  left join (select e.event, e.at, e.actor, e.client, e.reason
               from wf.engine_event e
              order by e.id desc
              limit 1) x on true;
comment on view wf.engine_v is 'The engine, one row: does it hand out requests?';
comment on column wf.engine_v.state is 'RUNNING, or PAUSED: no driver gets a request';
comment on column wf.engine_v.since is 'since when; null if it has never been paused';
comment on column wf.engine_v.actor is 'who paused or resumed it';
comment on column wf.engine_v.client is 'the address that it came from; local: a socket of the server''s machine';
comment on column wf.engine_v.reason is 'reason that was given';
comment on column wf.engine_v.in_flight is 'how many requests drivers hold now';
comment on column wf.engine_v.schema_version is 'version of the schema';

create or replace view wf.engine_event_v with (security_barrier = true) as
select e.id as seq, e.at, e.event, e.actor, coalesce(host(e.client), 'local') as client, e.reason
  from wf.engine_event e;
comment on view wf.engine_event_v is
    'The history of the engine itself: when it was paused and resumed, by whom and why.';
select wf._inherit_comments('engine_event_v', 'engine_event') \gset
comment on column wf.engine_event_v.seq is 'order';
comment on column wf.engine_event_v.client is 'the address that it came from; local: a socket of the server''s machine';
