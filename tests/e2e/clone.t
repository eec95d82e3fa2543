#!/usr/bin/env bash
# clone.t - a workspace that comes up somewhere else, or as it was before, sends
# nothing until somebody has looked.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
LOG=$WORK/nginx/access.log

cat >"$WORK/send.wf" <<'END'
/** Sends two requests, one after the other; neither may be repeated. */
workflow send(url: string) {
  http.Request(url = "${url}/first") ; http.Request(url = "${url}/second")
}
END

# sent: how many requests there were so far.
sent() {
    wc -l <"$LOG"
}

# parked NAME REASON: its driver came to the workspace of PGDATABASE and PGHOST,
# which is paused for that reason; nothing is sent until it is resumed.
parked() {
    local before=$2
    ok "$1: the engine is paused" wait_sql 30 \
        "select state = 'PAUSED' from wf.engine_v"
    like "$1: it says why" "$(sql 'select reason from wf.engine_v')" "$3"
    ready=$(begin send -p "url=$HTTP_URL")
    ok "$1: explain says so" wait_sql 30 "select exists (select
        from wf.explain($ready) e where e.reason = 'paused')"
    is "$1: nothing is sent" "$(sent)" "$before"
    ok "$1: an operator resumes it" wf-console engine resume --reason 'looked at it'
    ended "$ready" 60 || true
    is "$1: then it works" "$(state_of "$ready")" 'END success'
    is "$1: and stays so" "$(sql 'select state from wf.engine_v')" RUNNING
}

nginx_start 'location / { echo done; } location /slow { echo_sleep 1; echo done; }'
pg_start origin
origin=$PGHOST
workspace_install
ok 'install' wf-console install "$WORK/send.wf"
driver_start one
id=$(begin send -p "url=$HTTP_URL")
ended "$id" || true
driver_stop one || true
waiting=$(begin send -p "url=$HTTP_URL") # the copies have it, too

# --- a copy of the database in the same cluster; one of a dump in another

database_clone wf twin
pg_dump --dbname=wf >"$WORK/dump.sql"
before=$(sent)
export PGDATABASE=twin
driver_start one
parked 'template' "$before" 'this is a copy: .* database with oid'
driver_stop one || true

pg_copy announced origin "wf.restored = 'backup of noon'"
pg_start elsewhere
sql 'create role wf_owner; create role wf_admin; create role wf_operator;
     create role wf_author; create role wf_app; create role wf_viewer;
     create role wf_driver'
createdb dumped
PGDATABASE=dumped
psql --no-psqlrc --quiet --file="$WORK/dump.sql" >"$WORK/restore.log" 2>&1
before=$(sent)
driver_start one
parked 'dump' "$before" 'this is a copy: .* cluster'
driver_stop one || true
pg_stop elsewhere

# --- a physical copy is in no way different: its configuration has to say it

postgres_begin "$WORK/announced"
export PGHOST=$WORK/announced PGDATABASE=wf
before=$(sent)
driver_start one
parked 'restored' "$before" "a backup was restored: .*'backup of noon'"
driver_stop one || true
pg_stop announced

# --- the past in place of the present: whoever saw what was lost says so

export PGHOST=$origin PGDATABASE=wf
pg_copy past origin "unix_socket_directories = '$origin'"
driver_start one
ended "$waiting" || true
id=$(begin send -p "url=$HTTP_URL") # will be lost
ended "$id" || true
before=$(sent)
pg_stop origin immediate
postgres_begin "$WORK/past"
ok 'past: the driver comes back' wait_sql 60 "select exists (select
    from wf.driver_v where name = 'one' and state = 'live')"
parked 'past' "$before" 'history was lost: driver one saw .* transaction'
is 'past: its instances are as they were' "$(sql "select count(*)
    from wf.instance_v where instance_id = $waiting")" 1
sql "select pg_terminate_backend(pid) from pg_stat_activity
      where usename = 'wf_driver_one'" >/dev/null
id=$(begin send -p "url=$HTTP_URL")
ended "$id" 60 || true
is 'past: what was said is not said again' "$(state_of "$id")" 'END success'
driver_stop one || true
sound
done_testing
