# shellcheck shell=bash
# row8.sh - row 1 with 1 to 64 drivers, after each has polled a hundred times

row_8() {
    local workflows drivers run
    workflows=$(count 20000)
    for drivers in 1 2 4 16 64; do
        # at a small scale there is not enough work for many
        [ "$drivers" -eq 1 ] || [ $((workflows / drivers)) -ge 100 ] || continue
        workspace_fresh "$BENCH/three.wf"
        drivers_begin "$drivers"
        warm_up "$drivers" "$(count 100 1)"
        for ((run = 1; run <= RUNS; run++)); do
            together "$drivers" "$workflows"
        done
        drivers_end "$drivers"
        figure 8 deadlocks "$(sql "select deadlocks from pg_stat_database
            where datname = current_database()")"
    done
}

drivers_begin() {
    local k
    for ((k = 1; k <= $1; k++)); do
        driver_start "$k" -o log_level=info
    done
}

drivers_end() {
    local k
    for ((k = 1; k <= $1; k++)); do
        driver_stop "$k"
    done
}

# warm_up DRIVERS POLLS: work until each has polled so often.
warm_up() {
    statements_count top
    until [ "$(polls_at_least "$2")" = "$1" ]; do
        begin_many three "$(count 3000)"
        all_ended
    done
    statements_count none
}

# polls_at_least COUNT: how many drivers have asked so often.
polls_at_least() {
    sql "select count(*) from (
             select s.userid from pg_stat_statements s
              where s.query like '%from wf.poll(%'
              group by s.userid having sum(s.calls) >= $1) d" --dbname=postgres
}

# together DRIVERS WORKFLOWS: all fall upon the same full queue at once.
together() {
    sql 'select wf.engine_pause()' >/dev/null
    begin_many three "$2"
    meter_start
    sql 'select wf.engine_resume()' >/dev/null
    all_ended
    meter_stop
    figure 8 "drivers_$1_cpu" "$(calc "$METER_SERVER / (3 * $2) * 1000")"
    figure 8 "drivers_$1" "$(sql "select 3 * $2 / extract(epoch from
            max(i.ended_at) - (select e.since from wf.engine_v e))
        from wf.instance_v i where i.instance_id > $BEFORE")"
}
