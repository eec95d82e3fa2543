#!/usr/bin/env bash
# tutorial.t - what the README and the tutorial show works as they say: every
# workflow is run, every command of the first steps, as a stranger would.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
trap tutorial_end EXIT

tutorial_end() {
    local status=$?
    set +e
    wf-console local stop --dir "$WORK/local" >/dev/null 2>&1
    (exit "$status")
    work_end
}

# examples FILE: its blocks with workflows, each to a file NAME.wf here.
examples() {
    awk '
        /^```/ && inside { if (name) printf "%s", text >(name ".wf"); inside = 0; next }
        /^```/           { inside = 1; text = name = ""; next }
        inside           { text = text $0 "\n" }
        inside && /^workflow / { name = $2; sub(/\(.*/, "", name) }' "$1"
}

nginx_start "$(cat "$ROOT/tests/e2e/data/tutorial/nginx.conf")"

# --- the README

mkdir "$WORK/reader"
cd "$WORK/reader"
examples "$ROOT/README.md"
sed -i "s|127.0.0.1:8000|127.0.0.1:$HTTP_PORT|" hello.wf
postgres_forget
export PGWF_HOME=$WORK/local

# step STATUS COMMAND: a command of the README, exactly as it stands there.
# Its output: $OUTPUT.
step() {
    ok "README: $2" grep -qF -- "$2" "$ROOT/README.md"
    exits "$2 exits $1" "$1" bash -c "$2"
}

stop nginx
step 0 'wf-console check hello.wf'
step 0 'wf-console local start'
step 1 'wf-console run hello.wf'
like 'run says what to do' "$OUTPUT" 'waits for an operator: 1 failed.*retry 1'
step 0 'wf-console tree 1'
like 'tree: the siblings have ended' "$OUTPUT" '✓ forall name +END +2 of 2'
like 'tree: the request has failed' "$OUTPUT" '✗ http.Request as answer +FAILED'
step 0 'wf-console explain 1'
like 'explain names the reason' "$OUTPUT" "Couldn't connect to server"
nginx_again() {
    spawn_server nginx nginx -p "$WORK/nginx/" -c "$WORK/nginx/nginx.conf" \
        -e "$WORK/nginx/error.log"
    wait_until 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/$HTTP_PORT"
}
printf 'hello\n' >"$WORK/nginx/index.html"
nginx_again
step 0 "wf-console retry --failed --reason 'service started'"
wait_until 20 eval 'wf-console -o json list --state END | grep -q success'
step 0 'wf-console tree 1'
like 'tree: the second attempt ended' "$OUTPUT" '✓ http.Request as answer +END +attempt 2'
step 0 'wf-console history 1'
like 'history holds the reason' "$OUTPUT" 'retry +INIT +[a-z_0-9-]+ +service started'
step 0 'wf-console local stop'
unset PGWF_HOME

# --- the tutorial

mkdir "$WORK/tutorial"
cd "$WORK/tutorial"
examples "$ROOT/docs/tutorial.md"
is 'there are as many examples as blocks' "$(find . -name '*.wf' | wc -l)" \
    "$(grep -c '^```wf' "$ROOT/docs/tutorial.md")"

sshd_start
workspace_start
login_create etl wf_app
sql 'grant create on schema public to etl'
SECRET_token=open-sesame driver_start one -o "sql_connection=user=etl" -o "ssh.config_file=$SSH_CONFIG" \
    -o secrets.environment=SECRET_ -o "secrets.grants=token with_token http.Request $HTTP_URL"

for file in "$WORK"/reader/hello.wf *.wf; do
    name=$(basename "$file")
    ok "$name has no errors" wf-console check "$file"
    ok "$name is in the one layout" wf-console fmt --check "$file"
    ok "$name is installed" wf-console install "$file"
done

# result WORKFLOW [OPTION…]: run it to its end; the result and the output.
result() {
    timeout 30 wf-console -o json start "$@" --wait |
        sed -n 's/.*"result":\([^,]*\),"output":\(.*\),"error".*/\1 \2/p'
}

printf '[1, 2]' >"$WORK/nginx/a.json"
printf '[3]' >"$WORK/nginx/b.json"

is 'hello' "$(result hello)" '"success" null'
is 'pipeline' "$(result pipeline -p "base=$HTTP_URL")" '"success" {"rows": 3}'
# they meet where the table is made: somebody is about to, and does not
spawn maker psql --no-psqlrc --quiet \
    --command='begin; create table sale (); select pg_sleep(600)'
wait_sql 30 "select exists (select from pg_stat_activity
    where wait_event = 'PgSleep')"
sql "select count(*) from wf.start_many('load',
    (select jsonb_agg(jsonb_build_object('day', date '2026-01-01' + n))
       from generate_series(1, 8) n))" >/dev/null
wait_sql 30 "select count(*) filter (where query like 'create table%') > 1
         or (select sum(waiting) from wf.group_v) = 7
    from pg_stat_activity where wait_event_type = 'Lock'" || true
sql "select pg_terminate_backend(pid) from pg_stat_activity
    where wait_event = 'PgSleep'" >/dev/null
stop maker 2>/dev/null || true
wait_sql 30 "select not exists (select from wf.instance_v
    where workflow = 'load' and state = 'RUNNING' and failed = 0)" || true
is 'load: eight at once' "$(sql "select count(*) from wf.instance_v
    where workflow = 'load' and result = 'success'")" 8
