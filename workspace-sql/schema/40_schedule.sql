-- Schedules: what starts instances at times, and what became of each time.

create table wf.schedule (
    id          bigint generated always as identity primary key,
    name        text not null unique,
    workflow_id bigint not null,
    policy      boolean not null,
    times       text,
    cron        text,
    every       interval,
    timezone    text not null,
    params      jsonb not null,
    priority    int not null,
    catchup     int not null,
    overlap     text not null check (overlap in ('allow', 'skip', 'queue', 'replace', 'coalesce')),
    jitter      interval not null,
    start_at    timestamptz not null,
    end_at      timestamptz,
    most        int,
    fired       int not null default 0,
    next_at     timestamptz,
    paused_at   timestamptz,
    lost_at     timestamptz,
    login       oid not null,
    set_at      timestamptz not null,
    set_by      text not null,
    constraint schedule_times_check check ((cron is null) <> (every is null) and (cron is null) = (times is null))
) with (fillfactor = 50);

create table wf.firing (
    schedule_id bigint not null,
    nominal_at  timestamptz not null,
    state       text not null check (state in ('waiting', 'started', 'skipped', 'missed', 'refused')),
    open        boolean not null default false,
    until_at    timestamptz,
    at          timestamptz not null,
    instance_id bigint,
    reason      text,
    primary key (schedule_id, nominal_at)
);
create index firing_waiting_idx on wf.firing (schedule_id, nominal_at) where state = 'waiting';
create index firing_open_idx on wf.firing (schedule_id) where open;
