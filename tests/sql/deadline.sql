-- deadline.sql - the deadline of a block, a call and a workflow: what runs inside is
-- stopped first, then the block has failed, and its error looks for a handler.
begin;
\ir helper/play.sql
select no_plan();

create function block(p_deadline text, variadic p_steps jsonb[]) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'seq', 'line', 1, 'steps', to_jsonb(p_steps), 'policies', jsonb_build_object('timeout', jsonb_build_object('deadline', p_deadline))); $$;
create function states(p_instance bigint) returns text
language sql as $$ select string_agg(coalesce(p.bind, p.kind) || ' ' || p.state, ', ' order by p.id) from wf.process p where p.instance_id = p_instance; $$;
create function failure(p_instance bigint, p_name text) returns text
language sql as $$ select p.state || coalesce(': ' || (p.error ->> 'kind') || ': ' || (p.error ->> 'message'), '') from wf.process p where p.instance_id = p_instance and p.id = play_id(p_instance, p_name); $$;
create function story(p_instance bigint, p_name text) returns text
language sql as $$ select string_agg(e.event || ' ' || e.state, ', ' order by e.seq) from wf.event e where e.instance_id = p_instance and e.process_id = play_id(p_instance, p_name); $$;
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
select set_config('wf.now', '2030-01-01 00:00:00+00', true);
select play_driver() as driver \gset

-- what waits, what runs, what has failed and what has begun outside
select play_install('block', jsonb_build_array(block('PT10S', play_par(
    play_task('t.Do', 'a'), play_task('t.Do', 'b', '{}', '{"queue": "other"}'), play_task('t.Do', 'c', '{}', '{"retry": {"attempts": 3, "delay": "PT1H"}}'), play_task('t.Do', 'd'),
    play_task('t.Sleep', 'e', '{"duration": "PT1H"}'), play_task('t.Job', 'f'), play_forall('x', '[1, 2, 3]', play_task('t.Do', 'g', '{}', '{"group": {"name": "one", "max": 1}}')))), play_task('t.Do', 'z')));
select wf.start('block') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'c')), play_fail(play_id(:i, 'd')), play_report(play_id(:i, 'f'), 'ack'), play_report(play_id(:i, 'f'), 'response', '{"id": 1}');
select later(:driver, '9.999 s'), wf.tick();
select is(states(:i), 'call ACTIVE, seq ACTIVE, par ACTIVE, a START_REQUESTED, b INIT, c INIT, d FAILED, e WAITING, f EXECUTING, forall ACTIVE, g START_REQUESTED, g INIT, g INIT', 'until its deadline a block goes on');
select results_eq(format($$select detail from wf.explain(%s, %s) where reason = 'note'$$, :i, play_id(:i, 'seq')), $$values ('it times out at 2030-01-01 00:00:10+00 (deadline)')$$, 'explain says when that is');
select later(:driver, '1 ms'), wf.tick();
select is(states(:i), 'call ACTIVE, seq ABORTING, par ABORTING, a ABORT_REQUESTED, b ABORTED, c ABORTED, d ABORTED, e ABORTED, f ABORT_REQUESTED, forall ABORTING, g ABORT_REQUESTED, g ABORTED, g ABORTED',
    'everything inside the block is stopped at its deadline');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select matches((select detail from wf.explain(:i, play_id(:i, 'seq')) where reason = 'teardown'), '^it is torn down, since its deadline is over; it waits for ', 'explain says why, and what for');
