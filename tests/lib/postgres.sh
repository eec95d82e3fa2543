# shellcheck shell=bash
# postgres.sh - private PostgreSQL servers and what speaks to them.

# The newest server that is installed.
PG_HOME=$(find /usr/lib/postgresql -mindepth 1 -maxdepth 1 2>/dev/null |
    sort -V | tail -n 1)
export PG_HOME PATH="$PG_HOME/bin:$PATH"

# pg_start [NAME [SETTING…]]: a new cluster, for superuser `postgres`.
# Exports PGHOST, PGPORT, PGUSER, PGDATABASE.
pg_start() {
    local name=${1:-pg} dir
    shift "$(($# > 0 ? 1 : 0))"
    postgres_forget
    dir=$(server_dir "$name")
    as_server "$PG_HOME/bin/initdb" --pgdata="$dir/data" --username=postgres \
        --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 \
        --locale=C.UTF-8 --no-sync >"$WORK/$name-initdb" 2>&1
    printf '%s\n' "listen_addresses = ''" \
        "unix_socket_directories = '$dir'" \
        "max_connections = 100" \
        "shared_buffers = 64MB" \
        "log_line_prefix = '%m %u '" "$@" >>"$dir/data/postgresql.conf"
    postgres_begin "$dir"
    export PGHOST=$dir PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
}

# pg_stop [NAME [MODE]], pg_restart [NAME]: fast, immediate
pg_stop() {
    as_server "$PG_HOME/bin/pg_ctl" --pgdata="$WORK/${1:-pg}/data" \
        --mode="${2:-fast}" --silent --wait stop
}

pg_restart() {
    postgres_begin "$WORK/${1:-pg}"
}

# sql QUERY [PSQL OPTION…]: its rows as plain text.
sql() {
    local query=$1
    shift
    psql --no-psqlrc --tuples-only --no-align --quiet \
        --set=ON_ERROR_STOP=1 "$@" --command="$query"
}

# pgbouncer_start USER…: in front of the cluster of pg_start, pooling
# transactions. Exports PGBOUNCER_HOST and PGBOUNCER_PORT.
pgbouncer_start() {
    local dir user
    dir=$(server_dir pgbouncer)
    for user; do
        printf '"%s" ""\n' "$user"
    done >"$dir/users"
    cat >"$dir/pgbouncer.ini" <<END
[databases]
* = host=$PGHOST port=$PGPORT
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = $dir
auth_type = trust
auth_file = $dir/users
pool_mode = transaction
ignore_startup_parameters = extra_float_digits
server_login_retry = 1
END
    spawn_server pgbouncer pgbouncer "$dir/pgbouncer.ini"
    export PGBOUNCER_HOST=$dir PGBOUNCER_PORT=6432
    wait_until 10 test -S "$dir/.s.PGSQL.6432"
}

# Forget the cluster that the caller's environment names.
postgres_forget() {
    local name
    for name in "${!PG@}"; do
        case $name in
        PG_HOME | PGBOUNCER_*) ;;
        *) unset "$name" ;;
        esac
    done
}

postgres_begin() {
    as_server "$PG_HOME/bin/pg_ctl" --pgdata="$1/data" --log="$1/server.log" \
        --silent --wait --timeout=30 start >/dev/null
}

# The last thing that happens to a cluster: it need not be clean.
postgres_end() {
    as_server "$PG_HOME/bin/pg_ctl" --pgdata="$1" --mode=immediate \
        --silent --wait stop >/dev/null 2>&1
}
