-- sql_grant.sql - which role the SQL tasks of a workflow run as, who decides that,
-- and that no task changes a role.
begin;
\ir helper/play.sql
select no_plan();
select play_driver('fake', '{sql,builtin}') as driver \gset

create role t_own login;
create role t_shared login;
create role t_other login;
create role t_member login;
create role t_stranger login;
create role t_maker login createrole;
create role t_super superuser login;
create role t_closed;
grant wf_app to t_own, t_shared, t_maker, t_closed, t_super;
grant t_own to t_member;
grant wf_author to t_member, t_stranger;

insert into play_type (name, spec) values ('t.Sql', '{"name": "t.Sql", "machine": "sync", "params": [],
    "requests": {"start": {"transport": "sql", "args": {"statement": "select 1"}}}}');
-- define(NAME, TASKS): a workflow of so many SQL tasks, one after another
create function define(p_name text, p_tasks int) returns void language sql as $$
    select play_install(p_name, (select jsonb_agg(play_task('t.Sql', 'a' || g)) from generate_series(1, p_tasks) g));
$$;
-- as_login(LOGIN, SQL): what it does to that login
create function as_login(p_login name, p_sql text) returns void language plpgsql as $$
declare
    v_me constant name := session_user;
begin
    execute format('set session authorization %I', p_login);
    execute p_sql;
    execute format('set session authorization %I', v_me);
end;
$$;
grant execute on all functions in schema public to public;
grant select, insert on play_type, play_request to public;
-- take(NAME): starts the workflow, and a driver takes its task: instance, process, token, the role that it is told
create table taken (instance_id bigint, process_id bigint, token uuid, run_as text);
create function take(p_name text, p_version int default null) returns text language plpgsql as $$
begin
    delete from taken;
    perform wf.start(p_name, p_version => p_version);
    insert into taken
    select r.instance_id, r.process_id, r.token, r.run_as
      from wf.poll((select d.id from wf.driver d where d.name = 'fake'), 1) r where r.kind = 'run';
    return (select coalesce(t.run_as, 'the usual one') from taken t);
end;
$$;
create function begins() returns text language sql as $$
    select format('select wf.sql_begin(%s, %s, %L)', t.instance_id, t.process_id, t.token) from taken t;
$$;
create function ends() returns text language sql as $$
    select format('select wf.sql_outcome(%s, %s, %L, ''{"rows": [], "count": 0}'')', t.instance_id, t.process_id, t.token) from taken t;
$$;

-- nothing is granted
select define('pay', 1), define('other', 1);
select is(take('pay'), 'the usual one', 'without a grant it runs as the driver''s own login');
select lives_ok(format('select as_login(''t_shared'', %L)', begins()), 'whichever that is');
select lives_ok(format('select as_login(''t_own'', %L)', begins()), 'without a grant the task may run as another login');

-- a role of its own
select wf.sql_grant_set('pay', 't_own');
select is((select g::text from (select workflow, role, granted_by = session_user from wf.sql_grant_v) g), '(pay,t_own,t)', 'sql_grant_v shows a grant');
select throws_ok(format('select as_login(''t_shared'', %L)', begins()), 'WF008', 'the SQL tasks of workflow pay run as role t_own, and this session''s login is t_shared', 'a running task is refused to a login that was not granted');
select is(take('pay'), 't_own', 'the driver is told the role');
select lives_ok(format('select as_login(''t_own'', %L)', begins()), 'the granted login begins the task');
select throws_ok(format('select as_login(''t_super'', %L)', begins()), 'WF008', null, 'a superuser is another login, too');
select is(take('other'), 'the usual one', 'another workflow has no such role');
select lives_ok(format('select as_login(''t_shared'', %L)', begins()), 'a task of another workflow runs as the usual login');
select throws_ok(format('select as_login(''t_own'', %L)', begins()), 'WF008', 'role t_own is granted to other workflows, and this version of other has no grant', 'a task of another workflow does not run as a granted role');
select wf.sql_grant_set('pay', 't_shared');
select is(take('pay'), 't_shared', 'a grant takes the place of the one before');
select throws_ok(format('select as_login(''t_own'', %L)', begins()), 'WF008', null, 'the role of the former grant is refused');

