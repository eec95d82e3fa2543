-- outcome.sql - what a report means: handle, failure when, success when,
-- output, pacing of polls, bytes that are not JSON, tokens.
begin;
\ir helper/play.sql
select no_plan();
select play_driver('fake', '{builtin,http}') as driver \gset

insert into play_type (name, spec)
select s ->> 'name', s
  from unnest(array[
    '{"name": "t.Get", "machine": "sync", "params": [{"name": "x", "type": "json"}],
      "requests": {"start": {"transport": "http", "args": {"url": "http://h/"},
        "failure": ["eq", ["get", ["var", "response"], "status"], 404],
        "failure_as": {"kind": "missing", "message": ["text", "no ", ["var", "x"]], "detail": ["var", "response"]},
        "success": ["eq", ["get", ["var", "response"], "status"], 200],
        "output": {"body": ["get", ["var", "response"], "body"], "x": ["var", "x"]}}}}',
    '{"name": "t.Body", "machine": "sync", "params": [{"name": "x", "type": "json"}],
      "requests": {"start": {"transport": "http", "args": {"url": "http://h/"}, "output": ["get", ["var", "response"], "body"]}}}',
    '{"name": "t.Pick", "machine": "sync", "params": [],
      "requests": {"start": {"transport": "http", "args": {"url": "http://h/"}, "output": {"a": ["get", ["var", "response"], "a"], "body": ["get", ["var", "response"], "body"]}}}}',
    '{"name": "t.Judge", "machine": "sync", "params": [],
      "requests": {"start": {"transport": "http", "args": {"url": "http://h/"}, "success": true, "output": {"a": ["get", ["var", "response"], "a"], "body": ["get", ["var", "response"], "body"]}}}}',
    '{"name": "t.Run", "machine": "async", "params": [{"name": "x", "type": {"optional": "json"}}],
      "requests": {
        "start": {"transport": "http", "args": {"url": "start"}, "handle": {"at": ["get", ["var", "response"], "at"]}},
        "poll": {"transport": "http", "args": {"url": ["get", ["var", "handle"], "at"], "timeout": "PT1.5S"}, "every": {"delay": "PT2S", "backoff": 2, "max_delay": "PT7S", "attempts": 3},
                 "handle": {"seen": ["get", ["var", "response"], "n"]},
                 "failure": ["eq", ["get", ["var", "response"], "state"], "bad"],
                 "failure_as": {"kind": "job", "message": ["get", ["var", "response"], "why"]},
                 "success": ["eq", ["get", ["var", "response"], "state"], "done"],
                 "output": ["list", ["get", ["var", "handle"], "at"], ["get", ["var", "response"], "n"]]},
        "cancel": {"transport": "http", "args": {"url": ["text", "cancel ", ["get", ["var", "handle"], "at"]]}, "every": {"delay": "PT1S", "attempts": 2}},
        "cleanup": {"transport": "http", "args": {"url": ["text", "clean ", ["get", ["var", "handle"], "at"]]}, "every": {"delay": "PT3S", "attempts": 2}}}}',
    '{"name": "t.Named", "machine": "async", "params": [{"name": "wait", "type": {"optional": "string"}}],
      "requests": {
        "start": {"transport": "http", "args": {"timeout": ["var", "wait"]}, "handle": {"id": 1}},
        "poll": {"transport": "http", "args": {"url": ["text", "jobs/", ["instance", "attempt"]]}, "every": {"delay": "PT2S", "attempts": 2},
                 "success": ["eq", ["get", ["var", "response"], "state"], "done"]}}}',
    '{"name": "t.Bare", "machine": "async", "params": [{"name": "pause", "type": "duration"}, {"name": "tries", "type": "int"}],
      "requests": {
        "start": {"transport": "builtin", "args": {"op": "noop"}, "handle": {"id": 1}, "success": ["eq", ["get", ["var", "response"], "state"], "done"], "output": "at once"},
        "poll": {"transport": "builtin", "args": {"op": "noop"}, "every": {"delay": ["var", "pause"], "backoff": 9999, "max_delay": ["mul.duration", ["var", "pause"], 3], "attempts": ["var", "tries"]}}}}'
  ]::jsonb[]) s;

-- batch(INSTANCE, BODIES [, EVENTS]): reports of the elements of a forall, all
-- in one call; the answers.
create function batch(p_instance bigint, p_body bytea[], p_event text[] default null) returns text[]
language sql as $$
    select array_agg(o.answer order by o.n)
      from (select array_agg(r.instance_id order by p.index) i, array_agg(r.process_id order by p.index) j, array_agg(r.token order by p.index) t, max(r.driver_id) d
              from wf.process p
              join play_request r on r.process_id = p.id
             where p.instance_id = p_instance and p.index < cardinality(p_body)) r,
           wf.outcome(r.d, r.i, r.j, r.t, coalesce(p_event, array_fill('response'::text, array[cardinality(p_body)])), p_body) with ordinality o (token, answer, n);
