#!/usr/bin/env bash
# operating.sh - what has happened when docs/operating.md begins: a service does not answer.
set -euo pipefail
cat >nightly.wf <<'END'
/** Loads one day of sales. */
workflow nightly(day: date = "2026-11-27") {
  forall<max = 2>(region in ["north", "south"]) {
    lb.Log(msg = "loading ${region}") with title("load ${region}")
  } ;
  http.Request(url = "http://127.0.0.1:8000/${day}.json") as export
  ||
  wf.Sleep(duration = 1h) with title("wait for the bank") ;
  lb.Log(msg = "${day}: ${export.status}")
}
END
sed -i "s/8000/$PORT/" nightly.wf
wf-console local start
wf-console install nightly.wf
wf-console start nightly
