-- list.sql - the latest instances: what list finds by its indexes is what a
-- look at all of them finds.
begin;
\ir helper/play.sql
select plan(14);

select play_install('quick', jsonb_build_array(play_task('t.Do', 'a')));
select play_install('slow', jsonb_build_array(play_task('t.Sleep', 'a', '{"duration": "PT1H"}')));
select play_install('full', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"group": {"name": "g", "max": 1}}')));
select play_driver() as driver \gset

-- two of each workflow in each state that it comes to
select wf.start('quick', p_tags => '{x}') as ended, wf.start('quick', p_tags => '{y}') as broken \gset
select play_take(:driver);
select play_report(play_id(:ended, 'a')), play_fail(play_id(:broken, 'a'));
select wf.start(w) from unnest('{slow,full,quick}'::text[]) w;
select wf.start('quick', p_tags => '{x,y}') as failed \gset
select play_take(:driver);
select play_fail(play_id(:failed, 'a'));
select wf.start(w, p_tags => '{x}') as id from unnest('{quick,slow,full}'::text[]) w;
select wf.start('quick') as aborted, wf.start('slow') as held, wf.start('full') as held_too \gset
select wf.abort(jsonb_build_object('instance', :aborted));
select wf.suspend(jsonb_build_object('instance', jsonb_build_array(:held, :held_too)));
select is((select string_agg(distinct i.state, ' ' order by i.state) from wf.instance_v i), 'ABORTED END RUNNING SUSPENDED', 'instances of each state that lasts');
select is_empty($$
    select t from unnest('{failed,ready,parked,lease,timer,suspended}'::text[]) t
     where not (xpath('/row/any/text()', query_to_xml(format('select exists (select from wf.%I) as any', t), false, true, '')))[1]::text::boolean
$$, 'each table that makes an instance live has rows');

-- found(…): by looking at all of them
create function found(p_states text[], p_workflow text, p_tags text[], p_failed boolean, p_limit int) returns bigint[]
language sql as $$
    select array(select i.instance_id from wf.instance_v i
                  where (p_states is null or i.state = any (p_states)) and (p_workflow is null or i.workflow = p_workflow)
                    and (p_tags is null or i.tags @> p_tags) and (not p_failed or i.failed > 0)
                  order by i.instance_id desc limit p_limit);
$$;
create temporary table question as
select s.states::text[] as states, w as workflow, t.tags::text[] as tags, f as failed, n as max
  from (values (null), ('{}'), ('{RUNNING}'), ('{SUSPENDED}'), ('{RUNNING,SUSPENDED,ABORTING}'), ('{END}'), ('{RUNNING,ABORTED}'), ('{ABORTING}')) s (states),
       unnest('{quick,slow,NULL}'::text[]) w, (values (null), ('{}'), ('{x}'), ('{x,y}'), ('{z}')) t (tags),
       unnest('{true,false}'::boolean[]) f, unnest('{0,1,3,100}'::int[]) n;
select is_empty($$
    select q.*, array(select wf.list(q.states, q.workflow, q.tags, q.failed, q.max)) as listed from question q
     where array(select wf.list(q.states, q.workflow, q.tags, q.failed, q.max)) <> found(q.states, q.workflow, q.tags, q.failed, q.max)
$$, 'every combination finds what a look at all finds, in order');
select cmp_ok((select count(distinct found(q.states, q.workflow, q.tags, q.failed, q.max)) from question q), '>', 20::bigint, 'the answers of the questions differ');
select is(array(select wf.list()), found(null, null, null, false, 50), 'without arguments the latest fifty');
select throws_ok('select wf.list(p_limit => null)', 'WF002', 'the limit must be at least 0, not null', 'the limit is a number');
select throws_ok('select wf.list(p_limit => -1)', 'WF002', 'the limit must be at least 0, not -1', 'a negative limit is refused');
select is(array(select wf.list(p_states => '{RUNNING}', p_failed => null)), found('{RUNNING}', null, null, false, 50), 'null asks for nothing');
select is(array(select wf.list(p_result => 'aborted')), array(select i.instance_id from wf.instance_v i where i.result = 'aborted' order by 1 desc), 'those with a result');
select is(array(select wf.list(p_key => 'no such key')), '{}', 'a key that nothing has finds nothing');
select is(array(select wf.list(p_since => '2999-01-01')), '{}', 'nothing has been started since a moment to come');
select throws_ok($$select wf.list('{EXECUTING}')$$, 'WF002', 'an instance has no state "EXECUTING"', 'a state of tasks is none of instances');
select throws_ok($$select wf.list(p_result => 'fine')$$, 'WF002', 'an instance has no result "fine"', 'there is no such result');
select throws_ok($$select wf.list(p_workflow => 'none')$$, 'WF003', 'there is no workflow none', 'there is no such workflow');
select * from finish();
rollback;