$$;
create function batch(p_instance bigint, p_body text[], p_event text[] default null) returns text[]
language sql as $$ select batch(p_instance, array(select convert_to(b, 'UTF8') from unnest(p_body) with ordinality u (b, n) order by n), p_event); $$;
create function results(p_instance bigint) returns table (index int, state text, output jsonb, kind text)
language sql as $$ select p.index, p.state, p.output, p.error ->> 'kind' from wf.process p where p.instance_id = p_instance and p.index is not null order by p.index; $$;

-- synchronous tasks, judged in one batch
select play_install('get', jsonb_build_array(play_forall('x', '["a", "b", "c", "d", "e", "f", "g"]', play_task('t.Get', 'r', '{"x": ["var", "x"]}') || '{"reads": {"x": 1}}')));
select wf.start('get') as i \gset
select play_take(:driver);
select is(batch(:i, array['{"status": 200, "body": "hi"}', '{"status": 404}', '{"status": 500}', '{}', '', '[]', '{"kind": "http", "message": "cut off", "detail": {"n": 1}}'],
                '{response,response,response,response,response,response,error}'), array_fill('done'::text, array[7]), 'reports are answered');
select results_eq(format('select * from results(%s)', :i), $$values
    (0, 'END', '{"x": "a", "body": "hi"}'::jsonb, null),
    (1, 'FAILED', null, 'missing'),
    (2, 'FAILED', null, 'failed'),
    (3, 'FAILED', null, 'failed'),
    (4, 'FAILED', null, 'failed'),
    (5, 'FAILED', null, 'output'),
    (6, 'FAILED', null, 'http')$$, 'success when, failure when, failure as, output');
select is((select error from wf.process where instance_id = :i and index = 1), '{"kind": "missing", "message": "no b", "detail": {"status": 404}}', 'failure as says what the error is');
select is((select error from wf.process where instance_id = :i and index = 6), '{"kind": "http", "message": "cut off", "detail": {"n": 1}}', 'an error of the driver is kept as it is');
select is((select detail from wf.event where instance_id = :i and process_id = play_id(:i, 'r', 1) and state = 'FAILED'), '{"kind": "missing", "message": "no b", "detail": {"status": 404}}', 'the history quotes it');

-- errors that are no error records
select wf.start('get') as i \gset
select play_take(:driver);
select batch(:i, array['', '{}', '"oops"', '[1]', '{"kind": 7}', 'no json', '{"kind": "x", "message": "\u0000"}'], array_fill('error'::text, array[7]));
select results_eq(format('select index, state, error ->> ''kind'', error ->> ''message'' is not null from wf.process where instance_id = %s and index is not null order by index', :i), $$values
    (0, 'FAILED', 'failed', true), (1, 'FAILED', 'failed', true), (2, 'FAILED', 'failed', true), (3, 'FAILED', 'failed', true), (4, 'FAILED', '7', true), (5, 'FAILED', 'output', true), (6, 'FAILED', 'output', true)$$,
    'whatever the driver says, there is a kind and a message');

-- an error that is larger than a value may be, beside others that are not
update wf.setting set value = '300' where name = 'value_bytes';
select wf.start('get') as i \gset
select play_take(:driver);
select is(batch(:i, array_fill('{"kind": "http", "message": "cut off"}'::text, array[6])
                    || format('{"kind": "http", "message": "%s"}', repeat('x', 300)),
                array_fill('error'::text, array[7])), array_fill('done'::text, array[7]), 'all errors are answered');
select results_eq(format($$select error ->> 'kind', count(*), max(error ->> 'message') from wf.process
                            where instance_id = %s and index is not null group by 1 order by 1$$, :i),
    $$values ('http', 6::bigint, 'cut off'),
             ('output', 1, 'the response has 331 bytes, more than the 300 allowed')$$,
    'an error that is too large is replaced, the others are kept');
update wf.setting set value = '1048576' where name = 'value_bytes';

-- bodies are read by their content type
select play_install('body', jsonb_build_array(play_forall('x', '[1, 2, 3, 4, 5, 6, 7, 8]', play_task('t.Body', 'r', '{"x": 0}'))));
select wf.start('body') as i \gset
select play_take(:driver);
select batch(:i, array[
    '{"headers": {"content-type": "application/json"}, "body": "{\"a\": [1, 2.50]}"}',
    '{"headers": {"content-type": "application/problem+json; charset=utf-8"}, "body": "[1]"}',
    '{"headers": {"content-type": "text/plain"}, "body": "{\"a\": 1}"}',
    '{"headers": {}, "body": "{\"a\": 1}"}',
    '{"headers": {"content-type": "application/json"}, "body": ""}',
    '{"headers": {"content-type": "application/json"}, "body": "{\"a\": "}',
    '{"headers": {"content-type": "application/json"}, "body": "\"\\u0000\""}',
    '{"headers": {"content-type": "APPLICATION/JSON"}, "body": " 5 "}']);
