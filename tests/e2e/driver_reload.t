#!/usr/bin/env bash
# driver_reload.t - the configuration is read again while the driver works.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

# config TEXT: what the file says from now on.
config() {
    printf '%s\n' "$1" >"$WORK/driver.conf"
}

# said REGEX: how many lines of the log.
said() {
    grep -cE "$1" "$WORK/driver-one.log" || true
}

said_more() {
    [ "$(said "$1")" -gt "$2" ]
}

# reload REGEX: and wait for one more such line of the log.
reload() {
    local before
    before=$(said "$1")
    kill -HUP "$(pid_of driver-one)"
    ok "reload: $1" wait_until 10 said_more "$1" "$before"
}

# allowed TITLE: how that task of the workflow stands.
allowed() {
    sql "select state from wf.task_v
          where instance_id = $id and title = '$1'"
}

# try: what the driver may do.
try() {
    id=$(begin driver_allowed -p "url=$HTTP_URL/")
    wait_sql 20 "select bool_and(state in ('END', 'FAILED')) from wf.task_v
        where instance_id = $id"
}

slots() {
    sql "select slots from wf.driver_v where name = 'one' and state = 'live'"
}

nginx_start "location / { return 200 'yes'; }
    location /long { echo_sleep 5; add_header X-Long $(printf '%02000d' 0); echo yes; }"
workspace_start
login_create etl wf_app
ok 'install' wf-console install "$ROOT/tests/e2e/data/driver/reload.wf"
# shellcheck disable=SC2034 # for driver_start
DRIVER_HTTP=() # the file says it
config 'slots = 3; http: { deny = ["127.0.0.1"]; };'
notify_start told "$WORK/told"
NOTIFY_SOCKET=$WORK/told driver_start one -c "$WORK/driver.conf" \
    -o sql_connection=user=etl -o poll_max_ms=500
try
is 'not allowed: env' "$(allowed env)" FAILED
is 'not allowed: http' "$(allowed http)" FAILED

# What is wrong changes nothing.
config 'slots = 7; env = ["HOME"]; http: { deny = ["10.0.0.0/33"]; };'
reload 'not read again.*http.deny: "10.0.0.0/33" is not a host or network'
config 'slots = 0; env = ["HOME"];'
reload 'not read again.*slots is 0, outside of 1 to 10000'
config 'slots = 7; env = ["HOME"'
reload 'not read again.*driver.conf:[0-9]+: syntax error'
: >"$WORK/driver.conf"
reload 'not read again.*driver.conf is empty'
rm "$WORK/driver.conf"
mkfifo "$WORK/driver.conf"
reload 'not read again.*driver.conf is not a file'
rm "$WORK/driver.conf"
reload 'not read again.*cannot open .*driver.conf'
is 'each is said once' "$(said 'not read again')" 6
is 'slots are as they were' "$(slots)" 3
try
is 'still not allowed' "$(allowed env) $(allowed http)" 'FAILED FAILED'

# What is good counts at once; what is under way goes on.
slow=$(begin driver_reload)
in_state "$slow" sql.Exec START_REQUESTED
config 'slots = 400; env = ["HOME"]; connections = 3; poll_max_ms = 9; name = "x";
    http: { allow = ["127.0.0.0/8"]; };'
reload 'configuration read again'
is 'the rest is named' \
    "$(said 'these options have changed, but the driver reads them at its start only: connections$')" 1
ok 'the workspace knows the slots' wait_sql 10 "select slots = 400
    from wf.driver_v where name = 'one' and state = 'live'"
is 'a running request does not hold up the reload' "$(sql "select state from wf.task_v
    where instance_id = $slow")" START_REQUESTED
try
is 'now allowed' "$(allowed env) $(allowed http)" 'END END'
ended "$slow" || true
is 'the running request has ended' "$(state_of "$slow")" 'END success'
is 'the running request ran once' "$(sql "select attempt from wf.task_v
    where instance_id = $slow")" 1
is 'the supervisor knows' "$(sed -n 's/^[0-9.]* \(READY=1\|RELOADING=1\).*/\1/p' \
    "$WORK/told.told" | head -n 3 | xargs)" 'READY=1 RELOADING=1 READY=1'

# An open connection is no way around a new rule.
config 'slots = 400; env = ["HOME"]; http: { allow = ["10.0.0.0/8"]; };'
reload 'configuration read again'
try
is 'the rule counts' "$(allowed http)" FAILED
is 'a denial' "$(sql "select error ->> 'kind' from wf.task_v
    where instance_id = $id and title = 'http'")" rejected

# A limit that is lowered is for requests that begin later.
config 'env = ["HOME"]; http: { allow = ["127.0.0.0/8"]; };'
reload 'configuration read again'
long=$(begin driver_allowed -p "url=$HTTP_URL/long")
in_state "$long" http.Request START_REQUESTED
config 'env = ["HOME"]; http: { allow = ["127.0.0.0/8"]; max_headers = 1024; };'
reload 'configuration read again'
is 'a request is under way when its limit is lowered' "$(sql "select state from wf.task_v
    where instance_id = $long and title = 'http'")" START_REQUESTED
ended "$long" || true
is 'a request that is under way keeps its limit' "$(state_of "$long")" 'END success'
long=$(begin driver_allowed -p "url=$HTTP_URL/long")
ok 'the next one ends' wait_sql 20 "select state = 'FAILED' from wf.task_v
    where instance_id = $long and title = 'http'"
like 'the next request has the new limit' "$(sql "select error ->> 'message' from wf.task_v
    where instance_id = $long and title = 'http'")" '1024'

status=0
driver_stop one || status=$?
is 'the driver ends well' "$status" 0
sound
done_testing
