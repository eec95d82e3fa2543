#!/usr/bin/env bash
# rooms.sh - the folders of workspace-sql/code are rooms, loaded in order: a room
# uses what the rooms before it define. flow, time and task use each other. The
# migrations beside them are applied in order, each of them.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT/workspace-sql/code"

mapfile -t files < <(sed -n 's/^\\ir \(.*\/.*\)/\1/p' all.sql)
is 'all.sql loads every file of a room' \
    "$(printf '%s\n' "${files[@]}" | sort)" \
    "$(find . -mindepth 2 -name '*.sql' | sed 's|^\./||' | sort)"
is 'all.sql loads one room after another' \
    "$(printf '%s\n' "${files[@]%%/*}" | uniq | sort | uniq -d)" ''

# A line for each use of a function that a later room defines.
# shellcheck disable=SC2016 # awk's variables, not ours
later=$(awk '
    function room_of(file) {
        room = file
        sub(/\/.*/, "", room)
        if (!(room in order)) order[room] = ++rooms
        return room == "task" || room == "time" ? "flow" : room
    }
    FNR == NR { room_of($0); next }
    /^create or replace function wf\./ {
        name = $5
        sub(/\(.*/, "", name)
        if (!(name in home)) home[name] = room_of(FILENAME)
    }
    !/^[[:space:]]*--/ {
        line = $0
        while (match(line, /wf\.[a-z_]+\(/)) {
            used[++uses] = substr(line, RSTART, RLENGTH - 1)
            place[uses] = FILENAME ":" FNR
            by[uses] = room_of(FILENAME)
            line = substr(line, RSTART + RLENGTH)
        }
    }
    END {
        for (use = 1; use <= uses; use++)
            if (used[use] in home && order[home[used[use]]] > order[by[use]])
                print place[use], used[use], "of", home[used[use]]
    }' <(printf '%s\n' "${files[@]}") "${files[@]}")
is 'no room uses a function of a later one' "$later" ''

is 'all.sql of the migrations names every one, in order' \
    "$(sed -n 's/^\\set migration \([^ ]*\) \\ir apply.sql$/\1/p' ../migrations/all.sql)" \
    "$(cd ../migrations && ls [0-9]*.sql)"
done_testing
