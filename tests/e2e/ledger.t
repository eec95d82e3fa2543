#!/usr/bin/env bash
# ledger.t - a task, a step, a poll that finds nothing and an idle driver take no more
# statements and WAL than tests/bench/ledger says. (Rates and times are for ./dev bench:
# other tests run beside this one.)
. "$(dirname "$0")/../lib.sh"
FIGURES=$WORK/figures.json

exits 'rows 10 and 11 of the bench are counted' 0 timeout 600 env WORK_PARENT="$WORK" VALGRIND=none \
    bash "$ROOT/tests/bench/run" --runs 1 --scale 0.2 --json "$FIGURES" 10 11

# value ROW FIGURE: what was counted.
value() {
    perl -MJSON::PP -e 'my ($row, $figure) = splice @ARGV, 0, 2;
        local $/;
        print map { $_->{value} } grep { $_->{row} eq $row && $_->{figure} eq $figure } @{decode_json(<>)}' \
        "$1" "$2" "$FIGURES"
}

while IFS='| ' read -r row figure measured most; do
    counted=$(value "$row" "$figure")
    ok "row $row, $figure is at most $most (it was $measured, now it is ${counted:-unknown})" \
        awk -v counted="$counted" -v most="$most" 'BEGIN { exit !(counted != "" && counted + 0 <= most) }'
done < <(grep '^ *[0-9]' "$ROOT/tests/bench/ledger")
done_testing
