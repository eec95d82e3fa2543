-- lease.sql - drivers that fall silent, leave, or lose their connection: what
-- they held is begun again, polled on, or waits for an operator.
begin;
\ir helper/play.sql
select no_plan();

update play_type set spec = jsonb_set(spec, '{params}', '[]') where name = 't.Job';
select play_install('all', jsonb_build_array(play_par(
    play_task('t.Do', 'once'),
    play_task('t.Do', 'again', '{}', '{"idempotent": true}'),
    play_task('t.Job', 'unsent'),
    play_task('t.Job', 'sent'),
    play_task('t.Job', 'sent_again', '{}', '{"idempotent": true}'),
    play_task('t.Job', 'running'),
    play_task('t.Job', 'polled'),
    play_task('t.Job', 'ended'))));

-- held(DRIVER): an instance of which a driver holds a request of every kind
create function held(p_driver bigint) returns bigint
language plpgsql as $$
declare
    v_instance bigint := wf.start('all');
begin
    perform play_take(p_driver);
    perform play_report(play_id(v_instance, n), 'ack') from unnest('{sent,sent_again,running,polled,ended}'::text[]) n;
    perform play_report(play_id(v_instance, n), 'response', '{"id": 1}') from unnest('{polled,ended}'::text[]) n;
    perform play_later('5 s');
    perform play_take(p_driver);
    perform play_report(play_id(v_instance, 'ended'), 'response', '{"state": "done"}');
    perform play_take(p_driver);
    perform play_report(play_id(v_instance, 'running'), 'response', '{"id": 2}');
    return v_instance;
end;
$$;
create function states(p_instance bigint) returns table (name text, state text, kind text, held text)
language sql as $$
    select p.bind, p.state, p.error ->> 'kind',
           coalesce((select 'lease ' || l.request from wf.lease l where l.process_id = p.id), (select 'ready ' || r.request from wf.ready r where r.process_id = p.id),
                    (select 'timer ' || t.kind from wf.timer t where t.process_id = p.id))
      from wf.process p where p.instance_id = p_instance and p.bind is not null order by p.id;
$$;

-- silence
select play_driver('one') as one \gset
select play_driver('two') as two \gset
select held(:one) as i \gset
select results_eq(format('select * from states(%s)', :i), $$values
    ('once', 'START_REQUESTED', null, 'lease start'),
    ('again', 'START_REQUESTED', null, 'lease start'),
    ('unsent', 'START_REQUESTED', null, 'lease start'),
    ('sent', 'EXECUTING', null, 'lease start'),
    ('sent_again', 'EXECUTING', null, 'lease start'),
    ('running', 'EXECUTING', null, 'timer poll'),
    ('polled', 'EXECUTING', null, 'lease poll'),
    ('ended', 'CLEANUP_REQUESTED', null, 'lease cleanup')$$, 'a driver holds requests of every kind');
select play_later('29 s');
select wf.heartbeat(:two);
select wf.tick();
select is((select count(*) from wf.lease where instance_id = :i), 7::bigint, 'while it may still be alive they stay with it');
select wf.heartbeat(:one);
select play_later('29 s');
select wf.heartbeat(:two), wf.tick();
select is((select count(*) from wf.lease where instance_id = :i), 7::bigint, 'a heartbeat keeps them');
select play_later('2 s');
select is(play_take(:two), 6::bigint, 'another driver gets the lost tasks that may be repeated, polled or released');
select results_eq(format('select * from states(%s)', :i), $$values
    ('once', 'FAILED', 'lost', null),
    ('again', 'START_REQUESTED', null, 'lease start'),
    ('unsent', 'START_REQUESTED', null, 'lease start'),
    ('sent', 'FAILED', 'lost', null),
    ('sent_again', 'START_REQUESTED', null, 'lease start'),
    ('running', 'EXECUTING', null, 'lease poll'),
    ('polled', 'EXECUTING', null, 'lease poll'),
    ('ended', 'CLEANUP_REQUESTED', null, 'lease cleanup')$$, 'the rest waits for an operator, of kind lost');
