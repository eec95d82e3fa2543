-- bad_input.sql - every public function, each argument in turn as it should not
-- be: the answer is an error of the workspace's own that says what to do, or
-- the call copes, and the workspace is sound afterwards.
begin;
\ir helper/play.sql
select no_plan();

-- something to hit: an instance with a task that has failed and one with a driver
select play_install('task', jsonb_build_array(play_par(play_task('t.Do', 'a'), play_task('t.Do', 'b'))));
do $$
declare
    v_instance bigint := wf.start('task');
    v_driver bigint := wf.register('one', '1', '{builtin}', '{}', 10);
begin
    perform play_take(v_driver);
    perform play_report(play_id(v_instance, 'a'), 'error', '{"kind": "x", "message": "y"}');
end;
$$;

-- what a caller who means well gives
create temp table good (name text primary key, value text);
insert into good values
    ('p_workflow', '''task'''), ('p_params', '''{}'''), ('p_target', '''{"global": true}'''), ('p_reason', '''why'''), ('p_output', '''1'''),
    ('p_instance', '(select max(id) from wf.instance)'), ('p_process', '(select max(id) from wf.process)'), ('p_token', 'gen_random_uuid()'), ('p_driver', '(select max(id) from wf.driver)'), ('p_want', '1'), ('p_name', '''x'''), ('p_max', '1'), ('p_value', '1'),
    ('p_version', '''1'''), ('p_slots', '1'), ('p_source', '''main { }'''), ('p_spec', '''{}'''), ('p_body', '''{}'''), ('p_event', '''response'''),
    ('p_cron', '''* * * * *''');

-- what a value of a type can be at worst
create temp table nasty (type text, value text);
insert into nasty
select 'text', v from unnest(array[
    'null', '''''', ''' ''', '''no such thing''', 'repeat(''x'', 300)', 'repeat(''é'', 2000000)', 'e''\x01\x1b[2J''', '''"; drop schema wf cascade; --''', '''%s%n$1:x''']) v
union all
select 'jsonb', v from unnest(array[
    'null', '''null''', '''{}''', '''[]''', '''""''', '''1e100''', '''true''', '''[null]''', '''{"": ""}''', '''{"nonsense": 1}''', '''{"instance": null}''', '''{"instance": "x"}''',
    '''{"instance": 1e30}''', '''{"instance": 1.5}''', '''{"instance": [[1]]}''', '''{"process": -1}''', '''{"root": {}}''', '''{"state": 1}''', '''{"state": "none"}''', '''{"global": "yes"}''',
    '''{"older_than": "soon"}''', '''{"older_than": "300000 years"}''', '''{"tag": []}''', '''{"workflow": 7}''', '(repeat(''['', 6000) || repeat('']'', 6000))::jsonb',
    'to_jsonb(repeat(''x'', 3000000))', '(select jsonb_agg(n) from generate_series(1, 100000) n)']) v
union all
select t, v from unnest(array['bigint', 'integer']) t, unnest(array['null', '0', '-1']) v
union all
values ('bigint', '9223372036854775807'), ('bigint', '-9223372036854775808'), ('integer', '2147483647'), ('integer', '-2147483648'),
       ('timestamp with time zone', 'null'), ('timestamp with time zone', '''-infinity'''), ('timestamp with time zone', '''infinity'''),
       ('timestamp with time zone', '''4713-01-01 BC'''), ('interval', 'null'), ('interval', '''-1 year'''), ('interval', '''178000000 years'''), ('uuid', 'null'), ('boolean', 'null'), ('regproc', 'null'), ('regproc', '''pg_sleep'''),
       ('bytea', 'null'), ('bytea', ''''''), ('bytea', '''\x00ff'''), ('bytea', 'convert_to(repeat(''['', 100000), ''UTF8'')')
union all
select n.type || '[]', replace(replace(f, '?', n.value), '!', n.type)
  from (values ('text', '''x'''), ('bigint', '1'), ('uuid', 'gen_random_uuid()'), ('bytea', '''x''')) n (type, value),
       unnest(array['null', 'array[]::![]', 'array[null]::![]', 'array[?, null, ?]::![]', 'array[[?], [?]]::![]', 'array_fill((?)::!, array[5000])', 'array_fill((?)::!, array[2], array[7])']) f (f);

create temp table call as
select p.proname as function, a.name as argument, n.value,
       format('select * from wf.%I(%s)', p.proname,
              (select string_agg(format('%I => (%s)::%s', b.name,
                                        case when b.k = a.k then n.value
                                             when format_type(b.type, null) like '%[]' then coalesce('array[' || g.value || ']', '''{}''')
                                             else coalesce(g.value, 'null') end,
                                        format_type(b.type, null)), ', ' order by b.k)
                 from unnest(p.proargnames[1:p.pronargs], p.proargtypes::oid[]) with ordinality b (name, type, k)
                 left join good g on g.name = b.name)) as statement
  from pg_proc p
 cross join lateral unnest(p.proargnames[1:p.pronargs], p.proargtypes::oid[]) with ordinality a (name, type, k)
  join nasty n on n.type = format_type(a.type, null)
 where p.pronamespace = 'wf'::regnamespace and p.proname not like '\_%' and p.prokind = 'f' and p.prorettype <> 'trigger'::regtype;

select cmp_ok(count(*), '>', 500::bigint, 'there are many calls') from call;
select is_empty($$select p.proname, a.type::regtype
                    from pg_proc p, unnest(p.proargtypes) a (type)
                   where p.pronamespace = 'wf'::regnamespace and p.proname not like '\_%' and p.prokind = 'f' and format_type(a.type, null) not in (select type from nasty)$$, 'every type of an argument is tried');

-- how each ended; what it did is undone
create temp table answer (function text, argument text, value text, state text, message text, hint text);
do $$
declare
    c record;
    v_state text;
    v_message text;
    v_hint text;
begin
    for c in select * from call order by function, argument, value loop
        begin
            execute c.statement;
            v_message := (select string_agg(check_name, ', ') from wf.fsck());
            raise exception using errcode = 'OK000', message = coalesce('fsck: ' || v_message, 'sound');
        exception when others then
            get stacked diagnostics v_state = returned_sqlstate, v_message = message_text, v_hint = pg_exception_hint;
        end;
        insert into answer values (c.function, c.argument, c.value, v_state, v_message, v_hint);
    end loop;
end;
$$;

select is_empty($$select function, argument, left(value, 60), state, left(message, 200) from answer where state !~ '^WF' and state <> 'OK000' order by 1, 2$$, 'every error is the workspace''s own');
select is_empty($$select function, argument, left(value, 60), state, left(message, 200) from answer where state ~ '^WF' and coalesce(hint, '') = '' order by 1, 2$$, 'every error has a hint');
select is_empty($$select function, argument, left(value, 60), message from answer where state = 'OK000' and message <> 'sound' order by 1, 2$$, 'whatever was accepted leaves the workspace sound');
select is_empty($$select function, argument, left(value, 60), length(message) from answer where octet_length(message) > 1000 order by 1, 2$$, 'no message repeats a value at length');

select * from finish();
rollback;
