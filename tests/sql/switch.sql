-- switch.sql - a switch: which of its branches begins, and what happens if none does.
begin;
\ir helper/play.sql
select no_plan();
select play_driver() as driver \gset

-- a switch on parameter x that binds r: `a` for the first case, `b` for the second, `c` for the default
create function a_let(p_value jsonb) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'let', 'line', 1, 'as', 'r', 'value', p_value); $$;
create function a_switch(p_on jsonb, variadic p_branches jsonb[]) returns jsonb
language sql as $$
    select jsonb_build_object('kind', 'switch', 'line', 1, 'on', p_on, 'branches', to_jsonb(p_branches), 'reads', '{"x": 0}'::jsonb);
$$;
create function install(p_name text, p_switch jsonb) returns void
language sql as $$
    select play_install(p_name, jsonb_build_array(p_switch, '{"kind": "return", "line": 1, "value": ["var", "r"], "reads": {"r": 0}}'::jsonb),
                        '[{"name": "x", "type": {"optional": "json"}, "default": null}]');
$$;
create function result(p_name text, p_x jsonb) returns jsonb
language plpgsql as $$
declare
    v_instance bigint := wf.start(p_name, jsonb_build_object('x', p_x));
begin
    return (select case i.state when 'END' then i.output else (select p.error from wf.process p where p.instance_id = i.id and p.state = 'FAILED') end
              from wf.instance i where i.id = v_instance);
end;
$$;

select install('chosen', a_switch('["list", ["var", "x"], ["list", 1, "one"], ["list", null, ["list", 1, {"k": 2}]]]', a_let('"a"'), a_let('"b"'), a_let('"c"')));
select is(result('chosen', x), expected, format('the value %s chooses %s', x, expected))
  from (values ('1'::jsonb, '"a"'::jsonb), ('1.00', '"a"'), ('"one"', '"a"'), ('null', '"b"'), ('[1, {"k": 2.0}]', '"b"'),
               ('[1]', '"c"'), ('"1"', '"c"'), ('true', '"c"'), ('{"k": 2}', '"c"')) v (x, expected);

select install('first', a_switch('["list", ["var", "x"], ["list", 1], ["list", 1]]', a_let('"a"'), a_let('"b"')));
select is(result('first', '1'), '"a"', 'the first case that has the value is taken, no other');
select install('computed', a_switch('["list", 3, ["list", ["var", "x"]], ["list", ["add", ["var", "x"], 1]]]', a_let('"a"'), a_let('"b"')));
select is(result('computed', '2'), '"b"', 'the value of a case is any expression');
select install('fixed', a_switch('["list", 1, ["list", 2], ["list", 1]]', a_let('"a"'), a_let('"b"')));
select is(result('fixed', 'null'), '"b"', 'a switch on constants');

-- C23: three cases; a default alone, which Brooklyn allows, is refused here
select install('c23', a_switch('["list", ["var", "x"], ["list", "A"], ["list", "B"]]', a_let('"Aaa"'), a_let('"Bbb"'), a_let('"other"')));
select is(result('c23', x), expected, format('C23: %s gives %s', x, expected)) from (values ('"A"'::jsonb, '"Aaa"'::jsonb), ('"B"', '"Bbb"'), ('"C"', '"other"')) v (x, expected);
select throws_like($$select install('c23_default', a_switch('["list", ["var", "x"]]', a_let('"other"')))$$, '%.on: must be ["list", value, ["list", value of case 1, …], …]%', 'C23: a default alone is refused');

-- no case
select is(result('computed', '9'), '{"kind": "input", "message": "no case of the switch has the value 3"}', 'a value without a case is an error if there is no default');
select is(result('computed', '"y"') ->> 'kind', 'input', 'a value of a case that cannot be evaluated is an error');
select is((select (p.kind, p.state)::text from wf.process p where p.instance_id = (select max(i.id) from wf.instance i) and p.state = 'FAILED'),
          '(switch,FAILED)', 'the switch is what has failed');
select is((select answer from wf.ignore(jsonb_build_object('instance', max(i.id)))), 'done', 'an operator ignores it') from wf.instance i;
select is((select (i.state, i.result, i.output)::text from wf.instance i order by i.id desc limit 1), '(END,warning,null)', 'a skipped switch leaves its names null');

-- retry evaluates again; the task in the branch that is chosen begins
select install('later', a_switch('["list", ["var", "x"], ["list", 1]]', play_task('t.Do', 'r', '{"x": 5}')));
select wf.start('later', '{"x": 2}') as later \gset
update wf.binding set value = '1' where instance_id = :later and name = 'x';
select is((select answer from wf.retry(jsonb_build_object('instance', :later))), 'done', 'an operator has the switch tried again');
select play_take(:driver);
select is((select p.state from wf.process p where p.instance_id = :later and p.kind = 'sync'), 'START_REQUESTED', 'a retry chooses anew');
select is((select p.chosen from wf.process p where p.instance_id = :later and p.kind = 'switch'), 1, 'the process says which branch began');
select is_empty('select * from wf.fsck()', 'the rows agree with each other');

-- return goes up through a switch
select install('leave', a_switch('["list", ["var", "x"], ["list", 1]]', '{"kind": "return", "line": 1, "value": 7}', a_let('"c"')));
select is(result('leave', '1'), '7', 'a return in a branch ends the workflow');
select is(result('leave', '2'), '"c"', 'another branch goes on behind the switch');

-- what leads to the branches
select results_eq($$select g.branch from wf.graph('chosen') g where g.parent_id = (select s.node_id from wf.graph('chosen') s where s.kind = 'switch')$$,
                  $$values ('1, "one"'), ('case 2'), ('default')$$, 'the graph names the cases');
select results_eq($$select g.branch from wf.graph('computed') g where g.branch is not null$$, $$values ('case 1'), ('case 2')$$, 'a case that is computed has its number');
select results_eq($$select g.branch from wf.graph('fixed') g where g.branch is not null$$, $$values ('2'), ('1')$$, 'a computed case has its number also where all is constant');

-- what install refuses
select throws_ok(format('select install(''bad'', a_switch(%L, a_let(''1''), a_let(''2'')))', bad), 'WF005',
                 'workflows[0].steps[0].on: must be ["list", value, ["list", value of case 1, …], …]', 'refused: ' || bad)
  from unnest(array['1', '["var", "x"]', '["list", ["var", "x"]]', '["list", ["var", "x"], ["list", 1], ["list", 2], ["list", 3]]',
                    '["list", ["var", "x"], ["list"], ["list", 2]]', '["list", ["var", "x"], 1, 2]', '["list", ["var", "x"], ["var", "x"]]']) bad;
select throws_ok($$select install('bad', a_switch('["list", ["var", "x"], ["list", 1]]', a_let('1')) || '{"branches": []}')$$, 'WF005',
                 'workflows[0].steps[0]: must not be empty', 'a switch without branches');
select throws_ok($$select install('bad', play_par(a_switch('["list", ["var", "x"], ["list", 1]]', '{"kind": "return", "line": 1}')))$$, 'WF005',
                 'workflows[0].steps[0].branches[0].branches[0]: return cannot stand inside par, dag, race, forall, finally or undo', 'a return below a switch in a par');
select * from finish();
rollback;