-- who installs it is a member of the role
select wf.sql_grant_set('pay', 't_own');
select throws_ok($$select as_login('t_stranger', $s$select define('pay', 2)$s$)$$, 'WF008', 'login t_stranger may not install workflow pay, whose SQL tasks run as role t_own', 'a login that is no member of the role may not install the workflow');
select lives_ok($$select as_login('t_stranger', $s$select define('pay', 1)$s$)$$, 'a login that is no member may install the version that is there');
select lives_ok($$select as_login('t_stranger', $s$select define('other', 2)$s$)$$, 'a login that is no member may install another workflow');
select lives_ok($$select as_login('t_member', $s$select define('pay', 2)$s$)$$, 'a member may');
select wf.sql_grant_set('later', 't_own');
select throws_ok($$select as_login('t_stranger', $s$select define('later', 1)$s$)$$, 'WF008', null, 'a login that is no member may not install a workflow that was granted in advance');
revoke t_own from t_member;
select throws_ok($$select as_login('t_member', $s$select define('pay', 3)$s$)$$, 'WF008', null, 'a login that is no longer a member may not install the workflow');

-- other versions, which somebody else has installed before
select as_login('t_stranger', $$select define('old', 1)$$);
select define('old', 2);
select is(wf.sql_grant_set('old', 't_own'), 2, 'a grant says for which version it is');
select is(take('old'), 't_own', 'the version that was named in the grant has the role');
select is(take('old', 1), 'the usual one', 'one before has not');
select throws_ok(format('select as_login(''t_own'', %L)', begins()), 'WF008', 'role t_own is granted to other workflows, and this version of old has no grant', 'an earlier version does not begin as the granted role');
select lives_ok(format('select as_login(''t_shared'', %L)', begins()), 'an earlier version runs as the usual login');
select define('old', 3);
select is(take('old'), 't_own', 'a later one, which somebody has installed who may, has it, too');
select is(wf.sql_grant_set('none', 't_own'), null, 'there may be no version yet');
select wf.sql_grant_remove('none'), wf.sql_grant_remove('old');
select is(take('old'), 'the usual one', 'without the grant no version has it');

-- a role that is renamed keeps its grant, which lets nobody in
alter role t_own rename to t_renamed;
select throws_ok($$select as_login('t_renamed', $s$select define('pay', 4)$s$)$$, '42501', null, 'the grant of a role that is gone lets nobody in');
alter role t_renamed rename to t_own;

-- grants that are refused
select throws_ok($$select wf.sql_grant_set('pay', 't_none')$$, 'WF003', 'there is no role ''t_none''', 'no such role');
select throws_ok($$select wf.sql_grant_set('pay', null)$$, 'WF003', 'there is no role null', 'no role');
select throws_ok($$select wf.sql_grant_set('', 't_own')$$, 'WF002', 'the name of a workflow has 1 to 127 bytes, not 0', 'no workflow');
select throws_ok($$select wf.sql_grant_set(null, 't_own')$$, 'WF002', null, 'null');
select throws_ok($$select wf.sql_grant_set(repeat('x', 128), 't_own')$$, 'WF002', null, 'a workflow name that is too long is refused');
select throws_ok($$select wf.sql_grant_set('pay', 't_super')$$, 'WF002', 'role t_super is a superuser', 'a superuser');
select throws_ok($$select wf.sql_grant_set('pay', 't_other')$$, 'WF002', 'role t_other cannot run SQL tasks: it has to log in, and to be a member of wf_app', 'a role that may not report');
select throws_ok($$select wf.sql_grant_set('pay', 't_closed')$$, 'WF002', null, 'a role that cannot log in');
select throws_ok($$select wf.sql_grant_remove('other')$$, 'WF003', 'workflow ''other'' has no role granted', 'nothing to take back');
select wf.sql_grant_remove('pay');
select is(take('pay'), 'the usual one', 'a revoked grant counts no more');

-- a transaction that has changed a role, as this one has, has no outcome
select is(take('other'), 'the usual one', 'another task');
select throws_ok(format('select as_login(''t_shared'', %L)', ends()), 'WF008', 'a SQL task that runs as role t_shared may not change a role, its settings or its members', 'of a login that may not create roles');
select lives_ok(format('select as_login(''t_maker'', %L)', ends()), 'a login that may create roles is not asked');

select wf.sql_grant_remove('later');
select is_empty('select * from wf.sql_grant_v', 'nothing is granted any more');
select is((select string_agg(verb || ' ' || arguments, '; ' order by id) from wf.audit where verb like 'sql %' and arguments ->> 'workflow' = 'later'), 'sql grant {"role": "t_own", "version": null, "workflow": "later"}; sql revoke {"workflow": "later"}', 'the audit has both');
select is_empty('select * from wf.fsck()', 'all is well in the end');

select * from finish();
rollback;
