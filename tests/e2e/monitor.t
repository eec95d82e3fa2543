#!/usr/bin/env bash
# monitor.t - config/check-pgwf, the check for a monitoring system: each of its exit codes,
# also when the workspace cannot be asked at all.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

# check STATUS LINE NAME [OPTION…]: as the login that looks.
check() {
    local status=$1 line=$2 name=$3
    shift 3
    exits "$name: exit code $status" "$status" env PGUSER="${LOGIN:-monitor}" "$ROOT/config/check-pgwf" "$@"
    like "$name: one line" "$OUTPUT" "$line"
    is "$name: no more than one" "$(wc -l <<<"$OUTPUT")" 1
}

workspace_start
login_create monitor wf_viewer
login_create stranger
check 2 '^PGWF CRITICAL - no driver is at work .* drivers=0 ' 'no driver'
driver_start one
check 0 '^PGWF OK - .*\| drivers=1 stuck=0 stuck_seconds=0 violations=-$' 'a driver'
check 0 'violations=0$' 'a driver, with fsck' -f
wf-console install "$ROOT/tests/console/flows/repair.wf" >"$WORK/install"
id=$(begin repair)
failed "$id" 3
check 1 '^PGWF WARNING - a person is needed .* stuck=1 ' 'something has failed'
check 1 'violations=0$' 'something has failed, with fsck' -f
sql "set session_replication_role = replica; delete from wf.failed"
check 2 '^PGWF CRITICAL - keep what wf-console fsck prints' 'rows contradict each other' -f
check 3 '^PGWF UNKNOWN - .*none' 'there is no such database' 'dbname=none'
LOGIN=stranger check 3 '^PGWF UNKNOWN - .*denied' 'a login without a role'
pg_stop
check 3 '^PGWF UNKNOWN - ' 'the server is down'
check 3 '^PGWF UNKNOWN - ' 'the server is down, with fsck' -f
done_testing
