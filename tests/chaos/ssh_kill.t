#!/usr/bin/env bash
# ssh_kill.t - connections, sessions, the sshd of a host and drivers are killed at
# random while commands and jobs run there: a job runs once in an attempt, a
# command at most once, and nothing is left on the host. In the second half nothing
# is shared: then it is the client of a command that is killed, not a connection.
. "$(dirname "$0")/lib.sh"

campaign ssh_kill 8 100 "$@"
sshd_start
HOME_THERE=$WORK/sshd/home
world
wf-console install "$CHAOS/data/ssh.wf" >>"$WORK/console.log"
DRIVER_OPTIONS+=(-o "ssh.config_file=$SSH_CONFIG" -o "ssh.socket_dir=$WORK")
drivers_begin

# any_of PID…: one of these processes, by chance; fails if there is none.
any_of() {
    [ $# -gt 0 ] || return 1
    roll $#
    shift "$ROLL"
    VICTIM=$1
}

kill_connection() {
    local pids
    mapfile -t pids < <(pgrep --full "ControlPath=$WORK/pgwf-ssh\\..* -N ")
    any_of "${pids[@]}" && kill -s KILL "$VICTIM" 2>/dev/null
}

kill_client() {
    local pids=() name
    for name in "${DRIVERS[@]}"; do
        pids+=("$(pid_of "driver-$name")")
    done
    mapfile -t pids < <(below "${pids[@]}")
    any_of "${pids[@]}" && kill -s KILL "$VICTIM" 2>/dev/null
}

kill_session() {
    local pids
    mapfile -t pids < <(pgrep --parent "$(pid_of sshd)")
    any_of "${pids[@]}" && kill -s KILL "$VICTIM" 2>/dev/null
}

kill_sshd() {
    stop sshd KILL 2>/dev/null || true
    nap 300
    sshd_again
}

kill_driver() {
    any_of "${DRIVERS[@]}"
    driver_kill "$VICTIM"
    driver_again "$VICTIM"
}

# nothing_is_shared: all drivers begin anew, and each command has a client of its own.
nothing_is_shared() {
    local name
    DRIVER_OPTIONS+=(-o ssh.sessions=0)
    KINDS[0]=client
    for name in "${DRIVERS[@]}"; do
        driver_kill "$name"
        driver_again "$name"
    done
}

KINDS=(connection session sshd driver)
declare -A kills=()
# work_and_kill KIND: there may be nothing to kill at the moment.
work_and_kill() {
    load remote 12 host "'worker'" n 8
    nap 1000
    load remote 12 host "'worker'" n 4
    work_begins load remote 12 host "'worker'" n 4
    wait_until 5 "kill_$1"
}

for ((fault = 0; fault < FAULTS; fault++)); do
    [ "$fault" -ne $((FAULTS / 2)) ] || nothing_is_shared
    kind=${KINDS[fault % ${#KINDS[@]}]}
    if work_and_kill "$kind" || work_and_kill "$kind"; then
        kills[$kind]=$((${kills[$kind]:-0} + 1))
    fi
    haunt
    [ $((fault % 4)) -ne 3 ] || retry_lost
done
all_end 120

total=0
for kind in "${!kills[@]}"; do
    figure "$kind" "${kills[$kind]}"
    total=$((total + kills[$kind]))
done
figure faults "$total"
{
    sed -nE 's,^.*-([0-9]+)-([0-9]+)$,POST\trun\t\1\t\2\t-,p' "$HOME_THERE/runs"
    sed -nE 's,^.*-([0-9]+)-([0-9]+)/job$,POST\tssh_job\t\1\t\2\t-,p' \
        "$HOME_THERE/jobs"
} | sql 'copy chaos.effect from stdin'
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I7 I9
not_blind
drivers_hold
is 'no directory is left on the host' \
    "$(find "$HOME_THERE/.pgwf" -mindepth 1 ! -name '*.over')" ''
is 'no process is left on the host' \
    "$(search pgrep --full --list-full -- "$HOME_THERE/.pgwf")" ''
ok 'something was killed of each sort' test ${#kills[@]} -eq $((${#KINDS[@]} + 1))
happened "$total" 'connections, clients, sessions, sshd or drivers were killed' "${#KINDS[@]}"
came_at_work 'processes were chosen to be killed' "$FAULTS"
campaign_end
