-- undo.sql - what has ended well is undone when it is given up, last first.
begin;
\ir helper/play.sql
select no_plan();
select play_driver() as driver \gset

-- play_undo(NODE, BODY): the node with a policy undo
create function play_undo(p_node jsonb, p_body jsonb) returns jsonb
language sql as $$ select p_node || jsonb_build_object('undo', jsonb_build_object('kind', 'undo', 'line', 5, 'body', p_body)); $$;
-- play_done(NAME): a task that does NAME and whose undo is a task of the name un_NAME, which reads NAME
create function play_done(p_name text, p_policies jsonb default null) returns jsonb
language sql as $$
    select play_undo(play_task('t.Do', p_name, jsonb_build_object('x', p_name)),
                     play_task('t.Do', 'un_' || p_name, jsonb_build_object('x', jsonb_build_array('var', p_name)), p_policies));
$$;
-- play_try(BODY, CATCH [, FINALLY]): a try whose catch takes all errors
create function play_try(p_body jsonb, p_catch jsonb, p_finally jsonb default null) returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'try', 'line', 2, 'body', p_body,
                              'catches', jsonb_build_array(jsonb_build_object('kind', 'catch', 'line', 3, 'name', 'e', 'body', p_catch)))
           || case when p_finally is null then '{}' else jsonb_build_object('finally', jsonb_build_object('kind', 'finally', 'line', 4, 'body', p_finally)) end;
$$;
create function play_race(variadic p_branches jsonb[]) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'race', 'line', 6, 'branches', to_jsonb(p_branches)); $$;
create function play_let(p_name text) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'let', 'line', 7, 'as', p_name, 'value', 1); $$;
create function play_end(p_instance bigint) returns text
language sql as $$ select concat_ws(' ', i.state, i.result) from wf.instance i where i.id = p_instance; $$;
-- play_story(INSTANCE): the tasks that ended well, in the order in which they did
create function play_story(p_instance bigint) returns text
language sql as $$
    select string_agg(p.bind, ' ' order by e.seq)
      from wf.event e join wf.process p on p.instance_id = e.instance_id and p.id = e.process_id
     where e.instance_id = p_instance and e.state = 'END' and p.machine <> 'composite';
$$;
-- play_notes(INSTANCE): what is noted, in order
create function play_notes(p_instance bigint) returns text
language sql as $$
    select string_agg(coalesce(p.bind, p.kind), ' ' order by t.id)
      from wf.undo_note t join wf.process p on p.instance_id = t.instance_id and p.id = t.process_id
     where t.instance_id = p_instance and t.node_id is not null;
$$;
-- play_ok(INSTANCE, NAME)
create function play_ok(p_instance bigint, p_name text) returns text
language sql as $$ select play_report(play_id(p_instance, p_name), 'response', jsonb_build_object('value', p_name)::text); $$;
create function play_target(p_instance bigint, p_name text default null) returns jsonb
language sql as $$
    select case when p_name is null then jsonb_build_object('instance', p_instance)
                else jsonb_build_object('process', play_id(p_instance, p_name)) end;
$$;

-- a catch takes an error: last first, before the catch
select play_install('plain', jsonb_build_array(
    play_try(play_seq(play_done('a'), play_done('b'), play_task('t.Do', 'c')), play_task('t.Do', 'k')), play_task('t.Do', 'z')));
select wf.start('plain') as i \gset
select play_take(:driver), play_ok(:i, 'a');
select is(play_notes(:i), 'a', 'a task that has ended well is noted');
select is_empty('select * from wf.fsck()', 'all is well with a note');
select play_take(:driver), play_ok(:i, 'b'), play_take(:driver);
select is(play_notes(:i), 'a b', 'another one is noted behind it');
select play_fail(play_id(:i, 'c'));
select is(concat_ws(' ', play_state(:i, 'un_b'), play_state(:i, 'un_a'), play_state(:i, 'k'), play_state(:i, 'try')), 'INIT ACTIVE', 'the last task is undone first, before the catch begins');
select is((select input -> 'x' from wf.process where id = play_id(:i, 'un_b')), '"b"', 'an undo sees its own name');
select is((select p.state from wf.process p join wf.process u on u.parent_id = p.id where u.id = play_id(:i, 'undo')), 'ABORTING', 'an undo is in the body, which waits for it');
select is((select label from wf.label_v where process_id = play_id(:i, 'undo')), 'undo of t.Do as b', 'an undo is labelled with the task that it undoes');
select is_empty('select * from wf.fsck()', 'all is well in an undo');
select play_take(:driver), play_ok(:i, 'un_b');
select is(concat_ws(' ', play_state(:i, 'un_a'), play_state(:i, 'k'), play_notes(:i)), 'INIT', 'the task before is undone next, one after another');
select play_take(:driver), play_ok(:i, 'un_a');
select is(play_state(:i, 'k'), 'INIT', 'the catch begins after the undos');
select play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END success, a b un_b un_a k z', 'the workflow goes on after the catch');
select is_empty('select * from wf.fsck()', 'all is well');
select is_empty('select * from wf.teardown', 'no teardown is left');

-- nothing fails
select wf.start('plain') as i \gset
select play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END success, a b c z', 'where nothing fails nothing is undone');
select is_empty('select * from wf.undo_note', 'no note is left where nothing failed');

-- an instance without undo costs no statement
select play_install('without', jsonb_build_array(play_task('t.Do', 'a')));
select is((select array_agg(noted) from wf.node where version_id = (select version_id from wf.workflow where name = 'without')), array[null, null]::boolean[], 'nothing of a workflow without undo is looked at when it ends');
select is((select string_agg(label || ' ' || noted, ', ' order by id) from wf.node n where version_id = (select version_id from wf.workflow where name = 'plain') and noted),
    'plain true, t.Do as a true, undo of t.Do as a true, t.Do as b true, undo of t.Do as b true', 'with it, its root, what can be undone, and the undos are');

select is(play_needless('note'), 0::bigint, 'a task without undo makes no move that is noted for an undo');

