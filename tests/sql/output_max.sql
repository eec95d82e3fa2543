-- output_max.sql - the policy output: a bound for what a task gives.
begin;
\ir helper/play.sql
select no_plan();
select play_driver('fake', '{sql,builtin}') as driver \gset
insert into play_type (name, spec)
select s ->> 'name', s
  from unnest(array[
    '{"name": "t.Pick", "machine": "sync", "params": [], "requests": {"start": {"transport": "builtin", "args": {"op": "noop"},
        "output": {"a": ["get", ["var", "response"], "a"]}}}}',
    '{"name": "t.Size", "machine": "sync", "params": [{"name": "most", "type": "int"}], "policies": {"output": ["var", "most"]},
      "requests": {"start": {"transport": "builtin", "args": {"op": "noop"}, "output": ["get", ["var", "response"], "a"]}}}',
    '{"name": "t.Poll", "machine": "async", "params": [], "requests": {"start": {"transport": "builtin", "args": {"op": "noop"}},
        "poll": {"transport": "builtin", "args": {"op": "noop"}, "success": true, "output": ["get", ["var", "response"], "a"]}}}',
    '{"name": "t.Get", "machine": "sync", "params": [], "policies": {"idempotent": true},
      "requests": {"start": {"transport": "sql", "args": {"statement": "select 1", "rows": true}, "output": ["get", ["var", "response"], "rows"]}}}'
  ]::jsonb[]) s;

-- outcome_of(WORKFLOW, BODY…): what came of its task, which is answered so
create function outcome_of(p_driver bigint, p_workflow text, p_param jsonb, variadic p_bodies text[]) returns text
language plpgsql as $$
declare
    v_instance bigint := wf.start(p_workflow, jsonb_build_object('p', p_param));
    v_body text;
begin
    foreach v_body in array p_bodies loop
        perform play_take(p_driver);
        if exists (select from wf.process p where p.instance_id = v_instance and p.machine = 'async') then
            perform play_report(max(p.id), 'ack') from wf.process p where p.instance_id = v_instance and p.machine <> 'composite';
        end if;
        perform play_report(max(p.id), 'response', v_body) from wf.process p where p.instance_id = v_instance and p.machine <> 'composite';
        perform play_later('6 s');
    end loop;
    return (select p.state || coalesce(': ' || (p.error ->> 'kind') || ': ' || (p.error ->> 'message'), '')
              from wf.process p where p.instance_id = v_instance and p.machine <> 'composite');
end;
$$;
select play_install(n, jsonb_build_array(s), '[{"name": "p", "type": {"optional": "json"}}]')
  from (values ('picked', play_task('t.Pick', 'a', '{}', '{"output": 100}')),
               ('unbounded', play_task('t.Pick', 'a')),
               ('read', play_task('t.Pick', 'a', '{}', '{"output": ["var", "p"]}') || '{"reads": {"p": 0}}'),
               ('typed', play_task('t.Size', 'a', '{"most": 100}')),
               ('typed_read', play_task('t.Size', 'a', '{"most": ["var", "p"]}')),
               ('nearer', play_task('t.Size', 'a', '{"most": 100}', '{"output": 1000}')),
               ('polled', play_task('t.Poll', 'a', '{}', '{"output": 100}')),
               ('joined', '{"kind": "atomic", "line": 1, "steps": [{"kind": "task", "line": 1, "type": "t.Get", "args": {}, "as": "a"}, {"kind": "task", "line": 2, "type": "t.Get", "args": {}, "as": "b"}],
                            "policies": {"output": 100}}')) w (n, s);
select is(outcome_of(:driver, 'picked', '1', jsonb_build_object('a', repeat('x', 60))::text), 'END', 'an output within its bound');
select is(outcome_of(:driver, 'picked', '1', jsonb_build_object('a', repeat('x', 60), 'b', repeat('x', 9000))::text), 'END', 'the response may be larger');
select matches(outcome_of(:driver, 'picked', '1', jsonb_build_object('a', repeat('x', 100))::text), '^FAILED: output: the output has [0-9]+ bytes, more than the 100 that its policy allows$', 'a larger one is of kind output');
select is(outcome_of(:driver, 'unbounded', '1', jsonb_build_object('a', repeat('x', 100))::text), 'END', 'without the policy it is fine');
select matches(outcome_of(:driver, 'read', '50', jsonb_build_object('a', repeat('x', 60))::text), '^FAILED: output: .* more than the 50 ', 'the bound may be computed');
select is(outcome_of(:driver, 'read', 'null', jsonb_build_object('a', repeat('x', 600))::text), 'END', 'null is none');
select is(outcome_of(:driver, 'read', v::jsonb, '1'), 'FAILED: input: max of an output is an int of at least 1, not ' || btrim(v, '"'), 'not a bound: ' || v)
  from unnest(array['0', '-1', '1.5', '"2"', 'true']) v;
select matches(outcome_of(:driver, 'typed', '1', jsonb_build_object('a', repeat('x', 100))::text), '^FAILED: output: .* more than the 100 ', 'a type may bound its outputs');
select matches(outcome_of(:driver, 'typed_read', '99', jsonb_build_object('a', repeat('x', 100))::text), '^FAILED: output: .* more than the 99 ', 'by a parameter');
select is(outcome_of(:driver, 'nearer', '1', jsonb_build_object('a', repeat('x', 100))::text), 'END', 'the bound of the task is nearer than that of its type');
select matches(outcome_of(:driver, 'polled', '1', '{}', jsonb_build_object('a', repeat('x', 100))::text), '^FAILED: output: .* more than the 100 ', 'of an asynchronous task, too');
select matches(outcome_of(:driver, 'joined', '1', jsonb_build_object('results', jsonb_build_array(jsonb_build_object('rows', repeat('x', 40)), jsonb_build_object('rows', repeat('x', 40))))::text),
               '^FAILED: output: .* more than the 100 ', 'of an atomic: of all its names together');
select results_eq($$select w.name, n.output_max, n.picks from wf.node n join wf.workflow w on w.version_id = n.version_id where n.task_type = 't.Pick' order by 1$$,
    $$values ('picked', 100, null::text[]), ('read', null, null), ('unbounded', null, '{a}')$$, 'tasks without the policy are judged the short way');
select throws_ok(format('select play_install(''bad'', jsonb_build_array(play_task(''t.Pick'', ''a'', ''{}'', %L)))', jsonb_build_object('output', v::jsonb)), 'WF005',
                 'workflows[0].steps[0].policies.output: must be an int of at least 1', 'refused: ' || v)
  from unnest(array['0', '"2"', '1.5', '["add", 0, 0]']) v;
select is_empty('select * from wf.fsck()', 'the rows agree with each other');
select * from finish();
rollback;
