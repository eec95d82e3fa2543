-- retry.sql - the policy retry: how long it waits, what it tries again, how often,
-- and what operators can do meanwhile.
begin;
\ir helper/play.sql
select no_plan();

-- The delays, in milliseconds, after attempts 1 to N of a policy.
create function delays(p_retry jsonb, p_count int, p_chance numeric default 0) returns bigint[]
language sql as $$
    select array_agg(round(extract(epoch from wf._retry_delay(wf._retry_values('{"attempts": -1}' || p_retry), n, p_chance)) * 1000)::bigint order by n)
      from generate_series(1, p_count) n;
$$;

-- A3, A5, C3 are cases of the ancestors. The formula knows no number of attempts: after the last one nothing follows.
select is(delays('{"delay": "PT0.1S", "backoff": 2}', 6), '{100,200,400,800,1600,3200}', 'A3: the delays after attempts 1 to 6: 100 ms, doubled each time');
select is(delays('{"delay": "PT0.1S", "backoff": 2, "max_delay": "PT0.4S"}', 6), '{100,200,400,400,400,400}', 'A3: at most 400 ms');
select is(delays('{"delay": "5m 30s"}', 1) || delays('{"delay": "1d"}', 1), '{330000,86400000}', 'A3: 5m 30s is 330,000 ms, 1d is 86,400,000 ms');
select is(delays('{"delay": "PT0.1S", "backoff": 3}', 3), '{100,300,900}', 'A5: 100 ms, three times as long each time');
select is(delays('{"delay": "PT0.1S", "backoff": 2, "max_delay": "PT0.5S"}', 5), '{100,200,400,500,500}', 'A5: at most 500 ms');
select is(delays('{"delay": "PT0.1S"}', 4), '{100,100,100,100}', 'A5: a constant delay');
select is(delays('{"delay": "PT0.1S", "max_delay": "PT0.05S"}', 2), '{50,50}', 'S25: max_delay holds for a constant delay, too');
select is(delays('{}', 3), '{0,0,0}', 'S25: without a delay there is none');
-- B28: Brooklyn has a list of first delays and steps that are added, too; here there is one delay and a factor
select is(delays('{"delay": "PT10S", "backoff": 2, "max_delay": "PT5M"}', 7), '{10000,20000,40000,80000,160000,300000,300000}', 'C3: 10s increasing 2x up to 5m');
select is(delays('{"delay": "PT2S", "backoff": 3, "max_delay": "PT1M"}', 6), '{2000,6000,18000,54000,60000,60000}', 'C3: 2s increasing 3x up to 1m, without the 1s that comes first there');
select is(delays('{"delay": "PT0.1S", "backoff": 4}', 3), '{100,400,1600}', 'C3: 100ms increasing 4x, or 300%, without the two delays of 0 that come first there');
select is(delays('{"delay": "PT1S", "backoff": 1.5}', 4), '{1000,1500,2250,3375}', 'B28: a factor may have a fraction, as 50% has there');
-- never wrapping: Steep's own code did from attempt 55 on
select is(delays('{"delay": "PT1S", "backoff": 2, "max_delay": "PT10S"}', 200), '{1000,2000,4000,8000}' || array_fill(10000::bigint, array[196]), 'S28: attempts 5 to 200 wait 10 s');
select is((delays('{"delay": "PT1S", "backoff": 2}', 200))[32:33], '{2147483648000,3153600000000}', 'S28: without max_delay a delay ends at 36,500 days');
select is((select array_agg(round(extract(epoch from wf._retry_delay(wf._retry_values(r::jsonb), 2147483647, 0)))) from unnest(array[
    '{"attempts": -1, "delay": "PT0.000001S", "backoff": 9999}', '{"attempts": -1, "delay": "PT1S", "backoff": 1.000001, "max_delay": "PT1M"}', '{"attempts": -1, "delay": "PT1S"}']) r),
    '{3153600000,60,1}', 'S28: attempt 2,147,483,647 does not wrap');
-- jitter
select is(delays('{"delay": "PT10S", "jitter": 0.2}', 1, 0) || delays('{"delay": "PT10S", "jitter": 0.2}', 1, 0.5) || delays('{"delay": "PT10S", "jitter": 1}', 1, 0.999), '{10000,11000,19990}', 'B28: jitter adds up to so much of the delay');
select is(delays('{"delay": "PT10S", "jitter": 0.5, "max_delay": "PT12S"}', 1, 0.2) || delays('{"delay": "PT10S", "jitter": 0.5, "max_delay": "PT12S"}', 1, 0.5), '{11000,9600}', 'B28: a delay with jitter that would exceed max_delay is max_delay divided by as much');
select is((select array_agg(delays('{"delay": "PT0.05S", "jitter": 1}', 5, c) order by c) from unnest('{0,0.999999}'::numeric[]) c), '{{50,50,50,50,50},{100,100,100,100,100}}',
    'C3: 50 ms with a jitter of 1: five delays take 250 to 500 ms; a jitter of 5, as there, is refused');
select is((select count(*) from generate_series(1, 1000) p where wf._retry_chance(p, 1) between 0 and 0.999999), 1000::bigint, 'the chance lies between 0 and 1');
select cmp_ok((select min(abs(wf._retry_chance(p, 1) - wf._retry_chance(q, 1))) from generate_series(1, 100) p, generate_series(1, 100) q where p < q), '>', 0.004, 'the chance differs for each of a hundred neighbours');
select isnt(wf._retry_chance(7, 1), wf._retry_chance(7, 2), 'the chance differs for each attempt');
select lives_ok('select wf._retry_chance(9223372036854775807, 2147483647)', 'of any number');

