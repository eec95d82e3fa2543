# shellcheck shell=bash
# flow.sh - what the tests of whole workflows share; include lib.sh first.

# begin WORKFLOW [OPTION…]: start an instance and print its id.
begin() {
    wf-console -o json start "$@" | sed -n 's/.*"instance_id":\([0-9]*\).*/\1/p'
}

# ended ID [SECONDS]: wait for the end of an instance.
ended() {
    wait_sql "${2:-20}" "select state in ('END', 'ABORTED')
        from wf.instance_v where instance_id = $1"
}

# state_of ID: "END success", or "RUNNING ".
state_of() {
    sql "select concat_ws(' ', state, result) from wf.instance_v
          where instance_id = $1"
}

# trace_of ID: begins the Idempotency-Key of its requests.
trace_of() {
    sql "select trace_id from wf.instance_v where instance_id = $1"
}

# failed ID [COUNT]: wait until so many of its tasks (1) stand as FAILED.
failed() {
    wait_sql 20 "select count(*) = ${2:-1} from wf.process_v
        where instance_id = $1 and state = 'FAILED'"
}

# in_state ID TYPE STATE: wait until a task of that type is in that state.
in_state() {
    wait_sql 20 "select exists (select from wf.task_v where instance_id = $1
        and task_type = '$2' and state = '$3')"
}

# task ID TYPE: the target INSTANCE/PROCESS of its (only) task of that type.
task() {
    sql "select instance_id || '/' || process_id from wf.task_v
          where instance_id = $1 and task_type = '$2'"
}

# OWN: what only this run has. A `sleep N.$OWN` is one of ours, and not one that an earlier
# test has left behind on this machine.
OWN=$EPOCHSECONDS$$

# runs N: there is a process `sleep N.$OWN`; runs_not N.
runs() {
    pgrep --full "^sleep $1\.$OWN\$" >/dev/null
}

runs_not() {
    ! runs "$1"
}

# sound: the workspace has no fault.
sound() {
    is 'the workspace is sound' "$(sql 'select * from wf.fsck()')" ''
}
