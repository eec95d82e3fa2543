#!/usr/bin/env bash
# layers.sh - who may know whom: the arrows of docs/internals.md, no others.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT"

# only NAME HEADER-REGEX FILES-REGEX: no other file includes such a header.
only() {
    local found
    found=$(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]+[<\"]($2)" \
        common driver console --include='*.[ch]' |
        grep -vE "^($3):" || true)
    is "$1" "$found" ''
}

# Each foreign library is included by one file.
only 'libpq is for common/pg.c, pg_{result,conninfo,exposure,hosts}.c' 'libpq-fe\.h' \
    'common/pg(_result|_conninfo|_exposure|_hosts)?\.c'
only 'json-c is for common/json.c' 'json-c/' 'common/json\.c'
only 'libconfig is for driver/config.c' 'libconfig\.h' 'driver/config\.c'
only 'libcurl is for driver/http.c, http_multi and http_url.c' 'curl/' \
    'driver/http(_url)?\.c|driver/http_multi\.[ch]'

# 1.5 is 1.5, whatever LC_NUMERIC says: nobody asks for more than characters.
is 'numbers are those of C' "$(grep -rnE '(set|new)locale' common driver \
    console --include='*.[ch]' |
    grep -vE '\((LC_CTYPE(_MASK)?, |LC_ALL_MASK, "C",)' || true)" ''

# Areas.
only 'the driver is for itself' 'driver/' 'driver/[^:]*'
only 'the console is for itself' 'console/' 'console/[^:]*'

# forbids NAME HEADER-REGEX FILE…: none of the files includes such a header.
forbids() {
    local name=$1 regex=$2
    shift 2
    is "$name" "$(grep -nE \
        "^[[:space:]]*#[[:space:]]*include[[:space:]]+[<\"]($regex)" \
        "$@" /dev/null || true)" ''
}

mapfile -t transports < <(find driver -name 'transport*.[ch]' \
    ! -name 'transport_sql.*' | sort)
forbids 'common knows only itself' '(driver|console)/' common/*.[ch]
forbids 'lang is text in, tree out: nothing of databases or terminals' \
    'common/(pg|log|mono)|console/[^l/]|console/l[^a]|driver/' \
    console/lang/*.[ch]
forbids 'a transport knows neither the workspace nor the database' \
    'common/pg|driver/(workspace|scheduler)\.' "${transports[@]}"
done_testing
