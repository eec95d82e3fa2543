-- dag.sql - a dag: each step begins as soon as those that it comes after have ended.
begin;
\ir helper/play.sql
select no_plan();
select play_driver() as driver \gset

-- a dag of these branches; AFTER has for each of them the ordinals of those that it comes after
create function a_dag(p_after jsonb, variadic p_branches jsonb[]) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'dag', 'line', 1, 'after', p_after, 'branches', to_jsonb(p_branches)); $$;
-- a task t.Do that binds a name and reads others
create function reads(p_as text, variadic p_names text[] default '{}') returns jsonb
language sql as $$
    select play_task('t.Do', p_as, jsonb_build_object('x', coalesce((select jsonb_build_array('list') || jsonb_agg(jsonb_build_array('var', n)) from unnest(p_names) n), '1')));
$$;
-- the tasks of an instance that have begun and have not ended
create function under_way(p_instance bigint) returns text
language sql as $$
    select string_agg(p.bind, ' ' order by p.bind) from wf.process p where p.instance_id = p_instance and p.bind is not null and p.state not in ('END', 'ABORTED', 'RAISED');
$$;
create function end_task(p_driver bigint, p_instance bigint, p_name text) returns text
language sql as $$ select play_take(p_driver); select play_report(play_id(p_instance, p_name), 'response', '{"value": 1}'); $$;

-- T-D1: two issues, each triage -> update -> notify by the names that they read
select play_install('issues', jsonb_build_array(a_dag('[[], [1], [2], [], [4], [5]]',
    reads('triage4'), reads('update7', 'triage4'), reads('notify9', 'update7'), reads('triage13'), reads('update16', 'triage13'), reads('notify18', 'update16'))));
select wf.start('issues') as issues \gset
select is(under_way(:issues), 'triage13 triage4', 'T-D1 ready at first: 4 and 13');
select end_task(:driver, :issues, 'triage4');
select is(under_way(:issues), 'triage13 update7', 'T-D1 after 4 comes 7');
select end_task(:driver, :issues, 'update7');
select is(under_way(:issues), 'notify9 triage13', 'T-D1 after 7 comes 9');
select end_task(:driver, :issues, 'triage13');
select end_task(:driver, :issues, 'update16');
select is(under_way(:issues), 'notify18 notify9', 'T-D1 the other chain goes its own way');
select is_empty('select * from wf.fsck()', 'the rows agree with each other');
select end_task(:driver, :issues, 'notify18');
select is((select i.state from wf.instance i where i.id = :issues), 'RUNNING', 'T-D1 the flow is not done until the last one has ended');
select end_task(:driver, :issues, 'notify9');
select is((select i.state from wf.instance i where i.id = :issues), 'END', 'T-D1 then it is');
select wf.start('issues') as broken \gset
select play_take(:driver), play_fail(play_id(:broken, 'triage4'));
select is(under_way(:broken), 'triage13 triage4', 'T-D1 if 4 fails nothing from its chain begins');
select end_task(:driver, :broken, 'triage13');
select play_on(:driver);
select is((under_way(:broken), (select i.state from wf.instance i where i.id = :broken))::text, '(triage4,RUNNING)', 'T-D1 the flow is not done, 13 has ended with its chain');
select is_empty('select * from wf.fsck() where class = ''violation''', 'the rows agree with each other');

select is((select e.detail from wf.explain(:broken, play_id(:broken, 'dag')) e),
          format('waits for 1: %s t.Do as triage4 (FAILED); 2 to come: t.Do as update7 after t.Do as triage4, t.Do as notify9 after t.Do as update7', play_id(:broken, 'triage4')),
          'explain says what has not begun, and after what it comes');
select results_eq($$select g.label, g.after::text from wf.graph('issues') g where g.after is not null$$,
                  $$values ('t.Do as triage4', '{}'), ('t.Do as update7', '{3}'), ('t.Do as notify9', '{4}'), ('t.Do as triage13', '{}'), ('t.Do as update16', '{6}'), ('t.Do as notify18', '{7}')$$,
                  'graph says which steps come after which');

-- D8, P-D1: a true graph, no tree of sequences: what comes after a alone does not wait for b
select play_install('true', jsonb_build_array(a_dag('[[], [], [1], [1, 2], [2]]', reads('a'), reads('b'), reads('of_a', 'a'), reads('of_both', 'a', 'b'), reads('of_b', 'b'))));
select wf.start('true') as true \gset
select end_task(:driver, :true, 'a');
select is(under_way(:true), 'b of_a', 'D8 what reads a begins when a has ended, what reads a and b waits');
select end_task(:driver, :true, 'b');
select is(under_way(:true), 'of_a of_b of_both', 'D8 what reads both begins when both have ended');
select play_on(:driver);
select is((select b.value from wf.binding b where b.instance_id = :true and b.name = 'of_both'), '[1, 1]', 'D7 it reads what they gave');

