-- quota.sql - who may start which workflow, and how many instances.
begin;
\ir helper/play.sql
select no_plan();

select play_install('pay', jsonb_build_array(play_task('t.Do', 'a')));
select play_install('load', jsonb_build_array(play_task('t.Do', 'a')));
-- t_a and t_b are applications; t_pay is a role of both
create role t_a login;
create role t_b login;
create role t_pay;
grant wf_app to t_a, t_b;
grant t_pay to t_a, t_b;
create function begins(p_login text, p_workflow text, p_more text default '') returns text language sql as $$
    select play_as(p_login, format('select %L from wf.start(%L%s)', 'started', p_workflow, p_more));
$$;
-- many(LOGIN, N): start_many of so many
create function many(p_login text, p_count int) returns text language sql as $$
    select play_as(p_login, format('select count(*) from wf.start_many(%L, %L)', 'pay', (select coalesce(jsonb_agg('{}'::jsonb), '[]') from generate_series(1, p_count))));
$$;

-- grants
select is((select array_agg(role order by role) from wf.workflow_grant_v where workflows is null), '{wf_app,wf_author}', 'after an installation applications and authors may start every workflow');
select is(begins('t_a', 'pay'), 'started', 'an application starts any workflow after an installation');
select wf.workflow_grant_remove('wf_app', 'one by one');
select is(begins('t_a', 'pay'), 'WF008 login t_a may not start workflow pay: none of its roles has a grant for it', 'without a grant it may not');
select is(begins('t_a', 'nothing'), 'WF008 login t_a may not start workflow nothing: none of its roles has a grant for it', 'a refused application does not learn which workflows there are');
select alike(many('t_a', 1), 'WF008 login t_a may not start workflow pay%', 'start_many asks, too');
select is(wf.start('pay') > 0, true, 'a superuser needs no grant');
select wf.workflow_grant_set('t_a', '{load}');
select is(begins('t_a', 'load'), 'started', 'a granted workflow may be started');
select alike(begins('t_a', 'pay'), 'WF008%', 'a login with a grant may start no other workflow');
select alike(begins('t_b', 'load'), 'WF008%', 'a login without the grant may not start the granted workflow');
select wf.workflow_grant_set('t_pay', '{pay,other}');
select is(begins('t_a', 'pay') || begins('t_a', 'load') || begins('t_b', 'pay'), 'startedstartedstarted', 'grants of all roles add up');
select alike(begins('t_a', 'p_y'), 'WF008%', 'no character of a name stands for others');
revoke t_pay from t_b;
select alike(begins('t_b', 'pay'), 'WF008%', 'a login that has left the role may not start its workflow');
grant t_pay to t_b;
select is((select g::text from (select role, workflows, granted_by = session_user from wf.workflow_grant_v where role = 't_pay') g), '(t_pay,"{other,pay}",t)', 'workflow_grant_v shows the grant');
select is((select verb || arguments || reason from wf.audit where verb = 'workflow revoke'), 'workflow revoke{"role": "wf_app"}one by one', 'a revoked grant is in the audit');
select throws_ok($$select wf.workflow_grant_set('t_none', null)$$, 'WF003', 'there is no role ''t_none''', 'no such role');
select throws_ok($$select wf.workflow_grant_set('t_a', '{}')$$, 'WF002', null, 'an empty list is not every workflow');
select throws_ok($$select wf.workflow_grant_set('t_a', '{""}')$$, 'WF002', null, 'no name');
select throws_ok($$select wf.workflow_grant_remove('t_b')$$, 'WF003', 'role ''t_b'' has no grant', 'nothing to take back');
select throws_ok(format('select wf.workflow_grant_remove(''t_a'', %L)', repeat('x', 4001)), 'WF002', null, 'a reason that is too long');
select alike(play_as('t_a', 'select wf.workflow_grant_set(''t_a'', null)'), '42501%', 'applications grant nothing');
select wf.workflow_grant_set('t_pay', null);

