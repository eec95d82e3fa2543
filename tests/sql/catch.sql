-- catch.sql - an error looks for its handler; a part of an instance is torn down.
begin;
\ir helper/play.sql
select no_plan();
select play_driver() as driver \gset

-- play_try(BODY, CATCH…), play_catch(NAME, BODY [, WHEN [, READS]])
create function play_try(p_body jsonb, variadic p_catches jsonb[]) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'try', 'line', 2, 'body', p_body, 'catches', to_jsonb(p_catches)); $$;
create function play_catch(p_name text, p_body jsonb, p_when jsonb default null, p_reads jsonb default null, p_line int default 3) returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'catch', 'line', p_line, 'name', p_name, 'body', p_body)
           || case when p_when is null then '{}' else jsonb_build_object('when', p_when, 'reads', coalesce(p_reads, jsonb_build_object(p_name, 0))) end;
$$;
create function play_kind(p_name text, p_kind text) returns jsonb
language sql as $$ select jsonb_build_array('eq', jsonb_build_array('get', jsonb_build_array('var', p_name), 'kind'), p_kind); $$;
create function play_return(p_value jsonb, p_reads jsonb) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'return', 'line', 9, 'value', p_value, 'reads', p_reads); $$;
create function play_end(p_instance bigint) returns text
language sql as $$ select concat_ws(' ', i.state, i.result, i.output) from wf.instance i where i.id = p_instance; $$;

-- the simplest one
select play_install('plain', jsonb_build_array(
    play_try(play_seq(play_task('t.Do', 'a'), play_task('t.Do', 'b')), play_catch('e', play_task('t.Do', 'c', '{"x": ["var", "e"]}'))),
    play_return('["var", "c"]', '{"c": 0}')));
select wf.start('plain') as i \gset
select play_on(:driver);
select is(play_end(:i), 'END success null', 'without an error a try is its body');
select is(play_id(:i, 'c'), null, 'the catch of a try without an error does not begin');
select wf.start('plain') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'));
select is(play_state(:i, 'a'), 'RAISED', 'the failed process hands its error on');
select is((select reason from wf.event where instance_id = :i and process_id = play_id(:i, 'a') and event = 'raise'), 'caught in line 3', 'the history names the catch');
select is(play_state(:i, 'seq'), 'ABORTED', 'the body is given up');
select is(play_id(:i, 'b'), null, 'the next step of a failed body does not begin');
select is_empty('select * from wf.failed', 'nobody needs to decide');
select is_empty('select * from wf.teardown', 'nothing was to be waited for');
select is_empty('select * from wf.fsck()', 'all is well in the catch');
select play_on(:driver);
select is(play_end(:i), format('END success {"kind": "http", "cause": null, "detail": null, "attempt": 1, "message": "it broke", "process": %s}', play_id(:i, 'a')),
    'B23: the catch sees the error as a record, and a caught error counts nothing in the result');
select is_empty('select * from wf.fsck()', 'all is well afterwards');

-- what fails as soon as it begins, beside what has just begun
select play_install('beside', jsonb_build_array(
    play_try(play_par(play_task('t.Sleep', null, '{"duration": ["add", 1, 1]}'), play_task('t.Do', 'b'),
                      play_task('t.Do', 'g', '{}', '{"group": {"name": "beside", "max": 1}}')),
             play_catch('e', play_task('t.Do', 'c')))));
select wf.start('beside') as i \gset
select results_eq(format('select bind, state from wf.process where instance_id = %s and bind is not null order by bind', :i),
    $$values ('b', 'ABORTED'), ('c', 'INIT'), ('g', 'ABORTED')$$, 'a sleep that fails at once tears down at once what stands beside it');
select play_on(:driver);
select is(play_end(:i), 'END success', 'the catch goes on after a body that failed at once');

-- when
select play_install('choice', jsonb_build_array(
    play_try(
        play_try(play_task('t.Do', 'a'),
                 play_catch('e', play_task('t.Do', 'b'), play_kind('e', 'ssh')),
                 play_catch('f', play_task('t.Do', 'c'), '["get", ["var", "f"], "detail"]'),
                 play_catch('g', play_task('t.Do', 'd'), '["lt", ["get", ["var", "g"], "message"], 3]')),
        play_catch('h', play_task('t.Do', 'o'), play_kind('h', 'http'), null, 7))));
