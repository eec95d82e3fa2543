-- start.sql - instances are started: parameters, keys, priorities, versions; in
-- the caller's transaction, whatever that is.
begin isolation level repeatable read;
\ir helper/play.sql
select no_plan();

select play_install('typed', '[]', '[
    {"name": "s", "type": "string"}, {"name": "n", "type": "int", "default": 7}, {"name": "o", "type": {"optional": "date"}},
    {"name": "l", "type": {"list": "int"}, "default": ["list", 1, 2]}, {"name": "d", "type": "duration", "default": "PT1H"}, {"name": "t", "type": "timestamp", "default": ["call", "now"]}]');

-- parameters
create function start_typed(p_params jsonb) returns jsonb
language plpgsql as $$
declare
    v_id bigint := wf.start('typed', p_params);
begin
    return (select i.params from wf.instance i where i.id = v_id);
end;
$$;
select is(start_typed('{"s": "x"}') - 't', '{"s": "x", "n": 7, "o": null, "l": [1, 2], "d": "PT1H"}', 'defaults are filled in; what is optional is null');
select matches(start_typed('{"s": "x"}') ->> 't', '^20\d\d-', 'a default may be an expression');
select is(start_typed('{"s": 5, "n": "42", "o": "2026-01-31", "l": [], "d": "90 min"}') - 't', '{"s": "5", "n": 42, "o": "2026-01-31", "l": [], "d": "PT1H30M"}', 'values are converted to the type of the parameter');
select is(start_typed('{"s": "x", "o": null}') -> 'o', 'null', 'null may be given for an optional parameter');
select throws_ok(format('select wf.start(''typed'', %L)', p), 'WF002', m, d)
  from (values
    ('{}', 'parameter s is missing', 'a parameter that is missing'),
    ('{"s": "x", "z": 1}', 'there is no parameter z', 'one that does not exist'),
    ('{"s": "x", "n": "many"}', null, 'one of the wrong type'),
    ('{"s": "x", "n": 1.5}', null, 'no int'),
    ('{"s": "x", "l": [1, "b"]}', null, 'a list of the wrong type'),
    ('{"s": "x", "o": "2026-02-30"}', null, 'a day that does not exist'),
    ('{"s": "x", "d": "soon"}', null, 'no duration'),
    ('{"s": null}', null, 'null for a parameter that is not optional'),
    ('[]', 'the parameters are not a JSON object', 'a list'),
    ('"x"', 'the parameters are not a JSON object', 'a string'),
    ('null', 'the parameters are not a JSON object', 'null')) t (p, m, d);
select throws_ok($$select wf.start('odd')$$, 'WF002', 'the default of parameter n: division by zero', 'a default that has no value')
  from play_install('odd', '[]', '[{"name": "n", "type": "number", "default": ["div", 1, ["call", "size", ""]]}]');
select throws_ok(format('select wf.start(''typed'', %L)', jsonb_build_object('s', repeat('x', 1100000))), 'WF002', null, 'parameters that are too large');
select lives_ok($$select wf.start('nothing', null)$$, 'no parameters at all')
  from play_install('nothing', '[]');

-- arguments
select throws_ok($$select wf.start('nobody')$$, 'WF003', 'there is no workflow nobody', 'a workflow that does not exist');
select throws_ok($$select wf.start(null)$$, 'WF003', null, 'none');
select throws_ok($$select wf.start('nothing', p_priority => 1001)$$, 'WF002', null, 'a priority out of range');
select throws_ok($$select wf.start('nothing', p_priority => null)$$, 'WF002', null, 'none');
select throws_ok($$select wf.start('nothing', p_key => '')$$, 'WF002', null, 'an empty key');
select throws_ok($$select wf.start('nothing', p_key => repeat('x', 256))$$, 'WF002', null, 'a long one');
select throws_ok(format($$select wf.start('nothing', p_tags => %L)$$, t.tags), 'WF002', format('the tags are %s, not a list of at most 64 strings of 1 to 127 bytes each', t.said), format('no tag: %s', t.what))
  from (values (array['a', null], '["a", null]', 'null'), (array['a', ''], '["a", ""]', 'the empty text'),
               (array[repeat('x', 128)], '["' || repeat('x', 98), 'a text of 128 bytes'), (array[repeat('é', 64)], '["' || repeat('é', 64) || '"]', 'one of as many in 64 characters'),
               (array[['a', 'b']], '[["a", "b"]]', 'a list'), (array(select 'a' from generate_series(1, 65)), left('[' || repeat('"a", ', 65), 100), 'the 65th')) t (tags, said, what);
