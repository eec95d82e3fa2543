# shellcheck shell=bash
# row22.sh - 20,000 signals to as many waiting instances, and beside a million more;
# 10,000 started by one

row_22() {
    local signals children run begin
    signals=$(count 20000)
    children=$(count 10000)
    printf '%s\n' 'workflow ear() { wf.WaitSignal(name = "go") }' >"$WORK/ear.wf"
    cat >"$WORK/family.wf" <<'END'
workflow family(children: int) {
  forall(n in 1..children) {
    wf.Start(workflow = "child")
  }
}

workflow child() { wf.Noop() }
END
    for ((run = 1; run <= RUNS; run++)); do
        bare_queue 22 "$(count 60000)" 2
        bare_queue 22 "$(count 60000)" 4
        workspace_fresh "$WORK/ear.wf"
        begin_many ear "$signals"
        driver_begin
        begin=$EPOCHREALTIME
        sql "select count(wf.signal(to_jsonb(i.instance_id), 'go'))
               from wf.instance_v i" >/dev/null
        figure 22 sent "$(calc "$signals / ($EPOCHREALTIME - $begin)")"
        all_ended
        figure 22 taken "$(calc "$signals / ($EPOCHREALTIME - $begin)")"
        driver_end
        workspace_fresh "$WORK/family.wf"
        begin_each family 1 "'{\"children\": $children}'::jsonb"
        driver_begin
        begin=$EPOCHREALTIME
        all_ended
        figure 22 children "$(calc "$children / ($EPOCHREALTIME - $begin)")"
        driver_end
    done
    crowd_hears "$signals"
}

# crowd_hears SIGNALS: a million instances wait, and 10,000 schedules for the next year;
# what that costs while nothing happens, and so many signals to them.
crowd_hears() {
    local crowd left part seconds begin
    crowd=$(count 1000000)
    seconds=$(seconds 30 0.2)
    workspace_fresh "$WORK/ear.wf"
    driver_begin
    for ((left = crowd; left > 0; left -= part)); do
        part=$((left < 50000 ? left : 50000))
        begin_many ear "$part"
    done
    sql "select count(wf.schedule_set('s' || n, 'ear', '0 0 1 1 *'))
           from generate_series(1, $(count 10000)) n" >/dev/null
    wait_sql 600 "select count(*) = $crowd from wf.timer"
    sql 'vacuum analyze'
    sql 'checkpoint'
    rest 2 # the driver falls asleep by and by
    wait_sql 300 "select not exists (select from pg_stat_activity where backend_type = 'autovacuum worker')"
    meter_start
    sleep "$seconds"
    meter_stop
    figure 22 crowd_idle "$(calc "$METER_SERVER / $seconds * 100")"
    begin=$EPOCHREALTIME
    sql "select count(wf.signal(to_jsonb(i.id), 'go'))
           from wf.instance i where i.id % $((crowd / $1)) = 0" >/dev/null
    wait_sql 300 "select not exists (select from wf.work where kind = 'signal')"
    figure 22 crowd_taken "$(calc "$1 / ($EPOCHREALTIME - $begin)")"
    driver_end
}