select wf.start('choice') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'));
select is(play_state(:i, 'o'), 'INIT', 'B23: where no when holds the search goes on outwards');
select is((select count(*) from wf.process where instance_id = :i and kind = 'catch'), 1::bigint, 'the catches inside have not begun');
select results_eq(format('select detail ->> ''kind'', detail -> ''line'' from wf.event where instance_id = %s and event = ''undecided'' order by seq', :i),
    $$values ('input', '3'::jsonb), ('input', '3')$$, 'events tell of what was no boolean: null, and an error');
select play_on(:driver);
select is(play_end(:i), 'END success', 'the outer catch goes on');
select wf.start('choice') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'error', '{"kind": "ssh", "message": "no"}');
select is(play_state(:i, 'b'), 'INIT', 'B23: the first catch whose when holds takes it');
select play_on(:driver);
select wf.start('choice') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'error', '{"kind": "odd", "message": "no"}');
select is(play_state(:i, 'a'), 'FAILED', 'B23: without a handler the task is FAILED where it failed');
select is(play_state(:i, 'try'), 'ACTIVE', 'nothing is torn down while a person decides');
select is_empty('select * from wf.fsck()', 'all is well while a person decides');
select results_eq(format($$select answer, detail from wf.raise('{"process": %s}')$$, play_id(:i, 'a')), $$values ('done', 'FAILED -> RAISED')$$, 'raise searches again');
select is(play_end(:i), 'ABORTED error', 'raise ends the instance where no catch takes the error');
select is_empty('select * from wf.fsck()', 'all is well then');
select wf.start('choice') as i \gset
select play_take(:driver), wf.cancel(format('{"process": %s}', play_id(:i, 'a'))::jsonb), play_report(play_id(:i, 'a'), 'error', '{"kind": "x", "message": "stopped"}');
select is((select error ->> 'kind' from wf.process where id = play_id(:i, 'a')), 'cancelled', 'a cancelled task has an error, too');
select wf.abort(format('{"instance": %s}', :i)::jsonb);

-- an error in a catch
select play_install('again', jsonb_build_array(
    play_try(
        play_try(play_task('t.Do', 'a'), play_catch('e', play_task('t.Do', 'b'))),
        play_catch('f', play_return('["var", "f"]', '{"f": 0}')))));
