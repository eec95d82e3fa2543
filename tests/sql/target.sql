-- target.sql - what a target means: the whole workspace unless an id or
-- `latest` narrows it; and a verb touches what wf.preview said, or less.
begin;
\ir helper/play.sql
select plan(47);

select play_install('night', jsonb_build_array(play_par(play_task('t.Do', 'a'), play_task('t.Do', 'b'))));
select play_install('day', jsonb_build_array(play_task('t.Do', 'a')));
select play_driver() as driver \gset

-- touched(TARGET [, VERB]): the ids of what a preview says would be done, as `among` takes them
create function touched(p_target jsonb, p_verb text default 'retry') returns text
language sql as $$
    select coalesce(range_agg(int8range(coalesce(v.process_id, v.instance_id), coalesce(v.process_id, v.instance_id), '[]')), '{}')::text
      from wf.preview(p_verb, p_target) v where v.answer = 'done';
$$;

-- asked(TARGET, AMONG): the target of somebody who was asked
create function asked(p_target jsonb, p_among text) returns jsonb
language sql as $$ select p_target || jsonb_build_object('among', p_among); $$;

-- An outage: two instances of two workflows fail, the latest one is healthy.
select wf.start('night', p_tags => '{eu}') as n \gset
select wf.start('day') as d \gset
select wf.start('day') as healthy \gset
select play_take(:driver);
select play_fail(play_id(:n, 'a')), play_fail(play_id(:n, 'b')), play_fail(play_id(:d, 'a'));

savepoint failed;
select set_eq($$select process_id, answer from wf.retry('{"failed": true}')$$,
    format($$values (%s::bigint, 'done'), (%s::bigint, 'done'), (%s::bigint, 'done')$$, play_id(:n, 'a'), play_id(:n, 'b'), play_id(:d, 'a')),
    'failed means the whole workspace, also when the latest instance is healthy');
select is_empty('select * from wf.fsck()', 'all is well after that');
rollback to failed;
select set_eq($$select process_id from wf.ignore('{"state": "FAILED"}')$$,
    array[play_id(:n, 'a'), play_id(:n, 'b'), play_id(:d, 'a')], 'a state narrows a target');
rollback to failed;
select set_eq($$select process_id from wf.retry('{"workflow": "night"}')$$,
    array[play_id(:n, 'a'), play_id(:n, 'b')], 'a workflow means all of its instances');
rollback to failed;
select set_eq($$select instance_id from wf.abort('{"failed": true}')$$, array[:n, :d]::bigint[],
    'abort of what has failed means every instance in which something has');
rollback to failed;
select set_eq($$select instance_id from wf.suspend('{"state": "RUNNING"}')$$, array[:n, :d, :healthy]::bigint[],
    'suspend by a state means every instance in that state');
rollback to failed;
select set_eq(format($$select instance_id from wf.cancel('{"state": "START_REQUESTED"}')$$), array[:healthy]::bigint[],
    'cancel by a state finds what is in it, wherever it is');
rollback to failed;

-- what narrows
select set_eq(format($$select instance_id from wf.retry('{"failed": true, "instance": %s}')$$, :d), array[:d]::bigint[], 'an instance narrows it');
rollback to failed;
select set_eq(format($$select process_id from wf.retry('{"failed": true, "process": %s}')$$, play_id(:n, 'b')), array[play_id(:n, 'b')], 'a process narrows a target');
rollback to failed;
select set_eq($$select instance_id from wf.retry('{"failed": true, "tag": "eu"}')$$, array[:n]::bigint[], 'a tag narrows a target');
rollback to failed;
select results_eq($$select instance_id, answer from wf.retry('{"failed": true, "latest": true}')$$,
    format($$values (%s::bigint, 'refused')$$, :healthy), 'latest means the latest instance, which answers in any case');
select results_eq($$select instance_id, answer from wf.retry('{"global": true, "failed": true}')$$,
    format($$values (%s::bigint, 'refused')$$, :healthy), 'global says the same');
select set_eq($$select instance_id from wf.retry('{"latest": true, "workflow": "night"}')$$, array[:n]::bigint[], 'latest of a workflow');
rollback to failed;
select set_eq(format($$select instance_id from wf.retry('{"latest": true, "instance": [%s, %s]}')$$, :n, :d), array[:d]::bigint[], 'latest of several instances');
rollback to failed;

-- what names nothing must not mean everything
select throws_ok(format('select wf.abort(%L)', t), 'WF002', null, 'refused: ' || t)
  from unnest(array['{}', '{"failed": false}', '{"latest": false, "global": false}', '{"state": null}', '{"among": "{[1,9)}"}',
                    '{"instance": null}', '{"workflow": null}', '{"failed": true, "among": "all"}', '{"failed": true, "among": [1]}']) t;
select throws_ok($$select wf.retry('{"instance": []}')$$, 'WF003', null, 'an empty list of instances means none');
select throws_ok($$select wf.retry('{"state": []}')$$, 'WF003', null, 'an empty list of states does not mean all');
select is((select count(*) from wf.instance where state = 'RUNNING'), 3::bigint, 'nothing was touched');

