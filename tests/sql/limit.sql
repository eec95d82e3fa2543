-- limit.sql - how many processes an instance may have, in all and at a time, and
-- how much its names may hold.
begin;
\ir helper/play.sql
select no_plan();
select play_driver() as driver \gset

-- a forall over a range, in which a let binds nothing large
create function a_forall(p_name text, p_last int, p_body jsonb default '{"kind": "let", "line": 1, "as": "y", "value": 1}') returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'forall', 'line', 1, 'name', p_name, 'in', jsonb_build_array('range', 1, p_last), 'body', p_body);
$$;
create function limit_to(p_name text, p_value bigint) returns void language sql as $$
    update wf.setting set value = p_value::text where name = p_name;
$$;
create function failure(p_instance bigint, p_name text) returns text language sql as $$
    select concat_ws(' ', p.state, p.error ->> 'kind') from wf.process p where p.instance_id = p_instance and p.id = play_id(p_instance, p_name);
$$;
-- works until nothing is left to do by itself
create function work_on() returns void language plpgsql as $$
begin
    for k in 1 .. 1000 loop
        exit when wf.work() is null;
    end loop;
end;
$$;

-- all that an instance ever has
select limit_to('instance_processes', 1000);
select play_install('long', jsonb_build_array(a_forall('x', 999)));
select wf.start('long') as i \gset
select is(failure(:i, 'forall'), 'FAILED limit', 'a forall that may bring its instance to more processes than it may have fails, kind limit');
select is((select error ->> 'message' from wf.process where id = play_id(:i, 'forall')),
    'the elements of this forall may come to 999 processes and the instance to 1001, more than the 1000 that it may have in all (setting instance_processes)', 'the message names the numbers and the setting instance_processes');
select is((select count(*) from wf.process where instance_id = :i), 2::bigint, 'none of its elements has begun');
select matches((select string_agg(e.detail, ' ') from wf.explain(:i, play_id(:i, 'forall')) e), '1001, more than the 1000', 'explain gives the reason');
select limit_to('instance_processes', 1001);
select count(*) from wf.retry(jsonb_build_object('instance', :i)) \gset x_
select work_on();
select is((select state from wf.instance where id = :i), 'END', 'with a larger setting a retry takes it to its end');
select is((select count(*) from wf.process where instance_id = :i), 1001::bigint, 'the instance has had exactly as many processes as it may have');

-- foralls in a forall, and one after another
select play_install('nested', jsonb_build_array(a_forall('x', 30, a_forall('z', 30))));
select limit_to('instance_processes', 932);
select wf.start('nested') as i \gset
select work_on();
select is((select state from wf.instance where id = :i), 'END', 'foralls in a forall add up');
select is((select count(*) from wf.process where instance_id = :i), 932::bigint, 'the foralls have begun as many processes as were reserved');
select limit_to('instance_processes', 931);
select wf.start('nested') as i \gset
select work_on();
select is((select count(*) from wf.process p where p.instance_id = :i and p.state = 'FAILED' and p.error ->> 'kind' = 'limit'), 1::bigint, 'only the forall fails that would be too much');
select is((select count(*) from wf.failed f where f.instance_id = :i), 1::bigint, 'the forall that is too large waits for an operator');
select is_empty('select * from wf.fsck()', 'nothing contradicts it');
select play_install('two', jsonb_build_array(play_par(a_forall('x', 5000), a_forall('z', 3))));
select limit_to('instance_processes', 1000);
select wf.start('two') as i \gset
select work_on();
select results_eq(format($$select state from wf.process where instance_id = %s and kind = 'forall' order by id$$, :i), $$values ('FAILED'), ('END')$$, 'a forall that fits goes on beside one that does not');

-- what begins is never more than what was reserved, whatever is in the body
create function a_let(p_value jsonb) returns jsonb language sql as $$
    select jsonb_build_object('kind', 'let', 'line', 1, 'as', 'r', 'value', p_value); $$;
select limit_to('instance_processes', 10000000);
select play_install('mixed', jsonb_build_array(a_forall('x', 10, play_seq(
    jsonb_build_object('kind', 'if', 'line', 1, 'condition', true, 'then', play_seq(a_let('1')), 'else', a_let('2')),
    play_par(jsonb_build_object('kind', 'let', 'line', 1, 'as', 'q', 'value', 1), jsonb_build_object('kind', 'let', 'line', 1, 'as', 's', 'value', 1)), a_forall('z', 4)))));
select wf.start('mixed') as i \gset
select work_on();
select is((select state from wf.instance where id = :i), 'END', 'an if, a par and a forall in the body of a forall');
select is((select e.processes + n.most from wf.extent e join wf.instance i on i.id = e.instance_id join wf.node n on n.version_id = i.version_id and n.id = 1 where i.id = :i),
    (select count(*) from wf.process where instance_id = :i), 'come to what install worked out');
select is((select live from wf.extent where instance_id = :i), 0::bigint, 'nothing is held when it is over');

