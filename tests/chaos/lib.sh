# shellcheck shell=bash
# lib.sh - what the campaigns share: chance that can be repeated, load, drivers
# that are killed and come back, the witnesses and what they must agree on.
#
# A campaign is a test that runs alone, too:
#
#     tests/chaos/driver_kill.t --seed 7 --faults 50
#
# All of them call these functions in the same order. They are scripts all the same,
# and not one function with a fault as its argument: what they do in between, and
# what must then hold, is another thing in each of them.
#
# It says what it has found in TAP, and its figures in $CHAOS_FIGURES, if that
# is set: lines "campaign seed figure value".

# shellcheck source=tests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
CHAOS=$ROOT/tests/chaos
DRIVERS=(one two three)
DRIVER_OPTIONS=(-o slots=4 -o poll_max_ms=200 -o heartbeat_ms=500)
SERVER_ENVIRONMENT=() # VARIABLE=VALUE…
LEASE_SECONDS=2 # more where nobody may be given up: machines stop for a second or two
HEARD=$WORK/started # the instances whose start was answered

# campaign NAME FAULTS LONG "$@": it begins. FAULTS is how many faults there
# are to be, or that of the long form; the options of the script may say so.
campaign() {
    FILES_MORE=20
    AT_WORK=0 REQUESTS=0
    CAMPAIGN=$1
    FAULTS=$2
    [ "${CHAOS_FORM:-short}" = short ] || FAULTS=$3
    SEED=${CHAOS_SEED:-1}
    FAULTS=${CHAOS_FAULTS:-$FAULTS}
    shift 3
    while [ $# -gt 0 ]; do
        case $1 in
        --seed) SEED=${2:?} && shift ;;
        --faults) FAULTS=${2:?} && shift ;;
        *)
            printf 'usage: %s [--seed N] [--faults N]\n' "$0" >&2
            exit 2
            ;;
        esac
        shift
    done
    RANDOM=$SEED
    BEGAN=$EPOCHREALTIME
    : >"$HEARD"
    diag "$CAMPAIGN: seed $SEED, $FAULTS faults"
}

# figure NAME VALUE
figure() {
    diag "$1: $2"
    [ -z "${CHAOS_FIGURES:-}" ] ||
        printf '%s\t%s\t%s\t%s\n' "$CAMPAIGN" "$SEED" "$1" "$2" \
            >>"$CHAOS_FIGURES"
}

# figure_of_times NAME FILE: the middle and the longest of its lines.
figure_of_times() {
    figure "$1_p50" "$(middle "$2")"
    figure "$1_max" "$(longest "$2")"
}

# middle FILE, longest FILE: of these times.
middle() {
    sort -n "$1" | awk '{ ms[NR] = $1 } END { print ms[int((NR + 1) / 2)] }'
}

longest() {
    sort -n "$1" | tail -n 1
}

# recovers_in LIMIT WHAT PAGE [NAME]: WHAT took less than LIMIT ms each time, and
# PAGE says where that is promised. The times are those of the file $WORK/NAME,
# which is recovery unless told; they are figures, too.
recovers_in() {
    local name=${4:-recovery}
    figure_of_times "${name}_ms" "$WORK/$name"
    in_time "$2 within $1 ms ($3)" "$(longest "$WORK/$name")" "$1"
}

# ms_since TIME: prints how long ago that was, by EPOCHREALTIME.
ms_since() {
    awk "BEGIN { printf \"%.0f\n\", ($EPOCHREALTIME - $1) * 1000 }"
}

# Chance ----------------------------------------------------------------------

# roll SIDES: ROLL is 0 to SIDES - 1. (No subshell: it would roll the same
# again.)
roll() {
    ROLL=$(((RANDOM * 32768 + RANDOM) % $1))
}

