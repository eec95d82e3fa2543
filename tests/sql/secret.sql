-- secret.sql - secrets: taken out of arguments, followed into requests, handed
-- to drivers beside the arguments; no data can imitate one.
begin;
select no_plan();
\ir helper/play.sql

insert into play_type (name, spec)
select s ->> 'name', s
  from unnest(array[
    -- hands all it has on as it is
    '{"name": "s.Pass", "machine": "sync", "params": [{"name": "headers", "type": "object"}, {"name": "body", "type": {"optional": "json"}}],
      "requests": {"start": {"transport": "http", "args": {"headers": ["var", "headers"], "body": ["var", "body"]}}}}',
    -- has secrets of its own, and a parameter that is one
    '{"name": "s.Typed", "machine": "async", "params": [{"name": "token", "type": "secret"}, {"name": "more", "type": {"optional": "secret"}}, {"name": "path", "type": "string"}],
      "requests": {
        "start": {"transport": "http", "args": {"url": ["var", "path"], "headers": {"a": ["text", "Bearer ", ["var", "token"], "/", ["var", "path"]], "own": ["secret", "own"]},
                                                "body": ["list", ["var", "path"], ["var", "more"]]}, "handle": {"id": 1}},
        "poll": {"transport": "http", "args": {"url": "x"}}}}',
    -- computes with its parameter
    '{"name": "s.Other", "machine": "sync", "params": [{"name": "x", "type": "string"}],
      "requests": {"start": {"transport": "ssh", "args": {"host": "h", "script": ["text", ["call", "sh", ["var", "x"]]], "stdin": ["var", "x"]}}}}',
    '{"name": "s.Log", "machine": "sync", "params": [{"name": "x", "type": "string"}],
      "requests": {"start": {"transport": "builtin", "args": {"op": "log", "message": ["var", "x"]}}}}'
  ]::jsonb[]) s;

create function pg_temp.pass(p_headers jsonb, p_body jsonb default 'null') returns jsonb
language sql as $$ select play_task('s.Pass', 'p', jsonb_build_object('headers', p_headers, 'body', p_body)) $$;
create function pg_temp.secrets(p_name text) returns jsonb
language sql as $$
    select n.secrets from wf.node n join wf.workflow w on w.version_id = n.version_id where w.name = p_name and n.type_id is not null;
$$;

-- what is stored
select play_install('alone', jsonb_build_array(pg_temp.pass('{"a": ["secret", "t-1"], "b": "plain"}', '["list", 1, {"k": ["list", ["secret", "u.2"]]}]')));
select is(pg_temp.secrets('alone'), '{"start": [{"at": ["headers", "a"], "secret": "t-1"}, {"at": ["body", 1, "k", 0], "secret": "u.2"}]}', 'places: keys and indexes');
select is((select n.input from wf.node n where n.secrets is not null), '{"body": [1, {"k": [null]}], "headers": {"a": null, "b": "plain"}}', 'arguments have null in place of a secret');
select play_install('whole', jsonb_build_array(pg_temp.pass('{}', '["secret", "t"]')));
select is(pg_temp.secrets('whole'), '{"start": [{"at": ["body"], "secret": "t"}]}', 'a whole argument');
select play_install('none', jsonb_build_array(pg_temp.pass('{"a": ["const", ["secret", "t"]]}', '"[\"secret\", \"t\"]"')));
select is(pg_temp.secrets('none'), null, 'a literal that looks like one is data');
select is((select n.input -> 'headers' from wf.node n join wf.workflow w on w.version_id = n.version_id where w.name = 'none' and n.type_id is not null),
    '{"a": ["secret", "t"]}', 'a literal that looks like a secret is kept');
select play_install('typed', jsonb_build_array(play_task('s.Typed', 't', '{"token": ["secret", "t"], "more": null, "path": "p"}')));
select is(pg_temp.secrets('typed'), '{"start": [{"at": ["headers", "a"], "text": ["t"]}, {"at": ["headers", "own"], "secret": "own"}]}',
    'a parameter that is one, in a text; one of the type''s own; none where none was given');
select play_install('more', jsonb_build_array(play_task('s.Typed', 't', '{"token": ["secret", "t"], "more": ["secret", "m"], "path": "p"}')));
select is(pg_temp.secrets('more') -> 'start' -> 0, '{"at": ["body", 1], "secret": "m"}', 'an optional one that was given');
select is(wf._hide_secrets('["text", ["secret", "a"], "-", ["var", "x"], ["secret", "b"], ["secret", "c"]]', '{}'),
    '["list", ["text"], ["text", "-", ["var", "x"]], ["text"], ["text"]]', 'of a text the texts around them are left');
select is(wf._hide_secrets(x, '{}'), x, format('untouched: %s', x))
  from unnest(array['["text", "a"]', '["call", "sh", ["secret", "a"]]', '["secret", "../a"]', '["secret"]', '["secret", "a", "b"]', '["secret", 1]', '[]', '"secret"', 'null']::jsonb[]) x;

