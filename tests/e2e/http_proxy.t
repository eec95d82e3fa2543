#!/usr/bin/env bash
# http_proxy.t - the driver behind a proxy: what goes through it, what the proxy
# is not even asked for, and that only the configuration decides.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
DATA=$ROOT/tests/e2e/data/http_proxy
PROXY_PORT=$(free_port)
TLS_PORT=$(free_port)
LOG=$WORK/proxy/tinyproxy.log

mkdir "$WORK/tls"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -subj /CN=server -addext 'subjectAltName=DNS:localhost,DNS:localhost.localdomain' \
    -days 2 -keyout "$WORK/tls/server.key" -out "$WORK/tls/server.pem" \
    >>"$WORK/openssl.log" 2>&1
[ "$(id -u)" -ne 0 ] || chown "$SERVER_USER" "$WORK/tls/server.key"

nginx_start "location / { return 200 \"\$http_via|\"; }
    location /away { return 302 \$arg_to; }"
plain=http://localhost:$HTTP_PORT
plain_port=$HTTP_PORT
HTTP_SSL=ssl nginx_start "ssl_certificate $WORK/tls/server.pem;
    ssl_certificate_key $WORK/tls/server.key;
    location / { return 200 \"\$http_via|\"; }" secure
secure=https://localhost:$HTTP_PORT

# The proxy itself goes anywhere on this machine.
server_dir proxy >/dev/null
cat >"$WORK/proxy/tinyproxy.conf" <<END
Port $PROXY_PORT
Listen 127.0.0.1
Timeout 60
LogFile "$LOG"
LogLevel Connect
MaxClients 50
ViaProxyName "tinyproxy"
END
spawn_server tinyproxy tinyproxy -d -c "$WORK/proxy/tinyproxy.conf"
# the same proxy, with TLS
spawn_server socat socat "OPENSSL-LISTEN:$TLS_PORT,bind=127.0.0.1,fork,verify=0,$(
    )cert=$WORK/tls/server.pem,key=$WORK/tls/server.key" "TCP:127.0.0.1:$PROXY_PORT"
listens() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}
ok 'the proxy is there' wait_until 20 listens "$PROXY_PORT"
ok 'the proxy with TLS is there' wait_until 20 listens "$TLS_PORT"
workspace_start
ok 'install' wf-console install "$DATA/http_proxy.wf"

# asked: what the proxy was asked for.
asked() {
    sed -n 's/.*Request (file descriptor [0-9]*): \([A-Z]* [^ ]*\).*/\1/p' "$LOG"
}

# fetched NAME URL REGEX ASKED: what became of one request, and what the proxy
# was asked for meanwhile.
fetched() {
    local id
    : >"$LOG"
    id=$(begin http_proxy -p "url=$2")
    wait_sql 30 "select state in ('END', 'FAILED') from wf.task_v
        where instance_id = $id" || true
    like "$1: $3" "$(sql "select concat_ws(' ', error ->> 'kind', state,
            error ->> 'message', output ->> 'body')
        from wf.task_v where instance_id = $id")" "$3"
    is "$1: what the proxy was asked for" "$(asked | sort -u)" "$4"
}

# --- through the proxy

# shellcheck disable=SC2034 # for driver_start
DRIVER_HTTP=() # as it comes
# What the environment says of proxies counts for nothing.
no_proxy=localhost NO_PROXY='*' https_proxy=http://127.0.0.1:1 \
    driver_start one -o "http.proxy=http://127.0.0.1:$PROXY_PORT" \
    -o "http.ca_file=$WORK/tls/server.pem" \
    -o "http.allow=localhost,93.184.216.34,127.0.0.9" -o 'http.deny=0.0.0.0'
fetched 'HTTP' "$plain/" '^END .*tinyproxy' "GET $plain/"
fetched 'HTTPS, by a tunnel' "$secure/" '^END \|$' "CONNECT ${secure#https://}"
fetched 'again, on an open connection' "$plain/" '^END .*tinyproxy' "GET $plain/"

# --- what the proxy is not asked for

