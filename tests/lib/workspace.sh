# shellcheck shell=bash
# workspace.sh - a database with the workspace in it, and drivers.

DRIVER_COMMAND=("$BUILD/wf-driver") # and what it is called through
# The services that tests call are on this machine. A driver calls no such
# address unless it is told to.
DRIVER_HTTP=(-o "http.allow=127.0.0.0/8,::1")

# workspace_install [DATABASE]: made anew. Exports PGDATABASE.
workspace_install() {
    local database=${1:-wf}
    createdb --maintenance-db=postgres "$database"
    PGDATABASE=$database
    export PGDATABASE
    psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 \
        --file="$ROOT/workspace-sql/install.sql" >"$WORK/install.log" 2>&1
}

# clock_allow: the workspace is for tests, where sessions set their clock (wf.now).
clock_allow() {
    sql "update wf.setting set value = '1' where name = 'test_clock'"
}

# workspace_start [NAME [SETTING…]]: a new cluster that has the workspace, as
# pg_start and workspace_install make it: a copy, where tests/run has made one.
workspace_start() {
    local name=${1:-pg} made=${WORK_PARENT:-}/made/data
    if [ ! -d "$made" ]; then
        pg_start "$@"
        workspace_install wf
        return
    fi
    shift "$(($# > 0 ? 1 : 0))"
    postgres_forget
    as_server cp --archive "$made" "$(server_dir "$name")"
    pg_configure "$WORK/$name" "$@"
    postgres_begin "$WORK/$name"
    export PGDATABASE=wf
}

# login_create NAME ROLE…: a user who is a member of the roles.
login_create() {
    local user=$1 role
    shift
    sql "create role \"$user\" login connection limit 50"
    for role; do
        sql "grant \"$role\" to \"$user\""
    done
}

# driver_start [NAME [DRIVER OPTION…]]: as user wf_driver_NAME, and wait until
# the workspace knows it. Its log is $WORK/driver-NAME.log.
driver_start() {
    local name=${1:-one} before
    shift "$(($# > 0 ? 1 : 0))"
    if [ "$(sql "select to_regrole('wf_driver_$name') is null")" = t ]; then
        login_create "wf_driver_$name" wf_driver
    fi
    before=$(sql 'select coalesce(max(driver_id), 0) from wf.driver_v')
    PGUSER=wf_driver_$name spawn "driver-$name" "${DRIVER_COMMAND[@]}" \
        -o name="$name" -o log_level=debug "${DRIVER_HTTP[@]}" "$@"
    wait_sql 20 "select exists (select from wf.driver_v
        where name = '$name' and state = 'live' and driver_id > $before)"
}

# driver_stop [NAME [SIGNAL]]: returns its exit status.
driver_stop() {
    stop "driver-${1:-one}" "${2:-TERM}"
}
