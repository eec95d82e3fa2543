-- poison.sql - a row that raises an error wherever upkeep meets it: no poll
-- stops, everything else goes on, and after three tries it is set aside.
begin;
\ir helper/play.sql
select no_plan();
select set_config('wf.now', '2026-03-01 12:00:00+00', true);
select play_driver() as driver \gset
select play_install('quick', jsonb_build_array(play_task('t.Do', 'q')));

-- play_minutes(N): polls once a second, for so long
create function play_seconds(p_driver bigint, p_seconds int) returns void language plpgsql as $$
begin
    for k in 1 .. p_seconds loop
        perform play_later('1 s'), play_on(p_driver);
    end loop;
end;
$$;

-- names that are too large for an index
create temp table names as
    select jsonb_agg((select string_agg(chr(97 + (random() * 25)::int), '') from generate_series(1, 100) where k > 0)) as xs from generate_series(1, 64) k;
select play_install('needy', jsonb_build_array(
    play_task('t.Sleep', 'a', '{"duration": "PT1S"}'), play_task('t.Do', 'b', '{}', '{"requires": ["var", "xs"]}') || '{"reads": {"xs": 0}}'),
    '[{"name": "xs", "type": "list"}]');
select wf.start('needy', jsonb_build_object('xs', xs)) as needy from names \gset
select wf.start('quick') as quick \gset
select lives_ok(format('select play_seconds(%s, 2)', :driver), 'polls go on after a sleep before a task that requires 64 capabilities of 100 letters');
select is(play_state(:quick, 'q'), 'END', 'other instances go on beside the capabilities');
select is(play_state(:needy, 'b'), 'INIT', 'the task waits for a driver that has them');
select matches((select e.detail from wf.explain(:needy, play_id(:needy, 'b')) e where e.reason = 'driver'), 'no live driver serves queue default', 'as explain says');

-- a list that is larger than a value may be
select wf.setting_set('value_bytes', 1024);
select play_install('hoard', jsonb_build_array(
    play_forall('x', '[1, 2, 3]', play_seq(
        play_task('t.Do', 'r', jsonb_build_object('x', repeat('y', 600))), play_task('t.Sleep', 's', '{"duration": "PT1S"}')))
    || '{"collect": [{"as": "all", "value": ["var", "r"]}], "collect_reads": {"r": 1}}'));
select wf.start('hoard') as hoard \gset
select lives_ok(format('select play_seconds(%s, 3)', :driver), 'polls go on when a forall has collected more than a value may have');
select results_eq(format($$select state, error ->> 'kind' from wf.process where id = %s$$, play_id(:hoard, 'forall')), $$values ('FAILED', 'output')$$,
    'the forall has failed of kind output');
select matches((select error ->> 'message' from wf.process where id = play_id(:hoard, 'forall')), 'has [0-9]+ bytes, more than the 1024 allowed', 'with both sizes');
select wf.setting_set('value_bytes', 1048576);

-- an error of any kind while the next task is prepared
create function raises(variadic p_args jsonb[]) returns jsonb
language plpgsql immutable security definer set search_path = pg_catalog, pg_temp as $$
begin
    raise exception 'raised on purpose' using errcode = p_args[1] #>> '{}';
end;
$$;
select wf.function_set('raises', 'public.raises', '{code: string}', 'string', 'for tests');
select play_install('angry', jsonb_build_array(
    play_task('t.Sleep', 'a', '{"duration": "PT1S"}'), play_task('t.Do', 'b', '{"x": ["call", "raises", ["var", "code"]]}') || '{"reads": {"code": 0}}'),
    '[{"name": "code", "type": "string"}]');
create temp table angry as
    select x.code, wf.start('angry', jsonb_build_object('code', x.code)) as i
      from unnest(array['54000', '53200', '22P05', 'XX000', '40001', '57P01', '57P03', '0A000', 'P0004']) x (code);
select wf.start('quick') as quick \gset
select lives_ok(format('select play_seconds(%s, 2)', :driver), 'polls go on when expressions raise any error');
select is(play_state(:quick, 'q'), 'END', 'other instances go on beside expressions that raise errors');
select results_eq($$select distinct p.state, p.error ->> 'kind' from angry a join wf.process p on p.instance_id = a.i and p.bind = 'b'$$,
    $$values ('FAILED', 'input')$$, 'tasks whose arguments raise an error have failed, whatever error it is');
select is((select count(*) from angry a join wf.process p on p.instance_id = a.i and p.bind = 'b'), (select count(*) from angry), 'each of them');
select is_empty($$select * from wf.fsck()$$, 'nothing contradicts anything');