rejected='^rejected FAILED .*'
fetched 'a name that is not allowed' "http://other.test:$plain_port/" \
    "${rejected}may not ask its proxy for other.test: .*http.allow must name this host" ''
fetched 'the same with TLS' "https://other.test:$plain_port/" "${rejected}other.test" ''
fetched 'a name below' "http://x.localhost:$plain_port/" "${rejected}x.localhost" ''
fetched 'loopback' "http://127.0.0.1:$plain_port/" "${rejected}127.0.0.1" ''
fetched 'loopback with TLS' "https://127.0.0.1:$plain_port/" "${rejected}127.0.0.1" ''
fetched 'loopback in another spelling' "http://0x7f.1:$plain_port/" "${rejected}127.0.0.1" ''
fetched 'loopback of IPv6' "http://[::1]:$plain_port/" "${rejected}::1/128" ''
fetched 'loopback, mapped' "https://[::ffff:127.0.0.1]:$plain_port/" "${rejected}127.0.0.1" ''
fetched 'metadata' http://169.254.169.254/latest "${rejected}169.254.169.254/32 \(metadata\)" ''
fetched 'what is denied' "http://0.0.0.0:$plain_port/" "${rejected}http.deny" ''
fetched 'a redirect to loopback, by a connection that is open' \
    "$plain/away?to=http://127.0.0.1:$plain_port/" "${rejected}127.0.0.1" \
    "GET $plain/away?to=http://127.0.0.1:$plain_port/"
fetched 'a redirect to loopback with TLS' \
    "$plain/away?to=https://127.0.0.1:$plain_port/" "${rejected}127.0.0.1" \
    "GET $plain/away?to=https://127.0.0.1:$plain_port/"
fetched 'a redirect to a name that is not allowed' \
    "$plain/away?to=http://other.test/" "${rejected}other.test" \
    "GET $plain/away?to=http://other.test/"
fetched 'a redirect to a name that is, by a tunnel that is open' \
    "$plain/away?to=$secure/" '^END \|$' "GET $plain/away?to=$secure/"
driver_stop one

# --- past the proxy

driver_start one -o "http.proxy=http://127.0.0.1:$PROXY_PORT" \
    -o "http.allow=localhost,127.0.0.1" -o "http.no_proxy=127.0.0.0/24,.corp.test"
fetched 'an address of no_proxy' "http://127.0.0.1:$plain_port/" '^END \|$' ''
fetched 'a name of no_proxy is looked up here' http://a.corp.test/ \
    '^(rejected|http) FAILED ' ''
fetched 'any other' "$plain/" '^END .*tinyproxy' "GET $plain/"
fetched 'by a redirect, from the proxy to no proxy' \
    "$plain/away?to=http://127.0.0.1:$plain_port/" '^END \|$' \
    "GET $plain/away?to=http://127.0.0.1:$plain_port/"
driver_stop one
driver_start one -o "http.proxy=http://127.0.0.1:$PROXY_PORT" \
    -o "http.allow=localhost" -o "http.no_proxy=localhost"
fetched 'a name of no_proxy is still judged by its address' "$plain/" \
    "${rejected}(loopback)" ''
driver_stop one

# --- a proxy with TLS

driver_start one -o "http.proxy=https://localhost:$TLS_PORT" \
    -o "http.ca_file=$WORK/tls/server.pem" -o http.allow=localhost
fetched 'HTTP, by TLS to the proxy' "$plain/" '^END .*tinyproxy' "GET $plain/"
fetched 'HTTPS, by a tunnel in TLS' "$secure/" '^END \|$' "CONNECT ${secure#https://}"
driver_stop one
driver_start one -o "http.proxy=https://localhost:$TLS_PORT" -o http.allow=localhost
fetched 'a proxy whose certificate nobody has signed' "$plain/" \
    '^http FAILED .*certificate' ''
driver_stop one

# --- a proxy that is not there

driver_start one -o http.proxy=http://127.0.0.1:1 -o http.allow=localhost
fetched 'no proxy' "$plain/" '^http FAILED .*port 1 ' ''
driver_stop one
sound
done_testing
