# shellcheck shell=bash
# tap.sh - say what holds, in TAP. A script ends with `done_testing`.

TAP_COUNT=0
TAP_FAILED=0

# pass NAME, fail NAME [DIAGNOSIS]
pass() {
    TAP_COUNT=$((TAP_COUNT + 1))
    printf 'ok %d - %s\n' "$TAP_COUNT" "$1"
}

fail() {
    TAP_COUNT=$((TAP_COUNT + 1))
    TAP_FAILED=$((TAP_FAILED + 1))
    printf 'not ok %d - %s\n' "$TAP_COUNT" "$1"
    [ $# -lt 2 ] || diag "$2"
}

diag() {
    printf '# %s\n' "${1//$'\n'/$'\n# '}"
}

# ok NAME COMMAND…: it succeeds. Its output is shown if it does not.
ok() {
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then
        pass "$name"
    else
        fail "$name" "$* failed:
$output"
    fi
}

# is NAME ACTUAL EXPECTED. What says nothing because it failed is not equal to
# nothing: at first $? is the status of the last "$(command)" among the arguments.
is() {
    local status=$?
    if [ -z "$2" ] && [ "$status" -ne 0 ]; then
        fail "$1" "what was to say it ended with status $status"
    elif [ "$2" = "$3" ]; then
        pass "$1"
    else
        fail "$1" "     got: $2
expected: $3"
    fi
}

# search COMMAND…: grep, diff, pgrep and the like, which say by a status of 1
# that there is nothing to show. That is no failure.
search() {
    local status=0
    "$@" || status=$?
    [ "$status" -le 1 ]
}

# like NAME TEXT REGEX, unlike NAME TEXT REGEX: extended regular expressions.
# An empty text is never unlike anything: what was to write it has not.
like() {
    if [[ $2 =~ $3 ]]; then
        pass "$1"
    else
        fail "$1" "$2
does not match: $3"
    fi
}

unlike() {
    if [ -z "$2" ]; then
        fail "$1" 'the text is empty'
    elif [[ $2 =~ $3 ]]; then
        fail "$1" "$2
matches: $3"
    else
        pass "$1"
    fi
}

# exits NAME STATUS COMMAND…: with that status. Output, both kinds: $OUTPUT.
exits() {
    local name=$1 expected=$2 status=0
    shift 2
    OUTPUT=$("$@" 2>&1) || status=$?
    if [ "$status" -eq "$expected" ]; then
        pass "$name"
    else
        fail "$name" "$* exited $status, expected $expected:
$OUTPUT"
    fi
}

# skip NAME WHY: this one is not tried on this machine.
skip() {
    TAP_COUNT=$((TAP_COUNT + 1))
    printf 'ok %d - %s # SKIP %s\n' "$TAP_COUNT" "$1" "$2"
}

# Nothing to try on this machine, and why.
skip_all() {
    printf '1..0 # SKIP %s\n' "$1"
    exit 0
}

# A script that has tried nothing fails: its loop found nothing to go over.
done_testing() {
    [ "$TAP_COUNT" -gt 0 ] || fail 'the script tries something'
    printf '1..%d\n' "$TAP_COUNT"
    [ "$TAP_FAILED" -eq 0 ]
}
