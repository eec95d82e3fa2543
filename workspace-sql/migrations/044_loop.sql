-- Loops have a state, and reserve their rounds as they go by; upgrade.sql fills
-- wf.node anew.

alter table wf.node add state text, add yield jsonb, add light boolean, add in_round boolean;
alter table wf.process add reserved int, add in_round boolean;
