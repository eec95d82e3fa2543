#!/usr/bin/env bash
# purge.t - the workspace purges what is old while drivers work; a driver that
# had nothing to do since long before comes back all the same.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

cat >"$WORK/work.wf" <<'END'
/** Two steps. */
workflow work(n: int = 0) {
  lb.Log(msg = "one ${n}") ; lb.Log(msg = "two ${n}")
}
END

# begin_some COUNT: that many instances, of which the last is waited for.
begin_some() {
    ended "$(sql "select max(s) from wf.start_many('work', (select
        jsonb_agg(jsonb_build_object('n', g)) from generate_series(1, $1) g)) s")" 60
    wait_sql 60 "select not exists (select from wf.instance_v
        where state = 'RUNNING')"
}

# aged DAYS: all that has been done so far was done so much earlier.
aged() {
    sql "update wf.instance set started_at = started_at - interval '$1 days',
                ended_at = ended_at - interval '$1 days'"
}

# later DAYS QUERY: what it answers so many days from now.
later() {
    psql --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1 \
        --command="select set_config('wf.now', (now() + interval '$1 days')::text, false)" \
        --command="$2" | tail -n 1
}

workspace_start pg
clock_allow
ok 'install' wf-console install "$WORK/work.wf"
driver_start one

# --- by itself

begin_some 250
ok 'nobody has asked for it' wf-console fsck
aged 40
begin_some 50
wf-console setting set keep_days 30 >/dev/null
ok 'there is an hour to think better of it' wait_sql 30 "select exists (select
    from wf.purge where next_at > now() + interval '59 minutes')"
is 'nothing goes until then' "$(sql 'select count(*) from wf.instance_v')" 300
sql 'update wf.purge set next_at = now()'
ok 'old instances are purged, piece by piece' wait_sql 30 \
    'select count(*) = 50 from wf.instance_v'
is 'younger instances stay' \
    "$(sql 'select count(*), min(instance_id) from wf.instance_v')" '50|251'
is 'the purge is written down' "$(sql 'select reason, target is null, instances
    from wf.purge_v')" 'keep_days|t|250'
is 'nothing of them is left' "$(sql 'select (select count(*) from wf.process
    where instance_id <= 250), (select count(*) from wf.event
    where instance_id <= 250)')" '0|0'
sound
wf-console setting set keep_days 0 >/dev/null

# --- marks: signatures go, and the driver was last at work before that

mark=$(sql "select xid from wf.txn where driver_id is not null
    order by xid desc limit 1")
is 'two days later' "$(later 2 "select count(*) from wf.purge('{\"instance\": 251}')")" 1
is 'four days later' "$(later 4 "select count(*) from wf.purge('{\"state\": \"END\"}')")" 49
is 'nobody has signed anything any more' \
    "$(sql "select count(*) from wf.txn where xid <= '$mark'")" 0
before=$(sql 'select max(driver_id) from wf.driver_v')
sql "select pg_terminate_backend(pid) from pg_stat_activity
      where usename = 'wf_driver_one'" >/dev/null
ok 'a driver whose connections are cut comes back' wait_sql 30 "select exists (select
    from wf.driver_v where driver_id > $before and state = 'live')"
is 'the engine goes on' "$(sql 'select state from wf.engine_v')" RUNNING
begin_some 5
is 'the work goes on' "$(sql "select count(*) from wf.instance_v
    where result = 'success'")" 5
sql "delete from wf.txn"
before=$(sql 'select max(driver_id) from wf.driver_v')
sql "select pg_terminate_backend(pid) from pg_stat_activity
      where usename = 'wf_driver_one'" >/dev/null
ok 'a mark that is not there any more pauses the engine' wait_sql 30 \
    "select reason like 'history was lost%' from wf.engine_v"
driver_stop one || true
done_testing
