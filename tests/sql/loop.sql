-- loop.sql - while, repeat and fold: rounds, the state, where they end, and what an operator can do between two of them.
begin;
\ir helper/play.sql
select no_plan();
select play_driver() as driver \gset

-- a_while(START, CONDITION, YIELD, BODY [, MAX [, READS]]): state s, result r; a_repeat, a_fold alike
create function a_while(p_start jsonb, p_while jsonb, p_yield jsonb, p_body jsonb, p_max jsonb default '100', p_reads jsonb default '{}') returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'while', 'line', 1, 'name', 's', 'start', p_start, 'while', p_while, 'max', p_max, 'body', p_body,
                              'yield', jsonb_build_object('as', 'r', 'value', p_yield), 'round_reads', '{"s": 1}' || p_reads,
                              'reads', p_reads - 'y' - 'z'); $$;
create function a_repeat(p_until jsonb, p_yield jsonb, p_body jsonb, p_max jsonb default '100', p_reads jsonb default '{}') returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'repeat', 'line', 1, 'until', p_until, 'max', p_max, 'body', p_body, 'round_reads', p_reads)
           || case when p_yield is null then '{}' else jsonb_build_object('yield', jsonb_build_object('as', 'r', 'value', p_yield)) end; $$;
create function a_fold(p_start jsonb, p_list jsonb, p_yield jsonb, p_body jsonb, p_reads jsonb default '{}') returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'fold', 'line', 1, 'name', 's', 'element', 'x', 'over', jsonb_build_array('list', p_start, p_list), 'body', p_body,
                              'yield', jsonb_build_object('as', 'r', 'value', p_yield), 'round_reads', '{"s": 1, "x": 1}' || p_reads); $$;
create function a_let(p_as text, p_value jsonb, p_reads jsonb default '{}') returns jsonb
language sql as $$ select jsonb_build_object('kind', 'let', 'line', 1, 'as', p_as, 'value', p_value, 'reads', p_reads); $$;
create function a_return(p_value jsonb default '["var", "r"]', p_reads jsonb default '{"r": 0}') returns jsonb
language sql as $$ select jsonb_build_object('kind', 'return', 'line', 1, 'value', p_value, 'reads', p_reads); $$;
create function a_do(p_as text, p_x jsonb, p_reads jsonb) returns jsonb
language sql as $$ select play_task('t.Do', p_as, jsonb_build_object('x', p_x)) || jsonb_build_object('reads', p_reads); $$;
create function nothing() returns jsonb language sql as $$ select '{"kind": "seq", "line": 1, "steps": []}'::jsonb; $$;
-- works until nothing is left to do by itself
create function work_on() returns void language plpgsql as $$
begin
    for k in 1 .. 1000 loop
        exit when wf.work() is null;
    end loop;
end;
$$;
-- played(NODE [, N]): what a workflow of one loop returns, or the error of the process that failed; its parameter n may be null
create function played(p_loop jsonb, p_n jsonb default '3') returns jsonb
language plpgsql as $$
declare
    v_instance bigint;
begin
    perform play_install('played', jsonb_build_array(p_loop, a_return()), '[{"name": "n", "type": {"optional": "json"}}]');
    v_instance := wf.start('played', jsonb_build_object('n', p_n));
    perform work_on(), play_on(wf.register('fake', '1', '{builtin}', '{default}', 100));
    return (select case i.state when 'END' then i.output else (select p.error from wf.process p where p.instance_id = i.id and p.state = 'FAILED') end
              from wf.instance i where i.id = v_instance);
end;
$$;
create function play_end(p_instance bigint) returns text
language sql as $$ select concat_ws(' ', i.state, i.result, i.output) from wf.instance i where i.id = p_instance; $$;

