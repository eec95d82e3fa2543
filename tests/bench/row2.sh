# shellcheck shell=bash
# row2.sh - latency on an idle system

row_2() {
    local samples run
    samples=$(count 200 10)
    workspace_fresh "$BENCH/get.wf" "$BENCH/three.wf"
    spawn clock perl "$BENCH/clock_server" "$WORK/clock"
    wait_until 10 test -s "$WORK/clock"
    driver_begin
    for ((run = 1; run <= RUNS; run++)); do
        first_request "$samples"
        next_step "$samples"
    done
    driver_end
    stop clock || true
}

# start_paced SAMPLES CALL: one start after the other, with a pause between them.
# pgbench notes when each commit was answered.
start_paced() {
    printf '\\sleep 30 ms\nselect %s;\n' "$2" >"$WORK/start.sql"
    rm -f "$WORK"/commits.*
    pgbench --no-vacuum --client=1 --transactions="$1" --log \
        --log-prefix="$WORK/commits" --file="$WORK/start.sql" \
        >"$WORK/pgbench.out" 2>&1
}

# start_slowly SAMPLES CALL: the same, while everybody falls asleep in each pause.
start_slowly() {
    start_paced "$@"
    all_ended
}

# From the commit of start to the arrival of its request at a server.
first_request() {
    local before
    before=$(sql 'select coalesce(max(instance_id), 0) from wf.instance_v')
    start_slowly "$1" "wf.start('get', '{\"url\": \"$(head -n 1 "$WORK/clock")\"}')"
    request_delays "$before"
    figure 2 start_p50 "$(percentile 50)"
    figure 2 start_p99 "$(percentile 99)"
}

# request_delays BEFORE: that of each later instance, in ms, in $WORK/delays.
request_delays() {
    paste -d ' ' <(arrivals "$1") \
        <(awk '{ printf "%d%06d\n", $5, $6 }' "$WORK"/commits.*) |
        awk '{ print ($1 - $2) / 1000 }' | sort -n >"$WORK/delays"
}

# arrivals BEFORE: of the requests of later instances, in order of instance, in
# microseconds; the server noted them with their Idempotency-Key, which begins
# with the instance's trace id.
arrivals() {
    sql "select trace_id, instance_id from wf.instance_v
          where instance_id > $1" |
        awk -F '[| ]' 'NR == FNR { id[$1] = $2; next }
            (trace = substr($2, 1, 36)) in id { print id[trace], $1 }' \
            - "$WORK/clock" | sort -n | cut -d ' ' -f 2
}

# From the start of a step to the start of the next, as the history has it: the
# driver is handed the first, carries it out, reports it, is handed the second.
next_step() {
    local before
    before=$(sql 'select coalesce(max(instance_id), 0) from wf.instance_v')
    start_slowly "$1" "wf.start('three')"
    sql "select extract(epoch from e.at - lag(e.at) over (
                    partition by e.instance_id order by e.seq)) * 1000
           from wf.event_v e
          where e.instance_id > $before and e.event = 'start'
            and e.process_id is not null" |
        sed '/^$/d' | sort -n >"$WORK/delays"
    figure 2 step_p50 "$(percentile 50)"
    figure 2 step_p99 "$(percentile 99)"
}
