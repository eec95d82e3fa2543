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
choose "$FAULTS"
kills=0 within=0
for point in "${POINTS[@]}"; do
    read -r call number <<<"$point"
    traced "$call-$number" -e trace="$call" \
        -e inject="$call:signal=KILL:when=$number"
    if grep -q 'killed by SIGKILL' "$WORK/$call-$number.trace"; then
        kills=$((kills + 1))
        within=$((within + $(sql "select chaos.remember('$call-$number')")))
    fi
done
DRIVER_OPTIONS+=(-o slots=16)
drivers_begin
all_end 120

figure faults "$kills"
figure within "$within"
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
ok 'drivers were killed while they had requests' test "$within" -gt 0
ok 'reports of the dead came in, and were refused' test "$STALE" -gt 0
campaign_end
