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
    ended_at    timestamptz,
    parent_id   bigint,
    parent_process_id bigint,
    depth       int not null default 0,
    login       oid,
    scheduled_at timestamptz,
    expires_at  timestamptz,
    schedule_id bigint
) with (fillfactor = 50);
create index instance_workflow_idx on wf.instance (workflow_id, id);
create index instance_version_idx on wf.instance (version_id);
create index instance_parent_idx on wf.instance (parent_id, id) where parent_id is not null;

create table wf.instance_key (
    workflow_id bigint not null,
    key         text not null,
    instance_id bigint not null,
    digest      text not null,
    next_id     bigint,
    primary key (workflow_id, key)
);

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
    total       int,
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
    machine     text not null,
    chosen      int,
    retry_from  int,
    held        int,
    spare       int,
    warned      boolean,
    late        boolean,
    reserved    int,
    in_round    boolean,
    in_dag      boolean,
    timed       smallint,
    progress    numeric,
    rate_id     bigint,
    noted       boolean,
    primary key (instance_id, id)
) with (fillfactor = 30);
create index process_parent_idx on wf.process (parent_id, index, id) where wide;

create table wf.extent (
    instance_id bigint primary key,
    processes   bigint not null default 0,
    live        bigint not null default 0,
    bytes       bigint not null default 0,
    quota       int
) with (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
    autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off
);

create table wf.failed (
    instance_id bigint not null,
    process_id  bigint not null,
    late        boolean,
    primary key (instance_id, process_id)
);

create table wf.ready (
    instance_id bigint not null,
    process_id  bigint not null,
    lane_id     bigint not null,
    turn        bigint not null,
    rank        smallint not null,
    request     text not null,
    primary key (instance_id, process_id)
) with (
        fillfactor = 90, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off
);
create unique index ready_claim_idx on wf.ready (lane_id, rank, turn, instance_id, process_id);

create table wf.parked (
    instance_id bigint not null,
    process_id  bigint not null,
    reason      text not null check (reason in ('group', 'rate', 'suspended')),
    group_id    bigint,
    lane_id     bigint not null,
    turn        bigint not null,
    rank        smallint not null,
    parked_at   timestamptz not null,
    timed       boolean,
    rate_id     bigint,
    primary key (instance_id, process_id),
    check ((reason = 'group') = (group_id is not null)),
    check (reason <> 'rate' or rate_id is not null)
) with (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = off
);
create unique index parked_group_idx on wf.parked (group_id, rank, turn, instance_id, process_id);

create index parked_rate_idx on wf.parked (rate_id, rank, turn, instance_id, process_id) where reason = 'rate';

create table wf.suspended (
    instance_id bigint primary key,
    at          timestamptz not null,
    actor       text not null,
    reason      text
);

create table wf.lease (
    instance_id bigint not null,
    process_id  bigint not null,
    token       uuid not null,
    driver_id   bigint not null,
    request     text not null,
    at          timestamptz not null,
    primary key (instance_id, process_id)
) with (
        fillfactor = 90, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off
);

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

create table wf.stop (
    driver_id   bigint not null,
    token       uuid not null,
    instance_id bigint not null,
    process_id  bigint not null,
    told_at     timestamptz,
    primary key (driver_id, token)
);

create table wf.slot (
    instance_id bigint not null,
    process_id  bigint not null,
    group_id    bigint not null,
    primary key (instance_id, process_id)
);
create index slot_group_idx on wf.slot (group_id);

create table wf.rate_place (
    instance_id bigint not null,
    process_id  bigint not null,
    rate_id     bigint not null,
    per         interval not null,
    primary key (instance_id, process_id)
);
create index rate_place_rate_idx on wf.rate_place (rate_id);

create table wf.rate_spent (
    id      bigint generated always as identity primary key,
    rate_id bigint not null,
    free_at timestamptz not null,
    count   int not null
) with (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = off
);
create index rate_spent_rate_idx on wf.rate_spent (rate_id);

create table wf.dirty (
    id       bigint generated always as identity primary key,
    group_id bigint,
    max      int,
    name     text,
    lane_id  bigint,
    lane     jsonb,
    check ((group_id is null) <> (lane_id is null))
) with (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = off
);

create table wf.binding (
    instance_id bigint not null,
    scope_id    bigint not null,
    name        text not null,
    value       jsonb,
    skipped     bigint,
    primary key (instance_id, scope_id, name)
);