-- while
select is(played(a_while('0', '["lt", ["var", "s"], 5]', '["add", ["var", "s"], 1]', a_let('y', '1'))), '5', 'a while yields its next state as long as its condition holds');
select is(played(a_while('7', '["lt", ["var", "s"], 5]', '["add", ["var", "s"], 1]', a_let('y', '1'))), '7', 'without a round the name holds the first state');
select is(played(a_while('["var", "n"]', '["lt", ["var", "s"], 5]', '["add", ["var", "y"], 1]', a_do('y', '["var", "s"]', '{"s": 1}'), '100', '{"n": 0, "y": 1}')), '5', 'a yield reads what the round has bound');
select is(played(a_while('1', '["lt", ["var", "s"], ["var", "n"]]', '["mul", ["var", "s"], 2]', nothing(), '100', '{"n": 0}'), '100'), '128', 'a condition reads names around the loop');
select is(played(a_while('null', '["eq", ["var", "s"], null]', 'false', nothing())), 'false', 'null and false are states like any other');
select is(played(a_while('0', '["lt", ["var", "s"], 3]', '["add", ["var", "s"], 1]', nothing(), '3')), '3', 'the last round that max allows may be the last one');
select is(played(a_while('0', '["lt", ["var", "s"], 4]', '["add", ["var", "s"], 1]', nothing(), '3')),
          '{"kind": "limit", "message": "this while has had the 3 rounds that its max allows, and its condition asks for another"}', 'one more would be needed: kind limit');
select is(played(play_seq(a_while('0', '["lt", ["var", "s"], 4]', '["add", ["var", "s"], 1]', nothing(), '3')) || '{"policies": {"on_failure": "skip"}}'), 'null', 'the name of such a loop is null if it is skipped, not the state of its last round');
select is(played(a_while('0', '["lt", ["var", "s"], 3]', '["add", ["var", "s"], 1]', nothing(), '["var", "n"]', '{"n": 0}'), '3'), '3', 'max is an expression');
select is(played(a_while('0', 'true', '0', nothing(), '["var", "n"]', '{"n": 0}'), v.n) ->> 'message', format('max of a while is an int of at least 1, not %s', v.n), 'max is no ' || v.n::text)
  from (values ('0'::jsonb), ('-1'), ('1.5'), ('"3"'), ('null')) v (n);
select is(played(a_while('0', '["var", "n"]', '0', nothing(), '100', '{"n": 0}'), 'null'), '{"kind": "input", "message": "the condition of a while needs a boolean, not null"}', 'a condition that is null fails');
select is(played(a_while('["var", "n"]', '["ne", ["var", "s"], 3]', '["add", ["var", "s"], 1]', nothing(), '100', '{"n": 0}'), '"no"') ->> 'kind', 'input', 'a yield may fail');

-- repeat
select is(played(a_repeat('["eq", ["var", "y"], 1]', '["var", "y"]', a_let('y', '1'), '1', '{"y": 1}')), '1', 'a repeat has one round at least, and its condition sees what that has bound');
select is(played(play_seq(a_repeat('true', null, a_let('y', '1')), a_let('r', '8'))), '8', 'a repeat need not yield');
select is(played(a_repeat('false', '1', nothing(), '4')) ->> 'message', 'this repeat has had the 4 rounds that its max allows, and its condition asks for another', 'max of a repeat');
select is(played(a_repeat('["var", "n"]', '1', nothing(), '4', '{"n": 0}'), '1') ->> 'message', 'the condition of a repeat needs a boolean, not number', 'until needs a boolean');
select is(played(a_repeat('true', '1', nothing(), '["var", "n"]', '{}') || '{"reads": {"n": 0}}', '0') ->> 'message', 'max of a repeat is an int of at least 1, not 0', 'max of a repeat is an int of at least 1');

-- fold
select is(played(a_fold('0', '["list", 1, 2, ["var", "n"]]', '["add", ["var", "s"], ["var", "x"]]', nothing()) || '{"reads": {"n": 0}}', '10'), '13', 'B22: a fold reduces a list');
select is(played(a_fold('0', '["const", [1, 2, 3]]', '["add", ["var", "s"], ["var", "x"]]', nothing())), '6', 'a fold over a constant list');
select is(played(a_fold('["list"]', '["range", 3, ["var", "n"]]', '["list", ["var", "s"], ["var", "x"]]', nothing()) || '{"reads": {"n": 0}}', '5'), '[[[[], 3], 4], 5]', 'a fold over a range, in order');
select is(played(a_fold('"none"', '["list"]', '["var", "x"]', nothing())), '"none"', 'over an empty list the name holds the first state');
select is(played(a_fold('0', '["range", 1, 1100]', '["add", ["var", "s"], ["var", "x"]]', nothing())), '605550', 'a long range is counted through');
select is(played(a_fold('0', (select jsonb_build_array('const', jsonb_agg(g)) from generate_series(1, 1100) g), '["add", ["var", "s"], ["var", "x"]]', nothing())), '605550', 'a long list has its elements in chunks');
select is(played(a_fold('0', '["var", "n"]', '0', nothing()) || '{"reads": {"n": 0}}', v.n) ->> 'message', 'fold needs a list, not ' || v.type, 'a fold over no list: ' || v.type)
  from (values ('null'::jsonb, 'null'), ('{}', 'object'), ('"a"', 'string')) v (n, type);
