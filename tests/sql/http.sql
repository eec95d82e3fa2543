-- http.sql - what requests over HTTP must not say: install refuses what a tree
-- says itself, whatever made it.
begin;
select no_plan();
\ir helper/play.sql

insert into play_type (name, spec)
select s ->> 'name', s
  from unnest(array[
    -- hands all it has on as it is
    '{"name": "h.Pass", "machine": "sync", "params": [{"name": "u", "type": "string"}, {"name": "m", "type": "string"}, {"name": "h", "type": "object"}],
      "requests": {"start": {"transport": "http", "args": {"url": ["var", "u"], "method": ["var", "m"], "headers": ["var", "h"]}}}}',
    -- makes a URL of it
    '{"name": "h.Make", "machine": "sync", "params": [{"name": "who", "type": "string"}],
      "requests": {"start": {"transport": "http", "args": {"url": ["text", ["var", "who"], "h/@"]}}}}',
    -- has the same names, and nothing to do with HTTP
    '{"name": "h.Other", "machine": "sync", "params": [{"name": "url", "type": "string"}],
      "requests": {"start": {"transport": "ssh", "args": {"host": "h", "command": ["list", ["var", "url"]]}}}}'
  ]::jsonb[]) s;

create function pg_temp.pass(p_url jsonb, p_method jsonb default '"GET"', p_headers jsonb default '{}') returns jsonb
language sql as $$ select play_task('h.Pass', 'p', jsonb_build_object('u', p_url, 'm', p_method, 'h', p_headers)) $$;
create function pg_temp.refused(p_name text, p_task jsonb, p_message text) returns text
language sql as $$
    select throws_ok(format('select play_install(%L, %L)', 'refused', jsonb_build_array(p_task)), 'WF005', p_message, p_name);
$$;

-- users in URLs
select pg_temp.refused(u::text, pg_temp.pass(u), 'workflows[0].steps[0].args: a URL must not have a user or password before its host')
  from unnest(array['"http://u:p@h/"', '"HTTPS://u@h"', '"http://@h/"', '"http:///u@h/"', '["const", "http://u@h"]', '["text", "http://u@h/", ["var", "x"]]',
                    '["text", "http://", ["var", "x"], ":", ["var", "y"], "@h"]', '["text", "https://", ["secret", "login"], "@h/"]']::jsonb[]) u;
select pg_temp.refused('a user that a task type puts before its host', play_task('h.Make', 'p', '{"who": "http://u@"}'),
                       'workflows[0].steps[0].args: a URL must not have a user or password before its host');

-- methods
select pg_temp.refused(m::text, pg_temp.pass('"http://h/"', m), 'workflows[0].steps[0].args: the method must not be ' || coalesce(m ->> 1, m #>> '{}'))
  from unnest(array['"CONNECT"', '"connect"', '"TRACE"', '"TRACK"', '"PRI"', '["const", "CONNECT"]', '["text", "CONNECT"]']::jsonb[]) m;

-- headers
select pg_temp.refused(h::text, pg_temp.pass('"http://h/"', '"GET"', h), format('workflows[0].steps[0].args: the header %s is not for workflows to set', n))
  from (values ('{"Host": "x"}'::jsonb, 'Host'), ('{"hOST": ["var", "x"]}', 'hOST'), ('{"content_length": 1}', 'content_length'), ('{"Proxy-Anything": 1}', 'Proxy-Anything'),
               ('{"TE": 1, "a": 1}', 'TE'), ('["const", {"Upgrade": 1}]', 'Upgrade'), ('["object", {"Trailer": 1}, ["a"], 1]', 'Trailer'),
               ('["object", {}, ["Transfer-Encoding"], 1]', 'Transfer-Encoding'), ('{"keep-alive": 1}', 'keep-alive'), ('{"Connection": 1}', 'Connection'),
               ('{"HTTP2-Settings": 1}', 'HTTP2-Settings'), ('{"Expect": 1}', 'Expect')) x (h, n);

-- the same in a task type
insert into play_type (name, spec)
select 'h.Wrong', '{"name": "h.Wrong", "machine": "sync", "params": [],
  "requests": {"start": {"transport": "http", "args": {"url": "http://u@h/", "method": "CONNECT", "headers": {"Host": "x"}}}}}';
select pg_temp.refused('a task type', play_task('h.Wrong', 'p', '{}'), 'task_types.h.Wrong.requests.start.args.headers: the header Host is not for workflows to set');

-- what is nothing of the kind
select lives_ok(format('select play_install(%L, %L)', 'fine', jsonb_build_array(t)), t -> 'args' #>> '{}')
  from unnest(array[pg_temp.pass('"http://h/@"'), pg_temp.pass('"http://h?u@h"'), pg_temp.pass('"http://h#@"'), pg_temp.pass('"u@h"'), pg_temp.pass('"text"'),
                    pg_temp.pass('["text", "http://", "h", "/", "u@h"]'), pg_temp.pass('"http://h/"', '"PROPFIND"', '{"X-Host": 1, "Tea": 2, "Proxy": 3}'),
                    play_task('h.Make', 'p', '{"who": "http://"}'), play_task('h.Other', 'p', '{"url": "https://u@h/"}')]) t;

select * from finish();
rollback;
