#!/usr/bin/env bash
# sql_api.sh - the programs call procedures and read views of wf, and never
# name its tables; the driver's calls have C functions of the same name.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT"

# Every line of code behind its file's name; the compiler takes the comments out.
find runtime driver console -name '*.[ch]' ! -path 'console/lang/*' -print0 | sort -z |
    xargs -0 awk 'FNR == 1 { printf "# 1 \"%s\"\n", FILENAME } { print }' |
    gcc -w -fpreprocessed -dD -E -x c - |
    awk -F '"' '/^# [0-9]+ "/ { file = $2 } !/^#/ { print file ": " $0 }' >"$WORK/code"
ok 'there is code' test -s "$WORK/code"

# named REGEX: where the code names something that matches.
named() {
    perl -ne 'my ($file) = /^(.*?: )/; print "$file$1\n" while /('"$1"')/g' "$WORK/code"
}

# wf.NAME( is a procedure, wf.NAME_v a view; anything else is too much.
is 'only views and procedures are named' \
    "$(named '\bwf\.[a-z_][a-z0-9_]*[(]?' |
        search grep -vE 'wf\.([a-z0-9_]+[(]|[a-z0-9_]+_v)$')" ''
is 'no internal procedure is called' "$(named '\bwf\._[a-z_]+')" ''

while read -r name; do
    ok "wf.$name has a C function of its name" \
        grep -qE "^([a-z]+_)*$name\\(" driver/*.c
done < <(grep -ohE 'wf\.[a-z_]+[(]' driver/*.c | sed 's/wf\.//; s/(//' |
    sort -u)
done_testing
