-- The clock and the version of the workspace.

-- wf.now()
--
-- The workspace's clock. Tests may set it for a session: set wf.now =
-- '2026-01-01 00:00+00'. That counts only for members of wf_admin, and only if the owner of
-- the schema has allowed it with the setting test_clock. For any other login the value is
-- not even parsed: it may come from postgresql.conf, or from a statement in a session of a
-- driver. wf.simulate sets the clock for any caller. A row of wf.setting, which its
-- transaction never commits, then says that a simulation is at work.
--
-- Returns  the setting wf.now if it counts, else the time
-- Locks    nothing
-- Raises   nothing of its own
-- Called   by every procedure, once, after it has locked what it will change
create or replace function wf.now() returns timestamptz
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if coalesce(current_setting('wf.now', true), '') = '' then
        return clock_timestamp();
    end if;
    -- two look-ups by the primary key: one query with `or` would read the whole table
    if exists (select from wf.setting s where s.name = 'test_clock' and s.value = '1')
       and pg_has_role(session_user, 'wf_admin', 'member') then
        return current_setting('wf.now')::timestamptz;
    end if;
    if exists (select from wf.setting s where s.name = 'simulation ' || pg_current_xact_id_if_assigned()) then
        return current_setting('wf.now')::timestamptz;
    end if;
    return clock_timestamp();
end;
$$;
comment on function wf.now() is
    'The workspace''s clock: timestamptz. It shows the time of the server. In a workspace for tests a member of '
    'wf_admin may set it for a session with the setting wf.now, if the owner of the schema has allowed that '
    '(test_clock).';

-- wf._now()
--
-- Returns  the same time as wf.now, which it calls only if the clock was set
-- Locks    nothing
-- Raises   nothing of its own
-- Called   by procedures that are called often
create or replace function wf._now() returns timestamptz
language sql volatile
begin atomic
    select case when coalesce(current_setting('wf.now', true), '') = '' then clock_timestamp() else wf.now() end;
end;

-- wf.schema_version()
--
-- Returns  the version of this schema
-- Locks    nothing
-- Raises   nothing
-- Called   by the console and by scripts
create or replace function wf.schema_version() returns int
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select s.value::int from wf.setting s where s.name = 'schema_version';
$$;
comment on function wf.schema_version() is 'Version of the installed schema: int.';

-- wf._oldest_program()
--
-- Returns  the oldest version of the schema whose programs can work here
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.greet and wf._refuse_program
create or replace function wf._oldest_program() returns int language sql immutable
begin atomic
    select 8; -- an older driver would send nothing in place of a secret
end;

-- wf._refuse_program(p_version)
--
-- Returns  never
-- Locks    nothing
-- Raises   WF002, WF011
-- Called   by wf.greet
create or replace function wf._refuse_program(p_version int) returns int
language plpgsql stable as $$
declare
    v_version constant int := wf.schema_version();
begin
    if p_version is null then
        raise exception using errcode = 'WF002',
            message = 'the version of the program''s schema is missing',
            hint = 'Give the version that the program was made for.';
    elsif p_version > v_version then
        raise exception using errcode = 'WF011',
            message = format('the workspace has schema version %s, this program needs %s', v_version, p_version),
            hint = 'Upgrade the workspace: `wf-console workspace upgrade`, or psql -f workspace-sql/upgrade.sql.';
    end if;
    raise exception using errcode = 'WF011',
        message = format('the workspace has schema version %s, this program knows %s', v_version, p_version),
        hint = format('Upgrade the program: the workspace works with those that know version %s or a later one.',
                      wf._oldest_program());
end;
$$;

-- wf.greet(p_version)
--
-- A program says which version of the schema it was made for. The schema may be
-- newer, as long as everything that the program uses is still there and has not
-- changed its meaning. A change that breaks this must raise _oldest_program. An
-- upgrade begins with the workspace, so programs of the release before are let in.
--
-- Returns  the version of this schema
-- Locks    nothing
-- Raises   WF002, WF011
-- Called   by both programs when they connect; it is cheap, as each session begins with it
create or replace function wf.greet(p_version int) returns int
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
    select case when p_version between wf._oldest_program() and s.value::int then s.value::int
                else wf._refuse_program(p_version) end
      from wf.setting s
     where s.name = 'schema_version';
end;
comment on function wf.greet(int) is
    'Asks whether a program made for that version of the schema can work here. Returns the installed version; raises '
    'WF011 if not.';

-- wf._setting_number(p_name)
--
-- Returns  the value of a setting as a number
-- Locks    nothing
-- Raises   nothing
-- Called   by the engine
create or replace function wf._setting_number(p_name text) returns bigint
language plpgsql stable as $$
begin
    return (select s.value::bigint from wf.setting s where s.name = p_name);
end;
$$;
