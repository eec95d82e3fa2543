#!/usr/bin/env bash
# reached.t [--accept] - some run executes each statement of the model, except those that
# the file unreached names, with the reason above it. What is never executed is never
# checked: a guard that is never true looks as if all were well. With --accept the file is
# written anew and keeps its reasons. (Spin's own report of what is unreached does not look
# into a d_step, where nearly all of the model is; so gcov does.)
. "$(dirname "$0")/lib.sh"
COVER=(--coverage -O0)
LIST=$MODEL/unreached
RUNS=()

# executes NAME WHAT MACHINE DEFINES: as holds, and counts what it executes.
executes() {
    holds "$@"
    RUNS+=("$WORK/$1")
    mkdir "$WORK/$1/atomic"
    (
        cd "$WORK/$1"
        gcov ./*.gcda >gcov.log 2>&1
        sed 's/\bd_step\b/atomic/' model.pml >atomic/model.pml
        cd atomic
        # shellcheck disable=SC2086
        spin -a $4 model.pml >spin.log 2>&1
    )
}

executes waiting 'laws of a waiting task in a retry' wait '-DLEAVES=1 -DAGAIN'
executes alone 'laws of a task in a retry' sync '-DLEAVES=1 -DAGAIN'
executes outside 'laws of a task outside, in a try' async '-DLEAVES=1 -DBUDGET=3 -DCATCH'
executes two 'laws of two tasks in a try' sync '-DLEAVES=2 -DBUDGET=1 -DCATCH'
tree_frame
executes win 'laws of a race' wait '-DWIN -DPORTION=1'
executes deadline 'laws of deadlines' wait '-DDEADLINE -DPORTION=1'
executes finally 'laws of a finally and a halt' sync '-DFINALLY -DHALT -DPORTION=1'
executes undo 'laws of an undo' wait '-DUNDO -DUNCAUGHT -DHALT -DPORTION=1'

perl "$MODEL/unreached.pl" "${RUNS[@]}" >"$WORK/unreached"
if [ "${1:-}" = --accept ]; then
    awk 'FNR == NR { if (/^#/) { note = note $0 "\n"; next }
             if (note) { notes[$0] = note; note = "" } next }
         { printf "%s%s\n", notes[$0], $0 }' "$LIST" "$WORK/unreached" >"$WORK/list"
    cp "$WORK/list" "$LIST"
fi
is 'some run executes each statement of the model, but those of the list' \
    "$(search diff <(grep -v '^#' "$LIST" | sort) <(sort "$WORK/unreached"))" ''
done_testing
