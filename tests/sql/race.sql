-- race.sql - of several branches the first that ends wins, and the others are stopped.
begin;
\ir helper/play.sql
select no_plan();
select play_driver() as driver \gset

create function play_race(variadic p_branches jsonb[]) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'race', 'line', 5, 'branches', to_jsonb(p_branches)); $$;
create function play_try(p_body jsonb, p_catch jsonb) returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'try', 'line', 2, 'body', p_body, 'catches', jsonb_build_array(
               jsonb_build_object('kind', 'catch', 'line', 3, 'name', 'e', 'body', p_catch)));
$$;
create function play_let(p_as text, p_value jsonb, p_reads jsonb default '{}') returns jsonb
language sql as $$ select jsonb_build_object('kind', 'let', 'line', 6, 'as', p_as, 'value', p_value, 'reads', p_reads); $$;
create function play_return(p_value jsonb, p_reads jsonb) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'return', 'line', 9, 'value', p_value, 'reads', p_reads); $$;
create function play_end(p_instance bigint) returns text
language sql as $$ select concat_ws(' ', i.state, i.result, i.output) from wf.instance i where i.id = p_instance; $$;

-- the first branch that ends wins
select play_install('two', jsonb_build_array(
    play_race(play_seq(play_task('t.Do', 'a', '{"x": 1}'), play_task('t.Do', 'b', '{"x": 2}')),
              play_task('t.Do', 'c', '{"x": 3}')),
    play_return('["list", ["var", "a"], ["var", "b"], ["var", "c"]]', '{"a": 0, "b": 0, "c": 0}')));
select wf.start('two') as i \gset
select play_take(:driver), play_report(play_id(:i, 'c'), 'response', '{"value": 7}');
select is(play_state(:i, 'race'), 'ABORTING', 'a race that was won waits for its losers');
select is((select chosen from wf.process where id = play_id(:i, 'race')), 2, 'the race knows which branch has won');
select is(play_state(:i, 'a'), 'ABORT_REQUESTED', 'the driver of a loser is told to stop');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select alike((select detail from wf.explain(:i, play_id(:i, 'race')) where reason = 'teardown')
    , 'it is torn down, since a branch of the race has won; it waits for % t.Do as a (ABORT_REQUESTED)%', 'explain says why, and what it waits for');
select results_eq(format($$select answer, detail from wf.cancel('{"process": %s}')$$, play_id(:i, 'a')),
    $$values ('refused', 'ABORT_REQUESTED: only INIT, START_REQUESTED can be cancelled')$$, 'no verb touches a loser');
select play_report(play_id(:i, 'a'), 'response', '{"value": 1}');
select is(play_id(:i, 'b'), null, 'the next step of a loser does not begin');
select is(play_state(:i, 'race') || ' ' || play_state(:i, 'seq'), 'END ABORTED', 'the race ends when its losers have stopped');
select is(play_end(:i), 'END success [null, null, 7]', 'the names of the winner can be read, those of losers are null');
select is_empty('select * from wf.fsck()', 'all is well');
select results_eq(format('select event, state from wf.event where process_id = %s order by seq', play_id(:i, 'race')),
    $$values ('win', 'ABORTING'), ('end', 'END')$$, 'the history tells how it was won');

select wf.start('two') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"value": 1}'), play_take(:driver), play_report(play_id(:i, 'b'), 'response', '{"value": 2}');
select play_fail(play_id(:i, 'c'));
select is(play_end(:i), 'END success [1, 2, null]', 'a branch of several steps wins with all its names');
select is_empty('select * from wf.fsck()', 'all is well');

-- the same name in several branches
select play_install('same', jsonb_build_array(
    play_race(play_seq(play_task('t.Do', 'x'), play_task('t.Do', 'late')),
              play_seq(play_task('t.Do', 'x'), jsonb_set(play_task('t.Do', 'y', '{"x": ["var", "x"]}'), '{reads,x}', '1'))),
    play_return('["list", ["var", "x"], ["var", "y"]]', '{"x": 0, "y": 0}')));
