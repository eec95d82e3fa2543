#!/usr/bin/env bash
# driver_kill.t - three drivers are killed at random while they work: no task
# is lost or stuck, nothing that may not be repeated is, and what a dead driver
# still has to say changes nothing.
. "$(dirname "$0")/lib.sh"

campaign driver_kill 15 3000 "$@"
world
# nobody's task is to blame for so many kills, and none is to be put off
sql "select wf.setting_set('loss_limit', 0)"
drivers_begin

# kills MS COUNT: of drivers whose requests take so long.
kills() {
    local name kill chains requests=$REQUESTS busy=$AT_WORK
    chains=$(($1 == 200 ? 20 : 80))
    for ((kill = 0; kill < $2; kill++)); do
        load load 50 base "$BASE" ms "$1" n $chains
        nap $(($1 + 300))
        roll ${#DRIVERS[@]}
        name=${DRIVERS[ROLL]}
        [ "$1" -ne 200 ] || stop_at_work "$name"
        driver_kill "$name"
        driver_again "$name"
        at_work "$HELD"
        haunt
        [ $((kill % 8)) -ne 7 ] || retry_lost
    done
    all_end 120
    KILLS=$((KILLS + $2))
    diag "requests of $1 ms: $2 kills, $((AT_WORK - busy)) while it had requests, $((REQUESTS - requests)) of these"
}

KILLS=0
for ms in 0 8 200; do
    kills $ms $((FAULTS / 3))
done

figure faults "$KILLS"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I7 I8 I9
not_blind
drivers_hold
# requests of 0 and 8 ms may be over before the kill, those of 200 ms are not
came_at_work 'drivers were killed' $((FAULTS / 3))
happened "$DUPLICATES" 'requests that may be repeated were'
happened "$STALE" 'reports of the dead came in, and were refused'
campaign_end
