#!/usr/bin/env bash
# shown.t [--accept] - what the pages show in blocks ```console is what the programs print.
# With --accept a page gets what they print now: read the difference before you commit it.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
trap shown_end EXIT
ACCEPT=${1:-}

shown_end() {
    local status=$?
    set +e
    cat "$WORK"/*/service.pids 2>/dev/null | xargs --no-run-if-empty kill
    wf-console local stop >/dev/null 2>&1
    (exit "$status")
    work_end
}

# files PAGE: its blocks that are files, each to a file here: those with a workflow to NAME.wf,
# those that begin with "# NAME.py" to NAME.py.
files() {
    awk '
        /^```/ && inside { if (file) printf "%s", text >file; inside = 0; next }
        /^```/           { inside = 1; text = file = ""; next }
        inside           { text = text $0 "\n" }
        inside && /^workflow / { file = $2; sub(/\(.*/, "", file); file = file ".wf" }
        inside && /^# [a-z]+\.py / { file = $2 }' "$1"
}

# nobody_at PORT…: all of them are free.
nobody_at() {
    local port
    for port; do
        ! bash -c "exec 3<>/dev/tcp/127.0.0.1/$port" 2>/dev/null || return 1
    done
}

# shown PAGE: its commands, in a workspace of one's own, as a reader has it.
shown() {
    local page=$ROOT/docs/$1.md user kind text='' count=0
    [ "$1" != README ] || page=$ROOT/README.md
    mkdir "$WORK/$1"
    cd "$WORK/$1"
    export PGWF_HOME=$WORK/$1/local
    # as many digits as the one of the pages, since texts are wrapped
    for ((PORT = 8100 + RANDOM % 800; ; PORT++)); do
        ! nobody_at "$PORT" $((PORT + 1)) $((PORT + 2)) || break
    done
    files "$page"
    find . -name '*.wf' -exec sed -i "s/\b8000\b/$PORT/g" {} +
    user="$(id -un)=ann $(hostname)=myhost"
    export PORT SHOWN_WORDS="$PORT=8000 $((PORT + 1))=8001 $((PORT + 2))=2222 $WORK/$1=/srv/ann $user"
    # what stands before the page begins
    [ ! -f "$ROOT/tests/e2e/data/shown/$1.sh" ] || ok "$1: it is set up" bash "$ROOT/tests/e2e/data/shown/$1.sh"
    while IFS=$'\t' read -r kind text; do
        case $kind in
        ok) pass "$1: $text" ;;
        bad) fail "$1: $text" 'it prints something else (tests/e2e/shown.t --accept puts it into the page):' ;;
        *) diag "$text" ;;
        esac
        [ -z "$kind" ] || count=$((count + 1))
    done < <("$ROOT/tests/e2e/data/shown/shown.pl" "$page" "$WORK/$1.md" | sed 's/^\t/-\t/')
    ok "$1: it shows commands ($count)" test "$count" -gt 0
    [ "$ACCEPT" != --accept ] || cp "$WORK/$1.md" "$page"
    wf-console local stop >/dev/null 2>&1 || true
    cd "$ROOT"
}

postgres_forget
export PATH=$PATH:$ROOT/config COLUMNS=100 NO_COLOR=1 TERM=dumb
for page in ${PAGES:-README tutorial operating}; do
    shown "$page"
done
done_testing
