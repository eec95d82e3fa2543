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
    local name kill within=0 busy=0 chains
    chains=$(($1 == 200 ? 20 : 80))
    for ((kill = 0; kill < $2; kill++)); do
        load load 50 base "$BASE" ms "$1" n $chains
        nap $(($1 + 300))
        roll ${#DRIVERS[@]}
        name=${DRIVERS[ROLL]}
        [ "$1" -ne 200 ] || stop_at_work "$name"
        driver_kill "$name"
        driver_again "$name"
        within=$((within + HELD))
        [ "$HELD" -eq 0 ] || busy=$((busy + 1))
        haunt
        [ $((kill % 8)) -ne 7 ] || retry_lost
    done
    all_end 120
    KILLS=$((KILLS + $2)) WITHIN=$((WITHIN + within)) BUSY=$((BUSY + busy))
    diag "requests of $1 ms: $2 kills, $busy while it had requests, $within of these"
}

KILLS=0 WITHIN=0 BUSY=0
for ms in 0 8 200; do
    kills $ms $((FAULTS / 3))
done

figure faults "$KILLS"
figure within "$BUSY"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I7 I8 I9
not_blind
drivers_hold
# a campaign that exercised nothing has shown nothing
ok 'drivers were killed while they had requests' test "$BUSY" -gt 0
ok 'requests that may be repeated were' test "$DUPLICATES" -gt 0
ok 'reports of the dead came in, and were refused' test "$STALE" -gt 0
campaign_end
