-- simulate.sql - workflows played in virtual time, and nothing left of it.
begin;
\ir helper/play.sql
select no_plan();

select play_install('two', jsonb_build_array(
    play_task('t.Do', 'a', '{"x": 5}'),
    play_task('t.Sleep', 'nap', '{"duration": "PT1H"}'),
    play_task('t.Far', 'b')));
insert into play_type values ('t.Typed', '{"name": "t.Typed", "machine": "sync", "params": [], "returns": {"object": {"n": "int", "list": {"list": "int"}, "when": "timestamp", "more": {"optional": "string"}}},
    "requests": {"start": {"transport": "http", "args": {"url": "http://h/", "timeout": "PT30S"}, "success": ["eq", ["get", ["var", "response"], "x"], 1]}}}');
select play_install('job', jsonb_build_array(play_task('t.Job', 'j')));
select play_install('fan', jsonb_build_array(
    play_forall('i', '[10, 20, 30]', play_seq(play_task('t.Far', 'b', '{}', '{"group": {"name": "g", "max": 1}}'), play_task('t.Do', 'c')))));

-- What is told of a simulation: time, label, move.
create function told(p_workflow text, p_script jsonb default null, p_seed bigint default null) returns table (line text)
language sql as $$
    select format('%s %s %s %s', s.elapsed, s.label, s.event, s.state) from wf.simulate(p_workflow, p_script => p_script, p_seed => p_seed) s;
$$;
create function result(p_workflow text, p_script jsonb default null, p_seed bigint default null) returns jsonb
language sql as $$ select s.detail from wf.simulate(p_workflow, p_script => p_script, p_seed => p_seed) s where s.event = 'result'; $$;

-- all goes well
select results_eq($$select * from told('two')$$, array[
    '00:00:00 two start RUNNING',
    '00:00:00 t.Do as a start START_REQUESTED', '00:00:00 t.Do as a success END',
    '00:00:00 t.Sleep as nap begin WAITING', '01:00:00 t.Sleep as nap success END',
    '01:00:00 t.Far as b start START_REQUESTED', '01:00:01 t.Far as b success END',
    '01:00:01 two end END', '01:00:01 two end END', '01:00:01 two result END'], 'a sleep costs no time, a request a second');
select is(result('two'), '{"result": "success"}', 'a simulation of a workflow without failures succeeds');
select results_eq($$select * from told('job')$$, array[
    '00:00:00 job start RUNNING',
    '00:00:00 t.Job as j start START_REQUESTED', '00:00:00 t.Job as j ack EXECUTING', '00:00:00 t.Job as j started EXECUTING',
    '00:00:05 t.Job as j success CLEANUP_REQUESTED', '00:00:05 t.Job as j cleaned END',
    '00:00:05 job end END', '00:00:05 job end END', '00:00:05 job result END'], 'an asynchronous task is acknowledged, polled and cleaned up');
select results_eq($$select process from wf.simulate('two') where process is not null order by 1$$, array[1, 2, 2, 3, 3, 4, 4]::bigint[],
                  'processes are numbered from 1');
select results_eq($$select s.elapsed::text from wf.simulate('fan') s where s.label like 't.Far as b [_]' and s.event = 'success'$$,
                  array['00:00:01', '00:00:02', '00:00:03'], 'a group has its places');

-- a script
select is((select string_agg(s.event || ' ' || s.elapsed, ', ') from wf.simulate('two', p_script => '[{"task": "b", "attempt": 1, "outcome": "lost", "duration": "10 s", "then": "retry"}]') s where s.label = 't.Far as b'),
          'start 01:00:00, lost 01:00:10, retry 01:00:10, start 01:00:10, success 01:00:11', 'a lost driver, and an operator who tries again');
select is(result('two', '[{"task": "t.Far", "outcome": {"error": {"kind": "ssh", "message": "no route"}}, "then": "raise"}]'),
          '{"result": "error", "error": {"kind": "ssh", "message": "no route"}}', 'an error that is raised');
