#!/usr/bin/env bash
# malloc_error.t - memory runs out once in each run, wherever the driver or the
# console ask for some: they go on as if nothing had been, or end and say why.
. "$(dirname "$0")/lib.sh"

campaign malloc_error 90 0 "$@"
LIBRARY=$WORK/malloc_error.so
cc -shared -fPIC -O1 -o "$LIBRARY" "$CHAOS/malloc_error.c" 2>"$WORK/cc.log" ||
    skip_all 'there is no compiler'
! grep -q asan <(ldd "$BUILD/wf-driver") ||
    skip_all 'the sanitizers have a malloc of their own'
world
login_create wf_driver_starved wf_driver
wf-console install "$CHAOS/data/starve.wf" >>"$WORK/console.log"
sql "insert into chaos.excused values ('http'), ('timeout')"
sql "select wf.start('pass', jsonb_build_object('base', $BASE, 'queue', 'none'))" \
    >>"$HEARD"

cat >"$WORK/driver.conf" <<'END'
name = "configured";
slots = 4;
queues = ["a", "b"];
END

# The commands whose memory runs out, by name.
declare -A COMMANDS=(
    [check]="wf-console check $CHAOS/data/load.wf"
    [fmt]="wf-console fmt $CHAOS/data/load.wf"
    [graph]="wf-console graph $CHAOS/data/load.wf"
    [install]="wf-console install $CHAOS/data/starve.wf"
    [list]='wf-console list'
    [list_json]='wf-console list -o json'
    [show]='wf-console show 1'
    [tree]='wf-console tree 1'
    [explain]='wf-console explain 1'
    [print_config]='wf-driver --print-config -o slots=4 -o queues=a,b'
    [config]="wf-driver --print-config -c $WORK/driver.conf"
    [refused]='wf-driver --print-config -o slots=many'
    [driver_check]='wf-driver --check -o name=checked'
)
DRIVER_OPTIONS=(-o "sql_connection=user=etl" -o sql_connections=1
    -o connections=1 -o poll_max_ms=100 -o exec.programs=true=/bin/true)
PASSES=(pass pass_program starve)

# places NAME: one allocation of each place that a trace has, into ALL.
places() {
    local number
    while read -r number; do
        ALL+=("$1 $number")
    done < <(awk '!seen[$2]++ { print $1 }' "$WORK/$1.places")
}

# as_starved NAME: the login of a command.
as_starved() {
    case ${COMMANDS[$1]} in
    wf-driver*) printf 'wf_driver_starved\n' ;;
    *) printf '%s\n' "$PGUSER" ;;
    esac
}

# command_run NAME OUT VARIABLE=VALUE: a run of it; STATUS is how it ended, and
# what it printed stands in OUT.out and OUT.err. What limits its time has memory.
command_run() {
    STATUS=0
    # shellcheck disable=SC2086 # words are words
    PGUSER=$(as_starved "$1") timeout 60 \
        env "LD_PRELOAD=$LIBRARY" "$3" ${COMMANDS[$1]} \
        >"$WORK/$2.out" 2>"$WORK/$2.all" || STATUS=$?
    grep -v '^malloc_error: ' "$WORK/$2.all" >"$WORK/$2.err" || true
    # how long the instance has been there is another time each time
    sed -E -i 's/"elapsed_s":[0-9.]+//; s/,? +[0-9]+([smh]|[mhd] [0-9]+[smh])$//' "$WORK/$2.out"
}

# libconfig_crashed: libconfig 1.5 uses what it could not allocate, and later ones
# call abort(). Its caller cannot prevent either. Nothing else may crash.
libconfig_crashed() {
    [ "$STATUS" = 139 ] || [ "$STATUS" = 134 ] || return
    grep -q '^malloc_error: .*/libconfig\.so' "$WORK/now.all"
}

# command_starve NAME NUMBER: all that it prints is the same, or it fails and
# says why. (124 is the status of a command that takes too long, 126 and more
# are those of one that does not run, or that crashes.)
command_starve() {
    command_run "$1" now "MALLOC_FAIL=$2"
    grep -q '^malloc_error: ' "$WORK/now.all" || return 0
    faults=$((faults + 1))
    if [ "$STATUS" -eq "${USUAL[$1]}" ] &&
        cmp --quiet "$WORK/$1.out" "$WORK/now.out" &&
        cmp --quiet "$WORK/$1.err" "$WORK/now.err"; then
        on=$((on + 1))
    elif [ "$STATUS" -ne 0 ] && [ "$STATUS" -lt 124 ] &&
        [ -s "$WORK/now.err" ]; then
        ended=$((ended + 1))
    elif libconfig_crashed; then
        crashed=$((crashed + 1))
    else
        printf '%s %s: %s, %s\n' "$1" "$2" "$STATUS" \
            "$(tail -n 1 "$WORK/now.all"; diff "$WORK/$1.out" "$WORK/now.out" | head -n 4)" >>"$WORK/odd"
    fi
}

