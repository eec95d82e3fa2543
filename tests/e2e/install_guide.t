#!/usr/bin/env bash
# install_guide.t - what docs/install.md says is done, in a private folder and with a
# private server: the programs are installed, the server has the settings, certificates
# and pg_hba.conf of the page, and its checks say what the page says. Then the service
# folders of s6 and runit start, reload and stop a driver.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

PAGE=$ROOT/docs/install.md
ETC=$(private_dir)/pgwf # the page's /etc/pgwf
STAGE=$WORK/stage
PORT=$(free_port)
mkdir "$ETC" "$WORK/tls"

# block LANGUAGE NUMBER: the text of a block of the page, with our paths
block() {
    awk -v language="$1" -v number="$2" '
        /^```/ && inside { inside = 0; next }
        /^```/           { inside = $0 == "```" language && ++count == number; next }
        inside' "$PAGE" | sed -e "s|/etc/pgwf|$ETC|g" -e "s|/usr/share/pgwf|$STAGE/usr/share/pgwf|" \
        -e "s|\$PWD/stage|$STAGE|; s|-C stage|-C $STAGE|; s|--install build|--install $BUILD|" \
        -e "s|10.0.0.0/8|127.0.0.0/8|; s|postgres  *peer|postgres trust|; s|'\*'|'127.0.0.1'|"
}
# run NAME LANGUAGE NUMBER: in $WORK/tls
run() {
    block "$2" "$3" >"$WORK/run.sh"
    ok "$1" env --chdir="$WORK/tls" bash -euo pipefail "$WORK/run.sh"
}

# --- 1. build, once

run 'the programs are installed into an archive' sh 1
for file in bin/wf-console bin/wf-driver share/pgwf/workspace-sql/install.sql \
    share/doc/pgwf/README.md share/doc/pgwf/docs/install.md share/doc/pgwf/examples/driver.conf.example \
    share/doc/pgwf/examples/s6/pgwf-driver/run share/doc/pgwf/examples/check-pgwf; do
    ok "the archive has $file" tar -tzf "$WORK/tls/pgwf.tar.gz" "./usr/$file"
done
PATH=$STAGE/usr/bin:$PATH

# --- 2. the database

run 'certificates are made' sh 2
mapfile -t settings < <(block conf 1)
pg_start pg "${settings[@]/ssl = on/}" "port = $PORT"
export PGPORT=$PORT
data=$WORK/pg/data
cp "$WORK/tls/server.crt" "$WORK/tls/server.key" "$data"
chown "$SERVER_USER" "$data/server.key" "$data/server.crt" 2>/dev/null || true
block hba 1 >"$WORK/hba"
cat "$WORK/hba" >"$data/pg_hba.conf"
pg_set pg 'ssl = on'
pg_stop && pg_restart
is 'the server has TLS' "$(sql 'show ssl')" on
createdb mydb
run 'the workspace is installed' sh 3
export PGDATABASE=mydb
block sql 1 >"$WORK/logins.sql"
ok 'the logins are made' psql -Xq -v ON_ERROR_STOP=1 -f "$WORK/logins.sql"
is 'passwords are kept as SCRAM' "$(sql "select count(*) from pg_authid
    where rolname in ('driver_one', 'etl', 'ann', 'monitor') and rolpassword like 'SCRAM-SHA-256\$%'")" 4

# --- 3. a driver's host

server_socket=$PGHOST
unset PGHOST PGUSER PGDATABASE
export PGHOSTADDR=127.0.0.1 # there is no name server for db.example.com
install -m 0644 "$WORK/tls/ca.crt" "$ETC/ca.crt"
block conf 2 >"$WORK/driver.conf"
install -m 0640 "$WORK/driver.conf" "$ETC/driver.conf"
block sh 4 >"$WORK/run.sh"
exits 'wf-driver -n finds nothing wrong' 0 bash "$WORK/run.sh"
unlike 'wf-driver -n warns of nothing' "$OUTPUT" 'warn|can read'
spawn driver-one wf-driver -c "$ETC/driver.conf"

# --- 4. consoles

mkdir "$WORK/home"
HOME=$WORK/home
block conf 3 >"$HOME/.pg_service.conf"
printf "%s:%s:mydb:%s:%s\n" '*' "$PORT" ann "ann's" >"$HOME/.pgpass"
chmod 600 "$HOME/.pgpass"
export HOME PGSERVICE=mydb
wait_until 20 bash -c 'wf-console -o csv drivers | grep -q ,live,'
exits 'a console connects over TLS' 0 wf-console list
unlike 'a console does not warn of that connection' "$OUTPUT" 'read'