-- priority
select wf.quota_set('t_pay', p_priority => 10);
select is(begins('t_a', 'pay', ', p_priority => 10'), 'started', 'a priority up to the limit');
select is(begins('t_a', 'pay', ', p_priority => 11'), 'WF008 login t_a may not start an instance with priority 11: the quota of role t_pay allows at most 10', 'a priority above the limit is refused');
select wf.quota_set('t_a', p_priority => 5);
select alike(begins('t_a', 'pay', ', p_priority => 6'), 'WF008%the quota of role t_a allows at most 5', 'the least counts');
select is(begins('t_b', 'pay', ', p_priority => 6'), 'started', 'for those that it is for');
select wf.quota_set('t_a', p_priority => -1);
select alike(many('t_a', 1), 'WF008 login t_a may not start an instance with priority 0%', 'start_many gives priority 0');
select is(wf.start('pay', p_priority => 1000) > 0, true, 'a superuser is bound by no quota');
select wf.quota_remove('t_a', 'enough');
select is_empty('select * from wf.quota_instance', 'nothing is counted without a limit');

-- instances under way
select wf.quota_set('t_pay', p_running => 100, p_reason => 'a flood');
select count(*) as before from wf.instance where ended_at is null and started_by in ('t_a', 't_b') \gset
select is((select under_way from wf.quota_v where role = 't_pay'), :before::bigint, 'instances under way count when a quota is set');
select wf.quota_set('t_pay', p_running => :before + 2);
select is(begins('t_a', 'pay', ', p_key => ''k'''), 'started', 'one more');
select alike(many('t_b', 2), 'WF016 the quota of role t_pay is % under way at a time: 1 left, 2 asked for by login t_b', 'all of a list or none');
select is((select count(*) from wf.instance where ended_at is null and started_by in ('t_a', 't_b')), :before::bigint + 1, 'a refused start leaves nothing');
select is(begins('t_b', 'pay'), 'started', 'the last one');
select alike(begins('t_a', 'pay'), 'WF016%', 'a start beyond the quota is refused');
select alike(begins('t_a', 'pay', ', p_key => ''l'''), 'WF016%', 'a start with a key beyond the quota is refused');
select is_empty($$select * from wf.instance_key where key = 'l'$$, 'the key of a refused start is not known');
select is(begins('t_a', 'pay', ', p_key => ''k'''), 'started', 'a start with a known key starts nothing, and its quota does not refuse it');
select is(many('t_a', 0), '0', 'an empty list is no start');
select is(wf.start('pay') > 0, true, 'a superuser is not counted');
select max(id) as last from wf.instance where started_by = 't_b' \gset
select count(*) as aborted from wf.abort(jsonb_build_object('instance', :last), 'make room') \gset
select is((select under_way from wf.quota_v where role = 't_pay'), :before::bigint + 1, 'an ended instance counts no more');
select is(begins('t_a', 'pay'), 'started', 'the place of an ended instance can be taken');
select alike(begins('t_a', 'pay'), 'WF016%', 'the place of an ended instance is taken once');
select is((select count(*) from wf.quota_instance), :before::bigint + 2, 'quota_instance has no more rows than places');

-- instances a minute: the clock goes on by itself, so the minute is taken back by hand
select wf.quota_set('t_pay', p_per_minute => 1000000000);
select is(many('t_a', 3), '3', 'starts are counted');
select ok((select started >= 3 from wf.quota where role = 't_pay'), 'for all members together');
update wf.quota set per_minute = 3, started = 3, minute_at = minute_at - interval '1 hour' where role = 't_pay';
select is((select started from wf.quota_v where role = 't_pay'), 0, 'an older minute counts for nothing');
select is(many('t_b', 4), 'WF016 the quota of role t_pay is 3 a minute: 3 left, 4 asked for by login t_b', 'more than a minute has');
select is(many('t_b', 3), '3', 'as many as it has');
select wf.quota_set('t_pay', 0);
select alike(begins('t_a', 'pay'), 'WF016%is 0 a minute: 0 left, 1 asked for by login t_a', 'none at all');

