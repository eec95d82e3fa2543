-- Two workflows, of which `payroll` is granted to few, and the logins that try
-- everything with them. `one` has been handed a SQL task of each.
\set ON_ERROR_STOP on
set client_min_messages = warning;
select current_user as printer \gset
create schema probe;
grant usage on schema probe to public;

-- place: the column in the table
create table probe.login (name name primary key, place int);
insert into probe.login
select l.name, l.place
  from unnest('{nobody,app,pay,few,slow,low,tiny,ann,eve,viewer,operator,admin,one,two,payroll_sql,etl,owner}'::text[])
           with ordinality l (name, place);
create table probe.held (workflow text primary key, instance_id bigint, process_id bigint, token uuid);
create table probe.act (act text, statement text);
create table probe.cell (login name default current_user, act text, answer text);
grant select on probe.login, probe.held, probe.act to public;
grant insert on probe.cell to public;

select format('create role %I', r.name)
  from unnest('{payers,fews,slows,lows,tinies,secrets}'::text[]) r (name) \gexec
select format('create role %I login', l.name) from probe.login l \gexec
grant wf_app to app, pay, few, slow, low, tiny, payroll_sql, etl;
grant wf_author to ann, eve;
grant wf_viewer to viewer;
grant wf_operator to operator;
grant wf_admin to admin;
grant wf_driver to one, two;
grant wf_owner to owner;
grant payers to pay, few, slow, low, tiny;
grant fews to few;
grant slows to slow;
grant lows to low, eve;
grant tinies to tiny;
grant secrets to two;
grant payroll_sql to ann;

create function probe.twice(variadic jsonb[]) returns jsonb immutable security definer language sql
begin atomic
    select to_jsonb(2 * $1[1]::numeric);
end;
select wf.function_set('twice', 'probe.twice', '{n: number}', 'number', 'doubles');

create function probe.install(p_workflow text, p_title text) returns text language sql as $$
    select string_agg(i.answer, ' ')
      from wf.install('', jsonb_build_object(
               'format', 1, 'file', 'x.wf',
               'workflows', jsonb_build_array(jsonb_build_object('name', p_workflow, 'line', 1, 'params', '[]'::jsonb,
                   'steps', jsonb_build_array(jsonb_build_object('kind', 'task', 'line', 1, 'type', 't.Do', 'as', 'a',
                       'args', '{}'::jsonb, 'policies', jsonb_build_object('title', p_title))))),
               'task_types', '{"t.Do": {"name": "t.Do", "machine": "sync", "params": [],
                   "requests": {"start": {"transport": "sql", "args": {"statement": "select 1"}}}}}'::jsonb)) i
$$;
select probe.install(w, 'first') from unnest('{payroll,open}'::text[]) w;

-- Two workflows with which an instance starts another one, or waits for it.
select count(i.answer)
  from wf.install('', '{"format": 1, "file": "y.wf",
           "workflows": [
               {"name": "caller", "line": 1, "params": [{"name": "n", "type": "string"}], "steps": [
                   {"kind": "task", "line": 1, "type": "t.Start", "args": {"workflow": ["var", "n"]}, "reads": {"n": 0}}]},
               {"name": "waiter", "line": 2, "params": [{"name": "n", "type": "int"}], "steps": [
                   {"kind": "task", "line": 2, "type": "t.Await", "args": {"id": ["var", "n"]}, "reads": {"n": 0}}]}],
           "task_types": {
               "t.Start": {"name": "t.Start", "machine": "wait", "wait": "child", "params": [{"name": "workflow", "type": "string"}]},
               "t.Await": {"name": "t.Await", "machine": "wait", "wait": "instance", "params": [{"name": "id", "type": "int"}]}}}') i;

-- What drivers do with the task of such an instance: an error of it, or X.
create function probe.tended(p_instance bigint) returns text security definer language plpgsql as $$
declare
    v_kind text;
