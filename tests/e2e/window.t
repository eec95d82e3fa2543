#!/usr/bin/env bash
# window.t - what the driver answers at once needs no slot, what takes time
# does: however much of the one comes, there is never too much of the other.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
DATA=$ROOT/tests/e2e/data/window
SLOTS=3
EACH=200

workspace_start
ok 'install' wf-console install "$DATA"/*.wf
spawn gate perl "$DATA/gate_server" "$WORK/requests" "$WORK/open"
wait_until 20 test -s "$WORK/requests"
BASE=$(head -n 1 "$WORK/requests")

# requests: how many came, how many different ones, how many at once at most.
requests() {
    awk 'NR > 1 { n++; path[$2]; if ($1 > most) most = $1 }
        END { print n + 0, length(path), most + 0 }' "$WORK/requests"
}

# tasks TYPE: their states, and how many stand there.
tasks() {
    sql "select state, count(*) from wf.task_v
          where task_type = '$1' group by state order by state"
}

# arrived COUNT: wait until so many requests have come.
arrived() {
    wait_until 20 awk -v n="$1" 'END { exit NR <= n }' "$WORK/requests"
}

# in_front COUNT: wait until so many tasks that take no time have ended.
in_front() {
    wait_sql 60 "select count(*) = $1 from wf.task_v
        where task_type = 'wf.Noop' and state = 'END'"
}

# --- the service is silent: all slots are taken, and stay so

driver_start one -o slots=$SLOTS -o http.timeout_ms=86400000
id=$(begin mixed -p "base=$BASE" -p n=$EACH)
in_front $EACH || true
arrived $SLOTS || true
is 'all that takes no time is done' "$(tasks wf.Noop)" "END|$EACH"
other=$(begin mixed -p "base=${BASE}other" -p n=$EACH)
in_front $((2 * EACH)) || true
is 'tasks that take no time are done also when no slot is free' "$(tasks wf.Noop)" "END|$((2 * EACH))"
is 'of the rest as much as there are slots' "$(tasks http.Request)" \
    "INIT|$((2 * EACH - SLOTS))
START_REQUESTED|$SLOTS"
is 'no more requests than slots have reached the service' "$(requests)" "$SLOTS $SLOTS $SLOTS"

# --- another driver has slots of its own

driver_start two -o slots=$SLOTS -o http.timeout_ms=86400000
wait_sql 20 "select count(*) = 2 * $SLOTS from wf.task_v
    where task_type = 'http.Request' and state = 'START_REQUESTED'" || true
is 'a second driver takes as much' \
    "$(sql "select driver, count(*) from wf.task_v
             where state = 'START_REQUESTED' group by driver order by driver")" \
    "one|$SLOTS
two|$SLOTS"

# --- it speaks: all is done, each once

arrived $((2 * SLOTS)) || true
touch "$WORK/open"
ended "$id" 60 || true
ended "$other" 60 || true
is 'both instances end' "$(state_of "$id"), $(state_of "$other")" 'END success, END success'
is 'each request once, and never more than slots' "$(requests)" \
    "$((2 * EACH)) $((2 * EACH)) $((2 * SLOTS))"
is 'nothing was handed back, or tried again' \
    "$(sql "select event, max(attempt), count(*)
              from wf.task_v join wf.event_v e using (instance_id, process_id)
             group by event order by event")" "start|1|$((6 * EACH))
success|1|$((6 * EACH))"
driver_stop one || true
driver_stop two || true
sound
done_testing
