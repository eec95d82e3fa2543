-- What follows from a move is worked out once, when the engine is installed.

alter table wf.transition add column steps int not null default 0;
comment on column wf.transition.steps is 'what may follow from it: bits, see _step in code/machine.sql, which sets them';
drop index wf.transition_to_state_idx;
create index transition_to_state_idx on wf.transition (machine, to_state, from_state, event);
