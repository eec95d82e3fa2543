#!/usr/bin/env bash
# always.t - without an end of adversities: nothing is lost, nothing begins twice.
. "$(dirname "$0")/lib.sh"

holds wait 'what always holds' wait -DLEAVES=1
holds sync 'what always holds' sync -DLEAVES=1
holds async 'what always holds' async -DLEAVES=1

done_testing
