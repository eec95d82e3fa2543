-- finally.sql - what is done as a try ends, however it ends; halt gets through it.
begin;
\ir helper/play.sql
select no_plan();
select play_driver() as driver \gset

-- play_try(BODY, FINALLY [, NAME]): FINALLY is a node; NAME is bound to the error that is on its way out
create function play_try(p_body jsonb, p_finally jsonb, p_name text default null) returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'try', 'line', 2, 'body', p_body, 'finally',
                              jsonb_strip_nulls(jsonb_build_object('kind', 'finally', 'line', 4, 'name', p_name)) || jsonb_build_object('body', p_finally));
$$;
-- play_catch(TRY, NAME, BODY [, KIND]): the same with a catch
create function play_catch(p_try jsonb, p_name text, p_body jsonb, p_kind text default null) returns jsonb
language sql as $$
    select p_try || jsonb_build_object('catches', jsonb_build_array(
               jsonb_build_object('kind', 'catch', 'line', 3, 'name', p_name, 'body', p_body)
               || case when p_kind is null then '{}'
                       else jsonb_build_object('reads', jsonb_build_object(p_name, 0),
                                               'when', jsonb_build_array('eq', jsonb_build_array('get', jsonb_build_array('var', p_name), 'kind'), p_kind)) end));
$$;
create function play_return(p_value jsonb, p_reads jsonb) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'return', 'line', 9, 'value', p_value, 'reads', p_reads); $$;
create function play_end(p_instance bigint) returns text
language sql as $$ select concat_ws(' ', i.state, i.result, i.output) from wf.instance i where i.id = p_instance; $$;
-- play_sees(INSTANCE, NAME): the value of a name
create function play_sees(p_instance bigint, p_name text) returns jsonb
language sql as $$ select value from wf.binding where instance_id = p_instance and name = p_name; $$;
-- play_target(INSTANCE [, NAME])
create function play_target(p_instance bigint, p_name text default null) returns jsonb
language sql as $$
    select case when p_name is null then jsonb_build_object('instance', p_instance)
                else jsonb_build_object('process', play_id(p_instance, p_name)) end;
$$;

-- the body ends well
select play_install('plain', jsonb_build_array(
    play_try(play_task('t.Do', 'a', '{"x": 1}'), play_task('t.Do', 'f', '{"x": ["var", "e"]}'), 'e'), play_task('t.Do', 'z')));
select wf.start('plain') as i \gset
select is(play_take(:driver), 1::bigint, 'the body begins alone');
select play_report(play_id(:i, 'a'), 'response', '{"value": 1}');
select is(concat_ws(' ', play_state(:i, 'a'), play_state(:i, 'f'), play_state(:i, 'try'), play_state(:i, 'z')), 'END INIT ACTIVE', 'the finally begins when the body has ended, and the try goes on until it has');
select is(play_sees(:i, 'e'), 'null', 'no error is on its way out');
select is_empty('select * from wf.fsck()', 'all is well in the finally');
select play_on(:driver);
select is(play_end(:i), 'END success', 'the try ends after its finally');
select is_empty('select * from wf.fsck()', 'all is well afterwards');

-- the body fails, and nothing takes the error
select wf.start('plain') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'));
select is(concat_ws(' ', play_state(:i, 'a'), play_state(:i, 'finally'), play_state(:i, 'try')), 'FAILED ACTIVE', 'the finally does not run while an operator decides');
select wf.ignore(play_target(:i, 'a'));
select play_on(:driver);
select is(concat_ws(' ', play_end(:i), play_state(:i, 'f')), 'END warning END', 'the finally runs when the body is ignored');
select wf.start('plain') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'));
select results_eq(format($$select answer, detail from wf.raise('{"process": %s}')$$, play_id(:i, 'a')), $$values ('done', 'FAILED -> RAISED')$$, 'an operator hands the error on');
select is(concat_ws(' ', play_state(:i, 'try'), play_state(:i, 'finally'), play_state(:i, 'f'), play_end(:i)), 'ABORTING ACTIVE INIT ABORTING', 'the finally begins below the teardown of the instance');
select is(play_sees(:i, 'e') - 'process', '{"kind": "http", "cause": null, "detail": null, "attempt": 1, "message": "it broke"}', 'the name of the finally is bound to the error');
select is_empty('select * from wf.fsck()', 'all is well when a finally runs below a teardown');
select is(play_take(:driver), 1::bigint, 'a task in the finally is handed out below the teardown');
select play_report(play_id(:i, 'f'));
select is(concat_ws(' ', play_end(:i), play_state(:i, 'try'), play_state(:i, 'f'), play_state(:i, 'z')), 'ABORTED error ABORTED END', 'the teardown goes on after the finally');
select is_empty('select * from wf.teardown', 'no teardown is left after the finally');
select is_empty('select * from wf.fsck()', 'all is well then');

-- T-O P-O5: abort
select wf.start('plain') as i \gset
select play_take(:driver);
select results_eq(format($$select answer, detail from wf.abort('{"instance": %s}')$$, :i), $$values ('done', 'RUNNING -> ABORTING')$$, 'P-O5: an instance is aborted');
select is(play_state(:i, 'f'), null, 'P-O5: the finally waits for what runs');
select play_fail(play_id(:i, 'a'));
select is(play_state(:i, 'f'), 'INIT', 'P-O5: the finally begins when nothing else runs');
select is(play_sees(:i, 'e') ->> 'kind', 'aborted', 'P-O5: the finally sees an error of kind aborted');
select play_on(:driver);
select is(play_end(:i), 'ABORTED aborted', 'P-O5: the instance is aborted when it has ended');
select is_empty('select * from wf.fsck()', 'P-O5: all is well');
select wf.start('plain') as i \gset
select wf.abort(play_target(:i));
select is(concat_ws(' ', play_state(:i, 'a'), play_state(:i, 'f')), 'ABORTED INIT', 'a task that was not handed out is not waited for');
select play_on(:driver);
select is(play_end(:i), 'ABORTED aborted', 'the instance is aborted then');

-- cancel
select wf.start('plain') as i \gset
select wf.cancel(play_target(:i, 'a'));
select wf.raise(play_target(:i, 'a'));
select is(play_sees(:i, 'e') ->> 'kind', 'cancelled', 'B25: after a cancel the finally sees an error of kind cancelled');
select play_on(:driver);
select is(play_end(:i), 'ABORTED error', 'B25: the finally runs after a cancel');

