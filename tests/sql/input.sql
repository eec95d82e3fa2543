-- input.sql - tasks that wait until a person has answered a form, and who may answer.
begin;
\ir helper/play.sql
select no_plan();

insert into play_type (name, spec) values
    ('t.Input', '{"name": "t.Input", "machine": "wait", "wait": "input",
                  "params": [{"name": "title", "type": "string"}, {"name": "form", "type": "json"},
                             {"name": "role", "type": {"optional": "string"}, "default": null},
                             {"name": "assignee", "type": {"optional": "string"}, "default": null}]}');
-- ask(NAME, FORM [, ROLE [, ASSIGNEE [, POLICIES]]]): starts an instance that asks
create function ask(p_name text, p_form jsonb, p_role text default null, p_assignee text default null, p_policies jsonb default null) returns bigint
language plpgsql as $$
begin
    perform play_install(p_name, jsonb_build_array(play_task('t.Input', 'a', jsonb_build_object('title', 'Go on?', 'form', jsonb_build_array('const', p_form), 'role', p_role, 'assignee', p_assignee), p_policies)));
    return wf.start(p_name);
end;
$$;
create function asked(p_instance bigint) returns bigint language sql as $$ select max(n.id) from wf.input n where n.instance_id = p_instance; $$;
create function work() returns void
language plpgsql as $$ begin while exists (select from wf.work w where w.due_at <= wf.now() and not w.aside) loop perform wf.work(); end loop; end; $$;
select set_config('wf.now', '2026-03-01 12:00:00+00', true);
select play_driver() as driver \gset

-- an answer
select ask('choose', '{"pick": {"type": "string", "enum": ["A", "B"]}, "n": {"type": "integer", "default": 1, "maximum": 5}}', 'clerks', 'ann') as i \gset
select asked(:i) as n \gset
select results_eq(format('select place, reason, until from wf._place_v where instance_id = %s and process_id = %s', :i, play_id(:i, 'a')),
                  $$values ('timer', 'input', null::timestamptz)$$, 'a wait for an answer is in its place');
select is((select e.detail from wf.explain(:i) e where e.process_id = play_id(:i, 'a') and e.reason = 'input'),
          format('waits since 2026-03-01 12:00:00+00 until ann or a member of clerks answers: Go on?; wf-console answer %s does it', :n), 'O9: explain says who is waited for, and since when');
select is((select count(*) from wf.fsck()), 0::bigint, 'fsck finds its rows sound');
select is(play_take(:driver), 0::bigint, 'no driver is asked for anything');
select throws_ok(format('select wf.answer(%s, %L)', :n, '{"pick": 123}'), 'WF002', format('input %s is not answered: pick is 123, but has to be of type string', :n), 'T-O9: a number is no choice');
select throws_ok(format('select wf.answer(%s, %L)', :n, '{"pick": "123", "n": 9, "x": 1}'), 'WF002',
                 format('input %s is not answered: n is 9, but has to be at most 5; pick is "123", but has to be one of "A", "B"; x is not a field; the fields are n, pick', :n), 'T-O9, O45: one message names every wrong field');
select throws_ok(format('select wf.answer(%s, %L)', :n, '{}'), 'WF002', format('input %s is not answered: pick is missing; it has to be of type string', :n), 'O45: a field is missing');
select throws_ok(format('select wf.answer(%s, %L)', :n, '[]'), 'WF002', format('input %s is not answered: an answer is an object of fields, not []', :n), 'a list is no answer');
select is((select count(*) from wf.work where kind = 'input') + (select count(*) from wf.input where answer is not null), 0::bigint, 'O9: an invalid answer leaves nothing');
select wf.suspend(jsonb_build_object('instance', :i));
select is(wf.answer(:n, '{"pick": "A"}'), '{"pick": "A", "n": 1}', 'O46: a default is filled in');
select is(play_state(:i, 'a'), 'WAITING', 'the sender''s transaction moves nothing');
select throws_ok(format('select wf.answer(%s, %L)', :n, '{"pick": "B"}'), 'WF004', format('input %s is answered already by %s at 2026-03-01T12:00:00Z', :n, session_user), 'an answer is final');
select wf.resume(jsonb_build_object('instance', :i));
select work();
select is(play_state(:i, 'a'), 'END', 'T-O9: a valid answer ends the wait');
select is((select output from wf.process where instance_id = :i and bind = 'a'), '{"pick": "A", "n": 1}', 'the output is the answer itself');
select results_eq(format('select answered_by, open from wf.input_v where input_id = %s', :n), format('values (%L::text, false)', session_user), 'the view keeps who answered');
select play_on(:driver);
select wf.purge(jsonb_build_object('instance', :i));
select is((select count(*) from wf.input where instance_id = :i), 0::bigint, 'questions go with their instance');
select throws_ok('select wf.answer(0, null)', 'WF003', 'there is no input 0', 'a number that nothing has');

