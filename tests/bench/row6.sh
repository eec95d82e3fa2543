# shellcheck shell=bash
# row6.sh - row 1 while somebody holds a snapshot, which keeps the dead rows

row_6() {
    local workflows run
    workflows=$(count 20000)
    for ((run = 1; run <= RUNS; run++)); do
        workspace_fresh "$BENCH/three.wf"
        work_rate 6 free "$workflows"
        workspace_fresh "$BENCH/three.wf"
        snapshot_hold
        work_rate 6 held "$workflows"
        stop snapshot || true
    done
}

# A transaction that has looked once and stays open.
snapshot_hold() {
    spawn snapshot psql --no-psqlrc --quiet \
        --command='begin isolation level repeatable read' \
        --command='select count(*) from wf.ready' \
        --command='select pg_sleep(86400)'
    wait_sql 10 "select exists (select from pg_stat_activity a
        where a.backend_xmin is not null and a.query like '%86400%'
          and a.pid <> pg_backend_pid())"
}
