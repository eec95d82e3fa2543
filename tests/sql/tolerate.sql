-- tolerate.sql - a forall that tolerates so many failures, and how many elements run at once.
begin;
\ir helper/play.sql
select no_plan();
select play_driver() as driver \gset

-- play_loop(NAME, BODY [, MORE]): a workflow of a forall over its parameter xs, and a return of what it has collected
create function play_loop(p_name text, p_body jsonb, p_more jsonb default '{}') returns void
language sql as $$
    select play_install(p_name, jsonb_build_array(
        jsonb_build_object('kind', 'forall', 'line', 2, 'name', 'x', 'in', '["var", "xs"]'::jsonb, 'reads', '{"xs": 0}'::jsonb, 'body', p_body,
                           'collect', '[{"as": "vs", "value": ["var", "v"]}]'::jsonb, 'collect_reads', '{"v": 1}'::jsonb) || p_more,
        '{"kind": "return", "line": 9, "value": ["var", "vs"], "reads": {"vs": 0}}'::jsonb), '[{"name": "xs", "type": {"list": "json"}}]');
$$;
create function play_end(p_instance bigint) returns text
language sql as $$ select concat_ws(' ', i.state, i.result, i.output) from wf.instance i where i.id = p_instance; $$;
create function play_element(p_instance bigint, p_index int) returns bigint
language sql as $$ select p.id from wf.process p where p.instance_id = p_instance and p.bind = 'v' and p.index = p_index; $$;
create function play_body() returns jsonb
language sql as $$ select jsonb_set(play_task('t.Do', 'v', '{"x": ["var", "x"]}'), '{reads,x}', '1'); $$;
create function play_list(p_count int) returns jsonb
language sql as $$ select jsonb_build_object('xs', jsonb_agg(g)) from generate_series(1, p_count) g; $$;

-- within the tolerance
select play_loop('two', play_body(), '{"tolerate": 2}');
select wf.start('two', play_list(4)) as i \gset
select play_take(:driver), play_fail(play_element(:i, 1), 'first');
select results_eq(format('select state, spare from wf.process where id in (%s, %s) order by id', play_id(:i, 'forall'), play_element(:i, 1)),
    $$values ('ACTIVE', 1), ('RAISED', null)$$, 'an element that fails within the tolerance is RAISED');
select is((select reason from wf.event where process_id = play_element(:i, 1) and event = 'raise'), 'given up by the forall in line 2', 'the history says why');
select is_empty('select * from wf.failed', 'nobody needs to decide');
select is_empty('select * from wf.fsck()', 'all is well');
select play_fail(play_element(:i, 3), 'second');
select play_report(play_element(:i, 0), 'response', '{"value": "a"}');
select play_report(play_element(:i, 2), 'response', '{"value": "c"}');
select is(play_end(:i), 'END warning ["a", null, "c", null]', 'the value of a tolerated element is null, and the result is warning');
select is_empty('select * from wf.given_up', 'nothing is left of what has failed');
select is_empty('select * from wf.fsck()', 'all is well');

-- one too many
select play_loop('one', play_body(), '{"tolerate": 1, "max": 3}');
select wf.start('one', play_list(6)) as i \gset
select play_take(:driver), play_fail(play_element(:i, 0), 'first');
select is((select count(*) from wf.process where instance_id = :i and bind = 'v'), 4::bigint, 'the next element begins in the place of a tolerated one');
select play_fail(play_element(:i, 1), 'second');
select is((select count(*) from wf.process where instance_id = :i and bind = 'v'), 4::bigint, 'after one failure too many no further element begins');
select is(play_state(:i, 'forall'), 'ACTIVE', 'elements that have begun go on after one failure too many');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select play_take(:driver), play_report(play_element(:i, 2), 'response', '{"value": 1}');
select play_fail(play_element(:i, 3), 'third');
select is(play_state(:i, 'forall'), 'FAILED', 'the forall fails when the elements have ended');
select is((select error - 'process' #- '{cause,detail,0,process}' #- '{cause,detail,1,process}' from wf.process where id = play_id(:i, 'forall')),
    '{"kind": "http", "detail": null, "attempt": 1, "message": "third", "cause": {"kind": "several", "message": "2 others failed", "detail": [
       {"kind": "http", "cause": null, "detail": null, "attempt": 1, "message": "first"}, {"kind": "http", "cause": null, "detail": null, "attempt": 1, "message": "second"}]}}',
    'with the last error, and the others as its cause in the order of the elements');