-- what values fit
create function misfit(jsonb, jsonb) returns text language sql as $$ select wf._form_misfit($1, $2) $$;
select is(misfit(s::jsonb, v::jsonb), m, coalesce(m, v || ' fits ' || s))
  from (values
    ('{"type": "string"}', '"x"', null),
    ('{"type": "boolean"}', 'true', null),
    ('{"type": "boolean"}', '"true"', 'has to be of type boolean'),
    ('{"type": "integer"}', '1.5', 'has to be of type integer'),
    ('{"type": "integer"}', '"1"', 'has to be of type integer'),
    ('{"type": "number", "minimum": 1}', '0.5', 'has to be at least 1'),
    ('{"type": "number", "maximum": 1}', '1', null),
    ('{"type": "string", "minLength": 2}', '"x"', 'has to have at least 2 characters'),
    ('{"type": "string", "maxLength": 2}', '"xyz"', 'has to have at most 2 characters'),
    ('{"type": "string", "pattern": "^a+$"}', '"b"', 'does not match the pattern ^a+$'),
    ('{"type": "string", "pattern": "^a+$"}', '"aa"', null),
    ('{"type": "string", "format": "date"}', '"2026-02-28"', null),
    ('{"type": "string", "format": "date"}', '"2026-02-30"', 'is not a valid date'),
    ('{"type": "string", "format": "date-time"}', '"2026-02-28T01:02:03Z"', null),
    ('{"type": "string", "format": "date-time"}', '"soon"', 'is not a valid date-time'),
    ('{"type": "string", "format": "email"}', '"a@b"', null),
    ('{"type": "string", "format": "email"}', '"a b@c"', 'is not a valid email'),
    ('{"type": "string", "format": "uuid"}', '"7"', 'is not a valid uuid'),
    ('{"type": "array", "items": {"type": "integer"}}', '[1, 2]', null),
    ('{"type": "array", "items": {"type": "integer"}}', '[1, "x"]', 'has an element "x" that has to be of type integer')) t (s, v, m);

-- forms that are none
create function flaw(jsonb) returns text language sql as $$ select flaw from wf._read_form($1) $$;
select is(flaw(f::jsonb), m, coalesce(m, f || ' is a form'))
  from (values
    ('{"properties": {"x": {"type": "string"}}, "required": ["x"], "type": "object", "title": "t"}', null),
    ('7', 'a form is an object such as {"approve": {"type": "boolean"}}, not 7'),
    ('{}', 'the form has 0 fields; allowed are 1 to 100'),
    ('{"x": 1}', 'the field x has to be an object such as {"type": "string"}, not 1'),
    ('{"x": {"type": "object"}}', 'the field x has the type object; allowed are string, integer, number, boolean and array'),
    ('{"x": {"type": "string", "minimum": 1}}', 'the field x has minimum; a field of type string may have type, title, description, default, minLength, maxLength, pattern, format, enum'),
    ('{"x": {"type": "string", "format": "ipv4"}}', 'the field x format has to be date, date-time, email or uuid'),
    ('{"x": {"type": "string", "minLength": -1}}', 'the field x minLength has to be a whole number, not negative'),
    ('{"x": {"type": "string", "enum": []}}', 'the field x enum has to be a list of what is allowed'),
    ('{"x": {"type": "string", "enum": [1]}}', 'the field x has the choice 1, which has to be of type string'),
    ('{"x": {"type": "integer", "default": "a"}}', 'the field x has the default "a", which has to be of type integer'),
    ('{"x": {"type": "array"}}', 'the field x has items, of which each has to be an object such as {"type": "string"}, not null'),
    ('{"properties": {"x": {"type": "string"}}, "required": ["y"]}', 'the form requires "y", which is not a field of it'),
    ('{"properties": {"x": {"type": "string"}}, "allOf": []}', 'the form has allOf; beside properties it may have type, title, description, properties, required')) t (f, m);
select matches(flaw(jsonb_build_object('x', jsonb_build_object('type', 'string', 'pattern', p))), '^the field x the pattern .* is none that can be used: ' || m, 'no pattern: ' || p)
  from (values ('(', ''), ('(a)\1', 'a regular expression may not have back references')) t (p, m);
select ask('bad_form', '{"x": {"type": "string", "foo": 1}}') as i \gset
select results_eq(format('select state, error ->> %L from wf.process where instance_id = %s and bind is not null', 'kind', :i), $$values ('FAILED', 'input')$$, 'a bad form fails the task');
select wf.abort('{"global": true}');

