-- callback.sql - callbacks: tokens, early and late ones, twice, progress, and what ends the wait for them.
begin;
\ir helper/play.sql
select no_plan();

insert into play_type (name, spec) values
    ('t.Call', '{"name": "t.Call", "machine": "wait", "wait": "callback", "params": [{"name": "name", "type": {"optional": "json"}}],
                 "returns": {"object": {"payload": {"optional": "json"}, "at": "timestamp", "sender": "string"}}}');
create function work() returns void
language plpgsql as $$ begin while exists (select from wf.work w where w.due_at <= wf.now() and not w.aside) loop perform wf.work(); end loop; end; $$;
-- seen(INSTANCE): how it is, and the output of task a
create function seen(p_instance bigint) returns text
language sql as $$ select concat_ws(' ', i.state, (select p.output - 'sender' from wf.process p where p.instance_id = i.id and p.id = play_id(i.id, 'a'))) from wf.instance i where i.id = p_instance; $$;
-- calls(TOKEN [, PAYLOAD]): what callback answers, or its error
create function calls(p_token text, p_payload jsonb default '{"n": 1}') returns text
language plpgsql as $$ begin return wf.callback(p_token, p_payload); exception when others then return sqlstate || ': ' || sqlerrm; end; $$;
create function why(p_instance bigint) returns text
language sql as $$ select e.reason || ': ' || e.detail from wf.explain(p_instance, play_id(p_instance, 'a')) e where e.reason = 'callback'; $$;
create function sound(p_when text) returns text
language sql as $$ select is_empty('select * from wf.fsck()', 'fsck finds its rows sound: ' || p_when); $$;

select set_config('wf.now', '2026-03-01 12:00:00+00', true);
select play_driver() as driver \gset
select play_install('call', jsonb_build_array(play_task('t.Call', 'a', '{"name": "paid"}')));
select play_install('call_late', jsonb_build_array(play_task('t.Call', 'a', '{"name": "paid"}', '{"timeout": {"deadline": "PT1H"}}')));
select play_install('call_badly', jsonb_build_array(play_task('t.Call', 'a', '{"name": ["var", "n"]}')), '[{"name": "n", "type": "json"}]');

-- O11: a token, and the callback
select wf.start('call') as i \gset
select is(why(:i), format('callback: waits for the callback paid; nobody has made a token for it: wf-console callback token %s paid does', :i), 'explain says that there is no token');
select wf.callback_token(:i, 'paid') as token \gset
select matches(:'token'::text, '^[0-9a-f]{64}$', 'O11: a token is 64 hexadecimal digits');
select is((select count(*) from wf.callback c where c::text like '%' || :'token' || '%'), 0::bigint, 'a callback token is not stored');
select matches(why(:i), '^callback: waits for the callback paid; its token was made at 2026-03-01 12:00:00\+00 by', 'explain says that there is one');
select is((select count(*) from wf.stuck()), 0::bigint, 'nobody calls it stuck');
select sound('a wait for a callback');
select is(calls(:'token'), 'accepted', 'O11: the callback is accepted');
select work();
select is(seen(:i), 'END {"at": "2026-03-01T12:00:00Z", "payload": {"n": 1}}', 'O11: the task ends with its payload');
select is(calls(:'token'), 'known', 'the same callback again is known, for a sender that has not heard the answer');
select is(calls(:'token', '{"n": 2}'), 'WF004: the token was used at 2026-03-01 12:00:00+00, with another payload', 'another one is refused');
select is((select count(*) from wf.signal), 0::bigint, 'nothing is left of it');

-- early, and wrong tokens
select play_install('later', jsonb_build_array(play_task('t.Do', 'b'), play_task('t.Call', 'a', '{"name": "paid"}')));
select wf.start('later') as i \gset
select wf.callback_token(:i, 'paid') as former \gset
select wf.callback_token(:i, 'paid') as token \gset
select matches(calls(:'former'), '^WF003: the token is not valid: it was never made, a newer one replaced it', 'a token ends the former one for the same callback');
select matches(calls('0'), '^WF003: the token is not valid', 'a wrong token');
select matches(calls(null), '^WF003: the token is not valid', 'none');
select is(calls(:'token', 'null'), 'accepted', 'O11: a callback that comes before the wait is kept');
select work();
select is(seen(:i), 'RUNNING', 'while nothing waits for it');
select play_on(:driver);
select is(seen(:i), 'END {"at": "2026-03-01T12:00:00Z", "payload": null}', 'a wait takes the callback that came before it');

