#!/usr/bin/env bash
# secret.t - secrets reach the service that they are for, and nothing else. The
# services give away all that they are told; then what was told is looked for
# wherever something could be kept or shown.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
DATA=$ROOT/tests/e2e/data/secret
SECRETS=$(private_dir)

# --- what must not be found

declare -A CANARY=(
    [http-token]=S3CR3T-1-Kx7bQ9zPwL
    [http-key]=S3CR3T-2-vT4mYc8RnE
    [http-body]=S3CR3T-3-hJ2sUa6GdF
    [http-fixed]=S3CR3T-4-oB5iWe1VkM
    [ssh-env]=S3CR3T-5-qN3xDf7CtZ
    [ssh-stdin]=S3CR3T-6-lR8pHg0SyA
    [ssh-key]=$'-----BEGIN KEY-----\nS3CR3T-7-uE9oKj4XbI\nS3CR3T-8-mP6vLw2TzQ\n-----END KEY-----'
    [odd]=$'S3CR3T-9 "q\\u\'o$t&e/d" \u00e9+%'
    [from_env]=S3CR3T-0-aY5cNh1JfW
    [password]=S3CR3T-10-gD8yCf3ZxO
)
for name in "${!CANARY[@]}"; do
    [ "$name" = from_env ] ||
        (umask 077 && printf '%s\n' "${CANARY[$name]}" >"$SECRETS/$name")
done
echo 'S3CR3T-open' >"$SECRETS/open"
chmod 644 "$SECRETS/open"

# of the driver's own connection
(umask 077 && printf 'connection = "password=%s";\n' "${CANARY[password]}" \
    >"$SECRETS/driver.conf")

