-- A workflow may say whether it is to be started.

alter table wf.version add start_if jsonb;
