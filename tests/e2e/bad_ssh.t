#!/usr/bin/env bash
# bad_ssh.t - hosts, names and commands as they should not be: each becomes one
# clear outcome, nothing is run that was not meant, on no machine.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
DATA=$ROOT/tests/e2e/data/bad_ssh

sshd_start
worker=$SSH_CONFIG worker_port=$SSH_PORT
sshd_start other # has another key

# known MARKER KEY NAME: the file NAME of known hosts, with one line.
known() {
    printf '%s[127.0.0.1]:%s %s\n' "$1" "$worker_port" \
        "$(cat "$WORK/$2/host_key.pub")" >"$WORK/$3"
}

# alias NAME CONFIG OPTION…: a host that differs from the one of CONFIG so.
alias_host() {
    printf 'Host %s\n' "$1"
    printf '    %s\n' "${@:3}"
    sed 1d "$2"
}

# forced NAME COMMAND: a host on which every command runs inside another.
forced() {
    sshd_start "$1"
    printf 'ForceCommand %s\n' "$2" >>"$WORK/$1/sshd_config"
    stop "$1"
    sshd_again "$1"
    wait_until 30 bash -c "exec 3<>/dev/tcp/127.0.0.1/$SSH_PORT"
    alias_host "$1" "$SSH_CONFIG" >>"$WORK/hosts"
}

# one that takes connections, and says nothing
# shellcheck disable=SC2016 # perl expands it
spawn silent perl -MIO::Socket::INET -e '
    my $socket = IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 9);
    open my $out, ">", $ARGV[0] or die $!;
    print $out $socket->sockport;
    close $out;
    sleep' "$WORK/silent.port"
wait_until 20 test -s "$WORK/silent.port"

known '' other changed
known '@revoked ' sshd revoked
{
    cat "$worker"
    alias_host unknown "$worker" 'UserKnownHostsFile /dev/null'
    alias_host changed "$worker" "UserKnownHostsFile $WORK/changed"
    alias_host revoked "$worker" "UserKnownHostsFile $WORK/revoked"
    alias_host gone "$worker" "Port $(free_port)"
    alias_host silent "$worker" "Port $(cat "$WORK/silent.port")"
    alias_host stranger "$worker" |
        sed "s|IdentityFile .*|IdentityFile $WORK/other.key|"
} >"$WORK/hosts"
# its shell talks before and after
# shellcheck disable=SC2016
forced noisy 'echo welcome; echo careful >&2; sh -c "$SSH_ORIGINAL_COMMAND"; code=$?; echo bye; exit $code'
# it can write no file
# shellcheck disable=SC2016
forced full 'ulimit -f 0; exec sh -c "$SSH_ORIGINAL_COMMAND"'

workspace_start
driver_start one -o "ssh.config_file=$WORK/hosts"
ok 'install' wf-console install "$DATA/bad_ssh.wf"

# ran WORKFLOW REGEX [OPTION…]: what became of it.
ran() {
    local id
    id=$(begin "$1" "${@:3}")
    wait_sql 60 "select state in ('END', 'FAILED') from wf.task_v
        where instance_id = $id" || true
    like "$1 ${*:3}" "$(sql "select concat_ws(' ', coalesce(error ->> 'kind', state),
            coalesce(error ->> 'message', output ->> 'stdout'))
        from wf.task_v where instance_id = $id")" "$2"
}

# names that are no hosts, no users, no words
# shellcheck disable=SC2016
for host in '' - '-oProxyCommand=touch x' 'worker;id' 'worker id' '%h' 'wor$(id)ker' \
    "$(printf 'a%.0s' {1..300})"; do
    ran run_there '^input host must be' -p "host=$host"
done
ran run_there '^input host must be' -p $'host=worker\nid'
for user in '' -l 'a b' 'a;id' 'a@b'; do
    ran run_there '^input user must be' -p host=worker -p "user=$user"
done
ran run_there '^input ' -p host=worker -p 'env={"A B": "x"}'
ran run_there '^input ' -p host=worker -p 'env={"A": {"b": 1}}'
ran run_words '^input ' -p host=worker -p 'command=[]'
# shellcheck disable=SC2016
ran run_words '^END -x.\$\(id\)."\|$' -p host=worker \
    -p 'command=["printf", "%s|", "-x\n$(id)\n\""]'

# codes that ssh itself or a shell might mean
for code in 1 126 127 128 255; do
    ran run_there "^exit exit code $code on worker\$" -p host=worker \
        -p "text=exit $code"
done
ran run_words '^exit exit code 127' -p host=worker -p 'command=["no-such-program"]'

# hosts that cannot be reached, or must not be trusted
ran run_there '^ssh .*Host key verification failed' -p host=unknown
ran run_there '^ssh .*(Host key verification failed|IDENTIFICATION HAS CHANGED)' -p host=changed
ran run_there '^ssh .*(revoked|Host key verification failed)' -p host=revoked
ran run_there '^ssh .*Connection refused' -p host=gone
ran run_there '^timeout ssh silent: the host was not reached in time$' \
    -p host=silent -p timeout=2s
ran run_there '^ssh .*Permission denied' -p host=stranger
ran run_there '^ssh .*resolve' -p host=nothing.invalid

# a host that talks, one that is full
ran run_there '^END fine$' -p host=noisy -p 'text=printf fine'
ran run_there '^exit exit code 9' -p host=noisy -p 'text=exit 9'
ran run_there '^END fine$' -p host=full -p 'text=printf fine'
ran job_there '^END fine$' -p host=noisy -p 'text=printf fine'
ran job_there '^exit exit code 9' -p host=noisy -p 'text=exit 9'
ran job_there '^ssh the job did not begin on full: File size' -p host=full -p 'text=printf fine'

# more than is kept, on both at once
ran run_there '^END .[0-9]+ bytes cut' -p host=worker \
    -p 'text=head -c 50000000 /dev/zero | tr "\0" a; head -c 50000000 /dev/zero | tr "\0" b >&2'
# bytes that take six each as JSON
ran run_there '^END .[0-9]+ bytes cut' -p host=worker \
    -p 'text=head -c 250000 /dev/zero | tr "\0" "\1"; head -c 250000 /dev/zero | tr "\0" "\1" >&2'
ran job_there '^END .[0-9]+ bytes cut' -p host=worker \
    -p 'text=head -c 65000 /dev/zero | tr "\0" "\1"; head -c 65000 /dev/zero | tr "\0" "\1" >&2'
sound
done_testing
