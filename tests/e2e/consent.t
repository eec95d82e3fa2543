#!/usr/bin/env bash
# consent.t - before a verb touches several targets the console counts them and
# asks. While it asks nothing is locked, and what it then does is what it asked
# about, or less. Nor does a console that stops hold anything for long.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start
driver_start one
export NO_COLOR=1
wf-console install "$ROOT"/tests/console/flows/{hello,repair}.wf >"$WORK/install"

# ask COMMAND: the console on a terminal of its own, until it has asked. The
# test writes to its keys by descriptor 9; its screen is $WORK/screen.
ask() {
    rm -f "$WORK/keys" "$WORK/screen"
    mkfifo "$WORK/keys"
    exec 9<>"$WORK/keys"
    script --quiet --flush --return --command "stty cols 100; $1" \
        "$WORK/screen" <&9 >"$WORK/asking.log" 2>&1 &
    printf '%d\n' "$!" >"$WORK/pids/asking"
    wait_until 20 grep -qF '[y/N]' "$WORK/screen"
}

# answer KEYS: returns the exit status of the console.
answer() {
    local status=0
    printf '%s\n' "$1" >&9
    wait "$(pid_of asking)" || status=$?
    rm -f "$WORK/pids/asking"
    exec 9>&-
    tr -d '\r' <"$WORK/screen" >"$WORK/said"
    return "$status"
}

# attempts ID: of what failed in an instance.
attempts() {
    sql "select max(attempt) from wf.task_v
          where instance_id = $1 and task_type = 'wf.Fail'"
}

first=$(begin hello -p fail=true)
second=$(begin hello -p fail=true)
several=$(begin repair)
failed "$first"
failed "$second"
failed "$several" 3
healthy=$(begin hello -p n=1)
ended "$healthy"

# --- the question

ask "wf-console retry --failed"
like 'the question has the numbers of processes, instances and workflows' "$(cat "$WORK/screen")" \
    'retry 5 processes in 3 instances of 2 workflows \(repair 3, hello 2\)\? '
is 'while it asks it is in no transaction' \
    "$(sql "select state, xact_start is null from pg_stat_activity
             where application_name = 'wf-console'")" 'idle|t'
is 'the console locks nothing while it asks' \
    "$(sql "select count(*) from pg_locks l join pg_stat_activity a using (pid)
             where a.application_name = 'wf-console'")" 0
# the world goes on: one heals, one breaks
ok 'somebody else can act on it' wf-console resolve "$first" --output 1
ended "$first"
later=$(begin hello -p fail=true)
failed "$later"
status=0
answer y || status=$?
is 'the console did it' "$status" 0
wait_sql 20 "select bool_and(attempt = 2 and state = 'FAILED') from wf.task_v
    where task_type = 'wf.Fail' and instance_id in ($second, $several)" || true
is 'targets of the question were retried' "$(attempts "$second") $(attempts "$several")" \
    '2 2'
is 'a process that failed later was not retried' "$(attempts "$later")" 1
is 'an instance that had ended stayed so' "$(state_of "$first")" 'END success'
like 'the console says that one target had changed' "$(cat "$WORK/said")" \
    '1 of 5 targets had changed since they were counted'

ask "wf-console abort --failed"
like 'instances are counted as such' "$(cat "$WORK/screen")" \
    'abort 3 instances of 2 workflows \(hello 2, repair 1\)\? '
status=0
answer n || status=$?
is 'no is no' "$status" 1
is 'nothing was aborted' "$(sql "select count(*) from wf.instance_v
    where state = 'RUNNING'")" 3

# --- the latest instance of lb-workflow stays the one that was asked about

ask "wf-console action -a retry --failed --name repair"
like 'action means the latest one' "$(cat "$WORK/screen")" \
    'retry 3 processes in 1 instance of repair\? '
newer=$(begin repair)
failed "$newer" 3
answer y || true
wait_sql 20 "select count(*) = 3 from wf.process_v
    where instance_id = $several and attempt = 3 and state = 'FAILED'" || true
is 'the latest instance is that of the question, also when a newer one has started' "$(attempts "$several") $(attempts "$newer")" \
    '3 1'

# --- without a terminal

exits 'without a terminal it is refused' 2 wf-console ignore --failed
like 'the refusal says what it would have touched' "$OUTPUT" \
    'ignore would touch 8 processes in 4 instances of 2 workflows \(repair 6, hello 2\); nothing was done.*--yes'
is 'nothing was ignored' "$(sql "select count(*) from wf.process_v
    where state = 'FAILED'")" 8

# --- a console that hangs

# hold ID: somebody has that instance until the lock is let go.
hold() {
    spawn holder psql --no-psqlrc --quiet --command="begin" \
        --command="select from wf.instance where id = $1 for update" \
        --command="select pg_sleep(600)"
    wait_sql 20 "select exists (select from pg_stat_activity
        where wait_event = 'PgSleep')"
}

let_go() {
    sql "select pg_terminate_backend(pid) from pg_stat_activity
          where wait_event = 'PgSleep'" >/dev/null
    stop holder 2>/dev/null || true
}

hold "$later"
exits 'a verb waits as long as it was told' 1 \
    env PGOPTIONS='-c statement_timeout=500ms' \
    wf-console retry "$later" --yes
like 'a verb that took too long says how to give it longer' "$OUTPUT" \
    'statement timeout.*statement_timeout=1h'
before=$(attempts "$later")
# bash has it ignore ^C in the background
spawn interrupted env --default-signal=INT wf-console retry "$later" --yes
wait_sql 20 "select exists (select from pg_stat_activity
    where application_name = 'wf-console' and wait_event_type = 'Lock')"
kill -s INT "$(pid_of interrupted)"
status=0
wait "$(pid_of interrupted)" || status=$?
rm -f "$WORK/pids/interrupted"
is '^C ends a verb that waits' "$status" 130
like '^C: it says that nothing was done' "$(cat "$WORK/interrupted.log")" \
    'hint: Nothing of this statement was done'
is '^C: nothing was retried' "$(attempts "$later")" "$before"
spawn hanging wf-console retry "$later" --dry-run
wait_sql 20 "select exists (select from pg_stat_activity
    where application_name = 'wf-console' and wait_event_type = 'Lock')"
kill -s STOP "$(pid_of hanging)"
let_go
wait_sql 20 "select exists (select from pg_stat_activity
    where application_name = 'wf-console' and state = 'idle in transaction')"
pass 'a console that was stopped in a dry run is idle in its transaction'
wait_sql 30 "select not exists (select from pg_stat_activity
    where application_name = 'wf-console')"
is 'the server ends it' "$(sql "select count(*) from pg_locks l
    join pg_stat_activity a using (pid)
    where a.application_name = 'wf-console'")" 0
ok 'somebody else can act again' wf-console retry "$later" --yes
kill -s CONT "$(pid_of hanging)"
status=0
wait "$(pid_of hanging)" || status=$?
rm -f "$WORK/pids/hanging"
is 'the one that was stopped has failed' "$status" 1
sound
done_testing
