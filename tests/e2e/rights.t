#!/usr/bin/env bash
# rights.t - who may do what with which workflow, and with which driver: real
# logins try everything, and the table of what came of it is data/rights/rights.txt.
# Then each place in the code that asks who somebody is is changed so that it does
# not ask, and the table must be another one; and so must docs/roles.md when each
# grant is turned round. A new table: RIGHTS_ACCEPT=1 tests/e2e/rights.t.
. "$(dirname "$0")/../lib.sh"
DATA=$ROOT/tests/e2e/data/rights
workspace_start pg fsync=off
ok 'two workflows and seventeen logins' psql -XqAt -f "$DATA/world.sql" -o "$WORK/world.log"

# try ACTS: the table of what comes of the acts whose names match.
try() {
    psql -XqAt -v only="$1" -f "$DATA/try.sql" | sed 's/ *$//'
}

try . >"$WORK/rights.txt"
[ -z "${RIGHTS_ACCEPT-}" ] || cp "$WORK/rights.txt" "$DATA/rights.txt"
ok 'the table is as it was' diff "$DATA/rights.txt" "$WORK/rights.txt"
# wf.wait is a procedure that has no rights but those of its caller
is 'each function that a role may call is in an act' "$(sql "
    select distinct p.proname from pg_proc p, aclexplode(p.proacl) a
     where p.pronamespace = 'wf'::regnamespace and p.prokind = 'f' and a.grantee in (select oid from pg_roles where rolname ~ '^wf_(app|author|driver|operator|viewer|admin)\$')
       and not exists (select from probe.act t where t.statement ~ format('(wf|probe)\.%s\(', p.proname))
     order by 1")" ''

# --- what if the code did not ask

# one session takes the place of seventeen: it remembers what it has planned
sed -e 's/^\\connect - :printer/reset session authorization;/' \
    -e 's/^\\connect - \(.*\)/set session authorization \1;/' "$DATA/try.sql" >"$WORK/try.sql"
ok 'the mutants' psql -XqAt -v ON_ERROR_STOP=1 -f "$DATA/mutants.sql"
sql 'create table probe.golden as select * from probe.cell' >/dev/null
sql 'select k, acts from probe.mutant order by k' | while IFS='|' read -r k acts; do
    sql "select probe.mutate($k)" >/dev/null
    psql -XqAt -v only="$acts" -f "$WORK/try.sql" >/dev/null
    sql "select probe.mend($k);
         insert into probe.seen
         select $k, count(*) from probe.cell c join probe.golden g using (login, act)
          where c.answer <> g.answer" >/dev/null
done
is 'each mutant is seen' "$(sql "select m.k, m.function, m.found from probe.mutant m
    left join probe.seen s using (k) where coalesce(s.cells, 0) = 0 order by 1")" ''
is 'each place that asks who somebody is has one' "$(sql "
    select p.oid::regproc from pg_proc p
     where p.pronamespace = 'wf'::regnamespace and p.prokind = 'f' and probe.left_alone(p.oid)
       and p.oid not in (select function from probe.exempt)
     order by 1")" ''
try . >"$WORK/again.txt"
ok 'the code is as it was' diff "$DATA/rights.txt" "$WORK/again.txt"

# --- what if the grants were others

# wf.now stays as it is, since views call it, for whoever reads them.
# roles: docs/roles.md as the database has it, one "OBJECT ROLE" in a line for each right.
roles() {
    psql -XqAt -f "$ROOT/docs/print/roles.sql" |
        awk -F '|' '/^\| `wf\.[a-z]/ && !/wf.now`/ { for (i = 4; i <= 9; i++) if ($i ~ /[Xr]/) print $2, i }' | sort
}
sql 'alter schema probe rename to probed' # docs/print/roles.sql makes one
roles >"$WORK/roles"
sql "create table probed.flip as
     select 'routine' as kind, p.oid::regprocedure::text as object, r.rolname as role,
            has_function_privilege(r.oid, p.oid, 'execute') as granted
       from pg_proc p, pg_roles r
      where p.pronamespace = 'wf'::regnamespace and p.proname !~ '^_' and p.proname <> 'now' and p.prorettype <> 'trigger'::regtype
        and r.rolname in ('wf_driver', 'wf_app', 'wf_viewer', 'wf_author', 'wf_operator', 'wf_admin')
     union all
     select 'table', c.oid::regclass::text, r.rolname, has_table_privilege(r.oid, c.oid, 'select')
       from pg_class c, pg_roles r
      where c.relnamespace = 'wf'::regnamespace and c.relkind = 'v' and c.relname !~ '^_'
        and r.rolname in ('wf_driver', 'wf_app', 'wf_viewer', 'wf_author', 'wf_operator', 'wf_admin');
     do \$\$ declare f record; begin
        for f in select * from probed.flip loop
            execute case when f.granted
                then format('revoke %s on %s %s from %I', case f.kind when 'table' then 'select' else 'execute' end, f.kind, f.object, f.role)
                else format('grant %s on %s %s to %I', case f.kind when 'table' then 'select' else 'execute' end, f.kind, f.object, f.role) end;
        end loop;
     end \$\$" >/dev/null
cells=$(sql 'select count(*) from probed.flip')
roles >"$WORK/turned"
ok "each of $cells grants is turned round" test "$cells" -gt 300
is 'none of them stands in both tables' "$(comm -12 "$WORK/roles" "$WORK/turned")" ''
is 'each of them stands in one' "$(sort -u "$WORK/roles" "$WORK/turned" | wc -l)" "$cells"
done_testing
