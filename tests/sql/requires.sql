-- requires.sql - what tasks require of a driver: only a driver that
-- has it takes them, and explain says what is missing.
begin;
\ir helper/play.sql
select no_plan();

-- needing(NAME, REQUIRES [, MORE POLICIES]): a task
create function needing(p_as text, p_requires jsonb, p_more jsonb default '{}') returns jsonb
language sql as $$ select play_task('t.Do', p_as, '{}', jsonb_build_object('requires', p_requires) || p_more); $$;
-- takes(CAPABILITIES [, WANT]): what a driver with these takes, in its order
create function takes(p_capabilities text[], p_want int default 100) returns text
language plpgsql as $$
declare
    v_driver bigint := wf.register('d', '1', '{builtin}', '{}', 100, null, '{}', p_capabilities);
    v_taken text;
begin
    select string_agg(p.bind, ' ' order by r.ordinality) into v_taken
      from wf.poll(v_driver, p_want) with ordinality r
      join wf.process p on p.id = r.process_id
     where r.kind = 'run';
    perform wf.leave(v_driver);
    perform wf.tick();
    return v_taken;
end;
$$;

-- what a value asks for
select is(wf._capabilities(value::jsonb), list, value)
  from (values
    ('["gpu"]', array['gpu']),
    ('["b", "a", "b"]', array['a', 'b']),
    ('[]', '{}'),
    ('{}', '{}'),
    ('{"zone": "eu", "gpu": true, "cores": 8, "slow": false, "any": null}', array['cores=8', 'gpu', 'zone=eu']),
    ('["gpu", 1]', null),
    ('["gpu", null]', null),
    ('{"zone": ["eu"]}', null),
    ('"gpu"', null),
    ('null', null),
    ('[""]', null),
    (e'["a\\nb"]', null),
    (format('["%s"]', repeat('x', 127)), array[repeat('x', 127)]),
    (format('["%s"]', repeat('x', 128)), null),
    ((select json_agg('c' || k) from generate_series(1, 65) k)::text, null)) v (value, list);

-- who may take what
select play_install('some', jsonb_build_array(play_par(
    play_task('t.Do', 'plain'), needing('gpu', '["list", "gpu"]'), needing('eu', '{"zone": "eu"}'), needing('both', '{"zone": "eu", "gpu": true}'),
    needing('none', '{}'), needing('night', '["list", "gpu"]', '{"queue": "night"}'))));
select wf.start('some') as i \gset
select is(takes('{zone=us}'), 'plain none', 'without the capability only what needs none');
select wf.abort(jsonb_build_object('instance', :i));
select wf.start('some') as i \gset
select is(takes('{gpu,more}', 2), 'plain gpu', 'a task that few drivers can do has no place before the others');
select is(takes('{gpu}', 2), 'none night', 'a task with requirements is taken by its turn');
select is(takes('{zone=eu}', 1), 'eu', 'a capability with a value');
select is(takes('{zone=eu,gpu}', 1), 'both', 'all of them are needed');

-- explain and stuck
select wf.start('some') as i \gset
select wf.register('docker-1', '1', '{builtin}', '{}', 10, null, '{}', '{zone=eu}') as docker \gset
select wf.register('docker-2', '1', '{builtin,http}', '{night}', 10) as other \gset
select results_eq(format('select e.reason, e.detail from wf.explain(%s, %s) e', :i, play_id(:i, 'gpu')),
    $$values ('driver', 'no live driver serves queue default with builtin and the capability gpu; docker-1 lacks gpu; docker-2 lacks queue default, gpu')$$, 'explain says what is missing, and what there is');
select matches((select detail from wf.explain(:i, play_id(:i, 'both'))), 'and the capabilities gpu, zone=eu; docker-1 lacks gpu; docker-2 lacks queue default, gpu, zone=eu$', 'each of it');
select is_empty(format('select * from wf.explain(%s, %s) where reason <> ''note''', :i, play_id(:i, 'eu')), 'a task that a driver can take needs no explanation');
select results_eq(format('select detail from wf.stuck() where instance_id = %s', :i), $$values ('no live driver serves queue default with builtin and the capability gpu')$$, 'stuck');
select is((select capabilities from wf.driver_v where driver_id = :docker), '{zone=eu}', 'drivers are listed with what they have');
select wf.leave(d) from unnest(array[:docker, :other]) d;
select wf.abort('{"workflow": "some"}');

-- computed when the task begins
create function computed(p_name text, p_requires text, p_more jsonb default '{}') returns void
language sql as $$
    select play_install(p_name, jsonb_build_array(needing('a', p_requires::jsonb, p_more) || '{"reads": {"x": 0}}'), '[{"name": "x", "type": "json"}]');
$$;
create function lane_of(p_instance bigint) returns text
language sql as $$ select format('%s %s %s', l.queue, l.needs, l.requires) from wf.process p, wf._find_lane(p.lane_id) l where p.instance_id = p_instance; $$;
create function failure_of(p_instance bigint) returns text
language sql as $$ select format('%s %s', p.state, p.error ->> 'kind') from wf.process p where p.instance_id = p_instance and p.kind = 'sync'; $$;
select computed('computed', '["var", "x"]');
select is(lane_of(wf.start('computed', jsonb_build_object('x', value::jsonb))), lane, 'computed: ' || value)
  from (values ('["gpu"]', 'default {builtin} {gpu}'), ('{"zone": "eu", "gpu": false}', 'default {builtin} {zone=eu}'), ('{}', 'default {builtin} {}')) v (value, lane);