-- the order of the source does not matter; a step is a whole process
select play_install('mixed', jsonb_build_array(
    a_dag('[[3], [1], []]', reads('last', 'r'), '{"kind": "let", "line": 1, "as": "got", "value": ["var", "last"], "reads": {"last": 0}}',
          play_seq(reads('q'), reads('r', 'q'))),
    '{"kind": "return", "line": 1, "value": ["list", ["var", "got"], ["var", "q"]], "reads": {"got": 0, "q": 0}}'::jsonb));
select wf.start('mixed') as mixed \gset
select is(under_way(:mixed), 'q', 'the first step of the source may run last');
select play_on(:driver);
select is((select i.output from wf.instance i where i.id = :mixed), '[[[1]], 1]', 'the names of all steps can be read after the dag');
select is_empty(format('select * from wf.dag_step where instance_id = %s', :mixed), 'nothing is left of the steps');

-- D9: what fails stops what depends on it; an operator has it go on
select wf.start('true') as failing \gset
select play_take(:driver), play_fail(play_id(:failing, 'a'));
select end_task(:driver, :failing, 'b');
select play_on(:driver);
select is(under_way(:failing), 'a', 'D9 a failure stops what comes after it, nothing else');
select play_on(:driver) from wf.retry(jsonb_build_object('instance', :failing));
select is((select (i.state, i.result)::text from wf.instance i where i.id = :failing), '(END,success)', 'D23 a retry goes on with the rest; what has succeeded does not run again');
select is((select count(*) from wf.process p where p.instance_id = :failing and p.bind is not null), 5::bigint, 'each step has run once');
select wf.start('true') as ignoring \gset
select play_take(:driver), play_fail(play_id(:ignoring, 'a'));
select end_task(:driver, :ignoring, 'b');
select play_on(:driver) from wf.ignore(jsonb_build_object('instance', :ignoring));
select is((select jsonb_object_agg(b.name, b.value) from wf.binding b where b.instance_id = :ignoring), '{"b": 1, "of_a": [null], "of_b": [1], "of_both": [null, 1]}', 'an ignored step counts as ended, and its name reads as null');

-- all that ends in one batch; nothing waits
select play_install('instant', jsonb_build_array(a_dag('[[], [], [1, 2], [3], [3], [4, 5]]',
    '{"kind": "let", "line": 1, "as": "a", "value": 1}', '{"kind": "let", "line": 1, "as": "b", "value": 2}',
    '{"kind": "let", "line": 1, "as": "c", "value": ["add", ["var", "a"], ["var", "b"]], "reads": {"a": 0, "b": 0}}',
    '{"kind": "seq", "line": 1, "steps": []}', '{"kind": "let", "line": 1, "as": "d", "value": ["add", ["var", "c"], 1], "reads": {"c": 0}}',
    '{"kind": "let", "line": 1, "as": "e", "value": ["add", ["var", "d"], 1], "reads": {"d": 0}}'),
    '{"kind": "return", "line": 1, "value": ["var", "e"], "reads": {"e": 0}}'::jsonb));
select wf.start('instant') as instant \gset
select is((select i.output from wf.instance i where i.id = :instant), '5', 'a dag in which nothing waits ends with its start');

-- an asynchronous task that ends in the same batch as a synchronous one, whose end is nested
select play_install('batch', jsonb_build_array(a_dag('[[], [], [1, 2], [1, 2]]', play_task('t.Job', 'a'), reads('b'), reads('c'), reads('d'))));
select wf.start('batch') as batch \gset
select play_take(:driver);
select wf.outcome(:driver, array_agg(r.instance_id), array_agg(r.process_id), array_agg(r.token), array_agg('ack'::text), array_agg(''::bytea))
  from play_request r where r.process_id = play_id(:batch, 'a');
select play_report(play_id(:batch, 'a'), 'response', '{"id": 1}'), play_later('10 s'), play_take(:driver);
select wf.outcome(:driver, array_agg(r.instance_id), array_agg(r.process_id), array_agg(r.token), array_agg('response'::text),
                  array_agg('{"state": "done", "value": 1}'::bytea order by r.process_id desc))
  from (select distinct on (r.process_id) r.* from play_request r where r.instance_id = :batch order by r.process_id, r.k desc) r;