# ways_of TEXT: how it may be written, one a line.
ways_of() {
    perl -MMIME::Base64 -e '
        my $v = shift;
        my $j = $v =~ s/(["\\])/\\$1/gr =~ s/\n/\\n/gr;
        my $u = $v =~ s/([^A-Za-z0-9._~-])/sprintf "%%%02X", ord $1/ger;
        print "$_\n" for (split /\n/, $v), $j, $u,
            map { my $b = encode_base64("x" x $_ . $v, "");
                  substr $b, 4 * !!$_, 12 } 0 .. 2' -- "$1"
}

for name in "${!CANARY[@]}"; do
    ways_of "${CANARY[$name]}"
    # half of one is too much, too
    sed -n 's/^S3CR3T-[0-9]-\([A-Za-z0-9]*\)$/\1/p' <<<"${CANARY[$name]}"
done >"$WORK/ways"
chmod 600 "$WORK/ways"

# nowhere NAME COMMAND…: its output has none of them in it.
nowhere() {
    local name=$1
    shift
    "$@" >"$WORK/shown" 2>&1
    is "not in $name" "$(search grep --text --fixed-strings --file="$WORK/ways" \
        "$WORK/shown" | cut -c 1-200 | head -n 3)" ''
}

# --- services

nginx_start "$(cat "$DATA/nginx.conf")"
sshd_start
HOME_THERE=$WORK/sshd/home
HEARD=$WORK/nginx/heard.log
workspace_start pg "log_statement = all" "log_min_duration_statement = 0" \
    "log_min_messages = debug1"
ok 'install' wf-console install "$DATA/secret.wf"

# go NAME [OPTION…]: a driver of that name carries the workflow out, up to the
# command that waits for a file.
go() {
    SECRET_from_env=${CANARY[from_env]} driver_start "$@" \
        -c "$SECRETS/driver.conf" -o "ssh.config_file=$SSH_CONFIG" -o ssh.max_output=4096 \
        -o "secrets.directory=$SECRETS" -o secrets.environment=SECRET_ -o "secrets.grants=* secrets * *" \
        -o exec.programs=sh=/bin/sh -o exec.env=SHOWN
    id=$(begin secrets -p "base=$HTTP_URL" -p closed=http://127.0.0.1:1/ \
        -p "data=$forged" -p "long=$(printf '%01021d' 0)")
    wait_sql 60 "select count(*) = 1 from wf.task_v
        where instance_id = $id and state not in ('END', 'FAILED')"
}

# let_go: of that command.
let_go() {
    as_server touch "$HOME_THERE/gate"
    wait_sql 60 "select state = 'FAILED' from wf.task_v
        where instance_id = $id and title = 'slow'" || true
}

# of TITLE EXPRESSION: of the task with that title.
of() {
    sql "select $2 from wf.task_v where instance_id = $id and title = '$1'"
}

# fails TITLE KIND REGEX: how it failed.
fails() {
    is "$1: kind $2" "$(of "$1" "error ->> 'kind'")" "$2"
    like "$1: the message" "$(of "$1" "error ->> 'message'")" "$3"
}

# What somebody might take for a secret.
# shellcheck disable=SC2016
forged='{"secret": "http-token", "at": ["body"], "text": ["http-token"],
    "x": ["secret", "http-token"], "y": "${secret(\"http-token\")}"}'
go one
everybody() {
    # some end meanwhile
    { cat /proc/[0-9]*/cmdline || true; } | tr '\0' '\n'
    tr '\0' '\n' <"/proc/$(pid_of driver-one)/environ"
}
nowhere 'a command line, or the environment of the driver' everybody
let_go

# --- they came to where they belong

heard() {
    ok "heard: $1" grep --quiet --fixed-strings -- "$2" "$HEARD"
}
heard 'a text with one in it, and one alone' \
    "/echo|Bearer ${CANARY[http-token]}|${CANARY[http-key]}||"
heard 'in a body, and in a text with two' \
    "{\"both\":[\"${CANARY[http-body]}:S3CR3T-9 \\\"q\\\\u'o\$t&e"
heard 'as a member' "\"password\":\"${CANARY[http-body]}\"}"
heard 'a text that only looks like a secret is data' '"x":["secret","http-token"]'
heard 'in a form' "password=${CANARY[http-body]}"
heard 'a whole body, with all its bytes' "||||${CANARY[odd]}"
heard 'a parameter of a task type' \
    "/echo|Bearer ${CANARY[http-token]}|${CANARY[http-key]}|${CANARY[http-fixed]}|{"
is 'no redirect is followed with one' "$(grep --count stolen "$HEARD")" 0
is 'ssh: environment and standard input' "$(cat "$HOME_THERE/seen")" \
    "${CANARY[ssh-env]}in: ${CANARY[ssh-stdin]}"

# --- what is shown instead

is 'echo' "$(of echo "split_part(output ->> 'body', ' {', 1)")" 'Bearer *** ***'
is 'a header' "$(of echo "output #>> '{headers,x-echo}'")" '***'
is 'whole body' "$(of 'whole body' "output ->> 'body'")" '  ***'
is 'form' "$(of form "output ->> 'body'")" '  password=***'
is 'json' "$(of json "output -> 'body'")" '{"got": {"authorization": "***"}}'
fails refused http 'answered 403$'
is 'refused: the body' "$(of refused "error #>> '{detail,body}'")" 'not with ***'
is 'long: no half of one at the end' \
    "$(of long "trim(leading '0' from error #>> '{detail,body}')")" '***'
fails away http 'answered 302$'
fails closed http 'http://127.0.0.1:1/: '
fails 'two lines' input '^headers: authorization is not a header of one line'
like 'ssh: variables' "$(of ssh "output ->> 'stdout'")" '(^|.)TOKEN=\*\*\*'
like 'ssh: of several lines' "$(of ssh "output ->> 'stdout'")" 'KEY=\*\*\*'
is 'ssh: standard error' "$(of ssh "output ->> 'stderr'")" '***in: ***'
like 'cut: no half of one at the beginning' \
    "$(of cut "output ->> 'stdout'")" '^\[[0-9]+ bytes cut\].[^*]{0,3}(\*\*\*)+$'
like 'exec' "$(of exec "error #>> '{detail,stdout}'")" '^\*\*\*.*SHOWN=a \*\*\*'
is 'an input has none' "$(of echo "input -> 'headers'")" \
    '{"x-key": null, "authorization": ["Bearer ", ""]}'

# --- what is not there, or may be read by others

fails missing secret \
    "^this driver has no secret nowhere: no file $SECRETS/nowhere, no variable SECRET_nowhere"
fails open secret "$SECRETS/open may be read or changed by others.*0400"
chmod 400 "$SECRETS/open"
(umask 077 && echo 'S3CR3T-came-later' >"$SECRETS/nowhere")
for title in missing open; do
    ok "$title: retry" wf-console retry --yes \
        "$(of "$title" "instance_id || '/' || process_id")"
done
wait_sql 60 "select count(*) = 2 from wf.task_v where instance_id = $id
    and title in ('missing', 'open') and state = 'END'" || true
heard 'read anew' '/echo|S3CR3T-came-later|'
ok 'the failed tasks are passed over' wf-console ignore --failed --yes "$id"
ended "$id" 60 || true

# --- and nowhere else

everything() {
    local command
    for command in "tree $id" "history $id" "show $id" "explain $id" \
        "graph $id" "-o json tree $id" 'graph secrets' 'list'; do
        # shellcheck disable=SC2086
        wf-console $command || true
    done
    wf-console check "$DATA/secret.wf"
}
driver_stop one || true
rm -f "$HOME_THERE/gate"
go two -o log_json=true
let_go
ok 'a second time, with a log in JSON' \
    wf-console ignore --failed --yes "$id"
ended "$id" 60 || true
driver_stop two || true
like 'the log has what was printed' "$(cat "$WORK/driver-two.log")" \
    'Bearer \*\*\* \*\*\*'
nowhere 'the log of the driver' cat "$WORK/driver-one.log"
nowhere 'the log of the driver in JSON' cat "$WORK/driver-two.log"
nowhere 'the database' pg_dump
nowhere 'the log of the server' cat "$WORK/pg/server.log"
nowhere 'the output of the console' everything
# files of the server as they are on disk among them
files() {
    grep --recursive --text --only-matching --exclude-dir="${SECRETS##*/}" \
        --exclude=ways --exclude=heard.log --exclude=seen --exclude=shown \
        'S3CR3T[^ ]*' "$WORK" || [ $? -eq 1 ]
}
nowhere 'any other file' files

# --- the memory of a driver: others of its user do not get at it

spawn_server closed "$BUILD/wf-driver" -d "host=$WORK/nowhere"
wait_until 60 grep --quiet nowhere "$WORK/closed.log"
for name in environ maps mem; do
    exits "$name is closed" 1 as_server cat "/proc/$(pid_of closed)/$name"
    like 'to everybody else' "$OUTPUT" 'Permission denied'
done
sound
done_testing
