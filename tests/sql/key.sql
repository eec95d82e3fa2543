-- key.sql - workflows that say how the keys of their instances are used again.
begin;
\ir helper/play.sql
select no_plan();

-- install(NAME, REUSE, BY): a workflow with the parameter n, which waits for a driver, with this policy key
create function install(p_name text, p_reuse text, p_by jsonb default null) returns text
language sql as $$
    select string_agg(i.answer, ' ') from wf.install('', jsonb_build_object('format', 1, 'file', 'x.wf', 'workflows', jsonb_build_array(
        jsonb_build_object('name', p_name, 'line', 1, 'params', '[{"name": "n", "type": {"optional": "json"}, "default": 7}]'::jsonb,
                           'steps', '[{"kind": "task", "line": 1, "type": "t.Do", "as": "a", "args": {}}]'::jsonb,
                           'policies', jsonb_build_object('key', jsonb_strip_nulls(jsonb_build_object('reuse', p_reuse, 'by', p_by))))),
        'task_types', '{"t.Do": {"name": "t.Do", "machine": "sync", "params": [], "requests": {"start": {"transport": "builtin", "args": {"op": "noop"}}}}}'::jsonb)) i;
$$;
create function state(p_instance bigint) returns text
language sql as $$ select state || coalesce(' ' || result, '') from wf.instance where id = p_instance; $$;
create function start(p_workflow text, p_n int, p_key text default 'k', p_at timestamptz default null, p_before timestamptz default null) returns bigint
language sql as $$ select wf.start(p_workflow, jsonb_build_object('n', p_n), p_key, p_at => p_at, p_before => p_before); $$;
create function work() returns void
language plpgsql as $$ begin while wf.work() is not null loop null; end loop; end; $$;
create function finish_it(p_instance bigint) returns void
language plpgsql as $$ begin perform play_report(play_id(p_instance, 'a')); perform work(); end; $$;
create function sound(p_when text) returns text
language sql as $$ select is_empty('select * from wf.fsck()', 'fsck: ' || p_when); $$;

select play_driver() as driver \gset
select install('only', 'singleton');
select install('next', 'coalesce');
select install('same', 'dedupe');
select install('each', 'singleton', '["text", "n", ["var", "n"]]');
select install('own', 'coalesce', '["var", "n"]');

-- dedupe: as without the policy
select start('same', 1) as a \gset
select is(start('same', 1), :a::bigint, 'dedupe: the same start answers the same instance');
select wf.abort(jsonb_build_object('instance', :a));
select work();
select is(start('same', 1), :a::bigint, 'dedupe: the same start answers the ended instance');
select throws_ok($$select start('same', 2)$$, 'WF007', 'key k of workflow same is known with another payload', 'another payload is refused');

-- singleton (D52)
select start('only', 1) as a \gset
select is(start('only', 1), :a::bigint, 'singleton: the same start answers the instance under way');
select throws_ok($$select start('only', 2)$$, 'WF007', 'key k of workflow only is known with another payload', 'another payload is refused meanwhile');
select isnt(start('only', 2, 'l'), :a::bigint, 'another key has another instance');
select isnt(start('only', 1, null), start('only', 1, null), 'a start without a key does not ask');
select play_take(:driver);
select finish_it(:a);
select is(state(:a), 'END success', 'singleton: the instance ends');
select start('only', 2) as b \gset
select isnt(:b::bigint, :a::bigint, 'singleton: an ended instance lets another payload start');
select is(state(:b), 'RUNNING', 'singleton: the other payload starts at once');
select is(start('only', 2), :b::bigint, 'singleton: the new instance has the key');
select wf.abort(jsonb_build_object('instance', :b));
select work();
select start('only', 2) as c \gset
select isnt(:c::bigint, :b::bigint, 'an aborted one lets its key go, too');
select is((select key from wf.instance where id = :c), 'k', 'an instance knows its key');
select throws_ok($$select start('only', 1, p_at => wf.now() + interval '1 h')$$, 'WF007', null, 'a start for later meets the one under way');

