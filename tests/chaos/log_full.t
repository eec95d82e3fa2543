#!/usr/bin/env bash
# log_full.t - the disk that drivers' logs are on, that of their sockets of ssh
# or that of the server's log runs full under load, or who reads the log of a
# driver stands still; later there is room again.

# Small disks of its own, which nobody else sees and which end with the test.
if [ -z "${CHAOS_MOUNTS:-}" ] && unshare --mount true 2>/dev/null; then
    CHAOS_MOUNTS=yes exec unshare --mount bash "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
. "$CHAOS/disks.sh"

campaign log_full 4 40 "$@"
LEASE_SECONDS=5
KINDS=(sockets log server reader) # the first one comes to a fresh driver
PLACES=$WORK/disks
mkdir "$PLACES"
chmod 755 "$PLACES"
for kind in sockets log; do
    mkdir "$PLACES/$kind"
    disk_start "$PLACES/$kind" 32m 200
done
disk_start "$(server_dir disks/server)" 64m 200
chown "$SERVER_USER" "$PLACES/server"
sshd_start
world 'logging_collector = on' "log_directory = '$PLACES/server'" \
    "log_filename = 'server.log'" 'log_min_messages = log' \
    'log_statement = all' 'log_rotation_age = 0'
wf-console install "$CHAOS/data/ssh.wf" >>"$WORK/console.log"
DRIVER_OPTIONS+=(-o "sql_connection=user=etl" -o sql_connections=2
    -o "ssh.config_file=$SSH_CONFIG" -o "ssh.socket_dir=$PLACES/sockets"
    -o ssh.idle_ms=100)

# Who reads the last driver's log takes a page at a time.
reader_start() {
    mkfifo "$WORK/reader.pipe"
    # shellcheck disable=SC2016 # perl expands it
    spawn reader perl -e '
        my ($from, $to) = @ARGV;
        open my $in, "+<", $from or die $!;
        fcntl $in, 1031, 4096 or die $!; # F_SETPIPE_SZ
        open my $out, ">>", $to or die $!;
        while (sysread $in, my $lines, 4096) { syswrite $out, $lines }' \
        "$WORK/reader.pipe" "$WORK/driver-three.log"
}

to_reader() {
    exec "$@" 2>"$WORK/reader.pipe"
}

for name in one two; do
    ln -s "$PLACES/log/$name" "$WORK/driver-$name.log"
    driver_start "$name" "${DRIVER_OPTIONS[@]}"
done
reader_start
DRIVER_COMMAND=(to_reader "${DRIVER_COMMAND[@]}")
driver_start three "${DRIVER_OPTIONS[@]}"

# break_it KIND, mend_it KIND
break_it() {
    local i
    if [ "$1" = reader ]; then
        kill -s STOP "$(pid_of reader)"
        return
    fi
    disk_fill "$PLACES/$1"
    for ((i = 0; i < 200; i++)); do
        : >"$PLACES/$1/file.$i" || break
    done 2>/dev/null
}

mend_it() {
    if [ "$1" = reader ]; then
        kill -s CONT "$(pid_of reader)"
        return
    fi
    rm -f "$PLACES/$1"/file.*
    disk_free "$PLACES/$1"
}

loads() {
    load load 40 base "$BASE" ms 8 n 3
    load write 40 base "$BASE" n 3
    load remote 40 host "'worker'" n 1
}

# noticed KIND: how often the fault has been felt, by those whom it meets.
noticed() {
    case $1 in
    sockets) cat "$WORK"/driver-*.log | grep -c 'No space left on device' ;;
    log) cat "$WORK"/driver-{one,two}.log | grep -c 'could not be written' ;;
    server) unheard ;;
    reader) grep -c 'could not be written' "$WORK/driver-three.log" ;;
    esac || true
}

# goes_on KIND MARK: what could not be written can be.
goes_on() {
    case $1 in
    sockets)
        loads
        masters
        ;;
    server)
        server_says "heard $2"
        grep -q "heard $2" "$PLACES/server/server.log"
        ;;
    *)
        loads
        [ "$(noticed "$1")" -gt "$before" ]
        ;;
    esac
}

server_says() {
    sql "do \$\$ begin raise log '$1'; end \$\$"
}

# unheard: how much of what the server said in the midst of its faults is lost,
# which it tells nobody.
unheard() {
    local found
    found=$(grep -oE 'in the midst of [0-9]+' "$PLACES/server/server.log" |
        sort -u | wc -l)
    echo $((said - found))
}

# masters: whether there are shared connections.
masters() {
    pgrep --full "ControlPath=$PLACES/sockets/.* -N " >/dev/null
}