-- an error in the moves themselves: a trigger of somebody else's on a table of ours
create table bad (code text);
insert into bad values ('53200');
grant select on bad to wf_owner;
create function bad_row() returns trigger language plpgsql security definer as $$
begin
    if new.name = 'poisoned' then
        raise exception 'no such name here' using errcode = (select b.code from public.bad b);
    end if;
    return new;
end;
$$;
create trigger bad_row before insert on wf.binding for each row execute function bad_row();
select play_install('bitten', jsonb_build_array(
    play_task('t.Sleep', 'a', '{"duration": "PT1S"}'), '{"kind": "let", "line": 1, "as": "poisoned", "value": 1}'::jsonb, play_task('t.Do', 'c')));
select wf.start('bitten') as bitten, wf.start('quick') as quick \gset
select lives_ok(format('select play_seconds(%s, 3)', :driver), 'polls go on when what follows from a timer raises an error');
select is(play_state(:quick, 'q'), 'END', 'other instances go on beside a trigger that raises errors');
select is(play_state(:bitten, 'a'), 'WAITING', 'the sleep is tried again');
select lives_ok(format('select play_seconds(%s, 80)', :driver), 'for long, where the server is at fault');
select is(play_state(:bitten, 'a'), 'WAITING', 'the task whose trigger raises an error waits');
select results_eq(format('select distinct reason from wf.explain(%s, %s)', :bitten, play_id(:bitten, 'a')), $$values ('time')$$, 'explain says until when');
select matches((select e.detail from wf.explain(:bitten, play_id(:bitten, 'a')) e), 'could not be carried out: no such name here; it is tried again', 'explain says why the task waits');
select is_empty($$select * from wf.fsck()$$, 'nothing contradicts anything');
update bad set code = 'XX001';
select lives_ok(format('select play_seconds(%s, 200)', :driver), 'after 1 s, 10 s and 60 s where it is not');
select results_eq(format($$select state, error ->> 'kind', error ->> 'message' from wf.process where id = %s$$, play_id(:bitten, 'a')),
    $$values ('FAILED', 'engine', 'it was tried 3 times: no such name here')$$, 'the task has failed with kind engine after three tries');
drop trigger bad_row on wf.binding;
select results_eq(format($$select answer from wf.retry('{"process": %s}')$$, play_id(:bitten, 'a')), $$values ('done')$$, 'an operator may retry it');
select lives_ok(format('select play_seconds(%s, 3)', :driver), 'the retried task goes on');
select is((select state from wf.instance where id = :bitten), 'END', 'to its end');
select is_empty($$select * from wf.work$$, 'no work is left over');

-- work that does not come to its end: each call that tries it is cut off, so
-- only what was committed before it stands
select wf.start('quick') as quick \gset
insert into wf.work (kind, instance_id, item_id, due_at) values ('begin', :quick, 0, wf.now()) returning id as item \gset
select is(wf.work(0), :item::bigint, 'a driver is given the item that is due');
select results_eq('select tries, aside from wf.work', 'values (1, false)', 'a try is counted before it is made');
select is(wf.work(0), null, 'nobody else is given it meanwhile');
select play_later('1 s');
select is(wf.work(0), :item::bigint, 'after 1 s it is tried again');
select play_later('9 s');
select is(wf.work(0), null, 'the second try is not made before 10 s');
select play_later('1 s');
select is(wf.work(0), :item::bigint, 'the second try is made after 10 s');
select play_later('60 s');
select is(wf.work(0), :item::bigint, 'after 60 s comes the last call');
select is(wf.work(:item), null, 'the last call makes no try');
select results_eq(format($$select tries, aside, error ->> 'message' from wf.work where instance_id = %s$$, :quick),
    $$values (3, true, 'it did not come to its end')$$, 'after three tries the item is set aside');
select results_eq($$select class, check_name, instance_id from wf.fsck()$$, format($$values ('attention', 'work: set aside', %s::bigint)$$, :quick), 'fsck tells of it');
delete from wf.work;

-- a poll that did not come to its end: what it fired is tried alone
select play_install('naps', jsonb_build_array(play_task('t.Sleep', 'a', '{"duration": "PT1S"}'), play_task('t.Do', 'b')));
select wf.start('naps') as naps, wf.start('naps') as other \gset
select play_on(:driver), play_later('1 s');
select is(wf.work(0, true) is not null, true, 'a driver says that its poll did not come to its end');
select results_eq('select kind, instance_id from wf.work order by instance_id', format($$values ('timer', %s::bigint), ('timer', %s)$$, :naps, :other),
    'each timer that is due is to be tried alone');
