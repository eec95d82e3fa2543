-- group.sql - concurrency groups: at most max at once, whoever they are, and
-- nobody else is held up by them.
begin;
\ir helper/play.sql
select no_plan();
select play_driver() as driver \gset

-- in_group(NAME, GROUP [, MAX [, PRIORITY]]): a task
create function in_group(p_as text, p_group jsonb, p_max jsonb default null, p_priority jsonb default null, p_type text default 't.Do', p_reads jsonb default '{}') returns jsonb
language sql as $$
    select play_task(p_type, p_as, '{}', jsonb_build_object('group', jsonb_strip_nulls(jsonb_build_object('name', p_group, 'max', p_max)))
                                         || case when p_priority is null then '{}' else jsonb_build_object('priority', p_priority) end)
           || jsonb_build_object('reads', p_reads);
$$;
-- running(): the names of what is with drivers
create function running() returns text
language sql as $$ select string_agg(coalesce(p.bind, '') || coalesce(p.index::text, ''), ' ' order by p.id) from wf.lease l join wf.process p on p.id = l.process_id; $$;
create function places(p_name text) returns text
language sql as $$ select format('%s of %s, %s waiting', v.held, coalesce(v.max::text, 'any'), v.waiting) from wf.group_v v where v.name = p_name; $$;

-- a limit
select play_install('three', jsonb_build_array(play_par(in_group('a', '"g"', '2'), in_group('b', '"g"', '2'), in_group('c', '"g"', '2'), play_task('t.Do', 'free'))));
select wf.start('three') as i \gset
select wf.start('three') as i2 \gset
select is(play_take(:driver), 4::bigint, 'two of the group, and everything that is in none');
select is(running(), 'a b free free', 'the first tasks of the group run');
select is(places('g'), '2 of 2, 4 waiting', 'the others wait');
select is(play_take(:driver), 0::bigint, 'for the group is full');
select play_report(play_id(:i, 'a'));
select is(play_take(:driver), 1::bigint, 'one for one that ends');
select is(running(), 'b c free free', 'the next of the first instance');
select play_fail(play_id(:i, 'b'));
select is(play_take(:driver), 1::bigint, 'a failure gives its place up too');
select is(running(), 'c free a free', 'groups are global: another instance');
select wf.retry('{"failed": true, "workflow": "three"}');
select is(places('g'), '2 of 2, 3 waiting', 'a retry waits again');
select is(play_take(:driver), 0::bigint, 'a task that waits again takes no place from others');
select play_report(play_id(:i, 'c'));
select play_take(:driver);
select is((select string_agg(p.bind, ' ' order by l.at, p.id) from wf.lease l join wf.process p on p.id = l.process_id join wf.slot s on s.process_id = p.id), 'a b', 'a retried task goes behind those that have waited');
select wf.cancel(jsonb_build_object('process', play_id(:i2, 'a')));
select is(play_take(:driver), 0::bigint, 'a task that is being cancelled keeps its place');
select play_report(play_id(:i2, 'a'), 'error', '{}');
select is(play_take(:driver), 1::bigint, 'until it has stopped');
select play_report(process_id, 'release') from wf.slot where process_id = play_id(:i2, 'c') or process_id = play_id(:i, 'b') limit 1;
select is(places('g'), '1 of 2, 2 waiting', 'a task that is handed back waits again');
select is(play_take(:driver), 1::bigint, 'a task that was handed back is taken again');
select wf.cancel('{"workflow": "three"}');
select is(places('g'), '2 of 2, 0 waiting', 'waiting tasks of a group are cancelled at once');
select wf.abort('{"workflow": "three"}');
select is(places('g'), '2 of 2, 0 waiting', 'a task that is being aborted keeps its place');
select wf.leave(:driver);
select is(places('g'), '0 of 2, 0 waiting', 'until it has stopped');
select is_empty('select * from wf.fsck()', 'all is well with a limit');

