-- Signals: a task may wait for one, in the list of what is due.

alter table wf.timer drop constraint timer_kind_check;
alter table wf.timer
    add constraint timer_kind_check check (kind in ('sleep', 'poll', 'cancel', 'cleanup', 'retry', 'signal'));
alter table wf.timer add topic text, add name text, add begun_at timestamptz;
alter table wf.timer
    add constraint timer_awaits_check check ((kind = 'signal') = (name is not null and begun_at is not null));
create index timer_instance_signal_idx on wf.timer (instance_id, name, begun_at, process_id)
    where kind = 'signal' and topic is null;
create index timer_topic_signal_idx on wf.timer (topic, name, begun_at, instance_id, process_id)
    where kind = 'signal' and topic is not null;

create table wf.signal (
    id          bigint generated always as identity primary key,
    instance_id bigint,
    topic       text,
    name        text not null,
    payload     jsonb not null,
    broadcast   boolean not null,
    sent_at     timestamptz not null,
    sender      text not null,
    constraint signal_target_check check ((instance_id is null) <> (topic is null))
) with (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = off
);
create index signal_instance_idx on wf.signal (instance_id, name, id) where instance_id is not null;
create index signal_topic_idx on wf.signal (topic, name, id) where topic is not null;
create index signal_sent_idx on wf.signal (sent_at) where topic is not null;