select wf.start('again') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first');
select play_take(:driver), play_fail(play_id(:i, 'b'), 'second');
select is((select output - 'process' #- '{cause,process}' from wf.instance where id = :i),
    '{"kind": "http", "detail": null, "attempt": 1, "message": "second", "cause": {"kind": "http", "cause": null, "detail": null, "attempt": 1, "message": "first"}}',
    'B24: an error in a catch looks further outwards, and has the first as its cause');
select is(play_end(:i) like 'END success %', true, 'a return in a catch ends the workflow');
select is_empty('select * from wf.fsck()', 'all is well');
select play_install('twice', jsonb_build_array(play_try(play_task('t.Do', 'a'), play_catch('e', play_task('t.Do', 'b')))));
select wf.start('twice') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first');
select play_take(:driver), play_fail(play_id(:i, 'b'), 'second');
select is(play_state(:i, 'b'), 'FAILED', 'a catch does not take the errors of its own block');
select wf.raise(format('{"process": %s}', play_id(:i, 'b'))::jsonb);
select is((select error -> 'cause' ->> 'message' from wf.instance where id = :i), 'first', 'the error of the instance has the first as its cause');

-- what runs in the body is torn down: slots, sleeps, drivers
select play_install('wide', jsonb_build_array(
    play_try(
        play_par(
            play_forall('x', '[1, 2, 3, 4]', play_seq(play_task('t.Do', 'd', '{}', '{"group": {"name": "g", "max": 2}}'), play_task('t.Do', 'n'))),
            play_task('t.Sleep', 's', '{"duration": "PT1H"}'),
            play_task('t.Job', 'j'),
            play_task('t.Do', 'a')),
        play_catch('e', play_task('t.Do', 'c')))));
select wf.start('wide') as i \gset
select play_take(:driver);
select is((select held from wf.group_v where name = 'g'), 2::bigint, 'two elements run');
select play_report(play_id(:i, 'j'), 'ack'), play_report(play_id(:i, 'j'), 'response', '{"id": 1}');
select play_fail(play_id(:i, 'a'));
select is_empty('select * from wf.fsck()', 'all is well while drivers are told');
select is(play_id(:i, 'c'), null, 'the catch waits for what runs');
select results_eq(format('select state, count(*) from wf.process where instance_id = %s and bind in (''d'', ''s'', ''j'') group by 1 order by 1', :i),
    $$values ('ABORTED', 3::bigint), ('ABORT_REQUESTED', 3)$$, 'waiting tasks have ended, drivers are told to stop the others');
select ok((select detail from wf.explain(:i, play_id(:i, 'par')) where reason = 'teardown')
    like 'it is torn down, since the catch in line 3 has taken an error of process % (http: it broke); it waits for %(ABORT_REQUESTED)%', 'explain says why, and what it waits for');
select results_eq(format($$select answer, detail from wf.cancel('{"process": %s}')$$, play_id(:i, 'j')),
    format($$values ('refused', 'ABORT_REQUESTED: only EXECUTING, INIT, START_REQUESTED can be cancelled')$$), 'nothing in it can be cancelled');
select play_take(:driver);
select is((select count(*) from play_request where kind = 'stop' and instance_id is null), 2::bigint, 'the driver is told to stop the tasks of the body');
select play_fail(p.id) from wf.process p where p.instance_id = :i and p.bind = 'd' and p.state = 'ABORT_REQUESTED';
select is((select held + waiting from wf.group_v where name = 'g'), 0::bigint, 'the places of the group are free');
select is(play_id(:i, 'n'), null, 'nothing comes after what has stopped');
select play_report(play_id(:i, 'j'));
select is(play_state(:i, 'j'), 'ABORT_CLEANUP_REQUESTED', 'an asynchronous task of the body is cancelled, then released');
select is(play_id(:i, 'c'), null, 'the catch does not begin before that release');
select play_take(:driver), play_report(play_id(:i, 'j'));
select is(play_state(:i, 'c'), 'INIT', 'the catch begins after the release');
select is_empty('select * from wf.fsck()', 'all is well');
select play_on(:driver);
select is(play_end(:i), 'END success', 'the try ends with success');

-- a failed asynchronous task is released before its catch begins
select play_install('job', jsonb_build_array(play_try(play_task('t.Job', 'j'), play_catch('e', play_task('t.Do', 'c')))));
select wf.start('job') as i \gset
select play_take(:driver), play_report(play_id(:i, 'j'), 'ack'), play_report(play_id(:i, 'j'), 'response', '{"id": 1}');
select play_later('6 s'), play_take(:driver), play_report(play_id(:i, 'j'), 'response', '{"state": "bad"}');
select is(play_state(:i, 'j'), 'RAISE_CLEANUP_REQUESTED', 'a failed asynchronous task hands its error on when it is released');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_take(:driver), play_report(play_id(:i, 'j'));
select is(play_state(:i, 'j') || ' ' || play_state(:i, 'c'), 'RAISED INIT', 'the catch begins after the release of the failed task');
select is_empty('select * from wf.fsck()', 'all is well');

-- the driver is lost during a teardown
select wf.start('wide') as i \gset
select play_driver('lost') as lost \gset
select play_take(:lost), play_report(play_id(:i, 'j'), 'ack'), play_fail(play_id(:i, 'a'));
select wf.leave(:lost);
select play_later('2 min');
select wf.tick(), wf.tick();
select play_driver('another') as driver \gset
select play_take(:driver);
select is_empty('select * from wf.fsck()', 'all is well when a driver is lost during a teardown');
select is((select count(*) from wf.process where instance_id = :i and bind = 'd' and state = 'ABORTED'), 4::bigint, 'tasks of the lost driver are ABORTED in the teardown');
select play_take(:driver), play_report(play_id(:i, 'c'));
select is(play_end(:i), 'END success', 'the catch begins all the same');

-- abort during a teardown
select wf.start('wide') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'));
select is((select follows from wf.teardown), 'handled', 'a body is torn down');
select results_eq(format($$select answer, detail from wf.abort('{"instance": %s}')$$, :i), $$values ('done', 'RUNNING -> ABORTING')$$, 'the instance is aborted meanwhile');
select results_eq('select process_id, follows from wf.teardown', format($$values (%s::bigint, 'aborted')$$, play_id(:i, 'call')), 'the outer teardown takes the place of the inner one');
select is_empty('select * from wf.fsck()', 'all is well');
select play_take(:driver);
select play_report(p.id, 'error', '{"kind": "x", "message": "stopped"}') from wf.process p where p.instance_id = :i and p.state = 'ABORT_REQUESTED';
select is(play_end(:i), 'ABORTED aborted', 'the instance is ABORTED when the teardown is over');
select is(play_id(:i, 'c'), null, 'no catch has begun');
select is_empty('select * from wf.fsck()', 'all is well');

-- suspend and resume during a teardown
select wf.start('wide') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'));
select wf.suspend(format('{"instance": %s}', :i)::jsonb);
select is_empty('select * from wf.fsck()', 'all is well when it is suspended');
select play_fail(p.id) from wf.process p where p.instance_id = :i and p.state = 'ABORT_REQUESTED';
select play_take(:driver), play_report(play_id(:i, 'j'));
select is(play_state(:i, 'c'), 'INIT', 'the catch begins');
select is(play_take(:driver), 0::bigint, 'a catch is not handed out while the instance is suspended');
select is_empty('select * from wf.fsck()', 'all is well');
select wf.resume(format('{"instance": %s}', :i)::jsonb);
select play_on(:driver);
select is(play_end(:i), 'END success', 'the catch goes on when the instance is resumed');

-- composites fail, too
select play_install('lists', jsonb_build_array(
    play_try(play_seq(play_task('t.Do', 'a', '{"x": 7}'),
                      '{"kind": "forall", "line": 4, "name": "x", "in": ["var", "a"], "reads": {"a": 0}, "body": {"kind": "let", "line": 4, "as": "y", "value": 1}}'),
             play_catch('e', play_return('["get", ["var", "e"], "message"]', '{"e": 0}')))));
select wf.start('lists') as i \gset
select play_on(:driver);
select is(play_end(:i), 'END success "forall needs a list, not number"', 'an error of a composite is caught');
select is(play_state(:i, 'forall'), 'RAISED', 'a composite hands its error on to the catch');
select is_empty('select * from wf.fsck()', 'all is well');

-- names
select play_install('names', jsonb_build_array(
    play_try(play_seq(play_task('t.Do', 'a', '{"x": 1}'), play_task('t.Do', 'b')),
             play_catch('e', '{"kind": "let", "line": 5, "as": "b", "value": ["list", ["var", "a"], ["var", "b"]], "reads": {"a": 0, "b": 0}}')),
    play_return('["list", ["var", "a"], ["var", "b"]]', '{"a": 0, "b": 0}')));
select wf.start('names') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"value": 1}'), play_take(:driver), play_fail(play_id(:i, 'b'));
select is(play_end(:i), 'END success [1, [1, null]]', 'a catch reads what the body bound, and may bind the same name');

