-- Inputs: a task may wait until a person has answered a form.

alter table wf.timer drop constraint timer_kind_check;
alter table wf.timer
    add constraint timer_kind_check
    check (kind in ('sleep', 'poll', 'cancel', 'cleanup', 'retry', 'signal', 'child', 'input'));

create table wf.input (
    id          bigint generated always as identity primary key,
    instance_id bigint not null,
    process_id  bigint not null,
    title       text not null,
    form        jsonb not null,
    role        text,
    assignee    text,
    asked_at    timestamptz not null,
    answered_at timestamptz,
    answered_by text,
    answer      jsonb,
    constraint input_answer_check check ((answered_at is null) = (answered_by is null)
                                         and (answered_at is null) = (answer is null))
);
create index input_process_idx on wf.input (instance_id, process_id, id);