-- what install refuses, and what only the task can find out
create function refused(p_retry jsonb) returns text
language plpgsql as $$
begin
    perform play_install('refused', jsonb_build_array(play_task('t.Do', 'a', '{}', jsonb_build_object('retry', p_retry))));
    return 'installed';
exception when others then
    return replace(sqlerrm, 'workflows[0].steps[0].policies.', '');
end;
$$;
select is(refused(r::jsonb), e, r)
  from (values ('{}', 'retry.attempts: is missing'),
               ('{"attempts": 0}', 'retry.attempts: must be an int from 1 to 999999999, or -1'),
               ('{"attempts": -2}', 'retry.attempts: must be an int from 1 to 999999999, or -1'),
               ('{"attempts": 1.5}', 'retry.attempts: must be an int from 1 to 999999999, or -1'),
               ('{"attempts": 1000000000}', 'retry.attempts: must be an int from 1 to 999999999, or -1'),
               ('{"attempts": 2, "delay": 5}', 'retry.delay: must be a duration from 0 to 36500 days'),
               ('{"attempts": 2, "delay": "PT-1S"}', 'retry.delay: must be a duration from 0 to 36500 days'),
               ('{"attempts": 2, "delay": "P36501D"}', 'retry.delay: must be a duration from 0 to 36500 days'),
               ('{"attempts": 2, "max_delay": "soon"}', 'retry.max_delay: must be a duration from 0 to 36500 days'),
               ('{"attempts": 2, "backoff": 0.5}', 'retry.backoff: must be a number from 1 to 9999'),
               ('{"attempts": 2, "backoff": "2"}', 'retry.backoff: must be a number from 1 to 9999'),
               ('{"attempts": 2, "jitter": 1.01}', 'retry.jitter: must be a number from 0 to 1'),
               ('{"attempts": 2, "jitter": -0.1}', 'retry.jitter: must be a number from 0 to 1'),
               ('{"attempts": 2, "on": 503}', 'retry.on: must be a kind of error or a list of them'),
               ('{"attempts": 2, "on": ["list", "http", 503]}', 'retry.on: must be a kind of error or a list of them'),
               ('{"attempts": 2, "when": ["var", "x"]}', 'retry.when: reads lacks x'),
               ('{"attempts": ["var", "error"]}', 'workflows[0].steps[0]: reads lacks error'),
               ('{"attempts": 2, "tries": 3}', 'retry.tries: unknown key'),
               ('5', 'retry: must be an object'),
               ('{"attempts": -1, "delay": "PT1H", "backoff": 9999, "max_delay": "P36500D", "jitter": 1, "on": ["list"], "when": ["eq", ["get", ["var", "error"], "kind"], "x"]}', 'installed')) t (r, e);
select is(refused('{"attempts": 2, "delay": 1000}'), 'retry.delay: must be a duration from 0 to 36500 days', 'A3: a bare 1000 is refused: it has no unit; for Steep it is 1 s');
select is(refused('{"attempts": 0, "delay": "PT0.1S"}'), 'retry.attempts: must be an int from 1 to 999999999, or -1', 'A3, S28: 0 attempts are refused; Steep skips such a task and says that it has given its output');
create function refused_at_workflow(p_retry text) returns text
language plpgsql as $$
begin
    perform wf.install('', format('{"format": 1, "file": "f", "workflows": [{"name": "w", "line": 1, "params": [{"name": "n", "type": "int"}], "policies": {"retry": %s}, "steps": []}], "task_types": {}}', p_retry)::jsonb);
    return 'installed';
exception when others then
    return replace(sqlerrm, 'workflows[0].policies.', '');
end;
$$;
select is(refused_at_workflow(r), e, 'at a workflow: ' || r)
  from (values ('{}', 'retry.attempts: is missing'),
               ('{"attempts": 0}', 'retry.attempts: must be an int from 1 to 999999999, or -1'),
               ('{"attempts": 2, "when": ["var", "x"]}', 'retry.when: reads lacks x'),
               ('{"attempts": ["var", "error"]}', 'workflows[0]: there is no parameter error'),
               ('{"attempts": 2, "tries": 3}', 'retry.tries: unknown key'),
               ('{"attempts": ["var", "n"], "when": ["eq", ["get", ["var", "error"], "attempt"], ["var", "n"]]}', 'installed')) t (r, e);
update play_type set spec = spec || '{"policies": {"retry": {"attempts": 0}}}' where name = 't.Far';
select throws_ok($$select play_install('bad', jsonb_build_array(play_task('t.Far', 'a')))$$, 'WF005', 'task_types.t.Far.policies.retry.attempts: must be an int from 1 to 999999999, or -1', 'a task type is checked, too');
update play_type set spec = spec || '{"policies": {"retry": {"attempts": 2, "when": ["var", "error"]}}, "params": [{"name": "error", "type": "int"}]}' where name = 't.Far';
select throws_ok($$select play_install('bad', jsonb_build_array(play_task('t.Far', 'a', '{"error": 1}')))$$, 'WF005', 'task_types.t.Far.params: parameter error has a reserved name', 'a parameter cannot be called like the error that `when` sees');

-- What has happened to a task: its moves, with the due time of a retry.
create function story(p_instance bigint, p_name text) returns text
language sql as $$
    select string_agg(concat_ws(' ', e.event || case when e.event in ('retry', 'fail', 'lost', 'undecided') then '→' || e.state else '' end,
                                coalesce(e.detail ->> 'kind', substr(e.detail ->> 'due_at', 12, 12))), ', ' order by e.seq)
      from wf.event e where e.instance_id = p_instance and e.process_id = play_id(p_instance, p_name) and e.event not in ('start', 'ack');
$$;
create function fail_as(p_driver bigint, p_instance bigint, p_name text, p_error jsonb) returns text
language sql as $$
    select play_take(p_driver);
    select play_report(play_id(p_instance, p_name), 'error', p_error::text);
