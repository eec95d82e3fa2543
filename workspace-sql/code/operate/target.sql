-- Targets: which instances and processes an operator means.
--
-- A target is an object. Its keys say where to look and what to take; several
-- keys hold together:
--
--   instance    id or list of ids
--   process     id or list of ids
--   root        id or list of ids: this process and everything in it
--   state       state or list of states
--   failed      true: as state FAILED
--   workflow    instances of this workflow
--   tag         instances that were given this tag
--   older_than  instances that were started longer ago than this interval
--   latest      true: of the instances that match only the latest one
--   global      true: the same as latest, in the words of lb-workflow
--   among       a multirange of ids, as "{[17,20),[42,43)}": the verb touches
--               nothing else. These are ids of processes, or of instances if the
--               verb is done to instances
--
-- A target without an id means the whole workspace: every instance that
-- matches and has not ended. An instance or process that an id names, and the
-- latest instance, get an answer in any case. All others are targets only if they
-- can make the move.
--
-- `among` is for a caller that asks a person first. wf.preview says which processes or
-- instances a verb would touch, and locks nothing. The verb then touches these or fewer.

-- wf._target_ids(p_target, p_key)
--
-- Returns  the ids under a key of a target; null if it lacks the key
-- Locks    nothing
-- Raises   WF002
-- Called   by wf._parse_target
create or replace function wf._target_ids(p_target jsonb, p_key text) returns bigint[]
language plpgsql immutable as $$
declare
    v_list jsonb := p_target -> p_key;
begin
    if v_list is null then
        return null;
    end if;
    if jsonb_typeof(v_list) <> 'array' then
        v_list := jsonb_build_array(v_list);
    end if;
    if exists (select
                 from jsonb_array_elements(v_list) e
                where jsonb_typeof(e) <> 'number' or e::text !~ '^[0-9]{1,18}$') then
        raise exception using errcode = 'WF002',
            message = format('target: "%s" is not an id or a list of ids', p_key),
            hint = 'Ids are whole numbers, such as wf-console list and tree show them.';
    end if;
    return array(select distinct e::text::bigint from jsonb_array_elements(v_list) e order by 1);
end;
$$;

-- wf._target_states(p_target)
--
-- Returns  the states that a target asks for; null if it asks for none
-- Locks    nothing
-- Raises   WF002
-- Called   by wf._parse_target
create or replace function wf._target_states(p_target jsonb) returns text[]
language plpgsql stable as $$
declare
    v_list    jsonb := coalesce(p_target -> 'state', 'null');
    v_states  text[];
    v_unknown text;
begin
    if jsonb_typeof(v_list) = 'null' then
        return case when (p_target ->> 'failed')::boolean then array['FAILED'] end;
    end if;
    if jsonb_typeof(v_list) <> 'array' then
        v_list := jsonb_build_array(v_list);
    end if;
    v_states := array(select jsonb_array_elements_text(v_list));
    select s into v_unknown
      from unnest(v_states) s
     where not exists (select from wf.machine_state m where m.state = s)
     limit 1;
    if found then
        raise exception using errcode = 'WF002',
            message = format('target: there is no state "%s"', v_unknown),
            hint = 'States: '
                   || (select string_agg(distinct m.state, ', ' order by m.state) from wf.machine_state m) || '.';
    end if;
    if (p_target ->> 'failed')::boolean then
        return array(select s from unnest(v_states) s where s = 'FAILED');
    end if;
    return v_states;
end;
$$;

-- wf._parse_target(p_target)
--
-- Reads a target and checks all of it.
--
-- Returns  one row with the value of each key, null if it is absent; latest is true if of
--          all instances that match only the latest is meant
-- Locks    nothing
-- Raises   WF002, WF003 (unknown workflow)
-- Called   by every procedure that takes a target
create or replace function wf._parse_target(
    p_target jsonb,
    out instances bigint[], out processes bigint[], out roots bigint[], out states text[],
    out workflow_id bigint, out tag text, out started_before timestamptz, out latest boolean, out among int8multirange)
language plpgsql stable as $$
declare
    v_key text;