sql 'truncate sale'
is 'load' "$(result load -p day=2026-11-21)" '"success" null'
is 'load: the rows' "$(sql 'select day, region from sale order by region')" \
    '2026-11-21|eu
2026-11-21|us'
id=$(begin load -p day=2026-11-22 --key 2026-11-22)
is 'load: a second start with its key is the same' \
    "$(begin load -p day=2026-11-22 --key 2026-11-22)" "$id"
is 'crawl' "$(result crawl -p "base=$HTTP_URL/page" \
    -p 'pages=["p1", "p2", "p3", "p4", "p5"]')" '"success" null'
is 'crawl: the titles' "$(sql "select min(title), max(title) from wf.task_v
    where group_name = 'server'")" 'fetch p1|fetch p5'
ok 'group set' wf-console group set server 1
is 'groups' "$(sql "select name, max from wf.group_v
    where name = 'server'")" 'server|1'
is 'probe: a case' "$(result probe -p "url=$HTTP_URL/a.json")" '"success" "up"'
is 'probe: another case' "$(result probe -p "url=$HTTP_URL/none")" \
    '"success" "empty"'
is 'with_spare' "$(result with_spare -p "url=$HTTP_URL/a.json" \
    -p "spare=$HTTP_URL/b.json")" '"success" [1, 2]'
is 'sort_there' "$(result sort_there -p host=worker -p 'lines=["b","a","b"]')" \
    '"success" "a\nb\n"'

id=$(begin print -p "url=$HTTP_URL/jobs")
in_state "$id" print.Job EXECUTING
wait_until 10 grep -q '^GET /jobs/1 200' "$WORK/nginx/access.log"
ok 'print: no driver holds it while it prints' wait_sql 10 \
    "select driver is null from wf.task_v where instance_id = $id
        and task_type = 'print.Job' and state = 'EXECUTING'"
touch "$WORK/nginx/done"
ended "$id"
is 'print' "$(state_of "$id")" 'END success'
ok 'print: the log' grep -q '2 copies' "$WORK/driver-one.log"

is 'buy' "$(result buy -p "url=$HTTP_URL/jobs" -p item=tea)" '"success" null'
is 'with_token' "$(result with_token -p "url=$HTTP_URL/a.json")" '"success" 200'

# --- asking for an approval

is 'approval: a small amount is paid at once' \
    "$(result approval -p order=6 -p amount=10)" '"success" {"paid": true}'
id=$(begin approval -p order=7 -p amount=5000)
in_state "$id" wf.Input WAITING
input=$(sql "select input_id from wf.input_v where instance_id = $id")
like 'approval: inputs lists what is asked' "$(wf-console inputs)" 'Pay 5000 for order 7'
like 'approval: explain says what it waits for' "$(wf-console explain "$id")" \
    'until whoever may signal the instance answers: Pay 5000 for order 7'
exits 'approval: a wrong answer is refused' 1 wf-console answer "$input" \
    --payload '{"approve": "yes"}'
like 'approval: with the reason' "$OUTPUT" 'approve is "yes", but has to be of type boolean'
ok 'approval: the answer is taken' wf-console answer "$input" \
    --payload '{"approve": true}'
ended "$id"
is 'approval: it is paid' "$(sql "select output from wf.instance_v
    where instance_id = $id")" '{"paid": true}'
like 'approval: tree names the instance of payment' "$(wf-console tree "$id")" \
    "instance $(sql "select instance_id from wf.instance_v where parent_id = $id")"
is 'approval: nobody answers' "$(result approval -p order=8 -p amount=5000 \
    -p patience=100ms)" '"success" {"paid": false}'

# --- when something fails

rm "$WORK/nginx/b.json"

# lame: a pipeline without its second table; prints the failed process.
lame() {
    local id
    id=$(begin pipeline -p "base=$HTTP_URL")
    failed "$id"
    sql "select instance_id || '/' || process_id from wf.process_v
          where instance_id = $id and state = 'FAILED'"
}

# told TARGET: how its instance ended, and with what.
told() {
    ended "${1%/*}" || true
    sql "select state, result, output from wf.instance_v
          where instance_id = ${1%/*}"
}

target=$(lame)
ok 'list --failed finds it' eval "wf-console -o json list --failed |
    grep '\"instance_id\":${target%/*},'"
ok 'show knows it' eval "wf-console show $target | grep 'answered 404'"
ok 'ignore' wf-console ignore "$target"
is 'ignored: a warning, its name reads as null' "$(told "$target")" \
    'END|warning|{"rows": 2}'
target=$(lame)
ok 'resolve' wf-console resolve "$target" \
    --output '{"status": 200, "headers": {}, "body": [7, 8]}'
is 'resolved: with the value given' "$(told "$target")" \
    'END|success|{"rows": 4}'
target=$(lame)
ok 'raise' wf-console raise "$target"
is 'raised: an error' "$(told "$target")" 'ABORTED|error|'
target=$(lame)
ok 'abort' wf-console abort "${target%/*}"
is 'aborted' "$(told "$target")" 'ABORTED|aborted|'
target=$(lame)
printf '[3]' >"$WORK/nginx/b.json"
ok 'retry' wf-console retry "$target"
is 'retried: as if nothing had been' "$(told "$target")" 'END|success|{"rows": 3}'

is 'every workflow of the tutorial has run to its end' \
    "$(sql "select workflow from wf.workflow_v except
            select workflow from wf.instance_v where result = 'success'")" ''
sound
done_testing
