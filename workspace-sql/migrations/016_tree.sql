-- The tree of an instance that may have many processes is read page by page. What
-- has begun before is all in the index, without being written again.

alter table wf.node add column wide boolean;
comment on column wf.node.wide is 'its version has a forall or more than 200 nodes, so an instance may have many processes';
update wf.node n set wide = true
 where n.version_id in (select x.version_id from wf.node x group by x.version_id having bool_or(x.kind = 'forall') or count(*) > 200);

alter table wf.process add column wide boolean default true;
alter table wf.process alter column wide drop default;
comment on column wf.process.wide is 'copied from the node: it is found by its parent; null for the root';
create index process_parent_idx on wf.process (parent_id, index, id) where wide;
