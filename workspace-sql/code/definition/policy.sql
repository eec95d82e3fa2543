-- Policies: their values, which values fit, and which of them install settles.
-- The policies `retry` and `timeout`, which hold several values, have files of their own.

-- wf._policy_value()
--
-- Lists the values of policies: the key under which the engine has a value, its path in
-- the policies of a compiled file, the kind of value that it holds, and its name for people.
--
-- Returns  a row for each value, without those of retry and timeout
-- Locks    nothing
-- Raises   nothing
-- Called   wherever policies are checked, settled or applied
create or replace function wf._policy_value() returns table (key text, path text[], holds text, meaning text)
language sql immutable rows 10
begin atomic
    values ('group', array['group', 'name'], 'name', 'the name of a concurrency group'),
           ('group_max', array['group', 'max'], 'count', 'max of a concurrency group'),
           ('rate', array['rate', 'name'], 'name', 'the name of a rate'),
           ('rate_limit', array['rate', 'limit'], 'limit', 'limit of a rate'),
           ('rate_per', array['rate', 'per'], 'period', 'per of a rate'),
           ('queue', array['queue'], 'name', 'the name of a queue'),
           ('requires', array['requires'], 'capabilities', 'what a task requires'),
           ('priority', array['priority'], 'priority', 'a priority'),
           ('idempotent', array['idempotent'], 'truth', 'idempotent'),
           ('weight', array['weight'], 'weight', 'a weight'),
           ('output', array['output'], 'count', 'max of an output'),
           ('title', array['title'], 'text', 'a title');
end;

