#!/usr/bin/env bash
# catch.t - with a try around the tasks: an error is caught, what else runs in its
# body is torn down, and everything comes to its end.
. "$(dirname "$0")/lib.sh"

for machine in wait sync; do
    holds "$machine" 'laws with a catch' "$machine" \
        '-DLEAVES=1 -DCATCH'
done
# millions of states
COMPILED=-O2 holds async 'laws with a catch' async \
    '-DLEAVES=1 -DCATCH'
holds sync_two 'every task ends, of two in a try' sync \
    '-DLEAVES=2 -DBUDGET=2 -DCATCH'
holds async_two 'every task ends, of two in a try' async \
    '-DLEAVES=2 -DBUDGET=1 -DCATCH'

done_testing
