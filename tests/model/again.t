#!/usr/bin/env bash
# again.t - with a policy retry around the tasks: an error has what runs torn down,
# and another round begins; everything comes to its end.
. "$(dirname "$0")/lib.sh"

for machine in wait sync; do
    holds "$machine" 'laws with a retry around it' "$machine" \
        '-DLEAVES=1 -DAGAIN'
done
# millions of states
COMPILED=-O2 holds async 'laws with a retry around it' async \
    '-DLEAVES=1 -DAGAIN'
holds sync_two 'every task ends, of two in a retry' sync \
    '-DLEAVES=2 -DBUDGET=2 -DAGAIN'

done_testing