# nap MS: at most so long.
nap() {
    roll "$1"
    sleep "$(printf '%d.%03d' $((ROLL / 1000)) $((ROLL % 1000)))"
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

# World -----------------------------------------------------------------------

# world [SETTING…]: a server, a workspace with the load, the witnesses, a
# service, and a role for SQL tasks.
world() {
    nginx_start "$(cat "$CHAOS/data/nginx.conf")"
    workspace_start pg 'log_min_messages = fatal' 'max_wal_size = 64MB' "$@"
    sql "update wf.setting set value = $LEASE_SECONDS
          where name = 'lease_seconds'"
    sql 'create extension amcheck'
    psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 \
        --file="$CHAOS/witness.sql" >"$WORK/witness.log"
    wf-console install "$CHAOS/data/load.wf" >"$WORK/console.log"
    login_create etl wf_app
    sql 'grant usage on schema chaos to etl'
    sql 'grant insert on chaos.mark to etl'
    # shellcheck disable=SC2034 # for the campaign
    BASE="'$HTTP_URL'"
    spawn watcher watch_rows
    stalls_watch
}

# The server as a child of ours, who hears of its death, with SERVER_ENVIRONMENT.
server_adopt() {
    pg_stop
    server_begin
    wait_until 30 sql 'select 1'
}

server_begin() {
    spawn_server postmaster env "${SERVER_ENVIRONMENT[@]}" \
        "$PG_HOME/bin/postgres" -D "$WORK/pg/data"
}

# pair_world: the same, with a standby on another host: PRIMARY and STANDBY are
# the names of their clusters. Drivers know both. PAIR_SETTINGS are settings of both.
PAIR_SETTINGS=()
pair_world() {
    local hosts="host=$WORK/pg,$WORK/peer target_session_attrs=read-write connect_timeout=2"
    world 'dynamic_shared_memory_type = mmap' "${PAIR_SETTINGS[@]}"
    DRIVER_OPTIONS+=(-d "$hosts" -o "sql_connection=$hosts user=etl"
        -o sql_connections=2 -o turn_timeout_ms=3000)
    PRIMARY=pg
    STANDBY=peer
    pg_standby_start "$STANDBY" "$PRIMARY"
}

# fail_over: the standby takes the primary's place, which is gone, or is not.
fail_over() {
    local former=$PRIMARY
    pg_promote "$STANDBY"
    PRIMARY=$STANDBY
    STANDBY=$former
}

# last_driver [CLUSTER]: the number of the last one that has registered.
last_driver() {
    sql 'select coalesce(max(id), 0) from wf.driver' \
        --host="$WORK/${1:-$PRIMARY}"
}

# driver_comes NUMBER SINCE: wait until one has registered that came later, and
# print how many ms after SINCE that was.
driver_comes() {
    wait_sql 60 "select max(id) > $1 from wf.driver" || true
    ms_since "$2"
}

# server_said WHAT: how often it did.
server_said() {
    cat "$WORK/pg/server.log" "$WORK/postmaster.log" 2>/dev/null |
        grep -c "$1" || true
}

# server_kill: with all that it does.
server_kill() {
    local pid
    pid=$(pid_of postmaster)
    kill -s KILL "$pid"
    wait "$pid" 2>/dev/null || true
}

# server_writes SINCE: prints after how many milliseconds somebody can write
# again. It is started if it is gone; until all of its former self has
# ended, that is in vain.
server_writes() {
    local deadline=$((SECONDS + 180))
    until sql 'create temporary table x ()' >/dev/null 2>&1; do
        if is_gone "$(pid_of postmaster)"; then
            server_begin
        fi
        [ "$SECONDS" -lt "$deadline" ] || return 1
        sleep 0.02
    done
    ms_since "$1"
}

# was_away DOWN [LAST [KILLED]]: the server is back. It went at DOWN, the last time
# at LAST; a driver that was killed meanwhile comes back when it is started.
was_away() {
    sql "insert into chaos.absence (down_at, last_at, up_at, killed)
         values (to_timestamp($1), to_timestamp(${2:-$1}), to_timestamp($EPOCHREALTIME), '${3:-}')"
}

# drivers_come_back: this check judges how long the drivers take once the server is back.
# How long the server was away is only printed (recovery_ms), since drivers cannot change
# it. A driver pauses between two attempts, each time twice as long, a quarter more or
# less, and 10 s at most. So its pause is over after twice the time of the server's absence.
drivers_come_back() {
    figure_of_times recovery_ms "$WORK/recovery"
    sql 'select b.ms from chaos.back b' >"$WORK/back"
    figure_of_times back_ms "$WORK/back"
    sql 'select greatest(0, b.ms - b.pause_ms) from chaos.back b' >"$WORK/beyond"
    recovers_in 1000 'drivers are back after at most twice the time that the server was away, 12.5 s at most, and then' \
        'docs/driver.md: pauses of 0.1 to 10 s' beyond
}

# clock_make: a program whose environment has CLOCK_ENVIRONMENT has a time of day of
# ours: CLOCK_OFFSET seconds later than the machine's.
clock_make() {
    cc -shared -fPIC -O1 -o "$WORK/clock.so" "$CHAOS/clock.c"
    # shellcheck disable=SC2034 # for the campaign
    CLOCK_ENVIRONMENT=("LD_PRELOAD=$WORK/clock.so" "CLOCK=$WORK/clock")
    CLOCK_OFFSET=0
    clock_jump 0
}

# clock_jump SECONDS: ahead, or back.
clock_jump() {
    CLOCK_OFFSET=$((CLOCK_OFFSET + $1))
    printf '%d\n' "$CLOCK_OFFSET" >"$WORK/clock.new"
    mv "$WORK/clock.new" "$WORK/clock" # no reader sees half of it
}

# proxy_start [NAME [CUTS]]: between drivers and the server, cutting their
# connections if CUTS is 1: PROXY is the directory of its socket.
proxy_start() {
    PROXY=$WORK/${1:-proxy}
    mkdir "$PROXY"
    : >"$PROXY/cuts"
    spawn "${1:-proxy}" perl "$CHAOS/proxy" "$PROXY/.s.PGSQL.$PGPORT" \
        "$PGHOST/.s.PGSQL.$PGPORT" "${2:-0}" "$SEED" "$PROXY/cuts"
    wait_until 20 test -S "$PROXY/.s.PGSQL.$PGPORT"
}

# All of them, each with a login of its own.
drivers_begin() {
    local name
    for name in "${DRIVERS[@]}"; do
        driver_start "$name" "${DRIVER_OPTIONS[@]}"
    done
    FILES=${FILES:-$(files_of "$(pid_of "driver-${DRIVERS[0]}")" || true)}
}

# stop_at_work NAME [PROCESS]: stop it, or that process, while it carries out
# requests of 200 ms that may be repeated. HELD is how many requests it has then.
stop_at_work() {
    local process=${2:-driver-$1} deadline=$((SECONDS + 180))
    while :; do
        load load 40 base "$BASE" ms 200 n 25
        nap 400
        kill -s STOP "$(pid_of "$process")"
        HELD=$(sql "select count(*) from chaos.held('$1')")
        if carries_out "$1" || [ "$SECONDS" -ge "$deadline" ]; then
            return
        fi
        kill -s CONT "$(pid_of "$process")"
    done
}

# work_begins COMMAND…: wait until drivers have requests, amid which a fault then
# comes; the command may see to it.
work_begins() {
    local count deadline=$((SECONDS + 180))
    until count=$(in_flight) && [ "$count" -gt 0 ] ||
        [ "$SECONDS" -ge "$deadline" ]; do
        "$@"
    done
    at_work "${count:-0}"
}

# at_work COUNT: a fault comes, and drivers have so many requests. AT_WORK is how
# often they had some, REQUESTS how many these were.
at_work() {
    [ "$1" -eq 0 ] || AT_WORK=$((AT_WORK + 1))
    REQUESTS=$((REQUESTS + $1))
}

# came_at_work WHAT TIMES: that was done so often, each time while drivers had
# requests. A campaign that has disturbed nothing has shown nothing.
came_at_work() {
    figure within "$REQUESTS"
    happened "$AT_WORK" "$1 while drivers had requests ($REQUESTS of them)" "$2"
}

# happened TIMES WHAT [LEAST]: WHAT happened so often, and at least once.
happened() {
    local least=${3:-1}
    ok "$2: $1 times" test "$1" -ge "$((least > 0 ? least : 1))"
}

# in_flight: how many requests drivers have.
in_flight() {
    sql 'select count(*) from wf.lease'
}

# carries_out NAME: whether it says so of a start that may be repeated and that
# it holds: what the workspace has handed out need not have reached it.
carries_out() {
    sql "select format('task %s/%s/%s: start of %s is RUNNING',
                   h.instance_id, h.process_id, p.attempt, n.task_type)
           from chaos.held('$1') h
           join wf.process p on p.instance_id = h.instance_id and p.id = h.process_id
           join wf.node n on n.version_id = p.version_id and n.id = p.node_id
          where h.request = 'start' and n.idempotent" |
        grep --quiet --fixed-strings --file=- "$WORK/driver-$1.log"
}