begin
    perform wf._tend_children(array[t.instance_id], array[t.process_id], wf.now())
       from wf.timer t where t.instance_id = p_instance and t.kind = 'child';
    select p.error ->> 'kind' into v_kind from wf.process p where p.instance_id = p_instance and p.error is not null;
    if v_kind in ('input', 'rejected') then
        raise insufficient_privilege;
    elsif v_kind is not null then
        raise exception using errcode = 'WF016';
    end if;
    return 'X';
end;
$$;

-- What becomes of a time of a schedule.
create function probe.fired(p_schedule text) returns text security definer language plpgsql as $$
declare
    v record;
begin
    v := wf._start_group(array[(select id from wf.schedule where name = p_schedule)], array['2026-03-01'::timestamptz]);
    if v.reason like '%may not start%' then
        raise insufficient_privilege;
    elsif v.reason is not null then
        raise exception using errcode = 'WF016';
    end if;
    return 'X';
end;
$$;
-- The same, as if the login of the session had set it.
create function probe.fired_for_me(p_schedule text) returns text security definer language plpgsql as $$
begin
    update wf.schedule set login = quote_ident(session_user)::regrole where name = p_schedule;
    return probe.fired(p_schedule);
end;
$$;

set session authorization one;
select wf.register('one', '1', '{sql}', '{}', 10) as one \gset
set session authorization two;
select wf.register('two', '1', '{sql}', '{}', 10) as two \gset
reset session authorization;
select wf.start(w) from unnest('{payroll,open}'::text[]) w;
set session authorization one;
create temp table handed as select * from wf.poll(:one, 10) where kind = 'run';
reset session authorization;
select wf.schedule_set(w, w, '0 0 1 1 *', p_start_at => '2020-01-01') from unnest('{payroll,open}'::text[]) w;
insert into probe.held
select w.name, h.instance_id, h.process_id, h.token
  from handed h join wf.instance i on i.id = h.instance_id
  join wf.version v on v.id = i.version_id join wf.workflow w on w.id = v.workflow_id;

insert into wf.input (instance_id, process_id, title, form, role, assignee, asked_at)
select h.instance_id, h.process_id, h.workflow, '{}'::jsonb, null, null, now() from probe.held h
 union all
select h.instance_id, h.process_id, x.role || x.assignee, '{}'::jsonb, nullif(x.role, ''), nullif(x.assignee, ''), now()
  from probe.held h, (values ('payers', ''), ('', 'eve')) x (role, assignee) where h.workflow = 'open';
select wf.callback_token(h.instance_id, 'x') as callback from probe.held h where h.workflow = 'open' \gset
select wf.workflow_grant_set('wf_app', '{open,caller,waiter}'), wf.workflow_grant_set('payers', '{payroll}'),
       wf.sql_grant_set('payroll', 'payroll_sql'), wf.driver_grant_set('secrets', '{secret}', '{gpu}'),
       wf.quota_set('fews', p_per_minute => 1), wf.quota_set('slows', p_running => 1),
       wf.quota_set('lows', p_priority => 0), wf.quota_set('tinies', p_processes => 1);

-- The number of an input.
create function probe.input(p_title text) returns bigint language sql security definer as $$
    select n.id from wf.input n where n.title = p_title
$$;

-- What an act leaves behind that its answer does not say.
create function probe.left_behind() returns text language sql security definer as $$
    select concat_ws(' ', case when exists (select from wf.output_chunk) then 'kept' end,
                          case when exists (select from wf.lease l join wf.driver d on d.id = l.driver_id
                                             where d.name <> 'one') then 'taken' end)
$$;

-- All drivers were heard of just now: once a second a poll asks again who it is.
create function probe.heard_of() returns boolean language sql security definer as $$
    update wf.sign_of_life set seen_at = clock_timestamp() returning true
$$;

-- Each act is undone. '-': no right to; X: done; else what it answered, or the SQLSTATE.
create function probe.answer(p_statement text) returns text language plpgsql as $$
declare
    v_answer text;
