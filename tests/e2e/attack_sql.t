#!/usr/bin/env bash
# attack_sql.t - what the author of a workflow can do with SQL tasks to the role
# that they run as, and so to the tasks of others: `evil` shares the role `etl`
# with `good`. `payroll` has a role of its own, which nobody else can use.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start
for login in etl payroll_sql maker; do
    login_create "$login" wf_app
done
for login in ann eve; do
    login_create "$login" wf_author
done
login_create dba wf_admin
sql 'create schema etl authorization etl; alter role maker createrole;
     grant payroll_sql to ann; create table salary (n int);
     insert into salary values (1); grant select, insert on salary to payroll_sql'
PGUSER=etl sql "
create function etl.poison() returns int language plpgsql as \$\$ begin
    alter role current_user set work_mem = '77kB'; return 1; end \$\$;
create table etl.bait (n int);
create function etl.spring() returns trigger language plpgsql as \$\$ begin
    if new.n = 1 then
        set constraints all deferred;
        insert into etl.bait values (2);
    else
        perform etl.poison();
    end if;
    return null; end \$\$;
create constraint trigger spring after insert on etl.bait
    deferrable initially deferred for each row execute function etl.spring()"
driver_start one -o sql_connection=user=etl -o sql_connections=1 -o sql_roles=payroll_sql

# install NAME STATEMENT [LOGIN]: a workflow that executes it; what the console says.
install() {
    printf 'workflow %s() { sql.Exec(statement = """%s""") }\n' "$1" "$2" >"$WORK/$1.wf"
    PGUSER=${3:-$PGUSER} wf-console install "$WORK/$1.wf" 2>&1 | grep -v '^WORKFLOW' || true
}

# outcome ID: done, or the message of the error of its task.
outcome() {
    wait_sql 20 "select exists (select from wf.task_v where instance_id = $1
        and state in ('END', 'FAILED'))" || return 0
    sql "select coalesce(error ->> 'message', 'done') from wf.task_v where instance_id = $1"
}

# run WORKFLOW: what becomes of its task.
run() {
    outcome "$(begin "$1")"
}

# role_of ROLE: all that it could have changed of itself.
role_of() {
    sql "select a.rolpassword, s.setconfig, array(select m.member::regrole || ' ' || m.admin_option
               from pg_auth_members m where m.roleid = a.oid order by 1)
           from pg_authid a left join pg_db_role_setting s on s.setrole = a.oid
          where a.rolname = '$1'"
}

# --- what a task does to the role that others run as, too

sql "alter role etl set work_mem = '8MB'"
before=$(role_of etl)
install good "select 'good'" >"$WORK/console.log"
is 'good' "$(run good)" 'done'
NOT='a SQL task that runs as role etl may not change a role, its settings or its members'

# refused NAME STATEMENT [MESSAGE]: it fails, the role is as before, and others go on.
refused() {
    install evil "$2" >"$WORK/console.log"
    like "refused: $1" "$(run evil)" "${3:-$NOT}"
    is "the role is as before: $1" "$(role_of etl)" "$before"
    is "others go on: $1" "$(run good)" 'done'
}

refused 'settings of the role' "alter role current_user set statement_timeout = '1ms'"
refused 'settings of the role in this database' "do \$\$ begin execute format('alter role etl in database %I
    set local_preload_libraries = none_such', current_database()); end \$\$"
refused 'settings of the role, taken back' 'alter role current_user reset all'
refused 'a password of the role' "alter role current_user password 'owned'"
refused 'no password any more' 'alter role current_user password null'
refused 'inside of a function' 'select etl.poison()'
refused 'inside of a subtransaction' "do \$\$ begin
    begin perform etl.poison(); exception when others then null; end; end \$\$"
refused 'by a cursor that is held, at the commit' \
    "do \$\$ begin execute 'declare held cursor with hold for select etl.poison()'; end \$\$" \
    'cannot execute ALTER ROLE in a read-only transaction'
refused 'by a trigger that is deferred again, at the commit' \
    'insert into etl.bait values (1)' 'cannot execute ALTER ROLE in a read-only transaction'
refused 'after the end of its transaction' \
    "do \$\$ begin commit; alter role current_user set work_mem = '77kB'; end \$\$" \
    'invalid transaction termination'
refused 'as somebody else' 'set role wf_driver' 'permission denied'
refused 'as another login' 'set session authorization postgres' 'permission denied'
refused 'members' 'grant etl to eve' "must have admin option|$NOT"
refused 'a program of the server' "copy etl.bait from program 'true'" 'must be superuser|permission denied'
refused 'the settings of the database' \
    "do \$\$ begin execute format('alter database %I set work_mem = 64', current_database()); end \$\$" \
    'must be owner of database'

# what is tried and rolled back counts neither for the task nor for the next one
install evil "do \$\$ begin
    begin perform etl.poison(); raise exception 'no'; exception when raise_exception then null; end; end \$\$" >"$WORK/console.log"
