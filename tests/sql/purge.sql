-- purge.sql - ended instances go with all that belongs to them, by hand or by
-- themselves; what is under way stays, and so do signatures and marks that
-- somebody may still ask for.
begin;
\ir helper/play.sql
select no_plan();
set local wf.now = '2026-01-01 00:00+00';

select play_install('short', jsonb_build_array(play_task('t.Do', 'a', '{"x": 7}'), play_task('t.Do', 'b', '{"x": ["var", "a"]}')));
select play_install('other', jsonb_build_array(play_forall('x', '[1, 2]', play_task('t.Do', 'd'))));
select play_driver() as driver \gset

-- left(INSTANCE): the tables that have rows of an instance
create function left_of(p_instance bigint) returns text[]
language sql as $$
    select array_agg(t order by t)
      from (select 'binding' from wf.binding where instance_id = p_instance union
            select 'binding_past' from wf.binding_past where instance_id = p_instance union
            select 'event' from wf.event where instance_id = p_instance union
            select 'instance' from wf.instance where id = p_instance union
            select 'loss' from wf.loss where instance_id = p_instance union
            select 'output_chunk' from wf.output_chunk where instance_id = p_instance union
            select 'process' from wf.process where instance_id = p_instance) x (t);
$$;

-- purged(TARGET …): what purge answers, in one line
create function purged(p_target jsonb, p_limit int default 1000, p_after bigint default 0) returns text
language sql as $$
    select string_agg(format('%s %s', p.instance_id, p.answer), ', ' order by p.instance_id) from wf.purge(p_target, 'too many', p_limit, p_after) p;
$$;

-- what goes, and what stays
select wf.start('short', p_key => 'monday', p_tags => '{red}') as one \gset
select wf.start('other') as two \gset
select wf.start('short') as three \gset
select play_take(:driver);
select wf.output_add(array[instance_id], array[process_id], array[token], array[0], array[3], array['stdout'], array['yes'])
  from play_request where instance_id = :one and kind = 'run';
insert into wf.loss select instance_id, process_id, 1, 'start', token, 1, wf.now() from play_request where instance_id = :one and kind = 'run';
select play_report(process_id, 'response', '{"value": 7}') from play_request where instance_id in (:one, :two) and kind = 'run';
select play_on(:driver) > 0;
select is((select string_agg(state, ' ' order by id) from wf.instance), 'END END RUNNING', 'two have ended, one has a task with a driver');
select is(left_of(:one), '{binding,event,instance,loss,output_chunk,process}', 'an ended instance has left rows everywhere');

select play_later('10 days');
select is(purged('{"older_than": "11 days"}'), null, 'none has ended so long ago');
select is(purged('{"older_than": "9 days", "workflow": "short", "tag": "blue"}'), null, 'several keys hold together');
select is(purged('{"older_than": "9 days", "workflow": "short"}'), :one || ' done', 'an ended instance of one workflow is purged');
select is(left_of(:one), null, 'a purged instance leaves no rows');
select is(left_of(:two), '{binding,event,instance,process}', 'another is as it was');
select is(purged(format('{"instance": [%s, %s, %s]}', :one, :two, :three)::jsonb), format('%s refused, %s done, %s refused', :one, :two, :three), 'each named instance gets an answer');
select results_eq(format('select instance_id, answer, detail from wf.purge(''{"instance": [%s, %s]}'')', :one, :three),
    format($$values (%s::bigint, 'refused', 'there is no such instance'), (%s, 'refused', 'RUNNING: only END, ABORTED can be purged')$$, :one, :three), 'with the reason');
select is(left_of(:three), '{event,instance,process}', 'a running instance stays');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select is(wf.start('short', p_key => 'monday', p_tags => '{red}'), :one::bigint, 'a key is known longer than its instance');
select is((select count(*) from wf.instance), 1::bigint, 'a known key starts nothing again after the purge');
select is(play_report((select max(process_id) from play_request where instance_id = :one)), 'stale', 'a report of what has gone changes nothing');
select is_empty('select * from wf.fsck()', 'a late report leaves nothing behind');

-- who, when, why, how many
select results_eq($$select actor collate "C", reason, target, instances, at, last_at from wf.purge_v order by seq$$,
    format($$values (%L collate "C", 'too many', '{"older_than": "9 days", "workflow": "short"}'::jsonb, 1::bigint, '2026-01-11 00:00+00'::timestamptz, '2026-01-11 00:00+00'::timestamptz),
                    (%L, 'too many', '{"instance": [%s, %s, %s]}', 1, '2026-01-11 00:00+00', '2026-01-11 00:00+00')$$,
           session_user, session_user, :one, :two, :three), 'a purge is written down');