select is(cardinality(i.tags), 64, 'an instance may have 64 tags of 127 bytes')
  from wf.start('nothing', p_tags => array(select rpad(k::text, 127, 'x') from generate_series(1, 64) k)) s (id) join wf.instance_v i on i.instance_id = s.id;
select is(i.tags, '{}', 'no tags at all')
  from wf.start('nothing', p_tags => null) s (id) join wf.instance_v i on i.instance_id = s.id;
select throws_ok($$select wf.start('nothing', p_version => 2)$$, 'WF003', 'workflow nothing has no version 2', 'a version that does not exist');

-- what is started
select play_install('task', jsonb_build_array(play_task('t.Do', 'a')));
select wf.start('task', p_key => 'k1', p_priority => 5, p_tags => '{x,y}') as i \gset
select results_eq(format('select state, result, priority, tags, key, started_by, warned from wf.instance where id = %s', :i), format($$values ('RUNNING', null, 5, '{x,y}'::text[], 'k1', %L, false)$$, session_user), 'an instance is as it was started');
select results_eq(format('select was, event, state, actor from wf.event_v where instance_id = %s', :i), format($$values ('', 'start', 'RUNNING', %L)$$, session_user), 'the history begins with its start');
select results_eq(format('select rank from wf.ready where instance_id = %s', :i), 'values (-5::smallint)', 'the first task is ready, with the priority of the instance');
select wf.start('nothing') as i0 \gset
select is((select state from wf.instance where id = :i0), 'END', 'one in which nothing happens has ended when start returns');

-- keys
select is(wf.start('task', p_key => 'k1', p_priority => 5, p_tags => '{x,y}'), :i::bigint, 'the same key and payload: the same instance');
select is((select count(*) from wf.instance where key = 'k1'), 1::bigint, 'there is one');
select throws_ok($$select wf.start('task', p_key => 'k1')$$, 'WF007', 'key k1 of workflow task is known with another payload', 'another payload is refused');
select throws_ok($$select wf.start('task', p_key => 'k1', p_priority => 5, p_tags => '{x}')$$, 'WF007', null, 'whatever it differs in');
select isnt(wf.start('nothing', p_key => 'k1'), :i::bigint, 'keys belong to a workflow');
select isnt(wf.start('task', p_key => 'k2'), :i::bigint, 'another key, another instance');
select isnt(wf.start('task'), wf.start('task'), 'without a key each start is another instance');
select wf.start('typed', '{"s": "x"}', 'day') as day \gset
select is(wf.start('typed', '{"s": "x"}', 'day'), :day::bigint, 'a default that is another one now is no other payload');
select play_install('typed', '[]', '[{"name": "r", "type": "int"}]');
select is(wf.start('typed', '{"s": "x"}', 'day'), :day::bigint, 'a new version of the workflow is no other payload');

-- versions
select play_install('task', jsonb_build_array(play_task('t.Do', 'b')));
create function first_task(p_version int) returns text
language plpgsql as $$
declare
    v_id bigint := wf.start('task', p_version => p_version);
begin
    return (select p.bind from wf.process p where p.instance_id = v_id and p.parent_id is not null);
end;
$$;
select is(first_task(null), 'b', 'the newest version is started');
select is(first_task(1), 'a', 'a start may ask for a version');
select is(play_state(:i, 'a'), 'INIT', 'a running instance keeps its version');
select wf.remove('task');
select throws_ok($$select wf.start('task')$$, 'WF003', 'there is no workflow task', 'a removed workflow is not started');

