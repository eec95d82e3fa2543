#!/usr/bin/env bash
# cron.t - ten years of cron expressions in eight time zones: each comes at the
# times that another implementation of cron gives, and zoneinfo's clocks.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

FROM=2009 TO=2019
# two that jump at midnight, one by half an hour, one by a whole day, one for
# Ramadan, and one never
ZONES=(Europe/Berlin America/New_York Australia/Lord_Howe Pacific/Apia
    Africa/Casablanca America/Sao_Paulo America/Havana Asia/Kolkata)
EXPRESSIONS=(
    '30 2 * * *'          # a time of day that a clock may leave out, or show twice
    '*/20 0-3 * * sun'    # what passes, in the nights in which clocks jump
    '0 0 * * *'           # midnight, which some days do not have
    '15 */6 * * 1-5'      # a step of hours
    '0,30 0,1,2,3 25-31 3,10 *' # times of day, around the jumps
    '45 23 1,15 * fri'    # the 1st, the 15th, and each Friday
    '0 12 29 2 *'         # once in four years
    '30 1 1-7 nov,mar *'  # rare, with a clock that has jumped since
    '59 23 31 dec *'
)

workspace_start
for zone in "${ZONES[@]}"; do
    for expression in "${EXPRESSIONS[@]}"; do
        printf '%s\t%s\n' "$zone" "$expression"
    done
done >"$WORK/expressions"

/usr/bin/python3 "$ROOT/tests/e2e/data/cron/reference.py" $FROM $TO \
    <"$WORK/expressions" | sort >"$WORK/expected"

sql "create table expression (zone text, cron text)"
psql --no-psqlrc --quiet --command '\copy expression from pstdin' \
    <"$WORK/expressions"
sql "create function times(p_zone text, p_cron text) returns setof timestamptz language plpgsql as \$\$
     declare
         v_cron constant wf.cron := wf._parse_cron(p_cron);
         v_at timestamptz := '$FROM-01-01Z';
     begin
         loop
             v_at := wf._cron_next(v_cron, p_zone, v_at);
             exit when v_at > '$TO-01-01Z' or v_at is null;
             return next v_at;
         end loop;
     end;
     \$\$"
psql --no-psqlrc --quiet --command "\copy (select e.zone, e.cron, extract(epoch from t.at)::bigint from expression e cross join lateral times(e.zone, e.cron) t (at)) to pstdout" |
    sort >"$WORK/actual"

ok 'the other implementation gives tens of thousands of times' \
    test "$(wc -l <"$WORK/expected")" -gt 50000
is 'each expression has some in each zone' \
    "$(cut -f 1,2 "$WORK/expected" | uniq | wc -l)" \
    "$((${#ZONES[@]} * ${#EXPRESSIONS[@]}))"
is 'ours come at the same times' \
    "$(diff "$WORK/expected" "$WORK/actual" | sed -n '1,20p')" ''

done_testing
