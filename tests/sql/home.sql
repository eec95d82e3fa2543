-- home.sql - a workspace that comes up somewhere else, or as it was before: its
-- engine is paused before anything is sent, and says why.
begin;
\ir helper/play.sql
select no_plan();

select play_install('one', jsonb_build_array(play_task('t.Do', 'a')));
-- paused(): why the engine is paused
create function paused() returns text language sql as $$ select v.reason from wf.engine_v v where v.state = 'PAUSED'; $$;
-- move(WHAT, VALUE): the workspace was elsewhere when it last looked
create function move(p_what text, p_value text) returns void language plpgsql as $$
begin
    execute format('update wf.home set %I = %L', p_what, p_value);
end;
$$;

-- a template moves as it likes
select move('system_id', '7');
select play_driver() as driver \gset
select is(paused(), null, 'where no driver has ever worked nothing is to be feared');
select is((select h.system_id from wf.home h), (select c.system_identifier from pg_control_system() c), 'a workspace is at home once a driver has worked');

-- another cluster, another database, a backup
select move('system_id', '7');
select wf.tick();
select is(paused(), format('this is a copy: the workspace was in the cluster 7 and is now in %s', (select c.system_identifier from pg_control_system() c)), 'another cluster');
select wf.start('one') as i \gset
select is(play_take(:driver), 0::bigint, 'nothing is sent');
select move('system_id', '7');
select wf.tick();
select is((select count(*) from wf.engine_event_v), 1::bigint, 'the reason of a pause is not repeated');
select wf.engine_resume();
select wf.tick();
select is(paused(), null, 'somebody has looked: it goes on');
select move('database_id', '7');
select wf.tick();
select is(paused(), format('this is a copy: the workspace was in the database with oid 7 and is now in %s', (select d.oid from pg_database d where d.datname = current_database())), 'another database');
select wf.engine_resume();
-- only a function of the superuser who installed reads the server's files
select ok(not has_function_privilege('wf_owner', 'pg_show_all_file_settings()', 'execute'), 'the owner of the workspace may not read the server''s files');
select set_eq($$ select r.rolname from pg_proc p cross join lateral aclexplode(p.proacl) a join pg_roles r on r.oid = a.grantee
                  where p.oid = 'wf._restored_file()'::regprocedure and not r.rolsuper $$, array['wf_owner'],
              'only the superuser may call the function that reads one line of a file');

-- say(TEXT): what the owner of the database says
create function say(p_text text) returns void language plpgsql as $$
begin
    execute format('alter database %I set wf.restored = %L', current_database(), p_text);
end;
$$;
select set_config('wf.restored', 'of Monday', true);
select wf.tick();
select is(paused(), null, 'a setting of a session is not taken for a backup');
select say('of Sunday');
select wf.tick();
select is(paused(), 'a backup was restored: the server says wf.restored = ''of Sunday''', 'a backup of which the server is told');
select wf.engine_resume();
select wf.tick();
select is(paused(), null, 'a text counts once');
select say('');
select wf.tick();
select is(paused(), null, 'a setting that is empty again is no reason to pause');

-- the server was away: every driver gets a new term
select play_later('29 s');
select move('started_at', 'epoch');
select play_driver('two') as two \gset
select play_later('29 s');
select wf.tick();
select is((select d.state from wf.driver d where d.id = :driver), 'live', 'a driver that comes back in a new term is still known');
select is(paused(), null, 'the engine is not paused when its server was away');

-- what a driver has seen, and what is there
-- mark(WHAT): as a poll gives it
create function mark(p_what text) returns text language sql as $$ select wf._sealed(p_what, s.key) from wf.seal s; $$;
select mark(max(t.xid || '@' || extract(epoch from t.at))) as mark from wf.txn t \gset
select ok(wf._has_mark(:'mark'), 'a mark of what was done is found');
select wf.register('two', '1', '{builtin}', '{}', 10, :two, p_marks => array[:'mark']) as two \gset
select is(paused(), null, 'a driver that has seen it may come back');
select wf.register('two', '1', '{builtin}', '{}', 10, :two, p_marks => array[:'mark', mark('99999999999@1767225600.000000')]) as two \gset
select is(paused(), null, 'a mark from before the engine was resumed the last time says nothing new');
select play_later('1 s');
select extract(epoch from wf.now()) as later \gset
select wf.register('two', '1', '{builtin}', '{}', 10, :two, p_marks => array[:'mark', mark('99999999999@' || :'later')]) as two \gset
select is(paused(), format('history was lost: driver two saw what was done in transaction 99999999999 at %s, and it is not there', to_timestamp(:later)), 'a driver that has seen more than the workspace pauses the engine');
select throws_ok(format('select wf.register(''two'', ''1'', ''{builtin}'', ''{}'', 10, p_marks => array[%L])', mark), 'WF015', coalesce(quote_literal(left(mark, 100)), 'null') || ' is not a mark of this workspace', 'a malformed mark is refused')
  from unnest(array['', '7', '7@8', '-7@1767225600.000000', '7@1767225600.000000', :'mark' || '0', replace(:'mark', '@', '0@'), left(:'mark', -1), split_part(:'mark', '#', 1), upper(:'mark') || '', '#', null]) mark
 where mark is distinct from :'mark';
select wf.engine_resume();
select is(play_take(:driver), 1::bigint, 'waiting tasks are sent when the engine is resumed');

-- the session of a driver is known by its server process, that of its last name only
create function sessions() returns bigint[] language sql as $$
    select array_agg(d.id order by d.id) from wf.driver d where wf._has_session(d);
$$;
select wf.register('held', '1', '{builtin}', '{}', 10, p_backend => pg_backend_pid()) as first \gset
select is(sessions(), array[:first]::bigint[], 'a driver that names its own session is known by it');
select wf.register('held', '1', '{builtin}', '{}', 10, :first, p_backend => pg_backend_pid()) as second \gset
select is(sessions(), array[:second]::bigint[], 'a session is known by its last name');
select wf.register('pooled', '1', '{builtin}', '{}', 10, p_backend => 1) as pooled \gset
select is(sessions(), array[:second]::bigint[], 'a driver that names another session has none');
select play_later('6 s');
select wf.heartbeat(:second), wf.tick();
select is((select d.state from wf.driver d where d.id = :pooled), 'live', 'a driver without a session is waited for as long as its lease');
update wf.driver d set login = 'wf_driver'::regrole where d.id = :second;
select is(sessions(), null, 'a process of another login is not its session');
select play_later('6 s'), wf.tick();
select is((select d.state from wf.driver d where d.id = :second), 'lost', 'a driver whose session is gone is given up soon');

-- programs of other versions
select is(wf.greet(wf.schema_version()), wf.schema_version(), 'a program of this version is greeted with it');
select is(wf.greet(8), wf.schema_version(), 'the oldest known program is greeted');
select throws_ok('select wf.greet(7)', 'WF011', format('the workspace has schema version %s, this program knows 7', wf.schema_version()), 'a program that is too old is refused');
select throws_ok(format('select wf.greet(%s)', wf.schema_version() + 1), 'WF011', format('the workspace has schema version %s, this program needs %s', wf.schema_version(), wf.schema_version() + 1), 'a program that is too new is refused');
select throws_ok('select wf.greet(null)', 'WF002', null, 'a program without a version is refused');
select is_empty('select * from wf.fsck()', 'all is well in the end');

select * from finish();
rollback;
