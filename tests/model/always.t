#!/usr/bin/env bash
# always.t - without an end of adversities: nothing is lost, nothing begins twice.
. "$(dirname "$0")/lib.sh"

holds wait 'laws of a waiting task' wait -DLEAVES=1
holds sync 'laws of a synchronous task' sync -DLEAVES=1
COMPILED=-O2 holds async 'laws of an asynchronous task' async -DLEAVES=1

done_testing
