#!/usr/bin/env bash
# results_huge.t - SQL tasks and a web service give gigantic results of each
# sort: each fails with kind output, or succeeds if nobody wants the rows; the
# drivers' memory is bounded, and other tasks go on.
. "$(dirname "$0")/lib.sh"

campaign results_huge 1 20 "$@"
# Of a driver with the limits that it has unless told. Each request under way may hold
# one outcome: control characters of 1 MB are 6 MB of JSON.
PEAK_MIB=$((57 + 7 * FAULTS))
WIDE_PEAK_MIB=256 # of one that takes bodies of 180 MB
LEASE_SECONDS=10 # a body of 180 MB takes a driver more than one
world
wf-console install "$CHAOS/data/huge.wf" >>"$WORK/console.log"
sql "create table chaos.kept (t text);
     create table chaos.stored (t text);
     insert into chaos.stored select repeat('x', 200000000);
     create view chaos.wide as
         select $(seq --format="repeat('x', 100000) as c%g" --separator=, 300);
     grant select on chaos.stored, chaos.wide to etl;
     grant select, insert on chaos.kept to etl"
spawn bad_service perl "$CHAOS/bad_service" "$WORK/port"
wait_until 20 test -s "$WORK/port"
DRIVERS=(one)
DRIVER_OPTIONS=(-o poll_max_ms=200 -o heartbeat_ms=500)
driver_start wide "${DRIVER_OPTIONS[@]}" -o queues=wide -o slots=1 \
    -o "http.max_body=$((180 * 1048576))"
DRIVER_OPTIONS+=(-o queues=default -o sql_connection=user=etl)
drivers_begin

# peak_of NAME: the most memory that a driver had, in MiB.
peak_of() {
    awk '$1 == "VmHWM:" { print int($2 / 1024) }' \
        "/proc/$(pid_of "driver-$1")/status"
}

# settled: whether nothing gigantic is under way.
settled() {
    sql_is_true "select not exists (select from wf.task_v
        where instance_id in ($huge, $unwanted)
          and state not in ('END', 'FAILED'))
        and exists (select from wf.instance_v
        where instance_id = $unwanted and state = 'END')"
}

begin() {
    sql "select wf.start('$1', jsonb_build_object('n', $FAULTS) || '$2')"
}

huge=$(begin huge "{\"base\": \"http://127.0.0.1:$(cat "$WORK/port")\"}")
unwanted=$(begin unwanted '{}')
deadline=$((SECONDS + 120 + FAULTS * 60))
until settled || [ "$SECONDS" -ge "$deadline" ]; do
    load load 40 base "$BASE" ms 8 n 3
    sleep 0.2
done
peak=$(peak_of one)
wide_peak=$(peak_of wide)

is 'each that is wanted fails, as too much output' "$(sql "
    select title, state, error ->> 'kind', count(*)
      from wf.task_v where instance_id = $huge group by 1, 2, 3 order by 1")" \
    "$(printf "%s|FAILED|output|$FAULTS\n" control endless flood returning rows \
        stored value wide)"
is 'each of which nobody wants rows succeeds, and counts them' "$(sql "
    select state, result from wf.instance_v where instance_id = $unwanted
     union all
    select distinct name, value::text from wf.binding
     where instance_id = $unwanted and name = 'count'")" 'END|success
count|550001'
is 'statements that succeeded have their effect, failed ones have none' \
    "$(sql 'select count(*) from chaos.kept')" $((50000 * FAULTS))
ok "memory is bounded: $peak MiB" test "$peak" -le "$PEAK_MIB"
ok "memory is bounded with bodies of 180 MB: $wide_peak MiB" \
    test "$wide_peak" -le "$WIDE_PEAK_MIB"
is 'the drivers are what they were' \
    "$(sql 'select count(*), min(state), max(state) from wf.driver_v')" \
    '2|live|live'
ok 'other tasks went on meanwhile' sql_is_true "select exists (
    select from wf.event a
      join wf.instance_v i using (instance_id)
     where i.workflow = 'load' and a.event = 'success'
       and a.at < (select max(f.at) from wf.event f
                    where f.instance_id = $huge and f.state = 'FAILED'))"
sql "select count(*) from wf.abort('{\"instance\": $huge}', 'enough of it')" \
    >/dev/null
all_end 120

figure faults $((11 * FAULTS))
figure memory_mib "$peak"
figure wide_memory_mib "$wide_peak"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I7 I8 I9
not_blind
campaign_end