select is((select state from wf.driver where id = :one), 'lost', 'the driver is given up');
select throws_ok(format('select * from wf.poll(%s, 1)', :one), 'WF010', format('driver %s was given up as lost', :one), 'a driver that was given up must register again');
select throws_ok(format('select wf.heartbeat(%s)', :one), 'WF010', null, 'a heartbeat does not help');
select is((select attempt from wf.process where id = play_id(:i, 'again')), 1, 'to begin again is no attempt of its own');
select is_empty('select * from wf.fsck()', 'all is well when a driver is lost');

-- what it reports now comes too late
create function report_as(p_driver bigint, p_process bigint, p_event text default 'response', p_body text default '') returns text
language sql as $$
    select o.answer from (select * from play_request where process_id = p_process and driver_id = p_driver order by k desc limit 1) r,
           wf.outcome(p_driver, array[r.instance_id], array[r.process_id], array[r.token], array[p_event], array[convert_to(p_body, 'UTF8')]) o;
$$;
select is(report_as(:one, play_id(:i, 'once')), 'late', 'a report of what waits for an operator is late');
select results_eq(format('select was, event, state from wf.event where process_id = %s order by seq desc limit 1', play_id(:i, 'once')), $$values ('FAILED', 'late', 'FAILED')$$, 'the history keeps it, for the operator to see');
select wf.retry(jsonb_build_object('process', play_id(:i, 'once')));
select is(report_as(:one, play_id(:i, 'once')), 'late', 'a report stays late after the operator''s retry');
select is(play_state(:i, 'once'), 'INIT', 'a late report changes nothing');
select is(report_as(:one, play_id(:i, 'again')), 'stale', 'a report of what another one has begun again is stale');
select is(report_as(:one, play_id(:i, 'sent_again'), 'ack'), 'stale', 'a stale acknowledgement tells the driver not to send');
select is(report_as(:two, play_id(:i, 'sent_again'), 'ack'), 'done', 'the other one may');
select is(play_state(:i, 'again'), 'START_REQUESTED', 'the new request is not touched');
select is(report_as(:two, play_id(:i, 'again')), 'done', 'the report of the new driver counts');
select wf.abort('{"global": true}');
select wf.leave(:two);
select is_empty('select * from wf.fsck()', 'all is well after late reports');

-- what is being stopped does not come back
select play_driver('three') as three \gset
select held(:three) as i \gset
select wf.cancel(jsonb_build_object('instance', :i));
select wf.leave(:three);
select is_empty(format('select * from wf.stop where driver_id = %s', :three), 'a driver that has left is told to stop nothing');
select results_eq(format('select * from states(%s)', :i), $$values
    ('once', 'FAILED', 'cancelled', null),
    ('again', 'FAILED', 'cancelled', null),
    ('unsent', 'FAILED', 'cancelled', null),
    ('sent', 'FAILED', 'cancelled', null),
    ('sent_again', 'FAILED', 'cancelled', null),
    ('running', 'CANCEL_REQUESTED', null, 'ready cancel'),
    ('polled', 'CANCEL_REQUESTED', null, 'ready cancel'),
    ('ended', 'CLEANUP_REQUESTED', null, 'ready cleanup')$$, 'a task that was being cancelled is not begun again');
select wf.abort(jsonb_build_object('instance', :i));
select is_empty('select * from wf.fsck()', 'all is well when a driver leaves');

