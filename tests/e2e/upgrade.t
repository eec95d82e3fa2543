#!/usr/bin/env bash
# upgrade.t - a workspace of the old release, with instances in every state, is
# brought up to date while others work in it: nothing is lost, and it is as if
# it had just been installed.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
DATA=$ROOT/tests/upgrade

nginx_start "$(cat "$DATA/nginx.conf")"
touch "$WORK/nginx/now"
pg_start pg "client_connection_check_interval = 500ms"
workspace_install new
zcat "$DATA/old.sql.gz" | sed "s,http://127.0.0.1:1,$HTTP_URL," \
    >"$WORK/old.sql"
createdb first
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --dbname=first \
    --file="$WORK/old.sql" >"$WORK/restore.log"
# the numbers of its transactions are not to be given out once more
psql --no-psqlrc --quiet --dbname=first >"$WORK/restore.log" <<'END'
do $$
begin
    while pg_current_xact_id()::text::bigint <= (select max(xid::text::bigint) from wf.txn) loop
        commit;
    end loop;
end;
$$;
END
for copy in held console; do
    database_clone first "$copy"
done
export PGDATABASE=first

# upgrade [TREE [PSQL OPTION…]]
upgrade() {
    local tree=${1:-$ROOT/workspace-sql}
    shift "$(($# > 0 ? 1 : 0))"
    psql --no-psqlrc --file="$tree/upgrade.sql" "$@"
}

# tree NAME: a copy of the scripts, to be changed.
tree() {
    cp -r "$ROOT/workspace-sql" "$WORK/$1"
    printf '%s\n' "$WORK/$1"
}

# catalog DATABASE: all that makes it what it is; of every sort there is something.
catalog() {
    psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --dbname="$1" \
        --file="$DATA/catalog.sql" >"$WORK/$1.catalog" &&
        awk '/^-- / && head { exit empty = 1 } { head = /^-- / }
             END { exit empty || head || NR < 1000 }' "$WORK/$1.catalog" &&
        cat "$WORK/$1.catalog"
}

# same NAME DATABASE: it is like one that was just installed.
same() {
    catalog new >"$WORK/fresh"
    catalog "$2" >"$WORK/other"
    is "$1" "$(search diff --unified=1 "$WORK/fresh" "$WORK/other")" ''
}

# history: what had happened at the old release.
history() {
    sql "select md5(string_agg(to_jsonb(h)::text, '' order by instance_id, seq))
           from (select e.instance_id, e.seq, e.process_id, e.at, e.attempt,
                        e.was, e.event, e.state, e.reason, e.detail, t.actor
                   from wf.event e
                   join wf.txn t using (xid)
                  where e.seq <= $seen) h"
}
seen=$(sql 'select max(seq) from wf.event')
had=$(history)

# --- ended midway

stuck=$(tree stuck)
printf 'select pg_sleep(600);\n' >>"$stuck/grants.sql"
catalog first >"$WORK/before"
spawn upgrade upgrade "$stuck"
wait_sql 60 "select exists (select from pg_stat_activity
    where query like 'select pg_sleep%' and state = 'active')"
kill -s KILL "$(pgrep --parent "$(pid_of upgrade)" psql || pid_of upgrade)"
stop upgrade KILL 2>/dev/null || true
wait_sql 60 "select not exists (select from pg_stat_activity
    where query like 'select pg_sleep%' and state = 'active'
      and pid <> pg_backend_pid())"
is 'an upgrade that is killed midway has done nothing' \
    "$(catalog first | search diff "$WORK/before" -)" ''

# --- by programs that are newer

exits 'a newer console refuses the old workspace' 1 wf-console list
like 'the console says what to do' "$OUTPUT" 'hint: .*wf-console workspace upgrade'
exits 'a newer driver, too' 1 wf-driver --check
like 'the driver says what to do' "$OUTPUT" 'hint: Upgrade the workspace: .*workspace upgrade'
login_create wf_driver_one wf_driver
PGUSER=wf_driver_one exits 'a running driver ends, for its supervisor to start it again' \
    1 wf-driver -o name=one

# --- while a driver and two applications of the old release work

login_create wf_driver_old wf_driver
login_create app wf_app
sql "create function start_hello() returns bigint language plpgsql as
    'begin return wf.start(''hello'', ''{\"who\": \"a function\"}''); end'"
old=$(sql "select wf.register('old', '0', '{builtin}', '{}', 4)" -U wf_driver_old)
is 'a copy in another cluster is paused until somebody has looked' \
    "$(sql "select (wf.engine_resume('it is a test')).answer")" 'done'

