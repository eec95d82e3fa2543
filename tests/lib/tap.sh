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

# is NAME ACTUAL EXPECTED
is() {
    if [ "$2" = "$3" ]; then
        pass "$1"
    else
        fail "$1" "     got: $2
expected: $3"
    fi
}

# like NAME TEXT REGEX, unlike NAME TEXT REGEX: extended regular expressions
like() {
    if [[ $2 =~ $3 ]]; then
        pass "$1"
    else
        fail "$1" "$2
does not match: $3"
    fi
}

unlike() {
    if [[ $2 =~ $3 ]]; then
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

# Nothing to try on this machine, and why.
skip_all() {
    printf '1..0 # SKIP %s\n' "$1"
    exit 0
}

done_testing() {
    printf '1..%d\n' "$TAP_COUNT"
    [ "$TAP_FAILED" -eq 0 ]
}