-- drain
select play_driver('four') as four \gset
select play_driver('five') as five \gset
select play_take(:four);
select play_report(process_id) from play_request where driver_id = :four and kind = 'run';
select play_take(:four);
select play_report(process_id) from play_request where driver_id = :four and kind = 'run' and request = 'cleanup';
select wf.start('all') as i \gset
select is(play_take(:four, 2), 2::bigint, 'a driver takes two');
select wf.drain(:four);
select is(play_take(:four), 0::bigint, 'told to drain, it takes no more');
select results_eq(format('select answer from wf.outcome(%s, (select array_agg(instance_id) from wf.lease where driver_id = %s), (select array_agg(process_id) from wf.lease where driver_id = %s),
        (select array_agg(token) from wf.lease where driver_id = %s), ''{response,release}'', ''{"",""}'')', :four, :four, :four, :four), $$values ('done'), ('done')$$, 'a draining driver reports one request and hands the other back');
select is(play_take(:five), 7::bigint, 'another driver takes the handed-back requests and the others');
select wf.drain(:four);
select wf.leave(:four);
select throws_ok(format('select wf.drain(%s)', :four), 'WF003', null, 'a driver that has left cannot be drained');
select throws_ok(format('select * from wf.poll(%s, 1)', :four), 'WF010', format('driver %s has left', :four), 'a driver that has left cannot poll');
select lives_ok(format('select wf.leave(%s)', :four), 'to leave twice does no harm');
select throws_ok('select * from wf.poll(999999, 1)', 'WF010', 'driver 999999 is not registered', 'an unknown driver');
select throws_ok('select * from wf.poll(null, 1)', 'WF010', null, 'none');
select throws_ok(format('select * from wf.poll(%s, -1)', :five), 'WF002', null, 'less than nothing cannot be wanted');

-- a connection that was cut: the driver comes back with what it holds; what it
-- was handed and never heard of goes back into the queue, unless it may have
-- been begun
create table heard as select array_agg(token) tokens from play_request where driver_id = :five and kind = 'run' and process_id in (play_id(:i, 'again'), play_id(:i, 'sent'));
select wf.cancel(jsonb_build_object('process', play_id(:i, 'again')));
select wf.register('five', '1', '{builtin}', '{}', 10, :five, (select tokens from heard)) as six \gset
select results_eq(format('select count(*) from wf.lease where driver_id = %s', :six), 'values (2::bigint)', 'the requests that it names go over to its new incarnation');
select is((select state from wf.driver where id = :five), 'left', 'the old one has left');
select results_eq(format('select kind, token from wf.poll(%s, 0) where kind <> ''next''', :six), format('select ''stop''::text, token from wf.lease where process_id = %s', play_id(:i, 'again')), 'a new incarnation is told what to stop');
select set_eq(format('select bind from wf.process where instance_id = %s and event = ''release'' and state = ''INIT''', :i),
    (select array_agg(bind) from wf.process p where instance_id = :i and bind not in ('again', 'sent') and exists (select from play_request r where r.driver_id = :five and r.process_id = p.id and r.kind = 'run')),
    'the others are handed out again');
select is(report_as(:five, play_id(:i, 'sent'), 'ack'), 'done', 'tokens count, whichever incarnation reports them');
select lives_ok(format('select wf.register(''five'', ''1'', ''{builtin}'', ''{}'', 10, %s, (select tokens from heard))', :five), 'the register that was lost is repeated');
select wf.register('five', '1', '{builtin}', '{}', 10, (select max(id) from wf.driver)) as eight \gset
select is((select state from wf.process where instance_id = :i and id = play_id(:i, 'sent')), 'EXECUTING', 'an acknowledged task is not handed back');
select wf.tick();
select is((select event from wf.process where instance_id = :i and id = play_id(:i, 'sent')), 'lost', 'an acknowledged task that the new incarnation does not name is lost');
select lives_ok($$select wf.register('five', '1', '{builtin}', '{}', 10, 999999, array[gen_random_uuid()])$$, 'an unknown former driver is no error');
select is_empty('select * from wf.fsck()', 'all is well after a reconnect');

-- those that have gone are forgotten, by the next one of their name
select wf.register('six', '1', '{builtin}', '{}', 10) as old \gset
select wf.leave(:old);
select play_later('23 hours');
select wf.register('six', '1', '{builtin}', '{}', 10) as gone \gset
select wf.leave(:gone);
select play_later('2 hours');
select wf.register('other', '1', '{builtin}', '{}', 10) as other \gset
select set_eq($$select id from wf.driver where name = 'six'$$, array[:old, :gone], 'drivers that have gone are remembered for a day');
select wf.register('six', '1', '{builtin}', '{}', 10) as new \gset
select set_eq($$select id from wf.driver where name = 'six'$$, array[:gone, :new], 'until then, and until one of their name comes');
select wf.leave(:new), wf.leave(:other);

-- register
select throws_ok(format('select wf.register(%s)', arguments), 'WF002', null, 'register(' || arguments || ') is refused')
  from unnest(array[$$'', '1', '{builtin}', '{}', 10$$, $$null, '1', '{builtin}', '{}', 10$$, $$'d', '1', '{}', '{}', 10$$, $$'d', '1', '{builtin}', null, 10$$,
                    $$'d', '1', '{builtin}', '{}', 0$$, $$'d', '1', '{builtin}', '{}', null$$]) arguments;

-- what a driver holds that has left: a poll of its that commits later than that
select play_driver('late') as late \gset
select play_driver('busy') as busy \gset
select wf.leave(d.id) from wf.driver d where d.state = 'live' and d.id not in (:late, :busy);
select held(:late) as i \gset
select date_trunc('minute', wf.now()) + interval '1 minute 1 s' - wf.now() as next_minute \gset
select play_later(:'next_minute');
select wf.heartbeat(:late), wf.heartbeat(:busy), wf.tick();
update wf.driver set state = 'left' where id = :late;
select play_later('2 s'), play_take(:busy, 0);
select is((select count(*) from wf.lease where instance_id = :i), 7::bigint, 'leases of a driver that has left are not looked for every second');
select play_later('1 minute'), play_take(:busy, 0);
select is_empty(format('select * from wf.lease where instance_id = %s', :i), 'leases of a driver that has left are found within a minute');
select held(:busy) as i \gset
update wf.driver set state = 'left', ended_at = wf.now(), successor = :late where id = :busy;
select play_driver('other') as other \gset
select play_later('2 s'), play_take(:other, 0);
select is_empty(format('select * from wf.lease where instance_id = %s', :i), 'leases of a driver that has come back are found within a second');
select play_driver('silent') as silent \gset
select held(:silent) as i \gset
update wf.driver set state = 'lost', ended_at = wf.now() where id = :silent;
update wf.sign_of_life set seen_at = wf.now() - interval '1 hour' where driver_id = :silent;
select play_later('2 s'), play_take(:other, 0);
select is_empty(format('select * from wf.lease where instance_id = %s', :i), 'leases that the sweep could not take back are found within a second');

-- all drivers died, and the next one comes only much later
select wf.leave(d.id) from wf.driver d where d.state in ('live', 'draining');
select play_install('late', jsonb_build_array(play_task('t.Do', 'late', '{}', '{"idempotent": true}')));
select wf.start('late') as i \gset
select play_take(play_driver('dies'));
select play_later('5 min' - make_interval(secs => extract(second from wf.now())::float8)), play_driver() as other \gset
select play_later('2 s'), play_take(:other, 0);
select is(play_state(:i, 'late'), 'INIT', 'a driver that comes long after the death of another takes back what that one held, in the minute in which it comes');
select is_empty('select * from wf.fsck()', 'as fsck expects');
select play_on(:other);

-- queues and transports
select wf.abort('{"workflow": "all"}'), play_on(:other);
select wf.leave(d.id) from wf.driver d where d.state = 'live';
select play_install('where', jsonb_build_array(play_par(
    play_task('t.Do', 'here'), play_task('t.Far', 'far'), play_task('t.Do', 'there', '{}', '{"queue": "night"}'))));
select wf.start('where') as i \gset
create function takes(p_transports text[], p_queues text[]) returns text
language sql as $$
    with d as materialized (select wf.register('d', '1', p_transports, p_queues, 10) as id),
    taken as (select p.bind from d, lateral wf.poll(d.id, 10) r join wf.process p on p.id = r.process_id where r.kind = 'run')
    select string_agg(bind, ' ' order by bind) from taken;
$$;
select is(takes('{http}', '{}'), null, 'a driver without the transport takes nothing');
select is(takes('{builtin}', '{day}'), null, 'a driver of another queue takes nothing');
select is(takes('{builtin}', '{night,day}'), 'there', 'only what is in its queues');
select is(takes('{ssh}', '{default}'), 'far', 'a driver takes tasks of its transports');
select is(takes('{ssh,builtin}', '{}'), 'here', 'without queues it serves all of them');
select is_empty('select * from wf.fsck()', 'all is well in the end');

select * from finish();
rollback;
