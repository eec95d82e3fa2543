# shellcheck shell=bash
# row11.sh - a driver that has nothing to do

row_11() {
    local seconds run before
    seconds=$(seconds 20 0.2)
    workspace_fresh "$BENCH/three.wf"
    driver_begin
    begin_many three 100
    all_ended
    # it falls asleep by and by; within ten seconds it writes down what it has counted
    rest 12
    for ((run = 1; run <= RUNS; run++)); do
        statements_count top
        meter_start
        before=$(cpu_of_threads "$DRIVER")
        sleep "$seconds"
        figure 11 cpu "$(calc \
            "($(cpu_of_threads "$DRIVER") - $before) / $seconds * 100")"
        meter_stop
        figure 11 statements "$(calc "$(statements toplevel) / $seconds")"
        figure 11 server_cpu "$(calc "$METER_SERVER / $seconds * 100")"
        statements_count none
    done
    driver_end
}

# cpu_of_threads PID: CPU seconds to the nanosecond, where the kernel's ticks
# are too coarse.
cpu_of_threads() {
    awk '{ sum += $1 } END { print sum / 1e9 }' "/proc/$1"/task/*/schedstat
}
