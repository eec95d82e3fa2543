-- signal.sql - tasks that wait for a moment or for a signal, and who may send one.
begin;
\ir helper/play.sql
select no_plan();

insert into play_type (name, spec) values
    ('t.Until', '{"name": "t.Until", "machine": "wait", "wait": "moment", "params": [{"name": "at", "type": "timestamp"}]}'),
    ('t.Signal', '{"name": "t.Signal", "machine": "wait", "wait": "signal",
                   "params": [{"name": "name", "type": "string"}, {"name": "topic", "type": {"optional": "string"}, "default": null}],
                   "returns": {"object": {"payload": {"optional": "json"}, "at": "timestamp", "sender": "string"}}}');
-- signal_task(AS, NAME [, TOPIC [, POLICIES]])
create function signal_task(p_as text, p_name text, p_topic text default null, p_policies jsonb default null) returns jsonb
language sql as $$ select play_task('t.Signal', p_as, jsonb_build_object('name', p_name, 'topic', p_topic), p_policies); $$;
-- said(INSTANCE, AS): what the signal that a wait took had with it
create function said(p_instance bigint, p_as text) returns jsonb
language sql as $$ select p.output -> 'payload' from wf.process p where p.instance_id = p_instance and p.id = play_id(p_instance, p_as); $$;
-- work(): what drivers do when polls have told them of work
create function work() returns void
language plpgsql as $$ begin while exists (select from wf.work w where w.due_at <= wf.now() and not w.aside) loop perform wf.work(); end loop; end; $$;

select set_config('wf.now', '2026-03-01 12:00:00+00', true);
select play_driver() as driver \gset

-- until a moment
select play_install('until', jsonb_build_array(play_task('t.Until', 'a', '{"at": ["var", "t"]}')), '[{"name": "t", "type": "timestamp"}]');
select wf.start('until', '{"t": "2026-03-01T13:30:00+01:00"}') as i \gset
select results_eq(format('select place, reason, until from wf._place_v where instance_id = %s and process_id = %s', :i, play_id(:i, 'a')),
                  $$values ('timer', 'time', timestamptz '2026-03-01 12:30:00+00')$$, 'a wait until a moment is in its place until then');
select matches((select e.detail from wf.explain(:i) e where e.process_id = play_id(:i, 'a') and e.reason in ('signal', 'time')), '^waits until 2026-03-01 12:30:00', 'explain says until when');
select play_later('29 min'), wf.tick();
select is(play_state(:i, 'a'), 'WAITING', 'a wait for a moment lasts until then');
select play_later('1 min'), wf.tick();
select is(play_state(:i, 'a'), 'END', 'D31: a wait for a moment has ended at that moment');
select wf.start('until', '{"t": "2025-01-01T00:00:00Z"}') as i \gset
select wf.tick();
select is(play_state(:i, 'a'), 'END', 'a moment of the past is no wait');
select play_install('until_wrong', jsonb_build_array(play_task('t.Until', 'a', '{"at": ["var", "t"]}')), '[{"name": "t", "type": {"optional": "json"}, "default": 7}]');
select wf.start('until_wrong') as i \gset
select results_eq(format('select state, error ->> %L, error ->> %L from wf.process where instance_id = %s and bind is not null', 'kind', 'message', :i),
                  $$values ('FAILED', 'input', 'a wait needs a moment such as 2026-01-31T08:00:00Z, not 7')$$, 'a number is no moment');
select wf.abort('{"global": true}');

-- a signal to an instance
select play_driver() as driver \gset
select play_install('ask', jsonb_build_array(signal_task('a', 'go'), play_task('t.Do', 'b', '{"x": ["get", ["var", "a"], "payload"]}')));
select wf.start('ask') as i \gset
select results_eq(format('select place, reason, request, until from wf._place_v where instance_id = %s and process_id = %s', :i, play_id(:i, 'a')),
                  $$values ('timer', 'signal', null::text, null::timestamptz)$$, 'a wait for a signal is in its place');
