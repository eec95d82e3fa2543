#!/usr/bin/env bash
# retry_storm.t - thousands of tasks are refused by their service, or time out,
# and wait to be tried again. Meanwhile all drivers are killed and away, the
# server is killed, or both, or its standby is promoted:
# each task has the attempts and the result that its policies say, and none of
# them begins before its time.
. "$(dirname "$0")/lib.sh"

[ "${CHAOS_FORM:-short}" = long ] ||
    skip_all 'it takes minutes: ./dev chaos retry_storm'
campaign retry_storm 2 12 "$@"
TASKS=500
FAILOVERS=$((FAULTS / 3))
DUE=$((TASKS / 3)) # so many retries wait before an outage; some may still be taken
if [ "$FAILOVERS" -gt 0 ]; then
    PAIR_SETTINGS=('track_commit_timestamp = on')
    pair_world
else
    world 'track_commit_timestamp = on'
    PRIMARY=pg
fi
server_adopt
# no task is to blame for so many kills, and none is to be put off
sql "select wf.setting_set('loss_limit', 0)"
wf-console install "$CHAOS/data/storm.wf" >>"$WORK/console.log"
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --file="$CHAOS/storm.sql"
DRIVER_OPTIONS+=(-o slots=16 -o queues=default) # nobody serves that of storm_wait
drivers_begin
# what the witnesses are tried on; it ends before the first fault
load load 40 base "$BASE" ms 0 n 2
wait_sql 60 "select not exists (select from wf.instance_v where state = 'RUNNING')"

# storm: tasks of each sort, when all drivers are there, until many of them wait for
# another attempt.
storm() {
    wait_sql 60 "select count(distinct usename) = ${#DRIVERS[@]}
        from pg_stat_activity where usename like 'wf\\_driver\\_%'"
    sql "select wf.start_many(x.workflow, jsonb_agg(jsonb_build_object('base', $BASE)))
           from (values ('storm_once', $TASKS), ('storm_twice', $TASKS),
                        ('storm_spent', $TASKS), ('storm_deadline', $((TASKS / 10))),
                        ('storm_silent', $((TASKS / 10))),
                        ('storm_wait', $((TASKS / 10)))) x (workflow, n)
          cross join generate_series(1, x.n)
          group by x.workflow" >>"$HEARD"
    wait_sql 60 "select count(*) >= $DUE from wf.timer where kind = 'retry'" || true
}

# kill_drivers: all at once, and wait until their sessions have ended.
kill_drivers() {
    local name requests=0
    for name in "${DRIVERS[@]}"; do
        kill -s STOP "$(pid_of "driver-$name")"
    done
    for name in "${DRIVERS[@]}"; do
        driver_kill "$name"
        requests=$((requests + HELD))
    done
    at_work "$requests"
    wait_sql 60 "select not exists (select from pg_stat_activity
        where usename like 'wf\\_driver\\_%')"
}

drivers_again() {
    local name
    for name in "${DRIVERS[@]}"; do
        driver_again "$name"
    done
}

# all_due: wait until all retries that nobody takes now are due.
all_due() {
    wait_sql 60 "select not exists (select from wf.timer
        where kind = 'retry' and due_at > now())"
}