select results_eq(format('select * from results(%s)', :i), $$values
    (0, 'END', '{"a": [1, 2.50]}'::jsonb, null),
    (1, 'END', '[1]', null),
    (2, 'END', '"{\"a\": 1}"', null),
    (3, 'END', '"{\"a\": 1}"', null),
    (4, 'END', 'null', null),
    (5, 'FAILED', null, 'output'),
    (6, 'FAILED', null, 'output'),
    (7, 'END', '5', null)$$, 'a body is JSON if it says so');

-- an output that only picks fields is not evaluated, and is the same
select play_install('pick', jsonb_build_array(play_forall('x', '[1, 2, 3, 4, 5, 6, 7, 8, 9]', play_task('t.Pick', 'r'))));
select play_install('judge', jsonb_build_array(play_forall('x', '[1, 2, 3, 4, 5, 6, 7, 8, 9]', play_task('t.Judge', 'r'))));
select results_eq('select n.task_type, n.picks from wf.node n where n.task_type in (''t.Pick'', ''t.Judge'') order by 1', $$values ('t.Judge', null::text[]), ('t.Pick', '{a,body}')$$, 'node.picks has the fields that an output picks');
select wf.start('pick') as i \gset
select wf.start('judge') as j \gset
select play_take(:driver);
select array['{"a": {"b": [1, 2.50]}, "body": "x", "more": 1}', '{"body": null}', '{}', '', '[1]', '"x"',
    '{"a": 1, "headers": {"content-type": "application/json"}, "body": " {\"c\": 5} "}',
    '{"a": 1, "headers": {"content-type": "application/json"}, "body": "{"}',
    jsonb_build_object('a', 1, 'body', repeat('x', 2000000))::text] as bodies \gset
select batch(:i, :'bodies'::text[]), batch(:j, :'bodies'::text[]);
select results_eq(format('select * from results(%s)', :i), format('select * from results(%s)', :j), 'picked or judged, it is the same');
select results_eq(format('select * from results(%s)', :i), $$values
    (0, 'END', '{"a": {"b": [1, 2.50]}, "body": "x"}'::jsonb, null), (1, 'END', '{"a": null, "body": null}', null), (2, 'END', '{"a": null, "body": null}', null),
    (3, 'END', '{"a": null, "body": null}', null), (4, 'FAILED', null, 'output'), (5, 'FAILED', null, 'output'),
    (6, 'END', '{"a": 1, "body": {"c": 5}}', null), (7, 'FAILED', null, 'output'), (8, 'FAILED', null, 'output')$$, 'a field that cannot be picked fails the task');
select wf.start('pick') as i \gset
select play_take(:driver);
select batch(:i, array_fill('{"a": 1}'::text, array[9]), array_fill('response'::text, array[9]));
select is((select count(*) from results(:i) where output = '{"a": 1, "body": null}'), 9::bigint, 'a turn in which all are picked');

-- bytes that cannot be read or kept: each spoils its own task only
select wf.start('body') as i \gset
select play_take(:driver);
select is(batch(:i, array[
    '\x7b22626f6479223a2022ff227d',                                         -- invalid UTF-8
    '\x7b22626f6479223a202200227d',                                         -- NUL
    convert_to('{"body": "\u0000"}', 'UTF8'),                               -- a character that PostgreSQL does not store
    convert_to('{"body": "it stops', 'UTF8'),                               -- truncated
    convert_to(jsonb_build_object('body', repeat('x', 2000000))::text, 'UTF8'),     -- 2 MB
    convert_to('{"body": ' || repeat('[', 100000) || repeat(']', 100000) || '}', 'UTF8'),   -- deep
    convert_to('{"body": "fine"}', 'UTF8'),
    convert_to('{"body": 1e400000}', 'UTF8')]::bytea[]), array_fill('done'::text, array[8]), 'all are taken');
select results_eq(format('select * from results(%s)', :i), $$values
    (0, 'FAILED', null::jsonb, 'output'), (1, 'FAILED', null, 'output'), (2, 'FAILED', null, 'output'), (3, 'FAILED', null, 'output'),
    (4, 'FAILED', null, 'output'), (5, 'FAILED', null, 'output'), (6, 'END', '"fine"', null), (7, 'FAILED', null, 'output')$$, 'a response that is not JSON fails its task; the other reports are applied');
select matches((select error ->> 'message' from wf.process where instance_id = :i and index = 4), '^the response has 20000\d\d bytes, more than the 1048576 allowed$', 'a response that is too large is refused with its size');
select is((select error -> 'detail' ->> 'body' from wf.process where instance_id = :i and index = 0), '{"body": "\377"}', 'the bytes are kept for who looks into it');
select is((select count(*) from wf.failed where instance_id = :i), 7::bigint, 'seven tasks wait for an operator');
select is((select count(*) from wf.lease where instance_id = :i), 0::bigint, 'no driver holds a task that waits for an operator');

