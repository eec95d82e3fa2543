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
select is(play_state(:quick, 'q'), 'END', 'and so does what is not concerned');
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
select is(play_state(:quick, 'q'), 'END', 'and so does what is not concerned');
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
select is(play_state(:quick, 'q'), 'END', 'and so does what is not concerned');
select is(play_state(:bitten, 'a'), 'WAITING', 'the sleep is tried again');
select lives_ok(format('select play_seconds(%s, 80)', :driver), 'for long, where the server is at fault');
select is(play_state(:bitten, 'a'), 'WAITING', 'it waits');
select results_eq(format('select distinct reason from wf.explain(%s, %s)', :bitten, play_id(:bitten, 'a')), $$values ('time')$$, 'explain says until when');
select matches((select e.detail from wf.explain(:bitten, play_id(:bitten, 'a')) e), 'could not be carried out: no such name here; it is tried again', 'and why');
select is_empty($$select * from wf.fsck()$$, 'nothing contradicts anything');
update bad set code = 'XX001';
select lives_ok(format('select play_seconds(%s, 200)', :driver), 'after 1 s, 10 s and 60 s where it is not');
select results_eq(format($$select state, error ->> 'kind', error ->> 'message' from wf.process where id = %s$$, play_id(:bitten, 'a')),
    $$values ('FAILED', 'engine', 'it was tried 3 times: no such name here')$$, 'then it has failed of kind engine');
drop trigger bad_row on wf.binding;
select results_eq(format($$select answer from wf.retry('{"process": %s}')$$, play_id(:bitten, 'a')), $$values ('done')$$, 'an operator may retry it');
select lives_ok(format('select play_seconds(%s, 3)', :driver), 'and it goes on');
select is((select state from wf.instance where id = :bitten), 'END', 'to its end');
select is_empty($$select * from wf.work$$, 'no work is left over');

-- work that does not come to its end
select wf.start('quick') as quick \gset
insert into wf.work (kind, instance_id, item_id, due_at) values ('begin', :quick, 0, wf.now());
select is(wf.work(true), false, 'a call that did not come to its end is counted');
select play_later('10 s'), wf.work(true), play_later('10 s'), wf.work(true);
select results_eq(format($$select tries, aside, error ->> 'message' from wf.work where instance_id = %s$$, :quick),
    $$values (3, true, 'it did not come to its end')$$, 'after three of them the item is set aside');
select results_eq($$select class, check_name, instance_id from wf.fsck()$$, format($$values ('attention', 'work: set aside', %s::bigint)$$, :quick), 'fsck tells of it');

select * from finish();
rollback;