select is(result('two', '[{"task": "t.Far", "outcome": {"error": {"message": "no"}}, "then": "ignore"}]'), '{"result": "warning"}', 'a script may ignore a failure');
select results_eq($$select s.label, s.state, s.detail ->> 'reason' from wf.simulate('fan', p_script => '[{"task": "b", "index": 1, "outcome": "never"}]') s where s.event in ('waits', 'result')$$,
                  $$values ('t.Far as b [1]', 'START_REQUESTED', 'request'), ('t.Far as b [2]', 'INIT', 'group'), ('fan', 'RUNNING', null)$$,
                  'a task that is never answered ends the simulation, which lists what each process waits for');
select is(result('fan', '[{"task": "b", "index": 1, "outcome": "never"}]'), '{"result": "waiting"}', 'a simulation with an unanswered task has no result');
select results_eq($$select s.event, s.elapsed::text from wf.simulate('job', p_script => '[{"task": "j", "outcome": {"response": {"state": "bad"}}, "then": "resolve", "output": 7}]') s where s.label = 't.Job as j' and s.elapsed > '0 s'$$,
                  $$values ('fail', '00:00:05'), ('resolve', '00:00:05'), ('cleaned', '00:00:05')$$, 'a response is judged; the rule of an asynchronous task is about its polls');
select is((select s.detail from wf.simulate('job', p_script => '[{"task": "j", "request": "start", "outcome": {"error": {"kind": "a", "message": "b"}}}]') s where s.event = 'fail'),
          '{"kind": "a", "message": "b"}', 'unless it says which request');
select is((select count(*) from wf.simulate('two', p_script => '[{"duration": "1 m"}]') s where s.elapsed = '01:02:00' and s.event = 'result'), 1::bigint, 'a rule of nothing is for everything');

select is((select s.detail from wf.simulate('returns', p_script => '[{"task": "far", "outcome": {"output": {"n": 7}}}]') s where s.event = 'result'),
          '{"result": "success", "output": {"n": 7}}', 'an output, whatever response would mean that')
  from play_install('returns', jsonb_build_array(play_task('t.Typed', 'far'), '{"kind": "return", "line": 1, "value": ["var", "far"], "reads": {"far": 0}}'::jsonb));
select is(result('returns'), '{"result": "success", "output": {"n": 0, "list": [], "when": "2000-01-01T00:00:00Z", "more": null}}', 'without one it has the form of its type');
select results_eq($$select s.elapsed::text, s.event, s.detail ->> 'kind' from wf.simulate('returns', p_script => '[{"duration": "1 h", "then": "ignore"}]') s where s.label = 't.Typed as far'$$,
                  $$values ('00:00:00', 'start', null), ('00:00:30', 'fail', 'timeout'), ('00:00:30', 'ignore', null)$$, 'a time limit counts');

select play_install('beside', jsonb_build_array(play_par(play_task('t.Far', 'a'), play_task('t.Far', 'b'))));
select results_eq($$select s.elapsed::text, s.label, s.event from wf.simulate('beside', p_script => '[{"task": "a", "outcome": {"error": {"kind": "k", "message": "m"}}, "then": "raise"}, {"task": "b", "duration": "1 h"}]') s
                     where s.elapsed > '0 s' and s.label <> 'beside'$$,
                  $$values ('00:00:01', 't.Far as a', 'fail'), ('00:00:01', 't.Far as a', 'raise'), ('00:00:01', 'par', 'abort'), ('00:00:01', 't.Far as b', 'abort'), ('00:00:01', 't.Far as b', 'fail'), ('00:00:01', 'par', 'aborted')$$,
                  'a running request is stopped when an error is raised');
select play_install('full', jsonb_build_array(play_forall('i', '[1, 2]', play_task('t.Far', 'b', '{}', '{"group": {"name": "old"}}'))));
select wf.group_set('old', 1), wf.tick();
select results_eq($$select s.elapsed::text from wf.simulate('full') s where s.event = 'success'$$, array['00:00:01', '00:00:02'], 'a group without a max has that which somebody set');

-- a seed
select play_install('many', jsonb_build_array(play_forall('i', (select jsonb_agg(g) from generate_series(1, 40) g), play_task('t.Far', 'b'))));
select is((select md5(string_agg(t.line, '|')) from told('many', p_seed => 7) t), (select md5(string_agg(t.line, '|')) from told('many', p_seed => 7) t), 'the same seed, the same story');
select isnt((select md5(string_agg(t.line, '|')) from told('many', p_seed => 7) t), (select md5(string_agg(t.line, '|')) from told('many', p_seed => 8) t), 'another one, another');
select is(result('many', p_seed => 7), '{"result": "waiting"}', 'something fails');
select is(result('many', '[{"then": "retry"}]', 7), '{"result": "success"}', 'a simulation with failures succeeds with retries');