# repeat NAME USER PREPARATION STATEMENT: again and again, in one session.
repeat() {
    {
        printf '\\set VERBOSITY sqlstate\n%s;\n' "$3"
        while [ ! -e "$WORK/enough" ]; do
            printf '%s;\n' "$4"
            sleep 0.02
        done
    } | psql --no-psqlrc --quiet --tuples-only --no-align --username="$2"
}
spawn old repeat old wf_driver_old "prepare turn as
    with p as materialized (select * from wf.poll($old, 5)),
         r as materialized (select * from p where kind = 'run')
    select o.answer
      from wf.outcome($old, array(select instance_id from r),
               array(select process_id from r), array(select token from r),
               array(select 'response' from r),
               array(select '{}'::bytea from r)) o" 'execute turn'
spawn prepared repeat prepared app \
    "prepare begin as select wf.start('hello')" 'execute begin'
spawn function repeat function app 'select 1' 'select start_hello()'
ended_by_old() {
    sql "select count(*) from wf.event_v where event = 'success'
            and actor = 'wf_driver_old'"
}
wait_until 60 eval "[ \$(ended_by_old) -gt 20 ]"
exits 'the workspace is upgraded while others work' 0 upgrade
like 'the upgrade says so' "$OUTPUT" '^workspace up to date, schema version [0-9]+$'
before=$(ended_by_old)
wait_until 60 eval "[ \$(ended_by_old) -gt $((before + 20)) ]" || true
ok 'a driver of the old release goes on' test "$(ended_by_old)" -gt "$before"
exits 'upgraded once more' 0 upgrade
touch "$WORK/enough"
for name in old prepared function; do
    wait_until 60 is_gone "$(pid_of "$name")" || true
    is "$name: at most told to do it again" "$(search grep -a ERROR "$WORK/$name.log" |
        search grep -v WF013 | tail -n +2)" ''
done
same 'the upgraded schema is like a new one' first
is 'the history is as it was' "$(history)" "$had"

# --- every instance goes on to its end

PGUSER=wf_driver_one spawn driver-one wf-driver -o name=one "${DRIVER_HTTP[@]}"
wait_sql 60 "select exists (select from wf.driver_v
    where name = 'one' and state = 'live')"
id_of() {
    sql "select instance_id from wf.instance_v where key = '$1'"
}
# the driver of the old release is gone, and what it did is not to be repeated
failed "$(id_of 'in doubt')"
is 'a task that may have been done waits for an operator' "$(sql "select error ->> 'kind'
    from wf.task_v where instance_id = $(id_of 'in doubt')")" lost
failed "$(id_of cancelling)"
ok 'resolve' wf-console resolve --yes -o csv "$(task "$(id_of 'in doubt')" http.Request)" \
    --output '{"status": 299}'
ok 'retry' wf-console retry --yes "$(id_of cancelling)"
ok 'ignore' wf-console ignore --yes "$(id_of failed)"
ok 'resume' wf-console resume "$(id_of suspended)"
wait_sql 90 "select not exists (select from wf.instance_v
    where state not in ('END', 'ABORTED'))" || true
is 'every instance has come to its end' "$(sql "select key, state, result, output
    from wf.instance_v where key is not null order by instance_id")" \
    'ended|END|success|{"said": "hello, Ada"}
ignored|END|warning|{"status": null}
raised|ABORTED|error|
aborted|ABORTED|aborted|
failed|END|warning|{"status": null}
sleeping|END|success|
executing|END|success|{"copies": 2}
holding|END|success|{"copies": 2}
suspended|END|success|{"sum": 80}
waiting|END|success|{"copies": 2}
cancelling|END|success|{"copies": 2}
aborting|ABORTED|aborted|
half|END|success|{"sum": 80}
leased|END|success|{"n": 1}
in doubt|END|success|{"status": 299}
ready|END|success|{"said": "hello, Ada"}'
is 'instances that started during the upgrade have ended, too' "$(sql "select distinct state, result
    from wf.instance_v where key is null")" 'END|success'
sound
ok 'the old workflows can be installed anew' wf-console install "$DATA/old.wf"
is 'a key is still known' "$(begin hello --key ended)" "$(id_of ended)"

# --- once more, under the driver of today

sql "update wf.setting set value = '10' where name = 'turns'" # a busy one
cat >"$WORK/patient.wf" <<'END'
workflow patient(url: string) {
  http.Request(url = url)
    with retry(3, delay = 1h)
}
END
ok 'a task that is tried again' wf-console install "$WORK/patient.wf"
patient=$(begin patient -p "url=$HTTP_URL/nothing")
wait_sql 30 "select exists (select from wf.task_v
    where instance_id = $patient and retry_at is not null)"
waits() {
    sql "select attempt, retry_at from wf.task_v where instance_id = $patient"
}
waited=$(waits)
id=$(begin many -p "base=$HTTP_URL" -p n=400)
exits 'under a driver that works' 0 upgrade
is 'a task that waits for its next attempt goes on waiting' "$(waits)" "$waited"
ok 'an operator begins it' wf-console retry --yes "$patient"
wait_sql 30 "select exists (select from wf.task_v
    where instance_id = $patient and attempt = 3 and retry_at is not null)"
