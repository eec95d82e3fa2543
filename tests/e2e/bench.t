#!/usr/bin/env bash
# bench.t - the bench runs: on very little work each row has all its figures.
# How good they are is not judged: other tests run beside it.
. "$(dirname "$0")/../lib.sh"

exits 'the bench runs' 0 timeout 1500 env WORK_PARENT="$WORK" NPM=none \
    bash "$ROOT/tests/bench/run" --runs 1 --scale 0.001 \
    --json "$WORK/figures.json"
like 'without npm nothing is beside us, which is no failure' "$OUTPUT" \
    'row 15: not possible here: '

# figures: "row figure" of those that are in the file, whatever they are.
figures() {
    perl -MJSON::PP -e 'local $/; print map { "$_->{row} $_->{figure}\n" }
        grep { $_->{value} =~ /^[0-9.e+-]+$/ } @{decode_json(<>)}' \
        "$WORK/figures.json" | sort -u
}

missing='^15 |^8 drivers_(2|4|16|64)(_cpu)?$' # with so little work
command -v wrk >/dev/null || missing="$missing|^3 ceiling\$"
command -v valgrind >/dev/null || missing="$missing|^10 .*_instructions\$"
is 'each row has its figures' "$(figures)" "$(
    awk -F ' *[|] *' '!/^#/ { sub(/^ */, "", $1); print $1, $2 }' \
        "$ROOT/tests/bench/bars" |
        grep -vE "$missing" | sort -u
)"

cp "$ROOT/docs/performance.md" "$WORK/page.md"
ok 'the figures become a table in the page' perl "$ROOT/tests/bench/publish" \
    "$WORK/figures.json" "$WORK/page.md" 'On very little work.'
like 'the table' "$(cat "$WORK/page.md")" '[|] 14 [|] install of them [|] [0-9]'
perl "$ROOT/tests/bench/chart" "$WORK/figures.json" >"$WORK/chart.svg"
like 'the figures become a chart' "$(cat "$WORK/chart.svg")" \
    '^<svg .*class="(holds|missed)".*</svg>$'
done_testing
