#!/usr/bin/env bash
# heavy_report.t - what follows from a report takes longer than statement_timeout
# each time: its task fails after loss_limit, and nothing else suffers. A limit that is set
# for the whole server is none for drivers.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start
ok 'install' wf-console install "$ROOT/tests/e2e/data/heavy_report"/*.wf
sql "update wf.setting set value = '3' where name = 'loss_limit'"
# whatever a success leads to in an instance of the list takes for ever
sql 'create table heavy (instance_id bigint)'
sql 'create function weigh() returns trigger language plpgsql security definer as $$
    begin
        if exists (select from public.heavy h where h.instance_id = new.instance_id) then
            perform pg_sleep(60);
        end if;
        return new;
    end $$'
sql "create trigger weigh before update on wf.process for each row
    when (new.event = 'success') execute function weigh()"
login_create wf_driver_one wf_driver
sql "alter role wf_driver_one set statement_timeout = '1s'"
driver_start one
is 'a limit is set' "$(sql "select rolconfig from pg_roles
    where rolname = 'wf_driver_one'")" '{statement_timeout=1s}'

id=$(sql "insert into heavy select wf.start('heavy', '{\"n\": 3}')
    returning instance_id")
light=$(begin heavy -p n=50)
ended "$light" 60 || true
is 'others end meanwhile' "$(state_of "$light")" 'END success'
wait_sql 120 "select count(*) = 3 from wf.task_v
    where instance_id = $id and state = 'FAILED'" || true
is 'each of its tasks has failed' "$(sql "select distinct state, error_kind
    from (select t.state, p.error ->> 'kind' as error_kind from wf.task_v t
            join wf.process p on p.instance_id = t.instance_id and p.id = t.process_id
           where t.instance_id = $id) x")" 'FAILED|engine'
like 'a failed task says that its report took too long' "$(sql "select error ->> 'message' from wf.process
    where instance_id = $id and state = 'FAILED' limit 1")" \
    'the report could not be applied, 3 times in a row: canceling statement due to statement timeout'
is 'the driver was not given up' "$(sql "select count(*) from wf.driver
    where state = 'lost'")" 0
ok 'reports were tried in vain' \
    test "$(grep -c 'report failed: canceling statement' "$WORK/driver-one.log")" -ge 3
sql 'truncate heavy'
sql "select count(*) from wf.retry('{\"instance\": $id}')" >"$WORK/retried"
ended "$id" 60 || true
is 'a report that is light again is applied' "$(state_of "$id")" 'END success'
driver_stop one

# each statement of a turn takes longer
export PGOPTIONS='-c statement_timeout=0'
sql 'drop trigger weigh on wf.process'
sql 'create function dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(0.1); return null; end $$'
sql 'create trigger dawdle after insert on wf.event for each statement execute function dawdle()'
pg_set pg "statement_timeout = '50ms'"
limited() {
    { PGOPTIONS='' psql -XAtqc 'select pg_sleep(1)' 2>&1 || true; } | grep 'due to statement timeout'
}
ok 'a session has this limit if it sets none' wait_until 30 limited
login_create wf_driver_two wf_driver
PGOPTIONS='' driver_start two
id=$(begin heavy -p n=3)
ended "$id" 60 || true
is 'a limit of the whole server ends no turn of a driver' "$(state_of "$id")" 'END success'
is 'no turn failed' "$(grep -c 'canceling statement' "$WORK/driver-two.log")" 0
sound
done_testing
