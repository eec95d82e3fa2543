-- timeout.sql - the policy timeout: its four limits, each to the millisecond, what
-- becomes of a task whose time is over, and how that meets what happens at the same
-- moment. S29 to S32 and D32 are capabilities of the ancestors; A1 to A9, C17, C25
-- and T-O21 are cases of their tests.
begin;
\ir helper/play.sql
select no_plan();

-- a task type with a start that yields no handle, and an asynchronous one that can be cancelled
insert into play_type (name, spec)
select s ->> 'name', s
  from unnest(array[
    '{"name": "t.Lazy", "machine": "sync", "params": [{"name": "limit", "type": "json"}],
      "policies": {"timeout": {"runtime": "PT10S", "deadline": ["var", "limit"]}},
      "requests": {"start": {"transport": "builtin", "args": {"op": "noop"}}}}',
    '{"name": "t.Bare", "machine": "async", "params": [],
      "requests": {
        "start": {"transport": "builtin", "args": {"op": "noop"}},
        "poll": {"transport": "builtin", "args": {"op": "noop"}, "every": {"delay": "PT5S"},
                 "success": ["eq", ["get", ["var", "response"], "state"], "done"]}}}',
    '{"name": "t.Alarm", "machine": "wait", "wait": "fail", "params": [{"name": "msg", "type": "string"}]}'
  ]::jsonb[]) s;

-- What has happened to a task: its moves, with the kind of an error and when a retry is due.
create function story(p_instance bigint, p_name text) returns text
language sql as $$
    select string_agg(concat_ws(' ', e.event || case when e.event in ('timeout', 'retry', 'fail', 'lost', 'cancelled', 'success', 'undecided') then '→' || e.state else '' end,
                                coalesce(e.detail ->> 'kind', substr(e.detail ->> 'due_at', 12, 12))), ', ' order by e.seq)
      from wf.event e where e.instance_id = p_instance and e.process_id = play_id(p_instance, p_name) and e.event not in ('ack');
$$;
-- The limits that hold for a task: how many seconds are left, or are kept while the clock stands.
create function limits(p_instance bigint, p_name text) returns text
language sql as $$
    select string_agg(t.kind || ' ' || coalesce('stands ' || extract(epoch from t.remains)::numeric::real, extract(epoch from t.due_at - wf.now())::numeric::real::text), ', ' order by t.kind)
      from wf._limit_v t where t.instance_id = p_instance and t.process_id = play_id(p_instance, p_name);
