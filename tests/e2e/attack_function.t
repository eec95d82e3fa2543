#!/usr/bin/env bash
# attack_function.t - a function that an administrator has added belongs to somebody
# who is not trusted, and who replaces it later: whatever it does to the session that
# calls it, nothing of it reaches the engine, which goes on as wf_owner.
. "$(dirname "$0")/../lib.sh"

workspace_start
for role in author app admin; do
    login_create "the_$role" "wf_$role"
done
login_create mallory
cat >"$WORK/spell.wf" <<'END'
workflow spell(s: string, xs: [string] = ["a", "b"]) -> {all: json?, at: string} {
  let all = [lower("${s}${x}") for x in xs] ;
  wf.Noop() ;
  return {all: all, at: string(timestamp("2026-03-29T01:30:00Z"))}
}
END
as_mallory() {
    psql --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1 \
        --username=mallory 2>&1
}

# Whatever is written down in the ledger was called as somebody, and has stayed.
sql 'create schema util authorization mallory'
as_mallory <<'END' >"$WORK/mallory.out"
create table util.ledger (what text, as_user name default current_user, session name default session_user);
grant usage on schema util to public;
grant insert on util.ledger to public;
create function util.slug(variadic p_args jsonb[]) returns jsonb language sql immutable security definer
as $$ select to_jsonb(lower(p_args[1] #>> '{}')) $$;
END
sql "select wf.function_set('slug', 'util.slug', '{s: string}', 'string', 'a word for a URL')" \
    --username=the_admin >/dev/null
# the compiler does not know functions that a workspace adds: slug takes the place of lower
spec=$("$BUILD/lang_tool" compile "$WORK/spell.wf")
sql "select count(*) from wf.install('// slug', replace(\$spec\$$spec\$spec\$,
    '\"lower\"', '\"slug\"')::jsonb)" --username=the_author >/dev/null
driver_start

# run_spell: starts an instance and waits for its end; prints what it returns, or why
# it failed.
run_spell() {
    local id
    id=$(sql "select wf.start('spell', '{\"s\": \"X\"}')" --username=the_app)
    wait_sql 20 "select exists (select from wf.instance_v i
        where i.instance_id = $id and (i.state <> 'RUNNING' or i.failed > 0))" &&
        sql "select coalesce(i.output::text,
                (select p.error ->> 'message' from wf.failed f join wf.process p
                    on p.instance_id = f.instance_id and p.id = f.process_id
                  where f.instance_id = i.instance_id))
               from wf.instance_v i where i.instance_id = $id"
}