-- a type without clauses takes any response, whatever it is
select play_install('plain', jsonb_build_array(play_forall('x', '[1, 2, 3]', play_task('t.Do', 'r'))));
update play_type set spec = spec #- '{requests,start,output}' where name = 't.Do';
select play_install('plain', jsonb_build_array(play_forall('x', '[1, 2, 3]', play_task('t.Do', 'r'))));
select wf.start('plain') as i \gset
select play_take(:driver);
select batch(:i, array['', '\xff', '{"kind": "x"}']::bytea[], '{response,response,error}');
select results_eq(format('select * from results(%s)', :i), $$values (0, 'END', null::jsonb, null), (1, 'END', null, null), (2, 'FAILED', null, 'x')$$, 'plain tasks end, or fail');
select is_empty('select * from wf.fsck()', 'all is well with synchronous tasks');

-- asynchronous tasks: acknowledged, started under a handle, polled, released
select play_install('run', jsonb_build_array(play_task('t.Run', 'r', '{"x": 1}')));
select set_config('wf.now', '2026-03-01 12:00:00+00', true);
select wf.start('run') as i \gset
select play_id(:i, 'r') as r \gset
create function due(p_process bigint) returns text language sql as $$ select format('%s %s %s', t.kind, to_char(t.due_at at time zone 'UTC', 'MI:SS'), t.failures) from wf.timer t where t.process_id = p_process; $$;
create function last_request() returns text language sql as $$ select concat_ws(' ', r.request, r.needs_ack, r.args, r.timeout_ms) from play_request r where r.kind = 'run' order by k desc limit 1; $$;
select play_take(:driver);
select is(last_request(), 'start t {"url": "start"}', 'the start request is to be acknowledged');
select is(play_report(:r, 'ack'), 'done', 'an acknowledgement is done');
select is(play_report(:r, 'ack'), 'done', 'a repeated acknowledgement is done');
select is((select count(*) from wf.event where process_id = :r and event = 'ack'), 1::bigint, 'a repeated acknowledgement is one move');
select is(play_report(:r, 'response', '{"at": "job/1"}'), 'done', 'the response to a start is done');
select results_eq(format('select state, handle from wf.process where id = %s', :r), $$values ('EXECUTING', '{"at": "job/1"}'::jsonb)$$, 'under its handle');
select is(due(:r), 'poll 00:02 0', 'the first poll is due after the delay');
select play_later('1.9 s');
select is(play_take(:driver), 0::bigint, 'not before');
select play_later('0.1 s');
select is(play_take(:driver), 1::bigint, 'the poll is handed out after the delay');
select is(last_request(), 'poll f {"url": "job/1", "timeout": "PT1.5S"} 1500', 'with its handle and its time limit');
select play_report(:r, 'response', '{"n": 1}');
select is((select handle from wf.process where id = :r), '{"at": "job/1", "seen": 1}', 'a poll may add to the handle');
select is(due(:r), 'poll 00:06 0', 'the next poll is due after twice the delay');
select play_later('4 s'), play_take(:driver), play_report(:r, 'response', '{"n": 2}');
select is(due(:r), 'poll 00:13 0', 'the delay grows up to the longest delay');
select play_later('7 s'), play_take(:driver), play_fail(:r, 'busy');
select is(due(:r), 'poll 00:20 1', 'a poll that fails is repeated');
select results_eq(format('select was, event, state, detail from wf.event where process_id = %s order by seq desc limit 2', :r),
    $$values ('EXECUTING', 'polled', 'EXECUTING', null::jsonb), ('EXECUTING', 'request_failed', 'EXECUTING', '{"kind": "http", "message": "busy"}')$$, 'the history tells it');
select play_later('7 s'), play_take(:driver), play_fail(:r, 'busy');
select play_later('7 s'), play_take(:driver), play_report(:r, 'response', '{"n": 3}');
select is(due(:r), 'poll 00:34 0', 'a poll that succeeds clears the failures before it');
select is((select error from wf.process where id = :r), null, 'nothing is left of the error');
select play_later('7 s'), play_take(:driver), play_report(:r, 'response', '{"n": 4, "state": "done"}');
select results_eq(format('select state, output from wf.process where id = %s', :r), $$values ('CLEANUP_REQUESTED', '["job/1", 4]'::jsonb)$$, 'the task has ended outside');
select is((select state from wf.instance where id = :i), 'RUNNING', 'the instance runs until the task is released');
select is(play_take(:driver), 1::bigint, 'at once');
select is(last_request(), 'cleanup f {"url": "clean job/1"}', 'with its handle');
select play_fail(:r, 'no');
select is(due(:r), 'cleanup 00:37 1', 'a release that fails is repeated');
select play_later('3 s'), play_take(:driver), play_fail(:r, 'no');
select results_eq(format('select state, output, handle, error from wf.process where id = %s', :r), $$values ('END', '["job/1", 4]'::jsonb, null::jsonb, null::jsonb)$$, 'at last it is passed over');
select is((select detail from wf.event where process_id = :r and event = 'unclean'), '{"unclean": {"kind": "http", "message": "no"}}', 'the history says that it is not clean');
select is((select result from wf.instance where id = :i), 'success', 'the instance ends all the same');

