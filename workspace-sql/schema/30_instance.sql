-- Instances and everything that moves. Each of these tables holds rows only for
-- what is true now (or, for event and txn, for what has happened): no counter
-- stands beside them that could drift.

create table wf.instance (
    id          bigint generated always as identity primary key,
    workflow_id bigint not null,
    version_id  bigint not null,
    was         text not null,
    event       text not null,
    state       text not null,
    at          timestamptz not null,
    key         text,
    params      jsonb not null default '{}',
    priority    int not null default 0,
    tags        text[] not null default '{}',
    trace_id    uuid not null default gen_random_uuid(),
    warned      boolean not null default false,
    result      text,
    output      jsonb,
    error       jsonb,
    started_at  timestamptz not null,
    started_by  text not null,
    ended_at    timestamptz
) with (fillfactor = 50);
create index instance_workflow_idx on wf.instance (workflow_id, id);
create index instance_version_idx on wf.instance (version_id);
comment on table wf.instance is 'A started workflow.';
comment on column wf.instance.id is 'number of the instance';
comment on column wf.instance.workflow_id is 'the workflow';
comment on column wf.instance.version_id is 'the version that it runs, for good';
comment on column wf.instance.was is 'last move: state before';
comment on column wf.instance.event is 'last move: event';
comment on column wf.instance.state is 'last move: state after';
comment on column wf.instance.at is 'last move: when';
comment on column wf.instance.key is 'idempotency key given to start';
comment on column wf.instance.params is 'its parameters';
comment on column wf.instance.priority is 'priority of its tasks, unless they have their own; higher first';
comment on column wf.instance.tags is 'tags given to start';
comment on column wf.instance.trace_id is 'begins the Idempotency-Key of its requests, and is the trace that they belong to';
comment on column wf.instance.warned is 'something in it was ignored: its result will be no better than warning';
comment on column wf.instance.result is 'success, warning, error or aborted, once it has ended';
comment on column wf.instance.output is 'what it returned';
comment on column wf.instance.error is 'the error that ended it';
comment on column wf.instance.started_at is 'when';
comment on column wf.instance.started_by is 'by whom';
comment on column wf.instance.ended_at is 'when it ended';

create table wf.instance_key (
    workflow_id bigint not null,
    key         text not null,
    instance_id bigint not null,
    digest      text not null,
    primary key (workflow_id, key)
);
comment on table wf.instance_key is 'Idempotency keys; they outlive their instances.';
comment on column wf.instance_key.workflow_id is 'the workflow';
comment on column wf.instance_key.key is 'the key given to start';
comment on column wf.instance_key.instance_id is 'the instance that it started';
comment on column wf.instance_key.digest is 'SHA-256 of the payload; another payload under the same key is refused';

create sequence wf.process_id cache 50;

create table wf.process (
    instance_id bigint not null,
    id          bigint not null,
    parent_id   bigint,
    version_id  bigint not null,
    group_id    bigint,
    lane_id     bigint,
    at          timestamptz not null,
    began_at    timestamptz not null,
    node_id     int not null,
    next_id     int,
    open        int not null default 0,
    todo        int not null default 0,
    fill        int not null default 0,
    total       int not null default 0,
    index       int,
    attempt     int not null default 1,
    rank        smallint not null default 0,
    collects    boolean,
    plain       boolean not null default false,
    kind        text not null,
    was         text not null,
    event       text not null,
    state       text not null,
    scopes      bigint[] not null,
    bind        text,
    token       uuid,
    input       jsonb,
    policy      jsonb,
    handle      jsonb,
    output      jsonb,
    error       jsonb,
    wide        boolean,
    primary key (instance_id, id)
) with (fillfactor = 30);
create index process_parent_idx on wf.process (parent_id, index, id) where wide;
comment on table wf.process is 'A node of an instance''s tree that has begun. (was, event, state) is its last move, a row of wf.transition.';
comment on column wf.process.instance_id is 'the instance';
comment on column wf.process.id is 'number of the process, unique in the workspace';
comment on column wf.process.parent_id is 'the process around it';
comment on column wf.process.version_id is 'the version, copied from the instance';
comment on column wf.process.group_id is 'leaf: its concurrency group';
comment on column wf.process.lane_id is 'leaf: its lane';
comment on column wf.process.at is 'last move: when';
comment on column wf.process.began_at is 'when it was enabled';
comment on column wf.process.node_id is 'the node of the version''s tree';
comment on column wf.process.next_id is 'copied from the node: what begins when it ends';
comment on column wf.process.open is 'composite: children that have not ended';
comment on column wf.process.todo is 'forall: elements that have not begun';
comment on column wf.process.fill is 'forall: how many elements the last refill began';
comment on column wf.process.total is 'forall: number of elements';
comment on column wf.process.index is 'child of a forall: its element''s index, from 0';
comment on column wf.process.attempt is '1 for the first attempt';
comment on column wf.process.rank is 'minus its priority; handed down';
comment on column wf.process.collects is 'true: when it ends, the forall around it collects from its scope';
comment on column wf.process.plain is 'copied from the node: any response is a success';
comment on column wf.process.kind is 'copied from the node';
comment on column wf.process.was is 'last move: state before';
comment on column wf.process.event is 'last move: event';
comment on column wf.process.state is 'last move: state after';
comment on column wf.process.scopes is 'the processes that opened the scopes that it sees, outermost first';
comment on column wf.process.bind is 'copied from the node: the name that its output binds';
comment on column wf.process.token is 'token of its last start request; null if that was lost with its driver';
comment on column wf.process.input is 'what its node''s input gave; null where the node''s is fixed';
comment on column wf.process.policy is 'what its node''s policy expressions gave';
comment on column wf.process.handle is 'async: under which it runs outside';
comment on column wf.process.output is 'its result';
comment on column wf.process.error is 'why it failed: {kind, message, detail}';
comment on column wf.process.wide is 'copied from the node: it is found by its parent; null for the root';

