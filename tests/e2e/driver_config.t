#!/usr/bin/env bash
# driver_config.t - what the driver says to those who set it up.
. "$(dirname "$0")/../lib.sh"

# says REGEX: the last command's output.
says() {
    like "… and says: $1" "$OUTPUT" "$1"
}

exits 'no database' 1 wf-driver -n -d "host=$WORK"
says 'No such file or directory'
says 'hint: '
exits 'an unknown option' 2 wf-driver --nope
says 'usage: '
exits 'an argument too many' 2 wf-driver more
exits 'a value out of range' 78 wf-driver -n -o slots=0
says '^wf-driver: slots is 0, outside of 1 to 10000'
exits 'an unknown key' 78 wf-driver -n -o slotz=1
says 'unknown option slotz'
says 'hint: .*--print-config'
exits 'an unknown transport' 78 wf-driver -n -o transports=pigeon
exits 'a network that is none' 78 wf-driver -n -o http.deny=10.0.0.0/33
says 'http.deny: "10.0.0.0/33" is no host or network'
exits 'an unknown level' 78 wf-driver -n -o log_level=loud

printf 'slots = 3;\nhttp: {\n    timeout = 3;\n};\n' >"$WORK/wrong.conf"
exits 'an unknown key in a file' 78 wf-driver -n -c "$WORK/wrong.conf"
says "$WORK/wrong.conf:3: unknown option http.timeout"
exits 'no file' 78 wf-driver -n -c "$WORK/none.conf"

wf-driver --print-config >"$WORK/printed.conf"
ok 'the example is what is printed' \
    diff "$ROOT/config/driver.conf.example" "$WORK/printed.conf"

pg_start
exits 'no workspace' 1 wf-driver -n
says 'hint: Install the workspace'
workspace_install
sql 'create role nobody_special login'
PGUSER=nobody_special exits 'no rights' 1 wf-driver -n
says 'hint: Grant the role wf_driver'
login_create good wf_driver
PGUSER=good exits 'all is well, with the example' 0 \
    wf-driver -n -c "$ROOT/config/driver.conf.example"

# What is typed wins over the file, wherever it stands.
printf 'slots = 3;\nname = "from the file";\n' >"$WORK/driver.conf"
wf-driver -o slots=4 -c "$WORK/driver.conf" --print-config >"$WORK/both.conf"
is 'options win over the file' "$(grep -E '^(slots|name) ' "$WORK/both.conf")" \
    'name = "from the file";
slots = 4;'
done_testing
