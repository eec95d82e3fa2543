#!/usr/bin/env bash
# ssh_job.t - jobs on a host outlive connections and drivers, run once, and go
# without a trace when they are cancelled.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

sshd_start
HOST=$(server_dir host) # where jobs leave their marks
JOBS=$WORK/sshd/home/.pgwf
driver() {
    driver_start "$1" -o "ssh.config_file=$SSH_CONFIG" -o "ssh.socket_dir=$WORK"
}
workspace_start
sql "update wf.setting set value = 5 where name = 'lease_seconds'"
sql "update wf.setting set value = 1 where name = 'grace_seconds'"
driver one
ok 'install' wf-console install "$ROOT/tests/e2e/data/ssh_job/job.wf"

# job SCRIPT: start one that runs a script with `sh -c`; prints the instance.
job() {
    local words
    words=$(perl -MJSON::PP -e 'print encode_json(\@ARGV)' sh -c "$1")
    begin ssh_job -p host=worker -p "words=$words"
}

# marked FILE: wait until a job has written it.
marked() {
    wait_until 20 test -s "$HOST/$1"
}

# held NAME: a script that notes each of its starts in NAME, and ends when
# NAME.go is there.
held() {
    printf 'echo x >>%s/%s; until [ -e %s/%s.go ]; do sleep 0.05; done; echo done' \
        "$HOST" "$1" "$HOST" "$1"
}

runs_of() {
    wc -l <"$HOST/$1" | tr -d ' '
}

output_of() {
    sql "select output #>> '{job,stdout}' from wf.instance_v
          where instance_id = $1"
}

error_of() {
    sql "select error ->> 'kind', error ->> 'message', error -> 'detail'
           from wf.task_v where instance_id = $1"
}

traces() {
    find "$JOBS" -mindepth 1 ! -name '*.over'
}

# sleepers SECONDS: processes `sleep SECONDS`.
sleepers() {
    ps -eo stat=,args= | awk -v n="$1" '$1 !~ /^Z/ && $2 == "sleep" && $3 == n'
}

asleep() {
    [ -n "$(sleepers "$1")" ]
}

# --- to its end

# shellcheck disable=SC2016 # the host's shell expands it
id=$(job 'cat; echo " $A|$0"; echo err >&2; umask')
ended "$id"
is 'the instance with the job ends' "$(state_of "$id")" 'END success'
is 'the instance has the output of the job' "$(sql "select output -> 'job' from wf.instance_v
    where instance_id = $id")" \
    "{\"stderr\": \"err\\n\", \"stdout\": \"some input x 'y'|sh\\n0022\\n\", \"exit_code\": 0}"
is 'the directory of an ended job is gone' "$(traces)" ''
id=$(job 'echo out; exit 3')
failed "$id"
is 'an exit code' "$(error_of "$id")" \
    'exit|exit code 3 on worker|{"stderr": "", "stdout": "out\n", "exit_code": 3}'
like 'the directory of a failed job stays for somebody to look at' "$(traces)" /out
ok 'raise' wf-console raise "$id"
ended "$id"
is 'the directory of the job is gone after raise' "$(traces)" ''
id=$(job 'seq 1000')
ended "$id"
like 'of long output the end is kept, and that is said' \
    "$(output_of "$id")" $'^\\[2893 bytes cut\\]\n.*\n1000$'
id=$(begin ssh_job_script -p host=worker -p "file=it's \$HOME")
ended "$id"
is 'a script' "$(sql "select output #>> '{job,stdout}',
    split_part(output #>> '{job,stderr}', ' /', 1)
    from wf.instance_v where instance_id = $id")" "no input
|it's \$HOME"

# --- who is killed while it runs

id=$(job "$(held driver)")
marked driver
driver_stop one KILL 2>/dev/null || true
driver two
touch "$HOST/driver.go"
ended "$id"
is 'another driver carries on' "$(state_of "$id"), $(output_of "$id")" \
    'END success, done'
is 'the job ran once although its driver changed' "$(runs_of driver)" 1

id=$(job "$(held connection)")
marked connection
# connections_killed: kill the shared connections of the moment; whether a request has
# failed.
connections_killed() {
    pkill -KILL --full "ControlPath=$WORK/pgwf-ssh\\..* -N " || true
    sql_is_true "select exists (select from wf.event_v
        where instance_id = $id and event = 'request_failed')"
}
wait_until 60 connections_killed || true
touch "$HOST/connection.go"
ended "$id"
is 'connections were killed' "$(state_of "$id"), $(runs_of connection)" 'END success, 1'
is 'killed connections show as request_failed' "$(sql "select count(*) > 0 from wf.event_v
    where instance_id = $id and event = 'request_failed'")" t

id=$(job "$(held sshd)")
marked sshd
sshd_lost
wait_sql 20 "select exists (select from wf.event_v
    where instance_id = $id and event = 'request_failed')"
touch "$HOST/sshd.go"
sshd_again
ended "$id"
is 'sshd was killed' "$(state_of "$id"), $(runs_of sshd)" 'END success, 1'

