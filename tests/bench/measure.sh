# shellcheck shell=bash
# measure.sh - figures: time, CPU, memory, write-ahead log.

TICKS=$(getconf CLK_TCK)

# figure ROW NAME VALUE: what a run has shown.
figure() {
    printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$FIGURES"
}

# calc EXPRESSION: as awk has it.
calc() {
    awk "BEGIN { printf \"%.6g\", $1 }"
}

# count NUMBER [UNIT]: of things to do, at the chosen scale; a multiple of UNIT
# (100).
count() {
    awk -v n="$1" -v unit="${2:-100}" -v scale="$SCALE" 'BEGIN {
        n = int(n * scale / unit) * unit; print n < unit ? unit : n }'
}

# seconds NUMBER LEAST: so long at the chosen scale, but LEAST at the least.
seconds() {
    awk -v n="$1" -v least="$2" -v scale="$SCALE" 'BEGIN {
        n *= scale; print n < least ? least : n }'
}

# figures_matter: at a scale below 0.1 nobody looks at the figures; that the rows work
# is all that such a run shows.
figures_matter() {
    awk -v scale="$SCALE" 'BEGIN { exit scale < 0.1 }'
}

# rest SECONDS: nothing happens for so long, where figures are better for it.
rest() {
    ! figures_matter || sleep "$1"
}

# percentile P: of the numbers in $WORK/delays, one a line, in order.
percentile() {
    awk -v p="$1" '{ x[NR] = $1 } END {
        k = int((NR - 1) * p / 100 + 1.5); print x[k] }' "$WORK/delays"
}

# cpu_of PID: CPU seconds that a process has used.
cpu_of() {
    sed 's/.*) //' "/proc/$1/stat" |
        awk -v ticks="$TICKS" '{ print ($12 + $13) / ticks }'
}

# cpu_of_server: of the database server, with all its processes, also those
# that have ended.
cpu_of_server() {
    local postmaster
    postmaster=$(head -n 1 "$WORK/pg/data/postmaster.pid")
    # those that end meanwhile are nobody's fault
    { cat /proc/[0-9]*/stat 2>/dev/null || true; } | sed 's/^\([0-9]*\) .*) /\1 /' |
        awk -v pm="$postmaster" -v ticks="$TICKS" '
            $1 == pm { sum += $13 + $14 + $15 + $16 }
            $3 == pm { sum += $13 + $14 }
            END { print sum / ticks }'
}

# cpu_of_machine: of everything.
cpu_of_machine() {
    awk -v ticks="$TICKS" '$1 == "cpu" {
        print ($2 + $3 + $4 + $7 + $8) / ticks }' /proc/stat
}

# peak_memory PID: the most that was resident, in MiB.
peak_memory() {
    awk '$1 == "VmHWM:" { printf "%.1f\n", $2 / 1024 }' "/proc/$1/status"
}

wal_position() {
    sql "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn"
}

# meter_start, meter_stop: METER_SERVER CPU seconds of the server, METER_WAL
# bytes and METER_OTHERS CPU seconds of whoever else was there, in between.
# The driver's own are for who started it: METER_OTHERS counts it, too.
meter_start() {
    METER_SERVER=$(cpu_of_server)
    METER_OTHERS=$(cpu_of_machine)
    METER_WAL=$(wal_position)
}

meter_stop() {
    local server machine
    server=$(cpu_of_server)
    machine=$(cpu_of_machine)
    METER_WAL=$(calc "$(wal_position) - $METER_WAL")
    METER_SERVER=$(calc "$server - $METER_SERVER")
    METER_OTHERS=$(calc "$machine - $METER_OTHERS - $METER_SERVER")
}
