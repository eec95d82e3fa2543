#!/usr/bin/env bash
# http_abuse.t - a web service answers slowly, without end, much too much, or
# what is no HTTP: each of these fails in its own way and in time, memory is
# bounded, and other tasks go on.
. "$(dirname "$0")/lib.sh"

campaign http_abuse 2 40 "$@"
TIMEOUT_MS=3000
MAX_BODY=262144
SLOTS=40

# what the service does, and of which kind the error is
KINDS='silent timeout
slow_header timeout
slow_body timeout
slow_headers timeout
many_continue timeout
closed http
reset http
noise http
no_status http
bad_length http
short http
bad_chunk http
cut_chunk http
bad_gzip http
odd_status http
loop http
to_file http
endless output
huge output
bomb output
many_headers output
long_header output
no_text output
nul output
half_json output
nan output
nul_json output
surrogate output
big_number output
deep output'

world
wf-console install "$CHAOS/data/abuse.wf" >>"$WORK/console.log"
spawn bad_service perl "$CHAOS/bad_service" "$WORK/port"
wait_until 20 test -s "$WORK/port"
DRIVERS=(one)
DRIVER_OPTIONS+=(-o "slots=$SLOTS" -o "http.max_body=$MAX_BODY")
drivers_begin

begin=$(sql "select wf.start('abuse', jsonb_build_object('n', $FAULTS,
    'base', 'http://127.0.0.1:$(cat "$WORK/port")', 'answers',
    regexp_split_to_array(\$\$$(cut -d ' ' -f 1 <<<"$KINDS")\$\$, '\n')))")
count=$((FAULTS * $(wc -l <<<"$KINDS")))
until [ "$(sql "select failed from wf.instance_v where instance_id = $begin")" \
    -eq "$count" ] || [ "$SECONDS" -ge $((60 + FAULTS * 4)) ]; do
    load load 1000000 base "$BASE" ms 8 n 3
    sleep 0.3
done
peak=$(awk '$1 == "VmHWM:" { print $2 }' "/proc/$(pid_of driver-one)/status")

is 'each fails in its own way' "$(sql "
    select title, error ->> 'kind' from wf.task_v where instance_id = $begin
     group by 1, 2 order by 1, 2" | tr '|' ' ')" "$(sort <<<"$KINDS")"
late=$(sql "select max(extract(epoch from f.at - s.at) * 1000)::int - $TIMEOUT_MS
              from wf.event_v f
              join wf.event_v s using (instance_id, process_id)
             where instance_id = $begin and s.event = 'start' and f.state = 'FAILED'")
in_time 'requests fail in time, 3 s after their limit at most' "$late" 3000
ok "memory is bounded: $peak kB" \
    test "$peak" -lt $((16384 + 3 * SLOTS * MAX_BODY / 1024))
is 'the driver is what it was' \
    "$(sql 'select count(*), min(state) from wf.driver_v')" '1|live'
ok 'other tasks went on meanwhile' sql_is_true "select exists (
    select from wf.event_v a
      join wf.instance_v i using (instance_id)
     where i.workflow = 'load' and a.event = 'success'
       and a.at < (select max(f.at) from wf.event_v f
                    where f.instance_id = $begin and f.state = 'FAILED'))"
sql "select count(*) from wf.abort('{\"instance\": $begin}', 'enough of it')" \
    >/dev/null
all_end 120

figure faults "$count"
figure overrun_ms "$late"
figure memory_kb "$peak"
figure others_ms_p99 "$(sql "
    select round(extract(epoch from percentile_cont(0.99) within group (
               order by e.at - s.at)) * 1000)
      from wf.event_v e
      join wf.event_v s using (instance_id, process_id)
     where e.label = 'chaos.Send' and e.event = 'success' and s.event = 'start'")"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I7 I8 I9
not_blind
campaign_end
