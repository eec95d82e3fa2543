#!/usr/bin/env bash
# guides.t - the commands in the guides are commands, their SQL is SQL, and the
# pages that they point to are there.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start
driver_start one
wf-console install "$ROOT/tests/console/flows/repair.wf" >"$WORK/install"
id=$(begin repair)
failed "$id" 3

# commands FILE: those in its blocks and in its text, with something in place
# of what they leave open.
commands() {
    {
        awk '/^```/ { inside = !inside; next } inside && /^wf-console / { sub(/  +#.*/, ""); print }' "$1"
        # shellcheck disable=SC2016
        grep -o '`wf-console [^`]*`' "$1" | tr -d '`'
    } | sed -e "s|\\b17/42\\b|$id/1|; s/\\b17\\b/$id/; s/…/x/" \
        -e 's/\bNAME\b/x/; s/\bDRIVER\b/x/; s/\b\(MAX\|NUMBER\|JSON\|VERSION\)\b/1/; s/\bINSTANCE\b/1/; s/\bFILE\b/x.wf/; s/\bWORKFLOW\b/x/' |
        sort -u
}

cd "$WORK"
export NO_COLOR=1 TERM=dumb
for page in operating dba lb-workflow console driver coming-from; do
    file=$ROOT/docs/$page.md
    while IFS= read -r command; do
        case $command in
        *watch* | *' local '* | *'help COMMAND'* | *' run '*) continue ;;
        esac
        status=0
        command=${command% --yes}
        timeout 60 bash -c "${command% |*} --yes" </dev/null >"$WORK/out" 2>&1 || status=$?
        ok "$page: $command ($status)" test "$status" -ne 2
        [ "$status" -ne 2 ] || diag "$(cat "$WORK/out")"
    done < <(commands "$file")
    awk '/^```sql/ { inside = 1; next } /^```/ { inside = 0 } inside' "$file" >"$WORK/$page.sql"
    [ ! -s "$WORK/$page.sql" ] || ok "$page: its SQL" psql --no-psqlrc --quiet \
        --set=ON_ERROR_STOP=1 --file="$WORK/$page.sql" --output="$WORK/out"
done

# links FILE: the pages that it points to.
links() {
    grep -o '](\([^)#]*\)' "$1" | cut -c 3- | grep -v '^http' | sort -u
}
for file in "$ROOT"/README.md "$ROOT"/docs/*.md; do
    is "$(basename "$file"): its links lead somewhere" \
        "$(cd "$(dirname "$file")" && links "$file" | while IFS= read -r link; do
            [ -e "$link" ] || printf '%s\n' "$link"
        done)" ''
done
sound
done_testing