-- many
select play_install('some', jsonb_build_array(play_task('t.Do', 'a')), '[{"name": "n", "type": "int"}]');
create table many as select n, id from wf.start_many('some', '[{"n": 3}, {"n": "1"}, {"n": 2}]') with ordinality m (id, n);
select results_eq('select i.params from many m join wf.instance i on i.id = m.id order by m.n', $$values ('{"n": 3}'::jsonb), ('{"n": 1}'), ('{"n": 2}')$$, 'start_many starts one for each, in order');
select is((select count(*) from wf.ready r join many m on m.id = r.instance_id), 3::bigint, 'each of them is ready');
select is_empty($$select wf.start_many('some', '[]')$$, 'none');
select throws_ok($$select wf.start_many('some', '[{"n": 1}, {"n": "x"}]')$$, 'WF002', null, 'a wrong item of a list starts none');
select throws_ok($$select wf.start_many('some', '{"n": 1}')$$, 'WF002', null, 'no list');
select throws_ok($$select wf.start_many('nobody', '[]')$$, 'WF003', null, 'no workflow');
select throws_ok(format('select wf.start_many(''big'', %L)', jsonb_build_array(jsonb_build_object('s', repeat('x', 1100000)))), 'WF002', null, 'parameters that are too large')
  from play_install('big', '[]', '[{"name": "s", "type": "string"}]');

-- the caller's transaction: what rolls back was never there
savepoint before;
select wf.start('some', '{"n": 1}', 'undone') as i \gset
rollback to before;
select is((select count(*) from wf.instance where id = :i) + (select count(*) from wf.process where instance_id = :i) + (select count(*) from wf.ready where instance_id = :i)
          + (select count(*) from wf.event where instance_id = :i) + (select count(*) from wf.instance_key where key = 'undone'), 0::bigint, 'an instance whose start was rolled back does not exist');
select lives_ok($$select wf.start('some', '{"n": 2}', 'undone')$$, 'a start that is rolled back leaves no key');

-- a trigger of the caller's
create table purchase (id int);
create function purchase_made() returns trigger language plpgsql as $$
begin
    perform wf.start('some', jsonb_build_object('n', new.id), 'purchase ' || new.id);
    return null;
end;
$$;
create trigger purchase_made after insert on purchase for each row execute function purchase_made();
insert into purchase values (1), (2);
select is((select count(*) from wf.instance where key like 'purchase %' and state = 'RUNNING'), 2::bigint, 'start may stand in a trigger');

create table chain (n int);
create function chain_on() returns trigger language plpgsql as $$
begin
    if new.n < 9 then
        insert into chain values (new.n + 1);
    else
        perform wf.start('nothing');
    end if;
    return null;
end;
$$;
create trigger chain_on after insert on chain for each row execute function chain_on();
select throws_ok('insert into chain values (1)', 'WF004', 'this procedure cannot be called in triggers nested 9 deep', 'start is refused in triggers nested 9 deep');
select lives_ok('insert into chain values (2)', 'within reason');

-- the policy tags of a workflow
create function install_tagged(p_tags jsonb) returns text
language plpgsql as $$
begin
    perform wf.install('// tagged', jsonb_build_object('format', 1, 'file', 'tagged.wf', 'task_types', '{}'::jsonb, 'workflows', jsonb_build_array(jsonb_build_object(
        'name', 'tagged', 'line', 1, 'params', '[{"name": "day", "type": {"optional": "json"}, "default": null}]'::jsonb, 'steps', '[]'::jsonb, 'policies', jsonb_build_object('tags', p_tags)))));
    return 'installed';
exception when sqlstate 'WF005' then
    return sqlerrm;
