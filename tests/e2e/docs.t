#!/usr/bin/env bash
# docs.t - the documents that are printed from the database are up to date, the kinds of
# errors among them are all that there are, and the list of attacks names the tests that
# make them.
. "$(dirname "$0")/../lib.sh"

mkdir "$WORK/docs"
ok 'the pages are printed' "$ROOT/tests/print_docs" "$WORK/docs"
for script in "$ROOT"/docs/print/*.sql; do
    name=docs/$(basename "$script" .sql).md
    ok "$name (./dev docs prints it)" diff "$ROOT/$name" "$WORK/$name"
done

# kinds: of the errors that the driver makes, and the standard library
kinds() {
    find "$ROOT/driver" -name '*.c' -exec perl -0ne \
        'print "$1\n" while /\b(?:outcome_error|fail|end_unbegun)\(\s*[^,"]+,\s*"([a-z]+)"/g;
         print "$1\n" while /\bkind = "([a-z]+)"/g' {} +
    sed -n 's/.*kind: .*"\([a-z]*\)".*/\1/p' "$ROOT"/workspace-sql/stdlib/*.wf
}
known() {
    # shellcheck disable=SC2016 # marks of the page
    sed -n '/^## Kinds/,/^## SQLSTATEs/s/^| `\([a-z]*\)` |.*/\1/p' "$ROOT/docs/errors.md" | sort
}
is 'each kind that the driver or a standard task makes is in docs/errors.md' \
    "$(kinds | sort -u | comm -23 - <(known))" ''
ok 'there are such kinds' test "$(kinds | sort -u | wc -l)" -ge 8

# reasons: of the view, and those of the operator's page, which says what to do about each
# shellcheck disable=SC2016 # marks of the page
is 'docs/operating.md has each reason, and no other' \
    "$(sed -n '/^| reason | it means/,/^$/s/^| `\([a-z ]*\)` |.*/\1/p' "$ROOT/docs/operating.md" | grep -vx note | sort)" \
    "$(sed -n "/create or replace view wf.reason_v/,/) r (/s/^  *('\([a-z ]*\)', '.*/\1/p; /(values/s/.*//" \
        "$ROOT/workspace-sql/code/look/place.sql" | grep . | sort)"

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
