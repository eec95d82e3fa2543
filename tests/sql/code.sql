-- code.sql - statements and scripts come from literals, whoever wrote the tree: each
-- tree here is one that the compiler would not make of any source.
begin;
select no_plan();
\ir helper/play.sql

-- what the standard library has, as far as it matters here
insert into play_type (name, spec)
select s ->> 'name', s
  from unnest(array[
    '{"name": "c.Sql", "machine": "sync", "params": [{"name": "statement", "type": "sql"}, {"name": "params", "type": "list", "default": ["list"]}],
      "requests": {"start": {"transport": "sql", "args": {"statement": ["var", "statement"], "params": ["var", "params"]}}}}',
    '{"name": "c.Ssh", "machine": "sync", "params": [{"name": "script", "type": {"optional": "shell"}}],
      "requests": {"start": {"transport": "ssh", "args": {"host": "h", "script": ["var", "script"]}}}}'
  ]::jsonb[]) s;

create function pg_temp.sql_task(p_statement jsonb, p_reads jsonb default null) returns jsonb
language sql as $$ select play_task('c.Sql', null, jsonb_build_object('statement', p_statement, 'params', jsonb_build_array('list')))
                          || jsonb_strip_nulls(jsonb_build_object('reads', p_reads)) $$;
create function pg_temp.ssh_task(p_script jsonb, p_reads jsonb default null) returns jsonb
language sql as $$ select play_task('c.Ssh', null, jsonb_build_object('script', p_script))
                          || jsonb_strip_nulls(jsonb_build_object('reads', p_reads)) $$;
create function pg_temp.call(p_statement jsonb, p_reads jsonb, p_inside jsonb) returns jsonb
language sql as $$ select jsonb_strip_nulls(jsonb_build_object('kind', 'call', 'line', 1, 'workflow', 'inner', 'reads', p_reads,
                          'args', jsonb_build_object('s', p_statement), 'steps', jsonb_build_array(p_inside))) $$;
create function pg_temp.reads(p_name text, p_depth int) returns jsonb
language sql as $$ select jsonb_build_object(p_name, p_depth) $$;
\set params '[{"name": "s", "type": "sql"}, {"name": "sh", "type": {"optional": "shell"}}, {"name": "t", "type": "string"}]'

-- what is allowed
create temp table allowed (name text, step jsonb);
insert into allowed values
    ('a literal', pg_temp.sql_task('"select 1"')),
    ('a literal with a quoted name', pg_temp.sql_task('["text", "select 1 from ", ["call", "quote_ident", ["var", "t"]]]', pg_temp.reads('t', 0))),
    ('a parameter of type sql', pg_temp.sql_task('["var", "s"]', pg_temp.reads('s', 0))),
    ('a parameter of type sql, in a loop', play_forall('x', '["list", 1]', pg_temp.sql_task('["var", "s"]', pg_temp.reads('s', 0)))),
    ('a literal, through a call', pg_temp.call('"select 1"', null, pg_temp.sql_task('["var", "s"]', pg_temp.reads('s', 0)))),
    ('a parameter, through two calls', pg_temp.call('["var", "s"]', pg_temp.reads('s', 0),
        pg_temp.call('["var", "s"]', pg_temp.reads('s', 0), pg_temp.sql_task('["var", "s"]', pg_temp.reads('s', 0))))),
    ('a script with a quoted word', pg_temp.ssh_task('["text", "ls ", ["call", "sh", ["var", "t"]]]', pg_temp.reads('t', 0))),
    ('no script', pg_temp.ssh_task('null')),
    ('a parameter of type shell', pg_temp.ssh_task('["var", "sh"]', pg_temp.reads('sh', 0)));
select lives_ok(format('select play_install(%L, %L, %L)', 'w' || md5(a.name), jsonb_build_array(a.step), :'params'), a.name) from allowed a;

-- what is refused: each is data of an app, of a task or of a table
create temp table refused (name text, step jsonb, path text, type text);
insert into refused values
    ('a parameter of type string', pg_temp.sql_task('["var", "t"]', pg_temp.reads('t', 0)), '.args.statement', 'sql'),
    ('a parameter of type shell as a statement', pg_temp.sql_task('["var", "sh"]', pg_temp.reads('sh', 0)), '.args.statement', 'sql'),
    ('a text with data in it', pg_temp.sql_task('["text", "select ", ["var", "t"]]', pg_temp.reads('t', 0)), '.args.statement', 'sql'),
    ('a text that is quoted for a shell', pg_temp.sql_task('["text", "select ", ["call", "sh", ["var", "t"]]]', pg_temp.reads('t', 0)), '.args.statement', 'sql'),
    ('a script that is quoted as a name', pg_temp.ssh_task('["text", "ls ", ["call", "quote_ident", ["var", "t"]]]', pg_temp.reads('t', 0)), '.args.script', 'shell'),
    ('a function of data', pg_temp.sql_task('["call", "lower", ["var", "t"]]', pg_temp.reads('t', 0)), '.args.statement', 'sql'),
    ('a field of the instance', pg_temp.sql_task('["instance", "key"]'), '.args.statement', 'sql'),
    ('a choice', pg_temp.sql_task('["if", true, "select 1", ["var", "t"]]', pg_temp.reads('t', 0)), '.args.statement', 'sql'),
    ('a number', pg_temp.sql_task('1'), '.args.statement', 'sql'),
    ('an element of a list', play_forall('x', '["list", ["var", "t"]]', pg_temp.sql_task('["var", "x"]', pg_temp.reads('x', 1))), '.body.args.statement', 'sql'),
    ('data, through a call', pg_temp.call('["var", "t"]', pg_temp.reads('t', 0), pg_temp.sql_task('["var", "s"]', pg_temp.reads('s', 0))), '.args.s', 'sql'),
    ('data, through two calls', pg_temp.call('["text", ["var", "t"]]', pg_temp.reads('t', 0),
        pg_temp.call('["var", "s"]', pg_temp.reads('s', 0), pg_temp.sql_task('["var", "s"]', pg_temp.reads('s', 0)))), '.args.s', 'sql');
