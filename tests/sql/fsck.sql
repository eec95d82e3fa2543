-- fsck.sql - each of its checks finds what it is there for.
begin;
\ir helper/play.sql
select plan(62);

-- broken(STATEMENT): what fsck finds after a statement that no trigger saw;
-- the statement is undone.
create function broken(p_statement text) returns text[]
language plpgsql as $$
declare
    v_found text[];
begin
    begin
        perform set_config('session_replication_role', 'replica', true);
        execute p_statement;
        v_found := array(select distinct f.check_name from wf.fsck() f order by 1);
        raise exception using errcode = 'UNDO1';
    exception when sqlstate 'UNDO1' then
        return v_found;
    end;
end;
$$;

-- finds(CHECK, STATEMENT)
create function finds(p_check text, p_statement text) returns text
language sql as $$
    select ok(p_check = any (f), p_check || ': ' || p_statement) || case when p_check = any (f) then '' else E'\n' || diag('found: ' || f::text) end
      from broken(p_statement) f;
$$;

select play_install('mixed', jsonb_build_array(play_par(
    play_task('t.Do', 'a'),
    play_task('t.Do', 'b'),
    play_task('t.Job', 'j'),
    play_task('t.Job', 'k'),
    play_task('t.Sleep', 's', '{"duration": "PT1H"}'),
    play_forall('x', '[1, 2, 3]', play_task('t.Do', 'd')),
    play_task('t.Do', 'g1', '{}', '{"group": {"name": "etl", "max": 1}}'),
    play_task('t.Do', 'g2', '{}', '{"group": {"name": "etl", "max": 1}}'))));
select play_driver() as driver \gset

select wf.start('mixed') as i \gset
select play_id(:i, 'a') as a, play_id(:i, 'b') as b, play_id(:i, 'j') as j, play_id(:i, 'k') as k, play_id(:i, 's') as s,
       play_id(:i, 'g1') as g1, play_id(:i, 'g2') as g2, play_id(:i, 'par') as par, play_id(:i, 'forall') as f \gset
select play_take(:driver);
select play_fail(:a);
select play_report(:b);
select play_report(p.id, 'release') from wf.process p where p.parent_id = :f;
select play_report(:j, 'ack');
select play_report(:j, 'response', '{"id": 1}');
select is_empty('select * from wf.fsck()', 'a healthy workspace');
select is(broken('select 1'), '{}', 'fsck finds nothing where nothing is broken');

-- work
select finds('place: row of no process, or of one in another state', format('update wf.process set state = ''END'' where id = %s', :j));
select finds('place: row of no process, or of one in another state', 'insert into wf.ready values (0, 0, 1, 1, 0, ''start'')');
select finds('place: row of no process, or of one in another state', format('update wf.lease set request = ''cleanup'' where process_id = %s', :k));
select finds('place: nothing can move it on, or more than one thing', 'delete from wf.ready');
select finds('place: nothing can move it on, or more than one thing', format('delete from wf.lease where process_id = %s', :k));
select finds('place: nothing can move it on, or more than one thing', format('delete from wf.timer where process_id = %s', :s));
select finds('place: nothing can move it on, or more than one thing', format('delete from wf.timer where process_id = %s', :j));
select finds('place: nothing can move it on, or more than one thing', format('delete from wf.parked where process_id = %s', :g2));
select finds('place: nothing can move it on, or more than one thing', format(
    'insert into wf.ready select instance_id, id, lane_id, 1, 0, ''poll'' from wf.process where id = %s', :j));
