# shellcheck shell=bash
# row7.sh - row 1 after install, statistics of empty and full queues, ten minutes of churn

row_7() {
    local workflows run
    workflows=$(count 20000)
    for ((run = 1; run <= RUNS; run++)); do
        workspace_fresh "$BENCH/three.wf"
        work_rate 7 installed "$workflows"

        workspace_fresh "$BENCH/three.wf"
        sql 'vacuum analyze'
        work_rate 7 empty "$workflows"

        workspace_fresh "$BENCH/three.wf"
        begin_many three "$workflows"
        sql 'vacuum analyze'
        finish_begun 7 filled "$workflows"
    done
    workspace_new wf_churned "$BENCH/three.wf"
    churn "$(seconds 600 0.2)"
    for ((run = 1; run <= RUNS; run++)); do
        work_rate 7 churned "$workflows"
    done
    workspace_drop wf_churned
}

# churn SECONDS: queues that fill and run empty, thousands of workflows each.
churn() {
    local begin=$EPOCHREALTIME done=0 portion
    portion=$(count 5000)
    driver_begin
    while [ "$(calc "$EPOCHREALTIME - $begin < $1")" = 1 ]; do
        begin_many three "$portion"
        all_ended
        done=$((done + portion))
    done
    driver_end
    figure 7 churn_seconds "$(calc "$EPOCHREALTIME - $begin")"
    figure 7 churn_workflows "$done"
}
