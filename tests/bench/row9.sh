# shellcheck shell=bash
# row9.sh - 10,000 instances started one by one, and in bulk

CLIENTS=8

row_9() {
    local instances run
    instances=$(count 10000)
    for ((run = 1; run <= RUNS; run++)); do
        bare_queue 9 "$(count 60000)" 2
        bare_queue 9 "$(count 60000)" 4
        workspace_fresh "$BENCH/three.wf"
        sql 'create table bare (
                id bigint generated always as identity primary key, at timestamptz)'
        sql 'checkpoint'
        commits 9 inserts "$instances" 'insert into bare (at) values (now())'
        commits 9 one_by_one "$instances" "select wf.start('three')"
        in_bulk "$instances"
    done
}

# commits ROW FIGURE COUNT STATEMENT: per second, one after the other in each of
# the clients.
commits() {
    printf '%s;\n' "$4" >"$WORK/commits.sql"
    pgbench --no-vacuum --protocol=prepared --client="$CLIENTS" --jobs=2 \
        --transactions="$(($3 / CLIENTS))" --file="$WORK/commits.sql" \
        >"$WORK/pgbench.out"
    figure "$1" "$2" "$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$WORK/pgbench.out")"
}

in_bulk() {
    local begin=$EPOCHREALTIME
    sql "select count(*) from wf.start_many('three',
        (select jsonb_agg('{}'::jsonb) from generate_series(1, $1)))" >/dev/null
    figure 9 bulk "$(calc "$1 / ($EPOCHREALTIME - $begin)")"
}
