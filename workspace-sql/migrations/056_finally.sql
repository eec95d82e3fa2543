-- A try may have a finally.

alter table wf.node add finally_id int;