-- a catch takes the error: inner finally first, outermost last
select play_install('nest', jsonb_build_array(
    play_catch(
        play_try(
            play_try(
                play_par(
                    play_try(play_seq(play_task('t.Do', 'a'), play_task('t.Do', 'b')), play_task('t.Do', 'f', '{"x": ["var", "e"]}'), 'e'),
                    play_task('t.Sleep', 's', '{"duration": "PT1H"}'),
                    play_task('t.Job', 'j')),
                play_task('t.Do', 'g', '{"x": ["var", "h"]}'), 'h'),
            play_task('t.Do', 'o', '{"x": ["var", "p"]}'), 'p'),
        'c', play_task('t.Do', 'k')),
    play_return('["list", ["var", "e"], ["var", "h"], ["var", "p"]]', '{"e": 0, "h": 0, "p": 0}')));
select wf.start('nest') as i \gset
select play_take(:driver), play_report(play_id(:i, 'j'), 'ack'), play_report(play_id(:i, 'j'), 'response', '{"id": 1}');
select play_fail(play_id(:i, 'a'));
select is(concat_ws(' ', play_state(:i, 'f'), play_state(:i, 'g'), play_state(:i, 'k')), 'INIT', 'the innermost finally begins first');
select is(concat_ws(' ', play_state(:i, 's'), play_state(:i, 'j')), 'ABORTED ABORT_REQUESTED', 'other tasks of the body are torn down during the innermost finally');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_take(:driver), play_report(play_id(:i, 'f'));
select is(play_state(:i, 'g'), null, 'the next finally waits for all that is in its try');
select ok((select detail from wf.explain(:i) where reason = 'teardown') like '%it waits for % (ABORT_REQUESTED)', 'explain says what for');
select play_report(play_id(:i, 'j')), play_take(:driver), play_report(play_id(:i, 'j'));
select is(concat_ws(' ', play_state(:i, 'g'), play_state(:i, 'k')), 'INIT', 'the next finally begins before the catch');
select ok((select detail from wf.explain(:i) where reason = 'teardown') like '%it waits for % t.Do as g (INIT)', 'explain names what runs in a finally, too');
select is_empty('select * from wf.fsck()', 'all is well in the second finally');
select play_take(:driver), play_report(play_id(:i, 'g'));
select is(concat_ws(' ', play_state(:i, 'k'), play_state(:i, 'o')), 'INIT', 'the catch follows, before its own finally');
select play_take(:driver), play_report(play_id(:i, 'k'));
select is(play_state(:i, 'o'), 'INIT', 'the outermost finally is the last');
select play_on(:driver);
select is((select jsonb_build_array(output -> 0 -> 'message', output -> 1 -> 'message', output -> 2) from wf.instance where id = :i), '["it broke", "it broke", null]',
    'the finallys inside see the error, that of the catch sees none');
select is(play_end(:i) like 'END success %', true, 'the try ends well');
select is_empty('select * from wf.fsck()', 'all is well');

-- a finally without catch, around which a catch takes the error; the body of the outer try is the inner one
select play_install('direct', jsonb_build_array(
    play_catch(play_try(play_try(play_task('t.Do', 'a'), play_task('t.Do', 'f')), play_task('t.Do', 'o')), 'e', play_task('t.Do', 'k'))));
select wf.start('direct') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a')), play_take(:driver), play_report(play_id(:i, 'f')), play_on(:driver);
select results_eq(format('select bind, state from wf.process where instance_id = %s and bind is not null order by id', :i),
    $$values ('a', 'RAISED'), ('f', 'END'), ('k', 'END'), ('o', 'END')$$, 'the order is body, inner finally, catch, outer finally');

-- return through finallys
select play_install('way_out', jsonb_build_array(
    play_try(play_try(play_seq(play_task('t.Do', 'a', '{"x": 7}'), play_return('["var", "a"]', '{"a": 0}')), play_task('t.Do', 'f', '{"x": ["var", "e"]}'), 'e'),
             play_task('t.Do', 'g', '{"x": 8}')),
    play_task('t.Do', 'z')));
select wf.start('way_out') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"value": 7}');
select is(concat_ws(' ', play_state(:i, 'f'), play_state(:i, 'g')), 'INIT', 'a return begins the inner finally');
select is(play_sees(:i, 'e'), 'null', 'a return is no error');
select play_take(:driver), play_report(play_id(:i, 'f'));
select is(play_state(:i, 'g'), 'INIT', 'the outer finally follows the inner one after a return');
select is_empty('select * from wf.fsck()', 'all is well on the way');
select play_take(:driver), play_report(play_id(:i, 'g'));
select is(concat_ws(' ', play_end(:i), play_state(:i, 'z')), 'END success 7', 'the workflow ends after its finallys with the returned value');
select is_empty('select * from wf.fsck()', 'all is well');
-- its finally fails
select wf.start('way_out') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"value": 7}'), play_take(:driver), play_fail(play_id(:i, 'f'));
select is(play_state(:i, 'f'), 'FAILED', 'a finally that fails waits for a person');
select wf.retry(play_target(:i, 'f'));
select play_on(:driver);
select is(play_end(:i), 'END success 7', 'the return goes on after its next attempt');
select wf.start('way_out') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"value": 7}'), play_take(:driver), play_fail(play_id(:i, 'f'));
select wf.raise(play_target(:i, 'f'));
select is(concat_ws(' ', play_state(:i, 'finally'), play_state(:i, 'g')), 'ACTIVE INIT', 'when its error is handed on, the outer finally runs');
select play_on(:driver);
select is(play_end(:i), 'ABORTED error', 'an error of the outer finally ends the instance in place of the return');
select is_empty('select * from wf.fsck()', 'all is well');

-- B24: an error in a finally replaces the one on its way, and has it as its cause
select play_install('replace', jsonb_build_array(
    play_catch(play_try(play_try(play_task('t.Do', 'a'), play_par(play_task('t.Do', 'f'), play_task('t.Do', 'w')), 'e'), play_task('t.Do', 'o')),
               'c', play_return('["var", "c"]', '{"c": 0}'))));
