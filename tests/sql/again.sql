-- again.sql - the policy retry of a block, a call and a workflow: another round, with
-- everything in it anew.
begin;
\ir helper/play.sql
select no_plan();

-- block(RETRY, STEPS…): a block with that policy
create function block(p_retry jsonb, variadic p_steps jsonb[]) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'seq', 'line', 3, 'steps', to_jsonb(p_steps), 'policies', jsonb_build_object('retry', p_retry)); $$;
-- caught(BODY, NAME, BODY): a try that takes every error
create function caught(p_body jsonb, p_name text, p_catch jsonb) returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'try', 'line', 2, 'body', p_body, 'catches',
                              jsonb_build_array(jsonb_build_object('kind', 'catch', 'line', 4, 'name', p_name, 'body', p_catch)));
$$;
create function finally(p_body jsonb, p_finally jsonb) returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'try', 'line', 2, 'body', p_body, 'finally', jsonb_build_object('kind', 'finally', 'line', 4, 'body', p_finally));
$$;
create function note(p_name text, p_value jsonb, p_reads jsonb default '{}') returns jsonb
language sql as $$ select jsonb_strip_nulls(jsonb_build_object('kind', 'let', 'line', 6, 'as', p_name, 'reads', nullif(p_reads, '{}'))) || jsonb_build_object('value', p_value); $$;
create function states(p_instance bigint) returns text
language sql as $$ select string_agg(coalesce(p.bind, p.kind) || ' ' || p.state || case when p.attempt > 1 then ' ' || p.attempt else '' end, ', ' order by p.id) from wf.process p where p.instance_id = p_instance; $$;
-- story(INSTANCE, NAME): its moves, with their reasons and when another round begins
create function story(p_instance bigint, p_name text) returns text
language sql as $$
    select string_agg(concat_ws(' ', e.event, e.state, e.reason, substr(e.detail ->> 'due_at', 12, 8)), ', ' order by e.seq)
      from wf.event e where e.instance_id = p_instance and e.process_id = play_id(p_instance, p_name);
$$;
create function outcome(p_instance bigint) returns text
language sql as $$ select concat_ws(' ', i.state, i.result, i.output, i.error ->> 'kind') from wf.instance i where i.id = p_instance; $$;
create function target(p_instance bigint, p_name text default null) returns jsonb
language sql as $$
    select case when p_name is null then jsonb_build_object('instance', p_instance)
                else jsonb_build_object('process', play_id(p_instance, p_name)) end;
$$;
create function later(p_driver bigint, p_interval interval) returns void
language plpgsql as $$
declare
    v_end timestamptz := wf.now() + p_interval;
begin
    while wf.now() < v_end loop
        perform play_later(least(interval '20 s', v_end - wf.now())), wf.heartbeat(p_driver);
    end loop;
end;
$$;
-- fail(DRIVER, INSTANCE, NAME [, KIND]): takes what is ready, and reports a failure; how many it took
create function fail(p_driver bigint, p_instance bigint, p_name text, p_kind text default 'http') returns bigint
language plpgsql as $$
declare
    v_count bigint := play_take(p_driver);
begin
    perform play_report(play_id(p_instance, p_name), 'error', jsonb_build_object('kind', p_kind, 'message', 'it broke')::text);
    return v_count;
end;
$$;
select set_config('wf.now', '2030-01-01 00:00:00+00', true);
select play_driver() as driver \gset

-- S27: a block is done again as a whole; its budget is its own
select play_install('block', jsonb_build_array(
    block('{"attempts": 3, "delay": "PT10S", "backoff": 2}', play_task('t.Do', 'a', '{"x": 1}'), play_par(play_task('t.Do', 'b'), play_task('t.Do', 'c'), play_task('t.Job', 'd'), play_task('t.Sleep', 'e', '{"duration": "PT1H"}'))),
    play_task('t.Do', 'z')));
select wf.start('block') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"value": 1}'), play_take(:driver), play_report(play_id(:i, 'd'), 'ack'), play_report(play_id(:i, 'd'), 'response', '{"id": 1}'),
       play_fail(play_id(:i, 'b'));
select is(states(:i), 'call ACTIVE, seq ACTIVE, a END, par ABORTING, b RAISED, c ABORT_REQUESTED, d ABORT_REQUESTED, e ABORTED', 'S27: a block with a retry takes the error: what else runs in it is stopped');
select matches((select detail from wf.explain(:i, play_id(:i, 'par')) where reason = 'teardown'), '^it is torn down, since the retry in line 3 has taken an error of process \d+ \(http: it broke\); it waits for ', 'explain says why');
select is_empty('select * from wf.failed', 'no person is needed');
select is_empty('select * from wf.fsck()', 'the workspace is sound while it is torn down');
select later(:driver, '4 s'), play_fail(play_id(:i, 'c')), play_take(:driver), play_report(play_id(:i, 'd'), 'response', '{}'), play_take(:driver);
select is(play_state(:i, 'seq'), 'ACTIVE', 'a block waits until its tasks outside are released');
select play_report(play_id(:i, 'd'), 'response', '{}');
select is(states(:i), 'call ACTIVE, seq INIT 2, a END, par ABORTED, b RAISED, c ABORTED, d ABORTED, e ABORTED', 'a block waits for its next round when nothing runs in it');
select is_empty('select * from wf.teardown', 'nothing is torn down any more');
select results_eq(format('select reason, detail from wf.explain(%s, %s)', :i, play_id(:i, 'seq')),
    $$values ('retry', 'waits for its next round, the 2nd of 3, at 2030-01-01 00:00:10+00, after http error: it broke')$$, 'S25: the delay counts from the failure; explain says which round is waited for, until when and why');
