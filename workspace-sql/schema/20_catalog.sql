-- Definitions: workflows, their versions, the nodes of a version's tree, the task types that they use.

create table wf.workflow (
    id         bigint generated always as identity primary key,
    name       text not null unique,
    version_id bigint
);

create table wf.version (
    id           bigint generated always as identity primary key,
    workflow_id  bigint not null references wf.workflow,
    number       int not null,
    checksum     text not null,
    source       text not null,
    spec         jsonb not null,
    params       jsonb not null default '[]',
    installed_at timestamptz not null,
    installed_by text not null,
    removed_xid  xid8,
    tags         jsonb,
    sql_role     text,
    start_if     jsonb,
    key          jsonb,
    unique (workflow_id, number)
);
create index version_removed_idx on wf.version (removed_xid) where removed_xid is not null;

create table wf.task_type (
    id         bigint generated always as identity primary key,
    name       text not null,
    checksum   text not null,
    machine    text not null,
    wait       text,
    spec       jsonb not null,
    unique (name, checksum)
);

create table wf.task_request (
    type_id   bigint not null references wf.task_type,
    request   text not null,
    transport text not null,
    args      jsonb not null,
    passes    boolean not null default false,
    clauses   jsonb,
    delay     interval not null default '5 s',
    backoff   numeric not null default 1,
    max_delay interval not null default '5 s',
    attempts  int not null default 3,
    primary key (type_id, request)
);

create table wf.lane (
    id         bigint primary key,
    queue      text not null,
    needs      text[] not null,
    requires   text[] not null default '{}',
    fixed      boolean not null default false,
    unused_xid xid8
);

create table wf.concurrency_group (
    id   bigint primary key,
    name text not null unique,
    max  int check (max >= 0)
);

create table wf.rate (
    id   bigint primary key,
    name text not null unique,
    max  int not null check (max >= 1),
    per  interval not null
);

create table wf.node (
    version_id    bigint not null references wf.version on delete cascade,
    id            int not null,
    parent_id     int,
    ordinal       int not null,
    kind          text not null,
    line          int not null,
    label         text not null,
    next_id       int,
    children      int not null default 0,
    bind          text,
    input         jsonb,
    input_fixed   boolean not null default false,
    reads         jsonb,
    item          text,
    item_index    text,
    max           jsonb,
    collect       jsonb,
    collect_reads jsonb,
    type_id       bigint references wf.task_type,
    request       jsonb,
    transport     text,
    task_type     text,
    plain         boolean not null default false,
    idempotent    boolean not null default false,
    lane_id       bigint,
    rank          smallint,
    group_id      bigint,
    group_max     int,
    policy        jsonb,
    title         text,
    secrets       jsonb,
    picks         text[],
    wide          boolean,
    machine       text not null,
    scope         text not null,
    begins        text not null,
    ends          text not null,
    collects      boolean,
    retry         jsonb,
    retry_when    jsonb,
    handler_id    int,
    condition     jsonb,
    most          bigint,
    most_live     bigint,
    handles       text,
    finally_id    int,
    tolerate      jsonb,
    on_failure    text,
    on_failure_own boolean,
    late          boolean,
    state         text,
    yield         jsonb,
    light         boolean,
    in_round      boolean,
    in_dag        boolean,
    names         text[],
    output_max    int,
    timeout       jsonb,
    weight        numeric not null default 1,
    rate_id       bigint,
    rate          jsonb,
    undo_id       int,
    noted         boolean,
    timed         smallint,
    primary key (version_id, id)
);
-- the parent first: (version_id, id) can then be sought in the primary key only
create index node_parent_idx on wf.node (parent_id, version_id, ordinal);
create index node_type_idx on wf.node (type_id);

create table wf.edge (
    version_id bigint not null references wf.version on delete cascade,
    node_id    int not null,
    after_id   int not null,
    primary key (version_id, node_id, after_id)
);