-- a task whose driver reports has begun, acknowledged or not
select wf.start('run') as i \gset
select play_id(:i, 'r') as r \gset
select play_take(:driver);
select is(play_report(:r, 'response', '{"at": "job/0"}'), 'done', 'a driver that answers has begun');
select results_eq(format('select event from wf.event where process_id = %s order by seq desc limit 2', :r), '{started,ack}'::text[], 'the history has both moves');
select is((select handle from wf.process where id = :r), '{"at": "job/0"}', 'a task whose start was not acknowledged runs under its handle');
select wf.start('run') as i \gset
select play_id(:i, 'r') as r \gset
select play_take(:driver);
select is(play_fail(:r, 'refused'), 'done', 'a report of a failure is done');
select results_eq(format('select was, state, error from wf.process where id = %s', :r), $$values ('EXECUTING', 'FAILED', '{"kind": "http", "message": "refused"}'::jsonb)$$, 'a reported failure fails the task');
select wf.abort('{"global": true}', 'no more of them');

-- failures
select wf.start('run') as i \gset
select play_id(:i, 'r') as r \gset
select play_take(:driver), play_report(:r, 'ack'), play_report(:r, 'response', '{"at": "job/2"}'), play_later('2 s'), play_take(:driver);
select play_report(:r, 'response', '{"state": "bad", "why": "no disk"}');
select results_eq(format('select state, handle, error from wf.process where id = %s', :r), $$values ('FAILED', '{"at": "job/2", "seen": null}'::jsonb, '{"kind": "job", "message": "no disk"}'::jsonb)$$, 'a failed poll fails the task, which keeps its handle');
select wf.retry('{"global": true}');
select is(play_take(:driver), 1::bigint, 'before another attempt');
select is(last_request(), 'cleanup f {"url": "clean job/2"}', 'a failed task is released before another attempt');
select play_report(:r), play_take(:driver);
select results_eq(format('select attempt, state, handle, error from wf.process where id = %s', :r), $$values (2, 'START_REQUESTED', null::jsonb, null::jsonb)$$, 'the next attempt starts without handle and error');
select play_report(:r, 'ack'), play_report(:r, 'response', '{"at": "job/3"}'), play_later('2 s');
select is((select string_agg(play_take(:driver)::text || play_fail(:r) || set_config('wf.now', (wf.now() + interval '7 s')::text, true), ' ') from generate_series(1, 1)) is not null, true, 'a poll fails');
select play_take(:driver), play_fail(:r), play_later('7 s');
select play_take(:driver), play_fail(:r, 'third');
select results_eq(format('select state, error from wf.process where id = %s', :r), $$values ('FAILED', '{"kind": "http", "message": "third"}'::jsonb)$$, 'after three polls in a row that failed so has the task');

-- cancel
select wf.retry('{"global": true}');
select play_take(:driver), play_report(:r), play_take(:driver), play_report(:r, 'ack'), play_report(:r, 'response', '{"at": "job/4"}');
select wf.cancel('{"global": true}');
select is(play_take(:driver), 1::bigint, 'a task is cancelled outside');
select is(last_request(), 'cancel f {"url": "cancel job/4"}', 'under its handle');
select play_fail(:r, 'no');
select is(due(:r), 'cancel ' || to_char((wf.now() + interval '1 s') at time zone 'UTC', 'MI:SS') || ' 1', 'a cancel that fails is repeated');
select play_later('1 s'), play_take(:driver), play_report(:r);
select results_eq(format('select state, handle, error ->> ''kind'' from wf.process where id = %s', :r), $$values ('FAILED', '{"at": "job/4"}'::jsonb, 'cancelled')$$, 'a cancelled task is FAILED, and keeps its handle for the release');
select wf.ignore('{"global": true}');
select play_take(:driver);
select is(last_request(), 'cleanup f {"url": "clean job/4"}', 'a cancelled task is released before anything else goes on');
select play_report(:r);
select is((select result from wf.instance where id = :i), 'warning', 'the instance ends after the release of the cancelled task');

-- a handle that cannot be made
select wf.start('run') as i \gset
select play_id(:i, 'r') as r \gset
select play_take(:driver), play_report(:r, 'ack'), play_report(:r, 'response', '[1]');
select results_eq(format('select state, error ->> ''kind'' from wf.process where id = %s', :r), $$values ('FAILED', 'output')$$, 'a response of which no handle can be made is a failure');
select wf.abort('{"global": true}');

-- a type without cancel and cleanup passes through; what stands under every may read parameters
select play_install('bare', jsonb_build_array(play_task('t.Bare', 'r', '{"pause": "PT10S", "tries": 2}'), play_task('t.Do', 'after')));
select wf.start('bare') as i \gset
select play_id(:i, 'r') as r \gset
select play_take(:driver), play_report(:r, 'ack');
select play_report(:r, 'response', '{"state": "done"}');
select results_eq(format('select was, event, state from wf.event where process_id = %s order by seq desc limit 2', :r),
    $$values ('CLEANUP_REQUESTED', 'cleaned', 'END'), ('EXECUTING', 'success', 'CLEANUP_REQUESTED')$$, 'start itself may succeed, and what is not to be released is not');