select is((select note from wf.tree(:i) where label = 'seq'), 'waits for its next round, the 2nd of 3, at 2030-01-01 00:00:10+00, after http error: it broke', 'the tree says which round is waited for, until when and why');
select is((select retry_at from wf.process_v where process_id = play_id(:i, 'seq')), '2030-01-01 00:00:10+00', 'the view of processes says when the next round begins');
select is_empty('select * from wf.stuck()', 'a block that waits for its next round is not stuck');
select is(wf.progress(:i), 0.00, 'steps that have to be done again do not count as progress');
select is_empty('select * from wf.fsck()', 'the workspace is sound while it waits');
select is(play_take(:driver), 0::bigint, 'nothing is handed out meanwhile');
select later(:driver, '6 s');
select is(play_take(:driver), 1::bigint, 'when its time has come it begins again');
select is(states(:i), 'call ACTIVE, seq ACTIVE 2, a END, par ABORTED, b RAISED, c ABORTED, d ABORTED, e ABORTED, a START_REQUESTED', 'B26: with its first step');
select is((select value from wf.binding where instance_id = :i and name = 'a'), null, 'B26: the names of the former round are not seen');
select is((select error from wf.process where id = play_id(:i, 'seq')), null, 'the error of the former round is forgotten');
select play_report(play_id(:i, 'a'), 'response', '{"value": 2}'), fail(:driver, :i, 'c'), play_report(play_id(:i, 'b'), 'error', '{}'), play_report(play_id(:i, 'd'), 'error', '{}');
select is((select detail from wf.explain(:i, play_id(:i, 'seq'))), 'waits for its next round, the 3rd of 3, at 2030-01-01 00:00:30+00, after http error: it broke', 'S25: the second delay is twice as long');
select later(:driver, '20 s'), play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"value": 3}'), fail(:driver, :i, 'b', 'exit');
select is(concat_ws(' ', play_state(:i, 'b'), play_state(:i, 'c'), play_state(:i, 'seq')), 'FAILED START_REQUESTED ACTIVE', 'S27: after the last round the error waits for an operator where it is, and what runs goes on');
select is(story(:i, 'seq'), 'retry INIT 00:00:10, due ACTIVE, retry INIT 00:00:30, due ACTIVE', 'the history has each round, with its time');
select is((select string_agg(concat_ws(' ', e.event, e.reason), ', ' order by e.seq) from wf.event e join wf.process p on p.instance_id = e.instance_id and p.id = e.process_id where e.instance_id = :i and p.bind = 'b' and p.state = 'RAISED' and e.event = 'raise'),
    'raise tried again by the retry in line 3', 'the history says why the errors were handed on');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- what an operator does with a process inside
select wf.retry(target(:i, 'b'));
select is(fail(:driver, :i, 'b') || ' ' || play_state(:i, 'b'), '1 FAILED', 'D23: a retry of the task inside is one of the task, the block has no round left');
select results_eq(format($$select answer from wf.ignore(%L)$$, target(:i, 'b')), $$values ('done')$$, 'an ignored task goes on');
select play_report(play_id(:i, 'c'), 'response', '{"value": 1}'), play_report(play_id(:i, 'd'), 'ack'), play_report(play_id(:i, 'd'), 'response', '{"id": 1}'), later(:driver, '1 h'), play_on(:driver), play_on(:driver);
select is(outcome(:i), 'END warning', 'the last round ends the block, with a warning');
select is_empty('select * from wf.fsck()', 'the workspace is sound at the end');
select is((select count(*) from wf.process_v where instance_id = :i and name = 't.Do as a'), 3::bigint, 'the rounds are all there to be looked at');
select is((select string_agg(process_id::text, ',') from wf.tree(:i, 100)), (select string_agg(process_id::text, ',') from wf.tree(:i)), 'page by page, too');

-- S27: nested budgets multiply
select play_install('nested', jsonb_build_array(block('{"attempts": 2}', block('{"attempts": 3}', play_task('t.Do', 'a', '{}', '{"retry": {"attempts": 2}}')))));
select wf.start('nested') as i \gset
create function count_runs(p_driver bigint, p_instance bigint, p_name text) returns bigint
language plpgsql as $$
declare
    v_all bigint := 0;
begin
    while fail(p_driver, p_instance, p_name) = 1 loop
        v_all := v_all + 1;
    end loop;
    return v_all;
end;
$$;
select is(count_runs(:driver, :i, 'a'), 12::bigint, 'S27: two rounds of three rounds of two attempts are twelve');
select is(play_state(:i, 'a'), 'FAILED', 'S27: a task is FAILED after the last round of the outermost block');
select results_eq(format('select attempt from wf.process where instance_id = %s and kind = ''seq'' order by id', :i), 'values (2), (3), (3)', 'S27: each round of the outer block has a new inner one');
select is((select error ->> 'message' from wf.process where id = play_id(:i, 'a')), 'it broke', 'S27: with the last error');
select is_empty('select * from wf.fsck()', 'S27: the workspace is sound');

-- which errors
create function tried(p_driver bigint, p_retry jsonb, p_kind text, p_type text default 't.Do') returns text
language plpgsql as $$
declare
    v_instance bigint;
begin
    perform play_install('kind', jsonb_build_array(block(p_retry, play_task(p_type, 'a'))));
    v_instance := wf.start('kind');
    perform fail(p_driver, v_instance, 'a', p_kind);
    return play_state(v_instance, 'seq') || ' ' || play_state(v_instance, 'a');
end;
$$;
select is(tried(:driver, '{"attempts": 2}', k), e, 'retry takes ' || k || ': ' || e)
  from (values ('http', 'INIT RAISED'), ('exit', 'INIT RAISED'), ('timeout', 'INIT RAISED'), ('mine', 'INIT RAISED'),
               ('input', 'ACTIVE FAILED'), ('output', 'ACTIVE FAILED'), ('cancelled', 'ACTIVE FAILED'), ('lost', 'ACTIVE FAILED'), ('engine', 'ACTIVE FAILED')) t (k, e);
