-- Ended instances can be purged; the workspace does it by itself if it is told to.

insert into wf.setting (name, value, meaning, min, max) values
    ('keep_days', '0', 'days after which ended instances are purged, a few a second; 0: never', 0, 36500);

comment on table wf.event is 'The history: every recorded move, in order; only ever added to, until its instance is purged.';

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