# quiet: whether all has ended, or failed; but for jobs, which are asked for again
# and again where there is no connection.
quiet() {
    sql_is_true "select not exists (select from wf.task_v
        where state not in ('END', 'FAILED') and task_type <> 'ssh.Job')"
}

# cpu_ms PID…: how long they have computed.
cpu_ms() {
    local pid
    for pid; do
        cat "/proc/$pid/stat"
    done | awk -v tick="$(getconf CLK_TCK)" '
        { sub(".*[)] ", ""); sum += $12 + $13 }
        END { printf "%.0f\n", sum * 1000 / tick }'
}

# What drivers and the server's collector compute in a second without tasks. It is
# time of the CPU, which does not grow where others compute, too; only the second may
# last longer then, so its true length counts.
idle_ms() {
    local pids=() name since from
    for name in "${DRIVERS[@]}"; do
        pids+=("$(pid_of "driver-$name")")
    done
    pids+=("$(pgrep --parent "$(head -n 1 "$WORK/pg/data/postmaster.pid")" \
        --full '^postgres: logger')")
    from=$EPOCHREALTIME since=$(cpu_ms "${pids[@]}")
    sleep 1
    awk "BEGIN { printf \"%.0f\n\", 1000 * ($(cpu_ms "${pids[@]}") - $since) / $(ms_since "$from") }"
}

ended() {
    sql "select count(*) from wf.event where event = 'success'"
}

# the measure for the same amid a fault
usual=$(idle_ms)
figure usual_cpu_ms "$usual"
declare -A felt=()
said=0 went_on=0 ended_meanwhile=0
for ((fault = 0; fault < FAULTS; fault++)); do
    kind=${KINDS[fault % ${#KINDS[@]}]}
    [ "$fault" -eq 0 ] || loads
    before=$(noticed "$kind")
    since=$(ended)
    break_it "$kind"
    loads
    nap 1000
    loads
    wait_until 60 quiet || true
    idle_ms >>"$WORK/idle"
    ended_meanwhile=$((ended_meanwhile + $(ended) - since))
    if [ "$kind" = server ]; then
        said=$((said + 1))
        server_says "in the midst of $fault"
    fi
    mend_it "$kind"
    if wait_until 30 goes_on "$kind" "after $fault"; then
        went_on=$((went_on + 1))
    fi
    felt[$kind]=$((${felt[$kind]:-0} + $(noticed "$kind") - before))
    [ $((fault % 4)) -ne 3 ] || retry_lost
done
all_end 120

figure faults "$FAULTS"
for kind in "${KINDS[@]}"; do
    figure "felt_$kind" "${felt[$kind]:-0}"
done
figure ended_meanwhile "$ended_meanwhile"
figure_of_times idle_cpu_ms "$WORK/idle"
busiest=$(sort -n "$WORK/idle" | tail -n 1)
lines=$(cat "$WORK"/driver-*.log | wc -l)
missing=$(cat "$WORK"/driver-*.log | sed -nE \
    's,^.* ([0-9]+) lines before this could not be written$,\1,p' |
    awk '{ sum += $1 } END { print sum + 0 }')
figure missing_lines "$missing"
figure unshared "$(cat "$WORK"/driver-*.log | grep -c 'are not shared' || true)"
{
    sed -nE 's,^.*-([0-9]+)-([0-9]+)$,POST\trun\t\1\t\2\t-,p' \
        "$WORK/sshd/home/runs"
    sed -nE 's,^.*-([0-9]+)-([0-9]+)/job$,POST\tssh_job\t\1\t\2\t-,p' \
        "$WORK/sshd/home/jobs"
} | sql 'copy chaos.effect from stdin'
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I6 I7 I8 I9
not_blind
drivers_hold
is 'each kind was felt' "$(for kind in "${KINDS[@]}"; do
    [ "${felt[$kind]:-0}" -gt 0 ] || echo "$kind"
done)" ''
is 'afterwards it could be written again' "$went_on" "$FAULTS"
happened "$ended_meanwhile" 'tasks ended meanwhile'
# Who tried again and again without a pause would need a whole core.
ok "nobody computes for nothing: $busiest ms in a second, $usual ms before the faults" \
    test "$busiest" -lt $((3 * usual + 200))
ok "a driver says little ($lines lines, $missing missing)" test \
    $((lines + missing)) -lt $((20 * $(sql 'select count(*) from wf.task_v')))
is 'no driver was given up' \
    "$(sql "select count(*) from wf.driver where state <> 'live'")" 0
campaign_end
