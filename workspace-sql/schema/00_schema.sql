-- The roles, the schema, and what everything else needs from its first line on.
--
-- Runs as the installing login; from the end of this file to the end of the
-- installation the role is wf_owner.

do $$
declare
    v_role text;
begin
    foreach v_role in array array['wf_owner', 'wf_admin', 'wf_operator', 'wf_author', 'wf_app', 'wf_viewer', 'wf_driver'] loop
        if not exists (select from pg_catalog.pg_roles r where r.rolname = v_role) then
            execute pg_catalog.format('create role %I nologin', v_role);
        end if;
    end loop;
    -- the owner's rights are needed until the last line of the installation; a superuser has them
    if not (select r.rolsuper from pg_catalog.pg_roles r where r.rolname = current_user) then
        if pg_catalog.current_setting('server_version_num')::int >= 160000 then
            execute pg_catalog.format('grant wf_owner to %I with set true', current_user);
        else
            execute pg_catalog.format('grant wf_owner to %I', current_user);
        end if;
    end if;
end;
$$;

create schema wf authorization wf_owner;
set local role wf_owner;
alter default privileges revoke execute on functions from public;
alter default privileges revoke usage on types from public;
comment on schema wf is 'pgwf workspace: workflows, their instances and all of their semantics';

create table wf.setting (
    name       text primary key,
    value      text not null,
    meaning    text not null,
    min        bigint,
    max        bigint,
    changed_at timestamptz,
    changed_by text
);
comment on table wf.setting is 'Settings of the workspace, one row each.';
comment on column wf.setting.name is 'name of the setting';
comment on column wf.setting.value is 'its value, as text';
comment on column wf.setting.meaning is 'what it does, and its unit';
comment on column wf.setting.min is 'the least value it may be set to; null: it is not for setting';
comment on column wf.setting.max is 'the greatest';
comment on column wf.setting.changed_at is 'when it was set; null: it is as it came';
comment on column wf.setting.changed_by is 'by whom';

insert into wf.setting (name, value, meaning, min, max) values
    ('schema_version', '1', 'version of this schema, see migrations/all.sql', null, null),
    ('lease_seconds', '30', 'seconds without a sign of life after which a driver is lost and its requests are taken back', 5, 3600),
    ('grace_seconds', '5', 'the same of a driver whose connection is gone, too; what it may take to connect again', 1, 3600),
    ('loss_limit', '5', 'how many drivers in a row may die with a request before it waits for an operator; 0: any number, and none is put off', 0, 1000000),
    ('value_bytes', '1048576', 'largest value of a parameter, argument, output or name, in bytes of its text', 1024, 134217728),
    ('output_bytes', '1048576', 'how much streamed output of an attempt is kept, in bytes', 1024, 1073741824),
    ('turns', '4', 'how many polls and outcomes work at a time; the others are told to come back', 1, 256),
    ('window', '1000', 'most children that a forall has open at once', 1, 1000),
    ('keep_days', '0', 'days after which ended instances are purged, a few a second; 0: never', 0, 36500);

create table wf.error (
    code    text primary key,
    name    text not null unique,
    meaning text not null,
    remedy  text not null
);
comment on table wf.error is 'The SQLSTATEs that the workspace raises; docs/errors.md is printed from these rows.';
comment on column wf.error.code is 'SQLSTATE, class WF';
comment on column wf.error.name is 'short name';
comment on column wf.error.meaning is 'what happened';
comment on column wf.error.remedy is 'what to do about it';

insert into wf.error (code, name, meaning, remedy) values
    ('WF001', 'illegal move', 'A row of process or instance was to make a move that is no row of wf.transition.', 'Use the operator procedures (retry, ignore, resolve, raise, cancel, abort, suspend, resume); the legal moves are listed in docs/states.md.'),
    ('WF002', 'bad argument', 'An argument of a procedure is missing, of the wrong type or out of range.', 'The message names the argument, the hint what it should be.'),
    ('WF003', 'not found', 'What was named does not exist: a workflow, version, instance, process, driver, group, function or setting.', 'The hint says what lists what there is.'),
    ('WF004', 'refused by state', 'The action is not possible in the present state.', 'Look at the state with wf-console show or explain.'),
    ('WF005', 'definition refused', 'The compiled tree given to wf.install is not what docs/spec.md describes.', 'Compile the source with wf-console; the message names the place in the tree.'),
    ('WF006', 'wrong isolation level', 'A procedure that advances instances was called in a transaction that is not READ COMMITTED.', 'Call it in a READ COMMITTED transaction.'),
    ('WF007', 'key reused', 'start was given a key that is known with another payload.', 'Use a new key, or the same parameters, priority, tags and version.'),
    ('WF008', 'not allowed', 'The login lacks a right that installing or upgrading the workspace takes.', 'Do what the hint says, or have it done by somebody who may.'),
    ('WF009', 'stale token', 'The request was taken back in the meantime; nothing of this report was applied.', 'Nothing to do: whoever holds the request now carries on.'),
    ('WF010', 'driver unknown', 'The driver is not registered, has left, or was given up as lost.', 'Register again; the driver does so by itself.'),
    ('WF011', 'version mismatch', 'The workspace and the program, the files or the server do not go together.', 'Upgrade the older one: the workspace with wf-console workspace upgrade, a program by that of the newer release.'),
    ('WF012', 'SQL task failed', 'The response of a SQL task means that it failed, or is too large; its effects are rolled back.', 'Nothing to do: the driver reports the failure.'),
    ('WF013', 'upgraded meanwhile', 'The call waited while the workspace was upgraded; nothing of it was done.', 'Do it again; a driver does so by itself.'),
    ('WF020', 'expression error', 'An expression met a value that it cannot work with.', 'The process that evaluated it is FAILED with kind input: correct the workflow or its data, then retry, resolve or ignore.');
