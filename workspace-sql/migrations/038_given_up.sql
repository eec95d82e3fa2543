-- What may fail in a race, in a forall that tolerates, and under on_failure.
-- upgrade.sql fills wf.node anew.

alter table wf.node add tolerate jsonb, add on_failure text, add on_failure_own boolean, add late boolean;
alter table wf.process add spare int, add warned boolean, add late boolean;
alter table wf.failed add late boolean;
create table wf.given_up (
    instance_id bigint not null,
    process_id  bigint not null,
    index       int not null,
    seq         bigint generated always as identity,
    error       jsonb not null,
    primary key (instance_id, process_id, index)
);
alter table wf.transition alter steps type bigint;
