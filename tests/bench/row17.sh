# shellcheck shell=bash
# row17.sh - one task while all slots are busy with one forall

row_17() {
    local run samples
    samples=$(count 200 20) # of either kind there are some
    nginx_start 'location / { echo_sleep 0.2; echo fine; }'
    printf '%s\n' 'workflow flood() {' \
        "  forall(i in 1..50000) { http.Request(url = \"$HTTP_URL/\") }" '}' \
        'workflow single() { sql.Exec(statement = "select 1") }' >"$WORK/flood.wf"
    for ((run = 1; run <= RUNS; run++)); do
        workspace_fresh "$WORK/flood.wf"
        login_create etl wf_app
        driver_begin -o sql_connection="dbname=$PGDATABASE user=etl"
        starve "$samples"
        driver_end
    done
    stop nginx || true
}

# starve SAMPLES: so many tasks that are urgent, by turns with others that are
# not, come to a driver that has all slots busy.
starve() {
    local flood first
    flood=$(sql "select wf.start('flood')")
    wait_sql 60 'select count(*) > 250 from wf.lease' || true
    first=$(sql 'select max(instance_id) from wf.instance_v')
    start_paced "$1" "wf.start('single', '{}', null, 1000 * (random() < 0.5)::int)"
    figure 17 slots "$(sql 'select count(*) from wf.lease')"
    wait_sql 60 "select not exists (select from wf.instance_v
        where instance_id > $first and state = 'RUNNING')" || true
    begun "$first" '> 0'
    figure 17 urgent_p50 "$(percentile 50)"
    figure 17 urgent_p99 "$(percentile 99)"
    begun "$first" '= 0'
    figure 17 ordinary_p50 "$(percentile 50)"
    figure 17 ordinary_max "$(percentile 100)"
    sql "select answer from wf.abort('{\"instance\": $flood}')" >/dev/null
}

# begun FIRST PRIORITY: after how many ms the tasks of the instances behind FIRST
# were handed out.
begun() {
    sql "select extract(epoch from e.at - i.started_at) * 1000
           from wf.instance_v i
           join wf.event_v e on e.instance_id = i.instance_id
            and e.process_id is not null and e.event = 'start'
          where i.instance_id > $1 and i.priority $2" | sort -n >"$WORK/delays"
}
