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

# answered STATUS: it has done what it says, or was refused what it names (3), or
# that is not there, as "x" and "nightly" are not here (1).
answered() {
    [ "$1" -eq 0 ] || [ "$1" -eq 3 ] || { [ "$1" -eq 1 ] && grep -qE "$ABSENT" "$WORK/out"; }
}
ABSENT='\b(no|nothing)\b|does not exist|can ?not be read|not installed'

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
        timeout 60 bash -c "${command%% |*} --yes" </dev/null >"$WORK/out" 2>&1 || status=$?
        ok "$page: $command ($status)" answered "$status"
        answered "$status" || diag "$(cat "$WORK/out")"
    done < <(commands "$file")
    awk '/^```sql/ { inside = 1; next } /^```/ { inside = 0 } inside' "$file" >"$WORK/$page.sql"
    [ ! -s "$WORK/$page.sql" ] || ok "$page: its SQL" psql --no-psqlrc --quiet \
        --set=ON_ERROR_STOP=1 --file="$WORK/$page.sql" --output="$WORK/out"
done

# links FILE: the pages that it points to.
links() {
    search grep -o '](\([^)#]*\)' "$1" | cut -c 3- | search grep -v '^http' | sort -u
}
for file in "$ROOT"/README.md "$ROOT"/CONTRIBUTING.md "$ROOT"/docs/*.md; do
    is "$(basename "$file"): its links lead somewhere" \
        "$(cd "$(dirname "$file")" && links "$file" | while IFS= read -r link; do
            [ -e "$link" ] || printf '%s\n' "$link"
        done)" ''
done

# anchors: "PAGE#ANCHOR" of each heading, as those who show Markdown name them
anchors() {
    perl -CSD -ne '
        $inside = !$inside if /^```/;
        next if $inside || !/^#+ (.*)/;
        my $name = lc $1;
        $name =~ s/[^\w\- ]//g;
        $name =~ s/ /-/g;
        my ($page) = $ARGV =~ m{([^/]+)$};
        print "$page#$name\n"' "$ROOT"/README.md "$ROOT"/CONTRIBUTING.md "$ROOT"/docs/*.md
}
# pointed: the same of each link to a heading, with the page that it stands on before it
pointed() {
    perl -CSD -ne '
        my ($page) = $ARGV =~ m{([^/]+)$};
        while (/\]\((?!http)([^)#]*)#([^)]+)\)/g) {
            my ($to, $name) = ($1, $2);
            $to =~ s{.*/}{};
            print $to eq "" ? $page : $to, "#$name\n";
        }' "$ROOT"/README.md "$ROOT"/CONTRIBUTING.md "$ROOT"/docs/*.md
}
is 'each link to a heading finds it' \
    "$(comm -23 <(pointed | sort -u) <(anchors | sort -u))" ''
sound
done_testing