select is(tried(:driver, '{"attempts": 2, "on": ["list", "input", "output", "cancelled", "lost"]}', k), e, 'with on: ' || k || ': ' || e)
  from (values ('http', 'ACTIVE FAILED'), ('input', 'INIT RAISED'), ('output', 'INIT RAISED'), ('cancelled', 'INIT RAISED'), ('lost', 'INIT RAISED'), ('engine', 'ACTIVE FAILED')) t (k, e);
select is(tried(:driver, '{"attempts": 1}', 'http'), 'ACTIVE FAILED', 'B27: one attempt is the first');
update play_type set spec = spec || '{"policies": {"idempotent": true}}' where name = 't.Do';
select is(tried(:driver, '{"attempts": 2}', 'lost'), 'INIT RAISED', 'a lost round that may be repeated is tried again');
update play_type set spec = spec - 'policies' where name = 't.Do';
select is(tried(:driver, '{"attempts": 2, "when": ["eq", ["get", ["var", "error"], "kind"], "http"]}', k), e, 'when sees the error: ' || k)
  from (values ('http', 'INIT RAISED'), ('exit', 'ACTIVE FAILED')) t (k, e);
select is(tried(:driver, '{"attempts": 2, "when": ["if", ["var", "error"], true, false]}', 'http'), 'ACTIVE FAILED', 'a condition that cannot be evaluated counts as no');
select is((select detail ->> 'kind' || ' ' || (detail ->> 'line') from wf.event where event = 'undecided' order by seq desc limit 1), 'input 3', 'the history notes a condition that cannot be evaluated');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- who is asked first: the nearest around the failure
select play_install('inside', jsonb_build_array(block('{"attempts": 2}', caught(play_task('t.Do', 'a'), 'e', play_task('t.Do', 'k')))));
select wf.start('inside') as i \gset
select fail(:driver, :i, 'a');
select is(states(:i), 'call ACTIVE, seq ACTIVE, try ACTIVE, a RAISED, catch ACTIVE, k INIT', 'B23: a catch inside comes before the retry around it');
select fail(:driver, :i, 'k');
select is(play_state(:i, 'seq') || ' ' || (select error #>> '{cause,kind}' from wf.process where id = play_id(:i, 'seq')), 'INIT http', 'B24: an error of the catch is the block''s, with the first as its cause');
select play_take(:driver);
select is((select value from wf.binding where instance_id = :i and name = 'e'), null, 'the next round knows nothing of the error that was caught');
select play_report(play_id(:i, 'a'), 'response', '{"value": 1}');
select is(outcome(:i), 'END success', 'an error that was handled in a later round leaves no warning');
select play_install('outside', jsonb_build_array(caught(block('{"attempts": 2}', play_task('t.Do', 'a')), 'e', play_task('t.Do', 'k', '{"x": ["get", ["var", "e"], "attempt"]}'))));
select wf.start('outside') as i \gset
select fail(:driver, :i, 'a'), fail(:driver, :i, 'a');
select is(states(:i), 'call ACTIVE, try ACTIVE, seq ABORTED 2, a RAISED, a RAISED, catch ACTIVE, k INIT', 'a catch around it takes the error of the last round');
select play_on(:driver);
select is(outcome(:i), 'END success', 'a caught error of the last round lets the instance end with success');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- finally: inside it runs at the end of each round, around it at the end of all
select play_install('finally', jsonb_build_array(finally(block('{"attempts": 2}', finally(play_task('t.Do', 'a'), play_task('t.Do', 'in'))), play_task('t.Do', 'out'))));
select wf.start('finally') as i \gset
select fail(:driver, :i, 'a');
select is(states(:i), 'call ACTIVE, try ACTIVE, seq ACTIVE, try ABORTING, a RAISED, finally ACTIVE, in INIT', 'a finally inside runs before the next round');
select is_empty('select * from wf.fsck()', 'the workspace is sound meanwhile');
select play_on(:driver), play_on(:driver);
select is(outcome(:i) || ' ' || (select string_agg(coalesce(p.bind, ''), ' ' order by p.id) from wf.process p where p.instance_id = :i and p.bind in ('in', 'out')), 'END success in in out', 'an inner finally runs after each round, an outer one once at the end');
-- an error of the finally takes the place of the first one
select wf.start('finally') as i \gset
select fail(:driver, :i, 'a'), fail(:driver, :i, 'in', 'exit');
select is(play_state(:i, 'seq') || ' ' || (select concat_ws(' ', error ->> 'kind', error #>> '{cause,kind}', attempt) from wf.process where instance_id = :i and kind = 'seq'), 'INIT exit http 2', 'an error of a finally takes the place of the first, and counts no other round');
select play_install('finally', jsonb_build_array(block('{"attempts": 2}', finally(play_task('t.Do', 'a'), play_task('t.Do', 'in')))));
select wf.start('finally') as i \gset
select fail(:driver, :i, 'a'), fail(:driver, :i, 'in', 'output');
select is(states(:i), 'call ACTIVE, seq ACTIVE, try ABORTING, a RAISED, finally ACTIVE, in FAILED', 'an error of the finally that the policy does not accept waits for an operator');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select wf.ignore(target(:i, 'in'));
select is(play_state(:i, 'seq'), 'INIT', 'ignored, the next round follows');
select wf.halt(target(:i));
select is(outcome(:i), 'ABORTED aborted', 'halt ends what waits for its next round');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- what runs together: a race, elements that are tolerated
select play_install('race', jsonb_build_array(jsonb_build_object('kind', 'race', 'line', 2, 'branches', jsonb_build_array(
    block('{"attempts": 2, "delay": "PT1H"}', play_task('t.Do', 'a')), play_task('t.Do', 'b')))));
select wf.start('race') as i \gset
select fail(:driver, :i, 'a');
select is(states(:i), 'call ACTIVE, race ACTIVE, seq INIT 2, b START_REQUESTED, a RAISED', 'a branch that waits for its next round has not left the race');
select play_report(play_id(:i, 'b'), 'response', '{"value": 1}');
select is(states(:i), 'call END, race END, seq ABORTED 2, b END, a RAISED', 'a branch that waits for its next round loses when another branch wins');
select wf.start('race') as i \gset
select fail(:driver, :i, 'a'), play_fail(play_id(:i, 'b')), later(:driver, '1 h'), fail(:driver, :i, 'a');
select is(concat_ws(' ', play_state(:i, 'a'), play_state(:i, 'b'), play_state(:i, 'race')), 'FAILED RAISED ACTIVE', 'after its last round its error is the one of the race');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select play_install('tolerate', jsonb_build_array(play_forall('x', '[1, 2, 3]', block('{"attempts": 2}', play_task('t.Do', 'a', '{"x": ["var", "x"]}') || '{"reads": {"x": 1}}')) || '{"tolerate": 1}'));
select wf.start('tolerate') as i \gset
select play_take(:driver), play_fail_all(:driver, :i), play_take(:driver);
select play_fail(play_id(:i, 'a'));
select play_report(p.id, 'response', '{"value": 1}') from wf.process p where p.instance_id = :i and p.bind = 'a' and p.state = 'START_REQUESTED';
select is(outcome(:i), 'END warning', 'an element is tolerated when its rounds are over');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select play_install('around', jsonb_build_array(block('{"attempts": 2}', play_forall('x', '[1, 2, 3, 4]', play_task('t.Do', 'a', '{"x": ["var", "x"]}') || '{"reads": {"x": 1}}')
    || '{"tolerate": 1, "max": 2, "collect": [{"as": "all", "value": ["var", "a"]}], "collect_reads": {"a": 1}}')));
select wf.start('around') as i \gset
select play_take(:driver), play_fail_all(:driver, :i), play_take(:driver), play_fail_all(:driver, :i);
select is(play_state(:i, 'seq'), 'INIT', 'a forall that fails is done again by the block around it');
select is_empty(format('select * from wf.given_up where instance_id = %s', :i), 'nothing is left of its elements');
select play_on(:driver);
select is(outcome(:i) || ' ' || (select value from wf.binding where instance_id = :i and name = 'all'), 'END success [1, 2, 3, 4]', 'with all of its elements; what was tolerated in the round before does not count');
select is((select processes from wf.extent where instance_id = :i), 4 + 4 + 1::bigint, 'the bound on processes has grown by one round');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- warnings: the round that is given up has none, the one that ends well has
select play_install('warned', jsonb_build_array(block('{"attempts": 2}', play_task('t.Do', 'a'), play_task('t.Do', 'b'))));
select wf.start('warned') as i \gset
select fail(:driver, :i, 'a', 'input');
select wf.ignore(target(:i, 'a'));
select fail(:driver, :i, 'b');
select is((select warned from wf.instance where id = :i), false, 'an ignored failure of a round that is given up is forgotten');
select play_on(:driver);
select is(outcome(:i), 'END success', 'an ignored failure of an earlier round leaves no warning');
select wf.start('warned') as i \gset
select fail(:driver, :i, 'a'), fail(:driver, :i, 'a', 'input');
select wf.ignore(target(:i, 'a'));
select play_on(:driver);
select is(outcome(:i), 'END warning', 'an ignored failure of the last round makes a warning');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- loops begin at their first round, dags with their first steps, ifs choose anew
select play_install('anew', jsonb_build_array(
    note('n', '["const", [1]]'),
    block('{"attempts": 3}',
          jsonb_build_object('kind', 'while', 'line', 4, 'name', 's', 'start', 0, 'while', '["lt", ["var", "s"], 2]'::jsonb, 'max', 9, 'round_reads', '{"s": 1}'::jsonb,
                             'body', play_task('t.Do', 'w', '{"x": ["var", "s"]}') || '{"reads": {"s": 1}}', 'yield', '{"as": "total", "value": ["add", ["var", "s"], 1]}'::jsonb),
          jsonb_build_object('kind', 'dag', 'line', 5, 'branches', jsonb_build_array(play_task('t.Do', 'p', '{"x": 1}'), play_task('t.Do', 'q', '{"x": ["var", "p"]}')), 'after', '[[], [1]]'::jsonb))));
select wf.start('anew') as i \gset
select play_take(:driver), play_report(play_id(:i, 'w'), 'response', '{"value": 0}'), fail(:driver, :i, 'w'), play_take(:driver), play_report(play_id(:i, 'w'), 'response', '{"value": 0}'), play_take(:driver),
       play_report(play_id(:i, 'w'), 'response', '{"value": 0}'), play_take(:driver), play_report(play_id(:i, 'p'), 'response', '{"value": 7}'), fail(:driver, :i, 'q');
select is(play_state(:i, 'seq') || ' ' || (select attempt from wf.process where instance_id = :i and kind = 'seq'), 'INIT 3', 'a loop and a dag have failed once each');
select is_empty('select * from wf.dag_step', 'nothing is left of the dag');
select play_take(:driver);
select is((select string_agg(name || coalesce(' ' || value::text, ''), ', ' order by name) from wf.binding b where b.instance_id = :i and b.name in ('n', 'p', 'q', 'total')), 'n [1], p, total', 'the names in it have no value, those around it are kept');
select play_report(play_id(:i, 'w'), 'response', '{"value": 0}'), play_on(:driver);
select is(outcome(:i) || ' ' || (select string_agg(index::text, ' ' order by p.id) from wf.process p where p.instance_id = :i and p.bind = 'w'), 'END success 0 1 0 1 0 1', 'each round of the block begins with the first round of the loop');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- a call: what it was given is kept, what is in it is evaluated anew; its own arguments
select wf.install('', jsonb_build_object('format', 1, 'file', 'f', 'workflows', jsonb_build_array(
    jsonb_build_object('name', 'calls', 'line', 1, 'params', '[{"name": "n", "type": "int"}]'::jsonb, 'steps', jsonb_build_array(
        play_task('t.Do', 'a', '{"x": 5}'),
        jsonb_build_object('kind', 'call', 'line', 2, 'workflow', 'inner', 'args', '{"x": ["add", ["var", "a"], 1]}'::jsonb, 'as', 'r', 'reads', '{"a": 0, "n": 0}'::jsonb,
                           'policies', '{"retry": {"attempts": ["var", "n"], "on": ["list", "http", "input"], "when": ["ge", ["var", "n"], 2]}}'::jsonb, 'steps', jsonb_build_array(
            note('y', '["add", ["var", "x"], 1]', '{"x": 0}'), play_task('t.Do', 'b', '{"x": ["var", "y"]}'),
            '{"kind": "return", "line": 3, "value": ["var", "b"], "reads": {"b": 0}}'::jsonb)),
        '{"kind": "return", "line": 4, "value": ["var", "r"], "reads": {"r": 0}}'::jsonb))),
    'task_types', (select jsonb_object_agg(name, spec) from play_type where name = 't.Do')));
select wf.start('calls', '{"n": 3}') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"value": 5}'), fail(:driver, :i, 'b'), play_on(:driver);
select is(outcome(:i), 'END success 7', 'a call is done again, and its return counts');
select wf.start('calls', '{"n": 1}') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"value": 5}'), fail(:driver, :i, 'b');
select is(play_state(:i, 'b'), 'FAILED', 'the policy of a call reads names around the call');
select wf.start('calls', '{"n": 2}') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"value": "text"}');
select is((select string_agg(e.event || ' ' || e.state, ', ' order by e.seq) from wf.event e where e.instance_id = :i and e.process_id = (select p.id from wf.process p where p.instance_id = :i and p.kind = 'call' and p.parent_id is not null)),
    'fail FAILED', 'arguments that cannot be evaluated leave nothing known of the policy either');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select wf.install('', jsonb_build_object('format', 1, 'file', 'f', 'workflows', jsonb_build_array(
    jsonb_build_object('name', 'calls', 'line', 1, 'params', '[]'::jsonb, 'steps', jsonb_build_array(
        play_task('t.Do', 'a', '{"x": 5}'),
        jsonb_build_object('kind', 'call', 'line', 2, 'workflow', 'inner', 'args', '{"x": ["add", ["var", "a"], 1]}'::jsonb, 'reads', '{"a": 0}'::jsonb,
                           'policies', '{"retry": {"attempts": 2, "delay": "PT1M", "on": "input"}}'::jsonb, 'steps', jsonb_build_array(play_task('t.Do', 'b', '{"x": ["var", "x"]}')))))),
    'task_types', (select jsonb_object_agg(name, spec) from play_type where name = 't.Do')));
select wf.start('calls') as i \gset
create function inner_call(p_instance bigint) returns bigint
language sql as $$ select p.id from wf.process p where p.instance_id = p_instance and p.kind = 'call' and p.parent_id is not null; $$;
select play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"value": "text"}');
select is((select string_agg(e.event || ' ' || e.state, ', ' order by e.seq) from wf.event e where e.instance_id = :i and e.process_id = inner_call(:i)), 'fail FAILED, retry INIT', 'a call that could not be entered waits for its next round');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select later(:driver, '1 min'), play_take(:driver);
select is((select string_agg(e.event || ' ' || e.state, ', ' order by e.seq) from wf.event e where e.instance_id = :i and e.process_id = inner_call(:i)), 'fail FAILED, retry INIT, due ACTIVE, fail FAILED', 'the arguments of a call are evaluated again in each round');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- a workflow
create function whole(p_name text, p_policies jsonb, variadic p_steps jsonb[]) returns void
language sql as $$
    select wf.install('// ' || p_name, jsonb_build_object('format', 1, 'file', 'f', 'workflows', jsonb_build_array(
        jsonb_build_object('name', p_name, 'line', 1, 'params', '[{"name": "n", "type": "int"}]'::jsonb, 'policies', p_policies, 'steps', to_jsonb(p_steps))),
        'task_types', (select jsonb_object_agg(name, spec) from play_type where name = 't.Do')));
$$;
select whole('whole', '{"retry": {"attempts": ["var", "n"], "delay": "PT1M", "when": ["gt", ["var", "n"], 1]}, "timeout": {"deadline": "PT2M30S"}}', play_task('t.Do', 'a'), play_task('t.Do', 'b'));
select wf.start('whole', '{"n": 3}') as i \gset
select fail(:driver, :i, 'a', 'input');
select wf.ignore(target(:i, 'a'));
select fail(:driver, :i, 'b');
select is(states(:i), 'call INIT 2, a END, b RAISED', 'B26: a workflow waits for its next round as a whole');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select is((select string_agg(reason || ' ' || coalesce(substr(detail, 1, 31), ''), ', ') from wf.explain(:i) where reason <> 'note'), 'retry waits for its next round, the 2', 'explain of the instance says so');
select later(:driver, '1 min'), play_on(:driver);
select is(outcome(:i), 'END success', 'a workflow ends with its last round');
select wf.start('whole', '{"n": 3}') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{}'), fail(:driver, :i, 'b', 'input');
select wf.ignore(target(:i, 'b'));
select is(outcome(:i), 'END warning', 'a warning of its last round is the instance''s');
select wf.start('whole', '{"n": 1}') as i \gset
select fail(:driver, :i, 'a');
select is(play_state(:i, 'a'), 'FAILED', 'the policy of a workflow reads its parameters');
select wf.start('whole', '{"n": 0}') as i \gset
select is(play_state(:i, 'call') || ' ' || (select error ->> 'message' from wf.process where id = play_id(:i, 'call')), 'FAILED attempts of retry is an int from 1 to 999999999, or -1, not 0', 'values that do not fit let it fail at once');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- S30: the deadline of a block is around all of its rounds and delays, and is never retried by it
select wf.start('whole', '{"n": 9}') as i \gset
select fail(:driver, :i, 'a'), later(:driver, '1 min'), fail(:driver, :i, 'a'), later(:driver, '1 min'), fail(:driver, :i, 'a');
select is(states(:i), 'call INIT 4, a RAISED, a RAISED, a RAISED', 'S30: the deadline runs on during the delays');
select later(:driver, '30 s'), wf.tick();
select is(states(:i) || ' ' || (select error ->> 'kind' from wf.process where id = play_id(:i, 'call')), 'call FAILED 4, a RAISED, a RAISED, a RAISED timeout', 'S30: while it waits it fails at once when its deadline is over');
select is_empty('select * from wf.timer', 'S30: a block whose deadline is over waits for no round');
select is_empty('select * from wf.fsck()', 'S30: the workspace is sound');
select wf.retry(target(:i, 'call'));
select is(states(:i), 'call ACTIVE 5, a RAISED, a RAISED, a RAISED, a INIT', 'S30: an operator''s retry begins another round, with a budget and a deadline anew');
select is((select retry_from from wf.process where id = play_id(:i, 'call')), 5, 'S30: a fresh budget');
select later(:driver, '3 min'), wf.tick();
select is(play_state(:i, 'call'), 'FAILED', 'S30: a deadline is not taken while the block is torn down');
select wf.raise(target(:i));
select is(outcome(:i), 'ABORTED error timeout', 'S30: raised, it ends the instance');
select is_empty('select * from wf.fsck()', 'S30: the workspace is sound');
select play_install('limits', jsonb_build_array(block('{"attempts": 2}', jsonb_build_object('kind', 'seq', 'line', 4, 'policies', '{"timeout": {"deadline": "PT10S"}}'::jsonb, 'steps', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"queue": "none"}'))))));
select wf.start('limits') as i \gset
select later(:driver, '10 s'), wf.tick();
select is(states(:i), 'call ACTIVE, seq INIT 2, seq RAISED, a ABORTED', 'S31: a block around it takes an inner deadline as any error');
select play_take(:driver), later(:driver, '10 s'), wf.tick();
select is((select string_agg(state, ' ' order by id) from wf.process where instance_id = :i and kind = 'seq'), 'ACTIVE RAISED FAILED', 'S31: each round of the outer block has a new deadline');
select is_empty('select * from wf.fsck()', 'S31: the workspace is sound');

-- what an operator does with a block that waits
select play_install('waits', jsonb_build_array(block('{"attempts": 2, "delay": "PT1H"}', play_task('t.Do', 'a')), play_task('t.Do', 'z')));
create function waiting(p_driver bigint) returns bigint
language plpgsql as $$
declare
    v_instance bigint := wf.start('waits');
begin
    perform fail(p_driver, v_instance, 'a');
    return v_instance;
end;
$$;
select waiting(:driver) as i \gset
select is((select string_agg(v || ' ' || a || ' ' || d, ', ') from (select 'ignore', answer, detail from wf.ignore(target(:i, 'seq')) union all select 'resolve', answer, detail from wf.resolve(target(:i, 'seq'), '1')
    union all select 'raise', answer, detail from wf.raise(target(:i, 'seq'))) t (v, a, d)),
    'ignore refused INIT: only FAILED can be ignored, resolve refused INIT: only FAILED can be resolved, raise refused INIT: only FAILED can be raised', 'a block that waits, as a task that waits, is not ignored, resolved or raised');
select results_eq(format($$select answer, detail from wf.preview('retry', %L)$$, target(:i, 'seq')), $$values ('done', null)$$, 'a preview knows what retry does');
select results_eq(format($$select answer, detail from wf.retry(%L)$$, target(:i, 'seq')), $$values ('done', 'INIT -> ACTIVE')$$, 'S16: retry begins the next round now');
select is(states(:i) || ' ' || (select count(*) from wf.timer), 'call ACTIVE, seq ACTIVE 2, a RAISED, a INIT 0', 'nothing waits after a retry by an operator');
select is(fail(:driver, :i, 'a') || ' ' || play_state(:i, 'seq'), '1 INIT', 'B29: with a fresh budget, as for a task');
select results_eq(format($$select answer, detail from wf.cancel(%L, 'no use')$$, target(:i, 'seq')), $$values ('done', 'INIT -> FAILED')$$, 'S16: cancel ends the waiting');
select is((select error ->> 'kind' from wf.process where id = play_id(:i, 'seq')) || ' ' || (select count(*) from wf.timer), 'cancelled 0', 'with an error of kind cancelled, and no other round follows');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select results_eq(format($$select answer, detail from wf.ignore(%L)$$, target(:i, 'seq')), $$values ('done', 'FAILED -> END')$$, 'a block that was cancelled while it waited can be ignored');
select play_on(:driver);
select is(outcome(:i), 'END warning', 'the step after an ignored block begins');
select waiting(:driver) as i \gset
select results_eq(format($$select detail from wf.cancel(%L)$$, target(:i)), $$values ('INIT -> FAILED')$$, 'cancel of an instance finds it');
select wf.resolve(target(:i, 'seq'), '{"n": 1}');
select is(play_state(:i, 'seq') || ' ' || play_state(:i, 'z'), 'END INIT', 'a block that was cancelled while it waited can be resolved');
select waiting(:driver) as i \gset
select wf.cancel(target(:i, 'seq'));
select wf.raise(target(:i, 'seq'));
select is(outcome(:i), 'ABORTED error cancelled', 'a block that was cancelled while it waited can be raised');
select waiting(:driver) as i \gset
select wf.cancel(target(:i, 'seq'));
select wf.retry(target(:i, 'seq'));
select is(states(:i), 'call ACTIVE, seq ACTIVE 3, a RAISED, a INIT', 'a block that was cancelled while it waited can be retried');
select waiting(:driver) as i \gset
select wf.suspend(target(:i));
select later(:driver, '1 h'), play_take(:driver);
select is(states(:i) || ' ' || (select reason from wf.parked where instance_id = :i), 'call ACTIVE, seq ACTIVE 2, a RAISED, a INIT suspended', 'suspension stops no clock: the round begins, and what is in it is held');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select wf.resume(target(:i));
select play_on(:driver);
select is(outcome(:i), 'END success', 'until it is resumed');
select waiting(:driver) as i \gset
select wf.abort(target(:i));
select is(states(:i) || ' ' || outcome(:i), 'call ABORTED, seq ABORTED 2, a RAISED ABORTED aborted', 'abort ends it at once');
select play_install('beside', jsonb_build_array(block('{"attempts": 2, "delay": "PT1H"}', play_par(play_task('t.Do', 'a'), play_task('t.Do', 'b')))));
select wf.start('beside') as i \gset
select fail(:driver, :i, 'a'), play_fail(play_id(:i, 'b'));
select results_eq(format('select answer, detail from wf.abort(%L)', target(:i)), $$values ('done', 'RUNNING -> ABORTED')$$, 'abort answers ABORTED although work for the former teardown is left');
select waiting(:driver) as i \gset
select wf.halt(target(:i));
select is(outcome(:i), 'ABORTED aborted', 'halt ends an instance that waits for a round at once');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select is((select count(*) from wf.timer t join wf.instance i on i.id = t.instance_id where i.state = 'ABORTED'), 0::bigint, 'nothing waits any more');

-- an operator's raise of what is inside looks for the block's retry again
select play_install('raised', jsonb_build_array(block('{"attempts": 2}', play_par(play_task('t.Do', 'a', '{}', '{"on_failure": "pause"}'), play_task('t.Do', 'b')))));
select wf.start('raised') as i \gset
select fail(:driver, :i, 'a');
select is(states(:i), 'call ACTIVE, seq ACTIVE, par ACTIVE, a FAILED, b START_REQUESTED', 'on_failure(pause) of the task itself comes before the retry around it');
select wf.raise(target(:i, 'a'));
select is(states(:i), 'call ACTIVE, seq ACTIVE, par ABORTING, a RAISED, b ABORT_REQUESTED', 'raised, the retry takes it');
select play_fail(play_id(:i, 'b'));
select is(play_state(:i, 'seq'), 'INIT', 'the next round follows a raise');
select play_install('skipped', jsonb_build_array(block('{"attempts": 2}', play_task('t.Do', 'a')) || '{"policies": {"retry": {"attempts": 2}, "on_failure": "skip"}}'));
select wf.start('skipped') as i \gset
select fail(:driver, :i, 'a'), fail(:driver, :i, 'a');
select is(outcome(:i), 'END warning', 'on_failure of the block decides when its rounds are over');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- the drawing and the simulation
select play_install('drawn', jsonb_build_array(block('{"attempts": 3, "delay": "PT1M"}', play_par(play_task('t.Do', 'a'), play_task('t.Do', 'b')), play_task('t.Do', 'c'))));
select wf.start('drawn') as i \gset
select fail(:driver, :i, 'a'), play_fail(play_id(:i, 'b'));
select is((select string_agg(label || ' ' || coalesce(state, '-'), ', ' order by node_id) from wf.graph(p_instance => :i)), 'drawn ACTIVE, seq INIT, par ABORTED, t.Do as a RAISED, t.Do as b ABORTED, t.Do as c -', 'the drawing shows what failed while the block waits');
select later(:driver, '1 min'), play_take(:driver);
select is((select string_agg(label || ' ' || coalesce(state, '-') || coalesce(' ' || processes, ''), ', ' order by node_id) from wf.graph(p_instance => :i)),
    'drawn ACTIVE 1, seq ACTIVE 1, par ACTIVE 1, t.Do as a START_REQUESTED 1, t.Do as b START_REQUESTED 1, t.Do as c -', 'the drawing shows the present round after it has begun');
select results_eq(format('select label, attempt, elapsed_s from wf.graph(p_instance => %s) where state is not null order by node_id', :i),
                  $$values ('drawn', 1, 60.000), ('seq', 2, 60.000), ('par', 1, 0.000), ('t.Do as a', 1, 0.000), ('t.Do as b', 1, 0.000)$$, 'the drawing shows attempts and seconds');
create function simulated(p_script jsonb) returns text
language sql as $$
    select string_agg(concat_ws(' ', s.label, s.event, s.state), ', ' order by s.k)
      from (select x.*, row_number() over () as k from wf.simulate('drawn', '{}', p_script) x) s
     where s.label = 'seq' or s.event = 'result';
$$;
select is(simulated('[{"task": "a", "round": 1, "outcome": {"error": {"kind": "http", "message": "no"}}}, {"task": "c", "round": 2, "outcome": {"error": {"kind": "http", "message": "no"}}}]'), 'seq retry INIT, seq due ACTIVE, seq retry INIT, seq due ACTIVE, seq end END, drawn result END', 'a simulation plays the rounds that its script names');
select throws_ok($$select * from wf.simulate('drawn', '{}', '[{"round": "x"}]')$$, 'WF002', 'rule 1 of the script: round must be a number from 1', 'simulate says which rounds its script may name');

-- what is skipped with all that reads it, in a later round
select play_install('cascade', jsonb_build_array(block('{"attempts": 2, "on": "http"}', play_task('t.Do', 'a', '{"x": 1}', '{"on_failure": "skip_all"}'), play_task('t.Do', 'b', '{"x": ["var", "a"]}'), play_task('t.Do', 'c'))));
select wf.start('cascade') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"value": 1}'), play_take(:driver), play_report(play_id(:i, 'b'), 'response', '{"value": 1}'), fail(:driver, :i, 'c');
select is(play_state(:i, 'seq'), 'INIT', 'a block is tried again');
select fail(:driver, :i, 'a', 'input');
select is((select string_agg(bind || ' ' || event, ', ' order by id) from wf.process p where p.instance_id = :i and p.bind in ('a', 'b', 'c')), 'a success, b success, c raise, a skip, b cascade, c enable', 'a step is skipped in round two when it reads a name skipped there, although round one bound the name');
select play_on(:driver);
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- groups: a place is taken anew
select play_install('group', jsonb_build_array(block('{"attempts": 2}', play_par(play_task('t.Do', 'a', '{}', '{"group": {"name": "again", "max": 2}}'), play_task('t.Do', 'b', '{}', '{"group": {"name": "again", "max": 2}}')))));
select wf.start('group') as i \gset
select play_take(:driver), play_take(:driver), play_fail(play_id(:i, 'a')), play_fail(play_id(:i, 'b'));
select is((select count(*) from wf.slot) || ' ' || play_state(:i, 'seq'), '0 INIT', 'places of a group are given back');
select play_take(:driver), play_take(:driver);
select is((select count(*) from wf.slot), 2::bigint, 'the next round takes places of the group again');
select play_on(:driver), play_report(play_id(:i, 'a'), 'response', '{}'), play_report(play_id(:i, 'b'), 'response', '{}');
select is(outcome(:i), 'END success', 'by the next round');

-- S28: many rounds: nothing grows but the history, and no delay wraps
select play_install('many', jsonb_build_array(block('{"attempts": -1, "delay": "PT0.001S", "backoff": 2, "max_delay": "PT10S", "on": "input"}',
    note('x', '1'), play_forall('e', '[1, 2]', play_seq(note('y', '["var", "e"]', '{"e": 1}'))), jsonb_build_object('kind', 'if', 'line', 5, 'condition', '["var", "none"]'::jsonb, 'reads', '{"none": 0}'::jsonb, 'then', note('z', '1')))),
    '[{"name": "none", "type": {"optional": "bool"}}]');
select wf.start('many', '{"none": null}') as i \gset
create function standing(p_instance bigint) returns text
language sql as $$
    select concat_ws(' ', (select count(*) from wf.timer where instance_id = p_instance), (select count(*) from wf.teardown where instance_id = p_instance), (select count(*) from wf.failed where instance_id = p_instance),
                     (select count(*) from wf.ready where instance_id = p_instance), (select count(*) from wf.parked where instance_id = p_instance), (select count(*) from wf.work where instance_id = p_instance),
                     (select count(*) from wf.pending where instance_id = p_instance), (select count(*) from wf.forall_item where instance_id = p_instance), (select count(*) from wf.forall_result where instance_id = p_instance),
                     (select count(*) from wf.extent where instance_id = p_instance), (select live from wf.extent where instance_id = p_instance));
$$;
-- rounds(INSTANCE, COUNT): lets so many rounds go by; how many processes they had
create function rounds(p_instance bigint, p_count int) returns bigint
language plpgsql as $$
declare
    v_before bigint := (select count(*) from wf.process where instance_id = p_instance);
    v_block bigint := play_id(p_instance, 'seq');
begin
    v_block := (select min(id) from wf.process where instance_id = p_instance and kind = 'seq');
    for k in 1 .. p_count loop
        perform play_later(interval '10 s'), wf._fire_timers(array[p_instance], array[v_block], wf.now());
    end loop;
    return (select count(*) from wf.process where instance_id = p_instance) - v_before;
end;
$$;
-- work(): how many rows this transaction has read and written so far
create function work() returns bigint
language sql as $$ select sum(seq_tup_read + idx_tup_fetch + n_tup_ins + n_tup_upd + n_tup_del)::bigint from pg_stat_xact_user_tables where schemaname = 'wf'; $$;
create function work_of_ten(p_instance bigint) returns bigint
language plpgsql as $$
declare
    v_block bigint := (select min(id) from wf.process where instance_id = p_instance and kind = 'seq');
    v_before bigint := work();
begin
    for k in 1 .. 10 loop
        perform play_later(interval '10 s'), wf._fire_timers(array[p_instance], array[v_block], wf.now());
    end loop;
    return work() - v_before;
end;
$$;
select rounds(:i, 20);
select standing(:i) as standing, work_of_ten(:i) as work \gset
select is(rounds(:i, 200), 200 * 7::bigint, 'S28: each round has as many processes as the one before');
-- a table that was just analyzed may be read in another way
select cmp_ok(work_of_ten(:i), '<=', :work::bigint * 101 / 100, 'S28: reads and writes as many rows as the one before');
select is(standing(:i), :'standing', 'S28: each round leaves as many rows of running work as the one before');
select is((select due_at - wf.now() from wf.timer where instance_id = :i), interval '10 s', 'S28: the delay is the longest by then');
select is_empty('select * from wf.fsck()', 'S28: the workspace is sound');

select * from finish();
rollback;
