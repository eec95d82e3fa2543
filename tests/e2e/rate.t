#!/usr/bin/env bash
# rate.t - a rate over several drivers: one is killed, the database is restarted,
# and never more than its limit have begun.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start
cat >"$WORK/rated.wf" <<'END'
workflow rated(n: int) {
  forall(i in 1..n) {
    lb.Log(msg = "${i}") with idempotent, rate(10, 500ms)
  }
}
END
ok 'install' wf-console install "$WORK/rated.wf"

# begun ID: how many of its tasks have begun; the most in any stretch of time. A
# driver's turn reads the clock at its beginning, and the place is spent some
# milliseconds later, so the history may be that early.
begun() {
    sql "select count(*), max(e.count) <= 10
           from (select count(*) over (order by e.at
                            range between '450 ms' preceding and current row)
                   from wf.event e where e.event = 'start' and e.was = 'INIT'
                    and e.instance_id in ($1)) e"
}

for name in one two three; do
    driver_start "$name"
done
first=$(begin rated -p n=60)
second=$(begin rated -p n=40)
wait_sql 20 "select count(*) >= 25 from wf.event where event = 'start' and was = 'INIT'"
driver_stop one KILL || true
wait_sql 20 "select count(*) >= 40 from wf.event where event = 'start' and was = 'INIT'"
pg_stop pg immediate
pg_restart pg
ended "$first" 60
ended "$second" 60
is 'all have begun, at no time more than ten in half a second' \
    "$(begun "$first, $second" | sed 's/^1[0-9][0-9]|/many|/')" 'many|t'
is 'two drivers have gone on' "$(sql "select count(distinct d.name) >= 2 from wf.driver_v d")" t
is 'the workspace is sound' "$(sql "select count(*) from wf.fsck()")" 0
done_testing