-- coalesce: one successor
select start('next', 1) as a \gset
select start('next', 1) as b \gset
select isnt(:b::bigint, :a::bigint, 'coalesce: the same start while one is under way is a successor');
select is(state(:b), 'SCHEDULED', 'coalesce: the successor waits');
select results_eq(format('select reason, detail from wf.explain(%s)', :b), format($$values ('child', 'begins when instance %s, which has the same key, has ended')$$, :a), 'explain names the instance before it');
select is(start('next', 1), :b::bigint, 'the same start once more answers the successor');
select work();
select is(state(:b), 'SCHEDULED', 'nothing begins it meanwhile');
select sound('while a successor waits');
select start('next', 2) as c \gset
select isnt(:c::bigint, :b::bigint, 'another payload makes another successor');
select sound('before the replaced one is aborted');
select work();
select is(state(:b) || ', ' || state(:c), 'ABORTED aborted, SCHEDULED', 'coalesce: a new successor takes the place of the former one');
select is((select reason from wf.event where instance_id = :b and state = 'ABORTED'), 'a later start takes its place', 'the history says why');
select play_take(:driver);
select finish_it(:a);
select is(state(:a) || ', ' || state(:b) || ', ' || state(:c), 'END success, ABORTED aborted, RUNNING', 'when the first has ended its successor begins');
select is((select count(*) from wf.work where kind = 'start'), 0::bigint, 'no row of work is left behind');
select sound('when the successor has begun');
select start('next', 2) as d \gset
select is(state(:d), 'SCHEDULED', 'the one that runs now has a successor of its own');
select wf.abort(jsonb_build_object('instance', :d));
select work();
select is(state(:c) || ', ' || state(:d), 'RUNNING, ABORTED aborted', 'a successor can be aborted');
select start('next', 2) as e \gset
select is(state(:e), 'SCHEDULED', 'coalesce: the start after an aborted successor follows the running instance');
select wf.signal(jsonb_build_object('workflow', 'next', 'key', 'k'), 'hello', '1') as signal \gset
select is((select instance_id from wf.signal where id = :signal), :c::bigint, 'a signal to the key is for the one that runs');
select wf.abort(jsonb_build_object('instance', :c));
select work();
select is(state(:e), 'RUNNING', 'an aborted instance lets its successor begin');
select wf.signal(jsonb_build_object('workflow', 'next', 'key', 'k'), 'hello', '1') as signal \gset
select is((select instance_id from wf.signal where id = :signal), :e::bigint, 'coalesce: the successor has the key when it runs');
select wf.abort(jsonb_build_object('instance', :e));
select work();
select start('next', 1) as f \gset
select is(state(:f), 'RUNNING', 'when none is under way a start begins at once');

-- coalesce, with times
select set_config('wf.now', '2026-03-02 06:00:00+00', true);
select start('next', 1, p_at => '2026-03-02 08:00:00+00') as g \gset
select results_eq(format('select detail from wf.explain(%s)', :g), format($$values ('begins at 2026-03-02 08:00:00+00, and when instance %s, which has the same key, has ended')$$, :f), 'a successor may have a time, too');
select wf.abort(jsonb_build_object('instance', :f));
select work();
select is(state(:g), 'SCHEDULED', 'coalesce: the successor does not begin before its time');
select sound('a successor before its time');
select play_later('2 hours'), work();
select is(state(:g), 'RUNNING', 'coalesce: the successor begins at its time');
select start('next', 2, p_at => wf.now() + interval '1 h') as h \gset
select play_later('2 hours'), work();
select is(state(:h), 'SCHEDULED', 'coalesce: the successor does not begin before its predecessor has ended');
select wf.abort(jsonb_build_object('instance', :g));
select work();
select is(state(:h), 'RUNNING', 'coalesce: the successor begins when its predecessor has ended');
select start('next', 3, p_before => wf.now() + interval '1 h') as i \gset
select play_later('2 hours'), work();
select is(state(:i) || ' ' || (select error ->> 'kind' from wf.instance where id = :i), 'ABORTED error timeout', 'coalesce: the successor is aborted when its last moment passes first');
select is((select count(*) from wf.work where kind = 'start'), 0::bigint, 'coalesce: an aborted successor leaves no work');
select sound('a successor that came too late');

-- coalesce, for later: of several starts the last one begins (debounce)
select start('next', 1, 'd', wf.now() + interval '10 s') as a \gset
select is(start('next', 1, 'd', wf.now() + interval '10 s'), :a::bigint, 'the same start for the same time is one that waits');
select play_later('5 s');
select start('next', 2, 'd', wf.now() + interval '10 s') as b \gset
select play_later('5 s'), work();
select is(state(:a) || ', ' || state(:b), 'ABORTED aborted, SCHEDULED', 'another start takes the place of one that waits for its time');
select play_later('5 s'), work();
select is(state(:b), 'RUNNING', 'debounce: the last start begins at its own time');
select sound('after a debounce');
select start('next', 3, 'd') as c \gset
select is(state(:c), 'SCHEDULED', 'the next one follows it');
select wf.abort(jsonb_build_object('instance', jsonb_build_array(:b, :c)));
select work();

-- what is purged has ended
select wf.abort(jsonb_build_object('instance', :h));
select work();
select wf.purge(jsonb_build_object('instance', :h));
select work();
select is(state(start('next', 2)), 'RUNNING', 'a key whose instance was purged is free');