-- what is given up: its undos, last first; the losers of a race; a block whose deadline is over; a finally
create function with_undo(p_node jsonb, p_body jsonb) returns jsonb
language sql as $$ select p_node || jsonb_build_object('undo', jsonb_build_object('kind', 'undo', 'line', 5, 'body', p_body)); $$;
-- far(NAME): a task that takes a second, and an undo that does, un_NAME
create function far(p_name text) returns jsonb
language sql as $$ select with_undo(play_task('t.Far', p_name), play_task('t.Far', 'un_' || p_name)); $$;
-- try(BODY [, CATCH [, FINALLY]])
create function try(p_body jsonb, p_catch jsonb default null, p_finally jsonb default null) returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'try', 'line', 2, 'body', p_body)
           || case when p_catch is null then '{}' else jsonb_build_object('catches', jsonb_build_array(jsonb_build_object('kind', 'catch', 'line', 3, 'name', 'e', 'body', p_catch))) end
           || case when p_finally is null then '{}' else jsonb_build_object('finally', jsonb_build_object('kind', 'finally', 'line', 4, 'body', p_finally)) end;
$$;
create function block(p_policies jsonb, variadic p_steps jsonb[]) returns jsonb
language sql as $$ select play_seq(variadic p_steps) || jsonb_build_object('policies', p_policies); $$;
-- story(WORKFLOW, SCRIPT): when which task ended, and how, and the result
create function story(p_workflow text, p_script jsonb) returns text
language sql as $$
    select string_agg(concat_ws(' ', extract(epoch from s.elapsed)::int, regexp_replace(s.label, '^t\.\w+( as)? ', ''), case when s.event = 'result' then s.detail ->> 'result' else nullif(s.event, 'success') end), ', ' order by s.k)
      from (select x.*, row_number() over () as k from wf.simulate(p_workflow, p_script => p_script) x) s
     where s.event in ('result', 'waits') or s.label like 't.%' and s.state in ('END', 'FAILED', 'RAISED', 'ABORTED');
$$;
create function broken(p_task text) returns jsonb
language sql as $$ select jsonb_build_object('task', p_task, 'outcome', '{"error": {"kind": "http", "message": "no"}}'::jsonb); $$;

select play_install('undone', jsonb_build_array(
    try(play_seq(far('a'), play_forall('x', '["one", "two"]', far('b')) || '{"max": 1}', play_task('t.Far', 'c')), play_task('t.Do', 'k')), play_task('t.Do', 'z')));
select is(story('undone', jsonb_build_array(broken('c'))), '1 a, 2 b [0], 3 b [1], 4 c fail, 4 c raise, 5 un_b [1], 6 un_b [0], 7 un_a, 7 k, 7 z, 7 undone success',
    'tasks before a catch are undone first, last first, one after another');
select is((select string_agg(s.label || ' ' || s.event, ', ' order by s.k) from (select x.*, row_number() over () as k from wf.simulate('undone', p_script => jsonb_build_array(broken('c'))) x) s where s.label like 'undo of %' or s.label = 'seq'),
    'seq abort, seq undo, undo of t.Far as b [1] end, seq undo, undo of t.Far as b [0] end, seq undo, undo of t.Far as a end, seq aborted', 'each undo is told, and what it undoes');
select is(story('undone', '[]'), '1 a, 2 b [0], 3 b [1], 4 c, 4 z, 4 undone success', 'where nothing fails nothing is undone');
select is(story('undone', jsonb_build_array(broken('c'), broken('un_b') || '{"index": 0, "then": "ignore"}')), '1 a, 2 b [0], 3 b [1], 4 c fail, 4 c raise, 5 un_b [1], 6 un_b [0] fail, 6 un_b [0] ignore, 7 un_a, 7 k, 7 z, 7 undone warning',
    'a rule is about the undo in one element');
