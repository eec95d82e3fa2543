-- The tables of what operators have done: what a row is, and what its columns mean.

comment on table wf.engine_event is
    'When the engine was paused and resumed, by whom and why; the last row says how it is now.';
comment on column wf.engine_event.id is 'key, in order';
comment on column wf.engine_event.at is 'when';
comment on column wf.engine_event.actor is 'the role: session_user, or what it had SET ROLE to';
comment on column wf.engine_event.client is 'address of the client; null for a local socket';
comment on column wf.engine_event.event is 'pause or resume';
comment on column wf.engine_event.reason is 'reason that was given';

comment on table wf.purge is
    'What was purged, by whom and why; what is done with the same words within a day is one row.';
comment on column wf.purge.id is 'key, in order';
comment on column wf.purge.at is 'when it began';
comment on column wf.purge.last_at is 'when it was gone on with last';
comment on column wf.purge.actor is
    'the role: session_user, or what it had SET ROLE to; by itself: that of the driver whose poll began it';
comment on column wf.purge.client is 'address of the client; null for a local socket';
comment on column wf.purge.reason is 'reason that was given';
comment on column wf.purge.target is 'what was to go; null: the workspace did it by itself, see the setting keep_days';
comment on column wf.purge.instances is 'how many instances have gone';
comment on column wf.purge.xid is 'when it began, all transactions before this one had ended';
comment on column wf.purge.instance_id is 'and no instance had a greater number';
comment on column wf.purge.forgotten is
    'of the transactions that had ended by then, only those that the history still names are in txn';
comment on column wf.purge.next_id is 'by itself: it goes on with the instances after this one';
comment on column wf.purge.next_at is 'by itself: when';
