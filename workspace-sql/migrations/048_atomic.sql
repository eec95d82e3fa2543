-- An atomic binds several names; a policy bounds the output of a task.

alter table wf.node add names text[], add output_max int;
