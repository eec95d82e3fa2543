#!/usr/bin/env bash
# faults.t - faults are put into the rows or the frame, one at a time: spin must
# find an error each time, or the model would be blind.
. "$(dirname "$0")/lib.sh"

finds lost 'no move for a start that is lost' sync -DLEAVES=1 \
    "delete from wf.transition where machine = 'sync' and event = 'lost' and to_state = 'INIT';"
finds cleanup_lost 'no move for a cleanup that is lost' async -DLEAVES=1 \
    "delete from wf.transition where machine = 'async' and from_state = 'CLEANUP_REQUESTED' and event = 'lost';"
finds lease 'a lost request keeps its lease' sync -DLEAVES=1 \
    "update wf.transition set ends_request = false where machine = 'sync' and event = 'lost' and to_state = 'INIT';"
finds place 'a failure keeps its place in the group' sync -DLEAVES=1 \
    "update wf.transition set frees_slot = false where machine = 'sync' and from_state = 'START_REQUESTED' and event = 'fail';"
finds retry 'a retry asks for nothing' sync -DLEAVES=1 \
    "update wf.transition set asks = null where machine = 'sync' and event = 'retry';"
finds abort 'no abort while it is released' async -DLEAVES=1 \
    "delete from wf.transition where machine = 'async' and from_state = 'RETRY_CLEANUP_REQUESTED' and event = 'abort';"
finds due 'no move for the time of the next attempt' sync -DLEAVES=1 \
    "delete from wf.transition where machine = 'sync' and event = 'due';"
finds timeout 'a time-out ends a request that a driver still has' sync -DLEAVES=1 \
    "update wf.transition set ends_request = true where machine = 'sync' and from_state = 'START_REQUESTED' and event = 'timeout';"
finds rest 'a task that waits for its next attempt is queued' sync -DLEAVES=1\ -DQUEUE_ALL
finds repeat 'a lost start of any kind is begun again' sync -DLEAVES=1\ -DREPEAT
finds stale 'stale tokens are honoured' sync -DLEAVES=1\ -DHONOUR_STALE
finds unacked 'a request is sent before the answer to its ack' async -DLEAVES=1\ -DSEND_UNACKED
finds deaf 'nobody looks for lost drivers' sync '-DLEAVES=1 -DBUDGET=3 -DNO_ABORT -DDEAF'
finds dispatch 'a task that becomes ready in a suspended instance is not parked' sync -DLEAVES=1\ -DDISPATCH_ALL
finds pace 'a failure is paced wherever it leads' async -DLEAVES=1\ -DPACE_ALL
finds forgetful 'a catch tears down the failed task only' sync '-DLEAVES=2 -DBUDGET=1 -DCATCH -DFORGETFUL'
finds uncounted 'a process that has handed its error on is not counted' sync '-DLEAVES=2 -DBUDGET=1 -DCATCH -DUNCOUNTED'
finds raise 'a caught error is not handed on' wait '-DLEAVES=1 -DCATCH' \
    "delete from wf.transition where machine = 'wait' and event = 'raise';"

finds round 'no move for the time of the next round' wait '-DLEAVES=1 -DAGAIN' \
    "delete from wf.transition where machine = 'composite' and event = 'due';"
finds round_abort 'no abort of what waits for its next round' wait '-DLEAVES=1 -DAGAIN' \
    "delete from wf.transition where machine = 'composite' and from_state = 'INIT' and event = 'abort';"

done_testing
