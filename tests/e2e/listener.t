#!/usr/bin/env bash
# listener.t - a driver hears of work while it does upkeep that takes long: the
# session that listens for the doorbell leaves upkeep to another session. Upkeep is
# here to begin the next thousand elements of a list, nineteen times.
. "$(dirname "$0")/../lib.sh"

workspace_start pg "log_statement = all" "log_line_prefix = '%p %u '"
login_create wf_driver_one wf_driver
printf '%s\n' 'workflow wide() { forall(i in 1..20000) { let x = i } }' >"$WORK/wide.wf"
ok 'install' wf-console install "$WORK/wide.wf"

# Each thousand notes the session that begins it.
sql "create table public.thousand (pid int not null);
    grant insert on public.thousand to wf_owner;
    create function public.note_thousand() returns trigger language plpgsql as \$\$
    begin
        insert into public.thousand select pg_backend_pid() from new_rows having count(*) >= 1000;
        return null;
    end \$\$;
    create trigger zz_thousand after insert on wf.process referencing new table as new_rows
       for each statement execute function public.note_thousand()"
driver_start one
wait_until 10 grep --quiet 'wf_driver_one LOG: .*listen wf_ready' "$WORK/pg/server.log"
listener=$(sed -n 's/^\([0-9]*\) wf_driver_one LOG: .*listen wf_ready$/\1/p' "$WORK/pg/server.log")
is 'one session listens' "$(wc -w <<<"$listener")" 1
sql "select wf.start('wide')" >/dev/null
wait_sql 120 "select bool_and(i.state = 'END') from wf.instance_v i"
is 'sessions of the driver have begun all thousands but the first' "$(sql "select count(*) from public.thousand
    where pid in (select pid from pg_stat_activity where usename = 'wf_driver_one')")" 19
is 'the session that listens has begun none' "$(sql "select count(*) from public.thousand where pid = $listener")" 0

# with one session for all, that session does it
driver_stop one
driver_start one -o connections=1
sql "select wf.start('wide')" >/dev/null
wait_sql 120 "select count(*) = 2 from wf.instance_v i where i.state = 'END'"
is 'a driver with one session does upkeep, too' "$(sql "select count(*) from public.thousand
    where pid in (select pid from pg_stat_activity where usename = 'wf_driver_one')")" 19
done_testing
