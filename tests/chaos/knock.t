#!/usr/bin/env bash
# knock.t - 200 clients at a time send signals, answer inputs and call back: early, late,
# twice, several the same at once, what is wrong, with wrong tokens, to nobody, to instances
# that end or are aborted. Meanwhile the server is killed, or a driver, or half of the
# instances are aborted; in the end the synchronous standby takes over amid such an abort.
# Each act is accepted and has its effect once, or is refused with its reason; what was
# acknowledged is there.
. "$(dirname "$0")/lib.sh"

campaign knock 4 60 "$@"
[ "$FAULTS" -ge 4 ] || FAULTS=4 # one of each sort: reasons for refusals depend on them
CLIENTS=200
FAILOVERS=$((FAULTS / 4)) # they come last: before, the server is a child of ours
PAIR_SETTINGS=('max_connections = 260')
pair_world
server_adopt
wf-console install "$CHAOS/data/knock.wf" >"$WORK/console.log"
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --file="$CHAOS/data/knock.sql"
drivers_begin
printf '%s\n' '\set seed random(0, 1000000000)' 'select chaos.knock(:run, :client_id, :seed)' \
    >"$WORK/knock.sql"
mkdir "$WORK/acks"

# others_come: instances that wait.
others_come() {
    sql "select count(*)
           from (select w.name, jsonb_agg(w.params) as params
                   from (values ('knock', '{\"n\": 8}'::jsonb), ('door', '{}'),
                                ('ask', '{\"n\": 8}'), ('call', '{\"n\": 4}')) w (name, params)
                  cross join generate_series(1, 20)
                  group by w.name) w
          cross join lateral wf.start_many(w.name, w.params)" >/dev/null
}

# they_knock: who is cut off comes again, to whichever host is the primary, and does less.
# What they were told to be done is in files of each call; a line begins with the client.
they_knock() {
    local run=$((fault * 1000)) count=6 deadline=$((SECONDS + 100))
    export PGHOST=$WORK/pg,$WORK/peer PGTARGETSESSIONATTRS=read-write PGCONNECT_TIMEOUT=2
    until pgbench --no-vacuum --client="$CLIENTS" --jobs=2 --transactions="$count" \
        --define=run="$run" --random-seed=$((SEED * 1000000 + run)) \
        --log --log-prefix="$WORK/acks/$run" \
        --file="$WORK/knock.sql" >>"$WORK/pgbench.log" 2>&1 ||
        [ "$SECONDS" -ge "$deadline" ]; do
        run=$((run + 1)) count=3
        sleep 0.1
    done
}

# acks_load: what was acknowledged.
acks_load() {
    awk '{ sub(".*/", "", FILENAME); split(FILENAME, run, "."); n[run[1] "\t" $1]++ }
        END { for (k in n) print k "\t" n[k] }' "$WORK"/acks/* |
        sql 'copy chaos.ack from stdin'
}

# look: whether somebody is overlooked.
look() {
    sql 'insert into chaos.overlooked select * from chaos.overlooks'
}

# acts: how many there are.
acts() {
    sql 'select count(*) from chaos.act'
}

# how_many FROM: how many rows there are of it.
how_many() {
    sql "select count(*) from chaos.$1"
}

abort_half() {
    sql "select count(*) from wf.abort(jsonb_build_object('instance',
             (select jsonb_agg(i.id) from wf.instance i where i.id % 2 = 0)), 'knock')" >/dev/null
}

# primary_dies: all of it; the standby takes its place, and gets one itself if it is to die, too.
primary_dies() {
    local last since
    last=$(sql 'select max(id) from chaos.act') since=$EPOCHREALTIME
    pg_kill "$PRIMARY"
    wait "$(pid_of postmaster)" 2>/dev/null || true
    fail_over
    wait_sql 60 "select max(id) > $last from chaos.act" || true
    ms_since "$since" >>"$WORK/failovers"
    [ $((fault + 1)) -eq "$FAULTS" ] || pg_standby_start "$STANDBY" "$PRIMARY"
}

