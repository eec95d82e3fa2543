-- The tables of settings and errors: what a row is, and what its columns mean.

comment on schema wf is 'pgwf workspace: workflows, their instances and all of their semantics';

comment on table wf.setting is 'Settings of the workspace, one row each.';
comment on column wf.setting.name is 'name of the setting';
comment on column wf.setting.value is 'its value, as text';
comment on column wf.setting.meaning is 'what it does, and its unit';
comment on column wf.setting.min is 'the least value that it may have; null: it cannot be set';
comment on column wf.setting.max is 'the greatest value that it may have';
comment on column wf.setting.changed_at is 'when it was set; null: it still has its first value';
comment on column wf.setting.changed_by is 'who set it';

comment on table wf.gate is
    'An empty table. Every procedure that writes reads it first, and an upgrade truncates it. Therefore neither goes '
    'on while the other is at work.';
comment on column wf.gate.id is 'key; the table never has a row';

comment on table wf.error is 'The SQLSTATEs that the workspace raises; docs/errors.md is printed from these rows.';
comment on column wf.error.code is 'SQLSTATE, class WF';
comment on column wf.error.name is 'short name';
comment on column wf.error.meaning is 'what happened';
comment on column wf.error.remedy is 'what to do about it';
