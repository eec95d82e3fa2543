#!/usr/bin/env bash
# attack_quota.t - an application's login starts what it is granted and as much as its
# quotas leave, whatever else it tries. `ann`, `bob` and `eve` are logins of
# applications; ann and bob are members of `shop`.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start pg
cat >"$WORK/shop.wf" <<'END_WF'
/** Is under way until a driver comes, and none does. */
workflow sell() { lb.Log(msg = "sold") }
/** Not for applications. */
workflow payroll() { lb.Log(msg = "sold") }
END_WF
wf-console install "$WORK/shop.wf" >"$WORK/console.log"
for login in ann bob eve; do
    login_create "$login" wf_app
done
login_create nobody1
sql 'create role shop'
sql 'grant shop to ann, bob'

# as LOGIN SQL: what a session of that login is told, one line.
as() {
    PGUSER=$1 sql "$2" 2>&1 | head -n 1 || true
}

# many N: the SQL that starts so many at once.
many() {
    printf "select count(*) from wf.start_many('sell', (select jsonb_agg('{}'::jsonb) from generate_series(1, %s)))" "$1"
}

instances() {
    sql 'select count(*) from wf.instance'
}

# --- who may start which workflow

is 'after an installation an application starts any workflow' \
    "$(as eve "select wf.start('payroll') > 0")" t
wf-console workflow revoke wf_app --reason 'one by one' >"$WORK/console.log"
wf-console workflow grant shop sell >"$WORK/console.log"
before=$(instances)
NO_GRANT='ERROR:  login eve may not start workflow payroll: none of its roles has a grant for it'
is 'start' "$(as eve "select wf.start('payroll')")" "$NO_GRANT"
is 'start_many' "$(as eve "select wf.start_many('payroll', '[{}]')")" "$NO_GRANT"
is 'as the role of all applications' "$(as eve "set role wf_app; select wf.start('payroll')")" "$NO_GRANT"
is 'of a version' "$(as eve "select wf.start('payroll', p_version => 1)")" "$NO_GRANT"
is 'with a key that might be known' "$(as eve "select wf.start('payroll', p_key => 'k')")" "$NO_GRANT"
like 'as a role that has the grant' "$(as eve 'set role shop')" 'ERROR:  permission denied to set role "shop"'
like 'in the tables' "$(as eve "insert into wf.workflow_grant values ('eve', null, now(), 'x')")" \
    'ERROR:  permission denied for table workflow_grant'
like 'by what administrators call' "$(as eve "select wf.workflow_grant_set('eve', null)")" \
    'ERROR:  permission denied for function workflow_grant_set'
like 'by what start calls' "$(as eve "select wf._plant('{1}', 1, '{}', 0, now())")" \
    'ERROR:  permission denied for function _plant'
is 'nothing was started' "$(instances)" "$before"
is 'a member of the role starts what is granted' "$(as ann "select wf.start('sell') > 0")" t
is 'a member of the role starts nothing else' "$(as ann "select wf.start('payroll')")" "${NO_GRANT/eve/ann}"

# --- how many, and how urgently

wf-console quota set shop none 20 10 none --reason 'a flood' >"$WORK/console.log"
before=$(instances)
like '20,000 at once' "$(as ann "$(many 20000)")" \
    'ERROR:  the quota of role shop is 20 under way at a time: 19 left, 20000 asked for by login ann'
like 'at any priority' "$(as bob "select wf.start('sell', p_priority => 1000)")" \
    'ERROR:  login bob may not start an instance with priority 1000: the quota of role shop allows at most 10'
like 'the quota is not its own to change' "$(as ann "select wf.quota_set('shop')")" \
    'ERROR:  permission denied for function quota_set'
like 'an application may not lock the quota' "$(as nobody1 'select from wf.quota for update')" 'ERROR:  permission denied for'
like 'an application cannot hold another up with a lock' "$(as ann 'begin; lock table wf.quota')" 'ERROR:  permission denied for'
like 'a quota is not spent for others' "$(as eve "select wf._spend_quota('{shop}', 1, '{1}', 'eve')")" \
    'ERROR:  permission denied for function _spend_quota'
