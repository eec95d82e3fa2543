#!/usr/bin/env bash
# functions.t [--accept] - no function that the model stands for has changed since somebody
# compared both. With --accept the functions as they are now are those that were compared.
#
# The file functions has a line for each: a hash of its text, its name, and what of the
# model stands for it. A function that is new needs no line before one of these calls it,
# which is a change of that one.
. "$(dirname "$0")/../lib.sh"

MODEL=$ROOT/tests/model
LIST=$MODEL/functions

# hashes DIRECTORY: of each function in it a line: the hash of its text, its name, its
# file. Comments and the layout are no text.
# shellcheck disable=SC2016 # perl's variables, not ours
hashes() {
    (cd "$1" && find . -name '*.sql' -print0 |
        xargs -0 perl -MDigest::SHA=sha256_hex -ne '
            ($name, $text) = ($1, "") if /^create or replace (?:function|procedure) (wf\.\w+)/;
            next unless $name;
            $text .= s/(^|\s)--[^\x27]*$/\n/r;
            next unless /^(\$\$|end);$/;
            $text =~ s/\s+/ /g;
            printf "%.16s %s %s\n", sha256_hex($text), $name, substr($ARGV, 2);
            $name = undef')
}

listed() {
    grep '^[^#]' "$LIST"
}

# changed DIRECTORY: a line for each function that is not as it was.
changed() {
    hashes "$1" | awk '
        FNR == NR { hash[$2] = $1; file[$2] = $3; next }
        hash[$2] != $1 {
            name = $2
            print name, (name in hash ? "(" file[name] ") has changed" : "is gone") ":" \
                substr($0, index($0, name) + length(name))
        }' - <(listed)
}

# accept: the list with the hashes of now.
accept() {
    hashes "$ROOT/workspace-sql/code" | awk '
        FNR == NR { hash[$2] = $1; next }
        /^#/ || !($2 in hash) { print; next }
        { sub(/^[^ ]+/, hash[$2]); print }' - "$LIST" >"$WORK/list"
    cp "$WORK/list" "$LIST"
}

# parts_missing: what the list says stands for a function, but the model does not have.
parts_missing() {
    local name parts part file
    while read -r _ name parts; do
        for part in $parts; do
            case $part in
            *.pml | *.sql) file=$part ;;
            *) grep -qw -- "$part" "$MODEL/$file" || printf '%s: %s has no %s\n' "$name" "$file" "$part" ;;
            esac
        done
    done < <(listed)
}

[ "${1:-}" != --accept ] || accept
found=$(changed "$ROOT/workspace-sql/code")
is 'no function that the model stands for has changed' "$found" ''
[ -z "$found" ] || diag 'Behind each stands what of the model stands for it. Compare both, change the model if it
has to change, and run ./dev test model. Then: bash tests/model/functions.t --accept'
is 'the model has all that the list names' "$(parts_missing)" ''

# the same with a copy in which something has changed
cp -r "$ROOT/workspace-sql/code" "$WORK/code"
before=$(changed "$WORK/code")
sed -i 's/^-- Gives tasks in INIT their place\./-- Something else./; s/^    if f\.wait then/    -- now\n\n&/' "$WORK/code/task/offer.sql"
unlike 'the copy has another comment' "$(cat "$WORK/code/task/offer.sql")" 'Gives tasks in INIT'
is 'a comment changes no function' "$(changed "$WORK/code")" "$before"
sed -i 's/^    if f\.wait then/    if f.wait and true then/' "$WORK/code/task/offer.sql"
like 'another statement changes its function' "$(changed "$WORK/code")" \
    'wf[.]_queue [(]task/offer[.]sql[)] has changed: frame[.]pml enqueue'
done_testing
