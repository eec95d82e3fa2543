#!/usr/bin/env bash
# format.sh - every C file is laid out as .clang-format says (./dev fmt).
. "$(dirname "$0")/../lib.sh"
cd "$ROOT"

while read -r file; do
    ok "$file" clang-format --dry-run -Werror "$file"
done < <(find common runtime driver console tests -name '*.[ch]' | sort)
done_testing
