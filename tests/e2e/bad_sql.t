#!/usr/bin/env bash
# bad_sql.t - a SQL task is one statement with the rights of its login: whatever
# else it tries is its failure, and the transaction around it is not touched.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start
login_create etl wf_app
sql 'create table mark (n int)'
sql 'grant select, insert on mark to etl'
driver_start one -o queues=default -o "sql_connection=user=etl"
ok 'install' wf-console install "$ROOT/tests/e2e/data/bad_sql/bad_sql.wf"
cat >"$WORK/locked.wf" <<'END'
/** Waits for a connection. */
workflow locked() { sql.Exec(statement = "select 1") with queue("locked") }
END
wf-console install "$WORK/locked.wf" >/dev/null
driver_start two -o queues=locked -o "sql_connection=user=nobody_knows"
locked=$(begin locked)
id=$(begin bad_sql)
failed "$id" 6
is 'each fails, with its SQLSTATE' \
    "$(sql "select error ->> 'kind', error -> 'detail' ->> 'sqlstate'
              from wf.task_v where instance_id = $id order by process_id")" \
    'sql|42601
sql|25P01
sql|25P01
sql|42501
sql|42501
sql|42501'
is 'nothing has happened' "$(sql 'select count(*) from mark')" 0
ok 'a login that fails while the driver is connected is a failure, in time' \
    wait_sql 90 "select error ->> 'message' like
        'no connection for SQL tasks: %role \"nobody_knows\" does not exist'
        from wf.task_v where instance_id = $locked and state = 'FAILED'"
is 'the workspace is sound' "$(sql 'select * from wf.fsck()')" ''
done_testing