-- batches, oldest first
select min(s) as first, max(s) as last from wf.start_many('short', (select jsonb_agg('{}'::jsonb) from generate_series(1, 25))) s \gset
select play_on(:driver);
select play_later('1 second');
select is(purged('{"workflow": "short", "older_than": "0 s"}', 10), (select string_agg(format('%s done', i), ', ' order by i) from generate_series(:first::bigint, :first::bigint + 9) i), 'a purge takes as many instances as asked for, oldest first');
select is(purged('{"workflow": "short", "older_than": "0 s"}', 10, :first + 19), (select string_agg(format('%s done', i), ', ' order by i) from generate_series(:first::bigint + 20, :last) i), 'after those that were answered before');
select is((select count(*) from wf.purge('{"workflow": "short", "older_than": "0 s"}', 'too many', null)), 10::bigint, 'a purge without a number takes all at once');
select is((select instances from wf.purge where target ->> 'older_than' = '0 s'), 25::bigint, 'purges with the same target and reason are one row');

-- what is refused
select throws_ok($$select wf.purge('{}')$$, 'WF002', 'the target names nothing', 'no target');
select throws_ok($$select wf.purge('{"workflow": "none"}')$$, 'WF003', 'there is no workflow "none"', 'an unknown workflow');
select throws_ok($$select wf.purge('{"older_than": "soon"}')$$, 'WF002', 'target: "soon" is not an interval', 'no interval');
select throws_ok($$select wf.purge('{"process": 1}')$$, 'WF002', 'only whole instances that have ended can be purged', 'a process');
select throws_ok($$select wf.purge('{"failed": true}')$$, 'WF002', 'only whole instances that have ended can be purged', 'failed as a target is refused');
select throws_ok($$select wf.purge('{"global": true}')$$, 'WF002', 'only whole instances that have ended can be purged', 'the latest');
select throws_ok($$select wf.purge('{"state": "END"}', null, 0)$$, 'WF002', 'p_limit is 0', 'nothing at all');
select is(purged('{"state": "RUNNING"}'), null, 'running instances are no target');

-- signatures: all of this is one transaction, so others are made up
select wf.start('other') as long \gset
update wf.instance set was = state, event = 'suspend', state = 'SUSPENDED', at = wf.now() where id = :long;
insert into wf.txn (xid, actor, at) values ('3', 'who began it', wf.now()), ('4', 'who did what is gone', wf.now());
update wf.event set xid = '3' where instance_id = :long and process_id is null and event = 'start';
select '4@' || extract(epoch from wf.now()) as mark \gset
create function signatures() returns text language sql as $$ select string_agg(t.xid::text, ' ' order by t.xid) from wf.txn t where t.xid < '10'; $$;
-- purge_one(): something is purged
create function purge_one(p_driver bigint) returns text
language plpgsql as $$
begin
    perform wf.start('short');
    perform play_on(p_driver);
    perform play_later('1 second');
    return purged('{"workflow": "short"}');
end;
$$;
select play_later('1 minute');
select purge_one(:driver);
select is(signatures(), '3 4', 'signatures are kept while it is unknown who needs them');
select play_later('23 hours');
select purge_one(:driver);
select is(signatures(), '3 4', 'signatures are kept for a day');
select ok(wf._has_mark(:'mark'), 'a driver finds its mark');
select play_later('2 hours');
select purge_one(:driver);
select is(signatures(), '3', 'a signature that the history names stays, the others go');
select ok(wf._has_mark(:'mark'), 'a mark that is older than that is taken on trust');
select ok(not wf._has_mark('4@' || extract(epoch from wf.now())), 'a younger one is not');
select ok(not wf._has_mark(replace(:'mark', '4@', '99999999999@')), 'the mark of a transaction that had not ended then is not taken on trust');
insert into wf.txn (xid, actor, at) values ('6', 'who did what is gone', wf.now() - interval '1 hour');
insert into wf.event (instance_id, xid, at, was, event, state)
select :long, '3', wf.now(), 'SUSPENDED', 'late', 'SUSPENDED' from generate_series(1, 2001);
select play_later('25 hours');
select purge_one(:driver);
select is(signatures(), '3 6', 'where what is left has a long history, no signature goes');
delete from wf.event where instance_id = :long and event = 'late';
select purge_one(:driver);
select is(signatures(), '3', 'a shorter one is looked through');
select is_empty('select * from wf.fsck()', 'every move is signed');

-- by itself
select wf.start('short') as old \gset
select play_on(:driver);
select play_later('29 days 23:59');
select play_take(:driver);
select is(left_of(:old), '{binding,event,instance,process}', 'nothing goes unless it is asked for');
select wf.setting_set('keep_days', 30);
select play_later('2 seconds');
select play_take(:driver);
select is(left_of(:old), '{binding,event,instance,process}', 'a young instance is not purged');
select is((select next_at from wf.purge order by id desc limit 1), wf.now() + interval '1 hour', 'a young instance is looked at again in an hour');
select play_later('59 minutes');
select play_take(:driver);
select is(left_of(:old), '{binding,event,instance,process}', 'not before');
select wf.engine_pause();
select play_later('2 minutes');
select play_take(:driver);
select is(left_of(:old), '{binding,event,instance,process}', 'nothing is purged while the engine is paused');
select wf.engine_resume();
select play_later('2 seconds');
select play_take(:driver);
select is(left_of(:old), null, 'a poll purges an old instance');
select results_eq($$select reason, target, instances from wf.purge_v order by seq desc limit 1$$, $$values ('keep_days', null::jsonb, 1::bigint)$$, 'the view has the purge of keep_days');

