-- The engine can be paused.

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
