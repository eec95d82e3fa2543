#!/usr/bin/env bash
# attack_local.t - `wf-console local`, which root runs, in directories that
# somebody else has prepared or changes meanwhile: root follows no link, and
# nothing outside changes. The attackers are the user of the server and nobody.
. "$(dirname "$0")/../lib.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'only root has a server of another user'
trap attack_end EXIT
DATA=$ROOT/tests/e2e/data/attack_local
SEED=${SEED:-1} ROUNDS=${ROUNDS:-200}
unset PGWF_HOME
postgres_forget

attack_end() {
    local status=$?
    set +e
    for PLACE in "$WORK/real" "$WORK/shared/raced"; do
        local_command stop >/dev/null 2>&1
    done
    (exit "$status")
    work_end
}

# --- what must not change

mkdir -m 700 "$WORK/guard" "$WORK/guard/dir" "$WORK/guard/empty"
printf 'root alone\n' >"$WORK/guard/file"
printf 'root alone\n' >"$WORK/guard/dir/inner"
mkfifo -m 600 "$WORK/guard/fifo"
chmod 600 "$WORK/guard/file" "$WORK/guard/dir/inner"
mkdir -m 1777 "$WORK/shared"

guard_state() {
    find "$WORK/guard" -printf '%p %y %U %G %m %s %T@\n' | sort
    cat "$WORK/guard/file" "$WORK/guard/dir/inner"
}
GUARD=$(guard_state)

unchanged() {
    is 'nothing outside has changed' "$(guard_state)" "$GUARD"
}

# --- who attacks how

# place NAME: a directory $PLACE as root's `local` makes it, with a cluster
# that has nothing but a version: a server does not start there.
place() {
    PLACE=$WORK/places/$1
    mkdir -p "$PLACE"
    mkdir -m 700 "$PLACE"/{data,run,log}
    printf '15\n' >"$PLACE/data/PG_VERSION"
    chmod 600 "$PLACE/data/PG_VERSION"
    chown -R postgres: "$PLACE"/{data,run}
}

# link TARGET NAME [OWNER]: a link of the attacker's in $PLACE, instead of what
# is there.
link() {
    rm -rf "${PLACE:?}/$2"
    ln -s "$1" "$PLACE/$2"
    chown -h "${3:-postgres}" "$PLACE/$2"
}

local_command() {
    timeout 20 wf-console local "$1" --dir "${AT:-$PLACE}"
}

# refused NAME REGEX: each command says why it does nothing, and what to do.
refused() {
    local verb
    for verb in start status stop; do
        exits "$1: refused ($verb)" 1 local_command "$verb"
        like "$1: the message says why ($verb)" "$OUTPUT" "$2"
        like "$1: the hint says what to do ($verb)" "$OUTPUT" 'hint: .*(PGWF_HOME|chmod go-w|has to belong to root|Put it into)'
    done
    unchanged
}

# harmless NAME: root touches nothing of what the attacker has made; the
# server, which is the attacker, does not start.
harmless() {
    exits "$1: the server does not start" 1 local_command start
    like 'the server may do no more than its user' "$OUTPUT" 'PostgreSQL does not start'
    unchanged
}

# --- a part is a link

for part in lock driver.conf driver.pid log/server.log log/driver.log \
    data/PG_VERSION run/.s.PGSQL.5432; do
    place "link-${part//\//-}"
    link "$WORK/guard/file" "$part"
    refused "$part is a link to root's file" "$PLACE/$part is a symbolic link and not a (file|socket)"
    link "$WORK/guard/new" "$part"
    refused "$part is a link to nothing" "$PLACE/$part is a symbolic link and not a (file|socket)"
done
for part in data run log; do
    place "link-$part"
    link "$WORK/guard/dir" "$part"
    refused "$part is a link to root's directory" "$PLACE/$part is a symbolic link and not a directory"
    link "$WORK/guard/empty" "$part" root
    refused "$part is a link of root's own" "$PLACE/$part is a symbolic link and not a directory"
done

# --- a part is something else

place fifo
for part in lock driver.pid log/server.log data/PG_VERSION; do
    rm -f "$PLACE/$part"
    mkfifo "$PLACE/$part"
    refused "$part is a FIFO" "$PLACE/$part is a FIFO and not a file"
    rm "$PLACE/$part"
done
place device
mknod -m 600 "$PLACE/log/server.log" c 1 5
refused 'server.log is a device' 'server.log is a device and not a file'
rm "$PLACE/log/server.log"
link /dev/zero data/PG_VERSION
refused 'PG_VERSION is a link to a device' 'PG_VERSION is a symbolic link'
place directory
mkdir "$PLACE/lock"
refused 'lock is a directory' 'lock is a directory and not a file'
place file
rmdir "$PLACE/run"
: >"$PLACE/run"
refused 'run is a file' 'run is a file and not a directory'

place hard
for part in lock driver.pid log/server.log; do
    ln "$WORK/guard/file" "$PLACE/$part"
    refused "$part is another name of root's file" "$PLACE/$part has 2 names and not one"
    rm "$PLACE/$part"
