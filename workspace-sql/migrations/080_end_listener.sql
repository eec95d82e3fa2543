-- Whoever wants to be notified of the end of an instance.

create table wf.end_listener (
    instance_id bigint primary key
);