-- O12: progress
select wf.start('call_late') as i \gset
select wf.callback_token(:i, 'paid') as token \gset
select wf.callback_progress(:'token', '{"done": 0.4}');
select matches(why(:i), 'and says at 2026-03-01 12:00:00\+00: {"done": 0.4}$', 'O12: explain shows the progress');
select wf.callback_progress(:'token', '"nearly"');
select results_eq('select c.progress, c.used_at from wf.callback_v c where c.instance_id = ' || :i, $$values ('"nearly"'::jsonb, null::timestamptz)$$, 'O12: the next one takes its place');
select throws_matching($$select wf.callback_progress('x', '1')$$, 'the token is not valid', 'a wrong token has no progress');

-- O13: a deadline, and a callback after it
select play_later('61 min');
select play_take(:driver, 0);
select is(play_state(:i, 'a'), 'FAILED', 'O13: progress puts off no deadline');
select is((select p.error ->> 'kind' from wf.process p where p.instance_id = :i and p.id = play_id(:i, 'a')), 'timeout', 'O13: the wait times out');
select is(calls(:'token'), 'accepted', 'a callback that comes too late is kept');
select wf.retry(jsonb_build_object('process', jsonb_build_array(:i, play_id(:i, 'a'))));
select play_take(:driver, 0);
select work();
select is(seen(:i), 'END {"at": "2026-03-01T13:01:00Z", "payload": {"n": 1}}', 'O13: a late callback ends the next attempt');
select throws_matching(format('select wf.callback_progress(%L, ''1'')', :'token'), 'the token was used at', 'there is no progress after it');

-- an abort
select wf.start('call') as i \gset
select wf.callback_token(:i, 'paid') as token \gset
select wf.abort(jsonb_build_object('instance', :i));
select matches(calls(:'token'), format('^WF004: instance %s has ended \(ABORTED\): nothing in it waits for a callback', :i), 'an aborted instance takes none');
select throws_matching(format('select wf.callback_token(%s, ''paid'')', :i), 'has ended', 'an aborted instance gets no callback token');
select throws_matching('select wf.callback_token(1000000, ''paid'')', 'there is no instance 1000000', 'an unknown instance gets no callback token');
select wf.start('call') as i \gset
select throws_matching(format('select wf.callback_token(%s, '''')', :i), 'the name of the callback has 0 bytes', 'an empty name is refused');
select wf.callback_token(:i, 'paid') as token \gset
select matches(calls(:'token', to_jsonb(repeat('x', 2000000))), '^WF002: the payload has 2000002 bytes, more than the 1048576 allowed', 'a payload that is too large');
select wf.suspend(jsonb_build_object('instance', :i));
select is(calls(:'token'), 'accepted', 'a suspended instance takes it');

-- nobody else can send what a callback is
select throws_matching(format('select wf.signal(to_jsonb(%s), ''callback paid'')', :i), 'the name of a signal does not begin with "callback "', 'no signal has the name of a callback');
select wf.start('call_badly', '{"n": 7}') as i \gset
select is(play_state(:i, 'a'), 'WAITING', 'a number is the text of it');
select wf.start('call_badly', '{"n": ""}') as i \gset
select is((select p.error ->> 'kind' from wf.process p where p.instance_id = :i and p.id = play_id(:i, 'a')), 'input', 'a wait without a name fails');

-- it goes with its instance
select wf.purge('{"state": "END", "workflow": "call"}');
select work();
select is((select count(*) from wf.callback c where not exists (select from wf.instance i where i.id = c.instance_id)), 0::bigint, 'tokens are purged with their instance');
select sound('at the end');

select * from finish();
rollback;