select wf.start('same') as i \gset
select play_take(:driver);
select min(id) as one, max(id) as other from wf.process where instance_id = :i and bind = 'x' \gset
select play_report(:other, 'response', '{"value": "mine"}'), play_report(:one, 'response', '{"value": "the loser''s"}');
select is((select input from wf.process where id = play_id(:i, 'y')), '{"x": "mine"}', 'a branch reads what it has bound itself');
select is_empty(format('select * from wf.binding where instance_id = %s and scope_id = %s', :i, play_id(:i, 'call')), 'around the race nothing is bound before it is won');
select play_on(:driver);
select ok(play_end(:i) in ('END success ["mine", "mine"]', 'END success ["the loser''s", null]'), 'only the winner''s value counts');
select wf.start('same') as i \gset
select play_take(:driver);
select min(id) as one, max(id) as other from wf.process where instance_id = :i and bind = 'x' \gset
select play_report(:other, 'response', '{"value": 2}'), play_report(:one, 'response', '{"value": 1}'), play_take(:driver);
select play_report(play_id(:i, 'y'), 'response', '{"value": 3}'), play_fail(play_id(:i, 'late'));
select is(play_end(:i), 'END success [2, 3]', 'the winner''s value counts also if the loser has bound the name last');
select is_empty('select * from wf.binding_past', 'no former value of a loser is kept');
select is_empty('select * from wf.fsck()', 'all is well');

-- what ends as it begins
select play_install('instant', jsonb_build_array(
    play_race(play_task('t.Do', 'a'), play_let('b', '1'), play_seq(play_let('c', '2'), play_let('d', '["add", ["var", "c"], 1]', '{"c": 1}'))),
    play_return('["list", ["var", "a"], ["var", "b"], ["var", "d"]]', '{"a": 0, "b": 0, "d": 0}')));
select wf.start('instant') as i \gset
select play_on(:driver);
select is(play_end(:i), 'END success [null, 1, null]', 'a branch that ends as it begins wins at once');
select is(play_state(:i, 'a'), 'ABORTED', 'a task beside a branch that ends at once is never handed out');
select is_empty('select * from wf.fsck()', 'all is well');
select play_install('ties', jsonb_build_array(play_race(play_let('b', '1'), play_let('c', '2'), play_let('b', '3')), play_return('["list", ["var", "b"], ["var", "c"]]', '{"b": 0, "c": 0}')));
select is((select play_end(wf.start('ties'))), 'END success [1, null]', 'of branches that end together the lowest wins');
select play_install('one', jsonb_build_array(play_race(play_let('b', '1')), play_return('["var", "b"]', '{"b": 0}')));
select is((select play_end(wf.start('one'))), 'END success 1', 'one branch races alone');
select play_install('tie', jsonb_build_array(play_race(play_task('t.Do', 'a', '{"x": 1}'), play_task('t.Do', 'b', '{"x": 2}')), play_return('["list", ["var", "a"], ["var", "b"]]', '{"a": 0, "b": 0}')));
select wf.start('tie') as i \gset
select play_on(:driver);
select is(play_end(:i), 'END success [1, null]', 'the lowest branch wins also if drivers report several at once');
select is_empty('select * from wf.fsck()', 'all is well');

-- deep, and in each other
select play_install('nested', jsonb_build_array(
    play_race(play_task('t.Do', 'a'),
              play_race(play_task('t.Do', 'b'),
                        play_par(play_seq(play_task('t.Do', 'c')), play_let('d', '4')))),
    play_return('["list", ["var", "a"], ["var", "c"], ["var", "d"]]', '{"a": 0, "c": 0, "d": 0}')));
