#!/usr/bin/env bash
# disk_full.t - the disk of the database server runs full under load, so that
# it refuses or dies, and is freed again: drivers come back by themselves, and
# nothing that was acknowledged is gone.

# A small disk of its own, which nobody else sees and which ends with the test.
if [ -z "${CHAOS_MOUNTS:-}" ] && unshare --mount true 2>/dev/null; then
    CHAOS_MOUNTS=yes exec unshare --mount bash "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
. "$CHAOS/disks.sh"

campaign disk_full 2 30 "$@"
[ "$FAULTS" -ge 2 ] || FAULTS=2 # the server dies of every other one
DISK=$(server_dir pg)
disk_start "$DISK" 160m
world
server_adopt
DRIVER_OPTIONS+=(-o "sql_connection=user=etl" -o sql_connections=2)
drivers_begin

# What was laid by of the write-ahead log: after that the server dies.
use_up_wal() {
    local i
    for ((i = 0; i < 12; i++)); do
        sql "select pg_logical_emit_message(false, '', ''), pg_switch_wal()" \
            >/dev/null 2>&1 || return 0
    done
}

loads() {
    load write 200 base "$BASE" n 40
    load load 400 base "$BASE" ms 0 n 60
}

# died: how often the server did.
died() {
    grep -c PANIC "$WORK/postmaster.log" || true
}

refused=0
for ((fault = 0; fault < FAULTS; fault++)); do
    loads
    work_begins loads
    before=$(died) since=$EPOCHREALTIME
    disk_fill "$DISK"
    nap 2000
    [ $((fault % 2)) -eq 0 ] || use_up_wal
    sql "create table more as select repeat('x', 1000)
           from generate_series(1, 1000)" >/dev/null 2>&1 ||
        refused=$((refused + 1))
    sql 'drop table if exists more' >/dev/null 2>&1 || true
    disk_free "$DISK"
    server_writes "$EPOCHREALTIME" >>"$WORK/recovery"
    [ "$(died)" -eq "$before" ] || was_away "$since"
    [ $((fault % 4)) -ne 3 ] || retry_lost
done
all_end 120

figure faults "$(wc -l <"$WORK/recovery")"
figure refused "$refused"
figure died "$(died)"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I6 I7 I8
not_blind
drivers_hold
came_at_work 'the disk was full' "$FAULTS"
happened "$refused" 'the server could not write'
happened "$(died)" 'the server died of the full disk'
drivers_come_back
campaign_end
