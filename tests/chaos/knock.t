#!/usr/bin/env bash
# knock.t - 200 clients at a time send signals: early, late, to instances that end, are
# aborted or do not exist, of names that nobody waits for. Meanwhile the server or a driver
# is killed. Each signal is taken once, is kept, or was refused with its reason.
. "$(dirname "$0")/lib.sh"

campaign knock 4 60 "$@"
CLIENTS=200
world 'max_connections = 260'
server_adopt
wf-console install "$CHAOS/data/knock.wf" >"$WORK/console.log"
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --file="$CHAOS/data/knock.sql"
drivers_begin
echo 'select chaos.knock()' >"$WORK/knock.sql"

# others_come: instances that wait.
others_come() {
    sql "select count(*) from wf.start_many('knock',
                (select jsonb_agg('{\"n\": 8}'::jsonb) from generate_series(1, 20))) i
          union all
         select count(*) from wf.start_many('door',
                (select jsonb_agg('{}'::jsonb) from generate_series(1, 20))) i" >/dev/null
}

# they_knock: until the fault ends them, at the latest.
they_knock() {
    pgbench --no-vacuum --client="$CLIENTS" --jobs=2 --transactions=10 \
        --file="$WORK/knock.sql" >>"$WORK/pgbench.log" 2>&1 || true
}

# knocked: how many signals have been sent, or refused.
knocked() {
    sql 'select (select count(*) from chaos.knock) + (select count(*) from chaos.turned_away)'
}

within=0
for ((fault = 0; fault < FAULTS; fault++)); do
    others_come
    before=$(knocked)
    spawn knockers they_knock
    wait_sql 60 "select (select count(*) from chaos.knock)
        + (select count(*) from chaos.turned_away) > $((before + 50))" || true
    nap 300
    ! is_gone "$(pid_of knockers)" || diag 'they had gone before the fault'
    is_gone "$(pid_of knockers)" || within=$((within + 1))
    case $((fault % 4)) in
    0 | 2)
        server_kill
        server_writes "$EPOCHREALTIME" >>"$WORK/recovery"
        ;;
    1)
        driver_kill one
        driver_again one
        ;;
    3)
        sql "select count(*) from wf.abort(jsonb_build_object('instance',
                 (select jsonb_agg(i.id) from wf.instance i where i.id % 2 = 0)), 'knock')" >/dev/null
        ;;
    esac
    wait_until 120 is_gone "$(pid_of knockers)"
    stop knockers || true
done

# Whoever still waits then gets what he waits for, once what was sent is taken.
deadline=$((SECONDS + 180))
until [ "$(sql "select not exists (select from wf.instance i where i.state in ('RUNNING', 'ABORTING'))")" = t ] ||
    [ "$SECONDS" -ge "$deadline" ]; do
    sql "select chaos.open_all() where not exists (select from wf.work w
        where w.kind in ('signal', 'topic', 'await'))" >/dev/null
    sleep 0.2
done
is 'all end' "$(sql "select count(*) from wf.instance_v where state in ('RUNNING', 'ABORTING')")" 0

figure faults "$FAULTS"
figure within "$within"
figure_of_times recovery_ms "$WORK/recovery"
figure signals "$(sql 'select count(*) from chaos.knock')"
figure taken "$(sql "select count(*) from chaos.heard where how = 'taken'")"
figure kept "$(sql "select count(*) from chaos.heard where how = 'kept'")"
figure refused "$(sql 'select count(*) from chaos.turned_away')"
is 'each signal was taken once, or is kept' "$(sql 'select * from chaos.knock_violation limit 10')" ''
is 'signals came late, and to nobody' "$(sql "select string_agg(distinct code, ' ' order by code)
    from chaos.turned_away")" 'WF003 WF004'
ok 'some were taken' test "$(sql "select count(*) from chaos.heard where how = 'taken'")" -gt 100
ok 'some are kept' test "$(sql "select count(*) from chaos.heard where how = 'kept'")" -gt 0
ok 'the faults came while signals were sent' test "$within" -gt 0
invariants_hold I1
not_blind
drivers_hold

# The witnesses would notice a signal that was lost, one that was taken twice and one
# that nobody sent.
is 'the ledger would notice' "$(sql "begin;
    delete from wf.process p where (p.instance_id, p.id) = (select x.instance_id, x.id
        from wf.process x where x.output ? 'payload' order by x.id limit 1);
    insert into wf.signal (instance_id, name, payload, broadcast, sent_at, sender)
    select p.instance_id, 'go', p.output -> 'payload', false, now(), 'nobody'
      from wf.process p where p.output ? 'payload' order by p.id desc limit 1;
    insert into wf.signal (topic, name, payload, broadcast, sent_at, sender)
    values ('none', 'go', '-1', false, now(), 'nobody');
    select string_agg(distinct what, ', ' order by what) from chaos.knock_violation;
    rollback")" 'sent, and neither taken nor kept, taken twice, or taken and kept, taken, and never sent'
campaign_end