select is((select (error ->> 'process')::bigint from wf.process where id = play_id(:i, 'forall')), play_element(:i, 3), 'the error of the forall says which process failed');
select is_empty('select * from wf.fsck()', 'all is well while a person decides');
select wf.retry(format('{"process": %s}', play_id(:i, 'forall'))::jsonb);
select is((select count(*) from wf.process where instance_id = :i and bind = 'v' and state = 'INIT'), 3::bigint, 'a retry of it begins a new round');
select play_on(:driver);
select is(play_end(:i), 'END warning [1, 2, 3, 4, 5, 6]', 'a retried forall may end with a warning');
select is_empty('select * from wf.fsck()', 'all is well');

-- nothing tolerated; a catch around it
select play_install('caught', jsonb_build_array(
    jsonb_build_object('kind', 'try', 'line', 1,
        'body', '{"kind": "forall", "line": 2, "name": "x", "in": ["const", [1, 2, 3]], "tolerate": 0}'::jsonb || jsonb_build_object('body', play_seq(play_task('t.Do', 'v'), play_task('t.Do', 'w'))),
        'catches', '[{"kind": "catch", "line": 3, "name": "e", "body": {"kind": "return", "line": 3, "value": ["list", ["get", ["var", "e"], "message"], ["get", ["var", "e"], "cause"]], "reads": {"e": 0}}}]'::jsonb)));
select wf.start('caught') as i \gset
select play_take(:driver), play_fail(min(id), 'first') from wf.process where instance_id = :i and bind = 'v';
select play_on(:driver);
select play_report(id) from wf.process where instance_id = :i and bind = 'v' and state = 'START_REQUESTED';
select play_on(:driver);
select is(play_end(:i), 'END success ["first", null]', 'without tolerance the first failure is one too many; a catch takes it, and it counts nothing');
select is((select count(*) from wf.process where instance_id = :i and bind = 'w' and state = 'END'), 2::bigint, 'after the elements beside it had ended');
select is_empty('select * from wf.fsck()', 'all is well');

-- the rest of an element is torn down, and waited for
select play_install('deep', jsonb_build_array(
    '{"kind": "forall", "line": 2, "name": "x", "in": ["const", [1, 2]], "tolerate": 1}'::jsonb || jsonb_build_object('body',
        play_par(play_task('t.Do', 'a'), play_task('t.Job', 'j'), play_task('t.Sleep', 's', '{"duration": "PT1H"}')))));
select wf.start('deep') as i \gset
select play_take(:driver), play_report(id, 'ack') from wf.process where instance_id = :i and bind = 'j';
select min(id) as a from wf.process where instance_id = :i and bind = 'a' \gset
select play_fail(:a);
select is((select array_agg(state order by state) from wf.process where parent_id = (select parent_id from wf.process where id = :a)), '{ABORTED,ABORT_REQUESTED,RAISED}', 'other tasks of a failed element are stopped');
select is((select open from wf.process where id = play_id(:i, 'forall')), 2, 'the forall waits for stopped tasks of a failed element');
select alike((select detail from wf.explain(:i, (select parent_id from wf.process where id = :a)) where reason = 'teardown'), 'it is torn down, since the forall in line 2 gives up an error of process % (http: it broke)%', 'explain says why');
select is_empty('select * from wf.fsck()', 'all is well meanwhile');
select wf.abort(format('{"instance": %s}', :i)::jsonb);
select is_empty('select * from wf.fsck()', 'all is well when it is aborted');

