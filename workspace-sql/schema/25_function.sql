-- Operators and functions of the expression language. The rows of operators and
-- built-in functions are behaviour: code/language/catalog.sql.

create table wf.operator (
    name          text    not null,
    symbol        text    not null,
    first_operand integer not null,
    min_length    integer not null,
    max_length    integer,
    meaning       text    not null,
    constraint operator_pkey primary key (name),
    constraint operator_length_check check (max_length >= min_length)
);

create table wf.function (
    name        text   not null,
    topic       text   not null,
    arguments   text[] not null,
    returns     text   not null,
    schema_name text,
    proc_name   text,
    meaning     text   not null,
    constraint function_pkey primary key (name),
    constraint function_name_check check (name ~ '^[a-z_][a-z0-9_]{0,62}$'),
    constraint function_proc_check check ((schema_name is null) = (proc_name is null))
);