$$;
create function waits(p_instance bigint) returns text
language sql as $$
    select string_agg(coalesce(p.bind, p.kind) || ' ' || x.place, ', ' order by p.id, x.place)
      from (select r.instance_id, r.process_id, 'ready' as place from wf.ready r union all
            select k.instance_id, k.process_id, k.reason from wf.parked k union all
            select t.instance_id, t.process_id, t.kind || ' ' || extract(epoch from t.due_at - wf.now())::int from wf.timer t where isfinite(t.due_at)) x
      join wf.process p on p.instance_id = x.instance_id and p.id = x.process_id
     where x.instance_id = p_instance;
$$;
-- Time passes, and the driver gives signs of life.
create function later(p_driver bigint, p_interval interval) returns void
language plpgsql as $$
declare
    v_end timestamptz := wf.now() + p_interval;
begin
    while wf.now() < v_end loop
        perform play_later(least(interval '20 s', v_end - wf.now())), wf.heartbeat(p_driver);
    end loop;
end;
$$;
select set_config('wf.now', '2030-01-01 00:00:00+00', true);
select play_driver() as driver \gset

-- a budget
select play_install('budget', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"retry": {"attempts": 3, "delay": "PT10S", "backoff": 2}}'), play_task('t.Do', 'b')));
select wf.start('budget') as i \gset
select fail_as(:driver, :i, 'a', '{"kind": "http", "message": "it broke"}');
select results_eq(format('select state, attempt, error ->> ''message'' from wf.process where id = %s', play_id(:i, 'a')), $$values ('INIT', 2, 'it broke')$$, 'O8: a failed task waits in INIT for its next attempt, and keeps its error');
select is(waits(:i), 'a retry 10', 'for a timer, and is not among the ready');
select is_empty('select * from wf.failed', 'O8: no person is needed');
select results_eq(format('select reason, detail, since from wf.explain(%s, %s)', :i, play_id(:i, 'a')),
    $$values ('retry', 'waits for its next attempt, the 2nd of 3, at 2030-01-01 00:00:10+00, after http error: it broke', timestamptz '2030-01-01 00:00:00+00')$$, 'explain says which attempt it waits for, until when and why');
select is((select note from wf.tree(:i) where label = 't.Do as a'), 'waits for its next attempt, the 2nd of 3, at 2030-01-01 00:00:10+00, after http error: it broke', 'the tree says which attempt is waited for');
select is_empty('select * from wf.stuck()', 'a task that waits for its next attempt is not stuck');
select ok(:i in (select wf.list('{RUNNING}')), 'an instance with a task that waits for its next attempt is RUNNING');
select is_empty($$select wf.list(p_failed => true)$$, 'not as failed');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select is((select wait_ms from wf.poll(:driver, 10) where kind = 'next'), 0, 'a driver that was just busy looks once more');
select is((select wait_ms from wf.poll(:driver, 10) where kind = 'next'), 1000, 'a driver rests while the delay runs');
select later(:driver, '9.5 s');
select is((select wait_ms from wf.poll(:driver, 10) where kind = 'next'), 500, 'S25: until the attempt is due');
select is(play_take(:driver), 0::bigint, 'the next attempt is not handed out before its time');
select later(:driver, '0.5 s'), wf.tick();
select results_eq(
    format('select state, event, error ->> ''message'' from wf.process where id = %s', play_id(:i, 'a')),
    $$values ('INIT', 'retry', 'it broke')$$, 'at its time the task is ready without a move, and keeps its error');
select results_eq(
    format('select place, since from wf._place_v where process_id = %s', play_id(:i, 'a')),
    $$values ('ready', timestamptz '2030-01-01 00:00:10+00')$$,
    'the view of places says since when the task is ready');
select is(play_take(:driver), 1::bigint, 'the next attempt is handed out at its time');
select is((select attempt from play_request order by k desc limit 1), 2, 'as the second attempt');
select is((select error from wf.process where id = play_id(:i, 'a')), null, 'the new attempt has no error');
select play_fail(play_id(:i, 'a'));
select is(waits(:i), 'a retry 20', 'S25: after the second attempt it waits twice as long');
select later(:driver, '1 min');
select fail_as(:driver, :i, 'a', '{"kind": "exit", "message": "the last one"}');
select results_eq(format('select state, attempt, error ->> ''message'' from wf.process where id = %s', play_id(:i, 'a')), $$values ('FAILED', 3, 'the last one')$$, 'B27: after the last attempt it is FAILED with the last error, and nothing waits any more');
select is(story(:i, 'a'), 'fail→FAILED http, retry→INIT 00:00:10.000, fail→FAILED http, retry→INIT 00:00:30.000, fail→FAILED exit', 'the history has each failure and each retry, with its time');
select is((select actor from wf.event_v where process_id = play_id(:i, 'a') and event = 'retry' limit 1), session_user::text, 'the login that reported the failure is the actor of the retry');

