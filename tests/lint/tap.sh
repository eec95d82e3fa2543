#!/usr/bin/env bash
# tap.sh - what says whether a test holds cannot be deceived: by a command that
# fails and prints nothing, by a script or a suite that tries nothing, by a skip.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT"

# script LINE…: a test of these lines. What it says: $WORK/out.
script() {
    printf '%s\n' ". '$ROOT/tests/lib.sh'" "$@" done_testing >"$WORK/script.t"
    bash "$WORK/script.t" >"$WORK/out" 2>&1
}

green() {
    ok "green: $1" script "$@"
}

red() {
    ok "red: $1" refuses "$@"
}

refuses() {
    ! script "$@" && grep -q '^not ok 1 - ' "$WORK/out"
}

# shellcheck disable=SC2016 # what the scripts expand
{
    green 'is same "$(printf x)" x'
    green 'is nothing "$(true)" ""'
    green 'is nothing "$(search grep x /dev/null)" ""'
    green 'is nothing "$(search diff /dev/null /dev/null)" ""'
    green 'unlike other abc x'
    red 'is other a b'
    red 'is silent "$(exit 3)" ""'
    red 'is silent "$(sql "select 1" --host=/nowhere 2>/dev/null)" ""'
    red 'is pipe "$(exit 3 | sort)" ""'
    red 'is missing "$(search grep x /nowhere 2>/dev/null)" ""'
    red 'is different "$(search diff /dev/null /dev/stdin <<<x)" ""'
    red 'unlike silent "" x'
    red 'ok fails false'
    red 'exits otherwise 1 true'
    red 'while read -r file; do pass "$file"; done </dev/null'
}

# harness LINE…: what it makes of a suite of one file, which has these lines.
harness() {
    rm -f "$WORK"/results*
    mkdir -p "$WORK/tree/tests/law"
    cp tests/harness "$WORK/tree/tests/harness"
    printf '%s\n' "$@" >"$WORK/tree/tests/law/run"
    SUITES=law perl "$WORK/tree/tests/harness" law "$WORK/results" >"$WORK/out" 2>&1
}

exits 'the harness: a file that says ok' 0 harness 'echo "ok 1 - a"; echo 1..1'
is 'it is counted' "$(cat "$WORK/results")" '1 0'
exits 'the harness: a file that breaks its plan' 1 harness 'echo "ok 1 - a"; echo 1..2'
exits 'the harness: a file that ends with a status' 1 harness 'echo "ok 1 - a"; echo 1..1; exit 3'
exits 'the harness: a script that a command ended' 1 harness ". '$ROOT/tests/lib.sh'" 'pass a' 'false'
is 'the summary says where it ended' "$(tail -n 1 "$WORK/results.failed")" \
    'tests/law/run: # ended with status 1 in main: false'
exits 'the harness: a file that says nothing' 1 harness ''
exits 'the harness: a check that is skipped' 0 harness 'echo "ok 1 - a # SKIP no net"; echo 1..1'
is 'it has not passed' "$(cat "$WORK/results")" '0 0'
is 'it is named, with the reason' "$(cat "$WORK/results.skipped")" $'tests/law/run\ta: no net'
exits 'the harness: a file that is skipped' 0 harness 'echo "1..0 # SKIP no net"'
is 'it is named, too' "$(cat "$WORK/results.skipped")" $'tests/law/run\tno net'
mkdir "$WORK/tree/tests/lang"
printf 'exit 1\n' >"$WORK/tree/tests/lang/run"
exits 'the harness: a file that sanitize runs, too, where both run' 0 \
    env SUITES='lang sanitize' perl "$WORK/tree/tests/harness" lang "$WORK/left"
is 'it is left to sanitize' "$OUTPUT" '1 files are left to the suite sanitize'
exits 'the harness: the same file where sanitize does not run' 1 \
    env SUITES=lang perl "$WORK/tree/tests/harness" lang "$WORK/left"
rm -r "$WORK/tree/tests/law" "$WORK/tree/tests/lang"
exits 'the harness: a suite without files' 1 env SUITES=law perl "$WORK/tree/tests/harness" law "$WORK/none"
is 'it has failed' "$(cat "$WORK/none")" '0 1'

# What hides that a command failed from `is NAME "$(command)" ''`: search says it.
# shellcheck disable=SC2016 # perl's variables, not ours
is 'no test takes a failure for an empty answer' "$(
    find tests -type f \( -name '*.t' -o -name '*.sh' -o -name run -o -name short \) -print0 |
        xargs -0 perl -0777 -ne 'while (/\|\| true\)"[\s\\]+('"''"'|"\$)/g) {
            print $ARGV, ":", 1 + (substr($_, 0, $-[0]) =~ tr/\n//), "\n" }'
)" ''
done_testing
