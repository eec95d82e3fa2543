#!/usr/bin/env bash
# requires.t - two drivers with different capabilities, and tasks that require
# them.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start
ok 'install' wf-console install "$ROOT/tests/e2e/data/requires/requires.wf"
exits 'an empty capability' 78 wf-driver -n -o capabilities=gpu,,zone=eu
like 'says so' "$OUTPUT" 'capabilities: "" has 0 bytes; a capability has 1 to 127'

driver_start plain
printf 'capabilities = ["gpu"];\n' >"$WORK/gpu.conf"
driver_start gpu -c "$WORK/gpu.conf"
id=$(begin renders -p zone=eu)

# of TITLE EXPRESSION: of the task with that title.
of() {
    sql "select $2 from wf.task_v where instance_id = $id and title = '$1'"
}

# started_by TITLE: who did.
started_by() {
    sql "select e.actor from wf.event_v e
           join wf.task_v t using (instance_id, process_id)
          where instance_id = $id and t.title = '$1' and e.event = 'start'"
}

# --- who has what is required takes it, and nobody else

wait_sql 60 "select count(*) = 2 from wf.task_v
    where instance_id = $id and state = 'END'" || true
is 'the one that has it took it' "$(started_by gpu)" wf_driver_gpu
is 'a task without requirements is done by any driver' "$(of any state)" END
like 'nobody has it: explain says what is missing, and what there is' \
    "$(wf-console -o json explain "$id")" \
    'with builtin and the capability zone=eu; gpu lacks zone=eu; plain lacks zone=eu'
like 'stuck says it, too' "$(wf-console -o json stuck)" 'the capability zone=eu'
is 'drivers shows it' "$(wf-console -o json drivers |
    grep -o '"name":"gpu".*"capabilities":.*' | grep -o '"capabilities".*')" \
    '"capabilities":["gpu"]}'

# --- another value in the file, read again

printf 'capabilities = ["zone=us", "zone=eu"];\n' >"$WORK/gpu.conf"
kill -s HUP "$(pid_of driver-gpu)"
ended "$id" 60 || true
is 'a driver that gets the capability later takes the task' "$(state_of "$id")" 'END success'
is 'the driver with the new capability took the task' "$(started_by zone)" wf_driver_gpu
sound
done_testing