# driver_given_up NAME, driver_is_back NAME: wait until nothing of what it had
# is waited for any more; until it is there again.
driver_given_up() {
    wait_sql 60 "select d.state = 'lost' and d.in_flight = 0
        from wf.driver_v d where d.name = '$1' order by driver_id desc limit 1"
}

driver_is_back() {
    wait_sql 60 "select d.state = 'live' from wf.driver_v d
        where d.name = '$1' order by driver_id desc limit 1"
}

# too_late: how many reports of drivers were refused, as they have it.
too_late() {
    cat "$WORK"/driver-*.log | grep -c 'came too late' || true
}

# driver_kill NAME: now, wherever it is. HELD is how many requests it had.
driver_kill() {
    local pid
    pid=$(pid_of "driver-$1")
    kill -s KILL "$pid"
    wait "$pid" 2>/dev/null || true
    # shellcheck disable=SC2034 # for the campaign
    HELD=$(sql "select chaos.remember('$1')")
}

# driver_again NAME: as a supervisor does it, waiting for nothing.
driver_again() {
    PGUSER=wf_driver_$1 spawn "driver-$1" "${DRIVER_COMMAND[@]}" \
        -o name="$1" -o log_level=debug "${DRIVER_HTTP[@]}" \
        "${DRIVER_OPTIONS[@]}"
}

