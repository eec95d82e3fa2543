#!/usr/bin/env bash
# blind.t - faults are put into a workspace, one at a time: the law must find
# each of them, or it would be blind.
#
# For each fault a workflow is kept that shows it, blind/FAULT.json. If it does so no
# more, another is looked for among so many seeds (LAW_BLIND) from 1 on:
#
#     LAW_BLIND=400 bash tests/law/blind.t
#     tests/law/simulate --keep SEED >tests/law/blind/FAULT.json

# shellcheck source=tests/law/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

KEPT=$ROOT/tests/law/blind
LOOKS=${LAW_BLIND:-50}

NAMES=() FAULTS=() FINDINGS=() SAID=()

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

# fault NAME WHAT FINDING SQL: FINDING is how the law finds it, a pattern.
fault() {
    NAMES+=("$1") SAID+=("$2") FINDINGS+=("$3") FAULTS+=("$4")
}

# change FUNCTION FROM TO: SQL that changes the text of a function.
change() {
    printf "select law.change('%s', \$\$%s\$\$, \$\$%s\$\$);" "$@"
}

faults() {
    local stands='step .*waits for and has place in'
    fault kept 'a place is kept when its task is aborted' 'slot: held without need|slot: row of' \
        "$(change wf._free_slots "wf._due(p_moves, 'slot') m" "(select x.* from wf._due(p_moves, 'slot') x join wf.process y on y.instance_id = x.instance_id and y.id = x.id where y.state <> 'ABORTED') m")"
    fault unasked 'a place that is given back is not granted again' "$stands|end: " \
        "$(change wf._free_slots 'from freed x' 'from freed x where false')"
    fault number 'places are granted by the number of the process' "$stands" \
        "$(change wf._grant 'order by p.rank, p.turn, p.instance_id, p.process_id' 'order by p.process_id')"
    fault priority 'priority is no matter' "$stands" \
        "$(change wf._grant 'order by p.rank, p.turn' 'order by p.turn')"
    fault turn 'the turn is no matter' "$stands" \
        "$(change wf._grant 'order by p.rank, p.turn' 'order by p.rank')"
    fault over 'one more than max is admitted' "$stands|group: .* has . places taken of" \
        "$(change wf._grant 'p_max - count' 'p_max + 1 - count')"
    fault under 'one place is never granted' "$stands|end: " \
        "$(change wf._grant 'p_max - count' 'p_max - 1 - count')"
    fault first 'the first max wins' 'has max .*, but was given' \
        "$(change wf._settle 'w.max order by w.id' 'w.max order by w.id desc')"
    fault word 'the max of a task comes after the word of an operator' 'has max .*, but was given|has another max' \
        "$(change wf.group_set 'coalesce(p_max, -1)' 'case when v_id is null then coalesce(p_max, -1) end')"
    fault resumed 'a task that was held up keeps its turn' "$stands" \
        "$(change wf._unpark 'wf._turn(p_at' 'h.turn + 0 * wf._turn(p_at')"
    fault parked 'a task that waits for its group is not held up' "$stands|fsck: suspended: " \
        "$(change wf._park "k.reason = 'group'" 'false')"
    fault kind 'a lost request has another kind of error' 'model: it says .*, lost.*the workspace .*, failed' \
        "$(change wf._move_lost "_refuse('lost'" "_refuse('failed'")"
    fault due 'the next attempt is due later' "$stands|model: it says .*, due .*the workspace .*, due" \
        "$(change wf._retry 'f.at +' "f.at + interval '2 ms' +")"
    fault round 'the next round of a block is due later' "$stands|model: it says .*, due .*the workspace .*, due" \
        "$(change wf._wait_for_round 'p_failed_at +' "p_failed_at + interval '2 ms' +")"
    fault switch 'the last case of a switch is passed over' 'model: |has not begun in the model' \
        "$(change wf._chosen 'v_cases :=' 'v_cases := -1 +')"
    fault window 'one element more than the window begins' "$stands|model: |has not begun in the model" \
        "$(change wf._measure_window "wf._setting_number('window')" "1 + wf._setting_number('window')")"
    fault rounds 'a loop ends one round too early' "$stands|model: |has not begun in the model" \
        "$(change wf._close_round 'v_again and l.todo > 0' 'v_again and l.todo > 1')"
    fault spared 'a block that waits for its start survives a catch' 'fsck: teardown: ' \
        "$(change wf._stop "('ACTIVE', 'ABORTING')" "('ACTIVE', 'ABORTING', 'INIT')")"
    fault stands 'the clock of a deadline goes on while a task waits for its group' 'has reached limit .*, but timed out by|fsck: limit: ' \
        "$(change wf._run_clocks 'q.group_id is not null' 'false')"
    fault limit 'a limit is reached a second too late' 'has reached limit .*, but did not time out|has reached limit .*, but timed out by' \
        "$(change wf._set_limits "* interval '1 s'" "* interval '1 s' + interval '1 s'")"
    fault final 'a task that took too long as a whole is tried again' "$stands|model: " \
        "$(change wf._is_final_timeout "'deadline'::text" "'none'::text")"
    fault block 'the deadlines of blocks are passed over' 'has reached limit deadline in ACTIVE, but did not time out' \
        "$(change wf._time_out 'p_process, true' 'null, true')"
    fault rate 'a place of a rate is free again at once' 'is one of . of rate' \
        "$(change wf._free_again '+ v_per' '+ 0')"
    fault branch 'the last branch but one does not leave its race' "$stands|model: |has not begun" \
        "$(change wf._ask_handler 'p_around.spare > 0' 'p_around.spare > 1')"
    fault signal 'a signal that comes before the wait for it is not taken' "$stands|model: " \
        "$(change wf._await_signals 's.name = w.name and not s.broadcast' 'false')"
    fault child 'a task that waits for an instance gets its error as if it were accepted' "$stands|model: |has not begun" \
        "$(change wf._ended_children '? w.result' "? 'success'")"
    fault told 'a task that waits for an instance is not told of its end' 'fsck: child: |end: ' \
        "$(change wf._tell_waits 'x.awaits_id = u.id offset' 'x.awaits_id = u.id and false offset')"
    fault passed 'an abort is not passed on to what a task has started' 'fsck: child: |end: |model: |waits for' \
        "$(change wf._tell_children 'i.parent_process_id = m.id' 'i.parent_process_id = m.id and false')"
    fault form 'a form that is asked anew takes an answer to the former one' 'form . was answered .*, not WF004' \
        "$(change wf._is_asked 'n.id > (_is_asked.p_input).id' 'false')"
    fault used 'a token is good for more than one callback' 'callback .* was answered accepted, not WF004' \
        "$(change wf.callback 'v.used_at is not null' 'false')"
    fault circle 'instances that wait for each other are not found' "$stands|end: |model: .*deadlock" \
        "$(change wf._waits_around 'c.id = _waits_around.p_instance' 'false')"
    fault only 'an abort is passed on to what a task only waits for' "$stands|model: |has not begun|fsck: child: " \
        "$(change wf._tell_children 'i.parent_id = m.instance_id and i.parent_process_id = m.id' 'true')"
    fault stopped 'a task that was stopped a moment before starts an instance' "$stands|model: |end: " \
        "$(change wf._begin_children 'v_moved and exists' 'false and exists')"
    fault catchup 'one time too many is made up for' 'time of schedule|schedule .* has not fired' \
        "$(change wf._due_times 'greatest(1, p_schedule.catchup)' '1 + greatest(1, p_schedule.catchup)')"
    fault replaced 'an instance that is to be replaced goes on' "$stands|model: |schedule .* has fired" \
        "$(change wf._put_off "p_overlap = 'replace' and v_running" 'false and v_running')"
    fault together 'all times that wait for an instance begin together' 'time of schedule|schedule .* has fired|model: |has not begun' \
        "$(change wf._tend_schedules 'x.k = 1 and' 'true and')"
    fault early 'an instance ends late while a request is with a driver' 'ended late, but something can run|fsck: late: ' \
        "$(change wf._is_late 'wf.lease' '(select * from wf.lease where false)')"
}

# look_for JOB JOBS: every JOBSth of the faults.
look_for() {
    local fault k seed
    for ((fault = $1; fault < ${#NAMES[@]}; fault += $2)); do
        k=${NAMES[fault]}
        sql "${FAULTS[fault]}" --dbname="$k" >"$WORK/$k.log" 2>&1 || continue
        play "$k" "$KEPT/$k.json"
        for ((seed = 1; seed < LOOKS; seed += 25)); do
            [ -z "$(found_in "$fault")" ] || break
            play "$k" "$seed" 25
        done
    done
}

# play NAME ARGUMENT…: of simulate, in the workspace with that fault.
play() {
    PGDATABASE=$1 "$ROOT/tests/law/simulate" "${@:2}" >>"$WORK/$1.log" 2>&1 || true
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
        pass "the laws find that ${SAID[$1]}"
        [ "${found%% *}" = 0 ] || diag "keep seed ${found%% *} as ${NAMES[$1]}.json"
    else
        fail "the laws find that ${SAID[$1]}" "$(tail -n 5 "$WORK/${NAMES[$1]}.log")"
    fi
}

main "$@"
