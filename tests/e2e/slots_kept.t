#!/usr/bin/env bash
# slots_kept.t - requests that take a minute have all slots that they may have;
# a task of another transport begins all the same, in a slot that is kept for it.
. "$(dirname "$0")/../lib.sh"

SLOTS=16
nginx_start 'location / { echo_sleep 60; echo fine; }'
workspace_start
login_create etl wf_app
printf '%s\n' 'workflow flood() {' \
    "  forall(i in 1..100) { http.Request(url = \"$HTTP_URL/\") }" '}' \
    'workflow single() { sql.Exec(statement = "select 1") }' >"$WORK/flood.wf"
wf-console install "$WORK/flood.wf" >"$WORK/console.log"

# taken: how many slots requests of the flood have.
taken() {
    sql "select count(*) from wf.lease where instance_id = $FLOOD"
}

driver_start one -o slots=$SLOTS -o sql_connection=user=etl
FLOOD=$(sql "select wf.start('flood')")
# http, sql and ssh are set up
ok 'slow requests have all slots but one for sql and one for ssh' \
    wait_sql 20 "select count(*) = $SLOTS - 2 from wf.lease"
for ((single = 1; single <= 3; single++)); do
    SINGLE=$(sql "select wf.start('single', '{}', null, -1000)")
    ok 'a SQL task begins and ends' wait_sql 20 "select state = 'END'
        from wf.instance_v where instance_id = $SINGLE"
done
is 'none of the slow ones has ended, none has begun' "$(taken)" $((SLOTS - 2))
wf-console -o json explain "$FLOOD" >"$WORK/explain.json"
ok 'explain tells what the slots are taken by' \
    grep -q "$((SLOTS - 2)) of its $SLOTS slots are taken: http $((SLOTS - 2))" \
    "$WORK/explain.json"

# The flood is over: its requests are stopped.
abort_flood() {
    sql "select answer from wf.abort('{\"instance\": $FLOOD}')" >"$WORK/abort.log"
    wait_sql 20 'select not exists (select from wf.lease)'
}

ok 'the flood is aborted' abort_flood
driver_stop one

driver_start two -o slots=$SLOTS -o slots_kept=0
FLOOD=$(sql "select wf.start('flood')")
ok 'with slots_kept = 0 they have all' \
    wait_sql 20 "select count(*) = $SLOTS from wf.lease where instance_id = $FLOOD"
ok 'the flood without kept slots is aborted' abort_flood
done_testing
