#!/usr/bin/env bash
# secrets_many.t - a thousand secrets are used by turns while requests that last
# hold another one: what they give away in the end, in pieces and in each
# spelling, is kept nowhere; and tasks without secrets are as quick as before.
. "$(dirname "$0")/lib.sh"

campaign secrets_many 1000 10000 "$@"
DRIVERS=(one)
ROUND=1000 # secrets, each with another value in the next round
CANARY='C4N4RY/Kx7b+Q9z"PwL\vT4mYc~é8RnE/hJ2s=Ua6G&dF'
SECRETS=$(private_dir)
GATE=$WORK/gate
HEARD_KEYS=$WORK/heard_keys # what the service was told

# put NAME VALUE: a secret.
put() {
    (umask 077 && printf '%s\n' "$2" >"$SECRETS/$1")
}

# turns_workflows: ten of them, which use the secrets one after the other.
turns_workflows() {
    awk -v n="$ROUND" 'BEGIN {
        for (w = 0; w < 10; w++) {
            printf "workflow turns_%d(base: string) {\n", w
            for (i = w; i < n; i += 10)
                printf "  http.Request(url = \"${base}/turn\", " \
                    "headers = {\"x-key\": secret(\"turn-%d\")})%s\n", i,
                    i + 10 < n ? " ;" : ""
            print "}"
        }
    }'
}

# turns_take COUNT: so many secrets are used, while the canary's requests last.
turns_take() {
    local i left=$1
    while [ "$left" -gt 0 ]; do
        round=$((round + 1))
        for ((i = 0; i < ROUND; i++)); do
            put "turn-$i" "T0K3N-$round-$i-$SEED$RANDOM$RANDOM"
        done
        for ((i = 0; i < 10; i++)); do
            sql "select wf.start('turns_$i', jsonb_build_object('base', '$SERVICE'))"
        done >/dev/null
        load load 1000 base "$BASE" ms 8 n 20
        wait_sql 300 "select not exists (select from wf.instance_v
            where workflow like 'turns%' and state = 'RUNNING')"
        left=$((left - ROUND))
    done
}

# page_put: what tasks without a secret ask for, 32 KiB of JSON.
page_put() {
    perl -e 'print "[", join(",\n", map {
        qq({"id": $_, "name": "item $_", "tags": ["a", "b"]}) } 1 .. 650), "]\n"' \
        >"$WORK/nginx/page.json"
}

# others_run: such tasks, a few hundred three times. RATE is how many of them a
# second had, in the best of these, and COST the driver's CPU for each, in ms. The
# rate is only a figure, since it depends on what else the machine does meanwhile.
others_run() {
    local i id n=300 cpu
    cpu=$(driver_cpu_ms)
    for i in 1 2 3; do
        id=$(sql "select wf.start('pages', jsonb_build_object('base', $BASE, 'n', $n))")
        printf '%s\n' "$id" >>"$HEARD"
        wait_sql 120 "select state = 'END' from wf.instance_v where instance_id = $id"
        sql "select round($n / extract(epoch from max(e.at) - min(e.at)))
               from wf.event e where e.instance_id = $id and e.process_id is not null"
    done >"$WORK/rates"
    RATE=$(sort -n "$WORK/rates" | tail -n 1)
    COST=$(awk "BEGIN { printf \"%.2f\", ($(driver_cpu_ms) - $cpu) / (3 * $n) }")
}

# driver_cpu_ms: that the driver has used.
driver_cpu_ms() {
    sed 's/.*) //' "/proc/$(pid_of driver-one)/stat" |
        awk -v ticks="$(getconf CLK_TCK)" '{ print ($12 + $13) * 1000 / ticks }'
}

# lasting COUNT: so many of the canary's requests are under way.
lasting() {
    sql_is_true "select count(*) = $1 from wf.task_v
        where instance_id = $lasting and state = 'START_REQUESTED'"
}

# no_children: the client of ssh that the driver keeps for a while is gone.
no_children() {
    [ -z "$(pgrep --parent "$(pid_of driver-one)")" ]
}

# shown COMMAND…: its output, in which runs of backslashes are one.
shown() {
    "$@" 2>&1 | sed 's/\\\\*/\\/g'
}

