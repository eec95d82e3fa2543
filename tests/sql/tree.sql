-- tree.sql - the tree of an instance, whole and page by page.
begin;
\ir helper/play.sql
select plan(26);

-- pages(INSTANCE, LIMIT): the whole tree, page by page.
create function pages(p_instance bigint, p_limit int) returns table (process_id bigint, depth int, label text, note text)
language plpgsql as $$
declare
    v_after bigint;
begin
    loop
        return query select t.process_id, t.depth, t.label, t.note from wf.tree(p_instance, p_limit, v_after) t;
        v_after := (select t.process_id from wf.tree(p_instance, p_limit, v_after) with ordinality t order by t.ordinality desc limit 1);
        exit when v_after is null;
    end loop;
end;
$$;

-- differs(INSTANCE): for which page sizes that is not the whole.
create function differs(p_instance bigint) returns setof int
language sql as $$
    select k
      from generate_series(1, 9) k
     where array(select row(p.*)::text from pages(p_instance, k) p)
           <> array(select row(t.process_id, t.depth, t.label, t.note)::text from wf.tree(p_instance) t);
$$;

-- a forall in a forall, and what comes before and after
select play_install('deep', jsonb_build_array(
    play_task('t.Do', 'first'),
    play_forall('x', '["a", "b", "c"]', play_seq(
        play_forall('y', '[1, 2]', play_par(play_task('t.Do', 'd'), play_task('t.Sleep', 's', '{"duration": "PT1H"}'))),
        play_task('t.Do', 'e'))),
    play_task('t.Do', 'last')));
select play_driver() as driver \gset
select wf.start('deep') as i \gset
select play_take(:driver);
select play_report(play_id(:i, 'first'));
select play_take(:driver);
select play_report(p.id) from wf.process p where p.bind = 'd' and p.index is null;

select is((select count(*) from wf.tree(:i)), (select count(*) from wf.process p where p.instance_id = :i), 'the tree has every process');
select is_empty(format('select * from differs(%s)', :i), 'the pages have every process, in the same order');
select is((select count(*) from wf.tree(:i, 7)), 7::bigint, 'a page has as many as were asked for');
select is_empty(format('select * from wf.tree(%s, 0)', :i), 'be it none');
select ok((select bool_and(p.wide) from wf.process p where p.instance_id = :i and p.parent_id is not null), 'the processes of a wide node are found by their parent');
select is((select count(*) from wf.tree(:i, 1000) t where t.note like 'waits until %'), 6::bigint, 'a page says what there is to know');

-- undos, last first, whatever numbers the sessions give that begin them
create function with_undo(p_node jsonb) returns jsonb
language sql as $$ select p_node || jsonb_build_object('undo', jsonb_build_object('kind', 'undo', 'line', 5, 'body', play_task('t.Do', 'un_' || (p_node ->> 'as')))); $$;
create function try(p_body jsonb) returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'try', 'line', 2, 'body', p_body, 'catches', jsonb_build_array(
               jsonb_build_object('kind', 'catch', 'line', 3, 'name', 'e', 'body', play_task('t.Do', 'k'))));
$$;
-- undo_all(DRIVER, INSTANCE): answers all but c, which fails. The later a process begins, the smaller is its number.
create function undo_all(p_driver bigint, p_instance bigint) returns void language plpgsql as $$
declare
    v_next bigint := (select max(id) + 10000 from wf.process);
begin
    loop
        perform play_take(p_driver);
        exit when not exists (select from wf.process p where p.instance_id = p_instance and p.state = 'START_REQUESTED');
        v_next := v_next - 100;
        perform play_later('1 s'), setval('wf.process_id', v_next);
        perform case p.bind when 'c' then play_fail(p.id) else play_report(p.id) end
           from wf.process p where p.instance_id = p_instance and p.state = 'START_REQUESTED';
    end loop;
end;
$$;
create function drawn(p_instance bigint, p_limit int default null) returns text
language sql as $$ select string_agg(replace(p.label, 't.Do as ', ''), ', ' order by k) from pages(p_instance, p_limit) with ordinality p (id, depth, label, note, k) where p.label ~ '^(t.Do|undo of)'; $$;
select play_install('undone', jsonb_build_array(try(play_seq(with_undo(play_task('t.Do', 'a')), with_undo(play_task('t.Do', 'b')), play_task('t.Do', 'c')))));
select play_install('elements', jsonb_build_array(try(play_forall('x', '[1, 2, 3]', play_seq(with_undo(play_task('t.Do', 'a')), jsonb_build_object('kind', 'if', 'line', 1, 'condition', '["eq", ["var", "x"], 3]'::jsonb, 'reads', '{"x": 1}'::jsonb, 'then', play_task('t.Do', 'c')))) || '{"max": 1}')));
select wf.start('undone') as u \gset
select undo_all(:driver, :u);
select is(drawn(:u), 'a, b, c, undo of b, un_b, undo of a, un_a, k', 'undos stand below what was given up, last first');
select is_empty(format('select * from differs(%s)', :u), 'page by page, too');
select wf.start('elements') as u \gset
select undo_all(:driver, :u);
select is(drawn(:u), 'a, a, a, c, undo of a [2], un_a, undo of a [1], un_a, undo of a [0], un_a, k', 'below a forall behind its elements, each with the index of its own');
select is_empty(format('select * from differs(%s)', :u), 'the pages have every undo, in the same order');

