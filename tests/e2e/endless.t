#!/usr/bin/env bash
# endless.t - a function that a workspace has added never returns, after a sleep
# and after a request that is taken back: each poll that meets it is cut off by
# statement_timeout. Others go on; after three tries the task has failed, or the
# request waits for an operator, where it cannot fail.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

LONGEST_GAP=15 # seconds in which no ordinary instance ends
workspace_start
printf '%s\n' '#!/bin/sh' "until [ -e '$WORK/open' ]; do sleep 0.1; done" \
    >"$WORK/held"
chmod 755 "$WORK/held"
sql "create schema added;
    create function added.wait(variadic p_args jsonb[]) returns jsonb
    language plpgsql immutable security definer
    set search_path = pg_catalog, pg_temp as \$\$
    begin
        perform pg_sleep((p_args[1] #>> '{}')::float);
        return '[]';
    end \$\$;
    grant usage on schema added to wf_owner"
sql "select wf.function_set('wait', 'added.wait', '{seconds: string}', 'json', 'takes its time'),
    wf.setting_set('loss_limit', 1), wf.setting_set('grace_seconds', 1)" >/dev/null
ok 'install' wf-console install "$ROOT/tests/e2e/data/endless/endless.wf"
sql "select count(*)
       from (select jsonb_build_object('format', 1, 'file', 'endless.wf',
                    'workflows', (select jsonb_agg(v.spec -> 'workflow') from wf.version v),
                    'task_types', (select jsonb_object_agg(t.key, t.value)
                       from wf.version v, jsonb_each(v.spec -> 'task_types') t))
              as tree) t,
            wf.install('// wait', replace(t.tree::text,
                '[\"call\", \"parse\"', '[\"call\", \"wait\"')::jsonb)" >/dev/null

# steady_work: ordinary instances are started all the time.
steady_work() {
    while sleep 0.2; do
        sql "select wf.start('steady')" || true
    done
}

# begin_all SECONDS: instances of both sorts that take so long; prints their
# numbers. The driver of the one sort dies with a request of each.
begin_all() {
    local ids
    rm -f "$WORK/open"
    driver_start doomed "${OPTIONS[@]}" -o queues=doomed
    ids=$(sql "select string_agg(wf.start(w.name, '{\"seconds\": \"$1\"}')::text, ',')
        from (values ('after_timer'), ('after_loss'), ('after_timer'), ('after_loss')) w (name)")
    wait_sql 30 "select count(*) = 2 from wf.lease l
        where l.request = 'cleanup' and l.instance_id in ($ids)"
    kill -s KILL "$(pid_of driver-doomed)"
    touch "$WORK/open"
    printf '%s\n' "$ids"
}

OPTIONS=(-o heartbeat_ms=500 -o poll_max_ms=200
    -o "exec.programs=true=/bin/true,held=$WORK/held")
for name in one two; do
    login_create "wf_driver_$name" wf_driver
    sql "alter role wf_driver_$name set statement_timeout = '1s'"
    driver_start "$name" "${OPTIONS[@]}" -o queues=default
done
spawn steady steady_work
wait_sql 30 "select count(*) > 10 from wf.instance_v where state = 'END'"
began=$(sql 'select clock_timestamp()')
ids=$(begin_all 600)
ok 'each of them is given up' wait_sql 150 "select count(*) = 4
    from (select f.instance_id from wf.failed f
          union all select w.instance_id from wf.work w where w.aside) x
    where x.instance_id in ($ids)"
ended=$(sql 'select clock_timestamp()')
is 'a sleep has failed of kind engine, and says why' "$(sql "select p.was,
        p.error ->> 'kind', p.error ->> 'message', count(*)
      from wf.process p join wf.failed f
        on f.instance_id = p.instance_id and f.process_id = p.id
     where p.instance_id in ($ids) group by 1, 2, 3")" \
    'WAITING|engine|it was tried 3 times: it did not come to its end|2'
is 'a cleanup cannot fail, and waits for an operator' "$(sql "select w.reason,
        w.detail, count(*)
      from wf.stuck() w where w.instance_id in ($ids) and w.reason <> 'failed'
     group by 1, 2")" \
    'set aside|moving it on raised an error: it did not come to its end|2'
is 'nothing else has failed' "$(sql "select * from wf.failed
    where instance_id not in ($ids)")" ''
gap=$(sql "select ceil(extract(epoch from max(x.gap)))
      from (select e.at - lag(e.at, 1, '$began') over (order by e.at) as gap
              from wf.event e join wf.instance_v i using (instance_id)
             where i.workflow = 'steady' and e.process_id is null
               and e.state = 'END' and e.at between '$began' and '$ended') x")
ok "ordinary instances end all the while, $gap s apart at most" \
    test "$gap" -le "$LONGEST_GAP"
is 'each of them was tried three times and not more often' \
    "$(cat "$WORK"/driver-*.log | grep -c 'upkeep failed: canceling statement')" 12
cut=$(cat "$WORK"/driver-*.log | grep -c 'turn failed: canceling statement')
# A driver has two sessions, and one may begin to poll when the other is cut off. But
# the items are tried alone before a session that was cut off polls again.
ok "no session was cut off twice by one of the four items: $cut polls" \
    test "$cut" -le 16
sql "select count(*) from wf.abort('{\"instance\": [$ids]}')" >"$WORK/aborted"
ok 'an operator can abort them' wait_sql 60 "select bool_and(state = 'ABORTED')
    from wf.instance_v where instance_id in ($ids)"
is 'no work is left over' "$(sql 'select * from wf.work')" ''
stop steady || true

id=$(begin_all 0)
ok 'a task that takes no time goes on to its end' wait_sql 60 "select bool_and(state = 'END')
    from wf.instance_v where instance_id in ($id)"
sound
done_testing