-- an operator's retry begins a fresh budget
select wf.retry(format('{"process": %s}', play_id(:i, 'a'))::jsonb);
select is(waits(:i), 'a ready', 'an operator''s retry of what is FAILED does not wait');
select fail_as(:driver, :i, 'a', '{"kind": "http", "message": "it broke"}');
select is(waits(:i), 'a retry 10', 'B29: an operator''s retry begins a fresh budget');
select is((select detail from wf.explain(:i, play_id(:i, 'a'))), 'waits for its next attempt, the 2nd of 3, at 2030-01-01 00:01:20+00, after http error: it broke', 'attempts of a fresh budget are counted anew');
select is((select attempt from wf.process where id = play_id(:i, 'a')), 5, 'while the attempts of the task go on');
select results_eq(format($$select answer, detail from wf.retry('{"process": %s}', 'the service is back')$$, play_id(:i, 'a')), $$values ('done', 'INIT -> INIT')$$, 'O8: an operator may begin the next attempt before its time');
select is(waits(:i), 'a ready', 'at once');
select results_eq(format('select event, state, attempt, reason from wf.event where process_id = %s order by seq desc limit 1', play_id(:i, 'a')), $$values ('retry', 'INIT', 5, 'the service is back')$$, 'the history says who and why');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select fail_as(:driver, :i, 'a', '{"kind": "http", "message": "it broke"}');
select is((select detail from wf.explain(:i, play_id(:i, 'a'))), 'waits for its next attempt, the 2nd of 3, at 2030-01-01 00:01:20+00, after http error: it broke', 'an attempt that an operator began early is in a fresh budget, too');
select results_eq(format($$select p.answer, p.detail from wf.preview('retry', '{"instance": %s}') p$$, :i), $$values ('done', null)$$, 'D26: a preview of a retry of the instance names it');
select results_eq(format($$select process_id, answer from wf.retry('{"instance": %s}')$$, :i), format($$values (%s::bigint, 'done')$$, play_id(:i, 'a')), 'a retry of the instance begins it');
select results_eq(format($$select answer, detail from wf.retry('{"process": %s}')$$, play_id(:i, 'a')), $$values ('refused', 'INIT: only FAILED can be retried')$$, 'a task that is ready is not retried');
select play_on(:driver);
select is((select state from wf.instance where id = :i), 'END', 'the instance ends when the retried task has succeeded');
select is((select result from wf.instance where id = :i), 'success', 'as if nothing had failed');
select wf.start('budget') as i \gset
select fail_as(:driver, :i, 'a', '{"kind": "http", "message": "it broke"}');
select throws_ok($$select wf.retry('{"failed": true}')$$, 'WF003', null, 'a retry of what has failed leaves it alone');
select results_eq($$select instance_id, answer from wf.retry('{"workflow": "budget"}')$$, format($$values (%s::bigint, 'done')$$, :i), 'a retry of all instances of a workflow begins it');

-- cancel, suspend, abort
select fail_as(:driver, :i, 'a', '{"kind": "http", "message": "it broke"}');
select results_eq(format($$select detail from wf.cancel('{"process": %s}')$$, play_id(:i, 'a')), array['INIT -> FAILED'], 'cancel during the delay');
select is((select error ->> 'kind' from wf.process where id = play_id(:i, 'a')), 'cancelled', 'S27: leads to FAILED with kind cancelled at once');
select is_empty('select * from wf.timer', 'without a further attempt');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select wf.retry(format('{"instance": %s}', :i)::jsonb);
select fail_as(:driver, :i, 'a', '{"kind": "http", "message": "it broke"}');
select wf.suspend(format('{"instance": %s}', :i)::jsonb);
select is(waits(:i), 'a retry 10', 'suspend during the delay: time passes');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select later(:driver, '1 min'), wf.tick();
select is(waits(:i), 'a suspended', 'a suspended task is held after its delay');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select wf.resume(format('{"instance": %s}', :i)::jsonb);
select is(waits(:i), 'a ready', 'until the instance is resumed');
select fail_as(:driver, :i, 'a', '{"kind": "http", "message": "it broke"}');
select results_eq(format($$select answer, detail from wf.purge('{"instance": %s}')$$, :i), $$values ('refused', 'RUNNING: only END, ABORTED can be purged')$$, 'an instance that waits for an attempt is not purged');
select wf.abort(format('{"instance": %s}', :i)::jsonb);
select is((select state || ' ' || result from wf.instance where id = :i), 'ABORTED aborted', 'abort during the delay ends it at once');
select is_empty('select * from wf.timer', 'nothing is left');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- what is tried again: kinds
select play_install('kinds', jsonb_build_array(
    play_task('t.Do', 'a', '{"x": ["var", "idempotent"]}', '{"retry": {"attempts": 2, "delay": "PT1S"}}'),
    play_task('t.Do', 'z')), '[{"name": "idempotent", "type": {"optional": "json"}, "default": null}]');
create function tried_again(p_driver bigint, p_workflow text, p_error jsonb) returns boolean
language plpgsql as $$
declare
    v_i bigint := wf.start(p_workflow);
    v_again boolean;
begin
    perform fail_as(p_driver, v_i, 'a', p_error);
    v_again := play_state(v_i, 'a') = 'INIT';
    perform wf.abort(jsonb_build_object('instance', v_i));
    return v_again;
end;
$$;
select is((select string_agg(k, ' ' order by k) from unnest('{input,output,http,exit,timeout,sql,lost,rejected,cancelled,limit,engine,mine}'::text[]) k
            where tried_again(:driver, 'kinds', jsonb_build_object('kind', k, 'message', 'm'))),
    'exit http limit mine rejected sql timeout', 'S27, S28: by default all kinds are tried again but input, output, cancelled, and lost of what is not idempotent');
select play_install('lost', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"retry": {"attempts": 2}, "idempotent": true}')));
select ok(tried_again(:driver, 'lost', '{"kind": "lost"}'), 'lost is, of what is idempotent');
select play_install('some', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"retry": {"attempts": 2, "on": ["list", "output", "lost", "cancelled", "engine", "mine"]}}')));
select is((select string_agg(k, ' ' order by k) from unnest('{input,output,http,lost,cancelled,limit,engine,mine}'::text[]) k
            where tried_again(:driver, 'some', jsonb_build_object('kind', k, 'message', 'm'))),
    'cancelled lost mine output', '`on` replaces these kinds; what the engine has set aside is never tried again');
