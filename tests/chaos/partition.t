#!/usr/bin/env bash
# partition.t - a driver that has requests is cut off from the database, but
# not from the service, for longer than its lease, and at times for longer than
# it waits itself; then everything that was on its way arrives. By turns its
# connections stay and are silent, or are cut and new ones are silent: the time
# limit of a SQL task then ends while its session dials.
. "$(dirname "$0")/lib.sh"

SQL_TIMEOUT_MS=1500

campaign partition 2 100 "$@"
world
DRIVER_OPTIONS+=(-o turn_timeout_ms=3500 -o sql_connections=2
    -o "sql_timeout_ms=$SQL_TIMEOUT_MS")
for name in "${DRIVERS[@]}"; do
    proxy_start "sql-$name"
    sql_proxy=$PROXY
    proxy_start "proxy-$name"
    driver_start "$name" "${DRIVER_OPTIONS[@]}" -o "connection=host=$PROXY" \
        -o "sql_connection=host=$sql_proxy user=etl"
done

# silence NAME: its connections with the workspace stay, and nothing gets through.
silence() {
    stop_at_work "$1" "proxy-$1"
    at_work "$HELD"
    retry_lost
    driver_given_up "$1" && partitions=$((partitions + 1))
    nap 3000
}

# cut_off NAME: its connections end while it is at a statement, and no new one is
# answered until the time limit of that statement is over.
cut_off() {
    local before try
    before=$(limits "$1")
    for ((try = 0; try < 5; try++)); do
        work_at_statement "$1"
        kill -s USR2 "$(pid_of "sql-$1")" "$(pid_of "proxy-$1")"
        if wait_until 20 limits_more "$1" "$before"; then
            dialled=$((dialled + 1))
            break
        fi
        # its statement had ended before the connection was cut
        kill -s CONT "$(pid_of "sql-$1")" "$(pid_of "proxy-$1")"
        driver_is_back "$1" || true
    done
    at_work "$HELD"
    retry_lost
    driver_given_up "$1" && partitions=$((partitions + 1))
    sleep 1 # longer than the pause before a second dial, were there one
}

# work_at_statement NAME: wait until it is at a statement that takes 0.5 s. HELD
# is how many requests it has then.
work_at_statement() {
    local deadline=$((SECONDS + 180))
    until is_at_statement "$1" || [ "$SECONDS" -ge "$deadline" ]; do
        load wait 20 base "$BASE" queue "'any'" n 12
        sleep 0.1
    done
    HELD=$(sql "select count(*) from chaos.held('$1')")
}

# The server has its statement, of which the driver's log has the task.
is_at_statement() {
    sql "select format('task %s/%s/%s: start of chaos.Write is RUNNING',
                   h.instance_id, h.process_id, p.attempt)
           from chaos.held('$1') h
           join wf.process p on p.instance_id = h.instance_id and p.id = h.process_id
          where exists (select from pg_stat_activity
                         where usename = 'etl' and wait_event = 'PgSleep'
                           and clock_timestamp() - query_start < '0.3 s')" |
        grep --quiet --fixed-strings --file=- "$WORK/driver-$1.log"
}

# limits NAME: how often the limit of a SQL task ended while its session dialled.
limits() {
    grep -c 'no connection to give up: .*time limit of a SQL task' \
        "$WORK/driver-$1.log" || true
}

limits_more() {
    [ "$(limits "$1")" -gt "$2" ]
}

partitions=0 dialled=0
for ((fault = 0; fault < FAULTS; fault++)); do
    roll ${#DRIVERS[@]}
    name=${DRIVERS[ROLL]}
    if [ $((fault % 2)) -eq 0 ]; then
        silence "$name"
    else
        cut_off "$name"
    fi
    kill -s CONT "$(pid_of "sql-$name")" "$(pid_of "proxy-$name")"
    driver_is_back "$name" || true
done
all_end 120

figure faults "$partitions"
figure limits_while_dialling "$dialled"
ledgers_figures
refused=$(too_late)
figure refused "$refused"
invariants_hold I1 I2 I3 I4 I5 I6 I7 I8 I9
not_blind
drivers_hold
came_at_work 'drivers were cut off' "$FAULTS"
happened "$partitions" 'drivers were given up meanwhile' "$FAULTS"
ok 'the limit of a SQL task ended while its session dialled' \
    test "$dialled" -eq $((FAULTS / 2))
happened "$refused" 'reports of drivers that were cut off came in, and were refused'
happened "$DUPLICATES" 'requests that may be repeated were'
campaign_end
