#!/usr/bin/env bash
# failover.t - a driver that knows several hosts, and what becomes of them: one
# dies and a standby is promoted, with everything or with less; a backup takes
# its place; one is a standby, or never answers.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
LOG=$WORK/nginx/access.log

cat >"$WORK/pairs.wf" <<'END_OF_FILE'
/** n times a row, then a request; neither may be repeated. */
workflow pairs(url: string, n: int) {
  forall(i in 1 .. n) {
    sql.Exec(statement = "insert into mark values ($1, $2)", params = [instance.id, i]) ;
    http.Request(url = "${url}/${i}")
  }
}
END_OF_FILE

# hosts NAME…: their sockets, as libpq takes a list.
hosts() {
    local list
    list=$(printf ",$WORK/%s" "$@")
    printf 'host=%s dbname=wf' "${list#,}"
}

# connect NAME CONNECTION [OPTION…]: a driver with these hosts, and wait for it.
connect() {
    local name=$1 connection=$2
    shift 2
    driver_start "$name" -d "$connection user=wf_driver_$name" \
        -o "sql_connection=$connection user=etl" "$@"
}

# work N: an instance, under way.
work() {
    id=$(begin pairs -p "url=$HTTP_URL" -p "n=$1")
    wait_sql 20 "select count(*) > $(($1 / 8)) from mark where id = $id"
}

# done_once NAME N: it ended, with each row and each request once.
done_once() {
    ended "$id" 60 || true
    is "$1: it ends" "$(state_of "$id")" 'END success'
    is "$1: every row once" "$(sql "select count(*), count(distinct n)
        from mark where id = $id")" "$2|$2"
    is "$1: every request once" "$(grep -c "$(trace_of "$id")" "$LOG")" "$2"
}

# comes_back NAME: wait until it has registered again; MS is how long that took
# since leaves().
comes_back() {
    wait_sql 60 "select max(driver_id) > $registered from wf.driver_v
        where name = '$1'" || true
    MS=$(((${EPOCHREALTIME/./} - from) / 1000))
}

leaves() {
    registered=$(sql 'select max(driver_id) from wf.driver_v')
    from=${EPOCHREALTIME/./}
}

# paused NAME: the workspace says that it lost something; nothing is sent.
paused() {
    local before
    ok "$1: the engine is paused" wait_sql 60 \
        "select state = 'PAUSED' from wf.engine_v"
    before=$(wc -l <"$LOG")
    like "$1: it says why" "$(sql 'select reason from wf.engine_v')" \
        'history was lost: driver one saw what was done in transaction'
    id=$(begin pairs -p "url=$HTTP_URL" -p n=1)
    ok "$1: explain says so" wait_sql 30 "select exists (select
        from wf.explain($id) e where e.reason = 'paused')"
    is "$1: nothing is sent" "$(wc -l <"$LOG")" "$before"
}

# goes_on NAME: an operator has looked at it.
goes_on() {
    ok "$1: it is resumed" wf-console engine resume --reason 'looked at it'
    ok "$1: everything ends" wait_until 60 all_end
    is "$1: the new one did, too" "$(state_of "$id")" 'END success'
    sound
}

# What is lost is tried again, as an operator does it.
all_end() {
    sql "select count(*) from wf.retry(jsonb_build_object('failed', true,
            'instance', (select jsonb_agg(distinct f.instance_id)
                           from wf.failed f)), 'it was lost')
          where exists (select from wf.failed)" >/dev/null
    sql_is_true "select not exists (select from wf.instance_v
                                     where state = 'RUNNING')"
}

nginx_start 'location / { echo done; }'
archive=$(server_dir archive)
workspace_start one 'dynamic_shared_memory_type = mmap' 'archive_mode = on' \
    "archive_command = 'cp %p $archive/%f'"
login_create etl wf_app
sql 'create table mark (id bigint, n int)'
sql 'grant insert on mark to etl'
wf-console install "$WORK/pairs.wf" >/dev/null
pg_standby_start two one
pg_synchronous one two

# --- a standby comes first in the list: it is passed over

connect one "$(hosts two one) target_session_attrs=read-write"
pass 'a standby in the list is passed over'
connect two "$(hosts two one)"
ok 'a driver without target_session_attrs passes the standby over, too: it cannot write there' \
    grep -q 'the server is read-only' "$WORK/driver-two.log"
driver_stop two || true

# --- the primary dies, a synchronous standby is promoted

work 400
while next=$(begin pairs -p "url=$HTTP_URL" -p n=1 2>/dev/null); do
    printf '%s\n' "$next" >>"$WORK/started"
done &
starter=$!
wait_until 20 test -s "$WORK/started"
leaves
pg_kill one
pg_promote two
comes_back one
diag "from the death of the primary to a driver at work: $MS ms"
wait "$starter" || true
done_once 'synchronous' 400
sql 'create table started (id bigint)'
sed -n '/^[0-9]*$/p' "$WORK/started" | sql 'copy started from stdin'
is 'synchronous: all that was acknowledged is there' "$(sql "select count(*)
    from started s where not exists (select from wf.instance_v i
                                      where i.instance_id = s.id)")" 0
