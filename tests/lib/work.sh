# shellcheck shell=bash
# work.sh - a private directory, and the processes that live in it.
#
# The directory is $BUILD/t/… unless its path is too long for the name of a
# unix socket, servers can't get there or somebody else may change it; then it
# is in $TMPDIR or /tmp.
# Servers refuse to run as root: then they run as the user `postgres`, which
# comes with the server.

WORK_PATH_MAX=60 # of the 107 bytes that a socket's name may have

SERVER_USER=$(id -un)
if [ "$(id -u)" -eq 0 ]; then
    SERVER_USER=postgres
fi

# as_server COMMAND…: as the user that servers run as.
as_server() {
    (exec_as_server "$@")
}

# The same in place of this shell.
exec_as_server() {
    cd /
    if [ "$(id -u)" -eq 0 ]; then
        exec setpriv --reuid="$SERVER_USER" --regid="$SERVER_USER" \
            --init-groups env HOME="$WORK" "$@"
    fi
    exec "$@"
}

# work_usable DIR: short enough, safe, and open to servers.
work_usable() {
    [ ${#1} -le "$WORK_PATH_MAX" ] && mkdir -p "$1" && way_is_safe "$1" 1000 &&
        WORK=/ as_server test -x "$1"
}

# way_is_safe DIR [MODE]: it and each directory above it belong to root or to
# us, and others may write only to one that has a bit of MODE.
way_is_safe() {
    local dir owner mode
    dir=$(realpath "$1")
    while :; do
        read -r owner mode < <(stat -c '%u %a' "$dir")
        [ "$owner" -eq 0 ] || [ "$owner" -eq "$(id -u)" ] || return 1
        ((!(8#$mode & 8#022) || 8#$mode & 8#${2:-0})) || return 1
        [ "$dir" != / ] || return 0
        dir=$(dirname "$dir")
    done
}

# private_dir: prints a new directory for secrets. $WORK may be below /tmp, to
# which everybody may write; this one is not.
private_dir() {
    local parent dir
    for parent in "$WORK" "${XDG_RUNTIME_DIR:-/run}" \
        "$(getent passwd "$(id -u)" | cut -d: -f6)"; do
        if [ -w "$parent" ] && way_is_safe "$parent"; then
            dir=$(mktemp -d "$parent/wf.XXXXXX")
            printf '%s\n' "$dir" | tee -a "$WORK/private_dirs"
            return
        fi
    done
    return 1
}

work_begin() {
    local parent=${WORK_PARENT:-$BUILD/t}
    if ! work_usable "$parent"; then
        parent=${TMPDIR:-/tmp}
        work_usable "$parent" || parent=/tmp
    fi
    WORK=$(mktemp -d "$parent/wf.XXXXXX")
    chmod 711 "$WORK"
    mkdir "$WORK/pids"
    export WORK
}

# server_dir NAME: a directory in $WORK that belongs to servers.
server_dir() {
    local dir=$WORK/$1
    mkdir -p "$dir"
    [ "$(id -u)" -ne 0 ] || chown "$SERVER_USER" "$dir"
    chmod 755 "$dir"
    printf '%s\n' "$dir"
}

# spawn NAME COMMAND…: in the background, its output in $WORK/NAME.log. The session
# of function sql stays with this script.
spawn() {
    local name=$1
    shift
    SESSION='' "$@" </dev/null >>"$WORK/$name.log" 2>&1 &
    printf '%d\n' "$!" >"$WORK/pids/$name"
}

# The same as the user that servers run as.
spawn_server() {
    local name=$1
    shift
    spawn "$name" exec_as_server "$@"
}

# pid_of NAME: of what was spawned.
pid_of() {
    cat "$WORK/pids/$1"
}

# stop NAME [SIGNAL [SECONDS]]: what was spawned, and wait for it; killed if
# it takes longer. Returns the exit status of the process.
stop() {
    local pid status=0
    pid=$(pid_of "$1")
    rm -f "$WORK/pids/$1"
    kill -s "${2:-TERM}" "$pid" 2>/dev/null || true
    wait_until "${3:-60}" is_gone "$pid" || kill -s KILL "$pid"
    wait "$pid" 2>/dev/null || status=$?
    return "$status"
}

is_gone() {
    ! kill -s 0 "$1" 2>/dev/null
}

# below PID…: the processes that they have begun, and these, seen at once: some do
# not live long.
below() {
    ps -e -o pid= -o ppid= | awk -v roots="$*" '
        { parent[$1] = $2 }
        END {
            split(roots, list, " ")
            for (k in list)
                root[list[k]]
            for (pid in parent)
                for (p = parent[pid]; p in parent; p = parent[p])
                    if (p in root) { print pid; break }
        }'
}

# halt PROCESS…: stops them. One that is in a system call ends that first: then it
# has stopped.
halt() {
    kill -s STOP "$@"
    wait_until 20 halted "$@"
}

halted() {
    ! ps -o stat= -p "$*" | grep -qv '^T'
}

# The end of a script: nothing of it stays. On failure its logs are shown, and
# where it was if that is not its last line.
work_end() {
    local status=$? command=$BASH_COMMAND
    set +e
    [ "$status" = 0 ] || [ "$TAP_FAILED" != 0 ] ||
        diag "ended with status $status in ${FUNCNAME[*]:1}: $command"
    work_stop
    [ "$status$TAP_FAILED" = 00 ] || work_logs
    work_remove
    exit "$status"
}

# End whatever was started.
work_stop() {
    local file
    for file in "$WORK"/pids/*; do
        [ -f "$file" ] && stop "$(basename "$file")" TERM 10
    done
    for file in "$WORK"/*/data/postmaster.pid; do
        [ -f "$file" ] && postgres_end "$(dirname "$file")"
    done
}

work_logs() {
    local file
    for file in "$WORK"/*.log "$WORK"/*/*.log; do
        [ -s "$file" ] && diag "--- end of ${file#"$WORK"/}
$(tail -n 20 "$file")"
    done
}

work_remove() {
    [ ! -f "$WORK/private_dirs" ] ||
        xargs -d '\n' rm -rf -- <"$WORK/private_dirs"
    rm -rf "$WORK"
    rmdir "$BUILD/t" 2>/dev/null
}
