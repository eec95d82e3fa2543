#!/usr/bin/env bash
# words.sh - nothing of one machine, nothing unfinished, no loose whitespace.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT"

# nowhere NAME REGEX [GREP OPTION…]
nowhere() {
    local name=$1 regex=$2
    shift 2
    is "$name" "$(search grep -rnIE --exclude-dir=.git --exclude-dir=build \
        --exclude=words.sh "$@" -- "$regex" .)" ''
}

nowhere 'no paths of a machine' "($ROOT|/root|/home/[a-z]+)/"
nowhere 'nothing announced and not done' '\b(TODO|FIXME|XXX|HACK)\b'
nowhere 'no whitespace at the end of a line' '[[:blank:]]$' \
    --exclude='*.out'

# The name of a test stands alone in a red line of CI: it does not begin in the
# midst of a sentence. NAME_BEGINS is how a name must not begin, after a number
# such as "D49: ". A name is the last argument of an assertion in SQL, the first
# one in a shell script.
NAME_BEGINS="([A-Z][-A-Z0-9]*[0-9]((, | to | and )[A-Z][-A-Z0-9]*[0-9])*: )?(and|or|so|but|nor|\
it|its|that|what|who|whose|they|them|their|he|his|she|her|which|then|also|neither|else|is|are|\
was|were|has|have) "
# fragments PATTERN FILE…: lines with a name that begins so
fragments() {
    grep -nE -- "$1" "${@:2}" || true
}
mapfile -t files < <(find tests/sql -name '*.sql' ! -name coverage.sql ! -name house.sql)
is 'each name of a test in SQL is a sentence' \
    "$(fragments "'${NAME_BEGINS}[^']*'\)+ *(;|as |from |where )" "${files[@]}")" ''
mapfile -t files < <(find tests -name '*.t')
is 'each name of a test in a script is a sentence' \
    "$(fragments "^ *([A-Z]+=[^ ]+ )*(is|ok|like|unlike|exits|pass|fail|nowhere|holds [a-z]+|\
finds [a-z_]+|fault [a-z_]+|refused|attack|weaker) ['\"](… )?$NAME_BEGINS" "${files[@]}")" ''

# Turns that strangers had to read twice, in code, tests and configuration: a
# clause in place of a noun ("who waits"), "no" in place of "not a".
TURNS='(^|[-.:;/*#("] ?)who (waits|only|reports|leaves|asks|lives|looks)\b|'\
'\bwhat is none\b|\bwho is (no|too many)\b|\bit is said\b|\ball of his\b|'\
'\b(is|are) no (duration|int|boolean|JSON|jsonb|cron expression)\b'
is 'no turn that has to be read twice' "$(search grep -rnIiE \
    --exclude-dir={.git,build,docs,migrations} --exclude={CHANGELOG.md,words.sh} \
    -- "$TURNS" .)" ''
done_testing