# foresee: DUE_AT is when all retries that wait now will be due; is_due: it is.
foresee() {
    DUE_AT=$(sql "select extract(epoch from max(due_at)) from wf.timer
        where kind = 'retry'")
    at_work "$(in_flight)"
}

is_due() {
    awk "BEGIN { exit !($EPOCHREALTIME >= $DUE_AT) }"
}

# outage KIND FROM TO: nothing could begin meanwhile.
outage() {
    sql "insert into chaos.outage
         values ('$1', to_timestamp($2), to_timestamp($3))"
}

# No driver is there; the server is killed meanwhile.
drivers_away() {
    local from to
    kill_drivers
    from=$EPOCHREALTIME
    server_kill
    server_writes "$from" >>"$WORK/recovery"
    all_due
    to=$EPOCHREALTIME
    drivers_again
    outage drivers "$from" "$to"
}

# The server is not there; drivers wait for it.
server_away() {
    local from to
    foresee
    server_kill
    from=$EPOCHREALTIME
    wait_until 60 is_due
    to=$EPOCHREALTIME
    server_writes "$from" >/dev/null
    was_away "$from"
    outage server "$from" "$to"
}

# The same, and its standby takes its place.
primary_gone() {
    local from to
    foresee
    pg_kill "$PRIMARY"
    wait "$(pid_of postmaster)" 2>/dev/null || true
    from=$EPOCHREALTIME
    wait_until 60 is_due
    to=$EPOCHREALTIME
    fail_over
    outage failover "$from" "$to"
    pg_standby_start "$STANDBY" "$PRIMARY"
    pg_synchronous "$PRIMARY" "$STANDBY"
}

for ((fault = 0; fault < FAULTS; fault++)); do
    if [ "$FAILOVERS" -gt 0 ] && [ "$fault" -eq $((FAULTS - FAILOVERS)) ]; then
        pg_synchronous "$PRIMARY" "$STANDBY"
    fi
    storm
    if [ "$fault" -ge $((FAULTS - FAILOVERS)) ]; then
        primary_gone
    elif [ $((fault % 2)) -eq 0 ]; then
        drivers_away
    else
        server_away
    fi
done
all_end 120

# rows QUERY: what is wrong, ten of it at most.
rows() {
    sql "$1 limit 10"
}

figure faults "$(sql 'select count(*) from chaos.outage')"
figure held_up "$(sql 'select count(*) from chaos.held_up')"
figure taken_ms_max "$(sql 'select round(extract(epoch from max(began_at - to_at)) * 1000)
    from chaos.held_up')"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I7 I9
not_blind
drivers_hold
is 'each outage was one' "$(sql 'select count(*) from chaos.outage')" "$FAULTS"
is 'each held many retries up' "$(rows "select o.kind, count(h.due)
    from chaos.outage o left join chaos.held_up h using (from_at)
   group by o.kind, o.from_at having count(h.due) < $((DUE / 2))")" ''
is 'none of them was taken before its end' "$(rows 'select *
    from chaos.held_up where began_at < to_at')" ''
is 'all retries were taken, but those whose deadline came first' \
    "$(rows "select * from chaos.retried
    where began_at is null and workflow <> 'storm_deadline'")" ''
# a deadline is looked at once a second: an attempt that is due may be quicker
is 'each task had as many attempts as its policy allows' "$(rows 'select t.*
    from chaos.stormed t join chaos.policy p using (workflow)
   where t.attempts <> p.attempts')" ''
is 'most tasks with a deadline were tried before it' "$(sql "select count(*) filter (where t.attempts > 0) > count(*) / 2
    from chaos.stormed t where t.workflow = 'storm_deadline'")" t
is 'each ended as its policy says' "$(rows 'select t.*
    from chaos.stormed t join chaos.policy p using (workflow)
   where t.result is distinct from p.result or t.kind is distinct from p.kind')" ''
is 'time limits are those that were reached' "$(rows "select t.* from chaos.stormed t
   where t.time_limit is distinct from case t.workflow
             when 'storm_deadline' then 'deadline' when 'storm_wait' then 'wait' end")" ''
is 'none of them came early' "$(rows "select t.* from chaos.stormed t
   where t.ended_at < t.started_at + case t.workflow
             when 'storm_deadline' then '5 s' when 'storm_wait' then '1 s'
             when 'storm_silent' then '2 s' else '0 s' end::interval")" ''
is 'no attempt began before its time' \
    "$(rows 'select r.* from chaos.retried r where r.began_at < r.due')" ''
is 'each delay is within its jitter' "$(rows 'select r.* from chaos.retried r
   where r.delay not between r.least - 0.000001 and r.most + 0.000001')" ''
is 'delays use all of their jitter' "$(rows "select r.workflow, r.attempt, min(r.delay), max(r.delay)
    from chaos.retried r
   where r.workflow in ('storm_once', 'storm_twice', 'storm_spent')
   group by r.workflow, r.attempt, r.least, r.most
  having max(r.delay) - min(r.delay) < 0.9 * (r.most - r.least)")" ''
is 'nobody was needed' "$(rows "select e.* from wf.event e
   where e.event = 'retry' and e.detail ->> 'due_at' is null")" ''
is 'something of each sort was tried' "$(sql "select count(distinct workflow)
    from chaos.stormed")" 6
came_at_work 'outages came' 1
drivers_come_back
campaign_end
