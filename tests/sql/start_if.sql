-- start_if.sql - a workflow that says whether it is to be started.
begin;
\ir helper/play.sql
select no_plan();

-- install(NAME, POLICY): a workflow with parameter n and this policy start_if
create function install(p_name text, p_policy jsonb) returns text
language sql as $$
    select string_agg(i.answer, ' ') from wf.install('', jsonb_build_object('format', 1, 'file', 'x.wf', 'task_types', '{}'::jsonb, 'workflows', jsonb_build_array(
        jsonb_build_object('name', p_name, 'line', 1, 'params', '[{"name": "n", "type": {"optional": "json"}, "default": 7}]'::jsonb,
                           'steps', '[{"kind": "return", "line": 1, "value": ["var", "n"], "reads": {"n": 0}}]'::jsonb, 'policies', jsonb_build_object('start_if', p_policy))))) i;
$$;
-- starts(CALL): started, or the error
create function starts(p_call text) returns text
language plpgsql as $$ begin execute 'select ' || p_call; return 'started'; exception when others then return sqlstate || ': ' || sqlerrm; end; $$;
create function instances() returns bigint language sql as $$ select count(*) from wf.instance $$;

select install('small', '{"condition": ["lt", ["var", "n"], 10], "message": ["text", ["var", "n"], " is too much"]}');
select install('bare', '{"condition": ["var", "n"]}');
select install('broken', '{"condition": ["lt", ["div", 1, ["var", "n"]], 10], "message": "never"}');
select is(starts($$wf.start('small')$$), 'started', 'where it holds, with the defaults, an instance starts');
select is(starts($$wf.start('small', '{"n": 12}')$$), 'WF017: 12 is too much', 'where it does not, the start is refused with its message');
select is(starts($$wf.start('small', '{"n": 12}', p_at => now() + interval '1 day')$$), 'WF017: 12 is too much', 'a start for later is refused, too');
select is(starts($$wf.start('bare', '{"n": null}')$$), 'WF017: its policy start_if does not hold', 'null counts as false, and there need not be a message');
select is(starts($$wf.start('bare', '{"n": 1}')$$), 'WF017: its policy start_if does not hold', 'a condition that gives no boolean counts as false');
select is(starts($$wf.start('bare', '{"n": true}')$$), 'started', 'true');
select matches(starts($$wf.start('broken', '{"n": 0}')$$), '^WF017: .*zero', 'an error refuses with its message');
select install('mute', '{"condition": false, "message": ["text", ["div", 1, 0]]}');
select matches(starts($$wf.start('mute')$$), '^WF017: .*zero', 'a message that cannot be worked out refuses with its error');
select is(starts($$wf.start_many('small', '[{"n": 11}]')$$), 'WF017: 11 is too much', 'a list of one');
select is(starts($$wf.start_many('small', '[{"n": 1}, {"n": 2}]')$$), 'started', 'several');
select is(starts($$wf.start_many('small', '[{"n": 1}, {"n": 11}]')$$), 'WF017: start 2: 11 is too much', 'a refused item of a list refuses all, and is named');
select is(instances(), 4::bigint, 'refused starts leave nothing');

-- a key
select is(starts($$wf.start('small', '{"n": 3}', p_key => 'k')$$), 'started', 'a start with a key');
select install('small', '{"condition": false, "message": "not now"}');
select is(starts($$wf.start('small', '{"n": 3}', p_key => 'k')$$), 'started', 'a key that is known answers its instance, and asks nothing');
select is(starts($$wf.start('small', '{"n": 3}', p_key => 'l')$$), 'WF017: not now', 'a new one is refused');
select is((select count(*) from wf.instance_key), 1::bigint, 'a refused start leaves no key');

-- a task and a schedule
insert into play_type (name, spec) values ('t.Start', '{"name": "t.Start", "machine": "wait", "wait": "child", "params": [{"name": "workflow", "type": "string"}]}');
select play_install('parent', jsonb_build_array(play_task('t.Start', 'a', '{"workflow": "small"}')));
select wf.start('parent') as i \gset
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is((select concat_ws(' ', p.state, p.error ->> 'kind', p.error ->> 'message') from wf.process p where p.id = play_id(:i, 'a')), 'FAILED rejected not now', 'a task wf.Start fails with kind rejected');
select wf.schedule_set('often', 'small', p_every => '1 hour', p_start_at => wf.now() + interval '1 min');
select play_later('2 min');
do $$ begin while wf.work() is not null loop null; end loop; end; $$;
select is((select concat_ws(' ', s.last_state, s.last_reason) from wf.schedule_v s where s.name = 'often'), 'refused not now', 'a time of a schedule is refused');
select throws_matching($$select install('bad', '{"message": "x"}')$$, 'start_if', 'install refuses one without a condition');
select throws_matching($$select install('bad', '{"condition": ["var", "nothing"]}')$$, 'nothing', 'install refuses a condition that reads an unknown name');
select is_empty('select * from wf.fsck()', 'fsck finds its rows sound');

select * from finish();
rollback;