-- abort undoes nothing, abort with undo does
select wf.start('plain') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_ok(:i, 'b');
select wf.abort(play_target(:i));
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'ABORTED aborted, a b', 'a plain abort undoes nothing');
select is_empty('select * from wf.undo_note', 'a plain abort forgets the notes');
select wf.start('plain') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_ok(:i, 'b'), play_take(:driver);
select results_eq(format($$select answer, detail from wf.abort('{"instance": %s}', 'wrong', true)$$, :i), $$values ('done', 'RUNNING -> ABORTING')$$, 'P-O6: an abort with undo');
select is(concat_ws(' ', play_state(:i, 'c'), play_state(:i, 'un_b')), 'ABORT_REQUESTED', 'an abort with undo waits for running tasks');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_fail(play_id(:i, 'c'));
select is(play_state(:i, 'un_b'), 'INIT', 'an abort with undo begins the last undo when nothing else runs');
select is_empty('select * from wf.fsck()', 'all is well while it does');
select play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'ABORTED aborted, a b un_b un_a', 'an abort with undo undoes all tasks, last first, without the catch');
select is_empty('select * from wf.fsck()', 'all is well');
select is((select reason from wf.event where instance_id = :i and process_id is null and event = 'abort'), 'wrong', 'an abort with undo keeps its reason');
select wf.start('plain') as i \gset
select results_eq(format($$select answer, detail from wf.abort(p_target => '{"instance": %s}', p_undo => true)$$, :i), $$values ('done', 'RUNNING -> ABORTED')$$, 'with nothing noted it ends at once');

-- a failing undo waits, the rest with it
select wf.start('plain') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_ok(:i, 'b'), play_take(:driver), play_fail(play_id(:i, 'c'), 'first'), play_take(:driver), play_fail(play_id(:i, 'un_b'), 'second');
select is(concat_ws(' ', play_state(:i, 'un_b'), play_state(:i, 'un_a'), play_state(:i, 'k')), 'FAILED', 'an undo that fails waits for a person, and no handler outside takes its error');
select is((select error #>> '{message}' from wf.process where id = play_id(:i, 'un_b')), 'second', 'with its own error');
select is_empty('select * from wf.fsck()', 'all is well while it waits');
select ok((select detail from wf.explain(:i) where reason = 'teardown') like '%it waits for % t.Do as un_b (FAILED)%; 1 more to undo', 'explain says what it waits for, and what is to be undone');
select wf.retry(play_target(:i, 'un_b'));
select play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END success, a b un_b un_a k z', 'after its retry the rest is undone');
select wf.start('plain') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_ok(:i, 'b'), play_take(:driver), play_fail(play_id(:i, 'c')), play_take(:driver), play_fail(play_id(:i, 'un_b'));
select wf.ignore(play_target(:i, 'un_b'));
select play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END warning, a b un_b un_a k z', 'ignore goes on with the next, and is a warning');
select is_empty('select * from wf.fsck()', 'all is well');
-- raise: nothing takes it
select wf.start('plain') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_ok(:i, 'b'), play_take(:driver), play_fail(play_id(:i, 'c'), 'first'), play_take(:driver), play_fail(play_id(:i, 'un_b'), 'second');
select wf.raise(play_target(:i, 'un_b'));
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'ABORTED error, a b', 'when an operator hands its error on, it ends the instance');
select is((select error #>> '{message}' || ' ' || (error #>> '{cause,message}') from wf.instance where id = :i), 'second first', 'with the first error as its cause');
select is_empty('select * from wf.fsck()', 'all is well');
-- its own retry
select play_install('tries', jsonb_build_array(
    play_try(play_seq(play_done('a', '{"retry": {"attempts": 2, "delay": "PT10S"}}'), play_task('t.Do', 'c')), play_task('t.Do', 'k'))));
select wf.start('tries') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_fail(play_id(:i, 'c')), play_take(:driver), play_fail(play_id(:i, 'un_a'));
select is(play_state(:i, 'un_a'), 'INIT', 'a task of an undo is tried again by its policy');
select is_empty('select * from wf.fsck()', 'all is well while it waits');
select play_later('10 s'), play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END success, a un_a k', 'a task of an undo ends in its next attempt');
-- halt
select wf.start('plain') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_ok(:i, 'b'), play_take(:driver), play_fail(play_id(:i, 'c')), play_take(:driver);
select wf.halt(play_target(:i));
select is(concat_ws(' ', play_end(:i), play_state(:i, 'un_b')), 'ABORTED aborted ABORTED', 'halt gets through an undo that hangs');
select is_empty('select * from wf.fsck()', 'all is well after a halt');
select is_empty('select * from wf.undo_note', 'nothing stays noted');
-- abort while undoing
select wf.start('plain') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_ok(:i, 'b'), play_take(:driver), play_fail(play_id(:i, 'c')), play_take(:driver);
select wf.abort(play_target(:i));
select is(concat_ws(' ', play_end(:i), play_state(:i, 'un_b')), 'ABORTING START_REQUESTED', 'an abort does not reach into an undo');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_on(:driver), play_ok(:i, 'un_b');
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'ABORTED aborted, a b un_b', 'no undo begins after an abort');
select is_empty('select * from wf.fsck()', 'all is well');
select wf.start('plain') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_ok(:i, 'b'), play_take(:driver), play_fail(play_id(:i, 'c')), play_take(:driver);
select wf.abort(play_target(:i), 'all of it', true);
select play_ok(:i, 'un_b'), play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'ABORTED aborted, a b un_b un_a', 'an abort with undo goes on with what the catch had begun to undo');
select is_empty('select * from wf.fsck()', 'all is well');

-- a failed task that is passed over is not noted, one that an operator resolves is
select play_install('passed', jsonb_build_array(play_try(play_seq(play_done('a'), play_undo(play_task('t.Job', 'j'), play_task('t.Do', 'un_j')), play_task('t.Do', 'c')), play_task('t.Do', 'k'))));
select wf.start('passed') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'));
select is(play_notes(:i), null, 'a failed task is not noted');
select * from wf.abort(play_target(:i));
-- without the catch, so that failures wait for an operator
select play_install('passed', jsonb_build_array(play_done('a'), play_undo(play_task('t.Job', 'j'), play_task('t.Do', 'un_j')), play_task('t.Do', 'c')));
select wf.start('passed') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'));
select wf.ignore(play_target(:i, 'a'));
select is(play_notes(:i), null, 'an ignored task is not noted');
select play_take(:driver), play_report(play_id(:i, 'j'), 'ack'), play_fail(play_id(:i, 'j'));
select wf.ignore(play_target(:i, 'j'));
select play_take(:driver), play_report(play_id(:i, 'j'));
select is(concat_ws(' ', play_state(:i, 'j'), play_notes(:i)), 'END', 'an ignored job that had to be released is not noted');
select wf.abort(play_target(:i), null, true);
select wf.start('passed') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'));
select wf.resolve(play_target(:i, 'a'), '"given"');
select play_take(:driver), play_report(play_id(:i, 'j'), 'ack'), play_report(play_id(:i, 'j'), 'response', '{"id": 1}'), play_later('6 s'), play_take(:driver), play_report(play_id(:i, 'j'), 'response', '{"state": "done"}');
select is(play_notes(:i), 'a', 'a resolved task is noted; a job that has yet to be released is not');
select play_take(:driver), play_report(play_id(:i, 'j'));
select is(play_notes(:i), 'a j', 'when it is released it is');
select wf.abort(play_target(:i), null, true);
select play_on(:driver);
select is(play_story(:i), 'a j un_j un_a', 'both are undone');
select is((select input -> 'x' from wf.process where id = play_id(:i, 'un_a')), '"given"', 'the undo reads what the operator gave');
-- on_failure(skip), and what reads it
select play_install('skipped', jsonb_build_array(
    play_undo(play_task('t.Do', 'a', '{}', '{"on_failure": "skip_all"}'), play_task('t.Do', 'un_a')),
    play_undo(play_task('t.Do', 'b', '{"x": ["var", "a"]}'), play_task('t.Do', 'un_b')), play_task('t.Do', 'c')));
select wf.start('skipped') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'));
select is(concat_ws(' ', play_state(:i, 'a'), play_state(:i, 'b'), play_notes(:i)), 'END END', 'a skipped task and a task that reads it are not noted');
select wf.abort(play_target(:i), null, true);

-- finallys inside first
select play_install('clean', jsonb_build_array(
    play_try(play_seq(play_done('a'),
                      play_try(play_seq(play_done('b'), play_task('t.Do', 'c')), play_seq(play_done('d'), play_task('t.Do', 'x')), play_done('f'))),
             play_task('t.Do', 'o'))));
select wf.start('clean') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_ok(:i, 'b'), play_take(:driver), play_fail(play_id(:i, 'c')), play_take(:driver), play_ok(:i, 'un_b');
select is(concat_ws(' ', play_state(:i, 'd'), play_notes(:i)), 'INIT a', 'the catch inside undoes its body alone');
select play_take(:driver), play_ok(:i, 'd'), play_take(:driver), play_fail(play_id(:i, 'x'));
select is(concat_ws(' ', play_state(:i, 'f'), play_state(:i, 'un_d')), 'INIT', 'the finally inside comes first');
select play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END success, a b un_b d f un_f un_d un_a o', 'everything is undone after the inner finally, tasks of the finally, too');
select is_empty('select * from wf.fsck()', 'all is well');
-- the body itself is a try with a finally; and one that hangs
select play_install('body', jsonb_build_array(play_try(play_try(play_task('t.Do', 'c'), play_seq(play_done('k'), play_task('t.Do', 'y')), play_task('t.Do', 'f')), play_task('t.Do', 'o'))));
select wf.start('body') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'c')), play_take(:driver), play_ok(:i, 'k'), play_take(:driver), play_fail(play_id(:i, 'y'));
select is(concat_ws(' ', play_state(:i, 'f'), play_state(:i, 'un_k')), 'INIT', 'a body that is a try runs its finally first');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END success, k f un_k o', 'the body is undone after its finally');