-- live processes: each element may have two, of at most 1,000 open ones
select play_install('wide', jsonb_build_array(a_forall('x', 5000, play_seq(play_task('t.Do', 'a'), play_task('t.Do', 'b')))));
select limit_to('instance_live', 2001);
select wf.start('wide') as i \gset
select is(failure(:i, 'forall'), 'FAILED limit', 'a forall that may have more processes under way than its instance may have fails');
select is((select error ->> 'message' from wf.process where id = play_id(:i, 'forall')),
    'the elements of this forall may have 2000 processes under way at a time and the instance 2002, more than the 2001 allowed (setting instance_live)', 'the message names the numbers and the setting instance_live');
select limit_to('instance_live', 2002);
select count(*) from wf.retry(jsonb_build_object('instance', :i)) \gset x_
select is(failure(:i, 'forall'), 'ACTIVE', 'with a larger setting a retry lets it begin');
select is((select live from wf.extent where instance_id = :i), 2000::bigint, 'the retried forall holds the processes that it may have under way');
select wf.start('wide') as other \gset
select is(failure(:other, 'forall'), 'ACTIVE', 'another instance has a limit of its own');
select count(*) from wf.abort(jsonb_build_object('instance', jsonb_build_array(:i, :other))) \gset x_
select work_on();
select is((select sum(live) from wf.extent where instance_id in (:i, :other)), 0::numeric, 'a teardown gives all reserved processes back');
select is_empty('select * from wf.fsck()', 'fsck finds nothing after the teardown');
select limit_to('instance_live', 1000000);

-- a catch takes the error
select limit_to('instance_processes', 1000);
select play_install('caught', jsonb_build_array(jsonb_build_object('kind', 'try', 'line', 1, 'body', a_forall('x', 5000),
    'catches', jsonb_build_array(jsonb_build_object('kind', 'catch', 'line', 1, 'name', 'e', 'when', '["eq", ["get", ["var", "e"], "kind"], "limit"]'::jsonb, 'reads', '{"e": 0}'::jsonb, 'body', a_let('1'))))));
select wf.start('caught') as i \gset
select work_on();
select is((select state from wf.instance where id = :i), 'END', 'a catch takes the error');
select limit_to('instance_processes', 10000000);

-- values of names: each element makes one of 10,000 bytes
select play_install('fat', jsonb_build_array(a_forall('x', 100, play_seq(
    play_task('t.Do', 'a', '{"x": ["call", "lpad", "x", 10000]}'), play_task('t.Sleep', 's', '{"duration": "PT1S"}')))));
select limit_to('instance_bytes', 65536);
select set_config('wf.now', '2026-03-01 12:00:00+00', true);
select wf.start('fat') as i \gset
do $$ begin perform play_on((select max(id) from wf.driver), 1) ; end $$;
select is((select count(*) from wf.process where instance_id = :i and bind = 'a' and state = 'END'), 6::bigint, 'six values of 10,000 bytes fit into 65,536');
select is((select count(*) from wf.process where instance_id = :i and bind = 'a' and state = 'FAILED' and error ->> 'kind' = 'limit'), 94::bigint, 'a task with another one fails, kind limit');
select matches((select error ->> 'message' from wf.process where instance_id = :i and bind = 'a' and state = 'FAILED' limit 1),
    '^with this value of 100\d\d bytes the names of the instance would hold 70\d\d\d bytes, more than the 65536 allowed \(setting instance_bytes\)$', 'the message names the numbers and the setting instance_bytes');
select matches((select string_agg(e.detail, ' ') from wf.process p, wf.explain(:i, p.id) e where p.instance_id = :i and p.bind = 'a' and p.state = 'FAILED'), 'more than the 65536 allowed', 'explain gives the reason');
-- those elements end: their names are read no more
select play_later('2 s'), play_on(:driver);
select count(*) from wf.retry(jsonb_build_object('instance', :i, 'failed', true)) \gset x_
do $$ begin perform play_on((select max(id) from wf.driver), 1) ; end $$;
select is((select count(*) from wf.process where instance_id = :i and bind = 'a' and state = 'END'), 12::bigint, 'when their scopes have ended there is room for six more');
do $$ begin
    for k in 1 .. 20 loop
        perform play_later('2 s'), play_on((select max(id) from wf.driver), 1);
        begin
            perform wf.retry('{"failed": true, "workflow": "fat"}');
        exception when sqlstate 'WF003' then null;
        end;
        perform play_on((select max(id) from wf.driver), 1);
    end loop;
end $$;
select is((select state from wf.instance where id = :i), 'END', 'the elements end when the earlier scopes have ended');

-- a let, a call's parameters, and what a forall collects
select play_install('lets', (select jsonb_agg(jsonb_build_object('kind', 'let', 'line', 1, 'as', 'v' || k, 'value', '["call", "lpad", ["var", "s"], 10000]'::jsonb, 'reads', '{"s": 0}'::jsonb)) from generate_series(1, 8) k),
    '[{"name": "s", "type": "string"}]');
