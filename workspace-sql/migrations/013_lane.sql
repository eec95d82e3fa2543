-- Lanes that only expressions name are removed when they are not used.

alter table wf.lane add column fixed boolean not null default false;
comment on column wf.lane.fixed is 'a node names it: it stays. What expressions name is removed when nothing waits or runs in it';
update wf.lane l set fixed = true where l.id in (select n.lane_id from wf.node n);
