-- on_failure.sql - what is done where no handler takes an error, and the result of an instance.
begin;
\ir helper/play.sql
select no_plan();
select play_driver() as driver \gset

create function play_end(p_instance bigint) returns text
language sql as $$ select concat_ws(' ', i.state, i.result, i.output) from wf.instance i where i.id = p_instance; $$;
create function play_error(p_instance bigint) returns text
language sql as $$ select concat_ws(' ', i.state, i.result, i.error ->> 'message', i.error #>> '{cause,message}') from wf.instance i where i.id = p_instance; $$;
create function play_do(p_as text, p_on_failure text default null) returns jsonb
language sql as $$ select play_task('t.Do', p_as, '{}', case when p_on_failure is not null then jsonb_build_object('on_failure', p_on_failure) end); $$;
create function play_with(p_on_failure text, variadic p_steps jsonb[]) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'seq', 'line', 1, 'steps', to_jsonb(p_steps), 'policies', jsonb_build_object('on_failure', p_on_failure)); $$;
create function play_try(p_body jsonb, p_catch jsonb) returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'try', 'line', 2, 'body', p_body, 'catches', jsonb_build_array(
               jsonb_build_object('kind', 'catch', 'line', 3, 'name', 'e', 'body', p_catch)));
$$;
create function play_return(p_value jsonb, p_reads jsonb) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'return', 'line', 9, 'value', p_value, 'reads', p_reads); $$;
insert into play_type (name, spec) values
    ('t.Frail', '{"name": "t.Frail", "machine": "sync", "params": [], "policies": {"on_failure": "skip"}, "requests": {"start": {"transport": "builtin", "args": {"op": "noop"}}}}'),
    ('t.Fail', '{"name": "t.Fail", "machine": "wait", "wait": "fail", "params": [{"name": "msg", "type": "string"}, {"name": "kind", "type": "string", "default": "failed"}, {"name": "detail", "type": {"optional": "json"}, "default": null}]}');

-- D25: the strategies
select play_install('skip', jsonb_build_array(play_do('a', 'skip'), play_task('t.Do', 'b', '{"x": ["var", "a"]}'), play_return('["list", ["var", "a"], ["var", "b"]]', '{"a": 0, "b": 0}')));
select wf.start('skip') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'));
select is(play_state(:i, 'a') || ' ' || play_state(:i, 'b'), 'END INIT', 'D25: skip goes on as if the failure was ignored');
select is((select reason from wf.event where instance_id = :i and event = 'ignore'), 'on_failure(skip)', 'the history says why');
select play_on(:driver);
select is(play_end(:i), 'END warning [null, null]', 'D14: a skipped task reads as null, and the result is warning');
select is_empty('select * from wf.fsck()', 'all is well');
select play_install('pause', jsonb_build_array(play_par(play_do('a', 'pause'), play_seq(play_do('b'), play_do('c')))));
select wf.start('pause') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a')), play_report(play_id(:i, 'b')), play_on(:driver);
select is(play_state(:i, 'a') || ' ' || play_state(:i, 'c') || ' ' || play_end(:i), 'FAILED END RUNNING', 'D22: pause waits for a person, and what can run goes on');
select wf.retry(format('{"process": %s}', play_id(:i, 'a'))::jsonb);
select play_on(:driver);
select is(play_end(:i), 'END success', 'D23: a retry runs what has failed only, and it goes on');
select is((select count(*) from wf.event where instance_id = :i and event = 'success'), 3::bigint, 'D23: an ended task is not run again');
select play_install('fail', jsonb_build_array(play_par(play_do('a', 'fail'), play_task('t.Sleep', 's', '{"duration": "PT1H"}'), play_do('b'))));
select wf.start('fail') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'no');
select is(play_state(:i, 'b') || ' ' || play_end(:i), 'ABORT_REQUESTED ABORTING', 'D25: fail stops the whole instance');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_report(play_id(:i, 'b'));
select is(play_error(:i), 'ABORTED error no', 'the instance has ended with error');
select is((select reason from wf.event where instance_id = :i and process_id is null and event = 'abort'), 'on_failure(fail)', 'the history says why');
select is_empty('select * from wf.fsck()', 'all is well');
select play_install('late', jsonb_build_array(play_with('fail_late', play_par(play_do('a'), play_seq(play_do('b'), play_do('c')), play_task('t.Sleep', 's', '{"duration": "PT5S"}')))));
select wf.start('late') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first');
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is(play_state(:i, 'a') || ' ' || play_end(:i), 'FAILED RUNNING', 'D25: fail_late waits as pause does');
select is((select detail from wf.explain(:i, play_id(:i, 'a'))), 'http: first; waits for retry, ignore, resolve or raise; if nothing else can run, its instance ends', 'explain says so');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_report(play_id(:i, 'b')), play_take(:driver);
select play_fail(play_id(:i, 'c'), 'last');
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is(play_end(:i), 'RUNNING', 'a sleep still runs');
select play_later('6 s'), wf.tick();
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is(play_error(:i), 'ABORTED error last first', 'T-D1: when nothing can run any more it ends with the last error, the other one is its cause');
select is_empty('select * from wf.fsck()', 'all is well');
select wf.start('late') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first');
select wf.retry(format('{"process": %s}', play_id(:i, 'a'))::jsonb);
select play_report(play_id(:i, 'b')), play_on(:driver);
select play_later('6 s'), wf.tick();
select is(play_end(:i), 'END success', 'a person may mend it before');
select play_install('mixed', jsonb_build_array(play_par(play_do('a', 'fail_late'), play_do('b', 'pause'))));
select wf.start('mixed') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first'), play_fail(play_id(:i, 'b'), 'second');
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is(play_end(:i), 'RUNNING', 'D25: pause beside fail_late pauses');
select wf.ignore(format('{"process": %s}', play_id(:i, 'b'))::jsonb);
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is(play_error(:i), 'ABORTED error first', 'until a person has decided');
select is_empty('select * from wf.fsck()', 'all is well');
select wf.start('mixed') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first'), play_report(play_id(:i, 'b'));
select is((select array_agg(distinct kind) from wf.work), '{late}', 'another transaction looks whether something can run');
select is_empty('select * from wf.fsck()', 'all is well before');
select wf.suspend(format('{"instance": %s}', :i)::jsonb);
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is(play_error(:i), 'ABORTED error first', 'fail_late ends a suspended instance, since nothing is held');

