-- grant.sql - which queues and capabilities the drivers of a login may serve.
begin;
\ir helper/play.sql
select no_plan();

-- two logins and a role of theirs; t_a is a member of t_both, and so is t_b
create role t_a login;
create role t_b login;
create role t_both;
grant wf_driver to t_a, t_b;
grant t_both to t_a, t_b;
-- may(LOGIN, QUEUES [, CAPABILITIES]): the driver that it registers as, by its number
create function may(p_login regrole, p_queues text[], p_capabilities text[] default '{}') returns bigint
language plpgsql as $$
declare
    v_me constant name := session_user;
    v_id bigint;
begin
    execute format('set session authorization %I', p_login);
    v_id := wf.register(p_login::text, '1', '{builtin}', p_queues, 4, p_capabilities => p_capabilities);
    execute format('set session authorization %I', v_me);
    return v_id;
end;
$$;
grant execute on function may to public;
-- serves(DRIVER, QUEUE [, CAPABILITIES]): whether it takes what is in that lane
create function serves(p_driver bigint, p_queue text, p_requires text[] default '{}') returns boolean language sql as $$
    select wf._serves(wf._review(d), row(0, p_queue, '{}', p_requires, false, null)::wf.lane) from wf.driver d where d.id = p_driver;
$$;

-- nothing is granted
select may('t_a', '{}') as a \gset
select may('t_b', '{}') as b \gset
select ok(serves(:a, 'payroll') and serves(:b, 'payroll'), 'without a grant every driver serves every queue');
select ok((select not limited and limits = '{}' from wf.driver where id = :a), 'a driver without a grant is not limited');

-- a queue of its own
select wf.driver_grant_set('t_a', '{payroll}');
select is((select g::text from (select role, queues, capabilities, granted_by = session_user from wf.driver_grant_v) g), '(t_a,{payroll},{},t)', 'driver_grant_v shows a grant');
select ok(serves(:a, 'payroll'), 'a login serves a queue that was granted to it');
select ok(not serves(:a, 'default'), 'a login with a grant serves no other queue');
select ok(not serves(:b, 'payroll'), 'another does not serve it');
select ok(serves(:b, 'default'), 'a login without a grant serves every queue that no grant names');
select throws_ok($$select may('t_b', '{default,payroll}')$$, 'WF008', 'login t_b may not serve the queues payroll', 'a login that names a queue without its grant is refused');
select throws_ok($$select may('t_a', '{default}')$$, 'WF008', 'login t_a may not serve the queues default', 'a login with a grant may not name another queue');
select ok(serves(may('t_a', '{payroll}'), 'payroll'), 'a login with a grant may name its queue');
select ok(not serves(may('t_b', '{}'), 'payroll'), 'a driver for every queue does not get a granted one');
select ok(not serves(may('t_b', '{default}'), 'other'), 'a driver for one queue serves no other');

-- names are names
select wf.driver_grant_set('t_a', '{pay%,"*",p_y,"[a-z]"}');
select ok(serves(:b, 'payroll') and serves(:b, 'pay') and serves(:b, 'pay%%'), 'no character of a name stands for others');
select ok(not serves(:b, 'pay%') and not serves(:b, '*') and not serves(:b, 'p_y') and not serves(:b, '[a-z]'), 'names with pattern characters match only themselves');
select ok(not serves(:a, 'payroll'), 'names with pattern characters match nothing else for the login that has them');
select wf.driver_grant_set('t_a', '{payroll}');
select ok(serves(:b, 'Payroll') and serves(:b, 'payroll ') and not serves(:a, 'PAYROLL'), 'upper case and blanks count');

-- grants of several roles
select wf.driver_grant_set('t_both');
select ok(serves(:a, 'payroll') and serves(:a, 'default'), 'a grant that names none adds every queue that no grant names');
select wf.driver_grant_set('t_both', '{shared}');
select ok(serves(:a, 'payroll') and serves(:a, 'shared') and not serves(:a, 'default'), 'grants add up');
select ok(serves(:b, 'shared') and not serves(:b, 'payroll'), 'a member of a role has what the role has');
revoke t_both from t_b;
select ok(not serves(:b, 'shared') and serves(:b, 'default'), 'a login that has left the role may not serve its queue');
select wf.driver_grant_remove('t_both');
select ok(serves(:b, 'shared'), 'a queue whose grant was revoked is for all');

-- capabilities
select may('t_a', '{payroll}', '{gpu,eu}') as a \gset
select may('t_b', '{}', '{gpu,eu}') as b \gset
select wf.driver_grant_set('t_a', '{payroll}', '{gpu}');
select ok(serves(:a, 'payroll', '{gpu}') and not serves(:a, 'payroll', '{eu}'), 'a login that was granted a capability has it, and no other');
select ok(not serves(:b, 'default', '{gpu}') and serves(:b, 'default', '{eu}'), 'another has all but that');
select throws_ok($$select may('t_b', '{}', '{gpu}')$$, 'WF008', 'login t_b may not serve the capabilities gpu', 'a login that names a capability without its grant is refused');
select throws_ok($$select may('t_a', '{payroll}', '{gpu,eu}')$$, 'WF008', 'login t_a may not serve the capabilities eu', 'a login that names more than its capabilities is refused');
select wf.driver_grant_set('t_a', '{payroll}');
select ok(serves(:b, 'default', '{gpu}') and serves(:a, 'payroll', '{eu}'), 'when it is granted no more all have again what they asked for');
select is((select d.capabilities from wf.driver d where d.id = :b), '{gpu,eu}', 'in the order in which they did');

-- a role that is renamed or dropped keeps its queue from others
select wf.driver_grant_set('t_a', '{payroll}');
drop role t_both;
alter role t_a rename to t_c;
select ok(not serves(:a, 'payroll') and not serves(:b, 'payroll'), 'the grant of a dropped role lets nobody in');
alter role t_c rename to t_a;
select ok(serves(:a, 'payroll'), 'the role of that name has it');
select ok(serves(wf.register('s', '1', '{builtin}', '{}', 4), 'payroll'), 'a superuser''s driver is bound by no grant');

-- grants that are refused
select throws_ok($$select wf.driver_grant_set('t_none', '{x}')$$, 'WF003', 'there is no role ''t_none''', 'no such role');
select throws_ok($$select wf.driver_grant_set(null, '{x}')$$, 'WF003', 'there is no role null', 'no role');
select throws_ok(format('select wf.driver_grant_set(''t_a'', %L)', q), 'WF002', 'the queues of a grant are at most 1,000 names of 1 to 63 bytes', 'no queues')
  from unnest(array[null, '{""}', '{null}', array[repeat('x', 64)]::text, array_fill('x'::text, '{1001}')::text]) q;
select throws_ok($$select wf.driver_grant_set('t_a', '{}', '{""}')$$, 'WF002', null, 'no capability');
select throws_ok($$select wf.driver_grant_remove('t_b')$$, 'WF003', 'role ''t_b'' has no grant', 'nothing to take back');
select wf.driver_grant_remove('t_a');
select is_empty('select * from wf.driver_grant_v', 'a revoked grant is gone');
select ok(serves(:b, 'payroll'), 'the queue of a revoked grant is for all again');
select is_empty('select * from wf.fsck()', 'all is well in the end');

select * from finish();
rollback;
