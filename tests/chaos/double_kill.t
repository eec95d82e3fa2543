#!/usr/bin/env bash
# double_kill.t - the database server is killed again while it recovers from
# having been killed, or a moment later, when drivers come back and others take
# over from one that died as well: nothing is stuck, and nothing that was
# acknowledged is gone.
. "$(dirname "$0")/lib.sh"

campaign double_kill 2 200 "$@"
world 'log_min_messages = log'
server_adopt
DRIVER_OPTIONS+=(-o "sql_connection=user=etl" -o sql_connections=2)
drivers_begin

loads() {
    load load 30 base "$BASE" ms 8 n 20
    load write 60 base "$BASE" n 20
}

# recoveries: how often it has begun to look at what there is. What it finds it
# calls interrupted, or shut down: so does what it writes when it has recovered.
recoveries() {
    server_said 'database system \(shutdown \)\?was \(interrupted\|shut down\)'
}

# Somebody starts it until it recovers.
recovers() {
    if is_gone "$(pid_of postmaster)"; then
        server_begin
    fi
    [ "$(recoveries)" -gt "$1" ]
}

# unfinished: how often it was killed before it had recovered: who has is ready.
unfinished() {
    printf '%d\n' $(($(recoveries) - $(server_said 'ready to accept connections')))
}

# kill_again MS: at most so long after it began to recover.
kill_again() {
    local before
    before=$(recoveries)
    wait_until 60 recovers "$before" || true
    nap "$1"
    server_kill
}

# recovering: prints the number of the process that recovers, while there is one.
recovering() {
    pgrep --parent "$(pid_of postmaster)" --full 'postgres: startup'
}

# hold_recovery: what recovers is stopped as soon as it is seen, and goes on for a
# moment at a time until it has begun. RECOVERS is its number.
hold_recovery() {
    local before deadline=$((SECONDS + 60))
    before=$(recoveries)
    until [ "$(recoveries)" -gt "$before" ] || [ "$SECONDS" -ge "$deadline" ]; do
        if is_gone "$(pid_of postmaster)"; then
            server_begin
        fi
        if RECOVERS=$(recovering); then
            kill -s CONT "$RECOVERS"
            sleep 0.001
            kill -s STOP "$RECOVERS"
        fi 2>/dev/null
    done
}

# Before it has recovered. Stopped, what recovers would not see that the server is gone.
kill_in_recovery() {
    local before deadline=$((SECONDS + 60))
    before=$(unfinished)
    until [ "$(unfinished)" -gt "$before" ] || [ "$SECONDS" -ge "$deadline" ]; do
        hold_recovery
        server_kill
        kill -s KILL "$RECOVERS" 2>/dev/null || true
    done
}

for ((fault = 0; fault < FAULTS; fault++)); do
    loads
    nap 1200
    work_begins loads
    roll ${#DRIVERS[@]}
    name=${DRIVERS[ROLL]}
    driver_kill "$name"
    since=$EPOCHREALTIME
    server_kill
    if [ $((fault % 2)) -eq 0 ]; then
        kill_in_recovery
    else
        kill_again 500
    fi
    last=$EPOCHREALTIME
    server_writes "$last" >>"$WORK/recovery"
    was_away "$since" "$last" "$name"
    # at times the next one comes while others take over
    roll 2
    [ "$ROLL" -eq 0 ] || nap $((LEASE_SECONDS * 1000 + 500))
    driver_again "$name"
    haunt
    [ $((fault % 4)) -ne 3 ] || retry_lost
done
all_end 120

figure faults "$(wc -l <"$WORK/recovery")"
figure in_recovery "$(unfinished)"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I6 I7 I8
not_blind
drivers_hold
came_at_work 'the server was killed' "$FAULTS"
happened "$(unfinished)" 'the server was killed again while it recovered'
drivers_come_back
campaign_end
