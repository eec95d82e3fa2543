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
    pg_configure "$dir" "$@"
    postgres_begin "$dir"
}

# pg_configure DIR [SETTING…]: exports what says where it is.
pg_configure() {
    local dir=$1
    shift
    printf '%s\n' "listen_addresses = ''" \
        "unix_socket_directories = '$dir'" \
        "max_connections = 100" \
        "shared_buffers = 64MB" \
        "log_line_prefix = '%m %u '" "$@" >>"$dir/data/postgresql.conf"
    export PGHOST=$dir PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
    session_begin
}

# pg_stop [NAME [MODE]], pg_restart [NAME]: fast, immediate
pg_stop() {
    as_server "$PG_HOME/bin/pg_ctl" --pgdata="$WORK/${1:-pg}/data" \
        --mode="${2:-fast}" --silent --wait stop
}

pg_restart() {
    postgres_begin "$WORK/${1:-pg}"
}

# pg_copy NAME SOURCE [SETTING…]: a physical copy of a cluster in $WORK, not
# started. What stood there before is gone.
pg_copy() {
    local name=$1 source=$2 dir
    shift 2
    dir=$(server_dir "$name")
    rm -rf "$dir/data"
    as_server "$PG_HOME/bin/pg_basebackup" --pgdata="$dir/data" \
        --host="$WORK/$source" --port=5432 --username=postgres \
        --checkpoint=fast --no-sync
    printf '%s\n' "unix_socket_directories = '$dir'" "$@" \
        >>"$dir/data/postgresql.conf"
}

# pg_standby_start NAME PRIMARY [SETTING…]: a streaming standby, with a slot of
# its own. PGHOST stays.
pg_standby_start() {
    local name=$1 primary=$2
    shift 2
    sql "select pg_create_physical_replication_slot('$name', true)" \
        --host="$WORK/$primary" --dbname=postgres >/dev/null
    pg_copy "$name" "$primary" "cluster_name = '$name'" \
        "primary_conninfo = 'host=$WORK/$primary port=5432 user=postgres'" \
        "primary_slot_name = '$name'" "synchronous_standby_names = ''" "$@"
    as_server touch "$WORK/$name/data/standby.signal"
    postgres_begin "$WORK/$name"
    pg_streams "$primary" "$name" async
}

# pg_streams PRIMARY NAME STATE: wait until the standby has caught up, and its
# sync_state is that.
pg_streams() {
    wait_until 30 pg_streams_now "$@"
}

pg_streams_now() {
    [ "$(sql "select exists (select from pg_stat_replication
        where application_name = '$2' and state = 'streaming'
          and sync_state = '$3')" --host="$WORK/$1" --dbname=postgres)" = t ]
}

# pg_synchronous PRIMARY NAME: from now on what is committed there is with the
# standby.
pg_synchronous() {
    pg_set "$1" "synchronous_standby_names = '$2'"
    pg_streams "$1" "$2" sync
}

# pg_set NAME SETTING: from now on.
pg_set() {
    printf '%s\n' "$2" >>"$WORK/$1/data/postgresql.conf"
    as_server "$PG_HOME/bin/pg_ctl" --pgdata="$WORK/$1/data" --silent reload
}

# pg_cut_off NAME: a standby gets nothing more from its primary.
pg_cut_off() {
    pg_set "$1" "primary_conninfo = ''"
    wait_until 30 pg_is_cut_off "$1"
}

pg_is_cut_off() {
    [ "$(sql 'select not exists (select from pg_stat_wal_receiver)' \
        --host="$WORK/$1" --dbname=postgres)" = t ]
}

# pg_promote NAME: a standby becomes a primary; PGHOST is its directory.
pg_promote() {
    as_server "$PG_HOME/bin/pg_ctl" --pgdata="$WORK/$1/data" --silent --wait \
        promote
    export PGHOST=$WORK/$1
}

# pg_processes NAME: of a cluster, its postmaster first.
pg_processes() {
    local postmaster
    postmaster=$(head -n 1 "$WORK/$1/data/postmaster.pid")
    printf '%s\n' "$postmaster"
    pgrep --parent "$postmaster" || true
}

# pg_signal NAME SIGNAL: to all of them; the postmaster starts none meanwhile.
pg_signal() {
    local pids
    kill -s STOP "$(head -n 1 "$WORK/$1/data/postmaster.pid")"
    mapfile -t pids < <(pg_processes "$1")
    kill -s "$2" "${pids[@]}" 2>/dev/null || true
}

# pg_kill NAME: as when its machine dies. It never comes back, which is what
# fencing is for; so nobody else would remove its shared memory.
pg_kill() {
    local memory
    memory=$(sed -n '7s/^ *[0-9]* *//p' "$WORK/$1/data/postmaster.pid")
    pg_signal "$1" KILL
    wait_until 10 ipcrm --shmem-id="$memory"
    # its lock as well: where nobody buries the dead their numbers stay in use
    rm -rf "$WORK/$1/data" "$WORK/$1"/.s.PGSQL.*
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
        --silent --wait --timeout=120 start >/dev/null && return
    tail -n 20 "$1/server.log" | while IFS= read -r line; do
        diag "$line"
    done
    return 1
}

# The last thing that happens to a cluster, be it stopped: it need not be clean.
postgres_end() {
    kill -s CONT "$(head -n 1 "$1/postmaster.pid")" 2>/dev/null || true
    as_server "$PG_HOME/bin/pg_ctl" --pgdata="$1" --mode=immediate \
        --silent --wait stop >/dev/null 2>&1
}
