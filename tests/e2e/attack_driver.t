#!/usr/bin/env bash
# attack_driver.t - a driver's login does for itself what it may, and nothing for
# another login's driver or to the engine. `ann` and `bob` are logins of drivers.
# They call the procedures by hand, as whoever has stolen a password would.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

HTTP="'{http,builtin}'"
workspace_start pg track_functions=pl
cat >"$WORK/send.wf" <<'END'
/** A request that may not be repeated. */
workflow send() { http.Request(url = "http://127.0.0.1:9/", method = "POST") }
/** Ends at once. */
workflow quick() { lb.Log(msg = "quick") }
END
wf-console install "$WORK/send.wf" >"$WORK/console.log"
for login in ann bob eve; do
    login_create "$login" wf_driver
done
login_create nobody1
login_create oscar wf_operator

# as LOGIN SQL: what a session of that login is told, one line.
as() {
    PGUSER=$1 sql "$2" 2>&1 | head -n 1 || true
}

# register LOGIN [MORE]: the number that a driver of that login gets.
register() {
    as "$1" "select wf.register('$1', '1', $HTTP, '{}', 4${2:+, $2})"
}

# foreign NAME LOGIN SQL: refused, since the number is that of another login's driver.
foreign() {
    like "$1" "$(as "$2" "$3")" \
        "ERROR:  driver $ann was registered by login ann, and this session's login is $2"
}

# taken NUMBER LOGIN: start `send`; the driver takes its request: instance, process, token.
taken() {
    begin send >"$WORK/begun"
    as "$2" "select instance_id, process_id, token from wf.poll($1, 1) where kind = 'run'"
}

# holder TOKEN: the driver that holds the request.
holder() {
    sql "select driver_id from wf.lease where token = '$1'"
}

# report DRIVER TOKEN [EVENT]: the SQL of a report on the request of the moment.
report() {
    printf "select answer from wf.outcome(%s, '{%s}', '{%s}', '{%s}', '{%s}', array['{}'::bytea])" \
        "$1" "$instance" "$process" "$2" "${3:-response}"
}

paused() {
    sql "select state = 'PAUSED' from wf.engine_v"
}

# --- the number of another login's driver

ann=$(register ann)
bob=$(register bob)
IFS='|' read -r instance process token <<<"$(taken "$ann" ann)"
is 'ann holds a request' "$(holder "$token")" "$ann"
foreign 'poll: with the number of another login' bob "select * from wf.poll($ann, 8)"
foreign 'poll: what ann makes is handed to nobody else' eve "select * from wf.poll($ann, 0)"
foreign 'leave: of another login' bob "select wf.leave($ann)"
foreign 'heartbeat: of another login' bob "select wf.heartbeat($ann)"
foreign 'drain: of another login' bob "select wf.drain($ann)"
foreign 'register: a former of another login that is alive' bob \
    "select wf.register('bob', '1', $HTTP, '{}', 4, $ann)"
foreign 'register: with its name and its token, too' bob \
    "select wf.register('ann', '1', $HTTP, '{}', 4, $ann, '{$token}')"
foreign 'outcome: with its number and its token' bob "$(report "$ann" "$token")"
foreign 'outcome: with its number and no report, which would sign as ann' bob \
    "select * from wf.outcome($ann, '{}', '{}', '{}', '{}', '{}')"
foreign 'set role: to wf_driver' bob "set role wf_driver; select * from wf.poll($ann, 8)"
sql 'grant ann to bob'
foreign 'set role: to the other login, of which bob is a member' bob \
    "set role ann; select * from wf.poll($ann, 8)"
foreign 'set role: and leave for it' bob "set role ann; select wf.leave($ann)"
sql 'revoke ann from bob'
foreign 'a superuser is another login, too' postgres "select * from wf.poll($ann, 8)"
like 'a login without the role may not even ask' \
    "$(as nobody1 "select * from wf.poll($ann, 8)")" 'permission denied'
is 'after all that ann holds what it held' "$(holder "$token")" "$ann"
is 'ann is live after all attacks' "$(sql "select state from wf.driver where id = $ann")" live

# --- a token of another login, under one's own number

is 'outcome: a stolen token' "$(as bob "$(report "$bob" "$token")")" stale
is 'outcome: a stolen token, as an error' "$(as bob "$(report "$bob" "$token" error)")" stale
is 'outcome: a stolen token, to release it' "$(as bob "$(report "$bob" "$token" release)")" stale
is 'output: a stolen token' "$(as bob "select answer from wf.output_add('{$instance}',
    '{$process}', '{$token}', '{0}', '{4}', '{stdout}', '{fake}')")" stale
