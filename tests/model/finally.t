#!/usr/bin/env bash
# finally.t - a finally runs once, however its try ends: after success, an error, an
# abort, also one that comes while it runs; an error in it takes the place of the other.
. "$(dirname "$0")/lib.sh"
tree_frame

for machine in wait sync; do
    holds "$machine" 'laws with a finally' "$machine" \
        '-DFINALLY -DPORTION=1'
done
holds async 'laws with a finally' async -DFINALLY
holds uncaught 'an error in a finally that nothing takes' sync \
    '-DFINALLY -DUNCAUGHT -DPORTION=1'
holds halt 'a halt runs no finally' sync \
    '-DFINALLY -DHALT -DPORTION=1 -DBACKWARDS'
holds ends 'a finally ends' async '-DFINALLY -DPORTION=1 -DBUDGET=2'

done_testing