-- an engine error looks for no handler
select wf.start('plain') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'error', '{"kind": "engine", "message": "no"}');
select is(play_state(:i, 'a'), 'FAILED', 'an error of the engine is not caught');
select wf.abort(format('{"instance": %s}', :i)::jsonb);

-- portions: 4,000 elements run or wait in a body, and reports arrive meanwhile
select play_install('many', jsonb_build_array(
    play_try(
        play_par(
            play_forall('x', '[1, 2, 3, 4]', jsonb_build_object('kind', 'seq', 'line', 1, 'steps', jsonb_build_array(
                jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'y', 'in', '["range", 1, 5000]'::jsonb, 'body', play_seq(play_task('t.Do', 'd'), play_task('t.Do', 'n')))))),
            play_task('t.Do', 'a', '{}', '{"priority": 9}')),
        play_catch('e', play_task('t.Do', 'c')))));
select wf.start('many') as i \gset
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is((select count(*) from wf.ready where instance_id = :i), 4001::bigint, '4,000 elements may begin');
select play_take(:driver, 50);
select play_fail(play_id(:i, 'a'));
select is((select count(*) from wf.process where instance_id = :i and state = 'ABORTED' and kind = 'sync'), 993::bigint, 'the first portion has 1,000 processes');
select is((select count(*) from wf.work where kind = 'teardown'), 1::bigint, 'the rest is work');
select is_empty('select * from wf.fsck()', 'all is well between two portions');
select is((select count(*) from wf.poll(:driver, 100) where kind = 'run'), 0::bigint, 'nothing of it is handed out');
select is((select array_agg(distinct reason) from wf.explain(:i, (select max(process_id) from wf.ready where instance_id = :i))), '{teardown}', 'explain says why not');
select ok((select detail like '%; it goes on in portions' from wf.explain(:i, play_id(:i, 'par')) where reason = 'teardown'), 'explain says that more portions follow');
select results_eq(format($$select answer, detail from wf.cancel('{"process": %s}')$$, (select max(process_id) from wf.ready where instance_id = :i)),
    format($$values ('refused', 'INIT: it is being torn down with process %s')$$, play_id(:i, 'par')), 'no verb touches what has not been told yet');
select results_eq(format($$select answer, detail from wf.preview('cancel', '{"process": %s}')$$, (select max(process_id) from wf.ready where instance_id = :i)),
    format($$values ('refused', 'INIT: it is being torn down with process %s')$$, play_id(:i, 'par')), 'the preview of retry says that the process is torn down');
