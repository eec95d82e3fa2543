#!/usr/bin/env bash
# attack.t - whatever logins have made of names and settings, the procedures do
# what they do without: tables, views, types, functions, operators and casts
# named as those that the workspace uses, schemas before pg_catalog.
. "$(dirname "$0")/../lib.sh"
DATA=$ROOT/tests/e2e/data/attack

pg_start
workspace_install plain
spec=$("$BUILD/lang_tool" compile "$DATA/attack.wf")
: >"$WORK/nothing.sql"
login_create mallory
for role in author app driver operator viewer admin; do
    login_create "mallory_$role" "wf_$role"
done

# play DATABASE SESSION: what the roles are answered.
play() {
    (cd "$WORK" && psql --no-psqlrc --quiet --dbname="$1" --set=session="$2" \
        --set=spec="$spec" --file="$DATA/play.sql" 2>&1) |
        sed -E 's/^psql:[^ ]+ //;
            s/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/UUID/g;
            s/[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:.+]+( UTC|Z)?/TIME/g'
}

# rows DATABASE: all that the workspace holds, but for moments, tokens, digests and which database it is.
rows() {
    local table
    while read -r table; do
        printf -- '-- %s\n' "$table"
        sql "select to_jsonb(r) - array(
                 select a.attname::text from pg_attribute a
                  where a.attrelid = '$table'::regclass
                    and (a.atttypid = any ('{timestamptz,uuid,xid8,bytea}'::regtype[])
                         or a.attname in ('turn', 'database_id')))
               from $table r order by 1" --dbname="$1"
    done < <(sql "select c.oid::regclass from pg_class c
        where c.relnamespace = 'wf'::regnamespace and c.relkind = 'r'
        order by 1" --dbname="$1")
}

workspace_install attacked
sql 'grant create on schema public to mallory'
psql --no-psqlrc --quiet --file="$DATA/world.sql" >"$WORK/world.log" 2>&1
play plain "$WORK/nothing.sql" >"$WORK/plain.out"
play attacked "$DATA/session.sql" >"$WORK/attacked.out"
for database in plain attacked; do
    rows "$database" >"$WORK/$database.rows"
done
ok 'there are rows to compare' test "$(grep -c '^{' "$WORK/plain.rows")" -gt 100
ok 'something happened' grep -q '^.*|END|' "$WORK/plain.out"
is 'every answer is the same' \
    "$(search diff --unified=1 "$WORK/plain.out" "$WORK/attacked.out")" ''
is 'every row is the same' \
    "$(search diff --unified=1 "$WORK/plain.rows" "$WORK/attacked.rows")" ''
is 'nothing of theirs was called' "$(sql 'select last_value, is_called from evil.call;
    select distinct what, as_user from evil.ledger limit 20')" '1|f'
# they would have been: a session that means now() gets theirs
printf '%s;\n' 'select now()' 'select 1::pg_catalog.int8 = 2::pg_catalog.int8' |
    cat "$DATA/session.sql" - |
    psql --no-psqlrc --quiet --username=mallory >"$WORK/control.out" 2>&1
is 'a call of a planted operator would have been noticed' "$(sql 'select string_agg(what, $$ $$ order by call)
    from evil.ledger')" 'now ='
is 'the workspace is sound' "$(sql 'select * from wf.fsck()')" ''
done_testing
