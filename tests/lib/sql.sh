# shellcheck shell=bash
# sql.sh - what a test asks the server. Most of it goes through one session for the
# whole script (session.c): a psql for each question would take far longer to begin
# than the question takes.

SESSION='' # its directory

# session_begin: unless there is one. It connects when it is asked.
session_begin() {
    [ -z "$SESSION" ] && [ -x "$BUILD/session" ] && [ "$BASH_SUBSHELL" -eq 0 ] || return 0
    local dir=$WORK/session
    mkdir "$dir"
    mkfifo "$dir/ask" "$dir/done" "$dir/turn"
    exec {SESSION_ASK}<>"$dir/ask" {SESSION_DONE}<>"$dir/done" {SESSION_TURN}<>"$dir/turn"
    spawn session "$BUILD/session" "$dir"
    disown # a script may wait for all that it has begun
    printf x >&"$SESSION_TURN"
    SESSION=$dir
}

# session_ask QUERY [PSQL OPTION…]: if the session can be asked that now, it is:
# STATUS, ROWS and MESSAGES are what psql would end with and print.
#
# A process of the background may be asking it already: a byte in the pipe `turn` says
# that nobody is. If whoever took the byte was killed, the session has ended for all of
# us, and psql is asked.
#
# If the machine stalls, a read with a time limit may take what came, and fail all the
# same. So `done` only wakes: what counts is the file.
session_ask() {
    local name turn=''
    [ -n "$SESSION" ] && [ $# -eq 1 ] || return
    case ${1,,} in
    *copy* | \\*) return 1 ;; # what psql alone can do
    esac
    for name in "${!PG@}"; do
        case $name in
        PGHOST | PGPORT | PGUSER | PGDATABASE | PGOPTIONS | PG_HOME | PGWF_* | PGBOUNCER_*) ;;
        *) return 1 ;;
        esac
    done
    read -rN 1 -t 0.01 -u "$SESSION_TURN" turn || [ -n "$turn" ] || return
    : >"$SESSION/status"
    printf '%s\0' "${PGHOST:-}" "${PGPORT:-}" "${PGUSER:-}" "${PGDATABASE:-}" \
        "${PGOPTIONS:-}" "$1" >&"$SESSION_ASK"
    until read -r STATUS <"$SESSION/status"; do
        read -rN 1 -t 1 -u "$SESSION_DONE" ||
            kill -s 0 "$(pid_of session)" 2>/dev/null || return
    done
    IFS= read -rd '' ROWS <"$SESSION/rows" || true
    IFS= read -rd '' MESSAGES <"$SESSION/messages" || true
    printf x >&"$SESSION_TURN"
}

# sql QUERY [PSQL OPTION…]: its rows as plain text.
sql() {
    local STATUS ROWS MESSAGES
    if session_ask "$@"; then
        printf '%s' "$MESSAGES" >&2
        printf '%s' "$ROWS"
        return "$STATUS"
    fi
    local query=$1
    shift
    psql --no-psqlrc --tuples-only --no-align --quiet \
        --set=ON_ERROR_STOP=1 "$@" --command="$query"
}

# database_clone TEMPLATE NAME: nobody may be connected to a template, nor is the session.
database_clone() {
    PGDATABASE=postgres sql "create database \"$2\" template \"$1\""
}

sql_is_true() {
    local STATUS ROWS MESSAGES
    if session_ask "$1"; then
        [ "$ROWS" = t$'\n' ]
    else
        [ "$(sql "$1")" = t ]
    fi
}
