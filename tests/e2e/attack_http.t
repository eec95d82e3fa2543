#!/usr/bin/env bash
# attack_http.t - what workflows may try to reach and to say over HTTP with a
# driver that is configured as it comes. A listener hears every address that there
# is, in a network of the test's own, and counts who comes.

if [ -z "${ATTACK_NETWORK:-}" ] && unshare --net --mount true 2>/dev/null; then
    ATTACK_NETWORK=yes exec unshare --net --mount bash "$0" "$@"
fi
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"
DATA=$ROOT/tests/e2e/data/attack_http
PORT=8080
PUBLIC=93.184.216.34
HITS=$WORK/hits

if [ -z "${ATTACK_NETWORK:-}" ] || ! command -v ip >/dev/null; then
    skip_all 'no network may be had, or there is no ip'
fi

# Every address is this machine's, names are answered by a server of ours.
network_begin() {
    ip link set lo up
    ip route add local 0.0.0.0/0 dev lo
    ip -6 route add local ::/0 dev lo
    ip address add fe80::1/64 dev lo scope link
    ip address add fe80::a9fe:a9fe/64 dev lo scope link
    printf '127.0.0.1 localhost\n::1 localhost\n10.0.0.1 inside\n' >"$WORK/hosts"
    printf 'hosts: files dns\n' >"$WORK/nsswitch.conf"
    printf 'nameserver 127.0.0.1\noptions timeout:5 attempts:2\n' >"$WORK/resolv.conf"
    for file in hosts nsswitch.conf resolv.conf; do
        mount --bind "$WORK/$file" "/etc/$file"
    done
    spawn name-server perl "$DATA/name_server" "$WORK/name-server.ready"
    spawn listener perl "$DATA/listener" "$PORT" "$HITS"
    wait_until 10 test -e "$WORK/name-server.ready"
    wait_until 10 test -e "$HITS"
}

