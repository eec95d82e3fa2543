#!/usr/bin/env bash
# atomic.t - the statements of an atomic and its outcome are one transaction:
# all of it happened or nothing, wherever its connection or its driver is cut.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start pg "synchronous_standby_names = 'nobody'" "synchronous_commit = local"
login_create etl wf_app
sql 'create table parent (n int primary key)'
sql 'create table mark (n int, what text,
    parent int references parent deferrable initially deferred)'
sql 'grant select, insert, update on mark to etl'
sql 'create table total (value int)'
sql 'grant select, update on total to etl'
sql 'insert into total values (0)'
driver_start one -o "sql_connection=user=etl" -o sql_max_rows_bytes=1000
ok 'install' wf-console install "$ROOT"/tests/e2e/data/atomic/*.wf

# pairs: how many numbers have rows, how many of these have not both of them once
pairs() {
    sql "select count(*), count(*) filter (where what <> 'first second')
           from (select string_agg(what, ' ' order by what) as what from mark group by n) m"
}

# cut [CONDITION]: cut connections of SQL tasks; says how many.
cut() {
    sql "select count(pg_terminate_backend(pid)) from pg_stat_activity
          where usename = 'etl' and ${1:-random() < 0.5}"
}

# tried ID: wait until each of its tasks has ended or failed.
tried() {
    wait_sql 30 "select not exists (select from wf.task_v
        where instance_id = $1 and state in ('INIT', 'START_REQUESTED'))"
}

# --- names

id=$(begin names -p n=2)
ended "$id" || true
is 'one task binds the names of its calls' "$(sql "select output from wf.instance_v where instance_id = $id")" \
    '{"seen": [{"n": 1, "what": "second"}, {"n": 2, "what": "first"}], "named": 2, "counted": 2}'
is 'there is one task, with its title' "$(sql "select kind, name, task_type, title, state from wf.task_v where instance_id = $id")" \
    'atomic|atomic as inserted, marks|atomic|first 2|END'
sql 'delete from mark'

# --- failing

id=$(begin fails)
failed "$id" 7
is 'each error says which statement it is about' \
    "$(sql "select error ->> 'kind', error ->> 'message' from wf.task_v where instance_id = $id order by process_id" |
        sed 's/ table .*//')" \
    'sql|statement 2 of 2 (line 12): division by zero
sql|insert or update on
input|statement 2 of 3 (line 22) begins or ends a transaction; an atomic is one transaction
failed|statement 1 of 2 (line 27): the response does not say that it succeeded
output|statement 2 of 2 (line 33): the rows of this statement and of those before it take more than 1000 bytes
timeout|statement 2 of 2 (line 38): the statement did not end within 300 ms
input|statement 2 of 2 (line 43) begins or ends a transaction; an atomic is one transaction'
is 'of an error of the database the detail has it, too' \
    "$(sql "select error -> 'detail' from wf.task_v where instance_id = $id order by process_id limit 1")" \
    '{"hint": null, "line": 12, "detail": null, "sqlstate": "22012", "statement": 2}'
is 'no statement of a failed atomic has an effect' "$(sql 'select count(*) from mark')" 0
sql 'insert into parent values (7)'
ok 'the reason of one is gone' wf-console retry "$id" --yes
wait_sql 20 "select count(*) = 1 from wf.task_v where instance_id = $id and state = 'END'" || true
failed "$id" 6
is 'the statements of a retried atomic have happened once' "$(sql 'select n, what, parent from mark order by what nulls first')" '2||7
2|second|'
wf-console abort "$id" >/dev/null
sql 'delete from mark'

# --- stopped

id=$(begin waits)
wait_sql 20 "select exists (select from pg_stat_activity where usename = 'etl' and wait_event = 'PgSleep')" || true
ok 'cancelled in its second statement' wf-console cancel "$id" --yes
ended "$id" || true
is 'the error is caught' "$(sql "select output from wf.instance_v where instance_id = $id")" \
    '"cancelled: statement 2 of 2 (line 52): the statement was cancelled"'
id=$(begin waits)
wait_sql 20 "select exists (select from pg_stat_activity where usename = 'etl' and wait_event = 'PgSleep')" || true
ok 'aborted in its second statement' wf-console abort "$id" --yes
ended "$id" || true
is 'the instance with the cancelled atomic is aborted' "$(state_of "$id")" 'ABORTED aborted'
is 'nothing of either has happened' "$(sql 'select count(*) from mark')" 0

# --- compared and set, side by side

id=$(begin once_each -p n=100)
ended "$id" 60 || true
is 'C23: of 100 that compare and set each has counted or was refused' \
    "$(sql "select (select value from total) + count(*) from wf.process_v
        where instance_id = $id and name = 'mark.Add as added' and state = 'RAISED'")" 100
sql 'update total set value = 0'
id=$(begin until_added -p n=20)
ended "$id" 60 || true
is 'C23: 1 to 20, ten at a time, each from its start until it is added' \
    "$(state_of "$id") $(sql 'select value from total')" 'END success 210'

# --- connections cut anywhere

N=20
id=$(begin pairs -p n=$N -p pause=0.05)
cuts=0
for _ in $(seq 20); do
    cuts=$((cuts + $(cut)))
done
tried "$id"
while [ "$(sql "select failed from wf.instance_v where instance_id = $id")" -gt 0 ]; do
    wf-console retry "$id" --yes >/dev/null
    tried "$id"
done
ended "$id" || true
ok 'cut anywhere: connections were cut' test "$cuts" -gt 0
diag "$cuts connections were cut"
is 'cut anywhere: it ends' "$(state_of "$id")" 'END success'
is 'cut anywhere: both rows of each, once' "$(pairs)" "$N|0"
sql 'delete from mark'

# --- connections cut between the commit and its answer

N=4
sql 'alter role etl set synchronous_commit = on'
cut true >/dev/null
id=$(begin pairs -p n=$N -p pause=0)
cuts=0
deadline=$((SECONDS + 90))
until [ "$(state_of "$id")" = 'END success' ] || [ "$SECONDS" -ge "$deadline" ]; do
    cuts=$((cuts + $(cut "wait_event = 'SyncRep'")))
done
is 'cut after the commit: it ends' "$(state_of "$id")" 'END success'
is 'cut after the commit: each of them' "$([ "$cuts" -ge $N ] && echo yes)" yes
is 'cut after the commit: both rows of each, once' "$(pairs)" "$N|0"
is 'cut after the commit: nothing was done again' \
    "$(sql "select max(attempt) from wf.task_v where instance_id = $id")" 1
sql 'delete from mark'
sql 'alter role etl reset synchronous_commit'
cut true >/dev/null

# --- the driver is killed between two statements

N=20
sql "update wf.setting set value = 5 where name = 'lease_seconds'"
id=$(begin pairs -p n=$N -p pause=0.1)
wait_sql 20 "select count(*) >= 5 from mark" || true
driver_stop one KILL 2>/dev/null || true
driver_start two -o "sql_connection=user=etl"
ended "$id" 40 || true
is 'driver killed: another one does the rest' "$(state_of "$id")" 'END success'
is 'driver killed: both rows of each, once' "$(pairs)" "$N|0"
sound
done_testing