-- the last max wins
select play_driver() as driver \gset
select play_install('one', jsonb_build_array(in_group('a', '"m"', '1')));
select play_install('five', jsonb_build_array(in_group('a', '"m"', '5')));
select play_install('open', jsonb_build_array(in_group('a', '"m"')));
select wf.start('open') from generate_series(1, 2);
select is(play_take(:driver), 2::bigint, 'a group to which nobody gave a max has no limit');
select wf.start('five') from generate_series(1, 4);
select is(play_take(:driver), 3::bigint, 'a max counts those who are there');
select wf.start('open');
select is(play_take(:driver), 0::bigint, 'a max stays when a later task gives none');
select is(places('m'), '5 of 5, 2 waiting', 'the group is full');
select wf.start('one');
select play_take(:driver);
select is(places('m'), '5 of 1, 3 waiting', 'a smaller one takes nobody''s place away');
select play_report(process_id) from (select s.process_id from wf.slot s limit 4) s;
select is(play_take(:driver), 0::bigint, 'no task gets a place until enough have gone');
select play_report(process_id) from wf.slot s;
select is(play_take(:driver), 1::bigint, 'tasks get places one by one afterwards');
select wf.start('five');
select is(play_take(:driver), 3::bigint, 'a larger one counts at once');
select wf.group_set('m', 2);
select play_report(process_id) from wf.slot s;
select play_on(:driver);
select is(places('m'), '0 of 2, 0 waiting', 'an operator''s word counts until the next task says otherwise');
select wf.start('five');
select wf.group_set('m', 1);
select play_on(:driver);
select is(places('m'), '0 of 1, 0 waiting', 'an operator''s max counts also if the task''s max was not settled yet');
select is_empty('select * from wf.fsck()', 'all is well when max changes');

-- priorities
select play_install('prio', jsonb_build_array(play_par(in_group('low', '"p"', '1', '-5'), in_group('mid', '"p"', '1'), in_group('high', '"p"', '1', '5'), play_task('t.Do', 'free'))));
select wf.start('prio') as i \gset
create function order_of(p_driver bigint, p_instance bigint) returns text
language plpgsql as $$
declare
    v_order text;
begin
    while play_take(p_driver, 1) > 0 loop
        v_order := concat_ws(' ', v_order, (select string_agg(p.bind, ' ') from wf.lease l join wf.process p on p.id = l.process_id));
        perform play_report(l.process_id) from wf.lease l;
    end loop;
    return v_order;
end;
$$;
select is(order_of(:driver, :i), 'high mid free low', 'the higher priority is granted first, and taken first');
select wf.start('prio') as i \gset
select wf.start('prio', p_priority => 3) as i2 \gset
select is(order_of(:driver, :i), 'high high mid free mid free low low', 'the priority of an instance is that of its tasks, unless they have their own');

-- a priority that reads as null is that of the instance
select play_install('unsaid', jsonb_build_array(play_par(in_group('unsaid', '"p"', '1', '["get", ["var", "p"], "nothing"]', 't.Do', '{"p": 0}'), in_group('mid', '"p"', '1', '1'))),
    '[{"name": "p", "type": "object"}]');
select wf.start('unsaid', '{"p": {}}') as i \gset
select is(order_of(:driver, :i), 'mid unsaid', 'a priority that reads as null is as if none was given');
select wf.start('unsaid', '{"p": {}}', p_priority => 2) as i \gset
select is(order_of(:driver, :i), 'unsaid mid', 'a null priority is the priority of the instance');

-- names and limits that are read
select play_install('dynamic', jsonb_build_array(play_forall('x', '["a", "a", "b", "b", "b"]',
    in_group('t', '["text", "dyn-", ["var", "x"]]', '["if", ["eq", ["var", "x"], "a"], 1, 2]', '["if", ["eq", ["var", "x"], "b"], 7, 0]', 't.Do', '{"x": 1}'))));
select wf.start('dynamic') as i \gset
select is(play_take(:driver, 1), 1::bigint, 'one is taken');
select is(running(), 't2', 'the first of those with the higher priority');
select is(play_take(:driver), 2::bigint, 'as many names are taken next as there are places');
select is(places('dyn-a') || ', ' || places('dyn-b'), '1 of 1, 1 waiting, 2 of 2, 1 waiting', 'each name is a group of its own');
select is(play_on(:driver), 0::bigint, 'nothing more');
select play_report(process_id) from wf.lease;
select is(play_on(:driver), 2::bigint, 'until places are free');
select is_empty('select * from wf.fsck()', 'all is well with names that are read');