begin
    if jsonb_typeof(coalesce(p_target, 'null')) <> 'object' then
        raise exception using errcode = 'WF002',
            message = 'the target names nothing',
            hint = 'Give an object, such as {"instance": 7}, {"process": 42} or {"failed": true}.';
    end if;
    select k into v_key
      from jsonb_each(p_target) e (k, v)
     where jsonb_typeof(v) is distinct from
           case when k in ('failed', 'latest', 'global') then 'boolean'
                when k in ('workflow', 'tag', 'older_than', 'among') then 'string'
                when k in ('instance', 'process', 'root', 'state') then nullif(jsonb_typeof(v), 'null') end
     limit 1;
    if found then
        raise exception using errcode = 'WF002',
            message = format('target: "%s" is unknown or of the wrong type', left(v_key, 100)),
            hint = 'Keys: instance, process, root (id or list of ids), state (text or list), failed, latest, '
                   'global (true), workflow, tag, older_than, among (text).';
    end if;
    if not exists (select from jsonb_each(p_target - 'among') e (k, v) where v <> 'false') then
        raise exception using errcode = 'WF002',
            message = 'the target names nothing',
            hint = 'Give at least one key that says what is meant, such as {"instance": 7}, {"process": 42} or '
                   '{"failed": true}.';
    end if;

    if p_target ?& array['process', 'root'] then
        raise exception using errcode = 'WF002',
            message = 'target: "process" and "root" exclude each other',
            hint = 'process takes a process by itself, root takes it with everything in it.';
    end if;

    instances := wf._target_ids(p_target, 'instance');
    processes := wf._target_ids(p_target, 'process');
    roots := wf._target_ids(p_target, 'root');
    states := wf._target_states(p_target);
    tag := p_target ->> 'tag';
    if p_target ? 'workflow' then
        select w.id into workflow_id from wf.workflow w where w.name = p_target ->> 'workflow';
        if not found then
            raise exception using errcode = 'WF003',
                message = format('there is no workflow "%s"', left(p_target ->> 'workflow', 100)),
                hint = 'List what exists: wf-console workflows.';
        end if;
    end if;
    if p_target ? 'older_than' then
        begin
            started_before := wf.now() - (p_target ->> 'older_than')::interval;
        exception when data_exception then
            raise exception using errcode = 'WF002',
                message = format('target: "%s" is not an interval', p_target ->> 'older_than'),
                hint = 'Write older_than as PostgreSQL writes intervals: "7 days", "2 hours".';
        end;
    end if;
    latest := coalesce((p_target ->> 'latest')::boolean, false) or coalesce((p_target ->> 'global')::boolean, false);
    begin
        among := (p_target ->> 'among')::int8multirange;
    exception when data_exception then
        raise exception using errcode = 'WF002',
            message = format('target: "among" is not a multirange of ids: %s', left(p_target ->> 'among', 100)),
            hint = 'Write it as PostgreSQL writes an int8multirange: "{[17,20),[42,43)}".';
    end;
end;
$$;

-- wf._instances_of(p_process, p_among)
--
-- Finds the instances of processes. If it is known among which instances they are, that is
-- quick. If only the ids of the processes are known, processes that wait, run or have failed
-- are found in small tables (ready, failed, …). For other processes it looks at all
-- instances, the latest first.
--
-- Returns  one row for each process that exists
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._target_instances
create or replace function wf._instances_of(p_process bigint[], p_among bigint[])
returns table (instance_id bigint, process_id bigint)
language plpgsql stable as $$
declare
    v_process bigint;
begin
    if p_among is not null then
        return query
        select p.instance_id, p.id
          from unnest(p_among) i (id)
         cross join unnest(p_process) u (id)
         cross join lateral (select x.instance_id, x.id from wf.process x
                              where x.instance_id = i.id and x.id = u.id offset 0) p;
        return;
    end if;
    foreach v_process in array coalesce(p_process, '{}') loop
        process_id := v_process;
        select l.instance_id
          into instance_id
          from (select f.instance_id, f.process_id from wf.failed f union all
                select r.instance_id, r.process_id from wf.ready r union all
                select k.instance_id, k.process_id from wf.parked k union all
                select e.instance_id, e.process_id from wf.lease e union all
                select t.instance_id, t.process_id from wf.timer t) l
         where l.process_id = v_process
         limit 1;
        if not found then
            select i.id
              into instance_id
              from wf.instance i
              join wf.process p on p.instance_id = i.id and p.id = v_process
             order by i.id desc
             limit 1;
        end if;
        if found then
            return next;
        end if;
    end loop;
end;
$$;

