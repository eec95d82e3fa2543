-- The tables of settings and errors: what a row is, and what its columns mean.

comment on schema wf is 'pgwf workspace: workflows, their instances and all of their semantics';

comment on table wf.setting is 'Settings of the workspace, one row each.';
comment on column wf.setting.name is 'name of the setting';
comment on column wf.setting.value is 'its value, as text';
comment on column wf.setting.meaning is 'the effect of the setting, and its unit';
comment on column wf.setting.min is 'the least value that it may have; null: it cannot be set';
comment on column wf.setting.max is 'the greatest value that it may have';
comment on column wf.setting.changed_at is 'when it was set; null: it still has its first value';
comment on column wf.setting.changed_by is 'who set it';

comment on table wf.audit is
    'What operators, authors and administrators have done, one row each: who, when, from where, what, why, to what.';
comment on column wf.audit.id is 'key';
comment on column wf.audit.number is
    'number without gaps, in the order in which the rows were found after their commit; null: the row has none yet';
comment on column wf.audit.at is 'when, by the clock of the server';
comment on column wf.audit.xid is 'the transaction that did it; event_v has its moves';
comment on column wf.audit.login is 'the login that did it (session_user)';
comment on column wf.audit.role is 'the role as which the login acted: the role of its SET ROLE, or the login itself';
comment on column wf.audit.client is 'the address of the client; null for a local socket';
comment on column wf.audit.verb is 'the verb, named as in the console';
comment on column wf.audit.arguments is
    'the arguments of the verb, without outputs; if they have more than 4000 bytes, only their size and beginning';
comment on column wf.audit.reason is 'the reason that was given';
comment on column wf.audit.targets is 'for how many instances or processes the verb was carried out';
comment on column wf.audit.refused is 'for how many instances or processes the verb was refused';
comment on column wf.audit.instances is 'the instances that the verb was done to, or in; at most the first 100 ranges';
comment on column wf.audit.processes is 'the processes that the verb was done to; at most the first 100 ranges';
comment on column wf.audit.digest is 'SHA-256 of the row and the digest before it; null: the row has no number yet';

comment on table wf.audit_head is 'One row: how far the audit is numbered, and how far it was purged.';
comment on column wf.audit_head.only_one is 'key';
comment on column wf.audit_head.number is 'the last number';
comment on column wf.audit_head.digest is 'the digest of the last row';
comment on column wf.audit_head.purged is 'the rows up to this number have been purged';
comment on column wf.audit_head.purged_digest is 'the digest of the last row that was purged';

comment on table wf.gate is
    'An empty table. Every procedure that writes reads it first, and an upgrade truncates it. Therefore a procedure '
    'and an upgrade never work at the same time.';
comment on column wf.gate.id is 'key; the table never has a row';

comment on table wf.error is 'The SQLSTATEs that the workspace raises; docs/errors.md is printed from these rows.';
comment on column wf.error.code is 'SQLSTATE, class WF';
comment on column wf.error.name is 'short name';
comment on column wf.error.meaning is 'what happened';
comment on column wf.error.remedy is 'how to mend the cause';
