#!/usr/bin/env bash
# transaction.t - starting is part of the caller's transaction; a SQL task
# happens with its outcome or not at all, whenever its connection is cut.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

# A commit of the role that SQL tasks run as can be made to last: it waits for
# a standby that there is not. Then it is done, and nobody has heard of it.
workspace_start pg "synchronous_standby_names = 'nobody'" "synchronous_commit = local" \
    'max_prepared_transactions = 2'
login_create etl wf_app
sql 'create table parent (n int primary key)'
sql 'create table mark (
    n int, parent int references parent deferrable initially deferred)'
sql 'grant select, insert on mark to etl'
driver_start one -o "sql_connection=user=etl"
ok 'install' wf-console install "$ROOT"/tests/e2e/data/transaction/*.wf

# marks FROM TO: "rows numbers" of the table.
marks() {
    sql "select count(*), count(distinct n) from mark
          where n between $1 and $2"
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

# --- start

psql --no-psqlrc --quiet >"$WORK/rolled" 2>&1 <<'END'
begin;
insert into mark values (2000);
select wf.start('marks', '{"n": 1, "pause": 0}', p_key => 'a');
rollback;
begin;
savepoint s;
select wf.start('marks', '{"n": 1, "pause": 0}');
rollback to s;
commit;
END
is 'a start that is rolled back leaves nothing' \
    "$(sql 'select count(*) from wf.instance_v'):$(marks 1 2000)" '0:0|0'
id=$(sql "begin; insert into mark values (2000);
    select wf.start('marks', '{\"n\": 1, \"pause\": 0}', p_key => 'a'); commit")
ended "$id"
is 'a start that commits happens with the rest' \
    "$(state_of "$id"), $(marks 1 1), $(marks 2000 2000)" 'END success, 1|1, 1|1'
sql 'delete from mark'

# prepare KEY: a start in a transaction that is to be prepared under that name.
prepare() {
    psql --no-psqlrc --quiet 2>&1 <<END
begin;
select from wf.start('marks', '{"n": 1, "pause": 0}', p_key => '$1');
prepare transaction '$1';
END
}

wait_sql 20 "select bool_and(idle) from wf.driver where state = 'live'"
like 'a start that wakes a driver cannot be prepared' "$(prepare awake)" \
    'cannot PREPARE a transaction that has executed .*NOTIFY'
is 'a start that cannot be prepared leaves nothing' "$(sql "select count(*) from wf.instance_v where key = 'awake'")" 0

# --- failing

id=$(begin fails)
failed "$id" 2
is 'a failed SQL task leaves nothing, at its commit neither' \
    "$(marks 1 2000)" '0|0'
is 'the error has kind sql and names the SQLSTATE' \
    "$(sql "select error ->> 'kind', error -> 'detail' ->> 'sqlstate'
              from wf.task_v where instance_id = $id order by process_id")" \
    'sql|22012
sql|23503'
sql 'insert into parent values (7)'
ok 'the reason of one is gone' wf-console retry "$id" --yes
wait_sql 20 "select count(*) = 1 from wf.task_v
    where instance_id = $id and state = 'END'" || true
failed "$id"
is 'the mended task has happened once, the other not at all' "$(marks 1 2000)" '1|1'
wf-console abort "$id" >/dev/null
sql 'delete from mark'

# --- connections cut anywhere

N=30
id=$(begin marks -p n=$N -p pause=0.03)
cuts=0
for _ in $(seq 25); do
    cuts=$((cuts + $(cut)))
done
tried "$id"
while [ "$(sql "select failed from wf.instance_v where instance_id = $id")" -gt 0 ]; do
    wf-console retry "$id" --yes >/dev/null
    tried "$id"
done
ended "$id" || true
ok "connections were cut anywhere: $cuts" test "$cuts" -gt 0
is 'cut anywhere: it ends' "$(state_of "$id")" 'END success'
is 'cut anywhere: each row once' "$(marks 1 $N)" "$N|$N"
sql 'delete from mark'

# --- connections cut between the commit and its answer

N=6
sql 'alter role etl set synchronous_commit = on'
cut true >/dev/null
id=$(begin marks -p n=$N -p pause=0)
cuts=0
deadline=$((SECONDS + 90))
until [ "$(state_of "$id")" = 'END success' ] || [ "$SECONDS" -ge "$deadline" ]; do
    cuts=$((cuts + $(cut "wait_event = 'SyncRep'")))
done
is 'cut after the commit: it ends' "$(state_of "$id")" 'END success'
is 'cut after the commit: each of them' "$([ "$cuts" -ge $N ] && echo yes)" yes
is 'cut after the commit: each row once' "$(marks 1 $N)" "$N|$N"
is 'cut after the commit: nothing was done again' \
    "$(sql "select max(attempt) from wf.task_v where instance_id = $id")" 1
sql 'delete from mark'
sql 'alter role etl reset synchronous_commit'
cut true >/dev/null

# --- the driver is killed

N=30
sql "update wf.setting set value = 5 where name = 'lease_seconds'"
id=$(begin marks -p n=$N -p pause=0.05)
wait_sql 20 'select count(*) >= 5 from mark' || true
driver_stop one KILL 2>/dev/null || true
driver_start two -o "sql_connection=user=etl"
ended "$id" 40 || true
is 'driver killed: another one does the rest' "$(state_of "$id")" 'END success'
is 'driver killed: each row once' "$(marks 1 $N)" "$N|$N"

# --- prepared, while no driver waits for work

driver_stop two
prepare prepared >"$WORK/prepared"
is 'a prepared start has not begun' "$(sql "select count(*) from wf.instance_v
    where key = 'prepared'")" 0
sql "commit prepared 'prepared'"
driver_start three -o "sql_connection=user=etl"
id=$(sql "select instance_id from wf.instance_v where key = 'prepared'")
ended "$id" || true
is 'a prepared start begins when it is committed' "$(state_of "$id")" 'END success'
sound
done_testing
