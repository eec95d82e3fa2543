#!/usr/bin/env bash
# ssh_cancel.t - what is not wanted any more ends on the host, too.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

sshd_start
workspace_start
driver_on() {
    driver_start one -o "ssh.config_file=$SSH_CONFIG" \
        -o ssh.kill_after_ms=2000 "$@"
}
driver_on
wf-console install "$ROOT/tests/e2e/data/driver/ssh_many.wf" \
    "$ROOT/tests/e2e/data/driver/ssh_input.wf" >/dev/null

# cancelled ID SLEEP…: once all of them run cancel it; they end.
cancelled() {
    local id=$1 sleep
    shift
    for sleep; do
        wait_until 30 runs "$sleep"
    done
    wf-console cancel --yes --reason 'not wanted' \
        "$(sql "select instance_id || '/' || process_id from wf.task_v
                 where instance_id = $id")" >/dev/null
    for sleep; do
        wait_until 30 runs_not "$sleep" || return
    done
    wait_sql 30 "select state = 'FAILED' and error ->> 'kind' = 'cancelled'
        from wf.task_v where instance_id = $id"
}

# message ID
message() {
    sql "select error ->> 'message' from wf.task_v where instance_id = $1"
}

id=$(begin ssh_many -p n=1 \
    -p "script=sleep 31501.$OWN & (sleep 31502.$OWN; true) & sleep 31503.$OWN; true")
ok 'a command ends with all its children' cancelled "$id" 31501 31502 31503
is 'the task says that it was cancelled' "$(message "$id")" 'ssh worker was cancelled'

id=$(begin ssh_many -p n=1 -p "script=trap '' TERM; sleep 31504.$OWN; sleep 31505.$OWN")
ok 'a command that ignores signals ends, too' cancelled "$id" 31504
is 'the task of that command says that it was cancelled' "$(message "$id")" 'ssh worker was cancelled'
ok 'nothing goes on in its place' runs_not 31505

id=$(begin ssh_input -p "script=sleep 31506.$OWN")
ok 'a command that does not read its input ends, too' cancelled "$id" 31506

id=$(begin ssh_input -p 'script=wc -c')
ended "$id" 60
is 'long input arrives whole' "$(sql "select btrim(output ->> 'stdout')
    from wf.task_v where instance_id = $id")" 300000

id=$(begin ssh_many -p n=1 -p "script=sleep 31507.$OWN & echo \$!")
ended "$id" 60
ok 'a process that a command leaves behind goes on' runs 31507
kill "$(sql "select btrim(output ->> 'stdout') from wf.task_v
    where instance_id = $id")"

id=$(begin ssh_many -p n=1 -p "script=sleep 31508.$OWN")
wait_until 30 runs 31508
driver_stop one KILL || true
ok 'a command ends when its driver is killed' wait_until 30 runs_not 31508

driver_on -o ssh.sessions=0
id=$(begin ssh_many -p n=1 -p "script=sleep 31509.$OWN")
ok 'a command on a connection of its own ends' cancelled "$id" 31509
id=$(begin ssh_many -p n=1 -p "script=sleep 31510.$OWN")
wait_until 30 runs 31510
driver_stop one KILL || true
ok 'a command on its own connection ends when its driver is killed' wait_until 30 runs_not 31510

# a client that ignores the signal with which it is told to end
(umask 077 && printf '#!/bin/sh\ntrap "" TERM\necho $$ >>%s/clients\nexec ssh "$@"\n' "$WORK" >"$WORK/deaf")
chmod +x "$WORK/deaf"
driver_on -o ssh.sessions=0 -o "ssh.program=$WORK/deaf"
id=$(begin ssh_many -p n=1 -p "script=sleep 31511.$OWN & echo \$!")
ended "$id" 60 || true
is 'a command that is over has ended, whatever its client does' "$(state_of "$id")" 'END success'
client=$(cat "$WORK/clients")
ok 'the client is gone' wait_until 30 is_gone "$client"
ok 'the process that held the streams goes on' runs 31511
kill "$(sql "select btrim(output ->> 'stdout') from wf.task_v
    where instance_id = $id")"

sound
done_testing
