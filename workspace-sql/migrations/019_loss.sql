-- A request that is lost with one driver after the other waits for an operator.

insert into wf.setting (name, value, meaning, min, max) values
    ('loss_limit', '5', 'how many drivers in a row may die with a request before it waits for an operator; 0: any number, and none is put off', 0, 1000000);

create table wf.loss (
    instance_id bigint not null,
    process_id  bigint not null,
    attempt     int not null,
    request     text not null,
    token       uuid not null,
    losses      int not null,
    due_at      timestamptz not null,
    primary key (instance_id, process_id)
);
comment on table wf.loss is 'Requests whose drivers died. Kept when the task has ended.';
comment on column wf.loss.instance_id is 'the instance';
comment on column wf.loss.process_id is 'the task';
comment on column wf.loss.attempt is 'the attempt that the last one belonged to';
comment on column wf.loss.request is 'the last one: start, poll, cancel or cleanup';
comment on column wf.loss.token is 'its token';
comment on column wf.loss.losses is 'how many drivers in a row died with it';
comment on column wf.loss.due_at is 'when the last one was taken back, or is';

insert into wf.transition (machine, from_state, event, to_state, actor, ends_request, frees_slot, asks, meaning) values
    ('async', 'START_REQUESTED', 'lost', 'FAILED', 'T', true, true, null, 'too many drivers in a row are gone: an operator decides');
update wf.transition
   set meaning = replace(meaning, ': an operator decides', ', or too many in a row are gone: an operator decides')
 where event = 'lost' and to_state = 'FAILED' and (machine, from_state) in (('sync', 'START_REQUESTED'), ('async', 'EXECUTING'));