select results_eq(format('select output, handle from wf.process where id = %s', :r), $$values ('"at once"'::jsonb, null::jsonb)$$, 'with its output');
select is(play_state(:i, 'after'), 'INIT', 'the next step begins');
select wf.abort('{"global": true}');
select wf.start('bare') as i \gset
select play_id(:i, 'r') as r \gset
select wf.now() as began \gset
select play_take(:driver), play_report(:r, 'ack'), play_report(:r, 'response', '{}');
select is((select due_at - :'began'::timestamptz from wf.timer where process_id = :r), interval '10 s', 'a delay that is read');
select play_later('10 s'), play_take(:driver), play_report(:r, 'response', '{}');
select is((select due_at - wf.now() from wf.timer where process_id = :r), interval '30 s', 'a longest delay that is read');
update wf.timer set round = 1000, due_at = wf.now() where process_id = :r;
select play_take(:driver), play_report(:r, 'response', '{}');
select is((select due_at - wf.now() from wf.timer where process_id = :r), interval '30 s', 'after a thousand polls too');
select play_later('30 s'), play_take(:driver), play_fail(:r);
select is((select state from wf.process where id = :r), 'EXECUTING', 'one failed poll is borne');
select play_later('30 s'), play_take(:driver), play_fail(:r);
select is((select state from wf.process where id = :r), 'FAILED', 'two failed polls are too many, since the number of attempts is read as well');
select set_config('wf.now', '', true);
select is_empty('select * from wf.fsck()', 'all is well with asynchronous tasks');

-- who can be asked by the name of the attempt is asked, where nobody knows whether he has begun
select play_install('named', jsonb_build_array(play_task('t.Named', 'r', '{"wait": ["var", "wait"]}')), '[{"name": "wait", "type": {"optional": "string"}}]');
create function begun(p_driver bigint, p_kind text) returns table (state text, kind text, history jsonb)
language plpgsql as $$
declare
    v_instance bigint := wf.start('named');
    r bigint := play_id(v_instance, 'r');
begin
    perform play_take(p_driver), play_report(r, 'ack');
    perform play_report(r, 'error', jsonb_build_object('kind', p_kind, 'message', 'no answer')::text);
    return query select p.state, p.error ->> 'kind', (select e.detail from wf.event e where e.process_id = r and e.event = 'request_failed') from wf.process p where p.id = r;
end;
$$;
select results_eq(format('select * from begun(%s, %L)', :driver, kind), format($$values ('EXECUTING', null::text, '{"kind": "%s", "message": "no answer"}'::jsonb)$$, kind), 'a request that may have begun counts as begun: ' || kind)
  from unnest('{lost,timeout}'::text[]) kind;
select results_eq(format('select state, kind from begun(%s, ''http'')', :driver), $$values ('FAILED', 'http')$$, 'a task whose request was refused has not begun');
select play_later('2 s'), play_take(:driver);
select is((select count(*) from play_request r join wf.process p on p.id = r.process_id and p.bind = 'r' where r.request = 'poll' and r.args ->> 'url' like 'jobs/%-1'), 2::bigint, 'polls find out');
select wf.abort('{"workflow": "named"}');

-- time limits
create function limit_of(p_driver bigint, p_wait text) returns bigint
language plpgsql as $$
begin
    perform wf.start('named', jsonb_build_object('wait', p_wait)), play_take(p_driver);
    return (select r.timeout_ms from play_request r where r.kind = 'run' order by r.k desc limit 1);
end;
$$;
select is(limit_of(:driver, wait), ms, 'a time limit: ' || coalesce(wait, 'null'))
  from (values ('PT2S', 2000::bigint), ('PT0S', 0), ('PT1M30.5S', 90500), ('P1D', 86400000), ('90 s', 90000), ('PT999999999S', 999999999000), ('PTS', null), ('P5TS', null), ('soon', null), ('', null), (null, null)) v (wait, ms);
select wf.abort('{"workflow": "named"}');
select set_config('wf.now', '', true);

