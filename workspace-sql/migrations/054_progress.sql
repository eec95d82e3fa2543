-- Progress: what tasks weigh in it, and what polls tell of it. upgrade.sql fills
-- wf.node anew.

alter table wf.node add weight numeric not null default 1;
alter table wf.process add progress numeric;
alter type wf.verdict add attribute progress numeric;
