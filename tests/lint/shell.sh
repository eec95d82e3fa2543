#!/usr/bin/env bash
# shell.sh - shellcheck has nothing to say about any script.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT"

while read -r file; do
    ok "$file" shellcheck --external-sources "$file"
done < <(find . \( -path ./.git -o -path ./build \) -prune -o -type f -print0 |
    xargs -0 grep -lIE '^#!.*\b(ba)?sh\b|^# shellcheck shell=' | sort)
done_testing
