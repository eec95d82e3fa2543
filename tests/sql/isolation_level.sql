-- isolation_level.sql - whatever advances instances refuses a transaction whose
-- snapshot would hide what others have just committed.
begin isolation level repeatable read;
select plan(12);

select throws_ok(statement, 'WF006', 'this procedure cannot run in a REPEATABLE READ transaction', statement)
  from unnest(array[
       $$select wf.retry('{"failed": true}')$$,
       $$select wf.ignore('{"failed": true}')$$,
       $$select wf.resolve('{"failed": true}', '1')$$,
       $$select wf.raise('{"failed": true}')$$,
       $$select wf.cancel('{"global": true}')$$,
       $$select wf.abort('{"global": true}')$$,
       $$select wf.poll(1, 1)$$,
       $$select wf.outcome(1, '{}', '{}', '{}', '{}', '{}')$$,
       $$select wf.leave(1)$$,
       $$select wf.sql_begin(1, 1, gen_random_uuid())$$,
       $$select wf.sql_outcome(1, 1, gen_random_uuid(), '')$$,
       $$select wf.tick()$$]) statement;

select * from finish();
rollback;