select is(story('undone', jsonb_build_array(broken('c'), broken('un_b'))), '1 a, 2 b [0], 3 b [1], 4 c fail, 4 c raise, 5 un_b [1] fail, 5 seq waits, 5 un_b [1] waits, 5 undone waiting', 'an undo that fails waits for a person');
select play_install('blocks', jsonb_build_array(try(play_seq(
    play_forall('x', '["one", "two"]', with_undo(play_seq(play_task('t.Far', 'b')), play_seq(play_task('t.Far', 'un_1'), play_task('t.Far', 'un_2')))) || '{"max": 1}', play_task('t.Far', 'c')), play_task('t.Do', 'k'))));
select is(story('blocks', jsonb_build_array(broken('c'), broken('un_2') || '{"index": 1, "then": "ignore"}')), '1 b [0], 2 b [1], 3 c fail, 3 c raise, 4 un_1 [1], 5 un_2 [1] fail, 5 un_2 [1] ignore, 6 un_1 [0], 7 un_2 [0], 7 k, 7 blocks warning',
    'a block inside that task is undone, too');
select play_install('ended', jsonb_build_array(block('{"on_failure": "fail_undo"}', far('a'), far('b'), play_task('t.Far', 'c'))));
select is(story('ended', jsonb_build_array(broken('c'))), '1 a, 2 b, 3 c fail, 3 c abort, 4 un_b, 5 un_a, 5 ended error', 'an instance that is given up is undone, and its result is error');
select is(result('ended', jsonb_build_array(broken('c'))), '{"result": "error", "error": {"kind": "http", "message": "no"}}', 'with the error that ended it');

select play_install('raced', jsonb_build_array(
    jsonb_build_object('kind', 'race', 'line', 1, 'branches', jsonb_build_array(
        try(play_seq(far('a'), play_par(play_task('t.Far', 'b'), play_task('t.Sleep', 's', '{"duration": "PT1H"}'), play_task('t.Job', 'j'))), null, play_task('t.Far', 'f')), play_task('t.Far', 'w'))),
    play_task('t.Do', 'z')));
select is(story('raced', '[{"task": "b", "duration": "1 h"}, {"task": "w", "duration": "3 s"}]'), '1 a, 3 w, 3 s abort, 3 b fail, 3 j cleaned, 4 f, 5 un_a, 5 z, 5 raced success', 'the loser of a race is stopped, has its finally, is undone, and then the race is over');
select is(story('raced', jsonb_build_array(broken('b'), '{"task": "w", "duration": "1 h"}'::jsonb)), '1 a, 2 b fail, 2 b raise, 2 s abort, 2 j cleaned, 3 f, 4 un_a, 3600 w, 3600 z, 3600 raced success', 'a failed branch of a race is undone while the other branch goes on');

select play_install('late', jsonb_build_array(
    try(block('{"timeout": {"deadline": "PT10S"}}', far('a'), play_par(play_task('t.Far', 'b'), play_task('t.Job', 'j'), play_task('t.Sleep', 's', '{"duration": "PT1H"}'))), play_task('t.Do', 'k'), play_task('t.Far', 'f'))));
select is(story('late', '[{"task": "b", "duration": "1 h"}, {"task": "j", "outcome": {"response": {"state": "runs"}}}]'), '1 a, 10 s abort, 10 b fail, 10 j cleaned, 11 un_a, 11 k, 12 f, 12 late success', 'a block whose deadline is over is stopped and undone, then come the catch and the finally');
select is((select s.detail ->> 'message' from wf.simulate('late', p_script => '[{"task": "b", "outcome": "never"}]') s where s.label = 'seq' and s.event = 'fail'), 'seq timed out after 10000 ms (deadline)', 'the timeout of a block is an error of its own');

select play_install('again', jsonb_build_array(block('{"retry": {"attempts": 3, "delay": "PT1H"}}', try(play_seq(far('a'), play_task('t.Far', 'b')), null, play_task('t.Do', 'f')))));
select is(story('again', jsonb_build_array('{"task": "b", "round": 3}'::jsonb, broken('b'))), '1 a, 2 b fail, 2 b raise, 2 f, 3603 a, 3604 b fail, 3604 b raise, 3604 f, 7205 a, 7206 b, 7206 f, 7206 again success',
    'each round of a block has its finally, and nothing is undone between them');
