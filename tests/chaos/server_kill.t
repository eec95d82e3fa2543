#!/usr/bin/env bash
# server_kill.t - the database server is killed at random times under load and
# started again: drivers come back by themselves, and nothing that was
# acknowledged is gone.
. "$(dirname "$0")/lib.sh"

campaign server_kill 4 500 "$@"
world
server_adopt
DRIVER_OPTIONS+=(-o "sql_connection=user=etl" -o sql_connections=2)
drivers_begin

loads() {
    load load 30 base "$BASE" ms 8 n 20
    load write 60 base "$BASE" n 20
}

for ((fault = 0; fault < FAULTS; fault++)); do
    loads
    nap 1200
    work_begins loads
    since=$EPOCHREALTIME
    server_kill
    server_writes "$since" >>"$WORK/recovery"
    was_away "$since"
    [ $((fault % 4)) -ne 3 ] || retry_lost
done
all_end 120

figure faults "$(wc -l <"$WORK/recovery")"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I6 I7 I8
not_blind
drivers_hold
came_at_work 'the server was killed' "$FAULTS"
drivers_come_back
campaign_end
