#!/usr/bin/env bash
# driver_config.t - what the driver says to those who set it up.
. "$(dirname "$0")/../lib.sh"

# says REGEX: the last command's output.
says() {
    like "the message says: $1" "$OUTPUT" "$1"
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
exits 'a malformed network' 78 wf-driver -n -o http.deny=10.0.0.0/33
says 'http.deny: "10.0.0.0/33" is not a host or network'
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
PRIVATE=$(private_dir)
install -m 600 "$WORK/open.conf" "$PRIVATE/closed.conf"
exits 'a password for its owner' 1 wf-driver -n -c "$PRIVATE/closed.conf"
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
    unlike 'a password in the connection is not shown' "$OUTPUT" S3C
done
exits 'no file' 78 wf-driver -n -c "$WORK/none.conf"

# --- who could put another file there

printf 'slots = 3;\n' >"$WORK/fine.conf"

# taken NAME FILE, swappable NAME FILE REGEX [OPTION…]
taken() {
    exits "$1: taken" 1 wf-driver -n -c "$2" -d "host=$WORK"
    says 'No such file or directory'
}
swappable() {
    local name=$1 file=$2 regex=$3
    shift 3
    exits "$name: refused" 78 wf-driver -n -c "$file" -d "host=$WORK" "$@"
    says "$regex"
    says 'hint: .*([Pp]ut it|chmod go-w|[Ee]ach directory|It has to belong|Move)'
}

# directory MODE: a new one, $DIR, with such a file in it.
directory() {
    DIR=$(mktemp -d "$WORK/dir.XXXXXX")
    cp "$WORK/fine.conf" "$PRIVATE/closed.conf" "$DIR"
    chmod "$1" "$DIR"
}
for mode in 755 711 500; do
    directory "$mode"
    taken "a file in a directory of mode $mode" "$DIR/fine.conf"
done
directory 757
swappable 'others may write to its directory' "$DIR/fine.conf" \
    "$DIR/fine.conf may be changed by others: the directory $DIR has mode 0757"
mkdir "$DIR/below"
cp "$WORK/fine.conf" "$DIR/below"
swappable 'others may write to a directory above' "$DIR/below/fine.conf" "the directory $DIR has mode 0757"
ln -s "$DIR/below/fine.conf" "$WORK/led.conf"
swappable 'a link leads where others may write' "$WORK/led.conf" "the directory $DIR has mode 0757"
ln -s "$DIR" "$WORK/way"
swappable 'others may write to the directory of a link in the way' "$WORK/way/below/fine.conf" "the directory $DIR has mode 0757"
ln -s "$WORK/fine.conf" "$WORK/good.conf"
ln -s good.conf "$WORK/again.conf"
taken 'a link that nobody else can have made' "$WORK/again.conf"
directory 755
cd "$DIR"
taken 'a relative name' ./../again.conf
cd "$ROOT"
ln -s circle.conf "$WORK/circle.conf"
exits 'a link to itself' 78 wf-driver -n -c "$WORK/circle.conf"
says 'Too many levels of symbolic links'
exits 'a file as a directory' 78 wf-driver -n -c "$WORK/fine.conf/fine.conf"
says 'Not a directory'
directory 1777
swappable 'a file where everybody may put one' "$DIR/fine.conf" "everybody may put a file into $DIR"
ln -s "$WORK/fine.conf" "$DIR/link.conf"
swappable 'a link where everybody may put one' "$DIR/link.conf" "everybody may put a link into $DIR"
mkdir "$DIR/own"
install -m 600 "$WORK/fine.conf" "$PRIVATE/closed.conf" "$DIR/own"
taken 'a directory of its own there' "$DIR/own/fine.conf"
swappable 'a file with a password in a directory of its own there' "$DIR/own/closed.conf" \
    'connection has a password, but the file is below [^,]*, to which everybody may write'
if [ "$(id -u)" -eq 0 ]; then
    directory 775
    swappable 'a group may write to its directory' "$DIR/fine.conf" "the directory $DIR has mode 0775"
    directory 755
    chmod 664 "$DIR/fine.conf"
    swappable 'a group may write to the file' "$DIR/fine.conf" 'may be changed by others'
    directory 755
    chown postgres "$DIR"
    swappable 'the directory is of another user' "$DIR/fine.conf" "the directory $DIR belongs to postgres"
    directory 755
    ln -s "$WORK/fine.conf" "$DIR/link.conf"
    chown -h postgres "$DIR/link.conf"
    swappable 'the link is of another user' "$DIR/link.conf" "the link $DIR/link.conf belongs to postgres"
    chown postgres "$DIR/fine.conf"
    swappable 'the file is of another user' "$DIR/fine.conf" 'may be changed by others'
    directory 755
    chown postgres "$DIR" "$DIR/fine.conf"
    WORK=/ exits 'all of it is of the user of the driver' 1 as_server "$(command -v wf-driver)" \
        -n -c "$DIR/fine.conf" -d 'host=/nowhere'
    says 'No such file or directory'
fi

# The files that options name.
directory 757
printf '*:*:*:*:word\n' >"$DIR/pass"
chmod 600 "$DIR/pass"
: >"$DIR/known"
swappable 'a file of passwords' "$WORK/fine.conf" "connection: passfile: $DIR/pass may be changed by others" \
    -d "host=$WORK passfile=$DIR/pass"
PGPASSFILE=$DIR/pass swappable 'the same by the environment' "$WORK/fine.conf" "passfile: $DIR/pass may be"
swappable 'the same for SQL tasks' "$WORK/fine.conf" 'sql_connection: passfile: ' \
    -o "sql_connection=host=$WORK passfile=$DIR/pass"
swappable 'certificates' "$WORK/fine.conf" 'connection: sslrootcert: ' -d "host=$WORK sslrootcert=$DIR/known"
swappable 'certificates of HTTP' "$WORK/fine.conf" 'http.ca_file: ' -o "http.ca_file=$DIR/known"
chmod 644 "$DIR/known"
swappable 'a certificate for servers' "$WORK/fine.conf" "http.certificates: $DIR/known may be changed" \
    -o "http.certificates=* $DIR/known $PRIVATE/closed.conf"
swappable 'the key of one' "$WORK/fine.conf" "http.certificates: $DIR/pass may be changed" \
    -o "http.certificates=* $WORK/fine.conf $DIR/pass"
chmod 644 "$PRIVATE/closed.conf"
swappable 'a key of one that all may read' "$WORK/fine.conf" \
    'http.certificates: .* may be read or changed by others: .* 0644' \
    -o "http.certificates=* $WORK/fine.conf $PRIVATE/closed.conf"
chmod 600 "$PRIVATE/closed.conf"
exits 'a certificate of three words' 78 wf-driver -n -o 'http.certificates=https://a /b'
says '"https://a /b" has 2 words, not 3'
exits 'a certificate for a server without TLS' 78 wf-driver -n -o 'http.certificates=http://a /b /c'
says 'must begin with https://HOST or \*'
exits 'a version of TLS that is too old' 78 wf-driver -n -o http.tls_min=1.1
says 'http.tls_min must be 1.2 or 1.3, not "1.1"'
exits 'a proxy with a password' 78 wf-driver -n -o http.proxy=http://u:p@proxy:3128
says 'http.proxy must be http://HOST:PORT or https://HOST:PORT, not '
swappable 'the configuration of ssh' "$WORK/fine.conf" 'ssh.config_file: ' -o "ssh.config_file=$DIR/known"
swappable 'a key' "$WORK/fine.conf" 'ssh.options: IdentityFile: ' -o "ssh.options=identityfile=$DIR/pass"
swappable 'known hosts' "$WORK/fine.conf" "ssh.options: UserKnownHostsFile: $DIR/known may be" \
    -o "ssh.options=UserKnownHostsFile=/dev/null $DIR/known"
chmod 644 "$PRIVATE/closed.conf"
swappable 'a key that all may read' "$WORK/fine.conf" 'IdentityFile: .* may be read or changed by others: .* 0644' \
    -o "ssh.options=IdentityFile $PRIVATE/closed.conf"
chmod 600 "$PRIVATE/closed.conf"
exits 'a key for its owner, and what is not there' 1 wf-driver -n -d "host=$WORK passfile=$WORK/nowhere" \
    -o "ssh.options=IdentityFile=$PRIVATE/closed.conf,UserKnownHostsFile=none ~/.ssh/known_hosts"
cd "$DIR"
exits 'a word that ssh takes for no file' 1 wf-driver -n -d "host=$WORK" -o ssh.options=UserKnownHostsFile=none
exits 'a file of a folder that others may change' 78 wf-driver -n -d "host=$WORK" -o ssh.options=UserKnownHostsFile=some
cd "$ROOT"

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
unlike 'a limit of descriptors that may be raised is not warned of' "$OUTPUT" descriptors

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
