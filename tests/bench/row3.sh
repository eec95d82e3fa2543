# shellcheck shell=bash
# row3.sh - 20,000 HTTP tasks: all alike; each another one with 50 secrets known, to a
# server that may be asked once, and to a server that knows the Idempotency-Key

row_3() {
    local tasks run
    tasks=$(count 20000)
    nginx_start 'location / { return 200 "fine"; }'
    printf 'main() { http.Request(url = "%s/") }\n' "$HTTP_URL" >"$WORK/get.wf"
    post_workflows >"$WORK/post.wf"
    secrets_put
    for ((run = 1; run <= RUNS; run++)); do
        bare_queue 3 "$tasks" 2
        bare_queue 3 "$tasks" 4
        http_ceiling
        http_tasks "$tasks"
        http_posts "$tasks" post posts_
        http_posts "$tasks" keyed keyed_
    done
    stop nginx || true
}

# What the server can answer, to a client that does nothing else.
http_ceiling() {
    command -v wrk >/dev/null || return 0
    wrk --threads 1 --connections 32 --duration "$(count 2 1)s" "$HTTP_URL/" >"$WORK/wrk.out"
    figure 3 ceiling "$(awk '$1 == "Requests/sec:" { print $2 }' "$WORK/wrk.out")"
}

http_tasks() {
    local rate
    workspace_fresh "$WORK/get.wf"
    begin_many get "$1"
    meter_start
    driver_begin
    all_ended
    rate=$(work_figures 3 "$1")
    figure 3 tasks "$rate"
    driver_end
}

# http_posts COUNT WORKFLOW FIGURE. 50 requests come first, each with a secret of its
# own: from then on the driver looks for these in all that it reports.
http_posts() {
    local rate
    workspace_fresh "$WORK/post.wf"
    sql "select wf.start('learn')" >/dev/null
    begin_each "$2" "$1" "jsonb_build_object('item', i)"
    meter_start
    driver_begin -o "secrets.directory=$SECRETS" -o "secrets.grants=* * * *"
    all_ended
    rate=$(work_figures 3 "$1" "$3")
    figure 3 "${3%_}" "$rate"
    all_known || return
    driver_end
}

# post_workflow NAME KEYED
# shellcheck disable=SC2016 # the workflow expands it
post_workflow() {
    printf 'workflow %s(item: int) {\n' "$1"
    printf '  http.Request(url = "%s/items/${item}", method = "POST", keyed = %s,\n' "$HTTP_URL" "$2"
    printf '    body = {item: item, name: "item ${item}", tags: ["new", "${item}"]})\n}\n'
}

# shellcheck disable=SC2016 # the workflow expands it
post_workflows() {
    local i
    post_workflow post false
    post_workflow keyed true
    printf 'workflow learn() {\n'
    for ((i = 1; i <= 50; i++)); do
        [ "$i" = 1 ] || printf '  ||\n'
        printf '  http.Request(url = "%s/", headers = {authorization: "Bearer ${secret("token-%d")}"})\n' \
            "$HTTP_URL" "$i"
    done
    printf '}\n'
}

secrets_put() {
    SECRETS=$(private_dir)
    head -c 1500 /dev/urandom | base64 --wrap=40 | (umask 077 &&
        awk -v tokens="$SECRETS/token-" '{ print >(tokens NR) }')
}

# all_known: the requests with a secret have ended well.
all_known() {
    [ "$(sql "select count(*) from wf.task_v t join wf.instance_v i using (instance_id)
        where i.workflow = 'learn' and t.state = 'END'")" = 50 ]
}
