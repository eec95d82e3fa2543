#!/usr/bin/env bash
# attack_ground.t - what once stopped the whole workspace stops nothing: an
# expression without end (S1), advisory locks of a login without rights (S3), new
# names and held instances in open transactions of others (S4). Each attack is
# made as ../shared/reference/review-security.md says, while a driver works.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

QUICK=10 # seconds in which an unrelated instance has to end
workspace_start
login_create m_app wf_app
login_create m_operator wf_operator
login_create nobody1
cat >"$WORK/ground.wf" <<'WF'
/** Unrelated to all that follows. */
workflow quick() { lb.Log(msg = "quick") }
/** For each element, all others are looked through. */
workflow dedupe(xs: [int]) {
    lb.Log(msg = "a") ;
    let ys = [x for x in xs if contains(xs, x)] ;
    lb.Log(msg = "${size(ys)}")
}
/** Loops within each other: n * n * n steps. */
workflow nested(n: int) {
    lb.Log(msg = "a") ;
    let xs = [i for i in 1..n] ;
    let ys = [size([size([c for c in xs]) for b in xs]) for a in xs] ;
    lb.Log(msg = "${size(ys)}")
}
/** A value that takes 2.5 GB. */
workflow bytes() {
    lb.Log(msg = "a") ;
    let xs = [lpad("x", 1000000, "x") for a in 1..2500] ;
    lb.Log(msg = "${size(xs)}")
}
/** A name of a group, and a capability, that the caller chooses. */
workflow grp(g: string) { lb.Log(msg = "g") with group(g, max = 1) }
workflow zoned(z: string) { lb.Log(msg = "z") with requires({zone: z}) }
/** A request that lasts until somebody opens it. */
workflow held() { exec.Run(program = "held") }
WF
printf '%s\n' '#!/bin/sh' "until [ -e '$WORK/open' ]; do sleep 0.1; done" >"$WORK/held"
chmod 755 "$WORK/held"
ok 'install' wf-console install "$WORK/ground.wf"
driver_start one -o "exec.programs=held=$WORK/held" -o capabilities=zone=h1,zone=h12

# as LOGIN SQL: what that login is told.
as() {
    PGUSER=$1 sql "$2" 2>&1 || true
}

# goes_on ATTACK: an unrelated instance, started by an application, ends.
goes_on() {
    local id
    id=$(as m_app "select wf.start('quick')")
    like "$1: another instance is started" "$id" '^[0-9]+$'
    ok "$1: it ends" ended "$id" "$QUICK"
}

# keep NAME LOGIN SQL: in a transaction that stays open, once SQL has been done.
keep() {
    PGUSER=$2 PGAPPNAME=$1 spawn "$1" psql --no-psqlrc --quiet --tuples-only --no-align \
        --command='begin' --command="$3" --command='select pg_sleep(600)'
    wait_sql 20 "select exists (select from pg_stat_activity where application_name = '$1'
        and usename = '$2' and wait_event = 'PgSleep' and xact_start < query_start)"
}

# let_go NAME: it is rolled back. The server would not notice that psql has gone.
let_go() {
    sql "select pg_terminate_backend(pid, 10000) from pg_stat_activity
        where application_name = '$1'" >"$WORK/let_go"
    stop "$1" || true
}

goes_on 'before any attack'

# --- S1: an expression without end

# endless WORKFLOW PARAMETERS: it fails by its limit, and nobody waits for it.
endless() {
    local id
    id=$(as m_app "select wf.start('$1', $2)")
    like "S1 $1: it is started" "$id" '^[0-9]+$'
    goes_on "S1 $1"
    failed "$id"
    is "S1 $1: the expression has failed with kind limit" "$(sql "select error ->> 'kind'
        from wf.process_v where instance_id = $id and state = 'FAILED'")" limit
    like "S1 $1: an operator aborts it" \
        "$(as m_operator "select answer from wf.abort('{\"instance\": $id}')")" '^done$'
    ok "S1 $1: it is over" ended "$id" "$QUICK"
}
endless dedupe "jsonb_build_object('xs', (select jsonb_agg(g) from generate_series(1, 100000) g))"
endless nested "'{\"n\": 1000}'"
endless bytes "'{}'"
is 'S1: the driver has the sessions that it had' "$(sql "select count(*) <= 3
    from pg_stat_activity where usename = 'wf_driver_one'")" t

# --- S3: advisory locks of a login that has no role

# locked NUMBERS: nobody1 holds them, and everything goes on.
locked() {
    keep locks nobody1 "select count(pg_advisory_lock(k, n)) from $1"
    ok "S3 $1: nobody1 holds advisory locks" test "$(sql "select count(*) from pg_locks l
        join pg_stat_activity a using (pid)
       where a.usename = 'nobody1' and l.locktype = 'advisory' and l.granted")" -gt 0
    goes_on "S3 $1"
    is "S3 $1: the engine is paused" "$(as m_operator 'select answer from wf.engine_pause()')" 'done'
    is "S3 $1: and resumed" "$(as m_operator 'select answer from wf.engine_resume()')" 'done'
    driver_start two
    driver_stop two
    pass "S3 $1: a driver registers and leaves"
    let_go locks
}
locked '(values (7761, 0)) l (k, n)'
locked '(select 7762, generate_series(1, 64)) l (k, n)'
locked '(select 7764, generate_series(1, 2000)) l (k, n)'
locked "(select 7763, generate_series(1, $(sql 'select max(id) from wf.workflow')::int)) l (k, n)"

# --- S4: open transactions of others

# named WORKFLOW PARAMETER: the same new names in an open transaction, and outside of it.
named() {
    local start
    start="select count(wf.start('$1', jsonb_build_object('$2', 'h' || n))) from generate_series(1, 12) n"
    keep names m_app "$start"
    is "S4 $1: the same names are started by another" "$(as m_app "$start")" 12
    goes_on "S4 $1"
    # of the group or the capability itself an instance ends, too
    wait_sql "$QUICK" "select exists (select from wf.instance_v where workflow = '$1' and state = 'END')"
    is "S4 $1: the transaction is still open" "$(sql "select state from pg_stat_activity
        where application_name = 'names'")" active
    let_go names
}
named grp g
named zoned z
held=$(begin held)
in_state "$held" exec.Run START_REQUESTED
keep suspends m_operator "select answer from wf.suspend('{\"instance\": $held}')"
: >"$WORK/open"
# the request ends now: its report cannot be applied, and holds nothing else up
wait_until 20 grep -q 'is answered: busy' "$WORK/driver-one.log"
goes_on 'S4 suspend'
goes_on 'S4 suspend, again'
is 'S4 suspend: the request waits for whoever holds its instance' "$(state_of "$held")" 'RUNNING'
is 'S4 suspend: the driver lives' "$(sql "select count(*) from wf.driver_v
    where name = 'one' and state = 'live'")" 1
let_go suspends
ok 'S4 suspend: it ends when the transaction has' ended "$held"
is 'S4 suspend: and well' "$(state_of "$held")" 'END success'
driver_stop one
sound
done_testing
