#!/usr/bin/env bash
# ends.t - after a limited number of adversities everything comes to its end.
. "$(dirname "$0")/lib.sh"

for machine in wait sync async; do
    holds "${machine}_ends" 'every task ends' "$machine" \
        '-DLEAVES=1 -DBUDGET=3 -DNO_ABORT'
    holds "${machine}_aborts" 'an aborted instance ends without an operator' \
        "$machine" '-DLEAVES=1 -DBUDGET=3 -DABORT_ONLY'
done

done_testing
