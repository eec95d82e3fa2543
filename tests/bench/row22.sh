# shellcheck shell=bash
# row22.sh - 20,000 signals to as many instances that wait for one

row_22() {
    local signals run begin
    signals=$(count 20000)
    printf '%s\n' 'workflow ear() { wf.WaitSignal(name = "go") }' >"$WORK/ear.wf"
    for ((run = 1; run <= RUNS; run++)); do
        bare_queue 22 "$(count 60000)" 2
        bare_queue 22 "$(count 60000)" 4
        workspace_fresh "$WORK/ear.wf"
        begin_many ear "$signals"
        driver_begin
        begin=$EPOCHREALTIME
        sql "select count(wf.signal(to_jsonb(i.instance_id), 'go'))
               from wf.instance_v i" >/dev/null
        figure 22 sent "$(calc "$signals / ($EPOCHREALTIME - $begin)")"
        all_ended
        figure 22 taken "$(calc "$signals / ($EPOCHREALTIME - $begin)")"
        driver_end
    done
}
