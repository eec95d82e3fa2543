#!/usr/bin/env bash
# service_cut.t - drivers are cut off from the service that they call, but not
# from the database, for a while: by turns what is sent is lost, or cannot be
# sent. Requests end in time, one way or the other; the rest goes on.

# A network of its own.
if [ -z "${CHAOS_NETWORK:-}" ] && unshare --net true 2>/dev/null; then
    CHAOS_NETWORK=yes exec unshare --net bash "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
. "$CHAOS/wires.sh"

campaign service_cut 2 50 "$@"
LEASE_SECONDS=5
network_needed
TIMEOUT_MS=1500
WIRE=11
export HTTP_HOST=10.$WIRE.0.1
wires_start "$WIRE"
world
DRIVER_OPTIONS+=(-o "sql_connection=user=etl" -o "http.timeout_ms=$TIMEOUT_MS"
    -o http.connect_timeout_ms=1000)
sql "insert into chaos.excused values ('timeout'), ('http')"
drivers_begin

loads() {
    load load 40 base "$BASE" ms 200 n 10
    load write 80 base "$BASE" n 20
}

drop() {
    wire_cut "$WIRE"
    sleep 2
    nap 2000
    wire_mend "$WIRE"
}

refuse() {
    "${FAR[@]}" ip route replace unreachable "$HTTP_HOST/32"
    nap 2000
    "${FAR[@]}" ip route delete unreachable "$HTTP_HOST/32"
}

for ((fault = 0; fault < FAULTS; fault++)); do
    loads
    nap 500
    work_begins loads
    if [ $((fault % 2)) -eq 0 ]; then
        drop
    else
        refuse
    fi
    retry_lost
done
all_end 120

figure faults "$FAULTS"
late=$(($(longest_failed chaos.Send) - TIMEOUT_MS))
figure overrun_ms_max "$late"
failed=0
for kind in timeout http; do
    count=$(sql "select count(*) from wf.event
        where state = 'FAILED' and detail ->> 'kind' = '$kind'")
    figure "failed_$kind" "$count"
    failed=$((failed + count))
done
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I6 I7 I8 I9
not_blind
drivers_hold
came_at_work 'the service was cut off' "$FAULTS"
happened "$failed" 'requests failed'
in_time 'requests fail in time, a second after their limit at most' "$late" 1000
is 'no driver was given up' \
    "$(sql "select count(*) from wf.driver where state <> 'live'")" 0
campaign_end
