#!/usr/bin/env bash
# output.t - what programs write is seen while they run, and is bounded.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

sshd_start
workspace_start
driver_start one -o "ssh.config_file=$SSH_CONFIG"
wf-console install "$ROOT/tests/e2e/data/driver/ssh_many.wf" >/dev/null
sql "select wf.setting_set('output_bytes', 200000)"

# kept ID: what is kept of the only task, as one text.
kept() {
    sql "select coalesce(string_agg(body, '' order by start), '')
           from wf.output_v where instance_id = $1"
}

gate=$WORK/gate
id=$(begin ssh_many -p n=1 -p "script=printf 'one\n\303'
    until [ -e $gate ]; do sleep 0.1; done; printf '\251 \000\377'; echo two >&2")
ok 'output is seen while the program runs' wait_sql 60 "select exists (
    select from wf.output_v where instance_id = $id and body = E'one\n')"
is 'the program does run' "$(sql "select state from wf.task_v
    where instance_id = $id")" START_REQUESTED
target=$(task "$id" ssh.Run)
wf-console log "$target" -f >"$WORK/followed" &
log=$!
ok 'log shows it meanwhile' wait_until 60 grep -q '^one$' "$WORK/followed"
touch "$gate"
status=0
wait "$log" || status=$?
is 'log -f ends with the task' "$status" 0
wf-console log "$target" >"$WORK/logged"
ok 'log -f has shown all of the output' cmp "$WORK/followed" "$WORK/logged"
like 'of an instance it says whose it is' "$(wf-console log "$id")" \
    '^[0-9]+ ssh.Run \[0\] \| one'
ended "$id" 60
is 'a character that came in halves is whole, what is no text is marked' \
    "$(kept "$id")" $'one\né \uFFFD\uFFFDtwo'
is 'the streams are told apart' "$(sql "select string_agg(distinct stream, ' ')
    from wf.output_v where instance_id = $id")" 'stderr stdout'
is 'the output of the task has the whole text in the end' \
    "$(sql "select output ->> 'stdout' from wf.task_v where instance_id = $id")" \
    $'one\né \uFFFD\uFFFD'

memory() {
    awk '$1 == "VmHWM:" { print $2 }' "/proc/$(pid_of driver-one)/status"
}

before=$(memory)
id=$(begin ssh_many -p n=1 -p 'script=head -c 104857600 /dev/zero | tr "\0" "x"
    echo; echo the end')
ended "$id" 300
is 'a hundred MiB come through' "$(state_of "$id")" 'END success'
more=$(($(memory) - before))
diag "the driver took $more KiB more"
ok 'the driver does not keep them' test "$more" -le 16384
is 'the workspace does not keep a hundred MiB' "$(sql "select sum(size) <= 200000 + 65536
    from wf.output_v where instance_id = $id")" t
like 'of which the end is there' "$(kept "$id")" 'the end$'
like 'log says so, too' "$(wf-console log "$(task "$id" ssh.Run)" | head -n 1)" \
    '^\[[0-9]+ bytes dropped\]$'
is 'the view says how much of the output is dropped' "$(sql "select sum(size + dropped)
    from wf.output_v where instance_id = $id")" 104857609

id=$(begin ssh_many -p n=1 -p 'script=true')
ended "$id" 60
is 'a task that writes nothing leaves nothing' "$(kept "$id")" ''
sound
done_testing
