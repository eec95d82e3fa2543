#!/usr/bin/env bash
# failover.t - the machine of the database dies under load, or stops and comes
# to life again when its synchronous standby has taken over; then there is a new
# standby. The drivers know both hosts, and nobody tells them anything.
. "$(dirname "$0")/lib.sh"

campaign failover 2 50 "$@"
LEASE_SECONDS=30
pair_world
pg_synchronous "$PRIMARY" "$STANDBY"
drivers_begin
starts_begin

# It dies.
die() {
    pg_kill "$PRIMARY"
    fail_over
    driver_comes "$before" "$since" >>"$WORK/recovery"
}

# It is only taken for dead. What it still has to say is waited for; then it is
# fenced off.
pause() {
    pg_signal "$PRIMARY" STOP
    fail_over
    driver_comes "$before" "$since" >>"$WORK/pauses"
    pg_signal "$STANDBY" CONT
    nap 2000
    returned=$((returned + $(last_driver "$STANDBY") - before))
    pg_kill "$STANDBY"
}

within=0 returned=0
for ((fault = 0; fault < FAULTS; fault++)); do
    nap 1500
    work_begins sleep 0.02
    within=$((within + IN_FLIGHT))
    before=$(last_driver)
    since=$EPOCHREALTIME
    if [ $((fault % 4)) -eq 1 ]; then
        pause
    else
        die
    fi
    pg_standby_start "$STANDBY" "$PRIMARY"
    pg_synchronous "$PRIMARY" "$STANDBY"
done
starts_end
all_end 120

figure faults "$FAULTS"
figure paused "$(wc -l <"$WORK/pauses")"
figure within "$within"
figure_of_times recovery_ms "$WORK/recovery"
ledgers_figures
figure acknowledged "$(acknowledged)"
invariants_hold I1 I2 I3 I4 I5 I6 I7 I8
not_blind
drivers_hold
ok 'the server died while drivers had requests' test "$within" -gt 0
is 'no driver goes back to a former primary' "$returned" 0
# a poll whose driver never heard of it is lost, and asked for again
is 'nobody was needed' "$(sql "select * from wf.event
    where event = 'retry' or event = 'lost' and state = 'FAILED' limit 10")" ''
campaign_end
