#!/usr/bin/env bash
# win.t - a race: the branch that ends first wins and keeps its result, the others are
# torn down, what they did is undone, and nothing comes after the race before that.
. "$(dirname "$0")/lib.sh"
tree_frame

for machine in wait sync async; do
    holds "$machine" 'laws with a race' "$machine" \
        '-DWIN -DPORTION=1'
done
holds losers 'the losers of a race are undone' async \
    '-DLOSERS -DPORTION=1 -DBACKWARDS'
holds ends 'a race in a try ends' async '-DWIN -DPORTION=1 -DBUDGET=2'
holds losers_end 'a race with something to undo ends' async \
    '-DLOSERS -DPORTION=1 -DBUDGET=3'

done_testing
