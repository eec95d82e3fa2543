#!/usr/bin/env bash
# prepared.t - a start is part of a transaction that an application prepares for two-phase
# commit: it happens when that is committed, be it after a crash, or not at all.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

# as_shop SQL: in one session of the application's login
as_shop() {
    PGUSER=shop psql -XqAt --set=ON_ERROR_STOP=1 <<<"$1"
}

# prepared NAME [STATEMENT]: starts and signals in a transaction that is prepared by that name
prepared() {
    as_shop "begin;
        ${2:-}
        insert into orders values ('$1');
        select wf.start('once', p_key => '$1') is not null, wf.signal('{\"topic\": \"orders\"}', '$1') is not null;
        prepare transaction '$1'"
}

# left_of NAME: what there is of it: orders, instances, keys, signals, lines of work, and entries of the history
left_of() {
    sql "select (select count(*) from orders where name = '$1'), (select count(*) from wf.instance where key = '$1'),
                (select count(*) from wf.instance_key where key = '$1'), (select count(*) from wf.signal where name = '$1'),
                (select count(*) from wf.event e join wf.instance i on i.id = e.instance_id where i.key = '$1')"
}

# runs_once NAME: it has ended well, each of its tasks was started once, and its history is the shop's
runs_once() {
    local id
    id=$(sql "select id from wf.instance where key = '$1'")
    ended "$id"
    is "$1: it has ended well" "$(state_of "$id")" 'END success'
    is "$1: its task has run once" "$(sql "select count(*) from wf.event_v where instance_id = $id and event = 'start' and process_id is not null")" 1
    is "$1: its history says who has started it" \
        "$(sql "select login, actor from wf.event_v where instance_id = $id and event = 'start' and process_id is null")" 'shop|shop'
    is "$1: the instance says so, too" "$(sql "select started_by from wf.instance_v where instance_id = $id")" shop
}

workspace_start pg 'max_prepared_transactions = 5'
login_create shop wf_app
sql 'create table orders (name text); grant insert on orders to shop'
cat >"$WORK/once.wf" <<'WF'
workflow once() {
  lb.Log(msg = "once")
}
WF
ok 'the workflow is installed' wf-console install "$WORK/once.wf"

ok 'a transaction with a start is prepared' prepared first
is 'nobody sees anything of it' "$(left_of first)" '0|0|0|0|0'
exits 'a second start with its key waits for it' 3 as_shop "set lock_timeout = '0.2s'; select wf.start('once', p_key => 'first')"
like 'the refusal says what the start waited for' "$OUTPUT" 'lock timeout'
driver_start one
sql "commit prepared 'first'"
is 'committed by somebody else, all of it is there' "$(left_of first | cut -d '|' -f 1-4)" '1|1|1|1'
runs_once first
is 'the key of the committed start is known' "$(as_shop "select wf.start('once', p_key => 'first')")" "$(sql "select id from wf.instance where key = 'first'")"
driver_stop one

ok 'another one is prepared' prepared second
sql "rollback prepared 'second'"
is 'rolled back, nothing of it is left' "$(left_of second)" '0|0|0|0|0'
ok 'the key of the start that was rolled back can be used again' as_shop "select wf.start('once', p_key => 'second')"

ok 'one more is prepared' prepared third
pg_stop pg immediate
pg_restart pg
is 'nobody sees anything of it after a crash' "$(left_of third)" '0|0|0|0|0'
driver_start one
sql "commit prepared 'third'"
runs_once third
runs_once second

# a driver that sleeps is woken by a notification, which PostgreSQL does not prepare
wait_sql 20 'select exists (select from wf.driver where idle)'
exits 'while a driver sleeps, PostgreSQL refuses to prepare a start' 3 prepared fourth
like 'the refusal says why' "$OUTPUT" 'cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY'
is 'nothing of it is left' "$(left_of fourth)" '0|0|0|0|0'
wait_sql 20 'select exists (select from wf.driver where idle)'
ok 'a session that does not notify may prepare it' prepared fifth 'set local wf.notify = off;'
sql "commit prepared 'fifth'"
runs_once fifth
driver_stop one
sound
done_testing