-- a page reads no more than what it shows
select play_install('small', jsonb_build_array(play_task('t.Do', 'd')));
select play_install('fan', jsonb_build_array(play_forall('x', (select jsonb_agg(k) from generate_series(1, 900) k), play_task('t.Do', 'd')), play_task('t.Do', 'last')));
select wf.start('fan') as f \gset
create function read_by(p_query text) returns bigint language plpgsql as $$
declare
    v_before bigint := (select t.idx_tup_fetch + t.seq_tup_read from pg_stat_xact_user_tables t where t.schemaname = 'wf' and t.relname = 'process');
begin
    execute p_query;
    return (select t.idx_tup_fetch + t.seq_tup_read from pg_stat_xact_user_tables t where t.schemaname = 'wf' and t.relname = 'process') - v_before;
end;
$$;
select ok(read_by(format('select count(*) from wf.tree(%s)', :f)) > 900, 'the whole tree is read for the whole tree');
select ok(read_by(format('select count(*) from wf.tree(%s, 10)', :f)) < 100, 'a page is found by the index');
select ok(read_by(format('select count(*) from wf.tree(%s, 10, %s)', :f, (select p.id from wf.process p where p.instance_id = :f and p.index = 700))) < 100, 'a later page is found by the index, too');
select is((select string_agg(substring(label from '\[\d+\]'), '') from wf.tree(:f, 3, (select p.id from wf.process p where p.instance_id = :f and p.index = 700))), '[701][702][703]', 'a page goes on after the last row of the former one');

-- nor does explain, also where instances are small, as far as the planner knows
select count(*) from wf.start_many('small', (select jsonb_agg('{}'::jsonb) from generate_series(1, 2000)));
select play_driver() as driver \gset
select play_take(:driver, 2500);
select play_report(process_id) from play_request where driver_id = :driver and instance_id = :f limit 3;
analyze wf.process;
select ok(read_by(format('select wf.explain(%s, %s)', :f, max(p.id))) < 20, format('explain of one that is %s reads no others', p.state))
  from wf.process p
 where p.instance_id = :f and p.kind = 'sync' and p.state in ('END', 'START_REQUESTED')
 group by p.state;

-- nor does explain of an instance most of whose processes have ended
select play_take(:driver, 2500);
select play_take(:driver, 2500);
select count(*) from (select play_report(p.id) from wf.process p where p.instance_id = :f and p.state = 'START_REQUESTED' and p.index < 890) x;
select is((select count(*) from wf.process p where p.instance_id = :f and p.kind = 'sync' and p.state <> 'END'), 10::bigint, 'all but ten have ended');
create function explained(p_instance bigint) returns text language sql as $$ select string_agg(format('%s %s %s', process_id, reason, detail), e'\n' order by process_id, reason, detail) from wf.explain(p_instance); $$;
select explained(:f) as whole, read_by(format('select * from wf.explain(%s)', :f)) as read_whole \gset
update wf.extent set processes = 100000 where instance_id = :f;
select ok(:read_whole > 900 and read_by(format('select * from wf.explain(%s)', :f)) < 300, 'a large instance is explained from the places of its processes');
select is(explained(:f), :'whole', 'with the same reasons');
set local session_replication_role = replica;
update wf.process p set state = 'START_REQUESTED' where p.id = (select max(q.id) from wf.process q where q.instance_id = :f and q.kind = 'sync' and q.state = 'END');
update wf.process p set open = open + 1 where p.instance_id = :f and p.kind = 'forall';
set local session_replication_role = origin;
select matches(explained(:f), 'stuck', 'a process that is in no place is found, too: the number of its siblings tells');

-- few processes: no index holds them
select play_install('small', jsonb_build_array(play_task('t.Do', 'a'), play_par(play_task('t.Do', 'b'), play_task('t.Do', 'c')), play_task('t.Do', 'd')));
select wf.start('small') as s \gset
select play_take(:driver);
select play_report(play_id(:s, 'a'));
select is((select count(*) from wf.process p where p.instance_id = :s and p.wide), 0::bigint, 'a node with few processes is in no index');
select is_empty(format('select * from differs(%s)', :s), 'a node with few processes has the same pages');

-- refused
select throws_ok('select * from wf.tree(999999)', 'WF003', 'there is no instance 999999', 'an unknown instance');
select throws_ok(format('select * from wf.tree(%s, 5, 999999)', :i), 'WF003', format('instance %s has no process 999999', :i), 'an unknown process');
select throws_ok(format('select * from wf.tree(%s, 5, %s)', :i, play_id(:s, 'a')), 'WF003', format('instance %s has no process %s', :i, play_id(:s, 'a')), 'one of another instance');
select throws_ok(format('select * from wf.tree(%s, -1)', :i), 'WF002', 'the limit must be at least 0, not -1', 'a limit below 0');

select * from finish();
rollback;