select play_later('10 s'), play_on(:driver);
select is((select count(*) from wf.process p where p.instance_id = :batch), 6::bigint, 'each step begins once');
select is((select i.state from wf.instance i where i.id = :batch), 'END', 'the dag ends');

-- within a forall, a call, a catch; a step that ends by a handler around it
select play_install('nested', jsonb_build_array(play_forall('e', '[1, 2, 3]',
    a_dag('[[2], []]', jsonb_build_object('kind', 'call', 'line', 1, 'workflow', 'inner', 'args', '{"p": ["var", "v"]}'::jsonb, 'reads', '{"v": 1}'::jsonb,
                                           'steps', jsonb_build_array(a_dag('[[], [1]]', '{"kind": "let", "line": 1, "as": "x", "value": ["var", "p"], "reads": {"p": 0}}',
                                                                            '{"kind": "let", "line": 1, "as": "y", "value": ["var", "x"], "reads": {"x": 0}}'),
                                                                      '{"kind": "return", "line": 1, "value": ["var", "y"], "reads": {"y": 0}}'::jsonb), 'as', 'w'),
          play_task('t.Do', 'v', '{"x": ["var", "e"]}') || '{"reads": {"e": 1}}'))
    || '{"collect": [{"as": "all", "value": ["var", "w"]}], "collect_reads": {"w": 1}}',
    '{"kind": "return", "line": 1, "value": ["var", "all"], "reads": {"all": 0}}'::jsonb));
select wf.start('nested') as nested \gset
select play_on(:driver);
select is((select i.output from wf.instance i where i.id = :nested), '[1, 2, 3]', 'dags in a forall, and in a call in a dag');
select play_install('caught', jsonb_build_array(jsonb_build_object('kind', 'try', 'line', 1,
    'body', a_dag('[[], [], [1], [2, 3]]', reads('a'), reads('b'), reads('c'), reads('d')),
    'catches', jsonb_build_array(jsonb_build_object('kind', 'catch', 'line', 2, 'name', 'e', 'body', reads('f'))))));
select wf.start('caught') as caught \gset
select end_task(:driver, :caught, 'a');
select play_fail(play_id(:caught, 'b'));
select play_on(:driver);
select is((select string_agg(p.bind || ' ' || p.state, ', ' order by p.id) from wf.process p where p.instance_id = :caught and p.bind is not null),
          'a END, b RAISED, c ABORTED, f END', 'an error that is caught stops the dag; what has not begun never begins');
select is((select i.state from wf.instance i where i.id = :caught), 'END', 'the catch of a step ends the try');
select is_empty(format('select * from wf.dag_step where instance_id = %s', :caught), 'nothing is left of the steps');

-- the other handlers: on_failure, a race, a forall that tolerates, a deadline
create function on_failure(p_word text, p_task jsonb) returns jsonb
language sql as $$ select p_task || jsonb_build_object('policies', jsonb_build_object('on_failure', p_word)) $$;
create function states(p_instance bigint) returns text
language sql as $$ select string_agg(coalesce(p.bind, p.kind) || ' ' || p.state, ', ' order by p.id) from wf.process p where p.instance_id = p_instance; $$;
create function result(p_instance bigint) returns text
language sql as $$ select i.state || ' ' || coalesce(i.result, '-') || ', steps left: ' || (select count(*) from wf.dag_step s where s.instance_id = i.id) from wf.instance i where i.id = p_instance; $$;
select play_install('skip', jsonb_build_array(a_dag('[[], [1]]', on_failure('skip', reads('a')), reads('b', 'a'))));
select wf.start('skip') as skip \gset
select play_take(:driver), play_fail(play_id(:skip, 'a'));
select is(under_way(:skip), 'b', 'a step after a skipped one begins');
select play_on(:driver);
select is(result(:skip), 'END warning, steps left: 0', 'a dag with a skipped step ends');
select play_install('late', jsonb_build_array(a_dag('[[], [1], [], [3]]', on_failure('fail_late', reads('a')), reads('b', 'a'), reads('c'), reads('d', 'c')), reads('z')));
select wf.start('late') as late \gset
select play_take(:driver), play_fail(play_id(:late, 'a'));
select end_task(:driver, :late, 'c');
select play_on(:driver);
select is(states(:late), 'call ABORTED, dag ABORTED, a ABORTED, c END, d END', 'fail_late: what does not come after the failed step is done first');
select is(result(:late), 'ABORTED error, steps left: 0', 'an instance with a late failure ends after the other steps');
select play_install('raced', jsonb_build_array('{"kind": "race", "line": 1}'::jsonb || jsonb_build_object('branches', jsonb_build_array(
    a_dag('[[], [1], [1, 2]]', reads('a'), reads('b', 'a') || '{"reads": {"a": 1}}', reads('c', 'a', 'b') || '{"reads": {"a": 1, "b": 1}}'), reads('t')))));
