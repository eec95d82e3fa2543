#!/usr/bin/env bash
# cppcheck.sh - cppcheck finds nothing.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT"

ok 'cppcheck' cppcheck --quiet --error-exitcode=1 --std=c11 \
    --enable=warning,performance,portability --inline-suppr \
    --suppress=missingIncludeSystem \
    --project="$BUILD/compile_commands.json" -i "$ROOT/tests" \
    -j "$(nproc)"
done_testing
