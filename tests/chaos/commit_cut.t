#!/usr/bin/env bash
# commit_cut.t - connections of three drivers are cut around what they send,
# turns as well as SQL tasks, before and after the commit: a SQL task has
# happened with its outcome or not at all.
. "$(dirname "$0")/lib.sh"

campaign commit_cut 25 2000 "$@"
world
proxy_start proxy 1
CUTS=$PROXY/cuts
DRIVER_OPTIONS+=(-o slots=8 -o "connection=host=$PROXY"
    -o "sql_connection=host=$PROXY user=etl" -o sql_connections=2)
drivers_begin

# Every cut around a commit was made.
is_cut() {
    [ "$(grep -c ^commit "$CUTS")" -ge "$FAULTS" ]
}

# known_already: how many reports were made again, after a cut.
known_already() {
    cat "$WORK"/driver-*.log | grep -c 'is answered: already' || true
}

deadline=$((SECONDS + 180 + FAULTS * 2))
until { is_cut && [ "$(known_already)" -gt 0 ]; } ||
    [ "$SECONDS" -ge "$deadline" ]; do
    load write 40 base "$BASE" n 30
    retry_lost
    sleep 0.1
done
kill -s USR1 "$(pid_of proxy)"
all_end 120

figure faults "$(grep -c ^commit "$CUTS")"
sort "$CUTS" | uniq -c | while read -r count batch place; do
    figure "$batch $place" "$count"
done
ledgers_figures
already=$(known_already)
figure already "$already"
invariants_hold I1 I2 I3 I4 I5 I6 I7 I9
not_blind
drivers_hold
is 'cuts were made in each place' \
    "$(grep -v ^statement "$CUTS" | sort -u | cut -d ' ' -f 1 | uniq -c | xargs)" \
    '5 commit 5 turn'
happened "$(grep -c ^commit "$CUTS" || true)" 'connections were cut around the commit of a SQL task' "$FAULTS"
happened "$already" 'reports were made again, and known already'
campaign_end