select play_install('one', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"retry": {"attempts": 2, "on": "http"}}')));
select ok(tried_again(:driver, 'one', '{"kind": "http"}') and not tried_again(:driver, 'one', '{"kind": "exit"}'), '`on` may be one kind');

-- a condition
select play_install('when', jsonb_build_array(play_task('t.Do', 'a', '{"x": ["var", "status"]}',
    '{"retry": {"attempts": 5, "when": ["eq", ["get", ["get", ["var", "error"], "detail"], "status"], ["var", "status"]]}}')), '[{"name": "status", "type": "int", "default": 503}]');
select ok(tried_again(:driver, 'when', '{"kind": "http", "detail": {"status": 503}}'), 'a condition that holds');
select ok(not tried_again(:driver, 'when', '{"kind": "http", "detail": {"status": 404}}'), '`when` that is false for the error: no other attempt');
select ok(not tried_again(:driver, 'when', '{"kind": "http"}'), '`when` that is null: no other attempt');
select ok(not tried_again(:driver, 'when', '{"kind": "output", "detail": {"status": 503}}'), '`when` does not make other kinds be tried again');
select play_install('undecided', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"retry": {"attempts": 5, "when": ["lt", ["get", ["var", "error"], "attempt"], ["get", ["var", "error"], "detail"]]}}')));
select wf.start('undecided') as i \gset
select fail_as(:driver, :i, 'a', '{"kind": "http", "message": "m", "detail": 2}');
select fail_as(:driver, :i, 'a', '{"kind": "http", "message": "m", "detail": "two"}');
select is(play_state(:i, 'a'), 'FAILED', '`when` that cannot be evaluated counts as no');
select is((select detail ->> 'kind' from wf.event where process_id = play_id(:i, 'a') and event = 'undecided'), 'input', '`when` that cannot be evaluated is noted in the history');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select wf.abort('{"global": true}');

-- values are expressions, evaluated once, when the task is enabled
select play_install('values', jsonb_build_array(jsonb_set(play_task('t.Do', 'a', '{}', '{"retry": {"attempts": ["var", "n"], "delay": ["var", "d"], "on": ["var", "k"]}}'), '{reads}', '{"n": 0, "d": 0, "k": 0}')),
    '[{"name": "n", "type": {"optional": "json"}, "default": 2}, {"name": "d", "type": "json", "default": "PT7S"}, {"name": "k", "type": {"optional": "json"}, "default": null}]');
select wf.start('values') as i \gset
select is((select policy from wf.process where id = play_id(:i, 'a')), '{"retry": {"attempts": 2, "delay": 7, "backoff": 1, "jitter": 0}}', 'values of the policy are kept with the task');
select fail_as(:driver, :i, 'a', '{"kind": "http", "message": "it broke"}');
select is(waits(:i), 'a retry 7', 'values of the policy hold for the task');
select later(:driver, '7 s');
select fail_as(:driver, :i, 'a', '{"kind": "http", "message": "it broke"}');
select is(play_state(:i, 'a'), 'FAILED', 'up to its last attempt');
select results_eq(format($$select p.state || ': ' || (p.error ->> 'message') from wf.process p where p.instance_id = %s and p.bind = 'a'$$, wf.start('values', v::jsonb)), array[e], v)
  from (values ('{"n": 0}', 'FAILED: attempts of retry is an int from 1 to 999999999, or -1, not 0'),
               ('{"n": null}', 'FAILED: attempts of retry is an int from 1 to 999999999, or -1, not null'),
               ('{"d": "soon"}', 'FAILED: delay of retry is a duration from 0 to 36500 days, not "soon"'),
               ('{"k": [1]}', 'FAILED: on of retry is a kind of error or a list of them, not [1]')) t (v, e);
select wf.abort('{"global": true}');

-- defaults of a task type, which read its parameters; what a task says replaces all of them
update play_type set spec = spec || '{"params": [{"name": "n", "type": "int"}], "policies": {"retry": {"attempts": ["var", "n"], "delay": "PT3S", "when": ["lt", ["get", ["var", "error"], "attempt"], ["var", "n"]]}}}' where name = 't.Far';
select play_install('default', jsonb_build_array(play_par(
    play_task('t.Far', 'a', '{"n": 4}'), play_task('t.Far', 'b', '{"n": ["var", "m"]}'), play_task('t.Far', 'c', '{"n": 4}', '{"retry": {"attempts": 2}}'))), '[{"name": "m", "type": "int", "default": 9}]');
select results_eq($$select n.retry, n.retry_when from wf.node n join wf.workflow w on w.version_id = n.version_id where w.name = 'default' and n.type_id is not null order by n.id$$,
    $$values ('{"attempts": 4, "delay": 3, "backoff": 1, "jitter": 0}'::jsonb, '["lt", ["get", ["var", "error"], "attempt"], 4]'::jsonb),
             ('{}', '["lt", ["get", ["var", "error"], "attempt"], ["var", "m"]]'),
             ('{"attempts": 2, "delay": 0, "backoff": 1, "jitter": 0}', null)$$, 'S26: the policy of a task replaces the whole default of its type');
select wf.start('default') as i \gset
select play_driver('far', '{ssh}') as far \gset
select play_take(:far);
select play_fail(play_id(:i, b)) from unnest('{a,b,c}'::text[]) b;
select is(waits(:i), 'a retry 3, b retry 3, c retry 0', 'S26: each waits as its own policy says');
select wf.abort('{"global": true}');

-- since when an element is ready; the queue puts elements of a list 0.1 s apart
select play_install('list', jsonb_build_array(play_forall('e', '[0, 1, 2]',
    play_task('t.Do', 'a', '{}', '{"retry": {"attempts": 2, "delay": "PT5S"}}'))));