select is_empty('select * from wf.forall_item', 'the elements are gone when it has ended');
select is_empty('select * from wf.fsck()', 'the rows agree with each other');

-- S9: scoping. A round's names are its own; the state of the next one is a new name
select is(played(a_fold('0', '["const", [1, 2]]', '["var", "y"]', a_do('y', '["list", ["var", "s"], ["var", "x"]]', '{"s": 1, "x": 1}'), '{"y": 1}')), '[[0, 1], 2]', 'S9: each round binds its names anew');
select is((select count(*) from wf.binding b where b.name = 'y' and b.instance_id = (select max(i.id) from wf.instance i)), 2::bigint, 'S9: in a scope of its own');
select is(played(a_fold('0', '["const", [1, 2, 3]]', '["var", "q"]',
    jsonb_build_object('kind', 'while', 'line', 1, 'name', 't', 'start', '["var", "s"]'::jsonb, 'while', '["lt", ["var", "t"], ["mul", ["var", "x"], 10]]'::jsonb, 'max', 100,
                       'body', nothing(), 'yield', '{"as": "q", "value": ["add", ["var", "t"], ["var", "x"]]}'::jsonb, 'reads', '{"s": 1}'::jsonb, 'round_reads', '{"t": 2, "x": 1}'::jsonb), '{"q": 1}')), '32', 'a loop is the body of another');


-- S8: a worklist that grows while it runs is a while whose state is what is still to be done, with a forall over that
select play_install('worklist', jsonb_build_array(
    jsonb_build_object('kind', 'while', 'line', 1, 'name', 'open', 'start', '["list", 1]'::jsonb, 'max', 50,
        'while', '["ne", ["var", "open"], ["list"]]'::jsonb, 'round_reads', '{"open": 1, "found": 1}'::jsonb,
        'yield', '{"as": "r", "value": ["call", "flatten", ["var", "found"]]}'::jsonb,
        'body', jsonb_build_object('kind', 'forall', 'line', 2, 'name', 'd', 'in', '["var", "open"]'::jsonb, 'reads', '{"open": 1}'::jsonb,
            'body', a_do('y', '["if", ["lt", ["var", "d"], 3], ["list", ["add", ["var", "d"], 1], ["add", ["var", "d"], 1]], ["list"]]', '{"d": 2}'),
            'collect', '[{"as": "found", "value": ["var", "y"]}]'::jsonb, 'collect_reads', '{"y": 2}'::jsonb)),
    a_return()));
select wf.start('worklist') as i \gset
select is(play_take(:driver), 1::bigint, 'S8: the first round has the elements of the list');
select play_report(play_id(:i, 'y'), 'response', '{"value": [2, 2]}');
select is(play_on(:driver), 6::bigint, 'S8: elements that a round finds are done side by side in the next one');
select is(play_end(:i), 'END success []', 'S8: the loop ends when a round finds nothing more');
select is((select max(p.index) from wf.process p where p.parent_id = play_id(:i, 'while')), 2, 'S8: after three rounds');