create table wf.binding_past (
    instance_id bigint not null,
    scope_id    bigint not null,
    name        text not null,
    until_seq   bigint not null,
    value       jsonb,
    primary key (instance_id, scope_id, name, until_seq)
);

create table wf.forall_item (
    instance_id bigint not null,
    process_id  bigint not null,
    chunk       int not null,
    items       jsonb not null,
    primary key (instance_id, process_id, chunk)
);

create table wf.forall_result (
    instance_id bigint not null,
    process_id  bigint not null,
    index       int not null,
    value       jsonb not null,
    primary key (instance_id, process_id, index)
);

create table wf.given_up (
    instance_id bigint not null,
    process_id  bigint not null,
    index       int not null,
    seq         bigint generated always as identity,
    error       jsonb not null,
    primary key (instance_id, process_id, index)
);

create table wf.dag_step (
    instance_id bigint not null,
    process_id  bigint not null,
    node_id     int not null,
    awaits      int,
    primary key (instance_id, process_id, node_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
create index dag_step_awaits_idx on wf.dag_step (instance_id, process_id, awaits) where awaits is not null;

create table wf.pending (
    id          bigint generated always as identity primary key,
    instance_id bigint not null,
    parent_id   bigint not null,
    node_id     int,
    first       int not null,
    count       int not null,
    later       boolean not null default false,
    sees_id     bigint
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);

create index pending_later_idx on wf.pending (instance_id, id) where later;

create table wf.teardown (
    instance_id bigint not null,
    process_id  bigint not null,
    follows     text not null,
    node_id     int,
    error       jsonb,
    at          timestamptz not null,
    next_id     bigint,
    sure        boolean not null,
    undo        boolean not null default false,
    primary key (instance_id, process_id)
);

create table wf.undo_note (
    instance_id bigint not null,
    id          bigint generated by default as identity,
    process_id  bigint not null,
    node_id     int,
    sees_id     bigint,
    path        bigint[] not null,
    primary key (instance_id, process_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
create unique index undo_note_order_idx on wf.undo_note (instance_id, id);

create table wf.timer (
    instance_id bigint not null,
    process_id  bigint not null,
    kind        text not null check (kind in
                    ('sleep', 'poll', 'cancel', 'cleanup', 'retry', 'signal', 'child', 'input')),
    due_at      timestamptz not null,
    round       int not null default 0,
    failures    int not null default 0,
    topic       text,
    name        text,
    begun_at    timestamptz,
    awaits_id   bigint,
    primary key (instance_id, process_id, kind),
    constraint timer_awaits_check check ((kind = 'signal') = (name is not null and begun_at is not null))
) with (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = off
);
create index timer_due_idx on wf.timer (due_at);
create index timer_awaits_idx on wf.timer (awaits_id) where awaits_id is not null;
create index timer_instance_signal_idx on wf.timer (instance_id, name, begun_at, process_id)
    where kind = 'signal' and topic is null;
create index timer_topic_signal_idx on wf.timer (topic, name, begun_at, instance_id, process_id)
    where kind = 'signal' and topic is not null;

create table wf.signal (
    id          bigint generated always as identity primary key,
    instance_id bigint,
    topic       text,
    name        text not null,
    payload     jsonb not null,
    broadcast   boolean not null,
    sent_at     timestamptz not null,
    sender      text not null,
    constraint signal_target_check check ((instance_id is null) <> (topic is null))
) with (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = off
);
create index signal_instance_idx on wf.signal (instance_id, name, id) where instance_id is not null;
create index signal_topic_idx on wf.signal (topic, name, id) where topic is not null;
create index signal_sent_idx on wf.signal (sent_at) where topic is not null;

create table wf.input (
    id          bigint generated always as identity primary key,
    instance_id bigint not null,
    process_id  bigint not null,
    title       text not null,
    form        jsonb not null,
    role        text,
    assignee    text,
    asked_at    timestamptz not null,
    answered_at timestamptz,
    answered_by text,
    answer      jsonb,
    constraint input_answer_check check ((answered_at is null) = (answered_by is null)
                                         and (answered_at is null) = (answer is null))
);
create index input_process_idx on wf.input (instance_id, process_id, id);

create table wf.time_limit (
    instance_id bigint not null,
    process_id  bigint not null,
    kind        text not null check (kind in ('inactivity', 'runtime', 'deadline', 'wait')),
    due_at      timestamptz not null,
    remains     interval,
    primary key (instance_id, process_id, kind),
    check ((remains is null) = isfinite(due_at))
) with (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = off
);
create index time_limit_due_idx on wf.time_limit (due_at);

create table wf.limit_begun (
    id        bigint generated always as identity primary key,
    at        timestamptz not null,
    attempt   boolean not null,
    instances bigint[] not null,
    processes bigint[] not null
) with (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = off
);
-- to compress the arrays would take longer than all else that is done with a row
alter table wf.limit_begun
    alter column instances set storage external,
    alter column processes set storage external;

create table wf.work (
    id          bigint generated always as identity primary key,
    kind        text not null,
    instance_id bigint,
    item_id     bigint not null,
    due_at      timestamptz not null,
    tries       int not null default 0,
    aside       boolean not null default false,
    error       jsonb,
    asked       jsonb
) with (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = off
);
create index work_due_idx on wf.work (due_at, id) where not aside;
create index work_instance_idx on wf.work (instance_id, item_id);
create index work_after_idx on wf.work (item_id) where kind = 'start' and item_id > 0;

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
    actor        text not null,
    capabilities text[] not null default '{}',
    attended     boolean not null default false,
    successor    bigint,
    session_pid  int,
    login        oid not null,
    ended_at     timestamptz,
    limited      boolean not null default false,
    limits       text[] not null default '{}',
    asked        text[] not null default '{}'
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index driver_idle_idx on wf.driver (id) where idle;

create table wf.driver_grant (
    role         text primary key,
    queues       text[] not null,
    capabilities text[] not null,
    granted_at   timestamptz not null,
    granted_by   text not null
);

create table wf.sql_grant (
    workflow   text primary key,
    role       text not null,
    granted_at timestamptz not null,
    granted_by text not null
);
create index sql_grant_role_idx on wf.sql_grant (role);

create table wf.workflow_grant (
    role       text primary key,
    workflows  text[],
    granted_at timestamptz not null,
    granted_by text not null
);
insert into wf.workflow_grant (role, granted_at, granted_by)
values ('wf_app', now(), session_user), ('wf_author', now(), session_user);

create table wf.quota (
    role       text primary key,
    per_minute int,
    running    int,
    priority   int,
    minute_at  timestamptz,
    started    int not null default 0,
    set_at     timestamptz not null,
    set_by     text not null,
    processes  int
) with (fillfactor = 50);

create table wf.quota_instance (
    role        text not null,
    instance_id bigint not null,
    primary key (role, instance_id)
);

create table wf.sign_of_life (
    driver_id bigint primary key,
    seen_at   timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create table wf.driver_counter (
    driver_id  bigint primary key,
    counted_at timestamptz not null,
    counters   jsonb not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create table wf.turn (
    id int primary key
);

create table wf.home (
    only_one    boolean primary key default true check (only_one),
    system_id   bigint not null,
    database_id oid not null,
    timeline    text not null,
    started_at  timestamptz not null,
    restored    text
);
insert into wf.home (system_id, database_id, timeline, started_at, restored)
select c.system_identifier, d.oid, left(pg_walfile_name(pg_current_wal_lsn()), 8), pg_postmaster_start_time(),
       nullif(current_setting('wf.restored', true), '')
  from pg_control_system() c, pg_database d
 where d.datname = current_database();

create table wf.seal (
    only_one boolean primary key default true check (only_one),
    key      uuid not null default gen_random_uuid()
);
insert into wf.seal default values;

create table wf.txn (
    xid       xid8 primary key,
    actor     text not null,
    client    inet,
    driver_id bigint,
    at        timestamptz not null,
    login     text,
    server_at timestamptz
);

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
    role        text default nullif(current_setting('role'), 'none'),
    primary key (instance_id, seq)
) with (autovacuum_vacuum_insert_scale_factor = 0.2);

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

create table wf.engine_event (
    id     bigint generated always as identity primary key,
    at     timestamptz not null,
    actor  text not null,
    client inet,
    event  text not null check (event in ('pause', 'resume')),
    reason text
);

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

create table wf.end_listener (
    instance_id bigint primary key
);

create table wf.callback (
    instance_id bigint not null,
    name        text not null,
    token       text not null unique,
    made_at     timestamptz not null,
    made_by     text not null,
    used_at     timestamptz,
    used_by     text,
    digest      text,
    progress    jsonb,
    progressed_at timestamptz,
    primary key (instance_id, name)
);
