-- atomic.sql - an atomic: calls of SQL tasks that are one task, with the names that
-- each of them binds. tests/e2e/atomic.t has the transaction itself.
begin;
\ir helper/play.sql
select no_plan();
select play_driver('fake', '{sql,builtin}') as driver \gset

insert into play_type (name, spec)
select s ->> 'name', s
  from unnest(array[
    '{"name": "t.Put", "machine": "sync", "params": [{"name": "n", "type": "json"}, {"name": "limit", "type": {"optional": "duration"}, "default": null}],
      "policies": {"idempotent": true, "title": "put"},
      "requests": {"start": {"transport": "sql", "args": {"statement": "insert into t values ($1)", "params": ["list", ["var", "n"]], "rows": false, "timeout": ["var", "limit"]},
        "output": {"count": ["get", ["var", "response"], "count"], "n": ["var", "n"]}}}}',
    '{"name": "t.Get", "machine": "sync", "params": [], "policies": {"idempotent": ["eq", 1, 1]},
      "requests": {"start": {"transport": "sql", "args": {"statement": "select 1", "rows": true}, "output": ["get", ["var", "response"], "rows"]}}}',
    '{"name": "t.One", "machine": "sync", "params": [{"name": "kind", "type": "string"}],
      "requests": {"start": {"transport": "sql", "args": {"statement": "update t set n = 1"}, "handle": {"seen": ["get", ["var", "response"], "count"]},
        "failure": ["gt", ["get", ["var", "handle"], "seen"], 1], "failure_as": {"kind": ["var", "kind"], "detail": ["get", ["var", "response"], "count"]},
        "success": ["eq", ["get", ["var", "response"], "count"], 1]}}}',
    '{"name": "t.Grouped", "machine": "sync", "params": [], "policies": {"group": {"name": "g"}},
      "requests": {"start": {"transport": "sql", "args": {"statement": "select 1"}}}}',
    '{"name": "t.Else", "machine": "sync", "params": [], "requests": {"start": {"transport": "sql", "args": {"statement": "select 1", "connection": "far"}}}}'
  ]::jsonb[]) s;

-- an_atomic(CALLS…)
create function an_atomic(variadic p_calls jsonb[]) returns jsonb
language sql as $$ select jsonb_build_object('kind', 'atomic', 'line', 2, 'steps', to_jsonb(p_calls)); $$;
-- a call in line LINE
create function a_call(p_type text, p_as text, p_line int, p_args jsonb default '{}') returns jsonb
language sql as $$ select play_task(p_type, p_as, p_args) || jsonb_build_object('line', p_line); $$;
create function args_of(p_instance bigint) returns jsonb
language sql as $$ select args from play_request where instance_id = p_instance order by k desc limit 1; $$;
create function names_of(p_instance bigint) returns jsonb
language sql as $$ select coalesce(jsonb_object_agg(name, value), '{}') from wf.binding where instance_id = p_instance; $$;
create function error_of(p_instance bigint) returns jsonb
language sql as $$ select error from wf.process where instance_id = p_instance and kind = 'atomic' order by id desc limit 1; $$;

-- one task: its arguments, its request, its names
select play_install('pair', jsonb_build_array(
    an_atomic(a_call('t.Put', 'a', 3, '{"n": ["var", "p"], "limit": "PT1M30.5S"}'), a_call('t.Put', null, 4, '{"n": 7, "limit": null}'), a_call('t.Get', 'b', 5)),
    '{"kind": "return", "line": 6, "value": {"a": ["var", "a"], "b": ["var", "b"]}, "reads": {"a": 0, "b": 0}}'::jsonb),
    '[{"name": "p", "type": "json"}]');
select results_eq($$select kind, machine, label, bind, names, idempotent, task_type, transport, children, picks from wf.node where kind = 'atomic'$$,
                  $$values ('atomic', 'sync', 'atomic as a, b', '', '{a,b}'::text[], true, 'atomic', 'sql', 0, null::text[])$$, 'an atomic is one node, and a leaf');
