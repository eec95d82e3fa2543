#!/usr/bin/env bash
# gantt_undo.t - what is undone in a real run is drawn behind the failure, last
# first, whoever begins it; and the simulator foretells it.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start
driver_start one
cat >"$WORK/trip.wf" <<'END'
workflow trip(fail: bool) {
  try {
    lb.Log(msg = "hotel") as hotel
      with undo {
        lb.Log(msg = "no hotel") as no_hotel
      } ;
    lb.Log(msg = "flight") as flight
      with undo {
        lb.Log(msg = "no flight") as no_flight
      } ;
    if (fail) {
      wf.Fail(msg = "no car") as car
    } ;
    wf.Sleep(duration = 1h) as stay
  } catch (e) {
    lb.Log(msg = "sorry") as sorry
  }
}
END
ok 'install' wf-console install "$WORK/trip.wf"

# The names of the tasks, from above to below, in the forms of gantt and of tree.
bars() {
    wf-console gantt "$@" |
        sed -nE 's/^ *[0-9]+  . [^ ]+ as ([a-z_]+) .*/\1/p' | paste -sd ' '
}

drawn() {
    wf-console gantt "$1" --as svg |
        sed -nE 's/^<text .*>[0-9]+ [^ ]+ as ([a-z_]+)<.*/\1/p' | paste -sd ' '
}

branches() {
    wf-console tree "$1" | grep -v 'undo of' |
        sed -nE 's/.* [^ ]+ as ([a-z_]+) .*/\1/p' | paste -sd ' '
}

# overlaps ID: how many undos began before what they come after had ended.
overlaps() {
    sql "select count(*) from (select g.*, lag(g.ended_at) over (order by g.k) as before
           from wf.gantt($1) with ordinality g (process_id, label, kind, attempt,
                state, enabled_at, started_at, ended_at, progress, k)) g
          where g.label like '% as no_%' and g.started_at < g.before"
}

# --- a task fails

all='hotel flight car no_flight no_hotel sorry'
id=$(begin trip -p fail=true)
ended "$id"
is 'a trip that fails is taken back, and ends well' "$(state_of "$id")" 'END success'
is 'gantt: the undos come behind the failure, last first' "$(bars "$id")" "$all"
is 'graph: the undos come behind the failure, last first' "$(drawn "$id")" "$all"
is 'tree: the undos stand below the failed body, last first' "$(branches "$id")" "$all"
is 'each of them begins when what is above it has ended' "$(overlaps "$id")" 0
after=$(sql "select process_id from wf.task_v
    where instance_id = $id and task_type = 'wf.Fail'")
is 'gantt: a page goes on behind a task' "$(bars "$id" --after "$after")" \
    'no_flight no_hotel sorry'
is 'the simulator says the same' "$(wf-console -o csv simulate trip -p fail=true |
    sed -nE 's/^[^,]*,[^,]*,[^ ]+ as ([a-z_]+),[A-Z_]*,(success|fail),.*/\1/p' |
    paste -sd ' ')" "$all"

# --- an operator aborts it: the first undo begins in the console's session, the
# next in the driver's

all='hotel flight stay no_flight no_hotel'
id=$(begin trip -p fail=false)
in_state "$id" wf.Sleep WAITING
ok 'abort with undo' wf-console abort --undo --yes "$id"
ended "$id"
is 'a trip that is aborted is taken back' "$(state_of "$id")" 'ABORTED aborted'
is 'gantt: it is drawn in the same order' "$(bars "$id")" "$all"
is 'abort: the picture has the undos in the same order' "$(drawn "$id")" "$all"
is 'abort: the tree has the undos in the same order' "$(branches "$id")" "$all"
is 'abort: each undo begins when the one above has ended' "$(overlaps "$id")" 0

sound
done_testing