-- blocks, calls and atomics
select play_install('block', jsonb_build_array(
    play_try(play_seq(
        play_undo(play_seq(play_done('a'), play_done('b')), play_task('t.Do', 'un_block', '{"x": ["list", ["var", "a"], ["var", "b"]]}')),
        play_undo('{"kind": "call", "line": 1, "workflow": "called", "as": "r", "args": {"p": 7}}'
                  || jsonb_build_object('steps', jsonb_build_array(play_done('q'), '{"kind": "return", "line": 1, "value": ["var", "q"], "reads": {"q": 0}}'::jsonb)),
                  play_task('t.Do', 'un_call', '{"x": ["var", "r"]}')),
        play_undo('{"kind": "seq", "line": 1, "steps": []}', play_task('t.Do', 'un_empty')),
        play_task('t.Do', 'c')), play_task('t.Do', 'k'))));
select wf.start('block') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_ok(:i, 'b'), play_take(:driver);
select is(play_notes(:i), 'seq', 'of a block that was noted, its undo stands for all in it');
select play_ok(:i, 'q'), play_take(:driver);
select is(play_notes(:i), 'seq r seq', 'a call that returns is noted, and an empty block');
select is_empty('select * from wf.fsck()', 'all is well');
select play_fail(play_id(:i, 'c')), play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END success, a b q un_empty un_call un_block k', 'each is undone by its own undo');
select is((select array_agg(input -> 'x' order by id) from wf.process where instance_id = :i and bind in ('un_block', 'un_call')), array['"q"', '["a", "b"]']::jsonb[], 'undos see the names of a block and the name of a call');
-- a block that has not ended: what is in it counts
select wf.start('block') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_fail(play_id(:i, 'b')), play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END success, a un_a k', 'a block that has not ended well is not noted: what is in it is undone');
-- inside a call
select wf.start('block') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_ok(:i, 'b'), play_take(:driver), play_ok(:i, 'q');
select wf.abort(play_target(:i), null, true);
select play_on(:driver);
select is(play_story(:i), 'a b q un_empty un_call un_block', 'an abort undoes the same');