-- in pieces, past those that stay
select count(*) from (select wf.start('other') from generate_series(1, 1100)) x;
insert into wf.txn (xid, actor, at) values ('5', 'who did what is gone', wf.now());
select min(s) as first, max(s) as last from wf.start_many('short', (select jsonb_agg('{}'::jsonb) from generate_series(1, 150))) s \gset
update wf.instance set was = state, event = 'suspend', state = 'SUSPENDED', at = wf.now() where workflow_id = (select id from wf.workflow where name = 'other') and state = 'RUNNING';
select play_on(:driver);
select play_later('31 days');
select play_take(:driver);
select is((select next_at from wf.purge order by id desc limit 1), wf.now() + interval '1 hour', 'after such a leap of the clock it waits for an hour');
select play_later('1 hour');
-- pieces(): how many have gone after each poll, until nothing is left to do
create function pieces(p_driver bigint) returns text
language plpgsql as $$
declare
    v_counts text := '';
begin
    loop
        perform play_later('2 seconds');
        perform play_take(p_driver);
        v_counts := concat_ws(' ', nullif(v_counts, ''), (select count(*) from wf.instance i join wf.workflow w on w.id = i.workflow_id where w.name = 'short' and i.ended_at is not null)::text);
        exit when (select p.next_at > wf.now() from wf.purge p order by p.id desc limit 1);
    end loop;
    return v_counts;
end;
$$;
select is(pieces(:driver), '150 50 0', 'a poll looks at 1000 and purges 100 at most');
select play_later('2 days');
select purge_one(:driver);
select is(signatures(), '3 5', 'where many older instances are left, no signature goes');
select is_empty('select * from wf.fsck()', 'the workspace is sound');
select play_later('-1 day');
select wf.tick(), wf.tick();
select is((select next_at from wf.purge where next_at is not null order by id desc limit 1), wf.now() + interval '1 hour', 'a clock that goes back does not stop it');
select wf.setting_set('keep_days', 0);

-- tables are reached through their indexes
create temporary table seen as select relname, seq_scan, idx_scan from pg_stat_xact_user_tables where schemaname = 'wf';
select wf.start('short') from generate_series(1, 3);
select play_on(:driver);
select play_later('1 day');
select is((select count(*) from wf.purge('{"older_than": "1 hour"}')), 3::bigint, 'three go');
select set_eq($$select n.relname::text from pg_stat_xact_user_tables n join seen s using (relname) where n.schemaname = 'wf' and n.seq_scan > s.seq_scan
                   and n.relname in ('instance', 'process', 'event', 'binding', 'binding_past', 'output_chunk', 'txn')$$, '{}'::text[], 'no table of theirs is read from end to end');

-- a large instance goes in portions
set local wf.now = '2026-06-01 00:00+00';
select play_install('large', jsonb_build_array(play_forall('x', (select jsonb_agg(k) from generate_series(1, 1500) k), '{"kind": "let", "line": 1, "as": "y", "value": 1}')));
select wf.start('large') as large \gset
select count(wf.work()) from generate_series(1, 5);
select is((select state from wf.instance where id = :large), 'END', 'a large instance has ended');
select count(*) as had from wf.process where instance_id = :large \gset
select is(purged(format('{"instance": %s}', :large)::jsonb), :large || ' begun', 'the purge of a large instance begins');
select is((select count(*) from wf.process where instance_id = :large), :had - 1000::bigint, 'a portion of it goes at once');
select is_empty('select * from wf.fsck()', 'fsck finds nothing between two portions of a purge');
select count(wf.work()) from generate_series(1, 5);
select is(left_of(:large), null, 'the rest goes by itself');
select is((select count(*) from wf.work where instance_id = :large), 0::bigint, 'no work is left after the purge in portions');

-- an instance that raises an error when it goes
create function stays() returns trigger language plpgsql as $$
begin
    raise exception 'it stays' using errcode = 'XX001';
end;
$$;
select wf.start('short') as stuck, wf.start('short') as other \gset
select play_on(:driver);
select format('create trigger stays before delete on wf.instance for each row when (old.id = %s) execute function stays()', :stuck) \gexec
select wf.setting_set('keep_days', 30), play_later('7 days');
select lives_ok($$select wf.tick(), play_later('7 days') from generate_series(1, 12)$$, 'upkeep goes on when an old instance raises an error');
select is(left_of(:other), null, 'others of its batch are purged');
select is(left_of(:stuck), '{binding,event,instance,process}', 'the instance that raises an error stays');
select results_eq($$select class, check_name, instance_id, detail from wf.fsck()$$,
    format($$values ('attention', 'work: set aside', %s::bigint, 'purge: it stays')$$, :stuck), 'after three tries it is set aside, and fsck tells of it');
select is((select count(*) from wf.work), 1::bigint, 'the instance that raises an error is not tried again');
drop trigger stays on wf.instance;

select * from finish();
rollback;