-- in its rounds tasks wait, and only the round that is under way is alive
select play_install('slow', jsonb_build_array(a_while('0', '["lt", ["var", "s"], 3]', '["add", ["var", "y"], 1]', play_seq(a_do('y', '["var", "s"]', '{"s": 1}'), play_task('t.Do', 'z')), '100', '{"y": 1}') || '{"reads": {}}', a_return()));
select wf.start('slow') as i \gset
select is(play_take(:driver), 1::bigint, 'the first round begins');
select is((select (p.open, p.todo, p.total, p.reserved)::text from wf.process p where p.id = play_id(:i, 'while')), '(1,99,100,1)', 'one round is under way, and reserved');
select is((select t.note from wf.tree(:i) t where t.kind = 'while'), '0 of at most 100 rounds', 'the tree counts rounds');
select matches((select string_agg(e.detail, '; ') from wf.explain(:i, play_id(:i, 'while')) e), '^waits for 1: .*; at most 99 more rounds$', 'explain tells what it waits for');
select play_report(play_id(:i, 'y'), 'response', '{"value": 0}');
select play_take(:driver), play_report(play_id(:i, 'z'), 'response', '{"value": 0}');
select is((select array_agg(p.index order by p.id) from wf.process p where p.parent_id = play_id(:i, 'while')), '{0,1}', 'the index of a round is its number');
select ok((select r.turn = wf._turn(p.at, null) from wf.ready r join wf.process p on p.id = r.process_id where r.instance_id = :i), 'a loop''s requests do not stand apart, since nothing runs beside it');
select is((select p.output from wf.process p where p.id = play_id(:i, 'while')), '1', 'the state is the output of the loop meanwhile');
select is((select l.label from wf.label_v l where l.process_id = play_id(:i, 'y')), 't.Do as y [1]', 'a label says in which round');
select is((select t.note from wf.tree(:i) t where t.kind = 'while'), '1 of at most 100 rounds', 'one round has ended');
select results_eq(format('select t.label from wf.tree(%s, 4) t', :i), $$values ('slow'), ('while s'), ('seq [0]'), ('t.Do as y')$$, 'a page of the tree has the rounds in order');
select is_empty('select * from wf.fsck()', 'the rows agree with each other in a round');
select play_on(:driver);
select is(play_end(:i), 'END success 3', 'the loop ends with its last state');

-- what one instance comes to: rounds are reserved as they go by, and given back
select is((select (e.processes, e.live)::text from wf.extent e where e.instance_id = :i), '(9,0)', 'processes that were reserved and not needed are given back');
update wf.setting set value = '30' where name = 'instance_processes';
select is(played(a_while('0', 'true', '["add", ["var", "s"], 1]', a_do('y', '1', '{}'), '1000')) ->> 'message',
          'the next round of this while may come to 1 processes and the instance to 31, more than the 30 that it may have in all (setting instance_processes)', 'a loop that comes to more than an instance may have fails');
select is((select count(*) from wf.process p where p.instance_id = (select max(i.id) from wf.instance i)), 29::bigint, 'after as many rounds as fit');
update wf.setting set value = '3' where name = 'instance_processes';
select is(played(a_fold('0', '["range", 1, 5]', '0', a_do('y', '1', '{}'))) ->> 'message',
          'a round of this fold may come to 1 processes and the instance to 4, more than the 3 that it may have in all (setting instance_processes)', 'even its first round');
select is((select p.total from wf.process p order by p.id desc limit 1), 0, 'no round begins beyond the limit');
update wf.setting set value = '10000000' where name = 'instance_processes';
select count(*) from wf.retry(jsonb_build_object('instance', (select max(i.id) from wf.instance i))) \gset x_
select play_on(:driver);
select is((select play_end(max(i.id)) from wf.instance i), 'END success 0', 'with a larger setting a retry takes it to its end');

-- large states
update wf.setting set value = '3000' where name = 'value_bytes';
select is(played(a_while('"x"', 'true', '["text", ["var", "s"], ["var", "s"]]', nothing(), '1000')) ->> 'kind', 'output', 'a state is a value, which may have so many bytes');
update wf.setting set value = '1048576' where name = 'value_bytes';
select is_empty('select * from wf.fsck()', 'the rows agree with each other after limits');

-- an operator goes on with a loop that failed between two rounds
select play_install('stops', jsonb_build_array(a_while('0', '["lt", ["var", "s"], ["var", "n"]]', '["add", ["var", "y"], 1]', a_do('y', '["var", "s"]', '{"s": 1}'), '100', '{"n": 0, "y": 1}'), a_return()),
                    '[{"name": "n", "type": {"optional": "json"}}]');
create function stopped() returns bigint language plpgsql as $$
declare
    v_instance bigint := wf.start('stops', '{"n": 9}');
begin
    perform play_take(wf.register('fake', '1', '{builtin}', '{default}', 100));
    perform play_report(play_id(v_instance, 'y'), 'response', '{"value": 0}');
    perform play_take(wf.register('fake', '1', '{builtin}', '{default}', 100));
    update wf.binding b set value = 'null' where b.instance_id = v_instance and b.name = 'n';
    perform play_report(play_id(v_instance, 'y'), 'response', '{"value": 1}');
    return v_instance;