select play_report(p.id) from wf.process p where p.instance_id = :i and p.state = 'START_REQUESTED' limit 10;
select play_report(p.id) from wf.process p where p.instance_id = :i and p.state = 'ABORT_REQUESTED' limit 20;
select is(play_id(:i, 'n'), null, 'no step follows a task that ended during the teardown');
select is_empty('select * from wf.fsck()', 'all is well after reports between two portions');
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is((select count(*) from wf.process where instance_id = :i and state in ('INIT', 'ACTIVE')), 2::bigint, 'the portions have told every process but those around the body');
select is_empty('select * from wf.fsck()', 'all is well when all has been told');
select play_fail(p.id) from wf.process p where p.instance_id = :i and p.state = 'ABORT_REQUESTED';
select is((select state from wf.process where instance_id = :i and bind = 'c'), 'INIT', 'the catch begins when all has stopped');
select is((select count(*) from wf.process where instance_id = :i and bind = 'd'), 4000::bigint, 'no further element has begun');
select is_empty('select * from wf.fsck()', 'all is well in the end');
select wf.start('many') as i \gset
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select results_eq(format($$select answer, detail from wf.abort('{"instance": %s}')$$, :i), $$values ('begun', 'RUNNING -> ABORTING')$$, 'the abort of a large instance has begun');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select results_eq(format($$select answer, detail from wf.abort('{"instance": %s}')$$, :i), $$values ('refused', 'ABORTING: only RUNNING, SCHEDULED, SUSPENDED can be aborted')$$, 'an instance that is being aborted cannot be aborted twice');
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is(play_end(:i), 'ABORTED aborted', 'the abort goes on by itself');
select is_empty('select * from wf.teardown', 'no teardown is left after the abort');
select is_empty('select * from wf.fsck()', 'all is well');

-- a task's own retry comes first; a task that waits for its next attempt is torn down like any other
select play_install('patient', jsonb_build_array(play_try(
    play_par(play_task('t.Do', 'a', '{}', '{"retry": {"attempts": 2, "delay": "PT10S"}}'),
             play_task('t.Do', 'w', '{}', '{"retry": {"attempts": 9, "delay": "PT1H"}}')),
    play_catch('e', play_task('t.Do', 'c', '{"x": ["get", ["var", "e"], "attempt"]}')))));
select wf.start('patient') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a')), play_fail(play_id(:i, 'w'));
select is(play_state(:i, 'a') || ' ' || play_state(:i, 'w'), 'INIT INIT', 'tasks that are tried again look for no catch');
select is_empty('select * from wf.teardown', 'nothing is torn down while a task is tried again');
select play_later('10 s'), play_take(:driver), play_fail(play_id(:i, 'a'));
select is(play_state(:i, 'a') || ' ' || play_state(:i, 'w'), 'RAISED ABORTED', 'after the last attempt the catch takes the error, and no other task of the body is tried again');
select is_empty('select * from wf.timer', 'nothing waits for a next attempt');
select is((select input from wf.process where id = play_id(:i, 'c')), '{"x": 2}', 'the catch sees which attempt it was');
select play_on(:driver);
select is(play_end(:i), 'END success', 'the catch goes on');
select wf.start('patient') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a')), play_later('10 s'), play_take(:driver), play_fail(play_id(:i, 'a'));
select is(play_state(:i, 'w'), 'ABORT_REQUESTED', 'the driver is told to stop the other task');
select play_fail(play_id(:i, 'w'));
select is(play_state(:i, 'w'), 'ABORTED', 'a task that fails below a teardown is not tried again');
select play_on(:driver);
select is(play_end(:i), 'END success', 'the catch goes on then');
select is_empty('select * from wf.fsck()', 'all is well');

-- elements that have yet to begin are counted as ended
select play_install('endless', '[{"kind": "forall", "line": 1, "name": "x", "in": ["range", 1, 100000], "body": {"kind": "let", "line": 1, "as": "y", "value": 1}}]');
select wf.start('endless') as i \gset
select ok((select count(*) from wf.pending where instance_id = :i) > 0, 'not all has begun yet');
select wf.abort(format('{"instance": %s}', :i)::jsonb);
select is_empty('select * from wf.fsck()', 'all is well');
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is(play_end(:i), 'ABORTED aborted', 'elements that have not begun do not begin after the error');
select is_empty('select * from wf.fsck()', 'all is well');

select * from finish();
rollback;
