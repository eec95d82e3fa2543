-- How an instance starts: the checks that may refuse it, its rows, and its root. A start
-- only inserts, so it may be part of any transaction, however long that stays open. Only
-- if a quota counts the starts of a role, the next of them waits for this one (quota.sql).

-- wf._complete_params(p_declared, p_params)
--
-- Checks parameters against the declaration of a version and fills in defaults.
--
-- Returns  the complete parameters
-- Locks    nothing
-- Raises   WF002
-- Called   by _start, _start_all and _set_schedule
create or replace function wf._complete_params(p_declared jsonb, p_params jsonb) returns jsonb
language plpgsql stable as $$
declare
    v_param jsonb;
    v_value jsonb;
    v_params jsonb := '{}'::jsonb;
    v_unknown text;
begin
    if jsonb_typeof(p_params) is distinct from 'object' then
        raise exception using errcode = 'WF002',
            message = 'the parameters are not a JSON object',
            hint = 'Give an object of names and values, such as {"day": "2026-01-31"}.';
    end if;
    if p_params = '{}' and p_declared = '[]' then
        return p_params;
    end if;
    select k into v_unknown from jsonb_object_keys(p_params) k
     where not exists (select from jsonb_array_elements(p_declared) d where d ->> 'name' = k) order by k limit 1;
    if v_unknown is not null then
        raise exception using errcode = 'WF002',
            message = format('there is no parameter %s', v_unknown),
            hint = coalesce('Its parameters are: '
                            || (select string_agg(d ->> 'name', ', ') from jsonb_array_elements(p_declared) d) || '.',
                            'The workflow has no parameters.');
    end if;
    for v_param in select d from jsonb_array_elements(p_declared) d loop
        if wf._code_type(v_param -> 'type') is not null and p_params -> (v_param ->> 'name') <> 'null' then
            raise exception using errcode = 'WF002',
                message = format('parameter %s is of type %s, which only another workflow can give',
                                 v_param ->> 'name', wf._code_type(v_param -> 'type')),
                hint = 'Code comes from literals of workflows. Start a workflow that calls this one with a literal.';
        elsif p_params ? (v_param ->> 'name') then
            begin
                v_value := wf._cast(v_param -> 'type', p_params -> (v_param ->> 'name'));
            exception when sqlstate 'WF020' then
                raise exception using errcode = 'WF002',
                    message = format('parameter %s: %s', v_param ->> 'name', sqlerrm),
                    hint = format('Its type is %s.', v_param -> 'type' #>> '{}');
            end;
        elsif v_param ? 'default' then
            v_value := wf._evaluate(v_param -> 'default', '{}');
            if v_value ? 'error' then
                raise exception using errcode = 'WF002',
                    message = format('the default of parameter %s: %s', v_param ->> 'name',
                                     v_value -> 'error' ->> 'message'),
                    hint = 'Give the parameter a value.';
            end if;
            v_value := v_value -> 'value';
        elsif v_param -> 'type' ? 'optional' and jsonb_typeof(v_param -> 'type') = 'object' then
            v_value := 'null'::jsonb;
        else
            raise exception using errcode = 'WF002', message = format('parameter %s is missing', v_param ->> 'name'),
                hint = format('Give it a value of type %s.', v_param -> 'type' #>> '{}');
        end if;
        v_params := v_params || jsonb_build_object(v_param ->> 'name', v_value);
    end loop;
    if octet_length(v_params::text) > wf._setting_number('value_bytes') then
        raise exception using errcode = 'WF002',
            message = format('the parameters have %s bytes, more than the %s allowed', octet_length(v_params::text),
                             wf._setting_number('value_bytes')),
            hint = 'Pass a reference to the data instead of the data.';
    end if;
    return v_params;
end;
$$;

-- wf._tags(p_given, p_tags, p_params)
--
-- Checks the tags that start was given, and works out the policy tags of a workflow,
-- an expression that reads its parameters; p_tags is null without the policy.
--
-- Returns  the tags that start was given, and those of the policy that are not among them
-- Locks    nothing
-- Raises   WF002
-- Called   by _start and _start_all, if there are tags of either kind
create or replace function wf._tags(p_given text[], p_tags jsonb, p_params jsonb) returns text[]
language plpgsql stable as $$
declare
    v_result jsonb;
begin
    if not wf._fits_tags(to_jsonb(p_given)) then
        raise exception using errcode = 'WF002',
            message = format('the tags are %s, not %s', left(to_jsonb(p_given)::text, 100), wf._tag_fit()),
            hint = 'Give a few short texts, such as nightly.';
    elsif p_tags is null then
        return p_given;
    end if;
    v_result := wf._evaluate(p_tags, p_params);
    if v_result ? 'error' or not wf._fits_tags(v_result -> 'value') then
        raise exception using errcode = 'WF002',
            message = format('the tags of the workflow: %s',
                             coalesce(wf._blame(v_result -> 'error', p_tags, p_params, null, null) ->> 'message',
                                      format('%s, not %s', left(v_result ->> 'value', 100), wf._tag_fit()))),
            hint = 'Its policy tags reads the parameters: give others, or mend the policy.';
    end if;
    return p_given || array(select x.tag
                              from jsonb_array_elements_text(nullif(v_result -> 'value', 'null'))
                                   with ordinality x (tag, k)
                             where (x.tag = any (p_given)) is not true
                             group by x.tag order by min(x.k));
end;
$$;

-- wf._announce_start()
--
-- Gives the transaction its number. _forget_versions deletes the versions of a removed
-- workflow, and first waits for the transactions that may still start it. These must
-- have their numbers before they look a version up.
--
-- Returns  the number of the transaction
-- Locks    nothing
-- Raises   nothing
-- Called   by _find_version, before it looks for one
create or replace function wf._announce_start() returns xid8
language sql volatile
begin atomic
    select pg_current_xact_id();
end;

-- wf._hold_version(p_version)
--
-- Locks the version for a transaction that is not READ COMMITTED. Its snapshot may be
-- older than a removal of the version, while its number is younger; it is then told to
-- try again.
--
-- Returns  nothing
-- Locks    the version's row (for key share)
-- Raises   40001
-- Called   by _find_version
create or replace function wf._hold_version(p_version bigint) returns void
language plpgsql as $$
begin
    perform from wf.version v where v.id = p_version for key share;
end;
$$;

-- An upgrade creates this type anew: by now no function has such an argument.
drop type if exists wf.starter;
create type wf.starter as (
    login text, actor text, parent_id bigint, process_id bigint, depth int, trace_id uuid, schedule_id bigint,
    nominal_at timestamptz
);
comment on type wf.starter is
    'Who starts an instance: the login whose grants and quotas count, and the actor, as written in started_by. For a '
    'task wf.Start also its instance, its process, how deep the new instance is below the topmost one, and the trace '
    'of all these instances. For a schedule also its number, and the time for which it starts the instance.';

-- wf._starter_login(p_login, p_started_by)
--
-- Returns  the name of the login whose grants and quotas count for what an instance starts. If that login was dropped,
--          no login has the name. Instances from before schema version 74 only have started_by
-- Locks    nothing
-- Raises   nothing
-- Called   by quota_set and _starter_of
create or replace function wf._starter_login(p_login oid, p_started_by text) returns text
language sql stable
begin atomic
    select coalesce(pg_get_userbyid(p_login)::text, split_part(p_started_by, ' as ', 1));
end;

-- wf._find_version(p_workflow, p_version)
--
-- Returns  the workflow that a start names, and its version with the number p_version, or its newest one; of the
--          version what a start must know; quotas: whether any role has a quota
-- Locks    as _hold_version
-- Raises   WF003, 40001
-- Called   by _start, _start_all and _set_schedule
create or replace function wf._find_version(p_workflow text, p_version int, out workflow_id bigint,
                                            out version_id bigint, out params jsonb, out tags jsonb,
                                            out start_if jsonb, out key jsonb, out quotas boolean)
language plpgsql as $$
begin
    if wf._announce_start() is null then
        return;
    end if;
    select w.id, v.id, v.params, v.tags, v.start_if, v.key, exists (select from wf.quota)
      into workflow_id, version_id, params, tags, start_if, key, quotas
      from wf.workflow w
      left join wf.version v on v.id = w.version_id
     where w.name = p_workflow;
    if workflow_id is null or version_id is null and p_version is null then
        raise exception using errcode = 'WF003',
            message = format('there is no workflow %s', coalesce(left(p_workflow, 100), 'null')),
            hint = 'List what is installed: wf-console workflows.';
    end if;
    if p_version is not null then
        select v.id, v.params, v.tags, v.start_if, v.key
          into version_id, params, tags, start_if, key
          from wf.version v
         where v.workflow_id = _find_version.workflow_id and v.number = p_version and v.removed_xid is null;
        if version_id is null then
            raise exception using errcode = 'WF003',
                message = format('workflow %s has no version %s', p_workflow, p_version),
                hint = format('List them: wf-console versions %s.', p_workflow);
        end if;
    end if;
    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
        perform wf._hold_version(version_id);
    end if;
end;
$$;

-- wf._check_times(p_at, p_before, p_now)
--
-- Returns  nothing, if an instance may be started for these times
-- Locks    nothing
-- Raises   WF002
-- Called   by _start, if one of the times is given
create or replace function wf._check_times(p_at timestamptz, p_before timestamptz, p_now timestamptz) returns void
language plpgsql stable as $$
begin
    if not isfinite(p_at) or not isfinite(p_before) then
        raise exception using errcode = 'WF002',
            message = format('an instance cannot begin at %s, before %s', coalesce(p_at::text, 'any time'),
                             coalesce(p_before::text, 'any time')),
            hint = 'Give moments such as 2026-01-31T08:00:00Z.';
    elsif p_before <= greatest(p_at, p_now) then
        raise exception using errcode = 'WF002',
            message = format('the instance has to begin before %s, which is not after %s', p_before,
                             case when p_at > p_now then p_at::text else 'now' end),
            hint = 'Give a later time as before, or none.';
    end if;
end;
$$;

-- wf._check_start_if(p_start_if, p_params, p_nth)
--
-- Returns  nothing, if a workflow's policy start_if holds for these parameters
-- Locks    nothing
-- Raises   WF017; the message names the p_nth of several starts
-- Called   by _start and _start_all, for a workflow with the policy
create or replace function wf._check_start_if(p_start_if jsonb, p_params jsonb, p_nth bigint default null) returns void
language plpgsql stable as $$
declare
    v_holds constant jsonb := wf._evaluate(p_start_if -> 'condition', p_params);
    v_message jsonb;
begin
    if v_holds -> 'value' = 'true' then
        return;
    end if;
    v_message := case when v_holds ? 'error'
                      then jsonb_build_object('error', wf._blame(v_holds -> 'error', p_start_if -> 'condition',
                                                                 p_params, null, null))
                      when p_start_if ? 'message' then wf._evaluate(p_start_if -> 'message', p_params) end;
    v_message := coalesce(v_message #> '{error,message}', v_message -> 'value');
    raise exception using errcode = 'WF017',
        message = coalesce('start ' || p_nth || ': ', '')
                  || coalesce(left(v_message #>> '{}', 1000), 'its policy start_if does not hold'),
        hint = case when v_holds ? 'error' then 'The condition of the workflow''s policy start_if cannot be evaluated.'
                    else 'Start it with other parameters, or when the condition of its policy start_if holds.' end;
end;
$$;

-- wf._start(p_workflow, p_params, p_key, p_priority, p_tags, p_version, p_at, p_before, p_starter)
--
-- Starts an instance, or answers the one that the same payload started under its key.
-- The grant is checked in an IF, because a PERFORM would be a query (machine.sql). An
-- instance that begins later, at a time or after the instance that has its key now, is
-- stored as SCHEDULED; work of kind start begins it. Everything that may refuse the start
-- is checked here, not when the instance begins.
--
-- Returns  the instance
-- Locks    as _hold_quota, _claim_key and _find_version; else nothing, it only inserts
-- Raises   WF002, WF003, WF007, WF008, WF016, WF017
-- Called   by start, by _start_children for a task wf.Start with a key, and by _start_all
create or replace function wf._start(
    p_workflow text, p_params jsonb, p_key text, p_priority int, p_tags text[], p_version int, p_at timestamptz,
    p_before timestamptz, p_starter wf.starter)
returns bigint
language plpgsql as $$
declare
    v record; -- the version
    v_key text := p_key;
    v_claim record;
    v_params jsonb;
    v_id bigint;
    v_after bigint; -- the instance after which it begins
    v_now constant timestamptz := wf._now();
    v_later boolean := coalesce(p_at > v_now, false);
    v_quotas text[];
begin
    if wf._check_workflow_grant(p_workflow, p_starter.login) then end if;
    v := wf._find_version(p_workflow, p_version);
    if p_at is not null or p_before is not null then perform wf._check_times(p_at, p_before, v_now); end if;
    v_quotas := wf._hold_quota(p_priority, p_starter.login, v.quotas);
    if v_key is null and v.key ? 'by' then
        v_key := wf._key_of(v.key -> 'by', wf._complete_params(v.params, coalesce(p_params, '{}')));
    end if;
    if v_key is not null then
        -- the digest is of what the caller gave, without defaults: the defaults may be others tomorrow
        v_claim := wf._claim_key(v.workflow_id, p_workflow, v_key, v.key ->> 'reuse',
                                 wf._sha256((jsonb_build_array(coalesce(p_params, '{}'), p_priority,
                                                               coalesce(p_tags, '{}'), p_version)
                                             || case when coalesce(p_at, p_before) is null then '[]'
                                                     else jsonb_build_array(p_at, p_before) end)::text));
        v_id := v_claim.instance_id;
        if v_claim.known then
            return v_id;
        end if;
        v_after := v_claim.after_id;
        v_later := v_later or v_after is not null;
    end if;
    v_params := wf._complete_params(v.params, coalesce(p_params, '{}'));
    if v.start_if is not null then perform wf._check_start_if(v.start_if, v_params); end if;
    v_id := coalesce(v_id, nextval('wf.instance_id_seq'));
    if v_quotas is not null then
        perform wf._spend_quota(v_quotas, v.version_id, array[v_id], p_starter.login);
    end if;
    insert into wf.instance (id, workflow_id, version_id, was, event, state, at, key, params, priority, tags, trace_id,
                             started_at, started_by, parent_id, parent_process_id, depth, login, schedule_id,
                             scheduled_at, expires_at)
    overriding system value
    values (v_id, v.workflow_id, v.version_id, '', case when v_later then 'schedule' else 'start' end,
            case when v_later then 'SCHEDULED' else 'RUNNING' end, v_now, v_key, v_params, p_priority,
            case when v.tags is null and cardinality(p_tags) = 0 then p_tags
                 else wf._tags(coalesce(p_tags, '{}'), v.tags, v_params) end,
            p_starter.trace_id, v_now, p_starter.actor, p_starter.parent_id, p_starter.process_id, p_starter.depth,
            to_regrole(quote_ident(p_starter.login)), p_starter.schedule_id, coalesce(p_at, p_starter.nominal_at),
            p_before);
    if v_later then
        insert into wf.work (kind, instance_id, item_id, due_at) values ('start', v_id, 0, greatest(p_at, v_now));
        if v_after is not null then perform wf._follow(v_id, v_after, p_before); end if;
    else
        perform wf._plant(array[v_id], v.version_id, array[v_params], - p_priority, v_now);
    end if;
    return v_id;
end;
$$;

-- wf._start_all(p_workflow, p_params, p_priority, p_starter)
--
-- Starts one instance for each object of parameters, in a few statements; one by one if
-- the workflow's policy key gives each instance its key. Each instance has its starter;
-- all starters have the same login.
--
-- Returns  the instances, in order
-- Locks    as _start
-- Raises   WF002, WF003, WF007, WF008, WF016, WF017
-- Called   by start_many, by _start_children for tasks wf.Start, and by _start_group and schedule_fire
create or replace function wf._start_all(p_workflow text, p_params jsonb[], p_priority int, p_starter wf.starter[])
returns bigint[]
language plpgsql as $$
declare
    v_login constant text := p_starter[1].login;
    v_now constant timestamptz := wf._now();
    v_found record;
    v_params jsonb[];
    v_id bigint[];
    v_quotas text[];
begin
    v_found := wf._find_version(p_workflow, null);
    if exists (select from wf.version v where v.id = v_found.version_id and v.key ? 'by') then
        return array(select wf._start(p_workflow, u.params, null, p_priority, '{}', null, null, null, u.starter)
                       from (select p_params[k] as params, p_starter[k] as starter
                               from generate_subscripts(p_params, 1) k order by k offset 0) u);
    end if;
    v_params := array(select wf._complete_params(v.params, coalesce(u.params, '{}'))
                        from wf.version v, unnest(p_params) with ordinality u (params, k)
                       where v.id = v_found.version_id
                       order by u.k);
    perform wf._check_start_if(v.start_if, u.params, case when cardinality(v_params) > 1 then u.k end)
       from wf.version v, unnest(v_params) with ordinality u (params, k)
      where v.id = v_found.version_id and v.start_if is not null;
    v_id := array(select nextval('wf.instance_id_seq') from unnest(v_params));
    v_quotas := wf._hold_quota(p_priority, v_login, v_found.quotas);
    perform wf._spend_quota(v_quotas, v_found.version_id, v_id, v_login) where v_quotas is not null;
    insert into wf.instance (id, workflow_id, version_id, was, event, state, at, params, priority, tags, trace_id,
                             started_at, started_by, parent_id, parent_process_id, depth, login, schedule_id,
                             scheduled_at)
    overriding system value
    select u.id, v.workflow_id, v.id, '', 'start', 'RUNNING', v_now, u.params, p_priority,
           case when v.tags is null then '{}' else wf._tags('{}', v.tags, u.params) end, u.trace_id, v_now, u.actor,
           u.parent_id, u.process_id, u.depth, to_regrole(quote_ident(u.login)), u.schedule_id, u.nominal_at
      from unnest(v_id, v_params, p_starter) u (id, params, login, actor, parent_id, process_id, depth, trace_id,
                                                schedule_id, nominal_at),
           wf.version v
     where v.id = v_found.version_id;
    perform wf._plant(v_id, v_found.version_id, v_params, - p_priority, v_now);
    return v_id;
end;
$$;

-- wf._plant(p_instance, p_version, p_params, p_rank, p_now)
--
-- Enters the roots of new instances; the triggers carry on from there.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing of its own
-- Called   by _start, _start_all and _begin_scheduled
create or replace function wf._plant(
    p_instance bigint[], p_version bigint, p_params jsonb[], p_rank int, p_now timestamptz)
returns void
language plpgsql as $$
begin
    insert into wf.process (instance_id, id, version_id, node_id, kind, machine, was, event, state, at, began_at,
                            scopes, rank, open, input, policy, timed, retry_from, error, noted, late)
    select x.i, x.id, p_version, n.id, n.kind, n.machine, '', 'enter', 'ACTIVE', p_now, p_now, array[x.id], p_rank,
           case when e.policy ? 'error' then 0 else wf._first(n.begins, n.children) end, nullif(x.params, '{}'),
           e.policy -> 'value', n.timed,
           case when n.retry is not null then 1 end, e.policy -> 'error', n.noted, n.late
      from (select u.i, u.params, nextval('wf.process_id') as id
              from unnest(p_instance, p_params) u (i, params)
            offset 0) x
      join wf.node n on n.version_id = p_version and n.id = 1
     cross join lateral (select case when n.policy is not null
                                     then wf._root_policy(n.policy, x.params,
                                                          n.timeout is not null or n.retry is not null) end as policy
                         offset 0) e;
end;
$$;

-- wf._root_policy(p_policy, p_params, p_needed)
--
-- Returns  {"value": …}, the values of a workflow's policies, whose expressions read its parameters; or
--          {"error": …} if they cannot be worked out, and the workflow has a deadline or a retry (p_needed)
-- Locks    nothing
-- Raises   nothing
-- Called   by _plant
create or replace function wf._root_policy(p_policy jsonb, p_params jsonb, p_needed boolean) returns jsonb
language plpgsql stable as $$
declare
    v_result jsonb := wf._evaluate(p_policy, p_params);
begin
    if not p_needed then
        return v_result - 'error';
    elsif v_result ? 'error' then
        return jsonb_build_object('error', wf._blame(v_result -> 'error', p_policy, p_params, null, 'policy'));
    end if;
    if v_result -> 'value' ? 'timeout' then
        v_result := jsonb_set(v_result, '{value,timeout}', wf._timeout_values(v_result #> '{value,timeout}'));
    end if;
    if v_result -> 'value' ? 'retry' then
        v_result := jsonb_set(v_result, '{value,retry}', wf._retry_values(v_result #> '{value,retry}'));
    end if;
    return v_result;
exception when sqlstate 'WF020' or data_exception then
    return jsonb_build_object('error', wf._refuse('input', sqlerrm));
end;
$$;

-- wf._begin_scheduled(p_instance, p_now)
--
-- Begins SCHEDULED instances whose times have come. An instance that had to begin before
-- now is aborted instead, with an error of kind timeout.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates; the caller holds the instances
-- Raises   nothing of its own
-- Called   by _do_work
create or replace function wf._begin_scheduled(p_instance bigint[], p_now timestamptz) returns void
language plpgsql as $$
declare
    f record;
    v_free bigint[];
begin
    update wf.instance i
       set was = i.state, event = 'expire', state = 'ABORTED', at = p_now, ended_at = p_now, result = 'error',
           error = wf._refuse('timeout', format('it could not begin before %s', i.expires_at))
     where i.id = any (p_instance) and i.state = 'SCHEDULED' and i.expires_at <= p_now;
    v_free := wf._free_to_begin(p_instance, p_now);
    for f in
        with begun as (
            update wf.instance i
               set was = i.state, event = 'begin', state = 'RUNNING', at = p_now, started_at = p_now
             where i.id = any (v_free) and i.state = 'SCHEDULED'
            returning i.id, i.version_id, i.params, i.priority)
        select array_agg(b.id) as instances, array_agg(b.params) as params, b.version_id, b.priority
          from begun b group by b.version_id, b.priority order by min(b.id)
    loop
        perform wf._plant(f.instances, f.version_id, f.params, - f.priority, p_now);
    end loop;
end;
$$;
