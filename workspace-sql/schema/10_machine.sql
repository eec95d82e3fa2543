-- The state machines and the process forms. Their rows are behaviour:
-- code/flow/transition.sql and code/flow/form.sql.

create table wf.machine_state (
    machine  text not null,
    state    text not null,
    terminal boolean not null,
    meaning  text not null,
    limits   text[] not null default '{}',
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
    steps        bigint not null default 0,
    primary key (machine, from_state, event, to_state)
);

create table wf.form (
    kind        text primary key,
    machine     text not null,
    scope       text not null,
    begins      text not null,
    ends        text not null,
    child_error text,
    input       text,
    meaning     text not null
);

create table wf.transport (
    name        text primary key,
    secret_args text[] not null,
    code_arg    text,
    code_type   text,
    streams     boolean not null,
    response    jsonb not null,
    meaning     text not null
);