# --- a start that is sent again: the driver is killed at any time in it

# killed_after PAUSE: once its job begins.
killed_after() {
    local pause=$1
    id=$(job "$(held "again$pause")")
    in_state "$id" ssh.Job EXECUTING
    sleep "$pause"
    driver_stop two KILL 2>/dev/null || true
    touch "$HOST/again$pause.go"
    driver two
    ended "$id" 30
    is "a driver that is killed after $pause s: its job ran once" \
        "$(state_of "$id"), $(runs_of "again$pause")" 'END success, 1'
}

for pause in 0 0.1 0.2 0.3 0.4 0.6; do
    killed_after "$pause"
done

# The shared connections stand still, and sshd accepts no other: a start lasts until
# its driver is killed.
mapfile -t standing < <(pgrep --full "ControlPath=$WORK/pgwf-ssh\..* -N ")
standing+=("$(pid_of sshd)")
halt "${standing[@]}"
id=$(job "$(held stopped)")
in_state "$id" ssh.Job EXECUTING
driver_stop two KILL 2>/dev/null || true
kill -s CONT "${standing[@]}" 2>/dev/null || true # what its driver had may be gone
touch "$HOST/stopped.go"
driver two
ended "$id" 30
is 'a driver that is killed while its connections stand still: its job ran once' \
    "$(state_of "$id"), $(runs_of stopped)" 'END success, 1'
is 'the start was lost and sent again' "$(sql "
    select string_agg(concat_ws(' ', was, event, state), ', ' order by seq)
      from wf.event_v where instance_id = $id and event = 'lost'")" \
    'EXECUTING lost INIT'

# --- cancelled

id=$(job "setsid sleep 4711 & echo \$! >>$HOST/far; timeout 4712 sleep 4712 &
    (trap '' TERM; sleep 4713; sleep 4713) & sleep 4714 & echo x >$HOST/tree; wait")
marked tree
in_state "$id" ssh.Job EXECUTING
wait_until 20 asleep 4714
ok 'children of children' wait_until 20 asleep 4713
ok 'cancel' wf-console cancel "$id" --yes
failed "$id"
is 'cancelled' "$(error_of "$id" | cut -d '|' -f 1)" cancelled
is 'nobody of it is left' \
    "$(sleepers 4712)$(sleepers 4713)$(sleepers 4714)" ''
ok 'retry' wf-console retry "$id"
ok 'the next job sleeps' wait_until 20 asleep 4714
wait_sql 20 "select handle is not null from wf.task_v where instance_id = $id"
ok 'abort' wf-console abort "$id"
ended "$id" 30
is 'aborted' "$(state_of "$id")" 'ABORTED aborted'
is 'nobody of it is left' \
    "$(sleepers 4712)$(sleepers 4713)$(sleepers 4714)" ''
is 'the directory of the aborted job is gone' "$(traces)" ''

# whoever leaves the session is not found
xargs kill <"$HOST/far" || true

# --- the scripts alone: starts at the same time, and one that comes too late

# request NAME: that of the last job, run on this host under the name `twice-1`.
request() {
    sql "select wf._evaluate(r.args, p.input || '{\"handle\": null,
            \"instance\": {\"attempt\": \"twice-1\"}}') -> 'value' ->> 'script'
           from wf.process p
           join wf.node n on n.version_id = p.version_id and n.id = p.node_id
           join wf.task_request r on r.type_id = n.type_id
          where p.instance_id = $id and p.kind = 'async' and r.request = '$1'" |
        as_server env HOME="$WORK/sshd/home" sh -s
}

id=$(job "$(held twice)")
touch "$HOST/twice.go"
ended "$id"
rm "$HOST/twice"
start=()
for _ in 1 2 3 4 5; do
    request start >>"$WORK/started" &
    start+=("$!")
done
wait "${start[@]}"
is 'five starts, one job' "$(sort -u "$WORK/started")" "$JOBS/twice-1"
wait_until 20 test -s "$JOBS/twice-1/exit"
is 'the job that was started five times ran once' "$(runs_of twice), $(request poll)" '1, done

exited 0'
request cleanup
ok 'cleaned up' test ! -e "$JOBS/twice-1"
exits 'a start that comes later is refused' 75 request start
is 'the refused start runs nothing' "$(runs_of twice)" 1

# --- all of it is killed on the host

id=$(job "echo x >$HOST/gone; kill -9 0")
failed "$id"
is 'gone without an exit code' "$(error_of "$id" | cut -d '|' -f 1,2)" \
    'lost|the job on worker is gone and has left no exit code'
ok 'ignore' wf-console ignore "$id"
ended "$id"

# --- no home to write to

elsewhere=/tmp/.pgwf-$(id -u "$SERVER_USER")
found=$(test -e "$elsewhere" && echo yes || echo no)
chmod 555 "$WORK/sshd/home"
rm -r "$JOBS"
id=$(job 'echo somewhere')
ended "$id"
is 'a job without a home' "$(output_of "$id")" somewhere
sound
[ "$found" = yes ] || rm -r "$elsewhere"
done_testing
