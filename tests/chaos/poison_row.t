#!/usr/bin/env bash
# poison_row.t - rows that raise an error wherever upkeep meets them: after a
# sleep, after a driver that died, after a place of a group, in what a list
# collects, in a handle, a request, an output and a policy, and when an operator
# tries again. Drivers go on with ordinary tasks; when the cause is mended, each
# of the rows goes on to its end.
. "$(dirname "$0")/lib.sh"

campaign poison_row 1 10 "$@"
LONGEST_GAP=8 # seconds in which no ordinary task ends
world
sql "select wf.setting_set('grace_seconds', 1), wf.setting_set('loss_limit', 2)" >/dev/null
for program in held_start held_cleanup; do
    printf '%s\n' '#!/bin/sh' "until [ -e '$WORK/$program.open' ]; do sleep 0.1; done" \
        >"$WORK/$program"
    chmod 755 "$WORK/$program"
done
sql "create table chaos.poisoned (
        instance_id bigint primary key, place text, code text)"
DRIVERS=(one two)
DRIVER_OPTIONS+=(-o "exec.programs=true=/bin/true,held_start=$WORK/held_start,held_cleanup=$WORK/held_cleanup")

# poison_is BODY: what the function that expressions call as poison does.
poison_is() {
    sql "create or replace function chaos.poison(variadic p_args jsonb[])
        returns jsonb language plpgsql immutable security definer
        set search_path = pg_catalog, pg_temp as \$\$ begin $1 end \$\$"
}

# poison_install: the compiler does not know the function, and parse stands for
# it in the file; the trees are installed again with poison in its place.
poison_install() {
    poison_is "case p_args[1] #>> '{}'
        when 'large' then return to_jsonb(repeat('x', 2000000));
        when 'half' then return to_jsonb(repeat('x', 600000));
        when 'server' then return to_jsonb('server'::text);
        when 'names' then return (select jsonb_agg(repeat(md5(k::text), 3) || 'abcd')
                                    from generate_series(1, 64) k);
        else raise exception 'raised on purpose' using errcode = p_args[1] #>> '{}';
        end case;"
    # an error of the engine's own, which is the fault of the server
    sql "create function chaos.server_fault() returns trigger language plpgsql as \$\$
        begin
            if new.name = 'x' and new.value = '\"server\"' then
                raise exception 'raised on purpose' using errcode = '53200';
            end if;
            return new;
        end \$\$;
        create trigger server_fault before insert on wf.binding
            for each row execute function chaos.server_fault()"
    sql "grant usage on schema chaos to wf_owner;
        select wf.function_set('poison', 'chaos.poison', '{code: string}', 'json',
            'raises an error, or is too large')" >/dev/null
    wf-console install "$CHAOS/data/poison_row.wf" >>"$WORK/console.log"
    sql "select count(*)
           from (select jsonb_build_object('format', 1, 'file', 'poison_row.wf',
                        'workflows', (select jsonb_agg(v.spec -> 'workflow') from wf.version v),
                        'task_types', (select jsonb_object_agg(t.key, t.value)
                           from wf.version v, jsonb_each(v.spec -> 'task_types') t))
                  as tree) t,
                wf.install('// poison', replace(t.tree::text,
                    '[\"call\", \"parse\"', '[\"call\", \"poison\"')::jsonb)" >/dev/null
}

# poison PLACE CODE…: an instance that meets each of these there.
poison() {
    local place=$1
    shift
    sql "insert into chaos.poisoned
        select wf.start('$place', jsonb_build_object('code', c.code)), '$place', c.code
          from unnest(string_to_array('$*', ' ')) c (code)"
}

# ordinary_run: ordinary instances are started all the time.
ordinary_run() {
    while sleep 0.1; do
        load load 40 base "$BASE" ms 8 n 3
    done
}

# until_true WHAT QUERY: says whether it becomes so.
until_true() {
    wait_sql 60 "$2" || true
    ok "$1" sql_is_true "$2"
}