is 'output: nothing was kept' "$(sql 'select count(*) from wf.output_chunk')" 0
bob2=$(register bob "$bob, '{$token}'")
like 'register: with a stolen token bob gets a number' "$bob2" '^[0-9]+$'
is 'register: but not the request' "$(holder "$token")" "$ann"
is 'guessed tokens: of 10,000 none is right' "$(as bob "select string_agg(distinct answer, ',')
    from wf.outcome($bob2, array_fill($instance::bigint, '{10000}'),
        array_fill($process::bigint, '{10000}'),
        array(select gen_random_uuid() from generate_series(1, 10000)),
        array_fill('response'::text, '{10000}'), array_fill('{}'::bytea, '{10000}'))")" stale
is 'the task is where it was' \
    "$(sql "select state from wf.process_v where instance_id = $instance and process_id = $process")" \
    START_REQUESTED

# --- what a login may do for itself

is 'ann may set a role and work on' \
    "$(as ann "set role wf_driver; select kind from wf.poll($ann, 0) where kind in ('next', 'busy')" | grep -c .)" 1
sql 'alter role ann rename to anna'
is 'a login that was renamed is the same login' \
    "$(PGUSER=anna sql "select count(*) from wf.poll($ann, 0) where kind in ('next', 'busy')")" 1
sql 'alter role anna rename to ann'
ann2=$(register ann "$ann, '{$token}'")
is 'a driver that starts again takes its own requests over' "$(holder "$token")" "$ann2"
is 'a driver that starts again reports its former requests' "$(as ann "$(report "$ann2" "$token" error)")" 'done'
is 'a token of the past, again: it changes nothing' \
    "$(as ann "$(report "$ann2" "$token" response)")" already
is 'the task has failed once and no more' "$(sql "select count(*) from wf.event
    where instance_id = $instance and process_id = $process and state = 'FAILED'
      and event <> 'late'")" 1
sql "update wf.driver set state = 'lost', ended_at = now() where id = $ann2"
ann=$ann2
foreign 'register: a former that was given up, of another login' bob \
    "select wf.register('bob', '1', $HTTP, '{}', 4, $ann)"
foreign 'poll: with a number that was given up, of another login' bob "select * from wf.poll($ann, 1)"
ann=$(register ann "$ann2")
like 'operators drain any driver' "$(as oscar "select 'drained' from wf.drain($ann)")" drained
is 'the drained driver is draining' "$(sql "select state from wf.driver where id = $ann")" draining
bob=$(register bob)
is 'leave: a number that there is not' "$(as bob 'select wf.leave(999999)')" ''
like 'outcome: a number that there is not yet' \
    "$(as bob "select * from wf.outcome(999999, '{}', '{}', '{}', '{}', '{}')")" \
    'driver 999999 is not registered'
sql 'drop role eve'
login_create eve wf_driver
eve=$(register eve)
sql 'alter role eve rename to eva'
login_create eve wf_driver
like 'a new login of the old name is another login' "$(as eve "select wf.leave($eve)")" \
    'was registered by login eva, and this session.s login is eve'

# --- marks: what a driver says that it has seen