select wf.start('pair', '{"p": {"k": null}}') as i \gset
select results_eq(format('select kind, name, task_type, title, state, input from wf.task_v where instance_id = %s', :i),
    $$values ('atomic', 'atomic as a, b', 'atomic', null::text, 'INIT', '{"calls": [{"n": {"k": null}, "limit": "PT1M30.5S"}, {"n": 7, "limit": null}, {}]}'::jsonb)$$, 'the arguments of an atomic are those of its calls');
select is(play_take(:driver), 1::bigint, 'a driver gets one request');
select is(args_of(:i), '{"statements": [{"line": 3, "rows": false, "params": [{"k": null}], "statement": "insert into t values ($1)", "timeout": 90.5},
                                        {"line": 4, "rows": false, "params": [7], "statement": "insert into t values ($1)", "timeout": null},
                                        {"line": 5, "rows": true, "statement": "select 1"}]}', 'of three statements, each with its line and its time limit in seconds');
select is(play_report(play_id(:i, 'atomic'), 'response', '{"results": [{"rows": [], "count": 1}, {"rows": [], "count": 1}, {"rows": [{"n": 1}], "count": 1}]}'), 'done', 'a driver answers all calls of an atomic together');
select is(names_of(:i), '{"p": {"k": null}, "a": {"count": 1, "n": {"k": null}}, "b": [{"n": 1}]}', 'each call binds its name to what its type makes of its part');
select is((select output from wf.instance where id = :i), '{"a": {"count": 1, "n": {"k": null}}, "b": [{"n": 1}]}', 'the step after an atomic reads the names of its calls');
select is((select output from wf.process where instance_id = :i and kind = 'atomic'), '{"a": {"count": 1, "n": {"k": null}}, "b": [{"n": 1}]}', 'the output of an atomic is an object of its names');

-- constant arguments: install makes the request
select play_install('fixed', jsonb_build_array(an_atomic(a_call('t.Put', null, 3, '{"n": ["const", {"x": null}], "limit": "PT5S"}'))));
select results_eq($$select n.request, n.bind, n.names, n.plain, n.input_fixed from wf.node n join wf.version v on v.id = n.version_id join wf.workflow w on w.version_id = v.id where n.kind = 'atomic' and w.name = 'fixed'$$,
    $$values ('{"statements": [{"line": 3, "rows": false, "params": [{"x": null}], "statement": "insert into t values ($1)", "timeout": 5}]}'::jsonb, null::text, null::text[], true, true)$$,
    'a request of constants is made by install; where no name is bound any response will do');
select wf.start('fixed') as i \gset
select play_take(:driver);
select play_report(play_id(:i, 'atomic'), 'response', '{"results": [{"rows": [], "count": 1}]}');
select is((select result from wf.instance where id = :i), 'success', 'an atomic with constant arguments ends with success');

-- what cannot be evaluated fails the atomic as a whole
select play_install('broken', jsonb_build_array(an_atomic(a_call('t.Get', 'b', 3), a_call('t.Put', 'a', 4, '{"n": ["div", 1, ["var", "p"]], "limit": null}'))), '[{"name": "p", "type": "json"}]');
select wf.start('broken', '{"p": 0}') as i \gset
select is(error_of(:i), '{"kind": "input", "message": "line 2: 1 / p: division by zero", "detail": {"line": 2, "expression": "1 / p"}}', 'an argument that cannot be evaluated is its error');
select is(play_take(:driver), 0::bigint, 'no statement goes out');

-- the clauses of its types: the first that says so fails all
select play_install('judged', jsonb_build_array(an_atomic(a_call('t.One', 'a', 3, '{"kind": ["var", "p"]}'), a_call('t.One', 'b', 4, '{"kind": "odd"}'), a_call('t.Put', 'c', 5, '{"n": 1, "limit": null}'))),
                    '[{"name": "p", "type": "string", "default": "even"}]');
