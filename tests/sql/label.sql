-- label.sql - wherever one line stands for a process it says its title, or
-- else its name, and in which element of a forall it is.
begin;
\ir helper/play.sql
select plan(14);

select play_install('regions', jsonb_build_array(
    play_task('t.Do', 'begin', '{}', '{"title": "once upon a time"}'),
    play_forall('x', '["north", "south"]', play_seq(
        play_task('t.Do', 'a', '{}', '{"title": ["var", "x"]}') || '{"reads": {"x": 1}}',
        play_task('t.Do', 'b', '{}', '{"title": "then this"}')))));
select play_driver() as driver \gset
select wf.start('regions') as i \gset

-- labels(INSTANCE): of all that explain tells about.
create function labels(p_instance bigint) returns setof text
language sql as $$ select e.label from wf.explain(p_instance) e where e.reason <> 'children'; $$;

select is((select label from wf.label_v where instance_id = :i and process_id = play_id(:i, 'begin')), 'once upon a time', 'a title stands for the name');
select play_take(:driver), play_fail(play_id(:i, 'begin'));
select results_eq('select label from wf.stuck()', array['once upon a time'], 'stuck says the title');
select results_eq(format('select * from labels(%s)', :i), array['once upon a time'], 'explain says the title');
select wf.retry('{"failed": true}');
select play_take(:driver), play_report(play_id(:i, 'begin'));
select play_take(:driver);
select set_eq(format('select * from labels(%s)', :i), array['north [0]', 'south [1]'], 'explain says what the title''s expression gave, and the element around it');
select is((select label from wf.explain(:i, play_id(:i, 'a', null))), 'south [1]', 'explain of one process shows the title and the element');
select is((select e.label from wf.event_v e where e.process_id = play_id(:i, 'a') and e.event = 'start'), 'south [1]', 'the history shows the title and the element');
select matches((select e.detail from wf.explain(:i) e where e.label = 'seq [1]'), '^waits for 1: \d+ south \[1\] \(START_REQUESTED, then then this\)$',
    'explain of a composite has the titles of its children and of the next step');
select is((select l.label from wf.label_v l where l.instance_id = :i and l.process_id = play_id(:i, 'forall')), 'forall x', 'a forall in no element has no index');
select play_fail(play_id(:i, 'a'));
select results_eq('select label from wf.stuck()', array['south [1]'], 'stuck says them too');
select wf.ignore('{"failed": true}');
select is((select string_agg(c.label, ', ') from wf.changes(array[:i]) c where c.was = '' and c.label like 'then%'), 'then this [1]', 'a dry run shows the titles of steps that would begin');
select is((select string_agg(t.label, ', ' order by t.label) from wf.tree(:i) t where t.label like '%[%'), 'seq [0], seq [1]', 'the tree names elements alone');
select is((select string_agg(distinct s.label, ', ' order by s.label) from wf.simulate('regions') s where s.label ~ 'north|south|then'),
    'north [0], south [1], then this [0], then this [1]', 'a simulation says them');
select is_empty('select l.* from wf.label_v l where wf._label_of(l.instance_id, l.process_id) is distinct from l.label',
    'a single label is that of the view');
select is_empty('select * from wf.fsck()', 'all is well in the end');

select * from finish();
rollback;