-- several things fail in a finally that begins as an instance ends late
select play_install('last', jsonb_build_array(play_with('fail_late',
    jsonb_build_object('kind', 'try', 'line', 1, 'body', play_do('a'),
                       'finally', jsonb_build_object('kind', 'finally', 'line', 2, 'body',
                                                     play_par(play_task('t.Fail', 'f', '{"msg": "f", "kind": "k", "detail": null}'), play_task('t.Fail', 'g', '{"msg": "g", "kind": "k", "detail": null}'), play_do('h')))))));
select wf.start('last') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first');
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is(play_error(:i), 'ABORTED error first', 'a failed finally of an instance that ends late ends with its first error');
select is_empty('select * from wf.teardown', 'the first of them ends the finally, with the others');
select is_empty('select * from wf.fsck()', 'all is well');

-- decision 1: the order
select play_install('order', jsonb_build_array(play_try(play_seq(
    play_task('t.Do', 'r', '{}', '{"on_failure": "skip", "retry": {"attempts": 2}}'), play_do('s', 'skip'), play_do('p', 'pause'), play_do('f', 'fail'), play_do('z')), play_return('["get", ["var", "e"], "message"]', '{"e": 0}'))));
select wf.start('order') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'r'));
select is(play_state(:i, 'r') || ' ' || (select attempt from wf.process where id = play_id(:i, 'r')), 'INIT 2', 'decision 1: the task''s own retry comes first');
select wf.tick();
select play_take(:driver), play_fail(play_id(:i, 'r'));
select is(play_state(:i, 'r'), 'END', 'decision 1: a skip of the task itself comes second');
select play_take(:driver), play_fail(play_id(:i, 's')), play_take(:driver), play_fail(play_id(:i, 'p'));
select is(play_state(:i, 'p'), 'FAILED', 'decision 1: a pause of the task itself comes before the catch around it');
select wf.ignore(format('{"process": %s}', play_id(:i, 'p'))::jsonb);
select play_take(:driver), play_fail(play_id(:i, 'f'), 'caught');
select is(play_end(:i), 'END success "caught"', 'the catch comes before a fail that is written on it; what was skipped in the body that it gives up counts nothing');
select wf.start('order') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'r')), wf.tick();
select play_take(:driver), play_fail(play_id(:i, 'r')), play_on(:driver);
select is(play_end(:i), 'END warning', 'a skip in a body that ends well makes a warning');
select play_install('inherited', jsonb_build_array(play_try(play_with('skip', play_do('a'), play_do('b')), play_return('["get", ["var", "e"], "message"]', '{"e": 0}'))));
select wf.start('inherited') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'caught');
select is(play_end(:i), 'END success "caught"', 'the catch comes before a skip that is written around the task');
select wf.start('order') as i \gset
select play_take(:driver), play_report(play_id(:i, 'r')), play_on(:driver, 1);
select wf.abort(format('{"instance": %s}', :i)::jsonb);