-- forms inside the body: parallel, dag, forall, loops
select play_install('forms', jsonb_build_array(
    play_try(play_seq(
        play_par(play_done('a'), play_done('b')),
        jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'x', 'in', '["const", [1, 2, 3]]'::jsonb, 'max', 1,
                           'body', play_undo(play_task('t.Do', 'd') || '{"args": {"x": ["var", "x"]}, "reads": {"x": 1}}',
                                             play_task('t.Do', 'un_d') || '{"args": {"x": ["list", ["var", "x"], ["var", "d"]]}, "reads": {"x": 1, "d": 1}}')),
        jsonb_build_object('kind', 'repeat', 'line', 1, 'max', 5, 'until', '["eq", ["var", "g"], ["var", "g"]]'::jsonb, 'round_reads', '{"g": 1}'::jsonb,
                           'body', play_undo(play_task('t.Do', 'g'), play_task('t.Do', 'un_g'))),
        play_task('t.Do', 'c')), play_task('t.Do', 'k'))));
select wf.start('forms') as i \gset
select play_take(:driver), play_ok(:i, 'b'), play_ok(:i, 'a');
select play_take(:driver), play_report(play_id(:i, 'd'), 'response', '{"value": "one"}'), play_take(:driver), play_report(play_id(:i, 'd'), 'response', '{"value": "two"}'),
       play_take(:driver), play_report(play_id(:i, 'd'), 'response', '{"value": "three"}'), play_take(:driver), play_ok(:i, 'g'), play_take(:driver), play_fail(play_id(:i, 'c')), play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END success, b a d d d g un_g un_d un_d un_d un_a un_b k', 'the order is that in which they ended');
select is((select array_agg(input -> 'x' order by id) from wf.process where instance_id = :i and bind = 'un_d'), array['[3, "three"]', '[2, "two"]', '[1, "one"]']::jsonb[],
    'an undo of an element sees the names of that element');
select is((select string_agg(label, ', ' order by process_id) from wf.label_v v where instance_id = :i and exists (select from wf.process p where p.id = v.process_id and p.bind = 'un_d')),
    't.Do as un_d [2], t.Do as un_d [1], t.Do as un_d [0]', 'undos of elements are labelled with their indexes');
select is_empty('select * from wf.fsck()', 'all is well');

-- a race: what has lost is undone, before the race ends
select play_install('race', jsonb_build_array(
    play_race(play_seq(play_undo(play_task('t.Do', 'a'), play_task('t.Do', 'un_a')), play_task('t.Do', 'b')),
              play_undo(play_seq(play_undo(play_task('t.Do', 'd'), play_task('t.Do', 'un_d')), play_task('t.Do', 'f')), play_task('t.Do', 'un_win'))),
    play_task('t.Do', 'z')));
select wf.start('race') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_ok(:i, 'd'), play_take(:driver), play_ok(:i, 'f');
select is(concat_ws(' ', play_state(:i, 'b'), play_state(:i, 'race'), play_state(:i, 'un_a')), 'ABORT_REQUESTED ABORTING', 'a race that was won waits for its losers');
select play_fail(play_id(:i, 'b'));
select is(concat_ws(' ', play_state(:i, 'race'), play_state(:i, 'un_a'), play_state(:i, 'un_d')), 'ABORTING INIT', 'a race undoes its losers when they have stopped');
select is_empty('select * from wf.fsck()', 'all is well while it does');
select play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END success, a d f un_a z', 'the winner of a race is not undone');
select is_empty('select * from wf.fsck()', 'all is well');
-- a branch that fails and leaves
select wf.start('race') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_fail(play_id(:i, 'b'));
select is(concat_ws(' ', play_state(:i, 'race'), play_state(:i, 'un_a')), 'ACTIVE INIT', 'a branch that leaves its race is undone');
select play_ok(:i, 'd'), play_take(:driver), play_ok(:i, 'f');
select is(concat_ws(' ', play_state(:i, 'race'), play_state(:i, 'un_a')), 'ABORTING START_REQUESTED', 'a race that is won meanwhile waits for that');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_ok(:i, 'un_a'), play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END success, a d f un_a z', 'a race ends after the undo of the branch that left');
-- the winner is undone with the race when that is given up
select play_install('won', jsonb_build_array(play_try(play_seq(
    play_race(play_undo(play_task('t.Do', 'a'), play_task('t.Do', 'un_a')), play_task('t.Do', 'b')), play_task('t.Do', 'c')), play_task('t.Do', 'k'))));
select wf.start('won') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_fail(play_id(:i, 'b')), play_take(:driver), play_fail(play_id(:i, 'c')), play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END success, a un_a k', 'the winner of a race is undone when a try around the race fails');
-- two at once
select play_install('tie', jsonb_build_array(play_race(play_undo(play_task('t.Do', 'a'), play_task('t.Do', 'un_a')), play_undo(play_task('t.Do', 'b'), play_task('t.Do', 'un_b'))), play_task('t.Do', 'z')));
select wf.start('tie') as i \gset
select play_take(:driver);
select o.answer from (select array_agg(r.instance_id) i, array_agg(r.process_id) p, array_agg(r.token) t from play_request r where r.instance_id = :i) x,
       wf.outcome(:driver, x.i, x.p, x.t, array['response', 'response'], array['{"value": 1}'::bytea, '{"value": 1}'::bytea]) o;
select is(concat_ws(' ', play_state(:i, 'race'), play_state(:i, 'un_a'), play_state(:i, 'un_b'), play_state(:i, 'z')), 'ABORTING INIT', 'of two that end at once the one that has lost is undone');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_on(:driver);
select is(concat_ws(' ', play_end(:i), play_state(:i, 'un_b'), play_state(:i, 'un_a')), 'END success END', 'the race ends after the undo of its loser');
select is_empty('select * from wf.fsck()', 'all is well');

-- tolerate: an element that is given up
select play_install('given_up', jsonb_build_array(
    jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'x', 'in', '["const", [1, 2, 3]]'::jsonb, 'tolerate', 1,
                       'body', play_seq(play_undo(play_task('t.Do', 'a'), play_task('t.Do', 'un_a')), play_task('t.Do', 'b'))), play_task('t.Do', 'z')));
