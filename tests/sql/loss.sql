-- loss.sql - requests that are lost with one driver after the other: they come
-- back later and later, and then wait for an operator.
begin;
\ir helper/play.sql
select no_plan();

update play_type set spec = jsonb_set(spec, '{params}', '[]') where name = 't.Job';
select play_install('all', jsonb_build_array(play_par(
    play_task('t.Do', 'again', '{}', '{"idempotent": true}'),
    play_task('t.Do', 'lucky', '{}', '{"idempotent": true}'),
    play_task('t.Job', 'unsent'),
    play_task('t.Job', 'polled'),
    play_task('t.Job', 'moves'),
    play_task('t.Job', 'ended'))));

-- dies(): a driver takes what there is, and is not heard of again. How many
-- requests it had.
create function dies() returns bigint
language plpgsql as $$
declare
    v_count bigint := play_take(play_driver('dead'));
begin
    perform play_later('31 s'), wf.tick();
    return v_count;
end;
$$;
-- later(): what was withheld comes back.
create function later() returns void
language sql as $$ select play_later('32 s'), wf.tick(); $$;
create function losses(p_process bigint) returns int
language sql as $$ select o.losses from wf.loss o where o.process_id = p_process; $$;
create function of(p_instance bigint, p_name text) returns text
language sql as $$
    select p.state || coalesce(' lease ' || l.request, '') || coalesce(' ready ' || r.request, '')
      from wf.process p
      left join wf.lease l on l.process_id = p.id
      left join wf.ready r on r.process_id = p.id
     where p.instance_id = p_instance and p.id = play_id(p_instance, p_name);
$$;

select wf.start('all') as i \gset
select play_driver('healthy') as healthy \gset
select play_take(:healthy);
select play_report(play_id(:i, n), 'ack') from unnest('{polled,moves,ended}'::text[]) n;
select play_report(play_id(:i, n), 'response', '{"id": 1}') from unnest('{polled,moves,ended}'::text[]) n;
select play_later('5 s');
select play_take(:healthy);
select play_report(play_id(:i, 'ended'), 'response', '{"state": "done"}');
select play_report(play_id(:i, n), 'release') from unnest('{again,lucky,unsent,polled,moves}'::text[]) n;
select is_empty('select * from wf.loss', 'a request that its driver hands back was not lost');

-- the first time it may be anybody
select is(dies(), 6::bigint, 'a driver dies with all of it');
select is(of(:i, n), s, n || ' is back at once')
  from (values ('again', 'INIT ready start'), ('lucky', 'INIT ready start'), ('unsent', 'INIT ready start'), ('polled', 'EXECUTING ready poll'),
               ('moves', 'EXECUTING ready poll'), ('ended', 'CLEANUP_REQUESTED ready cleanup')) v (n, s);

-- from the second time on it is put off
select is(dies(), 6::bigint, 'the next one dies');
select is(of(:i, n), s, n || ' stays with the dead')
  from (values ('again', 'START_REQUESTED lease start'), ('lucky', 'START_REQUESTED lease start'), ('unsent', 'START_REQUESTED lease start'),
               ('polled', 'EXECUTING lease poll'), ('moves', 'EXECUTING lease poll'), ('ended', 'CLEANUP_REQUESTED lease cleanup')) v (n, s);
select matches(detail, '^its start request is with driver dead, which is lost: it is taken back at 2.*, for it was lost before$', 'explain says so')
  from wf.explain(:i, play_id(:i, 'again'));
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select ok(bool_and(due_at between wf.now() and wf.now() + interval '4 s') and count(distinct due_at) > 1, 'each for a time of its own') from wf.loss;
select is(play_take(play_driver('early')), 0::bigint, 'until then nobody gets them');
select wf.cancel(jsonb_build_object('process', play_id(:i, 'unsent')));
select wf.tick();
select is(play_state(:i, 'unsent'), 'FAILED', 'a request that is to stop does so at once');
select wf.retry(jsonb_build_object('process', play_id(:i, 'unsent')));
select later();
select is((select count(*) from wf.lease), 0::bigint, 'all requests are back when the delay is over');
select is_empty('select * from wf.stop', 'the dead are told nothing');

-- who shared the driver by chance goes on
select play_driver('good') as good \gset
select play_take(:good);
select play_report(play_id(:i, 'lucky'));
select play_report(play_id(:i, 'moves'), 'response', '{}');
select play_report(play_id(:i, n), 'release') from unnest('{again,unsent,polled,ended}'::text[]) n;
select is(play_state(:i, 'lucky'), 'END', 'one ends');
select play_later('5 s');

