-- What commits in the name of a driver that has come back as another was never
-- begun.

alter table wf.driver add column successor bigint;
comment on column wf.driver.successor is 'the incarnation that took over all that it knew of; null: none';
