# shellcheck shell=bash
# wires.sh - drivers on another host, with wires to it that can be cut. Who
# includes it is in a network of his own, see half_open.t.

# Only who may have a network of his own can go on.
network_needed() {
    if [ -z "${CHAOS_NETWORK:-}" ] || ! command -v ip >/dev/null; then
        skip_all 'no network may be had, or there is no ip'
    fi
}

# wires_start NUMBER…: drivers are on another host from now on, with a wire of
# each number: 10.NUMBER.0.1 is here, 10.NUMBER.0.2 there. Needs a network of the
# script's own, see half_open.t.
wires_start() {
    local number
    spawn far unshare --net sleep infinity
    FAR=(nsenter "--net=/proc/$(pid_of far)/ns/net")
    wait_until 20 far_is_there || return
    ip link add near address 02:00:00:00:00:01 type veth \
        peer name far address 02:00:00:00:00:02 netns "$(pid_of far)"
    ip link set lo up
    ip link set near up
    "${FAR[@]}" ip link set far up
    for number; do
        ip address add "10.$number.0.1/24" dev near
        "${FAR[@]}" ip address add "10.$number.0.2/24" dev far
        wire_mend "$number"
    done
    # shellcheck disable=SC2034 # for driver_start
    DRIVER_HTTP=(-o "http.allow=127.0.0.0/8,10.0.0.0/8")
    # shellcheck disable=SC2034 # for driver_start
    DRIVER_COMMAND=("${FAR[@]}" "${DRIVER_COMMAND[@]}")
}

far_is_there() {
    [ "$(readlink "/proc/$(pid_of far)/ns/net")" != "$(readlink /proc/$$/ns/net)" ]
}

# wire_cut NUMBER, wire_mend NUMBER: what is sent, both ways, is lost, and nobody
# is told: it is sent to somebody who is not there.
wire_cut() {
    wire_leads_to "$1" 02:00:00:00:00:03 02:00:00:00:00:03
}

wire_mend() {
    wire_leads_to "$1" 02:00:00:00:00:02 02:00:00:00:00:01
}

wire_leads_to() {
    ip neighbour replace "10.$1.0.2" lladdr "$2" dev near nud permanent
    "${FAR[@]}" ip neighbour replace "10.$1.0.1" lladdr "$3" dev far nud permanent
}

# longest_failed LABEL: the longest that it took such a task to fail, in ms.
longest_failed() {
    sql "
        select coalesce(max(round(1000 * extract(epoch from x.at - x.since))), 0)
          from (select e.at, e.state, e.label, lag(e.at) over (
                           partition by e.instance_id, e.process_id order by e.seq) as since
                  from wf.event_v e) x
         where x.state = 'FAILED' and x.label = '$1'"
}
