#!/usr/bin/env bash
# standby_loss.t - the synchronous standby is away under load, so that commits
# of drivers hang, until it is back, or somebody cancels what hangs and goes on
# without one.
. "$(dirname "$0")/lib.sh"

campaign standby_loss 2 50 "$@"
[ "$FAULTS" -ge 2 ] || FAULTS=2 # one of each sort
LEASE_SECONDS=60
pair_world
DRIVER_OPTIONS+=(-o turn_timeout_ms=1000)
# no sign of life can be written meanwhile: nobody is to be given up for that
sql "update wf.setting set value = $LEASE_SECONDS
      where name = 'grace_seconds'"
pg_synchronous "$PRIMARY" "$STANDBY"
drivers_begin
starts_begin

# hung: the commits that wait for the standby, of drivers and their SQL tasks.
hung="from pg_stat_activity where wait_event = 'SyncRep'
    and (usename like 'wf_driver_%' or usename = 'etl')"

# gave_up: how often drivers have waited for an answer for too long.
gave_up() {
    cat "$WORK"/driver-*.log | grep -c 'no answer in time' || true
}

gave_up_more() {
    [ "$(gave_up)" -gt "$1" ]
}

# back: it is there again, and catches up.
back() {
    postgres_begin "$WORK/$STANDBY"
    pg_streams "$PRIMARY" "$STANDBY" sync
}

# do_without: an operator cancels what hangs, which then is done on the primary
# only, and lets it go on alone; later the standby is back.
do_without() {
    cancelled=$((cancelled + $(sql "select count(*) filter (where pg_cancel_backend(pid)) $hung")))
    pg_set "$PRIMARY" "synchronous_standby_names = ''"
    wait_sql 30 "select not exists (select $hung)"
    postgres_begin "$WORK/$STANDBY"
    pg_streams "$PRIMARY" "$STANDBY" async
    pg_synchronous "$PRIMARY" "$STANDBY"
}

cancelled=0 most=0 hangs=0
for ((fault = 0; fault < FAULTS; fault++)); do
    nap 1000
    work_begins sleep 0.02
    before=$(gave_up)
    pg_stop "$STANDBY" immediate
    wait_until 60 gave_up_more "$before"
    nap 1000
    wait_sql 60 "select exists (select $hung)" || true
    count=$(sql "select count(*) $hung")
    hangs=$((hangs + (count > 0)))
    most=$((count > most ? count : most))
    since=$(sql 'select clock_timestamp()') from=$EPOCHREALTIME
    if [ $((fault % 2)) -eq 1 ]; then
        do_without
    else
        back
    fi
    wait_sql 60 "select count(distinct name) = ${#DRIVERS[@]} from wf.driver_v
        where state = 'live' and seen_at > '$since'"
    ms_since "$from" >>"$WORK/recovery"
done
starts_end
all_end 120

figure faults "$(wc -l <"$WORK/recovery")"
figure given_up "$(gave_up)"
figure cancelled "$cancelled"
figure hung_at_most "$most"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I6 I7 I8 I9
not_blind
drivers_hold
came_at_work 'the standby was away' "$FAULTS"
happened "$hangs" "commits of drivers hung, $most at once at most" "$FAULTS"
happened "$cancelled" 'commits that hung were cancelled'
recovers_in 15000 'all drivers are at work again after the loss of the standby' \
    'docs/driver.md: pauses of 0.1 to 10 s'
is 'nobody was needed: nothing failed' "$(sql "select instance_id, process_id,
    event, detail from wf.event where state = 'FAILED' limit 10")" ''
campaign_end
