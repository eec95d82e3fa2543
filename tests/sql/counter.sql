-- counter.sql - what drivers have counted.
begin;
\ir helper/play.sql
select no_plan();

select play_driver('one') as one \gset
select play_driver('two') as two \gset
create view seen as
select name, counter, value from wf.driver_counter_v order by name, counter collate "C";

select is_empty('select * from seen', 'a driver that has written nothing has no counters');
select wf.counters_set(:one, '{"turns.work": 3, "http.responses": 9007199254740991}');
select wf.counters_set(:two, '{"turns.work": 0}');
select results_eq('select * from seen', $$values ('one', 'http.responses', 9007199254740991), ('one', 'turns.work', 3::bigint), ('two', 'turns.work', 0)$$,
    'each counter is a row of driver_counter_v');
select play_later('10 s');
select wf.counters_set(:one, '{"turns.work": 5}');
select results_eq('select * from seen', $$values ('one', 'turns.work', 5::bigint), ('two', 'turns.work', 0)$$,
    'the counters that a driver writes take the place of those before');
select is((select array_agg(date_trunc('second', wf.now() - counted_at) order by name) from wf.driver_counter_v), '{0 s, 10 s}'::interval[],
    'counted_at is the moment of the last writing');
select is((select s.seen_at from wf.sign_of_life s where s.driver_id = :one), wf.now(), 'writing counters is a sign of life');
select wf.counters_set(:one, '{}');
select results_eq('select * from seen', $$values ('two', 'turns.work', 0::bigint)$$, 'an empty object is allowed');

-- what cannot be counters
select throws_ok(format('select wf.counters_set(%s, %L)', :one, j), 'WF002', null, coalesce(left(j, 40), 'null') || ' is refused')
  from unnest(array['[]', '3', 'null', '{"a": -1}', '{"a": 1.5}', '{"a": "1"}', '{"a": null}', '{"a": 9007199254740992}', '{"A": 1}',
                    '{"": 1}', '{"a b": 1}', format('{"%s": 1}', repeat('a', 64)), null,
                    (select jsonb_object_agg('c' || i, i)::text from generate_series(1, 201) i)]) j;
select lives_ok(format('select wf.counters_set(%s, %L)', :one, (select jsonb_object_agg('c' || i, i) from generate_series(1, 200) i)), '200 counters are allowed');

-- whose counters they are
select throws_ok('select wf.counters_set(999999, $${}$$)', 'WF010', 'driver 999999 is not registered', 'an unknown driver');
select wf.leave(:two);
select throws_ok(format('select wf.counters_set(%s, $j${"a": 1}$j$)', :two), 'WF010', null, 'a driver that has left writes no counters');
select results_eq($$select name, value from wf.driver_counter_v where name = 'two'$$, $$values ('two', 0::bigint)$$, 'the counters of a driver that has left stay');
select play_later('25 h');
select play_driver('two');
select is_empty($$select from wf.driver_counter where driver_id not in (select id from wf.driver)$$, 'the counters of a driver that is forgotten go with it');
select is_empty($$select from wf.driver_counter_v where name = 'two'$$, 'a new start of a driver begins without counters');

select * from finish();
rollback;