is 'taken back by the task itself' "$(run evil)" 'done'
is 'the role is as before' "$(role_of etl)" "$before"
is 'the next task goes on after the attacks' "$(run good)" 'done'

# what nothing but a role of its own, or the DBA, keeps from it: docs/dba.md
sql 'revoke execute on function pg_terminate_backend(int, bigint), pg_cancel_backend(int) from public'
refused 'the end of its other sessions, as docs/dba.md says' \
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'etl' and pid <> pg_backend_pid()" \
    'permission denied for function pg_terminate_backend'
sql 'grant execute on function pg_terminate_backend(int, bigint), pg_cancel_backend(int) to public'

# --- a role of its own

# grants VERB…: what the console says to dba.
grants() {
    PGUSER=dba wf-console sql "$@" 2>&1 | tail -n 1
}
TAKE='insert into salary values (2)'
install payroll "$TAKE" >"$WORK/console.log"
like 'without a grant it runs as the others do' "$(run payroll)" 'permission denied for table salary'
install evil 'set role payroll_sql' >"$WORK/console.log"
like 'the author cannot choose another role' "$(run evil)" 'permission denied to set role'
like 'only an administrator grants' "$(PGUSER=ann wf-console sql grant payroll_sql evil 2>&1 | head -n 1)" \
    'permission denied'
like 'granted' "$(grants grant payroll_sql payroll)" 'payroll_sql'
is 'the task runs as its role' "$(run payroll)" 'done'
is 'on a session that logged in as that role' "$(sql "select count(*) from pg_stat_activity
    where usename = 'payroll_sql' and application_name = 'wf-driver sql'")" 1
like 'another workflow does not' "$(install evil "$TAKE" >"$WORK/console.log"; run evil)" 'permission denied for table salary'
like 'eve cannot put another statement there' "$(install payroll 'delete from salary' eve)" \
    'login eve may not install workflow payroll, whose SQL tasks run as role payroll_sql'
# an install whose snapshot is older than the grant does not see it, and gets nothing of it
printf 'workflow sneaky() { sql.Exec(statement = "%s") }\n' "$TAKE" >"$WORK/sneaky.wf"
PGUSER=eve psql -X -qAt -v spec="$("$BUILD/lang_tool" compile "$WORK/sneaky.wf")" >"$WORK/sneaky.log" 2>&1 <<'END'
begin isolation level repeatable read;
select count(*) from wf.workflow_v;
\! PGUSER=dba wf-console sql grant payroll_sql sneaky
select * from wf.install('', :'spec');
commit;
END
like 'eve was quicker than the grant' "$(cat "$WORK/sneaky.log")" 'sneaky\|1\|installed'
like 'the grant is not for what eve has installed' "$(run sneaky)" 'permission denied for table salary'
grants revoke sneaky >"$WORK/console.log"
like 'ann can, who is a member of the role' "$(install payroll "select 'ann'" ann)" 'payroll +[0-9]+ +installed'
is 'the workflow of ann runs' "$(run payroll)" 'done'
install evil "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'payroll_sql'" >"$WORK/console.log"
like 'another workflow ends no session of that role' "$(run evil)" 'must be a member of the role|permission denied'
install payroll 'reset role' >"$WORK/console.log"
is 'reset role' "$(run payroll)" 'done'

# a login that a grant names runs nothing else, wherever a driver has it
install payroll "$TAKE" >"$WORK/console.log"
driver_stop one
driver_start two -o sql_connection=user=payroll_sql
like 'a driver that gives all tasks that login' "$(run good)" \
    'role payroll_sql is granted to other workflows, and this version of good has no grant'
like 'a driver that does not log in as that role' "$(run payroll)" \
    'this driver has no login for role payroll_sql'
driver_stop two
printf 'sql_roles = [ "payroll_sql" ];\n' >"$WORK/driver.conf"
driver_start three -c "$WORK/driver.conf" -o sql_connection=user=etl
sql 'grant insert on salary to maker'
grants grant maker payroll >"$WORK/console.log"
like 'a role that the driver has no login for' "$(run payroll)" 'this driver has no login for role maker'
printf 'sql_roles = [ "payroll_sql", "maker" ];\n' >"$WORK/driver.conf"
kill -HUP "$(pid_of driver-three)"
ok 'the configuration is read again' wait_until 10 grep -q 'read again' "$WORK/driver-three.log"
is 'now it has one' "$(run payroll)" 'done'
is 'taken back' "$(grants revoke payroll)" 'payroll   revoked'
like 'without the grant the task runs as the others do again' "$(run payroll)" 'permission denied for table salary'

# --- who may create roles is not asked

driver_stop three
driver_start four -o sql_connection=user=maker
install tenant 'create role tenant_of_maker' >"$WORK/console.log"
is 'a task whose role may create roles creates them' "$(run tenant)" 'done'
sql 'drop role tenant_of_maker'
like 'the driver says what that means' "$(cat "$WORK/driver-four.log")" \
    'SQL tasks run as role maker, which may create roles'
sound
done_testing
