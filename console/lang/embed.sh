#!/bin/sh
# embed.sh FILE.wf... - print the C file that holds the standard library.
set -eu
export LC_ALL=C

printf '/* printed by console/lang/embed.sh; do not edit */\n'
printf '#include <stddef.h>\n\n#include "console/lang/stdlib.h"\n\n'
printf 'const struct lang_library lang_stdlib[] = {\n'
for file; do
	printf '\t{ "%s",\n' "$(basename "$file" .wf)"
	sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/?/\\?/g' \
	    -e 's/^/\t  "/' -e 's/$/\\n"/' "$file"
	printf '\t},\n'
done
printf '\t{ NULL, NULL },\n};\n'