select wf.start('given_up') as i \gset
select play_take(:driver);
select play_report(p.id) from wf.process p where p.instance_id = :i and p.bind = 'a';
select play_take(:driver);
select play_fail(min(p.id)) from wf.process p where p.instance_id = :i and p.bind = 'b';
select is((select string_agg(p.state, ' ') from wf.process p where p.instance_id = :i and p.bind = 'un_a'), 'INIT', 'of the elements the one that is given up is undone');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_report(p.id) from wf.process p where p.instance_id = :i and p.bind = 'b' and p.state = 'START_REQUESTED';
select is(play_state(:i, 'forall'), 'ACTIVE', 'the forall waits for that');
select play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END warning, a a a b b un_a z', 'the forall goes on after the undo of its element');
select is_empty('select * from wf.fsck()', 'all is well');
-- one too many: the forall itself is what a catch gives up
select play_install('too_many', jsonb_build_array(play_try(
    jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'x', 'in', '["const", [1, 2, 3]]'::jsonb, 'tolerate', 0,
                       'body', play_seq(play_undo(play_task('t.Do', 'a'), play_task('t.Do', 'un_a')), play_task('t.Do', 'b'))), play_task('t.Do', 'k'))));
select wf.start('too_many') as i \gset
select play_take(:driver);
select play_report(p.id) from wf.process p where p.instance_id = :i and p.bind = 'a';
select play_take(:driver);
select play_fail(min(p.id)) from wf.process p where p.instance_id = :i and p.bind = 'b';
select play_report(p.id) from wf.process p where p.instance_id = :i and p.bind = 'b' and p.state = 'START_REQUESTED';
select play_take(:driver), play_report(play_id(:i, 'un_a'));
select is(concat_ws(' ', play_state(:i, 'forall'), play_state(:i, 'k')), 'ABORTING', 'a forall that has failed itself, as the body of a try, is undone');
select is((select reason from wf.event where instance_id = :i and process_id = play_id(:i, 'forall') and was = 'FAILED' and event = 'undo'), 'caught in line 3', 'the history says why');
select is_empty('select * from wf.fsck()', 'all is well while it is');
select play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END success, a a a b b un_a un_a un_a k', 'the catch begins after the undos of the elements');
select is_empty('select * from wf.fsck()', 'all is well');

-- a block retry undoes nothing, and rounds that were given up have noted nothing
select play_install('again', jsonb_build_array(
    play_try(play_seq(play_done('o'), play_seq(play_done('a'), play_task('t.Do', 'b')) || '{"policies": {"retry": {"attempts": 2, "delay": "PT5S"}}}', play_task('t.Do', 'c')), play_task('t.Do', 'k'))));
select wf.start('again') as i \gset
select play_take(:driver), play_ok(:i, 'o'), play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_fail(play_id(:i, 'b'));
select is(concat_ws(' ', play_state(:i, 'un_a'), play_notes(:i)), 'o', 'a round that is given up is not undone, and has noted nothing');
select is_empty('select * from wf.fsck()', 'all is well between the rounds');
select play_later('5 s'), play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_ok(:i, 'b'), play_take(:driver), play_fail(play_id(:i, 'c')), play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END success, o a a b un_a un_o k', 'tasks of the last round are undone');

-- a composite that has failed itself: an operator's verbs
select play_install('late', jsonb_build_array(play_done('o'), play_seq(play_done('a'), play_task('t.Sleep', 's', '{"duration": "PT1H"}')) || '{"policies": {"timeout": {"deadline": "PT1M"}}}', play_task('t.Do', 'z')));
select wf.start('late') as i \gset
select play_take(:driver), play_ok(:i, 'o'), play_take(:driver), play_ok(:i, 'a'), play_later('61 s'), play_take(:driver);
select is(concat_ws(' ', play_state(:i, 'seq'), play_notes(:i)), 'FAILED o a', 'a block whose deadline is over undoes nothing by itself');
select is_empty('select * from wf.fsck()', 'all is well while an operator decides');
select wf.retry(play_target(:i, 'seq'));
select is(play_notes(:i), 'o', 'a retry forgets what was noted in it, and nothing else');
select play_take(:driver), play_ok(:i, 'a'), play_later('61 s'), play_take(:driver);
select wf.ignore(play_target(:i, 'seq'));
select is(concat_ws(' ', play_state(:i, 'z'), play_notes(:i)), 'INIT o a', 'if it is ignored, what was noted in it stays');
select wf.abort(play_target(:i), null, true);
select play_on(:driver);
select is(play_story(:i), 'o a a un_a un_o', 'an abort with undo undoes tasks of an ignored block');
select wf.start('late') as i \gset
select play_take(:driver), play_ok(:i, 'o'), play_take(:driver), play_ok(:i, 'a'), play_later('61 s'), play_take(:driver);
select results_eq(format($$select answer, detail from wf.raise('{"process": %s}')$$, play_id(:i, 'seq')), $$values ('done', 'FAILED -> RAISED')$$, 'the error of the block is handed on');
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'ABORTED error, o a', 'a handed-on error ends the instance without undo');
select is_empty('select * from wf.fsck()', 'all is well');
-- the same where a catch takes it
select play_install('late', jsonb_build_array(play_try(play_seq(play_done('a'), play_task('t.Sleep', 's', '{"duration": "PT1H"}')) || '{"policies": {"timeout": {"deadline": "PT1M"}}}', play_task('t.Do', 'k'))));
select wf.start('late') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_later('61 s'), play_take(:driver);
select is(concat_ws(' ', play_state(:i, 'seq'), play_state(:i, 'un_a'), play_state(:i, 'k')), 'ABORTING START_REQUESTED', 'a block whose deadline is over, as the body of a try, is undone before the catch');
select play_ok(:i, 'un_a'), play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END success, a un_a k', 'the catch follows the undo of the block');
select is_empty('select * from wf.fsck()', 'all is well');
-- an operator's raise, which a catch takes whose `when` the first error did not satisfy
select play_install('raised', jsonb_build_array(
    jsonb_set(play_try(play_seq(play_done('a'), play_task('t.Sleep', 's', '{"duration": "PT1H"}')) || '{"policies": {"timeout": {"deadline": "PT1M"}}}', play_task('t.Do', 'k')),
              '{catches,0}', '{"kind": "catch", "line": 3, "name": "e", "when": ["eq", ["var", "w"], 1], "reads": {"w": 0}}'
                             || jsonb_build_object('body', play_task('t.Do', 'k')))), '[{"name": "w", "type": "int"}]');
