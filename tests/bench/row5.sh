# shellcheck shell=bash
# row5.sh - row 1 with a past and much under way, beside an empty workspace

row_5() {
    local workflows run
    workflows=$(count 20000)
    for ((run = 1; run <= RUNS; run++)); do
        workspace_fresh "$BENCH/three.wf"
        work_rate 5 empty "$workflows"
        full_begin
        work_rate 5 full "$workflows"
        full_end
    done
}
