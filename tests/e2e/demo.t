#!/usr/bin/env bash
# demo.t - the demonstration runs to its end and leaves nothing behind.
. "$(dirname "$0")/../lib.sh"

# Its private directory is made in ours, so that whatever is left names us.
exits 'demo/run' 0 env WORK_PARENT="$WORK" "$ROOT/demo/run"
like 'the task broke' "$OUTPUT" 'FAILED +http: .* 503'
like 'the failure was explained' "$OUTPUT" 'waits for retry, ignore, resolve or raise'
like 'the failure was repaired' "$OUTPUT" 'retry +INIT .*the registry is back'
like 'the demonstration ended well' "$OUTPUT" 'Done: it ended well\.'
is 'no process is left' "$(search pgrep --full --list-full -- "$WORK/")" ''
is 'no file is left' "$(find "$WORK" -mindepth 1 -name 'wf.*')" ''
done_testing
