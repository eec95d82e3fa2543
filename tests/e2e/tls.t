#!/usr/bin/env bash
# tls.t - connections over TLS: verify-full with channel binding works, a server
# that is not the right one is refused, and what is weaker than verify-full is
# warned of, unless it is a local socket.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

TLS=$WORK/tls
PORT=$(free_port)

# --- certificates

# authority NAME
authority() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
        -subj "/CN=authority $1" -days 2 -keyout "$TLS/$1-ca.key" \
        -out "$TLS/$1-ca.pem" >>"$WORK/openssl.log" 2>&1
}

# certificate NAME AUTHORITY HOST DAYS: of a server.
certificate() {
    (
        cd "$TLS"
        openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 \
            -nodes -subj "/CN=$3" -addext "subjectAltName=DNS:$3" \
            -keyout "$1.key" -out "$1.req"
        openssl x509 -req -in "$1.req" -CA "$2-ca.pem" -CAkey "$2-ca.key" \
            -CAcreateserial -days "$4" -copy_extensions copyall -out "$1.pem"
    ) >>"$WORK/openssl.log" 2>&1
    chmod 600 "$TLS/$1.key"
    [ "$(id -u)" -ne 0 ] || chown "$SERVER_USER" "$TLS/$1.key"
}

mkdir "$TLS"
authority good
authority other
certificate server good db.test 2
certificate expired good db.test -1
certificate other other db.test 2

# --- a server, and logins that have a password

pg_start pg "listen_addresses = '127.0.0.1'" "port = $PORT" 'ssl = on' \
    "ssl_cert_file = '$TLS/server.pem'" "ssl_key_file = '$TLS/server.key'"
export PGPORT=$PORT
workspace_install wf
# easy: the server asks it for no password. plain: it gets no TLS.
hba=$(server_dir pg)/data/pg_hba.conf
printf '%s\n' 'hostssl all easy 127.0.0.1/32 trust' \
    'hostssl all plain 127.0.0.1/32 reject' | cat - "$hba" >"$WORK/hba"
cat "$WORK/hba" >"$hba"
for login in ann easy plain; do
    login_create "$login" wf_author
    sql "grant wf_operator to $login; alter role $login password 'word of $login'"
done
login_create wf_driver_one wf_driver
login_create etl wf_app
sql "alter role wf_driver_one password 'word of wf_driver_one';
     alter role etl password 'word of etl'; select pg_reload_conf()" >"$WORK/reloaded"
PGPASSFILE=$(private_dir)/passwords
for login in ann plain wf_driver_one etl; do
    printf '127.0.0.1:*:*:%s:word of %s\n' "$login" "$login"
    printf 'db.test:*:*:%s:word of %s\n' "$login" "$login"
    printf 'evil.test:*:*:%s:word of %s\n' "$login" "$login"
done >"$PGPASSFILE"
chmod 600 "$PGPASSFILE"
export PGPASSFILE

AT="host=db.test hostaddr=127.0.0.1 port=$PORT dbname=wf"
GOOD="sslmode=verify-full sslrootcert=$TLS/good-ca.pem"
cat >"$WORK/tls.wf" <<'WF'
/** A task of the driver itself, and one of SQL. */
workflow tls() { lb.Log(msg = "over TLS") ; sql.Query(statement = "select 1 as one") }
WF

# console CONNECTION [COMMAND…]: its rows in $ROWS, what it says besides in $SAID.
console() {
    local connection=$1 status=0
    shift
    wf-console -d "$connection" -o json "${@:-workflows}" >"$WORK/rows" 2>"$WORK/said" || status=$?
    ROWS=$(<"$WORK/rows") SAID=$(<"$WORK/said")
    return "$status"
}

# --- as it should be

ok 'a workflow is installed over verify-full with channel binding' \
    wf-console -d "$AT user=ann $GOOD channel_binding=require" install "$WORK/tls.wf"
console "$AT user=ann $GOOD channel_binding=require"
like 'the console reads over it' "$ROWS" '"workflow":"tls"'
is 'the console says nothing of a safe connection' "$SAID" ''
console "dbname=wf user=ann host=$PGHOST port=$PORT"
is 'a local socket is nothing to speak of' "$SAID" ''
like 'the rows over a local socket are the same' "$ROWS" '"workflow":"tls"'