# nowhere NAME COMMAND…: its output has no piece of a secret in it.
nowhere() {
    local name=$1 count
    shift
    shown "$@" >"$WORK/shown"
    ok "there is something in $name" test -s "$WORK/shown"
    count=$(grep --text --count --fixed-strings --file="$WORK/pieces" \
        "$WORK/shown" || true)
    found=$((found + count))
    is "no secret is in $name" "$(search grep --text --fixed-strings --only-matching \
        --file="$WORK/pieces" "$WORK/shown" | sort | uniq -c | head -n 5)" ''
}

put canary "$CANARY"
{
    perl -I "$CHAOS" -MSpelling=pieces -e 'print "$_\n" for pieces($ARGV[0])' \
        "$CANARY"
    echo 'T0K3N-'
} >"$WORK/pieces"
install -m 755 "$CHAOS/blabber" "$WORK/blabber"
install -m 644 "$CHAOS/Spelling.pm" "$WORK/Spelling.pm"
turns_workflows >"$WORK/turns.wf"
sshd_start
world 'log_statement = all' 'log_min_messages = debug1'
page_put
wf-console install "$CHAOS/data/blab.wf" "$WORK/turns.wf" >>"$WORK/console.log"
spawn service perl "$CHAOS/blabber_service" "$WORK/port" "$GATE" "$HEARD_KEYS"
wait_until 20 test -s "$WORK/port"
SERVICE=http://127.0.0.1:$(cat "$WORK/port")
DRIVER_OPTIONS=(-o slots=16 -o poll_max_ms=200 -o heartbeat_ms=500
    -o "secrets.directory=$SECRETS" -o "secrets.grants=* * * *"
    -o "exec.programs=blabber=$WORK/blabber" -o exec.env=TOKEN
    -o "ssh.config_file=$SSH_CONFIG" -o ssh.idle_ms=1000 -o http.timeout_ms=1800000)
drivers_begin
# what is done for the first time takes longer
others_run
others_run
rate_before=$RATE cost_before=$COST

lasting=$(sql "select wf.start('blab', jsonb_build_object('base', '$SERVICE',
    'program', '$WORK/blabber', 'gate', '$GATE'))")
ok 'three requests hold the canary' wait_until 30 lasting 3
ok 'the commands have given away one half' wait_sql 60 "select count(*) = 2
    from wf.output_v where instance_id = $lasting and body like 'halves: %'"
round=0
turns_take "$FAULTS"
others_run
ok 'the commands hold the secret still' lasting 3
used=$(grep -o '^/turn .*' "$HEARD_KEYS" | sort -u | wc -l)
ok "meanwhile $used others were used" test "$used" -ge "$FAULTS"
touch "$GATE"
all_end 120
is 'each of the three has ended well' "$(sql "select string_agg(state, ' ')
    from wf.task_v where instance_id = $lasting")" 'END END END'
ok 'the service was told the canary' grep --quiet --fixed-strings --line-regexp \
    "/late $CANARY" "$HEARD_KEYS"

# what is shown in its place
is 'http: a header' "$(sql "select output #>> '{headers,x-told}' from wf.task_v
    where instance_id = $lasting and title = 'http'")" '***'
for title in exec ssh; do
    like "$title: the halves" "$(sql "select output ->> 'stdout' from wf.task_v
        where instance_id = $lasting and title = '$title'")" '^halves: \*\*\*'
done
for title in exec ssh; do
    like "$title: the halves as they came" "$(sql "
        select string_agg(o.body, '' order by o.start) from wf.output_v o
          join wf.task_v t using (instance_id, process_id)
         where o.instance_id = $lasting and t.title = '$title' and o.stream = 'stdout'")" \
        '^halves: \*\*\*'
done

found=0
nowhere 'the database' pg_dump
nowhere "the driver's log" cat "$WORK/driver-one.log"
nowhere 'the output that was streamed' wf-console log "$lasting"
nowhere 'the output of the console' wf-console -o json tree "$lasting"
nowhere "the server's log" cat "$WORK/pg/server.log"
figure I12 "$found"

figure faults "$used"
figure rate_before "$rate_before"
figure rate_after "$RATE"
ok "others take the driver $COST ms, and $cost_before without the secrets" \
    awk "BEGIN { exit !($COST <= 2 * $cost_before) }"
ledgers_figures
invariants_hold I1 I2 I3 I4 I5 I7 I8 I9
not_blind
wait_until 30 no_children || true
drivers_hold
campaign_end
