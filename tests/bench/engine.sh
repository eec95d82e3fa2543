# shellcheck shell=bash
# engine.sh - the database, the workspace and the driver that are measured.

# PostgreSQL as it comes, durability and all, but with the memory that a
# server has.
engine_start() {
    pg_start pg 'shared_buffers = 1GB'
}

# workspace_fresh FILE…: a database of its own, with these workflows.
workspace_fresh() {
    dropdb --if-exists --maintenance-db=postgres --force wf 2>/dev/null
    workspace_install wf
    wf-console install "$@" >/dev/null
}

# begin_many WORKFLOW COUNT: instances, in one transaction.
begin_many() {
    sql "select count(*) from wf.start_many('$1',
        (select jsonb_agg('{}'::jsonb) from generate_series(1, $2)))" >/dev/null
    sql 'checkpoint'
}

# driver_begin [OPTION…], driver_end: the driver as it is installed. DRIVER is
# its pid.
driver_begin() {
    driver_start bench -o log_level=info "$@"
    DRIVER=$(pid_of driver-bench)
}

driver_end() {
    driver_stop bench
}

# all_ended: wait until nothing runs any more, looking from inside the server,
# which costs next to nothing.
all_ended() {
    sql "do \$\$
        begin
            loop
                exit when not exists (
                    select from wf.instance_v i
                     where i.instance_id = (
                               select max(j.instance_id) from wf.instance_v j)
                       and i.state = 'RUNNING');
                commit;
                perform pg_sleep(0.02);
            end loop;
            loop
                exit when not exists (
                    select from wf.instance_v i where i.state = 'RUNNING');
                commit;
                perform pg_sleep(0.02);
            end loop;
        end
        \$\$"
}

# work_seconds: from the driver's registration to the end of the last instance.
work_seconds() {
    sql "select extract(epoch from max(i.ended_at) -
                (select max(d.started_at) from wf.driver_v d))
           from wf.instance_v i"
}

# work_figures ROW TASKS: what a run of so many tasks has cost, from meter_start
# to now. Prints the tasks per second.
work_figures() {
    local seconds driver
    meter_stop
    driver=$(cpu_of "$DRIVER")
    seconds=$(work_seconds)
    figure "$1" driver_cpu "$(calc "$driver / $2 * 1000")"
    figure "$1" server_cpu "$(calc "$METER_SERVER / $2 * 1000")"
    figure "$1" wal "$(calc "$METER_WAL / $2")"
    figure "$1" driver_memory "$(peak_memory "$DRIVER")"
    figure "$1" others \
        "$(calc "($METER_OTHERS - $driver) / ($seconds * $(nproc)) * 100")"
    calc "$2 / $seconds"
}
