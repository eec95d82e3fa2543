#!/usr/bin/env bash
# slow_turns.t - all connections of a driver wait for turns that take longer than
# its lease: it says that it lives over another one, which goes when they end.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start
ok 'install' wf-console install "$ROOT/tests/e2e/data/heavy_report"/*.wf
sql "update wf.setting set value = '2' where name = 'lease_seconds'"
# what a success leads to in an instance of the list waits for this test
sql 'create table heavy (instance_id bigint)'
sql 'create function weigh() returns trigger language plpgsql security definer as $$
    begin
        if exists (select from public.heavy h where h.instance_id = new.instance_id) then
            perform pg_advisory_xact_lock_shared(1);
        end if;
        return new;
    end $$'
sql "create trigger weigh before update on wf.process for each row
    when (new.event = 'success') execute function weigh()"
spawn gate psql --no-psqlrc --quiet \
    --command="select pg_advisory_lock(1), pg_sleep(600)"
wait_sql 20 "select exists (select from pg_locks
    where locktype = 'advisory' and objid = 1 and granted)"

# sessions: how many the driver has; how many of them wait for this test.
sessions() {
    sql "select count(*), count(*) filter (where wait_event = 'advisory')
           from pg_stat_activity where usename = 'wf_driver_one'"
}

driver_start one -o heartbeat_ms=300 -o turn_timeout_ms=600000
driver_start other -o heartbeat_ms=300
sql "select wf.drain(max(driver_id)) from wf.driver_v where name = 'other'" \
    >"$WORK/drained"
for _ in 1 2; do
    sql "insert into heavy select wf.start('heavy', '{\"n\": 1}')"
    wait_sql 30 "select count(*) = (select count(*) from heavy)
        from pg_stat_activity
        where usename = 'wf_driver_one' and wait_event = 'advisory'"
done
wait_sql 30 "select count(*) = 3 from pg_stat_activity
    where usename = 'wf_driver_one'" || true
is 'both wait, and there is another one' "$(sessions)" '3|2'
since=$(sql 'select clock_timestamp()')
wait_sql 60 "select min(seen_at) > timestamptz '$since' + interval '6 s'
    from wf.driver_v where name in ('one', 'other')" || true
is 'nobody was given up for three times as long as a lease' \
    "$(sql "select string_agg(state, ' ' order by name) from wf.driver")" \
    'live draining'
kill "$(pid_of gate)"
sql "select pg_terminate_backend(pid) from pg_stat_activity
    where query like '%pg_sleep(600)%' and pid <> pg_backend_pid()" \
    >"$WORK/opened"
wait_sql 60 "select bool_and(state = 'END') from wf.instance_v" || true
is 'all ends' "$(sql 'select distinct state, result from wf.instance_v')" \
    'END|success'
wait_sql 30 "select count(*) = 2 from pg_stat_activity
    where usename = 'wf_driver_one'" || true
is 'the other connection is gone' "$(sessions)" '2|0'
sound
done_testing