-- wf._takes_failed(p_event, p_states)
--
-- Returns  whether a target can only mean processes that are FAILED or wait for their next
--          attempt, because it asks for no other state, or because the event is possible
--          in no other state
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._target_instances and wf._target_processes
create or replace function wf._takes_failed(p_event text, p_states text[]) returns boolean
language sql stable
begin atomic
    select coalesce(p_states = array['FAILED'], false)
           or coalesce((select bool_and(t.from_state = 'FAILED' or p_event = 'retry' and p_states is null)
                          from wf.transition t
                         where t.machine <> 'instance' and t.event = p_event), false);
end;

-- wf._target_instances(p_target, p_event)
--
-- Returns  the instances in which a target's processes are to be looked for;
--          those that have ended only if an id or `latest` names them
-- Locks    nothing
-- Raises   WF002, WF003
-- Called   by the operator's procedures, before they lock the instances
create or replace function wf._target_instances(p_target jsonb, p_event text) returns bigint[]
language plpgsql stable as $$
declare
    v_t      record;
    v_ids    bigint[];
    v_named  boolean;
    v_failed boolean;
begin
    select * into v_t from wf._parse_target(p_target);
    v_ids := v_t.instances;
    v_named := v_ids is not null;
    if v_t.processes is not null or v_t.roots is not null then
        v_ids := array(select o.instance_id from wf._instances_of(coalesce(v_t.processes, v_t.roots), v_ids) o);
        v_named := true;
    end if;
    v_failed := not v_named and not v_t.latest and wf._takes_failed(p_event, v_t.states);
    return array(
        with candidate as (
            select i.* from wf.instance i where v_named and i.id = any (v_ids)
             union all
            select i.* from wf.instance i where not v_named and v_t.latest
             union all
            select i.*
              from (select x.instance_id from wf.failed x where v_failed
                     union
                    select t.instance_id from wf.timer t
                     where v_failed and p_event = 'retry' and v_t.states is null and t.kind = 'retry') f
              join wf.instance i on i.id = f.instance_id
             union all
            select i.* from wf.instance i where not v_named and not v_t.latest and not v_failed
        )
        select i.id
          from candidate i
         where (v_named or v_t.latest or i.state not in ('END', 'ABORTED'))
           and (v_t.workflow_id is null or i.workflow_id = v_t.workflow_id)
           and (v_t.tag is null or v_t.tag = any (i.tags))
           and (v_t.started_before is null or i.started_at < v_t.started_before)
         order by i.id desc
         limit case when v_t.latest then 1 end);
end;
$$;

-- wf._target_processes(p_target, p_instance, p_event)
--
-- Looks up a target's processes in given instances. For cancel a composite
-- stands for the leaves in it. For an event that is possible only in FAILED, it
-- reads only the processes that have failed, so large instances cost no more.
--
-- Returns  one row for each process, with its state and to_state, the state to which the
--          event leads. If the event leads nowhere, to_state is null; such a row is there
--          only because the target names the process by its id. torn is the process in
--          whose teardown this one is; then the event leads nowhere
-- Locks    nothing: the caller has locked the instances, or only looks
-- Raises   WF002, WF003
-- Called   by wf._operate, wf._move and wf.preview
create or replace function wf._target_processes(p_target jsonb, p_instance bigint[], p_event text)
returns table (instance_id bigint, process_id bigint, machine text, state text, to_state text, torn bigint)
language plpgsql stable as $$
declare
    v_t      record;
    v_named  bigint[];
    v_roots  bigint[];
    v_failed boolean;
    v_teardown constant boolean := exists (select from wf.teardown);