create function judged(p_driver bigint, p_first int, p_second int) returns text
language plpgsql as $$
declare
    v_instance bigint := wf.start('judged');
begin
    perform play_take(p_driver);
    perform play_report(play_id(v_instance, 'atomic'), 'response', format('{"results": [{"count": %s}, {"count": %s}, {"count": 5}]}', p_first, p_second));
    return coalesce(error_of(v_instance)::text, names_of(v_instance)::text);
end;
$$;
select is(judged(:driver, 1, 1)::jsonb, '{"p": "even", "c": {"n": 1, "count": 5}}', 'all are content; a type without output binds nothing');
select is(judged(:driver, 1, 2)::jsonb, '{"kind": "odd", "detail": 2, "message": "statement 2 of 3 (line 4): the response says that it failed"}', 'failure when: with the kind of that call');
select is(judged(:driver, 2, 2)::jsonb, '{"kind": "even", "detail": 2, "message": "statement 1 of 3 (line 3): the response says that it failed"}', 'the first one counts');
select is(judged(:driver, 1, 0)::jsonb, '{"kind": "failed", "message": "statement 2 of 3 (line 4): the response does not say that it succeeded"}', 'success when');
select is(judged(:driver, 0, 2)::jsonb ->> 'message', 'statement 1 of 3 (line 3): the response does not say that it succeeded', 'of several the first in order');
select results_eq($$select n.idempotent from wf.node n join wf.workflow w on w.version_id = n.version_id where n.kind = 'atomic' and w.name in ('judged', 'pair') order by w.name$$,
    $$values (false), (true)$$, 'an atomic is idempotent if all its types are');

-- what operators do
select wf.start('pair', '{"p": 1}') as i \gset
select play_take(:driver);
select play_fail(play_id(:i, 'atomic'));
select wf.resolve(jsonb_build_object('instance', :i), '{"b": [3], "p": 9, "other": 1}');
select is(names_of(:i), '{"p": 1, "b": [3]}', 'an output that an operator gives binds the names of the atomic, and no others');
select wf.start('pair', '{"p": 1}') as i \gset
select play_take(:driver);
select play_fail(play_id(:i, 'atomic'));
select wf.ignore(jsonb_build_object('instance', :i));
select results_eq(format('select result, output, names_of(id) from wf.instance where id = %s', :i), $$values ('warning', '{"a": null, "b": null}'::jsonb, '{"p": 1}'::jsonb)$$, 'ignored, its names read as null');
select wf.start('pair', '{"p": 1}') as i \gset
select play_take(:driver);
select wf.cancel(jsonb_build_object('instance', :i));
select is(play_state(:i, 'atomic'), 'CANCEL_REQUESTED', 'an atomic is cancelled like any task');
select play_report(play_id(:i, 'atomic'), 'error', '{"kind": "cancelled", "message": "stopped"}');
select is(error_of(:i) ->> 'kind', 'cancelled', 'a cancelled atomic has failed with cancelled');
select wf.retry(jsonb_build_object('instance', :i));
select play_take(:driver);
select wf.abort(jsonb_build_object('instance', :i));
select play_report(play_id(:i, 'atomic'), 'response', '{"results": [{"count": 1}, {"count": 1}, {"rows": []}]}');
select results_eq(format('select state, names_of(id) from wf.instance where id = %s', :i), $$values ('ABORTED', '{"p": 1}'::jsonb)$$, 'aborted, it binds nothing');
select play_driver('lost', '{sql}', '{default}') as lost \gset
select wf.start('pair', '{"p": 1}') as i \gset
select wf.start('judged') as j \gset
select play_take(:lost);
select wf.leave(:lost);
select results_eq(format('select state from wf.process where instance_id in (%s, %s) and kind = ''atomic'' order by instance_id', :i, :j), $$values ('INIT'), ('FAILED')$$, 'a lost one is done again if all its types are idempotent');
select wf.abort('{"global": true}');
select play_take(:driver);

