-- Nodes of several forms take errors. upgrade.sql fills wf.node anew.

alter table wf.node add handles text;