$$;
create function failure(p_instance bigint, p_name text) returns text
language sql as $$
    select p.state || coalesce(': ' || (p.error ->> 'kind') || ': ' || (p.error ->> 'message') || coalesce(', cause ' || (p.error #>> '{cause,kind}'), ''), '')
      from wf.process p where p.instance_id = p_instance and p.id = play_id(p_instance, p_name);
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
create function told_to_stop(p_driver bigint, p_instance bigint) returns boolean
language sql as $$ select exists (select from wf.poll(p_driver, 0) p join wf.lease l on l.token = p.token and l.instance_id = p_instance where p.kind = 'stop'); $$;
create function start_with(p_type text, p_timeout jsonb, p_more jsonb default '{}', p_args jsonb default '{}') returns bigint
language plpgsql as $$
begin
    perform play_install('timed', jsonb_build_array(play_task(p_type, 'a', p_args, jsonb_build_object('timeout', p_timeout) || p_more), play_task('t.Do', 'z')));
    return wf.start('timed');
end;
$$;
-- The driver waits until the last millisecond before a limit, and then one more.
create function just_before_and_at(p_driver bigint, p_instance bigint, p_limit interval) returns text[]
language plpgsql as $$
declare
    v_before text;
begin
    perform later(p_driver, p_limit - interval '1 ms'), wf.tick();
    v_before := play_state(p_instance, 'a');
    perform later(p_driver, '1 ms'), wf.tick();
    return array[v_before, play_state(p_instance, 'a')];
end;
$$;

select set_config('wf.now', '2030-01-01 00:00:00+00', true);
select play_driver() as driver \gset

-- S32: durations in Steep's grammar, and weeks, as strings
create function runs_out(p_duration text) returns numeric
language plpgsql as $$
declare
    v_instance bigint;
begin
    v_instance := start_with('t.Do', jsonb_build_object('wait', p_duration));
    return (select extract(epoch from t.due_at - wf.now()) * 1000 from wf.time_limit t where t.instance_id = v_instance);
exception when others then
    return null;
end;
$$;
select is(runs_out(d), ms::numeric, format('S32: "%s"', d))
  from (values ('1ms', 1), ('5 milliseconds', 5), ('7millis', 7), ('1 milli', 1), ('1s', 1000), ('2 secs', 2000), ('3 seconds', 3000), ('1 sec', 1000),
               ('1m', 60000), ('2 mins', 120000), ('3 minutes', 180000), ('1 min', 60000), ('1h', 3600000), ('2 hrs', 7200000), ('1 hour 10minutes 5s', 4205000),
               ('1 hr', 3600000), ('1d', 86400000), ('2 days', 172800000), ('1 day 12h', 129600000), ('5s 1m', 65000), ('1s1s', 2000), ('1w', 604800000), ('2 weeks 1 day', 1296000000),
               ('1.5h', 5400000), ('10 SECS', 10000), ('PT0.25S', 250), ('P1DT1H', 90000000)) t (d, ms);
select is(runs_out(d), null::numeric, format('S32: "%s" is refused', d)) from unnest('{"",5,1x,1 parsec,-5s,0,0s,1h -5m,P1M2,36501d}'::text[]) d;

-- both readers of durations: that of policies, and the function of the language
create function reads_as(p_duration text) returns numeric[]
language sql as $$ select array[runs_out(p_duration), (wf._evaluate(jsonb_build_array('call', 'seconds', p_duration), '{}') ->> 'value')::numeric * 1000]; $$;
select is(reads_as(d), array[ms, ms]::numeric[], format('A1: "%s" is %s ms', d, ms))
  from (values ('333 milliseconds', 333), ('1000ms', 1000), ('250 sec', 250000), ('1000m', 60000000), ('100 hrs', 360000000), ('100d', 8640000000), ('  1    mins    ', 60000), ('10h 30 minutes', 37800000),
               ('1 hour 10minutes 5s', 4205000), ('5h 1d', 104400000), ('10days1hrs30m15secs', 869415000)) t (d, ms);
select is(reads_as('2' || u), array[2 * ms, 2 * ms]::numeric[], format('S32: 2%s is %s ms', u, 2 * ms))
  from (values ('{milliseconds,millisecond,millis,milli,ms}'::text[], 1), ('{seconds,second,secs,sec,s}', 1000), ('{minutes,minute,mins,min,m}', 60000), ('{hours,hour,hrs,hr,h}', 3600000), ('{days,day,d}', 86400000)) t (us, ms), unnest(us) u;
select is(reads_as('4h 3m 30s'), '{14610000,14610000}', 'C25: "4h 3m 30s" is 14,610 s');
-- Brooklyn has durations less than 0, here none is
select is(reads_as(d), '{null,null}', format('C25: "%s" is refused: no duration is less than 0', d)) from unnest('{-42 m,-42m,- 1 m 1 s,-1m 1s,1m -1s,- 1m - 1s}'::text[]) d;

-- what install refuses, and what only the task can find out
create function refused(p_timeout jsonb) returns text
language plpgsql as $$
begin
    perform play_install('refused', jsonb_build_array(play_task('t.Do', 'a', '{}', jsonb_build_object('timeout', p_timeout))));
    return 'installed';
exception when others then
    return replace(sqlerrm, 'workflows[0].steps[0].policies.', '');
end;
$$;
select is(refused(r::jsonb), e, r)
  from (values ('{}', 'timeout: must be an object with at least one limit'),
               ('5', 'timeout: must be an object'),
               ('{"tries": 3}', 'timeout.tries: unknown key'),
               ('{"runtime": 5}', 'timeout.runtime: must be a duration of more than 0, at most 36500 days'),
               ('{"deadline": "soon"}', 'timeout.deadline: must be a duration of more than 0, at most 36500 days'),
               ('{"wait": "PT0S"}', 'timeout.wait: must be a duration of more than 0, at most 36500 days'),
               ('{"inactivity": "P36501D"}', 'timeout.inactivity: must be a duration of more than 0, at most 36500 days'),
               ('{"inactivity": ["var", "x"]}', 'workflows[0].steps[0]: reads lacks x'),
               ('{"inactivity": "PT0.001S", "runtime": "P36500D", "deadline": "1w", "wait": null}', 'installed')) t (r, e);
update play_type set spec = jsonb_set(spec, '{policies,timeout,runtime}', '5') where name = 't.Lazy';
select throws_ok($$select play_install('bad', jsonb_build_array(play_task('t.Lazy', 'a', '{"limit": 1}')))$$, 'WF005',
    'task_types.t.Lazy.policies.timeout.runtime: must be a duration of more than 0, at most 36500 days', 'a task type is checked, too');
update play_type set spec = jsonb_set(spec, '{policies,timeout,runtime}', '"PT10S"') where name = 't.Lazy';

-- S29: field by field, a task wins over its type
select start_with('t.Lazy', '{"runtime": "PT20S", "wait": "PT5S"}', '{}', '{"limit": "PT1M"}') as i \gset
select is(limits(:i, 'a'), 'deadline 60, wait 5', 'S29: a limit that the type gives holds beside those of the task');
select play_take(:driver);
select is(limits(:i, 'a'), 'deadline 60, runtime 20', 'S29: a limit of the task counts more than that of its type');
select play_install('lazy', jsonb_build_array(play_task('t.Lazy', 'a', '{"limit": ["var", "d"]}')), '[{"name": "d", "type": {"optional": "json"}}]');
select wf.start('lazy', '{"d": "PT30S"}') as i \gset
select is(limits(:i, 'a'), 'deadline 30', 'S29: values may be computed, from the arguments of the task');
select wf.start('lazy', '{"d": 5}') as i \gset
select is(failure(:i, 'a'), 'FAILED: input: deadline of timeout is a duration of more than 0, at most 36500 days, not 5', 'a limit that is not a duration fails the task');
select is(limits(:i, 'a'), null, 'a task with a wrong limit has no limits');
select wf.start('lazy', '{"d": null}') as i \gset
select is(limits(:i, 'a'), null, 'null is no limit');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- each limit to the millisecond
select start_with('t.Do', '{"wait": "PT0.2S"}') as i \gset
select is(just_before_and_at(:driver, :i, '0.2 s'), '{INIT,FAILED}', 'D32: wait ends a task that nobody takes');
select is(failure(:i, 'a'), 'FAILED: timeout: t.Do timed out after 200 ms (wait)', 'S31: the error says after how long, and which limit');
select is((select error -> 'detail' from wf.process where id = play_id(:i, 'a')), '{"limit": "wait", "ms": 200}', 'S31: the detail has the limit and its length');
select is(story(:i, 'a'), 'timeout→FAILED timeout', 'a task whose wait is over fails at once');
select is_empty(format('select from wf.ready where instance_id = %s', :i), 'a task whose wait is over is not handed out');
select results_eq(format('select reason, detail from wf.explain(%s, %s)', :i, play_id(:i, 'a')),
    $$values ('failed', 'timeout: t.Do timed out after 200 ms (wait); waits for retry, ignore, resolve or raise')$$, 'explain says so');

select start_with('t.Do', '{"runtime": "PT0.2S"}') as i \gset
select is(limits(:i, 'a'), null, 'a runtime does not begin before the task is handed out');
select later(:driver, '1 hour');
select play_take(:driver);
select is(just_before_and_at(:driver, :i, '0.2 s'), '{START_REQUESTED,CANCEL_REQUESTED}', 'A7: maxRuntime: the limit is 200 ms');
select is((select error ->> 'message' from wf.process where id = play_id(:i, 'a')), 't.Do timed out after 200 ms (maximum runtime)', 'S31: the cause is kept');
select ok(told_to_stop(:driver, :i), 'the driver is told to stop');
select is(play_report(play_id(:i, 'a'), 'error', '{"kind": "cancelled", "message": "the driver stopped it"}'), 'done', 'a driver confirms that it has stopped the task');
select is(failure(:i, 'a'), 'FAILED: timeout: t.Do timed out after 200 ms (maximum runtime)', 'A7: the task has failed with timeout; Steep cancels it unless it is told not to');
select is(story(:i, 'a'), 'start, timeout→CANCEL_REQUESTED timeout, fail→FAILED timeout', 'S31: the history has both, always of kind timeout');
select is((select state from wf.instance where id = :i), 'RUNNING', 'S31: nothing is cancelled by that; an operator decides');

select start_with('t.Do', '{"inactivity": "PT0.2S"}') as i \gset
select play_take(:driver);
select is(just_before_and_at(:driver, :i, '0.2 s'), '{START_REQUESTED,CANCEL_REQUESTED}', 'S30: inactivity counts from the sending of the request');
select play_report(play_id(:i, 'a'), 'error', '{"kind": "http", "message": "connection reset"}');
select is(failure(:i, 'a'), 'FAILED: timeout: t.Do timed out after 200 ms (maximum inactivity), cause http', 'another error that comes of it is its cause');

select start_with('t.Do', '{"deadline": "PT0.2S"}') as i \gset
select is(just_before_and_at(:driver, :i, '0.2 s'), '{INIT,FAILED}', 'S30: a deadline counts from the first enabling');
select is(failure(:i, 'a'), 'FAILED: timeout: t.Do timed out after 200 ms (deadline)', 'S31: deadline');
select start_with('t.Do', '{"deadline": "PT0.2S"}') as i \gset
select play_take(:driver);
select is(just_before_and_at(:driver, :i, '0.2 s'), '{START_REQUESTED,CANCEL_REQUESTED}', 'whether the task was taken or not');
select wf.abort('{"global": true}');

-- S30: output is activity
select start_with('t.Do', '{"inactivity": "PT10S", "runtime": "PT1M"}') as i \gset
select play_take(:driver);
create function says(p_process bigint, p_start bigint, p_text text) returns text
language sql as $$
    select o.answer from (select * from play_request where process_id = p_process order by k desc limit 1) r,
           wf.output_add(array[r.instance_id], array[r.process_id], array[r.token], array[p_start], array[octet_length(p_text)::bigint], array['stdout'], array[p_text]) o;
$$;
select later(:driver, '8 s'), says(play_id(:i, 'a'), 0, 'one'), later(:driver, '8 s'), wf.tick();
select is(play_state(:i, 'a'), 'START_REQUESTED', 'S30: each line of output begins the inactivity anew');
select is(limits(:i, 'a'), 'inactivity 2, runtime 44', 'from the last one on');
select says(play_id(:i, 'a'), 3, 'two');
select is(just_before_and_at(:driver, :i, '10 s'), '{START_REQUESTED,CANCEL_REQUESTED}', 'S30: inactivity fires to the millisecond');
select is((select error ->> 'message' from wf.process where id = play_id(:i, 'a')), 't.Do timed out after 10000 ms (maximum inactivity)', 'S31: maximum inactivity');
select wf.abort('{"global": true}');
select start_with('t.Do', '{"inactivity": "PT10S", "runtime": "PT15S"}') as i \gset
select play_take(:driver), later(:driver, '8 s'), says(play_id(:i, 'a'), 0, 'one'), later(:driver, '7 s'), wf.tick();
select is((select error ->> 'message' from wf.process where id = play_id(:i, 'a')), 't.Do timed out after 15000 ms (maximum runtime)', 'S29: runtime counts whatever output comes');

-- A9: 200 ms without a line; a line each 100 ms
select start_with('t.Do', '{"inactivity": "PT0.2S"}', '{"retry": {"attempts": 3}}') as i \gset
create function says_ten_lines(p_driver bigint, p_instance bigint) returns text
language plpgsql as $$
begin
    perform play_take(p_driver);
    for k in 0 .. 9 loop
        perform later(p_driver, '0.1 s'), wf.tick(), says(play_id(p_instance, 'a'), k, '.');
    end loop;
    return play_state(p_instance, 'a');
end;
$$;
select is(says_ten_lines(:driver, :i), 'START_REQUESTED', 'A9: inactivity never fires while a line comes each 100 ms, though all of it takes 1 s');
select is(just_before_and_at(:driver, :i, '0.2 s'), '{START_REQUESTED,CANCEL_REQUESTED}', 'A9: 200 ms after the last line it does');
select play_report(play_id(:i, 'a'), 'error', '{"kind": "cancelled"}');
select is(says_ten_lines(:driver, :i), 'START_REQUESTED', 'A9: the second attempt has its own lines');
select later(:driver, '1 s'), wf.tick(), play_report(play_id(:i, 'a'), 'error', '{"kind": "cancelled"}'), play_take(:driver), later(:driver, '1 s'), wf.tick(), play_report(play_id(:i, 'a'), 'error', '{"kind": "cancelled"}');
select is((select count(*) from play_request where instance_id = :i and request = 'start') || ' ' || failure(:i, 'a'), '3 FAILED: timeout: t.Do timed out after 200 ms (maximum inactivity)', 'A9: with 3 attempts the program is called 3 times');
select start_with('t.Do', '{"inactivity": "PT1H", "runtime": "PT1H", "deadline": "PT1H"}') as i \gset
select play_take(:driver), later(:driver, '2 s'), wf.tick(), play_report(play_id(:i, 'a')), play_on(:driver);
select is((select result from wf.instance where id = :i), 'success', 'A9: none of three large limits fires');

-- of an asynchronous task: the answer to its start, and a poll that changes the handle
update play_type set spec = jsonb_set(spec, '{requests,poll,handle}', '{"at": ["get", ["var", "response"], "at"]}') where name = 't.Job';
select start_with('t.Job', '{"inactivity": "PT10S"}') as i \gset
select play_take(:driver), later(:driver, '9 s');
select play_report(play_id(:i, 'a'), 'ack'), play_report(play_id(:i, 'a'), 'response', '{"id": 7}');
select is(limits(:i, 'a'), 'inactivity 10', 'the answer to a start is activity');
select later(:driver, '6 s'), play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"at": 1}');
select is(limits(:i, 'a'), 'inactivity 10', 'a poll that changes the handle is, too');
select later(:driver, '6 s'), play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"at": 1}');
select is(limits(:i, 'a'), 'inactivity 4', 'a poll that does not change the handle is no activity');
select is(just_before_and_at(:driver, :i, '4 s'), '{EXECUTING,CANCEL_REQUESTED}', 'a task outside is cancelled when its inactivity is over');
select is((select request from wf.ready where instance_id = :i), 'cancel', 'a cancel request is ready for a task outside');
select play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{}');
select is(failure(:i, 'a'), 'FAILED: timeout: t.Job timed out after 10000 ms (maximum inactivity)', 'a task outside has failed with timeout when it is cancelled');
select is(story(:i, 'a'), 'start, started, polled, polled, timeout→CANCEL_REQUESTED timeout, cancelled→FAILED timeout', 'the history tells of the timeout and of the cancel');

-- S29: if several could fire, the one that is reached first counts
select start_with('t.Do', '{"runtime": "PT5S", "deadline": "PT8S", "inactivity": "PT6S"}') as i \gset
select play_take(:driver), later(:driver, '1 min'), wf.tick();
select is((select error #>> '{detail,limit}' from wf.process where id = play_id(:i, 'a')), 'runtime', 'S31: of several limits the smaller fires, however late anybody looks');
select start_with('t.Do', '{"wait": "PT5S", "deadline": "PT5S"}') as i \gset
select later(:driver, '5 s'), wf.tick();
select is((select error #>> '{detail,limit}' from wf.process where id = play_id(:i, 'a')), 'deadline', 'of two that are the same the deadline');
select wf.abort('{"global": true}');

-- S30: inactivity and runtime are retried, deadline and wait are not
select start_with('t.Do', '{"runtime": "PT2S", "deadline": "PT1M"}', '{"retry": {"attempts": 3, "delay": "PT10S"}}') as i \gset
create function run_out(p_driver bigint, p_instance bigint, p_interval interval) returns void
language sql as $$
    select play_take(p_driver);
    select later(p_driver, p_interval), wf.tick();
    select play_report(play_id(p_instance, 'a'), 'error', '{"kind": "cancelled"}');
$$;
select run_out(:driver, :i, '2 s');
select is(limits(:i, 'a'), 'deadline 58', 'S30: the deadline runs on while a task waits for its next attempt');
select is((select retry_at - wf.now() from wf.task_v where instance_id = :i and name = 't.Do as a'), interval '10 s', 'decision 2: the delay counts from the driver''s answer');
select later(:driver, '10 s'), run_out(:driver, :i, '2 s'), later(:driver, '10 s'), run_out(:driver, :i, '2 s');
select is((select count(*) from play_request where instance_id = :i and request = 'start'), 3::bigint, 'A7: with 3 attempts the program is called 3 times');
select is(failure(:i, 'a'), 'FAILED: timeout: t.Do timed out after 2000 ms (maximum runtime)', 'A7: the task has failed after its third attempt');
select start_with('t.Do', '{"runtime": "PT2S"}', '{"retry": {"attempts": 3, "on": "http"}}') as i \gset
select run_out(:driver, :i, '2 s');
select is(play_state(:i, 'a'), 'FAILED', 'on may leave the kind timeout out');
select start_with('t.Do', '{"deadline": "PT5S"}', '{"retry": {"attempts": 9, "on": "timeout"}}') as i \gset
select run_out(:driver, :i, '5 s');
select is(failure(:i, 'a'), 'FAILED: timeout: t.Do timed out after 5000 ms (deadline)', 'S30: a deadline is never retried, whatever on says');
select start_with('t.Do', '{"wait": "PT5S"}', '{"retry": {"attempts": 9}}') as i \gset
select later(:driver, '5 s'), wf.tick();
select is(failure(:i, 'a'), 'FAILED: timeout: t.Do timed out after 5000 ms (wait)', 'D32: a wait neither');
select start_with('t.Do', '{"deadline": "PT15S"}', '{"retry": {"attempts": 9, "delay": "PT10S"}}') as i \gset
select play_take(:driver), later(:driver, '7 s'), play_fail(play_id(:i, 'a'));
select is(just_before_and_at(:driver, :i, '8 s'), '{INIT,FAILED}', 'S30: the deadline covers attempts and delays together');
select is((select count(*) from wf.timer where instance_id = :i), 0::bigint, 'S30: no attempt follows the deadline');
select start_with('t.Do', '{"wait": "PT15S"}', '{"retry": {"attempts": 9, "delay": "PT1M"}}') as i \gset
select play_take(:driver), later(:driver, '7 s'), play_fail(play_id(:i, 'a')), later(:driver, '1 min'), wf.tick();
select is(just_before_and_at(:driver, :i, '15 s'), '{INIT,FAILED}', 'the delay of a retry is no wait');

-- C17: a step that takes 10 s has 1 s, and one that takes 1 s has 10
select start_with('t.Sleep', '{"runtime": "PT1S"}', '{}', '{"duration": "PT10S"}') as i \gset
select is(just_before_and_at(:driver, :i, '1 s'), '{WAITING,FAILED}', 'C17: a step of 10 s with a limit of 1 s has failed after 1 s');
select is((select error ->> 'kind' from wf.process where id = play_id(:i, 'a')), 'timeout', 'C17: of kind timeout');
select is((select count(*) from wf.timer where instance_id = :i) + (select count(*) from wf.time_limit where instance_id = :i), 0::bigint, 'C17: nothing of it runs any more');
select start_with('t.Sleep', '{"runtime": "PT10S"}', '{}', '{"duration": "PT1S"}') as i \gset
select later(:driver, '1 s'), play_on(:driver);
select is((select result from wf.instance where id = :i), 'success', 'C17: a step of 1 s with a limit of 10 s ends well');

-- T-O21: what runs outside has 300 s; it is asked for, where there a call back is waited for
select start_with('t.Job', '{"runtime": "PT300S"}') as i \gset
create function runs_for(p_driver bigint, p_instance bigint, p_interval interval) returns text
language plpgsql as $$
declare
    v_end timestamptz := wf.now() + p_interval;
begin
    perform play_take(p_driver);
    perform play_report(play_id(p_instance, 'a'), 'ack');
    perform play_report(play_id(p_instance, 'a'), 'response', '{"id": 1}');
    while wf.now() < v_end loop
        perform later(p_driver, '5 s'), wf.tick();
        if play_take(p_driver) = 1 then
            perform play_report(play_id(p_instance, 'a'), 'response', '{"state": "runs"}');
        end if;
    end loop;
    return play_state(p_instance, 'a');
end;
$$;
select is(runs_for(:driver, :i, '60 s'), 'EXECUTING', 'T-O21: after 60 s it is left alone');
select count(*) as processes from wf.process where instance_id = :i \gset
select later(:driver, '240 s'), wf.tick();
select play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{}');
select is(failure(:i, 'a'), 'FAILED: timeout: t.Job timed out after 300000 ms (maximum runtime)', 'T-O21: after 300 s it is cancelled, and has failed');
select is((select count(*) from wf.process where instance_id = :i), :processes::bigint, 'T-O21: the task is still the same process');
select wf.retry(format('{"process": %s}', play_id(:i, 'a'))::jsonb), play_on(:driver, 0);
select is(runs_for(:driver, :i, '60 s'), 'EXECUTING', 'T-O21: retried, it runs outside again, and has its time anew');
select wf.abort(format('{"instance": %s}', :i)::jsonb), play_on(:driver), play_on(:driver);
select is((select state from wf.instance where id = :i), 'ABORTED', 'T-O21: aborted, it is over');
select start_with('t.Job', '{"runtime": "PT300S"}') as i \gset
select is(runs_for(:driver, :i, '295 s'), 'EXECUTING', 'T-O21: a task that is almost late runs');
select later(:driver, '5 s'), play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{"state": "done"}'), play_on(:driver), wf.tick();
select is(play_state(:i, 'a'), 'END', 'T-O21: an answer before the limit ends the task');
select wf.abort('{"global": true}');

-- two attempts never run at once: a place is free only when the driver has confirmed
select play_install('grouped', jsonb_build_array(play_par(
    play_task('t.Do', 'a', '{}', '{"group": {"name": "one", "max": 1}, "timeout": {"runtime": "PT5S"}, "retry": {"attempts": 2}}'), play_task('t.Do', 'b', '{}', '{"group": {"name": "one", "max": 1}}'))));
select wf.start('grouped') as i \gset
select play_take(:driver), later(:driver, '5 s'), wf.tick(), play_take(:driver);
select is(play_state(:i, 'b'), 'INIT', 'a task that is told to stop has its place until then');
select play_report(play_id(:i, 'a'), 'error', '{"kind": "cancelled"}'), play_take(:driver);
select is(play_state(:i, 'b'), 'START_REQUESTED', 'the other task has the place when the driver has confirmed');
select is(play_state(:i, 'a'), 'INIT', 'the next attempt waits for the place');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select wf.abort('{"global": true}');

-- the clock of a deadline stands while a task waits for its group
select play_install('waiting', jsonb_build_array(play_par(
    play_task('t.Do', 'b', '{}', '{"group": {"name": "one", "max": 1}, "priority": 5}'), play_task('t.Do', 'a', '{}', '{"group": {"name": "one", "max": 1}, "timeout": {"deadline": "PT10S"}}'))));
select play_take(:driver), play_report(p.id, 'error', '{"kind": "cancelled"}') from wf.process p where p.state = 'ABORT_REQUESTED';
select wf.start('waiting') as i \gset
select play_take(:driver), later(:driver, '1 hour'), wf.tick();
select is(limits(:i, 'a'), 'deadline stands 10', 'waiting for a group takes nothing of a deadline');
select is((select detail from wf.explain(:i, play_id(:i, 'a')) where reason = 'note'), '00:00:10 is left of its deadline, whose clock stands still', 'explain says so');
select wf.suspend(format('{"instance": %s}', :i)::jsonb);
select later(:driver, '3 s');
select is(limits(:i, 'a'), 'deadline 7', 'a suspension does: no clock stands for it');
select wf.resume(format('{"instance": %s}', :i)::jsonb);
select is(limits(:i, 'a'), 'deadline stands 7', 'the resumed task waits for its group again');
select later(:driver, '1 min'), play_report(play_id(:i, 'b')), play_take(:driver, 0);
select is(limits(:i, 'a'), 'deadline 7', 'when a place is granted the clock goes on');
select is((select detail from wf.explain(:i, play_id(:i, 'a')) where reason = 'note' and detail like 'it times%'),
    format('it times out at %s (deadline)', to_char(wf.now() + interval '7 s', 'YYYY-MM-DD HH24:MI:SSOF')), 'explain says until when');
select is((select times_out_at - wf.now() from wf.task_v where name = 't.Do as a' and instance_id = :i), interval '7 s', 'task_v says when the deadline is over');
select is(just_before_and_at(:driver, :i, '7 s'), '{INIT,FAILED}', 'to the millisecond');

-- and while it is FAILED
select start_with('t.Do', '{"deadline": "PT10S"}') as i \gset
select play_take(:driver), later(:driver, '4 s'), play_fail(play_id(:i, 'a')), later(:driver, '1 hour'), wf.tick();
select is(limits(:i, 'a'), 'deadline stands 6', 'the clock stands while a task is FAILED');
select wf.retry(format('{"process": %s}', play_id(:i, 'a'))::jsonb);
select is(limits(:i, 'a'), 'deadline 6', 'the clock goes on with an operator''s retry');
select is(just_before_and_at(:driver, :i, '6 s'), '{INIT,FAILED}', 'to the millisecond');
select is(limits(:i, 'a'), null, 'of a deadline that is over nothing is left');
select wf.retry(format('{"process": %s}', play_id(:i, 'a'))::jsonb);
select is(limits(:i, 'a'), 'deadline 10', 'another retry by an operator begins another deadline');
select play_take(:driver), play_report(play_id(:i, 'a'));
select is(play_state(:i, 'a'), 'END', 'the new deadline may be kept');
select is(limits(:i, 'a'), null, 'an ended task has no limits');
-- a failure that comes when the deadline is over, but nobody has looked yet
select start_with('t.Do', '{"deadline": "PT10S"}', '{"retry": {"attempts": 9}}') as i \gset
select play_take(:driver), play_later('10.5 s'), play_fail(play_id(:i, 'a'));
select is(limits(:i, 'a'), 'deadline -0.5', 'the next attempt by a policy gets no deadline of its own');
select wf.tick();
select is(failure(:i, 'a'), 'FAILED: timeout: t.Do timed out after 10000 ms (deadline)', 'the task fails as soon as somebody looks at the limits');

-- waits
select start_with('t.Sleep', '{"runtime": "PT10S"}', '{"retry": {"attempts": 2, "delay": "PT1S"}}', '{"duration": "PT1M"}') as i \gset
select is(just_before_and_at(:driver, :i, '10 s'), '{WAITING,INIT}', 'a sleep that takes too long is tried again');
select later(:driver, '1 s'), wf.tick();
select is(just_before_and_at(:driver, :i, '10 s'), '{WAITING,FAILED}', 'a sleep that takes too long for the second time has failed');
select is(story(:i, 'a'), 'begin, timeout→FAILED timeout, retry→INIT ' || substr(x, 12, 12) || ', begin, timeout→FAILED timeout', 'nobody has to confirm')
  from (select e.detail ->> 'due_at' from wf.event e where e.instance_id = :i and e.event = 'retry') e (x);
select start_with('t.Sleep', '{"deadline": "PT1M"}', '{}', '{"duration": "PT1M"}') as i \gset
select later(:driver, '1 min'), wf.tick();
select is(play_state(:i, 'a'), 'END', 'a sleep that ends at the very moment has ended');
select start_with('t.Alarm', '{"runtime": "PT1M", "wait": "PT1M", "inactivity": "PT1M", "deadline": "PT1M"}', '{}', '{"msg": "no"}') as i \gset
select is(limits(:i, 'a'), 'deadline stands 60', 'a task that fails in the transaction in which it begins keeps its deadline');

-- success against time
select start_with('t.Do', '{"runtime": "PT5S"}') as i \gset
select play_take(:driver), later(:driver, '1 hour'), play_report(play_id(:i, 'a')), wf.tick();
select is(play_state(:i, 'a'), 'END', 'a report that comes before anybody has looked counts');
select start_with('t.Do', '{"runtime": "PT5S"}', '{"retry": {"attempts": 5}}') as i \gset
select play_take(:driver), later(:driver, '5 s'), wf.tick(), play_report(play_id(:i, 'a'), 'response', '{"value": 1}');
select is(story(:i, 'a'), 'start, timeout→CANCEL_REQUESTED timeout, success→END', 'a task that was done before the driver could stop it has succeeded');
select is((select output from wf.process where id = play_id(:i, 'a')), '1', 'with its output');
select start_with('t.Job', '{"runtime": "PT5S"}') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'ack'), play_report(play_id(:i, 'a'), 'response', '{"id": 1}'), later(:driver, '5 s'), play_take(:driver), wf.tick();
select is((select request from wf.lease where instance_id = :i), 'poll', 'a poll that is out is waited for');
select play_report(play_id(:i, 'a'), 'response', '{"state": "done"}');
select is(play_state(:i, 'a'), 'CLEANUP_REQUESTED', 'the answer of a poll may end a task whose time is over');
select is(limits(:i, 'a'), null, 'releasing takes as long as it takes');
select start_with('t.Job', '{"runtime": "PT5S"}') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'ack'), play_report(play_id(:i, 'a'), 'response', '{"id": 1}'), later(:driver, '5 s'), play_take(:driver), wf.tick(),
       play_report(play_id(:i, 'a'), 'response', '{"state": "runs"}');
select is((select error #>> '{detail,limit}' from wf.process where id = play_id(:i, 'a')), 'runtime', 'if it still runs, it is cancelled, and the cause is kept');
select play_take(:driver), play_report(play_id(:i, 'a'), 'error', '{"kind": "http"}'), later(:driver, '6 s'), play_take(:driver), play_report(play_id(:i, 'a'), 'response', '{}');
select is(failure(:i, 'a'), 'FAILED: timeout: t.Job timed out after 5000 ms (maximum runtime)', 'even if the cancel request has to be repeated');
select start_with('t.Bare', '{"runtime": "PT5S"}') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'ack'), later(:driver, '5 s'), wf.tick();
select is(play_state(:i, 'a'), 'CANCEL_REQUESTED', 'a start that is out is waited for');
select play_report(play_id(:i, 'a'), 'error', '{"kind": "http", "message": "no"}');
select is(failure(:i, 'a'), 'FAILED: timeout: t.Bare timed out after 5000 ms (maximum runtime), cause http', 'until it has failed by itself');
select start_with('t.Bare', '{"runtime": "PT5S"}') as i \gset
select play_take(:driver), later(:driver, '5 s'), wf.tick();
select is(failure(:i, 'a'), 'FAILED: timeout: t.Bare timed out after 5000 ms (maximum runtime)', 'a start that was never acknowledged was not sent: nothing has to be confirmed');
select play_report(play_id(:i, 'a'), 'response', '{}');
select is(play_state(:i, 'a'), 'FAILED', 'a report of a task that has timed out is late');

-- a driver is gone, or everything was
select start_with('t.Do', '{"runtime": "PT5S"}') as i \gset
select play_take(:driver), later(:driver, '5 s'), wf.tick(), wf.leave(:driver);
select is(failure(:i, 'a'), 'FAILED: timeout: t.Do timed out after 5000 ms (maximum runtime)', 'decision 13: a driver that is gone need not confirm');
select play_driver() as driver \gset
select start_with('t.Do', '{"runtime": "PT5S"}') as i \gset
select play_take(:driver);
select play_driver('other') as other \gset
select play_later('40 s'), play_take(:other), play_take(:other);
select is((select state from wf.driver where id = :driver), 'lost', 'a driver that died is lost');
select is(failure(:i, 'a'), 'FAILED: timeout: t.Do timed out after 5000 ms (maximum runtime)', 'a driver that is gone hides no timeout: the poll of another driver finds it');
select play_driver() as driver \gset
select start_with('t.Do', '{"runtime": "PT1M"}', '{"idempotent": true}') as i \gset
select play_take(:driver), later(:driver, '20 s'), wf.leave(:driver);
select is(limits(:i, 'a'), null, 'a request that was lost and is sent again');
select play_driver() as driver \gset
select play_take(:driver);
select is(limits(:i, 'a'), 'runtime 60', 'a lost request that is sent again has the whole runtime');
select start_with('t.Job', '{"runtime": "PT1M"}') as i \gset
select play_take(:driver), play_report(play_id(:i, 'a'), 'ack'), play_report(play_id(:i, 'a'), 'response', '{"id": 1}'), later(:driver, '6 s'), play_take(:driver), wf.leave(:driver);
select is(limits(:i, 'a'), 'runtime 54', 'a lost task outside keeps the rest of its runtime');
select play_driver() as driver \gset
select start_with('t.Do', '{"wait": "PT1M", "deadline": "PT2M"}') as i \gset
select play_take(:driver), later(:driver, '30 s'), play_report(play_id(:i, 'a'), 'release');
select is(limits(:i, 'a'), 'deadline 90, wait 60', 'a request that was handed back, not begun, waits anew');
select wf.abort('{"global": true}');

-- operators
select start_with('t.Do', '{"wait": "PT1M"}') as i \gset
select wf.cancel(format('{"process": %s}', play_id(:i, 'a'))::jsonb);
select is(limits(:i, 'a'), null, 'a cancelled task has no limits');
select start_with('t.Do', '{"runtime": "PT5S"}') as i \gset
select play_take(:driver), wf.cancel(format('{"process": %s}', play_id(:i, 'a'))::jsonb), later(:driver, '10 s'), wf.tick();
select play_report(play_id(:i, 'a'), 'error', '{"kind": "cancelled"}');
select is(story(:i, 'a'), 'start, cancel, fail→FAILED cancelled', 'a task that an operator cancels has failed with cancelled, however long the driver takes');
select start_with('t.Do', '{"runtime": "PT5S"}') as i \gset
select play_take(:driver), later(:driver, '5 s'), wf.tick();
select results_eq(format($$select answer, detail from wf.cancel('{"process": %s}')$$, play_id(:i, 'a')), $$values ('refused', 'CANCEL_REQUESTED: only INIT, START_REQUESTED can be cancelled')$$, 'a task that is told to stop already is not cancelled');
select wf.abort(format('{"instance": %s}', :i)::jsonb), play_report(play_id(:i, 'a'), 'error', '{"kind": "cancelled"}');
select is((select state from wf.instance where id = :i), 'ABORTED', 'a task that is told to stop already is aborted');

-- a deadline that passes while another limit is dealt with
select start_with('t.Do', '{"runtime": "PT5S", "deadline": "PT6S"}', '{"retry": {"attempts": 3, "delay": "PT30S"}}') as i \gset
select play_take(:driver), later(:driver, '5 s'), wf.tick(), later(:driver, '5 s'), wf.tick(), wf.tick();
select is(limits(:i, 'a'), 'deadline stands 0', 'a deadline that passes while a driver is told to stop waits for that');
select play_report(play_id(:i, 'a'), 'error', '{"kind": "cancelled"}');
select is(failure(:i, 'a'), 'INIT: timeout: t.Do timed out after 5000 ms (maximum runtime)', 'the cause stays what it was');
select wf.tick();
select is(failure(:i, 'a'), 'FAILED: timeout: t.Do timed out after 6000 ms (deadline), cause timeout', 'the deadline ends the task, with the former timeout as its cause');

-- the error can be caught
select play_install('caught', jsonb_build_array(
    '{"kind": "try", "line": 1, "body": {"kind": "task", "line": 1, "type": "t.Do", "as": "a", "args": {"x": null}, "policies": {"timeout": {"runtime": "PT5S"}}},
      "catches": [{"kind": "catch", "line": 1, "name": "e", "when": ["eq", ["get", ["get", ["var", "e"], "detail"], "limit"], "runtime"], "reads": {"e": 0},
                   "body": {"kind": "let", "line": 1, "as": "late", "value": ["get", ["var", "e"], "message"], "reads": {"e": 0}}}]}'::jsonb));
select wf.start('caught') as i \gset
select play_take(:driver), later(:driver, '5 s'), wf.tick(), play_report(play_id(:i, 'a'), 'error', '{"kind": "cancelled"}');
select is((select value #>> '{}' from wf.binding where instance_id = :i and name = 'late'), 't.Do timed out after 5000 ms (maximum runtime)', 'S31: a catch takes it');
select is((select result from wf.instance where id = :i), 'success', 'the instance ends with success after the catch');

-- many at once, a hundred a sweep, the oldest first; an instance that somebody holds stops no other
select play_install('short', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"timeout": {"wait": ["var", "d"]}}') || '{"reads": {"d": 0}}'), '[{"name": "d", "type": "duration"}]');
select count(*) from wf.start_many('short', (select jsonb_agg(jsonb_build_object('d', format('PT%sS', k))) from generate_series(1, 150) k));
select play_later('200 s'), wf.tick();
select results_eq($$select count(*), max((i.params ->> 'd')::interval) from wf.instance i join wf.workflow w on w.id = i.workflow_id join wf.process p on p.instance_id = i.id where w.name = 'short' and p.state = 'FAILED'$$,
    $$values (100::bigint, interval '100 s')$$, 'a hundred time out at once, those first that were due first');
select wf.tick();
select is((select count(*) from wf.time_limit where due_at <= wf.now()), 0::bigint, 'a second sweep ends the other tasks');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- a poisonous one stops no other
select play_driver() as driver \gset
create function broken() returns trigger language plpgsql as $$
begin
    raise exception 'no';
end;
$$;
select start_with('t.Do', '{"wait": "PT5S"}') as i \gset
select start_with('t.Do', '{"wait": "PT5S"}') as j \gset
create trigger broken before update on wf.process for each row when (new.event = 'timeout' and new.instance_id % 2 = 0) execute function broken();
select later(:driver, '5 s'), wf.tick(), wf.tick();
select bag_eq(format($$select p.state from wf.process p where p.bind = 'a' and p.instance_id in (%s, %s)$$, :i, :j), $$values ('FAILED'), ('INIT')$$, 'a task that cannot time out does not keep another one from it');
select is((select count(*) from wf.work where kind = 'limit'), 1::bigint, 'the limit that raises an error is tried alone');
select later(:driver, '1 min'), wf.tick(), later(:driver, '1 min'), wf.tick(), later(:driver, '2 min'), wf.tick();
select is((select error ->> 'kind' from wf.process p where p.bind = 'a' and p.instance_id in (:i, :j) and p.instance_id % 2 = 0), 'engine', 'the limit that raises an error is set aside after three tries');
drop trigger broken on wf.process;
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- what has no such policy costs nothing
select play_install('plain', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"retry": {"attempts": 2}}')));
select wf.start('plain') as i \gset
select is((select timed from wf.process where instance_id = :i and bind = 'a'), null, 'a task without the policy is marked by nothing');
select is(play_needless('limit'), 0::bigint, 'no move of a task without the policy comes to its limits');

-- limits of an attempt become rows when they are looked at, once a second
create function rows_of(p_instance bigint) returns text
language sql as $$
    select format('%s begun, %s limits', (select count(*) from wf.limit_begun b where p_instance = any (b.instances)),
                  (select count(*) from wf.time_limit t where t.instance_id = p_instance));
$$;
select start_with('t.Do', '{"runtime": "PT5S", "inactivity": "PT5S"}') as i \gset
select play_take(:driver);
select is(rows_of(:i), '1 begun, 0 limits', 'an attempt that has begun is one row');
select is(limits(:i, 'a'), 'inactivity 5, runtime 5', 'limits of a new attempt can be seen at once');
select play_later('0.5 s'), play_report(play_id(:i, 'a'));
select is(limits(:i, 'a'), null, 'an ended attempt has no limits');
select later(:driver, '1 s'), wf.tick();
select is(rows_of(:i), '0 begun, 0 limits', 'limits of a short attempt never were rows');
select play_on(:driver);
select start_with('t.Do', '{"runtime": "PT5S"}') as i \gset
select start_with('t.Do', '{"runtime": "PT5S"}') as j \gset
select play_take(:driver);
select is((select count(*) from wf.limit_begun), 1::bigint, 'two attempts that begin together are one row, too');
select play_later('0.2 s'), wf.tick();
select is(rows_of(:i) || ', ' || rows_of(:j), '0 begun, 1 limits, 0 begun, 1 limits', 'of those that are under way when they are looked at each limit is a row');
select play_report(play_id(:i, 'a')), play_report(play_id(:j, 'a'));
select is(rows_of(:i) || ', ' || rows_of(:j), '0 begun, 0 limits, 0 begun, 0 limits', 'the rows of limits go when their attempts end');
select play_on(:driver);

-- one attempt after another within that second
select start_with('t.Do', '{"runtime": "PT5S"}', '{"retry": {"attempts": 2, "delay": "PT0.1S"}}') as i \gset
select play_take(:driver), play_later('0.2 s'), play_fail(play_id(:i, 'a')), play_later('0.2 s'), wf._fire('-infinity', wf.now()), play_take(:driver);
select is((select sum(cardinality(b.processes)) from wf.limit_begun b where :i = any (b.instances)), 2::bigint, 'two attempts of one task have begun since');
select is(limits(:i, 'a'), 'runtime 5', 'the runtime is that of the second');
select play_later('1 s'), wf.tick();
select is(limits(:i, 'a'), 'runtime 4', 'the runtime is that of the second attempt also as a row');
select is(rows_of(:i), '0 begun, 1 limits', 'there is one');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

-- long limits of an attempt become rows once a minute, from its lease
select play_on(:driver);
select start_with('t.Do', '{"runtime": "PT2M", "inactivity": "PT1H"}', '{"retry": {"attempts": 2}}') as i \gset
select start_with('t.Do', '{"runtime": "PT1M59S"}') as j \gset
select play_take(:driver);
select is(rows_of(:i) || ', ' || rows_of(:j), '0 begun, 0 limits, 1 begun, 0 limits',
    'an attempt with limits of two minutes or more is noted nowhere');
select is(limits(:i, 'a'), 'inactivity 3600, runtime 120', 'the view shows its limits at once');
select matches(
    (select string_agg(e.detail, ' ') from wf.explain(:i, play_id(:i, 'a')) e where e.reason = 'note'),
    '^it times out at .*maximum runtime', 'explain shows them at once');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select play_later('30 s'), wf.tick();
select is(rows_of(:i), '0 begun, 0 limits', 'half a minute is nothing');
select play_later('0.1 s'), play_fail(play_id(:i, 'a'));
select play_later('5 s'), wf._fire('-infinity', wf.now()), play_take(:driver);
select is(limits(:i, 'a'), 'inactivity 3600, runtime 120', 'the next attempt has limits of its own');
select later(:driver, '57 s'), play_later('2 s');
select count(*) from wf.poll(:driver, 0);
select is(rows_of(:i), '0 begun, 2 limits', 'a poll in another minute makes rows');
select is(limits(:i, 'a'), 'inactivity 3541, runtime 61', 'the rows have the same times');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select later(:driver, '60.9 s'), wf.tick();
select is((select state from wf.process where instance_id = :i and bind = 'a'), 'START_REQUESTED',
    'the attempt may take two minutes');
select play_later('0.1 s'), wf.tick();
select is((select state from wf.process where instance_id = :i and bind = 'a'), 'CANCEL_REQUESTED',
    'after two minutes the attempt is stopped');
select is(rows_of(:i), '0 begun, 0 limits', 'the rows go');
select start_with('t.Bare', '{"runtime": "PT1H"}') as i \gset
select play_take(:driver);
select is(rows_of(:i), '1 begun, 0 limits',
    'a task that is polled has no lease between two requests: it is noted when it begins');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

select finish();
rollback;
