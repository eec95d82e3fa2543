-- A few workflows played through the public procedures by each role, with
-- :session run in each session. Only literals and names: what a session's own
-- statements call is its own affair.
\pset format unaligned
\pset tuples_only on
\pset null null
\set VERBOSITY terse
\set ON_ERROR_STOP off
\echo -- author
\connect - mallory_author
\i :session
select workflow, version, answer from wf.install('// source', :'spec');
select workflow, version, answer from wf.install('// source', :'spec');
select wf.group_set('desk', 2);
select wf.start('words', '{"s": "it is, 100%"}', 'key');
select wf.start_many('flow', '[{"n": 3}, {"n": 2}]');
select wf.start('nothing');
\echo -- app
\connect - mallory_app
\i :session
select wf.start('job', '{"name": "one"}', 'job', 7, '{a,b}');
select wf.start('job', '{"name": "one"}', 'job', 7, '{a,b}');
select wf.start('job', '{"name": "two"}', 'job');
select wf.start('words', '{"s": 1}');
select wf.install('', '{}');
\echo -- driver
\connect - mallory_driver
\i :session
select wf.register('one', '1', '{builtin,http}', '{}', 10) as driver \gset
\set value '{"{\\"value\\": 1, \\"id\\": 5}"}'
\set broken '{"{\\"kind\\": \\"x\\", \\"message\\": \\"it''s 100% broken\\"}"}'
\set bad '{"no json"}'
\set started '{"{\\"status\\": 200, \\"body\\": {\\"id\\": \\"j\\"}}"}'
\ir take.sql
select answer from wf.outcome(:driver, :'is', :'ps', :'ts', '{ack}', :'value');
select answer from wf.outcome(:driver, :'is', :'ps', :'ts', '{response}', :'started');
\ir take.sql
select answer from wf.outcome(:driver, :'is', :'ps', :'ts', '{response}', :'value');
\ir take.sql
select answer from wf.outcome(:driver, :'is', :'ps', :'ts', '{error}', :'broken');
\ir take.sql
select answer from wf.outcome(:driver, :'is', :'ps', :'ts', '{response}', :'bad');
\ir take.sql
select answer from wf.outcome(:driver, :'is', :'ps', :'ts', '{release}', :'value');
\ir take.sql
select answer from wf.outcome(:driver, :'is', :'ps', :'ts', '{response}', :'value');
\ir take.sql
select answer from wf.outcome(:driver, :'is', :'ps', :'ts', '{response}', :'value');
\ir take.sql
select answer from wf.outcome(:driver, :'is', :'ps', :'ts', '{response}', :'value');
select wf.heartbeat(:driver);
select wf.token_status(:i, :p, :'t');
select wf.sql_begin(:i, :p, :'t');
\echo -- operator
\connect - mallory_operator
\i :session
select * from wf.retry('{"failed": true}', 'again');
select * from wf.cancel('{"workflow": "job"}', 'no more');
select * from wf.ignore('{"instance": 1}', 'it''s fine');
select * from wf.suspend('{"instance": 3}', 'later');
select * from wf.resume('{"instance": 3}', 'now');
select * from wf.engine_pause('dinner');
select * from wf.engine_resume('back');
select wf.tick();
select * from wf.resolve('{"failed": true}', '{"value": "2"}', 'by hand');
select * from wf.abort('{"instance": 2}', 'enough');
select * from wf.raise('{"instance": 99}', 'x');
\echo -- driver
\connect - mallory_driver
\i :session
select wf.register('two', '1', '{builtin,http}', '{}', 10) as driver \gset
\ir take.sql
select answer from wf.outcome(:driver, :'is', :'ps', :'ts', '{response}', :'value');
\ir take.sql
select answer from wf.outcome(:driver, :'is', :'ps', :'ts', '{response}', :'value');
\ir take.sql
select answer from wf.outcome(:driver, :'is', :'ps', :'ts', '{response}', :'value');
\ir take.sql
select answer from wf.outcome(:driver, :'is', :'ps', :'ts', '{response}', :'value');
\ir take.sql
select answer from wf.outcome(:driver, :'is', :'ps', :'ts', '{response}', :'value');
\ir take.sql
select answer from wf.outcome(:driver, :'is', :'ps', :'ts', '{response}', :'value');
select wf.drain(:driver);
select wf.leave(:driver);
\echo -- viewer
\connect - mallory_viewer
\i :session
select process_id, label, state, attempt from wf.tree(2);
select process_id, label, reason, detail from wf.explain(3);
select process_id, label, reason, detail from wf.explain(4);
select instance_id, reason, detail from wf.stuck();
select * from wf.fsck();
select * from wf.graph('flow');
select * from wf.changes('{1,2,3}');
select instance_id, workflow, state, result, key, tags, params, output, error, started_by from wf.instance_v;
select process_id, kind, state, attempt, input, output, error from wf.process_v;
select seq, process_id, was, event, state, actor, reason from wf.event_v;
select workflow, version from wf.version_v;
select * from wf.group_v;
select name, state, slots from wf.driver_v;
\echo -- admin
\connect - mallory_admin
\i :session
select wf.setting_set('lease_seconds', 60);
select wf.setting_set('lease_seconds', 1);
select wf.function_set('twice', 'pg_catalog.pi', '{s: string}', 'string', 'twice');
select wf.function_remove('twice');
set session_replication_role = replica;
\echo -- none
\connect - mallory
\i :session
select wf.start('job');
select instance_id from wf.instance_v;