select finds('slot: held without need, or missing', format('delete from wf.slot where process_id = %s', :g1));
select finds('slot: held without need, or missing', format('insert into wf.slot select instance_id, id, group_id from wf.process where id = %s', :g2));
select finds('slot: row of no process, or of one that has ended', format('insert into wf.slot values (%s, %s, 1)', :i, :b));
select finds('lease: another token than its process', format('update wf.process set token = gen_random_uuid() where id = %s', :k));
select finds('lease: its driver is gone, and no poll has taken it back', 'update wf.driver set state = ''lost'', ended_at = wf.now() - interval ''1 hour''; update wf.lease set at = at - interval ''1 hour''');
select finds('failed: listed but not FAILED, or FAILED but not listed', 'delete from wf.failed');
select finds('failed: listed but not FAILED, or FAILED but not listed', format('insert into wf.failed values (%s, %s)', :i, :b));

-- tree
select finds('composite: open is not the number of children that have not ended', format('update wf.process set open = open + 1 where id = %s', :par));
select finds('composite: over, but something in it is not', format('update wf.process set state = ''END'' where id = %s', :f));
select finds('composite: elements to come do not add up', format('update wf.process set todo = 7 where id = %s', :f));
select finds('process: begun before what comes before it has ended', format('update wf.node n set next_id = p.node_id from wf.process p, wf.process q where p.id = %s and q.id = %s and n.version_id = q.version_id and n.id = q.node_id', :a, :f));
select finds('process: its parent does not exist', format('update wf.process set parent_id = 0 where id = %s', :b));
select finds('process: of no instance, or of another version', format('update wf.process set version_id = 0 where id = %s', :b));
select finds('instance: its root is in another state', format('update wf.instance set state = ''ABORTING'' where id = %s', :i));
select finds('instance: ended without a result, or the reverse', format('update wf.instance set result = ''success'' where id = %s', :i));
select finds('instance: over, but rows are left', format('update wf.instance set state = ''END'', result = ''success'', ended_at = at where id = %s', :i));
select finds('loss: of a process that does not exist', format('insert into wf.loss values (%s, 0, 1, ''start'', gen_random_uuid(), 1, now())', :i));
select finds('binding: of a scope that does not exist', format('insert into wf.binding values (%s, 0, ''x'', ''1'')', :i));
select finds('binding: skipped with a process that was not', format('insert into wf.binding values (%1$s, (select min(id) from wf.process where instance_id = %1$s), ''skipped_x'', ''null'', 0)', :i));
select finds('binding: a former value of a name that has none now', format('insert into wf.binding_past values (%s, 0, ''x'', 1, ''1'')', :i));

-- history
select finds('process: its last move is not legal', format('update wf.process set event = ''release'' where id = %s', :b));
select finds('history: a move that is not legal, or of no process', format('update wf.event set event = ''release'' where process_id = %s', :b));
select finds('history: does not begin at the beginning', format('delete from wf.event where process_id = %s and event = ''start''', :b));
select finds('history: attempts are not those that were asked for', format('update wf.process set attempt = 2 where id = %s', :b));
select finds('history: attempts are not those that were asked for', format('update wf.event set event = ''retry'' where process_id = %s', :b));
select finds('history: does not go on where it was', format('delete from wf.event where process_id = %s and event = ''start''', :j) || format('; update wf.event set was = ''INIT'' where process_id = %s and event = ''success''', :b));
select finds('history: does not end in the present state', format('delete from wf.event where process_id = %s', :b));
select finds('history: nobody signed it', 'delete from wf.txn');

