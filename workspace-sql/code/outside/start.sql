-- Starting an instance: only inserts, so that it may stand in anybody's
-- transaction, however long that stays open. Only where a quota counts starts does
-- the next one of that role wait for it (quota.sql).

-- wf._complete_params(p_declared, p_params)
--
-- Checks parameters against the declaration of a version and fills in defaults.
--
-- Returns  the complete parameters
-- Locks    nothing
-- Raises   WF002
-- Called   by start and start_many
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
            message = 'the parameters are no JSON object',
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
-- Called   by start and start_many, if there are tags of either kind
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
                             coalesce(v_result #>> '{error,message}',
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
-- Whoever deletes versions of a removed workflow waits for the transactions that
-- may still start it (_forget_versions). They must have their numbers before they
-- look a version up.
--
-- Returns  the number of the transaction
-- Locks    nothing
-- Raises   nothing
-- Called   by start and start_many, before they look for a version
create or replace function wf._announce_start() returns xid8
language sql volatile
begin atomic
    select pg_current_xact_id();
end;

-- wf._hold_version(p_version)
--
-- The snapshot of a transaction that is not READ COMMITTED may be older than a
-- removal, and its number younger. So it locks the version, or is told to try
-- again.
--
-- Returns  nothing
-- Locks    the version's row (for key share)
-- Raises   40001
-- Called   by start and start_many
create or replace function wf._hold_version(p_version bigint) returns void
language plpgsql as $$
begin
    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
        perform from wf.version v where v.id = p_version for key share;
    end if;
end;
$$;

-- wf.start(p_workflow, p_params, p_key, p_priority, p_tags, p_version)
--
-- Starts an instance, inside the caller's transaction. With a key that is
-- known, the same payload answers the same instance; a second caller waits for
-- the first one's transaction.
--
-- Returns  the instance
-- Locks    the rows of quotas that count it; else nothing, it only inserts; if its transaction is not READ COMMITTED,
--          the version's row (for key share)
-- Raises   WF002, WF003, WF007, WF008, WF016
-- Called   by applications, authors, the console
create or replace function wf.start(
    p_workflow text, p_params jsonb default '{}', p_key text default null, p_priority int default 0,
    p_tags text[] default '{}', p_version int default null)
returns bigint
language plpgsql security definer :engine as $$
declare
    v_workflow wf.workflow;
    v_version bigint;
    v_params jsonb;
    v_tags jsonb; -- what the workflow adds
    v_key wf.instance_key;
    v_digest text;
    v_id bigint;
    v_now timestamptz := wf._now();
    v_quotas text[];
begin
    perform wf._gate(false);
    perform wf._check_workflow_grant(p_workflow);
    perform wf._announce_start();
    select w.* into v_workflow from wf.workflow w where w.name = p_workflow;
    if v_workflow.id is null or v_workflow.version_id is null and p_version is null then
        raise exception using errcode = 'WF003',
            message = format('there is no workflow %s', coalesce(left(p_workflow, 100), 'null')),
            hint = 'List what is installed: wf-console workflows.';
    end if;
    v_version := v_workflow.version_id;
    if p_version is not null then
        select v.id
          into v_version
          from wf.version v
         where v.workflow_id = v_workflow.id and v.number = p_version and v.removed_xid is null;
        if v_version is null then
            raise exception using errcode = 'WF003',
                message = format('workflow %s has no version %s', p_workflow, p_version),
                hint = format('List them: wf-console versions %s.', p_workflow);
        end if;
    end if;
    perform wf._hold_version(v_version);
    if p_key is not null and octet_length(p_key) not between 1 and 255 then
        raise exception using errcode = 'WF002',
            message = format('the key has %s bytes', octet_length(p_key)),
            hint = 'A key has 1 to 255 bytes.';
    end if;
    v_quotas := wf._hold_quota(p_priority);
    if p_key is not null then
        -- what the caller gave, not what defaults make of it: they may be others tomorrow
        v_digest := encode(sha256(convert_to(jsonb_build_array(coalesce(p_params, '{}'), p_priority,
                                                               coalesce(p_tags, '{}'), p_version)::text,
                                             'UTF8')), 'hex');
        insert into wf.instance_key (workflow_id, key, instance_id, digest)
        values (v_workflow.id, p_key, nextval('wf.instance_id_seq'), v_digest)
            on conflict do nothing
        returning * into v_key;
        if v_key.instance_id is null then
            select k.* into v_key from wf.instance_key k where k.workflow_id = v_workflow.id and k.key = p_key;
            if v_key.digest is distinct from v_digest then
                raise exception using errcode = 'WF007',
                    message = format('key %s of workflow %s is known with another payload', p_key, p_workflow),
                    detail = format('It started instance %s.', v_key.instance_id),
                    hint = 'Use a new key, or the same parameters, priority, tags and version.';
            end if;
            return v_key.instance_id;
        end if;
    end if;
    select v.params, v.tags into v_params, v_tags from wf.version v where v.id = v_version;
    v_params := wf._complete_params(v_params, coalesce(p_params, '{}'));
    v_id := coalesce(v_key.instance_id, nextval('wf.instance_id_seq'));
    perform wf._spend_quota(v_quotas, v_version, array[v_id]) where v_quotas is not null;
    insert into wf.instance (id, workflow_id, version_id, was, event, state, at, key, params, priority, tags,
                             started_at, started_by)
    overriding system value
    values (v_id, v_workflow.id, v_version, '', 'start', 'RUNNING', v_now, p_key, v_params, p_priority,
            case when v_tags is null and cardinality(p_tags) = 0 then p_tags
                 else wf._tags(coalesce(p_tags, '{}'), v_tags, v_params) end, v_now, wf._actor());
    perform wf._plant(array[v_id], v_version, array[v_params], - p_priority, v_now);
    return v_id;
end;
$$;
comment on function wf.start(text, jsonb, text, int, text[], int) is
    'Starts an instance of a workflow inside the caller''s transaction: name, parameters (an object), idempotency '
    'key, priority (-1000 to 1000, higher first), tags (at most 64 of 1 to 127 bytes each; those of the workflow come '
    'in addition), version (the newest if null). Returns the instance''s number. Raises WF002, WF003, '
    'WF007, WF008 without a grant for the workflow or the priority, WF016 if a quota is spent.';

-- wf._plant(p_instance, p_version, p_params, p_rank, p_now)
--
-- Enters the roots of new instances; the triggers carry on from there.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing of its own
-- Called   by start and start_many
create or replace function wf._plant(
    p_instance bigint[], p_version bigint, p_params jsonb[], p_rank int, p_now timestamptz)
returns void
language plpgsql as $$
begin
    insert into wf.process (instance_id, id, version_id, node_id, kind, machine, was, event, state, at, began_at,
                            scopes, rank, open, input, policy, timed, retry_from, error, noted)
    select x.i, x.id, p_version, n.id, n.kind, n.machine, '', 'enter', 'ACTIVE', p_now, p_now, array[x.id], p_rank,
           case when e.policy ? 'error' then 0 else wf._first(n.begins, n.children) end, nullif(x.params, '{}'),
           e.policy -> 'value', n.timed,
           case when n.retry is not null then 1 end, e.policy -> 'error', n.noted
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
-- Returns  {"value": …}, the policies of a workflow, whose expressions read its parameters; or {"error": …} if they
--          cannot be worked out, and it has a deadline or a retry (p_needed)
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
        return v_result;
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

-- wf.start_many(p_workflow, p_params)
--
-- Starts one instance for each element of a list of parameters, as start does
-- but in a few statements.
--
-- Returns  the instances, in order
-- Locks    as start
-- Raises   WF002, WF003, WF008, WF016
-- Called   by applications, authors
create or replace function wf.start_many(p_workflow text, p_params jsonb) returns setof bigint
language plpgsql security definer :engine as $$
declare
    v_version bigint;
    v_now timestamptz := wf._now();
    v_params jsonb[];
    v_id bigint[];
    v_quotas text[];
begin
    perform wf._gate(false);
    perform wf._check_workflow_grant(p_workflow);
    perform wf._announce_start();
    select w.version_id into v_version from wf.workflow w where w.name = p_workflow;
    if v_version is null then
        raise exception using errcode = 'WF003',
            message = format('there is no workflow %s', coalesce(left(p_workflow, 100), 'null')),
            hint = 'List what is installed: wf-console workflows.';
    end if;
    perform wf._hold_version(v_version);
    if jsonb_typeof(p_params) is distinct from 'array' then
        raise exception using errcode = 'WF002',
            message = 'the parameters are no JSON list',
            hint = 'Give a list with one object of parameters for each instance.';
    end if;
    v_params := array(select wf._complete_params(v.params, e.item)
                        from wf.version v, jsonb_array_elements(p_params) with ordinality e (item, k)
                       where v.id = v_version
                       order by e.k);
    v_id := array(select nextval('wf.instance_id_seq') from unnest(v_params));
    v_quotas := wf._hold_quota(0);
    perform wf._spend_quota(v_quotas, v_version, v_id) where v_quotas is not null;
    insert into wf.instance (id, workflow_id, version_id, was, event, state, at, params, tags, started_at, started_by)
    overriding system value
    select u.id, w.id, v.id, '', 'start', 'RUNNING', v_now, u.params,
           case when v.tags is null then '{}' else wf._tags('{}', v.tags, u.params) end, v_now, wf._actor()
      from unnest(v_id, v_params) u (id, params), wf.workflow w, wf.version v
     where w.name = p_workflow and v.id = v_version;
    perform wf._plant(v_id, v_version, v_params, 0, v_now);
    return query select unnest(v_id);
end;
$$;
comment on function wf.start_many(text, jsonb) is
    'Starts one instance for each object in a list of parameters. Returns their numbers, in order. Raises WF002, '
    'WF003, WF008 without a grant for the workflow or the priority 0, WF016 if a quota has not so many left.';
