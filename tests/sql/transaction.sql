-- transaction.sql - SQL tasks: effects, outcome and what comes after them are
-- there together or not at all. A savepoint plays the task's transaction.
begin;
\ir helper/play.sql
select no_plan();
select play_driver('fake', '{sql,builtin}') as driver \gset

insert into play_type (name, spec) values ('t.Sql', '{"name": "t.Sql", "machine": "sync", "params": [],
    "requests": {"start": {"transport": "sql", "args": {"statement": "insert into effect values (1)"},
        "failure": ["eq", ["get", ["var", "response"], "count"], 0], "failure_as": {"kind": "none", "message": "nothing was inserted"},
        "output": ["get", ["var", "response"], "count"]}}}');
select play_install('sql', jsonb_build_array(play_task('t.Sql', 'a'), play_task('t.Do', 'b', '{"x": ["var", "a"]}')));
create table effect (n int);

-- taken(DRIVER): an instance whose first task a driver has taken
create function taken(p_driver bigint) returns bigint
language plpgsql as $$
declare
    v_instance bigint := wf.start('sql');
begin
    perform play_take(p_driver);
    return v_instance;
end;
$$;
create function token_of(p_process bigint) returns uuid language sql as $$ select token from play_request where process_id = p_process order by k desc limit 1; $$;
create function status(p_instance bigint) returns text
language sql as $$ select wf.token_status(p_instance, play_id(p_instance, 'a'), token_of(play_id(p_instance, 'a'))); $$;
-- what there is: effects, the state of the task, that of the next one
create function all_of(p_instance bigint) returns text
language sql as $$ select concat_ws(' ', (select count(*) from effect), play_state(p_instance, 'a'), play_state(p_instance, 'b')); $$;

-- success
select taken(:driver) as i \gset
select play_id(:i, 'a') as a, token_of(play_id(:i, 'a')) as token \gset
select is(status(:i), 'open', 'a request that is out is open');
savepoint task;
select lives_ok(format('select wf.sql_begin(%s, %s, %L)', :i, :a, :'token'), 'the task begins');
insert into effect values (1);
select lives_ok(format('select wf.sql_outcome(%s, %s, %L, %L)', :i, :a, :'token', '{"count": 1}'), 'the outcome is recorded in the task''s transaction');
select is(all_of(:i), '1 END INIT', 'effect, outcome and the next task are there');
select is(status(:i), 'done', 'the request is done');
rollback to task;
select is(all_of(:i), '0 START_REQUESTED', 'without its commit none of them');
select is(status(:i), 'open', 'the request is open after the rollback: it may be done again');
select wf.sql_begin(:i, :a, :'token');
insert into effect values (1);
select wf.sql_outcome(:i, :a, :'token', '{"count": 1}');
release task;
select is(all_of(:i), '1 END INIT', 'the second time it commits');
select is((select input from wf.process where id = play_id(:i, 'b')), '{"x": 1}', 'with its output');
select throws_ok(format('select wf.sql_begin(%s, %s, %L)', :i, :a, :'token'), 'WF009', format('the request of process %s/%s was taken back', :i, :a), 'a finished request does not begin again');
select throws_ok(format('select wf.sql_outcome(%s, %s, %L, %L)', :i, :a, :'token', '{"count": 1}'), 'WF009', null, 'a finished request does not end again');
select is(play_report(:a, 'response', '{"count": 1}'), 'already', 'a report after it is known already');

-- failure: rolled back and reported in the usual way
delete from effect;
select taken(:driver) as i \gset
select play_id(:i, 'a') as a, token_of(play_id(:i, 'a')) as token \gset
savepoint task;
select wf.sql_begin(:i, :a, :'token');
insert into effect values (1);
select throws_ok('insert into effect values (1 / 0)', '22012', null, 'a statement fails');
rollback to task;
select is(play_report(:a, 'error', '{"kind": "sql", "message": "division by zero", "detail": {"sqlstate": "22012"}}'), 'done', 'the driver reports the failed statement');
select is(all_of(:i), '0 FAILED', 'a failed statement leaves nothing behind');
select is(status(:i), 'done', 'the outcome of the failed statement is known');
select wf.retry(jsonb_build_object('process', :a));
select play_take(:driver);
select isnt(token_of(:a), :'token'::uuid, 'another attempt has another token');
select is(wf.token_status(:i, :a, :'token'), 'stale', 'the old one is stale');
select throws_ok(format('select wf.sql_begin(%s, %s, %L)', :i, :a, :'token'), 'WF009', null, 'a stale token begins nothing');

-- a response that means failure, or cannot be kept, takes the effects back too
select token_of(:a) as token \gset
select throws_ok(format($q$do $do$ begin
        perform wf.sql_begin(%s, %s, %L);
        insert into effect values (1);
        perform wf.sql_outcome(%s, %s, %L, %L);
    end $do$ $q$, :i, :a, :'token', :i, :a, :'token', response), code, message, 'a response that ' || what)
  from (values ('{"count": 0}'::bytea, 'WF012', 'nothing was inserted', 'says that the task failed'),
               ('{"count": '::bytea, '22P02', null, 'is not JSON'),
               ('\xff'::bytea, '22021', null, 'is not text'),
               (convert_to(jsonb_build_object('rows', repeat('x', 2000000))::text, 'UTF8'), 'WF012', 'the response has 2000012 bytes, more than the 1048576 allowed', 'is too large')) t (response, code, message, what);