begin
    execute 'select (' || p_statement || ')::text' into v_answer;
    v_answer := concat_ws(' ', case when v_answer in ('done', 'already', 'stale', 'late', 'busy') then v_answer else 'X' end,
                          nullif(probe.left_behind(), ''));
    raise exception using errcode = 'P0UND', message = v_answer;
exception
    when sqlstate 'P0UND' then
        return sqlerrm;
    when insufficient_privilege then
        return '-';
    when others then
        return sqlstate;
end;
$$;

-- Acts with a workflow, and acts of drivers with another's number, tokens and marks.
insert into probe.act
select format(a.act, h.workflow),
       format(a.statement, h.workflow, h.instance_id, h.process_id, h.token, :'one', :'two')
  from probe.held h
 cross join (values
    ('start %s', 'select wf.start(%1$L)'),
    ('start %s with a priority', 'select wf.start(%1$L, p_priority => 1)'),
    ('start %s twice', $$select count(wf.start(%1$L)) from generate_series(1, 2)$$),
    ('start two of %s', $$select min(s) from wf.start_many(%1$L, '[{}, {}]') s$$),
    ('send a signal to %s', $$select wf.signal('%2$s', 'go')$$),
    ('send a signal to %s by a key', $$select wf.signal('{"workflow": "%1$s", "key": "k"}', 'go')$$),
    ('answer an input of %s', $$select wf.answer(probe.input(%1$L), '{}')$$),
    ('check an answer for %s', $$select wf.answer_check(probe.input(%1$L), '{}') is null$$),
    ('see the fields of an input of %s', $$select count(*) from wf.input_fields(probe.input(%1$L))$$),
    ('make a token for a callback of %s', $$select wf.callback_token(%2$s, 'x')$$),
    ('see the result of %s', $$select state from wf.result(%2$s)$$),
    ('be notified of the end of %s', $$select wf.notify_end(%2$s) is null$$),
    ('have one start %s', $$select probe.tended(wf.start('caller', '{"n": "%1$s"}'))$$),
    ('have one of many start %s', $$select probe.tended(min(s)) from wf.start_many('caller', '[{"n": "%1$s"}]') s$$),
    ('have one wait for %s', $$select probe.tended(wf.start('waiter', '{"n": %2$s}'))$$),
    ('start %s at times', $$select wf.schedule_set('new', %1$L, '* * * * *')$$),
    ('set a schedule that starts %s', $$select case when wf.schedule_set('new', %1$L, '* * * * *') is not null then probe.fired('new') end$$),
    ('start %s at times, with a priority', $$select wf.schedule_set('new', %1$L, '* * * * *', p_priority => 1)$$),
    ('have a schedule start %s', $$select probe.fired_for_me(%1$L)$$),
    ('fire the schedule of %s', $$select wf.schedule_fire(%1$L)$$),
    ('fill in the schedule of %s', $$select wf.schedule_backfill(%1$L, '2021-01-01', '2022-01-02')$$),
    ('pause the schedule of %s', $$select count(*) from wf.schedule_pause(%1$L)$$),
    ('resume the schedule of %s', $$select count(*) from wf.schedule_resume(%1$L)$$),
    ('remove the schedule of %s', $$select wf.schedule_remove(%1$L) is null$$),
    ('see the next times of %s', $$select count(*) from wf.schedule_next(%1$L)$$),
    ('simulate %s', $$select count(*) from wf.simulate(%1$L, '{}')$$),
    ('install %s', $$select probe.install(%1$L, 'second')$$),
    ('install %s as it is', $$select probe.install(%1$L, 'first')$$),
    ('remove %s', $$select wf.remove(%1$L) is null$$),
    ('look at %s', $$select count(*) from wf.instance_v where workflow = %1$L$$),
    ('explain %s', $$select count(*) from wf.explain(%2$s)$$),
    ('cancel a task of %s', $$select count(*) from wf.cancel('{"process": [%2$s, %3$s]}')$$),
    ('suspend an instance of %s', $$select count(*) from wf.suspend('{"instance": %2$s}')$$),
    ('abort an instance of %s', $$select count(*) from wf.abort('{"instance": %2$s}')$$),
    ('retry a task of %s', $$select count(*) from wf.retry('{"process": [%2$s, %3$s]}')$$),
    ('ignore a task of %s', $$select count(*) from wf.ignore('{"process": [%2$s, %3$s]}')$$),
    ('resolve a task of %s', $$select count(*) from wf.resolve('{"process": [%2$s, %3$s]}', '1')$$),
    ('raise the error of a task of %s', $$select count(*) from wf.raise('{"process": [%2$s, %3$s]}')$$),
    ('halt a task of %s', $$select count(*) from wf.halt('{"process": [%2$s, %3$s]}')$$),
    ('resume an instance of %s', $$select count(*) from wf.resume('{"instance": %2$s}')$$),
    ('preview an abort of %s', $$select count(*) from wf.preview('abort', '{"instance": %2$s}')$$),
    ('purge an instance of %s', $$select count(*) from wf.purge('{"instance": %2$s}')$$),
    ('see changes of %s', $$select count(*) from wf.changes('{%2$s}')$$),
    ('list instances of %s', $$select count(*) from wf.list(p_workflow => %1$L)$$),
    ('see the progress of %s', $$select wf.progress(%2$s) is null$$),
    ('see if %s has only failures', $$select wf.has_only_failures(%2$s) is null$$),
    ('see if %s waits for an operator', $$select wf.waits_for_operator(%2$s) is null$$),
    ('see the gantt of %s', $$select count(*) from wf.gantt(%2$s)$$),
    ('see the tree of %s', $$select count(*) from wf.tree(%2$s)$$),
    ('see the graph of %s', $$select count(*) from wf.graph(%1$L)$$),
    ('see the audit of %s', $$select count(*) from wf.audit_list(p_instance => %2$s)$$),
    ('grant %s to a role', $$select wf.workflow_grant_set('secrets', '{%1$s}') is null$$),
    ('grant SQL tasks of %s', $$select wf.sql_grant_set(%1$L, 'payroll_sql')$$),
    ('take the grant of SQL tasks of %s', $$select wf.sql_grant_remove(%1$L) is null$$),
    ('begin the SQL task of %s', $$select wf.sql_begin(%2$s, %3$s, %4$L) is null$$),
    ('end the SQL task of %s', $$select wf.sql_outcome(%2$s, %3$s, %4$L, '') is null$$),
    ('ask what became of the task of %s', $$select length(wf.token_status(%2$s, %3$s, %4$L))$$),
    ('report the task of %s as one', $$select answer from wf.outcome(%5$s, array[%2$s], array[%3$s], array[%4$L]::uuid[], '{response}', array[''::bytea])$$),
    ('report the task of %s as two', $$select answer from wf.outcome(%6$s, array[%2$s], array[%3$s], array[%4$L]::uuid[], '{response}', array[''::bytea])$$),
    ('print output of the task of %s', $$select answer from wf.output_add(array[%2$s], array[%3$s], array[%4$L]::uuid[], '{0}', '{1}', '{stdout}', '{x}')$$)
 ) a (act, statement)
