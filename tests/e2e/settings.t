#!/usr/bin/env bash
# settings.t - whatever a DBA has set for a database or its logins, programs and
# workspace do the same: a workflow is started, retried, aborted, explained,
# scheduled and purged in a database for each group of settings, and all that
# was said is compared with what is said where nothing is set.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
DATA=$ROOT/tests/e2e/data/settings
TEXT=$'ä \\ \' " \\\\n İıIi {NULL} %s ${x} €'

# world DATABASE: what the workflow needs beside a workspace.
world() {
    sql "create schema evil;
         create table mark (a text, b text); create table gate (ok int);
         create sequence first_fails; insert into gate values (0);
         grant insert, select on mark, gate to public; grant usage on sequence first_fails to public;
         grant usage on schema evil to public;
         create function evil.now() returns timestamptz language sql as 'select ''-infinity''::timestamptz';
         create table evil.instance (id int); create table evil.setting (name text);
         create function evil.jsonb_build_object(variadic text[]) returns jsonb language sql as 'select null::jsonb'" --dbname="$1"
    wf-console -d "$1" install "$DATA/settings.wf" >"$WORK/$1.install"
}

# same_as_ever: what differs from run to run. Each session takes 50 numbers of
# processes at a time, so that those above 50 are others each time.
same_as_ever() {
    sed -E -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:]{8}(\.[0-9]+)?([+-][0-9:]+|Z)?/TIME/g' \
        -e 's/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/UUID/g' \
        -e 's/,[0-9]+\.[0-9]+(\r?)$/,SECONDS\1/' \
        -e 's/,? +[0-9]+s$//' \
        -e 's/\b(5[1-9]|[6-9][0-9]|[1-9][0-9]{2,})\b/N/g' \
        -e "s/$PGDATABASE/DATABASE/g; s/ +/ /g; s/^ //; s/-+/-/g"
}

# act COMMAND…: what it says and how it ends.
act() {
    local status=0
    printf '$ %s\n' "$*"
    "$@" 2>&1 || status=$?
    [ "$status" -eq 0 ] || printf '? %d\n' "$status"
}

# said QUERY: its rows, to a client that can print them.
said() {
    PGCLIENTENCODING=UTF8 act sql "$1"
}

# play: everything that is done with a workspace, in $PGDATABASE.
play() {
    local id other name=$PGDATABASE
    driver_start "$name" -o 'sql_connection=user=etl'
    act wf-driver -n -d "user=wf_driver_$name"
    id=$(begin settings -p "text=$(json_text "$TEXT")" -p day=2026-04-03 \
        -p at=2026-02-28T23:30:00.25Z -p span=PT36H)
    failed "$id" || true
    act wf-console explain "$id"
    act wf-console stuck
    sql 'update public.gate set ok = 1'
    act wf-console retry "$id" --yes --reason 'it is mended'
    ended "$id" || true
    act state_of "$id"
    said "select jsonb_pretty(output) from wf.instance_v where instance_id = $id"
    said "select event, was, state, count(*) from wf.event_v
        where instance_id = $id group by 1, 2, 3 order by 1, 2, 3"
    said 'select a, b from public.mark order by a, b'
    other=$(begin waits)
    wait_sql 20 "select exists (select from wf.task_v
        where instance_id = $other and state = 'WAITING')" || true
    act wf-console explain "$other"
    act wf-console suspend "$other" --yes --reason 'a pause'
    act wf-console resume "$other" --yes
    act wf-console abort "$other" --yes --reason 'enough'
    ended "$other" || true
    act state_of "$other"
    act wf-console schedule set soon tick --every 1s --count 2
    wait_sql 20 "select state = 'ended' from wf.schedule_v where name = 'soon'" || true
    wait_sql 20 "select count(*) = 2 from wf.instance_v where state = 'END' and workflow = 'tick'" || true
    act wf-console schedule set nightly tick --cron '30 2 * * FRI' --timezone Europe/Berlin
    act wf-console schedule set midnight tick --cron '@MIDNIGHT'
    said "select name, cron, extract(epoch from every), timezone, state from wf.schedule_v order by 1"
    act wf-console schedule remove nightly
    act wf-console list -o csv
    act wf-console tree "$id"
    act wf-console log "$id"
    act wf-console purge --older-than 0s --yes --reason 'all of it'
    said 'select count(*) from wf.instance_v'
    act wf-console purges -o csv
    act wf-console fsck
    driver_stop "$name" || printf 'the driver ended with %d\n' "$?"
}

json_text() {
    perl -MJSON::PP -CA -e 'print JSON::PP->new->utf8->allow_nonref->encode($ARGV[0])' "$1"
}

workspace_start
login_create etl wf_app
world wf
sql 'alter database wf with is_template true' --dbname=postgres

# set_up NAME SETTING…: a copy of the workspace, db_NAME, where these are set; the
# one that is called turkish is there already: its characters are those of Turkish,
# where the small letter of I is another one than i.
set_up() {
    local database=db_$1 setting
    shift
    [ "$database" = db_turkish ] || database_clone wf "$database"
    for setting; do
        sql "alter database $database set $setting" --dbname=postgres
    done
    names+=("$database")
}

names=() n=0
set_up control
set_up repeatable "default_transaction_isolation = 'repeatable read'" 'default_transaction_deferrable = on'
set_up serializable "default_transaction_isolation = 'serializable'"
set_up timeouts "statement_timeout = '2s'" "lock_timeout = '200ms'" \
    "idle_in_transaction_session_timeout = '500ms'" "idle_session_timeout = '700ms'"
set_up path 'search_path = evil, pg_catalog' 'row_security = off' 'check_function_bodies = off'
set_up formats "timezone = 'Asia/Kathmandu'" "datestyle = 'SQL, DMY'" "intervalstyle = 'sql_standard'" \
    "bytea_output = 'escape'" 'extra_float_digits = -15'
set_up strings 'standard_conforming_strings = off' 'backslash_quote = off' "client_encoding = 'LATIN1'" \
    'array_nulls = off' 'transform_null_equals = on' 'quote_all_identifiers = on'
set_up others "plan_cache_mode = 'force_generic_plan'" 'join_collapse_limit = 1' "client_min_messages = 'debug1'" \
    "plpgsql.variable_conflict = 'use_column'"
createdb --maintenance-db=postgres --template=template0 --encoding=UTF8 \
    --locale-provider=icu --icu-locale=tr-TR --locale=C.UTF-8 db_turkish
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --dbname=db_turkish \
    --file="$ROOT/workspace-sql/install.sql" >"$WORK/turkish.log" 2>&1
world db_turkish
set_up turkish

for name in "${names[@]}"; do
    (
        export PGDATABASE=$name
        play 2>&1 | same_as_ever >"$WORK/$name.out"
    ) &
    [ $((++n % 3)) -ne 0 ] || wait
done
wait

ok 'where nothing is set the workflow ends' grep -qx 'END success' "$WORK/db_control.out"
for name in "${names[@]}"; do
    [ "$name" = db_control ] ||
        is "${name#db_}: all is done and said as where nothing is set" "$(search diff "$WORK/db_control.out" "$WORK/$name.out")" ''
done
done_testing
