#!/usr/bin/env bash
# driver_clock.t - the clock of the drivers' hosts jumps under load, ahead and
# back: nobody notices.
. "$(dirname "$0")/lib.sh"

FAKETIME=$(find /usr/lib -name libfaketime.so.1 | head -n 1)
[ -n "$FAKETIME" ] || skip_all 'there is no libfaketime'
campaign driver_clock 5 40 "$@"
LEASE_SECONDS=5
world
CLOCK=$WORK/clock
echo +0 >"$CLOCK"
DRIVER_COMMAND=(env "LD_PRELOAD=$FAKETIME" "FAKETIME_TIMESTAMP_FILE=$CLOCK"
    FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 "${DRIVER_COMMAND[@]}")
DRIVER_OPTIONS+=(-o "sql_connection=user=etl" -o sql_connections=2)
drivers_begin
# one whose log has times in it
driver_start watch "${DRIVER_OPTIONS[@]}" -o queues=none -o log_json=true

# How far, in seconds.
JUMPS=(3600 -3 86400 -5 -172800 1 40000000 -1 400000000 -600000000)
loads() {
    load load 40 base "$BASE" ms 200 n 12
    load write 80 base "$BASE" n 20
}

offset=0
for ((fault = 0; fault < FAULTS; fault++)); do
    loads
    nap 800
    work_begins loads
    offset=$((offset + ${JUMPS[fault % ${#JUMPS[@]}]}))
    printf '%+d\n' "$offset" >"$CLOCK"
done
kill -s HUP "$(pid_of driver-watch)"
all_end 120

figure faults "$FAULTS"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I6 I7 I8 I9
not_blind
drivers_hold
ok 'drivers have the time that they were told' wait_until 20 grep -q \
    "$(date --utc --date="@$((EPOCHSECONDS + offset))" +'"at":"%Y-%m-%dT')" \
    "$WORK/driver-watch.log"
came_at_work 'clocks jumped' "$FAULTS"
is 'no driver was given up, or came back' "$(sql "select count(*),
    count(*) filter (where state = 'live') from wf.driver")" '4|4'
is 'nothing was lost, late, failed or done again' "$(sql "select * from wf.event
    where event in ('lost', 'late', 'retry') or state = 'FAILED' limit 10")" ''
campaign_end
