#!/usr/bin/env bash
# backend_kill.t - a session of a driver, of its SQL tasks or of a user is
# killed under load, at which the server throws out all of them and recovers:
# drivers come back by themselves, and nothing that was acknowledged is gone.
. "$(dirname "$0")/lib.sh"

campaign backend_kill 3 1000 "$@"
world 'log_min_messages = log'
server_adopt
DRIVER_OPTIONS+=(-o "sql_connection=user=etl" -o sql_connections=2)
drivers_begin
starts_begin

# A user's is only there while it starts something.
VICTIMS=('wf_driver_%' etl postgres)

# session LIKE: the process of one of these users, by chance; or nothing.
session() {
    local pids
    roll 1000
    mapfile -t pids < <(sql "select pid from pg_stat_activity
        where usename like '$1' and backend_type = 'client backend'
          and pid <> pg_backend_pid()
          and ('$1' <> 'postgres' or query like '%wf.start(%') order by pid")
    PID=${pids[*]:+${pids[ROLL % ${#pids[@]}]}}
}

# killed: how many sessions were, as the server has it.
killed() {
    server_said 'terminated by signal 9'
}

killed_more() {
    [ "$(killed)" -gt "$1" ]
}

# backend_kill LIKE: one that had not ended just then. SINCE is when it was.
backend_kill() {
    local before deadline=$((SECONDS + 60))
    before=$(killed)
    until killed_more "$before" || [ "$SECONDS" -ge "$deadline" ]; do
        session "$1"
        SINCE=$EPOCHREALTIME
        if kill -s KILL ${PID:+"$PID"} 2>/dev/null; then
            wait_until 1 killed_more "$before" 2>/dev/null || true
        fi
    done
}

for ((fault = 0; fault < FAULTS; fault++)); do
    nap 700
    work_begins sleep 0.02
    backend_kill "${VICTIMS[fault % ${#VICTIMS[@]}]}"
    server_writes "$SINCE" >>"$WORK/recovery"
    was_away "$SINCE"
    [ $((fault % 4)) -ne 3 ] || retry_lost
done
starts_end
all_end 120

figure faults "$(killed)"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I6 I7 I8
not_blind
drivers_hold
happened "$(killed)" 'sessions were killed' "$FAULTS"
came_at_work 'sessions were killed' "$FAULTS"
drivers_come_back
campaign_end
