-- The policy `timeout`: its limits.

-- wf._wrong_timeout(p_values)
--
-- Returns  the limits of a timeout that do not fit, each with what would fit
-- Locks    nothing
-- Raises   nothing
-- Called   by _wrong_policies and _timeout_values
create or replace function wf._wrong_timeout(p_values jsonb) returns table (key text, value jsonb, meaning text)
language plpgsql stable as $$
begin
    return query
    select v.key, v.value, 'a duration of more than 0, at most 36500 days'
      from jsonb_each(p_values) v
     where v.value <> 'null'
       and not coalesce(wf._retry_seconds(v.value) > 0 and wf._retry_seconds(v.value) <= 36500 * 86400::numeric, false);
end;
$$;

-- wf._limit(p_kind)
--
-- Returns  the bit of a limit in node.timed and process.timed; that of `long` says that the limits of an attempt are
--          long, and that a driver has a request of it for as long as it is under way (see task/timeout.sql)
-- Locks    nothing
-- Raises   nothing
-- Called   with a constant, so that plans hold a number
create or replace function wf._limit(p_kind text) returns smallint
language sql immutable
begin atomic
    select (1 << array_position(array['wait', 'inactivity', 'runtime', 'deadline', 'long'], p_kind) - 1)::smallint;
end;

-- wf._is_limited(p_timed)
--
-- Returns  whether each attempt of a process has a limit of its own; null if p_timed, as in process.timed, is null
-- Locks    nothing
-- Raises   nothing
-- Called   by the update trigger of process; PostgreSQL folds it into the query
create or replace function wf._is_limited(p_timed smallint) returns boolean
language sql immutable
begin atomic
    select p_timed & (wf._limit('inactivity') | wf._limit('runtime')) > 0;
end;

-- wf._is_noted(p_timed)
--
-- Returns  whether it is noted that an attempt of a process begins; null if p_timed is null
-- Locks    nothing
-- Raises   nothing
-- Called   by the update trigger of process; PostgreSQL folds it into the query
create or replace function wf._is_noted(p_timed smallint) returns boolean
language sql immutable
begin atomic
    select wf._is_limited(p_timed) and p_timed & wf._limit('long') = 0;
end;

-- wf._timed(p_timeout, p_machine)
--
-- Returns  node.timed, from node.timeout and node.machine; null for null, without a call: most nodes have no timeout
-- Locks    nothing
-- Raises   nothing
-- Called   when nodes are stored
create or replace function wf._timed(p_timeout jsonb, p_machine text) returns smallint
language sql immutable strict
begin atomic
    select bit_or(wf._limit(k.kind))
           | case when p_machine = 'sync' and least((p_timeout ->> 'inactivity')::numeric,
                                                    (p_timeout ->> 'runtime')::numeric) >= 120
                  then wf._limit('long') else 0::smallint end
      from unnest(array['wait', 'inactivity', 'runtime', 'deadline']) k (kind)
     where p_timeout = '{}' or p_timeout ? k.kind;
end;

-- wf._timeout_values(p_timeout)
--
-- Returns  the limits of a timeout in seconds, without those that are null; null for null
-- Locks    nothing
-- Raises   WF020 if a limit does not fit
-- Called   by _policies for constants, and by _apply_policies and _root_policy when a process is entered
create or replace function wf._timeout_values(p_timeout jsonb) returns jsonb
language plpgsql stable as $$
declare
    f record;
begin
    for f in select * from wf._wrong_timeout(p_timeout) limit 1 loop
        raise exception using errcode = 'WF020',
            message = format('%s of timeout is %s, not %s', f.key, f.meaning, left(f.value::text, 100));
    end loop;
    return case when p_timeout is not null
                then (select coalesce(jsonb_object_agg(v.key, wf._retry_seconds(v.value)), '{}')
                        from jsonb_each(p_timeout) v where v.value <> 'null') end;
end;
$$;