select wf.start('raised', '{"w": 0}') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_later('61 s'), play_take(:driver);
select is(play_state(:i, 'seq'), 'FAILED', 'no catch takes the error');
update wf.binding set value = '1' where instance_id = :i and name = 'w';
select results_eq(format($$select answer, detail from wf.raise('{"process": %s}')$$, play_id(:i, 'seq')), $$values ('done', 'FAILED -> ABORTING')$$, 'an operator hands it on, and now a catch takes it');
select is(concat_ws(' ', play_state(:i, 'un_a'), play_state(:i, 'k')), 'INIT', 'an undo comes before a catch that took the error late');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END success, a un_a k', 'the catch follows the undo of a late error');
-- an abort with undo of an instance whose root has failed
select wf.install('// root', jsonb_build_object('format', 1, 'file', 'root.wf', 'task_types', (select jsonb_object_agg(t.name, t.spec) from play_type t where name in ('t.Do', 't.Sleep')), 'workflows', jsonb_build_array(
    '{"name": "root", "line": 1, "params": [], "policies": {"timeout": {"deadline": "PT1M"}}}' || jsonb_build_object('steps', jsonb_build_array(play_done('a'), play_task('t.Sleep', 's', '{"duration": "PT1H"}'))))));
select wf.start('root') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_later('61 s'), play_take(:driver);
select is((select state from wf.process where instance_id = :i and parent_id is null), 'FAILED', 'a workflow has failed itself');
select wf.abort(play_target(:i), null, true);
select is(concat_ws(' ', play_end(:i), play_state(:i, 'un_a')), 'ABORTING INIT', 'an abort with undo undoes it');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'ABORTED aborted, a un_a', 'an abort with undo ends a failed workflow');
select is_empty('select * from wf.fsck()', 'all is well');

-- on_failure(fail, undo = true) and (fail_late, undo = true)
select play_install('fails', jsonb_build_array(play_done('a'), play_seq(play_par(play_task('t.Do', 'c'), play_task('t.Do', 'd'))) || '{"policies": {"on_failure": "fail_undo"}}'));
select wf.start('fails') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_fail(play_id(:i, 'c')), play_ok(:i, 'd');
select is(concat_ws(' ', play_end(:i), play_state(:i, 'un_a')), 'ABORTING INIT', 'on_failure(fail, undo = true) undoes what was noted');
select is((select reason from wf.event where instance_id = :i and process_id is null and event = 'abort'), 'on_failure(fail, undo = true)', 'the history says so');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_take(:driver), play_fail(play_id(:i, 'un_a'));
select is(play_state(:i, 'un_a'), 'FAILED', 'an undo that fails then waits all the same');
select wf.retry(play_target(:i, 'un_a'));
select play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'ABORTED error, a un_a', 'the instance ends with the error after the retried undo');
select play_install('fails', jsonb_build_array(play_done('a'), play_seq(play_par(play_task('t.Do', 'c'), play_task('t.Do', 'd'))) || '{"policies": {"on_failure": "fail_late_undo"}}'));
select wf.start('fails') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_fail(play_id(:i, 'c')), play_ok(:i, 'd'), wf.work();
select is(concat_ws(' ', play_end(:i), play_state(:i, 'un_a')), 'ABORTING INIT', 'on_failure(fail_late, undo = true) does when nothing else can run');
select play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'ABORTED error, a d un_a', 'on_failure(fail_late, undo = true) ends the instance');
select is_empty('select * from wf.fsck()', 'all is well');
-- on_failure around an undo is not for it, one in it is
select play_install('inside', jsonb_build_array(play_try(play_seq(
    play_undo(play_task('t.Do', 'a', '{}', '{"on_failure": "skip"}'), play_seq(play_task('t.Do', 'p'), play_task('t.Do', 'q', '{}', '{"on_failure": "skip"}'))), play_task('t.Do', 'c'))
        || '{"policies": {"on_failure": "skip"}}', play_task('t.Do', 'k'))));
select is((select array_agg(coalesce(n.on_failure, '-') order by n.id) from wf.node n where n.version_id = (select version_id from wf.workflow where name = 'inside') and n.bind in ('a', 'c', 'p', 'q')),
    array['skip', '-', 'skip', 'skip'], 'on_failure does not reach into an undo');
select wf.start('inside') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_fail(play_id(:i, 'c'));
select play_take(:driver), play_fail(play_id(:i, 'p'));
select is(play_state(:i, 'p'), 'FAILED', 'a task in an undo waits though what is around it is skipped');
select wf.ignore(play_target(:i, 'p'));
select play_take(:driver), play_fail(play_id(:i, 'q')), play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END warning, a p q k', 'a task in an undo that has its own on_failure(skip) is skipped');

-- what an undo may have in it: a try of its own, whose catch undoes in it; its notes are forgotten with it
-- play_deeper(NODE, NAME…): names that are bound in an undo are in a scope of their own
create function play_deeper(p_node jsonb, variadic p_names text[]) returns jsonb
language plpgsql as $$
begin
    for k in 1 .. cardinality(p_names) loop
        p_node := replace(p_node::text, format('"%s": 0', p_names[k]), format('"%s": 1', p_names[k]))::jsonb;
    end loop;
    return p_node;
end;
$$;
select play_install('deep', jsonb_build_array(play_try(play_seq(
    play_undo(play_task('t.Do', 'a'),
              play_deeper(play_seq(play_try(play_seq(play_done('p'), play_task('t.Do', 'q')), play_task('t.Do', 'r', '{"x": ["get", ["get", ["var", "e"], "cause"], "message"]}')), play_done('s')),
                          'e', 'p', 's')),
    play_done('b'), play_task('t.Do', 'c')), play_task('t.Do', 'k'))));
