#!/usr/bin/env bash
# sizes.sh - functions up to 80 lines, files up to 700: a longer one is a
# table waiting to be written. Lines of SQL up to 120 columns.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT"

FUNCTION_MAX=80
FILE_MAX=700
COLUMN_MAX=120

found=$(find common runtime driver console workspace-sql tests \
    \( -name '*.[ch]' -o -name '*.sql' -o -name '*.sh' \) -exec wc -l {} + |
    awk -v max=$FILE_MAX '$2 != "total" && $1 > max { print $2, $1 }')
is "no file is longer than $FILE_MAX lines" "$found" ''

found=$(find common runtime driver console -name '*.c' -exec ctags --c-kinds=f \
    --output-format=xref --_xformat='%{end} %n %N %F' {} + |
    awk -v max=$FUNCTION_MAX '$1 - $2 >= max { print $4, $3, $1 - $2 + 1 }')
is "no C function is longer than $FUNCTION_MAX lines" "$found" ''

mapfile -t files < <(find workspace-sql -name '*.sql' | sort)

# A function begins with the line that creates it, and ends with the first line
# after it that is "$$;" or "end;".
found=$(awk -v max=$FUNCTION_MAX '
    /^create (or replace )?(function|procedure) / { name = $0; begun = FNR }
    begun && /^(\$\$|end);?$/ {
        if (FNR - begun >= max) print FILENAME ":" begun, FNR - begun + 1, name
        begun = 0
    }' "${files[@]}")
is "no SQL function is longer than $FUNCTION_MAX lines" "$found" ''

found=$(awk -v max=$COLUMN_MAX 'length > max { print FILENAME ":" FNR, length }' \
    "${files[@]}")
is "no line of SQL is longer than $COLUMN_MAX columns" "$found" ''

done_testing
