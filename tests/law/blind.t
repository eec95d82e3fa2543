#!/usr/bin/env bash
# blind.t - faults are put into a workspace, one at a time: the law must find
# each of them, or it would be blind.
#
# For each fault a workflow was known that shows it. The generator may draw others
# by now: then a new one is looked for among so many seeds (LAW_BLIND) from 1 on.

# shellcheck source=tests/law/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

LOOKS=${LAW_BLIND:-400}

NAMES=() SEEDS=() FAULTS=() FINDINGS=() SAID=()

main() {
    local jobs job name
    faults
    jobs=$(nproc)
    cluster
    for name in "${NAMES[@]}"; do
        database "$name"
    done
    for ((job = 0; job < jobs; job++)); do
        look_for "$job" "$jobs" &
    done
    wait
    for job in "${!NAMES[@]}"; do
        is_found "$job"
    done
    done_testing
}

# fault NAME SEED WHAT FINDING SQL: FINDING is how the law finds it, a pattern.
fault() {
    NAMES+=("$1") SEEDS+=("$2") SAID+=("$3") FINDINGS+=("$4") FAULTS+=("$5")
}

# change FUNCTION FROM TO: SQL that changes the text of a function.
change() {
    printf "select law.change('%s', \$\$%s\$\$, \$\$%s\$\$);" "$@"
}

faults() {
    local stands='step .*waits for and has place in'
    fault kept 84 'a place is kept when its task is aborted' 'slot: held without need|slot: row of' \
        "$(change wf._free_slots "wf._due(p_moves, 'slot') m" "(select x.* from wf._due(p_moves, 'slot') x join wf.process y on y.instance_id = x.instance_id and y.id = x.id where y.state <> 'ABORTED') m")"
    fault unasked 7 'a place that is given back is not granted again' "$stands|end: " \
        "$(change wf._free_slots 'from freed x' 'from freed x where false')"
    fault number 10 'places are granted by the number of the process' "$stands" \
        "$(change wf._grant 'order by p.rank, p.turn, p.instance_id, p.process_id' 'order by p.process_id')"
    fault priority 10 'priority is no matter' "$stands" \
        "$(change wf._grant 'order by p.rank, p.turn' 'order by p.turn')"
    fault turn 13 'the turn is no matter' "$stands" \
        "$(change wf._grant 'order by p.rank, p.turn' 'order by p.rank')"
    fault over 7 'one more than max is admitted' "$stands|group: .* has . places taken of" \
        "$(change wf._grant 'p_max - count' 'p_max + 1 - count')"
    fault under 2 'one place is never granted' "$stands|end: " \
        "$(change wf._grant 'p_max - count' 'p_max - 1 - count')"
    fault first 16 'the first max wins' 'has max .*, but was given' \
        "$(change wf._settle 'w.max order by w.id' 'w.max order by w.id desc')"
    fault word 107 'what a task gave comes after the word of an operator' 'has max .*, but was given|has another max' \
        "$(change wf.group_set 'coalesce(p_max, -1)' 'case when v_id is null then coalesce(p_max, -1) end')"
    fault resumed 86 'who was held up keeps its turn' "$stands" \
        "$(change wf._unpark 'wf._turn(p_at' 'h.turn + 0 * wf._turn(p_at')"
    fault parked 13 'what waits for its group is not held up' "$stands|fsck: suspended: " \
        "$(change wf._park "k.reason = 'group'" 'false')"
    fault kind 8 'a lost request has another kind of error' 'model: it says .*, lost.*the workspace .*, failed' \
        "$(change wf._move_lost "_refuse('lost'" "_refuse('failed'")"
    fault due 25 'the next attempt is due later' "$stands|model: it says .*, due .*the workspace .*, due" \
        "$(change wf._retry 'f.at +' "f.at + interval '2 ms' +")"
    fault switch 17 'the last case of a switch is passed over' 'model: |has not begun in the model' \
        "$(change wf._chosen 'v_cases :=' 'v_cases := -1 +')"
    fault rounds 22 'a loop ends one round too early' "$stands|model: |has not begun in the model" \
        "$(change wf._close_round 'v_again and l.todo > 0' 'v_again and l.todo > 1')"
    fault spared 9 'what waits for its start survives a catch' 'fsck: teardown: ' \
        "$(change wf._stop "('ACTIVE', 'ABORTING')" "('ACTIVE', 'ABORTING', 'INIT')")"
}

# look_for JOB JOBS: every JOBSth of the faults.
look_for() {
    local fault k seed
    for ((fault = $1; fault < ${#NAMES[@]}; fault += $2)); do
        k=${NAMES[fault]}
        sql "${FAULTS[fault]}" --dbname="$k" >"$WORK/$k.log" 2>&1 || continue
        play "$k" "${SEEDS[fault]}" 1
        for ((seed = 1; seed < LOOKS; seed += 25)); do
            [ -z "$(found_in "$fault")" ] || break
            play "$k" "$seed" 25
        done
    done
}

# play NAME SEED WORKFLOWS: in the workspace with that fault.
play() {
    PGDATABASE=$1 "$ROOT/tests/law/simulate" "$2" "$3" >>"$WORK/$1.log" 2>&1 || true
}

# found_in FAULT: the first line of the law that finds it.
found_in() {
    grep -E '^([0-9]+ ){4}' "$WORK/${NAMES[$1]}.log" | grep -v ' ok$' |
        grep -m1 -E "${FINDINGS[$1]}" || true
}

is_found() {
    local found
    found=$(found_in "$1")
    if [ -n "$found" ]; then
        pass "it is found that ${SAID[$1]} (seed ${found%% *})"
    else
        fail "it is found that ${SAID[$1]}" "$(tail -n 5 "$WORK/${NAMES[$1]}.log")"
    fi
}

main "$@"
