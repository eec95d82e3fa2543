#!/usr/bin/env bash
# workspaces.t - one driver, several workspaces: they share its slots, and none
# holds another up, whatever becomes of its database.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
DATA=$ROOT/tests/e2e/data/workspaces

# use NAME: the database that sql, begin … speak to from now on.
use() {
    export PGHOST=${host[$1]} PGDATABASE=$1
}

# make NAME: a workspace in the cluster of PGHOST, a driver's login and etl's.
make() {
    host[$1]=$PGHOST
    workspace_install "$1"
    wf-console install "$DATA"/*.wf >/dev/null
    sql 'create table mark (name text, who text)'
    sql 'grant insert on mark to public'
}

# config NAME…: what the file says from now on.
config() {
    local name
    printf 'slots = 8;\nname = "one";\nlog_level = "debug";\n%s\nworkspaces: {\n' "${more:-}"
    for name; do
        printf '%s: { connection = "host=%s dbname=%s user=wf_driver_one";\n' \
            "$name" "${host[$name]}" "$name"
        printf '    sql_connection = "host=%s dbname=%s user=etl"; };\n' \
            "${host[$name]}" "$name"
    done
    printf '};\n'
}

# live NAME [STATE]: the driver works there.
live() {
    use "$1"
    wait_sql 30 "select state = '${2:-live}' from wf.driver_v
        where name = 'one' order by driver_id desc limit 1"
}

# pace WHEN: how many ms 300 steps one after another take.
pace() {
    local from=${EPOCHREALTIME/./} steps
    steps=$(begin steps -p n=300)
    ended "$steps" 60 || true
    is "$1: the others' work ends" "$(state_of "$steps")" 'END success'
    ms=$(((${EPOCHREALTIME/./} - from) / 1000))
}

# holds COUNT: the driver has so many requests of this workspace under way.
holds() {
    wait_sql 30 "select sum(in_flight) = $1 from wf.driver_v where name = 'one'"
}

declare -A host
nginx_start 'location / { echo_sleep 0.5; echo done; }'
stalls_watch
pg_start second
sql 'create role wf_driver_one login; create role etl login'
make bad
pg_start first
sql 'create role wf_driver_one login; create role etl login'
make good
make spare
for name in bad good spare; do
    use "$name"
    sql 'grant wf_driver to wf_driver_one; grant wf_app to etl'
done

# --- what the file may say

config good bad >"$WORK/driver.conf"
exits 'both are there' 0 wf-driver -n -c "$WORK/driver.conf"
more='connection = "dbname=good";' config good >"$WORK/wrong.conf"
exits 'both ways of saying it' 78 wf-driver -n -c "$WORK/wrong.conf"
like 'both ways of saying it: the message names them' "$OUTPUT" 'both workspaces and connection are given'
exits 'on the command line: this one only' 0 env PGUSER=wf_driver_one \
    wf-driver -n -c "$WORK/driver.conf" -d "host=$PGHOST dbname=spare"
config good bad | sed 's/dbname=bad/dbname=none/' >"$WORK/wrong.conf"
exits 'one is not there' 1 wf-driver -n -c "$WORK/wrong.conf"
like 'one is not there: the message names it' "$OUTPUT" 'wf-driver: bad: .*"none" does not exist'

# --- each does its own

spawn driver-one wf-driver -c "$WORK/driver.conf" "${DRIVER_HTTP[@]}"
live good
live bad
for name in good bad; do
    use "$name"
    id=$(begin row)
    ended "$id" || true
    is "$name: its SQL tasks are done in its database" \
        "$(state_of "$id"), $(sql 'select * from mark')" "END success, $name|etl"
done
ok 'log lines name the workspace' grep -q 'good: registered as driver 1' "$WORK/driver-one.log"
ok 'log lines of tasks name the workspace' grep -q 'bad: task 1/[0-9]*/1: start of sql.Exec' "$WORK/driver-one.log"

# --- slots: half of a share is kept for who is idle, equal shares for all who want

use bad
many=$(begin slow -p "url=$HTTP_URL" -p n=60)
ok 'alone: all but half of the share of the other' holds 6
use good
other=$(begin slow -p "url=$HTTP_URL" -p n=60)
ok 'both: one half' holds 4
use bad
ok 'both: the other half' holds 4
ended "$many" 60 || true
is 'both: the first ends' "$(state_of "$many")" 'END success'
use good
ended "$other" 60 || true
is 'both: the second ends' "$(state_of "$other")" 'END success'

# --- one hangs: connections stand and nothing answers

use good
pace 'before'
before=$ms
use bad
id=$(begin slow -p "url=$HTTP_URL/hang" -p n=6)
in_state "$id" http.Request START_REQUESTED
pg_signal second STOP
use good
pace 'one hangs'
in_time "one hangs: the others keep their pace, $before ms before" "$ms" $((before * 3 + 1000))
pg_signal second CONT
use bad
ended "$id" 60 || true
is 'one hangs: later it goes on, with what was under way' "$(state_of "$id")" 'END success'
is 'one hangs: nothing was sent twice' \
    "$(grep -c ' /hang/' "$WORK/nginx/access.log")" 6

# --- one is down, and stays away

use bad
id=$(begin slow -p "url=$HTTP_URL" -p n=6)
in_state "$id" http.Request START_REQUESTED
pg_stop second immediate
use good
pace 'one is down'
in_time "one is down: the others keep their pace, $before ms before" "$ms" $((before * 3 + 1000))
ok 'one is down: the log says which' wait_until 20 \
    grep -q 'bad: no connection to the workspace' "$WORK/driver-one.log"
pg_restart second
use bad
ended "$id" 60 || true
is 'one is down: later it goes on' "$(state_of "$id")" 'END success'

# --- one refuses us

use spare
sql 'revoke usage on schema wf from wf_driver'
config good bad spare >"$WORK/driver.conf"
kill -s HUP "$(pid_of driver-one)"
ok 'reload: one that refuses us' wait_until 30 \
    grep -q 'spare: register failed: permission denied' "$WORK/driver-one.log"
use good
pace 'one refuses us'
use spare
sql 'grant usage on schema wf to wf_driver'
ok 'reload: one that is new' live spare

# --- one is no longer there: what is under way ends, then the driver leaves it

use bad
id=$(begin slow -p "url=$HTTP_URL" -p n=20)
ok 'removed: it is at work' holds 6
config good spare >"$WORK/driver.conf"
kill -s HUP "$(pid_of driver-one)"
ok 'removed: it leaves' live bad left
is 'removed: what was under way has ended' \
    "$(sql "select count(*) filter (where state = 'FAILED'),
                   count(*) filter (where state = 'END') >= 6
              from wf.task_v where instance_id = $id")" '0|t'
ok 'the others stay' live good
use good
is 'the drivers of the other workspaces are the same as before' \
    "$(sql "select count(*) from wf.driver_v where name = 'one'")" 1

status=0
driver_stop one || status=$?
is 'the driver ends well' "$status" 0

# --- one hangs and is no longer there: its SQL task is cancelled, for which
# nobody waits

more='drain_timeout_ms = 500;'
config good bad >"$WORK/driver.conf"
spawn driver-one wf-driver -c "$WORK/driver.conf" "${DRIVER_HTTP[@]}"
live good
live bad
id=$(begin sleep)
wait_sql 20 "select exists (select from pg_stat_activity
    where usename = 'etl' and query like '%pg_sleep%' and state = 'active')"
config good >"$WORK/driver.conf"
pg_signal second STOP
kill -s HUP "$(pid_of driver-one)"
ok 'removed while it hangs: what it had is given up' wait_until 20 \
    grep -q "bad: task $id/.*abandoned" "$WORK/driver-one.log"
use good
pace 'removed while it hangs'
pg_signal second CONT
use bad
ok 'removed while it hangs: the statement is cancelled all the same' \
    wait_sql 20 "select not exists (select from pg_stat_activity
        where usename = 'etl' and query like '%pg_sleep%' and state = 'active')"
driver_stop one || true
for name in bad good spare; do
    use "$name"
    sound
done
done_testing