select is(wf._hide_secrets((repeat('["list", ', 150) || '["secret", "a"]' || repeat(']', 150))::jsonb, '{}')::text, (repeat('["list", ', 150) || '["secret", "a"]' || repeat(']', 150))::jsonb::text,
    'a value that is nested too deep to be an expression is left for the check to refuse');

-- what a driver is handed
select play_driver('one', '{builtin,http,ssh}') as driver \gset
create function pg_temp.handed(p_driver bigint) returns table (args jsonb, secrets jsonb, workflow text)
language sql as $$ select p.args, p.secrets, p.workflow from wf.poll(p_driver, 10) p where p.kind = 'run' $$;
select play_install('bearer', jsonb_build_array(pg_temp.pass('{"a": ["text", "Bearer ", ["secret", "t"], ["var", "x"]], "b": ["var", "y"]}', '["var", "y"]')),
    '[{"name": "x", "type": "string"}, {"name": "y", "type": "json"}]');
select wf.start('bearer', '{"x": "${secret(\"u\")}", "y": {"at": ["body"], "secret": "u", "list": ["secret", "u"], "text": ["u"], "secrets": [{"at": ["body"], "secret": "u"}]}}');
select results_eq(format('select * from pg_temp.handed(%s)', :driver),
    $$values ('{"headers": {"a": ["Bearer ", "${secret(\"u\")}"], "b": {"at": ["body"], "secret": "u", "list": ["secret", "u"], "text": ["u"], "secrets": [{"at": ["body"], "secret": "u"}]}},
                "body": {"at": ["body"], "secret": "u", "list": ["secret", "u"], "text": ["u"], "secrets": [{"at": ["body"], "secret": "u"}]}}'::jsonb,
               '[{"at": ["headers", "a"], "text": ["t"]}]'::jsonb, 'bearer')$$, 'data forges no place');
select wf.start('typed');
select results_eq(format('select * from pg_temp.handed(%s)', :driver),
    $$values ('{"url": "p", "headers": {"a": ["Bearer ", "/p"], "own": null}, "body": ["p", null]}'::jsonb,
               '[{"at": ["headers", "a"], "text": ["t"]}, {"at": ["headers", "own"], "secret": "own"}]'::jsonb, 'typed')$$, 'of a type that makes the arguments');
select wf.start('none');
select is((select (h.secrets, h.workflow) from pg_temp.handed(:driver) h), row(null::jsonb, null::text), 'a request without secrets has no places for them, and no workflow');

-- what is refused
create function pg_temp.refuses(p_name text, p_task jsonb, p_message text) returns text
language sql as $$
    select throws_ok(format('select play_install(%L, %L)', 'refused', jsonb_build_array(p_task)), 'WF005', p_message, p_name);
$$;
select pg_temp.refuses('in a function', pg_temp.pass('{"a": ["call", "base64", ["secret", "t"]]}'), 'workflows[0].steps[0].args.headers: .a[2]: there is no operator "secret"');
select pg_temp.refuses('in a choice', pg_temp.pass('{"a": ["if", true, ["secret", "t"], ""]}'), 'workflows[0].steps[0].args.headers: .a[2]: there is no operator "secret"');
select pg_temp.refuses('a name that leads elsewhere', pg_temp.pass('{"a": ["secret", "../t"]}'), 'workflows[0].steps[0].args.headers: .a: there is no operator "secret"');
select pg_temp.refuses('in let', '{"kind": "let", "line": 1, "as": "x", "value": ["secret", "t"]}', 'workflows[0].steps[0].value: there is no operator "secret"');
select pg_temp.refuses('in a policy', pg_temp.pass('{}') || '{"policies": {"title": ["secret", "t"]}}', 'workflows[0].steps[0].policies.title: there is no operator "secret"');
select pg_temp.refuses('an argument that the type computes with', play_task('s.Other', 'x', '{"x": ["secret", "t"]}'),
    'workflows[0].steps[0].args.x: s.Other does not hand on x as it is, which holds a secret');
select pg_temp.refuses('an argument of a request that can hold none', play_task('s.Log', 'x', '{"x": ["secret", "t"]}'),
    'workflows[0].steps[0].args: a secret ends up in message of builtin');
select pg_temp.refuses('a literal for a secret', play_task('s.Typed', 't', '{"token": "t", "more": null, "path": "p"}'),
    'workflows[0].steps[0].args.token: parameter token of s.Typed is a secret');
select pg_temp.refuses('a text with one for a secret', play_task('s.Typed', 't', '{"token": ["text", "x", ["secret", "t"]], "more": null, "path": "p"}'),
    'workflows[0].steps[0].args.token: parameter token of s.Typed is a secret');
select throws_ok($$select play_install('refused', jsonb_build_array(pg_temp.pass('{}')), '[{"name": "x", "type": "secret"}]')$$, 'WF005',
    'workflows[0].params: parameter x is a secret', 'a parameter of a workflow');
update play_type set spec = jsonb_set(spec, '{params,0,type}', '{"list": "secret"}') where name = 's.Pass';
select pg_temp.refuses('a parameter that holds some', pg_temp.pass('{}'), 'task_types.s.Pass.params: parameter headers holds a secret');
select * from finish();
rollback;