-- its policies are its own
select play_install('held', jsonb_build_array(play_par(
    an_atomic(a_call('t.Get', 'a', 3)) || '{"policies": {"group": {"name": "one", "max": 1}, "retry": {"attempts": 2, "delay": "PT5S"}, "title": "first", "priority": 3, "idempotent": false}}',
    an_atomic(a_call('t.Get', 'b', 4)) || '{"policies": {"group": {"name": ["var", "p"]}, "queue": "default", "title": ["text", "of ", ["var", "p"]]}, "reads": {"p": 0}}')),
    '[{"name": "p", "type": "string"}]');
select wf.start('held', '{"p": "one"}') as i \gset
select is(play_take(:driver), 1::bigint, 'a group holds one of them back');
select results_eq(format('select title, group_name, state from wf.task_v where instance_id = %s order by process_id', :i), $$values ('first', 'one', 'START_REQUESTED'), ('of one', 'one', 'INIT')$$, 'titles and groups');
select results_eq(format('select reason from wf.explain(%s)  where process_id is not null and reason <> ''children'' order by 1', :i), $$values ('group'), ('request')$$, 'explain says why');
select play_fail((select min(id) from wf.process where instance_id = :i and kind = 'atomic'));
select results_eq(format('select state, attempt from wf.process where instance_id = %s and kind = ''atomic'' order by id', :i), $$values ('INIT', 2), ('INIT', 1)$$, 'an atomic is tried again as one task');
select play_later('6 s');
select is(play_take(:driver), 1::bigint, 'the other one has the place now');
select is_empty('select * from wf.fsck()', 'the rows agree with each other');
select wf.abort('{"global": true}');

-- names in scopes: alternatives, elements, large values
select play_install('scopes', jsonb_build_array(
    jsonb_build_object('kind', 'try', 'line', 1, 'body', an_atomic(a_call('t.Get', 'a', 3), a_call('t.Get', 'b', 4)),
                       'catches', jsonb_build_array(jsonb_build_object('kind', 'catch', 'line', 5, 'name', 'e', 'body', an_atomic(a_call('t.Get', 'a', 6))))),
    play_forall('x', '[1, 2]', an_atomic(a_call('t.Put', 'c', 8, '{"n": ["var", "x"], "limit": null}') || '{"reads": {"x": 1}}', a_call('t.Get', 'd', 9)))
        || '{"collect": [{"as": "ys", "value": ["list", ["var", "c"], ["var", "d"]]}], "collect_reads": {"c": 1, "d": 1}}'));
select wf.start('scopes') as i \gset
select play_take(:driver);
select play_fail(play_id(:i, 'atomic'));
select play_take(:driver);
select play_report(play_id(:i, 'atomic'), 'response', '{"results": [{"rows": [1]}]}');
select is(names_of(:i) - '{e,x}'::text[], '{"a": [1]}', 'a catch may bind a name that its body did not bind');
select is(play_take(:driver), 2::bigint, 'an atomic for each element');
select play_report(p.id, 'response', format('{"results": [{"count": %s}, {"rows": [%s]}]}', p.id - m.id, p.id - m.id))
  from wf.process p, (select min(id) as id from wf.process where instance_id = :i and kind = 'atomic' and state <> 'END' and index is not null) m
 where p.instance_id = :i and p.kind = 'atomic' and p.state = 'START_REQUESTED';
select is((select value from wf.binding where instance_id = :i and name = 'ys'), '[[{"n": 1, "count": 0}, [0]], [{"n": 2, "count": 1}, [1]]]', 'names of an element stay with it');
select is_empty('select * from wf.fsck()', 'the rows agree with each other, names in scopes');
update wf.setting set value = '65536' where name = 'instance_bytes';
select wf.start('pair', '{"p": 1}') as i \gset
select play_take(:driver);
select play_report(play_id(:i, 'atomic'), 'response', jsonb_build_object('results', jsonb_build_array('{}'::jsonb, '{}'::jsonb, jsonb_build_object('rows',
    (select jsonb_agg(md5(n::text)) from generate_series(1, 2500) n))))::text);