select wf.start('raced') as raced \gset
select end_task(:driver, :raced, 'a');
select play_take(:driver), play_report(play_id(:raced, 't'), 'response', '{"value": 1}');
select play_report(play_id(:raced, 'b'), 'response', '{"value": 1}');
select is(states(:raced), 'call END, race END, dag ABORTED, t END, a END, b ABORTED', 'a dag that loses a race is torn down');
select is(result(:raced), 'END success, steps left: 0', 'the race ends when its dag is torn down');
select wf.start('raced') as raced \gset
select end_task(:driver, :raced, 'a'), play_fail(play_id(:raced, 't'));
select play_on(:driver);
select is(result(:raced), 'END success, steps left: 0', 'a dag wins it when its last step has ended');
select play_install('tolerant', jsonb_build_array(play_forall('e', '[1, 2, 3]', a_dag('[[], [1]]', reads('a'), reads('b', 'a') || '{"reads": {"a": 1}}')) || '{"tolerate": 1}'));
select wf.start('tolerant') as tolerant \gset
select play_take(:driver), play_fail((select p.id from wf.process p where p.instance_id = :tolerant and p.bind = 'a' order by p.id limit 1));
select play_report(l.process_id, 'response', '{"value": 1}') from (select process_id from wf.lease where instance_id = :tolerant) l;
select play_on(:driver);
select is((select string_agg(p.bind || ' ' || p.state, ', ' order by p.bind, p.id) from wf.process p where p.instance_id = :tolerant and p.bind is not null), 'a RAISED, a END, a END, b END, b END', 'a dag is given up as an element');
select is(result(:tolerant), 'END warning, steps left: 0', 'a forall tolerates a dag that has failed');
select play_install('hasty', jsonb_build_array(jsonb_build_object('kind', 'seq', 'line', 1, 'policies', '{"timeout": {"deadline": "PT10S"}}'::jsonb,
    'steps', jsonb_build_array(a_dag('[[], [1], []]', reads('a'), reads('b', 'a'), reads('c'))))));
select wf.start('hasty') as hasty \gset
select end_task(:driver, :hasty, 'a');
select play_take(:driver), play_later('10 s'), wf.tick();
select play_report(p.id, 'error', '{"kind": "cancelled"}') from wf.process p where p.instance_id = :hasty and p.state = 'ABORT_REQUESTED';
select is(states(:hasty), 'call ACTIVE, seq FAILED, dag ABORTED, a END, c ABORTED, b ABORTED', 'a deadline stops a dag');
select is_empty('select * from wf.fsck() where class = ''violation''', 'the rows agree with each other');
select wf.retry(format('{"process": %s}', play_id(:hasty, 'seq'))::jsonb), play_on(:driver);
select is(result(:hasty), 'END success, steps left: 0', 'a retry begins it anew');
select is((select count(*) from wf.process p where p.instance_id = :hasty and p.bind is not null and p.state = 'END'), 4::bigint, 'with all of its steps');

-- abort, suspend
select wf.start('true') as aborted \gset
select end_task(:driver, :aborted, 'a');
select is((select answer from wf.abort(jsonb_build_object('instance', :aborted))), 'done', 'a dag is aborted');
select play_report(play_id(:aborted, 'b'));
select is((select (i.state, (select count(*) from wf.dag_step s where s.instance_id = i.id))::text from wf.instance i where i.id = :aborted), '(ABORTED,0)', 'nothing is left of its steps');
select wf.start('true') as held \gset
select play_take(:driver);
select wf.suspend(jsonb_build_object('instance', :held));
select play_report(play_id(:held, 'a'), 'response', '{"value": 1}');
select is(play_take(:driver), 0::bigint, 'of a suspended instance nothing is handed out');
select is(under_way(:held), 'b of_a', 'though what comes after a task that goes on begins');
select is_empty('select * from wf.fsck() where class = ''violation''', 'the rows agree with each other');

