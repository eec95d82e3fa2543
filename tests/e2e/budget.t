#!/usr/bin/env bash
# budget.t - no expression takes long, or much memory, whatever it is given;
# and while one is evaluated, its instance can be aborted.
#
# BUDGET_SEED and BUDGET_COUNT say which random expressions, and how many.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

LIMIT_MS=2000
LIMIT_KB=262144
SEED=${BUDGET_SEED:-$RANDOM}
COUNT=${BUDGET_COUNT:-3}

workspace_start
sql "create table input as
    select i.name, jsonb_build_object('x', i.x) as env from (
    select 'ints' as name, jsonb_agg(1) as x from generate_series(1, 500000)
    union all select 'numbers', jsonb_agg(g) from generate_series(1, 150000) g
    union all select 'empty', jsonb_agg(''::text) from generate_series(1, 333333)
    union all select 'words', jsonb_agg(md5(g::text)) from generate_series(1, 30000) g
    union all select 'lists', jsonb_agg('[1]'::jsonb) from generate_series(1, 250000)
    union all select 'objects', jsonb_agg('{}'::jsonb) from generate_series(1, 333333)
    union all select 'fields', jsonb_object_agg('k' || g, 1) from generate_series(1, 90000) g
    union all select 'text', to_jsonb(repeat('a', 1000000))
    union all select 'blanks', to_jsonb(repeat(' ', 1000000) || 'x')
    union all select 'mixed', to_jsonb('x' || repeat('ab 1,', 200000) || 'y')
    union all select 'deep', (repeat('[', 2000) || repeat(']', 2000))::jsonb
    union all select 'huge', jsonb_agg(1e131000) from generate_series(1, 100000)
    union all select 'tiny', jsonb_agg(1e-16000) from generate_series(1, 100000)
    union all select 'digits', to_jsonb(repeat('7', 100000)::numeric)
    union all select 'number', '1e131000') i" >/dev/null

# measure INPUT EXPRESSION: milliseconds of processor time, kB of the session at
# its highest, and what came of it. The session is another one each time. The
# clock on the wall would measure what else the machine does.
measure() {
    psql --no-psqlrc --quiet --tuples-only --no-align \
        --variable=name="$1" --variable=expression="$2" <<'END'
set statement_timeout = '60s';
create function pg_temp.spent_ms() returns integer language sql as $$
    select 10 * (s[12]::integer + s[13]::integer)    -- utime and stime
      from (select string_to_array(regexp_replace(pg_read_file(
                       format('/proc/%s/stat', pg_backend_pid())), '^.*\) ', ''), ' ')) x (s)
$$;
select pg_temp.spent_ms() as began \gset
select coalesce(wf._evaluate(:'expression', env) #>> '{error,kind}', 'value')
           as kind
  from input where name = :'name' \gset
select pg_temp.spent_ms() - :began,
       substring(pg_read_file(format('/proc/%s/status', pg_backend_pid()))
                 from 'VmHWM:\s*(\d+)'),
       :'kind';
END
}

# bounded NAME INPUT EXPRESSION: it takes neither long nor much.
bounded() {
    local measured ms kb kind
    measured=$(measure "$2" "$3" 2>&1)
    IFS='|' read -r ms kb kind <<<"$measured"
    printf '%s\t%s\t%s\n' "$ms" "$kb" "$kind" >>"$WORK/measured"
    if [[ $ms =~ ^[0-9]+$ ]] && [ "$ms" -le "$LIMIT_MS" ] &&
        [ "$kb" -le "$LIMIT_KB" ]; then
        return
    fi
    diag "$1: input $2: $measured: $3"
    return 1
}

# --- what stopped a workspace once

EACH='["each", "a", ["range", 1, 100000], ["call", "size", '
EACH+='["each", "b", ["range", 1, 100000], 1, true]], true]'
ok 'without repetitions, by looking each up in all' bounded dedupe numbers \
    '["each", "e", ["var", "x"], ["var", "e"], ["call", "contains", ["var", "x"], ["var", "e"]]]'
ok 'a loop in a loop' bounded loop number "$EACH"
ok 'gigabytes from a line' bounded lpad number \
    '["each", "a", ["range", 1, 2500], ["call", "lpad", "x", 1000000, "x"], true]'
is 'all of which say why' "$(cut -f3 "$WORK/measured" | sort -u)" 'limit'

# --- anything

failed=0
while IFS= read -r expression; do
    input=$(sql "select name from input order by md5(name || '$RANDOM') limit 1")
    bounded "seed $SEED" "$input" "$expression" || failed=$((failed + 1))
done < <(perl "$ROOT/tests/e2e/data/budget_expressions" "$SEED" "$COUNT")
is "of $COUNT random expressions (BUDGET_SEED=$SEED), how many took more" \
    "$failed" 0
diag "$(awk -F '\t' '{ if ($1 > ms) ms = $1; if ($2 > kb) kb = $2; n[$3]++ }
    END { printf "at most %d ms, %d kB;", ms, kb
          for (k in n) printf " %s %d", k, n[k] }' "$WORK/measured")"

# --- an instance whose expressions all take as long as they may

cat >"$WORK/busy.wf" <<'END'
workflow busy(n: int) {
  lb.Log(msg = "begin") ;
  forall<max = 1>(i in 1..n) {
    let found = size([a for a in 1..20000 if a * 2 > 7 && a > i]) ;
    lb.Log(msg = "${found}")
  }
}
END
ok 'install' wf-console install "$WORK/busy.wf"
driver_start
id=$(begin busy -p n=500)
wait_sql 60 "select exists (select from pg_stat_activity
    where usename = 'wf_driver_one' and state = 'active'
      and now() - query_start > '200 ms')"
ok 'the driver is evaluating; abort gets through' wf-console abort "$id"
ended "$id" 60 || true
like 'the instance with the endless expression ends' "$(state_of "$id")" '^ABORTED'
done_testing