-- tokens
select wf.start('get') as i \gset
select play_take(:driver);
select play_id(:i, 'r', 0) as a, play_id(:i, 'r', 1) as b, play_id(:i, 'r', 2) as c \gset
select is(play_report(:a, 'response', '{"status": 200}'), 'done', 'a report is done');
select is(play_report(:a, 'response', '{"status": 500}'), 'already', 'a second one was done already');
select is((select state from wf.process where id = :a), 'END', 'a second report changes nothing');
select is((select count(*) from wf.event where process_id = :a and event = 'late'), 0::bigint, 'a second report leaves no event');
select is(play_report(:b, 'release'), 'done', 'a request is handed back');
select is(play_report(:b, 'response', '{"status": 200}'), 'already', 'a report of a request that was handed back is not applied');
select token as old from play_request where process_id = :b \gset
select play_take(:driver);
select is((select answer from wf.outcome(:driver, array[:i], array[:b], array[:'old'::uuid], '{response}', '{"{\"status\": 200}"}')), 'stale', 'the token of an earlier request is stale');
select results_eq(format('select was, event, state, detail from wf.event where process_id = %s order by seq desc limit 1', :b),
    $$values ('START_REQUESTED', 'late', 'START_REQUESTED', '{"event": "response", "body": "{\"status\": 200}"}'::jsonb)$$, 'the history keeps what it said');
select is((select state from wf.process where id = :b), 'START_REQUESTED', 'the request that is out is not touched');
select play_driver() as other \gset
select is((select answer from wf.outcome(:other, array[:i], array[:b], array[(select token from wf.lease where process_id = :b)], '{response}', '{"{\"status\": 200}"}')), 'done', 'a token is honoured whoever reports it');
select results_eq(format($$select answer from wf.outcome(%s, array[%s, 0], array[0, 0], array[gen_random_uuid(), gen_random_uuid()], '{response,error}', '{"",""}')$$, :driver, :i),
    $$values ('stale'), ('stale')$$, 'a report of an unknown request is stale');
select is(play_take(:driver), 0::bigint, 'nothing is left to do');
select wf.leave(:driver);
select is(play_report(:c, 'response', '{"status": 200}'), 'late', 'a report after the driver was given up is late');
select is((select count(*) from wf.event where process_id = :c and event = 'late'), 1::bigint, 'a late report is kept in the history');
select wf.retry(jsonb_build_object('process', :c));
select is((select state from wf.process where id = :c), 'INIT', 'the next attempt is not touched');

-- one batch, everything at once: two reports of one token, an acknowledgement and its response
select play_driver('fake', '{builtin,http}') as driver \gset
select wf.abort('{"global": true}');
select wf.start('run') as i \gset
select play_id(:i, 'r') as r \gset
select play_take(:driver);
select token as t from play_request where process_id = :r \gset
select results_eq(format($$select answer from wf.outcome(%s, array[%s, %s, %s], array[%s, %s, %s], array[%L, %L, %L]::uuid[], '{ack,response,response}', array['', '{"at": 1}', '{"at": 1}']::bytea[])$$,
    :driver, :i, :i, :i, :r, :r, :r, :'t', :'t', :'t'), $$values ('done'), ('done'), ('already')$$, 'contradicting reports of one batch are taken one by one');
select is((select handle from wf.process where id = :r), '{"at": 1}', 'in order');
select throws_ok(format($$select wf.outcome(%s, '{1}', '{}', '{}', '{}', '{}')$$, :driver), 'WF002', null, 'arrays of different lengths are refused');
select throws_ok(format($$select wf.outcome(%s, '{1}', '{1}', array[gen_random_uuid()], '{done}', '{""}')$$, :driver), 'WF002', null, 'an unknown event is refused');
select is_empty(format($$select * from wf.outcome(%s, '{}', '{}', '{}', '{}', '{}')$$, :driver), 'no reports, no answers');
select is_empty('select * from wf.fsck()', 'all is well in the end');

-- an acknowledged start that was never sent is handed back, too
select play_install('handed', jsonb_build_array(play_task('t.Job', 'j')));
select wf.start('handed') as i \gset
select play_take(:driver);
select is(play_report(play_id(:i, 'j'), 'ack'), 'done', 'a start is acknowledged');
select is(play_report(play_id(:i, 'j'), 'release'), 'done', 'a driver hands back a start before it was sent');
select is(play_state(:i, 'j'), 'INIT', 'a start that was handed back may be started again');
select is_empty('select * from wf.fsck()', 'all is well after that');

-- what is not of a report's making fails the turn, not the task
create function refuse() returns trigger language plpgsql as $$
begin
    raise exception using errcode = current_setting('test.refusal'), message = 'not now';
end;
$$;
create trigger refuse before update on wf.process for each row when (new.event = 'success' and current_setting('test.refusal', true) <> '') execute function refuse();
select wf.start('plain') as i \gset
select play_take(:driver);
create function refused(p_instance bigint, p_state text) returns text language plpgsql as $$
begin
    perform set_config('test.refusal', p_state, true);
    perform batch(p_instance, array['', '', '{"kind": "x"}'], '{response,response,error}');
    return 'done';
exception when others or query_canceled then
    return sqlstate;
end;
$$;
select is(refused(:i, s), s, 'the turn fails with ' || s) from unnest('{53100,40001,40P01,55P03,57014,57P01,58030}'::text[]) s;
select set_config('test.refusal', '', true);
-- also if it comes when the reports are taken one by one, for another one among them is spoilt
create sequence moves;
grant usage on sequence moves to public;
create function stumble() returns trigger language plpgsql as $$
begin
    raise exception using errcode = case when nextval('public.moves') = 1 then '22000' else current_setting('test.stumble') end, message = 'not now';