# --- 5. check it

exits 'the versions are shown' 0 wf-console workspace status
is 'the versions of workspace and console go together' "$(sed -n 's/^known_version: //p' <<<"$OUTPUT")" \
    "$(sed -n 's/^schema_version: //p' <<<"$OUTPUT")"
exits 'the workspace is sound' 0 wf-console fsck
like 'fsck says that the workspace is sound' "$OUTPUT" 'sound: every check passed'
printf 'workflow hello() -> string {\n  sql.Query(statement = "select session_user as me") as r ;\n  return r.rows[0].me\n}\n' >"$WORK/hello.wf"
ok 'a workflow is installed' wf-console install "$WORK/hello.wf"
exits 'the workflow runs' 0 wf-console -o json start hello --wait
like 'SQL tasks run as etl' "$OUTPUT" '"output":"etl"'
unlike 'the driver does not warn of the role of SQL tasks' "$(cat "$WORK/driver-one.log")" 'superuser|may create roles'
before=$(wf-console -o csv drivers | grep -c ,live,)
stop driver-one KILL 2>/dev/null || true
spawn driver-one wf-driver -c "$ETC/driver.conf"
ok 'a driver that was killed comes back' wait_until 20 bash -c 'wf-console -o csv drivers | grep -q "^2,.*,live,"'
is 'one driver was at work before' "$before" 1
ok 'a dump has the workspace' bash -c "env -u PGSERVICE -u PGHOSTADDR pg_dump -h '$server_socket' -U postgres -n wf mydb |
    grep -q 'CREATE SCHEMA wf'"
printf '*:%s:mydb:monitor:that of the monitoring\n' "$PORT" >>"$HOME/.pgpass"
ok 'the check for monitoring is content' wait_until 20 "$ROOT/config/check-pgwf" 'service=mydb user=monitor'

# --- 6. upgrading

block sh 5 >"$WORK/run.sh"
ok 'the workspace is upgraded while a driver works' env -u PGSERVICE -u PGHOSTADDR PGHOST="$server_socket" \
    PGUSER=postgres bash -euo pipefail "$WORK/run.sh"
exits 'the workspace is sound after the upgrade' 0 wf-console fsck
exits 'a workflow runs after the upgrade' 0 wf-console start hello --wait --timeout 30s
stop driver-one

# --- s6 and runit: the same folders, with our paths, as whoever runs this

# folder NAME: a copy of config/NAME/pgwf-driver
folder() {
    cp -r "$ROOT/config/$1/pgwf-driver" "$WORK/$1"
    rm -r "$WORK/$1/log"
    sed -i -e "s|/usr/bin/wf-driver|$(command -v wf-driver)|; s|/etc/pgwf|$ETC|" \
        -e 's|s6-setuidgid pgwf ||; s|chpst -u pgwf|chpst|' "$WORK/$1/run"
}
# supervised NAME SUPERVISOR RELOAD… -- STOP…: what the page says of it
supervised() {
    local name=$1 supervisor=$2
    folder "$name"
    spawn "$name" "$supervisor" "$WORK/$name"
    ok "$name: starts the driver" wait_until 20 grep -q 'registered as driver' "$WORK/$name.log"
}
supervised s6 s6-supervise
ok 's6: the driver is told to reload' s6-svc -h "$WORK/s6"
ok 's6: the driver has read its configuration again' wait_until 10 grep -q 'configuration read again' "$WORK/s6.log"
ok 's6: the driver is stopped' s6-svc -wD -T 30000 -d "$WORK/s6"
ok 's6: the driver has left' grep -q 'left$' "$WORK/s6.log"
stop s6
supervised runit runsv
ok 'runit: the driver is told to reload' sv hup "$WORK/runit"
ok 'runit: the driver has read its configuration again' wait_until 10 grep -q 'configuration read again' "$WORK/runit.log"
ok 'runit: the driver is stopped' sv -w 30 stop "$WORK/runit"
ok 'runit: the driver has left' grep -q 'left$' "$WORK/runit.log"
printf 'no option\n' >"$ETC/driver.conf"
sv start "$WORK/runit" >"$WORK/sv.log" 2>&1 || true
ok 'runit: a driver that cannot start is left' wait_until 20 bash -c "sv status '$WORK/runit' | grep -qE '^down: .*: ([3-9]|[1-9][0-9]+)s'"
stop runit
done_testing
