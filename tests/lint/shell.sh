#!/usr/bin/env bash
# shell.sh - every script can be run as it is, and shellcheck has nothing to
# say about those of the shell.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT"

files() {
    find . \( -path ./.git -o -path ./build \) -prune -o -type f "$@" -print0
}

found=$(files ! -executable |
    xargs -0 awk 'FNR == 1 && /^#!/ { print FILENAME } { nextfile }')
is 'each file that names its interpreter is executable' "$found" ''

while read -r file; do
    ok "$file" shellcheck --external-sources "$file"
done < <(files |
    xargs -0 grep -lIE '^#!.*\b(ba)?sh\b|^# shellcheck shell=' | sort)
done_testing