# unmarked NAME MARK [SQL BEFORE]: it is refused, and the engine goes on.
unmarked() {
    like "mark: $1" "$(as bob "${3:-} select wf.register('b', '1', $HTTP, '{}', 4,
        p_marks => array[$2])")" 'ERROR:  .* is not a mark of this workspace'
    is "mark: $1: the engine goes on" "$(paused)" f
}
begin quick >"$WORK/begun"
mark=$(as bob "select mark from wf.poll($bob, 8) where mark is not null")
like 'a poll gives a mark' "$mark" '^[0-9]+@[0-9.]+#[0-9a-f]{32}$'
like 'mark: as it was given' "$(register bob "p_marks => '{$mark}'")" '^[0-9]+$'
like 'mark: another login may bring it, too' "$(register ann "p_marks => '{$mark}'")" '^[0-9]+$'
is 'mark: it is there' "$(paused)" f
unmarked 'forged' "'99999@1.000000'"
unmarked 'forged, of tomorrow' "'99999999@' || extract(epoch from now() + interval '1 day')"
unmarked 'with the seal of another' "'9' || '$mark'"
unmarked 'with half a seal' "left('$mark', -16)"
unmarked 'with a seal that is guessed' "split_part('$mark', '#', 1) || '#' || repeat('0', 32)"
unmarked 'null' 'null'
unmarked 'with a quote' "'''; drop table wf.seal; --'"
begin quick >"$WORK/begun"
mine=$(as bob "set wf.mark = '99999999@1900000000.000000'; set wf.turn = '1';
    select coalesce(max(mark), '') from wf.poll($(register bob), 0)")
unmarked 'a mark that the session has set itself' "'$mine'"
like 'the key: a driver may not read it' "$(as bob 'select key from wf.seal')" 'permission denied'
like 'the key: nor make a seal' "$(as bob "select wf._sealed('1@1.000000', gen_random_uuid())")" \
    'permission denied'
lost=$(sql "select wf._sealed('99999999@' || extract(epoch from clock_timestamp())::numeric(20, 6), key)
    from wf.seal")
register bob "p_marks => '{$lost}'" >"$WORK/out"
is 'mark: one of a history that is lost pauses the engine' "$(paused)" t
wf-console engine resume --reason 'looked at it' >"$WORK/console.log"
register bob "p_marks => '{$lost}'" >"$WORK/out"
is 'mark: given again when somebody has looked it does not' "$(paused)" f

# --- wf.restored: what the administrator of the server says

# unheard NAME COMMAND…: it registers a driver, and the engine goes on.
unheard() {
    local name=$1
    shift
    like "wf.restored: $name: it registers" "$("$@" 2>&1 | tail -n 1)" '^[0-9]+$'
    is "wf.restored: $name: the engine goes on" "$(paused)" f
}
REGISTER="select wf.register('bob', '1', $HTTP, '{}', 4)"
unheard 'set by a session' as bob "set wf.restored = 'x'; $REGISTER"
unheard 'set for a transaction' as bob "set local wf.restored = 'y'; $REGISTER"
unheard 'among the options of a connection' env PGOPTIONS="-c wf.restored=z" PGUSER=bob \
    psql --no-psqlrc -qAt --command="$REGISTER"
sql "alter role bob set wf.restored = 'w'" # as a login may do for itself before PostgreSQL 15
unheard 'of the login' as bob "$REGISTER"
like 'wf.restored: a driver may not set it for the database' \
    "$(as bob "alter database wf set wf.restored = 'v'")" 'must be owner'
sql "alter database wf set wf.restored = 'the backup of noon'"
as bob "$REGISTER" >"$WORK/out"
is 'wf.restored: set for the database it pauses the engine' "$(sql 'select reason from wf.engine_v')" \
    "a backup was restored: the server says wf.restored = 'the backup of noon'"
wf-console engine resume --reason 'looked at it' >"$WORK/console.log"
sql 'alter role bob reset wf.restored'

# --- queues and capabilities that are granted

cat >"$WORK/secret.wf" <<'END'
/** A task in a queue that only some may serve, and one that needs what only some have. */
workflow payroll() { lb.Log(msg = "payroll") with queue("payroll") }
workflow rare() { lb.Log(msg = "rare") with requires(["gpu"]) }
END
wf-console install "$WORK/secret.wf" >"$WORK/console.log"
ok 'an administrator grants a queue and a capability to ann' \
    wf-console driver grant ann payroll gpu
like 'granted: an operator may not' "$(as oscar "select wf.driver_grant_set('bob', '{payroll}')")" 'permission denied'
like 'granted: a driver may not grant itself anything' \
    "$(as bob "select wf.driver_grant_set('bob', '{payroll}')")" 'permission denied'
like 'granted: nor take it back from another' \
    "$(as bob "select wf.driver_grant_remove('ann')")" 'permission denied'

# asks LOGIN QUEUES [CAPABILITIES]: what a driver that asks for them is told.
asks() {
    PGUSER=$1 sql "select wf.register('$1', '1', $HTTP, '$2', 4, p_capabilities => '${3:-{\}}')" 2>&1 || true
}
told=$(asks bob '{default,payroll}')
like 'granted: bob may not ask for the queue' "$told" 'ERROR:  login bob may not serve the queues payroll'
like 'granted: he is told what he asked for and may have' "$told" \
    'It asked for: default, payroll. It may serve all but those that are granted to others: payroll'
like 'granted: nor for the capability' "$(asks bob '{}' '{gpu}')" 'login bob may not serve the capabilities gpu'
told=$(asks ann '{payroll,default}')
like 'granted: ann may not ask for more than she has' "$told" 'login ann may not serve the queues default'
like 'granted: and is told what she has' "$told" 'It may serve only: payroll'
like 'granted: a name of an administrator is not enough' "$(asks bob '{payroll}' '{wf_admin}')" 'may not serve'
bob=$(asks bob '{}')
wild=$(asks bob '{%,*,pay%,p_yroll,PAYROLL,"payroll "}')
like 'granted: a queue whose name looks like a pattern is a queue' "$wild" '^[0-9]+$'
payroll=$(begin payroll)
rare=$(begin rare)
for driver in "$bob" "$wild"; do
    is "granted: driver $driver of bob is handed nothing of it" "$(as bob "select count(*)
        from wf.poll($driver, 8, 8) where kind = 'run' and instance_id in ($payroll, $rare)")" 0
done
is 'granted: nor with a role set' "$(as bob "set role wf_driver; select count(*)
    from wf.poll($bob, 8, 8) where kind = 'run' and instance_id in ($payroll, $rare)")" 0
ann=$(asks ann '{}' '{gpu}')
is 'granted: ann, who asks for every queue, gets that queue' "$(as ann "select count(*)
    from wf.poll($ann, 1, 1) where kind = 'run' and instance_id = $payroll")" 1
is 'granted: and nothing of others, whatever it requires' "$(as ann "select count(*)
    from wf.poll($ann, 8, 8) where kind = 'run' and instance_id = $rare")" 0
second=$(begin payroll)
sql 'grant ann to bob'
sql "update wf.sign_of_life set seen_at = seen_at - interval '2 s'" # a second later
is 'granted: a member of the login has what it has' "$(as bob "select count(*)
    from wf.poll($bob, 1, 1) where kind = 'run' and instance_id = $second")" 1
sql 'revoke ann from bob'
third=$(begin payroll)
sql "update wf.sign_of_life set seen_at = seen_at - interval '2 s'"
as bob "select wf.heartbeat($bob)" >"$WORK/out"
is 'granted: when he is no member any more he has not, whoever says that he lives' \
    "$(as bob "select count(*) from wf.poll($bob, 8, 8) where kind = 'run' and instance_id = $third")" 0
ok 'an administrator takes it back' wf-console driver revoke ann
ok 'an administrator grants the queue to bob' wf-console driver grant bob payroll none
sql "update wf.sign_of_life set seen_at = seen_at - interval '2 s'"
is 'revoked: the next poll hands ann nothing of it' "$(as ann "select count(*)
    from wf.poll($ann, 8, 8) where kind = 'run' and instance_id = $third")" 0
is 'revoked: but what is in no queue of others' "$(sql "select count(*)
    from wf.lease l where l.driver_id = $ann and l.instance_id = $rare")" 1
like 'revoked: she may not register for it again' "$(asks ann '{payroll}')" 'login ann may not serve the queues payroll'
as bob "select wf.leave($bob); select wf.leave($wild)" >"$WORK/out"
as ann "select wf.leave($ann)" >"$WORK/out"
wf-console driver revoke bob >"$WORK/console.log"

# --- a driver that runs

driver_start one
number=$(sql "select max(id) from wf.driver where name = 'one'")
like 'another login cannot take the place of a driver that runs' \
    "$(register bob "$number")" "driver $number was registered by login wf_driver_one"
id=$(begin quick)
ok 'the driver works on after the attempt' ended "$id"
sql "update wf.driver set login = 'bob'::regrole where id = $number"
ok 'if its number is another login'\''s it gets a new one' wait_sql 20 "select exists (select
    from wf.driver where name = 'one' and state = 'live' and id > $number
     and login = 'wf_driver_one'::regrole)"
like 'the driver log says which login took its number' "$(cat "$WORK/driver-one.log")" "driver $number was registered by login bob"
id=$(begin quick)
ok 'the driver works on under another number' ended "$id"
sql 'revoke wf_driver from wf_driver_one'
ok 'a driver that loses its role is told what is missing' wait_until 20 grep -q \
    'permission denied .* hint: Grant the role wf_driver' "$WORK/driver-one.log"
id=$(begin quick)
is 'a driver without its role gets nothing' "$(sql "select count(*) from wf.lease l join wf.driver d on d.id = l.driver_id
    where d.name = 'one'")" 0
sql 'grant wf_driver to wf_driver_one'
ok 'with the role again it works on' ended "$id" 60

# --- a flood of NOTIFY, of a login without any role

# polls: how many there were, when what sessions have counted is all there: they
# tell it about once a second.
polls() {
    wait_sql 20 "select max(s.seen_at) > clock_timestamp() - interval '1 s'
        and max(s.seen_at) > '$1'::timestamptz + interval '3 s' from wf.sign_of_life s"
    sql "select calls from pg_stat_user_functions where funcname = 'poll' and schemaname = 'wf'"
}
before=$(polls "$(sql 'select now()')")
since=$(sql 'select clock_timestamp()')
# one at a time, so that the driver sees each
printf 'notify wf_ready; select pg_sleep(0.002);%.0s\n' {1..2000} |
    PGUSER=nobody1 psql --no-psqlrc --quiet >"$WORK/out"
until=$(sql 'select clock_timestamp()')
after=$(polls "$until")
seconds=$(sql "select ceil(extract(epoch from '$until'::timestamptz - '$since'))")
count=$((after - before))
# besides what the flood causes the driver polls a few times a second by itself
ok "2,000 notifies in $seconds s cost at most 100 polls, and 100 a second: $count" \
    test "$count" -le $((100 + 100 * seconds + 60))
id=$(begin quick)
ok 'the bell wakes the driver as before' ended "$id"
driver_stop one || true
sound
done_testing