-- wf._fits_policy(p_holds, p_value)
--
-- Returns  whether a policy can hold this value; null fits, too, except as a name, a limit or a period
-- Locks    nothing
-- Raises   nothing
-- Called   by _wrong_policies, _policies, _apply_policies and _spec_constants
create or replace function wf._fits_policy(p_holds text, p_value jsonb) returns boolean
language plpgsql immutable as $$
begin
    return p_value = 'null' and p_holds not in ('name', 'limit', 'period')
           or case p_holds
                  when 'name' then jsonb_typeof(p_value) = 'string' and octet_length(p_value #>> '{}') between 1 and 63
                  when 'count' then p_value::text ~ '^[1-9][0-9]{0,8}([.]0+)?$'
                  when 'limit' then p_value::text ~ '^[1-9][0-9]{0,8}([.]0+)?$'
                  when 'period'
                  then case when p_value is not null
                            then coalesce(wf._retry_seconds(p_value) between 0.001 and 36500 * 86400::numeric, false)
                       end
                  when 'capabilities' then wf._capabilities(p_value) is not null
                  when 'priority' then p_value::text ~ '^-?([0-9]{1,3}|1000)$'
                  when 'truth' then jsonb_typeof(p_value) = 'boolean'
                  when 'weight'
                  then jsonb_typeof(p_value) = 'number' and (p_value #>> '{}')::numeric between 0.001 and 1000000
                  when 'text' then jsonb_typeof(p_value) = 'string'
              end;
end;
$$;

-- wf._policy_fit(p_holds)
--
-- Returns  which values fit, in words
-- Locks    nothing
-- Raises   nothing
-- Called   by _wrong_policies and _apply_policies
create or replace function wf._policy_fit(p_holds text) returns text
language sql immutable
begin atomic
    select case p_holds
               when 'name' then 'a string of 1 to 63 bytes'
               when 'count' then 'an int of at least 1'
               when 'limit' then 'an int of at least 1'
               when 'period' then 'a duration of 1 ms to 36500 days'
               when 'capabilities'
               then 'a list of strings or an object of scalars, at most 64 of 127 bytes each'
               when 'priority' then 'an int from -1000 to 1000'
               when 'truth' then 'true or false'
               when 'weight' then 'a number from 0.001 to 1000000'
               when 'text' then 'a string'
           end;
end;

-- wf._tag_fit()
--
-- Returns  in words, which values the policy tags and start take as tags; _fits_tags checks a value
-- Locks    nothing
-- Raises   nothing
-- Called   by _wrong_policies and _tags
create or replace function wf._tag_fit() returns text
language sql immutable
begin atomic
    select 'a list of at most 64 strings of 1 to 127 bytes each';
end;

-- wf._fits_tags(p_value)
--
-- Returns  whether a value is a list of tags; JSON null fits, too
-- Locks    nothing
-- Raises   nothing
-- Called   by _wrong_policies and _tags
create or replace function wf._fits_tags(p_value jsonb) returns boolean
language plpgsql immutable as $$
begin
    return p_value = 'null'
           or jsonb_typeof(p_value) = 'array' and jsonb_array_length(p_value) <= 64
              and not exists (select from jsonb_array_elements(p_value) t
                               where jsonb_typeof(t) <> 'string' or octet_length(t #>> '{}') not between 1 and 127);
end;
$$;

-- wf._constant_parts(p_object)
--
-- Returns  the values of the constant expressions in an object; null if no expression is
--          constant
-- Locks    nothing
-- Raises   nothing
-- Called   by _wrong_policies and _policy_schedule
create or replace function wf._constant_parts(p_object jsonb) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp as $$
    select jsonb_object_agg(e.key, c.value -> 'value')
      from jsonb_each(p_object) e
     cross join lateral wf._constant(e.value) c (value)
     where c.value is not null;
$$;

-- wf._wrong_policies(p_policies)
--
-- Returns  the constant values among the policies of a compiled file that do not
--          fit: the path to each, and what would fit. The callers check `idempotent`.
-- Locks    nothing
-- Raises   nothing
-- Called   by _spec_types and _spec_constants
create or replace function wf._wrong_policies(p_policies jsonb) returns table (path text, fit text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select array_to_string(v.path, '.'), wf._policy_fit(v.holds)
      from wf._policy_value() v
     cross join lateral (select wf._constant(e.expression) as value
                           from (select p_policies #> v.path) e (expression)
                          where e.expression is not null
                         offset 0) c
     where v.key <> 'idempotent'
       and (c.value -> 'value' <> 'null' or v.holds in ('limit', 'period'))
       and not wf._fits_policy(v.holds, c.value -> 'value')
     union all
    select 'retry.' || w.key, w.meaning
      from wf._wrong_retry(wf._constant_parts((p_policies -> 'retry') - 'when')) w
     where p_policies ? 'retry'
     union all
    select 'timeout.' || w.key, w.meaning
      from wf._wrong_timeout(wf._constant_parts(p_policies -> 'timeout')) w
     where p_policies ? 'timeout'
     union all
    select 'tags', wf._tag_fit()
      from wf._constant(p_policies -> 'tags') c (value)
     where not wf._fits_tags(c.value -> 'value')
     union all
    select 'timeout', 'an object with at least one limit'
     where p_policies -> 'timeout' = '{}';
$$;

-- wf._policy_names(p_policies)
--
-- Returns  the names that policies read; `when` of a retry sees the error as `error`
-- Locks    nothing
-- Raises   nothing
-- Called   by _spec_types and _tasks_of_types, for the policies of a task type
create or replace function wf._policy_names(p_policies jsonb) returns text[]
language sql stable
begin atomic
    select case when p_policies #> '{retry,when}' is null then wf._names(p_policies)
                else array(select unnest(wf._names(p_policies #- '{retry,when}'))
                            union
                           select unnest(array_remove(wf._names(p_policies #> '{retry,when}'), 'error'))) end;
end;

-- wf._policies(p_task, p_type, p_args)
--
-- Merges the policies of a task with the defaults of its type, and settles the
-- constant ones. The keys are those of _policy_value, retry and timeout. A task
-- takes from its type each limit of a timeout that it does not name itself.
--
-- Returns  fixed: the values of the constant policies, and as retry_when the
--          condition of a retry; read: the expressions of the other policies,
--          null if all are constant
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._settle_policies
create or replace function wf._policies(p_task jsonb, p_type jsonb, p_args jsonb, out fixed jsonb, out read jsonb)
language plpgsql stable as $$
declare
    v_policies jsonb;
    p record;
    v_value jsonb;
begin
    fixed := '{}';
    if p_task is null and p_type is null then
        return;
    end if;
    v_policies := coalesce(wf._substitute(p_type, p_args), '{}') || coalesce(p_task, '{}');
    if v_policies ? 'timeout' then
        v_value := coalesce(wf._substitute(p_type -> 'timeout', p_args), '{}') || coalesce(p_task -> 'timeout', '{}');
        begin
            fixed := jsonb_strip_nulls(
                jsonb_build_object('timeout', wf._timeout_values(wf._constant(v_value) -> 'value')));
        exception when sqlstate 'WF020' or data_exception then
            null; -- the evaluation fails again in the process that needs the value
        end;
        if not fixed ? 'timeout' then
            read := jsonb_build_object('timeout', v_value);
        end if;
    end if;
    if v_policies ? 'retry' then
        begin
            v_value := wf._retry_values(wf._constant((v_policies -> 'retry') - 'when') -> 'value');
        exception when sqlstate 'WF020' or data_exception then
            v_value := null; -- the evaluation fails again in the process that needs the value
        end;
        if v_value is null then
            read := coalesce(read, '{}') || jsonb_build_object('retry', (v_policies -> 'retry') - 'when');
        else
            fixed := fixed || jsonb_build_object('retry', v_value);
        end if;
        if v_policies -> 'retry' ? 'when' then
            fixed := fixed || jsonb_build_object('retry_when', v_policies #> '{retry,when}');
        end if;
    end if;
    for p in
        select v.key, v.holds, v_policies #> v.path as value
          from wf._policy_value() v
         where v_policies #> v.path is not null
    loop
        v_value := wf._constant(p.value) -> 'value';
        -- an invalid value is not fixed, so that the process that needs it fails
        if v_value <> 'null' and wf._fits_policy(p.holds, v_value) then
            fixed := fixed || jsonb_build_object(p.key, v_value);
        elsif v_value is distinct from 'null' then
            read := coalesce(read, '{}') || jsonb_build_object(p.key, p.value);
        end if;
    end loop;
end;
$$;

-- wf._constant_rate(p_fixed, p_read)
--
-- Returns  those of name, max and per of a policy rate that are constant; null without the policy
-- Locks    nothing
-- Raises   nothing
-- Called   by _store_nodes
create or replace function wf._constant_rate(p_fixed jsonb, p_read jsonb) returns jsonb
language sql immutable
begin atomic
    select case when p_fixed ? 'rate' or p_read ? 'rate'
                then jsonb_strip_nulls(jsonb_build_object('name', p_fixed -> 'rate', 'max', p_fixed -> 'rate_limit',
                                                          'per', p_fixed -> 'rate_per')) end;
end;
