#!/usr/bin/env bash
# syscall_kill.t - a driver that does a task of each sort is killed at every
# system call of it, one after the other; another one finishes what it left.
. "$(dirname "$0")/lib.sh"

strace -D -f -o "$WORK/true.trace" true 2>"$WORK/true.log" ||
    skip_all 'nobody may be traced'
campaign syscall_kill 12 0 "$@"
world
login_create wf_driver_traced wf_driver
DRIVER_OPTIONS=(-o "sql_connection=user=etl" -o sql_connections=1
    -o connections=1 -o poll_max_ms=100)

# traced NAME [STRACE OPTION…]: a driver of its own queue does a pass under
# strace, and is stopped when there is nothing left to do, unless it is killed.
traced() {
    local name=$1 id
    shift
    id=$(sql "select wf.start('pass', jsonb_build_object('base', '$HTTP_URL',
        'queue', '$name'))")
    printf '%s\n' "$id" >>"$HEARD"
    PGUSER=wf_driver_traced spawn driver-traced strace -D -f -q \
        -o "$WORK/$name.trace" "$@" "$BUILD/wf-driver" -o name="$name" \
        -o log_level=debug -o "queues=$name" "${DRIVER_OPTIONS[@]}"
    wait_until 60 passed "$id" 2>/dev/null || true
    stop driver-traced TERM 20 2>/dev/null || true
}

# passed ID: its driver is gone, or has done it all.
passed() {
    is_gone "$(pid_of driver-traced)" || sql_is_true \
        "select state = 'END' from wf.instance_v where instance_id = $1"
}

# points FILE: each system call of a trace since it began to speak to anybody,
# by name and number: how many of that name there were.
points() {
    awk '{ call = $2; sub("[(].*", "", call) }
        call !~ /^[a-z0-9_]+$/ { next }
        call == "socket" { speaks = 1 }
        { n[call]++ }
        speaks && call !~ /^exit/ { print call, n[call] }' "$1"
}

# choose COUNT: so many of POINTS, by chance; 0: all of them.
choose() {
    local i picked
    [ "$1" -gt 0 ] && [ "$1" -lt ${#POINTS[@]} ] || return 0
    for ((i = 0; i < $1; i++)); do
        roll $((${#POINTS[@]} - i))
        picked=${POINTS[i + ROLL]}
        POINTS[i + ROLL]=${POINTS[i]}
        POINTS[i]=$picked
    done
    POINTS=("${POINTS[@]:0:$1}")
}

traced whole
mapfile -t POINTS < <(points "$WORK/whole.trace")
diag "a pass has ${#POINTS[@]} system calls"
choose "$FAULTS"
kills=0 within=0
for point in "${POINTS[@]}"; do
    read -r call number <<<"$point"
    traced "$call-$number" -e trace="$call" \
        -e inject="$call:signal=KILL:when=$number"
    if grep -q 'killed by SIGKILL' "$WORK/$call-$number.trace"; then
        kills=$((kills + 1))
        within=$((within + $(sql "select chaos.remember('$call-$number')")))
    fi
done
DRIVER_OPTIONS+=(-o slots=16)
drivers_begin
all_end 120

figure faults "$kills"
figure within "$within"
ledgers_figures
diag "system calls whose kill had a request repeated: $(sql "
    select string_agg(distinct i.params ->> 'queue', ' ')
      from (select process_id from chaos.effect
             where method = 'POST' and what in ('again', 'job_again')
             group by process_id, attempt having count(*) > 1) e
      join wf.process_v p using (process_id)
      join wf.instance_v i using (instance_id)")"
invariants_hold I1 I2 I3 I4 I5 I6 I7 I9
not_blind
drivers_hold
ok 'drivers were killed while they had requests' test "$within" -gt 0
ok 'reports of the dead came in, and were refused' test "$STALE" -gt 0
campaign_end
