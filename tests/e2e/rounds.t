#!/usr/bin/env bash
# rounds.t - a block with a policy retry, against a service that fails: each round
# sends all of its requests again, and the last one counts.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

# Each payment is refused twice. What is asked stands in the log of the nginx before it.
spawn service perl "$ROOT/tests/e2e/data/patterns/service" "$WORK/address"
wait_until 10 test -s "$WORK/address"
nginx_start "location / { proxy_pass $(head -n 1 "$WORK/address"); }"
workspace_start
driver_start one
cat >"$WORK/shop.wf" <<'END'
workflow shop(url: string, day: string, rounds: int = 3) -> {order: int, paid: json?, rounds: int} {
  with retry(attempts = rounds, delay = 200ms) {
    http.Request(url = "${url}/shard/${day}") as order ;
    http.Request(url = "${url}/report/${day}", method = "POST") as paid
  } ;
  return {order: order.status, paid: paid.body, rounds: rounds}
}
END
ok 'install' wf-console install "$WORK/shop.wf"

# asked DAY: what the service was asked that day, in order, and what it said.
asked() {
    sed -nE "s,^([A-Z]+) /([a-z]+)/$1 ([0-9]+) .*,\1 \2 \3,p" \
        "$WORK/nginx/access.log" | paste -sd ' '
}

# keys DAY PATH: how many Idempotency-Keys the requests had, all of this instance.
keys() {
    sed -nE "s,^[A-Z]+ /$2/$1 [0-9]+ ($(trace_of "$id")-[0-9]+) .*,\1,p" \
        "$WORK/nginx/access.log" | sort -u | wc -l
}

# moves ID: those of the block.
moves() {
    sql "select string_agg(e.event || ' ' || e.state, ', ' order by e.seq)
           from wf.event_v e join wf.process_v p using (instance_id, process_id)
          where e.instance_id = $1 and p.kind = 'seq'"
}

# --- the third round succeeds

id=$(begin shop -p "url=$HTTP_URL" -p day=monday)
ended "$id"
is 'the block succeeds in its third round' "$(state_of "$id")" 'END success'
is 'with what that returned' "$(sql "select output from wf.instance_v
    where instance_id = $id")" '{"paid": 42, "order": 200, "rounds": 3}'
once='GET shard 200 POST report'
is 'the service was asked for all of it in each round' "$(asked monday)" \
    "$once 503 $once 503 $once 200"
is 'each request has a key of its own in each round' \
    "$(keys monday shard) $(keys monday report)" '3 3'
is 'the tasks were not tried again themselves' "$(sql "select string_agg(task_type
        || ' ' || state || ' ' || attempt, ', ' order by process_id)
    from wf.task_v where instance_id = $id and state = 'RAISED'")" \
    'http.Request RAISED 1, http.Request RAISED 1'
is 'the history has the rounds' "$(moves "$id")" \
    'retry INIT, due ACTIVE, retry INIT, due ACTIVE, end END'
is 'each round waits for its delay' "$(sql "select bool_and(due_at <= due), count(*)
       from (select (e.detail ->> 'due_at')::timestamptz as due_at,
                    lead(e.at) over (order by e.seq) as due, e.event
               from wf.event_v e
               join wf.process_v p using (instance_id, process_id)
              where e.instance_id = $id and p.kind = 'seq') e
      where event = 'retry' and due_at >= (select min(x.at) + '200 ms' from wf.event_v x
            where x.instance_id = $id and x.event = 'fail')")" 't|2'

# --- there is no third round: the error waits for an operator

id=$(begin shop -p "url=$HTTP_URL" -p day=tuesday -p rounds=2)
ok 'after its last round the task has failed' failed "$id"
is 'the block asks the service twice' "$(asked tuesday)" "$once 503 $once 503"
ok 'an operator tries it again' wf-console retry "$id" --failed
ended "$id"
is 'the block has succeeded after the retry' "$(state_of "$id")" 'END success'
is 'the retry did nothing but the failed task again' "$(asked tuesday)" \
    "$once 503 $once 503 POST report 200"

sound
done_testing
