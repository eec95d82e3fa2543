# shellcheck shell=bash
# lib.sh - what both forms of fuzzing need: targets, seeds, a dictionary.

FUZZ=$ROOT/tests/fuzz
FUZZ_BUILD=$BUILD/clang

fuzz_targets() {
    local file
    for file in "$FUZZ"/fuzz_*.c; do
        file=${file##*/fuzz_}
        printf '%s\n' "${file%.c}"
    done
}

# fuzz_seeds TARGET DIR: what to begin with. Files that are here anyway, and
# those of tests/fuzz/corpus, among them all that was ever found.
fuzz_seeds() {
    local dir
    mkdir -p "$2"
    case $1 in
    language | formatter)
        for dir in tests/lang/{good,bad,fmt,lib} workspace-sql/stdlib; do
            mkdir "$2/${dir##*/}"
            cp "$ROOT/$dir"/*.wf "$2/${dir##*/}"
        done
        fuzz_examples "$2"
        ;;
    json | print) cp "$ROOT"/tests/lang/good/*.json "$2" ;;&
    print) cp "$ROOT"/tests/lang/print/*.json "$2" ;;
    config) cp "$ROOT"/config/driver.conf.example "$2" ;;
    esac
    [ ! -d "$FUZZ/corpus/$1" ] || cp "$FUZZ/corpus/$1"/* "$2"
}

# fuzz_examples DIR: the examples of the documents.
fuzz_examples() {
    perl -ne 'BEGIN { $dir = shift }
        if (/^```wf$/ .. /^```$/) {
            if (/^```wf$/) {
                open F, ">", sprintf "%s/example-%02d.wf", $dir, ++$n or die;
            }
            elsif (/^```$/) { close F }
            else { print F $_ }
        }' "$1" "$ROOT/docs/language.md" "$ROOT/docs/tutorial.md"
}

# fuzz_dictionary FILE: the words of the language, from its own table.
fuzz_dictionary() {
    grep -oE 'X\([A-Z]+, "[^"]+"\)' "$ROOT/console/lang/token.h" |
        sed -E 's/.*("[^"]+").*/\1/' >"$1"
    # shellcheck disable=SC2016 # these are words of the language, too
    printf '"%s"\n' '${' '\"\"\"' "'''" '/**' '*/' '//' '\\u' 1h30m >>"$1"
}

# fuzz_one TARGET CORPUS LOG [OPTION…]: false if it crashed; what crashed it
# is in $FUZZ_BUILD/crashes then. New seeds go to CORPUS.
fuzz_one() {
    local target=$1 corpus=$2 log=$3 dictionary=$WORK/$1.dict
    shift 3
    mkdir -p "$corpus" "$FUZZ_BUILD/crashes"
    fuzz_seeds "$target" "$WORK/seeds/$target"
    case $target in
    language | formatter)
        fuzz_dictionary "$dictionary"
        set -- -dict="$dictionary" "$@"
        ;;
    esac
    UBSAN_OPTIONS=print_stacktrace=1 \
        "$FUZZ_BUILD/target/$target" -print_final_stats=1 -timeout=20 \
        -rss_limit_mb=1024 -artifact_prefix="$FUZZ_BUILD/crashes/$target-" \
        "$@" "$corpus" "$WORK/seeds/$target" </dev/null >"$log" 2>&1
}

# fuzz_replay LOG: how to have a crash again, in a line.
fuzz_replay() {
    sed -n "s|.*Test unit written to \(.*/crashes/\([a-z_]*\)-.*\)|${FUZZ_BUILD#"$ROOT"/}/target/\2 \1|p" \
        "$1" | sed "s|$ROOT/||"
}

# Finding leaks takes ptrace, which not every container allows.
fuzz_leaks() {
    local log=$WORK/leaks.out
    "$FUZZ_BUILD/target/duration" -runs=1 </dev/null >"$log" 2>&1 && return
    if grep -q 'LeakSanitizer has encountered a fatal error' "$log"; then
        export ASAN_OPTIONS=detect_leaks=0
        printf '# leaks cannot be looked for here\n'
    fi
}