# Load ------------------------------------------------------------------------

# load WORKFLOW TASKS NAME VALUE…: start an instance with these parameters (as
# in SQL) unless so many tasks are on their way already. That it was answered is
# noted. BASE is the service, for those that speak to it.
load() {
    local workflow=$1 tasks=$2 params
    shift 2
    params=$(printf ", '%s', %s" "$@")
    sql "select wf.start('$workflow', jsonb_build_object(${params#,}))
          where $tasks > (select count(*) from wf.ready)
              + (select count(*) from wf.parked) + (select count(*) from wf.lease)" \
        >>"$HEARD" 2>>"$WORK/starts.log" || true
}

# starts_begin, starts_end: somebody starts instances all the time, on whichever
# of a pair is the primary. It begins with SQL tasks that have had their effect.
starts_begin() {
    spawn starts starts_run
    wait_sql 60 'select exists (select from chaos.mark)' || true
}

starts_end() {
    stop starts || true
}

starts_run() {
    export PGHOST=$WORK/pg,$WORK/peer PGTARGETSESSIONATTRS=read-write \
        PGCONNECT_TIMEOUT=2
    while sleep 0.1; do
        load load 30 base "$BASE" ms 8 n 20
        load write 60 base "$BASE" n 20
    done
}

# Reports in the name of killed drivers, of what was taken back.
haunt() {
    sql 'select chaos.haunt()' >/dev/null
}

# Watcher ---------------------------------------------------------------------

# watch_rows: asks fsck about once a second whether rows contradict each other,
# until the file $WORK/watched is there. A look that takes a second or more is
# followed by a pause four times as long: the watcher is not to be a load. A look
# that could not be had, since the server is gone or a lock is taken, is none. It
# takes no locks that anybody waits for, and sees all rows as they were at one
# moment.
watch_rows() {
    local found began due=0
    export PGHOST=$WORK/pg,$WORK/peer PGTARGETSESSIONATTRS=read-write \
        PGCONNECT_TIMEOUT=2 PGAPPNAME=watcher PGUSER=postgres \
        PGOPTIONS='-c lock_timeout=100ms -c statement_timeout=60s'
    until [ -e "$WORK/watched" ]; do
        sleep 1
        [ "$SECONDS" -ge "$due" ] || continue
        began=$SECONDS
        found=$(sql "begin isolation level repeatable read, read only;
            select now(), f.check_name, f.instance_id, f.process_id, f.detail
              from wf.fsck() f where f.class = 'violation' limit 10; commit") ||
            continue
        due=$((SECONDS + 4 * (SECONDS - began)))
        echo >>"$WORK/looks"
        [ -z "$found" ] || printf '%s\n' "$found" >>"$WORK/contradictions"
    done
}

# watch_end: what it has seen; it must have looked.
watch_end() {
    local looks
    touch "$WORK/watched" "$WORK/looks" "$WORK/contradictions"
    wait_until 100 is_gone "$(pid_of watcher)" || true
    stop watcher || true
    looks=$(wc -l <"$WORK/looks")
    figure looks "$looks"
    ok 'fsck has looked while it went on' test "$looks" -gt 0
    is 'no rows contradicted each other at any moment' \
        "$(head -n 20 "$WORK/contradictions")" ''
}

# What operators do: what was lost is tried again.
retry_lost() {
    sql "select count(*) from wf.retry(jsonb_build_object('failed', true,
            'instance', (select jsonb_agg(distinct f.instance_id)
                           from wf.failed f)), 'it was lost')
          where exists (select from wf.failed)" >/dev/null 2>&1 || true
}

