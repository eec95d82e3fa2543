#!/usr/bin/env bash
# docs.t - the documents that are printed from the database are up to date.
. "$(dirname "$0")/../lib.sh"

mkdir "$WORK/docs"
ok 'they are printed' "$ROOT/tests/print_docs" "$WORK/docs"
for script in "$ROOT"/docs/print/*.sql; do
    name=docs/$(basename "$script" .sql).md
    ok "$name (./dev docs prints it)" diff "$ROOT/$name" "$WORK/$name"
done
done_testing
