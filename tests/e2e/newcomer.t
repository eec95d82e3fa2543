#!/usr/bin/env bash
# newcomer.t - what a new user gets wrong: one clear line and a hint each, and
# the exit code that the help documents.
. "$(dirname "$0")/../lib.sh"
unset PGWF_HOME
mkdir "$WORK/here"
cd "$WORK/here"
# This machine may have a local workspace; this user has not.
export HOME=$WORK/here PGWF_HOME=$WORK/here/none

# refused STATUS LINE HINT COMMAND…: its exit status; a line of what it says
# and a hint match. The source and the caret below an error are no lines.
refused() {
    local status=$1 line=$2 hint=$3
    shift 3
    exits "$* exits $status" "$status" "$@"
    like 'the message says what is wrong' "$OUTPUT" "$line"
    is 'in one line, with one hint' "$(sed -nE \
        -e 's/^(wf-driver: )?hint: .*/hint/p; t' \
        -e 's/^wf-(console|driver): .*|.*: error: .*/line/p' <<<"$OUTPUT")" \
        $'line\nhint'
    like 'the hint says what to do' "$OUTPUT" "hint: .*$hint"
}

cat >hello.wf <<'END'
workflow hello(who: string, n: int = 2) {
  lb.Log(msg = "${who} ${n}")
}
END
# wrong NAME WORD REPLACEMENT: hello.wf with a mistake.
wrong() {
    sed "s/$2/$3/" hello.wf >"$1.wf"
}
wrong task lb.Log lb.Lgo
wrong name '{who}' '{whom}'
wrong type '"\$.*"' '[1]'
wrong comma 'string,' 'string'
: >empty.wf

# --- the file

refused 1 'none.wf: error: can not be read' 'path' wf-console check none.wf
refused 1 'here: error: is not a file' 'path' wf-console check "$WORK/here"
refused 1 'task.wf:2:3: error: .*lb.Lgo' 'lb.Log' wf-console check task.wf
refused 1 'name.wf:2:19: error: .*whom' 'who' wf-console check name.wf
refused 1 'type.wf:2:16: error: .*string' '.' wf-console check type.wf
refused 1 'empty.wf:1:1: error: there is no workflow' 'workflow NAME' \
    wf-console check empty.wf
exits 'a comma is missing' 1 wf-console check comma.wf
like 'the error says where it is, and what was expected' "$OUTPUT" \
    'comma.wf:1:28: error: expected .*, found .n'
like 'the error points to its place' "$OUTPUT" '
  workflow hello\(who: string n: int = 2\) \{
                             \^'
exits 'a file with an error cannot be installed' 1 wf-console install comma.wf
like 'install says that nothing was installed' "$OUTPUT" 'wf-console: comma.wf has 1 error
hint: Nothing was installed.'

# --- the database

export PGHOST=$WORK/nowhere PGDATABASE=wf
refused 1 'connection to server .* failed' 'wf-console local start' \
    wf-console install hello.wf
refused 1 'connection to server .* failed' '.' wf-driver -n
pg_start
refused 1 'database "nosuch" does not exist' 'createdb' \
    wf-console -d nosuch list
refused 1 'database "nosuch" does not exist' '-d' wf-driver -n -d dbname=nosuch
refused 1 'role "nosuch" does not exist' '-U' wf-console -U nosuch list
refused 1 'no workspace in database "postgres"' 'workspace install' \
    wf-console install hello.wf
refused 1 'schema "wf" does not exist' 'install.sql' wf-driver -n
workspace_install

# --- workflow and parameters

wf-console install hello.wf >/dev/null
refused 1 'no workflow helo' 'Did you mean hello' wf-console start helo
refused 1 'no workflow helo' 'Did you mean hello' wf-console run hello.wf helo
refused 1 'no workflow other' 'wf-console workflows' wf-console start other
refused 1 'parameter who is missing' 'string' wf-console start hello
refused 1 'no parameter whom' 'who, n' wf-console start hello -p whom=Ada
refused 1 'parameter n: .*"many"' 'int' \
    wf-console start hello -p who=Ada -p n=many
refused 1 'parameter n: .*1.5' 'int' \
    wf-console start hello --params '{"who": "Ada", "n": 1.5}'
refused 1 'parameter n: .*"z"' 'int' \
    wf-console run hello.wf -p who=Ada -p n=z
refused 2 '"who"' 'day=2026-11-21' wf-console start hello -p who
refused 2 'params' 'JSON object' wf-console start hello --params '{"who":'
is 'none of these has started anything' \
    "$(sql 'select count(*) from wf.instance_v')" 0

# --- rights

sql 'create role stranger login; create role looker login in role wf_viewer'
for command in list 'tree 1' 'show 1' 'explain 1' groups drivers fsck; do
    # shellcheck disable=SC2086
    refused 1 'permission denied for schema wf' 'grant wf_viewer to stranger' \
        wf-console -U stranger $command
done
ok 'a viewer may look' wf-console -U looker list
refused 1 'permission denied .* preview' 'grant wf_operator to looker' \
    wf-console -U looker retry 1
refused 1 'permission denied .* start' 'grant wf_app to looker' \
    wf-console -U looker start hello -p who=Ada
refused 1 'permission denied .* install' 'grant wf_author to looker' \
    wf-console -U looker install hello.wf
refused 1 'permission denied for schema wf' 'wf_driver' \
    wf-driver -n -d user=stranger

# --- commands

refused 2 'no command' 'wf-console help' wf-console
refused 2 'unknown command "strat"' '.' wf-console strat hello
refused 2 'unknown option --wiat' '.' wf-console start hello --wiat
refused 2 'INSTANCE' '17' wf-console tree hello
refused 2 'no target is given' '--failed' wf-console retry
refused 1 'no instance 99' 'wf-console list' wf-console tree 99
refused 1 'there is no instance 99' 'wf-console list' wf-console show 99
refused 1 'nothing matches' 'wf-console list' wf-console retry 99
refused 78 'unknown option nosuch' 'print-config' wf-driver -n -o nosuch=1
done_testing