begin
    select * into v_t from wf._parse_target(p_target);
    v_named := coalesce(v_t.processes, v_t.roots);
    v_roots := case when p_event = 'cancel' then v_named else v_t.roots end;
    v_failed := wf._takes_failed(p_event, v_t.states);
    return query
    with recursive tree as (
        select p.instance_id, p.id, p.id as root_id
          from wf.process p
         where p.instance_id = any (p_instance) and p.id = any (v_roots)
         union all
        select c.instance_id, c.id, t.root_id
          from tree t
          join wf.process c on c.instance_id = t.instance_id and c.parent_id = t.id
         where c.instance_id = any (p_instance)
    ), place as (
        select f.instance_id, f.process_id as id, p.machine, p.state
          from wf.failed f
         cross join lateral (select x.machine, x.state
                               from wf.process x
                              where x.instance_id = f.instance_id and x.id = f.process_id
                             offset 0) p
         where v_failed and f.instance_id = any (p_instance)
         union all
        select t.instance_id, t.process_id, p.machine, p.state
          from wf.timer t
         cross join lateral (select x.machine, x.state from wf.process x
                              where x.instance_id = t.instance_id and x.id = t.process_id offset 0) p
         where v_failed and p_event = 'retry' and v_t.states is null
           and t.instance_id = any (p_instance) and t.kind = 'retry' and (t.process_id = any (v_named)) is not true
         union all
        select p.instance_id, p.id, p.machine, p.state
          from wf.process p
         where p.instance_id = any (p_instance) and (not v_failed or p.id = any (v_named) and p.state <> 'FAILED')
    ), candidate as (
        select p.instance_id, p.id, p.machine, p.state, d.torn,
               case when d.torn is null and (p.id <@ v_t.among or v_t.among is null) then m.to_state end as to_state
          from place p
          left join wf.transition m
                 on m.machine = p.machine
                and m.from_state = p.state
                and m.event = p_event
                and strpos(m.actor, 'O') > 0
                and (p_event <> 'retry' or p.state <> 'INIT' or wf._waits_for_retry(p.instance_id, p.id))
          left join lateral (select t.root_id as torn
                               from wf._torn(array[p.instance_id], array[p.id]) t
                              where m.to_state is not null and v_teardown) d on true
         where (v_t.states is null or p.state = any (v_t.states))
           and (v_roots is null or p.id in (select t.id from tree t))
           and (v_t.processes is null or v_roots is not null or p.id = any (v_t.processes))
    )
    select c.instance_id, c.id, c.machine, c.state, c.to_state, c.torn
      from candidate c
     where c.to_state is not null
        or c.id = any (v_named)
           and not exists (select
                             from tree t
                             join candidate d on d.id = t.id
                            where t.root_id = c.id and d.to_state is not null)
     order by c.instance_id, c.id;
end;
$$;

-- wf._target_answers(p_event, p_target, p_instance)
--
-- Says what a verb for instances does with each instance that a target means. A process is
-- taken only if it is the root of an instance.
--
-- Returns  one row for each instance, with its state and why it is refused (null: it is not)
-- Locks    nothing: the caller has locked the instances, or only looks
-- Raises   WF002, WF003
-- Called   by wf._operate_instances and wf.preview
create or replace function wf._target_answers(p_event text, p_target jsonb, p_instance bigint[])
returns table (instance_id bigint, process_id bigint, was text, refusal text)
language plpgsql stable as $$
declare
    v_t     record;
    v_named boolean;
begin
    select * into v_t from wf._parse_target(p_target);
    v_named := v_t.latest or v_t.instances is not null or v_t.processes is not null or v_t.roots is not null;
    return query
    select i.id, p.id, i.state,
           case when p.parent_id is not null
                then format('%s: only a whole instance can be %s', p.state, wf._past(p_event))
                     || case p_event when 'abort' then '; cancel stops single tasks' else '' end
                when t.event is null or not coalesce(i.id <@ v_t.among, true)
                then wf._refusal(p_event, 'instance', i.state) end
      from wf.instance i
      left join wf.transition t on t.machine = 'instance' and t.from_state = i.state and t.event = p_event
      left join wf.process p on p.instance_id = i.id and p.id = any (coalesce(v_t.processes, v_t.roots))
     where i.id = any (p_instance)
       and (v_named or t.event is not null and coalesce(i.id <@ v_t.among, true))
       and (v_t.states is null
            or i.state = any (v_t.states)
            or 'FAILED' = any (v_t.states) and exists (select from wf.failed f where f.instance_id = i.id));
end;
$$;

-- wf._missing(p_target, p_instance)
--
-- Returns  one row, refused, for each id in a target that does not exist
-- Locks    nothing
-- Raises   WF002, WF003
-- Called   by the operator's procedures, with the instances that they found
create or replace function wf._missing(p_target jsonb, p_instance bigint[])
returns table (instance_id bigint, process_id bigint, answer text, detail text)
language plpgsql stable as $$
declare
    v_t record;
begin
    if cardinality(p_instance) = 0 then
        return;
    end if;
    select * into v_t from wf._parse_target(p_target);
    return query
    select x.id, null::bigint, 'refused', 'there is no such instance'
      from unnest(v_t.instances) x (id)
     where not exists (select from wf.instance i where i.id = x.id)
     union all
    select null, x.id, 'refused', 'there is no such process'
      from unnest(coalesce(v_t.processes, v_t.roots)) x (id)
     where not exists (select from wf.process p where p.instance_id = any (p_instance) and p.id = x.id);
end;
$$;
