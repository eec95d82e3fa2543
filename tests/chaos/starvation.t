#!/usr/bin/env bash
# starvation.t - one forall has all slots of a driver busy with requests of
# 200 ms, and others start instances with one SQL task, by turns urgent and
# ordinary: each begins soon, with slots that are kept for SQL tasks and without.
. "$(dirname "$0")/lib.sh"

campaign starvation 10 100 "$@"
SLOTS=16
ELEMENTS=$((400 * FAULTS)) # more than end meanwhile
URGENT_MS=700 ORDINARY_MS=2000 # the bench has narrower bars, for a quiet machine
world
DRIVERS=(one)

# begins INSTANCE: wait until its task is handed out. Prints after how many ms.
begins() {
    wait_sql 20 "select exists (select from wf.event_v where instance_id = $1
        and process_id is not null and event = 'start')" || true
    sql "select coalesce(ceil(extract(epoch from min(e.at) - i.started_at) * 1000),
                         99999)
           from wf.instance_v i
           left join wf.event_v e on e.instance_id = i.instance_id
             and e.process_id is not null and e.event = 'start'
          where i.instance_id = $1
          group by i.started_at"
}

# single PRIORITY: an instance with one SQL task. Prints its number.
single() {
    sql "select wf.start('single', '{}', null, $1)" | tee -a "$HEARD"
}

# taken: how many slots are taken, as the workspace has it.
taken() {
    sql "select count(*) from wf.lease l join wf.process p
             on p.instance_id = l.instance_id and p.id = l.process_id
           join wf.node n on n.version_id = p.version_id and n.id = p.node_id
          where n.task_type = 'chaos.Send'"
}

# starve KEPT: with so many slots kept for each transport.
starve() {
    local fault urgent ordinary
    DRIVER_OPTIONS=(-o "slots=$SLOTS" -o sql_connection=user=etl
        -o "slots_kept=$1")
    drivers_begin
    FLOOD=$(sql "select wf.start('flood',
        jsonb_build_object('base', $BASE, 'n', $ELEMENTS))" | tee -a "$HEARD")
    wait_sql 60 "select count(*) >= $SLOTS - 4 from wf.lease" || true
    for ((fault = 0; fault < FAULTS; fault++)); do
        nap 300
        taken >>"$WORK/taken"
        ordinary=$(single 0)
        urgent=$(single 1000)
        begins "$urgent" >>"$WORK/urgent-$1"
        begins "$ordinary" >>"$WORK/ordinary-$1"
    done
    is "kept $1: the forall goes on all the while" "$(sql "select state
        from wf.instance_v where instance_id = $FLOOD")" RUNNING
    all_end 600
    driver_stop one
}

: >"$WORK/taken"
starve 1
starve 0
drivers_begin

figure faults "$(cat "$WORK"/urgent-* | wc -l)"
figure slots_min "$(sort -n "$WORK/taken" | head -n 1)"
for kept in 1 0; do
    figure_of_times "urgent_kept_${kept}_ms" "$WORK/urgent-$kept"
    figure_of_times "ordinary_kept_${kept}_ms" "$WORK/ordinary-$kept"
done
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I9
not_blind
drivers_hold
ok 'slots were taken when they came' \
    test "$(awk -v least=$((SLOTS * 3 / 4)) '$1 >= least' "$WORK/taken" | wc -l)" \
    -ge "$FAULTS"
for kept in 1 0; do
    ok "kept $kept: what is urgent begins within $URGENT_MS ms" \
        test "$(sort -n "$WORK/urgent-$kept" | tail -n 1)" -le "$URGENT_MS"
    ok "kept $kept: what is not begins within $ORDINARY_MS ms" \
        test "$(sort -n "$WORK/ordinary-$kept" | tail -n 1)" -le "$ORDINARY_MS"
done
campaign_end