select wf.poll(:driver, 0);
select is(play_state(:naps, 'a'), 'WAITING', 'polls leave them out');
select is(wf.work(0, true) is not null, true, 'a second poll that did not come to its end');
select is((select count(*) from wf.work), 2::bigint, 'adds none');
select is_empty($$select * from wf.fsck()$$, 'nothing contradicts anything');
select count(wf.work()), play_later('1 s') from generate_series(1, 4);
select play_on(:driver);
select is((select count(*) from wf.instance where id in (:naps, :other) and state = 'END'), 2::bigint, 'both go on to their end');
select is_empty($$select * from wf.work$$, 'no work is left over');

-- a timer that is tried alone, and another one that the same task sets meanwhile
select wf.start('naps') as naps \gset
select play_on(:driver), play_later('1 s'), wf.work(0, true);
select results_eq(format($$select answer from wf.cancel('{"process": %s}')$$, play_id(:naps, 'a')), $$values ('done')$$, 'a task whose timer is tried alone can be cancelled');
select results_eq(format($$select answer from wf.retry('{"process": %s}')$$, play_id(:naps, 'a')), $$values ('done')$$, 'a task whose timer is tried alone can be retried');
select count(wf.work()) from generate_series(1, 4);
select is(play_state(:naps, 'a'), 'WAITING', 'the new timer is not fired for the former one');
select is_empty($$select * from wf.work$$, 'no work is left over');
select play_later('1 s'), play_on(:driver);
select is((select state from wf.instance where id = :naps), 'END', 'the task with the new timer goes on to its end');

-- a poll fires a timer while another driver says that it is to be tried alone
select play_install('job', jsonb_build_array(play_task('t.Job', 'j')));
select wf.start('job') as job \gset
select play_take(:driver), play_report(play_id(:job, 'j'), 'ack');
select play_report(play_id(:job, 'j'), 'response', '{"id": 1}'), play_later('5 s');
select wf.work(0, true) as item \gset
select wf._fire_timers(array[:job], array[play_id(:job, 'j')], wf.now());
select is_empty($$select * from wf.fsck()$$, 'nothing contradicts anything while its request is ready');
select is((select count(*) from wf.poll(:driver, 10) where kind = 'run'), 1::bigint, 'a driver takes its request');
select is_empty($$select * from wf.fsck()$$, 'fsck finds nothing while a driver has the request');
select wf.work(:item);
select is((select count(*) from wf.ready where instance_id = :job) + (select count(*) from wf.work), 0::bigint,
    'the task is not asked for twice, and no work is left');
select wf.abort(format('{"instance": %s}', :job)::jsonb);

-- a row that raises an error when names and places of groups are settled: what
-- it and the others ask for survives
create function bad_name() returns trigger language plpgsql as $$
begin
    if new.name = 'bad' then
        raise exception 'no such group here' using errcode = 'XX001';
    end if;
    return new;
end;
$$;
create trigger bad_name before insert on wf.concurrency_group for each row execute function bad_name();
select play_install('grouped', jsonb_build_array(
    play_task('t.Do', 'x', '{}', '{"group": {"name": ["var", "g"], "max": 2}, "queue": ["var", "q"]}') || '{"reads": {"g": 0, "q": 0}}'),
    '[{"name": "g", "type": "string"}, {"name": "q", "type": "string"}]');
select wf.start('grouped', '{"g": "bad", "q": "default"}') as bad, wf.start('grouped', '{"g": "good", "q": "default"}') as good,
       wf.start('grouped', '{"g": "good", "q": "far"}') as far \gset
select lives_ok(format('select wf.poll(%s, 0)', :driver), 'polls go on when a row on the list raises an error');
select is((select count(*) from wf.dirty), 0::bigint, 'all that stood on the list is to be tried alone');
select count(wf.work()), play_on(:driver) from generate_series(1, 10);
select is(play_state(:good, 'x'), 'END', 'a task of another group goes on');
select results_eq($$select name, max from wf.concurrency_group$$, $$values ('good', 2)$$, 'the other group has the max that was given');
select is((select count(*) from wf.lane where queue = 'far'), 1::bigint, 'a new lane has its row');
select results_eq($$select kind, asked ->> 'name', aside from wf.work$$, $$values ('settle', 'bad', false)$$, 'only the row that raises it is tried alone');
select results_eq($$select name, max, waiting from wf.group_v where name = 'bad'$$, $$values ('bad', 2, 1::bigint)$$, 'group_v shows the group of the spoilt row');
select is_empty($$select * from wf.fsck()$$, 'nothing contradicts anything');
select lives_ok(format('select play_seconds(%s, 15)', :driver), 'the spoilt row is tried three times');
select results_eq($$select class, check_name, detail from wf.fsck()$$,
    $$values ('attention', 'work: set aside', 'places of group bad: no such group here')$$, 'the spoilt row is set aside after three tries, and fsck tells of it');
