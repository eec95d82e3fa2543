#!/usr/bin/env bash
# wait_for.t - wf.WaitFor asks a query again and again until it gives a row, as the
# role of SQL tasks.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start
login_create etl wf_app
sql 'create table delivery (day date, lines int)'
sql 'grant select on delivery to etl'
driver_start one -o sql_connection="dbname=$PGDATABASE user=etl"
cat >"$WORK/flows.wf" <<'WF'
/** Goes on when the delivery of a day has come. */
workflow delivered(day: date) -> {lines: json} {
  wf.WaitFor(
    query = "select lines from delivery where day = $1",
    params = [day],
    every = 200ms
  ) as delivery ;
  return {lines: delivery.row.lines}
}

workflow late() {
  wf.WaitFor(query = "select 1 where false", every = 200ms)
    with timeout(runtime = 1s), on_failure(fail)
}

workflow broken() {
  wf.WaitFor(query = "select no_such_column from delivery", every = 200ms)
    with on_failure(fail)
}
WF
ok 'the workflows are installed' wf-console install "$WORK/flows.wf"

id=$(begin delivered -p day=2026-11-27)
sql "insert into delivery values ('2026-11-26', 1)"
wait_sql 20 "select count(*) >= 3 from wf.event_v where instance_id = $id and event = 'polled'"
is 'while the query gives no row it waits' "$(state_of "$id")" RUNNING
sql "insert into delivery values ('2026-11-27', 42)"
ended "$id" 20
is 'when it gives one, that is the output' \
    "$(sql "select state, output from wf.instance_v where instance_id = $id")" 'END|{"lines": 42}'

id=$(begin delivered -p day=2026-11-27)
ended "$id" 20
is 'a row that is there already is no wait' "$(sql "select output from wf.instance_v where instance_id = $id")" '{"lines": 42}'

id=$(begin late)
ended "$id" 20
is 'a timeout bounds it' "$(sql "select state, error ->> 'kind' from wf.instance_v where instance_id = $id")" 'ABORTED|timeout'

id=$(begin broken)
ended "$id" 20
is 'a query that fails is an error' "$(sql "select state, error ->> 'kind' from wf.instance_v where instance_id = $id")" 'ABORTED|sql'

driver_stop one
done_testing
