# shellcheck shell=bash
# build.sh - the programs, their tests and the fuzz targets, in $BUILD.

# build DIR [OPTION…] [-- TARGET…]: as these options of CMake have it, all targets
# unless told which; quiet unless it fails.
build() {
    local dir=$1 log=$WORK/build.log options=() targets=()
    shift
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    [ $# -eq 0 ] || targets=(--target "${@:2}")
    if ! { cmake -S "$ROOT" -B "$dir" -DWERROR=ON "${options[@]}" &&
        cmake --build "$dir" --parallel "$(nproc)" "${targets[@]}"; } >"$log" 2>&1; then
        cat "$log"
        return 1
    fi
}

# clang_build [OPTION…]: by the other compiler, with its sanitizers and what
# fuzzing needs: that once for all is quicker than each by itself.
clang_build() {
    CC=clang build "$BUILD/clang" -DFUZZ=ON "$@"
}

# threads_build: the driver and the unit tests that have threads, by the same
# compiler with its sanitizer for them.
THREADED=(test_driver_{lookup,session,exchange})
threads_build() {
    CC=clang build "$BUILD/threads" -DTHREADS=ON -DTESTS=ON -- wf-driver "${THREADED[@]}"
}
