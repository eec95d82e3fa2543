#!/usr/bin/env bash
# memory_kill.t - the kernel kills drivers that need more memory than there is,
# and sessions of the server are killed, while gigantic answers are under way:
# the same as driver_kill; and a driver needs no more than its slots hold.
. "$(dirname "$0")/lib.sh"

campaign memory_kill 1 50 "$@"
CGROUP=${CGROUP:-/sys/fs/cgroup} # where control groups are mounted
LIMIT_MIB=96

# group_make: a control group of either version whose processes together may
# have LIMIT_MIB: GROUP is its directory, KILLED the file that counts the killed.
group_make() {
    local limit=$((LIMIT_MIB * 1048576))
    if [ -d "$CGROUP/memory" ]; then
        GROUP=$CGROUP/memory/wf-$$ KILLED=memory.oom_control
        mkdir "$GROUP" && printf '%d\n' "$limit" >"$GROUP/memory.limit_in_bytes"
        return
    fi
    GROUP=$CGROUP/wf-$$ KILLED=memory.events
    if ! grep -qw memory "$CGROUP/cgroup.subtree_control"; then
        printf '+memory\n' >"$CGROUP/cgroup.subtree_control" || return
    fi
    mkdir "$GROUP" && printf '%d\n' "$limit" >"$GROUP/memory.max" || return
    # what may be swapped out is not killed
    [ ! -e "$GROUP/memory.swap.max" ] || printf '0\n' >"$GROUP/memory.swap.max"
}

if ! group_make 2>"$WORK/cgroup.log"; then
    [ ! -d "$GROUP" ] || rmdir "$GROUP"
    skip_all "no process may be given a limit of its memory: $(tail -n 1 "$WORK/cgroup.log")"
fi
trap group_end EXIT
SLOTS=12
BODY_MIB=20 # what the service sends is a little less
world
wf-console install "$CHAOS/data/giant.wf" >>"$WORK/console.log"
sql "select wf.setting_set('loss_limit', 2), wf.setting_set('grace_seconds', 1)"
server_adopt
spawn bad_service perl "$CHAOS/bad_service" "$WORK/port"
wait_until 20 test -s "$WORK/port"
HUGE="'http://127.0.0.1:$(cat "$WORK/port")'"
DRIVER_OPTIONS+=(-o "slots=$SLOTS" -o "http.max_body=$((BODY_MIB * 1048576))")

group_end() {
    local status=$?
    set +e
    work_stop
    rmdir "$GROUP"
    (exit "$status")
    work_end
}

# driver_small NAME: one that may use so much and no more.
driver_small() {
    # shellcheck disable=SC2016 # for the shell inside
    PGUSER=wf_driver_$1 spawn "driver-$1" sh -c \
        'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' sh "$GROUP" \
        "$BUILD/wf-driver" -o name="$1" -o log_level=debug "${DRIVER_HTTP[@]}" \
        "${DRIVER_OPTIONS[@]}"
}

# session_kill: the one in which a driver did something last.
session_kill() {
    local pid
    pid=$(sql "select pid from pg_stat_activity
        where usename = 'wf_driver_small' order by state_change desc limit 1")
    [ -n "$pid" ] || return 1
    kill -s KILL "$pid"
}

# first one with all the memory that it wants
DRIVERS=(large)
drivers_begin
giants=$(sql "select wf.start('giant', jsonb_build_object('base', $HUGE, 'n', $SLOTS))")
wait_sql 120 "select not exists (select from wf.task_v
    where instance_id = $giants and state not in ('END', 'FAILED'))"
rss=$(awk '$1 == "VmHWM:" { print int($2 / 1024) }' \
    "/proc/$(pid_of driver-large)/status")
is 'a result that is too large is refused' "$(sql "select string_agg(distinct error ->> 'kind', ' ')
    from wf.task_v where instance_id = $giants and state = 'FAILED'")" output
ok "a driver needs no more than its slots hold: $rss MiB" \
    test "$rss" -le $((64 + SLOTS * BODY_MIB * 3 / 2))
stop driver-large

login_create wf_driver_small wf_driver
driver_small small
kills=0 sessions=0
for ((fault = 0; fault < FAULTS; fault++)); do
    load load 30 base "$BASE" ms 8 n 5
    sql "select wf.start('giant', jsonb_build_object('base', $HUGE, 'n', $SLOTS))" \
        >/dev/null
    deadline=$((SECONDS + 60))
    until is_gone "$(pid_of driver-small)" || [ "$SECONDS" -ge "$deadline" ]; do
        sleep 0.1
    done
    at_work "$(sql "select chaos.remember('small')")"
    kills=$((kills + 1))
    sql "select wf.start('giant', jsonb_build_object('base', $HUGE, 'n', 2))" \
        >/dev/null
    driver_small small
    if wait_until 10 session_kill; then
        sessions=$((sessions + 1))
        server_writes "$EPOCHREALTIME" >>"$WORK/recovery"
    fi
    haunt
done
stop driver-small || true
killed=$(awk '$1 == "oom_kill" { print $2 }' "$GROUP/$KILLED")

DRIVERS=(one two)
sql "select count(*) from wf.abort(jsonb_build_object('workflow', 'giant'),
    'too large')" >/dev/null
drivers_begin
all_end 120

figure faults $((killed + sessions))
figure killed_drivers "$killed"
figure killed_sessions "$sessions"
figure rss_mib_max "$rss"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I7 I8
not_blind
drivers_hold
happened "$killed" 'drivers were killed for want of memory'
came_at_work 'drivers were killed' "$FAULTS"
happened "$sessions" 'sessions were killed at work'
campaign_end