-- a warning inside an element that is given up counts nothing of its own; one inside a body that is caught neither
select play_install('inside', jsonb_build_array(
    jsonb_build_object('kind', 'try', 'line', 1,
        'body', play_seq('{"kind": "forall", "line": 2, "name": "x", "in": ["const", [1, 2]], "tolerate": 1}'::jsonb || jsonb_build_object('body', play_task('t.Do', 'v')), play_task('t.Do', 'w')),
        'catches', jsonb_build_array(jsonb_build_object('kind', 'catch', 'line', 3, 'name', 'e', 'body', play_task('t.Do', 'c'))))));
select wf.start('inside') as i \gset
select play_take(:driver), play_fail(min(id)) from wf.process where instance_id = :i and bind = 'v';
select is((select array_agg(kind) from wf.process where instance_id = :i and warned), '{seq}', 'a tolerated failure is a warning of the body around the forall');
select play_report(max(id)) from wf.process where instance_id = :i and bind = 'v';
select play_take(:driver), play_fail(play_id(:i, 'w')), play_on(:driver);
select is(play_end(:i), 'END success', 'a warning of a body that is given up counts nothing');
select wf.start('inside') as i \gset
select play_take(:driver), play_fail(min(id)) from wf.process where instance_id = :i and bind = 'v';
select play_report(max(id)) from wf.process where instance_id = :i and bind = 'v';
select play_on(:driver);
select is(play_end(:i), 'END warning', 'a warning of a body that ends well counts');

-- percentages
select play_loop('tenth', play_body(), '{"tolerate": "10%"}');
select wf.start('tenth', play_list(19)) as i \gset
select is((select spare from wf.process where id = play_id(:i, 'forall')), 1, 'a percentage is rounded down');
select wf.start('tenth', play_list(9)) as i \gset
select is((select spare from wf.process where id = play_id(:i, 'forall')), 0, 'to none at all, too');
select wf.start('tenth', '{"xs": []}') as i \gset
select is(play_end(:i), 'END success []', 'an empty list ends at once');
select play_loop('given', play_body(), '{"tolerate": ["at", ["var", "xs"], 0], "max": ["at", ["var", "xs"], 1]}');
select wf.start('given', '{"xs": [-1, 1]}') as i \gset
select is((select error ->> 'message' from wf.process where id = play_id(:i, 'forall')), 'tolerate of a forall is an int of at least 0, or a text such as "10%", not -1', 'a tolerance less than 0 fails');
select wf.start('given', '{"xs": ["all", 1]}') as i \gset
select is((select error ->> 'message' from wf.process where id = play_id(:i, 'forall')), 'tolerate of a forall is an int of at least 0, or a text such as "10%", not "all"', 'a tolerance of no number fails');
select wf.start('given', '{"xs": [1, "0%"]}') as i \gset
select is((select error ->> 'message' from wf.process where id = play_id(:i, 'forall')), 'max of a forall is an int of at least 1, or a text such as "50%" or "all - 1" that means at least 1 of its 2 elements, not "0%"', 'a max of 0 % fails');
select wf.start('given', '{"xs": [1, true]}') as i \gset
select is((select error ->> 'kind' from wf.process where id = play_id(:i, 'forall')), 'input', 'the kind of that error is input');
select wf.start('given', '{"xs": ["50%", "50%", 3, 4, 5]}') as i \gset
select is((select open from wf.process where id = play_id(:i, 'forall')), 2, 'max takes a percentage');

-- Brooklyn's grammar (B37)
select results_eq('select t, wf._elements_meant(t, 10) from unnest(array[''3'', ''50%'', ''55%'', ''1%'', ''0%'', ''0.5%'', ''all'', ''all - 1'', ''-1'', ''-20%'', ''min(3, 50%)'', ''max(1,50%)'', ''(2+3)'', ''10 - (3 - 5)'', ''max(1, -20)'', ''1 + 1 - 5'', ''2.9'', ''MIN(all, 4) + 1'', ''min(max(1, 2), 7)'']) t',
    $$values ('3', 3::numeric), ('50%', 5), ('55%', 5), ('1%', 1), ('0%', 0), ('0.5%', 1), ('all', 10), ('all - 1', 9), ('-1', 9), ('-20%', 8), ('min(3, 50%)', 3), ('max(1,50%)', 5), ('(2+3)', 5), ('10 - (3 - 5)', 12),
             ('max(1, -20)', 1), ('1 + 1 - 5', -3), ('2.9', 2), ('MIN(all, 4) + 1', 5), ('min(max(1, 2), 7)', 2)$$, 'B37: numbers, percentages, all, sums, min and max');
