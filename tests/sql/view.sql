-- view.sql - what viewers read, and the tree.
begin;
\ir helper/play.sql
select plan(32);

-- columns(VIEW): in order
create function columns(p_view text) returns text
language sql as $$
    select string_agg(a.attname, ' ' order by a.attnum)
      from pg_attribute a
     where a.attrelid = p_view::regclass and a.attnum > 0;
$$;
select is(columns('wf.workflow_v'), 'workflow version installed_at installed_by doc params instances', 'workflow_v');
select is(columns('wf.version_v'), 'workflow version installed_at installed_by checksum source tree', 'version_v');
select is(columns('wf.instance_v'), 'instance_id workflow version key state result failed priority tags started_at ended_at started_by params output error trace_id progress parent_id parent_process_id depth scheduled_at expires_at is_over has_only_failures waits_for_operator', 'instance_v');
select is(columns('wf.process_v'), 'instance_id process_id parent_id kind name task_type title state attempt index at line group_name input output error handle driver retry_at times_out_at is_over', 'process_v');
select is(columns('wf.task_v'), columns('wf.process_v'), 'task_v has the columns of process_v');
select is(columns('wf.event_v'), 'instance_id seq at process_id label was event state actor login role client reason detail server_at', 'event_v');
select is(columns('wf.group_v'), 'name max held waiting', 'group_v');
select is(columns('wf.driver_v'), 'driver_id name version state started_at seen_at ended_at slots in_flight transports queues capabilities login', 'driver_v');
select is_empty($$
    select c.relname, a.attname
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
     where c.relnamespace = 'wf'::regnamespace and c.relkind = 'v' and col_description(c.oid, a.attnum) is null
$$, 'every column of a view has a comment');

select play_install('tale', jsonb_build_array(
    play_task('t.Do', 'first', '{"x": 5}', '{"title": "Once upon a time"}'),
    play_par(
        play_forall('x', '["a", "b", "c"]', play_seq(play_task('t.Do', 'd'), play_task('t.Do', 'e', '{}', '{"group": {"name": "g", "max": 1}}'))),
        play_task('t.Job', 'j'),
        play_task('t.Sleep', 's', '{"duration": "PT1H"}'))));
select play_driver() as driver \gset
select wf.start('tale', p_key => 'k', p_priority => 3, p_tags => '{x,y}') as i \gset
select play_take(:driver);

select results_eq($$select workflow, version, installed_by, doc, params, instances from wf.workflow_v$$,
    format($$values ('tale', 1, %L, null::text, '[]'::jsonb, 1::bigint)$$, session_user), 'workflow_v shows the workflow');
select results_eq($$select workflow, version, source from wf.version_v$$, $$values ('tale', 1, '// tale')$$, 'version_v shows its source');
select results_eq($$select tree from wf.version_v$$, $$select jsonb_build_object('format', 1, 'workflows', jsonb_build_array(spec -> 'workflow'), 'task_types', spec -> 'task_types') from wf.version$$, 'version_v shows its tree as a file');
select results_eq($$select instance_id, workflow, version, key, state, result, failed, priority, tags, started_by, params from wf.instance_v$$,
    format($$values (%s::bigint, 'tale', 1, 'k', 'RUNNING', null::text, 0::bigint, 3, '{x,y}'::text[], %L, '{}'::jsonb)$$, :i, session_user), 'instance_v shows the instance');
select results_eq($$select kind, task_type, title, state, attempt, line, input, driver from wf.task_v$$,
    $$values ('sync', 't.Do', 'Once upon a time', 'START_REQUESTED', 1, 1, '{"x": 5}'::jsonb, 'fake')$$, 'task_v shows the task and its driver');
select results_eq($$select name, state, in_flight, transports, queues from wf.driver_v$$,
    $$values ('fake', 'live', 1::bigint, '{builtin}'::text[], '{default}'::text[])$$, 'driver_v shows the driver');