select is(story('again', jsonb_build_array(broken('b'))), '1 a, 2 b fail, 2 b raise, 2 f, 3603 a, 3604 b fail, 3604 b raise, 3604 f, 7205 a, 7206 b fail, 7206 b waits, 7206 again waiting', 'after the last one the error waits for a person');

-- one that does not end
select throws_ok($$select wf.simulate('job', p_script => '[{"outcome": {"response": {"state": "runs"}}}]')$$, 'WF004', null, 'a task that is polled for ever ends it');
-- as if each attempt were hundreds of them
create function hurry() returns trigger language plpgsql as $$ begin new.attempt := new.attempt + 333; return new; end; $$;
create trigger hurry before update on wf.process for each row when (new.event = 'retry') execute function hurry();
select throws_like($$select wf.simulate('two', p_script => '[{"task": "b", "outcome": {"error": {"kind": "k"}}, "then": "retry"}]')$$, '%t.Far has been tried 1000 times', 'a task that is retried for ever ends the simulation');
drop trigger hurry on wf.process;
select play_install('wide', jsonb_build_array(play_forall('i', '[]', play_task('t.Do', 'a')) || '{"in": ["range", 1, 50001]}'));
select throws_like($$select wf.simulate('wide')$$, '%there were 50001 requests, at % moments', 'a workflow with too many requests ends the simulation');

-- what fails in the same way as a simulation ends is told all the same
create function refuse() returns trigger language plpgsql as $$ begin raise exception using errcode = 'triggered_action_exception', message = 'no'; end; $$;
create trigger refuse before insert on wf.instance for each row execute function refuse();
select throws_ok($$select wf.simulate('two')$$, '09000', 'no', 'a trigger that refuses');
drop trigger refuse on wf.instance;

-- refusals
select throws_ok($$select wf.simulate('nobody')$$, 'WF003', 'there is no workflow nobody', 'no such workflow');
select throws_ok($$select wf.simulate('two', '{"x": 1}')$$, 'WF002', 'there is no parameter x', 'no such parameter');
select throws_ok(format('select wf.simulate(%L, p_script => %L)', 'two', s.script), 'WF002', s.message, s.message)
  from (values ('{}', 'the script is not a list'),
               ('[1]', 'rule 1 of the script: it is not an object'),
               ('[{}, {"tsk": "a"}]', 'rule 2 of the script: there is no key tsk'),
               ('[{"task": 1}]', 'rule 1 of the script: task must be the name, the type or the title of a task'),
               ('[{"attempt": "x"}]', 'rule 1 of the script: attempt must be a number from 1'),
               ('[{"index": -1}]', 'rule 1 of the script: index must be the number of an element, from 0'),
               ('[{"request": "stop"}]', 'rule 1 of the script: request must be start, poll, cancel or cleanup'),
               ('[{"then": "pray"}]', 'rule 1 of the script: then must be retry, ignore, resolve or raise'),
               ('[{"then": "retry", "output": 1}]', 'rule 1 of the script: output goes only with "then": "resolve"'),
               ('[{"duration": "long"}]', 'rule 1 of the script: duration must be a duration, such as 10s'),
               ('[{"outcome": "good"}]', 'rule 1 of the script: outcome must be "success", "lost", "never", {"response": …}, {"output": …} or {"error": {"kind": …, "message": …}}'),
               ('[{"outcome": {"error": 1}}]', 'rule 1 of the script: outcome must be "success", "lost", "never", {"response": …}, {"output": …} or {"error": {"kind": …, "message": …}}')) s (script, message);

-- no trace
create function counted() returns jsonb language plpgsql as $$
declare
    v_table text;
    v_count text;
    v jsonb := '{}';
begin
    for v_table in select c.relname from pg_class c where c.relnamespace = 'wf'::regnamespace and c.relkind = 'r' loop
        execute format('select count(*) || coalesce(md5(string_agg(t::text, %L order by t::text)), %L) from wf.%I t', '|', '', v_table) into v_count;
        v := v || jsonb_build_object(v_table, v_count);
    end loop;
    return v;
