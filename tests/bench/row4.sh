# shellcheck shell=bash
# row4.sh - forall over 10,000 and 100,000 no-op tasks, then what joins them

row_4() {
    local few many run before after
    few=$(count 10000)
    many=$(count 100000)
    for ((run = 1; run <= RUNS; run++)); do
        bare_queue 4 "$(count 60000)" 2
        bare_queue 4 "$(count 60000)" 4
        workspace_fresh "$BENCH/fan.wf"
        sql 'checkpoint'
        driver_begin
        figure 4 few "$(children "$few")"
        before=$(peak_memory "$DRIVER")
        figure 4 many "$(children "$many")"
        after=$(peak_memory "$DRIVER")
        figure 4 driver_memory "$after"
        figure 4 memory_grows "$(calc "$after - $before")"
        driver_end
    done
}

# children COUNT: per second, of one instance.
children() {
    local id
    id=$(sql "select wf.start('fan', '{\"n\": $1}')")
    all_ended
    sql "select $1 / extract(epoch from i.ended_at - i.started_at)
           from wf.instance_v i where i.instance_id = $id and i.result = 'success'"
}
