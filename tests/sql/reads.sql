-- reads.sql - what is done with one instance reads the rows of that instance, and not
-- those of hundreds of others in the same tables. The others are committed and vacuumed
-- first, so that no dead rows of theirs are counted.
\ir helper/play.sql

insert into play_type (name, spec) values
    ('t.Ear', '{"name": "t.Ear", "machine": "wait", "wait": "signal",
                "params": [{"name": "name", "type": "string"}, {"name": "topic", "type": {"optional": "string"}, "default": null}]}'),
    ('t.Input', '{"name": "t.Input", "machine": "wait", "wait": "input",
                  "params": [{"name": "title", "type": "string"}, {"name": "form", "type": "json"},
                             {"name": "role", "type": {"optional": "string"}, "default": null},
                             {"name": "assignee", "type": {"optional": "string"}, "default": null}]}');
select set_config('wf.now', '2030-01-01 00:00:00+00', false);

-- one task in each place in which a task can be
select play_install('busy', jsonb_build_array(play_par(
    play_task('t.Do', 'broken', '{}', '{"queue": "broken"}'), play_task('t.Far', 'taken', '{}', '{"timeout": {"deadline": "PT10H"}}'),
    play_task('t.Do', 'grouped', '{}', '{"group": {"name": "few", "max": 1}, "queue": "none"}'),
    play_task('t.Sleep', 'asleep', '{"duration": "PT10H"}'), play_task('t.Job', 'polled'),
    play_task('t.Do', 'ready', '{}', '{"queue": "none"}'), play_task('t.Ear', 'ear', '{"name": "go", "topic": null}'),
    play_task('t.Input', 'asked', '{"title": "Go on?", "form": ["const", {"ok": {"type": "boolean"}}], "role": null, "assignee": null}'))));
select play_install('short', jsonb_build_array(play_task('t.Do', 'a')));
select wf.register('breaks', '1', '{builtin}', '{broken}', 10000) as breaks, wf.register('holds', '1', '{ssh}', '{default}', 10000) as holds,
       wf.register('polls', '1', '{builtin}', '{default}', 10000) as polls \gset
-- answer(DRIVER, EVENT, BODY): reports all that a driver holds, alike
create function answer(p_driver bigint, p_event text, p_body text) returns bigint
language sql as $$
    select count(*)
      from (select array_agg(l.instance_id) i, array_agg(l.process_id) j, array_agg(l.token) t from wf.lease l where l.driver_id = p_driver) x,
           wf.outcome(p_driver, x.i, x.j, x.t, array_fill(p_event, array[cardinality(x.i)]), array_fill(convert_to(p_body, 'UTF8'), array[cardinality(x.i)]));
$$;
-- fill(NUMBER): that many instances of each sort
create function fill(p_count int, p_breaks bigint, p_holds bigint, p_polls bigint) returns void
language plpgsql as $$
declare
    v_all jsonb := (select jsonb_agg('{}'::jsonb) from generate_series(1, p_count));
    v_ended bigint[];
begin
    v_ended := array(select wf.start_many('short', v_all));
    perform play_take(p_polls, 10000);
    perform answer(p_polls, 'response', '{}');
    perform wf.start_many('busy', v_all);
    perform play_take(p_breaks, 10000), play_take(p_holds, 10000), play_take(p_polls, 10000);
    perform answer(p_breaks, 'error', '{"kind": "http", "message": "it broke"}');
    perform answer(p_polls, 'ack', '');
    perform answer(p_polls, 'response', '{"id": 1}');
    perform wf.start('short', p_at => wf.now() + interval '10 h') from generate_series(1, p_count);
    perform wf.suspend(jsonb_build_object('instance', (select jsonb_agg(x) from wf.start_many('short', v_all) x)));
    perform wf.signal(to_jsonb(i.id), 'unheard') from wf.instance i where i.state = 'RUNNING';
    for k in 1 .. 2 * p_count loop exit when wf.work() is null; end loop;
