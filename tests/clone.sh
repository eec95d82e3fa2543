# shellcheck shell=bash
# clone.sh - a database for one test: a clone of the template, gone at its end.

# clone_begin NAME: $database is its name.
clone_begin() {
    database=$1_$$
    createdb --template=wf_template "$database"
    trap clone_end EXIT
}

# Where somebody asks for it ($PROFILE), what was executed in it is kept.
clone_end() {
    [ -z "${PROFILE:-}" ] ||
        psql --no-psqlrc --quiet --tuples-only --no-align \
            --field-separator=$'\t' --dbname="$database" \
            --file="$ROOT/tests/coverage/profile.sql" \
            --output="$PROFILE/$database"
    dropdb --force "$database"
}
