#!/usr/bin/env bash
# installations.t - the grants of each installation in docs/security.md, made as they
# stand there, in a workspace of their own; then real logins find that they may do what
# the page says, and no more.
. "$(dirname "$0")/../lib.sh"
PAGE=$ROOT/docs/security.md
pg_start
workspace_install wf_empty

# block HEADING KIND: the lines of the blocks of that kind below that heading.
block() {
    awk -v heading="$1" -v kind="$2" '
        /^#/ && !inside { here = index($0, heading) > 0; next }
        /^```/ { inside = !inside; open = here && $0 == "```" kind; next }
        here && inside && open' "$PAGE"
}

# installation NUMBER: a workspace with these grants, and two workflows. What this makes
# is undone by the next one: logins are the cluster's.
installation() {
    local command
    export PGDATABASE=installation_$1
    database_clone wf_empty "$PGDATABASE"
    block '## Five installations' sql >"$WORK/$1.sql"
    block "### $1. " sql >>"$WORK/$1.sql"
    sed -n 's/^create role \([a-z_]*\) .*/\1/p' "$WORK/$1.sql" >"$WORK/logins"
    ok "$1: the SQL" psql -XqAt -v ON_ERROR_STOP=1 -f "$WORK/$1.sql"
    block "### $1. " '' >"$WORK/$1.commands"
    while IFS= read -r command; do
        ok "$1: $command" env PGUSER=dba bash -c "$command"
    done <"$WORK/$1.commands"
    printf 'workflow sell() { sql.Exec(statement = "select 1") }\nworkflow refund() { sql.Exec(statement = "select 1") }\n' >"$WORK/sell.wf"
    printf 'workflow payroll() { sql.Exec(statement = "select 1") with queue("payroll") }\n' >"$WORK/payroll.wf"
    printf 'workflow far() { sql.Exec(statement = "select 1") with queue("dmz") }\n' >"$WORK/far.wf"
}

# over: the logins of this installation.
over() {
    local database=$PGDATABASE login
    export PGDATABASE=postgres
    dropdb --force "$database"
    while read -r login; do
        sql "drop role $login"
    done <"$WORK/logins"
}

# may LOGIN COMMAND…, may_not LOGIN COMMAND…: wf-console says so.
may() {
    ok "$1 may ${*:2}" env PGUSER="$1" wf-console "${@:2}"
}

may_not() {
    local status=0
    PGUSER=$1 wf-console "${@:2}" >"$WORK/out" 2>&1 || status=$?
    ok "$1 may not ${*:2}" grep -qE 'WF008|WF016|permission denied|may not|quota' "$WORK/out"
    [ "$status" -ne 0 ] || ok 'the command failed' false
}

# asks LOGIN SQL: what it is answered, or the SQLSTATE.
asks() {
    PGUSER=$1 psql -XqAt -v VERBOSITY=sqlstate -c "$2" 2>&1 | tail -n 1
}

# --- 1

installation 1
may ann install "$WORK/sell.wf"
may ann start sell
may ann list
may ann abort --yes 1
may_not ann workflow revoke wf_app
may_not ann audit
may_not etl list
may_not etl abort --yes 1
may etl start sell
may_not driver_one start sell
over

# --- 2

installation 2
may release install "$WORK/sell.wf" "$WORK/payroll.wf"
may_not release start sell
may shop start sell
may_not shop start payroll
may_not shop start sell --priority 1
may_not shop list
may_not shop install "$WORK/sell.wf"
is 'shop starts no 601 in a minute' "$(asks shop "select count(*) from wf.start_many('refund', (select jsonb_agg('{}'::jsonb) from generate_series(1, 601)))")" \
    'ERROR:  WF016'
may oncall list
may oncall suspend --yes 1
may_not oncall start sell
may_not oncall install "$WORK/sell.wf"
over

# --- 3

installation 3
may payroll_dev install "$WORK/payroll.wf"
is "SQL tasks run as the role of the team" "$(asks postgres "select v.sql_role from wf.version v")" payroll_sql
may sales_dev install "$WORK/sell.wf"
sed -i 's/select 1/select 2/' "$WORK/payroll.wf"
may_not sales_dev install "$WORK/payroll.wf"
may_not sales_dev start payroll
may payroll_app start payroll
may_not payroll_app start sell
may sales_app start sell
may_not sales_app start payroll
may_not sales_app start sell --priority 1
register="select wf.register('x', '1', '{sql}',"
is 'the driver of payroll serves its queue' "$(asks payroll_driver "$register '{payroll}', 1)")" 1
is 'the driver of payroll serves no other queue' "$(asks payroll_driver "$register '{default}', 1)")" 'ERROR:  WF008'
is 'the driver of sales does not' "$(asks sales_driver "$register '{payroll}', 1)")" 'ERROR:  WF008'
over

# --- 4

installation 4
may ann install "$WORK/far.wf" "$WORK/sell.wf"
may ann start far
may ann start sell
is 'the driver outside serves its queue' "$(asks driver_dmz "$register '{dmz}', 1)")" 1
is 'the driver outside serves no other queue' "$(asks driver_dmz "$register '{default}', 1)")" 'ERROR:  WF008'
is 'a driver for every queue does not serve a granted one' "$(asks driver_dmz "select count(*) from wf.poll(wf.register('x', '1', '{sql}', '{}', 10), 10) where kind = 'run'")" 1
is 'the other driver gets the rest' "$(asks driver_one "select count(*) from wf.poll(wf.register('x', '1', '{sql}', '{}', 10), 10) where kind = 'run'")" 1
may_not driver_dmz list
over

# --- 5

installation 5
may release install "$WORK/sell.wf"
may monitor list
may monitor workflows
may_not monitor start sell
may_not monitor audit
is 'the auditor reads the audit' "$(asks auditor "select count(*) from audit.list(null) a where a ->> 'verb' = 'install'")" 1
may_not auditor audit
may_not auditor list
is 'another login does not read the audit by that function' "$(asks monitor 'select audit.list(null)')" 'ERROR:  42501'
over

# --- the tests that the page names

# shellcheck disable=SC2016 # names in the text of the page
named=$(sed -n '/^## The attacks/,$p' "$PAGE" | grep -oE '`(attack[a-z_]*|budget|rights|tls)`' | tr -d '`' | sort -u)
for name in $named; do
    ok "the test $name is there" test -x "$ROOT/tests/e2e/$name.t"
done
is 'every test of attacks is named there' \
    "$(for file in "$ROOT"/tests/e2e/attack*.t; do basename "$file" .t; done | search grep -vxF "$named")" ''
done_testing
