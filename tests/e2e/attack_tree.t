#!/usr/bin/env bash
# attack_tree.t - trees that did not come from the compiler: wf.install refuses each
# with an error of the workspace's own, or takes it, and never falls over it. What it
# takes can be started, and is printed, or the printer says where it cannot be.
. "$(dirname "$0")/../lib.sh"
SEED=${SEED:-1} TREES=${TREES:-1000}

workspace_start
perl "$ROOT/tests/e2e/data/damage_tree.pl" "$SEED" "$TREES" "$ROOT"/tests/lang/good/*.json >"$WORK/trees"
ok "seed $SEED, $TREES trees" test "$(wc -l <"$WORK/trees")" -eq "$TREES"
sql 'create table tree (k int primary key, spec text, code text, message text, ms numeric,
    started int, trouble text)'
sql "\\copy tree (k, spec) from '$WORK/trees' with (format csv, delimiter e'\\t', quote e'\\x01')"
cat >"$WORK/install.sql" <<'END'
-- start_all: starts each workflow of a tree without parameters; what the starts raised,
-- other than that the start is refused, and what fsck finds then
create function start_all(p_spec jsonb, out started int, out trouble text) language plpgsql as $$
declare
    v_name text;
begin
    started := 0;
    for v_name in select w.spec ->> 'name' from jsonb_array_elements(p_spec -> 'workflows') w (spec) loop
        begin
            perform wf.start(v_name);
            started := started + 1;
        exception when others then
            if sqlstate not in ('WF002', 'WF003', 'WF007') then
                trouble := concat_ws('; ', trouble, format('%s %s: %s', v_name, sqlstate, sqlerrm));
            end if;
        end;
    end loop;
    trouble := concat_ws('; ', trouble, (select string_agg(f::text, '; ') from wf.fsck() f));
end $$;
do $$
declare
    r record;
    v_began timestamptz;
    v_ms numeric;
    v_started int;
    v_trouble text;
begin
    for r in select t.k, t.spec from tree t order by t.k loop
        v_began := clock_timestamp();
        begin
            v_ms := null;
            v_started := null;
            v_trouble := null;
            perform wf.install('', r.spec::jsonb);
            v_ms := 1000 * extract(epoch from clock_timestamp() - v_began);
            select s.started, s.trouble into v_started, v_trouble from start_all(r.spec::jsonb) s;
            raise exception using errcode = 'T0001', message = 'taken'; -- nothing of it stays
        exception when others then
            update tree t set code = sqlstate, message = sqlerrm,
                              ms = coalesce(v_ms, 1000 * extract(epoch from clock_timestamp() - v_began)),
                              started = v_started, trouble = v_trouble where t.k = r.k;
        end;
    end loop;
end $$;
END
ok 'all of them are tried' psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --file="$WORK/install.sql"
diag "$(sql "select format('%s: %s', t.code, count(*)) from tree t group by t.code order by 1")"
# 22P05: a text with \u0000 is not jsonb, and therefore does not reach wf.install
is 'each is taken, or refused by the check of trees' \
    "$(sql "select t.k, t.code, t.message from tree t where t.code not in ('T0001', 'WF005', '22P05') order by 1 limit 5")" ''
ok 'many are refused' sql_is_true "select count(*) > $TREES / 2 from tree where code = 'WF005'"
ok 'some trees are taken' sql_is_true "select count(*) > $TREES / 50 from tree where code = 'T0001'"
is 'workflows of a tree that is taken start, and fsck finds nothing' \
    "$(sql "select t.k, t.trouble from tree t where t.trouble <> '' order by 1 limit 5")" ''
ok 'many of its workflows are started' sql_is_true 'select sum(started) > 20 from tree'
is 'each says where its fault is' \
    "$(sql "select t.k, t.message from tree t
             where t.code = 'WF005' and t.message !~ '^([a-z_]+(\[|\.|:)|must |holds |has |the compiled tree)' order by 1 limit 5")" ''
is 'none takes longer than two seconds' \
    "$(sql 'select t.k, round(t.ms), t.code, t.message from tree t where t.ms > 2000 order by t.ms desc limit 3')" ''

# What is taken: it is printed, and the text compiles to the same workflows; or the
# printer says where no source could have become this tree.
sql "\\copy (select t.k, t.spec from tree t where t.code = 'T0001' order by t.k) to '$WORK/taken' with (format csv, delimiter e'\\t', quote e'\\x01')"
tool() { "$BUILD/lang_tool" "$1" -L "$ROOT/tests/lang/lib" "$2"; }

# meaning TREE NAMES: the workflows that the tree NAMES has, without what the text of
# a tree need not say: lines, the types of a call, which of several calls with
# different steps it is, and that a constant is one.
meaning() {
    perl -MJSON::PP -e '
        my $json = JSON::PP->new->canonical->allow_nonref->allow_bignum;
        my ($tree, $names) = map { local (@ARGV, $/) = $_; $json->decode(<>) } @ARGV;
        sub simple {
            my $node = shift;
            if (ref $node eq "ARRAY") {
                return simple($node->[1]) if @$node == 2 && !ref $node->[0] && ($node->[0] // "") eq "const";
                return [map { simple($_) } @$node];
            }
            return $node if ref $node ne "HASH";
            my %copy = map { $_ => simple($node->{$_}) } grep { $_ ne "line" } keys %$node;
            if (($copy{kind} // "") eq "call") {
                delete @copy{qw(params returns)};
                $copy{workflow} =~ s/_[0-9]+$//;
            }
            return \%copy;
        }
        my %named = map { $_->{name} => simple($_) } @{ $tree->{workflows} };
        print $json->encode($named{ $_->{name} } // {}), "\n" for @{ $names->{workflows} };' "$1" "$2"
}

printed=0 refused=0
while IFS=$'\t' read -r k spec; do
    printf '%s\n' "$spec" >"$WORK/tree.json"
    # the workflow main is called like its file
    text=$WORK/$(grep -om 1 '"file":"[a-z-]*\.wf"' <<<"$spec" | cut -d '"' -f 4 || true)
    [ "$text" != "$WORK/" ] || text=$WORK/tree.wf
    if tool print "$WORK/tree.json" >"$text"; then
        tool compile "$text" >"$WORK/again.json" || fail "tree $k compiles"
        [ "$(meaning "$WORK/tree.json" "$WORK/tree.json")" = "$(meaning "$WORK/again.json" "$WORK/tree.json")" ] ||
            fail "tree $k is the same when its text was compiled"
        printed=$((printed + 1))
    elif grep -q ': error: .' "$text"; then
        refused=$((refused + 1))
    else
        fail "tree $k is printed" "$(cat "$text")"
    fi
done <"$WORK/taken"
diag "$printed are printed, $refused are no tree of any source"
ok 'most of what is taken is printed, and compiles to the same again' \
    test "$printed" -gt "$refused"
done_testing