select wf.start('list') as i \gset
select play_take(:driver);
select play_fail_all(:driver, :i);
select later(:driver, '5 s'), wf.tick(), later(:driver, '3 s');
select results_eq(
    format('select distinct wf.now() - since from wf._place_v where instance_id = %s and place = %L', :i, 'ready'),
    array[interval '3 s'], 'each element of a list is ready since its time');
select is((select count(distinct turn) from wf.ready where instance_id = :i), 3::bigint,
    'in the queue the elements are apart');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select wf.abort('{"global": true}');

-- a group: its place is free during the delay
select play_install('grouped', jsonb_build_array(play_par(
    play_task('t.Do', 'a', '{}', '{"group": {"name": "g", "max": 1}, "retry": {"attempts": 2, "delay": "PT5S"}}'),
    play_task('t.Do', 'b', '{}', '{"group": {"name": "g", "max": 1}}'))));
select wf.start('grouped') as i \gset
select is(play_take(:driver), 1::bigint, 'one of two may run');
select play_fail(play_id(:i, 'a')), play_take(:driver);
select is(waits(:i), 'a retry 5', 'the other one runs during the delay');
select later(:driver, '5 s'), play_take(:driver);
select is(waits(:i), 'a group', 'after it the task waits for its place');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select play_on(:driver);
select play_report(play_id(:i, 'b')), play_on(:driver);
select is((select state from wf.instance where id = :i), 'END', 'the task gets its place in the group');

-- an asynchronous task: what it holds outside is released first
select play_install('job', jsonb_build_array(play_task('t.Job', 'a', '{}', '{"retry": {"attempts": 3, "delay": "PT1M"}}'), play_task('t.Do', 'b')));
select wf.start('job') as i \gset
create function fail_job(p_driver bigint, p_instance bigint) returns void
language sql as $$
    select play_take(p_driver);
    select play_report(play_id(p_instance, 'a'), 'ack');
    select play_report(play_id(p_instance, 'a'), 'response', '{"id": 5}');
    select play_later('5 s');
    select play_take(p_driver);
    select play_report(play_id(p_instance, 'a'), 'response', '{"state": "bad"}');
$$;
select fail_job(:driver, :i);
select is(play_state(:i, 'a'), 'RETRY_CLEANUP_REQUESTED', 'an asynchronous task with a handle is released first');
select is(waits(:i), 'a ready, a retry 60', 'while the delay counts from the failure');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select later(:driver, '10 s'), play_take(:driver);
select is((select request from play_request order by k desc limit 1), 'cleanup', 'the cleanup before the next attempt is handed out');
select play_report(play_id(:i, 'a'));
select is(waits(:i), 'a retry 50', 'when it is released it waits for the rest');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select later(:driver, '50 s');
select fail_job(:driver, :i);
select play_take(:driver), later(:driver, '2 min'), wf.tick();
select is(play_state(:i, 'a'), 'RETRY_CLEANUP_REQUESTED', 'a cleanup that takes longer than the delay');
select is((select count(*) from wf.timer), 0::bigint, 'no timer stands in the way of a cleanup that takes longer than the delay');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select play_report(play_id(:i, 'a'), 'error', '{"kind": "http", "message": "not now"}');
select is(waits(:i), 'a cleanup 5', 'a cleanup is waited for also when it has to be repeated');
select later(:driver, '5 s'), play_take(:driver);
select play_report(play_id(:i, 'a'));
select is(waits(:i), 'a ready', 'the attempt begins at once after a long cleanup');
select fail_job(:driver, :i);
select is(play_state(:i, 'a'), 'FAILED', 'the budget ends');
select wf.retry(format('{"instance": %s}', :i)::jsonb), play_take(:driver);
select play_report(play_id(:i, 'a'));
select is(waits(:i), 'a ready', 'an operator''s retry waits for the cleanup only');
select fail_job(:driver, :i);
select wf.abort(format('{"instance": %s}', :i)::jsonb);
select is(play_state(:i, 'a'), 'ABORT_CLEANUP_REQUESTED', 'abort while it is released');
select is((select count(*) from wf.timer where kind = 'retry'), 0::bigint, 'there will be no further attempt');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select play_on(:driver);
select is((select state from wf.instance where id = :i), 'ABORTED', 'an aborted instance ends when its task is released');

-- a failed cleanup of one task, repeated after 5 s, is not repeated because another timer is due
select wf.start('job') as i \gset
update play_type set spec = jsonb_set(spec, '{requests,cleanup,every}', '{"delay": "PT1H"}') where name = 't.Job';
select play_install('slow', jsonb_build_array(play_task('t.Job', 'a', '{}', '{"retry": {"attempts": 3, "delay": "PT1M"}}')));
select wf.abort('{"global": true}'), play_on(:driver);
select wf.start('slow') as i \gset
select fail_job(:driver, :i);
select play_take(:driver), play_report(play_id(:i, 'a'), 'error', '{"kind": "http", "message": "not now"}');
select later(:driver, '1 min'), wf.tick();
select is(waits(:i), 'a cleanup 3540', 'each has its own time');
select wf.abort('{"global": true}');
select later(:driver, '2 h'), play_on(:driver);

-- a lost driver's attempt counts only when it has failed
select play_install('lossy', jsonb_build_array(play_par(
    play_task('t.Do', 'a', '{}', '{"retry": {"attempts": 2, "delay": "PT1S", "on": "lost"}}'),
    play_task('t.Do', 'b', '{}', '{"retry": {"attempts": 2, "delay": "PT1S"}, "idempotent": true}'))));
