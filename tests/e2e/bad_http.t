#!/usr/bin/env bash
# bad_http.t - what no HTTP server should answer: each answer becomes one clear
# outcome of its own task, in time, and nothing else suffers.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
DATA=$ROOT/tests/e2e/data/bad_http

# Name of the answer, and what becomes of it: the output's body, or a kind and
# what the message says.
ANSWERS='
no-content      END    null
empty-json      END    null
interim         END    .n": 1}
remember        END    null
json-null       END    null
json-twice      END    .a": 2}
json-great-int  END    .n": 123456789012345678901234567890.10}
json-deep-ok    END    \[{90}\]{90}
status-000      http   Unsupported response code
status-999      http   answered 999$
no-status       http   HTTP/0.9
garbage         http   HTTP/0.9
nul-header      http   Nul byte in header
great-header    output header of more than 65536 bytes$
many-headers    output header of more than 65536 bytes$
short-body      http   closed with 91 bytes remaining
two-lengths     http   closed with 3 bytes remaining
great-chunk     http   chunked-encoding
bad-chunk       http   chunked-encoding
cut-chunk       http   closed with outstanding
endless-chunks  output body of more than 1048576 bytes$
packed          output not UTF-8
cut-gzip        output not UTF-8
json-nul        output says that it is JSON, but it is not
json-surrogate  output says that it is JSON, but it is not
json-bytes      output not UTF-8
json-nan        output says that it is JSON, but it is not
json-deep       output says that it is JSON, but it is not: stack depth
json-exponent   output says that it is JSON, but it is not: value overflows
json-two        output says that it is JSON, but it is not
json-bom        output says that it is JSON, but it is not
json-cut        output says that it is JSON, but it is not
json-html       output says that it is JSON, but it is not
silent          timeout did not end within 5000 ms$
slow-header     timeout did not end within 5000 ms$
slow-body       timeout did not end within 5000 ms$
gone            http   Empty reply
reset           http   reset by peer
'

spawn server perl "$DATA/server" "$WORK/address" "$WORK/requests"
wait_until 30 test -s "$WORK/address"
base=$(cat "$WORK/address")
workspace_start
driver_start one
before=$(awk '/^VmHWM/ { print $2 }' "/proc/$(pid_of driver-one)/status")
ok 'install' wf-console install "$DATA/bad_http.wf"

# ask REGEX TIMEOUT: for all answers at once of which that becomes; prints the instance.
ask() {
    begin bad_http -p "base=$base" -p "timeout=$2" -p "names=[$(
        awk -v kind="$1" '$2 ~ kind { printf "%s\"%s\"", sep, $1; sep = "," }' <<<"$ANSWERS"
    )]"
}

# A machine that is busy does not answer at once: only what never ends is not waited for.
ids="$(ask '^timeout$' 5s),$(ask '^(END|http|output)$' 5m)"
wait_sql 60 "select count(*) = $(awk 'NF' <<<"$ANSWERS" | wc -l)
        and bool_and(state in ('END', 'FAILED'))
    from wf.task_v where instance_id in ($ids)" || true

while read -r name kind what; do
    [ -n "$name" ] || continue
    like "$name: $kind" "$(sql "select concat_ws(' ', coalesce(error ->> 'kind', state),
            coalesce(error ->> 'message', (output -> 'body')::text))
        from wf.task_v where instance_id in ($ids) and title = '$name'")" "^$kind .*$what"
done <<<"$ANSWERS"
is 'each was asked for once' "$(grep -v accepted "$WORK/requests" | sort | uniq -d)" ''
after=$(awk '/^VmHWM/ { print $2 }' "/proc/$(pid_of driver-one)/status")
ok "the driver's memory stays bounded: $before, then $after kB" \
    test "$after" -lt $((before + 40000))

# kept PATH METHOD [OPTION…]: twenty such requests, one after the other. What the
# server has seen is in REQUESTS and CONNECTIONS.
kept() {
    : >"$WORK/requests"
    ok "$*: one after the other" timeout 60 wf-console start kept \
        -p "base=$base" -p "path=$1" -p "method=$2" "${@:3}" --wait
    is "$*: that many tasks" "$(sql "select count(*) from wf.task_v
        where instance_id = (select max(instance_id) from wf.instance_v)")" 20
    REQUESTS=$(grep -c "^$2" "$WORK/requests" || true)
    CONNECTIONS=$(grep -c '^accepted' "$WORK/requests" || true)
}

# What a server closes without an answer may have been done: only what it may
# do twice is sent again.
kept kept GET
ok 'GET: sent again where a connection was used again' test "$REQUESTS" -gt 20
for method in POST PATCH; do
    kept kept "$method"
    is "$method: sent once each" "$REQUESTS" 20
    kept kept "$method" -p keyed=true
    ok "$method under a key: sent again where a connection was used again" \
        test "$REQUESTS" -gt 20