select wf.start('nested') as i \gset
select play_take(:driver), play_report(play_id(:i, 'c'), 'response', '{"value": 5}');
select is((select count(*) from wf.process where instance_id = :i and kind = 'race' and state = 'ABORTING'), 1::bigint, 'the inner race was won');
select play_fail(play_id(:i, 'b'));
select is((select count(*) from wf.process where instance_id = :i and kind = 'race' and state = 'ABORTING'), 1::bigint, 'the outer race is won by the inner one');
select play_fail(play_id(:i, 'a'));
select is(play_end(:i), 'END success [null, 5, 4]', 'names go outwards through both');
select is_empty('select * from wf.fsck()', 'all is well');
select wf.start('nested') as i \gset
select play_take(:driver), play_report(play_id(:i, 'c'), 'response', '{"value": 5}'), play_report(play_id(:i, 'a'), 'response', '{"value": 6}');
select is((select array_agg(follows) from wf.teardown where instance_id = :i), '{lost}', 'an inner race that was won is lost with its branch');
select is_empty('select * from wf.fsck()', 'all is well');
select play_fail(play_id(:i, 'b'));
select is(play_end(:i), 'END success [6, null, null]', 'names of a lost inner race count nothing');
select is_empty('select * from wf.fsck()', 'all is well');

-- a failed branch leaves the race
select wf.start('two') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first');
select is(play_state(:i, 'a') || ' ' || play_state(:i, 'seq') || ' ' || play_state(:i, 'race'), 'RAISED ABORTED ACTIVE', 'a branch that fails leaves the race');
select is((select reason from wf.event where instance_id = :i and process_id = play_id(:i, 'a') and event = 'raise'), 'left the race in line 5', 'the history says so');
select is_empty('select * from wf.failed', 'nobody needs to decide');
select is_empty('select * from wf.fsck()', 'all is well');
select play_report(play_id(:i, 'c'), 'response', '{"value": 3}');
select is(play_end(:i), 'END success [null, null, 3]', 'another one wins, and the failure counts nothing');
select is_empty('select * from wf.given_up', 'the failure of a branch that left is forgotten');
select wf.start('two') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first'), play_fail(play_id(:i, 'c'), 'last');
select is(play_state(:i, 'c') || ' ' || play_state(:i, 'race'), 'FAILED ACTIVE', 'the last branch that fails waits for an operator');
select is_empty('select * from wf.fsck()', 'all is well');
select wf.retry(format('{"process": %s}', play_id(:i, 'c'))::jsonb);
select play_on(:driver);
select is(play_end(:i), 'END success [null, null, 3]', 'a failed branch that an operator retries may still win');
select wf.start('two') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first'), play_fail(play_id(:i, 'c'), 'last');
select wf.raise(format('{"process": %s}', play_id(:i, 'c'))::jsonb);
select is((select result || ' ' || (error ->> 'message') || ' ' || (error #>> '{cause,message}') from wf.instance where id = :i), 'error last first', 'raised it ends the instance, with the other one as its cause');
select is_empty('select * from wf.fsck()', 'all is well');
select is_empty('select * from wf.given_up', 'nothing is left of it');

-- a branch that leaves in portions, and wins no more
select play_install('caught', jsonb_build_array(play_try(
    play_race(play_par(play_task('t.Do', 'a'), play_task('t.Do', 'b')), play_task('t.Do', 'c'), play_task('t.Do', 'd')),
    play_return('["var", "e"]', '{"e": 0}'))));
select wf.start('caught') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first');
select is(play_state(:i, 'b'), 'ABORT_REQUESTED', 'other tasks of the branch that left are told to stop');
select is((select follows from wf.teardown), 'left', 'the branch is torn down');
select ok((select detail from wf.explain(:i, play_id(:i, 'par')) where reason = 'teardown') like 'it is torn down, since an error of process % (http: it broke) has made it leave the race in line 5; %'
    or (select detail from wf.explain(:i, play_id(:i, 'par')) where reason = 'teardown') like '%(http: first) has made it leave the race in line 5%', 'explain says why');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_fail(play_id(:i, 'c'), 'second');
select play_fail(play_id(:i, 'd'), 'third');
select is((select count(*) from wf.teardown), 1::bigint, 'a race whose branches have all failed hands the error on, though one of them is still stopping');
select play_report(play_id(:i, 'b'));
select is((select output - 'process' from wf.instance where id = :i) #- '{cause,detail,0,process}' #- '{cause,detail,1,process}',
    '{"kind": "http", "detail": null, "attempt": 1, "message": "third", "cause": {"kind": "several", "message": "2 others failed", "detail": [
       {"kind": "http", "cause": null, "detail": null, "attempt": 1, "message": "first"}, {"kind": "http", "cause": null, "detail": null, "attempt": 1, "message": "second"}]}}',
    'with the other errors as its cause, in the order of the branches');
