-- audit.sql - who has done what: each verb is a row, in its own transaction; rows get
-- numbers without gaps, and fsck sees what is changed or missing.
begin;
\ir helper/play.sql
select no_plan();

-- last(): the last row of the audit
create function last() returns wf.audit language sql as $$ select a.* from wf.audit a order by a.id desc limit 1 $$;
-- note(): verb, reason, targets, refused, instances, processes of the last row
create function note() returns text language sql as $$
    select concat_ws('|', l.verb, coalesce(l.reason, '-'), l.targets, l.refused, l.instances, l.processes) from last() l
$$;

select play_install('two', jsonb_build_array(play_par(play_task('t.Do', 'a'), play_task('t.Do', 'b'))));
select is((last()).verb || ' ' || ((last()).arguments - 'installed')::text, 'install {}', 'install is a row');
select is((last()).arguments #>> '{installed,two,version}', '1', 'with the versions');
select is((last()).arguments #>> '{installed,two,checksum}', (select checksum from wf.version_v where workflow = 'two'), 'the row of install has the checksums of its versions');
select play_install('two', jsonb_build_array(play_par(play_task('t.Do', 'a'), play_task('t.Do', 'b'))));
select is((last()).arguments, '{"unchanged": ["two"]}'::jsonb, 'an install that changes nothing is a row, too');
insert into play_type (name, spec) values ('s.Pass', '{"name": "s.Pass", "machine": "sync", "params": [{"name": "headers", "type": "object"}],
    "requests": {"start": {"transport": "http", "args": {"headers": ["var", "headers"]}}}}');
select play_install('hushed', jsonb_build_array(play_task('s.Pass', 'a', '{"headers": {"a": ["secret", "payroll"], "b": ["text", "Bearer ", ["secret", "token"]]}}')));
select is((last()).arguments -> 'secrets', '["payroll", "token"]'::jsonb, 'the names of the secrets are there');
select is((select array_agg(x.xid = pg_current_xact_id() and x.login = session_user and x.role = session_user and x.at > now() - interval '1 hour')
             from last() x), '{t}'::boolean[], 'a row says who acted, when, and in which transaction');

-- the verbs
select wf.start('two') as i \gset
select wf.start('two') as j \gset
select play_driver() as d \gset
select play_take(:d);
select play_fail(process_id) from play_request;
select id as p from wf.process where instance_id = :i and state = 'FAILED' order by id limit 1 \gset
select is((select count(*) from wf.process where state = 'FAILED'), 4::bigint, 'four tasks have failed');
select count(*) from wf.retry(format('{"process": %s}', :p)::jsonb, 'again') \g /dev/null
select is(note(), format('retry|again|1|0|{[%s,%s)}|{[%s,%s)}', :i, :i + 1, :p, :p + 1), 'retry: the process and its instance');
select is((last()).arguments, format('{"target": {"process": %s}}', :p)::jsonb, 'a row has the arguments of its verb');
select count(*) from wf.cancel(format('{"process": %s}', :p)::jsonb) \g /dev/null
select is(split_part(note(), '|', 1) || split_part(note(), '|', 3), 'cancel1', 'cancel');
select count(*) from wf.resolve(format('{"process": %s}', :p)::jsonb, '{"password": "hunter2"}', 'mine') \g /dev/null
select is((last()).arguments, format('{"target": {"process": %s}, "output_bytes": 23}', :p)::jsonb, 'resolve: of the output only its size');
select count(*) from wf.ignore(format('{"instance": %s}', :i)::jsonb, 'no matter', true) \g /dev/null
select is((last()).verb || (last()).arguments, format('ignore{"target": {"instance": %s}, "cascade": true}', :i), 'ignore, with --cascade');
select count(*) from wf.suspend(format('{"instance": [%s, 999]}', :j)::jsonb, 'wait') \g /dev/null
select is(note(), format('suspend|wait|1|1|{[%s,%s)}', :j, :j + 1), 'suspend: what was refused is counted');
select count(*) from wf.resume(format('{"instance": %s}', :j)::jsonb) \g /dev/null
select is(split_part(note(), '|', 1), 'resume', 'resume');
select count(*) from wf.raise(format('{"instance": %s}', :j)::jsonb) \g /dev/null
select is(split_part(note(), '|', 1), 'raise', 'raise');
select wf.start('two') as k \gset
select count(*) from wf.abort(format('{"instance": %s}', :k)::jsonb, 'enough', true) \g /dev/null
select is((last()).verb || (last()).arguments, format('abort{"undo": true, "target": {"instance": %s}}', :k), 'abort, with --undo');
select wf.start('two') as k \gset
select count(*) from wf.halt(format('{"instance": %s}', :k)::jsonb) \g /dev/null
select is(split_part(note(), '|', 1), 'halt', 'halt');
select count(*) from wf.purge(format('{"instance": [%s, %s]}', :k, :k + 1)::jsonb, 'old') \g /dev/null
select is(note(), format('purge|old|1|1|{[%s,%s)}', :k, :k + 1), 'purge');
select is_empty($$select * from wf.purge('{"older_than": "100 years"}')$$, 'a purge of nothing');
select is(split_part(note(), '|', 2), 'old', 'a purge of nothing is no row');

-- the engine, settings, groups, functions, drivers
select count(*) from wf.engine_pause('a new disk') \g /dev/null
select is(note(), 'engine pause|a new disk|1|0', 'engine pause');
select count(*) from wf.engine_pause() \g /dev/null
select is(note(), 'engine pause|-|0|1', 'a refused engine pause is a row');
select count(*) from wf.engine_resume() \g /dev/null
select is(note(), 'engine resume|-|1|0', 'engine resume');
select wf.setting_set('keep_days', 30);
select is((last()).verb || (last()).arguments, 'setting set{"was": "0", "value": "30", "setting": "keep_days"}', 'setting set');
select wf.setting_set('keep_days', 30);
select is((select count(*) from wf.audit where arguments ->> 'setting' = 'keep_days'), 1::bigint, 'a setting that keeps its value is no row');
select wf.group_set('g', 3);
select is((last()).verb || (last()).arguments, 'group set{"max": 3, "was": null, "group": "g"}', 'group set');
select wf.driver_grant_set('wf_driver', '{pay}');
select is((last()).verb || (last()).arguments, 'driver grant{"role": "wf_driver", "queues": ["pay"], "capabilities": []}', 'driver grant');
select wf.driver_grant_remove('wf_driver');
select is((last()).verb || (last()).arguments, 'driver revoke{"role": "wf_driver"}', 'driver revoke');
create function public.twice(variadic jsonb[]) returns jsonb language sql immutable security definer as 'select $1[1]';
grant execute on function public.twice(jsonb[]) to public;
select wf.function_set('twice', 'public.twice', '{x: json}', 'json', '');
select is((last()).verb || ' ' || ((last()).arguments ->> 'function') || ' ' || length((last()).arguments ->> 'sha256'), 'function set twice 64', 'function set: with a digest of its text');
select wf.function_remove('twice');
select is((last()).verb, 'function remove', 'function remove');
select wf.drain(:d);
select is((last()).arguments, format('{"name": "fake", "driver": %s}', :d)::jsonb, 'driver drain');
select wf.remove('hushed');
select is((last()).verb || (last()).arguments, 'remove{"workflow": "hushed"}', 'remove');
select wf._halt('history was lost');
select is((last()).arguments, '{"by": "the engine itself"}'::jsonb, 'a pause by the engine itself says so');

-- what starts and what drivers do is history, and no row
select count(*) as rows from wf.audit \gset
select wf.start('two'), wf.tick();
select count(*) from wf.preview('abort', '{"workflow": "two"}') \g /dev/null
select is((select count(*) from wf.audit), :rows::bigint, 'starts, ticks and previews are no rows');
savepoint before;
select count(*) from wf.suspend('{"workflow": "two"}') \g /dev/null
rollback to before;
select is((select count(*) from wf.audit), :rows::bigint, 'a verb that is rolled back leaves no row');

-- bounds
select wf._audit('test', jsonb_build_object('x', repeat('y', 5000)), null, array(select 9000 + 2 * g from generate_series(1, 300) g)::bigint[], null, array_fill('done'::text, array[300]));
select is((select count(*) from unnest((last()).instances)), 100::bigint, 'at most a hundred ranges of numbers');
select is((last()).targets, 300::bigint, 'all are counted');
select is((last()).arguments ->> 'bytes', '5009', 'of large arguments their size');
select matches((select instances from wf.audit_list(p_limit => 1)), '^9002, 9004, .*, 9200, [.]{3} [(]300 in all[)]$', 'people are told how many there are');

-- reasons
select throws_ok($$select * from wf.suspend('{"workflow": "two"}', repeat('x', 4001))$$, 'WF002', 'the reason has 4001 bytes; at most 4000 are kept', 'a reason has bounds');
select wf.setting_set('reason_required', 1);
select throws_ok($$select * from wf.suspend('{"workflow": "two"}')$$, 'WF002', 'suspend needs a reason, and none was given', 'where one is required, a verb is refused without');
select throws_ok($$select * from wf.purge('{"workflow": "two"}', e' \n')$$, 'WF002', 'purge needs a reason, and none was given', 'blanks are none');
select throws_ok($$select * from wf.ignore('{"workflow": "two"}', '', true)$$, 'WF002', 'ignore needs a reason, and none was given', 'the verb is called as it was called');
select throws_ok($$select wf._audit_purge(now(), null)$$, 'WF002', 'audit purge needs a reason, and none was given', 'a purge of the audit needs one');

-- who reads it, and what
select is((select count(*) from wf.audit_list()), (select count(*) from wf.audit), 'all of it');
select results_eq($$select distinct verb from wf.audit_list(p_verb => 'engine pause')$$, $$values ('engine pause')$$, 'by verb');
select is_empty($$select * from wf.audit_list(p_by => 'nobody')$$, 'by login');
select is_empty($$select * from wf.audit_list(p_since => '2999-01-01')$$, 'since a moment');
select is((select count(*) from wf.audit_list(p_since => '1 hour')), (select count(*) from wf.audit where at > now() - interval '1 hour'), 'since an hour ago');
select throws_ok($$select * from wf.audit_list('yore')$$, 'WF002', 'since: "yore" is neither a moment nor an interval', 'anything else is refused');
select throws_ok($$select * from wf.audit_list(p_limit => -1)$$, 'WF002', 'the limit must be at least 0, not -1', 'a negative limit is refused');
select results_eq(format($$select verb from wf.audit_list(p_instance => %s) where verb <> 'test'$$, :j), $$values ('suspend'), ('resume'), ('raise')$$, 'by instance');
select wf.start('two') as k \gset
select count(*) from wf.suspend(jsonb_build_object('instance', :k), 'one of many') \g /dev/null
update wf.audit set instances = (select range_agg(int8range(100000 + 2 * g, 100001 + 2 * g)) from generate_series(1, 100) g)
 where id = (last()).id;
select results_eq(format($$select verb from wf.audit_list(p_instance => %s) where reason = 'one of many'$$, :k), $$values ('suspend')$$, 'of a row that does not list all the history is asked');

-- numbers
select wf._seal_audit();
select results_eq('select count(*), max(number), count(digest) from wf.audit', 'select h.number, h.number, h.number from wf.audit_head h', 'numbers without gaps, and digests');
select is_empty('select * from wf._fsck_audit()', 'fsck finds the audit sound');
set local timezone = 'Asia/Kathmandu';
set local datestyle = 'german';
set local extra_float_digits = 0;
select is_empty('select * from wf._fsck_audit()', 'in any time zone');
select is((select count(*) from wf.audit where number is null), 0::bigint, 'nothing waits');
-- forged(STATEMENT): the checks that fail when it was done
create function forged(p_statement text) returns text language plpgsql as $$
declare
    v_found text;
begin
    begin
        execute p_statement;
        select string_agg(distinct check_name, ', ' order by check_name) into v_found from wf._fsck_audit();
        raise exception using errcode = 'ZZ001';
    exception when sqlstate 'ZZ001' then
        return v_found;
    end;
end;
$$;
select is(forged(format($$update wf.audit set %I = %s where number = 4$$, c.name, c.value)), 'audit: a row was changed', c.name || ' was changed')
  from (values ('at', $$at + interval '1 us'$$), ('xid', $$'1'$$), ('login', $$'x'$$), ('role', $$'x'$$), ('client', $$'10.0.0.1'$$),
               ('verb', $$'x'$$), ('arguments', $$'{}'$$), ('reason', $$'x'$$), ('targets', '77'), ('refused', '77'),
               ('instances', $$'{[77,78)}'$$), ('processes', $$'{[77,78)}'$$), ('digest', $$'x'$$)) c (name, value);
select is(forged('delete from wf.audit where number = 4'), 'audit: rows are missing', 'a row is missing');
select is(forged('delete from wf.audit where number <= 4'), 'audit: rows are missing', 'the first rows are missing');
select is(forged('delete from wf.audit where number > 4'), 'audit: the last rows are missing', 'the last rows are missing');
select is(forged('delete from wf.audit'), 'audit: the last rows are missing', 'all rows are missing');
select is(forged('delete from wf.audit_head'), 'audit: nobody knows its last number', 'the last number is missing');
select is(forged('update wf.audit_head h set purged = 4, purged_digest = (select a.digest from wf.audit a where a.number = 4); delete from wf.audit where number <= 4'),
          'audit: rows are gone, and no purge says so', 'a purge that nobody wrote down');

-- purge
select is(wf._audit_purge('2000-01-01', 'nothing is so old'), 0::bigint, 'nothing is older');
select is(wf._audit_purge(now() + interval '1 day', 'as agreed', 4), 4::bigint, 'the oldest go, as many as are asked for');
select is((last()).verb || ' ' || (last()).reason || ' ' || ((last()).arguments ->> 'up_to'), 'audit purge as agreed 4', 'a row says so');
select is_empty('select * from wf._fsck_audit()', 'fsck finds the audit sound before the row of the purge has a number');
select wf._seal_audit();
select is_empty('select * from wf._fsck_audit()', 'fsck finds the audit sound when the row of the purge has its number');
select isnt(wf._audit_purge(now() + interval '1 day', 'all of it'), 0::bigint, 'all may go');
select wf._seal_audit();
select results_eq('select verb, number from wf.audit', $$select 'audit purge', h.number from wf.audit_head h$$, 'a purge of all rows leaves the row of the purge');
select is_empty('select * from wf._fsck_audit()', 'fsck finds the audit sound after a purge of all rows');

-- the clock of tests
select is(wf.now() > '2100-01-01', false, 'the clock is the server''s');
set wf.now = '2100-01-01 00:00+00';
select is(wf.now(), '2100-01-01 00:00+00'::timestamptz, 'where the owner allows it, a session may set it');
select count(*) from wf.suspend('{"workflow": "two"}', 'later') \g /dev/null
select ok((last()).at < '2100-01-01', 'the audit has the server''s all the same');
select results_eq($$select distinct at = '2100-01-01 00:00+00', server_at < '2100-01-01', client, login = session_user, role = session_user from wf.event_v where reason = 'later'$$,
                  $$values (true, true, 'local', true, true)$$, 'the history has both clocks');
update wf.setting set value = '0' where name = 'test_clock';
select ok(wf.now() < '2100-01-01', 'where it does not, the setting means nothing');
select ok(wf._now() < '2100-01-01', 'nowhere');
set wf.now = 'no moment at all';
select lives_ok('select wf.now(), wf._now()', 'wf.now is not even read where the owner does not allow it');
reset wf.now;

-- who it was
create role audited_role; grant wf_operator to audited_role;
select format('grant audited_role to %I', session_user) \gexec
set role audited_role;
select count(*) from wf.resume('{"workflow": "two"}', 'as another') \g /dev/null
reset role;
select is((select string_agg(distinct actor || '|' || login || '|' || role, ',') from wf.event_v where reason = 'as another'),
          format('%1$s as audited_role|%1$s|audited_role', session_user), 'history has the login and the role');
select is((last()).login || ' ' || (last()).role, session_user || ' audited_role', 'the audit has both the login and the role');
set wf.reason = 'the director has approved it';
select wf.start('two') as k \gset
select is((select reason from wf.event_v where instance_id = :k), null, 'a reason that no verb was given is none');

select * from finish();
rollback;
