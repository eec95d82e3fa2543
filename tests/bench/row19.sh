# shellcheck shell=bash
# row19.sh - what failure costs: policies that are never needed, steps that fail once

row_19() {
    local workflows run
    workflows=$(count 20000)
    for ((run = 1; run <= RUNS; run++)); do
        workspace_fresh "$BENCH/three.wf"
        work_rate 19 plain "$workflows"
        retried_rate careful "$workflows" 0
        retried_rate stumbling "$workflows" $((3 * workflows))
    done
}

# retried_rate WORKFLOW WORKFLOWS RETRIES: the same with other steps. That so many
# retries have taken place is made sure of.
retried_rate() {
    workspace_fresh "$BENCH/retry.wf"
    begin_many "$1" "$2"
    finish_begun 19 "$1" "$2"
    [ "$(sql "select count(*) from wf.event_v where event = 'retry'")" = "$3" ]
}