-- who may answer
create role clerks;
create role ann login;
create role bob login in role clerks;
create role eve login;
grant wf_app to ann, bob, eve;
select ask('who', '{"ok": {"type": "boolean"}}', 'clerks', 'ann') as i \gset
select asked(:i) as n \gset
select matches(play_as('eve', format('select wf.answer(%s, %L)', :n, '{"ok": true}')), format('^WF008 eve may not answer input %s: it asks ann or a member of clerks$', :n), 'O9: a login that is not asked may not answer');
savepoint before;
select is(play_as('ann', format('select wf.answer(%s, %L)', :n, '{"ok": true}')), '{"ok": true}', 'O9: the assignee may answer');
rollback to before;
select is(play_as('bob', format('select wf.answer(%s, %L)', :n, '{"ok": true}')), '{"ok": true}', 'a member of the role may answer');
select ask('whoever', '{"ok": {"type": "boolean"}}') as i \gset
select asked(:i) as n \gset
savepoint before;
select wf.workflow_grant_remove('wf_app'), wf.workflow_grant_set('bob', '{whoever}');
select is(play_as('bob', format('select wf.answer(%s, %L)', :n, '{"ok": true}')), '{"ok": true}', 'where nobody is named, who may signal the instance may answer');
rollback to before;
select wf.workflow_grant_remove('wf_app');
select matches(play_as('eve', format('select wf.answer(%s, %L)', :n, '{"ok": true}')), '^WF008 ', 'where nobody is named, who may not signal the instance may not answer');

-- during an abort, and when asked anew
select wf.abort(jsonb_build_object('instance', :i));
select throws_ok(format('select wf.answer(%s, %L)', :n, '{"ok": true}'), 'WF004', format('input %s is not asked any more: its task has ended, was stopped or has asked anew', :n), 'an instance that is aborted takes no answer');
select ask('limit', '{"ok": {"type": "boolean"}}', p_policies => '{"timeout": {"runtime": "PT1M"}}') as i \gset
select asked(:i) as n \gset
select play_later('61 s'), wf.tick();
select is((select p.error ->> 'kind' from wf.process p where p.instance_id = :i and p.bind = 'a'), 'timeout', 'a deadline ends the wait');
select wf.retry(jsonb_build_object('instance', :i));
select isnt(asked(:i), :n::bigint, 'a retry asks anew');
select throws_ok(format('select wf.answer(%s, %L)', :n, '{"ok": true}'), 'WF004', null, 'the former input takes no answer');
select lives_ok(format('select wf.answer(%s, %L)', asked(:i), '{"ok": false}'), 'the new one does');
select work();
select is(play_state(:i, 'a'), 'END', 'the new answer ends the wait');
select is((select count(*) from wf.fsck()), 0::bigint, 'fsck finds nothing');

-- in a simulation the defaults come, or what the script has
select ask('simulated', '{"pick": {"type": "string", "enum": ["A", "B"]}, "n": {"type": "integer", "default": 3}}') as i \gset
select is((select string_agg(to_char(s.elapsed, 'HH24:MI:SS') || ' ' || s.event, ', ' order by s.elapsed) from wf.simulate('simulated') s where s.event = 'result'), '00:00:01 result', 'a simulated answer comes after a second');
select is((select s.detail ->> 'kind' from wf.simulate('simulated', p_script => '[{"task": "a", "outcome": {"error": {"kind": "no", "message": "no"}}}]') s where s.event = 'fail'), 'no', 'a simulated wait for an answer fails if the script has it');
select is(wf._default_answer(:i, play_id(:i, 'a'), wf.now()), '{"pick": "A", "n": 3}', 'a simulated answer has the defaults and the first choice');

-- what fsck finds
savepoint before;
delete from wf.input n where n.instance_id = :i;
select results_eq('select check_name, detail from wf.fsck()', $$values ('input: nothing ends its wait', 'nobody is asked')$$, 'fsck finds a wait that nobody is asked for');
rollback to before;
select wf.answer(asked(:i), '{"pick": "A"}');
delete from wf.work w where w.kind = 'input' and w.item_id = asked(:i);
select results_eq('select check_name, detail from wf.fsck()', format('values (%L, %L)', 'input: nothing ends its wait', format('input %s is answered, but there is no work', asked(:i))), 'fsck finds an answer that nothing takes');
insert into wf.input (instance_id, process_id, title, form, asked_at) values (0, 0, 't', '{}', wf.now());
select is((select count(*) from wf.fsck() f where f.check_name = 'input: of no instance'), 1::bigint, 'fsck finds an input of no instance');
select * from finish();
rollback;
