# shellcheck shell=bash
# row13.sh - 200 commands over SSH on one host

row_13() {
    local many run
    many=$(count 200 10)
    sshd_start
    for ((run = 1; run <= RUNS; run++)); do
        figure 13 alone "$(ssh_alone "$many")"
        workspace_fresh "$BENCH/ssh.wf"
        driver_begin -o "ssh.config_file=$SSH_CONFIG"
        figure 13 commands "$(commands "$many")"
        figure 13 driver_memory "$(peak_memory "$DRIVER")"
        driver_end
    done
    stop sshd
}

# ssh_alone COUNT: commands per second of OpenSSH's own client over one shared
# connection, as many at a time as the driver has over one.
ssh_alone() {
    local begin sessions
    sessions=$(sed -n 's/^[[:space:]]*sessions = \([0-9]*\);/\1/p' \
        "$ROOT/config/driver.conf.example")
    ssh -F "$SSH_CONFIG" -o ControlMaster=yes -o "ControlPath=$WORK/shared" \
        -f -N worker
    begin=$EPOCHREALTIME
    seq "$1" | xargs -P "$sessions" -I{} \
        ssh -F "$SSH_CONFIG" -o "ControlPath=$WORK/shared" worker true
    calc "$1 / ($EPOCHREALTIME - $begin)"
    ssh -F "$SSH_CONFIG" -o "ControlPath=$WORK/shared" -O exit worker 2>/dev/null
}

# commands COUNT: per second, of one instance.
commands() {
    local id
    id=$(sql "select wf.start('commands', '{\"host\": \"worker\", \"n\": $1}')")
    all_ended
    sql "select $1 / extract(epoch from i.ended_at - i.started_at)
           from wf.instance_v i where i.instance_id = $id and i.result = 'success'"
}
