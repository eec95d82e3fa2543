#!/bin/sh
# embed.sh FILE.sh... - print the C file that holds these scripts: each becomes one
# line, without its comments.
set -eu
export LC_ALL=C

printf '/* printed by driver/transport/ssh/embed.sh; do not edit */\n'
printf '#include "driver/transport/ssh/scripts.h"\n'
for file; do
	printf '\nconst char ssh_script_%s[] =\n' "$(basename "$file" .sh)"
	sed -e 's/^[[:space:]]*//' -e '/^#/d' -e '/^$/d' \
	    -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/?/\\?/g' \
	    -e 's/^/\t"/' -e 's/$/ "/' -e '$s/ "$/";/' "$file"
done
