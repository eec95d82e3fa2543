#!/usr/bin/env bash
# faults_tree.t - as faults.t, of races, deadlines, finally and undo: spin must find an
# error each time.
. "$(dirname "$0")/lib.sh"
tree_frame

finds losers 'the winner of a race stops nobody' sync -DWIN\ -DLOSERS_RUN
finds later 'a branch that ends later takes the place of the winner' sync '-DLOSERS -DPORTION=1 -DBACKWARDS -DLATER_WINNER'
finds won 'no move for the end of a race that was won' sync -DWIN \
    "delete from wf.transition where machine = 'composite' and from_state = 'ABORTING' and event = 'end';"
finds unmarked 'a block around a race that is won below a teardown does not know it' sync '-DWIN -DPORTION=1 -DUNMARKED'
finds limit 'the deadline of a block stays when it has ended' sync -DDEADLINE\ -DKEEP_LIMITS
finds stale_limit 'a block times out that has just ended' sync -DDEADLINE\ -DSTALE_LIMIT
finds inner 'a block times out together with one around it' sync -DDEADLINE\ -DINNER_TOO
finds late 'no move for the end of what had a deadline' sync -DDEADLINE \
    "delete from wf.transition where machine = 'composite' and from_state = 'ABORTING' and event = 'fail';"
finds shelter 'a teardown reaches into a finally' sync -DFINALLY\ -DNO_SHELTER
finds last 'a process that is torn down forgets its finally' sync -DFINALLY\ -DFORGET_LAST
finds twice 'a finally runs twice' sync -DFINALLY\ -DTWICE
finds refill 'no move for the finally of what is torn down' sync -DFINALLY \
    "delete from wf.transition where machine = 'composite' and from_state = 'ABORTING' and event = 'refill';"
finds first 'the first note is undone first' sync -DUNDO\ -DFIRST_NOTE
finds noted 'a process that has been undone stays noted' sync -DUNDO\ -DKEEP_NOTES
finds undo_shelter 'a teardown reaches into an undo' sync -DUNDO\ -DNO_SHELTER
finds born 'something begins below a teardown' sync '-DUNDO -DPORTION=1 -DBACKWARDS -DBORN_BELOW'
finds idle 'nobody goes on with a teardown' sync '-DUNDO -DUNCAUGHT -DPORTION=1 -DBUDGET=3 -DIDLE'

done_testing
