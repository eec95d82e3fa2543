-- setting.sql - settings are changed by administrators, within their ranges.
begin;
select no_plan();

select is_empty($$select name from wf.setting_v where min is not null and value::bigint not between min and max$$, 'every setting comes within its range');
select lives_ok($$select wf.setting_set('lease_seconds', 45)$$, 'a setting is set');
select results_eq($$select value, changed_by collate "C", changed_at is not null from wf.setting_v where name = 'lease_seconds'$$,
                  $$select '45', session_user::text collate "C", true$$, 'a setting keeps who set it and when');
select is(wf._setting_number('lease_seconds'), 45::bigint, 'the engine reads it');
select throws_ok($$select wf.setting_set('lease_seconds', 4)$$, 'WF002', 'lease_seconds cannot be 4', 'a value below the range is refused');
select throws_ok($$select wf.setting_set('lease_seconds', 3601)$$, 'WF002', 'lease_seconds cannot be 3601', 'a value above the range is refused');
select throws_ok($$select wf.setting_set('lease_seconds', null)$$, 'WF002', 'lease_seconds cannot be null', 'no value');
select throws_ok($$select wf.setting_set('lease', 45)$$, 'WF003', $$there is no setting 'lease'$$, 'an unknown one');
select throws_ok($$select wf.setting_set(null, 45)$$, 'WF003', 'there is no setting null', 'none');
select throws_ok($$select wf.setting_set('schema_version', 9)$$, 'WF004', 'setting schema_version cannot be changed', 'a setting of the workspace itself is refused');

select * from finish();
rollback;
