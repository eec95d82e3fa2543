-- Lanes: what a driver must serve to take a task.

-- wf._capabilities(p_value)
--
-- What the policy requires asks for: a list of capabilities, or an object, in
-- which true asks for the capability of that name, a string or a number for
-- "name=value", false and null for nothing.
--
-- Returns  the capabilities, sorted; null if the value is no such thing
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._policies, wf._store_nodes and wf._measure
create or replace function wf._capabilities(p_value jsonb) returns text[]
language plpgsql immutable :inner as $$
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
-- Called   by wf._capabilities and wf.register
create or replace function wf._are_capabilities(p_list text[]) returns boolean
language sql immutable :inner set standard_conforming_strings = on as $$
    select cardinality(p_list) <= 64
       and not exists (select from unnest(p_list) c (name)
                        where c.name is null or octet_length(c.name) not between 1 and 127 or c.name ~ '[\x01-\x1f\x7f]');
$$;

-- wf._lane(p_queue, p_needs, p_requires, p_fixed)
--
-- Returns  the number of the lane of a queue, a sorted list of transports and one of capabilities; a new one is inserted
-- Locks    its row, so that it stays until what is put into it can be seen
-- Raises   nothing
-- Called   by wf.install (p_fixed: a node names it) and wherever policies compute a queue or capabilities
create or replace function wf._lane(p_queue text, p_needs text[], p_requires text[], p_fixed boolean) returns bigint
language plpgsql :inner as $$
declare
    v_lane wf.lane;
begin
    loop
        select l.* into v_lane from wf.lane l where l.queue = p_queue and l.needs = p_needs and l.requires = p_requires for key share;
        exit when v_lane.id is not null;
        insert into wf.lane (queue, needs, requires, fixed) values (p_queue, p_needs, p_requires, p_fixed) on conflict do nothing;
    end loop;
    if p_fixed and not v_lane.fixed then
        update wf.lane l set fixed = true where l.id = v_lane.id;
    end if;
    return v_lane.id;
end;
$$;

-- wf._forget_lanes()
--
-- Removes lanes that only expressions have named and that hold nothing any more:
-- a poll looks at each that its driver serves. A lane that somebody is about to
-- use is locked by him, and stays.
--
-- Returns  nothing
-- Locks    rows of lane (skipping locked ones)
-- Raises   nothing
-- Called   by poll, once a minute for each driver, and tick
create or replace function wf._forget_lanes() returns void
language plpgsql :inner as $$
declare
    v_lanes bigint[] := array(select l.id from wf.lane l where not l.fixed order by l.id for update skip locked);
begin
    if cardinality(v_lanes) = 0 then
        return;
    end if;
    delete from wf.lane l
     where l.id = any (array(
        select u.id from unnest(v_lanes) u (id)
        except (
        select r.lane_id from wf.ready r
        union
        select k.lane_id from wf.parked k
        union
        select p.lane_id
          from (select x.instance_id, x.process_id from wf.lease x
                union
                select x.instance_id, x.process_id from wf.failed x
                union
                select x.instance_id, x.process_id from wf.timer x where x.kind <> 'sleep') x
         cross join lateral (select p.lane_id from wf.process p where p.instance_id = x.instance_id and p.id = x.process_id offset 0) p)));
end;
$$;

-- wf._lane_text(p_lane)
--
-- Returns  what a driver must serve to take requests of a lane, for people
-- Locks    nothing
-- Raises   nothing
-- Called   by explain and stuck
create or replace function wf._lane_text(p_lane wf.lane) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
    select format('queue %s with %s', p_lane.queue, coalesce(nullif(array_to_string(p_lane.needs, ', '), ''), 'any transport'))
           || case cardinality(p_lane.requires) when 0 then '' when 1 then ' and the capability ' else ' and the capabilities ' end
           || array_to_string(p_lane.requires, ', ');
$$;