select wf.start('replace') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first'), play_take(:driver), play_fail(play_id(:i, 'f'), 'second');
select is(concat_ws(' ', play_state(:i, 'f'), play_state(:i, 'w'), play_state(:i, 'catch')), 'RAISED ABORT_REQUESTED', 'B24: other tasks of a failed finally are torn down');
select is_empty('select * from wf.fsck()', 'B24: all is well meanwhile');
select play_report(play_id(:i, 'w')), play_on(:driver);
select is((select output - 'process' #- '{cause,process}' from wf.instance where id = :i),
    '{"kind": "http", "detail": null, "attempt": 1, "message": "second", "cause": {"kind": "http", "cause": null, "detail": null, "attempt": 1, "message": "first"}}',
    'B24: the catch sees the second error, and the first as its cause');
select is_empty('select * from wf.fsck()', 'B24: all is well');
select is_empty('select * from wf.teardown', 'B24: no teardown is left');
-- handlers inside the teardown take nothing: the search goes on where it was
select play_install('deaf', jsonb_build_array(
    play_catch(
        play_try(
            play_catch(
                play_try(
                    play_try(play_task('t.Do', 'a'), play_task('t.Do', 'f')), play_task('t.Do', 'g')),
                'd', play_task('t.Do', 'x'), 'odd'),
            play_task('t.Do', 'o')),
        'c', play_task('t.Do', 'k'), 'http')));
select wf.start('deaf') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a')), play_take(:driver), play_report(play_id(:i, 'f'), 'error', '{"kind": "odd", "message": "no"}');
select is(concat_ws(' ', play_state(:i, 'f'), play_state(:i, 'x')), 'FAILED', 'a catch that is torn down takes no error of a finally');
select is_empty('select * from wf.fsck()', 'all is well while a person decides');
select wf.ignore(play_target(:i, 'f'));
select play_on(:driver);
select is(concat_ws(' ', play_end(:i), play_state(:i, 'k')), 'END warning END', 'ignored, the finally is over, and the catch goes on that took the first error');
-- an error that the finally itself takes
select play_install('inside', jsonb_build_array(
    play_try(play_task('t.Do', 'a'), play_catch(play_try(play_seq(play_task('t.Do', 'f'), play_task('t.Do', 'n')), play_task('t.Do', 'g')), 'c', play_task('t.Do', 'k', '{"x": ["get", ["var", "c"], "cause"]}')))));
select wf.start('inside') as i \gset
select wf.abort(play_target(:i));
select play_take(:driver), play_fail(play_id(:i, 'f'));
select is(concat_ws(' ', play_state(:i, 'f'), play_state(:i, 'k'), play_state(:i, 'n')), 'RAISED INIT', 'a catch in a finally takes its errors, below a teardown, too');
select is((select input -> 'x' ->> 'kind' from wf.process where id = play_id(:i, 'k')), 'aborted', 'the error on its way is their cause');
select is_empty('select * from wf.fsck()', 'all is well in a teardown inside a finally');
select play_on(:driver);
select is(concat_ws(' ', play_end(:i), play_state(:i, 'g')), 'ABORTED aborted END', 'the outer teardown goes on after the catch in the finally');
select is_empty('select * from wf.fsck()', 'all is well');

-- a finally that fails while its instance is aborted
select wf.start('plain') as i \gset
select wf.abort(play_target(:i));
select play_take(:driver), play_fail(play_id(:i, 'f'));
select is(concat_ws(' ', play_state(:i, 'f'), play_end(:i)), 'FAILED ABORTING', 'a finally that fails during an abort waits for a person');
select wf.retry(play_target(:i, 'f'));
select is(play_state(:i, 'f'), 'INIT', 'a finally that failed during an abort can be tried again');
select play_take(:driver), play_fail(play_id(:i, 'f'));
select is_empty('select * from wf.fsck()', 'all is well');
select wf.raise(play_target(:i, 'f'));
select is((select concat_ws(' ', state, result, error ->> 'message', error -> 'cause' ->> 'kind') from wf.instance where id = :i), 'ABORTED error it broke aborted', 'handed on, its error ends the instance');
select is_empty('select * from wf.fsck()', 'all is well then');
select is_empty('select * from wf.teardown', 'no teardown is left');

-- abort while a finally runs already
select wf.start('plain') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a')), play_take(:driver);
select wf.abort(play_target(:i));
select is(concat_ws(' ', play_state(:i, 'f'), play_state(:i, 'try'), play_end(:i)), 'START_REQUESTED ABORTING ABORTING', 'a finally that has begun goes on');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_report(play_id(:i, 'f'));
select is(concat_ws(' ', play_end(:i), play_state(:i, 'z'), play_state(:i, 'f')), 'ABORTED aborted END', 'nothing begins behind it');
select is_empty('select * from wf.fsck()', 'all is well');
select wf.start('nest') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a')), play_report(play_id(:i, 'j'), 'release'), play_take(:driver);
select is(play_state(:i, 'f'), 'START_REQUESTED', 'a finally runs below the teardown of a body');
select wf.abort(play_target(:i));
select is_empty('select * from wf.fsck()', 'all is well when the instance is aborted meanwhile');
select is((select string_agg(follows, ' ') from wf.teardown), 'aborted', 'the outer teardown has taken the place of the inner one');
select play_report(play_id(:i, 'f')), play_on(:driver);
select is(concat_ws(' ', play_end(:i), play_state(:i, 'g'), play_state(:i, 'o'), play_state(:i, 'k')), 'ABORTED aborted END END', 'the finallys around run, and no catch');
select is_empty('select * from wf.fsck()', 'all is well');
select wf.start('replace') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first'), play_take(:driver), play_fail(play_id(:i, 'f'), 'second');
select wf.abort(play_target(:i));
select is(play_state(:i, 'w'), 'ABORT_REQUESTED', 'a finally that is torn down stays so when the instance is aborted');
select is_empty('select * from wf.fsck()', 'all is well');
select play_report(play_id(:i, 'w')), play_on(:driver);
select is(concat_ws(' ', play_end(:i), play_state(:i, 'o')), 'ABORTED aborted END', 'the outer finally runs');

-- halt
select wf.start('plain') as i \gset
select wf.abort(play_target(:i));
select play_take(:driver);
select results_eq(format($$select answer, detail from wf.abort('{"instance": %s}')$$, :i), $$values ('refused', 'ABORTING: only RUNNING, SCHEDULED, SUSPENDED can be aborted')$$, 'a finally that hangs cannot be aborted again');
select results_eq(format($$select answer, detail from wf.preview('halt', '{"instance": %s}')$$, :i), $$values ('done', null)$$, 'D26: the preview says that it can be halted');
select results_eq(format($$select answer, detail from wf.halt('{"instance": %s}', 'it hangs')$$, :i), $$values ('done', 'ABORTING -> ABORTED')$$, 'D27: halt gets through');
select is(concat_ws(' ', play_end(:i), play_state(:i, 'f')), 'ABORTED aborted ABORTED', 'D27: halt waits for no driver');
select is(play_report(play_id(:i, 'f')), 'late', 'D27: a report after halt is late');
select is_empty('select * from wf.fsck()', 'all is well after a halt');
select wf.start('nest') as i \gset
select play_take(:driver), play_report(play_id(:i, 'j'), 'ack'), play_report(play_id(:i, 'j'), 'response', '{"id": 1}');
select results_eq(format($$select answer, detail from wf.halt('{"instance": %s}')$$, :i), $$values ('done', 'RUNNING -> ABORTED')$$, 'D27: a running instance can be halted');
select is((select count(*) from wf.process where instance_id = :i and kind = 'finally'), 0::bigint, 'no finally runs');
select is(play_state(:i, 'j'), 'ABORTED', 'nothing is released');
select results_eq(format($$select answer, detail from wf.halt('{"instance": %s}')$$, :i), $$values ('refused', 'ABORTED: only ABORTING, RUNNING, SCHEDULED, SUSPENDED can be halted')$$, 'D27: an ended instance cannot be halted');
select is_empty('select * from wf.fsck()', 'all is well');
select wf.start('nest') as i \gset
select play_take(:driver), play_report(play_id(:i, 'j'), 'ack'), play_report(play_id(:i, 'j'), 'response', '{"id": 1}');
select wf.abort(play_target(:i));
select play_take(:driver), play_report(play_id(:i, 'j'));
select is(play_state(:i, 'j'), 'ABORT_CLEANUP_REQUESTED', 'a job waits for its release');
select wf.halt(play_target(:i));
select is(concat_ws(' ', play_end(:i), play_state(:i, 'j')), 'ABORTED aborted ABORTED', 'halt does not wait for it');
select is_empty('select * from wf.fsck()', 'all is well');
select wf.start('plain') as i \gset
select wf.suspend(play_target(:i));
select wf.halt(play_target(:i));
select is(play_end(:i), 'ABORTED aborted', 'D27: a suspended instance can be halted');
select is_empty('select * from wf.fsck()', 'all is well');

-- an instance that is suspended
select wf.start('plain') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a')), wf.suspend(play_target(:i));
select is(play_take(:driver), 0::bigint, 'a finally of a suspended instance is not handed out');
select wf.abort(play_target(:i));
select is_empty('select * from wf.fsck()', 'all is well when a suspended instance is aborted');
select play_on(:driver);
select is(concat_ws(' ', play_end(:i), play_state(:i, 'f')), 'ABORTED aborted END', 'the finally of a resumed instance goes on during the abort');

select play_install('beside', jsonb_build_array(play_par(play_try(play_task('t.Do', 'a'), play_task('t.Do', 'f')), play_task('t.Do', 'x', '{}', '{"on_failure": "fail"}'))));
select wf.start('beside') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a')), wf.suspend(play_target(:i)), play_fail(play_id(:i, 'x'));
select is_empty('select * from wf.fsck()', 'all is well when an error leaves a suspended instance');
select is(play_state(:i, 'f'), 'START_REQUESTED', 'a finally that has begun before goes on, too: whoever reports the error gets its task');
select o.answer from wf.lease l, wf.outcome(:driver, array[l.instance_id], array[l.process_id], array[l.token], array['response'], array[convert_to('{}', 'UTF8')]) o where l.instance_id = :i;
select is(play_end(:i), 'ABORTED error', 'the instance has ended when that task has ended');

-- groups, sleeps, policies and composites in a finally below a teardown
select play_install('rich', jsonb_build_array(
    play_try(play_task('t.Do', 'a'),
             play_seq(play_task('t.Do', 'f', '{}', '{"retry": {"attempts": 2, "delay": "PT10S"}}'),
                      play_forall('x', '[1, 2, 3]', play_task('t.Do', 'd', '{}', '{"group": {"name": "g", "max": 2}}')),
                      play_task('t.Sleep', 's', '{"duration": "PT1M"}'),
                      play_task('t.Job', 'j')))));
select wf.start('rich') as i \gset
select wf.abort(play_target(:i));
select play_take(:driver), play_fail(play_id(:i, 'f'));
select is(play_state(:i, 'f'), 'INIT', 'a task in a finally below a teardown is tried again');
select is_empty('select * from wf.fsck()', 'all is well while it waits');
select play_later('10 s'), play_take(:driver), play_report(play_id(:i, 'f'));
select is(play_take(:driver), 2::bigint, 'tasks in a finally share a group');
select play_report(p.id) from wf.process p where p.instance_id = :i and p.bind = 'd' and p.state = 'START_REQUESTED';
select play_on(:driver);
select is(play_state(:i, 's'), 'WAITING', 'a sleep in it sleeps');
select is_empty('select * from wf.fsck()', 'all is well while it sleeps');
select play_later('1 min'), play_on(:driver), play_later('6 s'), play_on(:driver), play_on(:driver);
select is(concat_ws(' ', play_end(:i), play_state(:i, 'j')), 'ABORTED aborted END', 'a job in it runs to its end');
select is_empty('select * from wf.fsck()', 'all is well');

-- the driver of a finally is lost
select wf.start('plain') as i \gset
select wf.abort(play_target(:i));
select play_driver('lost') as lost \gset
select play_take(:lost), wf.leave(:lost), play_later('2 min');
select wf.tick();
select is(concat_ws(' ', play_state(:i, 'f'), play_end(:i)), 'FAILED ABORTING', 'a task of a finally that may have been done waits for a person when its driver is lost');
select wf.ignore(play_target(:i, 'f'));
select is(play_end(:i), 'ABORTED aborted', 'a task of a finally whose driver is lost can be ignored');
select is_empty('select * from wf.fsck()', 'all is well');

-- names
select play_driver('another') as driver \gset
select play_install('names', jsonb_build_array(
    play_catch(play_try(play_seq(play_task('t.Do', 'a', '{"x": 1}'), play_task('t.Do', 'b')),
                        '{"kind": "let", "line": 5, "as": "l", "value": ["list", ["var", "a"], ["var", "b"]], "reads": {"a": 0, "b": 0}}'),
               'e', '{"kind": "let", "line": 5, "as": "b", "value": 2}'),
    play_return('["list", ["var", "l"], ["var", "b"]]', '{"l": 0, "b": 0}')));
select wf.start('names') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"value": 1}'), play_take(:driver), play_fail(play_id(:i, 'b'));
select is(play_end(:i), 'END success [[1, 2], 2]', 'a finally reads what the body and a catch bound, and what it binds is read after the try');

