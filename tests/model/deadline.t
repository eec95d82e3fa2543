#!/usr/bin/env bash
# deadline.t - blocks with a deadline, one in the other: it is over at any time, also as
# the block ends, while it is torn down, or before its next round.
. "$(dirname "$0")/lib.sh"
tree_frame

for machine in wait sync async; do
    holds "$machine" 'laws with deadlines' "$machine" \
        '-DDEADLINE -DPORTION=1'
done
holds backwards 'laws with deadlines, inner ones looked at first' sync \
    '-DDEADLINE -DBACKWARDS'
holds uncaught 'a block that has failed waits for an operator' sync \
    '-DDEADLINE -DUNCAUGHT -DPORTION=1 -DBACKWARDS'
holds ends 'a block with a deadline ends' async \
    '-DDEADLINE -DUNCAUGHT -DPORTION=1 -DBUDGET=3'

done_testing