# a poll whose driver never heard of it is lost, and asked for again
is 'synchronous: nobody was needed' "$(sql "select * from wf.event
    where event = 'retry' or event = 'lost' and state = 'FAILED' limit 10")" ''
ok 'synchronous: everything ends' wait_until 60 all_end
sound

# --- the standby that is promoted did not have everything

pg_standby_start one two
work 400
pg_cut_off one
lost=$(begin pairs -p "url=$HTTP_URL" -p n=1)
ended "$lost" 60 || true
is 'asynchronous: what will be lost was done' "$(state_of "$lost")" 'END success'
pg_kill two
pg_promote one
is 'asynchronous: it is lost' "$(sql "select count(*) from wf.instance_v
    where instance_id = $lost")" 0
paused 'asynchronous'
goes_on 'asynchronous'

# --- a backup takes its place, up to a point in time

pg_copy two one "restore_command = 'cp $archive/%f %p'" \
    "recovery_target_name = 'noon'" 'recovery_target_action = promote'
as_server touch "$WORK/two/data/recovery.signal"
kept=$(begin pairs -p "url=$HTTP_URL" -p n=1)
ended "$kept" || true
sql "select pg_create_restore_point('noon')" >/dev/null
lost=$(begin pairs -p "url=$HTTP_URL" -p n=1)
ended "$lost" || true
segment=$(sql 'select pg_walfile_name(pg_switch_wal())')
wait_until 30 test -s "$archive/$segment"
pg_kill one
postgres_begin "$WORK/two"
export PGHOST=$WORK/two
wait_sql 30 'select not pg_is_in_recovery()'
is 'point in time: it is there up to then' "$(sql "select count(*) filter
    (where instance_id = $kept), count(*) filter (where instance_id = $lost)
    from wf.instance_v")" '1|0'
paused 'point in time'
goes_on 'point in time'

# --- a former primary is still alive: connections that stood idle are to it

driver_stop one || true
pg_standby_start one two "recovery_target_name = ''"
pg_synchronous two one
connect five "$(hosts two one) target_session_attrs=read-write connect_timeout=2" \
    -o turn_timeout_ms=1000
id=$(begin pairs -p "url=$HTTP_URL" -p n=8)
done_once 'before it is taken for dead' 8
leaves
pg_signal two STOP
pg_promote one
comes_back five
pg_signal two CONT
id=$(begin pairs -p "url=$HTTP_URL" -p n=8)
done_once 'a former primary' 8
ok 'a former primary: it was asked, and left' \
    grep -q 'it does not know a request' "$WORK/driver-five.log"

# --- both are alive, and the driver has a connection with each of them

sql 'alter role wf_driver_five nologin'
sql "select pg_terminate_backend(max(pid)) from pg_stat_activity
      where usename = 'wf_driver_five' and application_name = 'wf-driver'" >/dev/null
ok 'two primaries: the driver recognises the former one by its timeline' \
    wait_until 30 grep -q 'it is a former primary' "$WORK/driver-five.log"
sql 'alter role wf_driver_five login'
id=$(begin pairs -p "url=$HTTP_URL" -p n=8)
done_once 'two primaries' 8
ok 'two primaries: all connections are with one of them' wait_sql 30 "select
    count(*) = 2 from pg_stat_activity
    where usename = 'wf_driver_five' and application_name = 'wf-driver'"
pg_kill two
driver_stop five || true

# --- a host that never answers costs its own deadline, and once only

# shellcheck disable=SC2016
spawn hole perl -MIO::Socket::UNIX -e '
    my $socket = IO::Socket::UNIX->new(Local => shift, Listen => 100) or die;
    $| = 1;
    for (my @callers; my $caller = $socket->accept; push @callers, $caller) {
        print "called\n";
    }' "$(server_dir hole)/.s.PGSQL.5432"
wait_until 10 test -S "$WORK/hole/.s.PGSQL.5432"

# calls: how often somebody has connected to it.
calls() {
    grep -c called "$WORK/hole.log" || true
}

from=$SECONDS
connect three "$(hosts hole one) connect_timeout=5"
took=$((SECONDS - from))
ok "a black hole: the next host is tried after 5 s ($took s)" test "$took" -lt 20
ok 'a black hole: it was asked first' test "$(calls)" -gt 0
id=$(begin pairs -p "url=$HTTP_URL" -p n=3)
done_once 'a black hole' 3
before=$(calls)
leaves
sql "select count(pg_terminate_backend(pid)) from pg_stat_activity
      where usename = 'wf_driver_three'" >/dev/null
comes_back three
is "a connection is cut: the host that was good comes first ($MS ms)" "$(calls)" "$before"
driver_stop three || true

# --- names are looked up, and each address is tried

port=$(free_port)
pg_stop one
printf '%s\n' "listen_addresses = '127.0.0.1'" "port = $port" \
    >>"$WORK/one/data/postgresql.conf"
as_server sed -i '1i host all all 127.0.0.1/32 trust' "$WORK/one/data/pg_hba.conf"
pg_restart one
export PGPORT=$port
connect four "host=no-such-host.invalid,localhost port=$port dbname=wf"
pass 'a host that has no address is passed over'
id=$(begin pairs -p "url=$HTTP_URL" -p n=3)
done_once 'by name' 3
driver_stop four || true
done_testing