select wf.start('deep') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_ok(:i, 'b'), play_take(:driver), play_fail(play_id(:i, 'c'), 'first'), play_take(:driver), play_ok(:i, 'un_b');
select play_take(:driver), play_ok(:i, 'p'), play_take(:driver), play_fail(play_id(:i, 'q'), 'second');
select is(concat_ws(' ', play_state(:i, 'un_p'), play_state(:i, 'r')), 'INIT', 'a catch in an undo undoes what was noted in its body');
select is_empty('select * from wf.fsck()', 'all is well in an undo in an undo');
select play_take(:driver), play_ok(:i, 'un_p');
select is((select input -> 'x' from wf.process where id = play_id(:i, 'r')), '"first"', 'the error that led to the undo is the cause of one in it');
select play_take(:driver), play_ok(:i, 'r'), play_take(:driver);
select is(play_notes(:i), null, 'nothing is noted outside when an undo has noted something');
select play_ok(:i, 's'), play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'END success, a b un_b p un_p r s k', 'tasks of an ended undo are not undone');
select is_empty('select * from wf.undo_note', 'no note is left of an ended undo');
select is_empty('select * from wf.fsck()', 'all is well');

-- an error leaves an undo by on_failure(fail) in it
select play_install('leaves', jsonb_build_array(play_try(play_seq(play_done('o'),
    play_undo(play_task('t.Do', 'a'), play_seq(play_par(play_task('t.Do', 'p', '{}', '{"on_failure": "fail"}'), play_task('t.Do', 'q')))), play_task('t.Do', 'c')), play_task('t.Do', 'k'))));
select wf.start('leaves') as i \gset
select play_take(:driver), play_ok(:i, 'o'), play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_fail(play_id(:i, 'c')), play_take(:driver), play_fail(play_id(:i, 'p'));
select is(concat_ws(' ', play_end(:i), play_state(:i, 'undo'), play_state(:i, 'q'), play_state(:i, 'un_o')), 'ABORTING ABORTING ABORT_REQUESTED', 'on_failure(fail) in an undo ends the instance, and what else is in it');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_fail(play_id(:i, 'q'));
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'ABORTED error, o a', 'no task is undone after on_failure(fail) in an undo');
select is_empty('select * from wf.fsck()', 'all is well');

-- suspended
select wf.start('plain') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_ok(:i, 'b'), play_take(:driver), play_fail(play_id(:i, 'c'));
select wf.suspend(play_target(:i));
select is(play_take(:driver), 0::bigint, 'an undo of a suspended instance is not handed out');
select is_empty('select * from wf.fsck()', 'all is well while it is suspended');
select from wf.abort(play_target(:i));
select play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'ABORTED aborted, a b un_b', 'an abort lets it go on');
select wf.start('plain') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_ok(:i, 'b');
select from wf.suspend(play_target(:i)) a, wf.abort(play_target(:i), null, true) b;
select is_empty('select * from wf.fsck()', 'all is well when one statement suspends and aborts');
select play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'ABORTED aborted, a b un_b un_a', 'everything is undone then');
select wf.start('clean') as i \gset
select play_take(:driver), play_ok(:i, 'a'), play_take(:driver), play_ok(:i, 'b');
select from wf.suspend(play_target(:i)) a, wf.abort(play_target(:i), null, true) b;
select play_on(:driver);
select is(concat_ws(', ', play_end(:i), play_story(:i)), 'ABORTED aborted, a b f un_f un_b un_a', 'a finally begins in the abort of a suspended instance, too');
select is_empty('select * from wf.fsck()', 'all is well');

-- the driver of an undo is lost
select wf.start('plain') as i \gset
select play_take(:driver), play_ok(:i, 'a');
select wf.abort(play_target(:i), null, true);
select play_driver('lost') as lost \gset
select play_take(:lost), wf.leave(:lost), play_later('2 min');
select wf.tick();
select is(concat_ws(' ', play_state(:i, 'un_a'), play_end(:i)), 'FAILED ABORTING', 'an undo that may have been done waits for a person when its driver is lost');
select wf.ignore(play_target(:i, 'un_a'));
select is(play_end(:i), 'ABORTED aborted', 'an undo whose driver was lost can be ignored');
select is_empty('select * from wf.fsck()', 'all is well');

-- more than a transaction undoes, notes or forgets
select play_driver('another') as driver \gset
create function play_work() returns int language plpgsql as $$
declare
    v_most int := 0;
    v_before bigint;
begin
    loop
        v_before := (select count(*) from wf.process);
        exit when wf.work() is null and not exists (select from wf.work w where w.due_at <= wf.now());
        v_most := greatest(v_most, (select count(*) from wf.process) - v_before);
    end loop;
    return v_most;
end;
$$;
select play_install('many', jsonb_build_array(play_try(play_seq(
    jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'x', 'in', '["range", 1, 1300]'::jsonb, 'body', play_undo(play_seq(play_let('l')), play_let('un_l'))), play_task('t.Do', 'c')), play_task('t.Do', 'k'))));
select wf.start('many') as i \gset
select play_work();
select is((select count(*) from wf.undo_note where instance_id = :i), 1300::bigint, 'thirteen hundred elements are noted');
select play_take(:driver), play_fail(play_id(:i, 'c'));
select cmp_ok((select count(*) from wf.process where instance_id = :i and kind = 'undo'), '<', 500::bigint, 'a transaction begins no more than about a thousand processes');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select cmp_ok(play_work(), '<', 1500, 'later transactions begin no more than about a thousand processes either');
select play_on(:driver);
select is(concat_ws(' ', play_end(:i), (select count(*) from wf.process where instance_id = :i and kind = 'undo' and state = 'END')), 'END success 1300', 'in the end all are undone');
select is_empty('select * from wf.undo_note', 'no note is left after a thousand undos');
select is_empty('select * from wf.fsck()', 'all is well');
-- a block that stands for more than a thousand
select play_install('stands', jsonb_build_array(play_try(play_seq(
    play_undo(play_seq(jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'x', 'in', '["range", 1, 1200]'::jsonb, 'body', play_undo(play_seq(play_let('l')), play_let('un_l')))), play_task('t.Do', 'un_block')),
    play_task('t.Do', 'c')), play_task('t.Do', 'k'))));
