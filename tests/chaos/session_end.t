#!/usr/bin/env bash
# session_end.t - the server is stopped and started, sessions of drivers are
# ended, what they do is cancelled or takes longer than it may, under load:
# drivers go on by themselves, and soon.
. "$(dirname "$0")/lib.sh"

campaign session_end 6 300 "$@"
LEASE_SECONDS=30
world 'log_min_messages = error'
DRIVER_OPTIONS+=(-o "sql_connection=user=etl" -o sql_connections=2)
drivers_begin
# what is set for everybody is not for those who look on
export PGOPTIONS='-c statement_timeout=0 -c idle_in_transaction_session_timeout=0'

FAULT_KINDS=(stop_fast stop_immediate terminate cancel statement_timeout
    idle_in_transaction)

loads() {
    load load 30 base "$BASE" ms 8 n 20
    load write 60 base "$BASE" n 20
}

stop_fast() {
    pg_stop pg fast
    pg_restart
}

stop_immediate() {
    pg_stop pg immediate
    pg_restart
}

# some FUNCTION STATES: for some of the drivers' sessions and of their SQL
# tasks', again and again. What each was at is noted.
some() {
    for _ in {1..5}; do
        loads
        roll 1000000
        sql "select setseed($ROLL / 1e6)" \
            --command="select '$1', coalesce(substring(query from 'wf\.\w+'),
                    substring(query from '^\w+')), $1(pid)
                  from pg_stat_activity
                 where (usename like 'wf\_driver\_%' or usename = 'etl')
                   and state ~ '$2' and random() < 0.4" |
            sed -n 's/^pg_\(.*\)_backend|\(.*\)|t$/\1 \2/p' >>"$WORK/calls"
        nap 100
    done
}

terminate() {
    some pg_terminate_backend .
}

# until_said MESSAGE COMMAND…: do that until the server has said so.
until_said() {
    local message=$1 before deadline=$((SECONDS + 60))
    shift
    before=$(server_said "$message")
    until [ "$(server_said "$message")" -gt "$before" ] ||
        [ "$SECONDS" -ge "$deadline" ]; do
        "$@"
    done
}

# One that has just ended its statement does not hear of it.
cancel() {
    until_said 'user request' some pg_cancel_backend active
}

statement_timeout() {
    pg_set pg 'statement_timeout = 2ms'
    until_said 'statement timeout' loads_a_while
    pg_set pg 'statement_timeout = 0'
}

loads_a_while() {
    loads
    nap 1000
}

idle_in_transaction() {
    pg_set pg 'idle_in_transaction_session_timeout = 10ms'
    until_said 'idle-in-transaction timeout' stop_in_a_task
    pg_set pg 'idle_in_transaction_session_timeout = 0'
}

# The statement of a SQL task ends while its driver is stopped.
stop_in_a_task() {
    load wait 1000 base "$BASE" queue "'default'" n 3
    wait_sql 20 "select exists (select from pg_stat_activity
        where usename = 'etl' and wait_event = 'PgSleep')" || true
    signal_drivers STOP
    sleep 0.6 # it sleeps for half a second
    signal_drivers CONT
}

signal_drivers() {
    local name
    for name in "${DRIVERS[@]}"; do
        kill -s "$1" "$(pid_of "driver-$name")"
    done
}

: >"$WORK/calls"
for ((fault = 0; fault < FAULTS; fault++)); do
    loads
    nap 300
    work_begins loads
    kind=${FAULT_KINDS[fault % ${#FAULT_KINDS[@]}]}
    "$kind"
    since=$(sql 'select clock_timestamp()') from=$EPOCHREALTIME
    wait_sql 60 "select count(distinct name) = ${#DRIVERS[@]} from wf.driver_v
        where state = 'live' and seen_at > '$since'"
    ms_since "$from" | tee -a "$WORK/recovery" >>"$WORK/recovery-$kind"
done
all_end 120

figure faults "$(wc -l <"$WORK/recovery")"
sort "$WORK/calls" | uniq -c | while read -r count what call; do
    figure "$what $call" "$count"
done
for message in 'administrator command' 'user request' 'statement timeout' \
    'idle-in-transaction timeout'; do
    count=$(server_said "$message")
    figure "$message" "$count"
    happened "$count" "the server said: $message"
done
for kind in "${FAULT_KINDS[@]}"; do
    diag "$kind: $(xargs <"$WORK/recovery-$kind")"
done
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I6 I7 I8
not_blind
drivers_hold
came_at_work 'sessions were ended' "$FAULTS"
# some faults come again and again, and pauses grow meanwhile
recovers_in 13500 'all drivers are at work again' 'docs/driver.md: pauses of 0.1 to 10 s, a quarter more or less'
in_time 'most times that takes less than 2000 ms (docs/reliability.md: a fraction of a second; a driver says each 500 ms that it lives)' \
    "$(middle "$WORK/recovery")" 2000
campaign_end
