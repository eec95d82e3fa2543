-- page.sql - the queries that the pages for operators and DBAs give, in a workspace of which
-- everything is known: each shows what it is for, and nothing while all is well.
begin;
\ir helper/play.sql
select no_plan();
\set operating `cat "$ROOT/docs/operating.md"`
\set dba `cat "$ROOT/docs/dba.md"`
\set driver_page `cat "$ROOT/docs/driver.md"`

-- The queries of the blocks ```sql, and of the \copy in them, without comments.
create table page_query as
select p.page, x.n, y.k, btrim(coalesce(substring(y.query from '^\s*\\copy \((.*)\) to '), y.query), E' \n') as query
  from (values ('operating', :'operating'), ('dba', :'dba'), ('driver', :'driver_page')) p (page, body)
 cross join lateral regexp_matches(p.body, E'```sql\n(.*?)```', 'g') with ordinality x (block, n)
 cross join lateral regexp_split_to_table(regexp_replace(x.block[1], '--[^\n]*', '', 'g'), E';\\s*\n|\n(?=\\\\copy)') with ordinality y (query, k)
 where y.query ~* '^\s*(\\copy \(|)select ';
create table page_tried (query text primary key);
create role page_monitor login;
grant wf_viewer to page_monitor;

-- shows(LIKE [, LOGIN]): what the only query with this text gives to a login, each row as an object; null: no row
create function shows(p_like text, p_login text default 'page_monitor') returns jsonb
language plpgsql as $$
declare
    v_query text := (select min(q.query) || case when count(*) > 1 then ' is not the only one' else '' end from page_query q where q.query like p_like);
begin
    insert into page_tried select v_query on conflict do nothing;
    return play_as(p_login, format('select jsonb_agg(to_jsonb(q) order by to_jsonb(q)::text) from (%s) q', v_query));
end;
$$;
-- ago(INTERVAL): a time as JSON has it
create function ago(p_interval interval) returns jsonb language sql as $$ select to_jsonb(now() - p_interval) $$;
create function at(p_interval interval) returns text language sql as $$ select set_config('wf.now', (now() - p_interval)::text, true) $$;
select is((select string_agg(distinct page, ' ' order by page) from page_query), 'dba driver operating', 'each page has queries');

-- all is well
select at('1 second');
select play_driver('fine') as fine \gset
select is(shows(q), null, 'all is well: ' || q)
  from unnest(array['%min(at) as oldest%', '%detail ->> ''kind''%', '%retry_at is not null%', '%as longest%', '%seen_at < now()%']) q;
select is(shows('%http.within_1000_ms%'), null, 'all is well: no driver has counted anything');

-- a long time ago: it is no longer news
select play_install('night', jsonb_build_array(play_par(
    play_task('t.Do', 'quick'), play_task('t.Do', 'broken'), play_task('t.Do', 'again', '{}', '{"retry": {"attempts": 3, "delay": "PT2H"}}'),
    play_task('t.Do', 'one', '{}', '{"group": {"name": "bank", "max": 1}}'), play_task('t.Do', 'two', '{}', '{"group": {"name": "bank", "max": 1}}'),
    play_task('t.Do', 'nobody', '{}', '{"queue": "nobody"}'))));
select play_install('short', jsonb_build_array(play_task('t.Do', 'a')));
select at('100 days');
select wf.start('short') as oldest \gset
select play_on(:fine);
select at('2 days');
select wf.start('short') as old, wf.start('short') as old_broken \gset
select play_take(:fine);
select play_report(play_id(:old, 'a')), play_fail(play_id(:old_broken, 'a'));

-- an hour ago and since
select at('50 minutes');
select wf.heartbeat(:fine);
select play_driver('mute') as mute \gset
select wf.start('night') as night \gset
select play_take(:mute) + play_take(:mute) as taken \gset
select is(:taken, 4, 'the tasks that can begin have begun');
select at('45 minutes');
select play_fail(play_id(:night, 'broken')), play_fail(play_id(:night, 'again'));
select at('40 minutes');
select play_report(play_id(:night, 'quick'));
select at('30 minutes');
update wf.sign_of_life set seen_at = now() - interval '30 minutes' where driver_id = :mute;
select wf.retry(jsonb_build_object('instance', :night, 'process', play_id(:night, 'broken')));
select play_take(:fine);
select at('28 minutes');
select play_report(play_id(:night, 'broken'));
select at('1 second');
select wf.heartbeat(:fine);
select wf.counters_set(:fine, '{"http.responses": 8, "http.errors": 2, "http.within_1000_ms": 9, "loop.passes": 5}'),
       wf.counters_set(:mute, '{"http.responses": 0, "http.within_1000_ms": 0}');
update wf.sign_of_life set seen_at = now() - interval '30 minutes' where driver_id = :mute;

select is(shows('%min(at) as oldest%'),
          jsonb_build_array(jsonb_build_object('group_name', 'bank', 'count', 1, 'oldest', ago('50 minutes')), jsonb_build_object('group_name', null, 'count', 1, 'oldest', ago('50 minutes'))),
          'tasks that have not begun, by group, and since when the oldest waits');
select is(shows('%detail ->> ''kind''%'), '[{"kind": "http", "count": 2}]', 'failures of the last hour, and none from before');
select is(shows('%retry_at is not null%'),
          jsonb_build_array(jsonb_build_object('instance_id', :night, 'process_id', play_id(:night, 'again'), 'attempt', 2, 'kind', 'http', 'retry_at', ago('45 minutes') #>> '{}')
                            || jsonb_build_object('retry_at', ago('-75 minutes'))), 'the task that waits for its next attempt');
select is(shows('%as longest%'), '[{"task_type": "t.Do", "count": 2, "mean": "00:06:00", "longest": "00:10:00"}]', 'each task once, its last attempt, of the last day');
select is(shows('%seen_at < now()%'), jsonb_build_array(jsonb_build_object('name', 'mute', 'seen_at', ago('30 minutes'), 'in_flight', 1)), 'the driver that is silent, and what it holds');
select is(shows('%http.within_1000_ms%'), '[{"name": "fine", "slow": 0.10000000000000000000}, {"name": "mute", "slow": null}]', 'the share of slow requests, by driver');

-- the DBA's
select is((select jsonb_agg(r -> 'pid') from jsonb_array_elements(shows('%from pg_stat_activity%where xact_start%', session_user)) r where r -> 'pid' = to_jsonb(pg_backend_pid())), null,
          'a transaction that has just begun is not among those that are open for long');
update page_query set query = replace(query, 'now() - interval ''10 minutes''', 'now() + interval ''10 minutes''') where query like '%from pg_stat_activity%where xact_start%';
select is((select count(*) from jsonb_array_elements(shows('%from pg_stat_activity%where xact_start%', session_user)) r where r -> 'pid' = to_jsonb(pg_backend_pid())), 1::bigint,
          'a transaction is among them when it has begun long ago');
select is((select count(*) from jsonb_array_elements(shows('%from pg_stat_user_tables%', session_user)) r), (select count(*) from pg_class where relnamespace = 'wf'::regnamespace and relkind = 'r'),
          'each table of the workspace has a row');
select is((select r ->> 'size' from jsonb_array_elements(shows('%from pg_stat_user_tables%', session_user)) r where r ->> 'relname' = 'process'), pg_size_pretty(pg_total_relation_size('wf.process')), 'with its size');
select wf._seal_audit();
update page_query set query = replace(query, '4711', (select number::text from wf.audit_head)) where query like '%from wf.audit where%';
select isnt(shows('%from wf.audit_head%', session_user) -> 0 ->> 'encode', null, 'the audit has a digest');
select is(shows('%from wf.audit where%', session_user) -> 0 ->> 'encode', shows('%from wf.audit_head%', session_user) -> 0 ->> 'encode', 'the newest row of the audit has the digest that was kept');
select is((select jsonb_agg(distinct r -> 'instance_id') from jsonb_array_elements(shows(format('select %s.* from %%89 days%%', v))) r), jsonb_build_array(:oldest), 'only old instances are copied before a purge: ' || v)
  from unnest('{i,p,e}'::text[]) v;
select is(shows('select o.* from %89 days%'), null, 'of what has written nothing there is nothing to copy');

-- A viewer can read every column of every view. If a view called a function that only the owner may execute, this would fail.
create function unreadable(p_login text) returns table (view name, message text)
language sql as $$
    select v.relname, r.message
      from pg_class v
     cross join lateral play_as(p_login, format('select min(x::text) from wf.%I x where false', v.relname)) r (message)
     where v.relnamespace = 'wf'::regnamespace and v.relkind = 'v' and v.relname not like '\_%' and r.message is not null;
$$;
select is_empty($$ select * from unreadable('page_monitor') $$, 'a viewer may read every column of each view');
create role page_stranger login;
select isnt_empty($$ select * from unreadable('page_stranger') $$, 'a login without a role reads none');

-- The pages may get more queries: each has to be here.
select is_empty($$ select q.page, q.query from page_query q where q.query not in (select t.query from page_tried t) and q.query not like '%wf._audit_purge(%' $$,
                'no query of the pages is left out; audit.sql tries wf._audit_purge');
select * from finish();
rollback;