select throws_ok(format('select play_install(''bad'', %L, %L)', jsonb_build_array(r.step), :'params'), 'WF005',
                 format('workflows[0].steps[0]%s: takes a literal of type %s only', r.path, r.type), r.name)
  from refused r;
select throws_ok(format('select play_install(''bad'', %L, %L)',
                        jsonb_build_array('{"kind": "let", "line": 1, "as": "a", "value": "select 1"}'::jsonb, pg_temp.sql_task('["var", "a"]', pg_temp.reads('a', 0))), :'params'),
                 'WF005', 'workflows[0].steps[1].args.statement: takes a literal of type sql only', 'a name that a step binds');
select throws_ok(format('select play_install(''bad'', ''[]'', %L)', jsonb_build_array(jsonb_build_object('name', 'p', 'type', t))),
                 'WF005', 'workflows[0].params: parameter p holds code in it', t::text || ' as the type of a parameter')
  from unnest(array['{"list": "sql"}', '{"object": {"a": {"optional": "shell"}}}', '{"optional": {"list": "shell"}}']::jsonb[]) t;
select lives_ok($$select play_install('named', '[]', '[{"name": "p", "type": {"object": {"sql": "int", "secret": "string"}}}]')$$,
                'a field may be called sql or secret');

-- a task type that takes its statement from a parameter of another type, or computes it
create function pg_temp.type_refused(p_transport text, p_args text, p_name text) returns setof text
language plpgsql as $$
begin
    update play_type t
       set spec = jsonb_build_object('name', 'c.Own', 'machine', 'sync', 'params', '[{"name": "t", "type": "string"}, {"name": "s", "type": "sql"}]'::jsonb,
                                     'requests', jsonb_build_object('start', jsonb_build_object('transport', p_transport, 'args', p_args::jsonb)))
     where t.name = 'c.Own';
    return next throws_ok($q$select play_install('bad', jsonb_build_array(play_task('c.Own', null, '{"t": "x", "s": "select 1"}')))$q$, 'WF005',
        format('task_types.c.Own.requests.start.args.%s: takes a literal of type %s only',
               case p_transport when 'sql' then 'statement' else 'script' end, case p_transport when 'sql' then 'sql' else 'shell' end), p_name);
end;
$$;
insert into play_type (name, spec) values ('c.Own', '{}');
select * from pg_temp.type_refused('sql', '{"statement": ["var", "t"]}', 'a statement from a parameter of type string');
select * from pg_temp.type_refused('sql', '{"statement": ["text", ["var", "s"], ["var", "t"]]}', 'a statement that is put together');
select * from pg_temp.type_refused('ssh', '{"host": "h", "script": ["var", "s"]}', 'a script from a parameter of type sql');

-- whoever starts a workflow gives no code
select play_install('runs', jsonb_build_array(pg_temp.sql_task('["var", "s"]', pg_temp.reads('s', 0))), '[{"name": "s", "type": "sql", "default": "select 1"}]');
select throws_ok($$select wf.start('runs', '{"s": "drop table x"}')$$, 'WF002',
                 'parameter s is of type sql, which only another workflow can give', 'start takes no statement');
select throws_ok($$select * from wf.start_many('runs', '[{"s": "drop table x"}]')$$, 'WF002', null, 'start_many takes no code as a parameter');
select lives_ok($$select wf.start('runs')$$, 'the workflow starts with its default');
select is((select b.value from wf.binding b where b.name = 's'), '"select 1"', 'the default of a parameter is the statement');

-- a header that says who the driver is
insert into play_type (name, spec) values ('c.Http', '{"name": "c.Http", "machine": "sync", "params": [{"name": "headers", "type": "object"}],
      "requests": {"start": {"transport": "http", "args": {"url": "http://h/", "headers": ["var", "headers"]}}}}');
select throws_ok(format('select play_install(''bad'', jsonb_build_array(play_task(''c.Http'', null, jsonb_build_object(''headers'', %L::jsonb))))', h), 'WF005',
                 'workflows[0].steps[0].args: the value of header Authorization must be a secret, not a literal', 'written out: ' || h)
  from unnest(array['{"Authorization": "Bearer literal"}', '["const", {"Authorization": "Bearer literal"}]', '{"Authorization": ["const", "Bearer literal"]}']) h;
select lives_ok(format('select play_install(''good'', jsonb_build_array(play_task(''c.Http'', null, jsonb_build_object(''headers'', %L::jsonb))))', h), 'not written out: ' || h)
  from unnest(array['{"Authorization": ["secret", "t"]}', '{"Authorization": ["text", "Bearer ", ["secret", "t"]]}', '{"Authorization": ""}']) h;

select is((select count(*) from wf.fsck() where class = 'violation'), 0::bigint, 'fsck finds nothing');
select * from finish();
rollback;