end;
$$;
select wf.start('two') as one, wf.start('fan') as other \gset
select play_driver() as driver \gset
select play_take(:driver);
select wf.start('two'), wf.start('job'), wf.start('fan');
select set_config('wf.now', '', true);
select counted() as before \gset
select count(*) from unnest('{undone,ended,raced,late,again}'::text[]) w, wf.simulate(w, p_script => jsonb_build_array(broken('b') || '{"then": "ignore"}', broken('c')));
select count(*) from wf.simulate('fan') a, wf.simulate('job', p_script => '[{"outcome": "lost", "attempt": 1, "request": "start"}]');
select is(counted(), :'before'::jsonb, 'no row of any table is another');
select is(current_setting('wf.now', true), '', 'a simulation does not leave its clock');
select ok(wf.now() - clock_timestamp() < '1 s', 'the clock goes on after a simulation');

-- what others have to do is left to them
update wf.timer set due_at = 'epoch';
update wf.sign_of_life set seen_at = 'epoch';
insert into wf.slot (group_id, instance_id, process_id) select g.id, :one, 999999 from wf.concurrency_group g where g.name = 'g';
insert into wf.dirty (group_id) select g.id from wf.concurrency_group g where g.name = 'g';
select counted() as before \gset
select is(result('fan'), '{"result": "success"}', 'a group that is full is empty in a simulation');
select is(counted(), :'before'::jsonb, 'timers of others are not fired, drivers not lost, groups not settled, requests not taken');

-- a paused engine is no matter of a simulation
select count(*) from wf.engine_pause('to see');
select is(result('two'), '{"result": "success"}', 'a simulation goes on while the engine is paused');

-- whoever may install
create role simulate_author login;
grant wf_author to simulate_author;
grant select, insert on play_request to simulate_author;
set local session authorization simulate_author;
select elapsed as author_time from wf.simulate('two') where event = 'result' \gset
reset session authorization;
select is(:'author_time'::text, '01:00:01', 'the clock of a simulation is anybody''s');

-- waits for signals: one comes after a second, or as the script has it
insert into play_type values ('t.Signal', '{"name": "t.Signal", "machine": "wait", "wait": "signal",
    "params": [{"name": "name", "type": "string"}, {"name": "topic", "type": {"optional": "string"}, "default": null}]}');
select play_install('ask', jsonb_build_array(play_task('t.Signal', 'a', '{"name": "go", "topic": null}', '{"timeout": {"deadline": "PT1H"}}'),
                                             play_task('t.Signal', 'b', '{"name": "go", "topic": "t"}')));
select results_eq($$select * from told('ask')$$, array[
    '00:00:00 ask start RUNNING', '00:00:00 t.Signal as a begin WAITING', '00:00:01 t.Signal as a success END',
    '00:00:01 t.Signal as b begin WAITING', '00:00:02 t.Signal as b success END',
    '00:00:02 ask end END', '00:00:02 ask end END', '00:00:02 ask result END'], 'a signal comes after a second');
select results_eq($$select * from told('ask', '[{"task": "a", "duration": "30m"}, {"task": "b", "outcome": "never"}]')$$, array[
    '00:00:00 ask start RUNNING', '00:00:00 t.Signal as a begin WAITING', '00:30:00 t.Signal as a success END',
    '00:30:00 t.Signal as b begin WAITING', '00:30:00 t.Signal as b waits WAITING', '00:30:00 ask result RUNNING'], 'the script says when, and that none comes');
select results_eq($$select * from told('ask', '[{"task": "a", "attempt": 1, "duration": "2h", "then": "retry"}]')$$, array[
    '00:00:00 ask start RUNNING', '00:00:00 t.Signal as a begin WAITING', '01:00:00 t.Signal as a timeout FAILED', '01:00:00 t.Signal as a retry INIT',
    '01:00:00 t.Signal as a begin WAITING', '01:00:01 t.Signal as a success END',
    '01:00:01 t.Signal as b begin WAITING', '01:00:02 t.Signal as b success END',
    '01:00:02 ask end END', '01:00:02 ask end END', '01:00:02 ask result END'], 'a signal that comes too late is not taken by the next attempt');
select play_install('read', jsonb_build_array(play_task('t.Signal', 'a', '{"name": "go", "topic": null}'), play_task('t.Do', 'b', '{"x": ["get", ["var", "a"], "payload"]}')));
select is((select s.detail ->> 'kind' from wf.simulate('read', p_script => '[{"task": "a", "outcome": {"error": {"kind": "no", "message": "no"}}}]') s where s.event = 'fail'), 'no', 'a wait fails if the script has it so');

select * from finish();
rollback;
