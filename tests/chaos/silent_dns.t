#!/usr/bin/env bash
# silent_dns.t - the name server of the drivers' host never answers, while some
# tasks call a service by its name and others by its address: the former fail in
# time, for the latter nothing changes. A driver that is to end at once does so
# while it waits for that name server.

# A network of its own, and files of its own that say how names are looked up.
if [ -z "${CHAOS_NETWORK:-}" ] && unshare --net --mount true 2>/dev/null; then
    CHAOS_NETWORK=yes exec unshare --net --mount bash "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
. "$CHAOS/wires.sh"

campaign silent_dns 1 20 "$@"
LEASE_SECONDS=5
network_needed
TIMEOUT_MS=1500
CONNECT_MS=1000
PAUSE_MS=2000 # the most that any part of a driver may stand still
BEAT_MS=100
ip link set lo up

# names_begin: names are looked up in $WORK/hosts, then by a server that writes
# down what it is asked, in $WORK/asked, and says nothing.
names_begin() {
    printf '127.0.0.1 localhost\n' >"$WORK/hosts"
    printf 'hosts: files dns\n' >"$WORK/nsswitch.conf"
    # as the C library has it by itself: ten seconds for a name
    printf 'nameserver 127.0.0.1\noptions timeout:5 attempts:2\n' \
        >"$WORK/resolv.conf"
    for file in hosts nsswitch.conf resolv.conf; do
        mount --bind "$WORK/$file" "/etc/$file"
    done
    # shellcheck disable=SC2016 # perl expands it
    spawn name-server perl -MIO::Socket::INET -e '
        my $socket = IO::Socket::INET->new(Proto => "udp",
            LocalAddr => "127.0.0.1", LocalPort => 53) or die $@;
        open my $out, ">", $ARGV[0] or die $!;
        $out->autoflush(1);
        while (defined $socket->recv(my $query, 512)) {
            print $out join(".", unpack "x12 (C/a)2", $query), "\n";
        }' "$WORK/asked"
    wait_until 10 test -e "$WORK/asked"
}

# asked NAME: how often.
asked() {
    grep -c "^$1\$" "$WORK/asked" || true
}

# Each driver has a supervisor that hears its loop, ten times a second.
drivers_heard() {
    local name
    for name in "${DRIVERS[@]}"; do
        notify_start "beat-$name" "@$WORK/$name"
        next_is_heard "$name"
        driver_start "$name" "${DRIVER_OPTIONS[@]}"
    done
}

next_is_heard() {
    DRIVER_COMMAND=(env "NOTIFY_SOCKET=@$WORK/$1"
        "WATCHDOG_USEC=$((2000 * BEAT_MS))" "$BUILD/wf-driver")
}

# longest_pause: the longest that a line of numbers has between two, in ms.
longest_pause() {
    sort -n | awk 'NR > 1 && $1 - last > most { most = $1 - last }
        { last = $1 } END { printf "%.0f\n", most * 1000 }'
}

# beats NAME SINCE, others SINCE: when its loop went round; when tasks that call
# an address ended well. SINCE itself and now are among them.
beats() {
    awk -v since="$2" '$2 ~ /WATCHDOG/ && $1 > since { print $1 }' \
        "$WORK/beat-$1.told"
    printf '%s\n' "$2" "$EPOCHREALTIME"
}

others() {
    sql "select extract(epoch from e.at)
           from wf.event e
           join wf.instance_v i using (instance_id)
          where i.workflow = 'call' and e.event = 'success'
            and e.process_id is not null and e.at > to_timestamp($1)"
    printf '%s\n' "$1" "$EPOCHREALTIME"
}

others_more() {
    [ "$(others "$1" | wc -l)" -gt 5 ]
}

# named_fails NAME: wait until all tasks that call it first have failed.
named_fails() {
    wait_sql 60 "select count(*) >= 24 from wf.event e
          join wf.instance i on i.id = e.instance_id
         where e.state = 'FAILED' and i.params ->> 'base' like '%//$1:%'"
}

# leave_at_once NAME: a driver that looks that name up is told twice to end; how
# many ms it took. HOLDER is that driver.
leave_at_once() {
    local since before
    until HOLDER=$(holder "$1") && [ -n "$HOLDER" ]; do
        retry_lost
    done
    before=$(stopped "$HOLDER")
    kill -s TERM "$(pid_of "driver-$HOLDER")"
    wait_until 10 stopped_more "$HOLDER" "$before" || true
    since=$EPOCHREALTIME
    stop "driver-$HOLDER" || true
    ms_since "$since" >>"$WORK/leaving"
}

