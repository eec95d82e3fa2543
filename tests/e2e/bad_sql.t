#!/usr/bin/env bash
# bad_sql.t - a SQL task is one statement with the rights of its login: whatever
# else it tries is its failure, and the transaction around it is not touched.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

pg_start
workspace_install
login_create etl wf_app
sql 'create table mark (n int)'
sql 'grant select, insert on mark to etl'
driver_start one -o "sql_connection=user=etl"
ok 'install' wf-console install "$ROOT/tests/e2e/data/bad_sql/bad_sql.wf"
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
is 'the workspace is sound' "$(sql 'select * from wf.fsck()')" ''
done_testing