end;
$$;
select stopped() as i \gset
select is(play_state(:i, 'while'), 'FAILED', 'a condition that fails between two rounds fails the loop');
select is_empty('select * from wf.fsck()', 'the rows agree with each other between two rounds');
select wf.retry(jsonb_build_object('instance', :i)) \gset x_
select is(play_state(:i, 'while'), 'FAILED', 'a retry evaluates the condition again');
update wf.binding b set value = '4' where b.instance_id = :i and b.name = 'n';
select wf.retry(jsonb_build_object('instance', :i)) \gset x_
select is((select max(p.index) from wf.process p where p.parent_id = play_id(:i, 'while')), 2, 'a retried loop goes on with the round that it had reached');
select play_on(:driver);
select is(play_end(:i), 'END success 4', 'to its end');
select is((select count(*) from wf.process p where p.parent_id = play_id(:i, 'while')), 4::bigint, 'no round has been twice');
select stopped() as i \gset
update wf.binding b set value = '2' where b.instance_id = :i and b.name = 'n';
select wf.retry(jsonb_build_object('instance', :i)) \gset x_
select is(play_end(:i), 'END success 2', 'a retry may find that no other round is needed');
select stopped() as i \gset
select wf.ignore(jsonb_build_object('instance', :i)) \gset x_
select is(play_end(:i), 'END warning null', 'ignore: its name reads as null');
select stopped() as i \gset
select wf.resolve(jsonb_build_object('instance', :i), '"given"') \gset x_
select is(play_end(:i), 'END success "given"', 'resolve: its name has the output that was given');
select stopped() as i \gset
select wf.raise(jsonb_build_object('instance', :i)) \gset x_
select is(play_end(:i), 'ABORTED error', 'raise ends the instance');
select stopped() as i \gset
select wf.abort(jsonb_build_object('instance', :i)) \gset x_
select is(play_end(:i), 'ABORTED aborted', 'abort');
select is_empty('select * from wf.fsck()', 'the rows agree with each other after all of that');

-- rounds in which nothing can wait are no processes
create function light_body() returns jsonb language sql as $$
    select play_seq(a_let('y', '["add", ["var", "s"], 1]', '{"s": 1}'),
                    jsonb_build_object('kind', 'if', 'line', 1, 'condition', '["lt", ["var", "y"], 3]'::jsonb, 'then', a_let('z', '"small"'), 'reads', '{"y": 1}'::jsonb),
                    play_par(jsonb_build_object('kind', 'switch', 'line', 1, 'on', '["list", ["var", "y"], ["list", 2]]'::jsonb, 'branches', jsonb_build_array(a_let('q', '"two"'), a_let('q', '"other"')), 'reads', '{"y": 1}'::jsonb), nothing()));
$$;
select play_install('light', jsonb_build_array(a_while('0', '["lt", ["var", "s"], 1500]', '["var", "y"]', light_body(), '2000', '{"y": 1}') || '{"reads": {}}', a_return()));
select wf.start('light') as i \gset
select is((select p.output from wf.process p where p.id = play_id(:i, 'while')), '1000', 'one call does 1,000 rounds in which nothing waits');
select is((select t.note from wf.tree(:i) t where t.kind = 'while'), '1000 of at most 2000 rounds', 'the tree counts rounds without processes');
select matches((select string_agg(e.detail, '; ') from wf.explain(:i, play_id(:i, 'while')) e), '^what comes next is about to begin', 'explain says that the loop goes on by itself');
select is_empty('select * from wf.fsck()', 'the rows agree with each other after 1,000 rounds');
select wf.start('light') as j \gset
select wf.abort(jsonb_build_object('instance', :j)) \gset x_
select work_on();
select is(play_end(:j), 'ABORTED aborted', 'a loop is aborted between two of its rounds');
select is(play_end(:i), 'END success 1500', 'another does the rest');
select is((select count(*) from wf.process p where p.instance_id = :i), 3::bigint, 'a round in which nothing waits is no process');
select is((select (e.processes, e.live)::text from wf.extent e where e.instance_id = :i), '(0,0)', 'a round in which nothing waits does not count as a process');
select is(played(a_repeat('["eq", ["var", "q"], "two"]', '["coalesce", ["var", "z"], ["var", "q"]]', play_seq(a_let('s', '1'), light_body()), '5', '{"q": 1, "z": 1}')), '"small"', 'names of a round are known after it');
select is(played(a_while('1', '["lt", ["var", "s"], 9]', '["coalesce", ["var", "z"], ["var", "y"]]', light_body(), '50', '{"y": 1, "z": 1}') || '{"reads": {}}') ->> 'kind', 'input', 'names of one round are not known in the next');
select play_install('stumbles', jsonb_build_array(a_fold('0', '["const", [1, 2, "no", 4, 5]]', '["add", ["var", "s"], ["coalesce", ["var", "y"], 100]]', a_let('y', '["mul", ["var", "x"], 2]', '{"x": 1}'), '{"y": 1}'), a_return()));
select wf.start('stumbles') as i \gset
select is((select (p.kind, p.index, p.state)::text from wf.process p where p.parent_id = play_id(:i, 'fold')), '(let,2,FAILED)', 'a round with an error is a process, which has failed');
select is((select p.output from wf.process p where p.id = play_id(:i, 'fold')), '6', 'the rounds before it count');
select wf.ignore(jsonb_build_object('instance', :i)) \gset x_
select is(play_end(:i), 'END warning 124', 'an operator has it go on');
select is((select count(*) from wf.process p where p.parent_id = play_id(:i, 'fold')), 1::bigint, 'the rounds after a failed one are no processes again');
select is_empty('select * from wf.fsck()', 'the rows agree with each other after an error in a round');

