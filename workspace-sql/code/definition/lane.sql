-- Lanes: what a driver must serve to take a task.

-- wf._capabilities(p_value)
--
-- Reads a value of the policy `requires`: a list of capabilities, or an object. In
-- an object, true asks for the capability that its key names, a string or a number
-- asks for "key=value"; false and null ask for nothing.
--
-- Returns  the capabilities, sorted; null if the value is invalid
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._fits_policy, wf._settle_policies and wf._apply_policies
create or replace function wf._capabilities(p_value jsonb) returns text[]
language plpgsql immutable as $$
declare
    v_list text[];
begin
    if jsonb_typeof(p_value) = 'array' then
        v_list := array(select distinct e.value collate "C" from jsonb_array_elements_text(p_value) e order by 1);
        if exists (select from jsonb_array_elements(p_value) e where jsonb_typeof(e.value) <> 'string') then
            return null;
        end if;
    elsif jsonb_typeof(p_value) = 'object' then
        if exists (select from jsonb_each(p_value) e where jsonb_typeof(e.value) in ('array', 'object')) then
            return null;
        end if;
        v_list := array(select e.key || case e.value when 'true' then '' else '=' || (e.value #>> '{}') end collate "C"
                          from jsonb_each(p_value) e where e.value not in ('false', 'null') order by 1);
    end if;
    return case when wf._are_capabilities(v_list) then v_list end;
end;
$$;

-- wf._are_capabilities(p_list)
--
-- Returns  whether it is a list of capabilities: at most 64, of 1 to 127 bytes each, without control characters
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._capabilities, wf.register and wf.driver_grant_set
create or replace function wf._are_capabilities(p_list text[]) returns boolean
language sql immutable set standard_conforming_strings = on as $$
    select cardinality(p_list) <= 64
       and not exists (select from unnest(p_list) c (name)
                        where c.name is null
                           or octet_length(c.name) not between 1 and 127
                           or c.name ~ '[\x01-\x1f\x7f]');
$$;

-- wf._fixed_lane(p_queue, p_needs, p_requires)
--
-- Stores a lane that a node names. It is never removed.
--
-- Returns  its number
-- Locks    the row of a new lane; only another install of the same new lane waits for it
-- Called   by wf.install
create or replace function wf._fixed_lane(p_queue text, p_needs text[], p_requires text[]) returns bigint
language plpgsql as $$
declare
    v_id constant bigint := wf._name_number(jsonb_build_array(p_queue, p_needs, p_requires)::text);
begin
    insert into wf.lane (id, queue, needs, requires, fixed) values (v_id, p_queue, p_needs, p_requires, true)
        on conflict do nothing;
    return v_id;
end;
$$;

-- wf._lane(p_queue, p_needs, p_requires)
--
-- Finds the lane of a queue, a sorted list of transports and one of capabilities,
-- for a queue or capabilities that an expression has computed. If the lane has no
-- row, or may be about to lose it (_forget_lanes), this tells the next poll to
-- insert the row.
--
-- Returns  its number, which is never that of a fixed lane
-- Called   wherever policies compute a queue or capabilities
create or replace function wf._lane(p_queue text, p_needs text[], p_requires text[]) returns bigint
language plpgsql as $$
declare
    v_lane constant jsonb := jsonb_build_object('queue', p_queue, 'needs', p_needs, 'requires', p_requires);
    v_id constant bigint := wf._name_number(v_lane::text);
begin
    -- a snapshot that is older than this statement may not show that the lane is about to be removed
    if current_setting('transaction_isolation') not like 'read %'
       or not exists (select from wf.lane l where l.id = v_id and l.unused_xid is null) then
        insert into wf.dirty (lane_id, lane) values (v_id, v_lane);
    end if;
    return v_id;
end;
$$;

-- wf._asked()
--
-- Returns  the rows of dirty, also those that work of kind settle has
-- Called   by functions that show groups and lanes that have no row yet
create or replace function wf._asked() returns setof wf.dirty
language sql stable
begin atomic
    select d.* from wf.dirty d
     union all
    select x.*
      from wf.work w
     cross join lateral jsonb_populate_record(null::wf.dirty, w.asked) x
     where w.kind = 'settle';
end;

-- wf._find_lane(p_lane)
--
-- Returns  a lane, also one whose row the next poll will insert
-- Called   by explain
create or replace function wf._find_lane(p_lane bigint) returns setof wf.lane
language sql stable set search_path = pg_catalog, pg_temp as $$
    select l.* from wf.lane l where l.id = p_lane
     union all
    (select x.*
       from wf._asked() d
      cross join lateral jsonb_populate_record(null::wf.lane, d.lane || jsonb_build_object('id', p_lane)) x
      where d.lane_id = p_lane and not exists (select from wf.lane l where l.id = p_lane)
      limit 1)
$$;

-- wf._lane_text(p_lane)
--
-- Returns  in words, what a driver must serve to take requests of a lane
-- Locks    nothing
-- Raises   nothing
-- Called   by explain and stuck
create or replace function wf._lane_text(p_lane wf.lane) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
    select format('queue %s with %s', p_lane.queue,
                  coalesce(nullif(array_to_string(p_lane.needs, ', '), ''), 'any transport'))
           || case cardinality(p_lane.requires) when 0 then ''
                                                when 1 then ' and the capability '
                                                else ' and the capabilities ' end
           || array_to_string(p_lane.requires, ', ');
$$;
