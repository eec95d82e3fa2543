-- Where the workspace is: the same tables may come up somewhere else (a copy of
-- the database, another server) or as they were before (a restored backup, a
-- standby that had not yet got everything). What is outside then is ahead of
-- what is written here, so nothing may be sent before somebody has looked.

-- wf._mark()
--
-- A name for what this transaction has done, if it has made moves.
--
-- Returns  transaction and time, as _sign has noted it; null if there were no moves
-- Locks    nothing
-- Raises   nothing
-- Called   by poll: the driver brings it to register when it connects again
create or replace function wf._mark() returns text
language sql stable
begin atomic
    select nullif(current_setting('wf.mark', true), '');
end;

-- wf._has_mark(p_mark)
--
-- A mark from before the time that txn still tells of is taken on trust: else
-- no driver could come back that had nothing to do for so long.
--
-- Returns  whether what it names is part of this history
-- Locks    nothing
-- Raises   WF002
-- Called   by register
create or replace function wf._has_mark(p_mark text) returns boolean
language plpgsql as $$
begin
    if p_mark is null or p_mark !~ '^[0-9]{1,19}@[0-9]{1,12}[.][0-9]{6}$' then
        raise exception using errcode = 'WF002',
            message = format('%s is no mark', coalesce(quote_literal(p_mark), 'null')),
            hint = 'Give back what poll gave.';
    end if;
    return exists (select
                     from wf.txn t
                    where t.xid = split_part(p_mark, '@', 1)::xid8
                      and extract(epoch from t.at) = split_part(p_mark, '@', 2)::numeric)
        or exists (select
                     from wf.purge p
                    where p.forgotten
                      and p.xid > split_part(p_mark, '@', 1)::xid8
                      and extract(epoch from p.at) > split_part(p_mark, '@', 2)::numeric);
end;
$$;

-- wf._halt(p_reason)
--
-- Pauses the engine on its own account; once for each reason in a row.
--
-- Returns  nothing
-- Locks    the row of home, against others that pause or resume
-- Raises   nothing
-- Called   by register and _look_around
create or replace function wf._halt(p_reason text) returns void
language plpgsql as $$
begin
    perform from wf.home h for no key update;
    insert into wf.engine_event (at, actor, client, event, reason)
    select wf.now(), wf._actor(), inet_client_addr(), 'pause', p_reason
     where not exists (select from (select e.event, e.reason from wf.engine_event e order by e.id desc limit 1) e
                        where e.event = 'pause' and e.reason = p_reason);
    if found then
        perform wf._audit('engine pause', '{"by": "the engine itself"}', p_reason, p_answer => '{done}');
    end if;
end;
$$;

-- wf._look_around()
--
-- Notices that the workspace is somewhere else than when it last looked.
-- A server that was started or promoted: every driver has lost its connection,
-- and gets a new term to come back. Another cluster or database, or a
-- configuration that says that a backup was restored: the engine is paused.
--
-- Returns  nothing
-- Locks    the row of home, the drivers' and their signs of life, when something has changed
-- Raises   nothing
-- Called   by register and _sweep
create or replace function wf._look_around() returns void
language plpgsql as $$
declare
    v_was wf.home;
    v wf.home;
begin
    select h.* into v_was from wf.home h;
    select true, c.system_identifier, d.oid, left(pg_walfile_name(pg_current_wal_lsn()), 8),
           pg_postmaster_start_time(), nullif(current_setting('wf.restored', true), '')
      into v
      from pg_control_system() c, pg_database d
     where d.datname = current_database();
    if v = v_was then
        return;
    end if;
    update wf.home h
       set system_id = v.system_id, database_id = v.database_id, timeline = v.timeline, started_at = v.started_at,
           restored = v.restored
     where h = v_was;
    if not found then
        return;
    end if;
    update wf.driver d set attended = false, session_pid = null where d.state in ('live', 'draining');
    update wf.sign_of_life s set seen_at = wf.now()
     where s.driver_id in (select d.id from wf.driver d where d.state in ('live', 'draining'));
    if not exists (select from wf.driver) then
        return; -- it has never worked: a template, for instance
    elsif v.system_id <> v_was.system_id then
        perform wf._halt(format('this is a copy: the workspace was in the cluster %s and is now in %s', v_was.system_id,
                                v.system_id));
    elsif v.database_id <> v_was.database_id then
        perform wf._halt(format('this is a copy: the workspace was in the database with oid %s and is now in %s',
                                v_was.database_id, v.database_id));
    elsif v.restored is distinct from v_was.restored and v.restored is not null then
        perform wf._halt(format('a backup was restored: the server says wf.restored = %s', quote_literal(v.restored)));
    end if;
end;
$$;
