#!/usr/bin/env bash
# outage.t - the operating guide's page for an outage, word by word: its
# commands are read from docs/operating.md and typed on a terminal, in order,
# while a service is down, a driver has died, and the latest instance is well.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

PAGE=$ROOT/docs/operating.md

# section TITLE: of the page, without what follows it.
section() {
    awk -v title="## $1" '$0 == title { inside = 1; next }
        /^## / { inside = 0 } inside' "$PAGE"
}

section 'An outage, from symptom to all-clear' >"$WORK/page"
awk '/^```/ { inside = !inside; next } inside' "$WORK/page" >"$WORK/commands"
ok 'the page is at most a page' test "$(wc -l <"$WORK/page")" -lt 60
is 'the page has commands' "$(grep -cE '^(wf-console|psql) ' "$WORK/commands")" \
    "$(wc -l <"$WORK/commands")"

cat >"$WORK/flows.wf" <<'END'
workflow nightly(base: string) {
  forall(table in ["a", "b", "c"]) {
    http.Request(url = "${base}/rows/${table}")
  }
}

workflow report(base: string) {
  http.Request(url = "${base}/rows/all")
}

workflow order(base: string) {
  http.Request(method = "POST", url = "${base}/order")
}

workflow well() {
  lb.Log(msg = "all is well")
}
END
nginx_start '
location /rows/ { echo row; }
location = /order { echo_sleep 600; echo placed; }'
workspace_start
driver_start one
export NO_COLOR=1 PSQL_PAGER=cat
wf-console install "$WORK/flows.wf" >"$WORK/installed"

# --- it begins

# Whether a request is under way.
is_connected() {
    [ -n "$(ss --tcp --no-header state established \
        "dport = :$HTTP_PORT")" ]
}

order=$(begin order -p "base=$HTTP_URL")
in_state "$order" http.Request START_REQUESTED
wait_until 20 is_connected
driver_stop one KILL 2>"$WORK/killed" || true
stop nginx
driver_start one
failed "$order"
nights=()
for _ in 1 2 3; do
    nights+=("$(begin nightly -p "base=$HTTP_URL")")
done
report=$(begin report -p "base=$HTTP_URL")
for id in "${nights[@]}"; do
    failed "$id" 3
done
failed "$report"
well=$(begin well)
ended "$well"
lost=$(task "$order" http.Request)

# --- the page

# type COMMAND: on a terminal, with yes to what is asked. Its screen: $SCREEN.
type_in() {
    local status=0
    SCREEN=$(script --quiet --return --command "stty cols 100; $1" /dev/null \
        <<<y | tr -d '\r') || status=$?
    is "$1" "$status" 0
}

mend() {
    spawn_server nginx nginx -p "$WORK/nginx/" -c "$WORK/nginx/nginx.conf" \
        -e "$WORK/nginx/error.log"
    wait_until 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/$HTTP_PORT"
}

number=0
while IFS= read -r command <&8; do
    number=$((number + 1))
    command=${command//17\/42/$lost}
    case $command in
    *'engine resume'*)
        mend
        is 'an instance that started during the outage has waited' \
            "$(state_of "$late") $(sql "select state from wf.task_v
                where instance_id = $late")" 'RUNNING INIT'
        ;;
    *'retry --failed --reason'*) wait_sql 20 "select count(*) = 3
        from wf.instance_v where workflow = 'nightly' and result = 'success'" ;;
    esac
    [ "$command" != 'wf-console stuck' ] || [ "$number" = 1 ] ||
        wait_sql 20 "select not exists (select from wf.instance_v
            where state = 'RUNNING')"
    type_in "$command"
    case $number:$command in
    1:*) like 'stuck tells the error of each' "$SCREEN" \
        "order .*lost.*nightly.*http: .*connect.*report" ;;
    2:*) like 'a driver lives' "$SCREEN" 'one +live' ;;
    *'engine pause'*) late=$(begin report -p "base=$HTTP_URL") ;;
    *psql*) like 'the lost one is named' "$SCREEN" "$lost +\| http.Request" ;;
    *resolve*) ended "$order" ;;
    *'--workflow nightly'*)
        like 'of one workflow' "$SCREEN" \
            'retry 9 processes in 3 instances of nightly\? '
        ;;
    *'retry --failed --reason'*)
        like 'the retry of all failed processes is done' "$SCREEN" "$report +[0-9]+ +done"
        ;;
    *'list --failed') like 'nothing has failed' "$SCREEN" 'no instances' ;;
    *fsck) like 'the workspace is sound' "$SCREEN" 'sound' ;;
    *stuck) like 'nobody is needed' "$SCREEN" 'nothing waits for anybody' ;;
    esac
done 8<"$WORK/commands"

# --- afterwards

is 'every instance has ended well' "$(sql "select distinct workflow, state, result
    from wf.instance_v order by 1")" 'nightly|END|success
order|END|success
report|END|success
well|END|success'
is 'a lost order was not sent again' \
    "$(sql "select max(attempt) from wf.task_v where instance_id = $order")" 1
is 'the history says why' "$(sql "select distinct reason from wf.event_v
    where reason is not null order by 1")" 'the export service is back
the order is in their list'
sound
done_testing
