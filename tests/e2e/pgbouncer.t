#!/usr/bin/env bash
# pgbouncer.t - driver and console work through a pgbouncer that pools
# transactions.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

nginx_start 'location / { echo ok; }'
workspace_start
login_create etl wf_app
login_create wf_driver_one wf_driver
sql 'create table result (status int); grant insert on result to etl'
pgbouncer_start postgres etl wf_driver_one
export PGHOST=$PGBOUNCER_HOST PGPORT=$PGBOUNCER_PORT

driver_start one -o 'sql_connection=user=etl'
ok 'the driver checks it' env PGUSER=wf_driver_one wf-driver -n
ok 'install' wf-console install "$ROOT/tests/e2e/data/pgbouncer/flow.wf"
exits 'run' 0 wf-console run "$ROOT/tests/e2e/data/pgbouncer/flow.wf" \
    -p "base=$HTTP_URL" -p n=20
is 'the instance has ended' "$(state_of 1)" 'END success'
is 'the SQL task has happened' \
    "$(sql 'select status, count(*) from result group by 1')" '200|20'

# A transaction for each statement: a pool that takes turns with its servers.
for _ in 1 2 3 4 5; do
    begin flow -p "base=$HTTP_URL" -p n=10
done >"$WORK/started"
while read -r id; do
    ended "$id" || true
done <"$WORK/started"
is 'several instances at once have ended' "$(sql "select state, result, count(*)
    from wf.instance_v group by 1, 2")" 'END|success|6'
for command in list 'tree 2' 'show 2' 'history 2' 'explain 2' groups drivers; do
    # shellcheck disable=SC2086
    ok "$command" wf-console $command
done

# The server goes away under the pool, and comes back.
id=$(begin flow -p "base=$HTTP_URL" -p n=20)
pg_restart_hard() {
    pg_stop pg immediate
    PGPORT=5432 pg_restart
}
ok 'the server crashes and starts again' pg_restart_hard
ended "$id" 40 || true
# It has ended, or what may not be repeated was under way and is lost: then the
# instance waits for a person, with no failure of another kind.
like 'after a crash of the server under the pool it ends, or asks about what is lost' \
    "$(state_of "$id"), failed: $(sql "select distinct error ->> 'kind'
        from wf.task_v where instance_id = $id and state = 'FAILED'")" \
    '^(END success, failed: |RUNNING, failed: lost)$'
sound
driver_status=0
driver_stop one || driver_status=$?
is 'the driver stops' "$driver_status" 0
done_testing