-- races: a branch that has lost
create function play_race(variadic p_branches jsonb[]) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'race', 'line', 5, 'branches', to_jsonb(p_branches)); $$;
-- play_error(INSTANCE): how it ended, with its error and the causes of that
create function play_error(p_instance bigint) returns text
language sql as $$ select concat_ws(' < ', concat_ws(' ', i.state, i.result), i.error ->> 'message', i.error #>> '{cause,message}', i.error #>> '{cause,cause,message}') from wf.instance i where i.id = p_instance; $$;
select play_install('lost', jsonb_build_array(play_race(play_try(play_task('t.Do', 'a'), play_task('t.Do', 'f'), 'e'), play_task('t.Do', 'c')), play_task('t.Do', 'z')));
select wf.start('lost') as i \gset
select play_take(:driver), play_report(play_id(:i, 'c'));
select is(concat_ws(' ', play_state(:i, 'race'), play_state(:i, 'a'), play_state(:i, 'f')), 'ABORTING ABORT_REQUESTED', 'the finally of a branch that has lost waits for what runs in it');
select play_fail(play_id(:i, 'a'));
select is(concat_ws(' ', play_state(:i, 'race'), play_state(:i, 'try'), play_state(:i, 'f'), play_state(:i, 'z')), 'ABORTING ABORTING INIT', 'the finally of a loser begins when nothing else runs, and the race waits for it');
select is(play_sees(:i, 'e') ->> 'message', 'another branch of the race has won', 'the finally of a loser sees that another branch has won');
select is_empty('select * from wf.fsck()', 'all is well in the finally of a branch that has lost');
select play_take(:driver), play_report(play_id(:i, 'f'));
select is(concat_ws(' ', play_state(:i, 'race'), play_state(:i, 'try'), play_state(:i, 'z')), 'END ABORTED INIT', 'the race has been won when it has ended');
select play_on(:driver);
select is(play_end(:i), 'END success', 'the result is not touched by it');
select is_empty('select * from wf.fsck()', 'all is well after the race');
-- the finally of the branch that wins is part of the branch
select wf.start('lost') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a')), play_take(:driver);
select is(concat_ws(' ', play_state(:i, 'race'), play_state(:i, 'c')), 'ACTIVE START_REQUESTED', 'a branch wins when its finally has ended');
select play_report(play_id(:i, 'f'));
select is(concat_ws(' ', play_state(:i, 'race'), play_state(:i, 'try'), play_state(:i, 'c')), 'ABORTING END ABORT_REQUESTED', 'a race is won after the finally of its winner');
select play_report(play_id(:i, 'c')), play_on(:driver);
select is(play_end(:i), 'END success', 'the workflow goes on after the race');
-- the finally of a loser fails
select wf.start('lost') as i \gset
select play_take(:driver), play_report(play_id(:i, 'c')), play_fail(play_id(:i, 'a')), play_take(:driver), play_fail(play_id(:i, 'f'), 'mine');
select is(concat_ws(' ', play_state(:i, 'f'), play_state(:i, 'race'), play_state(:i, 'z')), 'FAILED ABORTING', 'the finally of a loser that fails waits for a person');
select is_empty('select * from wf.fsck()', 'all is well while the race waits for a person');
select wf.ignore(play_target(:i, 'f'));
select play_on(:driver);
select is(play_end(:i), 'END warning', 'ignored, the race ends as it was won');
select is_empty('select * from wf.fsck()', 'all is well when it was ignored');
select wf.start('lost') as i \gset
select play_take(:driver), play_report(play_id(:i, 'c')), play_fail(play_id(:i, 'a')), play_take(:driver), play_fail(play_id(:i, 'f'), 'mine');
select wf.raise(play_target(:i, 'f'));
select play_on(:driver);
select is(concat_ws(' ', play_error(:i), play_state(:i, 'race')), 'ABORTED error < mine < another branch of the race has won ABORTED', 'handed on, its error ends the instance');
select is_empty('select * from wf.fsck()', 'all is well when it was handed on');
select play_install('lost_caught', jsonb_build_array(
    play_catch(play_try(play_race(play_try(play_task('t.Do', 'a'), play_task('t.Do', 'f')), play_task('t.Do', 'c')), play_task('t.Do', 'o')), 'k', play_return('["get", ["var", "k"], "message"]', '{"k": 0}'))));
select wf.start('lost_caught') as i \gset
select play_take(:driver), play_report(play_id(:i, 'c')), play_fail(play_id(:i, 'a')), play_take(:driver), play_fail(play_id(:i, 'f'), 'mine');
select is(concat_ws(' ', play_state(:i, 'race'), play_state(:i, 'o')), 'ABORTED INIT', 'a catch around the race takes it, and the race has not been won');
select play_on(:driver);
select is(play_end(:i), 'END success "mine"', 'a finally around the race follows the catch');
select is_empty('select * from wf.fsck()', 'all is well when it was caught');
select is_empty('select * from wf.teardown', 'nothing is torn down any more');
-- the instance is aborted while a loser's finally runs
select wf.start('lost') as i \gset
select play_take(:driver), play_report(play_id(:i, 'c')), play_fail(play_id(:i, 'a')), play_take(:driver);
select wf.abort(play_target(:i));
select is_empty('select * from wf.fsck()', 'all is well when an instance is aborted in the finally of a loser');
select play_report(play_id(:i, 'f'));
select is(concat_ws(' ', play_end(:i), play_state(:i, 'race'), play_state(:i, 'f'), play_state(:i, 'z')), 'ABORTED aborted ABORTED END', 'a race that was won is aborted then');
select is_empty('select * from wf.fsck()', 'all is well then');

-- a branch that leaves its race
select wf.start('lost') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first');
select is(concat_ws(' ', play_state(:i, 'race'), play_state(:i, 'try'), play_state(:i, 'f')), 'ACTIVE ABORTING INIT', 'the finally of a branch that leaves its race begins');
select is(play_sees(:i, 'e') ->> 'message', 'first', 'the finally of a branch that leaves sees the error that the race has taken');
select play_take(:driver), play_fail(play_id(:i, 'f'), 'second');
select is(concat_ws(' ', play_state(:i, 'race'), play_state(:i, 'try'), play_state(:i, 'f'), play_state(:i, 'c')), 'ACTIVE ABORTED RAISED START_REQUESTED', 'the race takes an error of the finally as that of the branch');
select results_eq(format($$select error ->> 'message', error #>> '{cause,message}', (select spare from wf.process where id = process_id) from wf.given_up where instance_id = %s$$, :i),
    $$values ('second', 'first', 0)$$, 'once: the error of the branch is replaced');
select is_empty('select * from wf.fsck()', 'all is well when a branch has left');
select play_fail(play_id(:i, 'c'), 'third');
select wf.raise(play_target(:i, 'c'));
select play_on(:driver);
select is(play_error(:i), 'ABORTED error < third < second < first', 'the last branch fails with that as its cause');
select is_empty('select * from wf.fsck()', 'all is well when no branch was left');
select wf.start('lost') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a')), play_take(:driver), play_report(play_id(:i, 'c'));
select is(concat_ws(' ', play_state(:i, 'race'), play_state(:i, 'f')), 'ABORTING START_REQUESTED', 'a race that is won waits for the finally of a branch that has left');
select is_empty('select * from wf.fsck()', 'all is well while it waits for that');
select play_report(play_id(:i, 'f')), play_on(:driver);
select is(play_end(:i), 'END success', 'the race ends with success after the finally of the branch that left');
select is_empty('select * from wf.fsck()', 'all is well when it has ended');

-- elements that a forall gives up
select play_install('given_up', jsonb_build_array(
    play_forall('x', '[1, 2, 3]', play_try(play_task('t.Do', 'a'), play_task('t.Do', 'f'), 'e')) || '{"tolerate": 1, "max": 1}', play_task('t.Do', 'z')));
select wf.start('given_up') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first');
select results_eq(format($$select kind, state from wf.process where instance_id = %s and kind in ('forall', 'try', 'finally') order by id$$, :i),
    $$values ('forall', 'ACTIVE'), ('try', 'ABORTING'), ('finally', 'ACTIVE')$$, 'the finally of an element that is given up runs, and no other element begins');
select is_empty('select * from wf.fsck()', 'all is well in the finally of an element');
select play_take(:driver), play_fail(play_id(:i, 'f'), 'second');
select results_eq(format($$select error ->> 'message', error #>> '{cause,message}', (select spare from wf.process where id = process_id) from wf.given_up where instance_id = %s$$, :i),
    $$values ('second', 'first', 0)$$, 'an error of the finally takes the place of that of its element, and counts no other');
select is(play_state(:i, 'a'), 'INIT', 'the next element begins');
select is_empty('select * from wf.fsck()', 'all is well in the next element');
select play_on(:driver);
select is(concat_ws(' ', play_end(:i), play_state(:i, 'z')), 'END warning END', 'one failure was tolerated');
select is((select count(*) from wf.process where instance_id = :i and kind = 'finally'), 3::bigint, 'each element had its finally');
select wf.start('given_up') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'), 'first'), play_take(:driver), play_report(play_id(:i, 'f')), play_take(:driver), play_fail(play_id(:i, 'a'), 'second');
select is(concat_ws(' ', play_state(:i, 'forall'), play_state(:i, 'f')), 'ACTIVE INIT', 'after one failure too many a forall waits for the finally');
select play_take(:driver), play_report(play_id(:i, 'f'));
select is((select concat_ws(' ', state, error ->> 'message', error #>> '{cause,message}') from wf.process where id = play_id(:i, 'forall')), 'FAILED second first', 'the forall has failed after the finally');
select is_empty('select * from wf.fsck()', 'all is well when it has failed');
select wf.abort(play_target(:i));
select is(play_end(:i), 'ABORTED aborted', 'a forall that failed after a finally can be aborted');

-- a block whose deadline is over
create function play_block(p_deadline text, variadic p_steps jsonb[]) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'seq', 'line', 1, 'steps', to_jsonb(p_steps), 'policies', jsonb_build_object('timeout', jsonb_build_object('deadline', p_deadline))); $$;
select play_driver('one more') as driver \gset
select play_install('late', jsonb_build_array(play_block('PT10S', play_try(play_task('t.Do', 'a'), play_task('t.Do', 'f'), 'e')), play_task('t.Do', 'z')));
select wf.start('late') as i \gset
select play_take(:driver), play_later('10 s'), wf.tick();
select is(concat_ws(' ', play_state(:i, 'seq'), play_state(:i, 'a'), play_state(:i, 'f')), 'ABORTING ABORT_REQUESTED', 'a block whose deadline is over stops what runs in it');
select play_fail(play_id(:i, 'a'));
select is(concat_ws(' ', play_state(:i, 'seq'), play_state(:i, 'f')), 'ABORTING INIT', 'the finally of a block whose deadline is over begins when nothing else runs');
select is(play_sees(:i, 'e'), jsonb_build_object('kind', 'timeout', 'message', 'seq timed out after 10000 ms (deadline)', 'detail', '{"ms": 10000, "limit": "deadline"}'::jsonb, 'process', play_id(:i, 'seq'), 'attempt', null, 'cause', null), 'the finally of a block whose deadline is over sees its timeout');
select is_empty('select * from wf.fsck()', 'all is well in the finally of a block whose deadline is over');
select play_later('10 s'), wf.tick();
select is(concat_ws(' ', play_state(:i, 'seq'), play_state(:i, 'f')), 'ABORTING INIT', 'no limit reaches into the finally');
select play_take(:driver), play_report(play_id(:i, 'f'));
select is((select concat_ws(' ', state, error ->> 'kind') from wf.process where id = play_id(:i, 'seq')), 'FAILED timeout', 'the block has failed when it has ended');
select is_empty('select * from wf.fsck()', 'all is well when the block has failed');
select wf.ignore(play_target(:i, 'seq'));
select play_on(:driver);
select is(play_end(:i), 'END warning', 'a block that failed after its finally can be ignored');
select play_install('late_caught', jsonb_build_array(
    play_catch(play_try(play_block('PT10S', play_try(play_task('t.Do', 'a'), play_task('t.Do', 'f'))), play_task('t.Do', 'o')),
               'c', play_return('["list", ["get", ["var", "c"], "message"], ["get", ["get", ["var", "c"], "cause"], "kind"]]', '{"c": 0}'))));
select wf.start('late_caught') as i \gset
select play_take(:driver), play_later('10 s'), wf.tick(), play_fail(play_id(:i, 'a')), play_on(:driver);
select is(concat_ws(' ', play_end(:i), play_state(:i, 'seq')), 'END success ["seq timed out after 10000 ms (deadline)", null] RAISED', 'a catch takes the error of the block after the finally');
select wf.start('late_caught') as i \gset
select play_take(:driver), play_later('10 s'), wf.tick(), play_fail(play_id(:i, 'a')), play_take(:driver), play_fail(play_id(:i, 'f'), 'mine');
select is_empty('select * from wf.fsck()', 'all is well when the finally of such a block has failed');
select play_on(:driver);
select is(concat_ws(' ', play_end(:i), play_state(:i, 'seq')), 'END success ["mine", "timeout"] ABORTED', 'an error of the finally takes the place of that of the block');
select is_empty('select * from wf.fsck()', 'all is well when it was caught');
select is_empty('select * from wf.time_limit', 'no limit is left');
-- a block in a finally below a teardown
select play_install('late_inside', jsonb_build_array(play_try(play_task('t.Do', 'a'), play_block('PT10S', play_task('t.Do', 'f')))));
select wf.start('late_inside') as i \gset
select wf.abort(play_target(:i));
select play_take(:driver), play_later('10 s'), wf.tick();
select is(concat_ws(' ', play_state(:i, 'seq'), play_state(:i, 'f')), 'ABORTING ABORT_REQUESTED', 'the deadline of a block in a finally counts, below a teardown, too');
select play_fail(play_id(:i, 'f'));
select is(play_state(:i, 'seq'), 'FAILED', 'the block has failed then');
select is_empty('select * from wf.fsck()', 'all is well when a block in a finally has failed');
select wf.raise(play_target(:i, 'seq'));
select is(play_error(:i), 'ABORTED error < seq timed out after 10000 ms (deadline) < the instance is aborted', 'handed on, its error ends the instance');

-- rounds of a loop
create function play_while(p_body jsonb) returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'while', 'line', 1, 'name', 's', 'start', 0, 'while', '["lt", ["var", "s"], 3]'::jsonb, 'max', 10, 'body', p_body, 'reads', '{}'::jsonb,
                              'yield', '{"as": "r", "value": ["add", ["var", "s"], 1]}'::jsonb, 'round_reads', '{"s": 1}'::jsonb); $$;
select play_install('rounds', jsonb_build_array(play_while(play_try(play_task('t.Do', 'a'), play_task('t.Do', 'f'), 'e')), play_return('["var", "r"]', '{"r": 0}')));
select wf.start('rounds') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a')), play_take(:driver);
select is((select count(*) from wf.process where instance_id = :i and bind = 'a'), 1::bigint, 'the next round waits for the finally of the one before');
select is_empty('select * from wf.fsck()', 'all is well in the finally of a round');
select play_report(play_id(:i, 'f')), play_on(:driver);
select is(concat_ws(' ', play_end(:i), (select count(*) from wf.process where instance_id = :i and bind = 'f' and state = 'END')), 'END success 3 3', 'each round has its finally');
select wf.start('rounds') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a')), play_take(:driver), play_report(play_id(:i, 'f')), play_take(:driver);
select wf.abort(play_target(:i));
select play_fail(play_id(:i, 'a'));
select is(play_state(:i, 'f'), 'INIT', 'a round that is aborted has its finally, too');
select play_on(:driver);
select is(concat_ws(' ', play_end(:i), (select count(*) from wf.process where instance_id = :i and bind = 'f' and state = 'END')), 'ABORTED aborted 2', 'no round begins after an aborted one');
select is_empty('select * from wf.fsck()', 'all is well when a loop was aborted');
select play_install('round_out', jsonb_build_array(
    play_try(play_while(play_try(play_seq(play_task('t.Do', 'a'), play_return('7', '{}')), play_task('t.Do', 'f'))), play_task('t.Do', 'g')), play_task('t.Do', 'z')));
select wf.start('round_out') as i \gset
select play_on(:driver);
select is(concat_ws(' ', play_end(:i), play_state(:i, 'f'), play_state(:i, 'g'), play_state(:i, 'z')), 'END success 7 END END', 'a return in a round leaves the loop through its finally and those around');
select play_install('round_caught', jsonb_build_array(
    play_catch(play_try(play_while(play_try(play_task('t.Do', 'a'), play_task('t.Do', 'f'))), play_task('t.Do', 'o')), 'c', play_task('t.Do', 'k')), play_task('t.Do', 'z')));
select wf.start('round_caught') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a')), play_take(:driver), play_report(play_id(:i, 'f')), play_take(:driver), play_fail(play_id(:i, 'a'));
select is(concat_ws(' ', play_state(:i, 'while'), play_state(:i, 'f'), play_state(:i, 'k')), 'ABORTING INIT', 'an error that leaves a round has its finally run before the catch');
select is_empty('select * from wf.fsck()', 'all is well before that catch');
select play_on(:driver);
select is(concat_ws(' ', play_end(:i), play_state(:i, 'while'), play_state(:i, 'k')), 'END success ABORTED END', 'a catch follows the finally of the round');

-- a return without a value
select play_install('nothing', jsonb_build_array(play_try('{"kind": "return", "line": 1}', play_task('t.Do', 'f')), play_task('t.Do', 'z')));
select wf.start('nothing') as i \gset
select play_on(:driver);
select is(concat_ws(' ', play_end(:i), play_state(:i, 'f'), play_state(:i, 'z')), 'END success null END', 'a return without a value goes on after the finally');

-- on_failure in a finally
select play_install(w, jsonb_build_array(play_catch(play_try(play_try(play_task('t.Do', 'a'), play_task('t.Do', 'f', '{}', jsonb_build_object('on_failure', w))), play_task('t.Do', 'o')), 'c', play_task('t.Do', 'k'), 'odd')))
  from unnest('{skip,fail,fail_late}'::text[]) w;
select wf.start('skip') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'));
select wf.abort(play_target(:i));
select play_take(:driver), play_fail(play_id(:i, 'f')), play_on(:driver);
select is(concat_ws(' ', play_end(:i), play_state(:i, 'f'), play_state(:i, 'o')), 'ABORTED aborted END END', 'a step of a finally can be skipped');
select wf.start('fail') as i \gset
select play_take(:driver);
select wf.abort(play_target(:i));
select play_fail(play_id(:i, 'a')), play_take(:driver), play_fail(play_id(:i, 'f'), 'mine');
select is(concat_ws(' ', play_state(:i, 'f'), play_state(:i, 'o'), play_end(:i)), 'ABORTED INIT ABORTING', 'on_failure(fail) in a finally of an instance that is aborted ends the finally');
select is_empty('select * from wf.fsck()', 'all is well after on_failure(fail) in a finally');
select play_on(:driver);
select is(play_error(:i), 'ABORTED error < mine < the instance is aborted', 'with its error');
select wf.start('fail_late') as i \gset
select play_take(:driver);
select wf.abort(play_target(:i));
select play_fail(play_id(:i, 'a')), play_take(:driver), play_fail(play_id(:i, 'f'), 'mine');
select is(play_state(:i, 'f'), 'FAILED', 'on_failure(fail_late) waits until nothing else can run');
select is_empty('select * from wf.fsck()', 'all is well while it waits');
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is(concat_ws(' ', play_state(:i, 'f'), play_state(:i, 'o')), 'ABORTED INIT', 'on_failure(fail_late) ends the finally when nothing else can run');
select play_on(:driver);
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is(concat_ws(' ', play_end(:i), play_state(:i, 'o')), 'ABORTED error END', 'with an error');
select is_empty('select * from wf.fsck()', 'all is well after on_failure(fail_late) in a finally');

-- refused
select throws_ok(format('select play_install(''bad'', %L)', jsonb_build_array(n)), 'WF005', m)
  from (values
    (play_try(play_return('1', '{}'), play_return('1', '{}')), 'workflows[0].steps[0].finally.body: return cannot stand inside par, dag, race, forall, finally or undo'),
    (play_try(play_task('t.Do', 'a'), play_task('t.Do', 'a')), 'workflows[0].steps[0].finally.body: the name a is bound twice'),
    (play_try(play_task('t.Do', 'a'), play_task('t.Do', 'f'), 'a'), 'workflows[0].steps[0].finally: the name a is bound twice'),
    (play_try(play_task('t.Do', 'a'), play_task('t.Do', 'f')) - 'finally', 'workflows[0].steps[0]: needs catches or a finally'),
    (play_try(play_task('t.Do', 'a'), play_task('t.Do', 'f')) || '{"finally": {"kind": "catch", "line": 1, "body": {"kind": "seq", "line": 1, "steps": []}}}', 'workflows[0].steps[0].finally.kind: must be finally'),
    ('{"kind": "finally", "line": 1, "body": {"kind": "seq", "line": 1, "steps": []}}'::jsonb, 'workflows[0].steps[0].kind: is not a kind of node')) x (n, m);

-- rounds of elements, and more than a portion of them (last, since polls look behind their dead rows only after a while)
select play_driver('a third') as driver \gset
select play_install('many', jsonb_build_array(play_par(f, f)))
  from jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'x', 'in', '["range", 1, 550]'::jsonb,
                          'body', play_try(play_task('t.Do', 'a'), play_seq(play_task('t.Do', 'f'), '{"kind": "let", "line": 1, "as": "l", "value": 1}'))) f;
select wf.start('many') as i \gset
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select play_on(:driver, 700);
select is(play_end(:i), 'END success', 'each element has its finally');
select is((select count(*) from wf.process where instance_id = :i and bind = 'f' and state = 'END'), 1100::bigint, 'all of them have run');
select wf.start('many') as i \gset
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select play_take(:driver, 300);
select play_report(p.id) from wf.process p where p.instance_id = :i and p.state = 'START_REQUESTED' limit 100;
select is((select count(*) from wf.process where instance_id = :i and bind = 'f'), 100::bigint, 'a hundred finallys run');
select wf.abort(play_target(:i));
analyze wf.process, wf.binding, wf.node; -- a plan without statistics looks at each process for each process
select is_empty('select * from wf.fsck()', 'all is well between two portions');
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is_empty('select * from wf.fsck()', 'all is well when all have been told');
select play_report(p.id) from wf.process p where p.instance_id = :i and p.state = 'ABORT_REQUESTED';
select play_on(:driver, 700);
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select play_on(:driver, 700);
select is(play_end(:i), 'ABORTED aborted', 'an abort runs the finallys of all elements that have begun');
select is((select array[count(*) filter (where kind = 'finally'), count(*) filter (where bind = 'f' and state = 'END')] from wf.process where instance_id = :i),
    (select array[count(*), count(*)] from wf.process where instance_id = :i and kind = 'try'), 'once each');
select is_empty('select * from wf.fsck()', 'all is well');
select wf.start('many') as i \gset
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select play_take(:driver, 300);
select play_report(p.id) from wf.process p where p.instance_id = :i and p.state = 'START_REQUESTED' limit 100;
select results_eq(format($$select answer, detail from wf.halt('{"instance": %s}')$$, :i), $$values ('begun', 'RUNNING -> ABORTING')$$, 'the halt of a large instance has begun');
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is(play_end(:i), 'ABORTED aborted', 'the halt of a large instance goes on by itself');
select is_empty('select * from wf.fsck()', 'all is well');

-- nothing waits: trys that pass without a task
select play_install('deep', jsonb_build_array(jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'x', 'in', '["range", 1, 3000]'::jsonb,
    'body', play_try('{"kind": "let", "line": 1, "as": "k", "value": 1}', play_try('{"kind": "let", "line": 1, "as": "l", "value": 1}', '{"kind": "seq", "line": 1, "steps": []}')))));
select wf.start('deep') as i \gset
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is(play_end(:i), 'END success', 'trys in which nothing waits end');
select is_empty('select * from wf.fsck()', 'all is well');

select * from finish();
rollback;
