#!/usr/bin/env bash
# embedding.t - the examples of docs/embedding.md in SQL and Python do what the page says.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

# block LANGUAGE NUMBER: the text of a block of the page
block() {
    awk -v language="$1" -v number="$2" '
        /^```/ && inside { inside = 0; next }
        /^```/           { inside = $0 == "```" language && ++count == number; next }
        inside' "$ROOT/docs/embedding.md"
}
# as_shop COMMAND…: as the login of an application
as_shop() {
    PGUSER=shop "$@"
}
# run_sql NUMBER
run_sql() {
    block sql "$1" | as_shop psql -XqAt -v ON_ERROR_STOP=1
}

workspace_start
login_create shop wf_app
sql 'create table orders (id int primary key, amount numeric)'
sql 'grant insert on orders to shop'
block '' 1 >"$WORK/bill.wf"
ok 'the workflow is laid out as fmt has it' wf-console fmt --check "$WORK/bill.wf"
ok 'the workflow is installed' wf-console install "$WORK/bill.wf"
driver_start one

is 'psql starts an instance with an order' "$(run_sql 1)" 1
is 'a signal names it by its key' "$(run_sql 2)" 1
is 'wf.wait waits for its end, and wf.result has it' "$(run_sql 3)" \
    'END|success|{"paid": 99.5}|
END|success|{"paid": 99.5}'
is 'wf.wait returns after its time when the instance has not ended' \
    "$(as_shop psql -XqAt -c "select wf.start('bill', '{\"order_id\": 1, \"amount\": 1}')" \
        -c "call wf.wait(2, '0.1 s')")" '2
RUNNING|||'

is 'Python starts, signals and waits' \
    "$(block python 1 | as_shop /usr/bin/python3 - 2>&1)" "END success {'paid': 20}"
is 'Python listens for the end' \
    "$(block python 2 | as_shop /usr/bin/python3 - 2>&1)" "END success {'paid': 5}"
is 'each order was stored once' "$(sql 'select string_agg(id::text, chr(32) order by id) from orders')" '4711 4712'

driver_stop one
done_testing