ok 'abort' wf-console abort --yes "$patient"
sql "update wf.setting set value = '4' where name = 'turns'"
ended "$id" 90
is 'no work of it is lost' "$(state_of "$id")" 'END success'
same 'upgraded again, it is the same' first
sound

# --- what code/ no longer has, or has with another result

next=$(tree next)
sed -i '/^.ir look.stuck.sql/d' "$next/code/all.sql"
sed -i "/'stuck',/d" "$next/grants.sql"
printf '%s\n' 'drop function wf.tick();' \
    "create function wf.tick() returns text return 'other';" \
    >>"$next/code/all.sql"
sql 'create view board as select * from wf.group_v;
     create view mine as select * from wf.stuck();
     create table note (at timestamptz default wf.now())'
exits 'a routine that a view uses does not go' 3 upgrade "$next"
like 'the refusal names the view' "$OUTPUT" 'there is no routine wf.stuck.*any more.*view public.mine'
same 'nothing has changed' first
sql 'drop view mine'
exits 'results may change, functions may go' 0 upgrade "$next"
is 'the routines are as the next release has them' "$(sql "select to_regproc('wf.stuck') is null, wf.tick()")" 't|other'
exits 'the workspace goes back to the former release' 0 upgrade
same 'a routine in use is replaced where it stands' first
is 'the view and the default work' "$(sql "select (select count(*) from board),
    (select column_default from information_schema.columns
      where table_name = 'note')")" '1|wf.now()'

# --- while a transaction holds the workspace

export PGDATABASE=held
# hold QUERY: in a transaction that does not end.
hold() {
    spawn hold psql --no-psqlrc --quiet \
        --command="begin; $1; select pg_sleep(600)"
    wait_sql 60 "select exists (select from pg_stat_activity
        where datname = 'held' and state = 'active'
          and query like '%pg_sleep(600)' and pid <> pg_backend_pid()
          and wait_event = 'PgSleep')"
}
impatient=$(tree impatient)
sed -i 's/1 \.\. 30/1 .. 1/' "$impatient/script/knock.sql"
hold 'select * from wf.instance_v limit 1'
exits 'the upgrade gives up before a reader that stays' 3 upgrade "$impatient"
like 'the refusal names the reader' "$OUTPUT" 'in use by a transaction that does not end.*DETAIL:  It is used by process [0-9]+'
stop hold || true
hold "select wf.start('hello')"
spawn upgrade upgrade
wait_sql 60 "select exists (select from pg_locks
    where (locktype = 'advisory' and classid = 7761 or relation = to_regclass('wf.gate'))
      and not granted)"
is 'a start is let in while the upgrade waits' \
    "$(sql "set statement_timeout = '30s'; select wf.start('hello') > 0")" t
stop hold || true
status=0
wait "$(pid_of upgrade)" || status=$?
rm "$WORK/pids/upgrade"
is 'the upgrade goes on as soon as it can' "$status" 0
same 'the schema is like a new one after the wait' held

# --- by the console

export PGDATABASE=console
ok 'the console does the same' wf-console workspace upgrade
same 'the schema is like a new one by the console' console
ok 'the upgraded workspace can be worked with' wf-console list

# --- by files and programs that are older

# later NAME: scripts of a later release.
later() {
    local copy
    copy=$(tree "$1")
    sed -i '/^select set_config/i \\\set migration 999_later.sql \\ir apply.sql' \
        "$copy/migrations/all.sql"
    : >"$copy/migrations/999_later.sql"
    printf '%s\n' "$copy"
}
exits 'a later release that still knows these programs' 0 upgrade "$(later near)"
like 'the later release has a later version' "$OUTPUT" 'schema version 999'
ok 'the console works with it' wf-console list
ok 'the driver, too' wf-driver --check
exits 'nobody upgrades it to these files' 1 wf-console workspace upgrade
like 'the refusal tells of the newer files' "$OUTPUT" 'has schema version 999, these files have.*hint: Use the files of the newer'
export PGDATABASE=held
far=$(later far)
sed -i '/function wf._oldest_program/,/^end/s/select [0-9]*/select 999/' \
    "$far/code/base/clock.sql"
exits 'a later release that no longer knows these programs is installed' 0 upgrade "$far"
exits 'the console refuses the later workspace' 1 wf-console list
like 'the console says what to do with the later workspace' "$OUTPUT" 'hint: Upgrade the program: .*version 999 or a later'
exits 'by the driver, too' 1 wf-driver --check
like 'the driver says what to do with the later workspace' "$OUTPUT" 'hint: Upgrade the program: .*version 999 or a later'
exits 'workspace status shows the version of the later workspace' 0 wf-console -o csv workspace status
like 'with the one that the program knows' "$OUTPUT" 'schema_version,known_version.*,999,[0-9]+,'
done_testing
