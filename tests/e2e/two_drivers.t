#!/usr/bin/env bash
# two_drivers.t - several drivers at once never do the same thing; one that is
# killed leaves nothing stuck; one that is stopped finishes what it began.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
DATA=$ROOT/tests/e2e/data/two_drivers
LOG=$WORK/nginx/access.log

nginx_start "$(cat "$DATA/nginx.conf")"
workspace_start
ok 'install' wf-console install "$DATA"/*.wf

# requests ID: how many there were, how many different addresses, how many
# different keys.
requests() {
    awk -v key="^$(trace_of "$1")-" '$4 ~ key { n++; url[$2]; keys[$4] }
        END { print n + 0, length(url), length(keys) }' "$LOG"
}

# at_work ID: how many drivers started tasks of it.
at_work() {
    sql "select count(distinct actor) from wf.event_v
          where instance_id = $1 and event = 'start' and process_id is not null"
}

# busy NAME ID: wait until a driver has 5 requests of it under way.
busy() {
    wait_sql 20 "select count(*) >= 5 from wf.task_v
        where instance_id = $2 and driver = '$1'"
}

# --- a group of three over two drivers, each of which can do two at a time

driver_start left -o slots=2
driver_start right -o slots=2
id=$(begin limited -p "base=$HTTP_URL/short" -p n=40)
other=$(begin limited -p "base=$HTTP_URL/short" -p n=40)
ended "$id" 60 || true
ended "$other" 60 || true
is 'a group: both were at work' "$(at_work "$id")" 2
# when each request began: how many were under way
is 'a group: never more than three, of two drivers and two instances' "$(sql "
    with held as (
        select e.instance_id, e.process_id,
               min(e.at) filter (where e.event = 'start') as since,
               max(e.at) filter (where e.event = 'success') as until
          from wf.event_v e
          join wf.task_v t using (instance_id, process_id)
         where t.group_name = 'server'
         group by e.instance_id, e.process_id)
    select count(*), max((select count(*) from held b
                           where b.since <= a.since and a.since < b.until))
      from held a")" '80|3'
driver_stop left || true
driver_stop right || true

# --- many short requests

driver_start one -o slots=10
driver_start two -o slots=10
id=$(begin many -p "base=$HTTP_URL/short" -p n=300)
ended "$id" 60 || true
is 'two drivers: it ends' "$(state_of "$id")" 'END success'
is 'two drivers: each request once' "$(requests "$id")" '300 300 300'
is 'two drivers: both were at work' "$(at_work "$id")" 2

driver_start three -o slots=10
id=$(begin many -p "base=$HTTP_URL/short" -p n=300)
ended "$id" 60 || true
is 'three drivers: it ends' "$(state_of "$id")" 'END success'
is 'three drivers: each request once' "$(requests "$id")" '300 300 300'
is 'three drivers: all were at work' "$(at_work "$id")" 3

# --- one is told to stop: it finishes what it has begun, and takes no more

id=$(begin many -p "base=$HTTP_URL/long" -p n=60)
busy three "$id"
status=0
driver_stop three || status=$?
is 'stopped: it exits with 0' "$status" 0
is 'stopped: the workspace knows' \
    "$(sql "select state, in_flight from wf.driver_v where name = 'three'")" \
    'left|0'
ended "$id" || true
is 'stopped: nobody else notices' "$(state_of "$id")" 'END success'
is 'stopped: each request once' "$(requests "$id")" '60 60 60'

# --- one is killed: what it had is taken back when its lease is over

sql "update wf.setting set value = 5 where name = 'lease_seconds'"
id=$(begin many -p "base=$HTTP_URL/long" -p n=100)
busy one "$id"
driver_stop one KILL 2>/dev/null || true
wait_sql 30 "select state = 'lost' from wf.driver_v where name = 'one'" || true
wait_sql 60 "select not exists (select from wf.task_v
    where instance_id = $id and state not in ('END', 'FAILED'))" || true
is 'killed: its tasks have ended or are lost' \
    "$(sql "select distinct concat_ws(' ', state, error ->> 'kind')
              from wf.task_v where instance_id = $id order by 1")" \
    'END
FAILED lost'
is 'killed: only what may not be repeated is lost' \
    "$(sql "select distinct title from wf.task_v
             where instance_id = $id and state = 'FAILED'")" 'odd'
is 'killed: what may be repeated was' \
    "$(sql "select count(*) > 0 and bool_and(t.state = 'END')
              from wf.event_v e join wf.task_v t using (instance_id, process_id)
             where instance_id = $id and e.event = 'lost' and t.title = 'even'")" t
is 'killed: nothing else was done twice' \
    "$(awk -v key="^$(trace_of "$id")-" '$4 ~ key { n[$2]++ }
        END { for (url in n) if (n[url] > 1 && url ~ /[13579]$/) print url }' \
        "$LOG")" ''
sound
ok 'an operator decides' wf-console retry "$id" --failed --yes
ended "$id" || true
is 'killed: then it ends' "$(state_of "$id")" 'END success'
sound
done_testing