select is_empty('select * from wf.fsck()', 'all is well');

-- operators
select wf.start('two') as i \gset
select play_take(:driver), play_report(play_id(:i, 'c'), 'response', '{"value": 7}');
select wf.abort(format('{"instance": %s}', :i)::jsonb);
select is((select array_agg(follows) from wf.teardown where instance_id = :i), '{aborted}', 'an abort takes the place of what a race waits for');
select play_fail(play_id(:i, 'a'));
select is(play_end(:i) || ' ' || play_state(:i, 'race'), 'ABORTED aborted ABORTED', 'the race is aborted although it was won');
select is_empty('select * from wf.fsck()', 'all is well');
select wf.start('two') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first'), play_fail(play_id(:i, 'c'), 'last');
select wf.ignore(format('{"process": %s}', play_id(:i, 'c'))::jsonb);
select is(play_end(:i), 'END warning [null, null, null]', 'a failure that is ignored makes its branch the winner, with a warning');
select wf.start('caught') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'x'), play_fail(play_id(:i, 'c'));
select wf.suspend(format('{"instance": %s}', :i)::jsonb);
select play_report(play_id(:i, 'd')), play_report(play_id(:i, 'b'));
select is_empty('select * from wf.fsck()', 'all is well when it is suspended');
select wf.resume(format('{"instance": %s}', :i)::jsonb);
select is(play_end(:i), 'END success', 'a race ends while its instance is suspended');

-- a warning counts only if its branch has won
select play_install('warned', jsonb_build_array(
    play_race(play_seq(play_task('t.Do', 'a'), play_task('t.Do', 'b')), play_task('t.Do', 'c')), play_task('t.Do', 'z')));
select wf.start('warned') as i \gset
select play_take(:driver), play_report(play_id(:i, 'c'), 'error', '{"kind": "x", "message": "out"}'), play_fail(play_id(:i, 'a'));
select wf.ignore(format('{"process": %s}', play_id(:i, 'a'))::jsonb);
select is((select warned from wf.instance where id = :i), false, 'a warning belongs to its branch');
select play_on(:driver);
select is(play_end(:i), 'END warning', 'a warning of the winner counts');

-- names, loops and calls in branches
select play_install('elements', jsonb_build_array(
    play_race(play_task('t.Do', 'z'),
        '{"kind": "forall", "line": 3, "name": "x", "in": ["const", [1, 2, 3]], "body": {"kind": "let", "line": 3, "as": "y", "value": ["mul", ["var", "x"], 2], "reads": {"x": 2}},
          "collect": [{"as": "ys", "value": ["var", "y"]}], "collect_reads": {"y": 2}}'::jsonb),
    play_return('["var", "ys"]', '{"ys": 0}')));
select wf.start('elements') as i \gset
select is(play_end(:i), 'END success [2, 4, 6]', 'a forall that wins leaves what it has collected');
select is_empty('select * from wf.fsck()', 'all is well');
select play_install('loop', jsonb_build_array(
    jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'n', 'in', '["const", [1, 2, 3]]'::jsonb,
        'body', play_race(jsonb_set(play_task('t.Do', 'v', '{"x": ["var", "n"]}'), '{reads,n}', '1'), play_task('t.Sleep', 's', '{"duration": "PT1H"}')),
        'collect', '[{"as": "vs", "value": ["var", "v"]}]'::jsonb, 'collect_reads', '{"v": 1}'::jsonb),
    play_return('["var", "vs"]', '{"vs": 0}')));
