-- The state machines. Their rows are behaviour: code/flow/transition.sql.

create table wf.machine_state (
    machine  text not null,
    state    text not null,
    terminal boolean not null,
    meaning  text not null,
    primary key (machine, state)
);

create table wf.transition (
    machine      text not null,
    from_state   text not null,
    event        text not null,
    to_state     text not null,
    actor        text not null,
    recorded     boolean not null default true,
    ends_request boolean not null default false,
    frees_slot   boolean not null default false,
    asks         text,
    meaning      text not null,
    steps        int not null default 0,
    primary key (machine, from_state, event, to_state)
);
