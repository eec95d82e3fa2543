-- Instances can be suspended.

insert into wf.machine_state (machine, state, terminal, meaning) values
    ('instance', 'SUSPENDED', false, 'held by an operator: what it has begun goes on, nothing else of it is handed out');

insert into wf.transition (machine, from_state, event, to_state, actor, recorded, meaning) values
    ('instance', 'RUNNING', 'suspend', 'SUSPENDED', 'O', true, 'an operator holds it'),
    ('instance', 'SUSPENDED', 'resume', 'RUNNING', 'O', true, 'an operator lets it go on'),
    ('instance', 'SUSPENDED', 'warn', 'SUSPENDED', 'W', true, 'something in it was ignored: its result will be warning at best'),
    ('instance', 'SUSPENDED', 'end', 'END', 'W', true, 'its tree has ended'),
    ('instance', 'SUSPENDED', 'abort', 'ABORTING', 'O', true, 'an operator aborts it, or an error found no handler');

alter table wf.parked drop constraint parked_reason_check;
alter table wf.parked
    add constraint parked_reason_check check (reason in ('group', 'suspended')),
    add constraint parked_check check ((reason = 'group') = (group_id is not null));
comment on column wf.parked.reason is 'what it waits for: a place in its group, or that its instance is no longer suspended';
comment on column wf.parked.group_id is 'group: the concurrency group that has no place for it';

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
