# shellcheck shell=bash
# row12.sh - looking around in the workspace of row 5
#
# What the statements of wf-console take, each in a session that has just begun,
# as the console's are.

row_12() {
    local run
    LOOKS=$(count 10 2)
    full_begin
    login_create bench_viewer wf_viewer
    sql 'alter role bench_viewer set log_statement_stats = on'
    for ((run = 1; run <= RUNS; run++)); do
        explain_each
        look_often tree tree "$(sql "select instance_id
            from wf.instance_v where workflow = 'tree'")"
        look_often list list
        look_often list_running list --state RUNNING
        look_often list_failed list --failed
        look_often list_workflow list --workflow tree
    done
    full_end
}

# Tasks of each kind, by what they are waiting for.
explain_each() {
    explain_some sleeps 'from wf.timer'
    explain_some element "from wf.task_v where instance_id = (
        select instance_id from wf.instance_v where workflow = 'tree')"
    explain_some waits 'from wf.parked'
    explain_some flies 'from wf.lease'
    explain_some ended "from wf.task_v where state = 'END'
        and instance_id in (select floor(random() * i.instance_id)
           from (select max(instance_id) from wf.instance_v) i (instance_id),
                generate_series(1, 20))"
}

# explain_some FIGURE WHERE: so many of them.
explain_some() {
    local target
    log_mark
    sql "select instance_id || '/' || process_id $2
          order by random() limit $LOOKS" |
        while read -r target; do
            look explain "$target"
        done
    looked "explain_$1"
}

# look_often FIGURE COMMAND…: so many times.
look_often() {
    local figure=$1 k
    shift
    log_mark
    for ((k = 1; k <= LOOKS; k++)); do
        look "$@"
    done
    looked "$figure"
}

look() {
    PGUSER=bench_viewer wf-console "$@" </dev/null >"$WORK/look.out" 2>&1
}

log_mark() {
    LOG_MARK=$(wc -c <"$WORK/pg/server.log")
}

# looked FIGURE: what all statements of a session took since log_mark, in the
# server; the median of the sessions, the longest, and the median of the CPU.
looked() {
    tail -c "+$((LOG_MARK + 1))" "$WORK/pg/server.log" |
        awk '$2 == "DETAIL:" { session = $1 }
            / s elapsed$/ { ms[session] += $8 * 1000
                cpu[session] += ($2 + $5) * 1000 }
            END { for (session in ms) print ms[session], cpu[session] }' \
            >"$WORK/looks"
    cut -d ' ' -f 1 "$WORK/looks" | sort -n >"$WORK/delays"
    figure 12 "$1" "$(percentile 50)"
    figure 12 "${1%%_*}_max" "$(percentile 100)"
    cut -d ' ' -f 2 "$WORK/looks" | sort -n >"$WORK/delays"
    figure 12 "${1%%_*}_cpu" "$(percentile 50)"
}
