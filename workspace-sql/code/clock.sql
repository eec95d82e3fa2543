-- The clock and the version of the workspace.

-- wf.now()
--
-- The workspace's clock. A member of wf_admin may set it for a session, for
-- tests and simulations: set wf.now = '2026-01-01 00:00+00'.
--
-- Returns  the setting wf.now if the session's user may set it, else the time
-- Locks    nothing
-- Raises   nothing of its own
-- Called   by every procedure, once, after it has locked what it will change
create or replace function wf.now() returns timestamptz
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if coalesce(current_setting('wf.now', true), '') = '' then
        return clock_timestamp();
    end if;
    if not pg_has_role(session_user, 'wf_admin', 'member') then
        return clock_timestamp();
    end if;
    return current_setting('wf.now')::timestamptz;
end;
$$;
comment on function wf.now() is 'The workspace''s clock: timestamptz. A member of wf_admin may set it for a session with the setting wf.now.';

-- wf.schema_version()
--
-- Returns  the version of this schema
-- Locks    nothing
-- Raises   nothing
-- Called   by both programs when they connect
create or replace function wf.schema_version() returns int
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select s.value::int from wf.setting s where s.name = 'schema_version';
$$;
comment on function wf.schema_version() is 'Version of the installed schema: int. Programs refuse one that they do not know.';

-- wf._setting_number(p_name)
--
-- Returns  the value of a setting as a number
-- Locks    nothing
-- Raises   nothing
-- Called   by the engine
create or replace function wf._setting_number(p_name text) returns bigint
language plpgsql stable :engine as $$
begin
    return (select s.value::bigint from wf.setting s where s.name = p_name);
end;
$$;
