#!/usr/bin/env bash
# syscall_error.t - system calls of a driver that does a task of each sort fail,
# one in each run: it goes on, or ends and says why if there was no memory;
# another one finishes what it left.
. "$(dirname "$0")/lib.sh"
. "$CHAOS/trace.sh"

# What may go wrong: out of descriptors, memory, processes or disk; interrupted;
# the other side is gone (whoever reads hears of that; a send that fails alone is
# no fault that there is).
declare -A ERRORS=(
    [socket]=EMFILE [socketpair]=EMFILE [pipe2]=EMFILE [openat]=EMFILE
    [connect]='ECONNREFUSED ETIMEDOUT' [getsockopt]=ENOBUFS
    [sendto]='EAGAIN EINTR'
    [recvfrom]='ECONNRESET ETIMEDOUT EAGAIN EINTR'
    [write]='ENOSPC EIO' [read]='EIO EINTR' [poll]=EINTR
    [epoll_ctl]='ENOMEM ENOSPC' [epoll_wait]='EINTR ENOMEM' [close]=EINTR
    [mmap]=ENOMEM [getrandom]=EINTR [eventfd2]=EMFILE [pidfd_open]=EMFILE
    [prlimit64]=EPERM
    [clone]=EAGAIN [clone3]=EAGAIN [vfork]=EAGAIN [execve]=ENOENT
)

campaign syscall_error 12 0 "$@"
traced_world
DRIVER_OPTIONS+=(-o exec.programs=true=/bin/true)
sql "insert into chaos.excused values ('http'), ('timeout')"

# collect WORKFLOW: its points, and what each may fail with, into ALL.
collect() {
    local call number error
    PASS=$1
    traced "$PASS-whole"
    while read -r call number; do
        for error in ${ERRORS[$call]:-}; do
            ALL+=("$PASS $call $number $error")
        done
    done < <(points "$WORK/$PASS-whole.trace")
}

ALL=()
collect pass
collect pass_program
diag "there are ${#ALL[@]} ways to fail"
POINTS=("${ALL[@]}")
choose "$FAULTS"
faults=0 ended=0
: >"$WORK/odd"
: >"$WORK/gone"
for point in "${POINTS[@]}"; do
    read -r PASS call number error <<<"$point"
    name=$PASS-$call-$number-$error
    traced "$name" -e trace="$call" \
        -e inject="$call:error=$error:when=$number"
    if grep -q INJECTED "$WORK/$name.trace"; then
        faults=$((faults + 1))
    fi
    case $STATUS in
    0) ;;
    1 | 71)
        ended=$((ended + 1))
        [ "$error" = ENOMEM ] && [ "$call" = mmap ] ||
            printf '%s: %d\n' "$name" "$STATUS" >>"$WORK/gone"
        ;;
    *) printf '%s: %d\n' "$name" "$STATUS" >>"$WORK/odd" ;;
    esac
done
DRIVER_OPTIONS+=(-o slots=16)
drivers_begin
all_end 120

figure faults "$faults"
figure ended "$ended"
figure stuck "${#STUCK[@]}"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I6 I7 I9
not_blind
drivers_hold
happened "$faults" 'system calls failed of a driver at work'
is 'no driver crashed' "$(cat "$WORK/odd")" ''
is 'no driver stood still' "${STUCK[*]}" ''
is 'no driver ended but for want of memory' "$(cat "$WORK/gone")" ''
campaign_end
