#!/usr/bin/env bash
# tidy.sh - clang-tidy finds nothing (.clang-tidy says what it looks for).
. "$(dirname "$0")/../lib.sh"
cd "$ROOT"

# tidy FILE: what was found stands in $WORK, under the file's name.
tidy() {
    local report
    report=$WORK/$(printf '%s' "$1" | tr / _).tidy
    clang-tidy --quiet -p "$BUILD" "$1" >"$report" 2>&1 ||
        touch "$report.failed"
}
export -f tidy
# shellcheck disable=SC2016 # the inner shell expands it
find common runtime driver console -name '*.c' -print0 |
    xargs -0 -n 1 -P "$(nproc)" bash -c 'tidy "$1"' tidy

while read -r file; do
    report=$WORK/$(printf '%s' "$file" | tr / _).tidy
    if [ -f "$report.failed" ]; then
        fail "$file" "$(cat "$report")"
    else
        pass "$file"
    fi
done < <(find common runtime driver console -name '*.c' | sort)
done_testing
