#!/usr/bin/env bash
# half_open.t - all connections of drivers to the database become half-open
# while one has nothing to do, one calls a service and one is in the midst of
# SQL tasks: what is sent is lost, both ways, and nobody is told. New connections
# take another way. All of them are let go of, by either side.

# A network of its own.
if [ -z "${CHAOS_NETWORK:-}" ] && unshare --net true 2>/dev/null; then
    CHAOS_NETWORK=yes exec unshare --net bash "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
. "$CHAOS/wires.sh"

campaign half_open 3 150 "$@"
network_needed
LEASE_SECONDS=60
WIRES=(11 12) # by turns
export HTTP_HOST=10.13.0.1
wires_start "${WIRES[@]}" 13
world "listen_addresses = '*'"
as_server sed -i '1i host all all 10.0.0.0/8 trust' "$WORK/pg/data/pg_hba.conf"
pg_set pg "wal_receiver_timeout = '60s'" # and what else has changed
hosts=$(printf ',10.%d.0.1' "${WIRES[@]}")
hosts="host=${hosts#,} connect_timeout=2"
DRIVER_OPTIONS+=(-o "connection=$hosts" -o sql_connections=2
    -o "sql_connection=$hosts user=etl")
wire_cut "${WIRES[1]}"
for name in "${DRIVERS[@]}"; do
    driver_start "$name" "${DRIVER_OPTIONS[@]}" -o "queues=$name"
done

# begin WORKFLOW QUEUE [NAME VALUE…]
begin() {
    local workflow=$1 queue=$2
    shift 2
    load "$workflow" 1000 base "$BASE" queue "'$queue'" "$@"
}

# noticed NAME: how often a driver has noticed that it has no connection.
noticed() {
    grep -c 'no connection to the workspace' "$WORK/driver-$1.log" || true
}

# detected SINCE: prints how many ms it took until each driver has noticed.
detected() {
    local name
    for name in "${DRIVERS[@]}"; do
        wait_until 100 noticed_more "$name" "${before[$name]}" || true
    done
    ms_since "$1"
}

noticed_more() {
    [ "$(noticed "$1")" -gt "$2" ]
}

# all have sessions of all sorts, and leave them idle
for name in "${DRIVERS[@]}"; do
    begin pass "$name"
done
all_end 60

declare -A before
cuts=0
for ((fault = 0; fault < FAULTS; fault += ${#DRIVERS[@]})); do
    # idle ones as well as busy ones, each has its turn
    roll ${#DRIVERS[@]}
    begin call "${DRIVERS[ROLL]}" n 50
    begin wait "${DRIVERS[(ROLL + 1) % 3]}" n 10
    wait_sql 60 "select count(distinct driver_id) = 2 from wf.lease" || true
    nap 300
    for name in "${DRIVERS[@]}"; do
        before[$name]=$(noticed "$name")
    done
    at_work "$(in_flight)"
    cuts=$((cuts + 1))
    old=${WIRES[fault / 3 % 2]} new=${WIRES[(fault / 3 + 1) % 2]}
    last=$(last_driver pg)
    wire_cut "$old"
    wire_mend "$new"
    since=$EPOCHREALTIME
    # what becomes ready meanwhile
    for name in "${DRIVERS[@]}"; do
        begin pass "$name"
    done
    detected "$since" >>"$WORK/detected"
    wait_sql 100 "select count(distinct name) = ${#DRIVERS[@]}
        from wf.driver where id > $last" || true
    ms_since "$since" >>"$WORK/recovery"
    wait_sql 100 "select not exists (select from wf.instance_v
        where state = 'RUNNING')" || true
    ms_since "$since" >>"$WORK/over"
    # the server keeps none of them, be it at something or not
    wait_sql 30 "select not exists (select from pg_stat_activity
        where client_addr << '10.$old.0.0/24')" ||
        printf '%s\n' "$old" >>"$WORK/kept"
    ms_since "$since" >>"$WORK/let_go"
done
all_end 60

figure faults "$FAULTS"
figure_of_times over_ms "$WORK/over"
figure_of_times let_go_ms "$WORK/let_go"
figure pickup_ms_max "$(sql "
    select max(round(1000 * extract(epoch from x.at - i.started_at)))
      from wf.instance_v i
      join (select instance_id, min(at) as at from wf.event
             where state = 'START_REQUESTED' group by 1) x using (instance_id)
     where i.workflow = 'pass'")"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I6 I7 I9
not_blind
drivers_hold
came_at_work 'connections became half-open' "$cuts"
recovers_in 20000 'each half-open connection was noticed' \
    'docs/reliability.md: 16 s; the rest is for a busy machine' detected
recovers_in 22000 'each driver was connected anew' \
    'docs/reliability.md: 16 s; connect_timeout, 2 s, for the host that was good; the rest is for a busy machine'
ok 'the server has let go of all of them' test ! -e "$WORK/kept"
is 'nobody was needed' "$(sql "select * from wf.event
    where event = 'retry' or event = 'lost' and state = 'FAILED' limit 10")" ''
campaign_end