-- a hand-written UPDATE is refused where triggers are on
select throws_ok(format('update wf.process set state = ''END'' where id = %s', :j), 'WF001', null, 'a forged state is refused');
select throws_ok(format('update wf.process set was = state, event = ''success'', state = ''END'' where id = %s', :j), 'WF001', null, 'an illegal move is refused');
-- a dag
select play_install('dag', '[{"kind": "dag", "line": 1, "branches": [{"kind": "task", "line": 1, "type": "t.Far", "args": {}}, {"kind": "task", "line": 1, "type": "t.Far", "args": {}}, {"kind": "task", "line": 1, "type": "t.Far", "args": {}}], "after": [[], [], [1, 2]]}]');
select wf.start('dag') as dag \gset
select play_id(:dag, 'dag') as d \gset
select finds('dag: a step is listed that has ended, or one that has not is missing', format('delete from wf.dag_step where process_id = %s and awaits is not null', :d));
select finds('dag: a step is listed that has ended, or one that has not is missing', format('update wf.process set state = ''ABORTING'' where id = %s', :d));
select finds('dag: a step does not await the last one before it that has not ended', format('update wf.dag_step set awaits = awaits - 1 where process_id = %s and awaits is not null', :d));
select finds('dag: a step does not await the last one before it that has not ended', format('update wf.dag_step set awaits = null where process_id = %s', :d));
select finds('process: begun before what comes before it has ended', format('update wf.process set node_id = 5 where parent_id = %s and node_id = 3', :d));

-- an undo
select play_install('undo', jsonb_build_array(play_task('t.Do', 'a') || jsonb_build_object('undo', jsonb_build_object('kind', 'undo', 'line', 1, 'body', play_task('t.Far', 'u'))), play_task('t.Far', 'b')));
select wf.start('undo') as undo \gset
select play_take(:driver), play_report(play_id(:undo, 'a'));
select play_id(:undo, 'a') as a \gset
select finds('undo: noted, but it has not ended well or has no undo', format('update wf.undo_note set node_id = 9 where process_id = %s', :a));
select finds('undo: noted, but it has not ended well or has no undo', format('update wf.process set state = ''FAILED'' where id = %s', :a));
select finds('undo: noted in other places than it is in', format('update wf.undo_note set path = ''{1}'' where process_id = %s', :a));
select finds('undo: ended, but not noted, and nothing of it is undone', format('delete from wf.undo_note where process_id = %s', :a));
select finds('undo: instance over, but something is noted', format('update wf.instance set state = ''END'' where id = %s', :undo));
select is_empty('select * from wf.fsck()', 'a healthy workspace with something noted');
select wf.abort(format('{"instance": %s}', :undo)::jsonb, null, true);
select finds('undo: under way in what is not torn down', format('update wf.process set state = ''ACTIVE'' where instance_id = %s and state = ''ABORTING''', :undo));

-- waits for instances, starts for later, signals
insert into play_type (name, spec) values ('t.Start', '{"name": "t.Start", "machine": "wait", "wait": "child", "params": [{"name": "workflow", "type": "string"}]}');
select play_install('family', jsonb_build_array(play_task('t.Start', 'a', '{"workflow": "undo"}')));
select wf.start('family') as family \gset
select wf.start('undo', p_at => wf.now() + interval '1 day') as later \gset
select finds('child: nothing tells it to go on', 'delete from wf.work where kind = ''child''');
select wf.work();
select finds('child: nothing tells it to go on', format('update wf.instance set state = ''END'' where parent_id = %s', :family));
select finds('child: nothing tells it to go on', format('delete from wf.instance where parent_id = %s', :family));
select finds('child: nothing tells it to go on', format('update wf.process set state = ''CANCEL_REQUESTED'' where instance_id = %s and kind = ''child''; update wf.instance set parent_id = null where parent_id = %1$s', :family));
select finds('scheduled: SCHEDULED but does not begin, or begins without being so', 'delete from wf.work where kind = ''start''');
select finds('scheduled: SCHEDULED but does not begin, or begins without being so', format('update wf.instance set state = ''RUNNING'' where id = %s', :later));
select finds('instance: its root is in another state', format('insert into wf.process select (jsonb_populate_record(p, jsonb_build_object(''instance_id'', %s))).* from wf.process p where p.instance_id = %s and p.parent_id is null', :later, :family));
select finds('signal: to no instance', 'insert into wf.signal (instance_id, name, payload, broadcast, sent_at, sender) values (0, ''x'', ''1'', false, now(), ''me'')');

select is_empty('select * from wf.fsck()', 'a healthy workspace still');

select * from finish();
rollback;
