#!/usr/bin/env bash
# given_up.t - what a driver no longer waits for ends at the server, too: no
# statement and no session of it is left there. Only a commit goes on that waits
# for a synchronous standby.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start
login_create etl wf_app
# Only a cancel ends it: the server does not look whether its client is gone.
sql "create function stubborn() returns void language plpgsql as \$\$
    begin
        perform set_config('client_connection_check_interval', '0', false);
        begin
            perform pg_sleep(600);
        exception when query_canceled then
            raise log 'the time limit changes nothing';
        end;
        perform pg_sleep(600);
    end \$\$"
ok 'install' wf-console install "$ROOT/tests/e2e/data/given_up/given_up.wf"
driver_start one -o turn_timeout_ms=2000 -o "sql_connection=user=etl" \
    -o sql_connections=1

# sessions: the driver's sessions with the workspace, by their processes.
sessions() {
    sql "select array_agg(pid order by pid) from pg_stat_activity
          where usename = 'wf_driver_one'"
}

# said REGEX, said_more REGEX COUNT: how often the driver did; more than that.
said() {
    grep -cE "$1" "$WORK/driver-one.log" || true
}

said_more() {
    [ "$(said "$1")" -gt "$2" ]
}

# --- a turn that takes too long is ended by the server, and its session goes on

wait_sql 20 "select count(*) = 2 from pg_stat_activity where usename = 'wf_driver_one'"
beginning=$(sessions)
sql 'begin; lock table wf.driver; select pg_sleep(600)' >"$WORK/locker.log" 2>&1 &
wait_sql 10 "select exists (select from pg_locks
    where relation = 'wf.driver'::regclass and mode = 'AccessExclusiveLock' and granted)"
ok 'a locked table: turns are ended, one after the other' \
    wait_until 60 said_more 'turn failed: .*statement timeout' 4
is 'a locked table: no connection was given up' "$(said 'no answer in time')" 0
# While both are busy, the driver may open one more for its sign of life.
is 'a locked table: the two sessions of the beginning go on, with one more at most' "$(sql "
    select cardinality('$beginning'::int[]), count(*) filter (where pid = any ('$beginning')),
           count(*) <= 3
      from pg_stat_activity where usename = 'wf_driver_one'")" '2|2|t'
sql "select pg_terminate_backend(pid) from pg_stat_activity
      where query like '%lock table%' and pid <> pg_backend_pid()" >/dev/null
id=$(begin limits)
ended "$id" || true
is 'a locked table: afterwards the driver goes on' "$(state_of "$id")" \
    'END success'
is 'a SQL task has its own limit, and none of the driver' \
    "$(sql "select output #>> '{rows,0,statement}', output #>> '{rows,0,idle}'
              from wf.task_v where instance_id = $id")" '70s|0'

# --- a statement of a SQL task that survives its limit is cancelled

id=$(begin stubborn)
failed "$id" || true
is 'a stubborn statement: the task fails in time' "$(sql "
    select error ->> 'kind', error ->> 'message'
      from wf.task_v where instance_id = $id")" \
    'timeout|the statement did not end within 1000 ms'
ok 'a stubborn statement: its limit had changed nothing' \
    grep -q 'the time limit changes nothing' "$WORK/pg/server.log"
ok 'a stubborn statement: the driver has cancelled it' \
    wait_until 20 grep -q 'canceling statement due to user request' \
    "$WORK/pg/server.log"
ok 'a stubborn statement: it has ended' wait_sql 20 "select not exists (
    select from pg_stat_activity where query like '%stubborn()%' and usename = 'etl')"

# --- a commit that waits for its standby is given up, and not cancelled

driver_stop one || true
driver_start one -o turn_timeout_ms=1000 -o connections=1
given_up=$(said 'no answer in time')
pg_set pg "synchronous_standby_names = 'nobody'"
ok 'a commit without its standby: the driver gives its session up' \
    wait_until 60 said_more 'no answer in time' "$given_up"
ok 'a commit without its standby: what has to wait for it is ended, again and again' \
    wait_until 60 said_more 'register failed: .*statement timeout' 2
# one of them is the sign of life's
is 'a commit without its standby: it still waits, and there is one new session' "$(sql "
    select count(*) filter (where wait_event = 'SyncRep') between 1 and 2, count(*) <= 3
      from pg_stat_activity where usename = 'wf_driver_one'")" 't|t'
is 'a commit without its standby: nobody ended its wait' \
    "$(grep -c 'canceling.* wait for synchronous' "$WORK/pg/server.log" || true)" 0
pg_set pg "synchronous_standby_names = ''"
ok 'a commit without its standby: without one it ends, and so does its session' \
    wait_sql 30 "select count(*) = 1 from pg_stat_activity
        where usename = 'wf_driver_one'"
sound
done_testing