-- 1,000 steps in layers of 100, each after ten of the layer before: with the first plans, on tables that were empty
select play_install('layers', jsonb_build_array(a_dag(
    (select jsonb_agg(case when k <= 100 then '[]'::jsonb
                           else (select jsonb_agg(j order by j) from (select distinct ((k - 1) / 100 - 1) * 100 + 1 + (k * 7 + i * 9) % 100 as j from generate_series(0, 9) i) x) end order by k)
       from generate_series(1, 1000) k),
    variadic (select array_agg(jsonb_build_object('kind', 'let', 'line', 1, 'as', 'v' || k, 'value', k) order by k) from generate_series(1, 1000) k))));
select pg_stat_get_xact_tuples_fetched('wf.dag_step'::regclass) + pg_stat_get_xact_tuples_returned('wf.dag_step'::regclass) as read \gset
select wf.start('layers') as layers \gset
select count(wf.work()) from generate_series(1, 10);
select is((select i.state from wf.instance i where i.id = :layers), 'END', 'a dag of 1,000 steps ends');
select cmp_ok(pg_stat_get_xact_tuples_fetched('wf.dag_step'::regclass) + pg_stat_get_xact_tuples_returned('wf.dag_step'::regclass) - :read, '<', 100000::bigint,
              'each of its 9,000 edges is looked at once');
select play_install('fan', jsonb_build_array(a_dag((select jsonb_agg(case k when 1 then '[]' else '[1]'::jsonb end) from generate_series(1, 2500) k),
    variadic (select array_agg(reads('v' || k) order by k) from generate_series(1, 2500) k))));
select wf.start('fan') as fan \gset
select end_task(:driver, :fan, 'v1');
select cmp_ok((select count(*) from wf.process p where p.instance_id = :fan), '<=', 1010::bigint, 'no transaction begins more than about 1,000 processes');
select is_empty('select * from wf.fsck() where class = ''violation''', 'the rows agree with each other');
select wf.work(), wf.work();
select is((select count(*) from wf.process p where p.instance_id = :fan), 2502::bigint, 'others begin the rest');
select wf.abort(jsonb_build_object('instance', :fan));
select count(*), count(wf.work()) from generate_series(1, 5);
select is((select i.state from wf.instance i where i.id = :fan), 'ABORTED', 'a large dag is aborted in portions');

-- dags of 5,000 steps: one after another, all beside each other, most of them behind a chain of 40, and in layers of 100
create function long(p_after text, p_let boolean default true) returns jsonb
language plpgsql as $$
declare
    v_steps jsonb[];
    v_after jsonb;
begin
    select array_agg(case when p_let then jsonb_build_object('kind', 'let', 'line', 1, 'as', 'v' || k, 'value', k) else reads('v' || k) end order by k) into v_steps from generate_series(1, 5000) k;
    execute format('select jsonb_agg(%s order by k) from generate_series(1, 5000) k', p_after) into v_after;
    return jsonb_build_array(a_dag(v_after, variadic v_steps));
end;
$$;
create function begun(p_instance bigint) returns bigint
language sql as $$ select count(*) from wf.process where instance_id = p_instance $$;
-- how many processes a turn of work begins at most, until there is no work
create function turn_begins(p_instance bigint) returns bigint
language plpgsql as $$
declare
    v_most bigint := 0;
    v_had bigint;
begin
    for k in 1 .. 60 loop
        v_had := begun(p_instance);
        perform wf.work();
        v_most := greatest(v_most, begun(p_instance) - v_had);
        exit when not exists (select from wf.work w where w.instance_id = p_instance);
    end loop;
    return v_most;
end;
$$;
select play_install(name, long(after))
  from (values ('chain', $$case k when 1 then '[]' else jsonb_build_array(k - 1) end$$),
               ('beside', $$'[]'::jsonb$$),
               ('fan_late', $$case k when 1 then '[]' else jsonb_build_array(least(k - 1, 40)) end$$),
               ('thick', $$case when k <= 100 then '[]'::jsonb else (select jsonb_agg(j order by j) from (select distinct ((k - 1) / 100 - 1) * 100 + 1 + (k * 7 + i * 9) % 100 as j from generate_series(0, 9) i) x) end$$)) v (name, after);
create function runs(p_name text) returns setof text
language plpgsql as $$
declare
    v_instance bigint := wf.start(p_name);