select is(error_of(:i) ->> 'kind', 'limit', 'an instance has no room for what it binds');
update wf.setting set value = '16777216' where name = 'instance_bytes';
update wf.setting set value = '8192' where name = 'value_bytes';
select wf.retry(jsonb_build_object('instance', :i));
select play_take(:driver);
select play_report(play_id(:i, 'atomic'), 'response', jsonb_build_object('results', jsonb_build_array('{}'::jsonb, '{}'::jsonb, jsonb_build_object('rows', repeat('x', 9000))))::text);
select matches(error_of(:i) ->> 'message', 'more than the 8192 allowed', 'the responses of all statements together are bounded');
update wf.setting set value = '1048576' where name = 'value_bytes';
select wf.abort('{"global": true}');

-- a forall counts an atomic as one process
select results_eq($$select most, most_live from wf.node where kind = 'forall'$$, $$values (1::bigint, 1::bigint)$$, 'the calls in an atomic are no processes of a forall');

-- graph, simulation
select results_eq($$select kind, label from wf.graph('pair') order by node_id$$, $$values ('call', 'pair'), ('atomic', 'atomic as a, b'), ('return', 'return')$$, 'an atomic is one node of the graph');
select is((select detail -> 'output' from wf.simulate('pair', '{"p": 1}') where event = 'result'), '{"a": {"n": 1, "count": 0}, "b": []}', 'a simulation makes up all results');
select is((select detail -> 'output' from wf.simulate('pair', '{"p": 1}', '[{"task": "b", "outcome": {"output": {"a": 1, "b": 2}}}]') where event = 'result'), '{"a": 1, "b": 2}', 'a script finds it by one of its names');
select is((select detail -> 'output' from wf.simulate('pair', '{"p": 1}', '[{"task": "atomic", "attempt": 1, "outcome": {"error": {"kind": "sql"}}, "then": "ignore"}]') where event = 'result'), '{"a": null, "b": null}', 'a script finds an atomic by one of its types');

-- compiled anew it is what it was
create table before as select * from wf.node;
select lives_ok('select wf._recompile()', 'every version can be compiled anew');
select is_empty('table before except table wf.node', 'each node is as it was');