is 'refused starts have left nothing' "$(instances)" "$before"

# sessions at the same time: as many as there are places, and not one more
start_ten() {
    local k
    for ((k = 0; k < 10; k++)); do
        as "$1" "select wf.start('sell') > 0"
    done
}
session=0 starts=()
for login in ann bob ann bob; do
    session=$((session + 1))
    start_ten "$login" >"$WORK/answers.$session" &
    starts+=("$!")
done
wait "${starts[@]}"
cat "$WORK"/answers.* >"$WORK/answers"
is 'of 40 starts in 4 loops 19 find a place' "$(grep -c '^t$' "$WORK/answers")" 19
is 'the other 21 of 40 starts are refused' "$(grep -c '^ERROR:  the quota of role shop is 20 under way' "$WORK/answers")" 21
is 'the view shows the 20 instances under way' "$(sql 'select under_way from wf.quota_v')" 20
is 'there are 20 instances under way' "$(sql "select count(*) from wf.instance where started_by in ('ann', 'bob')")" 20

# --- how large

cat >"$WORK/large.wf" <<'END'
/** A list in a list. */
workflow large(n: int, m: int) {
  forall(i in 1..n) {
    forall(k in 1..m) {
      let x = k
    }
  }
}

/** Rounds without end. */
workflow rounds(n: int) {
  while<max = 100000>(i = 0; i < n) {
    forall(k in 1..1) {
      let x = k
    }
  } yield i + 1 as last
}
END
wf-console install "$WORK/large.wf" >"$WORK/console.log"
wf-console workflow grant shop large,rounds >"$WORK/console.log"
wf-console quota set shop none none none 1000 >"$WORK/console.log"
driver_start one
# becomes WORKFLOW PARAMS: of an instance that ann starts: END, or the first error.
becomes() {
    local id
    id=$(as ann "select wf.start('$1', '$2')")
    wait_sql 60 "select i.state <> 'RUNNING' or exists (select from wf.failed f where f.instance_id = i.id)
        from wf.instance i where i.id = $id" || true
    sql "select coalesce((select p.error ->> 'message' from wf.process p
             where p.instance_id = $id and p.state = 'FAILED' order by p.id limit 1),
             (select i.state from wf.instance i where i.id = $id))"
}
TOO_LARGE='more than the 1000 that the quota of the login that started it allows$'
is 'as large as it may be' "$(becomes large '{"n": 10, "m": 10}')" END
like 'a list of 10,000' "$(becomes large '{"n": 10000, "m": 1}')" "$TOO_LARGE"
like 'a list of 1,000,000,000' "$(becomes large '{"n": 1000000000, "m": 1}')" "$TOO_LARGE"
like 'lists in a list' "$(becomes large '{"n": 100, "m": 100}')" "$TOO_LARGE"
like 'rounds' "$(becomes rounds '{"n": 5000}')" "$TOO_LARGE"
is 'none has more' "$(sql "select count(*) from (select from wf.process p join wf.instance i on i.id = p.instance_id
    where i.started_by = 'ann' group by i.id having count(*) > 1000) x")" 0
like 'the quota of an instance cannot be raised' "$(as ann 'update wf.extent set quota = null')" 'ERROR:  permission denied for'
wf-console abort --yes --reason 'too large' large rounds >"$WORK/console.log" 2>&1 || true

# --- who started what

is 'the history of a start names login, role and address' \
    "$(sql "select distinct e.login, e.role, e.client from wf.event_v e
              join wf.instance_v i using (instance_id)
             where e.event = 'start' and e.process_id is null and i.started_by = 'bob'")" 'bob|bob|local'
sql 'select count(*) from wf.fsck()' >"$WORK/fsck"
is 'the workspace is sound' "$(cat "$WORK/fsck")" 0
done_testing
