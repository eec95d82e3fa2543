# shellcheck shell=bash
# trace.sh - a driver that does a pass of all sorts of tasks under strace, which
# can do something to it at any of its system calls.

strace -D -f -o "$WORK/true.trace" true 2>"$WORK/true.log" ||
    skip_all 'nobody may be traced'

PASS=pass # the workflow
STUCK=()  # the names of those that were there and did nothing

# traced_world: a world with a login for it.
traced_world() {
    world
    login_create wf_driver_traced wf_driver
    DRIVER_OPTIONS=(-o "sql_connection=user=etl" -o sql_connections=1
        -o connections=1 -o poll_max_ms=100)
}

# traced NAME [STRACE OPTION…]: a driver of its own queue does a pass under
# strace, and is stopped when there is nothing left to do, unless it is gone.
# STATUS is how it ended.
traced() {
    local name=$1 id
    shift
    id=$(sql "select wf.start('$PASS', jsonb_build_object('base', '$HTTP_URL',
        'queue', '$name'))")
    printf '%s\n' "$id" >>"$HEARD"
    PGUSER=wf_driver_traced spawn driver-traced strace -D -f -q \
        -o "$WORK/$name.trace" "$@" "$BUILD/wf-driver" -o name="$name" \
        -o log_level=debug -o "queues=$name" "${DRIVER_HTTP[@]}" \
        "${DRIVER_OPTIONS[@]}"
    wait_until 60 passed "$id" || STUCK+=("$name")
    STATUS=0
    # shellcheck disable=SC2034 # for the campaign
    stop driver-traced TERM 20 2>/dev/null || STATUS=$?
}

# passed ID: its driver is gone, or has done all that can be done.
passed() {
    is_gone "$(pid_of driver-traced)" || sql_is_true "select not exists (select
        from wf.task_v where instance_id = $1 and state not in ('END', 'FAILED'))"
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