# --- what is weaker

NOT_ENCRYPTED='is not encrypted: whoever is on the way can read and change everything'
NOT_CHECKED='is encrypted, but no check of the server.s certificate was asked for'
NOT_NAMED='is encrypted, but the name of the server was not checked'

# weaker NAME CONNECTION REGEX: it works, and one line says what is wrong.
weaker() {
    console "$2" || true
    like "$1: it works" "$ROWS" '"workflow":"tls"'
    like "$1: one line says what others can do, and what prevents it" "$SAID" \
        "^wf-console: warning: the connection to [a-z0-9.]+ $3.*; sslmode=verify-full prevents that\$"
    is "$1: the warning is one line" "$(wc -l <"$WORK/said")" 1
}
weaker 'disable' "$AT user=ann sslmode=disable" "$NOT_ENCRYPTED"
weaker 'disable to loopback' "host=127.0.0.1 port=$PORT dbname=wf user=ann sslmode=disable" "$NOT_ENCRYPTED"
weaker 'the default of libpq, without TLS' "$AT user=plain" "$NOT_ENCRYPTED.*sslmode=prefer"
weaker 'the default of libpq, with TLS' "$AT user=ann" "$NOT_CHECKED.*sslmode=prefer"
weaker 'require' "$AT user=ann sslmode=require" "$NOT_CHECKED"
weaker 'require with channel binding' "$AT user=ann sslmode=require channel_binding=require" "$NOT_CHECKED"
weaker 'verify-ca' "$AT user=ann sslmode=verify-ca sslrootcert=$TLS/good-ca.pem" "$NOT_NAMED"
weaker 'a URI' "postgresql://ann@db.test:$PORT/wf?hostaddr=127.0.0.1&sslmode=require" "$NOT_CHECKED"
PGSSLMODE=disable weaker 'by the environment' "$AT user=ann" "$NOT_ENCRYPTED"
printf '%s\n' '[tls]' host=db.test hostaddr=127.0.0.1 "port=$PORT" dbname=wf user=ann \
    sslmode=require >"$WORK/service"
PGSERVICEFILE=$WORK/service weaker 'by a service' 'service=tls' "$NOT_CHECKED"
export PGSSLMODE=verify-full PGSSLROOTCERT=$TLS/good-ca.pem
console "$AT user=ann"
is 'verify-full by the environment is as good' "$SAID" ''
unset PGSSLMODE PGSSLROOTCERT
WF_TRUST_NETWORK=1 console "$AT user=ann sslmode=disable"
is 'a console with trust_network says nothing of it' "$SAID" ''
like 'a console with trust_network has the rows' "$ROWS" '"workflow":"tls"'

# --- a server that is not the right one

# refused NAME CONNECTION REGEX HINT: by console and driver; the console has a hint of its own.
refused() {
    exits "$1: the console refuses it" 1 wf-console -d "$2 user=ann" list
    like "$1: the console says why" "$OUTPUT" "$3"
    like "$1: the console says what to do" "$OUTPUT" "hint: $4"
    exits "$1: the driver refuses it" 1 wf-driver -n -d "$2 user=wf_driver_one"
    like "$1: the driver says why" "$OUTPUT" "$3"
}
BINDING='hint: channel_binding=require takes TLS'
refused 'the authority is another one' "$AT sslmode=verify-full sslrootcert=$TLS/other-ca.pem" \
    'certificate verify failed' "The server's certificate has expired, or sslrootcert"
refused 'the name is another one' "host=evil.test hostaddr=127.0.0.1 port=$PORT dbname=wf $GOOD" \
    'server certificate for "db.test" does not match host name "evil.test"' 'Name the host as its certificate'
refused 'the name is an address' "host=127.0.0.1 port=$PORT dbname=wf $GOOD" \
    'does not match host name "127.0.0.1"' 'Name the host as its certificate'
refused 'no authority is there' "$AT sslmode=verify-full sslrootcert=$TLS/none.pem" \
    'root certificate file .* does not exist' 'sslrootcert names the file'
refused 'channel binding without TLS' "$AT sslmode=disable channel_binding=require" \
    'channel binding required' 'channel_binding=require takes TLS'
