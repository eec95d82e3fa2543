#!/usr/bin/env bash
# attack_history.t - logins with every role try to have done something that
# nobody can trace to them: under another name, at another time, without a trace.
. "$(dirname "$0")/../lib.sh"

cat >"$WORK/waits.wf" <<'END'
workflow waits() { lb.Log(msg = "nobody does this") with queue("nobody") }
END

workspace_start pg
for role in viewer operator author app admin driver; do
    login_create "m_$role" "wf_$role"
done
sql 'grant wf_viewer, wf_app to m_operator, m_admin'
ok 'a workflow is installed' wf-console install "$WORK/waits.wf"

# call USER QUERY: what it answers, or the error.
call() {
    PGOPTIONS='-c lock_timeout=5s -c statement_timeout=30s' \
        psql --no-psqlrc --tuples-only --no-align --quiet --username="$1" \
        --set=VERBOSITY=terse --command="$2" 2>&1 || true
}

# begun: the number of a new instance.
begun() {
    sql "select wf.start('waits')"
}

# history INSTANCE: who has made its last move, and from where.
history() {
    sql "select login, role, actor, client from wf.event_v
          where instance_id = $1 order by seq desc limit 1"
}

# traced: who has done what according to the last row of the audit.
traced() {
    sql 'select login, role, verb, reason from wf.audit order by id desc limit 1'
}

# dated: the clock of the last event and of the last row of the audit is the server's.
dated() {
    sql "select abs(extract(epoch from (select e.at from wf.event_v e
                                         where e.instance_id = $1
                                         order by e.seq desc limit 1) - now())) < 60
            and abs(extract(epoch from (select e.server_at from wf.event_v e
                                         where e.instance_id = $1
                                         order by e.seq desc limit 1) - now())) < 60
            and abs(extract(epoch from (select a.at from wf.audit a
                                         order by a.id desc limit 1) - now())) < 60"
}

# --- the three of the review: another name for an abort, for a pause, another time

one=$(begun)
call m_operator "set role wf_operator;
    select * from wf.abort('{\"instance\": $one}', 'set role')" >/dev/null
is 'abort after SET ROLE: history has the login, the role and the socket' \
    "$(history "$one")" 'm_operator|wf_operator|m_operator as wf_operator|local'
is 'abort after SET ROLE: so has the audit' "$(traced)" \
    'm_operator|wf_operator|abort|set role'

call m_operator "set role wf_operator; select * from wf.engine_pause('set role')" \
    >/dev/null
is 'engine_pause after SET ROLE: history has the login, the role and the socket' \
    "$(sql 'select actor, client from wf.engine_v')" 'm_operator as wf_operator|local'
is 'engine_pause after SET ROLE: so has the audit' "$(traced)" \
    'm_operator|wf_operator|engine pause|set role'
call m_operator "select * from wf.engine_resume('done')" >/dev/null

one=$(begun)
call m_admin "set wf.now = '2001-01-01';
    select * from wf.abort('{\"instance\": $one}', 'set wf.now')" >/dev/null
is 'an admin sets wf.now: history is dated by the server' "$(dated "$one")" t

# --- another name

is 'SET SESSION AUTHORIZATION is refused to every role' "$(
    for role in viewer operator author app admin driver; do
        call "m_$role" 'set session authorization postgres' |
            grep -c 'permission denied'
    done | sort | uniq -c | tr -s ' ')" ' 6 1'

is 'SET SESSION AUTHORIZATION to oneself changes nothing' "$(
    one=$(begun)
    call m_operator "set session authorization m_operator; set role wf_operator;
        select * from wf.suspend('{\"instance\": $one}')" >/dev/null
    history "$one")" 'm_operator|wf_operator|m_operator as wf_operator|local'

one=$(begun)
call m_operator "select set_config('role', 'wf_viewer', false);
    select set_config('role', 'wf_operator', false);
    select * from wf.suspend('{\"instance\": $one}', 'set_config')" >/dev/null
is 'set_config(role): the login is kept' "$(history "$one")" \
    'm_operator|wf_operator|m_operator as wf_operator|local'

one=$(begun)
call m_operator "begin; select * from wf.suspend('{\"instance\": $one}', 'as myself');
    set role wf_viewer; set role wf_operator;
    select * from wf.resume('{\"instance\": $one}', 'as a role'); commit" >/dev/null
is 'SET ROLE midway through a transaction: each move has its own' \
    "$(sql "select string_agg(reason || ': ' || actor, ', ' order by seq)
              from wf.event_v where instance_id = $one and reason is not null")" \
    'as myself: m_operator, as a role: m_operator as wf_operator'

