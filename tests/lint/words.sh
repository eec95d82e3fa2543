#!/usr/bin/env bash
# words.sh - nothing of one machine, nothing unfinished, no loose whitespace.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT"

# nowhere NAME REGEX [GREP OPTION…]
nowhere() {
    local name=$1 regex=$2
    shift 2
    is "$name" "$(find . \( -path ./.git -o -path ./build \) -prune -o \
        -type f ! -path ./tests/lint/words.sh -print0 |
        xargs -0 grep -nIE "$@" -- "$regex" || true)" ''
}

nowhere 'no paths of a machine' "($ROOT|/root|/home/[a-z]+)/"
nowhere 'nothing announced and not done' '\b(TODO|FIXME|XXX|HACK)\b'
nowhere 'no whitespace at the end of a line' '[[:blank:]]$' \
    --exclude='*.out'
done_testing
