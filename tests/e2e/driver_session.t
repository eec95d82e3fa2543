#!/usr/bin/env bash
# driver_session.t - a driver that is dead is noticed by its session, long before
# its lease is over; one whose connection was cut, or whose server was away, is not
# taken for dead.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
LOG=$WORK/nginx/access.log

# attended NAME: the workspace relies on its session.
attended() {
    sql "select attended from wf.driver where name = '$1' order by id desc limit 1"
}

# work N: an instance with N requests under way, which may be repeated.
work() {
    id=$(begin again -p "url=$HTTP_URL" -p "n=$1")
    wait_sql 20 "select count(*) = $1 from wf.task_v
        where instance_id = $id and state = 'START_REQUESTED'"
}

# lost: how many of its requests were taken back.
lost() {
    sql "select count(*) from wf.event_v where instance_id = $id and event = 'lost'"
}

# is_past MICROSECONDS: so late it is by the clock of this machine.
is_past() {
    [ "${EPOCHREALTIME/./}" -gt "$1" ]
}

cat >"$WORK/again.wf" <<'END'
/** Sends n requests that take a while and may be repeated. */
workflow again(url: string, n: int) {
  forall(i in 1 .. n) { http.Request(url = "${url}/${i}") with idempotent }
}
END
nginx_start 'location / { echo_sleep 4; echo done; }'
workspace_start
ok 'install' wf-console install "$WORK/again.wf"

# in_time NAME MS: no longer than docs/reliability.md says, grace_seconds (5) and
# about a second, and what three processes in a row may lose where others compute.
in_time() {
    local stall
    stall=$(stall_ms)
    ok "$1 ($2 ms; processes were up to $stall ms late)" test "$2" -lt $((6500 + 3 * stall))
}

# --- kill -9: its tasks go to another driver in seconds; the lease has 30

driver_start one
is 'a driver is known by its session' "$(attended one)" t
work 4
driver_start two
stalls_watch
server_from=$(sql 'select clock_timestamp()')
from=${EPOCHREALTIME/./}
driver_stop one KILL || true
wait_sql 60 "select count(*) = 4 from wf.task_v
    where instance_id = $id and driver = 'two'" || true
ms=$(((${EPOCHREALTIME/./} - from) / 1000))
in_time 'killed: its tasks are taken back' "$(sql "select ceil(1000 * extract(epoch from
    max(server_at) - '$server_from')) from wf.event_v where instance_id = $id and event = 'lost'")"
in_time 'killed: they begin elsewhere' "$ms"
ended "$id" 60 || true
is 'killed: they end' "$(state_of "$id"), $(lost)" 'END success, 4'

# --- all its connections are cut: it comes back, and nothing is lost

work 4
sql "select count(pg_terminate_backend(pid)) from pg_stat_activity
      where usename = 'wf_driver_two'" >/dev/null
ended "$id" 60 || true
is 'cut: nothing is lost' "$(state_of "$id"), $(lost)" 'END success, 0'
is 'cut: it is known by its new session' "$(attended two)" t

# --- the server is away for longer than all leases: nobody is given up for that

# A driver that finds no server pauses for at most 12.5 s before it tries again: a lease is longer.
sql "update wf.setting set value = 13 where name = 'lease_seconds'"
sql "update wf.setting set value = 1 where name = 'grace_seconds'"
driver_start three
work 8
pg_stop pg immediate
wait_until 30 is_past $((${EPOCHREALTIME/./} + 13100000)) # the lease of the last sign of life
pg_restart
ended "$id" 60 || true
is 'server away: nothing is lost' "$(state_of "$id"), $(lost)" 'END success, 0'
is 'server away: nothing was sent twice' \
    "$(grep -c "$(sql "select trace_id from wf.instance_v where instance_id = $id")" "$LOG")" 8
driver_stop three || true

# --- sessions that may only read are given up for others

sql 'alter database wf set default_transaction_read_only = on' --dbname=postgres
sql "select count(pg_terminate_backend(pid)) from pg_stat_activity
      where usename = 'wf_driver_two'" --dbname=postgres >/dev/null
ok 'read-only: it says so' wait_until 30 \
    grep -q 'read-only transaction' "$WORK/driver-two.log"
sql 'alter database wf reset default_transaction_read_only' --dbname=postgres
work 1
ended "$id" 60 || true
is 'read-only: it connects again, and works' "$(state_of "$id")" 'END success'
driver_stop two || true

# --- behind a pooler there is no session that would be its own

sql "update wf.setting set value = 30 where name = 'lease_seconds'"
pgbouncer_start wf_driver_four
driver_start four -d "host=$PGBOUNCER_HOST port=$PGBOUNCER_PORT dbname=wf"
is 'pooled: it is known by no session' "$(attended four)" f
is 'pooled: none is written down' "$(sql "select session_pid is null
    from wf.driver where name = 'four'")" t
driver_stop four || true
sound
done_testing
