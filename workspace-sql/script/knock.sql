-- Waits until the workspace can be had alone: no procedure of it runs (each has
-- read wf.gate, which locks that table until its transaction ends), and nobody
-- reads its tables. wf.gate is locked first, so that a new call waits there and
-- has nothing else locked. `truncate` gives the table a new file, which tells the
-- call that the workspace has changed (wf._gate).
--
-- It knocks for two seconds at a time, then lets the others pass, and gives up
-- after thirty times.

do $$
declare
    v_tables text := (select string_agg(c.oid::regclass::text, ', ' order by c.oid)
                        from pg_class c where c.relnamespace = 'wf'::regnamespace and c.relkind = 'r');
    v_users text;
begin
    set local lock_timeout = '2 s';
    for v_try in 1 .. 30 loop
        begin
            if to_regclass('wf.gate') is null then
                perform pg_advisory_xact_lock(7761, 0); -- the gate before version 22
            else
                truncate wf.gate;
            end if;
            execute format('lock table %s in access exclusive mode', v_tables);
            return;
        exception when lock_not_available or deadlock_detected then
            perform pg_sleep(1 + random() * 2);
        end;
    end loop;
    select string_agg(concat_ws(' ', 'process', s.pid, 'of', s.usename,
                                nullif(format('(%s)', s.application_name), '()'),
                                'since ' || s.xact_start::timestamptz(0)), ', ' order by s.pid)
      into v_users
      from pg_stat_activity s
     where s.pid <> pg_backend_pid()
       and s.datname = current_database()
       and exists (select from pg_locks l
                    where l.pid = s.pid and l.granted
                      and (l.locktype = 'advisory' and l.classid = 7761 and to_regclass('wf.gate') is null
                           or l.relation in (select c.oid from pg_class c where c.relnamespace = 'wf'::regnamespace)));
    raise exception 'the workspace is in use by a transaction that does not end'
        using errcode = 'WF004', detail = format('It is used by %s.', coalesce(v_users, 'nobody any more')),
              hint = 'Wait for it or end it with pg_terminate_backend(), and try again.';
end;
$$;