holder() {
    sql "select d.name from wf.lease l
           join wf.driver d on d.id = l.driver_id
           join wf.instance i on i.id = l.instance_id
          where i.params ->> 'base' like '%//$1:%' limit 1"
}

# stopped NAME: how often it was told to end while it had requests.
stopped() {
    grep -c 'stopping: [1-9]' "$WORK/driver-$1.log" || true
}

stopped_more() {
    [ "$(stopped "$1")" -gt "$2" ]
}

# no_threads: all look-ups that nobody waits for have ended.
no_threads() {
    local name
    for name in "${DRIVERS[@]}"; do
        [ "$(threads "$name")" -eq 1 ] || return 1
    done
}

threads() {
    awk '$1 == "Threads:" { print $2 }' "/proc/$(pid_of "driver-$1")/status"
}

world
names_begin
DRIVER_OPTIONS+=(-o "http.timeout_ms=$TIMEOUT_MS"
    -o "http.connect_timeout_ms=$CONNECT_MS" -o slots=16)
sql "insert into chaos.excused values ('http'), ('timeout')"
drivers_heard
load call 1 base "$BASE" queue "'any'" n 100000

silent=0
for ((fault = 0; fault < FAULTS; fault++)); do
    name=silent$fault.test
    since=$EPOCHREALTIME
    for _ in 1 2 3; do
        sql "select wf.start('load', '{\"base\": \"http://$name:$HTTP_PORT\",
            \"ms\": 8, \"n\": 4}')" >>"$HEARD"
    done
    named_fails "$name" || true
    work_begins sleep 0.02
    for driver in "${DRIVERS[@]}"; do
        beats "$driver" "$since" | longest_pause >>"$WORK/pauses"
        threads "$driver" >>"$WORK/threads"
    done
    others "$since" | longest_pause >>"$WORK/others"
    [ "$(asked "$name")" -eq 0 ] || silent=$((silent + 1))
    retry_lost
    leave_at_once "$name"
    # now the name is known
    printf '127.0.0.1 %s\n' "$name" >>"$WORK/hosts"
    next_is_heard "$HOLDER"
    driver_again "$HOLDER"
    driver_is_back "$HOLDER" || true
    # what it left is begun anew, and the next fault finds all at work
    retry_lost
    since=$EPOCHREALTIME
    wait_until 60 others_more "$since" || true
done
sql "select count(*) from wf.abort('{\"workflow\": \"call\"}', 'enough of it')" \
    >/dev/null
all_end 120

figure faults "$silent"
for what in pauses others leaving; do
    figure_of_times "${what}_ms" "$WORK/$what"
done
figure threads_max "$(sort -n "$WORK/threads" | tail -n 1)"
late=$(($(longest_failed chaos.Send) - TIMEOUT_MS))
figure overrun_ms_max "$late"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I7 I8 I9
not_blind
ok 'look-ups that nobody waits for end by themselves' wait_until 30 no_threads
drivers_hold
happened "$silent" 'the name server was asked for a name and was silent' "$FAULTS"
came_at_work 'the name server was silent' "$FAULTS"
longest=$(sort -n "$WORK/pauses" | tail -n 1)
ok "no loop stood still, at most $longest ms" test "$longest" -lt "$PAUSE_MS"
longest=$(sort -n "$WORK/others" | tail -n 1)
ok "tasks that call an address went on, with pauses of at most $longest ms" \
    test "$longest" -lt "$PAUSE_MS"
is 'tasks that call a name fail with their kind' "$(sql "
    select distinct e.detail ->> 'kind' from wf.event e
      join wf.instance i on i.id = e.instance_id
     where e.state = 'FAILED' and i.params ->> 'base' like '%//silent%'
       and e.event <> 'lost'")" http
in_time 'requests fail in time, a second after their limit at most' "$late" 1000
longest=$(sort -n "$WORK/leaving" | tail -n 1)
in_time 'a driver ends at once' "$longest" $((2000 + PAUSE_MS))
is 'no driver was given up' \
    "$(sql "select count(*) from wf.driver where state = 'lost'")" 0
campaign_end
