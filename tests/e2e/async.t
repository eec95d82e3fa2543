#!/usr/bin/env bash
# async.t - jobs that others run: they are started, polled, cancelled and
# cleaned up, by whichever driver is there.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
DATA=$ROOT/tests/e2e/data/async
JOBS=$WORK/nginx

nginx_start "$(cat "$DATA/nginx.conf")"
workspace_start
sql "update wf.setting set value = 5 where name = 'lease_seconds'"
driver_start one
ok 'install' wf-console install "$DATA/job.wf"

# job NAME [WORKFLOW]: start one and wait until it runs and has been polled.
job() {
    local id
    id=$(begin "${2:-job}" -p "base=$HTTP_URL" -p "name=$1")
    polled "$id" 1
    printf '%s\n' "$id"
}

# told NAME: what the service was told about a job, in order: polls once.
told() {
    sed -nE "s,^([A-Z]+ )/(job|web)/$1(.*) ([0-9]+) [0-9a-f]{8}-.*,\1\3,p" \
        "$JOBS/access.log" | uniq | tr -s ' \n' ' ' | sed 's/ $//'
}

# polled ID COUNT: wait until it has been polled so often.
polled() {
    wait_sql 20 "select count(*) >= $2 from wf.event_v
        where instance_id = $1 and event = 'polled'"
}

error_of() {
    sql "select error ->> 'kind', error ->> 'message' from wf.task_v
          where instance_id = $1"
}

# --- to its end

id=$(job a)
polled "$id" 4
is 'polls: each waits longer, up to the limit' "$(sql "
    with poll as (
        select e.at - lag(e.at) over (order by seq) as pause,
               row_number() over (order by seq) as n
          from wf.event_v e
         where instance_id = $id and event in ('started', 'polled'))
    select bool_and(pause >= least(100 * 2 ^ (n - 2), 400) * interval '1 ms')
      from poll where n between 2 and 5")" t
touch "$JOBS/a.done"
ended "$id"
is 'the instance with the job ends' "$(state_of "$id")" 'END success'
is 'the output of the job is the output of the instance' "$(sql "select output from wf.instance_v
    where instance_id = $id")" '{"copies": 2}'
is 'the job was started, polled and cleaned up' "$(told a)" 'POST GET DELETE /files'

# --- as lb-web has it

id=$(job w web)
touch "$JOBS/w.done"
ended "$id"
is 'http.Job ends' "$(state_of "$id"), $(sql "select output
    from wf.instance_v where instance_id = $id")" 'END success, {"rows": 7}'
is 'http.Job: the result was fetched, then deleted' "$(told w)" \
    'POST GET /running GET /result DELETE /result'
id=$(job x web)
ok 'http.Job: cancel' wf-console cancel "$id" --yes
failed "$id"
is 'http.Job: cancelled where it runs' "$(told x)" \
    'POST GET /running DELETE /running'
ok 'http.Job: abort' wf-console abort "$id"
ended "$id"

# --- cancelled by an operator, then tried again

id=$(job b)
ok 'cancel' wf-console cancel "$id" --yes --reason 'wrong paper'
failed "$id"
is 'cancelled: it has failed' "$(error_of "$id")" 'cancelled|cancelled'
touch "$JOBS/b.done"
ok 'retry' wf-console retry "$id"
ended "$id"
is 'retried: it ends' "$(state_of "$id")" 'END success'
is 'cancelled, cleaned up, started again' "$(told b)" \
    'POST GET DELETE DELETE /files POST GET DELETE /files'

# --- aborted

id=$(job c)
ok 'abort' wf-console abort "$id"
ended "$id"
is 'aborted' "$(state_of "$id")" 'ABORTED aborted'
is 'aborted: cancelled and cleaned up' "$(told c)" \
    'POST GET DELETE DELETE /files'

# --- it fails by itself; asking fails

id=$(job d)
touch "$JOBS/d.jammed"
failed "$id"
is 'a job that fails' "$(error_of "$id")" 'printer|paper jam'
ok 'raise' wf-console raise "$id"
ended "$id"
is 'raised' "$(state_of "$id")" 'ABORTED error'
is 'raised: cleaned up' "$(told d)" 'POST GET DELETE /files'

id=$(job e)
touch "$JOBS/e.sick"
failed "$id"
is 'three polls that fail in a row' "$(error_of "$id" | cut -c -4)" 'http'
is 'three polls, no more' "$(grep -c '^GET /job/e 500' "$JOBS/access.log")" 3
rm "$JOBS/e.sick"
touch "$JOBS/e.done"
ok 'retry' wf-console retry "$id"
ended "$id"
is 'the instance ends with its other driver' "$(state_of "$id")" 'END success'

# --- the driver is killed while one runs and another is being started

running=$(job f)
starting=$(begin job -p "base=$HTTP_URL" -p name=slow)
in_state "$starting" lab.Job EXECUTING
driver_stop one KILL 2>/dev/null || true
driver_start two
touch "$JOBS/f.done"
ended "$running"
is 'another driver polls on' "$(state_of "$running")" 'END success'
is 'a job was started once although its driver died' "$(told f)" 'POST GET DELETE /files'
failed "$starting"
is 'a job that may have been started waits for an operator' \
    "$(error_of "$starting" | cut -d '|' -f 1)" lost
wf-console abort "$starting" >/dev/null
ended "$starting"
is 'aborted' "$(state_of "$starting")" 'ABORTED aborted'
sound
done_testing
