#!/usr/bin/env bash
# driver_http.t - what becomes of answers over HTTP, good and bad.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
DATA=$ROOT/tests/e2e/data/driver

nginx_start "$(cat "$DATA/nginx.conf")"
head -c 3000000 /dev/zero | tr '\0' a >"$WORK/nginx/huge.txt"
cp "$WORK/nginx/huge.txt" "$WORK/nginx/bomb.txt"
printf '\377\376' >"$WORK/nginx/binary"
chmod a+r "$WORK"/nginx/{huge.txt,bomb.txt,binary}
workspace_start
driver_start one -o http.deny=localhost
ok 'install' wf-console install "$DATA/http.wf"
id=$(begin driver_http -p "base=$HTTP_URL" -p closed=http://127.0.0.1:1/)
wait_sql 30 "select not exists (select from wf.task_v
    where instance_id = $id and state not in ('END', 'FAILED'))" || true

# of TITLE EXPRESSION: of the task with that title.
of() {
    sql "select $2 from wf.task_v where instance_id = $id and title = '$1'"
}

# fails TITLE KIND REGEX: how it failed.
fails() {
    is "$1: kind $2" "$(of "$1" "error ->> 'kind'")" "$2"
    like "$1: the message" "$(of "$1" "error ->> 'message'")" "$3"
}

is 'the query is encoded, lists repeat their key; JSON is read' \
    "$(of good "output #>> '{body,args}'")" 'q=a+b%26c&list=1&list=2'
is 'JSON is sent as such, numbers as they were written' \
    "$(of posted "output ->> 'body'")" 'POST application/json yes {"n":1.10}'
is 'a form is encoded, lists repeat their name' \
    "$(of form "output ->> 'body'")" \
    'POST application/x-www-form-urlencoded  n=1&n=2.50&name=a%20b%26c'
is 'a form with a file has parts' "$(of 'form with a file' "replace(output ->> 'body', e'\r', '')")" \
    'POST multipart/form-data; boundary=pgwf-form-0  --pgwf-form-0
Content-Disposition: form-data; name="note"

hello
--pgwf-form-0
Content-Disposition: form-data; name="report"; filename="r.csv"
Content-Type: text/csv

1;2
--pgwf-form-0--'
fails 'form and body' input '^body and form must not both be given$'
is 'GET follows a redirect' "$(of moved "output #>> '{body,args}'")" 'moved'
is 'POST follows a 303, with a GET' \
    "$(of other "output #>> '{body,args}'")" 'other'
is 'a redirect that is accepted is not followed' \
    "$(of 'not followed' "output ->> 'status'")" 302
is 'the location of a redirect is made absolute' \
    "$(of 'not followed' "output #>> '{headers,location}'")" \
    "$HTTP_URL/json?moved"
is 'compressed bodies are decompressed' \
    "$(of packed "output ->> 'body'")" packed
fails busy http "^GET $HTTP_URL/busy answered 503$"
is 'busy: status and body are kept' \
    "$(of busy "error -> 'detail'")" \
    '{"body": "come back later", "status": 503}'
fails 'posted and moved' http 'answered 302$'
fails loop http 'redirects'
fails file http 'not supported'
fails slow timeout "^GET $HTTP_URL/slow did not end within 300 ms$"
fails closed http '^GET http://127.0.0.1:1/: '
fails huge output 'body of more than 1048576 bytes$'
fails bomb output 'body of more than 1048576 bytes$'
fails binary output 'not UTF-8'
fails metadata rejected \
    'may not connect to 169\.254\.169\.254 \(169\.254\.169\.254\): 169\.254\.169\.254 is in 169\.254\.169\.254/32 \(metadata\), which is denied unless http\.allow names it$'
fails inwards rejected "^GET $HTTP_URL/inwards: this driver may not connect to"
fails 'by name' rejected 'may not connect to LOCALHOST \('
like 'rejected: where to look' "$(of metadata "error #>> '{detail,hint}'")" \
    'http\.deny'
fails scheme input '^url must begin with http:// or https://'
fails line input '^headers: X-A is not a header of one line'
trace=$(trace_of "$id")
is 'every request had its key' \
    "$(awk -v key="^$trace-[0-9]+\$" '$4 !~ key' "$WORK/nginx/access.log")" ''
is 'every request had its place in the trace of its instance' \
    "$(awk -v trace="^00-${trace//-/}-[0-9a-f]+-01\$" \
        '$5 !~ trace || length($5) != 55' "$WORK/nginx/access.log")" ''
is 'the key is that of the task' \
    "$(of good "'$trace-' || process_id")" "$(awk '$2 ~ /q=a/ { print $4 }' \
        "$WORK/nginx/access.log")"
is 'a trace header of the author wins' \
    "$(of named "output #>> '{body}'")" 'mine 00-01-02-00'

touch "$WORK/nginx/well"
ok 'retry' wf-console retry --yes "$(sql "select instance_id || '/' || process_id
    from wf.task_v where instance_id = $id and title = 'busy'")"
wait_sql 20 "select state = 'END' from wf.task_v
    where instance_id = $id and title = 'busy'" || true
is 'retried: it has the answer' "$(of busy "output ->> 'body'")" well
is 'under the same key, as another span' \
    "$(awk '$2 == "/busy" { n++; key[$4]; span[$5] }
        END { print n, length(key), length(span) }' \
        "$WORK/nginx/access.log")" '2 1 2'
sound
done_testing
