-- checkpoint.sql - points from which an instance can be replayed.
begin;
\ir helper/play.sql
select no_plan();
select play_driver() as driver \gset
create function a_point(p_line int, p_only boolean default null) returns jsonb
language sql as $$ select jsonb_strip_nulls(jsonb_build_object('kind', 'checkpoint', 'line', p_line, 'only', p_only)); $$;
create function points(p_instance bigint) returns table (line int, only_this boolean, forgotten boolean)
language sql as $$ select c.line, c.only_this, c.forgotten from wf.checkpoint_v c where c.instance_id = p_instance order by c.seq; $$;

select play_install('points', jsonb_build_array(
    a_point(2), play_task('t.Do', 'a', '{"x": 1}'), a_point(4), play_seq(a_point(5, true), play_task('t.Do', 'b', '{"x": 2}')), a_point(7, false)));
select wf.start('points') as i \gset
select results_eq(format('select * from points(%s)', :i), $$values (2, false, false)$$, 'a checkpoint is passed at once');
select is((select count(*) from wf.process where instance_id = :i and kind = 'checkpoint'), 1::bigint, 'a checkpoint is one process');
select play_take(:driver);
select play_report(play_id(:i, 'a'), 'response', '{"value": 1}');
select results_eq(format('select * from points(%s)', :i), $$values (2, false, true), (4, false, true), (5, true, false)$$, 'one with only forgets those before it');
select play_on(:driver);
select results_eq(format('select * from points(%s)', :i), $$values (2, false, true), (4, false, true), (5, true, false), (7, false, false)$$, 'checkpoints after one with only are kept');
select results_eq(format($$select e.label, e.was, e.event, e.state, e.actor is not null from wf.event_v e where e.instance_id = %s and e.event = 'checkpoint' order by e.seq$$, :i),
    $$values ('checkpoint', 'ACTIVE', 'checkpoint', 'END', true), ('checkpoint', 'ACTIVE', 'checkpoint', 'END', true),
             ('checkpoint only', 'ACTIVE', 'checkpoint', 'END', true), ('checkpoint', 'ACTIVE', 'checkpoint', 'END', true)$$, 'the history shows them');
select ok((select c.seq between max(e.seq) filter (where e.label = 't.Do as a') and min(e.seq) filter (where e.label = 't.Do as b')
             from wf.event_v e where e.instance_id = :i), 'between the moves before and after')
  from wf.checkpoint_v c where c.instance_id = :i and c.line = 5;
select is((select result from wf.instance where id = :i), 'success', 'a checkpoint changes nothing else');
select results_eq($$select label, event from wf.simulate('points') where label like 'checkpoint%'$$,
    $$values ('checkpoint', 'checkpoint'), ('checkpoint', 'checkpoint'), ('checkpoint only', 'checkpoint'), ('checkpoint', 'checkpoint')$$, 'a simulation passes checkpoints, too');
select is_empty('select * from wf.fsck()', 'the rows agree with each other');

-- where it may stand
select lives_ok(format('select play_install(''good'', jsonb_build_array(%s))', good), 'allowed: ' || good)
  from unnest(array[
    $$'{"kind": "if", "line": 1, "condition": true, "then": {"kind": "checkpoint", "line": 1}}'::jsonb$$,
    $$'{"kind": "call", "line": 1, "workflow": "f", "args": {}, "steps": [{"kind": "checkpoint", "line": 1}]}'::jsonb$$,
    $$'{"kind": "try", "line": 1, "body": {"kind": "checkpoint", "line": 1}, "catches": [{"kind": "catch", "line": 1, "name": "e", "body": {"kind": "checkpoint", "line": 1}}]}'::jsonb$$]) good;
select throws_ok(format('select play_install(''bad'', jsonb_build_array(%s))', bad), 'WF005', format('workflows[0].steps[0].%s: checkpoint cannot stand inside par, dag, race, forall, finally or undo', place))
  from (values ($$play_par(a_point(1))$$, 'branches[0]'),
               ($$play_forall('x', '[1]', a_point(1))$$, 'body'),
               ($$play_par(play_seq(a_point(1)))$$, 'branches[0].steps[0]'),
               ($$play_forall('x', '[1]', play_seq('{"kind": "call", "line": 1, "workflow": "f", "args": {}, "steps": [{"kind": "checkpoint", "line": 1}]}'))$$, 'body.steps[0].steps[0]')) v (bad, place);
select throws_ok(format('select play_install(''bad'', %L)', bad), 'WF005', 'workflows[0].steps[0].' || message)
  from (values ('[{"kind": "checkpoint", "line": 1, "only": "yes"}]', 'only: must be true or false'),
               ('[{"kind": "checkpoint", "line": 1, "as": "x"}]', 'as: unknown key')) v (bad, message);
select * from finish();
rollback;
