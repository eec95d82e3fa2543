#!/usr/bin/env bash
# doorbell.t - steps that alternate between two drivers which have nothing else
# to do: each is woken when the other one has done its step.
. "$(dirname "$0")/../lib.sh"

STEPS=20
workspace_start
login_create etl wf_app

# alternate WORKFLOW STEP STEP: of STEPS steps, the one and the other in turn.
alternate() {
    local step
    printf 'workflow %s() {\n    %s' "$1" "$2"
    for ((step = 1; step < STEPS; step++)); do
        if [ $((step % 2)) = 1 ]; then
            printf ' ;\n    %s' "$3"
        else
            printf ' ;\n    %s' "$2"
        fi
    done
    printf '\n}\n'
}
{
    alternate short 'lb.Log(msg = "a step")' 'sql.Query(statement = "select 1")'
    alternate long 'exec.Run(program = "sleep", args = ["0.05"])' \
        'sql.Query(statement = "select 1")'
} >"$WORK/steps.wf"
wf-console install "$WORK/steps.wf" >"$WORK/console.log"
# Only the bell wakes them in less than a second.
driver_start own -o transports=builtin,exec -o poll_min_ms=1000 \
    -o exec.programs="sleep=$(command -v sleep)"
driver_start sql -o poll_min_ms=1000 -o transports=sql -o sql_connection=user=etl

# Both sleep: they have asked in vain, and will not ask again for a second.
asleep() {
    wait_sql 20 "select count(*) = 2 from wf.driver where idle"
}

# steps_of INSTANCE: the drivers that have had steps of it.
steps_of() {
    sql "select string_agg(distinct d.name, ', ' order by d.name)
           from wf.event e join wf.txn t using (xid) join wf.driver d on d.id = t.driver_id
          where e.event = 'success' and e.process_id is not null
            and e.detail is null and e.instance_id = $1"
}

# In a long step its driver falls asleep too.
for workflow in short long; do
    ok "$workflow steps: both drivers sleep" asleep
    id=$(sql "select wf.start('$workflow')")
    ok 'the instance ends' wait_sql 60 \
        "select state = 'END' from wf.instance_v where instance_id = $id"
    is 'both have had their steps' "$(steps_of "$id")" 'own, sql'
    ms=$(sql "select round(extract(epoch from ended_at - started_at) * 1000)
                from wf.instance_v where instance_id = $id")
    ok "$STEPS steps take less than 0.3 s each: $ms ms" \
        test "$ms" -lt $((STEPS * 300))
done
done_testing
