#!/usr/bin/env bash
# driver_pause.t - a driver is stopped for longer than its lease, while it has
# requests, and goes on: others have done what may be repeated, and its own
# reports come too late.
. "$(dirname "$0")/lib.sh"

campaign driver_pause 2 100 "$@"
world
drivers_begin

pauses=0
for ((fault = 0; fault < FAULTS; fault++)); do
    roll ${#DRIVERS[@]}
    name=${DRIVERS[ROLL]}
    stop_at_work "$name"
    at_work "$HELD"
    retry_lost
    driver_given_up "$name" && pauses=$((pauses + 1))
    kill -s CONT "$(pid_of "driver-$name")"
    driver_is_back "$name" || true
done
all_end 120

figure faults "$pauses"
ledgers_figures
refused=$(too_late)
figure refused "$refused"
invariants_hold I1 I2 I3 I4 I5 I7 I8 I9
not_blind
drivers_hold
came_at_work 'drivers were stopped' "$FAULTS"
happened "$pauses" 'drivers were given up meanwhile' "$FAULTS"
happened "$refused" 'reports of paused drivers came in, and were refused'
happened "$DUPLICATES" 'requests that may be repeated were'
campaign_end