sql 'create schema own; grant create, usage on schema own to m_operator;
     grant usage on schema own to public'
call m_operator "create function own.lent(p_target jsonb) returns text
    language sql security definer as
    'select a.answer from wf.suspend(p_target, ''lent'') a'" >/dev/null
one=$(begun)
call m_viewer "select own.lent('{\"instance\": $one}')" >/dev/null
is 'a function that runs with the rights of another: the login of the caller is kept' \
    "$(history "$one")" 'm_viewer|m_viewer|m_viewer|local'

one=$(begun)
PGAPPNAME=postgres call m_operator "set application_name = 'm_admin';
    select * from wf.suspend('{\"instance\": $one}', 'application_name')" >/dev/null
is 'a lying application_name: it stands nowhere' \
    "$(traced)$(sql "select count(*) from wf.audit a
        where a.verb = 'suspend' and a::text like '%m_admin%'")" \
    'm_operator|m_operator|suspend|application_name0'

one=$(begun)
call m_app "set wf.reason = 'the director has approved it';
    select wf.start('waits')" >/dev/null
call m_app "select set_config('wf.reason', repeat('x', 1000000), false);
    select wf.start('waits')" >/dev/null
is 'a reason that no verb was given: a start has none, however long' \
    "$(sql "select max(length(reason)) from wf.event where event = 'start'
               and instance_id > $one")" ''

# --- another time

one=$(begun)
call m_admin "begin; set local wf.now = '2001-01-01';
    select * from wf.abort('{\"instance\": $one}', 'set local'); commit" >/dev/null
is 'SET LOCAL wf.now: history is dated by the server' "$(dated "$one")" t

one=$(begun)
call m_admin "alter role m_admin set wf.now = '2001-01-01'" >/dev/null
call m_admin "select * from wf.abort('{\"instance\": $one}', 'alter role')" >/dev/null
is 'ALTER ROLE SET wf.now: history is dated by the server' "$(dated "$one")" t
sql 'alter role m_admin reset wf.now'

one=$(begun)
sql "alter database $PGDATABASE set wf.now = '2001-01-01'"
call m_admin "select * from wf.abort('{\"instance\": $one}', 'alter database')" \
    >/dev/null
is 'ALTER DATABASE SET wf.now: history is dated by the server' "$(dated "$one")" t
sql "alter database $PGDATABASE reset wf.now"

one=$(begun)
PGOPTIONS="-c wf.now=2001-01-01" psql --no-psqlrc --quiet --username=m_admin \
    --command="select * from wf.abort('{\"instance\": $one}', 'PGOPTIONS')" >/dev/null
is 'PGOPTIONS with wf.now: history is dated by the server' "$(dated "$one")" t

pg_set pg "wf.now = '2001-01-01'"
wait_sql 20 "select current_setting('wf.now', true) = '2001-01-01'"
one=$(begun)
call m_operator "select * from wf.abort('{\"instance\": $one}', 'postgresql.conf')" \
    >/dev/null
is 'wf.now in postgresql.conf: history is dated by the server' "$(dated "$one")" t
sql "select * from wf.abort('{\"instance\": $(begun)}')" >/dev/null
is 'wf.now in postgresql.conf: for a superuser, too' "$(dated "$((one + 1))")" t
pg_set pg "wf.now = ''"
wait_sql 20 "select current_setting('wf.now', true) = ''"

like 'an admin allows it: setting_set refuses' \
    "$(call m_admin "select wf.setting_set('test_clock', 1)")" \
    'setting test_clock cannot be changed'
is 'an admin updates the table of settings: refused to every role' "$(
    for role in viewer operator author app admin driver; do
        call "m_$role" "update wf.setting set value = '1' where name = 'test_clock'" |
            grep -c 'permission denied'
    done | sort | uniq -c | tr -s ' ')" ' 6 1'

one=$(begun)
sql "update wf.setting set value = '1' where name = 'test_clock'"
is 'the owner allows it: that is in the audit' "$(sql "select verb, arguments
    from wf.audit order by id desc limit 1")" \
    'setting set|{"was": "0", "value": "1", "setting": "test_clock"}'
call m_admin "set wf.now = '2001-01-01';
    select * from wf.abort('{\"instance\": $one}', 'allowed')" >/dev/null
is 'the history still has the clock of the server beside the other' \
    "$(sql "select at < '2001-01-02', server_at > now() - interval '1 minute'
              from wf.event_v where instance_id = $one order by seq desc limit 1")" 't|t'