select matches((select e.detail from wf.explain(:i) e where e.process_id = play_id(:i, 'a') and e.reason in ('signal', 'time')), format('^waits for the signal go; wf-console signal %s go sends it$', :i), 'explain says which signal, and how to send it');
select is((select count(*) from wf.stuck()), 0::bigint, 'nobody calls it stuck');
select is((select count(*) from wf.fsck()), 0::bigint, 'fsck finds its rows sound');
select is(play_take(:driver), 0::bigint, 'no driver is asked for anything');
select wf.signal(to_jsonb(:i), 'stop') as other \gset
select work();
select is(play_state(:i, 'a'), 'WAITING', 'T-D11: a signal of another name does not end it');
select wf.signal(to_jsonb(:i), 'go', '{"by": "ann"}') as s \gset
select is(play_state(:i, 'a'), 'WAITING', 'the sender''s transaction moves nothing');
select ok((select exists (select from wf.poll(:driver, 0) p where p.kind = 'work')), 'a poll tells of work');
select work();
select is(play_state(:i, 'a'), 'END', 'D29: the work ends the wait');
select is((select output from wf.process where instance_id = :i and bind = 'a'),
          jsonb_build_object('payload', '{"by": "ann"}'::jsonb, 'at', '2026-03-01T12:30:00Z', 'sender', session_user), 'the output has the payload, the time and the sender');
select is((select string_agg(s.name, ' ') from wf.signal_v s where s.instance_id = :i), 'stop', 'the signal is used up, the other one is kept');
select play_on(:driver);
select is((select i.result from wf.instance i where i.id = :i), 'success', 'the instance goes on to its end');
select throws_ok(format('select wf.signal(%L, %L)', :i, 'go'), 'WF004', format('instance %s has ended (END): nothing in it waits for a signal', :i), 'D30: an instance that has ended takes no signal');
select wf.purge(jsonb_build_object('instance', :i));
select is((select count(*) from wf.signal), 0::bigint, 'unused signals go with their instance');

-- signals that come early, in order, each taken once
select play_install('two', jsonb_build_array(play_task('t.Do', 'first'), play_par(signal_task('a', 'go'), signal_task('b', 'go')), signal_task('c', 'go')));
select wf.start('two', p_key => 'k') as i \gset
select wf.signal('{"workflow": "two", "key": "k"}', 'go', '1'), wf.signal(to_jsonb(:i), 'go', '2'), work();
select is((select count(*) from wf.signal), 2::bigint, 'D30: signals that come early are kept');
select play_on(:driver);
select is(jsonb_build_array(said(:i, 'a'), said(:i, 'b')), '[1, 2]', 'waits take them in the order in which they were sent');
select is(play_state(:i, 'c'), 'WAITING', 'each is taken once');
select wf.signal(to_jsonb(:i), 'go', '3'), wf.signal(to_jsonb(:i), 'go', '4'), work();
select is(jsonb_build_array(said(:i, 'c'), (select count(*) from wf.signal)), '[3, 1]', 'one signal ends one wait');
select is((select state from wf.instance where id = :i), 'END', 'all have ended');
select is((select count(*) from wf.fsck()), 0::bigint, 'fsck finds nothing');

-- a thousand at once, taken in a few pieces of work
select play_install('many', jsonb_build_array(play_forall('k', (select jsonb_agg(k) from generate_series(1, 900) k), signal_task('a', 'go'))));
select wf.start('many') as i \gset
select count(*) from (select wf.signal(to_jsonb(:i), 'go', to_jsonb(k)) from generate_series(1, 900) k) x \gset
select count(wf.work()) from generate_series(1, 11) \gset
select is((select count(*) from wf.process p where p.instance_id = :i and p.bind = 'a' and p.state = 'END'), 900::bigint, 'a hundred signals are one piece of work');
select is((select count(distinct p.output -> 'payload') from wf.process p where p.instance_id = :i and p.bind = 'a'), 900::bigint, 'none is taken twice');

-- a loop takes what is there, one signal a round
select play_install('loop', jsonb_build_array(jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'k', 'in', '["const", [1, 2, 3, 4]]'::jsonb, 'max', 1, 'body', signal_task('a', 'go'))));
select wf.start('loop') as i \gset
select wf.signal(to_jsonb(:i), 'go', to_jsonb(k)) from generate_series(1, 3) k;
select work();
select results_eq(format('select p.index, p.state, p.output -> %L from wf.process p where p.instance_id = %s and p.bind = %L order by p.index', 'payload', :i, 'a'),
                  $$values (0, 'END', '1'::jsonb), (1, 'END', '2'), (2, 'END', '3'), (3, 'WAITING', null)$$, 'waits that follow each other take one signal each');
select wf.abort('{"global": true}');

