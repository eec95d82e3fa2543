# shellcheck shell=bash
# row13.sh - 200 commands over SSH on one host

row_13() {
    local many run
    many=$(count 200 10)
    sshd_start
    for ((run = 1; run <= RUNS; run++)); do
        workspace_fresh "$BENCH/ssh.wf"
        driver_begin -o "ssh.config_file=$SSH_CONFIG"
        figure 13 commands "$(commands "$many")"
        figure 13 driver_memory "$(peak_memory "$DRIVER")"
        driver_end
    done
    stop sshd
}

# commands COUNT: per second, of one instance.
commands() {
    local id
    id=$(sql "select wf.start('commands', '{\"host\": \"worker\", \"n\": $1}')")
    all_ended
    sql "select $1 / extract(epoch from i.ended_at - i.started_at)
           from wf.instance_v i where i.instance_id = $id and i.result = 'success'"
}
