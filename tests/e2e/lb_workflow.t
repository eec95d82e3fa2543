#!/usr/bin/env bash
# lb_workflow.t - the examples of the lb-workflow manual run as they stand,
# and their groups and limits do what the manual says.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
DATA=$ROOT/tests/e2e/data

nginx_start "$(cat "$DATA/lb_workflow/nginx.conf")"
workspace_start
driver_start one

# The library that declares lb.tdx.Import and lb.tdx.Export.
cp -r "$DATA/library" "$WORK/library"
sed -i "s|SERVER|$HTTP_URL|" "$WORK/library/lb/tdx.wf"

for name in hello forall_max driver_meta driver_meta_global; do
    ok "$name.wf is installed as it stands" wf-console install \
        --library "$WORK/library" "$DATA/lb_workflow/$name.wf"
done

# happened ID: the moves of its tasks that begin and end something, in order.
happened() {
    sql "select string_agg(t.name || ' ' || e.event, ', ' order by e.seq)
           from wf.event_v e
           join wf.task_v t using (instance_id, process_id)
          where instance_id = $1
            and e.event in ('start', 'success', 'cleaned')"
}

# When the tasks of an instance that are in group foo have a place in it.
held="
    with held as (
        select t.process_id, t.name, t.group_name,
               min(e.at) filter (where e.event = 'start') as since,
               max(e.at) filter (where e.event = 'success') as until
          from wf.event_v e
          join wf.task_v t using (instance_id, process_id)
         where instance_id = :id
         group by t.process_id, t.name, t.group_name
    )"

# in_group ID: how many tasks were in the group, and how many pairs of them
# at the same time.
in_group() {
    sql_of "$1" "$held select count(distinct a.process_id) || ' '
           || count(*) filter (where a.process_id < b.process_id
                                 and a.since < b.until and b.since < a.until)
          from held a cross join held b
         where a.group_name = 'foo' and b.group_name = 'foo'"
}

# joins_ahead ID: how many Joins had ended before the first place was free.
joins_ahead() {
    sql_of "$1" "$held select count(*) from held
         where name = 'lb.Join'
           and until < (select min(until) from held where group_name = 'foo')"
}

sql_of() {
    sql "${2//:id/$1}"
}

id=$(begin forall_max_example)
ended "$id" || true
is 'forall<max=1> ends' "$(state_of "$id")" 'END success'
one='lb.Join start, lb.Join success, lb.tdx.Import start,'
one+=' lb.tdx.Import success, lb.tdx.Import cleaned'
is 'forall<max=1>: one body after the other' "$(happened "$id")" "$one, $one"
is 'each import was deleted when it had ended' \
    "$(grep -c '^DELETE /import/result 204' "$WORK/nginx/access.log")" 2

id=$(begin driver_meta_example)
ended "$id" || true
is 'the group ends' "$(state_of "$id")" 'END success'
is 'group foo: two imports, never at the same time' "$(in_group "$id")" '2 0'
is 'group foo: the Joins ran ahead of it' "$(joins_ahead "$id")" 2

id=$(begin driver_meta_global_example)
ended "$id" || true
is 'the global group ends' "$(state_of "$id")" 'END success'
is 'global group: two exports, two imports, never two at the same time' \
    "$(in_group "$id")" '4 0'
is 'global group: the Joins ran ahead of it' "$(joins_ahead "$id")" 2
is 'the group is known, and empty' \
    "$(sql 'select name, max, held, waiting from wf.group_v')" 'foo|1|0|0'

id=$(begin hello)
failed "$id" || true
ok 'hello world: the driver has said so' \
    grep -q 'Hello World!' "$WORK/driver-one.log"
is 'hello world: Fail waits for an operator' \
    "$(sql "select reason from wf.explain($id) where detail like '%Oops!%'")" \
    failed
ok 'retry' wf-console retry "$id" --reason 'once more'
wait_sql 20 "select attempt = 2 and state = 'FAILED' from wf.task_v
    where instance_id = $id and name = 'lb.Fail'" || true
is 'hello world: it has failed again' "$(state_of "$id")" RUNNING
ok 'ignore' wf-console ignore "$id"
ended "$id" || true
is 'hello world: it ends with a warning' "$(state_of "$id")" 'END warning'
sound
done_testing