# pass_run NAME PASS VARIABLE=VALUE: a driver of its own queue does a pass, and
# is stopped when there is nothing left to do, unless it is gone.
pass_run() {
    local id
    id=$(sql "select wf.start('$2', jsonb_build_object('base', '$HTTP_URL',
        'queue', '$1'))")
    printf '%s\n' "$id" >>"$HEARD"
    PGUSER=wf_driver_starved spawn "driver-$1" env "LD_PRELOAD=$LIBRARY" "$3" \
        "$BUILD/wf-driver" -o "name=$1" -o log_level=debug -o "queues=$1" \
        "${DRIVER_HTTP[@]}" "${DRIVER_OPTIONS[@]}"
    wait_until 60 passed "$1" "$id" || printf '%s stands still\n' "$1" >>"$WORK/odd"
    STATUS=0
    stop "driver-$1" TERM 20 2>/dev/null || STATUS=$?
}

passed() {
    is_gone "$(pid_of "driver-$1")" || sql_is_true "select not exists (select
        from wf.task_v where instance_id = $2 and state not in ('END', 'FAILED'))"
}

pass_starve() {
    local name=$1-$2 log=$WORK/driver-$1-$2.log
    pass_run "$name" "$1" "MALLOC_FAIL=$2"
    grep -q malloc_error: "$log" || return 0
    faults=$((faults + 1))
    case $STATUS in
    0) on=$((on + 1)) ;;
    1 | 71 | 78)
        ended=$((ended + 1))
        tail -n 1 "$log" | grep -qE '^wf-driver: ([^t]|t[^a])' ||
            printf '%s: %s\n' "$name" "$(tail -n 1 "$log")" >>"$WORK/odd"
        ;;
    *) printf '%s: %d\n' "$name" "$STATUS" >>"$WORK/odd" ;;
    esac
}

declare -A USUAL=()
: >"$WORK/odd"
faults=0 on=0 ended=0 crashed=0
ALL=()
for name in "${!COMMANDS[@]}"; do
    command_run "$name" "$name" "MALLOC_TRACE=$WORK/$name.places"
    USUAL[$name]=$STATUS
    places "$name"
done
diag "commands ask for memory at ${#ALL[@]} places"
POINTS=("${ALL[@]}")
choose "$FAULTS"
for point in "${POINTS[@]}"; do
    # shellcheck disable=SC2086 # two words
    command_starve $point
done
commands=$faults

ALL=()
for name in "${PASSES[@]}"; do
    pass_run "$name" "$name" "MALLOC_TRACE=$WORK/$name.places"
    places "$name"
done
diag "passes of drivers ask for memory at ${#ALL[@]} places"
POINTS=("${ALL[@]}")
choose $((FAULTS / 3))
for point in "${POINTS[@]}"; do
    # shellcheck disable=SC2086 # two words
    pass_starve $point
done

# what fails in any case is not waited for
DRIVER_OPTIONS+=(-o slots=16)
drivers_begin
wait_sql 120 "select not exists (select from wf.task_v t join wf.instance_v i
    using (instance_id) where i.workflow = 'starve'
    and t.state not in ('END', 'FAILED', 'ABORTED'))"
sql "select count(*) from wf.abort(jsonb_build_object('workflow', 'starve'),
    'it has failed')" >/dev/null
all_end 120

figure faults "$faults"
figure commands "$commands"
figure ended "$ended"
figure libconfig_crashed "$crashed"
figure odd "$(wc -l <"$WORK/odd")"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I6 I7 I9
not_blind
drivers_hold
happened "$commands" 'memory of a command ran out'
happened $((faults - commands)) 'memory of a driver at work ran out'
happened "$on" 'programs went on'
happened "$ended" 'programs ended and said why'
is 'nobody crashed, lied or kept silent' "$(cat "$WORK/odd")" ''
campaign_end
