#!/usr/bin/env bash
# compiled.t - wf.install accepts every tree that the compiler writes, and a
# tree that is installed twice is unchanged the second time.
. "$(dirname "$0")/../lib.sh"

workspace_start
for file in "$ROOT"/tests/lang/good/*.json; do
    name=$(basename "$file")
    for answer in installed unchanged; do
        is "$name is $answer" \
            "$(psql --no-psqlrc --quiet --tuples-only --no-align --set=spec="$(cat "$file")" \
                <<<"select distinct answer from wf.install('', :'spec')" 2>&1)" "$answer"
    done
done
done_testing
