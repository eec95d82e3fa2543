#!/usr/bin/env bash
# sql_session.t - a SQL task finds its session as a new one would be, whatever
# the task before it has left there, though it is the same session.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start
login_create etl wf_app
sql 'create sequence counter; grant usage on sequence counter to etl, wf_app'
driver_start one -o sql_connection=user=etl -o sql_connections=1
ok 'install' wf-console install "$ROOT/tests/e2e/data/sql_session/sql_session.wf"

id=$(begin session)
failed "$id"
# found NAME…: these columns of the one row that the second task has selected.
found() {
    local columns
    columns=$(printf ", value #>> '{rows,0,%s}'" "$@")
    sql "select ${columns#, } from wf.binding
          where instance_id = $id and name = 'found'"
}
is 'the settings are those of a new session' "$(found role path memory)" \
    "etl|\"\$user\", public|4MB"
is 'nothing is left of the task before' \
    "$(found tables prepared cursors channels locks)" '0|0|0|0|0'
is 'the last value of a sequence does not stay in the session' \
    "$(sql "select error #>> '{detail,sqlstate}' from wf.task_v
             where instance_id = $id and state = 'FAILED'")" 55000
is 'the next task has the same session' "$(sql "select count(*) from pg_stat_activity
    where pid = $(found pid) and usename = 'etl'")" 1

# A session that can't be reset takes no other task.  Dropping the temporary
# table drops the function that reads it, and waits for whoever holds that.
sql 'create schema etl authorization etl;
     create function etl.left_behind() returns int return 1;
     alter function etl.left_behind() owner to etl'
hold() {
    psql -X -qAt --command="begin; comment on function etl.left_behind() is 'held';
        select pg_sleep(600)"
}
spawn holder hold
ok 'somebody holds the function' wait_sql 30 "select exists (
    select from pg_stat_activity where wait_event = 'PgSleep')"
ok 'install' wf-console install "$ROOT/tests/e2e/data/sql_session/no_reset.wf"
id=$(begin no_reset)
ok 'the reset waits' wait_sql 30 "select count(*) = 1 from pg_stat_activity
    where usename = 'etl' and wait_event_type = 'Lock' and query = 'discard temp'"
is 'the reset is cancelled' "$(sql "select pg_cancel_backend(pid)
    from pg_stat_activity where usename = 'etl' and query = 'discard temp'")" t
ok 'the next task has its answer' wait_sql 30 "select count(*) = 1 from wf.binding
    where instance_id = $id and name = 'found'"
is 'the next task has a session of its own' "$(found path memory tables)" \
    "\"\$user\", public|4MB|0"
sql "select pg_terminate_backend(pid) from pg_stat_activity
    where wait_event = 'PgSleep'" >/dev/null
sound
done_testing
