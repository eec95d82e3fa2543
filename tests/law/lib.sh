# shellcheck shell=bash
# lib.sh - the server and the databases in which workflows are played.

# shellcheck source=tests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# cluster: a server of its own: what is played here would be no good neighbour.
cluster() {
    pg_start law autovacuum=off fsync=off synchronous_commit=off
    workspace_install wf_law
    clock_allow
}

# database NAME: a workspace in which workflows can be played.
database() {
    database_clone wf_law "$1"
    PGDATABASE=$1 psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 \
        --file="$ROOT/tests/law/play.sql"
}