-- nearest wins
select play_install('near', jsonb_build_array(play_with('fail', play_with('skip', play_do('a'), play_do('b', 'pause'), play_task('t.Frail', 'c')), play_task('t.Frail', 'd'))));
select wf.start('near') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a')), play_take(:driver), play_fail(play_id(:i, 'b'));
select is(play_state(:i, 'a') || ' ' || play_state(:i, 'b'), 'END FAILED', 'of several on_failure that of the nearest holds');
select wf.ignore(format('{"process": %s}', play_id(:i, 'b'))::jsonb);
select play_take(:driver), play_report(play_id(:i, 'c')), play_take(:driver);
select play_fail(play_id(:i, 'd'), 'd');
select is(play_error(:i), 'ABORTED error d', 'on_failure of a type holds only where no block around the task has one');
select play_install('typed', jsonb_build_array(play_task('t.Frail', 'c'), play_do('d')));
select wf.start('typed') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'c')), play_on(:driver);
select is(play_end(:i), 'END warning', 'a type may say it for all its tasks');
select wf.install('', jsonb_build_object('format', 1, 'file', 'whole.wf', 'task_types', (select jsonb_object_agg(name, spec) from play_type where name = 't.Do'),
    'workflows', jsonb_build_array(jsonb_build_object('name', 'whole', 'line', 1, 'params', '[]'::jsonb, 'policies', '{"on_failure": "fail"}'::jsonb,
        'steps', jsonb_build_array(jsonb_build_object('kind', 'call', 'line', 2, 'workflow', 'inner', 'args', '{}'::jsonb, 'policies', '{"on_failure": "skip"}'::jsonb, 'steps', jsonb_build_array(play_do('a'))), play_do('b'))))));
select wf.start('whole') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a')), play_take(:driver), play_fail(play_id(:i, 'b'), 'b');
select is(play_state(:i, 'a') || ' ' || play_error(:i), 'END ABORTED error b', 'a workflow says it for all inside, a call of one for what is in that');

-- composites
select play_install('lists', jsonb_build_array(play_do('a'), play_with('skip', jsonb_build_object('kind', 'forall', 'line', 4, 'name', 'x', 'in', '["var", "a"]'::jsonb, 'reads', '{"a": 0}'::jsonb, 'body', play_do('y')),
    '{"kind": "let", "line": 5, "as": "z", "value": ["add", ["var", "a"], 1], "reads": {"a": 0}}', play_do('b')), play_return('["var", "z"]', '{"z": 0}')));
select wf.start('lists') as i \gset
select play_on(:driver);
select is(play_state(:i, 'forall') || ' ' || play_end(:i), 'END END warning null', 'a composite that fails follows the nearest on_failure, too');
select is_empty('select * from wf.fsck()', 'all is well');

-- a workflow ends itself
select play_install('itself', jsonb_build_array(play_with('fail', play_do('a'), play_task('t.Fail', 'f', '{"msg": "enough", "kind": "mine", "detail": null}'), play_do('b'))));
select wf.start('itself') as i \gset
select play_on(:driver);
select is(play_error(:i) || ' ' || (select error ->> 'kind' from wf.instance where id = :i), 'ABORTED error enough mine', 'a workflow ends itself with an error of its own');
select is_empty('select * from wf.fsck()', 'all is well');
select play_install('once', jsonb_build_array(play_task('t.Fail', 'f', '{"msg": "x", "kind": "k", "detail": null}', '{"on_failure": "fail"}')));
select is(play_error(wf.start('once')), 'ABORTED error x', 'as soon as it is started, too');
select play_install('late_once', jsonb_build_array(play_task('t.Fail', 'f', '{"msg": "x", "kind": "k", "detail": null}', '{"on_failure": "fail_late"}')));
select wf.start('late_once') as i \gset
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is(play_error(:i), 'ABORTED error x', 'on_failure of a workflow ends it when nothing else can run');

-- operators
select wf.start('near') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a')), play_take(:driver), play_fail(play_id(:i, 'b'), 'b');
select wf.raise(format('{"process": %s}', play_id(:i, 'b'))::jsonb);
select is(play_error(:i), 'ABORTED error b', 'D25, decision 11: raise without a handler ends the instance with the error');
select wf.start('skip') as i \gset
select play_take(:driver), wf.cancel(format('{"process": %s}', play_id(:i, 'a'))::jsonb);
select play_report(play_id(:i, 'a'), 'error', '{"kind": "x", "message": "stopped"}'), play_on(:driver);
select is(play_end(:i), 'END warning [null, null]', 'a cancelled task is skipped, too');
select wf.start('skip') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'error', '{"kind": "engine", "message": "no"}');
select is(play_state(:i, 'a'), 'FAILED', 'an error of the engine waits for a person, whatever on_failure says');

