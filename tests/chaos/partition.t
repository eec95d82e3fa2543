#!/usr/bin/env bash
# partition.t - a driver that has requests is cut off from the database, but
# not from the service, for longer than its lease, and at times for longer than
# it waits itself; then everything that was on its way arrives.
. "$(dirname "$0")/lib.sh"

campaign partition 2 100 "$@"
world
DRIVER_OPTIONS+=(-o turn_timeout_ms=3500)
for name in "${DRIVERS[@]}"; do
    proxy_start "proxy-$name"
    driver_start "$name" "${DRIVER_OPTIONS[@]}" -o "connection=host=$PROXY"
done

partitions=0 within=0
for ((fault = 0; fault < FAULTS; fault++)); do
    roll ${#DRIVERS[@]}
    name=${DRIVERS[ROLL]}
    stop_at_work "$name" "proxy-$name"
    within=$((within + HELD))
    retry_lost
    driver_given_up "$name" && partitions=$((partitions + 1))
    nap 3000
    kill -s CONT "$(pid_of "proxy-$name")"
    driver_is_back "$name" || true
done
all_end 120

figure faults "$partitions"
figure within "$within"
ledgers_figures
refused=$(too_late)
figure refused "$refused"
invariants_hold I1 I2 I3 I4 I5 I7 I8 I9
not_blind
drivers_hold
ok 'they had requests when they were cut off' test "$within" -gt 0
ok 'their reports came in, and were refused' test "$refused" -gt 0
ok 'requests that may be repeated were' test "$DUPLICATES" -gt 0
campaign_end
