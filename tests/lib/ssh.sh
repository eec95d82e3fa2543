# shellcheck shell=bash
# ssh.sh - a private sshd, as a host that workflows run commands on.

# sshd_start [NAME [SETTING…]]: exports SSH_CONFIG, a client configuration in
# which the host is called `worker`, and SSH_PORT; it is at SSH_HOST if that is
# set. Who logs in is at home in $WORK/NAME/home.
sshd_start() {
    local name=${1:-sshd} dir attempt
    shift "$(($# > 0 ? 1 : 0))"
    dir=$(server_dir "$name")
    ssh-keygen -q -t ed25519 -N '' -C "$name" -f "$WORK/$name.key"
    install -m 644 "$WORK/$name.key.pub" "$dir/authorized_keys"
    as_server ssh-keygen -q -t ed25519 -N '' -C "$name" -f "$dir/host_key"
    as_server mkdir "$dir/home"
    for attempt in 1 2 3 4 5; do
        SSH_PORT=$(free_port)
        sshd_configure "$dir" "$@"
        spawn_server "$name" /usr/sbin/sshd -D -e -f "$dir/sshd_config"
        if wait_until 5 sshd_answers "$name"; then
            ssh_client_configure "$name" "$dir"
            export SSH_PORT SSH_CONFIG
            return
        fi
        stop "$name" || true
        diag "sshd did not start on port $SSH_PORT, attempt $attempt" >&2
    done
    return 1
}

# sshd_lost [NAME]: kill it and each connection that it has. It is halted first: between
# the end of its connections and its own it would accept others, which outlive it.
sshd_lost() {
    local name=${1:-sshd} pid sessions
    pid=$(pid_of "$name")
    halt "$pid"
    # A session has two processes, one below the other: each outlives the other.
    mapfile -t sessions < <(below "$pid" | xargs -r ps -o pid=,comm= -p |
        awk '$2 == "sshd" { print $1 }')
    kill -s KILL "${sessions[@]}" 2>/dev/null || true
    stop "$name" KILL 2>/dev/null || true
}

# sshd_again [NAME]: one that was stopped, on the port that it had.
sshd_again() {
    local name=${1:-sshd} before
    before=$(sshd_begun "$name")
    spawn_server "$name" /usr/sbin/sshd -D -e -f "$WORK/$name/sshd_config"
    wait_until 30 sshd_answers "$name" "$before"
}

# sshd_answers NAME [BEFORE]: it has begun more often than BEFORE times.
sshd_answers() {
    [ "$(sshd_begun "$1")" -gt "${2:-0}" ]
}

# sshd_begun NAME: how often it has begun to listen on its port.
sshd_begun() {
    : >>"$WORK/$1.log"
    grep -c "listening on .* port $SSH_PORT" "$WORK/$1.log" || true
}

sshd_configure() {
    local dir=$1
    shift
    cat >"$dir/sshd_config" <<END
ListenAddress ${SSH_HOST:-127.0.0.1}
Port $SSH_PORT
HostKey $dir/host_key
PidFile none
AuthorizedKeysFile $dir/authorized_keys
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
AcceptEnv *
SetEnv HOME=$dir/home
END
    printf '%s\n' "$@" >>"$dir/sshd_config"
}

# sshd_logins [NAME]: how many there were.
sshd_logins() {
    grep -c '^Accepted publickey' "$WORK/${1:-sshd}.log" || true
}

ssh_client_configure() {
    SSH_CONFIG=$WORK/$1.config
    printf '[%s]:%s %s\n' "${SSH_HOST:-127.0.0.1}" "$SSH_PORT" "$(cat "$2/host_key.pub")" \
        >"$WORK/$1.known"
    cat >"$SSH_CONFIG" <<END
Host worker
    HostName ${SSH_HOST:-127.0.0.1}
    Port $SSH_PORT
    User $SERVER_USER
    IdentityFile $WORK/$1.key
    IdentitiesOnly yes
    UserKnownHostsFile $WORK/$1.known
    GlobalKnownHostsFile /dev/null
END
}