-- time limits, cancel, retry, suspension
select play_driver() as driver \gset
select play_install('limited', jsonb_build_array(signal_task('a', 'go', null, '{"timeout": {"deadline": "PT1H"}}')));
select wf.start('limited') as i \gset
select is((select x.times_out_at from wf.process_v x where x.process_id = play_id(:i, 'a')), timestamptz '2026-03-01 13:30:00+00', 'a wait for a signal may have a deadline');
select play_later('1 hour'), wf.tick();
select is((select p.error ->> 'kind' from wf.process p where p.id = play_id(:i, 'a')), 'timeout', 'D32: when that has come it fails');
select wf.signal(to_jsonb(:i), 'go', '"late"'), work();
select is((select count(*) from wf.signal where instance_id = :i), 1::bigint, 'a signal that is too late is kept');
select wf.retry(jsonb_build_object('instance', :i));
select is(said(:i, 'a'), '"late"', 'another attempt takes it');
select play_driver() as driver \gset
select wf.start('ask') as i \gset
select wf.cancel(jsonb_build_object('instance', :i, 'process', play_id(:i, 'a')));
select is((select p.error ->> 'kind' from wf.process p where p.id = play_id(:i, 'a')), 'cancelled', 'a wait can be cancelled');
select is((select count(*) from wf.timer), 0::bigint, 'a cancelled wait has no timer');
select wf.retry(jsonb_build_object('instance', :i)), wf.suspend(jsonb_build_object('instance', :i));
select wf.signal(to_jsonb(:i), 'go'), work();
select is(play_state(:i, 'a') || ' ' || play_take(:driver), 'END 0', 'a suspended instance takes signals, and hands nothing out');
select wf.abort('{"global": true}');
select wf.start('ask') as i \gset
select wf.abort(jsonb_build_object('instance', :i));
select is((select count(*) from wf.timer), 0::bigint, 'an abort ends a wait');
delete from wf.signal;

