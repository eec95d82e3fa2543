#!/usr/bin/env bash
# answer.t - a form at a terminal: each field is asked for, and asked again while
# what is typed is wrong.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start
driver_start one
export NO_COLOR=1
cat >"$WORK/ask.wf" <<'WF'
workflow ask() -> {answer: json} {
  wf.Input(
    title = "Publish?",
    form = {
      approve: {type: "boolean", title: "Approve it"},
      count: {type: "integer", minimum: 1, description: "How many copies."},
      kind: {type: "string", enum: ["draft", "final"]},
      note: {type: "string", default: "none"},
      pages: {type: "array", items: {type: "integer"}}
    }
  ) as answer ;
  return {answer: answer}
}
WF
ok 'the workflow is installed' wf-console install "$WORK/ask.wf"

# typed KEYS: what the console asks at a terminal of its own, and says
typed() {
    rm -f "$WORK/keys" "$WORK/screen"
    mkfifo "$WORK/keys"
    exec 9<>"$WORK/keys"
    script --quiet --flush --command "stty -echo cols 200; echo ready
        wf-console answer $ID; echo status \$?" "$WORK/screen" <&9 >"$WORK/asking.log" 2>&1 &
    printf '%d\n' "$!" >"$WORK/pids/asking"
    wait_until 20 grep -q ready "$WORK/screen"
    printf '%b' "$1" >&9
    wait "$(pid_of asking)" || true
    rm -f "$WORK/pids/asking"
    exec 9>&-
    tr -d '\r' <"$WORK/screen" | sed '/^Script /d; /^ready$/d; /^$/d'
}
asked() {
    wait_sql 20 "select exists (select from wf.input_v where instance_id = $1 and open)"
    ID=$(sql "select input_id from wf.input_v where instance_id = $1")
}

id=$(begin ask)
asked "$id"
is 'each field is asked for, and asked again while it is wrong' \
    "$(typed 'perhaps\nyes\n0\n2\nother\nfinal\n1, x\n1, 3\n\n')" \
    'Approve it [approve], yes or no: approve is "perhaps", but has to be of type boolean
Approve it [approve], yes or no: How many copies.
count, integer: count is 0, but has to be at least 1
How many copies.
count, integer: kind, one of draft, final: kind is "other", but has to be one of "draft", "final"
kind, one of draft, final: pages, values with commas: pages is [1, "x"], but has an element "x" that has to be of type integer
pages, values with commas: note, string (default "none"): ANSWER
{"kind": "final", "note": "none", "count": 2, "pages": [1, 3], "approve": true}
status 0'
ended "$id" 20
is 'the task has the answer' "$(sql "select output from wf.instance_v where instance_id = $id")" \
    '{"answer": {"kind": "final", "note": "none", "count": 2, "pages": [1, 3], "approve": true}}'
is 'an answer that was given is not asked for again' "$(wf-console answer "$ID" --payload '{}' 2>&1 | head -n 1 | sed 's/ by .*//')" \
    "wf-console: input $ID is answered already"

id=$(begin ask)
asked "$id"
is 'a person who leaves the questions has answered nothing' "$(typed 'yes\n\004')" \
    'Approve it [approve], yes or no: How many copies.
count, integer: wf-console: nothing was answered
status 1'
is 'without a terminal there is a hint' "$(wf-console answer "$ID" 2>&1 </dev/null)" \
    'wf-console: there is no answer
hint: Give --payload or --file, or answer at a terminal, field by field.'
printf '%s' '{"approve": false, "count": 1, "kind": "draft", "pages": []}' >"$WORK/answer.json"
ok 'a file has the answer' wf-console answer "$ID" --file "$WORK/answer.json"
ended "$id" 20
id=$(begin ask)
asked "$id"
ok 'answer --file - takes the answer from standard input' sh -c "wf-console answer $ID --file - <'$WORK/answer.json'"
ended "$id" 20

driver_stop one
done_testing
