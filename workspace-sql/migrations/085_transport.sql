-- What the workspace has to know of each transport is a row.

create table wf.transport (
    name        text primary key,
    secret_args text[] not null,
    code_arg    text,
    code_type   text,
    streams     boolean not null,
    response    jsonb not null,
    meaning     text not null
);