-- an invalid name or limit fails its task, and stops no other
select play_install('wrong', jsonb_build_array(play_par(
        in_group('n1', '["get", ["var", "p"], "nothing"]', null, null, 't.Do', '{"p": 0}'),
        in_group('n2', '["get", ["var", "p"], "empty"]', null, null, 't.Do', '{"p": 0}'),
        in_group('n3', '["get", ["var", "p"], "long"]', null, null, 't.Do', '{"p": 0}'),
        in_group('m1', '"w"', '["get", ["var", "p"], "zero"]', null, 't.Do', '{"p": 0}'),
        in_group('m2', '"w"', '["get", ["var", "p"], "minus"]', null, 't.Do', '{"p": 0}'),
        in_group('m3', '"w"', '["get", ["var", "p"], "half"]', null, 't.Do', '{"p": 0}'),
        in_group('m4', '"w"', '["get", ["var", "p"], "long"]', null, 't.Do', '{"p": 0}'),
        in_group('m5', '"w"', '["get", ["var", "p"], "huge"]', null, 't.Do', '{"p": 0}'),
        play_task('t.Do', 'q1', '{}', '{"queue": ["get", ["var", "p"], "nothing"]}') || '{"reads": {"p": 0}}',
        play_task('t.Do', 'q2', '{}', '{"queue": ["get", ["var", "p"], "zero"]}') || '{"reads": {"p": 0}}',
        play_task('t.Do', 'q3', '{}', '{"queue": ["get", ["var", "p"], "long"]}') || '{"reads": {"p": 0}}',
        play_task('t.Do', 'p1', '{}', '{"priority": ["get", ["var", "p"], "empty"]}') || '{"reads": {"p": 0}}',
        in_group('fine1', '"w"', '["get", ["var", "p"], "nothing"]', null, 't.Do', '{"p": 0}'),
        in_group('fine2', '"w"', '["get", ["var", "p"], "two"]', '["get", ["var", "p"], "huge"]', 't.Do', '{"p": 0}'))),
    '[{"name": "p", "type": "object"}]');
select wf.start('wrong', jsonb_build_object('p', jsonb_build_object('empty', '', 'long', repeat('x', 64), 'zero', 0, 'minus', -1, 'half', 1.5, 'huge', 1e12, 'two', 2))) as i \gset
select results_eq(format($$select bind, state, error ->> 'kind' from wf.process where instance_id = %s and bind is not null order by id$$, :i),
    $$select n, case when n like 'fine%' then 'INIT' else 'FAILED' end, case when n not like 'fine%' then 'input' end
        from unnest('{n1,n2,n3,m1,m2,m3,m4,m5,q1,q2,q3,p1,fine1,fine2}'::text[]) with ordinality u (n, k) order by k$$, 'an invalid name, limit, queue or priority fails the task');
select is(play_take(:driver), 2::bigint, 'an invalid name or limit stops no other task');
select is(places('w'), '2 of 2, 0 waiting', 'the limit is that of those who could give one');
select wf.abort('{"workflow": "wrong"}');
select play_report(process_id) from wf.lease;

-- asynchronous tasks hold their place from the start to the end, not while they are released
select play_install('job', jsonb_build_array(play_par(in_group('a', '"j"', '1', null, 't.Job'), in_group('b', '"j"', '1', null, 't.Job'))));
select wf.start('job') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'ack'), play_report(play_id(:i, 'a'), 'response', '{"id": 1}');
select is(play_take(:driver), 0::bigint, 'a task that runs outside holds its place');
select is(places('j'), '1 of 1, 1 waiting', 'without a request being out');
select play_later('5 s'), play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"state": "done"}');
select is(play_take(:driver), 2::bigint, 'when it has ended the next one starts, beside its release');
select is(places('j'), '1 of 1, 0 waiting', 'a release needs no place');
select wf.leave(:driver);
select is(places('j'), '0 of 1, 1 waiting', 'a task that begins again waits again');
select play_driver() as driver \gset
select is(play_take(:driver), 2::bigint, 'a task that begins again is taken again');
-- an operator sets a max while a poll, which has yet to commit, inserts the row of the group
insert into wf.dirty (group_id, max) select g.id, 0 from wf.concurrency_group g where g.name = 'j';
select is((select v.max from wf.group_v v where v.name = 'j'), 0, 'group_v shows a max that no poll has settled yet');
select wf.group_set('j', 1);
-- groups that so many tasks name at once that their limits are settled later than their names
select play_install('many', jsonb_build_array(in_group('a', '["var", "k"]', '1', null, 't.Do', '{"k": 0}')), '[{"name": "k", "type": "string"}]');
select count(*) from wf.start_many('many', (select jsonb_agg(jsonb_build_object('k', 'one of ' || k % 2)) from generate_series(1, 1100) k));
select is((select sum(play_take(:driver, 1000)) from generate_series(1, 4)), 2::numeric, '1,100 tasks that begin at once keep to the limits of their two new groups');
select is(places('one of 0'), '1 of 1, 549 waiting', 'all others of such a group wait');
select wf.abort('{"workflow": "many"}');
select count(*) from wf.start_many('many', (select jsonb_agg(jsonb_build_object('k', 'own ' || k % 1100)) from generate_series(0, 2199) k));
select is((select sum(play_take(:driver, 1000)) from generate_series(1, 8)), 1100::numeric, '1,100 new groups keep to their limits, too');
select is((select max(n) from (select count(*) as n from wf.slot s group by s.group_id) x), 1::bigint, 'each has one place taken');

select is_empty('select * from wf.fsck()', 'all is well in the end');

select * from finish();
rollback;
