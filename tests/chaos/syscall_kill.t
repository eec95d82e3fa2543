#!/usr/bin/env bash
# syscall_kill.t - a driver that does a task of each sort is killed at every
# system call of it, one after the other; another one finishes what it left.
. "$(dirname "$0")/lib.sh"
. "$CHAOS/trace.sh"

campaign syscall_kill 12 0 "$@"
traced_world

traced whole
mapfile -t POINTS < <(points "$WORK/whole.trace")
diag "a pass has ${#POINTS[@]} system calls"
ALL=("${POINTS[@]}")
choose "$FAULTS"

# kill_at CALL NUMBER: a driver is killed there.
kill_at() {
    local call=$1 number=$2
    traced "$call-$number" -e trace="$call" \
        -e inject="$call:signal=KILL:when=$number"
    if grep -q 'killed by SIGKILL' "$WORK/$call-$number.trace"; then
        kills=$((kills + 1))
        at_work "$(sql "select chaos.remember('$call-$number')")"
    fi
}

kills=0
for point in "${POINTS[@]}"; do
    # shellcheck disable=SC2086 # two words
    kill_at $point
done
# The driver may have had nothing at any of those that chance has chosen.
deadline=$((SECONDS + 300))
until [ "$AT_WORK" -gt 0 ] || [ "$SECONDS" -ge "$deadline" ]; do
    roll ${#ALL[@]}
    # shellcheck disable=SC2086 # two words
    kill_at ${ALL[ROLL]}
done
DRIVER_OPTIONS+=(-o slots=16)
drivers_begin
all_end 120

figure faults "$kills"
ledgers_figures
diag "system calls whose kill had a request repeated: $(sql "
    select string_agg(distinct i.params ->> 'queue', ' ')
      from (select process_id from chaos.effect
             where method = 'POST' and what in ('again', 'job_again')
             group by process_id, attempt having count(*) > 1) e
      join wf.process_v p using (process_id)
      join wf.instance_v i using (instance_id)")"
invariants_hold I1 I2 I3 I4 I5 I6 I7 I9
not_blind
drivers_hold
happened "$kills" 'drivers were killed at a system call'
came_at_work 'drivers were killed' 1
happened "$STALE" 'reports of the dead came in, and were refused'
campaign_end