-- what install refuses
select throws_ok(format('select play_install(''bad'', jsonb_build_array(%s), %L)', bad, '[{"name": "p", "type": "json"}]'), 'WF005', message)
  from (values
        ($$an_atomic(variadic '{}')$$, 'workflows[0].steps[0]: must not be empty'),
        ($$an_atomic('{"kind": "let", "line": 1, "as": "x", "value": 1}')$$, 'workflows[0].steps[0].steps[0]: let cannot stand in an atomic'),
        ($$an_atomic(an_atomic(a_call('t.Get', 'a', 1)))$$, 'workflows[0].steps[0].steps[0]: atomic cannot stand in an atomic'),
        ($$an_atomic('{"kind": "call", "line": 1, "workflow": "f", "args": {}, "steps": []}')$$, 'workflows[0].steps[0].steps[0]: call cannot stand in an atomic'),
        ($$an_atomic('{"kind": "try", "line": 1, "body": {"kind": "let", "line": 1, "as": "x", "value": 1}, "catches": [{"kind": "catch", "line": 1, "name": "e", "body": {"kind": "seq", "line": 1, "steps": []}}]}')$$,
         'workflows[0].steps[0].steps[0]: try cannot stand in an atomic'),
        ($$an_atomic(a_call('t.Get', 'a', 1) || '{"policies": {"idempotent": true}}')$$, 'workflows[0].steps[0].steps[0].policies: a call in an atomic has no policies'),
        ($$an_atomic(a_call('t.Get', 'a', 1), a_call('t.Do', 'b', 2))$$, 'workflows[0].steps[0].steps[1].type: t.Do is not a SQL task of one request'),
        ($$an_atomic(a_call('t.Job', 'a', 1))$$, 'workflows[0].steps[0].steps[0].type: t.Job is not a SQL task of one request'),
        ($$an_atomic(a_call('t.Sleep', 'a', 1, '{"duration": "PT1S"}'))$$, 'workflows[0].steps[0].steps[0].type: t.Sleep is not a SQL task of one request'),
        ($$an_atomic(a_call('t.Else', 'a', 1))$$, 'workflows[0].steps[0].steps[0].type: t.Else is not a SQL task of one request'),
        ($$an_atomic(a_call('t.Grouped', 'a', 1))$$, 'workflows[0].steps[0].steps[0].type: the policy group of t.Grouped does not reach an atomic'),
        ($$an_atomic(a_call('t.Get', 'a', 1), a_call('t.Put', 'b', 2, '{"n": ["var", "a"], "limit": null}'))$$, 'workflows[0].steps[0].steps[1].reads: a is bound in the same atomic'),
        ($$an_atomic(a_call('t.Get', 'a', 1), a_call('t.Get', 'a', 2))$$, 'workflows[0].steps[0].steps[1]: the name a is bound twice'),
        ($$an_atomic(a_call('t.Put', 'a', 1))$$, 'workflows[0].steps[0].steps[0].args: t.Put needs the parameter limit'),
        ($$an_atomic(a_call('t.Put', 'a', 1, '{"n": ["secret", "s"], "limit": null}'))$$, 'workflows[0].steps[0].steps[0].args: a secret ends up in params of sql'),
        ($$an_atomic(a_call('t.Get', 'a', 1)) || '{"as": "x"}'$$, 'workflows[0].steps[0].as: unknown key'),
        ($$an_atomic(a_call('t.Get', 'a', 1)) || '{"policies": {"priority": ["var", "p"]}}'$$, 'workflows[0].steps[0]: reads lacks p')
       ) v (bad, message);
-- D4: what finalizes a workflow is its last atomic
select play_install('finalized', jsonb_build_array(play_par(play_task('t.Do', 'a'), play_task('t.Do', 'b')), an_atomic(a_call('t.Get', 'c', 3), a_call('t.Get', 'd', 4))));
select wf.start('finalized') as i \gset
select play_take(:driver);
select play_report(play_id(:i, 'a'), 'response', '{}');
select is((select count(*) from wf.process p where p.instance_id = :i and p.kind = 'atomic'), 0::bigint, 'D4: the last atomic does not begin while a task before it is open');
select play_fail(play_id(:i, 'b'));
select play_take(:driver);
select is((select count(*) from wf.process p where p.instance_id = :i and p.kind = 'atomic'), 0::bigint, 'D4: the last atomic does not begin while a task before it has failed');
select wf.ignore(jsonb_build_object('process', jsonb_build_array(:i, play_id(:i, 'b'))));
select is(play_take(:driver), 1::bigint, 'D4: when all before it has ended well or is ignored, it does');
select play_fail(play_id(:i, 'atomic'));
select is(names_of(:i) - 'a' - 'b', '{}', 'D4: an atomic that fails has bound nothing');
select wf.retry(jsonb_build_object('process', jsonb_build_array(:i, play_id(:i, 'atomic'))));
select is(play_take(:driver), 1::bigint, 'D4: a retry of it');
select is(args_of(:i), (select args from play_request where process_id = play_id(:i, 'atomic') order by k limit 1), 'D4: a retry runs all calls of the atomic again');
select play_report(play_id(:i, 'atomic'), 'response', '{"results": [{"rows": [], "count": 1}, {"rows": [], "count": 1}]}');
select is((select state || ' ' || result from wf.instance where id = :i), 'END warning', 'D4: the workflow ends after its last atomic');

select * from finish();
rollback;