select wf.start('lossy') as i \gset
select play_driver('dies') as dies \gset
select play_take(:dies), wf.leave(:dies);
select play_driver('dies') as dies \gset
select results_eq(format('select bind, state, attempt, error ->> ''kind'' from wf.process where instance_id = %s and bind is not null order by id', :i),
    $$values ('a', 'INIT', 2, 'lost'), ('b', 'INIT', 1, null)$$, 'a lost task that has failed is tried again as `on` says; one that is handed out again has not failed');
select is(waits(:i), 'a retry 1, b ready', 'only the one waits');
select wf.abort('{"global": true}');

-- a task that waits inside the workspace
update play_type set spec = '{"name": "t.Sleep", "machine": "wait", "wait": "fail", "params": [{"name": "msg", "type": "string"}, {"name": "kind", "type": "string"}]}' where name = 't.Sleep';
select play_install('fails', jsonb_build_array(play_task('t.Sleep', 'a', '{"msg": "no", "kind": "mine"}', '{"retry": {"attempts": 3, "delay": "PT1S", "on": "mine"}}')));
select wf.start('fails') as i \gset
select is(waits(:i), 'a retry 1', 'a wait that fails is tried again');
select later(:driver, '1 s'), wf.tick(), later(:driver, '1 s'), wf.tick();
select results_eq(format('select state, attempt from wf.process where id = %s', play_id(:i, 'a')), $$values ('FAILED', 3)$$, 'as often as it may');
update play_type set spec = '{"name": "t.Sleep", "machine": "wait", "wait": "sleep", "params": [{"name": "duration", "type": "json"}]}' where name = 't.Sleep';
select play_install('naps', jsonb_build_array(
    play_task('t.Sleep', 'a', '{"duration": ["var", "d"]}', '{"retry": {"attempts": 2, "delay": "PT1S", "on": "input"}}'),
    play_task('t.Do', 'b', '{"x": ["add", ["var", "d"], 1]}', '{"retry": {"attempts": 3, "delay": "PT1S", "on": "input"}}')), '[{"name": "d", "type": "json"}]');
select wf.start('naps', '{"d": 5}') as i \gset
select is(waits(:i), 'a retry 1', 'a sleep without a duration is tried again if `on` names input');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select later(:driver, '1 s'), wf.tick();
select is(play_state(:i, 'a'), 'FAILED', 'a sleep without a duration fails again');
select wf.start('naps', '{"d": "PT1S"}') as i \gset
select later(:driver, '1 s'), wf.tick();
select is(waits(:i), 'b retry 1', 'a task whose arguments cannot be evaluated is tried again');
select later(:driver, '1 s'), wf.tick();
select is(waits(:i), 'b retry 1', 'a task whose arguments cannot be evaluated is tried a second time');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select later(:driver, '1 s'), wf.tick();
select is(play_state(:i, 'b'), 'FAILED', 'up to the last attempt');
select wf.abort('{"global": true}');

-- a report that ends the attempt and one for another task, in one batch; elements of a forall
select play_install('many', jsonb_build_array(play_forall('e', '[1, 2, 3, 4]', play_task('t.Do', 'a', '{}', '{"retry": {"attempts": 2, "delay": "PT1S"}}'))));
select wf.start('many') as i \gset
select play_take(:driver);
select wf.outcome(:driver, array_agg(r.instance_id order by r.k), array_agg(r.process_id order by r.k), array_agg(r.token order by r.k),
                  array_agg(case when r.process_id % 2 = 0 then 'error' else 'response' end order by r.k), array_agg('{"kind": "http", "message": "m"}'::bytea order by r.k))
  from (select * from play_request order by k desc limit 4) r;
select results_eq(format('select state, count(*) from wf.process where instance_id = %s and bind = ''a'' group by 1 order by 1', :i), $$values ('END', 2::bigint), ('INIT', 2)$$, 'of a batch those that failed are tried again');
select later(:driver, '1 s'), play_on(:driver);
select is((select state from wf.instance where id = :i), 'END', 'the instance ends');

-- no delay: the driver that reports the failure takes it again in the same turn
select play_install('eager', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"retry": {"attempts": -1}}')));
select wf.start('eager') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a'));
select is((select detail from wf.explain(:i, play_id(:i, 'a'))) ~ '^waits for its next attempt, the 2nd, at ', true, 'O8: without a limit there is no last attempt');
select count(play_fail(play_id(:i, 'a'))) from generate_series(2, 200) k where play_take(:driver) = 1;
select results_eq(format('select state, attempt from wf.process where id = %s', play_id(:i, 'a')), $$values ('INIT', 201)$$, 'S28: two hundred attempts, and another one');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select wf.abort('{"global": true}');

-- the attempts of a task are played to the millisecond: gaps(DRIVER, POLICIES, FAILURES) fails each attempt, up to so many;
-- the milliseconds from each failure to the next attempt
create function gaps(p_driver bigint, p_policies jsonb, p_failures int) returns bigint[]
language plpgsql as $$
declare
    v_i bigint;
    v_failed_at timestamptz;
    v_gaps bigint[] := '{}';
begin
    perform play_install('gaps', jsonb_build_array(play_task('t.Do', 'a', '{}', p_policies)));
    v_i := wf.start('gaps');
    perform play_take(p_driver);
    for n in 1 .. p_failures loop
        v_failed_at := wf.now();
        perform play_fail(play_id(v_i, 'a'), 'Attempt ' || n);
        loop
            perform wf.tick();
            exit when play_take(p_driver) = 1;
            if play_state(v_i, 'a') <> 'INIT' then
                return v_gaps;
            end if;
            perform later(p_driver, greatest((select t.due_at - wf.now() - interval '1 ms' from wf.timer t where t.instance_id = v_i), interval '1 ms'));
        end loop;
        v_gaps := v_gaps || (extract(epoch from wf.now() - v_failed_at) * 1000)::bigint;
    end loop;
    return v_gaps;