select play_report(play_id(:i, 'first'), 'response', '{"value": 7}');
select is((select output from wf.process_v where process_id = play_id(:i, 'first')), '7', 'process_v shows the output');
select play_take(:driver);
select play_report(max(p.id)) from wf.process p where p.bind = 'd';
select play_report(min(p.id)) from wf.process p where p.bind = 'd';
select play_take(:driver);
select play_report(play_id(:i, 'j'), 'ack');
select play_fail(play_id(:i, 'j'), 'no answer');
select is((select failed from wf.instance_v), 1::bigint, 'instance_v counts what has failed');
select results_eq('select is_over, has_only_failures, waits_for_operator from wf.instance_v', 'values (false, false, false)',
    'an instance with a failure and with tasks under way waits for nobody');
select results_eq('select name, max, held, waiting from wf.group_v', $$values ('g', 1, 1::bigint, 1::bigint)$$, 'group_v shows the group');
select results_eq(format('select was, event, state, detail ->> ''message'' from wf.event_v where process_id = %s order by seq', play_id(:i, 'j')),
    $$values ('INIT', 'start', 'START_REQUESTED', null), ('START_REQUESTED', 'ack', 'EXECUTING', null), ('EXECUTING', 'fail', 'FAILED', 'no answer')$$,
    'event_v tells the story of a task');
select results_eq(format('select label, was, event, state, actor from wf.event_v where instance_id = %s and process_id is null', :i),
    format($$values ('tale', '', 'start', 'RUNNING', %L)$$, session_user), 'event_v tells the story of the instance');

select results_eq(format('select depth, kind, state from wf.tree(%s)', :i),
    $$values (0, 'call', 'ACTIVE'), (1, 'sync', 'END'), (1, 'par', 'ACTIVE'),
             (2, 'forall', 'ACTIVE'), (3, 'seq', 'ACTIVE'), (4, 'sync', 'END'), (4, 'sync', 'START_REQUESTED'),
             (3, 'seq', 'ACTIVE'), (4, 'sync', 'START_REQUESTED'),
             (3, 'seq', 'ACTIVE'), (4, 'sync', 'END'), (4, 'sync', 'INIT'),
             (2, 'async', 'FAILED'), (2, 'wait', 'WAITING')$$, 'the tree stands in the order of the source');
select results_eq(format($$select label, note from wf.tree(%s) where kind in ('forall', 'async') or label = 'Once upon a time'$$, :i),
    format($$values ('Once upon a time', null), (%L, '0 of 3'), (%L, 'http: no answer')$$,
        (select label from wf.tree(:i) where kind = 'forall'), (select label from wf.tree(:i) where kind = 'async')), 'with what there is to know');
select is((select count(*) from wf.tree(:i) where note like 'group g has 1 of 1 places taken: held by %'), 1::bigint, 'the note of a task that waits for a group says so');
select is((select count(*) from wf.tree(:i) where note like 'waits until %'), 1::bigint, 'the note of a sleep says until when');
select is((select string_agg(substring(label from '\[\d+\]'), '') from wf.tree(:i) where kind = 'seq'), '[0][1][2]', 'elements have their index');
select throws_ok('select * from wf.tree(999999)', 'WF003', 'there is no instance 999999', 'an unknown instance');

select wf.suspend(jsonb_build_object('instance', :i));
select results_eq('select is_over, has_only_failures, waits_for_operator from wf.instance_v', 'values (false, false, true)',
    'a suspended instance waits for an operator');
select wf.resume(jsonb_build_object('instance', :i));
select wf.engine_pause();
select is((select waits_for_operator from wf.instance_v), true, 'an instance waits for an operator while the engine is paused');
select wf.engine_resume();
select play_install('short', jsonb_build_array(play_task('t.Do', 'only')));
select wf.start('short') as j \gset
select play_take(:driver);
select play_fail(play_id(:j, 'only'));
select results_eq(format('select is_over, has_only_failures, waits_for_operator from wf.instance_v where instance_id = %s', :j),
    'values (false, true, true)', 'an instance waits for an operator when nothing but failures is left in it');
select wf.halt(jsonb_build_object('instance', jsonb_build_array(:i, :j)));
select results_eq('select distinct state, is_over, has_only_failures, waits_for_operator from wf.instance_v', $$values ('ABORTED', true, false, false)$$,
    'an instance that has ended is over, and waits for nobody');
select is_empty($$select from wf.process_v where not is_over$$, 'the processes of an instance that is over are over, too');

select * from finish();
rollback;
