# shellcheck shell=bash
# engine.sh - the database, the workspace and the driver that are measured.

# PostgreSQL as it comes, durability and all, but with the memory that a server
# has and room for 64 drivers. Statements are counted only while a row asks for
# it; the log names sessions, for durations.
engine_start() {
    local fsync=on
    figures_matter || fsync=off
    pg_start pg "fsync = $fsync" 'shared_buffers = 1GB' 'max_connections = 250' \
        "log_line_prefix = '%c '" \
        "shared_preload_libraries = 'pg_stat_statements'" \
        'pg_stat_statements.track = none' 'compute_query_id = off'
    sql 'create extension pg_stat_statements' --dbname=postgres
    workspace_install wf_empty
}

# workspace_fresh FILE…: database wf, made anew, with these workflows.
workspace_fresh() {
    workspace_drop wf
    workspace_new wf "$@"
}

# workspace_new DATABASE FILE…: a workspace that has never been at work.
# Exports PGDATABASE.
workspace_new() {
    export PGDATABASE=$1
    shift
    database_clone wf_empty "$PGDATABASE"
    wf-console install "$@" >/dev/null
    BEFORE=0
}

workspace_drop() {
    dropdb --if-exists --maintenance-db=postgres --force "$1" 2>/dev/null
}

# begin_many WORKFLOW COUNT: instances, in one transaction. BEFORE is the one
# before them.
begin_many() {
    begin_each "$1" "$2" "'{}'::jsonb"
}

# begin_each WORKFLOW COUNT PARAMETERS: the same, with parameters of its own for
# the i-th, an expression in SQL.
begin_each() {
    BEFORE=$(sql 'select coalesce(max(instance_id), 0) from wf.instance_v')
    sql "select count(*) from wf.start_many('$1',
        (select jsonb_agg($3) from generate_series(1, $2) i))" >/dev/null
    sql 'checkpoint'
}

# wal_worn_in: the server has WAL files to use again, as while a load lasts. Each file
# of 16 MB that PostgreSQL must make anew lets everybody wait for some 50 ms.
wal_worn_in() {
    sql "do \$\$ begin
        for file in 1 .. $(count 40 1) loop
            perform pg_logical_emit_message(false, 'bench', 'a file has something in it'), pg_switch_wal();
        end loop;
        end \$\$"
    sql 'checkpoint'
}

# driver_begin [OPTION…], driver_end: the driver as it is installed. DRIVER is
# its pid.
# shellcheck disable=SC2120 # row 13 has options
driver_begin() {
    driver_start bench -o log_level=info "$@"
    DRIVER=$(pid_of driver-bench)
}

driver_end() {
    driver_stop bench
}

# all_ended [SECONDS]: wait until nothing runs any more of what came after BEFORE,
# looking as often (0.02) from inside the server and by index, which costs next to
# nothing.
# shellcheck disable=SC2120 # row 10 looks less often
all_ended() {
    local pause=${1:-0.02}
    PGOPTIONS='-c enable_seqscan=off' sql "do \$\$
        begin
            loop
                exit when (select i.state from wf.instance i
                            order by i.id desc limit 1) <> 'RUNNING';
                commit;
                perform pg_sleep($pause);
            end loop;
            loop
                exit when not exists (
                    select from wf.instance i
                     where i.id > $BEFORE and i.state = 'RUNNING');
                commit;
                perform pg_sleep($pause);
            end loop;
        end
        \$\$"
}

# work_seconds: from the driver's registration to the end of the last instance
# after BEFORE.
work_seconds() {
    sql "select extract(epoch from max(i.ended_at) -
                (select max(d.started_at) from wf.driver_v d))
           from wf.instance_v i where i.instance_id > $BEFORE"
}

# work_rate ROW FIGURE WORKFLOWS: row 1's work, wherever PGDATABASE is: no-op
# tasks per second of so many three-step workflows, and as FIGURE_cpu what each
# takes of the server.
work_rate() {
    begin_many three "$3"
    finish_begun "$@"
}

# finish_begun ROW FIGURE WORKFLOWS: the same of those that begin_many began.
finish_begun() {
    meter_start
    # shellcheck disable=SC2119
    driver_begin
    all_ended
    meter_stop
    figure "$1" "$2" "$(calc "3 * $3 / $(work_seconds)")"
    figure "$1" "$2_cpu" "$(calc "$METER_SERVER / (3 * $3) * 1000")"
    driver_end
}

# work_figures ROW TASKS [PREFIX]: what a run of so many tasks has cost, from
# meter_start to now; PREFIX begins the names of the figures. Prints the tasks per
# second.
work_figures() {
    local seconds driver prefix=${3:-}
    meter_stop
    driver=$(cpu_of "$DRIVER")
    seconds=$(work_seconds)
    figure "$1" "${prefix}driver_cpu" "$(calc "$driver / $2 * 1000")"
    figure "$1" "${prefix}server_cpu" "$(calc "$METER_SERVER / $2 * 1000")"
    figure "$1" "${prefix}wal" "$(calc "$METER_WAL / $2")"
    figure "$1" "${prefix}driver_memory" "$(peak_memory "$DRIVER")"
    figure "$1" "${prefix}others" \
        "$(calc "($METER_OTHERS - $driver) / ($seconds * $(nproc)) * 100")"
    calc "$2 / $seconds"
}

# statements_count top|all|none: pg_stat_statements counts from now on, nested
# statements too, or no more.
statements_count() {
    sql "alter system set pg_stat_statements.track = '$1'"
    if [ "$1" = none ]; then
        sql 'alter system set compute_query_id = off'
    else
        sql 'alter system set compute_query_id = on'
        sql 'select pg_stat_statements_reset()' --dbname=postgres >/dev/null
    fi
    sql 'select pg_reload_conf()' >/dev/null
}

# statements WHICH: how many the drivers have caused, toplevel or not; we look
# as a superuser, the functions work as the workspace's owner.
statements() {
    sql "select coalesce(sum(s.calls), 0) from pg_stat_statements s
           join pg_database d on d.oid = s.dbid
          where d.datname = '$PGDATABASE' and $1
            and s.userid <> 'postgres'::regrole" --dbname=postgres
}

# statements_wal: the bytes of WAL that their statements wrote.
statements_wal() {
    sql "select coalesce(sum(s.wal_bytes), 0) from pg_stat_statements s
           join pg_database d on d.oid = s.dbid
          where d.datname = '$PGDATABASE' and s.toplevel
            and s.userid <> 'postgres'::regrole" --dbname=postgres
}