end;
$$;
create function tags_of(p_instance bigint) returns text[]
language sql as $$ select i.tags from wf.instance_v i where i.instance_id = p_instance; $$;
select is(install_tagged('["list", "nightly", ["var", "day"], "nightly"]'), 'installed', 'tags may read the parameters');
select is(tags_of(wf.start('tagged', '{"day": "today"}', p_tags => '{mine,today}')), '{mine,today,nightly}', 'an instance has the tags that start was given, and each other one of its workflow once');
select is(tags_of(wf.start('tagged', '{"day": "today"}')), '{nightly,today}', 'an instance may have the tags of its workflow alone');
select count(*) from wf.start_many('tagged', '[{"day": "a"}, {"day": "nightly"}]');
select results_eq($$select t.tags from (select i.id, i.tags from wf.instance i order by i.id desc limit 2) t order by t.id$$, $$values ('{nightly,a}'::text[]), ('{nightly}')$$, 'start_many gives each instance its own');
select is(array(select wf.list(p_tags => '{nightly,a}')), array(select max(id) - 1 from wf.instance), 'instances are found by the tags of their workflow');
select throws_ok($$select wf.start('tagged', '{"day": 1}')$$, 'WF002', 'the tags of the workflow: ["nightly", 1, "nightly"], not a list of at most 64 strings of 1 to 127 bytes each', 'a tag that is no text starts nothing');
select throws_like($$select wf.start_many('tagged', '[{"day": "a"}, {"day": 1}]')$$, 'the tags of the workflow: %', 'a tag that is no text starts none of many');
select is(wf.start('tagged', '{"day": "b"}', 'k1', p_tags => '{x}'), wf.start('tagged', '{"day": "b"}', 'k1', p_tags => '{x}'), 'a key knows what start was given');
select is(install_tagged('["get", ["var", "day"], "tags"]'), 'installed', 'a workflow may compute its list of tags');
select throws_ok($$select wf.start('tagged', '{"day": 1}')$$, 'WF002', 'the tags of the workflow: day.tags: the number 1 has no field "tags"', 'tags that cannot be computed start nothing');
select is(tags_of(wf.start('tagged', p_tags => '{y}')), '{y}', 'null is no tag');
select is(install_tagged(t.tags), t.said, format('install looks at constant tags: %s', left(t.tags::text, 20)))
  from (values ('"nightly"'::jsonb, 'workflows[0].policies.tags: must be a list of at most 64 strings of 1 to 127 bytes each'),
               ('["list", ""]', 'workflows[0].policies.tags: must be a list of at most 64 strings of 1 to 127 bytes each'),
               ('["list", 1]', 'workflows[0].policies.tags: must be a list of at most 64 strings of 1 to 127 bytes each'),
               (jsonb_build_array('list') || (select jsonb_agg('t' || k) from generate_series(1, 65) k), 'workflows[0].policies.tags: must be a list of at most 64 strings of 1 to 127 bytes each'),
               (jsonb_build_array('list', repeat('x', 127)), 'installed'),
               ('["const", []]', 'installed'), ('null', 'installed'), ('["list", ["var", "nobody"]]', 'workflows[0]: there is no parameter nobody')) t (tags, said);

-- any isolation level
select is(current_setting('transaction_isolation'), 'repeatable read', 'all of this in a transaction that is REPEATABLE READ');
select is_empty('select * from wf.fsck()', 'all is well in the end');

-- D2: an application plans in its own transaction: what its function works out is started, or nothing is
create table planned (region text);
create function plan_regions(p_regions text[]) returns jsonb
language sql as $$
    insert into planned select unnest(p_regions);
    select jsonb_build_object('regions', to_jsonb(array_agg(upper(r) order by r))) from unnest(p_regions) r;
$$;
select play_install('planned', '[{"kind": "return", "line": 1, "value": ["var", "regions"], "reads": {"regions": 0}}]', '[{"name": "regions", "type": {"list": "string"}}]');
savepoint before;
select wf.start('planned', plan_regions('{us,eu}'), p_key => 'plan') as i \gset
select is((select output from wf.instance where id = :i), '["EU", "US"]', 'D2: a function of the application plans what is started');
rollback to savepoint before;
select is((select count(*) from wf.instance i join wf.workflow w on w.id = i.workflow_id where w.name = 'planned') + (select count(*) from wf.instance_key where key = 'plan') + (select count(*) from planned), 0::bigint, 'D2: a plan that is rolled back starts nothing');
select throws_matching($$select wf.start('planned', plan_regions('{us,eu}') || '{"more": 1}')$$, 'there is no parameter more', 'D2: an error in it');
select is((select count(*) from planned), 0::bigint, 'D2: leaves nothing');
select wf.start('planned', plan_regions('{us}'), p_key => 'plan') as i \gset
select is((select output from wf.instance where id = :i), '["US"]', 'D2: the next plan is started');

select * from finish();
rollback;