end;
$$;
create function the_last() returns bigint language sql as $$ select max(i.id) from wf.instance i; $$;
select is(gaps(:driver, '{"retry": {"attempts": 5, "delay": "PT0.1S", "backoff": 2}}', 9), '{100,200,400,800}', 'A5: the gaps between attempts, to the millisecond: doubled');
select is(gaps(:driver, '{"retry": {"attempts": 4, "delay": "PT0.1S", "backoff": 3}}', 9), '{100,300,900}', 'A5: three times as long each time');
select is(gaps(:driver, '{"retry": {"attempts": 6, "delay": "PT0.1S", "backoff": 2, "max_delay": "PT0.5S"}}', 9), '{100,200,400,500,500}', 'A5: doubled, at most 500 ms');
select is(gaps(:driver, '{"retry": {"attempts": 4, "delay": "PT0.1S"}}', 9), '{100,100,100}', 'A5: constant');
select results_eq(format('select p.state, p.attempt, p.error ->> ''message'', (select count(*) from wf.timer) from wf.process p where p.instance_id = %s and p.bind = ''a''', the_last()),
    $$values ('FAILED', 4, 'Attempt 4', 0::bigint)$$, 'A5: when all attempts have failed the error is the last one, and no delay follows');
select is(gaps(:driver, '{"retry": {"attempts": 4, "delay": "PT0.1S"}}', 2), '{100,100}', 'A5: two attempts fail');
select play_report(play_id(the_last(), 'a'));
select results_eq(format('select i.result, p.attempt from wf.instance i join wf.process p on p.instance_id = i.id where i.id = %s and p.bind = ''a''', the_last()), $$values ('success', 3)$$, 'A5: the third succeeds, and there is no fourth');
select is(gaps(:driver, '{"retry": {"attempts": -1, "delay": "PT1S", "backoff": 2, "max_delay": "PT10S"}}', 200), '{1000,2000,4000,8000}' || array_fill(10000::bigint, array[196]),
    'S28: attempts 1 to 200 with an unlimited budget: the gap is 10 s from the fifth on, it never wraps');
select wf.abort('{"workflow": "gaps"}'), play_fail(play_id(the_last(), 'a'));
-- C5, B27: a limit of time is a deadline here, and its error is of kind timeout, where Brooklyn has RetriesExceeded. A driver's
-- poll looks for it once a second; this test looks at each moment
select is(cardinality(gaps(:driver, '{"retry": {"attempts": -1, "delay": "PT0.001S", "backoff": 2, "max_delay": "PT0.032S"}, "timeout": {"deadline": "PT1S"}}', 99)), 35, 'C5: in 1 s there are 36 attempts: more than 12, fewer than 40');
select results_eq(format($$select p.state, p.error ->> 'kind', p.error #>> '{detail,limit}' from wf.process p where p.instance_id = %s and p.bind = 'a'$$, the_last()), $$values ('FAILED', 'timeout', 'deadline')$$, 'C5: the deadline is over after 1 s');
select is((select e.detail ->> 'message' from wf.event e where e.instance_id = the_last() and e.event = 'fail' order by e.seq desc limit 1), 'Attempt 36', 'C5: the history has what failed last');

-- B29: whose attempts are counted: each process has its own count, which is kept with it; there is no key that several share
select play_install('counts', jsonb_build_array(play_forall('e', '[1, 2]', play_task('t.Do', 'a', '{}', '{"retry": {"attempts": 2}}'))));
select wf.start('counts') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'a', 0)), play_report(play_id(:i, 'a', 1), 'release');
select wf.leave(:driver);
select play_driver() as driver \gset
select play_take(:driver), play_fail(play_id(:i, 'a', 0)), play_fail(play_id(:i, 'a', 1));
select results_eq(format('select index, state, attempt from wf.process where instance_id = %s and bind = ''a'' order by 1', :i), $$values (0, 'FAILED', 2), (1, 'INIT', 2)$$,
    'B29: the attempts of one element are not those of another, and a driver that goes resets none');
select wf.abort('{"global": true}');

-- simulated; tried on
select results_eq($$select extract(epoch from s.elapsed)::int, s.event, s.state from wf.simulate('budget', p_script => '[{"task": "a", "attempt": 1, "outcome": {"error": {"kind": "http"}}}, {"task": "a", "attempt": 2, "outcome": {"error": {"kind": "http"}}}]') s where s.event in ('fail', 'retry', 'result')$$,
    $$values (0, 'fail', 'FAILED'), (0, 'retry', 'INIT'), (10, 'fail', 'FAILED'), (10, 'retry', 'INIT'), (30, 'result', 'END')$$, 'a simulation plays the delays');
select wf.start('budget') as i \gset
select fail_as(:driver, :i, 'a', '{"kind": "http", "message": "it broke"}');

-- what fsck finds
update wf.timer set due_at = 'infinity' where instance_id = :i;
select results_eq('select class, check_name, process_id, detail from wf.fsck()', format($$values ('violation', 'place: nothing can move it on, or more than one thing', %s::bigint, 'sync INIT: in no table')$$, play_id(:i, 'a')), 'a timer without a time');
select is((select reason from wf.explain(:i, play_id(:i, 'a'))), 'stuck', 'a timer without a time is no place');
update wf.timer set due_at = wf.now() + interval '1 min' where instance_id = :i;
set local session_replication_role = replica;
update wf.process set retry_from = null where id = play_id(:i, 'a');
set local session_replication_role = origin;
select results_eq('select check_name, detail from wf.fsck()', $$values ('place: row of no process, or of one in another state', 'timer retry, process INIT')$$, 'a timer of kind retry for a task without the policy');

select * from finish();
rollback;
