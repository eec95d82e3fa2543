#!/usr/bin/env bash
# demo.t - the demonstration runs to its end and leaves nothing behind.
. "$(dirname "$0")/../lib.sh"

# Its private directory is made in ours, so that whatever is left names us.
exits 'demo/run' 0 env WORK_PARENT="$WORK" "$ROOT/demo/run"
like 'it broke' "$OUTPUT" 'FAILED +http: .* 503'
like 'it was explained' "$OUTPUT" 'waits for retry, ignore, resolve or raise'
like 'it was repaired' "$OUTPUT" 'retry +INIT .*the registry is back'
like 'it ended well' "$OUTPUT" 'Done: it ended well\.'
is 'no process is left' "$(pgrep --full --list-full -- "$WORK/" || true)" ''
is 'no file is left' "$(find "$WORK" -mindepth 1 -name 'wf.*')" ''
done_testing