select is((select result from wf.instance where id = :i), null, 'the instance goes on while the block is stopped');
select play_report(play_id(:i, 'a'), 'response', '{"value": 1}'), play_report(p.id, 'error', '{"kind": "cancelled"}') from wf.process p where p.bind = 'g' and p.state = 'ABORT_REQUESTED';
select play_take(:driver), play_report(play_id(:i, 'f'), 'response', '{}'), play_take(:driver);
select is(play_state(:i, 'seq'), 'ABORTING', 'the block waits until its tasks outside are released');
select play_report(play_id(:i, 'f'), 'response', '{}');
select is(failure(:i, 'seq'), 'FAILED: timeout: seq timed out after 10000 ms (deadline)', 'the block has failed with timeout after the release');
select is(story(:i, 'seq'), 'timeout ABORTING, fail FAILED', 'the history of the block tells of its timeout');
select is(states(:i), 'call ACTIVE, seq FAILED, par ABORTED, a ABORTED, b ABORTED, c ABORTED, d ABORTED, e ABORTED, f ABORTED, forall ABORTED, g ABORTED, g ABORTED, g ABORTED', 'nothing that comes after it has begun');
select is_empty('select * from wf.teardown', 'nothing is torn down any more');
select is_empty('select * from wf.time_limit', 'no time limit is left');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- what an operator may do with it
select wf.ignore(format('{"process": %s}', play_id(:i, 'seq'))::jsonb), play_on(:driver);
select is((select state || ' ' || result from wf.instance where id = :i), 'END warning', 'ignored: what comes after it begins');
create function expired(p_driver bigint, p_workflow text) returns bigint
language plpgsql as $$
declare
    v_instance bigint := wf.start(p_workflow);
begin
    perform play_take(p_driver), later(p_driver, '10 s'), wf.tick();
    perform play_report(p.id, 'error', '{"kind": "cancelled"}') from wf.process p where p.instance_id = v_instance and p.state = 'ABORT_REQUESTED' order by p.id;
    return v_instance;
end;
$$;
select play_install('small', jsonb_build_array(block('PT10S', play_task('t.Do', 'a'), '{"kind": "if", "line": 1, "condition": ["eq", ["var", "a"], 1], "reads": {"a": 0}, "then": {"kind": "let", "line": 1, "as": "seen", "value": 1}}', play_task('t.Do', 'b'))));
select expired(:driver, 'small') as i \gset
select is(states(:i), 'call ACTIVE, seq FAILED, a ABORTED', 'a step that was on its way does not end it');
select wf.retry(format('{"process": %s}', play_id(:i, 'seq'))::jsonb);
select is(states(:i), 'call ACTIVE, seq ACTIVE, a ABORTED, a INIT', 'retried: it begins once more');
select is((select due_at - wf.now() from wf.time_limit where instance_id = :i), interval '10 s', 'with another deadline');
select play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"value": 1}'), play_take(:driver), later(:driver, '10 s'), wf.tick(), play_report(play_id(:i, 'b'), 'error', '{"kind": "cancelled"}');
select is((select string_agg(name || ' ' || value, ', ' order by name) from wf.binding where instance_id = :i), 'a 1, seen 1', 'a step of the block has bound names');
select wf.retry(format('{"process": %s}', play_id(:i, 'seq'))::jsonb);
select is((select string_agg(name || ' ' || coalesce(value::text, 'null'), ', ' order by name) from wf.binding where instance_id = :i), 'a null, seen null', 'names of the block are null in its next round, until they are bound again');
select is((select string_agg(name || ' ' || value, ', ' order by name) from wf.binding_past where instance_id = :i), 'a 1, seen 1', 'former values of the block are kept');
select play_on(:driver);
select is((select state || ' ' || result from wf.instance where id = :i), 'END success', 'a retried block may end in time');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select expired(:driver, 'small') as i \gset
select wf.raise(format('{"process": %s}', play_id(:i, 'seq'))::jsonb);
select is((select state || ' ' || result || ' ' || (error ->> 'kind') from wf.instance where id = :i), 'ABORTED error timeout', 'raised: the instance ends with the error');
select expired(:driver, 'small') as i \gset
select wf.abort(format('{"instance": %s}', :i)::jsonb);
select is((select state || ' ' || result from wf.instance where id = :i), 'ABORTED aborted', 'aborted');