select is(all_of(:i), '0 START_REQUESTED', 'nothing of it is there');
select play_report(:a, 'error', '{"kind": "sql", "message": "nothing was inserted"}');
select is(play_state(:i, 'a'), 'FAILED', 'the driver reports the response that meant failure');
select wf.abort(jsonb_build_object('instance', :i));

-- rows that the driver does not keep
select throws_ok('select wf.sql_too_large(1000)', 'WF012', 'the statement''s rows take more than 1000 bytes', 'rows can be too large');
prepare large as select case when n < 0 then wf.sql_too_large(1000) end from generate_series(1, 3) n;
select lives_ok('large', 'rows of any size are accepted before there is one');

-- taken back before it could begin, or before it could end
select taken(:driver) as i \gset
select play_id(:i, 'a') as a, token_of(play_id(:i, 'a')) as token \gset
select wf.leave(:driver);
select throws_ok(format('select wf.sql_begin(%s, %s, %L)', :i, :a, :'token'), 'WF009', null, 'a driver that was given up begins nothing');
select throws_ok(format('select wf.sql_outcome(%s, %s, %L, %L)', :i, :a, :'token', '{"count": 1}'), 'WF009', null, 'a driver that was given up ends nothing');
select is(status(:i), 'stale', 'the token of a driver that was given up is stale');
select wf.retry(jsonb_build_object('process', :a));
select is(status(:i), 'stale', 'the token stays stale after an operator''s retry');
select is(wf.token_status(:i, :a, gen_random_uuid()), 'stale', 'a token that never was is stale');
select is(wf.token_status(0, 0, null), 'stale', 'a null token is stale');
select throws_ok($$do 'begin set transaction read only; perform wf.token_status(0, 0, null); end'$$, '25006',
    'this server is read-only: it may not know yet what became of the request', 'a standby is no witness: it may not have it yet');
select throws_ok('select wf.sql_begin(null, null, null)', 'WF009', null, 'with which nothing begins');

-- cancelled or aborted while it runs: what it has done by then counts
select play_driver('fake', '{sql,builtin}') as driver \gset
select play_take(:driver);
select token_of(:a) as token \gset
select wf.sql_begin(:i, :a, :'token');
select wf.cancel(jsonb_build_object('process', :a));
select lives_ok(format('select wf.sql_outcome(%s, %s, %L, %L)', :i, :a, :'token', '{"count": 1}'), 'a task that is being cancelled may still end');
select is(play_state(:i, 'a'), 'END', 'a task that was being cancelled has ended');
select taken(:driver) as i \gset
select play_id(:i, 'a') as a, token_of(play_id(:i, 'a')) as token \gset
select wf.abort(jsonb_build_object('instance', :i));
select lives_ok(format('select wf.sql_outcome(%s, %s, %L, %L)', :i, :a, :'token', '{"count": 1}'), 'a task whose instance is being aborted may still end');
select is((select state from wf.instance where id = :i), 'ABORTED', 'the instance is ABORTED after its task has ended');
-- a response that means failure while its instance is being aborted
select taken(:driver) as i \gset
select play_id(:i, 'a') as a, token_of(play_id(:i, 'a')) as token \gset
select wf.abort(jsonb_build_object('instance', :i));
select throws_ok(format('select wf.sql_outcome(%s, %s, %L, %L)', :i, :a, :'token', '{"count": 0}'), 'WF012', 'nothing was inserted', 'a task that has failed leaves nothing behind, also where its failure changes nothing');
select play_report(:a, 'error', '{"kind": "none", "message": "nothing was inserted"}');
select is((select state from wf.instance where id = :i), 'ABORTED', 'when its driver has reported that, the instance is ABORTED');

-- a failure that its policy tries again: the task is INIT by then, its effects go all the same
select play_install('again', jsonb_build_array(play_task('t.Sql', 'a', '{}', '{"retry": {"attempts": 3, "delay": "PT1M"}}'), play_task('t.Do', 'b', '{"x": ["var", "a"]}')));
delete from effect;
select wf.start('again') as i \gset
select play_take(:driver);
select play_id(:i, 'a') as a, token_of(play_id(:i, 'a')) as token \gset
select throws_ok(format($q$do $do$ begin
        perform wf.sql_begin(%s, %s, %L);
        insert into effect values (1);
        perform wf.sql_outcome(%s, %s, %L, %L);
    end $do$ $q$, :i, :a, :'token', :i, :a, :'token', '{"count": 0}'), 'WF012', 'nothing was inserted', 'a response that means failure raises, whatever the policy does with the task');
select is(all_of(:i), '0 START_REQUESTED', 'nothing of the attempt is there');
select is(play_report(:a, 'error', '{"kind": "none", "message": "nothing was inserted"}'), 'done', 'the driver reports the failure that its policy tries again');
select is(all_of(:i), '0 INIT', 'the task waits for its next attempt');
select wf.retry(jsonb_build_object('process', :a)), play_take(:driver);
select token_of(:a) as token \gset
select wf.sql_begin(:i, :a, :'token');
insert into effect values (1);
select lives_ok(format('select wf.sql_outcome(%s, %s, %L, %L)', :i, :a, :'token', '{"count": 1}'), 'the next attempt succeeds');
select is(all_of(:i), '1 END INIT', 'the effect is there once, and the next task is ready');
select is_empty('select * from wf.fsck()', 'all is well in the end');

select * from finish();
rollback;