drop trigger bad_name on wf.concurrency_group;
select results_eq(format($$select count(*) from wf.suspend('{"instance": %s}')$$, :far), $$values (1::bigint)$$, 'an operator sees to an instance');
select count(*) from wf.retry(format('{"instance": %s}', :bad)::jsonb);
select lives_ok(format('select play_seconds(%s, 3)', :driver), 'with any verb all that belongs to no instance is tried again');
select is(play_state(:bad, 'x'), 'END', 'the group has places');
select results_eq($$select name, max from wf.concurrency_group order by 1$$, $$values ('bad', 2), ('good', 2)$$, 'the group has its max');
select is_empty($$select * from wf.work$$, 'no work is left over');

-- a report whose application raises an error of whatever class: the others of
-- the same call are applied
update bad set code = '53100';
create trigger bad_row before insert on wf.binding for each row execute function bad_row();
select play_install('stung', jsonb_build_array(
    play_task('t.Do', 'a'), '{"kind": "let", "line": 1, "as": "poisoned", "value": 1}'::jsonb, play_task('t.Do', 'c')));
create temp table stung as
    select c.code, wf.start('stung') as instance_id
      from unnest(array['40001', '40P01', '53100', '53200', '55P03', '55000', '58030', '58P01']) c (code);
create temp table told (code text, task text, answer text);
grant all on told to public;

-- report_all(CODE, INSTANCES): reports the last request of each in one call, as a driver that keeps what is busy
create function report_all(p_code text, p_instances bigint[]) returns void language plpgsql as $$
begin
    update public.bad set code = p_code;
    insert into told
    select p_code, p.bind, o.answer
      from (select array_agg(r.instance_id) i, array_agg(r.process_id) j, array_agg(r.token) t, min(r.driver_id) d, count(*)::int n
              from play_request r join wf.lease l using (token) where r.instance_id = any (p_instances)) r
     cross join lateral wf.outcome(r.d, r.i, r.j, r.t, array_fill('response'::text, array[r.n]), array_fill(''::bytea, array[r.n]), 0) o
      join play_request q on q.token = o.token
      join wf.process p on p.instance_id = q.instance_id and p.id = q.process_id;
end;
$$;
create temp table quick as select s.code, wf.start('quick') as instance_id from stung s;
select play_take(:driver);
select lives_ok(format('select report_all(%L, array[%s, %s])', s.code, s.instance_id, q.instance_id), 'reports are answered when one raises ' || s.code)
  from stung s join quick q using (code);
select results_eq('select distinct task, answer from told order by task', $$values ('a', 'busy'), ('q', 'done')$$,
    'a report that the server failed is repeated, and the others are done');
select is((select count(*) from stung s join wf.lease l using (instance_id)), (select count(*) from stung), 'nothing of it was done');
select is_empty($$select * from wf.fsck()$$, 'nothing contradicts anything');
truncate told;
select lives_ok(format('select report_all(%L, array[%s])', 'P0004', s.instance_id), 'a report is answered when it raises a failed assertion')
  from stung s where s.code = '40001';
select results_eq('select task, answer from told', $$values ('a', 'done')$$, 'an error that is its own makes its task fail');
select results_eq($$select p.state, p.error ->> 'kind' from stung s join wf.process p using (instance_id) where s.code = '40001' and p.bind = 'a'$$,
    $$values ('FAILED', 'engine')$$, 'of kind engine');
truncate told;
-- not even the failure can be stored
create function bad_failure() returns trigger language plpgsql as $$
begin
    raise exception 'no failure here' using errcode = 'XX001';
end;
$$;
create trigger bad_failure before insert on wf.failed for each row execute function bad_failure();
select lives_ok(format('select report_all(%L, array[%s])', 'XX000', (select s.instance_id from stung s where s.code = '40P01')),
    'a report is answered when not even its failure can be stored');
select results_eq('select task, answer from told', $$values ('a', 'busy')$$, 'a report whose failure cannot be stored is repeated');
drop trigger bad_failure on wf.failed;
select throws_ok(format('select report_all(%L, array[%s])', '57P01', (select s.instance_id from stung s where s.code = '40P01')), '57P01', null,
    'a cancelled statement ends the whole call');
drop trigger bad_row on wf.binding;
truncate told;
select report_all('XX000', array(select instance_id from stung));
select results_eq('select distinct task, answer from told', $$values ('a', 'done')$$, 'when the cause is gone, they are done');

select * from finish();
rollback;
