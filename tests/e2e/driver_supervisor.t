#!/usr/bin/env bash
# driver_supervisor.t - what the driver tells a supervisor, and when not.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

# heard NAME REGEX [COUNT]: wait for it.
heard() {
    ok "$1: $2" wait_until 10 is_told "$@"
}

# The unit is one, and gives the driver no more than it needs: an exposure of
# at most 1.5 of 10.
sed "s|/usr/bin/wf-driver|$BUILD/wf-driver|" "$ROOT/config/pgwf-driver.service" \
    >"$WORK/pgwf-driver.service"
ok 'the unit is sound' \
    systemd-analyze verify --man=no "$WORK/pgwf-driver.service"
ok 'the unit is closed' systemd-analyze security --offline=true --threshold=15 \
    --no-pager "$WORK/pgwf-driver.service"

# Without a database: it waits for one, and is ready for it.
notify_start early "$WORK/early"
NOTIFY_SOCKET=$WORK/early spawn driver-early "$BUILD/wf-driver" \
    -d "host=$WORK/nowhere"
heard early 'READY=1$'
heard early 'STATUS=no connection to the workspace: 0 of 256 slots taken$'
is 'no watchdog, no beats' "$(told early WATCHDOG=1)" 0
status=0
driver_stop early || status=$?
is 'stopped without a database: nothing was left undone' "$status" 0
heard early 'STOPPING=1$'

workspace_start
ok 'install' wf-console install "$ROOT/tests/e2e/data/driver/supervisor.wf"
notify_start abstract "@$WORK"
login_create etl wf_app
NOTIFY_SOCKET=@$WORK WATCHDOG_USEC=400000 driver_start one \
    -o sql_connection=user=etl
heard abstract 'READY=1$'
heard abstract 'STATUS=driver [0-9]+: 0 of 256 slots taken$'
heard abstract 'WATCHDOG=1$' 5
# the one in the middle: a single one may be late where others compute, too
like 'the beats come each half of the interval' "$(awk '$2 == "WATCHDOG=1" {
    if (n++) print $1 - before
    before = $1 }' "$WORK/abstract.told" | sort -n | sed -n 3p)" '^0?\.[123]'

# One that does not turn says nothing.
pid=$(pid_of driver-one)
kill -STOP "$pid"
sleep 0.3
before=$(told abstract WATCHDOG=1)
sleep 1
is 'stopped: no beat' "$(told abstract WATCHDOG=1)" "$before"
kill -CONT "$pid"
heard abstract 'WATCHDOG=1$' $((before + 2))

id=$(begin driver_supervisor)
heard abstract 'STATUS=driver [0-9]+: 1 of 256 slots taken$'
kill -TERM "$pid"
heard abstract 'STOPPING=1$'
heard abstract 'STATUS=stopping, driver [0-9]+: 1 of 256 slots taken$'
status=0
driver_stop one CONT || status=$?
is 'running requests are finished when the driver stops' "$status" 0
ok 'the driver beats while it finishes' test \
    "$(awk '/STOPPING=1/ { on = 1 } on && /WATCHDOG=1/' "$WORK/abstract.told" |
        wc -l)" -gt 2
is 'the finished request was reported' "$(sql "select state from wf.task_v
    where instance_id = $id and task_type = 'sql.Exec'")" END

# A watchdog that watches another process is none of ours.
notify_start other "$WORK/other"
NOTIFY_SOCKET=$WORK/other WATCHDOG_USEC=400000 WATCHDOG_PID=1 \
    driver_start two
heard other 'STATUS=driver'
is 'a driver beats for itself only' "$(told other WATCHDOG=1)" 0
NOTIFY_SOCKET=nonsense driver_start three
like 'a malformed address is reported' "$(cat "$WORK/driver-three.log")" \
    'NOTIFY_SOCKET is not an address: nonsense'
sound
done_testing
