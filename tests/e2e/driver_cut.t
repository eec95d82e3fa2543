#!/usr/bin/env bash
# driver_cut.t - connections of a driver are cut while it works, the server is
# restarted: it goes on, loses nothing and does nothing twice.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start
login_create etl wf_app
sql 'create table mark (n int)'
sql 'grant insert on mark to etl'
ok 'install' wf-console install "$ROOT/tests/e2e/data/driver/cut.wf"
driver_start one -o "sql_connection=user=etl" -o slots=20

# cut: some of what the driver has.
cut() {
    sql "select count(pg_terminate_backend(pid)) from pg_stat_activity
          where usename in ('etl', 'wf_driver_one') and random() < 0.2"
}

id=$(begin driver_cut -p n=2000)
cuts=0
for _ in $(seq 60); do
    cuts=$((cuts + $(cut)))
    sleep 0.1
done
ended "$id" 60 || true
ok "connections were cut meanwhile: $cuts" test "$cuts" -gt 0
is 'cut: it ends' "$(state_of "$id")" 'END success'
is 'cut: every row once' \
    "$(sql 'select count(*), count(distinct n) from mark')" '2000|2000'
sound

sql 'truncate mark'
id=$(begin driver_cut -p n=400)
wait_sql 20 'select count(*) > 20 from mark'
pg_stop pg immediate
pg_restart
ended "$id" 60 || true
is 'crash of the server: it ends' "$(state_of "$id")" 'END success'
is 'crash of the server: every row once' \
    "$(sql 'select count(*), count(distinct n) from mark')" '400|400'

# --- two TERMs: nothing is waited for

sql 'lock mark; select pg_sleep(60)' >/dev/null 2>&1 &
locker=$!
wait_sql 10 "select exists (select from pg_locks l join pg_class c
    on c.oid = l.relation where c.relname = 'mark' and l.granted)"
id=$(begin driver_cut -p n=1)
in_state "$id" sql.Exec START_REQUESTED
kill -s TERM "$(pid_of driver-one)"
wait_sql 10 "select state = 'draining' from wf.driver_v where name = 'one'
    order by driver_id desc limit 1"
status=0
driver_stop one || status=$?
is 'a second TERM: it ends at once, and says that it left something' \
    "$status" 1
is 'a second TERM: it has left' \
    "$(sql "select distinct state from wf.driver_v where name = 'one'")" left
# --- one TERM, and what is under way takes longer than drain_timeout_ms

driver_start drained -o "sql_connection=user=etl" -o drain_timeout_ms=1500
ok 'one TERM: another driver has the task' wait_sql 60 "select exists (select from wf.task_v
    where instance_id = $id and driver = 'drained')"
kill -s TERM "$(pid_of driver-drained)"
ok 'one TERM: the driver waits for what is under way' wait_sql 10 "select state = 'draining'
    from wf.driver_v where name = 'drained'"
status=0
wait "$(pid_of driver-drained)" || status=$?
is 'one TERM: the driver ends when drain_timeout_ms is over, and says that it left something' \
    "$status" 1
is 'one TERM: it has left' \
    "$(sql "select state from wf.driver_v where name = 'drained'")" left

# --- another driver does what both have left

kill "$locker" 2>/dev/null || true
sql "select pg_terminate_backend(pid) from pg_stat_activity
      where query like 'lock mark%' and pid <> pg_backend_pid()" >/dev/null
driver_start two -o "sql_connection=user=etl"
ended "$id" 60 || true
is 'another driver does what two stopped drivers have left' "$(state_of "$id")" 'END success'

# --- one that was asleep for longer than its lease comes back as a new one

sql "update wf.setting set value = 2 where name = 'lease_seconds'"
driver_start sleeper -o "sql_connection=user=etl" -o slots=5
kill -s STOP "$(pid_of driver-sleeper)"
wait_sql 30 "select state = 'lost' from wf.driver_v where name = 'sleeper'"
kill -s CONT "$(pid_of driver-sleeper)"
wait_sql 30 "select count(*) = 2 and bool_or(state = 'live')
    from wf.driver_v where name = 'sleeper'" || true
is 'asleep: it has registered again' \
    "$(sql "select string_agg(state, ' ' order by driver_id)
              from wf.driver_v where name = 'sleeper'")" 'lost live'
sql 'truncate mark'
id=$(begin driver_cut -p n=100)
ended "$id" 60 || true
is 'asleep: all is well' \
    "$(state_of "$id"), $(sql 'select count(*), count(distinct n) from mark')" \
    'END success, 100|100'
sound
done_testing