# doomed_dies REQUEST PLACE…: when the driver holds such a request of each instance
# of each of these places.
doomed_dies() {
    while [ $# -gt 0 ]; do
        until_true "a driver that is killed holds a $1 of each instance of $2" \
            "select count(*) = (select count(*) from chaos.poisoned where place = '$2')
               from chaos.held('doomed') h join chaos.poisoned x using (instance_id)
              where h.request = '$1' and x.place = '$2'"
        shift 2
    done
    driver_kill doomed
    held=$((held + HELD))
}

# all_met WHAT TIME: wait until each instance has met its poison since then:
# something in it has failed, or the server is at fault and it is tried again
# later, or it waits for a driver that has all of the capabilities. Another error
# of a row of work is no end: the row is tried three times. Nor is that of the
# server an end for an item that only stood in one batch with the one at fault:
# its row has the batch's error until it was tried alone.
all_met() {
    local unmet="select x.place, x.code,
            (select string_agg(concat_ws(' ', p.id, p.kind, p.state, p.at), ', ')
               from wf.process p where p.instance_id = x.instance_id)
       from chaos.poisoned x
      where not exists (select from wf.event e where e.instance_id = x.instance_id
                           and e.state = 'FAILED' and e.at >= '$2')
        and not exists (select from wf.work w
                         where w.instance_id = x.instance_id and x.code = 'server'
                           and w.error ->> 'sqlstate' = '53200')
        and not (x.code = 'names' and exists (select from wf.ready r
                   join wf.lane l on l.id = r.lane_id and cardinality(l.requires) = 64
                  where r.instance_id = x.instance_id))"
    until_true "$1" "select not exists ($unmet)"
    is 'all of them have' "$(sql "$unmet")" ''
}

poison_install
DRIVER_OPTIONS+=(-o queues=default)
drivers_begin
DOOMED_OPTIONS=("${DRIVER_OPTIONS[@]}" -o queues=doomed -o "slots=$((20 * FAULTS))")
driver_start doomed "${DOOMED_OPTIONS[@]}"
spawn ordinary ordinary_run
wait_sql 60 "select count(*) > 100 from wf.event where state = 'END'"
held=0
began=$(sql 'select clock_timestamp()')
for ((round = 0; round < FAULTS; round++)); do
    for place in after_timer after_repeat after_loss after_place in_collect in_policy; do
        poison "$place" 54000 53200 22P05 XX000 large
    done
    poison in_handle 54000 53200 22P05 XX000 large
    poison in_output 54000 53200 22P05 XX000 large
    poison in_request 54000 53200 22P05 XX000
    poison after_timer server
    poison after_loss server
    poison in_collect half
    poison in_policy names
done
poisoned=$(sql 'select count(*) from chaos.poisoned')
# a cleanup is given up only when two drivers in a row have died with it
doomed_dies start after_repeat cleanup after_loss
touch "$WORK/held_start.open"
driver_start doomed "${DOOMED_OPTIONS[@]}"
doomed_dies cleanup after_loss
touch "$WORK/held_cleanup.open"
driver_start doomed "${DOOMED_OPTIONS[@]}"
all_met 'each row has raised its error' "$began"
retried=$(sql 'select clock_timestamp()')
sql "select count(*) from wf.retry(jsonb_build_object('failed', true, 'instance',
    (select jsonb_agg(distinct f.instance_id) from wf.failed f)), 'in vain')" >/dev/null
all_met 'each row has raised its error again after a retry by an operator' "$retried"
mended=$(sql 'select clock_timestamp()')
is 'no turn of any driver failed' "$(search grep -hE '(turn|heartbeat|register) failed' \
    "$WORK"/driver-*.log | head -n 5)" ''
is 'each failed process says why it failed' "$(sql "select distinct x.place, x.code, p.error ->> 'kind'
      from chaos.poisoned x join wf.process p using (instance_id)
     where p.state = 'FAILED'
       and (p.error ->> 'kind' in ('engine', 'input', 'output', 'limit')) is not true")" ''
is 'errors that are the fault of the server are tried again after timers and losses' \
    "$(sql "select w.kind, min(w.error ->> 'sqlstate'), max(w.error ->> 'sqlstate')
              from wf.work w join chaos.poisoned using (instance_id)
             group by w.kind order by 1")" "$(printf '%s|53200|53200\n' loss timer)"
is 'explain says when' "$(sql "select x.place, x.code, w.error,
           array(select e.reason || ': ' || e.detail from wf.explain(w.instance_id) e)
      from wf.work w join chaos.poisoned x using (instance_id)
     where not exists (select from wf.explain(w.instance_id) e
                        where e.process_id = w.item_id and e.reason in ('time', 'set aside')
                          and e.detail ~ 'could not be carried out: raised on purpose')")" ''
is 'nothing contradicts anything meanwhile' \
    "$(sql "select * from wf.fsck() where class = 'violation' limit 5")" ''
gap=$(sql "select ceil(extract(epoch from max(x.gap)))
    from (select e.at - lag(e.at, 1, '$began') over (order by e.at) as gap
            from wf.event e join wf.instance_v i using (instance_id)
           where i.workflow = 'load' and e.event = 'success'
             and e.at between '$began' and '$mended'
          union all
          select '$mended' - max(e.at)
            from wf.event e join wf.instance_v i using (instance_id)
           where i.workflow = 'load' and e.event = 'success') x")
ok "ordinary tasks end all the while, $gap s apart at most" \
    test "$gap" -le "$LONGEST_GAP"
ok 'ordinary instances end all the while' sql_is_true "select count(*) > 0 from wf.instance_v
    where workflow = 'load' and started_at > '$began' and ended_at < '$mended'"

poison_is "return '[]';"
sql "select count(*) from wf.abort((select jsonb_build_object('instance',
    jsonb_agg(instance_id)) from chaos.poisoned where code = 'names'),
    'nobody has these capabilities')" >/dev/null
stop ordinary || true
all_end 60
is 'each of them has gone on to its end' "$(sql "select i.state, i.result, count(*)
      from chaos.poisoned x join wf.instance_v i using (instance_id)
     where x.code <> 'names' group by 1, 2")" "END|success|$((poisoned - FAULTS))"
is 'no work is left over' "$(sql 'select * from wf.work limit 5')" ''

figure faults "$poisoned"
figure held "$held"
figure longest_gap_s "$gap"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I7 I8 I9
not_blind
drivers_hold
campaign_end
