#!/usr/bin/env bash
# failover.t - the machine of the database dies under load, or stops and comes
# to life again when its synchronous standby has taken over; then there is a new
# standby. The drivers know both hosts, and nobody tells them anything.
. "$(dirname "$0")/lib.sh"

campaign failover 2 50 "$@"
[ "$FAULTS" -ge 2 ] || FAULTS=2 # one of each sort
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

# registering: how many drivers have come to the former primary since it was taken for
# dead. They do not become rows of it: it has no standby any more, so commits hang.
registering() {
    sql "select count(*) from pg_stat_activity where wait_event = 'SyncRep'
            and usename like 'wf_driver_%' and backend_start > to_timestamp($since)" \
        --host="$WORK/$STANDBY"
}

# It is only taken for dead. What it still has to say is waited for; then it is
# fenced off.
pause() {
    pg_signal "$PRIMARY" STOP
    fail_over
    driver_comes "$before" "$since" >>"$WORK/pauses"
    pg_signal "$STANDBY" CONT
    nap 2000
    returned=$((returned + $(last_driver "$STANDBY") - before + $(registering)))
    pg_kill "$STANDBY"
}

returned=0
for ((fault = 0; fault < FAULTS; fault++)); do
    nap 1500
    work_begins sleep 0.02
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
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I6 I7 I8
not_blind
drivers_hold
came_at_work 'the primary was gone' "$FAULTS"
happened "$(wc -l <"$WORK/recovery")" 'the machine of the primary died'
happened "$(wc -l <"$WORK/pauses")" 'a primary was taken for dead, and went on'
recovers_in 10000 'a driver is with the new primary after the death of the former one' \
    'docs/reliability.md: some seconds'
recovers_in 10000 'a driver is with the new primary after the former one stood still' \
    'docs/reliability.md: some seconds' pauses
is 'no driver goes back to a former primary' "$returned" 0
# a poll whose driver never heard of it is lost, and asked for again
is 'nobody was needed' "$(sql "select * from wf.event
    where event = 'retry' or event = 'lost' and state = 'FAILED' limit 10")" ''
campaign_end