done
ln -f "$WORK/guard/file" "$PLACE/data/PG_VERSION"
refused "PG_VERSION is another name of root's file" "$PLACE/data/PG_VERSION (has 2 names|belongs to root)"
rm "$PLACE/data/PG_VERSION"
as_server touch "$PLACE/data/one"
as_server ln "$PLACE/data/one" "$PLACE/data/PG_VERSION"
refused 'PG_VERSION has another name' 'PG_VERSION has 2 names and not one'

# --- a part is another's, or open to others

for part in log lock driver.pid; do
    place "owner-$part"
    [ -e "$PLACE/$part" ] || (umask 077 && : >"$PLACE/$part")
    chown postgres "$PLACE/$part"
    refused "$part belongs to the server's user" "$PLACE/$part belongs to postgres and not to root"
    chown nobody "$PLACE/$part"
    refused "$part belongs to nobody" "$PLACE/$part belongs to nobody and not to root"
done
for part in data run; do
    place "owner-$part"
    chown nobody "$PLACE/$part"
    refused "$part belongs to nobody" "$PLACE/$part belongs to nobody and not to postgres"
    chmod 770 "$PLACE/$part"
    chown postgres "$PLACE/$part"
    refused "$part may be changed by a group" "$PLACE/$part may be changed by others: it has mode 0770"
done
place ours
chown root "$PLACE/data"
exits "data is root's and not empty: refused" 1 local_command start
like 'data of root is not given away' "$OUTPUT" "$PLACE/data belongs to root and not to postgres"
is "data stays root's" "$(stat -c %U "$PLACE/data")" root

# --- the way

place theirs
chown postgres "$PLACE"
refused "the directory belongs to the server's user" "the directory $PLACE belongs to postgres"
place below
mkdir "$PLACE/home"
chown postgres "$PLACE"
AT=$PLACE/home/pgwf refused "the place is below the directory of another user" "the directory $PLACE belongs to postgres"
ok 'nothing was made below the directory of the other user' test ! -e "$PLACE/home/pgwf"
AT=$WORK/places/theirs/../missing refused "the place is behind the directory of another user" \
    'the directory .*/theirs belongs to postgres'
for mode in 775 777 2775; do
    place "mode-$mode"
    chmod "$mode" "$PLACE"
    refused "others may write to it ($mode)" "the directory $PLACE has mode 0?$mode"
    AT=$PLACE/new refused "others may write above it ($mode)" "the directory $PLACE has mode 0?$mode"
done
AT=$WORK/shared refused 'all may write to it, as to /tmp' "$WORK/shared may be changed by others: it has mode 1777"
as_server mkdir "$WORK/shared/taken"
AT=$WORK/shared/taken refused 'somebody was there first' 'shared/taken belongs to postgres'
PLACE=$WORK/shared
link "$WORK/guard" alias
AT=$WORK/shared/alias refused 'somebody has put a link there' 'the link .*/alias belongs to postgres'
AT=$WORK/shared/alias/new refused 'somebody has put a link in the way' 'the link .*/alias belongs to postgres'
link "$WORK/guard" moved root
AT=$WORK/shared/moved refused "somebody has moved a link of root's there" 'everybody may put a link into'
AT=$WORK/guard/file exits 'the place is a file' 1 local_command start
AT=$WORK/guard/file/new exits 'the place is below a file' 1 local_command start
AT=/dev/null exits 'the place is a device' 1 local_command start
AT=$WORK/shared/loop
ln -s loop "$WORK/shared/loop"
AT=$WORK/shared/loop exits 'the place is a link to itself' 1 local_command start
unset AT
unchanged
place cwd
chown postgres "$PLACE"
cd "$PLACE"
AT=new refused 'a relative name, in a directory of others' "the directory $PLACE belongs to postgres"
AT=../guard/file exits 'a relative name of a file' 1 local_command start
cd "$ROOT"

# --- what is good

mkdir "$WORK/good"
ln -s good "$WORK/alias"
cd "$WORK"
for at in good alias alias/../good//. "$WORK/alias/new"; do
    AT=$at exits "$at, which root alone can have made" 0 local_command status
done
cd "$ROOT"

# --- a real one, in which the server's user has done what he can

PLACE=$WORK/real
mkdir -p "$PLACE/data" # left from a start that was cut short
ok 'a workspace starts' local_command start
is 'the server has two directories' "$(find "$PLACE" -maxdepth 2 -user postgres -type d \
    ! -path '*/data/*' -printf '%f ' | tr ' ' '\n' | sort | xargs)" 'data run'
exits 'the user of the server can put nothing beside its directories' 1 as_server ln -s "$WORK/guard/file" "$PLACE/driver.pid.new"
exits 'the user of the server can put nothing into the logs' 1 as_server ln -sf "$WORK/guard/file" "$PLACE/log/server.log"
ok 'the workspace stops' local_command stop
for file in pgwf.conf logfile postgresql.auto.conf.tmp; do
    as_server ln -sf "$WORK/guard/file" "$PLACE/data/$file"
done
as_server ln -sf "$WORK/guard/new" "$PLACE/run/left"
PGWF_HOME=$PLACE exits 'links in its directories: it starts' 0 strace -o "$WORK/calls" \
    -e trace=%file,fchownat,fchmodat wf-console local start
