#!/usr/bin/env bash
# clang.sh - clang compiles everything without a warning, too.
. "$(dirname "$0")/../lib.sh"

ok 'configure' env CC=clang cmake -S "$ROOT" -B "$BUILD/clang" -DWERROR=ON \
    -DTESTS=ON
ok 'build' cmake --build "$BUILD/clang" --parallel "$(nproc)"
done_testing
