-- An error looks for its handler, and a part of an instance is torn down in portions.

create table wf.teardown (
    instance_id bigint not null,
    process_id  bigint not null,
    follows     text not null,
    node_id     int,
    error       jsonb,
    at          timestamptz not null,
    next_id     bigint,
    sure        boolean not null,
    primary key (instance_id, process_id)
);

alter table wf.node add handler_id int, add condition jsonb;

-- what is being aborted goes on as a teardown of its root, whose processes have all been told
insert into wf.teardown (instance_id, process_id, follows, error, at, sure)
select i.id, p.id, 'aborted', i.error, i.at, true
  from wf.instance i
  join wf.process p on p.instance_id = i.id and p.parent_id is null and p.state = 'ABORTING'
 where i.state = 'ABORTING';