# attacks FILE [BEFORE]: the attacks of a file as JSON. BEFORE stands before each
# URL, which is encoded then.
attacks() {
    PORT=$PORT BEFORE=${2:-} perl -CSDA -MJSON::PP -e '
        my @attacks;
        while (<>) {
            next if /^#|^$/;
            chomp;
            my ($name, $end, $method, $url, $headers) = split / \| /;
            s/%P/$ENV{PORT}/g, s/\\r/\r/g, s/\\n/\n/g, s/\\t/\t/g, s/%E//g for $url, $method;
            if ($ENV{BEFORE}) {
                $url =~ s/([?\/:\@\[\]])/sprintf "%%%02X", ord $1/ge;
                $url = sprintf "%s/%s?%s", $ENV{BEFORE}, $method eq "POST" ? "other" : "go", $url;
            }
            push @attacks, {name => $name, method => $method, url => $url, body => undef,
                headers => JSON::PP->new->decode($headers // "{}")};
        }
        print JSON::PP->new->canonical->encode(\@attacks);' "$1"
}

# carry_out FILE [BEFORE]: all of them at once; ID is the instance.
carry_out() {
    attacks "$@" >"$WORK/attacks.json"
    ID=$(begin attack_http -p "attacks=$(cat "$WORK/attacks.json")")
    all_over "$ID" || true
}

all_over() {
    wait_sql 60 "select count(*) > 0 and bool_and(state in ('END', 'FAILED'))
        from wf.task_v where instance_id = $1"
}

# end_of NAME: how the attack of that name ended.
end_of() {
    sql "select concat_ws(' ', coalesce(error ->> 'kind', state), error ->> 'message')
        from wf.task_v where instance_id = $ID and title = '${1//\'/\'\'}'"
}

# refused FILE: each of its attacks ended as the file says.
refused() {
    local line name end rest
    while IFS= read -r line; do
        [[ $line != '#'* && -n $line ]] || continue
        name=${line%% | *} rest=${line#* | } end=${rest%% | *}
        like "$name: ${end%% *}" "$(end_of "$name")" "^(${end/ /) .*(})"
    done <"$1"
}

# hits: who came, once the listener has answered all who did.
hits() {
    exec 3<>"/dev/tcp/127.0.0.1/$PORT"
    printf 'GET /last HTTP/1.1\r\n\r\n' >&3
    read -r _ <&3
    exec 3>&-
    sed '/GET \/last/d' "$HITS"
}

# name ADDRESS…: a name for these IPv4 addresses, in this order.
name() {
    local address
    for address; do
        # shellcheck disable=SC2086 # four words
        printf '%02x%02x%02x%02x.' ${address//./ }
    done
    printf 'test\n'
}

network_begin
workspace_start
ok 'install' wf-console install "$DATA/attack.wf"
# What is in the environment or in files of the driver's user is nothing to it.
secrets=$(private_dir)
mkdir -p "$WORK/home"
printf 'machine %s login u password p\n' "$PUBLIC" >"$WORK/home/.netrc"
printf 'a secret' >"$secrets/token"
chmod 400 "$secrets/token"
# shellcheck disable=SC2034 # for driver_start
DRIVER_HTTP=() # as it comes
HOME=$WORK/home http_proxy=http://10.0.0.1:$PORT ALL_PROXY=socks5h://10.0.0.1:$PORT \
    driver_start one -o "secrets.directory=$secrets" -o "secrets.grants=* * * *"

# --- none of these comes anywhere

carry_out "$DATA/attacks"
refused "$DATA/attacks"
is 'nobody came' "$(hits)" ''

# --- who may come comes

# came HOST END HITS NAME: one request to this host ends so, and these addresses hear it.
came() {
    : >"$HITS"
    ID=$(begin attack_http -p "attacks=[{\"name\": \"one\", \"method\": \"GET\",
        \"url\": \"http://$1:$PORT/\", \"headers\": {}, \"body\": null}]")
    all_over "$ID" || true
    like "$4: $2" "$(end_of one)" "^$2"
    is "$4: who came" "$(hits | cut -d'|' -f1 | xargs)" "$3"
}

came "$PUBLIC" END "$PUBLIC" 'a public address'
unlike 'no password of .netrc, no proxy' "$(cat "$HITS")" 'Authorization|GET http'
came '[2606:4700::1111]' END '2606:4700::1111' 'a public address of IPv6'
came '[64:ff9b::5db8:d822]' END '64:ff9b::5db8:d822' 'a public address by NAT64'
came "$(name "$PUBLIC")" END "$PUBLIC" 'a name'

# --- names that mix, and names that turn

came "$(name 127.0.0.1 "$PUBLIC")" END "$PUBLIC" 'a denied address, then a public one'
came "$(name "$PUBLIC" 127.0.0.1)" END "$PUBLIC" 'a public address, then a denied one'
came "00000000000000000000000000000001.$(name "$PUBLIC")" END "$PUBLIC" \
    'a denied address of IPv6, a public one of IPv4'
came "26064700000000000000000000001111.$(name 10.0.0.1)" END '2606:4700::1111' \
    'a public address of IPv6, a denied one of IPv4'
came "$(name 127.0.0.1 169.254.169.254)" rejected '' 'two that are denied'
came "turn.$(name 127.0.0.1 "$PUBLIC")" rejected '' 'denied at first, then public'
for turn in 1 2 3 4 5; do
    came "x$turn.turn.$(name "$PUBLIC" 127.0.0.1)" END "$PUBLIC" \
        "public at first, then denied, $turn"
done

# --- redirects

: >"$HITS"
carry_out "$DATA/redirects" "http://$PUBLIC:$PORT"
refused "$DATA/redirects"
is 'only the server that sends elsewhere was called' \
    "$(hits | cut -d' ' -f1 | sort -u)" "$PUBLIC"
unlike 'the server that redirects is never called with a password' "$(hits)" 'Authorization'
: >"$HITS"
ID=$(begin attack_secret -p "url=http://$PUBLIC:$PORT/go?http%3A%2F%2F1.1.1.1%3A$PORT%2F")
all_over "$ID" || true
like 'a secret does not follow' \
    "$(sql "select error ->> 'message' from wf.task_v where instance_id = $ID")" 'answered 302$'
is 'the secret was sent to the server that the workflow names' \
    "$(hits | sed 's/GET [^|]*| //')" "$PUBLIC | Host: $PUBLIC:$PORT | Authorization: Bearer a secret"
driver_stop one

# --- what http.allow names

driver_start one -o "http.allow=0.0.0.0/0,127.0.0.0/8,169.254.0.0/16,10.0.0.7"
came 127.0.0.1 END 127.0.0.1 'the loopback, allowed'
came '[::ffff:127.0.0.1]' END 127.0.0.1 'the loopback, allowed and mapped'
came '[::1]' rejected '' 'the loopback of IPv6, not allowed'
came 169.254.7.1 END 169.254.7.1 'link-local, allowed'
came 169.254.169.254 rejected '' 'metadata in it'
came 169.254.170.2 rejected '' 'credentials in it'
came 168.63.129.16 rejected '' 'metadata in all of IPv4'
came 10.0.0.7 END 10.0.0.7 'a private address, allowed'
came 10.0.0.8 rejected '' 'the one beside it'
came "$PUBLIC" END "$PUBLIC" 'a public address, allowed'
came '[2606:4700::1111]' rejected '' 'IPv6, which is not named'
driver_stop one
sound
done_testing
