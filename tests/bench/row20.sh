# shellcheck shell=bash
# row20.sh - what comes due at one moment: 100,000 timers, 10,000 retries, 10,000 schedules

row_20() {
    local timers retries schedules run period
    period=$(seconds 60 2)
    period=${period%.*}
    while [ $((60 % period)) != 0 ]; do # a minute is to have whole ones
        period=$((period - 1))
    done
    timers=$(count 100000)
    retries=$(count 10000)
    schedules=$(count 10000)
    printf '%s\n' 'workflow nap() { wf.WaitUntil(at = "2999-01-01T00:00:00Z") }' \
        'workflow quick() { return }' \
        'workflow ear() { wf.WaitSignal(name = "go") }' \
        'task bench.Trip() with idempotent {' \
        '  start builtin(op = ends_with(instance.attempt, "-1") ? "fail" : "noop")' '}' \
        'workflow trip() { bench.Trip() with retry(2, delay = 1h) }' >"$WORK/nap.wf"
    for ((run = 1; run <= RUNS; run++)); do
        bare_queue 20 "$(count 60000)" 2
        bare_queue 20 "$(count 60000)" 4
        workspace_fresh "$WORK/nap.wf"
        driver_begin
        begin_waiting nap sleep "$timers"
        fall_due timers sleep "$timers"
        all_ended
        begin_waiting trip retry "$retries"
        driver_end
        # what fires is measured: the attempts wait for a driver that serves their queue
        driver_begin -o queues=nobody
        fall_due retries retry "$retries"
        driver_end
        driver_begin
        all_ended
        driver_end
        workspace_fresh "$WORK/nap.wf"
        schedules_set quick allow "$schedules" "$period"
        driver_begin
        schedules_fire fired "$schedules" 1
        driver_end
        workspace_fresh "$WORK/nap.wf"
        schedules_set ear skip "$schedules" "$period"
        driver_begin
        schedules_fire '' "$schedules" 1
        wait_sql 60 "select not exists (select from wf.work where due_at <= now())"
        schedules_fire found "$schedules" 2
        # what remains of the starts is no part of what a minute takes
        sql 'vacuum analyze'
        meter_start
        # nobody counts what has fired while the CPU is metered
        sql "select pg_sleep(2 * $period + 1 + extract(epoch from max(nominal_at) - clock_timestamp()))
            from wf.firing" >/dev/null
        wait_sql 300 "select count(*) >= $schedules * 4 from wf.firing"
        meter_stop
        figure 20 finding "$(calc "$METER_SERVER / (2 * $period) * 100")"
        driver_end
    done
}

# begin_waiting WORKFLOW KIND COUNT: so many instances of a workflow come to wait.
begin_waiting() {
    begin_many "$1" "$3"
    wait_sql 300 "select count(*) = $3 from wf.timer where kind = '$2'"
}

# fall_due FIGURE KIND COUNT: the timers of this kind are due at one moment; how many
# fire in a second.
fall_due() {
    local at
    at=$(sql "update wf.timer set due_at = clock_timestamp() + interval '$(seconds 5 0.5) s' where kind = '$2';
        select extract(epoch from max(due_at)) from wf.timer")
    sql "select pg_sleep(greatest(0, $at - extract(epoch from clock_timestamp())))" >/dev/null
    wait_sql 300 "select not exists (select from wf.timer)"
    figure 20 "$1" "$(calc "$3 / ($EPOCHREALTIME - $at)")"
}

# schedules_set WORKFLOW OVERLAP COUNT PERIOD: so many that fire each minute, or each
# so many seconds, from the time after the next one on.
schedules_set() {
    local cron='* * * * *'
    [ "$4" = 60 ] || cron="*/$4 * * * * *"
    sql "select count(wf.schedule_set('s' || n, '$1', '$cron', p_overlap => '$2',
        p_start_at => to_timestamp(ceil(extract(epoch from now()) / $4 + 1) * $4))) from generate_series(1, $3) n" >/dev/null
    sql 'analyze'
}

# schedules_fire FIGURE COUNT TIMES: until each has fired so many times; how many did
# in a second.
schedules_fire() {
    wait_sql 300 "select count(*) >= $2 * $3 from wf.firing"
    [ -z "$1" ] ||
        figure 20 "$1" "$(sql "select $2 / extract(epoch from max(at) - max(nominal_at)) from wf.firing")"
}