select wf.start('stands') as i \gset
do $$ begin while play_state((select max(id) from wf.instance), 'c') is null loop perform wf.work(); end loop; end; $$;
select cmp_ok((select count(*) from wf.undo_note where instance_id = :i), '>', 200::bigint, 'notes that a block stands for are not forgotten at once');
select play_take(:driver);
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_fail(play_id(:i, 'c'));
select is((select count(*) from wf.process where instance_id = :i and kind = 'undo'), 1::bigint, 'only the block is undone');
select play_on(:driver), play_work();
select is(concat_ws(' ', play_end(:i), (select count(*) from wf.process where instance_id = :i and kind = 'undo')), 'END success 1', 'only the block has been undone at the end');
select is_empty('select * from wf.undo_note', 'no note is left of a block');
select is_empty('select * from wf.fsck()', 'all is well');
-- and an instance that ends with more
select play_install('ends', jsonb_build_array(jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'x', 'in', '["range", 1, 1200]'::jsonb, 'body', play_undo(play_seq(play_let('l')), play_let('un_l')))));
select wf.start('ends') as i \gset
select play_work();
select is(play_end(:i), 'END success', 'an instance ends');
select is_empty('select * from wf.undo_note', 'all notes of a large ended instance are deleted in portions');
select is_empty('select * from wf.fsck()', 'all is well');
-- another round of a block in which more was noted than one transaction deletes
select play_install('rounds', jsonb_build_array(play_try(play_seq(
    play_seq(jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'x', 'in', '["range", 1, 1200]'::jsonb, 'body', play_undo(play_seq(play_let('l')), play_let('un_l'))), play_task('t.Do', 'b'))
        || '{"policies": {"retry": {"attempts": 2}}}', play_task('t.Do', 'c')), play_task('t.Do', 'k'))));
select wf.start('rounds') as i \gset
select play_work(), play_take(:driver);
select play_fail(play_id(:i, 'b'));
select is((select count(*) from wf.undo_note t where t.instance_id = :i and exists (select from wf._to_undo(:i, play_id(:i, 'try'), null) x where x.process_id = t.process_id)), 0::bigint, 'notes of a former round do not count');
select play_work(), play_take(:driver);
select play_work(), play_take(:driver);
select play_ok(:i, 'b'), play_take(:driver);
select play_fail(play_id(:i, 'c'));
select play_work(), play_on(:driver), play_work();
select is(concat_ws(' ', play_end(:i), (select count(*) from wf.process where instance_id = :i and kind = 'undo')), 'END success 1200', 'notes of the next round are undone');
select is_empty('select * from wf.undo_note', 'no note is left after both rounds');
select is_empty('select * from wf.fsck()', 'all is well');

-- what install refuses
create function play_refuses(p_steps jsonb, p_message text) returns text
language sql as $$ select throws_ok(format('select play_install(%L, %L)', 'refused', p_steps), 'WF005', 'workflows[0].' || p_message, p_message); $$;
select play_refuses(jsonb_build_array(play_undo(play_task('t.Do', 'a'), '{"kind": "return", "line": 1}')), 'steps[0].undo.body: return cannot stand inside par, dag, race, forall, finally or undo');
select play_refuses(jsonb_build_array(play_undo(play_task('t.Do', 'a'), '{"kind": "checkpoint", "line": 1}')), 'steps[0].undo.body: checkpoint cannot stand inside par, dag, race, forall, finally or undo');
select play_refuses(jsonb_build_array(play_undo(play_task('t.Do', 'a'), '{"kind": "call", "line": 1, "workflow": "w", "args": {}, "steps": []}')), 'steps[0].undo.body: a call cannot be the body of a undo');
select play_refuses(jsonb_build_array(play_task('t.Do', 'a') || '{"undo": 7}'), 'steps[0].undo: must be an object');
select play_refuses(jsonb_build_array(play_task('t.Do', 'a') || '{"undo": {"kind": "undo", "line": 1}}'), 'steps[0].undo.body: is missing');
select play_refuses(jsonb_build_array(play_undo(play_par(play_task('t.Do', 'a')), play_task('t.Do', 'u'))), 'steps[0].undo: unknown key');
select play_refuses(jsonb_build_array(play_undo(play_task('t.Do', 'a'), play_task('t.Do', 'u')), play_task('t.Do', 'b', '{"x": ["var", "u"]}')), 'steps[1].reads.u: no scope at this depth binds u');
select play_refuses(jsonb_build_array(play_done('a') #- '{undo,body,reads}'), 'steps[0].undo.body: reads lacks a');
select play_refuses('[{"kind": "undo", "line": 1, "body": {"kind": "seq", "line": 1, "steps": []}}]', 'steps[0].kind: is not a kind of node');

-- each session has a stock of numbers of its own: what is inside may have the smaller number
select play_install('numbers', jsonb_build_array(play_try(play_seq(play_done('a'), play_done('b'), play_task('t.Do', 'c')), play_let('x'))));
select setval('wf.process_id', 2000000);
discard sequences;
select wf.start('numbers') as i \gset
select setval('wf.process_id', 1000000);
discard sequences;
select play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"value": "a"}'), play_take(:driver), play_report(play_id(:i, 'b'), 'response', '{"value": "b"}');
select play_take(:driver), play_fail(play_id(:i, 'c'));
select ok((select min(p.id) < (select q.id from wf.process q where q.instance_id = :i and q.kind = 'try') from wf.process p where p.instance_id = :i), 'a process in the try has a smaller number than the try');
select play_on(:driver);
select is(play_story(:i) || ' ' || play_end(:i), 'a b un_b un_a END success', 'a task with a smaller number is undone, too');
select is_empty('select * from wf.fsck()', 'the rows agree with each other');

select * from finish();
rollback;
