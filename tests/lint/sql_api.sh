#!/usr/bin/env bash
# sql_api.sh - the programs call procedures and read views of wf, and never
# name its tables; the driver's calls have C functions of the same name.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT"

# named REGEX: where the code, comments apart, names something that matches.
named() {
    local file
    while read -r file; do
        gcc -fpreprocessed -dD -E "$file" 2>/dev/null | grep -v '^#' |
            grep -oE "$1" | sed "s|^|$file: |" || true
    done < <(find runtime driver console -name '*.[ch]' ! -path 'console/lang/*' | sort)
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