-- a preview says what a verb answers
create temporary table said as
select t.verb, t.target, v.instance_id, v.process_id, v.answer
  from (values ('retry', '{"failed": true}'::jsonb), ('ignore', '{"workflow": "day"}'), ('cancel', '{"workflow": "day"}'), ('abort', '{"failed": true}'),
               ('retry', format('{"instance": [%s, %s, 999999]}', :n, :healthy)::jsonb), ('raise', format('{"process": [%s, 999999]}', play_id(:d, 'a'))::jsonb),
               ('suspend', format('{"instance": [%s, 999999]}', :d)::jsonb)) t (verb, target),
       wf.preview(t.verb, t.target) v;
create function does(p_verb text, p_target jsonb) returns text language plpgsql as $$
declare
    v_answers text;
begin
    begin
        execute format('select string_agg(x, chr(10) order by x) from (select concat_ws(''|'', instance_id, process_id, answer) as x from wf.%I($1)) a', p_verb)
           into v_answers using p_target;
        raise exception 'undo' using errcode = 'ZZ001';
    exception when sqlstate 'ZZ001' then
        return v_answers;
    end;
end;
$$;
select is((select string_agg(concat_ws('|', s.instance_id, s.process_id, s.answer), chr(10) order by concat_ws('|', s.instance_id, s.process_id, s.answer))
             from said s where s.verb = t.verb and s.target = t.target),
          does(t.verb, t.target), format('a preview of %s %s says what it answers', t.verb, t.target))
  from (select distinct s.verb, s.target from said s) t;
select is((select string_agg(distinct workflow, ' ' order by workflow) from wf.preview('retry', '{"failed": true}')), 'day night', 'a preview has the workflows of what it would touch');
select throws_ok($$select wf.preview('retry', '{"workflow": "night", "tag": "us"}')$$, 'WF003', null, 'a preview of nothing');
select throws_ok($$select wf.preview('delete', '{"failed": true}')$$, 'WF002', 'there is no verb "delete"', 'a preview of no verb');
set local role wf_operator;
select count(*) as seen from wf.preview('retry', '{"failed": true}') \gset
reset role;
select is(:seen, 3, 'operators may look');

-- among: what happens after somebody was asked is left out
select touched('{"failed": true}') as among \gset
select play_fail(play_id(:healthy, 'a'));
select wf.retry(format('{"process": %s}', play_id(:n, 'b'))::jsonb);
select set_eq(format($$select process_id, answer from wf.retry(asked('{"failed": true}', %L))$$, :'among'),
    format($$values (%s::bigint, 'done'), (%s::bigint, 'done')$$, play_id(:n, 'a'), play_id(:d, 'a')),
    'the verb leaves out a process that failed after the question, and one that is no longer FAILED');
select is(play_state(:healthy, 'a'), 'FAILED', 'a task that failed after the question is FAILED still');
select results_eq(format($$select instance_id, process_id, answer, detail from wf.retry(asked('{"process": %s}', %L))$$, play_id(:healthy, 'a'), :'among'),
    format($$values (%s::bigint, %s::bigint, 'refused', 'FAILED: it was in another state when the question was asked')$$, :healthy, play_id(:healthy, 'a')),
    'named by its id it is answered');
select throws_ok(format($$select wf.retry(asked('{"failed": true}', %L))$$, :'among'), 'WF003', 'nothing matches the target {"failed": true}', 'nothing is left of what was asked about');
select touched('{"failed": true}', 'abort') as among \gset
select wf.retry('{"failed": true}');
select throws_ok(format($$select wf.abort(asked('{"failed": true}', %L))$$, :'among'), 'WF003', null, 'an instance that has healed meanwhile is not aborted');
select touched('{"state": "RUNNING"}', 'suspend') as among \gset
select wf.start('day') as later \gset
select set_eq(format($$select instance_id from wf.suspend(asked('{"state": "RUNNING"}', %L))$$, :'among'), array[:n, :d, :healthy]::bigint[], 'an instance that was started later is left out');
select results_eq(format($$select answer, detail from wf.suspend(asked('{"instance": %s}', %L))$$, :later, :'among'),
    $$values ('refused', 'RUNNING: it was in another state when the question was asked')$$, 'named by its id it is answered');

-- purge
select wf.abort('{"state": ["RUNNING", "SUSPENDED"]}');
select play_on(:driver), play_take(:driver), play_on(:driver);
select wf.abort(format('{"instance": %s}', :later)::jsonb) where exists (select from wf.instance where id = :later and state = 'RUNNING');
select touched('{"state": "ABORTED"}', 'purge') as among \gset
select wf.start('day') as young \gset
select play_take(:driver), play_report(play_id(:young, 'a'));
select set_eq(format($$select instance_id from wf.purge(asked('{"state": ["END", "ABORTED"]}', %L), p_limit => 2)$$, :'among'),
    (select array_agg(x) from (select unnest(array[:n, :d]::bigint[]) x) y), 'purge goes page by page');
select results_eq(format($$select instance_id, detail from wf.purge(asked('{"instance": %s}', %L))$$, :young, :'among'),
    format($$values (%s::bigint, 'END: it was in another state when the question was asked')$$, :young), 'a purge leaves instances that ended after the question');
select is_empty('select * from wf.fsck()', 'all is well in the end');

select * from finish();
rollback;
