# terminal.zsh SIZE COMMAND STEP... - runs COMMAND on a terminal of SIZE
# (ROWSxCOLUMNS), as a person would who looks before each key. A step is
#
#     =TEXT    wait until it stands on the screen
#     !KEYS    type, $'\e[B' and the like among them
#     @SIZE    the terminal gets another size
#     $TEXT    have the shell outside do it
#     .        print the screen
#
# At the end it waits for the command, and says how it exited and whether it
# left the terminal as it was.
zmodload zsh/zpty zsh/zselect
setopt extended_glob
size() { printf 'stty rows %s cols %s' "${1%x*}" "${1#*x}" }
TERM=xterm zpty terminal "$(size $1); tty; stty -g; trap : INT; $2; code=\$?; echo; echo left:\$code; stty -g; echo over; read"
raw=''

# Whether what came so far satisfies a condition; false after a minute.
wait_for() {
    local end=$((SECONDS + 60)) chunk
    until eval "$1"; do
        if zpty -r -t terminal chunk; then
            raw+=$chunk
        elif ((SECONDS > end)); then
            print -r -- "waited in vain for: $1"
            print -r -- "$(screen)"
            zpty -d terminal
            exit 1
        else
            zselect -t 2
        fi
    done
}

# The last whole frame, without its escape sequences and the time of day.
screen() {
    [[ $raw == *$'\e[J'* ]] || return
    local frame=${${raw%$'\e[J'*}##*$'\e[H'}
    print -r -- "$frame" | sed -E -e 's/\r//g; s/\x1b\[[0-9;?]*[A-Za-z]//g; s/[0-9:]{8}$//; s/ +$//'
}

for step in "${@:3}"; do
    rest=${step#?}
    case $step in
    '='*) wait_for '[[ "$(screen)" == *$rest* ]]' ;;
    '!'*) zpty -w -n terminal "$rest" ;;
    '@'*) eval "$(size $rest)" <${${raw%%$'\r'*}##*$'\n'} ;;
    '$'*) eval "$rest" ;;
    .) screen ;;
    esac
done
wait_for '[[ $raw == *over* ]]'
lines=(${(f)"${raw//$'\r'/}"})
print -r -- ${(M)lines:#left:*}
# alternate page, cursor and wrapping; echo and the like
[[ $raw == *$'\e[?1049h'*$'\e[?25h'*$'\e[?1049l'* ]] || print 'the screen is not given back'
settings=(${(M)lines:#[0-9a-f]##:[0-9a-f:]##})
[[ $#settings == 2 && $settings[1] == $settings[2] ]] || print 'the settings have changed'
zpty -d terminal