select is(wf._elements_meant(t, 10), null, format('B37: %L means no number', t)) from unnest(array['', 'half', '10+', '(10', '10)', 'min()', 'min(1,)', '1 2', '5%%', '10000000000', 'all all', '(1, 2)']) t;
select play_loop('c7', play_body(), '{"max": "max(1, 50%)"}');
select wf.start('c7', play_list(10)) as i \gset
select is((select count(*) from wf.process where instance_id = :i and bind = 'v'), 5::bigint, 'C7: max = "max(1, 50%)" of 10 elements starts 5 at once');
select play_on(:driver);
select is(play_end(:i), 'END success [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]', 'C7: outputs in the order of the elements');

-- C9: what fails is told by how many; Brooklyn counts the errors in its message, here the others are the cause of the last
select play_loop('c9', play_body(), '{"tolerate": 0, "max": "all"}');
select wf.start('c9', play_list(2)) as i \gset
select play_take(:driver), play_fail(play_element(:i, 0), 'A'), play_fail(play_element(:i, 1), 'B');
select is((select error ->> 'message' || ' ' || (error #>> '{cause,message}') from wf.process where id = play_id(:i, 'forall')), 'B A', 'C9: A and B fail: both are told');
select wf.start('c9', play_list(1)) as i \gset
select play_take(:driver), play_fail(play_element(:i, 0), 'A');
select is((select error ->> 'message' || coalesce(error ->> 'cause', '') from wf.process where id = play_id(:i, 'forall')), 'A', 'C9: a single one has no others');
select wf.start('c9', play_list(3)) as i \gset
select play_take(:driver), play_report(play_element(:i, 0)), play_fail(play_element(:i, 1), 'B'), play_report(play_element(:i, 2));
select is((select error ->> 'message' || coalesce(error ->> 'cause', '') from wf.process where id = play_id(:i, 'forall')), 'B', 'C9: of A, B and C only B fails: it alone is told');
select play_loop('c9_one', play_body(), '{"tolerate": 0, "max": 1}');
select wf.start('c9_one', play_list(2)) as i \gset
select play_take(:driver), play_fail(play_element(:i, 0), 'A');
select is(play_element(:i, 1), null, 'C9: one after another: B never begins');
select is((select error ->> 'message' from wf.process where id = play_id(:i, 'forall')), 'A', 'C9: only A is told');

-- T-D19: how many of ten run at once; a level of 0 is refused here, so what never runs is in a queue that nobody serves
select play_loop('ten', play_body(), '{"max": 4}');
select wf.start('ten', play_list(10)) as i \gset
create function most_at_once(p_driver bigint, p_instance bigint) returns bigint
language plpgsql as $$
declare
    v_most bigint := 0;
begin
    loop
        perform play_take(p_driver);
        v_most := greatest(v_most, (select count(*) from wf.lease where instance_id = p_instance));
        exit when not exists (select from wf.lease where instance_id = p_instance);
        perform play_report((select min(process_id) from wf.lease where instance_id = p_instance));
    end loop;
    return v_most;
end;
$$;
select is(most_at_once(:driver, :i), 4::bigint, 'T-D19: of 10 elements with max = 4 never more than 4 run, and 4 do');
select play_loop('never', jsonb_set(play_body(), '{policies}', '{"queue": "nobody"}'), '{}');
select wf.start('never', play_list(5)) as i \gset
select play_take(:driver);
select count(*) from wf.cancel(format('{"instance": %s}', :i)::jsonb) \gset x_
select is((select string_agg(distinct concat_ws(' ', state, error ->> 'kind', attempt), ', ') || ' ' || count(*) from wf.process where instance_id = :i and bind = 'v'), 'FAILED cancelled 1 5', 'T-D19: five that never ran are cancelled: five have failed');
select is((select count(*) from play_request where instance_id = :i), 0::bigint, 'T-D19: no cancelled element was given to a driver');
select wf.abort(format('{"instance": %s}', :i)::jsonb);
select play_install('window', jsonb_build_array(jsonb_build_object('kind', 'seq', 'line', 1, 'policies', '{"timeout": {"deadline": "PT10S"}}'::jsonb, 'steps', jsonb_build_array(
    play_forall('x', '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]', play_task('t.Do', 'v', '{}', '{"group": {"name": "level", "max": 1}}'))))));
select set_config('wf.now', '2030-01-01 00:00:00+00', true), play_driver() as driver \gset
select wf.start('window') as i \gset
select play_take(:driver);
select play_report(process_id) from wf.lease where instance_id = :i;
select play_take(:driver), play_later('10 s'), wf.tick();
select play_report(process_id, 'error', '{"kind": "cancelled"}') from wf.lease where instance_id = :i;
select is((select string_agg(x.state || ' ' || x.count, ', ' order by x.state) from (select state, count(*) from wf.process where instance_id = :i and bind = 'v' group by 1) x), 'ABORTED 9, END 1', 'T-D19: within its time one of ten has ended; nine are stopped');
select wf.abort(format('{"instance": %s}', :i)::jsonb);
-- elements whose arguments cannot be evaluated
select play_loop('bad', play_task('t.Do', 'v', '{"x": ["add", ["var", "x"], 1]}') || '{"reads": {"x": 1}}', '{"tolerate": "100%", "max": 1}');
select wf.start('bad', '{"xs": ["a", "b", "c"]}') as i \gset
select is(play_end(:i), 'END warning [null, null, null]', 'T-D19: elements that cannot begin fail at once, in spite of max = 1');
select play_loop('bad', play_task('t.Do', 'v', '{"x": ["add", ["var", "x"], 1]}') || '{"reads": {"x": 1}}', '{"max": 1}');
select wf.start('bad', '{"xs": ["a", "b", "c"]}') as i \gset
select is((select count(*) from wf.process where instance_id = :i and bind = 'v'), 1::bigint, 'T-D19: without tolerate the first keeps its place until an operator has decided');
select wf.abort(format('{"instance": %s}', :i)::jsonb);

-- many elements: in windows and portions
select play_loop('many', play_body(), '{"tolerate": "100%"}');
select wf.start('many', play_list(2500)) as i \gset
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select play_take(:driver, 1000);
select play_fail_all(:driver, :i);
select is_empty('select * from wf.fsck()', 'all is well after 1,000 tolerated failures');
select is((select spare from wf.process where id = play_id(:i, 'forall')), 1500, 'each of them is counted');
select play_on(:driver);
select is((select result || ' ' || jsonb_path_query_array(output, '$[*] ? (@ == null)')::text = 'warning ' || (select jsonb_agg(null::text) from generate_series(1, 1000))::text from wf.instance where id = :i), true, 'a tolerated element has no value');
select is_empty('select * from wf.fsck()', 'all is well');
select play_loop('over', play_body(), '{"tolerate": 0}');
select wf.start('over', play_list(2500)) as i \gset
select play_take(:driver, 10), play_fail(play_element(:i, 0), 'x');
select is((select todo from wf.process where id = play_id(:i, 'forall')), 0, 'elements that have not begun do not begin after one failure too many');
select is_empty('select * from wf.fsck()', 'all is well');
select count(play_report(p.id, 'response', '{"value": 1}')) from wf.process p where p.instance_id = :i and p.state = 'START_REQUESTED';
select play_on(:driver);
select is(play_state(:i, 'forall'), 'FAILED', 'the large forall fails when its running elements have ended');
select is_empty('select * from wf.fsck()', 'all is well');

-- what install refuses
select throws_like(format($$select play_loop('bad', play_body(), '%s')$$, m), '%', format('install refuses %s', m)) from unnest(array['{"tolerate": -1}', '{"tolerate": "all"}', '{"tolerate": true}', '{"max": "half"}', '{"max": 0}', '{"max": ""}']) m;

select * from finish();
rollback;
