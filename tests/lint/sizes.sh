#!/usr/bin/env bash
# sizes.sh - functions up to 80 lines, files up to 700: a longer one is a
# table waiting to be written.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT"

FUNCTION_MAX=80
FILE_MAX=700

found=$(find common driver console workspace-sql tests \
    \( -name '*.[ch]' -o -name '*.sql' -o -name '*.sh' \) -exec wc -l {} + |
    awk -v max=$FILE_MAX '$2 != "total" && $1 > max { print $2, $1 }')
is "no file is longer than $FILE_MAX lines" "$found" ''

found=$(find common driver console -name '*.c' -exec ctags --c-kinds=f \
    --output-format=xref --_xformat='%{end} %n %N %F' {} + |
    awk -v max=$FUNCTION_MAX '$1 - $2 >= max { print $4, $3, $1 - $2 + 1 }')
is "no C function is longer than $FUNCTION_MAX lines" "$found" ''

done_testing
