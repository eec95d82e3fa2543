#!/usr/bin/env bash
# driver_clock.t - the clock of the drivers' hosts jumps under load, ahead and
# back: nobody notices.
. "$(dirname "$0")/lib.sh"

campaign driver_clock 5 40 "$@"
clock_make
LEASE_SECONDS=5
world
DRIVER_COMMAND=(env "${CLOCK_ENVIRONMENT[@]}" "${DRIVER_COMMAND[@]}")
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

for ((fault = 0; fault < FAULTS; fault++)); do
    loads
    nap 800
    work_begins loads
    clock_jump "${JUMPS[fault % ${#JUMPS[@]}]}"
done
kill -s HUP "$(pid_of driver-watch)"
all_end 120

figure faults "$FAULTS"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I6 I7 I8 I9
not_blind
drivers_hold
ok 'drivers have the time that they were told' wait_until 20 grep -q \
    "$(date --utc --date="@$((EPOCHSECONDS + CLOCK_OFFSET))" +'"at":"%Y-%m-%dT')" \
    "$WORK/driver-watch.log"
came_at_work 'clocks jumped' "$FAULTS"
is 'no driver was given up, or came back' "$(sql "select count(*),
    count(*) filter (where state = 'live') from wf.driver")" '4|4'
is 'nothing was lost, late, failed or done again' "$(sql "select * from wf.event
    where event in ('lost', 'late', 'retry') or state = 'FAILED' limit 10")" ''
campaign_end
