#!/usr/bin/env bash
# patterns.t - every workflow of docs/patterns.md is run as it stands there,
# against a service and hosts that fail. Nobody has to do anything.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start
sshd_start
sed 's/^Host worker$/Host web1 web2 web3/' "$SSH_CONFIG" >"$WORK/hosts"
spawn service perl "$ROOT/tests/e2e/data/patterns/service" "$WORK/address"
wait_until 10 test -s "$WORK/address"
URL=$(head -n 1 "$WORK/address")
login_create etl wf_app
sql 'create table sales (day date, region text, total int)'
sql 'create table totals (day date primary key, total int)'
sql 'create table shop (name text, open boolean)'
sql "insert into shop values ('north', true), ('south', false), ('east', true)"
sql 'grant select on sales, shop to etl'
sql 'grant select, insert, update on totals to etl'
sql "insert into sales values ('2026-11-23', 'eu', 7), ('2026-11-23', 'us', 9),
    ('2026-11-22', 'eu', 1)"
driver_start one -o "ssh.config_file=$WORK/hosts" -o sql_connection=user=etl

# The blocks with a workflow, each to a file that is named after it.
mkdir "$WORK/page"
(cd "$WORK/page" && awk '
    /^```/ && inside { if (name) printf "%s", text >(name ".wf"); inside = 0; next }
    /^```/           { inside = 1; text = name = ""; next }
    inside           { text = text $0 "\n" }
    inside && /^workflow / { name = $2; sub(/\(.*/, "", name) }' \
    "$ROOT/docs/patterns.md")
is 'the page has eleven files of workflows' "$(find "$WORK/page" -name '*.wf' | wc -l)" 11
ok 'each is laid out as fmt has it' wf-console fmt --check "$WORK"/page/*.wf
ok 'the workflows of the page are installed' wf-console install "$WORK"/page/*.wf

# ends NAME RESULT OUTPUT WORKFLOW PARAMETERS…: with nobody's help.
ends() {
    local name=$1 id
    id=$(begin "${@:4}")
    ended "$id" 60
    is "$name" "$(state_of "$id") $(sql "select output from wf.instance_v
        where instance_id = $id")" "$2 $3"
    ID=$id
}

# attempts: how many there were of its tasks beyond one each.
attempts() {
    sql "select sum(attempt - 1) from wf.task_v where instance_id = $ID"
}

ends 'etl: all 40 shards are loaded' 'END success' '{"loaded": 40}' \
    etl -p "url=$URL" -p shards=40
is 'etl: four of them were tried again' "$(attempts)" 4

ends 'report: both lines are sent' 'END success' '{"lines": 2}' \
    report -p day=2026-11-23 -p "url=$URL"
is 'report: it was sent at the third attempt' "$(attempts)" 2

is 'totals: it has a schedule from its install on' \
    "$(sql "select state from wf.schedule_v where name = 'totals'")" active
# also for the day after it: midnight may come in between
sql "insert into sales select (now() at time zone 'Europe/Berlin')::date - d, 'asia', 5
    from generate_series(0, 1) d"
id=$(sql "select wf.schedule_fire('totals')")
ended "$id" 60
is 'totals: the day before the time that the instance is for' \
    "$(state_of "$id") $(sql "select t.total from totals t join wf.instance_v i
        on t.day = (i.scheduled_at at time zone 'Europe/Berlin')::date - 1
        where i.instance_id = $id")" 'END success 5'

# The third host refuses the new version, and another one at first to go back.
cat >"$WORK/sshd/home/deploy" <<'END'
#!/bin/sh
cd && echo "$1" >>log
[ "$1" != broken ] || [ "$(grep -c '^broken$' log)" -lt 3 ] || exit 7
[ "$1" != previous ] || ! mkdir refused 2>/dev/null
END
chmod 755 "$WORK/sshd/home/deploy"
chown "$SERVER_USER" "$WORK/sshd/home/deploy" 2>/dev/null || true
ends 'rollout: a good version arrives' 'END success' \
    '{"why": null, "done": true}' \
    rollout -p 'hosts=["web1", "web2", "web3"]' -p version=2.1
is 'rollout: on three hosts' "$(grep -c '^2\.1$' "$WORK/sshd/home/log")" 3
id=$(begin rollout -p 'hosts=["web1", "web2", "web3", "web4"]' \
    -p version=broken)
ended "$id" 60
is 'rollout: a broken one is taken back' "$(state_of "$id") $(sql "select
    output ->> 'done' from wf.instance_v where instance_id = $id")" \
    'END success false'
is 'rollout: it came to no host after the one that refused' \
    "$(grep -c '^broken$' "$WORK/sshd/home/log")" 3
is 'rollout: the two before go back, which was tried again until it worked' \
    "$(grep -c '^previous$' "$WORK/sshd/home/log")" 3

ends 'quote: the second service answers' 'END success' '{"price": 42}' \
    quote -p "first=$URL/broken" -p "second=$URL/works"
is 'quote: the first one was asked three times' "$(attempts)" 2

ends 'crawl: three rounds' 'END success' '{"rounds": 3}' \
    crawl -p "url=$URL" -p 'start=["a"]'
is 'crawl: each of four pages was asked for again' "$(attempts)" 4

ends 'exported: the job is followed to its end' 'END success' '{"result": 42}' \
    exported -p "url=$URL"

id=$(begin approved -p question='go live?')
in_state "$id" wf.WaitSignal WAITING
sql "select wf.signal('$id', 'decision', '{\"approved\": true}')" >/dev/null
ended "$id"
is 'approved: by whoever has sent the signal' "$(sql "select output from wf.instance_v
    where instance_id = $id")" "{\"by\": \"$(sql 'select session_user')\", \"approved\": true}"
ends 'approved: nobody has answered' 'END success' \
    '{"by": "nobody", "approved": false}' \
    approved -p question='go live?' -p patience=100ms

id=$(begin ordered -p person="$(sql 'select session_user')" -p remind=100ms)
in_state "$id" wf.Input WAITING
is 'ordered: the open shops can be chosen' "$(sql "select form #> '{properties,shop,enum}'
    from wf.input_v where instance_id = $id")" '["east", "north"]'
wait_until 30 grep -q "reminder 2 to " "$WORK/driver-one.log"
sql "select wf.answer(input_id, '{\"shop\": \"east\", \"amount\": 500}') from wf.input_v
    where instance_id = $id" >/dev/null
wait_sql 30 "select count(*) = 2 from wf.input_v where instance_id = $id"
sql "select wf.answer(max(input_id), '{\"reason\": \"a feast\"}') from wf.input_v
    where instance_id = $id" >/dev/null
ended "$id"
is 'ordered: two pages are filled in' "$(state_of "$id") $(sql "select output from wf.instance_v
    where instance_id = $id")" \
    'END success {"shop": "east", "amount": 500, "reason": "a feast"}'

id=$(begin paid -p order=7)
in_state "$id" wf.Callback WAITING
token=$(sql "select wf.callback_token($id, 'bank')")
sql "select wf.callback('$token', '{\"receipt\": \"R-7\"}')" >/dev/null
ended "$id"
is 'paid: the bank has called back' "$(sql "select output from wf.instance_v
    where instance_id = $id")" '{"receipt": "R-7"}'

ends 'regions: each is an instance of its own' 'END success' \
    '{"totals": [8, 9, null]}' regions -p 'regions=["eu", "us", "none"]'
is 'regions: it has started three' "$(sql "select count(*) from wf.instance_v
    where parent_id = $ID and workflow = 'region_total' and state = 'END'")" 3

is 'nobody was needed' "$(sql "select count(*) from wf.event_v e
    where e.event in ('retry', 'ignore', 'resolve', 'raise')
      and e.actor not like 'wf_driver%'")" 0
sound
done_testing
