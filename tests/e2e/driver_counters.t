#!/usr/bin/env bash
# driver_counters.t - what a driver counts, and who gets to see it.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

# counter NAME: what it is in the workspace; empty: there is none.
counter() {
    sql "select value from wf.driver_counter_v join wf.driver_v d using (driver_id)
          where d.state = 'live' and counter = '$1'"
}

is_counter() {
    [ "$(counter "$1")" = "$2" ]
}

# fresh: have the driver write its counters, and wait until it has.
fresh() {
    local before
    before=$(sql 'select max(counted_at) from wf.driver_counter_v')
    kill -USR1 "$(pid_of driver-one)"
    wait_sql 10 "select max(counted_at) > '$before' from wf.driver_counter_v"
}

workspace_start
login_create etl wf_app
cat >"$WORK/count.wf" <<'END'
workflow count() {
  lb.Log(msg = "one") ; sql.Exec(statement = "select 1") ; lb.Log(msg = "two")
}
END
ok 'install' wf-console install "$WORK/count.wf"
driver_start one -o sql_connection=user=etl -o connections=1
ok 'a driver writes its counters when it has registered' \
    wait_until 10 is_counter turns.register 1
is 'the driver has made one connection' "$(counter connections.made)" 1
is 'a transport that has done nothing is not mentioned' \
    "$(counter builtin.responses)" ''

id=$(begin count)
ok 'a workflow runs' ended "$id"
ok 'USR1: the counters are written at once' fresh
is 'two requests of builtin got a response' "$(counter builtin.responses)" 2
is 'the SQL task was recorded by its own transaction' "$(counter sql.recorded)" 1
is 'all three were taken' "$(counter requests.taken)" 3
is 'nothing failed' "$(counter turns.failed)" 0
ok 'the driver has polled' test "$(counter turns.poll)" -gt 2
ok 'the loop of the driver has turned' test "$(counter loop.passes)" -gt 2
is 'a longer span has at least as many requests' "$(sql "
    select bool_and(value >= before) from (
        select value, lag(value, 1, 0::bigint) over (
            order by substring(counter from '\\d+')::int) as before
          from wf.driver_counter_v where counter ~ '^sql.within_') s")" t
like 'USR1: the counters are logged' "$(cat "$WORK/driver-one.log")" \
    'counters: \{"connections.made": 1, .*"redactions": 0\}'

sql "select pg_terminate_backend(pid) from pg_stat_activity
      where usename = 'wf_driver_one'" >/dev/null
ok 'the counters go on after the connection was lost' \
    wait_until 10 is_counter turns.register 2
ok 'the driver writes its counters once more' fresh
is 'one connection was lost' "$(counter connections.lost)" 1
is 'the driver has made another connection' "$(counter connections.made)" 2
is 'the driver still counts what it counted before' "$(counter sql.recorded)" 1
is 'the console shows them' "$(wf-console -o csv driver status one |
    tr -d '\r' | awk -F, '$3 == "sql.recorded" { print $4 }')" 1

status=0
driver_stop one || status=$?
is 'the driver leaves nothing undone' "$status" 0
sound
done_testing
