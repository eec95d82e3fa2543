#!/usr/bin/env bash
# session.t - the session of a test script (tests/lib/sql.sh) loses no answer when the
# machine stalls.
. "$(dirname "$0")/../lib.sh"

pg_start pg

# stall: this script stands still from a moment at which the server works on its
# question until the answer has been there for longer than the script waits at a time.
stall() {
    SESSION='' wait_sql 60 "select exists (select from pg_stat_activity
        where state = 'active' and query ~ 'pg_sleep' and pid <> pg_backend_pid())"
    kill -s STOP $$
    until [ -s "$WORK/session/status" ]; do sleep 0.1; done
    sleep 1.5
    kill -s CONT $$
}

is 'the session answers' "$(sql 'select 1')" 1
session=$(sql 'select pg_backend_pid()')
stall &
sql 'select 2 from pg_sleep(4)' >"$WORK/answer"
is 'an answer that comes while the script stands still is read' "$(cat "$WORK/answer")" 2
ok 'the script has stood still' wait $!
is 'the session goes on' "$(sql 'select pg_backend_pid()')" "$session"
done_testing
