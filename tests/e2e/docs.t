#!/usr/bin/env bash
# docs.t - the documents that are printed from the database are up to date, and the
# list of attacks names the tests that make them.
. "$(dirname "$0")/../lib.sh"

mkdir "$WORK/docs"
ok 'they are printed' "$ROOT/tests/print_docs" "$WORK/docs"
for script in "$ROOT"/docs/print/*.sql; do
    name=docs/$(basename "$script" .sql).md
    ok "$name (./dev docs prints it)" diff "$ROOT/$name" "$WORK/$name"
done

# the last column of the reviewer's attacks, the first one of our own
listed() {
    # shellcheck disable=SC2016 # marks of the page
    sed -n -e '/^## The attacks/,$ {' -e 's/^| S[0-9].*| \([^|]*\) |$/\1/p' -e 's/^| \(`[a-z_]*`\) |.*/\1/p' \
        -e '}' "$ROOT/docs/security.md" | grep -o '[a-z_]\+' | sort -u
}
made() {
    for test in "$ROOT"/tests/e2e/attack*.t; do
        basename "$test" .t
    done | sort
}
is 'each attack in docs/security.md names a test' \
    "$(listed | while read -r name; do [ -f "$ROOT/tests/e2e/$name.t" ] || echo "$name"; done)" ''
is 'each test of attacks is named there' "$(made | comm -23 - <(listed))" ''
done_testing