end;
$$;
select fill(1000, :breaks, :holds, :polls);
-- ours(NUMBER): one that all verbs below are done to
create table ours (k int generated always as identity, id bigint);
insert into ours (id) select wf.start_many('busy', (select jsonb_agg('{}'::jsonb) from generate_series(1, 20)));
select wf.register('lame', '1', '{ssh}', '{default}', 100) as lame \gset
select play_take(:breaks, 1000), play_take(:lame, 10), play_take(:holds, 1000), play_take(:polls, 1000);
select answer(:breaks, 'error', '{"kind": "http", "message": "it broke"}');
select answer(:polls, 'ack', ''), answer(:polls, 'response', '{"id": 1}');
create function our(p_k int) returns bigint language sql as $$ select o.id from ours o where o.k = p_k $$;
create function target(p_k int, p_name text default null) returns jsonb
language sql as $$ select jsonb_build_object('instance', our(p_k)) || jsonb_strip_nulls(jsonb_build_object('process', play_id(our(p_k), p_name))) $$;
vacuum analyze;
begin;
select no_plan();

-- Catalogues: how many rows they have does not depend on the number of instances.
create function table_reads() returns table (name text, rows bigint)
language sql as $$
    select t.relname, pg_stat_get_xact_tuples_returned(t.oid)
                      + (select coalesce(sum(pg_stat_get_xact_tuples_returned(x.indexrelid)), 0)::bigint from pg_index x where x.indrelid = t.oid)
      from pg_class t
     where t.relnamespace = 'wf'::regnamespace and t.relkind = 'r' and t.relname not in ('transition', 'setting', 'node');
$$;
-- greedy(STATEMENT): the tables of which it reads more than 290 rows
create function greedy(p_statement text) returns setof text
language plpgsql as $$
begin
    create temporary table before as select * from table_reads();
    execute p_statement;
    return query
    select format('%s: %s rows', r.name, r.rows - b.rows) from table_reads() r join before b using (name) where r.rows - b.rows > 290 order by 1;
    drop table before;
end;
$$;
create function spares(p_statement text, p_name text) returns text
language sql as $$ select is_empty(format('select greedy(%L)', p_statement), p_name) $$;

select isnt_empty($$ select greedy('select count(*) from wf.lease') $$, 'a statement that reads a table as a whole is noticed');
select isnt_empty($$ select greedy('select count(*) from wf.instance where id > 0') $$, 'a statement that reads an index as a whole is noticed');
select is((select string_agg(t.relname, ' ' order by t.relname)
             from pg_class t
            where t.relnamespace = 'wf'::regnamespace
              and t.relname in ('instance', 'process', 'event', 'ready', 'parked', 'lease', 'timer', 'time_limit', 'failed', 'suspended', 'signal', 'input', 'work')
              and t.reltuples < 300), null, 'each of these tables has hundreds of rows');

-- verbs
select spares(format('select * from wf.preview(%L, %L)', 'retry', target(1, 'broken')), 'preview of a retry');
select spares(format('select * from wf.retry(%L)', target(1, 'broken')), 'retry of a task');
select spares(format('select * from wf.ignore(%L)', target(2, 'broken')), 'ignore');
select spares(format('select * from wf.resolve(%L, %L)', target(3, 'broken'), '1'), 'resolve');
select spares(format('select * from wf.raise(%L)', target(4, 'broken')), 'raise');
select spares(format('select * from wf.cancel(%L)', target(5, n)), format('cancel of the task %s', n)) from unnest('{taken,grouped,asleep,polled,ready,ear,asked}'::text[]) n;
select spares(format('select * from wf.retry(%L)', target(5)), 'retry of an instance');
select spares(format('select * from wf.suspend(%L)', target(6)), 'suspend');
select spares(format('select * from wf.resume(%L)', target(6)), 'resume');
select spares(format('select * from wf.abort(%L)', target(7)), 'abort');
select spares(format('select * from wf.halt(%L)', target(8)), 'halt');
select spares(format('select wf.group_set(%L, 2)', 'lonely'), 'the places of another group');
select spares(format('select wf.signal(%L, %L)', to_jsonb(our(9)), 'go'), 'a signal');
select spares(format('select wf.answer(%s, %L)', (select n.id from wf.input n where n.instance_id = our(9)), '{"ok": true}'), 'an answer');
select spares('select wf.work()', 'the work that verbs, signals and answers leave') from generate_series(1, 9);
select is(play_state(our(9), 'ear') || ' ' || play_state(our(9), 'asked'), 'END END', 'signal and answer have ended their waits');
select spares(format('select wf.start(%L)', 'busy'), 'a start');

