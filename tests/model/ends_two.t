#!/usr/bin/env bash
# ends_two.t - the same as ends.t with two tasks, side by side or in a row.
. "$(dirname "$0")/lib.sh"

holds wait_two 'every task ends, of two side by side or in a row' wait \
    '-DLEAVES=2 -DBUDGET=3'
holds sync_two 'every task ends, of two side by side or in a row' sync \
    '-DLEAVES=2 -DBUDGET=2'
holds async_two 'every task ends, of two side by side or in a row' async \
    '-DLEAVES=2 -DBUDGET=1'

done_testing
