# shellcheck shell=bash
# row1.sh - 20,000 three-step workflows of no-op tasks, beside a bare queue

row_1() {
    local workflows tasks run
    workflows=$(count 20000)
    tasks=$((3 * workflows))
    for ((run = 1; run <= RUNS; run++)); do
        bare_queue 1 "$tasks" 2
        bare_queue 1 "$tasks" 4
        three_steps "$workflows" "$tasks"
    done
}

three_steps() {
    local rate
    workspace_fresh "$BENCH/three.wf"
    begin_many three "$1"
    meter_start
    driver_begin
    all_ended
    rate=$(work_figures 1 "$2")
    figure 1 tasks "$rate"
    figure 1 workflows "$(calc "$rate / 3")"
    driver_end
}

# bare_queue ROW JOBS CLIENTS: the same work as jobs of a queue.
bare_queue() {
    local transactions=$((($2 / 100 + $3 - 1) / $3)) begin end
    dropdb --if-exists --maintenance-db=postgres --force bare 2>/dev/null
    createdb --maintenance-db=postgres bare
    PGDATABASE=bare sql "create table job (id bigint primary key, driver int)
        with (fillfactor = 90)"
    PGDATABASE=bare sql "insert into job select generate_series(1, $2)"
    PGDATABASE=bare sql 'vacuum analyze job'
    sql 'checkpoint'
    meter_start
    begin=$EPOCHREALTIME
    pgbench --no-vacuum --protocol=prepared --client="$3" --jobs="$3" \
        --transactions="$transactions" --file="$BENCH/bare_queue.sql" bare \
        >"$WORK/pgbench.out" 2>&1
    end=$EPOCHREALTIME
    meter_stop
    figure "$1" "bare_$3" "$(calc "$((transactions * 100 * $3)) / ($end - $begin)")"
    figure "$1" bare_cpu \
        "$(calc "$METER_SERVER / $((transactions * 100 * $3)) * 1000")"
}
