-- Finds out whether the workspace has moved. The same tables may come up somewhere else (a
-- copy of the database, another server) or in a former state (a restored backup, a standby
-- that had not yet got everything). Then the world outside is ahead of the workspace.
-- Therefore drivers may send nothing before an operator has looked.

-- wf._mark()
--
-- Names what this transaction has done, if it has made moves.
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

-- wf._is_sealed(p_mark)
--
-- Returns  whether this workspace has made the mark, or a workspace of which it is a copy
-- Locks    nothing
-- Raises   nothing
-- Called   by _heed_marks
create or replace function wf._is_sealed(p_mark text) returns boolean
language sql stable
begin atomic
    select coalesce(p_mark = wf._sealed(split_part(p_mark, '#', 1), s.key), false) from wf.seal s;
end;

-- wf._has_mark(p_mark)
--
-- A mark that is older than what txn still holds is taken on trust: otherwise a driver that
-- had nothing to do for so long could not come back. A mark from before the engine was last
-- resumed says nothing new. An operator has looked since, and a driver that gives such a
-- mark again and again must not pause the engine each time.
--
-- Returns  whether the transaction that a sealed mark names is in this history, or need not be
-- Locks    nothing
-- Raises   nothing
-- Called   by _heed_marks
create or replace function wf._has_mark(p_mark text) returns boolean
language plpgsql as $$
declare
    v_xid constant xid8 := split_part(p_mark, '@', 1)::xid8;
    v_at constant numeric := split_part(split_part(p_mark, '@', 2), '#', 1)::numeric;
begin
    return exists (select from wf.txn t where t.xid = v_xid and extract(epoch from t.at) = v_at)
        or exists (select from wf.purge p
                    where p.forgotten and p.xid > v_xid and extract(epoch from p.at) > v_at)
        or exists (select from wf.engine_event e where e.event = 'resume' and extract(epoch from e.at) > v_at);
end;
$$;

-- wf._heed_marks(p_name, p_marks)
--
-- Pauses the engine if a mark names a transaction that this history has lost.
--
-- Returns  nothing
-- Locks    all turns, before it pauses the engine
-- Raises   WF004, WF015
-- Called   by register
create or replace function wf._heed_marks(p_name text, p_marks text[]) returns void
language plpgsql as $$
declare
    v_mark text;
begin
    foreach v_mark in array coalesce(p_marks, '{}') loop
        if not wf._is_sealed(v_mark) then
            raise exception using errcode = 'WF015',
                message = format('%s is not a mark of this workspace',
                                 coalesce(quote_literal(left(v_mark, 100)), 'null')),
                hint = 'Give back what poll gave, or no mark.';
        elsif not wf._has_mark(v_mark) then
            perform wf._take_turns();
            perform wf._halt(format('history was lost: driver %s saw what was done in transaction %s at %s, and it is '
                                    'not there',
                                    quote_ident(p_name), split_part(v_mark, '@', 1),
                                    to_timestamp(split_part(split_part(v_mark, '@', 2), '#', 1)::numeric)));
        end if;
    end loop;
end;
$$;

-- wf._halt(p_reason)
--
-- Pauses the engine without an operator; the same reason again does nothing.
--
-- Returns  nothing
-- Locks    the row of home, against others that pause or resume
-- Raises   nothing
-- Called   by _heed_marks and _look_around
create or replace function wf._halt(p_reason text) returns void
language plpgsql as $$
begin
    perform from wf.home h for no key update;
    insert into wf.engine_event (at, actor, client, event, reason)
    select wf.now(), wf._actor(), inet_client_addr(), 'pause', p_reason
     where not exists (select from (select e.event, e.reason from wf.engine_event e order by e.id desc limit 1) e
                        where e.event = 'pause' and e.reason = p_reason);
    if found then
        perform wf._doubt_schedules(wf.now());
        perform wf._audit('engine pause', '{"by": "the engine itself"}', p_reason, p_answer => '{done}');
    end if;
end;
$$;

-- wf._look_around()
--
-- Notices that the workspace is somewhere else than when it last looked. If the server was
-- started or promoted, every driver has lost its connection, and gets a new term to come
-- back. If the cluster or the database is another one, or the configuration says that a
-- backup was restored, the engine is paused. In another cluster logins have other oids; the
-- logins of the same names take the drivers over.
--
-- The note about a restored backup (wf.restored) comes from the server's administrator. A
-- session may set wf.restored as it likes, also by its options or those of its login.
-- Therefore current_setting does not count. Only the owner of the database or a superuser
-- has `alter database … set`, and only the server's administrator can change the server's
-- files. A function that a superuser has installed reads them (script/trust.sql), after the
-- server was started.
--
-- Returns  nothing
-- Locks    the row of home, the drivers' and their signs of life, when something has changed
-- Raises   nothing
-- Called   by register and _give_up
create or replace function wf._look_around() returns void
language plpgsql as $$
declare
    v_was wf.home;
    v wf.home;
begin
    select h.* into v_was from wf.home h;
    select true, c.system_identifier, d.oid, left(pg_walfile_name(pg_current_wal_lsn()), 8),
           pg_postmaster_start_time(),
           (select nullif(substr(x.text, length('wf.restored=') + 1), '')
              from pg_db_role_setting s
             cross join unnest(s.setconfig) x (text)
             where s.setdatabase in (d.oid, 0) and s.setrole = 0 and starts_with(x.text, 'wf.restored=')
             order by s.setdatabase desc limit 1)
      into v
      from pg_control_system() c, pg_database d
     where d.datname = current_database();
    if v.restored is null and v.started_at = v_was.started_at then
        v.restored := v_was.restored;
    elsif v.restored is null and to_regprocedure('wf._restored_file()') is not null then
        v.restored := wf._restored_file();
    end if;
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
    if v.system_id <> v_was.system_id then
        update wf.driver d
           set login = coalesce((select r.oid from pg_roles r where r.rolname = d.actor), 0);
    end if;
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
