#!/usr/bin/env bash
# host_cut.t - drivers are cut off from a host on which commands and jobs of
# theirs run, but not from the database and a service: by turns what is sent is
# lost, or cannot be sent. A job runs once in an attempt, a command at most once.

# A network of its own.
if [ -z "${CHAOS_NETWORK:-}" ] && unshare --net true 2>/dev/null; then
    CHAOS_NETWORK=yes exec unshare --net bash "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
. "$CHAOS/wires.sh"

campaign host_cut 2 50 "$@"
LEASE_SECONDS=5
network_needed
TIMEOUT_MS=1500
GRACE_MS=1000
# what may come on top (docs/transports.md): as long again until the host is
# reached, and until it has said that the command is over
ALLOWED_MS=$((TIMEOUT_MS + GRACE_MS + 5000))
WIRE=11
export SSH_HOST=10.$WIRE.0.1 HTTP_HOST=10.12.0.1
wires_start "$WIRE" 12
sshd_start sshd 'ClientAliveInterval 1' 'ClientAliveCountMax 3'
HOME_THERE=$WORK/sshd/home
world
wf-console install "$CHAOS/data/ssh.wf" >>"$WORK/console.log"
options=ConnectTimeout=1,ServerAliveInterval=1,ServerAliveCountMax=3
DRIVER_OPTIONS+=(-o "sql_connection=user=etl" -o sql_connections=2
    -o "ssh.config_file=$SSH_CONFIG" -o "ssh.options=$options"
    -o "ssh.timeout_ms=$TIMEOUT_MS" -o "ssh.kill_after_ms=$GRACE_MS")
drivers_begin

loads() {
    load remote 30 host "'worker'" n 6 timeout "'${TIMEOUT_MS}ms'"
    load write 60 base "$BASE" n 2
}

# under_way TYPE: how many of its requests drivers have.
under_way() {
    sql "select count(*) from wf.lease l
           join wf.task_v t using (instance_id, process_id)
          where t.task_type = '$1'"
}

both_run() {
    loads
    commands=$(under_way chaos.Run) jobs=$(under_way ssh.Job)
    [ "$commands" -gt 0 ] && [ "$jobs" -gt 0 ]
}

# others_end: wait until tasks that have nothing to do with the host have ended;
# there are some, however many wait for it.
others_end() {
    local before
    before=$(others)
    loads
    load write 10000 base "$BASE" n 2
    wait_until 30 others_more "$before" || others_stood=$((others_stood + 1))
}

others() {
    sql "select count(*) from wf.event e
           join wf.task_v t using (instance_id, process_id)
          where e.event = 'success' and t.task_type ~ '(Write|Send)'"
}

others_more() {
    [ "$(others)" -gt "$1" ]
}

host_is_empty() {
    ! pgrep --full "$HOME_THERE/.pgwf"
}

# left_over: directories of jobs, but for those whose cleanup was given up for
# what the campaign brings about, as the history says.
left_over() {
    find "$HOME_THERE/.pgwf" -mindepth 1 -maxdepth 1 ! -name '*.over' \
        -printf '%f\n' | search grep --invert-match --extended-regexp --file=<(
            sql "select format('-%s-%s\$', m.process_id, a)
                   from wf.event u
                   join wf.event m using (instance_id, process_id, xid)
                  cross join generate_series(1, m.attempt) a
                  where u.event = 'unclean'
                    and u.detail #>> '{unclean,kind}' in ('ssh', 'timeout', 'lost')"
        )
}

# unreachable: how many commands have failed since nothing could be sent.
unreachable() {
    sql "select count(*) from wf.event e where e.state = 'FAILED'
          and e.detail ->> 'message' like '%No route%'"
}

unreachable_more() {
    [ "$(unreachable)" -gt "$1" ]
}

drop() {
    wire_cut "$WIRE"
    others_end
    nap 5000
    wire_mend "$WIRE"
}

# A connection that is there only falls silent: it lasts until there is need of a
# new one.
refuse() {
    local before
    before=$(unreachable)
    "${FAR[@]}" ip route replace unreachable "$SSH_HOST/32"
    others_end
    wait_until 20 unreachable_more "$before" || true
    nap 5000
    "${FAR[@]}" ip route delete unreachable "$SSH_HOST/32"
}

others_stood=0
for ((fault = 0; fault < FAULTS; fault++)); do
    wait_until 60 both_run || true
    at_work $((commands > 0 && jobs > 0 ? commands + jobs : 0))
    if [ $((fault % 2)) -eq 0 ]; then
        drop
    else
        refuse
    fi
    retry_lost
done
all_end 180

figure faults "$FAULTS"
late=$(($(longest_failed chaos.Run) - TIMEOUT_MS))
figure overrun_ms_max "$late"
for kind in ssh timeout lost; do
    figure "failed_$kind" "$(sql "select count(*) from wf.event
        where state = 'FAILED' and detail ->> 'kind' = '$kind'")"
done
figure given_up "$(sql "select count(*) from wf.event where event = 'unclean'")"
{
    sed -nE 's,^.*-([0-9]+)-([0-9]+)$,POST\trun\t\1\t\2\t-,p' "$HOME_THERE/runs"
    sed -nE 's,^.*-([0-9]+)-([0-9]+)/job$,POST\tssh_job\t\1\t\2\t-,p' \
        "$HOME_THERE/jobs"
} | sql 'copy chaos.effect from stdin'
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I6 I7 I9
not_blind
drivers_hold
is 'no directory is left on the host, but of what was given up' "$(left_over)" ''
ok 'no process is left on the host' wait_until 30 host_is_empty
came_at_work 'the host of commands and jobs was cut off' "$FAULTS"
is 'some failed, of either sort of cut' "$(sql "
    select count(*) filter (where e.detail ->> 'message' like '%No route%') > 0,
           count(*) filter (where e.detail ->> 'message' not like '%No route%') > 0
      from wf.event e where e.state = 'FAILED'")" 't|t'
in_time 'commands fail in time, a second after what is allowed at most' "$late" \
    $((ALLOWED_MS + 1000))
is 'other tasks went on during each cut' "$others_stood" 0
is 'no driver was given up' \
    "$(sql "select count(*) from wf.driver where state <> 'live'")" 0
campaign_end