select throws_ok($$select wf.quota_set('t_pay', -1)$$, 'WF002', null, 'no number below 0');
select throws_ok($$select wf.quota_set('t_pay', null, -1)$$, 'WF002', null, 'a negative rate is refused');
select throws_ok($$select wf.quota_set('t_pay', null, null, 1001)$$, 'WF002', null, 'a priority limit beyond 1000 is refused');
select throws_ok($$select wf.quota_set('t_none', 1)$$, 'WF003', 'there is no role ''t_none''', 'no such role');
select throws_ok($$select wf.quota_remove('t_b')$$, 'WF003', 'role ''t_b'' has no quota', 'nothing to remove');
select alike(play_as('t_a', 'select wf.quota_remove(''t_pay'')'), '42501%', 'applications set no quotas');
select wf.quota_remove('t_pay');
select is(many('t_a', 5), '5', 'without a quota there is no limit');
select is((select string_agg(verb, ',' order by id) from wf.audit where verb ~ 'quota' and arguments ->> 'role' = 't_a'), 'quota set,quota set,quota remove', 'all of it is in the audit');
select is((select reason from wf.audit where arguments ->> 'running' = '100'), 'a flood', 'with its reason');
select is_empty('select * from wf.fsck()', 'all is well in the end');

-- the processes of an instance
create function a_fan(p_last int) returns jsonb language sql as $$
    select jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'x', 'in', jsonb_build_array('range', 1, p_last),
                              'body', '{"kind": "let", "line": 1, "as": "y", "value": 1}'::jsonb);
$$;
select play_install('fan', jsonb_build_array(a_fan(8)));
select play_install('tree', jsonb_build_array(play_task('t.Do', 'a'), play_task('t.Do', 'b'), play_task('t.Do', 'c')));
-- size(LOGIN, WORKFLOW): what becomes of the forall of an instance that the login starts
create function size(p_login text, p_workflow text) returns text language plpgsql as $$
declare
    v_answer constant text := play_as(p_login, format('select wf.start(%L)', p_workflow));
begin
    return coalesce((select concat_ws(' ', p.state, p.error ->> 'message') from wf.process p
                      where p.instance_id::text = v_answer and p.kind = 'forall'), v_answer);
end;
$$;
select wf.workflow_grant_set('t_pay', '{fan,tree}');
select wf.quota_set('t_pay', p_processes => 10);
select is(size('t_a', 'fan'), 'END', 'an instance may come to as many processes as the quota says');
select wf.quota_set('t_a', p_processes => 9);
select is(size('t_a', 'fan'), 'FAILED the elements of this forall may come to 8 processes and the instance to 10, more than the 9 that the quota of the login that started it allows',
    'a forall beyond the quota fails: the least quota counts');
select is(size('t_b', 'fan'), 'END', 'the quota does not bind another login');
select is((select e.quota from wf.extent e order by e.instance_id desc limit 1), 10, 'the quota of an instance is kept from its start');
select alike(play_as('t_a', $$select count(*) from wf.start_many('fan', '[{}, {}]')$$), '2', 'start_many starts them, too');
select is((select array_agg(e.quota order by e.instance_id desc) from (select * from wf.extent e order by e.instance_id desc limit 2) e), '{9,9}', 'each with the quota');
select wf.quota_set('t_a', p_processes => 3);
select is(begins('t_a', 'tree'), 'WF016 an instance of this workflow comes to 4 processes, and the quotas of login t_a allow 3', 'a tree that is too large does not start');
select is(begins('t_b', 'tree'), 'started', 'for others it does');
select is(wf.start('tree') > 0, true, 'a superuser is not bound');
update wf.setting set value = '9' where name = 'instance_processes';
select is(size('t_b', 'fan'), 'FAILED the elements of this forall may come to 8 processes and the instance to 10, more than the 9 that it may have in all (setting instance_processes)',
    'the setting counts where it allows less');
select throws_ok($$select wf.quota_set('t_a', p_processes => 0)$$, 'WF002', null, 'at least one process');
select is_empty('select * from wf.fsck()', 'nothing contradicts it');
select * from finish();
rollback;
