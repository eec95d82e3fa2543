# shellcheck shell=bash
# row21.sh - a forall of 1,000,000 elements and a loop of 100,000 rounds that never
# wait, and others meanwhile

row_21() {
    local run elements rounds samples
    # fewer are done in one transaction, which the history says takes no time
    elements=$(count 1000000 5000)
    rounds=$(count 100000 10000)
    samples=$(count 200 10)
    printf '%s\n' 'workflow wide(n: int) { forall(i in 1..n) { let x = i } }' \
        'workflow long(n: int) {' \
        '  while<max = n>(s = 0; s < n) { let x = s + 1 } yield x as r' \
        '}' >"$WORK/wide.wf"
    for ((run = 1; run <= RUNS; run++)); do
        bare_queue 21 "$(count 60000)" 2
        bare_queue 21 "$(count 60000)" 4
        workspace_fresh "$WORK/wide.wf" "$BENCH/get.wf"
        spawn clock perl "$BENCH/clock_server" "$WORK/clock"
        wait_until 10 test -s "$WORK/clock"
        driver_begin
        never_waits "$elements" "$samples"
        loops "$rounds"
        driver_end
        stop clock || true
        : >"$WORK/clock"
    done
}

# never_waits ELEMENTS SAMPLES: while one instance goes on by itself, others start.
never_waits() {
    local wide
    wide=$(sql "select wf.start('wide', '{\"n\": $1}')")
    start_paced "$2" "wf.start('get', '{\"url\": \"$(head -n 1 "$WORK/clock")\"}')"
    figure 21 under_way "$(sql "select count(*) from wf.instance_v
        where instance_id = $wide and state = 'RUNNING'")"
    wait_sql 600 "select not exists (select from wf.instance_v
        where state = 'RUNNING')"
    figure 21 rounds "$(sql "select $1 / extract(epoch from i.ended_at - i.started_at)
        from wf.instance_v i where i.instance_id = $wide and i.result = 'success'")"
    request_delays "$wide"
    figure 21 start_p50 "$(percentile 50)"
    figure 21 start_p99 "$(percentile 99)"
}

# loops ROUNDS: one loop alone.
loops() {
    local long
    long=$(sql "select wf.start('long', '{\"n\": $1}')")
    wait_sql 600 "select not exists (select from wf.instance_v
        where state = 'RUNNING')"
    figure 21 loop_rounds "$(sql "select $1 / extract(epoch from i.ended_at - i.started_at)
        from wf.instance_v i where i.instance_id = $long and i.result = 'success'")"
}
