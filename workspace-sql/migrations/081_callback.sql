-- Tokens with which the outside calls back.

create table wf.callback (
    instance_id bigint not null,
    name        text not null,
    token       text not null unique,
    made_at     timestamptz not null,
    made_by     text not null,
    used_at     timestamptz,
    used_by     text,
    digest      text,
    progress    jsonb,
    progressed_at timestamptz,
    primary key (instance_id, name)
);