-- lists
select play_install('rare', jsonb_build_array(play_task('t.Do', 'a')));
select wf.start('rare');
-- what analyze would have found while there was no other workflow
update pg_statistic s
   set stadistinct = 1, stakind1 = 1, staop1 = '=(int8,int8)'::regoperator, stanumbers1 = '{1}',
       stavalues1 = array_in(format('{%s}', w.id)::cstring, 'int8'::regtype, -1)
  from wf.workflow w, pg_attribute a
 where w.name = 'rare' and a.attrelid = 'wf.instance'::regclass and a.attname = 'workflow_id'
   and s.starelid = a.attrelid and s.staattnum = a.attnum;
select spares('select * from wf.list(p_workflow => ''rare'')', 'a list of one workflow, whatever the statistics say');

-- time and drivers
update wf.timer t set due_at = wf.now() where t.instance_id = our(10) and t.process_id = play_id(our(10), 'asleep');
update wf.time_limit t set due_at = wf.now() where t.instance_id = our(11);
-- a sweep for lost drivers reads all leases: there are no more of them than slots of drivers
create function ticks(p_name text) returns text
language sql as $$ select is_empty($q$ select g from greedy('select wf.tick()') g where g !~ '^lease:' $q$, p_name) $$;
select ticks('a timer and a time limit that come due');
select is(play_state(our(10), 'asleep'), 'END', 'the timer has fired');
select matches(play_state(our(11), 'taken'), 'CANCEL_REQUESTED|FAILED', 'the limit has come');
select spares(format('select play_take(%s, 1)', :polls), 'a poll that takes one task');
select spares(format('select wf.heartbeat(%s)', :polls), 'a heartbeat');
select instance_id as i, process_id as p, token as t from wf.lease where driver_id = :holds limit 1 \gset
select spares(format('select wf.output_add(%L, %L, %L, %L, %L, %L, %L)', array[:i], array[:p], array[:'t'], '{0}', '{3}', '{stdout}', '{one}'), 'output of a program');
select spares(format('select wf.outcome(%s, %L, %L, %L, %L, %L)', :holds, array[:i], array[:p], array[:'t'], '{response}', array['{"exit_code": 0}'::bytea]), 'a report');
select isnt((select count(*) from wf.lease where driver_id = :lame), 0::bigint, 'a driver is lost with what it holds');
update wf.sign_of_life set seen_at = wf.now() - interval '1 hour' where driver_id = :lame;
select ticks('a driver that is lost');
select is((select count(*) from wf.lease where driver_id = :lame), 0::bigint, 'the requests of the lost driver were taken back');

-- questions
select spares(format(q, our(12)), q)
  from unnest(array['select * from wf.result(%s)', 'select * from wf.explain(%s)', 'select * from wf.changes(array[%s::bigint])', 'select * from wf.tree(%s)', 'select * from wf.gantt(%s)',
                    'select wf.progress(%s)', 'select wf.waits_for_operator(%s)', 'select wf.has_only_failures(%s)', 'select * from wf.instance_v where instance_id = %s',
                    'select * from wf.process_v where instance_id = %s', 'select * from wf.task_v where instance_id = %s', 'select * from wf.event_v where instance_id = %s',
                    'select * from wf.output_v where instance_id = %s', 'select * from wf.input_v where instance_id = %s']) q;

-- purges
create temporary table ended as select i.id, row_number() over (order by i.id) as k from wf.instance i where i.state = 'END' limit 20;
select spares(format('select * from wf.purge(%L)', jsonb_build_object('instance', (select id from ended where k = 1))), 'purge of an instance');
select is((select count(*) from wf.instance i where i.id = (select id from ended where k = 1)), 0::bigint, 'the instance is purged');
select spares(format('select * from wf.purge(%L, p_limit => 10)', '{"workflow": "short"}'), 'a purge of ten of all that have ended');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select * from finish();
rollback;
