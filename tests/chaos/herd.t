#!/usr/bin/env bash
# herd.t - the server was away, and is back with thousands of tasks that can
# begin at once, for eight drivers that come all together: no deadlock, no more
# connections than they are allowed, and all of it is done.
. "$(dirname "$0")/lib.sh"

campaign herd 1 5 "$@"
TASKS=1000 AWAY=1
[ "${CHAOS_FORM:-short}" = short ] || TASKS=10000 AWAY=30
CONNECTIONS=2 # of each driver, and one for its sign of life
world
server_adopt
DRIVERS=(one two three four five six seven eight)
DRIVER_OPTIONS+=(-o slots=16 -o "connections=$CONNECTIONS")
drivers_begin

# busiest: how many connections drivers have, at most, until all is done.
busiest() {
    local now most=0 deadline=$((SECONDS + 600))
    until sql_is_true "select not exists (select from wf.instance_v
        where state = 'RUNNING')" || [ "$SECONDS" -ge "$deadline" ]; do
        now=$(sql "select count(*) from pg_stat_activity
                    where usename like 'wf\\_driver\\_%'")
        [ "$now" -le "$most" ] || most=$now
        sleep 0.1
    done
    printf '%d\n' "$most"
}

server_stops() {
    kill -s INT "$(pid_of postmaster)"
    wait "$(pid_of postmaster)" 2>/dev/null || true
}

# Each driver has found the server again.
are_back() {
    wait_sql 60 "select count(distinct usename) = ${#DRIVERS[@]}
        from pg_stat_activity where usename like 'wf\\_driver\\_%'"
}

ready=0 most=0
: >"$WORK/drain"
for ((fault = 0; fault < FAULTS; fault++)); do
    sql "select wf.engine_pause('all at once')" >/dev/null
    sql "select wf.start('herd', jsonb_build_object('base', $BASE, 'n', 1000))
           from generate_series(1, $TASKS / 1000)" >>"$HEARD"
    ready=$((ready + $(sql 'select count(*) from wf.ready')))
    since=$EPOCHREALTIME
    server_stops
    sleep "$AWAY"
    server_writes "$EPOCHREALTIME" >>"$WORK/recovery"
    was_away "$since"
    are_back
    sql "select wf.engine_resume('all at once')" >/dev/null
    from=$EPOCHREALTIME
    now=$(busiest)
    awk "BEGIN { printf \"%.0f\n\", $TASKS / ($EPOCHREALTIME - $from) }" \
        >>"$WORK/drain"
    [ "$now" -le "$most" ] || most=$now
done
all_end 120

figure faults "$(wc -l <"$WORK/recovery")"
figure ready "$ready"
figure connections_max "$most"
figure tasks_per_s_min "$(sort -n "$WORK/drain" | head -n 1)"
deadlocks=$(sql "select sum(deadlocks) from pg_stat_database")
figure deadlocks "$deadlocks"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I9
not_blind
drivers_hold
happened "$(wc -l <"$WORK/recovery")" 'the server was away' "$FAULTS"
drivers_come_back
is "all of $ready tasks could begin at once" "$ready" $((FAULTS * TASKS))
is 'nobody waited for ever for anybody' "$deadlocks" 0
ok 'drivers keep to their connections' \
    test "$most" -le $((${#DRIVERS[@]} * (CONNECTIONS + 1)))
is 'all drivers took part' "$(sql "select count(distinct d.name)
    from wf.event e join wf.txn x using (xid) join wf.driver d on d.id = x.driver_id
   where e.event = 'success'")" "${#DRIVERS[@]}"
campaign_end