union all
select a.act, format(a.statement, :'one', :'two', h.token, h.instance_id, h.process_id, :'callback')
  from (select * from probe.held where workflow = 'open') h
 cross join (values
    ('register', $$select wf.register('new', '1', '{sql}', '{}', 1)$$),
    ('register for queue default', $$select wf.register('new', '1', '{sql}', '{default}', 1)$$),
    ('register for queue secret', $$select wf.register('new', '1', '{sql}', '{secret}', 1)$$),
    ('register with gpu', $$select wf.register('new', '1', '{sql}', '{secret}', 1, p_capabilities => '{gpu}')$$),
    ('register with gpu, for queue default', $$select wf.register('new', '1', '{sql}', '{default}', 1, p_capabilities => '{gpu}')$$),
    ('register, and poll as that driver', $$select count(*) from wf.poll(wf.register('new', '1', '{sql}', '{}', 1), 1)$$),
    ('register as one once more', $$select wf.register('new', '1', '{sql}', '{}', 1, %1$s)$$),
    ('register as two once more', $$select wf.register('new', '1', '{sql}', '{}', 1, %2$s)$$),
    ('register as two, with a token of one', $$select wf.register('new', '1', '{sql}', '{}', 1, %2$s, array[%3$L]::uuid[])$$),
    ('register with a mark that nobody gave', $$select wf.register('new', '1', '{sql}', '{}', 1, p_marks => '{1@1#x}')$$),
    ('poll as one', $$select count(*) from probe.heard_of() h, wf.poll(%1$s, 1)$$),
    ('poll as two', $$select count(*) from probe.heard_of() h, wf.poll(%2$s, 1)$$),
    ('heartbeat as one', $$select wf.heartbeat(%1$s) is null$$),
    ('heartbeat as two', $$select wf.heartbeat(%2$s) is null$$),
    ('count as one', $$select wf.counters_set(%1$s, '{"a": 1}') is null$$),
    ('count as two', $$select wf.counters_set(%2$s, '{"a": 1}') is null$$),
    ('drain one', $$select wf.drain(%1$s) is null$$),
    ('drain two', $$select wf.drain(%2$s) is null$$),
    ('leave as one', $$select wf.leave(%1$s) is null$$),
    ('leave as two', $$select wf.leave(%2$s) is null$$),
    ('ask for the version of the schema', 'select wf.schema_version()'),
    ('greet', 'select wf.greet(wf.schema_version())'),
    ('ask for the time', 'select wf.now()'),
    ('answer an input of payers', $$select wf.answer(probe.input('payers'), '{}')$$),
    ('answer an input of eve', $$select wf.answer(probe.input('eve'), '{}')$$),
    ('call back', $$select wf.callback(%6$L) = 'accepted'$$),
    ('say how far a callback is', $$select wf.callback_progress(%6$L, '1') is null$$),
    ('send a signal to a topic', $$select wf.signal('{"topic": "t"}', 'go')$$),
    ('set a group', $$select wf.group_set('g', 1) is null$$),
    ('ask what does not fit', 'select wf.sql_too_large(1)'),
    ('do work', 'select wf.work() is null'),
    ('tick', 'select wf.tick() is null'),
    ('see what is stuck', 'select count(*) from wf.stuck()'),
    ('check the workspace', 'select count(*) from wf.fsck()'),
    ('pause the engine', 'select count(*) from wf.engine_pause()'),
    ('resume the engine', 'select count(*) from wf.engine_resume()'),
    ('set a setting', $$select wf.setting_set('loss_limit', 4) is null$$),
    ('set a driver grant', $$select wf.driver_grant_set('secrets', '{secret}') is null$$),
    ('remove a driver grant', $$select wf.driver_grant_remove('secrets') is null$$),
    ('remove a workflow grant', $$select wf.workflow_grant_remove('payers') is null$$),
    ('set a quota', $$select wf.quota_set('fews', p_per_minute => 2) is null$$),
    ('remove a quota', $$select wf.quota_remove('fews') is null$$),
    ('set a function', $$select wf.function_set('twice', 'probe.twice', '{n: number}', 'number', 'doubles') is null$$),
    ('remove a function', $$select wf.function_remove('twice') is null$$),
    ('end a SQL task that changes its role', $$select probe.change_role_and_end(%4$s, %5$s, %3$L)$$)
 ) a (act, statement);

create function probe.change_role_and_end(p_instance bigint, p_process bigint, p_token uuid) returns boolean
language plpgsql as $$
begin
    alter role current_user set work_mem = '8MB';
    perform wf.sql_outcome(p_instance, p_process, p_token, '');
    return true;
end;
$$;
