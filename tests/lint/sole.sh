#!/usr/bin/env bash
# sole.sh - what one function alone does, and no other.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT"

# sole NAME STATEMENT FUNCTION: that function has the only such statement.
# shellcheck disable=SC2016 # awk's variables, not ours
sole() {
    is "$1" "$(find workspace-sql/code -name '*.sql' | sort | xargs awk '
        { line = tolower($0) }
        line ~ /^create or replace function / {
            name = $5
            sub(/\(.*/, "", name)
        }
        line !~ /^[[:space:]]*--/ && line ~ statement { print name }
    ' statement="$2[[:space:](]" | uniq)" "$3"
}

sole 'one function puts requests among the ready ones' \
    'insert into wf\\.ready' wf._offer
done_testing
