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
select is(result('two'), '{"result": "success"}', 'it succeeds');
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
select is(result('two', '[{"task": "t.Far", "outcome": {"error": {"message": "no"}}, "then": "ignore"}]'), '{"result": "warning"}', 'one that is ignored');
select results_eq($$select s.label, s.state, s.detail ->> 'reason' from wf.simulate('fan', p_script => '[{"task": "b", "index": 1, "outcome": "never"}]') s where s.event in ('waits', 'result')$$,
                  $$values ('t.Far as b [1]', 'START_REQUESTED', 'request'), ('t.Far as b [2]', 'INIT', 'group'), ('fan', 'RUNNING', null)$$,
                  'one that is never answered ends it, and everybody says what he waits for');
select is(result('fan', '[{"task": "b", "index": 1, "outcome": "never"}]'), '{"result": "waiting"}', 'then there is no result');
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
                  'what is with a driver when an error is raised is stopped');
select play_install('full', jsonb_build_array(play_forall('i', '[1, 2]', play_task('t.Far', 'b', '{}', '{"group": {"name": "old"}}'))));
select wf.group_set('old', 1), wf.tick();
select results_eq($$select s.elapsed::text from wf.simulate('full') s where s.event = 'success'$$, array['00:00:01', '00:00:02'], 'a group without a max has that which somebody set');

-- a seed
select play_install('many', jsonb_build_array(play_forall('i', (select jsonb_agg(g) from generate_series(1, 40) g), play_task('t.Far', 'b'))));
select is((select md5(string_agg(t.line, '|')) from told('many', p_seed => 7) t), (select md5(string_agg(t.line, '|')) from told('many', p_seed => 7) t), 'the same seed, the same story');
select isnt((select md5(string_agg(t.line, '|')) from told('many', p_seed => 7) t), (select md5(string_agg(t.line, '|')) from told('many', p_seed => 8) t), 'another one, another');
select is(result('many', p_seed => 7), '{"result": "waiting"}', 'something fails');
select is(result('many', '[{"then": "retry"}]', 7), '{"result": "success"}', 'and is retried until all is well');

-- one that does not end
select throws_ok($$select wf.simulate('job', p_script => '[{"outcome": {"response": {"state": "runs"}}}]')$$, 'WF004', null, 'a task that is polled for ever ends it');
-- as if each attempt were hundreds of them
create function hurry() returns trigger language plpgsql as $$ begin new.attempt := new.attempt + 333; return new; end; $$;
create trigger hurry before update on wf.process for each row when (new.event = 'retry') execute function hurry();
select throws_like($$select wf.simulate('two', p_script => '[{"task": "b", "outcome": {"error": {"kind": "k"}}, "then": "retry"}]')$$, '%t.Far has been tried 1000 times', 'so does one that is tried again for ever');
drop trigger hurry on wf.process;
select play_install('wide', jsonb_build_array(play_forall('i', '[]', play_task('t.Do', 'a')) || '{"in": ["range", 1, 50001]}'));
select throws_like($$select wf.simulate('wide')$$, '%there were 50001 requests, at % moments', 'and one that is too large');

-- what fails in the same way as a simulation ends is told all the same
create function refuse() returns trigger language plpgsql as $$ begin raise exception using errcode = 'triggered_action_exception', message = 'no'; end; $$;
create trigger refuse before insert on wf.instance for each row execute function refuse();
select throws_ok($$select wf.simulate('two')$$, '09000', 'no', 'a trigger that refuses');
drop trigger refuse on wf.instance;

-- refusals
select throws_ok($$select wf.simulate('nobody')$$, 'WF003', 'there is no workflow nobody', 'no such workflow');
select throws_ok($$select wf.simulate('two', '{"x": 1}')$$, 'WF002', 'there is no parameter x', 'no such parameter');
select throws_ok(format('select wf.simulate(%L, p_script => %L)', 'two', s.script), 'WF002', s.message, s.message)
  from (values ('{}', 'the script is no list'),
               ('[1]', 'rule 1 of the script: it is no object'),
               ('[{}, {"tsk": "a"}]', 'rule 2 of the script: there is no key tsk'),
               ('[{"task": 1}]', 'rule 1 of the script: task is the name, the type or the title of a task'),
               ('[{"attempt": "x"}]', 'rule 1 of the script: attempt is a number, from 1'),
               ('[{"index": -1}]', 'rule 1 of the script: index is the number of an element, from 0'),
               ('[{"request": "stop"}]', 'rule 1 of the script: request is start, poll, cancel or cleanup'),
               ('[{"then": "pray"}]', 'rule 1 of the script: then is retry, ignore, resolve or raise'),
               ('[{"then": "retry", "output": 1}]', 'rule 1 of the script: output goes with "then": "resolve"'),
               ('[{"duration": "long"}]', 'rule 1 of the script: duration is no duration'),
               ('[{"outcome": "good"}]', 'rule 1 of the script: outcome is "success", "lost", "never", {"response": …}, {"output": …} or {"error": {"kind": …, "message": …}}'),
               ('[{"outcome": {"error": 1}}]', 'rule 1 of the script: outcome is "success", "lost", "never", {"response": …}, {"output": …} or {"error": {"kind": …, "message": …}}')) s (script, message);

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
select count(*) from wf.simulate('fan') a, wf.simulate('job', p_script => '[{"outcome": "lost", "attempt": 1, "request": "start"}]');
select is(counted(), :'before'::jsonb, 'no row of any table is another');
select is(current_setting('wf.now', true), '', 'nor is the clock');
select ok(wf.now() - clock_timestamp() < '1 s', 'which goes as before');

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
select is(result('two'), '{"result": "success"}', 'it goes on while the engine is paused');

-- whoever may install
create role simulate_author login;
grant wf_author to simulate_author;
grant select, insert on play_request to simulate_author;
set local session authorization simulate_author;
select elapsed as author_time from wf.simulate('two') where event = 'result' \gset
reset session authorization;
select is(:'author_time'::text, '01:00:01', 'the clock of a simulation is anybody''s');

select * from finish();
rollback;
