# shellcheck shell=bash
# row18.sh - latency while the system has half the work that it can do

row_18() {
    local run samples workflows
    samples=$(count 200 10)
    workflows=$(count 20000)
    for ((run = 1; run <= RUNS; run++)); do
        workspace_fresh "$BENCH/get.wf" "$BENCH/three.wf"
        work_rate 18 alone "$workflows"
        spawn clock perl "$BENCH/clock_server" "$WORK/clock"
        wait_until 10 test -s "$WORK/clock"
        wal_worn_in
        driver_begin
        under_load "$samples" "$(tail -n 2 "$FIGURES" |
            awk '$2 == "alone" { print $3 / 2 }')"
        driver_end
        stop clock || true
        : >"$WORK/clock"
    done
}

# under_load SAMPLES RATE: single instances while others start workflows of three
# tasks, RATE tasks a second.
under_load() {
    local before
    printf '%s\n' "select count(*) from wf.start_many('three',
        (select jsonb_agg('{}'::jsonb) from generate_series(1, 20)));" |
        tr '\n' ' ' >"$WORK/background.sql"
    spawn background pgbench --no-vacuum --client=2 --rate="$(calc "$2 / 60")" \
        --time=600 --file="$WORK/background.sql"
    rest 2 # it is to be under way
    before=$(sql 'select max(instance_id) from wf.instance_v')
    start_paced "$1" "wf.start('get', '{\"url\": \"$(head -n 1 "$WORK/clock")\"}')"
    # few samples are taken before two of the others have come
    wait_sql 60 "select count(distinct started_at) > 1 from wf.instance_v
        where instance_id > $before and workflow = 'three'"
    figure 18 background "$(sql "select count(*) * 3 / extract(epoch from
        max(i.started_at) - min(i.started_at)) from wf.instance_v i
        where i.instance_id > $before and i.workflow = 'three'")"
    stop background || true
    all_ended
    request_delays "$before"
    figure 18 start_p50 "$(percentile 50)"
    figure 18 start_p99 "$(percentile 99)"
}
