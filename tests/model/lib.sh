# shellcheck shell=bash
# lib.sh - the state machines as a model for spin (docs/testing.md says what
# for): $FRAME behind the rows of wf.transition of a workspace that was just
# installed.

# shellcheck source=tests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

MODEL=$ROOT/tests/model
MEMORY_MB=1500
SECONDS_MAX=120
FRAME=(frame.pml)
FAIR=(-f)     # how it is searched for what never ends
REDUCE=()
COVER=()      # how it is compiled to count what it executes
# Most models are searched in less time than a compiler needs to make them fast.
COMPILED=-O0

# tree_frame: from here on the frame is tree.pml. No move in it is free and can be
# made again and again, therefore it needs no fairness. Spin does not see what its
# functions in C read and write, therefore every order of steps is tried.
tree_frame() {
    FRAME=(trees.pml tree.pml moves.pml actors.pml)
    FAIR=()
    REDUCE=(-DNOREDUCE)
}

# model_make NAME MACHINE DEFINES [SQL]: compiles $WORK/NAME/pan. The SQL is
# run before the rows are printed, and undone.
model_make() {
    local dir=$WORK/$1 machine=$2 defines=$3 fault=${4:-} options=()
    mkdir "$dir"
    {
        printf 'begin;\n%s\n' "$fault"
        cat "$MODEL/machines.sql"
        printf 'rollback;\n'
    } | psql --no-psqlrc --quiet --no-align --tuples-only \
        --set=ON_ERROR_STOP=1 --set=leaf="$machine" --file=- \
        >"$dir/model.pml"
    (cd "$MODEL" && cat "${FRAME[@]}") >>"$dir/model.pml"
    (
        cd "$dir"
        # shellcheck disable=SC2086
        spin -a $defines model.pml >spin.log 2>&1
        grep -q '^ltl' spin.log || options=(-DSAFETY)
        gcc "$COMPILED" -w -DMEMLIM=$MEMORY_MB -o pan pan.c \
            "${options[@]}" "${REDUCE[@]}" "${COVER[@]}" >>spin.log 2>&1
    )
}

# model_run NAME: the first error, or nothing. Its measures: $STATES.
model_run() {
    local dir=$WORK/$1
    local options=(-m200000 -n)
    ! grep -q '^ltl' "$dir/spin.log" || options+=(-a "${FAIR[@]}")
    (
        cd "$dir"
        ulimit -t "$SECONDS_MAX" # of a processor
        ./pan "${options[@]}" >pan.log 2>&1
    ) || true
    STATES=$(awk '/states, stored/ { states = $1 } /total actual memory/ { mb = $1 }
                  /elapsed time/ { s = $4 }
                  END { printf "%s states, %s s, %s MB", states, s, mb }' "$dir/pan.log")
    if ! grep -q 'errors: 0' "$dir/pan.log" ||
        grep -qE 'max search depth too small|out of memory' "$dir/pan.log"; then
        grep -m1 '^pan:1:\|^pan: \|error: ' "$dir/pan.log" || echo 'it did not end'
    fi
}

# holds NAME WHAT MACHINE DEFINES
holds() {
    if ! model_make "$1" "$3" "$4"; then
        fail "$3: $2" "$(cat "$WORK/$1/spin.log")"
        return
    fi
    model_run "$1" >"$WORK/$1/found"
    is "$3: $2" "$(cat "$WORK/$1/found")" ''
    diag "$STATES"
}

# finds NAME WHAT MACHINE DEFINES [SQL]: with a fault, spin has to find an error.
finds() {
    if ! model_make "fault_$1" "$3" "$4" "${5:-}"; then
        fail "$3, fault: $2" "$(cat "$WORK/fault_$1/spin.log")"
        return
    fi
    model_run "fault_$1" >"$WORK/fault_$1/found"
    like "$3, fault: $2" "$(cat "$WORK/fault_$1/found")" '^pan:1:'
    diag "$(cat "$WORK/fault_$1/found")"
}

workspace_start
