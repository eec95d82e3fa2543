# shellcheck shell=sh
# wrapper.sh - what runs around a command on a remote host; wrapper.h says why.
#
# The driver sends it on one line, since the login shell there may be any (csh
# takes no line end in a word).  Therefore each line ends where a blank may
# follow, and comments have lines of their own.  The driver puts these before it:
#   _n      the nonce that signs the records
#   _grace  seconds between TERM and KILL
#   _end    the text of ender.sh
#   _run    a function that sets the variables of $_env and runs the command
# shellcheck disable=SC2034,SC2154

unset _env _in;
echo "$_n begun";
echo "$_n begun" >&2;

# Nothing begins before all of the input is here: its last byte is an x. A command
# without input has 0 bytes, and starts no program that reads them.
# shellcheck disable=SC2015
read -r _go _size && IFS= read -r _env || exit 1;
case $_env in
*_l*)
    _l=$(printf '\nl');
    _l=${_l%l}
    ;;
esac;
case $_size in
0) _in=x. ;;
*) _in=$({ head -c "$_size" || dd bs=1 count="$_size"; } 2>/dev/null; echo .) ;;
esac;
case $_in in
*x.) _in=${_in%x.} ;;
*) exit 1 ;;
esac;

# Whoever reads here until there is no more ends what is left of the session.
exec 3<&0 </dev/null;
(
    while read -r _go; do :; done;
    # shellcheck disable=SC2046,SC2086
    exec $(command -v setsid) sh -c "$_end" sh $$ $_grace
) <&3 3<&- >/dev/null 2>&1 &
_w=$!;

# A signal to the session does not end the wrapper before it has said how the
# command ended.
trap : HUP INT TERM;
if [ -n "$_in" ]; then
    printf %s "$_in" 2>/dev/null | (_run);
else
    (_run);
fi;
_s=$?;
{ kill $_w; wait $_w; } 2>/dev/null;
echo "$_n exit $_s";
echo "$_n exit $_s" >&2