select dies(), later(), dies(), later();
select is(losses(play_id(:i, 'moves')), 2, 'losses of a task that has moved on are counted anew');
select is(losses(play_id(:i, 'unsent')), 2, 'losses of a retried task are counted anew');
select is(losses(play_id(:i, 'again')), 4, 'a request that was handed back in between keeps its count');
select is(of(:i, 'again'), 'INIT ready start', 'after four it is tried once more');

-- the fifth time
select dies();
select results_eq(format('select n, p.state, p.error ->> ''kind'' from unnest(''{again,polled,ended,moves,unsent}''::text[]) with ordinality u (n, k) join wf.process p on p.id = play_id(%s, n) order by k', :i),
    $$values ('again', 'FAILED', 'lost'), ('polled', 'FAILED', 'lost'), ('ended', 'END', null), ('moves', 'EXECUTING', null), ('unsent', 'START_REQUESTED', null)$$,
    'after five losses a task waits for an operator, and its release is given up');
select is((select detail from wf.explain(:i, play_id(:i, 'again'))),
    'lost: 5 drivers in a row died with this request: the request may be what kills them; waits for retry, ignore, resolve or raise', 'explain says why');
select is((select detail #>> '{unclean,kind}' from wf.event where process_id = play_id(:i, 'ended') and event = 'unclean'), 'lost', 'the history says that the release was given up');
select is_empty('select * from wf.fsck()', 'all is well');
select wf.retry(jsonb_build_object('process', play_id(:i, 'again')));
select is(of(:i, 'again'), 'INIT ready start', 'a retry asks for it again');
select play_driver('good') as good \gset
select play_take(:good);
select wf.leave(:good);
select is((select attempt from wf.loss where process_id = play_id(:i, 'again')), 1, 'a driver that leaves has not died');
select dies();
select results_eq(format('select losses, attempt from wf.loss where process_id = %s', play_id(:i, 'again')), 'values (1, 2)', 'a loss of the next attempt is counted anew');
select is(of(:i, 'again'), 'INIT ready start', 'a task that was lost for the first time is back at once');
select wf.retry(jsonb_build_object('process', play_id(:i, 'polled')));
select is(of(:i, 'polled'), 'RETRY_CLEANUP_REQUESTED ready cleanup', 'a polled task that begins again is released first');

-- what dies while nobody polls for a long time
select wf.abort('{"global": true}');
select wf.start('all') as i \gset
select dies();
select play_take(play_driver('dead')), play_later('95 s'), wf.tick();
select is(of(:i, 'again'), 'START_REQUESTED lease start', 'a lost task is withheld as long as any other after a long silence');
select is_empty('select * from wf.fsck()', 'fsck finds no violation in a request that is withheld');
select later();
select is(of(:i, 'again'), 'INIT ready start', 'the withheld request is back when the delay is over');

-- a start that was never acknowledged, any number, one
select wf.abort('{"global": true}');
select wf.start('all') as i \gset
select dies(), later(), dies(), later(), dies(), later(), dies(), later(), dies();
select results_eq(format('select state from wf.process where id = play_id(%s, ''unsent'')', :i), $$values ('FAILED')$$, 'a start that was never acknowledged counts as a loss');
select wf.abort('{"global": true}');
select wf.setting_set('loss_limit', 0);
select wf.start('all') as i \gset
select dies() from generate_series(1, 9);
select is(losses(play_id(:i, 'again')), 9, 'without a limit it is counted');
select is(of(:i, 'again'), 'INIT ready start', 'a start that was never acknowledged is tried again');
select wf.abort('{"global": true}');
select wf.setting_set('loss_limit', 1);
select wf.start('all') as i \gset
select dies();
select results_eq(format('select error ->> ''message'' from wf.process where id = play_id(%s, ''again'')', :i),
    $$values ('the driver is gone and it is not known whether this was done')$$, 'with a limit of 1 nothing is tried again');
select is_empty('select * from wf.fsck()', 'all is well in the end');

-- a simulation
select wf.setting_set('loss_limit', 5);
select is((select string_agg(s.event || ' ' || extract(epoch from s.elapsed)::int, ', ' order by s.elapsed, s.event) from wf.simulate('all', p_script => '[{"task": "again", "outcome": "lost", "duration": "1 s"}]') s where s.label = 't.Do as again' and s.event in ('lost', 'waits')),
    'lost 1, lost 6, lost 15, lost 32, lost 33, waits 33', 'a simulation tells the same, without chance');

select * from finish();
rollback;
