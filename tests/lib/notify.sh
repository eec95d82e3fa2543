# shellcheck shell=bash
# notify.sh - a supervisor that listens at $NOTIFY_SOCKET.

# notify_start NAME ADDRESS: what is sent to ADDRESS (a path, or "@name" for an
# abstract one) stands in $WORK/NAME.told: seconds, a blank, the datagram with
# its newlines as "|".
notify_start() {
    # shellcheck disable=SC2016 # perl expands it
    spawn "$1" perl -MSocket -MTime::HiRes=time -e '
        my ($address, $file) = @ARGV;
        $address =~ s/^@/\0/;
        socket my $socket, AF_UNIX, SOCK_DGRAM, 0 or die $!;
        bind $socket, pack_sockaddr_un($address) or die $!;
        open my $out, ">", $file or die $!;
        $out->autoflush(1);
        while (defined recv $socket, my $text, 4096, 0) {
            $text =~ tr/\n/|/;
            printf $out "%.3f %s\n", time, $text;
        }' "$2" "$WORK/$1.told"
    wait_until 10 test -e "$WORK/$1.told"
}

# told NAME REGEX: how many datagrams of that form came.
told() {
    grep -cE "^[0-9.]+ $2" "$WORK/$1.told" || true
}

# is_told NAME REGEX [COUNT]: it came, so often (1) or more.
is_told() {
    [ "$(told "$1" "$2")" -ge "${3:-1}" ]
}
