#!/usr/bin/env bash
# clang.sh - clang compiles everything without a warning, too.
. "$(dirname "$0")/../lib.sh"

ok 'clang has nothing to say' clang_build -DTESTS=ON
done_testing
