#!/usr/bin/env bash
# driver_ssh.t - what becomes of commands over SSH, good and bad.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

# Two hosts, one of them behind the other.
sshd_start behind
behind_port=$SSH_PORT
sshd_start
cat >>"$SSH_CONFIG" <<END
Host behind
    ProxyJump worker
Host behind-a-stranger
    ProxyJump stranger
Host behind-anybody
    ProxyJump anybody
Host behind*
    HostName 127.0.0.1
    Port $behind_port
    User $SERVER_USER
    IdentityFile $WORK/behind.key
    IdentitiesOnly yes
    UserKnownHostsFile $WORK/behind.known
    GlobalKnownHostsFile /dev/null
Host anybody
    StrictHostKeyChecking no
Host stranger anybody
    HostName 127.0.0.1
    Port $SSH_PORT
    User $SERVER_USER
    IdentityFile $WORK/sshd.key
    IdentitiesOnly yes
    BatchMode yes
    UserKnownHostsFile /dev/null
    GlobalKnownHostsFile /dev/null
Host nobody-knows-this-key
    HostName 127.0.0.1
    Port $SSH_PORT
    UserKnownHostsFile /dev/null
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking no
END
workspace_start
driver_start one -o "ssh.config_file=$SSH_CONFIG" -o ssh.max_output=4096
ok 'install' wf-console install "$ROOT/tests/e2e/data/driver/ssh.wf"
id=$(begin driver_ssh -p host=worker)
wait_sql 60 "select not exists (select from wf.task_v
    where instance_id = $id and state not in ('END', 'FAILED'))" || true

# of TITLE EXPRESSION: of the task with that title.
of() {
    sql "select $2 from wf.task_v where instance_id = $id and title = '$1'"
}

# fails TITLE KIND REGEX: how it failed.
fails() {
    is "$1: kind $2" "$(of "$1" "error ->> 'kind'")" "$2"
    like "$1: the message" "$(of "$1" "error ->> 'message'")" "$3"
}

is 'words arrive as they are' "$(of words "output ->> 'stdout'")" \
    "a b|it's|\$HOME \`x\` \\ *||"
is 'standard input' "$(of input "output ->> 'stdout'")" 'some input'
is 'environment' "$(of environment "output ->> 'stdout'")" "x 'y'"
fails script exit '^exit code 7 on worker$'
is 'a script: its output' "$(of script "error -> 'detail'")" \
    '{"stderr": "err\n", "stdout": "out\nend", "exit_code": 7}'
fails 'shell word' exit '^exit code 3'
like 'of long output the end is kept, and that is said' \
    "$(of long "output ->> 'stdout'")" $'^\\[[0-9]+ bytes cut\\]\n.*\n100000$'
is 'bytes that are no text' "$(of bytes "output ->> 'stdout'")" $'\uFFFDok'
is 'a process that a command leaves behind holds nobody up' \
    "$(of 'left behind' "output ->> 'stdout'")" started
fails slow timeout '^ssh worker did not end within 2000 ms$'
fails killed exit '^exit code 137'
fails 'wrapper killed' lost \
    '^ssh worker: the connection was lost while the command ran'
fails 'host key' ssh 'Host key verification failed'
fails option input '^host must be'
fails user input '^user must be'

# jump ID STATE: wait for what becomes of the command in that instance.
jump() {
    wait_sql 30 "select state = '$2' from wf.task_v where instance_id = $1" || true
}

# A jump host needs a known key, too.
before=$(sshd_logins)
id_behind=$(begin ssh_once -p host=behind)
jump "$id_behind" END
is 'through a jump host' "$(sql "select output ->> 'stdout' from wf.task_v
    where instance_id = $id_behind")" "there"
is 'one login on each of the two hosts' "$(($(sshd_logins) - before)) $(sshd_logins behind)" '1 1'
id_stranger=$(begin ssh_once -p host=behind-a-stranger)
jump "$id_stranger" FAILED
is 'through a jump host with an unknown key: kind ssh' "$(sql "select error ->> 'kind'
    from wf.task_v where instance_id = $id_stranger")" ssh
id_anybody=$(begin ssh_once -p host=behind-anybody)
jump "$id_anybody" END
is 'for a jump host ssh_config decides' "$(sql "select state from wf.task_v
    where instance_id = $id_anybody")" END

# the host goes, with the connections that commands share
sshd_lost
ok 'retry' wf-console retry --yes "$(sql "select instance_id || '/' || process_id
    from wf.task_v where instance_id = $id and title = 'script'")"
wait_sql 20 "select error ->> 'kind' = 'ssh' from wf.task_v
    where instance_id = $id and title = 'script'" || true
fails script ssh 'Connection refused'

id_behind=$(begin ssh_once -p host=behind)
jump "$id_behind" FAILED
is 'the jump host is gone: kind ssh' "$(sql "select error ->> 'kind'
    from wf.task_v where instance_id = $id_behind")" ssh

# Only the driver's own configuration can say that any key will do.
ok 'the host is back' sshd_again
status=0
driver_stop one || status=$?
is 'the driver stops' "$status" 0
driver_start two -o "ssh.config_file=$SSH_CONFIG" \
    -o ssh.options=StrictHostKeyChecking=no
ok 'retry' wf-console retry --yes "$(sql "select instance_id || '/' || process_id
    from wf.task_v where instance_id = $id and title = 'host key'")"
wait_sql 20 "select error ->> 'message' ~ 'Permission denied' from wf.task_v
    where instance_id = $id and title = 'host key'" || true
fails 'host key' ssh 'Permission denied'

sound
done_testing