exits 'a server that asks for no password proves nothing' 1 \
    wf-console -d "$AT user=easy $GOOD channel_binding=require" list
like 'a server that asks for no password is refused with channel binding' "$OUTPUT" "channel binding required.*"
like 'the refusal has a hint about channel binding' "$OUTPUT" "$BINDING"
exits 'a server that asks for no password is accepted without channel binding' 0 wf-console -d "$AT user=easy $GOOD" list

# the_server CERTIFICATE: it has that one from now on.
the_server() {
    local serial
    pg_set pg "ssl_cert_file = '$TLS/$1.pem'"
    pg_set pg "ssl_key_file = '$TLS/$1.key'"
    serial=$(openssl x509 -in "$TLS/$1.pem" -noout -serial)
    wait_until 10 has_serial "$serial"
}
has_serial() {
    openssl s_client -starttls postgres -connect "127.0.0.1:$PORT" </dev/null 2>/dev/null |
        openssl x509 -noout -serial | grep -qFx "$1"
}
the_server expired
refused 'the certificate of the server has expired' "$AT $GOOD" 'certificate verify failed' \
    "The server's certificate has expired"
the_server other
refused 'somebody with a certificate of another authority took its place' "$AT $GOOD" \
    'certificate verify failed' "The server's certificate has expired, or sslrootcert"
pg_set pg 'ssl = off'
wait_until 10 bash -c "! openssl s_client -starttls postgres -connect 127.0.0.1:$PORT </dev/null"
refused 'the server has no TLS any more' "$AT $GOOD" 'server does not support SSL' 'The server needs .ssl = on.'
pg_set pg 'ssl = on'
the_server server

# --- a driver at work

# warnings: the lines in which the driver's log says so.
warnings() {
    grep -c 'sslmode=verify-full prevents that' "$WORK/driver-one.log" || true
}

# works NAME: an instance comes to its end.
works() {
    local id
    id=$(begin tls)
    ended "$id"
    is "$1" "$(state_of "$id")" 'END success'
}
BOUND="$AT $GOOD channel_binding=require"
driver_start one -d "$BOUND" -o sql_connection="$BOUND user=etl"
works 'driver: it works over verify-full with channel binding, SQL tasks included'
is 'driver: each of its sessions has TLS' "$(sql "select distinct usename, ssl from pg_stat_ssl
    join pg_stat_activity using (pid) where client_addr is not null order by 1")" \
    $'etl|t\nwf_driver_one|t'
is 'driver: it says nothing of that' "$(warnings)" 0
driver_stop one

cat >"$WORK/driver.conf" <<CONF
connection = "$AT sslmode=require";
sql_connection = "$AT sslmode=disable user=etl";
CONF
: >"$WORK/driver-one.log"
driver_start one -c "$WORK/driver.conf"
works 'driver: it works over less'
LINES=$(grep 'sslmode=verify-full prevents that' "$WORK/driver-one.log")
like 'driver: one line is about its connection' "$LINES" "db.test $NOT_CHECKED"
like 'driver: one is about that of SQL tasks' "$LINES" "db.test $NOT_ENCRYPTED"
is 'driver: there are no others, for however many sessions' "$(warnings)" 2
before=$(sql "select count(pg_terminate_backend(pid)) from pg_stat_activity where client_addr is not null")
ok 'driver: its sessions are ended' test "$before" -gt 0
works 'driver: it connects again'
is 'driver: it does not say it again' "$(warnings)" 2

# again NAME COUNT: it reads its configuration again; so many lines there are then.
again() {
    local read
    read=$(grep -c 'configuration read again' "$WORK/driver-one.log" || true)
    kill -HUP "$(pid_of driver-one)"
    wait_until 10 test_read_again "$read"
    works "$1: it works"
    is "$1" "$(warnings)" "$2"
}
test_read_again() {
    [ "$(grep -c 'configuration read again' "$WORK/driver-one.log")" -gt "$1" ]
}
again 'driver: at a HUP it says both again' 4
printf 'trust_network = true;\n' >>"$WORK/driver.conf"
again 'driver: who trusts the network hears nothing of it' 4
driver_stop one
sound
done_testing