-- it is caught
select play_install('caught', jsonb_build_array(jsonb_build_object('kind', 'try', 'line', 1, 'body', block('PT10S', play_task('t.Do', 'a')),
    'catches', jsonb_build_array('{"kind": "catch", "line": 1, "name": "e", "when": ["eq", ["get", ["var", "e"], "kind"], "timeout"], "reads": {"e": 0},
                                   "body": {"kind": "let", "line": 1, "as": "late", "value": ["get", ["get", ["var", "e"], "detail"], "limit"], "reads": {"e": 0}}}'::jsonb))));
select expired(:driver, 'caught') as i \gset
select is((select state || ' ' || result from wf.instance where id = :i), 'END success', 'a catch around the block takes its error');
select is((select value from wf.binding where instance_id = :i and name = 'late'), '"deadline"', 'the catch sees which limit was over');
select play_install('inside', jsonb_build_array(block('PT10S', jsonb_build_object('kind', 'try', 'line', 1, 'body', play_task('t.Do', 'a'),
    'catches', jsonb_build_array(jsonb_build_object('kind', 'catch', 'line', 1, 'name', 'e', 'body', play_task('t.Do', 'b')))))));
select expired(:driver, 'inside') as i \gset
select is(states(:i), 'call ACTIVE, seq FAILED, try ABORTED, a ABORTED', 'one inside does not: the deadline is no error of what is inside');
-- while a catch is on its way
select wf.start('inside') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a')), later(:driver, '10 s'), wf.tick();
select is(states(:i), 'call ACTIVE, seq FAILED, try ABORTED, a RAISED, catch ABORTED, b ABORTED', 'the deadline counts while a catch inside the block runs');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- blocks in blocks; tasks with limits of their own
select play_install('nested', jsonb_build_array(block('PT10S', play_par(block('PT10S', play_task('t.Do', 'a')), block('PT5S', play_task('t.Do', 'b')), play_task('t.Do', 'c', '{}', '{"timeout": {"runtime": "PT10S"}}')))));
select wf.start('nested') as i \gset
select play_take(:driver), later(:driver, '5 s'), wf.tick();
select is(states(:i), 'call ACTIVE, seq ACTIVE, par ACTIVE, seq ACTIVE, seq ABORTING, c START_REQUESTED, a START_REQUESTED, b ABORT_REQUESTED', 'an inner deadline stops only what is inside it');
select later(:driver, '5 s'), wf.tick();
select is((select count(*) from wf.teardown where instance_id = :i), 1::bigint, 'the outer one takes the place of those inside');
select play_report(play_id(:i, n), 'error', '{"kind": "cancelled"}') from unnest('{a,b,c}'::text[]) n;
select is(states(:i), 'call ACTIVE, seq FAILED, par ABORTED, seq ABORTED, seq ABORTED, c ABORTED, a ABORTED, b ABORTED', 'the outer block fails alone');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- a deadline beside a teardown and an abort
select play_install('beside', jsonb_build_array(jsonb_build_object('kind', 'try', 'line', 1, 'body', play_par(block('PT10S', play_task('t.Do', 'a')), play_task('t.Do', 'b')),
    'catches', jsonb_build_array(jsonb_build_object('kind', 'catch', 'line', 1, 'name', 'e', 'body', play_task('t.Do', 'c'))))));
select wf.start('beside') as i \gset
select play_take(:driver), later(:driver, '10 s'), wf.tick(), play_fail(play_id(:i, 'b'));
select is(states(:i), 'call ACTIVE, try ACTIVE, par ABORTING, seq ABORTING, b RAISED, a ABORT_REQUESTED', 'an error that is caught takes the place of a deadline that is over');
select play_report(play_id(:i, 'a'), 'error', '{"kind": "cancelled"}');
select is(states(:i), 'call ACTIVE, try ACTIVE, par ABORTED, seq ABORTED, b RAISED, a ABORTED, catch ACTIVE, c INIT', 'the catch begins once');
select wf.start('beside') as i \gset
select play_take(:driver), later(:driver, '5 s'), play_fail(play_id(:i, 'b')), later(:driver, '5 s'), wf.tick();
select is((select count(*) from wf.teardown where instance_id = :i and follows = 'failed'), 0::bigint, 'a deadline that passes below a teardown does not count');
select play_report(play_id(:i, 'a'), 'error', '{"kind": "cancelled"}');
select is(play_state(:i, 'c'), 'INIT', 'the catch begins although the deadline has passed');
select wf.start('small') as i \gset
select play_take(:driver), later(:driver, '10 s'), wf.tick(), wf.abort(format('{"instance": %s}', :i)::jsonb), play_report(play_id(:i, 'a'), 'error', '{"kind": "cancelled"}');
select is((select state || ' ' || result from wf.instance where id = :i), 'ABORTED aborted', 'an abort takes its place');
select wf.abort('{"global": true}'), play_report(p.id, 'error', '{"kind": "cancelled"}') from wf.process p where p.state = 'ABORT_REQUESTED';
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- a workflow, and a call
select wf.install('', jsonb_build_object('format', 1, 'file', 'whole.wf', 'task_types', (select jsonb_object_agg(name, spec) from play_type where name = 't.Do'),
    'workflows', jsonb_build_array(jsonb_build_object('name', 'whole', 'line', 1, 'params', '[{"name": "d", "type": "json"}]'::jsonb, 'policies', '{"timeout": {"deadline": ["var", "d"]}}'::jsonb,
        'steps', jsonb_build_array('{"kind": "call", "line": 1, "workflow": "part", "args": {"x": ["var", "d"]}, "reads": {"d": 0}, "policies": {"timeout": {"deadline": "PT1H"}}}'::jsonb
                                   || jsonb_build_object('steps', jsonb_build_array(play_task('t.Do', 'a', '{"x": ["var", "x"]}'))))))));
select wf.start('whole', '{"d": "PT10S"}') as i \gset
select results_eq(format('select extract(epoch from due_at - wf.now())::int from wf.time_limit where instance_id = %s order by 1', :i), 'values (10), (3600)', 'a workflow has a deadline, which may be computed from its parameters, and so has a call');
select play_take(:driver), later(:driver, '10 s'), wf.tick();
select is((select state from wf.instance where id = :i), 'RUNNING', 'while what is in it is stopped an instance is RUNNING');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select play_report(play_id(:i, 'a'), 'error', '{"kind": "cancelled"}');
select results_eq(format($$select kind, state, error ->> 'message' from wf.process where instance_id = %s and parent_id is null$$, :i), $$values ('call', 'FAILED', 'whole timed out after 10000 ms (deadline)')$$, 'the root of the instance has failed, and a person is needed');
select is((select string_agg(reason, ', ') from wf.stuck() where instance_id = :i), 'failed', 'stuck says so');
select wf.retry(format('{"instance": %s}', :i)::jsonb);
select is((select string_agg(name || ' ' || value, ', ' order by name, scope_id) from wf.binding where instance_id = :i and name in ('d', 'x')), 'd "PT10S", x "PT10S", x "PT10S"', 'retried: it begins once more, with its parameters');
select play_on(:driver);
select is((select state || ' ' || result from wf.instance where id = :i), 'END success', 'a retried workflow may end in time');
select wf.start('whole', '{"d": "soon"}') as i \gset
select results_eq(format($$select state, error ->> 'message' from wf.process where instance_id = %s$$, :i), $$values ('FAILED', 'deadline of timeout is a duration of more than 0, at most 36500 days, not "soon"')$$, 'a wrong deadline fails the workflow');
select wf.abort('{"global": true}');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- C17: Brooklyn cancels a workflow whose time is over, and runs none of its handlers; ours fails, and waits for an operator
create function naps(p_duration text, p_deadline text) returns bigint
language plpgsql as $$
begin
    perform wf.install('', jsonb_build_object('format', 1, 'file', 'naps.wf', 'task_types', (select jsonb_object_agg(name, spec) from play_type where name = 't.Sleep'),
        'workflows', jsonb_build_array(jsonb_build_object('name', 'naps', 'line', 1, 'params', '[]'::jsonb, 'policies', jsonb_build_object('timeout', jsonb_build_object('deadline', p_deadline)),
            'steps', jsonb_build_array(play_task('t.Sleep', 'a', jsonb_build_object('duration', p_duration)))))));
    return wf.start('naps');
end;
$$;
select naps('PT10S', 'PT1S') as i \gset
select later(:driver, '1 s'), wf.tick();
select is(failure(:i, 'call'), 'FAILED: timeout: naps timed out after 1000 ms (deadline)', 'C17: a workflow of 10 s with a limit of 1 s has failed after 1 s, of kind timeout');
select is((select count(*) from wf.process where instance_id = :i and state in ('INIT', 'WAITING', 'ACTIVE')) + (select count(*) from wf.timer where instance_id = :i), 0::bigint, 'C17: nothing in it runs any more');
select naps('PT1S', 'PT10S') as i \gset
select later(:driver, '1 s'), wf.tick();
select is((select result from wf.instance where id = :i), 'success', 'C17: a workflow of 1 s with a limit of 10 s ends well');

-- what install refuses
create function refused(p_node jsonb) returns text
language plpgsql as $$
begin
    perform play_install('refused', jsonb_build_array(p_node));
    return 'installed';
exception when others then
    return sqlerrm;
end;
$$;
select is(refused('{"kind": "seq", "line": 1, "steps": [], "policies": {"timeout": {"runtime": "PT5S", "deadline": "PT5S"}}}'), 'workflows[0].steps[0].policies.timeout.runtime: unknown key', 'a block has no runtime');
select is(refused('{"kind": "seq", "line": 1, "steps": [], "policies": {"timeout": {}}}'), 'workflows[0].steps[0].policies.timeout.deadline: is missing', 'a block takes no limit but a deadline');
select is(refused('{"kind": "seq", "line": 1, "steps": [], "policies": {"timeout": {"deadline": 5}}}'), 'workflows[0].steps[0].policies.timeout.deadline: must be a duration of more than 0, at most 36500 days', 'a deadline is a duration');
select is(refused('{"kind": "par", "line": 1, "branches": [{"kind": "let", "line": 1, "as": "x", "value": 1}], "policies": {"timeout": {"deadline": "PT5S"}}}'), 'workflows[0].steps[0].policies: unknown key', 'only groups of steps have one');

-- a block that is over at once, and a large one, which is stopped in portions
select play_install('empty', jsonb_build_array(block('PT5S', '{"kind": "let", "line": 1, "as": "x", "value": 1}')));
select wf.start('empty') as i \gset
select is((select state from wf.instance where id = :i), 'END', 'a block in which nothing waits has ended');
select is_empty('select * from wf.time_limit', 'a block in which nothing waits leaves no time limit');
-- two blocks, one in the other, whose time is over at the same moment; an error in a finally ends the instance as the outer one stops
select play_install('nested', jsonb_build_array(jsonb_build_object('kind', 'seq', 'line', 1, 'policies', '{"on_failure": "fail"}'::jsonb, 'steps', jsonb_build_array(
    block('PT10S', block('PT10S', jsonb_build_object('kind', 'try', 'line', 1, 'body', play_task('t.Do', 'a'),
        'finally', '{"kind": "finally", "line": 1, "body": {"kind": "let", "line": 1, "as": "f", "value": ["add", ["const", "b"], 1]}}'::jsonb)))))));
select wf.start('nested') as i \gset
select later(:driver, '10 s'), wf.tick();
select is((select state || ' ' || result from wf.instance where id = :i), 'ABORTED error', 'tasks that end while the outer block stops let the instance end with the error');
select is_empty('select * from wf.teardown', 'the inner one is not torn down once more');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- a task in it whose own time is over at the same moment is part of what is stopped
create function both_at_once(p_driver bigint, p_policies jsonb) returns text
language plpgsql as $$
declare
    v_instance bigint;
begin
    perform play_install('both', jsonb_build_array(block('PT10S', play_task('t.Do', 'a', '{}', '{"timeout": {"wait": "PT10S"}}' || p_policies), play_task('t.Do', 'b')), play_task('t.Do', 'z')));
    v_instance := wf.start('both');
    perform later(p_driver, '10 s'), wf.tick();
    return states(v_instance) || coalesce(', ' || (select string_agg(f.detail, '; ') from wf.fsck() f), '');
end;
$$;
select is(both_at_once(:driver, t.p), 'call ACTIVE, seq FAILED, a ABORTED', format('its deadline comes before the limit of a task in it with %s', t.p))
  from unnest(array['{}', '{"on_failure": "skip"}', '{"on_failure": "fail"}', '{"retry": {"attempts": 3, "on": "timeout"}}']::jsonb[]) t (p);
select wf.abort('{"global": true}');
select play_install('large', jsonb_build_array(block('PT10S', play_forall('x', (select jsonb_agg(k) from generate_series(1, 2500) k), play_seq(play_task('t.Sleep', 'a', '{"duration": "PT1H"}'), play_task('t.Do', 'b'))))));
select wf.start('large') as i \gset
select wf.tick();
select later(:driver, '10 s'), wf.tick();
do $$ begin for k in 1 .. 20 loop exit when not exists (select from wf.teardown); perform wf.work(); end loop; end $$;
select is((select state from wf.process where instance_id = :i and parent_id = (select id from wf.process where instance_id = :i and parent_id is null)), 'FAILED', 'a large block is stopped in portions');
select is((select count(*) from wf.process where instance_id = :i and state not in ('ABORTED', 'FAILED', 'ACTIVE')), 0::bigint, 'all of it');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- two deadlines, one in the other, that are over together: the outer one counts, whichever was looked at first
create function around(p_inner jsonb) returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'seq', 'line', 1, 'steps', jsonb_build_array(play_task('t.Do', 'x'), p_inner),
                              'policies', '{"timeout": {"deadline": "PT10S"}, "retry": {"attempts": 3, "delay": "PT1S"}}'::jsonb);
$$;
create function fired(p_instance bigint) returns void
language sql as $$
    select set_config('wf.now', (wf.now() + interval '10 s')::text, true);
    select wf._time_out(array_agg(t.instance_id), array_agg(t.process_id), wf.now())
      from wf.time_limit t where t.instance_id = p_instance;
$$;
select play_install('both', jsonb_build_array(around(block('PT5S', play_task('t.Do', 'a')))));
select last_value as last from wf.process_id \gset
select setval('wf.process_id', :last + 10000) as last \gset
select wf.start('both') as i \gset
-- each session has a stock of numbers of its own: what is inside may have the smaller one
select setval('wf.process_id', :last - 5000);
select play_take(:driver), play_report(play_id(:i, 'x'), 'response', '{"value": 1}');
select is(states(:i), 'seq ACTIVE, a INIT, call ACTIVE, seq ACTIVE, x END', 'a block has a smaller number than the one around it');
select lives_ok(format('select fired(%s)', :i), 'both deadlines are over at once');
select is(states(:i), 'seq ABORTED, a ABORTED, call ACTIVE, seq FAILED, x END', 'the outer one has failed, and its retry did not take the error of the inner one');
select is_empty('select * from wf.teardown', 'nothing is torn down any more');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select setval('wf.process_id', :last + 10000);
select play_install('waiting', jsonb_build_array(around(
    jsonb_build_object('kind', 'seq', 'line', 1, 'steps', jsonb_build_array(play_task('t.Do', 'a')),
                       'policies', '{"timeout": {"deadline": "PT5S"}, "retry": {"attempts": 3, "delay": "PT1H"}}'::jsonb))));
select wf.start('waiting') as i \gset
select play_take(:driver), play_report(play_id(:i, 'x'), 'response', '{"value": 1}'), play_take(:driver), play_fail(play_id(:i, 'a'));
select is(states(:i), 'call ACTIVE, seq ACTIVE, x END, seq INIT, a RAISED', 'a block waits for its next round');
select lives_ok(format('select fired(%s)', :i), 'both deadlines are over at once');
select is(states(:i), 'call ACTIVE, seq FAILED, x END, seq ABORTED, a RAISED', 'the outer one has failed');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select play_install('between', jsonb_build_array(block('PT10S', jsonb_build_object('kind', 'try', 'line', 1, 'body',
    jsonb_build_object('kind', 'seq', 'line', 1, 'steps', jsonb_build_array(play_task('t.Do', 'a')),
                       'policies', '{"timeout": {"deadline": "PT5S"}, "retry": {"attempts": 3, "delay": "PT1H"}}'::jsonb),
    'catches', jsonb_build_array(jsonb_build_object('kind', 'catch', 'line', 2, 'name', 'e', 'body',
                                                    '{"kind": "let", "line": 3, "as": "y", "value": 1}'::jsonb)))), play_task('t.Do', 'z')));
select wf.start('between') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'));
select lives_ok(format('select fired(%s)', :i), 'both deadlines are over at once, and a catch between them would take the error of the inner one');
select is(states(:i), 'call ACTIVE, seq FAILED, try ABORTED, seq ABORTED, a RAISED', 'the outer one has failed');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

select finish();
rollback;
