#!/usr/bin/env bash
# exec.t - programs of the driver's host: only those that the driver names, and
# nothing of them outlives its task.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

PROGRAMS="greet=/bin/echo hello,cat=/bin/cat,sh=/bin/sh,changed=$WORK/changed"
printf '#!/bin/sh\necho changed\n' >"$WORK/changed"
chmod 755 "$WORK/changed"
workspace_start
ok 'install' wf-console install "$ROOT/tests/e2e/data/exec/exec.wf"

# of TITLE EXPRESSION: of the task with that title.
of() {
    sql "select $2 from wf.task_v where instance_id = $id and title = '$1'"
}

# fails TITLE KIND REGEX: how it failed.
fails() {
    is "$1: kind $2" "$(of "$1" "error ->> 'kind'")" "$2"
    like "$1: the message" "$(of "$1" "error ->> 'message'")" "$3"
}

# --- a driver that names no programs takes no such task

driver_start none
id=$(begin programs)
like 'without a list: explain says what is missing' \
    "$(wf-console explain "$id")" 'no live driver serves queue .* with exec'
exits 'a list with a mistake' 78 wf-driver -n -o exec.programs=sh=bin/sh
like 'a list with a mistake: it says so' "$OUTPUT" \
    'exec.programs: "sh=bin/sh" is not a program'

# --- good and bad

rm "$WORK/changed"
mkdir "$WORK/changed"
limit=$(ulimit -S -n)
ulimit -S -n 300
PGPASSWORD=hidden driver_start one -o "exec.programs=$PROGRAMS" \
    -o exec.env=SHOWN -o exec.kill_after_ms=500
ulimit -S -n "$limit"
wait_sql 60 "select not exists (select from wf.task_v
    where instance_id = $id and state not in ('END', 'FAILED'))" || true
is 'words arrive as they are' "$(of words "output ->> 'stdout'")" \
    "hello -- \$HOME a b"
is 'standard input' "$(of input "output ->> 'stdout'")" 'some input'
is 'environment' "$(of environment "output ->> 'stdout'")" x
is 'descriptors: the driver may have all that it can get' \
    "$(awk '/^Max open files/ { print $4 }' "/proc/$(pid_of driver-one)/limits")" \
    "$(ulimit -H -n)"
is 'descriptors: a program may have as many as the driver was given' \
    "$(of descriptors "output ->> 'stdout'")" 300
unlike 'nothing else of the driver is in it' \
    "$(of clean "output ->> 'stdout'")" 'PG|hidden'
fails fails exit '^exit code 7 of sh$'
is 'a failure: its output' "$(of fails "error -> 'detail'")" \
    '{"stderr": "err\n", "stdout": "out\n", "exit_code": 7}'
fails killed exit '^exit code 143 of sh$'
is 'a process that a program leaves behind holds nobody up' \
    "$(of 'left behind' "output ->> 'stdout'")" started
fails slow timeout '^sh did not end within 1000 ms$'
fails changed exec "^changed: cannot run $WORK/changed: Permission denied$"
fails path input '^this driver has no program /bin/sh'
fails preload input '^env: this driver lets no workflow set LD_PRELOAD'

# --- a program that runs ends when its task does

# runs FILE: wait for the program that writes its number there.
runs() {
    wait_until 60 test -s "$1"
    pid=$(cat "$1")
}

id=$(begin long -p "mark=$WORK/cancelled")
runs "$WORK/cancelled"
ok 'cancel' wf-console cancel --yes "$id"
failed "$id" || true
is 'cancelled: the task' "$(sql "select error ->> 'kind' from wf.task_v
    where instance_id = $id")" cancelled
ok 'cancelled: the program is gone' wait_until 30 is_gone "$pid"

id=$(begin long -p "mark=$WORK/aborted")
runs "$WORK/aborted"
ok 'abort' wf-console abort --yes "$id"
ended "$id" 60 || true
is 'aborted' "$(state_of "$id")" 'ABORTED aborted'
ok 'aborted: the program is gone' wait_until 30 is_gone "$pid"

# --- nobody knows what became of it when its driver is killed

sql "update wf.setting set value = 5 where name = 'lease_seconds'"
id=$(begin long -p "mark=$WORK/lost")
runs "$WORK/lost"
driver_stop one KILL 2>/dev/null || true
kill -s KILL -- "-$pid"
wait_sql 60 "select error ->> 'kind' = 'lost' from wf.task_v
    where instance_id = $id" || true
is 'a killed driver: it is lost, and not run again' \
    "$(sql "select state, error ->> 'kind', attempt from wf.task_v
             where instance_id = $id")" 'FAILED|lost|1'
sound
done_testing
