# shellcheck shell=bash
# wait.sh - wait for conditions, never for luck.

# wait_until SECONDS COMMAND…: until it succeeds; fails after SECONDS, or on a
# machine that has other things to do after three times as long. To look may cost
# a process or two: what takes longer is looked at less often.
wait_until() {
    local deadline=$((SECONDS + 3 * $1)) hundredths=2
    shift
    until "$@" >/dev/null 2>&1; do
        if [ "$SECONDS" -ge "$deadline" ]; then
            diag "waited in vain for: $*" >&2
            return 1
        fi
        linger "0.0$hundredths"
        hundredths=$((hundredths < 5 ? hundredths + 1 : 5))
    done
}

# wait_sql SECONDS QUERY: until the query says t.
wait_sql() {
    wait_until "$1" sql_is_true "$2"
}

# linger SECONDS: as sleep, which would be a process. Nobody writes into this pipe.
exec {NOTHING}<> <(:)
linger() {
    read -rt "$1" -u "$NOTHING" || true
}

# A free TCP port of the loopback interface. Whoever takes it tries again
# with another one if it was taken meanwhile.
free_port() {
    perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(
        LocalAddr => "127.0.0.1", Listen => 1)->sockport'
}

# stalls_watch, stall_ms: how busy this machine is, as a measure for limits of
# time: by how many ms at most a process that wants to run 20 times a second has
# been late since it was begun.
stalls_watch() {
    # shellcheck disable=SC2016 # perl's variables, not ours
    spawn stalls perl -MTime::HiRes=time,sleep -e '
        $| = 1;
        for (my $worst = 0;;) {
            my $since = time;
            sleep 0.05;
            my $late = int(1000 * (time - $since - 0.05));
            print +($worst = $late) . "\n" if $late > $worst;
        }'
}

stall_ms() {
    local worst
    worst=$(tail -n 1 "$WORK/stalls.log" 2>/dev/null || true)
    printf '%d\n' "${worst:-0}"
}

# in_time NAME MS LIMIT: it took less than the limit, and than what three
# processes in a row may lose where others compute, too (stalls_watch has begun).
in_time() {
    local stall
    stall=$(stall_ms)
    ok "$1 ($2 ms; processes were up to $stall ms late)" test "$2" -lt $(($3 + 3 * stall))
}
