#!/usr/bin/env bash
# doorbell.t - steps that alternate between two drivers which have nothing else
# to do: each is woken when the other one has done its step.
. "$(dirname "$0")/../lib.sh"

STEPS=20
workspace_start
login_create etl wf_app
{
    printf 'main() {\n    lb.Log(msg = "first")'
    for ((step = 1; step < STEPS; step++)); do
        if [ $((step % 2)) = 1 ]; then
            printf ' ;\n    sql.Query(statement = "select 1")'
        else
            printf ' ;\n    lb.Log(msg = "next")'
        fi
    done
    printf '\n}\n'
} >"$WORK/steps.wf"
wf-console install "$WORK/steps.wf" >"$WORK/console.log"
# Only the bell wakes them in less than a second.
driver_start log -o transports=builtin -o poll_min_ms=1000
driver_start sql -o poll_min_ms=1000 -o transports=sql -o sql_connection=user=etl

# Both sleep: they have asked in vain, and will not ask again for a second.
asleep() {
    wait_sql 20 "select count(*) = 2 from wf.driver where idle"
}

ok 'both drivers sleep' asleep
sql "select wf.start('steps')" >"$WORK/start.log"
ok 'the instance ends' wait_sql 60 "select state = 'END' from wf.instance_v"
is 'both have had their steps' "$(sql "select string_agg(x.name || ' ' || x.count, ', ' order by x.name)
    from (select d.name, count(*) from wf.event e join wf.txn t using (xid)
            join wf.driver d on d.id = t.driver_id
           where e.event = 'success' and e.process_id is not null
             and e.detail is null group by d.name) x" | tr -d '0-9')" 'log , sql '
ms=$(sql 'select round(extract(epoch from ended_at - started_at) * 1000) from wf.instance_v')
ok "$STEPS steps take less than 0.3 s each: $ms ms" \
    test "$ms" -lt $((STEPS * 300))
done_testing