end;
$$;
create trigger stumble before update on wf.process for each row when (new.event = 'success' and current_setting('test.stumble', true) <> '') execute function stumble();
select set_config('test.stumble', '40001', true);
select throws_ok(format($$select batch(%s, array['', '', '{"kind": "x"}'], '{response,response,error}')$$, :i), '40001', 'not now', 'the turn fails in the midst of single reports, too');
select set_config('test.stumble', '', true);
select batch(:i, array['', '', '{"kind": "x"}'], '{response,response,error}');
select results_eq(format('select index, state from results(%s)', :i), $$values (0, 'END'), (1, 'END'), (2, 'FAILED')$$, 'reports of a failed turn may be made again');

-- a report that ends its transaction each time is not made for ever: its driver counts
create function failing(p_process bigint, p_event text, p_body text, p_failures int) returns text language sql as $$
    select o.answer
      from (select r.* from play_request r where r.process_id = p_process order by r.k desc limit 1) r,
           wf.outcome(r.driver_id, array[r.instance_id], array[r.process_id], array[r.token], array[p_event], array[convert_to(p_body, 'UTF8')],
                      200, p_failures, 'canceling statement due to statement timeout') o;
$$;
select play_install('heavy', jsonb_build_array(play_par(play_task('t.Get', 'a', '{"x": 1}'), play_task('t.Get', 'b', '{"x": 1}'), play_task('t.Job', 'c'))));
select play_driver('fake', '{builtin,http}') as driver \gset
select wf.start('heavy') as i \gset
select play_take(:driver);
select is(failing(play_id(:i, 'a'), 'response', '{"status": 200, "body": "hi"}', 4), 'done', 'four failures are not enough');
select is(play_state(:i, 'a'), 'END', 'the report counts');
select is(failing(play_id(:i, 'b'), 'response', '{"status": 200, "body": "hi"}', 5), 'done', 'as many as loss_limit says are');
select results_eq(format('select state, error ->> ''kind'', error ->> ''message'', error -> ''detail'' ->> ''body'' from wf.process where id = %s', play_id(:i, 'b')),
    $$values ('FAILED', 'engine', 'the report could not be applied, 5 times in a row: canceling statement due to statement timeout', '{"status": 200, "body": "hi"}')$$,
    'the task has failed, and says why and with what');
select is(failing(play_id(:i, 'c'), 'ack', '', 9), 'done', 'an acknowledgement has nothing to evaluate');
select is(play_state(:i, 'c'), 'EXECUTING', 'an acknowledgement is taken as it is');
select is(failing(play_id(:i, 'c'), 'response', '{"id": 1}', 9), 'done', 'the response to a start that was acknowledged is not');
select is((select p.error ->> 'kind' from wf.process p where p.id = play_id(:i, 'c')), 'engine', 'a response that always fails lets its task fail with kind engine');
select wf.setting_set('loss_limit', '0');
select wf.start('heavy') as i \gset
select play_take(:driver);
select is(failing(play_id(:i, 'a'), 'response', '{"status": 200, "body": "hi"}', 1000), 'done', 'without a limit a report is never replaced');
select is(play_state(:i, 'a'), 'END', 'the task ends with the report that was never replaced');
select wf.setting_set('loss_limit', '5');
select throws_ok(format($$select wf.outcome(%s, '{}', '{}', '{}', '{}', '{}', -1)$$, :driver), 'WF002', null, 'a patience is not negative');
select throws_ok(format($$select wf.outcome(%s, '{}', '{}', '{}', '{}', '{}', 0, -1)$$, :driver), 'WF002', null, 'a negative number of failures is refused');
select is_empty('select * from wf.fsck()', 'all is well after reports that were given up');

-- a stop is told until the request has ended
create function stops(p_driver bigint) returns bigint language sql as $$ select count(*) from wf.poll(p_driver, 0) p where p.kind = 'stop'; $$;
select wf.abort('{"global": true}');
select play_driver('stopped', '{builtin,http}') as driver \gset
select wf.start('get') as i \gset
select is(play_take(:driver), 7::bigint, 'seven requests are under way');
select wf.abort(jsonb_build_object('instance', :i));
select is(stops(:driver), 7::bigint, 'the driver is told at once to stop them');
select is(stops(:driver), 0::bigint, 'a stop is not repeated at once');
select play_later('1.5 s');
select is(stops(:driver), 7::bigint, 'a stop is repeated after a while');
select play_report(play_id(:i, 'r', 0), 'error', '{"kind": "cancelled", "message": "stopped"}');
select play_later('1.5 s');
select is(stops(:driver), 6::bigint, 'until a request has ended');
select is((select count(*) from wf.stop where driver_id = :driver), 6::bigint, 'the stop of an ended request is gone');
select is_empty('select * from wf.fsck()', 'all is well after stops');

select * from finish();
rollback;