unchanged
is 'root names nothing below by a path that could lead elsewhere' \
    "$(search grep -F "$PLACE" "$WORK/calls" | search grep -v '^execve')" ''
is 'root opens all of it without following a link' \
    "$(search grep -E '^openat\([0-9]+, ' "$WORK/calls" | search grep -v O_NOFOLLOW)" ''
ok 'root has opened something there' grep -q '"log/server.log".*O_NOFOLLOW' "$WORK/calls"
ok 'the workspace works' wf-console -h "$PLACE/run" -d pgwf list
ok 'the workspace stops again' local_command stop
rm "$PLACE/data/pgwf.conf"
for file in postgresql.conf run/.s.PGSQL.5432.lock postmaster.pid; do
    case $file in run/*) at=$PLACE/$file ;; *) at=$PLACE/data/$file ;; esac
    [ ! -e "$at" ] || mv "$at" "$WORK/aside"
    as_server ln -sf "$WORK/guard/file" "$at"
    harmless "$file is a link to root's file"
    rm "$at"
    [ ! -e "$WORK/aside" ] || mv "$WORK/aside" "$at"
done

# --- somebody else at the socket

# shellcheck disable=SC2016 # perl expands it
spawn listener setpriv --reuid=nobody --clear-groups perl -MIO::Socket::UNIX -e '
    my $server = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 9) or die $!;
    chmod 0777, $ARGV[0];
    while (my $client = $server->accept) {
        $client->sysread(my $heard, 4096);
        syswrite STDOUT, "heard " . length($heard) . " bytes\n" if length $heard;
    }' "$WORK/shared/socket"
wait_until 10 test -S "$WORK/shared/socket"
place socket
as_server ln -s "$WORK/shared/socket" "$PLACE/run/.s.PGSQL.5432"
refused "the socket is a link to another user's" 'run/.s.PGSQL.5432 is a symbolic link and not a socket'
place stranger
ln "$WORK/shared/socket" "$PLACE/run/.s.PGSQL.5432"
refused "the socket is another user's" 'run/.s.PGSQL.5432 belongs to nobody and not to postgres'
PGWF_HOME=$PLACE exits 'nobody asks it what it knows' 1 env -u PGHOST wf-console list

# --- swapped between the look and the use

# race NAME COUNT OTHER…: `local start` COUNT times while the attacker swaps
# NAME for each of the others.
race() {
    local name=$1 count=$2 i late=0
    shift 2
    spawn_server swap perl "$DATA/swap.pl" "$name" "$@"
    for ((i = 0; i < count; i++)); do
        timeout 20 wf-console local start --dir "$PLACE" >"$WORK/said" 2>&1 || [ $? -ne 124 ] || late=$i
    done
    stop swap || true
    is "$name is swapped: no start hangs" "$late" 0
    unchanged
}
place race
cd "$PLACE"
for file in PG_VERSION pgwf.conf; do
    as_server ln -s "$WORK/guard/file" "$PLACE/data/$file.link"
    as_server ln -s "$WORK/guard/new" "$PLACE/data/$file.new"
    as_server mkfifo "$PLACE/data/$file.fifo"
    printf '15\n' >"$PLACE/data/$file.good"
    chown postgres "$PLACE/data/$file.good"
    race "$PLACE/data/$file" 100 "$PLACE/data/$file".{link,good,new,fifo}
    as_server rm -f "$PLACE/data/PG_VERSION"
    printf '15\n' | as_server tee "$PLACE/data/PG_VERSION" >/dev/null
done
as_server ln -s "$WORK/shared/socket" "$PLACE/run/link"
# shellcheck disable=SC2016 # perl expands it
as_server perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) or die $!' \
    "$PLACE/run/good"
race "$PLACE/run/.s.PGSQL.5432" 100 "$PLACE/run/link" "$PLACE/run/good"
PLACE=$WORK/shared/raced
as_server ln -s "$WORK/guard" "$WORK/shared/to-guard"
as_server mkdir "$WORK/shared/own"
race "$PLACE" 100 "$WORK/shared/to-guard" "$WORK/shared/own"
# Root may have been the first there: then it is root's, and it runs.
[ "$(stat -c %U "$PLACE" 2>/dev/null)" != root ] || local_command stop >/dev/null
mkdir "$WORK/top"
chown postgres "$WORK/top"
as_server ln -s "$WORK/guard" "$WORK/top/to-guard"
mkdir -p "$WORK/top/real/pgwf"
PLACE=$WORK/top/way/pgwf
race "$WORK/top/way" 100 "$WORK/top/to-guard" "$WORK/top/real"
is 'the other user has heard nothing' "$(cat "$WORK/listener.log")" ''
stop listener || true

# --- at random

mkdir "$WORK/random"
ok "random directories: $ROUNDS rounds of seed $SEED" \
    test "$(perl "$DATA/fuzz.pl" "$WORK/random" "$WORK/guard" "$SEED" "$ROUNDS" | tee "$WORK/fuzz.log")" = '0 failures'
unchanged
done_testing