# all_end SECONDS: wait for the end of everything (as wait_until does), retrying
# what is lost, with reports of the dead in between.
all_end() {
    local deadline=$((SECONDS + 3 * $1))
    until [ "$(sql "select not exists (select from wf.instance_v
            where state = 'RUNNING') and not exists (select from chaos.ghost g
             where exists (select from wf.lease l where l.token = g.token))")" \
        = t ]; do
        if [ "$SECONDS" -ge "$deadline" ]; then
            fail "all ends within $1 s" "$(
                sql 'select * from wf.stuck() limit 20' 2>&1)"
            return
        fi
        haunt
        retry_lost
        sleep 0.2
    done
    haunt
    pass 'all ends'
}

# Accounts --------------------------------------------------------------------

# The requests that nginx saw, and the reports that drivers were answered.
ledgers_load() {
    sed -nE 's,^(POST|DELETE) /(do|over)/([a-z_]*)[^ ]*[?-]([0-9]+)-([0-9]+) [0-9]+ ([^ ]+).*$,\1\t\3\t\4\t\5\t\6,p' \
        "$WORK/nginx/access.log" |
        sql "copy chaos.effect from stdin"
    sed -n '/^[0-9][0-9]*$/p' "$HEARD" | sql 'copy chaos.started from stdin'
    cat "$WORK"/driver-*.log | sed -nE \
        's,^.*task ([0-9]+)/([0-9]+)/([0-9]+): ([a-z]+) to ([a-z]+) is answered: done$,\4\t\1\t\2\t\3\t\5,p' |
        sql 'copy chaos.answered from stdin'
}

# What has happened, as the witnesses have it.
ledgers_figures() {
    ledgers_load
    figure tasks "$(sql 'select count(*) from wf.task_v')"
    figure effects "$(sql "select (select count(*) from chaos.effect
        where method = 'POST') + (select count(*) from chaos.mark)")"
    figure lost "$(sql "select count(*) from wf.event where event = 'lost'")"
    figure retries "$(sql "select count(*) from wf.event where event = 'retry'")"
    DUPLICATES=$(sql "select coalesce(sum(n - 1), 0) from (
        select count(*) as n from chaos.effect e
         where e.method = 'POST' and e.what not in ('once', 'job', 'run')
         group by e.process_id, e.attempt) x")
    figure duplicates "$DUPLICATES"
    STALE=$(sql "select count(*) from wf.event where event = 'late'")
    figure stale "$STALE"
}

# acknowledged: I4 is about starts and reports that were answered; there are some.
acknowledged() {
    local starts reports
    starts=$(sql 'select count(*) from chaos.started')
    reports=$(sql 'select count(*) from chaos.answered')
    figure acknowledged $((starts + reports))
    happened "$starts" 'I4: starts were answered'
    happened "$reports" 'I4: reports were answered'
}