-- rounds that never wait, with processes: start returns at once, and no transaction begins more than about 1,000
select play_install('quick', jsonb_build_array(a_while('0', '["lt", ["var", "s"], 600]', '["add", ["var", "s"], 1]',
    play_seq(a_let('y', '1'), jsonb_build_object('kind', 'try', 'line', 1, 'body', a_let('z', '1'), 'catches', jsonb_build_array(jsonb_build_object('kind', 'catch', 'line', 1, 'name', 'e', 'body', nothing())))), '100000'), a_return()));
select wf.start('quick') as i \gset
select cmp_ok((select count(*) from wf.process p where p.instance_id = :i), '<', 2300::bigint, 'H5: start begins about 1,000 processes and returns');
select is((select count(*) from wf.pending q where q.instance_id = :i and q.later), 1::bigint, 'the next round is left to another transaction');
select is((select place from wf._place_v v where v.instance_id = :i and v.process_id = play_id(:i, 'while')), 'children', 'meanwhile the loop itself is in a place');
select is_empty('select * from wf.fsck()', 'the rows agree with each other between two transactions');
select wf.abort(jsonb_build_object('instance', :i)) \gset x_
select work_on();
select is(play_end(:i), 'ABORTED aborted', 'a loop is aborted between two rounds');
select is_empty('select * from wf.pending', 'nothing is left of it');
select is_empty('select * from wf.fsck()', 'the rows agree with each other after the abort');
select wf.start('quick') as i \gset
select wf.suspend(jsonb_build_object('instance', :i)) \gset x_
select wf.resume(jsonb_build_object('instance', :i)) \gset x_
select work_on();
select is(play_end(:i), 'END success 600', 'a loop that never waits goes on by itself to its end');

-- return, try and catch
select is(played(a_while('0', 'true', '["add", ["var", "s"], 1]', jsonb_build_object('kind', 'if', 'line', 1, 'condition', '["eq", ["var", "s"], 3]'::jsonb, 'then', a_return('"left"', '{}'), 'reads', '{"s": 1}'::jsonb))), '"left"', 'a return in a round ends the workflow');
select is((select count(*) from wf.binding b where b.name = 'r' and b.instance_id = (select max(i.id) from wf.instance i)), 0::bigint, 'a return in a round does not bind the name of the loop');
select is(played(jsonb_build_object('kind', 'try', 'line', 1, 'body', a_while('0', '["lt", ["var", "s"], 9]', '["add", ["var", "s"], 1]', nothing(), '3'),
                                    'catches', jsonb_build_array(jsonb_build_object('kind', 'catch', 'line', 1, 'name', 'e', 'body', a_let('r', '["get", ["var", "e"], "kind"]', '{"e": 0}'))))), '"limit"', 'the error of a loop is caught around it');
select is(played(a_fold('0', '["const", [1, "no", 3]]', '["add", ["var", "s"], ["coalesce", ["var", "y"], 100]]',
                        jsonb_build_object('kind', 'try', 'line', 1, 'body', a_let('y', '["add", ["var", "x"], 0]', '{"x": 1}'),
                                           'catches', jsonb_build_array(jsonb_build_object('kind', 'catch', 'line', 1, 'name', 'e', 'body', nothing()))), '{"y": 1}')), '104', 'an error in a round is caught in the round');