-- by: the workflow names the key itself
select start('each', 1, null) as a \gset
select is((select key from wf.instance where id = :a), 'n1', 'by: the key is worked out from the parameters');
select is(start('each', 1, null), :a::bigint, 'by: the same parameters answer the same instance');
select isnt(start('each', 2, null), :a::bigint, 'by: other parameters start another instance');
select wf.start('each') as b \gset
select is((select key from wf.instance where id = :b), 'n7', 'by: the expression sees the defaults');
select start('each', 1, 'mine') as b \gset
select is((select key from wf.instance where id = :b), 'mine', 'a key that the start gives counts more');
select is((array(select wf.start_many('each', '[{"n": 1}, {"n": 8}, {"n": 8}]')))[1], :a::bigint, 'a list of starts asks for each');
select is((select count(*) from wf.instance where key = 'n8'), 1::bigint, 'the same twice in one list is one instance');
select wf.start('own', '{"n": 5}') as b \gset
select is((select key from wf.instance where id = :b), '5', 'a number is a key, too');
select throws_ok($$select wf.start('own', '{"n": {}}')$$, 'WF002', 'by of the policy key is {}', 'an object is none');
select throws_ok($$select wf.start('own', '{"n": ""}')$$, 'WF002', 'the key has 0 bytes', 'by: an empty text is no key');
select wf.start('own', '{"n": null}') as b \gset
select is((select key from wf.instance where id = :b), null, 'null is no key');
select is(wf.start('own', '{"n": "x"}') = wf.start('own', '{"n": "x"}'), false, 'coalesce with by');

-- a task wf.Start and a schedule
insert into play_type (name, spec) values ('t.Start', '{"name": "t.Start", "machine": "wait", "wait": "child", "params": [{"name": "workflow", "type": "string"}, {"name": "params", "type": "json"}]}');
select play_install('parent', jsonb_build_array(play_task('t.Start', 'a', '{"workflow": "each", "params": {"n": 1}}')));
select wf.start('parent') as p \gset
select work();
select is((select awaits_id from wf.timer where instance_id = :p), :a::bigint, 'wf.Start waits for the instance that has the key');
select wf.schedule_set('often', 'each', p_every => '1 hour', p_start_at => wf.now() + interval '1 min', p_params => '{"n": 1}', p_overlap => 'queue');
select play_later('2 min'), work();
select is((select last_state || ': ' || coalesce(last_reason, '') from wf.schedule_v where name = 'often'), format('skipped: instance %s has its key', :a), 'a schedule whose instance has the key is skipped');
select wf.abort(jsonb_build_object('instance', :a));
select work();
select play_later('1 hour'), work();
select is((select i.key from wf.schedule_v s join wf.instance i on i.schedule_id = (select id from wf.schedule where name = 'often') where s.name = 'often' and s.last_state = 'started'), 'n1', 'later it starts');
-- times that wait go on when one of them starts nothing
select wf.schedule_remove('often');
select wf.abort(jsonb_build_object('instance', i.id)) from wf.instance i where i.ended_at is null;
select work();
select wf.schedule_set('line', 'each', p_every => '1 hour', p_start_at => wf.now() + interval '1 min', p_params => '{"n": 1}', p_overlap => 'queue');
select play_later('2 min'), work(), play_later('1 hour'), work(), play_later('1 hour'), work();
select is((select string_agg(state, ' ' order by nominal_at) from wf.firing_v where schedule = 'line'), 'started waiting waiting', 'two times wait for the first one');
-- its key is free when it has ended; somebody else takes it, before a driver looks
select wf.abort(jsonb_build_object('instance', (select instance_id from wf.firing_v where schedule = 'line' and state = 'started')));
select start('each', 1, null) as a \gset
select work();
select is((select string_agg(state, ' ' order by nominal_at) from wf.firing_v where schedule = 'line'), 'started skipped skipped', 'two firings that wait are both skipped when another instance has the key');
select wf.schedule_fire('line') as b \gset
select is(:b::bigint, :a::bigint, 'a schedule fired by hand answers the instance that has the key');
select is((select state || ': ' || reason from wf.firing_v where schedule = 'line' order by nominal_at desc limit 1), format('skipped: instance %s has its key', :a), 'a schedule fired by hand is recorded as skipped');
select sound('at the end');

-- install
select throws_matching($$select install('bad', 'often')$$, 'dedupe, singleton or coalesce', 'install refuses another word');
select throws_matching($$select install('bad', 'coalesce', '["var", "nothing"]')$$, 'nothing', 'by: install refuses a name that is not a parameter');

select * from finish();
rollback;