select play_install('odd', jsonb_build_array(signal_task('a', $$it's "$(id)"$$)));
select wf.start('odd') as i \gset
select matches((select e.detail from wf.explain(:i) e where e.reason = 'signal'), format($$wf-console signal %s 'it'\\''s "\$\(id\)"' sends it$$, :i), 'the command that explain suggests is safe in a shell');
select wf.abort('{"global": true}');
insert into wf.signal (instance_id, name, payload, broadcast, sent_at, sender) values (999999, 'go', 'null', false, wf.now(), 'slow') returning id as s \gset
insert into wf.work (kind, instance_id, item_id, due_at) values ('signal', 999999, :s, wf.now());
select work();
select is((select count(*) from wf.signal where id = :s), 0::bigint, 'a signal to an instance that was purged meanwhile goes');

-- topics: any instance may take it, the one that has waited longest
select play_install('watch', jsonb_build_array(signal_task('a', 'news', 'press')));
select wf.signal('{"topic": "press"}', 'news', '"early"'), work();
select wf.start('watch') as i \gset
select work();
select is(said(:i, 'a'), '"early"', 'a signal to a topic is kept for the first that waits');
select wf.start('watch') as i \gset
select work(), play_later('1 s');
select wf.start('watch') as j \gset
select work();
select matches((select e.detail from wf.explain(:i) e where e.process_id = play_id(:i, 'a') and e.reason in ('signal', 'time')), '^waits for the signal news of the topic press; wf-console signal topic press news sends it$', 'explain names the topic');
select wf.signal('{"topic": "press"}', 'news', '1'), work();
select is(jsonb_build_array(said(:i, 'a'), said(:j, 'a')), '[1, null]', 'the longest wait takes it');
select wf.signal('{"topic": "radio"}', 'news'), wf.signal('{"topic": "press"}', 'old'), wf.signal(to_jsonb(:j), 'news'), work();
select is(play_state(:j, 'a'), 'WAITING', 'a wait takes no signal of another topic, of another name or to the instance');
select wf.signal('{"topic": "press"}', 'news', '2'), work();
select is(said(:j, 'a'), '2', 'the second signal to the topic ends the other wait');
select is((select count(*) from wf.fsck()), 0::bigint, 'fsck finds nothing wrong with them');
select wf.setting_set('signal_days', 2);
select play_later('1 day 23 hours'), wf.tick();
select is((select count(*) from wf.signal where topic is not null), 2::bigint, 'signals that no wait takes are kept for signal_days');
select play_later('2 hours'), wf.tick();
select is((select string_agg(coalesce(topic, 'instance'), ' ') from wf.signal), 'instance', 'signals to topics go after signal_days, signals to instances stay');

-- broadcasts: all that wait now, and none that comes later
select play_driver() as driver \gset
select wf.start('watch') as i \gset
select wf.start('watch') as j \gset
select work();
select wf.signal('{"topic": "press"}', 'news', '5', true);
select play_later('1 s');
select wf.start('watch') as k \gset
select work();
select is(jsonb_build_array(said(:i, 'a'), said(:j, 'a'), said(:k, 'a')), '[5, 5, null]', 'a broadcast wakes all that waited when it was sent');
select is((select count(*) from wf.signal where topic is not null), 0::bigint, 'a broadcast is not kept');
select wf.start('two') as i \gset
select play_on(:driver);
select wf.signal(to_jsonb(:i), 'go', '6', true), work();
select is(jsonb_build_array(said(:i, 'a'), said(:i, 'b'), said(:i, 'c')), '[6, 6, null]', 'a broadcast to an instance wakes its waits, not those that follow');
select wf.start_many('watch', (select jsonb_agg('{}'::jsonb) from generate_series(1, 1500)));
select work();
select wf.signal('{"topic": "press"}', 'news', '7', true), work(), play_later('1 s'), work();
select is((select count(*) from wf.timer t where t.topic = 'press'), 0::bigint, 'a broadcast to many goes in portions');
select wf.abort('{"global": true}');

-- what is too large
select wf.setting_set('instance_bytes', 65536);
select play_install('large', jsonb_build_array(signal_task('a', 'go'), signal_task('b', 'go')));
select wf.start('large') as i \gset
select wf.signal(to_jsonb(:i), 'go', to_jsonb(repeat('x', 60000))), wf.signal(to_jsonb(:i), 'go', to_jsonb(repeat('y', 60000)));
select work();
select results_eq(format('select p.bind, p.state, p.error ->> %L from wf.process p where p.instance_id = %s and p.bind is not null order by p.id', 'kind', :i),
                  $$values ('a', 'END', null), ('b', 'FAILED', 'limit')$$, 'a payload for which the instance has no room fails the wait');
select play_install('bounded', jsonb_build_array(signal_task('a', 'go', null, '{"output": 1000}')));
select wf.start('bounded') as i \gset
select wf.signal(to_jsonb(:i), 'go', to_jsonb(repeat('x', 1000))), work();
select matches((select p.error ->> 'message' from wf.process p where p.id = play_id(:i, 'a')), '^the output of this wait has [0-9]+ bytes, more than the 1000 that its policy allows$', 'a payload beyond the policy output fails the wait');
select wf.abort('{"global": true}');

-- one that raises an error holds no other up
create function poison() returns trigger language plpgsql as $$ begin raise exception 'poison' using errcode = '54000'; end; $$;
create trigger poison before update on wf.process for each row when (new.output ->> 'payload' = 'poison') execute function poison();
select array_agg(s order by s) as is from wf.start_many('ask', '[{}, {}, {}]') s \gset
select wf.signal(to_jsonb(i), 'go', case i when (:'is'::bigint[])[2] then '"poison"' else '1' end::jsonb) from unnest(:'is'::bigint[]) i;
select wf.work();
select is((select count(*) from wf.work w where w.kind = 'signal' and w.error ->> 'message' = 'poison' and w.tries = 0), 3::bigint, 'signals that fail together are tried alone from then on');
select play_later('1 s'), work();
select results_eq(format('select p.state from wf.process p where p.instance_id = any (%L) and p.bind = %L order by p.instance_id', :'is', 'a'),
                  $$values ('END'), ('WAITING'), ('END')$$, 'the others are taken');
select play_later('2 min'), work(), play_later('2 min'), work();
select is((select string_agg(w.error ->> 'message' || ' ' || w.tries || ' ' || w.aside, ', ') from wf.work w where w.kind = 'signal'), 'poison 3 true', 'after three tries it is set aside');
drop trigger poison on wf.process;
select wf.retry(jsonb_build_object('instance', (:'is'::bigint[])[2])), work();
select is((select p.state from wf.process p where p.instance_id = (:'is'::bigint[])[2] and p.bind = 'a'), 'END', 'a verb of an operator has it tried again');
select wf.abort('{"global": true}');

-- what is refused
select throws_ok($$select wf.signal('"7"', 'go')$$, 'WF002', '"7" is not a target of a signal', 'a text is no target');
select throws_ok($$select wf.signal(null, 'go')$$, 'WF002', 'null is not a target of a signal', 'null is no target');
select throws_ok($$select wf.signal('-1', 'go')$$, 'WF002', '-1 is not a target of a signal', 'a negative number is no target');
select throws_ok($$select wf.signal('{"topic": 7}', 'go')$$, 'WF002', '{"topic": 7} is not a target of a signal', 'a number is no topic');
select throws_ok($$select wf.signal('{"topic": ""}', 'go')$$, 'WF002', '{"topic": ""} is not a target of a signal', 'an empty text is no topic');
select throws_ok($$select wf.signal('{"topic": "t", "key": "k"}', 'go')$$, 'WF002', '{"key": "k", "topic": "t"} is not a target of a signal', 'a topic has no key');
select throws_ok($$select wf.signal('{"topic": "t"}', null)$$, 'WF002', 'the name of the signal has no bytes', 'a signal has a name');
select throws_ok($$select wf.signal('{"topic": "t"}', repeat('n', 256))$$, 'WF002', 'the name of the signal has 256 bytes', 'a name is not longer than 255 bytes');
select throws_ok(format($$select wf.signal('{"topic": "t"}', 'go', to_jsonb(repeat('x', 1048575)))$$), 'WF002', 'the payload has 1048577 bytes, more than the 1048576 allowed', 'a payload is not larger than value_bytes');
select throws_ok($$select wf.signal('999999999', 'go')$$, 'WF003', 'there is no instance 999999999', 'an instance that does not exist takes no signal');
select throws_ok($$select wf.signal('{"workflow": "two", "key": "none"}', 'go')$$, 'WF003', 'there is no instance {"key": "none", "workflow": "two"}', 'a key that started no instance takes no signal');
select play_install('nameless', jsonb_build_array(signal_task('a', ''), signal_task('b', 'x', '')));
select wf.start('nameless') as i \gset
select is((select p.error ->> 'message' from wf.process p where p.id = play_id(:i, 'a')), 'the name and the topic of a signal, and the name of a callback, have 1 to 255 bytes and do not begin with "callback ": not ''''', 'a wait for a signal without a name fails');

-- who may send
create role signal_app login;
grant wf_app to signal_app;
create role signal_operator login;
grant wf_operator to signal_operator;
create role signal_viewer login;
grant wf_viewer to signal_viewer;
select wf.workflow_grant_set('signal_app', '{watch}'), wf.workflow_grant_remove('wf_app');
select wf.start('ask') as i \gset
select wf.start('watch') as j \gset
-- sends(LOGIN, TARGET, NAME): what it is answered
create function sends(p_login text, p_target jsonb, p_name text) returns text language sql as $$
    select play_as(p_login, format('select %L from wf.signal(%L, %L)', 'sent', p_target, p_name));
$$;
select is(sends('signal_app', to_jsonb(:i), 'go'), 'WF008 login signal_app may not start workflow ask: none of its roles has a grant for it',
          'an application sends nothing to what it may not start');
select is(sends('signal_app', '{"workflow": "two", "key": "none"}', 'go'), 'WF008 login signal_app may not start workflow two: none of its roles has a grant for it',
          'a sender learns nothing of other workflows');
select is(sends('signal_app', to_jsonb(:j), 'go'), 'sent', 'an application sends to instances of workflows that it may start');
select is(sends('signal_app', '{"topic": "press"}', 'news'), 'sent', 'an application sends to topics');
select is(sends('signal_operator', to_jsonb(:i), 'go'), 'sent', 'an operator sends to any instance');
select is(sends('signal_viewer', to_jsonb(:i), 'go'), '42501 permission denied for function signal', 'a viewer sends nothing');
select is((select string_agg(distinct s.sender, ' ' order by s.sender) from wf.signal_v s where s.sender like 'signal%'), 'signal_app signal_operator', 'a signal says who sent it');

-- many at a time: two sessions of a driver have to do
select work();
select play_driver('crowded') as driver \gset
select wf.start('ask') as k \gset
select count(wf.signal(to_jsonb(:k), 'crowd')) from generate_series(1, 400);
select is((select count(*) from wf.poll(:driver, 0) where kind = 'work'), 1::bigint, 'a driver is told of work');
select wf.signal(to_jsonb(:k), 'crowd');
select is((select count(*) from wf.poll(:driver, 0) where kind = 'work'), 1::bigint, 'once if all of it is for one instance, which one session holds');
select work();
select count(wf.signal(to_jsonb(:k), 'crowd')) from generate_series(1, 399);
select wf.signal(to_jsonb(wf.start('ask')), 'crowd');
select is((select count(*) from wf.poll(:driver, 0) where kind = 'work'), 1::bigint, 'once for 400');
select wf.signal(to_jsonb(:k), 'crowd');
select is((select count(*) from wf.poll(:driver, 0) where kind = 'work'), 2::bigint, 'twice for 401 of two instances');
select work();
select is((select count(*) from wf.poll(:driver, 0) where kind = 'work'), 0::bigint, 'a driver is told of no work when the signals are taken');

select * from finish();
rollback;
