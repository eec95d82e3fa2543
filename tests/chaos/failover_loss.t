#!/usr/bin/env bash
# failover_loss.t - the machine of the database dies under load, and the standby
# that is promoted did not have everything: drivers notice, nothing is sent
# before somebody has looked, and the workspace is as sound as before.
. "$(dirname "$0")/lib.sh"

campaign failover_loss 1 20 "$@"
LEASE_SECONDS=30
pair_world
drivers_begin
: >"$WORK/lost"

# What was acknowledged since the standby is cut off will be lost.
fall_behind() {
    pg_cut_off "$STANDBY"
    wait_sql 30 "select max(i.id) > $(sql 'select max(id) from wf.instance' \
        --host="$WORK/$STANDBY") from wf.instance i" || true
    nap 1000
}

# note_lost: the starts that were answered and are not there any more. Their
# ids will be those of others.
note_lost() {
    sql 'select id from wf.instance' | sort >"$WORK/there"
    sort "$HEARD" | comm -23 - "$WORK/there" >>"$WORK/lost"
    sort "$HEARD" | comm -12 - "$WORK/there" >"$WORK/heard"
    cp "$WORK/heard" "$HEARD"
}

loads() {
    load load 30 base "$BASE" ms 8 n 20
    load write 60 base "$BASE" n 20
}

noticed=0
for ((fault = 0; fault < FAULTS; fault++)); do
    starts_begin
    nap 1500
    fall_behind
    starts_end
    work_begins loads
    pg_kill "$PRIMARY"
    fail_over
    note_lost
    wait_sql 60 "select state = 'PAUSED' from wf.engine_v" &&
        noticed=$((noticed + 1))
    pg_standby_start "$STANDBY" "$PRIMARY"
    sql "select wf.engine_resume('looked at it')" >/dev/null
    retry_lost
done
all_end 120

figure faults "$FAULTS"
figure noticed "$noticed"
figure lost_starts "$(wc -l <"$WORK/lost")"
figure kept_starts "$(wc -l <"$HEARD")"
ledgers_figures
invariants_hold I1 I2 I3 I6 I7 I8
not_blind
drivers_hold
came_at_work 'the primary died' "$FAULTS"
is 'each loss was noticed' "$noticed" "$FAULTS"
happened "$(wc -l <"$WORK/lost")" 'starts that were answered were lost'
campaign_end
