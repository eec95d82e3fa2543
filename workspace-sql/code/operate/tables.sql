-- The tables of what operators have done: what a row is, and what its columns mean.

comment on table wf.engine_event is
    'When the engine was paused and resumed, by whom and why; the last row says whether it is paused now.';
comment on column wf.engine_event.id is 'key, in order';
comment on column wf.engine_event.at is 'when';
comment on column wf.engine_event.actor is 'who did it: the login, and the role that it acted as: "ann as wf_operator"';
comment on column wf.engine_event.client is 'the address that it came from; null for a local socket';
comment on column wf.engine_event.event is 'pause or resume';
comment on column wf.engine_event.reason is 'reason that was given';

comment on table wf.purge is
    'The purges, with who asked for them and why. Purges of one role with the same target and reason within a day are '
    'one row.';
comment on column wf.purge.id is 'key, in order';
comment on column wf.purge.at is 'when it began';
comment on column wf.purge.last_at is 'when the last instances of it were purged';
comment on column wf.purge.actor is
    'who did it: the login, and the role that it acted as: "ann as wf_operator"; for a purge by keep_days, the login '
    'of the driver whose poll began it';
comment on column wf.purge.client is 'the address that it came from; null for a local socket';
comment on column wf.purge.reason is 'reason that was given';
comment on column wf.purge.target is 'which instances were to be purged; null: those older than the setting keep_days';
comment on column wf.purge.instances is 'how many instances were purged';
comment on column wf.purge.xid is 'all transactions before this one had ended when the purge began';
comment on column wf.purge.instance_id is 'no instance had a greater number when the purge began';
comment on column wf.purge.forgotten is
    'true: wf.txn was cleared; of the transactions that had ended when the purge began, it has only those that the '
    'history still names';
comment on column wf.purge.next_id is 'purge by keep_days: the next portion begins after this instance';
comment on column wf.purge.next_at is 'purge by keep_days: when the next portion is due';
