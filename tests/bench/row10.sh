# shellcheck shell=bash
# row10.sh - a ledger that noise does not touch: instructions, statements and WAL of row 1's work
#
# Three kinds of work are counted: workflows of three steps, many at once (a
# task); steps that come one after the other (a step); and a driver that finds
# nothing (a poll). Each is done in two sizes. What the larger one takes more is
# divided by what it does more. What a session does only once is therefore in no
# figure.
#
# The instructions are those of the driver's sessions in the server. valgrind
# counts them, since a guest rarely sees the counters of its processor. They hardly
# vary, so one run is enough.

row_10() {
    local run workflows steps polls
    workflows=$(count 4000 10)
    steps=$(count 100 10)
    polls=$(count 10 2)
    chain short 20 >"$WORK/chain.wf"
    chain long "$((20 + steps))" >>"$WORK/chain.wf"
    for ((run = 1; run <= RUNS; run++)); do
        workspace_fresh "$BENCH/three.wf" "$WORK/chain.wf"
        # what pages a checkpoint makes whole in the WAL depends on when it comes
        sql 'alter system set full_page_writes = off'
        ledger count_statements
        sql 'alter system reset full_page_writes'
    done
    command -v "${VALGRIND:-valgrind}" >/dev/null || return 0
    workspace_fresh "$BENCH/three.wf" "$WORK/chain.wf"
    # autovacuum makes sessions plan their statements anew, at some moment
    sql 'alter system set autovacuum = off'
    counted_start
    ledger count_instructions
    sql 'alter system reset autovacuum'
    pg_stop
    pg_restart
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
        "drive begin_many three 100" \
        "drive begin_many three $((100 + workflows))"
    ledger_kind "$1" step "$steps" "take_turns short 20" \
        "take_turns long $((20 + steps))"
    clock_go
    ledger_kind "$1" poll "$polls" "drive find_nothing 2" "drive find_nothing $((2 + polls))"
}

# clock_stop, clock_go: to the driver it is always the same time. Else the upkeep of
# each second would be counted too, and with valgrind a second holds little work. A
# look at the queue that has been slow is repeated later. While time stands still that
# would be never, so meanwhile each look is repeated at once.
clock_stop() {
    [ "$(sql "select to_regrole('wf_driver_bench') is null")" = f ] ||
        login_create wf_driver_bench wf_driver
    clock_allow
    sql 'grant wf_admin to wf_driver_bench'
    sql "alter role wf_driver_bench set wf.now = '$(sql 'select now()')'"
    LOOK_REST=$(sql "select pg_get_functiondef('wf._look_rest'::regproc)")
    sql 'create or replace function wf._look_rest(p_cost numeric) returns numeric
        language sql immutable begin atomic select 0::numeric; end'
}

clock_go() {
    sql "$LOOK_REST"
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

# drive COMMAND…: a driver does what that begins. PIDS are those of its sessions in
# the server.
drive() {
    # shellcheck disable=SC2034 # all_ended looks behind it
    BEFORE=$(sql 'select coalesce(max(instance_id), 0) from wf.instance_v')
    REST=0
    "$@"
    # shellcheck disable=SC2119
    driver_begin
    all_ended 0.2
    sleep "$REST"
    PIDS=$(sql "select pid from pg_stat_activity where usename = 'wf_driver_bench'")
    driver_end
}

# find_nothing SECONDS: nothing is to be done for so long.
find_nothing() {
    REST=$1
}

# take_turns WORKFLOW STEPS: one session does what a driver does that has one request
# at a time. A driver itself would vary what it asks with the time that answers take.
take_turns() {
    sql 'vacuum wf.ready' # the tasks before have left dead rows
    begin_many "$1" 1
    turns "$2" >"$WORK/turns.sql"
    PIDS=$(PGUSER=wf_driver_bench psql --no-psqlrc --tuples-only --no-align \
        --quiet --set=ON_ERROR_STOP=1 --file="$WORK/turns.sql" |
        sed -n 's/^session //p')
}

# turns STEPS: what it sends.
turns() {
    local step poll="select instance_id as i, process_id as j, token as t
        from wf.poll(:driver, 256, 500, '{\"http\": 1, \"ssh\": 1}')
        where kind = 'run' \\gset"
    printf '%s\n' "select 'session ' || pg_backend_pid();" \
        "select wf.register('bench', '0', '{builtin,http,sql,ssh,exec}',
            '{default}', 256) as driver \\gset" "$poll"
    for ((step = 1; step <= $1; step++)); do
        printf '%s\n' 'begin;' "select * from wf.outcome(:driver, array[:i],
            array[:j], array[:'t']::uuid[], '{response}', array['{}'::bytea],
            0, 0, null);"
        [ "$step" = "$1" ] || printf '%s\n' "$poll"
        printf 'commit;\n'
    done
    printf 'select wf.leave(:driver);\n'
}

# count_statements COUNTS COMMAND: what the driver sends (top), what functions
# execute (nested) and the bytes of WAL, into an array of that name.
# shellcheck disable=SC2154 # the keys of the array are words
count_statements() {
    local -n counts=$1
    statements_count all
    $2
    statements_count none
    counts[top]=$(statements toplevel)
    counts[nested]=$(statements 'not toplevel')
    counts[wal]=$(statements_wal)
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
# shellcheck disable=SC2154,SC2178 # as above
count_instructions() {
    local -n counts=$1
    local pid file
    $2
    counts[instructions]=0
    for pid in $PIDS; do
        file=$WORK/pg/counts.$pid
        wait_until 60 grep --quiet --no-messages '^totals:' "$file"
        counts[instructions]=$((counts[instructions] +
            $(sed -n 's/^totals: //p' "$file")))
    done
}
