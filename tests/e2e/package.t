#!/usr/bin/env bash
# package.t - what `cmake --install` puts where, and which libraries are too old.
. "$(dirname "$0")/../lib.sh"

stage=$WORK/stage
ok 'install' env DESTDIR="$stage" cmake --install "$BUILD" --prefix /usr

for program in wf-driver wf-console; do
    ok "$program runs from there" "$stage/usr/bin/$program" --version
done
missing=$(cd "$ROOT" && find workspace-sql -type f | while read -r file; do
    [ -f "$stage/usr/share/pgwf/$file" ] || printf '%s\n' "$file"
done)
is 'the whole of workspace-sql is installed' "$missing" ''
ok 'the licence is installed' test -f "$stage/usr/share/doc/pgwf/LICENSE"
manual=usr/share/man/man1/wf-console.1
completion=usr/share/bash-completion/completions/wf-console
ok 'the manual page is that of the program' \
    diff "$stage/$manual" <(wf-console man)
ok 'the completion for bash is that of the program' \
    diff "$stage/$completion" <(wf-console completion bash)
zsh=usr/share/zsh/vendor-completions/_wf-console
ok 'the completion for zsh is that of the program' diff "$stage/$zsh" <(wf-console completion zsh)
is 'nothing is installed elsewhere' \
    "$(cd "$stage" && find . -type f ! -path './usr/bin/wf-*' \
        ! -path './usr/share/pgwf/*' ! -path './usr/share/doc/pgwf/*' \
        ! -path "./$manual" ! -path "./$completion" ! -path "./$zsh")" ''

# In the order in which CMakeLists.txt asks for them: it remembers what it has found.
mkdir "$WORK/old"
while read -r library old oldest; do
    printf 'Name: %s\nDescription: old\nVersion: %s\n' "$library" "$old" \
        >"$WORK/old/$library.pc"
    exits "$library $old is refused" 1 env "PKG_CONFIG_PATH=$WORK/old" \
        cmake -S "$ROOT" -B "$WORK/build"
    like "$library $old: the message has the oldest version" "$OUTPUT" "$library *>= *$oldest"
    rm "$WORK/old/$library.pc"
done <<'END'
libpq     13.9   14
libcurl   7.86.0 7.87
json-c    0.14   0.15
libconfig 1.4.9  1.5
END
done_testing
