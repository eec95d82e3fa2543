-- What a process form does is a row. A process carries the machine of its form;
-- total is null where there are no elements. upgrade.sql fills wf.node anew.

create table wf.form (
    kind        text primary key,
    machine     text not null,
    scope       text not null,
    begins      text not null,
    ends        text not null,
    child_error text,
    input       text,
    meaning     text not null
);

delete from wf.node;
alter table wf.node
    add machine text not null,
    add scope text not null,
    add begins text not null,
    add ends text not null,
    add collects boolean;

alter table wf.process
    add machine text,
    add chosen int,
    alter total drop not null,
    alter total drop default;
-- one pass over the table, where an update would leave every row twice
alter table wf.process
    alter machine type text using case when kind in ('sync', 'async', 'wait') then kind else 'composite' end,
    alter machine set not null,
    alter total type int using case kind when 'forall' then total end;
