# shellcheck shell=bash
# row16.sh - 20,000 SQL tasks that insert one row each, exactly once

row_16() {
    local tasks run
    tasks=$(count 20000)
    # shellcheck disable=SC2016 # the workflow's $1
    printf '%s\n' 'workflow land(n: int) { forall(i in 1..n) {' \
        'sql.Exec(statement = "insert into landed (n) values ($1)", params = [i])' \
        '} }' >"$WORK/land.wf"
    for ((run = 1; run <= RUNS; run++)); do
        workspace_fresh "$WORK/land.wf"
        sql 'create table landed (n int primary key)'
        [ "$(sql "select to_regrole('bench_etl') is null")" = f ] ||
            login_create bench_etl wf_app
        sql 'grant insert on landed to bench_etl'
        sql 'create table bare (
                n bigint generated always as identity primary key, at timestamptz)'
        sql 'checkpoint'
        commits 16 inserts "$tasks" 'insert into bare (at) values (now())'
        figure 16 tasks "$(landed "$tasks")"
    done
}

# landed COUNT: per second, of one instance.
landed() {
    sql "select wf.start('land', '{\"n\": $1}')" >/dev/null
    driver_begin -o sql_connection=user=bench_etl -o sql_connections=8
    all_ended
    [ "$(sql 'select count(*) from landed')" = "$1" ]
    calc "$1 / $(work_seconds)"
    driver_end
}
