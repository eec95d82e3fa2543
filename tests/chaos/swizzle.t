#!/usr/bin/env bash
# swizzle.t - some of the drivers, the database server, what is between them and
# the service stop one after the other, by chance, and go on in another order:
# when all of them do, all goes on.
. "$(dirname "$0")/lib.sh"

campaign swizzle 2 1000 "$@"
world
proxy_start proxy
DRIVER_OPTIONS+=(-o turn_timeout_ms=3500 -o "connection=host=$PROXY"
    -o "sql_connection=host=$PROXY user=etl" -o sql_connections=2)
drivers_begin

# those that take part
PLAYERS=(driver-one driver-two driver-three proxy nginx pg)

# player_signal NAME SIGNAL: all its processes.
player_signal() {
    local pid
    if [ "$1" = pg ]; then
        pg_signal pg "$2"
        return
    fi
    pid=$(pid_of "$1")
    mapfile -t pids < <(pgrep --parent "$pid")
    kill -s "$2" "$pid" "${pids[@]}"
}

# stands_still NAME: its first process is stopped.
stands_still() {
    local pid
    if [ "$1" = pg ]; then
        pid=$(head -n 1 "$WORK/pg/data/postmaster.pid")
    else
        pid=$(pid_of "$1")
    fi
    [ "$(awk '$1 == "State:" { print $2 }' "/proc/$pid/status")" = T ]
}

# shuffle NAME…: SHUFFLED is these in an order of chance.
shuffle() {
    local i other
    SHUFFLED=("$@")
    for ((i = $# - 1; i > 0; i--)); do
        roll $((i + 1))
        other=${SHUFFLED[i]}
        SHUFFLED[i]=${SHUFFLED[ROLL]}
        SHUFFLED[ROLL]=$other
    done
}

loads() {
    load load 40 base "$BASE" ms 200 n 12
    load write 80 base "$BASE" n 20
}

still=0
for ((fault = 0; fault < FAULTS; fault++)); do
    loads
    work_begins loads
    shuffle "${PLAYERS[@]}"
    roll ${#PLAYERS[@]}
    stopped=("${SHUFFLED[@]:0:ROLL+1}")
    for player in "${stopped[@]}"; do
        player_signal "$player" STOP
        printf '%s\n' "$player" >>"$WORK/stopped"
        nap 500
    done
    # at times longer than a lease
    nap 4000
    for player in "${stopped[@]}"; do
        ! stands_still "$player" || still=$((still + 1))
    done
    shuffle "${stopped[@]}"
    for player in "${SHUFFLED[@]}"; do
        player_signal "$player" CONT
        nap 500
    done
    [ $((fault % 4)) -ne 3 ] || retry_lost
done
all_end 120

figure faults "$FAULTS"
figure stopped "$(wc -l <"$WORK/stopped")"
sort "$WORK/stopped" | uniq -c | while read -r count player; do
    figure "$player" "$count"
done
ledgers_figures
refused=$(too_late)
figure refused "$refused"
invariants_hold I1 I2 I3 I4 I5 I6 I7 I8 I9
not_blind
drivers_hold
came_at_work 'programs were stopped' "$FAULTS"
happened "$still" 'programs stood still' "$(wc -l <"$WORK/stopped")"
campaign_end