-- an asynchronous task is released first
select play_install('job', jsonb_build_array(play_task('t.Job', 'j', '{}', '{"on_failure": "skip"}')));
select wf.start('job') as i \gset
select play_take(:driver), play_report(play_id(:i, 'j'), 'ack'), play_report(play_id(:i, 'j'), 'response', '{"id": 1}');
select play_later('6 s'), play_take(:driver), play_report(play_id(:i, 'j'), 'response', '{"state": "bad"}');
select is(play_state(:i, 'j'), 'CLEANUP_REQUESTED', 'a skipped job is released');
select play_take(:driver), play_report(play_id(:i, 'j'));
select is(play_end(:i), 'END warning', 'a released job is skipped');
select is_empty('select * from wf.fsck()', 'all is well');
select play_install('job_fail', jsonb_build_array(play_par(play_task('t.Job', 'j', '{}', '{"on_failure": "fail"}'), play_do('b'))));
select wf.start('job_fail') as i \gset
select play_take(:driver), play_report(play_id(:i, 'j'), 'ack'), play_report(play_id(:i, 'j'), 'response', '{"id": 1}'), play_report(play_id(:i, 'b'));
select play_later('6 s'), play_take(:driver), play_report(play_id(:i, 'j'), 'response', '{"state": "bad"}');
select is(play_state(:i, 'j') || ' ' || play_end(:i), 'ABORT_CLEANUP_REQUESTED ABORTING', 'a job that fails its instance is released, too');
select play_take(:driver), play_report(play_id(:i, 'j'));
select is(play_end(:i), 'ABORTED error', 'before it ends');
select is_empty('select * from wf.fsck()', 'all is well');

-- many at once
select play_install('many', jsonb_build_array(play_with('skip', '{"kind": "forall", "line": 2, "name": "x", "in": ["range", 1, 1500]}'::jsonb || jsonb_build_object('body', play_do('v')))));
select wf.start('many') as i \gset
select play_take(:driver, 1000);
select play_fail_all(:driver, :i);
select play_on(:driver);
select is(play_end(:i), 'END warning', '1,000 tasks are skipped');
select is((select count(*) from wf.event where instance_id = :i and event = 'warn'), 1::bigint, 'the instance is warned once about 1,000 skipped tasks');
select is_empty('select * from wf.fsck()', 'all is well');

-- a workflow that waits for its next round, and is cancelled
select wf.install('', jsonb_build_object('format', 1, 'file', 'x.wf', 'task_types', (select jsonb_object_agg(t.name, t.spec) from play_type t where t.name = 't.Do'), 'workflows', jsonb_build_array(
    jsonb_build_object('name', 'round', 'line', 1, 'params', '[]'::jsonb, 'steps', jsonb_build_array(play_do('a')),
                       'policies', '{"retry": {"attempts": 2, "delay": "PT1H"}, "on_failure": "fail_late"}'::jsonb))));
select wf.start('round') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first');
select is(play_state(:i, 'call') || ' ' || play_end(:i), 'INIT RUNNING', 'the failed workflow waits for its next round');
select wf.cancel(jsonb_build_object('process', jsonb_build_array(:i, play_id(:i, 'call'))));
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is(play_end(:i), 'ABORTED error', 'fail_late: the instance ends, since nothing of it is left');
select is_empty('select * from wf.fsck()', 'all is well');

-- a finally in what is given up fails late before all of that has been told
create function play_last(p_body jsonb, p_finally jsonb) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'try', 'line', 4, 'body', p_body, 'finally', jsonb_build_object('kind', 'finally', 'line', 5, 'body', p_finally)); $$;
select play_install('late_finally', jsonb_build_array(play_with('fail_late',
    play_with('fail_late', play_last(play_last(play_seq(play_do('a')), '{"kind": "let", "line": 6, "as": "x", "value": ["add", "no", "number"]}'), play_task('t.Do', 'o')))
    || '{"policies": {"retry": {"attempts": 2}}}')));
select wf.start('late_finally') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first');
select is(play_state(:i, 'x') || ' ' || play_end(:i), 'FAILED RUNNING', 'fail_late in a finally waits until nothing else can run');
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is(play_state(:i, 'x') || ' ' || play_state(:i, 'o') || ' ' || play_end(:i), 'ABORTED INIT ABORTING', 'fail_late in a finally ends it when the teardown has told every process');
select is_empty('select * from wf.fsck()', 'all is well');

-- what install refuses
select throws_like($$select play_install('bad', jsonb_build_array(play_do('a', 'stop')))$$, '%on_failure: must be pause, skip, skip_all, fail, fail_undo, fail_late or fail_late_undo%', 'install refuses another word');

select * from finish();
rollback;
