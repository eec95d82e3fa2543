-- A row of wf.dirty with the name of a group grants no places of it any more.

insert into wf.dirty (group_id, max)
select d.group_id, d.max from wf.dirty d where d.group_id is not null and d.name is not null order by d.id;
