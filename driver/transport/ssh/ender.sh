# shellcheck shell=sh
# ender.sh PID GRACE - end the session of PID, but for PID itself: TERM, and KILL
# after GRACE seconds.  Without a ps that knows sessions it is the group of PID,
# and PID, too.
#
# The driver sends it on one line, as wrapper.sh.

trap "" HUP INT TERM;
s=$1;
all() { ps -A -o pid= -o sid= -o stat=; };
if all >/dev/null; then
    members() {
        all | awk -v s="$s" -v me=$$ '$2 == s && $1 != s && $1 != me && $3 !~ /^Z/ { print $1 }';
    };
else
    members() { ! kill -s 0 -- "-$s" || echo "-$s"; };
fi;
each() { for p in $(members); do kill -s "$1" -- "$p"; done; };
pause() { sleep 0.1 || sleep 1; };

end=$(($(date +%s) + $2));
each TERM;
while [ -n "$(members)" ] && [ "$(date +%s)" -lt "$end" ]; do
    pause;
done;
end=$(($(date +%s) + 5));
while [ -n "$(members)" ] && [ "$(date +%s)" -lt "$end" ]; do
    each KILL;
    pause;
done
