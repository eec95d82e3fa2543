#!/usr/bin/env bash
# poison.t - tasks that may be repeated kill their driver each time, a supervisor
# starts it again: so many drivers die as the setting says, then the tasks wait
# for an operator; what shared drivers with them ends by itself.
. "$(dirname "$0")/lib.sh"

campaign poison 1 8 "$@"
LIMIT=3
[ "${CHAOS_FORM:-short}" = short ] || LIMIT=5
world
wf-console install "$CHAOS/data/poison.wf" >>"$WORK/console.log"
sql "select wf.setting_set('loss_limit', $LIMIT),
    wf.setting_set('grace_seconds', 1)"
cat >"$WORK/poison" <<'END'
#!/bin/sh
echo "$1" >>"$0.log"
kill -s KILL $PPID
END
chmod 755 "$WORK/poison"
: >"$WORK/poison.log"
DRIVERS=(one two)
DRIVER_OPTIONS+=(-o "exec.programs=poison=$WORK/poison")
drivers_begin

# supervise: those that died come back.
supervise() {
    local name
    for name in "${DRIVERS[@]}"; do
        if is_gone "$(pid_of "driver-$name")"; then
            within=$((within + $(sql "select chaos.remember('$name')")))
            driver_again "$name"
            deaths=$((deaths + 1))
        fi
    done
}

# quarantined: how many of them wait for an operator, as lost.
quarantined() {
    sql "select count(*) from wf.task_v t
          where t.task_type = 'exec.Run' and t.state = 'FAILED'
            and t.error ->> 'kind' = 'lost'"
}

deaths=0 within=0
load load 1000 base "$BASE" ms 200 n 10
load poison 1000 n "$FAULTS"
deadline=$((SECONDS + 120 + 60 * FAULTS))
until [ "$(quarantined)" -eq "$FAULTS" ] || [ "$SECONDS" -ge "$deadline" ]; do
    load load 30 base "$BASE" ms 200 n 10
    nap 400
    supervise
    haunt
done
supervise # the last one that died, too
carried_out=$(wc -l <"$WORK/poison.log")
most=$(sort "$WORK/poison.log" | uniq -c | sort -rn | awk 'NR == 1 { print $1 }')
is 'each of them waits for an operator' "$(quarantined)" "$FAULTS"
is 'explain says why' "$(sql "select distinct regexp_replace(e.detail, ';.*', '')
    from wf.task_v t, wf.explain(t.instance_id, t.process_id) e
   where t.task_type = 'exec.Run'")" \
    "lost: $LIMIT drivers in a row died with this request: the request may be what kills them"
sql "select count(*) from wf.ignore(jsonb_build_object('failed', true,
    'workflow', 'poison'), 'it kills drivers')" >/dev/null
all_end 120

figure faults "$carried_out"
figure deaths "$deaths"
figure most_deaths_by_one "$most"
figure within "$within"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I7 I8 I9
not_blind
drivers_hold
happened "$carried_out" 'tasks have killed a driver' "$FAULTS"
happened "$deaths" "drivers died, which had $within requests in all"
ok "none has killed more than $LIMIT" test "$most" -le "$LIMIT"
is 'drivers died of nothing else' $((deaths > carried_out)) 0
is 'nothing else that may be repeated waited for one' "$(sql "select count(*)
    from wf.event e join chaos.task t using (instance_id, process_id)
   where e.event = 'lost' and e.state = 'FAILED' and t.repeatable")" 0
ok 'others were lost with their driver' sql_is_true \
    "select exists (select from wf.event e
       join chaos.task t using (instance_id, process_id) where e.event = 'lost')"
campaign_end
