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
printf 'sltos = 3;\n' >"$WORK/wrong.conf"
exits 'a misspelled key in a file' 78 wf-driver -n -c "$WORK/wrong.conf"
says 'hint: Did you mean slots\?'
printf 'connection = "host=%s password=word";\n' "$WORK" >"$WORK/open.conf"
chmod 644 "$WORK/open.conf"
exits 'a password for all to read' 78 wf-driver -n -c "$WORK/open.conf"
says "hint: chmod 600 $WORK/open.conf"
chmod 600 "$WORK/open.conf"
exits 'a password for its owner' 1 wf-driver -n -c "$WORK/open.conf"
mkfifo "$WORK/fifo.conf"
for file in "$WORK" "$WORK/fifo.conf" /dev/zero; do
    exits "no file: ${file##*/}" 78 timeout 60 wf-driver -n -c "$file"
    says 'is not a file of at most 1 MiB'
done
exits 'a port out of range' 78 wf-driver -n -d 'host=x port=99999'
exits 'an unknown keyword of libpq' 78 wf-driver -n -d 'hots=x'
for connection in 'postgresql://u:S3CR3T@[::1/x' 'postgresql://u:S3CR%3T@h/x' \
    'host=x password=a S3CR3T'; do
    exits 'a connection that cannot be read' 78 wf-driver -n -d "$connection"
    unlike '… may have a password, which is not shown' "$OUTPUT" S3C
done
exits 'no TLS, on purpose' 1 wf-driver -n -d 'host=no.invalid sslmode=disable'
says 'connection: sslmode=disable to no\.invalid'
PGSSLMODE=disable exits 'the same by the environment' 1 \
    wf-driver -n -d 'host=no.invalid'
says 'connection: sslmode=disable to no\.invalid'
exits 'no TLS at home' 1 wf-driver -n -d "host=$WORK sslmode=disable"
unlike '… is nothing to speak of' "$OUTPUT" 'sslmode'
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
PGUSER=good exits 'fewer descriptors than slots may need' 0 \
    bash -c 'ulimit -n 500; exec wf-driver -n -o slots=300'
says 'slots is 300: this may take 1270 descriptors, and .* no more than 500'
PGUSER=good exits 'the same, and the limit is one that may be raised' 0 \
    bash -c 'ulimit -S -n 500; exec wf-driver -n -o slots=300'
unlike '… is nothing to speak of' "$OUTPUT" descriptors

# Two that are called the same are two.
twins() {
    sql "select count(distinct driver_id) from wf.driver_v
          where name = 'twin' and state = '$1'"
}
PGUSER=good spawn driver-twin1 wf-driver -o name=twin
PGUSER=good spawn driver-twin2 wf-driver -o name=twin
wait_sql 60 "select count(*) = 2 from wf.driver_v
    where name = 'twin' and state = 'live'" || true
is 'both of one name work' "$(twins live)" 2
for twin in driver-twin1 driver-twin2; do
    status=0
    stop "$twin" || status=$?
    is "$twin leaves" "$status" 0
done
is 'each for itself' "$(twins left)" 2

# What is typed wins over the file, wherever it stands.
printf 'slots = 3;\nname = "from the file";\n' >"$WORK/driver.conf"
wf-driver -o slots=4 -c "$WORK/driver.conf" --print-config >"$WORK/both.conf"
is 'options win over the file' "$(grep -E '^(slots|name) ' "$WORK/both.conf")" \
    'name = "from the file";
slots = 4;'
done_testing
