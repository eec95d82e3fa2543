# shellcheck shell=bash
# full.sh - a workspace with a past and much under way, made once in a run:
#
#     1,000,000 instances that have ended
#       100,000 that sleep
#        10,000 that wait for full groups
#         5,000 with a request in flight, which another driver holds
#             1 with 100,000 tasks
#             1 with 4,000,000 tasks that have ended
#
# The engine itself brings everything there but most of what has ended: it ends
# a hundred instances and 100,000 tasks of the largest one, and full.sql writes
# their rows again and again under other numbers. The instances share the rows of
# wf.txn of these hundred.

# full_begin: PGDATABASE is that workspace, and the other driver lives.
full_begin() {
    if [ "$(sql "select count(*) from pg_database where datname = 'wf_full'" \
        --dbname=postgres)" = 0 ]; then
        full_load
    else
        export PGDATABASE=wf_full
        far_begin
    fi
}

# full_end: the other driver lived all the time, so what it holds was held.
full_end() {
    far_lives
    stop far || true
    export PGDATABASE=postgres
}

full_load() {
    workspace_new wf_full "$BENCH/three.wf" "$BENCH/full.wf"
    FAR=$(sql "select wf.register('far', '0', '{http}', '{far}', 10000)")
    far_begin
    fill waits 10000
    far_takes 10
    fill flies 5000
    far_takes "$(count 5000)"
    fill sleeps 100000
    driver_begin
    grow_tree tree "$(count 100000)"
    grow_tree giant "$(count 100000)"
    driver_end
    work_rate 5 sample 100
    psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --output=/dev/null \
        --set=before="$BEFORE" --set=copies="$(($(count 1000000) / 100 - 1))" \
        --set=giant="$TREE" --set=larger=39 --file="$BENCH/full.sql"
    sql 'vacuum analyze'
    sql 'checkpoint'
}

# grow_tree WORKFLOW TASKS: in one instance, TREE, which still runs.
grow_tree() {
    TREE=$(sql "select wf.start('$1', '{\"n\": $2}')")
    wait_sql 300 "select exists (select from wf.timer t
        where t.instance_id = $TREE)"
}

# The other driver says that it lives.
far_begin() {
    printf 'select wf.heartbeat(%s) \\watch 2\n' "$FAR" >"$WORK/far.sql"
    spawn far psql --no-psqlrc --quiet --output=/dev/null --file="$WORK/far.sql"
    wait_until 10 far_lives
}

far_lives() {
    [ "$(sql "select d.state = 'live' and d.seen_at > now() - interval '10 s'
        from wf.driver_v d where d.driver_id = $FAR")" = t ]
}

# far_takes COUNT: requests, and never answers.
far_takes() {
    local left=$1 polls
    # a poll settles at most 1,000 new names of groups
    for ((polls = 0; polls < 30 && left > 0; polls++)); do
        left=$((left - $(sql "select count(*) from wf.poll($FAR, $left) where kind = 'run'")))
    done
    [ "$left" = 0 ]
}

# fill WORKFLOW COUNT: so many instances, as many at once as people might.
fill() {
    local left portion
    left=$(count "$2")
    while [ "$left" -gt 0 ]; do
        portion=$((left < 10000 ? left : 10000))
        sql "select count(*) from wf.start_many('$1',
            (select jsonb_agg(jsonb_build_object('k', k % 10))
               from generate_series(1, $portion) k))" >/dev/null
        left=$((left - portion))
    done
}