select is(failure_of(wf.start('computed', jsonb_build_object('x', value::jsonb))), 'FAILED input', 'refused: ' || value)
  from unnest(array['"gpu"', '7', '[1]', '{"zone": {}}', '[""]']) value;
select computed('computed_queue', '["list", "gpu"]', '{"queue": ["var", "x"]}');
select is(lane_of(wf.start('computed_queue', '{"x": "night"}')), 'night {builtin} {gpu}', 'a queue that is computed keeps what is required');
select computed('computed_both', '{"zone": ["var", "x"]}', '{"queue": ["text", "q-", ["var", "x"]]}');
select is(lane_of(wf.start('computed_both', '{"x": "eu"}')), 'q-eu {builtin} {zone=eu}', 'both are computed');
select computed('computed_fixed', '{"zone": ["var", "x"]}', '{"queue": "night"}');
select is(lane_of(wf.start('computed_fixed', '{"x": "eu"}')), 'night {builtin} {zone=eu}', 'only the one is');
select wf.start('computed', '{"x": "gpu"}') as i \gset
select wf.retry(jsonb_build_object('instance', :i));
select is(failure_of(:i), 'FAILED input', 'a retry evaluates it again, and fails again');

-- what was computed goes when nothing is in it
create function lanes() returns text
language sql as $$ select string_agg(format('%s %s', l.queue, l.requires), ', ' order by l.requires) from wf.lane l where l.queue = 'here'; $$;
select computed('here', '["list", ["var", "x"]]', '{"queue": "here"}');
select play_install('fixed', jsonb_build_array(needing('a', '["list", "stays"]', '{"queue": "here"}')));
select wf.register('d', '1', '{builtin}', '{here}', 100, null, '{}', '{ready,taken,failed,stays,parked}') as d \gset
select wf.start('here', '{"x": "taken"}');
select wf.start('here', '{"x": "failed"}') as failed \gset
select play_take(:d, 2);
select play_fail(play_id(:failed, 'a'));
select wf.start('here', '{"x": "ready"}');
select wf.start('here', '{"x": "parked"}') as parked \gset
select wf.suspend(jsonb_build_object('instance', :parked));
select wf.start('here', '{"x": "gone"}') as gone \gset
select wf.start('here', '{"x": "stays"}') as stays \gset
select wf.abort(jsonb_build_object('instance', array[:gone, :stays]));
select wf._settle();
select is(lanes(), 'here {}, here {failed}, here {gone}, here {parked}, here {ready}, here {stays}, here {stays}, here {taken}', 'lanes come');
select wf._forget_lanes();
select is(lanes(), 'here {}, here {failed}, here {gone}, here {parked}, here {ready}, here {stays}, here {stays}, here {taken}', 'a computed lane that is not used is marked');
update wf.lane set unused_xid = '3' where unused_xid is not null;
select wf._forget_lanes();
select is(lanes(), 'here {}, here {failed}, here {parked}, here {ready}, here {stays}, here {taken}', 'a marked lane goes when all transactions of that time have ended');
select wf.retry(jsonb_build_object('instance', :failed)), wf.resume(jsonb_build_object('instance', :parked));
select is((select count(*) from wf.poll(:d, 100) where kind = 'run'), 3::bigint, 'tasks in the other lanes can be taken');

-- what a file names stays, also if somebody computed it before
select wf.start('here', '{"x": "later"}') as later \gset
select play_install('named', jsonb_build_array(needing('a', '["list", "later"]', '{"queue": "here"}')));
select wf.abort(jsonb_build_object('instance', :later));
select wf.tick();
select matches(lanes(), '\{later\}', 'a computed lane that a file names later stays');

-- the default of a task type may be made of the parameters of the task
insert into play_type select 't.On', t.spec || '{"name": "t.On", "params": [{"name": "h", "type": "string"}, {"name": "hosts", "type": {"list": "string"}}],
    "policies": {"requires": ["each", "h", ["var", "hosts"], ["text", ["var", "h"], "-ok"], ["ne", ["var", "h"], "none"]]}}' || jsonb_build_object('requests', t.spec -> 'requests')
  from play_type t where t.name = 't.Do';
select play_install('on', jsonb_build_array(play_task('t.On', 'a', '{"h": "x", "hosts": ["list", "a", "none", "b"]}')));
select is(lane_of(wf.start('on')), 'default {builtin} {a-ok,b-ok}', 'the name that each binds is not that of the parameter');

-- what is refused
select throws_ok($$select play_install('wrong', jsonb_build_array(needing('a', '"gpu"')))$$, 'WF005', 'workflows[0].steps[0].policies.requires: must be a list of strings or an object of scalars, at most 64 of 127 bytes each', 'a word is no list');
select throws_ok(format('select wf.register(''d'', ''1'', ''{builtin}'', ''{}'', 10, null, ''{}'', %L::text[])', list), 'WF002', null, 'a driver may not have ' || coalesce(left(list, 30), 'null'))
  from unnest(array['{""}', '{null}', format('{%s}', repeat('x', 128)), e'{"a\nb"}', (select array_agg('c' || k)::text from generate_series(1, 65) k), null]) list;
select is_empty('select * from wf.fsck()', 'all is well in the end');

select * from finish();
rollback;