create table wf.failed (
    instance_id bigint not null,
    process_id  bigint not null,
    primary key (instance_id, process_id)
);
comment on table wf.failed is 'The processes that are FAILED now.';
comment on column wf.failed.instance_id is 'the instance';
comment on column wf.failed.process_id is 'the process';

create table wf.ready (
    instance_id bigint not null,
    process_id  bigint not null,
    lane_id     bigint not null,
    turn        bigint not null,
    rank        smallint not null,
    request     text not null,
    primary key (instance_id, process_id)
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
create unique index ready_claim_idx on wf.ready (lane_id, rank, turn, instance_id, process_id);
comment on table wf.ready is 'The requests that a driver may take now, and nothing else.';
comment on column wf.ready.instance_id is 'the instance';
comment on column wf.ready.process_id is 'the process';
comment on column wf.ready.lane_id is 'what a driver must serve to take it';
comment on column wf.ready.turn is 'virtual time, in microseconds: the lowest is taken first';
comment on column wf.ready.rank is 'minus its priority: the lowest is taken first';
comment on column wf.ready.request is 'start, poll, cancel or cleanup';

create table wf.parked (
    instance_id bigint not null,
    process_id  bigint not null,
    reason      text not null check (reason in ('group', 'suspended')),
    group_id    bigint,
    lane_id     bigint not null,
    turn        bigint not null,
    rank        smallint not null,
    parked_at   timestamptz not null,
    primary key (instance_id, process_id),
    check ((reason = 'group') = (group_id is not null))
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
create unique index parked_group_idx on wf.parked (group_id, rank, turn, instance_id, process_id);
comment on table wf.parked is 'The leaves in INIT that may not be taken yet, and why.';
comment on column wf.parked.instance_id is 'the instance';
comment on column wf.parked.process_id is 'the process';
comment on column wf.parked.reason is 'what it waits for: a place in its group, or that its instance is no longer suspended';
comment on column wf.parked.group_id is 'group: the concurrency group that has no place for it';
comment on column wf.parked.lane_id is 'as in ready';
comment on column wf.parked.turn is 'as in ready';
comment on column wf.parked.rank is 'as in ready';
comment on column wf.parked.parked_at is 'since when';

create table wf.suspended (
    instance_id bigint primary key,
    at          timestamptz not null,
    actor       text not null,
    reason      text
);
comment on table wf.suspended is 'The instances that are SUSPENDED now.';
comment on column wf.suspended.instance_id is 'the instance';
comment on column wf.suspended.at is 'since when';
comment on column wf.suspended.actor is 'who suspended it';
comment on column wf.suspended.reason is 'reason that was given';

create table wf.lease (
    instance_id bigint not null,
    process_id  bigint not null,
    token       uuid not null,
    driver_id   bigint not null,
    request     text not null,
    at          timestamptz not null,
    primary key (instance_id, process_id)
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
comment on table wf.lease is 'The requests that drivers hold. A lease lives as long as its driver gives signs of life.';
comment on column wf.lease.instance_id is 'the instance';
comment on column wf.lease.process_id is 'the process';
comment on column wf.lease.token is 'names this request; never issued twice';
comment on column wf.lease.driver_id is 'the driver';
comment on column wf.lease.request is 'start, poll, cancel or cleanup';
comment on column wf.lease.at is 'since when';

create table wf.loss (
    instance_id bigint not null,
    process_id  bigint not null,
    attempt     int not null,
    request     text not null,
    token       uuid not null,
    losses      int not null,
    due_at      timestamptz not null,
    primary key (instance_id, process_id)
);
comment on table wf.loss is 'Requests whose drivers died. Kept when the task has ended.';
comment on column wf.loss.instance_id is 'the instance';
comment on column wf.loss.process_id is 'the task';
comment on column wf.loss.attempt is 'the attempt that the last one belonged to';
comment on column wf.loss.request is 'the last one: start, poll, cancel or cleanup';
comment on column wf.loss.token is 'its token';
comment on column wf.loss.losses is 'how many drivers in a row died with it';
comment on column wf.loss.due_at is 'when the last one was taken back, or is';

create table wf.stop (
    driver_id bigint not null,
    token     uuid not null,
    primary key (driver_id, token)
);
comment on table wf.stop is 'Requests in flight that a driver has yet to be told to stop.';
comment on column wf.stop.driver_id is 'the driver';
comment on column wf.stop.token is 'the request';

create table wf.slot (
    instance_id bigint not null,
    process_id  bigint not null,
    group_id    bigint not null,
    primary key (instance_id, process_id)
);
create index slot_group_idx on wf.slot (group_id);
comment on table wf.slot is 'The places of concurrency groups that are taken.';
comment on column wf.slot.instance_id is 'the instance';
comment on column wf.slot.process_id is 'the process that has the place';
comment on column wf.slot.group_id is 'the concurrency group';

create table wf.dirty (
    id       bigint generated always as identity primary key,
    group_id bigint not null,
    max      int
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
comment on table wf.dirty is 'Work list: concurrency groups whose places are to be granted anew.';
comment on column wf.dirty.id is 'key, in order of arrival';
comment on column wf.dirty.group_id is 'the concurrency group';
comment on column wf.dirty.max is 'the max that a task gives it; the last wins';

create table wf.binding (
    instance_id bigint not null,
    scope_id    bigint not null,
    name        text not null,
    value       jsonb,
    primary key (instance_id, scope_id, name)
);
comment on table wf.binding is 'The values of names.';
comment on column wf.binding.instance_id is 'the instance';
comment on column wf.binding.scope_id is 'the process that opened the scope';
comment on column wf.binding.name is 'the name';
comment on column wf.binding.value is 'its value';

create table wf.forall_item (
    instance_id bigint not null,
    process_id  bigint not null,
    chunk       int not null,
    items       jsonb not null,
    primary key (instance_id, process_id, chunk)
);
comment on table wf.forall_item is 'The elements of a forall that have yet to begin, in chunks.';
comment on column wf.forall_item.instance_id is 'the instance';
comment on column wf.forall_item.process_id is 'the forall';
comment on column wf.forall_item.chunk is 'elements chunk·1000 to chunk·1000 + 999';
comment on column wf.forall_item.items is 'the list of these elements';

create table wf.forall_result (
    instance_id bigint not null,
    process_id  bigint not null,
    index       int not null,
    value       jsonb not null,
    primary key (instance_id, process_id, index)
);
comment on table wf.forall_result is 'What a forall that has yet to end has collected.';
comment on column wf.forall_result.instance_id is 'the instance';
comment on column wf.forall_result.process_id is 'the forall';
comment on column wf.forall_result.index is 'index of the element';
comment on column wf.forall_result.value is 'list: one value for each collect';

create table wf.pending (
    id          bigint generated always as identity primary key,
    instance_id bigint not null,
    parent_id   bigint not null,
    node_id     int,
    first       int not null,
    count       int not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
comment on table wf.pending is 'What a transaction has yet to begin before it ends; empty for everybody else.';
comment on column wf.pending.id is 'key, in order of arrival';
comment on column wf.pending.instance_id is 'the instance';
comment on column wf.pending.parent_id is 'the process in which something begins';
comment on column wf.pending.node_id is 'the node that begins; null: elements of a forall';
comment on column wf.pending.first is 'index of the first element';
comment on column wf.pending.count is 'how many elements begin';

create table wf.timer (
    instance_id bigint not null,
    process_id  bigint not null,
    kind        text not null check (kind in ('sleep', 'poll', 'cancel', 'cleanup')),
    due_at      timestamptz not null,
    round       int not null default 0,
    failures    int not null default 0,
    primary key (instance_id, process_id, kind)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
create index timer_due_idx on wf.timer (due_at);
comment on table wf.timer is 'What is due at a time.';
comment on column wf.timer.instance_id is 'the instance';
comment on column wf.timer.process_id is 'the process';
comment on column wf.timer.kind is 'sleep: it ends; poll, cancel, cleanup: the next such request';
comment on column wf.timer.due_at is 'when; infinity while its request is ready or with a driver';
comment on column wf.timer.round is 'how many polls there were';
comment on column wf.timer.failures is 'how many requests of this kind failed in a row';

create table wf.driver (
    id           bigint generated always as identity primary key,
    name         text not null,
    version      text not null,
    state        text not null check (state in ('live', 'draining', 'left', 'lost')),
    transports   text[] not null,
    queues       text[] not null,
    slots        int not null,
    idle         boolean not null default false,
    started_at   timestamptz not null,
    seen_at      timestamptz not null,
    actor        text not null,
    capabilities text[] not null default '{}',
    attended     boolean not null default false,
    successor    bigint
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index driver_idle_idx on wf.driver (id) where idle;
create index driver_seen_idx on wf.driver (seen_at) where state in ('live', 'draining');
comment on table wf.driver is 'The drivers; each start of a driver is a row of its own.';
comment on column wf.driver.id is 'its incarnation';
comment on column wf.driver.name is 'name that it gave';
comment on column wf.driver.version is 'version of the program';
comment on column wf.driver.state is 'live, draining, left or lost';
comment on column wf.driver.transports is 'transports that it has';
comment on column wf.driver.queues is 'queues that it serves; none means every queue';
comment on column wf.driver.slots is 'how many requests it carries out at once';
comment on column wf.driver.idle is 'it sleeps: ring (NOTIFY wf_ready) when there is work';
comment on column wf.driver.started_at is 'when it registered';
comment on column wf.driver.seen_at is 'last sign of life, to the second';
comment on column wf.driver.actor is 'the login that it uses';
comment on column wf.driver.capabilities is 'what else it has that tasks may require: name or name=value';
comment on column wf.driver.attended is 'its session holds a lock that is gone when the connection is: (7764, id)';
comment on column wf.driver.successor is 'the incarnation that took over all that it knew of; null: none';

create table wf.home (
    only_one    boolean primary key default true check (only_one),
    system_id   bigint not null,
    database_id oid not null,
    timeline    text not null,
    started_at  timestamptz not null,
    restored    text
);
comment on table wf.home is 'Where the workspace was when it last looked, one row: it notices when it is somewhere else, and why.';
comment on column wf.home.only_one is 'true';
comment on column wf.home.system_id is 'system identifier of the cluster';
comment on column wf.home.database_id is 'oid of the database';
comment on column wf.home.timeline is 'timeline of the server''s WAL';
comment on column wf.home.started_at is 'when the server was started';
comment on column wf.home.restored is 'wf.restored, as the server''s configuration sets it';
insert into wf.home (system_id, database_id, timeline, started_at, restored)
select c.system_identifier, d.oid, left(pg_walfile_name(pg_current_wal_lsn()), 8), pg_postmaster_start_time(), nullif(current_setting('wf.restored', true), '')
  from pg_control_system() c, pg_database d
 where d.datname = current_database();

create table wf.txn (
    xid       xid8 primary key,
    actor     text not null,
    client    inet,
    driver_id bigint,
    at        timestamptz not null
);
comment on table wf.txn is 'Who made the moves of a transaction.';
comment on column wf.txn.xid is 'the transaction';
comment on column wf.txn.actor is 'the role: session_user, or what it had SET ROLE to';
comment on column wf.txn.client is 'address of the client; null for a local socket';
comment on column wf.txn.driver_id is 'the driver, if one reported';
comment on column wf.txn.at is 'when';

create table wf.event (
    instance_id bigint not null,
    seq         bigint generated always as identity,
    process_id  bigint,
    xid         xid8 not null,
    at          timestamptz not null,
    attempt     int,
    was         text not null,
    event       text not null,
    state       text not null,
    reason      text,
    detail      jsonb,
    primary key (instance_id, seq)
) with (autovacuum_vacuum_insert_scale_factor = 0.2);
comment on table wf.event is 'The history: every recorded move, in order; only ever added to, until its instance is purged.';
comment on column wf.event.instance_id is 'the instance';
comment on column wf.event.seq is 'order of the instance''s history';
comment on column wf.event.process_id is 'the process; null for a move of the instance itself';
comment on column wf.event.xid is 'the transaction, see wf.txn';
comment on column wf.event.at is 'when';
comment on column wf.event.attempt is 'the attempt that it belongs to';
comment on column wf.event.was is 'state before';
comment on column wf.event.event is 'what happened: an event of wf.transition, or a note that is no move: late (a report after its request was taken back), request_failed, unclean (cancel or cleanup given up)';
comment on column wf.event.state is 'state after';
comment on column wf.event.reason is 'reason that an operator gave';
comment on column wf.event.detail is 'for failures the error; for operators what they gave';

create table wf.output_chunk (
    instance_id bigint not null,
    process_id  bigint not null,
    attempt     int not null,
    start       bigint not null,
    size        bigint not null,
    stream      text not null check (stream in ('stdout', 'stderr')),
    at          timestamptz not null,
    body        text not null,
    primary key (instance_id, process_id, attempt, start)
);
comment on table wf.output_chunk is 'Streamed output of attempts, as it came; of a long one the end. Kept when the task has ended.';
comment on column wf.output_chunk.instance_id is 'the instance';
comment on column wf.output_chunk.process_id is 'the task';
comment on column wf.output_chunk.attempt is 'the attempt';
comment on column wf.output_chunk.start is 'how many bytes of the attempt''s output, both streams together, came before; where the chunk before does not end here, bytes were dropped';
comment on column wf.output_chunk.size is 'how many bytes these were';
comment on column wf.output_chunk.stream is 'stdout or stderr';
comment on column wf.output_chunk.at is 'when it arrived';
comment on column wf.output_chunk.body is 'the text; bytes that are none became U+FFFD';

create table wf.engine_event (
    id     bigint generated always as identity primary key,
    at     timestamptz not null,
    actor  text not null,
    client inet,
    event  text not null check (event in ('pause', 'resume')),
    reason text
);
comment on table wf.engine_event is 'When the engine was paused and resumed, by whom and why; the last row says how it is now.';
comment on column wf.engine_event.id is 'key, in order';
comment on column wf.engine_event.at is 'when';
comment on column wf.engine_event.actor is 'the role: session_user, or what it had SET ROLE to';
comment on column wf.engine_event.client is 'address of the client; null for a local socket';
comment on column wf.engine_event.event is 'pause or resume';
comment on column wf.engine_event.reason is 'reason that was given';

create table wf.purge (
    id          bigint generated always as identity primary key,
    at          timestamptz not null,
    last_at     timestamptz not null,
    actor       text not null,
    client      inet,
    reason      text,
    target      jsonb,
    instances   bigint not null default 0,
    xid         xid8 not null,
    instance_id bigint not null,
    forgotten   boolean not null default false,
    next_id     bigint,
    next_at     timestamptz
) with (fillfactor = 50);
comment on table wf.purge is 'What was purged, by whom and why; what is done with the same words within a day is one row.';
comment on column wf.purge.id is 'key, in order';
comment on column wf.purge.at is 'when it began';
comment on column wf.purge.last_at is 'when it was gone on with last';
comment on column wf.purge.actor is 'the role: session_user, or what it had SET ROLE to; by itself: that of the driver whose poll began it';
comment on column wf.purge.client is 'address of the client; null for a local socket';
comment on column wf.purge.reason is 'reason that was given';
comment on column wf.purge.target is 'what was to go; null: the workspace did it by itself, see the setting keep_days';
comment on column wf.purge.instances is 'how many instances have gone';
comment on column wf.purge.xid is 'when it began, all transactions before this one had ended';
comment on column wf.purge.instance_id is 'and no instance had a greater number';
comment on column wf.purge.forgotten is 'of the transactions that had ended by then, only those that the history still names are in txn';
comment on column wf.purge.next_id is 'by itself: it goes on with the instances after this one';
comment on column wf.purge.next_at is 'by itself: when';
