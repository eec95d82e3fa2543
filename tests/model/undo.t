#!/usr/bin/env bash
# undo.t - what has ended well and is given up is undone, last first and once; a block
# that was noted stands for all in it; an abort, or another one, may come meanwhile.
. "$(dirname "$0")/lib.sh"
tree_frame

for machine in wait sync async; do
    holds "$machine" 'laws with an undo' "$machine" \
        '-DUNDO -DPORTION=1'
done
holds backwards 'laws with an undo, a later task first' sync \
    '-DUNDO -DPORTION=1 -DBACKWARDS'
holds uncaught 'an error that nothing takes, and a halt' sync \
    '-DUNDO -DUNCAUGHT -DHALT -DPORTION=1'
holds ends 'an undo ends' async '-DUNDO -DPORTION=1 -DBUDGET=3'

done_testing