# invariants_hold INVARIANT…: what the witnesses say is compared; each is a test.
invariants_hold() {
    local invariant found
    watch_end
    psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 \
        --file="$CHAOS/invariants.sql" >"$WORK/invariants.log"
    sql 'create table chaos.found as select * from chaos.violation'
    INVARIANTS=("$@")
    [[ " $* " != *' I4 '* ]] || acknowledged
    for invariant; do
        found=$(sql "select count(*) from chaos.found
                      where invariant = '$invariant'")
        figure "$invariant" "$found"
        is "$invariant holds" "$(sql "select what, instance_id, process_id,
            detail from chaos.found where invariant = '$invariant' limit 10")" ''
    done
    found=$(damaged wf)
    figure I10 "$(grep -c . <<<"$found" || true)"
    is 'I10 holds: tables and indexes are sound' "$found" ''
}

# damaged SCHEMA: what is wrong with its tables and indexes, as they are stored.
damaged() {
    pg_amcheck --heapallindexed --parent-check --schema="$1" "$PGDATABASE" \
        2>&1 || true
}

# not_blind: each sort of fault is found when it is put in. An index whose
# function has changed its mind lacks what it should have.
not_blind() {
    is 'the witnesses would notice' "$(sql "select * from chaos.blind
        where invariant = any (string_to_array('${INVARIANTS[*]}', ' '))")" ''
    # shellcheck disable=SC2016 # the dollars of SQL
    sql 'create schema chaos_damaged;
         create table chaos_damaged.t as select n from generate_series(1, 100) n;
         create function chaos_damaged.f(int) returns int immutable language sql as $$select $1$$;
         create index on chaos_damaged.t (chaos_damaged.f(n));
         create or replace function chaos_damaged.f(int) returns int immutable language sql as $$select -$1$$'
    like 'I10 would notice an index that lacks rows' "$(damaged chaos_damaged)" \
        'lacks matching index tuple'
    [[ " ${INVARIANTS[*]} " == *' I9 '* ]] || return 0
    sql "set session_replication_role = replica;
         update wf.event set at = at where seq = (select min(seq) from wf.event)"
    ok 'I9 would notice a change of the history' wait_sql 10 \
        "select exists (select from chaos.violation where invariant = 'I9')"
}

# files_of PID: how many files it has open. Fails for who may not look: only root
# may look at a driver's.
files_of() {
    [ -r "/proc/$1/fd" ] || return
    # one that is closed meanwhile does not count
    find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l || true
}

# hoards PID: whether it has more files than a driver that has just begun and the
# FILES_MORE connections that it keeps: to services and for SQL tasks while they are
# idle, and more to the workspace. It says how many, and fails as files_of does.
hoards() {
    local files
    files=$(files_of "$1") || return
    [ "$files" -le $((${FILES:-24} + FILES_MORE)) ] || printf '%d files\n' "$files"
}

# has_children PID: and it should not.
has_children() {
    [ -z "$(pgrep --parent "$1")" ] || printf 'children\n'
}

# drivers_hold: they are as they were in the beginning: no memory, no
# descriptors, no children left over.
drivers_hold() {
    local name pid kept files count=0 worst=0 unseen=0
    for name in "${DRIVERS[@]}"; do
        pid=$(pid_of "driver-$name")
        if is_gone "$pid"; then
            diag "driver $name has ended"
            count=$((count + 1))
            continue
        fi
        worst=$(awk -v worst="$worst" '$1 == "VmHWM:" {
            print ($2 > worst ? $2 : worst) }' "/proc/$pid/status")
        kept=$(has_children "$pid")
        files=$(hoards "$pid") || unseen=$((unseen + 1))
        kept+=${kept:+${files:+, }}$files
        [ -z "$kept" ] || diag "driver $name has $kept"
        [ -z "$kept" ] || count=$((count + 1))
    done
    [ "$worst" -le 32768 ] || count=$((count + 1))
    figure I11 "$count"
    is "I11 holds: drivers have let go of everything, at most $worst kB" \
        "$count" 0
    [ "$unseen" -eq 0 ] || skip "I11 holds: $unseen drivers have let go of files" \
        'only root may look at the files of a driver'
    # shellcheck disable=SC2016 # perl's variables, not ours
    spawn hoarder perl -e 'my @files;
        open($files[$_], "<", "/dev/null") for 1 .. $ARGV[0];
        my $child = fork; sleep 600 unless $child;
        $SIG{TERM} = sub { kill TERM => $child; exit }; sleep 600' \
        $((${FILES:-24} + FILES_MORE + 1))
    pid=$(pid_of hoarder)
    wait_until 10 pgrep --parent "$pid" || true
    is 'I11 would notice what is not let go of' \
        "$(hoards "$pid" | sed 's/^[0-9]* //'), $(has_children "$pid")" 'files, children'
    stop hoarder || true
}

# campaign_end: the figures of all campaigns.
campaign_end() {
    figure seconds "$(awk "BEGIN { printf \"%.0f\", $EPOCHREALTIME - $BEGAN }")"
    done_testing
}
