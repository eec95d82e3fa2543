#!/usr/bin/env bash
# format.sh - every C file is laid out as .clang-format says (./dev fmt).
. "$(dirname "$0")/../lib.sh"
cd "$ROOT"

mapfile -t files < <(find common runtime driver console tests -name '*.[ch]' | sort)
ok 'clang-format finds nothing' clang-format --dry-run -Werror "${files[@]}"
done_testing
