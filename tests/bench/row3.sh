# shellcheck shell=bash
# row3.sh - 20,000 HTTP tasks, beside what the server can answer

row_3() {
    local tasks run
    tasks=$(count 20000)
    nginx_start 'location / { return 200 "fine"; }'
    printf 'main() { http.Request(url = "%s/") }\n' "$HTTP_URL" >"$WORK/get.wf"
    for ((run = 1; run <= RUNS; run++)); do
        http_ceiling
        http_tasks "$tasks"
    done
    stop nginx || true
}

# What the server can answer, to a client that does nothing else.
http_ceiling() {
    command -v wrk >/dev/null || return 0
    wrk --threads 1 --connections 32 --duration 2s "$HTTP_URL/" >"$WORK/wrk.out"
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