done
driver_stop one # and its connections
driver_start one
for method in POST PATCH; do
    kept steady "$method"
    is "$method: each has a connection of its own" "$CONNECTIONS" 20
    kept steady "$method" -p keyed=true
    ok "$method under a key: connections are used again, $CONNECTIONS" \
        test "$CONNECTIONS" -le 2
    is "$method under a key: sent once each where nothing goes wrong" "$REQUESTS" 20
done

# --- TLS

# certificate NAME SUBJECT-ALT-NAME DAYS: signed by itself.
certificate() {
    (
        cd "$WORK/tls"
        openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 \
            -nodes -subj /CN=test -addext "subjectAltName=$2" \
            -keyout "$1.key" -out "$1.req"
        openssl x509 -req -in "$1.req" -signkey "$1.key" -days "$3" \
            -copy_extensions copyall -out "$1.pem"
    ) >>"$WORK/openssl.log" 2>&1
}

# tls_start NAME: a server with that certificate; sets TLS_URL.
tls_start() {
    local attempt port
    for attempt in 1 2 3 4 5; do
        port=$(free_port)
        spawn "tls-$1" openssl s_server -accept "127.0.0.1:$port" -www \
            -cert "$WORK/tls/$1.pem" -key "$WORK/tls/$1.key"
        TLS_URL=https://127.0.0.1:$port/
        wait_until 5 grep -q '^ACCEPT' "$WORK/tls-$1.log" && return
        stop "tls-$1" || true
        diag "openssl did not start on port $port, attempt $attempt"
    done
    return 1
}

mkdir "$WORK/tls"
certificate good IP:127.0.0.1 2
certificate unknown IP:127.0.0.1 2
certificate expired IP:127.0.0.1 -1
certificate 'other-host' DNS:example.org 2
cat "$WORK"/tls/{good,expired,other-host}.pem >"$WORK/tls/authorities"
driver_stop one
http_proxy=http://127.0.0.1:1/ driver_start two -o "http.ca_file=$WORK/tls/authorities" \
    -o http.connect_timeout_ms=2000

# fetched URL REGEX [OPTION…]: what became of one request.
fetched() {
    local id
    id=$(begin fetch -p "url=$1" "${@:3}")
    wait_sql 60 "select state in ('END', 'FAILED') from wf.task_v
        where instance_id = $id" || true
    like "$1: $2" "$(sql "select concat_ws(' ', error ->> 'kind', state,
            error ->> 'message', output ->> 'status')
        from wf.task_v where instance_id = $id")" "$2"
}

while read -r name regex; do
    tls_start "$name"
    fetched "$TLS_URL" "$regex"
done <<'END'
good       ^END 200$
unknown    ^http .*self-signed certificate
expired    ^http .*certificate has expired
other-host ^http .*no alternative certificate subject name matches
END
fetched "${base/http/https}/silent" '^timeout .*did not end within 2000 ms$' \
    -p timeout=2s

# --- time limits that end in the same millisecond as the one of connecting

id=$(begin silence -p "base=$base")
wait_sql 60 "select count(*) = 50 and bool_and(state = 'FAILED')
    from wf.task_v where instance_id = $id" || true
is 'fifty silent answers' "$(sql "select error ->> 'kind', count(*)
    from wf.task_v where instance_id = $id group by 1")" 'timeout|50'

# --- names, and what a browser would remember

fetched http://nothing.invalid/ '^http .*(resolve|timed out|timeout)'
fetched "$base/remember" '^END 200$'
fetched "$base/remember" '^END 200$'

# --- servers that do not read what they are sent, or stall while TLS begins

driver_stop two
driver_start three -o http.connect_timeout_ms=8000

# meanwhile ID COUNT: another request has its answer while those are under way.
meanwhile() {
    fetched "$base/no-content" '^END 204$'
    is 'the others are under way meanwhile' "$(sql "select count(*) from wf.task_v
        where instance_id = $1 and state = 'START_REQUESTED'")" "$2"
}

# ends ID REGEX: all its tasks have failed like that.
ends() {
    wait_sql 60 "select bool_and(state in ('END', 'FAILED')) from wf.task_v
        where instance_id = $1" || true
    like "all ends by its own limit: $2" "$(sql "select string_agg(concat_ws(' ', error ->> 'kind',
            error ->> 'message'), ' | ') from wf.task_v where instance_id = $1")" "$2"
}

# more than the sockets of this machine hold
sql "update wf.setting set value = '10000000' where name = 'value_bytes'"
: >"$WORK/requests"
id=$(begin unread -p "base=$base")
ok 'the bodies are on their way' wait_until 20 \
    sh -c "grep -q 'POST unread' '$WORK/requests' && grep -q 'POST sips' '$WORK/requests'"
meanwhile "$id" 2
ends "$id" '^timeout .*did not end within 8000 ms . timeout .*did not end within 8000 ms$'

: >"$WORK/requests"
id=$(begin fetch -p "url=${base/http/https}/silent")
ok 'TLS begins' wait_until 20 grep -q '^accepted' "$WORK/requests"
meanwhile "$id" 1
ends "$id" '^http .*(timed out|timeout)'
sound
done_testing
