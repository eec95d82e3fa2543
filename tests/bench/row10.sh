# shellcheck shell=bash
# row10.sh - a ledger that noise does not touch: instructions, statements and WAL of row 1's work
#
# Three kinds of work are counted: workflows of three steps, many at once (a
# task); one workflow whose steps come one after the other (a step); and a driver
# that finds nothing (a poll). Each is done in two sizes. What the larger one takes
# more is divided by what it does more. What a session does only once is therefore
# in no figure.
#
# The instructions are those of the driver's sessions in the server. valgrind
# counts them, since a guest rarely sees the counters of its processor.

row_10() {
    local run workflows steps polls
    workflows=$(count 1000 10)
    steps=$(count 300 10)
    polls=$(count 10 2)
    chain short 10 >"$WORK/chain.wf"
    chain long "$((10 + steps))" >>"$WORK/chain.wf"
    for ((run = 1; run <= RUNS; run++)); do
        workspace_fresh "$BENCH/three.wf" "$WORK/chain.wf"
        # what pages a checkpoint makes whole in the WAL depends on when it comes
        sql 'alter system set full_page_writes = off'
        ledger count_statements
        sql 'alter system reset full_page_writes'
        counted_start
        ledger count_instructions
        pg_stop
        pg_restart
    done
}

# chain NAME STEPS: a workflow.
chain() {
    local step
    printf 'workflow %s() {\n  wf.Noop()' "$1"
    for ((step = 1; step < $2; step++)); do
        printf ' ;\n  wf.Noop()'
    done
    printf '\n}\n'
}

# ledger HOW: count all three kinds of work.
ledger() {
    clock_stop
    ledger_kind "$1" task "$((3 * workflows))" \
        "begin_many three 100" "begin_many three $((100 + workflows))"
    ledger_kind "$1" step "$steps" "begin_many short 1" "begin_many long 1"
    clock_go
    ledger_kind "$1" poll "$polls" "rest 2" "rest $((2 + polls))"
}

# clock_stop, clock_go: to the driver it is always the same time. Else the upkeep of
# each second would be counted too, and with valgrind a second holds little work.
clock_stop() {
    [ "$(sql "select to_regrole('wf_driver_bench') is null")" = f ] ||
        login_create wf_driver_bench wf_driver
    sql 'grant wf_admin to wf_driver_bench'
    sql "alter role wf_driver_bench set wf.now = '$(sql 'select now()')'"
}

clock_go() {
    sql 'alter role wf_driver_bench reset wf.now'
    sql 'revoke wf_admin from wf_driver_bench'
}

# ledger_kind HOW KIND DIFFERENCE SMALL LARGE
ledger_kind() {
    local name
    declare -A small large
    "$1" small "$4"
    "$1" large "$5"
    for name in "${!small[@]}"; do
        figure 10 "$2_$name" "$(calc "(${large[$name]} - ${small[$name]}) / $3")"
    done
}

# rest SECONDS: nothing is to be done for so long.
rest() {
    BEFORE=$(sql 'select coalesce(max(instance_id), 0) from wf.instance_v')
    REST=$1
}

# work_off COMMAND: the driver does what that begins.
work_off() {
    REST=0
    $1
    # shellcheck disable=SC2119
    driver_begin
    all_ended 0.2
    sleep "$REST"
}

# count_statements COUNTS COMMAND: what the driver sends (top), what functions
# execute (nested) and the bytes of WAL, into an array of that name.
count_statements() {
    local -n counts=$1
    statements_count all
    work_off "$2"
    statements_count none
    counts[top]=$(statements toplevel)
    counts[nested]=$(statements 'not toplevel')
    counts[wal]=$(statements_wal)
    driver_end
}

# counted_start: the server begins again, and counts the instructions of each of
# its processes.
counted_start() {
    pg_stop
    printf '%s\n' '#!/bin/sh' \
        "exec valgrind --quiet --tool=callgrind --trace-children=yes \
            --callgrind-out-file='$WORK/pg/counts.%p' \
            '$PG_HOME/bin/postgres' \"\$@\"" >"$WORK/pg/counted"
    chmod 755 "$WORK/pg/counted"
    as_server "$PG_HOME/bin/pg_ctl" -p "$WORK/pg/counted" --silent --wait \
        --pgdata="$WORK/pg/data" --log="$WORK/pg/server.log" start >/dev/null
}

# count_instructions COUNTS COMMAND: those of the driver's sessions.
count_instructions() {
    local -n counts=$1
    local pids pid
    work_off "$2"
    pids=$(sql "select pid from pg_stat_activity where usename = 'wf_driver_bench'")
    driver_end
    counts[instructions]=0
    for pid in $pids; do
        wait_until 60 grep --quiet --no-messages '^totals:' "$WORK/pg/counts.$pid"
        counts[instructions]=$((counts[instructions] +
            $(sed -n 's/^totals: //p' "$WORK/pg/counts.$pid")))
    done
}
