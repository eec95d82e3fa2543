#!/usr/bin/env bash
# ssh_shared.t - commands that share connections, and what becomes of those.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start
wf-console install "$ROOT/tests/e2e/data/driver/ssh_many.wf" >/dev/null

# driver_on SSHD OPTION…: the only driver, for the host behind that sshd.
driver_on() {
    local sshd=$1
    shift
    driver_start one -o "ssh.config_file=$WORK/$sshd.config" \
        -o "ssh.socket_dir=$WORK" "$@"
}

# many COUNT SCRIPT: start an instance, print its id.
many() {
    begin ssh_many -p "n=$1" -p "script=$2"
}

# succeeds TITLE ID
succeeds() {
    ended "$2" 120 || true
    is "$1" "$(state_of "$2")" 'END success'
}

# shared: the directories that there are.
shared() {
    compgen -G "$WORK/pgwf-ssh.*" || true
}

# masters: the clients that hold shared connections.
masters() {
    pgrep --full "ControlPath=$WORK/pgwf-ssh\\..* -N " || true
}

no_masters() {
    [ -z "$(masters)" ]
}

# sshd_drops NAME: how many connections were too many for it.
sshd_drops() {
    grep -c 'past MaxStartups' "$WORK/$1.log" || true
}

# fail_all COUNT PATTERN: that many commands, because of that.
fail_all() {
    local id
    id=$(many "$1" true)
    wait_sql 20 "select count(*) = $1 from wf.task_v where instance_id = $id
        and state = 'FAILED' and error ->> 'kind' = 'ssh'
        and error ->> 'message' ~ '$2'"
}

three_run() {
    [ "$(pgrep --full --count "^sleep 31416\.$OWN\$")" -eq 3 ]
}

sshd_start narrow 'MaxSessions 3' 'MaxStartups 3:100:3'
driver_on narrow -o ssh.connecting=2 -o ssh.connections=2 -o ssh.sessions=3
succeeds 'more commands than the connections carry' \
    "$(many 20 'sleep 0.2')"
is 'connections are shared' "$(($(sshd_logins narrow) <= 2))" 1
is 'the directory of the sockets is private' "$(stat -c %a "$(shared)")" 700

pids=$(masters)
id=$(many 3 "sleep 31416.$OWN")
wait_until 60 three_run
# shellcheck disable=SC2086
kill -s KILL $pids
ok 'commands whose connection is lost are lost' \
    wait_sql 60 "select count(*) = 3 from wf.task_v where instance_id = $id
        and state = 'FAILED' and error ->> 'kind' = 'lost'"
succeeds 'a new connection is made after the lost one' "$(many 1 true)"
wf-console abort --yes --reason 'seen' "$id" >/dev/null

driver_stop one
is 'no directory stays' "$(shared)" ''
ok 'no connection stays' wait_until 60 no_masters

driver_on narrow
succeeds 'a host that takes less than we think' "$(many 30 'sleep 0.1')"
ok 'the log says how many sessions the host takes' grep -q 'takes no more than [0-9] sessions' \
    "$WORK/driver-one.log"

driver_stop one

# named_on OPTION…: what the host sees of a variable that SendEnv names.
named_on() {
    local id
    LANG=en_GB.UTF-8 driver_on narrow -o ssh.options=SendEnv=LANG "$@"
    # shellcheck disable=SC2016 # the host's shell expands it
    id=$(many 1 'echo "$LANG"')
    ended "$id"
    driver_stop one
    sql "select output ->> 'stdout' from wf.task_v where instance_id = $id"
}
is 'a shared connection sends what SendEnv names' "$(named_on)" 'en_GB.UTF-8'
is 'a connection of its own sends the same' "$(named_on -o ssh.sessions=0)" 'en_GB.UTF-8'

driver_on narrow
succeeds 'a host' "$(many 1 true)"
driver_stop one KILL || true
ok 'a driver that is killed leaves its directory' test -d "$(shared)"
ok 'the connections of a killed driver end' wait_until 60 no_masters
left=$(shared)
driver_on narrow -o ssh.idle_ms=0
succeeds 'the next one' "$(many 1 true)"
is 'removes it' "$(find "$WORK" -maxdepth 1 -path "$left")" ''
ok 'an idle connection is closed' wait_until 60 no_masters
driver_stop one

before=$(sshd_logins narrow)
driver_on narrow -o ssh.connections=2 -o ssh.sessions=3
succeeds 'commands that take seconds' "$(many 6 'sleep 3')"
is 'the commands that wait behind them get a second connection' "$(($(sshd_logins narrow) - before))" 2
driver_stop one

before=$(sshd_logins narrow)
driver_on narrow -o ssh.sessions=0 -o ssh.connecting=2
succeeds 'nothing is shared' "$(many 10 true)"
is 'each has a connection of its own' \
    "$(($(sshd_logins narrow) - before))" 10
driver_stop one

before=$(sshd_drops narrow)
driver_on narrow -o ssh.sessions=0 -o ssh.connecting=10
succeeds 'more logins at once than the host takes' "$(many 30 true)"
ok 'the host refuses logins that are too many' test "$(sshd_drops narrow)" -gt "$before"
driver_stop one

long=$WORK/$(printf '%080d' 0)
mkdir "$long"
driver_on narrow -o "ssh.socket_dir=$long"
succeeds 'no place for sockets' "$(many 1 true)"
ok 'the log says that the place cannot hold sockets' grep -q 'not shared: .* cannot hold sockets' \
    "$WORK/driver-one.log"
driver_stop one

driver_on narrow -o "ssh.socket_dir=$WORK/later"
succeeds 'a place for sockets that is not there' "$(many 1 true)"
mkdir "$WORK/later"
succeeds 'commands are done when there is a place for sockets' "$(many 1 true)"
ok 'the place for sockets is used' compgen -G "$WORK/later/pgwf-ssh.*"
driver_stop one

# another one under the name and the port that is known
driver_on narrow
succeeds 'a host' "$(many 1 true)"
pkill -P "$(pid_of narrow)"
stop narrow || true
ok 'a host that is gone is told of' fail_all 30 'Connection refused'
driver_stop one
driver_on narrow -o ssh.sessions=0
ok 'if nothing is shared, too' fail_all 30 'Connection refused'
rm "$WORK/narrow/host_key"
as_server ssh-keygen -q -t ed25519 -N '' -C other -f "$WORK/narrow/host_key"
sshd_again narrow
ok 'a host that has changed its key is not trusted' \
    fail_all 2 'Host key verification failed'
sound
done_testing
