#!/usr/bin/env bash
# result.t - wf.wait waits for real: with each protocol, and not inside of a transaction.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

# wait_by PROTOCOL: how many calls of wf.wait have answered
wait_by() {
    as_shop pgbench -n -M "$1" -t 2 -f "$WORK/wait.sql" 2>&1 |
        sed -n 's/^number of transactions actually processed: //p'
}
as_shop() {
    PGUSER=shop "$@"
}

workspace_start
login_create shop wf_app
PATH=$PATH:$PG_HOME/bin
cat >"$WORK/nap.wf" <<'WF'
workflow nap(time: duration) {
  wf.Sleep(duration = time) ;
}
WF
ok 'the workflow is installed' wf-console install "$WORK/nap.wf"
driver_start one

is 'psql starts an instance' "$(as_shop psql -XqAt -c "select wf.start('nap', '{\"time\": \"1h\"}')")" 1
echo "call wf.wait(1, '0.1 s');" >"$WORK/wait.sql"
for protocol in simple extended prepared; do
    is "wf.wait is called with the protocol $protocol" "$(wait_by "$protocol")" 2/2
done
like 'inside of a transaction it is refused' \
    "$(as_shop psql -Xq -c begin -c "call wf.wait(1, '0.1 s')" 2>&1)" 'invalid transaction termination'
is 'the end comes while it waits' \
    "$(as_shop psql -XqAt -c "select wf.start('nap', '{\"time\": \"0.3s\"}')" -c "call wf.wait(2, '60 s')")" \
    '2
END|success||'

driver_stop one
done_testing
