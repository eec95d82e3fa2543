#!/usr/bin/env bash
# stranger.t - a login without roles takes all the locks that it can get:
# everybody goes on.
. "$(dirname "$0")/../lib.sh"
DATA=$ROOT/tests/e2e/data/attack

pg_start
workspace_install
login_create nobody1
login_create a_driver wf_driver
login_create an_author wf_author
login_create an_operator wf_operator

# call USER QUERY: what it answers, or why not after three seconds.
call() {
    PGOPTIONS='-c lock_timeout=3s -c statement_timeout=30s' \
        psql --no-psqlrc --tuples-only --no-align --quiet --username="$1" \
        --set=VERBOSITY=terse --command="$2" 2>&1 || true
}

ok 'workflows are installed' wf-console install "$DATA/attack.wf"
first=$(call a_driver "select wf.register('first', '1', '{builtin}', '{}', 10)")

# --- what any login may do: advisory locks, and to try everything else

spawn locks psql --no-psqlrc --quiet --username=nobody1 --command="
    select count(pg_advisory_lock(k, n))
      from generate_series(7761, 7764) k, generate_series(0, 600) n;
    select pg_sleep(600)"
wait_sql 60 "select exists (select from pg_stat_activity
    where usename = 'nobody1' and wait_event = 'PgSleep')"
is 'a login without roles holds every number of the four keys' "$(sql "
    select count(*) from pg_locks where locktype = 'advisory'
       and classid between 7761 and 7764 and granted")" 2404

# Locks of relations and rows: it may name none of the schema. But nextval()
# takes a number, locks what has that number, and only then looks what it is.
{
    sql "select format('lock table %s in access share mode;', c.oid::regclass),
                format('select from %s for key share;', c.oid::regclass)
           from pg_class c where c.relnamespace = 'wf'::regnamespace
            and c.relkind in ('r', 'v')" --field-separator=$'\n'
    sql "select format('select nextval(%s);', c.oid::int)
           from pg_class c
          where c.relnamespace = 'wf'::regnamespace and c.relkind in ('r', 'S')"
} >"$WORK/tries.sql"
# a refused call in a savepoint leaves the transaction open
{
    printf '\\set ON_ERROR_ROLLBACK on\nbegin;\n'
    cat "$WORK/tries.sql"
    printf 'select pg_sleep(600);\n'
} >"$WORK/open.sql"
spawn open psql --no-psqlrc --quiet --tuples-only --username=nobody1 \
    --file="$WORK/open.sql"
wait_sql 60 "select count(*) = 2 from pg_stat_activity
    where usename = 'nobody1' and wait_event = 'PgSleep'"
is 'the login locks every relation of the workspace, in the mode of nextval()' "$(sql "
    select l.mode, count(*) > 30 from pg_locks l
      join pg_class c on c.oid = l.relation
      join pg_stat_activity a on a.pid = l.pid
     where a.usename = 'nobody1' and c.relnamespace = 'wf'::regnamespace
     group by 1")" 'RowExclusiveLock|t'
ok 'more was refused' grep -q 'permission denied for schema wf' "$WORK/open.log"

# --- everybody goes on

like 'an instance is started' "$(call an_author "select wf.start('words')")" '^[0-9]+$'
like 'many are started' "$(call an_author \
    "select count(wf) from wf.start_many('flow', '[{}, {}]') wf")" '^2$'
is 'a poll hands out' "$(call a_driver \
    "select distinct kind from wf.poll($first, 10) where kind <> 'work' order by 1")" 'next
run'
# only a session of its own tells that a driver is gone
like 'a driver registers' "$(call a_driver "select wf.register('own', '1',
    '{builtin}', '{}', 1, p_backend => pg_backend_pid())")" '^[0-9]+$'
is 'a driver gives a sign of life' "$(call a_driver "select wf.heartbeat($first)")" ''
is 'the engine is paused' "$(call an_operator 'select * from wf.engine_pause()')" \
    'done|RUNNING -> PAUSED'
is 'the engine is resumed' "$(call an_operator 'select * from wf.engine_resume()')" \
    'done|PAUSED -> RUNNING'
is 'a workflow is removed' "$(call an_author "select wf.remove('job')")" ''
like 'instances are aborted' "$(call an_operator \
    "select answer from wf.abort('{\"workflow\": \"words\"}')")" '^done$'

# --- a driver whose session has ended is noticed

sql "update wf.sign_of_life set seen_at = seen_at - interval '20 s'
      where driver_id = (select id from wf.driver where name = 'own')"
is 'due work is done' "$(call an_operator 'select wf.tick()')" ''
is 'nobody else keeps a driver alive' \
    "$(sql "select state from wf.driver where name = 'own'")" lost

# --- an upgrade needs the tables: it says whose transaction is in its way

impatient=$WORK/impatient
cp -r "$ROOT/workspace-sql" "$impatient"
sed -i 's/1 \.\. 30/1 .. 1/' "$impatient/script/knock.sql"
upgrade=(psql --no-psqlrc --file="$impatient/upgrade.sql")
exits 'while relations are locked, an upgrade gives up' 3 "${upgrade[@]}"
like 'the upgrade names the session that stops it' "$OUTPUT" 'It is used by process [0-9]+ of nobody1'
sql "select count(pg_terminate_backend(l.pid)) from pg_locks l
    where l.relation = 'wf.gate'::regclass" >/dev/null
wait_sql 60 "select not exists (select from pg_locks l
    where l.relation = 'wf.gate'::regclass)"
exits 'advisory locks do not stop it' 0 "${upgrade[@]}"
like 'an upgraded workspace works' "$(call an_author "select wf.start('words')")" '^[0-9]+$'
is 'the workspace is sound' "$(sql 'select * from wf.fsck()')" ''
done_testing
