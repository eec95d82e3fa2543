-- binding.sql - the value of a name that another value replaces is kept, with its
-- place in the history.
begin;
\ir helper/play.sql
select no_plan();
select play_driver() as driver \gset
create function play_try(p_body jsonb, p_error text, p_catch jsonb) returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'try', 'line', 2, 'body', p_body,
                              'catches', jsonb_build_array(jsonb_build_object('kind', 'catch', 'line', 3, 'name', p_error, 'body', p_catch)));
$$;

-- a name that is bound once
select play_install('once', jsonb_build_array(play_task('t.Do', 'r', '{"x": 1}')));
select wf.start('once') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'r'));
select count(*) from wf.retry(format('{"process": %s}', play_id(:i, 'r'))::jsonb);
select play_take(:driver), play_fail(play_id(:i, 'r'));
select count(*) from wf.resolve(format('{"process": %s}', play_id(:i, 'r'))::jsonb, '7');
select results_eq(format('select name, value, until_seq, until_at from wf.binding_v where instance_id = %s', :i),
    $$values ('r', '7'::jsonb, null::bigint, null::timestamptz)$$, 'a task binds its name once, however often it was tried');
select is_empty('select * from wf.binding_past', 'no former value is kept for a name that was bound once');

-- the body of a try binds a name, and its catch binds that name again
select play_install('twice', jsonb_build_array(
    play_try(play_seq(play_task('t.Do', 'r', '{"x": 1}'), play_task('t.Do', 'b')), 'e', play_task('t.Do', 'r', '{"x": 2}')),
    play_try(play_seq(play_task('t.Do', 's', '{"x": 5}'), play_task('t.Do', 'd')), 'f', play_task('t.Do', 's', '{"x": 5}'))));
select wf.start('twice') as i \gset
select wf.start('twice') as other \gset
select play_take(:driver), play_report(play_id(:i, 'r'), 'response', '{"value": 1}');
select is_empty('select * from wf.binding_past', 'the first value replaces nothing');
select play_take(:driver), play_fail(play_id(:i, 'b'), 'first');
select play_take(:driver), play_report(play_id(:i, 'r'), 'response', '{"value": 2}');
select results_eq(format('select name, value, until_seq is null from wf.binding_v where instance_id = %s and name = ''r'' order by until_seq', :i),
    $$values ('r', '1'::jsonb, false), ('r', '2', true)$$, 'the value that was replaced is kept beside the present one');
select is((select scope_id from wf.binding_past), (select id from wf.process where instance_id = :i and parent_id is null), 'in the scope of its name');
select results_eq(format($$select event, state from wf.event where instance_id = %s and seq < (select until_seq from wf.binding_past) order by seq desc limit 1$$, :i),
    $$values ('success', 'END')$$, 'a replaced value has the number of the move that replaced it');
select is((select until_at from wf.binding_v where until_seq is not null),
          (select at from wf.process where id = play_id(:i, 'r')), 'the view says when a value was replaced');
select is_empty('select * from wf.fsck()', 'all is well');

-- a catch that binds the same value
select play_take(:driver), play_report(play_id(:i, 's'), 'response', '{"value": 5}');
select play_take(:driver), play_fail(play_id(:i, 'd'), 'second');
select play_take(:driver), play_report(play_id(:i, 's'), 'response', '{"value": 5}');
select is((select state from wf.instance where id = :i), 'END', 'the instance ends');
select results_eq(format('select name, value from wf.binding_v where instance_id = %s and name in (''r'', ''s'') order by until_seq, name', :i),
    $$values ('r', '1'::jsonb), ('r', '2'), ('s', '5')$$, 'the same value again replaces nothing');
select is_empty(format('select * from wf.binding_past where instance_id = %s', :other), 'an instance that replaced nothing has no row');
select is_empty('select * from wf.fsck()', 'all is well');

-- its end
savepoint s;
delete from wf.binding where instance_id = :i and name = 'r';
select results_eq('select check_name, instance_id, detail from wf.fsck()',
    format($$values ('binding: a former value of a name that has none now', %s::bigint, 'r')$$, :i), 'fsck finds a former value of a name without a value');
rollback to s;
select is((select answer from wf.purge(format('{"instance": %s}', :i)::jsonb)), 'done', 'the instance is purged');
select is_empty('select * from wf.binding_past', 'a purge takes the former values, too');

-- a large instance goes in portions, which its former values alone make it
select wf.start('once') as i \gset
select play_on(:driver) > 0;
insert into wf.binding_past (instance_id, scope_id, name, until_seq, value)
select b.instance_id, b.scope_id, b.name, k, to_jsonb(k) from wf.binding b, generate_series(1, 1500) k where b.instance_id = :i;
select is((select answer from wf.purge(format('{"instance": %s}', :i)::jsonb)), 'begun', 'an instance with many former values is purged in portions');
select is((select count(*) from wf.binding_past), 500::bigint, 'of 1,000 of them');
select count(wf.work());
select is_empty('select * from wf.binding_past', 'later portions purge the other former values');
select is_empty('select * from wf.fsck()', 'all is well');
select * from finish();
rollback;
