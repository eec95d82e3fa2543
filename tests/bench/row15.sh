# shellcheck shell=bash
# row15.sh - row 1 beside what else there is, where there is Node

PEERS=$BUILD/peers

row_15() {
    local workflows run
    peers_install || return 0
    workflows=$(count 20000)
    for ((run = 1; run <= RUNS; run++)); do
        we "$workflows"
        peer dbos "$(count 4000)"
        peer graphile "$(count 4000)"
        peer pg_boss "$workflows"
    done
}

# we WORKFLOWS: OUR_RATE.
we() {
    workspace_fresh "$BENCH/three.wf"
    begin_many three "$1"
    # shellcheck disable=SC2119
    driver_begin
    all_ended
    OUR_RATE=$(calc "$1 / $(work_seconds)")
    figure 15 workflows "$OUR_RATE"
    driver_end
}

# peer NAME WORKFLOWS: so many in a database of its own.
peer() {
    local seconds
    workspace_drop peer
    createdb --maintenance-db=postgres peer
    sql 'checkpoint'
    if seconds=$(PGDATABASE=peer timeout 600 node "$PEERS/$1.mjs" "$2" \
        2>"$WORK/$1.err"); then
        figure 15 "$1" "$(calc "$2 / $seconds")"
        figure 15 "beside_$1" "$(calc "$OUR_RATE * $seconds / $2")"
    else
        not_possible "$1" "$WORK/$1.err"
    fi
}

# peers_install: the programs and the packages that they need, into the build.
peers_install() {
    local lock=$BENCH/peers/package-lock.json
    if ! { command -v node && command -v "${NPM:=npm}"; } >/dev/null; then
        not_possible 'no Node, or no npm'
        return 1
    fi
    mkdir -p "$PEERS"
    cp "$BENCH"/peers/* "$PEERS"
    cmp --quiet "$lock" "$PEERS/node_modules/.installed" && return
    if ! timeout 300 "$NPM" --prefix "$PEERS" ci --ignore-scripts --no-audit \
        --no-fund --fetch-retries=1 >"$WORK/npm.out" 2>&1; then
        not_possible 'the packages do not install' "$WORK/npm.out"
        return 1
    fi
    cp "$lock" "$PEERS/node_modules/.installed"
}

# not_possible WHAT [FILE]: the first error in that file says why.
not_possible() {
    local why
    why=$(grep --ignore-case --max-count=1 error "${2:-/dev/null}" || true)
    progress "row 15: not possible here: $1${why:+: $why}"
}
