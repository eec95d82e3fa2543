#!/usr/bin/env bash
# open_transaction.t - an operator's transaction stays open that holds two
# instances whose requests end meanwhile; two drivers work on others under load.
# Nobody is given up, and the reports of the held instances are applied once the
# transaction has ended. No driver stands still meanwhile. The long form also
# compares rates: others go on as beside a transaction that is open as long and
# holds nothing: the server removes no dead rows while any is open, and bench row 6
# measures what that costs. (The short form runs beside other tests, which have more
# of the machine at one time than at another: its rates say nothing.)
. "$(dirname "$0")/lib.sh"

campaign open_transaction 1 4 "$@"
DRIVERS=(one two)
LEASE_SECONDS=5
HOLD_SECONDS=$((4 * LEASE_SECONDS))
[ "${CHAOS_FORM:-short}" = short ] || HOLD_SECONDS=120
STANDSTILL_LIMIT=3 # seconds in which a driver commits nothing
RATE_LIMIT=95 # percent of the rate beside the other one
world
# The three SQL tasks of a held instance keep a slot and a connection each while
# they wait. They are few of all, or the rate of others would tell of that.
DRIVER_OPTIONS+=(-o "sql_connection=user=etl" -o sql_connections=20 -o slots=64)
FILES_MORE=$((64 + 20 + 4))
drivers_begin

# others_run: instances that nobody holds are started all the time. More of their
# tasks wait than all slots take, also where those of the held instances are counted.
others_run() {
    while sleep 0.1; do
        load load 300 base "$BASE" ms 8 n 40
        load write 400 base "$BASE" n 40
    done
}

# begin WORKFLOW N: an instance that is going to be held; prints its number.
begin() {
    sql "select wf.start('$1', jsonb_build_object('base', $BASE,
        'queue', 'default', 'n', $2))" | tee -a "$HEARD"
}

# hold_instances: holds two instances, in $held, that have requests under way.
# Where their requests had ended before the hold, the transaction divides by 0, which
# ends it, and two others are held. The transaction itself counts the reports that were
# applied while it held them: nobody else knows when it has ended.
hold_instances() {
    local try reports
    for ((try = 0; try < 20; try++)); do
        held=$(begin call 60),$(begin wait 3)
        wait_sql 2 "select count(distinct instance_id) = 2 from wf.lease
            where instance_id in ($held)" || continue
        reports="select 'applied', count(*) from wf.event where state = 'END'
            and process_id is not null and instance_id in ($held)"
        if held_open "select count(*)
                from wf.suspend('{\"instance\": [$held]}', 'held open');
            select 1 / count(*) as under_way from wf.lease
             where instance_id in ($held); $reports" "$reports"; then
            return
        fi
    done
    return 1
}

# ended CONDITION: how many tasks have ended, of the held instances or others.
ended() {
    sql "select count(*) from wf.event
          where state = 'END' and process_id is not null and $1"
}

# hold_open QUERY [LAST]: a transaction that ends only HOLD_SECONDS after this query,
# and asks another one last.
hold_open() {
    psql --no-psqlrc --quiet --tuples-only --no-align --command="begin; $1;
        select pg_sleep($HOLD_SECONDS) as held_open; ${2:+$2;} commit"
}

# held_open QUERY [LAST]: that transaction is open now; fails if the query has failed.
held_open() {
    spawn holder hold_open "$@"
    wait_until 20 is_open_or_gone
    from=$(now)
    ! is_gone "$(pid_of holder)"
}

is_open_or_gone() {
    is_gone "$(pid_of holder)" || sql_is_true "select exists (
        select from pg_stat_activity
         where wait_event = 'PgSleep' and query like '%held_open%')"
}

# held_end: waits for the end of that transaction; in $others, how many tasks of
# others ended meanwhile.
held_end() {
    wait "$(pid_of holder)" || true
    until_then=$(now)
    others=$(ended "instance_id not in (${held:-0})
        and at between '$from' and '$until_then'")
}

# stood_still: the longest time in which a driver committed nothing during the hold.
stood_still() {
    sql "select round(extract(epoch from max(x.gap)), 3)
        from (select t.at - lag(t.at) over (partition by t.driver_id order by t.at) as gap
                from (select t.driver_id, t.at from wf.txn t
                       where t.driver_id is not null and t.at between '$from' and '$until_then'
                      union all
                      select d.id, e.at from wf.driver d, (values
                          (timestamptz '$from'), ('$until_then')) e (at)) t) x"
}

now() {
    sql 'select clock_timestamp()'
}

answered_busy() {
    cat "$WORK"/driver-*.log | grep -c 'is answered: busy' || true
}

spawn others others_run
wait_sql 60 "select count(*) > 200 from wf.event where state = 'END'"
beside=0 during=0 within=0 applied=0 leaked=0 busy=0

# one_that_holds_nothing: the rate of others beside such a transaction.
one_that_holds_nothing() {
    sql 'vacuum' # each begins without dead rows
    held_open 'select pg_current_xact_id()'
    held_end
    beside=$((beside + others))
}

# one_that_holds: the same beside one that holds instances with requests under way.
one_that_holds() {
    local busy_before
    busy_before=$(answered_busy)
    sql 'vacuum'
    hold_instances
    within=$((within + $(sql "select count(*) from wf.lease
        where instance_id in ($held)")))
    held_end
    during=$((during + others))
    stood_still >>"$WORK/standstills"
    busy=$((busy + $(answered_busy) - busy_before))
    leaked=$((leaked + $(awk -F '|' '$1 == "applied" { n = $2 - before; before = $2 }
        END { print n }' "$WORK/holder.log")))
    wait_sql 60 "select not exists (select from wf.lease
        where instance_id in ($held))" || true
    applied=$((applied + $(ended "instance_id in ($held) and at > '$from'")))
    sql "select count(*) from wf.resume('{\"instance\": [$held]}')" \
        >"$WORK/resumed"
}

# The machine gets faster or slower as time passes: each is first every other time.
for ((fault = 0; fault < FAULTS; fault++)); do
    if ((fault % 2 == 0)); then
        one_that_holds_nothing
        one_that_holds
    else
        one_that_holds
        one_that_holds_nothing
    fi
done
stop others || true
all_end 120

figure faults "$FAULTS"
figure hold_seconds "$HOLD_SECONDS"
figure within "$within"
figure busy "$busy"
figure applied "$applied"
figure others_beside "$beside"
figure others_during "$during"
standstill=$(sort -g "$WORK/standstills" | tail -n 1)
figure standstill "$standstill"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I6 I7 I8 I9
not_blind
drivers_hold
happened "$within" 'requests of the held instance were under way'
is 'none of its reports was applied meanwhile' "$leaked" 0
ok 'reports of the held instance were applied afterwards' test "$applied" -ge "$within"
happened "$busy" 'drivers were told that it is held'
is 'no driver was given up or registered again' \
    "$(sql "select count(*), count(*) filter (where state = 'live')
              from wf.driver")" '2|2'
is 'nothing was lost' "$(sql "select * from wf.event
    where event in ('lost', 'late') limit 10")" ''
in_time 'no driver stood still without a commit' \
    "$(sql "select round(1000 * $standstill)")" $((1000 * STANDSTILL_LIMIT))
[ "${CHAOS_FORM:-short}" = short ] ||
    ok "others went on: $during tasks, and $beside beside a transaction that holds nothing" \
        test $((100 * during)) -ge $((RATE_LIMIT * beside))
campaign_end
