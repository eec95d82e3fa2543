# shellcheck shell=bash
# row10.sh - statements for a task of row 1

row_10() {
    local workflows run
    workflows=$(count 20000)
    for ((run = 1; run <= RUNS; run++)); do
        workspace_fresh "$BENCH/three.wf"
        begin_many three "$workflows"
        statements_count all
        driver_begin
        all_ended
        figure 10 top "$(calc "$(statements toplevel) / ($workflows * 3)")"
        figure 10 nested "$(calc "$(statements 'not toplevel') / ($workflows * 3)")"
        statements_count none
        driver_end
    done
}
