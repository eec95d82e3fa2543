#!/usr/bin/env bash
# language.t - a server with German messages: the console has the same hints, and
# tasks have the same kinds of errors.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

export LANGUAGE=de
pg_start # its processes keep the variable
sql "create role small login; create role reader login; create role etl login"
createdb --template=template0 --encoding=UTF8 wf
export PGDATABASE=wf
[[ $(sql 'select 1 / 0' 2>&1 || true) == *Division* ]] ||
    skip_all 'PostgreSQL has no German messages here'

# told NAME MESSAGE HINT COMMAND…: it fails, with these.
told() {
    exits "$1: it fails" 1 "${@:4}"
    like "$1: the message" "$OUTPUT" "$2"
    like "$1: the hint" "$OUTPUT" "hint: .*$3"
}

told 'no such database' 'Datenbank »nowhere« existiert nicht' 'with -d.*-U.*pgpass' \
    wf-console -d nowhere list
told 'no workspace' 'no workspace in database "wf"' 'workspace install' wf-console list
told 'may not install' 'small may not create roles' 'alter role small createrole' \
    wf-console -U small workspace install
ok 'install' wf-console workspace install
told 'installed twice' 'already installed in database wf' 'workspace upgrade' \
    wf-console workspace install
sql 'grant wf_viewer to reader; grant wf_app to etl'
told 'no right' 'keine Berechtigung' 'wf_operator' wf-console -U reader retry 17
told 'a time limit' 'storniere Anfrage' 'statement_timeout=1h' \
    env PGOPTIONS='-c statement_timeout=1ms' wf-console stuck

cat >"$WORK/german.wf" <<'END'
workflow german() {
  sql.Exec(statement = "select 1 / 0") with title("fails")
  ||
  sql.Exec(statement = "select pg_sleep(60)", timeout = 1s) with title("slow")
}
END
ok 'install a workflow' wf-console install "$WORK/german.wf"
driver_start one -o sql_connection=user=etl
id=$(begin german)
failed "$id" 2 || true
is 'kinds of errors' "$(sql "select string_agg(concat_ws(' ', title, error ->> 'kind'), ', ' order by title)
    from wf.task_v where instance_id = $id")" 'fails sql, slow timeout'
like 'the message of a task is the server'"'s" "$(sql "select error ->> 'message' from wf.task_v
    where instance_id = $id and title = 'fails'")" 'Division durch Null'
driver_stop one || true
sound
done_testing
