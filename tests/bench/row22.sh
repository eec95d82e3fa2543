# shellcheck shell=bash
# row22.sh - 20,000 signals to as many waiting instances; 10,000 started by one

row_22() {
    local signals children run begin
    signals=$(count 20000)
    children=$(count 10000)
    printf '%s\n' 'workflow ear() { wf.WaitSignal(name = "go") }' >"$WORK/ear.wf"
    cat >"$WORK/family.wf" <<'END'
workflow family(children: int) {
  forall(n in 1..children) {
    wf.Start(workflow = "child")
  }
}

workflow child() { wf.Noop() }
END
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
        workspace_fresh "$WORK/family.wf"
        begin_each family 1 "'{\"children\": $children}'::jsonb"
        driver_begin
        begin=$EPOCHREALTIME
        all_ended
        figure 22 children "$(calc "$children / ($EPOCHREALTIME - $begin)")"
        driver_end
    done
}