# becomes BODY: mallory replaces the function; it does this and gives its argument.
becomes() {
    printf '%s\n' "create or replace function util.slug(variadic p_args jsonb[]) returns jsonb
        language plpgsql immutable security definer as \$b\$
        declare v_word pg_catalog.jsonb := to_jsonb(lower(p_args[1] #>> '{}'));
        begin $1; return v_word; end \$b\$;" | as_mallory
}

GOOD='{"at": "2026-03-29T01:30:00Z", "all": ["xa", "xb"]}'
is 'before any attack the function is called' "$(run_spell)" "$GOOD"

# Operators, functions and types named like those of the engine: each writes down who
# called it.
as_mallory <<'END' >>"$WORK/mallory.out"
do $do$
declare v record;
begin
    for v in select * from (values ('||', 'jsonb[]', 'jsonb', 'jsonb[]'), ('||', 'jsonb', 'jsonb', 'jsonb'),
                                   ('->', 'jsonb', 'text', 'jsonb'), ('->>', 'jsonb', 'text', 'text'),
                                   ('=', 'jsonb', 'jsonb', 'boolean'), ('?', 'jsonb', 'text', 'boolean'),
                                   ('+', 'bigint', 'bigint', 'bigint'), ('=', 'text', 'text', 'boolean')) t (op, l, r, result)
    loop
        execute format($f$create or replace function util.%I(%s, %s) returns %s language plpgsql as $b$
            begin insert into util.ledger (what) values (%L); return null; end $b$ $f$,
            'op' || md5(v.op || v.l || v.r), v.l, v.r, v.result, v.op);
        execute format('create operator util.%s (leftarg = %s, rightarg = %s, function = util.%I)', v.op, v.l, v.r,
                       'op' || md5(v.op || v.l || v.r));
    end loop;
    for v in select * from (values ('jsonb_typeof', 'jsonb', 'text'), ('cardinality', 'anyarray', 'int'),
                                   ('clock_timestamp', '', 'timestamptz'), ('to_jsonb', 'anyelement', 'jsonb'),
                                   ('current_setting', 'text', 'text'), ('jsonb_array_length', 'jsonb', 'int')) t (name, args, result)
    loop
        execute format($f$create or replace function util.%I(%s) returns %s language plpgsql as $b$
            begin insert into util.ledger (what) values (%L); return null; end $b$ $f$, v.name, v.args, v.result, v.name);
    end loop;
    create domain util.jsonb as pg_catalog.text check (value <> value);
    create domain util.text as pg_catalog.jsonb;
end $do$;
create function util.write() returns void language plpgsql volatile security definer
as $$ begin insert into util.ledger (what) values ('written'); create table util.new (n int);
      create temporary table process (n int); perform pg_notify('mallory', 'heard'); end $$;
END

# attack NAME BODY: everything goes on as before, and nothing was called as anybody.
attack() {
    becomes "$2" >>"$WORK/mallory.out"
    is "$1" "$(run_spell)" "$GOOD"
    is "$1: no planted function was called, no table has stayed" \
        "$(sql "select what, as_user, session from util.ledger
            union all select 'a table', null, null where to_regclass('util.new') is not null" | sort -u)" ''
}

attack 'operators come first in the search path' \
    "perform set_config('search_path', 'util, pg_catalog, pg_temp', false)"
attack 'operators come first in the search path for the transaction' \
    "perform set_config('search_path', 'util, pg_catalog, pg_temp', true)"
attack 'types come first in the search path, at the second call' \
    "if p_args[1] #>> '{}' like '%b' then perform set_config('search_path', 'util, pg_catalog', false); end if"
attack 'temporary objects come first' "perform set_config('search_path', 'pg_temp, pg_catalog', false)"
attack 'the time zone and the styles of values are others' \
    "perform set_config('TimeZone', 'Pacific/Auckland', false), set_config('DateStyle', 'SQL, DMY', false),
     set_config('IntervalStyle', 'sql_standard', false), set_config('extra_float_digits', '-15', false)"
attack 'strings are read in another way' "perform set_config('standard_conforming_strings', 'off', false),
    set_config('quote_all_identifiers', 'on', false), set_config('bytea_output', 'escape', false)"
attack 'every statement ends after a millisecond' "perform set_config('statement_timeout', '1ms', false),
    set_config('lock_timeout', '1ms', false), set_config('idle_in_transaction_session_timeout', '1ms', false)"
attack 'the transaction may not write any more' "perform set_config('default_transaction_read_only', 'on', false)"
attack 'marks of the engine in its session are forged' "perform set_config('wf.turn', '', false),
    set_config('wf.made', '1', false), set_config('wf.reason', 'mallory was here', false),
    set_config('wf.from', '{\"driver\": 1, \"rest\": 1000000, \"at\": 0, \"lanes\": []}', false)"
is 'the history does not know of the forged marks' \
    "$(sql "select count(*) from wf.event where reason like '%mallory%'")" 0
attack 'no plan is good any more' "perform set_config('enable_indexscan', 'off', false),
    set_config('enable_nestloop', 'off', false), set_config('plan_cache_mode', 'force_generic_plan', false),
    set_config('work_mem', '64kB', false)"
attack 'a function that it calls writes, makes tables and rings' 'perform util.write()'
attack 'the function holds an advisory lock for ever' 'perform pg_advisory_lock(7761, 0), pg_advisory_lock(7762, 1)'

# The place of the call, with which the error of the task begins.
# shellcheck disable=SC2016 # that is how the expression is written
PLACE='line 2: slug("${s}${x}")'

# refused NAME BODY MESSAGE: the task fails, and says why.
refused() {
    becomes "$2" >>"$WORK/mallory.out"
    is "$1" "$(run_spell)" "$PLACE: $3"
}
refused 'the function may not become the owner' "perform set_config('role', 'wf_owner', false)" \
    'cannot set parameter "role" within security-definer function'
refused 'the function may not change the login' "perform set_config('session_authorization', 'wf_owner', false)" \
    'cannot set parameter "session_authorization" within security-definer function'
refused 'the function may not switch triggers off' "perform set_config('session_replication_role', 'replica', false)" \
    'permission denied to set parameter "session_replication_role"'
refused 'the function does not write by itself' "insert into util.ledger (what) values ('written')" \
    'INSERT is not allowed in a non-volatile function'
refused 'the function does not read tables of the workspace' 'perform count(*) from wf.process' \
    'permission denied for schema wf'
refused 'an error that looks like the end of the call is an error' \
    "raise exception using errcode = 'WF020', message = 'as if it had returned'" 'as if it had returned'
refused 'an error of the server is an error of the expression' \
    "raise exception using errcode = '40001', message = 'try again'" 'try again'
refused 'a failed assertion is an error of the expression' "assert false, 'never'" 'never'
printf 'alter function util.slug(jsonb[]) security invoker' | as_mallory
is 'a function that would run as the engine is not called' "$(run_spell)" \
    "$PLACE: function slug cannot be called: it is not security definer"
printf 'drop function util.slug(jsonb[])' | as_mallory
is 'a function that was dropped is not called' "$(run_spell)" \
    "$PLACE: function slug cannot be called: it no longer exists"
is 'nobody has heard or written anything' "$(sql 'select * from util.ledger')" ''
is 'the workspace is sound' "$(sql "select * from wf.fsck() where class = 'violation'" 2>&1)" ''
done_testing