select wf.start('loop') as i \gset
select is((select label from wf.label_v where process_id = (select max(id) from wf.process where instance_id = :i and bind = 'v')), 't.Do as v [2]', 'a task in a race is called after the element around it');
select play_on(:driver);
select is(play_end(:i), 'END success [1, 2, 3]', 'a race in an element binds its names there');
select is_empty('select * from wf.timer', 'the sleep of a loser is gone');
select is_empty('select * from wf.fsck()', 'all is well');

-- many branches, in portions; drivers report many at once
select play_install('many', jsonb_build_array(
    jsonb_build_object('kind', 'race', 'line', 1, 'branches', (select jsonb_agg(play_task('t.Do', 'b' || g)) from generate_series(1, 1200) g)),
    play_return('["var", "b7"]', '{"b7": 0}')));
select wf.start('many') as i \gset
select is((select count(*) from wf.process where instance_id = :i and kind = 'sync'), 1000::bigint, '1,000 branches begin at once');
select count(*) from (select wf.poll(:driver, 20)) p;
insert into play_request (driver_id, kind, instance_id, process_id, token) select :driver, 'run', l.instance_id, l.process_id, l.token from wf.lease l where l.instance_id = :i;
select play_report(play_id(:i, 'b7'), 'response', '{"value": 5}');
select is_empty('select * from wf.fsck()', 'all is well between two portions');
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is((select count(*) from wf.process where instance_id = :i and kind = 'sync'), 1000::bigint, 'branches that have not begun do not begin');
select is_empty('select * from wf.fsck()', 'all is well when all have been told');
select play_fail_all(:driver, :i);
select is(play_end(:i), 'END success 5', 'the race ends when all have stopped');
select is_empty('select * from wf.fsck()', 'all is well');
select wf.start('many') as i \gset
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is((select count(*) from wf.process where instance_id = :i and kind = 'sync'), 1200::bigint, 'all of them begin in time');
select play_take(:driver, 1300), play_fail_all(:driver, :i, 'b7');
select is((select count(*) from wf.given_up), 1199::bigint, 'all branches but one may fail');
select play_report(play_id(:i, 'b7'), 'response', '{"value": 6}');
select is(play_end(:i), 'END success 6', 'the last one wins');
select is_empty('select * from wf.given_up', 'nothing is left of it');
select is_empty('select * from wf.fsck()', 'all is well');

-- an abort in portions: a race ends before the portion that would have stopped it comes
select play_install('late', jsonb_build_array(play_par(
    play_forall('x', (select jsonb_agg(k) from generate_series(1, 1000) k), play_task('t.Do', 'g', '{}', '{"queue": "other"}')),
    play_seq(play_task('t.Do', 'first'), play_race(play_task('t.Do', 'a'), play_task('t.Do', 'b'))))));
select wf.start('late') as i \gset
select play_take(:driver), play_report(play_id(:i, 'first'), 'response', '{"value": 1}'), play_take(:driver);
select is((select answer from wf.abort(jsonb_build_object('instance', :i))), 'begun', 'a large race is aborted in portions');
select play_report(play_id(:i, 'a'), 'response', '{"value": 1}');
select is((select string_agg(p.kind || ' ' || p.state, ', ' order by p.id) from wf.process p
            where p.instance_id = :i and p.kind in ('seq', 'race')), 'seq ABORTING, race ABORTING', 'a race that is won then has what is around it stop');
select play_report(play_id(:i, 'b'), 'response', '{"value": 2}');
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is(play_end(:i), 'ABORTED aborted', 'the instance ends');
select is_empty('select * from wf.fsck()', 'all is well');

select * from finish();
rollback;
