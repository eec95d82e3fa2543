#!/usr/bin/env bash
# workspace_install.t - install.sql, upgrade.sql and uninstall.sql: by whom,
# where, what they leave behind, and what they say when they cannot.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT/workspace-sql"

pg_start
sql 'create role dba login createrole'
sql 'create role half login createrole'
sql 'create role nobody login'

# the schema's version: the number of the last migration
version=$(sed -n 's/^.set migration 0*\([0-9]*\)_.*/\1/p' migrations/all.sql |
    tail -n 1)

# script NAME [PSQL OPTION…]
script() {
    local name=$1
    shift
    psql --no-psqlrc --file="$name.sql" "$@"
}

# secure DATABASE: the catalogs show no weakness.
secure() {
    sql 'create schema tap; create extension pgtap schema tap' --dbname="$1"
    PGOPTIONS='-c search_path=public,tap' script "$ROOT/tests/sql/security" --quiet --tuples-only --no-align \
        --set=ON_ERROR_STOP=1 --dbname="$1" | tee "$WORK/secure" &&
        grep -q '^ok 1 ' "$WORK/secure" && ! grep -q '^not ok' "$WORK/secure"
}

# a superuser
createdb one
exits 'a superuser installs it' 0 script install --dbname=one
is 'install says so in one line' "$OUTPUT" "workspace installed, schema version $version"
ok 'the catalogs show no weakness' secure one
exits 'a workspace is not installed twice' 3 script install --dbname=one
like 'with a hint' "$OUTPUT" 'already installed in database one.*HINT:.*upgrade\.sql'

# a login that may create roles
createdb two
exits 'a login without CREATEROLE may not install it' 3 script install --dbname=two --username=nobody
like 'with a hint' "$OUTPUT" 'nobody may not create roles.*alter role nobody createrole'
exits 'a login without CREATE on the database may not install it' 3 script install --dbname=two --username=half
like 'with a hint' "$OUTPUT" 'half may not create a schema.*grant create on database two to half'
script uninstall --dbname=one >"$WORK/uninstall" 2>&1
sql 'grant create on database two to dba'
exits 'with both it may' 0 script install --dbname=two --username=dba
ok 'the catalogs show no weakness' secure two
exits 'the login may upgrade' 0 script upgrade --dbname=two --username=dba
is 'upgrade says so in one line' "$OUTPUT" "workspace up to date, schema version $version"
is 'the login is no member of the owner afterwards' "$(sql "select count(*) from pg_auth_members m where m.roleid = 'wf_owner'::regrole and not m.admin_option")" 0

# upgrade
createdb three
script install --dbname=three >"$WORK/install"
pg_dump --schema-only --dbname=three >"$WORK/fresh.sql"
exits 'an upgrade to the same version' 0 script upgrade --dbname=three
pg_dump --schema-only --dbname=three >"$WORK/upgraded.sql"
is 'changes nothing' "$(search diff "$WORK/fresh.sql" "$WORK/upgraded.sql" | search grep '^[<>]' | search grep -v 'restrict ')" ''

cp -r "$ROOT/workspace-sql" "$WORK/next"
printf '%s\n' "alter table wf.setting add column note text;" >"$WORK/next/migrations/999_note.sql"
sed -i 's|^select set_config|\\set migration 999_note.sql \\ir apply.sql\n&|' "$WORK/next/migrations/all.sql"
(cd "$WORK/next" && psql --no-psqlrc --file=upgrade.sql --dbname=three) >"$WORK/next.log" 2>&1
is 'a migration is applied' "$(sql 'select wf.schema_version()' --dbname=three)" 999
exits 'once' 0 script "$WORK/next/upgrade" --dbname=three
exits 'older files refuse a newer schema' 3 script upgrade --dbname=three
like 'with a hint' "$OUTPUT" "schema version 999, these files have $version.*HINT:.*newer release"

# uninstall
exits 'a login without CREATEROLE may not remove it' 3 script uninstall --dbname=two --username=nobody
exits 'one with it may' 0 script uninstall --dbname=two --username=dba
like 'the roles that another database uses stay' "$OUTPUT" 'these roles stay.*wf_owner.*workspace removed'
is 'the schema is gone' "$(sql "select to_regnamespace('wf') is null" --dbname=two)" t
exits 'there is nothing left to remove' 3 script uninstall --dbname=two
exits 'the last one' 0 script uninstall --dbname=three
is 'takes the roles with it' "$(sql "select count(*) from pg_roles where rolname like 'wf\\_%'")" 0

# where it does not belong
createdb four
sql 'create schema wf' --dbname=four
exits 'a schema wf of somebody else is left alone' 3 script install --dbname=four
like 'with a hint' "$OUTPUT" 'has a schema wf that is not a workspace'
createdb --encoding=LATIN1 --locale=C --template=template0 five
exits 'a database in another encoding is refused' 3 script install --dbname=five
like 'with a hint' "$OUTPUT" 'needs a database in UTF8, five is in LATIN1'
done_testing
