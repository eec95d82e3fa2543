#!/usr/bin/env bash
# clock_jump.t - the clock of the database's host jumps under load, far ahead
# and a little back: drivers are given up wrongly, and nothing else happens than
# when they are given up rightly.
. "$(dirname "$0")/lib.sh"

campaign clock_jump 4 40 "$@"
clock_make
world
SERVER_ENVIRONMENT=("${CLOCK_ENVIRONMENT[@]}")
server_adopt
DRIVER_OPTIONS+=(-o "sql_connection=user=etl" -o sql_connections=2)
drivers_begin

# How far, in seconds. Who is to wait until a time waits longer if the clock
# goes back: never longer than that.
JUMPS=(3600 -3 86400 -5 1 -1 40000000 -4)
loads() {
    load load 40 base "$BASE" ms 200 n 12
    load write 80 base "$BASE" n 20
}

# jump SECONDS: the server's clock jumps that far while drivers have requests.
jumps=0
jump() {
    loads
    nap 1500
    work_begins loads
    clock_jump "$1"
    jumps=$((jumps + 1))
}

for ((fault = 0; fault < FAULTS; fault++)); do
    jump "${JUMPS[fault % ${#JUMPS[@]}]}"
    [ $((fault % 4)) -ne 3 ] || retry_lost
done
# Chance decides whether a driver that is given up wrongly still has requests
# then. So the clock jumps ahead until that has happened.
deadline=$((SECONDS + 120))
until [ "$(too_late)" -gt 0 ] || [ "$SECONDS" -ge "$deadline" ]; do
    jump 3600
    nap 2000
    retry_lost
done
is 'the server has the time that it was told' \
    "$(sql "select abs(extract(epoch from clock_timestamp())
                     - $EPOCHSECONDS - $CLOCK_OFFSET) < 60")" t
nap 3000
retry_lost
all_end 120

figure faults "$jumps"
ledgers_figures
# I7 compares times
invariants_hold I1 I2 I3 I4 I5 I6 I8 I9
not_blind
drivers_hold
came_at_work 'the clock jumped' "$jumps"
is 'the server never crashed' "$(server_said 'in recovery mode')" 0
happened "$(too_late)" 'reports of drivers that were given up came in, and were refused'
campaign_end