sql "update wf.setting set value = '0' where name = 'test_clock'"

# --- without a trace

before=$(sql 'select count(*) from wf.audit')
for table in event txn audit audit_head engine_event purge; do
    for act in "delete from wf.$table" "truncate wf.$table" \
        "insert into wf.$table default values" \
        "update wf.$table set $(sql "select a.attname from pg_attribute a
            where a.attrelid = 'wf.$table'::regclass and a.attnum > 0
              and a.attidentity = '' limit 1") = null" \
        "alter table wf.$table disable trigger all" "drop table wf.$table"; do
        for role in viewer operator author app admin driver; do
            printf '%s: %s\n' "$table" "$(call "m_$role" "$act" |
                grep -cE 'permission denied|must be owner')"
        done
    done
done | sort | uniq -c | tr -s ' ' >"$WORK/denied"
is 'delete, update, truncate, insert, drop of what tells of the past: refused to every role' \
    "$(cat "$WORK/denied")" "$(printf ' 36 %s: 1\n' audit audit_head engine_event \
        event purge txn)"
is 'nothing of it has gone' "$(sql 'select count(*) from wf.audit')" "$before"
is 'the procedure that purges the audit: refused to every role' "$(
    for role in viewer operator author app admin driver; do
        call "m_$role" "select wf._audit_purge(now(), 'mine')" |
            grep -c 'permission denied'
    done | sort | uniq -c | tr -s ' ')" ' 6 1'
is 'the procedure that writes it: refused to every role' "$(
    for role in viewer operator author app admin driver; do
        call "m_$role" "select wf._audit('abort', null)" | grep -c 'permission denied'
    done | sort | uniq -c | tr -s ' ')" ' 6 1'
is 'only an admin reads it' "$(
    for role in viewer operator author app driver admin; do
        call "m_$role" 'select count(*) > 0 from wf.audit_list()' |
            sed 's/ERROR: *permission denied.*/no/'
    done | tr '\n' ' ')" 'no no no no no t '

one=$(begun)
call m_operator "begin; select * from wf.abort('{\"instance\": $one}', 'rolled back');
    rollback" >/dev/null
call m_operator "begin; savepoint s; select * from wf.suspend('{\"instance\": $one}');
    rollback to s; select * from wf.resume('{\"instance\": $one}', 'after'); commit" \
    >/dev/null
is 'a verb that is rolled back leaves no row' "$(traced)|$(sql "select count(*)
    from wf.audit where reason = 'rolled back'")" 'm_operator|m_operator|resume|after|0'
sql 'select wf.tick()' >/dev/null
is 'the number of a rolled back row is missed by nobody' "$(sql 'select * from wf.fsck()')" ''
is 'every row has a number, without gaps' "$(sql 'select count(*) = max(number),
    count(*) = count(number), min(number) from wf.audit')" 't|t|1'

is 'every verb on nothing but what is refused is a row, too' "$(
    call m_operator "select answer from wf.abort('{\"instance\": [$((one - 1)), 999999]}', 'vain')" |
        sort -u
    sql 'select verb, targets, refused from wf.audit order by id desc limit 1')" \
    'refused
abort|0|2'

like 'a huge reason is refused' "$(call m_operator "select * from
    wf.abort('{\"instance\": $one}', repeat('x', 1000000))")" \
    'the reason has 1000000 bytes; at most 4000'
call m_operator "select count(*) from wf.abort(jsonb_build_object('instance',
    (select jsonb_agg(g) from generate_series($one, $one + 50000) g)), 'a huge target')" \
    >/dev/null
is 'a huge target is bounded, and counted' "$(sql "select length(arguments::text) < 5000,
    targets, refused, arguments::text ~ '\"bytes\"' from wf.audit order by id desc limit 1")" \
    't|1|50000|t'

sql "select wf.setting_set('reason_required', 1)" >/dev/null
one=$(begun)
for reason in null "''" "e' \\t\\n'"; do
    call m_operator "select * from wf.abort('{\"instance\": $one}', $reason)"
done >"$WORK/reasons"
is 'no reason, an empty one, one of blanks, where the workspace wants one: refused' \
    "$(grep -c 'abort needs a reason' "$WORK/reasons")" 3
like 'a pause without one, too' "$(call m_operator 'select * from wf.engine_pause()')" \
    'engine pause needs a reason'
call m_operator "select * from wf.abort('{\"instance\": $one}', 'as agreed')" >/dev/null
is 'with a reason it is done' "$(traced)" 'm_operator|m_operator|abort|as agreed'
sql "select wf.setting_set('reason_required', 0)" >/dev/null

