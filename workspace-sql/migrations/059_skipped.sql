-- What reads the name of a process may be skipped with it.

alter table wf.binding add skipped bigint;
