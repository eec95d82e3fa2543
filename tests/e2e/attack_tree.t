#!/usr/bin/env bash
# attack_tree.t - trees that did not come from the compiler: wf.install refuses each
# with an error of the workspace's own, or takes it, and never falls over it. What it
# takes is printed, or the printer says where it cannot be.
. "$(dirname "$0")/../lib.sh"
SEED=${SEED:-1} TREES=${TREES:-2000}

workspace_start
perl "$ROOT/tests/e2e/data/damage_tree.pl" "$SEED" "$TREES" "$ROOT"/tests/lang/good/*.json >"$WORK/trees"
ok "seed $SEED, $TREES trees" test "$(wc -l <"$WORK/trees")" -eq "$TREES"
sql 'create table tree (k int primary key, spec text, code text, message text, ms numeric)'
sql "\\copy tree (k, spec) from '$WORK/trees' with (format csv, delimiter e'\\t', quote e'\\x01')"
cat >"$WORK/install.sql" <<'END'
do $$
declare
    r record;
    v_began timestamptz;
begin
    for r in select t.k, t.spec from tree t order by t.k loop
        v_began := clock_timestamp();
        begin
            perform wf.install('', r.spec::jsonb);
            raise exception using errcode = 'T0001', message = 'taken'; -- nothing of it stays
        exception when others then
            update tree t set code = sqlstate, message = sqlerrm,
                              ms = 1000 * extract(epoch from clock_timestamp() - v_began) where t.k = r.k;
        end;
    end loop;
end $$;
END
ok 'all of them are tried' psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --file="$WORK/install.sql"
diag "$(sql "select format('%s: %s', t.code, count(*)) from tree t group by t.code order by 1")"
# 22P05: a text with \u0000 is no jsonb, so that it does not get as far as wf.install
is 'each is taken, or refused by the check of trees' \
    "$(sql "select t.k, t.code, t.message from tree t where t.code not in ('T0001', 'WF005', '22P05') order by 1 limit 5")" ''
ok 'many are refused' sql_is_true "select count(*) > $TREES / 2 from tree where code = 'WF005'"
ok 'and some are taken' sql_is_true "select count(*) > $TREES / 50 from tree where code = 'T0001'"
is 'each says where its fault is' \
    "$(sql "select t.k, t.message from tree t
             where t.code = 'WF005' and t.message !~ '^([a-z_]+(\[|\.|:)|must |holds |has |the compiled tree)' order by 1 limit 5")" ''
is 'none takes longer than two seconds' \
    "$(sql 'select t.k, round(t.ms), t.code, t.message from tree t where t.ms > 2000 order by t.ms desc limit 3')" ''
done_testing