one=$(begun)
call m_operator "select * from wf.suspend('{\"instance\": $one}',
    e'\\e[2J\\e]0;x\\a\\u202etxt\\nm_admin aborted it')" >/dev/null
is 'control characters of a reason reach no terminal' \
    "$(wf-console audit --limit 1 | LC_ALL=C tr -d '\n -~' | wc -c)" 0
is 'control characters of a reason make no second row' "$(wf-console audit --limit 1 | wc -l)" 2

one=$(begun)
sql "select * from wf.cancel('{\"instance\": $one}')" >/dev/null
call m_operator "select * from wf.resolve('{\"instance\": $one}',
    '{\"password\": \"hunter2\"}', 'an output with a secret')" >/dev/null
is 'an output that an operator gives is not in the audit, only its size' \
    "$(sql "select arguments ->> 'output_bytes' from wf.audit order by id desc limit 1")|$(
        sql "select count(*) from wf.audit a where a::text like '%hunter2%'")" '23|0'

# --- a stranger's open transaction

one=$(begun)
two=$(begun)
spawn open psql --no-psqlrc --quiet --username=m_operator --command="begin;
    select * from wf.suspend('{\"instance\": $one}', 'left open')" \
    --command='select pg_sleep(600)'
wait_sql 30 "select exists (select from pg_stat_activity
    where usename = 'm_operator' and wait_event = 'PgSleep')"
call m_operator "select * from wf.suspend('{\"instance\": $two}', 'meanwhile')" \
    >/dev/null
is 'an open transaction of an operator holds up no verb of another' "$(traced)" \
    'm_operator|m_operator|suspend|meanwhile'
call m_admin 'select wf.tick()' >/dev/null
is 'an open transaction of an operator holds up no number' "$(sql "select number = (select h.number from wf.audit_head h)
    from wf.audit where reason = 'meanwhile'")" t
sql "select pg_terminate_backend(pid) from pg_stat_activity
      where usename = 'm_operator'" >/dev/null
stop open 2>/dev/null || true

# --- by whoever owns the tables

wait_until 30 database_clone wf kept
# forged NAME STATEMENT: fsck says that something was done.
forged() {
    wait_until 30 database_clone kept forged
    sql "$2" --dbname=forged
    like "$1" "$(sql 'select check_name from wf.fsck()' --dbname=forged)" "$3"
    dropdb --force forged
}
is 'a copy is sound' "$(sql 'select * from wf.fsck()' --dbname=kept)" ''
forged 'the owner changes a reason: fsck says so' \
    "update wf.audit set reason = 'another' where number = 3" 'audit: a row was changed'
forged 'the owner changes who it was: fsck says so' \
    "update wf.audit set login = 'm_viewer' where number = 4" 'audit: a row was changed'
forged 'the owner deletes a row: fsck says so' \
    'delete from wf.audit where number = 5' 'audit: rows are missing'
forged 'the owner deletes the first rows: fsck says so' \
    'delete from wf.audit where number < 4' 'audit: rows are missing'
forged 'the owner deletes the last rows: fsck says so' \
    'delete from wf.audit where number > 9' 'audit: the last rows are missing'
forged 'the owner truncates it: fsck says so' \
    'truncate wf.audit' 'audit: the last rows are missing'
forged 'the owner forgets that it was ever numbered: fsck says so' \
    'delete from wf.audit_head' 'audit: nobody knows its last number'
forged 'the owner exchanges two rows: fsck says so' \
    'update wf.audit a set verb = b.verb from wf.audit b
      where (a.number, b.number) in ((3, 4), (4, 3))' 'audit: a row was changed'
forged 'the owner pretends that it was purged: fsck says so' \
    'delete from wf.audit where number < 4;
     update wf.audit_head set purged = 3' 'audit: .*purge'

like 'a purge of it wants a reason' \
    "$(call postgres "select wf._audit_purge(now(), ' ')")" 'audit purge needs a reason'
call postgres "select wf._audit_purge(now(), 'ten years are over', 5)" >/dev/null
is 'a purge of it by the owner leaves a row that says so' "$(sql "select verb, reason,
    arguments ->> 'up_to' from wf.audit order by id desc limit 1")" \
    'audit purge|ten years are over|5'
is 'the oldest have gone' "$(sql 'select min(number) from wf.audit')" 6
sql 'select wf.tick()' >/dev/null
is 'the workspace is sound' "$(sql 'select * from wf.fsck()')" ''
done_testing
