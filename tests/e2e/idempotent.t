#!/usr/bin/env bash
# idempotent.t - HTTP requests whose driver is killed: those with an idempotent
# method are sent again, the others wait; what the task says wins.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

cat >"$WORK/methods.wf" <<'END_OF_WF'
workflow methods(url: string, put: string, post: string) {
  http.Request(url = "${url}/get") with title("get")
  ||
  http.Request(url = "${url}/post", method = "POST") with title("post")
  ||
  http.Request(url = "${url}/put", method = put) with title("put, computed")
  ||
  http.Request(url = "${url}/post", method = post) with title("post, computed")
  ||
  http.Request(url = "${url}/get") with title("get, not again"), idempotent(false)
  ||
  http.Request(url = "${url}/post", method = "POST") with title("post, again"), idempotent
  ||
  http.Job(url = "${url}/job") with title("job")
  ||
  http.Job(url = "${url}/job", method = put) with title("job, put")
}
END_OF_WF
# all_run: whether the driver has sent all of them.
all_run() {
    [ "$(grep -c 'of http.* is RUNNING' "$WORK/driver-one.log")" -eq 8 ]
}

nginx_start 'location / { echo_sleep 3; echo done; }'
workspace_start
ok 'install' wf-console install "$WORK/methods.wf"
driver_start one
id=$(begin methods -p "url=$HTTP_URL" -p put=PUT -p post=POST)
wait_sql 20 "select count(*) = 8 from wf.lease l
    join wf.process p on p.instance_id = l.instance_id and p.id = l.process_id
   where p.state in ('START_REQUESTED', 'EXECUTING')" || true
# those that are acknowledged before they are sent are with the service, too
wait_until 10 all_run
driver_stop one KILL || true
driver_start two
wait_sql 60 "select count(*) = 8 from wf.event_v
    where instance_id = $id and event = 'lost'"
is 'tasks that may be repeated go on, the others wait' "$(sql "
    select t.title, e.state, e.detail ->> 'kind'
      from wf.task_v t
      join wf.event_v e using (instance_id, process_id)
     where instance_id = $id and e.event = 'lost' order by t.title collate \"C\"")" \
    'get|INIT|
get, not again|FAILED|lost
job|FAILED|lost
job, put|INIT|
post|FAILED|lost
post, again|INIT|
post, computed|FAILED|lost
put, computed|INIT|'
wait_sql 60 "select count(*) = 3 from wf.task_v
    where instance_id = $id and state = 'END' and task_type = 'http.Request'"
is 'tasks that may be repeated begin once more, the others began once' "$(sql "
    select t.title, count(*) filter (where e.event = 'start'), t.state
      from wf.task_v t
      join wf.event_v e using (instance_id, process_id)
     where instance_id = $id and task_type = 'http.Request'
     group by 1, 3 order by t.title collate \"C\"")" \
    'get|2|END
get, not again|1|FAILED
post|1|FAILED
post, again|2|END
post, computed|1|FAILED
put, computed|2|END'
sound
done_testing
