#!/usr/bin/env bash
# indexes.t - each index of the workspace that keeps no rows unique is used by something: by
# one of these tests of SQL, with the plans that their few rows get.
. "$(dirname "$0")/../lib.sh"
FILES=(group rate dag child signal schedule key tree install sql_grant)

# alone: the sessions of the tests have ended, and have told what they used
alone() {
    wait_sql 60 "select not exists (select from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend')"
}

# unused: the indexes without a constraint that no statement has used
unused() {
    sql "select s.indexrelname from pg_stat_user_indexes s
          where s.schemaname = 'wf' and s.idx_scan = 0
            and not exists (select from pg_constraint c where c.conindid = s.indexrelid)
          order by 1"
}

workspace_start
# shellcheck disable=SC2034 # sql asks in sessions of their own: each has told what it used
SESSION=''
sql "update wf.setting set value = '1' where name = 'test_clock'"
# A vacuum does not count the rows of a test's transaction, and a table that holds all of them has
# the plans of an empty one then: dag.sql took many minutes.
sql 'alter system set autovacuum = off'
sql 'select pg_reload_conf()'
sql 'create schema tap; create extension pgtap schema tap'
ok 'the workspace has indexes that nothing has used so far' test "$(unused | wc -l)" -gt 10
for file in "${FILES[@]}"; do
    PGOPTIONS='-c search_path=public,tap -c client_min_messages=warning' \
        psql -XqAt --file="$ROOT/tests/sql/$file.sql" >"$WORK/$file.tap" 2>&1
    ok "$file.sql has run" grep -q '^1\.\.' "$WORK/$file.tap"
done
alone
is 'each index is used' "$(unused)" ''
done_testing