begin
    return next cmp_ok(begun(v_instance), '<=', 1110::bigint, p_name || ': a start begins no more than about 1,000 of 5,000 steps');
    return next cmp_ok(turn_begins(v_instance), '<=', 1110::bigint, p_name || ': nor does a transaction that goes on');
    return next is((select (i.state, begun(i.id))::text from wf.instance i where i.id = v_instance), '(END,5002)', p_name || ': each step is begun once');
end;
$$;
select runs('chain');
select runs('beside');
select runs('thick');
select runs('fan_late');
select is_empty('select * from wf.fsck() where class = ''violation''', 'the rows agree with each other');
-- the first 1,000 steps are reported one by one, while the others are to begin
select play_install('tasks', long($$'[]'::jsonb$$, false));
select wf.start('tasks') as tasks \gset
select cmp_ok(begun(:tasks), '<=', 1010::bigint, 'tasks: a start begins no more than about 1,000');
select end_task(:driver, :tasks, 'v1');
select wf.abort(jsonb_build_object('instance', :tasks));
select cmp_ok(turn_begins(:tasks), '<=', 1010::bigint, 'tasks: below a teardown no more begin');
select play_report(l.process_id) from (select process_id from wf.lease where instance_id = :tasks) l;
select is((select (i.state, (select count(*) from wf.dag_step s where s.instance_id = i.id))::text from wf.instance i where i.id = :tasks), '(ABORTED,0)', 'tasks: what has not begun is counted as ended');

-- what install refuses
create function refused(p_after jsonb, p_message text) returns text
language sql as $$ select throws_ok(format('select play_install(''bad'', jsonb_build_array(a_dag(%L, reads(''a''), reads(''b''), reads(''c''))))', p_after), 'WF005', 'workflows[0].steps[0].' || p_message, 'refused: ' || p_after::text); $$;
select refused('[[], []]', 'after: has 2 lists for 3 branches');
select refused('[[], [], [], []]', 'after: has 4 lists for 3 branches');
select refused('{}', 'after: must be a list');
select refused('[[], [0], []]', 'after[1]: must be a list of ordinals of branches');
select refused('[[], ["1"], []]', 'after[1]: must be a list of ordinals of branches');
select refused('[[], 1, []]', 'after[1]: must be a list of ordinals of branches');
select refused('[[4], [], []]', 'after[0]: 4 is the ordinal of no other branch');
select refused('[[], [2], []]', 'after[1]: 2 is the ordinal of no other branch');
select refused('[[], [], [2, 1]]', 'after[2]: 1 stands behind 2');
select refused('[[], [], [1, 1]]', 'after[2]: 1 stands behind 1');
select refused('[[], [3], [2]]', 'after: branches come after each other: 2 after 3 after 2');
select throws_ok($$select play_install('bad', jsonb_build_array(a_dag('[[2], [3], [1]]', reads('a'), reads('b'), reads('c'))))$$, 'WF005',
                 'workflows[0].steps[0].after: branches come after each other: 1 after 2 after 3 after 1', 'A19: a cycle of three steps is reported');
select throws_ok($$select play_install('bad', jsonb_build_array(a_dag('[[], []]', reads('a'), reads('b', 'a'))))$$, 'WF005',
                 'workflows[0].steps[0].branches[1].reads.a: branch 1 binds it, and branch 2 does not come after that', 'a name that is read makes an edge');
select throws_ok($$select play_install('bad', jsonb_build_array(a_dag('[[2], []]', reads('a'), play_seq(reads('b'), reads('c', 'a')))))$$, 'WF005', null, 'a name that is read deep inside a step needs a dependency');
select throws_ok($$select play_install('bad', jsonb_build_array(a_dag('[[], []]', a_dag('[[]]', reads('a')), play_par(reads('b'), play_forall('e', '[1]', reads('c', 'a') || '{"reads": {"a": 0}}')))))$$, 'WF005', null, 'a name that is bound deep inside a step needs a dependency');
select lives_ok($$select play_install('good', jsonb_build_array(a_dag('[[], []]', play_seq(reads('a'), reads('c', 'a')), reads('b'))))$$, 'a name of the same step needs none');
select throws_ok($$select play_install('bad', jsonb_build_array(a_dag('[[]]', '{"kind": "return", "line": 1}')))$$, 'WF005', 'workflows[0].steps[0].branches[0]: return cannot stand inside par, dag, race, forall, finally or undo', 'a return in a dag');
select throws_ok($$select play_install('bad', '[{"kind": "dag", "line": 1, "branches": [], "after": []}]')$$, 'WF005', 'workflows[0].steps[0]: must not be empty', 'a dag without branches');
select * from finish();
rollback;
