#!/usr/bin/env bash
# http_tls.t - the driver and servers with TLS: the oldest version that it
# speaks, and the certificates that it shows to servers that ask for one.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
DATA=$ROOT/tests/e2e/data/http_tls
TLS=$WORK/tls
PRIVATE=$(private_dir)

# authority NAME
authority() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
        -subj "/CN=authority $1" -days 2 -keyout "$TLS/$1-ca.key" \
        -out "$TLS/$1-ca.pem" >>"$WORK/openssl.log" 2>&1
}

# certificate NAME AUTHORITY EXTENSION
certificate() {
    (
        openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 \
            -nodes -subj "/CN=$1" -addext "$3" \
            -keyout "$TLS/$1.key" -out "$TLS/$1.req"
        openssl x509 -req -in "$TLS/$1.req" -CA "$TLS/$2-ca.pem" \
            -CAkey "$TLS/$2-ca.key" -CAcreateserial -days 2 \
            -copy_extensions copyall -out "$TLS/$1.pem"
    ) >>"$WORK/openssl.log" 2>&1
}

# server NAME DIRECTIVE…: nginx with TLS; URL is where it is.
server() {
    local name=$1
    shift
    nginx_start "ssl_certificate $TLS/server.pem;
        ssl_certificate_key $TLS/server.key;
        $(printf '%s\n' "$@")
        location / { return 200 \"\$ssl_protocol \$ssl_client_s_dn\"; }
        location /away { return 302 \$arg_to; }" "$name"
    URL=https://localhost:$HTTP_PORT
}

# fetched NAME URL REGEX: what became of one request.
fetched() {
    local id
    id=$(begin http_tls -p "url=$2")
    wait_sql 30 "select state in ('END', 'FAILED') from wf.task_v
        where instance_id = $id" || true
    like "$1: $3" "$(sql "select concat_ws(' ', error ->> 'kind', state,
            error ->> 'message', output ->> 'body')
        from wf.task_v where instance_id = $id")" "$3"
}

mkdir "$TLS"
authority servers
authority clients
authority others
certificate server servers subjectAltName=DNS:localhost,IP:127.0.0.1
certificate etl clients extendedKeyUsage=clientAuth
certificate stranger others extendedKeyUsage=clientAuth
cp "$TLS/etl.key" "$TLS/stranger.key" "$PRIVATE"
openssl ec -in "$TLS/etl.key" -aes128 -passout pass:word \
    -out "$PRIVATE/locked.key" 2>>"$WORK/openssl.log"
chmod 600 "$PRIVATE"/*
[ "$(id -u)" -ne 0 ] || chown "$SERVER_USER" "$TLS/server.key"

modern='ssl_protocols TLSv1.2 TLSv1.3;'
HTTP_SSL=ssl server any "$modern"
any=$URL
HTTP_SSL=ssl server old 'ssl_protocols TLSv1 TLSv1.1;' \
    'ssl_ciphers ALL:@SECLEVEL=0;'
old=$URL
HTTP_SSL=ssl server middle 'ssl_protocols TLSv1.2;'
middle=$URL
HTTP_SSL=ssl server strict "$modern" "ssl_client_certificate $TLS/clients-ca.pem;" \
    'ssl_verify_client on;'
strict=$URL
HTTP_SSL=ssl server curious "$modern" "ssl_client_certificate $TLS/clients-ca.pem;" \
    'ssl_verify_client optional;'
curious=$URL
workspace_start
ok 'install' wf-console install "$DATA/http_tls.wf"

# --- versions

# The server does speak TLS 1.1 with who wants it.
ok 'the old server speaks TLS 1.1' bash -c "openssl s_client -tls1_1 \
    -cipher ALL:@SECLEVEL=0 -connect ${old#https://} </dev/null |
    grep -q 'Protocol *: TLSv1.1'"
driver_start one -o "http.ca_file=$TLS/servers-ca.pem"
fetched 'TLS 1.3' "$any/" '^END TLSv1.3'
fetched 'TLS 1.2' "$middle/" '^END TLSv1.2'
fetched 'TLS 1.1 only' "$old/" '^http FAILED .*(version|protocol|alert)'
driver_stop one
driver_start one -o "http.ca_file=$TLS/servers-ca.pem" -o http.tls_min=1.3
fetched 'TLS 1.3 of 1.3' "$any/" '^END TLSv1.3'
fetched 'TLS 1.2 is too old for 1.3' "$middle/" '^http FAILED .*(version|protocol|alert)'
fetched 'no certificate of the driver' "$strict/" \
    '^http FAILED .*(answered 400|certificate required)'
driver_stop one

# --- certificates

conf=$PRIVATE/driver.conf

# shows LINE…: the configuration has these certificates.
shows() {
    local IFS=, lines
    lines=$*
    cat >"$conf" <<END
http: {
    ca_file = "$TLS/servers-ca.pem";
    certificates = [$lines];
};
END
    chmod 600 "$conf"
}

shows "\"$strict $TLS/etl.pem $PRIVATE/etl.key\"" \
    "\"* $TLS/stranger.pem $PRIVATE/stranger.key\""
driver_start one -c "$conf"
fetched 'the certificate of this server' "$strict/" '^END TLSv1.3 CN=etl$'
fetched 'and of no other' "$curious/" '^http FAILED .*answered 400$'
fetched 'a server that asks for none' "$any/" '^END TLSv1.3 $'
# Where a server sends the driver it shows what is for the other one.
fetched 'by a redirect, from a server that asks for none' \
    "$any/away?to=$strict/" '^END TLSv1.3 CN=etl$'
# The other one would take the certificate of this one, but gets its own.
fetched 'by a redirect, to a server that asks and may not see it' \
    "$strict/away?to=$curious/" '^http FAILED .*answered 400$'

# reload: by HUP.
reload() {
    local before
    before=$(grep -c 'read again' "$WORK/driver-one.log" || true)
    kill -s HUP "$(pid_of driver-one)"
    wait_until 20 reloaded "$before"
}

reloaded() {
    [ "$(grep -c 'read again' "$WORK/driver-one.log")" -gt "$1" ]
}

shows "\"https://*.example.com $TLS/etl.pem $PRIVATE/etl.key\""
reload
fetched 'the domain is another one' "$strict/" \
    '^http FAILED .*(answered 400|certificate required)'
fetched 'no certificate, and none is needed' "$curious/" '^END TLSv1.3 $'
shows "\"* $TLS/stranger.pem $PRIVATE/stranger.key\""
reload
fetched 'a certificate of another authority' "$strict/" '^http FAILED .*answered 400$'
# An open connection goes by the name of the certificate: it gets others here.
for name in foreign locked nowhere; do
    cp "$TLS/etl.pem" "$TLS/$name.pem"
done
shows "\"* $TLS/foreign.pem $PRIVATE/stranger.key\""
reload
fetched 'a key that does not fit' "$strict/" '^http FAILED .*(key|certificate)'
shows "\"* $TLS/locked.pem $PRIVATE/locked.key\""
reload
fetched 'a key under a password' "$strict/" '^http FAILED .*(key|certificate)'
shows "\"* $TLS/nowhere.pem $PRIVATE/nowhere.key\""
reload
fetched 'a key that is not there' "$strict/" '^http FAILED .*(key|certificate)'
shows "\"* $TLS/etl.pem $PRIVATE/etl.key\""
reload
fetched 'the right one again' "$strict/" '^END TLSv1.3 CN=etl$'
sound
done_testing