select play_install('caught', jsonb_build_array(jsonb_build_object('kind', 'try', 'line', 1, 'body', a_while('0', 'true', '["add", ["var", "s"], 1]', play_par(play_task('t.Do', 'y'), play_task('t.Do', 'z'))),
                                    'catches', jsonb_build_array(jsonb_build_object('kind', 'catch', 'line', 1, 'name', 'e', 'body', a_let('r', '"taken"')))), a_return()));
select wf.start('caught') as i \gset
select play_take(:driver), play_fail(play_id(:i, 'y')), play_take(:driver), play_report(play_id(:i, 'z'), 'error', '{"kind": "cancelled", "message": "stopped"}');
select is(play_end(:i), 'END success "taken"', 'an error in a round is caught around the loop, which is torn down');
select is_empty('select * from wf.fsck()', 'the rows agree with each other after errors');

-- many loops move in the same statement
select play_install('many', jsonb_build_array(jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'k', 'in', '["range", 1, 20]'::jsonb,
    'body', jsonb_build_object('kind', 'while', 'line', 1, 'name', 's', 'start', '["var", "k"]'::jsonb, 'while', '["lt", ["var", "s"], 24]'::jsonb, 'max', 50, 'reads', '{"k": 1}'::jsonb,
        'body', a_do('y', '["var", "s"]', '{"s": 2}'), 'yield', '{"as": "q", "value": ["add", ["var", "y"], 1]}'::jsonb, 'round_reads', '{"s": 2, "y": 2}'::jsonb),
    'collect', '[{"as": "r", "value": ["var", "q"]}]'::jsonb, 'collect_reads', '{"q": 1}'::jsonb), a_return('["at", ["var", "r"], 19]')));
select wf.start('many') as i \gset
select is(play_on(:driver), 270::bigint, 'each loop has its own rounds');
select is(play_end(:i), 'END success 24', 'each loop has its own state');
select is_empty('select * from wf.fsck()', 'the rows agree with each other after many loops');

-- the graph
select results_eq($$select g.kind, g.branch from wf.graph('slow') g order by g.node_id$$, $$values ('call', null), ('while', null), ('seq', 'round'), ('sync', null), ('sync', null), ('return', null)$$, 'the graph says what leads to a round');

-- what install refuses
create function refused(p_node jsonb, p_message text) returns text
language sql as $$ select throws_ok(format('select play_install(''bad'', %L)', jsonb_build_array(p_node)), 'WF005', 'workflows[0].steps[0]' || p_message, 'refused: ' || p_message); $$;
select refused(a_while('0', 'true', '0', nothing(), '0'), '.max: must be an int of at least 1');
select refused(a_while('0', 'true', '0', nothing()) - 'max', '.max: is missing');
select refused(a_while('0', 'true', '0', nothing()) - 'yield', '.yield: is missing');
select refused(a_while('0', '["var", "y"]', '0', a_let('y', '1'), '100', '{"y": 1}'), '.while: it cannot read y');
select refused(a_while('0', 'true', '["var", "y"]', a_let('y', '1')), ': round_reads lacks y');
select refused(a_while('["var", "s"]', 'true', '0', nothing()), ': reads lacks s');
select refused(a_while('["var", "s"]', 'true', '0', nothing(), '100', '{"s": 0}'), '.reads.s: no scope at this depth binds s');
select refused(a_while('0', 'true', '["var", "y"]', nothing(), '100', '{"y": 1}'), '.round_reads.y: no scope at this depth binds y');
select refused(a_while('0', 'true', '0', a_let('s', '1')), '.body: the name s is bound twice');
select refused(a_fold('0', '["const", []]', '0', nothing()) || '{"over": ["list", 1]}', '.over: must be ["list", first state, list]');
select refused(a_fold('0', '["const", []]', '0', nothing()) || '{"element": "s"}', ': the name s is bound twice');
select refused(a_repeat('true', null, nothing()) - 'until', '.until: is missing');
select refused(a_repeat('true', null, jsonb_build_object('kind', 'call', 'line', 1, 'workflow', 'w', 'args', '{}'::jsonb, 'steps', '[]'::jsonb)), '.body: a call cannot be the body of a repeat');
select refused(play_par(a_while('0', 'true', '0', a_return('1', '{}'))), '.branches[0].body: return cannot stand inside par, dag, race, forall, finally or undo');
select * from finish();
rollback;
