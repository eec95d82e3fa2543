#!/usr/bin/env bash
# layers.sh - who may know whom: the arrows of docs/internals.md, no others.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT"

# only NAME HEADER-REGEX FILES-REGEX: no other file includes such a header.
only() {
    local found
    found=$(search grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]+[<\"]($2)" \
        common runtime driver console --include='*.[ch]' |
        search grep -vE "^($3):")
    is "$1" "$found" ''
}

# Each foreign library is included by one file.
only 'libpq is for common/pg.c, pg_{result,conninfo,exposure,hosts}.c' 'libpq-fe\.h' \
    'common/pg(_result|_conninfo|_exposure|_hosts)?\.c'
only 'json-c is for common/json.c' 'json-c/' 'common/json\.c'
only 'libconfig is for driver/config/' 'libconfig\.h' 'driver/config/config\.c'
only 'libcurl is for driver/transport/http/' 'curl/' 'driver/transport/http/[^:]*'

# 1.5 is 1.5, whatever LC_NUMERIC says: nobody asks for more than characters.
is 'numbers are those of C' "$(search grep -rnE '(set|new)locale' common runtime \
    driver console --include='*.[ch]' |
    search grep -vE '\((LC_CTYPE(_MASK)?, |LC_ALL_MASK, "C",)')" ''

# A search for the name then finds every use. The expression begins with the
# classes of SQLSTATEs.
is 'SQLSTATEs have names, in common/sqlstate.h' "$(search grep -rnE \
    '"(0[0-9ABFLPZ]|2[0-8BDF]|3[489BDF]|4[024]|5[34578]|72|F0|HV|P0|XX|WF)[0-9A-Z]{3}"' \
    common runtime driver console --include='*.[ch]' |
    search grep -v '^common/sqlstate\.h:')" ''

# forbids NAME HEADER-REGEX FOLDER…: no file there includes such a header.
forbids() {
    local name=$1 regex=$2
    shift 2
    is "$name" "$(search grep -rnE --include='*.[ch]' \
        "^[[:space:]]*#[[:space:]]*include[[:space:]]+[<\"]($regex)" \
        "$@")" ''
}

# Areas, and the folders of the driver.
only 'the driver is for itself' 'driver/' 'driver/[^:]*'
only 'the console is for itself' 'console/' 'console/[^:]*'
forbids 'common knows only itself' '(runtime|driver|console)/' common
forbids 'runtime knows only common and itself' '(driver|console)/' runtime
forbids 'lang is text in, tree out: nothing of databases or terminals' \
    'common/(pg|log|mono)|console/[^l/]|console/l[^a]|runtime/|driver/' \
    console/lang
forbids 'the configuration knows no other part of the driver but secret/grant' \
    'driver/([a-z_]+\.|secret/[^g]|transport/)' driver/config
forbids 'a transport does not know how requests come' \
    'driver/(fleet|scheduler|turn|runner|request|reports|workspace)\.' \
    driver/transport driver/secret
forbids 'a transport other than sql knows no database' 'common/pg|runtime/session' \
    driver/transport/*.[ch] driver/transport/{http,ssh}
done_testing
