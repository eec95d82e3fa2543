#!/usr/bin/env bash
# perl.sh - perl compiles each of its scripts and modules without a warning, and
# each is strict.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT"

# files: those whose name says so, and those whose first line does.
files() {
    find . \( -path ./.git -o -path ./build \) -prune -o -type f -print0 |
        xargs -0 awk 'FNR == 1 && (/^#!.*perl/ || FILENAME ~ /[.]p[lm]$/) { print FILENAME }
            { nextfile }' | sort
}

while read -r file; do
    is "$file" "$(perl -w -I "$(dirname "$file")" -c "$file" 2>&1)" "$file syntax OK"
done < <(files)
mapfile -t scripts < <(files)
is 'each script and module in Perl is strict and has warnings' \
    "$(grep -LE '^use strict;' "${scripts[@]}"; grep -LE '^use warnings;' "${scripts[@]}")" ''
done_testing