select wf.start('lets', '{"s": "x"}') as i \gset
select is((select count(*) from wf.process where instance_id = :i and kind = 'let' and state = 'END'), 6::bigint, 'lets bind as much as there is room for');
select is(failure(:i, 'v7'), 'FAILED limit', 'the next one fails, kind limit');
select play_install('hoard', jsonb_build_array(
    play_forall('x', (select jsonb_agg(k) from generate_series(1, 20) k), jsonb_build_object('kind', 'let', 'line', 1, 'as', 'y', 'value', 1))
    || jsonb_build_object('collect', jsonb_build_array(jsonb_build_object('as', 'all', 'value', '["call", "lpad", "x", 10000]'::jsonb)))));
select wf.start('hoard') as i \gset
select work_on();
select is(failure(:i, 'forall'), 'FAILED limit', 'a forall that collects more fails, kind limit');
select cmp_ok((select sum(octet_length(value::text)) from wf.forall_result where instance_id = :i), '<=', 70000::bigint, 'a forall over the limit keeps no more results than the limit');
select limit_to('instance_bytes', 16777216);

-- no transaction begins more than about 1,000 processes of an instance
create function begun(p_instance bigint) returns bigint language sql as $$
    select count(*) from wf.process p where p.instance_id = p_instance; $$;
-- begins the rest, one piece of work after another; the most that one of them began
create function most_begun(p_instance bigint) returns bigint language plpgsql as $$
declare
    v_most bigint := 0;
    v_had bigint := begun(p_instance);
begin
    for k in 1 .. 100 loop
        exit when not exists (select from wf.work w where w.instance_id = p_instance);
        perform wf.work();
        v_most := greatest(v_most, begun(p_instance) - v_had);
        v_had := begun(p_instance);
    end loop;
    return v_most;
end;
$$;
select play_install('branches', jsonb_build_array(jsonb_build_object('kind', 'par', 'line', 1, 'branches',
    (select jsonb_agg(play_task('t.Do', 'b' || k)) from generate_series(1, 2500) k))));
select play_install('leafy', jsonb_build_array(a_forall('x', 200, jsonb_build_object('kind', 'par', 'line', 1, 'branches',
    (select jsonb_agg(play_task('t.Do', 'b' || k)) from generate_series(1, 50) k)))));
select play_install('square', jsonb_build_array(a_forall('x', 80, a_forall('z', 80, play_task('t.Do', 'b')))));
create temp table large as
    select w.name, w.processes, wf.start(w.name) as i
      from (values ('branches', 2502), ('leafy', 10202), ('square', 6482)) w (name, processes);
select cmp_ok(begun(i), '<=', 1200::bigint, format('%s: a start begins no more than about 1,000 processes', name)) from large;
select is((select count(*) > 0 from wf.pending p where p.instance_id = i), true, format('%s: the rest is pending', name)) from large;
select is_empty('select * from wf.fsck()', 'nothing contradicts it');
select wf.start('leafy') as leafy \gset
select count(*) from wf.abort(jsonb_build_object('instance', :leafy)) \gset x_
select cmp_ok(most_begun(i), '<=', 1200::bigint, format('%s: nor does any piece of work', name)) from large;
select is(begun(i), processes::bigint, format('%s: all of it has begun then', name)) from large;
select work_on();
select is_empty('select w.error from wf.work w', 'no work is left');
select is((select state from wf.instance where id = :leafy), 'ABORTED', 'an instance that is aborted before all of it has begun ends');
select is_empty('select * from wf.fsck()', 'fsck finds nothing after the abort');
do $$ begin perform play_on((select max(id) from wf.driver)); end $$;
select is((select state from wf.instance where id = i), 'END', format('%s: it comes to its end', name)) from large;

-- what each instance begins with is counted for itself
select play_install('short', jsonb_build_array(play_task('t.Do', 'a')));
select play_install('pair', jsonb_build_array(a_forall('x', 2)));
select count(*) from wf.start_many('short', (select jsonb_agg('{}'::jsonb) from generate_series(1, 1500))) \gset x_
select is((select count(*) from wf.ready r join wf.instance_v i using (instance_id) where i.workflow = 'short'), 1500::bigint, 'all of 1,500 instances that start in one transaction begin there');
select count(*) from wf.start_many('pair', (select jsonb_agg('{}'::jsonb) from generate_series(1, 1500))) \gset x_
select is((select count(*) from wf.instance_v i where i.workflow = 'pair' and i.result = 'success'), 1500::bigint, 'the foralls of 1,500 instances end, too');

-- small values are not counted
select play_install('crumbs', jsonb_build_array(a_forall('x', 500, jsonb_build_object('kind', 'let', 'line', 1, 'as', 'y', 'value', '["call", "lpad", "x", 1000]'::jsonb))));
select wf.start('crumbs') as i \gset
select work_on();
select is((select state from wf.instance where id = :i), 'END', 'values of less than 4 KiB are not counted');
select is_empty('select * from wf.fsck()', 'all is well in the end');

select * from finish();
rollback;
