-- Settings of the workspace: their list, and how an administrator sets them.

-- A value that was set before an upgrade stays.
insert into wf.setting (name, value, meaning, min, max) values
    ('schema_version', '0',
     'version of this schema, see migrations/all.sql', null, null),
    ('lease_seconds', '30',
     'seconds without a sign of life after which a driver is lost and its requests are taken back', 5, 3600),
    ('grace_seconds', '5',
     'seconds without a sign of life after which a driver whose connection is gone, too, is lost', 1, 3600),
    ('loss_limit', '5',
     'how many drivers in a row may die with a request before it waits for an operator; 0: any number, and no '
     'request is put off', 0, 1000000),
    ('value_bytes', '1048576',
     'largest value of a parameter, argument, output or name, in bytes of its text', 1024, 134217728),
    ('expression_steps', '200000',
     'how much work the evaluation of an expression may do, in steps: operators, times the elements that they are '
     'evaluated for', 1000, 1000000000),
    ('expression_bytes', '33554432',
     'how much the evaluation of an expression may build in all, in bytes', 65536, 1073741824),
    ('output_bytes', '1048576',
     'how much streamed output of an attempt is kept, in bytes', 1024, 1073741824),
    ('turns', '4',
     'how many polls and outcomes work at a time; the others are told to come back', 1, 256),
    ('window', '1000',
     'most children that a forall has open at once', 1, 1000),
    ('instance_processes', '10000000',
     'most processes that an instance may have in all, those that have ended included; a forall that may come to '
     'more fails before it begins', 1000, 1000000000000),
    ('instance_live', '1000000',
     'most processes that an instance may have under way at a time; a forall that may come to more fails before it '
     'begins', 1000, 1000000000000),
    ('instance_bytes', '16777216',
     'how much the names of an instance may hold at a time, in bytes; a value of 4 KiB or more that goes beyond it '
     'is refused', 65536, 1099511627776),
    ('reason_required', '0',
     '1: verbs of operators, a pause of the engine and a purge are refused without a reason', 0, 1),
    ('test_clock', '0',
     '1: a session of an administrator may set its clock (wf.now), for tests; only the owner of the schema sets it',
     null, null),
    ('child_depth', '20',
     'how many instances may be above one that a task wf.Start starts', 0, 1000),
    ('schedule_late', '60',
     'seconds after which a time of a schedule without catchup is missed', 1, 86400),
    ('signal_days', '7',
     'days after which a signal to a topic is deleted if nobody has taken it', 0, 36500),
    ('keep_days', '0',
     'days after which ended instances are purged, a few a second; 0: never', 0, 36500)
    on conflict (name) do update set meaning = excluded.meaning, min = excluded.min, max = excluded.max;

-- wf.setting_set(p_name, p_value)
--
-- Returns  nothing
-- Locks    the gate, the row of the setting
-- Raises   WF002 if the value is out of range, WF003 if there is no such setting, WF004 if it cannot be set so
-- Called   by administrators; the value counts from the next transaction on
create or replace function wf.setting_set(p_name text, p_value bigint) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_setting wf.setting;
begin
    perform wf._gate(false);
    select s.* into v_setting from wf.setting s where s.name = p_name for no key update;
    if not found then
        raise exception using errcode = 'WF003',
            message = format('there is no setting %s', coalesce(quote_literal(left(p_name, 100)), 'null')),
            hint = format('There are %s.',
                          (select string_agg(s.name, ', ' order by s.name) from wf.setting s where s.min is not null));
    elsif v_setting.min is null then
        raise exception using errcode = 'WF004',
            message = format('setting %s cannot be changed', p_name),
            hint = case p_name when 'test_clock' then 'It is for tests: only the owner of the schema wf may change it.'
                               else 'Only the workspace itself sets it.' end;
    elsif p_value is null or p_value not between v_setting.min and v_setting.max then
        raise exception using errcode = 'WF002',
            message = format('%s cannot be %s', p_name, coalesce(p_value::text, 'null')),
            hint = format('Give a number from %s to %s: %s.', v_setting.min, v_setting.max, v_setting.meaning);
    end if;
    update wf.setting s
       set value = p_value::text, changed_at = wf.now(), changed_by = wf._actor()
     where s.name = p_name;
end;
$$;
comment on function wf.setting_set(text, bigint) is
    'Sets a setting of the workspace (setting_v lists them with their ranges). The value counts from the next '
    'transaction on. Returns nothing; raises WF002 if the value is out of range, WF003 if there is no such setting, '
    'WF004 if it cannot be set with this procedure.';

-- wf._setting_changed()
--
-- Notes in the audit that a setting has another value, whoever changed it and how.
--
-- Locks    nothing; only inserts
-- Raises   nothing
create or replace function wf._setting_changed() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform wf._audit('setting set', jsonb_build_object('setting', new.name, 'value', new.value, 'was', old.value));
    return null;
end;
$$;
create or replace trigger setting_changed after update on wf.setting for each row
    when (old.value is distinct from new.value) execute function wf._setting_changed();

create or replace view wf.setting_v with (security_barrier = true) as
select s.name, s.value, s.min, s.max, s.meaning, s.changed_at, s.changed_by
  from wf.setting s;
comment on view wf.setting_v is 'The settings of the workspace.';
select wf._inherit_comments('setting_v', 'setting') \gset
