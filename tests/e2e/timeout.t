#!/usr/bin/env bash
# timeout.t - what takes longer than its policy timeout allows is stopped where it
# runs, by every transport, and after an outage, too.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

nginx_start 'location /never { echo_sleep 3600; echo never; }'
sshd_start
workspace_start
sql 'create table effect (n int)'
login_create etl wf_app
sql 'grant insert on effect to etl'
driver_on() {
    driver_start "$1" -o exec.programs=sh=/bin/sh -o exec.kill_after_ms=500 \
        -o "ssh.config_file=$SSH_CONFIG" -o queues=default \
        -o sql_connection=user=etl
}
driver_on one
sed "s/325[0-9]*/&.$OWN/" "$ROOT/tests/e2e/data/timeout/timeout.wf" >"$WORK/timeout.wf"
ok 'install' wf-console install "$WORK/timeout.wf"

# of TITLE EXPRESSION: of the task with that title.
of() {
    sql "select $2 from wf.task_v where instance_id = $id and title = '$1'"
}

# times_out TITLE REGEX: it has failed, of kind timeout.
times_out() {
    ok "$1: it has failed" wait_sql 30 "select state = 'FAILED' from wf.task_v
        where instance_id = $id and title = '$1'"
    is "$1: kind timeout" "$(of "$1" "error ->> 'kind'")" timeout
    like "$1: the message" "$(of "$1" "error ->> 'message'")" "$2"
}

# --- every transport

id=$(begin slow -p "url=$HTTP_URL")
times_out http '^http.Request timed out after 1000 ms \(maximum runtime\)$'
times_out ssh '^ssh.Run timed out after 2000 ms \(maximum runtime\)$'
ok 'ssh: it has ended on its host' wait_until 20 runs_not 32501
times_out job '^ssh.Job timed out after 5000 ms \(deadline\)$'
ok 'job: it has ended on its host' wait_until 20 runs_not 32502
times_out exec '^exec.Run timed out after 1000 ms \(maximum inactivity\)$'
ok 'exec: it has ended' wait_until 20 runs_not 32503
times_out sql '^sql.Exec timed out after 1000 ms \(maximum runtime\)$'
times_out sleep '^wf.Sleep timed out after 1000 ms \(maximum runtime\)$'
times_out nobody '^exec.Run timed out after 1000 ms \(wait\)$'
ok 'talks: each line of output is activity' wait_sql 30 "select state = 'END'
    from wf.task_v where instance_id = $id and title = 'talks'"
is 'quick: what is done in time has ended well' "$(of quick state)" END
is 'sql: what was stopped has left nothing' "$(sql 'select * from effect')" 2
like 'the history has the cause' "$(wf-console history "$id")" \
    'timeout .*CANCEL_REQUESTED'
wf-console abort --yes "$id" >/dev/null
sound

# --- one attempt after the other

id=$(begin again -p "mark=$WORK/again")
ok 'three attempts' failed "$id"
is 'each of them was begun once' "$(wc -l <"$WORK/again")" 3
ok 'no process of the three attempts is left' wait_until 20 runs_not 32504

# --- a workflow

id=$(begin late)
ok 'the deadline of a workflow: its root has failed' wait_sql 30 "select
    exists (select from wf.process_v where instance_id = $id and state = 'FAILED'
        and parent_id is null
        and error ->> 'message' = 'late timed out after 2000 ms (deadline)')"
ok 'the program of the failed workflow has ended' wait_until 20 runs_not 32505
wf-console abort --yes "$id" >/dev/null

# --- outages

id=$(begin outage -p "mark=$WORK/outage")
wait_until 20 test -s "$WORK/outage"
pg_stop pg immediate
pg_restart pg
ok 'an outage of the database only makes it late' failed "$id"
is 'the task has failed with timeout after the outage' "$(sql "select error ->> 'kind'
    from wf.task_v where instance_id = $id")" timeout

rm "$WORK/outage"
# its time is over before anybody gives the driver up
sql "select wf.setting_set('grace_seconds', 20), wf.setting_set('lease_seconds', 20)" >/dev/null
id=$(begin outage -p "mark=$WORK/outage")
wait_until 20 test -s "$WORK/outage"
driver_stop one KILL || true
driver_on two
ok 'the timeout of a task is found when its driver is gone' wait_sql 90 "select state = 'FAILED'
    and error ->> 'kind' = 'timeout' from wf.task_v where instance_id = $id"
sound
# a program outlives a driver that is killed: nobody is left to stop it
while read -r program; do
    kill -KILL -- "-$program" || true
done <"$WORK/outage"

done_testing
