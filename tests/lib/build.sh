# shellcheck shell=bash
# build.sh - the programs, their tests and the fuzz targets, in $BUILD.

# build DIR [OPTION…]: as these options of CMake have it; quiet unless it fails.
build() {
    local dir=$1 log=$WORK/build.log
    shift
    if ! { cmake -S "$ROOT" -B "$dir" -DWERROR=ON "$@" &&
        cmake --build "$dir" --parallel "$(nproc)"; } >"$log" 2>&1; then
        cat "$log"
        return 1
    fi
}

# clang_build [OPTION…]: by the other compiler, with its sanitizers and what
# fuzzing needs: that once for all is quicker than each by itself.
clang_build() {
    CC=clang build "$BUILD/clang" -DFUZZ=ON "$@"
}
