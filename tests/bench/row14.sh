# shellcheck shell=bash
# row14.sh - check and install of a file with 10,000 steps

row_14() {
    local steps run
    steps=$(($(count 10000) - 2)) # what holds them together counts, too
    awk -v n="$steps" 'BEGIN {
        print "main() {"
        for (k = 1; k < n; k++)
            printf "  lb.Log(msg = \"this is step %d\") ;\n", k
        print "  lb.Log(msg = \"this is the last\")\n}" }' >"$WORK/long.wf"
    for ((run = 1; run <= RUNS; run++)); do
        workspace_fresh "$BENCH/three.wf"
        seconds_of check
        seconds_of install
    done
}

# seconds_of COMMAND: of wf-console, from its start to its end.
seconds_of() {
    local begin=$EPOCHREALTIME
    wf-console "$1" "$WORK/long.wf" >/dev/null
    figure 14 "$1" "$(calc "$EPOCHREALTIME - $begin")"
}