within=0
for ((fault = 0; fault < FAULTS; fault++)); do
    kind=$((fault % 3))
    if [ "$fault" -ge $((FAULTS - FAILOVERS)) ]; then
        kind=failover
        pg_synchronous "$PRIMARY" "$STANDBY"
    fi
    others_come
    before=$(acts)
    spawn knockers they_knock
    wait_sql 60 "select count(*) > $before + 50 from chaos.act" || true
    nap 300
    ! is_gone "$(pid_of knockers)" || diag 'a client had gone before the fault'
    is_gone "$(pid_of knockers)" || within=$((within + 1))
    case $kind in
    0)
        since=$EPOCHREALTIME
        server_kill
        server_writes "$since" >>"$WORK/recovery"
        was_away "$since"
        ;;
    1)
        driver_kill one
        driver_again one
        ;;
    2) abort_half ;;
    failover)
        abort_half
        primary_dies
        ;;
    esac
    wait_until 120 is_gone "$(pid_of knockers)"
    stop knockers || true
    look
done

# Whoever still waits then gets what he waits for, once what was sent is taken.
deadline=$((SECONDS + 180))
until [ "$(sql "select not exists (select from wf.instance i where i.state in ('RUNNING', 'ABORTING'))")" = t ] ||
    [ "$SECONDS" -ge "$deadline" ]; do
    look
    sql "select chaos.open_all() where not exists (select from wf.work w
        where w.kind in ('signal', 'topic', 'await', 'input'))" >/dev/null
    sleep 0.2
done
is 'all end' "$(sql "select count(*) from wf.instance_v where state in ('RUNNING', 'ABORTING')")" 0
acks_load

figure faults "$FAULTS"
figure within "$within"
figure_of_times failover_ms "$WORK/failovers"
for what in signal answer token callback progress; do
    figure "${what}_accepted" "$(how_many "act where what = '$what' and answer = 'accepted'")"
    figure "${what}_refused" "$(how_many "act where what = '$what' and answer is null")"
done
figure known "$(how_many "act where answer = 'known'")"
figure taken "$(how_many "heard where how = 'taken'")"
figure kept "$(how_many "heard where how = 'kept'")"
figure early "$(how_many early)"
figure amid "$(how_many amid)"
figure acknowledged "$(sql 'select sum(count) from chaos.ack')"
is 'accepted acts have their effect once, refused acts have none' \
    "$(sql 'select * from chaos.knock_violation limit 10')" ''
is 'each reason for a refusal appeared' "$(sql 'select * from chaos.missing')" ''
is 'no other one did' "$(sql 'select * from chaos.unexpected limit 10')" ''
is 'no client met an error' "$(search grep -o 'ERROR: .*' "$WORK/pgbench.log" | sort | uniq -c | head)" ''
is 'acts of each sort were accepted' "$(sql "select string_agg(distinct what, ' ' order by what)
    from chaos.act where answer = 'accepted'")" 'answer callback progress signal token'
is 'signals and callbacks came early' "$(sql "select string_agg(distinct what, ' ' order by what)
    from chaos.early")" 'callback signal'
is 'acts came amid an abort' "$(sql "select string_agg(distinct what, ' ' order by what)
    from chaos.amid where what in ('signal', 'answer', 'callback')")" 'answer callback signal'
happened "$(how_many "heard where how = 'taken'")" 'acts were taken' 101
happened "$(how_many "heard where how = 'kept'")" 'acts are kept'
happened "$(how_many "act where answer = 'known'")" 'callbacks were known'
happened "$within" 'faults came while clients knocked'
drivers_come_back
invariants_hold I1
not_blind
drivers_hold
is 'the ledger would notice' "$(sql 'select * from chaos.knock_blind')" ''
campaign_end
